/* SPDX-License-Identifier: MIT
 *
 * kernel_options.c - the options of `flynn kernel`, and the formulas among its words: {FORMULA} in arguments, macros,
 * --grid and --shared; --flops and --bytes.
 */
#include "kernel_options.h"

#include "options/options.h"
#include "support/fail.h"
#include "support/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------------------------------------- parsing ---- */

static const char a_grid[] = "a grid (auto, or for example 1024 or 64x64)";

static void parse_grid(const char *option, const char *value, void *own)
{
    kernel_options *o = own;
    const bool is_own = strcmp(option, "grid") == 0;
    int64_t *grid = is_own ? o->grid : o->expect_grid;

    *(is_own ? &o->grid_text : &o->expect_grid_text) = option_text(option, value);
    memset(grid, 0, sizeof o->grid);
    if (strcmp(value, "auto") != 0 && !strchr(value, '{'))
        option_numbers(option, value, 1, 3, a_grid, 1, grid);
}

static void parse_shared(const char *option, const char *value, void *own)
{
    kernel_options *o = own;

    o->shared_text = option_text(option, value);
    if (!strchr(value, '{'))
        o->shared = option_integer(option, value, 0, INT32_MAX);
}

/* The length of the first of the values that stand between commas, but for commas within brackets and quotes. */
static size_t value_length(const char *text)
{
    char quote = '\0';
    size_t i = 0;

    for (int depth = 0; text[i] && (text[i] != ',' || depth > 0 || quote); i++) {
        if (quote || text[i] == '"' || text[i] == '\'')
            quote = !quote ? text[i] : quote == text[i] ? '\0' : quote;
        else if (strchr("([{", text[i]))
            depth++;
        else if (strchr(")]}", text[i]))
            depth--;
    }
    return i;
}

/* The values of NAME=VALUE,...; "" for NAME alone. */
static const char *values_of(const char *define)
{
    const char *equals = strchr(define, '=');

    return equals ? equals + 1 : "";
}

int kernel_define_count(const char *define)
{
    const char *value = values_of(define);
    int count = 1;

    for (size_t length = value_length(value); value[length]; length = value_length(value)) {
        value += length + 1;
        count++;
    }
    return count;
}

char *kernel_define_value(const char *define, int i)
{
    const char *value = values_of(define);
    const int name = *value ? (int)(value - define) : (int)strlen(define);

    for (; i > 0; i--)
        value += value_length(value) + 1;
    return memory_print("%.*s%.*s", name, define, (int)value_length(value), value);
}

static void parse_folder(const char *option, const char *value, void *own)
{
    const char **folders = ((kernel_options *)own)->folders;
    struct stat is;
    int count = 0;

    while (folders[count])
        count++;
    if (count == MOST_FOLDERS)
        fail(EXIT_BAD_INPUT, "--%s: more than %d folders", option, MOST_FOLDERS);
    if (stat(value, &is) != 0 || !S_ISDIR(is.st_mode))
        fail(EXIT_BAD_INPUT, "--%s: '%s' is not a folder", option, value);
    folders[count] = value;
}

static void parse_define(const char *option, const char *value, void *own)
{
    const char **defines = ((kernel_options *)own)->defines;
    int count = 0;
    size_t length = 0;

    while (isalnum((unsigned char)value[length]) || value[length] == '_')
        length++;
    if (length == 0 || isdigit((unsigned char)*value) || (value[length] && value[length] != '='))
        fail(EXIT_BAD_INPUT, "--%s: '%s' is not NAME or NAME=VALUE (example: BLOCKS=977)", option, value);
    while (defines[count])
        count++;
    if (count == MOST_DEFINES)
        fail(EXIT_BAD_INPUT, "--%s: more than %d definitions", option, MOST_DEFINES);
    defines[count] = value;
    const int values = kernel_define_count(value);
    for (int i = 0; i < values && values > 1; i++) {
        char *one = kernel_define_value(value, i);
        const bool empty = !*values_of(one);
        free(one);
        if (empty)
            option_fail(option, "'%s' has an empty value; expected one, or several with a comma between them", value);
    }
}

static void parse_let(const char *option, const char *value, void *own)
{
    kernel_options *o = own;
    const char *equals = strchr(value, '=');
    const size_t length = equals ? (size_t)(equals - value) : 0;
    kernel_let *let = &o->lets[o->let_count];
    bool name = length > 0 && length < sizeof let->name && !isdigit((unsigned char)*value);

    for (size_t i = 0; i < length; i++)
        name = name && (isalnum((unsigned char)value[i]) || value[i] == '_');
    if (!name)
        option_fail(option, "'%s' is not NAME=NUMBER,... (example: n=256,512)", value);
    if (o->let_count == MOST_LETS)
        option_fail(option, "more than %d names", MOST_LETS);
    snprintf(let->name, sizeof let->name, "%.*s", (int)length, value);
    for (int i = 0; i < o->let_count; i++)
        if (strcmp(o->lets[i].name, let->name) == 0)
            option_fail(option, "%s is given twice; expected its values with a comma between them", let->name);
    option_integers(option, equals + 1, 0, INT64_MAX, &let->values);
    o->let_count++;
}

static void parse_constant(const char *option, const char *value, void *own)
{
    kernel_options *o = own;
    const char *colon = strchr(value, ':');

    if (!colon || colon == value || !colon[1])
        fail(EXIT_BAD_INPUT, "--%s: '%s' is not NAME:FILE (example: factors:factors.npy)", option, value);
    if (o->constant_count == MOST_CONSTANTS)
        fail(EXIT_BAD_INPUT, "--%s: more than %d constants", option, MOST_CONSTANTS);
    o->constants[o->constant_count++] = (kernel_constant){.name = value, .length = (int)(colon - value)};
}

static const char *const on_or_off[] = {"on", "off", NULL};
const char *const kernel_warps[] = {"device", "32", "64", NULL};
static const char *const grids[] = {"auto", "1024", "64x64", NULL};
static const char *const definitions[] = {"BLOCKS=977", "FAST", "TILE=8,16", NULL};
static const char *const constants[] = {"factors:0:8", NULL};
static const char *const lets[] = {"n=256,512", NULL};
static const char *const flops[] = {"2*m*n*k", NULL};
static const char *const gpus[] = {"gfx90a,gfx1030", "sm_90", NULL};
static const char *const bytes[] = {"4*(m*k+k*n+m*n)", NULL};

const own_option kernel_own_options[] = {
    {"entry", OPTION_TEXT, offsetof(kernel_options, entry), "NAME", "The kernel of the text (default: the last one)",
     .group = GROUP_SELDOM},
    {"grid", OPTION_CUSTOM, 0, "X[xY[xZ]]", "Blocks (default: auto, a thread an element)", .group = GROUP_WHAT,
     .names = grids, .parse = parse_grid},
    {"shared", OPTION_CUSTOM, 0, "BYTES", "Dynamic shared memory of a block (0)", .group = GROUP_WHAT,
     .parse = parse_shared},
    {"define", OPTION_CUSTOM, 0, "NAME[=X]", "A macro of the text (X,Y: a row for each)", .letter = 'D',
     .group = GROUP_WHAT, .names = definitions, .parse = parse_define},
    {"include", OPTION_CUSTOM, 0, "FOLDER", "Where headers are that do not lie next to the file", .letter = 'I',
     .group = GROUP_WHAT, .parse = parse_folder},
    {"let", OPTION_CUSTOM, 0, "NAME=N,...", "{NAME} is N in other words; a row for each N", .group = GROUP_WHAT,
     .names = lets, .parse = parse_let},
    {"constant", OPTION_CUSTOM, 0, "NAME:FILE", "Fill a __constant__ variable", .group = GROUP_WHAT, .names = constants,
     .parse = parse_constant},
    {"expect", OPTION_TEXT, offsetof(kernel_options, expect), "WHAT", "The result: an expression, .npy file or kernel",
     .group = GROUP_HOW},
    {"expect-grid", OPTION_CUSTOM, 0, "X[xY[xZ]]", "Blocks of the kernel that --expect names (auto)",
     .group = GROUP_SELDOM, .names = grids, .parse = parse_grid, .needs = "expect"},
    {"flops", OPTION_TEXT, offsetof(kernel_options, flops), "FORMULA", "Operations, for GFLOP/s, such as 2*m*n*k",
     .group = GROUP_HOW, .names = flops},
    {"bytes", OPTION_TEXT, offsetof(kernel_options, bytes), "FORMULA", "Bytes, for GB/s (each array once)",
     .group = GROUP_SELDOM, .names = bytes},
    {"rtol", OPTION_REAL, offsetof(kernel_options, relative), "R",
     "Relative tolerance of the check (f32 1e-5, f64 1e-12)", .group = GROUP_HOW},
    {"atol", OPTION_REAL, offsetof(kernel_options, absolute), "A", "Absolute one (1e-6, 1e-14 of the largest element)",
     .group = GROUP_HOW},
    {"guard", OPTION_CHOICE, offsetof(kernel_options, unguarded), "on|off", "Look for writes beyond the outputs (on)",
     .group = GROUP_SELDOM, .names = on_or_off},
    {"unwatched", OPTION_FLAG, offsetof(kernel_options, unwatched), NULL,
     "Do not look at each access of hip-cpu's first pass", .group = GROUP_SELDOM},
    {"registers", OPTION_TEXT, offsetof(kernel_options, registers), "GPU,...",
     "Do not run: what the kernel takes of these GPUs", .group = GROUP_SELDOM, .names = gpus},
    {"warp", OPTION_CHOICE, offsetof(kernel_options, warp), "device|32|64", "Threads of a warp of hip-cpu (device: 32)",
     .group = GROUP_SELDOM, .names = kernel_warps},
    {0},
};

/* ------------------------------------------------------------------------------------------------ formulas ---- */

/* Adds the names of --let with the value of this run, which has one for each, and the block. */
static void add_run(const kernel_options *own, formula_names *names)
{
    for (int i = 0; i < own->let_count; i++)
        formula_name_add(names, own->lets[i].values.value[0], "%s", own->lets[i].name);
    for (int d = 0; d < 3; d++)
        formula_name_add(names, own->block[d], "block.%c", "xyz"[d]);
}

bool kernel_names_block(const char *text)
{
    const char *brace = strchr(text, '{');

    return brace && strstr(brace, "block.");
}

/* The text with the values of its formulas. It is freed with the options. */
static const char *fill(kernel_options *own, const char *option, const char *text, const formula_names *names)
{
    problem why;
    char *filled = formula_fill(text, names, &why);

    if (!filled && option)
        option_fail(option, "%s", why.text);
    if (!filled)
        fail(EXIT_BAD_INPUT, "'%s': %s", text, why.text);
    own->names_block = own->names_block || (strcmp(filled, text) != 0 && kernel_names_block(text));
    own->filled[own->filled_count++] = filled;
    return filled;
}

/* The emulation reads the threads of a warp from a macro. */
static void add_warp(kernel_options *own)
{
    int macros = 0;

    while (own->macros[macros])
        macros++;
    if (own->warp)
        own->macros[macros] = own->warp == 1 ? "FLYNN_WARP=32" : "FLYNN_WARP=64";
}

void kernel_fill(kernel_options *own, const char **arguments, int argument_count)
{
    formula_names names = {0};

    add_run(own, &names);
    if (own->grid_text && strchr(own->grid_text, '{'))
        option_numbers("grid", fill(own, "grid", own->grid_text, &names), 1, 3, a_grid, 1, own->grid);
    if (own->expect_grid_text && strchr(own->expect_grid_text, '{'))
        option_numbers("expect-grid", fill(own, "expect-grid", own->expect_grid_text, &names), 1, 3, a_grid, 1,
                       own->expect_grid);
    if (own->shared_text && strchr(own->shared_text, '{'))
        own->shared = option_integer("shared", fill(own, "shared", own->shared_text, &names), 0, INT32_MAX);
    if (own->expect)
        own->expect = fill(own, "expect", own->expect, &names);
    int macros = 0;
    for (; own->defines[macros]; macros++)
        own->macros[macros] = fill(own, "define", own->defines[macros], &names);
    add_warp(own);
    for (int i = 0; i < argument_count; i++)
        arguments[i] = fill(own, NULL, arguments[i], &names);
}

/* Adds the numbers that the kernel takes; of each array its elements, its bytes and its shape. */
static void add_parameters(const kernel_options *own, formula_names *names)
{
    for (int i = 0; i < own->kernel.info.count; i++) {
        const fl_parameter *p = &own->kernel.info.parameters[i];
        const kernel_argument *a = &own->arguments[i];
        const bool is_one = !p->is_array && !a->numbers;
        if (is_one && !fl_dtype_is_float(p->dtype))
            formula_name_add(names, a->integer, "%.40s", p->name);
        for (int n = 0; n < own->kernel.info.number_count[i]; n++)
            if (!fl_dtype_is_float(own->kernel.info.numbers[i][n].dtype))
                formula_name_add(names, a->numbers[n].integer, "%.40s", own->kernel.info.numbers[i][n].name);
        if (!p->is_array)
            continue;
        const host_array *value = a->output >= 0 ? &own->begins[a->output] : &own->inputs[a->input];
        formula_name_add(names, host_array_size(value), "%.40s.size", p->name);
        formula_name_add(names, (int64_t)host_array_bytes(value), "%.40s.bytes", p->name);
        for (int d = 0; d < value->ndim; d++)
            formula_name_add(names, value->shape[d], "%.40s.shape[%d]", p->name, d);
    }
}

void kernel_take_warp(kernel_options *own, const backend_list *backends)
{
    enum { OF_64 = 2 }; /* in kernel_warps */
    int gpus = 0;

    for (int i = 0; backends && i < backends->count; i++) {
        const fl_device_info *device = fl_device_describe(backends->open[i].device);
        if (device->emulation || strcmp(device->flynn_class, "SIMT") != 0)
            continue;
        if (device->warp_size != atoi(kernel_warps[OF_64]))
            return;
        gpus++;
    }
    if (gpus > 0 && own->warp == 0) {
        own->warp = OF_64;
        add_warp(own);
    }
}

void kernel_check_warp(const kernel_options *own, const fl_device_info *device)
{
    if (own->warp && !device->emulation && device->warp_size != atoi(kernel_warps[own->warp]))
        option_fail("warp", "a warp of %s has %d threads; hip-cpu alone takes another number", device->resource,
                    device->warp_size);
}

/* The value of --flops or --bytes; NaN: it is not given. */
static double work_of(const char *option, const char *text, const formula_names *names)
{
    int64_t value;
    problem why;

    if (!text)
        return NAN;
    if (!formula_value(text, strlen(text), names, &value, &why))
        option_fail(option, "%s", why.text);
    if (value < 0)
        option_fail(option, "'%s' is %" PRId64 "; expected at least 0", text, value);
    return (double)value;
}

void kernel_count_work(kernel_options *own)
{
    formula_names names = {0};

    add_run(own, &names);
    add_parameters(own, &names);
    own->work_flops = work_of("flops", own->flops, &names);
    own->work_bytes = work_of("bytes", own->bytes, &names);
}
