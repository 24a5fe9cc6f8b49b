/* SPDX-License-Identifier: MIT
 *
 * flynn report: what other commands saved with --json as one page with plots, for a wall or a mail.
 */
#include "batch.h"
#include "commands.h"
#include "gnuplot.h"
#include "page.h"

#include "compare/table.h"
#include "files/files.h"
#include "files/input.h"
#include "files/output.h"
#include "files/png_file.h"
#include "harness/child.h"
#include "support/fail.h"
#include "support/options.h"
#include "support/progress.h"
#include "view/json.h"
#include "view/row.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 256 };

typedef struct report_options {
    const char *const *files;
    const char *pictures[MOST_FILES];
    int count, picture_count;
    const char *output, *plots;
} report_options;

static void add_picture(const char *option, const char *value, void *options)
{
    report_options *own = options;

    if (own->picture_count == MOST_FILES)
        option_fail(option, "too many pictures; expected at most %d", MOST_FILES);
    own->pictures[own->picture_count++] = value;
}

static const own_option own_options[] = {
    {"output", OPTION_WRITTEN, offsetof(report_options, output), "FILE",
     .help = "Write the page to this file instead of report.html", .letter = 'o'},
    {"plots", OPTION_TEXT, offsetof(report_options, plots), "FOLDER",
     .help = "Write each plot as .svg and .png too; the folder is made where it is missing"},
    {"picture", OPTION_CUSTOM, 0, "FILE.png[:CAPTION]", .help = "Show this picture; may be given several times",
     .parse = add_picture},
    {0},
};

static const char summary[] =
    "Makes one page of what other commands saved with --json: tables, times as bars, the roofline, and what went "
    "wrong.\v"
    "The files are from flynn compare (also --against), ceiling, sweep, laws, batch, or a single exercise; documents "
    "of one host are told of together. Without a file it runs flynn compare. The page loads nothing from anywhere, and "
    "can be printed. gnuplot draws the plots. Exit status 1 if a check on the page failed.";

/* ----------------------------------------------------------------------------------------------- documents ---- */

/* What a page can be made of. */
static const char *const keys[] = {"results", "ceilings", "pairs", "sweep", "laws", "batch"};

/* Whoever changed a document by hand is told, before its results are taken for such. */
static bool has_results(const json_t *document)
{
    const json_t *results = json_object_get(document, "results"), *row;
    bool objects = !results || json_is_array(results);
    size_t i;

    json_array_foreach(results, i, row) objects = objects && json_is_object(row);
    return objects;
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *document = json_load_file(path, 0, &error);
    const char *schema = json_string_value(json_object_get(document, "schema"));
    const json_t *batch = json_object_get(document, "batch");
    bool known = false;

    if (!document && error.line < 0)
        fail(EXIT_BAD_INPUT, "%s: cannot be read; expected a file that --json wrote", path);
    if (!document)
        fail(EXIT_BAD_INPUT, "%s: line %d: %s; expected a file that --json wrote", path, error.line, error.text);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        known = known || json_object_get(document, keys[i]);
    if (!schema || strcmp(schema, "flynn/1") != 0 || !known || !has_results(document))
        fail(EXIT_BAD_INPUT,
             "%s: is no document of schema flynn/1 to report on; expected one of compare, ceiling, sweep, laws, batch "
             "or an exercise",
             path);
    if (batch && report_batch_lacks(batch))
        fail(EXIT_BAD_INPUT, "%s: what is under its key batch is not by flynn batch; expected %s", path,
             report_batch_lacks(batch));
    return document;
}

/* `flynn compare`, as these options ask for it. */
static json_t *run_compare(const common_options *common)
{
    child_words words = child_words_start("compare");
    child_result r;

    child_words_common(&words, TAKES_RUN, common);
    progress("all exercises on all backends");
    r = child_run(&words);
    progress_end();
    child_words_free(&words);
    if (!r.document)
        fail(r.exit_code > 0 && r.exit_code <= EXIT_BROKEN ? r.exit_code : EXIT_BROKEN, "compare: %s", r.message);
    return r.document;
}

static bool is_in(const json_t *list, const json_t *value)
{
    bool found = false;
    json_t *other;
    size_t i;

    json_array_foreach(list, i, other) found = found || json_equal(value, other);
    return found;
}

/* Those of `from` that are not in `list` yet: the same file may be named twice, a backend be skipped by each command.
 */
static void append_new(json_t *list, const json_t *from)
{
    size_t i;
    json_t *value;

    json_array_foreach(from, i, value) if (!is_in(list, value)) json_array_append(list, value);
}

/* What a document has under the key, a list or one object, as one more of `list`. */
static void append_one(json_t *list, const json_t *document, const char *key)
{
    json_t *value = json_object_get(document, key);

    if (value)
        json_append(list, json_incref(value));
}

/* Speed-ups and the like, where an exercise was saved by itself. Ways of a slice are no backends beside each other. */
static void fill_results(json_t *document)
{
    const json_t *first = json_array_get(json_object_get(document, "results"), 0);
    const char *exercise = json_string_value(json_object_get(first, "exercise"));

    if (first && !json_object_get(first, "relative") && !(exercise && strcmp(exercise, "slice") == 0))
        compare_table_fill(document);
}

/* The combinations of one exercise are a table of their own. */
static bool is_sweep(const json_t *document)
{
    return json_object_get(document, "sweep") || json_object_get(document, "best");
}

static void append_wrong(json_t *list, const json_t *results)
{
    size_t i;
    json_t *row;

    json_array_foreach(results, i, row)
    {
        if (!row_is_right(row))
            json_array_append(list, row);
    }
}

/* An image that failed did so in each pipeline: its message is kept once. */
static void append_batch(report_machine *m, json_t *batch)
{
    json_t *run, *failure;
    size_t i, k;

    report_batch_order(batch);
    if (is_in(m->batches, batch))
        return;
    json_array_append(m->batches, batch);
    append_wrong(m->wrong_runs, json_object_get(batch, "runs"));
    json_array_foreach(json_object_get(batch, "runs"), i, run)
        json_array_foreach(json_object_get(run, "failures"), k, failure)
            json_object_set(m->lost_images, row_text(failure, "message"), failure);
}

static report_machine *machine_of(report_page *page, json_t *machine)
{
    const json_t *host = json_object_get(machine, "host");
    report_machine *m;

    for (int i = 0; i < page->machine_count; i++)
        if (json_equal(json_object_get(page->machines[i].machine, "host"), host))
            return &page->machines[i];
    page->machines = realloc(page->machines, (size_t)(page->machine_count + 1) * sizeof *page->machines);
    if (!page->machines)
        fail(EXIT_BROKEN, "out of memory for a report");
    m = &page->machines[page->machine_count++];
    *m = (report_machine){.machine = json_is_object(machine) ? json_deep_copy(machine) : json_new_object(),
                          .results = json_new_list(),
                          .wrong = json_new_list(),
                          .ceilings = json_new_list(),
                          .skipped = json_new_list(),
                          .failed = json_new_list(),
                          .sweeps = json_new_list(),
                          .laws = json_new_list(),
                          .batches = json_new_list(),
                          .wrong_runs = json_new_list(),
                          .lost_images = json_new_object()};
    return m;
}

/* A command that opens no GPU knows none: what one document leaves open another one may tell. */
static void complete(json_t *machine, json_t *other)
{
    const char *key;
    json_t *value;

    json_object_foreach(other, key, value)
    {
        const json_t *known = json_object_get(machine, key);
        if (!known || json_is_null(known))
            json_object_set(machine, key, value);
    }
}

static void take(report_page *page, json_t *document)
{
    json_t *machine = json_object_get(document, "machine");
    report_machine *m;

    if (json_object_get(document, "pairs")) {
        json_append(page->pairs, json_incref(document));
        return;
    }
    m = machine_of(page, machine);
    complete(m->machine, machine);
    append_wrong(m->wrong, json_object_get(document, "results"));
    if (is_sweep(document)) {
        json_append(m->sweeps, json_incref(document));
    } else if (json_object_get(document, "laws")) {
        append_one(m->laws, document, "laws"); /* whose points are results of other sizes: nothing to compare */
    } else {
        fill_results(document);
        append_new(m->results, json_object_get(document, "results"));
    }
    if (json_object_get(document, "batch"))
        append_batch(m, json_object_get(document, "batch"));
    append_new(m->ceilings, json_object_get(document, "ceilings"));
    append_new(m->skipped, json_object_get(document, "skipped"));
    append_new(m->failed, json_object_get(document, "failed"));
}

static void take_all(report_page *page, const report_options *own, const common_options *common)
{
    json_t *document;

    for (int i = 0; i < own->count; i++) {
        document = load(own->files[i]);
        take(page, document);
        json_decref(document);
        json_append(page->sources, json_text(own->files[i]));
    }
    if (own->count > 0)
        return;
    document = run_compare(common);
    take(page, document);
    json_decref(document);
    json_append(page->sources, json_text("flynn compare"));
}

/* ------------------------------------------------------------------------------------------------ pictures ---- */

/* "a.png:caption", where the name ends with the first .png that a colon or nothing follows. */
static report_picture split(const char *value)
{
    char *path = strdup(value), *colon;
    report_picture p = {.path = path, .caption = ""};

    if (!path)
        fail(EXIT_BROKEN, "out of memory for a file's name");
    colon = strstr(path, ".png:");
    if (colon) {
        colon[4] = '\0';
        p.caption = colon + 5;
    }
    return p;
}

/* Only what libpng can read is put into a page. */
static report_picture read_picture(const char *value)
{
    report_picture p = split(value);
    int64_t bytes;
    host_array image;
    problem why;
    FILE *file;

    if (!png_read(p.path, &image, &why) || !(file = input_open(p.path, "a PNG", &bytes, &why)))
        fail_problem(&why);
    host_array_free(&image);
    p.size = (size_t)bytes;
    p.data = malloc(p.size);
    if (!p.data || fread(p.data, 1, p.size, file) != p.size)
        fail(EXIT_BROKEN, "%s: could not be read", p.path);
    fclose(file);
    return p;
}

static void take_pictures(report_page *page, const report_options *own)
{
    page->pictures = calloc((size_t)own->picture_count + 1, sizeof *page->pictures);
    if (!page->pictures)
        fail(EXIT_BROKEN, "out of memory for pictures");
    for (int i = 0; i < own->picture_count; i++)
        page->pictures[page->picture_count++] = read_picture(own->pictures[i]);
}

/* -------------------------------------------------------------------------------------------------- writing ---- */

static void write_file(const char *folder, const char *name, const char *ending, const char *data, size_t size)
{
    char path[PATH_MAX];
    output *file;
    problem why;

    if ((size_t)snprintf(path, sizeof path, "%s/%s.%s", folder, name, ending) >= sizeof path)
        fail(EXIT_BAD_INPUT, "--plots: '%s' is too long", folder);
    file = output_open(path, &why);
    if (!file)
        fail_problem(&why);
    output_write(file, data, size);
    if (!output_commit(file, &why))
        fail_problem(&why);
}

/* `machine` is 0 where there is but one. */
static void write_plots(const char *folder, int machine, const report_plots *plots)
{
    for (int i = 0; i < plots->count; i++) {
        const report_plot *p = &plots->list[i];
        char name[sizeof p->name + 32];
        size_t size;
        char *data = report_plot_svg(p, &size);
        if (machine > 0)
            snprintf(name, sizeof name, "machine-%d-%s", machine, p->name);
        else
            snprintf(name, sizeof name, "%s", p->name);
        write_file(folder, name, "svg", data, size);
        free(data);
        data = report_plot_png(p, &size);
        write_file(folder, name, "png", data, size);
        free(data);
    }
}

static void make_plots(report_machine *m)
{
    report_plots_times(&m->times, m->results);
    report_plots_roofline(&m->rooflines, m->results, m->ceilings);
    report_plots_laws(&m->scalings, m->laws);
    report_batch_plots(&m->in_batches, m->batches);
}

static void write_all_plots(const report_page *page, const char *folder)
{
    for (int i = 0; i < page->machine_count; i++) {
        const report_machine *m = &page->machines[i];
        const int machine = page->machine_count > 1 ? i + 1 : 0;
        write_plots(folder, machine, &m->times);
        write_plots(folder, machine, &m->rooflines);
        write_plots(folder, machine, &m->scalings);
        write_plots(folder, machine, &m->in_batches);
    }
}

static void make_folder(const char *folder)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        fail(EXIT_BROKEN, "--plots: %s: cannot be made (%s)", folder, strerror(errno));
}

static void print_page(FILE *stream, const void *page)
{
    report_page_write(stream, page);
}

static void free_page(report_page *page)
{
    for (int i = 0; i < page->machine_count; i++) {
        report_machine *m = &page->machines[i];
        json_t *all[] = {m->machine, m->results, m->wrong,   m->ceilings,   m->skipped,    m->failed,
                         m->sweeps,  m->laws,    m->batches, m->wrong_runs, m->lost_images};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            json_decref(all[k]);
        report_plots_free(&m->times);
        report_plots_free(&m->rooflines);
        report_plots_free(&m->scalings);
        report_plots_free(&m->in_batches);
    }
    for (int i = 0; i < page->picture_count; i++) {
        free((char *)page->pictures[i].path);
        free(page->pictures[i].data);
    }
    free(page->machines);
    free(page->pictures);
    json_decref(page->pairs);
    json_decref(page->sources);
}

/* Everything that can be wrong with the command line is found before the work. */
static void look_first(const report_options *own)
{
    problem why;

    if (!gnuplot_find(&why) || !file_check_writable(own->output, &why))
        fail_problem(&why);
    if (own->plots && own->count == 0) /* else after the files were read, which may be wrong */
        make_folder(own->plots);
}

int command_report(int argc, char **argv)
{
    report_options own = {.output = "report.html"};
    const command_line line = {"flynn report", "[SAVED.json...]", MOST_FILES, summary, TAKES_RUN, own_options, &own};
    report_page page = {.pairs = json_new_list(), .sources = json_new_list()};
    common_options common;
    problem why;
    int failures;

    options_parse(&line, argc, argv, &common);
    own.files = common.arguments;
    own.count = common.argument_count;
    look_first(&own);
    take_pictures(&page, &own);
    take_all(&page, &own, &common);
    for (int i = 0; i < page.machine_count; i++)
        make_plots(&page.machines[i]);
    if (own.plots) {
        make_folder(own.plots);
        write_all_plots(&page, own.plots);
    }
    if (!output_print(own.output, print_page, &page, &why))
        fail_problem(&why);
    failures = report_failures(&page);
    if (failures > 0)
        note("%d of what is on the page failed", failures);
    note("%s is written", own.output);
    free_page(&page);
    options_free(&common);
    return failures > 0 ? EXIT_WRONG_RESULT : EXIT_DONE;
}
