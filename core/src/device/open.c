/* SPDX-License-Identifier: MIT
 *
 * open.c - opens devices: reads a resource string such as "omp:8:v3", finds its plugin and lets it open the device;
 * where the caller leaves the choice, one thread in place of several that are slower at the moment.
 */
#include "array.h"
#include "device.h"
#include "dispatch.h"
#include "plugins/registry.h"
#include "base/status.h"
#include "trace.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- resource strings ---- */

enum { LONGEST_RESOURCE = 128, MOST_ROWS = 4096 };

/* Returns whether the item names an instruction set: one of the plugin's, such as "sve"; or "v2", "v3" ...: named like
 * an instruction set, even if the plugin lacks it. */
static bool is_isa(const char *item, const fl_probe *probe)
{
    for (int i = 0; i < probe->isa_count; i++)
        if (strcmp(item, probe->isa[i].name) == 0)
            return true;
    return item[0] == 'v' && item[1] != '\0' && strspn(item + 1, "0123456789") == strlen(item + 1);
}

static fl_status take_number(const char *resource, const char *item, const fl_backend_info *info,
                             fl_open_request *request)
{
    const fl_probe *probe = &info->probe;
    long number;

    errno = 0;
    number = strtol(item, NULL, 10);
    if (request->number >= 0)
        return core_fail(FL_E_ARGUMENT, "'%s' has two numbers; expected one", resource);
    if (probe->max_threads > 0 && (errno || number < 1 || number > probe->max_threads))
        return core_fail(FL_E_ARGUMENT, "'%s': %s is not a valid number of threads; %s takes %s%d", resource, item,
                         info->name, probe->max_threads > 1 ? "1 to " : "", probe->max_threads);
    if (probe->max_threads == 0 && (errno || number >= probe->device_count))
        return core_fail(FL_E_UNAVAILABLE, "'%s': there is no device %s; %s has %d here, from index 0", resource, item,
                         info->name, probe->device_count);
    request->number = (int)number;
    return FL_OK;
}

static fl_status take_isa(const char *resource, const char *item, const fl_backend_info *info, fl_open_request *request)
{
    const fl_probe *probe = &info->probe;
    char list[64] = "";

    if (request->isa)
        return core_fail(FL_E_ARGUMENT, "'%s' has two instruction sets; expected one", resource);
    for (int i = 0; i < probe->isa_count; i++) {
        if (strcmp(item, probe->isa[i].name) == 0) {
            if (*probe->isa[i].why_not)
                return core_fail(FL_E_UNAVAILABLE, "'%s' cannot run here: %s; choose another instruction set, or none",
                                 resource, probe->isa[i].why_not);
            request->isa = probe->isa[i].name;
            return FL_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", probe->isa[i].name);
    }
    return core_fail(FL_E_UNKNOWN, "'%s': %s is not built for '%s'; expected %s", resource, info->name, item,
                     probe->isa_count ? list : "no instruction set");
}

/* Splits "name[:item]...", finds the plugin, and checks the items with its probe. */
static fl_status parse(const char *resource, const core_plugin **found, fl_open_request *request)
{
    char text[LONGEST_RESOURCE], *rest = text, *name, *item;
    fl_status status;

    if (strlen(resource) >= sizeof text)
        return core_fail(FL_E_UNKNOWN, "the resource has %zu characters; expected at most %zu", strlen(resource),
                         sizeof text - 1);
    strcpy(text, resource);
    name = strsep(&rest, ":");
    status = core_registry_find(name, found);
    while (status == FL_OK && (item = strsep(&rest, ":"))) {
        if (*item && strspn(item, "0123456789") == strlen(item))
            status = take_number(resource, item, &(*found)->info, request);
        else if (is_isa(item, &(*found)->info.probe))
            status = take_isa(resource, item, &(*found)->info, request);
        else
            status =
                core_fail(FL_E_ARGUMENT, "'%s': '%s' is not a number (%s) or an instruction set such as v3", resource,
                          item, (*found)->info.probe.max_threads ? "of threads" : "the index of a device");
    }
    return status;
}

/* The resource that opens the same device again. */
static void name_resource(fl_device_info *info, const fl_probe *probe, const fl_open_request *request)
{
    char number[16] = "", isa[36] = "";

    if (probe->max_threads == 0)
        snprintf(number, sizeof number, ":%d", request->number);
    else if (probe->max_threads > 1)
        snprintf(number, sizeof number, ":%d", info->threads);
    if (probe->isa_count > 0)
        snprintf(isa, sizeof isa, ":%s", info->isa);
    snprintf(info->resource, sizeof info->resource, "%.24s%s%.7s", info->backend, number, isa);
}

/* ------------------------------------------------------------------------------------------------ opening ---- */

/* The row "auto", or the first one that auto could take; NULL: there is none, or it depends on what is installed. */
static const fl_row *find_automatic(const fl_device *device, fl_operation operation, fl_dtype dtype)
{
    const core_row_range *range = &device->rows[operation];
    const fl_row *first = NULL;

    for (size_t i = range->first; i < range->end; i++) {
        const fl_row *row = &device->plugin.rows[i];
        if (row->operation != operation || !(row->dtypes & 1u << dtype) || strcmp(row->variant, "reference") == 0)
            continue;
        if (strcmp(row->variant, "auto") == 0)
            return row->available ? NULL : row;
        first = first ? first : row;
    }
    return first && !first->available ? first : NULL;
}

static void find_rows(fl_device *device)
{
    for (size_t i = device->plugin.row_count; i-- > 0;) {
        unsigned operation = device->plugin.rows[i].operation;
        core_row_range *range = operation < FL_OP_COUNT ? &device->rows[operation] : NULL;
        if (range) {
            range->first = i;
            range->end = range->end ? range->end : i + 1;
        }
    }
    for (int operation = 0; operation < FL_OP_COUNT; operation++)
        for (int dtype = 0; dtype < FL_DTYPE_COUNT; dtype++)
            device->automatic[operation][dtype] = find_automatic(device, (fl_operation)operation, (fl_dtype)dtype);
}

/* Returns the reason, for a message, why core cannot use the device; NULL: it has all that core needs. */
static const char *missing_in(const fl_plugin_device *d)
{
    const fl_device_api *api = d->api;
    const fl_device_info *info = &d->info;

    if (!api || api->size < offsetof(fl_device_api, range_push) || !api->close || !api->synchronize || !api->allocate ||
        !api->release || !api->allocate_host || !api->release_host || !api->copy || !api->stream_create ||
        !api->stream_free || !api->stream_wait || !api->stream_wait_event || !api->event_create || !api->event_free ||
        !api->event_record || !api->event_wait || !api->event_elapsed)
        return "lacks a function that every device has";
    if (d->row_count > MOST_ROWS || (d->row_count > 0 && !d->rows))
        return "has no table of rows";
    for (size_t i = 0; i < d->row_count; i++)
        if (!d->rows[i].variant || !d->rows[i].summary || !d->rows[i].plan || !d->rows[i].run)
            return "has a row without a name, a summary or a function";
    if (!memchr(info->name, 0, sizeof info->name) || !memchr(info->runtime, 0, sizeof info->runtime) ||
        !memchr(info->driver, 0, sizeof info->driver) || !memchr(info->isa, 0, sizeof info->isa))
        return "has a text without an end";
    return NULL;
}

/* Copies the functions that the plugin has. */
static fl_status take_device(const core_plugin *p, fl_device *device)
{
    const fl_device_api *api = device->plugin.api;
    const char *missing = missing_in(&device->plugin);

    if (missing)
        return core_fail(FL_E_UNAVAILABLE,
                         "%s cannot run here: the device that it opened %s; report this to the plugin's author",
                         p->info.name, missing);
    memcpy(&device->api, api, api->size < sizeof *api ? api->size : sizeof *api);
    device->plugin.api = &device->api;
    return FL_OK;
}

static fl_status open_plugin(const core_plugin *p, const fl_open_request *request, fl_device *device)
{
    fl_device_info *info = &device->plugin.info;
    double start = core_now();
    fl_status status = p->plugin->open(&core_host, request, &device->plugin);

    if (status == FL_OK)
        status = take_device(p, device);
    if (status != FL_OK)
        return status;
    info->backend = p->info.name;
    info->family = p->info.family;
    info->flynn_class = p->info.flynn_class;
    info->emulation = p->info.emulation;
    info->remark = p->info.remark;
    info->open_s = core_now() - start;
    name_resource(info, &p->info.probe, request);
    find_rows(device);
    core_pool_init(&device->pool, &device->plugin);
    status = core_stream_create(device, false, &device->default_stream);
    if (status != FL_OK)
        device->plugin.api->close(device->plugin.self);
    return status;
}

static fl_status open_named(const char *resource, fl_device **out)
{
    fl_open_request request = {.number = -1};
    const core_plugin *p;
    fl_device *device;
    core_span span;
    fl_status status;

    *out = NULL;
    status = parse(resource, &p, &request);
    if (status != FL_OK)
        return status;
    if (request.number < 0 && p->info.probe.max_threads == 0)
        request.number = 0;
    device = calloc(1, sizeof *device);
    if (!device)
        return core_fail(FL_E_MEMORY, "out of host memory");
    atomic_init(&device->references, 1);
    span = core_trace_begin(NULL, CORE_SPAN_HOST, "open", resource, 0);
    status = open_plugin(p, &request, device);
    core_trace_end(NULL, span, NULL);
    if (status == FL_OK)
        *out = device;
    else
        free(device);
    return status;
}

/* ---------------------------------------------------------------------------- the choice on a busy machine ---- */

enum { ROOTS = 1 << 18 }; /* for so many square roots several threads pay */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static fl_status take_roots(fl_device *device, const fl_array *array)
{
    fl_unary_args args = {array->buffer, array->buffer};
    const core_step step = {FL_OP_SQRT, FL_F32, &args, sizeof args};

    return core_call_run("sqrt", device, NULL, &step, (fl_buffer *[]){&args.in}, 1, 2 * core_buffer_bytes(&args.in));
}

/* The median of the seconds that the square roots take, for 0.2 ms; NaN: they cannot be computed. */
static double time_roots(fl_device *device)
{
    enum { MOST = 64 };
    fl_array *array = NULL;
    double times[MOST], start;
    int count = 0;

    if (fl_array_create(device, FL_F32, 1, (int64_t[]){ROOTS}, &array) == FL_OK &&
        take_roots(device, array) == FL_OK) /* starts threads */
        for (const double end = (start = core_now()) + 0.2e-3; count < MOST && start < end; count++) {
            if (take_roots(device, array) != FL_OK)
                break;
            times[count] = core_now() - start;
            start += times[count];
        }
    fl_array_free(array);
    if (count == 0)
        return NAN;
    qsort(times, (size_t)count, sizeof times[0], by_value);
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

/* Threads wait for each other, so that on a busy machine one core may compute faster: takes that one then. */
static void prefer_faster(fl_device **device)
{
    const fl_device_info *threads = &(*device)->plugin.info;
    fl_device *other;
    double by_threads, by_one;

    if (open_named("simd", &other) != FL_OK)
        return;
    by_threads = time_roots(*device);
    by_one = time_roots(other);
    if (by_threads > 1.5 * by_one) {
        snprintf(other->choice, sizeof other->choice,
                 "%s is slower than simd at the moment (%.3g ms, and %.3g ms, for 262,144 square roots): this machine "
                 "is busy, and simd runs",
                 threads->resource, 1e3 * by_threads, 1e3 * by_one);
        fl_device_close(*device);
        *device = other;
    } else {
        fl_device_close(other);
    }
}

fl_status fl_device_open(const char *resource, fl_device **out)
{
    fl_status status;

    if (!resource || !out)
        return core_fail(FL_E_ARGUMENT, "fl_device_open: %s is NULL", resource ? "device" : "resource");
    status = open_named(resource, out);
    if (status != FL_OK)
        return status;
    const fl_device_info *info = &(*out)->plugin.info;
    const bool leaves_the_choice = strcmp(resource, "auto") == 0 || strcmp(resource, info->family) == 0;
    if (leaves_the_choice && info->threads > 1 && strcmp(resource, info->backend) != 0)
        prefer_faster(out);
    return FL_OK;
}

const char *fl_device_choice(const fl_device *device)
{
    return device ? device->choice : "";
}
