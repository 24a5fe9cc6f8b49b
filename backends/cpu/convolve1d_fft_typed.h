/* SPDX-License-Identifier: MIT
 *
 * convolve1d_fft_typed.h - the variant fft of convolve1d for one type. Included once for each, with
 *     real         the type: float, double
 *     KISS_LIBRARY the file names of KissFFT for it, KISS_CURE what to do where it is missing
 *     FN(name)     the name of a function for that type: name_f32_v3
 */

typedef struct FN(complex) {
    real re, im;
} FN(complex);

/* The functions of KissFFT that are used, as kiss_fftr.h has them. A plan lies in memory of ours, and serves one thread
 * at a time. */
typedef struct FN(kiss) {
    void *(*plan)(int length, int inverse, void *memory, size_t *bytes);
    void (*forward)(void *plan, const real *in, FN(complex) * out);
    void (*inverse)(void *plan, const FN(complex) * in, real *out); /* `length` times the inverse */
} FN(kiss);

/* Loading a loaded library again costs one or two microseconds, so nothing is kept between calls. */
static bool FN(kiss_load)(FN(kiss) * kiss, char *why, size_t size)
{
    char cause[160];
    void *library = library_load(KISS_LIBRARY, cause, sizeof cause);
    bool found = library && library_function(library, "kiss_fftr_alloc", &kiss->plan, sizeof kiss->plan) &&
                 library_function(library, "kiss_fftr", &kiss->forward, sizeof kiss->forward) &&
                 library_function(library, "kiss_fftri", &kiss->inverse, sizeof kiss->inverse);

    if (!found)
        snprintf(why, size, "fft of convolve1d in %s is unavailable (%.110s); " KISS_CURE,
                 sizeof(real) == sizeof(float) ? "f32" : "f64", library ? KISS_LIBRARY " lacks kiss_fftr" : cause);
    return found;
}

static bool FN(fft_found)(char *why, size_t size)
{
    if (library_find(KISS_LIBRARY))
        return true;
    snprintf(why, size, "fft of convolve1d in %s is unavailable (" KISS_LIBRARY " not found); " KISS_CURE,
             sizeof(real) == sizeof(float) ? "f32" : "f64");
    return false;
}

static fl_status FN(fft_ready)(void *device, char *why, size_t size)
{
    FN(kiss) kiss;

    (void)device;
    return FN(kiss_load)(&kiss, why, size) ? FL_OK : library_status(why);
}

/* One thread's plans and memory for a block. */
typedef struct FN(block) {
    void *forward, *inverse;
    real *values;
    FN(complex) * spectrum;
} FN(block);

/* The state that all threads share. */
typedef struct FN(filter) {
    const fl_convolve1d_args *c;
    FN(kiss) kiss;
    int64_t length, step;  /* of a block; outputs that it gives */
    FN(complex) * kernel;  /* its transform, divided by the length */
    size_t plan, spectrum; /* bytes */
} FN(filter);

static size_t FN(block_bytes)(const FN(filter) * f)
{
    return 2 * f->plan + whole_lines((size_t)f->length * sizeof(real)) + f->spectrum;
}

/* Lays a block out in memory and makes its plans there. */
static FN(block) FN(block_in)(const FN(filter) * f, char *memory)
{
    FN(block)
    b = {.values = (real *)(memory + 2 * f->plan),
         .spectrum = (FN(complex) *)(memory + FN(block_bytes)(f) - f->spectrum)};
    size_t bytes = f->plan;

    b.forward = f->kiss.plan((int)f->length, 0, memory, &bytes);
    b.inverse = f->kiss.plan((int)f->length, 1, memory + f->plan, &bytes);
    return b;
}

/* The kernel's transform; the inverse of KissFFT multiplies by the length. */
static void FN(transform_kernel)(const FN(filter) * f, const FN(block) * b)
{
    const int64_t taps = f->c->kernel.shape[0];

    memcpy(b->values, f->c->kernel.data, (size_t)taps * sizeof(real));
    memset(b->values + taps, 0, (size_t)(f->length - taps) * sizeof(real));
    f->kiss.forward(b->forward, b->values, f->kernel);
    for (int64_t k = 0; k <= f->length / 2; k++) {
        f->kernel[k].re /= (real)f->length;
        f->kernel[k].im /= (real)f->length;
    }
}

/* The signal from element `from` on, zeros beyond its ends. */
static void FN(load_block)(const FN(filter) * f, int64_t from, real *values)
{
    const int64_t first = min64(max64(0, -from), f->length);
    const int64_t end = max64(first, min64(f->length, f->c->signal.shape[0] - from));

    memset(values, 0, (size_t)first * sizeof *values);
    if (first < end)
        memcpy(values + first, (const real *)f->c->signal.data + (from + first),
               (size_t)(end - first) * sizeof *values);
    memset(values + end, 0, (size_t)(f->length - end) * sizeof *values);
}

static void FN(multiply)(const FN(complex) *restrict kernel, FN(complex) *restrict spectrum, int64_t count)
{
#pragma omp simd
    for (int64_t k = 0; k < count; k++) {
        const FN(complex) a = spectrum[k], b = kernel[k];
        spectrum[k].re = a.re * b.re - a.im * b.im;
        spectrum[k].im = a.re * b.im + a.im * b.re;
    }
}

/* Outputs i to i + step. */
static void FN(convolve_block)(const FN(filter) * f, const FN(block) * b, int64_t i)
{
    const int64_t taps = f->c->kernel.shape[0], count = min64(f->step, f->c->out.shape[0] - i);

    FN(load_block)(f, i + f->c->origin - taps + 1, b->values);
    f->kiss.forward(b->forward, b->values, b->spectrum);
    FN(multiply)(f->kernel, b->spectrum, f->length / 2 + 1);
    f->kiss.inverse(b->inverse, b->spectrum, b->values);
    memcpy((real *)f->c->out.data + i, b->values + taps - 1, (size_t)count * sizeof(real));
}

/* Each thread makes its plans in its own memory, and takes its share of the blocks. */
static void FN(convolve_blocks)(const FN(filter) * f, char *memory, int team)
{
    const int64_t n = f->c->out.shape[0], step = f->step;

    (void)team;
#pragma omp parallel num_threads(team)
    {
        const FN(block) b = FN(block_in)(f, memory + (size_t)omp_get_thread_num() * FN(block_bytes)(f));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i += step)
            FN(convolve_block)(f, &b, i);
    }
}

static fl_status FN(run_fft)(const fl_context *context, const void *args, const fl_launch *launch)
{
    FN(filter) f = {.c = args, .length = CPU_NAME(block_length)(args)};
    int team = cpu_team(context, launch->flops);
    fl_status status;
    void *memory;
    char why[256];

    if (!FN(kiss_load)(&f.kiss, why, sizeof why))
        return context->host->error(FL_E_UNAVAILABLE, "convolve1d: %s", why);
    if (f.length == 0)
        return context->host->error(FL_E_UNSUPPORTED,
                                    "convolve1d: fft takes kernels of up to %d elements, this one has %lld: use tiled",
                                    MOST, (long long)f.c->kernel.shape[0]);
    f.step = f.length - f.c->kernel.shape[0] + 1;
    team = (int)min64(team, (f.c->out.shape[0] + f.step - 1) / f.step);
    f.kiss.plan((int)f.length, 0, NULL, &f.plan);
    f.plan = whole_lines(f.plan);
    f.spectrum = whole_lines((size_t)(f.length / 2 + 1) * sizeof(FN(complex)));
    status = context->host->scratch(context, f.spectrum + (size_t)team * FN(block_bytes)(&f), &memory);
    if (status != FL_OK)
        return status;
    f.kernel = memory;
    memory = (char *)memory + f.spectrum;
    {
        const FN(block) b = FN(block_in)(&f, memory);
        FN(transform_kernel)(&f, &b);
    }
    FN(convolve_blocks)(&f, memory, team);
    return FL_OK;
}
