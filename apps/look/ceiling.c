/* SPDX-License-Identifier: MIT
 *
 * flynn ceiling: the most that a device can do, measured through the same library as everything else: its memory, its
 * arithmetic, the link to it, and what a launch costs. The room look/ shows what there is: operations, backends,
 * devices.
 */
#include "ceiling.h"
#include "commands.h"
#include "quantity.h"

#include "run/backends.h"
#include "run/passes.h"
#include "kept/ceilings.h"
#include "kept/turn.h"
#include "ranks/group.h"
#include "ranks/launch.h"
#include "run/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/titles.h"
#include "view/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_PASSES = 6 }; /* which an interval of the median needs */

/* fl_bench_case.call and .between. */
static fl_status call(void *user, const fl_run *run)
{
    measured_device *d = user;

    return d->quantity->queue(d, run);
}

static fl_status wait_for_other(void *user, fl_stream *stream)
{
    const measured_device *d = user;

    (void)stream;
    return fl_stream_wait(d->other);
}

static void add_variant(fl_bench *bench, measured_device *d, const char *variant)
{
    const quantity_kind *q = d->quantity;

    must(fl_bench_add(bench, &(fl_bench_case){.name = q->title,
                                              .device = d->device,
                                              .variant = variant,
                                              .by = q->by,
                                              .call = call,
                                              .between = q->link ? wait_for_other : NULL,
                                              .user = d,
                                              .launches = q->launches > 0 ? q->launches : 1}));
}

/* The i-th case of the bench as an entry of "quantities". A GPU that lowers its clock for its own work is no
 * disturbance. */
static json_t *json_quantity(const fl_bench *bench, size_t i, const quantity_kind *q, double amount)
{
    const samples times = passes_samples(bench, i, q->by == FL_BENCH_HOST ? FL_BENCH_TOTAL : FL_BENCH_KERNEL);
    const fl_bench_statistics s = statistics_of(times.s, times.count);
    json_t *entry = json_new_object();
    fl_bench_result r;

    must(fl_bench_result_get(bench, i, &r));
    const bool disturbed = *r.disturbed && !(r.throttled > 0);
    const bool too_short = s.median < q->least_s;
    json_put(entry, "key", json_text(q->key));
    json_put(entry, "what", json_text(q->title));
    json_put(entry, "variant", json_text(q->of_fastest || q->is_stream ? r.first->variant : NULL));
    json_put(entry, "seconds", json_number(s.median));
    json_put(entry, "interval_s", quantity_interval(&s));
    json_put(entry, "spread_s", json_number(statistics_range(&s)));
    json_put(entry, "disturbed", json_text(*r.disturbed ? r.disturbed : NULL));
    json_put(entry, "steady", json_boolean(quantity_is_known(&s) && !disturbed && !too_short));
    json_put(entry, "amount", json_number(amount));
    json_put(entry, "per_second", json_number(amount / s.median));
    json_put(entry, "unit", json_text(q->unit));
    json_put(entry, "times_s", json_numbers(times.s, times.count));
    free(times.s);
    return entry;
}

/* Adds the variants of the quantity's operation that may be the fastest. One that takes several times as long as an
 * earlier one is left out: its passes would cost the command more than all others. */
static void add_variants(fl_bench *bench, measured_device *d)
{
    const double far_slower = 4;
    double least = INFINITY;
    fl_variant_info v;

    for (size_t i = 0; fl_variant_get(d->device, i, &v) == FL_OK; i++)
        if (strcmp(v.operation, d->quantity->operation) == 0 && v.dtypes & 1u << d->quantity->dtype &&
            fl_variant_ready(d->device, i) == FL_OK) {
            const double s = quantity_trial_s(d, v.variant);
            if (s <= far_slower * least)
                add_variant(bench, d, v.variant);
            least = fmin(least, s);
        }
}

/* Times the quantity, the variants of its operation in turns; of these the fastest. */
static json_t *sample(measured_device *d, double amount)
{
    const quantity_kind *q = d->quantity;
    const fl_bench_plan plan = {
        .repeat = d->common->repeat, .fewest = FEWEST_PASSES, .min_time_s = fmax(d->common->min_time_s, 1e-9)};
    json_t *fastest = NULL;
    fl_bench *bench;

    must(fl_bench_create(&plan, &bench));
    if (q->of_fastest)
        add_variants(bench, d);
    else
        add_variant(bench, d, d->variant);
    must(fl_bench_run(bench));
    for (size_t i = 0; i < fl_bench_count(bench); i++) {
        json_t *tried = json_quantity(bench, i, q, amount);
        const bool faster = !fastest || row_number(tried, "seconds") < row_number(fastest, "seconds");
        json_decref(faster ? fastest : tried);
        fastest = faster ? tried : fastest;
    }
    fl_bench_free(bench);
    return fastest;
}

/* Adds whether the result is right, and says what is wrong. */
static void put_check(measured_device *d, json_t *entry)
{
    json_t *check = json_new_object();
    problem why;
    const bool right = stream_is_right(&d->streams, d->quantity->stream, &why);

    if (!right)
        print_error("%s: %s is wrong: %s", d->info->resource, d->quantity->title, why.text);
    d->wrong = d->wrong || !right;
    json_put(check, "ok", json_boolean(right));
    json_put(entry, "check", check);
}

/* NULL: nothing here can run it. */
static json_t *measure_quantity(measured_device *d, const quantity_kind *q)
{
    if (q->operation && !backend_offers(d->device, q->operation, NULL)) {
        note("%s: %s is not measured: %s does not have %s", d->info->resource, q->title, d->info->resource,
             q->operation);
        return NULL;
    }
    turn_add(d->device);
    turn_take();
    progress("%s: %s", d->info->resource, q->title);
    d->quantity = q;
    d->variant = NULL;
    const double amount = q->prepare(d);
    json_t *found = q->unit && isnan(amount) ? NULL : sample(d, amount);
    turn_end();
    if (found && q->is_stream)
        put_check(d, found);
    fl_array_free(d->elements);
    d->elements = NULL;
    return found;
}

double ceiling_rate(const json_t *device, const char *key)
{
    double rate = NAN;
    json_t *q;
    size_t i;

    json_array_foreach(json_object_get(device, "quantities"), i, q) rate =
        strcmp(row_text(q, "key"), key) == 0 ? row_number(q, "per_second") : rate;
    return rate;
}

static bool is_steady(const json_t *quantity)
{
    return json_is_true(json_object_get(quantity, "steady"));
}

static const char unsteady[] = "its times vary by more than a quarter, or passes are too short";

static bool is_disturbed(const json_t *quantity)
{
    return json_is_string(json_object_get(quantity, "disturbed"));
}

/* Again where the times vary, or other programs held the choice of steps up, so that passes are too short to show more
 * than a launch; the try whose times vary least. What disturbs them will go on. */
static json_t *measure_steadily(measured_device *d, const quantity_kind *q)
{
    enum { MOST_TRIES = 3 };
    json_t *found = measure_quantity(d, q);

    for (int i = 1;
         i < MOST_TRIES && q->unit && !d->info->emulation && found && !is_steady(found) && !is_disturbed(found); i++) {
        json_t *again = measure_quantity(d, q);
        const bool better = is_steady(again) || row_number(again, "spread_s") / row_number(again, "seconds") <
                                                    row_number(found, "spread_s") / row_number(found, "seconds");
        json_decref(better ? found : again);
        found = better ? again : found;
    }
    if (found && !d->info->emulation && !is_steady(found) && !is_disturbed(found))
        json_put(found, "disturbed", json_text(unsteady));
    return found;
}

/* Returns whether the quantity is a copy of arrays that may stay in a cache, which does not show the memory. */
static bool is_cached(const measured_device *d, const char *key)
{
    return strcmp(key, "copy") == 0 && !d->info->emulation && (double)d->bytes <= d->caches;
}

/* NaN where the times do not show the device's speed, with a note that says why. */
static double kept_rate(const measured_device *d, const json_t *device, const char *key, json_t *notes)
{
    const double mebibyte = 0x1p20;
    json_t *q;
    size_t i;

    json_array_foreach(json_object_get(device, "quantities"), i, q)
    {
        if (strcmp(row_text(q, "key"), key) != 0 || is_steady(q))
            continue;
        if (is_cached(d, key))
            quantity_note(notes,
                          "%s: %s: arrays of %s may stay in the caches, which have up to %s: it is not kept; "
                          "--size=%.0fMi shows the memory",
                          d->info->resource, row_text(q, "what"), format_bytes((double)d->bytes).text,
                          format_bytes(d->caches).text, ceil(2 * d->caches / mebibyte));
        else if (is_disturbed(q))
            quantity_note(notes, "%s: %s: %s: it is not kept; measure it again on a quiet machine", d->info->resource,
                          row_text(q, "what"), row_text(q, "disturbed"));
        return NAN;
    }
    return ceiling_rate(device, key);
}

/* The rates that are worth saving: no rate that is not steady, and none of two that contradict each other. */
static ceilings worth_keeping(const measured_device *d, const json_t *device, json_t *notes)
{
    ceilings c = {kept_rate(d, device, "copy", notes), kept_rate(d, device, "f32", notes),
                  kept_rate(d, device, "f64", notes)};

    if (c.f32_flops_per_s < 0.9 * c.f64_flops_per_s) {
        quantity_note(notes,
                      "%s: multiply-adds in f32 (%s) are slower than in f64 (%s), which no processor's are: neither is "
                      "kept; measure them again on a quiet machine",
                      d->info->resource, format_rate(c.f32_flops_per_s, "FLOP/s").text,
                      format_rate(c.f64_flops_per_s, "FLOP/s").text);
        c.f32_flops_per_s = c.f64_flops_per_s = NAN;
    }
    return c;
}

/* A device of the document's "ceilings". `wrong` is set where a result is. */
static json_t *measure_device(fl_device *device, const common_options *common, json_t *notes, bool *wrong)
{
    const fl_device_info *info = fl_device_describe(device);
    json_t *row = json_new_object(), *quantities = json_new_list();
    problem why;
    measured_device d;

    quantity_start(&d, device, common);
    for (const quantity_kind *q = quantity_kinds; q->key; q++) {
        json_t *found = q->link && info->host_memory ? NULL : measure_steadily(&d, q);
        if (found && is_cached(&d, q->key))
            json_put(found, "steady", json_boolean(false));
        if (found)
            json_append(quantities, found);
    }
    progress_end();
    *wrong = *wrong || d.wrong;
    quantity_end(&d);
    json_put(row, "backend", json_text(info->backend));
    json_put(row, "resource", json_text(info->resource));
    json_put(row, "device", json_text(info->name));
    json_put(row, "emulation", json_boolean(info->emulation));
    json_put(row, "quantities", quantities);
    if (info->emulation)
        return row; /* its times mean nothing */
    const ceilings roofline = worth_keeping(&d, row, notes);
    if (!ceilings_save(info, &roofline, &why))
        quantity_note(notes, "the ceilings of %s are not kept: %s", info->resource, why.text);
    return row;
}

static cell measured(const json_t *quantity)
{
    const double seconds = row_number(quantity, "seconds"), rate = row_number(quantity, "per_second");
    const char *unit = strcmp(row_text(quantity, "unit"), "byte") == 0 ? "B/s" : "FLOP/s";

    return cell_print("%s", (isnan(rate) ? format_seconds(seconds) : format_rate(rate, unit)).text);
}

static cell checked(const json_t *quantity)
{
    return cell_print(!json_object_get(quantity, "check") ? "-" : row_is_right(quantity) ? "ok" : "WRONG");
}

static cell spread(const json_t *quantity)
{
    const fl_bench_statistics s = row_statistics(json_object_get(quantity, "times_s"));

    return cell_print("%s", format_percent(statistics_spread(&s)).text);
}

const column ceiling_columns[] = {
    {.key = "resource"},
    {.key = "what", .command = "ceiling"},
    {.key = "variant"},
    {.key = "per_second", .make = measured},
    {.key = "spread", .make = spread},
    {.key = "times_s", .command = "ceiling"},
    {.title = "check", .make = checked},
    {0},
};

/* ", 1980 MHz, 61 C" of a GPU; "" where it is not known. */
static cell state_of(const json_t *device, const json_t *machine)
{
    const double mhz = row_number(machine, "gpu_clock_mhz"), celsius = row_number(machine, "gpu_temperature_c");

    if (strcmp(row_text(device, "device"), row_text(machine, "gpu")) != 0 || isnan(mhz) || isnan(celsius))
        return (cell){""};
    return cell_print(", %.0f MHz, %.0f C", mhz, celsius);
}

static void show(const json_t *devices, const json_t *machine)
{
    json_t *quantities = rows_within(devices, "quantities"), *device;
    size_t i;

    columns_print(ceiling_columns, quantities, TABLE_TEXT, stdout);
    noise_print(quantities, "ceilings that are noisy are not kept");
    json_decref(quantities);
    json_array_foreach(devices, i, device) text_print(
        "%s: %s%s%s\n", row_text(device, "resource"), row_text(device, "device"), state_of(device, machine).text,
        json_is_true(row_value(device, "emulation")) ? " (emulation: its times mean nothing, not kept)" : "");
    if (ceilings_saved_in())
        text_print("kept in %s: other commands give the percentage of these ceilings that a result reached\n",
                   ceilings_saved_in());
}

static const char summary[] =
    "Measures the most that each device can do: copies in its memory, BabelStream's mul, add, triad and dot, copies to "
    "and from it, multiply-adds, and what a launch costs.\v"
    "The numbers are kept, and other commands report the percentage of the roofline that an exercise reached: the "
    "longer of bytes / bandwidth and operations / rate, over its time. The bandwidth is that of the copy; mul, add, "
    "triad and dot are for comparison with other machines. --size is in bytes of an array; a copy of arrays that fit "
    "into the caches is not kept. On several ranks (docs/cluster.md) it measures the link between them instead: "
    "ping-pong, exchange and all-reduce of messages up to --size bytes (64Mi).\v"
    "\tof the best device\n"
    "-b all\tof every device\n"
    "--ranks=2\tof the link between two processes\n";

int command_ceiling(int argc, char **argv)
{
    const command_line line = {.name = "flynn ceiling",
                               .summary = summary,
                               .takes = TAKES_BACKEND | TAKES_TRACE | TAKES_SIZE | TAKES_REPEAT | TAKES_MIN_TIME |
                                        TAKES_JSON | TAKES_TABLE | TAKES_RANKS,
                               .titles = TITLES_OF(ceiling_columns, network_columns)};
    common_options common;

    options_parse(&line, argc, argv, &common);
    launch_ranks(common.ranks, argc, argv, NULL);
    if (group_is_distributed()) {
        const int code = ceiling_of_network(&common);
        options_free(&common);
        return code;
    }
    backend_list backends = backends_open(&common);
    json_t *document = json_new_document(), *devices = json_new_list(), *notes = json_new_list();
    bool wrong = false;

    for (int i = 0; i < backends.count; i++)
        json_append(devices, measure_device(backends.open[i].device, &common, notes, &wrong));
    json_put(document, "machine", results_machine(&backends));
    json_put(document, "ceilings", devices);
    if (results_write(&common, document))
        show(devices, json_object_get(document, "machine"));
    quantity_print_notes(notes);
    json_decref(document);
    backends_close(&backends);
    options_free(&common);
    return wrong ? EXIT_WRONG_RESULT : EXIT_DONE;
}
