/* SPDX-License-Identifier: MIT
 *
 * plugin.h - what a Flynn plugin is, for those who write one.
 *
 * A plugin is a shared object `flynn-<name>.so` with one exported symbol, `const fl_plugin flynn_plugin`. Core reads
 * its `abi` and `size` and touches nothing else before they fit. `probe` tells what is on this machine; `open` gives a
 * device: a table of functions and a table of rows {operation, variant, dtypes, plan, run}. Adding an operation or a
 * variant is adding a row.
 *
 * Core checks every argument before a plugin sees it: a plugin never validates, prints, exits or aborts. It is never
 * unloaded once it was opened, and runs no device code before `open`. Its functions may be called from several threads,
 * a stream by one thread at a time.
 *
 * Versions: FL_PLUGIN_ABI grows when something existing changes its meaning; fields are only ever appended, and `size`
 * (sizeof as the plugin was compiled) tells how many of them are there.
 */
#ifndef FLYNN_PLUGIN_H
#define FLYNN_PLUGIN_H

#include <flynn/flynn.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FL_PLUGIN_ABI 1

/* ----------------------------------------------------------------------------- what core gives a plugin ---- */

typedef struct fl_host fl_host;

/* For whom and where a row runs. */
typedef struct fl_context {
    const fl_host *host;
    void *device; /* the plugin's: fl_plugin_device.self */
    void *stream; /* the plugin's: from stream_create, or NULL where the device has no such function */
    void *pool;   /* core's: the memory behind fl_host.scratch */
} fl_context;

struct fl_host {
    uint32_t size;
    /* Keeps the message for fl_last_error and returns `status`: `return host->error(FL_E_DEVICE, "...", ...);`. */
    fl_status (*error)(fl_status status, const char *format, ...)
#if defined(__GNUC__) || defined(__clang__)
        __attribute__((format(printf, 2, 3)))
#endif
        ;
    /* Device memory (aligned to 256 bytes) for the work that the row queues in this call; core takes it back, in the
     * stream's order, after the row returned. May be called several times. */
    fl_status (*scratch)(const fl_context *context, size_t bytes, void **memory);
};

/* ------------------------------------------------------------------------------------------- operations ---- */

/* Numbers are only appended. */
typedef enum fl_operation { FL_OP_CONVERT = 0, FL_OP_CONVOLVE = 1 } fl_operation;
#define FL_OP_COUNT 2

/* An array as a kernel sees it. */
typedef struct fl_buffer {
    void *data; /* the first element; device memory */
    fl_dtype dtype;
    int32_t ndim;
    int64_t shape[FL_MAX_DIMS];  /* outermost first; 1 beyond ndim */
    int64_t stride[FL_MAX_DIMS]; /* elements from one to the next in each dimension; the last of ndim is always 1 */
} fl_buffer;

/* FL_OP_CONVERT: out = in, element by element; same shape, at least one element; out is f32 or f64. Chosen by out's
 * dtype. */
typedef struct fl_convert_args {
    fl_buffer in, out;
} fl_convert_args;

/* FL_OP_CONVOLVE: out[i, j] = sum over p, q of image[i + origin[0] - p, j + origin[1] - q] * kernel[p, q], zero outside
 * the image; those zeros count (0 * infinity is NaN). All three 2-D, of one dtype (f32 or f64), with at least one
 * element; the kernel may be the larger one. The modes are all in `origin` and out's shape: `out` is any window of the
 * full result. */
typedef struct fl_convolve_args {
    fl_buffer image, kernel, out;
    int64_t origin[2];
} fl_convolve_args;

/* How a row will run. */
typedef struct fl_launch {
    int32_t block[3];       /* in: what the caller asked for (0: yours to choose); out: what will run (0: none) */
    int64_t grid[3];        /* out: blocks (0: none) */
    int64_t shared_bytes;   /* out: of a block */
    double bytes_requested; /* out: by the loads and stores as issued */
    double flops;           /* out */
} fl_launch;

typedef struct fl_row {
    fl_operation operation;
    const char *variant; /* "naive"; an "auto" row is the plugin's own choice among its rows, made where the data is */
    uint32_t dtypes;     /* bit 1u << FL_F32 and so on, of the dtype computed in */
    const char *summary; /* one sentence */
    /* Fills `launch`; core then holds it against the device's limits, before `run`. */
    void (*plan)(void *device, const void *args, fl_launch *launch);
    /* Queues the work in context->stream. `args` is the operation's struct, above. */
    fl_status (*run)(const fl_context *context, const void *args, const fl_launch *launch);
    /* Which variant an "auto" row took, called after its stream was waited for; NULL for other rows. The launch is
     * the one that ran: correct its numbers to those of the variant taken. */
    const char *(*chosen)(const fl_context *context, const void *args, fl_launch *launch);
} fl_row;
/* Where a plugin has no "auto" row for an operation and dtype, auto is the first row of the table that fits. */

/* ---------------------------------------------------------------------------------------------- devices ---- */

typedef enum fl_copy_kind { FL_COPY_TO_DEVICE = 0, FL_COPY_TO_HOST = 1, FL_COPY_ON_DEVICE = 2 } fl_copy_kind;

/* `rows` rows of `width` bytes, the starts of rows `pitch` bytes apart. */
typedef struct fl_copy {
    fl_copy_kind kind;
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, rows;
} fl_copy;

/* An open device's functions; those of a device are the same for all its streams, and get its `self`. */
typedef struct fl_device_api {
    uint32_t size;
    /* After synchronize; frees `self` and all that is its own. */
    void (*close)(void *self);
    /* Waits for all streams of the device. */
    fl_status (*synchronize)(void *self);
    /* Aligned to 256 bytes; bytes > 0. FL_E_MEMORY when there is not that much. */
    fl_status (*allocate)(void *self, size_t bytes, void **memory);
    /* Freed after all work that is queued on the device. */
    void (*release)(void *self, void *memory);
    /* Host memory, pinned where that means something. */
    fl_status (*allocate_host)(void *self, size_t bytes, void **memory);
    void (*release_host)(void *self, void *memory);
    /* Queues the copy. */
    fl_status (*copy)(void *self, void *stream, const fl_copy *copy);
    fl_status (*stream_create)(void *self, void **stream);
    void (*stream_free)(void *self, void *stream);
    /* Waits; tells (and forgets) what failed in the stream since the last time, what only the device saw included. */
    fl_status (*stream_wait)(void *self, void *stream);
    fl_status (*stream_wait_event)(void *self, void *stream, void *event);
    fl_status (*event_create)(void *self, void **event);
    void (*event_free)(void *self, void *event);
    fl_status (*event_record)(void *self, void *event, void *stream);
    fl_status (*event_wait)(void *self, void *event);
    /* Both were reached. */
    fl_status (*event_elapsed)(void *self, void *start, void *stop, double *seconds);
} fl_device_api;

/* What `open` fills. */
typedef struct fl_plugin_device {
    void *self;
    const fl_device_api *api;
    const fl_row *rows; /* what it offers on this very processor, the preferred ones first */
    size_t row_count;
    fl_device_info
        info; /* `resource`, `backend`, `family`, `flynn_class`, `emulation` and `open_s` are core's to fill */
} fl_plugin_device;

/* What was asked for, already held against the probe: the device exists, the processor runs the instruction set. */
typedef struct fl_open_request {
    int number;      /* -1: none given. A GPU's index; a CPU's threads */
    const char *isa; /* NULL: none given. "v3" */
} fl_open_request;

typedef struct fl_plugin {
    uint32_t abi;            /* FL_PLUGIN_ABI */
    uint32_t size;           /* sizeof(fl_plugin) */
    const char *name;        /* "omp": that of the file, flynn-omp.so */
    const char *family;      /* "cpu", "hip" */
    const char *flynn_class; /* "SISD", "SIMD", "MIMD", "SIMT" */
    int32_t emulation;       /* not 0: imitates a device, for testing */
    const char *built_with;  /* compiler, flags, architectures */
    int32_t score;           /* the higher, the rather chosen */
    /* Fills what it finds (the struct comes zeroed). Cheap, and leaves no device open. */
    void (*probe)(fl_probe *probe);
    fl_status (*open)(const fl_host *host, const fl_open_request *request, fl_plugin_device *device);
} fl_plugin;

/* The one symbol of a plugin. */
extern FL_API const fl_plugin flynn_plugin;

#ifdef __cplusplus
}
#endif
#endif
