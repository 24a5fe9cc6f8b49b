/* SPDX-License-Identifier: MIT */
#include "kernel_rewrite.h"

#include <stdlib.h>
#include <string.h>

bool core_std_has(const core_token *name)
{
    return core_token_is_one_of(name, "size_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t",
                                "uint16_t", "uint32_t", "uint64_t", "intptr_t", "uintptr_t", "abs", "fabs", "min",
                                "max", "fmin", "fmax", "sqrt", "cbrt", "hypot", "pow", "exp", "exp2", "expm1", "log",
                                "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh",
                                "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma", "fma",
                                "fmod", "remainder", "floor", "ceil", "trunc", "round", "rint", "nearbyint", "copysign",
                                "isnan", "isinf", "isfinite", "signbit", "printf", NULL);
}

static void blank(char *clean, const char *at, const char *end)
{
    for (char *c = clean + (at - clean); c < end; c++)
        if (!core_ends_line(c))
            *c = ' ';
}

/* Drops std:: before the names that a device has at file level. */
static void drop_std(char *clean, const core_item *item)
{
    core_reader reader = item->start;
    core_text_error unused;
    core_token before = {0}, token, colon, name;

    while (core_token_next(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END && token.at < item->end) {
        core_reader after = reader;
        if (core_token_is(&token, "std") && !core_token_is_one_of(&before, ".", "->", "using", NULL) &&
            core_token_next(&after, &colon, &unused) == FL_OK && core_token_is(&colon, ":") &&
            core_token_next(&after, &colon, &unused) == FL_OK && core_token_is(&colon, ":") &&
            core_token_next(&after, &name, &unused) == FL_OK && core_std_has(&name))
            blank(clean, token.at, colon.at + colon.length);
        before = token;
    }
}

/* Exchanges the text from `at` to `second` and that from there to `end`, with the blanks between them. */
static void exchange(char *clean, const char *at, const char *second, const char *end)
{
    char *to = clean + (at - clean);
    const size_t length = (size_t)(second - at), rest = (size_t)(end - second);
    size_t blanks = 0;
    char *first = strndup(at, length);

    if (!first)
        return;
    while (blanks < length && strchr(" \t\r\n", first[length - 1 - blanks]))
        blanks++;
    memmove(to, second, rest);
    memcpy(to + rest, first + length - blanks, blanks);
    memcpy(to + rest + blanks, first, length - blanks);
    free(first);
}

/* Writes `extern __shared__ alignas(16) T a[]` with alignas first: nvcc takes it anywhere, other compilers do not. */
static void move_alignas(char *clean, const core_item *item)
{
    core_reader reader = item->start;
    core_text_error unused;
    core_token first = {0}, token;

    while (core_token_next(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END && token.at < item->end) {
        const bool precedes = core_token_is_one_of(&token, "extern", "static", "__shared__", "volatile", NULL);
        const char *const at = token.at;
        if (first.length > 0 && core_token_is(&token, "alignas") &&
            core_token_next(&reader, &token, &unused) == FL_OK && core_skip_brackets(&reader, &unused) == FL_OK)
            exchange(clean, first.at, at, reader.at);
        first = !precedes ? (core_token){0} : first.length > 0 ? first : token;
    }
}

/* Writes CUDA's names for those that only HIP's headers have, unless the text defines them. None is longer. */
static void write_names(char *clean, const core_file *file, const core_item *item)
{
    static const char *const names[][2] = {
        {"hipThreadIdx_x", "threadIdx.x"}, {"hipThreadIdx_y", "threadIdx.y"}, {"hipThreadIdx_z", "threadIdx.z"},
        {"hipBlockIdx_x", "blockIdx.x"},   {"hipBlockIdx_y", "blockIdx.y"},   {"hipBlockIdx_z", "blockIdx.z"},
        {"hipBlockDim_x", "blockDim.x"},   {"hipBlockDim_y", "blockDim.y"},   {"hipBlockDim_z", "blockDim.z"},
        {"hipGridDim_x", "gridDim.x"},     {"hipGridDim_y", "gridDim.y"},     {"hipGridDim_z", "gridDim.z"},
        {"unsafeAtomicAdd", "atomicAdd"},  {"safeAtomicAdd", "atomicAdd"},
    };
    core_reader reader = item->start;
    core_text_error unused;
    core_token token;

    while (core_token_next(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END && token.at < item->end)
        for (size_t i = 0; token.kind == CORE_TOKEN_NAME && i < sizeof names / sizeof *names; i++)
            if (core_token_is(&token, names[i][0]) && !core_file_find(file, &token)) {
                blank(clean, token.at, token.at + token.length);
                memcpy(clean + (token.at - clean), names[i][1], strlen(names[i][1]));
                break;
            }
}

void core_kernel_rewrite(char *clean, const core_file *file, const core_item *item)
{
    write_names(clean, file, item);
    drop_std(clean, item);
    move_alignas(clean, item);
}
