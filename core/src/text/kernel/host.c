/* SPDX-License-Identifier: MIT
 *
 * host.c - leaves out C++ of the host that has a name which the kernel uses: an overload of a function or of the
 * kernel, and functions of a struct. A device's compiler has no C++ library, and would refuse the whole text for it.
 */
#include "host.h"
#include "refused.h"
#include "../language/math_functions.h"

#include <string.h>

/* Returns whether a device has a function of the item's name: the text defines one, or it is one of math.h and the
 * like. */
static bool has_other(const kernel_cut *cut, const core_item *item)
{
    const core_defined *const end = cut->file.names + cut->file.name_count;
    bool is_float;

    for (const core_defined *d = core_file_find(&cut->file, &item->name);
         d && d < end && core_defined_is(d, &item->name); d++)
        if (cut->file.items[d->item].is_device)
            return true;
    return core_token_is_one_of(&item->name, "max", "min", "abs", NULL) ||
           core_function_find(item->name.at, item->name.length, &is_float);
}

/* Returns whether a function of the host is called as the kernel, which it launches as a rule. */
static bool has_name_of_kernel(const kernel_cut *cut, const core_item *item)
{
    const core_token *name = &cut->file.items[cut->kernel].name;

    return item->name.length == name->length && memcmp(item->name.at, name->at, name->length) == 0;
}

/* A declaration within a struct. */
typedef struct member {
    core_reader start; /* before its first token */
    const char *at, *end;
    bool is_function, is_device;
} member;

/* Reads a declaration up to its ";" or the end of its body; *token is its first token. Returns false at the end of the
 * text. */
static bool read_member(core_reader *reader, core_token *token, member *m)
{
    core_text_error unused;
    core_token before = {0};
    bool has_list = false, ends = false; /* has_list: a constructor's, after ":" */

    *m = (member){.start = m->start, .at = token->at};
    while (!ends) {
        const bool is_body = m->is_function && !(has_list && before.kind == CORE_TOKEN_NAME);
        const core_token opening = *token;
        if (token->kind == CORE_TOKEN_END)
            return false;
        m->is_device = m->is_device || core_token_is(token, "__device__");
        m->is_function = m->is_function || core_token_is(token, "(");
        has_list = has_list || (core_token_is(token, ":") && m->is_function);
        ends = core_token_is(token, ";") || (core_token_is(token, "{") && is_body) ||
               (core_token_is(token, ":") && core_token_is_one_of(&before, "public", "private", "protected", NULL));
        if (core_token_is_one_of(token, "(", "[", "{", NULL) && core_skip_brackets(reader, &unused) != FL_OK)
            return false;
        before = opening;
        m->end = reader->at;
        if (!ends && core_token_next_of_code(reader, token, &unused) != FL_OK)
            return false;
    }
    return true;
}

/* Blanks the functions of a struct that are for the host alone. */
static void leave_members(kernel_cut *cut, const core_item *item)
{
    core_reader reader = item->start;
    core_text_error unused;
    core_token token = {0};
    bool is_struct = false;
    member m;

    while (!core_token_is(&token, "{")) {
        if (core_token_next_of_code(&reader, &token, &unused) != FL_OK || token.kind == CORE_TOKEN_END ||
            token.at >= item->end)
            return;
        is_struct = is_struct || core_token_is_one_of(&token, "struct", "class", NULL);
    }
    while (is_struct) {
        m.start = reader;
        if (core_token_next_of_code(&reader, &token, &unused) != FL_OK || token.at >= item->end ||
            core_token_is(&token, "}") || !read_member(&reader, &token, &m))
            return;
        if (m.is_function && !m.is_device && core_names_library(m.start, m.end))
            cut_blank(cut->clean, m.start, m.at, m.end);
    }
}

void core_kernel_leave_host(kernel_cut *cut)
{
    for (int i = 0; i < cut->file.count; i++) {
        core_item *item = &cut->file.items[i];
        if (item->kind == CORE_ITEM_TYPE)
            leave_members(cut, item);
        else if ((item->kind == CORE_ITEM_FUNCTION || item->kind == CORE_ITEM_PROTOTYPE) && !item->is_device &&
                 !item->is_kernel)
            item->is_host =
                has_name_of_kernel(cut, item) || (core_names_library(item->start, item->end) && has_other(cut, item));
    }
}
