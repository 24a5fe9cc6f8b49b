/* SPDX-License-Identifier: MIT
 *
 * grid.hpp - runs the blocks of a kernel on the processor's threads.
 *
 * A thread of the processor runs one block after the other. The threads of the block are fibers: one runs until it
 * ends, reaches a barrier or, in a kernel of the user's, has made some memory accesses or atomics; then the next one
 * runs. A kernel without barriers needs one fiber, which runs all threads of the block one after the other.
 *
 * Threads may wait for each other by atomics, also for threads of other blocks: where none of the blocks that run
 * advances, more of them start, as all blocks run at the same time that a GPU has room for.
 */
#ifndef FLYNN_SIMT_GRID_HPP
#define FLYNN_SIMT_GRID_HPP

#include "thread_place.h"

#include <cstddef>
#include <cstdint>

namespace simt
{

constexpr size_t most_shared = 64 << 10; /* bytes of a block's dynamic shared memory */
constexpr uint32_t most_threads = 1024;  /* of a block */

class detector;

struct grid {
    void (*kernel)(void **arguments);
    void **arguments;
    uint32_t blocks[3], threads[3];
    size_t shared;          /* bytes of dynamic shared memory */
    simt_place *(*begin)(); /* the calling thread's place, whose `shared` has most_shared bytes */
    /* A kernel of the user's: the order of the threads, and the accesses at which they are switched, differ from launch
     * to launch, so that a race in the kernel changes its results. */
    bool watched;
    uint64_t launch; /* the number of the launch, if watched */
    /* Looks at each access of a launch that is `watched`, and lets one block run after the other; nullptr: nobody. */
    simt::detector *detector;
    int lanes = 32; /* threads of a warp, at most 64 */
};

enum class outcome { done, out_of_memory, ended };

/* Runs all blocks, and returns when they have ended. `ended`: what a thread called to end the program; nullptr: the
 * detector ended the launch at an access that would fault. */
outcome run(const grid &grid, const char **ended);

} // namespace simt

#endif
