/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include "support/memory.h"

void samples_add(samples *list, double seconds)
{
    list->s = memory_regrown(list->s, (size_t)(list->count + 1), sizeof *list->s);
    list->s[list->count++] = seconds;
}
