/* SPDX-License-Identifier: MIT
 *
 * primes.c - the primes between two numbers: by trial division, up to half of each number as the course has it or up to
 * its square root, and by the sieve of Eratosthenes.
 */
#include "openmp.h"
#include "operation.h"
#include "primes_sieve.h"
#include "primesieve.h"

#include <math.h>
#include <string.h>

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

/* Stores the prime after `kept` others, unless it is only counted (out NULL); returns how many there are. */
static inline int64_t CPU_NAME(keep)(int64_t *out, int64_t kept, int64_t prime)
{
    if (out)
        out[kept] = prime;
    return kept + 1;
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
            kept = CPU_NAME(keep)(out, kept, n);
    *(int64_t *)p->count.data = kept;
    return FL_OK;
}

enum {
    SINGLE_DIVISORS = 16, /* tried one after the other: most numbers have a small one */
    VECTOR_DIVISORS = 16, /* of the larger ones, tried at once */
    SLICE = 1 << 22,      /* numbers decided before the primes among them are collected */
};

_Static_assert(VECTOR_DIVISORS <= SINGLE_DIVISORS + 1, "larger_divides would try n itself");

/* Returns whether one of the numbers from SINGLE_DIVISORS + 1 to `last` divides n. A vector takes several at once, in
 * floating point, since there are no vectors of integer divisions. It is exact: a quotient that is not an integer is at
 * least 1 / j off the nearest one, 2^-31 of itself or more, and rounded by 2^-53 of itself. The last vectors are full,
 * too: they try numbers after `last`, which changes nothing, for these are below 2 * last <= n, and if one of them
 * divides n a number up to `last` does as well. Not inlined: the compiler would prepare the vectors for numbers that do
 * not need them. */
static __attribute__((noinline)) bool CPU_NAME(larger_divides)(int32_t n, int32_t last)
{
    for (int32_t first = SINGLE_DIVISORS + 1; first <= last; first += VECTOR_DIVISORS) {
        int divides = 0;
#pragma omp simd reduction(| : divides)
        for (int32_t i = 0; i < VECTOR_DIVISORS; i++) {
            const double quotient = (double)n / (double)(first + i);
            divides |= quotient == (double)(int32_t)quotient;
        }
        if (divides)
            return true;
    }
    return false;
}

/* is_prime, the divisors after the first few by vectors. */
static inline bool CPU_NAME(is_prime_by_vectors)(int32_t n, int32_t last)
{
    if (last <= SINGLE_DIVISORS)
        return CPU_NAME(is_prime)((uint32_t)n, (uint32_t)last);
    return CPU_NAME(is_prime)((uint32_t)n, SINGLE_DIVISORS) && !CPU_NAME(larger_divides)(n, last);
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
            is_prime[n - first] = CPU_NAME(is_prime_by_vectors)((int32_t)n, last_divisor(how, (int32_t)n));
        for (int64_t n = first; n < end; n++)
            if (is_prime[n - first])
                kept = CPU_NAME(keep)(out, kept, n);
    }
    *(int64_t *)p->count.data = kept;
    return FL_OK;
}

/* -------------------------------------------------------------------------------------------------- sieve ---- */

/* Where so many numbers or more are counted, the wheel of 210 has fewer bits to strike out; a list wants few planes. */
#define COUNT_ON_210 1e7

/* Threads take planes one after the other. */
static fl_status CPU_NAME(sieve_count)(const fl_context *context, const fl_primes_args *p)
{
    const double numbers = (double)(p->upto - p->first);
    int64_t primes = 0;
    sieve s;
    fl_status status =
        CPU_NAME(sieve_prepare)(context, p, numbers >= COUNT_ON_210 ? 210 : 30, 1, cpu_team(context, 5 * numbers), &s);

    if (status != FL_OK)
        return status;
#pragma omp parallel for schedule(dynamic) num_threads((int)s.runs) reduction(+ : primes)
    for (int64_t i = 0; i < s.segments * s.remainders; i++) {
        const int64_t run = omp_get_thread_num();
        primes += CPU_NAME(sieve_plane)(&s, i % s.segments, s.remainder[i / s.segments], s.starts + run * s.count,
                                        s.planes + run * s.pitch);
    }
    *(int64_t *)p->count.data = primes + CPU_NAME(sieve_factors)(&s, NULL);
    return FL_OK;
}

/* Threads sieve a segment each; then it is known where the primes of each belong. */
static fl_status CPU_NAME(sieve_list)(const fl_context *context, const fl_primes_args *p)
{
    int64_t *out = p->out.data, kept, *to;
    void *memory;
    sieve s;
    fl_status status =
        CPU_NAME(sieve_prepare)(context, p, 30, 8, cpu_team(context, 10 * (double)(p->upto - p->first)), &s);

    if (status == FL_OK)
        status = context->host->scratch(context, (size_t)s.runs * sizeof *to, &memory);
    if (status != FL_OK)
        return status;
    to = memory;
    kept = CPU_NAME(sieve_factors)(&s, out);
    for (int64_t segment = 0; segment < s.segments; segment += s.runs) {
        const int64_t runs = min64(s.runs, s.segments - segment);
#pragma omp parallel for schedule(static, 1) num_threads((int)runs)
        for (int64_t r = 0; r < runs; r++) {
            uint8_t *planes = s.planes + 8 * r * s.pitch;
            to[r] = 0;
            for (int64_t i = 0; i < 8; i++)
                to[r] += CPU_NAME(sieve_plane)(&s, segment + r, s.remainder[i], s.starts + r * s.count,
                                               planes + i * s.pitch);
        }
        for (int64_t r = 0; r < runs; r++) {
            kept += to[r];
            to[r] = kept - to[r];
        }
#pragma omp parallel for schedule(static, 1) num_threads((int)runs)
        for (int64_t r = 0; r < runs; r++)
            CPU_NAME(sieve_write)(&s, segment + r, s.planes + 8 * r * s.pitch, out + to[r]);
    }
    *(int64_t *)p->count.data = kept;
    return FL_OK;
}

static fl_status CPU_NAME(run_sieve)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_primes_args *p = args;

    (void)launch;
    return p->out.data ? CPU_NAME(sieve_list)(context, p) : CPU_NAME(sieve_count)(context, p);
}

/* ------------------------------------------------------------------------------------------------ library ---- */

#if CPU_VECTOR_BITS > 64
enum { LIBRARY_NUMBERS = 1 << 24 }; /* that a thread asks the library for at a time */

/* Part i of the numbers. */
typedef struct library_part {
    int64_t found, to; /* how many primes, and where they go */
    int64_t *primes;
} library_part;

static int64_t CPU_NAME(library_first)(const fl_primes_args *p, int64_t part)
{
    return min64(p->first + part * LIBRARY_NUMBERS, p->upto);
}

/* Returns how many primes there are; -1: out of memory. */
static int64_t CPU_NAME(library_count)(const fl_primes_args *p, int64_t parts, int team)
{
    int64_t found = 0;
    int failed = 0;

    (void)team;
#pragma omp parallel for schedule(dynamic) num_threads(team) reduction(+ : found) reduction(| : failed)
    for (int64_t i = 0; i < parts; i++) {
        const int64_t here = cpu_primesieve_count(CPU_NAME(library_first)(p, i), CPU_NAME(library_first)(p, i + 1));
        failed |= here < 0;
        found += here;
    }
    return failed ? -1 : found;
}

/* Stores the primes of `count` parts from the first-th on after `kept` others, a thread those of one part; returns how
 * many there are then; -1: out of memory. */
static int64_t CPU_NAME(library_some)(const fl_primes_args *p, int64_t first, int64_t count, int64_t kept,
                                      library_part *part)
{
    bool failed = false;

#pragma omp parallel for schedule(static, 1) num_threads((int)count)
    for (int64_t i = 0; i < count; i++)
        part[i].found = cpu_primesieve_list(CPU_NAME(library_first)(p, first + i),
                                            CPU_NAME(library_first)(p, first + i + 1), &part[i].primes);
    for (int64_t i = 0; i < count; i++) {
        failed = failed || part[i].found < 0;
        part[i].to = kept;
        kept += part[i].found;
    }
#pragma omp parallel for schedule(static, 1) num_threads((int)count)
    for (int64_t i = 0; i < count; i++) {
        if (!failed && part[i].found > 0)
            memcpy((int64_t *)p->out.data + part[i].to, part[i].primes, (size_t)part[i].found * sizeof(int64_t));
        cpu_primesieve_free(part[i].primes);
    }
    return failed ? -1 : kept;
}

static fl_status CPU_NAME(run_library)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_primes_args *p = args;
    const int64_t parts = (p->upto - p->first + LIBRARY_NUMBERS - 1) / LIBRARY_NUMBERS;
    const int team = (int)min64(cpu_team(context, 10 * (double)(p->upto - p->first)), parts);
    int64_t found = 0;
    void *memory;
    fl_status status = context->host->scratch(context, (size_t)team * sizeof(library_part), &memory);

    (void)launch;
    if (status != FL_OK)
        return status;
    cpu_primesieve_begin(context->host);
    if (!p->out.data)
        found = CPU_NAME(library_count)(p, parts, team);
    for (int64_t i = 0; p->out.data && i < parts && found >= 0; i += team)
        found = CPU_NAME(library_some)(p, i, min64(team, parts - i), found, memory);
    cpu_primesieve_end(context->host);
    if (found < 0)
        return context->host->error(FL_E_MEMORY, "out of memory for primes by libprimesieve");
    *(int64_t *)p->count.data = found;
    return FL_OK;
}
#endif

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

/* Each bit is stored by the patterns and loaded where it is counted, and those of a list once more. Each strike loads
 * and stores a byte: by Mertens' second theorem, 1 / p summed over the primes to x is ln ln x + 0.2615. */
static void CPU_NAME(plan_sieve)(void *device, const void *args, fl_launch *launch)
{
    const fl_primes_args *p = args;
    const double bits = ((double)p->upto - (double)p->first) * 8 / 30, root = sqrt((double)p->upto);
    const double strikes = root > LAST_IN_PATTERN ? log(log(root) / log(LAST_IN_PATTERN)) : 0;

    CPU_NAME(plan_each)(device, args, launch);
    launch->bytes_requested += bits * (2 * strikes + (p->out.data ? 3 : 2) / 8.0);
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
             "sieve of Eratosthenes on a wheel of 30, or to count of 210, in segments of bits that stay in the first "
             "cache")},
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

#if CPU_VECTOR_BITS > 64
static const fl_row library_rows[] = {
    {CPU_ROW(FL_OP_PRIMES, "library", 1u << FL_I64, plan_each, run_library,
             "libprimesieve, a part of the numbers on each thread"),
     .available = cpu_primesieve_ready},
};

const cpu_operation CPU_NAME(cpu_primes_library) = {.rows = library_rows, .count = 1, .found = cpu_primesieve_found};
#endif
