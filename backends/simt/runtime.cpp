/* SPDX-License-Identifier: MIT
 *
 * runtime.cpp - the emulated GPU's memory, events and properties, on the memory and the clock of the machine.
 */
#include "runtime.hpp"

#include "../shared/processor.h"
#include "kernel.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <unistd.h>

namespace simt
{

__thread simt_place here;

simt_place *begin_here()
{
    here.shared = nullptr; /* grid.cpp's */
    return &here;
}

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

error allocate(void **memory, size_t bytes)
{
    /* What lies behind an array is nobody's, so that a kernel that reads beyond it can be told so. */
    constexpr size_t alignment = 256, gap = 64 << 10;
    *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment + gap);
    return *memory ? error::success : error::out_of_memory;
}

error release(void *memory)
{
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
