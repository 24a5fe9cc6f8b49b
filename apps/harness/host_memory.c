/* SPDX-License-Identifier: MIT */
#include "host_memory.h"

#include "support/fail.h"

#include <stdlib.h>

void *host_memory_create(fl_device *device, bool pinned, size_t bytes)
{
    void *memory = NULL;

    if (pinned)
        must(fl_host_alloc(device, bytes ? bytes : 1, &memory));
    else if (!(memory = malloc(bytes ? bytes : 1)))
        fail(EXIT_BROKEN, "out of host memory for %zu bytes", bytes);
    return memory;
}

void host_memory_free(fl_device *device, bool pinned, void *memory)
{
    if (pinned)
        fl_host_free(device, memory);
    else
        free(memory);
}
