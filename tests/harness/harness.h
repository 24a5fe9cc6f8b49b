/* SPDX-License-Identifier: MIT
 *
 * harness.h - what the tests share: the backends of this machine, matrices on the host, the sum by definition that
 * results are held against, and outputs with guard bytes around them.
 */
#ifndef FLYNN_TESTS_HARNESS_H
#define FLYNN_TESTS_HARNESS_H

#include <criterion/criterion.h>
#include <flynn/flynn.h>

/* Elements of an array of known length. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---------------------------------------------------------------------------------------------------- backends ---- */

/* A device to open. */
struct on {
    char resource[40];
};

/* Every resource that can be opened here: each plugin that can run, by itself, at each other instruction set, and at
 * one and two threads where a number means threads, unless the plugin by itself has these. FLYNN_TEST_FAMILY (cpu, hip)
 * leaves out the other family, FLYNN_TEST_RESOURCES ("omp:2,serial") names the resources instead. Returns how many. */
size_t every_backend(const struct on **all);

/* Whether FLYNN_TEST_SMALL is set: for devices that are emulated, and a thousand times slower. A test then leaves out
 * its largest inputs, or makes them smaller. */
bool is_small_test(void);

/* A test that runs once for each of them, in which `on->resource` names the device; all in one process, where what
 * they are held against is computed once (see `recall`). The first that fails a cr_assert ends the test. */
#define ON_EVERY_BACKEND(suite, name) \
    static void suite##_##name##_on(const struct on *on); \
    Test(suite, name, .timeout = 1200) \
    { \
        for_every_backend(#name, suite##_##name##_on); \
    } \
    static void suite##_##name##_on(const struct on *on)

void for_every_backend(const char *name, void (*test)(const struct on *on));

/* `make check` sets FLYNN_TEST_QUICK to a number, another one each time. A quick test takes some of its cases, the same
 * ones for the same number: each of ON_EVERY_BACKEND runs on one of the processor's resources and on every other
 * device, and a loop skips a case where this returns true. Of each `one_of` cases in turn one is taken; all, in other
 * tests. */
bool is_left_out(unsigned one_of);

/* One of several threads that use a device at the same time. */
struct worker {
    fl_device *device;
    uint64_t seed; /* 1, 2, ... */
    bool ok;       /* set by the thread: Criterion's tests fail in one thread only */
};

/* Runs `work`, whose argument is a struct worker, in four threads. Fails the test if one of them is not ok. */
void threads_share_a_device(const char *resource, void *(*work)(void *worker));

/* Calls `check` for each line and mode of the operation's golden/manifest.txt: "NAME FLAG MODE...". Fails the test if
 * there are not more than `more_than` of them. */
void for_each_golden(fl_device *device, const char *operation, int more_than,
                     void (*check)(fl_device *device, const char *name, bool flag, const char *mode));

/* Opens the device, or fails the test. */
fl_device *open_device(const char *resource);

/* Whether the device is a GPU, or imitates one: whether a block is one of threads. */
bool is_gpu(const fl_device *device);

/* Whether the device is an emulation, or the test is to be small. */
bool is_slow(const fl_device *device);

/* The i-th variant of an operation ("sort") that computes in `dtype`, "auto" being the 0th; NULL past the last. Those
 * that FLYNN_TEST_WITHOUT names are none. */
const char *variant_of(const fl_device *device, const char *operation, fl_dtype dtype, size_t i);

/* Fails the test unless the call returned that status; for one that is not FL_OK, unless it left a message of one
 * line. The message names the call. */
#define expect_status(status, call) check_status((status), (call), #call, __FILE__, __LINE__)
#define must(call) expect_status(FL_OK, call)
void check_status(fl_status wanted, fl_status got, const char *call, const char *file, int line);

/* Fails the test unless the last error has these words in it. */
#define expect_error_says(words) \
    cr_expect(strstr(fl_last_error(), (words)) != NULL, "expected '%s' in: %s", (words), fl_last_error())

/* Fails the test unless the call returned FL_E_ARGUMENT and the error has these words in it. */
#define expect_argument_error(call, words) \
    do { \
        check_status(FL_E_ARGUMENT, (call), #call, __FILE__, __LINE__); \
        expect_error_says(words); \
    } while (0)

/* Frees each of the arrays. */
#define free_arrays(...) free_each_array((fl_array *const[]){__VA_ARGS__}, COUNT(((fl_array *const[]){__VA_ARGS__})))
void free_each_array(fl_array *const *arrays, size_t count);

/* ---------------------------------------------------------------------------------------------------- matrices ---- */

/* A matrix on the host, packed. */
struct matrix {
    fl_dtype dtype;
    int64_t shape[2];
    void *data;
};

struct matrix matrix_create(fl_dtype dtype, int64_t rows, int64_t columns);
void matrix_free(struct matrix *matrix);

/* Inline: the expected results are sums over millions of these. */
static inline double matrix_get(const struct matrix *matrix, int64_t row, int64_t column)
{
    int64_t i = row * matrix->shape[1] + column;
    switch (matrix->dtype) {
    case FL_U8: return ((uint8_t *)matrix->data)[i];
    case FL_I32: return ((int32_t *)matrix->data)[i];
    case FL_I64: return (double)((int64_t *)matrix->data)[i];
    case FL_F32: return ((float *)matrix->data)[i];
    default: return ((double *)matrix->data)[i];
    }
}

void matrix_set(struct matrix *matrix, int64_t row, int64_t column, double value);

/* Numbers in -1..1 (integers: -9..9, u8: 0..9) that depend on the seed alone. */
struct matrix matrix_random(fl_dtype dtype, int64_t rows, int64_t columns, uint64_t seed);
/* The product of two such vectors: a kernel of rank one. */
struct matrix matrix_random_rank_one(fl_dtype dtype, int64_t rows, int64_t columns, uint64_t seed);
/* The next random number, and one in first..last. */
uint64_t random_bits(uint64_t *state);
int64_t random_between(uint64_t *state, int64_t first, int64_t last);

/* The course's Gaussian, exp(-factor * (x^2 + y^2)) on 15 x 15 points of -2..2. */
struct matrix matrix_gaussian(fl_dtype dtype, double factor);
/* The course's image: a one at [8, 8] of each 16 x 16 zeros. */
struct matrix matrix_impulses(fl_dtype dtype, int64_t edge);

/* Reads tests/operations/<operation>/golden/<name>.npy. */
struct matrix matrix_golden(const char *operation, const char *name);

/* The matrix on a device. */
fl_array *array_from(fl_device *device, const struct matrix *matrix);
/* The same as a view into a larger array, whose other elements are NaN (integers: 111). */
fl_array *array_inside(fl_device *device, const struct matrix *matrix);

/* ----------------------------------------------------------------------------------------- the expected result ---- */

/* What all backends are held against is the same, and often takes longer to compute than the results. A key is a hash
 * of everything that it depends on, of the bytes of matrices and of numbers. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);
uint64_t hash_matrix(uint64_t hash, const struct matrix *matrix);
/* Fills `data` with what was kept with this key. False: nothing was; compute it and remember it. Threads may do so too.
 */
bool recall(uint64_t key, void *data, size_t size);
void remember(uint64_t key, const void *data, size_t size);

/* A convolution as the definition in flynn.h has it, in long double, with the error that is allowed in each element. */
struct expected {
    int64_t shape[2];
    double *value;
    double *magnitude; /* the same sum over absolute values */
    int64_t terms;     /* elements of the kernel */
    double slack;      /* that the variant fft adds to each bound; else 0 */
};

struct expected expected_convolve(const struct matrix *image, const struct matrix *kernel, fl_mode mode);
void expected_free(struct expected *expected);

/* Fails the test unless each element of `got` is within its bound of the expected one; `what` starts the message. */
void expect_near(const struct expected *expected, const struct matrix *got, const char *what, ...)
    __attribute__((format(printf, 3, 4)));
/* The same as a question, for threads, where a test cannot fail. */
bool is_near(const struct expected *expected, const struct matrix *got);

/* -------------------------------------------------------------------------------------------------- the output ---- */

/* An output that lies inside a larger array filled with a pattern. */
struct guarded {
    fl_array *whole, *out;
    int64_t start[FL_MAX_DIMS]; /* of the output in the whole */
};

/* Of up to FL_MAX_DIMS dimensions. The last one has a margin of that many elements on either side: with none the rows
 * lie side by side, with one apart; the first one has its own. */
struct guarded guarded_create(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, int64_t margin);
/* Copies the output's elements, packed, to `data`; fails the test when the pattern around them was touched. */
void guarded_copy(const struct guarded *guarded, void *data, const char *what);
/* The same for an output of two dimensions. */
struct matrix guarded_read(const struct guarded *guarded, const char *what);
/* Fails the test when any element was touched, those of the output included. */
void expect_untouched(const struct guarded *guarded, const char *what);
void guarded_free(struct guarded *guarded);

/* Convolves on the device with all of the above: views as inputs, a guarded output, the bound. `run` may be NULL. */
void check_convolve(fl_device *device, const struct matrix *image, const struct matrix *kernel, fl_mode mode,
                    const fl_run *run, const struct expected *expected);

#endif
