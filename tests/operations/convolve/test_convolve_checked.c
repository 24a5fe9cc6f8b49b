/* SPDX-License-Identifier: MIT
 *
 * test_convolve_checked.c - fft-checked of convolve and convolve1d: every sum is within the bound of direct sums, and
 * a sum that the transform computes accurately is kept.
 */
#include "harness.h"

#include <float.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The numbers in the image, or signal, and in the kernel. */
enum content {
    SIGNED,
    POSITIVE,
    CANCELLING, /* sums are 10^-9 of their terms */
    FALLING,    /* from 1 in the middle to 10^-24 at the corners */
    FAINT_EDGE, /* 10^-9 along the edges, where few terms are added */
    FAINT_HALF, /* 10^-11 in one half */
    DISC,       /* and zeros around it */
    LARGE,      /* products of 10^300 */
    SMALL,      /* products of 10^-280 */
    TOO_LARGE,  /* squares overflow */
    TOO_SMALL,  /* squares underflow */
    ZEROS,
    NOT_FINITE, /* one infinity and one NaN */
    CONTENTS
};
static const char *const content_names[] = {"signed",     "positive", "cancelling", "falling", "faint edge",
                                            "faint half", "disc",     "large",      "small",   "too large",
                                            "too small",  "zeros",    "not finite"};

/* A factor for an element of the image, by its place. */
static double factor_of(enum content content, double y, double x)
{
    switch (content) {
    case FALLING: return pow(10, -12 * (x * x + y * y));
    case FAINT_EDGE: return fmax(fabs(x), fabs(y)) > 0.95 ? 1e-9 : 1;
    case FAINT_HALF: return x < 0 ? 1e-11 : 1;
    case DISC: return hypot(y, x) > 0.3 ? 0 : 1;
    case LARGE: return 1e150;
    case SMALL: return 1e-140;
    case TOO_LARGE: return 1e300;
    case TOO_SMALL: return 1e-300;
    case ZEROS: return 0;
    default: return 1;
    }
}

static void fill(struct matrix *image, struct matrix *kernel, enum content content)
{
    const int64_t rows = image->shape[0], columns = image->shape[1], taps = kernel->shape[1];
    const bool positive = content == POSITIVE || content == FAINT_EDGE;
    const double of_kernel = content == LARGE ? 1e150 : content == SMALL ? 1e-140 : content == TOO_LARGE ? 1e-6 : 1;
    for (int64_t i = 0; i < rows * columns; i++) {
        const double y = rows > 1 ? 2 * (double)(i / columns) / (double)(rows - 1) - 1 : 0,
                     x = 2 * (double)(i % columns) / (double)(columns - 1) - 1, value = matrix_get(image, 0, i);
        const double number = content == CANCELLING ? 1 + 1e-9 * value : positive ? fabs(value) : value;
        matrix_set(image, 0, i, number * factor_of(content, y, x));
    }
    for (int64_t i = 0; i < kernel->shape[0] * taps; i++) {
        const double value = matrix_get(kernel, 0, i);
        matrix_set(kernel, 0, i,
                   content == CANCELLING ? ((i / taps + i % taps) % 2 ? 1 : -1)
                                         : of_kernel * (positive ? fabs(value) : value));
    }
    if (content == NOT_FINITE) {
        matrix_set(image, 0, rows * columns / 3, (double)INFINITY);
        matrix_set(image, 0, rows * columns - 2, (double)NAN);
    }
}

/* The result of mode full, in `got`. Returns the operations that the variant counts; 0: its library is missing. */
static double convolved(fl_device *device, const struct matrix *image, const struct matrix *kernel, const char *variant,
                        struct matrix *got)
{
    const bool line = image->shape[0] == 1 && kernel->shape[0] == 1;
    const int dimensions = line ? 1 : 2, first = line ? 1 : 0;
    fl_array *a, *b, *out;
    must(fl_array_from_host(device, FL_F64, dimensions, image->shape + first, image->data, &a));
    must(fl_array_from_host(device, FL_F64, dimensions, kernel->shape + first, kernel->data, &b));
    must(fl_array_create(device, FL_F64, dimensions, got->shape + first, &out));
    fl_timing timing = {0};
    const fl_run run = {.variant = variant, .timing = &timing};
    const fl_status status = (line ? fl_convolve1d : fl_convolve)(device, a, b, FL_FULL, out, &run);
    if (status != FL_E_UNAVAILABLE) {
        must(status);
        must(fl_array_to_host(out, got->data));
    }
    free_arrays(a, b, out);
    return status != FL_E_UNAVAILABLE ? timing.flops : 0;
}

/* A sum and that of its terms' magnitudes. */
struct exact {
    long double value, magnitude;
};

/* The sum of an output. */
struct place {
    int64_t at;
    struct exact sum;
};

static struct exact sum_of(const struct matrix *image, const struct matrix *kernel, int64_t i, int64_t j)
{
    struct exact e;
    memset(&e, 0, sizeof e); /* with what long double leaves between its ends, which is kept, too */
    for (int64_t p = 0; p < kernel->shape[0]; p++) {
        if (i - p < 0 || i - p >= image->shape[0])
            continue;
        const double *const row = (const double *)image->data + (i - p) * image->shape[1];
        const double *const tap = (const double *)kernel->data + p * kernel->shape[1];
        for (int64_t q = 0; q < kernel->shape[1]; q++)
            if (j - q >= 0 && j - q < image->shape[1]) {
                const long double term = (long double)row[j - q] * tap[q];
                e.value += term;
                e.magnitude += fabsl(term);
            }
    }
    return e;
}

/* The exact sums that check_bound looks at, which all backends share: each `step`-th one, and all near a corner.
 * Returns how many; the caller frees them. */
static int64_t sums_of(const struct matrix *image, const struct matrix *kernel, const struct matrix *got, int64_t step,
                       struct place **places)
{
    const int64_t columns = got->shape[1], outputs = got->shape[0] * columns;
    const bool line = image->shape[0] == 1 && kernel->shape[0] == 1;
    struct place *const all = malloc((size_t)(outputs / step + 100) * sizeof *all);
    int64_t count = 0;
    for (int64_t i = 0; i < outputs; i++)
        if (i % step == 0 || ((line || i / columns < 6) && i % columns < 6))
            all[count++].at = i;
    const size_t bytes = (size_t)count * sizeof(struct exact);
    struct exact *const sums = malloc(bytes);
    const uint64_t key = hash_matrix(hash_matrix(hash_bytes(0, &step, sizeof step), image), kernel);
    const bool kept = recall(key, sums, bytes);
    for (int64_t n = 0; n < count; n++) {
        if (!kept)
            sums[n] = sum_of(image, kernel, all[n].at / columns, all[n].at % columns);
        all[n].sum = sums[n];
    }
    if (!kept)
        remember(key, sums, bytes);
    free(sums);
    *places = all;
    return count;
}

/* Compares sums with the bound of direct ones: docs/accuracy.md. */
static void check_bound(const char *what, const char *name, const struct matrix *image, const struct matrix *kernel,
                        const struct matrix *got, int64_t step)
{
    const int64_t n = kernel->shape[0] * kernel->shape[1];
    const bool line = image->shape[0] == 1 && kernel->shape[0] == 1;
    struct place *places;
    const int64_t looked = sums_of(image, kernel, got, step, &places);
    int64_t wrong = 0;
    double worst = 0;
    for (int64_t p = 0; p < looked; p++) {
        const struct exact e = places[p].sum;
        const double value = matrix_get(got, 0, places[p].at);
        const long double bound =
            (long double)(n + (line ? 16 : 32)) * (DBL_EPSILON / 2) * e.magnitude + 2 * (long double)n * 0x1p-1074L;
        const long double error = fabsl((long double)value - e.value);
        if (!isfinite((double)e.value) ? isfinite(value) : !(error <= bound)) {
            wrong++;
            worst = fmax(worst, (double)(error / bound));
        }
    }
    cr_expect(wrong == 0, "%s, %s: %lld of %lld sums exceed the bound, by a factor of up to %g", what, name,
              (long long)wrong, (long long)looked, worst);
    free(places);
}

/* The part of all results that has the bits of the other. */
static double alike(const struct matrix *a, const struct matrix *b)
{
    const int64_t n = a->shape[0] * a->shape[1];
    int64_t same = 0;
    for (int64_t i = 0; i < n; i++)
        same += memcmp((const double *)a->data + i, (const double *)b->data + i, sizeof(double)) == 0;
    return (double)same / (double)n;
}

static bool has_checked(const fl_device *device, const char *operation)
{
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, operation, FL_F64, v)) != NULL; v++)
        if (strcmp(variant, "fft-checked") == 0)
            return true;
    return false;
}

/* The shapes of an image and a kernel, and of which sums the exact ones are computed. */
struct shapes {
    int64_t image[2], kernel[2], step;
};

static void check(fl_device *device, const struct shapes *s, enum content content)
{
    const char *const what = content_names[content];
    char name[128];
    struct matrix image = matrix_random(FL_F64, s->image[0], s->image[1], 1),
                  kernel = matrix_random(FL_F64, s->kernel[0], s->kernel[1], 2);
    const int64_t rows = s->image[0] + s->kernel[0] - 1, columns = s->image[1] + s->kernel[1] - 1;
    struct matrix got = matrix_create(FL_F64, rows, columns), plain = matrix_create(FL_F64, rows, columns);
    snprintf(name, sizeof name, "%s: %lldx%lld with %lldx%lld", fl_device_describe(device)->resource,
             (long long)s->image[0], (long long)s->image[1], (long long)s->kernel[0], (long long)s->kernel[1]);
    fill(&image, &kernel, content);
    if (convolved(device, &image, &kernel, "fft-checked", &got)) {
        check_bound(what, name, &image, &kernel, &got, s->step);
        /* On a processor the tiles of fft may be others. */
        cr_assert(convolved(device, &image, &kernel, is_gpu(device) ? "fft" : "tiled", &plain));
        const double kept = is_gpu(device) ? alike(&got, &plain) : 1 - alike(&got, &plain);
        const bool large = !is_small_test(); /* a small image has as many sums as a few tiles of direct ones */
        if (large && (content <= CANCELLING || content == LARGE || content == SMALL))
            cr_expect(kept > 0.3, "%s, %s: %.3f of the sums are the transform's", what, name, kept);
        if (large && content >= FALLING && content <= DISC)
            cr_expect(kept > 0.001 && kept < 0.99, "%s, %s: %.3f of the sums are the transform's", what, name, kept);
    }
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&got);
    matrix_free(&plain);
}

ON_EVERY_BACKEND(convolve_checked, images)
{
    static const struct shapes shapes = {{230, 201}, {64, 63}, 11}, small = {{70, 50}, {40, 39}, 1};
    fl_device *device = open_device(on->resource);
    for (int content = 0; content < CONTENTS && has_checked(device, "convolve"); content += is_small_test() ? 3 : 1)
        if (!is_left_out(4))
            check(device, is_small_test() ? &small : &shapes, (enum content)content);
    fl_device_close(device);
}

ON_EVERY_BACKEND(convolve_checked, signals)
{
    static const struct shapes shapes = {{1, 14000}, {1, 2500}, 3}, small = {{1, 3000}, {1, 700}, 1};
    fl_device *device = open_device(on->resource);
    for (int content = 0; content < CONTENTS && has_checked(device, "convolve1d"); content += is_small_test() ? 3 : 1)
        if (!is_left_out(4))
            check(device, is_small_test() ? &small : &shapes, (enum content)content);
    fl_device_close(device);
}

/* A single tile of 256x256, whose sums stay the transform's if the magnitudes of their terms add up to enough for the
 * transform's error, 138 u |s| |k| on a GPU, 236 u |s| |k| on a processor (docs/accuracy.md). A large number in a
 * corner of the image makes this so much that sums in the middle have `share` of it. None with too little stays:
 * counted are those whose transform is not the exact sum, rounded, which a direct sum may happen to be, too. All stay
 * where a tile of direct sums, of 32 rows and 64 columns, has none with too little. A processor knows of 0.667 of what
 * the magnitudes add up to, less what random numbers deviate from their mean; without vectors it takes smaller tiles,
 * of which this says nothing. */
static void check_kept(fl_device *device, double share)
{
    const double units = is_gpu(device) ? 138 : 236.25, known = is_gpu(device) ? 1 : 0.6;
    enum { EDGE = 135, TAPS = 61, OUT = EDGE + TAPS - 1, MIDDLE = OUT / 2, DOWN = 32, ACROSS = 64 };
    struct matrix image = matrix_random(FL_F64, EDGE, EDGE, 1), kernel = matrix_random(FL_F64, TAPS, TAPS, 2),
                  got = matrix_create(FL_F64, OUT, OUT), plain = matrix_create(FL_F64, OUT, OUT);
    int few = 0, few_kept = 0, enough = 0, enough_kept = 0;
    double squares[2] = {0, 0};
    for (int64_t i = 1; i < EDGE * EDGE; i++)
        squares[0] += pow(matrix_get(&image, 0, i), 2);
    for (int64_t i = 0; i < TAPS * TAPS; i++)
        squares[1] += pow(matrix_get(&kernel, 0, i), 2);
    const double least = (double)sum_of(&image, &kernel, MIDDLE, MIDDLE).magnitude / share,
                 norms = least * (TAPS * TAPS + 14) / units;
    cr_assert(norms * norms > squares[0] * squares[1]);
    matrix_set(&image, 0, 0, sqrt(norms * norms / squares[1] - squares[0]));
    const double operations = convolved(device, &image, &kernel, "fft-checked", &got);
    const bool same_tile = convolved(device, &image, &kernel, "fft", &plain) == operations;
    cr_assert(operations > 0 && (same_tile || !is_gpu(device)));
    for (int64_t i0 = 0; i0 < OUT && same_tile; i0 += DOWN)
        for (int64_t j0 = 0; j0 < OUT; j0 += ACROSS) {
            bool all_enough = true;
            int kept = 0, outputs = 0;
            for (int64_t i = i0; i < i0 + DOWN && i < OUT; i++)
                for (int64_t j = j0; j < j0 + ACROSS && j < OUT; j++) {
                    const struct exact e = sum_of(&image, &kernel, i, j);
                    const double sum = (double)e.magnitude, transformed = matrix_get(&plain, i, j);
                    const bool same = matrix_get(&got, i, j) == transformed;
                    const bool is_few = sum < 0.98 * least && transformed != (double)e.value;
                    all_enough = all_enough && known * sum > 1.05 * least;
                    outputs++;
                    kept += same;
                    few += is_few;
                    few_kept += is_few && same;
                }
            enough += all_enough ? outputs : 0;
            enough_kept += all_enough ? kept : 0;
        }
    cr_expect(!same_tile || (few > 5000 && few_kept < few / 20), "%.1f: %d of %d sums that may be inaccurate are kept",
              share, few_kept, few);
    cr_expect((!same_tile || known * share < 1.05 || enough > 1000) && enough_kept == enough,
              "%.1f: %d of %d accurate sums are kept", share, enough_kept, enough);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&got);
    matrix_free(&plain);
}

ON_EVERY_BACKEND(convolve_checked, keeps_the_accurate_sums)
{
    static const double shares[] = {0.8, 1.4, 2.5};
    fl_device *device = open_device(on->resource);
    for (size_t s = is_small_test() ? 2 : 0; s < COUNT(shares) && has_checked(device, "convolve"); s++)
        if (!is_left_out(4))
            check_kept(device, shares[s]);
    fl_device_close(device);
}

/* Where blocks as long as those of fft are too long for the sums of 1000 taps of random numbers, shorter ones serve. */
ON_EVERY_BACKEND(convolve_checked, shorter_blocks)
{
    static const struct shapes shapes = {{1, 120000}, {1, 1000}, 37};
    fl_device *device = open_device(on->resource);
    if (has_checked(device, "convolve1d") && !is_small_test()) {
        struct matrix signal = matrix_random(FL_F64, 1, shapes.image[1], 1),
                      kernel = matrix_random(FL_F64, 1, shapes.kernel[1], 2);
        const int64_t outputs = shapes.image[1] + shapes.kernel[1] - 1;
        struct matrix got = matrix_create(FL_F64, 1, outputs), direct = matrix_create(FL_F64, 1, outputs);
        cr_assert(convolved(device, &signal, &kernel, "fft-checked", &got));
        cr_assert(convolved(device, &signal, &kernel, "tiled", &direct));
        check_bound("1000 taps", on->resource, &signal, &kernel, &got, shapes.step);
        cr_expect(alike(&got, &direct) < 0.2, "%s: %.3f of the sums are direct ones", on->resource,
                  alike(&got, &direct));
        matrix_free(&signal);
        matrix_free(&kernel);
        matrix_free(&got);
        matrix_free(&direct);
    }
    fl_device_close(device);
}

/* So many tiles that the emulation transforms them in several turns, and the magnitudes in several parts; an image
 * with fewer rows than the kernel has; and kernels that need a library's transforms. */
ON_EVERY_BACKEND(convolve_checked, parts_and_libraries)
{
    static const struct {
        struct shapes shapes;
        size_t contents; /* those of many direct sums take long */
    } cases[] = {{{{900, 701}, {64, 63}, 997}, 3},     {{{1, 800000}, {1, 3000}, 2003}, 3},
                 {{{40, 900}, {90, 81}, 101}, 2},      {{{300, 260}, {200, 21}, 31}, 3},
                 {{{700, 800}, {210, 220}, 30011}, 1}, {{{1, 90000}, {1, 66000}, 5003}, 1}};
    static const enum content contents[] = {SIGNED, DISC, FALLING};
    fl_device *device = open_device(on->resource);
    const size_t count = is_gpu(device) ? COUNT(cases) : 3; /* a processor has neither parts nor two kinds of FFTs */
    for (size_t s = 0; s < count && has_checked(device, "convolve") && !is_small_test(); s++)
        for (size_t c = 0; c < (is_gpu(device) ? cases[s].contents : 1); c++)
            if (!is_left_out(4))
                check(device, &cases[s].shapes, contents[c]);
    fl_device_close(device);
}

/* With the address sanitizer the process ends where memory is refused. */
#if defined(__SANITIZE_ADDRESS__)
enum { is_limited = 0 };
#else
enum { is_limited = 1 };
#endif

/* Lets the process have so many more bytes of memory; 0: as many as before. */
static void limit_memory(rlim_t more)
{
    struct rlimit limit;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%ld", &pages) == 1 && getrlimit(RLIMIT_AS, &limit) == 0);
    fclose(file);
    limit.rlim_cur = more ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more : limit.rlim_max;
    cr_assert(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* Mode same by that variant, of arrays on that device. */
static fl_status run_same(fl_device *device, const struct matrix *image, const struct matrix *kernel,
                          const char *variant, rlim_t limit, struct matrix *got)
{
    const int first = image->shape[0] == 1 ? 1 : 0, dimensions = 2 - first;
    const fl_run run = {.variant = variant};
    fl_array *a, *b, *out;
    must(fl_array_from_host(device, image->dtype, dimensions, image->shape + first, image->data, &a));
    must(fl_array_from_host(device, image->dtype, dimensions, kernel->shape + first, kernel->data, &b));
    must(fl_array_create(device, image->dtype, dimensions, image->shape + first, &out));
    if (limit)
        limit_memory(limit);
    const fl_status status = (first ? fl_convolve1d : fl_convolve)(device, a, b, FL_SAME, out, &run);
    limit_memory(0);
    if (status == FL_OK)
        must(fl_array_to_host(out, got->data));
    free_arrays(a, b, out);
    return status;
}

/* Without memory for its tiles, or for those of the magnitudes, fft-checked sums directly: it needs no more than
 * tiled. So does fft-wide. On the emulation, whose device has the process's memory; the kernels have run before, since
 * the stacks of their threads are memory, too. */
ON_EVERY_BACKEND(convolve_checked, needs_no_memory)
{
    static const struct shapes shapes[] = {{{570, 200}, {64, 63}, 1}, {{1, 250000}, {1, 1000}, 1}};
    static const rlim_t limits[][2] = {{(rlim_t)1 << 20, (rlim_t)9 << 19}, {(rlim_t)1 << 20, (rlim_t)1 << 20}};
    mallopt(M_MMAP_THRESHOLD, 1 << 17); /* so that no memory that was given back can be had again */
    for (size_t t = 0; t < 6; t++) {
        const struct shapes *const s = &shapes[t % 2];
        const fl_dtype dtype = t < 4 ? FL_F64 : FL_F32;
        const char *const variant = t < 4 ? "fft-checked" : "fft-wide";
        fl_device *device = open_device(on->resource), *before = open_device(on->resource);
        struct matrix image = matrix_random(dtype, s->image[0], s->image[1], 1),
                      kernel = matrix_random(dtype, s->kernel[0], s->kernel[1], 2),
                      got = matrix_create(dtype, s->image[0], s->image[1]),
                      wanted = matrix_create(dtype, s->image[0], s->image[1]);
        if (is_limited && strncmp(on->resource, "hip-cpu", 7) == 0 && !is_left_out(4)) {
            must(run_same(before, &image, &kernel, variant, 0, &got));
            must(run_same(before, &image, &kernel, "tiled", 0, &wanted));
            fl_device_close(before);
            before = NULL;
            must(run_same(device, &image, &kernel, variant, limits[t % 2][t / 2 % 2], &got));
            int64_t other = 0;
            for (int64_t i = 0; i < got.shape[0] * got.shape[1]; i++)
                other += matrix_get(&got, 0, i) != matrix_get(&wanted, 0, i);
            cr_expect(other == 0, "%s, case %zu: %lld sums are not those of tiled", on->resource, t, (long long)other);
        }
        fl_device_close(before);
        fl_device_close(device);
        matrix_free(&image);
        matrix_free(&kernel);
        matrix_free(&got);
        matrix_free(&wanted);
    }
}
