/* SPDX-License-Identifier: MIT
 *
 * test_map.c - functions of the user's: every variant on every backend that compiles, against NumPy (see
 * make_golden.py), the built-in operations and the definition; texts that are wrong; how long functions live.
 */
#include "harness.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A function in C; NULL: the device compiles none, which it says. */
static fl_function *function_in_c(fl_device *device, const char *text)
{
    fl_function *f = NULL;
    fl_status status = fl_function_create(device, text, "text.c", NULL, 0, NULL, 0, &f);
    if (is_gpu(device) && status == FL_E_UNSUPPORTED)
        return NULL;
    cr_assert(status == FL_OK, "%s", fl_last_error());
    return f;
}

static fl_function *function_of(fl_device *device, const char *expression, const fl_dtype *inputs, int count)
{
    fl_function *f = NULL;
    fl_status status = fl_function_create(device, expression, "expression", inputs, count, NULL, 0, &f);
    if (is_gpu(device) && status == FL_E_UNSUPPORTED)
        return NULL;
    cr_assert(status == FL_OK, "%s: %s", expression, fl_last_error());
    return f;
}

static fl_array *vector(fl_device *device, fl_dtype dtype, int64_t count, const void *data)
{
    fl_array *array;
    must(fl_array_from_host(device, dtype, 1, &count, data, &array));
    return array;
}

/* ------------------------------------------------------------------------------------------------------- NumPy ---- */

/* 8 units in the last place: two functions of libmvec, 4 each. A sum that cancels has those of its terms, which are
 * below 10; there are such sums in f64. Integers are equal: those of i64 are below 2^53, or NumPy's wrapped to the same
 * bits. */
static bool is_near_number(fl_dtype dtype, double got, double wanted)
{
    const double units = 8 * (dtype == FL_F32 ? 0x1p-23 : 0x1p-52);
    if (!fl_dtype_is_float(dtype) || isinf(wanted))
        return got == wanted;
    if (isnan(wanted))
        return isnan(got);
    return fabs(got - wanted) <= units * (fabs(wanted) + (dtype == FL_F64 ? 10 : 0));
}

static void check_case(fl_device *device, const char *name, const char *expression, int count)
{
    struct matrix inputs[4], wanted;
    fl_dtype dtypes[4];
    fl_array *in[4];
    const char *variant;
    char file[80];

    if (is_left_out(4))
        return;
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof file, "%s.%d", name, i);
        inputs[i] = matrix_golden("map", file);
        dtypes[i] = inputs[i].dtype;
        in[i] = i % 2 || dtypes[i] == FL_I64 ? array_from(device, &inputs[i])
                                             : array_inside(device, &inputs[i]); /* by way of double */
    }
    snprintf(file, sizeof file, "%s.out", name);
    wanted = matrix_golden("map", file);
    fl_function *f = function_of(device, expression, dtypes, count);
    for (size_t i = 0; f && (variant = variant_of(device, "map", wanted.dtype, i)) != NULL; i++) {
        fl_timing timing = {0};
        struct guarded out = guarded_create(device, wanted.dtype, 2, wanted.shape, (int64_t)(i % 2));
        must(fl_map(device, f, (const fl_array *const *)in, count, out.out,
                    &(fl_run){.variant = variant, .timing = &timing}));
        struct matrix got = guarded_read(&out, name);
        for (int64_t r = 0; r < wanted.shape[0]; r++)
            for (int64_t c = 0; c < wanted.shape[1]; c++)
                cr_assert(is_near_number(wanted.dtype, matrix_get(&got, r, c), matrix_get(&wanted, r, c)),
                          "%s %s, %s: [%lld, %lld] is %.17g, expected %.17g", variant, name, expression, (long long)r,
                          (long long)c, matrix_get(&got, r, c), matrix_get(&wanted, r, c));
        cr_expect(timing.bytes > 0 && timing.bytes_requested >= timing.bytes, "%s", name);
        matrix_free(&got);
        guarded_free(&out);
    }
    fl_function_free(f);
    matrix_free(&wanted);
    for (int i = 0; i < count; i++) {
        matrix_free(&inputs[i]);
        fl_array_free(in[i]);
    }
}

ON_EVERY_BACKEND(map, as_numpy)
{
    fl_device *device = open_device(on->resource);
    FILE *manifest = fopen(FLYNN_TEST_OPERATIONS "/map/golden/manifest.txt", "r");
    char name[64], expression[128];
    int count, cases = 0;
    cr_assert(manifest);
    while (fscanf(manifest, "%63s %d %127[^\n]", name, &count, expression) == 3) {
        check_case(device, name, expression, count);
        cases++;
    }
    fclose(manifest);
    cr_assert(cases > 20);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- built-ins ---- */

/* Functions of several numbers have all digits of f64. */
ON_EVERY_BACKEND(map, digits_of_f64)
{
    static const char *const expressions[] = {"fma(x, y, z)", "pow(x, y)", "hypot(x, y)"};
    const double x = 1 + 0x1p-40, y = 3 + 0x1p-40, z = -1;
    const double wanted[] = {fma(x, y, z), pow(x, y), hypot(x, y)};
    fl_device *device = open_device(on->resource);
    fl_array *in[] = {vector(device, FL_F64, 1, &x), vector(device, FL_F64, 1, &y), vector(device, FL_F64, 1, &z)},
             *out;
    double got;
    must(fl_array_create(device, FL_F64, 1, (int64_t[]){1}, &out));
    for (size_t e = 0; e < COUNT(expressions); e++) {
        const int count = e == 0 ? 3 : 2;
        fl_function *f = function_of(device, expressions[e], (fl_dtype[]){FL_F64, FL_F64, FL_F64}, count);
        if (!f)
            break;
        must(fl_map(device, f, (const fl_array *const *)in, count, out, NULL));
        must(fl_array_to_host(out, &got));
        cr_expect(fabs(got - wanted[e]) <= 1e-14, "%s: %s: %.17g, expected %.17g", on->resource, expressions[e], got,
                  wanted[e]);
        fl_function_free(f);
    }
    for (int i = 0; i < 3; i++)
        fl_array_free(in[i]);
    fl_array_free(out);
    fl_device_close(device);
}

/* The same bits as the operation that has the same loop. */
ON_EVERY_BACKEND(map, as_the_built_in_operations)
{
    enum { ELEMENTS = 50003 };
    static const char *const expressions[] = {"log(x + y)", "max(x, y)", "sqrt(x)", "x + 1"};
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_random(FL_F32, 1, ELEMENTS, 1), b = matrix_random(FL_F32, 1, ELEMENTS, 2);
    fl_array *in[] = {vector(device, FL_F32, ELEMENTS, a.data), vector(device, FL_F32, ELEMENTS, b.data)}, *out;
    float *got = malloc(ELEMENTS * sizeof *got), *wanted = malloc(ELEMENTS * sizeof *wanted);
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){ELEMENTS}, &out));
#if defined __SANITIZE_ADDRESS__ || defined __clang__
    const size_t begin = 1; /* log of the built-in is one of libm's then, and that of a vector has other last digits */
#else
    const size_t begin = 0;
#endif
    for (size_t e = begin; e < COUNT(expressions); e++) {
        const int count = e < 2 ? 2 : 1;
        fl_function *f = function_of(device, expressions[e], (fl_dtype[]){FL_F32, FL_F32}, count);
        if (!f)
            break;
        must(e == 0   ? fl_log_of_sum(device, in[0], in[1], out, NULL)
             : e == 1 ? fl_maximum(device, in[0], in[1], out, NULL)
             : e == 2 ? fl_sqrt(device, in[0], out, NULL)
                      : fl_increment(device, in[0], out, NULL));
        must(fl_array_to_host(out, wanted));
        must(fl_map(device, f, (const fl_array *const *)in, count, out, NULL));
        must(fl_array_to_host(out, got));
        cr_expect(memcmp(got, wanted, ELEMENTS * sizeof *got) == 0, "%s: %s", on->resource, expressions[e]);
        fl_function_free(f);
    }
    free(got);
    free(wanted);
    free_arrays(out, in[0], in[1]);
    matrix_free(&a);
    matrix_free(&b);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------- functions in C ---- */

ON_EVERY_BACKEND(map, primes_by_a_loop)
{
    enum { UPTO = 20011, PRIMES = 2263 }; /* pi(20011), of which 20011 itself is one more */
    static const char text[] =
        "bool prime(int n)\n{\n    if (n < 2)\n        return false;\n"
        "    for (int d = 2; d * d <= n; d++)\n        if (n % d == 0)\n            return false;\n"
        "    return true;\n}\n";
    fl_device *device = open_device(on->resource);
    fl_function *f = function_in_c(device, text);
    int32_t *numbers = malloc(UPTO * sizeof *numbers);
    uint8_t *is_prime = malloc(UPTO);
    int64_t *primes = malloc((size_t)fl_primes_bound(UPTO) * sizeof *primes), count, next = 0;
    fl_array *n, *out, *list, *found;
    if (!f)
        goto none;
    cr_expect(fl_function_describe(f)->loops && fl_function_describe(f)->result == FL_U8);
    for (int32_t i = 0; i < UPTO; i++)
        numbers[i] = i;
    n = vector(device, FL_I32, UPTO, numbers);
    must(fl_array_create(device, FL_U8, 1, (int64_t[]){UPTO}, &out));
    must(fl_map(device, f, (const fl_array *const *)&n, 1, out, NULL));
    must(fl_array_to_host(out, is_prime));
    must(fl_array_create(device, FL_I64, 1, (int64_t[]){fl_primes_bound(UPTO)}, &list));
    must(fl_array_create(device, FL_I64, 1, (int64_t[]){1}, &found));
    must(fl_primes(device, UPTO, list, found, NULL));
    must(fl_array_to_host(list, primes));
    must(fl_array_to_host(found, &count));
    for (int64_t i = 0; i < UPTO; i++) {
        const bool wanted = next < count && primes[next] == i;
        next += wanted;
        cr_assert(is_prime[i] == wanted, "%s: %lld", on->resource, (long long)i);
    }
    cr_expect(next == PRIMES - 1 || next == PRIMES, "%lld primes", (long long)next);
    free_arrays(n, out, list, found);
none:
    fl_function_free(f);
    free(numbers);
    free(is_prime);
    free(primes);
    fl_device_close(device);
}

/* On a GPU a function of floating-point numbers with loops gets a thread for each element. */
ON_EVERY_BACKEND(map, the_usual_variant)
{
    static const struct {
        const char *text, *variant;
        fl_dtype in;
    } cases[] = {
        {"float f(float x) { while (x > 1) x /= 2; return x; }", "naive", FL_F32},
        {"int f(double x) { int n = 0; while (x > 1) { x /= 2; n++; } return n; }", "naive", FL_F64},
        {"int f(int n) { while (n % 2 == 0 && n) n /= 2; return n; }", "vector", FL_I32},
        {"float f(long n) { while (n > 9) n /= 10; return n; }", "vector", FL_I64},
        {"float f(float x) { return x * 2; }", "vector", FL_F32},
        {"int f(int n) { return n * 2; }", "vector", FL_I32},
    };
    static const double zeros[100];
    fl_device *device = open_device(on->resource);
    for (size_t c = 0; c < COUNT(cases); c++) {
        fl_timing timing = {0};
        fl_array *x, *out;
        fl_function *f = function_in_c(device, cases[c].text);
        if (!f)
            break;
        x = vector(device, cases[c].in, COUNT(zeros), zeros);
        must(fl_array_create(device, fl_function_describe(f)->result, 1, (int64_t[]){COUNT(zeros)}, &out));
        must(fl_map(device, f, (const fl_array *const *)&x, 1, out, &(fl_run){.timing = &timing}));
        cr_expect_str_eq(timing.variant, is_gpu(device) ? cases[c].variant : "naive", "%s took %s: %s", on->resource,
                         timing.variant, cases[c].text);
        free_arrays(x, out);
        fl_function_free(f);
    }
    fl_device_close(device);
}

/* Parameters of each type, helpers, own names of the prelude's, comments, recursion, the includes that are accepted. */
ON_EVERY_BACKEND(map, a_text_in_c)
{
    static const char text[] = "#include <math.h>\n#include <stdint.h>\n#include <stdbool.h>\n"
                               "static int max(int a, int b) { return a > b ? a : b; } // not NumPy's\n"
                               "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
                               "static double scale = 2.5;\n"
                               "double f(int n, float x, uint8_t c, bool b, long l, double d) /* all of them */\n"
                               "{\n    return max(fib(n), 3) + x * c + (b ? l : -l) + fabs(d) * scale + sqrt(x);\n}\n";
    enum { N = 5 };
    const int32_t n[N] = {0, 1, 5, 10, 15};
    const float x[N] = {0.25f, 1, 4, 9, 2.25f};
    const uint8_t c[N] = {0, 255, 3, 7, 9}, b[N] = {0, 1, 1, 0, 7};
    const int64_t l[N] = {1, -5, INT64_C(1) << 40, 3, 9};
    const double d[N] = {-1, 2, 0.5, -0.25, 1e10};
    static const int64_t fibonacci[N] = {0, 1, 5, 55, 610};
    fl_device *device = open_device(on->resource);
    fl_function *f = function_in_c(device, text);
    fl_array *in[] = {vector(device, FL_I32, N, n), vector(device, FL_F32, N, x), vector(device, FL_U8, N, c),
                      vector(device, FL_U8, N, b),  vector(device, FL_I64, N, l), vector(device, FL_F64, N, d)},
             *out;
    double got[N];
    must(fl_array_create(device, FL_F64, 1, (int64_t[]){N}, &out));
    if (f) {
        must(fl_map(device, f, (const fl_array *const *)in, 6, out, NULL));
        must(fl_array_to_host(out, got));
    }
    for (int i = 0; f && i < N; i++) {
        const double wanted = (double)(fibonacci[i] > 3 ? fibonacci[i] : 3) + (double)(x[i] * c[i]) +
                              (double)(b[i] ? l[i] : -l[i]) + fabs(d[i]) * 2.5 + (double)sqrtf(x[i]);
        cr_expect(fabs(got[i] - wanted) <= 1e-6 * fabs(wanted), "%s: %d: %.17g, expected %.17g", on->resource, i,
                  got[i], wanted);
    }
    fl_function_free(f);
    fl_array_free(out);
    for (int i = 0; i < 6; i++)
        fl_array_free(in[i]);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- the shapes ---- */

/* Four dimensions, of which each input lacks others; in place; one element; none. */
ON_EVERY_BACKEND(map, broadcasting)
{
    const int64_t all[] = {3, 4, 5, 70}, a_shape[] = {4, 1, 70}, b_shape[] = {3, 1, 5, 1};
    fl_device *device = open_device(on->resource);
    fl_function *f = function_of(device, "x * 2 + y", (fl_dtype[]){FL_I32, FL_I32}, 2);
    struct matrix a = matrix_random(FL_I32, 1, 4 * 70, 1), b = matrix_random(FL_I32, 1, 3 * 5, 2);
    const int32_t *av = a.data, *bv = b.data;
    int32_t got[3 * 4 * 5 * 70];
    fl_array *in[2];
    const char *variant;
    must(fl_array_from_host(device, FL_I32, 3, a_shape, a.data, &in[0]));
    must(fl_array_from_host(device, FL_I32, 4, b_shape, b.data, &in[1]));
    for (size_t v = 0; f && (variant = variant_of(device, "map", FL_I32, v)) != NULL; v++)
        for (int64_t margin = 0; margin < 2; margin++) {
            struct guarded out = guarded_create(device, FL_I32, 4, all, margin);
            must(fl_map(device, f, (const fl_array *const *)in, 2, out.out, &(fl_run){.variant = variant}));
            guarded_copy(&out, got, variant);
            for (int64_t i = 0; i < 3 * 4 * 5 * 70; i++) {
                const int64_t l = i % 70, k = i / 70 % 5, j = i / 350 % 4, h = i / 1400;
                cr_assert(got[i] == av[j * 70 + l] * 2 + bv[h * 5 + k], "%s %s: %lld", on->resource, variant,
                          (long long)i);
            }
            guarded_free(&out);
        }
    for (int64_t n = 0; f && n < 2; n++) { /* in place */
        int32_t value = 5;
        fl_array *x = vector(device, FL_I32, n, &value);
        must(fl_map(device, f, (const fl_array *const[]){x, x}, 2, x, NULL));
        must(fl_array_to_host(x, &value));
        cr_expect(value == (n ? 15 : 5));
        fl_array_free(x);
    }
    fl_function_free(f);
    free_arrays(in[0], in[1]);
    matrix_free(&a);
    matrix_free(&b);
    fl_device_close(device);
}

Test(map, wrong_arguments)
{
    fl_device *device = open_device("serial"), *other = open_device("serial");
    const fl_dtype f32[] = {FL_F32, FL_F32, FL_F32, FL_F32, FL_F32};
    fl_function *f = function_of(device, "x + y", f32, 2);
    fl_array *x, *long_x, *i, *out, *foreign;
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){2, 3}, &x));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){2, 4}, &long_x));
    must(fl_array_create(device, FL_I32, 2, (int64_t[]){2, 3}, &i));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){2, 3}, &out));
    must(fl_array_create(other, FL_F32, 2, (int64_t[]){2, 3}, &foreign));
    const fl_array *good[] = {x, x}, *integers[] = {x, i}, *shapes[] = {x, long_x}, *null[] = {x, NULL},
                   *devices[] = {x, foreign};
    expect_status(FL_E_ARGUMENT, fl_map(NULL, f, good, 2, out, NULL));
    expect_status(FL_E_ARGUMENT, fl_map(device, NULL, good, 2, out, NULL));
    expect_status(FL_E_ARGUMENT, fl_map(device, f, NULL, 2, out, NULL));
    expect_status(FL_E_ARGUMENT, fl_map(device, f, good, 2, NULL, NULL));
    expect_status(FL_E_ARGUMENT, fl_map(device, f, null, 2, out, NULL));
    expect_argument_error(fl_map(device, f, good, 1, out, NULL), "count is 1; the function has 2 inputs");
    expect_argument_error(fl_map(device, f, integers, 2, out, NULL), "input 2 has dtype i32; the function takes f32");
    expect_argument_error(fl_map(device, f, shapes, 2, out, NULL),
                          "input 2 is 2x4, which does not broadcast to out's 2x3");
    expect_status(FL_E_ARGUMENT, fl_map(device, f, good, 2, i, NULL));
    expect_status(FL_E_WRONG_DEVICE, fl_map(device, f, devices, 2, out, NULL));
    expect_status(FL_E_WRONG_DEVICE, fl_map(other, f, good, 2, foreign, NULL));
    expect_status(FL_E_UNKNOWN, fl_map(device, f, good, 2, out, &(fl_run){.variant = "fast"}));
    fl_function *none = f;
    expect_status(FL_E_ARGUMENT, fl_function_create(NULL, "x", "e", f32, 1, NULL, 0, &none));
    expect_status(FL_E_ARGUMENT, fl_function_create(device, NULL, "e", f32, 1, NULL, 0, &none));
    cr_expect(none == NULL);
    expect_status(FL_E_ARGUMENT, fl_function_create(device, "x", NULL, f32, 1, NULL, 0, &none));
    expect_status(FL_E_ARGUMENT, fl_function_create(device, "x", "e", f32, 1, NULL, 0, NULL));
    expect_status(FL_E_ARGUMENT, fl_function_create(device, "x", "e", f32, 5, NULL, 0, &none));
    expect_status(FL_E_ARGUMENT, fl_function_create(device, "x", "e", NULL, 1, NULL, 0, &none));
    expect_status(FL_E_ARGUMENT, fl_function_create(device, "x", "e", (fl_dtype[]){(fl_dtype)9}, 1, NULL, 0, &none));
    expect_status(FL_E_ARGUMENT, fl_function_read("x", "e", f32, 1, NULL, 0, NULL));
    char lanes[64];
    const char *const loop = "int f(int n) { while (n > 9) n /= 10; return n; }";
    expect_status(FL_E_ARGUMENT, fl_function_lanes(loop, "e", NULL, 64));
    expect_status(FL_E_ARGUMENT, fl_function_lanes(loop, "e", lanes, 0));
    expect_status(FL_E_ARGUMENT, fl_function_lanes(NULL, "e", lanes, sizeof lanes));
    expect_status(FL_E_SOURCE, fl_function_lanes("int f(int n) { return (n; }", "e", lanes, sizeof lanes));
    expect_status(FL_E_UNSUPPORTED, fl_function_lanes("int f(int n) { return n; }", "e", lanes, sizeof lanes));
#if defined(__x86_64__)
    expect_error_says("e:1:1: without a loop");
    expect_status(FL_OK, fl_function_lanes(loop, "e", lanes, sizeof lanes));
    cr_expect(strncmp(lanes, "/* f for ", 9) == 0 && strlen(lanes) == sizeof lanes - 1, "%s", lanes);
#endif
    cr_expect(fl_function_describe(NULL) == NULL);
    fl_function_free(NULL);
    fl_function_free(f);
    free_arrays(x, long_x, i, out, foreign);
    fl_device_close(device);
    fl_device_close(other);
}

/* ------------------------------------------------------------------------------------------------- wrong texts ---- */

/* What the reader refuses is tested with it; these are what the compiler finds. */
Test(map, texts_that_do_not_compile)
{
    static const struct {
        const char *text, *message, *log;
    } wrong[] = {
        {"int f(int n)\n{\n    return m + 1;\n}\n", "t.c:3:12: ", "    return m + 1;\n           ^"},
        {"int f(int n)\n{\n\treturn n +;\n}\n", "t.c:3:12: ", "\treturn n +;\n\t          ^"},
        {"double f(double x)\n{\n    return sqroot(x);\n}\n", "t.c:3:12: ", "    return sqroot(x);\n           ^"},
        {"int f(int n) { return g.x; }", "t.c:1:23: ", "int f(int n) { return g.x; }\n                      ^"},
        {"int helper(int n);\nint f(int n)\n{\n    return n + helper(n);\n}\n",
         "t.c:4:16: 'helper' is used, and nothing here defines it", "    return n + helper(n);\n               ^"},
    };
    fl_device *device = open_device("serial");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char log[256] = "";
        fl_function *f;
        expect_status(FL_E_SOURCE, fl_function_create(device, wrong[i].text, "t.c", NULL, 0, log, sizeof log, &f));
        cr_expect(strncmp(fl_last_error(), wrong[i].message, strlen(wrong[i].message)) == 0, "%s", fl_last_error());
        cr_expect(strcmp(log, wrong[i].log) == 0, "%s", log);
        cr_expect(f == NULL);
    }
    fl_device_close(device);
}

/* Without a compiler: what to install. PATH's relative folders count for nothing. */
Test(map, no_compiler)
{
    fl_device *device = open_device("simd");
    const fl_dtype dtype = FL_F32;
    fl_function *f;
    setenv("PATH", "/nonexistent:.:bin", 1);
    expect_status(FL_E_UNAVAILABLE, fl_function_create(device, "x - 17", "e", &dtype, 1, NULL, 0, &f));
    expect_error_says("install gcc");
    setenv("FLYNN_CC", "relative/cc", 1);
    expect_status(FL_E_UNAVAILABLE, fl_function_create(device, "x - 17", "e", &dtype, 1, NULL, 0, &f));
    expect_error_says("FLYNN_CC");
    setenv("FLYNN_CC", "/bin/true", 1); /* makes nothing */
    expect_status(FL_E_MEMORY, fl_function_create(device, "x - 17", "e", &dtype, 1, NULL, 0, &f));
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------ the program's children ---- */

/* A text that compiles gives right results, and one that does not has its messages. */
static void compile_both(const char *while_program)
{
    fl_device *device = open_device("serial");
    const float three = 3;
    fl_array *x = vector(device, FL_F32, 1, &three);
    char log[256] = "";
    fl_function *f;
    float got = 0;
    fl_status status;

    setenv("FLYNN_CACHE", "off", 1); /* each is compiled */
    for (int round = 0; round < 10; round++) {
        status = fl_function_create(device, "int f(int n) { return m; }", "t.c", NULL, 0, log, sizeof log, &f);
        cr_assert(status == FL_E_SOURCE, "%s: %d, %s", while_program, status, fl_last_error());
        expect_error_says("t.c:1:23: 'm' is not known");
        cr_expect_str_eq(log, "int f(int n) { return m; }\n                      ^");
    }
    status = fl_function_create(device, "float f(float x) { return 7 * x; }", "t.c", NULL, 0, NULL, 0, &f);
    cr_assert(status == FL_OK, "%s: %d, %s", while_program, status, fl_last_error());
    must(fl_map(device, f, (const fl_array *const *)&x, 1, x, NULL));
    must(fl_array_to_host(x, &got));
    cr_expect(got == 21, "%s", while_program);
    fl_function_free(f);
    fl_array_free(x);
    setenv("FLYNN_CC", "/bin/false", 1);
    expect_status(FL_E_MEMORY, fl_function_create(device, "x", "t.c", &(fl_dtype){FL_F32}, 1, NULL, 0, &f));
    expect_error_says("the compiler fails: it prints nothing");
    fl_device_close(device);
}

Test(map, children_are_ignored)
{
    signal(SIGCHLD, SIG_IGN);
    compile_both("SIGCHLD is ignored");
}

static void reap_all(int number)
{
    const int before = errno;

    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = before;
}

Test(map, a_handler_waits_for_all_children)
{
    struct sigaction action = {.sa_handler = reap_all}; /* system calls are interrupted */
    sigaction(SIGCHLD, &action, NULL);
    compile_both("a handler waits for all children");
}

static void *wait_for_all(void *unused)
{
    for (;;)
        if (waitpid(-1, NULL, 0) < 0)
            usleep(100);
    return unused;
}

Test(map, a_thread_waits_for_all_children)
{
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, wait_for_all, NULL) == 0);
    compile_both("a thread waits for all children");
}

/* The files that the compiler gets are then 0, 1 and 2 themselves. */
Test(map, standard_streams_are_closed)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        fl_device *device = open_device("serial");
        const fl_dtype dtype = FL_F32;
        fl_function *f;
        setenv("FLYNN_CACHE", "off", 1);
        for (int closed = 0; closed < 3; closed++) {
            close(closed);
            if (fl_function_create(device, "x + 9", "e", &dtype, 1, NULL, 0, &f) != FL_OK)
                _exit(1 + closed);
            fl_function_free(f);
        }
        _exit(fl_function_create(device, "int f(int n) { return m; }", "e", NULL, 0, NULL, 0, &f) == FL_E_SOURCE ? 0
                                                                                                                 : 4);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", WEXITSTATUS(status));
}

/* ------------------------------------------------------------------------------ functions that do not return ---- */

/* What the function calls for -1, -2 ...: declarations of the C library's, or what gcc knows, also in C++. */
static const char *const endings[] = {"exit",  "_exit", "abort", "_Exit", "quick_exit", "pthread_exit",
                                      "raise", "kill",  "fork",  "execl", "syscall"};
static const char of_c[] = "void exit(int); void _exit(int); void abort(void); void _Exit(int); void quick_exit(int);\n"
                           "void pthread_exit(void *); int raise(int); int kill(int, int); int fork(void);\n"
                           "int execl(const char *, ...); long syscall(long, ...);\n"
                           "int early(int n)\n{\n    switch (n) {\n    case -1: exit(3);\n    case -2: _exit(3);\n"
                           "    case -3: abort();\n    case -4: _Exit(3);\n    case -5: quick_exit(3);\n"
                           "    case -6: pthread_exit(0);\n    case -7: raise(9);\n    case -8: kill(0, 9);\n"
                           "    case -9: fork();\n    case -10: execl(\"/bin/false\", 0);\n"
                           "    case -11: syscall(231, 3);\n    }\n    return n + 1;\n}\n",
                  of_gpu[] = "void exit(int);\nint early(int n) { if (n < 0) exit(3); return n + 1; }\n",
                  of_gcc[] = "int early(int n)\n{\n    switch (n) {\n    case -1: __builtin_exit(3);\n"
                             "    case -2: __builtin__exit(3);\n    case -3: __builtin_abort();\n    }\n"
                             "    return n + 1;\n}\n";

/* A call of what ends the program or a thread, or makes a second program, is an error of fl_map that names both. The
 * same function is right where it returns. A GPU's compiler does not know such functions. */
ON_EVERY_BACKEND(map, functions_that_end_the_program)
{
    enum { MANY = 100000, PLACE = 70000 };
    static int numbers[MANY], got[MANY];
    fl_device *device = open_device(on->resource);
    fl_function *f = NULL;
    fl_array *in, *out;
    const char *variant;
    const fl_status status =
        fl_function_create(device, is_gpu(device) ? of_gpu : of_c, "early.c", NULL, 0, NULL, 0, &f);
    if (is_gpu(device) && status == FL_E_SOURCE)
        expect_error_says("'exit' is used, and nothing here defines it");
    else if (!is_gpu(device) || status != FL_E_UNSUPPORTED)
        must(status);
    if (!f && fl_device_describe(device)->emulation)
        f = function_in_c(device, of_gcc);
    for (int i = 0; i < MANY; i++)
        numbers[i] = i;
    for (size_t i = 0; f && (variant = variant_of(device, "map", FL_I32, i)) != NULL; i++) {
        const fl_run run = {.variant = variant};
        for (int e = 0; e < (is_gpu(device) ? 3 : (int)COUNT(endings)); e++) {
            char says[80];
            numbers[PLACE] = -1 - e;
            in = vector(device, FL_I32, MANY, numbers);
            snprintf(says, sizeof says, "early calls %s instead of returning", endings[e]);
            must(fl_array_create(device, FL_I32, 1, (const int64_t[]){MANY}, &out));
            expect_status(FL_E_DEVICE, fl_map(device, f, (const fl_array *const *)&in, 1, out, &run));
            expect_error_says(says);
            free_arrays(in, out);
        }
        numbers[PLACE] = 0;
        in = vector(device, FL_I32, MANY, numbers);
        must(fl_map(device, f, (const fl_array *const *)&in, 1, in, &run));
        must(fl_array_to_host(in, got));
        for (int k = 0; k < MANY; k++)
            cr_assert(got[k] == numbers[k] + 1, "%s: [%d] is %d", variant, k, got[k]);
        fl_array_free(in);
    }
    fl_function_free(f);
    fl_device_close(device);
}

/* One thread's call that fails does not end another's, of the same text and so of the same loaded code. */
static void *use_ending(void *argument)
{
    struct worker *w = argument;
    static const int numbers[] = {1, 2, -1, 4};
    const int64_t count = w->seed % 2 ? 4 : 2;
    fl_function *f = function_in_c(w->device, of_c);
    fl_array *in = NULL, *out = NULL;
    w->ok = fl_array_from_host(w->device, FL_I32, 1, &count, numbers, &in) == FL_OK &&
            fl_array_create(w->device, FL_I32, 1, &count, &out) == FL_OK;
    for (int round = 0; round < 200 && w->ok; round++) {
        int got[4];
        w->ok =
            fl_map(w->device, f, (const fl_array *const *)&in, 1, out, NULL) == (count == 4 ? FL_E_DEVICE : FL_OK) &&
            fl_array_to_host(out, got) == FL_OK && (count == 4 || (got[0] == 2 && got[1] == 3));
    }
    fl_function_free(f);
    free_arrays(in, out);
    return NULL;
}

Test(map, one_threads_function_ends)
{
    threads_share_a_device("serial", use_ending);
}

/* -------------------------------------------------------------------------------------------------- lifetimes ---- */

Test(map, outlives_the_device)
{
    fl_device *device = open_device("serial");
    fl_function *f = function_in_c(device, "float twice(float x) { return 2 * x; }");
    const float three = 3;
    fl_array *x = vector(device, FL_F32, 1, &three);
    float got;
    fl_device_close(device);
    must(fl_map(fl_array_device(x), f, (const fl_array *const *)&x, 1, x, NULL));
    must(fl_array_to_host(x, &got));
    cr_expect(got == 6 && strcmp(fl_function_describe(f)->name, "twice") == 0);
    fl_function_free(f);
    fl_array_free(x);
}

/* Each compiles the same text, from the same cache, and runs it, the oracle included. */
static void *use(void *argument)
{
    struct worker *w = argument;
    w->ok = true;
    for (int round = 0; round < 5 && w->ok; round++) {
        fl_function *f;
        const double x = (double)w->seed;
        fl_array *in = NULL, *out = NULL;
        double got = 0;
        w->ok = fl_function_create(w->device, "double f(double x) { return x * x + 1; }", "f.c", NULL, 0, NULL, 0,
                                   &f) == FL_OK &&
                fl_array_from_host(w->device, FL_F64, 1, (int64_t[]){1}, &x, &in) == FL_OK &&
                fl_array_create(w->device, FL_F64, 1, (int64_t[]){1}, &out) == FL_OK &&
                fl_map(w->device, f, (const fl_array *const *)&in, 1, out,
                       &(fl_run){.variant = round % 2 ? "naive" : "reference"}) == FL_OK &&
                fl_array_to_host(out, &got) == FL_OK && got == x * x + 1;
        fl_function_free(f);
        free_arrays(in, out);
    }
    return NULL;
}

Test(map, threads_compile_at_once)
{
    threads_share_a_device("serial", use);
}
