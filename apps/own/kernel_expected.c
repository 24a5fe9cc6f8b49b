/* SPDX-License-Identifier: MIT
 *
 * What the outputs of the user's kernel should be: an expression, an array, or the results of a kernel.
 */
#include "kernel_expected.h"
#include "function.h"
#include "kernel_findings.h"
#include "kernel_launch.h"
#include "kernel_rows.h"

#include "files/files.h"
#include "run/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "view/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_expression(const exercise *e, expected_results *x)
{
    const kernel_options *own = e->own;
    const output_spec *o = &own->specs[0];
    host_array one = reference_array(FL_I64, 1, (int64_t[]){1}); /* for an expression that names no array */
    fl_device *device = reference_device("map", "reference");
    user_function f = {.text = memory_text(own->expect), .shown_as = "--expect", .is_expression = true};
    const int most = own->array_count < FL_MAX_EXPRESSION_INPUTS ? own->array_count : FL_MAX_EXPRESSION_INPUTS;
    const int arrays = user_expression_reads(own->expect) ? most : 0;
    fl_array *in[FL_MAX_EXPRESSION_INPUTS], *out;
    fl_function *function;

    f.inputs[0] = FL_I64;
    for (int i = 0; i < arrays; i++)
        f.inputs[i] = own->arrays[i]->dtype;
    host_array_set(&one, 0, 0);
    user_function_count_inputs(&f, arrays > 0 ? arrays : 1);
    must(user_function_on(&f, device, &function));
    for (int i = 0; i < f.count; i++)
        in[i] = reference_upload(device, arrays ? own->arrays[i] : &one, false);
    must(fl_array_create(device, fl_function_describe(function)->result, o->ndim, o->shape, &out));
    must(fl_map(device, function, (const fl_array *const *)in, f.count, out, &(fl_run){.variant = "reference"}));
    x->value[x->count++] = reference_fetch(out);
    for (int i = 0; i < f.count; i++)
        fl_array_free(in[i]);
    user_function_free(&f);
    fl_device_close(device);
    host_array_free(&one);
    x->how = own->expect;
}

static void expect_file(const exercise *e, expected_results *x)
{
    static const input_kind any_array = {"expected result", 0, FL_MAX_DIMS, true};
    const kernel_options *own = e->own;

    const array_source source = exercise_source(e, own->expect, &own->specs[0].dtype);
    x->value[x->count++] = exercise_read(&source, &any_array);
    if (host_array_size(&x->value[0]) != output_size(&own->specs[0]))
        fail(EXIT_BAD_INPUT, "--expect: %s is %s, and %s is %s", own->expect,
             format_shape(x->value[0].ndim, x->value[0].shape).text, own->outputs[0],
             format_shape(own->specs[0].ndim, own->specs[0].shape).text);
    x->how = own->expect;
}

static bool runs_on_hip_cpu(const exercise *e)
{
    for (int i = 0; e->backends && i < e->backends->count; i++)
        if (strcmp(fl_device_describe(e->backends->open[i].device)->backend, "hip-cpu") == 0)
            return true;
    return false;
}

/* Launches a kernel on outputs that begin with these contents. If that succeeds, value[i] gets the results. */
static fl_status results_of(const exercise *e, const kernel_text *k, fl_device *device, const host_array *begins,
                            bool watched, host_array *value)
{
    kernel_options *own = e->own;
    fl_array *in[MOST_INPUTS], *out[MOST_OUTPUTS] = {NULL}, *whole[MOST_OUTPUTS] = {NULL};
    fl_run run = {0};
    fl_status status;

    memcpy(run.block, own->block, sizeof run.block);
    for (int i = 0; i < e->input_count; i++)
        in[i] = reference_upload(device, &e->inputs[i], false);
    for (int i = 0; i < own->output_count; i++) {
        must(watch_create(device, own->specs[i].dtype, output_size(&own->specs[i]), &whole[i], &out[i]));
        must(fl_array_write(out[i], begins[i].data, NULL));
    }
    status = kernel_launch(e, k, device, in, out, &run, watched, false);
    if (status == FL_E_MEMORY)
        must(status);
    for (int i = 0; i < own->output_count; i++) {
        if (status == FL_OK)
            value[i] = reference_fetch(out[i]);
        else
            fl_array_free(out[i]);
        fl_array_free(whole[i]);
    }
    for (int i = 0; i < e->input_count; i++)
        fl_array_free(in[i]);
    return status;
}

static bool same_element(const host_array *a, const host_array *b, int64_t i)
{
    const size_t size = fl_dtype_size(a->dtype), at = (size_t)i * size;

    return memcmp((const char *)a->data + at, (const char *)b->data + at, size) == 0;
}

/* The place of an output's parameter, which is the same in another kernel with such parameters. */
static int parameter_of_output(const kernel_options *own, const kernel_text *k, int output)
{
    for (int i = 0; i < k->info.count; i++)
        if (own->arguments[i].output == output)
            return i;
    return -1;
}

/* An output that the launch did not read may begin with anything: what another launch, with each bit of such an output
 * changed, leaves as it was, no thread writes. */
static void find_unwritten(const exercise *e, const kernel_text *k, fl_device *device, expected_results *x)
{
    kernel_options *own = e->own;
    host_array begins[MOST_OUTPUTS], again[MOST_OUTPUTS];
    bool has[MOST_OUTPUTS] = {false}, some = false;
    kernel_code *code;

    for (int i = 0; i < own->output_count && kernel_on(own, k, device, &code) == FL_OK; i++) {
        has[i] = findings_unwritten(fl_kernel_found(code->kernel), parameter_of_output(own, k, i));
        some = some || has[i];
    }
    if (!some)
        return;
    for (int i = 0; i < own->output_count; i++) {
        const host_array *b = &own->begins[i];
        begins[i] = reference_array(b->dtype, b->ndim, b->shape);
        for (size_t at = 0; at < host_array_bytes(b); at++)
            ((unsigned char *)begins[i].data)[at] = ((const unsigned char *)b->data)[at] ^ (has[i] ? 255 : 0);
    }
    if (results_of(e, k, device, begins, false, again) == FL_OK)
        for (int i = 0; i < own->output_count; i++) {
            const int64_t size = host_array_size(&own->begins[i]);
            x->unwritten[i] = has[i] ? memory_zeroed((size_t)size, 1) : NULL;
            for (int64_t at = 0; at < size && has[i]; at++)
                x->unwritten[i][at] =
                    same_element(&x->value[i], &own->begins[i], at) && same_element(&again[i], &begins[i], at);
            host_array_free(&again[i]);
        }
    for (int i = 0; i < own->output_count; i++)
        host_array_free(&begins[i]);
}

/* The results of a kernel on a device. false: it cannot run there, or does not compile. */
static bool run_once(const exercise *e, const kernel_text *k, fl_device *device, expected_results *x)
{
    kernel_options *own = e->own;
    const bool other = k != &own->kernel;
    /* A kernel whose accesses would end this process is to be told so by its first pass. */
    const bool watched = other || (runs_on_hip_cpu(e) && !own->unwatched);

    if (results_of(e, k, device, own->begins, watched, x->value) != FL_OK)
        return false;
    x->count = own->output_count;
    if (other)
        find_unwritten(e, k, device, x);
    return true;
}

void kernel_check_unwritten(const exercise *e, const measurement *m)
{
    const kernel_options *own = e->own;
    const expected_results *x = e->expected;

    for (int i = 0; i < x->count && !x->itself; i++) {
        const output_spec *o = &own->specs[i];
        int64_t count = 0, first = -1, changed = -1;
        for (int64_t at = 0; x->unwritten[i] && at < output_size(o); at++) {
            if (!x->unwritten[i][at])
                continue;
            first = count++ == 0 ? at : first;
            if (changed < 0 && !same_element(&m->results[i], &own->begins[i], at))
                changed = at;
        }
        const index_text at = format_index(changed < 0 ? first : changed, o->ndim, o->shape);
        if (changed >= 0)
            fail(EXIT_BAD_INPUT,
                 "--expect: %s on %s does not write %" PRId64 " of the %" PRId64 " elements of %s, such as %s%s, "
                 "which %s writes; --expect-grid=X[xY[xZ]] launches it on another grid",
                 x->how, x->on, count, output_size(o), own->outputs[i], own->outputs[i], at.text, own->kernel.shown_as);
        if (count > 0)
            note("%s: --expect: %s does not write %" PRId64 " of the %" PRId64
                 " elements of %s, such as %s%s; %s leaves "
                 "them as they were",
                 m->requested, x->how, count, output_size(o), own->outputs[i], own->outputs[i], at.text,
                 own->kernel.shown_as);
    }
}

void kernel_expected_free(expected_results *x)
{
    for (int i = 0; x && i < MOST_OUTPUTS; i++) {
        host_array_free(&x->value[i]);
        free(x->unwritten[i]);
    }
    free(x);
}

/* Computes what is expected: on hip-cpu; or, where another kernel is named and hip-cpu does not exist, on the first
 * backend. */
static void expect_run(const exercise *e, const kernel_text *k, expected_results *x)
{
    const kernel_text *own = &((const kernel_options *)e->own)->kernel;
    const bool other = strcmp(k->text, own->text) != 0 || strcmp(k->info.name, own->info.name) != 0;
    fl_device *device = NULL;

    progress("%s: expected result", k->shown_as);
    x->how = k->shown_as;
    if (fl_device_open("hip-cpu", &device) == FL_OK && run_once(e, k, device, x))
        x->on = "hip-cpu";
    else if (other && e->backends && run_once(e, k, e->backends->open[0].device, x))
        x->on = e->backends->open[0].requested;
    x->itself = !other;
    fl_device_close(device);
}

/* Returns whether parameter i has the same numbers, if it is a vector or a struct by value. */
static bool same_numbers(const fl_kernel_info *a, const fl_kernel_info *b, int i)
{
    bool same = a->number_count[i] == b->number_count[i];

    for (int n = 0; same && n < a->number_count[i]; n++)
        same = a->numbers[i][n].dtype == b->numbers[i][n].dtype;
    return same;
}

static void expect_kernel(const exercise *e, expected_results *x)
{
    const kernel_options *own = e->own;
    kernel_text other = kernel_text_read(own, own->expect, NULL);
    bool alike = other.info.count == own->kernel.info.count;

    for (int i = 0; i < other.info.count && alike; i++) {
        const fl_parameter *a = &other.info.parameters[i], *b = &own->kernel.info.parameters[i];
        alike = a->dtype == b->dtype && a->is_array == b->is_array && a->is_constant == b->is_constant &&
                same_numbers(&other.info, &own->kernel.info, i);
    }
    if (!alike)
        fail(EXIT_BAD_INPUT, "--expect: the kernel of %s takes other arguments than that of %s", own->expect,
             own->kernel.shown_as);
    expect_run(e, &other, x);
    if (x->count == 0 && *own->log)
        kernel_text_must(&other, FL_E_SOURCE, own->log);
    if (x->count == 0)
        fail(EXIT_CANNOT_RUN, "--expect: %s cannot run here: %s", own->expect, fl_last_error());
    kernel_text_free(&other);
}

/* Refuses NAME:WHAT, of which NAME is neither an output nor a kind of arrays. */
static void refuse_name(const kernel_options *own)
{
    char outputs[256] = "";

    if (!made_is_word(own->expect) || made_has_kind(own->expect))
        return;
    for (int i = 0; i < own->output_count; i++)
        snprintf(outputs + strlen(outputs), sizeof outputs - strlen(outputs), "%s%s", i ? ", " : "", own->outputs[i]);
    const int length = (int)strcspn(own->expect, ":");
    fail(EXIT_BAD_INPUT, "--expect: %s has no output '%.*s' (%s %s), and no array is made by '%.*s'",
         own->kernel.info.name, length, own->expect, own->output_count == 1 ? "its output is" : "its outputs are",
         outputs, length, own->expect);
}

void kernel_expect(exercise *e)
{
    const kernel_options *own = e->own;
    expected_results *x = memory_zeroed(1, sizeof *x);

    x->how = x->on = "";
    if (own->expect)
        refuse_name(own);
    if (own->only_prints)
        x->count = 0;
    else if (!own->expect)
        expect_run(e, &own->kernel, x);
    else if (file_ends_in(own->expect, ".npy") || file_ends_in(own->expect, ".png") || made_is_word(own->expect))
        expect_file(e, x);
    else if (kernel_is_file(own->expect))
        expect_kernel(e, x);
    else
        expect_expression(e, x);
    e->expected = x;
}
