/* SPDX-License-Identifier: MIT
 *
 * kernels.c - runs the user's kernels for flynn compare.
 */
#include "kernels.h"
#include "again.h"

#include "ranks/child.h"
#include "support/fail.h"
#include "support/progress.h"
#include "view/columns.h"
#include "view/json.h"
#include "view/row.h"
#include "view/stopped.h"

#include <string.h>

bool compare_is_of_kernels(const common_options *common)
{
    return common->argument_count > 1 && strcmp(common->arguments[0], kernel_exercise.name) == 0 &&
           !exercise_find(common->arguments[1]);
}

typedef struct run {
    const common_options *common;
    const kernel_rows *rows;
    json_t *document, *results, *failed; /* document: NULL until a row has run */
    int done;                            /* rows that ran */
    json_t *not_run;                     /* texts of the others, which a signal or --max-time left out */
} run;

static void add_failure(run *r, int row, const child_result *found, const int *block)
{
    json_t *entry = json_new_object();

    kernel_rows_put(r->rows, row, entry);
    json_put(entry, "block", json_wholes((int64_t[]){block[0], block[1], block[2]}, 3));
    json_put(entry, "exercise", json_text(kernel_exercise.name));
    json_put(entry, "exit_code", json_whole(found->exit_code));
    json_put(entry, "message", json_text(found->message));
    json_append(r->failed, entry);
}

static void add_not_run(run *r, int row, const int *block)
{
    json_t *entry = json_new_object();

    kernel_rows_put(r->rows, row, entry);
    json_put(entry, "block", json_wholes((int64_t[]){block[0], block[1], block[2]}, 3));
    json_put(entry, "exercise", json_text(kernel_exercise.name));
    json_append(r->not_run, json_text(work_cell(entry).text));
    json_decref(entry);
}

/* Runs a row with the block; all 0: the kernel's usual one. */
static void run_row(run *r, int row, const int *block)
{
    child_words words = child_words_start(kernel_exercise.name);
    common_options one = *r->common;
    child_result found;
    json_t *result;
    size_t i;

    memcpy(one.block, block, sizeof one.block);
    child_words_common(&words, kernel_rows_takes(r->rows, &kernel_exercise, &one), &one);
    kernel_rows_words(r->rows, row, &words);
    found = compare_run(&words);
    if (!found.document && stopped_now(r->done)) {
        add_not_run(r, row, block);
        return;
    }
    r->done++;
    if (!found.document) {
        add_failure(r, row, &found, block);
        return;
    }
    json_array_foreach(json_object_get(found.document, "results"), i, result)
    {
        kernel_rows_put(r->rows, row, result);
        json_put(result, "block_asked",
                 block[0] ? json_wholes((int64_t[]){block[0], block[1], block[2]}, 3) : json_null());
    }
    json_array_extend(r->results, json_object_get(found.document, "results"));
    if (r->document)
        json_decref(found.document);
    else
        r->document = found.document;
}

json_t *compare_kernels(const common_options *common, const kernel_options *own)
{
    const kernel_rows rows = kernel_rows_of(own, common->arguments + 1, common->argument_count - 1);
    const int blocks = common->block_count > 1 ? common->block_count : 1, count = rows.count * blocks;
    run r = {common, &rows, NULL, json_new_list(), json_new_list(), 0, json_new_list()};

    option_refuse(common, TAKES_RUN & ~exercise_takes(&kernel_exercise), "%s does not take it", kernel_exercise.name);
    child_catch_signals();
    for (int i = 0; i < count; i++) {
        const int *block = blocks > 1 ? common->blocks[i % blocks] : common->block;
        if (stopped_now(i)) {
            add_not_run(&r, i / blocks, block);
            continue;
        }
        progress("%d of %d kernels", i + 1, count);
        progress_part((double)i / count);
        run_row(&r, i / blocks, block);
    }
    progress_end();
    if (!r.document)
        stopped_leave();
    if (!r.document) {
        const json_t *first = json_array_get(r.failed, 0);
        const int code = (int)json_integer_value(row_value(first, "exit_code"));
        fail(code > EXIT_BROKEN ? EXIT_BROKEN : code, "%s: %s", work_cell(first).text, row_text(first, "message"));
    }
    json_put(r.document, "results", r.results);
    json_put(r.document, "failed", r.failed);
    stopped_put(r.document, "rows", r.done, r.not_run);
    return r.document;
}
