/* SPDX-License-Identifier: MIT
 *
 * kernels.cpp - what the compiler's own code calls when a program is loaded (__hipRegister...), and launches.
 */
#include "checks/memory_map.h"
#include "checks/poison.h"
#include "execution/dispatch.h"
#include "execution/table.h"
#include "runtime.h"
#include "settings.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <map>
#include <stdexcept>
#include <vector>

namespace
{
/* The code objects of one source file, or one that the program loads; `code` is NULL if none is for this GPU. */
struct module {
    std::unique_ptr<code_object> code;
    std::vector<uint8_t> bytes;                      /* of a loaded one */
    std::vector<std::unique_ptr<std::string>> names; /* of its functions: what a hipFunction_t points to */
};

struct function {
    module *of;
    std::string name;
};

/* By the address of the host function that stands for a kernel, or by a hipFunction_t. Never destroyed: others'
 * destructors may launch. */
std::map<const void *, function> &functions = *new std::map<const void *, function>;

struct found_kernel {
    code_object *code = nullptr;
    const kernel *what = nullptr;
    hipError_t error = hipSuccess;
};

found_kernel find(const void *host_function)
{
    const auto f = functions.find(host_function);
    if (f == functions.end())
        return {nullptr, nullptr, hipErrorInvalidDeviceFunction};
    code_object *code = f->second.of->code.get();
    const kernel *what = code ? code->find(f->second.name) : nullptr;
    return {code, what, what ? hipSuccess : hipErrorNoBinaryForGpu};
}

struct configuration {
    dim3 grid, block;
    size_t lds;
    hipStream_t stream;
};
thread_local std::vector<configuration> configurations;

uint64_t hidden_argument(const std::string &kind, const dim3 &grid, const dim3 &block, size_t lds)
{
    const uint32_t blocks[] = {grid.x, grid.y, grid.z}, threads[] = {block.x, block.y, block.z};
    const int dimension = kind.back() - 'x';
    if (kind.starts_with("hidden_block_count_"))
        return blocks[dimension];
    if (kind.starts_with("hidden_group_size_"))
        return threads[dimension];
    if (kind == "hidden_grid_dims")
        return grid.z > 1 ? 3 : grid.y > 1 ? 2 : 1;
    if (kind == "hidden_dynamic_lds_size")
        return lds;
    return 0;
}

/* Longer than the arguments: compilers load up to 16 dwords at once, and do not use what lies behind the arguments. */
std::vector<uint8_t> kernarg_segment(const kernel &k, void **arguments, const dim3 &grid, const dim3 &block, size_t lds)
{
    std::vector<uint8_t> segment(k.kernarg_bytes + 64, POISON_MEMORY);
    for (const kernel_argument &a : k.arguments) {
        uint8_t *to = segment.data() + a.offset;
        if (!a.kind.starts_with("hidden_")) {
            memcpy(to, *arguments++, a.size);
            continue;
        }
        const uint64_t value = hidden_argument(a.kind, grid, block, lds);
        memcpy(to, &value, a.size);
    }
    return segment;
}

/* HIP wants less than 2^32 threads in each dimension. */
bool is_valid(const kernel &k, const dim3 &grid, const dim3 &block)
{
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    const uint64_t blocks[] = {grid.x, grid.y, grid.z}, sizes[] = {block.x, block.y, block.z};
    for (int d = 0; d < 3; d++)
        if (blocks[d] == 0 || blocks[d] * sizes[d] > UINT32_MAX)
            return false;
    return threads > 0 && threads <= MAX_THREADS && threads <= k.max_threads;
}

hipError_t execute(const found_kernel &found, const dim3 &grid, const dim3 &block, size_t lds,
                   const std::vector<uint8_t> &arguments)
{
    try {
        found.code->load(bind);
    } catch (const std::exception &e) {
        fprintf(stderr, "amd emulator: %s\n", e.what());
        return hipErrorLaunchFailure;
    }
    const launch l = {found.code,    found.what,      {grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                      (uint32_t)lds, arguments.data()};
    memory_map.add(arguments.data(), arguments.size());
    const bool ok = run(l);
    memory_map.remove(arguments.data());
    return ok ? hipSuccess : hipErrorLaunchFailure;
}
} // namespace

/* --------------------------------------------------------------------------------------------------- registration ----
 */

HIP_API void **__hipRegisterFatBinary(const void *data)
{
    struct fat_binary {
        uint32_t magic, version;
        const uint8_t *bundle;
        void *unused;
    };
    turn mine;
    auto *m = new module;
    try {
        const std::string &architecture = settings().architecture;
        const code_bytes elf = find_in_bundle(((const fat_binary *)data)->bundle, architecture);
        if (elf.size > 0)
            m->code = std::make_unique<code_object>(elf, architecture);
    } catch (const std::exception &e) {
        mistake("%s", e.what());
    }
    return (void **)m;
}

HIP_API void __hipRegisterFunction(void **of, const void *host_function, char *, const char *name, unsigned, void *,
                                   void *, void *, void *, int *)
{
    turn mine;
    functions[host_function] = {(module *)of, name};
}

static void unregister(module *m)
{
    for (auto f = functions.begin(); f != functions.end();)
        f = f->second.of == m ? functions.erase(f) : std::next(f);
    delete m;
}

HIP_API void __hipUnregisterFatBinary(void **handle)
{
    turn mine;
    unregister((module *)handle);
}

HIP_API hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t stream)
{
    configurations.push_back({grid, block, lds, stream});
    return hipSuccess;
}

HIP_API hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds, hipStream_t *stream)
{
    const configuration c = configurations.back();
    configurations.pop_back();
    *grid = c.grid;
    *block = c.block;
    *lds = c.lds;
    *stream = c.stream;
    return hipSuccess;
}

/* -------------------------------------------------------------------------------------------------------- launches
 * ---- */

HIP_API hipError_t hipLaunchKernel(const void *host_function, dim3 grid, dim3 block, void **arguments,
                                   size_t dynamic_lds, hipStream_t stream)
{
    turn mine;
    if (fails_now())
        return result(hipErrorLaunchFailure);
    const found_kernel found = find(host_function);
    if (!found.what)
        return result(found.error);
    if (!is_valid(*found.what, grid, block))
        return result(hipErrorInvalidConfiguration);
    const size_t lds = found.what->lds_bytes + dynamic_lds;
    if (lds > LDS_BYTES)
        return result(hipErrorInvalidValue);
    if (settings().verbose)
        fprintf(stderr, "amd emulator: %s, grid %ux%ux%u, block %ux%ux%u, LDS %zu\n", found.what->name.c_str(), grid.x,
                grid.y, grid.z, block.x, block.y, block.z, lds);
    return result(enqueue(stream, [=, segment = kernarg_segment(*found.what, arguments, grid, block, dynamic_lds)] {
        return execute(found, grid, block, lds, segment);
    }));
}

HIP_API hipError_t hipFuncSetAttribute(const void *, hipFuncAttribute, int)
{
    turn mine;
    return result(fails_now() ? hipErrorInvalidValue : hipSuccess);
}

HIP_API hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *host_function)
{
    turn mine;
    if (fails_now())
        return result(hipErrorInvalidValue);
    const found_kernel found = find(host_function);
    if (!found.what)
        return result(found.error);
    *attributes = {};
    attributes->maxThreadsPerBlock = (int)found.what->max_threads;
    attributes->numRegs = (int)found.what->vgprs;
    attributes->localSizeBytes = found.what->scratch_bytes;
    attributes->sharedSizeBytes = found.what->lds_bytes;
    attributes->maxDynamicSharedSizeBytes = LDS_BYTES - (int)found.what->lds_bytes;
    return result(hipSuccess);
}

/* As far as LDS and the number of wavefronts say, without registers. */
HIP_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host_function, int threads,
                                                                size_t dynamic_lds)
{
    turn mine;
    if (fails_now())
        return result(hipErrorInvalidValue);
    const found_kernel found = find(host_function);
    if (!found.what)
        return result(found.error);
    const int max_wavefronts = 32, lanes = found.what->wave64 ? 64 : 32;
    const int wavefronts = std::max(1, (threads + lanes - 1) / lanes);
    const size_t lds = std::max<size_t>(1, found.what->lds_bytes + dynamic_lds);
    *blocks = std::max(1, std::min(max_wavefronts / wavefronts, (int)(LDS_BYTES / lds)));
    return result(hipSuccess);
}

/* --------------------------------------------------------------------------------------------------------- modules
 * ---- */

/* An ELF file ends with its table of sections. */
static size_t size_of_elf(const void *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
}

HIP_API hipError_t hipModuleLoadData(hipModule_t *loaded, const void *image)
{
    turn mine;
    if (fails_now())
        return result(hipErrorOutOfMemory);
    const std::string &architecture = settings().architecture;
    auto m = std::make_unique<module>();
    try {
        const auto *bytes = (const uint8_t *)image;
        const bool is_elf = memcmp(bytes, ELFMAG, SELFMAG) == 0;
        const code_bytes elf = is_elf ? code_bytes{bytes, size_of_elf(bytes)} : find_in_bundle(bytes, architecture);
        if (elf.size == 0)
            return result(hipErrorNoBinaryForGpu);
        m->bytes.assign(elf.bytes, elf.bytes + elf.size);
        m->code = std::make_unique<code_object>(code_bytes{m->bytes.data(), m->bytes.size()}, architecture);
    } catch (const std::exception &e) {
        fprintf(stderr, "amd emulator: %s\n", e.what());
        return result(hipErrorInvalidImage);
    }
    *loaded = (hipModule_t)m.release();
    return result(hipSuccess);
}

HIP_API hipError_t hipModuleUnload(hipModule_t loaded)
{
    turn mine;
    drain_all();
    unregister((module *)loaded);
    return result(hipSuccess);
}

HIP_API hipError_t hipModuleGetFunction(hipFunction_t *got, hipModule_t loaded, const char *name)
{
    turn mine;
    auto *m = (module *)loaded;
    if (fails_now() || !m->code->find(name))
        return result(hipErrorNotFound);
    m->names.push_back(std::make_unique<std::string>(name));
    *got = (hipFunction_t)m->names.back().get();
    functions[*got] = {m, name};
    return result(hipSuccess);
}

HIP_API hipError_t hipModuleGetGlobal(hipDeviceptr_t *address, size_t *bytes, hipModule_t loaded, const char *name)
{
    turn mine;
    auto *m = (module *)loaded;
    if (fails_now())
        return result(hipErrorNotFound);
    m->code->load(bind);
    *address = (hipDeviceptr_t)m->code->variable(name, bytes);
    return result(*address ? hipSuccess : hipErrorNotFound);
}

HIP_API hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds,
                                         hipStream_t stream, void **arguments, void **)
{
    return hipLaunchKernel(f, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), arguments, lds, stream);
}

HIP_API hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t f)
{
    hipFuncAttributes attributes;
    const hipError_t error = hipFuncGetAttributes(&attributes, f);
    if (error != hipSuccess)
        return error;
    switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = attributes.numRegs; break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)attributes.localSizeBytes; break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)attributes.sharedSizeBytes; break;
    default: return result(hipErrorInvalidValue);
    }
    return hipSuccess;
}

HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t f, int threads,
                                                                      size_t dynamic_lds)
{
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, dynamic_lds);
}
