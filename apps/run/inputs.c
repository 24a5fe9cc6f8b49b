/* SPDX-License-Identifier: MIT */
#include "inputs.h"
#include "shape.h"

#include "options/options.h"
#include "options/typed.h"
#include "support/fail.h"
#include "support/memory.h"
#include "words/fill.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dtypes_list dtypes_text(unsigned dtypes)
{
    dtypes_list list = {""};

    for (int d = 0; d < FL_DTYPE_COUNT; d++) {
        unsigned above = dtypes >> (d + 1);
        if (dtypes & 1u << d)
            snprintf(list.text + strlen(list.text), sizeof list.text - strlen(list.text), "%s%s",
                     fl_dtype_name((fl_dtype)d),
                     !above                ? ""
                     : above & (above - 1) ? ", "
                                           : " and ");
    }
    return list;
}

int64_t exercise_size(const exercise *e)
{
    return e->common.size ? e->common.size : e->kind->size;
}

fl_dtype exercise_dtype(const exercise *e, fl_dtype usual)
{
    return e->common.has_dtype ? e->common.dtype : usual;
}

fl_dtype exercise_variant_dtype(const exercise *e)
{
    return e->kind->of_input && e->input_count > 0 ? e->inputs[0].dtype : e->outputs[0].dtype;
}

host_array exercise_array(fl_dtype dtype, int ndim, const int64_t *shape)
{
    host_array array;
    problem why;

    must_do(host_array_create(&array, dtype, ndim, shape, "--size", &why), &why);
    return array;
}

host_array exercise_share(fl_dtype dtype, int ndim, const int64_t *shape, int64_t *first)
{
    int64_t own[FL_MAX_DIMS];

    for (int d = 0; d < ndim; d++)
        own[d] = shape[d];
    *first = group_part(ndim, own);
    return exercise_array(dtype, ndim, own);
}

host_array exercise_random(fl_dtype dtype, int ndim, const int64_t *shape, double low, double high, uint64_t seed)
{
    host_array array = exercise_array(dtype, ndim, shape);

    random_fill(&array, 0, low, high, false, seed);
    return array;
}

host_array exercise_random_share(fl_dtype dtype, int ndim, const int64_t *shape, double low, double high, uint64_t seed)
{
    int64_t first;
    host_array array = exercise_share(dtype, ndim, shape, &first);

    random_fill(&array, first, low, high, false, seed);
    return array;
}

int exercise_made_shape(const exercise *e, const int64_t *given, int ndim, int64_t shape[FL_MAX_DIMS])
{
    const bool is_given = given && given[0];
    int count = is_given ? 0 : ndim;

    while (is_given && count < FL_MAX_DIMS && given[count])
        count++;
    for (int d = 0; d < count; d++)
        shape[d] = is_given ? given[d] : exercise_size(e);
    return count;
}

host_array exercise_random_input(const exercise *e, int i, int ndim, const int64_t *given)
{
    const fl_dtype dtype = exercise_dtype(e, FL_F32);
    int64_t shape[FL_MAX_DIMS];

    ndim = exercise_made_shape(e, given, ndim, shape);
    return exercise_random_share(dtype, ndim, shape, 0, fl_dtype_is_float(dtype) ? 1 : 100,
                                 e->common.seed + (uint64_t)i);
}

/* "2 dimensions", "1 to 4 dimensions" */
static const char *dimensions_text(char *text, size_t size, int least, int most)
{
    if (least == most)
        snprintf(text, size, "%d dimension%s", least, least == 1 ? "" : "s");
    else
        snprintf(text, size, "%d to %d dimensions", least, most);
    return text;
}

/* How to make a vector of the array, as NumPy's ravel does; free it. A pipe cannot be read twice. */
static char *flatten_hint(const host_array *array, const char *path)
{
    char *word = typed_quote(path), *hint;

    hint = strcmp(path, "-") == 0 ? memory_text("")
                                  : memory_print(" (`flynn show %s --shape=%" PRId64 " -o FILE` flattens it)", word,
                                                 host_array_size(array));
    free(word);
    return hint;
}

/* The shape of the data may not be read yet. */
static void check_shape(const host_array *array, const char *path, const input_kind *input)
{
    char expected[64];

    if (array->ndim < input->least_ndim || array->ndim > input->most_ndim)
        fail(EXIT_BAD_INPUT, "%s: the %s is %s; expected %s%s", path, input->role,
             format_shape(array->ndim, array->shape).text,
             dimensions_text(expected, sizeof expected, input->least_ndim, input->most_ndim),
             input->most_ndim == 1 ? flatten_hint(array, path) : "");
    if (!input->may_be_empty && host_array_size(array) == 0)
        fail(EXIT_BAD_INPUT, "%s: the %s has no elements; expected at least one", path, input->role);
}

static void same_header(const char *path, const host_array *array)
{
    int64_t facts[2 + FL_MAX_DIMS] = {array->dtype, array->ndim};

    memcpy(facts + 2, array->shape, sizeof array->shape);
    group_same_file(path, facts, sizeof facts);
}

/* Returns whether the word stands in the argument, perhaps after a prefix such as "inout:". */
static bool stands_in(const char *word, const char *argument)
{
    return word >= argument && word <= argument + strlen(argument);
}

array_source exercise_source(const exercise *e, const char *word, const fl_dtype *dtype)
{
    const common_options *c = &e->common;
    int i = 0;

    while (i < c->argument_count && !stands_in(word, c->arguments[i]))
        i++;
    return (array_source){
        .word = word, .seed = c->seed + source_made_before(c->arguments, i), .dtype = c->has_dtype ? &c->dtype : dtype};
}

void exercise_refuse_seed(const common_options *common)
{
    for (int i = 0; i < common->argument_count; i++)
        if (made_takes_seed(common->arguments[i]))
            return;
    if (common->argument_count > 0)
        option_refuse(common, TAKES_SEED, "'%s' is given, and no random numbers are made", common->arguments[0]);
}

host_array exercise_read(const array_source *source, const input_kind *input)
{
    host_array array;
    problem why;

    must_do(source_read(source, &array, &why), &why);
    check_shape(&array, source->word, input);
    same_header(source->word, &array);
    if (!source_is_made(source->word))
        group_same_file(source->word, array.data, host_array_bytes(&array));
    return array;
}

host_array exercise_look(const array_source *source, const input_kind *input)
{
    npy_layout layout;
    problem why;

    must_do(source_look(source, &layout, &why), &why);
    host_array array = {.dtype = layout.dtype, .ndim = layout.ndim};
    memcpy(array.shape, layout.shape, sizeof array.shape);
    same_header(source->word, &array);
    check_shape(&array, source->word, input);
    return array;
}

host_array exercise_read_rows(const array_source *source, int ndim, const int64_t *whole, int64_t first, int64_t rows)
{
    const int64_t row = whole[1] * whole[2] * whole[3];
    npy_layout layout;
    host_array array;
    problem why;

    must_do(source_look(source, &layout, &why), &why);
    must_do(source_elements(source, &layout, first * row, rows * row, &array, &why), &why);
    array.ndim = ndim;
    memcpy(array.shape, whole, sizeof array.shape);
    array.shape[0] = rows;
    return array;
}

/* The i-th input from its file or word; on several ranks this rank's share of the rows, where they share it. */
static host_array read_input(const exercise *e, int i)
{
    const array_source source = exercise_source(e, e->common.arguments[i], NULL);
    const input_kind *input = &e->kind->inputs[i];
    const bool shared = group_is_distributed() && e->distributed & 1u << i;
    host_array array = (shared ? exercise_look : exercise_read)(&source, input);
    int64_t rows, first;

    if (e->kind->flat)
        array = (host_array){array.dtype, 1, {host_array_size(&array), 1, 1, 1}, array.data};
    if (!shared)
        return array;
    rows = array.shape[0];
    first = group_part(1, &rows);
    return exercise_read_rows(&source, array.ndim, array.shape, first, rows);
}

static bool is_number(const exercise *e, const char *argument, double *value)
{
    char *end;

    if (!e->kind->numbers || !argument || !*argument)
        return false;
    *value = strtod(argument, &end);
    return *end == '\0';
}

/* The number wherever the other input has an element, and in its dtype if that is a floating-point one. */
static host_array spread(double value, const host_array *other)
{
    fl_dtype dtype = other && other->dtype == FL_F32 ? FL_F32 : FL_F64;
    int64_t one = 1;

    if (!other)
        group_part(1, &one);
    host_array array = exercise_array(dtype, other ? other->ndim : 1, other ? other->shape : &one);
    for (int64_t i = 0, size = host_array_size(&array); i < size; i++)
        host_array_set(&array, i, value);
    return array;
}

void exercise_convert(host_array *array, fl_dtype dtype)
{
    host_array converted;
    problem why;

    if (array->dtype == dtype)
        return;
    must_do(host_array_convert(array, dtype, &converted, "the input", &why), &why);
    host_array_free(array);
    *array = converted;
}

/* --dtype converts a file of a dtype that the exercise does not take. */
static void check_dtype(const exercise *e, const host_array *array, const char *path)
{
    const unsigned dtypes = e->kind->file_dtypes ? e->kind->file_dtypes : DTYPES_ALL;

    if (!e->common.has_dtype && !(dtypes & 1u << array->dtype))
        fail(EXIT_BAD_INPUT, "%s: the input is of %s; expected %s (--dtype=i32 converts it)", path,
             fl_dtype_name(array->dtype), dtypes_text(dtypes).text);
}

static const char *argument_of(const exercise *e, int i)
{
    return i < e->common.argument_count ? e->common.arguments[i] : NULL;
}

/* Files, numbers, and what the exercise makes; in that order, since a number takes the shape of the other input. */
void exercise_take_inputs(exercise *e)
{
    double value[MOST_INPUTS];
    bool number[MOST_INPUTS];

    if (e->input_count == 0)
        e->input_count = e->kind->input_count;
    e->numbers = e->input_count > 0;
    for (int i = 0; i < e->input_count; i++) {
        number[i] = is_number(e, argument_of(e, i), &value[i]);
        e->numbers = e->numbers && number[i];
        if (argument_of(e, i) && !number[i]) {
            e->inputs[i] = read_input(e, i);
            check_dtype(e, &e->inputs[i], argument_of(e, i));
        } else if (!number[i]) {
            e->inputs[i] = e->kind->steps.make(e, i);
        }
    }
    for (int i = 0; i < e->input_count; i++) {
        if (number[i])
            e->inputs[i] = spread(value[i], e->numbers ? NULL : &e->inputs[i ? 0 : 1]);
        if (e->common.has_dtype)
            exercise_convert(&e->inputs[i], e->common.dtype);
    }
}

fl_dtype exercise_float_dtype(const exercise *e)
{
    fl_dtype dtypes[MOST_INPUTS];

    for (int i = 0; i < e->input_count; i++)
        dtypes[i] = e->inputs[i].dtype;
    return fl_dtype_float_result(dtypes, e->input_count);
}

void exercise_one_shape(const exercise *e)
{
    int64_t a[FL_MAX_DIMS], b[FL_MAX_DIMS];
    const int a_ndim = exercise_whole_input(e, 0, a), b_ndim = exercise_whole_input(e, e->input_count - 1, b);

    if (a_ndim != b_ndim || memcmp(a, b, sizeof a) != 0)
        fail(EXIT_BAD_INPUT, "%s is %s, %s is %s; expected one shape", e->common.arguments[0],
             format_shape(a_ndim, a).text, e->common.arguments[1], format_shape(b_ndim, b).text);
}

void exercise_one_dtype(const exercise *e)
{
    const fl_dtype a = e->inputs[0].dtype, b = e->inputs[e->input_count - 1].dtype;

    if (a != b)
        fail(EXIT_BAD_INPUT, "%s: has dtype %s; expected %s, as %s has (--dtype converts both)", e->common.arguments[1],
             fl_dtype_name(b), fl_dtype_name(a), e->common.arguments[0]);
}
