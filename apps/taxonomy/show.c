/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "harness/results.h"
#include "support/fail.h"
#include "view/columns.h"
#include "view/json.h"
#include "view/table.h"
#include "view/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char misd_means[] =
    "No backend here is MISD: many instruction streams on one stream of data. What comes nearest is one answer "
    "computed in several ways, as computers in aircraft do to outvote one that fails: the variants of the operation, "
    "one after the other, on the same data.";

void taxonomy_speed_ups(taxonomy_found *found)
{
    const taxonomy_step *before = NULL;

    for (int i = 0; i < found->step_count; i++) {
        taxonomy_step *s = &found->steps[i];
        bool ranked = s->right && !s->device.emulation;
        s->speed_up = ranked && before ? before->kernel_s / s->kernel_s : (double)NAN;
        s->speed_up_with_copies = ranked && before ? before->total_s / s->total_s : (double)NAN;
        if (ranked)
            before = s;
    }
}

/* Numbers in a vector; 1: there are none. */
static int lanes_of(const taxonomy_found *found, const fl_device_info *d)
{
    return d->vector_bits > 64 ? d->vector_bits / (8 * (int)fl_dtype_size(found->dtype)) : 1;
}

/* What makes the device what it is. */
typedef struct reason_text {
    char text[160];
} reason_text;

static reason_text what_makes_it(const taxonomy_found *found, const fl_device_info *d)
{
    const int lanes = lanes_of(found, d);
    reason_text t = {""};
    int used;

    if (d->warp_size > 0) {
        snprintf(t.text, sizeof t.text, "warps of %d threads in step, %d multiprocessor%s%s", d->warp_size,
                 d->multiprocessors, d->multiprocessors == 1 ? "" : "s", d->emulation ? ", imitated" : "");
        return t;
    }
    used = snprintf(t.text, sizeof t.text, "%d thread%s, ", d->threads, d->threads == 1 ? "" : "s");
    if (lanes > 1)
        snprintf(t.text + used, sizeof t.text - (size_t)used, "vectors of %d bits: %d %s an instruction",
                 d->vector_bits, lanes, fl_dtype_name(found->dtype));
    else
        snprintf(t.text + used, sizeof t.text - (size_t)used, "one number an instruction");
    return t;
}

/* How two answers differ, bit by bit. */
typedef struct difference {
    int64_t elements;
    double largest;
} difference;

static difference difference_of(const host_array *a, const host_array *b)
{
    const size_t width = fl_dtype_size(a->dtype);
    difference d = {0, 0};

    for (int64_t i = 0, n = host_array_size(a); i < n; i++) {
        if (memcmp((const char *)a->data + (size_t)i * width, (const char *)b->data + (size_t)i * width, width) == 0)
            continue;
        double apart = fabs(host_array_get(a, i) - host_array_get(b, i));
        d.elements++;
        d.largest = apart <= d.largest ? d.largest : apart; /* a NaN stays */
    }
    return d;
}

static double per_element(const taxonomy_found *found, const taxonomy_step *s)
{
    return s->instructions < 0 ? (double)NAN : (double)s->instructions / (double)found->elements;
}

static json_t *json_step(const taxonomy_found *found, const taxonomy_step *s)
{
    const fl_device_info *d = &s->device;
    json_t *entry = json_new_object(), *check = json_new_object();

    json_put(entry, "result", json_whole(s->result));
    json_put(entry, "resource", json_text(d->resource));
    json_put(entry, "flynn_class", json_text(d->flynn_class));
    json_put(entry, "emulation", json_boolean(d->emulation));
    json_put(entry, "what", json_text(what_makes_it(found, d).text));
    json_put(entry, "isa", json_text(d->isa));
    json_put(entry, "threads", json_whole(d->threads));
    json_put(entry, "vector_bits", json_whole(d->vector_bits));
    json_put(entry, "lanes", d->warp_size ? json_null() : json_whole(lanes_of(found, d)));
    json_put(entry, "warp_size", json_whole(d->warp_size));
    json_put(entry, "multiprocessors", json_whole(d->multiprocessors));
    json_put(entry, "instructions", s->instructions < 0 ? json_null() : json_whole(s->instructions));
    json_put(entry, "instructions_per_element", json_number(per_element(found, s)));
    json_put(entry, "instructions_reason", s->reason[0] ? json_text(s->reason) : json_null());
    json_put(entry, "kernel_s", json_number(s->kernel_s));
    json_put(entry, "spread_s", json_number(s->spread_s));
    json_put(entry, "spread", json_number(s->spread_s / s->kernel_s));
    json_put(entry, "total_s", json_number(s->total_s));
    json_put(entry, "speed_up", json_number(s->speed_up));
    json_put(entry, "speed_up_with_copies", json_number(s->speed_up_with_copies));
    json_put(entry, "variant", json_text(s->variant));
    json_put(entry, "ok", json_boolean(s->right));
    json_put(check, "ok", json_boolean(s->right));
    json_put(entry, "check", check);
    return entry;
}

static json_t *json_answer(const taxonomy_answer *a)
{
    json_t *entry = json_new_object();

    json_put(entry, "variant", json_text(a->variant));
    json_put(entry, "check", results_check(&a->check, a->method, a->answer.ndim, a->answer.shape));
    return entry;
}

static json_t *json_pair(const taxonomy_answer *a, const taxonomy_answer *b)
{
    const difference d = difference_of(&a->answer, &b->answer);
    json_t *entry = json_new_object();

    json_put(entry, "a", json_text(a->variant));
    json_put(entry, "b", json_text(b->variant));
    json_put(entry, "same_bits", json_boolean(d.elements == 0));
    json_put(entry, "differing", json_whole(d.elements));
    json_put(entry, "max_abs", json_number(d.largest));
    return entry;
}

static json_t *json_misd(const taxonomy_found *found)
{
    json_t *misd = json_new_object(), *answers = json_new_list(), *pairs = json_new_list();

    for (int i = 0; i < found->answer_count; i++) {
        json_append(answers, json_answer(&found->answers[i]));
        for (int k = i + 1; k < found->answer_count; k++)
            json_append(pairs, json_pair(&found->answers[i], &found->answers[k]));
    }
    json_put(misd, "means", json_text(misd_means));
    json_put(misd, "resource", json_text(found->misd_device.resource));
    json_put(misd, "answers", answers);
    json_put(misd, "pairs", pairs);
    return misd;
}

json_t *taxonomy_json(const taxonomy_found *found)
{
    json_t *taxonomy = json_new_object(), *steps = json_new_list();

    for (int i = 0; i < found->step_count; i++)
        json_append(steps, json_step(found, &found->steps[i]));
    json_put(taxonomy, "exercise", json_text(found->exercise));
    json_put(taxonomy, "size", json_whole(found->size));
    json_put(taxonomy, "dtype", json_text(fl_dtype_name(found->dtype)));
    json_put(taxonomy, "elements", json_whole(found->elements));
    json_put(taxonomy, "steps", steps);
    json_put(taxonomy, "no_gpu", found->no_gpu[0] ? json_text(found->no_gpu) : json_null());
    json_put(taxonomy, "misd", json_misd(found));
    return taxonomy;
}

static const column step_columns[] = {
    {"class", "flynn_class", AS_TEXT, NULL},
    {"backend", "resource", AS_TEXT, NULL},
    {"what makes it so", "what", AS_TEXT, NULL},
    {"variant", "variant", AS_TEXT, NULL},
    {"instructions/element", "instructions_per_element", AS_NUMBER, NULL},
    {"kernel", "kernel_s", AS_SECONDS, NULL},
    {"spread", "spread", AS_PART, NULL},
    {"total", "total_s", AS_SECONDS, NULL},
    {"step", "speed_up", AS_FACTOR, NULL},
    {"with copies", "speed_up_with_copies", AS_FACTOR, NULL},
    {"check", "check", AS_CHECK, NULL},
    {NULL, NULL, AS_TEXT, NULL},
};

/* A row and a column for each variant: "same" bits, or the largest difference. */
static void show_misd(const taxonomy_found *found)
{
    table_column columns[MOST_VARIANTS + 4] = {{"variant", 0}};
    const int count = found->answer_count;
    table *t;

    for (int i = 0; i < count; i++)
        columns[1 + i] = (table_column){found->answers[i].variant, 1};
    columns[1 + count] = (table_column){"max error", 1};
    columns[2 + count] = (table_column){"check", 0};
    t = table_create(columns);
    for (int i = 0; i < count; i++) {
        const taxonomy_answer *a = &found->answers[i];
        quantity texts[MOST_VARIANTS + 1];
        const char *cells[MOST_VARIANTS + 4] = {a->variant};
        for (int k = 0; k < count; k++) {
            const difference d = difference_of(&a->answer, &found->answers[k].answer);
            texts[k] = format_number(d.largest);
            cells[1 + k] = k == i ? "" : d.elements == 0 ? "same bits" : texts[k].text;
        }
        texts[count] = format_number(a->check.max_abs);
        cells[1 + count] = texts[count].text;
        cells[2 + count] = a->check.ok ? "ok" : "WRONG";
        table_add(t, cells);
    }
    table_print(t, stdout);
    table_free(t);
}

void taxonomy_show(const taxonomy_found *found, const json_t *taxonomy)
{
    printf("%s, %" PRId64 " %s: the same operation by Flynn's classes\n", found->exercise, found->elements,
           fl_dtype_name(found->dtype));
    columns_print(step_columns, json_object_get(taxonomy, "steps"), TABLE_TEXT, stdout);
    printf("step, with copies: the kernel and the total of the step before over this one's\n");
    if (found->steps[0].instructions < 0)
        printf("instructions/element is unknown: %s\n", found->steps[0].reason);
    if (found->no_gpu[0])
        printf("no GPU shows SIMT here: %s\n", found->no_gpu);
    printf("\nMISD: %s\n", misd_means);
    printf("On %s; a cell is the largest difference of two answers:\n", found->misd_device.resource);
    show_misd(found);
}
