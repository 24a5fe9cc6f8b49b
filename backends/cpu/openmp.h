/* SPDX-License-Identifier: MIT
 *
 * openmp.h - the OpenMP functions in use, with fall-backs for a compiler without OpenMP threads.
 */
#ifndef FLYNN_CPU_OPENMP_H
#define FLYNN_CPU_OPENMP_H

#ifdef _OPENMP
#include <omp.h>
#else
static inline int omp_get_thread_num(void)
{
    return 0;
}

static inline int omp_get_level(void)
{
    return 0;
}
#endif

#endif
