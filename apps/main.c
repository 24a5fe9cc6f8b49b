/* SPDX-License-Identifier: MIT
 *
 * The command `flynn`: one word says what to do, a file of its name does it.
 */
#include "commands.h"

#include "files/output.h"
#include "support/fail.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"increment", command_increment, "add one to each element"},
    {"sqrt", command_sqrt, "the square root of each element"},
    {"maximum", command_maximum, "the larger of two elements"},
    {"log_of_sum", command_log_of_sum, "log(x + y) for each element"},
    {"sort", command_sort, "sort numbers"},
    {"select", command_select, "the elements of an array that are not zero"},
    {"primes", command_primes, "the primes below a number, by trial division or a sieve"},
    {"convolve1d", command_convolve1d, "convolve a signal with a kernel"},
    {"convolve", command_convolve, "convolve an image with a kernel"},
    {"slice", command_slice, "a slice of a device's array to the host: copy all, or slice first"},
    {"svd", command_svd, "the singular values of an image, and what is left of it in a low rank"},
    {"reconstruct", command_reconstruct, "a matrix from its leading singular values and vectors"},
    {"batch", command_batch, "many images through a pipeline that keeps the device busy"},
    {"allclose", command_allclose, "are two arrays the same to a tolerance?"},
    {"compare", command_compare, "every exercise on every backend, in one table; or two saved runs side by side"},
    {"sweep", command_sweep, "an exercise over variants, sizes and blocks: which is the best where"},
    {"ceiling", command_ceiling, "what each device can do at most: memory, arithmetic, link, launch"},
    {"report", command_report, "what other commands saved, as one page with plots"},
    {"taxonomy", command_taxonomy, "one operation as SISD, SIMD, MIMD and SIMT, and what each step gains"},
    {"laws", command_laws,
     "how an exercise scales over threads or batches, with Amdahl's and Gustafson's laws fitted to it"},
    {"list", command_list, "operations, variants and dtypes, and which backends have them"},
    {"info", command_info, "the backends: what can run here, and what would mend the others"},
    {"doctor", command_doctor, "looks at the machine, tries every backend, and says what would mend it"},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    printf("Usage: flynn COMMAND [OPTION...] [FILE...]\n\n"
           "The exercises of GPU programming courses, on one core, on all of them and on GPUs, from the same "
           "sources.\n\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-12s %s\n", commands[i].name, commands[i].summary);
    printf("\nWithout a file an exercise makes the course's own input. `flynn COMMAND --help` tells more.\n"
           "Exit status: 0 done and correct; 1 a result failed its check; 2 wrong usage or bad input;\n"
           "3 the backend asked for cannot run here; 4 out of memory, device or I/O failure.\n");
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS], *nearest;

    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    nearest = fl_nearest_name(name, names, COMMANDS);
    fail(EXIT_BAD_INPUT, "'%s' is no command; %s%s%s`flynn --help` lists them", name, nearest ? "did you mean '" : "",
         nearest ? nearest : "", nearest ? "'? " : "");
}

int main(int argc, char **argv)
{
    output_start();
    if (argc < 2)
        fail(EXIT_BAD_INPUT, "no command; `flynn --help` lists them");
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help();
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("flynn %s\n", fl_version());
        return EXIT_DONE;
    }
    return unknown_command(argv[1]);
}
