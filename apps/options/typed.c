/* SPDX-License-Identifier: MIT */
#include "typed.h"

#include "support/fail.h"
#include "support/memory.h"
#include "support/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words, what each becomes (NULL: it stays; "": it is left out), and what comes before and after them. */
static struct {
    int count;
    char **word;
    const char **to;
    const char *before, *after;
    bool not_found; /* a word that was to be corrected */
} typed;

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

static bool ends_in(const char *word, const char *ending)
{
    const size_t length = strlen(word), end = strlen(ending);

    return length > end && strcmp(word + length - end, ending) == 0;
}

/* `-b omp sort` becomes `sort -b omp`. */
static void command_first(int argc, char **argv, bool (*is_command)(const char *word))
{
    int at = 1;

    while (at < argc && (is_option(argv[at]) || !is_command(argv[at])))
        at++;
    if (argc < 2 || !is_option(argv[1]) || at == argc)
        return;
    char *command = argv[at];
    memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
    argv[1] = command;
}

/* Returns whether documents are arguments of the command. */
static bool reads_documents(int argc, char **argv)
{
    bool against = false;

    for (int i = 2; i < argc; i++)
        against = against || strncmp(argv[i], "--against", strlen("--against")) == 0;
    return strcmp(argv[1], "report") == 0 || (strcmp(argv[1], "compare") == 0 && against);
}

/* `--json FILE.json` becomes `--json=FILE.json`. Returns how many words are left. */
static int join_files(int argc, char **argv)
{
    int left = argc < 2 ? argc : 2;

    for (int i = 2; i < argc; i++) {
        const bool json = strcmp(argv[i], "--json") == 0, csv = strcmp(argv[i], "--csv") == 0;
        if ((json || csv) && i + 1 < argc && !is_option(argv[i + 1]) && ends_in(argv[i + 1], json ? ".json" : ".csv")) {
            argv[left++] = memory_print("%s=%s", argv[i], argv[i + 1]);
            i++;
        } else {
            argv[left++] = argv[i];
        }
    }
    argv[left] = NULL;
    return left;
}

int typed_order(int argc, char **argv, bool (*is_command)(const char *word))
{
    command_first(argc, argv, is_command);
    if (argc > 1 && !reads_documents(argc, argv))
        argc = join_files(argc, argv);
    typed.count = argc;
    typed.word = memory_zeroed((size_t)argc + 1, sizeof *typed.word); /* the parser changes the order of argv */
    memcpy(typed.word, argv, (size_t)argc * sizeof *argv);
    typed.to = memory_zeroed((size_t)argc + 1, sizeof *typed.to);
    return argc;
}

/* The place of the first word that is `word`, else of the first one that ends in it; 0: there is none. */
static int find_word(const char *word)
{
    for (int whole = 1; whole >= 0; whole--)
        for (int i = 1; i < typed.count; i++)
            if (!typed.to[i] && (whole ? strcmp(typed.word[i], word) == 0 : ends_in(typed.word[i], word)))
                return i;
    return 0;
}

void typed_change(const char *word, const char *to)
{
    const int at = find_word(word);

    if (at == 0)
        typed.not_found = true;
    else
        typed.to[at] =
            to ? memory_print("%.*s%s", (int)(strlen(typed.word[at]) - strlen(word)), typed.word[at], to) : "";
}

/* The place of the option, 0 for none; the next word is its value if `*apart`. */
static int find_option(const char *name, char letter, const char **value, bool *apart)
{
    const size_t length = strlen(name);

    for (int i = 1; i < typed.count && strcmp(typed.word[i], "--") != 0; i++) {
        const char *word = typed.word[i];
        const bool is_long = strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0;
        const bool is_short = letter && word[0] == '-' && word[1] == letter;
        const char *rest = is_long ? word + 2 + length : word + 2;
        if (!(is_long && (!*rest || *rest == '=')) && !is_short)
            continue;
        *apart = !*rest;
        *value = !*rest ? (i + 1 < typed.count ? typed.word[i + 1] : NULL) : rest + (is_long ? 1 : 0);
        return i;
    }
    return 0;
}

void typed_change_option(const char *name, char letter, const char *to)
{
    const char *value;
    bool apart;
    const int at = find_option(name, letter, &value, &apart);

    if (at == 0) {
        typed.after = to;
        return;
    }
    typed.to[at] = to ? to : "";
    if (apart && at + 1 < typed.count)
        typed.to[at + 1] = "";
}

void typed_put_before(const char *text)
{
    typed.before = text;
}

const char *typed_value(const char *name, char letter)
{
    const char *value = NULL;
    bool apart;

    return find_option(name, letter, &value, &apart) ? value : NULL;
}

const char *typed_word(int i)
{
    return i + 2 < typed.count ? typed.word[i + 2] : NULL;
}

char *typed_quote(const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    char *text;
    size_t size;

    if (*word && word[strspn(word, plain)] == '\0')
        return memory_text(word);
    FILE *to = memory_stream(&text, &size);
    fputc('\'', to);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, to);
    fputc('\'', to);
    fclose(to);
    return text;
}

/* The corrected command. */
static char *corrected(void)
{
    char *line;
    size_t size;
    FILE *to = memory_stream(&line, &size);

    fprintf(to, "%sflynn", typed.before ? typed.before : "");
    for (int i = 1; i < typed.count; i++) {
        if (typed.to[i] && !*typed.to[i])
            continue;
        char *quoted = typed_quote(typed.word[i]);
        fprintf(to, " %s", typed.to[i] ? typed.to[i] : quoted);
        free(quoted);
    }
    if (typed.after)
        fprintf(to, " %s", typed.after);
    fclose(to);
    return line;
}

noreturn void typed_refuse(const char *format, ...)
{
    char text[sizeof((problem *)0)->text], *line = typed.count > 0 ? corrected() : NULL;
    char *shown = line ? memory_zeroed(8 * strlen(line) + 1, 1) : NULL;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (line)
        text_show(shown, 8 * strlen(line) + 1, line);
    /* A line with control characters could not be run as it is shown. */
    if (fail_begin(EXIT_BAD_INPUT, "%s", text) && line && !typed.not_found && strcmp(shown, line) == 0)
        fprintf(stderr, "  %s\n", line);
    leave(EXIT_BAD_INPUT);
}

const char *typed_nearest(const char *wanted, const char *const *names, size_t count)
{
    const size_t length = strlen(wanted);
    const char *longer = NULL, *shorter = NULL;

    for (size_t i = 0; i < count; i++) {
        const size_t its = strlen(names[i]);
        if (length > 1 && strncmp(names[i], wanted, length) == 0 && (!longer || its < strlen(longer)))
            longer = names[i];
        if (its > 2 && strncmp(names[i], wanted, its) == 0 && (!shorter || its > strlen(shorter)))
            shorter = names[i];
    }
    return longer ? longer : shorter ? shorter : fl_nearest_name(wanted, names, count);
}
