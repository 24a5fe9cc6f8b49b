/* SPDX-License-Identifier: MIT
 *
 * pool.cpp - the threads of pool.hpp.
 */
#include "pool.hpp"

#include <algorithm>
#include <new>
#include <system_error>

namespace simt
{

pool::~pool()
{
    {
        const std::lock_guard<std::mutex> guard(lock);
        ends = true;
    }
    called.notify_all();
    for (std::thread &thread : threads)
        thread.join();
}

void pool::serve()
{
    std::unique_lock<std::mutex> guard(lock);
    for (;;) {
        called.wait(guard, [this] { return ends || !tasks.empty(); });
        if (ends)
            return;
        task *work = tasks.front();
        busy++;
        work->helping++;
        if (--work->wanted == 0)
            tasks.erase(tasks.begin());
        guard.unlock();
        work->help();
        guard.lock();
        busy--;
        if (--work->helping == 0)
            left.notify_all();
    }
}

void pool::call(task &work, unsigned count)
{
    const std::lock_guard<std::mutex> guard(lock);
    try {
        size_t needed = busy;
        if (work.wanted == 0 && count > 0)
            tasks.push_back(&work);
        work.wanted += count;
        for (const task *each : tasks)
            needed += each->wanted;
        while (threads.size() < needed)
            threads.emplace_back(&pool::serve, this);
    } catch (const std::bad_alloc &) {
    } catch (const std::system_error &) {
    }
    called.notify_all();
}

void pool::leave(task &work)
{
    std::unique_lock<std::mutex> guard(lock);
    tasks.erase(std::remove(tasks.begin(), tasks.end(), &work), tasks.end());
    work.wanted = 0;
    left.wait(guard, [&work] { return work.helping == 0; });
}

} // namespace simt
