/* SPDX-License-Identifier: MIT */
#include "page.h"
#include "batch.h"
#include "gnuplot.h"
#include "html.h"
#include "style.h"

#include "compare/table.h"
#include "support/fail.h"
#include "view/json.h"
#include "view/row.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- what went wrong ---- */

enum { MOST_LOST_SHOWN = 20 };

/* Of one kind, over all machines. */
typedef struct failures {
    int results, exercises, runs, images;
} failures;

static failures count_failures(const report_page *page)
{
    failures f = {0};

    for (int m = 0; m < page->machine_count; m++) {
        f.results += (int)json_array_size(page->machines[m].wrong);
        f.exercises += (int)json_array_size(page->machines[m].failed);
        f.runs += (int)json_array_size(page->machines[m].wrong_runs);
        f.images += (int)json_object_size(page->machines[m].lost_images);
    }
    return f;
}

static int sum_of(const failures *f)
{
    return f->results + f->exercises + f->runs + f->images;
}

int report_failures(const report_page *page)
{
    const failures f = count_failures(page);

    return sum_of(&f);
}

static void put_wrong(FILE *out, const json_t *row)
{
    const json_t *check = json_object_get(row, "check");

    fputs("<li><b>", out);
    html_text(out, row_text(row, "exercise"));
    fputs("</b> on ", out);
    html_text(out, row_text(row, "resource"));
    fputs(", variant ", out);
    html_text(out, row_text(row, "variant"));
    fputs(": ", out);
    html_value(out, json_object_get(check, "failed"));
    fputs(" of ", out);
    html_value(out, json_object_get(check, "compared"));
    fputs(" elements are wrong; worst at [", out);
    html_value(out, json_object_get(check, "worst_index"));
    fputs("]: ", out);
    html_value(out, json_object_get(check, "worst_result"));
    fputs(" instead of ", out);
    html_value(out, json_object_get(check, "worst_expected"));
    fputs(" (", out);
    html_text(out, row_text(check, "method"));
    fputs(")</li>\n", out);
}

static void put_failed(FILE *out, const json_t *row)
{
    fputs("<li><b>", out);
    html_text(out, row_text(row, "exercise"));
    fputs("</b> could not be run: ", out);
    html_text(out, row_text(row, "message"));
    fputs("</li>\n", out);
}

static void put_lost(FILE *out, json_t *images)
{
    int shown = 0;
    const char *message;
    json_t *value;

    json_object_foreach(images, message, value)
    {
        if (shown++ == MOST_LOST_SHOWN) {
            fprintf(out, "<li>%zu images more</li>\n", json_object_size(images) - MOST_LOST_SHOWN);
            return;
        }
        fputs("<li><b>batch</b>: ", out);
        html_text(out, message);
        fputs("</li>\n", out);
    }
}

/* "2 results are wrong" */
static void put_count(FILE *out, int count, const char *one, const char *many, const char **before)
{
    if (count == 0)
        return;
    fprintf(out, "%s%d %s", *before, count, count == 1 ? one : many);
    *before = ", ";
}

static void put_failures(FILE *out, const report_page *page)
{
    const failures f = count_failures(page);
    const char *before = "";
    size_t i;
    json_t *row;

    if (sum_of(&f) == 0)
        return;
    fputs("<section class=alert role=alert><h2>", out);
    put_count(out, f.results, "result is wrong", "results are wrong", &before);
    put_count(out, f.exercises, "exercise could not be run", "exercises could not be run", &before);
    put_count(out, f.runs, "run of a batch failed", "runs of batches failed", &before);
    put_count(out, f.images, "image failed", "images failed", &before);
    fputs("</h2><ul>\n", out);
    for (int m = 0; m < page->machine_count; m++) {
        const report_machine *machine = &page->machines[m];
        json_array_foreach(machine->wrong, i, row) put_wrong(out, row);
        json_array_foreach(machine->failed, i, row) put_failed(out, row);
        json_array_foreach(machine->wrong_runs, i, row) report_batch_wrong(out, row);
        put_lost(out, machine->lost_images);
    }
    fputs("</ul></section>\n", out);
}

/* ----------------------------------------------------------------------------------------------- the machine ---- */

static void put_machine(FILE *out, const json_t *machine)
{
    static const char *const keys[] = {"processor", "threads",  "memory_bytes", "gpu",     "driver", "runtime",
                                       "os",        "compiler", "flags",        "version", "commit", "slurm"};

    fputs("<dl>", out);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(machine, keys[i]);
        if (!value || json_is_null(value))
            continue;
        fputs("<div>", out);
        html_element(out, "dt", strcmp(keys[i], "memory_bytes") == 0 ? "memory" : keys[i]);
        fputs("<dd>", out);
        if (strcmp(keys[i], "memory_bytes") == 0)
            html_text(out, format_bytes(json_number_value(value)).text);
        else if (json_is_object(value))
            html_text(out, row_text(value, "job_id"));
        else
            html_value(out, value);
        fputs("</dd></div>", out);
    }
    fputs("</dl>\n", out);
}

/* -------------------------------------------------------------------------------------------- the comparison ---- */

/* A body for each exercise, so that a line can stand between them. */
static void put_comparison(FILE *out, const json_t *results)
{
    const char *before = NULL;
    const json_t *row;
    size_t i;

    if (json_array_size(results) == 0)
        return;
    fputs("<section><h2>Comparison</h2>\n", out);
    html_table_begin(out, "Comparison");
    html_table_heads(out, compare_table_columns);
    json_array_foreach(results, i, row)
    {
        compare_cells cells = compare_table_cells(row);
        const char *exercise = row_text(row, "exercise");
        bool other = !before || strcmp(before, exercise) != 0;
        fputs(!before ? "<tbody>" : other ? "</tbody><tbody>" : "", out);
        before = exercise;
        fputs(row_is_right(row) ? "<tr>" : "<tr class=wrong>", out);
        html_element(out, other ? "th scope=row" : "th scope=row class=again", cells.text[0]);
        for (int c = 1; c < COMPARE_COLUMNS; c++)
            html_element(out, compare_table_columns[c].is_number ? "td class=n" : "td", cells.text[c]);
        fputs("</tr>\n", out);
    }
    fputs("</tbody>", out);
    html_table_end(out);
    fputs("<p class=note>Times are medians of the warm passes, cold is the first pass; spread is the interquartile "
          "range of total. Faster, with copies: the scalar backend's (or the first one's) kernel and total over this "
          "one's. Relative: total over the fastest one's. Ceiling: the least time on this device's roofline over "
          "kernel.</p></section>\n",
          out);
}

/* ---------------------------------------------------------------------------------------------------- plots ---- */

static void put_plots(FILE *out, const report_plots *plots, const char *title, const char *legend)
{
    if (plots->count == 0)
        return;
    fprintf(out, "<section><h2>%s</h2>\n<p class=note>%s</p><div class=plots>\n", title, legend);
    for (int i = 0; i < plots->count; i++)
        html_plot(out, &plots->list[i]);
    fputs("</div></section>\n", out);
}

/* -------------------------------------------------------------------------------------------------- ceilings ---- */

static void put_quantity(FILE *out, const json_t *ceiling, const json_t *q)
{
    const char *unit = row_text(q, "unit");
    double spread = 100 * row_number(q, "spread_s") / row_number(q, "seconds");

    fputs("<tr>", out);
    html_element(out, "th scope=row", row_text(ceiling, "resource"));
    html_element(out, "td", row_text(q, "what"));
    html_element(out, "td", row_text(q, "variant"));
    html_element(out, "td class=n",
                 strcmp(unit, "-") == 0
                     ? format_seconds(row_number(q, "seconds")).text
                     : format_rate(row_number(q, "per_second"), strcmp(unit, "byte") == 0 ? "B/s" : "FLOP/s").text);
    fprintf(out, isfinite(spread) ? "<td class=n>%.1f %%</td>" : "<td class=n>-</td>", spread);
    fprintf(out, "<td class=n>%zu</td></tr>\n", json_array_size(json_object_get(q, "times_s")));
}

static void put_ceilings(FILE *out, const json_t *ceilings)
{
    static const table_column columns[] = {{"backend", 0}, {"what", 0},    {"variant", 0}, {"measured", 1},
                                           {"spread", 1},  {"samples", 1}, {NULL, 0}};
    const json_t *ceiling, *quantity;
    size_t i, k;

    if (json_array_size(ceilings) == 0)
        return;
    fputs("<section><h2>Ceilings</h2>\n", out);
    html_table_begin(out, "Ceilings");
    html_table_heads(out, columns);
    json_array_foreach(ceilings, i, ceiling)
    {
        fputs("<tbody>", out);
        json_array_foreach(json_object_get(ceiling, "quantities"), k, quantity) put_quantity(out, ceiling, quantity);
        fputs("</tbody>", out);
    }
    html_table_end(out);
    fputs("</section>\n", out);
}

/* ------------------------------------------------------------------------------------- what other commands say ---- */

/* Their documents are shown by their keys: a list of objects is a table, with a column for each key of the first one
 * whose value fits in a cell. */
static bool fits_a_cell(const json_t *value)
{
    return !json_is_object(value) && (!json_is_array(value) || json_array_size(value) == 0 ||
                                      (json_array_size(value) <= 4 && json_is_integer(json_array_get(value, 0))));
}

/* "kernel_s": seconds; not "gbytes_per_s". */
static bool is_time(const char *key)
{
    size_t length = strlen(key);

    return length > 2 && strcmp(key + length - 2, "_s") == 0 && !strstr(key, "_per_s");
}

static void put_cells(FILE *out, const json_t *row, const json_t *columns)
{
    const json_t *column;
    size_t i;

    fputs(json_is_false(json_object_get(json_object_get(row, "check"), "ok")) ? "<tr class=wrong>" : "<tr>", out);
    json_array_foreach(columns, i, column)
    {
        const char *key = json_string_value(column);
        const json_t *cell = json_object_get(row, key);
        if (json_is_number(cell) && is_time(key)) {
            html_element(out, "td class=n", format_seconds(json_number_value(cell)).text);
            continue;
        }
        if (json_is_real(cell)) {
            fprintf(out, "<td class=n>%.4g</td>", json_real_value(cell));
            continue;
        }
        fputs(json_is_number(cell) ? "<td class=n>" : "<td>", out);
        html_value(out, fits_a_cell(cell) ? cell : NULL);
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

/* Takes the list of columns. */
static void put_columns(FILE *out, const char *label, const json_t *rows, json_t *columns)
{
    const json_t *row;
    size_t i;

    html_table_begin(out, label);
    fputs("<thead><tr>", out);
    json_array_foreach(columns, i, row) html_element(
        out, json_is_number(json_object_get(json_array_get(rows, 0), json_string_value(row))) ? "th class=n" : "th",
        json_string_value(row));
    fputs("</tr></thead><tbody>", out);
    json_array_foreach(rows, i, row) put_cells(out, row, columns);
    fputs("</tbody>", out);
    html_table_end(out);
    json_decref(columns);
}

static void put_objects(FILE *out, const char *label, const json_t *list)
{
    json_t *columns = json_new_list(), *value;
    const char *key;

    json_object_foreach(json_array_get(list, 0), key, value) if (fits_a_cell(value))
        json_append(columns, json_text(key));
    put_columns(out, label, list, columns);
}

static void put_any(FILE *out, const char *label, const json_t *value, int depth);

static void put_object(FILE *out, json_t *object, int depth)
{
    const char *key;
    json_t *value;

    fputs("<dl>", out);
    json_object_foreach(object, key, value)
    {
        if (!fits_a_cell(value))
            continue;
        fputs("<div>", out);
        html_element(out, "dt", key);
        fputs("<dd>", out);
        html_value(out, value);
        fputs("</dd></div>", out);
    }
    fputs("</dl>\n", out);
    json_object_foreach(object, key, value) if (!fits_a_cell(value)) put_any(out, key, value, depth + 1);
}

static void put_any(FILE *out, const char *label, const json_t *value, int depth)
{
    const json_t *element;
    size_t i;

    if (depth > 4 || json_array_size(value) + json_object_size(value) == 0)
        return;
    if (depth > 0)
        html_element(out, "h3", label);
    if (json_is_object(value)) {
        put_object(out, (json_t *)value, depth);
    } else if (json_is_object(json_array_get(value, 0))) {
        put_objects(out, label, value);
    } else {
        fputs("<ul>", out);
        json_array_foreach(value, i, element)
        {
            fputs("<li>", out);
            html_value(out, element);
            fputs("</li>", out);
        }
        fputs("</ul>\n", out);
    }
}

static void put_others(FILE *out, const char *title, const json_t *list)
{
    const json_t *value;
    size_t i;

    if (json_array_size(list) == 0)
        return;
    fputs("<section>", out);
    html_element(out, "h2", title);
    json_array_foreach(list, i, value) put_any(out, title, value, 0);
    fputs("</section>\n", out);
}

/* A sweep: the winners, all combinations, and those that cannot run. */
static void put_sweep(FILE *out, const json_t *document)
{
    static const char *const keys[] = {"exercise",  "resource",  "variant",  "dtype",        "size",
                                       "shape",     "block",     "kernel_s", "gbytes_per_s", "gflops",
                                       "registers", "occupancy", "spread",   "relative"};
    const json_t *rows = json_object_get(document, "results");
    json_t *columns = json_new_list();

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_object_get(json_array_get(rows, 0), keys[i]))
            json_append(columns, json_text(keys[i]));
    put_any(out, "best", json_object_get(document, "best"), 1);
    put_any(out, "sweep", json_object_get(document, "sweep"), 1);
    html_element(out, "h3", "all combinations");
    put_columns(out, "all combinations", rows, columns);
    put_any(out, "cannot run", json_object_get(document, "cannot_run"), 1);
}

static void put_sweeps(FILE *out, const json_t *documents)
{
    const json_t *document;
    size_t i;

    if (json_array_size(documents) == 0)
        return;
    fputs("<section><h2>Sweep</h2>\n", out);
    json_array_foreach(documents, i, document) put_sweep(out, document);
    fputs("</section>\n", out);
}

/* --------------------------------------------------------------------------------------------- two saved runs ---- */

static void put_pair(FILE *out, const json_t *pair)
{
    static const char *const names[] = {"exercise", "dtype", "older", "newer"}, *const times[] = {"kernel", "total"};

    fputs("<tr>", out);
    for (int i = 0; i < 4; i++)
        html_element(out, i ? "td" : "th scope=row", row_text(pair, names[i]));
    for (int i = 0; i < 2; i++) {
        const json_t *t = json_object_get(pair, times[i]);
        html_element(out, "td class=n", format_seconds(row_number(t, "older_s")).text);
        html_element(out, "td class=n", format_seconds(row_number(t, "newer_s")).text);
        html_element(out, "td class=n", format_factor(row_number(t, "ratio")).text);
        html_element(out, "td", row_text(t, "verdict"));
    }
    fputs("</tr>\n", out);
}

static void put_pairs(FILE *out, const json_t *document)
{
    static const table_column columns[] = {
        {"exercise", 0}, {"dtype", 0}, {"older", 0},     {"newer", 0}, {"kernel", 1},  {"kernel now", 1}, {"ratio", 1},
        {"verdict", 0},  {"total", 1}, {"total now", 1}, {"ratio", 1}, {"verdict", 0}, {NULL, 0}};
    static const char *const runs[] = {"older", "newer"};
    const json_t *pair;
    size_t i;

    fputs("<section><h2>Two runs</h2>\n", out);
    for (int r = 0; r < 2; r++) {
        const json_t *machine = json_object_get(document, runs[r]);
        fprintf(out, "<h3>%s: ", runs[r]);
        html_text(out, row_text(machine, "host"));
        fputs("</h3>", out);
        put_machine(out, machine);
    }
    html_table_begin(out, "Two runs");
    html_table_heads(out, columns);
    fputs("<tbody>", out);
    json_array_foreach(json_object_get(document, "pairs"), i, pair) put_pair(out, pair);
    fputs("</tbody>", out);
    html_table_end(out);
    fputs("<p class=note>Ratio: older over newer, above 1 is faster.</p></section>\n", out);
}

/* --------------------------------------------------------------------------------------------------- pictures ---- */

/* RFC 4648. */
static void put_base64(FILE *out, const unsigned char *data, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < size; i += 3) {
        unsigned three =
            (unsigned)data[i] << 16 | (i + 1 < size ? data[i + 1] : 0u) << 8 | (i + 2 < size ? data[i + 2] : 0u);
        fputc(letters[three >> 18], out);
        fputc(letters[three >> 12 & 63], out);
        fputc(i + 1 < size ? letters[three >> 6 & 63] : '=', out);
        fputc(i + 2 < size ? letters[three & 63] : '=', out);
    }
}

static void put_pictures(FILE *out, const report_page *page)
{
    if (page->picture_count == 0)
        return;
    fputs("<section><h2>Pictures</h2>\n<div class=pictures>", out);
    for (int i = 0; i < page->picture_count; i++) {
        const report_picture *p = &page->pictures[i];
        fputs("<figure><img alt=\"", out);
        html_text(out, *p->caption ? p->caption : p->path);
        fputs("\" src=\"data:image/png;base64,", out);
        put_base64(out, (const unsigned char *)p->data, p->size);
        fputs("\"><figcaption>", out);
        html_text(out, *p->caption ? p->caption : p->path);
        fputs("</figcaption></figure>\n", out);
    }
    fputs("</div></section>\n", out);
}

/* --------------------------------------------------------------------------------------------------- the page ---- */

static void put_skipped(FILE *out, const json_t *skipped)
{
    const json_t *entry;
    size_t i;

    if (json_array_size(skipped) == 0)
        return;
    fputs("<section><h2>Not run</h2>\n<dl class=reasons>", out);
    json_array_foreach(skipped, i, entry)
    {
        fputs("<div>", out);
        html_element(out, "dt", row_text(entry, "backend"));
        html_element(out, "dd", row_text(entry, "reason"));
        fputs("</div>", out);
    }
    fputs("</dl></section>\n", out);
}

static void put_one_machine(FILE *out, const report_machine *m)
{
    const char *date = json_string_value(json_object_get(m->machine, "date"));

    fputs("<header><h1>", out);
    html_text(out, row_text(m->machine, "host"));
    fputs("</h1><p class=note>", out);
    html_text(out, date ? date : "date not recorded");
    fputs("</p></header>\n", out);
    put_machine(out, m->machine);
    put_comparison(out, m->results);
    put_plots(out, &m->times, "Times",
              "<span class=kernel></span> kernel <span class=total></span> total, from host to host");
    put_plots(out, &m->rooflines, "Roofline",
              "<span class=kernel></span> f32 <span class=total></span> f64 <span class=other></span> other dtypes. A "
              "point above the roof was served by caches.");
    put_ceilings(out, m->ceilings);
    report_batch_write(out, m->batches, &m->in_batches);
    put_sweeps(out, m->sweeps);
    put_plots(
        out, &m->scalings, "Scaling",
        "<span class=kernel></span> strong scaling or batches of a GPU, and Amdahl's curve <span class=total></span> "
        "weak scaling, and Gustafson's <span class=other></span> as many times as fast as there are workers, or "
        "matrices");
    put_others(out, "Laws", m->laws);
    put_skipped(out, m->skipped);
}

static void put_sources(FILE *out, const report_page *page)
{
    const json_t *name;
    size_t i;

    fputs("<footer class=note>Made by flynn ", out);
    html_text(out, fl_version());
    fputs(" from ", out);
    json_array_foreach(page->sources, i, name)
    {
        fputs(i ? ", " : "", out);
        html_text(out, json_string_value(name));
    }
    fputs(".</footer>\n", out);
}

void report_page_write(FILE *out, const report_page *page)
{
    const json_t *document;
    size_t i;

    /* The policy makes the browser itself refuse whatever is not in the page. */
    fputs(
        "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
        "data:\">\n"
        "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<meta name=color-scheme content=\"light "
        "dark\">\n<link rel=icon href=\"data:,\">\n<title>Flynn report</title>\n<style>\n",
        out);
    fputs(report_style, out);
    fputs("</style></head><body><main>\n<p class=kicker>Flynn report</p>\n", out);
    put_failures(out, page);
    for (int m = 0; m < page->machine_count; m++)
        put_one_machine(out, &page->machines[m]);
    json_array_foreach(page->pairs, i, document) put_pairs(out, document);
    put_pictures(out, page);
    put_sources(out, page);
    fputs("</main></body></html>\n", out);
}
