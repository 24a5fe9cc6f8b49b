/* SPDX-License-Identifier: MIT
 * What the compilers of the backends say about the user's text. */
#ifndef FLYNN_CORE_COMPILER_ERROR_H
#define FLYNN_CORE_COMPILER_ERROR_H

#include "source_error.h"

/* The first error in what a compiler wrote: "prime.c:3:25: error: ..." (gcc, clang, hiprtc) or "prime.c(3): error: ..."
 * and a caret below the line (NVRTC), with a misspelt function's nearest name. `text` stands after #line 1
 * "`shown_as`"; an error after its end (a wrapper's) is reported at its end. Without such an error, the first name that
 * a linker (GNU's, LLVM's, ptxas) does not find defined, where the text uses it. false: there is neither.
 *
 * gcc counts bytes where it cannot read the file `shown_as`, else only with -fdiagnostics-column-unit=byte (gcc 11). */
bool core_compiler_error(const char *output, const char *text, const char *shown_as, core_text_error *error);

#endif
