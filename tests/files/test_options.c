/* SPDX-License-Identifier: MIT
 *
 * The command line: what is accepted, what beats what, and that everything else gets one line.
 */
#define _GNU_SOURCE 1
#include "support/fail.h"
#include "options/options.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 12 };

/* A command with options of its own and up to one argument. */
typedef struct own {
    const char *picture;
    int64_t zoom, shape[2];
    int mode;
} own;

static const char *const modes[] = {"full", "same", "valid", NULL};
static const own_option own_options[] = {
    {"picture", OPTION_TEXT, offsetof(own, picture), "FILE", .help = "Draw"},
    {"zoom", OPTION_INTEGER, offsetof(own, zoom), "N", .help = "Larger", .least = 1, .most = 9, .needs = "picture"},
    {"mode", OPTION_CHOICE, offsetof(own, mode), "full|same|valid", .help = "Which", .names = modes},
    {"shape", OPTION_NUMBERS, offsetof(own, shape), "HxW", .help = "How large", .least = 1, .most = 2, .void_with = 1},
    {0},
};

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
        .most_arguments = 1,
        .takes = TAKES_RUN | TAKES_JSON | TAKES_CSV | TAKES_RESULT,
        .options = own_options,
        .own = mine,
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
                    "--repeat=7", "--warmup=0", "in.npy", "--pageable", NULL),
              &mine);
    cr_assert(eq(int, common.backend_count, 3));
    cr_assert(eq(str, common.backends[1], "omp:2:v3"));
    cr_assert(eq(str, common.backends[2], "hip"));
    cr_assert(eq(str, (char *)common.variant, "tiled"));
    cr_assert(common.has_dtype && common.dtype == FL_F64 && common.size == 4096 && common.repeat == 7 &&
              common.warmup == 0);
    cr_assert(common.block[0] == 32 && common.block[1] == 4 && common.block[2] == 1);
    cr_assert(common.pageable);
    cr_assert(eq(str, (char *)common.arguments[0], "in.npy"));
    options_free(&common);

    common = parse(WORDS("-b", "all", "--check=sampled", "--seed=0", "--min-time=1e-2", "--json", "--csv=a.csv", "-qo",
                         "x.npy", "--", "--a", NULL),
                   &mine);
    cr_assert(common.all_backends && common.backend_count == 0 && common.check == CHECK_SAMPLED && common.seed == 0);
    cr_assert(common.min_time_s == 0.01 && common.json && common.json_file == NULL && common.quiet);
    cr_assert(eq(str, (char *)common.csv_file, "a.csv"));
    cr_assert(eq(str, (char *)common.output, "x.npy"));
    cr_assert(eq(str, (char *)common.arguments[0], "--a"));
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

Test(options, of_the_command_itself)
{
    own mine;
    common_options common = parse(WORDS("--picture=a.png", "--zoom=3", "--shape=7", NULL), &mine);
    cr_assert(eq(str, (char *)mine.picture, "a.png"));
    cr_assert(mine.zoom == 3 && mine.shape[0] == 7 && mine.shape[1] == 0 && mine.mode == 0);
    cr_assert(common.given == 0);
    options_free(&common);
    common = parse(WORDS("FLYNN_SHAPE=3x4", "FLYNN_ZOOM=2", "FLYNN_SEED=5", "a.npy", "--size=9", NULL), &mine);
    cr_assert(mine.shape[0] == 3 && mine.shape[1] == 4 &&
              mine.zoom == 2); /* variables without effect are not an error */
    cr_assert(common.given == TAKES_SIZE && common.seed == 5);
    options_free(&common);
}

static void parse_apart(void *words)
{
    own mine;
    parse(words, &mine);
}

Test(options, whole_numbers)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"1e6", 1000000},
                 {"1E+3", 1000},
                 {"1.5k", 1500},
                 {"2K", 2000},
                 {"16M", 16000000},
                 {"1G", 1000000000},
                 {"2T", 2000000000000},
                 {"64Ki", 65536},
                 {"64ki", 65536},
                 {"1.5Ki", 1536},
                 {"3Mi", 3145728},
                 {"1Gi", 1 << 30},
                 {"2^20", 1 << 20},
                 {"10^3", 1000},
                 {"1^9", 1},
                 {"2^62", INT64_C(1) << 62},
                 {"1000e-3", 1},
                 {"1.50e1", 15},
                 {"0.001M", 1000},
                 {"9223372036854775807", INT64_MAX},
                 {"9.223372036854775807e18", INT64_MAX}};
    static const char *const refused[] = {"0.5", "1.",    ".5",   "1e",    "1e-1", "1.5",   "0.1Ki",
                                          "2^",  "^2",    "2^63", "9e19",  "1k5",  "1kB",   "1m",
                                          "1g",  "0x8",   "1e99", "16Ti8", "2^2k", "1.5^2", "-1k",
                                          "1 k", "1,000", "e3",   "k",     "",     "8Ei",   "1e99999999999999999999"};
    own mine;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char word[64];
        snprintf(word, sizeof word, "--size=%s", cases[i].text);
        common_options common = parse(WORDS(word, NULL), &mine);
        cr_assert(eq(i64, common.size, cases[i].value), "%s is %lld", word, (long long)common.size);
        options_free(&common);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char word[64];
        snprintf(word, sizeof word, "--size=%s", refused[i]);
        ended how = run_apart(parse_apart, (void *)WORDS(word, NULL));
        cr_assert(eq(int, how.exit_code, EXIT_BAD_INPUT), "%s: %d", word, how.exit_code);
        cr_assert(is_one_line(how.err) && strstr(how.err, "--size: "), "%s", how.err);
    }
    common_options common = parse(WORDS("--block=1Kix2", "--shape=2^3x1e1", "--warmup=1k", NULL), &mine);
    cr_assert(common.block[0] == 1024 && common.block[1] == 2 && mine.shape[0] == 8 && mine.shape[1] == 10 &&
              common.warmup == 1000);
    options_free(&common);
}

Test(options, dtypes_as_other_languages_call_them)
{
    static const struct {
        const char *name;
        fl_dtype dtype;
    } cases[] = {{"float32", FL_F32}, {"float", FL_F32}, {"double", FL_F64}, {"float64", FL_F64},
                 {"int", FL_I32},     {"int32", FL_I32}, {"int64", FL_I64},  {"uint8", FL_U8}};
    own mine;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char word[64];
        snprintf(word, sizeof word, "--dtype=%s", cases[i].name);
        common_options common = parse(WORDS(word, NULL), &mine);
        cr_assert(eq(int, (int)common.dtype, (int)cases[i].dtype), "%s", word);
        options_free(&common);
    }
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
        {{"FLYNN_MIN_TIME=soon"}, "FLYNN_MIN_TIME: 'soon' is not a number from 0 to 86400"},
        {{"FLYNN_PAGEABLE=maybe"}, "FLYNN_PAGEABLE: 'maybe' is not a switch; expected 0 or 1"},
        {{"FLYNN_MODE=ful"}, "FLYNN_MODE: 'ful' is unknown; expected full, same or valid (the nearest is full)"},
        {{"--mode=xyz"}, "--mode: 'xyz' is unknown; expected full, same or valid"},
        {{"--size=0"}, "--size: '0' is out of range; expected a whole number from 1"},
        {{"--size=-1"}, "--size: '-1' is out of range"},
        {{"--size=4096x"}, "--size: '4096x' is not a whole number (example: --size=16)"},
        {{"--size=9223372036854775808"}, "--size: '9223372036854775808' is out of range"},
        {{"--size="}, "--size: '' is not a whole number"},
        {{"--repeat=1.5"}, "--repeat: '1.5' is not a whole number"},
        {{"--min-time=nan"}, "--min-time: 'nan' is not a number from 0 to 86400"},
        {{"--min-time=-1"}, "--min-time: '-1' is not a number from 0 to 86400"},
        {{"--min-time=1s"}, "--min-time: '1s' is not a number from 0 to 86400"},
        {{"--dtype=f16"}, "--dtype: 'f16' is unknown; expected u8, i32, i64, f32 or f64"},
        {{"--check=none"}, "--check: 'none' is unknown; expected auto, full or sampled"},
        {{"--backend="}, "--backend: '' has an empty name"},
        {{"--backend=serial,,omp"}, "--backend: 'serial,,omp' has an empty name"},
        {{"--backend=all,omp"}, "--backend: 'all,omp' names all and others"},
        {{"--variant="}, "--variant: the value is empty"},
        {{"--json="}, "--json: the value is empty"},
        {{"--json", "--csv"}, "--csv: --json already goes to stdout"},
        {{"--pagable"}, "--pagable: no such option; the nearest is --pageable"},
        {{"--backnd=omp"}, "--backnd: no such option; the nearest is --backend"},
        {{"--xyzzy"}, "--xyzzy: this command does not take it; expected one of --picture, --zoom,"},
        {{"a.npy", "--pagable", "b.npy"}, "--pagable: no such option"},
        {{"--b=omp"}, "--b: more than one option starts so; expected one of --backend, --block"},
        {{"--block"}, "--block: the value is missing; expected --block=X[xY[xZ]]"},
        {{"--bloc"}, "--block: the value is missing"},
        {{"-o"}, "-o: the value is missing; expected -o FILE"},
        {{"-qo"}, "-o: the value is missing"},
        {{"--quiet=1"}, "--quiet: takes no value, and '1' is given"},
        {{"--wrong-timing"}, "--wrong-timing: this command does not take it; expected one of --picture"},
        {{"--trace=a"}, "--trace: this command does not take it"},
        {{"--zoom=2"}, "--zoom: has no effect without --picture; expected --picture=FILE as well"},
        {{"--shape=2", "a.npy"}, "--shape: has no effect: 'a.npy' is given instead"},
        {{"--shape=2x3x4"}, "--shape: '2x3x4' is not HxW; expected whole numbers"},
        {{"-z"}, "-z: no such option; `flynn convolve --help` lists them"},
        {{"-qz"}, "-z: no such option"},
        {{"-zq"}, "-z: no such option"},
        {{"a.npy", "b.npy"}, "'b.npy': one argument too many; expected [IMAGE]"},
        {{"--xy\nz"}, "--xy\\nz: this command does not take it"},
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
