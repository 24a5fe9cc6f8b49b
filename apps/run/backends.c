/* SPDX-License-Identifier: MIT */
#include "backends.h"
#include "ranks/group.h"
#include "trace_out.h"

#include "support/fail.h"
#include "support/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fl_status backend_open(const char *resource, fl_device **device)
{
    static const char *told;
    fl_status status = fl_device_open(resource, device);
    const fl_device_info *info = status == FL_OK ? fl_device_describe(*device) : NULL;

    if (info && *info->remark && info->remark != told) {
        told = info->remark;
        note("%s: %s", info->backend, told);
    }
    return status;
}

/* A backend that lacked memory to be loaded could run here: tries it once more. */
static void must_be_loaded(const char *backend)
{
    fl_device *device;
    fl_status status = fl_device_open(backend, &device);

    if (status == FL_E_MEMORY)
        must(status);
    if (status == FL_OK)
        fl_device_close(device);
}

size_t backends_count(void)
{
    static bool tried;
    size_t count = fl_backend_count();

    if (count == 0 && *fl_last_error())
        fail(EXIT_BROKEN, "%s", fl_last_error());
    for (size_t i = 0; i < count && !tried; i++)
        if (!fl_backend_get(i)->usable)
            must_be_loaded(fl_backend_get(i)->name);
    tried = true;
    return count;
}

static void skip(backend_list *list, const char *name, const char *cause, const char *cure)
{
    skipped_backend *s = &list->skipped[list->skipped_count++];

    s->name = name;
    snprintf(s->reason, sizeof s->reason, "%s%s%s", cause, *cure ? "; " : "", cure);
}

/* libflynn lists the best backend first. Taken from the end, a table shows what each step gains. */
static void open_all(backend_list *list)
{
    size_t count = backends_count();

    list->open = memory_zeroed(count, sizeof *list->open);
    list->skipped = memory_zeroed(count, sizeof *list->skipped);
    for (int emulation = 0; emulation < 2; emulation++) {
        for (size_t i = count; i-- > 0;) {
            const fl_backend_info *info = fl_backend_get(i);
            open_backend *next = &list->open[list->count];
            fl_status status;
            if (info->emulation != (emulation == 1))
                continue;
            next->requested = info->name;
            if (!info->usable)
                skip(list, info->name, info->probe.cause, info->probe.cure);
            else if ((status = backend_open(info->name, &next->device)) == FL_E_MEMORY)
                must(status);
            else if (status != FL_OK)
                skip(list, info->name, fl_last_error(), "");
            else
                list->count++;
        }
    }
    if (list->count == 0)
        fail(EXIT_CANNOT_RUN, "--backend=all: no backend can run here; `flynn info` says why");
}

/* Opens what the user requests, but of "auto" or a family the best backend, however busy the machine is. */
static fl_status open_best(const char *requested, fl_device **device)
{
    const fl_backend_info *info;
    const bool named = strchr(requested, ':') != NULL;
    const fl_status status = named ? FL_OK : fl_backend_find(requested, &info);

    return status == FL_OK ? backend_open(named ? requested : info->name, device) : status;
}

/* Where open_best opened several threads and the user named no backend, opens what libflynn chooses at the moment. */
static void open_chosen(open_backend *b, char *remark, size_t size)
{
    const fl_device_info *info = fl_device_describe(b->device);
    const fl_backend_info *best;
    fl_device *chosen;

    if (info->threads < 2 || strchr(b->requested, ':') || strcmp(b->requested, info->backend) == 0 ||
        fl_backend_find(b->requested, &best) != FL_OK || strcmp(best->name, info->backend) != 0 ||
        fl_device_open(b->requested, &chosen) != FL_OK)
        return;
    if (*fl_device_choice(chosen))
        snprintf(remark, size, "--backend=%s: %s; --backend=%s runs it anyway", b->requested, fl_device_choice(chosen),
                 info->backend);
    fl_device_close(b->device);
    b->device = chosen;
}

backend_list backends_open_untested(const common_options *options)
{
    backend_list list = {.trace_file = options->trace_file};

    trace_out_start(list.trace_file);
    if (options->all_backends) {
        open_all(&list);
        return list;
    }
    list.count = options->backend_count ? options->backend_count : 1;
    list.open = memory_zeroed((size_t)list.count, sizeof *list.open);
    for (int i = 0; i < list.count; i++) {
        list.open[i].requested = options->backend_count ? options->backends[i] : "auto";
        fl_status status = group_is_distributed()
                               ? fl_group_device(group_of_all(), list.open[i].requested, &list.open[i].device)
                               : open_best(list.open[i].requested, &list.open[i].device);
        if (status != FL_OK) {
            for (int k = 0; k < i; k++)
                fl_device_close(list.open[k].device);
            free(list.open);
            fail(exit_code_of(status), "--backend: %s", fl_last_error());
        }
    }
    return list;
}

void backends_prefer_faster(backend_list *list)
{
    for (int i = 0; i < list->count && !group_is_distributed(); i++)
        open_chosen(&list->open[i], list->remark, sizeof list->remark);
}

backend_list backends_open(const common_options *options)
{
    backend_list list = backends_open_untested(options);

    backends_prefer_faster(&list);
    return list;
}

bool backend_offers(const fl_device *device, const char *operation, const char *variant)
{
    fl_variant_info info;

    for (size_t i = 0; i < fl_variant_count(device); i++)
        if (fl_variant_get(device, i, &info) == FL_OK && strcmp(info.operation, operation) == 0 &&
            (!variant || strcmp(info.variant, variant) == 0))
            return true;
    return false;
}

/* The best backend that has the operation, among emulations or among the others; NULL: there is none. */
static fl_device *best_with(const char *operation, bool emulation)
{
    const size_t count = backends_count();

    for (size_t i = 0; i < count; i++) {
        const fl_backend_info *info = fl_backend_get(i);
        fl_device *device = NULL;
        const char *name = info->probe.max_threads > 1 ? info->family : info->name; /* libflynn may choose one thread */
        const fl_status status = info->usable && info->emulation == emulation ? backend_open(name, &device) : FL_OK;
        if (status == FL_E_MEMORY)
            must(status);
        if (device && backend_offers(device, operation, NULL))
            return device;
        fl_device_close(device);
    }
    return NULL;
}

/* Where `auto` chose a backend without the operation, takes the best one that has it, with a remark. */
static void settle_auto(backend_list *list, const char *operation)
{
    for (int i = 0; i < list->count; i++) {
        open_backend *b = &list->open[i];
        fl_device *other = NULL;
        if (strcmp(b->requested, "auto") != 0 || backend_offers(b->device, operation, NULL))
            continue;
        if ((other = best_with(operation, false)) != NULL) {
            snprintf(list->remark, sizeof list->remark, "--backend=auto: %s does not have %s; %s runs it",
                     fl_device_describe(b->device)->resource, operation, fl_device_describe(other)->resource);
        } else if ((other = best_with(operation, true)) != NULL) {
            snprintf(list->remark, sizeof list->remark,
                     "--backend=auto: %s needs a GPU, and none can run here; %s emulates one on the processor",
                     operation, fl_device_describe(other)->resource);
        } else {
            continue;
        }
        fl_device_close(b->device);
        b->device = other;
    }
}

void backends_keep(backend_list *list, const common_options *options, const char *operation)
{
    int kept = 0;

    settle_auto(list, operation);
    for (int i = 0; i < list->count; i++) {
        open_backend *b = &list->open[i];
        const bool offers = backend_offers(b->device, operation, NULL);
        if (!offers && !options->all_backends)
            fail(EXIT_CANNOT_RUN, "--backend: %s does not have %s; `flynn list` shows which backends do",
                 fl_device_describe(b->device)->resource, operation);
        if (offers) {
            list->open[kept++] = *b;
        } else {
            skip(list, b->requested, "it does not have this exercise", "");
            fl_device_close(b->device);
        }
    }
    list->count = kept;
    if (kept == 0)
        fail(EXIT_CANNOT_RUN, "--backend=all: no backend here has %s", operation);
}

void backends_close(backend_list *list)
{
    trace_out_finish(list->trace_file);
    if (*list->remark)
        note("%s", list->remark);
    for (int i = 0; i < list->count; i++)
        fl_device_close(list->open[i].device);
    free(list->open);
    free(list->skipped);
    *list = (backend_list){0};
}
