/* SPDX-License-Identifier: MIT
 *
 * split.hpp - products of f32 by tensor cores, which multiply TF32: each factor is the sum of two numbers of TF32, and
 * a product that of three of theirs. For NVIDIA's Hopper (sm_90); plugins for other GPUs are built without it.
 */
#ifndef FLYNN_HIP_SPLIT_HPP
#define FLYNN_HIP_SPLIT_HPP

#include "product.hpp"

#include <cfloat>

/* With this number of terms and more the error is below that of other sums of f32, (terms + 1) units of rounding:
 * docs/accuracy.md.
 */
constexpr int64_t split_least_terms = 96;

/* The least tolerance that such a product takes: relative to the sum over absolute values. */
inline double hip_split_bound(int64_t terms)
{
    return (86 + std::ceil((double)terms / 32)) * FLT_EPSILON / 2;
}

#if defined(FLYNN_GPU_SPLIT)

/* fl_row.available: whether the GPU is one for which the kernels were compiled. */
fl_status hip_split_ready(void *device, char *why, size_t size);

/* Whether the kernels take the product: it has terms enough for the error, and is not of transposed matrices. */
bool hip_split_takes(const factors<float> &m);

/* Whether they are the fastest: then it also has tiles enough for the GPU, and aligned rows. */
bool hip_split_worth(const hip_device *device, const factors<float> &m);

void hip_split_plan(const factors<float> &m, fl_launch *launch);

/* Returns whether `launch` was filled by hip_split_plan. */
bool hip_split_planned(const fl_launch *launch);

/* c = a diag(s) b; where m.s is NULL, a b. */
fl_status hip_split_multiply(const fl_context *context, const factors<float> &m, const fl_launch *launch);

#else

inline bool hip_split_worth(const hip_device *, const factors<float> &)
{
    return false;
}

inline void hip_split_plan(const factors<float> &, fl_launch *)
{
}

inline bool hip_split_planned(const fl_launch *)
{
    return false;
}

inline fl_status hip_split_multiply(const fl_context *context, const factors<float> &, const fl_launch *)
{
    return context->host->error(FL_E_UNSUPPORTED, "this plugin was built without tensor cores");
}

#endif

#endif
