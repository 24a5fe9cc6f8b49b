/* SPDX-License-Identifier: MIT */
#include "expression.h"
#include "../language/text_functions.h"
#include "parser.h"
#include "../language/math_functions.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char function_name[] = "flynn_expression", place[] = "\n#line 1\n";

/* The names of types that the compilers of all backends know, without a header. */
static const char *type_name(fl_dtype dtype)
{
    static const char *const names[FL_DTYPE_COUNT] = {
        [FL_U8] = "unsigned char", [FL_I32] = "int", [FL_I64] = "long", [FL_F32] = "float", [FL_F64] = "double"};
    return names[dtype];
}

/* A token that makes the expression one of real numbers. */
static bool is_real(const core_token *token)
{
    bool is_float;
    const core_function *function;

    if (token->kind != CORE_TOKEN_NAME)
        return core_token_is_floating(token);
    function = core_function_find(token->at, token->length, &is_float);
    return (function && function->kind != CORE_FUNCTION_ANY_TYPE) || core_constant_value(token) ||
           core_token_is(token, "float") || core_token_is(token, "double") || core_token_is(token, "INFINITY") ||
           core_token_is(token, "NAN");
}

/* One at the end of a comment would join the next line, which is not the user's. */
static fl_status check_backslash(const char *text, core_text_error *error)
{
    const char *at = strchr(text, '\\'), *begin = text;
    int line = 1;

    if (!at)
        return FL_OK;
    for (const char *c = text; c < at; c++)
        if (*c == '\n')
            line++, begin = c + 1;
    return core_source_fail(error, line, (int)(at - begin) + 1, "a backslash cannot stand in an expression");
}

static fl_status choose_type(const char *text, const fl_dtype *inputs, int count, fl_dtype *computed,
                             core_text_error *error)
{
    core_reader reader;
    core_token token;
    fl_status status;

    *computed = fl_dtype_result(inputs, count);
    if (fl_dtype_is_float(*computed))
        return FL_OK;
    core_reader_start(&reader, text);
    while ((status = core_token_next(&reader, &token, error)) == FL_OK && token.kind != CORE_TOKEN_END)
        if (is_real(&token))
            *computed = FL_F64;
    return status;
}

static void describe(core_signature *signature, const fl_dtype *inputs, int count, fl_dtype computed)
{
    *signature = (core_signature){.result = computed, .count = count};
    strcpy(signature->name, function_name);
    for (int i = 0; i < count; i++) {
        signature->inputs[i] = inputs[i];
        signature->input_names[i][0] = core_input_names[i];
    }
}

/* The constants are defined by their names, so that the user's text keeps its columns. */
static void write_head(FILE *out, const core_signature *signature, const char *text)
{
    const char *type = type_name(signature->result), *suffix = signature->result == FL_F32 ? "f" : "";

    fprintf(out, "%s %s(", type, signature->name);
    for (int i = 0; i < signature->count; i++)
        fprintf(out, "%s%s %s", i ? ", " : "", type, signature->input_names[i]);
    fprintf(out, ")\n{\n");
    for (size_t i = 0; i < core_constant_count; i++)
        if (strstr(text, core_constants[i].name))
            fprintf(out, "#undef %s\n#define %s %s%s\n", core_constants[i].name, core_constants[i].name,
                    core_constants[i].value, suffix);
    fprintf(out, "    return (%s)(%s", type, place);
}

static fl_status write_function(const core_parser *p, const core_signature *signature, char **function)
{
    enum { OF_HEAD = 8192 }; /* more than it has with every constant */
    const size_t size = 2 * strlen(p->text) + OF_HEAD;
    FILE *out;
    bool written;

    *function = malloc(size); /* open_memstream's would drop what it has no memory for, without an error */
    out = *function ? fmemopen(*function, size, "w") : NULL;
    if (!out) {
        free(*function);
        *function = NULL;
        return core_fail(FL_E_MEMORY, "out of memory for an expression");
    }
    write_head(out, signature, p->text);
    for (const char *at = p->text; *at; at++) {
        putc(*at, out);
        if (p->suffixed[at - p->text])
            putc('f', out);
    }
    fprintf(out, "\n);\n}\n");
    written = !ferror(out);
    if (fclose(out) == 0 && written)
        return FL_OK;
    free(*function);
    *function = NULL;
    return core_fail(FL_E_MEMORY, "out of memory for an expression of %zu bytes", strlen(p->text));
}

fl_status core_expression_read(const char *text, const fl_dtype *inputs, int count, core_signature *signature,
                               char **function, core_text_error *error)
{
    const size_t length = strlen(text);
    core_parser parser = {.text = text, .error = error, .count = count};
    fl_dtype computed;
    fl_status status;

    *function = NULL;
    *error = (core_text_error){0};
    if (count < 1 || count > FL_MAX_EXPRESSION_INPUTS)
        return core_fail(FL_E_ARGUMENT, "an expression has 1 to %d inputs, not %d", FL_MAX_EXPRESSION_INPUTS, count);
    for (int i = 0; i < count; i++)
        if (fl_dtype_size(inputs[i]) == 0)
            return core_fail(FL_E_ARGUMENT, "input %d of an expression has the invalid dtype %d", i + 1,
                             (int)inputs[i]);
    if (length > CORE_MOST_TEXT)
        return core_source_fail(error, 1, 1, "an expression of more than %d bytes", CORE_MOST_TEXT);
    status = check_backslash(text, error);
    if (status == FL_OK)
        status = choose_type(text, inputs, count, &computed, error);
    if (status != FL_OK)
        return status;
    parser.single = computed == FL_F32;
    parser.inputs = !fl_dtype_is_float(computed) ? CORE_INTEGER : parser.single ? CORE_SINGLE : CORE_DOUBLE;
    parser.suffixed = calloc(length + 1, 1);
    if (!parser.suffixed)
        return core_fail(FL_E_MEMORY, "out of memory for an expression of %zu bytes", length);
    core_reader_start(&parser.reader, text);
    status = core_parser_read(&parser);
    if (status == FL_OK) {
        describe(signature, inputs, count, computed);
        status = write_function(&parser, signature, function);
    }
    free(parser.suffixed);
    return status;
}

/* The texts differ by the suffixes alone, and after a suffix the user's has no f. */
int core_expression_column(const char *text, const char *function, int line, int column)
{
    const char *theirs = text, *ours = strstr(function, place);
    int suffixes = 0;

    if (!ours)
        return column;
    ours += strlen(place);
    for (int i = 1; i < line && theirs && ours; i++) {
        theirs = (theirs = strchr(theirs, '\n')) ? theirs + 1 : NULL;
        ours = (ours = strchr(ours, '\n')) ? ours + 1 : NULL;
    }
    for (int i = 1; theirs && ours && i < column && *ours && *ours != '\n'; i++, ours++) {
        if (*ours == *theirs)
            theirs++;
        else
            suffixes++;
    }
    return column - suffixes;
}
