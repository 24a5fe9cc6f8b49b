/* SPDX-License-Identifier: MIT
 *
 * test_compiler_error.c - the first error in what compilers write, the nearest name of a function, and the line with
 * the caret.
 */
#include "../../core/src/text/language/compiler_error.h"
#include "../../core/src/text/language/math_functions.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* -------------------------------------------------------------------------------------------------- errors ---- */

static const char prime[] = "int prime(int n)\n{\n\tfor (int i = 2; i < n; i++)\n\t\tif (n % m == 0)\n"
                            "\t\t\treturn lg(n);\n    return count;\n}\n";

/* As gcc 12, clang 14, hiprtc 5.2 and NVRTC 13.0 write them. */
Test(compiler_error, of_each_compiler)
{
    static const struct {
        const char *output, *expected;
    } cases[] = {
        {"prime.c: In function 'prime':\n"
         "prime.c:4:11: error: 'm' undeclared (first use in this function)\n"
         "prime.c:4:11: note: each undeclared identifier is reported only once for each function it appears in\n"
         "prime.c:6:12: error: expected expression before ';' token\n",
         "4:11: 'm' is not known"},
        {"prime.c:4:11: error: \xe2\x80\x98m\xe2\x80\x99 undeclared (first use in this function); did you mean "
         "\xe2\x80\x98n\xe2\x80\x99?\n",
         "4:11: 'm' is not known; did you mean 'n'?"},
        {"prime.c:4:11: error: 'm' undeclared (first use in this function); did you mean 'flynn_row'?\n",
         "4:11: 'm' is not known"},
        {"prime.c:5:11: warning: unused\nprime.c:5:11: error: implicit declaration of function 'lg'; did you mean "
         "'lgx'? "
         "[-Werror=implicit-function-declaration]\n",
         "5:11: 'lg' is not known; did you mean 'log'?"},
        {"prime.c:4:11: error: use of undeclared identifier 'm'\n                if (n % m == 0)\n                     "
         "   ^\n",
         "4:11: 'm' is not known"},
        {"prime.c:5:11: error: implicit declaration of function 'lg' is invalid in C99 "
         "[-Werror,-Wimplicit-function-declaration]\n",
         "5:11: 'lg' is not known; did you mean 'log'?"},
        {"prime.c:5:11: error: call to undeclared function 'lg'; ISO C99 and later do not support implicit function "
         "declarations [-Wimplicit-function-declaration]\n",
         "5:11: 'lg' is not known; did you mean 'log'?"},
        {"prime.c:4:11: error: \xe2\x80\x98m\xe2\x80\x99 was not declared in this scope\n", "4:11: 'm' is not known"},
        {"prime.c:5:11: error: 'lg' was not declared in this scope; did you mean 'long'?\n",
         "5:11: 'lg' is not known; did you mean 'log'?"},
        {"prime.c:5:13: error: call to 'int lg(T) [with T = int]' declared with attribute error: there is none here\n",
         "5:13: there is none here"},
        {"prime.c:5:13: error: call to 'lg' declared with attribute error:  [-Wnone]\n",
         "5:13: call to 'lg' declared with attribute error: "},
        {"prime.c:5:13: error: call to 'lg' declared with attribute error: \n",
         "5:13: call to 'lg' declared with attribute error: "},
        {"prime.c:5:14: fatal error: too many errors emitted, stopping now [-ferror-limit=]\n",
         "5:14: too many errors emitted, stopping now [-ferror-limit=]"},
        {"prime.c:5: error: something\n", "5:4: something"},
        {"prime.c(4): error: identifier \"m\" is undefined\n  \t\tif (n % m == 0)\n  \t\t        ^\n\n"
         "prime.c(5): error: identifier \"lg\" is undefined\n",
         "4:11: 'm' is not known"},
        {"prime.c(5): error: identifier \"lg\" is undefined\n  \t\t\treturn lg(n);\n  \t\t\t       ^\n\n"
         "1 error detected in the compilation of \"flynn.cu\".\n",
         "5:11: 'lg' is not known; did you mean 'log'?"},
        {"prime.c(6): error: expression must have integral or unscoped enum type\n      return count;\n             "
         "^\n",
         "6:12: expression must have integral or unscoped enum type"},
        {"prime.c(6): error #20: identifier \"count\" is undefined\n", "6:5: 'count' is not known"},
        {"prime.c(4): warning #177-D: variable \"a\" was declared but never referenced\n\n"
         "prime.c(6): catastrophic error: out of memory\n",
         "6:5: out of memory"},
        /* behind the text, and elsewhere */
        {"prime.c:8:1: error: expected '}'\n", "7:2: expected '}'"},
        {"prime.c:6:99: error: far\n", "6:18: far"},
        {"prime.c:99999999999999999999:1: error: far\n", "7:2: far"},
        {"flynn:12:3: error: expected ';'\n", "7:2: expected ';'"},
        {"cc1: error: unrecognized option\nflynn:1:1: error: first\nprime.c:6:12: error: second\n", "6:12: second"},
        {"flynn:1:1: error: first\nflynn:2:1: error: second\n", "7:2: first"},
        {"prime.c:6:12: error: with a tab\t and \x1b[31m\r\n", "6:12: with a tab? and ?[31m"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        core_text_error error = {0};
        char found[300];
        cr_expect(core_compiler_error(cases[i].output, prime, "prime.c", &error), "%s", cases[i].output);
        snprintf(found, sizeof found, "%d:%d: %s", error.line, error.column, error.what);
        cr_expect_str_eq(found, cases[i].expected, "%s\n%s\nexpected: %s", cases[i].output, found, cases[i].expected);
    }
}

/* Messages of linkers about undefined names: GNU ld 2.40, gold, LLD 14 (also in hiprtc 5.2), ptxas in NVRTC 13.0.
 */
Test(compiler_error, of_each_linker)
{
    static const char text[] =
        "float helper(float x);\nnamespace a { int other(int); }\nextern \"C\" { int third(); }\n"
        "#define CALL fourth(1)\n/* fifth */\nfloat f(float x)\n{\n    int third(void);\n"
        "    return 2 * helper(x) + a::other(1) + third() + CALL;\n}\n";
    static const char *const cases[][2] = {
        {"/usr/bin/ld: /tmp/cc1.o: in function `f':\nt.c:(.text+0x9): undefined reference to `helper'\n"
         "collect2: error: ld returned 1 exit status\n",
         "9:16: 'helper'"},
        {"/usr/bin/ld: /tmp/cc1.o: in function `f':\n<stdin>:(.text+0x9): undefined reference to `a::other(int)'\n",
         "9:31: 'other'"},
        {"/tmp/cc1.o:t.c:function f: error: undefined reference to 'third'\n", "9:42: 'third'"},
        {"ld.lld: error: undefined symbol: fourth\n>>> referenced by t.c\n", "4:14: 'fourth'"},
        {"lld: error: undefined hidden symbol: helper(float)\r\n>>> referenced\n", "9:16: 'helper'"},
        {"lld: error: undefined protected symbol: fifth\n", "5:4: 'fifth'"},
        {"ptxas fatal   : Unresolved extern function '_Z6helperf'\n", "9:16: 'helper'"},
        {"ptxas fatal   : Unresolved extern function '_ZN1a5otherEi'\n", "9:31: 'other'"},
        {"ptxas fatal   : Unresolved extern function 'third'\n", "9:42: 'third'"},
        {"x: undefined reference to `float helper<float>(float)'\n", "9:16: 'helper'"},
        {"x: undefined reference to `nowhere'\n", "1:1: 'nowhere'"},
    };
    static const char any[] = "error: <unknown>:0:0: in function flynn_naive void (ptr addrspace(4), i64, i64): "
                              "unsupported call to variadic function _ZN1a6helperEPKcz\n\n";
    static const char *const none[] = {"x: undefined reference to `'\n",
                                       "x: undefined symbol: \n",
                                       "undefined symbol:",
                                       "Unresolved extern function '_Z'",
                                       "Unresolved extern function '_Z99999'",
                                       "undefined reference to `a::'"};
    core_text_error error;

    for (size_t i = 0; i < COUNT(cases); i++) {
        char found[300], expected[300];
        cr_expect(core_compiler_error(cases[i][0], text, "t.c", &error), "%s", cases[i][0]);
        snprintf(found, sizeof found, "%d:%d: %s", error.line, error.column, error.what);
        snprintf(expected, sizeof expected, "%s is used, and nothing here defines it", cases[i][1]);
        cr_expect_str_eq(found, expected, "%s\n%s\nexpected: %s", cases[i][0], found, expected);
    }
    cr_expect(core_compiler_error("x: undefined reference to `operator new[](unsigned long)'\n", "a = new int[3];",
                                  "t.c", &error));
    cr_expect(strncmp(error.what, "'new': nothing takes memory here", 32) == 0, "%s", error.what);
    cr_expect(core_compiler_error("t.c:1:5: error: 'malloc' was not declared in this scope\n", "a = malloc(3);", "t.c",
                                  &error));
    cr_expect(strncmp(error.what, "'malloc': nothing takes memory here", 35) == 0, "%s", error.what);
    cr_expect(
        core_compiler_error("t.c:1:5: error: 'atoi' was not declared in this scope\n", "a = atoi(s);", "t.c", &error));
    cr_expect_str_eq(error.what, "'atoi' is not known");
    cr_expect(core_compiler_error(any, text, "t.c", &error) && error.line == 9 && error.column == 16);
    cr_expect_str_eq(error.what, "'helper' takes any number of arguments (...), which a GPU has for printf alone");
    for (size_t i = 0; i < COUNT(none); i++)
        cr_expect(!core_compiler_error(none[i], text, "t.c", &error), "%s", none[i]);
}

Test(compiler_error, none)
{
    static const char *const outputs[] = {"",
                                          "prime.c:4:11: warning: 'm' is unused\n",
                                          "prime.c: In function 'prime':\n",
                                          "prime.c:4:11: note: error: none\n",
                                          "prime.c:4:11: errors: none\n",
                                          "prime.c(4: error: none\n",
                                          "0 errors generated.\n",
                                          "prime.c:4:11: error: \r\n",
                                          "prime.c:4:11: error:",
                                          "collect2: error: ld returned 1 exit status\n"};
    core_text_error error;

    for (size_t i = 0; i < COUNT(outputs); i++)
        cr_expect(!core_compiler_error(outputs[i], prime, "prime.c", &error), "%s", outputs[i]);
}

/* Names of files as users have them. */
Test(compiler_error, names_of_files)
{
    static const char *const names[] = {"a b:1:2: error: x.c", "(3): error: y", "x(1).c", "expression", "\xc3\xa9.c"};

    for (size_t i = 0; i < COUNT(names); i++) {
        core_text_error error;
        char output[200];
        snprintf(output, sizeof output, "%s:6:12: error: that\n", names[i]);
        cr_assert(core_compiler_error(output, prime, names[i], &error), "%s", names[i]);
        cr_expect(error.line == 6 && error.column == 12, "%s: %d:%d", names[i], error.line, error.column);
        cr_expect_str_eq(error.what, "that", "%s: %s", names[i], error.what);
    }
}

Test(compiler_error, long_messages)
{
    core_text_error error;
    char output[2048];

    /* 195 bytes, and then letters of two bytes: the mark of the cut stands behind a whole one */
    sprintf(output, "prime.c:6:12: error: %195s", "");
    for (int i = 0; i < 400; i++)
        strcat(output, "\xc3\xa9");
    cr_assert(core_compiler_error(output, prime, "prime.c", &error));
    for (int shift = 0; shift < 2; shift++) {
        char name[256];
        memset(name, 'n', (size_t)shift);
        name[shift] = '\0';
        for (int i = 0; i < 110; i++)
            strcat(name, "\xc3\xa9");
        core_source_fail(&error, 1, 1, "%s", name);
        const size_t length = strlen(error.what);
        cr_expect(length >= sizeof error.what - 5 && length < sizeof error.what, "%zu", length);
        cr_expect_str_eq(error.what + length - 3, "...");
        cr_expect((error.what[length - 5] & 0xff) == 0xc3 && (error.what[length - 4] & 0xff) == 0xa9);
    }
}

/* What this machine's compiler writes today. */
Test(compiler_error, of_this_machine)
{
    char output[4096], command[512];
    core_text_error error;
    const int file = memfd_create("source", 0);

    cr_assert(file >= 0 && dprintf(file, "#line 1 \"prime.c\"\n%s#line 1 \"flynn\"\nint x;\n", prime) > 0);
    snprintf(command, sizeof command, "LC_ALL=C " FLYNN_TEST_CC " -std=gnu11 -fsyntax-only -x c - < /dev/fd/%d 2>&1",
             file);
    FILE *cc = popen(command, "r");
    cr_assert(cc);
    output[fread(output, 1, sizeof output - 1, cc)] = '\0';
    cr_expect(pclose(cc) != 0);
    close(file);
    cr_assert(core_compiler_error(output, prime, "prime.c", &error), "%s", output);
    cr_expect(error.line == 4 && error.column == 11, "%d:%d\n%s", error.line, error.column, output);
    cr_expect_str_eq(error.what, "'m' is not known", "%s\n%s", error.what, output);
}

/* ----------------------------------------------------------------------------------------------- functions ---- */

Test(functions, nearest)
{
    static const char *const cases[][2] = {
        {"lg", "log"},   {"ln", "log"},        {"sqr", "sqrt"},    {"sine", "sin"},    {"logg", "log"},
        {"absf", "abs"}, {"arctan2", "atan2"}, {"isNaN", "isnan"}, {"foor", "floor"},  {"system", ""},
        {"", ""},        {"factorial", ""},    {"log", "log"},     {"hypto", "hypot"}, {"nearestint", "nearbyint"}};

    for (size_t i = 0; i < COUNT(cases); i++)
        cr_expect_str_eq(core_nearest_function(cases[i][0]), cases[i][1], "%s: %s", cases[i][0],
                         core_nearest_function(cases[i][0]));
}

Test(functions, find)
{
    bool is_float;

    cr_expect_str_eq(core_function_find("log(x)", 3, &is_float)->name, "log");
    cr_expect(!is_float);
    cr_expect_str_eq(core_function_find("logf", 4, &is_float)->name, "log");
    cr_expect(is_float);
    cr_expect_str_eq(core_function_find("ilogbf", 6, &is_float)->name, "ilogb");
    cr_expect(core_function_find("erf", 3, &is_float) && !is_float);
    cr_expect(core_function_find("maxf", 4, &is_float) == NULL && core_function_find("isnanf", 6, &is_float) == NULL);
    cr_expect(core_function_find("lo", 2, &is_float) == NULL && core_function_find("f", 1, &is_float) == NULL);
    for (size_t i = 0; i < core_function_count; i++) {
        const core_function *f = &core_functions[i];
        cr_expect(core_function_find(f->name, strlen(f->name), &is_float) == f && !is_float, "%s", f->name);
    }
}

/* --------------------------------------------------------------------------------------------------- caret ---- */

static void expect_caret(const char *text, int line, int column, const char *expected)
{
    char out[1024];

    core_caret(text, line, column, out, sizeof out);
    cr_expect_str_eq(out, expected, "%d:%d\n%s\nexpected\n%s", line, column, out, expected);
}

Test(caret, lines)
{
    static const char text[] = "int f(int x)\r\n{\n\treturn\tm;\n}\n";

    expect_caret(text, 1, 5, "int f(int x)\n    ^");
    expect_caret(text, 1, 13, "int f(int x)\n            ^");
    expect_caret(text, 1, 99, "int f(int x)\n            ^");
    expect_caret(text, 2, 1, "{\n^");
    expect_caret(text, 3, 9, "\treturn\tm;\n\t      \t^");
    expect_caret(text, 5, 1, "\n^");
    expect_caret(text, 6, 1, "");
    expect_caret(text, 0, 1, "");
    expect_caret(text, 1, 0, "");
    expect_caret("", 1, 1, "\n^");
}

/* A character of UTF-8 is one place; what is none, or controls a terminal, is '?'. */
Test(caret, characters)
{
    expect_caret("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 = x", 1, 11, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 = x\n    ^");
    expect_caret("\xc3\xa4 x", 1, 2, "\xc3\xa4 x\n^");
    expect_caret("\x1b[31m\x7f\x01 x", 1, 9, "?[31m?? x\n        ^");
    expect_caret("\xff\xc3[\xe2\x82 \xc0\x80\xc2\x9b\xf5 x", 1, 13, "??[?? ????? x\n            ^");
    expect_caret("\xe2", 1, 1, "?\n^");
}

Test(caret, long_lines)
{
    char text[601], expected[800];

    memset(text, 'a', 600);
    text[600] = '\0';
    text[299] = 'X';
    sprintf(expected, "...%.*sX%.*s...\n%53s^", 50, text, 49, text, "");
    expect_caret(text, 1, 300, expected);
    text[299] = 'a';
    text[10] = 'X';
    sprintf(expected, "%.*s...\n%10s^", 100, text, "");
    expect_caret(text, 1, 11, expected);
    sprintf(expected, "...%.*s\n%103s^", 100, text + 500, "");
    expect_caret(text, 1, 601, expected);
    text[100] = '\0';
    sprintf(expected, "%s\n%99s^", text, "");
    expect_caret(text, 1, 100, expected);
    /* the longest there is: characters of four bytes */
    char wide[4 * 300 + 1] = "", out[1024];
    for (int i = 0; i < 300; i++)
        strcat(wide, "\xf0\x9f\x98\x80");
    core_caret(wide, 1, 600, out, sizeof out);
    cr_expect(strlen(out) == 3 + 400 + 3 + 1 + 3 + 50 + 1, "%zu", strlen(out));
}

Test(caret, small_buffers)
{
    static const char text[] = "\xe2\x82\xac\tabc";
    char whole[64];

    core_caret(text, 1, 6, whole, sizeof whole);
    for (size_t size = 0; size <= strlen(whole); size++) {
        char out[64];
        memset(out, 'x', sizeof out);
        core_caret(text, 1, 6, out, size);
        for (size_t i = size; i < sizeof out; i++)
            cr_expect(out[i] == 'x', "%zu bytes: byte %zu is written", size, i);
        if (size > 0)
            cr_expect(strncmp(out, whole, strlen(out)) == 0, "%zu bytes: '%s'", size, out);
    }
}
