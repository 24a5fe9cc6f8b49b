/* SPDX-License-Identifier: MIT
 * Graphs: what was queued in a stream between fl_graph_begin and fl_graph_end, in place of being done. */
#ifndef FLYNN_CORE_GRAPH_H
#define FLYNN_CORE_GRAPH_H

#include "trace.h"

enum { CORE_PIECE_ALIGNMENT = 64 }; /* of a piece's data: of a struct that a kernel takes by value */

/* A row or a copy in a graph. */
typedef struct core_piece {
    core_span_kind kind; /* of its span in a trace */
    const char *name, *detail;
    double bytes;
    fl_status (*queue)(const struct core_piece *piece, fl_stream *stream, const fl_context *context);
    void *data;
    struct core_piece *next;
} core_piece;

/* Adds a copy of the piece with `size` bytes of data, which the caller fills, and returns those; NULL: out of memory.
 */
void *core_graph_record(fl_graph *graph, const core_piece *piece, size_t size);

/* The graph's last piece; NULL: it has none. */
core_piece *core_graph_last(fl_graph *graph);

/* Takes the pieces after `last` out again: of a call that failed. */
void core_graph_cut(fl_graph *graph, core_piece *last);

/* The memory that recorded calls hand to each other, such as converted inputs. */
core_pool *core_graph_pool(fl_graph *graph);

/* fl_graph_free for a graph that a stream still records. */
void core_graph_discard(fl_graph *graph);

#endif
