/* SPDX-License-Identifier: MIT
 *
 * kernel_findings.h - what an emulated GPU found in the first launch of the user's kernel, as messages.
 */
#pragma once

#include "kernel_arguments.h"

/* The kinds of findings that are errors of the kernel, bits 1 << FL_FOUND_... Prints each error, and what is a remark
 * only where the result is not known to be right. `found` is the check's result, which an error makes a wrong one. */
unsigned findings_judge(const kernel_options *own, const measurement *m, compare_result *found);

/* Returns whether the launch did not read this parameter's array and left some of its elements as they were; false for
 * a launch that was not watched (NULL). */
bool findings_unwritten(const fl_findings *all, int parameter);

/* An array of the messages, for JSON; NULL's is null: the launch was not watched. */
json_t *findings_json(const watched *w);
