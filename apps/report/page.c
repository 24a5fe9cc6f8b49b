/* SPDX-License-Identifier: MIT */
#include "page.h"
#include "batch.h"
#include "html.h"

#include "compare/columns.h"
#include "look/ceiling.h"
#include "support/fail.h"
#include "support/memory.h"
#include "view/json.h"
#include "view/row.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- what went wrong ---- */

enum { MOST_LOST_SHOWN = 20 };

/* Of a machine's data. */
static const struct failure {
    const char *key, *one, *many;
} failures[] = {
    {"wrong", "result is wrong", "results are wrong"},
    {"failed", "exercise could not be run", "exercises could not be run"},
    {"wrong_runs", "run of a batch failed", "runs of batches failed"},
    {"lost_images", "image failed", "images failed"},
};
enum { FAILURES = sizeof failures / sizeof *failures };

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
    json_array_foreach(json_object_get(data, "wrong_runs"), i, row) report_batch_wrong(out, row);
    put_lost(out, json_object_get(data, "lost_images"));
}

static void put_failures(FILE *out, const report_page *page)
{
    const char *before = "";

    if (report_failures(page) == 0)
        return;
    fputs("<section class=alert role=alert><h2>", out);
    for (int f = 0; f < FAILURES; f++) {
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

/* ----------------------------------------------------------------------------------------------- the machine ---- */

static void put_machine(FILE *out, const json_t *machine)
{
    static const column columns[] = {
        {.title = "processor", .key = "processor"},
        {.title = "threads", .key = "threads"},
        {.title = "memory", .key = "memory_bytes", .as = AS_BYTES},
        {.title = "gpu", .key = "gpu"},
        {.title = "driver", .key = "driver"},
        {.title = "runtime", .key = "runtime"},
        {.title = "os", .key = "os"},
        {.title = "compiler", .key = "compiler"},
        {.title = "flags", .key = "flags"},
        {.title = "version", .key = "version"},
        {.title = "commit", .key = "commit"},
        {.title = "slurm", .key = "slurm.job_id"},
        {0},
    };

    html_terms(out, columns, machine);
}

/* --------------------------------------------------------------------------------- sections of known columns ---- */

static void put_comparison(FILE *out, const json_t *results)
{
    if (json_array_size(results) == 0)
        return;
    fputs("<section><h2>Comparison</h2>\n", out);
    html_table(out, "Comparison", compare_columns, results, 1);
    fputs("<p class=note>Times are medians of the warm passes, cold is the first pass; spread is the interquartile "
          "range of total over its median. Speed-up, with copies: kernel and total of the scalar backend (or the first "
          "one) over this one's. Relative: total over the fastest one's. Ceiling: the least time on this device's "
          "roofline over kernel.</p></section>\n",
          out);
}

static void put_plots(FILE *out, const report_plots *plots, const char *title, const char *legend)
{
    if (plots->count == 0)
        return;
    fprintf(out, "<section><h2>%s</h2>\n<p class=note>%s</p><div class=plots>\n", title, legend);
    for (int i = 0; i < plots->count; i++)
        html_plot(out, &plots->list[i]);
    fputs("</div></section>\n", out);
}

static void put_ceilings(FILE *out, const json_t *ceilings)
{
    json_t *quantities = rows_within(ceilings, "quantities");

    if (json_array_size(ceilings) > 0) {
        fputs("<section><h2>Ceilings</h2>\n", out);
        html_table(out, "Ceilings", ceiling_columns, quantities, 1);
        fputs("</section>\n", out);
    }
    json_decref(quantities);
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

/* A list of columns for these keys of an object (a NULL ends them), or for all of them that fit; to be freed. */
static column *columns_of(json_t *object, const char *const *keys)
{
    column *columns = memory_zeroed(json_object_size(object) + 2, sizeof *columns), *next = columns;
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        const char *const *wanted = keys;
        while (wanted && *wanted && strcmp(*wanted, key) != 0)
            wanted++;
        if (fits_a_cell(value) && (!wanted || *wanted))
            *next++ = (column){.title = key,
                               .key = key,
                               .as = !json_is_number(value) ? AS_TEXT
                                     : is_time(key)         ? AS_SECONDS
                                                            : AS_NUMBER};
    }
    if (next == columns)
        *next = (column){.title = "", .key = ""};
    return columns;
}

static void put_rows(FILE *out, const char *label, const json_t *rows, const char *const *keys)
{
    column *columns = columns_of(json_array_get(rows, 0), keys);

    html_table(out, label, columns, rows, 0);
    free(columns);
}

static void put_any(FILE *out, const char *label, const json_t *value, int depth);

static void put_object(FILE *out, json_t *object, int depth)
{
    column *columns = columns_of(object, NULL);
    const char *key;
    json_t *value;

    html_terms(out, columns, object);
    free(columns);
    json_object_foreach(object, key, value) if (!fits_a_cell(value)) put_any(out, key, value, depth + 1);
}

static void put_any(FILE *out, const char *label, const json_t *value, int depth)
{
    const json_t *element;
    size_t i;

    if (depth > 4 || json_array_size(value) + json_object_size(value) == 0)
        return;
    if (depth > 0)
        html_print(out, "<h3>%s</h3>", label);
    if (json_is_object(value)) {
        put_object(out, (json_t *)value, depth);
    } else if (json_is_object(json_array_get(value, 0))) {
        put_rows(out, label, value, NULL);
    } else {
        fputs("<ul>", out);
        json_array_foreach(value, i, element) html_print(
            out, "<li>%s</li>", json_is_string(element) ? json_string_value(element) : cell_value(element).text);
        fputs("</ul>\n", out);
    }
}

static void put_others(FILE *out, const char *title, const json_t *list)
{
    const json_t *value;
    size_t i;

    if (json_array_size(list) == 0)
        return;
    html_print(out, "<section><h2>%s</h2>", title);
    json_array_foreach(list, i, value) put_any(out, title, value, 0);
    fputs("</section>\n", out);
}

/* A sweep: the winners, all combinations, and those that cannot run. */
static void put_sweep(FILE *out, const json_t *document)
{
    static const char *const keys[] = {"exercise",  "resource",  "variant",  "dtype",        "size",
                                       "shape",     "block",     "kernel_s", "gbytes_per_s", "gflops",
                                       "registers", "occupancy", "spread",   "relative",     NULL};

    put_any(out, "best", json_object_get(document, "best"), 1);
    put_any(out, "sweep", json_object_get(document, "sweep"), 1);
    fputs("<h3>all combinations</h3>", out);
    put_rows(out, "all combinations", json_object_get(document, "results"), keys);
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

static void put_pairs(FILE *out, const json_t *document)
{
    static const char *const runs[] = {"older", "newer"};

    fputs("<section><h2>Two runs</h2>\n", out);
    for (int r = 0; r < 2; r++) {
        const json_t *machine = json_object_get(document, runs[r]);
        html_print(out, "<h3>%s: %s</h3>", runs[r], row_text(machine, "host"));
        put_machine(out, machine);
    }
    html_table(out, "Two runs", compare_pair_columns, json_object_get(document, "pairs"), 1);
    fputs("<p class=note>Ratio: older over newer, above 1 is faster.</p></section>\n", out);
}

/* --------------------------------------------------------------------------------------------------- pictures ---- */

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

/* --------------------------------------------------------------------------------------------------- the page ---- */

static void put_skipped(FILE *out, const json_t *skipped)
{
    const json_t *entry;
    size_t i;

    if (json_array_size(skipped) == 0)
        return;
    fputs("<section><h2>Not run</h2>\n<dl class=reasons>", out);
    json_array_foreach(skipped, i, entry)
        html_print(out, "<div><dt>%s</dt><dd>%s</dd></div>", row_text(entry, "backend"), row_text(entry, "reason"));
    fputs("</dl></section>\n", out);
}

static void put_one_machine(FILE *out, const report_machine *m)
{
    const json_t *machine = json_object_get(m->data, "machine");
    const char *date = json_string_value(json_object_get(machine, "date"));

    html_print(out, "<header><h1>%s</h1><p class=note>%s</p></header>\n", row_text(machine, "host"),
               date ? date : "date not recorded");
    put_machine(out, machine);
    put_comparison(out, json_object_get(m->data, "results"));
    put_plots(out, &m->plots[PLOTS_TIMES], "Times",
              "<span class=kernel></span> kernel <span class=total></span> total, from host to host");
    put_plots(out, &m->plots[PLOTS_ROOFLINE], "Roofline",
              "<span class=kernel></span> f32 <span class=total></span> f64 <span class=other></span> other dtypes. "
              "Caches served a point above the roof.");
    put_ceilings(out, json_object_get(m->data, "ceilings"));
    report_batch_write(out, json_object_get(m->data, "batches"), &m->plots[PLOTS_BATCH]);
    put_sweeps(out, json_object_get(m->data, "sweeps"));
    put_plots(out, &m->plots[PLOTS_LAWS], "Scaling",
              "<span class=kernel></span> strong scaling or batches of a GPU, and Amdahl's curve <span "
              "class=total></span> weak scaling, and Gustafson's <span class=other></span> n times as fast with n "
              "workers, or n matrices");
    put_others(out, "Laws", json_object_get(m->data, "laws"));
    put_skipped(out, json_object_get(m->data, "skipped"));
}

static void put_sources(FILE *out, const report_page *page)
{
    const json_t *name;
    size_t i;

    html_print(out, "<footer class=note>Made by flynn %s from ", fl_version());
    json_array_foreach(page->sources, i, name) html_print(out, i ? ", %s" : "%s", json_string_value(name));
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
    for (const char *const *line = report_style; *line; line++)
        fputs(*line, out);
    fputs("</style></head><body><main>\n<p class=kicker>Flynn report</p>\n", out);
    put_failures(out, page);
    for (int m = 0; m < page->machine_count; m++)
        put_one_machine(out, &page->machines[m]);
    json_array_foreach(page->pairs, i, document) put_pairs(out, document);
    put_pictures(out, page);
    put_sources(out, page);
    fputs("</main></body></html>\n", out);
}
