/* SPDX-License-Identifier: MIT */
#include "kernel_signature.h"
#include "text_functions.h"
#include "device/status.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 64 };

/* The kernels that were found so far. */
typedef struct found_kernels {
    const char *entry;     /* NULL: the last one */
    core_definition found; /* name.length 0: there is none */
    char names[MOST_KERNELS][CORE_NAME_SIZE];
    int count;
} found_kernels;

/* The head of the kernel that is read. */
typedef struct head_reader {
    core_reader reader;
    core_text_error *error;
} head_reader;

static fl_status fail_at(const core_token *token, core_text_error *error, const char *what)
{
    return core_source_fail(error, token->line, token->column, "%s", what);
}

/* Returns whether the word stands before the function's name; *token is then the word. */
static bool stands_before_name(const core_definition *d, const char *word, core_token *token)
{
    core_text_error unused;
    core_reader reader = d->item;

    while (core_token_next_of_code(&reader, token, &unused) == FL_OK && token->kind != CORE_TOKEN_END &&
           token->at != d->name.at)
        if (core_token_is(token, word))
            return true;
    return false;
}

static fl_status take(void *user, const core_definition *definition, core_text_error *error)
{
    found_kernels *found = user;
    core_token token;

    (void)error;
    if (!stands_before_name(definition, "__global__", &token))
        return FL_OK;
    if (found->count < MOST_KERNELS && definition->name.length < CORE_NAME_SIZE) {
        memcpy(found->names[found->count], definition->name.at, definition->name.length);
        found->names[found->count++][definition->name.length] = '\0';
    }
    if (!found->entry || core_token_is(&definition->name, found->entry))
        found->found = *definition;
    return FL_OK;
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

static fl_status fail_of_type(const core_token *token, core_text_error *error)
{
    return core_source_fail(error, token->line, token->column,
                            "'%s' is not a type of a number; a kernel takes numbers, and pointers to them: %s",
                            core_token_show(token).text, core_type_names);
}

static fl_status add_word(parameter_reader *p, const core_token *token, core_text_error *error)
{
    if (core_token_is_one_of(token, "volatile", "register", "__restrict__", "__restrict", "restrict", NULL))
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
        return core_source_fail(error, token->line, token->column, "'%s' stands behind '%s': is a ',' missing?",
                                core_token_show(token).text, core_token_show(&p->name).text);
    if (p->pointers == 0 && (core_type_add(&p->type, token) || add_vector(p, token)))
        return FL_OK;
    if (p->type.words == 0)
        return fail_of_type(token, error);
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
static fl_status settle(const parameter_reader *p, const core_token *end, core_parameter *parameter,
                        core_text_error *error)
{
    const core_token *first = &p->first;
    bool is_bool;

    if (first->length == 0)
        return fail_at(end, error, "a parameter is missing");
    if (!core_type_lies(&p->type, &parameter->layout) || (p->is_vector && p->pointers == 0))
        return fail_of_type(first, error);
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
            status = add_word(&p, token, h->error);
        }
        if (status == FL_OK)
            status = core_token_next_of_code(&h->reader, token, h->error);
    }
    return status == FL_OK ? settle(&p, token, parameter, h->error) : status;
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
    core_token token;
    fl_status status = core_token_next_of_code(&h->reader, &token, h->error); /* ( */

    if (status != FL_OK || takes_nothing(h->reader))
        return status;
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

/* extern "C" __global__ void NAME(...): a definition that follows inherits the linkage. */
static fl_status declare(const core_definition *d, core_kernel_signature *signature)
{
    static const char before[] = "extern \"C\" __global__ void ";
    core_text_error unused;
    core_reader reader;
    core_token token;
    size_t used = sizeof before - 1;
    char *text = malloc(sizeof before + (size_t)(d->body.at - d->name.at) * 2 + 2);

    if (!text)
        return core_fail(FL_E_MEMORY, "out of host memory");
    memcpy(text, before, used);
    /* Up to the bracket that closes the parameters: one blank after each token. */
    core_reader_start(&reader, d->name.at);
    for (int depth = -1; depth != 0 && core_token_next_of_code(&reader, &token, &unused) == FL_OK;) {
        const int opens = core_token_is(&token, "(") - core_token_is(&token, ")");
        depth = depth < 0 && opens == 0 ? -1 : depth < 0 ? 1 : depth + opens;
        memcpy(text + used, token.at, token.length);
        used += token.length;
        text[used++] = ' ';
    }
    memcpy(text + used, ";\n", sizeof ";\n");
    signature->declaration = text;
    return FL_OK;
}

/* There is no kernel, or none of that name. */
static fl_status fail_of_entry(const found_kernels *found, core_text_error *error)
{
    const char *names[MOST_KERNELS], *nearest;

    if (found->count == 0)
        return core_source_fail(error, 1, 1,
                                "no kernel is defined here; one is: __global__ void one(float *out) { "
                                "out[threadIdx.x] = 1; }");
    for (int i = 0; i < found->count; i++)
        names[i] = found->names[i];
    nearest = fl_nearest_name(found->entry, names, (size_t)found->count);
    return core_source_fail(error, 1, 1,
                            nearest ? "no kernel '%s' is defined here; did you mean '%s'?"
                                    : "no kernel '%s' is defined here; the last one is '%s'",
                            found->entry, nearest ? nearest : names[found->count - 1]);
}

static fl_status read_kernel(const found_kernels *found, core_kernel_signature *signature, core_text_error *error)
{
    const core_definition *d = &found->found;
    head_reader h = {.reader = d->body, .error = error};
    core_token token;
    fl_status status;

    if (d->name.length == 0)
        return fail_of_entry(found, error);
    if (d->name.length >= CORE_NAME_SIZE)
        return fail_at(&d->name, error, "a name of more than 63 bytes");
    if (stands_before_name(d, "template", &token))
        return fail_at(&token, error, "a kernel that is launched by its name is not a template");
    if (stands_before_name(d, "static", &token))
        return fail_at(&token, error, "a kernel that is launched by its name is not static");
    if (!stands_before_name(d, "void", &token))
        return fail_at(&d->name, error, "a kernel returns void");
    memcpy(signature->name, d->name.at, d->name.length);
    for (h.reader = d->item; h.reader.at < d->name.at + d->name.length;)
        core_token_next_of_code(&h.reader, &token, error); /* to the end of the name */
    status = read_parameters(&h, signature);
    return status == FL_OK ? declare(d, signature) : status;
}

fl_status core_kernel_signature_read(const char *text, const char *entry, core_kernel_signature *signature,
                                     char **clean, core_text_error *error)
{
    found_kernels *found = calloc(1, sizeof *found);
    core_definition_reader reader = {.take = take, .user = found, .is_cxx = true};
    fl_status status;

    *signature = (core_kernel_signature){.count = 0};
    *clean = NULL;
    if (!found)
        return core_fail(FL_E_MEMORY, "out of host memory");
    found->entry = entry;
    status = core_definitions_read(text, &reader, clean, error);
    if (status == FL_OK) {
        status = read_kernel(found, signature, error);
        if (status != FL_OK) {
            free(*clean);
            *clean = NULL;
        }
    }
    free(found);
    return status;
}
