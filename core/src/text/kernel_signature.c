/* SPDX-License-Identifier: MIT */
#include "kernel_signature.h"
#include "kernel_cut.h"
#include "kernel_refused.h"
#include "kernel_written.h"
#include "device/status.h"

#include <stdlib.h>
#include <string.h>

typedef struct head_reader {
    core_reader reader;
    core_text_error *error;
    const kernel_cut *cut;
} head_reader;

static fl_status fail_at(const core_token *token, core_text_error *error, const char *what)
{
    return core_source_fail(error, token->line, token->column, "%s", what);
}

/* ---------------------------------------------------------------------------------------------- parameters ---- */

/* One that is read. */
typedef struct parameter_reader {
    core_type type;
    core_token first, name;
    int pointers;
    bool is_constant; /* what the pointer points to */
    bool is_vector;   /* float4 and the like, whose elements have the type */
} parameter_reader;

/* Reads the name of a vector type, "float4" or "uint2", and finds the type of its elements, for a pointer. */
static bool add_vector(parameter_reader *p, const core_token *token)
{
    static const char *const elements[][3] = {{"char", "char"},
                                              {"uchar", "unsigned", "char"},
                                              {"short", "short"},
                                              {"ushort", "unsigned", "short"},
                                              {"int", "int"},
                                              {"uint", "unsigned", "int"},
                                              {"long", "long"},
                                              {"ulong", "unsigned", "long"},
                                              {"longlong", "long", "long"},
                                              {"ulonglong", "unsigned", "long"}, /* `unsigned long` has as many bits */
                                              {"float", "float"},
                                              {"double", "double"}};
    core_token element = *token;

    if (token->kind != CORE_TOKEN_NAME || p->type.words != 0 || !strchr("1234", token->at[--element.length]))
        return false;
    for (size_t i = 0; i < sizeof elements / sizeof *elements && !p->is_vector; i++) {
        p->is_vector = core_token_is(&element, elements[i][0]);
        for (int w = 1; p->is_vector && w < 3 && elements[i][w]; w++)
            core_type_add(&p->type, &(core_token){CORE_TOKEN_NAME, elements[i][w], strlen(elements[i][w]), 0, 0});
    }
    return p->is_vector;
}

static bool add_alias(parameter_reader *p, const kernel_cut *cut, const core_token *name, int depth);

/* Adds the words of what a name stands for. */
static bool add_words(parameter_reader *p, const kernel_cut *cut, core_reader reader, const char *end, int depth)
{
    core_text_error unused;
    core_token token;
    bool any = false;

    while (core_token_next(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END && token.at < end &&
           !core_token_is(&token, ";")) {
        if (core_token_is(&token, "const"))
            p->is_constant = true;
        else if (core_token_is(&token, "*") && p->pointers == 0 && any)
            p->pointers = 1;
        else if (!core_type_add(&p->type, &token) && !add_vector(p, &token) && !add_alias(p, cut, &token, depth))
            return false;
        any = true;
    }
    return any;
}

/* Reads a name of a type that the text defines, by typedef, using or #define, or a template's parameter. */
static bool add_alias(parameter_reader *p, const kernel_cut *cut, const core_token *name, int depth)
{
    enum { DEEPEST = 8 };
    static const char *const usual[][2] = {{"uchar", "unsigned char"},
                                           {"ushort", "unsigned short"},
                                           {"uint", "unsigned int"},
                                           {"ulong", "unsigned long"},
                                           {"clock_t", "long"}};
    core_reader reader;

    if (name->kind != CORE_TOKEN_NAME || depth == DEEPEST || p->type.words != 0)
        return false;
    for (int i = 0; i < cut->template_count; i++) {
        const cut_parameter *t = &cut->template[i];
        if (!t->is_type || t->name.length != name->length || memcmp(t->name.at, name->at, name->length) != 0)
            continue;
        core_reader_start(&reader, t->value);
        return add_words(p, cut, reader, t->value + strlen(t->value), depth + 1);
    }
    const core_defined *d = core_file_find(&cut->file, name);
    for (int same = 0; d && same < DEEPEST && d < cut->file.names + cut->file.name_count && core_defined_is(d, name);
         d++, same++) {
        core_reader from;
        const char *end;
        if (cut_alias(&cut->file.items[d->item], name, &from, &end))
            return add_words(p, cut, from, end, depth + 1);
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (!core_token_is(name, usual[i][0]))
            continue;
        core_reader_start(&reader, usual[i][1]);
        return add_words(p, cut, reader, usual[i][1] + strlen(usual[i][1]), depth + 1);
    }
    return false;
}

/* Returns whether the text defines the name as a struct, class or union. */
static bool is_struct(const kernel_cut *cut, const core_token *name)
{
    const core_defined *d = core_file_find(&cut->file, name);

    return d && cut->file.items[d->item].kind == CORE_ITEM_TYPE;
}

static fl_status fail_of_type(const kernel_cut *cut, const core_token *token, core_text_error *error)
{
    const core_token_text shown = core_token_show(token);
    const char *name = shown.text, *why = core_type_refused(token);
    const core_type none = {0};
    parameter_reader vector = {.type = none};

    if (is_struct(cut, token))
        return core_source_fail(error, token->line, token->column,
                                "'%s' is a type of the text's own; a kernel takes numbers, and pointers to them: give "
                                "each member an array or a number of its own",
                                name);
    if (why)
        return core_source_fail(error, token->line, token->column, "'%s': %s", name, why);
    if (add_vector(&vector, token) || core_token_is(token, "dim3"))
        return core_source_fail(error, token->line, token->column,
                                "'%s' alone is no argument: give the kernel its members as numbers, or a pointer",
                                name);
    return core_source_fail(error, token->line, token->column,
                            "'%s' is not a type of a number; a kernel takes numbers, and pointers to them: %s", name,
                            core_type_names);
}

static fl_status add_word(parameter_reader *p, const kernel_cut *cut, const core_token *token, core_text_error *error)
{
    if (core_token_is_one_of(token, "volatile", "register", "__restrict__", "__restrict", "restrict",
                             "__grid_constant__", NULL))
        return FL_OK;
    if (core_token_is(token, "const")) {
        p->is_constant = p->is_constant || p->pointers == 0;
        return FL_OK;
    }
    if (core_token_is(token, "*")) {
        if (p->type.words == 0)
            return fail_at(token, error, "a pointer to nothing: its type is missing");
        return ++p->pointers == 1 ? FL_OK : fail_at(token, error, "a pointer to a pointer: a kernel takes arrays");
    }
    if (token->kind != CORE_TOKEN_NAME)
        return core_source_fail(error, token->line, token->column, "'%s' cannot stand in a kernel's parameter",
                                core_token_show(token).text);
    p->first = p->first.length == 0 ? *token : p->first;
    if (p->name.length > 0)
        return core_source_fail(error, token->line, token->column, "'%s' follows '%s': is a ',' missing?",
                                core_token_show(token).text, core_token_show(&p->name).text);
    if (p->pointers == 0 && (core_type_add(&p->type, token) || add_vector(p, token) || add_alias(p, cut, token, 0)))
        return FL_OK;
    if (p->type.words == 0)
        return fail_of_type(cut, token, error);
    p->name = *token;
    return FL_OK;
}

/* The dtype of the elements that a pointer points to. */
static bool dtype_of_elements(const core_type_layout *layout, fl_dtype *dtype)
{
    if (layout->is_real)
        *dtype = layout->size == 4 ? FL_F32 : FL_F64;
    else
        *dtype = layout->size == 1 ? FL_U8 : layout->size == 4 ? FL_I32 : FL_I64;
    return layout->size != 2;
}

/* Makes a parameter of what was read. */
static fl_status settle(const parameter_reader *p, const kernel_cut *cut, const core_token *end,
                        core_parameter *parameter, core_text_error *error)
{
    const core_token *first = &p->first;
    bool is_bool;

    if (first->length == 0)
        return fail_at(end, error, "a parameter is missing");
    if (!core_type_lies(&p->type, &parameter->layout) || (p->is_vector && p->pointers == 0))
        return fail_of_type(cut, first, error);
    if (p->name.length == 0)
        return fail_at(first, error, "a parameter without a name");
    if (p->name.length >= CORE_NAME_SIZE)
        return fail_at(&p->name, error, "a name of more than 63 bytes");
    memcpy(parameter->name, p->name.at, p->name.length);
    parameter->is_array = p->pointers > 0;
    parameter->is_constant = parameter->is_array && p->is_constant;
    parameter->lanes = p->is_vector ? first->at[first->length - 1] - '0' : 1;
    if (!parameter->is_array)
        core_type_dtype(&p->type, &parameter->dtype, &is_bool);
    else if (!dtype_of_elements(&parameter->layout, &parameter->dtype))
        return fail_at(first, error, "no array has elements of two bytes: use int, or uint8_t");
    return FL_OK;
}

/* Reads a parameter, up to the "," or ")" after it, which is in *token. */
static fl_status read_parameter(head_reader *h, core_parameter *parameter, core_token *token)
{
    parameter_reader p = {.pointers = 0};
    fl_status status = FL_OK;

    while (status == FL_OK && !core_token_is_one_of(token, ",", ")", NULL)) {
        if (core_token_is(token, "[") && p.name.length > 0 && p.pointers == 0) {
            p.pointers = 1; /* T name[] is a pointer, too */
            status = core_skip_brackets(&h->reader, h->error);
        } else {
            status = add_word(&p, h->cut, token, h->error);
        }
        if (status == FL_OK)
            status = core_token_next_of_code(&h->reader, token, h->error);
    }
    return status == FL_OK ? settle(&p, h->cut, token, parameter, h->error) : status;
}

/* Returns whether nothing, or void, follows the "(". */
static bool takes_nothing(core_reader reader)
{
    core_text_error unused;
    core_token token;

    if (core_token_next_of_code(&reader, &token, &unused) != FL_OK)
        return false;
    if (core_token_is(&token, "void") && core_token_next_of_code(&reader, &token, &unused) != FL_OK)
        return false;
    return core_token_is(&token, ")");
}

static fl_status read_parameters(head_reader *h, core_kernel_signature *signature)
{
    core_token token = {0};
    fl_status status = FL_OK;

    if (takes_nothing(h->reader))
        return FL_OK;
    while (status == FL_OK && !core_token_is(&token, ")")) {
        status = core_token_next_of_code(&h->reader, &token, h->error);
        if (status == FL_OK && signature->count == FL_MAX_PARAMETERS)
            return core_source_fail(h->error, token.line, token.column, "more than %d parameters", FL_MAX_PARAMETERS);
        if (status == FL_OK)
            status = read_parameter(h, &signature->parameters[signature->count], &token);
        signature->count += status == FL_OK;
    }
    return status;
}

/* --------------------------------------------------------------------------------------------- the whole ---- */

static fl_status read_kernel(kernel_cut *cut, core_kernel_signature *signature, core_text_error *error)
{
    const core_item *item = &cut->file.items[cut->kernel];
    head_reader h = {.reader = item->parameters, .error = error, .cut = cut};

    if (item->name.length >= CORE_NAME_SIZE)
        return fail_at(&item->name, error, "a name of more than 63 bytes");
    memcpy(signature->name, item->name.at, item->name.length);
    return read_parameters(&h, signature);
}

static unsigned find_written(const kernel_cut *cut, const core_kernel_signature *signature)
{
    const char *names[FL_MAX_PARAMETERS];

    for (int i = 0; i < signature->count; i++) {
        const core_parameter *p = &signature->parameters[i];
        names[i] = p->is_array && !p->is_constant ? p->name : NULL;
    }
    return core_kernel_written(cut, names, signature->count);
}

fl_status core_kernel_signature_read(const char *text, const char *entry, core_kernel_signature *signature,
                                     char **clean, core_text_error *error)
{
    kernel_cut *cut = calloc(1, sizeof *cut);
    fl_status status;

    *signature = (core_kernel_signature){.count = 0};
    *clean = NULL;
    if (!cut)
        return core_fail(FL_E_MEMORY, "out of host memory");
    status = cut_begin(cut, text, entry, error);
    if (status == FL_OK)
        status = read_kernel(cut, signature, error);
    if (status == FL_OK)
        status = cut_end(cut);
    if (status == FL_OK)
        status = core_kernel_refused(cut, error);
    if (status != FL_OK)
        free(cut->compiled);
    if (status == FL_OK) {
        *clean = cut->clean;
        signature->compiled = cut->compiled;
        signature->written = find_written(cut, signature);
        signature->prints = core_kernel_prints(cut);
        memcpy(signature->left_out, cut->left_out, sizeof signature->left_out);
        memcpy(signature->kernels, cut->kernels, sizeof signature->kernels);
        memcpy(signature->unfilled, cut->unfilled, sizeof signature->unfilled);
        cut->clean = NULL;
    }
    cut_free(cut);
    free(cut);
    return status;
}
