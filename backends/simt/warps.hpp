/* SPDX-License-Identifier: MIT
 *
 * warps.hpp - the warp functions of a block's threads, whose lanes wait for each other.
 *
 * A call with a mask is done when each lane of the mask has made it. Lanes that have ended need not, as CUDA has it,
 * and those of a block's last warp that do not exist. One without a mask (__shfl, __activemask) is for the lanes that
 * reach the place together: it waits until no lane of the warp can run, and where several places have lanes, the first
 * one in the code goes on, as in a GPU that runs the lanes of a warp in step. Where a lane of a mask can never come,
 * because it waits elsewhere, the detector is told, and the others go on.
 */
#ifndef FLYNN_SIMT_WARPS_HPP
#define FLYNN_SIMT_WARPS_HPP

#include "grid.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt
{

struct watched_block;

enum class thread_state : uint8_t { fresh, ready, at_barrier, in_warp, done };

class warps
{
  public:
    /* `threads`: the state of each thread of a block. */
    explicit warps(std::vector<thread_state> &threads) : state(threads)
    {
    }
    /* `detector` may be nullptr. */
    void begin_launch(int warp_lanes, simt::detector *detector, simt::watched_block *block);
    void begin_block()
    {
        open.clear();
    }
    /* A thread that runs calls a warp function. Returns whether it goes on: the call is done. Else the thread waits. */
    bool arrive(int thread, simt_warp_call *call);
    /* The thread has ended, or waits at a barrier. */
    void stop(int thread)
    {
        if (!open.empty())
            settle(thread / lanes);
    }

    /* Lets lanes go on that wait for others of their warp in a call without a mask; those may be waiting for them. */
    void hurry();

  private:
    /* A call for which lanes wait. */
    struct meeting {
        int warp;
        uint64_t arrived; /* lanes, bit by bit */
        const simt_warp_call *first;
    };

    size_t find(int warp, const simt_warp_call *call) const;
    uint64_t lanes_of(int warp) const;
    uint64_t ended(int warp) const;
    bool can_run(int warp) const;
    void settle(int warp);
    void complete(size_t number);
    void compute(int warp, uint64_t members);
    void report_missing(const meeting &m) const;

    std::vector<thread_state> &state;
    std::vector<simt_warp_call *> calls{}; /* each thread's */
    std::vector<meeting> open{};
    int lanes = 32;
    simt::detector *watching = nullptr;
    simt::watched_block *watched = nullptr;
};

} // namespace simt

#endif
