/* SPDX-License-Identifier: MIT
 *
 * The N-th allocation fails inside a call of the library, for all N: the call returns FL_E_MEMORY, or FL_OK with the
 * same result; then the same call on the same device succeeds with the same result, and nothing is leaked.
 *
 *     device_after_failure [BACKEND...]      those named, or all CPU backends and what hip-cpu does without a kernel
 *
 * Left out, since they end the process where they have no memory: libgomp's own allocations, OpenBLAS (`library` of
 * svd, qr, reconstruct and matmul), FFTW (`fft`, `fft-wide` and `fft-checked`), and the kernels of HIP-CPU, which
 * allocates the stacks of its threads inside them; map and kernel, whose functions a compiler makes.
 */
#include "failing_calls.h"

#include <flynn/flynn.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 12, RANK = 5, COUNT = EDGE * EDGE, BINS = 9, UPTO = 300, MOST_OUT = 3, MOST_FAILURES = 10000 };

/* What every call works on. */
typedef struct work {
    fl_device *device;
    fl_array *matrix, *kernel, *line, *other, *ascending, *taps, *u, *s, *vt;
    fl_array *out[MOST_OUT];
    fl_closeness closeness;
    fl_timing timing;
    const char *variant;
} work;

typedef struct call {
    const char *name;           /* of an operation, or of a function */
    fl_status (*make)(work *w); /* makes what the call fills, without failures; NULL: nothing */
    fl_status (*run)(work *w);
} call;

static int failures;

static void complain(const char *backend, const call *c, const work *w, long long n, const char *what)
{
    fprintf(stderr, "%s, %s%s%s, allocation %lld: %s (%s)\n", backend, c->name, w->variant ? " " : "",
            w->variant ? w->variant : "", n, what, fl_last_error());
    failures++;
}

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "without a failed allocation: %s: %s\n", fl_status_name(status), fl_last_error());
    exit(1);
}

/* -------------------------------------------------------------------------------------------------- operations ---- */

#define RUN(w) (&(fl_run){.variant = (w)->variant, .timing = &(w)->timing})

static fl_status make(work *w, int i, fl_dtype dtype, int ndim, int64_t rows, int64_t columns)
{
    return fl_array_create(w->device, dtype, ndim, (int64_t[]){rows, columns}, &w->out[i]);
}

static fl_status make_line(work *w)
{
    return make(w, 0, FL_F32, 1, COUNT, 0);
}

static fl_status make_matrix(work *w)
{
    return make(w, 0, FL_F32, 2, EDGE, EDGE);
}

static fl_status make_counted(work *w)
{
    fl_status status = make_line(w);

    return status == FL_OK ? make(w, 1, FL_I64, 1, 1, 0) : status;
}

static fl_status make_primes(work *w)
{
    fl_status status = make(w, 0, FL_I64, 1, fl_primes_bound(UPTO), 0);

    return status == FL_OK ? make(w, 1, FL_I64, 1, 1, 0) : status;
}

static fl_status make_factors(work *w)
{
    fl_status status = make(w, 0, FL_F32, 2, EDGE, RANK);

    status = status == FL_OK ? make(w, 1, FL_F32, 1, RANK, 0) : status;
    return status == FL_OK ? make(w, 2, FL_F32, 2, RANK, EDGE) : status;
}

static fl_status make_wide(work *w)
{
    return make(w, 0, FL_F64, 1, COUNT, 0);
}

static fl_status make_row(work *w)
{
    return make(w, 0, FL_F32, 1, EDGE, 0);
}

static fl_status make_places(work *w)
{
    return make(w, 0, FL_I64, 1, COUNT, 0);
}

static fl_status make_one(work *w)
{
    return make(w, 0, FL_F32, 1, 1, 0);
}

static fl_status make_one_place(work *w)
{
    return make(w, 0, FL_I64, 1, 1, 0);
}

static fl_status make_bins(work *w)
{
    return make(w, 0, FL_I64, 1, BINS, 0);
}

static fl_status make_both(work *w)
{
    return make(w, 0, FL_F32, 1, 2 * COUNT, 0);
}

static fl_status make_triangle(work *w)
{
    fl_status status = make(w, 0, FL_F32, 2, RANK, EDGE);

    return status == FL_OK ? make(w, 1, FL_F32, 2, RANK, RANK) : status;
}

static fl_status increment(work *w)
{
    return fl_increment(w->device, w->line, w->out[0], RUN(w));
}

static fl_status square_root(work *w)
{
    return fl_sqrt(w->device, w->line, w->out[0], RUN(w));
}

static fl_status maximum(work *w)
{
    return fl_maximum(w->device, w->line, w->other, w->out[0], RUN(w));
}

static fl_status log_of_sum(work *w)
{
    return fl_log_of_sum(w->device, w->line, w->other, w->out[0], RUN(w));
}

static fl_status sort(work *w)
{
    return fl_sort(w->device, w->line, w->out[0], RUN(w));
}

static fl_status choose(work *w)
{
    return fl_select(w->device, w->line, w->out[0], w->out[1], RUN(w));
}

static fl_status primes(work *w)
{
    return fl_primes(w->device, UPTO, w->out[0], w->out[1], RUN(w));
}

static fl_status convolve1d(work *w)
{
    return fl_convolve1d(w->device, w->line, w->taps, FL_SAME, w->out[0], RUN(w));
}

static fl_status convolve(work *w)
{
    return fl_convolve(w->device, w->matrix, w->kernel, FL_SAME, w->out[0], RUN(w));
}

static fl_status svd(work *w)
{
    return fl_svd(w->device, w->matrix, 7, w->out[0], w->out[1], w->out[2], RUN(w));
}

static fl_status reconstruct(work *w)
{
    return fl_reconstruct(w->device, w->u, w->s, w->vt, RANK, w->out[0], RUN(w));
}

static fl_status allclose(work *w)
{
    return fl_allclose(w->device, w->line, w->other, 1e-5, 1e-8, false, &w->closeness, RUN(w));
}

static fl_status convert(work *w)
{
    return fl_convert(w->device, w->line, w->out[0], RUN(w));
}

static fl_status copy(work *w)
{
    return fl_copy_array(w->device, w->line, w->out[0], RUN(w));
}

static fl_status multiply_add(work *w)
{
    return fl_multiply_add(w->device, w->line, 0.5, 1, 4, w->out[0], RUN(w));
}

static fl_status sum(work *w)
{
    return fl_reduce(w->device, w->line, FL_SUM, FL_ALL_AXES, w->out[0], RUN(w));
}

static fl_status sums_of_columns(work *w)
{
    return fl_reduce(w->device, w->matrix, FL_SUM, 0, w->out[0], RUN(w));
}

static fl_status place_of_largest(work *w)
{
    return fl_reduce(w->device, w->line, FL_ARGMAX, FL_ALL_AXES, w->out[0], RUN(w));
}

static fl_status dot(work *w)
{
    return fl_dot(w->device, w->line, w->other, FL_ALL_AXES, w->out[0], RUN(w));
}

static fl_status scan(work *w)
{
    return fl_scan(w->device, w->line, FL_SUM, true, w->out[0], RUN(w));
}

static fl_status histogram(work *w)
{
    return fl_histogram(w->device, w->line, 0, 40, true, w->out[0], RUN(w));
}

static fl_status transpose(work *w)
{
    return fl_transpose(w->device, w->matrix, w->out[0], RUN(w));
}

static fl_status matmul(work *w)
{
    return fl_matmul(w->device, w->matrix, false, w->matrix, true, w->out[0], RUN(w));
}

static fl_status search_sorted(work *w)
{
    return fl_search_sorted(w->device, w->ascending, w->line, w->out[0], RUN(w));
}

static fl_status merge(work *w)
{
    return fl_merge(w->device, w->ascending, w->ascending, w->out[0], RUN(w));
}

static fl_status qr(work *w)
{
    return fl_qr(w->device, w->u, w->out[0], w->out[1], RUN(w));
}

static const call operations[] = {
    {"increment", make_line, increment},
    {"sqrt", make_line, square_root},
    {"maximum", make_line, maximum},
    {"log_of_sum", make_line, log_of_sum},
    {"sort", make_line, sort},
    {"select", make_counted, choose},
    {"primes", make_primes, primes},
    {"convolve1d", make_line, convolve1d},
    {"convolve", make_matrix, convolve},
    {"svd", make_factors, svd},
    {"reconstruct", make_matrix, reconstruct},
    {"allclose", NULL, allclose},
    {"convert", make_wide, convert},
    {"copy", make_line, copy},
    {"multiply_add", make_line, multiply_add},
    {"reduce", make_one, sum},
    {"reduce", make_row, sums_of_columns},
    {"reduce", make_one_place, place_of_largest},
    {"reduce", make_one, dot},
    {"scan", make_line, scan},
    {"histogram", make_bins, histogram},
    {"transpose", make_matrix, transpose},
    {"matmul", make_matrix, matmul},
    {"search_sorted", make_places, search_sorted},
    {"merge", make_both, merge},
    {"qr", make_triangle, qr},
};

/* --------------------------------------------------------------------------------------------- other functions ---- */

static const float values[COUNT] = {1, 2, 3};

static fl_status create_array(work *w)
{
    fl_status status = make_matrix(w);

    return status == FL_OK ? fl_array_write(w->out[0], values, NULL) : status;
}

static fl_status from_host(work *w)
{
    return fl_array_from_host(w->device, FL_F32, 1, (int64_t[]){COUNT}, values, &w->out[0]);
}

static fl_status to_device(work *w)
{
    return fl_array_to_device(w->line, w->device, &w->out[0]);
}

static fl_status view(work *w)
{
    fl_array *part;
    fl_status status = fl_array_view(w->matrix, (int64_t[]){1, 2}, (int64_t[]){3, 4}, &part);

    if (status == FL_OK)
        status = fl_array_to_device(part, w->device, &w->out[0]);
    fl_array_free(part);
    return status;
}

static fl_status stream(work *w)
{
    fl_stream *made;
    fl_status status = fl_stream_create(w->device, &made);

    if (status == FL_OK)
        status = fl_increment(w->device, w->line, w->out[0], &(fl_run){.variant = "naive", .stream = made});
    fl_stream_free(made);
    return status;
}

static fl_status event(work *w)
{
    fl_event *made;
    fl_status status = fl_event_create(w->device, &made);

    if (status == FL_OK)
        status = fl_event_record(made, NULL);
    if (status == FL_OK)
        status = fl_event_wait(made);
    fl_event_free(made);
    return status;
}

static fl_status pinned(work *w)
{
    void *memory = NULL;
    fl_status status = fl_host_alloc(w->device, COUNT * sizeof(float), &memory);

    if (status == FL_OK)
        status = fl_array_to_host(w->line, memory);
    fl_host_free(w->device, memory);
    return status;
}

static fl_status trace(work *w)
{
    fl_status status = fl_trace_start();

    if (status != FL_OK)
        return status;
    status = fl_device_wait(w->device);
    must(fl_trace_stop(NULL, NULL, NULL));
    return status;
}

static fl_status dlpack(work *w)
{
    struct DLManagedTensor *tensor;
    fl_status status = fl_array_to_dlpack(w->line, &tensor);

    if (status != FL_OK)
        return status;
    status = fl_array_from_dlpack(w->device, tensor, &w->out[0]); /* takes the tensor when it succeeds */
    if (status != FL_OK) {
        struct { /* dlpack.h: the tensor, the manager's context and its deleter */
            char tensor[48];
            void *context;
            void (*deleter)(struct DLManagedTensor *);
        } owner;
        memcpy(&owner, tensor, sizeof owner);
        owner.deleter(tensor);
    }
    return status;
}

/* A second device of the same resource, with an array. */
static fl_status second_device(work *w)
{
    fl_device *device;
    fl_status status = fl_device_open(fl_device_describe(w->device)->resource, &device);

    if (status == FL_OK)
        status = fl_array_to_device(w->line, device, &w->out[0]);
    if (status == FL_OK)
        status = fl_device_wait(device);
    fl_device_close(device);
    return status;
}

static const call functions[] = {
    {"fl_array_create", NULL, create_array}, {"fl_array_from_host", NULL, from_host},
    {"fl_event_create", NULL, event},        {"fl_host_alloc", NULL, pinned},
    {"fl_trace_start", NULL, trace},         {"fl_array_to_dlpack", NULL, dlpack},
    {"fl_array_to_device", NULL, to_device}, {"fl_device_open", NULL, second_device},
    {"fl_array_view", NULL, view},           {"fl_stream_create", make_line, stream},
};
enum {
    OPERATIONS = sizeof operations / sizeof *operations,
    FUNCTIONS = sizeof functions / sizeof *functions,
    WITHOUT_KERNEL = 7, /* of these functions the first ones */
};

/* ------------------------------------------------------------------------------------------------------- tests ---- */

static fl_array *upload(work *w, int ndim, int64_t rows, int64_t columns, double step)
{
    float numbers[COUNT];
    fl_array *array;

    for (int i = 0; i < COUNT; i++)
        numbers[i] = (float)((i * 37 % 101) * step) - (step < 0.5 ? 1 : 0);
    must(fl_array_from_host(w->device, FL_F32, ndim, (int64_t[]){rows, columns}, numbers, &array));
    return array;
}

static fl_array *upload_ascending(work *w)
{
    float numbers[COUNT];
    fl_array *array;

    for (int i = 0; i < COUNT; i++)
        numbers[i] = (float)(i / 3);
    must(fl_array_from_host(w->device, FL_F32, 1, (int64_t[]){COUNT}, numbers, &array));
    return array;
}

static work start(const char *backend, const char *variant)
{
    work w = {.variant = variant};

    must(fl_device_open(backend, &w.device));
    w.matrix = upload(&w, 2, EDGE, EDGE, 0.03);
    must(fl_array_from_host(w.device, FL_F32, 2, (int64_t[]){3, 3}, (float[]){1, 2, 1, 2, 4, 2, 1, 2, 1}, &w.kernel));
    w.line = upload(&w, 1, COUNT, 0, 0.5);
    w.other = upload(&w, 1, COUNT, 0, 0.75);
    w.ascending = upload_ascending(&w);
    w.taps = upload(&w, 1, 7, 0, 0.5);
    w.u = upload(&w, 2, EDGE, RANK, 0.5);
    w.s = upload(&w, 1, RANK, 0, 0.5);
    w.vt = upload(&w, 2, RANK, EDGE, 0.5);
    return w;
}

static void free_outputs(work *w)
{
    for (int i = 0; i < MOST_OUT; i++) {
        fl_array_free(w->out[i]);
        w->out[i] = NULL;
    }
}

static void end(work *w)
{
    fl_array *inputs[] = {w->matrix, w->kernel, w->line, w->other, w->ascending, w->taps, w->u, w->s, w->vt};

    free_outputs(w);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        fl_array_free(inputs[i]);
    fl_device_close(w->device);
}

/* A hash of all that the call has filled; the array of numbers behind a count is not all filled. */
static unsigned long long result_of(const work *w)
{
    static char bytes[COUNT * sizeof(double)];
    unsigned long long hash = 1469598103934665603u + (unsigned long long)w->closeness.differing;

    for (int i = 0; i < MOST_OUT && w->out[i]; i++) {
        int64_t size = fl_array_size(w->out[i]);
        must(fl_array_to_host(w->out[i], bytes));
        if (i == 0 && w->out[1] && fl_array_dtype(w->out[1]) == FL_I64) {
            int64_t count;
            must(fl_array_to_host(w->out[1], &count));
            size = count < size ? count : size;
        }
        for (size_t b = 0; b < (size_t)size * fl_dtype_size(fl_array_dtype(w->out[i])); b++)
            hash = (hash ^ (unsigned char)bytes[b]) * 1099511628211u; /* FNV-1a */
    }
    return hash;
}

static fl_status run(work *w, const call *c)
{
    fl_status status = c->run(w);

    return status == FL_OK ? fl_device_wait(w->device) : status;
}

/* One device: the n-th allocation fails in the first call, and none in the second. 0: no call was left to fail. */
static bool attempt(const char *backend, const call *c, const char *variant, long long n, unsigned long long expected)
{
    work w = start(backend, variant);
    bool failed;

    if (c->make)
        must(c->make(&w));
    failing_arm(n);
    fl_status status = run(&w, c);
    failed = failing_disarm();
    if (status != FL_OK && status != FL_E_MEMORY)
        complain(backend, c, &w, n, fl_status_name(status));
    if (status != FL_OK && !*fl_last_error())
        complain(backend, c, &w, n, "no message");
    if (status == FL_OK && result_of(&w) != expected)
        complain(backend, c, &w, n, "FL_OK with another result");
    if (!c->make)
        free_outputs(&w);
    if (run(&w, c) != FL_OK)
        complain(backend, c, &w, n, "the same call fails afterwards");
    else if (result_of(&w) != expected)
        complain(backend, c, &w, n, "the same call has another result afterwards");
    end(&w);
    return failed;
}

/* How many blocks are left if this allocation fails again and again; 0 if not each failure leaves some. HIP-CPU's
 * threads also allocate, at any time, and keep it until the process ends. */
static long long leaves_each_time(const char *backend, const call *c, const char *variant, long long n,
                                  unsigned long long expected)
{
    long long least = 1 << 20;
    for (int i = 0; i < 4; i++) {
        const long long before = failing_live();
        attempt(backend, c, variant, n, expected);
        least = failing_live() - before < least ? failing_live() - before : least;
    }
    return least > 0 ? least : 0;
}

static long long try_all(const char *backend, const call *c, const char *variant)
{
    long long n = 0, live;
    unsigned long long expected;
    work w = {.device = NULL};

    for (int i = 0; i < 2; i++) { /* the first time, things are made that stay */
        w = start(backend, variant);
        if (c->make)
            must(c->make(&w));
        must(run(&w, c));
        expected = result_of(&w);
        end(&w);
    }
    while (n < MOST_FAILURES && attempt(backend, c, variant, ++n, expected))
        ; /* the first failure makes things that stay, too */
    live = failing_live();
    n = 0;
    while (n < MOST_FAILURES && attempt(backend, c, variant, ++n, expected))
        if (failing_live() != live) {
            live = leaves_each_time(backend, c, variant, n, expected);
            if (live > 0) {
                char text[80];
                snprintf(text, sizeof text, "%lld blocks are left", live);
                complain(backend, c, &w, n, text);
            }
            live = failing_live();
        }
    return n - 1;
}

static bool is_left_out(const fl_variant_info *v)
{
    static const char *const by_blas[] = {"svd", "qr", "reconstruct", "matmul"};
    const bool fftw = strncmp(v->variant, "fft", 3) == 0;
    const bool lapack = strcmp(v->operation, "svd") == 0 &&
                        (strcmp(v->variant, "auto") == 0 || strcmp(v->variant, "single") == 0); /* as `library` */
    bool blas = false;

    for (size_t i = 0; i < sizeof by_blas / sizeof *by_blas; i++)
        blas = blas || strcmp(v->operation, by_blas[i]) == 0;
    return fftw || lapack || (blas && strcmp(v->variant, "library") == 0) || strcmp(v->operation, "map") == 0 ||
           strcmp(v->operation, "kernel") == 0;
}

/* Every call of that operation, of which there must be one. */
static long long try_variant(const char *backend, const fl_variant_info *v)
{
    long long tried = 0;
    bool known = false;

    for (int o = 0; o < OPERATIONS; o++)
        if (strcmp(operations[o].name, v->operation) == 0) {
            known = true;
            tried += try_all(backend, &operations[o], v->variant);
        }
    if (!known) {
        fprintf(stderr, "%s: no call of %s is tried; expected a line in `operations`\n", backend, v->operation);
        failures++;
    }
    return tried;
}

static long long try_operations(const char *backend)
{
    fl_device *device;
    fl_variant_info v;
    long long tried = 0;

    must(fl_device_open(backend, &device));
    for (size_t i = 0; fl_variant_get(device, i, &v) == FL_OK; i++)
        if (!is_left_out(&v))
            tried += try_variant(backend, &v);
    fl_device_close(device);
    return tried;
}

static void try_backend(const char *backend, bool emulation)
{
    long long tried = 0;

    for (int f = 0; f < (emulation ? WITHOUT_KERNEL : FUNCTIONS); f++)
        tried += try_all(backend, &functions[f], NULL);
    if (!emulation)
        tried += try_operations(backend);
    printf("%s: %lld allocations failed, one at a time\n", backend, tried);
}

int main(int argc, char **argv)
{
    failing_spare("libgomp");
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *info = fl_backend_get(i);
        bool named = argc < 2;
        for (int a = 1; a < argc; a++)
            named = named || strcmp(argv[a], info->name) == 0;
        if (named && info->usable && (strcmp(info->family, "cpu") == 0 || info->emulation))
            try_backend(info->name, info->emulation);
    }
    printf("%d failures\n", failures);
    return failures > 0;
}
