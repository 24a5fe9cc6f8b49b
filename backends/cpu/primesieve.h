/* SPDX-License-Identifier: MIT
 *
 * primesieve.h - the library libprimesieve (github.com/kimwalisch/primesieve, BSD-2-Clause), where it is there. It is
 * loaded at run time.
 */
#ifndef FLYNN_CPU_PRIMESIEVE_H
#define FLYNN_CPU_PRIMESIEVE_H

#include <flynn/plugin.h>

#include <stdbool.h>

/* cpu_operation.found and fl_row.available of the variant library. */
bool cpu_primesieve_found(char *why, size_t size);
fl_status cpu_primesieve_ready(void *device, char *why, size_t size);

/* Between the two a call of the library stays on its thread; only after cpu_primesieve_ready. */
void cpu_primesieve_begin(const fl_host *host);
void cpu_primesieve_end(const fl_host *host);

/* How many primes there are from `first` on below `upto`; -1: out of memory. */
int64_t cpu_primesieve_count(int64_t first, int64_t upto);

/* The same; *primes: those primes, freed with cpu_primesieve_free, which takes NULL. */
int64_t cpu_primesieve_list(int64_t first, int64_t upto, int64_t **primes);
void cpu_primesieve_free(int64_t *primes);

#endif
