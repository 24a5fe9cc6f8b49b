/* SPDX-License-Identifier: MIT
 *
 * kernel_rows.c - counts the rows, and makes the command line of each.
 */
#include "kernel_rows.h"
#include "kernel_registers.h"

#include "files/files.h"
#include "options/options.h"
#include "support/fail.h"
#include "support/memory.h"
#include "view/json.h"
#include "words/made.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROWS = 1000 };

bool kernel_is_file(const char *word)
{
    return file_ends_in(word, ".hip") || file_ends_in(word, ".cu") || file_ends_in(word, ".cpp");
}

kernel_rows kernel_rows_of(const kernel_options *own, const char *const *words, int count)
{
    kernel_rows rows = {own, words, count, count > 0, 1};

    if (own->registers)
        fail(EXIT_BAD_INPUT, "--registers: launches no kernel: only `flynn kernel` takes it");
    while (rows.files > 0 && rows.files < count && kernel_is_file(words[rows.files]))
        rows.files++;
    rows.count = rows.files > 1 ? rows.files : 1;
    for (int i = 0; i < own->let_count && rows.count <= MOST_ROWS; i++)
        rows.count *= own->lets[i].values.count;
    for (int i = 0; own->defines[i] && rows.count <= MOST_ROWS; i++)
        rows.count *= kernel_define_count(own->defines[i]);
    if (rows.count > MOST_ROWS)
        fail(EXIT_BAD_INPUT, "the kernels, -D and --let make more than %d rows; expected fewer values", MOST_ROWS);
    return rows;
}

unsigned kernel_rows_takes(const kernel_rows *rows, const exercise_kind *kernel, const common_options *common)
{
    const unsigned takes = exercise_takes(kernel);

    for (int i = rows->files; i < rows->word_count; i++)
        if (made_takes_seed(rows->words[i]))
            return takes;
    return rows->files == 0 || common->given & TAKES_SEED ? takes : takes & ~(unsigned)TAKES_SEED;
}

/* Which value of each list a row has: macros change fastest, then kernels, then --let. */
typedef struct places {
    int define[MOST_DEFINES], file, let[MOST_LETS];
} places;

static int take_place(int *row, int count)
{
    const int place = *row % count;

    *row /= count;
    return place;
}

static places places_of(const kernel_rows *rows, int row)
{
    const kernel_options *own = rows->own;
    places p = {.file = 0};
    int defines = 0;

    while (own->defines[defines])
        defines++;
    for (int i = defines; i-- > 0;)
        p.define[i] = take_place(&row, kernel_define_count(own->defines[i]));
    p.file = rows->files > 1 ? take_place(&row, rows->files) : 0;
    for (int i = own->let_count; i-- > 0;)
        p.let[i] = take_place(&row, own->lets[i].values.count);
    return p;
}

static void add_text(child_words *w, const char *option, const char *value)
{
    if (value)
        child_words_add(w, "--%s=%s", option, value);
}

void kernel_rows_words(const kernel_rows *rows, int i, child_words *w)
{
    const kernel_options *own = rows->own;
    const places p = places_of(rows, i);

    add_text(w, "entry", own->entry);
    add_text(w, "grid", own->grid_text);
    add_text(w, "shared", own->shared_text);
    add_text(w, "expect", own->expect);
    add_text(w, "expect-grid", own->expect_grid_text);
    add_text(w, "flops", own->flops);
    add_text(w, "bytes", own->bytes);
    if (own->relative >= 0)
        child_words_add(w, "--rtol=%.17g", own->relative);
    if (own->absolute >= 0)
        child_words_add(w, "--atol=%.17g", own->absolute);
    if (own->unguarded)
        child_words_add(w, "--guard=off");
    if (own->unwatched)
        child_words_add(w, "--unwatched");
    if (own->warp)
        child_words_add(w, "--warp=%s", kernel_warps[own->warp]);
    for (int k = 0; k < own->constant_count; k++)
        add_text(w, "constant", own->constants[k].name);
    for (int k = 0; k < own->let_count; k++)
        child_words_add(w, "--let=%s=%" PRId64, own->lets[k].name, own->lets[k].values.value[p.let[k]]);
    for (int k = 0; own->folders[k]; k++)
        add_text(w, "include", own->folders[k]);
    for (int k = 0; own->defines[k]; k++) {
        char *define = kernel_define_value(own->defines[k], p.define[k]);
        add_text(w, "define", define);
        free(define);
    }
    child_words_add(w, "--"); /* an argument may be a negative number */
    if (rows->files > 0)
        child_words_add(w, "%s", rows->words[p.file]);
    for (int k = rows->files; k < rows->word_count; k++)
        child_words_add(w, "%s", rows->words[k]);
}

/* The file's name without its folder. */
static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The name of a file without its folder and its end; with its folder where another kernel's file has this name. */
static char *kernel_name(const kernel_rows *rows, int file)
{
    const char *path = rows->words[file], *name = name_in(path), *dot;

    for (int i = 0; i < rows->files; i++)
        if (i != file && strcmp(name_in(rows->words[i]), name_in(path)) == 0)
            name = path;
    dot = strrchr(name, '.');
    return memory_print("%.*s", (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name)), name);
}

/* "tiled TILE=16" */
char *kernel_rows_choice(const kernel_rows *rows, int i)
{
    const places p = places_of(rows, i);
    char *text = rows->files > 0 ? kernel_name(rows, p.file) : NULL;

    for (int k = 0; text && rows->own->defines[k]; k++) {
        if (kernel_define_count(rows->own->defines[k]) == 1)
            continue;
        char *define = kernel_define_value(rows->own->defines[k], p.define[k]), *longer;
        longer = memory_print("%s %s", text, define);
        free(define);
        free(text);
        text = longer;
    }
    return text;
}

void kernel_rows_put(const kernel_rows *rows, int i, json_t *row)
{
    const kernel_options *own = rows->own;
    const places p = places_of(rows, i);
    json_t *let = json_new_object();
    char shown[128] = "";

    for (int k = 0; k < own->let_count; k++) {
        const size_t used = strlen(shown);
        const int64_t value = own->lets[k].values.value[p.let[k]];
        json_put(let, own->lets[k].name, json_whole(value));
        if (own->lets[k].values.count > 1)
            snprintf(shown + used, sizeof shown - used, "%s%s=%" PRId64, used ? " " : "", own->lets[k].name, value);
    }
    json_put(row, "let", let);
    json_put(row, "let_shown", json_text(*shown ? shown : NULL));
    if (rows->files == 0)
        return;
    char *choice = kernel_rows_choice(rows, i);
    json_put(row, "file", json_text(rows->words[p.file]));
    json_put(row, "choice", json_text(choice));
    free(choice);
}

void kernel_hand_over(const exercise *e, char **argv)
{
    const int count = e->word ? e->common.argument_count + 1 : 0;
    const char **words = memory_zeroed((size_t)count + 1, sizeof *words);
    kernel_rows rows;
    int given = 0;

    words[0] = e->word;
    for (int i = 1; i < count; i++)
        words[i] = e->common.arguments[i - 1];
    const bool registers = ((const kernel_options *)e->own)->registers;
    for (int i = 1; i < count && registers; i++)
        if (!kernel_is_file(words[i]))
            fail(EXIT_BAD_INPUT, "'%s': --registers launches no kernel; expected kernels' files alone", words[i]);
    if (registers)
        kernel_registers(e, words, count);
    rows = kernel_rows_of(e->own, words, count);
    free(words);
    if (rows.count == 1 && e->common.block_count <= 1)
        return;
    option_refuse(&e->common, TAKES_CSV | TAKES_TRACE | TAKES_RESULT | TAKES_SHOW | TAKES_MAX_MEMORY,
                  "several rows are run, as `flynn sweep kernel` runs them");
    while (argv[given])
        given++;
    char **sweep = memory_zeroed((size_t)given + 3, sizeof *sweep);
    sweep[0] = "flynn";
    sweep[1] = "sweep";
    sweep[2] = "kernel";
    memcpy(sweep + 3, argv + 1, (size_t)(given - 1) * sizeof *sweep);
    execv("/proc/self/exe", sweep);
    fail(EXIT_BROKEN, "cannot start `flynn sweep kernel`: %s", strerror(errno));
}
