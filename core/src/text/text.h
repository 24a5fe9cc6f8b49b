/* SPDX-License-Identifier: MIT
 *
 * text.h - the reader of the user's functions and kernels: what other folders of core may include of it. It reads an
 * expression or the head of a function, writes the function that a backend compiles, and finds the place of an error
 * in what the compiler printed.
 */
#ifndef FLYNN_CORE_TEXT_H
#define FLYNN_CORE_TEXT_H

#include "language/compiler_error.h"
#include "function/expression.h"
#include "kernel/signature.h"
#include "lanes/lanes.h"
#include "function/signature.h"
#include "language/source_error.h"

#endif
