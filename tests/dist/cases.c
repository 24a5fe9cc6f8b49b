/* SPDX-License-Identifier: MIT
 *
 * cases - the calls of dist.h on all ranks that a launcher began: tests/cli/ranks.sh runs it. Every rank makes the
 * whole of the input, sorts it by qsort and compares its share with what fl_group_sort gave it. Ends with a line of
 * totals on rank 0 and exit code 1 where a case of any rank failed.
 */
#include <flynn/dist.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static fl_group *group;
static int rank, size, cases, failed;

static void check(bool good, const char *what, const char *of, int64_t number)
{
    cases++;
    if (good)
        return;
    failed++;
    fprintf(stderr, "rank %d of %d: %s: %s %" PRId64 "; the last error is: %s\n", rank, size, what, of, number,
            fl_last_error());
}

/* ------------------------------------------------------------------------------------------------- sort ---- */

enum pattern { RANDOM, EQUAL, FALLING, SPECIAL, PATTERNS };
static const char *const patterns[] = {"random", "equal", "falling", "special"};

static uint64_t mix(uint64_t z)
{
    z = (z + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Element i of n. Special: few values, among them both zeros, infinities, NaN and the ends of the integers. */
static double value_of(enum pattern pattern, fl_dtype dtype, int64_t i, int64_t n)
{
    const double specials[] = {0., -0., INFINITY, -INFINITY, NAN, 1, -1, 1};
    const double ends[] = {0, -2147483648., 2147483647., 1, -1, 7, 7, 0};

    switch (pattern) {
    case RANDOM: return (double)(int64_t)(mix((uint64_t)i) >> 34) - 0x1p29;
    case EQUAL: return 3;
    case FALLING: return (double)(n - i);
    default: return (fl_dtype_is_float(dtype) ? specials : ends)[mix((uint64_t)i) % 8];
    }
}

static void put(void *data, fl_dtype dtype, int64_t i, double value)
{
    switch (dtype) {
    case FL_F32: ((float *)data)[i] = (float)value; break;
    case FL_F64: ((double *)data)[i] = value; break;
    case FL_I32: ((int32_t *)data)[i] = (int32_t)value; break;
    case FL_I64: ((int64_t *)data)[i] = (int64_t)value * (INT64_C(1) << 31); break;
    default: ((uint8_t *)data)[i] = (uint8_t)value; break;
    }
}

/* In the order of numpy.sort: NaN last, -0 equal to 0. */
#define COMPARE(type) \
    static int compare_##type(const void *a, const void *b) \
    { \
        const type x = *(const type *)a, y = *(const type *)b; \
        return x < y || (x == x && y != y) ? -1 : x > y || (x != x && y == y) ? 1 : 0; \
    }
COMPARE(float)
COMPARE(double)
COMPARE(int32_t)
COMPARE(int64_t)

static int (*comparison(fl_dtype dtype))(const void *, const void *)
{
    return dtype == FL_F32   ? compare_float
           : dtype == FL_F64 ? compare_double
           : dtype == FL_I32 ? compare_int32_t
                             : compare_int64_t;
}

/* Is this rank's share of the result what it is in the whole that one process sorts? */
static void try_sort(fl_device *device, fl_dtype dtype, enum pattern pattern, int64_t n, bool in_place)
{
    const size_t item = fl_dtype_size(dtype);
    char *whole = malloc((size_t)n * item + 1), *got;
    int64_t first, share;
    fl_array *in, *out;
    bool right = true;

    for (int64_t i = 0; i < n; i++)
        put(whole, dtype, i, value_of(pattern, dtype, i, n));
    fl_group_share(group, n, rank, &first, &share);
    got = malloc((size_t)share * item + 1);
    right = fl_array_from_host(device, dtype, 1, &share, whole + (size_t)first * item, &in) == FL_OK &&
            fl_array_create(device, dtype, 1, &share, &out) == FL_OK;
    right = right && fl_group_sort(group, device, in, in_place ? in : out, NULL, NULL) == FL_OK;
    right = right && fl_array_to_host(in_place ? in : out, got) == FL_OK;
    qsort(whole, (size_t)n, item, comparison(dtype));
    for (int64_t i = 0; i < share && right; i++)
        right = comparison(dtype)(whole + (size_t)(first + i) * item, got + (size_t)i * item) == 0;
    check(right, fl_dtype_name(dtype), patterns[pattern], n);
    fl_array_free(in);
    fl_array_free(out);
    free(whole);
    free(got);
}

static void try_sorts(const char *resource)
{
    static const fl_dtype dtypes[] = {FL_F32, FL_F64, FL_I32, FL_I64};
    static const int64_t lengths[] = {0, 1, 2, 3, 5, 64, 1001, 20000};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK) {
        check(false, "fl_group_device", resource, 0);
        return;
    }
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (enum pattern p = RANDOM; p < PATTERNS; p++)
                try_sort(device, dtypes[d], p, lengths[l], (l + p) % 3 == 0);
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------------- convolve ---- */

/* This rank's rows of a matrix, or elements of a vector, which has one column. */
static fl_array *rows_here(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, const void *whole)
{
    int64_t first, own[] = {0, shape[1]};
    fl_array *array = NULL;

    fl_group_share(group, shape[0], rank, &first, &own[0]);
    if (fl_array_from_host(device, dtype, ndim, own,
                           (const char *)whole + (size_t)(first * shape[1]) * fl_dtype_size(dtype), &array) != FL_OK)
        check(false, "an array", "of rows", own[0]);
    return array;
}

/* The result has the bits of one device that has the whole image, or signal. */
static void try_convolution(fl_device *device, fl_dtype dtype, int ndim, const int64_t *image, const int64_t *kernel,
                            fl_mode mode)
{
    const bool line = ndim == 1;
    const int64_t item = (int64_t)fl_dtype_size(dtype);
    const fl_run run = {.variant = "naive"};
    int64_t shape[2] = {0, 1}, first, own[2];
    char *pixels, *taps, *expected, *got;
    fl_array *whole, *weights, *all, *in, *out;
    bool right;

    if ((line ? fl_convolve1d_shape(image[0], kernel[0], mode, shape)
              : fl_convolve_shape(image, kernel, mode, shape)) != FL_OK)
        return;
    pixels = malloc((size_t)(image[0] * image[1] * item));
    taps = malloc((size_t)(kernel[0] * kernel[1] * item));
    expected = calloc((size_t)(shape[0] * shape[1] * item) + 1, 1);
    for (int64_t i = 0; i < image[0] * image[1]; i++)
        put(pixels, dtype, i, value_of(RANDOM, dtype, i, 0) * 0x1p-29);
    for (int64_t i = 0; i < kernel[0] * kernel[1]; i++)
        put(taps, dtype, i, value_of(RANDOM, dtype, 1000 + i, 0) * 0x1p-29);
    right = fl_array_from_host(device, dtype, ndim, image, pixels, &whole) == FL_OK &&
            fl_array_from_host(device, dtype, ndim, kernel, taps, &weights) == FL_OK &&
            fl_array_create(device, dtype, ndim, shape, &all) == FL_OK &&
            (line ? fl_convolve1d : fl_convolve)(device, whole, weights, mode, all, &run) == FL_OK &&
            fl_array_to_host(all, expected) == FL_OK;
    in = rows_here(device, dtype, ndim, image, pixels);
    fl_group_share(group, shape[0], rank, &first, &own[0]);
    own[1] = shape[1];
    got = calloc((size_t)(own[0] * own[1] * item) + 1, 1);
    right = fl_array_create(device, dtype, ndim, own, &out) == FL_OK && right;
    right =
        (line ? fl_group_convolve1d : fl_group_convolve)(group, device, in, weights, mode, out, &run, NULL) == FL_OK &&
        fl_array_to_host(out, got) == FL_OK && right;
    right = right && memcmp(got, expected + first * shape[1] * item, (size_t)(own[0] * own[1] * item)) == 0;
    check(right, line ? "fl_group_convolve1d" : "fl_group_convolve", fl_dtype_name(dtype),
          image[0] * 1000000 + kernel[0] * 1000 + (int64_t)mode);
    fl_array_free(whole);
    fl_array_free(weights);
    fl_array_free(all);
    fl_array_free(in);
    fl_array_free(out);
    free(pixels);
    free(taps);
    free(expected);
    free(got);
}

/* Images with fewer rows than ranks, kernels that reach over several ranks, and larger ones than the image. */
static void try_convolutions(const char *resource)
{
    static const int64_t images[][2] = {{1, 5}, {2, 3}, {3, 7}, {5, 4}, {8, 9}, {17, 6}, {64, 33}};
    static const int64_t kernels[][2] = {{1, 1}, {3, 3}, {2, 4}, {15, 5}, {40, 1}};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            for (fl_mode mode = FL_FULL; mode <= FL_VALID; mode++)
                if (mode != FL_VALID || (images[i][0] >= kernels[k][0] && images[i][1] >= kernels[k][1]))
                    try_convolution(device, (i + k) % 2 ? FL_F32 : FL_F64, 2, images[i], kernels[k], mode);
    fl_device_close(device);
}

/* Signals with fewer elements than ranks, and kernels that are longer than shares and than the signal. */
static void try_lines(const char *resource)
{
    static const int64_t signals[][2] = {{1, 1}, {2, 1}, {5, 1}, {17, 1}, {100, 1}, {5000, 1}};
    static const int64_t kernels[][2] = {{1, 1}, {2, 1}, {9, 1}, {40, 1}, {225, 1}};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            for (fl_mode mode = FL_FULL; mode <= FL_VALID; mode++)
                try_convolution(device, (i + k) % 2 ? FL_F32 : FL_F64, 1, signals[i], kernels[k], mode);
    fl_device_close(device);
}

/* ----------------------------------------------------------------------------------------------- select ---- */

enum choice { SOME, NONE, ALL, LAST, CHOICES };

/* Nothing; everything; what rank 0 has none of; or some, NaN and -0 among them. */
static double kept_value(enum choice choice, fl_dtype dtype, int64_t i, int64_t n)
{
    switch (choice) {
    case NONE: return 0;
    case ALL: return (double)(i % 100 + 1);
    case LAST: return i >= n - n / 3 ? (double)(i % 100 + 1) : 0;
    default: return dtype == FL_U8 ? (double)(mix((uint64_t)i) % 3) : value_of(SPECIAL, dtype, i, n);
    }
}

static bool is_kept(const char *data, fl_dtype dtype, int64_t i)
{
    switch (dtype) {
    case FL_F32: return ((const float *)(const void *)data)[i] != 0;
    case FL_F64: return ((const double *)(const void *)data)[i] != 0;
    case FL_I32: return ((const int32_t *)(const void *)data)[i] != 0;
    case FL_I64: return ((const int64_t *)(const void *)data)[i] != 0;
    default: return data[i] != 0;
    }
}

/* Each rank has its even share of what is kept of the whole, bit for bit. */
static void try_select(fl_device *device, fl_dtype dtype, enum choice choice, int64_t n)
{
    const size_t item = fl_dtype_size(dtype);
    const int64_t one = 1;
    char *whole = malloc((size_t)n * item + 1), *got;
    int64_t first, share, found = -1, kept = 0;
    fl_array *in = NULL, *out = NULL, *count = NULL;
    bool right;

    for (int64_t i = 0; i < n; i++)
        put(whole, dtype, i, kept_value(choice, dtype, i, n));
    fl_group_share(group, n, rank, &first, &share);
    got = calloc((size_t)share * item + 1, 1);
    right = fl_array_from_host(device, dtype, 1, &share, whole + (size_t)first * item, &in) == FL_OK &&
            fl_array_create(device, dtype, 1, &share, &out) == FL_OK &&
            fl_array_create(device, FL_I64, 1, &one, &count) == FL_OK &&
            fl_group_select(group, device, in, out, count, NULL, NULL) == FL_OK &&
            fl_array_to_host(out, got) == FL_OK && fl_array_to_host(count, &found) == FL_OK;
    for (int64_t i = 0; i < n; i++)
        if (is_kept(whole, dtype, i))
            memmove(whole + (size_t)kept++ * item, whole + (size_t)i * item, item);
    fl_group_share(group, kept, rank, &first, &share);
    right = right && found == share && memcmp(got, whole + (size_t)first * item, (size_t)share * item) == 0;
    check(right, "fl_group_select", fl_dtype_name(dtype), n * 10 + (int64_t)choice);
    fl_array_free(in);
    fl_array_free(out);
    fl_array_free(count);
    free(whole);
    free(got);
}

static void try_selects(const char *resource)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 7, 1001};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (int d = 0; d < FL_DTYPE_COUNT; d++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (enum choice c = SOME; c < CHOICES; c++)
                try_select(device, (fl_dtype)d, c, lengths[l]);
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------------- allclose ---- */

/* b = a, but for every `step`-th element from `from` on, which is off by its place: what differs most is the last one.
 */
static void try_allclose(fl_device *device, int64_t n, int64_t from, int64_t step)
{
    int64_t first, share, differing = 0, worst = -1;
    float *a, *b;
    fl_array *in[2] = {NULL};
    fl_closeness found = {.differing = -1};
    bool right;

    fl_group_share(group, n, rank, &first, &share);
    a = calloc((size_t)share + 1, sizeof *a);
    b = calloc((size_t)share + 1, sizeof *b);
    for (int64_t i = 0; i < n; i++) {
        const bool differs = i >= from && (i - from) % step == 0;
        differing += differs;
        worst = differs ? i : worst;
        if (i >= first && i < first + share) {
            a[i - first] = 1;
            b[i - first] = differs ? 2 + (float)i : 1;
        }
    }
    right = fl_array_from_host(device, FL_F32, 1, &share, a, &in[0]) == FL_OK &&
            fl_array_from_host(device, FL_F32, 1, &share, b, &in[1]) == FL_OK &&
            fl_group_allclose(group, device, in[0], in[1], 0, 0.5, false, &found, NULL, NULL) == FL_OK;
    right = right && found.close == (differing == 0) && found.differing == differing && found.worst_index == worst &&
            found.worst_excess == (worst < 0 ? 0 : 2 * (1 + (double)worst));
    check(right, "fl_group_allclose", "elements", n);
    fl_array_free(in[0]);
    fl_array_free(in[1]);
    free(a);
    free(b);
}

static void try_allcloses(const char *resource)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 1001};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int64_t from = 0; from < 5; from++)
            try_allclose(device, lengths[l], from == 4 ? 2000 : from, 250);
    fl_device_close(device);
}

/* ----------------------------------------------------------------------------------------------- primes ---- */

/* The primes of this rank's share of the numbers, in an array without room for more than the bound. */
static void try_primes(fl_device *device, int64_t upto, const char *variant)
{
    const fl_run run = {.variant = variant};
    const int64_t one = 1;
    int64_t first, share, room, found = -1, k = 0, *got;
    fl_array *out = NULL, *count = NULL;
    bool right;

    fl_group_share(group, upto > 0 ? upto : 0, rank, &first, &share);
    room = fl_primes_between_bound(first, first + share);
    got = calloc((size_t)room + 1, sizeof *got);
    right = fl_array_create(device, FL_I64, 1, &room, &out) == FL_OK &&
            fl_array_create(device, FL_I64, 1, &one, &count) == FL_OK &&
            fl_group_primes(group, device, upto, out, count, &run, NULL) == FL_OK &&
            fl_array_to_host(out, got) == FL_OK && fl_array_to_host(count, &found) == FL_OK;
    for (int64_t n = first > 2 ? first : 2; n < first + share && right; n++) {
        int64_t d = 2;
        while (d * d <= n && n % d != 0)
            d++;
        if (d * d > n)
            right = k < found && got[k++] == n;
    }
    check(right && k == found, "fl_group_primes", variant, upto);
    fl_array_free(out);
    fl_array_free(count);
    free(got);
}

static void try_all_primes(const char *resource)
{
    static const int64_t uptos[] = {-1, 0, 1, 2, 3, 4, 7, 30, 1000, 140001};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (size_t i = 0; i < sizeof uptos / sizeof *uptos; i++)
        try_primes(device, uptos[i], "sieve");
    try_primes(device, 1000, "trial-all");
    try_primes(device, 1000, "sqrt-each");
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------------------- svd ---- */

/* The i-th element of the j-th of n orthonormal vectors: those of the discrete cosine transform. */
static double cosine(int64_t n, int64_t j, int64_t i)
{
    return sqrt((j > 0 ? 2.0 : 1.0) / (double)n) * cos(acos(-1) * ((double)i + 0.5) * (double)j / (double)n);
}

/* A matrix of known singular values, times `scale`. */
struct spectrum {
    const char *name;
    int64_t m, n, k;
    int rank;      /* singular values that are not 0 */
    double factor; /* of each to the one before */
    double scale;
};

static double singular_value(const struct spectrum *a, int64_t j)
{
    return j < a->rank && j < a->m && j < a->n ? a->scale * pow(a->factor, (double)j) : 0;
}

static double number(fl_dtype dtype, const char *data, int64_t i)
{
    return dtype == FL_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Are the sums over all ranks' rows of x[i, c] y[i, d] as expected[c, d], within the bound? */
static bool are_products(fl_dtype dtype, int64_t rows, const char *x, int64_t width, const char *y, int64_t other,
                         const double *expected, double bound)
{
    double *sums = calloc((size_t)(width * other), sizeof *sums);
    bool right;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < width; c++)
            for (int64_t d = 0; d < other; d++)
                sums[c * other + d] += number(dtype, x, i * width + c) * number(dtype, y, i * other + d);
    right = fl_group_reduce(group, sums, (int32_t)(width * other), FL_F64, FL_SUM) == FL_OK;
    for (int64_t i = 0; i < width * other && right; i++)
        right = fabs(sums[i] - expected[i]) <= bound;
    free(sums);
    return right;
}

/* u'u = 1, a'u = (s vt)', vt vt' = 1, the values of s: the factors are those of the matrix, whose rows are all ranks'.
 */
static bool are_factors(const struct spectrum *a, fl_dtype dtype, int64_t rows, const char *const *data)
{
    const double unit = dtype == FL_F32 ? 0x1p-23 : 0x1p-52;
    const double e = (16 + 4 * sqrt((double)(a->m > a->n ? a->m : a->n))) * unit;
    double *one = calloc((size_t)(a->k * a->k), sizeof *one), *pairs = calloc((size_t)(a->n * a->k), sizeof *pairs);
    bool right = true, rest;

    for (int64_t j = 0; j < a->k; j++) {
        const double value = number(dtype, data[2], j);
        one[j * a->k + j] = 1;
        right = right && fabs(value - singular_value(a, j)) <= e * a->scale;
        for (int64_t i = 0; i < a->n; i++)
            pairs[i * a->k + j] = value * number(dtype, data[3], j * a->n + i);
        for (int64_t c = 0; c < a->k; c++) {
            double sum = 0;
            for (int64_t i = 0; i < a->n; i++)
                sum += number(dtype, data[3], j * a->n + i) * number(dtype, data[3], c * a->n + i);
            right = right && fabs(sum - (j == c)) <= e;
        }
    }
    rest = are_products(dtype, rows, data[1], a->k, data[1], a->k, one, e);
    rest = are_products(dtype, rows, data[0], a->n, data[1], a->k, pairs, e * a->scale) && rest;
    free(one);
    free(pairs);
    return right && rest;
}

static void try_svd(fl_device *device, fl_dtype dtype, const struct spectrum *a, bool twice)
{
    const int64_t item = (int64_t)fl_dtype_size(dtype);
    int64_t first, rows;
    fl_array *arrays[4] = {NULL};
    char *data[4];
    bool right = true;

    fl_group_share(group, a->m, rank, &first, &rows);
    const int64_t shapes[][2] = {{rows, a->n}, {rows, a->k}, {a->k, 1}, {a->k, a->n}};
    for (int i = 0; i < 4; i++)
        data[i] = calloc((size_t)(shapes[i][0] * shapes[i][1] * item) + 1, 1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < a->n; c++) {
            double sum = 0;
            for (int64_t j = 0; j < a->rank && j < a->m && j < a->n; j++)
                sum += singular_value(a, j) * cosine(a->m, j, first + i) * cosine(a->n, j, c);
            put(data[0], dtype, i * a->n + c, sum);
        }
    right = fl_array_from_host(device, dtype, 2, shapes[0], data[0], &arrays[0]) == FL_OK;
    for (int i = 1; i < 4; i++)
        right = fl_array_create(device, dtype, i == 2 ? 1 : 2, shapes[i], &arrays[i]) == FL_OK && right;
    right = fl_group_svd(group, device, arrays[0], 7, arrays[1], arrays[2], arrays[3], NULL, NULL) == FL_OK && right;
    for (int i = 1; i < 4; i++)
        right = fl_array_to_host(arrays[i], data[i]) == FL_OK && right;
    right = are_factors(a, dtype, rows, (const char *const *)data) && right;
    check(right, a->name, fl_dtype_name(dtype), a->m * 1000 + a->n);
    if (twice) {
        char *again = malloc((size_t)(rows * a->k * item) + 1);
        const bool same = fl_group_svd(group, device, arrays[0], 7, arrays[1], arrays[2], arrays[3],
                                       &(fl_run){.variant = "randomized"}, NULL) == FL_OK &&
                          fl_array_to_host(arrays[1], again) == FL_OK;
        check(same && memcmp(again, data[1], (size_t)(rows * a->k * item)) == 0, a->name,
              "is another one the second time", a->m * 1000 + a->n);
        free(again);
    }
    for (int i = 0; i < 4; i++) {
        fl_array_free(arrays[i]);
        free(data[i]);
    }
}

/* What is no share, no matrix of numbers or no variant here is refused on all ranks. */
static void refuse_svds(fl_device *device)
{
    int64_t first, rows;
    float *data;
    fl_array *a, *u, *s, *vt;
    bool there;

    fl_group_share(group, 20, rank, &first, &rows);
    data = calloc((size_t)rows * 6, sizeof *data);
    if (rank == size - 1)
        data[3] = NAN;
    there = fl_array_from_host(device, FL_F32, 2, (int64_t[]){rows, 6}, data, &a) == FL_OK;
    there = fl_array_create(device, FL_F32, 2, (int64_t[]){rows, 2}, &u) == FL_OK && there;
    there = fl_array_create(device, FL_F32, 1, (int64_t[]){2}, &s) == FL_OK && there;
    there = fl_array_create(device, FL_F32, 2, (int64_t[]){2, 6}, &vt) == FL_OK && there;
    check(there && fl_group_svd(group, device, a, 1, u, s, vt, NULL, NULL) == FL_E_ARGUMENT &&
              strstr(fl_last_error(), "not finite"),
          "fl_group_svd", "NaN on rank", size - 1);
    check(size == 1 ||
              fl_group_svd(group, device, a, 1, u, s, vt, &(fl_run){.variant = "jacobi"}, NULL) == FL_E_UNSUPPORTED,
          "fl_group_svd", "another variant", 0);
    check(size == 1 || fl_group_svd(group, device, rank == 0 ? u : a, 1, u, s, vt, NULL, NULL) == FL_E_ARGUMENT,
          "fl_group_svd", "another width on rank", 0);
    fl_array_free(a);
    fl_array_free(u);
    fl_array_free(s);
    fl_array_free(vt);
    free(data);
}

/* Tall, wide, fewer rows than ranks or than vectors, values that are equal, 0 or many orders apart. */
static void try_svds(const char *resource)
{
    static const struct spectrum all[] = {
        {"one element", 1, 1, 1, 1, 1, 3},
        {"two rows", 2, 3, 2, 2, 0.5, 1},
        {"three rows", 3, 40, 1, 3, 0.01, 1},
        {"square", 64, 48, 6, 48, 0.3, 10},
        {"all values", 90, 12, 12, 12, 0.5, 1},
        {"wide", 12, 90, 4, 12, 0.5, 1},
        {"tall", 301, 40, 7, 40, 0.2, 1e-3},
        {"equal values", 50, 30, 5, 30, 1, 1},
        {"rank three", 70, 60, 9, 3, 0.9, 1},
        {"zeros", 33, 31, 4, 0, 1, 1},
        {"large numbers", 80, 44, 5, 44, 0.1, 1e180},
        {"small numbers", 80, 44, 5, 44, 0.1, 1e-18},
    };
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        try_svd(device, i % 2 ? FL_F32 : FL_F64, &all[i], i == 3);
    refuse_svds(device);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------ calls ---- */

static void try_share(void)
{
    for (int64_t n = 0; n < 20; n++) {
        int64_t first, share, next = 0, most = 0, least = n;
        for (int r = 0; r < size; r++) {
            fl_group_share(group, n, r, &first, &share);
            check(first == next, "fl_group_share", "begins elsewhere for", n);
            next += share;
            most = share > most ? share : most;
            least = share < least ? share : least;
        }
        check(next == n && most - least <= 1, "fl_group_share", "of", n);
    }
}

static void try_numbers(void)
{
    int64_t all[64] = {0}, own = 10 * rank + 1, x[] = {rank, -rank, 1};
    double most[] = {rank, -rank};

    check(fl_group_reduce(group, x, 3, FL_I64, FL_SUM) == FL_OK && x[0] == size * (size - 1) / 2 && x[1] == -x[0] &&
              x[2] == size,
          "fl_group_reduce", "sum", x[0]);
    check(fl_group_reduce(group, most, 2, FL_F64, FL_MOST) == FL_OK && most[0] == size - 1 && most[1] == 0,
          "fl_group_reduce", "most", (int64_t)most[0]);
    most[0] = rank;
    check(fl_group_reduce(group, most, 1, FL_F64, FL_LEAST) == FL_OK && most[0] == 0, "fl_group_reduce", "least", 0);
    check(fl_group_gather(group, &own, all, sizeof own) == FL_OK, "fl_group_gather", "", 0);
    for (int r = 0; r < size; r++)
        check(all[r] == 10 * r + 1, "fl_group_gather", "rank", r);
}

/* Rank a sends b * 1000 + a bytes of value 16 a + b to rank b; none to rank 0. */
static void try_exchange(void)
{
    fl_piece to[64] = {{0}}, from[64] = {{0}};

    for (int r = 0; r < size; r++) {
        to[r].bytes = r ? r * 1000 + rank : 0;
        to[r].data = malloc((size_t)to[r].bytes + 1);
        memset(to[r].data, 16 * rank + r, (size_t)to[r].bytes);
        from[r].bytes = rank ? rank * 1000 + r : 0;
        from[r].data = calloc((size_t)from[r].bytes + 1, 1);
    }
    check(fl_group_exchange(group, to, from) == FL_OK, "fl_group_exchange", "", 0);
    for (int r = 0; r < size; r++) {
        bool right = true;
        for (int64_t i = 0; i < from[r].bytes; i++)
            right = right && ((unsigned char *)from[r].data)[i] == 16 * r + rank;
        check(right && ((unsigned char *)from[r].data)[from[r].bytes] == 0, "fl_group_exchange", "from rank", r);
        free(to[r].data);
        free(from[r].data);
    }
}

/* Each number goes to one rank, in chunks that do not grow, or a rank ends it. `late`: rank 0 makes no call for half a
 * second, and the others have taken numbers meanwhile. */
static void try_dealing(int64_t count, bool ended, bool late)
{
    int64_t first, share, last = count, sums[] = {0, 0};
    bool shrinks = true, over = false;
    int calls = 0;

    check(fl_group_deal(group, count) == FL_OK, "fl_group_deal", "of", count);
    if (rank == 0 && late)
        thrd_sleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    if (rank == size - 1 && ended)
        check(fl_group_deal_end(group) == FL_OK && fl_group_deal_ended(group, &over) == FL_OK && over,
              "fl_group_deal_end", "of", count);
    while (fl_group_take(group, &first, &share) == FL_OK && share > 0) {
        shrinks = shrinks && share <= last && first >= 0 && first + share <= count;
        check(!late || rank > 0 || size == 1 || calls++ > 0 || first > 0, "fl_group_take", "before rank 0, of", count);
        last = share;
        sums[0] += share;
        sums[1] += share * (2 * first + share - 1) / 2;
    }
    check(shrinks && (!ended || rank < size - 1 || sums[0] == 0), "fl_group_take", "chunks of", count);
    check(fl_group_reduce(group, sums, 2, FL_I64, FL_SUM) == FL_OK &&
              (ended ? sums[0] <= count : sums[0] == count && sums[1] == count * (count - 1) / 2),
          "fl_group_take", "all of", count);
    check(fl_group_deal_ended(group, &over) == FL_OK && over == ended, "fl_group_deal_ended", "of", count);
}

/* A rank that fails makes all others' next call fail, whichever it is; the group goes on after that. */
static void try_failure(void)
{
    int64_t one = 1;
    const int bad = size - 1;
    char expected[32];
    const fl_status status = rank == bad ? fl_group_agree(group, FL_E_MEMORY, "all is full")
                                         : fl_group_reduce(group, &one, 1, FL_I64, FL_SUM);

    snprintf(expected, sizeof expected, "rank %d (", bad);
    check(status == FL_E_MEMORY && fl_group_failed(group) == FL_E_MEMORY, "a failure", "of rank", bad);
    check(strstr(fl_last_error(), "all is full") &&
              (size == 1 || strncmp(fl_last_error(), expected, strlen(expected)) == 0),
          "its message", "of rank", bad);
    check(fl_group_agree(group, FL_E_ARGUMENT, "no such thing") == FL_E_ARGUMENT &&
              strcmp(fl_last_error(), "no such thing") == 0,
          "a failure", "of all", 0);
    check(fl_group_reduce(group, &one, 1, FL_I64, FL_SUM) == FL_OK && fl_group_failed(group) == FL_OK, "the next call",
          "", 0);
}

static void try_wrong_arguments(void)
{
    fl_device *device;
    fl_array *a, *b;
    int64_t lengths[] = {4, 4};

    if (fl_group_device(group, "serial", &device) != FL_OK)
        return;
    if (rank == size - 1)
        lengths[0] = 9;
    check(fl_array_create(device, FL_F32, 1, &lengths[0], &a) == FL_OK &&
              fl_array_create(device, FL_F32, 1, &lengths[1], &b) == FL_OK,
          "arrays", "", 0);
    check(fl_group_sort(group, device, a, b, NULL, NULL) == FL_E_ARGUMENT, "two lengths", "on rank", size - 1);
    check(size == 1 || fl_group_sort(group, device, a, a, NULL, NULL) == FL_E_ARGUMENT, "no share", "on rank",
          size - 1);
    fl_array_free(a);
    fl_array_free(b);
    fl_device_close(device);
}

int main(int argc, char **argv)
{
    int64_t sums[2];

    if (fl_group_open(&group) != FL_OK) {
        fprintf(stderr, "%s\n", fl_last_error());
        return 3;
    }
    rank = fl_group_describe(group)->rank;
    size = fl_group_describe(group)->size;
    try_share();
    try_numbers();
    try_exchange();
    try_wrong_arguments();
    try_dealing(1000, false, true);
    try_dealing(1000, true, false);
    try_dealing(0, false, false);
    try_dealing(3, false, false);
    try_failure();
    for (int i = 1; i < argc; i++) {
        try_sorts(argv[i]);
        try_convolutions(argv[i]);
        try_lines(argv[i]);
        try_selects(argv[i]);
        try_allcloses(argv[i]);
        try_all_primes(argv[i]);
        try_svds(argv[i]);
    }
    sums[0] = cases;
    sums[1] = failed;
    if (fl_group_reduce(group, sums, 2, FL_I64, FL_SUM) != FL_OK)
        return 1;
    if (rank == 0)
        printf("%" PRId64 " cases of %d ranks, %" PRId64 " failed\n", sums[0], size, sums[1]);
    return fl_group_close(group) == FL_OK && sums[1] == 0 ? 0 : 1;
}
