/* SPDX-License-Identifier: MIT
 *
 * The smaller parts that commands share: comparing, the course's inputs, statistics, quantities as text, JSON, CSV.
 */
#define _GNU_SOURCE 1
#include "display/verdict.h"
#include "view/columns.h"
#include "view/csv.h"
#include "support/fail.h"
#include "view/json.h"
#include "kept/machine.h"
#include "scratch.h"
#include "support/print.h"
#include "support/statistics.h"
#include "support/memory.h"
#include "options/paths.h"
#include "support/text.h"
#include "view/row.h"
#include "view/units.h"
#include "words/course.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------------- comparing ---- */

static compare_result compare_one(double result, double expected, double bound)
{
    compare_result found = compare_start();
    compare_add(&found, 7, result, expected, bound);
    return found;
}

Test(compare, nothing_compared_is_not_ok)
{
    compare_result found = compare_start();
    cr_assert(not(found.ok));
    cr_assert(eq(i64, found.worst_index, -1));
}

Test(compare, one_element)
{
    static const struct {
        double result, expected, bound;
        bool ok;
        double max_abs, max_rel;
    } cases[] = {
        {1, 1, 0, true, 0, 0},
        {1.5, 1, 0.5, true, 0.5, 0.5},
        {1.5, 1, 0.4999, false, 0.5, 0.5},
        {-1.5, 1, 2.4, false, 2.5, 2.5},
        {0.25, 0, 0.25, true, 0.25, 0},
        {-0.0, 0.0, 0, true, 0, 0},
        {NAN, NAN, 0, true, 0, 0},
        {NAN, NAN, NAN, true, 0, 0},
        {INFINITY, INFINITY, NAN, true, 0, 0},
        {NAN, 1, INFINITY, false, INFINITY, INFINITY},
        {1, NAN, INFINITY, false, INFINITY, INFINITY},
        {INFINITY, 1, INFINITY, false, INFINITY, INFINITY},
        {1, INFINITY, INFINITY, false, INFINITY, INFINITY},
        {INFINITY, -INFINITY, INFINITY, false, INFINITY, INFINITY},
        {NAN, INFINITY, INFINITY, false, INFINITY, INFINITY},
        {2, 1, NAN, false, 1, 1},
        {2, 1, INFINITY, true, 1, 1},
        {2, 1, 0, false, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compare_result found = compare_one(cases[i].result, cases[i].expected, cases[i].bound);
        cr_assert(found.ok == cases[i].ok && found.failed == !cases[i].ok, "case %zu", i);
        cr_assert(found.max_abs == cases[i].max_abs && found.max_rel == cases[i].max_rel, "case %zu: %g %g", i,
                  found.max_abs, found.max_rel);
        cr_assert(found.ok ? found.excess <= 1 : found.excess > 1, "case %zu: %g", i, found.excess);
        cr_assert(eq(i64, found.worst_index, 7));
    }
}

Test(compare, the_worst_element_is_that_with_the_least_excuse)
{
    problem why;
    host_array result, expected, bound;
    int64_t shape[] = {2, 3};
    cr_assert(host_array_create(&result, FL_F32, 2, shape, "x", &why));
    cr_assert(host_array_create(&expected, FL_F64, 2, shape, "x", &why));
    cr_assert(host_array_create(&bound, FL_F64, 2, shape, "x", &why));
    for (int i = 0; i < 6; i++) {
        host_array_set(&expected, i, 10);
        host_array_set(&result, i, i == 1 ? 14 : i == 5 ? 11 : 10);
        host_array_set(&bound, i, i == 1 ? 100 : 0.5);
    }
    compare_result found = compare_bounded(&result, &expected, &bound);
    cr_assert(found.failed == 1 && !found.ok && found.compared == 6 && found.max_abs == 4);
    cr_assert(found.worst_index == 5 && found.worst_result == 11 && found.worst_bound == 0.5);
    cr_assert(eq(str, format_index(5, 2, shape).text, "[1, 2]"));
    cr_assert(eq(str, format_index(-1, 2, shape).text, "-"));
    cr_assert(compare_allclose(&result, &expected, 0.4, 0).ok);
    cr_assert(compare_allclose(&result, &expected, 0, 4).ok);
    cr_assert(not(compare_allclose(&result, &expected, 0.3, 0.9).ok));
    host_array_free(&result);
    host_array_free(&expected);
    host_array_free(&bound);
}

/* ----------------------------------------------------------------------------------------- the course's inputs ---- */

/* What two doubles do not show is wrong all the same, and infinitely so. */
Test(compare, an_element_that_must_be_exact)
{
    static const struct {
        bool same;
        double result, expected, max_abs;
    } cases[] = {{true, 5, 5, 0},
                 {true, (double)NAN, (double)NAN, 0},
                 {false, 5, 4, 1},
                 {false, 0x1p60, 0x1p60, (double)INFINITY},
                 {false, 4, (double)INFINITY, (double)INFINITY},
                 {false, (double)NAN, (double)NAN, (double)INFINITY}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compare_result found = compare_start();
        compare_add_exact(&found, 7, cases[i].same, cases[i].result, cases[i].expected);
        cr_expect(found.ok == cases[i].same && found.compared == 1 && found.max_abs == cases[i].max_abs, "case %zu", i);
        cr_expect(found.worst_index == 7, "case %zu", i);
    }
}

/* Block by block, or element by element: the same is found. */
Test(compare, blocks_that_are_equal)
{
    enum { SIZE = 1000 };
    static const int64_t wrong[] = {-1, 0, 1, 255, 256, 511, 700, 767, 768, 999};
    float values[SIZE], changed[SIZE];
    const host_array expected = {FL_F32, 1, {SIZE, 1, 1, 1}, values}, result = {FL_F32, 1, {SIZE, 1, 1, 1}, changed},
                     shorter = {FL_F32, 1, {SIZE - 1, 1, 1, 1}, changed};

    for (int i = 0; i < SIZE; i++)
        values[i] = i % 300 == 299 ? NAN : (float)i;
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        compare_result quick = compare_start(), slow = compare_start();
        memcpy(changed, values, sizeof values);
        if (wrong[w] >= 0)
            changed[wrong[w]] += 3;
        for (int64_t i = 0; (i = compare_skip_equal(&quick, &result, &expected, i)) < SIZE; i++)
            compare_add(&quick, i, (double)changed[i], (double)values[i], 0);
        for (int64_t i = 0; i < SIZE; i++)
            compare_add(&slow, i, (double)changed[i], (double)values[i], 0);
        cr_expect(quick.ok == slow.ok && quick.compared == slow.compared && quick.failed == slow.failed &&
                      quick.max_abs == slow.max_abs && quick.excess == slow.excess &&
                      quick.worst_index == slow.worst_index,
                  "element %lld", (long long)wrong[w]);
        cr_expect(compare_skip_equal(&quick, &result, &expected, 512) ==
                  (wrong[w] < 512 || wrong[w] >= 768 ? 768 : 512));
        cr_expect(compare_skip_equal(&quick, &shorter, &expected, 0) == 0, "another shape");
    }
}

/* A run is what its elements are one by one; the divisions of compare_add round, which a run's products do not. */
Test(compare, a_run_is_its_elements)
{
    enum { COUNT = 1000 };
    static double result[COUNT], expected[COUNT], bound[COUNT];
    const double odd[] = {0, (double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, -1e300};

    srand(1);
    for (int round = 0; round < 200; round++) {
        const int count = rand() % COUNT, first = count ? rand() % count : 0, odds = round % 4 ? 0 : 20,
                  wrong = round % 3;
        compare_result run = compare_start(), alone = compare_start();
        for (int i = 0; i < count; i++) {
            expected[i] = rand() % 10 - 5;
            bound[i] = rand() % 5 && round % 10 ? 1 + rand() % 7 : 0; /* of every tenth round all are exact */
            result[i] =
                expected[i] + (rand() % 9 - 4) / (wrong ? 4.0 : 32.0) * bound[i] * (rand() % 50 == 0 ? wrong : 1);
            if (odds && rand() % odds == 0)
                result[i] = odd[rand() % 6];
            if (odds && rand() % odds == 0)
                expected[i] = odd[rand() % 6];
        }
        compare_add_run(&run, 7, first, result, expected, bound);
        compare_add_run(&run, 7 + first, count - first, result + first, expected + first, bound + first);
        for (int i = 0; i < count; i++)
            compare_add(&alone, 7 + i, result[i], expected[i], bound[i]);
        cr_assert(run.ok == alone.ok && run.compared == alone.compared && run.failed == alone.failed, "round %d",
                  round);
        cr_assert(run.max_abs == alone.max_abs, "round %d: %g, %g", round, run.max_abs, alone.max_abs);
        cr_assert(run.max_rel == alone.max_rel || fabs(run.max_rel / alone.max_rel - 1) < 1e-15, "round %d", round);
        cr_assert(run.excess == alone.excess || fabs(run.excess / alone.excess - 1) < 1e-15, "round %d", round);
        cr_assert(run.worst_index == alone.worst_index || run.excess != alone.excess, "round %d", round);
    }
}

Test(course, golden_totals)
{
    static const double totals[] = {1182763.8256, 627658.2459};
    for (int w = 0; w < 2; w++) {
        host_array image = course_image_rows(2048, 0, 2048, FL_F64), kernel = course_gaussian(w, FL_F64);
        double ones = 0, sum = 0;
        for (int64_t i = 0; i < host_array_size(&image); i++)
            ones += host_array_get(&image, i);
        for (int64_t i = 0; i < host_array_size(&kernel); i++)
            sum += host_array_get(&kernel, i);
        cr_assert(ones == 128 * 128);
        cr_assert(fabs(ones * sum - totals[w]) < 5e-5, "%.6f", ones * sum);
        cr_assert(host_array_get(&kernel, 7 * 15 + 7) == 1 && host_array_get(&image, 8 * 2048 + 8) == 1);
        for (int i = 0; i < 225; i++) /* symmetric to the last bit, as NumPy's is */
            cr_assert(host_array_get(&kernel, i) == host_array_get(&kernel, i % 15 * 15 + i / 15));
        host_array_free(&image);
        host_array_free(&kernel);
    }
}

Test(course, edges_that_are_no_multiple_of_the_tile)
{
    for (int64_t edge = 1; edge < 40; edge++) {
        host_array image = course_image_rows(edge, 0, edge, FL_F32);
        for (int64_t i = 0; i < edge * edge; i++)
            cr_assert(host_array_get(&image, i) == (i / edge % 16 == 8 && i % edge % 16 == 8), "edge %d", (int)edge);
        host_array_free(&image);
    }
}

static void make_image(void *edge)
{
    course_image_rows(*(const int64_t *)edge, 0, *(const int64_t *)edge, FL_F64);
}

Test(course, sizes_that_no_machine_has)
{
    ended how = run_apart(make_image, &(int64_t){INT64_MAX});
    cr_assert(how.exit_code == 2 && strstr(how.err, "--size: ") != NULL, "%s", how.err);
    how = run_apart(make_image, &(int64_t){1000000000});
    cr_assert(how.exit_code == 4 && strstr(how.err, "out of memory") != NULL, "%s", how.err);
}

/* -------------------------------------------------------------------------------------------------- statistics ---- */

Test(statistics, of_known_lists)
{
    fl_bench_statistics s = statistics_of((double[]){5, 1, 4, 2, 3}, 5);
    cr_assert(s.median == 3 && s.minimum == 1 && s.maximum == 5 && statistics_range(&s) == 2);
    s = statistics_of((double[]){4, 1, 3, 100}, 4);
    cr_assert(s.median == 3.5 && s.maximum == 100);
    cr_assert(fabs(statistics_range(&s) - 25.5) <
              1e-12); /* numpy.subtract(*numpy.percentile([4, 1, 3, 100], [75, 25])) */
    cr_assert(median((double[]){7}, 1) == 7);
    s = statistics_of((double[]){7}, 1);
    cr_assert(statistics_range(&s) == 0);
    cr_assert(isnan(median(NULL, 0)) && isnan(median((double[]){1, NAN, 2}, 3)));
    double before = seconds_now();
    cr_assert(seconds_now() >= before);
}

/* ------------------------------------------------------------------------------------------------- tables ---- */

Test(units, quantities)
{
    cr_assert(eq(str, format_amount(73).text, "73 B"));
    cr_assert(eq(str, format_amount(999.7).text, "1 kB"));
    cr_assert(eq(str, format_amount(72900).text, "72.9 kB"));
    cr_assert(eq(str, format_amount(18e9).text, "18 GB"));
    cr_assert(eq(str, format_seconds(0.0202).text, "20.2 ms"));
    cr_assert(eq(str, format_seconds(3.1e-6).text, "3.10 us"));
    cr_assert(eq(str, format_seconds(0.99949).text, "999 ms"));
    cr_assert(eq(str, format_seconds(0.9996).text, "1.00 s"));
    cr_assert(eq(str, format_seconds(9.996e-3).text, "10.0 ms"));
    cr_assert(eq(str, format_seconds(1404).text, "1404 s"));
    cr_assert(eq(str, format_seconds(4e-11).text, "0.04 ns"));
    cr_assert(eq(str, format_seconds(0).text, "0 s"));
    cr_assert(eq(str, format_seconds(NAN).text, "-"));
    cr_assert(eq(str, format_rate(1.64e10, "B/s").text, "16.4 GB/s"));
    cr_assert(eq(str, format_rate(999.9, "flop/s").text, "1.00 kflop/s"));
    cr_assert(eq(str, format_rate(NAN, "B/s").text, "-"));
    cr_assert(eq(str, format_bytes(64 << 20).text, "64.0 MiB"));
    cr_assert(eq(str, format_bytes(1000).text, "1000 B"));
    cr_assert(eq(str, format_factor(27.94).text, "27.9x"));
    cr_assert(eq(str, format_factor(0.0123).text, "0.0123x"));
    cr_assert(eq(str, format_number(5.96e-8).text, "5.96e-08"));
}

static cell product(const json_t *row)
{
    cell c;
    snprintf(c.text, sizeof c.text, "%g", json_number_value(json_object_get(row, "a")) * 2);
    return c;
}

Test(columns, every_form)
{
    static const struct {
        column column;
        const char *text;
        bool number;
    } cases[] = {
        {{.title = "", .key = "name"}, "sort", false},
        {{.title = "", .key = "shape"}, "4x3", false},
        {{.title = "", .key = "yes"}, "yes", false},
        {{.title = "", .key = "a"}, "0.0202", false},
        {{.title = "", .key = "large"}, "1048576", false},
        {{.title = "", .key = "none"}, "-", false},
        {{.title = "", .key = "missing"}, "-", false},
        {{.title = "", .key = "check"}, "-", false},
        {{.title = "", .key = "a", .as = AS_SECONDS}, "20.2 ms", true},
        {{.title = "", .key = "none", .as = AS_SECONDS}, "-", true},
        {{.title = "", .key = "name", .as = AS_SECONDS}, "-", true},
        {{.title = "", .key = "name", .as = AS_NUMBER}, "sort", true},
        {{.title = "", .key = "name.a", .as = AS_SECONDS}, "-", true},
        {{.title = "", .key = "large", .as = AS_BYTES}, "1.00 MiB", true},
        {{.title = "", .key = "large", .as = AS_BYTE_RATE}, "1.05 MB/s", true},
        {{.title = "", .key = "large", .as = AS_FLOP_RATE}, "1.05 MFLOP/s", true},
        {{.title = "", .key = "large", .as = AS_NUMBER}, "1048576", true},
        {{.title = "", .key = "check.max_abs", .as = AS_NUMBER}, "1.23e-08", true},
        {{.title = "", .key = "rate", .as = AS_COUNT}, "1235", true},
        {{.title = "", .key = "shape", .as = AS_COUNT}, "2", true},
        {{.title = "", .key = "rate", .as = AS_FACTOR}, "1235x", true},
        {{.title = "", .key = "a", .as = AS_PART}, "2.02 %", true},
        {{.title = "", .key = "a", .as = AS_PERCENTAGE}, "0.0202 %", true},
        {{.title = "", .key = "rate", .as = AS_PERCENTAGE}, "1235 %", true},
        {{.title = "", .key = "block", .as = AS_BLOCK}, "16x8", false},
        {{.title = "", .key = "missing", .as = AS_BLOCK}, "-", false},
        {{.title = "", .key = "check", .as = AS_CHECK}, "WRONG at [3, 4]", false},
        {{.title = "", .as = AS_NUMBER, .make = product}, "0.0404", true},
    };
    json_t *row = json_pack("{s:s, s:[i,i], s:b, s:f, s:i, s:n, s:f, s:[i,i,i], s:{s:b, s:f, s:[i,i]}}", "name", "sort",
                            "shape", 4, 3, "yes", 1, "a", 0.0202, "large", 1 << 20, "none", "rate", 1234.56, "block",
                            16, 8, 1, "check", "ok", 0, "max_abs", 1.23456e-8, "worst_index", 3, 4);
    cell room;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(eq(str, (char *)column_text(&cases[i].column, row, &room), (char *)cases[i].text), "case %zu", i);
        cr_expect(eq(int, column_is_number(&cases[i].column), cases[i].number), "case %zu", i);
    }
    const column check = {.title = "check", .key = "check", .as = AS_CHECK};
    json_object_set_new(json_object_get(row, "check"), "worst_index", json_null());
    cr_expect(eq(str, (char *)column_text(&check, row, &room), "WRONG"));
    json_object_set_new(json_object_get(row, "check"), "ok", json_true());
    cr_expect(eq(str, (char *)column_text(&check, row, &room), "ok"));
    json_object_set_new(row, "emulation", json_true());
    cr_expect(eq(str, (char *)column_text(&check, row, &room), "ok (emulation)"));
    json_decref(row);
}

static void print_columns(void *style)
{
    static const column columns[] = {
        {.title = "backend", .key = "resource"}, {.title = "time", .key = "t.s", .as = AS_SECONDS}, {0}};
    json_t *rows = json_pack("[{s:s, s:{s:f}}, {s:s}]", "resource", "serial", "t", "s", 1.4, "resource",
                             "a text of any length is printed in full: it comes from the row itself, not out of a cell "
                             "of one hundred and twenty-eight bytes");
    columns_print(columns, rows, *(table_style *)style, stdout);
    json_decref(rows);
}

Test(columns, are_printed_as_text_and_markdown)
{
    table_style style = TABLE_TEXT;
    setenv("COLUMNS", "40", 1); /* the text is wider, and printed in full */
    ended how = run_apart(print_columns, &style);
    cr_assert(eq(int, how.exit_code, 0));
    cr_assert(strncmp(how.out, "backend ", 8) == 0 && strstr(how.out, "twenty-eight bytes      -\n"), "%s", how.out);
    char *first = strchr(how.out, '\n') + 1;
    cr_assert(strncmp(first, "serial ", 7) == 0 && strncmp(strchr(first, '\n') - 6, "1.40 s", 6) == 0, "%s", how.out);
    style = TABLE_MARKDOWN;
    how = run_apart(print_columns, &style);
    static const char lines[] = "| backend | time |\n|---|---:|\n| serial | 1.40 s |\n| a text of any length ";
    cr_assert(strncmp(how.out, lines, strlen(lines)) == 0, "%s", how.out);
}

/* ------------------------------------------------------------------------------------------------------- rows ---- */

static json_t *result(const char *exercise, const char *class, double kernel, double total, int ok, int emulation)
{
    return json_pack("{s:s, s:s, s:f, s:f, s:{s:b}, s:b, s:{s:[f,f,f]}}", "exercise", exercise, "flynn_class", class,
                     "kernel_s", kernel, "total_s", total, "check", "ok", ok, "emulation", emulation, "times_s",
                     "total", total / 2, total, total * 2);
}

Test(rows, rank_and_speed_ups)
{
    json_t *rows =
        json_pack("[o, o, o, o, o, o]", result("sort", "SIMD", 2, 4, 1, 0), result("sort", "SISD", 8, 12, 1, 0),
                  result("sort", "MIMD", 1, 3, 0, 0), result("sort", "SIMT", 1, 2, 1, 1),
                  result("sqrt", "SIMD", 6, 9, 1, 0), result("sqrt", "MIMD", 3, 3, 1, 0));
    static const double expected[][4] = {{1, 1, 4, 3},         {2, 3, 1, 1}, {NAN, NAN, NAN, NAN},
                                         {NAN, NAN, NAN, NAN}, {2, 3, 1, 1}, {1, 1, 2, 3}};
    static const char *const keys[] = {"place", "relative", "speed_up", "speed_up_with_copies"};
    rows_rank(rows);
    json_t *once = json_deep_copy(rows);
    rows_rank(rows);
    cr_assert(json_equal(once, rows));
    for (size_t i = 0; i < 6; i++) {
        const json_t *row = json_array_get(rows, i);
        for (int k = 0; k < 4; k++) {
            double found = row_number(row, keys[k]);
            cr_expect(found == expected[i][k] || (isnan(found) && isnan(expected[i][k])), "row %zu: %s is %g", i,
                      keys[k], found);
            cr_expect(json_object_get(row, keys[k]) != NULL);
        }
        cr_expect(eq(dbl, row_number(row, "spread"), 0.75));
    }
    json_decref(once);
    json_decref(rows);
}

Test(rows, within_others)
{
    json_t *rows = json_pack("[{s:s, s:i, s:{}, s:[{s:i}, {s:i, s:s}]}, {}, i, {s:[i]}]", "resource", "omp", "count", 7,
                             "check", "stages", "count", 1, "n", 2, "resource", "own", 3, "stages", 4);
    json_t *stages = rows_within(rows, "stages"),
           *expected = json_pack("[{s:i, s:s}, {s:i, s:s, s:i}, {}]", "count", 1, "resource", "omp", "n", 2, "resource",
                                 "own", "count", 7);
    cr_assert(json_equal(stages, expected));
    json_decref(stages);
    json_decref(expected);
    json_decref(rows);
}

/* ------------------------------------------------------------------------------------------------ JSON and CSV ---- */

TestSuite(json, .init = scratch_start, .fini = scratch_end);

static char *read_all(const char *name, char *text, size_t size)
{
    FILE *file = fopen(name, "rb");
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
    return text;
}

static json_t *make_document(void)
{
    json_t *document = json_new_object(), *check = json_new_object(), *times = json_new_object();
    json_put(document, "zulu", json_number(0.1));
    json_put(document, "alpha", json_text("a,\"b\"\xff"));
    json_put(document, "bad", json_number(NAN));
    json_put(document, "block", json_wholes((int64_t[]){16, 16}, 2));
    json_put(times, "kernel", json_numbers((double[]){0.5, INFINITY}, 2));
    json_put(document, "times_s", times);
    json_put(check, "ok", json_true());
    json_put(check, "index", json_whole(INT64_MAX));
    json_put(document, "check", check);
    return document;
}

Test(json, order_digits_and_null)
{
    char text[1024];
    problem why;
    json_t *document = make_document();
    cr_assert(json_write(document, "a.json", &why), "%s", why.text);
    json_decref(document);
    cr_assert(
        eq(str, read_all("a.json", text, sizeof text),
           "{\n  \"zulu\": 0.10000000000000001,\n  \"alpha\": \"a,\\\"b\\\"?\",\n  \"bad\": null,\n"
           "  \"block\": [\n    16,\n    16\n  ],\n  \"times_s\": {\n    \"kernel\": [\n      0.5,\n      null\n    ]\n"
           "  },\n  \"check\": {\n    \"ok\": true,\n    \"index\": 9223372036854775807\n  }\n}\n"));
    cr_assert(eq(int, scratch_count(), 1));
}

Test(json, csv)
{
    char text[1024];
    problem why;
    json_t *results = json_new_list(), *other = json_new_object();
    json_append(results, make_document());
    json_put(other, "alpha", json_text("two\nlines"));
    json_put(other, "more", json_text("x"));
    json_append(results, other);
    cr_assert(csv_write(results, "a.csv", &why), "%s", why.text);
    cr_assert(eq(str, read_all("a.csv", text, sizeof text),
                 "zulu,alpha,bad,block,check.ok,check.index,more\n"
                 "0.10000000000000001,\"a,\"\"b\"\"?\",,16x16,true,9223372036854775807,\n"
                 ",two\\nlines,,,,,x\n"));
    cr_assert(not(csv_write(results, "/dev/full", &why)));
    cr_assert(not(json_write(results, "missing/a.json", &why)));
    cr_assert(eq(int, why.exit_code, 4));
    json_decref(results);
}

Test(json, machine)
{
    cpu_set_t set;
    cr_assert(sched_getaffinity(0, sizeof set, &set) == 0);
    setenv("SLURM_JOB_ID", "4711", 1);
    json_t *machine = machine_describe();
    cr_assert(json_integer_value(json_object_get(machine, "threads")) == CPU_COUNT(&set));
    cr_assert(json_integer_value(json_object_get(machine, "memory_bytes")) > 1 << 20);
    cr_assert(eq(str, (char *)json_string_value(json_object_get(json_object_get(machine, "slurm"), "job_id")), "4711"));
    static const char *const texts[] = {"host", "processor", "os", "kernel", "compiler", "version"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert(json_string_length(json_object_get(machine, texts[i])) > 0, "%s", texts[i]);
    cr_assert(json_object_get(machine, "gpu") == json_null());
    json_decref(machine);
    unsetenv("SLURM_JOB_ID");
    machine = machine_describe();
    cr_assert(json_object_get(machine, "slurm") == json_null());
    json_decref(machine);
}

/* -------------------------------------------------------------------------------------------------------- text ---- */

Test(text, control_characters_are_shown)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"a b\\~", "a b\\~"},
        {"\x01\x1b[2J\x1f\x7f", "\\x01\\x1b[2J\\x1f\\x7f"},
        {"a\nb\tc\r", "a\\nb\\x09c\\x0d"},
        {"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\u0080\\u009b\\u009f\xc2\xa0"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\x9b\xff\xc3", "\\x9b\\xff\\xc3"},                                     /* alone */
        {"\xc0\x9b\xe0\x80\x9b", "\\xc0\\x9b\\xe0\\x80\\x9b"},                   /* ESC, too long */
        {"\xed\xa0\x80\xf4\x90\x80\x80", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"}, /* no letters */
        {"\xe2\x82", "\\xe2\\x82"},
    };
    char shown[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text_show(shown, sizeof shown, cases[i].text);
        cr_assert(eq(str, shown, (char *)cases[i].shown));
    }
    text_show(shown, 8, "1234\x1bzz"); /* what does not fit is left out whole */
    cr_assert(eq(str, shown, "1234"));
    problem why;
    problem_set(&why, EXIT_BAD_INPUT, "%s: none", "a\x1b\n");
    cr_assert(eq(str, why.text, "a\\x1b\\n: none"));
}

static void print_names(void *unused)
{
    (void)unused;
    text_print("%s and %d\n", "a\nb\x1b", 3);
    text_print("part, ");
    text_print("rest\n");
}

Test(text, only_the_formats_own_line_end_is_one)
{
    ended how = run_apart(print_names, NULL);
    cr_assert(eq(str, how.out, "a\\nb\\x1b and 3\npart, rest\n"));
}

/* ----------------------------------------------------------------------------------------------- memory streams ----
 */

Test(memory, a_stream_keeps_all)
{
    char *text;
    size_t size;
    FILE *stream = memory_stream(&text, &size);
    for (int i = 0; i < 30000; i++)
        fprintf(stream, "%06d", i);
    fclose(stream);
    cr_assert(eq(sz, size, 180000));
    cr_assert(eq(sz, strlen(text), size));
    for (int i = 0; i < 30000; i++)
        cr_assert(atoi(strndupa(text + 6 * i, 6)) == i);
    free(text);
    fclose(memory_stream(&text, &size));
    cr_assert(eq(sz, size, 0));
    cr_assert(eq(str, text, ""));
    free(text);
}

static void write_too_much(void *unused)
{
    (void)unused;
    static const char block[1 << 16];
    volatile size_t much = (size_t)1 << 61;
    char *text;
    size_t size;
    FILE *stream = memory_stream(&text, &size);
    fwrite(block, 1, much, stream);
    fclose(stream);
}

Test(memory, a_stream_without_memory_ends_the_command)
{
    ended how = run_apart(write_too_much, NULL);
    cr_assert(eq(int, how.exit_code, EXIT_BROKEN), "%s", how.err);
    cr_assert(strstr(how.err, "out of host memory") != NULL && is_one_line(how.err), "%s", how.err);
}

/* ------------------------------------------------------------------------------------------------------- paths ---- */

typedef struct claimed {
    path_use use, other_use;
    const char *path, *other;
    bool refused;
} claimed;

static void claim_both(void *both)
{
    const claimed *c = both;
    path_claim(c->use, c->path, "the first");
    path_claim(c->other_use, c->other, "the second");
}

Test(paths, uses_that_destroy_each_other, .init = scratch_start, .fini = scratch_end)
{
    static claimed cases[] = {
        {PATH_READ, PATH_READ, "a", "a", false},
        {PATH_FIRST, PATH_READ, "a", "a", false},
        {PATH_FIRST, PATH_RESULT, "a", "a", false},
        {PATH_RESULT, PATH_FIRST, "a", "a", false},
        {PATH_READ, PATH_RESULT, "a", "a", true},
        {PATH_FIRST, PATH_WRITTEN, "a", "a", true},
        {PATH_WRITTEN, PATH_READ, "a", "a", true},
        {PATH_RESULT, PATH_WRITTEN, "a", "a", true},
        {PATH_WRITTEN, PATH_WRITTEN, "a", "b", false},
        {PATH_WRITTEN, PATH_WRITTEN, "a", "hard", true},
        {PATH_WRITTEN, PATH_WRITTEN, "new", "./new", true},
        {PATH_WRITTEN, PATH_WRITTEN, "new", "folder/../new", true},
        {PATH_WRITTEN, PATH_WRITTEN, "new", "dangling", true},
        {PATH_WRITTEN, PATH_WRITTEN, "new", "folder/dangling", true},
        {PATH_WRITTEN, PATH_WRITTEN, "new", "folder/new", false},
        {PATH_WRITTEN, PATH_WRITTEN, "new", "new2", false},
        {PATH_WRITTEN, PATH_WRITTEN, "to/come/new", "to//./come/x/../new", true},
        {PATH_WRITTEN, PATH_WRITTEN, "to/come", "to/come/new", false},
        {PATH_WRITTEN, PATH_WRITTEN, "loop", "loop", false}, /* cannot be opened */
        {PATH_WRITTEN, PATH_WRITTEN, "/dev/null", "/dev/null", false},
        {PATH_WRITTEN, PATH_WRITTEN, "pipe", "pipe", false},
    };
    mkdir("folder", 0777);
    scratch_write("a", "x", 1);
    scratch_write("b", "x", 1);
    cr_assert(link("a", "hard") == 0 && symlink("new", "dangling") == 0 && symlink("loop", "loop") == 0 &&
              symlink("../dangling", "folder/dangling") == 0 && mkfifo("pipe", 0666) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ended how = run_apart(claim_both, &cases[i]);
        cr_assert(eq(int, how.exit_code, cases[i].refused ? EXIT_BAD_INPUT : 0), "%s, %s: %s", cases[i].path,
                  cases[i].other, how.err);
        if (cases[i].refused)
            cr_assert(eq(str, how.err, "flynn: the first and the second are the same file; expected different ones\n"));
    }
}

/* ----------------------------------------------------------------------------------------------------- failing ---- */

static void fail_with_status(void *status)
{
    fail_set_command("flynn convolve");
    note("a remark");
    fail_set_quiet(true);
    note("not this one");
    must(FL_OK);
    fail(exit_code_of(*(fl_status *)status), "two\nlines");
}

Test(fail, exit_codes_and_lines)
{
    static const int codes[] = {0, 2, 2, 2, 2, 3, 2, 4, 4, 2};
    for (int s = FL_OK; s <= FL_E_SOURCE; s++) {
        fl_status status = (fl_status)s;
        ended how = run_apart(fail_with_status, &status);
        cr_assert(eq(int, how.exit_code, codes[s]), "%s", fl_status_name(status));
        cr_assert(eq(str, how.err, "flynn convolve: a remark\nflynn convolve: two\\nlines\n"));
        cr_assert(eq(str, how.out, ""));
    }
}
