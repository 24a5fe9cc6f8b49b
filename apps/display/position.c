/* SPDX-License-Identifier: MIT
 *
 * Positions of elements in arrays.
 */
#include "position.h"

#include <inttypes.h>
#include <stdio.h>

void split_index(int64_t index, int ndim, const int64_t *shape, int64_t *position)
{
    for (int d = ndim - 1; d > 0; d--) {
        int64_t length = shape[d] > 0 ? shape[d] : 1; /* an empty array has no positions */
        position[d] = index % length;
        index /= length;
    }
    if (ndim > 0)
        position[0] = index; /* also of an element that a result lacks at its end */
}

index_text format_position(int ndim, const int64_t *position)
{
    index_text out = {""};
    size_t used = 0;

    for (int d = 0; d < ndim; d++)
        used +=
            (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%" PRId64, d == 0 ? "[" : ", ", position[d]);
    snprintf(out.text + used, sizeof out.text - used, ndim == 0 ? "[]" : "]");
    return out;
}

index_text format_index(int64_t index, int ndim, const int64_t *shape)
{
    int64_t position[FL_MAX_DIMS];

    if (index < 0)
        return (index_text){"-"};
    split_index(index, ndim, shape, position);
    return format_position(ndim, position);
}
