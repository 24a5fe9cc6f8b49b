/* SPDX-License-Identifier: MIT
 * The functions that a text in C or C++ defines, found before a compiler sees it. */
#ifndef FLYNN_CORE_DEFINITIONS_H
#define FLYNN_CORE_DEFINITIONS_H

#include "token.h"

enum { CORE_MOST_TEXT = 1 << 20 };

/* A function at file level. */
typedef struct core_definition {
    core_reader item; /* where its definition starts */
    core_reader body; /* after its { */
    core_token name;
} core_definition;

typedef struct core_definition_reader {
    /* Takes each definition in its order; not FL_OK: the reading ends with it. */
    fl_status (*take)(void *user, const core_definition *definition, core_text_error *error);
    /* Takes each include of another header, which becomes blank; NULL: such an include is an error. */
    void (*take_include)(void *user, const char *words);
    void *user;
    bool hides;  /* core_reader's */
    bool is_cxx; /* the text is of C++, not of C */
    bool loops;  /* out: the text has for, while, do or goto */
} core_definition_reader;

/* Reads the whole text. *clean is a copy, to free(), of the same length, in which includes of math.h, stdint.h,
 * stdbool.h and hip/hip_runtime.h and extern "C" are blanks, so that every other character keeps its place. FL_E_SOURCE
 * with `error` filled, FL_E_MEMORY. It evaluates no #if, and the compiler has the last word; but what a compiler would
 * take for an #include is one here: compiled code is kept by the text alone. */
fl_status core_definitions_read(const char *text, core_definition_reader *reader, char **clean, core_text_error *error);

#endif
