/* SPDX-License-Identifier: MIT
 *
 * flynn kernel: launches the user's kernel.
 */
#include "kernel_arguments.h"
#include "kernel_axes.h"
#include "kernel_expected.h"
#include "kernel_launch.h"
#include "kernel_rows.h"
#include "function.h"
#include "kernel_findings.h"
#include "kernel_nan.h"

#include "run/choices.h"
#include "run/reference.h"
#include "options/options.h"
#include "support/memory.h"
#include "view/json.h"
#include "view/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void settle(exercise *e)
{
    kernel_options *own = e->own;

    kernel_choose_block(e->common.block, own->block);
    kernel_fill(own, e->common.arguments, e->common.argument_count);
    if (!e->word)
        return;
    option_refuse(&e->common, TAKES_SIZE, "it is for the random vectors, and '%s' is given", e->word);
    if (e->common.argument_count == 0)
        option_refuse(&e->common, TAKES_SEED, "it is for the random vectors, and '%s' is given", e->word);
    exercise_refuse_seed(&e->common);
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    const kernel_options *own = e->own;
    const bool is_first = run->timing != NULL;
    const fl_status status = kernel_launch(e, &own->kernel, device, in, out, run, is_first && !own->unwatched, true);

    if (status == FL_E_SOURCE || status == FL_E_DEVICE) /* whose messages name lines of the text */
        kernel_text_must(&own->kernel, status, own->log);
    return status;
}

static void take_findings(const exercise *e, fl_device *device, watched *found)
{
    kernel_options *own = e->own;
    const fl_findings *findings;
    kernel_code *code;

    if (own->unwatched || kernel_on(own, &own->kernel, device, &code) != FL_OK ||
        !(findings = fl_kernel_found(code->kernel)))
        return;
    found->is_watched = true;
    found->findings = *findings;
}

/* "kernel: vector_add, 10000000 f32, 10000000 f32 -> 10000000 f32" */
static void plan(exercise *e)
{
    kernel_options *own = e->own;
    char arrays[sizeof e->title] = "";

    kernel_take_warp(own, e->backends);
    for (int i = 0; i < own->array_count + own->output_count; i++) {
        const bool in = i < own->array_count;
        const host_array *a = in ? own->arrays[i] : &own->begins[i - own->array_count];
        const size_t used = strlen(arrays);
        snprintf(arrays + used, sizeof arrays - used, "%s %s %s", i == own->array_count ? " ->" : ",",
                 format_shape(a->ndim, a->shape).text, fl_dtype_name(a->dtype));
    }
    for (int i = 0; i < own->output_count; i++)
        exercise_output(e, own->specs[i].dtype, own->specs[i].ndim, own->specs[i].shape);
    choices_saved_block(e, own->block); /* the expected kernel needs one of as many dimensions */
    e->begins = own->begins;
    e->guarded = !own->unguarded;
    e->uncounted = isnan(own->work_flops);
    exercise_title(e, "kernel: %s%s%.250s", own->kernel.info.name, own->array_count ? "" : ",",
                   own->only_prints ? " no output" : arrays);
}

/* --------------------------------------------------------------------------------------------------- check ---- */

static compare_result compare(const kernel_options *own, const host_array *result, const host_array *wanted)
{
    const reference_bound bound = user_bound(own->relative, own->absolute, result->dtype, wanted);

    return reference_compare(result, wanted, &bound);
}

/* "out[3, 4]" */
static const char *element_name(char text[160], const kernel_options *own, int output, int64_t at)
{
    const output_spec *o = &own->specs[output];

    snprintf(text, 160, "%.40s%s", own->outputs[output], format_index(at, o->ndim, o->shape).text);
    return text;
}

static void check_guards(const kernel_options *own, const measurement *m, compare_result *found)
{
    const watched *w = &m->watched;
    const int i = w->overwritten - 1;

    if (!w->overwritten)
        return;
    print_error("%s: the kernel writes %s %s: element %" PRId64 " of an array of %" PRId64
                " was overwritten (is a test of the index missing?)",
                m->requested, w->overwritten_at < 0 ? "before" : "beyond", own->outputs[i], w->overwritten_at,
                output_size(&own->specs[i]));
    found->ok = found->unknown = false;
}

/* Other results in another pass: a race, or additions in another order. */
static void check_passes(const kernel_options *own, const measurement *m, compare_result *found)
{
    const watched *w = &m->watched;
    const int i = w->differing - 1;
    compare_result passes;
    char name[160];

    if (!w->differing)
        return;
    passes = compare(own, &w->different, &w->first);
    if (passes.failed == 0) {
        note("%s: passes differ in the last bits of %s, within the tolerance (sums in another order?)", m->requested,
             own->outputs[i]);
        return;
    }
    print_error("%s: two passes give different results: %s is %.9g, and %.9g in the first one: a race?", m->requested,
                element_name(name, own, i, passes.worst_index), passes.worst_result, passes.worst_expected);
    found->ok = found->unknown = false;
}

/* Says with which grid the kernel would be right. */
static void try_exchanged(const exercise *e, const measurement *m)
{
    kernel_options *own = e->own;
    int64_t grid[3];

    if (own->exchanged_count == MOST_FUNCTION_DEVICES || !kernel_is_right_exchanged(e, m, grid))
        return;
    own->exchanged[own->exchanged_count].requested = m->requested;
    memcpy(own->exchanged[own->exchanged_count++].grid, grid, sizeof grid);
    print_error("%s: right with --grid=%s: your x is the first dimension; let it be the last", m->requested,
                format_block((int[]){(int)grid[0], (int)grid[1], (int)grid[2]}).text);
}

/* Says what the passes looked for where nothing says what is right, and how to check the result. */
static const char *not_checked(const measurement *m)
{
    const watched *w = &m->watched;

    return w->is_watched && w->findings.count == 0 && !w->overwritten && !w->differing
               ? "no race and no access outside the arrays was seen; --expect=WHAT says what is right: an expression, "
                 "a file or a kernel"
               : "--expect=WHAT says what is right: an expression, a file or a kernel";
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const kernel_options *own = e->own;
    const expected_results *x = e->expected;
    const bool alone = x->count < own->output_count;
    compare_result found = compare_start();
    unsigned kinds;
    char name[160];

    kernel_check_unwritten(e, m);
    for (int i = 0; i < x->count; i++) {
        const compare_result one = compare(own, &m->results[i], &x->value[i]);
        compare_merge(&found, &one, 0);
        compare_watch(NULL); /* positions in other outputs are none of the first one */
        if (i > 0 && one.failed > 0)
            print_error("%s: %s is wrong: %.9g, expected %.9g", m->requested,
                        element_name(name, own, i, one.worst_index), one.worst_result, one.worst_expected);
    }
    snprintf(method, size,
             alone    ? "%s (%s alone)"
             : *x->on ? "%s on %s"
                      : "%s%s",
             x->how, alone ? *own->outputs : x->on);
    if (found.failed == 0 && (x->count == 0 || (x->itself && strcmp(x->on, m->device.backend) == 0)))
        found = compare_unknown(method, size, not_checked(m));
    if (own->only_prints)
        found = compare_unknown(method, size, "the kernel has no output; what it prints is on stderr");
    if (found.failed > 0)
        try_exchanged(e, m);
    kinds = findings_judge(own, m, &found);
    if (!(kinds & 1u << FL_FOUND_BEYOND)) /* else the same has been said, with its line */
        check_guards(own, m, &found);
    if (!(kinds & 1u << FL_FOUND_RACE))
        check_passes(own, m, &found);
    nan_judge(own, m, own->expect ? x->count : 0, &found);
    if (found.failed == 0) /* then no element of the result is the worst one */
        found.worst_index = found.ok ? found.worst_index : -1;
    return found;
}

static void release(exercise *e)
{
    kernel_expected_free(e->expected);
    kernel_arguments_free(e->own);
}

/* Macros, grid and shared memory may follow the block: their values belong to the key. Where this run's words name a
 * block, they have the values for it, and another block must not be taken. */
static json_t *text(const exercise *e)
{
    const kernel_options *own = e->own;
    json_t *all;

    if (own->names_block && e->common.block[0] == 0)
        return json_null();
    all = json_new_list();
    json_append(all, json_text(own->kernel.text));
    json_append(all, json_text(own->kernel.info.name));
    json_append(all, json_wholes(own->grid, 3));
    json_append(all, json_whole(own->shared));
    for (int i = 0; own->macros[i]; i++)
        json_append(all, json_text(own->macros[i]));
    return all;
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const kernel_options *own = e->own;
    json_t *let = json_new_object(), *defines = json_new_list();

    json_put(row, "kernel", json_text(own->kernel.info.name));
    json_put(row, "file", json_text(e->word));
    json_put(row, "grid", json_wholes(m->timing.grid, 3));
    json_put(row, "right_with_grid", json_null());
    for (int i = 0; i < own->exchanged_count; i++)
        if (strcmp(own->exchanged[i].requested, m->requested) == 0)
            json_put(row, "right_with_grid", json_wholes(own->exchanged[i].grid, 3));
    for (int i = 0; i < own->let_count; i++)
        json_put(let, own->lets[i].name, json_whole(own->lets[i].values.value[0]));
    json_put(row, "let", let);
    for (int i = 0; own->defines[i]; i++)
        json_append(defines, json_text(own->macros[i]));
    json_put(row, "define", defines);
    json_put(row, "warp", json_whole(own->warp ? atoi(kernel_warps[own->warp]) : m->device.warp_size));
    json_put(row, "passes_differ", json_boolean(m->watched.differing != 0));
    json_put(row, "findings", findings_json(&m->watched));
    json_put(row, "overwritten", m->watched.overwritten ? json_whole(m->watched.overwritten_at) : json_null());
}

const exercise_kind kernel_exercise = {
    .name = "kernel",
    .summary = "launch your own kernel",
    .help = "Launches FILE's last kernel (HIP's or CUDA's C++), an ARGUMENT for a parameter.\v"
            "A const T * takes a .npy file, a word that makes an array (random:64x64, see `flynn help --long show`), a "
            "number or a range FIRST:END[:STEP]; a T * takes `out` or `out=SHAPE` (zeros; default: the shape of the "
            "first array that is read), `inout:FILE`, or a file that the kernel reads; a number takes a number. A file "
            "of a course runs as it is, without its includes, main and launches. Outputs are put back before each "
            "pass. --define, --let and --constant may be given several times. Several files, and lists in --block, "
            "--define and --let, make a row each, as in `flynn sweep kernel`. {FORMULA} in an argument, --define, "
            "--grid, --shared or --expect is its value: names of --let, block.x, + - * / % and brackets. Without FILE: "
            "the sum of two random vectors (--size, --dtype, --seed). A GPU or --backend=hip-cpu runs it.\v"
            "vector_add.hip 0:9 0:9 out 9 -b hip-cpu\tsums of two ranges\n",
    .arguments = "[FILE... [ARGUMENT...]]",
    .input_count = FL_MAX_INPUTS,
    .most_words = MOST_KERNEL_WORDS,
    .first_is_text = true,
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_CHECK | TAKES_PAGEABLE | TAKES_WRONG_TIMING,
    .options = kernel_own_options,
    .own_size = sizeof(kernel_options),
    .own = &(const kernel_options)KERNEL_DEFAULTS,
    .made = "the random vectors",
    .size = 10000000,
    .laws = {10000000, 1, NULL},
    .steps = {NULL, plan, call, kernel_expect, check, release},
    .hand_over = kernel_hand_over,
    .settle = settle,
    .take = kernel_take,
    .watched = take_findings,
    .text = text,
    .add_json = add_json,
};
