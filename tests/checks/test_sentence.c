/* SPDX-License-Identifier: MIT
 *
 * test_sentence.c - what is said above a table of made rows. Medians and quartiles are those of numpy.percentile.
 */
#include "batch/columns.h"
#include "laws/sentences.h"
#include "sweep/show.h"
#include "view/sentence.h"
#include "view/json.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 5 };

/* Samples at 1 - 2 s, 1 - s, 1, 1 + s and 1 + 2 s times the median; the quartiles are those at 1 - s and 1 + s. */
static json_t *samples(double median, double spread)
{
    double list[SAMPLES];

    for (int i = 0; i < SAMPLES; i++)
        list[i] = median * (1 + (i - 2) * spread);
    return json_numbers(list, SAMPLES);
}

typedef struct made {
    const char *resource;
    double kernel;                  /* the median in ms */
    double total;                   /* 0: the same; what is more is copies */
    double spread;                  /* 0: 1 % */
    const char *exercise, *variant; /* NULL: sort, naive */
    const char *dtype;
    enum { RIGHT, WRONG, UNCHECKED } check;
    bool emulation, noisy;
    int block, size;
} made;

static json_t *make_row(const made *m)
{
    const double kernel = 1e-3 * m->kernel, total = m->total ? 1e-3 * m->total : kernel,
                 spread = m->spread ? m->spread : 0.01;
    json_t *row = json_new_object(), *times = json_new_object(), *check = json_new_object();

    json_put(row, "exercise", json_text(m->exercise ? m->exercise : "sort"));
    json_put(row, "resource", json_text(m->resource));
    json_put(row, "dtype", json_text(m->dtype));
    json_put(row, "shape", json_wholes((int64_t[]){m->size}, 1));
    json_put(row, "variant", json_text(m->variant ? m->variant : "naive"));
    json_put(row, "block", json_wholes((int64_t[]){m->block, m->block ? 1 : 0, m->block ? 1 : 0}, 3));
    json_put(row, "emulation", json_boolean(m->emulation));
    json_put(row, "disturbed", json_text(m->noisy ? "other programs took the processor" : NULL));
    json_put(row, "kernel_s", json_number(kernel));
    json_put(row, "total_s", json_number(total));
    json_put(row, "h2d_s", json_number((total - kernel) / 2));
    json_put(row, "d2h_s", json_number((total - kernel) / 2));
    json_put(times, "kernel", samples(kernel, spread));
    json_put(times, "total", samples(total, spread));
    json_put(row, "times_s", times);
    json_put(check, "ok", m->check == UNCHECKED ? json_null() : json_boolean(m->check == RIGHT));
    json_put(row, "check", check);
    return row;
}

/* Sentences, which are freed, as lines; to be freed. */
static char *joined(json_t *sentences)
{
    const json_t *one;
    char *text = calloc(1, 4096);
    size_t i;

    json_array_foreach(sentences, i, one)
    {
        strcat(text, json_string_value(one));
        strcat(text, "\n");
    }
    json_decref(sentences);
    return text;
}

static char *lines_of(const json_t *rows)
{
    return joined(sentences_of(rows));
}

static void expect_joined(json_t *sentences, const char *expected)
{
    char *said = joined(sentences);

    cr_expect(strcmp(said, expected) == 0, "expected\n%sgot\n%s", expected, said);
    free(said);
}

/* The rows say so, and say the same when they come from a file. */
static void expect(const made *list, int count, const char *expected)
{
    json_t *rows = json_new_list();

    for (int i = 0; i < count; i++)
        json_append(rows, make_row(&list[i]));
    char *saved = json_dumps(rows, JSON_REAL_PRECISION(17)), *said = lines_of(rows);
    json_t *loaded = json_loads(saved, 0, NULL);
    char *again = lines_of(loaded);
    cr_expect(strcmp(said, expected) == 0, "expected\n%sgot\n%s", expected, said);
    cr_expect(strcmp(again, expected) == 0, "from a file: expected\n%sgot\n%s", expected, again);
    free(said);
    free(again);
    free(saved);
    json_decref(rows);
    json_decref(loaded);
}
#define EXPECT(text, ...) expect((const made[]){__VA_ARGS__}, sizeof((made[]){__VA_ARGS__}) / sizeof(made), text)

/* A row of that device, and what else it has. */
#define ROW(...) \
    { \
        .resource = __VA_ARGS__ \
    }

/* 12 and 36 ms, quartiles at 1/12 and at 1/12 of them: 3 (1 +- sqrt(2) / 12), which is 3 +- 0.354. */
Test(sentence, the_fastest_is_named_with_its_uncertainty)
{
    EXPECT("both results are right\n"
           "omp:2:v4 is the fastest: 3.0 +- 0.4 times as fast as serial\n",
           ROW("serial", .kernel = 36, .spread = 1. / 12), ROW("omp:2:v4", .kernel = 12, .spread = 1. / 12));
    /* of three the next one: 20 / 10 (1 +- 0.01 sqrt(2)) = 2 +- 0.028 */
    EXPECT("all 3 results are right\n"
           "omp:2:v4 is the fastest: 2.00 +- 0.03 times as fast as simd:v4\n",
           ROW("serial", .kernel = 80), ROW("omp:2:v4", .kernel = 10), ROW("simd:v4", .kernel = 20));
    /* 811 (1 +- 0.02 sqrt(2)) = 811 +- 22.9; 1.05 (1 +- 0.0001 sqrt(2)) has a spread below what is shown */
    EXPECT("both results are right\nomp is the fastest: 811 +- 23 times as fast as serial\n", //
           ROW("serial", .kernel = 811, .spread = 0.02), ROW("omp", .kernel = 1, .spread = 0.02));
    EXPECT("both results are right\nomp is the fastest: 1.050 +- 0.001 times as fast as serial\n",
           ROW("serial", .kernel = 1.05, .spread = 0.0001), ROW("omp", .kernel = 1, .spread = 0.0001));
}

Test(sentence, within_the_spreads_nobody_is_the_fastest)
{
    EXPECT("both results are right\n"
           "no clear winner: serial and omp differ by less than their spreads\n",
           ROW("serial", .kernel = 1.1, .spread = 0.06), ROW("omp", .kernel = 1, .spread = 0.06));
    /* 0.94 .. 1.06 and 1.04 .. 1.16 meet; 2 ms is away from both */
    EXPECT("all 3 results are right\n"
           "no clear winner: serial and omp differ by less than their spreads\n",
           ROW("serial", .kernel = 1.1, .spread = 0.06), ROW("simd", .kernel = 2, .spread = 0.06),
           ROW("omp", .kernel = 1, .spread = 0.06));
    /* apart, but by less than 2 % */
    EXPECT("both results are right\n"
           "no clear winner: serial and omp differ by less than their spreads\n",
           ROW("serial", .kernel = 1.01, .spread = 0.0001), ROW("omp", .kernel = 1, .spread = 0.0001));
}

Test(sentence, one_row_says_nothing)
{
    EXPECT("", ROW("serial", .kernel = 1));
    expect(NULL, 0, "");
}

Test(sentence, what_is_right)
{
    EXPECT("both results are wrong\n", ROW("serial", .kernel = 1, .check = WRONG),
           ROW("omp", .kernel = 2, .check = WRONG));
    EXPECT("all 3 results are wrong\n", ROW("serial", .kernel = 1, .check = WRONG),
           ROW("omp", .kernel = 2, .check = WRONG), ROW("simd", .kernel = 2, .check = WRONG));
    /* the wrong one would be the fastest */
    EXPECT("2 of 3 results are right; wrong: omp\n"
           "simd is the fastest: 4.00 +- 0.06 times as fast as serial\n",
           ROW("serial", .kernel = 8), ROW("omp", .kernel = 1, .check = WRONG), ROW("simd", .kernel = 2));
    EXPECT("1 of 2 results is right; wrong: omp\n", ROW("serial", .kernel = 8),
           ROW("omp", .kernel = 1, .check = WRONG));
    EXPECT("1 of 2 results is right, 1 is not checked\n", ROW("serial", .kernel = 8),
           ROW("hip-cpu:0", .kernel = 1, .check = UNCHECKED));
    EXPECT("neither result is checked\n", ROW("serial", .kernel = 8, .check = UNCHECKED),
           ROW("hip-cpu:0", .kernel = 1, .check = UNCHECKED));
    EXPECT("none of the 3 results is checked\n", ROW("serial", .kernel = 8, .check = UNCHECKED),
           ROW("omp", .kernel = 2, .check = UNCHECKED), ROW("simd", .kernel = 4, .check = UNCHECKED));
    EXPECT("0 of 6 results are right, 1 is not checked; wrong: b, a, c and 2 others\n",
           ROW("b", .kernel = 1, .check = WRONG), ROW("a", .kernel = 1, .check = WRONG),
           ROW("c", .kernel = 1, .check = WRONG), ROW("d", .kernel = 1, .check = WRONG),
           ROW("e", .kernel = 1, .check = WRONG), ROW("f", .kernel = 1, .check = UNCHECKED));
}

Test(sentence, an_emulation_is_never_ranked)
{
    EXPECT("all 3 results are right\n"
           "simd is the fastest: 4.00 +- 0.06 times as fast as serial\n",
           ROW("serial", .kernel = 8), ROW("simd", .kernel = 2), ROW("hip-cpu:0", .kernel = 1, .emulation = true));
    EXPECT("both results are right\n", ROW("serial", .kernel = 8), ROW("hip-cpu:0", .kernel = 1, .emulation = true));
}

Test(sentence, noisy_rows_are_never_the_fastest)
{
    /* a noisy row that may be faster, and one that is not */
    EXPECT("all 3 results are right\n"
           "simd is the fastest of those that are steady: 4.00 +- 0.06 times as fast as serial\n"
           "noisy, and not ranked: omp\n",
           ROW("serial", .kernel = 8), ROW("simd", .kernel = 2), ROW("omp", .kernel = 1, .noisy = true));
    EXPECT("all 3 results are right\n"
           "simd is the fastest: 4.00 +- 0.06 times as fast as serial\n"
           "noisy, and not ranked: omp\n",
           ROW("serial", .kernel = 8), ROW("simd", .kernel = 2), ROW("omp", .kernel = 50, .noisy = true));
    EXPECT("both results are right\n"
           "too noisy to say which is the fastest: simd\n",
           ROW("serial", .kernel = 8), ROW("simd", .kernel = 2, .noisy = true));
    EXPECT("both results are right\n"
           "too noisy to say which is the fastest: serial and simd\n",
           ROW("serial", .kernel = 8, .noisy = true), ROW("simd", .kernel = 2, .noisy = true));
}

#define GPU(ms, all) ROW("hip-nvidia:0", .kernel = ms, .total = all, .exercise = "convolve")
#define CORES(ms) ROW("omp:16:v4", .kernel = ms, .exercise = "convolve")

Test(sentence, copies_may_turn_the_order_round)
{
    /* 40 / 1 (1 +- 0.0141) and 50 / 40: 49 of the GPU's 50 ms are copies */
    EXPECT("both results are right\n"
           "hip-nvidia:0 is the fastest by the kernel: 40.0 +- 0.6 times as fast as omp:16:v4\n"
           "omp:16:v4 is the fastest with the copies: 1.25 +- 0.02 times as fast as hip-nvidia:0\n"
           "98 % of the 50.0 ms of hip-nvidia:0 is not the kernel: keep the data on the device (`flynn slice`)\n",
           CORES(40), GPU(1, 50));
    /* it stays the fastest, but copies take most of its time */
    EXPECT("both results are right\n"
           "hip-nvidia:0 is the fastest by the kernel: 40.0 +- 0.6 times as fast as omp:16:v4\n"
           "with the copies it is, too: 2.00 +- 0.03 times as fast as omp:16:v4\n"
           "95 % of the 20.0 ms of hip-nvidia:0 is not the kernel: keep the data on the device (`flynn slice`)\n",
           CORES(40), GPU(1, 20));
    EXPECT("both results are right\n"
           "hip-nvidia:0 is the fastest by the kernel: 4.00 +- 0.06 times as fast as omp:16:v4\n"
           "with the copies it is, too: 2.67 +- 0.04 times as fast as omp:16:v4\n",
           CORES(40), GPU(10, 15));
    EXPECT("both results are right\n"
           "hip-nvidia:0 is the fastest by the kernel: 4.00 +- 0.06 times as fast as omp:16:v4\n"
           "no clear winner with the copies: omp:16:v4 and hip-nvidia:0 differ by less than their spreads\n"
           "75 % of the 40.0 ms of hip-nvidia:0 is not the kernel: keep the data on the device (`flynn slice`)\n",
           CORES(40), GPU(10, 40));
}

Test(sentence, of_few_samples_no_spread_is_known)
{
    json_t *rows = json_new_list();
    const made two[] = {ROW("serial", .kernel = 8), ROW("simd", .kernel = 2)};

    for (int i = 0; i < 2; i++) {
        json_t *row = make_row(&two[i]);
        json_put(json_object_get(row, "times_s"), "total", json_numbers((double[]){1e-3 * two[i].kernel}, 1));
        json_append(rows, row);
    }
    char *said = lines_of(rows);
    cr_expect(strcmp(said, "both results are right\nsimd was the fastest: 4 times as fast as serial, in fewer than 3 "
                           "passes, of which no spread is known\n") == 0,
              "got\n%s", said);
    free(said);
    json_decref(rows);
}

Test(sentence, rows_have_the_shortest_name_that_tells_them_apart)
{
    EXPECT("both results are right\n"
           "tiled is the fastest: 4.00 +- 0.06 times as fast as naive\n",
           ROW("simd", .kernel = 8, .variant = "naive"), ROW("simd", .kernel = 2, .variant = "tiled"));
    EXPECT("all 3 results are right\n"
           "simd tiled is the fastest: 2.00 +- 0.03 times as fast as serial tiled\n",
           ROW("simd", .kernel = 8, .variant = "naive"), ROW("simd", .kernel = 2, .variant = "tiled"),
           ROW("serial", .kernel = 4, .variant = "tiled"));
    EXPECT("both results are right\n"
           "tiled, block 16 is the fastest: 4.00 +- 0.06 times as fast as tiled, block 8\n",
           ROW("simd", .kernel = 8, .variant = "tiled", .block = 8),
           ROW("simd", .kernel = 2, .variant = "tiled", .block = 16));
}

/* An H200 and its host; numpy.percentile of its samples: 51.59 (1 +- 0.4633) and 1.3444 (1 +- 0.1124). */
Test(sentence, of_a_saved_document)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/tests/data/saved/compare.json", getenv("FLYNN_SOURCE"));
    json_t *document = json_load_file(path, 0, NULL), *rows = json_object_get(document, "results"),
           *convolve = json_new_list(), *row;
    size_t i;
    cr_assert(rows);
    json_array_foreach(rows, i, row) if (strcmp(json_string_value(json_object_get(row, "exercise")), "convolve") == 0)
        json_append(convolve, json_incref(row));
    char *said = lines_of(convolve), *all = lines_of(rows);
    cr_expect(strcmp(said, "all 4 results are right\n"
                           "hip-nvidia:0 is the fastest by the kernel: 52 +- 24 times as fast as omp:16:v4\n"
                           "with the copies it is, too: 1.3 +- 0.2 times as fast as omp:16:v4\n"
                           "97.2 % of the 1.28 ms of hip-nvidia:0 is not the kernel: keep the data on the device "
                           "(`flynn slice`)\n") == 0,
              "got\n%s", said);
    cr_expect(strcmp(all, "all 12 results are right\n"
                          "fastest kernel: hip-nvidia:0 in 3 of 3 exercises\n"
                          "fastest with the copies: hip-nvidia:0 in 2, no clear winner in 1 of 3 exercises\n") == 0,
              "got\n%s", all);
    free(said);
    free(all);
    json_decref(convolve);
    json_decref(document);
}

Test(sentence, several_exercises_are_counted)
{
    EXPECT("9 of 10 results are right; wrong: sqrt on serial\n"
           "fastest: simd in 2, omp in 1, no clear winner in 1 of 4 exercises\n",
           ROW("serial", .kernel = 8), ROW("omp", .kernel = 2), ROW("serial", .kernel = 8, .exercise = "scan"),
           ROW("simd", .kernel = 2, .exercise = "scan"), ROW("serial", .kernel = 8, .exercise = "select"),
           ROW("simd", .kernel = 2, .exercise = "select"), ROW("serial", .kernel = 8, .exercise = "reduce"),
           ROW("simd", .kernel = 8, .exercise = "reduce"),
           ROW("serial", .kernel = 8, .exercise = "sqrt", .check = WRONG),
           ROW("simd", .kernel = 8, .exercise = "sqrt"));
    EXPECT("all 6 results are right\n"
           "fastest: simd in 1, too noisy in 2 of 3 exercises\n",
           ROW("serial", .kernel = 8), ROW("simd", .kernel = 2), ROW("serial", .kernel = 8, .exercise = "scan"),
           ROW("simd", .kernel = 2, .exercise = "scan", .noisy = true),
           ROW("serial", .kernel = 8, .exercise = "select", .noisy = true),
           ROW("simd", .kernel = 8, .exercise = "select", .noisy = true));
    /* of several documents: two sizes, two dtypes */
    EXPECT("all 6 results are right\n"
           "fastest: simd in 2, omp in 1 of 3 cases\n",
           ROW("serial", .kernel = 8, .size = 100), ROW("simd", .kernel = 2, .size = 100),
           ROW("serial", .kernel = 80, .size = 1000), ROW("omp", .kernel = 20, .size = 1000),
           ROW("serial", .kernel = 9, .size = 100, .dtype = "f64"),
           ROW("simd", .kernel = 3, .size = 100, .dtype = "f64"));
    EXPECT("all 4 results are right\n"
           "fastest kernel: hip-nvidia:0 in 2 of 2 exercises\n"
           "fastest with the copies: omp:16:v4 in 1, hip-nvidia:0 in 1 of 2 exercises\n",
           CORES(40), GPU(1, 50), ROW("omp:16:v4", .kernel = 40), ROW("hip-nvidia:0", .kernel = 1, .total = 20));
}

/* Rows of slices: the time to the host decides, not that of packing. */
static json_t *make_slices(const made *list, int count, const char *const *slices)
{
    json_t *rows = json_new_list();

    for (int i = 0; i < count; i++) {
        json_t *row = make_row(&list[i]);
        json_put(row, "slice", json_text(slices[i]));
        json_append(rows, row);
    }
    return rows;
}

Test(sentence, of_slices_each_way_wins_some)
{
#define WAY(name, ms, noise) ROW("serial", .variant = name, .kernel = 0.1, .total = ms, .noisy = noise)
    const made list[] = {WAY("whole", 8, false), WAY("view", 2, false), WAY("whole", 8, false), WAY("view", 9, false),
                         WAY("whole", 8, false), WAY("view", 8, false), WAY("whole", 8, false), WAY("view", 1, true)};
    json_t *rows = make_slices(list, 8, (const char *const[]){"a", "a", "b", "b", "c", "c", "d", "d"}),
           *one = make_slices(list, 2, (const char *const[]){"a", "a"});

    expect_joined(sentences_by(rows, "total", "slice", "slices"),
                  "fastest: view in 1, whole in 1, no clear winner in 1, too noisy in 1 of 4 slices\n");
    expect_joined(sentences_by(one, "total", "slice", "slices"),
                  "view is the fastest: 4.00 +- 0.06 times as fast as whole\n");
    json_decref(rows);
    json_decref(one);
}

/* A run of a batch: `passes` equal ones; 0: three that vary by more than half. */
static json_t *make_run(const char *pipeline, double wall, int passes, int done, int failed, int dropped)
{
    const double same[] = {wall, wall, wall, wall}, apart[] = {wall / 4, wall, 4 * wall};
    json_t *times = passes ? json_numbers(same, passes) : json_numbers(apart, 3);

    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:{s:b}, s:b, s:f, s:o, s:s, s:s, s:f, s:[]}", "resource",
                     "simd:v4", "pipeline", pipeline, "done", done, "failed", failed, "dropped", dropped,
                     "already_there", 0, "check", "ok", failed == 0, "emulation", 0, "wall_s", wall, "times_s", times,
                     "bound", "CPU", "bound_by", "decompose", "bound_utilization", 0.97, "stages");
}

static void expect_batch(const char *expected, json_t *runs)
{
    json_t *batch = json_pack("{s:s, s:i, s:o}", "source", "images", "count", 6, "runs", runs);

    batch_add_derived(batch);
    expect_joined(batch_sentences(batch), expected);
    json_decref(batch);
}

Test(sentence, of_a_batch)
{
    expect_batch("all 6 images are right\nthe busiest is decompose (CPU), 97 % of the time\n",
                 json_pack("[o]", make_run("full", 1, 1, 6, 0, 0)));
    expect_batch("4 of 6 images are right, 2 failed\nthe busiest is decompose (CPU), 97 % of the time\n",
                 json_pack("[o]", make_run("full", 1, 1, 4, 2, 0)));
    expect_batch("all 6 images are right\n", json_pack("[o]", make_run("full", 1, 0, 6, 0, 0)));
    expect_batch("all 3 results are right\n"
                 "full is the fastest: 2.000 +- 0.001 times as fast as pinned\n",
                 json_pack("[o, o, o]", make_run("one-by-one", 8, 4, 6, 0, 0), make_run("pinned", 4, 4, 6, 0, 0),
                           make_run("full", 2, 4, 6, 0, 0)));
    /* a noisy run, and one that ended early and so took less time */
    expect_batch("all 4 results are right\n"
                 "pinned is the fastest of those that are steady: 2.000 +- 0.001 times as fast as one-by-one\n"
                 "noisy, and not ranked: full\n",
                 json_pack("[o, o, o, o]", make_run("one-by-one", 8, 4, 6, 0, 0), make_run("pinned", 4, 4, 6, 0, 0),
                           make_run("full", 2, 0, 6, 0, 0), make_run("streams", 1, 4, 3, 0, 3)));
}

/* A point of a law; noise of the first one is in every speed-up. */
static json_t *make_point(int n, double speed_up, double spread, bool noisy, bool speed_up_noisy)
{
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:o, s:b}", "n", n, "speed_up", speed_up, "speed_up_spread", spread,
                     "efficiency", speed_up / n, "spread", 0.1, "disturbed", json_text(noisy ? "others" : NULL),
                     "speed_up_disturbed", speed_up_noisy);
}

static void expect_laws(const char *expected, const char *kind, json_t *points)
{
    json_t *laws = json_pack("{s:s, s:b, s:o}", "unit", "threads", "emulation", 0, kind, points);

    expect_joined(laws_sentences(laws), expected);
    json_put(laws, "emulation", json_boolean(true));
    expect_joined(laws_sentences(laws), "");
    json_decref(laws);
}

Test(sentence, of_laws)
{
    json_t *const one = make_point(1, 1, 0, false, false), *const two = make_point(2, 1.9, 0.2, false, false);

    expect_laws("strong scaling: 4 threads are the fastest, 3.10 +- 0.12 times as fast as 1 (77.5 % of n)\n", "strong",
                json_pack("[O, O, o]", one, two, make_point(4, 3.1, 0.12, false, false)));
    expect_laws(
        "weak scaling: 4 threads get the most done, 3.10 +- 0.12 times as much as 1 in the same time (77.5 % of "
        "n)\n",
        "weak", json_pack("[O, O, o]", one, two, make_point(4, 3.1, 0.12, false, false)));
    /* 1.9 + 0.1 reaches 2.1 - 0.2 */
    expect_laws("strong scaling: 3 threads are the fastest, 2.10 +- 0.40 times as fast as 1 (70 % of n); 2 may be as "
                "good\n",
                "strong", json_pack("[O, O, o]", one, two, make_point(3, 2.1, 0.4, false, false)));
    expect_laws(
        "strong scaling: no number of threads is faster than 1: 2 threads are 0.70 +- 0.10 times as fast\n", "strong",
        json_pack("[O, o, o]", one, make_point(2, 0.7, 0.1, false, false), make_point(4, 0.5, 0.1, false, false)));
    expect_laws("batches: no batch gets clearly more done than 1: 2 at once get 1.02 +- 0.10 times as much done\n",
                "batch", json_pack("[O, o]", one, make_point(2, 1.02, 0.1, false, false)));
    /* the best one is noisy, then the first one */
    expect_laws(
        "strong scaling: 2 threads are the fastest, 1.90 +- 0.20 times as fast as 1 (95 % of n); noisy, and not "
        "ranked: n = 4\n",
        "strong", json_pack("[O, O, o]", one, two, make_point(4, 3.1, 0.12, true, true)));
    expect_laws("strong scaling: too noisy to say how it grows; noisy, and not ranked: n = 1\n", "strong",
                json_pack("[o, o]", make_point(1, 1, 0, true, true), make_point(2, 1.9, 0.2, false, true)));
    expect_laws("", "strong", json_pack("[O]", one));
    json_decref(one);
    json_decref(two);
}

/* A row of a sweep; `gpu`: a device with copies. */
static json_t *make_swept(const char *resource, bool gpu, int size, double total, bool noisy, bool emulation)
{
    json_t *row = make_row(
        &(made){.resource = resource, .kernel = total / 2, .total = total, .noisy = noisy, .emulation = emulation});

    json_put(row, "size", json_whole(size));
    json_put(row, "elements", json_whole(size));
    json_put(row, "host_memory", json_text(gpu ? "pinned" : "in place"));
    return row;
}

/* Totals of hip at sizes 1000, 10 and 100, of which only those that are not 0 exist, and of two processors, the faster
 * of which takes 8 ms at each size. */
static void expect_pays(const char *expected, const double *hip, bool noisy)
{
    static const int sizes[] = {1000, 10, 100};
    json_t *rows = json_new_list();

    for (int i = 0; i < 3; i++) {
        json_append(rows, make_swept("serial", false, sizes[i], 80, false, false));
        json_append(rows, make_swept("omp", false, sizes[i], 8, false, false));
        json_append(rows, make_swept("hip-cpu:0", true, sizes[i], 0.1, false, true));
        if (hip[i] > 0)
            json_append(rows, make_swept("hip", true, sizes[i], hip[i], noisy && sizes[i] == 100, false));
    }
    expect_joined(sweep_copies(rows), expected);
    json_decref(rows);
}

/* 8 / 4 (1 +- 0.01 sqrt(2)) = 2 +- 0.028, 8 / 16 = 0.5 +- 0.007, 8 / 32 = 0.25 +- 0.0035. */
Test(sentence, from_which_size_a_gpu_pays)
{
    expect_pays(
        "with the copies hip pays from size 1000 on: there it is 2.00 +- 0.03 times as fast as omp; at 100 it is "
        "0.500 +- 0.007 times as fast as omp\n",
        (const double[]){4, 32, 16}, false);
    expect_pays("with the copies hip pays from size 100 on: there it is 2.00 +- 0.03 times as fast as omp; at 10 it is "
                "0.250 +- 0.004 times as fast as omp\n",
                (const double[]){2, 32, 4}, false);
    /* without the noisy size, and where a larger size does not pay */
    expect_pays(
        "with the copies hip pays from size 1000 on: there it is 4.00 +- 0.06 times as fast as omp; at 10 it is "
        "0.250 +- 0.004 times as fast as omp\n",
        (const double[]){2, 32, 4}, true);
    expect_pays("with the copies hip does not pay at size 1000: it is 0.500 +- 0.007 times as fast as omp\n",
                (const double[]){16, 4, 4}, false);
    expect_pays("with the copies hip pays from the least size on: at 10 it is 2.00 +- 0.03 times as fast as omp\n",
                (const double[]){2, 4, 2}, false);
    expect_pays("with the copies nothing says whether hip pays: no size has steady rows of it and of a processor\n",
                (const double[]){0, 0, 4}, true);
    expect_pays("with the copies: no GPU is among these backends, and processors copy nothing\n",
                (const double[]){0, 0, 0}, false);
}

/* A combination that is slower by less than 2 % is a tie, in the sweep's list as in the sentences. */
Test(sentence, a_sweep_has_the_same_ties)
{
    const made combinations[] = {{.resource = "serial", .kernel = 1, .spread = 0.001, .variant = "tiled"},
                                 {.resource = "serial", .kernel = 1.015, .spread = 0.001, .variant = "naive"},
                                 {.resource = "serial", .kernel = 1.03, .spread = 0.04, .variant = "wide"},
                                 {.resource = "serial", .kernel = 1.03, .spread = 0.001, .variant = "slow"}};
    json_t *document = json_new_object(), *rows = json_new_list();
    const json_t *ties, *one;
    char names[64] = "";
    size_t i;

    for (i = 0; i < sizeof combinations / sizeof *combinations; i++) {
        json_t *row = make_row(&combinations[i]);
        json_put(row, "backend_requested", json_text("serial"));
        json_put(row, "size", json_whole(9));
        json_append(rows, row);
    }
    json_put(document, "results", rows);
    sweep_table_fill(document);
    one = json_array_get(json_object_get(document, "best"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(one, "variant")), "tiled");
    ties = json_object_get(one, "ties");
    json_array_foreach(ties, i, one) snprintf(names + strlen(names), sizeof names - strlen(names), "%s ",
                                              json_string_value(json_object_get(one, "variant")));
    cr_expect_str_eq(names, "naive wide ");
    json_decref(document);
}
