/* SPDX-License-Identifier: MIT
 *
 * flynn taxonomy: one operation as SISD, SIMD, MIMD and SIMT (M. Flynn, "Some computer organizations and their
 * effectiveness", IEEE Transactions on Computers C-21, 1972), and what comes nearest to MISD.
 */
#include "commands.h"
#include "instructions.h"
#include "show.h"
#include "subject.h"

#include "harness/child.h"
#include "support/fail.h"
#include "support/options.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS = 3 };

static const char summary[] =
    "Runs one operation (convolve1d, convolve, maximum or reconstruct; convolve1d if none is named) as SISD, SIMD, "
    "MIMD and "
    "SIMT, "
    "and shows what makes each one so and what each step gains; then all its variants on one backend, the answers "
    "compared.\v"
    "Without --backend: serial, simd with each instruction set of this processor, omp, and the GPU or its emulation. "
    "Without --variant each of them runs naive, the same loop on all. --dtype is f32 or f64. docs/taxonomy.md tells "
    "more.";

static error_t parse(int key, char *value, struct argp_state *state)
{
    const char **exercise = state->input;

    if (key != ARGP_KEY_ARG || *exercise)
        return ARGP_ERR_UNKNOWN;
    *exercise = value;
    return 0;
}

static const char *exercise_named(const char *name)
{
    const char *names[16], *nearest;
    int count = 0;

    for (; count < 16 && (names[count] = subject_name(count)) != NULL; count++)
        if (strcmp(names[count], name) == 0)
            return names[count];
    nearest = fl_nearest_name(name, names, (size_t)count);
    fail(EXIT_BAD_INPUT,
         "'%s' is no exercise that is shown; expected convolve1d, convolve, maximum or reconstruct%s%s%s", name,
         nearest ? " (the nearest is " : "", nearest ? nearest : "", nearest ? ")" : "");
}

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
static json_t *run_exercise(const common_options *common, taxonomy_found *found)
{
    common_options asked = *common;
    char list[512], *one = list;
    child_words words = child_words_start(found->exercise);
    child_result r;

    if (common->backend_count == 1 && strcmp(common->backends[0], "auto") == 0) {
        choose_backends(list, sizeof list, found);
        asked.backends = &one;
    }
    if (!common->has_variant) {
        asked.has_variant = true;
        asked.variant = "naive";
    }
    asked.dtype = found->dtype;
    asked.has_dtype = true;
    asked.size = found->size;
    child_words_common(&words, &asked);
    progress("%s on all backends", found->exercise);
    r = child_run(&words);
    progress_end();
    child_words_free(&words);
    if (!r.document)
        fail(r.exit_code == EXIT_DONE ? EXIT_BROKEN : r.exit_code, "%s: %s", found->exercise, r.message);
    return r.document;
}

static double number_of(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

/* The least of a few calls, after one that starts threads and touches memory. */
static void count_instructions(const subject *s, fl_device *device, const char *variant, instruction_counter *counter,
                               taxonomy_step *step)
{
    const fl_device_info *d = fl_device_describe(device);
    subject_arrays arrays;

    step->instructions = -1;
    snprintf(step->reason, sizeof step->reason, "%s",
             d->emulation        ? "those of an emulation mean nothing"
             : !d->host_memory   ? "a GPU's instructions are not the processor's to count"
             : counter->file < 0 ? counter->reason
                                 : "");
    if (step->reason[0])
        return;
    arrays = subject_arrays_create(s, device);
    for (int i = 0; i < COUNTS + 1; i++) {
        instructions_start(counter);
        must(subject_call(s, &arrays, &(fl_run){.variant = variant}));
        must(fl_device_wait(device));
        int64_t now = instructions_stop(counter);
        if (i > 0 && now >= 0 && (step->instructions < 0 || now < step->instructions))
            step->instructions = now;
    }
    subject_arrays_free(&arrays);
    if (step->instructions < 0)
        snprintf(step->reason, sizeof step->reason, "the counter was shared with others");
}

/* The interquartile range of the kernel's times. */
static double spread_of(const json_t *row)
{
    const json_t *times = json_object_get(json_object_get(row, "times_s"), "kernel");
    const int count = (int)json_array_size(times);
    double *s = malloc(((size_t)count + 1) * sizeof *s), spread;

    if (!s)
        fail(EXIT_BROKEN, "out of memory for %d times", count);
    for (int i = 0; i < count; i++)
        s[i] = json_number_value(json_array_get(times, (size_t)i));
    spread = statistics_of(s, count).spread;
    free(s);
    return spread;
}

static void take_step(const subject *s, const json_t *row, instruction_counter *counter, taxonomy_step *step)
{
    fl_device *device;

    must(fl_device_open(json_string_value(json_object_get(row, "resource")), &device));
    step->device = *fl_device_describe(device);
    step->right = json_is_true(json_object_get(json_object_get(row, "check"), "ok"));
    step->kernel_s = number_of(row, "kernel_s");
    step->spread_s = spread_of(row);
    step->total_s = number_of(row, "total_s");
    count_instructions(s, device, json_string_value(json_object_get(row, "variant")), counter, step);
    fl_device_close(device);
}

static void take_steps(const subject *s, const json_t *rows, taxonomy_found *found)
{
    /* Before any device is open: threads that were there already would not be counted. */
    instruction_counter counter = instructions_open();

    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (found->step_count == MOST_STEPS)
            option_fail("backend", "too many backends; expected at most %d", MOST_STEPS);
        taxonomy_step *step = &found->steps[found->step_count++];
        step->result = (int)i;
        take_step(s, json_array_get(rows, i), &counter, step);
    }
    instructions_close(&counter);
    taxonomy_speed_ups(found);
}

/* -------------------------------------------------------------------------------------------------------- MISD ---- */

static void take_answer(subject *s, const subject_arrays *arrays, const char *variant, taxonomy_answer *a)
{
    problem why;

    a->variant = strdup(variant); /* a device's strings end with it */
    if (!a->variant)
        fail(EXIT_BROKEN, "out of host memory");
    a->check = subject_check(s, arrays, variant, a->method, sizeof a->method);
    if (!host_array_convert(&s->result, s->dtype, &a->answer, "--size", &why))
        fail_problem(&why);
}

/* All variants on the last backend that is no emulation; `auto` is one of the others, and `reference` is what they are
 * checked against. */
static void take_answers(subject *s, taxonomy_found *found)
{
    int last = found->step_count - 1;
    fl_device *device;
    fl_variant_info v;

    while (last > 0 && found->steps[last].device.emulation)
        last--;
    found->misd_device = found->steps[last].device;
    must(fl_device_open(found->misd_device.resource, &device));
    subject_arrays arrays = subject_arrays_create(s, device);
    for (size_t i = 0; i < fl_variant_count(device) && found->answer_count < MOST_VARIANTS; i++) {
        must(fl_variant_get(device, i, &v));
        if (strcmp(v.operation, s->name) == 0 && v.dtypes & 1u << s->dtype && strcmp(v.variant, "auto") != 0 &&
            strcmp(v.variant, "reference") != 0)
            take_answer(s, &arrays, v.variant, &found->answers[found->answer_count++]);
    }
    subject_arrays_free(&arrays);
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

static void settle(const common_options *common, const char *exercise, taxonomy_found *found)
{
    found->exercise = exercise_named(exercise ? exercise : "convolve1d");
    found->dtype = common->has_dtype ? common->dtype : FL_F32;
    found->size = common->size ? common->size : subject_default_size(found->exercise);
    if (found->dtype != FL_F32 && found->dtype != FL_F64)
        option_fail("dtype", "%s is not shown; expected f32 or f64", fl_dtype_name(found->dtype));
}

int command_taxonomy(int argc, char **argv)
{
    static taxonomy_found found;
    const char *exercise = NULL;
    const command_line line = {
        "flynn taxonomy", "[EXERCISE]", summary, TAKES_BACKEND | TAKES_RUN | TAKES_JSON, NULL, parse, &exercise};
    common_options common;
    json_t *document, *rows;
    problem why;
    bool right;

    options_parse(&line, argc, argv, &common);
    settle(&common, exercise, &found);
    document = run_exercise(&common, &found);
    rows = json_object_get(document, "results");
    subject *s = subject_create(found.exercise, found.size, found.dtype, common.seed);
    found.elements = host_array_size(&s->result);
    take_steps(s, rows, &found);
    take_answers(s, &found);
    json_put(document, "taxonomy", taxonomy_json(&found));
    if (common.json && !json_write(document, common.json_file, &why))
        fail_problem(&why);
    if (!common.json || common.json_file)
        taxonomy_show(&found, rows);
    right = all_right(&found);
    free_answers(&found);
    subject_free(s);
    json_decref(document);
    options_free(&common);
    return right ? EXIT_DONE : EXIT_WRONG_RESULT;
}
