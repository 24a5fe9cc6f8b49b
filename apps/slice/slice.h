/* SPDX-License-Identifier: MIT
 *
 * slice.h - the ways from a large array on a device to a slice of it on the host: measured, and shown.
 */
#pragma once

#include "run/backends.h"
#include "support/host_array.h"
#include "view/columns.h"

#include <jansson.h>

/* whole: copy the whole array and slice it on the host; view: slice on the device, which copies nothing, and copy the
 * view, row by row if its rows lie apart; packed: gather the view's rows on the device and copy one block. */
typedef enum slice_choice { SLICE_WHOLE, SLICE_VIEW, SLICE_PACKED, SLICE_CHOICES } slice_choice;

/* A part of an array: shape[d] elements from start[d]. */
typedef struct slice_part {
    const char *kind; /* "rows", "columns", "block"; "slice" for --slice */
    int64_t start[FL_MAX_DIMS], shape[FL_MAX_DIMS];
} slice_part;

/* An array on a device, with the host memory to copy it to. */
typedef struct slice_session slice_session;

/* Copies `array` to the device. Ends the command if anything fails, like the other functions here. */
slice_session *slice_session_open(const open_backend *backend, const host_array *array, const common_options *common);

/* Returns whether the device can pack this dtype. It has the other ways in any case. */
bool slice_can_pack(const slice_session *session);

/* Times one way, checks every byte of the slice, and returns the JSON row. */
json_t *slice_measure(slice_session *session, const slice_part *part, slice_choice choice);

/* The slice that was measured last, in the session's memory. */
host_array slice_result(const slice_session *session);

void slice_session_close(slice_session *session);

/* Adds `place` and `speed_up_over_whole` to the ways of one slice on one device: the rows from `first` on. */
void slice_rank(json_t *rows, size_t first);

/* Adds to `lines` what `slices` slices on one device show, each in `choices` ways: the rows from `first` on. */
void slice_explain(const json_t *rows, size_t first, int slices, int choices, json_t *lines);

extern const column slice_columns[];

/* Shows rows and lines, both of which it frees, as the options ask. */
void slice_show(json_t *rows, json_t *lines, const host_array *array, const backend_list *backends,
                const common_options *common);
