/* SPDX-License-Identifier: MIT
 *
 * user_kernel.c - kernels of the user's: reads the text, lets the device compile it, and fills its constants.
 */
#include "user_kernel.h"

#include "array.h"
#include "base/status.h"
#include "stream.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static fl_status read_text(const char *call, const core_user_text *text, const char *entry,
                           core_kernel_signature *signature, char **clean)
{
    core_text_error error;
    fl_status status = core_user_text_check(call, text);

    if (status != FL_OK)
        return status;
    status = core_kernel_signature_read(text->source, entry, signature, clean, &error);
    return status == FL_E_SOURCE ? core_user_text_refuse(text, &error) : status;
}

/* *numbers: to free(), those of all values. FL_E_MEMORY. */
static fl_status describe(const core_kernel_signature *signature, fl_kernel_info *info, fl_parameter **numbers)
{
    const core_numbers *all = &signature->numbers;

    *numbers = calloc((size_t)all->count + 1, sizeof **numbers); /* of none, calloc may give NULL */
    if (!*numbers)
        return core_fail(FL_E_MEMORY, "out of host memory");
    for (int i = 0; i < all->count; i++)
        (*numbers)[i] = (fl_parameter){all->list[i].name, all->list[i].dtype, false, false};
    *info = (fl_kernel_info){.name = signature->name,
                             .count = signature->count,
                             .left_out = signature->left_out,
                             .kernels = signature->kernels,
                             .unfilled = signature->unfilled,
                             .written = signature->written,
                             .prints = signature->prints};
    for (int i = 0; i < signature->count; i++) {
        const core_parameter *p = &signature->parameters[i];
        info->parameters[i] = (fl_parameter){p->name, p->dtype, p->is_array, p->is_constant};
        info->bytes[i] = p->is_bytes ? p->lanes : 0;
        info->number_count[i] = p->numbers;
        info->numbers[i] = p->numbers > 0 ? *numbers + p->first : NULL;
    }
    return FL_OK;
}

/* What fl_kernel_read has read: kept until the thread's next call, or its end. */
typedef struct kernel_read {
    core_kernel_signature signature;
    fl_parameter *numbers;
} kernel_read;

static pthread_key_t kept;
static bool has_key;

static void free_read(void *read)
{
    kernel_read *r = read;

    core_kernel_signature_free(&r->signature);
    free(r->numbers);
    free(r);
}

static void make_key(void)
{
    has_key = pthread_key_create(&kept, free_read) == 0;
}

static bool keep(kernel_read *read)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, make_key);
    kernel_read *const before = has_key ? pthread_getspecific(kept) : NULL;
    if (!has_key || pthread_setspecific(kept, read) != 0)
        return false;
    if (before)
        free_read(before);
    return true;
}

fl_status fl_kernel_read_sized(const char *source, const char *shown_as, const char *entry, char *log, size_t log_size,
                               fl_kernel_info *info, size_t size)
{
    const core_user_text text = {source, shown_as, log, log_size};
    kernel_read *read;
    fl_kernel_info found;
    char *clean = NULL;
    fl_status status;

    if (!info)
        return core_fail(FL_E_ARGUMENT, "fl_kernel_read: info is NULL");
    read = calloc(1, sizeof *read);
    if (!read)
        return core_fail(FL_E_MEMORY, "out of host memory");
    status = read_text("fl_kernel_read", &text, entry, &read->signature, &clean);
    free(clean);
    if (status == FL_OK)
        status = describe(&read->signature, &found, &read->numbers);
    if (status == FL_OK && !keep(read))
        status = core_fail(FL_E_MEMORY, "out of host memory");
    if (status != FL_OK) {
        free_read(read);
        return status;
    }
    found.compiled = read->signature.compiled;
    return core_give(info, size, &found, sizeof found);
}

/* Returns whether the text is "NAME" or "NAME=VALUE" on one line, without a backslash that joins it with the next. */
static bool is_define(const char *text)
{
    core_text_error unused;
    core_token token;
    core_reader reader;
    size_t length = 0;

    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    if (length == 0 || isdigit((unsigned char)*text) || (text[length] != '\0' && text[length] != '=') ||
        strpbrk(text, "\n\r"))
        return false;
    core_reader_start(&reader, text);
    while (core_token_next(&reader, &token, &unused) == FL_OK)
        if (token.kind == CORE_TOKEN_END || (*token.at == '\\' && !token.at[1 + strspn(token.at + 1, " \t\v\f")]))
            return token.kind == CORE_TOKEN_END;
    return false;
}

static fl_status check_defines(const char *call, const char *const *defines)
{
    for (int i = 0; defines && defines[i]; i++)
        if (!is_define(defines[i]))
            return core_fail(FL_E_ARGUMENT, "%s: '%s' is not a macro definition; expected NAME or NAME=VALUE", call,
                             defines[i]);
    return FL_OK;
}

fl_status fl_kernel_create(fl_device *device, const char *source, const char *shown_as, const char *entry,
                           const char *const *defines, char *log, size_t log_size, fl_kernel **kernel)
{
    static const char *const none[] = {NULL};
    const char *const call = "fl_kernel_create";
    const core_user_text text = {source, shown_as, log, log_size};
    fl_source described = {.size = sizeof described, .kernel = 1, .defines = defines ? defines : none};
    char *clean = NULL;
    fl_kernel *k;
    fl_status status;

    if (!device || !kernel)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, device ? "kernel" : "device");
    *kernel = NULL;
    k = calloc(1, sizeof *k);
    if (!k)
        return core_fail(FL_E_MEMORY, "out of host memory");
    status = check_defines(call, defines);
    if (status == FL_OK)
        status = read_text(call, &text, entry, &k->signature, &clean);
    if (status == FL_OK && !device->plugin.api->code_symbol)
        status = core_fail(FL_E_UNSUPPORTED, "%s cannot run a user's kernel; a GPU can, and hip-cpu",
                           device->plugin.info.resource);
    if (status == FL_OK) {
        described.text = k->signature.compiled;
        described.before = "";
        described.name = k->signature.name;
        status = core_user_text_compile(&text, device, &described, false, &k->compiled);
    }
    free(k->signature.compiled);
    k->signature.compiled = NULL;
    free(clean);
    if (status == FL_OK)
        status = describe(&k->signature, &k->info, &k->numbers);
    if (status != FL_OK) {
        fl_kernel_free(k);
        return status;
    }
    *kernel = k;
    return FL_OK;
}

const fl_kernel_info *fl_kernel_describe(const fl_kernel *kernel)
{
    return kernel ? &kernel->info : NULL;
}

void fl_kernel_free(fl_kernel *kernel)
{
    if (!kernel)
        return;
    core_user_code_free(&kernel->compiled);
    core_kernel_signature_free(&kernel->signature);
    free(kernel->numbers);
    free(kernel);
}

fl_status fl_kernel_watch(fl_kernel *kernel, bool on)
{
    if (!kernel)
        return core_fail(FL_E_ARGUMENT, "fl_kernel_watch: kernel is NULL");
    if (on && !kernel->compiled.device->plugin.api->kernel_watch)
        return core_fail(FL_E_UNSUPPORTED, "%s cannot watch a kernel; hip-cpu can",
                         kernel->compiled.device->plugin.info.resource);
    kernel->watch_next = on;
    return FL_OK;
}

const fl_findings *fl_kernel_found(const fl_kernel *kernel)
{
    return kernel && kernel->was_watched ? &kernel->found : NULL;
}

fl_status core_kernel_check_array(const char *call, const char *name, const fl_array *array, const fl_device *device)
{
    const fl_status status = core_check_array(call, name, array, device);
    const fl_buffer *b;
    int64_t packed = 1;

    if (status != FL_OK)
        return status;
    b = &array->buffer;
    for (int d = b->ndim - 1; d >= 0; packed *= b->shape[d], d--)
        if (b->shape[d] > 1 && b->stride[d] != packed && fl_array_size(array) > 0)
            return core_fail(FL_E_ARGUMENT, "%s: %s is a view whose rows lie apart; expected a packed array", call,
                             name);
    return FL_OK;
}

/* Copies packed device memory, in the device's default stream, and waits. */
static fl_status copy(const fl_plugin_device *plugin, fl_stream *stream, void *to, const void *from, size_t bytes)
{
    const fl_copy copy = {FL_COPY_ON_DEVICE, to, from, bytes, bytes, bytes, 1};
    fl_status status;

    core_lock_take(&stream->lock);
    status = plugin->api->copy(plugin->self, stream->handle, &copy);
    core_lock_leave(&stream->lock);
    return status == FL_OK ? core_stream_wait(stream) : status;
}

fl_status fl_kernel_constant(fl_kernel *kernel, const char *name, const fl_array *array)
{
    const char *const call = "fl_kernel_constant";
    const fl_plugin_device *plugin;
    fl_device *device;
    void *address;
    size_t bytes, given;
    fl_status status;

    if (!kernel || !name)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, kernel ? "name" : "kernel");
    device = kernel->compiled.device;
    plugin = &device->plugin;
    status = core_kernel_check_array(call, "array", array, device);
    if (status == FL_OK)
        status = plugin->api->code_symbol(plugin->self, kernel->compiled.code, name, &address, &bytes);
    if (status != FL_OK)
        return status;
    given = (size_t)fl_array_size(array) * fl_dtype_size(array->buffer.dtype);
    if (given > bytes)
        return core_fail(FL_E_ARGUMENT, "%s: %s has %zu bytes, and the array %zu", call, name, bytes, given);
    status = fl_device_wait(device);
    if (status == FL_OK && given > 0)
        status = copy(plugin, device->default_stream, address, array->buffer.data, given);
    return status;
}
