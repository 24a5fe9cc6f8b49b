/* SPDX-License-Identifier: MIT
 *
 * kernel_findings.h - what an emulated GPU found in the first launch of the user's kernel, as messages.
 */
#pragma once

#include "kernel_arguments.h"

/* The kinds of findings that are errors of the kernel, bits 1 << FL_FOUND_... Prints each error, and what is a remark
 * only where the result is not known to be right. `found` is the check's result, which an error makes a wrong one. */
unsigned findings_judge(const kernel_options *own, const measurement *m, compare_result *found);

/* Writes what the launch left as it was: "no thread writes 2,300 of the 3,500 elements of out ..."; nothing of a launch
 * that was not watched (NULL), or that wrote all. */
void findings_unwritten(const fl_findings *all, char *text, size_t size);

/* An array of the messages, for JSON; NULL's is null: the launch was not watched. */
json_t *findings_json(const watched *w);
