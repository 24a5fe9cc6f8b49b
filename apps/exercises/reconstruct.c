/* SPDX-License-Identifier: MIT
 *
 * flynn reconstruct: a matrix from its leading singular values and vectors.
 */
#include "run/registry.h"

#include "checks/reconstruct.h"
#include "support/fail.h"
#include "view/json.h"
#include "view/units.h"

#include <inttypes.h>

enum { COURSE_KEEP = 100 };

typedef struct reconstruct_options {
    integer_list keeps;
    int64_t batch; /* 0: not given */
} reconstruct_options;

static const own_option options[] = {
    {"keep", OPTION_INTEGERS, offsetof(reconstruct_options, keeps), "K,...",
     .help = "Components to use (100, or all; of files always all)\vComponents: leading singular values. Of a list "
             "each is a row.",
     .least = 1, .most = INT64_MAX, .letter = 'k', .also = "components"},
    {"batch", OPTION_INTEGER, offsetof(reconstruct_options, batch), "N",
     .help = "Make factors of a batch of N matrices", .least = 1, .most = 1 << 20, .void_with = 1},
    {0},
};

static void settle(exercise *e)
{
    const reconstruct_options *own = e->own;

    if (group_is_distributed() && own->batch)
        fail(EXIT_BAD_INPUT, "--batch: several ranks share the rows of one matrix");
    if (group_is_distributed() && own->keeps.count > 1)
        fail(EXIT_BAD_INPUT, "--keep: expected one number where several ranks run");
}

/* u and vt are random; s falls from 1 to 1 / keep. */
static host_array make(const exercise *e, int i)
{
    const reconstruct_options *own = e->own;
    const int64_t edge = exercise_size(e), usual = edge < COURSE_KEEP ? edge : COURSE_KEEP,
                  keep = e->keep ? e->keep : usual;
    const int64_t batch = own->batch ? own->batch : 1,
                  shapes[][3] = {{batch, edge, keep}, {batch, keep}, {batch, keep, edge}};
    const int skip = own->batch ? 0 : 1;
    const fl_dtype dtype = exercise_dtype(e, FL_F32);
    host_array s;

    for (int r = 0; r < own->keeps.count; r++)
        if (own->keeps.value[r] > edge)
            fail(EXIT_BAD_INPUT,
                 "--keep: %" PRId64 " is more than the %" PRId64 " singular values of a %" PRId64 "x%" PRId64 " matrix",
                 own->keeps.value[r], edge, edge, edge);
    if (i != 1)
        return (i == 0 ? exercise_random_share : exercise_random)(dtype, 3 - skip, shapes[i] + skip, -1, 1,
                                                                  e->common.seed + (i == 2 ? 1 : 0));
    s = exercise_array(dtype, 2 - skip, shapes[1] + skip);
    for (int64_t n = 0; n < batch * keep; n++)
        host_array_set(&s, n, (double)(keep - n % keep) / (double)keep);
    return s;
}

/* Ends the command unless u is [batch x] m x k, s [batch x] k and vt [batch x] k x n. */
static void check_shapes(const exercise *e)
{
    const host_array *u = &e->inputs[0], *s = &e->inputs[1], *vt = &e->inputs[2];
    int64_t shape[FL_MAX_DIMS];
    const int64_t k = u->shape[exercise_whole_input(e, 0, shape) - 1];
    const bool batch = u->ndim == 3;

    if (s->ndim != u->ndim - 1 || s->shape[s->ndim - 1] != k || (batch && s->shape[0] != shape[0]))
        fail(EXIT_BAD_INPUT, "%s: s is %s; expected %s%" PRId64 ", as u is %s", e->common.arguments[1],
             format_shape(s->ndim, s->shape).text, batch ? "the batch and " : "", k, format_shape(u->ndim, shape).text);
    if (vt->ndim != u->ndim || vt->shape[vt->ndim - 2] != k || (batch && vt->shape[0] != shape[0]))
        fail(EXIT_BAD_INPUT, "%s: vt is %s; expected %s%" PRId64 " rows, as u is %s", e->common.arguments[2],
             format_shape(vt->ndim, vt->shape).text, batch ? "the batch and " : "", k,
             format_shape(u->ndim, shape).text);
}

/* "reconstruct: u 512x100, vt 100x512, 100 components, result 512x512 f32" */
static void plan(exercise *e)
{
    const host_array *u = &e->inputs[0], *vt = &e->inputs[2];
    const bool made = e->common.argument_count == 0;

    for (int i = 0; made && e->expected && i < e->input_count; i++) { /* the factors of another --keep */
        host_array_free(&e->inputs[i]);
        e->inputs[i] = make(e, i);
    }
    const int64_t k = u->shape[u->ndim - 1];
    const fl_dtype dtype = exercise_float_dtype(e);
    const integer_list *keeps = &((const reconstruct_options *)e->own)->keeps;
    int64_t shape[FL_MAX_DIMS], whole_u[FL_MAX_DIMS], whole[FL_MAX_DIMS];

    if (group_is_distributed() && u->ndim == 3)
        fail(EXIT_BAD_INPUT, "%s: is a batch; several ranks share the rows of one matrix", e->common.arguments[0]);
    check_shapes(e);
    for (int i = 0; i < keeps->count && !made; i++)
        if (keeps->value[i] > k)
            fail(EXIT_BAD_INPUT, "--keep: %" PRId64 " is more than the %" PRId64 " singular values in %s",
                 keeps->value[i], k, e->common.arguments[1]);
    e->keep = e->keep ? e->keep : k;
    for (int d = 0; d < u->ndim; d++)
        shape[d] = d == u->ndim - 1 ? vt->shape[d] : u->shape[d];
    exercise_output(e, dtype, u->ndim, shape);
    exercise_whole(e->input_rows[0], u->ndim, shape, whole);
    exercise_whole(e->input_rows[0], u->ndim, u->shape, whole_u);
    if (keeps->count > 1)
        exercise_title(e, "reconstruct: %d numbers of components, result %s %s", keeps->count,
                       format_shape(u->ndim, whole).text, fl_dtype_name(dtype));
    else
        exercise_title(e, "reconstruct: u %s, vt %s, %s, result %s %s", format_shape(u->ndim, whole_u).text,
                       format_shape(vt->ndim, vt->shape).text, format_components((double)e->keep).text,
                       format_shape(u->ndim, whole).text, fl_dtype_name(dtype));
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    return fl_reconstruct(device, in[0], in[1], in[2], e->keep, out[0], run);
}

static void expect(exercise *e)
{
    if (e->expected)
        reconstruct_oracle_free(e->expected);
    e->expected = reconstruct_oracle_create(&e->inputs[0], &e->inputs[1], &e->inputs[2], e->keep, e->common.check,
                                            e->common.seed);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    return reconstruct_oracle_check(e->expected, &m->results[0], m->timing.variant, method, size);
}

static void release(exercise *e)
{
    reconstruct_oracle_free(e->expected);
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    (void)m;
    json_put(row, "singular_values", json_whole(e->keep));
}

const exercise_kind reconstruct_exercise = {
    .name = "reconstruct",
    .summary = "compute a matrix from its leading singular values and vectors",
    .help = "Computes y = u[:, :K] diag(s[:K]) vt[:K, :]: the matrix, as far as its leading K singular values "
            "describe it.\v"
            "U (m x k), S (k) and VT (k x n) are .npy files, such as numpy.linalg.svd returns; with one more "
            "dimension in front, a batch of matrices. Without them: factors of random numbers from --seed, u and vt in "
            "-1..1, s falling from 1 to 1/K, in f32, of a matrix with --size (512) rows and columns. --dtype=f32|f64 "
            "converts them; three factors of f32 are computed in f32, all others in f64.\v"
            "\tmade factors on the best backend\n"
            "-b serial,simd,omp --keep=20\tthree backends side by side\n"
            "u.npy s.npy vt.npy -o out.npy\tyour own factors\n",
    .arguments = "[U S VT]",
    .input_count = 3,
    .inputs = {{"u", 2, 3, true}, {"s", 1, 2, true}, {"vt", 2, 3, true}},
    .least_files = 3,
    .dtypes = DTYPES_FLOAT,
    .tolerates = true,
    .seeds_calls = true, /* the check's sums */
    .options = options,
    .own_size = sizeof(reconstruct_options),
    .keeps = true,
    .made = "the random factors",
    .size = 512,
    .largest = 1 << 20,
    .laws = {2048, 2, NULL},
    .taxonomy_size = 1024,
    .distributed = 1, /* u */
    .settle = settle,
    .steps = {make, plan, call, expect, check, release},
    .add_json = add_json,
};
