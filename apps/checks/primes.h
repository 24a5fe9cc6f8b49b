/* SPDX-License-Identifier: MIT
 *
 * primes.h - checks a list of primes by an independent sieve on the host, and a count by a formula.
 */
#pragma once

#include "display/verdict.h"

/* The k-th element of `result` must be the k-th prime from `first` on; *count: how many primes there are before `end`,
 * which may be more than the elements. */
compare_result primes_compare(const host_array *result, int64_t first, int64_t end, int64_t *count);

/* The number of primes below `upto`, of at most 2^40, by Legendre's recurrence: in about upto^(3/4) steps. */
int64_t primes_counted(int64_t upto);
