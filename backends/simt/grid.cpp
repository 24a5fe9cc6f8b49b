/* SPDX-License-Identifier: MIT
 *
 * grid.cpp - the order in which a block's threads run, and the threads of the processor that run blocks.
 */
#include "grid.hpp"

#include "../cpu/threads.h"
#include "detector.hpp"
#include "fiber.hpp"
#include "pool.hpp"
#include "warps.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <sched.h>

namespace simt
{

namespace
{

constexpr size_t stack_bytes = 128 << 10, shared_alignment = 64;

constexpr int nowhere = -2; /* no thread of a block, nor the one before the first */

int64_t nanoseconds_now()
{
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* A word each of whose bits depends on all bits of x (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014: the finalizer of SplitMix). */
uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

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

    void run_blocks(simt::launch *of);

  private:
    void run_block(uint64_t number);
    uint64_t next_random();
    int next_thread();
    void place_thread(int number);
    void *go_to(int number);
    void wait_for_others();
    void let_others_run();
    static void run_fiber();
    void continue_waiting();
    void go_on(int own, int next);
    static void leave(simt_place *place, simt_why why);
    static void meet(simt_place *place, simt_warp_call *call);
    static void turn(simt_place *place, const volatile void *at, unsigned what, const void *where);
    static void leave_and_look(simt_place *place, const volatile void *at, unsigned what, const void *where);
};

thread_local runner *active; /* for a fiber that starts */

/* Runners that nobody uses, and the threads that help. Destroyed when the plugin is unloaded. */
class workshop
{
  public:
    simt::pool pool{};

    std::unique_ptr<runner> borrow()
    {
        const std::lock_guard<std::mutex> guard(lock);
        if (spare.empty())
            return std::unique_ptr<runner>(new runner);
        std::unique_ptr<runner> taken = std::move(spare.back());
        spare.pop_back();
        return taken;
    }
    void give_back(std::unique_ptr<runner> given)
    {
        const std::lock_guard<std::mutex> guard(lock);
        spare.push_back(std::move(given));
    }

  private:
    std::mutex lock{};
    std::vector<std::unique_ptr<runner>> spare{};
};

workshop &shop()
{
    static workshop the;
    return the;
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

/* simt_place.turn of a launch without a detector: the thread has made its accesses. */
void runner::turn(simt_place *place, const volatile void *, unsigned, const void *)
{
    leave(place, SIMT_AT_ACCESS);
}

/* simt_place.turn of a launch with a detector. An atomic counts for more: the thread may be waiting. */
void runner::leave_and_look(simt_place *place, const volatile void *at, unsigned what, const void *where)
{
    enum { ATOMIC_COUNTS_FOR = 4 };
    runner &r = *static_cast<runner *>(place->runner);
    r.left -= what & SIMT_ATOMIC ? ATOMIC_COUNTS_FOR : 1;
    if (r.left < 0)
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
        yielded = now;
        sched_yield();
    }
    if (now - moved > patience)
        warps.hurry();
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

/* ------------------------------------------------------------------------------------------------------ launches ----
 */

int available_processors()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

launch::launch(const simt::grid &started, int available)
    : grid(started), blocks((uint64_t)started.blocks[0] * started.blocks[1] * started.blocks[2]),
      threads((int)(started.threads[0] * started.threads[1] * started.threads[2])), processors(available),
      yields(available == 1 ? 32 : 256), /* after a yield it may take long until the thread runs again */
      moved(started.watched ? nanoseconds_now() : 0)
{
}

/* More threads of the processor, up to `count` in all, run blocks. If some cannot start, the others do the work. */
void launch::add_runners(unsigned count)
{
    unsigned has = runners;
    while (has < count && !runners.compare_exchange_weak(has, count))
        continue;
    if (has < count)
        shop().pool.call(*this, count - has);
}

/* Runs blocks on the calling thread. A kernel computes with the usual modes of the floating-point unit, as on a GPU: to
 * the nearest number, with subnormals, without traps. The caller's are put back. A fiber of the user's kernel may use
 * up its stack, so a handler needs another. */
void launch::help()
{
    std::fenv_t callers;
    (void)std::fegetenv(&callers);
    (void)std::fesetenv(FE_DFL_ENV);
    void *const signals = grid.watched ? cpu_signal_stack_begin() : nullptr;
    try {
        std::unique_ptr<runner> borrowed = shop().borrow();
        borrowed->run_blocks(this);
        shop().give_back(std::move(borrowed));
    } catch (const std::bad_alloc &) {
        out_of_memory = true;
    }
    if (grid.watched)
        cpu_signal_stack_end(signals);
    (void)std::fesetenv(&callers);
}

} // namespace

/* At least two threads run the blocks of a user's kernel: on a GPU, too, blocks run at the same time. One is enough for
 * the detector, which does not wait for an unlucky moment; where blocks wait for each other, more are added. */
outcome run(const simt::grid &grid, const char **ended)
{
    constexpr unsigned fewest_watched = 2, most = 16, worth_a_thread = 4096; /* threads of blocks */
    launch started(grid, available_processors());
    const uint64_t all = started.blocks * (uint64_t)started.threads;
    const unsigned available = grid.detector ? 1 : std::min((unsigned)started.processors, most);
    started.add_runners((unsigned)std::min<uint64_t>(
        started.blocks, grid.detector  ? 1
                        : grid.watched ? std::max(available, fewest_watched)
                                       : std::min<uint64_t>(available, 1 + all / worth_a_thread)));
    started.help();
    shop().pool.leave(started);
    *ended = started.ended;
    return *ended || started.faulted ? outcome::ended : started.out_of_memory ? outcome::out_of_memory : outcome::done;
}

} // namespace simt
