/* SPDX-License-Identifier: MIT
 *
 * Tests of the emulated GPU: which threads run and how often, what they see of their place, barriers, waiting for other
 * blocks, the end of a program, and launches one after the other and at the same time. The test grid_by_ucontext is
 * this one with the switch between fibers that other processors than x86-64 and aarch64 have.
 */
#include "run.hpp"
#include "runtime.hpp"

#include <atomic>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace
{

/* Ends the program with the line that does not hold. */
#define CHECK(holds) \
    do { \
        if (!(holds)) { \
            std::printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #holds); \
            std::exit(1); \
        } \
    } while (0)

thread_local simt_place here, elsewhere;

/* clang takes no address of a thread's variable as an argument of a template. */
simt_place &mine()
{
    return here;
}

simt_place &another()
{
    return elsewhere;
}

simt_place *begin_here()
{
    here.shared = nullptr;
    return &here;
}

simt_place *begin_elsewhere()
{
    elsewhere.shared = nullptr;
    return &elsewhere;
}

/* A thread's number in the whole grid. */
uint64_t number_of(const simt_place &p)
{
    const uint64_t thread = p.thread.x + (uint64_t)p.threads.x * (p.thread.y + (uint64_t)p.threads.y * p.thread.z);
    const uint64_t block = p.block.x + (uint64_t)p.blocks.x * (p.block.y + (uint64_t)p.blocks.y * p.block.z);
    return thread + block * p.threads.x * p.threads.y * p.threads.z;
}

void wait_at_barrier(simt_place &p)
{
    p.leave(&p, SIMT_AT_BARRIER);
}

/* Each thread counts itself in the element of its number. */
template <simt_place &place()>
void count_kernel(void **arguments)
{
    __atomic_fetch_add(static_cast<int *>(arguments[0]) + number_of(place()), 1, __ATOMIC_RELAXED);
}

/* The same before and after a barrier, behind which it sees what the last thread of the block did before it. */
template <simt_place &place()>
void barrier_kernel(void **arguments)
{
    simt_place &p = place();
    int *shared = reinterpret_cast<int *>(p.shared);
    const unsigned count = p.threads.x * p.threads.y * p.threads.z;
    const unsigned thread = p.thread.x + p.threads.x * (p.thread.y + p.threads.y * p.thread.z);
    shared[thread] = (int)thread;
    wait_at_barrier(p);
    const int seen = shared[count - 1 - thread];
    wait_at_barrier(p);
    shared[thread] = -1;
    if (seen == (int)(count - 1 - thread))
        count_kernel<place>(arguments);
}

/* Holds numbers of the thread's own across barriers: in the registers that a called function preserves, as far as there
 * are such. They cannot be computed anew, since the factors are volatile. */
void registers_kernel(void **arguments)
{
    static volatile double factor[8] = {1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5};
    static volatile uint64_t step[8] = {3, 5, 7, 11, 13, 17, 19, 23};
    const uint64_t own = number_of(here) + 1;
    const double x = (double)own, a = x * factor[0], b = x * factor[1], c = x * factor[2], d = x * factor[3],
                 e = x * factor[4], f = x * factor[5], g = x * factor[6], h = x * factor[7];
    const uint64_t i = own * step[0], j = own * step[1], k = own * step[2], l = own * step[3], m = own * step[4],
                   n = own * step[5], o = own * step[6], p = own * step[7];
    wait_at_barrier(here);
    wait_at_barrier(here);
    const double reals = a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h;
    const uint64_t wholes = i + 2 * j + 4 * k + 8 * l + 16 * m + 32 * n + 64 * o + 128 * p;
    const uint64_t thread = number_of(here) + 1;
    if (reals == 1920.5 * (double)thread && wholes == 5041 * thread)
        count_kernel<mine>(arguments);
}

simt::outcome launch(void (*kernel)(void **), simt_place *(*begin)(), void *data, simt_index blocks, simt_index threads,
                     bool watched, const char **ended)
{
    static std::atomic<uint64_t> launches{0};
    void *arguments[] = {data};
    const simt::grid grid = {
        kernel,  arguments, {blocks.x, blocks.y, blocks.z}, {threads.x, threads.y, threads.z}, simt::most_shared, begin,
        watched, launches++, nullptr};
    return simt::run(grid, ended);
}

/* Launches the kernel and checks that each thread of the grid counted itself once. */
void each_once(void (*kernel)(void **), simt_place *(*begin)(), simt_index blocks, simt_index threads, bool watched)
{
    const size_t count = (size_t)blocks.x * blocks.y * blocks.z * threads.x * threads.y * threads.z;
    std::vector<int> counts(count + 1);
    const char *ended;
    CHECK(launch(kernel, begin, counts.data(), blocks, threads, watched, &ended) == simt::outcome::done);
    for (size_t i = 0; i < count; i++)
        CHECK(counts[i] == 1);
    CHECK(counts[count] == 0);
}

const simt_index grids[] = {{1, 1, 1}, {3, 1, 1}, {2, 3, 4}, {1, 7, 1}, {70, 1, 2}};
const simt_index shapes[] = {{1, 1, 1}, {2, 1, 1},  {1, 5, 1},    {1, 1, 3},
                             {8, 4, 2}, {33, 1, 1}, {1024, 1, 1}, {16, 16, 4}};

void every_thread_once()
{
    for (const simt_index &blocks : grids)
        for (const simt_index &threads : shapes)
            for (const bool watched : {false, true})
                each_once(count_kernel<mine>, begin_here, blocks, threads, watched);
}

void barriers()
{
    for (const simt_index &blocks : grids)
        for (const simt_index &threads : shapes)
            for (const bool watched : {false, true})
                each_once(barrier_kernel<mine>, begin_here, blocks, threads, watched);
}

void registers_across_barriers()
{
    for (const bool watched : {false, true})
        each_once(registers_kernel, begin_here, {5, 1, 1}, {128, 1, 1}, watched);
}

/* The state of one launch must not be seen by the next: the place of another kernel has another thread's index. The
 * first kernel ends with the thread before the one with which half of the launches of the second one begin. */
void kernels_in_turns()
{
    for (int i = 0; i < 300; i++) {
        each_once(count_kernel<mine>, begin_here, {2, 1, 1}, {63, 1, 1}, false);
        each_once(i % 2 ? count_kernel<another> : barrier_kernel<another>, begin_elsewhere, {2, 1, 1}, {64, 1, 1},
                  true);
    }
}

void launches_at_the_same_time()
{
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; i++)
        callers.emplace_back([i] {
            for (int j = 0; j < 30; j++)
                each_once(i % 2 ? count_kernel<mine> : barrier_kernel<mine>, begin_here, {9, 1, 1}, {128, 1, 1}, i < 2);
        });
    for (std::thread &caller : callers)
        caller.join();
}

/* The first block waits until the last one has started: more of them run than the machine has processors. */
void last_block_kernel(void **arguments)
{
    int *started = static_cast<int *>(arguments[0]);
    if (here.block.x + 1 == here.blocks.x)
        __atomic_store_n(started, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(started, __ATOMIC_RELAXED))
        here.leave(&here, SIMT_AT_ACCESS);
}

/* Counts the threads that do not round to the nearest number. */
void rounding_kernel(void **arguments)
{
    if (std::fegetround() != FE_TONEAREST)
        __atomic_fetch_add(static_cast<int *>(arguments[0]), 1, __ATOMIC_RELAXED);
    wait_at_barrier(here);
}

void ending_kernel(void **)
{
    if (here.block.x == 2 && here.thread.x == 3) {
        here.ended = "exit";
        here.leave(&here, SIMT_AT_END);
    }
    wait_at_barrier(here);
}
void blocks_that_wait_for_each_other()
{
    int started = 0;
    const char *ended;
    CHECK(launch(last_block_kernel, begin_here, &started, {40, 1, 1}, {32, 1, 1}, true, &ended) == simt::outcome::done);
}

/* The caller's mode of rounding is not the kernel's, also in threads that it starts, and is as before afterwards. */
void modes_of_the_floating_point_unit()
{
    for (const int mode : {FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST}) {
        int others = 0;
        const char *ended;
        std::fesetround(mode);
        for (const bool watched : {false, true})
            CHECK(launch(rounding_kernel, begin_here, &others, {200, 1, 1}, {64, 1, 1}, watched, &ended) ==
                  simt::outcome::done);
        CHECK(others == 0);
        CHECK(std::fegetround() == mode);
    }
}

void end_of_the_program()
{
    const char *ended = nullptr;
    for (int i = 0; i < 20; i++) {
        CHECK(launch(ending_kernel, begin_here, nullptr, {40, 1, 1}, {32, 1, 1}, true, &ended) == simt::outcome::ended);
        CHECK(std::strcmp(ended, "exit") == 0);
        each_once(barrier_kernel<mine>, begin_here, {5, 1, 1}, {64, 1, 1}, true); /* the next launch is not disturbed */
    }
}

/* Arrays are aligned and lie apart, their memory is given back, and more of them than there are places exist. */
void arrays_lie_apart()
{
    const auto size_of = [](size_t i) { return i % 7 == 0 ? 0 : 1000 + i * 100; };
    std::vector<unsigned char *> arrays(simt::place_count + 50);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < arrays.size(); i++) {
            void *memory;
            CHECK(simt::allocate(&memory, size_of(i)) == simt::error::success);
            CHECK(reinterpret_cast<uintptr_t>(memory) % 256 == 0);
            std::memset(memory, (int)(i & 255), size_of(i));
            arrays[i] = static_cast<unsigned char *>(memory);
        }
        for (size_t i = 0; i < arrays.size(); i++) {
            const uintptr_t at = reinterpret_cast<uintptr_t>(arrays[i]);
            for (size_t k = 0; k < size_of(i); k++)
                CHECK(arrays[i][k] == (i & 255));
            for (size_t j = 0; j < i && simt::is_in_places(at); j++) {
                const uintptr_t other = reinterpret_cast<uintptr_t>(arrays[j]);
                CHECK((at > other ? at - other : other - at) > simt::array_distance);
            }
        }
        for (unsigned char *memory : arrays)
            CHECK(simt::release(memory) == simt::error::success);
    }
    for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2, (size_t)1 << 60}) {
        void *memory;
        CHECK(simt::allocate(&memory, bytes) == simt::error::out_of_memory);
    }
}

} // namespace

int main()
{
    every_thread_once();
    barriers();
    registers_across_barriers();
    kernels_in_turns();
    launches_at_the_same_time();
    blocks_that_wait_for_each_other();
    modes_of_the_floating_point_unit();
    end_of_the_program();
    arrays_lie_apart();
    std::puts("9 tests of the emulated GPU: passed");
}
