/* SPDX-License-Identifier: MIT */
#include "distributed.h"
#include "kept/ceilings.h"

#include "files/files.h"
#include "files/png_file.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/statistics.h"
#include "view/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void distributed_refuse(const common_options *c)
{
    for (int i = 0; i < c->argument_count; i++)
        if (strcmp(c->arguments[i], "-") == 0 || strncmp(c->arguments[i], "/dev/", 5) == 0)
            fail(EXIT_BAD_INPUT, "'%s': with several ranks the input must be a file: a pipe can be read once",
                 c->arguments[i]);
    if (c->all_backends || c->backend_count > 1)
        fail(EXIT_BAD_INPUT, "--backend: each rank has one device; expected one name");
    if (c->variant_count > 1)
        fail(EXIT_BAD_INPUT, "--variant: expected one name where several ranks run");
    option_refuse(c, TAKES_WRONG_TIMING | TAKES_SHOW, "several ranks do not take it");
}

void distributed_take_variant(const common_options *c, const char *only)
{
    if (strcmp(c->variant, "auto") != 0 && strcmp(c->variant, only) != 0)
        fail(EXIT_BAD_INPUT, "--variant: with several ranks only '%s' can run, not '%s'", only, c->variant);
    if (!c->has_variant)
        note("several ranks take the variant %s", only);
}

static void add_sample(samples *list, double seconds)
{
    list->s = memory_regrown(list->s, (size_t)(list->count + 1), sizeof *list->s);
    list->s[list->count++] = seconds;
}

void distributed_take(measurement *m, double kernel, int launches)
{
    m->cost = group_take_cost();
    add_sample(&m->own, kernel);
    add_sample(&m->link, (m->cost.link_s + m->cost.stage_s) / launches);
    add_sample(&m->wait, m->cost.wait_s / launches);
    m->cost.bytes /= launches;
}

void distributed_gather(measurement *m)
{
    rank_facts own = {.share = m->results[0].shape[0],
                      .kernel_s = median(m->own.s, m->own.count),
                      .link_s = median(m->link.s, m->link.count),
                      .wait_s = median(m->wait.s, m->wait.count),
                      .link_bytes = m->cost.bytes};

    snprintf(own.host, sizeof own.host, "%s", group_info()->host);
    snprintf(own.resource, sizeof own.resource, "%s", m->device.resource);
    m->ranks = memory_zeroed((size_t)group_info()->size, sizeof *m->ranks);
    group_gather(&own, m->ranks, sizeof own);
    for (int r = 1; r < group_info()->size; r++)
        m->ranks[r].first = m->ranks[r - 1].first + m->ranks[r - 1].share;
    m->timing.bytes = group_sum(m->timing.bytes);
    m->timing.bytes_requested = group_sum(m->timing.bytes_requested);
    m->timing.flops = group_sum(m->timing.flops);
}

int64_t distributed_rows(const measurement *m)
{
    const rank_facts *last = &m->ranks[group_info()->size - 1];

    return last->first + last->share;
}

void distributed_free(measurement *m)
{
    free(m->own.s);
    free(m->link.s);
    free(m->wait.s);
    free(m->ranks);
}

compare_result distributed_check(const exercise *e, const measurement *m)
{
    const int ranks = group_info()->size;
    compare_result *all = memory_zeroed((size_t)ranks, sizeof *all), sum = compare_start();
    int64_t row = 1;

    for (int d = 1; d < e->outputs[0].ndim; d++)
        row *= e->outputs[0].shape[d];
    group_gather(&m->check, all, sizeof *all);
    for (int r = 0; r < ranks; r++)
        if (all[r].compared > 0 || all[r].failed > 0)
            compare_merge(&sum, &all[r], m->ranks[r].first * row);
    sum.ok = sum.failed == 0 && (sum.ok || distributed_rows(m) * row == 0);
    sum.unknown = sum.failed == 0 && m->check.unknown;
    free(all);
    return sum;
}

static void write_piece(const void *bytes, int64_t count, void *file)
{
    output_write(file, bytes, (size_t)count);
}

/* Rank 0 creates the file, and each rank writes its rows into it; where one of them does not see it, or it is a pipe,
 * all send theirs to rank 0, in pieces. */
static void write_npy(const measurement *m, const host_array *whole, int64_t row, const char *path)
{
    const int rank = group_info()->rank;
    struct {
        char unfinished[4096];
        int64_t start;
    } place = {0};
    output *file = NULL;
    problem why;

    if (group_prints()) {
        must_do((file = npy_begin(path, whole, &why)) != NULL, &why);
        const char *unfinished = output_unfinished(file, &place.start);
        if (unfinished && strlen(unfinished) < sizeof place.unfinished)
            strcpy(place.unfinished, unfinished);
    }
    group_broadcast(&place, sizeof place);
    if (!group_prints() && *place.unfinished)
        file = output_join(path, place.unfinished, place.start + m->ranks[rank].first * row);
    if (*place.unfinished && group_count(file != NULL) == group_info()->size) {
        output_write(file, m->results[0].data, (size_t)(m->ranks[rank].share * row));
        if (!group_prints())
            must_do(output_commit(file, &why), &why);
        group_wait();
    } else {
        for (int r = 0; r < group_info()->size; r++)
            group_collect(r, m->results[0].data, m->ranks[r].share * row, 1, write_piece, file);
        if (!group_prints())
            output_discard(file);
    }
    if (group_prints())
        must_do(output_commit(file, &why), &why);
}

static void take_bytes(const void *bytes, int64_t count, void *user)
{
    uint8_t **next = user;

    memcpy(*next, bytes, (size_t)count);
    *next += count;
}

/* Rank 0 has all of the picture, a byte for each of its pixels. */
static void write_png(const measurement *m, const host_array *whole, const char *path)
{
    uint8_t *own, *all = group_prints() ? memory_zeroed((size_t)host_array_size(whole) + 1, 1) : NULL, *next = all;
    problem why;

    must_do(png_grey(path, &m->results[0], &own, &why), &why);
    for (int r = 0; r < group_info()->size; r++)
        group_collect(r, own, m->ranks[r].share * whole->shape[1], 1, take_bytes, &next);
    if (group_prints())
        must_do(png_write_bytes(path, whole->shape[0], whole->shape[1], all, &why), &why);
    free(own);
    free(all);
}

void distributed_write(const measurement *m, const char *path)
{
    host_array whole = m->results[0];
    const int64_t row = (int64_t)host_array_bytes(&whole) / (whole.shape[0] > 0 ? whole.shape[0] : 1);

    whole.shape[0] = distributed_rows(m);
    if (file_ends_in(path, ".png"))
        write_png(m, &whole, path);
    else
        write_npy(m, &whole, (int64_t)group_most((double)row), path);
}

void distributed_put(json_t *row, const measurement *m)
{
    const fl_group_info *group = group_info();
    json_t *link = json_new_object(), *list = json_new_list();
    double busy = 0, busiest = 0, bytes = 0, link_s = 0, wait_s = 0, least_s = NAN;

    for (int r = 0; r < group->size; r++) {
        const rank_facts *f = &m->ranks[r];
        const double own = fmax(f->kernel_s - f->link_s - f->wait_s, 0);
        json_t *entry = json_new_object();
        busy += own / group->size;
        busiest = fmax(busiest, own);
        bytes += f->link_bytes;
        if (f->link_s > link_s && !m->device.emulation)
            least_s = ceilings_link_s(group->path, f->link_bytes);
        link_s = fmax(link_s, f->link_s);
        wait_s = fmax(wait_s, f->wait_s);
        json_put(entry, "rank", json_whole(r));
        json_put(entry, "host", json_text(f->host));
        json_put(entry, "resource", json_text(f->resource));
        json_put(entry, "first", json_whole(f->first));
        json_put(entry, "share", json_whole(f->share));
        json_put(entry, "kernel_s", json_number(f->kernel_s));
        json_put(entry, "link_s", json_number(f->link_s));
        json_put(entry, "wait_s", json_number(f->wait_s));
        json_put(entry, "link_bytes", json_number(f->link_bytes));
        json_append(list, entry);
    }
    json_put(link, "name", json_text(group->link));
    json_put(link, "library", json_text(group->library));
    json_put(link, "path", json_text(group->path));
    json_put(link, "bytes", json_number(bytes));
    json_put(link, "link_s", json_number(link_s));
    json_put(link, "wait_s", json_number(wait_s));
    json_put(link, "percent_of_ceiling", json_number(100 * least_s / link_s));
    json_put(row, "ranks", json_whole(group->size));
    json_put(row, "imbalance", json_number(busy > 0 ? busiest / busy : NAN));
    json_put(row, "link", link);
    json_put(row, "per_rank", list);
}
