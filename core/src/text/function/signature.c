/* SPDX-License-Identifier: MIT */
#include "signature.h"
#include "../language/text_functions.h"
#include "../language/math_functions.h"

#include <stdlib.h>
#include <string.h>

/* The functions that were found so far: the last one, and whether the text defines max and min. */
typedef struct found_function {
    core_definition last; /* name.length 0: there is none */
    bool own_max, own_min;
} found_function;

static fl_status take(void *user, const core_definition *definition, core_text_error *error)
{
    found_function *found = user;
    const core_token *name = &definition->name;
    bool is_float;

    found->own_max = found->own_max || core_token_is(name, "max");
    found->own_min = found->own_min || core_token_is(name, "min");
    if (!core_token_is_one_of(name, "max", "min", NULL) && core_function_find(name->at, name->length, &is_float))
        return core_source_fail(error, name->line, name->column,
                                "'%s' is a function that flynn has: give yours another name",
                                core_token_show(name).text);
    found->last = *definition;
    return FL_OK;
}

/* Its name, before a bracket, within its own body. */
static bool calls_itself(const core_definition *d)
{
    core_text_error unused;
    core_reader reader = d->body;
    core_token token, before = {0};

    for (int depth = 1;
         depth > 0 && core_token_next_of_code(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END;
         before = token) {
        if (core_token_is(&token, "(") && before.kind == CORE_TOKEN_NAME && before.length == d->name.length &&
            memcmp(before.at, d->name.at, before.length) == 0)
            return true;
        depth += core_token_is(&token, "{") - core_token_is(&token, "}");
    }
    return false;
}

static fl_status read_head(const found_function *found, core_signature *signature, core_text_error *error)
{
    const core_token *name = &found->last.name;

    if (name->length == 0)
        return core_source_fail(error, 1, 1,
                                "no function is defined here; one is: double square(double x) { return x * x; }");
    if (core_token_is(name, "main"))
        return core_source_fail(error, name->line, name->column,
                                "the last function is main: leave it out, the function to map is the last one");
    return core_head_read(found->last.item, name, signature, error);
}

fl_status core_signature_read(const char *text, core_signature *signature, char **clean, core_text_error *error)
{
    found_function found = {.own_max = false};
    core_definition_reader reader = {.take = take, .user = &found};
    fl_status status = core_definitions_read(text, &reader, clean, error);

    *signature = (core_signature){0};
    if (status != FL_OK)
        return status;
    status = read_head(&found, signature, error);
    if (status != FL_OK) {
        free(*clean);
        *clean = NULL;
        return status;
    }
    signature->loops = reader.loops || calls_itself(&found.last);
    signature->own_max = found.own_max;
    signature->own_min = found.own_min;
    return FL_OK;
}
