/* SPDX-License-Identifier: MIT
 *
 * run.cpp - the launches, and the threads of the processor that run their blocks.
 */
#include "run.hpp"

#include "../shared/threads.h"
#include "runner.hpp"

#include <algorithm>
#include <cfenv>
#include <memory>
#include <mutex>
#include <new>
#include <sched.h>

namespace simt
{

namespace
{

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

int available_processors()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

} // namespace

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
    if (grid.watched)
        threads_ensure_signal_stack();
    try {
        std::unique_ptr<runner> borrowed = shop().borrow();
        borrowed->run_blocks(this);
        shop().give_back(std::move(borrowed));
    } catch (const std::bad_alloc &) {
        out_of_memory = true;
    }
    (void)std::fesetenv(&callers);
}

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
