/* SPDX-License-Identifier: MIT
 *
 * primes_sieve.h - the sieve of Eratosthenes, for primes.c: in segments that stay in the first cache (Bays and Hudson,
 * "The segmented sieve of Eratosthenes and primes in arithmetic progressions to 10^12", BIT 17, 1977), on a wheel
 * (Pritchard, "Explaining the wheel sieve", Acta Informatica 17, 1982).
 *
 * A wheel of modulus M = 30 or 210 has the numbers M i + r without those that a prime factor of M divides: r is one of
 * 8 or 48 remainders. Each remainder has bits of its own, a plane; bit i of it stands for M i + r. The multiples of any
 * other prime p are p bits apart in every plane, so that one loop strikes them out. A plane is as long as a segment.
 */
#ifndef FLYNN_CPU_PRIMES_SIEVE_H
#define FLYNN_CPU_PRIMES_SIEVE_H

#include "operation.h"

#include <math.h>
#include <string.h>

enum {
    SEGMENT = 1 << 18,           /* bits: 32 KiB, the first cache or two thirds of it */
    LEAST_SEGMENT = 1 << 14,     /* where threads share few numbers: each segment costs some ns for each prime */
    MOST_REMAINDERS = 48,        /* of a wheel */
    MOST_PATTERNS = 13,          /* of two or three primes each, from 7 to LAST_IN_PATTERN */
    MOST_PERIOD = 1 << 14,       /* bytes of a pattern */
    LAST_IN_PATTERN = 127,       /* the largest prime in one */
    PIECE = 1 << 10,             /* bytes of a plane that all patterns are put into before the next piece */
    STRIKES_IN_ROUNDS = 48,      /* of a prime in a segment: from so many on it pays to go by rounds of eight */
    MOST_MEMORY = 100 * 1 << 20, /* bytes for the planes of all threads */
};

/* The largest integer whose square is at most n. Exact: n is at most 2^40, so that a root that is not an integer is
 * further from the next one than a double is rounded. */
static inline int64_t integer_root(int64_t n)
{
    return (int64_t)sqrt((double)n);
}

/* Bits without the multiples of some primes, which lie the same way again after as many bytes as the primes' product.
 * Bit x is 0 if one of the primes divides x. */
typedef struct sieve_pattern {
    uint8_t *bytes; /* `period` of them, and then the first PIECE again */
    int32_t period;
    int32_t inverse, inverse_of_8; /* of the wheel's modulus, and of 8, modulo the period */
} sieve_pattern;

typedef struct sieve {
    int64_t first, upto; /* the numbers */
    int32_t modulus, remainders, remainder[MOST_REMAINDERS];
    int64_t begin, length, segments; /* the i of the first bit; bits of a segment, a multiple of 64 */
    int64_t pitch;                   /* bytes of a plane, with room beyond the segment for what is struck out there */
    int64_t count;            /* of the primes up to the root of the largest number that do not divide the modulus */
    int64_t in_patterns;      /* the first of them, which are in the patterns */
    int32_t *prime, *inverse; /* inverse: of the modulus, modulo the prime */
    int64_t root;             /* of the largest number */
    uint8_t *is_prime;        /* is_prime[n / 2]: whether n, odd and up to the root, is prime */
    int32_t pattern_count;
    sieve_pattern pattern[MOST_PATTERNS];
    int64_t runs;    /* threads that sieve at once */
    uint8_t *planes; /* for each of them one or `remainders` */
    int32_t *starts; /* for each of them: the first bit to strike out, for each prime */
} sieve;

/* --------------------------------------------------------------------------------------------- preparing ---- */

/* x with a x = 1 modulo n: of the numbers n k + 1 the first one that a divides. a is small and has no factor of n. */
static int32_t CPU_NAME(inverse_of)(int32_t a, int32_t n)
{
    const int32_t step = n % a;
    int32_t rest = 1 % a; /* of n k + 1 */
    int64_t k = 0;

    for (; rest != 0; k++) {
        rest += step;
        rest -= rest >= a ? a : 0;
    }
    return (int32_t)((k * n + 1) / a % n);
}

/* The wheel's remainders; the factors of the modulus are below 11. */
static void CPU_NAME(sieve_wheel)(sieve *s, int32_t modulus)
{
    s->modulus = modulus;
    s->remainders = 0;
    for (int32_t r = 1; r < modulus; r++)
        if (r % 2 && r % 3 && r % 5 && (modulus % 7 || r % 7))
            s->remainder[s->remainders++] = r;
}

/* The primes from 7 or 11 to the root, by a plain sieve of the odd numbers. */
static void CPU_NAME(sieve_primes)(sieve *s)
{
    uint8_t *is_prime = s->is_prime;

    memset(is_prime, 1, (size_t)s->root / 2 + 1);
    for (int64_t n = 3; n * n <= s->root; n += 2)
        for (int64_t m = n * n; is_prime[n / 2] && m <= s->root; m += 2 * n)
            is_prime[m / 2] = 0;
    s->count = 0;
    for (int64_t n = s->modulus % 7 ? 7 : 11; n <= s->root; n += 2)
        if (is_prime[n / 2]) {
            s->prime[s->count] = (int32_t)n;
            s->inverse[s->count++] = CPU_NAME(inverse_of)(s->modulus, (int32_t)n);
        }
}

/* A pattern of the primes from the from-th to before the end-th. */
static void CPU_NAME(pattern_make)(const sieve *s, sieve_pattern *p, int64_t from, int64_t end)
{
    memset(p->bytes, 0xff, (size_t)p->period);
    for (int64_t k = from; k < end; k++)
        for (int64_t x = 0; x < 8 * (int64_t)p->period; x += s->prime[k])
            p->bytes[x >> 3] &= (uint8_t) ~(1u << (x & 7));
    for (int64_t b = p->period; b < p->period + PIECE; b++)
        p->bytes[b] = p->bytes[b - p->period];
    p->inverse = CPU_NAME(inverse_of)(s->modulus, p->period);
    p->inverse_of_8 = CPU_NAME(inverse_of)(8, p->period);
}

/* Patterns of as many primes each as MOST_PERIOD allows, as long as making one strikes out less than half of what it
 * saves. */
static void CPU_NAME(sieve_patterns)(sieve *s, uint8_t *memory)
{
    const int64_t most = s->length * s->segments * s->remainders / 16;

    s->pattern_count = 0;
    s->in_patterns = 0;
    while (s->in_patterns < s->count && s->prime[s->in_patterns] < LAST_IN_PATTERN) {
        sieve_pattern *p = &s->pattern[s->pattern_count];
        int64_t period = 1, end = s->in_patterns;
        while (end < s->count && period * s->prime[end] <= MOST_PERIOD)
            period *= s->prime[end++];
        if (period > most || end == s->count)
            break;
        *p = (sieve_pattern){memory, (int32_t)period, 0, 0};
        CPU_NAME(pattern_make)(s, p, s->in_patterns, end);
        memory += period + PIECE;
        s->in_patterns = end;
        s->pattern_count++;
    }
}

/* How the planes are divided: into segments that grow with the root, so that each prime strikes about once in each;
 * into as many for each thread, where threads share segments. */
static void CPU_NAME(sieve_divide)(sieve *s, int team)
{
    const int64_t bits = (s->upto + s->modulus - 1) / s->modulus - s->first / s->modulus;
    const int64_t most = max64(SEGMENT, s->root), least = min64(most, LEAST_SEGMENT);
    int64_t segments = (bits + most - 1) / most;

    segments = max64(segments, min64((segments + team - 1) / team * team, bits / least));
    s->begin = s->first / s->modulus;
    s->length = ((bits + segments - 1) / segments + 63) / 64 * 64;
    s->segments = (bits + s->length - 1) / s->length;
    s->pitch = (s->length / 8 + s->root / 8 + 127) / 64 * 64;
}

/* Divides the numbers, takes memory for it all, with that many planes for each of up to `team` threads, and makes what
 * all segments have in common. */
static fl_status CPU_NAME(sieve_prepare)(const fl_context *context, const fl_primes_args *p, int32_t modulus,
                                         int32_t planes, int team, sieve *s)
{
    int64_t most, patterns, run;
    fl_status status;
    void *memory;

    s->first = p->first;
    s->upto = p->upto;
    s->root = integer_root(p->upto - 1);
    most = (s->root / 30 + 1) * 8; /* primes */
    CPU_NAME(sieve_wheel)(s, modulus);
    CPU_NAME(sieve_divide)(s, planes > 1 ? team : 1);
    patterns = s->length * s->segments * s->remainders / 16 < 7 * 11 * 13 ? 0 : MOST_PATTERNS * (MOST_PERIOD + PIECE);
    run = planes * s->pitch + most * (int64_t)sizeof *s->starts;
    s->runs = max64(1, min64(min64(team, MOST_MEMORY / run), planes > 1 ? s->segments : s->segments * s->remainders));
    status = context->host->scratch(
        context, (size_t)(s->runs * run + 2 * most * (int64_t)sizeof *s->prime + patterns + s->root / 2 + 1), &memory);
    if (status != FL_OK)
        return status;
    s->planes = memory;
    s->starts = (int32_t *)(s->planes + s->runs * planes * s->pitch);
    s->prime = s->starts + s->runs * most;
    s->inverse = s->prime + most;
    s->is_prime = (uint8_t *)(s->inverse + most);
    CPU_NAME(sieve_primes)(s);
    CPU_NAME(sieve_patterns)(s, s->is_prime + s->root / 2 + 1);
    return FL_OK;
}

/* The primes that divide the modulus, which the wheel leaves out, as far as they are wanted: stores them (out NULL:
 * does not), and returns their number. */
static int64_t CPU_NAME(sieve_factors)(const sieve *s, int64_t *out)
{
    static const int64_t primes[] = {2, 3, 5, 7};
    int64_t kept = 0;

    for (int k = 0; k < 4; k++) {
        if (s->modulus % primes[k] != 0 || primes[k] < s->first || primes[k] >= s->upto)
            continue;
        if (out)
            out[kept] = primes[k];
        kept++;
    }
    return kept;
}

/* ------------------------------------------------------------------------------------- a plane's segment ---- */

/* The bits from `at` on, without the multiples of the primes in patterns. */
static void CPU_NAME(sieve_begin)(const sieve *s, int32_t remainder, int64_t at, uint8_t *plane)
{
    int64_t place[MOST_PATTERNS];

    for (int g = 0; g < s->pattern_count; g++) {
        const sieve_pattern *p = &s->pattern[g];
        place[g] = (at + (int64_t)remainder * p->inverse) % p->period * p->inverse_of_8 % p->period;
    }
    for (int64_t b = 0; b < s->length / 8; b += PIECE) {
        const int64_t bytes = min64(PIECE, s->length / 8 - b);
        memset(plane + b, 0xff, (size_t)bytes);
        for (int g = 0; g < s->pattern_count; g++) {
            const uint8_t *restrict pattern = s->pattern[g].bytes + place[g];
            uint8_t *restrict to = plane + b;
#pragma omp simd
            for (int64_t i = 0; i < bytes; i++)
                to[i] &= pattern[i];
            place[g] = (place[g] + bytes) % s->pattern[g].period;
        }
    }
}

/* How many primes have their square before the bit `end`. */
static int64_t CPU_NAME(sieve_striking)(const sieve *s, int64_t end)
{
    int64_t low = 0, high = s->count;

    while (low < high) {
        const int64_t k = (low + high) / 2;
        if ((int64_t)s->prime[k] * s->prime[k] < end * s->modulus)
            low = k + 1;
        else
            high = k;
    }
    return low;
}

/* start[k]: the first bit from `at` on that the k-th prime p divides, less than p after it. All in doubles, of which
 * the compiler makes vectors: the quotient, rounded to an integer by adding 1.5 2^52, is at most one off, and all
 * integers here are below 2^53. */
static void CPU_NAME(sieve_starts)(const sieve *s, int32_t remainder, int64_t at, int64_t striking, int32_t *start)
{
    const double from = (double)at, of = (double)remainder, integer = 0x1.8p52;
    const int32_t *restrict prime = s->prime, *restrict inverse = s->inverse;
    int32_t *restrict to = start;

#pragma omp simd
    for (int64_t k = s->in_patterns; k < striking; k++) {
        const double p = (double)prime[k], x = from + of * (double)inverse[k], quotient = x / p + integer - integer;
        const double rest = x - quotient * p;
        to[k] = (int32_t)(rest > 0 ? p - rest : -rest);
    }
}

static inline void CPU_NAME(strike)(uint32_t *words, int64_t i)
{
    words[i >> 5] &= ~(UINT32_C(1) << (i & 31));
}

/* Strikes out every p-th bit from i on, a multiple of 8, where p = 8 k + `rest`: eight of them are p bytes, whose masks
 * the compiler knows. Returns the first bit that is left, less than eight before the end. */
static inline int64_t CPU_NAME(strike_rounds)(uint8_t *plane, int64_t length, int64_t i, int64_t p, const int rest)
{
    const int64_t k = p >> 3, last = 7 * k + (7 * rest >> 3);
    uint8_t *at = plane + (i >> 3);

#define STRIKE(n) at[(n)*k + ((n)*rest >> 3)] &= (uint8_t) ~(1u << ((n)*rest & 7))
    for (; at + last < plane + (length >> 3); at += p) {
        STRIKE(0);
        STRIKE(1);
        STRIKE(2);
        STRIKE(3);
        STRIKE(4);
        STRIKE(5);
        STRIKE(6);
        STRIKE(7);
    }
#undef STRIKE
    return (int64_t)(at - plane) << 3;
}

/* Strikes out every p-th bit from i on. */
static void CPU_NAME(strike_many)(uint8_t *plane, int64_t length, int64_t i, int64_t p)
{
    uint32_t *words = (uint32_t *)plane;

    for (; (i & 7) != 0 && i < length; i += p)
        CPU_NAME(strike)(words, i);
    if (i < length)
        switch (p & 7) {
        case 1: i = CPU_NAME(strike_rounds)(plane, length, i, p, 1); break;
        case 3: i = CPU_NAME(strike_rounds)(plane, length, i, p, 3); break;
        case 5: i = CPU_NAME(strike_rounds)(plane, length, i, p, 5); break;
        default: i = CPU_NAME(strike_rounds)(plane, length, i, p, 7); break;
        }
    for (; i < length; i += p)
        CPU_NAME(strike)(words, i);
}

/* Strikes out the multiples of all primes that are in no pattern, themselves too. Large primes have one strike after
 * the other, as many as fit from any start and one more, which may lie beyond the segment: neighbours have as many, so
 * that the processor foresees the end of the loop. */
static void CPU_NAME(sieve_strike)(const sieve *s, const int32_t *start, int64_t striking, uint8_t *plane)
{
    uint32_t *words = (uint32_t *)plane;
    int64_t k = s->in_patterns;

    for (; k < striking && s->prime[k] <= s->length / STRIKES_IN_ROUNDS; k++)
        CPU_NAME(strike_many)(plane, s->length, start[k], s->prime[k]);
    while (k < striking) {
        const int64_t strikes = s->length / s->prime[k], most = strikes > 0 ? s->length / strikes : INT32_MAX;
        for (; k < striking && s->prime[k] <= most; k++) {
            const int64_t p = s->prime[k];
            int64_t i = start[k];
            for (int64_t n = 0; n < strikes; n++, i += p)
                CPU_NAME(strike)(words, i);
            CPU_NAME(strike)(words, i);
        }
    }
}

/* Bits of primes up to the root, which struck themselves out; and those outside of the numbers that were asked for, and
 * of 1. */
static void CPU_NAME(sieve_mend)(const sieve *s, int32_t remainder, int64_t at, uint8_t *plane)
{
    const int64_t first = max64(2, s->first) - remainder + s->modulus - 1, upto = s->upto - remainder + s->modulus - 1;
    const int64_t before = first / s->modulus - at, end = upto / s->modulus - at;

    for (int64_t i = 0, n = at * s->modulus + remainder; i < s->length && n <= s->root; i++, n += s->modulus)
        plane[i >> 3] |= (uint8_t)(s->is_prime[n / 2] << (i & 7));
    for (int64_t i = 0; i < min64(before, s->length); i++)
        plane[i >> 3] &= (uint8_t) ~(1u << (i & 7));
    for (int64_t i = max64(0, end); i < s->length; i++)
        plane[i >> 3] &= (uint8_t) ~(1u << (i & 7));
}

/* Sieves the segment's numbers of one remainder; returns how many primes they have. */
static int64_t CPU_NAME(sieve_plane)(const sieve *s, int64_t segment, int32_t remainder, int32_t *start, uint8_t *plane)
{
    const int64_t at = s->begin + segment * s->length, striking = CPU_NAME(sieve_striking)(s, at + s->length);
    int64_t primes = 0;

    CPU_NAME(sieve_begin)(s, remainder, at, plane);
    CPU_NAME(sieve_starts)(s, remainder, at, striking, start);
    CPU_NAME(sieve_strike)(s, start, striking, plane);
    CPU_NAME(sieve_mend)(s, remainder, at, plane);
    for (int64_t b = 0; b < s->length / 8; b += 8) {
        uint64_t bits;
        memcpy(&bits, plane + b, 8);
        primes += __builtin_popcountll(bits);
    }
    return primes;
}

/* -------------------------------------------------------------------------------------------------- list ---- */

/* The 8 by 8 bits of a word, transposed (Warren, "Hacker's Delight", 2002, section 7-3). */
static inline uint64_t CPU_NAME(transposed)(uint64_t x)
{
    uint64_t t = (x ^ (x >> 7)) & UINT64_C(0x00AA00AA00AA00AA);

    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & UINT64_C(0x0000CCCC0000CCCC);
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & UINT64_C(0x00000000F0F0F0F0);
    return x ^ t ^ (t << 28);
}

/* Writes the primes of a segment on the wheel of 30, in order: 8 bits of each of the 8 planes are 240 numbers. */
static void CPU_NAME(sieve_write)(const sieve *s, int64_t segment, const uint8_t *planes, int64_t *out)
{
    int64_t number = (s->begin + segment * s->length) * s->modulus;
    uint8_t after[64]; /* how much larger than `number` that of each bit is */

    for (int i = 0; i < 64; i++)
        after[i] = (uint8_t)(i / 8 * s->modulus + s->remainder[i % 8]);
    for (int64_t b = 0; b < s->length / 8; b += 8) {
        uint64_t words[8];
        for (int i = 0; i < 8; i++) {
            uint64_t bits = 0;
            for (int r = 0; r < 8; r++)
                bits |= (uint64_t)planes[r * s->pitch + b + i] << 8 * r;
            words[i] = CPU_NAME(transposed)(bits);
        }
        for (int i = 0; i < 8; i++, number += 240)
            for (uint64_t bits = words[i]; bits != 0; bits &= bits - 1)
                *out++ = number + after[__builtin_ctzll(bits)];
    }
}

#endif
