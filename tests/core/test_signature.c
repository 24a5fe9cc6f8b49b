/* SPDX-License-Identifier: MIT
 *
 * test_signature.c - the user's text in C: what the last function takes and gives, what the compiler gets to see, and
 * the place and cause of each mistake that is found before a compiler runs.
 */
#include "../../core/src/text/function/signature.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* "i32 prime(i32 n) loops" */
static const char *describe(const core_signature *s)
{
    static char text[1024];
    int length = snprintf(text, sizeof text, "%s %s(", s->is_bool ? "bool" : fl_dtype_name(s->result), s->name);

    for (int i = 0; i < s->count; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s %s", i ? ", " : "",
                           fl_dtype_name(s->inputs[i]), s->input_names[i]);
    snprintf(text + length, sizeof text - (size_t)length, ")%s", s->loops ? " loops" : "");
    return text;
}

static void expect_signature(const char *text, const char *expected)
{
    core_signature signature;
    core_text_error error;
    char *clean;
    fl_status status = core_signature_read(text, &signature, &clean, &error);

    cr_expect(status == FL_OK, "%.300s\n%d:%d: %s", text, error.line, error.column, error.what);
    if (status != FL_OK)
        return;
    cr_expect_str_eq(describe(&signature), expected, "%.300s\n%s, expected %s", text, describe(&signature), expected);
    free(clean);
}

static void expect_error(const char *text, const char *expected)
{
    core_signature signature;
    core_text_error error;
    char found[300], *clean;
    fl_status status = core_signature_read(text, &signature, &clean, &error);

    cr_expect(status == FL_E_SOURCE, "%.300s\nis accepted, expected: %s", text, expected);
    cr_expect(clean == NULL);
    snprintf(found, sizeof found, "%d:%d: %s", error.line, error.column, error.what);
    cr_expect_str_eq(found, expected, "%.300s\n%s\nexpected: %s", text, found, expected);
}

Test(signature, heads)
{
    static const char *const cases[][2] = {
        {"int prime(int n)\n{\n\treturn n > 1;\n}\n", "i32 prime(i32 n)"},
        {"double f(double x) { return x; }", "f64 f(f64 x)"},
        {"float f(float x, long y) { return x; }", "f32 f(f32 x, i64 y)"},
        {"static inline const float f(const float x) { return x; }", "f32 f(f32 x)"},
        {"__device__ __host__ __forceinline__ float f(float x) { return x; }", "f32 f(f32 x)"},
        {"extern \"C\" __device__ float f(float x) { return x; }", "f32 f(f32 x)"},
        {"extern \"C\" {\nfloat f(float x) { return x; }\n}", "f32 f(f32 x)"},
        {"__attribute__((const, aligned(16))) float f(float x) __attribute__((hot)) { return x; }", "f32 f(f32 x)"},
        {"float /* the\nresult */ f // name\n(\n float x , // first\n volatile register float y )\n{ return x; }",
         "f32 f(f32 x, f32 y)"},
        {"float f(float a, float b, float c, float d, float e, float g, float h, float i) { return a; }",
         "f32 f(f32 a, f32 b, f32 c, f32 d, f32 e, f32 g, f32 h, f32 i)"},
        {"\xef\xbb\xbf"
         "float f(float x) { return x; }",
         "f32 f(f32 x)"},
        {"float f(float x) { return x; }\r\n", "f32 f(f32 x)"},
        {"float f(float \\\n x) { return x; }", "f32 f(f32 x)"},
        {"float gr\xc3\xb6\xc3\x9f"
         "e(float x) { return x; }",
         "f32 gr\xc3\xb6\xc3\x9f"
         "e(f32 x)"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        expect_signature(cases[i][0], cases[i][1]);
}

#define INT_4 "int int int int "

/* The dtype of an array is the smallest one that holds all values of the parameter's type. */
Test(signature, types)
{
    static const char *const types[][2] = {
        {"float", "f32"},
        {"double", "f64"},
        {"int", "i32"},
        {"signed", "i32"},
        {"int signed", "i32"},
        {"int32_t", "i32"},
        {"long", "i64"},
        {"long int", "i64"},
        {"long long", "i64"},
        {"long signed int long", "i64"},
        {"int64_t", "i64"},
        {"ptrdiff_t", "i64"},
        {"char", "i32"},
        {"signed char", "i32"},
        {"unsigned char", "u8"},
        {"char unsigned", "u8"},
        {"uint8_t", "u8"},
        {"int8_t", "i32"},
        {"int16_t", "i32"},
        {"short", "i32"},
        {"short signed int", "i32"},
        {"unsigned short", "i32"},
        {"uint16_t", "i32"},
        {"unsigned", "i64"},
        {"unsigned int", "i64"},
        {"uint32_t", "i64"},
    };
    static const char *const refused[] = {"long double",
                                          "unsigned long",
                                          "uint64_t",
                                          "size_t",
                                          "unsigned long long",
                                          "short float",
                                          "long float",
                                          "unsigned double",
                                          "signed unsigned",
                                          "float float",
                                          "long long long",
                                          "int int",
                                          "char int",
                                          "short long",
                                          "unsigned int8_t",
                                          "bool int",
                                          /* sixteen are not a word of another kind */ INT_4 INT_4 INT_4 INT_4,
                                          "short " INT_4 INT_4 INT_4 INT_4};

    for (size_t i = 0; i < COUNT(types); i++) {
        char text[128], expected[64];
        snprintf(text, sizeof text, "%s f(%s x) { return x; }", types[i][0], types[i][0]);
        snprintf(expected, sizeof expected, "%s f(%s x)", types[i][1], types[i][1]);
        expect_signature(text, expected);
    }
    expect_signature("bool f(bool x) { return !x; }", "bool f(u8 x)");
    expect_signature("_Bool f(_Bool x) { return !x; }", "bool f(u8 x)");
    for (size_t i = 0; i < COUNT(refused); i++) {
        core_signature signature;
        core_text_error error;
        char text[256], *clean;
        snprintf(text, sizeof text, "int f(%s x) { return 0; }", refused[i]);
        cr_expect(core_signature_read(text, &signature, &clean, &error) == FL_E_SOURCE, "%s is accepted", refused[i]);
        cr_expect(error.line == 1 && error.column == 7, "%s: %d:%d: %s", refused[i], error.line, error.column,
                  error.what);
    }
}

/* Which function is the last one, whatever stands around it. */
Test(signature, the_last_function)
{
    static const char *const cases[][2] = {
        {"int a(int x) { return x; } int b(int y) { return y; }", "i32 b(i32 y)"},
        {"int a(int x) { return x; }\nint b(int y);\nextern int c(int z);\n", "i32 a(i32 x)"},
        {"int a(int x) { return x; }\nstruct p { int (*f)(int); };\nenum { A = (1) };\n", "i32 a(i32 x)"},
        {"int t[] = {1, 2}, u[2] = {(3), 4};\nint a(int x) { return t[x] + sizeof (struct { int i; }); }",
         "i32 a(i32 x)"},
        {"int v = sizeof(int[2]), w[] = {f(1)};\nint a(int x) { { return x; } }", "i32 a(i32 x)"},
        {"int a(int x) { return x; } #include <stdio.h>\n", "i32 a(i32 x)"},
        {"int a(int x) { return x; } /* a/b { */ /** / { **/ /*/ { */", "i32 a(i32 x)"},
        {"int a(int x) { return x; } /* int b(int x) { */ // int c(int x) {", "i32 a(i32 x)"},
        {"int a(int x) { const char *t = \"} int b(int y) {\\\"\"; return '}' + '\\'' + x; }", "i32 a(i32 x)"},
        {"#define B int b(int x) { \\\n (\nint a(int x) { return x; }\n#error isn't one\n", "i32 a(i32 x)"},
        {"#if 1 /* a comment {\n that goes on { */\n#endif // {\nint a(int x) { return x; }", "i32 a(i32 x)"},
        {"_Static_assert(sizeof(int) == 4, \"4\");\nint a(int x) { return x; };\n", "i32 a(i32 x)"},
        {"static\n#define A\nint\n#include <math.h>\na(int\n#if 1\nx\n#endif\n)\n#define B {\n{ return x; }",
         "i32 a(i32 x)"},
        {"extern\n#define A\n\"C\"\n#define A\n{ int a(int x) { return x; } }", "i32 a(i32 x)"},
        {"#define A \\\n  \"a\\\nb\" /* a\\\nb */\n// a\\\nb\n\\\nint \\\r\na(int x) { return x + \\\n x; }",
         "i32 a(i32 x)"},
        {"#error it's\n#define R \"R\" R\nint a(int x) { return sizeof \"(\" \"R)\" + 0x1e+2 + '\\'' + x; }",
         "i32 a(i32 x)"},
        {"extern \"C\" { int a(int x) { return x; } }\nextern \"C\" { extern int b; }", "i32 a(i32 x)"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        expect_signature(cases[i][0], cases[i][1]);
}

Test(signature, loops)
{
    expect_signature("int f(int x) { for (;;) x++; return x; }", "i32 f(i32 x) loops");
    expect_signature("int f(int x) { while (x) x--; return x; }", "i32 f(i32 x) loops");
    expect_signature("int f(int x) { do x--; while (x); return x; }", "i32 f(i32 x) loops");
    expect_signature("int f(int x) { a: if (x--) goto a; return x; }", "i32 f(i32 x) loops");
    expect_signature("int g(int x) { for (;;) x++; return x; } int f(int x) { return g(x); }", "i32 f(i32 x) loops");
    expect_signature("int f(int x) { return x < 2 ? x : f(x - 1) + f (x - 2); }", "i32 f(i32 x) loops");
    expect_signature("int f(int x) { int format = x; return format; } // for while f(", "i32 f(i32 x)");
    expect_signature("#define E for\nint f(int x) { return (f) == 0 ? \"while\"[0] : x; }", "i32 f(i32 x)");
}

/* Blanks in the place of what a backend's compiler does not take; everything else stays where it was. */
Test(signature, clean_text)
{
    static const char *const cases[][2] = {
        {"#include <math.h>\nint f(int x) { return x; }\n", "                 \nint f(int x) { return x; }\n"},
        {"  # include \"stdint.h\" // why\r\nint f(int x) { return x; }",
         "                             \r\nint f(int x) { return x; }"},
        {"#include <hip/hip_runtime.h>\n#include<stdbool.h>\nint f(int x) { return x; }",
         "                            \n                   \nint f(int x) { return x; }"},
        {"extern \"C\" int f(int x) { return x; }", "           int f(int x) { return x; }"},
        {"extern\n\"C\"\n{\nint f(int x) { return x; } /* } */ }",
         "      \n   \n \nint f(int x) { return x; } /* } */  "},
        {"#/*\n*/inc\\\nlude <math.h>\n%:include/**/<math.h>\nint f(int x) { return x; }",
         "   \n      \n             \n                     \nint f(int x) { return x; }"},
        {"extern int a;\nint f(int x) { return x; }", "extern int a;\nint f(int x) { return x; }"},
        {"/* #include <stdio.h> */ int f(int x) { return x; }", "/* #include <stdio.h> */ int f(int x) { return x; }"},
        {"\xef\xbb\xbfint f(int x) { return x; }", "   int f(int x) { return x; }"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        core_signature signature;
        core_text_error error;
        char *clean;
        cr_assert(core_signature_read(cases[i][0], &signature, &clean, &error) == FL_OK, "%s", error.what);
        cr_expect_str_eq(clean, cases[i][1], "\n%s\nbecame\n%s", cases[i][0], clean);
        free(clean);
    }
}

#define NO_FUNCTION "1:1: no function is defined here; one is: double square(double x) { return x * x; }"
#define TYPES \
    "is not a type of a number; there are float, double, int, long, int8_t, int16_t, int32_t, int64_t, uint8_t, bool"
#define POINTER "a pointer or an array: a function of map takes numbers, one element of each input"
#define NO_PARAMETER "no parameter: a function of map takes a number of each input"
#define INCLUDES "only math.h, stdint.h, stdbool.h and hip/hip_runtime.h can be included, and need not be"
#define RETURN "a carriage return alone: a line ends with a newline"
#define BACKSLASH "blanks follow the backslash that ends this line"
#define SPLIT "the backslash that ends the line before splits a word or mark"
#define CXX "R\"(...)\", and ' in a number, are of C++, and this text is also compiled as C"
#define DIRECTIVE "#line would move the places of errors: leave it out"

Test(signature, errors)
{
    static const char *const cases[][2] = {
        {"", NO_FUNCTION},
        {"/* int f(int x) { } */", NO_FUNCTION},
        {"int f(int x);", NO_FUNCTION},
        {"int f(x) int x; { return x; }", NO_FUNCTION},
        {"int f(int x)\n{\n\treturn x;\n", "2:1: '{' is never closed"},
        {"extern \"C\" { int b }\nint f(int x) { return x; }", "1:20: a ';' is missing before it"},
        {"int f(int x) { return (x; }", "1:27: '}' cannot close the '(' of line 1, column 23"},
        {"int f(int x) {\n return x]; }", "2:10: ']' cannot close the '{' of line 1, column 14"},
        {"int f(int x) { return x; }\n}", "2:1: '}' closes nothing"},
        {")", "1:1: ')' closes nothing"},
        {"int f(int x) { return x; /* }", "1:26: the comment that starts here does not end"},
        {"#define A /*\nint f(int x) { return x; }", "1:11: the comment that starts here does not end"},
        {"int f(int x) { return \"x; }\n\"", "1:23: the text that starts here does not end in its line"},
        {"int f(int x) { return 'x; }", "1:23: the character that starts here does not end in its line"},
        {"int f(int x) { return '\\'; }", "1:23: the character that starts here does not end in its line"},
        {"int f(int x) { return x; } // \\ ", "1:1: a backslash ends the text"},
        {"real f(int x) { return x; }", "1:1: 'real' " TYPES},
        {"int f(real x) { return x; }", "1:7: 'real' " TYPES},
        {"int f(struct p x) { return x; }", "1:7: 'struct' " TYPES},
        {"int f(int x, short float y) { return x; }", "1:14: 'short' " TYPES},
        {"int f(uint64_t x) { return x; }", "1:7: no array holds all values of this type: use long or double"},
        {"long double f(int x) { return x; }", "1:1: no array holds all values of this type: use long or double"},
        {"f(int x) { return x; }", "1:1: 'f' has no type of its result"},
        {"static f(int x) { return x; }", "1:8: 'f' has no type of its result"},
        {"void f(int x) { }", "1:1: no result: a function of map returns a number, an element of the output"},
        {"int *f(int x) { return 0; }", "1:5: the result is a pointer: a function of map returns a number"},
        {"int f(int *x) { return *x; }", "1:11: " POINTER},
        {"int f(const int\n&x) { return x; }", "2:1: " POINTER},
        {"int f(int x[3]) { return *x; }", "1:12: " POINTER},
        {"int f(int (*g)(int)) { return 0; }", "1:11: " POINTER},
        {"int f() { return 0; }", "1:5: " NO_PARAMETER},
        {"int f(void) { return 0; }", "1:5: " NO_PARAMETER},
        {"int f(int x, ...) { return x; }", "1:14: '...': a function of map has as many parameters as inputs"},
        {"junk\n#include <math.h>\nint f(int x) { return x; }", "1:1: 'junk' " TYPES},
        {"int f(int) { return 0; }", "1:7: parameter 1 has no name"},
        {"int f(int x, float) { return 0; }", "1:14: parameter 2 has no name"},
        {"int f(int x,) { return 0; }", "1:13: a parameter is missing"},
        {"int f(,int x) { return 0; }", "1:7: a parameter is missing"},
        {"int f(int x int y) { return 0; }", "1:13: 'int' follows 'x': is a ',' missing?"},
        {"int f(int x = 3) { return x; }", "1:13: '=' cannot stand in a parameter"},
        {"int f(int a, int b, int c, int d, int e, int g, int h, int i, int j) { return a; }",
         "1:63: more than 8 parameters"},
        {"int f(int x) noexcept { return x; }", "1:14: '{' is missing before 'noexcept'"},
        {"int main(int x) { return x; }",
         "1:5: the last function is main: leave it out, the function to map is the last one"},
        {"__global__ void f(float x) { }", "1:1: a kernel: 'flynn map' takes a function of numbers with a result"},
        {"template <typename T> T f(T x) { return x; }",
         "1:1: a function of map is not a template: its types are those of the arrays"},
        {"float hypot(float a, float b) { return a; }\nfloat f(float x) { return x; }",
         "1:7: 'hypot' is a function that flynn has: give yours another name"},
        {"float f(float x) { return x; }\nfloat sqrtf(float a) { return a; }\n",
         "2:7: 'sqrtf' is a function that flynn has: give yours another name"},
        {"#include <stdio.h>\nint f(int x) { return x; }", "1:1: " INCLUDES},
        {"int a;\n #include \"/etc/passwd\"\n", "2:2: " INCLUDES},
        {"#include <math.hpp>\n", "1:1: " INCLUDES},
        {"#include <math.h\"\n", "1:1: " INCLUDES},
        {"#include MATH\n", "1:1: " INCLUDES},
        {"#include_next <math.h>\n", "1:1: " INCLUDES},
        {"#import <math.h>\n", "1:1: " INCLUDES},
        {"%:include <stdio.h>\n", "1:1: " INCLUDES},
        {"/* a */ #include <stdio.h>\n", "1:9: " INCLUDES},
        {"#/**/include <stdio.h>\n", "1:1: " INCLUDES},
        {"# /* a\n */ include <stdio.h>\n", "1:1: " INCLUDES},
        {"#inc\\\nlude <stdio.h>\n", "1:1: " INCLUDES},
        {"# \\\r\n include/**/\"stdio.h\"\n", "1:1: " INCLUDES},
        {"%:/**/include <stdio.h>\n", "1:1: " INCLUDES},
        {"#include/**/_next <math.h>\n", "1:1: " INCLUDES},
        {"#embed \"a\"\n", "1:1: " INCLUDES},
        {"#l\\\nine 3\n", "1:1: " DIRECTIVE},
        {"#/**/3 \"other.c\"\n", "1:1: " DIRECTIVE},
        {"__asm__(\".incbin \\\"/etc/passwd\\\"\");\n", "1:9: " INCLUDES},
        /* where compilers and this reader, or two compilers, could see another line, comment or text */
        {"// a\r#include <stdio.h>\n", "1:5: " RETURN},
        {"int a;\r#include <stdio.h>\n", "1:7: " RETURN},
        {"#define A a\r#include <stdio.h>\n", "1:12: " RETURN},
        {"int a = 1; \"a\r\"", "1:12: the text that starts here does not end in its line"},
        {"// a \\ \n#include <stdio.h>\n", "1:6: " BACKSLASH},
        {"#define A \\\t\n#include <stdio.h>\n", "1:11: " BACKSLASH},
        {"/\\\n* /* */ #include <stdio.h>\n", "2:1: " SPLIT},
        {"/\\\n/ /*\n#include <stdio.h>\n", "2:1: " SPLIT},
        {"/* a *\\\n/\n#include <stdio.h>\n/* */", "2:1: " SPLIT},
        {"%\\\n:include <stdio.h>\n", "2:1: " SPLIT},
        {"ret\\\n\\\r\nurn", "3:1: " SPLIT},
        {"#define A R\\\n\"(\")\"\n", "2:1: " SPLIT},
        {"char *a = R\"a(\")/*)a\";\n#include <stdio.h>\n/**/", "1:12: " CXX},
        {"int a = 1'2 + \"'/*\";\n#include <stdio.h>\n/**/", "1:9: " CXX},
        {"#define A 1'2 \"'/*\"\n#include <stdio.h>\n/**/", "1:1: " CXX},
        {"#error isn't /*\n#include <stdio.h>\n/**/", "1:11: a comment after a quote that does not end in its line"},
        {"#error 'a' /*\n#include <stdio.h>\n*/",
         "1:1: a comment in #error or #warning, where some compilers have none"},
        /* longer than what a message shows of it, also where that would cut a character */
        {"int f(a123456789b123456789c123456789d123456789e123456789f123456789 n) { return n; }",
         "1:7: 'a123456789b123456789c123456789d123456789e123...' " TYPES},
        {"int f(a123456789b123456789c123456789d123456789e12\xc3\xa9"
         "6789f123456789 n) { return n; }",
         "1:7: 'a123456789b123456789c123456789d123456789e12...' " TYPES},
        {"#line 3\nint f(int x) { return x; }", "1:1: " DIRECTIVE},
        {"# 3 \"other.c\"\nint f(int x) { return x; }", "1:1: " DIRECTIVE},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        expect_error(cases[i][0], cases[i][1]);
}

Test(signature, limits)
{
    enum { DEEP = 256, LONG = 1 << 20 };
    static char text[LONG + 64], name[80];
    int length = sprintf(text, "int f(int x) {");

    memset(text + length, '(', DEEP - 1);
    memset(text + length + DEEP - 1, ')', DEEP - 1);
    strcpy(text + length + 2 * (DEEP - 1), "}");
    expect_signature(text, "i32 f(i32 x)");
    memset(text + length, '(', 2 * DEEP - 2);
    expect_error(text, "1:270: more than 256 brackets within each other");

    memset(name, 'n', 64);
    sprintf(text, "int f(int x, int %s) { return x; }", name);
    expect_error(text, "1:18: a name of more than 63 bytes");
    sprintf(text, "int %s(int x) { return x; }", name);
    expect_error(text, "1:5: a name of more than 63 bytes");
    name[63] = '\0';
    sprintf(text, "int %s(int x) { return x; }", name);
    char expected[128];
    sprintf(expected, "i32 %s(i32 x)", name);
    expect_signature(text, expected);

    strcpy(text, "int f(int x) { return x; }");
    length = (int)strlen(text);
    memset(text + length, '\n', LONG - (size_t)length);
    expect_signature(text, "i32 f(i32 x)");
    text[LONG] = '\n';
    expect_error(text, "1:1: a text of more than 1048576 bytes");
}
