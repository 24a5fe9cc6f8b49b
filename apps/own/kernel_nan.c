/* SPDX-License-Identifier: MIT */
#include "kernel_nan.h"

#include "support/fail.h"
#include "support/print.h"

#include <math.h>

static bool has_nan(const host_array *a, int64_t *at)
{
    const int64_t size = fl_dtype_is_float(a->dtype) ? host_array_size(a) : 0;

    for (*at = 0; *at < size; ++*at)
        if (isnan(host_array_get(a, *at)))
            return true;
    return false;
}

/* Returns whether the kernel reads a NaN. */
static bool reads_nan(const kernel_options *own)
{
    int64_t at;

    for (int i = 0; i < own->array_count; i++)
        if (has_nan(own->arrays[i], &at))
            return true;
    for (int i = 0; i < own->constant_count; i++)
        if (has_nan(&own->constants[i].value, &at))
            return true;
    for (int i = 0; i < own->kernel.info.count; i++)
        if (isnan(own->arguments[i].real))
            return true;
    return false;
}

void nan_judge(const kernel_options *own, const measurement *m, int first, compare_result *found)
{
    int64_t at;

    for (int i = first; i < own->output_count; i++) {
        if (!has_nan(&m->results[i], &at) || reads_nan(own))
            continue;
        print_error(
            "%s: %.40s%s is NaN, and nothing that the kernel reads is: 0 / 0, a root or logarithm of a negative "
            "number, or memory that nothing has written? (--expect says where NaN is right)",
            m->requested, own->outputs[i], format_index(at, own->specs[i].ndim, own->specs[i].shape).text);
        found->ok = found->unknown = false;
        return;
    }
}
