/* SPDX-License-Identifier: MIT
 *
 * open.hip.cpp - finds the GPUs of this machine, explains why one cannot be used, and opens one.
 */
#include "blas.hpp"
#include "device.hpp"
#include "solver.hpp"

#include "../shared/threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <new>
#include <thread>
#include <unistd.h>

namespace
{

/* ----------------------------------------------------------------------------------------------------- probe ---- */

__attribute__((format(printf, 2, 3))) void say(char (&text)[256], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    std::vsnprintf(text, sizeof text, format, list);
    va_end(list);
}

/* There is no driver, or it is older than the runtime of this plugin. */
void explain_driver(fl_probe *probe)
{
    int driver = 0, runtime = 0;
    char has[16], needs[16];
    (void)hipDriverGetVersion(&driver);
    (void)hipRuntimeGetVersion(&runtime);
    gpu_version(driver, has, sizeof has);
    gpu_version(runtime, needs, sizeof needs);
    if (driver == 0) {
        say(probe->cause, "no %s driver found", gpu_vendor);
        say(probe->cure, "%s", flynn_plugin.absent_cure);
    } else {
        say(probe->cause, "the %s driver supports %s up to %s, this plugin needs %s", gpu_vendor, gpu_runtime, has,
            needs);
        say(probe->cure, "update the driver, or rebuild with %s %s or older", gpu_runtime, has);
    }
}

/* The runtime finds no device: there is none, the driver is not loaded, or permission is missing. */
void explain_no_device(fl_probe *probe)
{
    if (access(gpu_device_file, F_OK) != 0) {
        say(probe->cause, "%s", flynn_plugin.absent);
        say(probe->cure, "%s", flynn_plugin.absent_cure);
    } else if (access(gpu_device_file, R_OK | W_OK) != 0) {
        say(probe->cause, "no permission to use %s", gpu_device_file);
        say(probe->cure, "%s", gpu_permission_cure);
    } else {
        say(probe->cause, "the %s driver reports no GPU", gpu_vendor);
        say(probe->cure, "check whether an environment variable hides it (*_VISIBLE_DEVICES)");
    }
}

bool has_code_for(const hipDeviceProp_t &properties)
{
    const char *word = FLYNN_GPU_ARCHITECTURES;
    while (word && !gpu_fits(word, properties)) {
        const char *blank = std::strchr(word, ' ');
        word = blank ? blank + 1 : nullptr;
    }
    return word != nullptr;
}

/* The length of an architecture's name without the features that follow it, which the driver sets. */
int name_of(const char *architecture)
{
    return (int)std::strcspn(architecture, ":");
}

/* Why this GPU cannot be used. */
void explain_code(const hipDeviceProp_t &properties, char (&cause)[256], char (&cure)[256])
{
    char architecture[64];
    gpu_architecture(properties, architecture, sizeof architecture);
    say(cause, "built for %s, this GPU is %s (%.128s)", FLYNN_GPU_ARCHITECTURES, architecture, properties.name);
    say(cure, "rebuild with -D%s=%.*s", gpu_architecture_option, name_of(architecture) - (int)gpu_architecture_prefix,
        architecture + gpu_architecture_prefix);
}

/* Optional libraries, loaded at run time or used at build time: each function returns true if one is there, else false
 * with the reason and the fix. None loads one: the rows do at their first use. */
bool (*const libraries[])(char *why, size_t size) = {
    hip_blas_found,
    hip_fft_found,
    hip_sort_found,
    hip_solver_found,
};

/* Lists the missing libraries, separated by semicolons. Called only if a device can be used. */
void probe_libraries(fl_probe *probe)
{
    char why[256];
    for (const auto found : libraries) {
        const size_t length = std::strlen(probe->lacks);
        if (!found(why, sizeof why))
            std::snprintf(probe->lacks + length, sizeof probe->lacks - length, "%s%s", length ? "; " : "", why);
    }
}

} // namespace

extern "C" void hip_probe(fl_probe *probe)
{
    int count = 0, usable = 0;
    const hipError_t error = hipGetDeviceCount(&count);
    if (error == hipErrorInsufficientDriver) {
        explain_driver(probe);
    } else if (error == hipErrorNoDevice || (error == hipSuccess && count == 0)) {
        explain_no_device(probe);
    } else if (error != hipSuccess) {
        say(probe->cause, "the %s runtime failed: %s (%s)", gpu_runtime, hipGetErrorString(error),
            hipGetErrorName(error));
        say(probe->cure, "check the driver's log");
    }
    (void)hipGetLastError();
    if (error != hipSuccess || count == 0)
        return;
    count = count < FL_MAX_PROBED_DEVICES ? count : FL_MAX_PROBED_DEVICES;
    for (int i = 0; i < count; i++) {
        hipDeviceProp_t properties;
        if (hipGetDeviceProperties(&properties, i) != hipSuccess)
            continue;
        std::snprintf(probe->device[i], sizeof probe->device[i], "%.127s", properties.name);
        if (has_code_for(properties))
            usable++;
        else
            explain_code(properties, probe->cause, probe->cure);
    }
    if (usable > 0) { /* GPUs without code keep their index and are refused by hip_open */
        probe->device_count = count;
        probe->cause[0] = probe->cure[0] = '\0';
        probe_libraries(probe);
    }
}

/* ------------------------------------------------------------------------------------------------------ open ---- */

namespace
{

constexpr unsigned canary_threads = 64, canary_blocks = 16, canary_words = canary_threads * canary_blocks;

/* A word that depends on all bits of index and nonce (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014: the finalizer of SplitMix). */
__host__ __device__ uint64_t canary_word(uint64_t index, uint64_t nonce)
{
    uint64_t z = nonce + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

__global__ void canary_kernel(uint64_t *words, uint64_t nonce)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    words[i] = canary_word(i, nonce);
}

fl_status canary_fetch(const hip_device *device, uint64_t *memory, uint64_t nonce, hipStream_t queue, uint64_t *words)
{
    const fl_host *host = device->host;
    HIP_TRY(host, device->number,
            gpu_launch(canary_kernel, dim3(canary_blocks), dim3(canary_threads), 0, device->usual_shared, queue, memory,
                       nonce));
    HIP_TRY(host, device->number,
            hipMemcpyAsync(words, memory, canary_words * sizeof *words, hipMemcpyDeviceToHost, queue));
    HIP_TRY(host, device->number, hipStreamSynchronize(queue));
    for (unsigned i = 0; i < canary_words; i++)
        if (words[i] != canary_word(i, nonce))
            return host->error(
                FL_E_DEVICE, "%s device %d failed its canary kernel: element %u is %016llx, expected %016llx",
                gpu_vendor, device->number, i, (unsigned long long)words[i], (unsigned long long)canary_word(i, nonce));
    return FL_OK;
}

#if defined(GPU_EMULATION_HIP_CPU)
/* The libraries of HIP-CPU throw in threads of their own if they cannot start another one. */
fl_status try_threads(const fl_host *host)
{
    static std::atomic<bool> started{false};
    const int threads = (int)std::thread::hardware_concurrency() + 1;
    const int error = started ? 0 : threads_try(threads);
    started = error == 0;
    return started ? FL_OK
                   : host->error(FL_E_MEMORY, "the emulation's %d threads cannot be started: %s", threads,
                                 std::strerror(error));
}
#else
fl_status try_threads(const fl_host *)
{
    return FL_OK;
}
#endif

/* Runs a small kernel and checks what it wrote. */
fl_status canary(const hip_device *device)
{
    const fl_host *host = device->host;
    const uint64_t nonce = (uint64_t)std::chrono::steady_clock::now().time_since_epoch().count();
    uint64_t words[canary_words];
    void *memory;
    hipStream_t queue;
    HIP_SELECT(device);
    HIP_TRY(host, device->number, hipMalloc(&memory, sizeof words));
    const hipError_t error = hipStreamCreateWithFlags(&queue, hipStreamNonBlocking);
    fl_status status;
    if (error != hipSuccess) {
        status = hip_failed(host, device->number, error, "a canary's stream", __func__, __FILE__, __LINE__);
    } else {
        status = canary_fetch(device, static_cast<uint64_t *>(memory), nonce, queue, words);
        (void)hipStreamDestroy(queue);
    }
    (void)hipFree(memory);
    return status;
}

void describe(const hipDeviceProp_t &properties, fl_device_info *info)
{
    int driver = 0, runtime = 0;
    char version[16];
    (void)hipDriverGetVersion(&driver);
    (void)hipRuntimeGetVersion(&runtime);
    gpu_version(runtime, version, sizeof version);
    std::snprintf(info->name, sizeof info->name, "%.127s", properties.name);
    std::snprintf(info->runtime, sizeof info->runtime, "%s%s%s", gpu_runtime, version[0] ? " " : "", version);
    gpu_version(driver, version, sizeof version);
    if (driver != 0)
        std::snprintf(info->driver, sizeof info->driver, "for %s up to %s", gpu_runtime, version);
    gpu_architecture(properties, info->isa, sizeof info->isa);
    info->isa[name_of(info->isa)] = '\0';
    if (gpu_dlpack_type != 1) /* not the emulation */
        std::snprintf(info->bus_id, sizeof info->bus_id, "%04x:%02x:%02x.0", properties.pciDomainID,
                      properties.pciBusID, properties.pciDeviceID);
    info->multiprocessors = properties.multiProcessorCount;
    info->warp_size = properties.warpSize;
    info->memory_bytes = (int64_t)properties.totalGlobalMem;
    info->max_threads_per_block = properties.maxThreadsPerBlock;
    info->max_shared_bytes = (int64_t)gpu_max_shared(properties);
    for (int d = 0; d < 3; d++) {
        info->max_block[d] = properties.maxThreadsDim[d];
        info->max_grid[d] = properties.maxGridSize[d];
        info->max_grid_threads[d] = gpu_max_grid_threads;
    }
}

void close_libraries(hip_device *device)
{
    hip_blas_close(device);
    hip_solver_close(device);
}

/* Joins the operations' tables; 0 if memory is short. */
size_t collect_rows(hip_device *device)
{
    const hip_rows tables[] = {
        hip_convert_rows(),   hip_convolve_rows(),     hip_convolve1d_rows(), hip_convolve_fft_rows(),
        hip_copy_rows(),      hip_multiply_add_rows(), hip_primes_rows(),     hip_select_rows(),
        hip_sort_rows(),      hip_elementwise_rows(),  hip_allclose_rows(),   hip_reconstruct_rows(),
        hip_svd_rows(),       hip_map_rows(),          hip_kernel_rows(),     hip_merge_rows(),
        hip_transpose_rows(), hip_matmul_rows(),       hip_histogram_rows(),  hip_reduce_rows(),
        hip_scan_rows(),
    };
    size_t count = 0;
    for (const hip_rows &table : tables)
        count += table.count;
    device->rows.reset(new (std::nothrow) fl_row[count]);
    if (!device->rows)
        return 0;
    fl_row *next = device->rows.get();
    for (const hip_rows &table : tables)
        next = std::copy_n(table.row, table.count, next);
    return count;
}

} // namespace

extern "C" fl_status hip_open(const fl_host *host, const fl_open_request *request, fl_plugin_device *opened)
{
    const int number = request->number < 0 ? 0 : request->number;
    hipDeviceProp_t properties;
    int count;
    HIP_TRY(host, number, hipGetDeviceCount(&count));
    HIP_TRY(host, number, hipGetDeviceProperties(&properties, number));
    if (!has_code_for(properties)) {
        char cause[256], cure[256];
        explain_code(properties, cause, cure);
        return host->error(FL_E_UNAVAILABLE, "%s; %s", cause, cure);
    }
    std::unique_ptr<hip_device> device(new (std::nothrow) hip_device{});
    const size_t row_count = device ? collect_rows(device.get()) : 0;
    if (row_count == 0)
        return host->error(FL_E_MEMORY, "out of host memory for a device");
    describe(properties, &opened->info);
    device->host = host;
    device->number = number;
    device->alone = count == 1;
    gpu_architecture(properties, device->architecture, sizeof device->architecture);
    device->usual_shared = properties.sharedMemPerBlock;
    device->most_shared = gpu_max_shared(properties);
    device->max_threads = properties.maxThreadsPerBlock;
    device->lanes = gpu_lanes_of(properties);
    std::copy_n(opened->info.max_grid, 3, device->max_grid);
    std::copy_n(opened->info.max_grid_threads, 3, device->max_grid_threads);
    device->close_libraries = close_libraries;
    device->multiprocessors = std::max(properties.multiProcessorCount, 1);
    device->resident_threads = properties.maxThreadsPerMultiProcessor;
    opened->info.dlpack_type = gpu_dlpack_type;
    opened->info.dlpack_pinned_type = gpu_dlpack_pinned_type;
    opened->info.dlpack_id = gpu_dlpack_type == 1 ? 0 : number;
    fl_status status = try_threads(host);
    if (status == FL_OK)
        status = canary(device.get());
    if (status != FL_OK)
        return status;
    opened->rows = device->rows.get();
    opened->row_count = row_count;
    opened->api = hip_device_functions();
    opened->self = device.release();
    return FL_OK;
}
