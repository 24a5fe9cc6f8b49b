/* SPDX-License-Identifier: MIT
 *
 * explain.c - what is wrong with a command line that argp does not take.
 */
#include "parsing.h"
#include "shared_options.h"

#include "support/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
                 parsing_has(p, "keep") ? "now --keep (singular values); processes are --ranks"
                                        : "not an option; did you mean --ranks (processes)?");
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
    if (matches == 0)
        explain_unknown(p, name);
    if (matches > 1)
        fail(EXIT_BAD_INPUT, "--%s: more than one option begins so; expected one of %s", name, list);
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
        if (i == p->count)
            fail(EXIT_BAD_INPUT, "-%c: no such option; `%s --help` lists them", *letter, fail_command());
        if (p->options[i].arg && !(p->options[i].flags & OPTION_ARG_OPTIONAL)) {
            if (letter[1] == '\0')
                fail(EXIT_BAD_INPUT, "-%c: the value is missing; expected -%c %s", *letter, *letter, p->options[i].arg);
            return; /* the rest is its value */
        }
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
