/* SPDX-License-Identifier: MIT
 *
 * test_map_types.c - what a function of the user's has without #include: abs, max and min of each of C's types, the
 * functions of math.h, and names that it may define itself; by every variant on every backend, the oracle among them.
 */
#include "harness.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- C's arithmetic ---- */

__extension__ typedef __int128 wide_int; /* holds every number of every type */

struct type {
    const char *name;
    int bits;
    bool is_signed;
};
static const struct type types[] = {
    {"bool", 1, false},  {"char", 8, CHAR_MIN < 0},     {"signed char", 8, true}, {"unsigned char", 8, false},
    {"short", 16, true}, {"unsigned short", 16, false}, {"int", 32, true},        {"unsigned", 32, false},
    {"long", 64, true},  {"unsigned long", 64, false},  {"long long", 64, true},  {"unsigned long long", 64, false},
};
enum { TYPES = COUNT(types), PAIRS = TYPES * TYPES, FUNCTIONS = TYPES + 2 * PAIRS };

static wide_int converted(struct type to, wide_int value)
{
    const wide_int range = (wide_int)1 << to.bits;
    if (to.bits == 1)
        return value != 0;
    value &= range - 1;
    return to.is_signed && value >= range / 2 ? value - range : value;
}

static struct type promoted(struct type of)
{
    return of.bits < 32 ? (struct type){"int", 32, true} : of;
}

/* C's usual arithmetic conversions (C11, 6.3.1.8). */
static struct type common(struct type a, struct type b)
{
    a = promoted(a);
    b = promoted(b);
    if (a.bits != b.bits)
        return a.bits > b.bits ? a : b;
    return a.is_signed ? b : a;
}

/* f(which, a, b) of the text below. */
static int64_t wanted(int which, int64_t a, int64_t b)
{
    const bool is_abs = which < TYPES, is_max = which < TYPES + PAIRS;
    const int pair = (which - TYPES) % PAIRS;
    const struct type of_a = types[is_abs ? which : pair / TYPES], of_b = types[is_abs ? which : pair % TYPES],
                      both = common(of_a, of_b);
    const wide_int x = converted(both, converted(of_a, a)), y = converted(both, converted(of_b, b));
    return (int64_t)converted(types[8], is_abs ? converted(both, x < 0 ? -x : x) : (is_max ? x > y : x < y) ? x : y);
}

static void write_text(char *text, size_t size)
{
    FILE *to = fmemopen(text, size, "w");
    cr_assert(to);
    fprintf(to, "long f(int which, long a, long b)\n{\n    switch (which) {\n");
    for (int which = 0; which < FUNCTIONS; which++) {
        const int pair = (which - TYPES) % PAIRS;
        if (which < TYPES)
            fprintf(to, "    case %d: return abs((%s)a);\n", which, types[which].name);
        else
            fprintf(to, "    case %d: return %s((%s)a, (%s)b);\n", which, which < TYPES + PAIRS ? "max" : "min",
                    types[pair / TYPES].name, types[pair % TYPES].name);
    }
    fprintf(to, "    }\n    return 0;\n}\n");
    cr_assert(fclose(to) == 0);
}

ON_EVERY_BACKEND(map_types, abs_max_and_min)
{
    static const int64_t values[] = {0,         1,          -1,
                                     200,       -200,       INT32_MAX,
                                     INT32_MIN, UINT32_MAX, INT64_C(1) << 32,
                                     INT64_MAX, INT64_MIN,  -INT64_C(5000000000)};
    enum { VALUES = COUNT(values), ELEMENTS = FUNCTIONS * VALUES * VALUES };
    static int32_t which[ELEMENTS];
    static int64_t a[ELEMENTS], b[ELEMENTS], got[ELEMENTS];
    static char text[32 << 10];
    const int64_t count = ELEMENTS;
    fl_device *device = open_device(on->resource);
    fl_array *in[3], *out;
    fl_function *f = NULL;
    const char *variant;
    write_text(text, sizeof text);
    for (int i = 0; i < ELEMENTS; i++) {
        which[i] = i / (VALUES * VALUES);
        a[i] = values[i / VALUES % VALUES];
        b[i] = values[i % VALUES];
    }
    must(fl_array_from_host(device, FL_I32, 1, &count, which, &in[0]));
    must(fl_array_from_host(device, FL_I64, 1, &count, a, &in[1]));
    must(fl_array_from_host(device, FL_I64, 1, &count, b, &in[2]));
    must(fl_array_create(device, FL_I64, 1, &count, &out));
    fl_status status = fl_function_create(device, text, "text.c", NULL, 0, NULL, 0, &f);
    cr_assert(status == FL_OK || (is_gpu(device) && status == FL_E_UNSUPPORTED), "%s", fl_last_error());
    for (size_t v = 0; f && (variant = variant_of(device, "map", FL_I64, v)) != NULL; v++) {
        must(fl_map(device, f, (const fl_array *const *)in, 3, out, &(fl_run){.variant = variant}));
        must(fl_array_to_host(out, got));
        for (int i = 0; i < ELEMENTS; i++)
            cr_assert(got[i] == wanted(which[i], a[i], b[i]), "%s %s: f(%d, %lld, %lld) is %lld, expected %lld",
                      on->resource, variant, which[i], (long long)a[i], (long long)b[i], (long long)got[i],
                      (long long)wanted(which[i], a[i], b[i]));
    }
    fl_function_free(f);
    free_arrays(in[0], in[1], in[2], out);
    fl_device_close(device);
}

/* abs of the lowest integer is that integer, also where it is compared: compilers may take abs for never negative. */
ON_EVERY_BACKEND(map_types, abs_is_compared)
{
    enum { COMPARED = 9, VALUES = 6, ELEMENTS = COMPARED * VALUES };
    static const char text[] = "int f(int which, long a)\n{\n    switch (which) {\n"
                               "    case 0: return 2147483645L > abs(a);\n    case 1: return abs(a) < 0;\n"
                               "    case 2: return abs(a) >= 1;\n    case 3: return 5 > abs((int)a);\n"
                               "    case 4: return abs((int)a) < 0;\n    case 5: return abs((int)a) >= 1;\n"
                               "    case 6: return 2147483645LL > abs((long long)a);\n"
                               "    case 7: return abs((long long)a) < 0;\n"
                               "    case 8: return abs((long long)a) >= 1;\n    }\n    return 0;\n}\n";
    static const int64_t values[VALUES] = {INT64_MIN, INT64_MAX, INT32_MIN, -1, 0, 7};
    static const struct type of[3] = {{"long", 64, true}, {"int", 32, true}, {"long long", 64, true}};
    int32_t which[ELEMENTS], got[ELEMENTS];
    int64_t a[ELEMENTS];
    const int64_t count = ELEMENTS;
    fl_device *device = open_device(on->resource);
    fl_array *in[2], *out;
    fl_function *f = NULL;
    const char *variant;
    for (int i = 0; i < ELEMENTS; i++) {
        which[i] = i / VALUES;
        a[i] = values[i % VALUES];
    }
    must(fl_array_from_host(device, FL_I32, 1, &count, which, &in[0]));
    must(fl_array_from_host(device, FL_I64, 1, &count, a, &in[1]));
    must(fl_array_create(device, FL_I32, 1, &count, &out));
    fl_status status = fl_function_create(device, text, "text.c", NULL, 0, NULL, 0, &f);
    cr_assert(status == FL_OK || (is_gpu(device) && status == FL_E_UNSUPPORTED), "%s", fl_last_error());
    for (size_t v = 0; f && (variant = variant_of(device, "map", FL_I32, v)) != NULL; v++) {
        must(fl_map(device, f, (const fl_array *const *)in, 2, out, &(fl_run){.variant = variant}));
        must(fl_array_to_host(out, got));
        for (int i = 0; i < ELEMENTS; i++) {
            const struct type t = of[which[i] / 3];
            const wide_int x = converted(t, a[i]), abs_of = converted(t, x < 0 ? -x : x);
            const bool right = which[i] % 3 == 0   ? abs_of < (t.bits == 32 ? 5 : 2147483645)
                               : which[i] % 3 == 1 ? abs_of < 0
                                                   : abs_of >= 1;
            cr_assert(got[i] == right, "%s %s: case %d of %lld is %d, expected %d", on->resource, variant, which[i],
                      (long long)a[i], got[i], right);
        }
    }
    fl_function_free(f);
    free_arrays(in[0], in[1], out);
    fl_device_close(device);
}

/* ---------------------------------------------------------------------------------------------------- math.h ---- */

#define ONE(F) \
    F(acos) \
    F(acosh) \
    F(asin) \
    F(asinh) F(atan) F(atanh) F(cbrt) F(ceil) F(cos) F(cosh) F(erf) F(erfc) F(exp) F(exp2) F(expm1) F(fabs) F(floor) \
        F(ilogb) F(lgamma) F(llrint) F(llround) F(log) F(log10) F(log1p) F(log2) F(logb) F(lrint) F(lround) \
            F(nearbyint) F(rint) F(round) F(sin) F(sinh) F(sqrt) F(tan) F(tanh) F(tgamma) F(trunc)
#define TWO(F) F(atan2) F(copysign) F(fdim) F(fmax) F(fmin) F(fmod) F(hypot) F(nextafter) F(pow) F(remainder)

struct function {
    const char *name;
    bool of_two;
    double (*of_f64)(double, double);
    float (*of_f32)(float, float);
};

#define CALL_ONE(name) \
    static double name##_f64(double x, double y) \
    { \
        return (void)y, (double)name(x); \
    } \
    static float name##_f32(float x, float y) \
    { \
        return (void)y, (float)name##f(x); \
    }
#define CALL_TWO(name) \
    static double name##_f64(double x, double y) \
    { \
        return name(x, y); \
    } \
    static float name##_f32(float x, float y) \
    { \
        return name##f(x, y); \
    }
#define ROW_ONE(name) {#name, false, name##_f64, name##_f32},
#define ROW_TWO(name) {#name, true, name##_f64, name##_f32},
/* clang-format off */
ONE(CALL_ONE) TWO(CALL_TWO)
static const struct function functions[] = {ONE(ROW_ONE) TWO(ROW_TWO)};
/* clang-format on */

/* f(which, x, y); `suffix` is "f" for the names of float's functions. */
static void write_functions(char *text, size_t size, const char *type, const char *suffix)
{
    FILE *to = fmemopen(text, size, "w");
    cr_assert(to);
    fprintf(to, "%s f(int which, %s x, %s y)\n{\n    switch (which) {\n", type, type, type);
    for (size_t i = 0; i < COUNT(functions); i++)
        fprintf(to, "    case %zu: return %s%s(x%s);\n", i, functions[i].name, suffix,
                functions[i].of_two ? ", y" : "");
    fprintf(to, "    }\n    return 0;\n}\n");
    cr_assert(fclose(to) == 0);
}

/* A GPU's functions have up to 10 units in the last place (tgamma of f64, by NVIDIA's tables); glibc's vectors 4. */
static bool is_close(fl_dtype dtype, double got, double exact)
{
    const double units = 16 * (dtype == FL_F32 ? 0x1p-23 : 0x1p-52), least = dtype == FL_F32 ? 0x1p-126 : 0x1p-1022;
    return isnan(exact) ? isnan(got) : got == exact || fabs(got - exact) <= units * fmax(fabs(exact), least);
}

static void check_functions(fl_device *device, const char *resource, fl_dtype dtype, const char *suffix)
{
    static const double points[][2] = {{0.25, 0.5}, {1.5, -2.25}, {-0.75, 3}, {7.5, 2}, {40, 0.3}, {-2.5, -1.5}};
    enum { ELEMENTS = COUNT(functions) * COUNT(points) };
    const int64_t count = ELEMENTS;
    char text[4096];
    int32_t which[ELEMENTS];
    double x[ELEMENTS], y[ELEMENTS], got[ELEMENTS];
    fl_array *in[3], *out;
    fl_function *f = NULL;
    const char *variant;
    write_functions(text, sizeof text, dtype == FL_F32 ? "float" : "double", suffix);
    for (int i = 0; i < ELEMENTS; i++) {
        which[i] = i / (int)COUNT(points);
        x[i] = points[i % (int)COUNT(points)][0];
        y[i] = points[i % (int)COUNT(points)][1];
        if (dtype == FL_F32) {
            ((float *)x)[i] = (float)points[i % (int)COUNT(points)][0];
            ((float *)y)[i] = (float)points[i % (int)COUNT(points)][1];
        }
    }
    fl_status status = fl_function_create(device, text, "text.c", NULL, 0, NULL, 0, &f);
    cr_assert(status == FL_OK || (is_gpu(device) && status == FL_E_UNSUPPORTED), "%s", fl_last_error());
    must(fl_array_from_host(device, FL_I32, 1, &count, which, &in[0]));
    must(fl_array_from_host(device, dtype, 1, &count, x, &in[1]));
    must(fl_array_from_host(device, dtype, 1, &count, y, &in[2]));
    must(fl_array_create(device, dtype, 1, &count, &out));
    for (size_t v = 0; f && (variant = variant_of(device, "map", dtype, v)) != NULL; v++) {
        must(fl_map(device, f, (const fl_array *const *)in, 3, out, &(fl_run){.variant = variant}));
        must(fl_array_to_host(out, got));
        for (int i = 0; i < ELEMENTS; i++) {
            const struct function *of = &functions[which[i]];
            const double *point = points[i % (int)COUNT(points)];
            const double value = dtype == FL_F32 ? (double)((float *)got)[i] : got[i];
            const double exact =
                dtype == FL_F32 ? (double)of->of_f32((float)point[0], (float)point[1]) : of->of_f64(point[0], point[1]);
            cr_assert(is_close(dtype, value, exact), "%s %s: %s%s(%g, %g) is %.17g, expected %.17g", resource, variant,
                      of->name, suffix, point[0], point[1], value, exact);
        }
    }
    fl_function_free(f);
    free_arrays(in[0], in[1], in[2], out);
}

ON_EVERY_BACKEND(map_types, functions_of_math_h)
{
    fl_device *device = open_device(on->resource);
    check_functions(device, on->resource, FL_F64, "");
    check_functions(device, on->resource, FL_F32, "");
    check_functions(device, on->resource, FL_F32, "f");
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------------- its own names ---- */

/* Names that C's headers have and a text has not. */
ON_EVERY_BACKEND(map_types, own_names)
{
    static const char text[] =
        "static double frexp(double x) { return x + 1; }\n"
        "static float scalbnf(float x) { return x * 2; }\n"
        "static int y0(int n) { return n + 3; }\n"
        "static double nan(double x) { return -x; }\n"
        "static double gamma(double x) { return x / 2; }\n"
        "static int isnormal(int n) { return n * 3; }\n"
        "enum { FP_NAN = 7, PATH_MAX = 11 };\n"
        "static const int signgam = 13;\n"
        "double f(double x)\n{\n    const double y1 = 17, float_t = 19;\n"
        "    return frexp(x) + scalbnf(0.5f) + y0(2) + nan(x) + gamma(x) + isnormal(5) + FP_NAN\n"
        "        + PATH_MAX + signgam + y1 + float_t;\n}\n";
    const double x = 4, right = 5 + 1 + 5 - 4 + 2 + 15 + 7 + 11 + 13 + 17 + 19;
    const int64_t one = 1;
    fl_device *device = open_device(on->resource);
    fl_function *f = NULL;
    fl_array *in, *out;
    const char *variant;
    double got;
    fl_status status = fl_function_create(device, text, "text.c", NULL, 0, NULL, 0, &f);
    cr_assert(status == FL_OK || (is_gpu(device) && status == FL_E_UNSUPPORTED), "%s", fl_last_error());
    must(fl_array_from_host(device, FL_F64, 1, &one, &x, &in));
    must(fl_array_create(device, FL_F64, 1, &one, &out));
    for (size_t v = 0; f && (variant = variant_of(device, "map", FL_F64, v)) != NULL; v++) {
        must(fl_map(device, f, (const fl_array *const *)&in, 1, out, &(fl_run){.variant = variant}));
        must(fl_array_to_host(out, &got));
        cr_expect(got == right, "%s %s: %g, expected %g", on->resource, variant, got, right);
    }
    fl_function_free(f);
    free_arrays(in, out);
    fl_device_close(device);
}
