/* SPDX-License-Identifier: MIT */
#include "spelling.h"

#include <flynn/flynn.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours, each counted 1. */
static int distance(const char *a, const char *b)
{
    int rows[3][LONGEST + 1];
    int a_length = (int)strlen(a), b_length = (int)strlen(b);

    if (a_length > LONGEST || b_length > LONGEST)
        return LONGEST;
    for (int j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            row[j] = smaller(above[j - 1] + (a[i - 1] != b[j - 1]), smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *fl_nearest_name(const char *wanted, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    int smallest = LONGEST;

    for (size_t i = 0; wanted && i < count; i++) {
        int d = distance(wanted, names[i]);
        int longer = (int)(strlen(wanted) > strlen(names[i]) ? strlen(wanted) : strlen(names[i]));
        if (d < smallest && 3 * d <= longer + 2) { /* one wrong letter is always close */
            smallest = d;
            nearest = names[i];
        }
    }
    return nearest;
}

const char *core_suggest(char *text, size_t size, const char *wanted, const char *const *names, size_t count)
{
    const char *nearest = fl_nearest_name(wanted, names, count);
    size_t used = 0;

    used += (size_t)(nearest ? snprintf(text, size, "; did you mean '%s'? Available: ", nearest)
                             : snprintf(text, size, "; available: "));
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names[i]);
    return text;
}
