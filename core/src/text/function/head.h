/* SPDX-License-Identifier: MIT
 * What the user's function takes and gives, and the head of its definition: TYPE NAME(TYPE NAME, ...). */
#ifndef FLYNN_CORE_SIGNATURE_HEAD_H
#define FLYNN_CORE_SIGNATURE_HEAD_H

#include "../language/token.h"

typedef struct core_signature {
    char name[CORE_NAME_SIZE];
    fl_dtype result; /* of the array of results: u8 for bool */
    bool is_bool;
    int count;
    fl_dtype inputs[FL_MAX_INPUTS]; /* of the arrays: the smallest dtype that holds the parameter's values */
    char input_names[FL_MAX_INPUTS][CORE_NAME_SIZE];
    bool own_max, own_min; /* the text defines a function of that name, which C does not have */
    bool loops;            /* the text has for, while, do or goto, or the function calls itself */
} core_signature;

/* Reads the name, the types and the parameters' names. The definition begins at `at`; brackets match there. */
fl_status core_head_read(core_reader at, const core_token *name, core_signature *signature, core_text_error *error);

#endif
