/* SPDX-License-Identifier: MIT
 *
 * child.h - another command of this program, in a process of its own: what it prints as JSON is its result. An exercise
 * that runs so meets a cold device each time, and takes only itself down when it fails.
 */
#ifndef FLYNN_APPS_HARNESS_CHILD_H
#define FLYNN_APPS_HARNESS_CHILD_H

#include "support/options.h"

#include <jansson.h>

enum { MOST_WORDS = 64 };

/* The words of a command line: "sort", "--size=1000". */
typedef struct child_words {
    char *words[MOST_WORDS + 1]; /* the first is for the program's name; ended by NULL */
    int count;
} child_words;

/* A command line of `command`, with --json; then words as by printf. Free with child_words_free. */
child_words child_words_start(const char *command);
void child_words_add(child_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The shared options of TAKES_RUN as they were parsed, those that the command takes (TAKES_...). The environment is
 * passed on anyway. */
void child_words_common(child_words *w, unsigned takes, const common_options *common);
void child_words_free(child_words *w);

/* What came of it. */
typedef struct child_result {
    int exit_code;     /* 128 + its number for a signal */
    json_t *document;  /* NULL when it printed none; free with json_decref */
    char message[512]; /* the last line of its stderr, without the program's name */
} child_result;

/* Runs it and waits. Ends the command when no process can be made. */
child_result child_run(const child_words *w);

/* What the question's answer is when it is asked in a process of its own, a copy of this one: for what needs open
 * devices while this process must open none. (A GPU's context stays until its process ends, and a GPU that is set to
 * one process at a time then takes no child.) A question that ends its process ends this one with the same exit code.
 */
json_t *child_ask(json_t *(*question)(const void *more), const void *more);

#endif
