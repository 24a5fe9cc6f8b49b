/* SPDX-License-Identifier: MIT
 *
 * options.h - the command line: the options that commands share, on glibc's argp, and their twins in the environment.
 *
 * Every option --some-name of a command has a variable FLYNN_SOME_NAME; an option beats it, and it beats the default. A
 * variable set to nothing counts as not set; for an option without a value it is 0 or 1; --json and --csv, whose value
 * may be left out, take 1 for that.
 *
 * Whatever is wrong ends the command with exit code 2 and one line that names the option or variable.
 */
#ifndef FLYNN_APPS_SUPPORT_OPTIONS_H
#define FLYNN_APPS_SUPPORT_OPTIONS_H

#include <flynn/flynn.h>

#include <argp.h>

typedef enum check_choice { CHECK_AUTO = 0, CHECK_FULL = 1, CHECK_SAMPLED = 2 } check_choice;

typedef struct common_options {
    char **backends; /* as --backend names them; all_backends: none */
    int backend_count;
    bool all_backends;   /* --backend=all */
    bool has_variant;    /* what to run was chosen: "auto" given is not the same as nothing given */
    const char *variant; /* "auto" unless given */
    bool has_dtype;      /* --dtype was given */
    fl_dtype dtype;
    int64_t size; /* 0: not given */
    int block[3]; /* x, y, z; all 0: not given */
    int repeat;   /* timed passes; 0: not given, as many as min_time_s asks for */
    int warmup;
    double min_time_s;
    uint64_t seed;
    bool pageable;
    bool wrong_timing; /* also show what is measured without waiting */
    check_choice check;
    bool json, csv;                   /* asked for */
    const char *json_file, *csv_file; /* NULL: stdout */
    const char *trace_file;           /* NULL: no trace */
    bool quiet;
} common_options;

/* Which of the shared options a command takes. --quiet, --help, --usage and --version are taken by all. */
enum {
    TAKES_BACKEND = 1, /* --backend --trace */
    TAKES_WHAT = 2,    /* --variant --size --block */
    TAKES_HOW = 16,    /* --dtype --repeat --warmup --min-time --seed --pageable --wrong-timing --check */
    TAKES_RUN = TAKES_WHAT | TAKES_HOW,
    TAKES_JSON = 4, /* --json */
    TAKES_CSV = 8,  /* --csv */
};

typedef struct command_line {
    const char *name;                  /* "flynn convolve" */
    const char *arguments;             /* "[IMAGE [KERNEL]]"; NULL: the command takes none */
    const char *summary;               /* for --help: a sentence, then '\v' and more text if there is more to say */
    unsigned takes;                    /* TAKES_... */
    const struct argp_option *options; /* its own, ended by {0}; NULL: none. Keys: letters, or KEY_OWN and up */
    /* Takes the command's own options and ARGP_KEY_ARG; returns ARGP_ERR_UNKNOWN for any other key, and for an argument
     * that is one too many. Of `state` only `input` may be used. NULL: none. */
    error_t (*parse)(int key, char *value, struct argp_state *state);
    void *input; /* state->input of `parse` */
} command_line;

/* Keys of a command's own options without a letter begin here. */
enum { KEY_OWN = 0x200 };

/* Reads environment and options into `common`, which starts from the defaults, and the command's own by `parse`. Sets
 * the command's name and --quiet for fail.h. --help, --usage and --version print to stdout and exit with 0. */
void options_parse(const command_line *command, int argc, char **argv, common_options *common);

/* Frees what `common` owns. */
void options_free(common_options *common);

/* For `parse`, `option` being the long name without dashes ("mode"): the value, or the end of the command. */

/* A whole number from `least` to `most`. */
int64_t option_integer(const char *option, const char *value, int64_t least, int64_t most);
/* The place of the value in `names`; the message lists them, and the nearest one. */
int option_choice(const char *option, const char *value, const char *const *names, int count);
/* `count` numbers of at least 1 with an x between them: "64x48" as HxW. */
void option_numbers(const char *option, const char *value, int least_count, int most_count, const char *expected,
                    int64_t *numbers);
/* A block: "16x16" is {16, 16, 1}. */
void option_block(const char *option, const char *value, int *block);
/* Ends the command: "--mode: 'fulll' is ...; expected ...", or FLYNN_MODE where that is where the value is from. */
_Noreturn void option_fail(const char *option, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
