/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "processors.h"
#include "memory.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

int processors_count(void)
{
    for (int most = 1024; most <= 1 << 20; most *= 2) {
        size_t bytes = CPU_ALLOC_SIZE(most);
        cpu_set_t *set = memory_zeroed(1, bytes);
        int error = sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
        int count = error == 0 ? CPU_COUNT_S(bytes, set) : 0;
        free(set);
        if (error == 0)
            return count;
        if (error != EINVAL) /* EINVAL: the kernel's set is larger */
            break;
    }
    return 0;
}
