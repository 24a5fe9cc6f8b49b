/* SPDX-License-Identifier: MIT
 *
 * flynn histogram: how many elements fall into each of some bins of one width.
 */
#include "run/registry.h"

#include "checks/histogram.h"
#include "display/summary.h"
#include "files/files.h"
#include "support/fail.h"
#include "support/print.h"
#include "view/json.h"
#include "view/row.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DROP, CLIP };
enum { MOST_BINS = 1 << 28, MOST_LINES = 16, LONGEST_BAR = 40 };

static const char *const outside_names[] = {[DROP] = "drop", [CLIP] = "clip", NULL};
static const char *const range_examples[] = {"0,1", "-1,1", NULL};

typedef struct histogram_options {
    int64_t bins;
    double lo, hi; /* NaN: not given */
    int outside;
    bool drawn; /* the counts were printed: those of the other backends are equal */
} histogram_options;

/* Returns whether the text is "LO,HI". */
static bool read_range(const char *text, double *lo, double *hi)
{
    char *end;

    *lo = strtod(text, &end);
    if (end == text || *end != ',')
        return false;
    text = end + 1;
    *hi = strtod(text, &end);
    return end > text && *end == '\0';
}

static void parse_range(const char *option, const char *value, void *values)
{
    histogram_options *own = values;

    if (!read_range(value, &own->lo, &own->hi))
        option_fail(option, "'%s' is not a range; expected two numbers with a comma between them, such as 0,1", value);
    if (!(isfinite(own->lo) && isfinite(own->hi) && own->lo < own->hi && isfinite(own->hi - own->lo)))
        option_fail(option, "'%s' is no range of numbers; expected finite ones, the lower one first, such as 0,1",
                    value);
}

static const own_option options[] = {
    {"bins", OPTION_INTEGER, offsetof(histogram_options, bins), "N",
     .help = "The number of bins, all of one width (256)", .least = 1, .most = MOST_BINS},
    {"range", OPTION_CUSTOM, 0, "LO,HI", .names = range_examples, .parse = parse_range,
     .help = "The bins' lowest and highest edge\vWithout it: 0,1 for pictures and for random f32 and f64; 0,256 for u8 "
             "and for random integers; the least and the largest element of other files."},
    {"outside", OPTION_CHOICE, offsetof(histogram_options, outside), "WHERE", .names = outside_names,
     .help = "drop (default) what is outside, or clip it"},
    {0},
};

/* Floats in 0..1, integers as those of 8-bit pictures. */
static host_array make(const exercise *e, int i)
{
    const int64_t size = exercise_size(e);
    const fl_dtype dtype = exercise_dtype(e, FL_F32);

    (void)i;
    return exercise_random_share(dtype, 1, &size, 0, fl_dtype_is_float(dtype) ? 1 : 256, e->common.seed);
}

/* ---------------------------------------------------------------------------------------------- range ---- */

/* From the least to the largest element of all ranks; as numpy.histogram one that is wider where they are equal, and 0
 * to 1 without elements. */
static void range_of_elements(const host_array *in, const char *file, histogram_options *own)
{
    const array_summary s = summary_of(in);

    if (group_count(s.nans + s.infinities) > 0)
        fail(EXIT_BAD_INPUT, "%s: has elements that are not finite; expected --range=LO,HI, such as --range=0,1", file);
    own->lo = -group_most(s.least < 0 ? -INFINITY : -host_array_get(in, s.least));
    own->hi = group_most(s.most < 0 ? -INFINITY : host_array_get(in, s.most));
    if (own->lo > own->hi) {
        own->lo = 0;
        own->hi = 1;
    } else if (own->lo == own->hi) {
        own->lo -= 0.5;
        own->hi += 0.5;
    }
    if (!(own->lo < own->hi && isfinite(own->hi - own->lo)))
        fail(EXIT_BAD_INPUT, "%s: %g to %g is no range that bins can divide; expected --range=LO,HI", file, own->lo,
             own->hi);
}

static void settle_range(const exercise *e, histogram_options *own)
{
    const char *file = e->common.argument_count > 0 ? e->common.arguments[0] : NULL;
    const fl_dtype dtype = e->inputs[0].dtype;

    if (!isnan(own->lo))
        return;
    own->lo = 0;
    own->hi = fl_dtype_is_float(dtype) ? 1 : 256;
    if (file && dtype != FL_U8 && !file_ends_in(file, ".png"))
        range_of_elements(&e->inputs[0], file, own);
}

static void plan(exercise *e)
{
    histogram_options *own = e->own;
    const int64_t here = group_prints() ? own->bins : 0; /* only rank 0 reports the counts */

    settle_range(e, own);
    exercise_output(e, FL_I64, 1, &here);
    if (group_is_distributed()) /* which all of them have */
        exercise_output(e, FL_I64, 1, &own->bins);
    exercise_title(e, "histogram: %" PRId64 " bins of %.9g to %.9g, of %" PRId64 " %s%s", own->bins, own->lo, own->hi,
                   e->input_rows[0], fl_dtype_name(e->inputs[0].dtype),
                   own->outside == CLIP ? "; elements outside are in the first and last" : "");
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    const histogram_options *own = e->own;
    const bool clip = own->outside == CLIP;

    return group_is_distributed() ? fl_group_histogram(group_of_all(), device, in[0], own->lo, own->hi, clip,
                                                       out[group_prints() ? 0 : 1], run, group_cost())
                                  : fl_histogram(device, in[0], own->lo, own->hi, clip, out[0], run);
}

/* ---------------------------------------------------------------------------------------------- check ---- */

static void expect(exercise *e)
{
    const histogram_options *own = e->own;
    double *counts = histogram_count(&e->inputs[0], own->lo, own->hi, own->bins, own->outside == CLIP);

    group_add(counts, own->bins);
    e->expected = counts;
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const int64_t bins = ((const histogram_options *)e->own)->bins;
    const int64_t *counts = m->results[group_prints() ? 0 : 1].data;
    const double *expected = e->expected;
    compare_result found = compare_start();

    snprintf(method, size, "a loop on the host: each element's bin by comparison with its edges");
    for (int64_t b = 0; b < bins; b++)
        if (group_prints() || (double)counts[b] != expected[b]) /* all ranks have the same: one reports them */
            compare_add(&found, b, (double)counts[b], expected[b], 0);
    return found;
}

static void release(exercise *e)
{
    free(e->expected);
}

/* ------------------------------------------------------------------------------------------- what is shown ---- */

static int64_t sum_of(const int64_t *counts, int64_t bins)
{
    int64_t sum = 0;

    for (int64_t b = 0; b < bins; b++)
        sum += counts[b];
    return sum;
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const histogram_options *own = e->own;

    json_put(row, "bins", json_whole(own->bins));
    json_put(row, "lo", json_number(own->lo));
    json_put(row, "hi", json_number(own->hi));
    json_put(row, "outside", json_text(outside_names[own->outside]));
    if (group_prints())
        json_put(row, "counted", json_whole(sum_of(m->results[0].data, own->bins)));
}

/* "       0.25  1048576  ########": lower edge, count and a bar of some bins together. */
static void draw(const histogram_options *own, const int64_t *counts)
{
    static const char bar[LONGEST_BAR + 1] = "########################################";
    const int64_t group = (own->bins + MOST_LINES - 1) / MOST_LINES;
    const double width = (own->hi - own->lo) / (double)own->bins;
    int64_t most = 1;

    for (int64_t b = 0; b < own->bins; b += group) {
        const int64_t sum = sum_of(counts + b, group < own->bins - b ? group : own->bins - b);
        most = sum > most ? sum : most;
    }
    for (int64_t b = 0; b < own->bins; b += group) {
        const int64_t sum = sum_of(counts + b, group < own->bins - b ? group : own->bins - b);
        text_print("%12.6g %12" PRId64 " %.*s\n", own->lo + (double)b * width, sum,
                   (int)ceil((double)sum / (double)most * LONGEST_BAR), bar);
    }
}

static void print(const exercise *e, const measurement *m, const json_t *row)
{
    histogram_options *own = e->own;

    text_print("%s: counted %.0f of %" PRId64 "\n", m->device.resource, row_number(row, "counted"), e->input_rows[0]);
    if (!own->drawn)
        draw(own, m->results[0].data);
    own->drawn = true;
}

static const char *why_scalar(const exercise *e)
{
    (void)e;
    return "elements may meet in one count, so that a compiler adds them one after the other";
}

const exercise_kind histogram_exercise = {
    .name = "histogram",
    .summary = "count how many elements fall into each of some bins",
    .help = "Counts how many elements fall into each of some bins of one width, as numpy.histogram does.\v"
            "A bin has its lower edge, the last one both; NaN is not counted. FILE is a .npy or .png file of up to "
            "four dimensions, taken row by row; the grey levels of an 8-bit "
            "picture are 0/255 to 255/255, one in each of 256 bins. Without it: --size (16777216) random numbers of "
            "--dtype (f32) from --seed, in 0..1, integers from 0 to 255.\v"
            "\trandom numbers on the best backend\n"
            "-b all --size=1M --bins=10\tevery backend side by side\n"
            "x.npy --bins=100 --range=-1,1 -o counts.npy\tyour own array\n",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}},
    .flat = true,
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_CHECK,
    .options = options,
    .own_size = sizeof(histogram_options),
    .own = &(const histogram_options){.bins = 256, .lo = (double)NAN, .hi = (double)NAN},
    .made = "the random numbers",
    .size = 1 << 24,
    .laws = {1 << 24, 1, NULL},
    .taxonomy_size = 1 << 22,
    .distributed = 1,
    .of_input = true,
    .steps = {make, plan, call, expect, check, release},
    .why_scalar = why_scalar,
    .add_json = add_json,
    .print = print,
};
