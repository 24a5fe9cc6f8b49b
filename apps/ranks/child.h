/* SPDX-License-Identifier: MIT
 *
 * child.h - runs another command of this program in its own process and reads the JSON that it prints. An exercise then
 * meets a cold device each time, and a failure ends only that process.
 */
#pragma once

#include "options/options.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* The words of a command line: "sort", "--size=1000". */
typedef struct child_words {
    char **words; /* the first is the program's name; ended by NULL */
    int count;
} child_words;

/* A command line of `command` with --json, to which words are added with printf formats. child_run frees it. */
child_words child_words_start(const char *command);
void child_words_add(child_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds those shared options of TAKES_RUN that the command takes (TAKES_...), as they were parsed. The child has the
 * same environment. */
void child_words_common(child_words *w, unsigned takes, const common_options *common);
/* Returns whether the word is "--NAME" or "--NAME=VALUE"; with such a name that child_words_common adds for a command
 * that takes these, --backend aside. */
bool child_word_is(const char *word, const char *name);
bool child_word_is_common(const char *word, unsigned takes);

typedef struct child_result {
    int exit_code;     /* 128 + its number for a signal */
    json_t *document;  /* NULL if it printed none; free with json_decref */
    char message[512]; /* the signal that ended it, and the last line of its stderr without the program's name */
} child_result;

/* "exit code 3" or "ended by signal 11 (Segmentation fault)", of a process's status as waitpid gives it. */
typedef struct child_ending {
    char text[80];
} child_ending;
child_ending child_end(int status);

/* Forks this process; returns 0 in the child. The child gets SIGTERM when this process ends for any reason. Ends the
 * command if no process can be started. */
pid_t child_start(void);
/* Call it in the child: replaces it by the program, which is searched for in PATH. */
noreturn void child_exec(const char *const *words);
enum { CHILD_NOT_FOUND = 126, CHILD_NOT_STARTED = 127 }; /* its exit codes if that fails */
/* Waits until the child ends. Returns its status as waitpid does. Ends the command if other code has already waited for
 * it. */
int child_wait(pid_t child);

/* Runs a program from PATH; `quiet` discards its stderr. *text (free it) gets the `size` bytes of its stdout and a
 * final zero byte. Returns the status as waitpid does. */
int child_output(const char *const *words, bool quiet, char **text, size_t *size);

/* The same with what it writes to stderr, too, and with the file `in` as its stdin. */
int child_messages(const char *const *words, int in, char **text, size_t *size);

/* From now on the first signal (signals.h) also ends the command that child_run waits for. */
void child_catch_signals(void);

/* Runs the command line, waits, and frees `w`. Ends the command if no process can be started. */
child_result child_run(child_words *w);
/* Ends this command as that one ended, with its message after `what`, if it printed no document; child_document:
 * child_run for a command that must print one. */
void child_must(const child_result *r, const char *what);
json_t *child_document(child_words *w, const char *what);

/* Returns the output of `flynn help --words [command]`, to be freed: "--mode=\tdescription", a line each. */
char *child_help(const char *command);

/* The variables of the library, and that of kept/turn.h, without "FLYNN_", ended by NULL. No option sets them; child processes inherit them. */
extern const char *const child_variables[];
/* Returns whether a text "FLYNN_...=..." sets one of them. */
bool child_keeps(const char *variable);

/* The answer of `question`, called in a copy of this process: for questions that open devices, if this process must
 * not. (A GPU's context stays until its process ends, and a GPU in exclusive mode then refuses every child.) If the
 * question ends its process, this one ends with the same exit code. */
json_t *child_ask(json_t *(*question)(const void *more), const void *more);
