/* SPDX-License-Identifier: MIT
 *
 * test_function_values.c - random expressions and functions of the user's: what each backend and the oracle compute for
 * them has the bits that the system's compiler gives the same text with <tgmath.h>.
 */
#include "harness.h"
#include "random_function.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ELEMENTS = 512, INPUTS = 4 };

/* Definitions before each text that this test compiles itself. A statement expression has the type of its value;
 * volatile, since GCC takes a <= 0 ? 0 - a : a for a number that is never negative. */
static const char before_text[] =
    "#include <limits.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <tgmath.h>\n"
    "#define abs(x) ({ __typeof__(+(x)) volatile a_ = (x), b_ = 0 - a_; a_ <= 0 ? b_ : a_; })\n"
    "#define max(x, y) ({ __typeof__((x) + (y)) a_ = (x), b_ = (y); a_ != a_ ? a_ : a_ > b_ ? a_ : b_; })\n"
    "#define min(x, y) ({ __typeof__((x) + (y)) a_ = (x), b_ = (y); a_ != a_ ? a_ : a_ < b_ ? a_ : b_; })\n";

static const char *const types[FL_DTYPE_COUNT] = {
    [FL_U8] = "uint8_t", [FL_I32] = "int32_t", [FL_I64] = "int64_t", [FL_F32] = "float", [FL_F64] = "double"};

typedef void (*loop)(const void *const *in, void *out, int count);

/* A function `f` of the text, called for each element. `handle` is to be closed. */
static loop compile(const char *text, const fl_dtype *inputs, int count, fl_dtype result, void **handle)
{
    char file[] = "/tmp/flynn-values-XXXXXX", command[512];
    const int made = mkstemp(file);
    FILE *cc;
    loop found;
    cr_assert(made >= 0);
    snprintf(command, sizeof command,
             FLYNN_TEST_CC
             " -std=gnu11 -O1 -fwrapv -fno-strict-aliasing -ffp-contract=off -w -shared -fPIC -o %s -x c - -lm",
             file);
    cc = popen(command, "w");
    cr_assert(cc &&
              fprintf(cc, "%s%s\nvoid each(const void *const *in, void *out, int count)\n{\n", before_text, text) > 0);
    fprintf(cc, "for (int i = 0; i < count; i++) ((%s *)out)[i] = f(", types[result]);
    for (int i = 0; i < count; i++)
        fprintf(cc, "%s((const %s *)in[%d])[i]", i ? ", " : "", types[inputs[i]], i);
    fprintf(cc, ");\n}\n");
    cr_assert(pclose(cc) == 0, "%s", text);
    *handle = dlopen(file, RTLD_NOW);
    cr_assert(*handle, "%s", dlerror());
    *(void **)&found = dlsym(*handle, "each");
    cr_assert(found);
    close(made);
    unlink(file);
    return found;
}

/* Random numbers with those at the edges among them. */
static void fill(void *values, fl_dtype dtype, uint64_t seed)
{
    static const double reals[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-40, 1e30, 0.5, -2.5, 1e7};
    static const int64_t wholes[] = {0, 1, -1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_C(5000000000), 255};
    struct maker m = {.seed = seed};
    for (int i = 0; i < ELEMENTS; i++) {
        const double real = below(&m, 4) == 0 ? reals[below(&m, COUNT(reals))] : below(&m, 20001) / 100.0 - 100;
        const int64_t whole = below(&m, 4) == 0 ? wholes[below(&m, COUNT(wholes))] : (int64_t)below(&m, 2001) - 1000;
        switch (dtype) {
        case FL_F32: ((float *)values)[i] = (float)real; break;
        case FL_F64: ((double *)values)[i] = real; break;
        case FL_U8: ((uint8_t *)values)[i] = (uint8_t)whole; break;
        case FL_I32: ((int32_t *)values)[i] = (int32_t)whole; break;
        default: ((int64_t *)values)[i] = whole;
        }
    }
}

static double real_of(fl_dtype dtype, const void *values, int i)
{
    return dtype == FL_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* Equal bits; or two NaNs, since C does not say which. */
static bool is_same(fl_dtype dtype, const void *a, const void *b, int i)
{
    const size_t size = fl_dtype_size(dtype);
    if (memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size, size) == 0)
        return true;
    return fl_dtype_is_float(dtype) && isnan(real_of(dtype, a, i)) && isnan(real_of(dtype, b, i));
}

/* A text, as fl_function_create takes it, and what its results are to be. */
struct text {
    const char *source, *shown_as;
    fl_dtype inputs[INPUTS], result;
    int count;
    bool is_expression;
    int64_t in[INPUTS][ELEMENTS], wanted[ELEMENTS];
};

/* `function` is what the compiler is given: the text, or a function `f` around the expression. */
static void expect(struct text *t, const char *function)
{
    const void *in[INPUTS];
    void *handle;
    for (int i = 0; i < t->count; i++) {
        fill(t->in[i], t->inputs[i], (uint64_t)i + 1);
        in[i] = t->in[i];
    }
    compile(function, t->inputs, t->count, t->result, &handle)(in, t->wanted, ELEMENTS);
    dlclose(handle);
}

static void compare(const struct text *t, const char *resource, const char *variant)
{
    static int64_t got[ELEMENTS];
    const int64_t elements = ELEMENTS;
    fl_device *device = open_device(resource);
    fl_array *in[INPUTS], *out;
    fl_function *f = NULL;
    fl_status status = fl_function_create(device, t->source, t->shown_as, t->is_expression ? t->inputs : NULL,
                                          t->is_expression ? t->count : 0, NULL, 0, &f);
    cr_assert(status == FL_OK, "%s: %s\n%s", resource, fl_last_error(), t->source);
    cr_assert(fl_function_describe(f)->result == t->result, "%s is computed in %s, expected %s", t->source,
              fl_dtype_name(fl_function_describe(f)->result), fl_dtype_name(t->result));
    for (int i = 0; i < t->count; i++)
        must(fl_array_from_host(device, t->inputs[i], 1, &elements, t->in[i], &in[i]));
    must(fl_array_create(device, t->result, 1, &elements, &out));
    must(fl_map(device, f, (const fl_array *const *)in, t->count, out, &(fl_run){.variant = variant}));
    must(fl_array_to_host(out, got));
    for (int i = 0; i < ELEMENTS; i++)
        cr_assert(is_same(t->result, got, t->wanted, i), "%s %s, element %d: %.17g %lld, expected %.17g %lld of %s\n%s",
                  resource, variant, i, fl_dtype_is_float(t->result) ? real_of(t->result, got, i) : 0,
                  (long long)got[i], fl_dtype_is_float(t->result) ? real_of(t->result, t->wanted, i) : 0,
                  (long long)t->wanted[i], t->shown_as, t->source);
    for (int i = 0; i < t->count; i++)
        fl_array_free(in[i]);
    fl_array_free(out);
    fl_function_free(f);
    fl_device_close(device);
}

/* On `serial`, by the oracle, and on one of the other backends, each in its turn. These may fuse products and sums of
 * reals, unless the result is an integer; so may `serial` where every processor of its kind can. */
static void compare_all(const struct text *t, unsigned turn)
{
    const struct on *all;
    const size_t count = every_backend(&all);
    const char *resource = all[turn % count].resource;
    const bool is_whole = !fl_dtype_is_float(t->result);
#if defined(__x86_64__)
    const bool fuses = strncmp(resource, "hip-cpu", 7) != 0;
    compare(t, "serial", "naive");
#else
    const bool fuses = true;
    if (is_whole)
        compare(t, "serial", "naive");
#endif
    compare(t, "serial", "reference");
    if (is_whole || !fuses)
        compare(t, resource, "auto");
}

/* FLYNN_TEST_FUNCTIONS=FIRST:END takes other numbers of random texts. */
static void numbers(unsigned *first, unsigned *end, unsigned usual)
{
    const char *range = getenv("FLYNN_TEST_FUNCTIONS");
    *first = 1;
    *end = is_small_test() ? 3 : 1 + usual;
    if (range)
        cr_assert(sscanf(range, "%u:%u", first, end) == 2);
}

Test(function_values, random_expressions, .timeout = 7200)
{
    static const struct {
        fl_dtype inputs[INPUTS], result;
    } kinds[] = {
        {{FL_F32, FL_F32, FL_F32, FL_F32}, FL_F32}, {{FL_I64, FL_I64, FL_I64, FL_I64}, FL_I64},
        {{FL_F64, FL_F64, FL_F64, FL_F64}, FL_F64}, {{FL_I32, FL_I32, FL_I32, FL_I32}, FL_I32},
        {{FL_U8, FL_U8, FL_U8, FL_U8}, FL_U8},      {{FL_F64, FL_F32, FL_I32, FL_U8}, FL_F64},
        {{FL_I32, FL_U8, FL_I64, FL_I32}, FL_I64},  {{FL_F32, FL_I32, FL_U8, FL_F32}, FL_F64},
    };
    static struct text t;
    static struct maker m;
    static char function[MOST_TEXT + 256];
    unsigned first, end;
    for (numbers(&first, &end, 16); first < end; first++) {
        const unsigned kind = first % COUNT(kinds);
        memcpy(t.inputs, kinds[kind].inputs, sizeof t.inputs);
        t.result = kinds[kind].result;
        t.count = INPUTS;
        make_expression(&m, first, t.result, t.count);
        t.source = m.text;
        t.shown_as = "expression";
        t.is_expression = true;
        const char *type = types[t.result];
        snprintf(function, sizeof function, "static %s f(%s x, %s y, %s z, %s w) { return (%s)(%s); }", type, type,
                 type, type, type, type, m.text);
        expect(&t, function);
        compare_all(&t, first);
    }
}

Test(function_values, random_functions, .timeout = 7200)
{
    static const fl_dtype narrow[INPUTS] = {FL_I32, FL_F32, FL_U8, FL_I32},
                          wide[INPUTS] = {FL_I64, FL_F64, FL_U8, FL_F32};
    static const struct {
        const char *type;
        fl_dtype dtype;
    } results[] = {{"float ", FL_F32}, {"double ", FL_F64}, {"long ", FL_I64},
                   {"int ", FL_I32},   {"bool ", FL_U8},    {"uint8_t ", FL_U8}};
    static struct text t;
    static struct maker m;
    unsigned first, end;
    for (numbers(&first, &end, 12); first < end; first++) {
        make_function_of_any_type(&m, first);
        memcpy(t.inputs, m.wide ? wide : narrow, sizeof t.inputs);
        for (size_t i = 0; i < COUNT(results); i++)
            if (strncmp(m.text, results[i].type, strlen(results[i].type)) == 0)
                t.result = results[i].dtype;
        t.count = INPUTS;
        t.source = m.text;
        t.shown_as = "text.c";
        expect(&t, m.text);
        compare_all(&t, first);
    }
}
