/* SPDX-License-Identifier: MIT */
#include "page.h"
#include "html.h"

#include "batch/columns.h"
#include "compare/compare.h"
#include "laws/show.h"
#include "look/ceiling.h"
#include "sweep/show.h"
#include "taxonomy/show.h"
#include "view/row.h"

#include <flynn/flynn.h>
#include <string.h>

enum { MOST_LOST_SHOWN = 20 };

/* The counts in a machine's headline. */
static const struct failure {
    const char *key, *one, *many;
} failures[] = {
    {"wrong", "result is wrong", "results are wrong"},
    {"failed", "exercise could not be run", "exercises could not be run"},
    {"wrong_runs", "run of a batch failed", "runs of batches failed"},
    {"lost_images", "image failed", "images failed"},
    {"unchecked", "result is not checked", "results are not checked"}, /* not a failure */
};
enum { COUNTED = sizeof failures / sizeof *failures, FAILURES = COUNTED - 1 };

static int count_failures(const report_page *page, const struct failure *f)
{
    size_t count = 0;

    for (int m = 0; m < page->machine_count; m++) {
        const json_t *found = json_object_get(page->machines[m].data, f->key);
        count += json_array_size(found) + json_object_size(found);
    }
    return (int)count;
}

int report_failures(const report_page *page)
{
    int count = 0;

    for (int f = 0; f < FAILURES; f++)
        count += count_failures(page, &failures[f]);
    return count;
}

static cell part(const json_t *row, const char *key)
{
    return cell_value(row_value(row, key));
}

static void put_wrong(FILE *out, const json_t *row)
{
    html_print(out,
               "<li><b>%s</b> on %s, variant %s: %s of %s elements are wrong; worst at [%s]: %s instead of %s (%s)"
               "</li>\n",
               row_text(row, "exercise"), row_text(row, "resource"), row_text(row, "variant"),
               part(row, "check.failed").text, part(row, "check.compared").text, part(row, "check.worst_index").text,
               part(row, "check.worst_result").text, part(row, "check.worst_expected").text,
               row_text(row, "check.method"));
}

static void put_wrong_run(FILE *out, const json_t *run)
{
    html_print(out, "<li><b>batch</b> on %s, pipeline %s: %s", row_text(run, "resource"), batch_pipeline(run).text,
               batch_verdict(run).text);
    if (json_is_string(json_object_get(run, "ended_by")))
        html_print(out, "; %s", row_text(run, "ended_by"));
    if (row_number(run, "check.failed") > 0)
        html_print(out, "; %s of %s numbers are wrong, the worst is %s instead of %s", part(run, "check.failed").text,
                   part(run, "check.compared").text, part(run, "check.worst_result").text,
                   part(run, "check.worst_expected").text);
    fputs("</li>\n", out);
}

static void put_unchecked(FILE *out, const json_t *row)
{
    html_print(out, "<li><b>%s</b> on %s, variant %s: checked against %s</li>\n", row_text(row, "exercise"),
               row_text(row, "resource"), row_text(row, "variant"), row_text(row, "check.method"));
}

static void put_lost(FILE *out, json_t *images)
{
    int shown = 0;
    const char *message;
    json_t *value;

    json_object_foreach(images, message, value)
    {
        if (shown++ == MOST_LOST_SHOWN) {
            html_print(out, "<li>and %d other images</li>\n", (int)json_object_size(images) - MOST_LOST_SHOWN);
            return;
        }
        html_print(out, "<li><b>batch</b>: %s</li>\n", message);
    }
}

static void put_failures_of(FILE *out, const json_t *data)
{
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(data, "wrong"), i, row) put_wrong(out, row);
    json_array_foreach(json_object_get(data, "failed"), i, row) html_print(
        out, "<li><b>%s</b> could not be run: %s</li>\n", row_text(row, "exercise"), row_text(row, "message"));
    json_array_foreach(json_object_get(data, "wrong_runs"), i, row) put_wrong_run(out, row);
    put_lost(out, json_object_get(data, "lost_images"));
    json_array_foreach(json_object_get(data, "unchecked"), i, row) put_unchecked(out, row);
}

static void put_failures(FILE *out, const report_page *page)
{
    const char *before = "";
    const int failed = report_failures(page);

    if (failed + count_failures(page, &failures[FAILURES]) == 0)
        return;
    fputs(failed ? "<section class=alert role=alert><h2>" : "<section><h2>", out);
    for (int f = 0; f < COUNTED; f++) {
        const int count = count_failures(page, &failures[f]);
        if (count == 0)
            continue;
        fprintf(out, "%s%d %s", before, count, count == 1 ? failures[f].one : failures[f].many);
        before = ", ";
    }
    fputs("</h2><ul>\n", out);
    for (int m = 0; m < page->machine_count; m++)
        put_failures_of(out, page->machines[m].data);
    fputs("</ul></section>\n", out);
}

static const column machine_columns[] = {
    {.title = "processor", .key = "processor"},
    {.title = "threads", .key = "threads"},
    {.title = "governor", .key = "governor"},
    {.title = "memory", .key = "memory_bytes", .as = AS_BYTES},
    {.title = "gpu", .key = "gpu"},
    {.title = "driver", .key = "driver"},
    {.title = "runtime", .key = "runtime"},
    {.title = "gpu clock, MHz", .key = "gpu_clock_mhz"},
    {.title = "gpu temperature, C", .key = "gpu_temperature_c"},
    {.title = "other processes on the gpu", .key = "gpu_other_processes"},
    {.title = "os", .key = "os"},
    {.title = "compiler", .key = "compiler"},
    {.title = "flags", .key = "flags"},
    {.title = "version", .key = "version"},
    {.title = "commit", .key = "commit"},
    {.title = "slurm", .key = "slurm.job_id"},
    {0},
};

static bool is_listed(const char *const *keys, const char *key)
{
    for (; key && *keys; keys++)
        if (strcmp(*keys + (**keys == '-'), key) == 0)
            return true;
    return false;
}

/* The columns in the order of the keys, in which "" stands for all that it does not name, and "-key" leaves one out. A
 * key that the columns lack is added: those that say nothing about the rows are left out later. */
static column_list arranged(const column *columns, const char *const *order)
{
    const column size = {.title = "size", .make = report_size};
    column_list list = {.c = {{0}}};
    int count = 0;

    for (const char *const *key = order; *key && count < LONGEST_LIST; key++) {
        const column *c = columns;
        if (**key == '-')
            continue;
        for (; !**key && (c->title || c->key) && count < LONGEST_LIST; c++)
            if (!is_listed(order, c->key))
                list.c[count++] = *c;
        while (**key && (c->title || c->key) && !is_listed((const char *const[]){*key, NULL}, c->key))
            c++;
        if (**key)
            list.c[count++] = c->title || c->key ? *c : strcmp(*key, "size") == 0 ? size : (column){.key = *key};
    }
    return list;
}

/* Times come early, where a phone shows them. The spread and the whiskers say more than the minimum. */
static void put_results(FILE *out, const json_t *results, const report_plots *plots)
{
    static const char *const order[] = {"exercise", "resource",    "",      "size",       "h2d_s", "d2h_s", "cold_s",
                                        "dtype",    "flynn_class", "check", "-minimum_s", NULL};
    const column_list list = arranged(columns_of(IN_COMPARE, results), order);

    (void)plots;
    html_table(out, "Comparison", list.c, results, 1);
}

/* The plots of a document: the end of what paper does not part (put_section). */
static void put_group(FILE *out, const report_plots *plots, size_t group)
{
    fputs("<div class=plots>\n", out);
    for (int i = 0; i < plots->count; i++)
        if (plots->list[i].group == (int)group)
            html_plot(out, &plots->list[i]);
    fputs("</div></div>\n", out);
}

/* The title of a document, which starts what paper does not part, unless the section's title does. */
static void put_title(FILE *out, size_t place, const char *title)
{
    html_print(out, place > 0 ? "<div class=keep><h3>%s</h3>" : "<h3>%s</h3>", title);
}

static void put_left_out(FILE *out, const report_plots *plots)
{
    if (plots->left_out > 0)
        html_print(out, "<p class=note>The first %d of %d plots; the tables have all results.</p>\n", plots->count,
                   plots->count + plots->left_out);
}

static void put_plots(FILE *out, const json_t *list, const report_plots *plots)
{
    (void)list;
    put_group(out, plots, 0);
    put_left_out(out, plots);
}

static void put_ceilings(FILE *out, const json_t *ceilings, const report_plots *plots)
{
    json_t *quantities = rows_within(ceilings, "quantities");

    (void)plots;
    html_table(out, "Ceilings", ceiling_columns, quantities, 1);
    json_decref(quantities);
}

/* Columns of a kernel's time and of the copies around it. */
static column_list with_copies(const column *columns)
{
    return arranged(columns, (const char *const[]){"", "h2d_s", "d2h_s", "total_s", "check", NULL});
}

/* A table below its title, if it has rows. */
static void put_table(FILE *out, const char *title, const column *columns, const json_t *rows)
{
    if (json_array_size(rows) == 0)
        return;
    html_print(out, "<h4>%s</h4>", title);
    html_table(out, title, columns, rows, 1);
}

static void put_sweeps(FILE *out, const json_t *documents, const report_plots *plots)
{
    const json_t *document;
    size_t i;

    json_array_foreach(documents, i, document)
    {
        const json_t *first = json_array_get(json_object_get(document, "results"), 0);
        put_title(out, i, cell_print("%.64s, %.16s", row_text(first, "exercise"), row_text(first, "dtype")).text);
        put_group(out, plots, i);
        put_table(out, "Best", sweep_best_columns, json_object_get(document, "best"));
        put_table(out, "All combinations", with_copies(sweep_columns()).c, json_object_get(document, "results"));
        put_table(out, "Cannot run", sweep_refused_columns, json_object_get(document, "cannot_run"));
    }
    put_left_out(out, plots);
}

static void put_laws(FILE *out, const json_t *list, const report_plots *plots)
{
    const json_t *laws, *remark;
    size_t i, k;

    (void)plots;
    json_array_foreach(list, i, laws)
    {
        json_t *points = laws_points(laws), *fits = laws_fits(laws);
        html_print(out, "<h3>%s on %s</h3>", row_text(laws, "exercise"), row_text(laws, "backend"));
        html_terms(out, laws_columns, laws);
        put_table(out, "Points", laws_point_columns(laws), points);
        put_table(out, "Fits", laws_fit_columns, fits);
        json_array_foreach(json_object_get(laws, "remarks"), k, remark)
            html_print(out, "<p>%s</p>\n", json_is_string(remark) ? json_string_value(remark) : "-");
        json_decref(points);
        json_decref(fits);
    }
}

static void put_taxonomies(FILE *out, const json_t *list, const report_plots *plots)
{
    const json_t *taxonomy;
    size_t i;

    json_array_foreach(list, i, taxonomy)
    {
        const json_t *misd = json_object_get(taxonomy, "misd");
        column columns[MISD_COLUMNS];
        json_t *answers = taxonomy_misd(misd, columns);
        put_title(out, i, taxonomy_title(taxonomy).text);
        put_group(out, plots, i);
        put_table(out, "Steps", with_copies(taxonomy_step_columns).c, json_object_get(taxonomy, "steps"));
        if (json_is_string(json_object_get(taxonomy, "no_gpu")))
            html_print(out, "<p class=note>No GPU shows SIMT here: %s</p>\n", row_text(taxonomy, "no_gpu"));
        put_table(out, "MISD", columns, answers);
        html_print(out, "<p class=note>%s On %s; a cell is the largest difference of two answers.</p>\n",
                   row_text(misd, "means"), row_text(misd, "resource"));
        json_decref(answers);
    }
}

static void put_skipped(FILE *out, const json_t *skipped, const report_plots *plots)
{
    const json_t *entry;
    size_t i;

    (void)plots;
    fputs("<dl class=reasons>", out);
    json_array_foreach(skipped, i, entry)
        html_print(out, "<div><dt>%s</dt><dd>%s</dd></div>", row_text(entry, "backend"), row_text(entry, "reason"));
    fputs("</dl>\n", out);
}

static void put_facts(FILE *out, const json_t *machine, const report_plots *plots)
{
    (void)plots;
    html_terms(out, machine_columns, machine);
}

#define WHISKERS "A whisker reaches from the first to the third quartile; a ~ marks what noise decides."

/* The sections of a machine. One without a key is of the plots alone. Where a group of plots comes first (put_group),
 * paper keeps it with the titles above: browsers part titles and plots in spite of break-after. */
static const struct section {
    const char *title, *key;
    int plots;
    bool starts_with_plots;
    void (*put)(FILE *out, const json_t *list, const report_plots *plots);
    const char *note; /* HTML */
} sections[] = {
    {"Comparison", "results", 0, false, put_results,
     "Times are medians of the warm passes, cold is the first pass; spread is the interquartile range of total over "
     "its median. Speed-up, with copies: kernel and total of the scalar backend (or the first one) over this one's. "
     "Relative: total over the fastest one's. Ceiling: the least time on this device's roofline over kernel."},
    {"Times", NULL, PLOTS_TIMES, true, put_plots,
     "<span class=kernel></span> kernel <span class=total></span> total, from host to host. " WHISKERS},
    {"Roofline", NULL, PLOTS_ROOFLINE, true, put_plots,
     "<span class=kernel></span> f32 <span class=total></span> f64 <span class=other></span> other dtypes. Caches "
     "served a point above the roof. " WHISKERS},
    {"Ceilings", "ceilings", 0, false, put_ceilings, NULL},
    {"Batch", "batches", PLOTS_BATCH, false, report_batch_write,
     "Wall is the median of the timed passes, spread their interquartile range. Speed-up: over one-by-one on the same "
     "backend. Overlap: seconds that all threads and engines were busy, over wall. Bound by: what was busy for the "
     "largest part of the time. Link limit: the least time that the link takes; reached: that over wall.</p>\n"
     "<p class=note>Wall: <span class=kernel></span> wall <span class=total></span> link limit. Busy: <span "
     "class=kernel></span> compute <span class=total></span> link <span class=other></span> CPU <span "
     "class=disk></span> I/O; stages on the same threads share a bar. A part at 100 % is "
     "always busy, and the other parts wait for it. " WHISKERS},
    {"Taxonomy", "taxonomies", PLOTS_TAXONOMIES, true, put_taxonomies,
     "One operation in Flynn's classes. Step, with copies: kernel and total of the step before over this one's. <span "
     "class=kernel></span> kernel <span class=total></span> total, from host "
     "to host. " WHISKERS},
    {"Sweep", "sweeps", PLOTS_SWEEPS, true, put_sweeps, WHISKERS},
    {"Scaling", NULL, PLOTS_LAWS, true, put_plots,
     "<span class=kernel></span> strong scaling or batches of a GPU, and Amdahl's curve <span class=total></span> weak "
     "scaling, and Gustafson's <span class=other></span> n times as fast with n workers, or n matrices. " WHISKERS},
    {"Laws", "laws", 0, false, put_laws, NULL},
    {"Not run", "skipped", 0, false, put_skipped, NULL},
    {"Machine", "machine", 0, false, put_facts, NULL},
};

static void put_section(FILE *out, const report_machine *m, const struct section *s)
{
    const json_t *list = s->key ? json_object_get(m->data, s->key) : NULL;
    const report_plots *plots = &m->plots[s->plots];

    if (s->key ? json_array_size(list) + json_object_size(list) == 0 : plots->count == 0)
        return;
    html_print(out, "<section><div class=keep><h2>%s</h2>\n", s->title);
    if (s->note)
        fprintf(out, "<p class=note>%s</p>\n", s->note);
    if (!s->starts_with_plots)
        fputs("</div>\n", out);
    s->put(out, list, plots);
    fputs("</section>\n", out);
}

static void put_machine(FILE *out, const report_machine *m)
{
    const json_t *machine = json_object_get(m->data, "machine");
    const char *date = json_string_value(json_object_get(machine, "date"));

    html_print(out, "<header><h1>%s</h1><p class=note>%s</p></header>\n", row_text(machine, "host"),
               date ? date : "date not recorded");
    report_headline_write(out, m->data);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        put_section(out, m, &sections[i]);
}

/* The two machines and their results next to each other, of `flynn compare --against`. */
static void put_pairs(FILE *out, const json_t *document)
{
    static const char *const runs[] = {"older", "newer"};

    fputs("<section><h2>Two runs</h2>\n", out);
    report_pairs_headline_write(out, json_object_get(document, "pairs"));
    for (int r = 0; r < 2; r++) {
        const json_t *machine = json_object_get(document, runs[r]);
        html_print(out, "<h3>%s: %s</h3>", runs[r], row_text(machine, "host"));
        html_terms(out, machine_columns, machine);
    }
    html_table(out, "Two runs", compare_pair_columns, json_object_get(document, "pairs"), 1);
    fputs("<p class=note>Ratio: older over newer, above 1 is faster.</p></section>\n", out);
}

/* RFC 4648. */
static void put_base64(FILE *out, const file_bytes *file)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < file->size; i += 3) {
        const size_t left = file->size - i;
        const unsigned three = (unsigned)file->data[i] << 16 | (left > 1 ? file->data[i + 1] : 0u) << 8 |
                               (left > 2 ? file->data[i + 2] : 0u);
        fputc(letters[three >> 18], out);
        fputc(letters[three >> 12 & 63], out);
        fputc(left > 1 ? letters[three >> 6 & 63] : '=', out);
        fputc(left > 2 ? letters[three & 63] : '=', out);
    }
}

static void put_pictures(FILE *out, const report_page *page)
{
    if (page->picture_count == 0)
        return;
    fputs("<section><h2>Pictures</h2>\n<div class=pictures>", out);
    for (int i = 0; i < page->picture_count; i++) {
        const report_picture *p = &page->pictures[i];
        const char *caption = *p->caption ? p->caption : p->path;
        html_print(out, "<figure><img alt=\"%s\" src=\"data:image/png;base64,", caption);
        put_base64(out, &p->file);
        html_print(out, "\"><figcaption>%s</figcaption></figure>\n", caption);
    }
    fputs("</div></section>\n", out);
}

void report_page_write(FILE *out, const void *of)
{
    const report_page *page = of;
    const json_t *document, *name;
    size_t i;

    /* The policy makes the browser itself refuse whatever is not in the page. */
    fputs(
        "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
        "data:\">\n"
        "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<meta name=color-scheme content=\"light "
        "dark\">\n<link rel=icon href=\"data:,\">\n<title>Flynn report</title>\n<style>\n",
        out);
    for (const char *const *line = report_style; *line; line++)
        fputs(*line, out);
    fputs("</style></head><body><main>\n<p class=kicker>Flynn report</p>\n", out);
    if (*page->without.text)
        html_print(out, "<p class=note>Without plots: %s.</p>\n", page->without.text);
    put_failures(out, page);
    for (int m = 0; m < page->machine_count; m++)
        put_machine(out, &page->machines[m]);
    json_array_foreach(page->pairs, i, document) put_pairs(out, document);
    put_pictures(out, page);
    html_print(out, "<footer class=note>Made by flynn %s from ", fl_version());
    json_array_foreach(page->sources, i, name) html_print(out, i ? ", %s" : "%s", json_string_value(name));
    fputs(".</footer>\n", out);
    fputs("</main></body></html>\n", out);
}
