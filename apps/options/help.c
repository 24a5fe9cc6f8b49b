/* SPDX-License-Identifier: MIT */
#include "help.h"

#include "support/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, TEXT_AT = 27, MOST_LINES = 40, INDENT = 10 };

static help_form chosen_form = HELP_SHORT;
static const char *in_short; /* NULL: the summary */

void help_choose(help_form form, const char *what)
{
    chosen_form = form;
    in_short = what;
}

/* The n-th part of a text between '\v'; its length goes to *length. "" where there are fewer. */
static const char *part_of(const char *text, int n, int *length)
{
    for (; n > 0 && *text; n--) {
        text += strcspn(text, "\v");
        text += *text == '\v';
    }
    *length = (int)strcspn(text, "\v");
    return text;
}

/* A paragraph, each line of it after `indent` spaces; the first one has `used` characters already. */
static void print_wrapped(FILE *out, const char *text, int length, int indent, int used)
{
    const char *end = text + length;

    for (int word; text < end; text += word + (text + word < end)) {
        word = (int)strcspn(text, " \v");
        word = word < end - text ? word : (int)(end - text);
        if (used > indent && used + 1 + word > WIDTH) {
            fputc('\n', out);
            used = 0;
        }
        used += fprintf(out, "%*s%.*s", used < indent ? indent - used : used > indent, "", word, text);
    }
    fputc('\n', out);
}

/* "  -b, --backend=SPEC,..."; returns its length. */
static int print_name(FILE *out, const own_option *o)
{
    const bool optional = option_has_optional_value(o);
    char letter[8] = "    ";

    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    return fprintf(out, "  %s--%s%s%s%s%s", letter, o->name, optional ? "[" : "", o->value ? "=" : "",
                   o->value ? o->value : "", optional ? "]" : "");
}

static void print_option(FILE *out, const own_option *o)
{
    int length, used = print_name(out, o);
    const char *text = part_of(o->help, 0, &length);

    print_wrapped(out, text, length, TEXT_AT, used);
    text = part_of(o->help, 1, &length);
    if (chosen_form == HELP_LONG && length)
        print_wrapped(out, text, length, TEXT_AT, 0);
}

static const struct {
    int group;
    const char *title;
} groups[] = {{GROUP_WHAT, "What is run"}, {GROUP_HOW, "How it is measured"}, {GROUP_OUTPUT, "Output"}};
enum { GROUPS = sizeof groups / sizeof *groups };

/* A command's own options are in the first group; options for files that it writes are in that of the output. The short
 * help, which fits a screen, leaves out GROUP_SELDOM. */
static int group_of(const own_option *o)
{
    if (o->group == GROUP_SELDOM)
        return chosen_form == HELP_SHORT ? GROUP_SELDOM : GROUP_HOW;
    if (o->group)
        return o->group;
    return o->type == OPTION_WRITTEN || o->type == OPTION_FOLDER || o->letter == 'o' ? GROUP_OUTPUT : GROUP_WHAT;
}

static bool has_group(const own_option *const *options, int count, int group)
{
    for (int i = 0; i < count; i++)
        if (group_of(options[i]) == group)
            return true;
    return false;
}

/* The options of each group below its title, which stands between `before` and `after`. */
static void print_groups(FILE *out, const own_option *const *options, int count, const char *before, const char *after,
                         void (*print)(FILE *out, const own_option *o))
{
    for (int g = 0; g < GROUPS; g++) {
        if (has_group(options, count, groups[g].group))
            fprintf(out, "%s%s%s\n", before, groups[g].title, after);
        for (int i = 0; i < count; i++)
            if (group_of(options[i]) == groups[g].group)
                print(out, options[i]);
    }
}

static void print_options(FILE *out, const own_option *const *options, int count)
{
    print_groups(out, options, count, "", ":", print_option);
    for (int i = 0; i < count; i++)
        if (options[i]->group == GROUP_ALWAYS && (options[i]->letter || chosen_form == HELP_LONG))
            print_option(out, options[i]);
}

/* Calls `print` for each example: its words, and what it does. */
static void each_example(FILE *out, const command_line *command,
                         void (*print)(FILE *out, const command_line *command, int words, const char *text, int what))
{
    int length;
    const char *text = part_of(command->summary, 2, &length), *end = text + length;

    while (text < end) {
        const int words = (int)strcspn(text, "\t"), what = (int)strcspn(text + words + 1, "\n");
        print(out, command, words, text, what);
        text += words + 1 + what + 1;
    }
}

static void print_example(FILE *out, const command_line *command, int words, const char *text, int what)
{
    const int used = fprintf(out, "  %s%s%.*s", command->name, words ? " " : "", words, text);

    fprintf(out, "%*s%.*s\n", used < 44 ? 44 - used : 2, "", what, text + words + 1);
}

static void print_text(FILE *out, const command_line *command, const own_option *const *options, int count,
                       bool details)
{
    int length;
    const char *text = part_of(command->summary, 0, &length);

    fprintf(out, "Usage: %s [OPTION...]%s%s\n", command->name, command->arguments ? " " : "",
            command->arguments ? command->arguments : "");
    print_wrapped(out, text, length, 0, 0);
    part_of(command->summary, 2, &length);
    if (length)
        fprintf(out, "Examples:\n");
    each_example(out, command, print_example);
    fputc('\n', out);
    print_options(out, options, count);
    text = part_of(command->summary, 1, &length);
    if (length)
        fputc('\n', out);
    if (length && details)
        print_wrapped(out, text, length, 0, 0);
    else if (length)
        fprintf(out, "More: `flynn help --long %s`\n", command->name + strlen("flynn "));
}

/* ------------------------------------------------------------------------------------------------ man page ---- */

/* Text as troff takes it: no character of it is a request. */
static void print_roff(FILE *out, const char *text, int length)
{
    bool start = true;

    for (int i = 0; i < length; i++) {
        if (start && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        start = text[i] == '\n';
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            fputc(text[i], out);
    }
}

void help_man_text(FILE *out, const char *text)
{
    print_roff(out, text, (int)strlen(text));
    fputc('\n', out);
}

void help_man_start(FILE *out, const char *name, const char *summary)
{
    int length;

    fputs(".TH \"", out);
    for (const char *c = name; *c; c++)
        fputc(*c == ' ' ? '-' : *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, out);
    fprintf(out, "\" 1 \"\" \"flynn %s\" \"Flynn\"\n.SH NAME\n", fl_version());
    for (const char *c = name; *c; c++)
        fputs(*c == ' ' ? "\\-" : (char[]){*c, 0}, out);
    fputs(" \\- ", out);
    summary = part_of(summary, 0, &length);
    print_roff(out, summary, length);
    fputc('\n', out);
}

static void print_man_example(FILE *out, const command_line *command, int words, const char *text, int what)
{
    fprintf(out, ".TP\n.B %s ", command->name);
    print_roff(out, text, words);
    fputc('\n', out);
    print_roff(out, text + words + 1, what);
    fputc('\n', out);
}

static void print_man_option(FILE *out, const own_option *o)
{
    int length;
    const char *text = part_of(o->help, 0, &length);

    fprintf(out, ".TP\n\\fB");
    if (o->letter)
        fprintf(out, "\\-%c\\fR, \\fB", o->letter);
    fprintf(out, "\\-\\-");
    print_roff(out, o->name, (int)strlen(o->name));
    fprintf(out, "\\fR%s", o->value ? option_has_optional_value(o) ? "[=" : "=" : "");
    if (o->value)
        fprintf(out, "\\fI%s\\fR%s", o->value, option_has_optional_value(o) ? "]" : "");
    fputc('\n', out);
    print_roff(out, text, length);
    text = part_of(o->help, 1, &length);
    fputs(length ? ". " : "", out);
    print_roff(out, text, length);
    fputc('\n', out);
}

static void print_man(FILE *out, const command_line *command, const own_option *const *options, int count)
{
    int length;
    const char *text = part_of(command->summary, 0, &length);

    help_man_start(out, command->name, in_short ? in_short : command->summary);
    fprintf(out, ".SH SYNOPSIS\n.B %s\n[\\fIOPTION\\fR...] %s\n", command->name,
            command->arguments ? command->arguments : "");
    fputs(".SH DESCRIPTION\n", out);
    print_roff(out, text, length);
    text = part_of(command->summary, 1, &length);
    fputs(length ? "\n.PP\n" : "", out);
    print_roff(out, text, length);
    fputc('\n', out);
    part_of(command->summary, 2, &length);
    fputs(length ? ".SH EXAMPLES\n" : "", out);
    each_example(out, command, print_man_example);
    fputs(".SH OPTIONS\n", out);
    print_groups(out, options, count, ".SS ", "", print_man_option);
    fputs(".SH SEE ALSO\n.BR flynn (1),\nwhich says what the columns and other words mean;\nthe pages in "
          "share/doc/flynn/docs of the "
          "installation\n",
          out);
}

/* --------------------------------------------------------------------------------------------------- words ---- */

void help_print_word(FILE *out, const char *word, const char *what)
{
    int length;
    const char *text = part_of(what, 0, &length);

    fprintf(out, "%s\t%.*s\n", word, length, text);
}

/* `--columns=with-copies`: a blank would end the word. */
static void print_titles(FILE *out, const own_option *o, const char *const *titles)
{
    for (; titles && *titles; titles++) {
        char word[128];
        snprintf(word, sizeof word, "--%s=%s", o->name, *titles);
        for (char *c = word; *c; c++)
            *c = *c == ' ' ? '-' : *c;
        help_print_word(out, word, o->help);
    }
}

static void print_words(FILE *out, const command_line *command, const own_option *const *options, int count)
{
    char word[128];

    for (int i = 0; i < count; i++) {
        const own_option *o = options[i];
        snprintf(word, sizeof word, "--%s%s", o->name, o->value && !option_has_optional_value(o) ? "=" : "");
        help_print_word(out, word, o->help);
        for (int n = 0; o->names && o->type != OPTION_FOLDER && o->names[n]; n++) {
            snprintf(word, sizeof word, "--%s=%s", o->name, o->names[n]);
            help_print_word(out, word, o->help);
            snprintf(word, sizeof word, "-%c=%s", o->letter, o->names[n]); /* a shell has them after `-b` */
            if (o->letter)
                help_print_word(out, word, o->help);
        }
        if (strcmp(o->name, "columns") == 0)
            print_titles(out, o, command->titles);
    }
}

/* The help as text in the chosen form; `details`: with the second part of the summary. NULL: out of memory. */
static char *text_of(const command_line *command, const own_option *const *options, int count, bool details)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool whole;

    if (!out)
        return NULL;
    if (chosen_form == HELP_MAN)
        print_man(out, command, options, count);
    else if (chosen_form == HELP_WORDS)
        print_words(out, command, options, count);
    else
        print_text(out, command, options, count, details);
    whole = !ferror(out);
    if (fclose(out) == 0 && whole)
        return text;
    free(text);
    return NULL;
}

static int lines_of(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* The details are left out where they would make it longer than a screen. */
void help_print(const command_line *command, const own_option *const *options, int count)
{
    char *text = text_of(command, options, count, true);

    if (text && chosen_form == HELP_SHORT && lines_of(text) > MOST_LINES) {
        free(text);
        text = text_of(command, options, count, false);
    }
    if (!text)
        fail(EXIT_BROKEN, "out of memory for the help");
    fputs(text, stdout);
    free(text);
}
