/* SPDX-License-Identifier: MIT
 *
 * convolve1d_fft_typed.h - convolution of vectors by FFTs of blocks. Included after convolve1d_typed.h, once for
 * each pair of types, with the macros of fft_typed.h and
 *     FN(name) the name of a function for `real`
 */

#include "fft_typed.h"

/* The state that all threads share. */
typedef struct FT(filter) {
    const fl_convolve1d_args *c;
    int64_t length, step; /* of a block; outputs that it gives */
    const cpu_fft *plan;
    work *kernel;    /* its spectrum, divided by the length */
    fft_norms norms; /* the kernel's */
    bool exact;      /* sums that are less accurate than direct ones are computed again, directly */
    fft_table table; /* the kernel's, for fft-checked */
    fft_found found;
} FT(filter);

static void FT(transform_kernel)(FT(filter) * f)
{
    const real *kernel = f->c->kernel.data;
    const int64_t taps = f->c->kernel.shape[0];

    memset(f->kernel, 0, (size_t)cpu_fft_pitch(f->length) * sizeof(work));
    f->norms = (fft_norms){0};
    for (int64_t p = 0; p < taps; p++) {
        f->kernel[FT(wrapped)(p, taps, f->length)] = kernel[p];
        cpu_fft_count(&f->norms, kernel[p]);
    }
    cpu_fft_rows(f->plan, f->kernel, 0);
    FT(divide)(f->kernel, cpu_fft_pitch(f->length), (double)f->length);
}

/* Sets to 0 the sums that are too inaccurate because the signal has zeros alone under the kernel, of which a transform
 * leaves remainders. Returns how many others are too inaccurate. */
static int64_t FT(clear_empty)(const FT(filter) * f, int64_t i, int64_t count, work *block, double least)
{
    const real *const signal = f->c->signal.data;
    const int64_t taps = f->c->kernel.shape[0], x0 = i + f->c->origin - taps + 1, size = f->c->signal.shape[0];
    int64_t others = 0, at = -1; /* the last element that is not 0 */

    for (int64_t x = 0; x < count + taps - 1; x++) {
        const int64_t j = x - taps + 1;
        at = x0 + x >= 0 && x0 + x < size && signal[x0 + x] != 0 ? x : at;
        if (j < 0 || fabs((double)block[j]) >= least) {
            continue;
        } else if (at >= j) {
            others++;
        } else {
            ((real *)f->c->out.data)[i + j] = 0;
            block[j] = (work)least;
        }
    }
    return others;
}

/* Raises the sums of a block that are below check->least, but accurate all the same, to it; returns how many others
 * are. */
static int64_t FT(check_block)(const FT(filter) * f, int64_t i, int64_t count, work *block, const fft_check *check)
{
    enum { SOME = 1024 }; /* outputs at a time, so that what their windows change by stays in the first cache */
    const int64_t taps = f->c->kernel.shape[0], x0 = i + f->c->origin - taps, size = f->c->signal.shape[0];
    double sum[SOME], squares[SOME], below[SOME];
    fft_window window = {0, 0}; /* The first output moves it by one, as each other does. */
    int64_t small = 0;

    for (int64_t x = max64(x0, 0); x < min64(x0 + taps, size); x++) {
        const double element = ((const real *)f->c->signal.data)[x];
        window.sum += fabs(element);
        window.squares += element * element;
    }
    for (int64_t j = 0; j < count; j += SOME) {
        const int64_t outputs = min64(SOME, count - j);
        memset(sum, 0, sizeof sum);
        memset(squares, 0, sizeof squares);
        FT(count_row)(f->c->signal.data, size, x0 + j + taps, outputs, 1, sum, squares);
        FT(count_row)(f->c->signal.data, size, x0 + j, outputs, -1, sum, squares);
        CPU_NAME(fft_sum_below)(&f->table, 0, 1, x0 + j + taps, size, below, outputs);
        small += CPU_NAME(fft_judge)(check, &window, sum, squares, below, (double *)(void *)(block + j), outputs);
    }
    return small;
}

/* Computes again the sums of a block that are below `least`, with neighbours: as many as a direct sum takes together.
 */
static void FT(sum_again)(const FT(filter) * f, int64_t i, int64_t count, work *block, double least, int64_t small)
{
    if (small * f->c->kernel.shape[0] > f->length) /* elements, which clear_empty looks at */
        small = FT(clear_empty)(f, i, count, block, least);
    for (int64_t j = 0, end; j < count && small > 0; j = end) {
        end = j + 1;
        if (fabs((double)block[j]) >= least)
            continue;
        for (int64_t x = end; x < min64(count, end + FEW_SUMS); x++)
            end = fabs((double)block[x]) >= least ? end : x + 1;
        FN(tile)(f->c, i + j, i + end);
    }
}

/* Outputs i to `end`, directly. With a tolerance, which may be less than sums in `real` keep, those of fft-wide are in
 * `work`, for which the block's memory is used. */
static void FT(sum_outputs)(const FT(filter) * f, int64_t i, int64_t end, work *block)
{
    const fl_convolve1d_args *c = f->c;
    const real *const signal = c->signal.data, *const kernel = c->kernel.data;

    if (sizeof(work) == sizeof(real) || f->found.tolerance == 0) {
        FN(tile)(c, i, end);
        return;
    }
    memset(block, 0, (size_t)(end - i) * sizeof(work));
    for (int64_t p = 0; p < c->kernel.shape[0]; p++) {
        const int64_t x0 = c->origin - p; /* the signal's index, less the output's */
        const int64_t from = max64(i, -x0), to = min64(end, c->signal.shape[0] - x0);
        const work tap = kernel[p];
#pragma omp simd
        for (int64_t x = from; x < to; x++)
            block[x - i] += tap * (work)signal[x + x0];
    }
    for (int64_t x = i; x < end; x++)
        ((real *)c->out.data)[x] = (real)block[x - i];
}

/* Outputs i to i + step. A block that cannot be transformed is summed directly, as is one most of whose sums would be
 * too small for fft-checked, if its numbers are independent of the kernel's; one of zeros has sums of zero, if the
 * kernel is finite. Returns what the largest magnitude of its sums is at least, as far as a call with a tolerance needs
 * it. */
static double FT(convolve_block)(const FT(filter) * f, int64_t i, work *block)
{
    const fl_convolve1d_args *c = f->c;
    const int64_t taps = c->kernel.shape[0], size = c->signal.shape[0], from = i + c->origin - taps + 1;
    const int64_t count = min64(f->step, c->out.shape[0] - i), number = i / f->step;
    const double terms = fft_terms(c);
    const double inside = (double)max64(1, min64(from + f->length, size) - max64(from, 0));
    const bool tolerant = f->found.tolerance > 0;
    fft_norms norms = {0};

    FT(load_row)(c->signal.data, size, from, f->length, block, &norms);
    if (tolerant)
        f->found.error[number] = 0;
    if (norms.sum == 0 && f->norms.sum < INFINITY) {
        memset((real *)c->out.data + i, 0, (size_t)count * sizeof(real));
        return 0;
    }
    const double error = FT(error)(&norms, &f->norms, cpu_fft_log2(f->length), FT(is_checked)(f->exact));
    fft_check check = {.least = f->exact ? FT(least_accurate)(error, terms) : 0,
                       .needed = FT(least_terms)(error, terms)};
    if (FT(is_in_vain)(f->exact, &norms, inside, f->norms.sum, check.needed) ||
        !FT(can_transform)(&norms, f->norms.sum, (double)f->length)) {
        FT(sum_outputs)(f, i, i + count, block);
        return 0;
    }
    cpu_fft_rows(f->plan, block, 0);
    FT(multiply)(f->kernel, block, f->length / 2 + 1);
    cpu_fft_rows_back(f->plan, block, 0);
    int64_t small = FT(store_row)(block, check.least, (real *)c->out.data + i, count);
    if (small > 0 && FT(is_checked)(f->exact)) {
        fft_set_check(&check, &f->table, &norms, f->length);
        small = FT(check_block)(f, i, count, block, &check);
    }
    if (small > 0)
        FT(sum_again)(f, i, count, block, check.least, small);
    return tolerant ? FT(note_tile)(&f->found, number, error, FT(largest)(block, count, 0)) : 0;
}

/* `exact`: sums that are less accurate than direct ones are computed again. */
static fl_status FT(convolve)(const fl_context *context, const void *args, const fl_launch *launch, bool exact)
{
    const double tolerance = launch->tolerance;
    FT(filter) f = {.c = args, .exact = exact, .found = {.tolerance = tolerance}};
    f.length = CPU_NAME(block_length)(args, FT(is_checked)(exact));
    const int64_t n = f.c->out.shape[0], taps = f.c->kernel.shape[0];
    size_t bytes, errors, table;
    double largest = 0;
    fl_status status;
    void *memory;
    int team;

    if (f.length == 0)
        return context->host->error(FL_E_UNSUPPORTED,
                                    "convolve1d: fft takes kernels of up to %d elements, this one has %lld: use tiled",
                                    FFT_MOST, (long long)taps);
    f.step = f.length - taps + 1;
    team = (int)min64(cpu_team(context, launch->flops), (n + f.step - 1) / f.step);
    bytes = ((size_t)cpu_fft_pitch(f.length) * sizeof(work) + CPU_LINE - 1) / CPU_LINE * CPU_LINE;
    errors = tolerance > 0 ? (size_t)((n + f.step - 1) / f.step) * sizeof(double) : 0;
    table = FT(is_checked)(exact) ? (size_t)fft_table_size(&f.c->kernel) * sizeof(double) : 0;
    status = context->host->scratch(context, (size_t)(team + 1) * bytes + errors + table, &memory);
    if (status == FL_OK)
        status = cpu_fft_plan(context->device, sizeof(work) == sizeof(float) ? FL_F32 : FL_F64, 1, f.length, memory,
                              &f.plan);
    if (status != FL_OK)
        return status;
    f.kernel = memory;
    FT(transform_kernel)(&f);
    f.found.error = (double *)((char *)memory + (size_t)(team + 1) * bytes);
    if (FT(is_checked)(exact))
        f.table = CPU_NAME(fft_table_of)(&f.c->kernel, (double *)((char *)memory + (size_t)(team + 1) * bytes));
#pragma omp parallel for schedule(dynamic) num_threads(team) reduction(max : largest)
    for (int64_t i = 0; i < n; i += f.step) {
        work *const block = (work *)((char *)memory + (size_t)(omp_get_thread_num() + 1) * bytes);
        largest = fmax(largest, FT(convolve_block)(&f, i, block));
    }
    if (tolerance == 0)
        return FL_OK;
#pragma omp parallel for schedule(dynamic) num_threads(team)
    for (int64_t i = 0; i < n; i += f.step) /* blocks that are not exact enough */
        if (!(f.found.error[i / f.step] <= tolerance * largest))
            FT(sum_outputs)
    (&f, i, min64(i + f.step, n), (work *)((char *)memory + (size_t)(omp_get_thread_num() + 1) * bytes));
    return FL_OK;
}
