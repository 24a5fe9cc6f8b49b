/* SPDX-License-Identifier: MIT
 *
 * graph.c - records calls and runs them again. A graph is a list of pieces of work, in the order of their calls. Where
 * the device has graphs of its own, it makes one of the list; elsewhere each run queues the pieces.
 */
#include "graph.h"

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

struct fl_graph {
    fl_stream *stream;
    core_pool passed;  /* core_graph_pool's */
    core_pool scratch; /* fl_host.scratch of the rows */
    core_piece *first, *last;
    int64_t count;
    double bytes;
    void *captured; /* the device's graph; NULL: it made none */
};

static const fl_device_api *api_of(const fl_graph *graph)
{
    return graph->stream->device->plugin.api;
}

static void *self_of(const fl_graph *graph)
{
    return graph->stream->device->plugin.self;
}

/* -------------------------------------------------------------------------------------------- recording ---- */

static size_t round_up(size_t size)
{
    return (size + CORE_PIECE_ALIGNMENT - 1) / CORE_PIECE_ALIGNMENT * CORE_PIECE_ALIGNMENT;
}

void *core_graph_record(fl_graph *graph, const core_piece *piece, size_t size)
{
    const size_t header = round_up(sizeof *piece);
    core_piece *added = aligned_alloc(CORE_PIECE_ALIGNMENT, header + round_up(size));

    if (!added)
        return NULL;
    *added = *piece;
    added->data = (char *)added + header;
    added->next = NULL;
    *(graph->last ? &graph->last->next : &graph->first) = added;
    graph->last = added;
    graph->count++;
    graph->bytes += piece->bytes;
    return added->data;
}

core_piece *core_graph_last(fl_graph *graph)
{
    return graph->last;
}

void core_graph_cut(fl_graph *graph, core_piece *last)
{
    core_piece **const end = last ? &last->next : &graph->first;

    for (core_piece *p = *end, *next; p; p = next) {
        next = p->next;
        graph->count--;
        graph->bytes -= p->bytes;
        free(p);
    }
    *end = NULL;
    graph->last = last;
}

core_pool *core_graph_pool(fl_graph *graph)
{
    return &graph->passed;
}

fl_status fl_graph_begin(fl_stream *stream)
{
    fl_graph *graph;

    if (!stream)
        return core_fail(FL_E_ARGUMENT, "fl_graph_begin: stream is NULL; a graph needs a stream of its own");
    if (stream->recording)
        return core_fail(FL_E_ARGUMENT, "fl_graph_begin: the stream already records; call fl_graph_end first");
    graph = calloc(1, sizeof *graph);
    if (!graph)
        return core_fail(FL_E_MEMORY, "out of host memory");
    graph->stream = stream;
    core_pool_init(&graph->passed, &stream->device->plugin);
    core_pool_init(&graph->scratch, &stream->device->plugin);
    core_lock_take(&stream->lock);
    stream->recording = graph;
    core_lock_leave(&stream->lock);
    return FL_OK;
}

/* ---------------------------------------------------------------------------------------------- running ---- */

/* Queues all pieces; the caller holds the stream's lock. `traced`: each with its span. */
static fl_status queue_pieces(fl_graph *graph, bool traced)
{
    fl_stream *stream = graph->stream;
    const fl_context context = {&core_host, self_of(graph), stream->handle, &graph->scratch};
    fl_status status = FL_OK;

    for (const core_piece *p = graph->first; p && status == FL_OK; p = p->next) {
        core_span span = {-1, false};
        if (traced)
            span = core_trace_begin(stream, p->kind, p->name, p->detail, p->bytes);
        status = p->queue(p, stream, &context);
        if (traced)
            core_trace_end(stream, span, NULL);
        core_pool_give_back(&graph->scratch, stream->handle); /* the next piece runs after this one */
    }
    return status;
}

/* Lets the device make a graph of the pieces. If one of them fails, the device's graph cannot hold it, or memory is
 * short: then each run queues all pieces, and reports an error that is still there. */
static void capture(fl_graph *graph)
{
    const fl_device_api *api = api_of(graph);
    void *handle = graph->stream->handle;
    char message[1024];
    fl_status status;

    if (!api->graph_begin || !graph->first)
        return;
    snprintf(message, sizeof message, "%s", fl_last_error());
    core_lock_take(&graph->stream->lock);
    status = api->graph_begin(self_of(graph), handle);
    if (status == FL_OK) {
        status = queue_pieces(graph, false);
        if (api->graph_end(self_of(graph), handle, status == FL_OK, &graph->captured) != FL_OK)
            graph->captured = NULL;
    }
    core_lock_leave(&graph->stream->lock);
    if (!graph->captured)
        fl_set_error(FL_OK, message); /* no call of the user's failed */
}

fl_status fl_graph_end(fl_stream *stream, fl_graph **graph)
{
    if (!stream || !graph)
        return core_fail(FL_E_ARGUMENT, "fl_graph_end: %s is NULL", stream ? "graph" : "stream");
    *graph = NULL;
    if (!stream->recording)
        return core_fail(FL_E_ARGUMENT, "fl_graph_end: the stream does not record; call fl_graph_begin first");
    *graph = stream->recording;
    stream->recording = NULL;
    capture(*graph);
    return FL_OK;
}

int64_t fl_graph_launches(const fl_graph *graph)
{
    return !graph ? 0 : graph->captured ? 1 : graph->count;
}

static fl_status run(fl_graph *graph)
{
    fl_stream *stream = graph->stream;
    core_span span;
    fl_status status;

    if (!graph->captured)
        return queue_pieces(graph, true);
    span = core_trace_begin(stream, CORE_SPAN_KERNEL, "graph", NULL, graph->bytes);
    status = api_of(graph)->graph_run(self_of(graph), graph->captured, stream->handle);
    core_trace_end(stream, span, NULL);
    return status;
}

fl_status fl_graph_run(fl_graph *graph)
{
    fl_status status = FL_OK;

    if (!graph)
        return core_fail(FL_E_ARGUMENT, "fl_graph_run: graph is NULL");
    if (graph->stream->recording)
        return core_fail(FL_E_ARGUMENT, "fl_graph_run: the stream records another graph; call fl_graph_end first");
    if (api_of(graph)->prepare_thread)
        status = api_of(graph)->prepare_thread(self_of(graph));
    if (status != FL_OK)
        return status;
    core_lock_take(&graph->stream->lock);
    status = run(graph);
    core_lock_leave(&graph->stream->lock);
    return status;
}

/* ----------------------------------------------------------------------------------------------- ending ---- */

void core_graph_discard(fl_graph *graph)
{
    core_graph_cut(graph, NULL);
    core_pool_end(&graph->passed);
    core_pool_end(&graph->scratch);
    free(graph);
}

void fl_graph_free(fl_graph *graph)
{
    if (!graph)
        return;
    api_of(graph)->release(self_of(graph), NULL); /* waits for its runs */
    if (graph->captured)
        api_of(graph)->graph_free(self_of(graph), graph->captured);
    core_graph_discard(graph);
}
