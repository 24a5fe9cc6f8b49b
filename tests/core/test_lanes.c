/* SPDX-License-Identifier: MIT
 *
 * test_lanes.c - functions with loops over the lanes of vectors: which texts are written so, and why others are not;
 * random functions, whose results on simd and omp have the same bits as on serial, which compiles the text as it is.
 */
#include "../../core/src/text/lanes/lanes.h"
#include "harness.h"
#include "random_function.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 1000, INPUTS = 4 };

static const fl_dtype narrow[INPUTS] = {FL_I32, FL_F32, FL_U8, FL_I32}, wide[INPUTS] = {FL_I64, FL_F64, FL_U8, FL_F32};

/* Elements of each input, with the numbers at the edges among them. */
static fl_array *make_input(fl_device *device, fl_dtype dtype, uint64_t seed)
{
    static const double reals[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-40, 1e30, 0.5, -3.25, 1e7};
    static const int64_t wholes[] = {0, 1, -1, 2, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 255, 1 << 20};
    struct maker m = {.seed = seed};
    int64_t values[ELEMENTS], count = ELEMENTS;
    fl_array *array;
    for (int i = 0; i < ELEMENTS; i++) {
        const double real = below(&m, 4) == 0 ? reals[below(&m, COUNT(reals))] : below(&m, 20001) / 100.0 - 100;
        const int64_t whole = below(&m, 4) == 0 ? wholes[below(&m, COUNT(wholes))] : (int64_t)below(&m, 2001) - 1000;
        if (dtype == FL_F32)
            ((float *)values)[i] = (float)real;
        else if (dtype == FL_F64)
            ((double *)values)[i] = real;
        else if (dtype == FL_U8)
            ((uint8_t *)values)[i] = (uint8_t)whole;
        else if (dtype == FL_I32)
            ((int32_t *)values)[i] = (int32_t)whole;
        else
            values[i] = whole;
    }
    must(fl_array_from_host(device, dtype, 1, &count, values, &array));
    return array;
}

static fl_function *make(fl_device *device, const char *text)
{
    fl_function *f = NULL;
    fl_status status = fl_function_create(device, text, "text.c", NULL, 0, NULL, 0, &f);
    cr_assert(status == FL_OK, "%s\n%s", fl_last_error(), text);
    return f;
}

/* The function's results of the first elements, by the variant. */
static void compute(fl_device *device, const fl_function *f, const fl_array *const *in, int64_t count,
                    const char *variant, void *results)
{
    const fl_function_info *info = fl_function_describe(f);
    const fl_array *views[INPUTS];
    fl_array *part[INPUTS], *out;
    must(fl_array_create(device, info->result, 1, &count, &out));
    for (int i = 0; i < info->count; i++) {
        must(fl_array_view(in[i], (int64_t[]){0}, &count, &part[i]));
        views[i] = part[i];
    }
    must(fl_map(device, f, views, info->count, out, &(fl_run){.variant = variant}));
    must(fl_array_to_host(out, results));
    for (int i = 0; i < info->count; i++)
        fl_array_free(part[i]);
    fl_array_free(out);
}

static bool same_bits(fl_dtype dtype, const char *a, const char *b)
{
    const size_t size = fl_dtype_size(dtype);
    double x = 0, y = 0;
    if (dtype == FL_F32) {
        x = (double)*(const float *)(const void *)a;
        y = (double)*(const float *)(const void *)b;
    } else if (dtype == FL_F64) {
        x = *(const double *)(const void *)a;
        y = *(const double *)(const void *)b;
    }
    return memcmp(a, b, size) == 0 || (isnan(x) && isnan(y)); /* which NaN is not said */
}

/* Computes the first `counts[i]` elements on each processor backend, and compares them with the results of `serial`. */
static void compare(const char *text, const fl_dtype *inputs, const struct on *on, size_t backends)
{
    static const int64_t counts[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, ELEMENTS, 0};
    static int64_t wanted[ELEMENTS], got[ELEMENTS];
    for (size_t b = 0; b < backends + 1; b++) { /* the first is serial */
        fl_device *device = open_device(b == 0 ? "serial" : on[b - 1].resource);
        fl_function *f = make(device, text);
        const fl_function_info *info = fl_function_describe(f);
        const size_t size = fl_dtype_size(info->result);
        fl_array *in[INPUTS];
        for (int i = 0; i < info->count; i++)
            in[i] = make_input(device, inputs[i], (uint64_t)i + 1);
        if (b == 0)
            compute(device, f, (const fl_array *const *)in, ELEMENTS, "naive", wanted);
        for (size_t c = 0; b > 0 && c < COUNT(counts); c++) {
            compute(device, f, (const fl_array *const *)in, counts[c], c == 11 ? "uncoalesced" : "naive", got);
            for (int64_t i = 0; i < counts[c]; i++)
                cr_assert(same_bits(info->result, (char *)got + (size_t)i * size, (char *)wanted + (size_t)i * size),
                          "%s, element %lld of %lld: %g %llx, expected %g %llx\n%s", on[b - 1].resource, (long long)i,
                          (long long)counts[c], info->result == FL_F32 ? ((float *)got)[i] : ((double *)got)[i],
                          (unsigned long long)got[i],
                          info->result == FL_F32 ? ((float *)wanted)[i] : ((double *)wanted)[i],
                          (unsigned long long)wanted[i], text);
        }
        for (int i = 0; i < info->count; i++)
            fl_array_free(in[i]);
        fl_function_free(f);
        fl_device_close(device);
    }
}

/* Those of the instruction sets; threads take the same code. */
static size_t vector_backends(struct on *found)
{
    const struct on *all;
    const size_t count = every_backend(&all);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(all[i].resource, "simd:", 5) == 0 || strcmp(all[i].resource, "omp") == 0)
            found[kept++] = all[i];
    return kept;
}

static bool is_written(const char *text, core_text_error *why)
{
    core_lanes lanes;
    fl_status status = core_lanes_write(text, &lanes, why);
    cr_assert(status == FL_OK || status == FL_E_SOURCE);
    cr_assert((status == FL_OK) == (lanes.text != NULL));
    cr_assert(status != FL_OK || lanes.bytes == 4 || lanes.bytes == 8);
    free(lanes.text);
    return status == FL_OK;
}

/* A text over lanes that does not compile would not be noticed: the plugins then compile the function as it is. */
static void expect_compiles(const char *text)
{
    const char *source = getenv("FLYNN_SOURCE");
    char command[4096];
    core_text_error why;
    core_lanes lanes;
    FILE *cc;
    cr_assert(source && core_lanes_write(text, &lanes, &why) == FL_OK);
    snprintf(command, sizeof command,
             FLYNN_TEST_CC " -std=gnu11 -fsyntax-only -w -DV_LANES=4 -include %s/backends/shared/code_numbers.h"
                           " -include %s/backends/cpu/map_prelude.h -include %s/backends/shared/map_math.h"
                           " -include %s/backends/cpu/lanes_prelude.h -x c -",
             source, source, source, source);
    cc = popen(command, "w");
    cr_assert(cc && fputs(lanes.text, cc) >= 0);
    cr_expect(pclose(cc) == 0, "%s\n%s", text, lanes.text);
    free(lanes.text);
}

/* ------------------------------------------------------------------------------------------------ the texts ---- */

Test(lanes, texts_that_are_written)
{
    static const struct {
        const char *text;
        fl_dtype in[INPUTS];
    } cases[] = {
        {"int prime(int n) { if (n < 2) return 0; for (int d = 2; d < 46340 && d * d <= n; d++) if (n % d == 0) return "
         "0; return 1; "
         "}",
         {FL_I32}},
        {"static inline bool f(const long n) { long d = 2; while (true) { if (d * d > n) return n > 1; "
         "if (n % d++ == 0) return false; } }",
         {FL_I64}},
        {"long f(long a, long b) { while (b > 0) { const long t = a % b; a = b, b = t; } return a; }",
         {FL_I64, FL_I64}},
        {"unsigned int f(unsigned n) { unsigned s = 0; do { s += n % 10u; n /= 10; } while (n); return s; }", {FL_I64}},
        {"int f(float x) { int i; for (i = 0;; ++i, x *= 0.5f) { if (!(fabs(x) > 1) || i == 300) break; } return i; }",
         {FL_F32}},
        /* A break, a continue and a return of an inner loop; a name in two scopes; steps that `continue` must not skip.
         */
        {"int f(int n, uint8_t c) { int s = 0; for (int i = 0; i < c; i++) { int t = i; if (i % 3 == 1) continue; "
         "for (int i = 0; i < 9; i += 2) { if (i == n) break; if (i == t) continue; if (s > 400) return -s; s += i; } "
         "s += t; } return s; }",
         {FL_I32, FL_U8}},
        /* Both variables of a `for` end with it. */
        {"int f(int n) { int s = 0, k = 5; while (n > 1) { for (int i = 0, k = 9; i < k; i++) s += i; s += k; n /= 2; "
         "} "
         "return s + k; }",
         {FL_I32}},
        /* Quotients near whole numbers, at both ends of what f64 divides exactly. */
        {"long f(long n) { long q = 0, d = 3; for (int k = 0; k < 26 && (d < n || d < 9); k++, d *= 5) "
         "q += (n | 1) / d - n % (d - 1); return q; }",
         {FL_I64}},
    };
    struct on backends[32];
    const size_t count = vector_backends(backends);
    for (size_t i = 0; i < COUNT(cases); i++) {
        core_text_error why;
        const bool fine = is_written(cases[i].text, &why);
        if (i == 1) { /* an assignment within an expression */
            cr_expect(!fine);
            continue;
        }
        cr_assert(fine, "%d:%d: %s\n%s", why.line, why.column, why.what, cases[i].text);
        expect_compiles(cases[i].text);
        compare(cases[i].text, cases[i].in, backends, count);
    }
}

/* Texts that are not written over lanes: fl_function_lanes returns the place and the reason, which taxonomy prints. */
Test(lanes, texts_that_are_not)
{
    static const char *const cases[][2] = {
        {"int f(int n) { while (n > 1) { if (n == 7) goto end; n--; } end: return n; }",
         "1:44: not of the statements that the lanes have: 'goto'"},
        {"double f(double x) { while (x > 1) x = sin(x) * 2; return x; }", "1:40: not one of vectors: 'sin'"},
        {"int g(int n) { return n; }\nint f(int n) { while (n > 1) n = g(n) / 2; return n; }",
         "2:1: follows the one function: 'int'"},
        {"#define N 4\nint f(int n) { while (n > N) n /= 2; return n; }",
         "1:1: not the type of a function: '#define N 4'"},
        {"int f(int n) { int a[4] = {0}; while (n > 1) n /= 2; return n + a[0]; }", "1:21: not expected here: '['"},
        {"int f(int n) { while (n-- > 1) ; return n; }", "1:24: not expected here: '--'"},
        {"int f(int n) { int k; int m = k = 2; while (n > m) n /= 2; return n; }", "1:33: not expected here: '='"},
        {"int f(int n) { switch (n) { default: while (n > 1) n /= 2; } return n; }",
         "1:16: not of the statements that the lanes have: 'switch'"},
        {"long double f(int n) { while (n > 1) n /= 2; return n; }", "1:1: no type of the lanes: 'long'"},
        {"double f(double x) { while (x > 1.L) x /= 2; return x; }", "1:33: not known to the lanes: '1.L'"},
        {"float f(float x) { while (x > 1 % x) x /= 2; return x; }", "1:33: not of reals: '%'"},
        {"int f(int n) { while (n > m) n /= 2; return n; }", "1:27: not known to the lanes: 'm'"},
        {"int f(int n) { if (n < 9) { while (n > 1) n /= 2; } return n; }", "1:5: its loops stand within an 'if'"},
        {"int f(int n) { for (int k = 0; k < 9; k++) n += k; return n; }",
         "1:5: all its loops have the same length for each element"},
        {"int f(int n) { while (n > 1) n /= 2; return n", "1:46: not expected here: 'the end'"},
        {"", "1:1: not the type of a function: 'the end'"},
    };
    static char deep[4000] = "int f(int n) { while (n > ", *at = deep + 26;
    core_text_error why;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char found[300];
        cr_expect(!is_written(cases[i][0], &why), "%s", cases[i][0]);
        snprintf(found, sizeof found, "%d:%d: %s", why.line, why.column, why.what);
        cr_expect(strcmp(found, cases[i][1]) == 0, "%s\n%s", cases[i][0], found);
    }
    memset(at, '(', 3000);
    cr_expect(!is_written(deep, &why) && strstr(why.what, "too deep"), "%s", why.what);
    for (int i = 0; i < 3000; i += 4)
        memcpy(at + i, "1 + ", 4); /* too many nodes, in one row */
    cr_expect(!is_written(deep, &why));
}

/* FLYNN_TEST_FUNCTIONS=FIRST:END takes others. */
Test(lanes, random_functions, .timeout = 3600)
{
    static struct maker m;
    const char *range = getenv("FLYNN_TEST_FUNCTIONS");
    unsigned first = 1, end = is_small_test() ? 3 : 17;
    struct on backends[32];
    const size_t count = vector_backends(backends);
    if (range)
        cr_assert(sscanf(range, "%u:%u", &first, &end) == 2);
    for (unsigned seed = first; seed < end; seed++) {
        core_text_error why;
        make_function(&m, seed);
        cr_assert(is_written(m.text, &why), "%d:%d: %s\n%s", why.line, why.column, why.what, m.text);
        compare(m.text, m.wide ? wide : narrow, backends, count);
    }
}
