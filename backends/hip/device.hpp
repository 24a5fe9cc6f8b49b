/* SPDX-License-Identifier: MIT
 *
 * device.hpp - shared by the operations of this folder: an open device, its streams, errors and tables of rows.
 */
#ifndef FLYNN_HIP_DEVICE_HPP
#define FLYNN_HIP_DEVICE_HPP

#include "device.h"
#include "gpu/gpu_registers.h"

#include <memory>
#include <mutex>

/* Facts that only the device can detect; it writes them to pinned memory, because that needs neither a copy nor a
 * wait. */
struct hip_report {
    uint32_t rank_one;      /* the last kernel tested by `auto` or `separable` was of rank one */
    uint32_t not_separable; /* `separable` got a kernel that is not of rank one; cleared when reported */
    uint32_t is_prime;      /* the answer to one launch of primes' -each variants */
};

/* Frees device memory that a std::unique_ptr owns. */
struct hip_deleter {
    void operator()(void *memory) const
    {
        (void)hipFree(memory);
    }
};

/* A kernel with its launch, as fl_device_api.last_kernel describes it. */
struct hip_launched {
    const void *kernel; /* NULL: none */
    hipError_t (*use)(const void *kernel, int threads, size_t shared, gpu_kernel_use *use);
    int threads;
    size_t shared;
};

struct hip_stream {
    hipStream_t queue;
    hip_report *report;
    hip_stream *next;                           /* of the same device */
    std::shared_ptr<void> fft;                  /* plans of FFTs, created at first use */
    std::unique_ptr<void, hip_deleter> arrived; /* reduce's counters, 0 between launches; created at first use */
    hip_launched last;                          /* queued by hip_queue or hip_code_queue */
    bool records;                               /* what is queued becomes a graph: hip_leaves_graph */
};

struct gpu_solver_handle; /* gpu_solver.h's */

struct hip_device {
    const fl_host *host;
    int number;
    bool alone;            /* the only GPU: every thread's current device */
    char architecture[64]; /* as the vendor's compilers name it */
    size_t usual_shared;   /* bytes of shared memory that a block can use without opting in to more */
    size_t most_shared;    /* and the most, for which a launch asks */
    int max_threads;       /* of a block */
    int lanes;             /* threads of a warp that can exchange values: gpu.h */
    int multiprocessors;   /* at least 1 */
    int resident_threads;  /* the most of a multiprocessor */
    int64_t max_grid[3], max_grid_threads[3]; /* fl_device_info's */
    std::unique_ptr<fl_row[]> rows;
    std::mutex lock; /* guards the list of streams */
    /* Held while a stream records, and while the whole device is waited for, which a recording does not allow. */
    std::recursive_mutex recording;
    hip_stream *streams;
    std::mutex blas_lock;   /* guards the handle: one thread at a time uses it */
    void *blas;             /* blas.hip.cpp's; null before the first use */
    hipEvent_t blas_done;   /* library_order.hpp's, for this handle */
    std::mutex solver_lock; /* the same for solver.hip.cpp */
    gpu_solver_handle *solver;
    hipEvent_t solver_done;
    void (*close_libraries)(hip_device *device); /* destroys those two handles */
};

/* device.hip.cpp's functions. (Not the table itself: clang would also emit an external constant for the GPU.) */
const fl_device_api *hip_device_functions();

/* Graphs: graph.hip.cpp's functions of fl_device_api. The emulation has none. */
#if defined(GPU_EMULATION)
constexpr decltype(fl_device_api::graph_begin) hip_graph_begin = nullptr;
constexpr decltype(fl_device_api::graph_end) hip_graph_end = nullptr;
constexpr decltype(fl_device_api::graph_run) hip_graph_run = nullptr;
constexpr decltype(fl_device_api::graph_free) hip_graph_free = nullptr;
#else
fl_status hip_graph_begin(void *self, void *stream);
fl_status hip_graph_end(void *self, void *stream, int32_t keep, void **graph);
fl_status hip_graph_run(void *self, void *graph, void *stream);
void hip_graph_free(void *self, void *graph);
#endif

/* Creates the stream's counters for reduce, unless it has them. */
fl_status hip_make_counters(const hip_device *device, hip_stream *stream);

/* Copies between the GPUs of several processes: group.hip.cpp's functions of fl_device_api. The emulation has none. */
#if defined(GPU_EMULATION)
constexpr decltype(fl_device_api::group_id) hip_group_id = nullptr;
constexpr decltype(fl_device_api::group_join) hip_group_join = nullptr;
constexpr decltype(fl_device_api::group_exchange) hip_group_exchange = nullptr;
constexpr decltype(fl_device_api::group_leave) hip_group_leave = nullptr;
#else
fl_status hip_group_id(void *self, fl_group_id *id);
fl_status hip_group_join(void *self, const fl_group_id *id, int32_t rank, int32_t size, void **joined);
fl_status hip_group_exchange(void *self, void *joined, void *stream, const fl_piece *to, const fl_piece *from);
void hip_group_leave(void *self, void *joined);
#endif

/* What compiles and frees a user's text, a function or a kernel: code.hip.cpp's functions of fl_device_api. Only the
 * emulation watches kernels. */
fl_status hip_program_compile(void *self, const fl_source *source, char *output, size_t size, void **code);
void hip_program_free(void *self, void *code);
fl_status hip_program_symbol(void *self, const void *code, const char *name, void **address, size_t *bytes);
#if defined(GPU_EMULATION)
void hip_program_watch(void *self, void *code, const fl_kernel_watch_job *watch);
#else
constexpr decltype(fl_device_api::kernel_watch) hip_program_watch = nullptr;
#endif

/* Some rows of the device's table. */
struct hip_rows {
    const fl_row *row;
    size_t count;
};

/* One function per operation, in the file of the same name. */
hip_rows hip_convert_rows();
hip_rows hip_convolve_rows();
hip_rows hip_primes_rows();
hip_rows hip_reduce_rows();
hip_rows hip_scan_rows();
hip_rows hip_select_rows();
hip_rows hip_histogram_rows();
hip_rows hip_svd_rows();
hip_rows hip_convolve1d_rows();
hip_rows hip_convolve_fft_rows();

/* Returns whether the FFT library exists, without loading it; else `why` states the reason, the unavailable variants
 * and the fix. hip_probe calls several functions of this form. */
bool hip_fft_found(char *why, size_t size);
hip_rows hip_elementwise_rows();
hip_rows hip_allclose_rows();
hip_rows hip_reconstruct_rows();
hip_rows hip_copy_rows();
hip_rows hip_kernel_rows();
hip_rows hip_multiply_add_rows();
hip_rows hip_map_rows();
hip_rows hip_matmul_rows();
hip_rows hip_merge_rows();
hip_rows hip_sort_rows();
hip_rows hip_transpose_rows();
/* As hip_fft_found, for the vendor's sort; the answer is decided when the plugin is built. */
bool hip_sort_found(char *why, size_t size);

/* Reports the failed statement with its place, device and reason: FL_E_MEMORY or FL_E_DEVICE. */
fl_status hip_failed(const fl_host *host, int device, hipError_t error, const char *statement, const char *function,
                     const char *file, int line);

/* Returns from the function if the statement failed. */
#define HIP_TRY(host, device, statement) \
    do { \
        const hipError_t hip_error_ = (statement); \
        if (hip_error_ != hipSuccess) \
            return hip_failed(host, device, hip_error_, #statement, __func__, __FILE__, __LINE__); \
    } while (0)

/* Makes the device current for the calling thread. Every call must: each thread has its own current device. */
#define HIP_SELECT(device) HIP_TRY((device)->host, (device)->number, gpu_select((device)->number))

/* The stream in which a row queues its work. */
inline hip_stream *hip_stream_of(const fl_context *context)
{
    return static_cast<hip_stream *>(context->stream);
}

/* A row calls this before it waits, or uses what streams share, such as a library's handle. FL_E_UNSUPPORTED: its work
 * is recorded for a graph, which cannot hold that; core then queues the row for each run. */
inline fl_status hip_leaves_graph(const fl_context *context)
{
    return hip_stream_of(context)->records ? FL_E_UNSUPPORTED : FL_OK;
}

inline hip_device *hip_device_of(const fl_context *context)
{
    return static_cast<hip_device *>(context->device);
}

/* `blocks` along dimension d, or as many as one launch may have there if the edge of a block is `edge` threads: at
 * least one, which core refuses if it is too large. What is beyond them is done by loops of the same blocks, or by
 * further launches. */
inline int64_t hip_grid(const hip_device *device, int d, int64_t blocks, int64_t edge)
{
    int64_t most = device->max_grid[d];
    if (device->max_grid_threads[d] > 0 && device->max_grid_threads[d] / edge < most)
        most = device->max_grid_threads[d] / edge;
    return blocks < most ? blocks : most > 1 ? most : 1;
}

/* Settles a launch's block: the requested one, or `threads` in x; its grid becomes one block. False if the block is too
 * large to run, which core refuses. */
inline bool hip_block(const hip_device *device, int threads, fl_launch *launch)
{
    int32_t *block = launch->block;
    if (block[0] <= 0 && block[1] <= 0 && block[2] <= 0)
        block[0] = threads;
    int64_t all = 1;
    for (int d = 0; d < 3; d++) {
        block[d] = block[d] > 1 ? block[d] : 1;
        launch->grid[d] = 1;
        if (all <= device->max_threads) /* beyond it the product might overflow */
            all *= block[d];
    }
    return all <= device->max_threads;
}

/* Queues kernel(arguments...) with `shared` bytes of dynamic shared memory in the context's stream. */
template <typename... Parameters, typename... Arguments>
fl_status hip_queue(const fl_context *context, void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
                    const Arguments &...arguments)
{
    const hip_device *device = hip_device_of(context);
    hip_stream *stream = hip_stream_of(context);
    if (!device->alone) /* asking takes a tenth of what Flynn adds to a launch */
        HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            gpu_launch(kernel, grid, block, shared, device->usual_shared, stream->queue, arguments...));
    stream->last = {reinterpret_cast<const void *>(kernel), gpu_use_of, (int)(block.x * block.y * block.z), shared};
    return FL_OK;
}

#endif
