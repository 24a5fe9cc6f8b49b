/* SPDX-License-Identifier: MIT
 * The trace: spans of host threads and of streams, recorded between fl_trace_start and fl_trace_stop, and ranges for
 * the vendor's profiler. Costs one atomic load per call while nothing is recorded. */
#ifndef FLYNN_CORE_TRACE_H
#define FLYNN_CORE_TRACE_H

#include "device.h"

typedef enum core_span_kind {
    CORE_SPAN_HOST,
    CORE_SPAN_KERNEL,
    CORE_SPAN_TO_DEVICE,
    CORE_SPAN_TO_HOST,
    CORE_SPAN_LINK
} core_span_kind;

/* A span that was started; core_trace_end takes it. */
typedef struct core_span {
    int64_t index; /* of the record; -1: none */
    bool ranged;   /* a profiler's range is open */
} core_span;

/* Seconds of a monotonic clock. */
double core_now(void);

/* Starts a span of the calling thread and, for all kinds but CORE_SPAN_HOST, one of the stream, which is locked. The
 * span is named "<name> <detail>"; detail may be NULL. For CORE_SPAN_HOST the stream may be NULL. */
core_span core_trace_begin(fl_stream *stream, core_span_kind kind, const char *name, const char *detail, double bytes);
/* A `detail` that is not NULL replaces the one given to core_trace_begin. */
void core_trace_end(fl_stream *stream, core_span span, const char *detail);

#endif
