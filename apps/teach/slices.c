/* SPDX-License-Identifier: MIT
 *
 * NumPy's slices of an array.
 */
#include "slices.h"

#include "options/values.h"
#include "support/fail.h"
#include "support/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Reads the whole number at *text, which may be negative; false: there is none. */
static bool read_index(const char **text, int64_t *value)
{
    const bool negative = **text == '-';

    *text += negative;
    if (!option_whole(text, value)) {
        *text -= negative;
        return false;
    }
    *value = negative ? -*value : *value;
    return true;
}

static void read_slice(const char *option, const char *text, crop_slice *s)
{
    const char *at = text;

    *s = (crop_slice){.step = 1};
    s->has_first = read_index(&at, &s->first);
    s->is_index = *at == '\0' && s->has_first;
    if (*at == ':') {
        at++;
        s->has_end = read_index(&at, &s->end);
        if (*at == ':' && at[1])
            at += read_index(&(const char *){at + 1}, &s->step) ? strlen(at) : 0;
        else if (*at == ':')
            at++;
    }
    if (*at || (!s->is_index && !strchr(text, ':')))
        option_fail(option, "'%s' is not a slice; expected FIRST:END[:STEP] or an index, such as 0:10,0:10", text);
    if (s->step < 1)
        option_fail(option, "'%s': the step is not at least 1", text);
}

void slices_read(const char *option, const char *text, crop_slices *slices)
{
    char *copy = memory_text(text), *rest = copy, *word;

    for (slices->count = 0; (word = strsep(&rest, ",")) != NULL; slices->count++) {
        if (slices->count == FL_MAX_DIMS)
            option_fail(option, "'%s' has more than %d slices; an array has at most as many dimensions", text,
                        FL_MAX_DIMS);
        read_slice(option, word, &slices->slice[slices->count]);
    }
    free(copy);
}

/* Returns a place counted from the start, for one that counts from the end if it is negative; limited to 0..length. */
static int64_t place_in(int64_t place, int64_t length)
{
    const int64_t from_start = place < 0 ? place + length : place;

    return from_start < 0 ? 0 : from_start > length ? length : from_start;
}

selection slices_select(const crop_slices *slices, int ndim, const int64_t *shape, const char *what)
{
    selection s = {.ndim = ndim, .step = {1, 1, 1, 1}, .count = {1, 1, 1, 1}};

    if (slices->count > ndim)
        fail(EXIT_BAD_INPUT, "--crop: %d slices, and %s has %d dimension%s", slices->count, what, ndim,
             ndim == 1 ? "" : "s");
    for (int d = 0; d < ndim; d++) {
        const crop_slice whole = {.step = 1}, *c = d < slices->count ? &slices->slice[d] : &whole;
        const int64_t length = shape[d], index = c->first < 0 ? c->first + length : c->first;
        s.dropped[d] = c->is_index;
        s.step[d] = c->step;
        if (c->is_index && (index < 0 || index >= length))
            fail(EXIT_BAD_INPUT, "--crop: there is no index %" PRId64 " among the %" PRId64 " of dimension %d of %s",
                 c->first, length, d, what);
        const int64_t first = c->is_index ? index : c->has_first ? place_in(c->first, length) : 0;
        const int64_t end = c->is_index ? index + 1 : c->has_end ? place_in(c->end, length) : length;
        s.first[d] = first;
        s.count[d] = end > first ? (end - first - 1) / c->step + 1 : 0;
    }
    return s;
}

int selection_shape(const selection *s, int64_t shape[FL_MAX_DIMS], array_origin *origin)
{
    int ndim = 0;

    *origin = whole_origin();
    for (int d = 0; d < s->ndim; d++) {
        if (s->dropped[d])
            continue;
        shape[ndim] = s->count[d];
        origin->first[ndim] = s->first[d];
        origin->step[ndim++] = s->step[d];
    }
    return ndim;
}
