/* SPDX-License-Identifier: MIT
 *
 * inputs.h - the inputs of exercises: read from files, made of words and numbers, or made by the exercise. The
 * functions here end the command with one line when something is wrong with a file or the memory.
 */
#pragma once

#include "kind.h"

#include "words/source.h"

/* "f32, f64 and i32", of bits 1 << FL_... */
typedef struct dtypes_list {
    char text[40];
} dtypes_list;
dtypes_list dtypes_text(unsigned dtypes);

/* The array that a word of the command line, or the end of one, names: of a file, or made. A made array has the dtype
 * of --dtype, else `dtype` (NULL: its kind's own), and a seed of its own. */
array_source exercise_source(const exercise *e, const char *word, const fl_dtype *dtype);
/* Refuses --seed where no random numbers are made. */
void exercise_refuse_seed(const common_options *common);

/* Reads an array in its own dtype and checks its dimensions. Where several ranks run (group.h), all must read the same.
 */
host_array exercise_read(const array_source *source, const input_kind *input);
/* For ranks that share an array's rows: its dtype and whole shape without the data, which all ranks must see alike; and
 * some of the rows of an array of the shape `whole`. */
host_array exercise_look(const array_source *source, const input_kind *input);
host_array exercise_read_rows(const array_source *source, int ndim, const int64_t *whole, int64_t first, int64_t rows);
/* Turns the array into another dtype, as C converts. */
void exercise_convert(host_array *array, fl_dtype dtype);
void exercise_take_inputs(exercise *e);

/* --size, or the course's. */
int64_t exercise_size(const exercise *e);
/* --dtype, or `usual`. */
fl_dtype exercise_dtype(const exercise *e, fl_dtype usual);

/* The dtype for which the library has variants of the exercise: that of its input or result. */
fl_dtype exercise_variant_dtype(const exercise *e);

/* An array; --size is to blame when it is too large. */
host_array exercise_array(fl_dtype dtype, int ndim, const int64_t *shape);
/* One of uniform random numbers from `low` up to, not including, `high` (integers: whole ones), in row-major order from
 * one seed. */
host_array exercise_random(fl_dtype dtype, int ndim, const int64_t *shape, double low, double high, uint64_t seed);
/* This rank's part of such an array, which the ranks share (group.h). *first: the elements of lower ranks. */
host_array exercise_share(fl_dtype dtype, int ndim, const int64_t *shape, int64_t *first);
host_array exercise_random_share(fl_dtype dtype, int ndim, const int64_t *shape, double low, double high,
                                 uint64_t seed);

/* The shape of a generated input: `given` (zeros or NULL: not given), or `ndim` dimensions that are --size long.
 * Returns its dimensions. */
int exercise_made_shape(const exercise *e, const int64_t *given, int ndim, int64_t shape[FL_MAX_DIMS]);
/* The i-th input where no file is given: this rank's part of random numbers of --dtype (f32) in exercise_made_shape, in
 * 0..1, or for integers 0 to 99. */
host_array exercise_random_input(const exercise *e, int i, int ndim, const int64_t *given);

/* f32 if all inputs are of f32, else f64. */
fl_dtype exercise_float_dtype(const exercise *e);

/* Ends the command unless two inputs have one shape, or one dtype. */
void exercise_one_shape(const exercise *e);
void exercise_one_dtype(const exercise *e);
