/* SPDX-License-Identifier: MIT */
#include "map_inputs.h"

#include "options/options.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "words/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- numbers and ranges ---- */

static number_input number_of(const char *word)
{
    number_input n;
    problem why;

    must_do(number_read(word, &n, &why), &why);
    return n;
}

/* `count` of the numbers from the `begin`-th on as an array; the dtype must hold them all. */
static host_array array_of(const number_input *n, int64_t begin, int64_t count, fl_dtype dtype, const char *word)
{
    const double last = n->first + n->step * (double)(n->count - 1);
    host_array array;
    problem why;

    if (!fl_dtype_is_float(dtype)) {
        const double least = dtype == FL_U8 ? 0 : dtype == FL_I32 ? INT32_MIN : -0x1p63;
        const double most = dtype == FL_U8 ? 255 : dtype == FL_I32 ? INT32_MAX : 0x1p63 - 1024;
        if (!n->whole || fmin(n->first, last) < least || fmax(n->first, last) > most)
            fail(EXIT_BAD_INPUT, "'%s' is not of dtype %s, which the function takes", word, fl_dtype_name(dtype));
    }
    must_do(memory_allows(word, (double)count * (double)fl_dtype_size(dtype), &why) &&
                host_array_create(&array, dtype, 1, &count, word, &why),
            &why);
    for (int64_t i = 0; i < count; i++)
        host_array_set(&array, i, n->first + n->step * (double)(begin + i));
    return array;
}

bool numbers_from(const char *word, fl_dtype dtype, host_array *array)
{
    const number_input n = number_of(word);

    if (n.is_number)
        *array = array_of(&n, 0, n.count, dtype, word);
    return n.is_number;
}

/* ------------------------------------------------------------------------------------------------ dtypes ---- */

bool dtype_fits(fl_dtype from, fl_dtype to)
{
    return from == to || from == FL_U8 || (from == FL_I32 && (to == FL_I64 || to == FL_F64)) ||
           (from == FL_F32 && to == FL_F64);
}

/* An array of a file becomes the parameter of a function in C. */
static void fit(const exercise *e, int i, fl_dtype dtype)
{
    const char *path = e->common.arguments[i];
    const host_array *array = &e->inputs[i];

    if (!dtype_fits(array->dtype, dtype))
        fail(EXIT_BAD_INPUT, "%s: %s does not fit input %d of the function, which is %s; --dtype=%s converts it", path,
             fl_dtype_name(array->dtype), i + 1, fl_dtype_name(dtype), fl_dtype_name(dtype));
}

/* A number among arrays takes their dtype, as in NumPy, but a number with a point among integers is f64. Alone it is
 * f64, or i64 without a point. */
static fl_dtype weak_dtype(const number_input *n, const number_input *all, const exercise *e)
{
    fl_dtype arrays[FL_MAX_INPUTS], common;
    int count = 0;

    for (int i = 0; i < e->input_count; i++)
        if (!all[i].is_number)
            arrays[count++] = e->inputs[i].dtype;
    if (e->common.has_dtype)
        return e->common.dtype;
    if (count == 0)
        return n->whole ? FL_I64 : FL_F64;
    common = fl_dtype_result(arrays, count);
    return n->whole || fl_dtype_is_float(common) ? common : FL_F64;
}

/* ------------------------------------------------------------------------------------------------ inputs ---- */

static const input_kind any_array = {"input", 0, FL_MAX_DIMS, true};

static host_array without_data(fl_dtype dtype, int64_t count)
{
    return (host_array){.dtype = dtype, .ndim = 1, .shape = {count, 1, 1, 1}};
}

/* Reads the inputs: files in their own dtype or that of --dtype (on several ranks without data), numbers without a
 * dtype. Arrays that words make have the dtypes of `usual`, if that is not NULL. */
static void read_files(exercise *e, number_input *numbers, const fl_dtype *usual)
{
    for (int i = 0; i < e->input_count; i++) {
        const char *word = e->common.arguments[i];
        const array_source source = exercise_source(e, word, usual ? &usual[i] : NULL);
        numbers[i] = number_of(word);
        if (numbers[i].is_number)
            e->inputs[i] = without_data(FL_F64, numbers[i].count);
        else
            e->inputs[i] = (group_is_distributed() ? exercise_look : exercise_read)(&source, &any_array);
        if (e->inputs[i].ndim == 0)
            e->inputs[i].ndim = 1;
        if (e->common.has_dtype && e->inputs[i].data)
            exercise_convert(&e->inputs[i], e->common.dtype);
        else if (e->common.has_dtype)
            e->inputs[i].dtype = e->common.dtype;
    }
}

/* The i-th input with its data, of `dtype`; `shared`: this rank's share of it. */
static host_array load(const exercise *e, int i, bool shared, const number_input *number, fl_dtype dtype)
{
    const host_array *whole = &e->inputs[i];
    const char *word = e->common.argument_count > 0 ? e->common.arguments[i] : NULL;
    int64_t first = 0, count = whole->shape[0];
    host_array array = *whole;

    if (!word)
        return exercise_random_share(dtype, 1, whole->shape, 0, fl_dtype_is_float(dtype) ? 1 : 100,
                                     e->common.seed + (uint64_t)i);
    if (shared)
        first = group_part(1, &count);
    if (number->is_number)
        return array_of(number, first, count, dtype, word);
    if (!whole->data) {
        const array_source source = exercise_source(e, word, &whole->dtype);
        array = shared ? exercise_read_rows(&source, whole->ndim, whole->shape, first, count)
                       : exercise_read(&source, &any_array);
    }
    if (array.ndim == 0)
        array.ndim = 1;
    if (e->common.has_dtype)
        exercise_convert(&array, e->common.dtype);
    exercise_convert(&array, dtype);
    return array;
}

/* Loads all inputs with their data. Ranks share the rows of the result, and those of inputs that have as many. */
static void load_all(exercise *e, const number_input *numbers, const fl_dtype *dtypes)
{
    int64_t shape[FL_MAX_DIMS];
    const int ndim = map_broadcast(e, shape);

    for (int i = 0; i < e->input_count; i++) {
        const bool shared = group_is_distributed() && e->inputs[i].ndim == ndim && e->inputs[i].shape[0] == shape[0];
        e->distributed |= shared ? 1u << i : 0;
        e->inputs[i] = load(e, i, shared, &numbers[i], dtypes[i]);
    }
}

/* A function in C says how many inputs it has, and of which dtypes. */
static void take_for_c(exercise *e, map_options *own)
{
    number_input numbers[FL_MAX_INPUTS] = {{0}};
    const int given = e->common.argument_count;

    own->info = user_function_read(&own->function);
    if (given > 0 && given != own->info.count)
        fail(EXIT_BAD_INPUT, "%d input%s given; %s takes %d", given, given == 1 ? " is" : "s are", own->info.name,
             own->info.count);
    e->input_count = own->info.count;
    if (given == 0)
        option_refuse(&e->common, TAKES_DTYPE, "the parameters of %s say the dtypes of the random inputs",
                      own->info.name);
    if (given > 0)
        read_files(e, numbers, own->info.inputs);
    for (int i = 0; i < e->input_count; i++) {
        if (given == 0)
            e->inputs[i] = without_data(own->info.inputs[i], exercise_size(e));
        else if (!numbers[i].is_number)
            fit(e, i, own->info.inputs[i]);
    }
    load_all(e, numbers, own->info.inputs);
}

static void take_for_expression(exercise *e, map_options *own)
{
    user_function *f = &own->function;
    number_input numbers[FL_MAX_INPUTS] = {{0}};
    const int given = e->common.argument_count;

    for (int i = 0; i < FL_MAX_INPUTS; i++)
        f->inputs[i] = FL_I64; /* what is right for real numbers is right for integers, too */
    user_function_count_inputs(f, FL_MAX_EXPRESSION_INPUTS);
    e->input_count = f->count;
    if (given > FL_MAX_EXPRESSION_INPUTS || (given > 0 && given < e->input_count))
        fail(EXIT_BAD_INPUT, "%d input%s given; '%s' has %d", given, given == 1 ? " is" : "s are", own->word,
             e->input_count);
    e->input_count = given > 0 ? given : e->input_count;
    if (given > 0)
        read_files(e, numbers, NULL);
    for (int i = 0; i < e->input_count; i++) {
        if (given == 0)
            e->inputs[i] = without_data(exercise_dtype(e, FL_F32), exercise_size(e));
        f->inputs[i] = numbers[i].is_number ? weak_dtype(&numbers[i], numbers, e) : e->inputs[i].dtype;
    }
    f->count = e->input_count;
    own->info = user_function_read(f);
    load_all(e, numbers, f->inputs);
}

/* Ends the command. */
static noreturn void show_lanes(user_function *f)
{
    static char lanes[1 << 20]; /* ends with a newline */

    if (f->is_expression)
        fail(EXIT_BAD_INPUT, "--lanes: '%s' has no loop: the compiler makes vectors of it", f->text);
    user_function_read(f);
    if (fl_function_lanes(f->text, f->shown_as, lanes, sizeof lanes) != FL_OK)
        fail(EXIT_BAD_INPUT, "--lanes: %s", fl_last_error());
    user_function_free(f);
    for (const char *line = lanes; *line; line += strcspn(line, "\n") + 1)
        text_print_whole("%.*s\n", (int)strcspn(line, "\n"), line);
    leave(EXIT_SUCCESS);
}

void map_take(exercise *e)
{
    map_options *own = e->own;

    own->word = e->word ? e->word : e->common.function ? e->common.function : own->word;
    own->function = user_function_of(own->word);
    if (own->lanes)
        show_lanes(&own->function);
    if (own->function.is_expression)
        take_for_expression(e, own);
    else
        take_for_c(e, own);
}

int map_broadcast(const exercise *e, int64_t shape[FL_MAX_DIMS])
{
    int ndim = 1;

    for (int i = 0; i < e->input_count; i++)
        ndim = e->inputs[i].ndim > ndim ? e->inputs[i].ndim : ndim;
    for (int d = 0; d < ndim; d++)
        shape[d] = 1;
    for (int i = 0; i < e->input_count; i++) {
        const host_array *in = &e->inputs[i];
        for (int d = 0; d < in->ndim; d++) {
            int64_t *to = &shape[ndim - in->ndim + d];
            if (in->shape[d] != 1 && *to != 1 && in->shape[d] != *to)
                fail(EXIT_BAD_INPUT, "%s is %s, which does not broadcast to %s, the shape of the inputs before it",
                     e->common.arguments[i], format_shape(in->ndim, in->shape).text, format_shape(ndim, shape).text);
            *to = in->shape[d] != 1 ? in->shape[d] : *to;
        }
    }
    return ndim;
}
