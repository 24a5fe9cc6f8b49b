/* SPDX-License-Identifier: MIT
 *
 * A result is right if it is in order and has the elements of the input, each as often. The second is checked by the
 * sum over mix(bits), which no permutation changes. mix is a step of SplitMix64, a bijection: one element replaced by
 * another always changes the sum; several changes cancel once in 2^64, as those of a mix as good as random. (The idea:
 * Carter and Wegman, "Universal classes of hash functions", 1979.) Both cost one pass over the memory.
 */
#include "sort.h"

#include "ranks/group.h"
#include "support/memory.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t sort_checksum(const host_array *array)
{
    const int64_t n = host_array_size(array);
    const uint32_t *narrow = array->data;
    const uint64_t *wide = array->data;
    const bool is_narrow = fl_dtype_size(array->dtype) == sizeof *narrow;
    uint64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += random_next(&(random_state){is_narrow ? narrow[i] : wide[i]});
    return sum;
}

/* Element i is less than the one before it. */
static void add_fall(compare_result *found, const host_array *result, int64_t i)
{
    double value = host_array_get(result, i), least = host_array_get(result, i - 1);

    if (value == least) /* integers that differ beyond the digits of a double */
        least = nextafter(value, INFINITY);
    compare_add(found, i, value, least, 0);
}

/* `falls` is true where b must not come after a. */
#define FIND_FALLS(type, falls) \
    do { \
        const type *values = result->data; \
        for (int64_t i = 1; i < n; i++) { \
            const type a = values[i - 1], b = values[i]; \
            if (falls) \
                add_fall(&found, result, i); \
        } \
    } while (0)

compare_result sort_compare(const host_array *result, uint64_t checksum)
{
    const int64_t n = host_array_size(result);
    compare_result found = compare_start();

    if (n > 0)
        compare_add(&found, 0, host_array_get(result, 0), host_array_get(result, 0), 0);
    switch (result->dtype) {
    case FL_F32: FIND_FALLS(float, b < a || (a != a && b == b)); break;
    case FL_F64: FIND_FALLS(double, b < a || (a != a && b == b)); break;
    case FL_I32: FIND_FALLS(int32_t, b < a); break;
    default: FIND_FALLS(int64_t, b < a); break;
    }
    if (sort_checksum(result) != checksum)
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
