/* SPDX-License-Identifier: MIT
 *
 * runner.cpp - the order in which a block's threads run, and what happens where they wait for other blocks.
 */
#include "runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <sched.h>
#include <thread>

namespace simt
{

namespace
{

/* A word each of whose bits depends on all bits of x (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014: the finalizer of SplitMix). */
uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

thread_local runner *active; /* for a fiber that starts */

} // namespace

int64_t nanoseconds_now()
{
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* ------------------------------------------------------------------------------------------- threads of a block ----
 */

uint64_t runner::next_random()
{
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
}

/* The thread that runs next, in rounds over all threads; after a round in which no thread could run, those that wait at
 * a barrier continue. -1: the block is at its end. */
int runner::next_thread()
{
    const int count = launch->threads;
    for (;;) {
        while (at < count) {
            const int number = backwards ? count - 1 - at : at;
            at++;
            if (state[(size_t)number] == thread_state::fresh || state[(size_t)number] == thread_state::ready) {
                ran = true;
                return number;
            }
        }
        if (done == count || launch->is_over())
            return -1;
        if (!ran) {
            continue_waiting();
        } else if (launch->grid.watched) {
            if (has_moved)
                launch->moved = nanoseconds_now();
            else
                wait_for_others();
        }
        at = 0;
        ran = has_moved = false;
    }
}

/* All threads of the block that have not ended wait at a barrier. */
void runner::continue_waiting()
{
    const int count = launch->threads;
    if (launch->grid.detector) {
        waiting.clear();
        for (int i = 0; i < count; i++)
            if (state[(size_t)i] == thread_state::at_barrier)
                waiting.push_back((uint32_t)i);
        launch->grid.detector->meet(watched, waiting);
    }
    std::replace(state.begin(), state.begin() + count, thread_state::at_barrier, thread_state::ready);
}

void runner::place_thread(int number)
{
    const uint32_t *threads = launch->grid.threads, n = (uint32_t)number;
    simt_index &index = place->thread;
    if (number == thread + 1 && index.x + 1 < threads[0]) {
        index.x++;
    } else {
        index.x = n % threads[0];
        index.y = n / threads[0] % threads[1];
        index.z = n / threads[0] / threads[1];
    }
    thread = number;
    if (launch->grid.watched) {
        constexpr int most_accesses = 64;
        place->left = (int)(next_random() % most_accesses);
        place->atomics = most_accesses;
        late = 0;
    }
    if (launch->grid.detector) { /* which looks at each access, and needs no frequent change of threads */
        constexpr int longer = 4;
        left = longer * place->left;
        place->left = place->atomics = 0;
        place->number = number;
    }
}

/* Prepares the thread to run, and returns where it continues: on its fiber, or on a new one. nullptr: the block is at
 * its end, or there is no memory. */
void *runner::go_to(int number)
{
    if (number < 0)
        return nullptr;
    if (state[(size_t)number] == thread_state::fresh) {
        const int fiber = fibers.take(run_fiber);
        if (fiber < 0) {
            launch->out_of_memory = true;
            return nullptr;
        }
        fiber_of[(size_t)number] = fiber;
    }
    place_thread(number);
    return fibers[fiber_of[(size_t)number]].context;
}

/* A fiber runs one thread of a block after the other. */
void runner::run_fiber()
{
    runner &r = *active;
    for (;;) {
        r.launch->grid.kernel(r.launch->grid.arguments);
        r.state[(size_t)r.thread] = thread_state::done;
        r.done++;
        r.has_moved = true;
        r.warps.stop(r.thread);
        const int own = r.fiber_of[(size_t)r.thread], next = r.next_thread();
        if (next >= 0 && r.state[(size_t)next] == thread_state::fresh) {
            r.fiber_of[(size_t)next] = own;
            r.place_thread(next);
            continue;
        }
        void *const to = r.go_to(next);
        r.fibers.give(own);
        switch_fiber(&r.fibers[own].context, to ? to : r.main);
    }
}

/* Called by the thread that runs. Returns when the thread runs again. */
void runner::leave(simt_place *place, simt_why why)
{
    enum { YIELD = 8 };
    runner &r = *static_cast<runner *>(place->runner);
    const int own = r.thread;
    r.state[(size_t)own] = why == SIMT_AT_BARRIER ? thread_state::at_barrier : thread_state::ready;
    if (why == SIMT_AT_BARRIER && r.launch->grid.detector)
        r.watched.where[(size_t)own] = place->where;
    int next = -1;
    if (why == SIMT_AT_END && !place->ended) {
        r.launch->faulted = true;
    } else if (why == SIMT_AT_END) {
        r.launch->ended = place->ended;
    } else {
        r.has_moved = r.has_moved || why == SIMT_AT_BARRIER;
        if (why == SIMT_AT_BARRIER)
            r.warps.stop(own);
        if (why == SIMT_AT_ACCESS && r.random % YIELD == 0 && r.launch->yields > 0 && r.launch->yields-- > 0)
            r.let_others_run();
        next = r.next_thread();
    }
    r.go_on(own, next);
}

/* Leaves the fiber of the thread `own` for the one that runs next. Returns when `own` runs again. */
void runner::go_on(int own, int next)
{
    const int fiber = fiber_of[(size_t)own];
    void *const to = go_to(next);
    if (next != own)
        switch_fiber(&fibers[fiber].context, to ? to : main);
}

/* simt_place.meet. */
void runner::meet(simt_place *place, simt_warp_call *call)
{
    runner &r = *static_cast<runner *>(place->runner);
    const int own = r.thread;
    r.has_moved = true;
    if (!r.warps.arrive(own, call))
        r.go_on(own, r.next_thread());
}

/* Whether a thread that has made its accesses leaves at this one. In a launch where no thread advanced, threads leave
 * at one atomic alone if they come to it: a thread that tries to get a lock by adding 1, and subtracts it again, keeps
 * the lock from all others if it leaves in between, which would be so for half of the threads at any time. */
bool runner::may_leave(unsigned what, const void *where)
{
    constexpr int most_late = 256;
    constexpr unsigned one_of = 4;
    const void *const site = launch->site;
    if (what & SIMT_ATOMIC && where != site && (!site || next_random() % one_of == 0))
        atomic = where;
    return !site || where == site || ++late > most_late;
}

/* simt_place.turn of a launch without a detector: the thread has made its accesses. */
void runner::turn(simt_place *place, const volatile void *, unsigned what, const void *where)
{
    if (static_cast<runner *>(place->runner)->may_leave(what, where))
        return leave(place, SIMT_AT_ACCESS);
    place->left = place->atomics = 0;
}

/* simt_place.turn of a launch with a detector. An atomic counts for more: the thread may be waiting. */
void runner::leave_and_look(simt_place *place, const volatile void *at, unsigned what, const void *where)
{
    enum { ATOMIC_COUNTS_FOR = 4 };
    runner &r = *static_cast<runner *>(place->runner);
    r.left -= what & SIMT_ATOMIC ? ATOMIC_COUNTS_FOR : 1;
    if (r.left < 0 && r.may_leave(what, where))
        leave(place, SIMT_AT_ACCESS);
    place->left = place->atomics = 0;
    if (what & SIMT_INDEX)
        return r.launch->grid.detector->see_index(r.watched, (uint32_t)place->number, place->index, place->limit,
                                                  where);
    if (r.launch->grid.detector->see(r.watched, (uint32_t)place->number, at, what, where))
        return;
    place->ended = nullptr;
    for (;;)
        leave(place, SIMT_AT_END);
}

/* ----------------------------------------------------------------------------------------------- several blocks ----
 */

/* Gives another block time to run: on one processor by yielding it, else by waiting. */
void runner::let_others_run()
{
    enum { TURNS = 4000 }; /* a few microseconds */
    if (launch->grid.detector)
        return;
    if (launch->processors == 1)
        sched_yield();
    for (volatile int i = 0; launch->processors > 1 && i < TURNS; i = i + 1)
        continue;
}

/* Leaves the processor to others. Blocks that all try to get a lock at the same time may keep it from each other, so
 * each sleeps for a random time, up to that for which none has advanced. */
void runner::rest(int64_t nanoseconds)
{
    constexpr int64_t longest = 20000000;
    if (launch->processors == 1 || launch->grid.detector) /* then no two of them run at a time */
        sched_yield();
    else
        std::this_thread::sleep_for(
            std::chrono::nanoseconds((int64_t)(next_random() % (uint64_t)std::min(nanoseconds, longest))));
}

/* Called after a round that left each thread of a block at an access: the threads may be waiting for another block. If
 * no running block advances, doubles the number of running blocks. */
void runner::wait_for_others()
{
    constexpr unsigned most_resident = 16384, most_runners = 256; /* threads, blocks */
    constexpr unsigned looks = 8; /* rounds between two looks at the clock, which take as long as a short round */
    constexpr int64_t patience = 50000000, slice = 1000000; /* nanoseconds */
    if (launch->grid.detector)
        launch->grid.detector->baton.hand_on();
    if (++rounds % looks != 0)
        return;
    const int64_t now = nanoseconds_now();
    int64_t moved = launch->moved;
    if (now - moved > slice && now - yielded > slice) {
        rest(now - moved);
        yielded = nanoseconds_now();
    }
    if (now - moved > patience)
        warps.hurry();
    int64_t chosen = launch->chosen;
    if (now - std::max(moved, chosen) > patience && launch->chosen.compare_exchange_strong(chosen, now))
        launch->site = atomic;
    if (now - moved > patience && launch->next < launch->blocks && launch->moved.compare_exchange_strong(moved, now))
        launch->add_runners(std::min({2 * launch->runners, most_resident / (unsigned)launch->threads, most_runners}));
}

/* Runs all threads of a block. */
void runner::run_block(uint64_t number)
{
    const simt::grid &grid = launch->grid;
    place->block.x = (unsigned)(number % grid.blocks[0]);
    place->block.y = (unsigned)(number / grid.blocks[0] % grid.blocks[1]);
    place->block.z = (unsigned)(number / grid.blocks[0] / grid.blocks[1]);
    if (grid.watched) {
        std::memset(place->shared, 0xff, grid.shared); /* undefined on a GPU, too */
        random = mixed((grid.launch << 32) + number) | 1;
        backwards = next_random() >> 20 & 1;
    }
    if (grid.detector)
        grid.detector->begin_block(watched, number, place->shared);
    warps.begin_block();
    std::fill_n(state.begin(), launch->threads, thread_state::fresh);
    at = done = 0;
    ran = has_moved = false;
    if (void *const to = go_to(next_thread()))
        switch_fiber(&main, to);
    if (done < launch->threads)
        fibers.reset();
}

/* Runs blocks until there are no more. */
void runner::run_blocks(simt::launch *of)
{
    launch = of;
    place = of->grid.begin();
    if (!place->shared) {
        shared.resize(most_shared + shared_alignment);
        void *begin = shared.data();
        size_t room = shared.size();
        place->shared = static_cast<unsigned char *>(std::align(shared_alignment, most_shared, begin, room));
    }
    fiber_of.resize((size_t)of->threads);
    state.resize((size_t)of->threads);
    warps.begin_launch(of->grid.lanes, of->grid.detector, &watched);
    place->runner = this;
    place->leave = leave;
    place->meet = meet;
    place->turn = of->grid.detector ? leave_and_look : turn;
    place->watched = of->grid.detector != nullptr;
    place->blocks = {of->grid.blocks[0], of->grid.blocks[1], of->grid.blocks[2]};
    place->threads = {of->grid.threads[0], of->grid.threads[1], of->grid.threads[2]};
    backwards = false;
    thread = nowhere; /* the place's index is that of another launch */
    active = this;
    const baton_holder turn_to_work(of->grid.detector ? &of->grid.detector->baton : nullptr);
    for (uint64_t block; !of->is_over() && (block = of->next++) < of->blocks;)
        run_block(block);
    place->leave = nullptr;
}

} // namespace simt
