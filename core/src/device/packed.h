/* SPDX-License-Identifier: MIT
 * Arrays with gaps between their rows, for operations whose rows take packed ones. */
#ifndef FLYNN_CORE_PACKED_H
#define FLYNN_CORE_PACKED_H

#include "dispatch.h"

/* A buffer with gaps becomes a packed copy in scratch memory, whose copying is queued. */
fl_status core_call_pack(core_call *call, fl_buffer *buffer);

/* A buffer with gaps, an output, becomes packed scratch memory. */
fl_status core_call_room(core_call *call, fl_buffer *buffer);

/* Queues the copy of that to the output. */
fl_status core_call_unpack(core_call *call, const fl_buffer *packed, const fl_array *out);

#endif
