/* SPDX-License-Identifier: MIT
 * What was done when: spans of the host's threads and of the streams, recorded between fl_trace_start and
 * fl_trace_stop, and ranges for a vendor's profiler. Costs an atomic load where nothing is recorded. */
#ifndef FLYNN_CORE_TRACE_H
#define FLYNN_CORE_TRACE_H

#include "stream.h"

typedef enum core_span_kind { CORE_SPAN_HOST, CORE_SPAN_KERNEL, CORE_SPAN_TO_DEVICE, CORE_SPAN_TO_HOST } core_span_kind;

/* Work that is being queued: what ends it. */
typedef struct core_span {
    int64_t index; /* of the record; -1: none */
    bool ranged;   /* a profiler's range is open */
} core_span;

/* Begins a span of the calling thread and, for all kinds but CORE_SPAN_HOST, one of the stream, which is locked. The
 * name is "<name> <detail>"; detail may be NULL. For CORE_SPAN_HOST the stream may be NULL. */
core_span core_trace_begin(fl_stream *stream, core_span_kind kind, const char *name, const char *detail, double bytes);
/* `detail` replaces the one it began with, where that is known only now; NULL: it stays. */
void core_trace_end(fl_stream *stream, core_span span, const char *detail);

#endif
