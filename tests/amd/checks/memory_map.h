/* SPDX-License-Identifier: MIT
 *
 * memory_map.h - the memory that a GPU may access: allocations, registered host memory, code objects. An access to
 * anything else is an error, also to what lies between two allocations.
 */
#ifndef FLYNN_AMD_MEMORY_MAP_H
#define FLYNN_AMD_MEMORY_MAP_H

#include <cstddef>
#include <cstdint>
#include <map>

class known_memory
{
  public:
    void add(const void *memory, size_t size);
    void remove(const void *memory);

    /* Whether these bytes lie in one region. Most accesses are near the last ones. */
    bool contains(uint64_t address, size_t size)
    {
        for (const range &r : recent)
            if (address >= r.first && address + size <= r.end)
                return true;
        return find(address, size);
    }

  private:
    struct range {
        uint64_t first = 0, end = 0;
    };

    bool find(uint64_t address, size_t size);
    void forget();

    std::map<uint64_t, size_t> regions;
    range recent[4];
    unsigned oldest = 0;
};

extern known_memory &memory_map;

#endif
