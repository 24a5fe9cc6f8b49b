/* SPDX-License-Identifier: MIT
 *
 * results.h - what a command measured, as a table, as JSON and as CSV. docs/commands/output.md describes each column
 * and key.
 */
#pragma once

#include "kind.h"

/* The key "text_key" of a result: equal for equal texts of the user's; "" where the exercise has none. */
typedef struct text_key {
    char text[17];
    bool is_usable; /* else no choice can be kept or taken */
} text_key;
text_key results_text_key(const exercise *e);

/* Adds the rows of the results from the `first` one on, which are those of `e` as it is now. */
void results_add_rows(result_list *results, const exercise *e, int first);

/* Writes JSON and CSV where they are asked for, and the table to stdout unless one of those goes there. */
void results_show(result_list *results, const exercise *e);

/* For commands with rows of their own: the keys of a result that describe its device; the document around a list of
 * results, which it takes; and its writing as JSON and CSV where those are asked for. true when stdout is left for a
 * table; then a note says whether other processes compute on the GPU. */
void results_put_device(json_t *row, const char *requested, const fl_device_info *device);
/* A result's "check"; the shape is that of the array that was compared. */
json_t *results_check(const compare_result *c, const char *method, int ndim, const int64_t *shape);
/* Adds the first wrong elements, their pattern, and where all of them are, to a "check". */
void results_put_wrong(json_t *check, const differences *wrong, int ndim, const int64_t *shape, const int *block);
json_t *results_document(const backend_list *backends, json_t *rows);
/* "machine", with what is known of the first device that is a GPU. */
json_t *results_machine(const backend_list *backends);
/* Checks, before long work, that --output can be written; of `-` stdout is taken for it. */
void results_check_output(const common_options *common);
bool results_write(const common_options *common, const json_t *document);

/* Names the first wrong row on stderr, if a table on stdout does not show it (`is_shown`), or with --quiet: the reason
 * of exit code 1 is then on stderr at least. */
void results_say_wrong(const json_t *rows, bool is_shown);

/* Prints a line for each backend that --backend=all left out. */
void results_print_skipped(const backend_list *backends);

void result_list_free(result_list *results);
