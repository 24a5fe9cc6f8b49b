/* SPDX-License-Identifier: MIT
 *
 * host_memory.h - host memory for copies from and to a device: pinned, or ordinary memory (--pageable).
 */
#pragma once

#include <flynn/flynn.h>

/* `bytes` may be 0. The status is that of pinned memory, of which a device may have too little; the command ends where
 * ordinary memory runs out. */
fl_status host_memory_create(fl_device *device, bool pinned, size_t bytes, void **memory);

/* Frees memory that was created with the same `device` and `pinned`. */
void host_memory_free(fl_device *device, bool pinned, void *memory);
