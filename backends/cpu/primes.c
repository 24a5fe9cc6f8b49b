/* SPDX-License-Identifier: MIT
 *
 * primes.c - the primes between two numbers: by trial division, up to half of each number as the course has it or up to
 * its square root, and by the sieve of Eratosthenes.
 */
#include "operation.h"
#include "openmp.h"

#include <math.h>
#include <string.h>

/* The largest integer whose square is at most n. Exact: n is at most 2^40, so that a root that is not an integer is
 * further from the next one than a double is rounded. */
static inline int64_t integer_root(int64_t n)
{
    return (int64_t)sqrt((double)n);
}

/* ----------------------------------------------------------------------------------------- trial division ---- */

typedef enum division { TO_HALF, TO_ROOT } division;

/* The last number that n is divided by. */
static inline int32_t last_divisor(division how, int32_t n)
{
    return how == TO_HALF ? n / 2 : (int32_t)integer_root(n);
}

/* Numbers beyond INT32_MAX would take longer than anyone waits. */
static fl_status CPU_NAME(refuse_large)(const fl_context *context, int64_t upto)
{
    if (upto <= FL_PRIMES_MOST_TRIAL)
        return FL_OK;
    return context->host->error(FL_E_ARGUMENT,
                                "primes: upto is %lld; trial division goes up to %lld: use sieve, or auto",
                                (long long)upto, (long long)FL_PRIMES_MOST_TRIAL);
}

/* Returns whether n is prime, as the course does it: one division after the other, until one leaves nothing. */
static bool CPU_NAME(is_prime)(uint32_t n, uint32_t last)
{
    for (uint32_t j = 2; j <= last; j++)
        if (n % j == 0)
            return false;
    return true;
}

/* One number after the other. */
static fl_status CPU_NAME(each)(const fl_context *context, const fl_primes_args *p, division how)
{
    int64_t *out = p->out.data, kept = 0;
    fl_status status = CPU_NAME(refuse_large)(context, p->upto);

    if (status != FL_OK)
        return status;
    for (int64_t n = max64(2, p->first); n < p->upto; n++)
        if (CPU_NAME(is_prime)((uint32_t)n, (uint32_t)last_divisor(how, (int32_t)n)))
            out[kept++] = n;
    *(int64_t *)p->count.data = kept;
    return FL_OK;
}

enum {
    FEWEST_DIVISORS = 32, /* tried before one looks whether any divided: most numbers have a small one */
    MOST_DIVISORS = 1024,
    SLICE = 1 << 22, /* numbers decided before the primes among them are collected */
};

/* is_prime in pieces that a vector of divisors takes at once, in floating point, since there are no vectors of integer
 * divisions. It is exact: a quotient that is not an integer is at least 1 / j off the nearest one, 2^-31 of itself or
 * more, and rounded by 2^-53 of itself. */
static bool CPU_NAME(is_prime_by_pieces)(int32_t n, int32_t last)
{
    int32_t length = FEWEST_DIVISORS;

    for (int32_t first = 2; first <= last; first += length, length = length < MOST_DIVISORS ? 2 * length : length) {
        const int32_t end = (int32_t)min64((int64_t)first + length, last + 1);
        int divides = 0;
#pragma omp simd reduction(| : divides)
        for (int32_t j = first; j < end; j++) {
            const double quotient = (double)n / (double)j;
            divides |= quotient == (double)(int32_t)quotient;
        }
        if (divides)
            return false;
    }
    return true;
}

/* About how many divisions deciding all numbers below n takes: primes take all of theirs. */
static double CPU_NAME(divisions)(double n, division how)
{
    return n < 3 ? 0 : how == TO_HALF ? n * n / (4 * log(n)) : n * sqrt(n) / log(n);
}

/* Threads share the numbers, in small portions: some numbers take long. */
static fl_status CPU_NAME(all)(const fl_context *context, const fl_primes_args *p, division how)
{
    const double divisions = CPU_NAME(divisions)((double)p->upto, how) - CPU_NAME(divisions)((double)p->first, how);
    const int team = cpu_team(context, 100 * divisions);
    const int64_t slice = min64(SLICE, p->upto - p->first);
    int64_t *out = p->out.data, kept = 0;
    void *memory;
    fl_status status = CPU_NAME(refuse_large)(context, p->upto);

    (void)team;
    if (status == FL_OK)
        status = context->host->scratch(context, (size_t)slice, &memory);
    if (status != FL_OK)
        return status;
    uint8_t *is_prime = memory;
    for (int64_t first = max64(2, p->first); first < p->upto; first += slice) {
        const int64_t end = min64(first + slice, p->upto);
#pragma omp parallel for schedule(dynamic, 64) num_threads(team)
        for (int64_t n = first; n < end; n++)
            is_prime[n - first] = CPU_NAME(is_prime_by_pieces)((int32_t)n, last_divisor(how, (int32_t)n));
        for (int64_t n = first; n < end; n++)
            if (is_prime[n - first])
                out[kept++] = n;
    }
    *(int64_t *)p->count.data = kept;
    return FL_OK;
}

/* -------------------------------------------------------------------------------------------------- sieve ---- */

/* Eratosthenes' sieve, in segments that stay in the cache (Bays and Hudson, "The segmented sieve of Eratosthenes and
 * primes in arithmetic progressions to 10^12", BIT 17, 1977). Only odd numbers have a flag: flag i is that of 2 i + 1.
 */
enum {
    SEGMENT = 1 << 15,             /* flags: half of a first cache, or all of a small one */
    RUN = 16,                      /* segments that a thread sieves one after the other */
    PATTERN = 3 * 5 * 7 * 11 * 13, /* the multiples of these primes lie the same way again after so many flags */
    FIRST_STRUCK = 17,             /* the first prime whose multiples are struck out one by one */
    MOST_FLAGS = 1 << 26,          /* held at once */
};

typedef struct sieve {
    int64_t begin;   /* the first flag */
    int64_t flags;   /* one past the last one */
    int64_t segment; /* flags of one */
    int64_t run;     /* flags of a thread's segments */
    int64_t runs;    /* at once */
    int64_t base_count;
    uint32_t *base;   /* the primes from FIRST_STRUCK to the root of the largest number */
    uint32_t *next;   /* for each run and base prime: the next flag to strike out, counted from the segment */
    int64_t *to;      /* for each run: where its primes go */
    uint8_t *pattern; /* PATTERN flags without the multiples of the primes below FIRST_STRUCK */
    uint8_t *flag;    /* those of all runs */
} sieve;

/* flag[i] = whether 2 i + 1 is prime, 1 < 2 i + 1 <= most. */
static void CPU_NAME(sieve_small)(uint8_t *flag, int64_t most)
{
    memset(flag, 1, (size_t)(most + 1) / 2);
    for (int64_t i = 1; 2 * i * (i + 1) < (most + 1) / 2; i++)
        if (flag[i])
            for (int64_t m = 2 * i * (i + 1); m < (most + 1) / 2; m += 2 * i + 1)
                flag[m] = 0;
}

static void CPU_NAME(make_pattern)(uint8_t *pattern)
{
    static const int64_t small[] = {3, 5, 7, 11, 13};

    memset(pattern, 1, PATTERN);
    for (int k = 0; k < 5; k++)
        for (int64_t i = small[k] / 2; i < PATTERN; i += small[k])
            pattern[i] = 0;
}

/* Memory for all of it, the pattern, and the base primes. Segments grow with these, so that each strikes about once. */
static fl_status CPU_NAME(sieve_prepare)(const fl_context *context, const fl_primes_args *p, int team, sieve *s)
{
    const int64_t root = integer_root(p->upto - 1), most_base = root / 2 + 1;
    fl_status status;
    void *memory;

    s->begin = p->first / 2;
    s->flags = p->upto / 2;
    s->segment = max64(SEGMENT, (root + SEGMENT - 1) / SEGMENT * SEGMENT);
    s->run = RUN * s->segment;
    s->runs = max64(1, min64(min64(team, MOST_FLAGS / s->run), (s->flags - s->begin + s->run - 1) / s->run));
    status = context->host->scratch(
        context, (size_t)(s->runs * 8 + (s->runs + 1) * most_base * 4 + PATTERN + max64(s->runs * s->run, most_base)),
        &memory);
    if (status != FL_OK)
        return status;
    s->to = memory;
    s->base = (uint32_t *)(s->to + s->runs);
    s->next = s->base + most_base;
    s->pattern = (uint8_t *)(s->next + s->runs * most_base);
    s->flag = s->pattern + PATTERN;
    CPU_NAME(make_pattern)(s->pattern);
    CPU_NAME(sieve_small)(s->flag, root);
    s->base_count = 0;
    for (int64_t i = FIRST_STRUCK / 2; i < (root + 1) / 2; i++)
        if (s->flag[i])
            s->base[s->base_count++] = (uint32_t)(2 * i + 1);
    return FL_OK;
}

/* The flags from `first` on, without the multiples of the primes below FIRST_STRUCK. */
static void CPU_NAME(sieve_begin)(const sieve *s, int64_t first, uint8_t *flag, int64_t length)
{
    int64_t at = first % PATTERN;

    for (int64_t done = 0, piece; done < length; done += piece, at = 0) {
        piece = min64(PATTERN - at, length - done);
        memcpy(flag + done, s->pattern + at, (size_t)piece);
    }
    for (int64_t i = first; i < min64(FIRST_STRUCK / 2, first + length); i++)
        flag[i - first] = i != 0 && i != 4 && i != 7; /* those primes themselves; 1, 9 and 15 are none */
}

/* Strikes the multiples of the base primes out of a segment. */
static void CPU_NAME(sieve_strike)(const sieve *s, uint32_t *next, uint8_t *flag, int64_t length)
{
    for (int64_t b = 0; b < s->base_count; b++) {
        const int64_t prime = s->base[b];
        int64_t m = next[b];
        for (; m < length; m += prime)
            flag[m] = 0;
        next[b] = (uint32_t)(m - length);
    }
}

/* For each base prime the first flag to strike out from `first` on: that of its square, or of an odd multiple beyond
 * it; for a square beyond this run, any flag after the run. */
static void CPU_NAME(sieve_seek)(const sieve *s, int64_t first, uint32_t *next)
{
    for (int64_t b = 0; b < s->base_count; b++) {
        const int64_t prime = s->base[b], square = prime * prime / 2;
        const int64_t behind = first > square ? (first - square + prime - 1) / prime * prime + square : square;
        next[b] = (uint32_t)min64(behind - first, UINT32_MAX);
    }
}

static int64_t CPU_NAME(sieve_count)(const uint8_t *flag, int64_t length)
{
    int32_t primes = 0;

#pragma omp simd reduction(+ : primes)
    for (int64_t i = 0; i < length; i++)
        primes += flag[i];
    return primes;
}

/* Sieves the r-th of the runs that start at the flag `first`; returns how many primes it has. */
static int64_t CPU_NAME(sieve_run)(const sieve *s, int64_t first, int64_t r)
{
    const int64_t begin = first + r * s->run, end = min64(begin + s->run, s->flags);
    uint32_t *next = s->next + r * s->base_count;
    uint8_t *flag = s->flag + r * s->run;
    int64_t primes = 0;

    CPU_NAME(sieve_seek)(s, begin, next);
    for (int64_t at = begin; at < end; at += s->segment, flag += s->segment) {
        const int64_t length = min64(s->segment, end - at);
        CPU_NAME(sieve_begin)(s, at, flag, length);
        CPU_NAME(sieve_strike)(s, next, flag, length);
        primes += CPU_NAME(sieve_count)(flag, length);
    }
    return primes;
}

/* The primes of the flags from `first` on, without a branch on any of them (select_typed.h). */
static void CPU_NAME(sieve_write)(const uint8_t *flag, int64_t first, int64_t primes, int64_t *restrict out)
{
    for (int64_t n = 2 * first + 1, kept = 0; kept < primes; n += 2, flag++) {
        out[kept] = n;
        kept += *flag;
    }
}

/* Threads sieve a run each; then it is known where the primes of each belong. */
static fl_status CPU_NAME(run_sieve)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_primes_args *p = args;
    int64_t *out = p->out.data, kept = 0;
    sieve s;
    fl_status status = CPU_NAME(sieve_prepare)(context, p, cpu_team(context, 25 * (double)(p->upto - p->first)), &s);

    (void)launch;
    if (status != FL_OK)
        return status;
    if (p->first <= 2)
        out[kept++] = 2;
    for (int64_t first = s.begin; first < s.flags; first += s.runs * s.run) {
#pragma omp parallel for schedule(static, 1) num_threads((int)s.runs)
        for (int64_t r = 0; r < s.runs; r++)
            s.to[r] = CPU_NAME(sieve_run)(&s, first, r);
        for (int64_t r = 0; r < s.runs; r++) {
            kept += s.to[r];
            s.to[r] = kept - s.to[r];
        }
#pragma omp parallel for schedule(static, 1) num_threads((int)s.runs)
        for (int64_t r = 0; r < s.runs; r++)
            CPU_NAME(sieve_write)
        (s.flag + r * s.run, first + r * s.run, (r + 1 < s.runs ? s.to[r + 1] : kept) - s.to[r], out + s.to[r]);
    }
    *(int64_t *)p->count.data = kept;
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------- plans, rows ---- */

static void CPU_NAME(plan_each)(void *device, const void *args, fl_launch *launch)
{
    (void)device, (void)args;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = sizeof(int64_t);
}

/* Each flag is stored and read again. */
static void CPU_NAME(plan_all)(void *device, const void *args, fl_launch *launch)
{
    const fl_primes_args *p = args;

    CPU_NAME(plan_each)(device, args, launch);
    launch->bytes_requested += 2 * (double)(p->upto - p->first);
}

/* Each flag is stored, counted, read, and struck out by each base prime that divides it: by Mertens' second theorem,
 * 1 / p summed over the primes to x is ln ln x + 0.2615; 1.3445 of it belong to those below FIRST_STRUCK. */
static void CPU_NAME(plan_sieve)(void *device, const void *args, fl_launch *launch)
{
    const fl_primes_args *p = args;
    const double n = (double)p->upto, strikes = log(log(sqrt(n))) + 0.2615 - 1.3445;

    CPU_NAME(plan_each)(device, args, launch);
    launch->bytes_requested +=
        (n - (double)p->first) / 2 * (3 + (n > FIRST_STRUCK * FIRST_STRUCK ? fmax(strikes, 0) : 0));
}

#define RUN_DIVISION(variant, launch_as, how) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        (void)launch; \
        return CPU_NAME(launch_as)(context, args, how); \
    }
RUN_DIVISION(trial_each, each, TO_HALF)
RUN_DIVISION(trial_all, all, TO_HALF)
RUN_DIVISION(sqrt_each, each, TO_ROOT)
RUN_DIVISION(sqrt_all, all, TO_ROOT)

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_PRIMES, "sieve", 1u << FL_I64, plan_sieve, run_sieve,
             "sieve of Eratosthenes over odd numbers, in segments that stay in the cache")},
    {CPU_ROW(FL_OP_PRIMES, "sqrt-all", 1u << FL_I64, plan_all, run_sqrt_all,
             "divides by 2, 3 ... up to the root, a vector of divisors at a time; threads share the numbers")},
    {CPU_ROW(FL_OP_PRIMES, "sqrt-each", 1u << FL_I64, plan_each, run_sqrt_each,
             "divides each number by 2, 3 ... up to its root, one after the other")},
    {CPU_ROW(FL_OP_PRIMES, "trial-all", 1u << FL_I64, plan_all, run_trial_all,
             "divides by 2, 3 ... up to n / 2, a vector of divisors at a time; threads share the numbers")},
    {CPU_ROW(FL_OP_PRIMES, "trial-each", 1u << FL_I64, plan_each, run_trial_each,
             "the course's loop: divides each number by 2, 3 ... up to n / 2, one after the other")},
};

CPU_OPERATION(cpu_primes, rows);
