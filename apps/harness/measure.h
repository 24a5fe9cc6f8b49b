/* SPDX-License-Identifier: MIT
 *
 * measure.h - runs one exercise on one open device, and times its parts.
 */
#pragma once

#include "backends.h"
#include "disturbance.h"
#include "group.h"
#include "verdict.h"
#include "watch.h"

#include "support/host_array.h"

#include <flynn/flynn.h>
#include <jansson.h>

enum { MOST_INPUTS = FL_MAX_INPUTS, MOST_OUTPUTS = 3 };

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
    /* A kernel of the user's: what its outputs begin with, to which they are put back before each pass, untimed, so
     * that passes have the same result; NULL: outputs are undefined before. `guarded`: see watch.h. */
    const host_array *begins;
    bool guarded;
    unsigned distributed;                              /* inputs of which each rank has its share: a bit 1 << i for each */
    int64_t input_rows[MOST_INPUTS], output_rows; /* the first dimension of inputs and first output, of all ranks */
    void *expected;                               /* what results are compared with; the kind's */
} exercise;

typedef struct measure_plan {
    const char *variant; /* NULL: auto */
    int block[3];
    bool optional; /* one of a list of variants: left out, with a remark, where it cannot run */
    bool tuned;    /* variant and block are a saved sweep's: where they cannot run, auto does */
    int repeat;    /* timed passes of each kind; 0: as many as min_time_s asks for */
    int warmup;    /* passes between the cold one and the timed ones */
    double min_time_s;
    bool pageable;     /* host arrays are ordinary memory instead of pinned */
    bool wrong_timing; /* also time the call alone, without waiting for the work */
} measure_plan;

/* The times of one quantity, in the order in which they were taken. */
typedef struct samples {
    double *s;
    int count;
} samples;

/* What one of several ranks did, in medians of its passes. */
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
    fl_timing timing; /* of the cold pass: variant, block, bytes, flops; kernel_s is the median of `kernel` */
    double cold_s;    /* the first pass from host arrays to host arrays: allocations, module load and all */
    samples h2d, kernel, d2h, total;
    samples call;                     /* until the call returned; none unless wrong_timing */
    host_array results[MOST_OUTPUTS]; /* as many as the exercise has outputs; the first is cut to its count */
    disturbance disturbed;            /* while it was timed */
    bool first_counts;                /* only the first pass was timed: it is a sample of kernel and total */
    bool tuned;                       /* a saved sweep found variant and block */
    watched watched;                  /* where exercise.begins is not NULL */
    samples own, link, wait;          /* of several ranks: this one's kernel, and the exchanges and waits within it */
    fl_group_timing cost;             /* of this rank's last pass */
    rank_facts *ranks;                /* of each rank; NULL: there is one */
    compare_result check;
    char check_method[96];
};

/* Elements of an output. */
int64_t output_size(const output_spec *o);

/* How large the work is: the elements of its largest array. */
int64_t exercise_elements(const exercise *e);

/* Runs the exercise on the device: one cold pass, the warm-ups, then timed passes. Between the cold pass and the others
 * the outputs are overwritten with NaN (all bits set), or for an exercise in place with the input, so that the result
 * that is checked was made by a timed pass.
 *
 * kernel, h2d and d2h are taken between events of the device; a kernel that is over in less than 200 us is queued
 * several times between two events, and a sample is the mean of those. total is taken by the wall clock, from host
 * arrays to host arrays. Where arrays lie in host memory anyway there are no copies: h2d and d2h are 0. Of a counted
 * result only what counts is copied back. Ends the command (fail) when the library fails.
 *
 * It is done in steps, so that several backends can take turns and what changes on the machine meanwhile meets all of
 * them. `plan` and `e` must stay. */
typedef struct measuring measuring;
/* All up to the warm-ups. NULL: the plan is optional and cannot run. */
measuring *measure_start(const exercise *e, const measure_plan *plan, const char *requested, fl_device *device);
/* Runs one part in `rounds` of the timed passes. Are there more to run? */
bool measure_round(measuring *m, int rounds);
/* Fetches the results and frees `m`. */
measurement measure_end(measuring *m);

void measurement_free(measurement *m);

void samples_add(samples *list, double seconds);
/* Is another pass wanted after `count` passes that took `spent` seconds? */
bool measure_more(const measure_plan *plan, int count, double spent);
