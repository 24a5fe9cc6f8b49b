/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "options.h"
#include "fail.h"
#include "progress.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_VARIANT = 0x100,
    KEY_DTYPE,
    KEY_SIZE,
    KEY_BLOCK,
    KEY_REPEAT,
    KEY_WARMUP,
    KEY_MIN_TIME,
    KEY_SEED,
    KEY_PAGEABLE,
    KEY_WRONG_TIMING,
    KEY_CHECK,
    KEY_TRACE,
    KEY_JSON,
    KEY_CSV,
    KEY_USAGE,
    KEY_VERSION,
    MOST_OPTIONS = 64, /* of a command, the shared ones included */
    MOST_TABLES = 8,
};

static const struct argp_option backend_options[] = {
    {"backend", 'b', "SPEC[,SPEC...]|all", 0,
     "Run on these: a backend's name (serial, simd, omp, hip ...) and what narrows it, such as omp:8, simd:v2, hip:1; "
     "all is every one that can run here (default: auto, the best one)",
     0},
    {"trace", KEY_TRACE, "FILE", 0,
     "Record what each thread and device did when, as a Chrome trace (open it in ui.perfetto.dev)", 0},
    {0},
};

static const struct argp_option what_options[] = {
    {"variant", KEY_VARIANT, "NAME", 0, "Variant of the operation; `flynn list` shows them (default: auto)", 0},
    {"size", KEY_SIZE, "N", 0, "Size of an input that is made here (default: the course's)", 0},
    {"block", KEY_BLOCK, "X[xY[xZ]]", 0, "Threads of a block, or the cache tile on a CPU (default: its own)", 0},
    {0},
};

static const struct argp_option how_options[] = {
    {"dtype", KEY_DTYPE, "TYPE", 0, "Compute in u8, i32, i64, f32 or f64 (default: as the input)", 0},
    {"repeat", KEY_REPEAT, "N", 0, "Timed passes (default: as many as --min-time asks for, at least 3)", 0},
    {"warmup", KEY_WARMUP, "N", 0, "Passes between the first one and the timed ones (default: 1)", 0},
    {"min-time", KEY_MIN_TIME, "SECONDS", 0, "Time passes for at least so long (default: 0.2)", 0},
    {"seed", KEY_SEED, "N", 0, "Start of the random numbers (default: 1)", 0},
    {"pageable", KEY_PAGEABLE, NULL, 0, "Ordinary host memory for copies instead of pinned", 0},
    {"wrong-timing", KEY_WRONG_TIMING, NULL, 0,
     "Also show the time until the call returned, without waiting for its work", 0},
    {"check", KEY_CHECK, "full|sampled|auto", 0,
     "Hold all of the result against the reference, or samples of it (default: auto, all where that is cheap)", 0},
    {0},
};

static const struct argp_option json_options[] = {
    {"json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL, "Results as JSON, to FILE or to stdout in place of the table", 0},
    {0},
};

static const struct argp_option csv_options[] = {
    {"csv", KEY_CSV, "FILE", OPTION_ARG_OPTIONAL, "Results as CSV, to FILE or to stdout in place of the table", 0},
    {0},
};

static const struct argp_option always_options[] = {
    {"quiet", 'q', NULL, 0, "No remarks on stderr", 0},
    {"help", 'h', NULL, 0, "Show this help", -1},
    {"usage", KEY_USAGE, NULL, 0, "Show a short usage message", -1},
    {"version", KEY_VERSION, NULL, 0, "Show the version", -1},
    {0},
};

/* What is under way: the command, where its options go, and all tables that it has options from. */
typedef struct parsing {
    const command_line *command;
    common_options *common;
    struct argp *argp;
    const struct argp_option *tables[MOST_TABLES];
    int table_count;
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
    if (from_environment)
        variable_name(option, name, sizeof name);
    else
        snprintf(name, sizeof name, "--%s", option);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail(EXIT_BAD_INPUT, "%s: %s", name, text);
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
    int64_t number;
    const char *end = value;
    if (read_digits(&end, &number) && *end == '\0' && number >= least && number <= most)
        return number;
    option_fail(option, "'%s' does not fit; expected a whole number from %" PRId64 " to %" PRId64, value, least, most);
}

void option_numbers(const char *option, const char *value, int least_count, int most_count, const char *expected,
                    int64_t *numbers)
{
    const char *at = value;
    int count = 0;
    bool ok;
    do
        ok = count < most_count && read_digits(&at, &numbers[count]) && numbers[count++] >= 1;
    while (ok && *at == 'x' && at++);
    if (!ok || *at != '\0' || count < least_count)
        option_fail(option, "'%s' is not %s", value, expected);
    for (; count < most_count; count++)
        numbers[count] = 1;
}

int option_choice(const char *option, const char *value, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(value, names[i]) == 0)
            return i;
    char list[512];
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " or ",
                                 names[i]);
    const char *nearest = fl_nearest_name(value, names, (size_t)count);
    if (nearest != NULL)
        option_fail(option, "'%s' is not known; expected %s (the nearest is %s)", value, list, nearest);
    option_fail(option, "'%s' is not known; expected %s", value, list);
}

static double parse_seconds(const char *option, const char *value)
{
    static const double most = 86400;
    char *end;
    double seconds = strtod(value, &end);
    if (end == value || *end != '\0' || isspace((unsigned char)*value) || !(seconds >= 0 && seconds <= most))
        option_fail(option, "'%s' does not fit; expected seconds from 0 to %.0f, such as 0.5", value, most);
    return seconds;
}

void option_block(const char *option, const char *value, int *block)
{
    int64_t edges[3];
    option_numbers(option, value, 1, 3, "a block; expected X, XxY or XxYxZ with each at least 1, such as 16x16", edges);
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
    char **backends = malloc(pointers + bytes);
    if (backends == NULL)
        fail(EXIT_BROKEN, "out of memory for the command line");
    char *rest = memcpy((char *)backends + pointers, value, bytes);
    bool all = strcmp(value, "all") == 0;
    for (int i = 0; i < count; i++) {
        backends[i] = strsep(&rest, ",");
        if (backends[i][0] == '\0')
            option_fail(option, "'%s' lacks a name; expected SPEC[,SPEC...] or all, such as serial,omp:2", value);
        if (strcmp(backends[i], "all") == 0 && !all)
            option_fail(option, "'%s' names all and others; expected all alone, or names", value);
    }
    free(common->backends);
    common->backends = backends;
    common->backend_count = all ? 0 : count;
    common->all_backends = all;
}

static const char *parse_file(const char *option, const char *value)
{
    if (value != NULL && value[0] == '\0')
        option_fail(option, "'' is no file name; expected --%s=FILE, or --%s for stdout", option, option);
    return value;
}

static const char *parse_trace(const char *value)
{
    if (value[0] == '\0')
        option_fail("trace", "'' is no file name");
    return value;
}

/* ----------------------------------------------------------------------------------- the shared options ---- */

static fl_dtype parse_dtype(const char *value)
{
    const char *names[FL_DTYPE_COUNT];
    for (int i = 0; i < FL_DTYPE_COUNT; i++)
        names[i] = fl_dtype_name((fl_dtype)i);
    return (fl_dtype)option_choice("dtype", value, names, FL_DTYPE_COUNT);
}

static check_choice parse_check(const char *value)
{
    static const char *const names[] = {[CHECK_AUTO] = "auto", [CHECK_FULL] = "full", [CHECK_SAMPLED] = "sampled"};
    return (check_choice)option_choice("check", value, names, 3);
}

/* Options that change what is run. */
static error_t parse_run(int key, char *value, common_options *common)
{
    switch (key) {
    case KEY_VARIANT:
        if (value[0] == '\0')
            option_fail("variant", "'' names no variant; expected one of `flynn list`");
        common->variant = value;
        common->has_variant = true;
        return 0;
    case KEY_DTYPE:
        common->dtype = parse_dtype(value);
        common->has_dtype = true;
        return 0;
    case KEY_SIZE: common->size = option_integer("size", value, 1, INT64_MAX); return 0;
    case KEY_BLOCK: option_block("block", value, common->block); return 0;
    case KEY_REPEAT: common->repeat = (int)option_integer("repeat", value, 1, 1000000); return 0;
    case KEY_WARMUP: common->warmup = (int)option_integer("warmup", value, 0, 1000000); return 0;
    case KEY_MIN_TIME: common->min_time_s = parse_seconds("min-time", value); return 0;
    case KEY_SEED: common->seed = (uint64_t)option_integer("seed", value, 0, INT64_MAX); return 0;
    case KEY_PAGEABLE: common->pageable = true; return 0;
    case KEY_WRONG_TIMING: common->wrong_timing = true; return 0;
    case KEY_CHECK: common->check = parse_check(value); return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static noreturn void show_help(const parsing *p, unsigned what)
{
    argp_help(p->argp, stdout, what, (char *)p->command->name);
    exit(EXIT_DONE);
}

static error_t parse_common(int key, char *value, struct argp_state *state)
{
    const parsing *p = state->input;
    common_options *common = p->common;
    switch (key) {
    case 'b': parse_backends("backend", value, common); return 0;
    case KEY_TRACE: common->trace_file = parse_trace(value); return 0;
    case KEY_JSON:
        common->json = true;
        common->json_file = parse_file("json", value);
        return 0;
    case KEY_CSV:
        common->csv = true;
        common->csv_file = parse_file("csv", value);
        return 0;
    case 'q': common->quiet = true; return 0;
    case 'h': show_help(p, ARGP_HELP_STD_HELP);
    case KEY_USAGE: show_help(p, ARGP_HELP_USAGE);
    case KEY_VERSION: printf("flynn %s\n", fl_version()); exit(EXIT_DONE);
    }
    return parse_run(key, value, common);
}

/* ---------------------------------------------------------------- what argp would need two lines to say ---- */

static int gather(const parsing *p, const struct argp_option **options)
{
    int count = 0;
    for (int t = 0; t < p->table_count; t++)
        for (const struct argp_option *o = p->tables[t]; o->name != NULL || o->key != 0; o++)
            if (count < MOST_OPTIONS && o->name != NULL)
                options[count++] = o;
    return count;
}

static noreturn void explain_unknown(const char *name, const struct argp_option **options, int count)
{
    const char *names[MOST_OPTIONS];
    for (int i = 0; i < count; i++)
        names[i] = options[i]->name;
    const char *nearest = fl_nearest_name(name, names, (size_t)count);
    if (nearest != NULL)
        fail(EXIT_BAD_INPUT, "--%s: no such option; the nearest is --%s", name, nearest);
    fail(EXIT_BAD_INPUT, "--%s: no such option; expected one that `%s --help` shows", name, fail_command());
}

static noreturn void explain_ambiguous(const char *name, const struct argp_option **options, int count)
{
    char list[512];
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; i++)
        if (strncmp(options[i]->name, name, strlen(name)) == 0)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s", used > 0 ? ", " : "", options[i]->name);
    fail(EXIT_BAD_INPUT, "--%s: more than one option begins so; expected one of %s", name, list);
}

static noreturn void explain_long(const char *word, const struct argp_option **options, int count)
{
    char name[128];
    size_t length = strcspn(word + 2, "=");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word + 2);
    const struct argp_option *found = NULL;
    int matches = 0;
    for (int i = 0; i < count; i++) {
        if (strncmp(options[i]->name, name, strlen(name)) != 0)
            continue;
        found = options[i];
        matches++;
        if (strcmp(found->name, name) == 0) {
            matches = 1;
            break;
        }
    }
    if (matches == 0)
        explain_unknown(name, options, count);
    if (matches > 1)
        explain_ambiguous(name, options, count);
    if (found->arg == NULL)
        fail(EXIT_BAD_INPUT, "--%s: '%s' is one value too many; expected --%s alone", found->name,
             word + 2 + length + 1, found->name);
    fail(EXIT_BAD_INPUT, "--%s: lacks its value; expected --%s=%s", found->name, found->name, found->arg);
}

static const struct argp_option *find_letter(char letter, const struct argp_option **options, int count)
{
    for (int i = 0; i < count; i++)
        if (options[i]->key == letter)
            return options[i];
    return NULL;
}

/* Ends the command if `word` is a cluster of letters and one of them is to blame. */
static void explain_letters(const char *word, const struct argp_option **options, int count)
{
    if (word == NULL || word[0] != '-' || word[1] == '\0' || word[1] == '-')
        return;
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const struct argp_option *option = find_letter(*letter, options, count);
        if (option == NULL)
            fail(EXIT_BAD_INPUT, "-%c: no such option; expected one that `%s --help` shows", *letter, fail_command());
        if (option->arg != NULL && (option->flags & OPTION_ARG_OPTIONAL) == 0) {
            if (letter[1] == '\0')
                fail(EXIT_BAD_INPUT, "-%c: lacks its value; expected -%c %s", *letter, *letter, option->arg);
            return; /* the rest is its value */
        }
    }
}

/* Says what is wrong with the word at which argp gave up: the one before state->next, but that one itself while letters
 * of a cluster are left. */
static noreturn void explain(const parsing *p, const struct argp_state *state)
{
    const struct argp_option *options[MOST_OPTIONS];
    int count = gather(p, options);
    const char *word = state->argv[state->next - 1];
    if (strncmp(word, "--", 2) == 0 && word[2] != '\0')
        explain_long(word, options, count);
    explain_letters(word, options, count);
    explain_letters(state->argv[state->next], options, count);
    fail(EXIT_BAD_INPUT, "'%s': not understood; expected what `%s --help` shows", word, fail_command());
}

/* ---------------------------------------------------------------------------------------------- parsing ---- */

static error_t parse_own(const command_line *command, int key, char *value)
{
    struct argp_state state = {.input = command->input};
    return command->parse == NULL ? ARGP_ERR_UNKNOWN : command->parse(key, value, &state);
}

static error_t parse_root(int key, char *value, struct argp_state *state)
{
    parsing *p = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; p->argp->children[i].argp != NULL; i++)
            state->child_inputs[i] = p;
        return 0;
    case ARGP_KEY_ERROR: explain(p, state);
    case ARGP_KEY_ARG:
        if (parse_own(p->command, key, value) == 0)
            return 0;
        fail(EXIT_BAD_INPUT, "'%s': one argument too many; expected %s", value,
             p->command->arguments != NULL ? p->command->arguments : "none");
    case ARGP_KEY_ARGS:
    case ARGP_KEY_NO_ARGS:
    case ARGP_KEY_END:
    case ARGP_KEY_FINI:
    case ARGP_KEY_SUCCESS: return ARGP_ERR_UNKNOWN;
    }
    return parse_own(p->command, key, value);
}

/* Gives the option the value of its variable, if that is set. */
static void parse_variable(const parsing *p, const struct argp_option *option)
{
    char name[64];
    variable_name(option->name, name, sizeof name);
    char *value = getenv(name);
    if (value == NULL || value[0] == '\0')
        return;
    if (option->arg == NULL) {
        if (strcmp(value, "0") == 0)
            return;
        if (strcmp(value, "1") != 0)
            option_fail(option->name, "'%s' is no switch; expected 0 or 1", value);
        value = NULL;
    } else if ((option->flags & OPTION_ARG_OPTIONAL) != 0 && strcmp(value, "1") == 0) {
        value = NULL;
    }
    struct argp_state state = {.input = (void *)p};
    if (parse_own(p->command, option->key, value) != 0)
        parse_common(option->key, value, &state);
}

static void parse_environment(const parsing *p)
{
    const struct argp_option *options[MOST_OPTIONS];
    int count = gather(p, options);
    from_environment = true;
    for (int i = 0; i < count; i++)
        if (options[i]->group != -1) /* --help and its like */
            parse_variable(p, options[i]);
    from_environment = false;
}

void options_parse(const command_line *command, int argc, char **argv, common_options *common)
{
    const struct {
        unsigned takes;
        struct argp argp;
    } groups[] = {
        {TAKES_BACKEND, {.options = backend_options, .parser = parse_common}},
        {TAKES_WHAT, {.options = what_options, .parser = parse_common}},
        {TAKES_HOW, {.options = how_options, .parser = parse_common}},
        {TAKES_JSON, {.options = json_options, .parser = parse_common}},
        {TAKES_CSV, {.options = csv_options, .parser = parse_common}},
        {0, {.options = always_options, .parser = parse_common}},
    };
    struct argp_child children[MOST_TABLES] = {0};
    struct argp root = {.options = command->options,
                        .parser = parse_root,
                        .args_doc = command->arguments,
                        .doc = command->summary,
                        .children = children};
    parsing p = {.command = command, .common = common, .argp = &root};
    int used = 0;
    if (command->options != NULL)
        p.tables[p.table_count++] = command->options;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if ((groups[i].takes & command->takes) == groups[i].takes) {
            children[used++].argp = &groups[i].argp;
            p.tables[p.table_count++] = groups[i].argp.options;
        }

    *common = (common_options){.variant = "auto", .warmup = 1, .min_time_s = 0.2, .seed = 1};
    fail_set_command(command->name);
    argp_err_exit_status = EXIT_BAD_INPUT;
    parse_backends("backend", "auto", common);
    parse_environment(&p);
    /* argp's own messages take two lines, and without them it prints no help either: both are made here. */
    error_t error = argp_parse(&root, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &p);
    if (error != 0)
        fail(EXIT_BROKEN, "the command line: %s", strerror(error));
    if (common->json && common->csv && common->json_file == NULL && common->csv_file == NULL)
        fail(EXIT_BAD_INPUT, "--csv: stdout is --json's already; expected a FILE for one of the two");
    fail_set_quiet(common->quiet);
    progress_set_quiet(common->quiet);
}

void options_free(common_options *common)
{
    free(common->backends);
    *common = (common_options){0};
}
