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
 *
 * This file has what the cases share, and main; the cases are in large_vectors.c, large_sums.c and
 * large_matrices.c.
 */
#include "large.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

fl_device *device;
int64_t elements, period, count;
char problem[600];

static const char *only; /* operation; NULL: all */
static int passed, refused, failed;
static fl_status problem_status;

/* ------------------------------------------------------------------------------------------------------ cases ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double started;

void case_begin(void)
{
    problem[0] = '\0';
    problem_status = FL_OK;
    started = now();
}

void case_wrong(const char *format, ...)
{
    va_list args;
    if (problem[0])
        return;
    va_start(args, format);
    vsnprintf(problem, sizeof problem, format, args);
    va_end(args);
}

bool done(fl_status status)
{
    if (status == FL_OK)
        return true;
    if (!problem[0])
        problem_status = status;
    case_wrong("%s: %s", fl_status_name(status), fl_last_error());
    return false;
}

void case_end(const char *operation, const char *variant, const char *dtype, int64_t n)
{
    bool refusal = problem_status == FL_E_LIMIT || problem_status == FL_E_MEMORY || problem_status == FL_E_UNSUPPORTED;
    const char *result = !problem[0] ? "ok" : refusal ? "refused" : "FAILED";
    printf("%-8s %-12s %-12s %-3s %11" PRId64 " elements %6.2f s%s%s\n", result, operation, variant, dtype, n,
           now() - started, problem[0] ? ": " : "", problem);
    fflush(stdout);
    *(!problem[0] ? &passed : refusal ? &refused : &failed) += 1;
}

/* ----------------------------------------------------------------------------------------------------- arrays ---- */

pattern pattern_create(fl_dtype dtype, int64_t rows, int64_t columns)
{
    pattern p = {dtype, rows, columns, NULL};
    if (fl_host_alloc(device, (size_t)(rows * columns) * fl_dtype_size(dtype), &p.data) != FL_OK) {
        fprintf(stderr, "large: %s\n", fl_last_error());
        exit(1);
    }
    return p;
}

void pattern_free(pattern *p)
{
    fl_host_free(device, p->data);
}

fl_array *create_array(fl_dtype dtype, int64_t rows, int64_t columns)
{
    fl_array *array = NULL;
    return done(fl_array_create(device, dtype, columns > 1 ? 2 : 1, (int64_t[]){rows, columns}, &array)) ? array : NULL;
}

bool write_rows(fl_array *array, int64_t start, int64_t rows, const void *from)
{
    fl_array *view = NULL;
    bool ok = done(fl_array_view(array, (int64_t[]){start, 0}, (int64_t[]){rows, fl_array_shape(array, 1)}, &view)) &&
              done(fl_array_write(view, from, NULL));
    fl_array_free(view);
    return ok;
}

fl_array *repeat(const pattern *p, int64_t rows)
{
    fl_array *array = create_array(p->dtype, rows, p->columns);
    for (int64_t at = 0; array && at < rows; at += p->rows)
        if (!write_rows(array, at, rows - at < p->rows ? rows - at : p->rows, p->data))
            break;
    done(fl_device_wait(device));
    return array;
}

void expect_array(const fl_array *got, const fl_array *expected, double tolerance)
{
    fl_closeness found;
    if (got && expected && !problem[0] && done(fl_allclose(device, got, expected, 0, tolerance, false, &found, NULL)) &&
        !found.close)
        case_wrong("%" PRId64 " elements differ, the worst is %" PRId64, found.differing, found.worst_index);
}

/* A part after the other: fl_allclose makes f64 of integers, and the case is not to need more memory for that. */
void expect(const fl_array *got, const pattern *p, double tolerance)
{
    const int64_t rows = problem[0] ? 0 : fl_array_shape(got, 0);
    const int64_t part = ((1 << 30) / (p->rows * p->columns) + 1) * p->rows;
    fl_array *expected = rows > 0 ? repeat(p, rows < part ? rows : part) : NULL;

    for (int64_t at = 0; at < rows && !problem[0]; at += part) {
        const int64_t start[] = {at, 0}, origin[] = {0, 0}, shape[] = {rows - at < part ? rows - at : part, p->columns};
        fl_array *here = NULL, *there = NULL;
        if (done(fl_array_view(got, start, shape, &here)) && done(fl_array_view(expected, origin, shape, &there)))
            expect_array(here, there, tolerance);
        fl_array_free(here);
        fl_array_free(there);
    }
    fl_array_free(expected);
}

/* ----------------------------------------------------------------------------------- arrays of one dimension ---- */

int64_t value(int64_t i, int64_t most)
{
    return i * 7919 % most;
}

pattern pattern_of(fl_dtype dtype, int64_t most)
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

const char *variant_of(const char *operation, fl_dtype dtype, size_t i)
{
    fl_variant_info info;
    for (size_t row = 0; fl_variant_get(device, row, &info) == FL_OK; row++)
        if (strcmp(info.operation, operation) == 0 && (info.dtypes & 1u << dtype) != 0 &&
            strcmp(info.variant, "reference") != 0 && i-- == 0)
            return info.variant;
    return NULL;
}

int64_t read_count(fl_array *array)
{
    int64_t n = -1;
    return done(fl_array_to_host(array, &n)) ? n : -1;
}

/* -------------------------------------------------------------------------------------------------------- main ---- */

bool wanted(const char *operation)
{
    return !only || strcmp(only, operation) == 0;
}

int main(int argc, char **argv)
{
    char *rest = "";

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
    test_vectors();
    test_sums();
    test_matrices();
    test_primes();
    fl_device_close(device);
    printf("large: %d ok, %d refused, %d failed\n", passed, refused, failed);
    return failed || passed + refused == 0 ? 1 : 0;
}
