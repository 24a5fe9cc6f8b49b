/* SPDX-License-Identifier: MIT */
#include "user_text.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

enum { OUTPUT = 64 << 10 }; /* bytes of a compiler's messages; the first error is among them */

fl_status core_user_text_check(const char *call, const core_user_text *text)
{
    if (text->log && text->log_size > 0)
        *text->log = '\0';
    if (!text->source || !text->shown_as)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, text->source ? "shown_as" : "source");
    return FL_OK;
}

fl_status core_user_text_refuse(const core_user_text *text, const core_text_error *error)
{
    if (text->log && text->log_size > 0)
        core_caret(text->source, error->line, error->column, text->log, text->log_size);
    return core_fail(FL_E_SOURCE, "%s:%d:%d: %s", text->shown_as, error->line, error->column, error->what);
}

/* Refuses the user's text for the error that the compiler reports in the text it was given, at the same place of the
 * user's text. */
static fl_status refuse_compiled(const core_user_text *text, const char *compiled, bool is_expression,
                                 const char *output)
{
    const char *said = *output ? output : "it prints nothing";
    core_text_error error;

    if (!core_compiler_error(output, compiled, FL_SOURCE_NAME, &error))
        return core_fail(FL_E_MEMORY, "%s: the compiler fails: %.*s", text->shown_as, (int)strcspn(said, "\n"), said);
    if (is_expression)
        error.column = core_expression_column(text->source, compiled, error.line, error.column);
    return core_user_text_refuse(text, &error);
}

fl_status core_user_text_compile(const core_user_text *text, fl_device *device, const fl_source *source,
                                 bool is_expression, core_user_code *compiled)
{
    const fl_device_api *api = device->plugin.api;
    char *output;
    fl_status status;

    if (!api->compile || !api->code_free)
        return core_fail(FL_E_UNSUPPORTED, "%s compiles no functions", device->plugin.info.resource);
    output = calloc(1, OUTPUT);
    if (!output)
        return core_fail(FL_E_MEMORY, "out of host memory");
    status = api->compile(device->plugin.self, source, output, OUTPUT, &compiled->code);
    if (status == FL_E_SOURCE)
        status = refuse_compiled(text, source->kernel ? text->source : source->text, is_expression, output);
    if (status == FL_OK) {
        core_device_keep(device);
        compiled->device = device;
    }
    free(output);
    return status;
}

void core_user_code_free(core_user_code *compiled)
{
    const fl_plugin_device *plugin = compiled->device ? &compiled->device->plugin : NULL;

    if (!plugin)
        return;
    plugin->api->synchronize(plugin->self);
    plugin->api->code_free(plugin->self, compiled->code);
    core_device_drop(compiled->device);
}
