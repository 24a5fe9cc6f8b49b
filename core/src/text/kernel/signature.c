/* SPDX-License-Identifier: MIT */
#include "signature.h"
#include "branches.h"
#include "cut.h"
#include "host.h"
#include "refused.h"
#include "rewrite.h"
#include "type.h"
#include "written.h"
#include "base/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct head_reader {
    core_reader reader;
    core_text_error *error;
    const kernel_cut *cut;
    core_kernel_signature *signature;
} head_reader;

static fl_status fail_at(const core_token *token, core_text_error *error, const char *what)
{
    return core_source_fail(error, token->line, token->column, "%s", what);
}

/* ---------------------------------------------------------------------------------------------- parameters ---- */

/* One that is read. */
typedef struct parameter_reader {
    kernel_type type;
    core_token first, name;
    int first_number; /* the numbers of a value are those from this one on */
} parameter_reader;

static fl_status fail_of_type(const kernel_cut *cut, const core_token *token, core_text_error *error)
{
    const core_token_text shown = core_token_show(token);
    const char *name = shown.text, *why = core_type_refused(token);

    if (kernel_type_is_struct(cut, token))
        return core_source_fail(error, token->line, token->column,
                                "'%s' is a type of the text's own with more than numbers, such as pointers, a union or "
                                "a base: give each member an array or a number of its own",
                                name);
    if (why)
        return core_source_fail(error, token->line, token->column, "'%s': %s", name, why);
    return core_source_fail(error, token->line, token->column,
                            "'%s' is not a type of a number; a kernel takes numbers, and pointers to them: %s", name,
                            core_type_names);
}

static fl_status add_word(parameter_reader *p, const kernel_cut *cut, const core_token *token, core_text_error *error)
{
    if (core_token_is_one_of(token, "volatile", "register", "__restrict__", "__restrict", "restrict",
                             "__grid_constant__", "enum", "struct", "class", "typename", NULL))
        return FL_OK;
    if (core_token_is(token, "const")) {
        p->type.is_constant = p->type.is_constant || p->type.pointers == 0;
        return FL_OK;
    }
    if (core_token_is(token, "*")) {
        if (p->type.words.words == 0)
            return fail_at(token, error, "a pointer to nothing: its type is missing");
        return ++p->type.pointers == 1 ? FL_OK : fail_at(token, error, "a pointer to a pointer: a kernel takes arrays");
    }
    if (token->kind != CORE_TOKEN_NAME)
        return core_source_fail(error, token->line, token->column, "'%s' cannot stand in a kernel's parameter",
                                core_token_show(token).text);
    p->first = p->first.length == 0 ? *token : p->first;
    if (p->name.length > 0)
        return core_source_fail(error, token->line, token->column, "'%s' follows '%s': is a ',' missing?",
                                core_token_show(token).text, core_token_show(&p->name).text);
    if (p->type.pointers == 0 && kernel_type_add(&p->type, cut, token))
        return FL_OK;
    if (p->type.words.words == 0)
        return fail_of_type(cut, token, error);
    p->name = *token;
    return FL_OK;
}

/* Finds the dtype of the elements that a pointer points to. No dtype has two bytes: short * is an array of bytes, as a
 * struct of several types is. */
static void find_elements(core_parameter *parameter, const kernel_type *type)
{
    core_type_layout *layout = &parameter->layout;

    parameter->is_bytes = type->is_mixed || layout->size == 2;
    if (layout->size == 2) {
        parameter->lanes *= 2;
        *layout = (core_type_layout){.size = 1, .is_unsigned = true};
    }
    if (layout->is_real)
        parameter->dtype = layout->size == 4 ? FL_F32 : FL_F64;
    else
        parameter->dtype = layout->size == 1 ? FL_U8 : layout->size == 4 ? FL_I32 : FL_I64;
}

/* A vector or a struct that is passed by value. */
static fl_status settle_value(head_reader *h, const parameter_reader *p, core_parameter *parameter)
{
    core_kernel_signature *signature = h->signature;
    core_numbers *numbers = &signature->numbers;
    const char *name = core_token_show(&p->first).text;
    const int64_t bytes = (int64_t)p->type.lanes * parameter->layout.size, end = signature->value_bytes + bytes;

    if (end > CORE_MOST_VALUES)
        return core_source_fail(h->error, p->first.line, p->first.column,
                                "'%s' has %" PRId64 " bytes; all vectors and structs that a kernel takes by value have "
                                "at most %d: give it a pointer",
                                name, bytes, CORE_MOST_VALUES);
    if (numbers->differs || p->type.alignment > CORE_VALUE_ALIGNMENT)
        return core_source_fail(h->error, p->first.line, p->first.column,
                                numbers->differs ? "'%s' has a vector of four numbers of 8 bytes, whose place is "
                                                   "another one for each vendor: give it their members"
                                                 : "'%s' lies at multiples of more than %d bytes: give it a pointer",
                                name, CORE_VALUE_ALIGNMENT);
    kernel_type_note(&p->type, &p->name, p->first_number);
    parameter->first = p->first_number;
    parameter->numbers = numbers->count - p->first_number;
    parameter->bytes = (int)bytes;
    parameter->at = signature->value_bytes;
    parameter->dtype = numbers->count > p->first_number ? numbers->list[p->first_number].dtype : FL_U8;
    signature->value_bytes = (int)((end + CORE_VALUE_ALIGNMENT - 1) / CORE_VALUE_ALIGNMENT * CORE_VALUE_ALIGNMENT);
    return FL_OK;
}

/* Makes a parameter of what was read. */
static fl_status settle(head_reader *h, const parameter_reader *p, const core_token *end, core_parameter *parameter)
{
    const core_token *first = &p->first;
    core_text_error *error = h->error;
    fl_status status = FL_OK;
    bool is_bool;

    if (first->length == 0)
        return fail_at(end, error, "a parameter is missing");
    if (!core_type_lies(&p->type.words, &parameter->layout))
        return fail_of_type(h->cut, first, error);
    if (p->name.length == 0)
        return fail_at(first, error, "a parameter without a name");
    if (p->name.length >= CORE_NAME_SIZE)
        return fail_at(&p->name, error, "a name of more than 63 bytes");
    memcpy(parameter->name, p->name.at, p->name.length);
    parameter->is_array = p->type.pointers > 0;
    parameter->is_constant = parameter->is_array && p->type.is_constant;
    parameter->lanes = p->type.lanes > 0 ? p->type.lanes : 1;
    if (parameter->is_array)
        find_elements(parameter, &p->type);
    else if (p->type.lanes > 0)
        status = settle_value(h, p, parameter);
    else
        core_type_dtype(&p->type.words, &parameter->dtype, &is_bool);
    if (parameter->numbers == 0)
        h->signature->numbers.count = p->first_number;
    if (h->signature->numbers.no_memory)
        return core_fail(FL_E_MEMORY, "out of host memory");
    h->signature->numbers.differs = false;
    return status;
}

/* Skips "space::" before a name, which is then in *token as "space" was. What is refused for its namespace stays. */
static bool skip_space(head_reader *h, core_token *token)
{
    core_reader reader = h->reader;
    core_text_error unused;
    core_token name;

    for (int i = 0; i < 2; i++)
        if (core_token_next_of_code(&reader, &name, &unused) != FL_OK || !core_token_is(&name, ":"))
            return false;
    if (core_token_next_of_code(&reader, &name, &unused) != FL_OK || name.kind != CORE_TOKEN_NAME ||
        (core_type_refused(token) && !(core_token_is(token, "std") && core_std_has(&name))))
        return false;
    h->reader = reader;
    *token = name;
    return true;
}

/* Reads a parameter, up to the "," or ")" after it, which is in *token. */
static fl_status read_parameter(head_reader *h, core_parameter *parameter, core_token *token)
{
    core_numbers *const numbers = &h->signature->numbers;
    parameter_reader p = {.type.numbers = numbers, .first_number = numbers->count};
    bool has_brackets = false;
    fl_status status = FL_OK;

    while (status == FL_OK && !core_token_is_one_of(token, ",", ")", NULL)) {
        while (token->kind == CORE_TOKEN_NAME && skip_space(h, token))
            continue;
        if (core_token_is(token, "[") && p.name.length > 0 && (p.type.pointers == 0 || has_brackets)) {
            p.type.pointers =
                1; /* T name[] is a pointer, too, and T name[][3] points to elements one after the other */
            has_brackets = true;
            status = core_skip_brackets(&h->reader, h->error);
        } else {
            status = add_word(&p, h->cut, token, h->error);
        }
        if (status == FL_OK)
            status = core_token_next_of_code(&h->reader, token, h->error);
    }
    return status == FL_OK ? settle(h, &p, token, parameter) : status;
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
    head_reader h = {.reader = item->parameters, .error = error, .cut = cut, .signature = signature};

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

void core_kernel_signature_free(core_kernel_signature *signature)
{
    free(signature->compiled);
    free(signature->numbers.list);
    signature->compiled = NULL;
    signature->numbers = (core_numbers){.count = 0};
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
        core_kernel_leave_host(cut);
    if (status == FL_OK)
        status = read_kernel(cut, signature, error);
    if (status == FL_OK)
        status = cut_end(cut);
    if (status == FL_OK)
        status = cut_check(cut, error);
    if (status == FL_OK)
        status = core_kernel_refused(cut, error);
    if (status != FL_OK) {
        free(cut->compiled);
        core_kernel_signature_free(signature);
    }
    if (status == FL_OK) {
        if (cut->hides)
            core_branches_show(cut->clean);
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
