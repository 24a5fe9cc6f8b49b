/* SPDX-License-Identifier: MIT
 *
 * large RESOURCE [ELEMENTS [OPERATION]]: every operation (or one), in every variant, on more elements than ELEMENTS,
 * each with a thread of its own where the variant has one an element. 4294967296 shows whether an index or a grid wraps
 * at 2^31 or 2^32; such a run needs about 80 GB of a GPU's memory and 1 GB of the host's. Without ELEMENTS: some
 * thousands, in some seconds.
 *
 * An input repeats a short pattern whose length is a prime number, so that an element from a wrong place has a wrong
 * value. What is expected is then short as well: it is repeated into a second array of the device, with which the
 * result is compared there; that comparison is tested first, by differences put where an index would wrap. The sums
 * are of integers, and exact.
 *
 * A line a case: ok, refused (FL_E_LIMIT, FL_E_MEMORY, FL_E_UNSUPPORTED, with the message), FAILED. Exit: 0 none
 * failed, 1 one did, 2 usage, 3 the device cannot be opened.
 */
#include <flynn/flynn.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static fl_device *device;
static int64_t elements; /* at least so many */
static const char *only; /* operation; NULL: all */
static int passed, refused, failed;
/* Of the case that runs: the first call that failed, or "" */
static char problem[600];
static fl_status problem_status;

/* ------------------------------------------------------------------------------------------------------ cases ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double started;

static void begin(void)
{
    problem[0] = '\0';
    problem_status = FL_OK;
    started = now();
}

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...)
{
    va_list args;
    if (problem[0])
        return;
    va_start(args, format);
    vsnprintf(problem, sizeof problem, format, args);
    va_end(args);
}

/* Whether the call succeeded; the case ends as failed or refused if not. */
static bool done(fl_status status)
{
    if (status == FL_OK)
        return true;
    if (!problem[0])
        problem_status = status;
    wrong("%s: %s", fl_status_name(status), fl_last_error());
    return false;
}

static void end(const char *operation, const char *variant, const char *dtype, int64_t n)
{
    bool refusal = problem_status == FL_E_LIMIT || problem_status == FL_E_MEMORY || problem_status == FL_E_UNSUPPORTED;
    const char *result = !problem[0] ? "ok" : refusal ? "refused" : "FAILED";
    printf("%-8s %-12s %-12s %-3s %11" PRId64 " elements %6.2f s%s%s\n", result, operation, variant, dtype, n,
           now() - started, problem[0] ? ": " : "", problem);
    fflush(stdout);
    *(!problem[0] ? &passed : refusal ? &refused : &failed) += 1;
}

/* ----------------------------------------------------------------------------------------------------- arrays ---- */

/* What an array repeats along its first dimension. */
typedef struct pattern {
    fl_dtype dtype;
    int64_t rows, columns; /* columns: 1 for an array of one dimension */
    void *data;            /* the device's host memory */
} pattern;

static pattern pattern_create(fl_dtype dtype, int64_t rows, int64_t columns)
{
    pattern p = {dtype, rows, columns, NULL};
    if (fl_host_alloc(device, (size_t)(rows * columns) * fl_dtype_size(dtype), &p.data) != FL_OK) {
        fprintf(stderr, "large: %s\n", fl_last_error());
        exit(1);
    }
    return p;
}

static void pattern_free(pattern *p)
{
    fl_host_free(device, p->data);
}

static fl_array *create(fl_dtype dtype, int64_t rows, int64_t columns)
{
    fl_array *array = NULL;
    return done(fl_array_create(device, dtype, columns > 1 ? 2 : 1, (int64_t[]){rows, columns}, &array)) ? array : NULL;
}

/* Writes the first `rows` rows of `from` to the array, from row `start` on. */
static bool write_rows(fl_array *array, int64_t start, int64_t rows, const void *from)
{
    fl_array *view = NULL;
    bool ok = done(fl_array_view(array, (int64_t[]){start, 0}, (int64_t[]){rows, fl_array_shape(array, 1)}, &view)) &&
              done(fl_array_write(view, from, NULL));
    fl_array_free(view);
    return ok;
}

/* A new array of that many rows of the pattern; NULL after an error. */
static fl_array *repeat(const pattern *p, int64_t rows)
{
    fl_array *array = create(p->dtype, rows, p->columns);
    for (int64_t at = 0; array && at < rows; at += p->rows)
        if (!write_rows(array, at, rows - at < p->rows ? rows - at : p->rows, p->data))
            break;
    done(fl_device_wait(device));
    return array;
}

/* Compares on the device; every element must be within `tolerance`. */
static void expect_array(const fl_array *got, const fl_array *expected, double tolerance)
{
    fl_closeness found;
    if (got && expected && !problem[0] && done(fl_allclose(device, got, expected, 0, tolerance, false, &found, NULL)) &&
        !found.close)
        wrong("%" PRId64 " elements differ, the worst is %" PRId64, found.differing, found.worst_index);
}

static void expect(const fl_array *got, const pattern *p, double tolerance)
{
    fl_array *expected = problem[0] ? NULL : repeat(p, fl_array_shape(got, 0));
    expect_array(got, expected, tolerance);
    fl_array_free(expected);
}

/* ----------------------------------------------------------------------------------- arrays of one dimension ---- */

static int64_t period; /* a prime number */
static int64_t count;  /* a multiple of it, above `elements` */

/* Integers in 0..most-1, neighbours far from each other. */
static int64_t value(int64_t i, int64_t most)
{
    return i * 7919 % most;
}

static pattern pattern_of(fl_dtype dtype, int64_t most)
{
    pattern p = pattern_create(dtype, period, 1);
    for (int64_t i = 0; i < period; i++)
        switch (dtype) {
        case FL_U8: ((uint8_t *)p.data)[i] = (uint8_t)value(i, most); break;
        case FL_I32: ((int32_t *)p.data)[i] = (int32_t)value(i, most); break;
        case FL_I64: ((int64_t *)p.data)[i] = value(i, most); break;
        case FL_F32: ((float *)p.data)[i] = (float)value(i, most); break;
        default: ((double *)p.data)[i] = (double)value(i, most); break;
        }
    return p;
}

/* The i-th variant of an operation that computes in `dtype`; NULL past the last. The names stay valid. */
static const char *variant_of(const char *operation, fl_dtype dtype, size_t i)
{
    fl_variant_info info;
    for (size_t row = 0; fl_variant_get(device, row, &info) == FL_OK; row++)
        if (strcmp(info.operation, operation) == 0 && (info.dtypes & 1u << dtype) != 0 &&
            strcmp(info.variant, "reference") != 0 && i-- == 0)
            return info.variant;
    return NULL;
}

/* A difference at each index where one could be lost, the last one the largest. */
static void test_allclose(void)
{
    const int64_t places[] = {0, INT32_MAX, INT64_C(1) << 31, UINT32_MAX, INT64_C(1) << 32, count - 1};
    pattern p = pattern_of(FL_F32, 1000003);
    fl_array *a, *b;
    fl_closeness found;
    int64_t differing = 0;

    begin();
    a = repeat(&p, count);
    b = repeat(&p, count);
    if (a && b && done(fl_allclose(device, a, b, 0, 0, false, &found, NULL)) && (!found.close || found.differing != 0))
        wrong("%" PRId64 " of equal elements differ", found.differing);
    for (size_t i = 0; a && b && !problem[0] && i < sizeof places / sizeof *places; i++) {
        float other = (float)(value(places[i] % period, 1000003) + 1 + (int64_t)i);
        if (places[i] >= count)
            continue;
        differing++;
        if (write_rows(b, places[i], 1, &other) && done(fl_device_wait(device)) &&
            done(fl_allclose(device, a, b, 0, 0.5, false, &found, NULL)) &&
            (found.close || found.differing != differing || found.worst_index != places[i]))
            wrong("%" PRId64 " elements differ, the worst is %" PRId64 "; expected %" PRId64 ", %" PRId64,
                  found.differing, found.worst_index, differing, places[i]);
    }
    end("allclose", "naive", "f32", count);
    fl_array_free(a);
    fl_array_free(b);
    pattern_free(&p);
}

/* -------------------------------------------------------------------- element by element, and sums of neighbours ----
 */

static const float taps[] = {1, 2, 3};

static fl_status run_increment(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_increment(device, in[0], out, run);
}

static fl_status run_sqrt(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_sqrt(device, in[0], out, run);
}

static fl_status run_maximum(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_maximum(device, in[0], in[1], out, run);
}

static fl_status run_log_of_sum(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_log_of_sum(device, in[0], in[1], out, run);
}

static fl_status run_copy(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_copy_array(device, in[0], out, run);
}

static fl_status run_convert(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_convert(device, in[0], out, run);
}

static fl_status run_multiply_add(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_multiply_add(device, in[0], 2, 1, 2, out, run);
}

static fl_status run_convolve1d(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_convolve1d(device, in[0], in[1], FL_VALID, out, run);
}

/* Element i of what is expected; x: the first input. The second input of maximum and log_of_sum is the first one turned
 * round within each period. */
static double expect_increment(int64_t i, int64_t most)
{
    return (double)(value(i, most) + 1);
}

static double expect_sqrt(int64_t i, int64_t most)
{
    return sqrt((double)value(i, most));
}

static double expect_maximum(int64_t i, int64_t most)
{
    return fmax((double)value(i, most), (double)value(period - 1 - i, most));
}

static double expect_log_of_sum(int64_t i, int64_t most)
{
    return log((double)(value(i, most) + value(period - 1 - i, most)));
}

static double expect_same(int64_t i, int64_t most)
{
    return (double)value(i, most);
}

static double expect_multiply_add(int64_t i, int64_t most)
{
    return (double)(4 * value(i, most) + 3);
}

static double expect_convolve1d(int64_t i, int64_t most)
{
    double sum = 0;
    for (int64_t k = 0; k < 3; k++)
        sum += (double)taps[k] * (double)value((i + 2 - k) % period, most);
    return sum;
}

static const struct simple {
    const char *name;
    fl_dtype in, out, computes;
    int64_t most;     /* the values are below */
    char second;      /* input: 0 none, 'r' the first one turned round, 'k' the taps */
    int64_t shorter;  /* than the input */
    double tolerance; /* 0: exact */
    fl_status (*run)(fl_array *const *in, fl_array *out, const fl_run *run);
    double (*expected)(int64_t i, int64_t most);
} simple[] = {
    {"increment", FL_I32, FL_I32, FL_I32, 1000003, 0, 0, 0, run_increment, expect_increment},
    {"increment", FL_F32, FL_F32, FL_F32, 1000003, 0, 0, 0, run_increment, expect_increment},
    {"sqrt", FL_F32, FL_F32, FL_F32, 1000003, 0, 0, 0, run_sqrt, expect_sqrt},
    {"maximum", FL_F32, FL_F32, FL_F32, 1000003, 'r', 0, 0, run_maximum, expect_maximum},
    {"log_of_sum", FL_F32, FL_F32, FL_F32, 1000003, 'r', 0, 5e-6, run_log_of_sum, expect_log_of_sum},
    {"copy", FL_U8, FL_U8, FL_U8, 251, 0, 0, 0, run_copy, expect_same},
    {"copy", FL_F32, FL_F32, FL_F32, 1000003, 0, 0, 0, run_copy, expect_same},
    {"convert", FL_U8, FL_F32, FL_F32, 251, 0, 0, 0, run_convert, expect_same},
    {"convert", FL_U8, FL_I64, FL_I64, 251, 0, 0, 0, run_convert, expect_same},
    {"multiply_add", FL_F32, FL_F32, FL_F32, 1000003, 0, 0, 0, run_multiply_add, expect_multiply_add},
    /* fft: 20 (log2 65536 + 2) u |s| |k| for elements below 16, see flynn.h */
    {"convolve1d", FL_F32, FL_F32, FL_F32, 16, 'k', 2, 0.2, run_convolve1d, expect_convolve1d},
};

static pattern expected_pattern(const struct simple *s)
{
    pattern p = pattern_create(s->out, period, 1);
    for (int64_t i = 0; i < period; i++) {
        double x = s->expected(i, s->most);
        switch (s->out) {
        case FL_U8: ((uint8_t *)p.data)[i] = (uint8_t)x; break;
        case FL_I32: ((int32_t *)p.data)[i] = (int32_t)x; break;
        case FL_I64: ((int64_t *)p.data)[i] = (int64_t)x; break;
        default: ((float *)p.data)[i] = (float)x; break;
        }
    }
    return p;
}

static pattern second_input(const struct simple *s)
{
    pattern p = pattern_create(FL_F32, s->second == 'k' ? 3 : period, 1);
    for (int64_t i = 0; i < p.rows; i++)
        ((float *)p.data)[i] = s->second == 'k' ? taps[i] : (float)value(period - 1 - i, s->most);
    return p;
}

static void test_simple(const struct simple *s)
{
    pattern first = pattern_of(s->in, s->most), expected = expected_pattern(s), second = {0};
    pattern nothing = pattern_create(s->out, period, 1);
    const char *variant;

    memset(nothing.data, 0xff, (size_t)period * fl_dtype_size(s->out)); /* NaN, -1 or 255 */
    if (s->second)
        second = second_input(s);
    for (size_t v = 0; (variant = variant_of(s->name, s->computes, v)) != NULL; v++) {
        fl_array *in[2] = {NULL, NULL}, *out;
        begin();
        in[0] = repeat(&first, count);
        in[1] = s->second ? repeat(&second, s->second == 'k' ? 3 : count) : NULL;
        out = repeat(&nothing, count - s->shorter);
        if (!problem[0] && done(s->run(in, out, &(fl_run){.variant = variant}))) {
            fl_array_free(in[1]);
            in[1] = NULL;
            /* Only fft rounds what is exact in the others. */
            expect(out, &expected, s->second == 'k' && strcmp(variant, "fft") != 0 ? 0 : s->tolerance);
        }
        end(s->name, variant, fl_dtype_name(s->in), count);
        fl_array_free(in[0]);
        fl_array_free(in[1]);
        fl_array_free(out);
    }
    pattern_free(&first);
    pattern_free(&expected);
    pattern_free(&nothing);
    if (s->second)
        pattern_free(&second);
}

/* --------------------------------------------------------------------------------------------- select and sort ---- */

static int64_t read_count(fl_array *array)
{
    int64_t n = -1;
    return done(fl_array_to_host(array, &n)) ? n : -1;
}

static void test_select(fl_dtype dtype)
{
    const int64_t most = 3; /* a third are zeros */
    pattern p = pattern_of(dtype, most), selected = pattern_create(dtype, period, 1);
    size_t size = fl_dtype_size(dtype);
    const char *variant;

    selected.rows = 0;
    for (int64_t i = 0; i < period; i++)
        if (value(i, most) != 0)
            memcpy((char *)selected.data + size * (size_t)selected.rows++, (char *)p.data + size * (size_t)i, size);
    for (size_t v = 0; (variant = variant_of("select", dtype, v)) != NULL; v++) {
        fl_array *in, *out, *number, *view = NULL;
        int64_t wanted = count / period * selected.rows, got = -1;
        begin();
        in = repeat(&p, count);
        out = create(dtype, count, 1);
        number = create(FL_I64, 1, 1);
        if (!problem[0] && done(fl_select(device, in, out, number, &(fl_run){.variant = variant})))
            got = read_count(number);
        if (!problem[0] && got != wanted)
            wrong("%" PRId64 " were selected, expected %" PRId64, got, wanted);
        if (!problem[0] && done(fl_array_view(out, (int64_t[]){0}, &wanted, &view)))
            expect(view, &selected, 0);
        end("select", variant, fl_dtype_name(dtype), count);
        fl_array_free(view);
        fl_array_free(in);
        fl_array_free(out);
        fl_array_free(number);
    }
    pattern_free(&p);
    pattern_free(&selected);
}

/* Each of the values 0..period-1 comes as often as the pattern. */
static fl_array *sorted(void)
{
    fl_array *array = create(FL_I32, count, 1);
    pattern chunk = pattern_create(FL_I32, period, 1);
    int64_t left = count / period;
    int32_t now_at = 0;
    for (int64_t at = 0; array && !problem[0] && at < count; at += period) {
        for (int64_t i = 0; i < period; i++) {
            ((int32_t *)chunk.data)[i] = now_at;
            if (--left == 0)
                now_at++, left = count / period;
        }
        if (write_rows(array, at, period, chunk.data))
            done(fl_device_wait(device));
    }
    pattern_free(&chunk);
    return array;
}

static void test_sort(void)
{
    pattern p = pattern_of(FL_I32, period);
    fl_array *expected;
    const char *variant;

    begin();
    expected = sorted();
    if (!expected || problem[0])
        end("sort", "", "i32", count);
    for (size_t v = 0; expected && (variant = variant_of("sort", FL_I32, v)) != NULL; v++) {
        fl_array *data;
        begin();
        data = repeat(&p, count);
        if (!problem[0] && done(fl_sort(device, data, data, &(fl_run){.variant = variant})))
            expect_array(data, expected, 0);
        end("sort", variant, "i32", count);
        fl_array_free(data);
    }
    fl_array_free(expected);
    pattern_free(&p);
}

/* The second part of what is sorted, and the first one. */
static void test_merge(void)
{
    const int64_t first = count / 3, second = count - first, start = 0;
    fl_array *all, *x = NULL, *y = NULL, *out;

    begin();
    all = sorted();
    out = create(FL_I32, count, 1);
    if (!problem[0] && done(fl_array_view(all, &first, &second, &x)) && done(fl_array_view(all, &start, &first, &y)) &&
        done(fl_merge(device, x, y, out, NULL)))
        expect_array(out, all, 0);
    end("merge", "naive", "i32", count);
    fl_array_free(x);
    fl_array_free(y);
    fl_array_free(out);
    fl_array_free(all);
}

/* Each value has its first element behind all of the smaller ones. */
static void test_search_sorted(void)
{
    pattern p = pattern_of(FL_I32, period), places = pattern_create(FL_I64, period, 1);
    fl_array *all, *values, *out;

    for (int64_t i = 0; i < period; i++)
        ((int64_t *)places.data)[i] = value(i, period) * (count / period);
    begin();
    all = sorted();
    values = repeat(&p, period);
    out = create(FL_I64, period, 1);
    if (!problem[0] && done(fl_search_sorted(device, all, values, out, NULL)))
        expect(out, &places, 0);
    end("search_sorted", "naive", "i32", count);
    fl_array_free(all);
    fl_array_free(values);
    fl_array_free(out);
    pattern_free(&p);
    pattern_free(&places);
}

/* ---------------------------------------------------------------------------------------------------- matrices ---- */

enum { ROWS = 61 }; /* of a pattern of two dimensions: a prime number */

static float at2(int64_t i, int64_t j)
{
    return (float)value(i % ROWS * 31 + j, 1009);
}

/* A kernel of rank one, which every variant takes. */
static void test_convolve(int64_t height, int64_t width)
{
    static const float down[] = {1, 2, 1}, across[] = {1, 3, 2};
    pattern image = pattern_create(FL_F32, ROWS, width), out = pattern_create(FL_F32, ROWS, width - 2);
    pattern kernel = pattern_create(FL_F32, 3, 3);
    const char *variant;

    for (int64_t i = 0; i < 9; i++)
        ((float *)kernel.data)[i] = down[i / 3] * across[i % 3];
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < width; j++) {
            float sum = 0;
            ((float *)image.data)[i * width + j] = at2(i, j);
            for (int64_t k = 0; k < 9; k++)
                sum += down[k / 3] * across[k % 3] * at2(i + 2 - k / 3, j + 2 - k % 3);
            if (j < width - 2)
                ((float *)out.data)[i * (width - 2) + j] = sum;
        }
    for (size_t v = 0; (variant = variant_of("convolve", FL_F32, v)) != NULL; v++) {
        fl_array *in, *weights, *result;
        begin();
        in = repeat(&image, height);
        weights = repeat(&kernel, 3);
        result = create(FL_F32, height - 2, width - 2);
        if (!problem[0] && done(fl_convolve(device, in, weights, FL_VALID, result, &(fl_run){.variant = variant})))
            expect(result, &out, 0);
        end("convolve", variant, "f32", height * width);
        fl_array_free(in);
        fl_array_free(weights);
        fl_array_free(result);
    }
    pattern_free(&image);
    pattern_free(&out);
    pattern_free(&kernel);
}

/* The factor r of a matrix with few columns, whose elements are as large as the matrix's: q has orthonormal columns. */
static void test_qr(void)
{
    enum { COLUMNS = 5 };
    const int64_t rows = elements / COLUMNS;
    pattern p = pattern_create(FL_F32, ROWS, COLUMNS);
    float r[COLUMNS * COLUMNS] = {0};
    double squares = 0, expected = 0;
    fl_array *a, *qt, *factor;

    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        ((float *)p.data)[i] = at2(i / COLUMNS, i % COLUMNS);
    for (int64_t i = 0; i < rows * COLUMNS; i++)
        expected += pow(at2(i / COLUMNS, i % COLUMNS), 2);
    begin();
    a = repeat(&p, rows);
    qt = create(FL_F32, COLUMNS, rows);
    factor = create(FL_F32, COLUMNS, COLUMNS);
    if (!problem[0] && done(fl_qr(device, a, qt, factor, NULL)))
        done(fl_array_to_host(factor, r));
    for (int i = 0; i < COLUMNS * COLUMNS; i++)
        squares += (double)r[i] * r[i];
    if (!problem[0] && !(fabs(squares / expected - 1) < 1e-4))
        wrong("the squares of r have the sum %g, those of the matrix %g", squares, expected);
    end("qr", "naive", "f32", rows * COLUMNS);
    fl_array_free(a);
    fl_array_free(qt);
    fl_array_free(factor);
    pattern_free(&p);
}

/* y = u diag(s) vt of rank two, in integers; and its svd by the variant that such a matrix is small enough for. */
typedef struct product {
    pattern u, s, vt, y;
} product;

static product product_create(int64_t width)
{
    product p = {pattern_create(FL_F32, ROWS, 2), pattern_create(FL_F32, 2, 1), pattern_create(FL_F32, 2, width),
                 pattern_create(FL_F32, ROWS, width)};
    float *u = p.u.data, *s = p.s.data, *vt = p.vt.data;
    s[0] = 3, s[1] = 1;
    for (int64_t i = 0; i < ROWS; i++)
        u[2 * i] = (float)(1 + value(i, 17)), u[2 * i + 1] = (float)(value(i, 13) - 6);
    for (int64_t j = 0; j < width; j++)
        vt[j] = (float)(1 + value(j, 1009)), vt[width + j] = (float)(value(j, 997) - 500);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < width; j++)
            ((float *)p.y.data)[i * width + j] = s[0] * u[2 * i] * vt[j] + s[1] * u[2 * i + 1] * vt[width + j];
    return p;
}

static void test_reconstruct(const product *p, int64_t height, int64_t width)
{
    const char *variant;
    for (size_t v = 0; (variant = variant_of("reconstruct", FL_F32, v)) != NULL; v++) {
        fl_array *u, *s, *vt, *y;
        begin();
        u = repeat(&p->u, height);
        s = repeat(&p->s, 2);
        vt = repeat(&p->vt, 2);
        y = create(FL_F32, height, width);
        if (!problem[0] && done(fl_reconstruct(device, u, s, vt, 2, y, &(fl_run){.variant = variant})))
            expect(y, &p->y, 0);
        end("reconstruct", variant, "f32", height * width);
        fl_array_free(u);
        fl_array_free(s);
        fl_array_free(vt);
        fl_array_free(y);
    }
}

static void test_svd(const product *p, int64_t height, int64_t width)
{
    fl_array *a, *u, *s, *vt, *y;
    begin();
    a = repeat(&p->y, height);
    u = create(FL_F32, height, 2);
    s = create(FL_F32, 2, 1);
    vt = create(FL_F32, 2, width);
    y = create(FL_F32, height, width);
    /* The largest element is 3 * 17 * 1009 + 6 * 500. */
    if (!problem[0] && done(fl_svd(device, a, 1, u, s, vt, &(fl_run){.variant = "randomized"})) &&
        done(fl_reconstruct(device, u, s, vt, 2, y, NULL)))
        expect_array(y, a, 1e-4 * 54459);
    end("svd", "randomized", "f32", height * width);
    fl_array_free(a);
    fl_array_free(u);
    fl_array_free(s);
    fl_array_free(vt);
    fl_array_free(y);
}

/* ------------------------------------------------------------------------------------------------------ primes ---- */

/* Primes below powers of two: https://oeis.org/A007053. */
static const struct {
    int bits;
    int64_t primes;
} known[] = {{12, 564},      {16, 6542},      {20, 82025},     {24, 1077871},  {28, 14630843},
             {30, 54400028}, {31, 105097565}, {32, 203280221}, {33, 393615806}};

static bool is_prime(int64_t n)
{
    for (int64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n >= 2;
}

/* A thousand results from `start` on are successive primes. */
static void expect_successive(fl_array *out, int64_t start)
{
    static int64_t got[1000];
    fl_array *view = NULL;
    int64_t length = sizeof got / sizeof *got;
    if (length > fl_array_size(out) - start)
        length = fl_array_size(out) - start;
    if (!done(fl_array_view(out, &start, &length, &view)) || !done(fl_array_to_host(view, got)))
        length = 0;
    fl_array_free(view);
    for (int64_t i = 0; i < length; i++) {
        if (!is_prime(got[i]))
            wrong("[%" PRId64 "] is %" PRId64 ", which is not a prime number", start + i, got[i]);
        for (int64_t n = got[i] + 1; i + 1 < length && n < got[i + 1]; n++)
            if (is_prime(n))
                wrong("%" PRId64 " is missing after [%" PRId64 "]", n, start + i);
    }
}

/* Below the largest power of two of the table that is at most `upto`. */
static void test_primes(const char *variant, int64_t upto)
{
    fl_array *out, *number, *found = NULL;
    size_t k = 0;
    while (k + 1 < sizeof known / sizeof *known && INT64_C(1) << known[k + 1].bits <= upto)
        k++;
    upto = INT64_C(1) << known[k].bits;
    begin();
    out = create(FL_I64, fl_primes_bound(upto), 1);
    number = create(FL_I64, 1, 1);
    if (!problem[0] && done(fl_primes(device, upto, out, number, &(fl_run){.variant = variant}))) {
        int64_t got = read_count(number);
        if (!problem[0] && got != known[k].primes)
            wrong("%" PRId64 " primes, expected %" PRId64, got, known[k].primes);
        if (!problem[0] && done(fl_array_view(out, (int64_t[]){0}, &got, &found)))
            for (int part = 0; part < 16; part++)
                expect_successive(found, (got > 1000 ? got - 1000 : 0) / 15 * part);
        if (!problem[0])
            expect_successive(found, got > 1000 ? got - 1000 : 0);
    }
    end("primes", variant, "i64", upto);
    fl_array_free(found);
    fl_array_free(out);
    fl_array_free(number);
}

/* -------------------------------------------------------------------------------------------------------- main ---- */

static bool wanted(const char *operation)
{
    return !only || strcmp(only, operation) == 0;
}

int main(int argc, char **argv)
{
    char *rest = "";
    int64_t edge;
    product p;

    elements = argc > 2 ? strtoll(argv[2], &rest, 10) : 30000;
    only = argc > 3 ? argv[3] : NULL;
    if (argc < 2 || argc > 4 || *rest || elements < 10000) {
        fprintf(stderr, "usage: large RESOURCE [ELEMENTS [OPERATION]]; at least 10000 elements\n");
        return 2;
    }
    if (fl_device_open(argv[1], &device) != FL_OK) {
        fprintf(stderr, "large: %s\n", fl_last_error());
        return 3;
    }
    period = elements < 10000000 ? 4093 : 4194301;
    count = (elements / period + 1) * period;
    edge = (int64_t)sqrt((double)elements) + 2;
    if (wanted("allclose"))
        test_allclose();
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (wanted(simple[i].name))
            test_simple(&simple[i]);
    if (wanted("select"))
        test_select(FL_U8), test_select(FL_F32);
    if (wanted("sort"))
        test_sort();
    if (wanted("merge"))
        test_merge();
    if (wanted("search_sorted"))
        test_search_sorted();
    if (wanted("qr") && elements < INT32_MAX) /* whose rows are counted in 32 bits by LAPACK and the GPUs' solvers */
        test_qr();
    if (wanted("convolve"))
        test_convolve(edge + 1, edge);
    p = product_create(edge);
    if (wanted("reconstruct"))
        test_reconstruct(&p, edge + 1, edge);
    if (wanted("svd"))
        test_svd(&p, edge + 1, edge);
    if (wanted("primes")) {
        test_primes("sieve", elements);
        /* One thread a number; `upto` is at most FL_PRIMES_MOST_TRIAL. */
        test_primes("sqrt-all", elements < FL_PRIMES_MOST_TRIAL ? elements / 8 : FL_PRIMES_MOST_TRIAL);
    }
    pattern_free(&p.u);
    pattern_free(&p.s);
    pattern_free(&p.vt);
    pattern_free(&p.y);
    fl_device_close(device);
    printf("large: %d ok, %d refused, %d failed\n", passed, refused, failed);
    return failed || passed + refused == 0 ? 1 : 0;
}
