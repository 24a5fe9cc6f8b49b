/* SPDX-License-Identifier: MIT
 *
 * flynn report: one page with tables and plots of the documents that other commands saved with --json.
 */
#include "commands.h"
#include "page.h"

#include "files/files.h"
#include "files/output.h"
#include "files/png_file.h"
#include "ranks/child.h"
#include "options/options.h"
#include "options/paths.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "view/json.h"
#include "view/row.h"
#include "view/saved.h"
#include "view/stopped.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 256 };

typedef struct report_options {
    const char *pictures[MOST_FILES];
    int picture_count;
    const char *output, *plots, *size, *scale;
} report_options;

static void add_picture(const char *option, const char *value, void *options)
{
    report_options *own = options;

    if (own->picture_count == MOST_FILES)
        option_fail(option, "too many pictures; expected at most %d", MOST_FILES);
    own->pictures[own->picture_count++] = value;
}

static const own_option own_options[] = {
    {"size", OPTION_TEXT, offsetof(report_options, size), "NAME=N,...", .help = "Sizes for flynn compare",
     .void_with = 1},
    {"scale", OPTION_TEXT, offsetof(report_options, scale), "X", .help = "Scale of the work for flynn compare",
     .void_with = 1},
    {"output", OPTION_WRITTEN, offsetof(report_options, output), "FILE",
     .help = "Write the page to this file (report.html)", .letter = 'o'},
    {"plots", OPTION_TEXT, offsetof(report_options, plots), "FOLDER",
     .help = "Write each plot as .svg and .png too\vThe folder is made where it is missing."},
    {"picture", OPTION_CUSTOM, 0, "FILE[:TEXT]", .help = "Show this .png with a caption\vMay be given several times.",
     .parse = add_picture},
    {0},
};

static const char summary[] =
    "Makes one page of the documents that other commands saved with --json: tables, times as bars, the roofline, and "
    "failures.\v"
    "The files are from flynn compare (also --against), ceiling, sweep, laws, taxonomy, batch, or a single exercise; "
    "documents "
    "of one host are shown together. Without a file it runs flynn compare. The page loads nothing from the network, "
    "and can be printed. gnuplot draws the plots; without it the page has tables alone. Exit status 1 if a check on "
    "the page failed.\v"
    "\trun compare, and make report.html\n"
    "compare.json ceiling.json\tof what was saved\n";

static json_t *load(const char *path)
{
    static const char *const keys[] = {"results", "ceilings", "pairs", "laws", "batch", NULL};
    json_t *document = saved_read(path, keys, "compare, ceiling, sweep, laws, batch or an exercise");
    const json_t *batch = json_object_get(document, "batch");

    if (batch && report_batch_lacks(batch))
        fail(EXIT_BAD_INPUT, "%s: the value of its key batch is not what flynn batch writes; expected %s", path,
             report_batch_lacks(batch));
    return document;
}

/* `flynn compare`, as these options ask for it. */
static json_t *run_compare(const common_options *common, const report_options *own)
{
    child_words words = child_words_start("compare");
    json_t *document;

    child_words_common(&words, TAKES_RUN & ~TAKES_SIZE, common);
    if (own->size)
        child_words_add(&words, "--size=%s", own->size);
    if (own->scale)
        child_words_add(&words, "--scale=%s", own->scale);
    progress("all exercises on all backends");
    document = child_document(&words, "compare");
    progress_end();
    return document;
}

/* Adds a value to a list of the machine, once: the same file may be named twice, and several commands may have skipped
 * the same backend. */
static void add(json_t *data, const char *key, json_t *value)
{
    json_t *seen = json_object_get(data, "seen"), *alike, *other;
    char name[64];
    size_t i;

    snprintf(name, sizeof name, "%s %016" PRIx64, key, json_hash(value));
    alike = json_object_get(seen, name);
    if (!alike)
        json_put(seen, name, alike = json_new_list());
    json_array_foreach(alike, i, other) if (json_equal(value, other)) return;
    json_append(alike, json_incref(value));
    if (!json_object_get(data, key))
        json_put(data, key, json_new_list());
    json_append(json_object_get(data, key), json_incref(value));
}

static void add_all(json_t *data, const char *key, const json_t *values)
{
    json_t *value;
    size_t i;

    json_array_foreach(values, i, value) add(data, key, value);
}

static void add_wrong(json_t *data, const char *key, const json_t *rows)
{
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (!row_is_right(row)) add(data, row_is_wrong(row) ? key : "unchecked", row);
}

/* The answers of MISD that are wrong, as results. */
static void add_answers(json_t *data, const json_t *taxonomy)
{
    const json_t *misd = json_object_get(taxonomy, "misd"), *answer;
    size_t i;

    json_array_foreach(json_object_get(misd, "answers"), i, answer)
    {
        json_t *row = json_new_copy(answer);
        json_put(row, "exercise", json_text(row_text(taxonomy, "exercise")));
        json_put(row, "resource", json_text(row_text(misd, "resource")));
        if (row_is_wrong(row))
            add(data, "wrong", row);
        json_decref(row);
    }
}

/* Adds the speed-ups that documents of earlier versions lack. The ways of a slice are not ranked. */
static void rank_results(json_t *results)
{
    const json_t *first = json_array_get(results, 0);

    if (first && !json_object_get(first, "speed_up") && strcmp(row_text(first, "exercise"), "slice") != 0)
        rows_rank(results);
}

/* An image that failed did so in each pipeline: its message is kept once. */
static void add_batch(json_t *data, json_t *batch)
{
    json_t *runs = json_object_get(batch, "runs"), *run, *failure;
    size_t i, k;

    report_batch_prepare(batch);
    add(data, "batches", batch);
    add_wrong(data, "wrong_runs", runs);
    json_array_foreach(runs, i, run) json_array_foreach(json_object_get(run, "failures"), k, failure)
        json_put(json_object_get(data, "lost_images"), row_text(failure, "message"), json_incref(failure));
}

static json_t *data_of(report_page *page, json_t *machine)
{
    const json_t *host = json_object_get(machine, "host");
    json_t *data;

    for (int i = 0; i < page->machine_count; i++)
        if (json_equal(row_value(page->machines[i].data, "machine.host"), host))
            return page->machines[i].data;
    page->machines = memory_regrown(page->machines, (size_t)(page->machine_count + 1), sizeof *page->machines);
    data = json_new_object();
    page->machines[page->machine_count++] = (report_machine){.data = data};
    json_put(data, "machine", json_new_copy(machine));
    json_put(data, "lost_images", json_new_object());
    json_put(data, "seen", json_new_object());
    return data;
}

/* Fills in facts that are missing: a command that opens no GPU does not know which one there is. */
static void complete(json_t *machine, json_t *other)
{
    const char *key;
    json_t *value;

    json_object_foreach(other, key, value)
    {
        const json_t *known = json_object_get(machine, key);
        if (!known || json_is_null(known))
            json_put(machine, key, json_incref(value));
    }
}

/* What a signal or --max-time left out. */
static void add_stopped(json_t *data, const json_t *document)
{
    char *text = stopped_text(document);
    json_t *value = json_text(text);

    if (*text)
        add(data, "stopped", value);
    json_decref(value);
    free(text);
}

/* Adds the document's results to one of its parts, where the page counts them. */
static void keep_results(json_t *of, json_t *results)
{
    if (json_is_object(of) && json_is_array(results))
        json_put(of, "results", json_incref(results));
}

/* Gives points of laws, or steps of a taxonomy, what their results have: the samples, what disturbed them, copies. */
static void join_results(json_t *entries, const json_t *results)
{
    static const char *const keys[] = {"times_s", "disturbed", "h2d_s", "d2h_s", NULL};
    json_t *entry, *value;
    size_t i;

    json_array_foreach(entries, i, entry)
    {
        const json_t *place = json_object_get(entry, "result"),
                     *row = json_array_get(results, (size_t)json_integer_value(place));
        for (const char *const *key = keys; json_is_integer(place) && *key; key++) {
            value = json_object_get(row, *key);
            if (value && !json_object_get(entry, *key))
                json_put(entry, *key, json_incref(value));
        }
    }
}

/* Takes the reference to the document. */
static void take(report_page *page, json_t *document, const char *source)
{
    static const char *const lists[] = {"ceilings", "skipped", "failed"};
    json_t *machine = json_object_get(document, "machine"), *laws = json_object_get(document, "laws"),
           *batch = json_object_get(document, "batch"), *results = json_object_get(document, "results"),
           *taxonomy = json_object_get(document, "taxonomy"), *data;

    json_append(page->sources, json_text(source));
    if (json_object_get(document, "pairs")) {
        json_append(page->pairs, document);
        return;
    }
    data = data_of(page, machine);
    complete(json_object_get(data, "machine"), machine);
    if (json_object_get(document, "best")) {
        add(data, "sweeps", document);
    } else if (laws) {
        join_results(json_object_get(laws, "strong"), results);
        join_results(json_object_get(laws, "weak"), results);
        join_results(json_object_get(laws, "batch"), results);
        keep_results(laws, results);
        add(data, "laws", laws); /* its results are of different sizes */
    } else if (json_is_object(taxonomy)) {
        join_results(json_object_get(taxonomy, "steps"), results);
        keep_results(taxonomy, results);
        add(data, "taxonomies", taxonomy);
        add_answers(data, taxonomy);
    } else {
        rank_results(results);
        add_all(data, "results", results);
    }
    add_wrong(data, "wrong", results);
    if (batch)
        add_batch(data, batch);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        add_all(data, lists[i], json_object_get(document, lists[i]));
    add_stopped(data, document);
    json_decref(document);
}

/* Reads the picture of "a.png:caption", where the name ends with the first .png that a colon or nothing follows. A
 * picture that libpng cannot read is refused. */
static report_picture read_picture(const char *value)
{
    report_picture p = {.path = memory_text(value), .caption = ""};
    char *colon = strstr(p.path, ".png:");
    host_array image;
    problem why;

    if (colon) {
        colon[4] = '\0';
        p.caption = colon + 5;
    }
    path_claim(PATH_READ, p.path, "--picture=%s", p.path);
    must_do(png_read(p.path, &image, &why) && file_bytes_read(p.path, "a PNG", &p.file, &why), &why);
    host_array_free(&image);
    return p;
}

static void make_plots(report_machine *m)
{
    const json_t *results = json_object_get(m->data, "results");

    report_plots_times(&m->plots[PLOTS_TIMES], results);
    report_plots_roofline(&m->plots[PLOTS_ROOFLINE], results, json_object_get(m->data, "ceilings"));
    report_plots_laws(&m->plots[PLOTS_LAWS], json_object_get(m->data, "laws"));
    report_plots_batch(&m->plots[PLOTS_BATCH], json_object_get(m->data, "batches"));
    report_plots_sweeps(&m->plots[PLOTS_SWEEPS], json_object_get(m->data, "sweeps"));
    report_plots_taxonomies(&m->plots[PLOTS_TAXONOMIES], json_object_get(m->data, "taxonomies"));
}

/* The plots of all machines. */
typedef struct plot_list {
    report_plot **plots;
    int count;
} plot_list;

/* Where there are several machines, the names start with them. */
static plot_list all_plots(const report_page *page)
{
    plot_list list = {NULL, 0};
    char name[sizeof list.plots[0]->name];

    for (int i = 0; i < page->machine_count * PLOTS; i++) {
        const report_plots *plots = &page->machines[i / PLOTS].plots[i % PLOTS];
        list.plots = memory_regrown(list.plots, (size_t)(list.count + plots->count), sizeof(report_plot *));
        for (int k = 0; k < plots->count; k++) {
            report_plot *p = &plots->list[k];
            memcpy(name, p->name, sizeof name);
            if (page->machine_count > 1)
                snprintf(p->name, sizeof p->name, "machine-%d-%.100s", i / PLOTS + 1, name);
            list.plots[list.count++] = p;
        }
    }
    return list;
}

static const char *plot_path(const char *folder, const report_plot *p, plot_format format)
{
    static char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/%s.%s", folder, p->name, format == PLOT_SVG ? "svg" : "png") >=
        sizeof path)
        fail(EXIT_BAD_INPUT, "--plots: '%s' is too long", folder);
    return path;
}

static void make_folder(const char *folder)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        fail(EXIT_BROKEN, "--plots: %s: cannot be made (%s)", folder, strerror(errno));
}

/* Draws the plots into the page, or as files. */
static void draw_plots(const plot_list *list, const char *folder, plot_format format)
{
    file_bytes *drawn = report_plots_draw(list->plots, list->count, format);
    problem why;

    for (int i = 0; i < list->count; i++) {
        if (format == PLOT_INLINE) {
            list->plots[i]->svg = drawn[i];
            continue;
        }
        must_do(file_bytes_write(plot_path(folder, list->plots[i], format), &drawn[i], &why), &why);
        file_bytes_free(&drawn[i]);
    }
    free(drawn);
}

static void write_plots(const char *folder, const plot_list *list)
{
    for (int i = 0; i < 2 * list->count; i++) {
        const char *path = plot_path(folder, list->plots[i / 2], i % 2 ? PLOT_PNG : PLOT_SVG);
        path_claim(PATH_WRITTEN, path, "--plots=%s (%s)", folder, strrchr(path, '/') + 1);
    }
    make_folder(folder);
    draw_plots(list, folder, PLOT_SVG);
    draw_plots(list, folder, PLOT_PNG);
}

static void free_page(report_page *page)
{
    for (int i = 0; i < page->machine_count; i++) {
        json_decref(page->machines[i].data);
        for (int k = 0; k < PLOTS; k++)
            report_plots_free(&page->machines[i].plots[k]);
    }
    for (int i = 0; i < page->picture_count; i++) {
        free(page->pictures[i].path);
        file_bytes_free(&page->pictures[i].file);
    }
    free(page->machines);
    free(page->pictures);
    json_decref(page->pairs);
    json_decref(page->sources);
}

/* Without gnuplot the page has tables alone, unless the plots are asked for as files. */
static void look_for_gnuplot(problem *without, const char *plots)
{
    if (gnuplot_find(without))
        return;
    if (plots && without->exit_code == EXIT_CANNOT_RUN)
        fail(EXIT_CANNOT_RUN, "--plots=%s: %s", plots, without->text);
    must_do(without->exit_code == EXIT_CANNOT_RUN, without); /* it is there, and broken */
    note("the page has tables alone: %s", without->text);
}

int command_report(int argc, char **argv)
{
    report_options own = {.output = "report.html"};
    const command_line line = {
        "flynn report", "[SAVED.json...]", MOST_FILES, summary, (TAKES_RUN & ~TAKES_SIZE) | TAKES_FILES,
        own_options,    .own = &own};
    report_page page = {.pairs = json_new_list(), .sources = json_new_list()};
    common_options common;
    plot_list plots;
    problem why;
    int failures;

    options_parse(&line, argc, argv, &common);
    if (common.argument_count > 0)
        option_refuse(&common, TAKES_RUN, "the page is made from files");
    must_do(file_check_writable(own.output, &why), &why); /* before the work starts */
    look_for_gnuplot(&page.without, own.plots);
    if (own.plots && common.argument_count == 0) /* else after the files were read, because they may be wrong */
        make_folder(own.plots);
    page.pictures = memory_zeroed((size_t)own.picture_count, sizeof *page.pictures);
    for (; page.picture_count < own.picture_count; page.picture_count++)
        page.pictures[page.picture_count] = read_picture(own.pictures[page.picture_count]);
    for (int i = 0; i < common.argument_count; i++)
        take(&page, load(common.arguments[i]), common.arguments[i]);
    if (common.argument_count == 0)
        take(&page, run_compare(&common, &own), "flynn compare");
    for (int i = 0; i < page.machine_count && !*page.without.text; i++)
        make_plots(&page.machines[i]);
    plots = all_plots(&page);
    if (own.plots)
        write_plots(own.plots, &plots);
    draw_plots(&plots, NULL, PLOT_INLINE);
    must_do(output_print(own.output, report_page_write, &page, &why), &why);
    failures = report_failures(&page);
    if (failures > 0)
        note("%d failures are listed on the page", failures);
    note("%s is written", own.output);
    free(plots.plots);
    free_page(&page);
    options_free(&common);
    return failures > 0 ? EXIT_WRONG_RESULT : EXIT_DONE;
}
