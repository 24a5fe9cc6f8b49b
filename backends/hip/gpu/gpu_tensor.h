/* SPDX-License-Identifier: MIT
 *
 * gpu_tensor.h - what a block does on NVIDIA's Hopper (sm_90a) to keep its tensor cores busy: copies from global to
 * shared memory that no thread waits for, barriers of some of a block's warps, registers that one warp group gives to
 * the others, and products of TF32 by a warp group, which is four warps. See "PTX ISA", the sections on cp.async,
 * barrier, setmaxnreg and wgmma. Code for sm_90a runs on no other GPU, so that only split.hip.cpp includes this file.
 */
#ifndef FLYNN_HIP_GPU_TENSOR_H
#define FLYNN_HIP_GPU_TENSOR_H

#include "gpu_registers.h"

constexpr const char *gpu_tensor_architecture = "sm_90";
constexpr int gpu_group = 128; /* threads of a warp group */

/* ------------------------------------------------------------------------------------------------ a block ---- */

/* An address of shared memory, as the instructions below take it. */
__device__ inline uint32_t gpu_shared_address(const void *at)
{
    return (uint32_t)__cvta_generic_to_shared(at);
}

/* All threads of the warp group have `count` registers each from here on; the block's kernel was compiled for as many
 * as all of its threads have on average. */
template <int count>
__device__ inline void gpu_give_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ inline void gpu_take_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

/* Barriers 1 to 15 of a block. gpu_meet waits until `threads` threads have met or arrived there; gpu_arrive does not
 * wait. What a thread wrote to shared memory before it met or arrived is seen by the threads that have met. */
__device__ inline void gpu_meet(int barrier, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ inline void gpu_arrive(int barrier, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/* Tensor cores read shared memory by a path of their own: after this call and the next barrier they see what this
 * thread wrote. */
__device__ inline void gpu_publish()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ----------------------------------------------------------------------------------------------- its copies ---- */

/* Begins to copy `bytes` bytes, at most `size`, which is 4 or 16, to shared memory, and zeros after them up to `size`.
 */
template <int size>
__device__ inline void gpu_copy(uint32_t to, const void *from, int bytes)
{
    if constexpr (size == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
/* Copies that were begun since the last call are a set. */
__device__ inline void gpu_end_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits until all sets of this thread but the last `left` are there. */
template <int left>
__device__ inline void gpu_wait_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

__device__ inline void gpu_store(uint32_t to, const uint32_t (&x)[4])
{
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
}

/* -------------------------------------------------------------------------------------------- tensor cores ---- */

/* sums += a b, a group's product: a has 64 rows, b 128 columns, both 8 terms. A warp of the group has 16 rows of a and
 * of the sums. A lane has two of these rows, lane / 4 and lane / 4 + 8. For each row it passes two terms of a, lane % 4
 * and lane % 4 + 4, in a[row / 8 + term / 4 * 2]. For each row and each j it receives two neighbouring columns of the
 * sums, from column 8 j + lane % 4 * 2 on, in sums[4 j + row / 8 * 2] and the next element. b is in shared memory,
 * where the terms of a column follow each other: see gpu_tensor_tile. */
constexpr int gpu_tensor_rows = 64, gpu_tensor_columns = 128, gpu_tensor_terms = 8, gpu_tensor_sums = 64;

/* The tile of b, 128 columns of 32 terms, that begins at a multiple of 1024 bytes: column n's terms are at n * 128
 * bytes, in chunks of 16 bytes of which chunk c is at c ^ n % 8, so that no two of eight columns are in one bank. */
constexpr int gpu_tensor_depth = 32, gpu_tensor_tile_bytes = 128 * gpu_tensor_columns, gpu_tensor_alignment = 1024;

__device__ inline int gpu_tensor_chunk(int column, int chunk)
{
    return column * 128 + (chunk ^ column % 8) * 16;
}

/* How the instruction names the 8 terms of the tile from `term` on: eight columns are 1024 bytes, chunks as above. */
__device__ inline uint64_t gpu_tensor_tile(uint32_t tile, int term)
{
    return (uint64_t)((tile + (uint32_t)term * 4) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

/* Comes before the first product of a set, after ordinary instructions have written its sums and its elements of a, for
 * each of which gpu_tensor_take was called. */
__device__ inline void gpu_tensor_take(uint32_t (&a)[4])
{
    asm volatile("" : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3])::"memory");
}
__device__ inline void gpu_tensor_begin(float (&sums)[gpu_tensor_sums])
{
    GPU_UNROLL
    for (int e = 0; e < gpu_tensor_sums; e++)
        asm volatile("" : "+f"(sums[e])::"memory");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* Queues a product; without `keeps` the sums were 0. */
__device__ inline void gpu_tensor_add(float (&sums)[gpu_tensor_sums], const uint32_t (&a)[4], uint64_t b, int keeps)
{
    asm volatile(
        "{\n"
        ".reg .pred keeps;\n"
        "setp.ne.b32 keeps, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
        "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, "
        "%35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, "
        "%57, %58, %59, %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, keeps, 1, 1;\n"
        "}\n"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]),
          "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]), "+f"(sums[12]), "+f"(sums[13]),
          "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]), "+f"(sums[18]), "+f"(sums[19]),
          "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]), "+f"(sums[24]), "+f"(sums[25]),
          "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]), "+f"(sums[31]),
          "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]), "+f"(sums[36]), "+f"(sums[37]),
          "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]), "+f"(sums[42]), "+f"(sums[43]),
          "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47]), "+f"(sums[48]), "+f"(sums[49]),
          "+f"(sums[50]), "+f"(sums[51]), "+f"(sums[52]), "+f"(sums[53]), "+f"(sums[54]), "+f"(sums[55]),
          "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]), "+f"(sums[60]), "+f"(sums[61]),
          "+f"(sums[62]), "+f"(sums[63])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keeps));
}

/* Products that were queued since the last call are a set. */
__device__ inline void gpu_tensor_end()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/* Waits until all sets but the last `left` are done: their elements of a may change; with 0, the sums are there. */
template <int left>
__device__ inline void gpu_tensor_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

#endif
