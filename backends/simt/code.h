/* SPDX-License-Identifier: MIT
 *
 * code.h - code.hpp where the processor emulates a GPU: the system's `c++` compiles the text
 * (code_text.h), and a few threads of the processor run the blocks.
 *
 * Each thread of a block is a fiber; one processor thread runs all fibers of a block. It switches to another fiber when
 * one ends or reaches a barrier, and at some memory accesses and atomics. The order of the threads, and the accesses at
 * which they are switched, differ from launch to launch, so that a race in the kernel changes its results. A kernel
 * without barriers needs few fibers: a fiber that ends is used for the next thread.
 *
 * Threads may wait for each other by atomics, also for threads of other blocks: where none of the blocks that run gets
 * any further, more of them start, as all blocks run at the same time that a GPU has room for.
 */
#ifndef FLYNN_HIP_GPU_CODE_CPU_H
#define FLYNN_HIP_GPU_CODE_CPU_H

#include "../cpu/threads.h"
#include "../shared/compiler.h"
#include "code.hpp"
#include "code_text.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <new>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <thread>
#include <vector>

typedef void (*code_kernel)(void **arguments);

/* The text's flynn_place. */
struct code_place {
    uint32_t thread[3], block[3], threads[3], blocks[3];
    int left, atomics, sum;
    void (*leave)(int where);
    const char *ended;
};

struct hip_code {
    void *handle;
    std::string name; /* of the user's function or kernel */
    std::vector<code_kernel> kernels;
    code_place *(*begin)(unsigned char **dynamic); /* for the calling thread */
    mutable std::atomic<uint64_t> launches;
};

namespace
{

/* ------------------------------------------------------------------------------------------------- one launch ---- */

constexpr size_t stack_bytes = 128 << 10, guard_bytes = 4096;

/* A stack and the coroutine on it. The page below the stack is protected: a fiber that uses up its stack faults. */
struct fiber {
    void *memory;
    cothread_t handle;
};

enum class thread_state : uint8_t { fresh, ready, waiting, done };
enum class left_by { end, barrier, access, program_end };

struct code_launch;

/* The state of a processor thread, which runs blocks one after the other. */
struct runner {
    code_launch *launch;
    std::thread thread; /* empty for the calling thread */
    code_place *place;
    unsigned char *dynamic;
    cothread_t main;
    left_by why;
    uint64_t random;
    unsigned rounds; /* rounds in which no thread ended or reached a barrier */
    int64_t yielded; /* when the processor was last left to other threads meanwhile, in nanoseconds */
    std::vector<fiber> fibers;
    std::vector<int> idle;           /* of them */
    std::vector<int> fiber_of;       /* each thread's */
    std::vector<thread_state> state; /* of each thread */

    ~runner()
    {
        for (const fiber &f : fibers)
            munmap(f.memory, stack_bytes + guard_bytes);
    }
};

struct code_launch {
    code_kernel kernel;
    const hip_code *code;
    uint32_t blocks[3], threads[3];
    size_t shared;
    void **arguments;
    uint64_t seed;
    std::atomic<uint64_t> next{0}; /* block to run */
    std::atomic<int> yields{0};    /* how often a block may still let others run: see let_others_run */
    int processors = 1;
    std::atomic<bool> out_of_memory{false};
    std::atomic<const char *> ended{nullptr}; /* what a thread called to end the program; the launch is over */
    std::atomic<int64_t> moved{0};            /* when a thread last ended or reached a barrier, in nanoseconds */
    std::atomic<unsigned> runner_count{0};
    std::mutex lock{};                              /* guards the members below */
    std::vector<std::unique_ptr<runner>> runners{}; /* the first one is the caller's */
};

thread_local runner *active;

uint64_t next_random(runner &r)
{
    r.random ^= r.random << 13;
    r.random ^= r.random >> 7;
    r.random ^= r.random << 17;
    return r.random;
}

void run_fiber()
{
    for (;;) {
        runner &r = *active;
        r.launch->kernel(r.launch->arguments);
        r.why = left_by::end;
        co_switch(r.main);
    }
}

void leave_fiber(int where)
{
    constexpr left_by ways[] = {left_by::access, left_by::barrier, left_by::program_end};
    runner &r = *active;
    r.why = ways[where];
    co_switch(r.main);
}

/* A fiber for a fresh thread. */
int take_fiber(runner &r)
{
    if (r.idle.empty()) {
        void *memory = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        (void)mprotect(memory, guard_bytes, PROT_NONE);
        r.fibers.push_back({memory, nullptr});
        r.idle.push_back((int)r.fibers.size() - 1);
    }
    const int taken = r.idle.back();
    fiber &f = r.fibers[(size_t)taken];
    if (!f.handle)
        f.handle = co_derive(static_cast<char *>(f.memory) + guard_bytes, (unsigned)stack_bytes, run_fiber);
    r.idle.pop_back();
    return taken;
}

/* Gives another block time to run: on one processor by yielding it, else by waiting. */
void let_others_run(const code_launch *launch)
{
    enum { TURNS = 4000 }; /* a few microseconds */
    if (launch->processors == 1)
        sched_yield();
    for (volatile int i = 0; launch->processors > 1 && i < TURNS; i = i + 1)
        continue;
}

/* Runs the thread until it is left. */
void resume(runner &r, int thread)
{
    enum { MOST_ACCESSES = 64, YIELD = 8 };
    const uint32_t *threads = r.launch->threads, number = (uint32_t)thread;
    code_place &p = *r.place;
    thread_state &state = r.state[(size_t)thread];
    int &fiber = r.fiber_of[(size_t)thread];
    if (state == thread_state::fresh)
        fiber = take_fiber(r);
    p.thread[0] = number % threads[0];
    p.thread[1] = number / threads[0] % threads[1];
    p.thread[2] = number / threads[0] / threads[1];
    p.left = (int)(next_random(r) % MOST_ACCESSES);
    p.atomics = MOST_ACCESSES;
    co_switch(r.fibers[(size_t)fiber].handle);
    if (r.why == left_by::end)
        r.idle.push_back(fiber);
    else if (r.why == left_by::program_end)
        r.launch->ended = p.ended;
    else if (r.why == left_by::access && r.random % YIELD == 0 && r.launch->yields > 0 && r.launch->yields-- > 0)
        let_others_run(r.launch);
    state = r.why == left_by::end       ? thread_state::done
            : r.why == left_by::barrier ? thread_state::waiting
                                        : thread_state::ready;
}

int64_t nanoseconds_now()
{
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void run_here(runner *r);

/* Adds threads that run blocks, up to `count` with the calling one. If a thread cannot be started, the others do the
 * work. */
void add_runners(code_launch *launch, unsigned count)
{
    const std::lock_guard<std::mutex> guard(launch->lock);
    try {
        for (; launch->runner_count < count; launch->runner_count++) {
            std::unique_ptr<runner> added(new runner{});
            added->launch = launch;
            launch->runners.reserve(launch->runners.size() + 1);
            if (launch->runner_count > 0)
                added->thread = std::thread(run_here, added.get());
            launch->runners.push_back(std::move(added));
        }
    } catch (const std::bad_alloc &) {
        launch->out_of_memory = true;
    } catch (const std::system_error &) {
    }
}

/* Called after a round that left each thread of a block at an access: the threads may be waiting for another block. If
 * no running block advances, doubles the number of running blocks. */
void wait_for_others(runner &r)
{
    constexpr unsigned most_threads = 16384, most_runners = 256;
    constexpr unsigned rounds = 8; /* between two looks at the clock, which take as long as a short round */
    constexpr int64_t patience = 50000000, slice = 1000000; /* nanoseconds */
    code_launch *l = r.launch;
    const uint64_t blocks = (uint64_t)l->blocks[0] * l->blocks[1] * l->blocks[2];
    const unsigned room = most_threads / (l->threads[0] * l->threads[1] * l->threads[2]);
    if (++r.rounds % rounds != 0)
        return;
    const int64_t now = nanoseconds_now();
    int64_t moved = l->moved;
    if (now - moved > slice && now - r.yielded > slice) {
        r.yielded = now;
        sched_yield();
    }
    if (now - moved > patience && l->next < blocks && l->moved.compare_exchange_strong(moved, now))
        add_runners(l, std::min({2 * l->runner_count, room, most_runners}));
}

/* Runs all threads of a block in turn. Threads continue after a barrier when all others wait there or are done. */
void run_block(runner &r, uint64_t number)
{
    const uint32_t *blocks = r.launch->blocks, *threads = r.launch->threads;
    const int count = (int)(threads[0] * threads[1] * threads[2]);
    code_place &p = *r.place;
    p.block[0] = (uint32_t)(number % blocks[0]);
    p.block[1] = (uint32_t)(number / blocks[0] % blocks[1]);
    p.block[2] = (uint32_t)(number / blocks[0] / blocks[1]);
    std::memset(r.dynamic, 0xff, r.launch->shared); /* undefined on a GPU, too */
    r.random = (r.launch->seed + number) * 0x9e3779b97f4a7c15u | 1;
    const bool backwards = next_random(r) >> 20 & 1;
    std::fill_n(r.state.begin(), count, thread_state::fresh);
    for (int done = 0; done < count && !r.launch->ended;) {
        bool ran = false, moved = false;
        for (int i = 0; i < count; i++) {
            const int thread = backwards ? count - 1 - i : i;
            const thread_state state = r.state[(size_t)thread];
            if (state == thread_state::waiting || state == thread_state::done)
                continue;
            resume(r, thread);
            if (r.why == left_by::program_end)
                return;
            ran = true;
            moved = moved || r.why != left_by::access;
            done += r.state[(size_t)thread] == thread_state::done;
        }
        if (!ran)
            std::replace(r.state.begin(), r.state.begin() + count, thread_state::waiting, thread_state::ready);
        else if (moved)
            r.launch->moved = nanoseconds_now();
        else
            wait_for_others(r);
    }
}

/* Runs blocks until there are no more. */
void run_blocks(runner &r)
{
    code_launch *launch = r.launch;
    const uint64_t blocks = (uint64_t)launch->blocks[0] * launch->blocks[1] * launch->blocks[2];
    const size_t threads = (size_t)launch->threads[0] * launch->threads[1] * launch->threads[2];
    r.place = launch->code->begin(&r.dynamic);
    r.main = co_active();
    r.place->leave = leave_fiber;
    std::copy_n(launch->blocks, 3, r.place->blocks);
    std::copy_n(launch->threads, 3, r.place->threads);
    r.fiber_of.resize(threads);
    r.state.resize(threads);
    active = &r;
    for (uint64_t block; !launch->out_of_memory && !launch->ended && (block = launch->next++) < blocks;)
        run_block(r, block);
}

/* Runs blocks on the calling thread. A fiber may use up its stack, so a handler needs another one. */
void run_here(runner *r)
{
    void *signals = cpu_signal_stack_begin();
    try {
        run_blocks(*r);
    } catch (const std::bad_alloc &) {
        r->launch->out_of_memory = true;
    }
    if (r->place)
        r->place->leave = nullptr;
    cpu_signal_stack_end(signals);
}

/* Runs blocks on one thread per processor, and at least two: on a GPU, too, blocks run at the same time. */
void run_launch(code_launch *launch, uint64_t blocks)
{
    enum { FEW = 32, MANY = 256 };
    constexpr unsigned fewest = 2, most = 16;
    cpu_set_t set;
    const int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    launch->processors = processors;
    launch->yields = processors == 1 ? FEW : MANY; /* after a yield it may take long until the thread runs again */
    launch->moved = nanoseconds_now();
    add_runners(launch, (unsigned)std::min<uint64_t>(std::clamp((unsigned)processors, fewest, most), blocks));
    if (launch->runner_count > 0)
        run_here(launch->runners[0].get());
    for (size_t i = 1;; i++) { /* a runner may add others until it ends */
        std::unique_lock<std::mutex> guard(launch->lock);
        if (i >= launch->runners.size()) /* no runner: memory for the first one was missing */
            break;
        std::thread &ending = launch->runners[i]->thread;
        guard.unlock();
        ending.join();
    }
}

/* ------------------------------------------------------------------------------------------------ compilation ---- */

fl_status load(const fl_host *host, const hip_code_job *job, void **handle)
{
    static const char *const libraries[] = {"-lgcc", COMPILER_MATH, COMPILER_C, nullptr};
    std::vector<const char *> arguments = {
        "-std=gnu++17",
        "-shared",
        "-fPIC",
        "-O2",
        "-fvisibility=hidden",
        "-fno-exceptions",
        "-fno-rtti",
        "-fwrapv",
        "-fno-strict-aliasing",
        "-ffp-contract=off",
        "-fsanitize=thread",
        "-nostdlib",
        "-Wl,-Bsymbolic", /* a kernel may have the name of a function of the C library */
        COMPILER_LINK,
        "-ftabstop=1"};
    for (const char *const *option = job->options; *option; option++)
        arguments.push_back(*option);
    arguments.push_back(nullptr);
    const std::string text = make_text(job);
    const compiler_job compiled = {"c++", arguments.data(), libraries, text.c_str(), job->output, job->output_size};
    return compiler_load(host, &compiled, handle);
}

fl_status find_kernels(const fl_host *host, const hip_code_job *job, hip_code *code)
{
    code->begin = reinterpret_cast<code_place *(*)(unsigned char **)>(dlsym(code->handle, "flynn_begin"));
    for (int i = 0; job->kernels[i]; i++) {
        const std::string name = "flynn_kernel_" + std::to_string(i);
        code->kernels.push_back(reinterpret_cast<code_kernel>(dlsym(code->handle, name.c_str())));
    }
    if (!code->begin || std::count(code->kernels.begin(), code->kernels.end(), nullptr) > 0)
        return host->error(FL_E_DEVICE, "the compiler made something else than the kernel");
    return FL_OK;
}

} // namespace

fl_status hip_code_compile(hip_device *device, const hip_code_job *job, hip_code **code)
{
    std::unique_ptr<hip_code> made;
    fl_status status;
    *code = nullptr;
    try {
        made.reset(new hip_code{});
        made->name = job->name;
        status = load(device->host, job, &made->handle);
        if (status == FL_OK)
            status = find_kernels(device->host, job, made.get());
    } catch (const std::bad_alloc &) {
        status = device->host->error(FL_E_MEMORY, "out of host memory");
    }
    if (status == FL_OK)
        *code = made.release();
    else if (made && made->handle)
        dlclose(made->handle);
    return status;
}

fl_status hip_code_queue(const fl_context *context, const hip_code *code, int kernel, dim3 grid, dim3 block,
                         size_t shared, void **arguments)
{
    const hip_device *device = hip_device_of(context);
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    code_launch launch = {code->kernels[(size_t)kernel], code,   {grid.x, grid.y, grid.z},
                          {block.x, block.y, block.z},   shared, arguments,
                          code->launches++ << 32};
    try {
        run_launch(&launch, blocks);
    } catch (const std::bad_alloc &) {
        launch.out_of_memory = true;
    }
    if (launch.ended)
        return device->host->error(FL_E_DEVICE, "%s calls %s instead of returning", code->name.c_str(),
                                   launch.ended.load());
    return launch.out_of_memory ? device->host->error(FL_E_MEMORY, "out of host memory for a block's threads") : FL_OK;
}

fl_status hip_code_symbol(const hip_device *device, const hip_code *code, const char *name, void **address,
                          size_t *bytes)
{
    Dl_info own, found;
    ElfW(Sym) *symbol = nullptr;
    void *at = dlsym(code->handle, name);
    if (!at || !dladdr1(at, &found, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) || !symbol ||
        ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !dladdr(reinterpret_cast<void *>(code->begin), &own) ||
        own.dli_fbase != found.dli_fbase)
        return device->host->error(FL_E_ARGUMENT, "the text has no __constant__ or __device__ variable '%s'", name);
    *address = at;
    *bytes = (size_t)symbol->st_size;
    return FL_OK;
}

void hip_code_free(hip_device *, hip_code *code)
{
    if (!code)
        return;
    dlclose(code->handle);
    delete code;
}

#endif
