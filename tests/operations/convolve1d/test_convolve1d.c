/* SPDX-License-Identifier: MIT
 *
 * test_convolve1d.c - what convolve1d computes, in every variant on every backend. How it is called is in
 * test_convolve1d_calls.c. Vectors are the harness's matrices of one row.
 */
#include "convolve1d.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = {"full", "same", "valid"};
static const fl_dtype floats[] = {FL_F32, FL_F64};

/* ------------------------------------------------------------------------------------ what is known from NumPy ---- */

static fl_mode mode_of(const char *name)
{
    fl_mode mode = FL_FULL;
    while (strcmp(mode_names[mode], name) != 0)
        cr_assert(++mode <= FL_VALID, "the manifest has no mode '%s'", name);
    return mode;
}

static struct matrix golden(const char *name, const char *what)
{
    char path[512];
    host_array array;
    problem why;
    snprintf(path, sizeof path, "%s/convolve1d/golden/%s.%s.npy", FLYNN_TEST_OPERATIONS, name, what);
    cr_assert(npy_read(path, &array, &why), "%s", why.text);
    cr_assert(array.ndim == 1, "%s is not a vector", path);
    struct matrix vector = matrix_create(array.dtype, 1, array.shape[0]);
    memcpy(vector.data, array.data, (size_t)array.shape[0] * fl_dtype_size(array.dtype));
    host_array_free(&array);
    return vector;
}

/* NumPy's value takes the place of the test's own, after they were compared. */
static void check_golden(fl_device *device, const char *name, bool finite, const char *mode)
{
    (void)finite;
    struct matrix signal = golden(name, "signal"), kernel = golden(name, "kernel"), wanted = golden(name, mode);
    struct sums sums = sums_create(&signal, &kernel, mode_of(mode));
    cr_assert(wanted.shape[1] == sums.length, "%s %s: NumPy's has %lld elements, expected %lld", name, mode,
              (long long)wanted.shape[1], (long long)sums.length);
    sums_expect(&sums, &wanted, false, "%s %s: NumPy against the definition", name, mode);
    for (int64_t i = 0; i < sums.length; i++)
        sums.value[i] = matrix_get(&wanted, 0, i);
    check_variants(device, &signal, &kernel, mode_of(mode), &sums);
    sums_free(&sums);
    matrix_free(&signal);
    matrix_free(&kernel);
    matrix_free(&wanted);
}

/* Infinities and NaN among them: exactly where numpy.convolve has them. */
ON_EVERY_BACKEND(convolve1d, golden_files)
{
    fl_device *device = open_device(on->resource);
    for_each_golden(device, "convolve1d", 60, check_golden);
    fl_device_close(device);
}

/* The lengths and totals that the course's exercise is known to have. An emulation takes less of the image's rows; the
 * total is always that of the signal times that of the kernel. */
static void check_exercise(fl_device *device, const char *variant, fl_dtype dtype, bool whole, int64_t length)
{
    int64_t rows = is_slow(device) ? 64 : 2048, taps = whole ? 225 : 15;
    struct matrix signal = matrix_impulses(dtype, 2048), square = matrix_gaussian(dtype, 0.5);
    struct matrix kernel = matrix_create(dtype, 1, taps);
    signal.shape[1] = rows * signal.shape[1];
    signal.shape[0] = 1;
    for (int64_t p = 0; p < taps; p++)
        matrix_set(&kernel, 0, p, matrix_get(&square, 0, whole ? p : p * 16));
    struct matrix got = convolved(device, &signal, &kernel, FL_FULL, &(fl_run){.variant = variant});
    cr_expect(rows != 2048 || got.shape[1] == length, "%lld elements", (long long)got.shape[1]);
    double sum = 0, wanted = (whole ? 1182763.8256 : 101407.853251) * (double)rows / 2048;
    for (int64_t i = 0; i < got.shape[1]; i++)
        sum += matrix_get(&got, 0, i);
    cr_expect(fabs(sum - wanted) <= (dtype == FL_F32 ? 1e-6 : 1e-10) * wanted, "%s %s %s: total %.9f, expected %.9f",
              fl_device_describe(device)->resource, variant, fl_dtype_name(dtype), sum, wanted);
    matrix_free(&signal);
    matrix_free(&square);
    matrix_free(&kernel);
    matrix_free(&got);
}

ON_EVERY_BACKEND(convolve1d, exercise_totals)
{
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(floats); i++) {
        check_exercise(device, "auto", floats[i], false, 4194318);
        check_exercise(device, "auto", floats[i], true, 4194528);
    }
    fl_device_close(device);
}

/* -------------------------------------------------------------------------------------------- random and edges ---- */

/* Either may be the longer one. */
ON_EVERY_BACKEND(convolve1d, random_shapes)
{
    fl_device *device = open_device(on->resource);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t state = seed;
        int64_t size = random_between(&state, 1, 700), taps = random_between(&state, 1, seed % 4 ? 60 : 900);
        check_random(device, floats[seed % 2], size, taps, (fl_mode)(seed / 2 % 3), seed);
    }
    fl_device_close(device);
}

/* One below, at and one above what tiles (7 x 128 outputs of a block, 8192 bytes of a cache), pieces of the kernel (256
 * taps, 4096 bytes) and packs of 16 bytes are made of. */
ON_EVERY_BACKEND(convolve1d, block_edges)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 895, 896, 897, 1023, 1024, 1025, 1793, 2047, 2049, 2689};
    static const int64_t taps[] = {1, 2, 7, 8, 9, 15, 16, 255, 256, 257, 511, 513, 1025};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = i % 3; k < COUNT(taps); k += 3)
            check_random(device, floats[(i + k) % 2], sizes[i], taps[k], (fl_mode)((i + k) / 2 % 3), i * 100 + k);
    fl_device_close(device);
}

/* Several pieces of the kernel, and several blocks of the FFT. */
ON_EVERY_BACKEND(convolve1d, long_ones)
{
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(floats); i++) {
        check_random(device, floats[i], 20000, 15, FL_FULL, 1);
        check_random(device, floats[i], 20001, 600, FL_SAME, 2);
        check_random(device, floats[i], 5000, 3001, FL_FULL, 3);
        check_random(device, floats[i], 3000, 3500, FL_SAME, 4);
    }
    fl_device_close(device);
}

/* More than the FFT's blocks that are transformed at once, against the naive variant. */
ON_EVERY_BACKEND(convolve1d, long_signal)
{
    const int64_t size = (5 << 19) + 77;
    fl_device *device = open_device(on->resource);
    const char *variant;
    struct matrix signal = matrix_random(FL_F32, 1, size, 1), kernel = matrix_random(FL_F32, 1, 9, 2);
    struct matrix plain = convolved(device, &signal, &kernel, FL_SAME, &(fl_run){.variant = "naive"});
    for (size_t v = 0; (variant = variant_of(device, "convolve1d", FL_F32, v)) != NULL; v++) {
        struct matrix got = convolved(device, &signal, &kernel, FL_SAME, &(fl_run){.variant = variant});
        /* Twice the bound of sums of nine products of numbers below 1; for fft, with the norm of 65536 of them. */
        double bound = strcmp(variant, "fft") == 0 ? fft_bound(FL_F32, 9, sqrt(65536), 3) : 2 * 25 * 9 * FLT_EPSILON;
        double worst = 0;
        for (int64_t i = 0; i < size; i++)
            worst = fmax(worst, fabs(matrix_get(&got, 0, i) - matrix_get(&plain, 0, i)));
        cr_expect(worst <= bound, "%s %s: off by %g, at most %g expected", on->resource, variant, worst, bound);
        matrix_free(&got);
    }
    matrix_free(&signal);
    matrix_free(&kernel);
    matrix_free(&plain);
    fl_device_close(device);
}

/* A large number among zeros, after several groups of blocks: sums of zeros alone stay 0 next to it. */
ON_EVERY_BACKEND(convolve1d, large_number_in_long_signal)
{
    const int64_t size = (5 << 19) + 77, large = size - 50000;
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t d = 0; d < COUNT(floats); d++) {
        struct matrix signal = matrix_random(floats[d], 1, size, 1), kernel = matrix_random(floats[d], 1, 9, 2);
        for (int64_t i = large - 5000; i < large + 5000; i++)
            matrix_set(&signal, 0, i, i == large ? 1e15 : 0);
        for (size_t v = 0; (variant = variant_of(device, "convolve1d", floats[d], v)) != NULL; v++) {
            if (strcmp(variant, "fft-wide") != 0 && strcmp(variant, "fft-checked") != 0)
                continue;
            struct matrix got = convolved(device, &signal, &kernel, FL_SAME, &(fl_run){.variant = variant});
            int64_t wrong = 0;
            for (int64_t i = large - 4990; i < large + 4990; i++)
                wrong += (i < large - 9 || i > large + 9) && matrix_get(&got, 0, i) != 0;
            cr_expect(wrong == 0, "%s %s: %lld sums of zeros are not 0", on->resource, variant, (long long)wrong);
            matrix_free(&got);
        }
        matrix_free(&signal);
        matrix_free(&kernel);
    }
    fl_device_close(device);
}

/* A window of a convolution with a kernel of a few numbers among zeros, by each variant that is an FFT, against the
 * sums of those few products. */
static void check_window(fl_device *device, fl_dtype dtype, int64_t size, int64_t taps, int64_t origin, int64_t outputs)
{
    enum { KEPT = 13 };
    struct matrix signal = matrix_random(dtype, 1, size, 3), kernel = matrix_create(dtype, 1, taps);
    struct matrix few = matrix_random(dtype, 1, KEPT, 4);
    struct sums sums = {.length = outputs, .terms = KEPT, .value = calloc(2 * (size_t)outputs, sizeof(double))};
    sums.magnitude = sums.value + outputs;
    for (int64_t t = 0; t < KEPT; t++) {
        const int64_t p = t * (taps - 1) / (KEPT - 1);
        matrix_set(&kernel, 0, p, matrix_get(&few, 0, t));
        sums.kernel_norm = hypot(sums.kernel_norm, matrix_get(&few, 0, t));
        for (int64_t i = 0; i < outputs; i++)
            if (i + origin - p >= 0 && i + origin - p < size) {
                const double term = matrix_get(&few, 0, t) * matrix_get(&signal, 0, i + origin - p);
                sums.value[i] += term;
                sums.magnitude[i] += fabs(term);
            }
    }
    for (int64_t i = 0; i < size; i++)
        sums.signal_norm = hypot(sums.signal_norm, matrix_get(&signal, 0, i));
    fl_array *a = vector_inside(device, &signal, 1), *b = vector_inside(device, &kernel, 2);
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "convolve1d", dtype, v)) != NULL; v++) {
        char what[160];
        if (strncmp(variant, "fft", 3) != 0)
            continue;
        /* The kernel has few numbers among zeros, so that a processor computes each sum again, directly. For the long
         * kernels, which are there for the blocks of GPUs, that would be up to 4 x 10^9 products. */
        if (strcmp(variant, "fft-checked") == 0 && !is_gpu(device) && taps * outputs > 100000000)
            continue;
        snprintf(what, sizeof what, "%s %s %s: %lld from %lld on, of %lld * %lld", fl_device_describe(device)->resource,
                 variant, fl_dtype_name(dtype), (long long)outputs, (long long)origin, (long long)size,
                 (long long)taps);
        struct guarded guarded = guarded_create(device, dtype, 1, &outputs, 3);
        struct matrix got = matrix_create(dtype, 1, outputs);
        must(fl_convolve1d_window(device, a, b, origin, guarded.out, &(fl_run){.variant = variant}));
        guarded_copy(&guarded, got.data, what);
        sums_expect(&sums, &got, strcmp(variant, "fft") == 0, "%s", what);
        guarded_free(&guarded);
        matrix_free(&got);
    }
    free_arrays(a, b);
    sums_free(&sums);
    matrix_free(&signal);
    matrix_free(&kernel);
    matrix_free(&few);
}

/* A GPU's transforms of signals are of pairs of segments (backends/hip/convolve1d_fft_own.hip.cpp). With 300 taps a
 * segment of the shortest block has 3792 outputs: one below, at and above one, two and three of them; then each larger
 * block, and kernels of as many taps as are dropped, one below and above. */
ON_EVERY_BACKEND(convolve1d, segments_of_fft)
{
    static const struct {
        int64_t size, taps, origin, outputs;
    } windows[] = {
        {4000, 300, 0, 3791},      {4000, 300, 0, 3792},      {4000, 300, 0, 3793},      {8000, 300, 150, 7583},
        {8000, 300, 299, 7584},    {8000, 300, 7, 7585},      {11000, 300, 0, 11299},    {11376, 300, 150, 11376},
        {11377, 300, 150, 11377},  {9000, 3000, 500, 10000},  {30000, 3000, 0, 24000},   {30000, 20000, 19999, 10001},
        {45000, 20000, 0, 60000},  {70000, 40000, 3, 100000}, {100000, 4096, 0, 104095}, {20000, 4097, 4096, 15904},
        {20000, 4098, 2000, 7000}, {9000, 8192, 0, 17191},    {9000, 8193, 0, 17192},
    };
    fl_device *device = open_device(on->resource);
    for (size_t w = 0; w < COUNT(windows); w++)
        for (size_t d = 0; d < COUNT(floats); d++)
            if (!is_left_out(4))
                check_window(device, floats[d], windows[w].size, windows[w].taps, windows[w].origin,
                             windows[w].outputs);
    fl_device_close(device);
}

/* Two segments that are transformed together, of different contents: 0 numbers of 10^6 in the first one, next to which
 * sums of the second lose digits; 1 the same the other way round, with zeros; 2 a single large number; 3 infinities and
 * NaN in one of them; 4 numbers whose squares overflow; 5 zeros in a part; 6 and 7 points among
 * zeros, and next to each a tiny one, which is alone in a sum. */
static struct matrix signal_of_segments(fl_dtype dtype, int content)
{
    const int64_t size = 7584;
    const double much = dtype == FL_F32 ? 1e30 : 1e200;
    struct matrix signal = matrix_random(dtype, 1, size, 9);
    for (int64_t i = 0; i < size; i++) {
        if (content == 0 && i < size / 2 - 300)
            matrix_set(&signal, 0, i, 1e6 * matrix_get(&signal, 0, i));
        if (content == 1)
            matrix_set(&signal, 0, i, i >= size / 2 ? 1e6 * matrix_get(&signal, 0, i) : i % 1000 < 600 ? 0 : 1e-3);
    }
    for (int64_t i = 2000; i < 4000 && content == 5; i++)
        matrix_set(&signal, 0, i, 0);
    for (int64_t i = 0; i < size && content >= 6; i++) {
        const int64_t apart = content == 6 ? 499 : 2497, at = i % (2 * apart);
        if (i % apart != 0)
            matrix_set(&signal, 0, i, at == 1 || at == apart - 1 ? 1e-12 : 0);
    }
    if (content == 7) /* the last element that all outputs of a tile of a GPU's have in common */
        matrix_set(&signal, 0, 3435, 1e-12);
    if (content == 2)
        matrix_set(&signal, 0, size - 700, 1e6);
    if (content == 3) {
        matrix_set(&signal, 0, 1000, (double)INFINITY);
        matrix_set(&signal, 0, 1200, -(double)INFINITY);
        matrix_set(&signal, 0, 3000, (double)NAN);
    }
    if (content == 4) {
        matrix_set(&signal, 0, size - 5, much);
        matrix_set(&signal, 0, size - 4, -much);
    }
    return signal;
}

ON_EVERY_BACKEND(convolve1d, unlike_segments)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int content = 0; content < 8; content++) {
            struct matrix signal = signal_of_segments(floats[d], content);
            struct matrix kernel = matrix_random(floats[d], 1, content == 7 ? 1500 : 300, 10);
            if (content == 5) /* a kernel that is not finite */
                matrix_set(&kernel, 0, 200, (double)INFINITY);
            struct sums sums = sums_create(&signal, &kernel, FL_SAME);
            if (!is_left_out(3))
                check_variants(device, &signal, &kernel, FL_SAME, &sums);
            sums_free(&sums);
            matrix_free(&signal);
            matrix_free(&kernel);
        }
    fl_device_close(device);
}

/* Loads and stores of several elements at once must bear any start. */
ON_EVERY_BACKEND(convolve1d, starts_anywhere)
{
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(floats); i++) {
        struct matrix signal = matrix_random(floats[i], 1, 4000, 5), kernel = matrix_random(floats[i], 1, 11, 6);
        struct sums sums = sums_create(&signal, &kernel, FL_SAME);
        const char *variant;
        for (size_t v = 0; (variant = variant_of(device, "convolve1d", floats[i], v)) != NULL; v++)
            for (int64_t start = 0; start < 16; start++)
                check_one(device, &signal, &kernel, FL_SAME, &(fl_run){.variant = variant}, &sums,
                          (struct starts){start % 4, start / 4, start % 3});
        sums_free(&sums);
        matrix_free(&signal);
        matrix_free(&kernel);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(convolve1d, mixed_dtypes)
{
    fl_device *device = open_device(on->resource);
    for (int a = 0; a < FL_DTYPE_COUNT; a++)
        for (int b = 0; b < FL_DTYPE_COUNT; b++) {
            struct matrix signal = matrix_random((fl_dtype)a, 1, 50, 1), kernel = matrix_random((fl_dtype)b, 1, 9, 2);
            struct sums sums = sums_create(&signal, &kernel, FL_FULL);
            check_variants(device, &signal, &kernel, FL_FULL, &sums);
            sums_free(&sums);
            matrix_free(&signal);
            matrix_free(&kernel);
        }
    fl_device_close(device);
}

/* Negative zeros are zeros; the smallest and the largest numbers come through. */
ON_EVERY_BACKEND(convolve1d, extremes)
{
    static const double values[] = {-0.0, 0x1p-149, -0x1p-126, 0x1p100, 0.0, 3, -0x1p100};
    fl_device *device = open_device(on->resource);
    struct matrix signal = matrix_create(FL_F32, 1, 35), kernel = matrix_create(FL_F32, 1, 3);
    for (int64_t i = 0; i < 35; i++)
        matrix_set(&signal, 0, i, values[i % COUNT(values)]);
    for (int64_t p = 0; p < 3; p++)
        matrix_set(&kernel, 0, p, p == 1 ? -0.0 : 1);
    struct sums sums = sums_create(&signal, &kernel, FL_FULL);
    for (int64_t i = 0; i < sums.length; i++)
        sums.magnitude[i] += 0x1p-126; /* no bound below the smallest normal number */
    check_variants(device, &signal, &kernel, FL_FULL, &sums);
    sums_free(&sums);
    matrix_free(&signal);
    matrix_free(&kernel);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------- oracle, identities ----
 */

/* The oracle is the sum in more digits, rounded once: half a unit, and what is left of the wider sum's own error; in
 * f64 what is expected is rounded, too. */
static size_t check_reference(const char *resource, fl_dtype dtype)
{
    const double unit = dtype == FL_F32 ? FLT_EPSILON / 2 : DBL_EPSILON, wider = dtype == FL_F32 ? 1e-12 : 1e-17;
    fl_device *device = open_device(resource);
    fl_variant_info info;
    size_t offered = 0;
    for (size_t row = 0; fl_variant_get(device, row, &info) == FL_OK; row++)
        offered += strcmp(info.operation, "convolve1d") == 0 && strcmp(info.variant, "reference") == 0;
    struct matrix signal = matrix_random(dtype, 1, 300, 1), kernel = matrix_random(dtype, 1, 70, 2);
    struct sums sums = sums_create(&signal, &kernel, FL_SAME);
    struct matrix got = {0};
    if (offered) {
        got = convolved(device, &signal, &kernel, FL_SAME, &(fl_run){.variant = "reference"});
        for (int64_t i = 0; i < sums.length; i++) {
            double bound = unit * fabs(sums.value[i]) + wider * sums.magnitude[i];
            cr_assert(fabs(matrix_get(&got, 0, i) - sums.value[i]) <= bound, "%s reference: element %lld", resource,
                      (long long)i);
        }
    }
    sums_free(&sums);
    matrix_free(&signal);
    matrix_free(&kernel);
    matrix_free(&got);
    fl_device_close(device);
    return offered;
}

Test(convolve1d, reference_is_rounded_once, .timeout = 240)
{
    const struct on *all;
    const size_t count = every_backend(&all);
    size_t offered = 0;
    for (size_t i = 0; i < count; i++)
        offered += check_reference(all[i].resource, FL_F32) + check_reference(all[i].resource, FL_F64);
    cr_expect(offered > 0 || getenv("FLYNN_TEST_RESOURCES"), "no backend offers the oracle");
}

/* On small integers, where every order of the sum is exact: a * b = b * a, and a kernel with a one at p moves the
 * signal by p. fft, which is not exact, is held to its bound elsewhere. */
ON_EVERY_BACKEND(convolve1d, identities)
{
    const int64_t p = 5;
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_random(FL_I32, 1, 2500, 1), b = matrix_random(FL_I32, 1, 300, 2);
    struct matrix one = matrix_create(FL_F64, 1, 20);
    const char *variant;
    matrix_set(&one, 0, p, 1);
    for (size_t v = 0; (variant = variant_of(device, "convolve1d", FL_F64, v)) != NULL; v++) {
        if (strcmp(variant, "fft") == 0)
            continue;
        fl_run run = {.variant = variant};
        struct matrix ab = convolved(device, &a, &b, FL_FULL, &run), ba = convolved(device, &b, &a, FL_FULL, &run);
        struct matrix moved = convolved(device, &a, &one, FL_FULL, &run);
        cr_expect(memcmp(ab.data, ba.data, (size_t)ab.shape[1] * sizeof(double)) == 0, "%s %s: not commutative",
                  on->resource, variant);
        for (int64_t i = 0; i < moved.shape[1]; i++)
            cr_assert(matrix_get(&moved, 0, i) == (i >= p && i < p + 2500 ? matrix_get(&a, 0, i - p) : 0),
                      "%s %s: element %lld was not moved", on->resource, variant, (long long)i);
        matrix_free(&ab);
        matrix_free(&ba);
        matrix_free(&moved);
    }
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&one);
    fl_device_close(device);
}
