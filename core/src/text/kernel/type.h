/* SPDX-License-Identifier: MIT
 * The type of a kernel's parameter, as the text spells it. */
#ifndef FLYNN_CORE_KERNEL_TYPE_H
#define FLYNN_CORE_KERNEL_TYPE_H

#include "../language/c_types.h"
#include "cut.h"

/* A type that is read word by word: start with zeros. */
typedef struct kernel_type {
    core_type words;       /* of the numbers in it */
    int lanes;             /* how many of them a vector (float4) or a struct has; 0: it is a number */
    int alignment;         /* bytes, of a struct; else 0 */
    bool is_mixed;         /* a struct whose numbers have several types: its lanes are its bytes */
    int pointers;          /* stars */
    int structs;           /* that were read for it: of more than a few none is taken, so that the time stays linear */
    bool is_constant;      /* what the pointer points to */
    core_numbers *numbers; /* where those of a struct are noted; NULL: nowhere */
} kernel_type;

/* Adds a word: of C's types, a vector's, or a name that the text defines by enum, struct, typedef, using, #define or as
 * a template's parameter. A struct whose members are not all of one type has the lanes of its bytes. false: the word is
 * none of a type, or one that no array's elements have. */
bool kernel_type_add(kernel_type *type, const kernel_cut *cut, const core_token *word);

/* Notes the numbers of a type that is passed by value as those of `name`; those of a struct are noted since `first`. */
void kernel_type_note(const kernel_type *type, const core_token *name, int first);

/* Returns whether the text defines the name as a struct, class or union. */
bool kernel_type_is_struct(const kernel_cut *cut, const core_token *name);

#endif
