/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include "support/fail.h"
#include "support/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *text;  /* NULL: a function of its own */
    int inputs, moved; /* how many arrays are read; read and written */
} kernels[] = {
    [STREAM_MUL] = {"0.5 * x", 1, 2},
    [STREAM_ADD] = {"x + y", 2, 3},
    [STREAM_TRIAD] = {"x + 0.5 * y", 2, 3},
    [STREAM_DOT] = {NULL, 2, 2},
};

/* Whole numbers, so that each result and each partial sum is exact, in whichever order it is computed: the products are
 * below 2^16, and 2^37 elements give less than 2^53. */
static double x_at(int64_t i)
{
    return (double)(i % 1021 + 1);
}

static double y_at(int64_t i)
{
    return (double)(i % 61 + 1);
}

static double result_at(stream_kernel kernel, int64_t i)
{
    switch (kernel) {
    case STREAM_MUL: return 0.5 * x_at(i);
    case STREAM_ADD: return x_at(i) + y_at(i);
    case STREAM_TRIAD: return x_at(i) + 0.5 * y_at(i);
    default: return x_at(i) * y_at(i);
    }
}

/* Returns memory for a copy of `count` numbers; NULL where arrays are in the host's memory. */
static double *room_for(const stream_arrays *s, int64_t count)
{
    return fl_device_describe(s->device)->host_memory ? NULL : memory_zeroed((size_t)count, sizeof(double));
}

static fl_array *array_of(const stream_arrays *s, double (*value)(int64_t i), double *room)
{
    fl_array *array;

    must(fl_array_create(s->device, FL_F64, 1, &s->count, &array));
    double *const numbers = room ? room : fl_array_data(array);
    for (int64_t i = 0; i < s->count; i++)
        numbers[i] = value(i);
    if (room) {
        must(fl_array_write(array, room, NULL));
        must(fl_device_wait(s->device));
    }
    return array;
}

static void make_arrays(stream_arrays *s, fl_device *device, int64_t bytes)
{
    s->device = device;
    s->count = bytes > 8 ? bytes / 8 : 1;
    double *room = room_for(s, s->count);
    s->x = array_of(s, x_at, room);
    s->y = array_of(s, y_at, room);
    free(room);
    must(fl_array_create(device, FL_F64, 1, &s->count, &s->result));
    must(fl_array_create(device, FL_F64, 1, &(int64_t){1}, &s->sum));
}

double stream_prepare(stream_arrays *s, fl_device *device, stream_kernel kernel, int64_t bytes, problem *why)
{
    const fl_dtype inputs[] = {FL_F64, FL_F64};

    if (kernels[kernel].text && !s->function[kernel]) {
        const fl_status status = fl_function_create(device, kernels[kernel].text, kernels[kernel].text, inputs,
                                                    kernels[kernel].inputs, NULL, 0, &s->function[kernel]);
        if (status == FL_E_UNAVAILABLE || status == FL_E_UNSUPPORTED) {
            problem_set(why, EXIT_CANNOT_RUN, "%s", fl_last_error());
            return NAN;
        }
        must(status);
    }
    if (!s->x)
        make_arrays(s, device, bytes);
    return 8.0 * kernels[kernel].moved * (double)s->count;
}

fl_status stream_queue(const stream_arrays *s, stream_kernel kernel, const fl_run *run)
{
    if (kernel == STREAM_DOT)
        return fl_dot(s->device, s->x, s->y, FL_ALL_AXES, s->sum, run);
    return fl_map(s->device, s->function[kernel], (const fl_array *const[]){s->x, s->y}, kernels[kernel].inputs,
                  s->result, run);
}

static bool is_value(double got, double expected, int64_t i, problem *why)
{
    if (got == expected)
        return true;
    problem_set(why, EXIT_WRONG_RESULT, "element [%" PRId64 "] is %.17g, expected %.17g", i, got, expected);
    return false;
}

bool stream_is_right(const stream_arrays *s, stream_kernel kernel, problem *why)
{
    const bool is_sum = kernel == STREAM_DOT;
    const fl_array *array = is_sum ? s->sum : s->result;
    double *room = room_for(s, is_sum ? 1 : s->count), sum = 0;
    bool right = true;

    if (room)
        must(fl_array_to_host(array, room));
    const double *got = room ? room : fl_array_data(array);
    for (int64_t i = 0; i < s->count && right; i++) {
        if (is_sum)
            sum += result_at(kernel, i);
        else
            right = is_value(got[i], result_at(kernel, i), i, why);
    }
    right = right && (!is_sum || is_value(*got, sum, 0, why));
    free(room);
    return right;
}

void stream_free(stream_arrays *s)
{
    fl_array *const arrays[] = {s->x, s->y, s->result, s->sum};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        fl_array_free(arrays[i]);
    for (int k = 0; k < STREAM_KERNELS; k++)
        fl_function_free(s->function[k]);
    *s = (stream_arrays){0};
}
