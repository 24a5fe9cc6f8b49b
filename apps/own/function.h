/* SPDX-License-Identifier: MIT
 *
 * function.h - a function that the user has written: its text, and its code on each device.
 */
#pragma once

#include "run/reference.h"

enum { MOST_FUNCTION_DEVICES = 16, USER_LOG = 1024 };

/* Reads a text file, to be freed; `what` names its content in messages. Ends the command if the file cannot be read, or
 * if it differs between the ranks. */
char *user_text_read(const char *path, const char *what);

/* Ends the command for an error in a text: the message, then its line, and a caret, from `log`. */
noreturn void user_text_refused(const char *message, const char *log);

/* must() for a text's compilation: an error in the text ends the command with its line, and a caret, from `log`. */
void user_text_must(fl_status status, const char *log);

/* Returns whether an expression names an array that is read: x, y, z or w. */
bool user_expression_reads(const char *text);

/* Call it when a text is compiled: shows this to the user, and says once why compiled code is not saved. */
void user_compiled(const char *shown_as);

typedef struct user_function {
    const char *shown_as; /* the file's name; of an expression "FUNCTION" */
    char *text;
    bool is_expression;
    fl_dtype inputs[FL_MAX_INPUTS]; /* of an expression, `count` of them */
    int count;
    struct {
        fl_device *device;
        fl_function *function;
    } compiled[MOST_FUNCTION_DEVICES];
} user_function;

/* Makes a function from an expression, or the name of a file that ends in .c. Ends the command if it cannot be read. */
user_function user_function_of(const char *word);

/* Describes the function from the text alone. Ends the command, with the place in the text, where it has an error. */
fl_function_info user_function_read(const user_function *f);

/* Counts the inputs of an expression, of x, y, z and w, by the dtypes in `inputs`: the least number of them for which
 * it is right. Ends the command if it is wrong for `most` of them, too. */
void user_function_count_inputs(user_function *f, int most);

/* Its code on the device, compiled at the first call. Ends the command where the text does not compile. */
fl_status user_function_on(user_function *f, fl_device *device, fl_function **function);

void user_function_free(user_function *f);

/* The tolerance of a check, from --rtol and --atol; below 0: not given. Another rounding, or another logarithm, changes
 * the last bits of a sum that cancels, so the bound has a part that is relative to the largest element. Integers must
 * be equal. */
reference_bound user_bound(double relative, double absolute, fl_dtype result, const host_array *expected);

/* Call the first before, the second after the user's function or kernel runs. Between them a fault (a division by zero,
 * a wild pointer) is the user's: the command ends with one line and exit code 1. So does an error of the device from
 * then on (fail_blame). What the function prints goes to stderr, or if not `shown` nowhere, until results are shown,
 * because a GPU prints only when the host waits for it. The second returns the result of the call. */
void user_function_enter(const char *what, bool shown);
fl_status user_function_leave(fl_status status);
