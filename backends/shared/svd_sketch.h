/* SPDX-License-Identifier: MIT
 *
 * svd_sketch.h - the random vectors of the randomized decompositions on a CPU and a GPU: how many, and their elements.
 */
#ifndef FLYNN_SVD_SKETCH_H
#define FLYNN_SVD_SKETCH_H

#include <flynn/plugin.h>

#include <math.h>
#include <string.h>

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

/* -ln(x 2^-24), x from 0.5 to 2^24: x is m 2^e, m from sqrt(1/2) to sqrt(2), and ln m = 2 artanh((m - 1) / (m + 1)).
 * The first term of its series that is left out is 9e-8 of it. A library's function would keep loops from becoming
 * vectors. */
SVD_ANYWHERE static inline float random_minus_log(float x)
{
    const uint32_t root = 0x3f3504f3; /* sqrt(1/2) */
    uint32_t bits;
    float m;

    memcpy(&bits, &x, sizeof bits);
    const int32_t e = (int32_t)(bits - root) >> 23;
    bits -= (uint32_t)e << 23;
    memcpy(&m, &bits, sizeof m);
    const float y = (m - 1) / (m + 1), yy = y * y;
    return (float)(24 - e) * 0.69314718f - 2 * y * (1 + yy * (1 / 3.0f + yy * (1 / 5.0f + yy * (1 / 7.0f))));
}

/* cos(2 pi x 2^-32), as the sine of a quarter of a turn less the angle, by the first six terms of its series: the next
 * one is 6e-8. */
SVD_ANYWHERE static inline float random_cosine(int32_t x)
{
    const float y = 6.2831853f * (0.25f - fabsf((float)x) * 0x1p-32f), yy = -y * y;
    const float rest = 1 / 5040.0f + yy * (1 / 362880.0f + yy * (1 / 39916800.0f));

    return y * (1 + yy * (1 / 6.0f + yy * (1 / 120.0f + yy * rest)));
}

/* A number of a normal distribution, by Box and Muller, from a random word: 24 and 32 bits. f32 is enough: the sketch
 * must be random, not exact. */
SVD_ANYWHERE static inline float normal_of_word(uint64_t word)
{
    const float radius = sqrtf(2 * random_minus_log((float)(int32_t)(word >> 40) + 0.5f));

    return radius * random_cosine((int32_t)(uint32_t)word);
}

/* The counter-th number of the sketch. */
SVD_ANYWHERE static inline float random_normal(uint64_t seed, uint64_t counter)
{
    return normal_of_word(random_word(seed, counter));
}

#endif
