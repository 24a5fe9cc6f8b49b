/* SPDX-License-Identifier: MIT
 *
 * headline.c - the first lines of a machine's part of the page: what ran, whether it was right, what was the fastest,
 * what was noisy, the limits of the devices, and the machine.
 */
#include "html.h"
#include "page.h"

#include "batch/columns.h"
#include "look/ceiling.h"
#include "taxonomy/show.h"
#include "view/json.h"
#include "view/row.h"
#include "view/sentence.h"
#include "view/units.h"

#include <math.h>
#include <string.h>

static void start_term(FILE *out, const char *term)
{
    html_print(out, "<div><dt>%s</dt><dd>", term);
}

static void end_term(FILE *out)
{
    fputs("</dd></div>\n", out);
}

/* Starts the next of several values: on the same line, or on one of its own. */
static void put_between(FILE *out, int *count, const char *between)
{
    fputs((*count)++ ? between : "", out);
}

static size_t count_different(const json_t *rows, const char *key)
{
    json_t *groups = rows_grouped(rows, (const char *const[]){key, NULL});
    const size_t count = json_object_size(groups);

    json_decref(groups);
    return count;
}

/* "3 backends" */
static cell counted(double count, const char *what)
{
    return cell_print("%.0f %s%s", count, what, count == 1 ? "" : "s");
}

static void put_ran(FILE *out, const json_t *data)
{
    const json_t *results = json_object_get(data, "results"), *entry;
    int lines = 0;
    size_t i;

    start_term(out, "what ran");
    if (json_array_size(results) > 0) {
        put_between(out, &lines, "; ");
        html_print(out, "%s on %s", counted(count_different(results, "exercise"), "exercise").text,
                   counted(count_different(results, "resource"), "backend").text);
    }
    json_array_foreach(json_object_get(data, "sweeps"), i, entry)
    {
        const json_t *rows = json_object_get(entry, "results");
        put_between(out, &lines, "; ");
        html_print(out, "sweep of %s: %s", row_text(json_array_get(rows, 0), "exercise"),
                   counted(json_array_size(rows), "combination").text);
    }
    json_array_foreach(json_object_get(data, "laws"), i, entry)
    {
        put_between(out, &lines, "; ");
        html_print(out, "scaling of %s on %s", row_text(entry, "exercise"), row_text(entry, "backend"));
    }
    json_array_foreach(json_object_get(data, "taxonomies"), i, entry)
    {
        put_between(out, &lines, "; ");
        html_print(out, "%s in Flynn's classes", row_text(entry, "exercise"));
    }
    json_array_foreach(json_object_get(data, "batches"), i, entry)
    {
        put_between(out, &lines, "; ");
        html_print(out, "%s: %s", batch_title(entry).text,
                   counted(json_array_size(json_object_get(entry, "runs")), "run").text);
    }
    if (lines == 0)
        fputs(json_array_size(json_object_get(data, "ceilings")) > 0 ? "the limits of the devices" : "nothing", out);
    end_term(out);
}

/* How many results there are of which kind. */
typedef struct tally {
    int all, right, wrong, unchecked;
    int noisy, watched; /* documents of earlier versions do not say whether a result was disturbed */
} tally;

static void tally_rows(tally *t, const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        t->all++;
        t->right += row_is_right(row);
        t->wrong += row_is_wrong(row);
        t->unchecked += row_is_unchecked(row);
        t->noisy += row_is_noisy(row);
        t->watched += json_object_get(row, "disturbed") != NULL;
    }
}

static tally tally_of(const json_t *data)
{
    static const char *const documents[][2] = {
        {"sweeps", "results"}, {"laws", "results"}, {"taxonomies", "results"}, {"batches", "runs"}};
    const json_t *entry;
    tally t = {0};
    size_t i;

    tally_rows(&t, json_object_get(data, "results"));
    for (size_t k = 0; k < sizeof documents / sizeof *documents; k++)
        json_array_foreach(json_object_get(data, documents[k][0]), i, entry)
            tally_rows(&t, json_object_get(entry, documents[k][1]));
    return t;
}

static void put_tally(FILE *out, const json_t *data)
{
    const tally t = tally_of(data);

    if (t.all == 0)
        return;
    start_term(out, "right");
    html_print(out, "%d of %d", t.right, t.all);
    if (t.wrong > 0)
        html_print(out, "; %d wrong", t.wrong);
    if (t.unchecked > 0)
        html_print(out, "; %d not checked", t.unchecked);
    end_term(out);
    start_term(out, "noisy");
    if (t.noisy > 0)
        html_print(out, "%d of %d, marked ~: do not trust their times", t.noisy, t.all);
    else
        fputs(t.watched == t.all ? "none" : "not recorded", out);
    end_term(out);
}

/* Starts a term whose value is a line for each text of the list, if there is any. */
static void put_lines(FILE *out, const char *term, const json_t *texts)
{
    const json_t *text;
    int lines = 0;
    size_t i;

    if (json_array_size(texts) == 0)
        return;
    start_term(out, term);
    json_array_foreach(texts, i, text)
    {
        put_between(out, &lines, "<br>");
        html_print(out, "%s", json_string_value(text));
    }
    end_term(out);
}

/* What the sentences above a table of these results say. */
static void put_fastest(FILE *out, const json_t *results)
{
    json_t *sentences = sentences_of_fastest(results);

    put_lines(out, "fastest", sentences);
    json_decref(sentences);
}

static void put_speed_up(FILE *out, const char *term, const json_t *row)
{
    if (!row)
        return;
    start_term(out, term);
    html_print(out, "%s %s on %s; with copies %s", row_text(row, "exercise"),
               format_factor(row_number(row, "speed_up")).text, row_text(row, "resource"),
               format_factor(row_number(row, "speed_up_with_copies")).text);
    end_term(out);
}

/* Returns whether noise decides the speed-ups of the rows of one work: that of the scalar row, or else of the first. */
static bool has_noisy_base(const json_t *rows)
{
    const json_t *base = NULL, *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const bool scalar = strcmp(row_text(row, "flynn_class"), "SISD") == 0;
        if (row_is_ranked(row) && (!base || (scalar && strcmp(row_text(base, "flynn_class"), "SISD") != 0)))
            base = row;
    }
    return row_is_noisy(base);
}

/* The largest speed-up of a kernel, and the smallest one if it is a loss: of results that are not noisy. */
static void put_speed_ups(FILE *out, json_t *works)
{
    const json_t *most = NULL, *least = NULL, *row;
    const char *key;
    json_t *rows;
    size_t i;

    json_object_foreach(works, key, rows)
    {
        const bool noisy = has_noisy_base(rows);
        json_array_foreach(rows, i, row)
        {
            const double speed_up = row_number(row, "speed_up");
            if (!row_is_ranked(row) || noisy || row_is_noisy(row) || !axis_shows(speed_up))
                continue;
            if (speed_up > 1 && (!most || speed_up > row_number(most, "speed_up")))
                most = row;
            if (speed_up < 1 && (!least || speed_up < row_number(least, "speed_up")))
                least = row;
        }
    }
    put_speed_up(out, "largest speed-up", most);
    put_speed_up(out, "slower than the scalar backend", least);
}

/* "187 GB/s", with a `~` where its measurement was disturbed; "": it was not measured. */
static cell limit_of(const json_t *ceiling, const char *key, const char *unit, const char *after)
{
    const double rate = ceiling_rate(ceiling, key);
    const json_t *quantity;
    bool noisy = false;
    size_t i;

    json_array_foreach(json_object_get(ceiling, "quantities"), i, quantity) noisy =
        noisy || (strcmp(row_text(quantity, "key"), key) == 0 && row_is_noisy(quantity));
    if (!axis_shows(rate / 1e9))
        return cell_print("%s", "");
    return cell_print("%s %s%s%s", *key == 'c' ? "" : ",", noisy ? "~" : "", format_rate(rate, unit).text, after);
}

static void put_limits(FILE *out, const json_t *ceilings, bool results)
{
    const json_t *ceiling;
    int lines = 0;
    size_t i;

    if (json_array_size(ceilings) == 0 && !results)
        return;
    start_term(out, "limits");
    json_array_foreach(ceilings, i, ceiling)
    {
        put_between(out, &lines, "<br>");
        html_print(out, "%s:%s%s%s", row_text(ceiling, "resource"), limit_of(ceiling, "copy", "B/s", "").text,
                   limit_of(ceiling, "f32", "FLOP/s", " f32").text, limit_of(ceiling, "f64", "FLOP/s", " f64").text);
    }
    if (lines == 0)
        fputs("not measured; <code>flynn ceiling --json=ceiling.json</code> does", out);
    end_term(out);
}

/* The GPU, or what the documents say on why none ran. */
static void put_gpu(FILE *out, const json_t *data)
{
    const json_t *machine = json_object_get(data, "machine"), *entry;
    int lines = 0;
    size_t i;

    start_term(out, "GPU");
    if (json_is_string(json_object_get(machine, "gpu"))) {
        html_print(out, "%s", row_text(machine, "gpu"));
        end_term(out);
        return;
    }
    json_array_foreach(json_object_get(data, "skipped"), i, entry)
    {
        const char *name = row_text(entry, "backend");
        if (strncmp(name, "hip", 3) != 0 || strcmp(name, "hip-cpu") == 0)
            continue;
        put_between(out, &lines, "<br>");
        html_print(out, "none: %s: %s", name, row_text(entry, "reason"));
    }
    if (lines == 0)
        fputs("none in these runs", out);
    end_term(out);
}

static void put_computer(FILE *out, const json_t *machine)
{
    start_term(out, "machine");
    html_print(out, "%s", row_text(machine, "processor"));
    if (row_number(machine, "threads") > 0)
        html_print(out, ", %s", counted(row_number(machine, "threads"), "thread").text);
    if (row_number(machine, "memory_bytes") > 0)
        html_print(out, ", %s", format_bytes(row_number(machine, "memory_bytes")).text);
    end_term(out);
}

void report_pairs_headline_write(FILE *out, const json_t *pairs)
{
    json_t *verdicts = rows_grouped(pairs, (const char *const[]){"kernel.verdict", NULL}), *of;
    const char *key;
    int count = 0;

    fputs("<dl class=headline>\n", out);
    start_term(out, "kernels");
    html_print(out, "%s: ", counted(json_array_size(pairs), "result").text);
    json_object_foreach(verdicts, key, of)
    {
        put_between(out, &count, ", ");
        html_print(out, "%d %s", (int)json_array_size(of), row_text(json_array_get(of, 0), "kernel.verdict"));
    }
    end_term(out);
    fputs("</dl>\n", out);
    json_decref(verdicts);
}

void report_headline_write(FILE *out, const json_t *data)
{
    const json_t *results = json_object_get(data, "results");
    json_t *works = rows_by_work(results);

    fputs("<dl class=headline>\n", out);
    put_ran(out, data);
    put_lines(out, "ended early", json_object_get(data, "stopped"));
    put_tally(out, data);
    put_fastest(out, results);
    put_speed_ups(out, works);
    put_limits(out, json_object_get(data, "ceilings"), json_array_size(results) > 0);
    put_computer(out, json_object_get(data, "machine"));
    put_gpu(out, data);
    fputs("</dl>\n", out);
    json_decref(works);
}
