/* SPDX-License-Identifier: MIT
 *
 * kind.h - what an exercise is: one table of what it has and does. What is run, measured and shown of it.
 */
#pragma once

#include "backends.h"
#include "watch.h"

#include "display/verdict.h"
#include "files/async_output.h"
#include "ranks/group.h"
#include "support/host_array.h"

#include <flynn/flynn.h>
#include <jansson.h>

enum { MOST_INPUTS = FL_MAX_INPUTS, MOST_OUTPUTS = FL_MAX_PARAMETERS };

/* The times of one quantity, in the order in which they were taken. */
typedef struct samples {
    double *s;
    int count;
} samples;

typedef struct output_spec {
    fl_dtype dtype;
    int ndim;
    int64_t shape[FL_MAX_DIMS];
} output_spec;

typedef struct measurement measurement;
typedef struct exercise_kind exercise_kind;

/* One exercise with its inputs: what is run, from host memory to host memory. */
typedef struct exercise {
    const exercise_kind *kind;
    common_options common;
    void *own;                    /* the values of the kind's own options */
    int64_t keep;                 /* singular values, one of --keep; 0: not given */
    const backend_list *backends; /* NULL where exercise_prepare made it */
    const char *word;             /* the first argument, if exercise_kind.first_is_text */
    char title[400];              /* the table's first line */
    int input_count;
    host_array inputs[MOST_INPUTS];
    bool numbers; /* all inputs were given as numbers */
    int output_count;
    output_spec outputs[MOST_OUTPUTS]; /* table and JSON describe the first */
    bool in_place; /* the first output is the first input, which is filled anew before it is timed */
    bool once;     /* the result is wanted and no measurement: one pass, in the memory that the files are read into */
    /* Initial contents of a user kernel's outputs, restored (untimed) before each pass so that every pass computes the
     * same; NULL: outputs are undefined before. `guarded`: see watch.h. */
    const host_array *begins;
    bool guarded;
    bool uncounted;                               /* nothing says how many operations it does */
    unsigned distributed;                         /* inputs of which each rank has its share: a bit 1 << i for each */
    int64_t input_rows[MOST_INPUTS], output_rows; /* the first dimension of inputs and first output, of all ranks */
    void *expected;                               /* what results are compared with; the kind's */
} exercise;

/* The work of one of several ranks, in medians of its passes. */
typedef struct rank_facts {
    char host[64], resource[48];
    int64_t first, share;            /* of the first output's first dimension */
    double kernel_s, link_s, wait_s; /* by the clock of this rank; kernel_s contains link_s and wait_s */
    double link_bytes;               /* to other ranks in a pass */
} rank_facts;

/* The times and results of an exercise on a backend. Free with measurement_free. */
struct measurement {
    const char *requested; /* the backend as the user named it */
    fl_device_info device;
    fl_timing timing; /* of the first pass: block, bytes, flops; kernel_s is the median of `kernel` */
    char variant[64]; /* to which timing.variant points */
    double cold_s;    /* the first pass from host arrays to host arrays: allocations, module load and all */
    samples h2d, kernel, d2h, total;
    samples call;                     /* until the call returned; none unless wrong_timing */
    host_array results[MOST_OUTPUTS]; /* as many as the exercise has outputs; the first is cut to its count */
    char disturbed[200];              /* what disturbed the timed passes; "": nothing was found */
    bool first_counts;                /* only the first pass was timed: it is a sample of kernel and total */
    bool tuned;                       /* a saved sweep found variant and block */
    watched watched;                  /* where exercise.begins is not NULL */
    samples own, link, wait;          /* of several ranks: this one's kernel, and the exchanges and waits within it */
    fl_group_timing cost;             /* of this rank's last pass */
    rank_facts *ranks;                /* of each rank; NULL: there is one */
    compare_result check;
    differences wrong;      /* the elements of the first result that are wrong */
    char check_method[512]; /* may hold a file's path */
};

/* An input: a file, or what `make` makes. */
typedef struct input_kind {
    const char *role; /* for messages: "image" */
    int least_ndim, most_ndim;
    bool may_be_empty;
} input_kind;

enum {
    DTYPES_FLOAT = 1u << FL_F32 | 1u << FL_F64,
    DTYPES_SIGNED = DTYPES_FLOAT | 1u << FL_I32 | 1u << FL_I64,
    DTYPES_ALL = DTYPES_SIGNED | 1u << FL_U8,
};

typedef struct result_list {
    const common_options *common;
    const backend_list *backends;
    int count;
    measurement *list;
    json_t *rows;         /* in JSON, of the measurements that results_add_rows was given */
    async_output *output; /* the file of -o, which is written while the result is checked; NULL: it is not */
} result_list;

/* A bit of exercise_kind.distributed, besides a bit for each input. */
enum { PARTED_RESULT = 1 << MOST_INPUTS };

/* The steps of an exercise, in this order. */
typedef struct exercise_steps {
    /* The i-th input where no file is given. NULL: there are no inputs. */
    host_array (*make)(const exercise *e, int i);
    /* Plans, from the inputs, the outputs, the title, and what else must be known before the work. */
    void (*plan)(exercise *e);
    /* Queues the operation. */
    fl_status (*call)(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run);
    /* Called once for all backends: computes e->expected. NULL: the `reference` variant's result, for an exercise
     * without `check`. */
    void (*expect)(exercise *e);
    /* Compares one measurement's results with that, and says in `method` how. NULL: by the reference, see `ulps`. */
    compare_result (*check)(const exercise *e, const measurement *m, char *method, size_t size);
    /* Frees e->expected. NULL: nothing to free. */
    void (*release)(exercise *e);
} exercise_steps;

struct exercise_kind {
    const char *name;      /* the command's name: "sort" */
    const char *operation; /* the library's operation that a backend must have; NULL: that of the same name */
    const char *summary;   /* for `flynn --help` */
    const char *help;      /* for `flynn sort --help`: a sentence, then '\v' and more */

    const char *arguments; /* "[IMAGE [KERNEL]]"; NULL: the exercise has no inputs */
    int input_count;
    input_kind inputs[MOST_INPUTS];
    int least_files;      /* no files, or at least this many */
    int most_words;       /* arguments that are none of inputs, too; 0: input_count */
    bool flat;            /* files become vectors, row by row */
    bool takes_function;  /* --function */
    bool first_is_text;   /* the first argument is not a file: it goes to exercise.word */
    bool numbers;         /* an argument may be a number, which stands for an array of it */
    unsigned dtypes;      /* a bit 1 << FL_... for each that --dtype may name */
    unsigned file_dtypes; /* and that files may have; 0: all */

    unsigned lacks;            /* TAKES_...: shared options without effect for it */
    bool tolerates;            /* --tolerance, which variants differ in, or may do so */
    bool seeds_calls;          /* --seed has an effect with files too */
    const own_option *options; /* NULL: none */
    size_t own_size;
    const void *own; /* the own options' defaults; NULL: zeros */
    bool keeps;      /* the own values start with an integer_list, --keep: each is run, with `plan` and `expect` called
                        again, which then keep or replace what they made before */

    const char *made;        /* what is made where no file is given: "the course's image" */
    int64_t size, largest;   /* of --size: the course's, and the largest; 0: no limit */
    const char *size_option; /* the option that says the size; NULL: "size" */

    struct {
        int64_t size;       /* large enough for many threads */
        int power;          /* the work grows with the size to this power */
        const char *option; /* where no variant is named; NULL: none */
    } laws;                 /* for `flynn laws` */
    int64_t taxonomy_size;  /* for `flynn taxonomy`; 0: not among its exercises */
    bool ordered;           /* its first input is sorted: random numbers cannot take its place */
    bool own_methods;       /* its variants are methods that the user chooses: none replaces another */
    bool scalar_library; /* its variant `library` on one core is scalar code: no library that chooses vectors itself */
    const char *calls_library; /* a variant besides `library` that calls such a library where it is; NULL: none */
    bool of_input;             /* the library's variants are for a dtype of the first input, not of the first output */
    bool only_alone;           /* not among the exercises of compare, sweep and laws */

    bool own_output;   /* -o is not the first output of the operation */
    bool spends_input; /* `expect` takes from the first input all that the check needs of it: with exercise.once the
                        * operation may overwrite it */
    bool steady;       /* takes as long on its own output: short calls in place may be queued many times */
    /* It runs on several ranks (group.h), each with its share of the first dimension of the outputs and of the inputs
     * in this mask, and with all of the other inputs; PARTED_RESULT: none is shared; 0: it does not. */
    unsigned distributed;
    const char *distributed_variant; /* that several ranks take; NULL: any */
    bool counted; /* a second output is one i64: the number of leading elements of the first that are the result */
    double ulps;  /* where there is no `check`: the bound, in units in the last place of the reference's element */

    exercise_steps steps;

    /* Members that few exercises need; NULL elsewhere. */
    /* Called when the command line is read: replaces the process by another command where that one does what is asked
     * for. Such an exercise gets lists in --block (TAKES_BLOCKS). */
    void (*hand_over)(const exercise *e, char **argv);
    /* The variant that auto is on one core without vectors; NULL: the device's own auto. Called after `plan`. */
    const char *(*scalar)(const exercise *e);
    void (*settle)(exercise *e); /* refuses options that do not go together, before any work */
    /* Takes the inputs, input_count at most, otherwise than exercise_take_inputs, which takes as many as
     * exercise.input_count says if it is not 0. */
    void (*take)(exercise *e);
    /* Called after the first pass: takes what the device found in it. */
    void (*watched)(const exercise *e, fl_device *device, watched *found);
    /* For `flynn taxonomy`: why a compiler may make no vectors of the operation; NULL: nothing is known. */
    const char *(*why_scalar)(const exercise *e);
    /* The user's own text, and what else is compiled or launched with it: a choice that `flynn sweep --save` kept holds
     * for equal ones. null: no kept choice can be used. NULL: the exercise has no such text. */
    json_t *(*text)(const exercise *e);
    void (*add_json)(const exercise *e, const measurement *m, json_t *row); /* further keys of a result */
    /* A line about it below the table, of which `row` is a row in JSON; where several ranks run only rank 0 calls it.
     */
    void (*print)(const exercise *e, const measurement *m, const json_t *row);
    void (*write)(const exercise *e, const result_list *results); /* other outputs; with `own_output` that of -o, too */
    int (*exit_code)(const exercise *e);                          /* where all results are right */
};
