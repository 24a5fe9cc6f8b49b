/* SPDX-License-Identifier: MIT
 *
 * runtime.hpp - the run time of the emulated GPU: memory, streams, events, properties. Work is done by the thread that
 * queues it, before the call returns, as on Flynn's CPU backends: a thread that empties streams would take a processor
 * from every backend that is timed after this one was opened. So a stream has no state, and its work is in order.
 */
#ifndef FLYNN_SIMT_RUNTIME_HPP
#define FLYNN_SIMT_RUNTIME_HPP

#include <cstddef>
#include <cstdint>

namespace simt
{

enum class error { success, out_of_memory, no_device, insufficient_driver, too_many_blocks };

const char *error_name(error code);
const char *error_text(error code);

struct stream;
struct event;

/* The limits of a usual GPU, and what the machine has. */
struct properties {
    char name[128];
    int multiProcessorCount, maxThreadsPerMultiProcessor, maxThreadsPerBlock, warpSize;
    int maxThreadsDim[3], maxGridSize[3];
    int pciDomainID, pciBusID, pciDeviceID;
    size_t totalGlobalMem, sharedMemPerBlock;
};

error get_properties(properties *device, int number);

/* Arrays lie so far from each other that an index of 32 bits, of elements of 16 bytes, leads from none into another
 * one: the address of a wrong access shows whose index was wrong. Such a place is an address alone; memory is used for
 * the array. Where the system or a limit has no such addresses, arrays lie where malloc puts them. */
constexpr uint64_t places_begin = UINT64_C(1) << 45, place_bytes = UINT64_C(1) << 37, place_count = 320;
constexpr uint64_t array_distance = place_bytes / 2;

constexpr bool is_in_places(uint64_t address)
{
    return address - places_begin < place_bytes * place_count;
}

/* Aligned as a GPU's memory is, to 256 bytes. */
error allocate(void **memory, size_t bytes);
error release(void *memory);

/* Copies `rows` rows of `width` bytes, whose first bytes are a pitch apart. */
error copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows);

error event_create(event **created);
error event_destroy(event *gone);
error event_record(event *recorded);
error event_elapsed(float *milliseconds, const event *start, const event *stop);

} // namespace simt

#endif
