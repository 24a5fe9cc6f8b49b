/* SPDX-License-Identifier: MIT
 * The user's own function: its name and types, read from the text before a compiler sees it. */
#ifndef FLYNN_CORE_SIGNATURE_H
#define FLYNN_CORE_SIGNATURE_H

#include "head.h"

/* A text in C: the last function that it defines at file level. *clean is a copy for the compiler: see
 * core_definitions_read. __device__, __host__ and __forceinline__ are left to the compiler. FL_E_SOURCE with `error`
 * filled, FL_E_MEMORY. */
fl_status core_signature_read(const char *text, core_signature *signature, char **clean, core_text_error *error);

#endif
