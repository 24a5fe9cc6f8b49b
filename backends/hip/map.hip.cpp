/* SPDX-License-Identifier: MIT
 *
 * map.hip.cpp - a function of the user's, element by element on a GPU: the text that is compiled around it, and the
 * rows. The kernels are those of walk_kernels.h.
 */
#include "code.hpp"
#include "walk.hpp"

#include <cctype>
#include <memory>
#include <mutex>
#include <new>
#include <string>

/* The lines of the files of these names, from the build. */
extern "C" {
extern const char *const hip_map_prelude[];
extern const char *const map_math[];
extern const char *const hip_walk_kernels[];
extern const char *const hip_map_kernels[];
}

namespace
{

/* The kernels of map_kernels.h; their names have the order of `kernel`. */
enum kernel { kernel_naive, kernel_grid_stride, kernel_grid, kernel_vector };
const char *const kernel_names[] = {"flynn_naive", "flynn_grid_stride", "flynn_grid", "flynn_vector", nullptr};

/* FLYNN_LAYOUT of map_kernels.h */
enum layout { layout_packed, layout_strided, layout_long_strided, layouts };

struct map_program : hip_program {
    hip_device *device;
    std::string name, text;
    bool contract;
    bool uneven;                  /* `auto` is naive, else vector */
    std::mutex lock;              /* of: */
    hip_code *code[layouts] = {}; /* each compiled at its first use, packed by compile */

    ~map_program() override
    {
        for (hip_code *made : code)
            hip_code_free(device, made);
    }
};

const char *type_of(fl_dtype dtype)
{
    static const char *const types[] = {"unsigned char", "int", "long", "float", "double"};
    static_assert(FL_U8 == 0 && FL_I32 == 1 && FL_I64 == 2 && FL_F32 == 3 && FL_F64 == 4, "the order of the types");
    return types[dtype];
}

void add_lines(std::string *text, const char *const *lines)
{
    for (; *lines; lines++)
        *text += *lines;
}

/* The user's function as flynn_walk::arrays wants it. */
void add_function(std::string *text, const fl_source *source)
{
    std::string parameters, arguments, types = type_of(source->result);
    for (int k = 0; k < source->count; k++) {
        const std::string separator = k ? ", " : "", name = "x" + std::to_string(k);
        parameters += separator + type_of(source->inputs[k]) + " " + name;
        arguments += separator + name;
        types += std::string(", ") + type_of(source->inputs[k]);
    }
    *text += "struct flynn_function {\n    static constexpr bool broadcasts = true;\n    static __device__ ";
    *text += std::string(type_of(source->result)) + " of(" + parameters + ") { return flynn_text::" + source->name +
             "(" + arguments + "); }\n};\ntypedef flynn_walk::arrays<flynn_function, " + types + "> flynn_arrays;\n";
}

/* A function may have the name of one that the vendor's compiler knows. An option makes NVRTC take all functions and
 * variables as the device's (gpu_rtc.h); a pragma here does so for hiprtc, where a variable outside of functions must
 * be static or const. */
const char before_text[] = "#if defined(__HIP__)\n#define static static __device__\n"
                           "#pragma clang force_cuda_host_device begin\n#endif\nnamespace flynn_text {\n",
           behind_text[] = "}\n#if defined(__HIP__)\n#undef static\n"
                           "#pragma clang force_cuda_host_device end\n#endif\n";

int count_word(const std::string &text, const std::string &word)
{
    const auto is_of_name = [](char c) { return std::isalnum((unsigned char)c) || c == '_'; };
    int count = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        count += !(at > 0 && is_of_name(text[at - 1])) && !is_of_name(text[at + word.size()]);
    return count;
}

/* A function whose one loop is a `while` does four steps between two branches back: NVRTC does not unroll it by itself
 * where the condition has two parts, which it makes one of. Mandelbrot took 8 % longer on an H200. A `for` may have a
 * known number of steps, which NVRTC unrolls better, and the `while` of a `do` starts no loop. */
const char *unrolled(const std::string &text)
{
    int others = 0;
    for (const char *word : {"for", "do", "goto", "pragma", "_Pragma"})
        others += count_word(text, word);
    return count_word(text, "while") != 1 || others > 0
               ? ""
               : "#if defined(__CUDACC_RTC__)\n#define while _Pragma(\"unroll 4\") while\n#endif\n";
}

std::string text_of(const fl_source *source)
{
    std::string text;
    add_lines(&text, hip_map_prelude);
    add_lines(&text, map_math);
    add_lines(&text, hip_walk_kernels);
    text += source->before;
    text += before_text;
    text += unrolled(source->text);
    text += std::string("#line 1 \"" FL_SOURCE_NAME "\"\n") + source->text + "\n#line 1 \"flynn\"\n";
    text += "#undef while\n";
    text += behind_text;
    add_function(&text, source);
    add_lines(&text, hip_map_kernels);
    return text;
}

fl_status compile_for(map_program *program, layout l, char *output, size_t size)
{
    static const char *const options[layouts][2] = {
        {"-DFLYNN_LAYOUT=0", nullptr}, {"-DFLYNN_LAYOUT=1", nullptr}, {"-DFLYNN_LAYOUT=2", nullptr}};
    const code_job job = {
        program->name.c_str(), program->text.c_str(), options[l], kernel_names, program->contract, output, size};
    return hip_code_compile(program->device, &job, &program->code[l]);
}

/* A layout's code; any thread may ask. */
fl_status code_for(map_program *program, layout l, const hip_code **code)
{
    char output[1024];
    const std::lock_guard<std::mutex> guard(program->lock);
    const fl_status status = program->code[l] ? FL_OK : compile_for(program, l, output, sizeof output);
    *code = program->code[l];
    if (status == FL_E_SOURCE) /* it did compile for another layout: the machine fails, not the text */
        return program->device->host->error(FL_E_MEMORY, "the compiler fails for another layout: %.*s",
                                            (int)std::strcspn(output, "\n"), output);
    return status;
}

map_program *program_of(const fl_map_args *args)
{
    return static_cast<map_program *>(static_cast<hip_program *>(args->code));
}

hip_walk walk_of(const fl_map_args *args)
{
    const fl_buffer *buffers[walk_most];
    for (int k = 0; k < args->inputs; k++)
        buffers[k] = &args->in[k];
    buffers[args->inputs] = &args->out;
    return hip_walk_along(buffers, args->inputs + 1);
}

/* The compiled kernels, for hip_walk_run. A layout of all operands starts like that of the function's. */
struct map_kernels {
    static constexpr int operands = walk_most;
    const fl_context *context;
    map_program *program;
    const hip_walk *walk;
    const fl_launch *launch;

    static layout layout_of(const flynn_walk::packed<operands> &)
    {
        return layout_packed;
    }
    static layout layout_of(const flynn_walk::strided<uint32_t, operands> &)
    {
        return layout_strided;
    }
    static layout layout_of(const flynn_walk::strided<int64_t, operands> &)
    {
        return layout_long_strided;
    }

    template <typename Layout, typename... Arguments>
    fl_status queue(kernel k, const Layout &l, const Arguments &...more) const
    {
        const dim3 grid((unsigned)launch->grid[0], (unsigned)launch->grid[1], (unsigned)launch->grid[2]);
        const dim3 block((unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2]);
        const void *arguments[] = {walk->data, &l, &more...};
        const hip_code *code;
        const fl_status status = code_for(program, layout_of(l), &code);
        return status != FL_OK ? status
                               : hip_code_queue(context, code, k, grid, block, 0, const_cast<void **>(arguments));
    }
    template <typename Layout>
    fl_status naive(const Layout &l, int64_t first) const
    {
        return queue(kernel_naive, l, first);
    }
    template <typename Layout>
    fl_status grid_stride(const Layout &l) const
    {
        return queue(kernel_grid_stride, l);
    }
    template <typename Layout>
    fl_status grid(const Layout &l, const flynn_walk::mapping &m) const
    {
        return queue(kernel_grid, l, m);
    }
    template <typename Layout>
    fl_status vector(const Layout &l, int64_t packs) const
    {
        return queue(kernel_vector, l, packs);
    }
    template <typename Layout, typename Index>
    fl_status vector_rows(const Layout &l, Index packs_in_row, int64_t packs) const
    {
        return queue(kernel_vector, l, packs_in_row, packs);
    }
};

void plan_as(walk_variant v, void *self, const void *arguments, fl_launch *launch)
{
    hip_walk_plan(static_cast<hip_device *>(self), walk_of(static_cast<const fl_map_args *>(arguments)), v, launch);
}

fl_status run_as(walk_variant v, const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_map_args *args = static_cast<const fl_map_args *>(arguments);
    const hip_walk walk = walk_of(args);
    return hip_walk_run(map_kernels{context, program_of(args), &walk, launch}, walk, v, launch);
}

template <walk_variant v>
void plan(void *self, const void *arguments, fl_launch *launch)
{
    plan_as(v, self, arguments, launch);
}

template <walk_variant v>
fl_status run(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return run_as(v, context, arguments, launch);
}

/* The loops of a thread's elements add up, and its warp waits for the longest sum: where they differ, a thread should
 * have one element. Not so of integers: their loops often end at once for even numbers, and in the packs of vector each
 * thread of a warp has an even number at the same time. */
bool is_uneven(const fl_source *source)
{
    bool integers = true;
    for (int k = 0; k < source->count; k++)
        integers = integers && source->inputs[k] != FL_F32 && source->inputs[k] != FL_F64;
    return source->loops && !integers;
}

walk_variant usual(const void *arguments)
{
    return program_of(static_cast<const fl_map_args *>(arguments))->uneven ? walk_variant::naive : walk_variant::vector;
}

void plan_auto(void *self, const void *arguments, fl_launch *launch)
{
    plan_as(usual(arguments), self, arguments, launch);
}

fl_status run_auto(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    return run_as(usual(arguments), context, arguments, launch);
}

const char *chosen(const fl_context *, const void *arguments, fl_launch *)
{
    return usual(arguments) == walk_variant::naive ? "naive" : "vector";
}

constexpr uint32_t dtypes = (1u << FL_DTYPE_COUNT) - 1;

#define ROW(name, v, summary) \
    {FL_OP_MAP, name, dtypes, summary, plan<walk_variant::v>, run<walk_variant::v>, nullptr, false, nullptr, nullptr},
const fl_row rows[] = {{FL_OP_MAP, "auto", dtypes,
                        "naive for a function of floating-point numbers with loops, else vector", plan_auto, run_auto,
                        chosen, false, nullptr, nullptr},
                       ROW("vector", vector, "16 bytes per load of the widest type, one load per thread")    //
                       ROW("naive", naive, "one thread per element in a 1-D grid")                           //
                       ROW("naive-2d", grid_2d, "one thread per element in a 2-D grid")                      //
                       ROW("naive-3d", grid_3d, "one thread per element in a 3-D grid")                      //
                       ROW("grid-stride", grid_stride, "four blocks per multiprocessor, whose threads loop") //
                       ROW("uncoalesced", uncoalesced, "threadIdx.x along the slowest axis, to measure its cost")};

} // namespace

fl_status hip_map_compile(hip_device *device, const fl_source *source, char *output, size_t size, hip_program **made)
{
    std::unique_ptr<map_program> program(new (std::nothrow) map_program);
    if (!program)
        return device->host->error(FL_E_MEMORY, "out of host memory");
    try {
        program->name = source->name;
        program->text = text_of(source);
    } catch (const std::bad_alloc &) {
        return device->host->error(FL_E_MEMORY, "out of host memory");
    }
    program->device = device;
    program->contract = !source->exact;
    program->uneven = is_uneven(source);
    const fl_status status = compile_for(program.get(), layout_packed, output, size);
    if (status == FL_OK)
        *made = program.release();
    return status;
}

hip_rows hip_map_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
