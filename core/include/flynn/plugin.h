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

#define FL_PLUGIN_ABI 2

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
    /* Around calls of a library with a number that belongs to the process, such as a BLAS's of its threads, which all
     * plugins and threads share: inside, `get` tells `value`. Those with the same value and `set` are inside together
     * unless one is to be alone (not 0); the others wait, each for its turn, so that nobody waits for ever. The first
     * to enter sets the number where it is another one, the last to leave sets what it was before; get and set are
     * never called by two threads at once. Nothing of this table is called while inside. */
    void (*enter)(int32_t value, int32_t alone, int (*get)(void), void (*set)(int));
    void (*leave)(void);
};

/* ------------------------------------------------------------------------------------------- operations ---- */

/* Numbers are only appended. */
typedef enum fl_operation {
    FL_OP_CONVERT = 0,
    FL_OP_CONVOLVE = 1,
    FL_OP_CONVOLVE1D = 2,
    FL_OP_SORT = 3,
    FL_OP_SELECT = 4,
    FL_OP_PRIMES = 5,
    FL_OP_INCREMENT = 6,
    FL_OP_SQRT = 7,
    FL_OP_MAXIMUM = 8,
    FL_OP_LOG_OF_SUM = 9,
    FL_OP_ALLCLOSE = 10,
    FL_OP_RECONSTRUCT = 11,
    FL_OP_SVD = 12,
    FL_OP_COPY = 13,
    FL_OP_MULTIPLY_ADD = 14,
} fl_operation;
#define FL_OP_COUNT 15

/* An array as a kernel sees it. */
typedef struct fl_buffer {
    void *data; /* the first element; device memory */
    fl_dtype dtype;
    int32_t ndim;
    int64_t shape[FL_MAX_DIMS];  /* outermost first; 1 beyond ndim */
    int64_t stride[FL_MAX_DIMS]; /* elements from one to the next in each dimension; the last of ndim is always 1 */
} fl_buffer;

/* FL_OP_CONVERT: out = in, element by element; same shape, at least one element; out is f32 or f64, or i64 where in is
 * of integers. Chosen by out's dtype. */
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

/* FL_OP_CONVOLVE1D: out[i] = sum of signal[i + origin - p] * kernel[p] over those p for which both exist (nothing is
 * added for what lies outside: numpy.convolve's rule). 1-D, packed, of one dtype (f32 or f64), with at least one
 * element each; the kernel is never the longer one; `out` is any window of the full result. */
typedef struct fl_convolve1d_args {
    fl_buffer signal, kernel, out;
    int64_t origin;
} fl_convolve1d_args;

/* FL_OP_SORT: out = in in ascending order, -0 equal to +0 (in any order), NaN last. 1-D, packed, of one dtype (f32,
 * f64, i32 or i64), with the same number of elements, at least one. out.data is in.data, or memory apart from it. */
typedef struct fl_sort_args {
    fl_buffer in, out;
} fl_sort_args;

/* FL_OP_SELECT: out[0], out[1] ... = the elements of `in` that are not zero (NaN is not, -0 is), in their order, and
 * count[0] their number. 1-D, packed, any dtype; in has at least one element and out as many; count is i64 and has one.
 * What lies in `out` behind them is not touched. Chosen by in's dtype. The launch's bytes_requested goes without the
 * stores to `out`: core adds them, once it knows the count. */
typedef struct fl_select_args {
    fl_buffer in, out, count;
} fl_select_args;

/* FL_OP_PRIMES: out[0], out[1] ... = the primes below `upto` (at least 3), ascending, and count[0] their number. Packed
 * i64; `out` has room for all of them; what lies behind them is not touched. Chosen by FL_I64. bytes_requested as for
 * FL_OP_SELECT. */
typedef struct fl_primes_args {
    int64_t upto;
    fl_buffer out, count;
} fl_primes_args;

/* FL_OP_INCREMENT (out = in + 1; integers wrap around; f32, f64, i32, i64) and FL_OP_SQRT (f32, f64): one shape and
 * dtype, at least one element. out.data is in.data with the same strides, or memory apart from it. */
typedef struct fl_unary_args {
    fl_buffer in, out;
} fl_unary_args;

/* FL_OP_MAXIMUM (NaN where x or y is; f32, f64, i32, i64) and FL_OP_LOG_OF_SUM (log(x + y); f32, f64): as above. */
typedef struct fl_binary_args {
    fl_buffer x, y, out;
} fl_binary_args;

/* FL_OP_ALLCLOSE: a[i] and b[i] differ unless |a[i] - b[i]| <= absolute + relative * |b[i]|, or they are the same
 * infinity, or both NaN where equal_nan is not 0. One shape and dtype (f32 or f64), at least one element. found is i64
 * of three: how many differ; the place (row-major) of the worst one, the lowest of equals, -1 where none differs; the
 * bits of a double: how often the worst exceeds its bound (infinity for what is not finite). */
typedef struct fl_allclose_args {
    fl_buffer a, b, found;
    double relative, absolute;
    int32_t equal_nan;
} fl_allclose_args;

/* FL_OP_RECONSTRUCT: y[b, i, j] = sum over p < rank of u[b, i, p] * s[b, p] * vt[b, p, j]. One dtype (f32 or f64); u,
 * vt and y have 3 dimensions (batch first, 1 where there is none), s has 2; rank is at least 1 and no larger than the
 * dimensions that p runs over. The last stride of each is 1. */
typedef struct fl_reconstruct_args {
    fl_buffer u, s, vt, y;
    int64_t rank;
} fl_reconstruct_args;

/* FL_OP_SVD: the leading k = s.shape[0] singular values of a (m x n), descending, with their vectors: u (m x k) and vt
 * (k x n). One dtype (f32 or f64), a's elements finite; 1 <= k <= min(m, n); s is packed. `a` is not changed. The seed
 * is for variants that draw random numbers. */
typedef struct fl_svd_args {
    fl_buffer a, u, s, vt;
    uint64_t seed;
} fl_svd_args;

/* FL_OP_COPY: out = in, 1-D, packed, one dtype (any) and length, at least one element, memory apart. */
typedef struct fl_copy_args {
    fl_buffer in, out;
} fl_copy_args;

/* FL_OP_MULTIPLY_ADD: out = in after `steps` times x = x * factor + term, each rounded once (a fused multiply-add) or
 * twice. 1-D, packed, one dtype (f32 or f64) and length, at least one element; out.data is in.data or memory apart;
 * steps is at least 0. */
typedef struct fl_multiply_add_args {
    fl_buffer in, out;
    double factor, term;
    int64_t steps;
} fl_multiply_add_args;

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

/* What the device's runtime tells of a kernel as it was queued. */
typedef struct fl_kernel_facts {
    int32_t registers;        /* of a thread */
    int32_t threads;          /* of a block */
    int32_t resident_blocks;  /* that a multiprocessor has room for at the most */
    int32_t resident_threads; /* that a multiprocessor holds at the most, whatever the kernel */
    int64_t local_bytes;      /* of a thread, in memory: registers that were spilled, arrays without a register */
    int64_t shared_bytes;     /* of a block, those that the kernel declares itself */
} fl_kernel_facts;

/* An open device's functions; those of a device are the same for all its streams, and get its `self`. */
typedef struct fl_device_api {
    uint32_t size;
    /* After synchronize; frees `self` and all that is its own. */
    void (*close)(void *self);
    /* Waits for all streams of the device. */
    fl_status (*synchronize)(void *self);
    /* Aligned to 256 bytes; bytes > 0. FL_E_MEMORY when there is not that much. */
    fl_status (*allocate)(void *self, size_t bytes, void **memory);
    /* Waits for all work that is queued on the device, then frees; NULL: waits. What failed in that work stays to be
     * told by stream_wait or synchronize. */
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
    /* Marks what the calling thread queues from push to pop as "<name> <detail>" for the vendor's profiler; detail may
     * be NULL. Both NULL: it has none. */
    void (*range_push)(void *self, const char *name, const char *detail);
    void (*range_pop)(void *self);
    /* Tells of the last kernel of the plugin's own that was queued in the stream: `facts` come zeroed, and stay so
     * where nothing is known. NULL: nothing ever is. */
    fl_status (*last_kernel)(void *self, void *stream, fl_kernel_facts *facts);
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
