/* SPDX-License-Identifier: MIT
 *
 * flynn matmul: the product of two matrices.
 */
#include "run/registry.h"

#include "checks/matmul.h"
#include "support/fail.h"

#include <inttypes.h>

enum { TRANSPOSE_NONE, TRANSPOSE_A, TRANSPOSE_B, TRANSPOSE_BOTH };
static const char *const transposes[] = {"none", "a", "b", "both", NULL};

/* Integers of made matrices: sums of 1024 products stay within i32. */
enum { MADE_INTEGERS = 1000 };

typedef struct matmul_options {
    int64_t transpose;
    int64_t batch; /* 0: not given */
} matmul_options;

static const own_option options[] = {
    {"transpose", OPTION_CHOICE, offsetof(matmul_options, transpose), "WHICH",
     .help = "none (default), a, b or both\vThese are stored transposed: a.T @ b and so on.", .names = transposes},
    {"batch", OPTION_INTEGER, offsetof(matmul_options, batch), "N", .help = "Make two batches of N matrices",
     .least = 1, .most = 1 << 20, .void_with = 1},
    {0},
};

static bool is_transposed(const exercise *e, int i)
{
    const int64_t which = ((const matmul_options *)e->own)->transpose;

    return which == TRANSPOSE_BOTH || which == (i == 0 ? TRANSPOSE_A : TRANSPOSE_B);
}

static void settle(exercise *e)
{
    const matmul_options *own = e->own;

    if (group_is_distributed() && own->batch)
        fail(EXIT_BAD_INPUT, "--batch: several ranks share the rows of one matrix");
    if (group_is_distributed() && is_transposed(e, 0))
        fail(EXIT_BAD_INPUT, "--transpose: several ranks share the rows of a, which must not be transposed");
}

static host_array make(const exercise *e, int i)
{
    const int64_t batch = ((const matmul_options *)e->own)->batch, edge = exercise_size(e),
                  shape[] = {batch, edge, edge};
    const int skip = batch ? 0 : 1;
    const fl_dtype dtype = exercise_dtype(e, FL_F32);
    const double end = fl_dtype_is_float(dtype) ? 1 : MADE_INTEGERS;

    return (i == 0 ? exercise_random_share : exercise_random)(dtype, 3 - skip, shape + skip, -end, end,
                                                              e->common.seed + (uint64_t)i);
}

/* Rows and columns of a matrix as the product takes it, and how many there are. */
typedef struct extent {
    int64_t batch, rows, columns;
} extent;

static extent extent_of(const exercise *e, int i, const int64_t *shape)
{
    const int ndim = e->inputs[i].ndim;
    const int64_t down = shape[ndim - 2], across = shape[ndim - 1];
    const bool transposed = is_transposed(e, i);

    return (extent){ndim == 3 ? shape[0] : 1, transposed ? across : down, transposed ? down : across};
}

/* "1024x512, transposed" */
static const char *described(const exercise *e, int i, const int64_t *shape, char *text, size_t size)
{
    snprintf(text, size, "%s%s", format_shape(e->inputs[i].ndim, shape).text,
             is_transposed(e, i) ? ", transposed" : "");
    return text;
}

static void check_shapes(const exercise *e, const extent *a, const extent *b, const char *of_a, const char *of_b)
{
    if (a->columns != b->rows)
        fail(EXIT_BAD_INPUT, "%s: b is %s; expected %" PRId64 " rows, as a is %s", e->common.arguments[1], of_b,
             a->columns, of_a);
    if (a->batch != b->batch && a->batch != 1 && b->batch != 1)
        fail(EXIT_BAD_INPUT, "%s: b is %s; expected a batch of %" PRId64 ", as a is %s", e->common.arguments[1], of_b,
             a->batch, of_a);
}

/* "matmul: a 1024x1024, b 1024x1024, result 1024x1024 f32" */
static void plan(exercise *e)
{
    const fl_dtype dtype = fl_dtype_result((fl_dtype[]){e->inputs[0].dtype, e->inputs[1].dtype}, 2);
    const int ndim = e->inputs[0].ndim > e->inputs[1].ndim ? e->inputs[0].ndim : e->inputs[1].ndim;
    int64_t shape_a[FL_MAX_DIMS], whole[FL_MAX_DIMS];
    char of_a[128], of_b[128];

    if (group_is_distributed() && ndim == 3)
        fail(EXIT_BAD_INPUT, "%s: is a batch; several ranks share the rows of one matrix",
             e->common.arguments[e->inputs[0].ndim == 3 ? 0 : 1]);
    exercise_whole_input(e, 0, shape_a);
    const extent a = extent_of(e, 0, shape_a), b = extent_of(e, 1, e->inputs[1].shape),
                 own = extent_of(e, 0, e->inputs[0].shape);
    check_shapes(e, &a, &b, described(e, 0, shape_a, of_a, sizeof of_a),
                 described(e, 1, e->inputs[1].shape, of_b, sizeof of_b));
    const int64_t shape[] = {a.batch == 1 ? b.batch : a.batch, own.rows, b.columns};
    exercise_output(e, dtype, ndim, shape + 3 - ndim);
    exercise_whole(e->input_rows[0], ndim, shape + 3 - ndim, whole);
    exercise_title(e, "matmul: a %s, b %s, result %s %s", of_a, of_b,
                   format_shape(ndim, group_is_distributed() ? whole : shape + 3 - ndim).text, fl_dtype_name(dtype));
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    return fl_matmul(device, in[0], is_transposed(e, 0), in[1], is_transposed(e, 1), out[0], run);
}

static void expect(exercise *e)
{
    e->expected = matmul_oracle_create(&e->inputs[0], is_transposed(e, 0), &e->inputs[1], is_transposed(e, 1),
                                       e->outputs[0].dtype, e->common.check, e->common.seed);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    return matmul_oracle_check(e->expected, &m->results[0], m->timing.variant, method, size);
}

static void release(exercise *e)
{
    matmul_oracle_free(e->expected);
}

const exercise_kind matmul_exercise = {
    .name = "matmul",
    .summary = "multiply two matrices",
    .help = "Computes c = a b, as numpy.matmul does; integers wrap.\v"
            "A (m x k) and B (k x n) are .npy files of f32, f64, i32 or i64; with one more dimension in front, a batch "
            "of matrices, and one matrix may stand for a whole batch of the other. Without them: random numbers from "
            "--seed, in -1..1, or integers in -1000..1000, in f32, two matrices with --size (1024) rows and columns. "
            "--dtype converts them.\v"
            "\trandom matrices on the best backend\n"
            "-b simd --variant=naive,tiled\thow it becomes fast\n"
            "u.npy vt.npy -o c.npy\ttwo matrices of your own\n",
    .arguments = "[A B]",
    .input_count = 2,
    .inputs = {{"a", 2, 3, true}, {"b", 2, 3, true}},
    .least_files = 2,
    .dtypes = DTYPES_SIGNED,
    .file_dtypes = DTYPES_SIGNED,
    .tolerates = true,
    .seeds_calls = true, /* the check's vectors */
    .options = options,
    .own_size = sizeof(matmul_options),
    .made = "the random matrices",
    .size = 1024,
    .largest = 1 << 20,
    .laws = {1024, 3, NULL},
    .taxonomy_size = 512,
    .distributed = 1, /* a */
    .settle = settle,
    .steps = {make, plan, call, expect, check, release},
};
