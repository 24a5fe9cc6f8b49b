/* SPDX-License-Identifier: MIT
 *
 * runner.hpp - what a thread of the processor does at a launch: it runs one block after the other, and the threads of
 * each by turns.
 */
#ifndef FLYNN_SIMT_RUNNER_HPP
#define FLYNN_SIMT_RUNNER_HPP

#include "detector.hpp"
#include "fiber.hpp"
#include "grid.hpp"
#include "pool.hpp"
#include "warps.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt
{

constexpr size_t stack_bytes = 128 << 10, shared_alignment = 64;

constexpr int nowhere = -2; /* no thread of a block, nor the one before the first */

/* The monotonic clock's time. */
int64_t nanoseconds_now();

/* One call of run(), which several threads of the processor work at. */
struct launch final : task {
    const simt::grid &grid;
    const uint64_t blocks;
    const int threads; /* of a block */
    const int processors;
    std::atomic<uint64_t> next{0}; /* block to run */
    std::atomic<int> yields;       /* how often a block may still let others run: see let_others_run */
    std::atomic<unsigned> runners{1};
    std::atomic<bool> out_of_memory{false};
    std::atomic<const char *> ended{nullptr}; /* what a thread called to end the program; the launch is over */
    std::atomic<bool> faulted{false};         /* so is it where the detector ended it */
    std::atomic<int64_t> moved;               /* when a thread last ended or reached a barrier, in nanoseconds */
    std::atomic<const void *> site{nullptr};  /* an atomic, where threads leave since none advanced: see may_leave */
    std::atomic<int64_t> chosen{0};           /* when it was, in nanoseconds */

    launch(const simt::grid &started, int available);
    void help() override;
    void add_runners(unsigned count);
    bool is_over() const
    {
        return out_of_memory || ended || faulted;
    }
};

/* What a thread of the processor needs to run blocks. */
struct runner {
    simt::fibers fibers{stack_bytes, true};
    simt::launch *launch = nullptr;
    simt_place *place = nullptr;
    void *main = nullptr; /* where the processor thread's own stack continues */
    uint64_t random = 0;
    unsigned rounds = 0;               /* rounds in which no thread ended or reached a barrier */
    int64_t yielded = 0;               /* when the processor was last left to other threads meanwhile, in nanoseconds */
    std::vector<int> fiber_of{};       /* each thread's */
    std::vector<thread_state> state{}; /* each thread's */
    std::vector<unsigned char> shared{}; /* the block's dynamic shared memory, if the place brings none */
    int thread = nowhere;                /* that runs */
    int at = 0;                          /* place in the round */
    int done = 0;                        /* threads */
    bool backwards = false, ran = false, has_moved = false;
    simt::warps warps{state};
    watched_block watched{};         /* the detector's */
    std::vector<uint32_t> waiting{}; /* threads that wait at a barrier, for the detector */
    int left = 0;                    /* accesses until the thread leaves, if the detector looks at them */
    int late = 0;                    /* accesses since then that were not the launch's site */
    const void *atomic = nullptr;    /* one of those where threads would have left, or left */

    void run_blocks(simt::launch *of);

  private:
    void run_block(uint64_t number);
    uint64_t next_random();
    int next_thread();
    void place_thread(int number);
    void *go_to(int number);
    void wait_for_others();
    void rest(int64_t nanoseconds);
    void let_others_run();
    bool may_leave(unsigned what, const void *where);
    static void run_fiber();
    void continue_waiting();
    void go_on(int own, int next);
    static void leave(simt_place *place, simt_why why);
    static void meet(simt_place *place, simt_warp_call *call);
    static void turn(simt_place *place, const volatile void *at, unsigned what, const void *where);
    static void leave_and_look(simt_place *place, const volatile void *at, unsigned what, const void *where);
};

} // namespace simt

#endif
