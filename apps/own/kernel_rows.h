/* SPDX-License-Identifier: MIT
 *
 * kernel_rows.h - the runs of `flynn kernel` that several kernels and lists in -D and --let ask for: a row of a table
 * for each. sweep and compare start a process for each.
 */
#pragma once

#include "kernel_options.h"

#include "ranks/child.h"

extern const exercise_kind kernel_exercise;

/* Returns whether the word is the name of a kernel's text, by its end. */
bool kernel_is_file(const char *word);

typedef struct kernel_rows {
    const kernel_options *own;
    const char *const *words; /* the kernels' files, then the arguments */
    int word_count, files;
    int count; /* rows; 1 if nothing is a list */
} kernel_rows;

/* The leading words that end in .hip, .cu or .cpp are kernels; the first word is one, whatever its end. Ends the
 * command where the lists make too many rows. */
kernel_rows kernel_rows_of(const kernel_options *own, const char *const *words, int count);

/* The shared options that a row of the command `kernel` takes (TAKES_...), for child_words_common: --seed only where
 * random numbers are made or the command line has it, since it is refused elsewhere. */
unsigned kernel_rows_takes(const kernel_rows *rows, const exercise_kind *kernel, const common_options *common);

/* Adds the options, the file and the arguments of the i-th row, to which nothing more can be added. */
void kernel_rows_words(const kernel_rows *rows, int i, child_words *w);

/* The kernel and the macros of the i-th row that are lists, to be freed; NULL: no kernel is named. */
char *kernel_rows_choice(const kernel_rows *rows, int i);

/* Adds what the i-th row is: "file"; "choice", the file's name and those macros that are lists; "let" with
 * the values of --let, and "let_shown", a text of those that are lists. */
void kernel_rows_put(const kernel_rows *rows, int i, json_t *row);

/* exercise_kind.hand_over: several rows are those of `flynn sweep kernel`, by which the process is replaced. */
void kernel_hand_over(const exercise *e, char **argv);
