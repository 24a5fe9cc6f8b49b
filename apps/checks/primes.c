/* SPDX-License-Identifier: MIT
 *
 * An independent sieve, plain and in segments: the odd numbers, struck out by every odd prime up to the root. And the
 * number of primes without a list of them (Legendre's formula; Riesel, "Prime numbers and computer methods for
 * factorization", 2nd ed., 1994, chapter 1).
 */
#include "primes.h"

#include "support/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_SEGMENT = 1 << 19 };

typedef struct host_sieve {
    int64_t upto;
    int64_t base_count;
    int64_t *base;
    bool composite[CHECK_SEGMENT / 2]; /* whether each odd number of the segment is */
} host_sieve;

static host_sieve *host_sieve_start(int64_t upto)
{
    const int64_t root = (int64_t)sqrt((double)(upto > 1 ? upto - 1 : 0));
    host_sieve *s = memory_zeroed(1, sizeof *s);

    s->upto = upto;
    s->base = memory_zeroed((size_t)(root + 1), sizeof *s->base);
    for (int64_t n = 3, d; n <= root; n += 2) {
        for (d = 3; d * d <= n && n % d != 0; d += 2)
            continue;
        if (d * d > n)
            s->base[s->base_count++] = n;
    }
    return s;
}

/* Fills the segment that starts at `first`, an even number. */
static void host_sieve_segment(host_sieve *s, int64_t first)
{
    memset(s->composite, 0, sizeof s->composite);
    s->composite[0] = first == 0; /* 1 is not prime, whatever the course counts */
    for (int64_t b = 0; b < s->base_count; b++) {
        const int64_t p = s->base[b], multiple = ((first + p - 1) / p | 1) * p;
        for (int64_t n = multiple > p * p ? multiple : p * p; n < first + CHECK_SEGMENT; n += 2 * p)
            s->composite[(n - first) / 2] = true;
    }
}

/* The k-th prime must be the result's next one. */
static void check_prime(const host_array *result, int64_t k, int64_t prime, compare_result *found)
{
    compare_add(found, k, k < result->shape[0] ? (double)((const int64_t *)result->data)[k] : (double)NAN,
                (double)prime, 0);
}

compare_result primes_compare(const host_array *result, int64_t first, int64_t end, int64_t *count)
{
    compare_result found = compare_start();
    host_sieve *s = host_sieve_start(end);

    *count = 0;
    if (first <= 2 && end > 2)
        check_prime(result, (*count)++, 2, &found);
    for (int64_t start = first / 2 * 2; start < end; start += CHECK_SEGMENT) {
        host_sieve_segment(s, start);
        for (int64_t n = start + 1; n < end && n < start + CHECK_SEGMENT; n += 2)
            if (!s->composite[(n - start) / 2])
                check_prime(result, (*count)++, n, &found);
    }
    free(s->base);
    free(s);
    return found;
}

/* floor(n / d) of whole numbers below 2^52. */
static int64_t quotient(int64_t n, int64_t d)
{
    return (int64_t)((double)n / (double)d);
}

/* For each v = floor(n / i) the numbers from 2 to v that no prime below p divides, except these primes themselves, are
 * counted. Striking out the multiples of p takes away the count of floor(v / p), less the primes below p. When p^2 is
 * beyond v, the count is that of the primes. */
int64_t primes_counted(int64_t upto)
{
    const int64_t n = upto > 2 ? upto - 1 : 1, root = (int64_t)sqrt((double)n);
    int64_t *few = memory_zeroed((size_t)root + 1, sizeof *few);   /* the counts of v up to the root */
    int64_t *many = memory_zeroed((size_t)root + 1, sizeof *many); /* the counts of floor(n / i), i up to the root */
    int64_t count;

    for (int64_t i = 1; i <= root; i++) {
        few[i] = i - 1;
        many[i] = quotient(n, i) - 1;
    }
    for (int64_t p = 2; p <= root && p * p <= n; p++) {
        const int64_t below = few[p - 1], last = quotient(n, p * p) < root ? quotient(n, p * p) : root;
        if (few[p] == below) /* p is no prime */
            continue;
        for (int64_t i = 1; i <= last; i++)
            many[i] -= (i * p <= root ? many[i * p] : few[quotient(n, i * p)]) - below;
        for (int64_t v = root; v >= p * p; v--)
            few[v] -= few[quotient(v, p)] - below;
    }
    count = many[1];
    free(few);
    free(many);
    return count;
}
