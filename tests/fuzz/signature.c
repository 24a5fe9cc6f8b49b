/* SPDX-License-Identifier: MIT
 *
 * The readers of the user's own function and kernel: whatever the text, a signature that reads the same again from the
 * text for the compiler, a function in which the expression keeps its columns, or a mistake with a place in the text.
 * The first byte of an input chooses: a text in C; an expression, after a byte each for its inputs; a compiler's
 * output, a 0, and a text; a kernel's text.
 */
#define _GNU_SOURCE 1
#include "fuzz.h"

#include "text/language/compiler_error.h"
#include "text/function/expression.h"
#include "text/language/math_functions.h"
#include "text/kernel/signature.h"
#include "text/lanes/lanes.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096, A_TEXT = 0, AN_EXPRESSION = 1, AN_OUTPUT = 2, A_KERNEL = 3, MODES = 4 };

/* Two lines that a terminal can show, with the caret at the column. */
static void demand_caret(const char *text, const core_text_error *error)
{
    char shown[1024], *caret;

    core_caret(text, error->line, error->column, shown, sizeof shown);
    caret = strchr(shown, '\n');
    fuzz_demand(caret && caret[1 + strspn(caret + 1, " \t")] == '^' && strchr(caret, '^')[1] == '\0', "no caret: '%s'",
                shown);
    for (const char *c = shown; *c; c++)
        fuzz_demand(c == caret || *c == '\t' || ((unsigned char)*c >= ' ' && *c != 0x7f), "a control character in '%s'",
                    shown);
}

static void demand_error(const char *text, const core_text_error *error)
{
    const char *line = text;

    fuzz_demand(error->line >= 1 && error->column >= 1, "the place is %d:%d", error->line, error->column);
    for (int i = 1; i < error->line; i++) {
        line = strchr(line, '\n');
        fuzz_demand(line != NULL, "the text has no line %d", error->line);
        line++;
    }
    fuzz_demand((size_t)error->column <= strcspn(line, "\n") + 1, "line %d has no column %d", error->line,
                error->column);
    fuzz_demand(*error->what && strlen(error->what) < sizeof error->what, "no message");
    for (const char *c = error->what; *c; c++)
        fuzz_demand((unsigned char)*c >= ' ' && *c != 0x7f, "a control character in: %s", error->what);
    demand_caret(text, error);
}

static void demand_signature(const core_signature *s, int most)
{
    fuzz_demand(*s->name && s->count >= 1 && s->count <= most, "'%s' has %d inputs", s->name, s->count);
    fuzz_demand(fl_dtype_size(s->result) > 0 && (!s->is_bool || s->result == FL_U8), "the result is %d", s->result);
    for (int i = 0; i < s->count; i++)
        fuzz_demand(fl_dtype_size(s->inputs[i]) > 0 && *s->input_names[i], "input %d is %d", i, s->inputs[i]);
}

static bool is_same(const core_signature *a, const core_signature *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->result == b->result && a->is_bool == b->is_bool &&
                a->count == b->count && a->loops == b->loops;

    for (int i = 0; same && i < a->count; i++)
        same = a->inputs[i] == b->inputs[i] && strcmp(a->input_names[i], b->input_names[i]) == 0;
    return same;
}

/* A function over lanes in brackets that match, or the place of what it cannot have. */
static void try_lanes(const char *text)
{
    core_lanes lanes;
    core_text_error why;
    const fl_status status = core_lanes_write(text, &lanes, &why);
    int depth = 0;

    fuzz_demand(status == FL_OK || status == FL_E_SOURCE, "%s", fl_status_name(status));
    fuzz_demand((status == FL_OK) == (lanes.text != NULL), "%s", fl_status_name(status));
    if (status != FL_OK) {
        demand_error(text, &why);
        return;
    }
    fuzz_demand(lanes.bytes == 4 || lanes.bytes == 8, "%d bytes", lanes.bytes);
    for (const char *c = strchr(lanes.text, '\n'); *c; c++) {
        depth += (*c == '(' || *c == '{') - (*c == ')' || *c == '}');
        fuzz_demand(depth >= 0, "too many brackets are closed: %s", lanes.text);
    }
    fuzz_demand(depth == 0, "%d brackets are open: %s", depth, lanes.text);
    free(lanes.text);
}

static void try_text(const char *text)
{
    core_signature signature, again;
    core_text_error error;
    char *clean, *cleaner;
    const fl_status status = core_signature_read(text, &signature, &clean, &error);

    fuzz_demand(status == FL_OK || status == FL_E_SOURCE, "%s", fl_status_name(status));
    fuzz_demand((status == FL_OK) == (clean != NULL), "%s, and the text is %p", fl_status_name(status), (void *)clean);
    if (status != FL_OK) {
        demand_error(text, &error);
        return;
    }
    demand_signature(&signature, FL_MAX_INPUTS);
    fuzz_demand(strlen(clean) == strlen(text), "%zu bytes became %zu", strlen(text), strlen(clean));
    for (size_t i = 0; text[i]; i++)
        fuzz_demand(clean[i] == text[i] || (clean[i] == ' ' && text[i] != '\n'), "byte %zu became %d", i, clean[i]);
    fuzz_demand(core_signature_read(clean, &again, &cleaner, &error) == FL_OK, "'%s' of '%s', read again: %s", clean,
                text, error.what);
    fuzz_demand(is_same(&signature, &again) && strcmp(clean, cleaner) == 0, "read again: '%s'", again.name);
    free(cleaner);
    if (signature.loops)
        try_lanes(clean);
    free(clean);
}

/* Each byte of the function's lines has the user's byte at its column, or is a suffix. */
static void demand_columns(const char *text, const char *function)
{
    const char *ours = strstr(function, "\n#line 1\n") + strlen("\n#line 1\n"), *theirs = text;
    int line = 1, column = 1;

    for (; *theirs; ours++) {
        const int found = core_expression_column(text, function, line, column);
        const bool is_suffix = *ours != *theirs;
        fuzz_demand(!is_suffix || *ours == 'f', "'%s' became '%s'", text, function);
        if (!is_suffix)
            fuzz_demand(found == 1 + (int)(theirs - text) -
                                     (int)(line == 1 ? 0 : (char *)memrchr(text, '\n', theirs - text) + 1 - text),
                        "line %d, column %d of '%s' is %d", line, column, function, found);
        column = *ours == '\n' ? 1 : column + 1;
        line += *ours == '\n';
        theirs += !is_suffix;
    }
    fuzz_demand(strcmp(*ours == 'f' ? ours + 1 : ours, "\n);\n}\n") == 0, "the function ends with '%s'", ours);
}

static void try_expression(const char *text)
{
    fl_dtype inputs[FL_MAX_EXPRESSION_INPUTS];
    const int count = *text ? (unsigned char)*text++ % FL_MAX_EXPRESSION_INPUTS + 1 : 1;
    core_signature signature;
    core_text_error error;
    char *function;

    for (int i = 0; i < count; i++)
        inputs[i] = *text ? (fl_dtype)((unsigned char)*text++ % FL_DTYPE_COUNT) : FL_F32;
    const fl_status status = core_expression_read(text, inputs, count, &signature, &function, &error);
    fuzz_demand(status == FL_OK || status == FL_E_SOURCE, "%s", fl_status_name(status));
    fuzz_demand((status == FL_OK) == (function != NULL), "%s, and the function is %p", fl_status_name(status),
                (void *)function);
    if (status != FL_OK) {
        demand_error(text, &error);
        return;
    }
    demand_signature(&signature, FL_MAX_EXPRESSION_INPUTS);
    demand_columns(text, function);
    free(function);
}

/* Blanks what is added to a user's text: the directives that keep the places of errors, the bounds of the launch, and
 * the line at the end that names a kernel within a namespace. */
static void blank_lines(char *compiled)
{
    static const char before[] = "\nextern \"C\"\n#line ", bounds[] = "\nFLYNN_LAUNCH_BOUNDS(", named[] = "using ";
    char *from = strstr(compiled, bounds), *end = from ? strstr(from, before) : NULL;
    const size_t length = strlen(compiled);
    char *last = length > 1 && compiled[length - 1] == '\n' ? memrchr(compiled, '\n', length - 1) : NULL;

    if (last && strncmp(last + 1, named, strlen(named)) == 0)
        memset(last + 1, ' ', strlen(last + 1) - 1);

    for (from = end ? memrchr(compiled, '\n', (size_t)(from - compiled)) : NULL; from && from < end; from++)
        *from = *from == '\n' ? '\n' : ' ';
    for (char *at = strstr(compiled, before); at; at = strstr(at, before))
        for (at += strlen(before) - strlen("#line "); *at != '\n'; at++)
            *at = ' ';
}

/* The numbers of a value lie in it, one after the other, and no two values share memory. */
static void demand_values(const core_kernel_signature *s)
{
    int end = 0;

    for (int i = 0; i < s->count; i++) {
        const core_parameter *p = &s->parameters[i];
        const core_number *numbers = p->numbers > 0 ? s->numbers.list + p->first : NULL;
        int at = 0;
        fuzz_demand(p->numbers == 0 || (!p->is_array && p->at == end && p->first + p->numbers <= s->numbers.count),
                    "%s has the numbers %d to %d", p->name, p->first, p->first + p->numbers);
        for (int n = 0; n < p->numbers; n++) {
            fuzz_demand(numbers[n].offset >= at && *numbers[n].name, "%s lies at %d", numbers[n].name,
                        numbers[n].offset);
            at = numbers[n].offset + numbers[n].layout.size;
        }
        fuzz_demand(at <= p->bytes, "%s has %d bytes", p->name, p->bytes);
        end += (p->bytes + CORE_VALUE_ALIGNMENT - 1) / CORE_VALUE_ALIGNMENT * CORE_VALUE_ALIGNMENT;
    }
    fuzz_demand(s->value_bytes == end && end <= CORE_MOST_VALUES + CORE_VALUE_ALIGNMENT, "%d bytes", s->value_bytes);
}

/* The text that a compiler gets of a file is one of the same kernel. */
static void try_kernel(const char *text)
{
    core_kernel_signature signature, again;
    core_text_error error;
    char *clean, *cleaner;
    const fl_status status = core_kernel_signature_read(text, NULL, &signature, &clean, &error);

    fuzz_demand(status == FL_OK || status == FL_E_SOURCE, "%s", fl_status_name(status));
    fuzz_demand((status == FL_OK) == (clean != NULL), "%s, and the text is %p", fl_status_name(status), (void *)clean);
    if (status != FL_OK) {
        demand_error(text, &error);
        return;
    }
    fuzz_demand(strlen(clean) == strlen(text), "%zu bytes became %zu", strlen(text), strlen(clean));
    fuzz_demand(*signature.name && signature.count <= FL_MAX_PARAMETERS, "'%s' has %d parameters", signature.name,
                signature.count);
    demand_values(&signature);
    blank_lines(signature.compiled);
    fuzz_demand(core_kernel_signature_read(signature.compiled, signature.name, &again, &cleaner, &error) == FL_OK,
                "'%s': %s", signature.compiled, error.what);
    fuzz_demand(again.count == signature.count, "%d parameters became %d", signature.count, again.count);
    for (int i = 0; i < again.count; i++) {
        const core_parameter *a = &signature.parameters[i], *b = &again.parameters[i];
        fuzz_demand(*a->name && strcmp(a->name, b->name) == 0 && a->dtype == b->dtype && a->is_array == b->is_array &&
                        a->is_constant == b->is_constant && a->layout.size == b->layout.size &&
                        a->numbers == b->numbers && a->bytes == b->bytes,
                    "parameter %d of '%s'", i, signature.compiled);
    }
    core_kernel_signature_free(&again);
    free(cleaner);
    core_kernel_signature_free(&signature);
    free(clean);
}

static void try_output(char *output)
{
    const size_t length = strlen(output);
    char *text = output + length + 1;
    core_text_error error;

    if (core_compiler_error(output, text, "f.c", &error))
        demand_error(text, &error);
    if (length < 64)
        core_nearest_function(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LONGEST + 2];

    if (size < 1 || size > LONGEST)
        return -1;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = text[size] = '\0';
    switch (data[0] % MODES) {
    case A_TEXT: try_text(text); break;
    case AN_EXPRESSION: try_expression(text); break;
    case AN_OUTPUT: try_output(text); break;
    case A_KERNEL: try_kernel(text); break;
    }
    return 0;
}
