/* SPDX-License-Identifier: MIT
 *
 * plugin.h - the interface between core and a plugin, for authors of plugins.
 *
 * A plugin is a shared object `flynn-<name>.so` with one exported symbol, `const fl_plugin flynn_plugin`. Core reads
 * it from the file first, and loads the plugin only if `abi` and `size` fit and if one of the files in `needs` exists.
 * `probe` reports the devices of this machine; `open` returns a device: a table of functions and a table of rows
 * {operation, variant, dtypes, plan, run}. A new operation or variant is a new row.
 *
 * Core checks every argument before it calls a plugin: a plugin never validates, prints, exits or aborts. A loaded
 * plugin is never unloaded. It runs no device code before `open`. Its functions may be called from several threads, but
 * those of one stream from one thread at a time.
 *
 * Versions: FL_PLUGIN_ABI changes when an existing field changes its meaning or a struct without `size` changes. Fields
 * are only appended; `size` (sizeof when the plugin was compiled) says which ones the plugin has.
 *   1: the first version.
 *   2: fl_host.enter and leave in place of lock and unlock.
 *   3: fl_row.restricted.
 *   4: fl_row.available, fl_device_api.prepare_thread, fl_device_info.remark. Core checks the fields of fl_plugin, of
 *      the probe and of the opened device, and refuses a plugin whose fields do not fit.
 *   5: fl_device_info.max_grid_threads.
 *   6: fl_device_info.bus_id, fl_primes_args.first.
 *   7: fl_run and fl_timing have reserved members, fl_probe is the last member of fl_backend_info.
 *   8: fl_primes_args.out may have no memory; fl_launch.tolerance, fl_row.bound, fl_host.bound.
 */
#ifndef FLYNN_PLUGIN_H
#define FLYNN_PLUGIN_H

#include <flynn/flynn.h>
#include <flynn/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FL_PLUGIN_ABI 8

/* ----------------------------------------------------------------------------- what core gives a plugin ---- */

typedef struct fl_host fl_host;

/* Compiled code, or the place for it. */
typedef struct fl_cache_entry {
    bool found;       /* `path` has the code; else it is an empty file to write it to, or to replace */
    bool temporary;   /* the file is in a new folder in $TMPDIR, and cannot be kept */
    char path[4096];  /* absolute */
    int64_t bytes;    /* of the code, with which the file begins, if it was found; the key follows */
    char remark[256]; /* why the code cannot be kept, with a fix; "" if it can be, or if it shall not be */
} fl_cache_entry;

/* The device and stream of a call. */
typedef struct fl_context {
    const fl_host *host;
    void *device; /* the plugin's: fl_plugin_device.self */
    void *stream; /* the plugin's, from stream_create; NULL if the device has no such function */
    void *pool;   /* core's: the memory that fl_host.scratch returns */
} fl_context;

struct fl_host {
    uint32_t size;
    /* Stores the message for fl_last_error and returns `status`: `return host->error(FL_E_DEVICE, "...", ...);`. */
    fl_status (*error)(fl_status status, const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
        __attribute__((format(printf, 2, 3)))
#endif
        ;
    /* Device memory (aligned to 256 bytes) for the work that the row queues in this call. Core frees it in the order of
     * the stream, after the row returned. May be called several times. */
    fl_status (*scratch)(const fl_context *context, size_t bytes, void **memory);
    /* Called before and after calls of a library that has a setting of the whole process, such as a BLAS's number of
     * threads, which all plugins and threads share: between the two, `get` returns `value`. Callers with the same value
     * and `set` are inside together, unless one of them asks to be alone (not 0); other callers wait in the order of
     * their calls. The first to enter sets the number if it differs, the last to leave restores it; get and set are
     * never called by two threads at once. A caller that is inside calls no function of this table. */
    void (*enter)(int32_t value, int32_t alone, int (*get)(void), void (*set)(int));
    void (*leave)(void);
    /* The user's cache of compiled code. `key` is everything that decides the code: its text, the compiler and its
     * arguments. After FL_OK the entry has the code (found), or an empty file for it, which ends with cache_keep or
     * cache_drop. FL_E_UNAVAILABLE: this process compiles nothing, or no folder is safe; FL_E_MEMORY. */
    fl_status (*cache_find)(const void *key, size_t size, fl_cache_entry *entry);
    /* Keeps what was written to entry->path. False: it could not be kept, and the file is removed. */
    bool (*cache_keep)(const void *key, size_t size, fl_cache_entry *entry);
    /* Removes the file: code that does not load, or was not written to its end. */
    void (*cache_drop)(fl_cache_entry *entry);
    /* The least tolerance that a variant of the operation takes for these arguments where its row has no `bound`. */
    double (*bound)(fl_operation operation, const char *variant, const void *args);
};

/* A function of the user's, for fl_device_api.compile: C, whose signature core has read; or a kernel in HIP's dialect
 * of C++. The plugin compiles it as the file FL_SOURCE_NAME (by #line), so that core finds the place of an error. */
#define FL_SOURCE_NAME "flynn-text"
typedef struct fl_source {
    uint32_t size;
    const char *before;             /* directives that stand before the text, and that the user does not see */
    const char *text;               /* a definition of `name`, and whatever the user has written before */
    const char *name;               /* of the function */
    int32_t count;                  /* of its inputs, 1 to FL_MAX_INPUTS */
    fl_dtype inputs[FL_MAX_INPUTS]; /* of the arrays: each element is converted to its parameter, as C does it */
    fl_dtype result;                /* that the function returns, and of the output */
    int32_t loops; /* not 0: it has loops, whose length may depend on the data: elements take different times */
    int32_t exact; /* not 0: the result is an integer, which another rounding would change: no contraction */
    /* Not 0: a kernel, of which `text` and `name` say all; the fields between are 0. `text` defines it as extern "C",
     * so that its name is plain. Before it stands FLYNN_LAUNCH_BOUNDS(N) if it has __launch_bounds__(N, ...). */
    int32_t kernel;
    const char *const *defines; /* "NAME" or "NAME=VALUE": macros of a kernel's text; NULL ends them */
    /* The function over the lanes of a vector, in terms of backends/cpu/lanes_prelude.h; NULL: it stays one of numbers,
     * or the device does not take lanes.
     * Its results have the same bits where no products are fused with sums. */
    const char *lanes;
    int32_t lane_bytes;  /* of the widest numbers of `lanes`: 4 or 8 */
    int32_t least_lanes; /* a vector with fewer of these gains nothing */
} fl_source;

/* An array that is an argument of a watched launch; or, as an array of one element, a vector or struct by value. */
typedef struct fl_watched_array {
    const char *name; /* of the parameter */
    void *data;
    int64_t bytes;
    int32_t element;     /* bytes of one, of what the parameter points to */
    int32_t is_constant; /* not 0: a pointer to const */
    int32_t parameter;   /* its place among the kernel's: fl_finding.parameter */
} fl_watched_array;

/* For fl_device_api.kernel_watch. */
typedef struct fl_kernel_watch_job {
    uint32_t size;
    int32_t count;
    fl_watched_array arrays[FL_MAX_PARAMETERS];
    fl_findings *found;
} fl_kernel_watch_job;

/* ------------------------------------------------------------------------------------------------- rows ---- */

/* How a row will run. */
typedef struct fl_launch {
    int32_t block[3];       /* in: the caller's (0: the row chooses); out: the block that will run (0: none) */
    int64_t grid[3];        /* out: blocks (0: none) */
    int64_t shared_bytes;   /* out: of a block */
    double bytes_requested; /* out: by the loads and stores that the row issues */
    double flops;           /* out */
    double tolerance;       /* in: fl_run.tolerance; core has checked it with fl_row.bound */
} fl_launch;

typedef struct fl_row {
    fl_operation operation;
    const char *variant; /* "naive"; an "auto" row chooses one of the plugin's other rows by looking at the data */
    uint32_t dtypes;     /* it computes in: bit 1u << FL_F32 and so on */
    const char *summary; /* what it does, in one sentence */
    /* Fills `launch`. Core checks it against the device's limits before `run`. */
    void (*plan)(void *device, const void *args, fl_launch *launch);
    /* Queues the work in context->stream. `args` is the operation's struct, above. */
    fl_status (*run)(const fl_context *context, const void *args, const fl_launch *launch);
    /* The variant that an "auto" row chose; called when the stream is done. NULL for other rows. Changes `launch`,
     * which `plan` filled for the "auto" row, to that of the chosen variant. */
    const char *(*chosen)(const fl_context *context, const void *args, fl_launch *launch);
    /* The variant does not take every input, or is less accurate than the others for some: `flynn sweep --save` does
     * not let it replace auto. Not for "reference". */
    bool restricted;
    /* NULL: the row can always run. Else called before each `plan`, to load what the row needs (a library) at its first
     * use: FL_OK, FL_E_UNAVAILABLE or FL_E_MEMORY with the reason and the fix in `why`. Neither `open` nor `probe`
     * loads it. May be called by several threads at once; fast once the library is loaded, and tried again if it was
     * not. */
    fl_status (*available)(void *device, char *why, size_t size);
    /* The least tolerance that the variant takes for these arguments (fl_timing.bound); of an "auto" row the least of
     * the variants that it chooses from. INFINITY: it takes none. NULL: fl_host.bound. A row that is less accurate than
     * the others of its operation has this function. */
    double (*bound)(void *device, const void *args);
} fl_row;
/* If a plugin has no "auto" row for an operation and dtype, auto is the first row of the table that fits, is available
 * and takes the call's tolerance. */

/* ---------------------------------------------------------------------------------------------- devices ---- */

typedef enum fl_copy_kind { FL_COPY_TO_DEVICE = 0, FL_COPY_TO_HOST = 1, FL_COPY_ON_DEVICE = 2 } fl_copy_kind;

/* A copy of `rows` rows of `width` bytes, whose starts are `pitch` bytes apart. */
typedef struct fl_copy {
    fl_copy_kind kind;
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, rows;
} fl_copy;

/* Properties of a queued kernel, from the device's runtime. */
typedef struct fl_kernel_facts {
    int32_t registers;        /* of a thread */
    int32_t threads;          /* of a block */
    int32_t resident_blocks;  /* of this kernel that fit into a multiprocessor */
    int32_t resident_threads; /* the most that a multiprocessor can hold, for any kernel */
    int64_t local_bytes;      /* of a thread: spilled registers and arrays in memory */
    int64_t shared_bytes;     /* of a block, static */
} fl_kernel_facts;

/* A part of memory that goes to a rank, one of several processes, or comes from it. */
typedef struct fl_piece {
    void *data;
    int64_t bytes;
} fl_piece;

/* A new group of processes, as its first one names it to the others. */
typedef struct fl_group_id {
    char bytes[128];
} fl_group_id;

/* An open device's functions. `self` is fl_plugin_device's. */
typedef struct fl_device_api {
    uint32_t size;
    /* Frees `self` and all that belongs to it. Called after synchronize. */
    void (*close)(void *self);
    /* Waits for all streams of the device. */
    fl_status (*synchronize)(void *self);
    /* Device memory, aligned to 256 bytes; bytes > 0. FL_E_MEMORY if it does not fit. */
    fl_status (*allocate)(void *self, size_t bytes, void **memory);
    /* Waits for all work queued on the device, then frees; NULL: only waits. stream_wait or synchronize still reports
     * errors in that work. */
    void (*release)(void *self, void *memory);
    /* Host memory, pinned on a GPU. */
    fl_status (*allocate_host)(void *self, size_t bytes, void **memory);
    void (*release_host)(void *self, void *memory);
    /* Queues the copy. */
    fl_status (*copy)(void *self, void *stream, const fl_copy *copy);
    fl_status (*stream_create)(void *self, void **stream);
    void (*stream_free)(void *self, void *stream);
    /* Waits; reports and clears the errors since the last call, those that only the device detects included. */
    fl_status (*stream_wait)(void *self, void *stream);
    fl_status (*stream_wait_event)(void *self, void *stream, void *event);
    fl_status (*event_create)(void *self, void **event);
    void (*event_free)(void *self, void *event);
    fl_status (*event_record)(void *self, void *event, void *stream);
    fl_status (*event_wait)(void *self, void *event);
    /* Called when both are reached. */
    fl_status (*event_elapsed)(void *self, void *start, void *stop, double *seconds);
    /* Mark the work that the calling thread queues between push and pop as "<name> <detail>" for the vendor's profiler;
     * detail may be NULL. Both functions are NULL if there is no profiler. */
    void (*range_push)(void *self, const char *name, const char *detail);
    void (*range_pop)(void *self);
    /* Describes the last kernel of the plugin's own that was queued in the stream. `facts` is zeroed by the caller and
     * stays so if nothing is known. NULL: the device knows nothing about its kernels. */
    fl_status (*last_kernel)(void *self, void *stream, fl_kernel_facts *facts);
    /* Called by each thread before it queues a row: FL_E_MEMORY if the threads that a row needs cannot be started.
     * NULL: rows start none. */
    fl_status (*prepare_thread)(void *self);
    /* Compiles a function for FL_OP_MAP, or a kernel for FL_OP_KERNEL. FL_E_SOURCE: the text does not compile, and
     * `output` is what the compiler printed; FL_E_UNAVAILABLE: there is no compiler. Any thread may call it. NULL: the
     * device compiles nothing. */
    fl_status (*compile)(void *self, const fl_source *source, char *output, size_t size, void **code);
    /* Called when nothing that is queued uses the code. */
    void (*code_free)(void *self, void *code);
    /* The address and bytes of a `__constant__` or `__device__` variable of a kernel's text. FL_E_ARGUMENT: there is
     * none. NULL: the device compiles no kernels. */
    fl_status (*code_symbol)(void *self, const void *code, const char *name, void **address, size_t *bytes);
    /* Copies between the memories of GPUs of several processes, for link.h's fl_communicator: NULL if the device's
     * vendor has no library for that (NCCL, RCCL). group_id makes the id of a new group of processes; FL_E_UNAVAILABLE:
     * the library is not there. */
    fl_status (*group_id)(void *self, fl_group_id *id);
    /* Called by all of its processes, each with another device. Waits for them. */
    fl_status (*group_join)(void *self, const fl_group_id *id, int32_t rank, int32_t size, void **group);
    /* Queues the copies: to[r] goes to rank r, from[r] comes from it, whose to[] has the same length for this rank.
     * Nothing is copied from a rank to itself. */
    fl_status (*group_exchange)(void *self, void *group, void *stream, const fl_piece *to, const fl_piece *from);
    /* Called when nothing that is queued uses the group. */
    void (*group_leave)(void *self, void *group);
    /* A stream whose work goes before that of others. NULL: the device knows no such. */
    fl_status (*stream_create_urgent)(void *self, void **stream);
    /* Not 0: `compile` uses fl_source.lanes, which core writes for such devices alone. */
    int32_t takes_lanes;
    /* Lets the next launch of the code by the calling thread be watched, and writes to watch->found until that launch
     * returns; NULL: it is not watched after all. NULL: the device cannot watch. */
    void (*kernel_watch)(void *self, void *code, const fl_kernel_watch_job *watch);
    /* What the calling thread queues in the stream between graph_begin and graph_end is not done: graph_end makes a
     * graph of it if `keep` is not 0, else forgets it. A row that a graph cannot hold, since it waits, returns
     * FL_E_UNSUPPORTED between the two. The memory that rows take stays theirs for as long as the graph. NULL, all four:
     * the device has no graphs, and core queues the rows again. */
    fl_status (*graph_begin)(void *self, void *stream);
    fl_status (*graph_end)(void *self, void *stream, int32_t keep, void **graph);
    /* Queues the graph in the stream that it was made in. */
    fl_status (*graph_run)(void *self, void *graph, void *stream);
    /* Called when nothing that is queued is of the graph. */
    void (*graph_free)(void *self, void *graph);
} fl_device_api;

/* The device that `open` returns. */
typedef struct fl_plugin_device {
    void *self;
    const fl_device_api *api;
    const fl_row *rows; /* the variants for this machine, preferred ones first */
    size_t row_count;
    fl_device_info info; /* core fills resource, backend, family, flynn_class, emulation, open_s and remark */
} fl_plugin_device;

/* The requested device. Core has checked with the probe that it exists and that the processor runs the instruction set.
 */
typedef struct fl_open_request {
    int number;      /* the index of a GPU; CPU threads; -1: not given */
    const char *isa; /* "v3"; NULL: not given */
} fl_open_request;

typedef struct fl_plugin {
    uint32_t abi;            /* FL_PLUGIN_ABI */
    uint32_t size;           /* sizeof(fl_plugin) */
    const char *name;        /* "omp"; the same as in the file's name, flynn-omp.so */
    const char *family;      /* "cpu", "hip" */
    const char *flynn_class; /* "SISD", "SIMD", "MIMD", "SIMT" */
    int32_t emulation;       /* not 0: imitates a device, for testing; "auto" and a family's name do not load it */
    const char *built_with;  /* compiler, flags, architectures */
    int32_t score;           /* "auto" and a family's name choose the usable plugin with the highest score */
    /* Fills the zeroed struct. Fast, and leaves no device open. */
    void (*probe)(fl_probe *probe);
    fl_status (*open)(const fl_host *host, const fl_open_request *request, fl_plugin_device *device);
    /* Absolute paths, separated by ':', of which one exists where the device can be: "/dev/gpu0:/dev/gpuctl". Where
     * none does, the plugin and the libraries it is linked with are not loaded, and `absent` and `absent_cure` are why
     * it cannot run and how to make it run, as fl_probe.cause and cure are. NULL: nothing is looked for. Core reads
     * these texts from the file, so they are constants. A plugin without these fields is loaded as with NULL. */
    const char *needs;
    const char *absent, *absent_cure;
} fl_plugin;

/* The only exported symbol of a plugin. */
extern FL_API const fl_plugin flynn_plugin;

#ifdef __cplusplus
}
#endif
#endif
