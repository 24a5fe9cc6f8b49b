/* SPDX-License-Identifier: MIT */
#include "host_memory.h"

#include "memory.h"

#include <stdlib.h>

fl_status host_memory_create(fl_device *device, bool pinned, size_t bytes, void **memory)
{
    if (pinned)
        return fl_host_alloc(device, bytes ? bytes : 1, memory);
    *memory = memory_regrown(NULL, 1, bytes);
    return FL_OK;
}

void host_memory_free(fl_device *device, bool pinned, void *memory)
{
    if (pinned)
        fl_host_free(device, memory);
    else
        free(memory);
}
