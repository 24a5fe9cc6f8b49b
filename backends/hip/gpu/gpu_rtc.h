/* SPDX-License-Identifier: MIT
 *
 * gpu_rtc.h - compiles kernels while the program runs, with NVRTC or hiprtc, and loads and launches them. Both
 * libraries' functions have the same parameters; the declarations here are from their documentation
 * (docs.nvidia.com/cuda/nvrtc, rocm.docs.amd.com/projects/HIP). hiprtc is a separate library since ROCm 5.3; before, it
 * was part of the runtime.
 */
#ifndef FLYNN_HIP_GPU_RTC_H
#define FLYNN_HIP_GPU_RTC_H

#include "../../shared/process.h"
#include "gpu_library.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <string>
#include <vector>

#if defined(__CUDACC__)
#define GPU_RTC(name) "nvrtc" name
#define GPU_RTC_CODE(name) "nvrtcGetCUBIN" name
#define GPU_RTC_STRING(text) GPU_RTC_STRING_(text)
#define GPU_RTC_STRING_(text) #text
#if CUDART_VERSION >= 13000
#define GPU_RTC_SONAME "libnvrtc.so.13"
#elif CUDART_VERSION >= 12000
#define GPU_RTC_SONAME "libnvrtc.so.12"
#else
#define GPU_RTC_SONAME "libnvrtc.so.11.2"
#endif
constexpr const char *gpu_rtc_library = GPU_RTC_SONAME " /usr/local/cuda/lib64/" GPU_RTC_SONAME;
constexpr const char *gpu_rtc_cure = "install NVRTC of the CUDA toolkit and make it known to the loader (ldconfig)";
#else
#define GPU_RTC(name) "hiprtc" name
#define GPU_RTC_CODE(name) "hiprtcGetCode" name
constexpr const char *gpu_rtc_library = "libhiprtc.so.7 libhiprtc.so.6 libhiprtc.so.5 libamdhip64.so.5";
constexpr const char *gpu_rtc_cure = "install hiprtc from the same ROCm, or set LD_LIBRARY_PATH";
#endif

/* ---------------------------------------------------------------------------------------------- the compiler ---- */

struct gpu_rtc {
    int (*create)(void **program, const char *text, const char *name, int headers, const char **header,
                  const char **header_name);
    int (*destroy)(void **program);
    int (*compile)(void *program, int count, const char **options);
    int (*code_size)(void *program, size_t *size);
    int (*code)(void *program, char *code);
    int (*log_size)(void *program, size_t *size);
    int (*log)(void *program, char *log);
    const char *(*error)(int code);
};

/* Loaded at the first call; nullptr: `why` has the reason and the fix. */
static inline const gpu_rtc *gpu_rtc_load(char *why, size_t size)
{
    static gpu_rtc rtc;
    char cause[160];
    void *library = gpu_library_load(gpu_rtc_library, cause, sizeof cause);
    if (!library) {
        std::snprintf(why, size, "%s; %s", cause, gpu_rtc_cure);
        return nullptr;
    }
    static const bool complete = [library] {
        const auto find = [library](auto *function, const char *name) {
            *reinterpret_cast<void **>(function) = dlsym(library, name);
            return *function != nullptr;
        };
        return find(&rtc.create, GPU_RTC("CreateProgram")) && find(&rtc.destroy, GPU_RTC("DestroyProgram")) &&
               find(&rtc.compile, GPU_RTC("CompileProgram")) && find(&rtc.code_size, GPU_RTC_CODE("Size")) &&
               find(&rtc.code, GPU_RTC_CODE("")) && find(&rtc.log_size, GPU_RTC("GetProgramLogSize")) &&
               find(&rtc.log, GPU_RTC("GetProgramLog")) && find(&rtc.error, GPU_RTC("GetErrorString"));
    }();
    if (!complete)
        std::snprintf(why, size, "%s lacks functions of the run-time compiler; %s", gpu_rtc_library, gpu_rtc_cure);
    return complete ? &rtc : nullptr;
}

/* Identifies the compiler that gpu_rtc_load would load, without loading it: loading NVRTC takes longer than loading
 * code from the cache. */
static inline std::string gpu_rtc_identity()
{
    const char *names = gpu_rtc_library;
    char name[LIBRARY_NAME], path[LIBRARY_PATH], text[96];
    struct stat file;
    int version = 0;
    (void)hipRuntimeGetVersion(&version);
    while (library_next_name(&names, name, sizeof name))
        if (library_path(name, path) && stat(path, &file) == 0) {
            std::snprintf(text, sizeof text, " %lld %lld.%09ld, runtime %d\n", (long long)file.st_size,
                          (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec, version);
            return std::string(path) + text;
        }
    return "";
}

constexpr int gpu_rtc_refused = 6; /* nvrtcResult and hiprtcResult for a text that does not compile */

constexpr int gpu_rtc_ended = -1, gpu_rtc_late = -2; /* the compiler ended its process; its time was over */

struct gpu_rtc_result {
    int error;        /* 0: compiled; gpu_rtc_refused, _ended, _late, or another error code of the library */
    std::string log;  /* what the compiler printed */
    std::string code; /* for the device's architecture */
};

static inline gpu_rtc_result gpu_rtc_compile_here(const gpu_rtc *rtc, const char *text,
                                                  const std::vector<const char *> &options)
{
    gpu_rtc_result result = {};
    void *program = nullptr;
    size_t size = 0;
    std::vector<const char *> list(options);
    result.error = rtc->create(&program, text, "flynn", 0, nullptr, nullptr);
    if (result.error != 0)
        return result;
    result.error = rtc->compile(program, (int)list.size(), list.data());
    if (rtc->log_size(program, &size) == 0 && size > 1) {
        result.log.resize(size);
        if (rtc->log(program, &result.log[0]) != 0)
            result.log.clear();
        result.log.resize(std::strlen(result.log.c_str()));
    }
    if (result.error == 0)
        result.error = rtc->code_size(program, &size);
    if (result.error == 0) {
        result.code.resize(size);
        result.error = rtc->code(program, &result.code[0]);
    }
    (void)rtc->destroy(&program);
    return result;
}

/* ------------------------------------------------------------------------------------------- loaded kernels ---- */

#if defined(__CUDACC__)
/* A module is a library, and a function a kernel, of CUDA's runtime. */
using gpu_module = cudaLibrary_t;
using gpu_function = cudaKernel_t;

constexpr const char *gpu_rtc_before = "";

static inline void gpu_rtc_options(const char *architecture, bool contract, std::vector<std::string> *options)
{
    *options = {std::string("--gpu-architecture=") + architecture, "--std=c++17", "--device-as-default-execution-space",
                "--disable-warnings", contract ? "--fmad=true" : "--fmad=false"};
}

/* Compiles in this process, so that no limit of time applies. */
static inline gpu_rtc_result gpu_rtc_compile(const gpu_rtc *rtc, const char *text,
                                             const std::vector<const char *> &options, double)
{
    return gpu_rtc_compile_here(rtc, text, options);
}

static inline hipError_t gpu_module_load(gpu_module *module, const char *code)
{
    return cudaLibraryLoadData(module, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

static inline void gpu_module_unload(gpu_module module)
{
    (void)cudaLibraryUnload(module);
}

static inline hipError_t gpu_module_function(gpu_function *function, gpu_module module, const char *name)
{
    return cudaLibraryGetKernel(function, module, name);
}

static inline hipError_t gpu_module_symbol(void **address, size_t *bytes, gpu_module module, const char *name)
{
    return cudaLibraryGetGlobal(address, bytes, module, name);
}

/* `more`: the shared memory exceeds what a block gets by default. */
static inline hipError_t gpu_function_launch(gpu_function function, dim3 grid, dim3 block, size_t shared, bool more,
                                             hipStream_t stream, void **arguments)
{
    const void *kernel = reinterpret_cast<const void *>(function);
    const hipError_t error =
        more ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared) : hipSuccess;
    return error != hipSuccess ? error : hipLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

static inline hipError_t gpu_function_use_of(const void *function, int threads, size_t shared, gpu_kernel_use *use)
{
    return gpu_use_of(function, threads, shared, use);
}

#else
#include <sys/mman.h>
#include <unistd.h>

using gpu_module = hipModule_t;
using gpu_function = hipFunction_t;

/* hiprtc's own int64_t is not long. */
constexpr const char *gpu_rtc_before = "#define int64_t flynn_int64_t\n#define uint64_t flynn_uint64_t\n";

static inline void gpu_rtc_options(const char *architecture, bool contract, std::vector<std::string> *options)
{
    /* One of clang's warnings is made an error here, because clang leaves out the call of a static function that the
     * text does not define. */
    *options = {std::string("--gpu-architecture=") + architecture,
                "-std=c++17",
                "-O3",
                "-Wno-everything",
                "-Werror=undefined-internal",
                "-ftabstop=1",
                contract ? "-ffp-contract=fast" : "-ffp-contract=off"};
}

/* `move` is read or write. Returns false if it fails or the file is too short. */
template <typename Move>
static inline bool gpu_rtc_move_bytes(Move move, int file, void *data, size_t bytes)
{
    for (char *at = static_cast<char *>(data); bytes > 0;) {
        const ssize_t moved = move(file, at, bytes);
        if (moved == 0 || (moved < 0 && errno != EINTR))
            return false;
        at += moved > 0 ? moved : 0;
        bytes -= moved > 0 ? (size_t)moved : 0;
    }
    return true;
}

template <typename Move>
static inline bool gpu_rtc_move(Move move, int file, gpu_rtc_result *result)
{
    size_t sizes[] = {result->log.size(), result->code.size()};
    if (!gpu_rtc_move_bytes(move, file, &result->error, sizeof result->error) ||
        !gpu_rtc_move_bytes(move, file, sizes, sizeof sizes))
        return false;
    result->log.resize(sizes[0]);
    result->code.resize(sizes[1]);
    return gpu_rtc_move_bytes(move, file, &result->log[0], sizes[0]) &&
           gpu_rtc_move_bytes(move, file, &result->code[0], sizes[1]);
}

struct gpu_rtc_work {
    const gpu_rtc *rtc;
    const char *text;
    const std::vector<const char *> *options;
    int file; /* for the result */
};

/* The work of process_run: compiles, and writes the result to the file. */
static inline int gpu_rtc_do(void *data)
{
    const gpu_rtc_work *w = static_cast<const gpu_rtc_work *>(data);
    gpu_rtc_result result = gpu_rtc_compile_here(w->rtc, w->text, *w->options);
    return gpu_rtc_move(write, w->file, &result) ? 0 : errno;
}

/* Compiles in a child process, for at most `seconds` (0: no limit), because hiprtc ends its process if it does not know
 * the architecture or its compiler fails, and because another thread may hold a lock that the compiler needs. */
static inline gpu_rtc_result gpu_rtc_compile(const gpu_rtc *rtc, const char *text,
                                             const std::vector<const char *> &options, double seconds)
{
    gpu_rtc_result result = {gpu_rtc_ended, "", ""};
    gpu_rtc_work work = {rtc, text, &options, memfd_create("flynn-code", MFD_CLOEXEC)};
    if (work.file < 0)
        return result;
    const process_ending ending = process_run(gpu_rtc_do, &work, seconds);
    if (ending.late)
        result.error = gpu_rtc_late;
    else if (ending.error != 0 || ending.status != 0 || lseek(work.file, 0, SEEK_SET) != 0 ||
             !gpu_rtc_move(read, work.file, &result))
        result.error = gpu_rtc_ended;
    close(work.file);
    return result;
}

static inline hipError_t gpu_module_load(gpu_module *module, const char *code)
{
    return hipModuleLoadData(module, code);
}

static inline void gpu_module_unload(gpu_module module)
{
    (void)hipModuleUnload(module);
}

static inline hipError_t gpu_module_function(gpu_function *function, gpu_module module, const char *name)
{
    return hipModuleGetFunction(function, module, name);
}

static inline hipError_t gpu_module_symbol(void **address, size_t *bytes, gpu_module module, const char *name)
{
    return hipModuleGetGlobal(address, bytes, module, name);
}

static inline hipError_t gpu_function_launch(gpu_function function, dim3 grid, dim3 block, size_t shared, bool,
                                             hipStream_t stream, void **arguments)
{
    return hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared, stream,
                                 arguments, nullptr);
}

static inline hipError_t gpu_function_use_of(const void *kernel, int threads, size_t shared, gpu_kernel_use *use)
{
    const gpu_function function = static_cast<gpu_function>(const_cast<void *>(kernel));
    int local = 0, in_shared = 0;
    hipError_t error = hipFuncGetAttribute(&use->registers, HIP_FUNC_ATTRIBUTE_NUM_REGS, function);
    if (error == hipSuccess)
        error = hipFuncGetAttribute(&local, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function);
    if (error == hipSuccess)
        error = hipFuncGetAttribute(&in_shared, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    use->local_bytes = (size_t)local;
    use->shared_bytes = (size_t)in_shared;
    return error != hipSuccess
               ? error
               : hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&use->resident_blocks, function, threads, shared);
}
#endif
#endif
