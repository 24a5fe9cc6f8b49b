/* SPDX-License-Identifier: MIT
 *
 * code.h - code.hpp where the processor emulates a GPU: the system's `c++` compiles the text (text.h), and
 * ../grid.cpp runs its kernels.
 */
#ifndef FLYNN_SIMT_CODE_H
#define FLYNN_SIMT_CODE_H

#include "../../shared/compiler.h"
#include "code.hpp"
#include "text.h"
#include "../detector.hpp"
#include "../grid.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <link.h>
#include <memory>
#include <new>
#include <string>
#include <vector>

typedef void (*code_kernel)(void **arguments);
typedef simt_place *(*code_begin)();

struct hip_code {
    void *handle;
    std::string name; /* of the user's function or kernel */
    std::vector<code_kernel> kernels;
    code_begin begin; /* the calling thread's place */
    mutable std::atomic<uint64_t> launches;
    simt::object_file file;   /* what the detector's messages name */
    std::string dynamic_name; /* name of the dynamic shared memory's array */
    int lanes;                /* threads of a warp */
    int most_threads;         /* of a block, by __launch_bounds__; 0: not given */
    bool sees_volatile;       /* the compiler tells volatile accesses from others, or there are none */
};

namespace
{

/* What the calling thread's next launch does (hip_code_watch). */
thread_local struct {
    const hip_code *code;
    const fl_kernel_watch_job *job;
} to_watch;

/* What the compiler is called with besides: accesses stay where the text has them, as many and as wide; volatile ones
 * call functions of their own. clang's calls of memcpy and its like are for structures. */
enum class compiler_kind { gcc, gcc_before_11, clang };
constexpr const char *of_gcc[] = {"-fno-tree-loop-im",
                                  "-fsanitize=bounds",
                                  "-fno-tree-pre",
                                  "-fno-code-hoisting",
                                  "-fno-tree-loop-distribute-patterns",
                                  "-fno-tree-vectorize",
                                  "--param=tsan-distinguish-volatile=1"};
constexpr const char *of_clang[] = {"-fsanitize=array-bounds",
                                    "-fno-vectorize",
                                    "-fno-slp-vectorize",
                                    "-fno-unroll-loops",
                                    "-mllvm",
                                    "-disable-licm-promotion",
                                    "-mllvm",
                                    "-tsan-distinguish-volatile=1",
                                    "-mllvm",
                                    "-tsan-instrument-read-before-write=1",
                                    "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset"};

fl_status load(const fl_host *host, const hip_code_job *job, compiler_kind kind, hip_code *code)
{
    static const char *const libraries[] = {"-lgcc", COMPILER_MATH, COMPILER_C, nullptr};
    std::vector<const char *> arguments = {
        "-std=gnu++17", "-shared", "-fPIC", "-O2", "-fno-plt", /* each access asks for its thread's place */
        "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off",
        "-fsanitize=thread,alignment,null", "-nostdlib",
        "-Wl,-Bsymbolic", /* a kernel may have the name of a function of the C library */
        COMPILER_LINK, "-ftabstop=1",
        /* For the detector: lines; calls that return to the line that made them. */
        "-g1", "-gdwarf-4", "-gz=none", "-fno-optimize-sibling-calls"};
    if (kind == compiler_kind::clang)
        arguments.insert(arguments.end(), std::begin(of_clang), std::end(of_clang));
    else
        arguments.insert(arguments.end(), std::begin(of_gcc), std::end(of_gcc) - (kind != compiler_kind::gcc));
    /* A barrier and a call of a warp function is one place each, and no two calls are. */
    if (kind != compiler_kind::clang && (has_warps(job) || has_barriers(job)))
        for (const char *option :
             {"-fno-thread-jumps", "-fno-split-paths", "-fno-crossjumping", "-fno-tree-tail-merge"})
            arguments.push_back(option);
    for (const char *const *option = job->options; *option; option++)
        arguments.push_back(*option);
    arguments.push_back(nullptr);
    const std::string text = make_text(job);
    void *image = nullptr;
    size_t size = 0;
    const compiler_job compiled = {"c++",       arguments.data(), libraries, text.c_str(),
                                   job->output, job->output_size, &image,    &size};
    const fl_status status = compiler_load(host, &compiled, &code->handle);
    const std::unique_ptr<void, void (*)(void *)> freed(image, std::free);
    if (status == FL_OK && image)
        code->file = simt::object_file(image, size);
    return status;
}

/* Compiles the text. A compiler that does not know GCC's options refuses them before it reads the text. Volatile
 * accesses are as good as atomic ones to the detector; GCC before 11 does not tell them from others, which makes it say
 * nothing of races where the text has them. */
fl_status load_any(const fl_host *host, const hip_code_job *job, hip_code *code)
{
    compiler_kind kind = compiler_kind::gcc;
    fl_status status = load(host, job, kind, code);
    if (status == FL_E_SOURCE && std::strstr(job->output, of_gcc[0]))
        kind = compiler_kind::clang;
    else if (status == FL_E_SOURCE && std::strstr(job->output, "tsan-distinguish-volatile"))
        kind = compiler_kind::gcc_before_11;
    if (kind != compiler_kind::gcc)
        status = load(host, job, kind, code);
    code->sees_volatile = kind != compiler_kind::gcc_before_11 || !std::strstr(job->text, "volatile");
    code->dynamic_name = dynamic_name(job->text);
    return status;
}

fl_status find_kernels(const fl_host *host, const hip_code_job *job, hip_code *code)
{
    const int *const bounds = static_cast<const int *>(dlsym(code->handle, "flynn_launch_bounds"));
    code->most_threads = bounds ? *bounds : 0;
    code->lanes = job->lanes ? job->lanes : usual_lanes;
    code->begin = reinterpret_cast<code_begin>(dlsym(code->handle, "flynn_begin"));
    for (int i = 0; job->kernels[i]; i++) {
        const std::string name = "flynn_kernel_" + std::to_string(i);
        code->kernels.push_back(reinterpret_cast<code_kernel>(dlsym(code->handle, name.c_str())));
    }
    if (!code->begin || std::count(code->kernels.begin(), code->kernels.end(), nullptr) > 0)
        return host->error(FL_E_DEVICE, "the compiler made something else than the kernel");
    return FL_OK;
}

/* nullptr: no memory for it. */
std::unique_ptr<simt::detector> make_detector(const hip_code *code, dim3 grid, dim3 block, size_t shared)
{
    link_map *map = nullptr;
    if (dlinfo(code->handle, RTLD_DI_LINKMAP, &map) != 0)
        return nullptr;
    try {
        const simt::watched_launch launch = {to_watch.job,
                                             &code->file,
                                             code->dynamic_name,
                                             map->l_addr,
                                             shared,
                                             {block.x, block.y, block.z},
                                             {grid.x, grid.y, grid.z},
                                             code->sees_volatile};
        return std::make_unique<simt::detector>(launch);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

} // namespace

void hip_code_watch(const hip_code *code, const fl_kernel_watch_job *watch)
{
    to_watch = {watch ? code : nullptr, watch};
}

fl_status hip_code_compile(hip_device *device, const hip_code_job *job, hip_code **code)
{
    std::unique_ptr<hip_code> made;
    fl_status status;
    *code = nullptr;
    try {
        made.reset(new hip_code{});
        made->name = job->name;
        status = load_any(device->host, job, made.get());
        if (status == FL_OK)
            status = find_kernels(device->host, job, made.get());
    } catch (const std::bad_alloc &) {
        status = device->host->error(FL_E_MEMORY, "out of host memory");
    }
    if (status == FL_OK)
        *code = made.release();
    else if (made && made->handle)
        dlclose(made->handle);
    return status;
}

fl_status hip_code_queue(const fl_context *context, const hip_code *code, int kernel, dim3 grid, dim3 block,
                         size_t shared, void **arguments)
{
    const fl_host *host = hip_device_of(context)->host;
    const unsigned threads = block.x * block.y * block.z;
    if (code->most_threads > 0 && threads > (unsigned)code->most_threads)
        return host->error(FL_E_LIMIT,
                           "%s is compiled for at most %d threads a block (__launch_bounds__); %u are given",
                           code->name.c_str(), code->most_threads, threads);
    std::unique_ptr<simt::detector> detector;
    if (to_watch.code == code)
        detector = make_detector(code, grid, block, shared);
    const simt::grid all = {code->kernels[(size_t)kernel],
                            arguments,
                            {grid.x, grid.y, grid.z},
                            {block.x, block.y, block.z},
                            shared,
                            code->begin,
                            true,
                            code->launches++,
                            detector.get(),
                            code->lanes};
    const char *ended;
    const simt::outcome outcome = simt::run(all, &ended);
    if (detector)
        detector->finish();
    switch (outcome) {
    case simt::outcome::done: return FL_OK;
    case simt::outcome::ended:
        if (!ended)
            return host->error(FL_E_DEVICE, "%s", detector->fault().c_str());
        if (std::strchr(ended, ' ')) /* an assertion's line */
            return host->error(FL_E_DEVICE, "%s", ended);
        return host->error(FL_E_DEVICE, "%s calls %s instead of returning", code->name.c_str(), ended);
    default: return host->error(FL_E_MEMORY, "out of host memory for a block's threads");
    }
}

fl_status hip_code_symbol(const hip_device *device, const hip_code *code, const char *name, void **address,
                          size_t *bytes)
{
    Dl_info own, found;
    ElfW(Sym) *symbol = nullptr;
    void *at = dlsym(code->handle, name);
    if (!at || !dladdr1(at, &found, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) || !symbol ||
        ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !dladdr(reinterpret_cast<void *>(code->begin), &own) ||
        own.dli_fbase != found.dli_fbase)
        return device->host->error(FL_E_ARGUMENT, "the text has no __constant__ or __device__ variable '%s'", name);
    *address = at;
    *bytes = (size_t)symbol->st_size;
    return FL_OK;
}

void hip_code_free(hip_device *, hip_code *code)
{
    if (!code)
        return;
    dlclose(code->handle);
    delete code;
}

#endif
