/* SPDX-License-Identifier: MIT
 *
 * team.c - runs a parallel part for one thread without a team, in plugins that use gcc's OpenMP runtime.
 */
#include "openmp.h"

/* `omp parallel` calls GOMP_parallel, which the linker's --wrap makes this function. gcc's runtime makes and ends a
 * team even for one thread, which takes 0.2 to 0.3 us: more than a call of few elements. Outside of all parallel parts
 * a thread is a team of one, so it runs the part itself. Inside a caller's part the loops would be shared by that team.
 */
void __real_GOMP_parallel(void (*part)(void *), void *data, unsigned threads, unsigned flags);
void __wrap_GOMP_parallel(void (*part)(void *), void *data, unsigned threads, unsigned flags);

void __wrap_GOMP_parallel(void (*part)(void *), void *data, unsigned threads, unsigned flags)
{
    if (threads == 1 && omp_get_level() == 0)
        part(data);
    else
        __real_GOMP_parallel(part, data, threads, flags);
}
