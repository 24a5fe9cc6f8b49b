/* SPDX-License-Identifier: MIT
 * Branches of an #if that each open or close the same bracket. */
#ifndef FLYNN_CORE_KERNEL_BRANCHES_H
#define FLYNN_CORE_KERNEL_BRANCHES_H

#include "../language/token.h"

/* Makes a copy of the text, to free(). Of brackets that several branches of an #if open (#if A ... for (...) { #else
 * ... while (...) { #endif), or close, one branch's are left; the others are written as bytes that a core_reader with
 * `hides` passes over, so that brackets match. A branch of #if 0 has none. *counted is NULL if there are none.
 * FL_E_MEMORY. */
fl_status core_branches_hide(const char *text, char **counted);

/* Writes the brackets again. */
void core_branches_show(char *text);

/* Makes those between two places blank. */
void core_branches_blank(char *from, const char *end);

#endif
