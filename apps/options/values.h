/* SPDX-License-Identifier: MIT
 *
 * values.h - the values of options: each function returns what the text says, or ends the command with one line.
 * `option` is the long name without dashes ("mode").
 *
 * A whole number is written as digits (4096), as a decimal number with a power of ten or a unit (1e6, 1.5k, 16M: k or
 * K, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024), or as a power (2^20). A value that is no whole number,
 * such as 0.5, is refused.
 */
#pragma once

#include <flynn/flynn.h>

#include <stdnoreturn.h>

/* Reads such a number at the start of *text and moves *text past it; false if there is none or no int64_t holds it. */
bool option_whole(const char **text, int64_t *value);
/* A whole number from `least` to `most`. */
int64_t option_integer(const char *option, const char *value, int64_t least, int64_t most);
/* A number from 0 to `most`, or without limit if that is 0. */
double option_real(const char *option, const char *value, int64_t most);
/* "2%" is 0.02; above 0 and at most 100 %. */
double option_percentage(const char *option, const char *value);
/* The place of the value in `names`, which NULL ends; the message lists them, and the nearest one. */
int option_choice(const char *option, const char *value, const char *const *names);
enum { MOST_INTEGERS = 32 };

/* The numbers of "5,20,100". */
typedef struct integer_list {
    int count;
    int64_t value[MOST_INTEGERS];
} integer_list;

/* Whole numbers from `least` to `most` with a comma between them. */
void option_integers(const char *option, const char *value, int64_t least, int64_t most, integer_list *list);
/* A number of bytes, at least 1. */
int64_t option_bytes(const char *option, const char *value);
/* `least` to `most` numbers of at least 1 with an x between them, then `rest`. The message says that the value is not
 * `expected`. */
void option_numbers(const char *option, const char *value, int64_t least, int64_t most, const char *expected,
                    int64_t rest, int64_t *numbers);
/* A block: "16x16" is {16, 16, 1}. */
void option_block(const char *option, const char *value, int *block);
/* "f32", or as C and NumPy call it: float, float32, single; double, float64; int, int32; int64; uint8. */
fl_dtype option_dtype(const char *option, const char *value);
/* A text that is not empty; NULL stays NULL. */
const char *option_text(const char *option, const char *value);

/* Sets whether the values that are read next come from variables of the environment, which messages then name, or from
 * words of the command line, as at first. option_is_variable returns what was set. */
void option_values_are_variables(bool are);
bool option_is_variable(void);
/* Writes the variable of an option: "min-time" has FLYNN_MIN_TIME. */
void option_variable(const char *option, char *text, size_t size);
/* Writes the name that messages give the option, or its variable. */
void option_shown(const char *option, bool variable, char *text, size_t size);
/* Ends the command: "--mode: 'fulll' is ...; expected ...", or "FLYNN_MODE: ..." for a variable's value. */
noreturn void option_fail(const char *option, const char *format, ...) __attribute__((format(printf, 2, 3)));
