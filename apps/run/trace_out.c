/* SPDX-License-Identifier: MIT
 *
 * The format: "Trace Event Format" of the Chromium project. A process is the host or a device, or one of several ranks;
 * a thread is one of its lanes. Both are numbers, and events of their own give them names.
 */
#include "trace_out.h"
#include "ranks/group.h"

#include "files/files.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/statistics.h"
#include "view/json.h"

#include <flynn/flynn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LANES = 256 };

/* Lanes seen so far: lane i is thread i + 1 of its process. */
typedef struct writer {
    json_t *events;
    char processes[MOST_LANES][64], lanes[MOST_LANES][96];
    int process_of[MOST_LANES];
    int process_count, lane_count;
} writer;

/* One rank's part of the trace. */
typedef struct rank_trace {
    char host[64];
    double together, start; /* by its clock: when all ranks were there, and when its trace started */
    int64_t count, lost;    /* spans */
} rank_trace;

static rank_trace here;

void trace_out_start(const char *path)
{
    problem why;

    if (!path)
        return;
    if (group_prints())
        must_do(file_check_writable(path, &why), &why);
    group_wait();
    here.together = seconds_now();
    must(fl_trace_start());
    here.start = seconds_now();
}

/* An event that gives a process or thread its name. */
static void name_it(writer *w, const char *what, int process, int lane, const char *name)
{
    json_t *event = json_new_object(), *args = json_new_object();

    json_put(args, "name", json_text(name));
    json_put(event, "ph", json_text("M"));
    json_put(event, "name", json_text(what));
    json_put(event, "pid", json_whole(process));
    json_put(event, "tid", json_whole(lane));
    json_put(event, "args", args);
    json_append(w->events, event);
}

static int process_number(writer *w, const char *process)
{
    for (int i = 0; i < w->process_count; i++)
        if (strcmp(w->processes[i], process) == 0)
            return i + 1;
    snprintf(w->processes[w->process_count++], sizeof *w->processes, "%s", process);
    name_it(w, "process_name", w->process_count, 0, process);
    return w->process_count;
}

/* The lane's number; lanes beyond the last share it. */
static int lane_number(writer *w, int process, const char *lane)
{
    for (int i = 0; i < w->lane_count; i++)
        if (w->process_of[i] == process && strcmp(w->lanes[i], lane) == 0)
            return i + 1;
    if (w->lane_count == MOST_LANES)
        return MOST_LANES;
    w->process_of[w->lane_count] = process;
    snprintf(w->lanes[w->lane_count++], sizeof *w->lanes, "%s", lane);
    name_it(w, "thread_name", process, w->lane_count, lane);
    return w->lane_count;
}

static void put(writer *w, int process, const char *lane_name, const fl_span *span)
{
    const int lane = lane_number(w, process, lane_name);
    json_t *event = json_new_object();

    json_put(event, "ph", json_text("X"));
    json_put(event, "name", json_text(span->name));
    json_put(event, "pid", json_whole(process));
    json_put(event, "tid", json_whole(lane));
    json_put(event, "ts", json_number(span->start_s * 1e6)); /* microseconds */
    json_put(event, "dur", json_number(span->seconds * 1e6));
    if (span->bytes > 0) {
        json_t *args = json_new_object();
        json_put(args, "bytes", json_number(span->bytes));
        json_put(args, "gbytes_per_s", json_number(span->bytes / span->seconds / 1e9));
        json_put(event, "args", args);
    }
    json_append(w->events, event);
}

static void take(const fl_span *span, void *user)
{
    put(user, process_number(user, span->process), span->lane, span);
}

/* ---------------------------------------------------------------------------------------- several ranks ---- */

/* A span as it goes to rank 0. */
typedef struct sent_span {
    char name[64], lane[96];
    double start_s, seconds, bytes;
} sent_span;

typedef struct sent_spans {
    sent_span *list;
    int64_t count, room;
} sent_spans;

/* A device's lanes are those of its rank. */
static void keep(const fl_span *span, void *user)
{
    sent_spans *s = user;
    sent_span *one;

    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->list = memory_regrown(s->list, (size_t)s->room, sizeof *s->list);
    }
    one = &s->list[s->count++];
    *one = (sent_span){.start_s = span->start_s, .seconds = span->seconds, .bytes = span->bytes};
    snprintf(one->name, sizeof one->name, "%s", span->name);
    if (strcmp(span->process, "host") == 0)
        snprintf(one->lane, sizeof one->lane, "%s", span->lane);
    else
        snprintf(one->lane, sizeof one->lane, "%s, %s", span->process, span->lane);
}

/* When rank r's trace started, by rank 0's clock. Ranks of one host have one clock; another host's is set by its first
 * rank, as if that had left the wait for all at the same moment as rank 0. */
static double start_of(const rank_trace *all, int r)
{
    int first = 0;

    while (strcmp(all[first].host, all[r].host) != 0)
        first++;
    return all[r].start - (all[first].together - all[0].together);
}

/* The spans of a rank, which are written. */
typedef struct written_rank {
    writer *w;
    int rank;
    double shift; /* of its start */
} written_rank;

static void write_spans(const void *items, int64_t count, void *user)
{
    const written_rank *of = user;
    const sent_span *s = items;

    for (int64_t i = 0; i < count; i++)
        put(of->w, of->rank + 1, s[i].lane,
            &(fl_span){
                .name = s[i].name, .start_s = s[i].start_s + of->shift, .seconds = s[i].seconds, .bytes = s[i].bytes});
}

/* Rank 0 writes the spans of all, which come in pieces. Returns how many were lost. */
static int64_t write_ranks(writer *w)
{
    const int ranks = group_info()->size;
    rank_trace *all = memory_zeroed((size_t)ranks, sizeof *all);
    sent_spans own = {NULL, 0, 0};
    double origin = INFINITY;
    int64_t lost = 0;

    must(fl_trace_stop(keep, &own, &here.lost));
    here.count = own.count;
    snprintf(here.host, sizeof here.host, "%s", group_info()->host);
    group_gather(&here, all, sizeof here);
    for (int r = 0; r < ranks; r++) {
        origin = fmin(origin, start_of(all, r));
        lost += all[r].lost;
    }
    for (int r = 0; r < ranks; r++) {
        char name[96];
        snprintf(name, sizeof name, "rank %d (%s)", r, all[r].host);
        name_it(w, "process_name", r + 1, 0, name);
        w->lane_count = 0;
        group_collect(r, own.list, all[r].count, sizeof *own.list, write_spans,
                      &(written_rank){w, r, start_of(all, r) - origin});
    }
    free(own.list);
    free(all);
    return lost;
}

void trace_out_finish(const char *path)
{
    static writer w;
    json_t *document;
    int64_t lost;
    problem why;

    if (!path)
        return;
    w.events = json_new_list();
    document = json_new_object();
    if (group_is_distributed())
        lost = write_ranks(&w);
    else
        must(fl_trace_stop(take, &w, &lost));
    if (lost > 0 && group_prints())
        note("--trace: the trace is full; its last %" PRId64 " spans are missing", lost);
    json_put(document, "traceEvents", w.events);
    json_put(document, "displayTimeUnit", json_text("ns"));
    if (group_prints()) {
        must_do(json_write(document, path, &why), &why);
        file_note_written(path, "open it in ui.perfetto.dev");
    }
    json_decref(document);
}
