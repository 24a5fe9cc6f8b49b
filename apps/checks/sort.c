/* SPDX-License-Identifier: MIT
 *
 * A result is right if it is in order and has the elements of the input, each as often. The second is checked by the
 * sum over mix(bits), which no permutation changes. mix is a step of SplitMix64, a bijection: one element replaced by
 * another always changes the sum; several changes cancel once in 2^64, as those of a mix as good as random. (The idea:
 * Carter and Wegman, "Universal classes of hash functions", 1979.) Both cost one pass over the memory.
 */
#include "sort.h"

#include "support/random.h"

#include <math.h>

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
