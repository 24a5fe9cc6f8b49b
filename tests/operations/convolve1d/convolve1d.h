/* SPDX-License-Identifier: MIT
 *
 * convolve1d.h - what the tests of convolve1d share: the sums by definition, the bounds, a call with guards around it.
 */
#ifndef FLYNN_TESTS_CONVOLVE1D_H
#define FLYNN_TESTS_CONVOLVE1D_H

#include "harness.h"
#include "files/npy.h"

/* A convolution by the definition in flynn.h, in long double, with what its bounds are made of. */
struct sums {
    int64_t length, terms;
    double *value;
    double *magnitude;  /* the same sum over absolute values */
    double signal_norm; /* of the longer one, the root of the sum of squares */
    double kernel_norm; /* of the shorter one */
};

struct sums sums_create(const struct matrix *signal, const struct matrix *kernel, fl_mode mode);
void sums_free(struct sums *sums);

/* What flynn.h grants fft for a kernel of that many taps. */
double fft_bound(fl_dtype dtype, int64_t taps, double signal_norm, double kernel_norm);

/* Fails the test unless each element is within its bound. */
void sums_expect(const struct sums *sums, const struct matrix *got, bool fft, const char *what, ...)
    __attribute__((format(printf, 4, 5)));
/* The same as a question, for threads. */
bool sums_are_near(const struct sums *sums, const struct matrix *got, bool fft);

/* How many elements of a larger array lie before signal, kernel and output. */
struct starts {
    int64_t signal, kernel, out;
};

/* Convolves with views into larger arrays of NaN as inputs and a guarded output. `run` may be NULL. */
void check_one(fl_device *device, const struct matrix *signal, const struct matrix *kernel, fl_mode mode,
               const fl_run *run, const struct sums *sums, struct starts starts);

/* Every variant that the device has. */
void check_variants(fl_device *device, const struct matrix *signal, const struct matrix *kernel, fl_mode mode,
                    const struct sums *sums);

/* The same for random numbers. */
void check_random(fl_device *device, fl_dtype dtype, int64_t size, int64_t taps, fl_mode mode, uint64_t seed);

/* The result of one call. */
struct matrix convolved(fl_device *device, const struct matrix *signal, const struct matrix *kernel, fl_mode mode,
                        const fl_run *run);

/* A vector on a device, `start` elements behind the beginning of a larger array of NaN (integers: 111). */
fl_array *vector_inside(fl_device *device, const struct matrix *vector, int64_t start);

#endif
