/* SPDX-License-Identifier: MIT
 *
 * pool.hpp - threads of the processor that wait for work, so that a launch need not start any.
 */
#ifndef FLYNN_SIMT_POOL_HPP
#define FLYNN_SIMT_POOL_HPP

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace simt
{

/* Work for several threads, each of which calls `help` once. */
struct task {
    virtual void help() = 0;
    unsigned wanted = 0;  /* threads that may still start to help; the pool's lock guards both */
    unsigned helping = 0; /* threads that help now */

  protected:
    ~task() = default;
};

class pool
{
  public:
    pool() = default;
    ~pool();
    pool(const pool &) = delete;
    pool &operator=(const pool &) = delete;

    /* Lets `count` more threads help with the task, of which as many start as the system grants. Several tasks may want
     * help at once. */
    void call(task &work, unsigned count);
    /* Waits until nobody helps with the task any more; nobody starts to after that. In a process that was forked the
     * threads are missing, and nobody has started. */
    void leave(task &work);

  private:
    void serve();

    std::mutex lock{};
    std::condition_variable called{}, left{};
    std::vector<task *> tasks{}; /* that want help */
    std::vector<std::thread> threads{};
    size_t busy = 0; /* of them, with a task */
    bool ends = false;
};

} // namespace simt

#endif
