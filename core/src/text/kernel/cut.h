/* SPDX-License-Identifier: MIT
 * The kernel that is taken out of a file, with what it names. */
#ifndef FLYNN_CORE_KERNEL_CUT_H
#define FLYNN_CORE_KERNEL_CUT_H

#include "file.h"

enum { CUT_MOST_TEMPLATE = 16, CUT_VALUE = 64, CUT_MOST_INCLUDES = 4 };

/* A parameter of the kernel's template, and what it is. */
typedef struct cut_parameter {
    core_token name;
    bool is_type; /* typename T; else a number, of the type in `words` */
    char words[CUT_VALUE];
    char value[CUT_VALUE];
} cut_parameter;

typedef struct kernel_cut {
    char *clean;
    bool hides; /* brackets of further branches are hidden in it: core_branches_show */
    core_file file;
    int kernel; /* the kernel's number among the items */
    cut_parameter template[CUT_MOST_TEMPLATE];
    int template_count;
    char includes[CUT_MOST_INCLUDES][64];
    int include_count;
    /* Results: those of core_kernel_signature. */
    char *compiled;
    char left_out[256], kernels[512], unfilled[256];
} kernel_cut;

/* Reads the text, and chooses the kernel. After any result: cut_free. */
fl_status cut_begin(kernel_cut *cut, const char *text, const char *entry, core_text_error *error);
/* Blanks what the kernel does not need, and writes the results. */
fl_status cut_end(kernel_cut *cut);
/* FL_E_SOURCE if the brackets of the text for the compiler do not match, since what was left out had a branch's. */
fl_status cut_check(const kernel_cut *cut, core_text_error *error);
void cut_free(kernel_cut *cut);

/* template.c: finds what each parameter of template <typename T, int N = 16> is: by the arguments "float, 16>"
 * (NULL: none), else by its default. */
fl_status cut_read_template(kernel_cut *cut, const char *arguments, core_text_error *error);

/* Blanks the code of `clean` from `at` to `end`, and keeps directives; the reader stands before `at`. */
void cut_blank(char *clean, core_reader reader, const char *at, const char *end);

/* Finds what a name of a type stands for: the words from *from to *end. false: the item is not such a name. */
bool cut_alias(const core_item *item, const core_token *name, core_reader *from, const char **end);

#endif
