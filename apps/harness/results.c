/* SPDX-License-Identifier: MIT */
#include "results.h"
#include "ceilings.h"
#include "machine.h"

#include "support/fail.h"
#include "support/statistics.h"
#include "view/csv.h"
#include "view/json.h"
#include "view/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

result_list result_list_start(const common_options *common, const backend_list *backends)
{
    result_list results = {.common = common, .backends = backends};

    results.list = calloc((size_t)backends->count, sizeof *results.list);
    if (!results.list)
        fail(EXIT_BROKEN, "out of host memory");
    return results;
}

measurement *result_add(result_list *results)
{
    return &results->list[results->count++];
}

void result_list_free(result_list *results)
{
    for (int i = 0; i < results->count; i++)
        measurement_free(&results->list[i]);
    free(results->list);
    results->list = NULL;
}

measure_plan measure_plan_of(const common_options *common)
{
    measure_plan plan = {.variant = common->variant,
                         .repeat = common->repeat,
                         .warmup = common->warmup,
                         .min_time_s = common->min_time_s,
                         .pageable = common->pageable,
                         .wrong_timing = common->wrong_timing};

    memcpy(plan.block, common->block, sizeof plan.block);
    return plan;
}

/* --------------------------------------------------------------------------------------- comparing rows ---- */

static double total_of(const measurement *m)
{
    return median(m->total.s, m->total.count);
}

static bool ranked(const measurement *m)
{
    return m->check.ok && !m->device.emulation;
}

/* The place by total time among the ranked; 0: not ranked. */
static int rank_of(const result_list *results, const measurement *m)
{
    int rank = 1;

    if (!ranked(m))
        return 0;
    for (int i = 0; i < results->count; i++)
        rank += ranked(&results->list[i]) && total_of(&results->list[i]) < total_of(m);
    return rank;
}

/* What speed-ups are over: the scalar backend if it is there, else the first; of the right ones. NULL: none is. */
static const measurement *baseline(const result_list *results)
{
    const measurement *first = NULL;

    for (int i = 0; i < results->count; i++) {
        const measurement *m = &results->list[i];
        if (ranked(m) && strcmp(m->device.flynn_class, "SISD") == 0)
            return m;
        if (ranked(m) && !first)
            first = m;
    }
    return first;
}

/* How near the kernel came to the least time that its compulsory bytes and its operations take; NaN while the device's
 * ceiling is not known. An emulation has none. */
static double percent_of_ceiling(const measurement *m)
{
    ceilings c = ceilings_load(&m->device);

    if (m->device.emulation)
        return NAN;
    return 100 * ceilings_least_s(&c, m->results[0].dtype, m->timing.bytes, m->timing.flops) / m->timing.kernel_s;
}

/* ------------------------------------------------------------------------------------------------ table ---- */

static const table_column columns[] = {
    {"backend", 0},     {"class", 0}, {"variant", 0},   {"block", 0}, {"open", 1},    {"cold", 1},    {"h2d", 1},
    {"kernel", 1},      {"d2h", 1},   {"total", 1},     {"GB/s", 1},  {"GFLOP/s", 1}, {"ceiling", 1}, {"speed-up", 1},
    {"with copies", 1}, {"rank", 1},  {"max error", 1}, {"check", 0}, {NULL, 0},
};

typedef struct cell {
    char text[128];
} cell;

static cell rank_cell(const result_list *results, const measurement *m)
{
    int rank = rank_of(results, m);
    cell c = {"-"};

    if (rank > 0)
        snprintf(c.text, sizeof c.text, "%d", rank);
    return c;
}

/* "ok", or where it is wrong and how. */
static cell check_cell(const measurement *m)
{
    cell c = {"ok"};

    if (!m->check.ok)
        snprintf(c.text, sizeof c.text, "WRONG at %s",
                 format_index(m->check.worst_index, m->results[0].ndim, m->results[0].shape).text);
    else if (m->device.emulation)
        strcpy(c.text, "ok (emulation: times mean nothing)");
    return c;
}

static cell percent_cell(double percent)
{
    cell c = {"-"};

    if (isfinite(percent))
        snprintf(c.text, sizeof c.text, percent >= 10 ? "%.0f %%" : "%.2g %%", percent);
    return c;
}

/* Three digits, and no exponent for what a reader would write without one. */
static cell rate_cell(double rate)
{
    cell c;

    snprintf(c.text, sizeof c.text, rate >= 1000 ? "%.0f" : "%.3g", rate);
    return c;
}

static double factor(double base, double time, bool comparable)
{
    return comparable && time > 0 ? base / time : (double)NAN;
}

static void add_row(table *t, const result_list *results, const measurement *base, const measurement *m)
{
    bool comparable = base && ranked(m);
    double kernel = m->timing.kernel_s;

    table_add(t, (const char *const[]){
                     m->device.resource, m->device.flynn_class, m->timing.variant, format_block(m->timing.block).text,
                     format_seconds(m->device.open_s).text, format_seconds(m->cold_s).text,
                     format_seconds(median(m->h2d.s, m->h2d.count)).text, format_seconds(kernel).text,
                     format_seconds(median(m->d2h.s, m->d2h.count)).text, format_seconds(total_of(m)).text,
                     rate_cell(m->timing.bytes / kernel / 1e9).text, rate_cell(m->timing.flops / kernel / 1e9).text,
                     percent_cell(percent_of_ceiling(m)).text,
                     format_factor(factor(comparable ? base->timing.kernel_s : 0, kernel, comparable)).text,
                     format_factor(factor(comparable ? total_of(base) : 0, total_of(m), comparable)).text,
                     rank_cell(results, m).text, format_number(m->check.max_abs).text, check_cell(m).text});
}

/* What a clock says that is stopped when the call returns. */
static void show_wrong_timing(const measurement *m)
{
    double call = median(m->call.s, m->call.count), kernel = m->timing.kernel_s;

    if (m->call.count == 0)
        return;
    printf("%s: stopped when the call returned, a clock shows %s; the work takes %s%s\n", m->device.resource,
           format_seconds(call).text, format_seconds(kernel).text,
           call < kernel / 2 ? ": a kernel is only queued, and must be waited for" : "");
}

static void show_table(const result_list *results, const exercise *e)
{
    const measurement *base = baseline(results);
    table *t = table_create(columns);

    for (int i = 0; i < results->count; i++)
        add_row(t, results, base, &results->list[i]);
    printf("%s\n", e->title);
    table_print(t, stdout);
    table_free(t);
    for (int i = 0; i < results->count; i++)
        printf("%s: %s\n", results->list[i].device.resource, results->list[i].device.name);
    for (int i = 0; i < results->count; i++)
        if (results->list[i].tuned)
            printf("%s: variant and block as `flynn sweep --save` found them best\n", results->list[i].device.resource);
    for (int i = 0; i < results->backends->skipped_count; i++)
        printf("skipped %s: %s\n", results->backends->skipped[i].name, results->backends->skipped[i].reason);
    if (results->count > 0)
        printf("checked against: %s\n", results->list[0].check_method);
    for (int i = 0; i < results->count; i++)
        show_wrong_timing(&results->list[i]);
    for (int i = 0; i < results->count && e->print_more; i++)
        e->print_more(e, &results->list[i]);
}

/* ------------------------------------------------------------------------------------------------- JSON ---- */

static json_t *json_ints(const int *values, int count)
{
    json_t *list = json_new_list();

    for (int i = 0; i < count; i++)
        json_append(list, json_whole(values[i]));
    return list;
}

static json_t *json_times(const measurement *m)
{
    json_t *times = json_new_object();

    json_put(times, "h2d", json_numbers(m->h2d.s, m->h2d.count));
    json_put(times, "kernel", json_numbers(m->kernel.s, m->kernel.count));
    json_put(times, "d2h", json_numbers(m->d2h.s, m->d2h.count));
    json_put(times, "total", json_numbers(m->total.s, m->total.count));
    json_put(times, "call", json_numbers(m->call.s, m->call.count));
    return times;
}

static json_t *json_check(const measurement *m)
{
    const compare_result *c = &m->check;
    int64_t position[FL_MAX_DIMS] = {0};
    json_t *check = json_new_object();

    if (c->worst_index >= 0)
        split_index(c->worst_index, m->results[0].ndim, m->results[0].shape, position);
    json_put(check, "ok", json_boolean(c->ok));
    json_put(check, "method", json_text(m->check_method));
    json_put(check, "compared", json_whole(c->compared));
    json_put(check, "failed", json_whole(c->failed));
    json_put(check, "max_abs", json_number(c->max_abs));
    json_put(check, "max_rel", json_number(c->max_rel));
    json_put(check, "worst_index", c->worst_index < 0 ? json_null() : json_wholes(position, m->results[0].ndim));
    json_put(check, "worst_result", json_number(c->worst_result));
    json_put(check, "worst_expected", json_number(c->worst_expected));
    json_put(check, "tolerance", json_number(c->worst_bound));
    return check;
}

static const char *host_memory_of(const measurement *m, const common_options *common)
{
    return m->device.host_memory ? "in place" : common->pageable ? "pageable" : "pinned";
}

void results_put_device(json_t *row, const char *requested, const fl_device_info *device)
{
    json_put(row, "backend_requested", json_text(requested));
    json_put(row, "backend", json_text(device->backend));
    json_put(row, "resource", json_text(device->resource));
    json_put(row, "family", json_text(device->family));
    json_put(row, "emulation", json_boolean(device->emulation));
    json_put(row, "device", json_text(device->name));
    json_put(row, "flynn_class", json_text(device->flynn_class));
}

static void put_times(json_t *row, const measurement *m)
{
    double kernel = m->timing.kernel_s;

    json_put(row, "open_s", json_number(m->device.open_s));
    json_put(row, "cold_s", json_number(m->cold_s));
    json_put(row, "h2d_s", json_number(median(m->h2d.s, m->h2d.count)));
    json_put(row, "kernel_s", json_number(kernel));
    json_put(row, "d2h_s", json_number(median(m->d2h.s, m->d2h.count)));
    json_put(row, "total_s", json_number(total_of(m)));
    json_put(row, "call_s", json_number(median(m->call.s, m->call.count)));
    json_put(row, "times_s", json_times(m));
    json_put(row, "bytes", json_number(m->timing.bytes));
    json_put(row, "bytes_requested", json_number(m->timing.bytes_requested));
    json_put(row, "flops", json_number(m->timing.flops));
    json_put(row, "gbytes_per_s", json_number(m->timing.bytes / kernel / 1e9));
    json_put(row, "gflops", json_number(m->timing.flops / kernel / 1e9));
    json_put(row, "percent_of_ceiling", json_number(percent_of_ceiling(m)));
}

/* What the runtime told of the kernel; null where it did not. */
static void put_kernel(json_t *row, const fl_timing *t)
{
    bool known = t->registers > 0;

    json_put(row, "registers", known ? json_whole(t->registers) : json_null());
    json_put(row, "local_bytes", known ? json_whole(t->local_bytes) : json_null());
    json_put(row, "occupancy", t->occupancy > 0 ? json_number(t->occupancy) : json_null());
}

static json_t *json_result(const result_list *results, const exercise *e, const measurement *m)
{
    json_t *row = json_new_object(), *inputs = json_new_list();
    int rank = rank_of(results, m);

    json_put(row, "exercise", json_text(e->name));
    results_put_device(row, m->requested, &m->device);
    json_put(row, "variant", json_text(m->timing.variant));
    json_put(row, "tuned", json_boolean(m->tuned));
    json_put(row, "dtype", json_text(fl_dtype_name(m->results[0].dtype)));
    json_put(row, "shape", json_wholes(m->results[0].shape, m->results[0].ndim));
    for (int i = 0; i < e->input_count; i++)
        json_append(inputs, json_wholes(e->inputs[i].shape, e->inputs[i].ndim));
    json_put(row, "input_shapes", inputs);
    json_put(row, "elements", json_whole(exercise_elements(e)));
    json_put(row, "block", json_ints(m->timing.block, 3));
    json_put(row, "host_memory", json_text(host_memory_of(m, results->common)));
    put_times(row, m);
    put_kernel(row, &m->timing);
    json_put(row, "rank", rank ? json_whole(rank) : json_null());
    json_put(row, "check", json_check(m));
    if (e->add_json)
        e->add_json(e, m, row);
    return row;
}

/* "machine", with the GPU's data from the first device that is one. */
static json_t *json_machine(const backend_list *backends)
{
    json_t *machine = machine_describe();

    for (int i = backends->count; i-- > 0;) {
        const fl_device_info *d = fl_device_describe(backends->open[i].device);
        if (d->host_memory || d->emulation)
            continue;
        json_put(machine, "gpu", json_text(d->name));
        json_put(machine, "driver", json_text(d->driver));
        json_put(machine, "runtime", json_text(d->runtime));
    }
    return machine;
}

json_t *results_document(const backend_list *backends, json_t *rows)
{
    json_t *document = json_new_object(), *skipped = json_new_list();

    for (int i = 0; i < backends->skipped_count; i++) {
        json_t *entry = json_new_object();
        json_put(entry, "backend", json_text(backends->skipped[i].name));
        json_put(entry, "reason", json_text(backends->skipped[i].reason));
        json_append(skipped, entry);
    }
    json_put(document, "schema", json_text("flynn/1"));
    json_put(document, "machine", json_machine(backends));
    json_put(document, "results", rows);
    json_put(document, "skipped", skipped);
    return document;
}

bool results_write(const common_options *common, const json_t *document)
{
    problem why;

    if (common->json && !json_write(document, common->json_file, &why))
        fail_problem(&why);
    if (common->csv && !csv_write(json_object_get(document, "results"), common->csv_file, &why))
        fail_problem(&why);
    return !(common->json && !common->json_file) && !(common->csv && !common->csv_file);
}

void results_show(const result_list *results, const exercise *e)
{
    json_t *rows = json_new_list(), *document;

    for (int i = 0; i < results->count; i++)
        json_append(rows, json_result(results, e, &results->list[i]));
    document = results_document(results->backends, rows);
    if (results_write(results->common, document))
        show_table(results, e);
    json_decref(document);
}
