/* SPDX-License-Identifier: MIT
 *
 * gpu_matrix.h - matrix instructions: the lanes of a wavefront together add the product of two small matrices to a
 * third one, which is spread over their registers. AMD's CDNA 2 and later have them (MFMA) for f32 and f64: see "AMD
 * Instinct MI200 Instruction Set Architecture", and AMD's Matrix Instruction Calculator. CDNA 1 (gfx908) has those for
 * f32, but clang 17 (hipcc 5.7) stops there with "Illegal instruction detected", where it copies the sums from one kind
 * of registers to the other. NVIDIA's tensor cores have them for f64 (DMMA): see "PTX ISA", the section on mma; in f32
 * they compute TF32, which is not f32. With Hopper's m16n8k8 (compute capability 9.0) they reach twice the rate of its
 * other units.
 */
#ifndef FLYNN_HIP_GPU_MATRIX_H
#define FLYNN_HIP_GPU_MATRIX_H

#include "gpu_registers.h"

/* sums += a b: a has `height` rows and `depth` columns, b has `depth` rows and `width` columns. A lane gives `a_count`
 * elements of a, the e-th at [row_of_a(lane, e)][term_of_a(lane, e)], and `b_count` of b, at [term_of_b][column_of_b];
 * it has `elements` of the sums, at [row_of][column_of]. */
template <typename T>
struct gpu_matrix {
    static constexpr bool exists = false;
};

#if defined(GPU_AMD_CDNA2)
/* A lane has one element of a and of b, and sums of one column. */
template <int Side, int Depth>
struct gpu_square {
    static constexpr bool exists = true;
    static constexpr int lanes = 64, height = Side, width = Side, depth = Depth, elements = Side * Side / lanes;
    static constexpr int a_count = 1, b_count = 1;

    static __device__ constexpr int row_of_a(int lane, int)
    {
        return lane % Side;
    }
    static __device__ constexpr int term_of_a(int lane, int)
    {
        return lane / Side;
    }
    static __device__ constexpr int term_of_b(int lane, int)
    {
        return lane / Side;
    }
    static __device__ constexpr int column_of_b(int lane, int)
    {
        return lane % Side;
    }
    static __device__ constexpr int column_of(int lane, int)
    {
        return lane % Side;
    }
};

template <>
struct gpu_matrix<float> : gpu_square<32, 2> {
    typedef float sums __attribute__((ext_vector_type(elements)));

    static __device__ constexpr int row_of(int lane, int e)
    {
        return e / 4 * 8 + lane / height * 4 + e % 4;
    }

    static __device__ void multiply_add(const float (&a)[1], const float (&b)[1], sums &sum)
    {
        sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a[0], b[0], sum, 0, 0, 0);
    }
};

template <>
struct gpu_matrix<double> : gpu_square<16, 4> {
    typedef double sums __attribute__((ext_vector_type(elements)));

    static __device__ constexpr int row_of(int lane, int e)
    {
        return e * 4 + lane / height;
    }

    static __device__ void multiply_add(const double (&a)[1], const double (&b)[1], sums &sum)
    {
        sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[0], b[0], sum, 0, 0, 0);
    }
};
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
template <>
struct gpu_matrix<double> {
    static constexpr bool exists = true;
    static constexpr int lanes = 32, height = 16, width = 8, depth = 8, elements = 4;
    static constexpr int a_count = 4, b_count = 2;
    struct sums {
        double value[elements];

        __device__ double operator[](int e) const
        {
            return value[e];
        }
    };

    static __device__ constexpr int row_of_a(int lane, int e)
    {
        return lane / 4 + e % 2 * 8;
    }
    static __device__ constexpr int term_of_a(int lane, int e)
    {
        return lane % 4 + e / 2 * 4;
    }
    static __device__ constexpr int term_of_b(int lane, int e)
    {
        return lane % 4 + e * 4;
    }
    static __device__ constexpr int column_of_b(int lane, int)
    {
        return lane / 4;
    }
    static __device__ constexpr int row_of(int lane, int e)
    {
        return lane / 4 + e / 2 * 8;
    }
    static __device__ constexpr int column_of(int lane, int e)
    {
        return lane % 4 * 2 + e % 2;
    }

    static __device__ void multiply_add(const double (&a)[4], const double (&b)[2], sums &sum)
    {
        double(&c)[elements] = sum.value;
        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
            "%2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
    }
};
#endif

#endif
