/* SPDX-License-Identifier: MIT
 *
 * kernel.hpp - HIP's names for Flynn's own kernels, which are compiled into the plugin: where a thread is, barriers,
 * atomics, and the launch. Kernels of the user's have code/prelude.h and code/threads.h.
 */
#ifndef FLYNN_SIMT_KERNEL_HPP
#define FLYNN_SIMT_KERNEL_HPP

#include "run.hpp"
#include "runtime.hpp"

#include <math.h>
#include <tuple>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z)
    {
    }
};

namespace simt
{

/* The place of the calling processor thread, for the kernels of the plugin. */
extern __thread simt_place here __attribute__((tls_model("initial-exec")));

simt_place *begin_here();

/* Runs kernel(arguments...) in all threads of the grid. */
template <typename... Parameters, typename... Arguments>
error launch_kernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t shared, Arguments... arguments)
{
    struct call {
        void (*kernel)(Parameters...);
        std::tuple<Parameters...> arguments;
    } called = {kernel, std::tuple<Parameters...>(static_cast<Parameters>(arguments)...)};
    void *pointer = &called;
    const char *ended;
    const grid all = {[](void **at) {
                          const call &c = *static_cast<const call *>(*at);
                          std::apply(c.kernel, c.arguments);
                      },
                      &pointer,
                      {blocks.x, blocks.y, blocks.z},
                      {threads.x, threads.y, threads.z},
                      shared,
                      begin_here,
                      false,
                      0,
                      nullptr};
    return run(all, &ended) == outcome::done ? error::success : error::out_of_memory;
}

} // namespace simt

#define threadIdx simt::here.thread
#define blockIdx simt::here.block
#define blockDim simt::here.threads
#define gridDim simt::here.blocks

inline void __syncthreads()
{
    simt::here.leave(&simt::here, SIMT_AT_BARRIER);
}

inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}

inline int __popcll(unsigned long long bits)
{
    return __builtin_popcountll(bits);
}

/* Blocks run on several processors. */
template <typename T>
inline T atomicAdd(T *at, T value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

template <typename T>
inline T atomicMax(T *at, T value)
{
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return old;
}

#endif
