/* SPDX-License-Identifier: MIT
 *
 * flynn allclose: compare two arrays within a tolerance.
 */
#include "checks/allclose.h"
#include "run/registry.h"

#include "run/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "view/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of fl_closeness, as the exercise's output: i64. */
enum { DIFFERING, WORST_INDEX, WORST_EXCESS, ANSWERS };

typedef struct allclose_options {
    double relative, absolute;
    bool equal_nan;
} allclose_options;

static const own_option options[] = {
    {"rtol", OPTION_REAL, offsetof(allclose_options, relative), "X",
     .help = "Tolerance relative to B's element (1e-5)"},
    {"atol", OPTION_REAL, offsetof(allclose_options, absolute), "X", .help = "Absolute tolerance (1e-8)"},
    {"equal-nan", OPTION_FLAG, offsetof(allclose_options, equal_nan), .help = "NaN is close to NaN"},
    {0},
};

/* The course's: square roots of 0, 1, 2 ... computed by the first backend (0) and by the host (1). */
static host_array make(const exercise *e, int i)
{
    const int64_t size = exercise_size(e);
    int64_t first;
    host_array roots = exercise_share(FL_F32, 1, &size, &first);
    float *values = roots.data;
    fl_array *in, *out;

    for (int64_t n = 0; n < roots.shape[0]; n++)
        values[n] = i == 0 ? (float)(first + n) : sqrtf((float)(first + n));
    if (i == 1)
        return roots;
    in = reference_upload(e->backends->open[0].device, &roots, false);
    must(fl_array_create(e->backends->open[0].device, FL_F32, 1, roots.shape, &out));
    must(fl_sqrt(e->backends->open[0].device, in, out, NULL));
    must(fl_array_to_host(out, values));
    fl_array_free(in);
    fl_array_free(out);
    return roots;
}

static void plan(exercise *e)
{
    const allclose_options *own = e->own;
    int64_t whole[FL_MAX_DIMS];
    const int ndim = exercise_whole_input(e, 0, whole);

    exercise_one_shape(e);
    exercise_output(e, FL_I64, 1, (int64_t[]){group_prints() ? ANSWERS : 0}); /* of all ranks, checked by rank 0 */
    exercise_title(e, "allclose: %s %s, %s; rtol %g, atol %g", format_shape(ndim, whole).text,
                   fl_dtype_name(e->inputs[0].dtype), fl_dtype_name(e->inputs[1].dtype), own->relative, own->absolute);
}

/* The expected answers, and those of the call under way until they are copied to the output. */
typedef struct allclose_answers {
    int64_t expected[ANSWERS], found[ANSWERS];
    double worst[2]; /* of several ranks: the elements that differ most, which one of them has */
} allclose_answers;

/* The worst elements, where this rank has them, else 0. */
static void find_worst(const exercise *e, int64_t index, double values[2])
{
    int64_t count = host_array_size(&e->inputs[0]), first = 0;

    if (group_is_distributed())
        first = group_before(count);
    for (int i = 0; i < 2; i++)
        values[i] = index >= first && index - first < count ? host_array_get(&e->inputs[i], index - first) : 0;
}

static void put_answers(const fl_closeness *found, int64_t *answers)
{
    answers[DIFFERING] = found->differing;
    answers[WORST_INDEX] = found->worst_index;
    memcpy(&answers[WORST_EXCESS], &found->worst_excess, sizeof answers[WORST_EXCESS]);
}

/* The verdict comes back to the host; from there it goes into the output, as a result to check. */
static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    const allclose_options *own = e->own;
    allclose_answers *answers = e->expected;
    fl_closeness found;
    const fl_status status =
        group_is_distributed()
            ? fl_group_allclose(group_of_all(), device, in[0], in[1], own->relative, own->absolute, own->equal_nan,
                                &found, run, group_cost())
            : fl_allclose(device, in[0], in[1], own->relative, own->absolute, own->equal_nan, &found, run);

    if (status != FL_OK)
        return status;
    put_answers(&found, answers->found);
    return fl_array_write(out[0], answers->found, run->stream);
}

/* ---------------------------------------------------------------------------------------------- check ---- */

static void expect(exercise *e)
{
    const allclose_options *own = e->own;
    allclose_answers *answers = memory_zeroed(1, sizeof *answers);
    const fl_closeness all =
        allclose_expect(&e->inputs[0], &e->inputs[1], own->relative, own->absolute, own->equal_nan);

    put_answers(&all, answers->expected);
    e->expected = answers;
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const int64_t *got = m->results[0].data;
    allclose_answers *answers = e->expected;
    const int64_t *expected = answers->expected;
    compare_result found = compare_start();

    snprintf(method, size, "reference, exactly");
    if (group_is_distributed()) {
        find_worst(e, answers->found[WORST_INDEX], answers->worst);
        for (int i = 0; i < 2; i++)
            answers->worst[i] = group_sum(answers->worst[i]);
    }
    for (int i = 0; i < m->results[0].shape[0]; i++)
        compare_add(&found, i, got[i] == expected[i] ? 0 : 1, 0, 0);
    return reference_verdict(found, m->timing.variant, method, size);
}

static void release(exercise *e)
{
    free(e->expected);
}

static double worst_excess(const measurement *m)
{
    double excess;

    memcpy(&excess, (const int64_t *)m->results[0].data + WORST_EXCESS, sizeof excess);
    return excess;
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const int64_t *answers = m->results[0].data;

    (void)e;
    if (m->results[0].shape[0] == 0) /* rank 0 has them */
        return;
    json_put(row, "close", json_boolean(answers[DIFFERING] == 0));
    json_put(row, "differing", json_whole(answers[DIFFERING]));
    json_put(row, "worst", json_whole(answers[WORST_INDEX]));
    json_put(row, "worst_excess", json_number(worst_excess(m)));
}

/* "omp:2: not close: 3 of 4096 differ; the worst is [7]: 1.5 and 1.25, 4.2 times its bound" */
static void print(const exercise *e, const measurement *m, const json_t *row)
{
    const int64_t *answers = m->results[0].data, index = answers[WORST_INDEX];
    int64_t whole[FL_MAX_DIMS], size;
    const int ndim = exercise_whole_input(e, 0, whole);
    double worst[2];

    (void)row;
    shape_bytes(ndim, whole, 1, &size);
    if (group_is_distributed())
        memcpy(worst, ((const allclose_answers *)e->expected)->worst, sizeof worst);
    else
        find_worst(e, index, worst);
    if (answers[DIFFERING] == 0)
        text_print("%s: close: none of %" PRId64 " elements differs\n", m->device.resource, size);
    else if (index >= 0 && index < size)
        text_print("%s: not close: %" PRId64 " of %" PRId64
                   " differ; the worst is %s: %.9g and %.9g, %.3g times its bound\n",
                   m->device.resource, answers[DIFFERING], size, format_index(index, ndim, whole).text, worst[0],
                   worst[1], worst_excess(m));
}

static int exit_code(const exercise *e)
{
    return ((const allclose_answers *)e->expected)->expected[DIFFERING] ? EXIT_WRONG_RESULT : EXIT_DONE;
}

const exercise_kind allclose_exercise = {
    .name = "allclose",
    .summary = "compare two arrays within a tolerance",
    .help = "Compares two arrays as numpy.allclose does, |a - b| <= atol + rtol * |b| for every element. Reports how "
            "many elements differ and which one differs most; the exit status is 1 if any does.\v"
            "A and B are .npy or .png files of one shape. Without them: the square roots of 0, 1, 2 ... 4095 (--size) "
            "in f32, computed by the first backend (A) and by the host (B). f32 with f32 is compared in f32, every "
            "other pair in f64.\v"
            "a.npy b.npy\ttwo of your own arrays\n"
            "a.npy b.npy --rtol=1e-3\twith another tolerance\n",
    .arguments = "[A B]",
    .input_count = 2,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}, {"input", 1, FL_MAX_DIMS, true}},
    .least_files = 2,
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_CHECK | TAKES_SEED | TAKES_RESULT,
    .options = options,
    .own_size = sizeof(allclose_options),
    .own = &(const allclose_options){.relative = 1e-5, .absolute = 1e-8},
    .made = "the course's square roots",
    .size = 4096,
    .only_alone = true,
    .distributed = 3,
    .steps = {make, plan, call, expect, check, release},
    .add_json = add_json,
    .print = print,
    .exit_code = exit_code,
};
