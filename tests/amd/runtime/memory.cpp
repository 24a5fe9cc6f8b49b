/* SPDX-License-Identifier: MIT
 *
 * memory.cpp - allocations and copies. An allocation is poisoned, and has guard bytes on both sides, which are looked
 * at when it is freed: copies and kernels are checked by themselves, so that guard bytes find what host code
 * overwrites.
 */
#include "checks/memory_map.h"
#include "checks/poison.h"
#include "runtime.h"
#include "settings.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace
{
enum where { DEVICE, PINNED };
enum { ALIGNMENT = 256, GUARD_BYTES = 256 };

struct allocation {
    size_t size;
    where place;

    size_t with_guards() const
    {
        return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + 2 * GUARD_BYTES;
    }
};

std::map<uint8_t *, allocation> &allocations = *new std::map<uint8_t *, allocation>;
size_t allocated;

hipError_t allocate(void **memory, size_t size, where place)
{
    turn mine;
    if (fails_now(place == DEVICE ? "hipMalloc" : "hipHostMalloc"))
        return result(hipErrorOutOfMemory);
    if (!memory)
        return result(hipErrorInvalidValue);
    *memory = nullptr;
    if (size == 0)
        return result(hipSuccess);
    const allocation a = {size, place};
    if (size > settings().memory - allocated)
        return result(hipErrorOutOfMemory);
    auto *whole = (uint8_t *)aligned_alloc(ALIGNMENT, a.with_guards());
    if (!whole)
        return result(hipErrorOutOfMemory);
    memset(whole, GUARD_BYTE, a.with_guards());
    memset(whole + GUARD_BYTES, POISON_MEMORY, size);
    allocations[whole + GUARD_BYTES] = a;
    allocated += size;
    memory_map.add(whole + GUARD_BYTES, size);
    *memory = whole + GUARD_BYTES;
    return result(hipSuccess);
}

void check_guards(const uint8_t *memory, const allocation &a)
{
    const uint8_t *whole = memory - GUARD_BYTES;
    for (size_t k = 0; k < a.with_guards(); k++)
        if ((k < GUARD_BYTES || k >= GUARD_BYTES + a.size) && whole[k] != GUARD_BYTE)
            mistake("byte %lld of an allocation of %zu was written", (long long)k - GUARD_BYTES, a.size);
}

hipError_t release(void *memory, where place)
{
    turn mine;
    if (!memory)
        return result(hipSuccess);
    drain_all();
    const auto found = allocations.find((uint8_t *)memory);
    if (found == allocations.end() || found->second.place != place)
        mistake("%p is freed as %s memory, but was not allocated so", memory, place == DEVICE ? "device" : "pinned");
    const allocation a = found->second;
    check_guards(found->first, a);
    allocated -= a.size;
    allocations.erase(found);
    memory_map.remove(memory);
    memset((uint8_t *)memory - GUARD_BYTES, POISON_FREED, a.with_guards());
    free((uint8_t *)memory - GUARD_BYTES);
    return result(hipSuccess);
}

/* The allocation in which this byte lies, or the end of the list. */
std::map<uint8_t *, allocation>::iterator allocation_around(const void *memory)
{
    auto a = allocations.upper_bound((uint8_t *)memory);
    if (a == allocations.begin())
        return allocations.end();
    --a;
    return (const uint8_t *)memory < a->first + a->second.size ? a : allocations.end();
}

/* Host memory that the runtime did not allocate: copies from and to it return only when they are done. */
bool is_pageable(const void *memory)
{
    return allocation_around(memory) == allocations.end();
}

bool is_device(const void *memory, size_t size)
{
    return size == 0 || memory_map.contains((uint64_t)memory, size);
}
} // namespace

HIP_API hipError_t hipMalloc(void **memory, size_t size)
{
    return allocate(memory, size, DEVICE);
}

HIP_API hipError_t hipFree(void *memory)
{
    return release(memory, DEVICE);
}

HIP_API hipError_t hipHostMalloc(void **memory, size_t size, unsigned)
{
    return allocate(memory, size, PINNED);
}

HIP_API hipError_t hipHostFree(void *memory)
{
    return release(memory, PINNED);
}

HIP_API hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *size, hipDeviceptr_t address)
{
    turn mine;
    const auto a = allocation_around(address);
    if (a == allocations.end() || a->second.place != DEVICE)
        return result(hipErrorInvalidValue);
    *base = a->first;
    *size = a->second.size;
    return result(hipSuccess);
}

HIP_API hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    *total = settings().memory;
    *free_bytes = settings().memory - allocated;
    return result(hipSuccess);
}

HIP_API hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                    size_t height, hipMemcpyKind kind, hipStream_t stream)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    if (height > 1 && (width > to_pitch || width > from_pitch))
        return result(hipErrorInvalidPitchValue);
    const size_t rows_before = height ? height - 1 : 0, last_row = height ? width : 0;
    const bool to_host = kind == hipMemcpyDeviceToHost, from_host = kind == hipMemcpyHostToDevice;
    if (!to_host && !is_device(to, rows_before * to_pitch + last_row))
        return result(hipErrorInvalidValue);
    if (!from_host && !is_device(from, rows_before * from_pitch + last_row))
        return result(hipErrorInvalidValue);
    const bool now = (from_host && is_pageable(from)) || (to_host && is_pageable(to));
    const auto copy = [=] {
        for (size_t row = 0; row < height; row++)
            memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
        return hipSuccess;
    };
    return result(enqueue(stream, copy, now));
}

HIP_API hipError_t hipMemcpyAsync(void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t stream)
{
    return hipMemcpy2DAsync(to, size, from, size, size, 1, kind, stream);
}

HIP_API hipError_t hipMemsetAsync(void *to, int byte, size_t size, hipStream_t stream)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    if (!is_device(to, size))
        return result(hipErrorInvalidValue);
    return result(enqueue(stream, [=] {
        memset(to, byte, size);
        return hipSuccess;
    }));
}
