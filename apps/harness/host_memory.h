/* SPDX-License-Identifier: MIT
 *
 * host_memory.h - host memory for copies from and to a device: pinned, or ordinary memory (--pageable).
 */
#ifndef FLYNN_APPS_HARNESS_HOST_MEMORY_H
#define FLYNN_APPS_HARNESS_HOST_MEMORY_H

#include <flynn/flynn.h>

/* `bytes` may be 0. Ends the command if memory runs out. */
void *host_memory_create(fl_device *device, bool pinned, size_t bytes);

/* Frees memory that was created with the same `device` and `pinned`. */
void host_memory_free(fl_device *device, bool pinned, void *memory);

#endif
