/* SPDX-License-Identifier: MIT */
#include "choose.h"

#include "bounds.h"
#include "base/spelling.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

static const char *const operation_names[FL_OP_COUNT] = {
    [FL_OP_CONVERT] = "convert",
    [FL_OP_CONVOLVE] = "convolve",
    [FL_OP_CONVOLVE1D] = "convolve1d",
    [FL_OP_SORT] = "sort",
    [FL_OP_SELECT] = "select",
    [FL_OP_PRIMES] = "primes",
    [FL_OP_INCREMENT] = "increment",
    [FL_OP_SQRT] = "sqrt",
    [FL_OP_MAXIMUM] = "maximum",
    [FL_OP_LOG_OF_SUM] = "log_of_sum",
    [FL_OP_ALLCLOSE] = "allclose",
    [FL_OP_RECONSTRUCT] = "reconstruct",
    [FL_OP_SVD] = "svd",
    [FL_OP_COPY] = "copy",
    [FL_OP_MULTIPLY_ADD] = "multiply_add",
    [FL_OP_MAP] = "map",
    [FL_OP_KERNEL] = "kernel",
    [FL_OP_MERGE] = "merge",
    [FL_OP_SEARCH_SORTED] = "search_sorted",
    [FL_OP_QR] = "qr",
    [FL_OP_REDUCE] = "reduce",
    [FL_OP_SCAN] = "scan",
    [FL_OP_HISTOGRAM] = "histogram",
    [FL_OP_TRANSPOSE] = "transpose",
    [FL_OP_MATMUL] = "matmul",
};

const char *core_operation_name(fl_operation operation)
{
    return (unsigned)operation < FL_OP_COUNT ? operation_names[operation] : "?";
}

size_t fl_variant_count(const fl_device *device)
{
    return device ? device->plugin.row_count : 0;
}

/* fl_variant_get for the variants of one device. */
static fl_status get(const fl_device *device, size_t i, fl_variant_info *info)
{
    const fl_row *row;

    if (!device || !info)
        return core_fail(FL_E_ARGUMENT, "fl_variant_get: %s is NULL", device ? "info" : "device");
    if (i >= device->plugin.row_count)
        return core_fail(FL_E_ARGUMENT, "fl_variant_get: i is %zu; expected less than %zu", i,
                         device->plugin.row_count);
    row = &device->plugin.rows[i];
    *info = (fl_variant_info){core_operation_name(row->operation), row->variant, row->dtypes, row->summary,
                              row->restricted};
    return FL_OK;
}

fl_status fl_variant_get_sized(const fl_device *device, size_t i, fl_variant_info *info, size_t size)
{
    fl_variant_info found;
    fl_status status = get(device, i, info ? &found : NULL);

    return status == FL_OK ? core_give(info, size, &found, sizeof found) : status;
}

/* --------------------------------------------------------------------------------------------- choosing ---- */

const char core_automatic[] = "auto";

static bool is(const fl_row *row, const char *variant)
{
    return strcmp(row->variant, variant) == 0;
}

/* The error when no row fits: the device does not have the operation, the variant or the dtype. */
static fl_status no_row(const fl_device *device, const core_step *step, const char *variant)
{
    const char *name = core_operation_name(step->operation), *resource = device->plugin.info.resource, *variants[32];
    char suggestion[256];
    size_t count = 0;

    for (size_t i = 0; i < device->plugin.row_count && count < 32; i++) {
        const fl_row *row = &device->plugin.rows[i];
        if (row->operation != step->operation)
            continue;
        if (is(row, variant))
            return core_fail(FL_E_UNSUPPORTED, "%s: %s on %s does not compute in %s", name, variant, resource,
                             fl_dtype_name(step->dtype));
        variants[count++] = row->variant;
    }
    if (count == 0)
        return core_fail(FL_E_UNSUPPORTED, "%s: not available on %s", name, resource);
    if (strcmp(variant, "auto") == 0)
        return core_fail(FL_E_UNSUPPORTED, "%s: %s does not compute in %s", name, resource, fl_dtype_name(step->dtype));
    return core_fail(FL_E_UNKNOWN, "%s: '%s' is not a variant on %s%s", name, variant, resource,
                     core_suggest(suggestion, sizeof suggestion, variant, variants, count));
}

static bool fits(const fl_row *row, const core_step *step)
{
    return row->operation == step->operation && row->dtypes & 1u << step->dtype;
}

/* Asks the row whether it can run: it may load a library here. */
static fl_status ask(const fl_device *device, const fl_row *row, char *why, size_t size)
{
    *why = '\0';
    return row->available ? row->available(device->plugin.self, why, size) : FL_OK;
}

static fl_status require(const fl_device *device, const fl_row *row)
{
    char why[512];
    fl_status status = ask(device, row, why, sizeof why);

    if (status == FL_OK)
        return FL_OK;
    return core_fail(status, "%s: %s cannot run on %s: %s", core_operation_name(row->operation), row->variant,
                     device->plugin.info.resource, why);
}

/* Finds the first row that is available and takes the tolerance, for a plugin without an "auto" row: it lists its best
 * row first. If none takes it, the one that takes the least. */
static fl_status first_available(const fl_device *device, const core_step *step, double tolerance, const fl_row **found)
{
    const core_row_range *range = &device->rows[step->operation];
    const fl_row *missing = NULL;
    double least = INFINITY;
    char why[512];

    *found = NULL;
    for (size_t i = range->first; i < range->end; i++) {
        const fl_row *row = &device->plugin.rows[i];
        if (!fits(row, step) || is(row, "reference"))
            continue;
        const bool runs = ask(device, row, why, sizeof why) == FL_OK;
        const double bound = runs && tolerance > 0 ? core_bound(device->plugin.self, row, step->args) : 0;
        if (runs && bound <= tolerance) {
            *found = row;
            return FL_OK;
        }
        if (runs && (!*found || bound < least)) {
            *found = row;
            least = bound;
        }
        missing = missing ? missing : row;
    }
    return *found ? FL_OK : missing ? require(device, missing) : no_row(device, step, "auto");
}

fl_status core_find_row(const fl_device *device, const core_step *step, const char *variant, double tolerance,
                        const fl_row **found)
{
    const core_row_range *range = &device->rows[step->operation];

    if (variant == core_automatic && tolerance == 0 &&
        (*found = device->automatic[step->operation][step->dtype]) != NULL)
        return FL_OK;
    for (size_t i = range->first; i < range->end; i++) {
        *found = &device->plugin.rows[i];
        if (fits(*found, step) && is(*found, variant))
            return require(device, *found);
    }
    return strcmp(variant, "auto") == 0 ? first_available(device, step, tolerance, found)
                                        : no_row(device, step, variant);
}

fl_status core_check_tolerance(const fl_device *device, const core_step *step, const fl_row *row, double tolerance)
{
    const char *name = core_operation_name(step->operation);
    const double bound = core_bound(device->plugin.self, row, step->args);
    char least[32];

    if (bound <= tolerance)
        return FL_OK;
    if (isinf(bound))
        return core_fail(FL_E_ARGUMENT, "%s: %s on %s takes no tolerance: nothing bounds its error", name, row->variant,
                         device->plugin.info.resource);
    return core_fail(FL_E_ARGUMENT,
                     "%s: a tolerance of %g is less than %s on %s reaches here in %s; expected at least %s", name,
                     tolerance, row->variant, device->plugin.info.resource, fl_dtype_name(step->dtype),
                     core_bound_text(least, sizeof least, bound));
}

fl_status fl_variant_ready(const fl_device *device, size_t i)
{
    fl_variant_info info;
    fl_status status = get(device, i, &info);

    return status == FL_OK ? require(device, &device->plugin.rows[i]) : status;
}
