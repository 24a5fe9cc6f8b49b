/* SPDX-License-Identifier: MIT
 *
 * The command `flynn`: one word names an exercise or a command, which does the work.
 */
#include "commands.h"

#include "exercises/registry.h"
#include "files/output.h"
#include "harness/ceilings.h"
#include "harness/tuned.h"
#include "support/fail.h"
#include "support/paths.h"
#include "view/json.h"

#include <stdio.h>
#include <string.h>

/* The commands that are not exercises. */
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"slice", command_slice, "copy a slice of a device's array to the host in three ways"},
    {"batch", command_batch, "many images through a pipeline that keeps the device busy"},
    {"compare", command_compare, "every exercise on every backend in one table, or two saved runs side by side"},
    {"sweep", command_sweep, "an exercise over variants, sizes and blocks: which is the fastest where"},
    {"ceiling", command_ceiling, "measure each device's limits: memory, arithmetic, link, launch"},
    {"laws", command_laws, "how an exercise scales over threads or batches, with Amdahl's and Gustafson's laws"},
    {"taxonomy", command_taxonomy, "one operation as SISD, SIMD, MIMD and SIMT, and what each step gains"},
    {"report", command_report, "make one page with plots from what other commands saved"},
    {"list", command_list, "operations, variants and dtypes, and which backends have them"},
    {"info", command_info, "the backends: what can run here, and how to enable the others"},
    {"doctor", command_doctor, "test the machine and every backend, and say how to repair what is broken"},
};
enum { COMMANDS = sizeof commands / sizeof *commands, MOST_EXERCISES = 64 };

static void print_help(void)
{
    printf("Usage: flynn COMMAND [OPTION...] [FILE...]\n\n"
           "The exercises of GPU programming courses on one core, on all of them and on GPUs, from the same "
           "sources.\n\n");
    for (int i = 0; exercises[i]; i++)
        printf("  %-12s %s\n", exercises[i]->name, exercises[i]->summary);
    printf("\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-12s %s\n", commands[i].name, commands[i].summary);
    printf("\nWithout a file an exercise makes the course's own input. `flynn COMMAND --help` describes a command, "
           "`flynn\n"
           "--exercises` prints the names of the exercises, a line each.\n"
           "Exit status: 0 done and correct; 1 a result failed its check; 2 wrong usage or bad input;\n"
           "3 the backend asked for cannot run here; 4 out of memory, device or I/O failure.\n");
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS + MOST_EXERCISES], *nearest;
    size_t count = 0;

    for (int i = 0; exercises[i] && i < MOST_EXERCISES; i++)
        names[count++] = exercises[i]->name;
    for (int i = 0; i < COMMANDS; i++)
        names[count++] = commands[i].name;
    nearest = fl_nearest_name(name, names, count);
    if (nearest)
        fail(EXIT_BAD_INPUT, "'%s' is not a command; did you mean '%s'? `flynn --help` lists them", name, nearest);
    fail(EXIT_BAD_INPUT, "'%s' is not a command; `flynn --help` lists them", name);
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

static int run(int argc, char **argv)
{
    const exercise_kind *exercise;

    claim_kept(tuned_path(), "sweep --save");
    claim_kept(ceilings_path(), "ceiling");
    if (argc < 2)
        fail(EXIT_BAD_INPUT, "no command is given; `flynn --help` lists them");
    exercise = exercise_find(argv[1]);
    if (exercise)
        return exercise_main(exercise, argc - 1, argv + 1);
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (is(argv[1], "--help", "-h") || strcmp(argv[1], "help") == 0)
        print_help();
    else if (is(argv[1], "--version", "-V"))
        printf("flynn %s\n", fl_version());
    else if (strcmp(argv[1], "--exercises") == 0)
        for (int i = 0; exercises[i]; i++)
            printf("%s\n", exercises[i]->name);
    else
        return unknown_command(argv[1]);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    fail_start(); /* first, so that what it does comes last */
    output_start();
    json_start();
    leave(run(argc, argv));
}
