/* SPDX-License-Identifier: MIT
 *
 * show.c - results as a table of text and as JSON.
 */
#include "inner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 11, CELL = 64, FEWEST_FOR_SPREAD = 5 };

/* Text that is cut to `size` bytes, and the length of all of it. */
typedef struct bounded_text {
    char *at;
    size_t size, length;
} bounded_text;

static void put(bounded_text *t, const char *text, size_t length)
{
    if (t->length < t->size) {
        const size_t room = t->size - 1 - t->length, part = length < room ? length : room;
        memcpy(t->at + t->length, text, part);
        t->at[t->length + part] = '\0';
    }
    t->length += length;
}

static void put_text(bounded_text *t, const char *text)
{
    put(t, text, strlen(text));
}

/* ------------------------------------------------------------------------------------------------- table ---- */

/* "12.3 us": three digits and a unit; "-" where there is no time. */
static void show_time(char *cell, double seconds)
{
    static const struct {
        double least, unit;
        const char *name;
    } units[] = {{0.9995, 1, "s"}, {0.9995e-3, 1e-3, "ms"}, {0.9995e-6, 1e-6, "us"}, {0, 1e-9, "ns"}};
    int i = 0;

    if (!(seconds > 0)) {
        snprintf(cell, CELL, "-");
        return;
    }
    while (seconds < units[i].least)
        i++;
    const double value = seconds / units[i].unit;
    snprintf(cell, CELL, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[i].name);
}

static void show_rate(char *cell, double amount, double seconds)
{
    if (amount > 0 && seconds > 0)
        snprintf(cell, CELL, "%.3g", amount / seconds / 1e9);
    else
        snprintf(cell, CELL, "-");
}

/* The distance between the quartiles of the total over its median; of the kernel where there is no total. */
static void show_spread(char *cell, const bench_work *w)
{
    const bench_samples *total = &w->samples[FL_BENCH_TOTAL];
    const bench_samples *list = total->count > 0 ? total : &w->samples[FL_BENCH_KERNEL];
    fl_bench_statistics s;

    snprintf(cell, CELL, "-");
    if (list->count < FEWEST_FOR_SPREAD)
        return;
    s = bench_statistics(list->s, list->count, w->sorted);
    if (s.median > 0)
        snprintf(cell, CELL, "%.2g %%", 100 * (s.third_quartile - s.first_quartile) / s.median);
}

static void fill_row(const fl_bench *b, size_t i, char row[COLUMNS][CELL])
{
    const bench_work *w = b->works[i];
    fl_bench_result r;

    fl_bench_result_get(b, i, &r);
    snprintf(row[0], CELL, "%s", r.name);
    snprintf(row[1], CELL, "%s", r.resource);
    snprintf(row[2], CELL, "%s", *r.first->variant ? r.first->variant : "-");
    show_time(row[3], r.first_s);
    show_time(row[4], r.copy_in_s);
    show_time(row[5], r.kernel_s);
    show_time(row[6], r.copy_out_s);
    show_time(row[7], r.total_s);
    show_spread(row[8], w);
    show_rate(row[9], r.first->bytes, r.kernel_s);
    snprintf(row[10], CELL, "%s", r.status != FL_OK ? "-" : !r.checked ? "not checked" : r.right ? "right" : "WRONG");
}

/* Returns the columns that a row of UTF-8 takes: bytes that continue a character count nothing. */
static size_t width_of(const char *cell)
{
    size_t width = 0;

    for (; *cell; cell++)
        width += ((unsigned char)*cell & 0xc0) != 0x80;
    return width;
}

static void put_row(bounded_text *t, char row[COLUMNS][CELL], const size_t *width)
{
    for (int c = 0; c < COLUMNS; c++) {
        const bool last = c == COLUMNS - 1, left = c < 3 || last;
        const size_t padding = width[c] - width_of(row[c]);
        if (c > 0)
            put_text(t, "  ");
        for (size_t i = 0; !left && i < padding; i++)
            put_text(t, " ");
        put_text(t, row[c]);
        for (size_t i = 0; left && !last && i < padding; i++)
            put_text(t, " ");
    }
    put_text(t, "\n");
}

/* Adds what no column of the table shows: why a case was left out, what disturbed it. */
static void put_remarks(bounded_text *t, const bench_work *w)
{
    const struct {
        bool is;
        const char *before, *text;
    } remarks[] = {
        {w->status != FL_OK, w->what.optional && !w->ran ? "left out: " : "", w->message},
        {w->first_counts, "", "only the first pass was timed"},
        {*w->why_disturbed, "disturbed: ", w->why_disturbed},
    };

    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++)
        if (remarks[i].is) {
            put_text(t, w->name);
            put_text(t, ", ");
            put_text(t, w->info.resource);
            put_text(t, ": ");
            put_text(t, remarks[i].before);
            put_text(t, remarks[i].text);
            put_text(t, "\n");
        }
}

size_t fl_bench_table(const fl_bench *bench, char *text, size_t size)
{
    static const char titles[COLUMNS][CELL] = {"case",     "on",    "variant", "first pass", "copy in", "kernel",
                                               "copy out", "total", "spread",  "GB/s",       "check"};
    char row[COLUMNS][CELL];
    size_t width[COLUMNS];
    bounded_text t = {text, text ? size : 0, 0};

    if (t.size > 0)
        *text = '\0';
    memcpy(row, titles, sizeof row);
    for (int c = 0; c < COLUMNS; c++)
        width[c] = width_of(row[c]);
    for (size_t i = 0; i < fl_bench_count(bench); i++) {
        fill_row(bench, i, row);
        for (int c = 0; c < COLUMNS; c++)
            width[c] = width_of(row[c]) > width[c] ? width_of(row[c]) : width[c];
    }
    memcpy(row, titles, sizeof row);
    put_row(&t, row, width);
    for (size_t i = 0; i < fl_bench_count(bench); i++) {
        fill_row(bench, i, row);
        put_row(&t, row, width);
    }
    for (size_t i = 0; i < fl_bench_count(bench); i++)
        put_remarks(&t, bench->works[i]);
    return t.length;
}

/* -------------------------------------------------------------------------------------------------- JSON ---- */

/* A string in quotes; control characters are escaped. */
static void put_string(bounded_text *t, const char *s)
{
    char escape[8];

    put_text(t, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            put_text(t, "\\");
            put(t, s, 1);
        } else if ((unsigned char)*s < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)*s);
            put_text(t, escape);
        } else {
            put(t, s, 1);
        }
    }
    put_text(t, "\"");
}

static void put_key(bounded_text *t, const char *key)
{
    if (t->length > 1) /* not the first one after '{' */
        put_text(t, ", ");
    put_string(t, key);
    put_text(t, ": ");
}

/* A number that reads as the same one again; null where it is not finite. What stands for the decimal point in the
 * program's locale becomes a point. */
static void put_number(bounded_text *t, double x)
{
    char digits[64];

    if (!isfinite(x)) {
        put_text(t, "null");
        return;
    }
    snprintf(digits, sizeof digits, "%.17g", x);
    for (const char *at = digits; *at;) {
        const size_t plain = strspn(at, "0123456789+-e");
        put(t, at, plain);
        at += plain;
        if (*at) {
            put_text(t, ".");
            at += strcspn(at, "0123456789+-e");
        }
    }
}

static void put_key_text(bounded_text *t, const char *key, const char *text)
{
    put_key(t, key);
    put_string(t, text);
}

static void put_key_number(bounded_text *t, const char *key, double x)
{
    put_key(t, key);
    put_number(t, x);
}

static void put_key_truth(bounded_text *t, const char *key, bool truth)
{
    put_key(t, key);
    put_text(t, truth ? "true" : "false");
}

static void put_numbers(bounded_text *t, const double *x, int count)
{
    put_text(t, "[");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            put_text(t, ", ");
        put_number(t, x[i]);
    }
    put_text(t, "]");
}

static const char *const quantities[BENCH_QUANTITIES] = {"h2d", "kernel", "d2h", "total", "finish", "call", "between"};

/* The medians, the intervals that hold them, and all samples. */
static void put_times(bounded_text *t, const bench_work *w)
{
    fl_bench_statistics s;
    char key[32];

    for (int q = 0; q < BENCH_QUANTITIES; q++) {
        s = bench_statistics(w->samples[q].s, w->samples[q].count, w->sorted);
        snprintf(key, sizeof key, "%s_s", quantities[q]);
        put_key_number(t, key, s.median);
        if (q == FL_BENCH_KERNEL || q == FL_BENCH_TOTAL) {
            snprintf(key, sizeof key, "%s_interval_s", quantities[q]);
            put_key(t, key);
            put_numbers(t, (double[]){s.low, s.high}, isnan(s.low) ? 0 : 2);
        }
    }
    put_key(t, "times_s");
    put_text(t, "{");
    for (int q = 0; q < BENCH_QUANTITIES; q++) {
        if (q > 0)
            put_text(t, ", ");
        put_string(t, quantities[q]);
        put_text(t, ": ");
        put_numbers(t, w->samples[q].s, w->samples[q].count);
    }
    put_text(t, "}");
}

static void put_device(bounded_text *t, const bench_work *w)
{
    put_key_text(t, "backend_requested", w->info.resource);
    put_key_text(t, "backend", w->info.backend);
    put_key_text(t, "resource", w->info.resource);
    put_key_text(t, "family", w->info.family);
    put_key_truth(t, "emulation", w->info.emulation);
    put_key_text(t, "device", w->info.name);
    put_key_text(t, "flynn_class", w->info.flynn_class);
    put_key_text(t, "host_memory", w->info.host_memory ? "in place" : "pinned");
}

static void put_shape(bounded_text *t, const fl_bench_array *a)
{
    put_text(t, "[");
    for (int d = 0; d < a->ndim; d++) {
        if (d > 0)
            put_text(t, ", ");
        put_number(t, (double)a->shape[d]);
    }
    put_text(t, "]");
}

/* The dtype and shape of the first result, and the shapes of all inputs; null where they are not known. */
static void put_arrays(bounded_text *t, const bench_work *w)
{
    const fl_bench_array *result = NULL;
    bool first = true;

    for (int i = w->array_count; i-- > 0;)
        if (w->arrays[i].to)
            result = &w->arrays[i];
    put_key(t, "dtype");
    if (result)
        put_string(t, fl_dtype_name(result->dtype));
    else
        put_text(t, "null");
    put_key(t, "shape");
    if (result)
        put_shape(t, result);
    else
        put_text(t, "null");
    put_key(t, "input_shapes");
    put_text(t, "[");
    for (int i = 0; i < w->array_count; i++)
        if (w->arrays[i].from) {
            if (!first)
                put_text(t, ", ");
            put_shape(t, &w->arrays[i]);
            first = false;
        }
    put_text(t, "]");
}

static void put_work(bounded_text *t, const bench_work *w, const fl_bench_result *r)
{
    const fl_timing *f = &w->first;

    put_key_text(t, "variant", w->variant);
    put_key(t, "block");
    put_numbers(t, (double[]){f->block[0], f->block[1], f->block[2]}, 3);
    put_key_number(t, "cold_s", r->first_s);
    put_times(t, w);
    put_key_number(t, "passes", r->passes);
    put_key_number(t, "launches", r->launches);
    put_key_truth(t, "first_counts", r->first_counts);
    put_key_number(t, "bytes", f->bytes > 0 ? f->bytes : NAN);
    put_key_number(t, "flops", f->flops > 0 ? f->flops : NAN);
    put_key_number(t, "gbytes_per_s", f->bytes > 0 ? f->bytes / r->kernel_s / 1e9 : NAN);
    put_key_number(t, "gflops", f->flops > 0 ? f->flops / r->kernel_s / 1e9 : NAN);
}

static void put_outside(bounded_text *t, const bench_work *w, const fl_bench_result *r)
{
    put_key(t, "disturbed");
    if (*w->why_disturbed)
        put_string(t, w->why_disturbed);
    else
        put_text(t, "null");
    put_key_number(t, "switches_per_s", r->switches_per_s);
    put_key_number(t, "stolen", r->stolen);
    put_key_number(t, "load", r->load);
    put_key(t, "throttled");
    put_text(t, isnan(r->throttled) ? "null" : r->throttled > 0 ? "true" : "false");
    put_key_number(t, "clock_low_mhz", r->clock_low);
    put_key_number(t, "clock_high_mhz", r->clock_high);
    put_key_number(t, "temperature_c", r->temperature);
    put_key_number(t, "other_processes", r->other_processes);
}

size_t fl_bench_json(const fl_bench *bench, size_t i, char *text, size_t size)
{
    bounded_text t = {text, text ? size : 0, 0};
    fl_bench_result r;

    if (t.size > 0)
        *text = '\0';
    if (fl_bench_result_get(bench, i, &r) != FL_OK)
        return 0;
    const bench_work *w = bench->works[i];
    put_text(&t, "{");
    put_key_text(&t, "schema", "flynn/2");
    put_key_text(&t, "exercise", w->name);
    put_device(&t, w);
    put_arrays(&t, w);
    put_work(&t, w, &r);
    put_outside(&t, w, &r);
    put_key(&t, "place");
    put_text(&t, "null");
    put_key_text(&t, "status", fl_status_name(w->status));
    put_key_text(&t, "message", w->message);
    put_key(&t, "check");
    put_text(&t, !w->checked ? "{\"ok\": null}" : w->right ? "{\"ok\": true}" : "{\"ok\": false}");
    put_text(&t, "}");
    return t.length;
}
