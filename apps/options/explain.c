/* SPDX-License-Identifier: MIT
 *
 * explain.c - what is wrong with a command line that argp does not take.
 */
#include "options.h"
#include "parsing.h"
#include "shared_options.h"
#include "typed.h"

#include "support/fail.h"
#include "support/memory.h"
#include "support/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int parsing_place(const parsing *p, int key)
{
    int i = 0;

    while (i < p->count && p->options[i].key != key)
        i++;
    return i;
}

/* Appends "--json" to a list. */
static void add_name(char *list, size_t size, const char *name)
{
    const size_t used = strlen(list);

    snprintf(list + used, size - used, "%s--%s", used ? ", " : "", name);
}

bool parsing_has(const parsing *p, const char *name)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->options[i].name, name) == 0)
            return true;
    return false;
}

/* For an option that other commands have, lists this one's; for a misspelt one names the nearest. */
static noreturn void explain_unknown(const parsing *p, const char *name)
{
    const char *names[MOST_OPTIONS], *nearest;
    char list[1024] = "";
    bool shared = false;

    for (int i = 0; i < p->count; i++) {
        names[i] = p->options[i].name;
        add_name(list, sizeof list, names[i]);
    }
    for (int i = 0; i < SHARED; i++)
        shared = shared || strcmp(name, shared_options[i].name) == 0;
    nearest = fl_nearest_name(name, names, (size_t)p->count);
    if (nearest && !shared)
        fail(EXIT_BAD_INPUT, "--%s: no such option; the nearest is --%s", name, nearest);
    fail(EXIT_BAD_INPUT, "--%s: this command does not take it; expected one of %s", name, list);
}

/* `sort --threads=4`, `sort -t 4`: threads are a part of the backend's name. */
static noreturn void explain_threads(char letter)
{
    const char *threads = typed_value("threads", letter), *backend = typed_value("backend", 'b');
    const bool is_number = threads && *threads && threads[strspn(threads, "0123456789")] == '\0';
    const char *number = is_number ? threads : "4";
    char *to = memory_print("--backend=omp:%s", number);

    typed_change_option("threads", letter, backend ? NULL : to);
    if (backend)
        typed_change_option("backend", 'b', to);
    typed_refuse("-%s: the number of threads is a part of the backend's name, such as omp:%s",
                 letter ? (char[]){letter, '\0'} : "-threads", number);
}

void parsing_refuse_foreign(const parsing *p, char **argv)
{
    const char *variable = getenv("FLYNN_RANK");

    if (parsing_has(p, "keep") && variable && *variable)
        fail(EXIT_BAD_INPUT, "FLYNN_RANK is now FLYNN_KEEP (singular values); processes are FLYNN_RANKS");
    for (char **word = argv + 1; *word && strcmp(*word, "--") != 0; word++) {
        const char *given = strncmp(*word, "--", 2) == 0 ? *word + 2 : "";
        const size_t length = strcspn(given, "=");
        if (length == 4 && strncmp(given, "rank", length) == 0)
            fail(EXIT_BAD_INPUT, "--rank is %s",
                 parsing_has(p, "keep")    ? "now --keep (singular values); processes are --ranks"
                 : parsing_has(p, "ranks") ? "not an option; did you mean --ranks (processes)?"
                                           : "not an option; this command takes neither --keep nor --ranks");
        for (const own_option *o = shared_options; o < shared_options + SHARED; o++)
            if (strlen(o->name) == length && strncmp(given, o->name, length) == 0 && !parsing_has(p, o->name))
                explain_unknown(p, o->name);
    }
}

static noreturn void explain_long(const parsing *p, const char *word)
{
    const int length = (int)strcspn(word + 2, "=");
    const struct argp_option *found = NULL;
    char name[128], list[1024] = "";
    int matches = 0;

    snprintf(name, sizeof name, "%.*s", length, word + 2);
    for (const struct argp_option *o = p->options; o->name; o++) {
        if (strncmp(o->name, name, strlen(name)) != 0)
            continue;
        found = o;
        matches++;
        add_name(list, sizeof list, found->name);
        if (strcmp(found->name, name) == 0) {
            matches = 1;
            break;
        }
    }
    if (matches == 0 && strcmp(name, "threads") == 0 && parsing_has(p, "backend"))
        explain_threads('\0');
    if (matches == 0)
        explain_unknown(p, name);
    if (matches > 1)
        fail(EXIT_BAD_INPUT, "--%s: more than one option starts so; expected one of %s", name, list);
    if (!found->arg)
        fail(EXIT_BAD_INPUT, "--%s: takes no value, and '%s' is given", found->name, word + 2 + length + 1);
    fail(EXIT_BAD_INPUT, "--%s: the value is missing; expected --%s=%s", found->name, found->name, found->arg);
}

/* Ends the command if `word` is a cluster of letters and one of them is to blame. */
static void explain_letters(const parsing *p, const char *word)
{
    if (!word || word[0] != '-' || word[1] == '\0' || word[1] == '-')
        return;
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        int i = parsing_place(p, *letter);
        if (i == p->count && *letter == 't' && parsing_has(p, "backend"))
            explain_threads('t');
        if (i == p->count)
            fail(EXIT_BAD_INPUT, "-%c: no such option; `%s --help` lists them", *letter, fail_command());
        if (p->options[i].arg && !(p->options[i].flags & OPTION_ARG_OPTIONAL)) {
            if (letter[1] == '\0')
                fail(EXIT_BAD_INPUT, "-%c: the value is missing; expected -%c %s", *letter, *letter, p->options[i].arg);
            return; /* the rest is its value */
        }
    }
}

/* Returns whether a backend's name is given as if it were a file: `sort -b serial simd`. */
static bool is_backend(const char *word)
{
    const size_t length = strcspn(word, ":");

    for (const char *const *name = shared_options[__builtin_ctz(TAKES_BACKEND)].names; *name; name++)
        if (strlen(*name) == length && strncmp(*name, word, length) == 0)
            return strcmp(*name, "auto") != 0 && strcmp(*name, "all") != 0;
    return false;
}

void parsing_refuse_argument(const parsing *p, const char *word)
{
    const char *option = p->command->number_option, *backend = typed_value("backend", 'b'), *other;
    const char *at = word;
    int64_t number;

    if (access(word, F_OK) == 0)
        return;
    if (p->command->takes & TAKES_BACKEND && is_backend(word)) {
        char *list = memory_print("--backend=%s", backend ? backend : "");
        for (int i = 0; (other = typed_word(i)); i++) {
            if (other == backend || !is_backend(other))
                continue;
            list = memory_print("%s%s%s", list, list[strlen(list) - 1] == '=' ? "" : ",", other);
            typed_change(other, NULL);
        }
        typed_change_option("backend", 'b', list);
        typed_refuse("'%s' is a backend; expected %s", word, list);
    }
    if (option && option_whole(&at, &number) && !*at && !typed_value(option, '\0')) {
        for (int i = 0; (other = typed_word(i)); i++) {
            at = other;
            if (other != word && option_whole(&at, &number) && !*at) /* two of them: nobody knows what was meant */
                fail(EXIT_BAD_INPUT, "'%s' is a number and no file; expected --%s=N", word, option);
        }
        typed_change(word, memory_print("--%s=%s", option, word));
        typed_refuse("'%s' is a number and no file; expected --%s=%s", word, option, word);
    }
}

noreturn void parsing_explain(const parsing *p, const struct argp_state *state)
{
    const char *word = state->argv[state->next - 1];

    if (strncmp(word, "--", 2) == 0 && word[2] != '\0')
        explain_long(p, word);
    explain_letters(p, word);
    explain_letters(p, state->argv[state->next]);
    fail(EXIT_BAD_INPUT, "'%s': not understood; `%s --help` shows what is", word, fail_command());
}

bool option_is_title(const char *name, size_t length, const char *title)
{
    if (strlen(title) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] != title[i] && !(title[i] == ' ' && (name[i] == '-' || name[i] == '_')))
            return false;
    return true;
}

/* The name is no title: the list with the nearest title in its place, or without it. */
static noreturn void refuse_name(const char *names, const char *wrong, const char *const *titles)
{
    char *name = memory_print("%.*s", (int)strcspn(wrong, ","), wrong), *list = memory_text(""), *right;
    const char *nearest, *word;
    size_t count = 0;

    while (titles[count])
        count++;
    nearest = *name ? typed_nearest(name, titles, count) : NULL;
    for (const char *at = names; at; at = text_after(at, ',')) {
        word = at == wrong ? nearest : at;
        if (word && *word && *word != ',')
            list = memory_print("%s%s%.*s", list, *list ? "," : "", (int)strcspn(word, ","), word);
    }
    right = memory_print("--columns=%s", list);
    for (char *c = right; *c; c++)
        *c = *c == ' ' ? '-' : *c;
    typed_change_option("columns", '\0', *list ? right : "--wide");
    list = memory_text("");
    for (size_t i = 0; i < count; i++)
        list = memory_print("%s%s%s", list, i ? ", " : "", titles[i]);
    typed_refuse("--columns: '%s' is no column here; expected %s", name, list);
}

void parsing_check_columns(const char *names, const char *const *titles)
{
    for (const char *at = titles ? names : NULL; at; at = text_after(at, ',')) {
        bool found = false;
        for (const char *const *title = titles; *title && !found; title++)
            found = option_is_title(at, strcspn(at, ","), *title);
        if (!found)
            refuse_name(names, at, titles);
    }
}
