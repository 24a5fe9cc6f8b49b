/* SPDX-License-Identifier: MIT
 *
 * warps.cpp - when a call of a warp function is done, and what each lane gets.
 */
#include "warps.hpp"

#include "detector.hpp"

#include <algorithm>
#include <cstring>

namespace simt
{

namespace
{

constexpr uint64_t bit(int lane)
{
    return UINT64_C(1) << lane;
}

bool is_same_call(const simt_warp_call &a, const simt_warp_call &b)
{
    return a.has_mask == b.has_mask && (a.has_mask ? a.mask == b.mask : a.where == b.where) && a.what == b.what &&
           std::strcmp(a.name, b.name) == 0;
}

} // namespace

void warps::begin_launch(int warp_lanes, simt::detector *detector, simt::watched_block *block)
{
    lanes = warp_lanes;
    watching = detector;
    watched = block;
    calls.resize(state.size());
    open.clear();
}

/* The lanes of a warp that exist: the last one of a block may have fewer. */
uint64_t warps::lanes_of(int warp) const
{
    const int count = std::min(lanes, (int)state.size() - warp * lanes);
    return ~UINT64_C(0) >> (64 - count);
}

uint64_t warps::ended(int warp) const
{
    uint64_t found = 0;
    for (int i = 0; i < lanes && warp * lanes + i < (int)state.size(); i++)
        found |= (uint64_t)(state[(size_t)(warp * lanes + i)] == thread_state::done) << i;
    return found;
}

bool warps::can_run(int warp) const
{
    const auto first = state.begin() + warp * lanes;
    return std::any_of(first, first + std::min(lanes, (int)state.size() - warp * lanes),
                       [](thread_state s) { return s == thread_state::fresh || s == thread_state::ready; });
}

/* The number of the meeting for this call; open.size(): there is none. */
size_t warps::find(int warp, const simt_warp_call *call) const
{
    size_t i = 0;
    while (i < open.size() && (open[i].warp != warp || !is_same_call(*open[i].first, *call)))
        i++;
    return i;
}

bool warps::arrive(int thread, simt_warp_call *call)
{
    const int warp = thread / lanes, lane = thread % lanes;
    calls[(size_t)thread] = call;
    if (watching)
        watching->see_call(*watched, (uint32_t)thread, *call, lanes);
    if (call->has_mask && !(call->mask & bit(lane))) { /* an error, which the detector has seen: the lane is alone */
        call->from = lane;
        compute(warp, bit(lane));
        return true;
    }
    const size_t number = find(warp, call);
    if (number == open.size())
        open.push_back({warp, 0, call});
    open[number].arrived |= bit(lane);
    state[(size_t)thread] = thread_state::in_warp;
    if (call->has_mask && open[number].arrived == (call->mask & lanes_of(warp)))
        complete(number);
    else
        settle(warp);
    return state[(size_t)thread] == thread_state::ready;
}

/* Lets lanes go on if no lane of the warp can run. */
void warps::settle(int warp)
{
    if (can_run(warp))
        return;
    const uint64_t still = lanes_of(warp) & ~ended(warp);
    size_t chosen = open.size();
    for (size_t i = 0; i < open.size(); i++) {
        const simt_warp_call &call = *open[i].first;
        if (open[i].warp != warp)
            continue;
        if (call.has_mask && open[i].arrived == (call.mask & still)) {
            chosen = i;
            break;
        }
        const simt_warp_call *const best = chosen < open.size() ? open[chosen].first : nullptr;
        if (!best || (best->has_mask && !call.has_mask) ||
            (best->has_mask == call.has_mask && call.where < best->where))
            chosen = i;
    }
    if (chosen == open.size())
        return;
    if (watching && open[chosen].first->has_mask)
        report_missing(open[chosen]);
    complete(chosen);
}

void warps::hurry()
{
    for (size_t i = 0; i < open.size(); i++)
        if (!open[i].first->has_mask)
            return complete(i);
}

/* Tells the detector which lanes of the mask have not come. */
void warps::report_missing(const meeting &m) const
{
    const uint64_t missing = m.first->mask & lanes_of(m.warp) & ~m.arrived, gone = missing & ended(m.warp);
    const uint32_t first = (uint32_t)(m.warp * lanes);
    if (gone)
        watching->see_ended(*watched, first, gone, *m.first);
    if (missing & ~gone) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(missing & ~gone);
        const bool calls_another = state[first + lane] == thread_state::in_warp;
        watching->report_missing(*watched, first, missing & ~gone, *m.first,
                                 calls_another ? calls[first + lane] : nullptr);
    }
}

void warps::complete(size_t number)
{
    const meeting m = open[number];
    open[number] = open.back();
    open.pop_back();
    if (watching && m.first->has_mask && m.first->what != SIMT_SYNC)
        for (int i = 0; i < lanes; i++)
            if (m.arrived >> i & 1 && calls[(size_t)(m.warp * lanes + i)]->where != m.first->where)
                watching->see_places(*watched, (uint32_t)(m.warp * lanes), *m.first,
                                     *calls[(size_t)(m.warp * lanes + i)]);
    compute(m.warp, m.arrived);
    if (watching && m.first->what == SIMT_SYNC)
        watching->sync_warp(*watched, (uint32_t)(m.warp * lanes), m.arrived);
    for (int i = 0; i < lanes; i++)
        if (m.arrived >> i & 1)
            state[(size_t)(m.warp * lanes + i)] = thread_state::ready;
}

/* What each of these lanes gets. A lane that takes no part has no value: all bits are set, as in shared memory that
 * nobody wrote. */
void warps::compute(int warp, uint64_t members)
{
    simt_warp_call **const of = calls.data() + warp * lanes;
    const simt_warp_call &first = *of[__builtin_ctzll(members)];
    uint64_t votes = 0, combined = first.value;
    for (int i = 0; i < lanes; i++) {
        if (!(members >> i & 1))
            continue;
        votes |= (uint64_t)(of[i]->value != 0) << i;
        if (first.combine && of[i] != &first)
            combined = first.combine(combined, of[i]->value);
    }
    for (int i = 0; i < lanes; i++) {
        if (!(members >> i & 1))
            continue;
        simt_warp_call &call = *of[i];
        call.lanes = members;
        call.result = first.what == SIMT_COMBINE ? combined : first.what == SIMT_VOTE ? votes : 0;
        if (first.what == SIMT_SHUFFLE) {
            const bool is_there = members >> call.from & 1;
            call.result = is_there ? of[call.from]->value : ~UINT64_C(0);
            if (!is_there && watching)
                watching->report_no_value(*watched, (uint32_t)(warp * lanes + i), call);
        }
        for (int j = 0; first.what == SIMT_MATCH && j < lanes; j++)
            call.result |= (uint64_t)(members >> j & 1 && of[j]->value == call.value) << j;
    }
}

} // namespace simt
