/* SPDX-License-Identifier: MIT */
#include "head.h"
#include "../language/c_types.h"

#include <string.h>

typedef struct head_reader {
    core_reader reader;
    const core_token *name;
    core_text_error *error;
} head_reader;

static fl_status fail_at(head_reader *h, const core_token *token, const char *what)
{
    return core_source_fail(h->error, token->line, token->column, "%s", what);
}

/* A type that is not one of a number. */
static fl_status fail_of_type(head_reader *h, const core_token *first, core_type_status why)
{
    return core_source_fail(h->error, first->line, first->column,
                            why == CORE_TYPE_NO_ARRAY ? "no array holds all values of this type%s: use long or double"
                                                      : "'%s' is not a type of a number; there are %s",
                            why == CORE_TYPE_NO_ARRAY ? "" : core_token_show(first).text, core_type_names);
}

static fl_status copy_name(head_reader *h, const core_token *token, char name[CORE_NAME_SIZE])
{
    if (token->length >= CORE_NAME_SIZE)
        return core_source_fail(h->error, token->line, token->column, "a name of more than %d bytes",
                                CORE_NAME_SIZE - 1);
    memcpy(name, token->at, token->length);
    name[token->length] = '\0';
    return FL_OK;
}

/* The words before the name. */
static fl_status read_result(head_reader *h, core_signature *signature)
{
    core_type type = {0};
    core_type_status known;
    core_token token, first = {0};
    fl_status status;

    while ((status = core_token_next_of_code(&h->reader, &token, h->error)) == FL_OK && token.kind != CORE_TOKEN_END &&
           token.at != h->name->at) {
        if (token.kind == CORE_TOKEN_TEXT ||
            core_token_is_one_of(&token, "static", "inline", "const", "volatile", "extern", "__device__", "__host__",
                                 "__forceinline__", "__inline__", "__inline", "__attribute__", "_Noreturn", NULL))
            continue;
        if (core_token_is(&token, "("))
            status = core_skip_brackets(&h->reader, h->error); /* an attribute's */
        else if (core_token_is(&token, "__global__"))
            status = fail_at(h, &token, "a kernel: 'flynn map' takes a function of numbers with a result");
        else if (core_token_is(&token, "template"))
            status = fail_at(h, &token, "a function of map is not a template: its types are those of the arrays");
        else if (core_token_is_one_of(&token, "*", "&", NULL))
            status = fail_at(h, &token, "the result is a pointer: a function of map returns a number");
        else if (core_token_is(&token, "void"))
            status = fail_at(h, &token, "no result: a function of map returns a number, an element of the output");
        else if (!core_type_add(&type, &token))
            status = fail_of_type(h, &token, CORE_TYPE_NONE);
        if (status != FL_OK)
            return status;
        first = first.length == 0 ? token : first;
    }
    if (status == FL_OK && type.words == 0)
        return core_source_fail(h->error, h->name->line, h->name->column, "'%s' has no type of its result",
                                core_token_show(h->name).text);
    known = core_type_dtype(&type, &signature->result, &signature->is_bool);
    return status == FL_OK && known != CORE_TYPE_FINE ? fail_of_type(h, &first, known) : status;
}

static fl_status fail_of_array(head_reader *h, const core_token *token)
{
    return fail_at(h, token, "a pointer or an array: a function of map takes numbers, one element of each input");
}

/* Reads a parameter, up to the "," or ")" after it, which is in *token. */
static fl_status read_parameter(head_reader *h, core_signature *signature, core_token *token)
{
    const int index = signature->count;
    core_type type = {0};
    core_token first = {0}, name = {0};
    core_type_status known;
    bool is_bool;
    fl_status status = FL_OK;

    for (; status == FL_OK && !core_token_is_one_of(token, ",", ")", NULL);
         status = core_token_next_of_code(&h->reader, token, h->error)) {
        if (core_token_is_one_of(token, "const", "volatile", "register", NULL))
            continue;
        if (core_token_is_one_of(token, "*", "&", "[", "(", NULL))
            return fail_of_array(h, token);
        if (core_token_is(token, "..."))
            return fail_at(h, token, "'...': a function of map has as many parameters as inputs");
        first = first.length == 0 ? *token : first;
        if (token->kind != CORE_TOKEN_NAME)
            return core_source_fail(h->error, token->line, token->column, "'%s' cannot stand in a parameter",
                                    core_token_show(token).text);
        if (name.length > 0)
            return core_source_fail(h->error, token->line, token->column, "'%s' follows '%s': is a ',' missing?",
                                    core_token_show(token).text, core_token_show(&name).text);
        if (core_type_add(&type, token))
            continue;
        if (type.words == 0)
            return fail_of_type(h, token, CORE_TYPE_NONE);
        name = *token;
    }
    if (status != FL_OK)
        return status;
    if (first.length == 0)
        return fail_at(h, token, "a parameter is missing");
    if (index == FL_MAX_INPUTS)
        return fail_at(h, &first, "more than 8 parameters");
    known = core_type_dtype(&type, &signature->inputs[index], &is_bool);
    if (known != CORE_TYPE_FINE)
        return fail_of_type(h, &first, known);
    if (name.length == 0)
        return core_source_fail(h->error, first.line, first.column, "parameter %d has no name", index + 1);
    signature->count++;
    return copy_name(h, &name, signature->input_names[index]);
}

/* Returns whether "void)" or ")" follows the head's "(". */
static bool takes_nothing(core_reader reader)
{
    core_text_error unused;
    core_token token;

    return core_token_next_of_code(&reader, &token, &unused) == FL_OK &&
           (!core_token_is(&token, "void") || core_token_next_of_code(&reader, &token, &unused) == FL_OK) &&
           core_token_is(&token, ")");
}

/* Reads what stands between ")" and "{". */
static fl_status read_end(head_reader *h)
{
    core_token token;
    fl_status status;

    while ((status = core_token_next_of_code(&h->reader, &token, h->error)) == FL_OK && !core_token_is(&token, "{")) {
        if (core_token_is(&token, "("))
            status = core_skip_brackets(&h->reader, h->error); /* an attribute's */
        else if (!core_token_is(&token, "__attribute__"))
            status = core_source_fail(h->error, token.line, token.column, "'{' is missing before '%s'",
                                      core_token_show(&token).text);
        if (status != FL_OK)
            return status;
    }
    return status;
}

static fl_status read_parameters(head_reader *h, core_signature *signature)
{
    core_token token;
    fl_status status = core_token_next_of_code(&h->reader, &token, h->error); /* ( */

    if (status == FL_OK && takes_nothing(h->reader))
        return fail_at(h, h->name, "no parameter: a function of map takes a number of each input");
    while (status == FL_OK && !core_token_is(&token, ")")) {
        status = core_token_next_of_code(&h->reader, &token, h->error);
        if (status == FL_OK)
            status = read_parameter(h, signature, &token);
    }
    return status == FL_OK ? read_end(h) : status;
}

fl_status core_head_read(core_reader at, const core_token *name, core_signature *signature, core_text_error *error)
{
    head_reader h = {.reader = at, .name = name, .error = error};
    fl_status status = read_result(&h, signature);

    if (status == FL_OK)
        status = copy_name(&h, name, signature->name);
    return status == FL_OK ? read_parameters(&h, signature) : status;
}
