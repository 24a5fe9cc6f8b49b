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
#include <immintrin.h>
#define CPU_STREAMS 1
#else
#define CPU_STREAMS 0
#endif

/* The widest store: some processors put parts of a cache line together more slowly than they write it whole. */
#if defined(__AVX512F__)
#define CPU_STREAM_WORD __m512i
#define CPU_STREAM(to, from) _mm512_stream_si512(to, _mm512_loadu_si512(from))
#elif defined(__AVX__)
#define CPU_STREAM_WORD __m256i
#define CPU_STREAM(to, from) _mm256_stream_si256(to, _mm256_loadu_si256(from))
#else
#define CPU_STREAM_WORD __m128i
#define CPU_STREAM(to, from) _mm_stream_si128(to, _mm_loadu_si128(from))
#endif

enum {
    CPU_STREAM_BYTES = 32 << 20, /* results of this size: no cache keeps them until they are read again */
    CPU_STREAM_AHEAD = 8192      /* bytes, at which the second cache is asked for what is read */
};

/* Copies to memory past the caches. */
static inline void cpu_stream(char *to, const char *from, int64_t bytes)
{
#if CPU_STREAMS
    const int64_t word = sizeof(CPU_STREAM_WORD), lead = (int64_t)(-(uintptr_t)to % sizeof(CPU_STREAM_WORD));
    int64_t head = bytes < lead ? bytes : lead;

    memcpy(to, from, (size_t)head);
    for (; head + word <= bytes; head += word)
        CPU_STREAM((CPU_STREAM_WORD *)(to + head), (const CPU_STREAM_WORD *)(from + head));
    memcpy(to + head, from + head, (size_t)(bytes - head));
#else
    memcpy(to, from, (size_t)bytes);
#endif
}

/* Asks for what is read two pages later: a processor's own requests end at each page, and one core waits for them.
 * Beside stores of 16 bytes it takes longer than it saves. */
static inline void cpu_stream_ask(const char *from, int64_t bytes)
{
#if CPU_STREAMS && defined(__AVX__)
    for (int64_t i = 0; i < bytes; i += CPU_LINE)
        __builtin_prefetch(from + CPU_STREAM_AHEAD + i, 0, 2);
#else
    (void)from, (void)bytes;
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
