/* SPDX-License-Identifier: MIT
 *
 * team.c - runs a parallel part for one thread without a team, in plugins that use gcc's OpenMP runtime.
 */
#include "openmp.h"

#include <stdbool.h>

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

/* `omp for schedule(dynamic)` calls the next three, which hand out iterations for 0.1 us. A part that runs without a
 * team gets all of them at once. */
typedef bool loop_start(long start, long end, long step, long chunk, long *first, long *last);
typedef bool loop_next(long *first, long *last);

loop_start __real_GOMP_loop_nonmonotonic_dynamic_start, __wrap_GOMP_loop_nonmonotonic_dynamic_start;
loop_next __real_GOMP_loop_nonmonotonic_dynamic_next, __wrap_GOMP_loop_nonmonotonic_dynamic_next;
void __real_GOMP_loop_end_nowait(void);
void __wrap_GOMP_loop_end_nowait(void);

bool __wrap_GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long *first, long *last)
{
    if (omp_get_level() > 0)
        return __real_GOMP_loop_nonmonotonic_dynamic_start(start, end, step, chunk, first, last);
    *first = start;
    *last = end;
    return step > 0 ? start < end : start > end;
}

bool __wrap_GOMP_loop_nonmonotonic_dynamic_next(long *first, long *last)
{
    return omp_get_level() > 0 && __real_GOMP_loop_nonmonotonic_dynamic_next(first, last);
}

void __wrap_GOMP_loop_end_nowait(void)
{
    if (omp_get_level() > 0)
        __real_GOMP_loop_end_nowait();
}
