/* SPDX-License-Identifier: MIT
 *
 * flynn svd: the singular value decomposition of an image, and the image as few components describe it.
 */
#include "run/registry.h"

#include "checks/svd.h"
#include "files/files.h"
#include "options/typed.h"
#include "run/distributed.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/units.h"
#include "words/course.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { COURSE_KEEP = 100, TIMES = 5, LONGEST_PATH = 4096 };

typedef struct svd_options {
    integer_list keeps;
    const char *factors;
} svd_options;

static const char *const factor_names[] = {"u.npy", "s.npy", "vt.npy", NULL};

static const own_option options[] = {
    {"keep", OPTION_INTEGERS, offsetof(svd_options, keeps), "K,...",
     .help = "Components (singular values) to keep (100, or all)\vOf a list each is a row.", .least = 1,
     .most = INT64_MAX, .letter = 'k', .also = "components"},
    {"factors", OPTION_FOLDER, offsetof(svd_options, factors), "DIR", .names = factor_names,
     .help = "Write u.npy, s.npy and vt.npy into this folder\v`flynn reconstruct` reads them."},
    {0},
};

typedef struct value_range {
    double least, width;
} value_range;

/* The report on a measurement's factors; only the first one keeps its y. */
typedef struct svd_reported {
    const measurement *of;
    svd_report report;
} svd_reported;

typedef struct svd_expected {
    svd_oracle *oracle;
    int count;
    svd_reported *reports;
    value_range range; /* that the input was normalised from */
} svd_expected;

/* Turns each element x into (x - least) / width, which is 0 to 1; into 0 where all are the same. */
static value_range normalize(host_array *array)
{
    const int64_t n = host_array_size(array);
    double least = INFINITY, most = -INFINITY;

    for (int64_t i = 0; i < n; i++) {
        least = fmin(least, host_array_get(array, i));
        most = fmax(most, host_array_get(array, i));
    }
    least = -group_most(-least);
    most = group_most(most);
    for (int64_t i = 0; i < n; i++)
        host_array_set(array, i, most > least ? (host_array_get(array, i) - least) / (most - least) : 0);
    return (value_range){least, most - least};
}

/* `flynn batch` does for each image of a folder what svd does for one. */
static void refuse_folder(const char *path)
{
    struct stat is;

    if (stat(path, &is) != 0 || !S_ISDIR(is.st_mode))
        return;
    typed_change("svd", "batch");
    if (typed_value("output", 'o'))
        typed_change_option("output", 'o', "--output-dir=out");
    typed_refuse("%s: is a folder; expected a .npy or .png file (`flynn batch` approximates each image of a folder)",
                 path);
}

static void settle(exercise *e)
{
    if (e->common.argument_count)
        refuse_folder(e->common.arguments[0]);
    if (group_is_distributed() && ((const svd_options *)e->own)->keeps.count > 1)
        fail(EXIT_BAD_INPUT, "--keep: expected one number where several ranks run");
}

static host_array make(const exercise *e, int i)
{
    int64_t rows = exercise_size(e);
    const int64_t first = group_part(1, &rows);

    (void)i;
    return course_phantom_rows(exercise_size(e), first, rows);
}

static void factor_path(const char *folder, int i, char *path)
{
    if (snprintf(path, LONGEST_PATH, "%s/%s", folder, factor_names[i]) >= LONGEST_PATH)
        fail(EXIT_BAD_INPUT, "--factors: '%s' is too long for the name of a folder", folder);
}

/* Makes the folder where it is missing. */
static void check_folder(const char *folder)
{
    char path[LONGEST_PATH];
    problem why;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        fail(exit_code_of_errno(errno), "--factors: %s: cannot be made: %s", folder, strerror(errno));
    for (int i = 0; i < 3; i++) {
        factor_path(folder, i, path);
        must_do(file_check_writable(path, &why), &why);
    }
}

/* Checks all numbers of the list, before any work. */
static void check_keeps(const exercise *e, int64_t least)
{
    const integer_list *keeps = &((const svd_options *)e->own)->keeps;

    for (int i = 0; i < keeps->count; i++)
        if (keeps->value[i] > least)
            fail(EXIT_BAD_INPUT, "--keep: %" PRId64 " is more than the %" PRId64 " singular values of a %s matrix",
                 keeps->value[i], least, format_shape(2, e->inputs[0].shape).text);
}

/* Called once for all numbers of components. */
static void start_expected(exercise *e, const char *file)
{
    host_array *matrix = &e->inputs[0];
    svd_expected *expected = memory_zeroed(1, sizeof *expected);

    for (int64_t i = 0, n = host_array_size(matrix); i < n; i++)
        if (!isfinite(host_array_get(matrix, i)))
            fail(EXIT_BAD_INPUT, "%s: element %s is not finite; expected a matrix of numbers", file,
                 format_index(i, 2, matrix->shape).text);
    expected->range = !file || file_ends_in(file, ".png") ? normalize(matrix) : (value_range){0, 1};
    e->expected = expected;
}

/* 1 of a matrix without elements. */
static double compression(int64_t m, int64_t n, int64_t k)
{
    return k > 0 ? (double)m * (double)n / ((double)k * (double)(m + n + 1)) : 1;
}

/* "svd: matrix 512x512 f32, 100 components in f32, compressed 2.56 : 1" */
static void plan(exercise *e)
{
    const host_array *matrix = &e->inputs[0];
    const int64_t m = e->input_rows[0], n = matrix->shape[1], least = m < n ? m : n;
    const fl_dtype dtype = exercise_float_dtype(e);
    const svd_options *own = e->own;
    const int64_t whole[] = {m, n};

    if (!e->expected) {
        start_expected(e, e->common.argument_count ? e->common.arguments[0] : NULL);
        check_keeps(e, least);
        if (own->factors && own->keeps.count > 1)
            fail(EXIT_BAD_INPUT, "--factors: needs a single value of --keep; %d are given", own->keeps.count);
        if (own->factors && group_prints())
            check_folder(own->factors);
    }
    const int64_t k = e->keep ? e->keep : least < COURSE_KEEP ? least : COURSE_KEEP;
    exercise_output(e, dtype, 2, (int64_t[]){matrix->shape[0], k});
    exercise_output(e, dtype, 1, &k);
    exercise_output(e, dtype, 2, (int64_t[]){k, n});
    if (own->keeps.count > 1)
        exercise_title(e, "svd: matrix %s %s, %d numbers of components in %s", format_shape(2, matrix->shape).text,
                       fl_dtype_name(matrix->dtype), own->keeps.count, fl_dtype_name(dtype));
    else
        exercise_title(e, "svd: matrix %s %s, %s in %s, compressed %.3g : 1", format_shape(2, whole).text,
                       fl_dtype_name(matrix->dtype), format_components((double)k).text, fl_dtype_name(dtype),
                       compression(m, n, k));
}

/* LAPACK uses vectors, and one core without them is the baseline. Beyond this work rotations take more than about ten
 * seconds. */
static const char *scalar_variant(const exercise *e)
{
    const double rows = (double)e->inputs[0].shape[0], columns = (double)e->inputs[0].shape[1];

    return rows * columns * fmin(rows, columns) <= 0x1p28 ? "jacobi" : NULL;
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    return group_is_distributed()
               ? fl_group_svd(group_of_all(), device, in[0], e->common.seed, out[0], out[1], out[2], run, group_cost())
               : fl_svd(device, in[0], e->common.seed, out[0], out[1], out[2], run);
}

static void expect(exercise *e)
{
    svd_expected *expected = e->expected;

    if (!expected->oracle)
        expected->oracle = svd_oracle_create(&e->inputs[0]);
}

static const svd_report *report_of(const svd_expected *expected, const measurement *m)
{
    const svd_reported *at = expected->reports;

    while (at->of != m)
        at++;
    return &at->report;
}

static fl_device *device_of(const exercise *e, const measurement *m)
{
    for (int i = 0;; i++)
        if (e->backends->open[i].requested == m->requested)
            return e->backends->open[i].device;
}

/* The device that took the matrix apart puts it together again. */
static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    svd_expected *expected = e->expected;
    svd_report report = svd_oracle_report(expected->oracle, device_of(e, m), m->results);

    if (expected->count > 0)
        host_array_free(&report.y);
    expected->reports = memory_regrown(expected->reports, (size_t)expected->count + 1, sizeof *expected->reports);
    expected->reports[expected->count++] = (svd_reported){m, report};
    return svd_oracle_check(expected->oracle, m->results, m->timing.variant, method, size);
}

static void release(exercise *e)
{
    svd_expected *expected = e->expected;

    if (expected->count > 0)
        host_array_free(&expected->reports[0].report.y);
    free(expected->reports);
    svd_oracle_free(expected->oracle);
    free(expected);
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const svd_expected *expected = e->expected;
    const svd_report *report = report_of(expected, m);
    const int64_t k = m->results[1].shape[0];

    json_put(row, "singular_values", json_whole(k));
    json_put(row, "compression", json_number(compression(e->output_rows, m->results[2].shape[1], k)));
    json_put(row, "norm", json_number(svd_oracle_tail(expected->oracle, 0)));
    json_put(row, "error", json_number(report->error));
    json_put(row, "least_error", json_number(svd_oracle_tail(expected->oracle, k)));
    json_put(row, "implied_error", json_number(report->implied_error));
    json_put(row, "randomized_bound",
             svd_is_randomized(m->timing.variant) ? json_number(svd_oracle_randomized(expected->oracle, k))
                                                  : json_null());
    json_put(row, "reconstruct_s", json_number(report->reconstruct_s));
}

static void print(const exercise *e, const measurement *m, const json_t *row)
{
    const svd_expected *expected = e->expected;
    const svd_report *report = report_of(expected, m);
    const int64_t k = m->results[1].shape[0];
    const double norm = svd_oracle_tail(expected->oracle, 0), least = svd_oracle_tail(expected->oracle, k);

    (void)row;
    text_print("%s: ||a - a_k||_F = %.6g, %.3g %% of ||a||_F", m->device.resource, report->error,
               norm > 0 ? 100 * report->error / norm : 0);
    if (!isnan(least)) /* several ranks do not compute all values of a wide matrix */
        text_print("; the least possible with %s is %.6g", format_components((double)k).text, least);
    text_print("\n");
    if (svd_is_randomized(m->timing.variant)) {
        text_print("%s: randomized: its singular values imply %.6g", m->device.resource, report->implied_error);
        if (!isnan(least))
            text_print("; the expected error is at most %.6g", svd_oracle_randomized(expected->oracle, k));
        text_print("\n");
    }
    text_print("%s: svd %s, reconstruct %s", m->device.resource, format_seconds(m->timing.kernel_s).text,
               format_seconds(report->reconstruct_s).text);
    if (m->h2d.count > 0 && !m->device.host_memory)
        text_print(", copies of a %s and of u, s, vt %s", format_seconds(median(m->h2d.s, m->h2d.count)).text,
                   format_seconds(median(m->d2h.s, m->d2h.count)).text);
    text_print("\n");
}

/* An array whose rows the ranks share, if they share it. */
static void write_array(const result_list *results, const char *path, const host_array *array, bool shared)
{
    measurement m = results->list[0];

    m.results[0] = *array;
    if (shared && group_is_distributed())
        distributed_write(&m, path);
    else if (group_prints())
        file_put(path, array, NULL);
}

/* The factors; and with -o the matrix in its own range in place of u. */
static void write_outputs(const exercise *e, const result_list *results)
{
    const svd_expected *expected = e->expected;
    const char *folder = ((const svd_options *)e->own)->factors, *path = e->common.output;
    host_array *y = &expected->reports[0].report.y;
    char factor[LONGEST_PATH];
    const host_array *result;

    for (int i = 0; i < 3 && folder; i++) {
        factor_path(folder, i, factor);
        if ((result = exercise_right_output(results, i, factor)))
            write_array(results, factor, result, i == 0);
    }
    if (!path || !exercise_right_output(results, 0, path))
        return;
    for (int64_t i = 0, n = host_array_size(y); i < n; i++)
        host_array_set(y, i, host_array_get(y, i) * expected->range.width + expected->range.least);
    write_array(results, path, y, true);
}

const exercise_kind svd_exercise = {
    .name = "svd",
    .summary = "decompose an image into singular values and vectors",
    .help = "Decomposes a matrix into its K leading singular values and vectors, puts the matrix together again from "
            "them, and reports the error and the time of each part.\v"
            "FILE is a .png, read as grey and normalised to (x - min) / (max - min) in f32, or a .npy matrix, taken as "
            "it is, integers in f64. Without it: the Shepp-Logan phantom, --size (512) pixels square, in f32. "
            "--dtype=f32|f64 converts it. -o writes the matrix of K components, in its own range. Several ranks have "
            "the variant randomized alone.\v"
            "--keep=5,20,100\ta generated image, three times\n"
            "in.png --keep=20 -o out.png\tyour own image\n"
            "in.png --factors=factors\tkeep its singular values and vectors\n",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"matrix", 2, 2, true}},
    .dtypes = DTYPES_FLOAT,
    .lacks = TAKES_CHECK | TAKES_BLOCK,
    .tolerates = true,
    .seeds_calls = true, /* randomized */
    .distributed = 1,
    .distributed_variant = "randomized",
    .options = options,
    .own_size = sizeof(svd_options),
    .keeps = true,
    .made = "the phantom",
    .size = 512,
    .largest = 1 << 15,
    .laws = {512, 3, NULL},
    .steps = {make, plan, call, expect, check, release},
    .settle = settle,
    .scalar = scalar_variant,
    .calls_library = "single",
    .add_json = add_json,
    .print = print,
    .write = write_outputs,
    .own_output = true,
};
