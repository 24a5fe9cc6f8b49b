/* SPDX-License-Identifier: MIT
 *
 * highway.h - VQSort of the library Highway (github.com/google/highway, Apache-2.0 or BSD-3-Clause), where it is there:
 * it sorts with the widest vectors that the processor has, whatever the plugin was compiled for.
 */
#ifndef FLYNN_CPU_HIGHWAY_H
#define FLYNN_CPU_HIGHWAY_H

#include <flynn/flynn.h>

#include <stdbool.h>

/* cpu_operation.found and fl_row.available of the variant vqsort. */
bool cpu_highway_found(char *why, size_t size);
fl_status cpu_highway_ready(void *device, char *why, size_t size);

/* Sorts in place, on the calling thread; only after cpu_highway_ready. */
void cpu_highway_sort_32(int32_t *keys, int64_t n);
void cpu_highway_sort_64(int64_t *keys, int64_t n);

#endif
