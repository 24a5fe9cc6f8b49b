/* SPDX-License-Identifier: MIT
 *
 * flynn.h - the public interface of libflynn.
 *
 * One set of operations on one CPU core, on all of them and on GPUs of either vendor, the device chosen at run time:
 *
 *     fl_device *device;
 *     fl_array *image, *kernel, *out;
 *     fl_device_open("hip", &device);                                   // or "serial", "omp:8", "auto" ...
 *     fl_array_from_host(device, FL_F32, 2, (int64_t[]){2048, 2048}, pixels, &image);
 *     ...
 *     if (fl_convolve(device, image, kernel, FL_FULL, out, NULL) != FL_OK)
 *         fprintf(stderr, "%s\n", fl_last_error());
 *
 * Conventions of the whole interface:
 *
 * - Every function that can fail returns fl_status; fl_last_error() then says, for this thread, what went wrong, with
 *   which argument, its value and what was expected. The library never prints, exits or aborts. A failed call changes
 *   no output and leaves the device usable.
 * - "Queued" means: the function returns once the work stands in a stream, before it is done. What waits says so.
 * - Shapes and strides count elements, outermost dimension first (row-major); sizes count bytes; times are seconds.
 * - A device may be used by several threads at once, a stream, event or array by one at a time.
 * - Freeing NULL does nothing.
 */
#ifndef FLYNN_H
#define FLYNN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FL_VERSION_MAJOR 0
#define FL_VERSION_MINOR 1
#define FL_VERSION_PATCH 0

#if defined(__GNUC__) || defined(__clang__)
#define FL_API __attribute__((visibility("default")))
#else
#define FL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------- status ---- */

typedef enum fl_status {
    FL_OK = 0,
    FL_E_ARGUMENT = 1,     /* an argument is wrong: shape, dtype, NULL, value */
    FL_E_UNKNOWN = 2,      /* no backend, variant or item has that name */
    FL_E_WRONG_DEVICE = 3, /* an array lives on another device than the call runs on */
    FL_E_UNSUPPORTED = 4,  /* the backend does not offer that operation, variant or dtype */
    FL_E_UNAVAILABLE = 5,  /* the backend is known and cannot run here: the message has cause and cure */
    FL_E_LIMIT = 6,        /* a launch that the device's limits forbid */
    FL_E_MEMORY = 7,       /* out of memory, on the host or the device */
    FL_E_DEVICE = 8,       /* the device or its driver failed */
} fl_status;

/* "FL_OK", "FL_E_ARGUMENT" ...; never NULL. */
FL_API const char *fl_status_name(fl_status status);

/* What the last failed call of this thread had to say, one line without a line end; "" when none failed. Valid until
 * the thread's next failing call. */
FL_API const char *fl_last_error(void);

/* The version of the library that runs, "major.minor.patch". */
FL_API const char *fl_version(void);

/* The name among `names` that is spelled most like `wanted` (optimal string alignment distance, at most a third of
 * its letters wrong), or NULL when none is near. For error messages. */
FL_API const char *fl_nearest_name(const char *wanted, const char *const *names, size_t count);

/* ----------------------------------------------------------------------------------------------- dtypes ---- */

typedef enum fl_dtype { FL_U8 = 0, FL_I32 = 1, FL_I64 = 2, FL_F32 = 3, FL_F64 = 4 } fl_dtype;
#define FL_DTYPE_COUNT 5

/* Bytes of one element; 0 for an invalid dtype. */
FL_API size_t fl_dtype_size(fl_dtype dtype);
/* "u8", "i32", "i64", "f32", "f64"; "?" for an invalid dtype. */
FL_API const char *fl_dtype_name(fl_dtype dtype);
/* The dtype with that name. FL_E_UNKNOWN: no dtype has it. */
FL_API fl_status fl_dtype_parse(const char *name, fl_dtype *dtype);
/* True for f32 and f64. */
FL_API bool fl_dtype_is_float(fl_dtype dtype);

/* The dtype of the result of an operation on `count` inputs, at least 1; the operation computes in it, after converting
 * the inputs.
 *
 * Of one that always computes in floating point, such as fl_convolve: f32 if all inputs are f32, else f64. */
FL_API fl_dtype fl_dtype_float_result(const fl_dtype *inputs, int count);
/* Of one that also computes in integers, such as fl_maximum: the inputs' dtype if they have the same; else i64 if all
 * are integers, f64 if not. */
FL_API fl_dtype fl_dtype_result(const fl_dtype *inputs, int count);

/* --------------------------------------------------------------------------------------------- backends ---- */

#define FL_MAX_PROBED_DEVICES 16
#define FL_MAX_PROBED_ISAS 4

/* What a plugin found out about this machine, without opening a device. */
typedef struct fl_probe {
    int device_count;                        /* 0: it cannot run here, `cause` says why */
    char device[FL_MAX_PROBED_DEVICES][128]; /* the devices' names */
    int max_threads;                         /* CPU: the largest N of "omp:N"; 0: a number is a device's index */
    int isa_count;                           /* instruction sets that can be asked for ("simd:v3") */
    struct {
        char name[8];     /* "v2" */
        char why_not[96]; /* "" when this processor runs it */
    } isa[FL_MAX_PROBED_ISAS];
    char cause[256]; /* why it cannot run here, "" when it can */
    char cure[256];  /* what would mend it */
    char lacks[512]; /* libraries that are not here, which variants that costs, and what would mend it; "" when none */
} fl_probe;

/* A plugin as it was found. Strings live as long as the process. */
typedef struct fl_backend_info {
    const char *name;        /* "omp", "hip-nvidia": from the file's name where the file could not be loaded */
    const char *path;        /* of the file */
    bool usable;             /* false: probe.cause and probe.cure say why and what would mend it */
    const char *family;      /* "cpu", "hip"; from the name up to '-' or "" when not loaded; the other strings are "" */
    const char *flynn_class; /* "SISD", "SIMD", "MIMD", "SIMT" */
    bool emulation;          /* imitates a device for testing; never chosen for you, never ranked */
    const char *built_with;  /* compiler, flags, architectures */
    int score;               /* the higher, the rather it is chosen by "auto" and by its family's name */
    fl_probe probe;
} fl_backend_info;

/* The plugins found in FLYNN_PLUGIN_PATH (folders separated by ':', ignored in a set-uid program), beside libflynn and
 * in the installed folder, sorted by score; loads and probes each of them once. */
FL_API size_t fl_backend_count(void);
/* The i-th of them, NULL when i is out of range. */
FL_API const fl_backend_info *fl_backend_get(size_t i);

/* ---------------------------------------------------------------------------------------------- devices ---- */

typedef struct fl_device fl_device;

/* What an open device is. Limits that are 0 do not exist. */
typedef struct fl_device_info {
    char resource[48];       /* how to open it again: "omp:2:v3", "hip-nvidia:0" */
    const char *backend;     /* the plugin's name */
    const char *family;      /* "cpu", "hip" */
    const char *flynn_class; /* "SISD", "SIMD", "MIMD", "SIMT" */
    bool emulation;
    bool host_memory;     /* arrays lie in host memory: the host may use fl_array_data, no copy is needed */
    char name[128];       /* of the processor or GPU */
    char runtime[96];     /* "CUDA 13.0", "OpenMP 4.5"; "" where there is none */
    char driver[96];      /* of a GPU: "for CUDA up to 13.0" */
    char isa[32];         /* "v3", "sm_90", "gfx90a" */
    int threads;          /* CPU threads that work for one call; 0 on a GPU */
    int vector_bits;      /* width of the vectors used on a CPU; 0 on a GPU, 64 or less: none */
    int multiprocessors;  /* 0 on a CPU */
    int warp_size;        /* 0 on a CPU */
    int64_t memory_bytes; /* of the device; on a CPU the machine's */
    int max_threads_per_block;
    int max_block[3]; /* x, y, z */
    int64_t max_grid[3];
    int64_t max_shared_bytes; /* shared memory that one block can have */
    double open_s;            /* what opening took: context, canary kernel */
    int dlpack_type;          /* DLDeviceType of its arrays: 1 (kDLCPU), 2 (kDLCUDA), 10 (kDLROCM) */
    int dlpack_pinned_type;   /* of its pinned host memory: 3 (kDLCUDAHost), 11 (kDLROCMHost), 1 where there is none */
    int dlpack_id;            /* DLDevice.device_id of its arrays */
} fl_device_info;

/* Opens the device that `resource` names: `name[:item]...`, the name a backend's ("serial", "omp", "hip-nvidia"), a
 * family's ("hip": the GPU plugin whose device is present, never an emulation) or "auto" (the best device here, never
 * an emulation). An item is a number (a GPU's index; a CPU's threads) or an instruction set (v2, v3, v4).
 * A GPU runs a canary kernel before it is handed out.
 * FL_E_UNKNOWN (the message lists the names and the nearest one), FL_E_ARGUMENT (an item that means nothing to it),
 * FL_E_UNAVAILABLE (with cause and cure), FL_E_DEVICE, FL_E_MEMORY. */
FL_API fl_status fl_device_open(const char *resource, fl_device **device);

/* Waits for the work and lets the device go. Its arrays, streams and events stay valid until they are freed. */
FL_API void fl_device_close(fl_device *device);

/* Valid as long as the device. */
FL_API const fl_device_info *fl_device_describe(const fl_device *device);

/* Waits until all work queued on the device is done, and reports what failed in it. */
FL_API fl_status fl_device_wait(fl_device *device);

/* One operation in one variant that a device offers. Strings live as long as the device. */
typedef struct fl_variant_info {
    const char *operation; /* "convolve" */
    const char *variant;   /* "tiled"; "reference" is the oracle that results are checked against */
    uint32_t dtypes;       /* bit 1u << FL_F32 and so on */
    const char *summary;   /* what it does, in one sentence */
} fl_variant_info;

FL_API size_t fl_variant_count(const fl_device *device);
/* The i-th one; FL_E_ARGUMENT when i is out of range. */
FL_API fl_status fl_variant_get(const fl_device *device, size_t i, fl_variant_info *info);

/* ----------------------------------------------------------------------------------- streams and events ---- */

/* A queue of work. Work in one stream is done in order; work in different streams of a GPU overlaps. On a CPU the work
 * is done by the thread that queues it, before the call returns. Where a function takes a stream, NULL is the device's
 * own default stream, which any thread may use. */
typedef struct fl_stream fl_stream;
typedef struct fl_event fl_event;

FL_API fl_status fl_stream_create(fl_device *device, fl_stream **stream);
/* Waits for the stream's work, then frees it. */
FL_API void fl_stream_free(fl_stream *stream);
/* Waits until the stream's work is done, and reports what failed in it: a failure that only the device could see, such
 * as a kernel that is not of rank one given to `separable`, is told here when the call itself did not wait. */
FL_API fl_status fl_stream_wait(fl_stream *stream);
/* Lets what is queued in `stream` from now on wait for `event`, without holding up the host. */
FL_API fl_status fl_stream_wait_event(fl_stream *stream, fl_event *event);

FL_API fl_status fl_event_create(fl_device *device, fl_event **event);
FL_API void fl_event_free(fl_event *event);
/* Queues the event: it is reached when all that was queued before it is done. */
FL_API fl_status fl_event_record(fl_event *event, fl_stream *stream);
/* Waits until the event is reached. FL_E_ARGUMENT when it was never recorded. */
FL_API fl_status fl_event_wait(fl_event *event);
/* Seconds between two events of one device that were reached; waits for `stop`. */
FL_API fl_status fl_event_elapsed(fl_event *start, fl_event *stop, double *seconds);

/* ----------------------------------------------------------------------------------------------- arrays ---- */

#define FL_MAX_DIMS 4

/* A row-major array of up to four dimensions in the memory of one device. A view shares the memory of the array it was
 * taken from and keeps it alive. */
typedef struct fl_array fl_array;

/* An array with undefined contents. A dimension may be 0. FL_E_ARGUMENT (dimensions, a size that overflows),
 * FL_E_MEMORY. */
FL_API fl_status fl_array_create(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, fl_array **array);
/* An array with a copy of `host` (packed, row-major). Waits for the copy. */
FL_API fl_status fl_array_from_host(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, const void *host,
                                    fl_array **array);
/* The part that starts at start[d] and is shape[d] long in each dimension d, without a copy. */
FL_API fl_status fl_array_view(const fl_array *array, const int64_t *start, const int64_t *shape, fl_array **view);
/* Memory that queued work still uses is freed after that work. */
FL_API void fl_array_free(fl_array *array);

/* Copies all elements to `host` (packed), after all work queued on the device. Waits. */
FL_API fl_status fl_array_to_host(const fl_array *array, void *host);
/* Queues a copy from or to host memory (packed), which must stay until it is done. Memory from fl_host_alloc lets the
 * copy overlap with other work. */
FL_API fl_status fl_array_write(fl_array *array, const void *host, fl_stream *stream);
FL_API fl_status fl_array_read(const fl_array *array, void *host, fl_stream *stream);
/* A copy of the array on another device (or on the same one), by way of the host where need be. Waits. */
FL_API fl_status fl_array_to_device(const fl_array *array, fl_device *device, fl_array **copy);

FL_API fl_device *fl_array_device(const fl_array *array);
FL_API fl_dtype fl_array_dtype(const fl_array *array);
FL_API int fl_array_ndim(const fl_array *array);
/* Elements along dimension d; 1 for a dimension that the array does not have. */
FL_API int64_t fl_array_shape(const fl_array *array, int d);
/* Elements in all. */
FL_API int64_t fl_array_size(const fl_array *array);
/* Where the first element is in the device's memory: for other libraries on the same device. */
FL_API void *fl_array_data(const fl_array *array);

/* An array of another library on the same device, without a copy (DLPack, https://dmlc.github.io/dlpack: the struct is
 * the one of dlpack.h, without a version, which only the caller needs). The array takes the tensor over and calls its
 * deleter once it and all its views are freed, after waiting for the work that is queued on the device; on failure the
 * tensor stays the caller's. Work that the other library has queued on it must be done. A GPU's array may also lie in
 * pinned host memory of its vendor, a CPU's in any host memory, pinned or not. A tensor without dimensions (a scalar)
 * becomes an array of one dimension with one element. Such a tensor does not tell whether its memory may be written
 * to: do not give one that may not as an output.
 * FL_E_ARGUMENT: another dtype than Flynn's five, more than FL_MAX_DIMS dimensions, elements of the last dimension that
 * do not lie side by side, elements that share memory or are not aligned to their size; FL_E_WRONG_DEVICE: memory of
 * another device; FL_E_UNSUPPORTED: a plugin that does not tell its type in DLPack. */
struct DLManagedTensor;
FL_API fl_status fl_array_from_dlpack(fl_device *device, struct DLManagedTensor *tensor, fl_array **array);
/* The array for another library, without a copy: the tensor shares its memory and keeps it until the tensor's deleter
 * is called, which any thread may do; strides are always given. Waits for all work queued on the device, so that the
 * other library may use it at once. */
FL_API fl_status fl_array_to_dlpack(const fl_array *array, struct DLManagedTensor **tensor);

/* Host memory that the device copies from and to at full speed (pinned); on a CPU, memory aligned to a cache line. */
FL_API fl_status fl_host_alloc(fl_device *device, size_t bytes, void **memory);
FL_API void fl_host_free(fl_device *device, void *memory);

/* ------------------------------------------------------------------------------------------------ trace ---- */

/* A piece of recorded work. All of it is valid during the call of `take` alone. */
typedef struct fl_span {
    const char *process; /* "host", or the device: "hip-nvidia:0" */
    const char *lane;    /* "thread 1"; "stream 2, kernels", "stream 2, copies to device", "stream 2, copies to host" */
    const char *name;    /* "convolve separable", "copy to host", "wait for hip-nvidia:0" */
    double start_s;      /* since fl_trace_start */
    double seconds;
    double bytes; /* copied, or compulsory for an operation; 0 for what moves none */
} fl_span;

/* Records what the whole process does from now on: each operation and copy twice, as the thread queued it and, between
 * two events, as the device did it; each wait; each opening. Costs two events for each. FL_E_ARGUMENT when it was
 * started already, FL_E_MEMORY. */
FL_API fl_status fl_trace_start(void);
/* Waits for the devices that are in the trace, gives each span to `take` (NULL: drops them), in the order in which they
 * were queued, and ends the recording. lost (may be NULL): spans that were one too many to be kept, or whose times the
 * device did not tell. FL_E_ARGUMENT when it was not started, or when another thread is within a call. */
FL_API fl_status fl_trace_stop(void (*take)(const fl_span *span, void *user), void *user, int64_t *lost);

/* A span of the calling thread for work of the program's own, such as reading a file. */
typedef struct fl_trace_mark {
    int64_t index;
} fl_trace_mark;
FL_API fl_status fl_trace_begin(const char *name, fl_trace_mark *mark);
FL_API void fl_trace_end(fl_trace_mark mark);

/* ------------------------------------------------------------------------------------------- operations ---- */

/* What one call cost and how it ran. */
typedef struct fl_timing {
    double kernel_s;        /* on the device, from the start of the work to its end; GPU: between two events */
    const char *variant;    /* the variant that ran: what "auto" chose. Lives as long as the device */
    int block[3];           /* threads of a block, or the cache tile of a CPU (x, y, z); 0: the variant has none */
    int64_t grid[3];        /* blocks */
    int64_t shared_bytes;   /* of a block */
    double bytes;           /* compulsory: each input read once, each output written once */
    double bytes_requested; /* by the loads and stores as this variant issues them */
    double flops;           /* floating-point operations of this variant, a multiply-add being two */
    /* Of the kernel that was queued last with that block, as the runtime tells; all 0 where it does not (a CPU, an
     * emulation, a library's kernels). */
    int registers;       /* of a thread */
    int64_t local_bytes; /* of a thread: what did not fit into registers and lies in memory */
    double occupancy;    /* threads that a multiprocessor has room for at that block, over the most that it holds */
} fl_timing;

/* How to run one operation. NULL, or one filled with zeros: `auto`, on the default stream, queued. */
typedef struct fl_run {
    const char *variant; /* NULL: "auto", the best for this call */
    int block[3];        /* x, y, z; 0: the variant's own choice */
    fl_stream *stream;   /* NULL: the device's default stream */
    fl_timing *timing;   /* not NULL: the call waits and fills it */
} fl_run;

typedef enum fl_mode { FL_FULL = 0, FL_SAME = 1, FL_VALID = 2 } fl_mode;

/* The shape (2) of the convolution of `image` (2) with `kernel` (2) in that mode, as scipy.signal.convolve2d has it:
 * full: image + kernel - 1; same: image's; valid: only where the smaller lies wholly inside the larger, in which either
 * may be the larger, but the same one in both dimensions (else FL_E_ARGUMENT). */
FL_API fl_status fl_convolve_shape(const int64_t *image, const int64_t *kernel, fl_mode mode, int64_t *out);

/* out[i, j] = sum over p, q of image[i + oi - p, j + oj - q] * kernel[p, q], zero outside `image`; the offsets are 0
 * (full), (kernel - 1) / 2 (same) or kernel - 1 (valid): a true convolution, scipy.signal.convolve2d with a border of
 * zeros. In mode valid the input that contains the other is taken as the image. The zeros of the border count: where a
 * kernel with an infinity or NaN hangs over the edge, the result is NaN, as SciPy's is.
 *
 * image, kernel: 2-D, any dtype, no dimension 0; computed in f32 when both are f32, else in f64. out: 2-D, that dtype,
 * the shape of fl_convolve_shape, no memory shared with the inputs (from its first element to its last).
 * Variants: naive, tiled, separable; and reference, the oracle, which is slow and which only `serial` has. `separable`
 * needs a kernel of rank one (in mode valid: the smaller input), to rounding: each element within 16 units of rounding
 * of the product of its factors, and not all of them zero (FL_E_ARGUMENT, from the call that waits where only the
 * device can tell). auto takes it for such kernels and is as accurate as naive for any input, infinities and NaN
 * included: an error of at most (kernel's elements + 16) units of rounding of the same sum over absolute values.
 * Queued. FL_E_ARGUMENT, FL_E_WRONG_DEVICE, FL_E_UNKNOWN (variant), FL_E_UNSUPPORTED, FL_E_LIMIT, FL_E_MEMORY. */
FL_API fl_status fl_convolve(fl_device *device, const fl_array *image, const fl_array *kernel, fl_mode mode,
                             fl_array *out, const fl_run *run);

/* The length of the convolution of `signal` with `kernel` elements in that mode: full: signal + kernel - 1; same:
 * signal; valid: the longer - the shorter + 1. */
FL_API fl_status fl_convolve1d_shape(int64_t signal, int64_t kernel, fl_mode mode, int64_t *out);

/* out[i] = sum over p of signal[i + o - p] * kernel[p], where both exist; o is 0 (full), (kernel - 1) / 2 (same) or the
 * shorter - 1 (valid): scipy.signal.convolve of two vectors. Nothing is added for what lies outside the signal, so that
 * an infinity or NaN reaches only the sums that it is part of (unlike fl_convolve's border; numpy.convolve's rule).
 *
 * signal, kernel: 1-D, any dtype, at least one element; computed in f32 when both are f32, else in f64. out: 1-D, that
 * dtype, of fl_convolve1d_shape's length, no memory shared with the inputs.
 * Variants: naive, tiled; fft, by a library's FFT (cuFFT, hipFFT, KissFFT), whose error is relative to the largest sums
 * rather than to each, and which spreads infinities and NaN: auto does not take it; and reference, the oracle, which is
 * slow and which only `serial` has. Error of naive and tiled: at most (the shorter's elements + 16) units of rounding
 * of the same sum over absolute values. Error of fft, with u a unit of rounding: at most 20 (log2 N + 2) u |s| |k|,
 * where |k| is the sum over the shorter's absolute values and |s| the root of the sum of squares of those N successive
 * elements of the longer one that have the most, N = max(65536, 16 times the shorter's elements): no block that is
 * transformed is longer. (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 24.2: with good
 * twiddle factors an FFT of N elements is wrong by less than 6.7 u log2 N of its root of squares. Three of them follow
 * each other in a convolution, one more step makes a real one of a complex one, and the product adds 6 u; that the root
 * of squares of all errors of a block bounds each of them is why the usual error is much smaller.) Queued.
 * FL_E_ARGUMENT, FL_E_WRONG_DEVICE, FL_E_UNKNOWN (variant), FL_E_UNSUPPORTED, FL_E_LIMIT, FL_E_MEMORY. */
FL_API fl_status fl_convolve1d(fl_device *device, const fl_array *signal, const fl_array *kernel, fl_mode mode,
                               fl_array *out, const fl_run *run);

/* out = in in ascending order, as numpy.sort: -0 equals +0 and comes in any order with it, NaN comes last. in, out:
 * 1-D, of one dtype (f32, f64, i32, i64) and length, which may be 0; `out` is `in` itself (in place) or shares no
 * memory with it. Variants: radix, bitonic, library (CUB, rocPRIM; qsort on a CPU). Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_sort(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);

/* The elements of `in` that are not zero (NaN is not, -0 is), in their order, in out[0], out[1] ..., and their number
 * in count[0]: in[in != 0] of NumPy. in: 1-D, any dtype; out: that dtype, at least as long; count: i64, one element.
 * Nothing behind the selected elements of `out` is touched. No two may share memory. Variants: scan, library (CUB,
 * rocPRIM), and on a CPU naive. Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_select(fl_device *device, const fl_array *in, fl_array *out, fl_array *count, const fl_run *run);

/* The largest `upto` of fl_primes. */
#define FL_PRIMES_MOST (INT64_C(1) << 40)
/* The largest `upto` of its variants that divide. */
#define FL_PRIMES_MOST_TRIAL (INT64_C(1) << 31)

/* At least as many as there are primes below `upto`: 1.25506 upto / ln upto (Rosser and Schoenfeld, "Approximate
 * formulas for some functions of prime numbers", 1962, corollary 1), and exact below 17. 0 for `upto` of 2 and less. */
FL_API int64_t fl_primes_bound(int64_t upto);

/* The primes below `upto`, ascending, in out[0], out[1] ..., and their number in count[0]. out: 1-D, i64, at least
 * fl_primes_bound(upto) elements, of which those behind the primes are not touched; count: i64, one element. 0 and 1
 * are no primes. upto: at most FL_PRIMES_MOST; below 3 there is none. Variants: sieve (of Eratosthenes, in segments);
 * trial-all and trial-each, which divide each n by 2, 3 ... up to n / 2 until one divides it, as the course does;
 * sqrt-all and sqrt-each, which stop at the square root. -all decides all numbers in one launch, -each makes one launch
 * and one copy to the host for each number, and so waits; these four go up to FL_PRIMES_MOST_TRIAL (FL_E_ARGUMENT
 * beyond). Scratch memory stays below 128 MiB whatever `upto`. Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_primes(fl_device *device, int64_t upto, fl_array *out, fl_array *count, const fl_run *run);

/* Element by element, arrays of up to FL_MAX_DIMS dimensions and one shape, with any number of elements; `out` is an
 * input itself (in place) or shares no memory with it. Variants: naive (a thread an element in a 1-D grid), naive-2d
 * and naive-3d (in a 2-D and 3-D grid), uncoalesced (threadIdx.x along the slowest dimension: to see what it costs),
 * grid-stride, vector (several elements a load); on a CPU naive and uncoalesced. Queued. Errors as fl_convolve1d. */

/* out = in + 1. f32, f64, i32, i64, out's dtype in's. The largest integer wraps around to the smallest, as NumPy's. */
FL_API fl_status fl_increment(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);
/* out = the square root of in, correctly rounded; NaN of what is below 0. f32 in f32, all else in f64. */
FL_API fl_status fl_sqrt(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);
/* out = the larger of x and y; NaN where either is, as numpy.maximum. f32, f64, i32, i64: two dtypes are computed in
 * f64 if either is f64 or one is of floats and one of integers, in i64 if they are i32 and i64. */
FL_API fl_status fl_maximum(fl_device *device, const fl_array *x, const fl_array *y, fl_array *out, const fl_run *run);
/* out = log(x + y): -infinity for a sum of 0, NaN below. f32 when both are f32, else f64. Error: at most 4 units in the
 * last place of the logarithm of the rounded sum. */
FL_API fl_status fl_log_of_sum(fl_device *device, const fl_array *x, const fl_array *y, fl_array *out,
                               const fl_run *run);

/* What fl_allclose found. */
typedef struct fl_closeness {
    bool close;
    int64_t differing;   /* elements */
    int64_t worst_index; /* row-major, of the one that exceeds its bound the most; -1 when none differs */
    double worst_excess; /* |a - b| over its bound; infinite for what is not finite; 0 when none differs */
} fl_closeness;

/* numpy.allclose(a, b, relative, absolute, equal_nan): |a - b| <= absolute + relative * |b| for every element, equal
 * infinities are close, NaN are where equal_nan says so. a, b: one shape, any dtype, compared in f32 when both are f32,
 * else in f64; relative and absolute at least 0 (numpy: 1e-5, 1e-8). Variant: naive. Waits. */
FL_API fl_status fl_allclose(fl_device *device, const fl_array *a, const fl_array *b, double relative, double absolute,
                             bool equal_nan, fl_closeness *found, const fl_run *run);

/* y = u[:, :rank] diag(s[:rank]) vt[:rank, :], or a batch of those: what is left of a matrix when only the leading
 * `rank` singular values are kept. u: [batch x] m x k; s: [batch x] k; vt: [batch x] k x n; y: [batch x] m x n; 1 <=
 * rank <= k; f32 when all inputs are f32, else f64, which is y's dtype. y shares no memory with the inputs. Variants:
 * naive (a thread an element, 3 rank loads), tiled (tiles in shared memory or the first cache), register (several
 * outputs a thread), library (cuBLAS, rocBLAS, OpenBLAS). Error: at most (rank + 4) units of rounding of the same sum
 * over absolute values. Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_reconstruct(fl_device *device, const fl_array *u, const fl_array *s, const fl_array *vt,
                                int64_t rank, fl_array *y, const fl_run *run);

/* The leading k singular values of `a`, descending, and their vectors: a = u diag(s) vt if k = min(m, n), else the best
 * approximation of rank k. a: m x n, any dtype, finite; u: m x k; s: k; vt: k x n, 1 <= k <= min(m, n), f32 when a is
 * f32, else f64. The vectors of u and of vt are orthonormal, each pair up to its sign. Variants: library (LAPACK's
 * gesdd on a CPU; cuSOLVER, rocSOLVER), of which the leading k are kept; jacobi (a CPU; one-sided rotations, in f64);
 * host (a GPU: the host's LAPACK, or jacobi, with the copies there and back); randomized (Halko, Martinsson and Tropp,
 * "Finding structure with randomness", SIAM Review 53, 2011, algorithms 4.4 and 5.1, with 10 random vectors more than k
 * and two powers of a a'), for k well below min(m, n): its vectors span nearly the best subspace, and
 * ||a - u diag(s) vt||_F = sqrt(||a||_F^2 - sum of s^2) tells how nearly. `seed` is for randomized: the same one gives
 * the same result on the same device. auto is library, else host or jacobi: exact to rounding, never randomized.
 * Error: that of orthogonal transformations, about sqrt(max(m, n)) units of rounding of the largest singular value.
 * Waits. FL_E_ARGUMENT for an element that is not finite, else errors as fl_convolve1d. */
FL_API fl_status fl_svd(fl_device *device, const fl_array *a, uint64_t seed, fl_array *u, fl_array *s, fl_array *vt,
                        const fl_run *run);

/* out[...] = in[...] in out's dtype, as C converts: same shape; f32 or f64 from any dtype, i64 from integers. Variant:
 * naive. Queued. */
FL_API fl_status fl_convert(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);

/* out = in, on the device: what its memory can do at most. 1-D, one dtype (any) and length, no memory shared. Variants:
 * naive (a loop, or a kernel with 16-byte loads), library (the C library's or the runtime's own copy). Queued. */
FL_API fl_status fl_copy_array(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);

/* out = in after `steps` times x = factor * x + term: what its arithmetic can do at most. 1-D, f32 or f64, one dtype
 * and length; `out` is `in` itself or shares no memory with it; steps >= 0. Variants: naive (an element at a time),
 * register (as many at a time as keep the units busy). The multiply-add may be fused; 2 * steps operations an element.
 * Queued. */
FL_API fl_status fl_multiply_add(fl_device *device, const fl_array *in, double factor, double term, int64_t steps,
                                 fl_array *out, const fl_run *run);

#ifdef __cplusplus
}
#endif
#endif
