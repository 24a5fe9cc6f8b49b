/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "help.h"
#include "parsing.h"
#include "paths.h"
#include "shared_options.h"

#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*agree)(const void *facts, size_t bytes, const char *differs);
static void (*give_up)(double limit);

void options_set_group(void (*agrees)(const void *facts, size_t bytes, const char *differs),
                       void (*gives_up)(double limit))
{
    agree = agrees;
    give_up = gives_up;
}

/* Ends the command unless all processes of a group have the same options and arguments; `shown`: --help or another
 * option that only prints, else NULL. --quiet may differ: it applies to its own process. */
static void agree_on_options(const parsing *p, const char *shown)
{
    const common_options *c = p->common;
    char *facts;
    size_t bytes;
    FILE *to = memory_stream(&facts, &bytes);

    if (shown)
        fprintf(to, "--%s%c", shown, '\0');
    for (const entry *e = p->entries; !shown && e < p->entries + p->count; e++)
        if (e->text && e->values != p)
            fprintf(to, "--%s%s%s%c", e->option->name, *e->text ? "=" : "", e->text, '\0');
    for (int i = 0; !shown && i < c->argument_count; i++)
        fprintf(to, "argument %d=%s%c", i + 1, c->arguments[i], '\0');
    fclose(to);
    if (agree)
        agree(facts, bytes, NULL);
    free(facts);
}

/* --help, --usage and --version. */
static void show(const char *option, const char *value, void *parsed)
{
    const parsing *p = parsed;
    const own_option *options[MOST_OPTIONS];

    (void)value;
    agree_on_options(p, option);
    for (int i = 0; i < p->count; i++)
        options[i] = p->entries[i].option;
    if (*option == 'v')
        printf("flynn %s\n", fl_version());
    else if (*option == 'h')
        help_print(p->command, options, p->count);
    else
        argp_help(&p->argp, stdout, ARGP_HELP_USAGE, (char *)p->command->name);
    leave(EXIT_DONE);
}

/* Places are in parsing. */
static const own_option always_options[] = {
    {"quiet", OPTION_FLAG, offsetof(parsing, quiet), .group = GROUP_OUTPUT, .letter = 'q',
     .help = "No remarks and no progress on stderr"},
    {"help", OPTION_CUSTOM, .help = "Show this help", .group = GROUP_ALWAYS, .letter = 'h', .parse = show},
    {"usage", OPTION_CUSTOM, .help = "Show a short usage message", .group = GROUP_ALWAYS, .parse = show},
    {"version", OPTION_CUSTOM, .help = "Show the version", .group = GROUP_ALWAYS, .letter = 'v', .parse = show},
};

static void add_option(parsing *p, const own_option *o, void *values, unsigned shared)
{
    p->entries[p->count] = (entry){.option = o, .values = values, .shared = shared};
    p->options[p->count] = (struct argp_option){.name = o->name,
                                                .key = o->letter ? o->letter : KEY_FIRST + p->count,
                                                .arg = o->value,
                                                .flags = option_has_optional_value(o) ? OPTION_ARG_OPTIONAL : 0,
                                                .doc = o->help,
                                                .group = o->group};
    p->count++;
}

static void gather(parsing *p)
{
    const command_line *c = p->command;

    for (const own_option *o = c->options; o && o->name; o++)
        add_option(p, o, c->own, 0);
    for (const own_option *o = c->more; o && o->name; o++) {
        p->more[p->count] = *o;
        p->more[p->count].group = GROUP_SELDOM;
        add_option(p, &p->more[p->count], c->more_own, 0);
    }
    p->own_count = p->count;
    for (unsigned i = 0; i < SHARED; i++)
        if (c->takes & 1u << i)
            add_option(p, &shared_options[i], p->common, 1u << i);
    for (size_t i = 0; i < sizeof always_options / sizeof *always_options; i++)
        add_option(p, &always_options[i], p, 0);
    for (int i = 0, end = p->count; i < p->count; i++)
        if (p->entries[i].option->also) {
            p->options[end] = p->options[i];
            p->options[end].name = p->entries[i].option->also;
            p->options[end++].flags |= OPTION_HIDDEN;
        }
}

/* Refuses another word for an option that has one: the first one, such as a file to write or a result to expect, would
 * be left out without a sign. Of numbers and choices the last one is taken. */
static void refuse_second_word(const entry *e, const char *given)
{
    const own_option *o = e->option;
    const bool is_word = o->type >= OPTION_TEXT && o->type <= OPTION_STREAM;

    if (is_word && e->text && !e->variable && strcmp(e->text, given) != 0)
        option_fail(o->name, "is given twice, as '%s' and '%s'; expected one %s", *e->text ? e->text : "-",
                    *given ? given : "-", o->value);
}

/* Gives the i-th option its value. */
static void set_option(parsing *p, int i, const char *value)
{
    const own_option *o = p->entries[i].option;
    const uint64_t own = i < p->own_count ? UINT64_C(1) << i : 0;
    void *place = (char *)p->entries[i].values + o->place;
    const char *given = value ? value : ""; /* only a flag, a stream and an amount may be without */
    char expected[128];

    refuse_second_word(&p->entries[i], given);
    p->entries[i].variable = option_is_variable();
    p->entries[i].text = given;
    p->set |= p->entries[i].shared;
    p->set_own |= own;
    p->common->given |= option_is_variable() ? 0 : p->entries[i].shared;
    p->common->given_own |= option_is_variable() ? 0 : own;
    switch (o->type) {
    case OPTION_FLAG: *(bool *)place = true; break;
    case OPTION_TEXT:
    case OPTION_READ:
    case OPTION_WRITTEN:
    case OPTION_FOLDER: *(const char **)place = option_text(o->name, value); break;
    case OPTION_STREAM: *(const char **)place = strcmp(given, "-") ? option_text(o->name, value) : NULL; break;
    case OPTION_CHOICE: *(int *)place = option_choice(o->name, given, o->names); break;
    case OPTION_COUNT: *(int *)place = (int)option_integer(o->name, given, o->least, o->most); break;
    case OPTION_INTEGER: *(int64_t *)place = option_integer(o->name, given, o->least, o->most); break;
    case OPTION_AMOUNT: *(int64_t *)place = value ? option_integer(o->name, value, o->least, o->most) : 0; break;
    case OPTION_INTEGERS: option_integers(o->name, given, o->least, o->most, place); break;
    case OPTION_REAL: *(double *)place = option_real(o->name, given, o->most); break;
    case OPTION_NUMBERS:
        snprintf(expected, sizeof expected, "%s; expected whole numbers of at least 1 with an x between them",
                 o->value);
        option_numbers(o->name, given, o->least, o->most, expected, 0, place);
        break;
    case OPTION_CUSTOM: o->parse(o->name, value, p->entries[i].values); break;
    }
}

static void add_argument(parsing *p, const char *value)
{
    common_options *c = p->common;

    parsing_refuse_argument(p, value);
    if (c->argument_count == p->command->most_arguments)
        fail(EXIT_BAD_INPUT, "'%s': one argument too many; expected %s", value,
             p->command->arguments ? p->command->arguments : "none");
    c->arguments = memory_regrown(c->arguments, (size_t)(c->argument_count + 1), sizeof *c->arguments);
    c->arguments[c->argument_count++] = value;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    parsing *p = state->input;
    int i;

    if (key == ARGP_KEY_ERROR)
        parsing_explain(p, state);
    if (key == ARGP_KEY_ARG) {
        add_argument(p, value);
        return 0;
    }
    i = parsing_place(p, key);
    if (i == p->count)
        return ARGP_ERR_UNKNOWN;
    set_option(p, i, value);
    return 0;
}

/* Gives the option the value of its variable, if that is set. */
static void parse_variable(parsing *p, int i)
{
    const struct argp_option *option = &p->options[i];
    char name[64];
    const char *value;

    option_variable(option->name, name, sizeof name);
    value = getenv(name);
    if (!value || !*value || option->group == GROUP_ALWAYS || (!option->arg && strcmp(value, "0") == 0))
        return;
    if (!option->arg && strcmp(value, "1") != 0)
        option_fail(option->name, "'%s' is not a switch; expected 0 or 1", value);
    set_option(p, i, strcmp(value, "1") == 0 && (!option->arg || option->flags & OPTION_ARG_OPTIONAL) ? NULL : value);
}

/* How many options the command has itself. */
static int own_options_of(const command_line *command)
{
    int count = 0;

    while (command->options && command->options[count].name)
        count++;
    return count;
}

/* Refuses each own option on the command line that another option or an argument makes void. */
static void refuse_void(const parsing *p)
{
    for (int i = 0; i < own_options_of(p->command); i++) {
        const own_option *o = &p->command->options[i], *other = p->command->options;
        if (!(p->common->given_own >> i & 1))
            continue;
        if (o->void_with > 0 && p->common->argument_count >= o->void_with)
            fail(EXIT_BAD_INPUT, "--%s: has no effect: '%s' is given instead", o->name,
                 p->common->arguments[o->void_with - 1]);
        while (o->needs && strcmp(other->name, o->needs) != 0)
            other++;
        if (o->needs && !(p->set_own >> (other - p->command->options) & 1))
            fail(EXIT_BAD_INPUT, "--%s: has no effect without --%s; expected --%s%s%s as well", o->name, other->name,
                 other->name, other->value ? "=" : "", other->value ? other->value : "");
    }
}

/* Declares the files that the option names. */
static void claim_option(const entry *e)
{
    const own_option *o = e->option;
    const char *path = *(const char *const *)((const char *)e->values + o->place);
    char name[64], within[PATH_MAX];

    option_shown(o->name, e->variable, name, sizeof name);
    if (path && strcmp(path, "-") == 0)
        return; /* a stream */
    if (path && o->type == OPTION_READ)
        path_claim(PATH_READ, path, "%s=%s", name, path);
    else if (path && o->type != OPTION_FOLDER)
        path_claim(e->shared == TAKES_RESULT ? PATH_RESULT : PATH_WRITTEN, path, "%s=%s", name, path);
    for (int i = 0; path && o->type == OPTION_FOLDER && o->names[i]; i++) {
        snprintf(within, sizeof within, "%s/%s", path, o->names[i]);
        path_claim(PATH_WRITTEN, within, "%s=%s (%s)", name, path, o->names[i]);
    }
}

/* Declares all files that the command line names. */
static void claim_files(const parsing *p)
{
    path_claim_streams();
    for (int i = 0; i < p->count; i++)
        if (p->entries[i].option->type >= OPTION_READ && p->entries[i].option->type <= OPTION_STREAM)
            claim_option(&p->entries[i]);
    for (int i = 0; i < p->common->argument_count && p->command->takes & TAKES_FILES; i++) {
        const char *path = p->common->arguments[i];
        if (access(path, F_OK) == 0) /* else it may be a number */
            path_claim(i ? PATH_READ : PATH_FIRST, path, "the input %s", path);
    }
}

void options_parse(const command_line *command, int argc, char **argv, common_options *common)
{
    parsing p = {.command = command, .common = common};
    const char *ranks = getenv("FLYNN_RANKS");

    fail_set_command(command->name);
    argp_err_exit_status = EXIT_BAD_INPUT;
    shared_options_default(common);
    common->takes_blocks = command->takes & TAKES_BLOCKS;
    gather(&p);
    p.argp =
        (struct argp){.options = p.options, .parser = parse, .args_doc = command->arguments, .doc = command->summary};
    option_values_are_variables(true);
    for (int i = 0; i < p.count; i++)
        parse_variable(&p, i);
    option_values_are_variables(false);
    parsing_refuse_foreign(&p, argv);
    /* argp's own messages take two lines, and without them it prints no help either: both are made here. */
    const error_t error = argp_parse(&p.argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &p);
    if (error != 0)
        fail(EXIT_BROKEN, "the command line: %s", strerror(error));
    refuse_void(&p);
    agree_on_options(&p, NULL);
    common->set = p.set;
    common->has_variant = p.set & TAKES_VARIANT;
    common->has_dtype = p.set & TAKES_DTYPE;
    common->json = p.set & TAKES_JSON;
    common->csv = p.set & TAKES_CSV;
    common->set_own = p.set_own;
    common->given_more = common->given_own >> own_options_of(command);
    common->quiet = p.quiet;
    parsing_check_columns(common->columns, command->titles);
    memory_limit(common->max_memory);
    if (common->repeat > 0)
        option_refuse(common, common->given & (TAKES_MIN_TIME | TAKES_UNTIL),
                      "--repeat says how many passes are timed");
    if (common->json && common->csv && !common->json_file && !common->csv_file)
        fail(EXIT_BAD_INPUT, "--csv: --json already goes to stdout; expected a FILE for one of the two");
    if (common->max_time_s > 0)
        progress_limit(common->max_time_s, give_up);
    claim_files(&p);
    fail_set_quiet(common->quiet);
    if (ranks && *ranks && strcmp(ranks, "1") != 0 && !parsing_has(&p, "ranks"))
        note("FLYNN_RANKS has no effect: this command does not take --ranks");
}

bool option_measures(const common_options *c)
{
    const unsigned measures =
        (TAKES_TIMING & ~TAKES_MAX_TIME) | TAKES_WRONG_TIMING | TAKES_JSON | TAKES_CSV | TAKES_WIDE | TAKES_COLUMNS;

    return c->set & measures || c->all_backends || c->backend_count > 1 || c->variant_count > 1 ||
           strcmp(c->variant, "all") == 0;
}

void options_free(common_options *common)
{
    free(common->backends);
    free(common->variants);
    free(common->arguments);
    *common = (common_options){0};
}
