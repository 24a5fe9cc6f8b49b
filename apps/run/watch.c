/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include "support/fail.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 64 << 10 };

static host_array host_copy(fl_dtype dtype, int64_t size)
{
    host_array made;
    problem why;

    must_do(host_array_create(&made, dtype, 1, &size, "the result", &why), &why);
    return made;
}

/* Numbers that a kernel is not likely to write there, and that change where it adds something to them. */
static host_array make_guard(fl_dtype dtype)
{
    host_array guard = host_copy(dtype, GUARD_BYTES / (int64_t)fl_dtype_size(dtype));

    for (int64_t i = 0, size = host_array_size(&guard); i < size; i++)
        host_array_set(&guard, i, (double)(17 + i * 37 % 211) + (fl_dtype_is_float(dtype) ? 0.375 : 0));
    return guard;
}

fl_status watch_create(fl_device *device, fl_dtype dtype, int64_t size, fl_array **whole, fl_array **inner)
{
    const int64_t guard = GUARD_BYTES / (int64_t)fl_dtype_size(dtype), all = size + 2 * guard;
    host_array before = make_guard(dtype);
    fl_array *part = NULL;
    fl_status status = fl_array_create(device, dtype, 1, &all, whole);

    for (int side = 0; side < 2 && status == FL_OK; side++) {
        status = fl_array_view(*whole, (int64_t[]){side ? guard + size : 0}, &guard, &part);
        if (status == FL_OK)
            status = fl_array_write(part, before.data, NULL);
        if (status == FL_OK)
            status = fl_device_wait(device);
        fl_array_free(part);
        part = NULL;
    }
    host_array_free(&before);
    return status == FL_OK ? fl_array_view(*whole, &guard, &size, inner) : status;
}

/* Returns whether this element of the guard has changed. */
static bool is_changed(const host_array *now, const host_array *before, int64_t i)
{
    const size_t size = fl_dtype_size(now->dtype), at = (size_t)i * size;

    return memcmp((const char *)now->data + at, (const char *)before->data + at, size) != 0;
}

fl_status watch_guards(fl_array *whole, int i, watched *found)
{
    host_array before = make_guard(fl_array_dtype(whole)), now = make_guard(fl_array_dtype(whole));
    const int64_t guard = host_array_size(&before), size = fl_array_size(whole) - 2 * guard;
    fl_status status = FL_OK;

    for (int side = 1; side >= 0 && status == FL_OK && !found->overwritten; side--) {
        fl_array *part;
        status = fl_array_view(whole, (int64_t[]){side ? guard + size : 0}, &guard, &part);
        if (status != FL_OK)
            break;
        status = fl_array_to_host(part, now.data);
        fl_array_free(part);
        for (int64_t n = 0; n < guard && status == FL_OK && !found->overwritten; n++) {
            if (!is_changed(&now, &before, side ? n : guard - 1 - n))
                continue;
            found->overwritten = i + 1;
            found->overwritten_at = side ? size + n : -1 - n;
        }
    }
    host_array_free(&before);
    host_array_free(&now);
    return status;
}

fl_status watch_pass(const fl_array *output, int i, host_array *first, watched *found)
{
    host_array now;
    fl_status status;

    if (found->differing)
        return FL_OK;
    now = host_copy(fl_array_dtype(output), fl_array_size(output));
    status = fl_array_to_host(output, now.data);
    if (status == FL_OK && !first->data) {
        *first = now;
        return FL_OK;
    }
    if (status == FL_OK && memcmp(first->data, now.data, host_array_bytes(&now)) != 0) {
        found->differing = i + 1;
        found->first = *first;
        found->different = now;
        *first = (host_array){0};
        return FL_OK;
    }
    host_array_free(&now);
    return status;
}

void watched_free(watched *found)
{
    host_array_free(&found->first);
    host_array_free(&found->different);
}
