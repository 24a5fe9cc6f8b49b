/* SPDX-License-Identifier: MIT */
#include "rewrite.h"

#include <stddef.h>
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

static void reverse(char *from, char *to)
{
    for (; from < to && from < --to; from++) {
        const char kept = *from;
        *from = *to;
        *to = kept;
    }
}

/* Exchanges the words from `at` to `second` and those from there to `end`; the blanks between them stay between. */
static void exchange(char *clean, const char *at, const char *second, const char *end)
{
    char *const first = clean + (at - clean), *const last = first + (end - at), *const middle = first + (end - second);
    size_t blanks = 0;

    while (second - blanks > at && strchr(" \t\r\n", second[-1 - (ptrdiff_t)blanks]))
        blanks++;
    reverse(first, last);
    reverse(first, middle);
    reverse(middle, middle + blanks);
    reverse(middle + blanks, last);
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

/* Returns the end of the "std::" that begins with the token and precedes a name that a device has at file level; NULL:
 * none does. */
static const char *end_of_std(core_reader reader, const core_token *token)
{
    core_text_error unused;
    core_token colon = {0}, name;

    if (!core_token_is(token, "std"))
        return NULL;
    for (int i = 0; i < 2; i++)
        if (core_token_next(&reader, &colon, &unused) != FL_OK || !core_token_is(&colon, ":"))
            return NULL;
    return core_token_next(&reader, &name, &unused) == FL_OK && core_std_has(&name) ? colon.at + colon.length : NULL;
}

/* CUDA's name for one that only HIP's headers have; NULL: it is none. No name is longer than the other one. */
static const char *name_of_cuda(const core_token *name)
{
    static const char *const names[][2] = {
        {"hipThreadIdx_x", "threadIdx.x"}, {"hipThreadIdx_y", "threadIdx.y"}, {"hipThreadIdx_z", "threadIdx.z"},
        {"hipBlockIdx_x", "blockIdx.x"},   {"hipBlockIdx_y", "blockIdx.y"},   {"hipBlockIdx_z", "blockIdx.z"},
        {"hipBlockDim_x", "blockDim.x"},   {"hipBlockDim_y", "blockDim.y"},   {"hipBlockDim_z", "blockDim.z"},
        {"hipGridDim_x", "gridDim.x"},     {"hipGridDim_y", "gridDim.y"},     {"hipGridDim_z", "gridDim.z"},
        {"unsafeAtomicAdd", "atomicAdd"},  {"safeAtomicAdd", "atomicAdd"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (core_token_is(name, names[i][0]))
            return names[i][1];
    return NULL;
}

static void rename_all(char *clean, const core_file *file, const core_item *item)
{
    core_reader reader = item->start;
    core_text_error unused;
    core_token before = {0}, token;

    while (core_token_next(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END && token.at < item->end) {
        const bool is_name = !core_token_is_one_of(&before, ".", "->", "using", NULL);
        const char *const end = is_name ? end_of_std(reader, &token) : NULL, *const cuda = name_of_cuda(&token);
        if (end) {
            blank(clean, token.at, end);
        } else if (cuda && !core_file_find(file, &token)) { /* which the text does not define itself */
            blank(clean, token.at, token.at + token.length);
            for (size_t i = 0; cuda[i]; i++) /* a name of ours is not longer than HIP's */
                clean[token.at - clean + (ptrdiff_t)i] = cuda[i];
        }
        before = token;
    }
}

/* Blanks the `static` of a device's variable: --constant and fl_kernel_constant find it by its name. */
static void blank_static(char *clean, const core_item *item)
{
    core_reader reader = item->start;
    core_text_error unused;
    core_token token;

    while (core_token_next_of_code(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END &&
           token.at < item->name.at)
        if (core_token_is(&token, "static"))
            blank(clean, token.at, token.at + token.length);
}

void core_kernel_rewrite(char *clean, const core_file *file, const core_item *item)
{
    rename_all(clean, file, item);
    if (item->kind == CORE_ITEM_VARIABLE && item->is_device)
        blank_static(clean, item);
    move_alignas(clean, item);
}
