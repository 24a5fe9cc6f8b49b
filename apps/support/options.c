/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "fail.h"
#include "memory.h"
#include "progress.h"

#include <argp.h>
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SHARED = 0x100, KEY_OWN = 0x200, KEY_QUIET = 'q', KEY_HELP = 'h', KEY_USAGE = 0x300, KEY_VERSION };
enum { GROUP_OWN, GROUP_WHAT, GROUP_HOW, GROUP_OUTPUT, GROUP_ALWAYS = -1 };
enum { MOST_OPTIONS = 48 }; /* of a command, the shared ones included */

/* The i-th one has bit 1 << i. */
static const struct argp_option shared_options[] = {
    {"backend", 'b', "SPEC,...|all", 0,
     "Run on these backends: serial, simd, omp or hip, with items such as omp:8, simd:v2, hip:1; all is every one that "
     "can run here (default: auto, the best one)",
     GROUP_WHAT},
    {"trace", KEY_SHARED + 1, "FILE", 0,
     "Record when each thread and device did what, as a Chrome trace (open it in ui.perfetto.dev)", GROUP_OUTPUT},
    {"variant", KEY_SHARED + 2, "NAME", 0, "Variant of the operation; `flynn list` shows them (default: auto)",
     GROUP_WHAT},
    {"size", KEY_SHARED + 3, "N", 0, "Size of the input that is made here (default: the course's)", GROUP_WHAT},
    {"block", KEY_SHARED + 4, "X[xY[xZ]]", 0, "Threads of a block, or the cache tile on a CPU (default: its own)",
     GROUP_WHAT},
    {"dtype", KEY_SHARED + 5, "TYPE", 0, "Compute in u8, i32, i64, f32 or f64 (default: as the input)", GROUP_WHAT},
    {"repeat", KEY_SHARED + 6, "N", 0, "Timed passes (default: as many as --min-time asks for, at least 3)", GROUP_HOW},
    {"warmup", KEY_SHARED + 7, "N", 0, "Passes between the first one and the timed ones (default: 1)", GROUP_HOW},
    {"min-time", KEY_SHARED + 8, "SECONDS", 0, "Time passes for at least this long (default: 0.2)", GROUP_HOW},
    {"seed", KEY_SHARED + 9, "N", 0, "Start of the random numbers (default: 1)", GROUP_WHAT},
    {"pageable", KEY_SHARED + 10, NULL, 0, "Copy from ordinary host memory instead of pinned memory", GROUP_HOW},
    {"wrong-timing", KEY_SHARED + 11, NULL, 0,
     "Also show the time until the call returned, without waiting for its work", GROUP_HOW},
    {"check", KEY_SHARED + 12, "full|sampled|auto", 0,
     "Compare all of the result with the reference, or samples of it (default: auto, all where that is cheap)",
     GROUP_HOW},
    {"json", KEY_SHARED + 13, "FILE", OPTION_ARG_OPTIONAL, "Results as JSON, to FILE or to stdout instead of the table",
     GROUP_OUTPUT},
    {"csv", KEY_SHARED + 14, "FILE", OPTION_ARG_OPTIONAL, "Results as CSV, to FILE or to stdout instead of the table",
     GROUP_OUTPUT},
    {"output", 'o', "FILE", 0, "Write the result as .npy, or a matrix as .png (grey, clipped to 0..1)", GROUP_OUTPUT},
};
enum { SHARED = sizeof shared_options / sizeof *shared_options };

static const struct argp_option always_options[] = {
    {"quiet", KEY_QUIET, NULL, 0, "No remarks and no progress on stderr", GROUP_OUTPUT},
    {"help", KEY_HELP, NULL, 0, "Show this help", GROUP_ALWAYS},
    {"usage", KEY_USAGE, NULL, 0, "Show a short usage message", GROUP_ALWAYS},
    {"version", KEY_VERSION, NULL, 0, "Show the version", GROUP_ALWAYS},
};

/* What is being parsed: the command, where its values go, and its options: its own, then shared ones. */
typedef struct parsing {
    const command_line *command;
    common_options *common;
    struct argp argp;
    int count, own_count;
    struct argp_option options[MOST_OPTIONS + 1];
    bool set[MOST_OPTIONS], given[MOST_OPTIONS]; /* by a variable or a word; by a word */
} parsing;

/* Where the value that is being parsed comes from. */
static bool from_environment;

/* ----------------------------------------------------------------------------------------------- values ---- */

/* The environment's name for an option: "min-time" is FLYNN_MIN_TIME. */
static void variable_name(const char *option, char *text, size_t size)
{
    snprintf(text, size, "FLYNN_%s", option);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
}

noreturn void option_fail(const char *option, const char *format, ...)
{
    char name[64], text[1024];
    va_list arguments;

    if (from_environment)
        variable_name(option, name, sizeof name);
    else
        snprintf(name, sizeof name, "--%s", option);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail(EXIT_BAD_INPUT, "%s: %s", name, text);
}

void option_refuse(const common_options *common, unsigned bits, const char *format, ...)
{
    const unsigned given = common->given & bits;
    char text[1024];
    va_list arguments;

    if (!given)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail(EXIT_BAD_INPUT, "--%s: has no effect: %s", shared_options[__builtin_ctz(given)].name, text);
}

void option_refuse_own(const common_options *common, const own_option *options, const char *name, const char *why)
{
    for (int i = 0; options[i].name; i++)
        if (strcmp(options[i].name, name) == 0 && common->given_own >> i & 1)
            fail(EXIT_BAD_INPUT, "--%s: has no effect: %s", name, why);
}

/* Reads digits at *text and moves it behind them; false for none and for what is larger than an int64_t. */
static bool read_digits(const char **text, int64_t *value)
{
    size_t digits = strspn(*text, "0123456789");

    *value = 0;
    for (size_t i = 0; i < digits; i++)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, (*text)[i] - '0', value))
            return false;
    *text += digits;
    return digits > 0;
}

int64_t option_integer(const char *option, const char *value, int64_t least, int64_t most)
{
    const char *end = value, *digits = value + (*value == '-');
    const int64_t example = least > 16 ? least : most < 16 ? most : 16;
    int64_t number;

    if (read_digits(&end, &number) && *end == '\0' && number >= least && number <= most)
        return number;
    if (!*digits || strspn(digits, "0123456789") != strlen(digits))
        option_fail(option, "'%s' is not a whole number (example: --%s=%" PRId64 ")", value, option, example);
    if (most == INT64_MAX)
        option_fail(option, "'%s' is out of range; expected a whole number from %" PRId64, value, least);
    option_fail(option, "'%s' is out of range; expected a whole number from %" PRId64 " to %" PRId64, value, least,
                most);
}

/* `most` numbers: those of the text, then `rest`. */
static void read_numbers(const char *option, const char *value, int64_t least, int64_t most, const char *expected,
                         int64_t rest, int64_t *numbers)
{
    const char *at = value;
    int64_t count = 0;
    bool ok;

    do
        ok = count < most && read_digits(&at, &numbers[count]) && numbers[count++] >= 1;
    while (ok && *at == 'x' && at++);
    if (!ok || *at != '\0' || count < least)
        option_fail(option, "'%s' is not %s", value, expected);
    for (; count < most; count++)
        numbers[count] = rest;
}

int option_choice(const char *option, const char *value, const char *const *names)
{
    const char *nearest;
    char list[512] = "";
    size_t count = 0;

    for (; names[count]; count++) {
        if (strcmp(value, names[count]) == 0)
            return (int)count;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                 !count             ? ""
                 : names[count + 1] ? ", "
                                    : " or ",
                 names[count]);
    }
    nearest = fl_nearest_name(value, names, count);
    if (nearest)
        option_fail(option, "'%s' is unknown; expected %s (the nearest is %s)", value, list, nearest);
    option_fail(option, "'%s' is unknown; expected %s", value, list);
}

/* Seconds, and other numbers of at least 0. */
static double read_real(const char *option, const char *value, double most, const char *expected)
{
    char *end;
    double number = strtod(value, &end);

    if (end == value || *end != '\0' || isspace((unsigned char)*value) || !(number >= 0 && number <= most))
        option_fail(option, "'%s' is not %s", value, expected);
    return number;
}

void option_block(const char *option, const char *value, int *block)
{
    int64_t edges[3];

    read_numbers(option, value, 1, 3, "a block; expected X, XxY or XxYxZ with each at least 1, such as 16x16", 1,
                 edges);
    for (int d = 0; d < 3; d++) {
        if (edges[d] > INT_MAX)
            option_fail(option, "'%s' is too large; expected edges of at most %d", value, INT_MAX);
        block[d] = (int)edges[d];
    }
}

/* Splits "serial,omp:2"; the pointers and their text are one piece of memory. */
static void parse_backends(const char *option, const char *value, common_options *common)
{
    int count = 1;

    for (const char *c = value; *c != '\0'; c++)
        count += *c == ',';
    size_t pointers = (size_t)count * sizeof(char *), bytes = strlen(value) + 1;
    char **backends = memory_zeroed(1, pointers + bytes);
    char *rest = memcpy((char *)backends + pointers, value, bytes);
    bool all = strcmp(value, "all") == 0;
    for (int i = 0; i < count; i++) {
        backends[i] = strsep(&rest, ",");
        if (backends[i][0] == '\0')
            option_fail(option, "'%s' has an empty name; expected SPEC[,SPEC...] or all, such as serial,omp:2", value);
        if (strcmp(backends[i], "all") == 0 && !all)
            option_fail(option, "'%s' names all and others; expected all alone, or names", value);
    }
    free(common->backends);
    common->backends = backends;
    common->backend_count = all ? 0 : count;
    common->all_backends = all;
}

static const char *read_text(const char *option, const char *value)
{
    if (value && !*value)
        option_fail(option, "the value is empty; expected --%s=VALUE", option);
    return value;
}

static fl_dtype parse_dtype(const char *value)
{
    const char *names[FL_DTYPE_COUNT + 1] = {NULL};

    for (int i = 0; i < FL_DTYPE_COUNT; i++)
        names[i] = fl_dtype_name((fl_dtype)i);
    return (fl_dtype)option_choice("dtype", value, names);
}

/* ------------------------------------------------------------------------------------------ one option ---- */

static void set_shared(unsigned bit, const char *value, common_options *common)
{
    static const char *const checks[] = {
        [CHECK_AUTO] = "auto", [CHECK_FULL] = "full", [CHECK_SAMPLED] = "sampled", NULL};

    switch (bit) {
    case TAKES_BACKEND: parse_backends("backend", value, common); break;
    case TAKES_TRACE: common->trace_file = read_text("trace", value); break;
    case TAKES_VARIANT:
        common->variant = read_text("variant", value);
        common->has_variant = true;
        break;
    case TAKES_SIZE: common->size = option_integer("size", value, 1, INT64_MAX); break;
    case TAKES_BLOCK: option_block("block", value, common->block); break;
    case TAKES_DTYPE:
        common->dtype = parse_dtype(value);
        common->has_dtype = true;
        break;
    case TAKES_REPEAT: common->repeat = (int)option_integer("repeat", value, 1, 1000000); break;
    case TAKES_WARMUP: common->warmup = (int)option_integer("warmup", value, 0, 1000000); break;
    case TAKES_MIN_TIME:
        common->min_time_s = read_real("min-time", value, 86400, "a time; expected seconds from 0 to 86400");
        break;
    case TAKES_SEED: common->seed = (uint64_t)option_integer("seed", value, 0, INT64_MAX); break;
    case TAKES_PAGEABLE: common->pageable = true; break;
    case TAKES_WRONG_TIMING: common->wrong_timing = true; break;
    case TAKES_CHECK: common->check = (check_choice)option_choice("check", value, checks); break;
    case TAKES_JSON:
        common->json = true;
        common->json_file = read_text("json", value);
        break;
    case TAKES_CSV:
        common->csv = true;
        common->csv_file = read_text("csv", value);
        break;
    case TAKES_RESULT: common->output = read_text("output", value); break;
    }
}

static void set_own(const own_option *o, const char *value, void *own)
{
    void *place = (char *)own + o->place;
    char expected[128];

    switch (o->type) {
    case OPTION_FLAG: *(bool *)place = true; break;
    case OPTION_TEXT:
    case OPTION_WRITTEN: *(const char **)place = read_text(o->name, value); break;
    case OPTION_CHOICE: *(int *)place = option_choice(o->name, value, o->names); break;
    case OPTION_INTEGER: *(int64_t *)place = option_integer(o->name, value, o->least, o->most); break;
    case OPTION_REAL:
        *(double *)place = read_real(o->name, value, (double)INFINITY, "a number; expected at least 0, such as 1e-5");
        break;
    case OPTION_NUMBERS:
        snprintf(expected, sizeof expected, "%s; expected whole numbers of at least 1 with an x between them",
                 o->value);
        read_numbers(o->name, value, o->least, o->most, expected, 0, place);
        break;
    case OPTION_CUSTOM: o->parse(o->name, value, own); break;
    }
}

/* ------------------------------------------------------------------------------------ the command's table ---- */

static void gather(parsing *p)
{
    const command_line *c = p->command;

    for (const own_option *o = c->options; o && o->name; o++, p->own_count++)
        p->options[p->count++] =
            (struct argp_option){o->name, o->letter ? o->letter : KEY_OWN + p->own_count, o->value, 0,
                                 o->help, o->letter == 'o' ? GROUP_OUTPUT : GROUP_OWN};
    for (int i = 0; i < SHARED; i++)
        if (c->takes & 1u << i)
            p->options[p->count++] = shared_options[i];
    for (size_t i = 0; i < sizeof always_options / sizeof *always_options; i++)
        p->options[p->count++] = always_options[i];
}

static int place_of(const parsing *p, int key)
{
    int i = 0;

    while (i < p->count && p->options[i].key != key)
        i++;
    return i;
}

static noreturn void show_help(const parsing *p, unsigned what)
{
    argp_help(&p->argp, stdout, what, (char *)p->command->name);
    exit(EXIT_DONE);
}

/* Gives the i-th option its value. */
static void set_option(parsing *p, int i, const char *value)
{
    switch (p->options[i].key) {
    case KEY_HELP: show_help(p, ARGP_HELP_STD_HELP);
    case KEY_USAGE: show_help(p, ARGP_HELP_USAGE);
    case KEY_VERSION: printf("flynn %s\n", fl_version()); exit(EXIT_DONE);
    case KEY_QUIET: p->common->quiet = true; return;
    }
    p->set[i] = true;
    p->given[i] = p->given[i] || !from_environment;
    if (i < p->own_count) {
        p->common->given_own |= from_environment ? 0 : UINT64_C(1) << i;
        set_own(&p->command->options[i], value, p->command->own);
        return;
    }
    for (unsigned bit = 0; bit < SHARED; bit++)
        if (p->options[i].key == shared_options[bit].key) {
            set_shared(1u << bit, value, p->common);
            p->common->given |= from_environment ? 0 : 1u << bit;
        }
}

static void add_argument(parsing *p, const char *value)
{
    common_options *c = p->common;

    if (c->argument_count == p->command->most_arguments)
        fail(EXIT_BAD_INPUT, "'%s': one argument too many; expected %s", value,
             p->command->arguments ? p->command->arguments : "none");
    c->arguments = memory_regrown(c->arguments, (size_t)(c->argument_count + 1), sizeof *c->arguments);
    c->arguments[c->argument_count++] = value;
}

/* ---------------------------------------------------------------- what argp would need two lines to say ---- */

/* Ends the command: an option that other commands have gets the list of this one's, a misspelt one the nearest. */
static noreturn void explain_unknown(const parsing *p, const char *name)
{
    const char *names[MOST_OPTIONS], *nearest;
    char list[1024] = "";
    bool shared = false;

    for (int i = 0; i < p->count; i++) {
        names[i] = p->options[i].name;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s--%s", i ? ", " : "", names[i]);
    }
    for (int i = 0; i < SHARED; i++)
        shared = shared || strcmp(name, shared_options[i].name) == 0;
    nearest = fl_nearest_name(name, names, (size_t)p->count);
    if (nearest && !shared)
        fail(EXIT_BAD_INPUT, "--%s: no such option; the nearest is --%s", name, nearest);
    fail(EXIT_BAD_INPUT, "--%s: this command does not take it; expected one of %s", name, list);
}

static noreturn void explain_ambiguous(const parsing *p, const char *name)
{
    char list[512] = "";

    for (int i = 0; i < p->count; i++)
        if (strncmp(p->options[i].name, name, strlen(name)) == 0)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s--%s", *list ? ", " : "", p->options[i].name);
    fail(EXIT_BAD_INPUT, "--%s: more than one option begins so; expected one of %s", name, list);
}

static noreturn void explain_long(const parsing *p, const char *word)
{
    size_t length = strcspn(word + 2, "=");
    char name[128];
    const struct argp_option *found = NULL;
    int matches = 0;

    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word + 2);
    for (int i = 0; i < p->count; i++) {
        if (strncmp(p->options[i].name, name, strlen(name)) != 0)
            continue;
        found = &p->options[i];
        matches++;
        if (strcmp(found->name, name) == 0) {
            matches = 1;
            break;
        }
    }
    if (matches == 0)
        explain_unknown(p, name);
    if (matches > 1)
        explain_ambiguous(p, name);
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
        int i = place_of(p, *letter);
        if (i == p->count)
            fail(EXIT_BAD_INPUT, "-%c: no such option; `%s --help` lists them", *letter, fail_command());
        if (p->options[i].arg && !(p->options[i].flags & OPTION_ARG_OPTIONAL)) {
            if (letter[1] == '\0')
                fail(EXIT_BAD_INPUT, "-%c: the value is missing; expected -%c %s", *letter, *letter, p->options[i].arg);
            return; /* the rest is its value */
        }
    }
}

/* Says what is wrong with the word at which argp gave up: the one before state->next, but that one itself while letters
 * of a cluster are left. */
static noreturn void explain(const parsing *p, const struct argp_state *state)
{
    const char *word = state->argv[state->next - 1];

    if (strncmp(word, "--", 2) == 0 && word[2] != '\0')
        explain_long(p, word);
    explain_letters(p, word);
    explain_letters(p, state->argv[state->next]);
    fail(EXIT_BAD_INPUT, "'%s': not understood; `%s --help` shows what is", word, fail_command());
}

/* ---------------------------------------------------------------------------------------------- parsing ---- */

static error_t parse(int key, char *value, struct argp_state *state)
{
    parsing *p = state->input;
    int i;

    if (key == ARGP_KEY_ERROR)
        explain(p, state);
    if (key == ARGP_KEY_ARG) {
        add_argument(p, value);
        return 0;
    }
    i = place_of(p, key);
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

    variable_name(option->name, name, sizeof name);
    value = getenv(name);
    if (!value || !*value || option->group == GROUP_ALWAYS || (!option->arg && strcmp(value, "0") == 0))
        return;
    if (!option->arg && strcmp(value, "1") != 0)
        option_fail(option->name, "'%s' is not a switch; expected 0 or 1", value);
    set_option(p, i, strcmp(value, "1") == 0 && (!option->arg || option->flags & OPTION_ARG_OPTIONAL) ? NULL : value);
}

/* Refuses each own option on the command line that another option or an argument makes void. */
static void refuse_void(const parsing *p)
{
    for (int i = 0; i < p->own_count; i++) {
        const own_option *o = &p->command->options[i], *other = p->command->options;
        if (!p->given[i])
            continue;
        if (o->void_with > 0 && p->common->argument_count >= o->void_with)
            fail(EXIT_BAD_INPUT, "--%s: has no effect: '%s' is given instead", o->name,
                 p->common->arguments[o->void_with - 1]);
        while (o->needs && strcmp(other->name, o->needs) != 0)
            other++;
        if (o->needs && !p->set[other - p->command->options])
            fail(EXIT_BAD_INPUT, "--%s: has no effect without --%s; expected --%s%s%s as well", o->name, other->name,
                 other->name, other->value ? "=" : "", other->value ? other->value : "");
    }
}

void options_parse(const command_line *command, int argc, char **argv, common_options *common)
{
    parsing p = {.command = command, .common = common};
    error_t error;

    *common = (common_options){.variant = "auto", .warmup = 1, .min_time_s = 0.2, .seed = 1};
    fail_set_command(command->name);
    argp_err_exit_status = EXIT_BAD_INPUT;
    parse_backends("backend", "auto", common);
    gather(&p);
    p.argp =
        (struct argp){.options = p.options, .parser = parse, .args_doc = command->arguments, .doc = command->summary};
    from_environment = true;
    for (int i = 0; i < p.count; i++)
        parse_variable(&p, i);
    from_environment = false;
    /* argp's own messages take two lines, and without them it prints no help either: both are made here. */
    error = argp_parse(&p.argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &p);
    if (error != 0)
        fail(EXIT_BROKEN, "the command line: %s", strerror(error));
    refuse_void(&p);
    if (common->json && common->csv && !common->json_file && !common->csv_file)
        fail(EXIT_BAD_INPUT, "--csv: --json already goes to stdout; expected a FILE for one of the two");
    fail_set_quiet(common->quiet);
    progress_set_quiet(common->quiet);
}

void options_free(common_options *common)
{
    free(common->backends);
    free(common->arguments);
    *common = (common_options){0};
}
