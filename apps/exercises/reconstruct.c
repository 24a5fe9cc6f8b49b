/* SPDX-License-Identifier: MIT
 *
 * flynn reconstruct: a matrix from its leading singular values and vectors.
 */
#include "commands.h"

#include "checks/reconstruct.h"
#include "files/files.h"
#include "harness/backends.h"
#include "harness/exercise.h"
#include "support/fail.h"
#include "support/options.h"

#include <stdio.h>
#include <string.h>

enum { COURSE_EDGE = 512, COURSE_RANK = 100, LARGEST_EDGE = 1 << 20, LARGEST_BATCH = 1 << 20 };
enum { KEY_RANK = KEY_OWN, KEY_BATCH };

static const char *const factor_names[] = {"u", "s", "vt"};

/* What only this command has. */
typedef struct reconstruct_options {
    const char *files[3]; /* NULL: made */
    int file_count;
    int64_t rank, batch; /* 0: not given */
    const char *output;
} reconstruct_options;

static const struct argp_option own_options[] = {
    {"rank", KEY_RANK, "K", 0, "How many singular values to use (of made factors 100, of files all)", 0},
    {"batch", KEY_BATCH, "N", 0, "Make factors of a batch of N matrices", 0},
    {"output", 'o', "FILE", 0, "Write the result: .npy, or .png (grey, clipped to 0..1)", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    reconstruct_options *own = state->input;

    switch (key) {
    case KEY_RANK: own->rank = option_integer("rank", value, 1, INT64_MAX); return 0;
    case KEY_BATCH: own->batch = option_integer("batch", value, 1, LARGEST_BATCH); return 0;
    case 'o': own->output = value; return 0;
    case ARGP_KEY_ARG:
        if (own->file_count == 3)
            return ARGP_ERR_UNKNOWN;
        own->files[own->file_count++] = value;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char summary[] =
    "Computes y = u[:, :K] diag(s[:K]) vt[:K, :], what is left of a matrix when only its leading singular values are "
    "kept, checks the result and tells the time in its parts.\v"
    "U (m x k), S (k) and VT (k x n) are .npy files, such as numpy.linalg.svd gives; with a dimension more in front, a "
    "batch of matrices. Without them, factors are made of random numbers with --seed: u and vt in -1..1, s falling "
    "from "
    "1 to 1/K, in f32, for a matrix of --size (512) rows and columns. --dtype=f32|f64 converts them; f32 alone is "
    "computed in f32, all else in f64.";

/* ----------------------------------------------------------------------------------------------- inputs ---- */

/* The factors of one course's exercise, or of a batch of them. */
static void make_factors(const common_options *common, const reconstruct_options *own, host_array *factors)
{
    const int64_t edge = common->size ? common->size : COURSE_EDGE, rank = own->rank ? own->rank : COURSE_RANK;
    const int64_t batch = own->batch ? own->batch : 1, u[] = {batch, edge, rank}, vt[] = {batch, rank, edge},
                  s[] = {batch, rank};
    const int skip = own->batch ? 0 : 1;
    const fl_dtype dtype = common->has_dtype ? common->dtype : FL_F32;

    if (edge > LARGEST_EDGE)
        fail(EXIT_BAD_INPUT, "--size: %lld is too large a matrix's edge; expected at most %d", (long long)edge,
             LARGEST_EDGE);
    if (rank > edge)
        fail(EXIT_BAD_INPUT,
             "--rank: %lld is more singular values than a matrix of %lldx%lld has; expected at most %lld",
             (long long)rank, (long long)edge, (long long)edge, (long long)edge);
    factors[0] = exercise_random(dtype, 3 - skip, u + skip, -1, 1, common->seed);
    factors[1] = exercise_random(dtype, 2 - skip, s + skip, 0, 1, common->seed);
    factors[2] = exercise_random(dtype, 3 - skip, vt + skip, -1, 1, common->seed + 1);
    for (int64_t i = 0; i < batch * rank; i++)
        host_array_set(&factors[1], i, (double)(rank - i % rank) / (double)rank);
}

/* Ends the command unless u is [batch x] m x k, s [batch x] k and vt [batch x] k x n, none of them empty. */
static void check_shapes(const reconstruct_options *own, const host_array *factors)
{
    const host_array *u = &factors[0], *s = &factors[1], *vt = &factors[2];
    const int64_t *shape = u->shape, k = shape[u->ndim - 1];
    const bool batch = u->ndim == 3;

    for (int i = 0; i < 3; i++)
        if (host_array_size(&factors[i]) == 0)
            fail(EXIT_BAD_INPUT, "%s: %s is %s; expected at least one element", own->files[i], factor_names[i],
                 format_shape(factors[i].ndim, factors[i].shape).text);
    if (s->ndim != u->ndim - 1 || s->shape[s->ndim - 1] != k || (batch && s->shape[0] != shape[0]))
        fail(EXIT_BAD_INPUT, "%s: s is %s; expected %s%lld, as u is %s", own->files[1],
             format_shape(s->ndim, s->shape).text, batch ? "the batch and " : "", (long long)k,
             format_shape(u->ndim, shape).text);
    if (vt->ndim != u->ndim || vt->shape[vt->ndim - 2] != k || (batch && vt->shape[0] != shape[0]))
        fail(EXIT_BAD_INPUT, "%s: vt is %s; expected %s%lld rows, as u is %s", own->files[2],
             format_shape(vt->ndim, vt->shape).text, batch ? "the batch and " : "", (long long)k,
             format_shape(u->ndim, shape).text);
    if (own->rank > k)
        fail(EXIT_BAD_INPUT, "--rank: %lld is more than the %lld singular values in %s", (long long)own->rank,
             (long long)k, own->files[1]);
}

static void read_factors(const common_options *common, const reconstruct_options *own, host_array *factors)
{
    if (common->size)
        fail(EXIT_BAD_INPUT, "--size: is for made factors; those of files have their own size");
    if (own->batch)
        fail(EXIT_BAD_INPUT, "--batch: is for made factors; a batch in files has three dimensions");
    for (int i = 0; i < 3; i++)
        factors[i] = exercise_read(own->files[i], factor_names[i], i == 1 ? 1 : 2, i == 1 ? 2 : 3);
    check_shapes(own, factors);
    for (int i = 0; i < 3 && common->has_dtype; i++)
        exercise_convert(&factors[i], common->dtype);
}

static void take_factors(const common_options *common, const reconstruct_options *own, host_array *factors)
{
    if (common->has_dtype && common->dtype != FL_F32 && common->dtype != FL_F64)
        fail(EXIT_BAD_INPUT, "--dtype: reconstruct computes in f32 and f64, not in %s", fl_dtype_name(common->dtype));
    if (own->file_count != 0 && own->file_count != 3)
        fail(EXIT_BAD_INPUT, "%d file%s given; expected three, u, s and vt, or none", own->file_count,
             own->file_count == 1 ? " is" : "s are");
    if (own->file_count == 3)
        read_factors(common, own, factors);
    else
        make_factors(common, own, factors);
}

/* ----------------------------------------------------------------------------------------- the exercise ---- */

/* What `call` and `check` need besides the arrays. */
typedef struct reconstruct_setting {
    int64_t rank;
    const reconstruct_oracle *oracle;
} reconstruct_setting;

static fl_status call_reconstruct(fl_device *device, fl_array *const *inputs, fl_array *const *outputs,
                                  const void *more, const fl_run *run)
{
    const reconstruct_setting *setting = more;

    return fl_reconstruct(device, inputs[0], inputs[1], inputs[2], setting->rank, outputs[0], run);
}

static compare_result check_reconstruct(const exercise *e, const measurement *m, char *method, size_t size)
{
    const reconstruct_setting *setting = e->more;

    return reconstruct_oracle_check(setting->oracle, &m->results[0], method, size);
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const reconstruct_setting *setting = e->more;

    (void)m;
    json_object_set_new(row, "singular_values", json_integer(setting->rank));
}

/* "reconstruct: u 512x100, vt 100x512, 100 singular values, result 512x512 f32" */
static exercise make_exercise(const host_array *factors, const reconstruct_setting *setting)
{
    const host_array *u = &factors[0], *s = &factors[1], *vt = &factors[2];
    fl_dtype dtype = u->dtype == FL_F32 && s->dtype == FL_F32 && vt->dtype == FL_F32 ? FL_F32 : FL_F64;
    exercise e = {.name = "reconstruct",
                  .input_count = 3,
                  .inputs = {*u, *s, *vt},
                  .more = setting,
                  .call = call_reconstruct,
                  .check = check_reconstruct,
                  .add_json = add_json};
    int64_t shape[FL_MAX_DIMS];

    for (int d = 0; d < u->ndim; d++)
        shape[d] = d == u->ndim - 1 ? vt->shape[d] : u->shape[d];
    exercise_output(&e, dtype, u->ndim, shape);
    snprintf(e.title, sizeof e.title, "reconstruct: u %s, vt %s, %lld singular values, result %s %s",
             format_shape(u->ndim, u->shape).text, format_shape(vt->ndim, vt->shape).text, (long long)setting->rank,
             format_shape(u->ndim, shape).text, fl_dtype_name(dtype));
    return e;
}

static bool ends_in(const char *name, const char *ending)
{
    return strlen(name) >= strlen(ending) && strcmp(name + strlen(name) - strlen(ending), ending) == 0;
}

static void check_output(const reconstruct_options *own, bool batch)
{
    problem why;

    if (!own->output)
        return;
    exercise_must(file_check_output(own->output, &why), &why);
    if (batch && ends_in(own->output, ".png"))
        fail(EXIT_BAD_INPUT, "%s: a batch of matrices is no picture; expected a name that ends in .npy", own->output);
}

int command_reconstruct(int argc, char **argv)
{
    reconstruct_options own = {0};
    const command_line line = {
        "flynn reconstruct", "[U S VT]", summary, TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
        own_options,         parse,      &own};
    common_options common;
    host_array factors[3];
    reconstruct_oracle *oracle;
    result_list results;
    int code;

    options_parse(&line, argc, argv, &common);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    take_factors(&common, &own, factors);
    check_output(&own, factors[0].ndim == 3);
    int64_t rank = own.rank ? own.rank : factors[0].shape[factors[0].ndim - 1];
    oracle = reconstruct_oracle_create(&factors[0], &factors[1], &factors[2], rank, common.check, common.seed);
    reconstruct_setting setting = {rank, oracle};
    exercise e = make_exercise(factors, &setting);
    code = exercise_run(&e, &common, &backends, &results);
    exercise_write(&results, 0, own.output);

    result_list_free(&results);
    reconstruct_oracle_free(oracle);
    backends_close(&backends);
    for (int i = 0; i < 3; i++)
        host_array_free(&factors[i]);
    options_free(&common);
    return code;
}
