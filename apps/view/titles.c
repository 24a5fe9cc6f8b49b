/* SPDX-License-Identifier: MIT */
#include "titles.h"

#include <string.h>

const column *columns_known(unsigned in)
{
    static column known[LONGEST_LIST + 1];
    int count = 0;

    for (const field *f = fields; f->key && count < LONGEST_LIST - 1; f++)
        if (f->in & in)
            known[count++] = (column){.key = f->key};
    known[count++] = (column){.key = "let_shown"}; /* of several kernels */
    known[count] = (column){0};
    return known;
}

const char *const *titles_of(const column *const *tables)
{
    enum { MOST_TITLES = 4 * LONGEST_LIST };
    static const char *list[MOST_TITLES + 1];
    int count = 0;

    for (; *tables; tables++) {
        const column_list full = columns_full(*tables);
        for (const column *c = full.c; c->title && count < MOST_TITLES; c++) {
            int i = 0;
            while (i < count && strcmp(list[i], c->title) != 0)
                i++;
            list[i] = c->title;
            count += i == count && *c->title;
        }
    }
    list[count] = NULL;
    return list;
}
