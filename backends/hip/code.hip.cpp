/* SPDX-License-Identifier: MIT
 *
 * code.hip.cpp - kernels that are compiled while the program runs: where the processor emulates a GPU, by
 * backends/simt; else by the vendor's library, whose code is kept in the user's cache.
 */
#include "code.hpp"

#if defined(GPU_EMULATION)
#include "../simt/code/code.hpp"

fl_status hip_code_compile(hip_device *device, const code_job *job, hip_code **code)
{
    return simt::compile_code(device->host, job, code);
}

fl_status hip_code_queue(const fl_context *context, const hip_code *code, int kernel, dim3 grid, dim3 block,
                         size_t shared, void **arguments)
{
    return simt::run_code(hip_device_of(context)->host, code, kernel, {grid.x, grid.y, grid.z},
                          {block.x, block.y, block.z}, shared, arguments);
}

void hip_code_free(hip_device *, hip_code *code)
{
    simt::free_code(code);
}

fl_status hip_program_symbol(void *self, const void *code, const char *name, void **address, size_t *bytes)
{
    return simt::find_code_symbol(static_cast<const hip_device *>(self)->host,
                                  static_cast<const hip_program *>(code)->kernels(), name, address, bytes);
}

void hip_program_watch(void *, void *code, const fl_kernel_watch_job *watch)
{
    simt::watch_code(static_cast<const hip_program *>(code)->kernels(), watch);
}

#else
#include "../shared/compiler.h"
#include "gpu/gpu_rtc.h"

#include <new>
#include <unistd.h>

extern "C" const char *const hip_rtc_prelude[]; /* lines of rtc_prelude.h */

struct hip_code {
    gpu_module module;
    std::vector<gpu_function> functions; /* in the order of code_job.kernels */
};

namespace
{

std::string text_of(const code_job *job)
{
    std::string text = gpu_rtc_before;
    code_add(text, code_numbers);
    code_add(text, hip_rtc_prelude);
    if (code_has_groups(job))
        code_add(text, cooperative_groups);
    return text + job->text;
}

/* The key of the code: all that decides it. */
std::string key_of(const code_job *job, const std::vector<const char *> &options)
{
    char version[32];
    std::snprintf(version, sizeof version, "%d.%d.%d\n", FL_VERSION_MAJOR, FL_VERSION_MINOR, FL_VERSION_PATCH);
    std::string key = version + gpu_rtc_identity();
    for (const char *option : options)
        key += std::string(option) + "\n";
    return key + text_of(job);
}

fl_status load(const hip_device *device, const code_job *job, const std::string &bytes, hip_code *code)
{
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number, gpu_module_load(&code->module, bytes.data()));
    for (const char *const *name = job->kernels; *name; name++) {
        gpu_function function;
        HIP_TRY(device->host, device->number, gpu_module_function(&function, code->module, *name));
        code->functions.push_back(function);
    }
    return FL_OK;
}

std::string read_file(const char *path, size_t size)
{
    std::string bytes(size, '\0');
    FILE *file = std::fopen(path, "rb");
    const size_t got = file ? std::fread(&bytes[0], 1, size, file) : 0;
    if (file)
        std::fclose(file);
    bytes.resize(got == size ? size : 0);
    return bytes;
}

bool write_file(const char *path, const std::string &bytes)
{
    FILE *file = std::fopen(path, "wb");
    const bool written = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return (file && std::fclose(file) == 0) && written;
}

fl_status compile(const hip_device *device, const code_job *job, const std::vector<const char *> &options,
                  std::string *code)
{
    char why[256];
    const gpu_rtc *rtc = gpu_rtc_load(why, sizeof why);
    if (!rtc)
        return device->host->error(FL_E_UNAVAILABLE, "%s", why);
    double seconds;
    const fl_status status = compiler_time_limit(device->host, &seconds);
    if (status != FL_OK)
        return status;
    gpu_rtc_result result = gpu_rtc_compile(rtc, text_of(job).c_str(), options, seconds);
    const int first = (int)std::strcspn(result.log.c_str(), "\n");
    if (result.code.size() > COMPILER_MOST_BYTES)
        return device->host->error(FL_E_MEMORY, GPU_RTC("") " makes code of more than %d MiB, which is refused",
                                   COMPILER_MOST_BYTES >> 20);
    if (result.error == 0) {
        code->swap(result.code);
        return FL_OK;
    }
    if (result.error == gpu_rtc_refused) {
        std::snprintf(job->output, job->output_size, "%s", result.log.c_str());
        return FL_E_SOURCE;
    }
    if (result.error == gpu_rtc_late)
        return device->host->error(FL_E_MEMORY, GPU_RTC("") " did not end within %g s (FLYNN_COMPILE_TIMEOUT)",
                                   seconds);
    return device->host->error(FL_E_MEMORY, GPU_RTC("") " failed for %s: %s%s%.*s", device->architecture,
                               result.error > 0 ? rtc->error(result.error) : "it ended its process",
                               first > 0 ? ", " : "", first, result.log.c_str());
}

/* Compiles what the cache does not have, and keeps it there. */
fl_status make(const hip_device *device, const code_job *job, hip_code *code)
{
    const fl_host *host = device->host;
    std::vector<std::string> own;
    gpu_rtc_options(device->architecture, job->contract, &own);
    std::vector<const char *> options;
    for (const std::string &option : own)
        options.push_back(option.c_str());
    for (const char *const *option = job->options; *option; option++)
        options.push_back(*option);
    const std::string key = key_of(job, options);
    fl_cache_entry entry;
    fl_status status = host->cache_find(key.data(), key.size(), &entry);
    if (status != FL_OK)
        return status;
    std::string bytes;
    if (entry.found) {
        bytes = read_file(entry.path, (size_t)entry.bytes);
        if (!bytes.empty() && load(device, job, bytes, code) == FL_OK)
            return FL_OK;
        host->cache_drop(&entry); /* damaged, or another process has just removed it */
        status = host->cache_find(key.data(), key.size(), &entry);
        if (status != FL_OK)
            return status;
    }
    status = compile(device, job, options, &bytes);
    if (status == FL_OK)
        status = load(device, job, bytes, code);
    if (status == FL_OK && !entry.found && write_file(entry.path, bytes))
        host->cache_keep(key.data(), key.size(), &entry);
    else
        host->cache_drop(&entry);
    return status;
}

} // namespace

fl_status hip_code_compile(hip_device *device, const code_job *job, hip_code **code)
{
    job->output[0] = '\0';
    hip_code *made = nullptr;
    fl_status status;
    try {
        made = new hip_code{};
        status = make(device, job, made);
    } catch (const std::bad_alloc &) {
        status = device->host->error(FL_E_MEMORY, "out of memory for compiled code");
    }
    if (status == FL_OK)
        *code = made;
    else
        hip_code_free(device, made);
    return status;
}

fl_status hip_code_queue(const fl_context *context, const hip_code *code, int kernel, dim3 grid, dim3 block,
                         size_t shared, void **arguments)
{
    const hip_device *device = hip_device_of(context);
    hip_stream *stream = hip_stream_of(context);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            gpu_function_launch(code->functions[(size_t)kernel], grid, block, shared, shared > device->usual_shared,
                                stream->queue, arguments));
    stream->last = {reinterpret_cast<const void *>(code->functions[(size_t)kernel]), gpu_function_use_of,
                    (int)(block.x * block.y * block.z), shared};
    return FL_OK;
}

fl_status hip_program_symbol(void *self, const void *code, const char *name, void **address, size_t *bytes)
{
    const hip_device *device = static_cast<const hip_device *>(self);
    const hip_code *kernels = static_cast<const hip_program *>(code)->kernels();
    HIP_SELECT(device);
    const hipError_t error = gpu_module_symbol(address, bytes, kernels->module, name);
    if (error == hipSuccess)
        return FL_OK;
    (void)hipGetLastError();
    return device->host->error(FL_E_ARGUMENT, "the text has no __constant__ or __device__ variable '%s'", name);
}

void hip_code_free(hip_device *device, hip_code *code)
{
    if (code && code->module && hipSetDevice(device->number) == hipSuccess)
        gpu_module_unload(code->module);
    delete code;
}

#endif

fl_status hip_program_compile(void *self, const fl_source *source, char *output, size_t size, void **code)
{
    hip_device *device = static_cast<hip_device *>(self);
    hip_program *program = nullptr;
    const fl_status status =
        (source->kernel ? hip_kernel_compile : hip_map_compile)(device, source, output, size, &program);
    *code = program;
    return status;
}

void hip_program_free(void *, void *code)
{
    delete static_cast<hip_program *>(code);
}
