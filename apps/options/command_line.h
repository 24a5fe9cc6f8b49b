/* SPDX-License-Identifier: MIT
 *
 * command_line.h - what a command takes: shared options, its own options as a table, arguments; and their values.
 */
#pragma once

#include "values.h"

#include <stddef.h>

/* The shared options, a bit each. --quiet, --help, --usage and --version belong to every command. */
enum {
    TAKES_BACKEND = 1 << 0,
    TAKES_TRACE = 1 << 1,
    TAKES_VARIANT = 1 << 2,
    TAKES_SIZE = 1 << 3,
    TAKES_BLOCK = 1 << 4,
    TAKES_DTYPE = 1 << 5,
    TAKES_REPEAT = 1 << 6,
    TAKES_WARMUP = 1 << 7,
    TAKES_MIN_TIME = 1 << 8,
    TAKES_SEED = 1 << 9,
    TAKES_PAGEABLE = 1 << 10,
    TAKES_WRONG_TIMING = 1 << 11,
    TAKES_CHECK = 1 << 12,
    TAKES_JSON = 1 << 13,
    TAKES_CSV = 1 << 14,
    TAKES_RESULT = 1 << 15, /* --output */
    TAKES_MAX_MEMORY = 1 << 16,
    TAKES_WIDE = 1 << 17,
    TAKES_COLUMNS = 1 << 18,
    TAKES_MAX_TIME = 1 << 19,
    TAKES_FUNCTION = 1 << 20,
    TAKES_RANKS = 1 << 21,
    TAKES_PATH = 1 << 22,
    TAKES_UNTIL = 1 << 23,
    TAKES_FLUSH = 1 << 24,
    TAKES_SHOW = 1 << 25,
    TAKES_TOLERANCE = 1 << 26,
    TAKES_FILES = 1 << 27,  /* no option: the arguments are files, which the command reads */
    TAKES_BLOCKS = 1 << 28, /* no option: --block may be a list */
};

/* Under which title --help lists an option. 0: what is run, or output for a file that is written. */
enum { GROUP_WHAT = 1, GROUP_HOW, GROUP_OUTPUT, GROUP_SELDOM, GROUP_ALWAYS = -1 };

typedef enum check_choice { CHECK_AUTO = 0, CHECK_FULL = 1, CHECK_SAMPLED = 2 } check_choice;

typedef struct common_options {
    char **backends; /* as --backend names them; all_backends: none */
    int backend_count;
    bool all_backends;   /* --backend=all */
    bool has_variant;    /* "auto" given is not the same as nothing given */
    const char *variant; /* "auto" unless given; all of the text if it is a list */
    int variant_count;   /* names in it; 0: not given */
    char **variants;     /* and those names */
    bool has_dtype;
    fl_dtype dtype;
    int64_t size;                 /* 0: not given */
    int64_t max_memory;           /* bytes; 0: not given */
    int block[3];                 /* x, y, z; all 0: not given */
    int block_count;              /* blocks in the list of --block, with TAKES_BLOCKS; 0: not given */
    int blocks[MOST_INTEGERS][3]; /* and its blocks, of which `block` is the first */
    bool takes_blocks;
    int repeat; /* timed passes; 0: as many as min_time_s asks for */
    int warmup;
    double min_time_s;
    double until;         /* passes go on until the median is known to within this part of it; 0: not given */
    bool flush;           /* the last-level cache is emptied before each pass */
    double max_time_s;    /* 0: not given */
    const char *function; /* NULL: not given */
    int64_t ranks;        /* processes; 0: not given */
    const char *path;     /* between their devices; NULL: not given */
    uint64_t seed;
    bool pageable;
    bool wrong_timing; /* also time the call without waiting for its work */
    check_choice check;
    double tolerance;                 /* the error that is accepted, as fl_run.tolerance; 0: not given */
    bool json, csv;                   /* asked for */
    const char *json_file, *csv_file; /* NULL: stdout */
    const char *trace_file;           /* NULL: no trace */
    const char *output;               /* file of the result; NULL: none */
    int64_t show;        /* elements or rows of the result to print; 0: as many as fit; -1: do not print it */
    bool wide;           /* tables with all columns, however wide the terminal */
    const char *columns; /* tables with these; NULL: not given */
    bool quiet;
    unsigned given;         /* TAKES_... of the options on the command line */
    unsigned set;           /* the same, or their variables are set */
    uint64_t given_own;     /* bit i: the command's i-th own option is on the command line */
    uint64_t set_own;       /* the same, or its variable is set */
    uint64_t given_more;    /* given_own of command_line.more */
    const char **arguments; /* the words that are not options */
    int argument_count;
} common_options;

typedef enum option_type {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* const char *, not empty */
    OPTION_READ,     /* likewise: a file that the command reads */
    OPTION_WRITTEN,  /* likewise: a file that the command writes */
    OPTION_FOLDER,   /* likewise: a folder in which the command writes the files `names` */
    OPTION_STREAM,   /* a file that the command writes; the value may be left out: NULL, for stdout or the usual name */
    OPTION_CHOICE,   /* int: the place in `names` */
    OPTION_INTEGER,  /* int64_t, from `least` to `most` */
    OPTION_AMOUNT,   /* likewise; the value may be left out: 0 */
    OPTION_INTEGERS, /* integer_list: several of those, with a comma between them */
    OPTION_COUNT,    /* int, likewise */
    OPTION_REAL,     /* double, from 0 to `most` (0: without limit) */
    OPTION_NUMBERS,  /* int64_t[most]: `least` to `most` numbers of at least 1 with an x between them, then zeros */
    OPTION_CUSTOM,   /* what `parse` makes of it */
} option_type;

/* An option that only one command has. */
typedef struct own_option {
    const char *name; /* "mode"; NULL ends a table */
    option_type type;
    size_t place;             /* offset of the value in the command's own values */
    const char *value;        /* for --help: "MODE"; NULL for a flag */
    const char *help;         /* help.h */
    char letter;              /* 'o' for -o; 0: none */
    const char *also;         /* another name, which --help does not list; NULL: none */
    const char *const *names; /* OPTION_CHOICE, OPTION_FOLDER: ended by NULL; OPTION_CUSTOM: examples of a value */
    int64_t least, most;      /* of numbers */
    const char *needs;        /* another own option, without which this one has no effect */
    int group;                /* GROUP_... */
    int void_with;            /* n > 0: has no effect where the n-th argument is given */
    bool says_size;           /* --size has no effect beside this option of an exercise */
    /* OPTION_CUSTOM: reads `value` into `own`, the command's own values. */
    void (*parse)(const char *option, const char *value, void *own);
} own_option;

/* Returns whether the option may stand without its value. */
static inline bool option_has_optional_value(const own_option *o)
{
    return o->type == OPTION_STREAM || o->type == OPTION_AMOUNT;
}

typedef struct command_line {
    const char *name;          /* "flynn convolve" */
    const char *arguments;     /* "[IMAGE [KERNEL]]"; NULL: the command takes none */
    int most_arguments;        /* how many of them */
    const char *summary;       /* for --help: help.h */
    unsigned takes;            /* TAKES_... */
    const own_option *options; /* NULL: none */
    void *own;                 /* the command's own values, with their defaults */
    /* Options of an exercise that the command runs, NULL: none, and their values. The short help leaves them out. */
    const own_option *more;
    void *more_own;
    const char *number_option; /* the option that says what a number in place of a file means; NULL: it is no mistake */
    const char *const *titles; /* of the columns that --columns may name, and a NULL */
} command_line;
