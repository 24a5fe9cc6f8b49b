/* SPDX-License-Identifier: MIT */
#include "compiler_error.h"
#include "math_functions.h"
#include "token.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NVRTC_INDENT = 2 }; /* blanks before the line that NVRTC shows */

/* An error's line in a compiler's output. */
typedef struct said {
    int line, column; /* 0: not said */
    const char *message, *end;
} said;

static const char *line_end(const char *at)
{
    return at + strcspn(at, "\n");
}

static const char *next_line(const char *at)
{
    at = line_end(at);
    return *at ? at + 1 : at;
}

static int number(const char **at)
{
    long read = 0;

    for (; isdigit((unsigned char)**at); ++*at)
        read = read < 100000000 ? read * 10 + (**at - '0') : read;
    return (int)read;
}

/* Reads what follows a place: "error: ", "fatal error: ", "catastrophic error: ", "error #20: ". */
static bool reads_error(const char *at, said *s)
{
    static const char *const before[] = {"fatal ", "catastrophic "};

    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (strncmp(at, before[i], strlen(before[i])) == 0)
            at += strlen(before[i]);
    if (strncmp(at, "error", 5) != 0 || (at[5] != ':' && at[5] != ' '))
        return false;
    s->end = line_end(at);
    s->message = memchr(at, ':', (size_t)(s->end - at));
    if (!s->message)
        return false;
    for (s->message++; *s->message == ' '; s->message++)
        continue;
    return *s->message != '\r' && s->message < s->end;
}

/* Reads what follows the file's name: ":3:25: error: ...", ":3: error: ...", "(3): error: ...". */
static bool reads_place(const char *at, said *s)
{
    const char opening = *at++;

    *s = (said){0};
    if ((opening != ':' && opening != '(') || !isdigit((unsigned char)*at))
        return false;
    s->line = number(&at);
    if (opening == ':' && at[0] == ':' && isdigit((unsigned char)at[1])) {
        at++;
        s->column = number(&at);
    }
    if (opening == '(' && *at++ != ')')
        return false;
    return at[0] == ':' && at[1] == ' ' && reads_error(at + 2, s);
}

/* Finds the first error in the user's text; if there is none, the first one elsewhere, without a place. Returns whether
 * there is an error. */
static bool find_error(const char *output, const char *shown_as, said *s)
{
    const size_t length = strlen(shown_as);
    said elsewhere = {0}, found;

    for (const char *at = output; *at; at = next_line(at)) {
        if (strncmp(at, shown_as, length) == 0 && reads_place(at + length, s))
            return true;
        for (const char *c = at, *end = line_end(at); !elsewhere.message && c < end; c++)
            if ((*c == ':' || *c == '(') && reads_place(c, &found))
                elsewhere = (said){.message = found.message, .end = found.end};
    }
    *s = elsewhere;
    return elsewhere.message;
}

/* ------------------------------------------------------------------------------------------------- places ---- */

static const char *line_of(const char *text, int line)
{
    for (int i = 1; text && i < line; i++)
        text = (text = strchr(text, '\n')) ? text + 1 : NULL;
    return text;
}

/* The column of the caret that NVRTC shows below a copy of the line. */
static int column_of_caret(const said *s, const char *text_line)
{
    const char *copy = next_line(s->end), *copy_end = line_end(copy), *caret = next_line(copy);
    const size_t length = strcspn(text_line, "\r\n");
    ptrdiff_t indent = copy_end - copy - (ptrdiff_t)length, at = (ptrdiff_t)strspn(caret, " \t");

    if (caret[at] != '^')
        return (int)strspn(text_line, " \t") + 1;
    if (indent < 0 || memcmp(copy + indent, text_line, length) != 0)
        indent = NVRTC_INDENT;
    return at >= indent ? (int)(at - indent) + 1 : 1;
}

static void find_place(said *s, const char *text)
{
    const char *line = s->line > 0 ? line_of(text, s->line) : NULL, *last = text;

    if (line && *line) {
        const int end = (int)strcspn(line, "\r\n") + 1;
        if (s->column == 0)
            s->column = column_of_caret(s, line);
        s->column = s->column < end ? s->column : end;
        return;
    }
    s->line = 1; /* after the text: the end of its last line */
    for (const char *next = strchr(text, '\n'); next && next[1]; next = strchr(last, '\n')) {
        s->line++;
        last = next + 1;
    }
    s->column = (int)strcspn(last, "\r\n") + 1;
}

/* ---------------------------------------------------------------------------------------------- messages ---- */

/* Copies words without curved quotes, gcc's remark and the names of warnings. Returns the length of the copy. */
static size_t copy_words(const char *words, const char *end, char *copy, size_t size)
{
    static const char remark[] = " (first use in this function)";
    size_t length = 0;

    for (const char *c = words; c < end && *c != '\r' && length + 1 < size; c++) {
        if (strncmp(c, " [-W", 4) == 0)
            break;
        if (strncmp(c, remark, strlen(remark)) == 0) {
            c += strlen(remark) - 1;
        } else if (strncmp(c, "\xe2\x80\x98", 3) == 0 || strncmp(c, "\xe2\x80\x99", 3) == 0) {
            copy[length++] = '\'';
            c += 2;
        } else {
            copy[length++] = *c;
        }
    }
    copy[length] = '\0';
    return length;
}

/* Copies the message of an error, without its frame: where a header forbids a use, the header's own words, if it has
 * any. */
static void copy_message(const said *s, char *copy, size_t size)
{
    static const char forbidden[] = " declared with attribute error: ";
    const char *found = memmem(s->message, (size_t)(s->end - s->message), forbidden, strlen(forbidden));

    if (!found || copy_words(found + strlen(forbidden), s->end, copy, size) == 0)
        copy_words(s->message, s->end, copy, size);
}

/* The name that a compiler does not know; false: the message is about something else. */
static bool finds_unknown(const char *message, char name[64])
{
    static const char *const ways[] = {"'%63[^']' undeclared%n",
                                       "'%63[^']' was not declared in this scope%n",
                                       "use of undeclared identifier '%63[^']'%n",
                                       "implicit declaration of function '%63[^']'%n",
                                       "call to undeclared function '%63[^']'%n",
                                       "call to undeclared library function '%63[^']'%n",
                                       "identifier \"%63[^\"]\" is undefined%n"};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int read = 0;
        if (sscanf(message, ways[i], name, &read) == 1 && read > 0)
            return true;
    }
    return false;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Finds the text as a whole word. */
static const char *find_word(const char *text, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !is_of_name(at[-1])) && !is_of_name(at[length]))
            return at;
    return NULL;
}

/* Returns whether the C library has the function for programs alone: no function of math.h is meant by it. */
static bool is_of_host(const char *name)
{
    static const char *const names[] = {"atoi",  "atol",   "atof",    "strtol", "strtod", "rand",  "srand",
                                        "time",  "getenv", "fprintf", "scanf",  "puts",   "fopen", "fclose",
                                        "qsort", "strlen", "strcmp",  "strcpy", "system", "sleep"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The compiler's own proposal if it is a word of the user's (a wrapper has others), else a function for what is called.
 */
static const char *find_proposal(const char *message, const char *text, const char *line, const char *name,
                                 char proposed[64])
{
    const char *hint = strstr(message, "did you mean '"), *call = find_word(line, name);

    if (hint && sscanf(hint, "did you mean '%63[^']'", proposed) == 1 && find_word(text, proposed))
        return proposed;
    if (!call || is_of_host(name) || call[strlen(name) + strspn(call + strlen(name), " \t")] != '(')
        return "";
    return core_nearest_function(name);
}

/* What to do in place of taking memory while a text runs; NULL: the name is another one. NVRTC has these functions for
 * kernels; hip-cpu has not, since it could not say whether an access is within such memory. */
static const char *instead_of(const char *name)
{
    static const char *const names[] = {"malloc", "calloc", "realloc", "free", "new", "new[]", "delete", "delete[]"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return "nothing takes memory here while it runs: use an array of known size, as in float part[16], or give "
                   "a kernel one array with a part for each thread";
    return NULL;
}

/* ------------------------------------------------------------------------------- names without a definition ---- */

/* Finds the last name in "_Z6helperf", "_ZN4text6helperEf" (the Itanium C++ ABI, 5.1); *length 0: it has none. */
static const char *mangled_name(const char *at, size_t *length)
{
    const char *name = at;

    *length = 0;
    for (at += 2 + strspn(at + 2, "NLK"); isdigit((unsigned char)*at); at = name + *length) {
        const size_t count = (size_t)number(&at);
        name = at;
        *length = count < strcspn(at, "'\n") ? count : strcspn(at, "'\n");
    }
    return name;
}

static const char variadic[] = "unsupported call to variadic function "; /* hiprtc writes this for int f(...) */

/* Finds the undefined name that a linker reports, without scopes and parameters. Returns false if it reports none. */
static bool finds_undefined(const char *output, char name[64])
{
    static const char *const ways[] = {"undefined reference to `",
                                       "undefined reference to '",
                                       "undefined symbol: ",
                                       "undefined hidden symbol: ",
                                       "undefined protected symbol: ",
                                       "Unresolved extern function '",
                                       variadic};
    const char *at = NULL;
    size_t length, end;

    for (size_t i = 0; i < sizeof ways / sizeof *ways && !at; i++)
        if ((at = strstr(output, ways[i])))
            at += strlen(ways[i]);
    if (!at)
        return false;
    length = strcspn(at, "(<'\r\n");
    if (strncmp(at, "_Z", 2) == 0)
        at = mangled_name(at, &length);
    for (end = length; length > 0 && at[length - 1] != ':' && at[length - 1] != ' ';) /* "text::helper" */
        length--;
    snprintf(name, 64, "%.*s", (int)(end - length), at + length);
    return end > length;
}

/* Finds a use of the name in a function's body; after the name of a type it is a declaration, and not a use. Returns
 * false if none exists. */
static bool find_use(const char *text, const char *name, said *s)
{
    core_text_error unused;
    core_token token, before = {0};
    core_reader reader;
    int depth = 0;

    core_reader_start(&reader, text);
    for (; core_token_next_of_code(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END; before = token) {
        const bool declared =
            before.kind == CORE_TOKEN_NAME && !core_token_is_one_of(&before, "return", "else", "do", "case", NULL);
        depth += core_token_is(&token, "{") - core_token_is(&token, "}");
        if (depth > 0 && !declared && core_token_is(&token, name)) {
            *s = (said){.line = token.line, .column = token.column};
            return true;
        }
    }
    return false;
}

/* Finds the name anywhere in the text, such as in a macro; otherwise the place is the start of the text. */
static void find_mention(const char *text, const char *name, said *s)
{
    const char *found = find_word(text, name);

    *s = (said){.line = 1, .column = 1};
    for (const char *at = text; found && at < found; at++) {
        s->column = *at == '\n' ? 1 : s->column + 1;
        s->line += *at == '\n';
    }
}

static bool reads_undefined(const char *output, const char *text, core_text_error *error)
{
    char name[64];
    const char *instead;
    said s;

    if (!finds_undefined(output, name))
        return false;
    instead = instead_of(name);
    if (instead)
        name[strcspn(name, "[")] = '\0';
    if (!find_use(text, name, &s))
        find_mention(text, name, &s);
    if (instead)
        core_source_fail(error, s.line, s.column, "'%s': %s", name, instead);
    else
        core_source_fail(error, s.line, s.column,
                         strstr(output, variadic)
                             ? "'%s' takes any number of arguments (...), which a GPU has for printf alone"
                             : "'%s' is used, and nothing here defines it",
                         name);
    return true;
}

/* Finds the text's own instructions, which this assembler does not know. Returns false if there are none. */
static bool reads_assembler(const char *output, const char *text, core_text_error *error)
{
    said s;

    if (!strstr(output, "Assembler messages:") || (!find_use(text, "asm", &s) && !find_use(text, "__asm__", &s)))
        return false;
    core_source_fail(error, s.line, s.column,
                     "asm has instructions that this device does not have: PTX is for GPUs of NVIDIA's alone");
    return true;
}

bool core_compiler_error(const char *output, const char *text, const char *shown_as, core_text_error *error)
{
    char message[256], name[64], proposed[64];
    const char *proposal;
    said s;

    if (!find_error(output, shown_as, &s))
        return reads_undefined(output, text, error) || reads_assembler(output, text, error);
    find_place(&s, text);
    copy_message(&s, message, sizeof message);
    if (!finds_unknown(message, name)) {
        core_source_fail(error, s.line, s.column, "%s", message);
        return true;
    }
    if (instead_of(name)) {
        core_source_fail(error, s.line, s.column, "'%s': %s", name, instead_of(name));
        return true;
    }
    proposal = find_proposal(message, text, line_of(text, s.line), name, proposed);
    core_source_fail(error, s.line, s.column,
                     *proposal && strcmp(proposal, name) != 0 ? "'%s' is not known; did you mean '%s'?"
                                                              : "'%s' is not known",
                     name, proposal);
    return true;
}
