/* SPDX-License-Identifier: MIT
 *
 * The format: "Trace Event Format" of the Chromium project. A process is the host or a device, a thread one of its
 * lanes; both are numbers, and events of their own give them names.
 */
#include "trace_out.h"

#include "files/files.h"
#include "support/fail.h"
#include "view/json.h"

#include <flynn/flynn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LANES = 256 };

/* Lanes seen so far: lane i is thread i + 1 of its process. */
typedef struct writer {
    json_t *events;
    char processes[MOST_LANES][64], lanes[MOST_LANES][96];
    int process_of[MOST_LANES];
    int process_count, lane_count;
} writer;

void trace_out_start(const char *path)
{
    problem why;

    if (!path)
        return;
    must_do(file_check_writable(path, &why), &why);
    must(fl_trace_start());
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

static void take(const fl_span *span, void *user)
{
    writer *w = user;
    int process = process_number(w, span->process), lane = lane_number(w, process, span->lane);
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
    must(fl_trace_stop(take, &w, &lost));
    if (lost > 0)
        note("--trace: the trace is full; its last %" PRId64 " spans are missing", lost);
    json_put(document, "traceEvents", w.events);
    json_put(document, "displayTimeUnit", json_text("ns"));
    must_do(json_write(document, path, &why), &why);
    json_decref(document);
}
