/* SPDX-License-Identifier: MIT
 * The tokens of a text in C. */
#ifndef FLYNN_CORE_TOKEN_H
#define FLYNN_CORE_TOKEN_H

#include "source_error.h"

typedef enum core_token_kind {
    CORE_TOKEN_END,
    CORE_TOKEN_NAME,      /* words of the language, too */
    CORE_TOKEN_NUMBER,    /* what looks like one: "1.5e-3f", also "2x" */
    CORE_TOKEN_TEXT,      /* in " or ' */
    CORE_TOKEN_DIRECTIVE, /* from the # to the end of the line */
    CORE_TOKEN_MARK       /* "+", "<<=", and any other character */
} core_token_kind;

typedef struct core_token {
    core_token_kind kind;
    const char *at;
    size_t length;
    int line, column;
} core_token;

typedef struct core_reader {
    const char *text, *at, *line_start;
    int line;
    bool fresh;    /* only blanks and comments precede it on this line: a # starts a directive */
    bool splits;   /* a backslash that ends a line has split a token, which the next call reports */
    bool hides;    /* brackets that core_branches_hide has written are passed over as blanks are */
    bool only_cxx; /* a number such as 1'000 was read, or R"(...)": C may see other tokens there */
} core_reader;

enum { CORE_NAME_SIZE = 64 }; /* of a name that is kept as a string, with its end */

/* What stands for each of ()[]{} where it is hidden. */
#define CORE_HIDDEN "\1\2\3\4\5\6"

void core_reader_start(core_reader *reader, const char *text);

/* Reads the next token after blanks and comments. FL_E_SOURCE: a comment or a quote does not end, or compilers disagree
 * where the line ends. */
fl_status core_token_next(core_reader *reader, core_token *token, core_text_error *error);

/* Reads the next token, but passes over directives, because these may stand within a construct that they are not part
 * of. */
fl_status core_token_next_of_code(core_reader *reader, core_token *token, core_text_error *error);

/* Skips past the bracket that closes the one read before, of any kind: brackets match there. */
fl_status core_skip_brackets(core_reader *reader, core_text_error *error);

/* Copies the start of the token without joins of lines, and with one blank for blanks and comments, as for the words of
 * a directive. */
void core_token_words(const core_token *token, char *words, size_t size);

/* Copies the start of a directive so; returns what follows its '#'. */
const char *core_directive(const core_token *token, char *words, size_t size);
/* Returns whether the token is a '#' that a directive does not start with: another token precedes it on its line. */
bool core_is_late_hash(const core_token *token);

bool core_token_is(const core_token *token, const char *text);
/* Returns whether the token is one of the texts. The last one is NULL. */
bool core_token_is_one_of(const core_token *token, ...) __attribute__((sentinel));

/* Of a number: whether its digits are hexadecimal, and whether it is one of a floating type. */
bool core_token_is_hexadecimal(const core_token *number);
bool core_token_is_floating(const core_token *number);

/* The token for a message: its first characters, then "..." if it is longer. */
typedef struct core_token_text {
    char text[48];
} core_token_text;
core_token_text core_token_show(const core_token *token);

#endif
