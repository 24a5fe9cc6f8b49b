/* SPDX-License-Identifier: MIT
 *
 * flush.c - empties the last-level cache: a walk over memory that is larger replaces what the cache holds.
 */
#include "inner.h"

#include <stdlib.h>
#include <unistd.h>

enum { LINE = 64 }; /* bytes of a line of the cache, or a part of them */

/* Twice the size that the system reports, and at least 64 MiB, since a virtual machine may report none. A GPU's L2 is
 * not reported: the largest one in 2025 has 256 MiB. */
static size_t bytes_for(const fl_device_info *info)
{
    const int64_t least = (int64_t)64 << 20, most = (int64_t)1 << 30, eighth = info->memory_bytes / 8;
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    int64_t bytes;

    if (!info->host_memory && !info->emulation)
        return (size_t)(eighth < most / 2 ? eighth : most / 2);
    bytes = cache > 0 ? 2 * (int64_t)cache : 0;
    return (size_t)(bytes < least ? least : bytes > most ? most : bytes);
}

fl_status bench_flush_create(bench_flush *flush, fl_device *device, const fl_device_info *info)
{
    int64_t count;

    flush->bytes = bytes_for(info);
    if (device && !info->emulation) {
        count = (int64_t)flush->bytes / 4;
        BENCH_TRY(fl_array_create(device, FL_I32, 1, &count, &flush->array));
    } else { /* an emulation's memory is the host's, and its own kernels are slow */
        flush->memory = calloc(flush->bytes, 1);
        if (!flush->memory)
            return bench_fail(FL_E_MEMORY, "fl_bench_run: out of host memory: %zu bytes to empty the cache with",
                              flush->bytes);
    }
    return bench_flush_now(flush, device, NULL); /* its pages exist from here on */
}

fl_status bench_flush_now(bench_flush *flush, fl_device *device, fl_stream *stream)
{
    if (flush->array) {
        BENCH_TRY(fl_increment(device, flush->array, flush->array, &(fl_run){.stream = stream}));
        return stream ? fl_stream_wait(stream) : fl_device_wait(device);
    }
    for (volatile unsigned char *at = flush->memory; at < flush->memory + flush->bytes; at += LINE)
        (*at)++;
    return FL_OK;
}

void bench_flush_free(bench_flush *flush)
{
    fl_array_free(flush->array);
    free(flush->memory);
    *flush = (bench_flush){0};
}
