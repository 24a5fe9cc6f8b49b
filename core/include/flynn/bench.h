/* SPDX-License-Identifier: MIT
 *
 * bench.h - libflynn-bench: times work on devices and on the host.
 *
 *     fl_bench *bench;
 *     fl_bench_create(NULL, &bench);
 *     fl_bench_add(bench, &(fl_bench_case){"sort", device, .call = sort, .user = arrays});
 *     fl_bench_run(bench);
 *     fl_bench_table(bench, text, sizeof text);
 *
 * A case runs a first pass, from nothing (`first_s`); then passes that warm up, untimed; then timed passes. On a device
 * with its own memory a timed pass runs twice: once between events of the device, which separate copies in, kernel and
 * copies out, and once by the host's clock from start to end (`total`). A kernel shorter than 200 us is queued several
 * times between two events, and its time is the mean. Where a delay makes the kernel longer than the whole, such a pass
 * runs again, three times at most. In host memory, and on an emulation, one pass gives both: `total` is the clock's
 * time of the pass, `kernel` the part of it inside `call`. A call shorter than 10 us, too short for the clock, is
 * repeated within the pass; then `kernel` is the mean, and `total` counts it once. Several cases take turns, so that a
 * machine that slows down meanwhile slows all of them down. Unless the plan says how many passes to take, a case whose
 * first pass takes longer than 1 s has one timed pass; longer than 10 s: the first pass is its only sample.
 *
 * The conventions of flynn.h hold: nothing here prints or ends the process, and a function that can fail returns
 * fl_status and leaves a message for fl_last_error(). One thread at a time uses a bench. Between the first pass and the
 * last one the library allocates nothing.
 *
 * The structs of this header grow at their end. Each function that takes one is an inline function here, which passes
 * the size that the struct had when the program was compiled: a newer library takes the missing members as 0 and fills
 * no more than the program has room for; an older library refuses members that it does not know unless they are 0
 * (FL_E_UNSUPPORTED). 0 is the default everywhere. Other languages call the functions named ..._sized.
 */
#ifndef FLYNN_BENCH_H
#define FLYNN_BENCH_H

#include <flynn/flynn.h>

/* A struct must not end in padding: a new member could lie in bytes that an old program never set. */
#ifdef __cplusplus
#define FL_BENCH_WHOLE(type, last) \
    static_assert(offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type), #type " ends in padding")
extern "C" {
#else
#define FL_BENCH_WHOLE(type, last) \
    _Static_assert(offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type), #type " ends in padding")
#endif

typedef struct fl_bench fl_bench;

/* ------------------------------------------------------------------------------------------------- plan ---- */

typedef enum fl_bench_phase { FL_BENCH_FIRST = 0, FL_BENCH_WARM_UP = 1, FL_BENCH_TIMED = 2 } fl_bench_phase;

/* The pass that comes next. The library fills this struct and may add members. */
typedef struct fl_bench_step {
    const char *name, *resource; /* of the case; "host" where it has no device */
    fl_bench_phase phase;
    int pass;    /* 1, 2 ... within the phase */
    int passes;  /* fl_bench_plan.repeat; 0: not known */
    int unused;  /* 0 */
    double done; /* the part of the case's timed passes that is done, 0 to 1, as far as it is known */
} fl_bench_step;
FL_BENCH_WHOLE(fl_bench_step, done);

/* Several processes that time the same work in step (libflynn-dist): a pass starts when all are ready, its time is that
 * of the slowest process, and one process decides for all whether another pass follows. Callbacks of cases must return
 * the same status in all processes. */
typedef struct fl_bench_team {
    fl_status (*wait)(void *user);                  /* waits until all processes call it */
    fl_status (*most)(void *user, double *seconds); /* replaces the time by that of the slowest process */
    fl_status (*decides)(void *user, bool *more);   /* replaces the answer by that of one process */
    void *user;
} fl_bench_team;
FL_BENCH_WHOLE(fl_bench_team, user);

typedef struct fl_bench_plan {
    int repeat;        /* timed passes; 0: as many as min_time_s and precision ask for, from `fewest` to 1000 */
    int fewest;        /* 0: 3 */
    int warmup;        /* 0: one pass; -1: none */
    int rounds;        /* in which several cases take turns; 0: 4; 1: each case from its first pass to its last */
    double min_time_s; /* of the timed passes of a case; 0: 0.2 */
    double max_time_s; /* of the whole run, which then ends with the samples it has; 0: no limit */
    double precision;  /* passes go on until the 95 % interval of the median, of `kernel` and of `total`, lies within
                        * this part of the median (0.02: 2 %); at most 100 times min_time_s and 10000 passes; 0: off */
    double batch_s;    /* short kernels are queued until they take this long between two events; 0: 1 ms */
    bool time_call;    /* also time the call alone, without waiting for the work, which a wrong clock would show */
    bool flush;        /* empty the last-level cache before each pass: the device increments an array larger than its
                        * cache; on a host function's behalf one thread walks such memory. Kernels are then not queued
                        * several times, because only the first one would find the cache empty */
    /* Called before each pass; false ends the run with the samples it has. NULL: the run goes on. */
    bool (*step)(void *user, const fl_bench_step *step);
    void *user;
} fl_bench_plan;
FL_BENCH_WHOLE(fl_bench_plan, user);

/* ------------------------------------------------------------------------------------------------- case ---- */

/* The clocks that time a case on a device with its own memory. In host memory and on an emulation one pass gives both
 * times. */
typedef enum fl_bench_clock { FL_BENCH_BOTH = 0, FL_BENCH_EVENTS = 1, FL_BENCH_HOST = 2 } fl_bench_clock;

/* Work that is timed. Only `call` is required. A callback returns the status of its work; any status but FL_OK ends the
 * case and, unless the case is optional and it is its first pass, the run. */
typedef struct fl_bench_case {
    const char *name;    /* "sort" */
    fl_device *device;   /* stays the caller's; NULL: `call` is a function of the host, and streams are NULL */
    const char *variant; /* in the fl_run of `call`; NULL: auto */
    int block[3];
    fl_bench_clock by; /* one clock alone needs half of the passes */
    /* Queues the work in run->stream. Where it passes `run` on to an operation of libflynn, the operation reports
     * variant, block, bytes and flops. In the first pass run->timing is not NULL. */
    fl_status (*call)(void *user, const fl_run *run);
    fl_status (*copy_in)(void *user, fl_stream *stream);  /* queues the copies to the device of a pass */
    fl_status (*copy_out)(void *user, fl_stream *stream); /* queues the copies to the host of a pass */
    /* Not called between events: after `call`, what must be known before copy_out (it may wait); and, after the
     * device's work, the host's part of the work. */
    fl_status (*between)(void *user, fl_stream *stream);
    fl_status (*finish)(void *user, fl_stream *stream);
    /* Untimed, except `begin`, which belongs to the first pass. */
    fl_status (*prepare)(void *user, fl_stream *stream);     /* before the first pass */
    fl_status (*begin)(void *user, fl_stream *stream);       /* creates what the work needs */
    fl_status (*after_first)(void *user, fl_stream *stream); /* overwrites results, so that timed passes compute them */
    fl_status (*restore)(void *user, fl_stream *stream);     /* before each pass but the first */
    fl_status (*after_pass)(void *user, fl_stream *stream);  /* after the first pass and each one by the host's clock */
    fl_status (*end)(void *user, fl_stream *stream);         /* after the last pass, whose results exist now */
    /* Receives a sample of this process's kernel time: `launches` kernels took `seconds` each. */
    fl_status (*took)(void *user, double seconds, int launches);
    fl_status (*check)(void *user, bool *right); /* after `end`: whether the last pass's result is right */
    void *user;
    double bytes, flops; /* of the work, where `call` does not report them; 0: unknown */
    int launches;        /* of `call` between two events, or in a pass in host memory; 0: as batch_s asks for */
    bool alone;          /* `call` needs `restore` before it: it is never queued several times */
    bool optional;       /* if its first pass fails (but for FL_E_MEMORY and FL_E_DEVICE), the other cases go on */
    bool unused[2];      /* false */
} fl_bench_case;
FL_BENCH_WHOLE(fl_bench_case, unused);

/* Copies the plan (NULL: all defaults). What it points to must stay valid. FL_E_ARGUMENT (a value out of range),
 * FL_E_UNSUPPORTED, FL_E_MEMORY. */
FL_API fl_status fl_bench_create_sized(const fl_bench_plan *plan, size_t size, fl_bench **bench);
/* Copies the team, before fl_bench_run. */
FL_API fl_status fl_bench_join_sized(fl_bench *bench, const fl_bench_team *team, size_t size);
/* Copies the case and its name. What else it points to must stay valid. */
FL_API fl_status fl_bench_add_sized(fl_bench *bench, const fl_bench_case *work, size_t size);

static inline fl_status fl_bench_create(const fl_bench_plan *plan, fl_bench **bench)
{
    return fl_bench_create_sized(plan, sizeof *plan, bench);
}
static inline fl_status fl_bench_join(fl_bench *bench, const fl_bench_team *team)
{
    return fl_bench_join_sized(bench, team, sizeof *team);
}
/* Adds a case. Cases are numbered from 0 in the order of these calls. */
static inline fl_status fl_bench_add(fl_bench *bench, const fl_bench_case *work)
{
    return fl_bench_add_sized(bench, work, sizeof *work);
}

/* The usual case: arrays of the host, which a pass copies to the device, works on there, and copies back. The library
 * creates the device's arrays in the first pass, copies through pinned memory, and overwrites results (all bits set)
 * before the timed passes. Where the device computes in host memory, no pass copies. An array with `from` and `to` is
 * restored before each pass, and its call runs once in a pass. */
typedef struct fl_bench_array {
    fl_dtype dtype;
    int ndim;
    int64_t shape[FL_MAX_DIMS];
    const void *from; /* host memory: the array's contents before a pass; NULL: undefined */
    void *to;         /* host memory: receives the array's contents after the last pass, and must not be `from`; NULL:
                       * the array is not copied back */
} fl_bench_array;
FL_BENCH_WHOLE(fl_bench_array, to);

typedef struct fl_bench_call {
    const char *name;
    fl_device *device; /* NULL: `call` is a function of the host; it gets NULL for `arrays`, reads the caller's memory
                        * at `from` and must write at `to` */
    const char *variant;
    int block[3];
    int count; /* of arrays; at most FL_MAX_PARAMETERS */
    fl_status (*call)(void *user, fl_array *const *arrays, const fl_run *run);
    void *user;
    const fl_bench_array *arrays;                /* of the device */
    fl_status (*check)(void *user, bool *right); /* as fl_bench_case.check */
    double bytes, flops;                         /* as in fl_bench_case */
    bool pageable;                               /* the host's side of copies is ordinary memory */
    bool optional;                               /* as fl_bench_case.optional */
    bool unused[6];                              /* false */
} fl_bench_call;
FL_BENCH_WHOLE(fl_bench_call, unused);

/* Copies the call, its name and its arrays. The arrays' host memory must stay valid. */
FL_API fl_status fl_bench_add_call_sized(fl_bench *bench, const fl_bench_call *work, size_t size, size_t array_size);
static inline fl_status fl_bench_add_call(fl_bench *bench, const fl_bench_call *work)
{
    return fl_bench_add_call_sized(bench, work, sizeof *work, sizeof(fl_bench_array));
}

/* Runs all cases, once for each bench. Returns the status of the first case that failed without being optional, which
 * ends the run; results of what ran exist then, too. */
FL_API fl_status fl_bench_run(fl_bench *bench);
/* Frees the bench and what it created on devices. */
FL_API void fl_bench_free(fl_bench *bench);

/* ---------------------------------------------------------------------------------------------- results ---- */

/* A quantity of which each pass gives a sample. COPY_IN, KERNEL, COPY_OUT: between events of the device, or in host
 * memory by the host's clock; TOTAL, FINISH, CALL, BETWEEN: by the host's clock. BETWEEN and FINISH are sampled only
 * where the case has that callback, CALL only with fl_bench_plan.time_call. */
typedef enum fl_bench_quantity {
    FL_BENCH_COPY_IN = 0,
    FL_BENCH_KERNEL = 1,
    FL_BENCH_COPY_OUT = 2,
    FL_BENCH_TOTAL = 3,
    FL_BENCH_FINISH = 4,
    FL_BENCH_CALL = 5,
    FL_BENCH_BETWEEN = 6,
} fl_bench_quantity;

/* Statistics of a list of times, in seconds; NaN for an empty list. */
typedef struct fl_bench_statistics {
    int count;
    double median, minimum, maximum, first_quartile, third_quartile; /* quartiles as NumPy interpolates them */
    double low, high; /* the interval that holds the median of all passes with 95 %, whatever their distribution:
                       * samples of rank n/2 -+ 0.98 sqrt(n). NaN below six samples, which give no such interval */
} fl_bench_statistics;
FL_BENCH_WHOLE(fl_bench_statistics, high);

/* Statistics of any list of finite times. FL_E_ARGUMENT, FL_E_MEMORY. */
FL_API fl_status fl_bench_statistics_sized(const double *seconds, int count, fl_bench_statistics *found, size_t size);
static inline fl_status fl_bench_statistics_of(const double *seconds, int count, fl_bench_statistics *found)
{
    return fl_bench_statistics_sized(seconds, count, found, sizeof *found);
}

typedef struct fl_bench_result {
    const char *name;
    const char *resource;   /* "omp:2:v3"; "host" for a function of the host */
    const char *message;    /* why the case was left out, or failed, or has no timed pass; "" */
    const char *disturbed;  /* what disturbed the timed passes: preemptions, waiting for a processor, other virtual
                             * machines or load; on a GPU throttling, or a kernel that is longer than the whole. "":
                             * nothing was found */
    const fl_timing *first; /* of the first pass: variant, block, bytes, flops */
    fl_status status;       /* FL_OK, or why the case was left out or failed */
    int passes, launches;   /* timed passes; calls between two events, or in a pass in host memory */
    bool first_counts;      /* the first pass took so long, or the run ended so early, that it is the only sample */
    bool checked, right;    /* by fl_bench_case.check */
    bool unused;            /* false */
    double first_s;         /* from nothing to the end of the first pass */
    double copy_in_s, kernel_s, copy_out_s, total_s; /* medians; NaN: no sample */
    /* Counted during the timed passes: how often a second another program or thread took the processor from each thread
     * that ran (0 in a team, whose processes give it away while they wait), the part of the processors' time that other
     * virtual machines had, and how many programs wanted each processor. */
    double switches_per_s, stolen, load;
    /* From NVML or rocm-smi, if the device is a GPU and the library can be loaded, else NaN. `throttled`: 1 if the GPU
     * lowered its clock for power or heat, else 0; NaN on AMD's GPUs, whose library reports no cause. */
    double throttled, clock_low, clock_high; /* clocks in MHz */
    /* Likewise: the highest temperature in degrees Celsius, and how many other processes computed on the GPU, as far as
     * this process may see them; NaN on AMD's GPUs. */
    double temperature, other_processes;
} fl_bench_result;
FL_BENCH_WHOLE(fl_bench_result, other_processes);

/* What NVML or rocm-smi report of a GPU at this moment, as in fl_bench_result. */
typedef struct fl_bench_gpu {
    double clock, temperature; /* in MHz, in degrees Celsius */
    double throttled, other_processes;
} fl_bench_gpu;
FL_BENCH_WHOLE(fl_bench_gpu, other_processes);

/* Asks once; all is NaN where the device is no GPU, an emulation, or the library cannot be loaded. FL_E_ARGUMENT. */
FL_API fl_status fl_bench_gpu_sized(const fl_device *device, fl_bench_gpu *found, size_t size);
static inline fl_status fl_bench_gpu_get(const fl_device *device, fl_bench_gpu *found)
{
    return fl_bench_gpu_sized(device, found, sizeof *found);
}

/* The number of cases; 0 for NULL. */
FL_API size_t fl_bench_count(const fl_bench *bench);
/* The result of the i-th case. Strings and samples are valid until fl_bench_free. FL_E_ARGUMENT. */
FL_API fl_status fl_bench_result_sized(const fl_bench *bench, size_t i, fl_bench_result *result, size_t size);
static inline fl_status fl_bench_result_get(const fl_bench *bench, size_t i, fl_bench_result *result)
{
    return fl_bench_result_sized(bench, i, result, sizeof *result);
}
/* The samples of one quantity in the order of the passes; a count of 0 where there are none. FL_E_ARGUMENT. */
FL_API fl_status fl_bench_samples(const fl_bench *bench, size_t i, fl_bench_quantity quantity, const double **seconds,
                                  int *count);

/* All results as a table of text; the i-th result as a JSON object, a row (`timed`) of the schema flynn/2. Both write
 * at most `size` bytes, with the final NUL, and return the length of the whole text without it. */
FL_API size_t fl_bench_table(const fl_bench *bench, char *text, size_t size);
FL_API size_t fl_bench_json(const fl_bench *bench, size_t i, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
