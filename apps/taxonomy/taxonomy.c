/* SPDX-License-Identifier: MIT
 *
 * flynn taxonomy: one operation as SISD, SIMD, MIMD and SIMT (M. Flynn, "Some computer organizations and their
 * effectiveness", IEEE Transactions on Computers C-21, 1972), and what comes nearest to MISD.
 */
#include "commands.h"
#include "instructions.h"
#include "show.h"

#include "exercises/registry.h"
#include "harness/child.h"
#include "harness/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/options.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS = 3 };

static const char summary[] =
    "Runs one operation (convolve1d, convolve, maximum or reconstruct; default: convolve1d) as SISD, SIMD, MIMD and "
    "SIMT, shows what puts each backend into its class and what each step gains, and then compares the answers of all "
    "variants on one backend.\v"
    "Without --backend: serial, simd with each instruction set of this processor, omp, and the GPU or its emulation. "
    "Without --variant each of them runs naive, the same loop on all. --dtype is f32 or f64. See "
    "docs/commands/taxonomy.md.";

/* ---------------------------------------------------------------------------------------------- the backends ---- */

static void add_name(char *list, size_t size, const char *name, const char *item)
{
    size_t used = strlen(list);

    snprintf(list + used, size - used, "%s%s%s%s", used ? "," : "", name, *item ? ":" : "", item);
}

/* A processor's backend, if it can run: with each instruction set if it is one of vectors. */
static void add_processor(char *list, size_t size, const fl_backend_info *b)
{
    int sets = 0;

    for (int i = 0; i < b->probe.isa_count && strcmp(b->flynn_class, "SIMD") == 0; i++) {
        if (b->probe.isa[i].why_not[0])
            continue;
        add_name(list, size, b->name, b->probe.isa[i].name);
        sets++;
    }
    if (!sets)
        add_name(list, size, b->name, "");
}

/* The first usable backend of that class; an emulation, or none. */
static const fl_backend_info *backend_of(const char *flynn_class, bool emulation)
{
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *b = fl_backend_get(i);
        if (b->usable && b->emulation == emulation && strcmp(b->flynn_class, flynn_class) == 0)
            return b;
    }
    return NULL;
}

/* Why none of the GPU's plugins can run. */
static void why_no_gpu(char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *b = fl_backend_get(i);
        size_t used = strlen(text);
        if (!b->usable && strncmp(b->name, "hip", 3) == 0)
            snprintf(text + used, size - used, "%s%s: %s", used ? "; " : "", b->name, b->probe.cause);
    }
    if (!text[0])
        snprintf(text, size, "there is no plugin for one");
}

/* "serial,simd:v2,simd:v3,omp,hip": from SISD to SIMT. */
static void choose_backends(char *list, size_t size, taxonomy_found *found)
{
    static const char *const classes[] = {"SISD", "SIMD", "MIMD"};
    const fl_backend_info *b;

    list[0] = '\0';
    for (int i = 0; i < 3; i++)
        if ((b = backend_of(classes[i], false)) != NULL)
            add_processor(list, size, b);
    if ((b = backend_of("SIMT", false)) != NULL) {
        add_name(list, size, b->name, "");
        return;
    }
    why_no_gpu(found->no_gpu, sizeof found->no_gpu);
    if ((b = backend_of("SIMT", true)) != NULL)
        add_name(list, size, b->name, "");
}

/* ------------------------------------------------------------------------------------------------- the steps ---- */

/* The exercise on all backends, in turns in one process. */
static json_t *run_exercise(const exercise_kind *kind, const common_options *common, taxonomy_found *found)
{
    common_options asked = *common;
    char list[512], *one = list;
    child_words words = child_words_start(kind->name);
    json_t *document;

    if (common->backend_count == 1 && strcmp(common->backends[0], "auto") == 0) {
        choose_backends(list, sizeof list, found);
        asked.backends = &one;
    }
    if (!common->has_variant) {
        asked.has_variant = true;
        asked.variant = "naive";
    }
    child_words_common(&words, exercise_takes(kind), &asked);
    progress("%s on all backends", kind->name);
    document = child_document(&words, kind->name);
    progress_end();
    return document;
}

/* The operation's arrays on a device. */
typedef struct placed {
    fl_device *device;
    fl_array *in[MOST_INPUTS], *out;
} placed;

static placed place(const exercise *e, fl_device *device)
{
    const output_spec *o = &e->outputs[0];
    placed p = {.device = device};

    for (int i = 0; i < e->input_count; i++)
        p.in[i] = reference_upload(device, &e->inputs[i], false);
    must(fl_array_create(device, o->dtype, o->ndim, o->shape, &p.out));
    return p;
}

static void free_placed(placed *p)
{
    for (int i = 0; i < MOST_INPUTS; i++)
        fl_array_free(p->in[i]);
    fl_array_free(p->out);
}

static void call(const exercise *e, placed *p, const char *variant)
{
    must(e->kind->steps.call(e, p->device, p->in, &p->out, &(fl_run){.variant = variant}));
}

/* The least of a few calls, after one that starts threads and touches memory. */
static void count_instructions(const exercise *e, fl_device *device, const char *variant, instruction_counter *counter,
                               taxonomy_step *step)
{
    const fl_device_info *d = fl_device_describe(device);
    placed p;

    step->instructions = -1;
    snprintf(step->reason, sizeof step->reason, "%s",
             d->emulation        ? "those of an emulation mean nothing"
             : !d->host_memory   ? "a GPU's instructions are not the processor's to count"
             : counter->file < 0 ? counter->reason
                                 : "");
    if (step->reason[0])
        return;
    p = place(e, device);
    for (int i = 0; i < COUNTS + 1; i++) {
        instructions_start(counter);
        call(e, &p, variant);
        must(fl_device_wait(device));
        int64_t now = instructions_stop(counter);
        if (i > 0 && now >= 0 && (step->instructions < 0 || now < step->instructions))
            step->instructions = now;
    }
    free_placed(&p);
    if (step->instructions < 0)
        snprintf(step->reason, sizeof step->reason, "the counter was shared with others");
}

static void take_step(const exercise *e, const json_t *row, instruction_counter *counter, taxonomy_step *step)
{
    fl_device *device;

    must(fl_device_open(json_string_value(json_object_get(row, "resource")), &device));
    step->device = *fl_device_describe(device);
    step->variant = row_text(row, "variant"); /* the document outlives it */
    step->right = row_is_right(row);
    step->kernel_s = row_number(row, "kernel_s");
    step->spread_s = row_times(row, "kernel").spread;
    step->total_s = row_number(row, "total_s");
    count_instructions(e, device, step->variant, counter, step);
    fl_device_close(device);
}

static void take_steps(const exercise *e, const json_t *rows, taxonomy_found *found)
{
    /* Before any device is open: threads that were there already would not be counted. */
    instruction_counter counter = instructions_open();

    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (found->step_count == MOST_STEPS)
            option_fail("backend", "too many backends; expected at most %d", MOST_STEPS);
        taxonomy_step *step = &found->steps[found->step_count++];
        step->result = (int)i;
        take_step(e, json_array_get(rows, i), &counter, step);
    }
    instructions_close(&counter);
    taxonomy_speed_ups(found);
}

/* -------------------------------------------------------------------------------------------------------- MISD ---- */

static void take_answer(const exercise *e, placed *p, const char *variant, taxonomy_answer *a)
{
    const output_spec *o = &e->outputs[0];
    measurement m = {.timing = {.variant = memory_text(variant)}}; /* a device's strings end with it */

    m.results[0] = reference_array(o->dtype, o->ndim, o->shape);
    memset(m.results[0].data, 0xff, host_array_bytes(&m.results[0])); /* NaN: what was there before is no answer */
    must(fl_array_write(p->out, m.results[0].data, NULL));
    call(e, p, variant);
    must(fl_array_to_host(p->out, m.results[0].data));
    a->variant = m.timing.variant;
    a->check = (e->kind->steps.check ? e->kind->steps.check : reference_check)(e, &m, a->method, sizeof a->method);
    a->answer = m.results[0];
}

/* All variants on the last backend that is no emulation; `auto` is one of the others, and `reference` is what they are
 * checked against. */
static void take_answers(const exercise *e, taxonomy_found *found)
{
    int last = found->step_count - 1;
    fl_device *device;
    fl_variant_info v;

    while (last > 0 && found->steps[last].device.emulation)
        last--;
    found->misd_device = found->steps[last].device;
    must(fl_device_open(found->misd_device.resource, &device));
    placed p = place(e, device);
    for (size_t i = 0; i < fl_variant_count(device) && found->answer_count < MOST_VARIANTS; i++) {
        must(fl_variant_get(device, i, &v));
        if (strcmp(v.operation, e->kind->name) == 0 && v.dtypes & 1u << found->dtype &&
            strcmp(v.variant, "auto") != 0 && strcmp(v.variant, "reference") != 0)
            take_answer(e, &p, v.variant, &found->answers[found->answer_count++]);
    }
    free_placed(&p);
    fl_device_close(device);
}

static void free_answers(taxonomy_found *found)
{
    for (int i = 0; i < found->answer_count; i++) {
        host_array_free(&found->answers[i].answer);
        free((char *)found->answers[i].variant);
    }
}

/* ----------------------------------------------------------------------------------------------------- command ---- */

static bool all_right(const taxonomy_found *found)
{
    bool right = true;

    for (int i = 0; i < found->step_count; i++)
        right = right && found->steps[i].right;
    for (int i = 0; i < found->answer_count; i++)
        right = right && found->answers[i].check.ok;
    return right;
}

int command_taxonomy(int argc, char **argv)
{
    static taxonomy_found found;
    const command_line line = {.name = "flynn taxonomy",
                               .arguments = "[EXERCISE]",
                               .most_arguments = 1,
                               .summary = summary,
                               .takes = TAKES_RUN | TAKES_JSON};
    const exercise_kind *kind;
    common_options common;
    json_t *document, *rows;
    exercise e;
    bool right;

    options_parse(&line, argc, argv, &common);
    kind =
        exercise_named(common.argument_count ? common.arguments[0] : "convolve1d", "taxonomy", exercise_shows_taxonomy);
    common.dtype = common.has_dtype ? common.dtype : FL_F32;
    common.has_dtype = true;
    common.size = common.size ? common.size : kind->taxonomy_size;
    exercises_refuse(&common, exercise_takes(kind));
    if (!fl_dtype_is_float(common.dtype))
        option_fail("dtype", "the classes are shown in f32 and f64, not in %s", fl_dtype_name(common.dtype));
    found.exercise = kind->name;
    found.dtype = common.dtype;
    found.size = common.size;
    document = run_exercise(kind, &common, &found);
    rows = json_object_get(document, "results");
    exercise_prepare(&e, kind, &common);
    found.elements = output_size(&e.outputs[0]);
    take_steps(&e, rows, &found);
    take_answers(&e, &found);
    json_put(document, "taxonomy", taxonomy_json(&found));
    if (results_write(&common, document))
        taxonomy_show(&found, json_object_get(document, "taxonomy"));
    right = all_right(&found);
    free_answers(&found);
    exercise_free(&e);
    json_decref(document);
    options_free(&common);
    return right ? EXIT_DONE : EXIT_WRONG_RESULT;
}
