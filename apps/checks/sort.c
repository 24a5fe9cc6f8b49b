/* SPDX-License-Identifier: MIT
 *
 * A result is right if it is in order and has the elements of the input, each as often. The second is checked by the
 * sum over mix(bits), which no permutation changes. mix is a step of SplitMix64, a bijection: one element replaced by
 * another always changes the sum; several changes cancel once in 2^64, as those of a mix as good as random. (The idea:
 * Carter and Wegman, "Universal classes of hash functions", 1979.) Both cost one pass over the memory, which threads
 * share.
 */
#include "sort.h"

#include "ranks/group.h"
#include "run/reference.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/threads.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 15 }; /* elements, which stay in a cache between the two */

/* An array, and the counts to which all threads add. */
typedef struct survey {
    const host_array *array;
    bool orders;               /* asks for `falls`, too */
    _Atomic uint64_t checksum; /* of all elements */
    atomic_bool falls;         /* there is an element that is less than the one before it */
} survey;

static inline __attribute__((always_inline)) uint64_t sum_of_mixes(const host_array *array, int64_t first, int64_t end)
{
    const uint32_t *narrow = array->data;
    const uint64_t *wide = array->data;
    uint64_t sum = 0;

    if (fl_dtype_size(array->dtype) == sizeof *narrow)
        for (int64_t i = first; i < end; i++)
            sum += random_next(&(random_state){narrow[i]});
    else
        for (int64_t i = first; i < end; i++)
            sum += random_next(&(random_state){wide[i]});
    return sum;
}

/* Returns whether an element from `first` on is less than the one before it; `fall` is true where b must not come after
 * a. Without a branch and as wide as the elements, so that a compiler makes vectors of it. */
#define HAS_FALLS(type, wide, fall) \
    do { \
        const type *values = array->data; \
        wide any = 0; \
        for (int64_t i = first; i < end; i++) { \
            const type a = values[i - 1], b = values[i]; \
            any |= (wide)(fall); \
        } \
        return any != 0; \
    } while (0)
#define FLOATS_FALL ((b < a) | ((a != a) & (b == b)))

static inline __attribute__((always_inline)) bool has_falls(const host_array *array, int64_t first, int64_t end)
{
    first = first > 0 ? first : 1;
    switch (array->dtype) {
    case FL_F32: HAS_FALLS(float, int32_t, FLOATS_FALL);
    case FL_F64: HAS_FALLS(double, int64_t, FLOATS_FALL);
    case FL_I32: HAS_FALLS(int32_t, int32_t, b < a);
    default: HAS_FALLS(int64_t, int64_t, b < a);
    }
}

static inline __attribute__((always_inline)) void survey_part(survey *s, int64_t first, int64_t end)
{
    atomic_fetch_add(&s->checksum, sum_of_mixes(s->array, first, end));
    if (s->orders && has_falls(s->array, first, end))
        atomic_store(&s->falls, true);
}

#ifdef __x86_64__
#ifdef __clang__ /* does not know the width's attribute */
#define VECTORS "avx512f,avx512dq"
#else
#define VECTORS "avx512f,avx512dq,prefer-vector-width=512"
#endif

/* The same loops for vectors, whose instructions multiply 64-bit numbers: they take a third of the time. */
__attribute__((target(VECTORS))) static void survey_by_vectors(survey *s, int64_t first, int64_t end)
{
    survey_part(s, first, end);
}
#endif

static void survey_piece(void *surveyed, int64_t i)
{
    survey *const s = surveyed;
    const int64_t first = i * PIECE, end = int64_smaller(first + PIECE, host_array_size(s->array));

#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512dq")) {
        survey_by_vectors(s, first, end);
        return;
    }
#endif
    survey_part(s, first, end);
}

static void survey_all(survey *s)
{
    threads_share(group_threads(), (host_array_size(s->array) + PIECE - 1) / PIECE, survey_piece, s);
}

uint64_t sort_checksum(const host_array *array)
{
    survey s = {.array = array};

    survey_all(&s);
    return s.checksum;
}

/* Element i is less than the one before it. */
static void add_fall(compare_result *found, const host_array *result, int64_t i)
{
    double value = host_array_get(result, i), least = host_array_get(result, i - 1);

    if (value == least) /* integers that differ beyond the digits of a double */
        least = nextafter(value, INFINITY);
    compare_add(found, i, value, least, 0);
}

#define FIND_FALLS(type, fall) \
    do { \
        const type *values = result->data; \
        for (int64_t i = 1; i < n; i++) { \
            const type a = values[i - 1], b = values[i]; \
            if (fall) \
                add_fall(found, result, i); \
        } \
    } while (0)

static void add_falls(compare_result *found, const host_array *result)
{
    const int64_t n = host_array_size(result);

    switch (result->dtype) {
    case FL_F32: FIND_FALLS(float, FLOATS_FALL); break;
    case FL_F64: FIND_FALLS(double, FLOATS_FALL); break;
    case FL_I32: FIND_FALLS(int32_t, b < a); break;
    default: FIND_FALLS(int64_t, b < a); break;
    }
}

compare_result sort_compare(const host_array *result, uint64_t checksum)
{
    const int64_t n = host_array_size(result);
    survey s = {.array = result, .orders = true};
    compare_result found = compare_start();

    survey_all(&s);
    if (n > 0)
        compare_add(&found, 0, host_array_get(result, 0), host_array_get(result, 0), 0);
    if (s.falls)
        add_falls(&found, result);
    if (s.checksum != checksum)
        compare_add(&found, -1, 1, 0, 0);
    found.compared = n;
    found.ok = found.failed == 0;
    return found;
}

/* Facts about a rank's share that the others need. */
typedef struct share_edge {
    int64_t count;
    uint64_t added; /* the result's checksum without the input's: 0 over all ranks */
    uint64_t last;  /* the bits of the last element */
} share_edge;

static share_edge edge_of(const host_array *result, uint64_t checksum)
{
    const int64_t count = host_array_size(result);
    const size_t item = fl_dtype_size(result->dtype);
    share_edge edge = {count, sort_checksum(result) - checksum, 0};

    if (count > 0)
        memcpy(&edge.last, (const char *)result->data + (size_t)(count - 1) * item, item);
    return edge;
}

/* Returns whether the first element comes after `last`. */
static bool follows(const host_array *result, uint64_t last)
{
    const size_t item = fl_dtype_size(result->dtype);
    uint64_t room[2];
    const host_array pair = {.dtype = result->dtype, .ndim = 1, .shape = {2}, .data = room};

    memcpy(room, &last, item);
    memcpy((char *)room + item, result->data, item);
    return sort_compare(&pair, sort_checksum(&pair)).ok;
}

compare_result sort_compare_distributed(const host_array *result, uint64_t checksum)
{
    const int rank = group_info()->rank, ranks = group_info()->size;
    const share_edge own = edge_of(result, checksum);
    share_edge *all = memory_zeroed((size_t)ranks, sizeof *all);
    compare_result found = sort_compare(result, sort_checksum(result));
    uint64_t added = 0;
    int before = rank - 1;

    group_gather(&own, all, sizeof own);
    for (int r = 0; r < ranks; r++)
        added += all[r].added;
    while (before >= 0 && all[before].count == 0)
        before--;
    if (before >= 0 && own.count > 0 && !follows(result, all[before].last))
        compare_add(&found, 0, host_array_get(result, 0), INFINITY, 0);
    if (added != 0 && rank == 0)
        compare_add(&found, -1, 1, 0, 0);
    found.compared = own.count;
    found.ok = found.failed == 0;
    free(all);
    return found;
}
