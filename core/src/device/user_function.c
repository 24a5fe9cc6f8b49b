/* SPDX-License-Identifier: MIT
 *
 * user_function.c - functions of the user's: reads the text, lets the device compile it, and says where an error is.
 */
#include "user_function.h"

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text as a definition in C, to be freed, and what it says of the function. */
static fl_status read_text(const char *call, const core_user_text *text, const fl_dtype *inputs, int count,
                           core_signature *signature, char **clean)
{
    core_text_error error = {0};
    fl_status status = core_user_text_check(call, text);

    if (status != FL_OK)
        return status;
    if (inputs && (count < 1 || count > FL_MAX_EXPRESSION_INPUTS))
        return core_fail(FL_E_ARGUMENT, "%s: count is %d; an expression has 1 to %d inputs", call, count,
                         FL_MAX_EXPRESSION_INPUTS);
    if (!inputs && count != 0)
        return core_fail(FL_E_ARGUMENT, "%s: inputs is NULL and count is %d; expected 0", call, count);
    for (int i = 0; i < count; i++)
        if (fl_dtype_size(inputs[i]) == 0)
            return core_fail(FL_E_ARGUMENT, "%s: inputs[%d] is not a dtype: %d", call, i, (int)inputs[i]);
    status = inputs ? core_expression_read(text->source, inputs, count, signature, clean, &error)
                    : core_signature_read(text->source, signature, clean, &error);
    return status == FL_E_SOURCE ? core_user_text_refuse(text, &error) : status;
}

static void describe(const core_signature *signature, const fl_dtype *inputs, fl_function_info *info)
{
    *info = (fl_function_info){.name = inputs ? "" : signature->name,
                               .count = signature->count,
                               .result = signature->result,
                               .loops = signature->loops};
    memcpy(info->inputs, inputs ? inputs : signature->inputs, (size_t)signature->count * sizeof *info->inputs);
}

fl_status fl_function_read_sized(const char *source, const char *shown_as, const fl_dtype *inputs, int count, char *log,
                                 size_t log_size, fl_function_info *info, size_t size)
{
    static _Thread_local core_signature signature;
    fl_function_info found;
    char *text = NULL;
    fl_status status;

    if (!info)
        return core_fail(FL_E_ARGUMENT, "fl_function_read: info is NULL");
    status = read_text("fl_function_read", &(core_user_text){source, shown_as, log, log_size}, inputs, count,
                       &signature, &text);
    free(text);
    if (status != FL_OK)
        return status;
    describe(&signature, inputs, &found);
    return core_give(info, size, &found, sizeof found);
}

/* The function over lanes, if it has loops that gain by it. FL_E_SOURCE: `why` says where it does not. */
static fl_status write_lanes(const core_signature *signature, const char *clean, core_lanes *lanes,
                             core_text_error *why)
{
    *lanes = (core_lanes){.text = NULL};
#if defined(__x86_64__)
    if (signature->loops)
        return core_lanes_write(clean, lanes, why);
    return core_source_fail(why, 1, 1, "without a loop the compiler makes vectors of it");
#else
    (void)signature, (void)clean;
    return core_source_fail(why, 1, 1, "functions over lanes are for x86-64");
#endif
}

fl_status fl_function_lanes(const char *source, const char *shown_as, char *lanes, size_t size)
{
    const char *const call = "fl_function_lanes";
    static _Thread_local core_signature signature;
    core_text_error why;
    core_lanes written;
    char *clean = NULL;
    fl_status status;

    if (!lanes || size == 0)
        return core_fail(FL_E_ARGUMENT, "%s: %s", call, lanes ? "size is 0" : "lanes is NULL");
    *lanes = '\0';
    status = read_text(call, &(core_user_text){source, shown_as, NULL, 0}, NULL, 0, &signature, &clean);
    if (status != FL_OK)
        return status;
    status = write_lanes(&signature, clean, &written, &why);
    free(clean);
    if (status == FL_E_SOURCE)
        return core_fail(FL_E_UNSUPPORTED, "%s:%d:%d: %s", shown_as, why.line, why.column, why.what);
    if (status == FL_OK)
        snprintf(lanes, size, "%s", written.text);
    free(written.text);
    return status;
}

/* Compiles `clean`, which was made of the text. */
static fl_status compile(fl_function *f, fl_device *device, const char *clean, const core_user_text *text)
{
    const core_signature *signature = &f->signature;
    fl_source described = {.size = sizeof described,
                           .text = clean,
                           .name = signature->name,
                           .count = signature->count,
                           .result = signature->result,
                           .loops = signature->loops,
                           .exact = !fl_dtype_is_float(signature->result)};
    char own[32];
    core_lanes lanes = {.text = NULL};
    core_text_error why;
    fl_status status;

    if (device->plugin.api->takes_lanes && write_lanes(signature, clean, &lanes, &why) == FL_E_MEMORY)
        return FL_E_MEMORY;
    described.lanes = lanes.text;
    described.lane_bytes = lanes.bytes;
    described.least_lanes = lanes.least;
    snprintf(own, sizeof own, "%s%s", signature->own_max ? "#undef max\n" : "",
             signature->own_min ? "#undef min\n" : "");
    described.before = own;
    memcpy(described.inputs, f->info.inputs, sizeof described.inputs);
    status = core_user_text_compile(text, device, &described, !*f->info.name, &f->compiled);
    free(lanes.text);
    return status;
}

fl_status fl_function_create(fl_device *device, const char *source, const char *shown_as, const fl_dtype *inputs,
                             int count, char *log, size_t log_size, fl_function **function)
{
    const char *const call = "fl_function_create";
    const core_user_text text = {source, shown_as, log, log_size};
    char *clean = NULL;
    fl_function *f;
    fl_status status;

    if (!device || !function)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, device ? "function" : "device");
    *function = NULL;
    f = calloc(1, sizeof *f);
    if (!f)
        return core_fail(FL_E_MEMORY, "out of host memory");
    status = read_text(call, &text, inputs, count, &f->signature, &clean);
    if (status == FL_OK) {
        describe(&f->signature, inputs, &f->info);
        status = compile(f, device, clean, &text);
    }
    free(clean);
    if (status != FL_OK) {
        free(f);
        return status;
    }
    *function = f;
    return FL_OK;
}

const fl_function_info *fl_function_describe(const fl_function *function)
{
    return function ? &function->info : NULL;
}

void fl_function_free(fl_function *function)
{
    if (!function)
        return;
    core_user_code_free(&function->compiled);
    free(function);
}
