/* SPDX-License-Identifier: MIT
 *
 * engines.h - the engines of a device: how fast its link copies, and when each engine worked during a pass.
 */
#pragma once

#include <flynn/flynn.h>

enum { ENGINE_H2D, ENGINE_KERNEL, ENGINE_D2H, ENGINES };

/* The rates of pinned memory, each direction by itself; NaN for a CPU, an emulation, and a device that has no room for
 * copies. */
typedef struct link_rates {
    double h2d_bytes_per_s, d2h_bytes_per_s;
} link_rates;

/* The best of some copies. */
link_rates link_measure(fl_device *device);

/* An engine starts (step 1) or ends (-1) a chunk, in seconds since the pass started. */
typedef struct engine_edge {
    double at;
    int step;
} engine_edge;

/* The times of one pass. */
typedef struct engine_times {
    fl_event *began;
    bool only_kernels; /* on a CPU nothing is copied */
    double last_end[ENGINES];
    engine_edge *edges; /* of the first chunks of all engines */
    int edge_count;
} engine_times;

engine_times engine_times_create(fl_device *device);
void engine_times_free(engine_times *t);

/* Starts a pass at the stream's next task. */
void engine_times_begin(engine_times *t, fl_stream *stream);

/* Adds a chunk to `busy_s`. The events were recorded before the first engine's part, and after the part of each. */
fl_status engine_times_add(engine_times *t, fl_event *const events[ENGINES + 1], double busy_s[ENGINES]);

/* Adds the time in which exactly i engines worked to together_s[i]. */
void engine_times_together(engine_times *t, double together_s[ENGINES + 1]);
