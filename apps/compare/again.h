/* SPDX-License-Identifier: MIT
 *
 * again.h - flynn compare --again=FILE: the noisy rows of a saved document, measured once more.
 */
#pragma once

#include "ranks/child.h"

/* An entry of the document's "failed". */
json_t *compare_failure(const char *exercise, const child_result *r);

/* Calls child_run, and adds `command` to each result: the words that it was run with, without those that name backends
 * or limit the time. */
child_result compare_run(child_words *words);

/* Returns the document, its noisy rows measured again and in their old places. Options of how long is measured replace
 * the document's. Ends the command for another document, one of another machine or version, and one
 * without a noisy row. */
json_t *compare_again(const common_options *common, const char *path);
