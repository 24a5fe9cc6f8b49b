/* SPDX-License-Identifier: MIT */
#include "exercise.h"
#include "tuned.h"

#include "files/files.h"
#include "support/fail.h"
#include "support/progress.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void exercise_must(bool done, const problem *why)
{
    if (!done)
        fail_problem(why);
}

/* ----------------------------------------------------------------------------------------------- inputs ---- */

/* "2 dimensions", "1 to 4 dimensions" */
static const char *dimensions_text(char *text, size_t size, int least, int most)
{
    if (least == most)
        snprintf(text, size, "%d dimension%s", least, least == 1 ? "" : "s");
    else
        snprintf(text, size, "%d to %d dimensions", least, most);
    return text;
}

host_array exercise_read(const char *path, const char *role, int least, int most)
{
    char expected[40];
    host_array array;
    problem why;

    exercise_must(file_read(path, &array, &why), &why);
    if (array.ndim < least || array.ndim > most)
        fail(EXIT_BAD_INPUT, "%s: the %s is %s; expected %s", path, role, format_shape(array.ndim, array.shape).text,
             dimensions_text(expected, sizeof expected, least, most));
    return array;
}

void exercise_convert(host_array *array, fl_dtype dtype)
{
    host_array converted;
    problem why;

    if (array->dtype == dtype)
        return;
    exercise_must(host_array_convert(array, dtype, &converted, "the input", &why), &why);
    host_array_free(array);
    *array = converted;
}

host_array exercise_random(fl_dtype dtype, int ndim, const int64_t *shape, double low, double high, uint64_t seed)
{
    random_state random = random_start(seed);
    host_array array;
    problem why;

    exercise_must(host_array_create(&array, dtype, ndim, shape, "--size", &why), &why);
    for (int64_t i = 0, n = host_array_size(&array); i < n; i++) {
        double unit = (double)(random_next(&random) >> 40) * 0x1p-24; /* 24 bits: exact in f32, too */
        double value = low + unit * (high - low);
        host_array_set(&array, i, dtype == FL_F32 || dtype == FL_F64 ? value : floor(value));
    }
    return array;
}

void exercise_output(exercise *e, fl_dtype dtype, int ndim, const int64_t *shape)
{
    output_spec *o = &e->outputs[e->output_count++];

    o->dtype = dtype;
    o->ndim = ndim;
    for (int d = 0; d < FL_MAX_DIMS; d++)
        o->shape[d] = d < ndim ? shape[d] : 1;
}

/* ---------------------------------------------------------------------------------------------- running ---- */

/* Do the arrays of all backends fit into memory beside each other? Of the host's at most a quarter, since each array is
 * there up to three times. */
static bool fit_together(const exercise *e, int backends)
{
    double bytes = 0, memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

    for (int i = 0; i < e->input_count; i++)
        bytes += (double)host_array_bytes(&e->inputs[i]);
    for (int i = 0; i < e->output_count; i++) {
        double output = (double)fl_dtype_size(e->outputs[i].dtype);
        for (int d = 0; d < e->outputs[i].ndim; d++)
            output *= (double)e->outputs[i].shape[d];
        bytes += output;
    }
    return bytes * backends < memory / 4;
}

/* Each backend in turn, from its first pass to its last. */
static void run_in_turn(const exercise *e, const measure_plan *plans, const backend_list *backends,
                        result_list *results)
{
    for (int i = 0; i < backends->count; i++)
        *result_add(results) = measure(e, &plans[i], backends->open[i].requested, backends->open[i].device);
}

/* All backends in rounds: a machine that slows down meanwhile slows all of them down. */
static void run_interleaved(const exercise *e, const measure_plan *plans, const backend_list *backends,
                            result_list *results)
{
    enum { ROUNDS = 4 };
    measuring **under_way = calloc((size_t)backends->count, sizeof *under_way);
    bool more = true;

    if (!under_way)
        fail(EXIT_BROKEN, "out of host memory");
    for (int i = 0; i < backends->count; i++)
        under_way[i] = measure_start(e, &plans[i], backends->open[i].requested, backends->open[i].device);
    while (more) {
        more = false;
        for (int i = 0; i < backends->count; i++)
            more = measure_round(under_way[i], ROUNDS) || more;
    }
    for (int i = 0; i < backends->count; i++)
        *result_add(results) = measure_end(under_way[i]);
    free(under_way);
}

/* What a saved sweep found best on the device, where neither an option nor a variable says what to run. */
static void take_saved(const exercise *e, fl_device *device, measure_plan *plan)
{
    const fl_device_info *info = fl_device_describe(device);
    fl_dtype dtype = e->outputs[0].dtype;
    const tuned_work work = {e->name, fl_dtype_name(dtype), exercise_elements(e), info->resource, info->name};
    tuned_way way;
    fl_variant_info v;

    if (!tuned_find(&work, &way))
        return;
    for (size_t i = 0; fl_variant_get(device, i, &v) == FL_OK; i++) {
        if (strcmp(v.operation, e->name) != 0 || strcmp(v.variant, way.variant) != 0 || !(v.dtypes & 1u << dtype))
            continue;
        plan->variant = v.variant;
        memcpy(plan->block, way.block, sizeof plan->block);
        plan->tuned = true;
        return;
    }
    note("%s has no variant '%s' any more, which a saved sweep found best: auto runs; `flynn sweep --forget %s` ends "
         "this",
         info->resource, way.variant, e->name);
}

/* A plan for each backend. */
static measure_plan *plans_for(const exercise *e, const common_options *common, const backend_list *backends)
{
    measure_plan *plans = calloc((size_t)backends->count, sizeof *plans);

    if (!plans)
        fail(EXIT_BROKEN, "out of host memory");
    for (int i = 0; i < backends->count; i++) {
        plans[i] = measure_plan_of(common);
        if (!common->has_variant && common->block[0] == 0)
            take_saved(e, backends->open[i].device, &plans[i]);
    }
    return plans;
}

int exercise_run(const exercise *e, const common_options *common, const backend_list *backends, result_list *results)
{
    measure_plan *plans = plans_for(e, common, backends);
    bool ok = true;

    *results = result_list_start(common, backends);
    (backends->count > 1 && fit_together(e, backends->count) ? run_interleaved : run_in_turn)(e, plans, backends,
                                                                                              results);
    free(plans);
    for (int i = 0; i < results->count; i++) {
        measurement *m = &results->list[i];
        progress("%s: checking", m->requested);
        m->check = e->check(e, m, m->check_method, sizeof m->check_method);
        ok = ok && m->check.ok;
    }
    progress_end();
    results_show(results, e);
    return ok ? EXIT_DONE : EXIT_WRONG_RESULT;
}

void exercise_write(const result_list *results, int i, const char *path)
{
    const measurement *first = &results->list[0];
    problem why;

    if (!path)
        return;
    if (first->check.ok)
        exercise_must(file_write(path, &first->results[i], &why), &why);
    else
        note("the result of %s is wrong: %s was not written", first->requested, path);
}
