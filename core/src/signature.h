/* SPDX-License-Identifier: MIT
 * The user's own function: its name and types, read from the text before a compiler sees it. */
#ifndef FLYNN_CORE_SIGNATURE_H
#define FLYNN_CORE_SIGNATURE_H

#include "signature_head.h"

/* A text in C: the last function that it defines at file level. *clean is a copy, to free(), of the same length, in
 * which includes of math.h, stdint.h, stdbool.h and hip/hip_runtime.h and extern "C" are blanks, so that every other
 * character keeps its place. __device__, __host__ and __forceinline__ are left to the compiler. FL_E_SOURCE with
 * `error` filled, FL_E_MEMORY. Its checks are for clear errors: it evaluates no #if, and the compiler has the last
 * word. */
fl_status core_signature_read(const char *text, core_signature *signature, char **clean, core_text_error *error);

#endif
