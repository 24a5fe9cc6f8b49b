/* SPDX-License-Identifier: MIT
 *
 * grid.hpp - what a launch runs: a kernel, its arguments, the number of its blocks and threads, and who looks at it.
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

} // namespace simt

#endif
