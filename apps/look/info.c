/* SPDX-License-Identifier: MIT
 *
 * flynn info: the backends, which of them can run here, and how to enable the others.
 */
#include "commands.h"

#include "harness/backends.h"
#include "harness/group.h"
#include "harness/machine.h"
#include "harness/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/text.h"
#include "view/columns.h"
#include "view/json.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* null for an empty text. */
static json_t *json_known(const char *text)
{
    return *text ? json_text(text) : json_null();
}

static json_t *json_isas(const fl_probe *probe)
{
    json_t *list = json_new_list();

    for (int i = 0; i < probe->isa_count; i++) {
        json_t *isa = json_new_object();
        json_put(isa, "name", json_text(probe->isa[i].name));
        json_put(isa, "usable", json_boolean(!*probe->isa[i].why_not));
        json_put(isa, "cause", json_known(probe->isa[i].why_not));
        json_append(list, isa);
    }
    return list;
}

static json_t *json_backend(const fl_backend_info *b)
{
    json_t *entry = json_new_object(), *devices = json_new_list();

    for (int i = 0; i < b->probe.device_count; i++)
        json_append(devices, json_text(b->probe.device[i]));
    json_put(entry, "name", json_text(b->name));
    json_put(entry, "path", json_text(b->path));
    json_put(entry, "usable", json_boolean(b->usable));
    json_put(entry, "family", json_known(b->family));
    json_put(entry, "flynn_class", json_known(b->flynn_class));
    json_put(entry, "emulation", json_boolean(b->emulation));
    json_put(entry, "built_with", json_known(b->built_with));
    json_put(entry, "score", json_whole(b->score));
    json_put(entry, "devices", devices);
    json_put(entry, "max_threads", b->probe.max_threads ? json_whole(b->probe.max_threads) : json_null());
    json_put(entry, "instruction_sets", json_isas(&b->probe));
    json_put(entry, "cause", b->usable ? json_null() : json_text(b->probe.cause));
    json_put(entry, "cure", b->usable ? json_null() : json_text(b->probe.cure));
    json_put(entry, "lacks", json_known(b->probe.lacks));
    json_put(entry, "remark", json_known(b->remark));
    return entry;
}

static void print_backend(const fl_backend_info *b)
{
    const fl_probe *p = &b->probe;

    text_print("%s: %s%s\n", b->name, b->usable ? "can run here" : "cannot run here",
               b->emulation ? " (an emulation, for tests: its times mean nothing)" : "");
    if (*b->flynn_class)
        text_print("  %s, family %s, built with %s\n", b->flynn_class, b->family, b->built_with);
    text_print("  file: %s\n", b->path);
    if (!b->usable) {
        text_print("  cause: %s\n", p->cause);
        text_print("  cure: %s\n", p->cure);
    }
    if (*p->lacks)
        text_print("  lacks: %s\n", p->lacks);
    if (*b->remark)
        text_print("  remark: %s\n", b->remark);
    for (int i = 0; i < p->device_count; i++)
        text_print("  device %d: %s\n", i, p->device[i]);
    for (int i = 0; i < p->isa_count; i++)
        text_print("  %s:%s %s%s\n", b->name, p->isa[i].name, *p->isa[i].why_not ? "cannot run here: " : "can run here",
                   p->isa[i].why_not);
}

/* ------------------------------------------------------------------------------------------- under a launcher ---- */

/* What a process of a group runs on. */
typedef struct rank_place {
    char host[64], resource[48], device[128];
    int32_t local_rank, threads;
    cpu_set_t processors;
} rank_place;

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

/* What `auto` takes on this rank. */
static rank_place place_here(void)
{
    rank_place place = {.local_rank = group_info()->local_rank};
    fl_device *device;

    must(fl_group_device(group_of_all(), "auto", &device));
    snprintf(place.host, sizeof place.host, "%s", group_info()->host);
    snprintf(place.resource, sizeof place.resource, "%s", fl_device_describe(device)->resource);
    snprintf(place.device, sizeof place.device, "%s", fl_device_describe(device)->name);
    place.threads = fl_device_describe(device)->threads;
    sched_getaffinity(0, sizeof place.processors, &place.processors);
    fl_device_close(device);
    return place;
}

/* Do the ranks of one host share processors, or a GPU? Says so once for each. */
static void print_shared(const rank_place *all, int ranks)
{
    bool processors = false, device = false;

    for (int r = 0; r < ranks; r++)
        for (int q = 0; q < r; q++) {
            cpu_set_t both;
            if (strcmp(all[r].host, all[q].host) != 0)
                continue;
            CPU_AND(&both, &all[r].processors, &all[q].processors);
            if (CPU_COUNT(&both) > 0 && !processors)
                text_print("ranks %d and %d share processors (%s): bind each to its own\n", q, r,
                           processors_text(&both).text);
            processors = processors || CPU_COUNT(&both) > 0;
            if (all[r].threads == 0 && strcmp(all[r].resource, all[q].resource) == 0 && !device) {
                text_print("ranks %d and %d share the GPU %s\n", q, r, all[r].resource);
                device = true;
            }
        }
}

static json_t *json_ranks(const rank_place *all, int ranks)
{
    json_t *list = json_new_list();

    for (int r = 0; r < ranks; r++) {
        json_t *entry = json_new_object();
        json_put(entry, "rank", json_whole(r));
        json_put(entry, "host", json_text(all[r].host));
        json_put(entry, "local_rank", json_whole(all[r].local_rank));
        json_put(entry, "resource", json_text(all[r].resource));
        json_put(entry, "device", json_text(all[r].device));
        json_put(entry, "processors", json_text(processors_text(&all[r].processors).text));
        json_append(list, entry);
    }
    return list;
}

static void print_ranks(const rank_place *all, int ranks)
{
    text_print("%d ranks, joined by %s (%s)\n", ranks, group_info()->link, group_info()->library);
    for (int r = 0; r < ranks; r++)
        text_print("rank %d: %s, local rank %d, %s, processors %s\n", r, all[r].host, all[r].local_rank,
                   all[r].resource, processors_text(&all[r].processors).text);
    print_shared(all, ranks);
}

static rank_place *gather_places(int ranks)
{
    const rank_place own = place_here();
    rank_place *all = memory_zeroed((size_t)ranks, sizeof *all);

    group_gather(&own, all, sizeof own);
    return all;
}

static const char summary[] =
    "Shows every backend that was found, whether it can run here, and how to enable the others.\v\v"
    "\tall backends\n"
    "--json\tfor a program\n";

int command_info(int argc, char **argv)
{
    const command_line line = {.name = "flynn info", .summary = summary, .takes = TAKES_JSON};
    json_t *document = json_new_document(), *backends = json_new_list();
    const int ranks = *group_info()->link ? group_info()->size : 0;
    rank_place *places = NULL;
    common_options common;

    options_parse(&line, argc, argv, &common);
    for (size_t i = 0; i < backends_count(); i++)
        json_append(backends, json_backend(fl_backend_get(i)));
    json_put(document, "machine", machine_describe());
    json_put(document, "backends", backends);
    if (ranks)
        json_put(document, "ranks", json_ranks(places = gather_places(ranks), ranks));
    if (group_prints() && results_write(&common, document)) {
        text_print("flynn %s\n", fl_version());
        for (size_t i = 0; i < fl_backend_count(); i++)
            print_backend(fl_backend_get(i));
        if (fl_backend_count() == 0)
            text_print("no plugin was found\n");
        if (ranks)
            print_ranks(places, ranks);
    }
    free(places);
    json_decref(document);
    options_free(&common);
    return EXIT_DONE;
}
