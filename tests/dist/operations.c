/* SPDX-License-Identifier: MIT
 *
 * operations.c - dist_cases: sort, convolve, convolve1d, select, allclose and primes. Every rank makes the whole of the
 * input, computes the result by itself and compares its share with what the group's function gave it.
 */
#include "cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Each rank sends its numbers to the next; the second time nothing is allocated any more. */
void try_move(const char *resource)
{
    enum { COUNT = 1 << 19 };
    const int64_t count = COUNT;
    double *numbers = calloc(COUNT, sizeof *numbers);
    fl_rows *to = calloc((size_t)size, sizeof *to), *from = calloc((size_t)size, sizeof *from);
    fl_array *sent = NULL, *got = NULL;
    fl_device *device;
    bool right;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = COUNT * (double)rank + i;
    right = fl_array_from_host(device, FL_F64, 1, &count, numbers, &sent) == FL_OK &&
            fl_array_create(device, FL_F64, 1, &count, &got) == FL_OK;
    if (size > 1) {
        to[(rank + 1) % size] = (fl_rows){sent, 0, count};
        from[(rank + size - 1) % size] = (fl_rows){got, 0, count};
    }
    for (int time = 0; time < 2 && size > 1; time++) {
        fl_group_timing timing = {0};
        const double start = seconds();
        right = fl_group_move(group, device, to, from, NULL, &timing) == FL_OK && right;
        check(are_parts_of(&timing, seconds() - start), "the parts of a move's time", resource, time);
        check(timing.bytes == sizeof(double) * COUNT && timing.link_s > 0, "the bytes of a move", resource, time);
    }
    right = right && (size == 1 || fl_array_to_host(got, numbers) == FL_OK);
    for (int i = 0; i < COUNT && right; i++)
        right = numbers[i] == COUNT * (double)((rank + size - 1) % size) + i;
    check(right, "fl_group_move", resource, count);
    fl_array_free(sent);
    fl_array_free(got);
    fl_device_close(device);
    free(numbers);
    free(to);
    free(from);
}

/* Is this rank's share of the result what it is in the whole that one process sorts? */
static void try_sort(fl_device *device, fl_dtype dtype, enum pattern pattern, int64_t n, bool in_place)
{
    const size_t item = fl_dtype_size(dtype);
    char *whole = malloc((size_t)n * item + 1), *got;
    int64_t first, share;
    fl_array *in, *out;
    fl_group_timing timing;
    bool right = true;
    double start;

    for (int64_t i = 0; i < n; i++)
        put(whole, dtype, i, value_of(pattern, dtype, i, n));
    fl_group_share(group, n, rank, &first, &share);
    got = malloc((size_t)share * item + 1);
    right = fl_array_from_host(device, dtype, 1, &share, whole + (size_t)first * item, &in) == FL_OK &&
            fl_array_create(device, dtype, 1, &share, &out) == FL_OK;
    start = seconds();
    right = right && fl_group_sort(group, device, in, in_place ? in : out, NULL, &timing) == FL_OK;
    check(!right || are_parts_of(&timing, seconds() - start), "the parts of a sort's time", fl_dtype_name(dtype), n);
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

void try_sorts(const char *resource)
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
    if (strcmp(resource, "hip-cpu") == 0 && size > 1) /* whose memory no link is made for */
        check(strcmp(fl_group_describe(group)->path, "staged") == 0, "the path of", resource, size);
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
    fl_timing timing = {.variant = NULL}; /* named on every rank, also on one whose share is empty */
    const fl_run run = {.variant = "naive", .timing = &timing};
    int64_t shape[2] = {0, 1}, first, own[2];
    char *pixels, *taps, *expected, *got;
    fl_array *whole = NULL, *weights = NULL, *all = NULL, *in, *out = NULL;
    bool right;

    if ((line ? fl_convolve1d_shape(image[0], kernel[0], mode, shape)
              : fl_convolve_shape(image, kernel, mode, shape)) != FL_OK)
        return;
    pixels = malloc((size_t)(image[0] * image[1] * item) + 1);
    taps = malloc((size_t)(kernel[0] * kernel[1] * item) + 1);
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
    timing.variant = "";
    in = rows_here(device, dtype, ndim, image, pixels);
    fl_group_share(group, shape[0], rank, &first, &own[0]);
    own[1] = shape[1];
    got = calloc((size_t)(own[0] * own[1] * item) + 1, 1);
    right = fl_array_create(device, dtype, ndim, own, &out) == FL_OK && right;
    right =
        (line ? fl_group_convolve1d : fl_group_convolve)(group, device, in, weights, mode, out, &run, NULL) == FL_OK &&
        fl_array_to_host(out, got) == FL_OK && right;
    right = right && strcmp(timing.variant, "naive") == 0;
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

/* Images with fewer rows than ranks, kernels that reach over several ranks, and larger ones than the image; both may be
 * empty. */
void try_convolutions(const char *resource)
{
    static const int64_t images[][2] = {{1, 5}, {2, 3}, {3, 7}, {5, 4}, {8, 9}, {17, 6}, {64, 33}, {0, 5}, {4, 0}};
    static const int64_t kernels[][2] = {{1, 1}, {3, 3}, {2, 4}, {15, 5}, {40, 1}, {70, 40}, {0, 3}};
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            for (fl_mode mode = FL_FULL; mode <= FL_VALID; mode++)
                try_convolution(device, (i + k) % 2 ? FL_F32 : FL_F64, 2, images[i], kernels[k], mode);
    fl_device_close(device);
}

/* Signals with fewer elements than ranks, and kernels that are longer than shares and than the signal. */
void try_lines(const char *resource)
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

void try_selects(const char *resource)
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

void try_allcloses(const char *resource)
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

void try_all_primes(const char *resource)
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

/* ----------------------------------------------------------------------------------------------- random ---- */

static uint64_t drawn;

/* From 0 up to, not including, `end`. */
static int64_t draw(int64_t end)
{
    return (int64_t)(mix(drawn++) >> 11) % end;
}

/* 0 to 4099: mostly about as many as there are ranks, or few more. */
static int64_t draw_size(void)
{
    return draw(2) ? draw(12) : draw(4) ? draw(300) : draw(4100);
}

static void try_one(fl_device *device)
{
    static const fl_dtype sorted[] = {FL_F32, FL_F64, FL_I32, FL_I64};
    static const char *const methods[] = {"sieve", "trial-all", "sqrt-each"};
    const fl_mode mode = (fl_mode)draw(3);
    const fl_dtype real = draw(2) ? FL_F32 : FL_F64;
    const int64_t n = draw_size();

    switch (draw(9)) {
    case 0: try_sort(device, sorted[draw(4)], (enum pattern)draw(PATTERNS), n, draw(2) == 0); break;
    case 1: try_select(device, (fl_dtype)draw(FL_DTYPE_COUNT), (enum choice)draw(CHOICES), n); break;
    case 2: try_convolution(device, real, 1, (int64_t[]){n + 1, 1}, (int64_t[]){draw_size() % 400 + 1, 1}, mode); break;
    case 3:
        try_convolution(device, real, 2, (int64_t[]){n, draw(8)}, (int64_t[]){draw_size() % 40, draw(8)}, mode);
        break;
    case 4: try_allclose(device, n, draw(n + 5), draw(400) + 1); break;
    case 5: try_histogram(device, n, draw(300) + 1); break;
    case 6: try_reduce(device, (fl_dtype)draw(FL_DTYPE_COUNT), n); break;
    case 7: try_scan(device, (fl_dtype)draw(FL_DTYPE_COUNT), n); break;
    default: try_primes(device, n, methods[draw(3)]); break;
    }
}

void try_random(const char *resource, uint64_t seed, int count)
{
    fl_device *device;

    if (fl_group_device(group, resource, &device) != FL_OK)
        return;
    for (int i = 0; i < count; i++) {
        const int before = failures();
        drawn = mix(seed) + ((uint64_t)i << 32);
        try_one(device);
        if (failures() > before)
            fprintf(stderr, "that was case %d on %s with DIST_SEED=%" PRIu64 "\n", i, resource, seed);
    }
    fl_device_close(device);
}
