/* SPDX-License-Identifier: MIT */
#include "branches.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 64 }; /* within each other: so that the time stays linear */

static const char brackets[] = "()[]{}", hidden[] = CORE_HIDDEN;

/* The branches of an #if. */
typedef struct group {
    int first;    /* the first of the brackets that its branches do not match themselves */
    int branch;   /* its first branch */
    bool is_dead; /* the present branch is one of #if 0, or the other one of #if 1 */
    bool is_one;  /* #if 1 */
} group;

typedef struct branch_reader {
    char *text;
    int *unmatched; /* their places in the text: of each branch those that it closes, then those that it opens */
    int count, room;
    int *branches; /* of all groups that are open: where the brackets of each branch start */
    int branch_count, branch_room;
    group groups[MOST_GROUPS];
    int depth;
    bool has_hidden, has_failed; /* has_failed: the reading ends */
    fl_status status;
} branch_reader;

static bool closes(char bracket)
{
    return strchr(")]}", bracket) != NULL;
}

static void append(branch_reader *b, int **numbers, int *count, int *room, int number)
{
    if (*count == *room) {
        const int wanted = *room ? 2 * *room : 64;
        int *const more = realloc(*numbers, (size_t)wanted * sizeof *more);
        if (!more) {
            b->status = core_fail(FL_E_MEMORY, "out of host memory");
            b->has_failed = true;
            return;
        }
        *numbers = more;
        *room = wanted;
    }
    (*numbers)[(*count)++] = number;
}

/* Notes a bracket of the present branch, which starts at `first` of the unmatched ones. */
static void note(branch_reader *b, int first, int place)
{
    if (closes(b->text[place]) && b->count > first && !closes(b->text[b->unmatched[b->count - 1]]))
        b->count--;
    else
        append(b, &b->unmatched, &b->count, &b->room, place);
}

static int present_branch(const branch_reader *b)
{
    return b->depth > 0 ? b->branches[b->branch_count - 1] : 0;
}

static void hide(branch_reader *b, int place)
{
    b->text[place] = hidden[strchr(brackets, b->text[place]) - brackets];
    b->has_hidden = true;
}

/* Where the brackets of a branch end. */
static int end_of(const branch_reader *b, int branch)
{
    return branch + 1 < b->branch_count ? b->branches[branch + 1] : b->count;
}

/* The number of brackets from `from` to `end` that close, or that open. */
static int count_of(const branch_reader *b, int from, int end, bool closing)
{
    int count = 0;

    for (int i = from; i < end; i++)
        count += closes(b->text[b->unmatched[i]]) == closing;
    return count;
}

/* Returns the branch whose brackets of a kind are left, and -1 if none has one: the first one, which opens what all
 * have in common; but where branches only close the same number, the last one, so that a function has the text of all.
 */
static int kept_branch(const branch_reader *b, const group *g, bool closing)
{
    int first = -1, last = -1, number = 0;
    bool opens = false, equal = true;

    for (int i = g->branch; i < b->branch_count; i++) {
        const int count = count_of(b, b->branches[i], end_of(b, i), closing);
        opens = opens || count_of(b, b->branches[i], end_of(b, i), false) > 0;
        if (count == 0)
            continue;
        equal = equal && (first < 0 || count == number);
        number = count;
        first = first < 0 ? i : first;
        last = i;
    }
    return closing && equal && !opens ? last : first;
}

/* Hides what another branch opens or closes, too. */
static void settle(branch_reader *b, const group *g)
{
    const int kept[] = {kept_branch(b, g, false), kept_branch(b, g, true)};

    for (int i = g->branch; i < b->branch_count; i++)
        for (int k = b->branches[i]; k < end_of(b, i); k++)
            if (i != kept[closes(b->text[b->unmatched[k]])])
                hide(b, b->unmatched[k]);
}

static void end_branch(branch_reader *b)
{
    const group *g = &b->groups[b->depth - 1];
    const int first = present_branch(b);

    for (int i = first; g->is_dead && i < b->count; i++)
        hide(b, b->unmatched[i]);
    b->count = g->is_dead ? first : b->count;
}

static void begin_branch(branch_reader *b, bool is_dead)
{
    b->groups[b->depth - 1].is_dead = is_dead;
    append(b, &b->branches, &b->branch_count, &b->branch_room, b->count);
}

static void end_group(branch_reader *b)
{
    const group *g = &b->groups[b->depth - 1];

    end_branch(b);
    const int count = b->count;
    settle(b, g);
    b->depth--;
    b->branch_count = g->branch;
    b->count = g->first;
    for (int i = g->first; i < count && !b->has_failed; i++)
        if (!strchr(hidden, b->text[b->unmatched[i]]))
            note(b, present_branch(b), b->unmatched[i]);
}

static void read_directive(branch_reader *b, const core_token *token)
{
    char words[16];
    const char *const word = core_directive(token, words, sizeof words);

    if (strncmp(word, "if", 2) == 0) {
        b->has_failed = b->has_failed || b->depth == MOST_GROUPS;
        if (b->has_failed)
            return;
        b->groups[b->depth++] =
            (group){.first = b->count, .branch = b->branch_count, .is_one = strcmp(word, "if 1") == 0};
        begin_branch(b, strcmp(word, "if 0") == 0);
    } else if ((strncmp(word, "else", 4) == 0 || strncmp(word, "elif", 4) == 0) && b->depth > 0) {
        end_branch(b);
        begin_branch(b, b->groups[b->depth - 1].is_one);
    } else if (strncmp(word, "endif", 5) == 0 && b->depth > 0) {
        end_group(b);
    }
}

fl_status core_branches_hide(const char *text, char **counted)
{
    branch_reader b = {.text = strdup(text)};
    core_text_error unused;
    core_token token;
    core_reader reader;

    *counted = b.text;
    if (!b.text)
        return core_fail(FL_E_MEMORY, "out of host memory");
    b.has_failed = strpbrk(text, hidden) != NULL;
    core_reader_start(&reader, text);
    while (!b.has_failed && core_token_next(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END) {
        if (token.kind == CORE_TOKEN_DIRECTIVE)
            read_directive(&b, &token);
        else if (core_token_is_one_of(&token, "(", ")", "[", "]", "{", "}", NULL))
            note(&b, present_branch(&b), (int)(token.at - text));
    }
    free(b.branches);
    free(b.unmatched);
    if (!b.has_hidden || b.status != FL_OK) {
        free(b.text);
        *counted = NULL;
    }
    return b.status;
}

void core_branches_show(char *text)
{
    for (char *at = strpbrk(text, hidden); at; at = strpbrk(at, hidden))
        *at = brackets[strchr(hidden, *at) - hidden];
}

void core_branches_blank(char *from, const char *end)
{
    for (char *at = strpbrk(from, hidden); at && at < end; at = strpbrk(at, hidden))
        *at = ' ';
}
