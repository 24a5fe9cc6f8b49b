/* SPDX-License-Identifier: MIT */
#include "kernel_arguments.h"
#include "map_inputs.h"

#include "files/files.h"
#include "options/options.h"
#include "run/reference.h"
#include "support/fail.h"
#include "support/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- texts ---- */

/* The kernel that is used where no file is given, for arrays of a dtype. */
static char *vector_add(fl_dtype dtype)
{
    static const char *const types[FL_DTYPE_COUNT] = {
        [FL_U8] = "uint8_t", [FL_I32] = "int", [FL_I64] = "long", [FL_F32] = "float", [FL_F64] = "double"};
    char text[300];

    snprintf(text, sizeof text,
             "__global__ void vector_add(const %s *a, const %s *b, %s *out, int size)\n"
             "{\n"
             "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "\n"
             "    if (i < size)\n"
             "        out[i] = a[i] + b[i];\n"
             "}\n",
             types[dtype], types[dtype], types[dtype]);
    return memory_text(text);
}

void kernel_text_must(const kernel_text *k, fl_status status, const char *log)
{
    const char *const missing = included_missing(k->lines);
    char message[1024];

    included_tell(k->lines, fl_last_error(), message, sizeof message);
    if (status == FL_E_SOURCE && missing && (strstr(message, "' is not known") || strstr(message, "' is not a type")))
        snprintf(message + strlen(message), sizeof message - strlen(message),
                 "; \"%s\" does not lie next to the file: --include=FOLDER finds it", missing);
    if (status == FL_E_SOURCE)
        user_text_refused(message, log);
    must_say(status, message);
}

void kernel_text_free(kernel_text *k)
{
    free(k->text);
    free(k->kept);
    included_free(k->lines);
}

/* Copies a text to *to, and lets it be the copy; *to NULL: only counts its bytes. */
static void copy_text(const char **text, char **to, size_t *bytes)
{
    const size_t size = strlen(*text) + 1;

    *bytes += size;
    if (*to) {
        *text = memcpy(*to, *text, size);
        *to += size;
    }
}

/* Copies the description's texts, which last until another kernel is read: `numbers` and then texts from `to` on. */
static void copy_info(fl_kernel_info *info, fl_parameter *numbers, char *to, int *count, size_t *bytes)
{
    const char **const texts[] = {&info->name, &info->left_out, &info->kernels, &info->unfilled, &info->compiled};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        copy_text(texts[i], &to, bytes);
    for (int i = 0; i < info->count; i++) {
        copy_text(&info->parameters[i].name, &to, bytes);
        const fl_parameter *from = info->numbers[i];
        info->numbers[i] = to && from ? numbers + *count : from;
        for (int n = 0; n < info->number_count[i]; n++, ++*count) {
            fl_parameter number = from[n];
            copy_text(&number.name, &to, bytes);
            if (to)
                numbers[*count] = number;
        }
    }
}

/* Describes the kernel of the text. */
static void describe(kernel_text *k)
{
    char log[USER_LOG];
    int count = 0, copied = 0;
    size_t bytes = 0;

    kernel_text_must(k, fl_kernel_read(k->text, k->shown_as, k->entry, log, sizeof log, &k->info), log);
    copy_info(&k->info, NULL, NULL, &count, &bytes);
    fl_parameter *numbers = k->kept = memory_zeroed((size_t)count * sizeof *numbers + bytes, 1);
    copy_info(&k->info, numbers, (char *)(numbers + count), &copied, &bytes);
}

kernel_text kernel_text_read(const kernel_options *own, const char *path, const char *entry)
{
    kernel_text k = {.shown_as = path, .entry = entry};

    k.text = included_read(path, own->folders, &k.lines);
    describe(&k);
    return k;
}

/* ----------------------------------------------------------------------------------------------- arrays ---- */

/* A file, a number or a range, in the dtype of parameter i. */
static host_array read_array(const exercise *e, const fl_kernel_info *info, int i, const char *word)
{
    const fl_parameter *p = &info->parameters[i];
    const int bytes = info->bytes[i];
    static const input_kind any_array = {"array", 0, FL_MAX_DIMS, true};
    host_array array;

    if (numbers_from(word, p->dtype, &array))
        return array;
    array_source source = exercise_source(e, word, NULL);
    source.dtype = &p->dtype;
    array = exercise_read(&source, &any_array);
    if (array.ndim == 0)
        array.ndim = 1;
    if (bytes > 0 && array.dtype != FL_U8)
        fail(EXIT_BAD_INPUT,
             "%s: no dtype has the elements of %s; it takes an array of their bytes, u8, %d for each (of NumPy: "
             "a.view('u1'))",
             word, p->name, bytes);
    if (!dtype_fits(array.dtype, p->dtype) && !(e->common.has_dtype && e->common.dtype == p->dtype))
        fail(EXIT_BAD_INPUT, "%s: %s does not fit %s, which is %s; --dtype=%s converts it", word,
             fl_dtype_name(array.dtype), p->name, fl_dtype_name(p->dtype), fl_dtype_name(p->dtype));
    exercise_convert(&array, p->dtype);
    return array;
}

/* "256", "64x64" */
static void read_shape(const char *word, const char *text, output_spec *o)
{
    char *end = (char *)text;

    for (o->ndim = 0; o->ndim < FL_MAX_DIMS; text = end + 1) {
        errno = 0;
        o->shape[o->ndim++] = strtoll(text, &end, 10);
        if (end == text || errno != 0 || o->shape[o->ndim - 1] < 1 || (*end && *end != 'x'))
            break;
        if (!*end)
            return;
    }
    fail(EXIT_BAD_INPUT, "'%s' is not an output; expected out, out=SHAPE (examples: out=256, out=64x64) or inout:FILE",
         word);
}

static host_array zeros(const output_spec *o, const char *word)
{
    host_array made;
    problem why;

    must_do(host_array_create(&made, o->dtype, o->ndim, o->shape, word, &why), &why);
    memset(made.data, 0, host_array_bytes(&made));
    return made;
}

static void take_input(exercise *e, kernel_options *own, int i, const char *word)
{
    const fl_parameter *p = &own->kernel.info.parameters[i];

    if (e->input_count == MOST_INPUTS)
        fail(EXIT_BAD_INPUT, "%s: more than %d arrays that are read", p->name, MOST_INPUTS);
    own->arguments[i].input = e->input_count;
    e->inputs[e->input_count] = read_array(e, &own->kernel.info, i, word);
    own->arrays[own->array_count++] = &e->inputs[e->input_count++];
}

/* out, out=SHAPE, inout:FILE */
static bool is_output(const char *word)
{
    return strcmp(word, "out") == 0 || strncmp(word, "out=", 4) == 0 || strncmp(word, "inout:", 6) == 0;
}

/* Returns whether the word names an array: a file, a range, or one that is made here. A number alone is none for a
 * T *, where it is rather a shape without its out=. */
static bool is_array(const char *word)
{
    return strchr(word, ':') || file_ends_in(word, ".npy") || file_ends_in(word, ".png");
}

/* Takes an output: its initial content where it has one; and its shape, unless that is the first input's. */
static void take_output(exercise *e, kernel_options *own, int i, const char *word)
{
    const fl_parameter *p = &own->kernel.info.parameters[i];
    const int place = own->arguments[i].output;
    output_spec *o = &own->specs[place];

    own->outputs[place] = p->name;
    o->dtype = p->dtype;
    if (strncmp(word, "out=", 4) == 0) {
        read_shape(word, word + 4, o);
    } else if (strcmp(word, "out") != 0) {
        own->begins[place] = read_array(e, &own->kernel.info, i, is_output(word) ? word + strlen("inout:") : word);
        o->ndim = own->begins[place].ndim;
        memcpy(o->shape, own->begins[place].shape, sizeof o->shape);
        own->arrays[own->array_count++] = &own->begins[place];
    }
}

/* Returns whether --expect=NAME:EXPR names the parameter. */
static bool is_expected(const kernel_options *own, const fl_parameter *p)
{
    const size_t length = strlen(p->name);

    return own->expect && strncmp(own->expect, p->name, length) == 0 && own->expect[length] == ':';
}

typedef enum output_group { OUTPUT_EXPECTED, OUTPUT_CALLED, OUTPUT_FILE, OUTPUT_NONE } output_group;

/* Finds out whether the parameter is an output: --expect names it, its word says so, or it is a file and the kernel may
 * write to it. */
static output_group group_of(const kernel_options *own, int i, const char *word)
{
    const fl_parameter *p = &own->kernel.info.parameters[i];

    if (is_expected(own, p) && (!p->is_array || p->is_constant))
        fail(EXIT_BAD_INPUT, "--expect: %s is no output: it is %s", p->name,
             p->is_array ? "an array that the kernel cannot write" : "a number");
    if (!p->is_array || p->is_constant)
        return OUTPUT_NONE;
    if (!is_output(word) && !is_array(word))
        fail(EXIT_BAD_INPUT,
             "'%s': %s is a %s * that the kernel can write; expected out, out=SHAPE or inout:FILE; or a file, where it "
             "reads one",
             word, p->name, fl_dtype_name(p->dtype));
    return is_expected(own, p)                           ? OUTPUT_EXPECTED
           : is_output(word)                             ? OUTPUT_CALLED
           : own->kernel.info.written & UINT32_C(1) << i ? OUTPUT_FILE
                                                         : OUTPUT_NONE;
}

/* Orders the outputs. The first one is shown, checked and written. It is the output that --expect names; without one,
 * the first argument `out` or `inout:`; without one, the first file that the kernel may write to. */
static void place_outputs(const exercise *e, kernel_options *own)
{
    const fl_kernel_info *info = &own->kernel.info;
    int grid = -1;

    for (output_group group = OUTPUT_EXPECTED; group < OUTPUT_NONE; group++)
        for (int i = 0; i < info->count; i++) {
            if (group_of(own, i, e->common.arguments[i]) != group)
                continue;
            own->arguments[i].output = own->output_count++;
        }
    for (int i = info->count - 1; i >= 0; i--)
        if (own->arguments[i].output >= 0 &&
            (grid < 0 || is_output(e->common.arguments[i]) || !is_output(e->common.arguments[grid])))
            grid = i;
    own->grid_output = grid >= 0 ? own->arguments[grid].output : 0;
    for (int i = 0; i < info->count; i++)
        if (is_expected(own, &info->parameters[i])) {
            own->expect_given = own->expect;
            own->expect += strlen(info->parameters[i].name) + 1;
            break;
        }
}

/* What --grid=auto has threads for: of an array of bytes, a last dimension of an element's bytes is no dimension. */
static void settle_grid(kernel_options *own)
{
    output_spec *o = &own->grid_over;
    int bytes = 0;

    *o = own->specs[own->grid_output];
    for (int i = 0; i < own->kernel.info.count; i++)
        bytes = own->arguments[i].output == own->grid_output ? own->kernel.info.bytes[i] : bytes;
    if (bytes == 0)
        return;
    if (o->ndim > 1 && o->shape[o->ndim - 1] == bytes)
        o->ndim--;
    else
        o->shape[o->ndim - 1] = (o->shape[o->ndim - 1] + bytes - 1) / bytes;
}

/* `out` alone has the shape of the first array that is read, which may stand after it. */
static void settle_outputs(kernel_options *own)
{
    for (int i = 0; i < own->output_count; i++) {
        output_spec *o = &own->specs[i];
        if (o->ndim == 0 && own->array_count == 0)
            fail(EXIT_BAD_INPUT, "out: %s has no shape, since the kernel reads no array; expected out=SHAPE",
                 own->outputs[i]);
        if (o->ndim == 0) {
            o->ndim = own->arrays[0]->ndim;
            memcpy(o->shape, own->arrays[0]->shape, sizeof o->shape);
        }
        if (!own->begins[i].data)
            own->begins[i] = zeros(o, own->outputs[i]);
    }
    settle_grid(own);
}

/* Reads a number up to one of the characters `ends`, or the end of the word. */
static const char *read_number(const fl_parameter *p, const char *word, const char *ends, fl_argument *number)
{
    const bool real = fl_dtype_is_float(p->dtype);
    char *end;

    errno = 0;
    *number = (fl_argument){.array = NULL};
    if (real)
        number->real = strtod(word, &end);
    else
        number->integer = strtoll(word, &end, 10);
    if (end == word || !strchr(ends, *end) || (!real && errno != 0))
        fail(EXIT_BAD_INPUT, "'%.*s': %s is a number of %s; expected %s", (int)strcspn(word, ends), word, p->name,
             fl_dtype_name(p->dtype), real ? "one such as 0.5" : "a whole one");
    return end;
}

/* "1,2,3": the numbers of a vector or a struct. */
static void take_numbers(const fl_kernel_info *info, int i, const char *word, kernel_argument *argument)
{
    const int count = info->number_count[i];
    int given = 1;

    for (const char *c = word; *c; c++)
        given += *c == ',';
    if (given != count)
        fail(EXIT_BAD_INPUT, "'%s': %s is %d number%s, %s%s%s; %d %s given", word, info->parameters[i].name, count,
             count == 1 ? "" : "s with a comma between them", info->numbers[i][0].name, count > 1 ? " to " : "",
             count > 1 ? info->numbers[i][count - 1].name : "", given, given == 1 ? "is" : "are");
    argument->numbers = memory_zeroed((size_t)count, sizeof *argument->numbers);
    for (int n = 0; n < count; n++, word++)
        word = read_number(&info->numbers[i][n], word, ",", &argument->numbers[n]);
}

static void take_number(const fl_kernel_info *info, int i, const char *word, kernel_argument *argument)
{
    fl_argument number;

    if (info->number_count[i] > 0) {
        take_numbers(info, i, word, argument);
        return;
    }
    (void)read_number(&info->parameters[i], word, "", &number);
    argument->integer = number.integer;
    argument->real = number.real;
}

static void read_constants(const exercise *e, kernel_options *own)
{
    static const input_kind any_array = {"constant", 0, FL_MAX_DIMS, false};

    for (int i = 0; i < own->constant_count; i++) {
        kernel_constant *c = &own->constants[i];
        array_source source = exercise_source(e, c->name + c->length + 1, NULL);
        source.seed += (uint64_t)i;
        c->value = exercise_read(&source, &any_array);
        c->value.ndim = c->value.ndim ? c->value.ndim : 1;
    }
}

/* The words of the embedded kernel: two random vectors. */
static void take_embedded(exercise *e, kernel_options *own)
{
    const int64_t size = exercise_size(e);
    const fl_dtype dtype = exercise_dtype(e, FL_F32);
    const double most = fl_dtype_is_float(dtype) ? 1 : 100;

    own->kernel = (kernel_text){.shown_as = "vector_add", .entry = own->entry, .text = vector_add(dtype)};
    describe(&own->kernel);
    for (int i = 0; i < 2; i++) {
        own->arguments[i].input = i;
        e->inputs[i] = exercise_random(dtype, 1, &size, 0, most, e->common.seed + (uint64_t)i);
        own->arrays[i] = &e->inputs[i];
    }
    e->input_count = own->array_count = 2;
    own->arguments[2].output = 0;
    own->outputs[own->output_count++] = "out";
    own->specs[0].dtype = dtype;
    own->arguments[3].integer = size;
    own->expect = own->expect ? own->expect : "x + y";
}

/* A kernel without an output may print, as the first one of a course does. The other rooms expect an output: it gets
 * one that it does not see. */
static void take_nothing(const exercise *e, kernel_options *own)
{
    const fl_kernel_info *info = &own->kernel.info;
    bool arrays = false;

    for (int i = 0; i < info->count; i++)
        arrays = arrays || info->parameters[i].is_array;
    if (!info->prints)
        fail(EXIT_BAD_INPUT, "%s has no output: %s, and it calls no printf", info->name,
             arrays ? "it writes to no array" : "no parameter is a pointer");
    if (own->expect || e->common.output)
        fail(EXIT_BAD_INPUT, "--%s: %s has no output, it only prints", own->expect ? "expect" : "output", info->name);
    own->only_prints = true;
    own->outputs[own->output_count++] = "nothing";
    own->specs[0] = (output_spec){.dtype = FL_U8, .ndim = 1, .shape = {1}};
}

void kernel_take(exercise *e)
{
    kernel_options *own = e->own;
    const fl_kernel_info *info = &own->kernel.info;
    const int given = e->common.argument_count;

    for (int i = 0; i < FL_MAX_PARAMETERS; i++)
        own->arguments[i] = (kernel_argument){.input = -1, .output = -1};
    e->input_count = 0;
    own->inputs = e->inputs;
    if (!e->word) {
        take_embedded(e, own);
    } else {
        own->kernel = kernel_text_read(own, e->word, own->entry);
        if (given == 0 && info->count > 0 && !own->entry && *info->kernels) {
            char kernels[1024];
            included_tell(own->kernel.lines, info->kernels, kernels, sizeof kernels);
            fail(EXIT_BAD_INPUT, "%s has several kernels, and --entry=NAME chooses one: %s", own->kernel.shown_as,
                 kernels);
        }
        if (given != info->count)
            fail(EXIT_BAD_INPUT, "%d argument%s given; %s of %s takes %d", given, given == 1 ? " is" : "s are",
                 info->name, own->kernel.shown_as, info->count);
        place_outputs(e, own);
        for (int i = 0; i < given; i++) {
            const char *word = e->common.arguments[i];
            if (!info->parameters[i].is_array)
                take_number(info, i, word, &own->arguments[i]);
            else if (own->arguments[i].output >= 0)
                take_output(e, own, i, word);
            else
                take_input(e, own, i, word);
        }
    }
    if (own->output_count == 0)
        take_nothing(e, own);
    settle_outputs(own);
    read_constants(e, own);
    kernel_count_work(own);
}

/* Says which arrays are bytes. */
static void remark_bytes(const kernel_text *k)
{
    char names[512] = "";
    size_t used = 0;

    for (int i = 0; i < k->info.count && used < sizeof names; i++)
        if (k->info.bytes[i] > 0)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s (%d bytes)", used ? ", " : "",
                                     k->info.parameters[i].name, (int)k->info.bytes[i]);
    if (used > 0)
        note("%s: no dtype has an element of %s: the array has its bytes, u8", k->shown_as, names);
}

void kernel_remark(kernel_options *own)
{
    const kernel_text *k = &own->kernel;

    if (!own->remarked && *k->info.left_out)
        note("%s: left out, since the kernel does not name it: %s", k->shown_as, k->info.left_out);
    if (!own->remarked && *k->info.unfilled && own->constant_count == 0)
        note("%s: nothing fills the __constant__ %s: --constant=NAME:FILE does", k->shown_as, k->info.unfilled);
    if (!own->remarked)
        remark_bytes(k);
    own->remarked = true;
}

void kernel_arguments_free(kernel_options *own)
{
    for (int i = 0; i < MOST_OUTPUTS; i++)
        host_array_free(&own->begins[i]);
    for (int i = 0; i < own->constant_count; i++)
        host_array_free(&own->constants[i].value);
    for (int i = 0; i < FL_MAX_PARAMETERS; i++)
        free(own->arguments[i].numbers);
    for (int i = 0; i < MOST_FUNCTION_DEVICES; i++)
        fl_kernel_free(own->code[i].kernel);
    for (int i = 0; i < own->filled_count; i++)
        free(own->filled[i]);
    kernel_text_free(&own->kernel);
}
