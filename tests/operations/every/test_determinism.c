/* SPDX-License-Identifier: MIT
 *
 * test_determinism.c - which results have the same bits again: docs/accuracy.md has the promise, variant by variant.
 */
#include "calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is(const struct call *call, const char *operation, const char *variant)
{
    return strcmp(call->operation, operation) == 0 && strcmp(call->variant, variant) == 0;
}

/* A library that divides a sum among its threads. svd's auto is such a one. */
static bool depends_on_threads(const struct call *call)
{
    return is(call, "svd", "library") || is(call, "svd", "auto") || is(call, "svd", "single") ||
           is(call, "reconstruct", "library") || is(call, "matmul", "library");
}

static bool same(const struct outputs *a, const struct outputs *b)
{
    return a->status == FL_OK && b->status == FL_OK && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* ------------------------------------------------------------------------------------------------- repeated ---- */

static void visit_repeated(fl_device *device, const struct call *call, void *user)
{
    struct outputs first = run_call(device, call, NULL, NULL);
    cr_expect(first.status == FL_OK, "%s: %s", call->text, fl_last_error());
    for (int i = 0; i < (is_slow(device) ? 1 : 2); i++) {
        struct outputs again = run_call(device, call, NULL, NULL);
        cr_expect(same(&first, &again), "%s: other bits when repeated", call->text);
        free(again.bytes);
    }
    free(first.bytes);
    (*(size_t *)user)++;
}

ON_EVERY_BACKEND(determinism, repeated)
{
    size_t calls = 0;
    fl_device *device = open_device(on->resource);
    for_every_call(device, visit_repeated, &calls);
    cr_expect(calls > 60, "%s: only %zu calls", on->resource, calls);
    fl_device_close(device);
}

/* -------------------------------------------------------------------------------------------------- threads ---- */

static void visit_threads(fl_device *device, const struct call *call, void *user)
{
    if (depends_on_threads(call))
        return;
    struct outputs one = run_call(device, call, NULL, NULL), many = run_call(user, call, NULL, NULL);
    cr_expect(same(&one, &many), "%s: other bits on %s", call->text, fl_device_describe(user)->resource);
    free(one.bytes);
    free(many.bytes);
}

ON_EVERY_BACKEND(determinism, threads)
{
    fl_device *all = open_device(on->resource);
    const fl_device_info *info = fl_device_describe(all);
    bool numbered = strpbrk(on->resource, ":") && strpbrk(on->resource, ":")[1] != 'v';
    if (strcmp(info->flynn_class, "MIMD") == 0 && !numbered) { /* each instruction set once */
        for (int threads = 2; threads <= 5; threads += threads == 3 ? 2 : 1) {
            char resource[80];
            snprintf(resource, sizeof resource, "%s:1:%s", info->backend, info->isa);
            fl_device *one = open_device(resource);
            snprintf(resource, sizeof resource, "%s:%d:%s", info->backend, threads, info->isa);
            fl_device *many = open_device(resource);
            for_every_call(one, visit_threads, many);
            fl_device_close(one);
            fl_device_close(many);
        }
    }
    fl_device_close(all);
}

/* --------------------------------------------------------------------------------------------------- blocks ---- */

struct visits {
    size_t calls, compared;
};

static void visit_blocks(fl_device *device, const struct call *call, void *user)
{
    struct visits *visits = user;
    static const int blocks[][3] = {{8, 8, 1},   {16, 4, 1},  {32, 16, 1}, {64, 1, 1},
                                    {128, 1, 1}, {256, 1, 1}, {4, 4, 4}};
    /* auto may take another variant for a block, a GPU's separable may sum in the other order. On a GPU sums of floats
     * are those of blocks. */
    const bool of_blocks = (strcmp(call->operation, "reduce") == 0 || strcmp(call->operation, "scan") == 0) &&
                           fl_dtype_is_float(call->dtype);
    if (strcmp(call->variant, "auto") == 0 || (is_gpu(device) && (of_blocks || is(call, "convolve", "separable"))))
        return;
    struct outputs first = run_call(device, call, NULL, NULL);
    visits->calls++;
    for (size_t i = 0; i < (is_gpu(device) ? COUNT(blocks) : 2); i++) {
        if (is_slow(device) && (i + visits->calls) % 2) /* The next call has the other blocks. */
            continue;
        struct call other = *call;
        memcpy(other.block, blocks[i], sizeof other.block);
        struct outputs got = run_call(device, &other, NULL, NULL);
        if (got.status == FL_OK) {
            cr_expect(same(&first, &got), "%s: other bits with blocks of %dx%dx%d", call->text, blocks[i][0],
                      blocks[i][1], blocks[i][2]);
            visits->compared++;
        }
        free(got.bytes);
    }
    free(first.bytes);
}

ON_EVERY_BACKEND(determinism, blocks)
{
    struct visits visits = {0, 0};
    fl_device *device = open_device(on->resource);
    for_every_call(device, visit_blocks, &visits);
    cr_expect(visits.compared > 60, "%s: only %zu calls", on->resource, visits.compared);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- backends ---- */

/* Exact, or rounded once. sort's input here has zeros of both signs and NaN, whose order is open. */
static bool is_exact(const struct call *call)
{
    static const char *const exact[] = {"convert", "select",   "primes",        "increment", "sqrt",     "maximum",
                                        "copy",    "allclose", "search_sorted", "transpose", "histogram"};
    static const char *const whole[] = {"scan", "reduce", "matmul"}; /* of which a library does less, see calls.c */
    for (size_t i = 0; i < COUNT(exact); i++)
        if (strcmp(call->operation, exact[i]) == 0)
            return true;
    for (size_t i = 0; i < COUNT(whole); i++)
        if (strcmp(call->operation, whole[i]) == 0)
            return !fl_dtype_is_float(call->dtype) && strcmp(call->variant, "library") != 0;
    return false;
}

/* The sign and the payload of a NaN that an operation makes are the processor's: sqrt(-1) is 0xffc00000 on x86,
 * 0x7fffffff on NVIDIA's GPUs. */
static void unify_nan(const struct call *call, struct outputs *outputs)
{
    const size_t size = fl_dtype_size(call->dtype);
    if (outputs->status != FL_OK || (call->dtype != FL_F32 && call->dtype != FL_F64) || strcmp(call->operation, "sqrt"))
        return;
    for (size_t at = 0; at + size <= outputs->size; at += size) {
        float f;
        double d;
        memcpy(&f, outputs->bytes + at, sizeof f);
        if (size == sizeof d)
            memcpy(&d, outputs->bytes + at, sizeof d);
        if (size == sizeof d ? isnan(d) : isnan(f))
            memset(outputs->bytes + at, 0xff, size);
    }
}

static void visit_backends(fl_device *device, const struct call *call, void *user)
{
    if (!is_exact(call))
        return;
    struct call on_serial = *call;
    on_serial.variant = "auto";
    struct outputs one = run_call(user, &on_serial, NULL, NULL), other = run_call(device, call, NULL, NULL);
    unify_nan(call, &one);
    unify_nan(call, &other);
    cr_expect(same(&one, &other), "%s: other bits than serial", call->text);
    free(one.bytes);
    free(other.bytes);
}

ON_EVERY_BACKEND(determinism, backends)
{
    fl_device *device = open_device(on->resource), *serial = open_device("serial");
    for_every_call(device, visit_backends, serial);
    fl_device_close(device);
    fl_device_close(serial);
}
