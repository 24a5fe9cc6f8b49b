/* SPDX-License-Identifier: MIT
 *
 * cut.c - chooses a kernel of a file, and makes the text for a compiler of it: the kernel and what it names,
 * each in its place, the rest blank.
 */
#include "cut.h"
#include "branches.h"
#include "rewrite.h"
#include "../language/text_functions.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fl_status fail_at(const core_token *token, core_text_error *error, const char *what)
{
    return core_source_fail(error, token->line, token->column, "%s", what);
}

/* Appends to a list with ", " between its parts; what has no room becomes "...". */
static void list(char *to, size_t size, const char *word, size_t length)
{
    const size_t used = strlen(to);

    if (used + length + sizeof ", ..." < size)
        snprintf(to + used, size - used, "%s%.*s", used ? ", " : "", (int)length, word);
    else if (used < 3 || strcmp(to + used - 3, "...") != 0)
        snprintf(to + used, size - used, ", ...");
}

static void take_include(void *user, const char *words)
{
    kernel_cut *cut = user;

    if (strstr(words, "cooperative_groups")) /* a device's text has them */
        return;
    if (cut->include_count < CUT_MOST_INCLUDES)
        snprintf(cut->includes[cut->include_count], sizeof *cut->includes, "%s", words);
    cut->include_count++;
}

void cut_free(kernel_cut *cut)
{
    free(cut->clean);
    core_file_free(&cut->file);
}

bool cut_alias(const core_item *item, const core_token *name, core_reader *from, const char **end)
{
    core_text_error unused;
    core_token token;

    *from = item->start;
    *end = item->end;
    if (item->kind == CORE_ITEM_MACRO)
        return true;
    if (item->kind != CORE_ITEM_TYPE || core_token_next_of_code(from, &token, &unused) != FL_OK)
        return false;
    if (core_token_is(&token, "typedef")) {
        *end = item->name.at;
        return item->name.length == name->length && memcmp(item->name.at, name->at, name->length) == 0;
    }
    return core_token_is(&token, "using") && core_token_next_of_code(from, &token, &unused) == FL_OK &&
           core_token_next_of_code(from, &token, &unused) == FL_OK && core_token_is(&token, "=");
}

/* ------------------------------------------------------------------------------------------------ choosing ---- */

/* Splits "SPACE::NAME<ARGUMENTS>". */
static void split_entry(const char *entry, core_token *name, const char **arguments)
{
    size_t length = strcspn(entry, "<");
    const char *at = entry;

    *arguments = entry[length] ? entry + length + 1 : NULL;
    for (const char *c = entry; c + 1 < entry + length; c++)
        if (c[0] == ':' && c[1] == ':')
            at = c + 2;
    while (entry + length > at && entry[length - 1] == ' ')
        length--;
    *name = (core_token){CORE_TOKEN_NAME, at, (size_t)(entry + length - at), 1, 1};
}

/* Returns whether the item is in the namespace that the entry names before its last "::". */
static bool is_in_scope(const core_file *file, const core_item *item, const char *entry, const core_token *name)
{
    const size_t length = name->at > entry ? (size_t)(name->at - entry) - 2 : 0;
    const core_token *scope = item->scope >= 0 ? &file->scopes[item->scope].name : NULL;

    return length == 0 ||
           (scope && scope->length <= length && memcmp(entry + length - scope->length, scope->at, scope->length) == 0);
}

static fl_status fail_of_entry(const kernel_cut *cut, const char *entry, core_text_error *error)
{
    enum { MOST = 64 };
    static _Thread_local char names[MOST][CORE_NAME_SIZE];
    const char *pointers[MOST], *nearest;
    int count = 0;

    for (int i = 0; i < cut->file.count && count < MOST; i++) {
        const core_item *item = &cut->file.items[i];
        if (!item->is_kernel || item->kind != CORE_ITEM_FUNCTION)
            continue;
        snprintf(names[count], sizeof names[count], "%.*s", (int)item->name.length, item->name.at);
        pointers[count] = names[count];
        count++;
    }
    if (count == 0)
        return core_source_fail(error, 1, 1,
                                "no kernel is defined here; one is: __global__ void one(float *out) { "
                                "out[threadIdx.x] = 1; }");
    nearest = fl_nearest_name(entry, pointers, (size_t)count);
    return core_source_fail(error, 1, 1,
                            nearest ? "no kernel '%s' is defined here; did you mean '%s'?"
                                    : "no kernel '%s' is defined here; the last one is '%s'",
                            entry, nearest ? nearest : names[count - 1]);
}

static fl_status choose(kernel_cut *cut, const char *entry, core_text_error *error, const char **arguments)
{
    core_token name = {0};
    int kernels = 0;

    *arguments = NULL;
    if (entry)
        split_entry(entry, &name, arguments);
    cut->kernel = -1;
    for (int i = 0; i < cut->file.count; i++) {
        const core_item *item = &cut->file.items[i];
        char shown[CORE_NAME_SIZE + 32];
        if (!item->is_kernel || item->kind != CORE_ITEM_FUNCTION)
            continue;
        kernels++;
        snprintf(shown, sizeof shown, "%.*s (line %d)",
                 (int)(item->name.length < CORE_NAME_SIZE ? item->name.length : 0), item->name.at, item->name.line);
        list(cut->kernels, sizeof cut->kernels, shown, strlen(shown));
        if (!entry || (item->name.length == name.length && memcmp(item->name.at, name.at, name.length) == 0 &&
                       is_in_scope(&cut->file, item, entry, &name)))
            cut->kernel = i;
    }
    if (kernels < 2)
        *cut->kernels = '\0';
    return cut->kernel < 0 ? fail_of_entry(cut, entry, error) : FL_OK;
}

/* ------------------------------------------------------------------------------------------------- reading ---- */

/* Reads the text as it is or, where its brackets do not match so, with those of one branch of each #if. */
static fl_status read_definitions(kernel_cut *cut, const char *text, core_text_error *error)
{
    core_definition_reader reader = {.take_include = take_include, .user = cut, .is_cxx = true};
    fl_status status = core_definitions_read(text, &reader, &cut->clean, error);
    char *counted = NULL;

    if (status != FL_E_SOURCE || core_branches_hide(text, &counted) != FL_OK)
        return status == FL_E_SOURCE ? FL_E_MEMORY : status;
    cut->hides = reader.hides = counted != NULL;
    cut->include_count = 0;
    if (counted)
        status = core_definitions_read(counted, &reader, &cut->clean, error);
    free(counted);
    return status;
}

fl_status cut_check(const kernel_cut *cut, core_text_error *error)
{
    static const char place[] = "\n#line "; /* which a user's text may not have */
    kernel_cut *again = cut->hides ? calloc(1, sizeof *again) : NULL;
    char *text = again ? strdup(cut->compiled) : NULL;
    core_text_error ignored;
    fl_status status = cut->hides && !text ? core_fail(FL_E_MEMORY, "out of host memory") : FL_OK;

    for (char *at = text ? strstr(text, place) : NULL; at; at = strstr(at, place))
        for (at++; *at != '\n'; at++)
            *at = ' ';
    if (text)
        status = read_definitions(again, text, &ignored);
    if (again)
        cut_free(again);
    free(again);
    free(text);
    if (status != FL_E_SOURCE)
        return status;
    return fail_at(&cut->file.items[cut->kernel].name, error,
                   "branches of an #if open and close brackets in other places; leave one of them");
}

fl_status cut_begin(kernel_cut *cut, const char *text, const char *entry, core_text_error *error)
{
    const char *arguments;
    core_token token = {0};
    core_reader words;
    fl_status status = read_definitions(cut, text, error);

    if (status == FL_OK)
        status = core_file_read(&cut->file, cut->clean, cut->hides, error);
    if (status == FL_OK)
        status = choose(cut, entry, error, &arguments);
    if (status == FL_OK)
        status = cut_read_template(cut, arguments, error);
    if (status != FL_OK)
        return status;
    words = cut->file.items[cut->kernel].start;
    for (bool returns = false; status == FL_OK && token.at < cut->file.items[cut->kernel].name.at;) {
        status = core_token_next_of_code(&words, &token, error);
        returns = returns || core_token_is(&token, "void");
        if (core_token_is(&token, "template") && token.at != cut->file.items[cut->kernel].template_at.at)
            return fail_at(&token, error, "a kernel has one template alone");
        if (token.at == cut->file.items[cut->kernel].name.at && !returns)
            return fail_at(&token, error, "a kernel returns void");
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- cutting ---- */

/* Returns whether the token is a directive that must stay, because an #if in blank text may end elsewhere. What the
 * host's part says by #error, as unfinished exercises do, is not of the kernel. */
static bool is_kept_directive(const core_token *token)
{
    char words[16];
    const char *const word = token->kind == CORE_TOKEN_DIRECTIVE ? core_directive(token, words, sizeof words) : "error";

    return strncmp(word, "error", 5) != 0 && strncmp(word, "warning", 7) != 0;
}

void cut_blank(char *clean, core_reader reader, const char *at, const char *end)
{
    core_text_error unused;
    core_token token;
    const char *from = at;

    for (bool more = true; more;) {
        more = core_token_next(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END && token.at < end;
        if (more && !is_kept_directive(&token))
            continue;
        const char *to = more ? token.at : end;
        for (char *c = clean + (from - clean); c < to; c++)
            if (!core_ends_line(c))
                *c = ' ';
        from = more ? token.at + token.length : end;
    }
}

static void blank_token(char *clean, const char *at, size_t length)
{
    for (char *c = clean + (at - clean); length > 0; c++, length--)
        if (!core_ends_line(c))
            *c = ' ';
}

/* Returns whether a directive that chooses between texts, such as #else, stands between two places. */
static bool has_branch(const char *at, const char *end)
{
    for (; at < end; at++)
        if (*at == '#' && (at[1 + strspn(at + 1, " \t")] == 'e' || at[1 + strspn(at + 1, " \t")] == 'i'))
            return true;
    return false;
}

/* Returns whether the item is the kernel, or the same one in another branch of an #if. */
static bool is_chosen(const kernel_cut *cut, int i)
{
    const core_item *item = &cut->file.items[i], *kernel = &cut->file.items[cut->kernel];

    return i == cut->kernel ||
           (item->is_kernel && item->kind == CORE_ITEM_FUNCTION && item->scope == kernel->scope &&
            item->name.length == kernel->name.length &&
            memcmp(item->name.at, kernel->name.at, kernel->name.length) == 0 && item->template_at.length == 0 &&
            kernel->template_at.length == 0 && has_branch(item->end, kernel->at));
}

/* Returns whether the text, or that of every device, has what `using namespace` names. */
static bool is_own_scope(const kernel_cut *cut, const core_item *item)
{
    core_reader reader = item->start;
    core_text_error unused;
    core_token token;

    for (int i = 0; i < 3; i++)
        if (core_token_next_of_code(&reader, &token, &unused) != FL_OK)
            return false;
    if (core_token_is(&token, "cooperative_groups"))
        return true;
    for (int i = 0; i < cut->file.scope_count && i < 64; i++)
        if (cut->file.scopes[i].name.length == token.length &&
            memcmp(cut->file.scopes[i].name.at, token.at, token.length) == 0)
            return true;
    return false;
}

static void describe(kernel_cut *cut)
{
    for (int i = 0; i < cut->include_count && i < CUT_MOST_INCLUDES; i++)
        list(cut->left_out, sizeof cut->left_out, cut->includes[i], strlen(cut->includes[i]));
    for (int i = 0; i < cut->file.count; i++) {
        const core_item *item = &cut->file.items[i];
        const bool is_host = !item->is_kept && !item->is_kernel && !item->is_device && item->name.length > 0 &&
                             item->name.length < CORE_NAME_SIZE;
        if (is_host && (item->kind == CORE_ITEM_FUNCTION || (item->kind == CORE_ITEM_VARIABLE && !item->is_constant)))
            list(cut->left_out, sizeof cut->left_out, item->name.at, item->name.length);
    }
}

/* Notes a __constant__ variable without a value. */
static void note_unfilled(const core_item *item, kernel_cut *s)
{
    core_reader reader = item->start;
    core_text_error unused;
    core_token token = {0};
    bool is_constant = false;

    while (core_token_next_of_code(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END &&
           token.at < item->end) {
        is_constant = is_constant || core_token_is(&token, "__constant__");
        if (core_token_is_one_of(&token, "=", "{", NULL))
            return;
    }
    if (is_constant && item->name.length < CORE_NAME_SIZE)
        list(s->unfilled, sizeof s->unfilled, item->name.at, item->name.length);
}

/* Writes the first argument of the kernel's __launch_bounds__(MOST, ...), by a macro that the device's text defines. */
static void write_launch_bounds(FILE *to, const core_item *item)
{
    core_reader reader = item->start;
    core_text_error unused;
    core_token token = {0}, before = {0};
    const char *from = NULL;
    int depth = 0, line = 0;

    while (core_token_next_of_code(&reader, &token, &unused) == FL_OK && token.at < item->name.at) {
        depth += from ? core_token_is(&token, "(") : 0;
        if (from && depth == 0 && core_token_is_one_of(&token, ",", ")", NULL)) {
            fprintf(to, "#line %d\nFLYNN_LAUNCH_BOUNDS(%.*s)\n", line, (int)(token.at - from), from);
            return;
        }
        depth -= from ? core_token_is(&token, ")") : 0;
        if (!from && core_token_is(&token, "(") && core_token_is(&before, "__launch_bounds__")) {
            from = token.at + 1;
            line = token.line;
        }
        before = token;
    }
}

/* Writes the words that precede the kernel: its linkage, and the template's parameters. */
static void write_before(FILE *to, const kernel_cut *cut, const core_item *item)
{
    fputc('\n', to);
    for (int i = 0; i < cut->template_count; i++) {
        const cut_parameter *p = &cut->template[i];
        if (p->is_type)
            fprintf(to, "typedef %s %.*s;\n", p->value, (int)p->name.length, p->name.at);
        else
            fprintf(to, "static constexpr %s %.*s = %s;\n", p->words, (int)p->name.length, p->name.at, p->value);
    }
    write_launch_bounds(to, item);
    fprintf(to, "extern \"C\"\n#line %d\n%*s", item->first.line, item->first.column - 1, "");
}

/* Names the kernel at file level, where others look for it. */
static void write_using(FILE *to, const kernel_cut *cut, int scope)
{
    if (scope < 0)
        return;
    write_using(to, cut, cut->file.scopes[scope].outer);
    if (cut->file.scopes[scope].name.length > 0)
        fprintf(to, "%.*s::", (int)cut->file.scopes[scope].name.length, cut->file.scopes[scope].name.at);
}

/* A hidden bracket belongs to an item that is kept, or to nothing. */
static void blank_hidden(const kernel_cut *cut)
{
    char *from = cut->clean;

    for (int i = 0; i < cut->file.count; i++) {
        const core_item *item = &cut->file.items[i];
        if (item->kind == CORE_ITEM_MACRO || !item->is_kept)
            continue;
        core_branches_blank(from, item->at);
        from = cut->clean + (item->end - cut->clean);
    }
    core_branches_blank(from, from + strlen(from));
}

/* Blanks the backslashes after which nothing is left: a text must not end with one. */
static void blank_last_backslashes(char *clean)
{
    for (char *last = clean + strlen(clean); last > clean && strchr(" \t\r\n\v\f\\", last[-1]); last--)
        if (last[-1] == '\\')
            last[-1] = ' ';
}

fl_status cut_end(kernel_cut *cut)
{
    const core_item *kernel = &cut->file.items[cut->kernel];
    const char *from = cut->clean;
    size_t size;
    FILE *to;
    fl_status status;

    for (int i = 0; i < cut->file.count; i++)
        cut->file.items[i].is_kept = is_chosen(cut, i);
    for (int i = 0; i < cut->template_count; i++)
        core_file_keep_words(&cut->file, cut->template[i].value);
    status = core_file_keep(&cut->file);
    to = status == FL_OK ? open_memstream(&cut->compiled, &size) : NULL;
    if (!to)
        return status == FL_OK ? core_fail(FL_E_MEMORY, "out of host memory") : status;
    describe(cut);
    if (cut->hides)
        blank_hidden(cut);
    for (int i = 0; i < cut->file.count; i++) {
        const core_item *item = &cut->file.items[i];
        const bool chosen = is_chosen(cut, i);
        if (item->kind == CORE_ITEM_MACRO)
            continue;
        if (!item->is_kept && !(item->kind == CORE_ITEM_OTHER && is_own_scope(cut, item))) {
            cut_blank(cut->clean, item->start, item->at, item->end);
        } else {
            core_kernel_rewrite(cut->clean, &cut->file, item);
            if (!chosen && item->kind == CORE_ITEM_VARIABLE)
                note_unfilled(item, cut);
        }
        if (!chosen)
            continue;
        core_reader words = item->start;
        core_text_error unused;
        core_token token = {0};
        while (core_token_next_of_code(&words, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END &&
               token.at < item->end)
            if ((token.at < item->name.at && core_token_is(&token, "static")) ||
                core_token_is(&token, "__grid_constant__"))
                blank_token(cut->clean, token.at, token.length);
        fwrite(from, 1, (size_t)(item->at - from), to);
        write_before(to, cut, item); /* before the template's names become blank */
        if (item->template_at.length > 0)
            blank_token(cut->clean, item->template_at.at,
                        (size_t)(item->template_end.at + item->template_end.length - item->template_at.at));
        from = item->at;
    }
    blank_last_backslashes(cut->clean);
    fputs(from, to);
    if (kernel->scope >= 0) {
        bool named = false;
        for (int s = kernel->scope; s >= 0; s = cut->file.scopes[s].outer)
            named = named || cut->file.scopes[s].name.length > 0;
        if (named) {
            fputs("\nusing ", to);
            write_using(to, cut, kernel->scope);
            fprintf(to, "%.*s;\n", (int)kernel->name.length, kernel->name.at);
        }
    }
    if (fclose(to) != 0 || !cut->compiled)
        return core_fail(FL_E_MEMORY, "out of host memory");
    if (cut->hides)
        core_branches_show(cut->compiled);
    return FL_OK;
}
