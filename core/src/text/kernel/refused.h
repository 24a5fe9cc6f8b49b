/* SPDX-License-Identifier: MIT
 * What kernels of CUDA use and no device has here: why, and what to do instead. */
#ifndef FLYNN_CORE_KERNEL_REFUSED_H
#define FLYNN_CORE_KERNEL_REFUSED_H

#include "cut.h"

/* Why no kernel can have a parameter of the type, and what it can have instead; NULL: nothing is known of the type. */
const char *core_type_refused(const core_token *type);

/* Refuses a kernel that uses, itself or in what it names, what no device has here. Call it after cut_end. FL_E_SOURCE
 * with `error` filled. */
fl_status core_kernel_refused(const kernel_cut *cut, core_text_error *error);

/* Returns whether the words from the reader to `end` name what a library of the host's or of CUDA's has: std::vector.
 */
bool core_names_library(core_reader reader, const char *end);

#endif
