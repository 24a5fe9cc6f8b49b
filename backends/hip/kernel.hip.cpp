/* SPDX-License-Identifier: MIT
 *
 * kernel.hip.cpp - FL_OP_KERNEL on a GPU: a kernel of the user's, compiled by code.hip.cpp.
 */
#include "code.hpp"

#include <cstdlib>
#include <memory>
#include <new>
#include <string>

namespace
{

struct kernel_program : hip_program {
    hip_device *device;
    hip_code *code = nullptr;

    ~kernel_program() override
    {
        hip_code_free(device, code);
    }
    const hip_code *kernels() const override
    {
        return code;
    }
};

/* "N=4" as "#define N 4". Here and not among the compiler's options, where they would also change what stands before
 * the text. */
void add_define(std::string &text, const char *define)
{
    const char *value = std::strchr(define, '=');
    text += "#define ";
    if (value)
        text.append(define, (size_t)(value - define)).append(" ").append(value + 1);
    else
        text.append(define).append(" 1");
    text += '\n';
}

/* Reads the macro FLYNN_WARP=NUMBER: the threads of a warp, 32 or 64 on an emulated GPU. 0: it is not given. */
fl_status read_lanes(const hip_device *device, const char *const *defines, int *lanes)
{
    static constexpr char name[] = "FLYNN_WARP=";
    *lanes = 0;
    for (; *defines; defines++) {
        if (std::strncmp(*defines, name, sizeof name - 1) != 0)
            continue;
        *lanes = std::atoi(*defines + sizeof name - 1);
#if defined(GPU_EMULATION)
        if (*lanes != 32 && *lanes != 64)
            return device->host->error(FL_E_ARGUMENT, "the macro %s: expected 32 or 64", *defines);
#else
        if (*lanes != device->lanes)
            return device->host->error(FL_E_ARGUMENT, "the macro %s: a warp of this GPU has %d threads", *defines,
                                       device->lanes);
#endif
    }
    return FL_OK;
}

/* 256 threads where the caller leaves the choice; the grid is the caller's. */
void plan(void *, const void *arguments, fl_launch *launch)
{
    const fl_kernel_args *args = static_cast<const fl_kernel_args *>(arguments);
    if (launch->block[0] <= 0)
        launch->block[0] = 256;
    for (int d = 0; d < 3; d++) {
        if (launch->block[d] <= 0)
            launch->block[d] = 1;
        launch->grid[d] = args->grid[d];
    }
    launch->shared_bytes = args->shared_bytes;
}

fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_kernel_args *args = static_cast<const fl_kernel_args *>(arguments);
    const dim3 grid((unsigned)launch->grid[0], (unsigned)launch->grid[1], (unsigned)launch->grid[2]);
    const dim3 block((unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2]);
    return hip_code_queue(context, static_cast<const hip_program *>(args->code)->kernels(), 0, grid, block,
                          (size_t)launch->shared_bytes, const_cast<void **>(args->arguments));
}

const fl_row rows[] = {
    {FL_OP_KERNEL, "own", (1u << FL_DTYPE_COUNT) - 1, "a kernel of the user's, as it is written", plan, run, nullptr,
     false, nullptr, nullptr},
};

} // namespace

fl_status hip_kernel_compile(hip_device *device, const fl_source *source, char *output, size_t size, hip_program **made)
{
    static const char *const options[] = {nullptr};
    const char *const kernels[] = {source->name, nullptr};
    std::unique_ptr<kernel_program> program(new (std::nothrow) kernel_program);
    int lanes;
    fl_status status = read_lanes(device, source->defines, &lanes);
    if (status != FL_OK)
        return status;
    try {
        std::string text;
        for (const char *const *define = source->defines; *define; define++)
            add_define(text, *define);
        text.append(source->before).append("#line 1 \"" FL_SOURCE_NAME "\"\n").append(source->text);
        text += "\n#line 1 \"flynn\"\n";
        const code_job job = {source->name, text.c_str(), options, kernels, true, output, size, lanes};
        if (program) {
            program->device = device;
            status = hip_code_compile(device, &job, &program->code);
        }
    } catch (const std::bad_alloc &) {
        program.reset();
    }
    if (!program)
        return device->host->error(FL_E_MEMORY, "out of host memory");
    if (status == FL_OK)
        *made = program.release();
    return status;
}

hip_rows hip_kernel_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
