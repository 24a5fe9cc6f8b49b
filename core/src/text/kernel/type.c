/* SPDX-License-Identifier: MIT */
#include "type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 8 };

/* Reads the name of a vector type, "float4", "uint2" or "dim3", and finds the type of its elements. */
static bool add_vector(kernel_type *p, const core_token *token)
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

    if (p->words.words == 0 && core_token_is(token, "dim3")) {
        p->lanes = 3;
        return core_type_add(&p->words, &(core_token){CORE_TOKEN_NAME, "unsigned", strlen("unsigned"), 0, 0});
    }
    if (token->kind != CORE_TOKEN_NAME || p->words.words != 0 || !strchr("1234", token->at[--element.length]))
        return false;
    for (size_t i = 0; i < sizeof elements / sizeof *elements && p->lanes == 0; i++) {
        p->lanes = core_token_is(&element, elements[i][0]) ? token->at[element.length] - '0' : 0;
        for (int w = 1; p->lanes > 0 && w < 3 && elements[i][w]; w++)
            core_type_add(&p->words, &(core_token){CORE_TOKEN_NAME, elements[i][w], strlen(elements[i][w]), 0, 0});
    }
    return p->lanes > 0;
}

static bool add_word(kernel_type *p, const kernel_cut *cut, const core_token *word, int depth);

/* Adds the words of what a name stands for. */
static bool add_words(kernel_type *p, const kernel_cut *cut, core_reader reader, const char *end, int depth)
{
    core_text_error unused;
    core_token token;
    bool any = false;

    while (core_token_next(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END && token.at < end &&
           !core_token_is_one_of(&token, ";", "{", NULL)) {
        if (core_token_is(&token, "const"))
            p->is_constant = true;
        else if (core_token_is(&token, "*") && p->pointers == 0 && any)
            p->pointers = 1;
        else if (!add_word(p, cut, &token, depth))
            return false;
        any = true;
    }
    return any;
}

static bool equals(const core_token *a, const core_token *b)
{
    return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

/* Adds the type in which the values of an enum lie: the one after ":", else int. false: the item defines none. */
static bool add_enum(kernel_type *p, const kernel_cut *cut, const core_item *item, const core_token *name, int depth)
{
    core_reader reader = item->start, number;
    core_text_error unused;
    core_token token;
    bool is_named = equals(&item->name, name);

    if (item->kind != CORE_ITEM_TYPE || /* the head of a function may name an enum: enum E f(int n) */
        core_token_next_of_code(&reader, &token, &unused) != FL_OK ||
        (core_token_is(&token, "typedef") && core_token_next_of_code(&reader, &token, &unused) != FL_OK) ||
        !core_token_is(&token, "enum"))
        return false;
    while (core_token_next_of_code(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END &&
           token.at < item->end && !core_token_is_one_of(&token, ":", "{", NULL))
        is_named = is_named || equals(&token, name);
    if (!is_named) /* but one of its values is */
        return false;
    if (core_token_is(&token, ":"))
        return add_words(p, cut, reader, item->end, depth + 1);
    core_reader_start(&number, "int");
    return add_words(p, cut, number, number.at + strlen(number.at), depth + 1);
}

/* ------------------------------------------------------------------------------------------------- structs ---- */

/* Puts the name of what has the number before the number's name. */
static void prefix(core_number *number, const char *name)
{
    const core_number inner = *number;

    if (snprintf(number->name, sizeof number->name, "%s%s%s", name, strchr("[", *inner.name) ? "" : ".", inner.name) >=
        (int)sizeof number->name)
        memcpy(number->name + sizeof number->name - sizeof "...", "...", sizeof "...");
}

/* Adds a number. */
static void note(core_numbers *numbers, const core_number *number)
{
    if (numbers->count == numbers->room) {
        const int room = numbers->room ? 2 * numbers->room : 16;
        core_number *list = realloc(numbers->list, (size_t)room * sizeof *list);
        numbers->no_memory = numbers->no_memory || !list;
        if (!list)
            return;
        numbers->list = list;
        numbers->room = room;
    }
    numbers->list[numbers->count++] = *number;
}

/* Adds a number of C's, or those of a vector, which lie at `offset`. */
static void note_lanes(core_numbers *numbers, const kernel_type *type, const char *name, int64_t offset)
{
    static const char *const lanes[] = {"x", "y", "z", "w"};
    core_number number = {.offset = (int)offset};
    bool is_bool;

    (void)core_type_lies(&type->words, &number.layout);
    (void)core_type_dtype(&type->words, &number.dtype, &is_bool);
    for (int i = 0; i < (type->lanes > 0 ? type->lanes : 1); i++) {
        snprintf(number.name, sizeof number.name, "%s", type->lanes > 0 ? lanes[i] : "");
        prefix(&number, name);
        note(numbers, &number);
        number.offset += number.layout.size;
    }
}

/* The members of a struct that were read. */
typedef struct members {
    core_reader reader;
    const kernel_cut *cut;
    const core_item *item;
    int depth, structs; /* structs: kernel_type's */
    int64_t bytes;
    int alignment;
    core_type words;       /* of the first number */
    bool is_mixed;         /* others have other types */
    core_numbers *numbers; /* kernel_type's */
    int first, last;       /* the numbers of the type of the members that are read, if it is a struct */
} members;

static bool next_of(members *m, core_token *token)
{
    core_text_error unused;

    return core_token_next_of_code(&m->reader, token, &unused) == FL_OK && token->kind != CORE_TOKEN_END &&
           token->at < m->item->end;
}

/* Notes the numbers of `count` elements that lie at `offset`, `size` bytes each. */
static void note_member(const members *m, const kernel_type *type, const core_token *name, int64_t count,
                        int64_t offset, int64_t size)
{
    char element[sizeof m->numbers->list->name + sizeof "[4096]"];

    m->numbers->differs = m->numbers->differs || (type->lanes == 4 && size == 32 && m->first == m->last);
    for (int64_t i = 0; i < count && !m->numbers->no_memory; i++, offset += size) {
        snprintf(element, sizeof element, count > 1 ? "%.*s[%d]" : "%.*s",
                 (int)(name->length < sizeof m->numbers->list->name ? name->length : 0), name->at, (int)i);
        if (m->first == m->last)
            note_lanes(m->numbers, type, element, offset);
        for (int n = m->first; n < m->last; n++) {
            core_number number = m->numbers->list[n];
            number.offset += (int)offset;
            prefix(&number, element);
            note(m->numbers, &number);
        }
    }
}

/* Places `count` elements behind the members before. */
static bool place(members *m, const kernel_type *type, const core_token *name, int64_t count)
{
    enum { MOST = 1 << 28, WIDEST = 16 };
    core_type_layout number;
    int64_t size;
    int alignment;

    if (!core_type_lies(&type->words, &number))
        return false;
    size = number.size * (int64_t)(type->lanes > 0 ? type->lanes : 1);
    alignment = type->alignment > 0 ? type->alignment : type->lanes == 2 || type->lanes == 4 ? (int)size : number.size;
    alignment = alignment > WIDEST && type->alignment == 0 ? WIDEST : alignment;
    m->is_mixed = m->is_mixed || (m->bytes > 0 && m->words.words != type->words.words);
    m->words = type->words;
    m->bytes = (m->bytes + alignment - 1) / alignment * alignment;
    if (m->numbers && m->bytes + size * count <= CORE_MOST_VALUES)
        note_member(m, type, name, count, m->bytes, size);
    m->bytes += size * count;
    m->alignment = alignment > m->alignment ? alignment : m->alignment;
    return m->bytes <= MOST;
}

/* Skips the rest of a function of the struct, or of a declaration that is no member. */
static bool skip_declaration(members *m, core_token *token)
{
    core_text_error unused;

    while (!core_token_is(token, ";")) {
        const bool is_body = core_token_is(token, "{");
        if ((is_body || core_token_is(token, "(")) && core_skip_brackets(&m->reader, &unused) != FL_OK)
            return false;
        if (is_body)
            return true;
        if (!next_of(m, token))
            return false;
    }
    return true;
}

/* Finds the number that a token is, or that a name of the text's stands for: #define N 16, const int N = (1 << 4);
 * 0: none. */
static int64_t number_of(const members *m, const core_token *token)
{
    core_text_error unused;
    core_token word = *token;
    core_reader reader;
    int64_t number = 0;

    if (token->kind == CORE_TOKEN_NAME) {
        const core_defined *d = core_file_find(&m->cut->file, token);
        const core_item *item = d ? &m->cut->file.items[d->item] : NULL;
        if (!item || (item->kind != CORE_ITEM_MACRO && item->kind != CORE_ITEM_VARIABLE))
            return 0;
        reader = item->start;
        for (bool is_name = false, found = item->kind == CORE_ITEM_MACRO; !found;) {
            if (core_token_next(&reader, &word, &unused) != FL_OK || word.kind == CORE_TOKEN_END ||
                word.at >= item->end)
                return 0;
            found = is_name && core_token_is(&word, "=");
            is_name = equals(&word, token);
        }
        do
            if (core_token_next(&reader, &word, &unused) != FL_OK || word.at >= item->end)
                return 0;
        while (core_token_is(&word, "("));
        number = word.kind == CORE_TOKEN_NUMBER ? strtoll(word.at, NULL, 0) : 0;
        if (core_token_next(&reader, &word, &unused) == FL_OK && word.at < item->end &&
            core_token_is_one_of(&word, "<<", "*", NULL)) {
            core_token second = {0};
            const bool shifts = core_token_is(&word, "<<");
            if (core_token_next(&reader, &second, &unused) != FL_OK || second.kind != CORE_TOKEN_NUMBER)
                return 0;
            const int64_t by = strtoll(second.at, NULL, 0);
            if (by < 0 || by > (shifts ? 30 : 1 << 30) || number > 1 << 30)
                return 0;
            number = shifts ? number << by : number * by;
            if (core_token_next(&reader, &word, &unused) != FL_OK)
                return 0;
        }
        return word.kind == CORE_TOKEN_END || word.at >= item->end || core_token_is_one_of(&word, ")", ",", ";", NULL)
                   ? number
                   : 0;
    }
    return token->kind == CORE_TOKEN_NUMBER ? strtoll(token->at, NULL, 0) : 0;
}

/* Reads "[2][3]" and an initial value, up to the "," or ";" after them. *count: elements. */
static bool read_extent(members *m, core_token *token, int64_t *count)
{
    enum { MOST = 1 << 28 };
    core_text_error unused;

    for (*count = 1; core_token_is(token, "[");) {
        core_token number;
        if (!next_of(m, &number) || !next_of(m, token) || !core_token_is(token, "]") || !next_of(m, token))
            return false;
        const int64_t extent = number_of(m, &number);
        if (extent <= 0 || extent > MOST)
            return false;
        *count *= extent;
        if (*count <= 0 || *count > MOST)
            return false;
    }
    while (!core_token_is_one_of(token, ",", ";", NULL)) {
        if (!core_token_is_one_of(token, "=", "{", NULL) && token->kind != CORE_TOKEN_NUMBER)
            return false; /* among others a bit-field */
        if (core_token_is(token, "{") && core_skip_brackets(&m->reader, &unused) != FL_OK)
            return false;
        if (!next_of(m, token))
            return false;
    }
    return true;
}

/* Reads a declaration that begins with *token: "float x, y[3];", or a function. */
static bool read_members(members *m, core_token *token)
{
    const bool is_enum = core_token_is(token, "enum");
    kernel_type type = {.structs = m->structs, .numbers = m->numbers};
    core_token name;
    int64_t count;

    if (core_token_is_one_of(token, "public", "private", "protected", NULL))
        return next_of(m, token); /* the ":" */
    if (core_token_is_one_of(token, "virtual", "union", "~", NULL))
        return false;
    if (core_token_is_one_of(token, "static", "using", "typedef", "friend", "template", "__host__", "__device__",
                             "constexpr", "inline", "explicit", NULL))
        return skip_declaration(m, token);
    while (core_token_is_one_of(token, "const", "volatile", "mutable", "struct", "class", "enum", NULL) ||
           add_word(&type, m->cut, token, m->depth + 1))
        if (!next_of(m, token))
            return false;
    m->structs = type.structs;
    m->last = m->numbers ? m->numbers->count : 0;
    if (core_token_is(token, "(") || core_token_is(token, "operator") || (is_enum && type.words.words == 0))
        return skip_declaration(m, token);
    if (type.words.words == 0 || type.pointers > 0) /* the struct's own name begins a constructor */
        return token->kind == CORE_TOKEN_NAME && next_of(m, token) && core_token_is(token, "(") &&
               skip_declaration(m, token);
    while (name = *token, token->kind == CORE_TOKEN_NAME && next_of(m, token)) {
        if (core_token_is(token, "(") || core_token_is(token, "operator"))
            return skip_declaration(m, token);
        if (!read_extent(m, token, &count) || !place(m, &type, &name, count))
            return false;
        if (core_token_is(token, ";"))
            return true;
        if (!next_of(m, token))
            return false;
    }
    return false;
}

/* Reads the members up to the "}". */
static bool read_struct(members *m)
{
    core_numbers *const numbers = m->numbers;
    core_token token;

    while (next_of(m, &token) && !core_token_is(&token, "}")) {
        if (core_token_is(&token, ";"))
            continue;
        m->first = m->last = numbers ? numbers->count : 0;
        if (!read_members(m, &token))
            return false;
        if (m->first < m->last) { /* those of the type were noted for each of its members */
            numbers->count -= m->last - m->first;
            memmove(numbers->list + m->first, numbers->list + m->last,
                    (size_t)(numbers->count - m->first) * sizeof *numbers->list);
        }
    }
    return true;
}

/* Adds a struct that has numbers alone: without pointers, a base or virtual functions. */
static bool add_struct(kernel_type *p, const kernel_cut *cut, const core_item *item, int depth)
{
    enum { MOST_STRUCTS = 64 };
    members m = {
        .reader = item->start, .cut = cut, .item = item, .depth = depth, .alignment = 1, .numbers = p->numbers};
    core_type_layout number;
    core_token token;

    m.structs = ++p->structs;
    if (m.structs > MOST_STRUCTS || item->kind != CORE_ITEM_TYPE || item->template_at.length > 0 || depth >= DEEPEST ||
        !next_of(&m, &token) || (core_token_is(&token, "typedef") && !next_of(&m, &token)) ||
        !core_token_is_one_of(&token, "struct", "class", NULL) || !next_of(&m, &token))
        return false;
    while (token.kind == CORE_TOKEN_NAME)
        if (core_token_is_one_of(&token, "__align__", "alignas", NULL)) {
            core_token bytes;
            if (!next_of(&m, &token) || !next_of(&m, &bytes) || bytes.kind != CORE_TOKEN_NUMBER ||
                !next_of(&m, &token) || !core_token_is(&token, ")") || !next_of(&m, &token))
                return false;
            m.alignment = (int)strtol(bytes.at, NULL, 0);
        } else if (!next_of(&m, &token)) {
            return false;
        }
    if (!core_token_is(&token, "{") || m.alignment < 1 || m.alignment > 4096)
        return false;
    if (!read_struct(&m))
        return false;
    p->structs = m.structs;
    if (m.bytes == 0 || !core_type_lies(&m.words, &number))
        return false;
    m.bytes = (m.bytes + m.alignment - 1) / m.alignment * m.alignment;
    if (m.is_mixed) {
        m.words = (core_type){0};
        core_type_add(&m.words, &(core_token){CORE_TOKEN_NAME, "uint8_t", 7, 0, 0});
        number.size = 1;
    }
    p->words = m.words;
    p->is_mixed = m.is_mixed;
    p->lanes = (int)(m.bytes / number.size);
    p->alignment = m.alignment;
    return m.bytes % number.size == 0;
}

/* Reads a name of a type that the text defines, by enum, typedef, using or #define, or a template's parameter. */
static bool add_alias(kernel_type *p, const kernel_cut *cut, const core_token *name, int depth)
{
    static const char *const usual[][2] = {{"uchar", "unsigned char"},
                                           {"ushort", "unsigned short"},
                                           {"uint", "unsigned int"},
                                           {"ulong", "unsigned long"},
                                           {"clock_t", "long"}};
    core_reader reader;

    if (name->kind != CORE_TOKEN_NAME || depth == DEEPEST || p->words.words != 0)
        return false;
    for (int i = 0; i < cut->template_count; i++) {
        const cut_parameter *t = &cut->template[i];
        if (!t->is_type || !equals(&t->name, name))
            continue;
        core_reader_start(&reader, t->value);
        return add_words(p, cut, reader, t->value + strlen(t->value), depth + 1);
    }
    const core_defined *d = core_file_find(&cut->file, name);
    for (int same = 0; d && same < DEEPEST && d < cut->file.names + cut->file.name_count && core_defined_is(d, name);
         d++, same++) {
        const int noted = p->numbers ? p->numbers->count : 0;
        core_reader from;
        const char *end;
        if (add_enum(p, cut, &cut->file.items[d->item], name, depth) ||
            add_struct(p, cut, &cut->file.items[d->item], depth))
            return true;
        if (p->numbers)
            p->numbers->count = noted;
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

static bool add_word(kernel_type *p, const kernel_cut *cut, const core_token *word, int depth)
{
    return core_type_add(&p->words, word) || add_vector(p, word) || add_alias(p, cut, word, depth);
}

bool kernel_type_add(kernel_type *type, const kernel_cut *cut, const core_token *word)
{
    return add_word(type, cut, word, 0);
}

void kernel_type_note(const kernel_type *type, const core_token *name, int first)
{
    core_numbers *const numbers = type->numbers;
    char whole[sizeof numbers->list->name];

    snprintf(whole, sizeof whole, "%.*s", (int)name->length, name->at);
    if (numbers->count == first)
        note_lanes(numbers, type, whole, 0);
    else
        for (int i = first; i < numbers->count; i++)
            prefix(&numbers->list[i], whole);
}

bool kernel_type_is_struct(const kernel_cut *cut, const core_token *name)
{
    const core_defined *d = core_file_find(&cut->file, name);

    return d && cut->file.items[d->item].kind == CORE_ITEM_TYPE;
}
