/* SPDX-License-Identifier: MIT */
#include "token.h"

#include <stdarg.h>
#include <string.h>

void core_reader_start(core_reader *reader, const char *text)
{
    *reader = (core_reader){.at = text, .line_start = text, .line = 1, .fresh = true};
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

/* Skips a backslash and the newline behind it; blanks may stand between, as compilers accept them. */
static bool skip_joined_line(core_reader *r)
{
    const char *newline = *r->at == '\\' ? r->at + 1 + strspn(r->at + 1, " \t\r\v\f") : NULL;

    if (!newline || *newline != '\n')
        return false;
    r->at = newline + 1;
    new_line(r);
    return true;
}

static void skip_to_line_end(core_reader *r)
{
    while (*r->at && *r->at != '\n')
        if (!skip_joined_line(r))
            r->at++;
}

static fl_status skip_comment(core_reader *r, core_text_error *error)
{
    const int line = r->line, column = column_of(r);

    for (r->at += 2; *r->at;) {
        if (r->at[0] == '*' && r->at[1] == '/') {
            r->at += 2;
            return FL_OK;
        }
        if (*r->at++ == '\n')
            new_line(r);
    }
    return core_source_fail(error, line, column, "the comment that begins here does not end");
}

static fl_status skip_blanks(core_reader *r, core_text_error *error)
{
    fl_status status = FL_OK;

    for (;;) {
        if (*r->at == '\n') {
            r->at++;
            new_line(r);
            r->fresh = true;
        } else if (*r->at && strchr(" \t\r\v\f", *r->at)) {
            r->at++;
        } else if (r->at[0] == '/' && r->at[1] == '/') {
            skip_to_line_end(r);
        } else if (r->at[0] == '/' && r->at[1] == '*') {
            status = skip_comment(r, error);
            if (status != FL_OK)
                return status;
        } else if (!skip_joined_line(r)) {
            return FL_OK;
        }
    }
}

/* Skips what stands in quotes. false: it does not end in its line. */
static bool skip_quoted(core_reader *r)
{
    const char quote = *r->at++;

    while (*r->at && *r->at != '\n' && *r->at != quote)
        if (!skip_joined_line(r))
            r->at += r->at[0] == '\\' && r->at[1] && r->at[1] != '\n' ? 2 : 1;
    if (*r->at != quote)
        return false;
    r->at++;
    return true;
}

/* To the end of its line. An apostrophe need not have another: #error isn't. */
static fl_status skip_directive(core_reader *r, core_text_error *error)
{
    fl_status status = FL_OK;

    while (status == FL_OK && *r->at && *r->at != '\n') {
        const core_reader here = *r;
        if (r->at[0] == '/' && r->at[1] == '/') {
            skip_to_line_end(r);
        } else if (r->at[0] == '/' && r->at[1] == '*') {
            status = skip_comment(r, error);
        } else if (*r->at == '"' || *r->at == '\'') {
            if (!skip_quoted(r)) {
                *r = here;
                r->at++;
            }
        } else if (!skip_joined_line(r)) {
            r->at++;
        }
    }
    return status;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_of_name(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80);
}

/* C's "preprocessing number": as long as it could be one. */
static void skip_number(core_reader *r)
{
    while (is_of_name(*r->at) || *r->at == '.' || ((*r->at == '+' || *r->at == '-') && strchr("eEpP", r->at[-1])))
        r->at++;
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
        r->at++;
        skip_number(r);
    } else if (is_of_name(*r->at)) {
        token->kind = CORE_TOKEN_NAME;
        while (is_of_name(*r->at))
            r->at++;
    } else if (*r->at == '"' || *r->at == '\'') {
        token->kind = CORE_TOKEN_TEXT;
        if (!skip_quoted(r))
            status =
                core_source_fail(error, token->line, token->column, "the %s that begins here does not end in its line",
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
