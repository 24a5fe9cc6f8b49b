/* SPDX-License-Identifier: MIT
 *
 * flynn kernel: launches the user's kernel.
 */
#include "kernel_arguments.h"
#include "function.h"

#include "files/files.h"
#include "run/reference.h"
#include "options/options.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "view/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BLOCK = 256 };

static void settle(exercise *e)
{
    if (!e->word)
        return;
    option_refuse(&e->common, TAKES_SIZE, "it is for the random vectors, and '%s' is given", e->word);
    if (e->common.argument_count == 0)
        option_refuse(&e->common, TAKES_SEED, "it is for the random vectors, and '%s' is given", e->word);
    exercise_refuse_seed(&e->common);
}

/* --------------------------------------------------------------------------------------------------- launch ---- */

static fl_status fill_constants(const kernel_options *own, fl_device *device, fl_kernel *kernel)
{
    fl_status status = FL_OK;

    for (int i = 0; i < own->constant_count && status == FL_OK; i++) {
        const kernel_constant *c = &own->constants[i];
        fl_array *array = reference_upload(device, &c->value, false);
        char *name = memory_text(c->name);
        name[c->length] = '\0';
        status = fl_kernel_constant(kernel, name, array);
        free(name);
        fl_array_free(array);
    }
    return status;
}

/* Its code there, compiled at the first call. */
static fl_status kernel_on(kernel_options *own, const kernel_text *k, fl_device *device, kernel_code **found)
{
    kernel_code *code = own->code;
    fl_status status;

    while (code < own->code + MOST_FUNCTION_DEVICES - 1 && code->device &&
           (code->device != device || code->text != k->text))
        code++;
    if (code->device != device || code->text != k->text) {
        fl_kernel_free(code->kernel);
        *code = (kernel_code){.device = NULL};
        progress("%s: compiling", k->shown_as);
        status = fl_kernel_create(device, k->text, k->shown_as, k->entry, own->defines, own->log, sizeof own->log,
                                  &code->kernel);
        if (status == FL_OK)
            status = fill_constants(own, device, code->kernel);
        if (status != FL_OK)
            return status;
        user_compiled(k->shown_as);
        if (k == &own->kernel)
            kernel_remark(own);
        code->device = device;
        code->text = k->text;
    }
    *found = code;
    return FL_OK;
}

/* Blocks for a thread for each element of the first output: along its last dimensions where the block has several. */
static void choose_grid(const kernel_options *own, const int block[3], int64_t grid[3])
{
    const output_spec *o = &own->specs[own->grid_output];
    const int64_t size = output_size(o);

    for (int d = 0; d < 3; d++)
        grid[d] = own->grid[d] ? own->grid[d] : 1;
    if (own->grid[0])
        return;
    if (block[1] * block[2] > 1) {
        for (int d = 0; d < 3 && d < o->ndim; d++)
            grid[d] = (o->shape[o->ndim - 1 - d] + block[d] - 1) / block[d];
    } else {
        grid[0] = size > block[0] ? (size + block[0] - 1) / block[0] : 1;
    }
}

static void choose_block(const int asked[3], int block[3])
{
    for (int d = 0; d < 3; d++)
        block[d] = asked[0] == 0 ? (d == 0 ? USUAL_BLOCK : 1) : asked[d] > 0 ? asked[d] : 1;
}

/* `shown`: what it prints is, if this is its first launch there. */
static fl_status launch(const exercise *e, const kernel_text *k, fl_device *device, fl_array *const *in,
                        fl_array *const *out, const fl_run *run, bool shown)
{
    kernel_options *own = e->own;
    fl_argument arguments[FL_MAX_PARAMETERS];
    int64_t grid[3];
    fl_run with = *run;
    kernel_code *code;
    fl_status status = kernel_on(own, k, device, &code);

    if (status == FL_OK && k->info.prints && code->launches++ == 1)
        status = fl_device_wait(device); /* a GPU prints then: what the first launch has printed is shown */
    if (status != FL_OK)
        return status;
    choose_block(run->block, with.block);
    choose_grid(own, with.block, grid);
    for (int i = 0; i < k->info.count; i++) {
        const kernel_argument *a = &own->arguments[i];
        arguments[i] = (fl_argument){a->input >= 0    ? in[a->input]
                                     : a->output >= 0 ? out[a->output]
                                                      : NULL,
                                     a->integer, a->real};
    }
    user_function_enter("kernel", !k->info.prints || (shown && code->launches == 1));
    return user_function_leave(fl_kernel_launch(code->kernel, grid, own->shared, arguments, k->info.count, &with));
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    const kernel_options *own = e->own;
    const fl_status status = launch(e, &own->kernel, device, in, out, run, true);

    if (status == FL_E_SOURCE)
        kernel_text_must(&own->kernel, status, own->log);
    return status;
}

/* "kernel: vector_add, 10000000 f32, 10000000 f32 -> 10000000 f32" */
static void plan(exercise *e)
{
    kernel_options *own = e->own;
    char arrays[sizeof e->title] = "";

    for (int i = 0; i < own->array_count + own->output_count; i++) {
        const bool in = i < own->array_count;
        const host_array *a = in ? own->arrays[i] : &own->begins[i - own->array_count];
        const size_t used = strlen(arrays);
        snprintf(arrays + used, sizeof arrays - used, "%s %s %s", i == own->array_count ? " ->" : ",",
                 format_shape(a->ndim, a->shape).text, fl_dtype_name(a->dtype));
    }
    for (int i = 0; i < own->output_count; i++)
        exercise_output(e, own->specs[i].dtype, own->specs[i].ndim, own->specs[i].shape);
    e->begins = own->begins;
    e->guarded = !own->unguarded;
    exercise_title(e, "kernel: %s%s%.250s", own->kernel.info.name, own->array_count ? "" : ",",
                   own->only_prints ? " no output" : arrays);
}

/* --------------------------------------------------------------------------------------------------- check ---- */

typedef struct expected_results {
    char how[96];
    int count;          /* expected outputs; 0: none */
    const char *itself; /* the backend that computed them with this very kernel, whose runs they cannot check; or "" */
    host_array value[MOST_OUTPUTS];
} expected_results;

/* Returns whether an expression names an array that is read: x, y, z or w. */
static bool names_array(const char *text)
{
    for (size_t length; *text; text += length ? length : 1) {
        length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.");
        if (length == 1 && strchr("xyzw", *text))
            return true;
    }
    return false;
}

static void expect_expression(const exercise *e, expected_results *x)
{
    const kernel_options *own = e->own;
    const output_spec *o = &own->specs[0];
    host_array one = reference_array(FL_I64, 1, (int64_t[]){1}); /* for an expression that names no array */
    fl_device *device = reference_device("map", "reference");
    user_function f = {.text = memory_text(own->expect), .shown_as = "--expect", .is_expression = true};
    const int most = own->array_count < FL_MAX_EXPRESSION_INPUTS ? own->array_count : FL_MAX_EXPRESSION_INPUTS;
    const int arrays = names_array(own->expect) ? most : 0;
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
    snprintf(x->how, sizeof x->how, "%.60s", own->expect);
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
    snprintf(x->how, sizeof x->how, "%.60s", own->expect);
}

/* The results of a kernel on a device. false: it cannot run there, or does not compile. */
static bool run_once(const exercise *e, const kernel_text *k, fl_device *device, expected_results *x)
{
    const kernel_options *own = e->own;
    fl_array *in[MOST_INPUTS], *out[MOST_OUTPUTS] = {NULL}, *whole[MOST_OUTPUTS] = {NULL};
    fl_run run = {0};
    fl_status status;

    memcpy(run.block, e->common.block, sizeof run.block);
    for (int i = 0; i < e->input_count; i++)
        in[i] = reference_upload(device, &e->inputs[i], false);
    for (int i = 0; i < own->output_count; i++) {
        must(watch_create(device, own->specs[i].dtype, output_size(&own->specs[i]), &whole[i], &out[i]));
        must(fl_array_write(out[i], own->begins[i].data, NULL));
    }
    status = launch(e, k, device, in, out, &run, false);
    if (status == FL_E_MEMORY)
        must(status);
    for (int i = 0; i < own->output_count; i++) {
        if (status == FL_OK)
            x->value[x->count++] = reference_fetch(out[i]);
        else
            fl_array_free(out[i]);
        fl_array_free(whole[i]);
    }
    for (int i = 0; i < e->input_count; i++)
        fl_array_free(in[i]);
    return status == FL_OK;
}

/* Computes what is expected: on hip-cpu; or, where another kernel is named and hip-cpu does not exist, on the first
 * backend. */
static void expect_run(const exercise *e, const kernel_text *k, expected_results *x)
{
    const kernel_text *own = &((const kernel_options *)e->own)->kernel;
    const bool other = strcmp(k->text, own->text) != 0 || strcmp(k->info.name, own->info.name) != 0;
    fl_device *device = NULL;

    progress("%s: expected result", k->shown_as);
    if (fl_device_open("hip-cpu", &device) == FL_OK && run_once(e, k, device, x)) {
        snprintf(x->how, sizeof x->how, "%.60s on hip-cpu", k->shown_as);
        x->itself = other ? "" : "hip-cpu";
    } else if (other && e->backends && run_once(e, k, e->backends->open[0].device, x)) {
        snprintf(x->how, sizeof x->how, "%.60s on %.30s", k->shown_as, e->backends->open[0].requested);
    }
    fl_device_close(device);
}

static void expect_kernel(const exercise *e, expected_results *x)
{
    const kernel_options *own = e->own;
    kernel_text other = kernel_text_read(own->expect, NULL);
    bool alike = other.info.count == own->kernel.info.count;

    for (int i = 0; i < other.info.count && alike; i++) {
        const fl_parameter *a = &other.info.parameters[i], *b = &own->kernel.info.parameters[i];
        alike = a->dtype == b->dtype && a->is_array == b->is_array && a->is_constant == b->is_constant;
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

static void expect(exercise *e)
{
    const kernel_options *own = e->own;
    expected_results *x = memory_zeroed(1, sizeof *x);

    x->itself = "";
    if (own->only_prints)
        x->count = 0;
    else if (!own->expect)
        expect_run(e, &own->kernel, x);
    else if (file_ends_in(own->expect, ".npy") || file_ends_in(own->expect, ".png") || made_is_word(own->expect))
        expect_file(e, x);
    else if (file_ends_in(own->expect, ".hip") || file_ends_in(own->expect, ".cu") || file_ends_in(own->expect, ".cpp"))
        expect_kernel(e, x);
    else
        expect_expression(e, x);
    e->expected = x;
}

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
                m->requested, w->overwritten_at < 0 ? "before" : "behind", own->outputs[i], w->overwritten_at,
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

static bool has_nan(const host_array *a, int64_t *at)
{
    for (*at = 0; fl_dtype_is_float(a->dtype) && *at < host_array_size(a); ++*at)
        if (isnan(host_array_get(a, *at)))
            return true;
    return false;
}

/* Returns whether the kernel reads a NaN. */
static bool reads_nan(const kernel_options *own)
{
    int64_t at;

    for (int i = 0; i < own->array_count; i++)
        if (has_nan(own->arrays[i], &at))
            return true;
    for (int i = 0; i < own->constant_count; i++)
        if (has_nan(&own->constants[i].value, &at))
            return true;
    for (int i = 0; i < own->kernel.info.count; i++)
        if (isnan(own->arguments[i].real))
            return true;
    return false;
}

/* Finds NaN in an output of which --expect says nothing, if nothing that the kernel reads is NaN. */
static void check_nan(const kernel_options *own, const measurement *m, int compared, compare_result *found)
{
    int64_t at;
    char name[160];

    for (int i = own->expect ? compared : 0; i < own->output_count; i++) {
        if (!has_nan(&m->results[i], &at) || reads_nan(own))
            continue;
        print_error("%s: %s is NaN, and nothing that the kernel reads is: 0 / 0, a root or logarithm of a negative "
                    "number, or memory that nothing has written? (--expect says where NaN is right)",
                    m->requested, element_name(name, own, i, at));
        found->ok = found->unknown = false;
        return;
    }
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const kernel_options *own = e->own;
    const expected_results *x = e->expected;
    compare_result found = compare_start();
    char name[160];

    for (int i = 0; i < x->count; i++) {
        const compare_result one = compare(own, &m->results[i], &x->value[i]);
        compare_merge(&found, &one, 0);
        compare_watch(NULL); /* positions in other outputs are none of the first one */
        if (i > 0 && one.failed > 0)
            print_error("%s: %s is wrong: %.9g, expected %.9g", m->requested,
                        element_name(name, own, i, one.worst_index), one.worst_result, one.worst_expected);
    }
    snprintf(method, size, x->count < own->output_count ? "%s (%.20s alone)" : "%s", x->how, own->outputs[0]);
    if (found.failed == 0 && (x->count == 0 || strcmp(x->itself, m->device.backend) == 0))
        found = compare_unknown(method, size, "--expect=WHAT says what is right: an expression, a file or a kernel");
    if (own->only_prints)
        return compare_unknown(method, size, "the kernel has no output; what it prints is on stderr");
    check_guards(own, m, &found);
    check_nan(own, m, x->count, &found);
    check_passes(own, m, &found);
    if (found.failed == 0) /* then no element of the result is the worst one */
        found.worst_index = found.ok ? found.worst_index : -1;
    return found;
}

static void release(exercise *e)
{
    expected_results *x = e->expected;

    for (int i = 0; x && i < x->count; i++)
        host_array_free(&x->value[i]);
    free(x);
    kernel_arguments_free(e->own);
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const kernel_options *own = e->own;

    json_put(row, "kernel", json_text(own->kernel.info.name));
    json_put(row, "passes_differ", json_boolean(m->watched.differing != 0));
    json_put(row, "overwritten", m->watched.overwritten ? json_whole(m->watched.overwritten_at) : json_null());
}

const exercise_kind kernel_exercise = {
    .name = "kernel",
    .summary = "launch your own kernel",
    .help =
        "Launches a kernel in HIP's dialect of C++ (CUDA's, too), the last one of FILE, with an ARGUMENT for each "
        "parameter.\v"
        "A const T * takes a .npy file, a word that makes an array (random:64x64, see `flynn help --long show`), a "
        "number or "
        "a range FIRST:END[:STEP]; a T * takes `out` or `out=SHAPE` (zeros; "
        "default: the shape of the first array that is read), `inout:FILE`, or a file that the kernel reads; a "
        "number takes a number. A file of a course runs as it is, without its includes, main and launches. Outputs are "
        "put back before each pass. --define and --constant may be given several times. Without FILE: the sum of "
        "two random vectors (--size, --dtype, --seed). A GPU or --backend=hip-cpu runs it.\v"
        "vector_add.hip 0:9 0:9 out 9 -b hip-cpu\tsums of two ranges\n",
    .arguments = "[FILE [ARGUMENT...]]",
    .input_count = FL_MAX_INPUTS,
    .most_words = FL_MAX_PARAMETERS,
    .first_is_text = true,
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_CHECK | TAKES_PAGEABLE | TAKES_WRONG_TIMING,
    .options = kernel_own_options,
    .own_size = sizeof(kernel_options),
    .own = &(const kernel_options){.relative = -1, .absolute = -1},
    .made = "the random vectors",
    .size = 10000000,
    .laws = {10000000, 1, NULL},
    .not_everywhere = true,
    .steps = {NULL, plan, call, expect, check, release},
    .settle = settle,
    .take = kernel_take,
    .add_json = add_json,
};
