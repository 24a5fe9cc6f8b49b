/* SPDX-License-Identifier: MIT
 *
 * text.h - the reader of the user's functions and kernels: what other folders of core may include of it.
 *
 * language/  what the other rooms share: tokens and types of C, the functions that a text may call, errors and their
 *            places, also in what a compiler printed
 * function/  an expression, or a function in C, which is applied to each element
 * kernel/    a kernel of the user's: which one of a file, what it needs of the file, its parameters
 * lanes/     a function written for vectors
 *
 * function, kernel and lanes do not include each other.
 */
#ifndef FLYNN_CORE_TEXT_H
#define FLYNN_CORE_TEXT_H

#include "function/expression.h"
#include "function/signature.h"
#include "kernel/signature.h"
#include "lanes/lanes.h"
#include "language/compiler_error.h"
#include "language/source_error.h"

#endif
