/* SPDX-License-Identifier: MIT
 * What the two files that write a function over lanes share. */
#ifndef FLYNN_CORE_LANES_WRITE_H
#define FLYNN_CORE_LANES_WRITE_H

#include "lanes.h"

#include <stdarg.h>

/* "m", the mask of the statement; or of a part of a value that C computes for some lanes alone, "m7" or "e7". */
typedef struct lanes_mask {
    char letter;
    int number; /* 0: none */
} lanes_mask;

typedef struct lanes_writer {
    char *bytes; /* NULL: out of memory */
    size_t size, used;
    const lanes_function *function;
    int indent, numbers; /* numbers: given to masks so far */
    lanes_mask mask;
    int depth;                                   /* constructs around the statement: */
    const lanes_node *around[LANES_DEEPEST + 2]; /* a loop; NULL: of another kind */
} lanes_writer;

void lanes_put(lanes_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lanes_put_list(lanes_writer *w, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* "i32", "f64": of the vector that has the values of this type. */
const char *lanes_kind_of(core_type_layout type);
/* "x_1": no name of the prelude ends so. */
void lanes_put_name(lanes_writer *w, const lanes_variable *v);
/* The value as one of the type, which may be narrower than int; the condition as a mask. */
void lanes_put_value(lanes_writer *w, const lanes_node *n, core_type_layout type);
void lanes_put_condition(lanes_writer *w, const lanes_node *n);
/* Lines before the statement with the value: masks for those parts of it that C computes for some lanes alone. */
void lanes_put_masks(lanes_writer *w, lanes_node *n);

#endif
