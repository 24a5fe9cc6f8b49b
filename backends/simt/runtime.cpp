/* SPDX-License-Identifier: MIT
 *
 * runtime.cpp - the emulated GPU's memory, events and properties, on the memory and the clock of the machine.
 */
#include "runtime.hpp"

#include "../shared/processor.h"
#include "grid.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace simt
{

struct event {
    std::chrono::steady_clock::time_point time;
};

const char *error_name(error code)
{
    constexpr const char *names[] = {"success", "out_of_memory", "no_device", "insufficient_driver", "too_many_blocks"};
    return names[(int)code];
}

const char *error_text(error code)
{
    constexpr const char *texts[] = {"no error", "out of memory", "no device", "the driver is too old",
                                     "too many blocks"};
    return texts[(int)code];
}

error get_properties(properties *device, int number)
{
    constexpr int most_block[3] = {most_threads, most_threads, 64}, most_grid[3] = {INT32_MAX, 65535, 65535};
    if (number != 0)
        return error::no_device;
    *device = {};
    processor_name(device->name, sizeof device->name);
    device->multiProcessorCount = (int)std::max(std::thread::hardware_concurrency(), 1u);
    device->maxThreadsPerMultiProcessor = most_threads;
    device->maxThreadsPerBlock = most_threads;
    device->warpSize = 32;
    std::copy_n(most_block, 3, device->maxThreadsDim);
    std::copy_n(most_grid, 3, device->maxGridSize);
    device->totalGlobalMem = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    device->sharedMemPerBlock = most_shared;
    return error::success;
}

namespace
{

/* What lies around an array is nobody's, so that a kernel that accesses it can be told so, and does no harm. */
constexpr size_t alignment = 256, gap = 64 << 10;

/* Where arrays lie, each at the beginning of a place. */
class places
{
  public:
    /* Returns the memory of an array between its gaps; nullptr: no place is free, or the system has no memory there. */
    void *take(size_t bytes)
    {
        const uint64_t all = bytes + 2 * gap, needed = (all + array_distance - 1) / place_bytes + 1;
        const std::lock_guard<std::mutex> guard(lock);
        for (uint64_t i = 0, run = 0; i < place_count && needed <= place_count; i++) {
            run = sizes[i] == 0 ? run + 1 : 0;
            if (run == needed)
                return map(i + 1 - needed, needed, (size_t)all);
        }
        return nullptr;
    }
    void give(void *memory)
    {
        const std::lock_guard<std::mutex> guard(lock);
        uint64_t i = (reinterpret_cast<uintptr_t>(memory) - places_begin) / place_bytes;
        munmap(static_cast<char *>(memory) - gap, sizes[i]);
        for (sizes[i++] = 0; i < place_count && sizes[i] == continued; i++)
            sizes[i] = 0;
    }

  private:
    static constexpr size_t continued = 1; /* the array of the place before */
    std::mutex lock{};
    std::array<size_t, place_count> sizes{}; /* bytes that are mapped; 0: none */

    void *map(uint64_t first, uint64_t count, size_t bytes)
    {
        void *const wanted =
            reinterpret_cast<void *>(places_begin + first * place_bytes); // NOLINT(performance-no-int-to-ptr)
        void *const mapped =
            mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (mapped != wanted) { /* such addresses do not exist, or others have them */
            if (mapped != MAP_FAILED)
                munmap(mapped, bytes);
            return nullptr;
        }
        std::fill_n(sizes.begin() + (std::ptrdiff_t)first, count, continued);
        sizes[first] = bytes;
        return static_cast<char *>(mapped) + gap;
    }
};

places &arrays()
{
    static places all;
    return all;
}

} // namespace

error allocate(void **memory, size_t bytes)
{
    *memory = nullptr;
    if (bytes > SIZE_MAX / 2) /* with its gaps it would be less */
        return error::out_of_memory;
#if !defined(__SANITIZE_ADDRESS__) /* which knows the bounds of malloc's memory alone */
    *memory = arrays().take(bytes);
    if (*memory)
        return error::success;
#endif
    *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment + gap);
    return *memory ? error::success : error::out_of_memory;
}

error release(void *memory)
{
    if (is_in_places(reinterpret_cast<uintptr_t>(memory)))
        arrays().give(memory);
    else
        std::free(memory);
    return error::success;
}

error copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        std::memcpy(static_cast<char *>(to) + i * to_pitch, static_cast<const char *>(from) + i * from_pitch, width);
    return error::success;
}

error event_create(event **created)
{
    *created = new (std::nothrow) event{};
    return *created ? error::success : error::out_of_memory;
}

error event_destroy(event *gone)
{
    delete gone;
    return error::success;
}

error event_record(event *recorded)
{
    recorded->time = std::chrono::steady_clock::now();
    return error::success;
}

error event_elapsed(float *milliseconds, const event *start, const event *stop)
{
    *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return error::success;
}

} // namespace simt
