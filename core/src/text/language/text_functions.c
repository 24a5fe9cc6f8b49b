/* SPDX-License-Identifier: MIT */
#include "text_functions.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 256 };

/* The state of reading one text. */
typedef struct text_reader {
    core_reader reader;
    core_text_error *error;
    const char *text;
    char *clean;
    core_token open[DEEPEST]; /* brackets */
    int depth;                /* of them */
    int file_level;           /* of them are extern "C" { */
    core_reader item;         /* where the present definition or declaration at file level starts */
    core_definition_reader *to;
} text_reader;

static fl_status fail_at(text_reader *t, const core_token *token, const char *what)
{
    return core_source_fail(t->error, token->line, token->column, "%s", what);
}

static void blank(text_reader *t, const core_token *token)
{
    char *at = t->clean + (token->at - t->text);

    for (size_t i = 0; i < token->length; i++)
        if (at[i] != '\n' && at[i] != '\r')
            at[i] = ' ';
}

/* Makes a token blank, after which the reader stands. A '#' there would then start its line, and a directive. */
static fl_status blank_before(text_reader *t, core_reader ahead, const core_token *token)
{
    core_text_error unused;
    core_token next;

    if (core_token_next(&ahead, &next, &unused) == FL_OK && core_is_late_hash(&next))
        return fail_at(t, &next, "a '#' that does not start its line");
    blank(t, token);
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------- directives ---- */

/* `at` stands after "include". */
static bool is_known_include(const char *at)
{
    static const char *const known[] = {"math.h", "stdint.h", "stdbool.h", "hip/hip_runtime.h"};

    at += *at == ' ';
    if (*at != '<' && *at != '"')
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(at + 1, known[i], strlen(known[i])) == 0)
            return at[strlen(known[i]) + 1] == (*at == '<' ? '>' : '"');
    return false;
}

static fl_status fail_of_include(text_reader *t, const core_token *token)
{
    return fail_at(t, token, "only math.h, stdint.h, stdbool.h and hip/hip_runtime.h can be included, and need not be");
}

static fl_status read_directive(text_reader *t, const core_token *token)
{
    char words[64]; /* longer than every known include */
    const char *const word = core_directive(token, words, sizeof words);
    const size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
    if ((length == 4 && strncmp(word, "line", 4) == 0) || (*word >= '0' && *word <= '9'))
        return fail_at(t, token, "#line would move the places of errors: leave it out");
    if ((strncmp(word, "error", 5) == 0 || strncmp(word, "warning", 7) == 0) &&
        memmem(token->at, token->length, "/*", 2))
        return fail_at(t, token, "a comment in #error or #warning, where some compilers have none");
    if (strncmp(word, "include", 7) != 0 && strncmp(word, "import", 6) != 0 && strncmp(word, "embed", 5) != 0)
        return FL_OK;
    if ((length != 7 || !is_known_include(word + length)) && !t->to->take_include)
        return fail_of_include(t, token);
    if (length != 7 || !is_known_include(word + length))
        t->to->take_include(t->to->user, word + length + (word[length] == ' '));
    blank(t, token);
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------ definitions ---- */

/* Returns whether the `{` at file level, which was read, starts a function's body; *name is then the function's. */
static bool begins_body(core_reader item, const core_token *brace, core_token *name)
{
    core_text_error unused;
    core_token token, before = {0};
    bool attribute;

    for (*name = before; core_token_next_of_code(&item, &token, &unused) == FL_OK && token.at < brace->at;
         before = token) {
        if (core_token_is(&token, "="))
            return false;
        if (!core_token_is(&token, "("))
            continue;
        attribute = core_token_is_one_of(&before, "__attribute__", "__launch_bounds__", "__declspec", "_Alignas", NULL);
        if (core_skip_brackets(&item, &unused) != FL_OK)
            return false;
        if (!attribute && before.kind == CORE_TOKEN_NAME && name->length == 0)
            *name = before;
    }
    return name->length > 0;
}

static fl_status open_brace(text_reader *t, const core_token *brace)
{
    core_definition definition = {.item = t->item, .body = t->reader};
    core_token first, second;
    core_reader reader = t->item;

    if (core_token_next_of_code(&reader, &first, t->error) == FL_OK && core_token_is(&first, "extern") &&
        core_token_next_of_code(&reader, &second, t->error) == FL_OK && second.kind == CORE_TOKEN_TEXT &&
        reader.at < brace->at && core_token_next_of_code(&reader, &first, t->error) == FL_OK && first.at == brace->at) {
        t->file_level++;
        t->item = t->reader;
        return blank_before(t, t->reader, brace);
    }
    if (!t->to->take || !begins_body(t->item, brace, &definition.name))
        return FL_OK;
    return t->to->take(t->to->user, &definition, t->error);
}

/* ------------------------------------------------------------------------------------------------- reading ---- */

static fl_status open_bracket(text_reader *t, const core_token *token)
{
    fl_status status = FL_OK;

    if (t->depth == DEEPEST)
        return fail_at(t, token, "more than 256 brackets within each other");
    if (t->depth == t->file_level && *token->at == '{')
        status = open_brace(t, token);
    t->open[t->depth++] = *token;
    return status;
}

static fl_status close_bracket(text_reader *t, const core_token *token)
{
    const core_token *opened;
    fl_status status = FL_OK;

    if (t->depth == 0)
        return core_source_fail(t->error, token->line, token->column, "'%c' closes nothing", *token->at);
    opened = &t->open[t->depth - 1];
    if (*token->at != (*opened->at == '(' ? ')' : *opened->at == '[' ? ']' : '}'))
        return core_source_fail(t->error, token->line, token->column,
                                "'%c' cannot close the '%c' of line %d, column %d", *token->at, *opened->at,
                                opened->line, opened->column);
    if (--t->depth < t->file_level) {
        core_reader item = t->item;
        core_token first;
        if (core_token_next_of_code(&item, &first, t->error) == FL_OK && first.at != token->at)
            return fail_at(t, token, "a ';' is missing before it");
        t->file_level--;
        status = blank_before(t, t->reader, token);
    }
    if (t->depth == t->file_level && *token->at == '}')
        t->item = t->reader;
    return status;
}

static fl_status read_mark(text_reader *t, const core_token *token)
{
    if (core_token_is_one_of(token, "(", "[", "{", NULL))
        return open_bracket(t, token);
    if (core_token_is_one_of(token, ")", "]", "}", NULL))
        return close_bracket(t, token);
    if (t->depth == t->file_level && core_token_is(token, ";"))
        t->item = t->reader;
    return FL_OK;
}

/* extern "C", which compilers of C do not know. */
static fl_status blank_linkage(text_reader *t, const core_token *word)
{
    core_text_error unused;
    core_reader ahead = t->reader;
    core_token language;

    if (core_token_next_of_code(&ahead, &language, &unused) != FL_OK || !core_token_is(&language, "\"C\""))
        return FL_OK;
    blank(t, word);
    return blank_before(t, ahead, &language);
}

static fl_status read_text(text_reader *t)
{
    core_token token;
    fl_status status;

    while ((status = core_token_next(&t->reader, &token, t->error)) == FL_OK && token.kind != CORE_TOKEN_END) {
        if (token.kind == CORE_TOKEN_DIRECTIVE) {
            status = read_directive(t, &token);
        } else if (token.kind == CORE_TOKEN_MARK) {
            status = read_mark(t, &token);
        } else if (core_token_is(&token, "extern")) {
            status = blank_linkage(t, &token);
        }
        if (token.kind == CORE_TOKEN_TEXT &&
            (memmem(token.at, token.length, ".incbin", 7) ||
             memmem(token.at, token.length, ".include", 8))) /* the assembler's own includes */
            status = fail_of_include(t, &token);
        if (t->reader.only_cxx && !t->to->is_cxx)
            status =
                fail_at(t, &token, "R\"(...)\", and ' in a number, are of C++, and this text is also compiled as C");
        t->to->loops = t->to->loops || (token.kind == CORE_TOKEN_NAME &&
                                        core_token_is_one_of(&token, "for", "while", "do", "goto", NULL));
        if (status != FL_OK)
            return status;
    }
    if (status != FL_OK || t->depth == 0)
        return status;
    token = t->open[t->depth - 1];
    return core_source_fail(t->error, token.line, token.column, "'%c' is never closed", *token.at);
}

static fl_status read_whole(text_reader *t)
{
    const size_t length = strlen(t->text);
    const char *last = t->text + length;
    fl_status status;

    if (length > CORE_MOST_TEXT)
        return core_source_fail(t->error, 1, 1, "a text of more than %d bytes", CORE_MOST_TEXT);
    core_reader_start(&t->reader, t->text);
    t->reader.hides = t->to->hides;
    if (strncmp(t->text, "\xef\xbb\xbf", 3) == 0) { /* an editor's mark of UTF-8 */
        t->reader.at += 3;
        memset(t->clean, ' ', 3);
    }
    t->item = t->reader;
    status = read_text(t);
    while (last > t->text && strchr(" \t\r\n\v\f", last[-1]))
        last--;
    if (status == FL_OK && last > t->text && last[-1] == '\\')
        return core_source_fail(t->error, t->reader.line, 1, "a backslash ends the text");
    return status;
}

fl_status core_definitions_read(const char *text, core_definition_reader *reader, char **clean, core_text_error *error)
{
    text_reader *t = calloc(1, sizeof *t);
    fl_status status;

    *error = (core_text_error){0};
    *clean = strdup(text);
    if (!t || !*clean) {
        free(t);
        free(*clean);
        *clean = NULL;
        return core_fail(FL_E_MEMORY, "out of memory for a function of %zu bytes", strlen(text));
    }
    *t = (text_reader){.error = error, .text = text, .clean = *clean, .to = reader};
    status = read_whole(t);
    if (status != FL_OK) {
        free(*clean);
        *clean = NULL;
    }
    free(t);
    return status;
}
