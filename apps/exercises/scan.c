/* SPDX-License-Identifier: MIT
 *
 * flynn scan: running sums and maxima.
 */
#include "run/registry.h"

#include "checks/scan.h"
#include "options/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct scan_options {
    int operation;
    bool exclusive, in_place;
} scan_options;

static const char *const operations[] = {"sum", "maximum", NULL};
static const own_option options[] = {
    {"operation", OPTION_CHOICE, offsetof(scan_options, operation), "NAME", .names = operations, .group = GROUP_WHAT,
     .help = "sum (default) or maximum"},
    {"exclusive", OPTION_FLAG, offsetof(scan_options, exclusive), .group = GROUP_WHAT,
     .help = "Leave out each place's own element"},
    {"in-place", OPTION_FLAG, offsetof(scan_options, in_place), .help = "Write over the array; not sums of integers"},
    {0},
};

static fl_reduction reduction_of(const exercise *e)
{
    return ((const scan_options *)e->own)->operation == 0 ? FL_SUM : FL_MAXIMUM;
}

static host_array make(const exercise *e, int i)
{
    return exercise_random_input(e, i, 1, NULL);
}

static void plan(exercise *e)
{
    const host_array *in = &e->inputs[0];
    const scan_options *own = e->own;
    const fl_dtype dtype = fl_reduce_dtype(in->dtype, reduction_of(e));

    if (own->in_place && dtype != in->dtype)
        option_fail("in-place", "the sums of %s are %s, which do not fit in its place", fl_dtype_name(in->dtype),
                    fl_dtype_name(dtype));
    e->in_place = own->in_place;
    exercise_output(e, dtype, 1, in->shape);
    exercise_title(e, "scan: the %srunning %s of %" PRId64 " %s%s", own->exclusive ? "exclusive " : "",
                   operations[own->operation], e->input_rows[0], fl_dtype_name(in->dtype),
                   own->in_place ? " in place" : "");
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    const bool exclusive = ((const scan_options *)e->own)->exclusive;

    return group_is_distributed()
               ? fl_group_scan(group_of_all(), device, in[0], reduction_of(e), exclusive, out[0], run, group_cost())
               : fl_scan(device, in[0], reduction_of(e), exclusive, out[0], run);
}

/* On a GPU `naive` is another method, whose sums are trees. */
static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const bool sequential = strcmp(m->variant, "naive") == 0 && strcmp(m->device.family, "cpu") == 0;

    if (m->results[0].dtype == FL_I64 || reduction_of(e) == FL_MAXIMUM)
        snprintf(method, size, "a loop on the host, exactly");
    else
        snprintf(method, size, "a %s on the host; each within the error of %s",
                 m->results[0].dtype == FL_F32 ? "sum in f64" : "compensated sum", sequential ? "one loop" : "a tree");
    return scan_compare(&m->results[0], &e->inputs[0], reduction_of(e), ((const scan_options *)e->own)->exclusive,
                        sequential);
}

static const char *why_scalar(const exercise *e)
{
    (void)e;
    return "each result waits for the one before it, so that a compiler makes no vectors of the loop";
}

const exercise_kind scan_exercise = {
    .name = "scan",
    .summary = "running sums, or running maxima",
    .help =
        "Computes of each element the sum of all elements up to it, as numpy.cumsum does, or the largest of them, as "
        "numpy.maximum.accumulate.\v"
        "FILE is a .npy or .png file of up to four dimensions, taken row by row. Without it: --size (16777216) "
        "random numbers of --dtype (f32) from --seed, in 0..1, or for integers 0 to 99. Sums of integers are i64.\v"
        "\trandom numbers on the best backend\n"
        "-b all --size=1M --exclusive\tevery backend side by side\n"
        "x.npy -o sums.npy\tyour own array\n"
        "--operation=maximum --dtype=i32\tthe largest so far\n",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}},
    .flat = true,
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_CHECK,
    .options = options,
    .own_size = sizeof(scan_options),
    .made = "the random numbers",
    .size = 1 << 24,
    .laws = {1 << 24, 1, NULL},
    .taxonomy_size = 1 << 22,
    .distributed = 1,
    .of_input = true,
    .steps = {make, plan, call, NULL, check, NULL},
    .why_scalar = why_scalar,
};
