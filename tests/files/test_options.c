/* SPDX-License-Identifier: MIT
 *
 * The command line: what is accepted, what beats what, and that everything else gets one line.
 */
#define _GNU_SOURCE 1
#include "support/fail.h"
#include "support/options.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 12 };

/* A command with two options of its own and up to one argument. */
typedef struct own {
    const char *output, *argument;
    int mode;
} own;

enum { KEY_MODE = KEY_OWN };

static const struct argp_option own_options[] = {
    {"output", 'o', "FILE", 0, "Where to", 0},
    {"mode", KEY_MODE, "full|same|valid", 0, "Which", 0},
    {0},
};

static error_t parse_own(int key, char *value, struct argp_state *state)
{
    static const char *const modes[] = {"full", "same", "valid"};
    own *mine = state->input;
    switch (key) {
    case 'o': mine->output = value; return 0;
    case KEY_MODE: mine->mode = option_choice("mode", value, modes, 3); return 0;
    case ARGP_KEY_ARG:
        if (mine->argument != NULL)
            return ARGP_ERR_UNKNOWN;
        mine->argument = value;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* Parses words of a command line; those with a capital first are variables: "FLYNN_SEED=3". */
static common_options parse(const char *const *words, own *mine)
{
    static char copies[MOST_WORDS][64];
    char *argv[MOST_WORDS + 2] = {"convolve"};
    int argc = 1;
    for (int i = 0; words[i] != NULL; i++) {
        snprintf(copies[i], sizeof copies[i], "%s", words[i]);
        if (strncmp(words[i], "FLYNN_", 6) == 0)
            putenv(copies[i]);
        else
            argv[argc++] = copies[i];
    }
    *mine = (own){0};
    command_line command = {
        .name = "flynn convolve",
        .arguments = "[IMAGE]",
        .summary = "Convolves.\vMore.",
        .takes = TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
        .options = own_options,
        .parse = parse_own,
        .input = mine,
    };
    common_options common;
    options_parse(&command, argc, argv, &common);
    return common;
}

#define WORDS(...) ((const char *[MOST_WORDS]){__VA_ARGS__})

Test(options, defaults)
{
    own mine;
    common_options common = parse(WORDS(NULL), &mine);
    cr_assert(eq(int, common.backend_count, 1));
    cr_assert(eq(str, common.backends[0], "auto"));
    cr_assert(eq(str, (char *)common.variant, "auto"));
    cr_assert(not(common.has_dtype || common.json || common.csv || common.quiet || common.pageable));
    cr_assert(zero(i64, common.size));
    cr_assert(eq(int, (int)common.check, CHECK_AUTO));
    options_free(&common);
}

Test(options, values)
{
    own mine;
    common_options common =
        parse(WORDS("--backend=serial,omp:2:v3,hip", "--variant", "tiled", "--dtype=f64", "--size=4096", "--block=32x4",
                    "--repeat=7", "--warmup=0", "--min-time=1e-2", "in.npy", "--pageable", NULL),
              &mine);
    cr_assert(eq(int, common.backend_count, 3));
    cr_assert(eq(str, common.backends[1], "omp:2:v3"));
    cr_assert(eq(str, common.backends[2], "hip"));
    cr_assert(eq(str, (char *)common.variant, "tiled"));
    cr_assert(common.has_dtype && common.dtype == FL_F64 && common.size == 4096 && common.repeat == 7 &&
              common.warmup == 0);
    cr_assert(common.block[0] == 32 && common.block[1] == 4 && common.block[2] == 1);
    cr_assert(common.min_time_s == 0.01 && common.pageable);
    cr_assert(eq(str, (char *)mine.argument, "in.npy"));
    options_free(&common);

    common = parse(
        WORDS("-b", "all", "--check=sampled", "--seed=0", "--json", "--csv=a.csv", "-qo", "x.npy", "--", "--a", NULL),
        &mine);
    cr_assert(common.all_backends && common.backend_count == 0 && common.check == CHECK_SAMPLED && common.seed == 0);
    cr_assert(common.json && common.json_file == NULL && common.quiet);
    cr_assert(eq(str, (char *)common.csv_file, "a.csv"));
    cr_assert(eq(str, (char *)mine.output, "x.npy"));
    cr_assert(eq(str, (char *)mine.argument, "--a"));
    options_free(&common);
}

Test(options, an_option_beats_the_environment_which_beats_the_default)
{
    own mine;
    common_options common =
        parse(WORDS("FLYNN_BACKEND=serial", "FLYNN_MIN_TIME=3", "FLYNN_MODE=same", "FLYNN_PAGEABLE=1", "FLYNN_QUIET=0",
                    "FLYNN_JSON=1", "FLYNN_VARIANT=", "--min-time=5", NULL),
              &mine);
    cr_assert(eq(str, common.backends[0], "serial"));
    cr_assert(common.min_time_s == 5 && common.pageable && !common.quiet && common.json && common.json_file == NULL);
    cr_assert(eq(str, (char *)common.variant, "auto"));
    cr_assert(eq(int, mine.mode, 1));
    options_free(&common);
    common = parse(WORDS("FLYNN_BACKEND=serial", "FLYNN_JSON=a.json", "--backend=omp", "--mode=valid", NULL), &mine);
    cr_assert(eq(str, common.backends[0], "omp"));
    cr_assert(eq(str, (char *)common.json_file, "a.json"));
    cr_assert(eq(int, mine.mode, 2));
    options_free(&common);
}

static void parse_apart(void *words)
{
    own mine;
    parse(words, &mine);
}

Test(options, what_is_wrong_gets_one_line)
{
    static const struct {
        const char *words[MOST_WORDS], *message;
    } cases[] = {
        {{"--block=16y16"},
         "--block: '16y16' is not a block; expected X, XxY or XxYxZ with each at least 1, such as 16x16"},
        {{"--block=0"}, "--block: '0' is not a block"},
        {{"--block=16x0"}, "--block: '16x0' is not a block"},
        {{"--block=16x16x"}, "--block: '16x16x' is not a block"},
        {{"--block=1x1x1x1"}, "--block: '1x1x1x1' is not a block"},
        {{"--block="}, "--block: '' is not a block"},
        {{"--block=99999999999x1"}, "--block: '99999999999x1' is too large"},
        {{"--block", "--quiet"}, "--block: '--quiet' is not a block"},
        {{"FLYNN_BLOCK=16y16"}, "FLYNN_BLOCK: '16y16' is not a block"},
        {{"FLYNN_MIN_TIME=soon"}, "FLYNN_MIN_TIME: 'soon' does not fit; expected seconds"},
        {{"FLYNN_PAGEABLE=maybe"}, "FLYNN_PAGEABLE: 'maybe' is no switch; expected 0 or 1"},
        {{"FLYNN_MODE=ful"}, "FLYNN_MODE: 'ful' is not known; expected full, same or valid (the nearest is full)"},
        {{"--mode=xyz"}, "--mode: 'xyz' is not known; expected full, same or valid"},
        {{"--size=0"}, "--size: '0' does not fit; expected a whole number from 1"},
        {{"--size=-1"}, "--size: '-1' does not fit"},
        {{"--size=4096x"}, "--size: '4096x' does not fit"},
        {{"--size=9223372036854775808"}, "--size: '9223372036854775808' does not fit"},
        {{"--size="}, "--size: '' does not fit"},
        {{"--repeat=1.5"}, "--repeat: '1.5' does not fit"},
        {{"--min-time=nan"}, "--min-time: 'nan' does not fit"},
        {{"--min-time=-1"}, "--min-time: '-1' does not fit"},
        {{"--min-time=1s"}, "--min-time: '1s' does not fit"},
        {{"--dtype=f16"}, "--dtype: 'f16' is not known; expected u8, i32, i64, f32 or f64"},
        {{"--check=none"}, "--check: 'none' is not known; expected auto, full or sampled"},
        {{"--backend="}, "--backend: '' lacks a name"},
        {{"--backend=serial,,omp"}, "--backend: 'serial,,omp' lacks a name"},
        {{"--backend=all,omp"}, "--backend: 'all,omp' names all and others"},
        {{"--variant="}, "--variant: '' names no variant"},
        {{"--json="}, "--json: '' is no file name"},
        {{"--json", "--csv"}, "--csv: stdout is --json's already"},
        {{"--pagable"}, "--pagable: no such option; the nearest is --pageable"},
        {{"--backnd=omp"}, "--backnd: no such option; the nearest is --backend"},
        {{"--xyzzy"}, "--xyzzy: no such option; expected one that `flynn convolve --help` shows"},
        {{"a.npy", "--pagable", "b.npy"}, "--pagable: no such option"},
        {{"--b=omp"}, "--b: more than one option begins so; expected one of --backend, --block"},
        {{"--block"}, "--block: lacks its value; expected --block=X[xY[xZ]]"},
        {{"--bloc"}, "--block: lacks its value"},
        {{"-o"}, "-o: lacks its value; expected -o FILE"},
        {{"-qo"}, "-o: lacks its value"},
        {{"--quiet=1"}, "--quiet: '1' is one value too many; expected --quiet alone"},
        {{"-z"}, "-z: no such option; expected one that `flynn convolve --help` shows"},
        {{"-qz"}, "-z: no such option"},
        {{"-zq"}, "-z: no such option"},
        {{"a.npy", "b.npy"}, "'b.npy': one argument too many; expected [IMAGE]"},
        {{"--xy\nz"}, "--xy?z: no such option"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "flynn convolve: %s", cases[i].message);
        ended how = run_apart(parse_apart, (void *)cases[i].words);
        cr_assert(eq(int, how.exit_code, EXIT_BAD_INPUT), "%s: %d %s", expected, how.exit_code, how.err);
        cr_assert(strncmp(how.err, expected, strlen(expected)) == 0, "expected: %s\nfound: %s", expected, how.err);
        cr_assert(is_one_line(how.err), "%s", how.err);
        cr_assert(eq(str, how.out, ""));
    }
}

Test(options, help_usage_and_version)
{
    ended how = run_apart(parse_apart, (void *)WORDS("--help", NULL));
    cr_assert(eq(int, how.exit_code, 0));
    cr_assert(eq(str, how.err, ""));
    cr_assert(strstr(how.out, "Usage: flynn convolve [OPTION...] [IMAGE]\nConvolves.\n") == how.out, "%s", how.out);
    cr_assert(strstr(how.out, "-b, --backend=SPEC") != NULL && strstr(how.out, "-o, --output=FILE") != NULL &&
                  strstr(how.out, "--json[=FILE]") != NULL && strstr(how.out, "More.") != NULL,
              "%s", how.out);
    how = run_apart(parse_apart, (void *)WORDS("--usage", NULL));
    cr_assert(eq(int, how.exit_code, 0));
    cr_assert(strstr(how.out, "[--block=X[xY[xZ]]]") != NULL, "%s", how.out);
    how = run_apart(parse_apart, (void *)WORDS("--version", NULL));
    cr_assert(eq(int, how.exit_code, 0));
    cr_assert(strncmp(how.out, "flynn ", 6) == 0 && is_one_line(how.out), "%s", how.out);
}
