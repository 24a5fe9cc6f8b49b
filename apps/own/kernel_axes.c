/* SPDX-License-Identifier: MIT
 *
 * kernel_axes.c - chooses the grid, and tries it with exchanged axes where a result is wrong: kernels written after
 * Numba's `i, j = cuda.grid(2)` have x along the first dimension, and a grid for the last one leaves elements out.
 */
#include "kernel_axes.h"
#include "kernel_rows.h"

#include "support/memory.h"
#include "support/progress.h"
#include "view/row.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void kernel_auto_grid(const output_spec *output, const int block[3], bool exchanged, int64_t grid[3])
{
    const int64_t size = output_size(output);

    for (int d = 0; d < 3; d++)
        grid[d] = 1;
    if (block[1] * block[2] > 1) {
        for (int d = 0; d < 3 && d < output->ndim; d++)
            grid[d] = (output->shape[exchanged ? d : output->ndim - 1 - d] + block[d] - 1) / block[d];
    } else {
        grid[0] = size > block[0] ? (size + block[0] - 1) / block[0] : 1;
    }
}

/* Returns whether the word names the standard input, which can be read once. */
static bool is_pipe(const char *word)
{
    const size_t length = strlen(word);

    return strcmp(word, "-") == 0 || (length > 1 && strcmp(word + length - 2, ":-") == 0);
}

static bool can_be_read_again(const exercise *e)
{
    const kernel_options *own = e->own;

    for (int i = 0; i < e->common.argument_count; i++)
        if (is_pipe(e->common.arguments[i]))
            return false;
    for (int i = 0; i < own->constant_count; i++)
        if (is_pipe(own->constants[i].name))
            return false;
    return e->word && !is_pipe(e->word) && !(own->expect && is_pipe(own->expect));
}

/* Runs this command line again with that grid. Returns whether its result is right. */
static bool run_with(const exercise *e, const measurement *m, const int64_t grid[3])
{
    kernel_options own = *(const kernel_options *)e->own;
    common_options common = e->common;
    const int count = e->common.argument_count + 1;
    const char **words = memory_zeroed((size_t)count, sizeof *words);
    char *resource = memory_text(m->device.resource);
    char *text = memory_print("%" PRId64 "x%" PRId64 "x%" PRId64, grid[0], grid[1], grid[2]);
    child_words w = child_words_start("kernel");
    kernel_rows rows;
    child_result r;
    bool right;

    words[0] = e->word;
    for (int i = 1; i < count; i++)
        words[i] = e->common.arguments[i - 1];
    own.grid_text = text;
    own.expect = own.expect_given ? own.expect_given : own.expect;
    common.backends = &resource;
    common.backend_count = 1;
    common.all_backends = false;
    common.repeat = 1;
    common.warmup = 0;
    memcpy(common.block, own.block, sizeof common.block);
    rows = kernel_rows_of(&own, words, count);
    child_words_common(&w, kernel_rows_takes(&rows, e->kind, &common), &common);
    kernel_rows_words(&rows, 0, &w);
    r = child_run(&w);
    right = row_is_right(json_array_get(json_object_get(r.document, "results"), 0));
    json_decref(r.document);
    free(text);
    free(resource);
    free(words);
    return right;
}

bool kernel_is_right_exchanged(const exercise *e, const measurement *m, int64_t grid[3])
{
    const kernel_options *own = e->own;
    const output_spec *output = &own->grid_over;
    int64_t usual[3];

    if (own->grid[0] || own->block[1] * own->block[2] <= 1 || output->ndim < 2 || !can_be_read_again(e))
        return false;
    kernel_auto_grid(output, own->block, false, usual);
    kernel_auto_grid(output, own->block, true, grid);
    if (memcmp(usual, grid, sizeof usual) == 0)
        return false;
    progress("%s: axes exchanged", m->requested);
    return run_with(e, m, grid);
}
