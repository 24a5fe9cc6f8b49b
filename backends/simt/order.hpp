/* SPDX-License-Identifier: MIT
 *
 * order.hpp - which accesses of a watched launch are ordered by atomics and fences, as in a reduction whose last block
 * adds the others' sums, or under a lock.
 *
 * The launch's time is counted in segments: a new one begins at each barrier and fence, so the accesses of a block have
 * the number of their segment. A thread that changes an atomic after a fence publishes there what it and, before the
 * last barrier, its block did until the fence. A thread that reads this atomic later knows all that was published there
 * before, and so does its block after the next barrier. After a __syncwarp each of its lanes knows what the others
 * did and knew.
 */
#ifndef FLYNN_SIMT_ORDER_HPP
#define FLYNN_SIMT_ORDER_HPP

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace simt
{

/* The first `length` publications at an atomic. */
struct known_log {
    uint32_t log, length;
};

/* What the lanes of a warp know of each other after a __syncwarp: the accesses of thread first + i in segments before
 * before[i]. */
struct warp_knowledge {
    uint32_t first;
    std::vector<uint32_t> before;

    bool has(uint32_t thread, uint32_t segment) const
    {
        return thread - first < before.size() && segment < before[thread - first];
    }
};

/* What a thread of a running block has fenced, and knows of others. */
struct thread_order {
    uint32_t fence = 0;   /* its own accesses of segments before are fenced; 0: it had no fence */
    uint32_t barrier = 0; /* the block's last barrier before that fence */
    std::vector<known_log> knows{};
    std::shared_ptr<const warp_knowledge> warp{}; /* nullptr: it had no __syncwarp */
};

/* A running block's. */
struct block_order {
    uint32_t block = 0;
    uint32_t barrier = 0;   /* the first segment after the last barrier */
    uint32_t covered = 0;   /* accesses of the block's threads in segments before were fenced before a barrier */
    bool has_fence = false; /* since the last barrier */
    bool is_used = false;   /* a thread had a fence or read a published atomic */
    std::vector<thread_order> threads{};
    std::vector<known_log> knows{}; /* since the last barrier, each thread */

    void start(uint32_t number, uint32_t first_segment, uint32_t thread_count);
};

class order
{
  public:
    /* The thread had a fence; `segment` begins after it. */
    void fence(block_order &b, uint32_t thread, uint32_t segment);
    /* All threads of the block had a barrier; `segment` begins after it. */
    void barrier(block_order &b, uint32_t segment);
    /* Threads first + i of the block, i being the bits of `members`, had a __syncwarp; `segment` begins after it. */
    void warp_barrier(block_order &b, uint32_t first, uint64_t members, uint32_t segment);
    /* The thread reads or changes an atomic, or both. */
    void atomic(block_order &b, uint32_t thread, uintptr_t at, bool reads, bool changes);
    /* Returns whether the thread knows this access of another one. */
    bool knows(const block_order &b, uint32_t thread, uint32_t of_block, uint32_t of_thread, uint32_t segment) const;

  private:
    /* What a thread published at an atomic: accesses of its block in segments before `of_block`, its own before
     * `own`, and those of its warp. */
    struct publication {
        uint32_t index, of_block, thread, own;
        std::shared_ptr<const warp_knowledge> warp;
    };
    struct log {
        uint32_t length = 0;
        std::unordered_map<uint32_t, std::vector<publication>> of_block{};
        struct passed_on {
            uint32_t index;
            known_log what;
        };
        std::vector<passed_on> others{}; /* what those that published knew from other atomics */
    };

    void publish(block_order &b, thread_order &t, uint32_t thread, uint32_t number);
    bool has(known_log what, uint32_t block, uint32_t thread, uint32_t segment, int steps) const;
    static void learn(std::vector<known_log> &knows, known_log what);

    std::unordered_map<uintptr_t, uint32_t> numbers{};
    std::vector<log> logs{};
};

} // namespace simt

#endif
