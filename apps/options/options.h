/* SPDX-License-Identifier: MIT
 *
 * options.h - the command line: shared options, a command's own options as a table, and their variables. glibc's argp
 * reads the words.
 *
 * An option --some-name beats the variable FLYNN_SOME_NAME, which beats the default. An empty variable counts as not
 * set; for an option without a value it is 0 or 1; for --json and --csv without a FILE it is 1.
 *
 * An option that the command does not list is refused, and so is one on the command line that another option or a file
 * makes void (a variable is then ignored), and so are two options that name one file (paths.h). Any mistake ends the
 * command with exit code 2 and one line that names the option or variable.
 */
#pragma once

#include "command_line.h"

#include <stdnoreturn.h>

/* Reads environment and options over the defaults into `common` and the command's own values. Sets the command's name
 * and --quiet for fail.h. --help, --usage and --version print to stdout and exit with 0. */
void options_parse(const command_line *command, int argc, char **argv, common_options *common);

/* For a process that may be one of a group. `agrees` ends the command unless all processes have the same facts
 * (dist.h): the options and arguments. `gives_up` ends the process when --max-time is over without a result: it prints
 * a line and removes unfinished files, and does not wait for the work. Called once, in main. */
void options_set_group(void (*agrees)(const void *facts, size_t bytes, const char *differs),
                       void (*gives_up)(double limit));

/* Frees what `common` owns. */
void options_free(common_options *common);

/* Ends the command if the command line has an option of these bits: "--size: has no effect: <why>". */
void option_refuse(const common_options *common, unsigned bits, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* option_refuse for an own option, by its name in the table. */
void option_refuse_own(const common_options *common, const own_option *options, const char *name, const char *why);

/* option_refuse for any of command_line.more. */
void option_refuse_more(const common_options *common, const own_option *options, const char *why);

/* Returns whether an option or a variable asks for a measurement: how passes are timed or shown, or several rows. */
bool option_measures(const common_options *common);

/* Ends the command if --variant is a list. */
void option_one_variant(const common_options *common);

/* Returns whether the first `length` letters of a name in --columns are the title of a column; '-' or '_' may stand for
 * a blank of it: with-copies. */
bool option_is_title(const char *name, size_t length, const char *title);

/* Options that many commands take together; TAKES_RUN: what a command of many runs passes on to each. */
enum {
    TAKES_TIMING =
        TAKES_REPEAT | TAKES_WARMUP | TAKES_MIN_TIME | TAKES_UNTIL | TAKES_MAX_TIME | TAKES_PAGEABLE | TAKES_FLUSH,
    TAKES_TABLE = TAKES_WIDE | TAKES_COLUMNS,
    TAKES_OUTPUT = TAKES_TRACE | TAKES_JSON | TAKES_CSV | TAKES_TABLE,
    TAKES_RUN = TAKES_BACKEND | TAKES_VARIANT | TAKES_SIZE | TAKES_BLOCK | TAKES_DTYPE | TAKES_SEED | TAKES_TIMING |
                TAKES_CHECK | TAKES_FUNCTION,
};
