/* SPDX-License-Identifier: MIT
 * An expression of x, y, z, w as a function in C. */
#ifndef FLYNN_CORE_EXPRESSION_H
#define FLYNN_CORE_EXPRESSION_H

#include "signature.h"

/* Reads all of the expression, so that what is accepted compiles. `inputs` are the dtypes of 1 to
 * FL_MAX_EXPRESSION_INPUTS arrays; the parameters of the function have the type of its result:
 *
 * - f32 if all inputs are f32. Numbers and constants are f32 then, and functions of real numbers are called by their
 *   names in f32 (logf), unless an argument is f64 by a cast;
 * - fl_dtype_result of the inputs if all are integers and the expression has no floating number, cast to a floating
 *   type, constant or function of real numbers. C computes in int between u8 arrays, and the result is kept modulo 256;
 * - f64 else.
 *
 * *function is the text of a definition of `flynn_expression`, to free(): the user's text stands on lines of its own
 * after a "#line 1". FL_E_SOURCE with `error` filled, FL_E_ARGUMENT (dtypes, count), FL_E_MEMORY. */
fl_status core_expression_read(const char *text, const fl_dtype *inputs, int count, core_signature *signature,
                               char **function, core_text_error *error);

/* The column in the user's text of a column in the function's line, in which numbers and names have a suffix more. */
int core_expression_column(const char *text, const char *function, int line, int column);

#endif
