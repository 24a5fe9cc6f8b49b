/* SPDX-License-Identifier: MIT
 *
 * written.c - finds the arrays that a kernel may write. In the files of courses an array that is only read often
 * lacks its const, and what is not proved to be read alone counts as written.
 */
#include "written.h"

#include <string.h>

typedef struct array_names {
    const char *const *names;
    int count;
} array_names;

/* Reads the kernel's body. */
typedef struct body_reader {
    array_names arrays;
    core_token before[3]; /* the tokens before the present one, the last one first */
    bool by_reference;    /* a function or macro of the text could assign to an element that it is given */
} body_reader;

static bool assigns(const core_token *token)
{
    return core_token_is_one_of(token, "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--",
                                NULL);
}

/* The number of the parameter of that name; -1: none. */
static int parameter_of(const array_names *a, const core_token *token)
{
    for (int i = 0; token->kind == CORE_TOKEN_NAME && i < a->count; i++)
        if (a->names[i] && core_token_is(token, a->names[i]))
            return i;
    return -1;
}

/* Skips [index] and .member after a name, to the token after them. Returns whether an index was there. */
static bool skip_index(core_reader *reader, core_token *next)
{
    core_text_error unused;
    bool any = false;

    while (core_token_next_of_code(reader, next, &unused) == FL_OK) {
        const bool member = core_token_is(next, ".");
        if (!member && !core_token_is(next, "["))
            return any;
        if ((member ? core_token_next_of_code(reader, next, &unused) : core_skip_brackets(reader, &unused)) != FL_OK)
            return false;
        any = any || !member;
    }
    return false;
}

/* Returns whether the name of an array, which was read, stands where only an element is read: NAME[index], to which
 * nothing is assigned, and whose address nothing takes. */
static bool only_reads(const body_reader *b, core_reader reader)
{
    const core_token *last = &b->before[0], *second = &b->before[1];
    core_token next;

    if (!skip_index(&reader, &next) || assigns(&next) || core_token_is_one_of(last, "++", "--", NULL))
        return false;
    if (core_token_is(last, "&") &&
        (second->kind != CORE_TOKEN_NAME || core_token_is_one_of(second, "return", "case", "else", "do", NULL)) &&
        second->kind != CORE_TOKEN_NUMBER && !core_token_is(second, "]"))
        return false;
    return !(b->by_reference && core_token_is_one_of(last, "(", ",", NULL) &&
             core_token_is_one_of(&next, ",", ")", NULL));
}

/* Returns whether the token can stand in `T &name = `, and what precedes it is the "&". */
static bool binds_reference(const body_reader *b, const core_token *token)
{
    return core_token_is_one_of(token, "=", "(", "{", NULL) && b->before[0].kind == CORE_TOKEN_NAME &&
           core_token_is_one_of(&b->before[1], "&", "&&", NULL) &&
           (b->before[2].kind == CORE_TOKEN_NAME || core_token_is(&b->before[2], ">"));
}

static unsigned read_body(body_reader *b, const core_item *kernel, unsigned all)
{
    core_reader reader = kernel->parameters;
    core_text_error unused;
    core_token token;
    unsigned written = 0;

    if (core_skip_brackets(&reader, &unused) != FL_OK)
        return all;
    while (core_token_next(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END &&
           token.at < kernel->end) {
        const bool member = core_token_is_one_of(&b->before[0], ".", "->", NULL); /* blockIdx.x is no parameter x */
        const int i = member ? -1 : parameter_of(&b->arrays, &token);
        if (token.kind == CORE_TOKEN_DIRECTIVE)
            continue;
        if (binds_reference(b, &token) || core_token_is_one_of(&token, "asm", "__asm__", NULL))
            return all;
        if (i >= 0 && !only_reads(b, reader))
            written |= 1u << i;
        memmove(&b->before[1], b->before, 2 * sizeof *b->before);
        b->before[0] = token;
    }
    return written;
}

/* Calls `found` for the words of an item from `from` on, until it returns true. */
static bool any_word(const core_item *item, core_reader from, bool (*found)(const core_token *, const void *),
                     const void *user)
{
    core_text_error unused;
    core_token token;

    while (core_token_next(&from, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END && token.at < item->end)
        if (found(&token, user))
            return true;
    return false;
}

static bool is_reference(const core_token *token, const void *user)
{
    (void)user;
    return core_token_is_one_of(token, "&", "&&", NULL);
}

static bool is_assignment(const core_token *token, const void *user)
{
    (void)user;
    return assigns(token);
}

static bool is_parameter(const core_token *token, const void *arrays)
{
    return parameter_of(arrays, token) >= 0;
}

static bool is_print(const core_token *token, const void *user)
{
    (void)user;
    return core_token_is(token, "printf");
}

unsigned core_kernel_written(const kernel_cut *cut, const char *const *names, int count)
{
    body_reader b = {.arrays = {names, count}};
    unsigned all = 0;

    for (int i = 0; i < count; i++)
        all |= names[i] ? 1u << i : 0;
    for (int i = 0; i < cut->file.count; i++) {
        const core_item *item = &cut->file.items[i];
        if (!item->is_kept || i == cut->kernel)
            continue;
        if (item->kind == CORE_ITEM_MACRO && any_word(item, item->start, is_parameter, &b.arrays))
            return all;
        if (item->kind == CORE_ITEM_MACRO)
            b.by_reference = b.by_reference || any_word(item, item->start, is_assignment, NULL);
        else if (item->kind == CORE_ITEM_FUNCTION || item->kind == CORE_ITEM_TYPE)
            b.by_reference = b.by_reference || any_word(item, item->start, is_reference, NULL);
    }
    return all & read_body(&b, &cut->file.items[cut->kernel], all);
}

bool core_kernel_prints(const kernel_cut *cut)
{
    for (int i = 0; i < cut->file.count; i++)
        if (cut->file.items[i].is_kept && any_word(&cut->file.items[i], cut->file.items[i].start, is_print, NULL))
            return true;
    return false;
}
