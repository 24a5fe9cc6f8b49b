/* SPDX-License-Identifier: MIT */
#include "highway.h"

#include "../shared/library.h"

#include <stdio.h>

#define FILES "libhwy_contrib.so.1"

/* hwy::Sorter, a class of one pointer (hwy/contrib/sort/vqsort.h, versions 1.0 to 1.2): its constructor, and its
 * operators for signed integers and SortAscending, an empty class, which C++ passes by nothing. Their names are those
 * of C++ on all of Linux, where int64_t is long. The sorts of floating-point numbers are not used: 1.0.3 drops NaN,
 * and all of them lose the bits of NaN. On x86 the memory that the constructor allocates is not used either, so that
 * threads share one. */
static struct {
    void *sorter;
    void (*create)(void **sorter);
    void (*sort_32)(void *const *sorter, int32_t *keys, size_t n);
    void (*sort_64)(void *const *sorter, int64_t *keys, size_t n);
} highway;

static bool load(char *why, size_t size)
{
    void *library = library_load(FILES, why, size);

    if (!library || !library_function(library, "_ZN3hwy6SorterC1Ev", &highway.create, sizeof highway.create) ||
        !library_function(library, "_ZNK3hwy6SorterclEPimNS_13SortAscendingE", &highway.sort_32,
                          sizeof highway.sort_32) ||
        !library_function(library, "_ZNK3hwy6SorterclEPlmNS_13SortAscendingE", &highway.sort_64,
                          sizeof highway.sort_64))
        return false;
    highway.create(&highway.sorter);
    return true;
}

static void missing(const char *cause, char *why, size_t size)
{
    snprintf(why, size,
             "Highway cannot be loaded (%.110s), which sort's variant vqsort uses; install libhwy1 (Debian, Ubuntu)",
             cause);
}

bool cpu_highway_found(char *why, size_t size)
{
    if (library_find(FILES))
        return true;
    missing(FILES " not found", why, size);
    return false;
}

fl_status cpu_highway_ready(void *device, char *why, size_t size)
{
    static library_state state = LIBRARY_STATE;
    char cause[256] = "";
    fl_status status;

    (void)device;
    status = library_once(&state, load, cause, sizeof cause);
    if (status != FL_OK)
        missing(*cause ? cause : FILES " lacks hwy::Sorter", why, size);
    return status;
}

void cpu_highway_sort_32(int32_t *keys, int64_t n)
{
    highway.sort_32(&highway.sorter, keys, (size_t)n);
}

void cpu_highway_sort_64(int64_t *keys, int64_t n)
{
    highway.sort_64(&highway.sorter, keys, (size_t)n);
}
