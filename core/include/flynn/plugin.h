/* SPDX-License-Identifier: MIT
 *
 * plugin.h - the interface between core and a plugin, for authors of plugins.
 *
 * A plugin is a shared object `flynn-<name>.so` with one exported symbol, `const fl_plugin flynn_plugin`. Core reads
 * `abi` and `size` first, and uses the plugin only if both fit. `probe` reports the devices of this machine; `open`
 * returns a device: a table of functions and a table of rows {operation, variant, dtypes, plan, run}. A new operation
 * or variant is a new row.
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
 */
#ifndef FLYNN_PLUGIN_H
#define FLYNN_PLUGIN_H

#include <flynn/flynn.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FL_PLUGIN_ABI 7

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
    /* Not 0: a kernel, of which `before`, `text` and `name` say all; the fields between are 0. `before` declares it as
     * extern "C", so that its name is plain. */
    int32_t kernel;
    const char *const *defines; /* "NAME" or "NAME=VALUE": macros of a kernel's text; NULL ends them */
    /* The function over the lanes of a vector, in terms of backends/cpu/lanes_prelude.h; NULL: it stays one of numbers.
     * Its results have the same bits where no products are fused with sums. */
    const char *lanes;
    int32_t lane_bytes;  /* of the widest numbers of `lanes`: 4 or 8 */
    int32_t least_lanes; /* a vector with fewer of these gains nothing */
} fl_source;

/* ------------------------------------------------------------------------------------------- operations ---- */

/* New operations are only appended. */
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
    FL_OP_MAP = 15,
    FL_OP_KERNEL = 16,
    FL_OP_MERGE = 17,
    FL_OP_SEARCH_SORTED = 18,
    FL_OP_QR = 19,
    FL_OP_REDUCE = 20,
    FL_OP_SCAN = 21,
    FL_OP_HISTOGRAM = 22,
    FL_OP_TRANSPOSE = 23,
    FL_OP_MATMUL = 24,
} fl_operation;
#define FL_OP_COUNT 25

/* An array as it is passed to a kernel. */
typedef struct fl_buffer {
    void *data; /* the first element; device memory */
    fl_dtype dtype;
    int32_t ndim;
    int64_t shape[FL_MAX_DIMS];  /* outermost first; 1 beyond ndim */
    int64_t stride[FL_MAX_DIMS]; /* elements from one to the next in each dimension; always 1 in the last one */
} fl_buffer;

/* FL_OP_CONVERT: out = in, element by element; same shape, at least one element; out is f32, f64, or, for integers,
 * i64. The row's dtype is out's. */
typedef struct fl_convert_args {
    fl_buffer in, out;
} fl_convert_args;

/* FL_OP_CONVOLVE: out[i, j] = sum over p, q of image[i + origin[0] - p, j + origin[1] - q] * kernel[p, q], zero outside
 * the image; those zeros take part in the sum (0 * infinity is NaN). All three 2-D, of the same dtype (f32 or f64),
 * with at least one element; the kernel may be the larger one. `origin` and out's shape stand for the mode: `out` is
 * any window of the full result. */
typedef struct fl_convolve_args {
    fl_buffer image, kernel, out;
    int64_t origin[2];
} fl_convolve_args;

/* FL_OP_CONVOLVE1D: out[i] = sum over p of signal[i + origin - p] * kernel[p], where both exist (positions outside add
 * nothing: numpy.convolve's rule). 1-D, packed, of the same dtype (f32 or f64), with at least one element each; the
 * kernel is never longer than the signal; `out` is any window of the full result. */
typedef struct fl_convolve1d_args {
    fl_buffer signal, kernel, out;
    int64_t origin;
} fl_convolve1d_args;

/* FL_OP_SORT: out = in in ascending order, -0 equal to +0 (in any order), NaN last. 1-D, packed, of the same dtype
 * (f32, f64, i32 or i64) and length, at least one element. out.data is in.data, or out and in share no memory. */
typedef struct fl_sort_args {
    fl_buffer in, out;
} fl_sort_args;

/* FL_OP_SELECT: out[0], out[1] ... = the elements of `in` that are not zero (NaN is not zero, -0 is), in their order,
 * and count[0] = their number. 1-D, packed, any dtype; in has at least one element and out as many; count is i64 and
 * has one. The elements of `out` after the selected ones stay unchanged. The row's dtype is in's. The launch's
 * bytes_requested leaves out the stores to `out`: core adds them when it knows the count. */
typedef struct fl_select_args {
    fl_buffer in, out, count;
} fl_select_args;

/* FL_OP_PRIMES: out[0], out[1] ... = the primes from `first` (0 to upto - 1) on that are below `upto` (at least 3),
 * ascending, and count[0] = their number. Packed i64; `out` has room for all primes; the elements after them stay
 * unchanged. The row's dtype is FL_I64. bytes_requested as for FL_OP_SELECT. */
typedef struct fl_primes_args {
    int64_t first, upto;
    fl_buffer out, count;
} fl_primes_args;

/* FL_OP_INCREMENT (out = in + 1; integers wrap around; f32, f64, i32, i64) and FL_OP_SQRT (f32, f64): the same shape
 * and dtype, at least one element. out.data is in.data with the same strides, or out and in share no memory. */
typedef struct fl_unary_args {
    fl_buffer in, out;
} fl_unary_args;

/* FL_OP_MAXIMUM (NaN if x or y is NaN; f32, f64, i32, i64) and FL_OP_LOG_OF_SUM (log(x + y); f32, f64): as above. */
typedef struct fl_binary_args {
    fl_buffer x, y, out;
} fl_binary_args;

/* FL_OP_ALLCLOSE: a[i] and b[i] differ unless |a[i] - b[i]| <= absolute + relative * |b[i]|, or both are the same
 * infinity, or both are NaN and equal_nan is not 0. The same shape and dtype (f32 or f64), at least one element. found
 * is i64 and has three elements: the number of elements that differ; the row-major index of the one with the largest
 * excess, the lowest among equals, -1 if none differs; the bits of a double, that excess: |a - b| divided by its bound,
 * infinity if it is not finite. */
typedef struct fl_allclose_args {
    fl_buffer a, b, found;
    double relative, absolute;
    int32_t equal_nan;
} fl_allclose_args;

/* FL_OP_RECONSTRUCT: y[b, i, j] = sum over p < rank of u[b, i, p] * s[b, p] * vt[b, p, j]. The same dtype (f32 or f64);
 * u, vt and y have 3 dimensions (batch first, 1 without a batch), s has 2; rank is at least 1 and at most the length of
 * the dimensions of p. */
typedef struct fl_reconstruct_args {
    fl_buffer u, s, vt, y;
    int64_t rank;
} fl_reconstruct_args;

/* FL_OP_SVD: the leading k = s.shape[0] singular values of a (m x n), descending, with their vectors: u (m x k) and vt
 * (k x n). The same dtype (f32 or f64); 1 <= k <= min(m, n); s is packed. `a` is not changed. The seed is for variants
 * that draw random numbers. An element of `a` that is not finite is for the row to find: FL_E_ARGUMENT. */
typedef struct fl_svd_args {
    fl_buffer a, u, s, vt;
    uint64_t seed;
} fl_svd_args;

/* FL_OP_COPY: out = in; 1-D, packed, the same dtype (any) and length, at least one element, no memory shared. */
typedef struct fl_copy_args {
    fl_buffer in, out;
} fl_copy_args;

/* FL_OP_MULTIPLY_ADD: out = in after `steps` times x = x * factor + term, each rounded once (a fused multiply-add) or
 * twice. 1-D, packed, the same dtype (f32 or f64) and length, at least one element; out.data is in.data, or out and in
 * share no memory; steps is at least 0. */
typedef struct fl_multiply_add_args {
    fl_buffer in, out;
    double factor, term;
    int64_t steps;
} fl_multiply_add_args;

/* FL_OP_MAP: out[i] = f(in[0][i], in[1][i] ...), where `code` is f, compiled by the device for these dtypes. All have
 * out's shape; an input's stride is 0 in the dimensions in which it has one element, the last one included. At least
 * one element; out.data is an input's with the same strides, or out shares no memory with it. The row's dtype is out's.
 */
typedef struct fl_map_args {
    void *code; /* from fl_device_api.compile */
    int32_t inputs;
    fl_buffer in[FL_MAX_INPUTS], out;
} fl_map_args;

/* FL_OP_KERNEL: one launch of a kernel of the user's, with launch->block threads in each block (the row chooses where
 * they are 0). arguments[i] points to the i-th argument, of its parameter's type: a number, or the address of an array.
 * The row's dtype is that of the first array that is not constant, or of the first array, or u8. */
typedef struct fl_kernel_args {
    void *code;           /* from fl_device_api.compile */
    int64_t grid[3];      /* blocks in x, y, z: at least 1 */
    int64_t shared_bytes; /* of a block's dynamic shared memory */
    int32_t count;
    void *arguments[FL_MAX_PARAMETERS];
} fl_kernel_args;

/* FL_OP_MERGE: out = the elements of x and y, each of which is in the order of FL_OP_SORT, in that order; of equal ones
 * x's come first, and each array's stay in their order. 1-D, packed, of the same dtype (f32, f64, i32 or i64), with at
 * least one element in all; out has as many as both and shares no memory with them. */
typedef struct fl_merge_args {
    fl_buffer x, y, out;
} fl_merge_args;

/* FL_OP_SEARCH_SORTED: out[i] = how many elements of `sorted`, which is in the order of FL_OP_SORT, come before
 * values[i] and are not equal to it. 1-D, packed; sorted and values of the same dtype (f32, f64, i32 or i64), out i64
 * and as long as values, at least one element; sorted may have none. The row's dtype is sorted's. */
typedef struct fl_search_sorted_args {
    fl_buffer sorted, values, out;
} fl_search_sorted_args;

/* FL_OP_QR: a (m x n) = q r, where the columns of q (m x k, k = min(m, n)) are orthonormal and r (k x n) = q' a is
 * upper triangular but for rounding; qt = q'. The same dtype (f32 or f64), at least one element; `a` shares no memory
 * with the others. Where columns of `a` depend on those before, q has any further ones. An element of `a` that is not
 * finite is for the row to find: FL_E_ARGUMENT. */
typedef struct fl_qr_args {
    fl_buffer a, qt, r;
} fl_qr_args;

/* FL_OP_REDUCE: out[i, j] = x[i, 0, j], x[i, 1, j] ... put together; x packed, of any dtype, with three dimensions
 * (outer, length, inner), each at least 1; out packed (outer, inner).
 *   FL_SUM             of out's dtype: in's own, or i64 if in has integers (which wrap), or f64 (each element
 * converted) FL_MINIMUM, FL_MAXIMUM  in's dtype; NaN if an element is NaN FL_ARGMIN, FL_ARGMAX    i64: the index along
 * `length` of the first such element, or of the first NaN y.data is NULL, or y is like x and x[i, p, j] * y[i, p, j]
 * takes the place of x[i, p, j]; for FL_SUM alone. The same bits in each call with the same arguments. The row's dtype
 * is x's. */
typedef struct fl_reduce_args {
    fl_buffer x, y, out;
    fl_reduction reduction;
} fl_reduce_args;

/* FL_OP_SCAN: out[i] = in[0] to in[i] put together, or, if exclusive, to in[i - 1], where out[0] is 0 (FL_SUM) or the
 * lowest value (FL_MAXIMUM: -infinity for floats). Integers wrap; NaN stays NaN. 1-D, packed, at least one element; out
 * is in's dtype, or for FL_SUM of integers i64; out.data is in.data with the same dtype, or out and in share no memory.
 * The same bits in each call with the same arguments. The row's dtype is in's (any). */
typedef struct fl_scan_args {
    fl_buffer in, out;
    fl_reduction reduction; /* FL_SUM or FL_MAXIMUM */
    int32_t exclusive;
} fl_scan_args;

/* FL_OP_HISTOGRAM: out[b] = how many elements x of `in` have edge(b) <= x < edge(b + 1), for the last bin <=, where
 * edge(b) = lo + b * ((hi - lo) / bins), rounded to f64 after each operation, edge(bins) = hi, and x is converted to
 * f64. Elements outside are not counted, or, if `clip`, in the first or last bin; NaN is not counted. in: 1-D, packed,
 * any dtype, at least one element; out: i64, packed, bins >= 1 elements; lo < hi, both finite, so is hi - lo. The row's
 * dtype is in's. */
typedef struct fl_histogram_args {
    fl_buffer in, out;
    double lo, hi;
    int32_t clip;
} fl_histogram_args;

/* FL_OP_TRANSPOSE: out[b, c, i, j] = in[b, c, j, i]; four dimensions, any dtype, the same for both, at least one
 * element, no memory shared. The row's dtype is in's. */
typedef struct fl_transpose_args {
    fl_buffer in, out;
} fl_transpose_args;

/* FL_OP_MATMUL: c[b, i, j] = sum over p of a[b, i, p] * b[b, p, j], where a transposed input is stored with its last
 * two dimensions exchanged (a[b, p, i]). The same dtype (f32, f64, i32, i64; integers wrap), three dimensions, of which
 * a stride of 0 in the first one repeats a matrix for the whole batch; at least one element each; c shares no memory
 * with a and b. */
typedef struct fl_matmul_args {
    fl_buffer a, b, c;
    int32_t transpose_a, transpose_b;
} fl_matmul_args;

/* How a row will run. */
typedef struct fl_launch {
    int32_t block[3];       /* in: the caller's (0: the row chooses); out: the block that will run (0: none) */
    int64_t grid[3];        /* out: blocks (0: none) */
    int64_t shared_bytes;   /* out: of a block */
    double bytes_requested; /* out: by the loads and stores that the row issues */
    double flops;           /* out */
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
} fl_row;
/* If a plugin has no "auto" row for an operation and dtype, auto is the first row of the table that fits and is
 * available. */

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
    int32_t emulation;       /* not 0: imitates a device, for testing */
    const char *built_with;  /* compiler, flags, architectures */
    int32_t score;           /* "auto" and a family's name choose the usable plugin with the highest score */
    /* Fills the zeroed struct. Fast, and leaves no device open. */
    void (*probe)(fl_probe *probe);
    fl_status (*open)(const fl_host *host, const fl_open_request *request, fl_plugin_device *device);
} fl_plugin;

/* The only exported symbol of a plugin. */
extern FL_API const fl_plugin flynn_plugin;

#ifdef __cplusplus
}
#endif
#endif
