/* SPDX-License-Identifier: MIT */
#include "random_function.h"

#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

unsigned below(struct maker *m, unsigned most)
{
    m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(m->seed >> 33) % most;
}

__attribute__((format(printf, 2, 3))) static void put(struct maker *m, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    m->length += (size_t)vsnprintf(m->text + m->length, sizeof m->text - m->length, format, arguments);
    va_end(arguments);
    cr_assert(m->length < sizeof m->text);
}

/* Whether there is a name of this kind: an expression may have none. */
static bool has_name(const struct maker *m, bool is_real)
{
    for (int i = 0; i < m->count; i++)
        if (m->names[i].is_real == is_real)
            return true;
    return false;
}

static const char *any_name(struct maker *m, bool is_real)
{
    int i = (int)below(m, (unsigned)m->count);
    while (m->names[i].is_real != is_real)
        i = (i + 1) % m->count;
    return m->names[i].name;
}

static void put_condition(struct maker *m, int depth);
static void put_real(struct maker *m, int depth);

#define PICK(m, ...) ((const char *const[]){__VA_ARGS__}[below(m, COUNT(((const char *const[]){__VA_ARGS__})))])

/* "A whole B": both are integers. */
static void put_whole(struct maker *m, int depth);
static void put_pair(struct maker *m, const char *before, const char *between, const char *behind, int depth)
{
    put(m, "%s", before);
    put_whole(m, depth);
    put(m, "%s", between);
    put_whole(m, depth);
    put(m, "%s", behind);
}

/* A real number as an integer, where it has one. */
static void put_rounded(struct maker *m, int depth)
{
    put(m, "%s(fmin(fmax(", PICK(m, "llrint", "llround", "lrint", "lround"));
    put_real(m, depth);
    put(m, ", -1e15f), 1e15f))");
}

/* Functions that do not run over lanes. */
static void put_whole_of_any_type(struct maker *m, int depth)
{
    switch (depth > 0 ? below(m, 4) : 0) {
    case 0:
        put(m, "%s", PICK(m, "5000000000LL", "(-3LL)", "0x80000000u", "0xffffffffffff", "1ull", "7UL", "4000000000"));
        break;
    case 1:
        put(m, "abs(");
        put_whole(m, depth - 1);
        put(m, ")");
        break;
    case 2:
        put(m, "(%s)(",
            PICK(m, "long long", "unsigned long long", "unsigned short", "signed char", "unsigned long", "uint32_t",
                 "int64_t", "short"));
        put_whole(m, depth - 1);
        put(m, ")");
        break;
    case 3:
        if (has_name(m, true))
            put_rounded(m, depth - 1);
        else
            put_pair(m, PICK(m, "max(", "min("), ", 1LL * ", ")", depth - 1);
        break;
    }
}

static void put_whole(struct maker *m, int depth)
{
    unsigned kind = depth > 0 ? below(m, 13) : below(m, 2);
    const char *name = has_name(m, false) ? any_name(m, false) : NULL;
    if (m->any_type && below(m, 3) == 0) {
        put_whole_of_any_type(m, depth);
        return;
    }
    if (!name && (kind == 0 || kind == 7 || kind == 12))
        kind = 1;
    if (kind == 11 && !has_name(m, true))
        kind = 1;
    switch (kind) {
    case 0: put(m, "%s", name); break;
    case 1:
        put(m, "%s",
            PICK(m, "0", "1", "2", "3", "7", "100", "0x7f", "0xffffffff", "5u",
                 m->of_inputs ? "0x7fffffff" : "INT_MAX"));
        break;
    case 2: put_pair(m, "(", PICK(m, " + ", " - ", " * ", " & ", " | ", " ^ "), ")", depth - 1); break;
    case 3: put_pair(m, "(", PICK(m, " < ", " <= ", " == ", " != ", " > ", " >= "), ")", depth - 1); break;
    case 4:
        put(m, "((");
        put_whole(m, depth - 1);
        put(m, ")%s)", PICK(m, " / 3", " % 7", " / 16", " % 1000", " >> 2", " << 5", " / 1"));
        break;
    case 5: put_pair(m, "(", PICK(m, " / ((", " % (("), " & 255) + 1))", depth - 1); break;
    case 6: put_pair(m, "(", PICK(m, " << (", " >> ("), " & 31))", depth - 1); break;
    case 7: /* divides by what is 0 in other lanes */
        put(m, "(%s != 0 ? (", name);
        put_whole(m, depth - 1);
        put(m, " & 4095) %s %s : ", PICK(m, "/", "%"), name);
        put_whole(m, depth - 1);
        put(m, ")");
        break;
    case 8:
        put(m, "(%s",
            PICK(m, "-", "~", "!", "+", "(int)", "(uint8_t)", "(int8_t)", "(int16_t)", "(bool)", "(unsigned)"));
        put_whole(m, depth - 1);
        put(m, ")");
        break;
    case 9:
        put(m, "(");
        put_condition(m, depth - 1);
        put_pair(m, " ? ", " : ", ")", depth - 1);
        break;
    case 10: put_pair(m, PICK(m, "max(", "min("), ", ", ")", depth - 1); break;
    case 11:
        name = any_name(m, true);
        put(m, "(int)(%s > -1e6f && %s < 1e6f ? %s : 7)", name, name, name);
        break;
    case 12:
        put(m, "(%s != 0 && (", name);
        put_whole(m, depth - 1);
        put(m, " & 1023) %% %s > 3)", name);
        break;
    }
    if (m->wide && below(m, 12) == 0)
        put(m, "%s", PICK(m, " * 1L", " + 0x100000000", " - 3ul"));
}

static void put_reals(struct maker *m, const char *before, const char *between, const char *behind, int depth)
{
    put(m, "%s", before);
    put_real(m, depth);
    put(m, "%s", between);
    put_real(m, depth);
    put(m, "%s", behind);
}

/* Functions of math.h whose result is exact, or rounded once. */
static void put_function(struct maker *m, int depth)
{
    switch (below(m, 3)) {
    case 0:
        put(m, "%s(", PICK(m, "round", "nearbyint", "logb", "fabs"));
        put_real(m, depth);
        put(m, ")");
        break;
    case 1:
        put_reals(m, PICK(m, "fmin(", "fmax(", "fdim(", "copysign(", "fmod(", "remainder(", "nextafter("), ", ", ")",
                  depth);
        break;
    case 2:
        put(m, "fma(");
        put_reals(m, "", ", ", ", ", depth);
        put_real(m, depth);
        put(m, ")");
        break;
    }
}

static void put_real(struct maker *m, int depth)
{
    const unsigned kind = depth > 0 ? below(m, 9) : below(m, 2);
    if (m->any_type && depth > 0 && below(m, 4) == 0) {
        put_function(m, depth - 1);
        return;
    }
    switch (kind) {
    case 0: put(m, "%s", any_name(m, true)); break;
    case 1:
        put(m, "%s",
            m->wide ? PICK(m, "0.5", "2.", "1e-3", "M_PI", "0.1f", "-0.0", "1e300")
                    : PICK(m, "0.5f", "2.f", "1e-3f", "0.1f", "-0.0f", "INFINITY", "NAN", "1e30f"));
        break;
    case 2:
    case 3: put_reals(m, "(", PICK(m, " + ", " - ", " * ", " / "), ")", depth - 1); break;
    case 4:
        put(m, "%s", PICK(m, "sqrt(", "fabs(", "floor(", "ceil(", "trunc(", "rint(", "abs(", "-("));
        put_real(m, depth - 1);
        put(m, ")");
        break;
    case 5: put_reals(m, PICK(m, "max(", "min("), ", ", ")", depth - 1); break;
    case 6:
        put(m, "(");
        put_condition(m, depth - 1);
        put_reals(m, " ? ", " : ", ")", depth - 1);
        break;
    case 7:
        put(m, m->wide && below(m, 2) ? "(double)(" : "(float)(");
        put_whole(m, depth - 1);
        put(m, ")");
        break;
    case 8: put_reals(m, "(", " * ", " + 1)", depth - 1); break;
    }
}

static void put_condition(struct maker *m, int depth)
{
    unsigned kind = depth > 0 ? below(m, 6) : 0;
    if (kind == 0 && !has_name(m, false))
        kind = 1;
    if ((kind == 1 || kind == 5) && !has_name(m, true))
        kind = 2;
    switch (kind) {
    case 0: put(m, "%s%s", any_name(m, false), PICK(m, " > 3", " == 0", " % 2 == 0", " != 1", "")); break;
    case 1: put_reals(m, "", PICK(m, " < ", " <= ", " == ", " != ", " > ", " >= "), "", depth - 1); break;
    case 2: put_pair(m, "", PICK(m, " < ", " <= ", " == ", " != ", " > ", " >= "), "", depth - 1); break;
    case 3:
        put(m, "(");
        put_condition(m, depth - 1);
        put(m, "%s", PICK(m, " && ", " || "));
        put_condition(m, depth - 1);
        put(m, ")");
        break;
    case 4:
        put(m, "!(");
        put_condition(m, depth - 1);
        put(m, ")");
        break;
    case 5:
        put(m, "%s", PICK(m, "isnan(", "isinf(", "isfinite("));
        put_real(m, depth - 1);
        put(m, ")");
        break;
    }
}

static void add_name(struct maker *m, const char *name, bool is_real, bool is_fixed)
{
    snprintf(m->names[m->count].name, sizeof m->names->name, "%s", name);
    m->names[m->count].is_real = is_real;
    m->names[m->count++].is_fixed = is_fixed;
}

static void put_statement(struct maker *m, int depth);

/* Some statements in braces; names that are declared there end with them. */
static void put_block(struct maker *m, int depth)
{
    const int before = m->count;
    put(m, "{\n");
    for (unsigned i = 1 + below(m, 3); i > 0; i--)
        put_statement(m, depth);
    put(m, "}\n");
    m->count = before;
}

static void put_assignment(struct maker *m)
{
    int i = (int)below(m, (unsigned)m->count);
    while (m->names[i].is_fixed)
        i = (i + 1) % m->count;
    put(m, "%s %s ", m->names[i].name,
        m->names[i].is_real ? PICK(m, "=", "+=", "*=", "-=") : PICK(m, "=", "+=", "*=", "-=", "^=", "|=", "&="));
    if (m->names[i].is_real && below(m, 4))
        put_real(m, 2);
    else
        put_whole(m, 2);
    put(m, ";\n");
}

static void put_declaration(struct maker *m)
{
    char name[12];
    const bool is_real = below(m, 2);
    if (m->count == MOST_NAMES)
        return;
    snprintf(name, sizeof name, "v%d", m->number++);
    put(m, "%s %s = ",
        is_real       ? m->wide && below(m, 2) ? "double" : "float"
        : m->any_type ? PICK(m, "long long", "unsigned long long", "signed char", "unsigned short", "long", "unsigned")
        : m->wide     ? PICK(m, "int", "long", "unsigned long", "uint8_t", "const int")
                      : PICK(m, "int", "unsigned", "uint8_t", "short", "bool"),
        name);
    if (is_real)
        put_real(m, 2);
    else
        put_whole(m, 2);
    put(m, ";\n");
    add_name(m, name, is_real, true); /* const, or so that bool and real ones keep values that are defined */
}

/* Each ends: its counter is not assigned to in it. */
static void put_loop(struct maker *m, int depth)
{
    const int before = m->count, number = m->number++;
    const unsigned kind = below(m, 3);
    char counter[12];
    snprintf(counter, sizeof counter, "k%d", number);
    put(m, kind == 0 ? "for (int %s = 0; %s < (" : "int %s = 0;\n%s", counter, kind == 0 ? counter : "");
    if (m->count < MOST_NAMES)
        add_name(m, counter, false, true);
    if (kind == 0) {
        put_whole(m, 1);
        put(m, " & 7) + %u; %s", 1 + below(m, 3), counter);
        put(m, "%s) {\n", PICK(m, "++", " += 2"));
    } else if (kind == 1) {
        put(m, "while (%s < %u && ", counter, 5 + below(m, 20));
        put_condition(m, 2);
        put(m, ") {\n%s++;\n", counter);
    } else {
        put(m, "do {\n++%s;\n", counter);
    }
    m->depth++;
    put_block(m, depth);
    put_assignment(m);
    m->depth--;
    if (kind == 2) {
        put(m, "} while (%s < (", counter);
        put_whole(m, 1);
        put(m, " & 15));\n");
    } else {
        put(m, "}\n");
    }
    m->count = before;
}

static void put_statement(struct maker *m, int depth)
{
    const unsigned kind = below(m, depth > 0 ? 10 : 5);
    if (kind < 3) {
        put_assignment(m);
    } else if (kind == 3) {
        put_declaration(m);
    } else if (kind == 4 && m->depth > 0) {
        put(m, "if (");
        put_condition(m, 2);
        put(m, ")\n%s;\n", PICK(m, "break", "continue", "break", "return a"));
    } else if (kind == 5 && m->depth < 3) {
        put_loop(m, depth - 1);
    } else if (kind == 6) {
        put(m, "{\n");
        put_block(m, depth - 1);
        put(m, "}\n");
    } else {
        put(m, "if (");
        put_condition(m, 2);
        put(m, ") ");
        put_block(m, depth - 1);
        if (below(m, 2)) {
            put(m, "else ");
            put_block(m, depth - 1);
        }
    }
}

static void start(struct maker *m, uint64_t seed, bool any_type, bool of_inputs)
{
    m->seed = seed * UINT64_C(0x9e3779b97f4a7c15);
    m->length = 0;
    m->depth = m->number = m->count = 0;
    m->any_type = any_type;
    m->of_inputs = of_inputs;
    below(m, 2);
}

static void make(struct maker *m)
{
    m->wide = below(m, 3) == 0;
    const bool is_real = below(m, 2);
    put(m, "%s f(%s)\n{\n",
        is_real   ? m->wide ? PICK(m, "double", "float") : "float"
        : m->wide ? PICK(m, "long", "int", "uint8_t")
                  : PICK(m, "int", "uint8_t", "bool"),
        m->wide ? "long n, double x, bool c, float s" : "int n, float x, uint8_t c, const short s");
    add_name(m, "n", false, false);
    add_name(m, "x", true, false);
    add_name(m, "c", false, false);
    add_name(m, "s", m->wide, true);
    put(m, "int a = 1;\nfloat b = x;\n");
    add_name(m, "a", false, true); /* the loop ends by it */
    add_name(m, "b", true, false);
    for (unsigned i = below(m, 3); i > 0; i--)
        put_statement(m, 1);
    put(m, "while (a < 40%s) {\na++;\n", below(m, 2) ? " && x * x < 1e6f" : "");
    m->depth = 1;
    put_block(m, 3);
    m->depth = 0;
    put(m, "}\n");
    for (unsigned i = below(m, 3); i > 0; i--)
        put_statement(m, 2);
    put(m, "return %s;\n}\n", is_real ? "a + b" : "a + n + c + (int)(b > -1e6f && b < 1e6f ? b : 3)");
}

void make_function(struct maker *m, uint64_t seed)
{
    start(m, seed, false, false);
    make(m);
}

void make_function_of_any_type(struct maker *m, uint64_t seed)
{
    start(m, seed, true, false);
    make(m);
}

void make_expression(struct maker *m, uint64_t seed, fl_dtype dtype, int count)
{
    const bool is_real = fl_dtype_is_float(dtype);
    start(m, seed, true, true);
    m->wide = dtype == FL_F64 || dtype == FL_I64;
    for (int i = 0; i < count; i++)
        add_name(m, (const char[]){"xyzw"[i], '\0'}, is_real, true);
    if (is_real)
        put_real(m, 4);
    else
        put_whole(m, 4);
}
