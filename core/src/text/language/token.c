/* SPDX-License-Identifier: MIT */
#include "token.h"

#include <stdarg.h>
#include <string.h>

void core_reader_start(core_reader *reader, const char *text)
{
    *reader = (core_reader){.text = text, .at = text, .line_start = text, .line = 1, .fresh = true};
}

static int column_of(const core_reader *r)
{
    return (int)(r->at - r->line_start) + 1;
}

static void new_line(core_reader *r)
{
    r->line++;
    r->line_start = r->at;
}

/* Returns the character after a backslash and newline, which join two lines; NULL: no join starts here. */
static const char *behind_join(const char *at)
{
    if (at[0] != '\\')
        return NULL;
    return at[1] == '\n' ? at + 2 : at[1] == '\r' && at[2] == '\n' ? at + 3 : NULL;
}

/* Returns whether compilers disagree that the line ends here: at a carriage return alone, and at a backslash followed
 * by blanks. */
static bool is_doubtful_end(const char *at)
{
    if (*at == '\r')
        return at[1] != '\n';
    return *at == '\\' && !behind_join(at) && at[1 + strspn(at + 1, " \t\r\v\f")] == '\n';
}

static bool is_line_end(const char *at)
{
    return *at == '\0' || *at == '\n' || is_doubtful_end(at);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_of_name(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80);
}

/* Skips joins of lines. Returns whether there were any. */
static bool skip_joined_line(core_reader *r)
{
    const char *behind = behind_join(r->at);

    if (!behind)
        return false;
    for (; behind; behind = behind_join(r->at)) {
        r->at = behind;
        new_line(r);
    }
    return true;
}

/* Skips joins directly after a token. The token may continue after the join: a compiler then sees one token where this
 * reader sees two. */
static bool skip_joined_token(core_reader *r)
{
    const char before = r->at > r->text ? r->at[-1] : ' ';

    if (!skip_joined_line(r))
        return false;
    r->splits = (is_of_name(before) && (is_of_name(*r->at) || *r->at == '"' || *r->at == '\'')) ||
                (before == '/' && (*r->at == '/' || *r->at == '*')) || (before == '%' && *r->at == ':');
    return true;
}

static void skip_to_line_end(core_reader *r)
{
    while (!is_line_end(r->at))
        if (!skip_joined_line(r))
            r->at++;
}

static fl_status skip_comment(core_reader *r, core_text_error *error)
{
    const int line = r->line, column = column_of(r);

    for (r->at += 2; *r->at;) {
        const bool star = r->at[-1] == '*';
        if (r->at[0] == '*' && r->at[1] == '/') {
            r->at += 2;
            return FL_OK;
        }
        if (skip_joined_line(r)) {
            r->splits = star && *r->at == '/';
            if (r->splits)
                return FL_OK;
        } else if (*r->at++ == '\n') {
            new_line(r);
        }
    }
    return core_source_fail(error, line, column, "the comment that starts here does not end");
}

static fl_status skip_blanks(core_reader *r, core_text_error *error)
{
    fl_status status = FL_OK;

    skip_joined_token(r);
    while (status == FL_OK && !r->splits) {
        if (is_doubtful_end(r->at))
            return core_source_fail(error, r->line, column_of(r),
                                    *r->at == '\r' ? "a carriage return alone: a line ends with a newline"
                                                   : "blanks follow the backslash that ends this line");
        if (*r->at == '\n') {
            r->at++;
            new_line(r);
            r->fresh = true;
        } else if (*r->at && strchr(" \t\r\v\f", *r->at)) {
            r->at++;
        } else if (r->hides && *r->at && strchr(CORE_HIDDEN, *r->at)) {
            r->at++;
            r->fresh = false;
        } else if (r->at[0] == '/' && r->at[1] == '/') {
            skip_to_line_end(r);
        } else if (r->at[0] == '/' && r->at[1] == '*') {
            status = skip_comment(r, error);
        } else if (!skip_joined_line(r)) {
            return FL_OK;
        }
    }
    return status != FL_OK ? status
                           : core_source_fail(error, r->line, column_of(r),
                                              "the backslash that ends the line before splits a word or mark");
}

/* Skips R"mark(...)mark", in which only its end has a meaning, in one line or over several. Returns false if it does
 * not end. */
static bool skip_raw(core_reader *r, bool in_line)
{
    enum { LONGEST_MARK = 16 };
    const size_t mark = strcspn(r->at, "(\r\n");
    core_reader here = *r;

    if (mark > LONGEST_MARK + 1 || r->at[mark] != '(')
        return false;
    for (here.at += mark; *here.at && !(in_line && (*here.at == '\n' || *here.at == '\r')); here.at++) {
        if (*here.at == '\n') {
            here.line++;
            here.line_start = here.at + 1;
        }
        if (*here.at != ')' || strncmp(here.at + 1, r->at + 1, mark - 1) != 0 || here.at[mark] != '"')
            continue;
        here.at += mark + 1;
        here.only_cxx = true;
        *r = here;
        return true;
    }
    return false;
}

/* Skips what stands in quotes. false: it does not end in its line. Text without a meaning of its own, R"(...)", ends in
 * a directive's line, elsewhere anywhere. */
static bool skip_quoted(core_reader *r, bool in_line)
{
    const char quote = *r->at, *word = r->at;

    while (word > r->text && is_of_name(word[-1]))
        word--;
    if (quote == '"' && r->at > word && r->at[-1] == 'R' && r->at - word <= 3 && strchr("RuUL", *word))
        return skip_raw(r, in_line);
    for (r->at++; !is_line_end(r->at) && *r->at != quote;)
        if (!skip_joined_line(r))
            r->at += r->at[0] == '\\' && r->at[1] && r->at[1] != '\n' ? 2 : 1;
    if (*r->at != quote)
        return false;
    r->at++;
    return true;
}

/* Skips a "preprocessing number" of C: the longest text that could be one. 1'000 is one in C++. */
static void skip_number(core_reader *r)
{
    for (r->at++;; r->at++) {
        const bool separator = *r->at == '\'' && is_of_name(r->at[1]);
        r->only_cxx = r->only_cxx || separator;
        if (!is_of_name(*r->at) && *r->at != '.' && !separator &&
            !((*r->at == '+' || *r->at == '-') && strchr("eEpP", r->at[-1])))
            return;
    }
}

/* Skips a directive's apostrophe, which need not have a partner: #error isn't. Compilers disagree whether a comment can
 * start after it. */
static fl_status skip_apostrophe(core_reader *r, core_text_error *error)
{
    const int line = r->line, column = column_of(r);

    while (!is_line_end(r->at)) {
        if (r->at[0] == '/' && (r->at[1] == '*' || r->at[1] == '\\'))
            return core_source_fail(error, line, column, "a comment after a quote that does not end in its line");
        if (!skip_joined_line(r))
            r->at++;
    }
    return FL_OK;
}

/* Skips to the end of the line. */
static fl_status skip_directive(core_reader *r, core_text_error *error)
{
    fl_status status = FL_OK;

    while (status == FL_OK && !r->splits && !is_line_end(r->at)) {
        const core_reader here = *r;
        if (r->at[0] == '/' && r->at[1] == '/') {
            skip_to_line_end(r);
        } else if (r->at[0] == '/' && r->at[1] == '*') {
            status = skip_comment(r, error);
        } else if (*r->at == '"' || *r->at == '\'') {
            if (!skip_quoted(r, true)) {
                *r = here;
                status = skip_apostrophe(r, error);
            }
        } else if (is_digit(*r->at) && !is_of_name(r->at[-1])) {
            skip_number(r);
        } else if (skip_joined_token(r)) {
            r->splits = r->splits && !is_of_name(*r->at); /* also used for the words of directives */
        } else {
            r->at++;
        }
    }
    return status;
}

static size_t mark_length(const char *at)
{
    static const char *const marks[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
                                        "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "^=", "|=", "##"};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strncmp(at, marks[i], strlen(marks[i])) == 0)
            return strlen(marks[i]);
    return 1;
}

fl_status core_token_next(core_reader *r, core_token *token, core_text_error *error)
{
    fl_status status = skip_blanks(r, error);
    const bool first = r->fresh;

    *token = (core_token){.at = r->at, .line = r->line, .column = column_of(r)};
    if (status != FL_OK || !*r->at)
        return status;
    r->fresh = false;
    if (is_digit(*r->at) || (r->at[0] == '.' && is_digit(r->at[1]))) {
        token->kind = CORE_TOKEN_NUMBER;
        skip_number(r);
    } else if (is_of_name(*r->at)) {
        token->kind = CORE_TOKEN_NAME;
        while (is_of_name(*r->at))
            r->at++;
    } else if (*r->at == '"' || *r->at == '\'') {
        token->kind = CORE_TOKEN_TEXT;
        if (!skip_quoted(r, false))
            status =
                core_source_fail(error, token->line, token->column, "the %s that starts here does not end in its line",
                                 *token->at == '"' ? "text" : "character");
    } else if (first && (*r->at == '#' || (r->at[0] == '%' && r->at[1] == ':'))) {
        token->kind = CORE_TOKEN_DIRECTIVE;
        status = skip_directive(r, error);
    } else {
        token->kind = CORE_TOKEN_MARK;
        r->at += mark_length(r->at);
    }
    token->length = (size_t)(r->at - token->at);
    return status;
}

fl_status core_token_next_of_code(core_reader *reader, core_token *token, core_text_error *error)
{
    fl_status status;

    do
        status = core_token_next(reader, token, error);
    while (status == FL_OK && token->kind == CORE_TOKEN_DIRECTIVE);
    return status;
}

void core_token_words(const core_token *token, char *words, size_t size)
{
    core_reader r = {.text = token->at, .at = token->at};
    core_text_error unused;
    size_t used = 0;

    while (r.at < token->at + token->length && used + 1 < size) {
        if (skip_joined_line(&r))
            continue;
        if (r.at[0] == '/' && r.at[1] == '*')
            skip_comment(&r, &unused);
        else if (!strchr(" \t\r\v\f", *r.at++)) {
            words[used++] = r.at[-1];
            continue;
        }
        if (used > 0 && words[used - 1] != ' ')
            words[used++] = ' ';
    }
    words[used] = '\0';
}

const char *core_directive(const core_token *token, char *words, size_t size)
{
    core_token_words(token, words, size);
    words += *words == '#' ? 1 : 2;
    return words + (*words == ' ');
}

bool core_is_late_hash(const core_token *token)
{
    return token->kind == CORE_TOKEN_MARK && (*token->at == '#' || (token->at[0] == '%' && token->at[1] == ':'));
}

bool core_token_is(const core_token *token, const char *text)
{
    return token->kind != CORE_TOKEN_END && strlen(text) == token->length &&
           memcmp(token->at, text, token->length) == 0;
}

bool core_token_is_one_of(const core_token *token, ...)
{
    va_list texts;
    const char *text;
    bool found = false;

    va_start(texts, token);
    while (!found && (text = va_arg(texts, const char *)))
        found = core_token_is(token, text);
    va_end(texts);
    return found;
}

fl_status core_skip_brackets(core_reader *reader, core_text_error *error)
{
    core_token token;
    fl_status status = FL_OK;

    for (int depth = 1; depth > 0;) {
        status = core_token_next_of_code(reader, &token, error);
        if (status != FL_OK || token.kind == CORE_TOKEN_END)
            break;
        if (core_token_is_one_of(&token, "(", "[", "{", NULL))
            depth++;
        else if (core_token_is_one_of(&token, ")", "]", "}", NULL))
            depth--;
    }
    return status;
}

bool core_token_is_hexadecimal(const core_token *number)
{
    return number->length > 1 && (number->at[1] == 'x' || number->at[1] == 'X');
}

bool core_token_is_floating(const core_token *number)
{
    const char *marks = core_token_is_hexadecimal(number) ? ".pP" : ".eE";

    for (size_t i = 0; number->kind == CORE_TOKEN_NUMBER && i < number->length; i++)
        if (strchr(marks, number->at[i]))
            return true;
    return false;
}

core_token_text core_token_show(const core_token *token)
{
    core_token_text shown;
    const size_t most = sizeof shown.text - sizeof "...";
    size_t length = token->length < most ? token->length : most;

    while (length < token->length && length > 0 && (token->at[length] & 0xc0) == 0x80)
        length--; /* not within a character of UTF-8 */
    memcpy(shown.text, token->at, length);
    strcpy(shown.text + length, length < token->length ? "..." : "");
    return shown;
}
