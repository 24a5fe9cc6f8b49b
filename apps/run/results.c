/* SPDX-License-Identifier: MIT */
#include "results.h"
#include "kept/ceilings.h"
#include "distributed.h"
#include "ranks/group.h"
#include "kept/machine.h"
#include "passes.h"
#include "shape.h"

#include "display/disagreement.h"
#include "display/lines.h"
#include "display/numbers.h"
#include "display/summary.h"
#include "files/files.h"
#include "files/output.h"
#include "support/fail.h"
#include "support/print.h"
#include "support/statistics.h"
#include "view/columns.h"
#include "view/csv.h"
#include "view/fields.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/sentence.h"
#include "view/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void result_list_free(result_list *results)
{
    for (int i = 0; i < results->count; i++)
        measurement_free(&results->list[i]);
    free(results->list);
    json_decref(results->rows);
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

json_t *results_check(const compare_result *c, const char *method, int ndim, const int64_t *shape)
{
    int64_t position[FL_MAX_DIMS] = {0};
    json_t *check = json_new_object();

    if (c->worst_index >= 0)
        split_index(c->worst_index, ndim, shape, position);
    json_put(check, "ok", c->unknown ? json_null() : json_boolean(c->ok));
    json_put(check, "method", json_text(method));
    json_put(check, "compared", json_whole(c->compared));
    json_put(check, "failed", json_whole(c->failed));
    json_put(check, "max_abs", json_number(c->max_abs));
    json_put(check, "max_rel", json_number(c->max_rel));
    json_put(check, "worst_index", c->worst_index < 0 ? json_null() : json_wholes(position, ndim));
    json_put(check, "worst_result", json_number(c->worst_result));
    json_put(check, "worst_expected", json_number(c->worst_expected));
    json_put(check, "tolerance", json_number(c->worst_bound));
    return check;
}

void results_put_wrong(json_t *check, const differences *wrong, int ndim, const int64_t *shape, const int *block)
{
    const where_text where = differences_where(wrong, ndim, shape, WHERE_COLUMNS);
    const pattern_text pattern = differences_pattern(wrong, ndim, shape, block);
    json_t *first = json_new_list(), *rows = json_new_list();
    int64_t position[FL_MAX_DIMS];

    for (int i = 0; i < FIRST_DIFFERENCES && i < wrong->count; i++) {
        json_t *one = json_new_object();
        split_index(wrong->first[i].index, ndim, shape, position);
        json_put(one, "index", json_wholes(position, ndim));
        json_put(one, "result", json_number(wrong->first[i].result));
        json_put(one, "expected", json_number(wrong->first[i].expected));
        json_append(first, one);
    }
    for (int r = 0; r < where.rows && wrong->count > 0; r++)
        json_append(rows, json_text(where.row[r]));
    json_put(check, "first_wrong", first);
    json_put(check, "pattern", json_text(*pattern.text ? pattern.text : NULL));
    json_put(check, "where", rows);
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

/* How close the kernel came to the least time that its compulsory bytes and its operations take; NaN while the device's
 * ceiling is not known. An emulation has none, nor have several ranks, because they may share a memory. */
static double percent_of_ceiling(const measurement *m)
{
    ceilings c = ceilings_load(&m->device);

    if (m->device.emulation || m->ranks)
        return NAN;
    return 100 * ceilings_least_s(&c, m->results[0].dtype, m->timing.bytes, m->timing.flops) / m->timing.kernel_s;
}

static void put_times(json_t *row, const measurement *m)
{
    json_t *given = json_new_object();

    json_put(given, "open_s", json_number(m->device.open_s));
    json_put(given, "cold_s", json_number(m->cold_s));
    json_put(given, "times_s", json_times(m));
    json_put(given, "bytes", json_number(m->timing.bytes));
    json_put(given, "bytes_requested", json_number(m->timing.bytes_requested));
    json_put(given, "flops", json_number(m->timing.flops));
    json_put(given, "percent_of_ceiling", json_number(percent_of_ceiling(m)));
    fields_put(row, given);
    json_decref(given);
}

/* Adds what the runtime reports about the kernel; null where it reports nothing. */
static void put_kernel(json_t *row, const fl_timing *t)
{
    bool known = t->registers > 0;

    json_put(row, "registers", known ? json_whole(t->registers) : json_null());
    json_put(row, "local_bytes", known ? json_whole(t->local_bytes) : json_null());
    json_put(row, "occupancy", t->occupancy > 0 ? json_number(t->occupancy) : json_null());
}

/* Adds the error that is accepted, and the least that the variant takes; null where none was named. */
static void put_tolerance(json_t *row, double tolerance, const fl_timing *t)
{
    json_put(row, "tolerance", tolerance > 0 ? json_number(tolerance) : json_null());
    json_put(row, "bound", tolerance > 0 ? json_number(t->bound) : json_null());
}

static json_t *json_shape(int64_t rows, int ndim, const int64_t *share)
{
    int64_t whole[FL_MAX_DIMS];

    exercise_whole(rows, ndim, share, whole);
    return json_wholes(whole, ndim);
}

/* exercise_elements, of all ranks. */
static int64_t whole_elements(const exercise *e)
{
    int64_t shape[FL_MAX_DIMS], most = e->output_rows, size;

    for (int d = 1; d < e->outputs[0].ndim; d++)
        most *= e->outputs[0].shape[d];
    for (int i = 0; i < e->input_count; i++) {
        shape_bytes(exercise_whole_input(e, i, shape), shape, 1, &size);
        most = size > most ? size : most;
    }
    return most;
}

text_key results_text_key(const exercise *e)
{
    text_key key = {.is_usable = true};
    json_t *text = e->kind->text ? e->kind->text(e) : NULL;

    if (text)
        snprintf(key.text, sizeof key.text, "%016" PRIx64, json_hash(text));
    key.is_usable = !json_is_null(text);
    json_decref(text);
    return key;
}

static json_t *json_result(const result_list *results, const exercise *e, const measurement *m)
{
    /* A counted result is cut to its count. */
    const int64_t rows = m->ranks ? distributed_rows(m) : m->results[0].shape[0];
    json_t *row = json_new_object(), *inputs = json_new_list();
    const text_key key = results_text_key(e);
    const char *const also = e->kind->calls_library;

    json_put(row, "exercise", json_text(e->kind->name));
    results_put_device(row, m->requested, &m->device);
    if (strcmp(m->device.flynn_class, "SISD") == 0 &&
        (strcmp(m->timing.variant, "library") == 0 ? !e->kind->scalar_library
                                                   : also && strcmp(m->timing.variant, also) == 0))
        json_put(row, "flynn_class", json_null()); /* it chooses vectors, and threads, itself */
    json_put(row, "variant", json_text(m->timing.variant));
    json_put(row, "tuned", json_boolean(m->tuned));
    json_put(row, "dtype", json_text(fl_dtype_name(m->results[0].dtype)));
    json_put(row, "shape", json_shape(rows, m->results[0].ndim, m->results[0].shape));
    for (int i = 0; i < e->input_count; i++)
        json_append(inputs, json_shape(e->input_rows[i], e->inputs[i].ndim, e->inputs[i].shape));
    json_put(row, "input_shapes", inputs);
    json_put(row, "elements", json_whole(group_is_distributed() ? whole_elements(e) : exercise_elements(e)));
    json_put(row, "block", json_wholes((int64_t[]){m->timing.block[0], m->timing.block[1], m->timing.block[2]}, 3));
    if (results->common->block[0] && m->timing.block[0] > 0 &&
        memcmp(results->common->block, m->timing.block, sizeof results->common->block) != 0)
        json_put(row, "block_asked",
                 json_wholes(
                     (int64_t[]){results->common->block[0], results->common->block[1], results->common->block[2]}, 3));
    json_put(row, "host_memory",
             json_text(m->device.host_memory       ? "in place"
                       : results->common->pageable ? "pageable"
                                                   : "pinned"));
    json_put(row, "warmup", json_whole(results->common->warmup));
    json_put(row, "flush", json_boolean(results->common->flush));
    put_tolerance(row, results->common->tolerance, &m->timing);
    put_times(row, m);
    if (m->ranks)
        distributed_put(row, m);
    noise_put(row, m->disturbed);
    put_kernel(row, &m->timing);
    json_t *check = results_check(&m->check, m->check_method, m->results[0].ndim, m->results[0].shape);
    results_put_wrong(check, &m->wrong, m->results[0].ndim, m->results[0].shape, m->timing.block);
    json_put(row, "check", check);
    if (e->kind->text)
        json_put(row, "text_key", json_text(key.is_usable ? key.text : NULL));
    if (e->kind->add_json)
        e->kind->add_json(e, m, row);
    return row;
}

json_t *results_machine(const backend_list *backends)
{
    json_t *machine = machine_describe();

    for (int i = backends->count; i-- > 0;) {
        const fl_device_info *d = fl_device_describe(backends->open[i].device);
        if (d->host_memory || d->emulation)
            continue;
        json_put(machine, "gpu", json_text(d->name));
        json_put(machine, "driver", json_text(d->driver));
        json_put(machine, "runtime", json_text(d->runtime));
        machine_put_gpu(machine, backends->open[i].device);
    }
    return machine;
}

json_t *results_document(const backend_list *backends, json_t *rows)
{
    json_t *document = json_new_document(), *skipped = json_new_list();

    for (int i = 0; i < backends->skipped_count; i++) {
        json_t *entry = json_new_object();
        json_put(entry, "backend", json_text(backends->skipped[i].name));
        json_put(entry, "reason", json_text(backends->skipped[i].reason));
        json_append(skipped, entry);
    }
    json_put(document, "machine", results_machine(backends));
    json_put(document, "results", rows);
    json_put(document, "skipped", skipped);
    return document;
}

void results_check_output(const common_options *c)
{
    problem why;

    if (c->output && strcmp(c->output, "-") == 0) {
        if ((c->json && !c->json_file) || (c->csv && !c->csv_file))
            fail(EXIT_BAD_INPUT, "--output=-: --%s goes to stdout; expected a FILE for one of the two",
                 c->json && !c->json_file ? "json" : "csv");
        output_take_stdout(c->quiet);
    }
    if (c->output)
        must_do(file_check_output(c->output, &why), &why);
}

/* "3 results" */
static cell what_of(const json_t *document)
{
    const size_t count = json_array_size(json_object_get(document, "results"));

    return count > 0 ? cell_print("%zu result%s", count, count == 1 ? "" : "s") : cell_print("a document");
}

bool results_write(const common_options *common, const json_t *document)
{
    problem why;

    output_release_stdout();
    columns_choose(common->wide, common->columns);
    if (common->json && !json_write(document, common->json_file, &why))
        fail_problem(&why);
    if (common->csv && !csv_write(json_object_get(document, "results"), common->csv_file, &why))
        fail_problem(&why);
    file_note_written(common->json_file, "%s", what_of(document).text);
    file_note_written(common->csv_file, "%s", what_of(document).text);
    const bool table = !(common->json && !common->json_file) && !(common->csv && !common->csv_file);
    if (table)
        machine_say_others(json_object_get(document, "machine"));
    return table;
}

void results_say_wrong(const json_t *rows, bool is_shown)
{
    const json_t *wrong = NULL, *row;
    int count = 0;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        wrong = wrong || !row_is_wrong(row) ? wrong : row;
        count += row_is_wrong(row);
    }
    if (!wrong || (is_shown && !fail_is_quiet()))
        return;
    const json_t *element = json_array_get(row_value(wrong, "check.first_wrong"), 0);
    const json_t *index = json_object_get(element, "index");
    char which[256] = "", others[32] = "", at[128] = "";
    cell block;
    for (i = 0; i < json_array_size(index); i++)
        snprintf(at + strlen(at), sizeof at - strlen(at), "%s%lld", i ? ", " : "",
                 (long long)json_integer_value(json_array_get(index, i)));
    if (element)
        snprintf(which, sizeof which, ": element [%s] is %.9g, expected %.9g", at, row_number(element, "result"),
                 row_number(element, "expected"));
    if (count > 1)
        snprintf(others, sizeof others, "; %d other row%s", count - 1, count > 2 ? "s" : "");
    print_error("%s %s, block %s, is wrong on %s%s%s", row_text(wrong, "exercise"), variant_cell(wrong).text,
                column_text(&(column){.key = "block", .as = AS_BLOCK}, wrong, &block), row_text(wrong, "resource"),
                which, others);
}

/* Shows the time of a clock that is stopped when the call returns. */
static void show_wrong_timing(const measurement *m)
{
    double call = median(m->call.s, m->call.count), kernel = m->timing.kernel_s;

    if (m->call.count == 0)
        return;
    text_print("%s: without waiting the clock shows %s; the work takes %s%s\n", m->device.resource,
               format_seconds(call).text, format_seconds(kernel).text,
               call < kernel / 2 ? ": a kernel is only queued, and must be waited for" : "");
}

/* How well the median of the quantity is known, as a part of it. */
static double precision_of(const samples *list)
{
    const fl_bench_statistics s = statistics_of(list->s, list->count);

    return fmax(s.high - s.median, s.median - s.low) / s.median;
}

/* Shows which precision was reached, with --until. */
static void show_precision(const measurement *m, double until)
{
    const double kernel = precision_of(&m->kernel), total = precision_of(&m->total);

    if (until == 0)
        return;
    text_print("%s %s: the medians of kernel and total are known to %.2g %% and %.2g %% (95 %%), of %d passes%s\n",
               m->device.resource, m->timing.variant, 100 * kernel, 100 * total, m->total.count,
               fmax(kernel, total) <= until ? "" : ": not as well as --until asks for");
}

/* Returns whether the ceiling of arithmetic is the lower one. */
static bool arithmetic_bounds(const measurement *m)
{
    const ceilings c = ceilings_load(&m->device);
    const fl_dtype dtype = m->results[0].dtype;

    return ceilings_least_s(&c, dtype, 0, m->timing.flops) > ceilings_least_s(&c, dtype, m->timing.bytes, 0);
}

/* More than the ceiling is expected in a cache, and of a GPU's units for matrices; elsewhere the ceiling is wrong. */
static void explain_ceiling(const measurement *m, const json_t *row)
{
    if (!(row_number(row, "percent_of_ceiling") > 105))
        return;
    if (strcmp(m->device.flynn_class, "SIMT") == 0 && arithmetic_bounds(m))
        text_print("%s %s: more than the ceiling, which is that of single multiply-adds: units for matrices, such as "
                   "tensor cores, compute more\n",
                   m->device.resource, m->timing.variant);
    else if (m->timing.bytes <= machine_caches_of(&m->device))
        text_print("%s %s: more than the ceiling, which is that of the memory: these %s stay in a cache\n",
                   m->device.resource, m->timing.variant, format_bytes(m->timing.bytes).text);
    else
        text_print(
            "%s %s: more than the ceiling, which therefore is wrong: `flynn ceiling --backend=%s` measures it again\n",
            m->device.resource, m->timing.variant, m->device.resource);
}

void results_print_skipped(const backend_list *backends)
{
    for (int i = 0; i < backends->skipped_count; i++)
        text_print("skipped %s: %s\n", backends->skipped[i].name, backends->skipped[i].reason);
}

/* Returns whether the i-th result is the first of its device: it comes before other variants and ranks. */
static bool is_first_of_device(const result_list *results, int i)
{
    for (int k = 0; k < i; k++)
        if (strcmp(results->list[k].device.resource, results->list[i].device.resource) == 0)
            return false;
    return true;
}

/* Prints how the results were checked: one line for all, or one for each result whose check differs from the previous
 * one. */
static void show_methods(const result_list *results)
{
    bool alike = true;

    for (int i = 1; i < results->count; i++)
        alike = alike && strcmp(results->list[i].check_method, results->list[0].check_method) == 0;
    for (int i = 0; i < results->count; i++) {
        const measurement *m = &results->list[i];
        if (i > 0 && strcmp(m->check_method, m[-1].check_method) == 0)
            continue;
        if (!alike)
            text_print("%s %s: ", m->device.resource, m->timing.variant);
        text_print("checked against: %s\n", m->check_method);
    }
}

/* Prints the first wrong elements, and where all of them are. */
static void show_wrong(const measurement *m)
{
    const host_array *result = &m->results[0];

    if (m->check.ok || m->check.unknown || m->wrong.count == 0)
        return;
    text_print("%s %s: %s of %s elements %s wrong:\n", m->device.resource, m->timing.variant,
               number_grouped(m->check.failed).text, number_grouped(m->check.compared).text,
               m->check.failed == 1 ? "is" : "are");
    disagreement_print(stdout, lines_width(),
                       &(disagreement){.found = &m->wrong,
                                       .names = {"result", "expected"},
                                       .arrays = {result, NULL},
                                       .dtype = result->dtype,
                                       .ndim = result->ndim,
                                       .shape = result->shape,
                                       .block = m->timing.block});
}

static void show_table(const result_list *results, const exercise *e, const json_t *rows)
{
    text_print("%s\n", e->title);
    sentences_print(sentences_of(rows), NULL);
    columns_print(columns_of(e->once ? IN_ONCE : IN_RUN, rows), rows, TABLE_TEXT, stdout);
    noise_print(rows, NULL);
    if (e->once)
        text_print("one pass, with allocations and loading: not a measurement (--min-time=0.2 makes one)\n");
    for (int i = 0; i < results->count; i++) {
        const measurement *m = &results->list[i];
        const json_t *row = json_array_get(rows, (size_t)i);
        if (is_first_of_device(results, i))
            text_print("%s: %s%s\n", m->device.resource, m->device.name,
                       m->device.emulation ? " (an emulation: its times mean nothing)" : "");
        if (!e->once)
            explain_ceiling(m, row);
        if (m->first_counts)
            text_print("%s: one pass is so long that only the first was timed\n", m->device.resource);
        if (m->tuned)
            text_print("%s: variant and block as `flynn sweep --save` found them best\n", m->device.resource);
        show_precision(m, results->common->until);
        show_wrong_timing(m);
    }
    results_print_skipped(results->backends);
    show_methods(results);
    for (int i = 0; i < results->count; i++)
        show_wrong(&results->list[i]);
    if (results->common->show >= 0 && !group_is_distributed()) {
        const array_origin origin = whole_origin();
        array_print(stdout, lines_width(), "result", &results->list[0].results[0], &origin, results->common->show);
    }
    for (int i = 0; i < results->count && e->kind->print; i++)
        e->kind->print(e, &results->list[i], json_array_get(rows, (size_t)i));
}

void results_add_rows(result_list *results, const exercise *e, int first)
{
    for (int i = first; i < results->count; i++)
        json_append(results->rows, json_result(results, e, &results->list[i]));
}

void results_show(result_list *results, const exercise *e)
{
    json_t *document;

    rows_rank(results->rows);
    document = results_document(results->backends, json_incref(results->rows));
    const bool table = results_write(results->common, document);
    if (table)
        show_table(results, e, results->rows);
    results_say_wrong(results->rows, table);
    json_decref(document);
}
