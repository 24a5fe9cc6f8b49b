/* SPDX-License-Identifier: MIT
 * The types of C that a number has, and the dtype of the arrays that hold such numbers. */
#ifndef FLYNN_CORE_TYPES_H
#define FLYNN_CORE_TYPES_H

#include "token.h"

/* The words of a type, in any order: start with zeros. */
typedef struct core_type {
    uint64_t words;
} core_type;

/* Adds a word: "unsigned", "int", "int8_t". false: it is none of a type, and nothing changed. */
bool core_type_add(core_type *type, const core_token *word);

typedef enum core_type_status { CORE_TYPE_FINE, CORE_TYPE_NONE, CORE_TYPE_NO_ARRAY } core_type_status;

/* The smallest dtype that holds all values of the type: i32 for int8_t, i64 for uint32_t. CORE_TYPE_NONE: the words are
 * no type ("short float"). CORE_TYPE_NO_ARRAY: they are one, but no array holds its values (uint64_t, long double). */
core_type_status core_type_dtype(const core_type *type, fl_dtype *dtype, bool *is_bool);

/* A number of the type as it lies in memory. */
typedef struct core_type_layout {
    int size; /* bytes */
    bool is_real, is_unsigned, is_bool;
} core_type_layout;

/* false: the words are not a type, or they are long double. */
bool core_type_lies(const core_type *type, core_type_layout *layout);

/* A number within a vector or a struct that is passed by value. */
typedef struct core_number {
    char name[64]; /* "box.low.x", "box.side[2]" */
    core_type_layout layout;
    fl_dtype dtype;
    int offset; /* bytes from the beginning of the value */
} core_number;

/* Bytes of all values of a launch: as many as each GPU takes. */
enum { CORE_MOST_VALUES = 4096, CORE_VALUE_ALIGNMENT = 64 };

/* Numbers one after the other, to free(list). */
typedef struct core_numbers {
    core_number *list;
    int count, room;
    bool no_memory; /* some are missing */
    bool differs;   /* a struct has a vector whose alignment is another one for each vendor */
} core_numbers;

/* "float, double, int, ..." for a message. */
extern const char core_type_names[];

#endif
