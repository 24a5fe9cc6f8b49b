/* SPDX-License-Identifier: MIT
 *
 * run.hpp - runs the blocks of a kernel on the processor's threads.
 *
 * A thread of the processor runs one block after the other. The threads of the block are fibers: one runs until it
 * ends, reaches a barrier or, in a kernel of the user's, has made some memory accesses or atomics; then the next one
 * runs. A kernel without barriers needs one fiber, which runs all threads of the block one after the other.
 *
 * Threads may wait for each other by atomics, also for threads of other blocks: where none of the blocks that run
 * advances, more of them start, as all blocks run at the same time that a GPU has room for.
 */
#ifndef FLYNN_SIMT_RUN_HPP
#define FLYNN_SIMT_RUN_HPP

#include "grid.hpp"

namespace simt
{

enum class outcome { done, out_of_memory, ended };

/* Runs all blocks, and returns when they have ended. `ended`: what a thread called to end the program; nullptr: the
 * detector ended the launch at an access that would fault. */
outcome run(const grid &grid, const char **ended);

} // namespace simt

#endif
