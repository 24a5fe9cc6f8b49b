/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "ranks.h"

#include "ranks/group.h"
#include "kept/machine.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "view/columns.h"
#include "view/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* "0-3,8" */
static cell processors_text(const cpu_set_t *set)
{
    cell c = {""};
    size_t used = 0;

    for (int i = 0; i < CPU_SETSIZE && used < sizeof c.text; i++) {
        int last = i;
        if (!CPU_ISSET(i, set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
            last++;
        used += (size_t)snprintf(c.text + used, sizeof c.text - used, last > i ? "%s%d-%d" : "%s%d", used ? "," : "", i,
                                 last);
        i = last;
    }
    return c;
}

/* The device that `auto` takes on this rank. */
static rank_place place_here(void)
{
    rank_place place = {.local_rank = group_info()->local_rank, .node = -1};
    const fl_device_info *info;
    fl_device *device;

    must(fl_group_device(group_of_all(), "auto", &device));
    info = fl_device_describe(device);
    snprintf(place.host, sizeof place.host, "%s", group_info()->host);
    snprintf(place.resource, sizeof place.resource, "%s", info->resource);
    snprintf(place.device, sizeof place.device, "%s", info->name);
    snprintf(place.bus_id, sizeof place.bus_id, "%s", info->bus_id);
    place.threads = info->threads;
    sched_getaffinity(0, sizeof place.processors, &place.processors);
    place.node = machine_node_of("/sys", info->bus_id, &place.near);
    fl_device_close(device);
    return place;
}

static void add(json_t *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(json_t *notes, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_append(notes, json_text(text));
}

/* Returns whether two ranks of one host have the same GPU. Ranks that see one GPU each all number it 0. */
static bool is_one_gpu(const rank_place *a, const rank_place *b)
{
    return a->threads == 0 && (*a->bus_id ? strcmp(a->bus_id, b->bus_id) : strcmp(a->resource, b->resource)) == 0;
}

static void note_shared(json_t *notes, const rank_place *all, int ranks)
{
    bool processors = false, device = false;

    for (int r = 0; r < ranks; r++)
        for (int q = 0; q < r; q++) {
            cpu_set_t both;
            if (strcmp(all[r].host, all[q].host) != 0)
                continue;
            CPU_AND(&both, &all[r].processors, &all[q].processors);
            if (CPU_COUNT(&both) > 0 && !processors)
                add(notes, "ranks %d and %d share processors (%s): bind each to its own", q, r,
                    processors_text(&both).text);
            processors = processors || CPU_COUNT(&both) > 0;
            if (is_one_gpu(&all[r], &all[q]) && !device) {
                add(notes, "ranks %d and %d share the GPU %s", q, r, all[r].resource);
                device = true;
            }
        }
}

json_t *ranks_notes(const rank_place *all, int ranks)
{
    json_t *notes = json_new_list();

    note_shared(notes, all, ranks);
    for (int r = 0; r < ranks; r++) {
        cpu_set_t both;
        CPU_AND(&both, &all[r].near, &all[r].processors);
        if (all[r].node >= 0 && CPU_COUNT(&both) == 0)
            add(notes, "rank %d has no processor near its GPU, which is on NUMA node %d: bind it to some of %s", r,
                all[r].node, processors_text(&all[r].near).text);
    }
    return notes;
}

json_t *ranks_json(const rank_place *all, int ranks)
{
    json_t *list = json_new_list();

    for (int r = 0; r < ranks; r++) {
        json_t *entry = json_new_object();
        json_put(entry, "rank", json_whole(r));
        json_put(entry, "host", json_text(all[r].host));
        json_put(entry, "local_rank", json_whole(all[r].local_rank));
        json_put(entry, "resource", json_text(all[r].resource));
        json_put(entry, "device", json_text(all[r].device));
        json_put(entry, "bus_id", *all[r].bus_id ? json_text(all[r].bus_id) : json_null());
        json_put(entry, "numa_node", all[r].node >= 0 ? json_whole(all[r].node) : json_null());
        json_put(entry, "processors", json_text(processors_text(&all[r].processors).text));
        json_append(list, entry);
    }
    return list;
}

void ranks_print(const rank_place *all, int ranks)
{
    json_t *notes = ranks_notes(all, ranks), *note;
    size_t i;

    text_print("%d ranks, joined by %s (%s)\n", ranks, group_info()->link, group_info()->library);
    for (int r = 0; r < ranks; r++)
        text_print("rank %d: %s, local rank %d, %s%s%s, processors %s\n", r, all[r].host, all[r].local_rank,
                   all[r].resource, *all[r].bus_id ? " at " : "", all[r].bus_id,
                   processors_text(&all[r].processors).text);
    json_array_foreach(notes, i, note) text_print("%s\n", json_string_value(note));
    json_decref(notes);
}

rank_place *ranks_gather(void)
{
    const rank_place own = place_here();
    rank_place *all = memory_zeroed((size_t)group_info()->size, sizeof *all);

    group_gather(&own, all, sizeof own);
    return all;
}
