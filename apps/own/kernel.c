/* SPDX-License-Identifier: MIT
 *
 * flynn kernel: launches the user's kernel.
 */
#include "kernel_arguments.h"
#include "kernel_axes.h"
#include "kernel_rows.h"
#include "function.h"
#include "kernel_findings.h"
#include "kernel_nan.h"

#include "files/files.h"
#include "run/reference.h"
#include "options/options.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "view/json.h"
#include "view/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BLOCK = 256 };

static void choose_block(const int asked[3], int block[3])
{
    for (int d = 0; d < 3; d++)
        block[d] = asked[0] == 0 ? (d == 0 ? USUAL_BLOCK : 1) : asked[d] > 0 ? asked[d] : 1;
}

static void settle(exercise *e)
{
    kernel_options *own = e->own;

    choose_block(e->common.block, own->block);
    kernel_fill(own, e->common.arguments, e->common.argument_count);
    if (!e->word)
        return;
    option_refuse(&e->common, TAKES_SIZE, "it is for the random vectors, and '%s' is given", e->word);
    if (e->common.argument_count == 0)
        option_refuse(&e->common, TAKES_SEED, "it is for the random vectors, and '%s' is given", e->word);
    exercise_refuse_seed(&e->common);
}

/* --------------------------------------------------------------------------------------------------- launch ---- */

/* Its code there, compiled at the first call. */
static fl_status kernel_on(kernel_options *own, const kernel_text *k, fl_device *device, kernel_code **found)
{
    kernel_code *code = own->code;
    fl_status status;

    kernel_check_warp(own, fl_device_describe(device));
    while (code < own->code + MOST_FUNCTION_DEVICES - 1 && code->device &&
           (code->device != device || code->text != k->text))
        code++;
    if (code->device != device || code->text != k->text) {
        fl_kernel_free(code->kernel);
        *code = (kernel_code){.device = NULL};
        progress("%s: compiling", k->shown_as);
        status = fl_kernel_create(device, k->text, k->shown_as, k->entry, own->macros, own->log, sizeof own->log,
                                  &code->kernel);
        if (status == FL_OK)
            status = kernel_fill_constants(own, device, code->kernel);
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

/* The kernel that --expect names is launched on its own grid. */
static void choose_grid(const kernel_options *own, const kernel_text *k, const int block[3], int64_t grid[3])
{
    const int64_t *given = k == &own->kernel ? own->grid : own->expect_grid;

    if (given[0] == 0)
        kernel_auto_grid(&own->specs[own->grid_output], block, false, grid);
    for (int d = 0; d < 3 && given[0]; d++)
        grid[d] = given[d];
}

/* Launches the kernel. `watched`: hip-cpu looks at each access; a GPU cannot. `shown`: what it prints is, if this is
 * its first launch there. */
static fl_status launch(const exercise *e, const kernel_text *k, fl_device *device, fl_array *const *in,
                        fl_array *const *out, const fl_run *run, bool watched, bool shown)
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
    choose_grid(own, k, with.block, grid);
    for (int i = 0; i < k->info.count; i++) {
        const kernel_argument *a = &own->arguments[i];
        arguments[i] = (fl_argument){a->input >= 0    ? in[a->input]
                                     : a->output >= 0 ? out[a->output]
                                                      : NULL,
                                     a->integer, a->real};
    }
    if (watched)
        (void)fl_kernel_watch(code->kernel, true);
    user_function_enter("kernel", !k->info.prints || (shown && code->launches == 1));
    status = user_function_leave(fl_kernel_launch(code->kernel, grid, own->shared, arguments, k->info.count, &with));
    if (with.timing && status == FL_OK) {
        with.timing->flops = isnan(own->work_flops) ? with.timing->flops : own->work_flops;
        with.timing->bytes = isnan(own->work_bytes) ? with.timing->bytes : own->work_bytes;
    }
    return status;
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    const kernel_options *own = e->own;
    const bool is_first = run->timing != NULL;
    const fl_status status = launch(e, &own->kernel, device, in, out, run, is_first && !own->unwatched, true);

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
    e->begins = own->begins;
    e->guarded = !own->unguarded;
    e->uncounted = isnan(own->work_flops);
    exercise_title(e, "kernel: %s%s%.250s", own->kernel.info.name, own->array_count ? "" : ",",
                   own->only_prints ? " no output" : arrays);
}

/* --------------------------------------------------------------------------------------------------- check ---- */

typedef struct expected_results {
    char how[96];
    int count;          /* expected outputs; 0: none */
    const char *itself; /* the backend that computed them with this very kernel, whose runs they cannot check; or "" */
    host_array value[MOST_OUTPUTS];
    char unwritten[200]; /* what another kernel left as it was; "": nothing, or nobody looked */
} expected_results;

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

static bool runs_on_hip_cpu(const exercise *e)
{
    for (int i = 0; e->backends && i < e->backends->count; i++)
        if (strcmp(fl_device_describe(e->backends->open[i].device)->backend, "hip-cpu") == 0)
            return true;
    return false;
}

/* The results of a kernel on a device. false: it cannot run there, or does not compile. */
static bool run_once(const exercise *e, const kernel_text *k, fl_device *device, expected_results *x)
{
    kernel_options *own = e->own;
    const bool other = k != &own->kernel;
    fl_array *in[MOST_INPUTS], *out[MOST_OUTPUTS] = {NULL}, *whole[MOST_OUTPUTS] = {NULL};
    fl_run run = {0};
    fl_status status;
    kernel_code *code;

    memcpy(run.block, e->common.block, sizeof run.block);
    for (int i = 0; i < e->input_count; i++)
        in[i] = reference_upload(device, &e->inputs[i], false);
    for (int i = 0; i < own->output_count; i++) {
        must(watch_create(device, own->specs[i].dtype, output_size(&own->specs[i]), &whole[i], &out[i]));
        must(fl_array_write(out[i], own->begins[i].data, NULL));
    }
    /* A kernel whose accesses would end this process is to be told so by its first pass. */
    status = launch(e, k, device, in, out, &run, other || (runs_on_hip_cpu(e) && !own->unwatched), false);
    if (status == FL_OK && other && kernel_on(own, k, device, &code) == FL_OK)
        findings_unwritten(fl_kernel_found(code->kernel), x->unwritten, sizeof x->unwritten);
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
    else if (kernel_is_file(own->expect))
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

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const kernel_options *own = e->own;
    const expected_results *x = e->expected;
    compare_result found = compare_start();
    unsigned kinds;
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
    if (found.failed > 0)
        try_exchanged(e, m);
    if (found.failed > 0 && *x->unwritten)
        print_error("--expect: %s: in %s %s; --expect-grid=X[xY] gives it another grid", m->requested, x->how,
                    x->unwritten);
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
    expected_results *x = e->expected;

    for (int i = 0; x && i < x->count; i++)
        host_array_free(&x->value[i]);
    free(x);
    kernel_arguments_free(e->own);
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
    .not_everywhere = true,
    .steps = {NULL, plan, call, expect, check, release},
    .hand_over = kernel_hand_over,
    .settle = settle,
    .take = kernel_take,
    .watched = take_findings,
    .add_json = add_json,
};
