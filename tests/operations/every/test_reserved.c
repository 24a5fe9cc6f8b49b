/* SPDX-License-Identifier: MIT
 *
 * What a later version of fl_run gives a meaning to must be 0, and a tolerance from 0 to 1: no operation ignores them,
 * also where it has nothing to do.
 */
#include "calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int something;

static const struct {
    fl_run with;
    const char *says;
    fl_status status;
} later[] = {
    {{.tolerance = -1e-3}, "run->tolerance is -0.001; expected 0 to 1", FL_E_ARGUMENT},
    {{.tolerance = 1.5}, "run->tolerance is 1.5", FL_E_ARGUMENT},
    {{.tolerance = NAN}, "run->tolerance is ", FL_E_ARGUMENT},
    {{.count = (struct fl_count *)&something}, "run->count", FL_E_UNSUPPORTED},
    {{.reserved = {&something}}, "run->reserved", FL_E_UNSUPPORTED},
    {{.reserved = {NULL, NULL, NULL, &something}}, "run->reserved", FL_E_UNSUPPORTED},
};

static void expect_refused(fl_status status, size_t i, const char *text)
{
    cr_expect(status == later[i].status && strstr(fl_last_error(), later[i].says), "%s: %s, '%s'; expected '%s'", text,
              fl_status_name(status), fl_last_error(), later[i].says);
}

static void visit(fl_device *device, const struct call *call, void *user)
{
    struct call with = *call;
    if (strcmp(call->variant, "auto") != 0)
        return;
    for (size_t i = 0; i < COUNT(later); i++) {
        if (is_left_out(COUNT(later)))
            continue;
        with.with = &later[i].with;
        struct outputs got = run_call(device, &with, NULL, NULL);
        expect_refused(got.status, i, call->text);
        free(got.bytes);
    }
    ++*(size_t *)user;
}

ON_EVERY_BACKEND(reserved, is_refused_by_each_operation)
{
    fl_device *device = open_device(on->resource);
    size_t calls = 0;
    for_every_call(device, visit, &calls);
    cr_expect(calls > 15, "%s: only %zu calls", on->resource, calls);
    fl_device_close(device);
}

/* The calls on no elements, for most of which no kernel runs; `expect_it` looks at each. */
static void call_without_elements(const char *resource, const fl_run *run,
                                  void (*expect_it)(fl_status status, const fl_run *run, const char *text))
{
    fl_device *device = open_device(resource);
    const int64_t none[] = {0}, one[] = {1};
    fl_closeness found;
    fl_array *x, *y, *primes, *count, *tall, *wide, *sum, *square;
    must(fl_array_create(device, FL_F32, 1, none, &x));
    must(fl_array_create(device, FL_F32, 1, none, &y));
    must(fl_array_create(device, FL_I64, 1, none, &primes));
    must(fl_array_create(device, FL_I64, 1, one, &count));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){3, 0}, &tall));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){0, 3}, &wide));
    must(fl_array_create(device, FL_F32, 1, one, &sum));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){3, 3}, &square));
    expect_it(fl_increment(device, x, y, run), run, "increment");
    expect_it(fl_maximum(device, x, x, y, run), run, "maximum");
    expect_it(fl_sort(device, x, y, run), run, "sort");
    expect_it(fl_merge(device, x, x, y, run), run, "merge");
    expect_it(fl_search_sorted(device, x, y, primes, run), run, "search_sorted");
    expect_it(fl_select(device, x, y, count, run), run, "select");
    expect_it(fl_transpose(device, tall, wide, run), run, "transpose");
    expect_it(fl_histogram(device, x, 0, 1, false, count, run), run, "histogram");
    expect_it(fl_reduce(device, x, FL_SUM, FL_ALL_AXES, sum, run), run, "reduce");
    expect_it(fl_dot(device, x, x, 0, sum, run), run, "dot");
    expect_it(fl_matmul(device, tall, false, wide, false, square, run), run, "matmul");
    expect_it(fl_scan(device, x, FL_SUM, false, y, run), run, "scan");
    expect_it(fl_primes(device, 0, primes, count, run), run, "primes");
    expect_it(fl_allclose(device, x, y, 0, 0, false, &found, run), run, "allclose");
    expect_it(fl_convert(device, x, y, run), run, "convert");
    expect_it(fl_copy_array(device, x, y, run), run, "copy");
    expect_it(fl_multiply_add(device, x, 1, 1, 1, y, run), run, "multiply_add");
    free_arrays(x, y, primes, count, tall, wide, sum, square);
    fl_device_close(device);
}

static void expect_later_refused(fl_status status, const fl_run *run, const char *text)
{
    for (size_t i = 0; i < COUNT(later); i++)
        if (run == &later[i].with)
            expect_refused(status, i, text);
}

ON_EVERY_BACKEND(reserved, is_refused_without_elements)
{
    for (size_t i = 0; i < COUNT(later); i++)
        call_without_elements(on->resource, &later[i].with, expect_later_refused);
}

static void expect_timed(fl_status status, const fl_run *run, const char *text)
{
    fl_timing *timing = run->timing;
    cr_expect(status == FL_OK && timing->variant && timing->kernel_s >= 0 && timing->kernel_s < 1 &&
                  timing->reserved[6] == 0,
              "%s: %s, variant %s, %g s", text, fl_status_name(status), timing->variant ? timing->variant : "none",
              timing->kernel_s);
    *timing = (fl_timing){.kernel_s = -1, .reserved[6] = 1};
}

ON_EVERY_BACKEND(reserved, timing_is_filled_without_elements)
{
    fl_timing timing = {.kernel_s = -1, .reserved[6] = 1};
    call_without_elements(on->resource, &(fl_run){.timing = &timing}, expect_timed);
}
