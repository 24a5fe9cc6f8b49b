/* SPDX-License-Identifier: MIT
 *
 * flynn.h - the public interface of libflynn.
 *
 * One set of operations on one CPU core, on all cores and on GPUs of NVIDIA and AMD. The device is chosen at run time:
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
 * - Every function that can fail returns fl_status. fl_last_error() then describes the error of this thread: the
 *   argument, its value and the expected one. The library never prints, exits or aborts. A failed call does not change
 *   its outputs and leaves the device usable.
 * - "Queued" means: the function returns when the work is in a stream, before it is done. A function that waits for the
 *   work says "Waits".
 * - Shapes and strides count elements, outermost dimension first (row-major); sizes count bytes; times are seconds.
 * - Two arrays "share memory" if the ranges from the first element to the last overlap, also where views interleave
 *   without a common element. An output that must not share memory with an array and does is FL_E_ARGUMENT.
 * - A unit of rounding, u, is 2^-24 for f32 and 2^-53 for f64. Error bounds are for results without overflow and
 *   underflow; docs/accuracy.md has the others, and says which results have the same bits again. They assume IEEE 754's
 *   default mode (to nearest, with subnormals) in all threads; a call leaves the mode as it is.
 * - Several threads may use a device at once; only one thread at a time may use a stream, an event or an array.
 * - Freeing NULL does nothing.
 * - A program that was compiled with this header runs with each later library of the same soname. Functions keep their
 *   arguments. The structs of a call (fl_run, fl_timing, fl_argument, fl_closeness), fl_parameter and fl_trace_mark
 *   keep their size: a new member takes the place of a reserved one, which is 0 until then. Other structs grow at their
 *   end, and a function that fills such a struct is an inline one here: it passes the size that the struct had when the
 *   program was compiled, and the library fills no more. From other languages call the functions named ..._sized.
 */
#ifndef FLYNN_H
#define FLYNN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FL_VERSION_MAJOR 0
#define FL_VERSION_MINOR 2
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
    FL_E_WRONG_DEVICE = 3, /* the device of an array is not that of the call */
    FL_E_UNSUPPORTED = 4,  /* the backend does not offer that operation, variant or dtype */
    FL_E_UNAVAILABLE = 5,  /* the backend is known but cannot run here: the message states the cause and a fix */
    FL_E_LIMIT = 6,        /* a launch exceeds a limit of the device */
    FL_E_MEMORY = 7,       /* out of memory, on the host or the device; of processes, files or space on a disk */
    FL_E_DEVICE = 8,       /* the device or its driver failed, or a user's function or kernel did not return */
    FL_E_SOURCE = 9,       /* the text of a function or kernel does not compile: the message has file:line:column */
} fl_status;

/* "FL_OK", "FL_E_ARGUMENT" ...; never NULL. */
FL_API const char *fl_status_name(fl_status status);

/* The error message of this thread's last failed call: one line without a newline; "" if no call failed. Valid until
 * the thread's next failing call. */
FL_API const char *fl_last_error(void);
/* For libraries on top of this one: keeps the message for this thread's fl_last_error, cut to fit, and returns
 * `status`.
 */
FL_API fl_status fl_set_error(fl_status status, const char *message);

/* The version of the loaded library, "major.minor.patch". */
FL_API const char *fl_version(void);

/* The name in `names` whose spelling is nearest to `wanted`, for error messages. NULL if more than a third of the
 * letters of each differ (by optimal string alignment distance). */
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

/* The dtype of the result of an operation on `count` inputs (at least 1). The operation converts the inputs to that
 * dtype and computes in it. For an operation that always computes in floating point, such as fl_convolve: f32 if all
 * inputs are f32, else f64. */
FL_API fl_dtype fl_dtype_float_result(const fl_dtype *inputs, int count);
/* For an operation that also computes in integers, such as fl_maximum: the dtype of the inputs if all have the same
 * one; otherwise i64 if all are integers, else f64. */
FL_API fl_dtype fl_dtype_result(const fl_dtype *inputs, int count);

/* --------------------------------------------------------------------------------------------- backends ---- */

#define FL_MAX_PROBED_DEVICES 16
#define FL_MAX_PROBED_ISAS 4

/* What a plugin found on this machine, without opening a device. */
typedef struct fl_probe {
    int device_count;                        /* 0: the plugin cannot run here, `cause` says why */
    char device[FL_MAX_PROBED_DEVICES][128]; /* the devices' names */
    int max_threads;                         /* CPU: the largest N of "omp:N"; 0: N is the index of a device */
    int isa_count;                           /* instruction sets that a resource can name ("simd:v3") */
    struct {
        char name[8];     /* "v2" */
        char why_not[96]; /* why this processor cannot run it; "" if it can */
    } isa[FL_MAX_PROBED_ISAS];
    char cause[256]; /* why the plugin cannot run here; "" if it can */
    char cure[256];  /* how to make it run */
    char
        lacks[512]; /* missing libraries, the variants that need them, and how to install them; "" if none is missing */
} fl_probe;

/* A plugin. The strings stay valid until the process ends. */
typedef struct fl_backend_info {
    const char *name;        /* "omp", "hip-nvidia"; taken from the file's name if the file could not be loaded */
    const char *path;        /* of the file */
    bool usable;             /* false: probe.cause says why, probe.cure how to make it run */
    const char *family;      /* "cpu", "hip"; if not known: the name up to '-', else "" */
    const char *flynn_class; /* "SISD", "SIMD", "MIMD", "SIMT"; "" if not known */
    bool emulation;          /* imitates a device for testing: used only where it is named, never ranked */
    const char *built_with;  /* compiler, flags, architectures; "" if not known */
    int score;               /* "auto" and a family's name choose the usable plugin with the highest score */
    const char *remark; /* what a user should know: it was loaded although others can write to its folder; else "" */
    fl_probe probe;     /* last, since it grows at its end */
} fl_backend_info;

/* The number of plugins in FLYNN_PLUGIN_PATH (folders separated by ':', ignored in a set-uid program), in the folder of
 * libflynn and in the installed folder. The first call loads and probes each of them, unless a device of it would have
 * a file that is not here (fl_plugin.needs). 0: there are none, or, with fl_last_error, the folders could not be read
 * for want of memory or file descriptors.
 *
 * A plugin is loaded only if no other user can have put it there: its file and folder belong to root, to the user or to
 * the owner of libflynn, and neither others nor a group (but root's, and the owner's own, with the owner's number and
 * name and no other member) may write to them. From a folder that FLYNN_PLUGIN_PATH names it is loaded nevertheless,
 * with a remark. */
FL_API size_t fl_backend_count(void);
/* The i-th plugin by descending score; NULL if i is out of range. A plugin that could not be used keeps its place:
 * opening a device by its name tries it again, and if it can be used then, this function returns another address, while
 * the old one stays valid and unchanged. */
FL_API const fl_backend_info *fl_backend_get(size_t i);
/* The plugin that a name without items stands for: of a backend, of a family, or of "auto", as fl_device_open says.
 * Errors as there. What other programs do at the moment has no part in it. */
FL_API fl_status fl_backend_find(const char *name, const fl_backend_info **info);

/* The folder of all that Flynn keeps for later processes: $FLYNN_CACHE, else $XDG_CACHE_HOME/flynn or ~/.cache/flynn.
 * `make`: makes it, for this user alone, but not in another user's folder, unless FLYNN_CACHE names it. FL_E_ARGUMENT:
 * also where its name is longer than `size`; FL_E_UNAVAILABLE: FLYNN_CACHE is "off", no variable names a folder, or it
 * cannot be made; FL_E_MEMORY. */
FL_API fl_status fl_cache_folder(bool make, char *folder, size_t size);
/* The folder `code` in it, in which functions that were compiled at run time are kept, cut to `size` bytes; how many
 * they are, and their bytes. Makes no folder. FL_E_UNAVAILABLE: none are kept, and fl_last_error() says why:
 * FLYNN_CACHE is "off"; other users could write to the folder, whose content would run with the user's rights; this
 * user cannot; or no code can be loaded from its file system (noexec). FL_E_MEMORY: also where the disk is full. */
FL_API fl_status fl_cache_describe(char *folder, size_t size, int64_t *entries, int64_t *bytes);

/* ---------------------------------------------------------------------------------------------- devices ---- */

typedef struct fl_device fl_device;

/* The properties of an open device. A limit of 0 means: no limit. */
typedef struct fl_device_info {
    char resource[48];       /* how to open it again: "omp:2:v3", "hip-nvidia:0" */
    const char *backend;     /* the plugin's name */
    const char *family;      /* "cpu", "hip" */
    const char *flynn_class; /* "SISD", "SIMD", "MIMD", "SIMT" */
    bool emulation;
    bool host_memory;     /* arrays are in host memory: the host can use fl_array_data without a copy */
    char name[128];       /* of the processor or GPU */
    char runtime[96];     /* "CUDA 13.0", "OpenMP 4.5"; "" if it uses none */
    char driver[96];      /* of a GPU: "for CUDA up to 13.0" */
    char isa[32];         /* "v3", "sm_90", "gfx90a" */
    int threads;          /* CPU threads used by one call; 0 on a GPU */
    int vector_bits;      /* width of a CPU's vectors, 64 or less if it uses none; 0 on a GPU */
    int multiprocessors;  /* 0 on a CPU */
    int warp_size;        /* 0 on a CPU */
    int64_t memory_bytes; /* of the GPU, or of the host */
    int max_threads_per_block;
    int max_block[3]; /* x, y, z */
    int64_t max_grid[3];
    int64_t max_shared_bytes;    /* shared memory of one block */
    double open_s;               /* duration of fl_device_open: context, canary kernel */
    int dlpack_type;             /* DLDeviceType of its arrays: 1 (kDLCPU), 2 (kDLCUDA), 10 (kDLROCM) */
    int dlpack_pinned_type;      /* of its pinned host memory: 3 (kDLCUDAHost), 11 (kDLROCMHost); 1 if it has none */
    int dlpack_id;               /* DLDevice.device_id of its arrays */
    const char *remark;          /* of its plugin: see fl_backend_info */
    int64_t max_grid_threads[3]; /* of a launch in each dimension: blocks of the grid times threads of a block */
    char bus_id[16];             /* of a GPU on PCI: "0000:3b:00.0"; "": none */
} fl_device_info;

/* Opens the device that `resource` names: `name[:item]...`. The name is a backend ("serial", "omp", "hip-nvidia"), a
 * family ("hip": the GPU plugin whose device is present) or "auto" (the best device); the last two never choose an
 * emulation. Where no backend has that name, "cuda" and "nvidia" are hip-nvidia, "amd" and "rocm" hip-amd, "gpu" is
 * hip, and "openmp" omp. An item is a number (the index of a GPU; CPU threads) or an instruction set (v2, v3, v4; on
 * Arm neon, sve). A GPU must run a canary kernel correctly before the function returns. Where "auto" or a family is a
 * device of several threads, and "simd" computes faster at the moment because other programs use the processors, "simd"
 * is opened, and fl_device_choice says so: finding it out takes about 1 ms, or the time in which the threads get their
 * turns. FL_E_UNKNOWN (the message lists the names and the nearest one), FL_E_ARGUMENT (an item that the backend does
 * not take), FL_E_UNAVAILABLE (with cause and fix), FL_E_DEVICE, FL_E_MEMORY. */
FL_API fl_status fl_device_open(const char *resource, fl_device **device);

/* Waits for the device's work, then closes it. Its arrays, streams and events stay valid until they are freed. */
FL_API void fl_device_close(fl_device *device);

/* Valid until the device is closed. */
FL_API const fl_device_info *fl_device_describe(const fl_device *device);
/* Why "auto" or a family opened this device in place of the best one, in one line; "": it did not. Valid until the
 * device is closed. */
FL_API const char *fl_device_choice(const fl_device *device);

/* Waits until all work queued on the device is done, and reports errors in it. */
FL_API fl_status fl_device_wait(fl_device *device);

/* One variant of one operation that a device offers. The strings stay valid until the device is closed. */
typedef struct fl_variant_info {
    const char *operation; /* "convolve" */
    const char *variant;   /* "tiled"; "reference" is the oracle for checks */
    uint32_t dtypes;       /* it computes in: bit 1u << FL_F32 and so on */
    const char *summary;   /* what it does, in one sentence */
    bool restricted;       /* it does not take every input, or is less accurate than the others for some */
} fl_variant_info;

FL_API size_t fl_variant_count(const fl_device *device);
/* The i-th variant; FL_E_ARGUMENT if i is out of range. It is listed whether or not it can run: fl_variant_ready. */
FL_API fl_status fl_variant_get_sized(const fl_device *device, size_t i, fl_variant_info *info, size_t size);
static inline fl_status fl_variant_get(const fl_device *device, size_t i, fl_variant_info *info)
{
    return fl_variant_get_sized(device, i, info, sizeof *info);
}
/* FL_OK if the i-th variant can run. A variant that calls a library, such as a BLAS, loads it at its first call, or
 * here: FL_E_UNAVAILABLE (the library is missing; the message says how to install it), FL_E_MEMORY. A call that names
 * such a variant returns the same; auto takes another one. */
FL_API fl_status fl_variant_ready(const fl_device *device, size_t i);

/* ----------------------------------------------------------------------------------- streams and events ---- */

/* A queue of work. Work in one stream is done in order; work in different streams of a GPU can overlap. On a CPU the
 * calling thread does the work before the call returns. NULL stands for the device's default stream, which any thread
 * may use. */
typedef struct fl_stream fl_stream;
typedef struct fl_event fl_event;

FL_API fl_status fl_stream_create(fl_device *device, fl_stream **stream);
/* Creates a stream as fl_stream_create does; on a GPU its kernels go before those of other streams where both are
 * ready. What runs is not interrupted. */
FL_API fl_status fl_stream_create_urgent(fl_device *device, fl_stream **stream);
/* Waits for the stream's work, then frees it. */
FL_API void fl_stream_free(fl_stream *stream);
/* Waits until the stream's work is done, and reports errors in it. Some errors only the device detects, such as a
 * convolution kernel that is not of rank one given to `separable`: if the call itself did not wait, they are reported
 * here. */
FL_API fl_status fl_stream_wait(fl_stream *stream);
/* Makes work queued in `stream` from now on wait for `event`; the host does not wait. */
FL_API fl_status fl_stream_wait_event(fl_stream *stream, fl_event *event);

FL_API fl_status fl_event_create(fl_device *device, fl_event **event);
FL_API void fl_event_free(fl_event *event);
/* Queues the event: it is reached when all work queued before it is done. */
FL_API fl_status fl_event_record(fl_event *event, fl_stream *stream);
/* Waits until the event is reached. FL_E_ARGUMENT if it was never recorded. */
FL_API fl_status fl_event_wait(fl_event *event);
/* Seconds between two recorded events of one device; waits for `stop`. */
FL_API fl_status fl_event_elapsed(fl_event *start, fl_event *stop, double *seconds);

/* ----------------------------------------------------------------------------------------------- arrays ---- */

#define FL_MAX_DIMS 4

/* A row-major array of up to four dimensions in the memory of one device. A view shares the memory of its array, which
 * is freed with the last of them. */
typedef struct fl_array fl_array;

/* Creates an array with undefined contents. A dimension may be 0. FL_E_ARGUMENT (number of dimensions, a size that
 * overflows), FL_E_MEMORY. */
FL_API fl_status fl_array_create(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, fl_array **array);
/* Creates an array with a copy of `host` (packed, row-major). Waits. */
FL_API fl_status fl_array_from_host(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, const void *host,
                                    fl_array **array);
/* Creates a view of the part that starts at start[d] and has shape[d] elements in each dimension d, without a copy. */
FL_API fl_status fl_array_view(const fl_array *array, const int64_t *start, const int64_t *shape, fl_array **view);
/* Memory in use by queued work is freed after that work. */
FL_API void fl_array_free(fl_array *array);

/* Copies all elements to `host` (packed), after all work queued on the device. Waits. */
FL_API fl_status fl_array_to_host(const fl_array *array, void *host);
/* Queue a copy from or to host memory (packed), which must stay valid until the copy is done. If the memory is from
 * fl_host_alloc, the copy can overlap with other work. */
FL_API fl_status fl_array_write(fl_array *array, const void *host, fl_stream *stream);
FL_API fl_status fl_array_read(const fl_array *array, void *host, fl_stream *stream);
/* Creates a copy of the array on another device, or on the same one, through host memory. Waits. */
FL_API fl_status fl_array_to_device(const fl_array *array, fl_device *device, fl_array **copy);

FL_API fl_device *fl_array_device(const fl_array *array);
FL_API fl_dtype fl_array_dtype(const fl_array *array);
FL_API int fl_array_ndim(const fl_array *array);
/* Elements along dimension d; 1 if the array has no such dimension. */
FL_API int64_t fl_array_shape(const fl_array *array, int d);
/* The number of elements. */
FL_API int64_t fl_array_size(const fl_array *array);
/* The address of the first element in the device's memory, for other libraries on the same device. */
FL_API void *fl_array_data(const fl_array *array);

/* Creates an array over another library's tensor on the same device, without a copy (DLPack,
 * https://dmlc.github.io/dlpack: the unversioned struct of dlpack.h, a header that only the caller needs). The array
 * owns the tensor: when it and all its views are freed, it waits for the work queued on the device and calls the
 * tensor's deleter. After an error the caller still owns the tensor. The other library must have finished its own work
 * on the tensor. A GPU also takes pinned host memory of its vendor, a CPU any host memory. A tensor without dimensions
 * (a scalar) becomes an array of one dimension with one element. The struct does not say whether the memory is
 * read-only: do not use a read-only tensor as an output.
 * FL_E_ARGUMENT: a dtype that Flynn does not have, more than FL_MAX_DIMS dimensions, elements of the last dimension
 * that are not contiguous, elements that share memory or are not aligned to their size; FL_E_WRONG_DEVICE: memory of
 * another device; FL_E_UNSUPPORTED: the plugin does not state its DLPack device type. */
struct DLManagedTensor;
FL_API fl_status fl_array_from_dlpack(fl_device *device, struct DLManagedTensor *tensor, fl_array **array);
/* Creates a tensor over the array for another library, without a copy. The tensor keeps the memory alive until its
 * deleter is called, which any thread may do; its strides are never NULL. Waits for all work queued on the device, so
 * that the other library can use the tensor at once. */
FL_API fl_status fl_array_to_dlpack(const fl_array *array, struct DLManagedTensor **tensor);

/* Host memory for fast copies from and to the device (pinned); for a CPU, memory aligned to a cache line. */
FL_API fl_status fl_host_alloc(fl_device *device, size_t bytes, void **memory);
FL_API void fl_host_free(fl_device *device, void *memory);

/* ----------------------------------------------------------------------------------------------- graphs ---- */

/* Calls that are recorded once and then run as often as wanted, at less cost: their arguments were checked and their
 * variants chosen when they were recorded, and a GPU gets them as one piece of work. That pays where many calls take
 * few microseconds each, such as the steps of a simulation. */
typedef struct fl_graph fl_graph;

/* Records what is queued in the stream from now on in place of doing it: operations, launches of kernels, and
 * fl_array_write and fl_array_read, whose host memory is copied from or to by each run. A call fails as it would
 * otherwise, and is then no part of the graph; FL_E_UNSUPPORTED: it waits for its work. A call with fl_run.timing, a
 * wait for the stream, and its events are FL_E_ARGUMENT until fl_graph_end. FL_E_ARGUMENT, FL_E_MEMORY. */
FL_API fl_status fl_graph_begin(fl_stream *stream);
/* Ends the recording and creates the graph. The stream, and the arrays, functions, kernels and host memory of the
 * recorded calls must stay until the graph is freed; what is in the arrays may change between runs. */
FL_API fl_status fl_graph_end(fl_stream *stream, fl_graph **graph);
/* Queues all recorded calls in that stream, in their order. The results are those of the calls themselves. One run of a
 * graph follows the other. FL_E_ARGUMENT, FL_E_MEMORY, FL_E_DEVICE. */
FL_API fl_status fl_graph_run(fl_graph *graph);
/* How many launches a run takes: 1 where the device has the whole graph (a GPU; not an emulation), else one for each
 * recorded piece of work: on a processor, and where a call waits or uses a library of the GPU's vendor on the way. */
FL_API int64_t fl_graph_launches(const fl_graph *graph);
/* Waits for the runs. */
FL_API void fl_graph_free(fl_graph *graph);

/* ------------------------------------------------------------------------------------------------ trace ---- */

/* A piece of recorded work. It is valid only during the call of `take`. */
typedef struct fl_span {
    const char *process; /* "host", or the device: "hip-nvidia:0" */
    const char *lane;    /* "thread 1"; "stream 2, kernels", "stream 2, copies to device", "stream 2, copies to host" */
    const char *name;    /* "convolve separable", "copy to host", "wait for hip-nvidia:0" */
    double start_s;      /* since fl_trace_start */
    double seconds;
    double bytes; /* of a copy; of an operation the compulsory ones; else 0 */
} fl_span;

/* Starts to record the work of the whole process: each operation and copy twice (the host's call that queued it, and
 * the device's execution between two events), each wait and each opening of a device. Two events per operation or copy.
 * FL_E_ARGUMENT (already started), FL_E_MEMORY. */
FL_API fl_status fl_trace_start(void);
/* Ends the recording: waits for the recorded devices and passes each span to `take` (NULL: to nobody) in the order of
 * queueing. lost (may be NULL) is the number of spans that did not fit into the trace or whose times the device did not
 * report. FL_E_ARGUMENT (not started, or another thread is inside a call). */
FL_API fl_status fl_trace_stop(void (*take)(const fl_span *span, void *user), void *user, int64_t *lost);

/* A span of the calling thread for the program's own work, such as reading a file. */
typedef struct fl_trace_mark {
    int64_t index;
} fl_trace_mark;
FL_API fl_status fl_trace_begin(const char *name, fl_trace_mark *mark);
FL_API void fl_trace_end(fl_trace_mark mark);

/* ------------------------------------------------------------------------------------------- operations ---- */

/* The duration of one call, and how it ran. */
typedef struct fl_timing {
    double kernel_s;        /* of the work on the device, from start to end; GPU: between two events */
    const char *variant;    /* the variant that ran, for "auto" the chosen one. Valid until the device is closed */
    int block[3];           /* threads of a block, or the cache tile of a CPU (x, y, z); 0: the variant has none */
    int64_t grid[3];        /* blocks */
    int64_t shared_bytes;   /* of a block */
    double bytes;           /* compulsory: each input read once, each output written once */
    double bytes_requested; /* by the loads and stores that this variant issues */
    double flops;           /* floating-point operations of this variant; a multiply-add counts as two */
    /* The following describe the last kernel queued with that block and come from the GPU's runtime; 0 if unknown (a
     * CPU, an emulation, a kernel of a library). */
    int registers;       /* of a thread */
    int64_t local_bytes; /* of a thread: spilled registers and arrays in memory */
    double occupancy;    /* resident threads of a multiprocessor with that block, divided by its maximum */
    double bound;        /* the least tolerance that this variant takes for these arguments; 0: the call had none */
    double reserved[7];  /* 0 */
} fl_timing;

struct fl_count;

/* How to run one operation. NULL, or all fields 0: variant "auto", queued in the default stream. FL_E_UNSUPPORTED: a
 * reserved field is not 0, and this library has no meaning for it.
 *
 * `tolerance` is the error that the caller accepts, relative to the largest magnitude in the result (fl_svd,
 * fl_reconstruct: to its Frobenius norm). Each element is then within tolerance times that, or, where this is less
 * because terms cancel, within the error that the operation states without a tolerance. auto takes the fastest variant
 * of which that is known. 0: the error that the operation states. Each variant has a least tolerance (fl_timing.bound),
 * its error where no terms cancel. FL_E_ARGUMENT: the tolerance is negative, above 1 or NaN, or less than the variant
 * takes; the message says what it takes. A variant whose error nothing bounds takes none: fl_map, fl_kernel_launch,
 * fl_multiply_add, and fl_svd by random vectors. docs/accuracy.md has the bounds. */
typedef struct fl_run {
    const char *variant;    /* NULL: "auto", the best for this call */
    int block[3];           /* x, y, z; 0: the variant chooses */
    fl_stream *stream;      /* NULL: the device's default stream */
    fl_timing *timing;      /* if not NULL, the call waits and fills it */
    double tolerance;       /* the error that the caller accepts, above; 0: the operation's own */
    struct fl_count *count; /* reserved for what an emulated GPU counts */
    void *reserved[4];
} fl_run;

typedef enum fl_mode { FL_FULL = 0, FL_SAME = 1, FL_VALID = 2 } fl_mode;

/* The shape (2) of the convolution of shapes `image` (2) and `kernel` (2), as in scipy.signal.convolve2d:
 * full: image + kernel - 1; same: image; valid: larger - smaller + 1, where either input may be the larger one, but it
 * must contain the other in both dimensions (else FL_E_ARGUMENT). A dimension may be 0, in mode full of one of the
 * two. */
FL_API fl_status fl_convolve_shape(const int64_t *image, const int64_t *kernel, fl_mode mode, int64_t *out);

/* out[i, j] = sum over p, q of image[i + oi - p, j + oj - q] * kernel[p, q], zero outside `image`; the offsets are 0
 * (full), (kernel - 1) / 2 (same) or kernel - 1 (valid): a true convolution, scipy.signal.convolve2d with a border of
 * zeros. In mode valid the input that contains the other is the image. The zeros of the border take part in the sum:
 * where a kernel with an infinity or NaN reaches over the edge, the result is NaN, as in SciPy.
 *
 * image, kernel: 2-D, any dtype; if one has no elements, those of the result are empty sums, 0, as in SciPy. out: 2-D,
 * of fl_dtype_float_result's dtype and fl_convolve_shape's shape; it shares no memory with the inputs.
 * Variants: naive, tiled, separable; by FFTs of tiles fft, in f32 fft-wide and in f64 fft-checked; and reference, the
 * oracle, which is slow and which only `serial` has. `separable` needs a kernel (in mode valid: the smaller input) of
 * rank one up to rounding: each element within 32 units of rounding of the product of its factors (2 for each element
 * if it has fewer than 16), and not all elements zero. If not: FL_E_ARGUMENT, on a GPU from the next call that waits.
 * auto uses separable for such kernels (a GPU only where that saves more than its test of the rank takes), and for
 * large ones that are not fft-wide, in f64 fft-checked; infinities and NaN are where naive has them. auto of a GPU
 * waits until the stream has tested the rank only where an FFT needs a library: for kernels beyond 192x192. Error of
 * every variant but fft: at most (elements of the kernel + 32) units of rounding of the same sum over absolute values.
 * fft may add 20 (log2 N + 2) u |s| |k| to that, with the u, and for the reasons, of fl_convolve1d: |k| is the root of
 * the sum of the kernel's squares, |s| the largest one of a tile of N elements of the image, and N the product of
 * max(512, 4 times the kernel's elements) of both dimensions. auto uses it with a tolerance alone, which fft and
 * fft-wide keep for all data: a tile of which those norms do not show it is summed directly, when the largest magnitude
 * of the others is known. Queued. FL_E_ARGUMENT, FL_E_WRONG_DEVICE, FL_E_UNKNOWN (variant), FL_E_UNSUPPORTED,
 * FL_E_UNAVAILABLE (the library of an FFT), FL_E_LIMIT, FL_E_MEMORY. */
FL_API fl_status fl_convolve(fl_device *device, const fl_array *image, const fl_array *kernel, fl_mode mode,
                             fl_array *out, const fl_run *run);
/* A window of the result of mode full, which is not computed as a whole: out[i, j] is its element [i + origin[0],
 * j + origin[1]]. out: 2-D, of any shape for which all of those exist. Otherwise as fl_convolve. */
FL_API fl_status fl_convolve_window(fl_device *device, const fl_array *image, const fl_array *kernel,
                                    const int64_t *origin, fl_array *out, const fl_run *run);

/* The length of the convolution of lengths `signal` and `kernel`: full: signal + kernel - 1; same: signal; valid:
 * longer - shorter + 1. */
FL_API fl_status fl_convolve1d_shape(int64_t signal, int64_t kernel, fl_mode mode, int64_t *out);

/* out[i] = sum over p of signal[i + o - p] * kernel[p], where both exist; o is 0 (full), (kernel - 1) / 2 (same) or
 * shorter - 1 (valid): scipy.signal.convolve of two vectors. Positions outside the signal add nothing, so an infinity
 * or NaN only reaches the sums that contain it (numpy.convolve's rule; fl_convolve's border differs).
 *
 * signal, kernel: 1-D, any dtype, at least one element, which numpy.convolve also asks for. out: 1-D, of
 * fl_dtype_float_result's dtype and fl_convolve1d_shape's length, no memory shared with the inputs. Variants: naive,
 * tiled; fft, by FFTs of blocks (on a GPU for kernels beyond 65536 elements by cuFFT or hipFFT; on a processor by
 * FFTW), whose error is relative to the largest sums and not to each: auto uses it with a tolerance alone, as
 * fl_convolve; in f32 fft-wide, fft in f64 with small sums computed directly, which auto uses for long kernels; in f64
 * fft-checked, fft with the sums computed directly whose error may exceed that of direct ones, which auto uses for long
 * kernels, too; and reference, the oracle, which is slow and which only `serial` has. Error of the others: at
 * most (elements of the shorter input + 16) units of rounding of the same sum over absolute values. fft may add, with u
 * a unit of rounding, 20 (log2 N + 2) u |s| |k|, where N = max(65536, 16 times the elements of the shorter input) is
 * the longest transformed block or pair of blocks, |k| the root of the sum of the shorter input's squares, and |s| the
 * largest one of N successive elements of the longer input. (Higham, "Accuracy and Stability of Numerical Algorithms",
 * 2nd ed., theorem 24.2: with good twiddle factors the error of an FFT of N elements is below 6.7 u log2 N times the
 * root of the sum of their squares. A convolution has three FFTs in sequence, a further step between complex and real
 * transforms, and a product that adds 6 u; docs/accuracy.md shows why the norms are these.) Queued. FL_E_ARGUMENT,
 * FL_E_WRONG_DEVICE, FL_E_UNKNOWN (variant), FL_E_UNSUPPORTED, FL_E_UNAVAILABLE (the library of an FFT), FL_E_LIMIT,
 * FL_E_MEMORY. */
FL_API fl_status fl_convolve1d(fl_device *device, const fl_array *signal, const fl_array *kernel, fl_mode mode,
                               fl_array *out, const fl_run *run);
/* A window of the result of mode full, which is not computed as a whole: out[i] is its element i + origin. out: 1-D, of
 * any length for which all of those exist. Otherwise as fl_convolve1d. */
FL_API fl_status fl_convolve1d_window(fl_device *device, const fl_array *signal, const fl_array *kernel, int64_t origin,
                                      fl_array *out, const fl_run *run);

/* out = the elements of `in`, bit for bit, in ascending order, as numpy.sort: -0 equals +0 (in any order), NaN comes
 * last (in any order). in, out: 1-D, of the same dtype (f32, f64, i32, i64) and length, which may be 0; `out` is `in`
 * itself (in place) or shares no memory with it. Variants: radix, bitonic, library (CUB, rocPRIM; qsort on a CPU).
 * Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_sort(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);

/* out = the elements of x and y, bit for bit, in the order of fl_sort, in which x and y are; of equal ones x's come
 * first, and each array's stay in their order. All 1-D, of the same dtype (f32, f64, i32, i64), of any length; out is
 * as long as both together and shares no memory with them. If x or y is not in order, neither is the result. Variant:
 * naive (Odeh, Green, Mwassi, Shmueli and Birk, "Merge path - parallel merging made simple", 2012: each thread finds
 * where its part of `out` begins in x and y). Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_merge(fl_device *device, const fl_array *x, const fl_array *y, fl_array *out, const fl_run *run);

/* out[i] = how many elements of `sorted`, which is in the order of fl_sort, come before values[i] and are not equal to
 * it: numpy.searchsorted(sorted, values). sorted, values: 1-D, of the same dtype (f32, f64, i32, i64), of any length;
 * out: i64, as long as values. The arrays share no memory. Variants: naive (a binary search for each value), on a GPU
 * shared (the first levels of all searches in shared memory), on a CPU batched (a step of many searches at a time).
 * Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_search_sorted(fl_device *device, const fl_array *sorted, const fl_array *values, fl_array *out,
                                  const fl_run *run);

/* out[0], out[1] ... = the elements of `in` that are not zero (NaN is not zero, -0 is), in their order, and count[0] =
 * their number: in[in != 0] of NumPy. in: 1-D, any dtype; out: the same dtype, at least as long; count: i64, one
 * element. The elements of `out` after the selected ones stay unchanged. The arrays share no memory. Variants: scan,
 * library (CUB, rocPRIM), and on a CPU naive. Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_select(fl_device *device, const fl_array *in, fl_array *out, fl_array *count, const fl_run *run);

/* The largest `upto` of fl_primes. */
#define FL_PRIMES_MOST (INT64_C(1) << 40)
/* The largest `upto` of fl_primes' variants by trial division. */
#define FL_PRIMES_MOST_TRIAL (INT64_C(1) << 31)

/* An upper bound of the number of primes below `upto`: 1.25506 upto / ln upto (Rosser and Schoenfeld, "Approximate
 * formulas for some functions of prime numbers", 1962, corollary 1), exact below 17. */
FL_API int64_t fl_primes_bound(int64_t upto);

/* out[0], out[1] ... = the primes below `upto`, ascending, and count[0] = their number. out: 1-D, i64, at least
 * fl_primes_bound(upto) elements; those after the primes stay unchanged; count: i64, one element. upto: at most
 * FL_PRIMES_MOST. Variants: sieve (of Eratosthenes, in segments); on a CPU library (libprimesieve); trial-all and
 * trial-each, which divide each n by 2, 3 ... up to n / 2 until the remainder is 0, as in the course; sqrt-all and
 * sqrt-each, which stop at the square root. -all decides all numbers in one launch; -each makes one launch and one copy
 * to the host for each number, and waits. These four take `upto` up to FL_PRIMES_MOST_TRIAL (else FL_E_ARGUMENT).
 * Scratch memory stays below 128 MiB for every `upto`. Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_primes(fl_device *device, int64_t upto, fl_array *out, fl_array *count, const fl_run *run);
/* The primes from `first` on that are below `upto`; a `first` below 0 is 0. out: at least
 * fl_primes_between_bound(first, upto) elements. Otherwise as fl_primes. */
FL_API fl_status fl_primes_between(fl_device *device, int64_t first, int64_t upto, fl_array *out, fl_array *count,
                                   const fl_run *run);
/* count[0] = the number of those primes, which are stored nowhere. The same variants, errors and `count`. */
FL_API fl_status fl_primes_count(fl_device *device, int64_t first, int64_t upto, fl_array *count, const fl_run *run);
/* An upper bound of the number of those primes: the least of fl_primes_bound(upto), the odd numbers, 2 n / ln n for n
 * numbers (Montgomery and Vaughan, "The large sieve", 1973), and the difference of the bounds of the primes below
 * `upto` and below `first` (Rosser and Schoenfeld, theorem 2). */
FL_API int64_t fl_primes_between_bound(int64_t first, int64_t upto);

/* How elements are put together. */
typedef enum fl_reduction { FL_SUM = 0, FL_MINIMUM = 1, FL_MAXIMUM = 2, FL_ARGMIN = 3, FL_ARGMAX = 4 } fl_reduction;

/* The axis that stands for all elements, in row-major order. */
#define FL_ALL_AXES (-1)

/* out = the elements of `in` along `axis` put together: numpy.sum, min, max, argmin, argmax. `in` has any dtype and 1
 * to FL_MAX_DIMS dimensions; `axis` is one of them (0: the outermost), and out has in's shape without it; of
 * FL_ALL_AXES, or of a 1-D `in`, out has one element. No memory is shared.
 *
 * FL_SUM: out has fl_reduce_dtype's dtype (f32 and f64: in's own, integers: i64, which wraps), or f64, and then each
 * element is converted first. Of no elements it is 0. Integers are exact. Error of a sum of n floats, with u a unit of
 * rounding of out's dtype: naive and library at most (n - 1) u, every other variant at most (log2 n + 40) u times the
 * sum of the absolute values (pairwise summation; Higham, "The accuracy of floating point summation", 1993).
 * FL_MINIMUM, FL_MAXIMUM: in's dtype; NaN if an element is NaN. FL_ARGMIN, FL_ARGMAX: i64, the index of the first such
 * element along the axis, or of the first NaN. Of no elements they are FL_E_ARGUMENT, as in NumPy.
 *
 * Every variant gives the same bits in each call on a device. Variants on a GPU: naive (one thread an output), shared
 * (a tree in shared memory, a second launch for the blocks' results), atomic (the block that an atomic counter finds to
 * be the last puts them together: Harris, "Optimizing parallel reduction in CUDA", 2007), warp (registers and
 * shuffles), library (CUB, rocPRIM; all elements or the last axis); on a CPU naive, pairwise. Queued. Errors as
 * fl_convolve1d. */
FL_API fl_status fl_reduce(fl_device *device, const fl_array *in, fl_reduction reduction, int axis, fl_array *out,
                           const fl_run *run);
/* The dtype of the result that NumPy gives: for FL_SUM in's own or i64, for FL_ARGMIN and FL_ARGMAX i64, else in's. */
FL_API fl_dtype fl_reduce_dtype(fl_dtype in, fl_reduction reduction);
/* out = the sum of the products of the elements of x and y along `axis`: numpy.dot of two vectors, or of rows. y has
 * x's dtype and shape. Otherwise as fl_reduce with FL_SUM, whose error bound is that of the sum of the products, with
 * one u more. */
FL_API fl_status fl_dot(fl_device *device, const fl_array *x, const fl_array *y, int axis, fl_array *out,
                        const fl_run *run);

/* out[i] = in[0] to in[i] put together, or, if `exclusive`, in[0] to in[i - 1], where out[0] is 0 or the lowest value
 * (-infinity for floats): numpy.cumsum for FL_SUM, numpy.maximum.accumulate for FL_MAXIMUM; other reductions are
 * FL_E_ARGUMENT. 1-D, any dtype, any length; out: as long as `in`, of fl_reduce_dtype's dtype; it is `in` itself (in
 * place) or shares no memory with it. Integers wrap; after a NaN all is NaN.
 *
 * Error of the i-th sum of floats: at most (i + 1) u times the sum of the absolute values, as numpy.cumsum's; of every
 * variant but a CPU's naive also at most (2 (i + 1)^(1/2) + 160) u times it (trees; docs/accuracy.md). Every variant
 * gives the same bits in each call on a device. Variants on a GPU: naive (Hillis and Steele, "Data parallel
 * algorithms", 1986: log2 n passes over all elements), block (Blelloch, "Prefix sums and their applications", 1990:
 * up and down a tree in shared memory, then the blocks' sums), look-back (one pass, in which a block waits for those
 * before it: Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016), library (CUB,
 * rocPRIM; integers and FL_MAXIMUM alone, since its sums of floats differ from call to call); on a CPU naive, blocked.
 * Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_scan(fl_device *device, const fl_array *in, fl_reduction reduction, bool exclusive, fl_array *out,
                         const fl_run *run);

/* out[b] = how many elements x have edge(b) <= x < edge(b + 1), for the last bin <=: numpy.histogram(in, bins, (lo,
 * hi)), where bins is the length of out, edge(b) = lo + b * ((hi - lo) / bins), and x is compared as f64. With lo = 0
 * and hi = bins, integers are counted one by one (numpy.bincount). An element outside is not counted, or, if
 * `clip`, counted in the first or last bin; NaN is not counted. in: 1-D, any dtype, any length; out: 1-D, i64, at least
 * one element; no memory is shared. lo < hi, both finite, else FL_E_ARGUMENT. Variants on a GPU: naive (atomics in
 * global memory), shared (a histogram of each block in shared memory), replicated (several of them a block, so that
 * equal elements meet less often; Gomez-Luna et al., "An optimized approach to histogram computation on GPU", 2013),
 * library (CUB; on NVIDIA's GPUs); on a CPU naive, replicated. Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_histogram(fl_device *device, const fl_array *in, double lo, double hi, bool clip, fl_array *out,
                              const fl_run *run);

/* out = `in` with its last two dimensions exchanged: numpy.swapaxes(in, -1, -2). in: 2 to FL_MAX_DIMS dimensions, of
 * which the first ones are a batch, any dtype; out: the same dtype; no memory is shared. Variants: naive, tiled, on a
 * GPU also padded (a tile whose columns lie in different banks of shared memory; Ruetsch and Micikevicius, "Optimizing
 * matrix transpose in CUDA", 2009) and linear (for matrices with few rows or columns). Queued. Errors as
 * fl_convolve1d. */
FL_API fl_status fl_transpose(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);

/* c = a b, for each matrix of a batch: numpy.matmul. a: [batch x] m x k, or, if transpose_a, [batch x] k x m; b: [batch
 * x] k x n, or [batch x] n x k; c: [batch x] m x n. A batch is a third dimension in front; a or b without it, or with a
 * batch of 1, is used with all matrices of the other. Any dtype but u8; c: of fl_dtype_result's dtype, in which
 * integers wrap. c shares no memory with a and b. If k is 0, c is 0. Error, with u a unit of rounding: at most (k + 1)
 * u |a| |b| (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.5). Variants: naive, tiled, register,
 * split (f32 on tensor cores of NVIDIA's Hopper), library (BLAS, cuBLAS, rocBLAS; f32 and f64); reference, the oracle,
 * which only `serial` has. Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_matmul(fl_device *device, const fl_array *a, bool transpose_a, const fl_array *b, bool transpose_b,
                           fl_array *c, const fl_run *run);

/* Operations element by element, on arrays of the same shape, of up to FL_MAX_DIMS dimensions and any number of
 * elements; `out` is an input itself (in place) or shares no memory with it. Variants: naive (one element per thread in
 * a 1-D grid), naive-2d and naive-3d (in a 2-D and 3-D grid), uncoalesced (threadIdx.x along the slowest dimension, to
 * measure its cost), grid-stride, vector (several elements per load); on a CPU naive and uncoalesced. Queued. Errors as
 * fl_convolve1d. */

/* out = in + 1. f32, f64, i32, i64; out has in's dtype. The largest integer wraps around to the smallest, as in NumPy.
 */
FL_API fl_status fl_increment(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);
/* out = the square root of in, correctly rounded; NaN if in < 0. Any dtype; out: of fl_dtype_float_result's dtype. */
FL_API fl_status fl_sqrt(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);
/* out = the larger of x and y; NaN if one of them is NaN, as numpy.maximum. f32, f64, i32, i64; out: of
 * fl_dtype_result's dtype. */
FL_API fl_status fl_maximum(fl_device *device, const fl_array *x, const fl_array *y, fl_array *out, const fl_run *run);
/* out = log(x + y): -infinity if x + y = 0, NaN if x + y < 0. Any dtype; out: of fl_dtype_float_result's dtype. Error:
 * at most 4 units in the last place of the logarithm of the rounded sum. */
FL_API fl_status fl_log_of_sum(fl_device *device, const fl_array *x, const fl_array *y, fl_array *out,
                               const fl_run *run);

/* --------------------------------------------------------------------------------------- user functions ---- */

/* A function of numbers, compiled for a device. It does not change, several threads may use it at once, and it may
 * outlive the user's handle of the device. Its code runs with the rights of the process: compile no text of others. */
typedef struct fl_function fl_function;

/* The most inputs of a function, and of an expression. */
#define FL_MAX_INPUTS 8
#define FL_MAX_EXPRESSION_INPUTS 4

typedef struct fl_function_info {
    const char *name; /* of the function in C; "" for an expression */
    int count;        /* of its inputs */
    fl_dtype inputs[FL_MAX_INPUTS];
    fl_dtype result;
    bool loops; /* it has loops: elements may take different times */
} fl_function_info;

/* A function from its text.
 *
 * With `inputs`: an expression of C of x, y, z and w, such as "log(x + y)" or "x > 0 ? sqrt(x) * 2 : 0", for inputs of
 * the `count` given dtypes. It computes in f32 if all inputs are f32; in fl_dtype_result's dtype if all are integers
 * and the expression has neither a floating-point number nor a function of real numbers; else in f64. The result has
 * that dtype.
 *
 * With `inputs` NULL and `count` 0: a text in C, of which the last function is taken, such as "int prime(int n) { ...
 * }". It takes 1 to FL_MAX_INPUTS numbers. The types of the parameters are the dtypes of the inputs, and the type that
 * it returns is that of the result: float is f32, double f64, int i32, long i64, uint8_t and bool u8.
 *
 * The functions of math.h are there without #include, and max, min (NaN if an argument is NaN) and abs for all types.
 * Integers wrap; NaN, infinities and -0 are as in C. A text may divide an integer by 0, or never end: on a CPU the
 * first ends the process by SIGFPE.
 *
 * `shown_as` names the text in messages. If it does not compile: FL_E_SOURCE, fl_last_error() is "prime.c:3:25: 'm' is
 * undeclared", and `log` (may be NULL, with `log_size` 0) is that line of the text with a caret below the column. A CPU
 * compiles with the system's `cc`, NVIDIA's GPUs with NVRTC, AMD's with hiprtc in a child process, hip-cpu with `c++`:
 * for the GPUs the text is C++. The code is kept for the user's later processes (fl_cache_describe). FL_E_ARGUMENT,
 * FL_E_SOURCE, FL_E_UNSUPPORTED (the device compiles nothing), FL_E_UNAVAILABLE (no compiler), FL_E_MEMORY,
 * FL_E_DEVICE. */
FL_API fl_status fl_function_create(fl_device *device, const char *source, const char *shown_as, const fl_dtype *inputs,
                                    int count, char *log, size_t log_size, fl_function **function);
/* Describes the function that fl_function_create would make, from the text alone: `info->name` is valid until the
 * thread's next such call. No compiler runs: only some errors in the text are found. */
FL_API fl_status fl_function_read_sized(const char *source, const char *shown_as, const fl_dtype *inputs, int count,
                                        char *log, size_t log_size, fl_function_info *info, size_t size);
static inline fl_status fl_function_read(const char *source, const char *shown_as, const fl_dtype *inputs, int count,
                                         char *log, size_t log_size, fl_function_info *info)
{
    return fl_function_read_sized(source, shown_as, inputs, count, log, log_size, info, sizeof *info);
}
/* The text in C that `simd` and `omp` compile for a text with loops: the same function for as many elements at once as
 * a vector has lanes, as far as `size` bytes hold it. FL_E_UNSUPPORTED: they compile the text as it is, and
 * fl_last_error() says why. FL_E_ARGUMENT, FL_E_SOURCE, FL_E_MEMORY. */
FL_API fl_status fl_function_lanes(const char *source, const char *shown_as, char *lanes, size_t size);
/* Valid as long as the function; NULL for NULL. */
FL_API const fl_function_info *fl_function_describe(const fl_function *function);
/* Waits for the work of its device. */
FL_API void fl_function_free(fl_function *function);

/* out = function(inputs[0], inputs[1] ...), element by element. The inputs have the function's dtypes; their shapes are
 * broadcast to out's as in NumPy: aligned at the last dimension, where a dimension of 1, or one that is not there,
 * stands for any length. out: the function's result dtype; it is an input of the same shape itself (in place), or
 * shares no memory with one. Variants: naive, uncoalesced; on a GPU also vector, naive-2d, naive-3d and grid-stride,
 * where auto is naive for a function with loops and an input of floating-point numbers, else vector; and reference, the
 * oracle, compiled without optimisation, which only `serial` has. Queued; on a GPU the first call with gaps between
 * rows, or with broadcasting, compiles the function again for it. A function that calls exit, abort or what else ends
 * the program is FL_E_DEVICE on a processor, where some elements of out are written then; other faults of it are
 * signals. Errors as fl_convolve1d. */
FL_API fl_status fl_map(fl_device *device, const fl_function *function, const fl_array *const *inputs, int count,
                        fl_array *out, const fl_run *run);

/* ----------------------------------------------------------------------------------------- user kernels ---- */

/* A kernel in HIP's dialect of C++, compiled for a GPU (or its emulation). It may outlive the user's handle of the
 * device, and several threads may launch it at once. Its code runs with the rights of the process: compile no text of
 * others. */
typedef struct fl_kernel fl_kernel;

#define FL_MAX_PARAMETERS 16

typedef struct fl_parameter {
    const char *name;
    fl_dtype dtype;   /* of the array's elements; of a number the smallest dtype that holds its type's values */
    bool is_array;    /* a pointer; else a number */
    bool is_constant; /* a pointer to const: the kernel only reads the array */
} fl_parameter;

typedef struct fl_kernel_info {
    const char *name;
    int count; /* of parameters */
    fl_parameter parameters[FL_MAX_PARAMETERS];
    const char *left_out; /* what of the host the text has, and no compiler sees: "<cstdio>, main"; or "" */
    const char *kernels;  /* the kernels of the text, if it has several: "first (line 3), second (line 9)"; or "" */
    const char *unfilled; /* __constant__ variables that the kernel names, without a value in the text; or "" */
    uint32_t written;     /* bit i: the kernel may write to the array of parameter i; 0: it reads elements alone */
    bool prints;          /* the kernel calls printf */
    const char *compiled; /* what of the text a compiler gets: the kernel and what it names, in their lines; of
                           * fl_kernel_read alone */
    int32_t bytes[FL_MAX_PARAMETERS]; /* of an element, where no dtype has the array's type, which is its bytes, u8:
                                       * short *, a struct of several types; else 0 */
    int32_t number_count[FL_MAX_PARAMETERS]; /* numbers in a vector or a struct that is passed by value; else 0 */
    const fl_parameter *numbers[FL_MAX_PARAMETERS]; /* these, members and elements in their order: "box.low.x",
                                                     * "box.side[2]"; NULL: none */
} fl_kernel_info;

/* An argument of a launch: an array for a pointer; for a number `integer` or, where its type is float or double,
 * `real`; for a vector or a struct by value its `numbers`, as many as fl_kernel_info.number_count says. */
typedef struct fl_argument {
    fl_array *array; /* NULL: a number, or several */
    union {
        int64_t integer;
        const struct fl_argument *numbers;
    };
    double real;
} fl_argument;

/* A kernel from its text: the one named `entry` ("NAME", "SPACE::NAME", "NAME<float, 16>"), or with NULL the last one
 * that the text defines, such as
 *
 *     __global__ void vector_add(const float *a, const float *b, float *out, int size) { ... }
 *
 * with or without extern "C", which it gets if it lacks it. Its parameters are numbers, and pointers to them for
 * arrays: float * is f32, double * f64, int * and unsigned * i32, long * and unsigned long * i64, uint8_t *, char * and
 * bool * u8; float4 * and the like have elements of f32, f64 or i32. So has a pointer to a struct whose members are
 * numbers of one type; short * and other structs of numbers are their bytes, u8. Vectors and such structs may be passed
 * by value, 4096 bytes in all. `defines` are macros, "NAME" or "NAME=VALUE", NULL
 * ends them; it may be NULL. The functions of math.h and the fixed-width integers are there without #include. The text
 * may be a file for nvcc or hipcc: the compiler gets the kernel and what it names, and no headers, host functions or
 * launches. The macro FLYNN_WARP=64 lets an emulated GPU have warps of 64 threads; usual are 32.
 *
 * `shown_as`, `log` and what is kept for later processes are as in fl_function_create. A GPU compiles with the vendor's
 * library (NVRTC, hiprtc), an emulation with the system's `c++`. FL_E_ARGUMENT, FL_E_SOURCE, FL_E_UNSUPPORTED (the
 * device runs no kernels), FL_E_UNAVAILABLE (no compiler), FL_E_MEMORY, FL_E_DEVICE. */
FL_API fl_status fl_kernel_create(fl_device *device, const char *source, const char *shown_as, const char *entry,
                                  const char *const *defines, char *log, size_t log_size, fl_kernel **kernel);
/* Describes the kernel that fl_kernel_create would make, from the text alone: the names in `info` are valid until the
 * thread's next such call. No compiler runs: only some errors in the text are found. */
FL_API fl_status fl_kernel_read_sized(const char *source, const char *shown_as, const char *entry, char *log,
                                      size_t log_size, fl_kernel_info *info, size_t size);
static inline fl_status fl_kernel_read(const char *source, const char *shown_as, const char *entry, char *log,
                                       size_t log_size, fl_kernel_info *info)
{
    return fl_kernel_read_sized(source, shown_as, entry, log, log_size, info, sizeof *info);
}
/* Valid as long as the kernel; NULL for NULL. */
FL_API const fl_kernel_info *fl_kernel_describe(const fl_kernel *kernel);
/* Waits for the work of its device. */
FL_API void fl_kernel_free(fl_kernel *kernel);

/* Fills a `__constant__` or `__device__` variable of the text: the array's bytes go to its start. array: packed, on the
 * kernel's device, at most as long as the variable. Waits for all work of the device before, and for the copy. One
 * thread at a time. FL_E_ARGUMENT (no such variable, or a smaller one), FL_E_WRONG_DEVICE, FL_E_UNSUPPORTED. */
FL_API fl_status fl_kernel_constant(fl_kernel *kernel, const char *name, const fl_array *array);

/* Queues grid[0] * grid[1] * grid[2] blocks of run->block threads; where that is 0, of 256. `shared_bytes`: of each
 * block's dynamic shared memory (`extern __shared__ float s[]`), besides what the text declares with a size.
 *
 * There are as many arguments as parameters. An array is packed (a kernel sees no strides), on the kernel's device and
 * of the parameter's dtype; arrays may share memory. A number is converted to the parameter's type, and refused where
 * an integer does not fit into it. Nothing else is checked: a kernel that writes beyond an array changes other memory.
 * An error while it runs (an address that is not the process's) is reported by the next call that waits; on an
 * emulation it is a signal, but a call of what ends the program is FL_E_DEVICE of the launch. timing->bytes counts each
 * array once; operations are not known.
 * Variant: own. Queued. FL_E_ARGUMENT, FL_E_WRONG_DEVICE, FL_E_UNKNOWN (variant), FL_E_LIMIT, FL_E_MEMORY, FL_E_DEVICE.
 */
FL_API fl_status fl_kernel_launch(fl_kernel *kernel, const int64_t grid[3], int64_t shared_bytes,
                                  const fl_argument *arguments, int count, const fl_run *run);

/* What an emulated GPU may find in a launch of which it watches each access to memory. */
typedef enum fl_finding_kind {
    FL_FOUND_RACE = 0,       /* two threads access an element, one of them writes, and nothing orders the accesses */
    FL_FOUND_BEYOND = 1,     /* an access beyond an array, or to memory that is not the kernel's */
    FL_FOUND_BARRIER = 2,    /* a barrier that not all threads of a block reach, or a warp function not all its lanes */
    FL_FOUND_UNWRITTEN = 3,  /* a read of shared memory that nobody wrote; a shuffle from a lane that takes no part */
    FL_FOUND_MISALIGNED = 4, /* an address that is no multiple of what its type asks for */
    FL_FOUND_REMARK = 5,     /* not a mistake by itself: threads that write equal values */
    FL_FOUND_LEFT = 6        /* likewise: elements that no thread writes, of an array that none reads */
} fl_finding_kind;

typedef struct fl_finding {
    fl_finding_kind kind;
    int line;      /* of the text; 0: unknown */
    int parameter; /* the one whose array is meant: its place in fl_kernel_info.parameters; -1: none */
    char text[248];
} fl_finding;

#define FL_MAX_FINDINGS 8

typedef struct fl_findings {
    int count;
    fl_finding list[FL_MAX_FINDINGS];
} fl_findings;

/* Lets the next launch of the kernel be watched, if `on`. It takes several times as long, and runs one block after the
 * other. Races are found whether or not they change a result. One thread at a time. FL_E_ARGUMENT; FL_E_UNSUPPORTED:
 * the device, a GPU say, cannot watch. */
FL_API fl_status fl_kernel_watch(fl_kernel *kernel, bool on);
/* What the last watched launch found: valid until the kernel's next launch, or the end of the kernel. NULL: no launch
 * was watched. */
FL_API const fl_findings *fl_kernel_found(const fl_kernel *kernel);

/* The result of fl_allclose. */
typedef struct fl_closeness {
    bool close;
    int64_t differing;   /* elements */
    int64_t worst_index; /* row-major, of the element with the largest excess; -1 if none differs */
    double worst_excess; /* its |a - b| divided by its bound; infinite if it is not finite; 0 if none differs */
    double reserved[4];  /* 0 */
} fl_closeness;

/* numpy.allclose(a, b, relative, absolute, equal_nan): true if |a - b| <= absolute + relative * |b| for every element;
 * equal infinities are close, and two NaN are if equal_nan. a, b: the same shape, any dtype, compared in
 * fl_dtype_float_result's dtype; relative and absolute at least 0 (NumPy's defaults: 1e-5, 1e-8). Equal
 * elements are always close, and an infinity is close to itself alone, also if a tolerance is infinite. If `relative`
 * is, only 0 is close to 0: infinity * 0 is NaN, which bounds nothing. Each step is rounded to the dtype compared in.
 * Variant: naive. Waits. */
FL_API fl_status fl_allclose(fl_device *device, const fl_array *a, const fl_array *b, double relative, double absolute,
                             bool equal_nan, fl_closeness *found, const fl_run *run);

/* y = u[:, :rank] diag(s[:rank]) vt[:rank, :], for one matrix or a batch: the approximation of a matrix by its leading
 * `rank` singular values. u: [batch x] m x k; s: [batch x] k; vt: [batch x] k x n; y: [batch x] m x n, of
 * fl_dtype_float_result's dtype, no memory shared with the inputs; 1 <= rank <= k, or rank = k = 0, and y is 0. Any
 * other dimension may be 0, too. Variants: naive (one element per
 * thread, 3 rank loads), tiled (tiles in shared memory or the first cache), register (several elements per thread),
 * split (f32 on tensor cores of NVIDIA's Hopper), library (cuBLAS, rocBLAS, OpenBLAS). Error: at most (rank + 4) units
 * of rounding of the same sum over absolute values. Queued. Errors as fl_convolve1d. */
FL_API fl_status fl_reconstruct(fl_device *device, const fl_array *u, const fl_array *s, const fl_array *vt,
                                int64_t rank, fl_array *y, const fl_run *run);

/* a = q r: q (m x k, k = min(m, n)) has orthonormal columns that span those of `a`, and r = q' a is upper triangular
 * but for rounding. a: m x n, any dtype, all elements finite; qt = q': k x m; r: k x n, of fl_dtype_float_result's
 * dtype. No two arrays share memory. Where columns of `a` depend on those before, q has any that are orthonormal.
 * Variant: naive (modified Gram-Schmidt, repeated until the columns are orthonormal to rounding; on a GPU Cholesky's
 * factorization of a'a in f64, or Householder's reflections, by cuSOLVER or rocSOLVER). Waits on a GPU. FL_E_ARGUMENT
 * if an element is not finite; other errors as fl_convolve1d. */
FL_API fl_status fl_qr(fl_device *device, const fl_array *a, fl_array *qt, fl_array *r, const fl_run *run);

/* The leading k singular values of `a`, descending, and their vectors: a = u diag(s) vt if k = min(m, n), else the best
 * approximation of rank k. a: m x n, any dtype, all elements finite; u: m x k; s: k; vt: k x n, of
 * fl_dtype_float_result's dtype; 1 <= k <= min(m, n), or k = min(m, n) = 0. The vectors of u and of vt are orthonormal,
 * those of singular values that are zero, too; the sign of each pair is arbitrary. Variants: library (LAPACK's gesdd on
 * a CPU; cuSOLVER, rocSOLVER), which computes all values; jacobi (on a CPU; one-sided rotations, in f64); host (on a
 * GPU: copies to the host, LAPACK or jacobi there, copies back); randomized (Halko, Martinsson and Tropp, "Finding
 * structure with randomness", SIAM Review 53, 2011, algorithms 4.4 and 5.1, with k + 10 random vectors and two powers
 * of a a'), for k well below min(m, n): its vectors nearly span the best subspace, with the error ||a - u diag(s)
 * vt||_F = sqrt(||a||_F^2 - sum of s^2); single (f64 alone): computed in f32 by library, else by jacobi or host, on a
 * GPU's solver by the method of f32: values and vectors, whose products are 0 and 1, are exact to the rounding of f32
 * alone. `seed` is for randomized: the same seed gives the same result on the same device. auto is library, without one
 * host or jacobi, and on a CPU jacobi where it is faster, for at most 8 rows or columns of at most 64 elements: exact
 * to rounding, never randomized; with a tolerance that single keeps, it is single where that is faster. On serial, too:
 * LAPACK takes 35 ms for 512 x 512 there, jacobi 8.7 s. But LAPACK uses vectors, so ask for jacobi where serial is to
 * be the baseline without them, as the command flynn does. Error: that of orthogonal transformations,
 * (32 + 8 sqrt(max(m, n))) units of rounding of the largest singular value; for single the units are those of f32, and
 * one unit of the Frobenius norm is added (docs/accuracy.md). Waits. FL_E_ARGUMENT if an element is not finite; other
 * errors as fl_convolve1d. */
FL_API fl_status fl_svd(fl_device *device, const fl_array *a, uint64_t seed, fl_array *u, fl_array *s, fl_array *vt,
                        const fl_run *run);

/* out = in, converted to out's dtype as in C. The same shape; to f32 or f64 from any dtype, to i64 from integers.
 * Variant: naive. Queued. */
FL_API fl_status fl_convert(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);

/* out = in, on the device: measures the memory's bandwidth. 1-D, the same dtype (any) and length, no memory shared.
 * Variants: naive (a loop, or a kernel with 16-byte loads), library (the C library's or the runtime's copy). Queued. */
FL_API fl_status fl_copy_array(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run);

/* out = in after `steps` times x = factor * x + term: measures the arithmetic throughput. 1-D, the same dtype (f32 or
 * f64) and length; `out` is `in` itself or shares no memory with it; steps >= 0. Variants: naive (one element at a
 * time), register (several independent elements at a time, which keeps the arithmetic units busy). The multiply-add may
 * be fused; 2 * steps operations per element. Queued. */
FL_API fl_status fl_multiply_add(fl_device *device, const fl_array *in, double factor, double term, int64_t steps,
                                 fl_array *out, const fl_run *run);

#ifdef __cplusplus
}
#endif
#endif
