/* SPDX-License-Identifier: MIT */
#include "memory_map.h"

/* Never destroyed: programs free memory in their own destructors. */
known_memory &memory_map = *new known_memory;

void known_memory::add(const void *memory, size_t size)
{
    regions[(uint64_t)memory] = size;
}

void known_memory::remove(const void *memory)
{
    regions.erase((uint64_t)memory);
    forget();
}

void known_memory::forget()
{
    for (range &r : recent)
        r = {};
}

bool known_memory::find(uint64_t address, size_t size)
{
    auto region = regions.upper_bound(address);
    if (region == regions.begin())
        return false;
    --region;
    const uint64_t end = region->first + region->second;
    if (address + size > end)
        return false;
    recent[oldest++ % 4] = {region->first, end};
    return true;
}
