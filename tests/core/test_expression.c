/* SPDX-License-Identifier: MIT
 *
 * test_expression.c - expressions as functions: the type computed in, the line that a compiler reads and its columns,
 * the place and cause of each mistake; what is accepted compiles.
 */
#include "../../core/src/text/function/expression.h"
#include "../../core/src/text/language/math_functions.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* "ff": two inputs of f32; u, i, l, f, d as u8, i32, i64, f32, f64. */
static int dtypes_of(const char *letters, fl_dtype inputs[FL_MAX_EXPRESSION_INPUTS])
{
    static const char known[] = "uilfd";
    int count = 0;

    for (; letters[count]; count++)
        inputs[count] = (fl_dtype)(strchr(known, letters[count]) - known);
    return count;
}

static fl_status read_it(const char *letters, const char *text, core_signature *s, char **function,
                         core_text_error *error)
{
    fl_dtype inputs[FL_MAX_EXPRESSION_INPUTS];
    const int count = dtypes_of(letters, inputs);

    return core_expression_read(text, inputs, count, s, function, error);
}

/* The user's lines in a function. */
static const char *line_of(const char *function)
{
    static char line[512];
    const char *begin = strstr(function, "\n#line 1\n") + strlen("\n#line 1\n");

    snprintf(line, sizeof line, "%.*s", (int)(strstr(begin, "\n);\n}\n") - begin), begin);
    return line;
}

struct accepted {
    const char *inputs, *text;
    fl_dtype result;
    const char *line;
};

static const struct accepted accepted[] = {
    {"f", "x", FL_F32, "x"},
    {"ff", "log(x + y)", FL_F32, "logf(x + y)"},
    {"dd", "log(x + y)", FL_F64, "log(x + y)"},
    {"fd", "log(x + y)", FL_F64, "log(x + y)"},
    {"ii", "log(x + y)", FL_F64, "log(x + y)"},
    {"f", "x > 0 ? sqrt(x) * 2 : 0.5", FL_F32, "x > 0 ? sqrtf(x) * 2 : 0.5f"},
    {"d", "x > 0 ? sqrt(x) * 2 : 0.5", FL_F64, "x > 0 ? sqrt(x) * 2 : 0.5"},
    {"f", "0.5f + .5 + 5. + 1e3 + 1E-3F + 0x1p-3 + 0x1.8p+3f", FL_F32,
     "0.5f + .5f + 5.f + 1e3f + 1E-3F + 0x1p-3f + 0x1.8p+3f"},
    {"f", "pow(x, 2) * M_PI", FL_F32, "powf(x, 2) * M_PI"},
    {"f", "sqrt((double)x) + logf(x)", FL_F32, "sqrt((double)x) + logf(x)"},
    {"f", "sqrt(max(x, 0.5))", FL_F32, "sqrtf(max(x, 0.5f))"},
    {"f", "isnan(x) || !isfinite(x) ? lround(x) : signbit(x)", FL_F32,
     "isnan(x) || !isfinite(x) ? lroundf(x) : signbit(x)"},
    {"f", "fma(x, x, -x) * hypot(x, atan2(x, 1.0))", FL_F32, "fmaf(x, x, -x) * hypotf(x, atan2f(x, 1.0f))"},
    {"f", "x*0.5/* 0.5 */+sqrt (x)// sqrt", FL_F32, "x*0.5f/* 0.5 */+sqrtf (x)// sqrt"},
    {"f", "\tx\n+ 0.5\n", FL_F32, "\tx\n+ 0.5f\n"},
    {"i", "x + 1", FL_I32, "x + 1"},
    {"l", "x + 1", FL_I64, "x + 1"},
    {"u", "x + 1", FL_U8, "x + 1"},
    {"ui", "x + y", FL_I64, "x + y"},
    {"il", "x % y << 2 >> 1 & 0xff ^ 017 | ~x", FL_I64, "x % y << 2 >> 1 & 0xff ^ 017 | ~x"},
    {"i", "max(min(x, 10), abs(x)) != 3u", FL_I32, "max(min(x, 10), abs(x)) != 3u"},
    {"i", "(uint8_t)x + (unsigned long long)x * 2ull", FL_I32, "(uint8_t)x + (unsigned long long)x * 2ull"},
    {"i", "x * 0.5", FL_F64, "x * 0.5"},
    {"i", "x * M_E", FL_F64, "x * M_E"},
    {"i", "(double)x", FL_F64, "(double)x"},
    {"i", "(float)x", FL_F64, "(float)x"},
    {"i", "1 * x / 2", FL_I32, "1 * x / 2"},
    {"i", "x > 1 ? x : INFINITY", FL_F64, "x > 1 ? x : INFINITY"},
    {"iuil", "x + y + z + w", FL_I64, "x + y + z + w"},
    {"f", "(long)x % 2 == 0", FL_F32, "(long)x % 2 == 0"},
    {"f", "(x > 1) == (x < 2)", FL_F32, "(x > 1) == (x < 2)"},
    {"f", "x < 1 == 1", FL_F32, "x < 1 == 1"},
    {"f", "x > 0 ? x < 1 ? 1 : 2 : x > -1 ? 3 : 4", FL_F32, "x > 0 ? x < 1 ? 1 : 2 : x > -1 ? 3 : 4"},
    {"i", "4 / 2 * x + x / 2 + 7 / x + (1) / 2 + x * 1 / 2", FL_I32, "4 / 2 * x + x / 2 + 7 / x + (1) / 2 + x * 1 / 2"},
    {"i", "- - + + x", FL_I32, "- - + + x"},
    {"ff", "NAN * y", FL_F32, "NAN * y"},
};

Test(expression, types_and_lines)
{
    for (size_t i = 0; i < COUNT(accepted); i++) {
        const struct accepted *a = &accepted[i];
        fl_dtype inputs[FL_MAX_EXPRESSION_INPUTS];
        const int count = dtypes_of(a->inputs, inputs);
        core_signature s;
        core_text_error error;
        char *function;
        fl_status status = core_expression_read(a->text, inputs, count, &s, &function, &error);

        cr_expect(status == FL_OK, "'%s': %d: %s", a->text, error.column, error.what);
        if (status != FL_OK)
            continue;
        cr_expect(s.result == a->result, "'%s' of %s is %s", a->text, a->inputs, fl_dtype_name(s.result));
        cr_expect_str_eq(line_of(function), a->line, "'%s' of %s became '%s'", a->text, a->inputs, line_of(function));
        cr_expect_str_eq(s.name, "flynn_expression");
        cr_expect(s.count == count && !s.is_bool && !s.loops);
        for (int k = 0; k < count; k++)
            cr_expect(s.inputs[k] == inputs[k] && s.input_names[k][0] == "xyzw"[k] && s.input_names[k][1] == '\0');
        free(function);
    }
}

Test(expression, whole_function)
{
    core_signature s;
    core_text_error error;
    char *function;

    cr_assert(read_it("fu", "x * M_PI", &s, &function, &error) == FL_OK);
    cr_expect_str_eq(function, "double flynn_expression(double x, double y)\n{\n#undef M_PI\n"
                               "#define M_PI 3.14159265358979323846\n    return (double)(\n#line 1\nx * M_PI\n);\n}\n");
    free(function);
    cr_assert(read_it("u", "x", &s, &function, &error) == FL_OK);
    cr_expect_str_eq(function,
                     "unsigned char flynn_expression(unsigned char x)\n{\n    return (unsigned char)(\n#line 1\n"
                     "x\n);\n}\n");
    free(function);
}

/* One function a case and a call of each function there is, all in one text for this machine's compiler. */
Test(expression, what_is_accepted_compiles)
{
    static const char *const all[] = {"f", "d", "i"};
    static const char *const arguments[] = {"", "x", "x, x", "x, x, x"};
    FILE *cc = popen(FLYNN_TEST_CC " -std=gnu11 -fsyntax-only -Wall -Wextra -Wno-parentheses -Wno-bool-operation "
                                   "-Wno-overflow -Wno-unused -Wno-unused-parameter -Werror -x c -",
                     "w");

    cr_assert(cc);
    fprintf(cc,
            "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#define max(a, b) ((a) > (b) ? (a) : (b))\n"
            "#define min(a, b) ((a) < (b) ? (a) : (b))\n#define abs(a) ((a) < 0 ? -(a) : (a))\n"
            "#pragma GCC diagnostic ignored \"-Wtype-limits\"\n");
    for (size_t i = 0; i < COUNT(accepted) + COUNT(all) * core_function_count; i++) {
        const size_t k = i - COUNT(accepted);
        core_signature s;
        core_text_error error;
        char *function, call[64];
        if (i >= COUNT(accepted))
            snprintf(call, sizeof call, "%s(%s)", core_functions[k / COUNT(all)].name,
                     arguments[core_functions[k / COUNT(all)].arguments]);
        const char *text = i < COUNT(accepted) ? accepted[i].text : call;
        cr_assert(read_it(i < COUNT(accepted) ? accepted[i].inputs : all[k % COUNT(all)], text, &s, &function,
                          &error) == FL_OK,
                  "'%s': %s", text, error.what);
        fprintf(cc, "#define flynn_expression f%zu\n#line 1\n%s\n#undef flynn_expression\n", i, function);
        free(function);
    }
    cr_expect(pclose(cc) == 0, "%s refuses an expression that was accepted", FLYNN_TEST_CC);
}

/* In the function's line, numbers and names before a column may be longer than in the user's. */
Test(expression, columns)
{
    static const struct {
        const char *inputs, *text;
        int line, column, expected;
    } cases[] = {
        {"d", "x * 0.5 + y", 1, 9, 9},          {"f", "x * 0.5 + x", 1, 5, 5},
        {"f", "x * 0.5 + x", 1, 8, 8},  /* the suffix */
        {"f", "x * 0.5 + x", 1, 9, 8},  /* the blank */
        {"f", "x * 0.5 + x", 1, 10, 9}, /* + */
        {"f", "log(0.5) + sqrt(x)", 1, 4, 4},   {"f", "log(0.5) + sqrt(x)", 1, 14, 12},
        {"f", "log(0.5) + sqrt(x)", 1, 21, 18}, {"f", "0.5 +\n0.5 + x", 2, 8, 7},
        {"f", "0.5 + x", 1, 100, 99},           {"f", "0.5 + x", 7, 3, 3},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        core_signature s;
        core_text_error error;
        char *function;
        if (strchr(cases[i].text, 'y'))
            cr_assert(read_it("dd", cases[i].text, &s, &function, &error) == FL_OK);
        else
            cr_assert(read_it(cases[i].inputs, cases[i].text, &s, &function, &error) == FL_OK);
        const int column = core_expression_column(cases[i].text, function, cases[i].line, cases[i].column);
        cr_expect(column == cases[i].expected, "'%s': line %d, column %d is %d, expected %d", cases[i].text,
                  cases[i].line, cases[i].column, column, cases[i].expected);
        free(function);
    }
}

#define ONE_LINE "a backslash cannot stand in an expression"
#define ASSIGNS "this assigns, an expression only computes: write the value alone"
#define QUOTES "a text or character in quotes cannot stand in an expression"
#define DIRECTIVE "'#' starts a directive: an expression has none"
#define COMMA "',' stands between the arguments of a function only"

Test(expression, errors)
{
    static const char *const cases[][3] = {
        /* nothing, and what an expression does not have */
        {"f", "", "1:1: an empty expression"},
        {"f", " \n/* x */ // y\n", "1:1: an empty expression"},
        {"f", "x;", "1:2: ';' ends a statement: an expression has none"},
        {"f", "{x}", "1:1: '{' starts statements: an expression has none; a function in C goes into a file"},
        {"f", "x}", "1:2: '}' ends statements: an expression has none"},
        {"f", "x = 1", "1:3: '=' assigns, an expression only computes: '==' compares"},
        {"f", "x += 1", "1:3: " ASSIGNS},
        {"f", "x <<= 1", "1:3: " ASSIGNS},
        {"f", "x++", "1:2: '++' changes a value, an expression only computes: write x + 1"},
        {"f", "--x", "1:1: '--' changes a value, an expression only computes: write x - 1, or - -x"},
        {"f", "#define x", "1:1: " DIRECTIVE},
        {"f", "x\n#define x", "2:1: " DIRECTIVE},
        {"f", "x # y", "1:3: " DIRECTIVE},
        {"f", "%:define x", "1:1: " DIRECTIVE},
        {"f", "x + \"y\"", "1:5: " QUOTES},
        {"f", "'a' + x", "1:1: " QUOTES},
        {"f", "x + \"y", "1:5: the text that starts here does not end in its line"},
        {"f", "max(x, \"y", "1:8: the text that starts here does not end in its line"},
        {"f", "x + /* y", "1:5: the comment that starts here does not end"},
        {"f", "x + \\\n1", "1:5: " ONE_LINE},
        {"f", "x\n// \\", "2:4: " ONE_LINE},
        {"f", "x[0]", "1:2: '[' takes an element of an array: x is a number, one element of the input"},
        {"f", "x, x", "1:2: " COMMA},
        {"f", "(x, x)", "1:3: " COMMA},
        {"f", "x @ x", "1:3: an operator is missing before '@'"},
        {"f", "x + $(ls)", "1:5: '$' is not a function that flynn has; see math.h's, max, min and abs"},
        {"f", "x \x1b[31m", "1:3: an operator is missing before '?'"},
        {"f", "x \xc3\x97 x", "1:3: an operator is missing before '\xc3\x97'"},
        /* brackets */
        {"f", "(x", "1:1: '(' is never closed"},
        {"f", "x * (1 + (x)", "1:5: '(' is never closed"},
        {"f", "log(x", "1:4: '(' is never closed"},
        {"f", "x)", "1:2: ')' closes nothing"},
        {"f", ")", "1:1: ')' closes nothing"},
        {"f", "(x]", "1:3: ']' closes nothing"},
        {"f", "()", "1:1: a value is missing after '('"},
        /* values and operators */
        {"f", "x +", "1:3: a value is missing after '+'"},
        {"f", "x + * 2", "1:5: a value is missing before '*'"},
        {"f", "(x +) * 2", "1:4: a value is missing after '+'"},
        {"f", "x x", "1:3: an operator is missing before 'x'"},
        {"f", "2 (x)", "1:3: an operator is missing before '('"},
        {"f", "x * * 2", "1:5: a value is missing before '*'"},
        {"f", "x ** 2", "1:3: C has no '**': write pow(x, y)"},
        {"f", "x ? 1", "1:3: '?' has no ':' after it: write condition ? value : other value"},
        {"f", "(x ? 1) : 2", "1:4: '?' has no ':' after it: write condition ? value : other value"},
        {"f", "x ? : 1", "1:3: a value is missing after '?'"},
        {"f", "x : 1", "1:3: ':' has no '?' before it"},
        {"f", "0 < x < 1", "1:7: C does not compare three: write x < y && y < z"},
        {"ff", "x <= y > 1 + x", "1:8: C does not compare three: write x < y && y < z"},
        {"f", "1/2*x", "1:1: 1 / 2 is 0 in C: write 1.0 / 2"},
        {"f", "x + 3/ 2", "1:5: 3 / 2 is 1 in C: write 3.0 / 2"},
        {"i", "x => 1", "1:3: '=' assigns, an expression only computes: '==' compares"},
        /* reals */
        {"f", "x % 2", "1:3: '%' takes integers, and this is real: write fmod(x, y), or (long)x"},
        {"i", "x % 2 * 0.5", "1:3: '%' takes integers, and this is real: write fmod(x, y), or (long)x"},
        {"f", "x ^ 2", "1:3: '^' takes integers, and this is real: pow(x, y) is a power"},
        {"i", "1 << max(x, 2.0)", "1:3: '<<' takes integers, and this is real: write (long)x"},
        {"d", "~x", "1:1: '~' takes integers, and this is real: write (long)x"},
        {"f", "(x ? 0.5 : 1) % 2", "1:15: '%' takes integers, and this is real: write fmod(x, y), or (long)x"},
        {"f", "1 | (x ? 1 : 0.5)", "1:3: '|' takes integers, and this is real: write (long)x"},
        /* numbers */
        {"f", "2x", "1:1: '2x' is not a number: write '*' between a number and an input"},
        {"f", "0x", "1:1: '0x' is not a number: write '*' between a number and an input"},
        {"f", "1.5y", "1:1: '1.5y' is not a number: write '*' between a number and an input"},
        {"f", "3abc", "1:1: '3abc' is not a number"},
        {"f", "0.5.5", "1:1: '0.5.5' is not a number"},
        {"f", "1e", "1:1: '1e' is not a number"},
        {"f", "1e+", "1:1: '1e+' is not a number"},
        {"f", "08", "1:1: '08' is not a number"},
        {"f", "0x1.8", "1:1: '0x1.8' is not a number"},
        {"f", "1lul", "1:1: '1lul' is not a number"},
        {"f", "1.0ff", "1:1: '1.0ff' is not a number"},
        {"f", "1.0L", "1:1: no long double is computed with: leave the L out"},
        {"f", "1e39", "1:1: '1e39' is larger than the largest f32"},
        {"d", "1e39f", "1:1: '1e39f' is larger than the largest f32"},
        {"d", "1e309", "1:1: '1e309' is larger than the largest f64"},
        {"i", "9223372036854775808", "1:1: '9223372036854775808' is larger than the largest i64"},
        {"i", "99999999999999999999", "1:1: '99999999999999999999' is larger than the largest i64"},
        {"i", "1000000000000000000000000000000000000000000000000000000000000000",
         "1:1: a number of more than 63 characters"},
        /* names */
        {"ff", "x + z", "1:5: 'z' is input 3, and there are 2"},
        {"f", "x + y", "1:5: 'y' is input 2, and there is 1"},
        {"f", "a * x", "1:1: 'a' is not known; the input is x"},
        {"fff", "a * x", "1:1: 'a' is not known; the inputs are x, y, z"},
        {"f", "lg(x)", "1:1: 'lg' is not known; did you mean 'log'?"},
        {"f", "ln(x)", "1:1: 'ln' is not known; did you mean 'log'?"},
        {"f", "sqr(x)", "1:1: 'sqr' is not known; did you mean 'sqrt'?"},
        {"ff", "maximum(x, y)", "1:1: 'maximum' is not known; did you mean 'max'?"},
        {"f", "system(x)", "1:1: 'system' is not a function that flynn has; see math.h's, max, min and abs"},
        {"f", "np.log(x)", "1:1: 'np' is not known: write a function's name alone, as in log(x)"},
        {"f", "2*pi*x", "1:3: 'pi' is not known; did you mean 'M_PI'?"},
        {"f", "x and 1", "1:3: 'and' is not known; did you mean '&&'?"},
        {"f", "x > 0 or x < 1", "1:7: 'or' is not known; did you mean '||'?"},
        {"f", "not x", "1:1: 'not' is not known; did you mean '!'?"},
        {"f", "X", "1:1: 'X' is not known; did you mean 'x'?"},
        {"f", "x(3)", "1:1: 'x' is an input, not a function: write '*' to multiply"},
        {"f", "log", "1:1: 'log' is a function: write log(x)"},
        {"f", "log + max", "1:1: 'log' is a function: write log(x)"},
        {"f", "x if x > 0 else 0", "1:3: C has no 'x if c else y': write c ? x : y"},
        {"f", "sizeof x", "1:1: 'sizeof' is not known; the input is x"},
        {"f", "maxf(x, x)", "1:1: 'maxf' is not known; did you mean 'max'?"},
        /* arguments and casts */
        {"f", "log()", "1:1: log takes 1 argument, not 0"},
        {"f", "log(x, x)", "1:1: log takes 1 argument, not 2"},
        {"f", "1 + max(x)", "1:5: max takes 2 arguments, not 1"},
        {"f", "isnan((int)x)", "1:1: isnan takes a real number, and this is an integer"},
        {"f", "log(,x)", "1:5: a value is missing before ','"},
        {"f", "log(x,)", "1:6: a value is missing after ','"},
        {"f", "log(x x)", "1:7: an operator is missing before 'x'"},
        {"f", "(int *)x", "1:6: a number cannot be cast to a pointer"},
        {"f", "(int x)", "1:6: an operator is missing before 'x'"},
        {"f", "(int)", "1:5: a value is missing after ')'"},
        {"f", "(long double)x",
         "1:2: no number is cast to this type; the types are float, double, int, long, int8_t, int16_t, "
         "int32_t, int64_t, uint8_t, bool"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        core_signature s;
        core_text_error error;
        char found[300], *function;
        fl_status status = read_it(cases[i][0], cases[i][1], &s, &function, &error);

        cr_expect(status == FL_E_SOURCE, "'%s' is accepted", cases[i][1]);
        cr_expect(function == NULL);
        snprintf(found, sizeof found, "%d:%d: %s", error.line, error.column, error.what);
        cr_expect_str_eq(found, cases[i][2], "'%s'\n%s\nexpected: %s", cases[i][1], found, cases[i][2]);
    }
}

Test(expression, limits)
{
    enum { BRACKETS = 95, LONG = 1 << 20 };
    static char text[LONG + 2];
    fl_dtype inputs[5] = {FL_F32, FL_F32, FL_F32, FL_F32, FL_F32};
    core_signature s;
    core_text_error error;
    char *function;

    memset(text, '(', BRACKETS);
    text[BRACKETS] = 'x';
    memset(text + BRACKETS + 1, ')', BRACKETS);
    cr_expect(read_it("f", text, &s, &function, &error) == FL_OK, "%s", error.what);
    free(function);
    for (const char *c = "(-!?"; *c; c++) {
        memset(text, *c, LONG);
        for (int i = 1; *c == '?' && i < LONG; i += 2)
            text[i - 1] = '1'; /* 1?1?1?... */
        for (int i = 1; *c == '-' && i < LONG; i += 2)
            text[i] = ' ';
        cr_expect(read_it("f", text, &s, &function, &error) == FL_E_SOURCE);
        cr_expect(strncmp(error.what, "more than 200 ", 14) == 0, "%s", error.what);
    }
    text[LONG] = 'x';
    cr_expect(read_it("f", text, &s, &function, &error) == FL_E_SOURCE);
    cr_expect_str_eq(error.what, "an expression of more than 1048576 bytes");
    memset(text, ' ', LONG);
    strcpy(text, "x");
    for (int i = 1; i + 4 < LONG; i += 4)
        memcpy(text + i, "+0.5", 4);
    text[LONG] = '\0';
    cr_expect(read_it("f", text, &s, &function, &error) == FL_OK, "%s", error.what);
    free(function);

    cr_expect(core_expression_read("x", inputs, 0, &s, &function, &error) == FL_E_ARGUMENT && !function);
    cr_expect(core_expression_read("x", inputs, 5, &s, &function, &error) == FL_E_ARGUMENT && !function);
    inputs[1] = (fl_dtype)FL_DTYPE_COUNT;
    cr_expect(core_expression_read("x", inputs, 2, &s, &function, &error) == FL_E_ARGUMENT && !function);
}
