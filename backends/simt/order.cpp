/* SPDX-License-Identifier: MIT
 *
 * order.cpp - what threads publish at atomics after fences, and who knows it.
 */
#include "order.hpp"

#include <algorithm>

namespace simt
{

void block_order::start(uint32_t number, uint32_t first_segment, uint32_t thread_count)
{
    if (is_used || threads.size() != thread_count)
        threads.assign(thread_count, {});
    block = number;
    barrier = first_segment;
    covered = 0;
    has_fence = is_used = false;
    knows.clear();
}

namespace
{
/* Stands for everything that was ever published. A thread that uses that many atomics, and what was passed on over that
 * many, is taken to know all: no right kernel shall be called wrong. */
constexpr uint32_t every_log = UINT32_MAX;
constexpr size_t most_logs = 32, most_passed_on = 256;
constexpr int most_steps = 3;
} // namespace

void order::learn(std::vector<known_log> &knows, known_log what)
{
    if (knows.size() >= most_logs)
        what.log = every_log;
    for (known_log &k : knows) {
        if (k.log == what.log) {
            k.length = std::max(k.length, what.length);
            return;
        }
    }
    knows.push_back(what);
}

void order::fence(block_order &b, uint32_t thread, uint32_t segment)
{
    b.is_used = b.has_fence = true;
    b.threads[thread].fence = segment;
    b.threads[thread].barrier = b.barrier;
}

void order::barrier(block_order &b, uint32_t segment)
{
    if (b.has_fence)
        b.covered = segment;
    b.has_fence = false;
    b.barrier = segment;
    if (!b.is_used)
        return;
    for (thread_order &t : b.threads) {
        for (const known_log &k : t.knows)
            learn(b.knows, k);
        t.knows.clear();
    }
}

/* A fence of one lane before it counts for all: no right kernel shall be called wrong. */
void order::warp_barrier(block_order &b, uint32_t first, uint64_t members, uint32_t segment)
{
    constexpr uint32_t most_lanes = 64;
    const uint32_t lanes = std::min(most_lanes, (uint32_t)b.threads.size() - first);
    const auto now = std::make_shared<warp_knowledge>(warp_knowledge{first, std::vector<uint32_t>(lanes)});
    const warp_knowledge *last = nullptr;
    std::vector<known_log> knows;
    bool has_fence = false;
    for (uint32_t i = 0; i < lanes; i++) {
        const thread_order &t = b.threads[first + i];
        if (!(members >> i & 1))
            continue;
        has_fence = has_fence || t.fence > 0;
        for (const known_log &k : t.knows)
            learn(knows, k);
        for (size_t j = 0; t.warp && t.warp.get() != last && j < t.warp->before.size() && j < lanes; j++)
            now->before[j] = std::max(now->before[j], t.warp->before[j]);
        last = t.warp.get();
    }
    for (uint32_t i = 0; i < lanes; i++)
        if (members >> i & 1)
            now->before[i] = segment;
    b.is_used = true;
    for (uint32_t i = 0; i < lanes; i++) {
        thread_order &t = b.threads[first + i];
        if (!(members >> i & 1))
            continue;
        t.warp = now;
        t.knows = knows;
        if (has_fence) {
            t.fence = segment;
            t.barrier = b.barrier;
        }
    }
}

void order::publish(block_order &b, thread_order &t, uint32_t thread, uint32_t number)
{
    log &to = logs[number];
    const uint32_t index = to.length, of_block = std::max(b.covered, t.barrier);
    std::vector<publication> &own = to.of_block[b.block];
    const bool is_new = own.empty() || own.back().thread != thread || own.back().of_block != of_block ||
                        own.back().own != t.fence || own.back().warp != t.warp;
    if (is_new)
        own.push_back({index, of_block, thread, t.fence, t.warp});
    for (const std::vector<known_log> *known : {&t.knows, &b.knows})
        for (const known_log &k : *known)
            if (k.log != number && to.others.size() <= most_passed_on)
                to.others.push_back({index, to.others.size() == most_passed_on ? known_log{every_log, 0} : k});
    if (is_new || !to.others.empty())
        to.length++;
}

void order::atomic(block_order &b, uint32_t thread, uintptr_t at, bool reads, bool changes)
{
    if (!b.is_used && logs.empty())
        return;
    const auto found = numbers.find(at);
    thread_order &t = b.threads[thread];
    if (reads && found != numbers.end()) {
        b.is_used = true;
        learn(t.knows, {found->second, logs[found->second].length});
    }
    if (!changes || (t.fence == 0 && b.covered == 0))
        return;
    uint32_t number = found != numbers.end() ? found->second : (uint32_t)logs.size();
    if (found == numbers.end()) {
        logs.emplace_back();
        numbers.emplace(at, number);
    }
    publish(b, t, thread, number);
}

bool order::has(known_log what, uint32_t block, uint32_t thread, uint32_t segment, int steps) const
{
    if (what.log == every_log || steps == most_steps)
        return true;
    const log &l = logs[what.log];
    const auto found = l.of_block.find(block);
    if (found != l.of_block.end()) {
        for (const publication &p : found->second) {
            if (p.index >= what.length)
                break;
            if (segment < p.of_block || (thread == p.thread && segment < p.own) ||
                (p.warp && p.warp->has(thread, segment)))
                return true;
        }
    }
    return std::any_of(l.others.begin(), l.others.end(), [&](const log::passed_on &o) {
        return o.index < what.length && o.what.log != what.log && has(o.what, block, thread, segment, steps + 1);
    });
}

bool order::knows(const block_order &b, uint32_t thread, uint32_t of_block, uint32_t of_thread, uint32_t segment) const
{
    const auto is_in = [&](const std::vector<known_log> &all) {
        return std::any_of(all.begin(), all.end(),
                           [&](known_log k) { return has(k, of_block, of_thread, segment, 0); });
    };
    const std::shared_ptr<const warp_knowledge> &warp = b.threads[thread].warp;
    return b.is_used && ((warp && of_block == b.block && warp->has(of_thread, segment)) ||
                         is_in(b.threads[thread].knows) || is_in(b.knows));
}

} // namespace simt
