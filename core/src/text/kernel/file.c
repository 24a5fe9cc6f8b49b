/* SPDX-License-Identifier: MIT
 *
 * file.c - finds what stands at file level of a text with kernels, and what of it a kernel needs. A file of a
 * course has a main, launches and headers round its kernels, which no device compiler can read.
 */
#include "file.h"
#include "../language/c_types.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OF_A_NAME = 64 }; /* overloads that a use of the name keeps: so that the time stays linear */

/* The item that is being read. */
typedef struct item_reader {
    core_reader reader;
    core_file file;
    core_text_error *error;
    int scope;
    core_item item;
    core_token before, last; /* the token before the present one at the item's own level; the last name there */
    bool has_parameters, has_value, is_type, is_enum, is_typedef;
    bool awaits_tag; /* struct, class, union or enum was read; attributes may precede the tag */
} item_reader;

static const core_token nothing;

/* ------------------------------------------------------------------------------------------------- memory ---- */

/* Returns the elements with room for one more; NULL: out of memory, and they stay as they are. */
static void *with_room(void *elements, int count, int *room, size_t size)
{
    const int wanted = *room ? 2 * *room : 64;
    void *more;

    if (count < *room)
        return elements;
    more = realloc(elements, (size_t)wanted * size);
    if (!more)
        (void)core_fail(FL_E_MEMORY, "out of host memory");
    else
        *room = wanted;
    return more;
}

void core_file_free(core_file *file)
{
    free(file->items);
    free(file->scopes);
    free(file->names);
    *file = (core_file){.count = 0};
}

static fl_status add_name(item_reader *r, const core_token *name)
{
    core_file *f = &r->file;
    const core_type none = {0};
    core_type type = none;
    core_defined *names;

    if (name->kind != CORE_TOKEN_NAME || core_type_add(&type, name))
        return FL_OK;
    names = with_room(f->names, f->name_count, &f->name_room, sizeof *names);
    if (!names)
        return FL_E_MEMORY;
    f->names = names;
    f->names[f->name_count++] = (core_defined){name->at, name->length, f->count};
    return FL_OK;
}

static fl_status add_item(item_reader *r, core_item_kind kind, const char *end)
{
    core_file *f = &r->file;
    core_item *items = with_room(f->items, f->count, &f->room, sizeof *items);

    if (!items)
        return FL_E_MEMORY;
    f->items = items;
    r->item.kind = kind;
    r->item.end = end;
    r->item.scope = r->scope;
    f->items[f->count++] = r->item;
    return FL_OK;
}

/* -------------------------------------------------------------------------------------------------- items ---- */

static bool is_attribute(const core_token *word)
{
    return core_token_is_one_of(word, "__attribute__", "__launch_bounds__", "__declspec", "_Alignas", "alignas",
                                "__align__", "__maxnreg__", "__cluster_dims__", NULL);
}

/* Skips the list of a template, after its "<". *token is then the ">". */
static fl_status skip_angles(core_reader *reader, core_token *token, core_text_error *error)
{
    fl_status status = FL_OK;

    for (int depth = 1; status == FL_OK && depth > 0;) {
        const core_reader here = *reader;
        status = core_token_next_of_code(reader, token, error);
        if (token->kind == CORE_TOKEN_END || core_token_is_one_of(token, ";", "{", "}", NULL)) {
            *reader = here;
            break;
        }
        if (core_token_is_one_of(token, "(", "[", NULL))
            status = core_skip_brackets(reader, error);
        depth += core_token_is(token, "<") - core_token_is(token, ">") - 2 * core_token_is(token, ">>");
    }
    return status;
}

/* #define NAME ... */
static fl_status read_macro(item_reader *r, const core_token *directive)
{
    core_reader reader;
    core_token word;
    core_text_error unused;
    fl_status status = FL_OK;

    core_reader_start(&reader, directive->at + 1);
    reader.fresh = false;
    if (core_token_next(&reader, &word, &unused) != FL_OK || !core_token_is(&word, "define") ||
        core_token_next(&reader, &word, &unused) != FL_OK || word.kind != CORE_TOKEN_NAME ||
        word.at >= directive->at + directive->length)
        return FL_OK;
    r->item = (core_item){.first = *directive, .name = word, .at = directive->at};
    r->item.start = reader; /* after the name */
    status = add_name(r, &word);
    return status == FL_OK ? add_item(r, CORE_ITEM_MACRO, directive->at + directive->length) : status;
}

static fl_status open_scope(item_reader *r, const core_token *name)
{
    core_file *f = &r->file;
    core_scope *scopes = with_room(f->scopes, f->scope_count, &f->scope_room, sizeof *scopes);

    if (!scopes)
        return FL_E_MEMORY;
    f->scopes = scopes;
    f->scopes[f->scope_count] = (core_scope){*name, r->scope, r->scope};
    r->scope = f->scope_count++;
    return FL_OK;
}

/* Notes a word of the item. */
static fl_status read_word(item_reader *r, const core_token *word)
{
    core_item *i = &r->item;

    if (core_token_is(word, "__global__"))
        i->is_kernel = true;
    else if (core_token_is_one_of(word, "__device__", "__constant__", "__shared__", "__managed__", NULL))
        i->is_device = true;
    else if (core_token_is_one_of(word, "const", "constexpr", NULL))
        i->is_constant = true;
    else if (core_token_is_one_of(word, "struct", "class", "union", "enum", NULL))
        r->is_type = r->is_type || !r->has_parameters;
    else if (core_token_is(word, "typedef"))
        r->is_typedef = true;
    r->is_enum = r->is_enum || core_token_is(word, "enum");
    if (core_token_is_one_of(word, "struct", "class", "union", "enum", NULL)) {
        r->awaits_tag = true;
        return FL_OK;
    }
    if (!r->awaits_tag || is_attribute(&r->before) || is_attribute(word) ||
        core_token_is_one_of(word, "__restrict__", "final", NULL))
        return FL_OK;
    r->awaits_tag = false;
    return add_name(r, word);
}

/* Adds the enumerators, or for another type nothing; the reader stands after the "{". */
static fl_status read_braces(item_reader *r, bool is_enum)
{
    core_token token = nothing;
    bool begins = true;
    fl_status status = FL_OK;

    for (int depth = 1; status == FL_OK && depth > 0;) {
        status = core_token_next_of_code(&r->reader, &token, r->error);
        if (status != FL_OK || token.kind == CORE_TOKEN_END)
            break;
        depth += core_token_is_one_of(&token, "(", "[", "{", NULL) - core_token_is_one_of(&token, ")", "]", "}", NULL);
        if (is_enum && begins && token.kind == CORE_TOKEN_NAME)
            status = add_name(r, &token);
        begins = depth == 1 && core_token_is(&token, ",");
    }
    return status;
}

static bool has_body(const item_reader *r)
{
    return r->has_parameters && !r->has_value;
}

static fl_status end_item(item_reader *r, bool body)
{
    const core_item_kind kind = r->is_typedef || (r->is_type && !r->has_parameters) ? CORE_ITEM_TYPE
                                : core_token_is(&r->item.first, "using")            ? CORE_ITEM_TYPE
                                : body                                              ? CORE_ITEM_FUNCTION
                                : r->has_parameters && !r->has_value                ? CORE_ITEM_PROTOTYPE
                                : core_token_is(&r->item.first, "static_assert")    ? CORE_ITEM_OTHER
                                                                                    : CORE_ITEM_VARIABLE;
    fl_status status = FL_OK;

    if (core_token_is(&r->item.first, "namespace")) /* namespace NAME = ANOTHER; whose name is read */
        return add_item(r, CORE_ITEM_TYPE, r->reader.at);
    if (kind == CORE_ITEM_FUNCTION || kind == CORE_ITEM_PROTOTYPE)
        status = add_name(r, &r->item.name);
    else if (kind != CORE_ITEM_TYPE || r->is_typedef)
        r->item.name = r->last;
    return status == FL_OK ? add_item(r, kind, r->reader.at) : status;
}

/* Reads the item's next token; where a namespace ends before the item does, that ends the item, too: *token is a ";"
 * then, and the "}" comes next. */
static fl_status next_of_item(item_reader *r, core_token *token)
{
    const core_reader here = r->reader;
    const fl_status status = core_token_next_of_code(&r->reader, token, r->error);

    if (status == FL_OK && core_token_is(token, "}")) {
        r->reader = here;
        *token = (core_token){CORE_TOKEN_MARK, ";", 1, token->line, token->column};
    }
    return status;
}

/* using NAME = ...; or using namespace NAME; */
static fl_status read_using(item_reader *r)
{
    core_token token = nothing;
    fl_status status = next_of_item(r, &token);
    const bool is_namespace = core_token_is(&token, "namespace");

    if (status == FL_OK && !is_namespace) {
        r->item.name = token;
        status = add_name(r, &token);
    }
    while (status == FL_OK && token.kind != CORE_TOKEN_END && !core_token_is(&token, ";")) {
        if (core_token_is_one_of(&token, "(", "[", "{", NULL)) /* using NAME = struct { int n; }; */
            status = core_skip_brackets(&r->reader, r->error);
        if (status == FL_OK)
            status = next_of_item(r, &token);
    }
    return status == FL_OK ? add_item(r, is_namespace ? CORE_ITEM_OTHER : CORE_ITEM_TYPE, r->reader.at) : status;
}

/* Reads a bracket of the item. *ends: the item ends with it. */
static fl_status read_bracket(item_reader *r, const core_token *token, bool *ends)
{
    fl_status status;

    if (core_token_is(token, "{")) {
        const bool body = has_body(r);
        status = read_braces(r, !body && r->is_enum && r->is_type && !r->has_value);
        *ends = body;
        return status == FL_OK && body ? end_item(r, true) : status;
    }
    if (core_token_is(token, "(") && !is_attribute(&r->before) && r->before.kind == CORE_TOKEN_NAME && !r->has_value) {
        r->has_parameters = true;
        r->item.name = r->before;
        r->item.parameters = r->reader;
    }
    if (core_token_is(token, "(") && r->is_typedef) { /* typedef float (*operation)(float) */
        core_token name = nothing;
        core_reader inside = r->reader;
        if (core_token_next_of_code(&inside, &name, r->error) == FL_OK && core_token_is(&name, "*") &&
            core_token_next_of_code(&inside, &name, r->error) == FL_OK)
            r->last = name;
    }
    return core_skip_brackets(&r->reader, r->error);
}

/* Reads one item, or the start or end of a namespace; its first token is *token. */
static fl_status read_item(item_reader *r, core_token *token)
{
    fl_status status = FL_OK;
    bool ends = false;

    r->item.first = *token;
    r->item.at = token->at;
    r->before = r->last = nothing;
    r->has_parameters = r->has_value = r->is_type = r->is_enum = r->is_typedef = r->awaits_tag = false;
    if (core_token_is(token, "using"))
        return read_using(r);
    while (status == FL_OK && !ends && token->kind != CORE_TOKEN_END) {
        const bool is_name = token->kind == CORE_TOKEN_NAME;
        if (core_token_is(token, "template") && r->item.template_at.length == 0) {
            core_token open = nothing;
            core_reader ahead = r->reader;
            r->item.template_at = *token;
            if (core_token_next_of_code(&ahead, &open, r->error) == FL_OK && core_token_is(&open, "<")) {
                r->reader = ahead;
                status = skip_angles(&r->reader, &r->item.template_end, r->error);
            }
        } else if (core_token_is(token, "=")) {
            r->has_value = r->has_value || !core_token_is(&r->before, "operator");
        }
        if (is_name)
            status = read_word(r, token);
        /* A variable's name: what follows it ends it. */
        if (status == FL_OK && r->before.kind == CORE_TOKEN_NAME && !r->has_parameters &&
            core_token_is_one_of(token, "=", ";", ",", "[", "{", NULL) &&
            (!r->is_type || !core_token_is(token, "{") || r->has_value)) {
            r->last = r->before;
            if (!(r->has_value && !core_token_is_one_of(token, "=", ",", ";", NULL)))
                status = add_name(r, &r->before);
        } else if (status == FL_OK && core_token_is(token, ";") && r->is_typedef) {
            status = add_name(r, &r->last);
        }
        const core_token present = *token;
        r->awaits_tag = r->awaits_tag && !core_token_is_one_of(token, "{", ":", ";", ",", ">", "*", "&", ")", NULL);
        if (status == FL_OK && core_token_is_one_of(token, "(", "[", "{", NULL))
            status = read_bracket(r, token, &ends);
        else if (status == FL_OK && core_token_is(token, ";"))
            return end_item(r, false);
        if (!core_token_is_one_of(&present, "[", NULL))
            r->before = present;
        if (status == FL_OK && !ends)
            status = next_of_item(r, token);
    }
    return status;
}

/* namespace A::B {, and { alone, which extern "C" has left. false: it is none. */
static bool begins_scope(item_reader *r, const core_token *first, fl_status *status)
{
    core_reader reader = r->reader;
    core_token token = *first, name = nothing;
    const int outer = r->scope;

    if (core_token_is(&token, "inline") && core_token_next_of_code(&reader, &token, r->error) != FL_OK)
        return false;
    if (core_token_is(&token, "namespace")) {
        while (core_token_next_of_code(&reader, &token, r->error) == FL_OK && token.kind == CORE_TOKEN_NAME) {
            if (name.length > 0) /* the names of A::B are a scope each */
                *status = open_scope(r, &name);
            name = token;
            if (*status != FL_OK || core_token_next_of_code(&reader, &token, r->error) != FL_OK ||
                !core_token_is(&token, ":") || core_token_next_of_code(&reader, &token, r->error) != FL_OK)
                break;
        }
    }
    if (!core_token_is(&token, "{")) {
        r->scope = outer;
        return false;
    }
    if (*status == FL_OK)
        *status = open_scope(r, &name);
    if (*status == FL_OK)
        r->file.scopes[r->scope].after = outer;
    r->reader = reader;
    return true;
}

static int by_name(const void *a, const void *b)
{
    const core_defined *x = a, *y = b;
    const size_t length = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->at, y->at, length);

    if (order != 0)
        return order;
    return x->length != y->length ? (x->length < y->length ? -1 : 1) : (x->item > y->item) - (x->item < y->item);
}

fl_status core_file_read(core_file *file, const char *text, bool hides, core_text_error *error)
{
    item_reader r = {.error = error, .scope = -1};
    core_token token = nothing;
    fl_status status = FL_OK;

    core_reader_start(&r.reader, text);
    r.reader.hides = hides;
    while (status == FL_OK) {
        const core_reader start = r.reader;
        status = core_token_next(&r.reader, &token, error);
        if (status != FL_OK || token.kind == CORE_TOKEN_END)
            break;
        r.item = (core_item){.start = start};
        /* After a joined line: it would be a directive where a line is written before it. */
        if (core_is_late_hash(&token))
            status = core_source_fail(error, token.line, token.column, "a '#' that does not start its line");
        else if (token.kind == CORE_TOKEN_DIRECTIVE)
            status = read_macro(&r, &token);
        else if (core_token_is(&token, "}"))
            r.scope = r.scope >= 0 ? r.file.scopes[r.scope].after : -1;
        else if (!core_token_is(&token, ";") && !begins_scope(&r, &token, &status))
            status = status == FL_OK ? read_item(&r, &token) : status;
    }
    while (r.file.name_count > 0 && r.file.names[r.file.name_count - 1].item >= r.file.count)
        r.file.name_count--; /* names of an item that does not end, which is none */
    if (r.file.name_count > 0)
        qsort(r.file.names, (size_t)r.file.name_count, sizeof *r.file.names, by_name);
    *file = r.file;
    return status;
}

/* ------------------------------------------------------------------------------------------------ keeping ---- */

bool core_defined_is(const core_defined *defined, const core_token *name)
{
    return defined->length == name->length && memcmp(defined->at, name->at, name->length) == 0;
}

const core_defined *core_file_find(const core_file *file, const core_token *name)
{
    const core_defined wanted = {name->at, name->length, -1};
    int low = 0, high = file->name_count;

    while (low < high) {
        const int middle = (low + high) / 2;
        if (by_name(&file->names[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < file->name_count && core_defined_is(&file->names[low], name) ? &file->names[low] : NULL;
}

/* Returns whether a word that equals the item's name means the item. A kernel's own `size` is not the host's. */
static bool is_meant(const core_item *item, const core_token *after)
{
    if (item->is_kernel && item->kind != CORE_ITEM_TYPE)
        return false;
    if (item->kind == CORE_ITEM_VARIABLE)
        return item->is_device || item->is_constant;
    if ((item->kind == CORE_ITEM_FUNCTION || item->kind == CORE_ITEM_PROTOTYPE) && !item->is_device)
        return !item->is_host && core_token_is_one_of(after, "(", "<", NULL);
    return true;
}

static void push(core_file *file, int item, int *pending, int *count)
{
    if (file->items[item].is_kept)
        return;
    file->items[item].is_kept = true;
    if (pending)
        pending[(*count)++] = item;
}

/* Marks what the words from a reader's place to `end` mean. */
static void keep_named(core_file *file, core_reader reader, const char *end, int *pending, int *count)
{
    core_text_error unused;
    core_token token, next, before[3] = {{0}}; /* the last three before it */

    if (core_token_next(&reader, &token, &unused) != FL_OK)
        return;
    while (token.kind != CORE_TOKEN_END && token.at < end) {
        if (core_token_next(&reader, &next, &unused) != FL_OK)
            return;
        const bool is_of_groups = core_token_is(&before[2], ":") && core_token_is(&before[1], ":") &&
                                  core_token_is_one_of(&before[0], "cg", "cooperative_groups", NULL);
        const core_defined *d = token.kind == CORE_TOKEN_NAME && !is_of_groups ? core_file_find(file, &token) : NULL;
        for (int same = 0;
             d && same < MOST_OF_A_NAME && d < file->names + file->name_count && core_defined_is(d, &token);
             d++, same++)
            if (is_meant(&file->items[d->item], &next))
                push(file, d->item, pending, count);
        before[0] = before[1];
        before[1] = before[2];
        before[2] = token;
        token = next;
    }
}

void core_file_keep_words(core_file *file, const char *words)
{
    core_reader reader;
    core_reader_start(&reader, words);
    keep_named(file, reader, words + strlen(words), NULL, NULL);
}

fl_status core_file_keep(core_file *file)
{
    int *pending = malloc(((size_t)file->count + 1) * sizeof *pending), count = 0;

    if (!pending)
        return core_fail(FL_E_MEMORY, "out of host memory");
    for (int i = 0; i < file->count; i++)
        if (file->items[i].is_kept || (file->items[i].is_device && core_token_is(&file->items[i].name, "operator"))) {
            file->items[i].is_kept = true;
            pending[count++] = i;
        }
    while (count > 0) {
        const core_item *item = &file->items[pending[--count]];
        keep_named(file, item->start, item->end, pending, &count);
    }
    free(pending);
    return FL_OK;
}
