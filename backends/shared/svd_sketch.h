/* SPDX-License-Identifier: MIT
 *
 * svd_sketch.h - the random vectors of the randomized decompositions on a CPU and a GPU: how many, and their elements.
 */
#ifndef FLYNN_SVD_SKETCH_H
#define FLYNN_SVD_SKETCH_H

#include <flynn/plugin.h>

#include <math.h>

/* Qualifiers of a function that a GPU also runs; defined by the includer. */
#ifndef SVD_ANYWHERE
#define SVD_ANYWHERE
#endif

/* SVD_OVERSAMPLING random vectors in addition to k, and SVD_POWERS applications of a a' to the sketch: the usual choice
 * (Halko, Martinsson and Tropp, "Finding structure with randomness", SIAM Review 53, 2011, sections 4.2, 4.5).
 */
enum { SVD_OVERSAMPLING = 10, SVD_POWERS = 2 };

/* The number of vectors of the sketch. */
static inline int64_t svd_sketch(const fl_svd_args *args)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1], wanted = args->s.shape[0] + SVD_OVERSAMPLING;
    const int64_t least = m < n ? m : n;

    return wanted < least ? wanted : least;
}

/* fl_row.bound of the randomized variant: nothing bounds its error, which has a small expected value alone, unless the
 * sketch has as many vectors as the matrix. Then it is that of the other variants. */
static inline double svd_sketch_bound(const fl_host *host, const fl_svd_args *args)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1];

    return svd_sketch(args) < (m < n ? m : n) ? (double)INFINITY : host->bound(FL_OP_SVD, "library", args);
}

/* A word that depends on all bits of seed and counter: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014). */
SVD_ANYWHERE static inline uint64_t random_word(uint64_t seed, uint64_t counter)
{
    uint64_t z = (seed ^ UINT64_C(0x6a09e667f3bcc909)) + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The counter-th number of a normal distribution, by Box and Muller, from one word: 24 and 32 bits. f32 is enough: the
 * sketch must be random, not exact. */
SVD_ANYWHERE static inline float random_normal(uint64_t seed, uint64_t counter)
{
    const uint64_t word = random_word(seed, counter);
    const float radius = sqrtf(-2 * logf(((float)(word >> 40) + 0.5f) * 0x1p-24f));

    return radius * cosf((float)(uint32_t)word * (6.2831853f * 0x1p-32f));
}

#endif
