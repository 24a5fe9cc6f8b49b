/* SPDX-License-Identifier: MIT
 *
 * template.c - the parameters of a kernel that is a template, and what each is.
 */
#include "cut.h"

#include <stdio.h>
#include <string.h>

static fl_status fail_at(const core_token *token, core_text_error *error, const char *what)
{
    return core_source_fail(error, token->line, token->column, "%s", what);
}

static void append(char to[CUT_VALUE], const core_token *token)
{
    const size_t used = strlen(to);

    snprintf(to + used, CUT_VALUE - used, "%s%.*s", used ? " " : "", (int)token->length, token->at);
}

/* Takes the next argument of "float, 16>". */
static void next_argument(const char **arguments, char value[CUT_VALUE])
{
    const char *at = *arguments + strspn(*arguments, " ");
    size_t length = strcspn(at, ",>");

    *arguments = at[length] == ',' ? at + length + 1 : at + length;
    while (length > 0 && at[length - 1] == ' ')
        length--;
    snprintf(value, CUT_VALUE, "%.*s", (int)length, at);
}

static fl_status settle_template(kernel_cut *cut, cut_parameter *p, const core_token *end, const char **arguments,
                                 core_text_error *error)
{
    const core_item *item = &cut->file.items[cut->kernel];

    if (p->name.length == 0 || (!p->is_type && !*p->words))
        return fail_at(end, error, "a parameter of a template that is neither a type nor a number");
    if (*arguments && **arguments && **arguments != '>')
        next_argument(arguments, p->value);
    if (!*p->value)
        return core_source_fail(error, p->name.line, p->name.column,
                                "%.*s is a template, and nothing says what %.*s is: --entry='%.*s<%s>' does",
                                (int)(item->name.length < CORE_NAME_SIZE ? item->name.length : 0), item->name.at,
                                (int)(p->name.length < CORE_NAME_SIZE ? p->name.length : 0), p->name.at,
                                (int)(item->name.length < CORE_NAME_SIZE ? item->name.length : 0), item->name.at,
                                p->is_type ? "float" : "16");
    if (strpbrk(p->value, ";{}()#\\\"'\n\r"))
        return fail_at(&p->name, error, "an argument of a template is the name of a type, or a number");
    cut->template_count++;
    return FL_OK;
}

fl_status cut_read_template(kernel_cut *cut, const char *arguments, core_text_error *error)
{
    const core_item *item = &cut->file.items[cut->kernel];
    core_reader reader = item->start;
    core_token token = {0};
    cut_parameter *p = &cut->template[0];
    bool has_default = false;
    fl_status status = FL_OK;

    if (item->template_at.length == 0)
        return arguments ? fail_at(&item->name, error, "this kernel is not a template: --entry=NAME chooses it")
                         : FL_OK;
    if (item->template_end.length == 0)
        return fail_at(&item->template_at, error, "a '<' is missing after it");
    while (status == FL_OK && !core_token_is(&token, "<"))
        status = core_token_next_of_code(&reader, &token, error);
    while (status == FL_OK && token.at < item->template_end.at) {
        status = core_token_next_of_code(&reader, &token, error);
        if (core_token_is(&token, ",") || token.at >= item->template_end.at) {
            status = settle_template(cut, p, &token, &arguments, error);
            if (status == FL_OK && cut->template_count == CUT_MOST_TEMPLATE)
                return fail_at(&token, error, "a template of too many parameters");
            p = &cut->template[cut->template_count];
            has_default = false;
        } else if (core_token_is(&token, "=")) {
            has_default = true;
        } else if (has_default) {
            append(p->value, &token);
        } else if (core_token_is_one_of(&token, "typename", "class", NULL)) {
            p->is_type = true;
        } else if (token.kind == CORE_TOKEN_NAME) {
            if (p->name.length > 0)
                append(p->words, &p->name);
            p->name = token;
        }
    }
    return status;
}
