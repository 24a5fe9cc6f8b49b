/* SPDX-License-Identifier: MIT */
#include "subject.h"

#include "checks/convolve.h"
#include "checks/convolve1d.h"
#include "checks/reconstruct.h"
#include "exercises/course.h"
#include "harness/exercise.h"
#include "harness/reference.h"
#include "support/fail.h"

#include <stdlib.h>
#include <string.h>

enum { RANK = 100 }; /* of reconstruct, as the exercise has it */

/* What differs between the operations. */
typedef struct kind {
    const char *name;
    int64_t size;
    int inputs;
    void (*make)(subject *s, uint64_t seed);
    fl_status (*call)(fl_device *device, fl_array *const *inputs, fl_array *out, const fl_run *run);
    compare_result (*check)(const subject *s, const char *variant, char *method, size_t size);
    void (*release)(void *oracle);
} kind;

static void make_result(subject *s, int ndim, const int64_t *shape)
{
    problem why;

    exercise_must(host_array_create(&s->result, s->dtype, ndim, shape, "--size", &why), &why);
}

/* ---------------------------------------------------------------------------------------------- convolve1d ---- */

static void make_convolve1d(subject *s, uint64_t seed)
{
    problem why;
    int64_t length;

    s->inputs[0] = exercise_random(s->dtype, 1, &s->size, -1, 1, seed);
    exercise_must(course_gaussian_line(GAUSSIAN_WIDE, false, s->dtype, &s->inputs[1], &why), &why);
    must(fl_convolve1d_shape(s->size, s->inputs[1].shape[0], FL_FULL, &length));
    make_result(s, 1, &length);
    s->oracle = convolve1d_oracle_create(&s->inputs[0], &s->inputs[1], FL_FULL, CHECK_AUTO, seed);
}

static fl_status call_convolve1d(fl_device *device, fl_array *const *inputs, fl_array *out, const fl_run *run)
{
    return fl_convolve1d(device, inputs[0], inputs[1], FL_FULL, out, run);
}

static compare_result check_convolve1d(const subject *s, const char *variant, char *method, size_t size)
{
    return convolve1d_oracle_check(s->oracle, &s->result, variant, method, size);
}

static void release_convolve1d(void *oracle)
{
    convolve1d_oracle_free(oracle);
}

/* ------------------------------------------------------------------------------------------------ convolve ---- */

static void make_convolve(subject *s, uint64_t seed)
{
    int64_t shape[2];
    problem why;

    s->inputs[0] = exercise_random(s->dtype, 2, (int64_t[]){s->size, s->size}, -1, 1, seed);
    exercise_must(course_gaussian(GAUSSIAN_WIDE, s->dtype, &s->inputs[1], &why), &why);
    must(fl_convolve_shape(s->inputs[0].shape, s->inputs[1].shape, FL_FULL, shape));
    make_result(s, 2, shape);
    s->oracle = convolve_oracle_create(&s->inputs[0], &s->inputs[1], FL_FULL, CHECK_AUTO, seed);
}

static fl_status call_convolve(fl_device *device, fl_array *const *inputs, fl_array *out, const fl_run *run)
{
    return fl_convolve(device, inputs[0], inputs[1], FL_FULL, out, run);
}

static compare_result check_convolve(const subject *s, const char *variant, char *method, size_t size)
{
    (void)variant;
    snprintf(method, size, "%s", convolve_oracle_method(s->oracle));
    return convolve_oracle_check(s->oracle, &s->result);
}

static void release_convolve(void *oracle)
{
    convolve_oracle_free(oracle);
}

/* ------------------------------------------------------------------------------------------------- maximum ---- */

static void make_maximum(subject *s, uint64_t seed)
{
    const int64_t shape[] = {s->size, s->size, s->size};
    fl_device *device = oracle_device("maximum");
    host_array *expected = calloc(1, sizeof *expected);
    fl_array *inputs[2], *out;
    problem why;

    if (!expected)
        fail(EXIT_BROKEN, "out of host memory");
    for (int i = 0; i < 2; i++) {
        s->inputs[i] = exercise_random(s->dtype, 3, shape, -1, 1, seed + (uint64_t)i);
        must(fl_array_from_host(device, s->dtype, 3, shape, s->inputs[i].data, &inputs[i]));
    }
    make_result(s, 3, shape);
    exercise_must(host_array_create(expected, s->dtype, 3, shape, "--size", &why), &why);
    must(fl_array_create(device, s->dtype, 3, shape, &out));
    must(fl_maximum(device, inputs[0], inputs[1], out, &(fl_run){.variant = "reference"}));
    must(fl_array_to_host(out, expected->data));
    fl_array_free(inputs[0]);
    fl_array_free(inputs[1]);
    fl_array_free(out);
    fl_device_close(device);
    s->oracle = expected;
}

static fl_status call_maximum(fl_device *device, fl_array *const *inputs, fl_array *out, const fl_run *run)
{
    return fl_maximum(device, inputs[0], inputs[1], out, run);
}

static compare_result check_maximum(const subject *s, const char *variant, char *method, size_t size)
{
    (void)variant;
    snprintf(method, size, "reference, exactly");
    return compare_allclose(&s->result, s->oracle, 0, 0);
}

static void release_maximum(void *oracle)
{
    host_array_free(oracle);
    free(oracle);
}

/* --------------------------------------------------------------------------------------------- reconstruct ---- */

static void make_reconstruct(subject *s, uint64_t seed)
{
    const int64_t rank = RANK, u[] = {s->size, rank}, vt[] = {rank, s->size};

    s->inputs[0] = exercise_random(s->dtype, 2, u, -1, 1, seed);
    s->inputs[1] = exercise_random(s->dtype, 1, &rank, 0, 1, seed + 1);
    s->inputs[2] = exercise_random(s->dtype, 2, vt, -1, 1, seed + 2);
    make_result(s, 2, (int64_t[]){s->size, s->size});
    s->oracle = reconstruct_oracle_create(&s->inputs[0], &s->inputs[1], &s->inputs[2], rank, CHECK_AUTO, seed);
}

static fl_status call_reconstruct(fl_device *device, fl_array *const *inputs, fl_array *out, const fl_run *run)
{
    return fl_reconstruct(device, inputs[0], inputs[1], inputs[2], fl_array_size(inputs[1]), out, run);
}

static compare_result check_reconstruct(const subject *s, const char *variant, char *method, size_t size)
{
    (void)variant;
    return reconstruct_oracle_check(s->oracle, &s->result, method, size);
}

static void release_reconstruct(void *oracle)
{
    reconstruct_oracle_free(oracle);
}

/* ---------------------------------------------------------------------------------------------- all of them ---- */

static const kind kinds[] = {
    {"convolve1d", 1 << 22, 2, make_convolve1d, call_convolve1d, check_convolve1d, release_convolve1d},
    {"convolve", 1024, 2, make_convolve, call_convolve, check_convolve, release_convolve},
    {"maximum", 256, 2, make_maximum, call_maximum, check_maximum, release_maximum},
    {"reconstruct", 1024, 3, make_reconstruct, call_reconstruct, check_reconstruct, release_reconstruct},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const kind *kind_of(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

const char *subject_name(int i)
{
    return i < KINDS ? kinds[i].name : NULL;
}

int64_t subject_default_size(const char *name)
{
    return kind_of(name)->size;
}

subject *subject_create(const char *name, int64_t size, fl_dtype dtype, uint64_t seed)
{
    const kind *k = kind_of(name);
    subject *s = calloc(1, sizeof *s);

    if (!s)
        fail(EXIT_BROKEN, "out of host memory");
    *s = (subject){.name = k->name, .size = size, .dtype = dtype, .input_count = k->inputs};
    k->make(s, seed);
    return s;
}

void subject_free(subject *s)
{
    kind_of(s->name)->release(s->oracle);
    for (int i = 0; i < s->input_count; i++)
        host_array_free(&s->inputs[i]);
    host_array_free(&s->result);
    free(s);
}

subject_arrays subject_arrays_create(const subject *s, fl_device *device)
{
    subject_arrays a = {.device = device};

    for (int i = 0; i < s->input_count; i++)
        must(fl_array_from_host(device, s->dtype, s->inputs[i].ndim, s->inputs[i].shape, s->inputs[i].data,
                                &a.inputs[i]));
    must(fl_array_create(device, s->dtype, s->result.ndim, s->result.shape, &a.out));
    return a;
}

void subject_arrays_free(subject_arrays *arrays)
{
    for (int i = 0; i < SUBJECT_INPUTS; i++)
        fl_array_free(arrays->inputs[i]);
    fl_array_free(arrays->out);
}

fl_status subject_call(const subject *s, const subject_arrays *arrays, const fl_run *run)
{
    return kind_of(s->name)->call(arrays->device, arrays->inputs, arrays->out, run);
}

compare_result subject_check(subject *s, const subject_arrays *arrays, const char *variant, char *method,
                             size_t method_size)
{
    memset(s->result.data, 0xff, host_array_bytes(&s->result)); /* NaN: what was there before is no answer */
    must(fl_array_write(arrays->out, s->result.data, NULL));
    must(subject_call(s, arrays, &(fl_run){.variant = variant}));
    must(fl_array_to_host(arrays->out, s->result.data));
    return kind_of(s->name)->check(s, variant, method, method_size);
}
