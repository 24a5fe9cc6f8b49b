/* SPDX-License-Identifier: MIT
 *
 * test_graph.c - graphs: a run does what the recorded calls do, bit for bit, each time, and recording does nothing.
 */
#include "harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The launches of a run of `count` pieces that a GPU's graph can hold. */
static int64_t launches_of(const fl_device *device, int64_t count)
{
    const fl_device_info *info = fl_device_describe(device);

    return info->host_memory || info->emulation ? count : 1;
}

static fl_array *vector_of(fl_device *device, fl_dtype dtype, int64_t length, const void *host)
{
    fl_array *array;

    must(fl_array_from_host(device, dtype, 1, &length, host, &array));
    return array;
}

/* A chain of increments in place: nothing happens until the runs, and each run adds to what is there. */
ON_EVERY_BACKEND(graph, chain)
{
    static const int64_t lengths[] = {1, 255, 256, 1025, 65537};
    enum { CALLS = 5, RUNS = 3 };
    fl_device *device = open_device(on->resource);

    for (size_t i = 0; i < COUNT(lengths); i++) {
        const int64_t n = lengths[i];
        float *values = calloc((size_t)n, sizeof *values);
        fl_array *array = vector_of(device, FL_F32, n, values);
        fl_stream *stream;
        fl_graph *graph;
        must(fl_stream_create(device, &stream));
        must(fl_graph_begin(stream));
        for (int c = 0; c < CALLS; c++)
            must(fl_increment(device, array, array, &(fl_run){.stream = stream}));
        must(fl_graph_end(stream, &graph));
        cr_expect_eq(fl_graph_launches(graph), launches_of(device, CALLS), "%s", on->resource);
        must(fl_array_to_host(array, values));
        cr_expect(values[0] == 0 && values[n - 1] == 0, "%s: recording is no work", on->resource);
        for (int r = 0; r < RUNS; r++)
            must(fl_graph_run(graph));
        must(fl_stream_wait(stream));
        must(fl_array_to_host(array, values));
        for (int64_t k = 0; k < n; k++)
            cr_assert_eq(values[k], CALLS * RUNS, "%s: element %" PRId64 " of %" PRId64 " is %g", on->resource, k, n,
                         (double)values[k]);
        fl_graph_free(graph);
        fl_stream_free(stream);
        fl_array_free(array);
        free(values);
    }
    fl_device_close(device);
}

enum { N = 3000, ROWS = 40, COLUMNS = N / ROWS, TAPS = 5, BINS = 10 };

/* The arrays of a chain through most operations, each of which takes what the last one made, and its results. */
struct chain {
    fl_array *in, *image, *kernel, *smooth, *doubled, *flat, *sorted, *sums, *total, *selected, *count, *bins, *squares,
        *turned;
    int64_t read[BINS];
};

static struct chain chain_create(fl_device *device)
{
    struct chain c = {0};
    struct matrix kernel = matrix_random(FL_F64, TAPS, TAPS, 7);
    const int64_t whole[] = {ROWS, COLUMNS}, turned[] = {COLUMNS, ROWS}, square[] = {ROWS, ROWS}, n = N, one = 1,
                  bins = BINS;
    c.kernel = array_from(device, &kernel);
    matrix_free(&kernel);
    must(fl_array_create(device, FL_I32, 2, whole, &c.in));
    must(fl_array_create(device, FL_F64, 2, whole, &c.smooth));
    must(fl_array_create(device, FL_F64, 2, turned, &c.turned));
    must(fl_array_create(device, FL_F64, 2, square, &c.squares));
    must(fl_array_create(device, FL_F64, 1, (const int64_t[]){COLUMNS}, &c.total));
    must(fl_array_create(device, FL_I64, 1, &n, &c.flat));
    must(fl_array_create(device, FL_I64, 1, &n, &c.sorted));
    must(fl_array_create(device, FL_I64, 1, &n, &c.sums));
    must(fl_array_create(device, FL_I64, 1, &n, &c.selected));
    must(fl_array_create(device, FL_I64, 1, &one, &c.count));
    must(fl_array_create(device, FL_I64, 1, &bins, &c.bins));
    return c;
}

static void chain_free(struct chain *c)
{
    free_arrays(c->in, c->kernel, c->smooth, c->turned, c->squares, c->total, c->flat, c->sorted, c->sums, c->selected,
                c->count, c->bins);
}

/* `numbers` and `other` are the host's, which each run copies to the device. */
static void chain_queue(fl_device *device, struct chain *c, const int32_t *numbers, const int64_t *other,
                        fl_stream *stream)
{
    const fl_run run = {.stream = stream};

    must(fl_array_write(c->in, numbers, stream));
    must(fl_convolve(device, c->in, c->kernel, FL_SAME, c->smooth, &run)); /* converted: i32 to f64 */
    must(fl_transpose(device, c->smooth, c->turned, &run));
    must(fl_matmul(device, c->smooth, false, c->smooth, true, c->squares, &run));
    must(fl_reduce(device, c->smooth, FL_SUM, 0, c->total, &run));
    must(fl_array_write(c->flat, other, stream));
    must(fl_sort(device, c->flat, c->sorted, &run));
    must(fl_scan(device, c->sorted, FL_SUM, true, c->sums, &run));
    must(fl_select(device, c->flat, c->selected, c->count, &run));
    must(fl_histogram(device, c->flat, -9, 9, true, c->bins, &run));
    must(fl_array_read(c->bins, c->read, stream));
}

/* All results on the host. */
static void chain_results(const struct chain *c, double *real, int64_t *integer)
{
    const int64_t sizes[] = {N, N, ROWS * ROWS, COLUMNS};
    const fl_array *const reals[] = {c->smooth, c->turned, c->squares, c->total};
    const fl_array *const integers[] = {c->sorted, c->sums, c->selected, c->count, c->bins};

    for (size_t i = 0; i < COUNT(reals); real += sizes[i++])
        must(fl_array_to_host(reals[i], real));
    for (size_t i = 0; i < COUNT(integers); integer += fl_array_size(integers[i++]))
        must(fl_array_to_host(integers[i], integer));
    memcpy(integer, c->read, sizeof c->read);
}

/* Other input for each run; the graph's results are those of the same calls without one. */
ON_EVERY_BACKEND(graph, many_operations)
{
    enum { REALS = 2 * N + ROWS * ROWS + COLUMNS, INTEGERS = 3 * N + 1 + 2 * BINS };
    fl_device *device = open_device(on->resource);
    int32_t *numbers = calloc(N, sizeof *numbers);
    int64_t *other = calloc(N, sizeof *other), *wanted_integer = calloc(INTEGERS, sizeof *wanted_integer),
            *integer = calloc(INTEGERS, sizeof *integer);
    double *wanted = calloc(REALS, sizeof *wanted), *real = calloc(REALS, sizeof *real);
    struct chain queued = chain_create(device), recorded = chain_create(device);
    fl_stream *stream;
    fl_graph *graph;
    uint64_t state = 11;

    must(fl_stream_create(device, &stream));
    must(fl_graph_begin(stream));
    chain_queue(device, &recorded, numbers, other, stream);
    must(fl_graph_end(stream, &graph));
    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < N; i++) {
            numbers[i] = (int32_t)random_between(&state, -9, 9);
            other[i] = random_between(&state, -9, 9);
        }
        must(fl_graph_run(graph));
        must(fl_stream_wait(stream));
        chain_queue(device, &queued, numbers, other, NULL);
        must(fl_device_wait(device));
        memset(integer, 0, INTEGERS * sizeof *integer);
        memset(wanted_integer, 0, INTEGERS * sizeof *integer);
        chain_results(&recorded, real, integer);
        chain_results(&queued, wanted, wanted_integer);
        const int64_t selected = wanted_integer[3 * N]; /* fl_select leaves the elements behind these as they were */
        cr_expect_eq(integer[3 * N], selected);
        memset(integer + 2 * N + selected, 0, (size_t)(N - selected) * sizeof *integer);
        memset(wanted_integer + 2 * N + selected, 0, (size_t)(N - selected) * sizeof *integer);
        cr_expect(memcmp(real, wanted, REALS * sizeof *real) == 0, "%s: run %d, reals", on->resource, run);
        cr_expect(memcmp(integer, wanted_integer, INTEGERS * sizeof *integer) == 0, "%s: run %d, integers",
                  on->resource, run);
        cr_expect(wanted[N / 2] != 0 && selected > N / 2 && selected < N);
    }
    fl_graph_free(graph);
    fl_stream_free(stream);
    chain_free(&queued);
    chain_free(&recorded);
    free(numbers);
    free(other);
    free(integer);
    free(wanted_integer);
    free(real);
    free(wanted);
    fl_device_close(device);
}

/* Each variant of an operation, also those that a GPU's graph cannot hold, since they wait or call a library. */
ON_EVERY_BACKEND(graph, each_variant)
{
    enum { EDGE = 48, MOST = 500, PRIMES_BELOW_MOST = 95 };
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_random(FL_F32, EDGE, EDGE, 1), kernel = matrix_random_rank_one(FL_F32, 5, 5, 2);
    fl_array *x = array_from(device, &a), *k = array_from(device, &kernel), *out[2], *primes, *count;
    fl_stream *stream;
    const int64_t most = MOST, one = 1;

    must(fl_stream_create(device, &stream));
    must(fl_array_create(device, FL_I64, 1, &most, &primes));
    must(fl_array_create(device, FL_I64, 1, &one, &count));
    for (int i = 0; i < 2; i++)
        must(fl_array_create(device, FL_F32, 2, a.shape, &out[i]));
    for (int operation = 0; operation < 3; operation++) {
        const char *const names[] = {"matmul", "convolve", "primes"};
        const char *variant;
        for (size_t v = 0; (variant = variant_of(device, names[operation], operation == 2 ? FL_I64 : FL_F32, v)); v++) {
            fl_graph *graph = NULL;
            float got[2][EDGE * EDGE] = {{0}};
            if (strcmp(variant, "reference") == 0)
                continue;
            for (int recorded = 0; recorded < 2; recorded++) {
                const fl_run run = {.variant = variant, .stream = stream};
                if (recorded)
                    must(fl_graph_begin(stream));
                fl_status status = operation == 0   ? fl_matmul(device, x, false, x, true, out[recorded], &run)
                                   : operation == 1 ? fl_convolve(device, x, k, FL_SAME, out[recorded], &run)
                                                    : fl_primes(device, MOST, primes, count, &run);
                if (status == FL_E_UNAVAILABLE) /* a library that is not here */
                    recorded += !recorded;
                else
                    check_status(FL_OK, status, variant, __FILE__, __LINE__);
                if (stream && recorded && status == FL_OK) {
                    must(fl_graph_end(stream, &graph));
                    must(fl_graph_run(graph));
                }
                must(fl_stream_wait(stream));
                if (status == FL_OK && operation < 2)
                    must(fl_array_to_host(out[recorded], got[recorded]));
            }
            cr_expect(memcmp(got[0], got[1], sizeof got[0]) == 0, "%s: %s %s", on->resource, names[operation], variant);
            if (graph && operation == 2) {
                int64_t found = 0;
                must(fl_array_to_host(count, &found));
                cr_expect_eq(found, PRIMES_BELOW_MOST, "%s: %s: %" PRId64, on->resource, variant, found);
            }
            fl_graph_free(graph);
        }
    }
    fl_stream_free(stream);
    free_arrays(x, k, out[0], out[1], primes, count);
    matrix_free(&a);
    matrix_free(&kernel);
    fl_device_close(device);
}

/* A function of the user's, and a kernel with numbers, a struct by value and arrays. */
ON_EVERY_BACKEND(graph, user_code)
{
    static const char kernel_text[] = "struct line { float slope, start; };\n"
                                      "__global__ void move(float *x, line by, int n) {\n"
                                      "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                      "    if (i < n) x[i] = x[i] * by.slope + by.start;\n"
                                      "}\n";
    enum { LENGTH = 1000 };
    fl_device *device = open_device(on->resource);
    float values[LENGTH];
    const int64_t grid[3] = {(LENGTH + 255) / 256, 1, 1};
    fl_function *function;
    fl_kernel *kernel = NULL;
    fl_stream *stream;
    fl_graph *graph;

    for (int i = 0; i < LENGTH; i++)
        values[i] = (float)i;
    fl_array *array = vector_of(device, FL_F32, LENGTH, values);
    const fl_array *const inputs[] = {array};
    must(fl_stream_create(device, &stream));
    const fl_status compiled =
        fl_function_create(device, "x + 3", "text", (const fl_dtype[]){FL_F32}, 1, NULL, 0, &function);
    if (compiled == FL_E_UNAVAILABLE) { /* no compiler here */
        fl_stream_free(stream);
        fl_array_free(array);
        fl_device_close(device);
        return;
    }
    check_status(FL_OK, compiled, "fl_function_create", __FILE__, __LINE__);
    if (is_gpu(device))
        must(fl_kernel_create(device, kernel_text, "text", NULL, NULL, NULL, 0, &kernel));
    must(fl_graph_begin(stream));
    must(fl_map(device, function, inputs, 1, array, &(fl_run){.stream = stream}));
    if (kernel) { /* the struct changes before the graph runs: the graph must have its own */
        fl_argument numbers[2] = {{.real = 2}, {.real = 1}};
        must(fl_kernel_launch(kernel, grid, 0,
                              (fl_argument[]){{.array = array}, {.numbers = numbers}, {.integer = LENGTH}}, 3,
                              &(fl_run){.stream = stream}));
        memset(numbers, 0, sizeof numbers);
    }
    must(fl_graph_end(stream, &graph));
    must(fl_graph_run(graph));
    must(fl_graph_run(graph));
    must(fl_stream_wait(stream));
    must(fl_array_to_host(array, values));
    for (int i = 0; i < LENGTH; i++) {
        const double wanted = kernel ? ((i + 3) * 2 + 1 + 3) * 2 + 1 : i + 6;
        cr_assert_eq(values[i], wanted, "%s: element %d is %g", on->resource, i, (double)values[i]);
    }
    fl_graph_free(graph);
    fl_stream_free(stream);
    fl_array_free(array);
    fl_function_free(function);
    fl_kernel_free(kernel);
    fl_device_close(device);
}

/* What a recording cannot hold is refused, leaves it as it was, and the stream usable. */
ON_EVERY_BACKEND(graph, refused)
{
    fl_device *device = open_device(on->resource);
    float values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 10};
    const int64_t shape[2] = {3, 3}, three = 3;
    fl_array *a, *u, *s, *vt, *wrong, *integers;
    fl_timing timing;
    fl_closeness found;
    fl_stream *stream;
    fl_event *event;
    fl_graph *graph, *second;

    must(fl_stream_create(device, &stream));
    must(fl_event_create(device, &event));
    must(fl_array_from_host(device, FL_F32, 2, shape, values, &a));
    must(fl_array_create(device, FL_F32, 2, shape, &u));
    must(fl_array_create(device, FL_F32, 2, shape, &vt));
    must(fl_array_create(device, FL_F32, 1, &three, &s));
    must(fl_array_create(device, FL_F32, 1, &three, &wrong));
    must(fl_array_create(device, FL_I32, 2, shape, &integers));
    const fl_run run = {.stream = stream};
    expect_argument_error(fl_graph_begin(NULL), "stream is NULL");
    expect_argument_error(fl_graph_end(stream, &graph), "does not record");
    expect_argument_error(fl_graph_run(NULL), "graph is NULL");
    cr_expect_eq(fl_graph_launches(NULL), 0);
    fl_graph_free(NULL);
    must(fl_graph_begin(stream));
    expect_argument_error(fl_graph_begin(stream), "already records");
    expect_argument_error(fl_graph_end(stream, NULL), "graph is NULL");
    expect_argument_error(fl_increment(device, a, a, &(fl_run){.stream = stream, .timing = &timing}), "timing");
    expect_argument_error(fl_stream_wait(stream), "records");
    expect_argument_error(fl_event_record(event, stream), "records");
    expect_argument_error(fl_increment(device, a, wrong, &run), "out");
    expect_status(FL_E_UNSUPPORTED, fl_svd(device, a, 0, u, s, vt, &run));
    expect_status(FL_E_UNSUPPORTED, fl_allclose(device, a, integers, 0, 0, false, &found, &run));
    expect_status(FL_E_UNKNOWN, fl_sqrt(device, u, u, &(fl_run){.stream = stream, .variant = "none"}));
    must(fl_event_record(event, NULL));
    expect_argument_error(fl_stream_wait_event(stream, event), "records");
    must(fl_graph_end(stream, &graph));
    cr_expect_eq(fl_graph_launches(graph), 0, "%s: %" PRId64 " pieces", on->resource, fl_graph_launches(graph));
    must(fl_graph_run(graph)); /* of nothing */
    must(fl_graph_begin(stream));
    expect_argument_error(fl_graph_run(graph), "another graph");
    must(fl_increment(device, a, a, &run));
    must(fl_graph_end(stream, &second));
    must(fl_graph_run(second));
    must(fl_increment(device, a, a, &run));
    must(fl_stream_wait(stream));
    must(fl_array_to_host(a, values));
    cr_expect(values[0] == 3 && values[8] == 12, "%s: %g", on->resource, (double)values[0]);
    fl_graph_free(graph);
    fl_graph_free(second);
    must(fl_graph_begin(stream)); /* and never ended */
    must(fl_increment(device, a, a, &run));
    fl_stream_free(stream);
    fl_event_free(event);
    free_arrays(a, u, s, vt, wrong, integers);
    fl_device_close(device);
}
