/* SPDX-License-Identifier: MIT
 *
 * cells.h - the text of a table's cell, of a row of JSON and a column.
 */
#pragma once

#include "units.h"

#include <jansson.h>
#include <stdbool.h>

typedef struct cell {
    char text[128];
} cell;

/* A cell written as by printf. What does not fit is cut off. */
cell cell_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef struct column {
    const char *title;
    const char *key; /* "total_s"; "check.max_abs" goes into the object "check" */
    cell_form as;
    cell (*make)(const json_t *row); /* makes the text in place of `key` and `as`; NULL: those */
    int drop; /* a table that is too wide for the terminal is shown without the column of 1, then of 2 ...; 0: it stays
               */
    const char *noise;   /* a key: true, or a text, in rows where the value is not to be relied on, which gets a `~` */
    const char *command; /* of a column without a title: the command whose quantity (fields.h) it is; NULL: the first
                          * one of the key */
} column;

/* The `drop` of a column that stays, though its quantity may be left out of other tables. */
enum { STAYS = -1 };

/* The variant of a result; of a user's kernel the file's name and those macros that are lists, where it is one of
 * several. */
cell variant_cell(const json_t *row);

/* The exercise of a row; of one of several kernels "kernel tiled TILE=16, m=256, block 16x16". */
cell work_cell(const json_t *row);

/* Any value in short, as AS_TEXT has it; what does not fit is cut off. */
cell cell_value(const json_t *value);

/* The text of a cell: a string of the row itself, or what is written to `room`. A value that noise decides has a `~`
 * before it, "~1.40 ms", in every table. */
const char *column_text(const column *c, const json_t *row, cell *room);

/* Returns whether the column is aligned to the right. Forms of numbers are, also of columns that `make` their text. */
bool column_is_number(const column *c);
