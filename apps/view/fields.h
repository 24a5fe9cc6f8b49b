/* SPDX-License-Identifier: MIT
 *
 * fields.h - the quantities of an exercise's result, and below them those that rows of one command alone have, each
 * described in one row. The tables of a run and of compare (as text, Markdown and HTML), the JSON with its CSV, the
 * schema's texts, the tables of docs/commands/output.md and words of the glossary come from these rows; other tables
 * name the key alone and take title, form, noise and order of leaving out from them.
 */
#pragma once

#include "cells.h"

#include <jansson.h>

/* Where a value comes from. */
typedef enum field_source {
    GIVEN,     /* from what was measured */
    MEDIAN_OF, /* of the samples `of` in times_s */
    MINIMUM_OF,
    COUNT_OF,
    INTERVAL_OF, /* [low, high] of fl_bench_statistics; [] below six samples */
    RATE_OF,     /* 1e-9 of the value `of` over kernel_s */
} field_source;

/* The tables in which it is a column; IN_ONCE: of a run whose result is wanted and no measurement. */
enum { IN_RUN = 1, IN_COMPARE = 2, IN_ONCE = 4 };

/* When a table in which it is shows it. */
typedef enum field_shown {
    ALWAYS,
    WHERE_IT_DIFFERS,
    WHERE_GIVEN,
    ON_RANKS,
    OF_KERNELS /* the user's own */
} field_shown;

typedef struct field {
    const char *key;   /* in the result; NULL ends the list */
    const char *title; /* above the column; NULL: no table has it */
    cell_form as;
    cell (*make)(const json_t *row); /* as in `column`, like the next one */
    int drop;
    unsigned in;
    field_shown shown;
    field_source from;
    const char *of;
    const char *noise;   /* as in `column` */
    const char *about;   /* what it is, for the schema and the pages; plain text with `code` */
    const char *command; /* whose rows alone have it; NULL: those of every exercise */
} field;

extern const field fields[];

/* The first quantity of that key, or the command's if it is not NULL. NULL: it is not among them. */
const field *field_of(const char *command, const char *key);

/* Adds an exercise's quantities to a row in the order of `fields`. `given` has the values of those whose source is
 * GIVEN, and the samples, times_s, from which the others are computed. */
void fields_put(json_t *row, const json_t *given);

/* Describes each quantity: its command, key, title, unit and what it is, whether only some exercises have it, and
 * whether it is a whole number or an interval of two: for the tests of the schema and the pages. */
json_t *fields_describe(void);
