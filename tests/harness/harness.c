/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "files/npy.h"
#include "support/random.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- backends ---- */

#define MAX_RESOURCES 64

static struct on resources[MAX_RESOURCES];
static size_t resource_count;

static void add_resource(const char *backend, const char *item)
{
    if (resource_count < MAX_RESOURCES)
        snprintf(resources[resource_count++].resource, sizeof resources->resource, "%s%s%s", backend, *item ? ":" : "",
                 item);
}

/* Returns the device that the name alone opens, so that no test runs twice on the same one: "omp" on two processors is
 * "omp:2" with the best instruction set. */
static fl_device_info usual_of(const fl_backend_info *backend)
{
    fl_device *device;
    fl_device_info usual = {0};
    if (fl_device_open(backend->name, &device) == FL_OK) {
        usual = *fl_device_describe(device);
        fl_device_close(device);
    }
    return usual;
}

static void add_backend(const fl_backend_info *backend)
{
    const fl_probe *probe = &backend->probe;
    const fl_device_info usual = strcmp(backend->family, "cpu") == 0 ? usual_of(backend) : (fl_device_info){0};
    add_resource(backend->name, "");
    for (int i = 0; i < probe->isa_count; i++)
        if (!probe->isa[i].why_not[0] && strcmp(probe->isa[i].name, usual.isa) != 0)
            add_resource(backend->name, probe->isa[i].name);
    if (probe->max_threads >= 2) {
        add_resource(backend->name, "1");
        if (usual.threads != 2)
            add_resource(backend->name, "2");
    }
}

/* The resources of FLYNN_TEST_RESOURCES, "omp:2,serial". */
static size_t named_resources(const char *names)
{
    while (*names && resource_count < MAX_RESOURCES) {
        size_t length = strcspn(names, ",");
        snprintf(resources[resource_count++].resource, sizeof resources->resource, "%.*s", (int)length, names);
        names += length + (names[length] == ',');
    }
    return resource_count;
}

size_t every_backend(const struct on **all)
{
    resource_count = 0;
    *all = resources;
    const char *family = getenv("FLYNN_TEST_FAMILY"), *names = getenv("FLYNN_TEST_RESOURCES");
    if (names && *names)
        return named_resources(names);
    for (size_t i = 0; i < fl_backend_count(); i++)
        if (fl_backend_get(i)->usable && (!family || strcmp(fl_backend_get(i)->family, family) == 0))
            add_backend(fl_backend_get(i));
    return resource_count;
}

bool is_small_test(void)
{
    return getenv("FLYNN_TEST_SMALL") != NULL;
}

/* The resource that a test runs on, for messages; empty outside of such a test. */
static const char *running_on = "";

static struct {
    uint64_t state;
    unsigned cases, taken; /* of the cases in turn, the number of those gone by and the one that is taken */
} chance;

static void chance_start(const char *name)
{
    const char *number = getenv("FLYNN_TEST_QUICK");
    chance.state = hash_bytes(number ? strtoull(number, NULL, 10) + 1 : 0, name, strlen(name));
    chance.cases = 0;
}

bool is_left_out(unsigned one_of)
{
    if (!getenv("FLYNN_TEST_QUICK"))
        return false;
    if (chance.state == 0)
        chance_start("");
    if (chance.cases++ % one_of == 0)
        chance.taken = (unsigned)(random_bits(&chance.state) >> 32) % one_of;
    return (chance.cases - 1) % one_of != chance.taken;
}

static bool is_of_processor(const char *resource)
{
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const size_t length = strlen(fl_backend_get(i)->name);
        if (strncmp(resource, fl_backend_get(i)->name, length) == 0 && strchr(":", resource[length]))
            return strcmp(fl_backend_get(i)->family, "cpu") == 0;
    }
    return false;
}

/* Leaves out all resources of the processor but one. */
static size_t chosen_of(struct on *all, size_t count)
{
    size_t of_processor = 0, chosen = 0;
    for (size_t i = 0; i < count; i++)
        of_processor += is_of_processor(all[i].resource);
    size_t one = of_processor ? (size_t)(random_bits(&chance.state) >> 32) % of_processor : 0;
    for (size_t i = 0; i < count; i++)
        if (!is_of_processor(all[i].resource) || one-- == 0)
            all[chosen++] = all[i];
    return chosen;
}

void for_every_backend(const char *name, void (*test)(const struct on *on))
{
    const struct on *all;
    size_t count = every_backend(&all);
    cr_assert(count > 0, "no backend can run here");
    chance_start(name);
    if (getenv("FLYNN_TEST_QUICK"))
        count = chosen_of(resources, count);
    for (size_t i = 0; i < count; i++) {
        const struct on on = all[i];
        chance.cases = 0;
        running_on = on.resource;
        cr_log_info("on %s", on.resource);
        test(&on);
    }
    running_on = "";
}

fl_device *open_device(const char *resource)
{
    fl_device *device = NULL;
    fl_status status = fl_device_open(resource, &device);
    cr_assert(status == FL_OK, "%s: %s: %s", resource, fl_status_name(status), fl_last_error());
    return device;
}

bool is_gpu(const fl_device *device)
{
    return fl_device_describe(device)->max_threads_per_block > 0;
}

bool is_slow(const fl_device *device)
{
    return fl_device_describe(device)->emulation || is_small_test();
}

/* Returns whether the FFT library of the device's backend is missing, without which a variant takes some inputs. */
static bool lacks_fft(const fl_device *device)
{
    const fl_backend_info *backend;
    for (size_t i = 0; (backend = fl_backend_get(i)) != NULL; i++)
        if (strcmp(backend->name, fl_device_describe(device)->backend) == 0)
            return strstr(backend->probe.lacks, "fft") != NULL;
    return false;
}

/* FLYNN_TEST_WITHOUT names variants, with spaces between, that another test runs on the same device. */
static bool is_tested_elsewhere(const char *variant)
{
    const char *names = getenv("FLYNN_TEST_WITHOUT");
    const size_t length = strlen(variant);

    for (; names && *names; names += strcspn(names, " "), names += strspn(names, " "))
        if (strcspn(names, " ") == length && strncmp(names, variant, length) == 0)
            return true;
    return false;
}

const char *variant_of(const fl_device *device, const char *operation, fl_dtype dtype, size_t i)
{
    if (i == 0)
        return "auto";
    fl_variant_info info;
    for (size_t row = 0; fl_variant_get(device, row, &info) == FL_OK; row++) {
        bool fits = strcmp(info.operation, operation) == 0 && strcmp(info.variant, "auto") != 0 &&
                    (info.dtypes & (1u << dtype)) != 0 && !is_tested_elsewhere(info.variant);
        if (fits && fl_variant_ready(device, row) == FL_OK && --i == 0)
            return info.variant;
    }
    return NULL;
}

void free_each_array(fl_array *const *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fl_array_free(arrays[i]);
}

void check_status(fl_status wanted, fl_status got, const char *call, const char *file, int line)
{
    cr_assert(got == wanted, "%s:%d: %s%s%s: expected %s, got %s: %s", file, line, running_on, *running_on ? ": " : "",
              call, fl_status_name(wanted), fl_status_name(got), got ? fl_last_error() : "");
    if (wanted != FL_OK)
        cr_assert(fl_last_error()[0] && !strchr(fl_last_error(), '\n'),
                  "%s:%d: %s: expected a message of one line, got '%s'", file, line, call, fl_last_error());
}

/* ---------------------------------------------------------------------------------------------------- matrices ---- */

struct matrix matrix_create(fl_dtype dtype, int64_t rows, int64_t columns)
{
    struct matrix matrix = {dtype, {rows, columns}, calloc((size_t)(rows * columns) + 1, fl_dtype_size(dtype))};
    cr_assert(matrix.data != NULL);
    return matrix;
}

void matrix_free(struct matrix *matrix)
{
    free(matrix->data);
    matrix->data = NULL;
}

void matrix_set(struct matrix *matrix, int64_t row, int64_t column, double value)
{
    int64_t i = row * matrix->shape[1] + column;
    switch (matrix->dtype) {
    case FL_U8: ((uint8_t *)matrix->data)[i] = (uint8_t)value; break;
    case FL_I32: ((int32_t *)matrix->data)[i] = (int32_t)value; break;
    case FL_I64: ((int64_t *)matrix->data)[i] = (int64_t)value; break;
    case FL_F32: ((float *)matrix->data)[i] = (float)value; break;
    default: ((double *)matrix->data)[i] = value; break;
    }
}

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
uint64_t random_bits(uint64_t *state)
{
    random_state random = {*state};
    uint64_t bits = random_next(&random);
    *state = random.counter;
    return bits;
}

int64_t random_between(uint64_t *state, int64_t first, int64_t last)
{
    return first + (int64_t)(random_bits(state) % (uint64_t)(last - first + 1));
}

static double random_value(fl_dtype dtype, uint64_t *state)
{
    if (dtype == FL_F32 || dtype == FL_F64)
        return (double)(random_bits(state) >> 11) * 0x1p-52 - 1;
    return (double)random_between(state, dtype == FL_U8 ? 0 : -9, 9);
}

struct matrix matrix_random(fl_dtype dtype, int64_t rows, int64_t columns, uint64_t seed)
{
    struct matrix matrix = matrix_create(dtype, rows, columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            matrix_set(&matrix, i, j, random_value(dtype, &seed));
    return matrix;
}

struct matrix matrix_random_rank_one(fl_dtype dtype, int64_t rows, int64_t columns, uint64_t seed)
{
    struct matrix matrix = matrix_create(dtype, rows, columns);
    struct matrix down = matrix_random(dtype, rows, 1, seed), across = matrix_random(dtype, 1, columns, seed + 1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            matrix_set(&matrix, i, j, matrix_get(&down, i, 0) * matrix_get(&across, 0, j));
    matrix_free(&down);
    matrix_free(&across);
    return matrix;
}

struct matrix matrix_gaussian(fl_dtype dtype, double factor)
{
    struct matrix matrix = matrix_create(dtype, 15, 15);
    for (int i = 0; i < 15; i++)
        for (int j = 0; j < 15; j++) {
            double x = -2 + 4.0 * j / 14, y = -2 + 4.0 * i / 14;
            matrix_set(&matrix, i, j, exp(-factor * (x * x + y * y)));
        }
    return matrix;
}

struct matrix matrix_impulses(fl_dtype dtype, int64_t edge)
{
    struct matrix matrix = matrix_create(dtype, edge, edge);
    for (int64_t i = 8; i < edge; i += 16)
        for (int64_t j = 8; j < edge; j += 16)
            matrix_set(&matrix, i, j, 1);
    return matrix;
}

struct matrix matrix_golden(const char *operation, const char *name)
{
    char path[512];
    host_array array;
    problem why;
    snprintf(path, sizeof path, "%s/%s/golden/%s.npy", FLYNN_TEST_OPERATIONS, operation, name);
    cr_assert(npy_read(path, &array, &why), "%s", why.text);
    cr_assert(array.ndim == 2, "%s is not a matrix", path);
    struct matrix matrix = matrix_create(array.dtype, array.shape[0], array.shape[1]);
    memcpy(matrix.data, array.data, (size_t)host_array_size(&array) * fl_dtype_size(array.dtype));
    host_array_free(&array);
    return matrix;
}

fl_array *array_from(fl_device *device, const struct matrix *matrix)
{
    fl_array *array = NULL;
    must(fl_array_from_host(device, matrix->dtype, 2, matrix->shape, matrix->data, &array));
    return array;
}

fl_array *array_inside(fl_device *device, const struct matrix *matrix)
{
    const int64_t margin[2] = {2, 3};
    struct matrix larger = matrix_create(matrix->dtype, matrix->shape[0] + 4, matrix->shape[1] + 7);
    double outside = matrix->dtype == FL_F32 || matrix->dtype == FL_F64 ? (double)NAN : 111.0;
    for (int64_t i = 0; i < larger.shape[0]; i++)
        for (int64_t j = 0; j < larger.shape[1]; j++) {
            int64_t row = i - margin[0], column = j - margin[1];
            bool inside = row >= 0 && row < matrix->shape[0] && column >= 0 && column < matrix->shape[1];
            matrix_set(&larger, i, j, inside ? matrix_get(matrix, row, column) : outside);
        }
    fl_array *whole = array_from(device, &larger), *view = NULL;
    must(fl_array_view(whole, margin, matrix->shape, &view));
    fl_array_free(whole);
    matrix_free(&larger);
    return view;
}

/* ----------------------------------------------------------------------------------------- the expected result ---- */

enum { SLOTS = 1 << 12 };

static struct kept {
    uint64_t key;
    size_t size;
    void *data;
    struct kept *next;
} * kept[SLOTS];
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (hash ^ size) * 0xbf58476d1ce4e5b9u;
}

uint64_t hash_matrix(uint64_t hash, const struct matrix *matrix)
{
    const int64_t head[] = {matrix->dtype, matrix->shape[0], matrix->shape[1]};
    size_t size = (size_t)(matrix->shape[0] * matrix->shape[1]) * fl_dtype_size(matrix->dtype);
    return hash_bytes(hash_bytes(hash, head, sizeof head), matrix->data, size);
}

bool recall(uint64_t key, void *data, size_t size)
{
    pthread_mutex_lock(&kept_lock);
    const struct kept *found = kept[key % SLOTS];
    while (found && (found->key != key || found->size != size))
        found = found->next;
    pthread_mutex_unlock(&kept_lock);
    if (found)
        memcpy(data, found->data, size);
    return found != NULL;
}

void remember(uint64_t key, const void *data, size_t size)
{
    struct kept *one = malloc(sizeof *one);
    cr_assert(one != NULL);
    *one = (struct kept){key, size, malloc(size + 1), NULL};
    cr_assert(one->data != NULL);
    memcpy(one->data, data, size);
    pthread_mutex_lock(&kept_lock);
    one->next = kept[key % SLOTS];
    kept[key % SLOTS] = one;
    pthread_mutex_unlock(&kept_lock);
}

/* Returns a copy in f64 within zeros, of which each side has one row or column less than `margin`: a loop over the
 * elements that a kernel of that shape meets needs no test for the border. */
static struct matrix within_zeros(const struct matrix *matrix, const int64_t *margin)
{
    const int64_t down = margin[0] - 1, right = margin[1] - 1;
    struct matrix wide = matrix_create(FL_F64, matrix->shape[0] + 2 * down, matrix->shape[1] + 2 * right);
    for (int64_t i = 0; i < matrix->shape[0]; i++)
        for (int64_t j = 0; j < matrix->shape[1]; j++)
            matrix_set(&wide, i + down, j + right, matrix_get(matrix, i, j));
    return wide;
}

/* Both are in f64, because a dtype that each element asks for takes most of the time; the image lies within zeros. */
static void expected_element(struct expected *expected, const struct matrix *image, const struct matrix *kernel,
                             int64_t row, int64_t column, int64_t i)
{
    const int64_t rows = kernel->shape[0], columns = kernel->shape[1];
    long double sum = 0, magnitude = 0;
    for (int64_t p = 0; p < rows; p++) {
        const double *x = (const double *)image->data + (row - p + rows - 1) * image->shape[1] + column + columns - 1,
                     *factor = (const double *)kernel->data + p * columns;
        for (int64_t q = 0; q < columns; q++) {
            const long double term = (long double)x[-q] * factor[q];
            sum += term;
            magnitude += fabsl(term);
        }
    }
    expected->value[i] = (double)sum;
    expected->magnitude[i] = (double)magnitude;
}

struct expected expected_convolve(const struct matrix *image, const struct matrix *kernel, fl_mode mode)
{
    struct expected expected = {.terms = kernel->shape[0] * kernel->shape[1]};
    must(fl_convolve_shape(image->shape, kernel->shape, mode, expected.shape));
    bool swapped = mode == FL_VALID && (kernel->shape[0] > image->shape[0] || kernel->shape[1] > image->shape[1]);
    const struct matrix *smaller = swapped ? image : kernel, *larger = swapped ? kernel : image;
    size_t size = (size_t)(expected.shape[0] * expected.shape[1]);
    /* The magnitudes lie behind the values. */
    expected.value = calloc(2 * size, sizeof(double));
    expected.magnitude = expected.value + size;
    uint64_t key = hash_matrix(hash_matrix((uint64_t)mode, image), kernel);
    if (recall(key, expected.value, 2 * size * sizeof(double)))
        return expected;
    const int64_t no_zeros[] = {1, 1};
    struct matrix wide = within_zeros(larger, smaller->shape), factors = within_zeros(smaller, no_zeros);
    int64_t origin[2];
    for (int d = 0; d < 2; d++)
        origin[d] = mode == FL_FULL ? 0 : mode == FL_SAME ? (kernel->shape[d] - 1) / 2 : smaller->shape[d] - 1;
    for (int64_t i = 0; i < expected.shape[0]; i++)
        for (int64_t j = 0; j < expected.shape[1]; j++)
            expected_element(&expected, &wide, &factors, i + origin[0], j + origin[1], i * expected.shape[1] + j);
    matrix_free(&wide);
    matrix_free(&factors);
    remember(key, expected.value, 2 * size * sizeof(double));
    return expected;
}

void expected_free(struct expected *expected)
{
    free(expected->value);
}

/* A sum of n products in any order is wrong by at most n units of rounding of the sum over absolute values (Higham,
 * "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.1); the expected value, in f64, by as many
 * again, hence epsilon, which is two units. 16 more are granted to a kernel of rank one that was taken apart into its
 * factors, which are exact to 16 units. What is not finite must be the same; written so that a NaN fails. */
static bool element_near(const struct expected *expected, int64_t i, fl_dtype dtype, double got)
{
    double wanted = expected->value[i], epsilon = dtype == FL_F32 ? FLT_EPSILON : DBL_EPSILON;
    if (isnan(wanted))
        return isnan(got);
    if (isinf(wanted))
        return got == wanted;
    return fabs(got - wanted) <= (double)(expected->terms + 16) * epsilon * expected->magnitude[i] + expected->slack;
}

/* The first element that is not near, -1 when there is none. */
static int64_t first_not_near(const struct expected *expected, const struct matrix *got)
{
    for (int64_t i = 0; i < expected->shape[0] * expected->shape[1]; i++)
        if (!element_near(expected, i, got->dtype, matrix_get(got, 0, i)))
            return i;
    return -1;
}

bool is_near(const struct expected *expected, const struct matrix *got)
{
    return got->shape[0] == expected->shape[0] && got->shape[1] == expected->shape[1] &&
           first_not_near(expected, got) < 0;
}

void expect_near(const struct expected *expected, const struct matrix *got, const char *what, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    cr_assert(got->shape[0] == expected->shape[0] && got->shape[1] == expected->shape[1],
              "%s: expected shape %lldx%lld, got %lldx%lld", text, (long long)expected->shape[0],
              (long long)expected->shape[1], (long long)got->shape[0], (long long)got->shape[1]);
    int64_t i = first_not_near(expected, got);
    cr_expect(i < 0, "%s: [%lld, %lld]: expected %.17g, got %.17g, sum over absolute values %g", text,
              (long long)(i / expected->shape[1]), (long long)(i % expected->shape[1]), expected->value[i < 0 ? 0 : i],
              matrix_get(got, 0, i < 0 ? 0 : i), expected->magnitude[i < 0 ? 0 : i]);
}

/* -------------------------------------------------------------------------------------------------- the output ---- */

#define PATTERN 0xA5
#define MARGIN_FIRST 2

static size_t whole_bytes(const struct guarded *guarded)
{
    return (size_t)fl_array_size(guarded->whole) * fl_dtype_size(fl_array_dtype(guarded->whole));
}

struct guarded guarded_create(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, int64_t margin)
{
    struct guarded guarded = {.start = {0}};
    int64_t whole[FL_MAX_DIMS];
    size_t bytes = fl_dtype_size(dtype);
    for (int d = 0; d < ndim; d++) {
        guarded.start[d] = (d == 0 ? MARGIN_FIRST : 0) + (d == ndim - 1 ? margin : 0);
        whole[d] = shape[d] + 2 * guarded.start[d];
        bytes *= (size_t)whole[d];
    }
    void *pattern = malloc(bytes);
    memset(pattern, PATTERN, bytes);
    must(fl_array_from_host(device, dtype, ndim, whole, pattern, &guarded.whole));
    must(fl_array_view(guarded.whole, guarded.start, shape, &guarded.out));
    free(pattern);
    return guarded;
}

/* Whether those bytes still hold the pattern. */
static bool untouched(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != PATTERN)
            return false;
    return true;
}

/* Whether the row-th row of the whole, counted over all dimensions but the last, passes through the output. */
static bool crosses(const struct guarded *guarded, int64_t row)
{
    for (int d = fl_array_ndim(guarded->whole) - 2; d >= 0; d--) {
        int64_t at = row % fl_array_shape(guarded->whole, d) - guarded->start[d];
        if (at < 0 || at >= fl_array_shape(guarded->out, d))
            return false;
        row /= fl_array_shape(guarded->whole, d);
    }
    return true;
}

void guarded_copy(const struct guarded *guarded, void *data, const char *what)
{
    int last = fl_array_ndim(guarded->whole) - 1;
    size_t size = fl_dtype_size(fl_array_dtype(guarded->out));
    size_t pitch = (size_t)fl_array_shape(guarded->whole, last) * size;
    size_t left = (size_t)guarded->start[last] * size, width = (size_t)fl_array_shape(guarded->out, last) * size;
    unsigned char *bytes = malloc(whole_bytes(guarded) + 1), *to = data;
    must(fl_array_to_host(guarded->whole, bytes));
    for (int64_t row = 0; row < (int64_t)(whole_bytes(guarded) / (pitch ? pitch : 1)); row++) {
        const unsigned char *at = bytes + (size_t)row * pitch;
        bool inside = crosses(guarded, row);
        bool kept =
            inside ? untouched(at, left) && untouched(at + left + width, pitch - left - width) : untouched(at, pitch);
        cr_expect(kept, "%s: wrote beside the output, near row %lld of the whole", what, (long long)row);
        if (inside) {
            memcpy(to, at + left, width);
            to += width;
        }
    }
    free(bytes);
}

struct matrix guarded_read(const struct guarded *guarded, const char *what)
{
    struct matrix got =
        matrix_create(fl_array_dtype(guarded->out), fl_array_shape(guarded->out, 0), fl_array_shape(guarded->out, 1));
    guarded_copy(guarded, got.data, what);
    return got;
}

void expect_untouched(const struct guarded *guarded, const char *what)
{
    unsigned char *bytes = malloc(whole_bytes(guarded));
    must(fl_array_to_host(guarded->whole, bytes));
    cr_expect(untouched(bytes, whole_bytes(guarded)), "%s: a call that failed wrote to its output", what);
    free(bytes);
}

void guarded_free(struct guarded *guarded)
{
    fl_array_free(guarded->out);
    fl_array_free(guarded->whole);
}

/* "omp:2 tiled f32 17x9 * 3x5 same" */
static void describe(char *text, size_t size, fl_device *device, const struct matrix *image,
                     const struct matrix *kernel, fl_mode mode, const fl_run *run)
{
    static const char *const modes[] = {"full", "same", "valid"};
    snprintf(text, size, "%s %s %s %lldx%lld * %s %lldx%lld %s block %dx%d", fl_device_describe(device)->resource,
             run && run->variant ? run->variant : "auto", fl_dtype_name(image->dtype), (long long)image->shape[0],
             (long long)image->shape[1], fl_dtype_name(kernel->dtype), (long long)kernel->shape[0],
             (long long)kernel->shape[1], modes[mode], run ? run->block[0] : 0, run ? run->block[1] : 0);
}

/* The bound of the variant fft, from flynn.h, for a tile that holds the whole image. What is not finite is summed
 * directly. */
static double fft_slack(const struct matrix *image, const struct matrix *kernel, fl_dtype dtype)
{
    double squares[2] = {0}, log2_of_tile = 0;
    const struct matrix *const both[] = {image, kernel};
    for (int m = 0; m < 2; m++)
        for (int64_t i = 0; i < both[m]->shape[0] * both[m]->shape[1]; i++)
            if (isfinite(matrix_get(both[m], 0, i)))
                squares[m] += pow(matrix_get(both[m], 0, i), 2);
    /* In mode valid the larger one is the image. */
    for (int d = 0; d < 2; d++)
        log2_of_tile += log2(fmax(512, 4 * fmax((double)kernel->shape[d], (double)image->shape[d])));
    return 10 * (log2_of_tile + 2) * (dtype == FL_F32 ? FLT_EPSILON : DBL_EPSILON) * sqrt(squares[0]) *
           sqrt(squares[1]);
}

void check_convolve(fl_device *device, const struct matrix *image, const struct matrix *kernel, fl_mode mode,
                    const fl_run *run, const struct expected *expected)
{
    struct expected bounded = *expected;
    char what[160];
    describe(what, sizeof what, device, image, kernel, mode, run);
    fl_dtype dtype = image->dtype == FL_F32 && kernel->dtype == FL_F32 ? FL_F32 : FL_F64;
    /* Views for one half of the shapes, packed arrays for the other. */
    bool views = (image->shape[0] + kernel->shape[1]) % 2 == 0;
    fl_array *a = views ? array_inside(device, image) : array_from(device, image);
    fl_array *b = views ? array_inside(device, kernel) : array_from(device, kernel);
    struct guarded guarded = guarded_create(device, dtype, 2, expected->shape, views ? 5 : 0);
    fl_status status = fl_convolve(device, a, b, mode, guarded.out, run);
    status = status ? status : fl_device_wait(device);
    bool large = fmax(fmax((double)image->shape[0], (double)image->shape[1]),
                      fmax((double)kernel->shape[0], (double)kernel->shape[1])) > 192;
    bool missing = status == FL_E_UNAVAILABLE && large && lacks_fft(device); /* only large kernels need the library */
    cr_expect(status == FL_OK || missing, "%s: %s", what, fl_last_error());
    if (status == FL_OK) {
        struct matrix got = guarded_read(&guarded, what);
        if (run && run->variant && strcmp(run->variant, "fft") == 0)
            bounded.slack = fft_slack(image, kernel, dtype);
        expect_near(&bounded, &got, "%s", what);
        matrix_free(&got);
    }
    guarded_free(&guarded);
    fl_array_free(a);
    fl_array_free(b);
}

void threads_share_a_device(const char *resource, void *(*work)(void *worker))
{
    fl_device *device = open_device(resource);
    struct worker workers[4];
    pthread_t threads[COUNT(workers)];
    for (size_t i = 0; i < COUNT(workers); i++) {
        workers[i] = (struct worker){.device = device, .seed = i + 1};
        cr_assert(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (size_t i = 0; i < COUNT(workers); i++) {
        pthread_join(threads[i], NULL);
        cr_expect(workers[i].ok, "%s: thread %zu failed or got another's result", resource, i);
    }
    fl_device_close(device);
}

void for_each_golden(fl_device *device, const char *operation, int more_than,
                     void (*check)(fl_device *device, const char *name, bool flag, const char *mode))
{
    char path[512], line[128];
    snprintf(path, sizeof path, FLYNN_TEST_OPERATIONS "/%s/golden/manifest.txt", operation);
    FILE *manifest = fopen(path, "r");
    cr_assert(manifest != NULL);
    int cases = 0;
    while (fgets(line, sizeof line, manifest)) {
        if (line[0] == '#')
            continue;
        char *rest, *name = strtok_r(line, " \n", &rest), *flag = strtok_r(NULL, " \n", &rest), *mode;
        while ((mode = strtok_r(NULL, " \n", &rest)) != NULL) {
            check(device, name, flag[0] == '1', mode);
            cases++;
        }
    }
    fclose(manifest);
    cr_expect(cases > more_than, "the manifest has %d cases only", cases);
}
