/* SPDX-License-Identifier: MIT
 *
 * large.h - what the files of `large` share: the accounting of cases, and arrays that repeat a short pattern.
 */
#pragma once

#include <flynn/flynn.h>

extern fl_device *device;
extern int64_t elements; /* at least that many */
extern int64_t period;   /* a prime number */
extern int64_t count;    /* a multiple of it, above `elements` */
/* Of the case that runs: the first call that failed, or "" */
extern char problem[600];

/* Whether the operation is to be tested. */
bool wanted(const char *operation);

void case_begin(void);
/* The case fails, with the text of the first call. */
void case_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether the call succeeded; the case ends as failed or refused if not. */
bool done(fl_status status);
/* Prints the case's line. */
void case_end(const char *operation, const char *variant, const char *dtype, int64_t n);

/* What an array repeats along its first dimension. */
typedef struct pattern {
    fl_dtype dtype;
    int64_t rows, columns; /* columns: 1 for an array of one dimension */
    void *data;            /* the device's host memory */
} pattern;

pattern pattern_create(fl_dtype dtype, int64_t rows, int64_t columns);
void pattern_free(pattern *p);
/* Of one dimension where `columns` is 1; NULL after an error. */
fl_array *create_array(fl_dtype dtype, int64_t rows, int64_t columns);
/* Writes the first `rows` rows of `from` to the array, from row `start` on. */
bool write_rows(fl_array *array, int64_t start, int64_t rows, const void *from);
/* A new array of that many rows of the pattern; NULL after an error. */
fl_array *repeat(const pattern *p, int64_t rows);
/* Compares on the device; every element must be within `tolerance`. */
void expect_array(const fl_array *got, const fl_array *expected, double tolerance);
/* The same of the pattern, repeated. */
void expect(const fl_array *got, const pattern *p, double tolerance);
/* Integers in 0..most-1, neighbours far from each other. */
int64_t value(int64_t i, int64_t most);
/* Of one dimension, `period` elements: value(i, most). */
pattern pattern_of(fl_dtype dtype, int64_t most);
/* The i-th variant of an operation that computes in `dtype`; NULL past the last. The names stay valid. */
const char *variant_of(const char *operation, fl_dtype dtype, size_t i);
/* Of an array of one i64; -1 after an error. */
int64_t read_count(fl_array *array);

/* The cases: of large_vectors.c, test_primes among them, of large_sums.c and of large_matrices.c. */
void test_vectors(void);
void test_sums(void);
void test_matrices(void);
void test_primes(void);
