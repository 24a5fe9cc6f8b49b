/* SPDX-License-Identifier: MIT
 *
 * function.c - functions of the user's: reads the text, lets the device compile it, and says where an error is.
 */
#include "function.h"

#include "compiler_error.h"
#include "expression.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT = 64 << 10 }; /* bytes of a compiler's messages; the first error is among them */

/* FL_E_SOURCE at a place of the user's text, which `log` shows. */
static fl_status refuse(const char *source, const char *shown_as, const core_text_error *error, char *log,
                        size_t log_size)
{
    if (log && log_size > 0)
        core_caret(source, error->line, error->column, log, log_size);
    return core_fail(FL_E_SOURCE, "%s:%d:%d: %s", shown_as, error->line, error->column, error->what);
}

/* The text as a definition in C, to be freed, and what it says of the function. */
static fl_status read_text(const char *call, const char *source, const char *shown_as, const fl_dtype *inputs,
                           int count, char *log, size_t log_size, core_signature *signature, char **text)
{
    core_text_error error = {0};
    fl_status status;

    if (log && log_size > 0)
        *log = '\0';
    if (!source || !shown_as)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, source ? "shown_as" : "source");
    if (inputs && (count < 1 || count > FL_MAX_EXPRESSION_INPUTS))
        return core_fail(FL_E_ARGUMENT, "%s: count is %d; an expression has 1 to %d inputs", call, count,
                         FL_MAX_EXPRESSION_INPUTS);
    if (!inputs && count != 0)
        return core_fail(FL_E_ARGUMENT, "%s: inputs is NULL and count is %d; expected 0", call, count);
    for (int i = 0; i < count; i++)
        if (fl_dtype_size(inputs[i]) == 0)
            return core_fail(FL_E_ARGUMENT, "%s: inputs[%d] is no dtype: %d", call, i, (int)inputs[i]);
    status = inputs ? core_expression_read(source, inputs, count, signature, text, &error)
                    : core_signature_read(source, signature, text, &error);
    return status == FL_E_SOURCE ? refuse(source, shown_as, &error, log, log_size) : status;
}

static void describe(const core_signature *signature, const fl_dtype *inputs, fl_function_info *info)
{
    *info = (fl_function_info){.name = inputs ? "" : signature->name,
                               .count = signature->count,
                               .result = signature->result,
                               .loops = signature->loops};
    memcpy(info->inputs, inputs ? inputs : signature->inputs, (size_t)signature->count * sizeof *info->inputs);
}

fl_status fl_function_read(const char *source, const char *shown_as, const fl_dtype *inputs, int count, char *log,
                           size_t log_size, fl_function_info *info)
{
    static _Thread_local core_signature signature;
    char *text = NULL;
    fl_status status;

    if (!info)
        return core_fail(FL_E_ARGUMENT, "fl_function_read: info is NULL");
    status = read_text("fl_function_read", source, shown_as, inputs, count, log, log_size, &signature, &text);
    if (status == FL_OK)
        describe(&signature, inputs, info);
    free(text);
    return status;
}

/* What the compiler said of `text`, as a place in the user's. */
static fl_status refuse_compiled(const fl_function *f, const char *text, const char *source, const char *shown_as,
                                 const char *output, char *log, size_t log_size)
{
    core_text_error error;

    if (!core_compiler_error(output, text, FL_SOURCE_NAME, &error))
        return core_fail(FL_E_DEVICE, "%s: the compiler fails: %.*s", shown_as, (int)strcspn(output, "\n"), output);
    if (!*f->info.name)
        error.column = core_expression_column(source, text, error.line, error.column);
    return refuse(source, shown_as, &error, log, log_size);
}

/* Compiles `text`, which was made of `source`. */
static fl_status compile(fl_function *f, const char *text, const char *source, const char *shown_as, char *log,
                         size_t log_size)
{
    const fl_device_api *api = f->device->plugin.api;
    const core_signature *signature = &f->signature;
    fl_source described = {.size = sizeof described,
                           .text = text,
                           .name = signature->name,
                           .count = signature->count,
                           .result = signature->result,
                           .loops = signature->loops,
                           .exact = !fl_dtype_is_float(signature->result)};
    char *output = calloc(1, OUTPUT), own[32];
    fl_status status;

    if (!output)
        return core_fail(FL_E_MEMORY, "out of host memory");
    snprintf(own, sizeof own, "%s%s", signature->own_max ? "#undef max\n" : "",
             signature->own_min ? "#undef min\n" : "");
    described.before = own;
    memcpy(described.inputs, f->info.inputs, sizeof described.inputs);
    status = api->compile(f->device->plugin.self, &described, output, OUTPUT, &f->code);
    if (status == FL_E_SOURCE)
        status = refuse_compiled(f, text, source, shown_as, output, log, log_size);
    free(output);
    return status;
}

fl_status fl_function_create(fl_device *device, const char *source, const char *shown_as, const fl_dtype *inputs,
                             int count, char *log, size_t log_size, fl_function **function)
{
    const char *const call = "fl_function_create";
    char *text = NULL;
    fl_function *f;
    fl_status status;

    if (!device || !function)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, device ? "function" : "device");
    *function = NULL;
    f = calloc(1, sizeof *f);
    if (!f)
        return core_fail(FL_E_MEMORY, "out of host memory");
    status = read_text(call, source, shown_as, inputs, count, log, log_size, &f->signature, &text);
    if (status == FL_OK) {
        describe(&f->signature, inputs, &f->info);
        f->device = device;
        status = device->plugin.api->compile && device->plugin.api->code_free
                     ? compile(f, text, source, shown_as, log, log_size)
                     : core_fail(FL_E_UNSUPPORTED, "%s compiles no functions", device->plugin.info.resource);
    }
    free(text);
    if (status != FL_OK) {
        free(f);
        return status;
    }
    core_device_keep(device);
    *function = f;
    return FL_OK;
}

const fl_function_info *fl_function_describe(const fl_function *function)
{
    return function ? &function->info : NULL;
}

void fl_function_free(fl_function *function)
{
    const fl_plugin_device *plugin = function ? &function->device->plugin : NULL;

    if (!function)
        return;
    plugin->api->synchronize(plugin->self);
    plugin->api->code_free(plugin->self, function->code);
    core_device_drop(function->device);
    free(function);
}
