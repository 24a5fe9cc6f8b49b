/* SPDX-License-Identifier: MIT
 *
 * code.cpp - calls the compiler with the options by which the detector sees each access (detector.hpp), finds the
 * kernels in what it made, and launches them (run.hpp).
 */
#include "code.hpp"

#include "../../shared/compiler.h"
#include "../detector.hpp"
#include "../run.hpp"
#include "text.hpp"

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

namespace simt
{

using code_kernel = void (*)(void **arguments);
using code_begin = simt_place *(*)();

struct compiled_code {
    void *handle;
    std::string name; /* of the user's function or kernel */
    std::vector<code_kernel> kernels;
    code_begin begin; /* the calling thread's place */
    mutable std::atomic<uint64_t> launches;
    object_file file;         /* what the detector's messages name */
    std::string dynamic_name; /* name of the dynamic shared memory's array */
    int lanes;                /* threads of a warp */
    int most_threads;         /* of a block, by __launch_bounds__; 0: not given */
    bool sees_volatile;       /* the compiler tells volatile accesses from others, or there are none */
};

namespace
{

/* What the calling thread's next launch does (watch_code). */
thread_local struct {
    const compiled_code *code;
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

fl_status load(const fl_host *host, const code_job *job, compiler_kind kind, compiled_code *code)
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
        code->file = object_file(image, size);
    return status;
}

/* Compiles the text. A compiler that does not know GCC's options refuses them before it reads the text. Volatile
 * accesses are as good as atomic ones to the detector; GCC before 11 does not tell them from others, which makes it say
 * nothing of races where the text has them. */
fl_status load_any(const fl_host *host, const code_job *job, compiled_code *code)
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

fl_status find_kernels(const fl_host *host, const code_job *job, compiled_code *code)
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
std::unique_ptr<detector> make_detector(const compiled_code *code, const uint32_t (&blocks)[3],
                                        const uint32_t (&threads)[3], size_t shared)
{
    link_map *map = nullptr;
    if (dlinfo(code->handle, RTLD_DI_LINKMAP, &map) != 0)
        return nullptr;
    try {
        const watched_launch launch = {to_watch.job,
                                       &code->file,
                                       code->dynamic_name,
                                       map->l_addr,
                                       shared,
                                       {threads[0], threads[1], threads[2]},
                                       {blocks[0], blocks[1], blocks[2]},
                                       code->sees_volatile};
        return std::make_unique<detector>(launch);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

} // namespace

void watch_code(const compiled_code *code, const fl_kernel_watch_job *watch)
{
    to_watch = {watch ? code : nullptr, watch};
}

fl_status compile_code(const fl_host *host, const code_job *job, compiled_code **code)
{
    std::unique_ptr<compiled_code> made;
    fl_status status;
    *code = nullptr;
    try {
        made.reset(new compiled_code{});
        made->name = job->name;
        status = load_any(host, job, made.get());
        if (status == FL_OK)
            status = find_kernels(host, job, made.get());
    } catch (const std::bad_alloc &) {
        status = host->error(FL_E_MEMORY, "out of host memory");
    }
    if (status == FL_OK)
        *code = made.release();
    else if (made && made->handle)
        dlclose(made->handle);
    return status;
}

fl_status run_code(const fl_host *host, const compiled_code *code, int kernel, const uint32_t (&blocks)[3],
                   const uint32_t (&threads)[3], size_t shared, void **arguments)
{
    const uint32_t count = threads[0] * threads[1] * threads[2];
    if (code->most_threads > 0 && count > (unsigned)code->most_threads)
        return host->error(FL_E_LIMIT,
                           "%s is compiled for at most %d threads a block (__launch_bounds__); %u are given",
                           code->name.c_str(), code->most_threads, count);
    std::unique_ptr<simt::detector> detector;
    if (to_watch.code == code)
        detector = make_detector(code, blocks, threads, shared);
    const grid all = {code->kernels[(size_t)kernel],
                      arguments,
                      {blocks[0], blocks[1], blocks[2]},
                      {threads[0], threads[1], threads[2]},
                      shared,
                      code->begin,
                      true,
                      code->launches++,
                      detector.get(),
                      code->lanes};
    const char *ended;
    const outcome how = run(all, &ended);
    if (detector)
        detector->finish();
    switch (how) {
    case outcome::done: return FL_OK;
    case outcome::ended:
        if (!ended)
            return host->error(FL_E_DEVICE, "%s", detector->fault().c_str());
        if (std::strchr(ended, ' ')) /* an assertion's line */
            return host->error(FL_E_DEVICE, "%s", ended);
        return host->error(FL_E_DEVICE, "%s calls %s instead of returning", code->name.c_str(), ended);
    default: return host->error(FL_E_MEMORY, "out of host memory for a block's threads");
    }
}

fl_status find_code_symbol(const fl_host *host, const compiled_code *code, const char *name, void **address,
                           size_t *bytes)
{
    Dl_info own, found;
    ElfW(Sym) *symbol = nullptr;
    void *at = dlsym(code->handle, name);
    if (!at || !dladdr1(at, &found, reinterpret_cast<void **>(&symbol), RTLD_DL_SYMENT) || !symbol ||
        ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !dladdr(reinterpret_cast<void *>(code->begin), &own) ||
        own.dli_fbase != found.dli_fbase)
        return host->error(FL_E_ARGUMENT, "the text has no __constant__ or __device__ variable '%s'", name);
    *address = at;
    *bytes = (size_t)symbol->st_size;
    return FL_OK;
}

void free_code(compiled_code *code)
{
    if (!code)
        return;
    dlclose(code->handle);
    delete code;
}

} // namespace simt
