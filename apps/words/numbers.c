/* SPDX-License-Identifier: MIT */
#include "numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads the number that ends at the next ':' or at the end of the text. False if that is not a number. */
static bool read_number(const char **text, double *value, bool *whole)
{
    char *end;
    const size_t length = strcspn(*text, ":");

    *value = strtod(*text, &end);
    if (end == *text || end != *text + length)
        return false;
    *whole = *whole && strspn(*text, "+-0123456789") == length && fabs(*value) < 0x1p53;
    *text = *end == ':' ? end + 1 : end;
    return true;
}

bool number_is_range(const char *word)
{
    double value;
    bool whole = true;

    return read_number(&word, &value, &whole) && word[-1] == ':';
}

bool number_read(const char *word, number_input *n, problem *why)
{
    const char *text = word;
    double end, count;

    *n = (number_input){.whole = true, .step = 1, .count = 1};
    if (!read_number(&text, &n->first, &n->whole))
        return true;
    n->is_number = true;
    if (text[-1] != ':')
        return true;
    if (!read_number(&text, &end, &n->whole) || (text[-1] == ':' && !read_number(&text, &n->step, &n->whole)) || *text)
        return problem_set(why, EXIT_BAD_INPUT,
                           "'%s' is not a range; expected FIRST:END or FIRST:END:STEP (example: 0:1000000)", word);
    count = ceil((end - n->first) / n->step);
    if (n->step == 0 || !isfinite(n->first) || !isfinite(end) || !isfinite(n->step) || count > 0x1p40)
        return problem_set(why, EXIT_BAD_INPUT,
                           "'%s': a range of this length cannot be made; expected at most 2^40 elements", word);
    n->count = count > 0 ? (int64_t)count : 0;
    return true;
}
