/* SPDX-License-Identifier: MIT
 *
 * team.c - runs a parallel part for one thread without a team, in plugins that use gcc's OpenMP runtime.
 */
#include "openmp.h"

/* What `omp parallel` calls, by the linker's --wrap. gcc's runtime makes and ends a team even for one thread: 0.2 to
 * 0.3 us, more than a call of few elements takes. The thread does the part itself instead, as the one of a team that it
 * is outside of all `parallel`. Inside a caller's, loops would be shared by that team. */
void __real_GOMP_parallel(void (*part)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*part)(void *), void *data, unsigned threads, unsigned flags);

void __wrap_GOMP_parallel(void (*part)(void *), void *data, unsigned threads, unsigned flags)
{
    if (threads == 1 && omp_get_level() == 0)
        part(data);
    else
        __real_GOMP_parallel(part, data, threads, flags);
}
