/* SPDX-License-Identifier: MIT
 *
 * stream.h - stores past the caches: what is not to be read soon need not be fetched before it is overwritten, which is
 * a third of the traffic of x + y. (`#pragma omp simd nontemporal` says the same; gcc 12 takes it and does nothing.)
 */
#ifndef FLYNN_CPU_STREAM_H
#define FLYNN_CPU_STREAM_H

#include "cpu.h"

#include <string.h>
#if defined(__SSE2__) && CPU_VECTOR_BITS > 64
#include <emmintrin.h>
#define CPU_STREAMS 1
#else
#define CPU_STREAMS 0
#endif

enum { CPU_STREAM_BYTES = 32 << 20 }; /* results of this size: no cache keeps them until they are read again */

/* Copies to memory past the caches. */
static inline void cpu_stream(char *to, const char *from, int64_t bytes)
{
#if CPU_STREAMS
    const int64_t lead = (int64_t)(-(uintptr_t)to % sizeof(__m128i));
    int64_t head = bytes < lead ? bytes : lead;

    memcpy(to, from, (size_t)head);
    for (; head + (int64_t)sizeof(__m128i) <= bytes; head += (int64_t)sizeof(__m128i))
        _mm_stream_si128((__m128i *)(to + head), _mm_loadu_si128((const __m128i *)(from + head)));
    memcpy(to + head, from + head, (size_t)(bytes - head));
#else
    memcpy(to, from, (size_t)bytes);
#endif
}

/* After this call other threads see the streamed stores. */
static inline void cpu_stream_end(void)
{
#if CPU_STREAMS
    _mm_sfence();
#endif
}

#endif
