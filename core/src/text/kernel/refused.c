/* SPDX-License-Identifier: MIT
 *
 * refused.c - finds what needs a header or a library of the CUDA toolkit, or a mode of launching that Flynn does
 * not have. A compiler would report the first name that it does not know, and neither the reason nor a way out.
 */
#include "refused.h"
#include "rewrite.h"

#include <string.h>

static const char textures[] = "Flynn has no textures and surfaces: read the array itself, a[y * width + x]";
static const char tensor_cores[] =
    "tensor cores need headers of the CUDA toolkit, which are not there: multiply with float, or see `flynn matmul`";
static const char halves[] =
    "numbers of 16 and 8 bits need headers of the CUDA toolkit, which are not there: use float";
static const char random_numbers[] =
    "cuRAND is not there: give the kernel an array of random numbers, such as random:1000";
static const char all_blocks[] =
    "a barrier of all blocks needs a cooperative launch, which Flynn does not have: launch a "
    "kernel for each step, or let the last block do the rest";
static const char coalesced[] =
    "groups of the lanes that happen to run are not there: use tiled_partition, or __activemask() and a mask";
static const char libraries[] =
    "this library needs headers of the CUDA toolkit, which are not there: write the step as code of the kernel";
static const char standard[] =
    "the C++ library is not there: use the functions of math.h without std::, max and min, and plain arrays";
static const char complex_numbers[] =
    "complex numbers need headers of the CUDA toolkit, which are not there: use float2";

/* A name, or with a * at its end the start of names. */
static const struct {
    const char *name, *why;
    bool is_space; /* only before :: */
    bool is_type;  /* only as the type of a parameter: elsewhere a variable may have the name */
} refused[] = {
    {"tex1D*", textures, false, false},
    {"tex2D*", textures, false, false},
    {"tex3D*", textures, false, false},
    {"texCubemap*", textures, false, false},
    {"surf1D*", textures, false, false},
    {"surf2D*", textures, false, false},
    {"surf3D*", textures, false, false},
    {"cudaTextureObject_t", textures, false, false},
    {"cudaSurfaceObject_t", textures, false, false},
    {"nvcuda", tensor_cores, true, false},
    {"wmma", tensor_cores, true, false},
    {"half", halves, false, true},
    {"half2", halves, false, true},
    {"__half*", halves, false, false},
    {"__nv_bfloat16*", halves, false, false},
    {"nv_bfloat16*", halves, false, false},
    {"__nv_fp8*", halves, false, false},
    {"curand*", random_numbers, false, false},
    {"this_grid", all_blocks, false, false},
    {"grid_group", all_blocks, false, false},
    {"this_multi_grid", all_blocks, false, false},
    {"this_cluster", all_blocks, false, false},
    {"coalesced_threads", coalesced, false, false},
    {"coalesced_group", coalesced, false, false},
    {"binary_partition", coalesced, false, false},
    {"labeled_partition", coalesced, false, false},
    {"cub", libraries, true, false},
    {"thrust", libraries, true, false},
    {"cuda", libraries, true, false},
    {"cute", libraries, true, false},
    {"cutlass", libraries, true, false},
    {"std", standard, true, false},
    {"cufftComplex", complex_numbers, false, false},
    {"cufftDoubleComplex", complex_numbers, false, false},
    {"cuComplex", complex_numbers, false, false},
    {"cuFloatComplex", complex_numbers, false, false},
    {"cuDoubleComplex", complex_numbers, false, false},
};

static bool is_name(const core_token *token, const char *name)
{
    const size_t length = strlen(name);

    if (token->kind != CORE_TOKEN_NAME)
        return false;
    if (name[length - 1] != '*')
        return core_token_is(token, name);
    return token->length >= length - 1 && memcmp(token->at, name, length - 1) == 0;
}

const char *core_type_refused(const core_token *type)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (is_name(type, refused[i].name))
            return refused[i].why;
    return NULL;
}

/* Why the kernel cannot use the name here; NULL: it can. What the text itself defines has the text's meaning. */
static const char *name_refused(const core_file *file, const core_token *name, const core_token *next)
{
    const core_defined *d = core_file_find(file, name);

    for (; d && d < file->names + file->name_count && core_defined_is(d, name); d++)
        if (file->items[d->item].is_kept)
            return NULL;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!refused[i].is_type && is_name(name, refused[i].name) &&
            (!refused[i].is_space || core_token_is_one_of(next, ":", "::", NULL)))
            return refused[i].why;
    return NULL;
}

/* Looks at the words of an item. `before` is the token before the present one. */
static fl_status look(const core_file *file, const core_item *item, core_text_error *error)
{
    core_text_error unused;
    core_reader reader = item->start;
    core_token before = {0}, token, next;
    const char *why;

    if (core_token_next(&reader, &token, &unused) != FL_OK)
        return FL_OK;
    while (token.kind != CORE_TOKEN_END && token.at < item->end && core_token_next(&reader, &next, &unused) == FL_OK) {
        const bool member = core_token_is_one_of(&before, ".", "->", NULL);
        why = token.kind == CORE_TOKEN_NAME && !member ? name_refused(file, &token, &next) : NULL;
        if (why)
            return core_source_fail(error, token.line, token.column, "'%s': %s", core_token_show(&token).text, why);
        if (core_token_is(&token, "<<") && core_token_is(&next, "<") && next.at == token.at + 2)
            return core_source_fail(error, token.line, token.column,
                                    "a kernel cannot launch another one here (dynamic parallelism): --entry=NAME runs "
                                    "the other one by itself");
        before = token;
        token = next;
    }
    return FL_OK;
}

fl_status core_kernel_refused(const kernel_cut *cut, core_text_error *error)
{
    fl_status status = FL_OK;

    for (int i = 0; i < cut->file.count && status == FL_OK; i++) {
        const core_item *item = &cut->file.items[i];
        if (item->is_kept && item->kind != CORE_ITEM_MACRO)
            status = look(&cut->file, item, error);
    }
    return status;
}

bool core_names_library(core_reader reader, const char *end)
{
    core_text_error unused;
    core_token before[3] = {{0}}, token; /* the last three before it */

    while (core_token_next_of_code(&reader, &token, &unused) == FL_OK && token.kind != CORE_TOKEN_END &&
           token.at < end) {
        const bool is_std = core_token_is(&before[2], "std");
        if (core_token_is(&before[1], ":") && core_token_is(&before[0], ":") && before[2].kind == CORE_TOKEN_NAME)
            for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
                if (refused[i].is_space && is_name(&before[2], refused[i].name) && !(is_std && core_std_has(&token)))
                    return true;
        before[2] = before[1];
        before[1] = before[0];
        before[0] = token;
    }
    return false;
}
