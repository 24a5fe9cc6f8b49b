/* SPDX-License-Identifier: MIT
 *
 * The command `flynn`: one word names an exercise or a command, which does the work.
 */
#include "commands.h"

#include "run/backends.h"
#include "run/registry.h"
#include "files/output.h"
#include "kept/ceilings.h"
#include "look/glossary.h"
#include "ranks/group.h"
#include "kept/tuned.h"
#include "options/help.h"
#include "options/paths.h"
#include "options/typed.h"
#include "support/fail.h"
#include "support/memory.h"
#include "view/fields.h"
#include "view/json.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int command_help(int argc, char **argv);

/* The commands that are not exercises. */
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
    bool on_ranks; /* it runs on several ranks */
} commands[] = {
    {"slice", command_slice, "copy a slice of a device's array to the host in three ways", false},
    {"batch", command_batch, "many images through a pipeline that keeps the device busy", true},
    {"compare", command_compare, "every exercise on every backend, or two saved runs, side by side", false},
    {"sweep", command_sweep, "an exercise over variants, sizes and blocks: what is the fastest", false},
    {"ceiling", command_ceiling, "measure each device's limits: memory, arithmetic, link, launch", true},
    {"laws", command_laws, "how an exercise scales: Amdahl's and Gustafson's laws", false},
    {"taxonomy", command_taxonomy, "one operation as SISD, SIMD, MIMD and SIMT: what each step gains", false},
    {"report", command_report, "make one page with plots from what other commands saved", false},
    {"show", command_show, "arrays of files, or made: elements, statistics, where two differ", false},
    {"list", command_list, "the exercises and their variants, and on which backends they run", false},
    {"info", command_info, "the backends: what can run here, and how to enable the others", true},
    {"doctor", command_doctor, "test the machine and every backend; how to repair what is broken", false},
    {"help", command_help, "describe a command, or a word such as roofline or spread", false},
};
enum { COMMANDS = sizeof commands / sizeof *commands, MOST_EXERCISES = 64 };

static const char summary[] = "the exercises of GPU programming courses on one core, all cores and GPUs";

/* Calls `print` for each exercise, then for each command. */
static void each_command(void (*print)(const char *name, const char *what))
{
    for (int i = 0; exercises[i]; i++)
        print(exercises[i]->name, exercises[i]->summary);
    for (int i = 0; i < COMMANDS; i++)
        print(commands[i].name, commands[i].summary);
}

static void print_command(const char *name, const char *what)
{
    printf("  %-12s %s\n", name, what);
}

/* Prints the quantities, for the tests of the schema and of the pages. */
static void print_quantities(void)
{
    json_t *document = json_new_document();
    problem why;

    json_put(document, "quantities", fields_describe());
    if (!json_write(document, NULL, &why))
        fail_problem(&why);
    json_decref(document);
}

static void print_help(void)
{
    printf("Usage: flynn COMMAND [OPTION...] [FILE...]\n"
           "Runs %s.\n\n"
           "To start: `flynn info` (what can run here), `flynn sort` (on the best backend),\n"
           "`flynn convolve -b all` (every backend side by side), `flynn COMMAND --help`,\n"
           "`flynn help WORD` (what a word of the tables means).\n\n",
           summary);
    each_command(print_command);
    printf("\nWithout a file an exercise generates the course's own input; random:64x64 in\n"
           "place of a file makes another (`flynn help --long show`). `flynn --exercises`\n"
           "prints the names of the exercises, a line each.\n"
           "Exit status: 0 done and correct; 1 a result failed its check; 2 wrong usage or\n"
           "bad input; 3 the backend cannot run here; 4 out of memory, device or I/O\n"
           "failure.\n");
}

static void print_word(const char *name, const char *what)
{
    help_print_word(stdout, name, what);
}

static void print_man_command(const char *name, const char *what)
{
    printf(".TP\n.BR flynn\\-%s (1)\n", name);
    help_man_text(stdout, what);
}

static void print_man_word(const char *word, const char *what)
{
    printf(".TP\n.B %s\n", word);
    help_man_text(stdout, what);
}

static void print_man(void)
{
    help_man_start(stdout, "flynn", summary);
    printf(".SH SYNOPSIS\n.B flynn\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n.SH COMMANDS\n");
    each_command(print_man_command);
    printf(".SH ENVIRONMENT\nEach option has a variable, which the option beats: FLYNN_MIN_TIME is that of "
           "\\-\\-min\\-time. FLYNN_CACHE is the folder for compiled code and measurements, or off; FLYNN_CC and\n"
           "FLYNN_CXX compile for map and kernel, in FLYNN_COMPILE_TIMEOUT seconds; FLYNN_PLUGIN_PATH has folders of\n"
           "plugins; FLYNN_IGNORE_DEVICE_FILES=1 loads those of GPUs whose device file is missing, for GPUs of other\n"
           "machines and emulated ones. On a GPU commands that measure take turns, also those of several users; "
           "FLYNN_GPU_LOCK is off, or "
           "the file that is locked in\nplace of the GPU\'s.\n"
           ".SH FILES\n.TP\n$FLYNN_CACHE, else $XDG_CACHE_HOME/flynn or ~/.cache/flynn\nlimits that `flynn ceiling` "
           "measured,\n"
           "what `flynn sweep \\-\\-save` kept, and compiled code\n"
           ".SH EXIT STATUS\n.TP\n0\ndone and correct\n.TP\n1\na result failed its check\n.TP\n2\nwrong usage or bad "
           "input\n"
           ".TP\n3\nthe backend cannot run here\n.TP\n4\nout of memory, device or I/O failure\n.SH WORDS\n");
    glossary_each(print_man_word);
}

static bool is_command(const char *word)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(word, commands[i].name) == 0)
            return true;
    return exercise_find(word) != NULL;
}

/* Words that people type for what has another name here. */
static const struct {
    const char *typed, *meant;
} synonyms[] = {
    {"add", "map 'x + y'"}, {"bandwidth", "ceiling"}, {"bench", "compare"}, {"benchmark", "compare"},
    {"check", "doctor"},    {"devices", "info"},      {"gpu", "info"},      {"min", "reduce --operation=minimum"},
    {"multiply", "matmul"}, {"sum", "reduce"},        {"test", "doctor"},   {"version", "--version"},
};

/* The command, or the word of the glossary, that was meant by `name`; NULL: none is close. */
static const char *command_meant(const char *name)
{
    const char *names[COMMANDS + MOST_EXERCISES], *const word = glossary_find(name);
    size_t count = 0;

    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(name, synonyms[i].typed) == 0)
            return synonyms[i].meant;
    if (word)
        return memory_print("help %s", word);
    for (int i = 0; exercises[i] && i < MOST_EXERCISES; i++)
        names[count++] = exercises[i]->name;
    for (int i = 0; i < COMMANDS; i++)
        names[count++] = commands[i].name;
    return typed_nearest(name, names, count);
}

static noreturn void unknown_command(const char *name)
{
    const char *const meant = command_meant(name), *const next = typed_word(0);

    if (*name == '-' && (next || strchr(name, '='))) {
        typed_change(name, memory_print("sort %s", name));
        typed_refuse("'%s' is not a command, and no command is named; `flynn --help` lists them", name);
    }
    if (strcmp(name, "run") == 0 && next && is_command(next)) {
        typed_change(name, NULL);
        typed_refuse("'run' is not a command; '%s' is one", next);
    }
    if (!meant)
        fail(EXIT_BAD_INPUT, "'%s' is not a command; `flynn --help` lists them", name);
    typed_change(name, meant);
    typed_refuse("'%s' is not a command; did you mean `flynn %s`? `flynn --help` lists them", name, meant);
}

static bool is(const char *word, const char *option, const char *letter)
{
    return strcmp(word, option) == 0 || strcmp(word, letter) == 0;
}

/* No output may replace what commands keep for later ones. */
static void claim_kept(const char *path, const char *keeper)
{
    if (*path)
        path_claim(PATH_READ, path, "the file of `flynn %s` (%s)", keeper, path);
}

/* Runs the command that argv[0] names. */
static int run_command(int argc, char **argv)
{
    const exercise_kind *exercise = exercise_find(argv[0]);
    int i = 0;

    while (i < COMMANDS && strcmp(argv[0], commands[i].name) != 0)
        i++;
    if (group_is_distributed() && !(exercise ? exercise->distributed != 0 : i < COMMANDS && commands[i].on_ranks))
        fail(EXIT_BAD_INPUT, "%s does not run on several ranks; docs/cluster.md names the commands that do", argv[0]);
    if (exercise)
        return exercise_main(exercise, argc, argv);
    if (i < COMMANDS)
        return commands[i].run(argc, argv);
    unknown_command(argv[0]);
}

typedef struct help_options {
    bool form[HELP_WORDS + 1];
    bool variants, glossary;
} help_options;

/* Prints the variants that the backends which can run here have of the operation, each once, for a shell. */
static void print_variants(const char *operation)
{
    enum { MOST_VARIANTS = 64 };
    char *known[MOST_VARIANTS];
    fl_variant_info v;
    fl_device *device;
    int count = 0;

    for (size_t b = 0; b < backends_count(); b++) {
        if (!fl_backend_get(b)->usable || fl_device_open(fl_backend_get(b)->name, &device) != FL_OK)
            continue;
        for (size_t n = 0; fl_variant_get(device, n, &v) == FL_OK; n++) {
            int i = 0;
            while (i < count && strcmp(known[i], v.variant) != 0)
                i++;
            if (i == count && count < MOST_VARIANTS && strcmp(v.operation, operation) == 0)
                known[count++] = memory_text(v.variant);
        }
        fl_device_close(device);
    }
    for (int i = 0; i < count; i++) {
        printf("%s\n", known[i]);
        free(known[i]);
    }
}

static const own_option help_own[] = {
    {"long", OPTION_FLAG, offsetof(help_options, form[HELP_LONG]), .help = "All there is to say"},
    {"man", OPTION_FLAG, offsetof(help_options, form[HELP_MAN]), .help = "As the source of a man page"},
    {"words", OPTION_FLAG, offsetof(help_options, form[HELP_WORDS]), .help = "The words that may follow, for a shell"},
    {"variants", OPTION_FLAG, offsetof(help_options, variants), .help = "The variants of an exercise, for a shell"},
    {"glossary", OPTION_FLAG, offsetof(help_options, glossary), .help = "Each word of the glossary, a line each"},
    {0},
};

/* Returns what the command does, in a few words; NULL: there is no such command. */
static const char *in_short_of(const char *name)
{
    const exercise_kind *exercise = exercise_find(name);
    const char *what = exercise ? exercise->summary : NULL;

    for (int i = 0; i < COMMANDS; i++)
        what = strcmp(name, commands[i].name) == 0 ? commands[i].summary : what;
    return what;
}

/* Describes the command or the word of the glossary, or both where they have one name. Several words are one. */
static void help_on(const char *const *typed, int count, help_form form)
{
    char text[128] = "", *words[] = {text, "--help", NULL};
    const char *word, *nearest;

    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", typed[i]);
    word = form == HELP_SHORT || form == HELP_LONG ? glossary_find(text) : NULL;
    if (word)
        glossary_print(word);
    if (word && !is_command(text))
        return;
    nearest = is_command(text) || command_meant(text) ? NULL : glossary_nearest(text);
    if (nearest) {
        for (int i = 0; i < count; i++)
            typed_change(typed[i], i == 0 ? nearest : NULL);
        typed_refuse("'%s' is neither a command nor a word of the glossary; did you mean `flynn help %s`?", text,
                     nearest);
    }
    if (word)
        printf("\n");
    help_choose(form, in_short_of(text));
    run_command(2, words);
}

static int command_help(int argc, char **argv)
{
    help_options own = {.variants = false};
    const command_line line = {"flynn help",
                               "[COMMAND | WORD]",
                               4,
                               "Describes a command, as its --help does, or says what a word of the tables means; "
                               "without one, `flynn`.\v\v"
                               "sort\tits --help\n"
                               "roofline\twhat the word means\n"
                               "--long sort\tall there is to say\n"
                               "--man sort\tthe source of its man page\n",
                               .options = help_own,
                               .own = &own};
    common_options common;
    help_form form = HELP_SHORT;

    options_parse(&line, argc, argv, &common);
    for (int f = HELP_LONG; f <= HELP_WORDS; f++)
        form = own.form[f] ? (help_form)f : form;
    if (own.variants && !common.argument_count)
        fail(EXIT_BAD_INPUT, "--variants: of what? expected an exercise, such as sort");
    if (own.variants) {
        print_variants(common.arguments[0]);
        return EXIT_DONE;
    }
    if (own.glossary)
        glossary_each(print_word);
    else if (common.argument_count)
        help_on(common.arguments, common.argument_count, form);
    else if (form == HELP_MAN)
        print_man();
    else if (form == HELP_WORDS)
        each_command(print_word);
    else
        print_help();
    options_free(&common);
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    claim_kept(tuned_path(), "sweep --save");
    claim_kept(ceilings_path(), "ceiling");
    if (argc < 2)
        fail(EXIT_BAD_INPUT, "no command is given; try `flynn info`, `flynn sort` or `flynn convolve -b all`; `flynn "
                             "--help` lists all commands");
    if (is(argv[1], "--help", "-h"))
        print_help();
    else if (is(argv[1], "--version", "-V") || strcmp(argv[1], "-v") == 0)
        printf("flynn %s\n", fl_version());
    else if (strcmp(argv[1], "--exercises") == 0)
        for (int i = 0; exercises[i]; i++)
            printf("%s\n", exercises[i]->name);
    else if (strcmp(argv[1], "--quantities") == 0)
        print_quantities();
    else
        return run_command(argc - 1, argv + 1);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    fail_start();             /* registered first, so that it runs last */
    signal(SIGCHLD, SIG_DFL); /* a parent may have it ignored: then waitpid would return no status of a child */
    path_keep_absolute();
    argc = typed_order(argc, argv, is_command);
    group_start(argc > 1 ? argv[1] : NULL);
    output_start();
    json_start();
    leave(run(argc, argv));
}
