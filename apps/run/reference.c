/* SPDX-License-Identifier: MIT */
#include "reference.h"
#include "shape.h"

#include "backends.h"

#include "support/fail.h"
#include "support/lent.h"
#include "support/memory.h"
#include "support/statistics.h"
#include "support/threads.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL: it cannot run here, or does not offer that. */
static fl_device *open_checker(const char *backend, const char *operation, const char *variant)
{
    fl_device *device;
    fl_status status = backend_open(backend, &device);

    if (status == FL_E_MEMORY)
        must(status);
    if (status != FL_OK)
        return NULL;
    if (backend_offers(device, operation, variant))
        return device;
    fl_device_close(device);
    return NULL;
}

/* `serial` by its name, which loads no other plugin. Without it the others, the plainest of which have the lowest
 * scores; opening a GPU takes long. */
fl_device *reference_device(const char *operation, const char *variant)
{
    fl_device *device = open_checker("serial", operation, variant);

    for (size_t i = device ? 0 : backends_count(); i-- > 0 && !device;) {
        const fl_backend_info *backend = fl_backend_get(i);
        if (backend->usable && !backend->emulation)
            device = open_checker(backend->name, operation, variant);
    }
    if (device)
        return device;
    fail(EXIT_CANNOT_RUN, "the check needs `%s%s%s`, which no plugin here has; build the plugin serial", operation,
         variant ? " " : "", variant ? variant : "");
}

host_array reference_array(fl_dtype dtype, int ndim, const int64_t *shape)
{
    host_array array;
    problem why;

    must_do(host_array_create(&array, dtype, ndim, shape, "the check", &why), &why);
    return array;
}

host_array reference_convert(const host_array *array, fl_dtype dtype)
{
    host_array copy;
    problem why;

    must_do(host_array_convert(array, dtype, &copy, "the check", &why), &why);
    return copy;
}

fl_array *reference_upload(fl_device *device, const host_array *array, bool absolute)
{
    host_array copy;
    fl_array *there;

    if (!absolute) {
        must(fl_array_from_host(device, array->dtype, array->ndim, array->shape, array->data, &there));
        return there;
    }
    copy = reference_convert(array, array->dtype == FL_F32 ? FL_F32 : FL_F64);
    for (int64_t i = 0, n = host_array_size(&copy); i < n; i++)
        host_array_set(&copy, i, fabs(host_array_get(&copy, i)));
    there = reference_upload(device, &copy, false);
    host_array_free(&copy);
    return there;
}

fl_array *reference_part(fl_device *device, const host_array *array, int64_t first, int64_t count)
{
    const size_t start = (size_t)first * fl_dtype_size(array->dtype);
    const host_array part = {array->dtype, 1, {count, 1, 1, 1}, (char *)array->data + start};
    fl_array *lent;

    if (!fl_device_describe(device)->host_memory)
        return reference_upload(device, &part, false);
    must(lent_create(device, &part, &lent));
    return lent;
}

fl_stream *reference_stream(fl_device *device)
{
    fl_stream *stream;

    must(fl_stream_create(device, &stream));
    return stream;
}

host_array reference_fetch(fl_array *result)
{
    const int ndim = fl_array_ndim(result);
    int64_t shape[FL_MAX_DIMS];
    host_array values;

    for (int d = 0; d < ndim; d++)
        shape[d] = fl_array_shape(result, d);
    values = reference_array(fl_array_dtype(result), ndim, shape);
    must(fl_array_to_host(result, values.data));
    fl_array_free(result);
    return values;
}

typedef struct block_list {
    compare_result (*block)(const void *user, int64_t i);
    const void *user;
    compare_result *found; /* in each */
} block_list;

/* Wrong elements are added to a list of the thread's own: those of this block are added later. */
static void compare_unwatched(void *blocks, int64_t i)
{
    const block_list *list = blocks;
    differences *const watched = compare_watch(NULL);

    list->found[i] = list->block(list->user, i);
    compare_watch(watched);
}

compare_result reference_blocks(int64_t count, compare_result (*block)(const void *user, int64_t i), const void *user)
{
    block_list list = {block, user, memory_zeroed((size_t)count, sizeof *list.found)};
    compare_result all = compare_start();

    threads_share(group_threads(), count, compare_unwatched, &list);
    for (int64_t i = 0; i < count; i++) {
        const compare_result found = list.found[i].failed > 0 ? block(user, i) : list.found[i];
        compare_merge(&all, &found, 0);
    }
    free(list.found);
    return all;
}

int64_t int64_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t int64_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

double unit_roundoff(fl_dtype dtype)
{
    return dtype == FL_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
}

double smallest_subnormal(fl_dtype dtype)
{
    return dtype == FL_F32 ? FLT_TRUE_MIN : DBL_TRUE_MIN;
}

/* ------------------------------------------------------------------------------------- element by element ---- */

/* Where the i-th of `count` elements is, which are spread evenly over all. */
static int64_t sample(int64_t i, int64_t count, int64_t all)
{
    return count == all ? i : (int64_t)((double)i / (double)count * (double)all);
}

/* The element of an input, broadcast to the output, that belongs to an element of it. */
static int64_t index_in(const exercise *e, int input, int64_t index)
{
    const output_spec *out = &e->outputs[0];
    const host_array *in = &e->inputs[input];
    int64_t place = 0, step = 1;

    for (int d = 1; d <= out->ndim; d++) {
        const int64_t length = out->shape[out->ndim - d], at = index % length;
        index /= length;
        if (d > in->ndim)
            continue;
        place += in->shape[in->ndim - d] == 1 ? 0 : at * step;
        step *= in->shape[in->ndim - d];
    }
    return place;
}

/* The elements of one input that those samples are made of. */
static host_array gather(const exercise *e, int input, int64_t count)
{
    const host_array *in = &e->inputs[input];
    const size_t size = fl_dtype_size(in->dtype);
    const int64_t all = output_size(&e->outputs[0]);
    host_array some = reference_array(in->dtype, 1, &count);

    for (int64_t i = 0; i < count; i++)
        memcpy((char *)some.data + (size_t)i * size,
               (const char *)in->data + (size_t)index_in(e, input, sample(i, count, all)) * size, size);
    return some;
}

/* The output by the `reference` variant: all elements, or as many that are spread evenly. */
static host_array by_reference(const exercise *e, fl_device *device, int64_t count)
{
    const output_spec *o = &e->outputs[0];
    const bool whole = count == output_size(o);
    fl_array *inputs[MOST_INPUTS] = {0}, *out;

    for (int i = 0; i < e->input_count; i++) {
        host_array some = {0};
        if (!whole)
            some = gather(e, i, count);
        inputs[i] = reference_upload(device, whole ? &e->inputs[i] : &some, false);
        host_array_free(&some);
    }
    must(fl_array_create(device, o->dtype, whole ? o->ndim : 1, whole ? o->shape : &count, &out));
    must(e->kind->steps.call(e, device, inputs, &out, &(fl_run){.variant = "reference"}));
    for (int i = 0; i < e->input_count; i++)
        fl_array_free(inputs[i]);
    return reference_fetch(out);
}

/* How many of `count` elements take `seconds`: estimated from an eighth of them at most, so that even those of a
 * function that takes long for each cost less than a pass over all. */
static int64_t affordable(const exercise *e, fl_device *device, int64_t count, double seconds)
{
    enum { FEW = 64, GROWTH = 8 };
    const double enough = seconds / 100; /* to estimate from */
    int64_t some = count / GROWTH < 1 ? 1 : int64_smaller(count / GROWTH, FEW);
    host_array found = by_reference(e, device, count < 1 ? 0 : 1); /* the first call compiles */
    double took;

    for (;; some *= GROWTH) {
        host_array_free(&found);
        took = -seconds_now();
        found = by_reference(e, device, some);
        took += seconds_now();
        if (took >= enough || some > count / GROWTH / GROWTH)
            break;
    }
    host_array_free(&found);
    return took * (double)count <= seconds * (double)some ? count
           : took >= seconds                              ? some
                                                          : (int64_t)((double)some * seconds / took);
}

enum { BLOCK = 1 << 14 }; /* elements, which fit on a thread's stack */

/* Returns whether `count` elements are expected in blocks: by reference_check, in host memory, of inputs with the
 * output's shape. */
static bool is_in_blocks(const exercise *e, fl_device *device, int64_t count)
{
    const int64_t all = output_size(&e->outputs[0]);
    bool same =
        e->once && !e->kind->steps.check && count == all && all > BLOCK && fl_device_describe(device)->host_memory;

    for (int i = 0; i < e->input_count; i++)
        same = same && host_array_size(&e->inputs[i]) == all;
    return same;
}

/* Stores the elements of the output from `first` on by the `reference` variant. The device gets no memory of its own,
 * because the C library may give back to the system, each time, what a thread frees. */
static void block_by_reference(const exercise *e, fl_device *device, int64_t first, const host_array *expected)
{
    const int64_t count = host_array_size(expected);
    const fl_run run = {.variant = "reference", .stream = reference_stream(device)};
    fl_array *inputs[MOST_INPUTS] = {0}, *out;

    for (int i = 0; i < e->input_count; i++)
        inputs[i] = reference_part(device, &e->inputs[i], first, count);
    must(lent_create(device, expected, &out));
    must(e->kind->steps.call(e, device, inputs, &out, &run));
    fl_stream_free(run.stream);
    for (int i = 0; i < e->input_count; i++)
        fl_array_free(inputs[i]);
    fl_array_free(out);
}

void reference_expect(exercise *e, int64_t most, double seconds)
{
    enum { SAMPLES = 65536 };
    const int64_t all = output_size(&e->outputs[0]);
    int64_t count = e->common.check == CHECK_FULL || (e->common.check == CHECK_AUTO && all <= most)
                        ? all
                        : int64_smaller(all, SAMPLES);
    fl_device *device = reference_device(e->kind->name, "reference");
    host_array *expected;

    if (seconds > 0 && e->common.check != CHECK_FULL && count > 1) {
        const int64_t few = affordable(e, device, count, seconds);
        count = few < count ? int64_smaller(few, SAMPLES) : count;
    }
    expected = memory_zeroed(1, sizeof *expected);
    if (is_in_blocks(e, device, count))
        *expected = (host_array){e->outputs[0].dtype, 1, {count, 1, 1, 1}, NULL};
    else
        *expected = by_reference(e, device, count);
    e->expected = expected;
    fl_device_close(device);
}

/* The distance from |x| to the next number of that dtype. */
static double unit_in_last_place(fl_dtype dtype, double x)
{
    x = fabs(x);
    return dtype == FL_F32 ? (double)nextafterf((float)x, INFINITY) - x : nextafter(x, (double)INFINITY) - x;
}

double reference_got(const host_array *result, int64_t i, const host_array *expected, int64_t k)
{
    const double value = host_array_get(result, i);

    if (result->dtype != FL_I64 || expected->dtype != FL_I64 ||
        ((const int64_t *)result->data)[i] == ((const int64_t *)expected->data)[k] ||
        value != host_array_get(expected, k))
        return value;
    return nextafter(value, (double)INFINITY);
}

/* reference_compare of elements that start at `start` of the whole result. */
static compare_result compare_from(int64_t start, const host_array *result, const host_array *expected,
                                   const reference_bound *bound)
{
    const int64_t count = host_array_size(expected), all = host_array_size(result);
    compare_result found = compare_start();

    for (int64_t i = 0; (i = compare_skip_equal(&found, result, expected, i)) < count; i++) {
        const double wanted = host_array_get(expected, i);
        const int64_t at = sample(i, count, all);
        const double got = reference_got(result, at, expected, i);

        if (got == wanted) /* most are: a bound for each would cost more than to compare */
            compare_add_equal(&found, start + at, got, 1);
        else
            compare_add(&found, start + at, got, wanted,
                        bound->ulps > 0 ? bound->ulps * unit_in_last_place(expected->dtype, wanted)
                                        : bound->absolute + bound->relative * fabs(wanted));
    }
    return found;
}

compare_result reference_compare(const host_array *result, const host_array *expected, const reference_bound *bound)
{
    return compare_from(0, result, expected, bound);
}

/* A result that threads compare with the reference in blocks. */
typedef struct blocks {
    const exercise *exercise;
    fl_device *device;
    const host_array *result;
    reference_bound bound;
} blocks;

static compare_result compare_block(const void *user, int64_t i)
{
    const blocks *b = user;
    const int64_t first = i * BLOCK, count = int64_smaller(BLOCK, host_array_size(b->result) - first);
    const size_t start = (size_t)first * fl_dtype_size(b->result->dtype);
    const host_array part = {b->result->dtype, 1, {count, 1, 1, 1}, (char *)b->result->data + start};
    _Alignas(64) char values[BLOCK * sizeof(double)];
    const host_array expected = {b->result->dtype, 1, {count, 1, 1, 1}, values};

    block_by_reference(b->exercise, b->device, first, &expected);
    return compare_from(first, &part, &expected, &b->bound);
}

static compare_result compare_blocks(const exercise *e, const host_array *result, const reference_bound *bound)
{
    const blocks b = {e, reference_device(e->kind->name, "reference"), result, *bound};
    const compare_result found = reference_blocks((host_array_size(result) + BLOCK - 1) / BLOCK, compare_block, &b);

    fl_device_close(b.device);
    return found;
}

compare_result reference_verdict(compare_result found, const char *variant, char *method, size_t size)
{
    if (strcmp(variant, "reference") != 0 || found.failed > 0)
        return found;
    return compare_unknown(method, size, "the variant reference is what the others are compared with");
}

bool reference_is_whole(const exercise *e)
{
    return host_array_size(e->expected) == output_size(&e->outputs[0]);
}

compare_result reference_check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const double ulps = e->kind->ulps;
    const reference_bound bound = {.ulps = ulps};
    const host_array *expected = e->expected;
    const char *sampled = reference_is_whole(e) ? "" : ", sampled";

    if (ulps > 0)
        snprintf(method, size, "reference, %g units in the last place%s", ulps, sampled);
    else
        snprintf(method, size, "reference, exactly%s", sampled);
    return reference_verdict(expected->data ? reference_compare(&m->results[0], expected, &bound)
                                            : compare_blocks(e, &m->results[0], &bound),
                             m->timing.variant, method, size);
}

void reference_free(exercise *e)
{
    if (!e->expected)
        return;
    host_array_free(e->expected);
    free(e->expected);
}
