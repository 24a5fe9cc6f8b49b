/* SPDX-License-Identifier: MIT
 *
 * gpu_matrix.h - matrix instructions: the 64 lanes of a wavefront together add the product of two small matrices to a
 * third one, which is spread over their registers. AMD's CDNA 2 and later have them (MFMA) for f32 and f64: see "AMD
 * Instinct MI200 Instruction Set Architecture", and AMD's Matrix Instruction Calculator. CDNA 1 (gfx908) has those for
 * f32, but clang 17 (hipcc 5.7) stops there with "Illegal instruction detected", where it copies the sums from one kind
 * of registers to the other.
 */
#ifndef FLYNN_HIP_GPU_MATRIX_H
#define FLYNN_HIP_GPU_MATRIX_H

#include "gpu_registers.h"

/* sums += a b: a has `side` rows and `depth` columns, b is the other way around, sums a square. A lane gives
 * a[lane % side][lane / side] and b[lane / side][lane % side]; it has the sums of the column lane % side in the rows
 * row_of(lane, 0), row_of(lane, 1) ... */
template <typename T>
struct gpu_matrix {
    static constexpr bool exists = false;
};

#if defined(GPU_AMD_CDNA2)
template <>
struct gpu_matrix<float> {
    static constexpr bool exists = true;
    static constexpr int lanes = 64, side = 32, depth = 2, elements = side * side / lanes;
    typedef float sums __attribute__((ext_vector_type(elements)));

    static __device__ constexpr int row_of(int lane, int e)
    {
        return e / 4 * 8 + lane / side * 4 + e % 4;
    }

    static __device__ void multiply_add(float a, float b, sums &sum)
    {
        sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, sum, 0, 0, 0);
    }
};

template <>
struct gpu_matrix<double> {
    static constexpr bool exists = true;
    static constexpr int lanes = 64, side = 16, depth = 4, elements = side * side / lanes;
    typedef double sums __attribute__((ext_vector_type(elements)));

    static __device__ constexpr int row_of(int lane, int e)
    {
        return e * 4 + lane / side;
    }

    static __device__ void multiply_add(double a, double b, sums &sum)
    {
        sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, sum, 0, 0, 0);
    }
};
#endif

#endif
