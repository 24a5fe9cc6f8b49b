/* SPDX-License-Identifier: MIT */
#include "distributed.h"

#include "run/distributed.h"
#include "run/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "view/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------- the source ---- */

void ranks_refuse(const batch_command *c)
{
    if (!group_is_distributed())
        return;
    distributed_refuse(c->common);
    if (c->common->argument_count == 0 && !c->own->factors)
        fail(EXIT_BAD_INPUT, "several ranks share images or --factors; random matrices need one process");
    if (c->own->pipeline_count > 1)
        fail(EXIT_BAD_INPUT, "--pipeline: expected one where several ranks run");
}

/* A name goes as a byte that says whether it is there, and its text. */
static void put_name(char **text, size_t *used, const char *name)
{
    const size_t size = name ? strlen(name) + 1 : 0;

    *text = memory_regrown(*text, *used + 1 + size, 1);
    (*text)[(*used)++] = (char)(name ? 1 : 0);
    memcpy(*text + *used, name ? name : "", size);
    *used += size;
}

static char *take_name(const char **at)
{
    const bool there = *(*at)++ != 0;
    char *name = there ? memory_text(*at) : NULL;

    *at += there ? strlen(name) + 1 : 0;
    return name;
}

void ranks_share_source(batch_source *source)
{
    struct {
        batch_source source;
        int64_t bytes;
        bool writes;
    } head = {.source = *source, .writes = source->outputs != NULL};
    const bool takes = !group_prints();
    char *text = NULL, **inputs, **outputs;
    const char *at;
    size_t used = 0;

    if (!group_is_distributed())
        return;
    for (int64_t i = 0; i < source->count; i++) {
        put_name(&text, &used, source->inputs[i]);
        put_name(&text, &used, source->outputs ? source->outputs[i] : NULL);
    }
    head.bytes = (int64_t)used;
    group_broadcast(&head, sizeof head);
    text = memory_regrown(text, (size_t)head.bytes, 1);
    group_broadcast(text, head.bytes);
    if (takes) {
        *source = head.source;
        source->inputs = (const char *const *)(inputs = memory_zeroed((size_t)source->count, sizeof *inputs));
        outputs = memory_zeroed((size_t)source->count, sizeof *outputs);
        at = text;
        for (int64_t i = 0; i < source->count; i++) {
            inputs[i] = take_name(&at);
            outputs[i] = take_name(&at);
        }
        source->outputs = head.writes ? (const char *const *)outputs : NULL;
        if (!head.writes)
            free(outputs);
    }
    free(text);
}

/* ------------------------------------------------------------------------------------------- the reports ---- */

static void add_stage(stage_report *all, const stage_report *one)
{
    all->threads += one->threads;
    all->busy_s += one->busy_s;
    all->count += one->count;
    all->bytes += one->bytes;
}

/* Memory is that of the rank that needs most. */
static void add_device(device_report *all, const device_report *one)
{
    for (int e = 0; e < ENGINES; e++) {
        all->busy_s[e] += one->busy_s[e];
        all->bytes[e] += one->bytes[e];
    }
    for (int e = 0; e <= ENGINES; e++)
        all->together_s[e] += one->together_s[e];
    if (all->launches == 0)
        all->timing = one->timing;
    all->flops += one->flops;
    all->launches += one->launches;
    all->matrices += one->matrices;
    all->slots = one->slots > all->slots ? one->slots : all->slots;
    all->chunk = int64_larger(all->chunk, one->chunk);
    all->host_bytes = int64_larger(all->host_bytes, one->host_bytes);
    all->device_bytes = int64_larger(all->device_bytes, one->device_bytes);
    all->smaller = all->smaller || one->smaller;
}

static void add_report(pipeline_report *all, int rank, const rank_part *part)
{
    const pipeline_report *one = &part->report;

    for (int i = 0; i < STAGES; i++)
        add_stage(&all->stages[i], &one->stages[i]);
    add_device(&all->device, &one->device);
    all->done += one->done;
    all->failed += one->failed;
    all->already_there += one->already_there;
    all->wrong += one->wrong;
    if (one->check.compared > 0)
        compare_merge(&all->check, &one->check, 0);
    all->worst_error = fmax(all->worst_error, one->worst_error);
    all->error = hypot(all->error, one->error);
    all->norm = hypot(all->norm, one->norm);
    all->sum += one->sum;
    all->peak_bytes = int64_larger(all->peak_bytes, one->peak_bytes);
    all->queued = int64_larger(all->queued, one->queued);
    all->interrupted = all->interrupted || one->interrupted;
    all->late = all->late || one->late;
    if ((one->broken || one->machine_failed) && !(all->broken || all->machine_failed))
        problem_set(&all->why, one->why.exit_code, "rank %d (%s): %s", rank, part->host, one->why.text);
    all->machine_failed = all->machine_failed || one->machine_failed;
    all->broken = all->broken || one->broken;
}

/* The failures of all ranks, in the order of the ranks. */
static json_t *collect_failures(json_t *own)
{
    const int size = group_info()->size;
    char *text = json_text_of(own), **texts = memory_zeroed((size_t)size, sizeof *texts);
    json_t *all = json_new_list();

    group_collect_texts(text, texts);
    for (int r = 0; r < size && group_prints(); r++) {
        json_t *list = json_loads(texts[r], 0, NULL), *failure;
        size_t i;
        json_array_foreach(list, i, failure)
        {
            json_put(failure, "rank", json_whole(r));
            json_append(all, json_incref(failure));
        }
        json_decref(list);
        free(texts[r]);
    }
    free(texts);
    free(text);
    json_decref(own);
    return all;
}

void ranks_merge(pipeline_report *all, const char *resource)
{
    const pipeline_report own = *all;
    rank_part mine = {.report = own, .wall_s = own.wall.s[0]}, *parts;

    if (!group_is_distributed())
        return;
    snprintf(mine.host, sizeof mine.host, "%s", group_info()->host);
    snprintf(mine.resource, sizeof mine.resource, "%s", resource);
    snprintf(mine.variant, sizeof mine.variant, "%s", own.device.timing.variant ? own.device.timing.variant : "");
    parts = memory_zeroed((size_t)group_info()->size, sizeof *parts);
    group_gather(&mine, parts, sizeof mine);
    *all = (pipeline_report){.mode = own.mode,
                             .wall = own.wall,
                             .cold_s = own.cold_s,
                             .check = compare_start(),
                             .failures = collect_failures(own.failures),
                             .parts = parts};
    for (int r = 0; r < group_info()->size; r++) {
        parts[r].report.device.timing.variant = parts[r].variant[0] ? parts[r].variant : NULL;
        add_report(all, r, &parts[r]);
        all->wall.s[0] = fmax(all->wall.s[0], parts[r].wall_s);
    }
    if (all->late && all->done + all->failed + all->already_there == 0)
        fail(EXIT_BROKEN, "--max-time: the time was over before one was done");
}

void ranks_print_error(const char *text)
{
    if (group_prints())
        print_error("%s", text);
    else
        print_error("rank %d (%s): %s", group_info()->rank, group_info()->host, text);
}

void ranks_put(json_t *run, const pipeline_report *report)
{
    const int size = group_info()->size;
    json_t *list = json_new_list(), *link = json_object_get(run, "link");
    double sum = 0;

    for (int r = 0; r < size; r++) {
        const rank_part *p = &report->parts[r];
        json_t *entry = json_new_object();
        sum += p->wall_s;
        json_put(entry, "rank", json_whole(r));
        json_put(entry, "host", json_text(p->host));
        json_put(entry, "resource", json_text(p->resource));
        json_put(entry, "done", json_whole(p->report.done));
        json_put(entry, "failed", json_whole(p->report.failed));
        json_put(entry, "wall_s", json_number(p->wall_s));
        json_put(entry, "images_per_s", json_number((double)p->report.done / p->wall_s));
        json_append(list, entry);
    }
    json_put(link, "name", json_text(group_info()->link));
    json_put(link, "library", json_text(group_info()->library));
    json_put(run, "ranks", json_whole(size));
    json_put(run, "imbalance", json_number(report->wall.s[0] * size / sum));
    json_put(run, "per_rank", list);
}
