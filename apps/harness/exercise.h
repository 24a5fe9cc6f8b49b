/* SPDX-License-Identifier: MIT
 *
 * exercise.h - what an exercise is: one table, and the one way in which all of them are run: options, files, backends,
 * inputs, expected result, measurement, check, output.
 *
 * The functions here end the command with one line when something is wrong with a file, an option or the memory.
 */
#pragma once

#include "inputs.h"
#include "results.h"

/* In exercise_kind.distributed, besides a bit for each input. */
enum { PARTED_RESULT = 1 << MOST_INPUTS };

/* What is done for an exercise, in this order. */
typedef struct exercise_steps {
    /* The i-th input where no file is given. NULL: there are no inputs. */
    host_array (*make)(const exercise *e, int i);
    /* From the inputs: the outputs, the title, and what else must be known before the work. */
    void (*plan)(exercise *e);
    /* Queues the operation. */
    fl_status (*call)(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run);
    /* Once for all backends: e->expected. NULL: the `reference` variant's result, for an exercise without `check`. */
    void (*expect)(exercise *e);
    /* Compares one measurement's results with that, and says in `method` how. NULL: by the reference, see `ulps`. */
    compare_result (*check)(const exercise *e, const measurement *m, char *method, size_t size);
    /* Frees e->expected. NULL: nothing to free. */
    void (*release)(exercise *e);
} exercise_steps;

struct exercise_kind {
    const char *name;    /* of the command, and of the library's operation: "sort" */
    const char *summary; /* for `flynn --help` */
    const char *help;    /* for `flynn sort --help`: a sentence, then '\v' and more */

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
    bool seeds_calls;          /* --seed has an effect with files too */
    const own_option *options; /* NULL: none */
    size_t own_size;
    const void *own; /* the own options' defaults; NULL: zeros */
    bool keeps;      /* the own values begin with an integer_list, --keep: each is run, with `plan` and `expect` called
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
    bool own_methods;       /* its variants are methods that the user chooses: none replaces another */
    bool not_everywhere;    /* some backends do not have the operation `name`: they are left out */
    bool only_alone;        /* not among the exercises of compare, sweep and laws */

    bool steady; /* takes as long on its own output: short calls in place may be queued many times */
    /* It runs on several ranks (group.h), each with its share of the first dimension of the outputs and of the inputs
     * in this mask, and with all of the other inputs; PARTED_RESULT: none is shared; 0: it does not. */
    unsigned distributed;
    const char *distributed_variant; /* that several ranks take; NULL: any */
    bool counted; /* the second output is one i64: the number of leading elements of the first that are the result */
    double ulps;  /* where there is no `check`: the bound, in units in the last place of the reference's element */

    exercise_steps steps;

    /* What few exercises need; NULL elsewhere. */
    void (*settle)(exercise *e); /* refuses options that do not go together, before any work */
    void (*take)(exercise *e);   /* takes the inputs, input_count at most, otherwise than exercise_take_inputs */
    /* For `flynn taxonomy`: why a compiler may make no vectors of the operation; NULL: nothing is known. */
    const char *(*why_scalar)(const exercise *e);
    void (*add_json)(const exercise *e, const measurement *m, json_t *row); /* further keys of a result */
    /* A line about it below the table, of which `row` is a row in JSON; where several ranks run only rank 0 calls it.
     */
    void (*print)(const exercise *e, const measurement *m, const json_t *row);
    bool (*write)(const exercise *e, const result_list *results); /* other outputs; true: -o is written, too */
    int (*exit_code)(const exercise *e);                          /* where all results are right */
};

int exercise_main(const exercise_kind *kind, int argc, char **argv);

/* The shared options that the exercise takes, TAKES_... */
unsigned exercise_takes(const exercise_kind *kind);

/* For commands that call an exercise's functions themselves: its inputs for `common` and its own defaults, planned,
 * with what is expected. The first input is random, in -1..1: the course's are mostly zeros, which hide the order of
 * sums. */
void exercise_prepare(exercise *e, const exercise_kind *kind, const common_options *common);
void exercise_free(exercise *e);

/* ------------------------------------------------------------------------------------ for the exercises ---- */

/* `whole`: the shape of an array that has `rows` rows on all ranks together. `share`: the shape of this rank's part. */
void exercise_whole(int64_t rows, int ndim, const int64_t *share, int64_t *whole);
/* The same of the i-th input, whose dimensions it returns. */
int exercise_whole_input(const exercise *e, int i, int64_t whole[FL_MAX_DIMS]);

void exercise_output(exercise *e, fl_dtype dtype, int ndim, const int64_t *shape);

/* The table's first line. */
void exercise_title(exercise *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For the check of a counted output of which all `count` expected elements were compared: it must have as many, and an
 * empty one is right. */
void exercise_check_count(const measurement *m, int64_t count, compare_result *found);

/* The first backend's i-th output, if it is right; else NULL, with a note that `path` was not written. */
const host_array *exercise_right_output(const result_list *results, int i, const char *path);
