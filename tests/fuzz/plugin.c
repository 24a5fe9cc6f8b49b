/* SPDX-License-Identifier: MIT
 *
 * Plugins: whatever stands in a plugin's file, in its table, in what its probe says and in the device that it opens,
 * core gives a device that works or a status with a message. The first byte of an input chooses: an ELF file, or
 * fields. Functions are there or NULL, texts are there, NULL or without an end, numbers are any.
 *
 * Wrapped (the linker's --wrap): the loader and the registry, which would want a file for each input.
 */
#define _GNU_SOURCE 1
#include "fuzz.h"

#include "plugins/loader.h"
#include "plugins/registry.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { NO_END = 4096, MOST_ROWS = 4 };

/* The rest of the input. */
static const uint8_t *input;
static size_t left;

static unsigned next_byte(void)
{
    return left > 0 ? (left--, *input++) : 0;
}

static void take(void *to, size_t size)
{
    const size_t some = size < left ? size : left;

    memcpy(to, input, some);
    input += some;
    left -= some;
}

/* A text as a plugin may have one: as it should be, NULL, or as long as nobody reads without a limit. */
static const char *some_text(const char *right)
{
    static char endless[NO_END];

    memset(endless, 'x', sizeof endless);
    switch (next_byte() % 8) {
    case 0: return NULL;
    case 1: return endless;
    case 2: return "";
    case 3: return "\033[31m\nsecond line";
    default: return right;
    }
}

static int32_t some_number(int32_t right)
{
    int32_t number = right;

    if (next_byte() % 4 == 0)
        take(&number, sizeof number);
    return number;
}

/* ------------------------------------------------------------------------------------ a device that works ---- */

static fl_plugin_device offered;
static fl_probe probed;

static void do_nothing(void *self)
{
    (void)self;
}
static void forget(void *self, void *thing)
{
    (void)self, (void)thing;
}
static fl_status agree(void *self)
{
    return (void)self, FL_OK;
}
static fl_status agree_1(void *self, void *a)
{
    return (void)self, (void)a, FL_OK;
}
static fl_status agree_2(void *self, void *a, void *b)
{
    return (void)self, (void)a, (void)b, FL_OK;
}
static fl_status make_handle(void *self, void **handle)
{
    return (void)self, *handle = &offered, FL_OK;
}
static void release(void *self, void *memory)
{
    (void)self, free(memory);
}

static fl_status allocate(void *self, size_t bytes, void **memory)
{
    (void)self;
    *memory = malloc(bytes);
    return *memory ? FL_OK : FL_E_MEMORY;
}

static fl_status copy(void *self, void *stream, const fl_copy *c)
{
    (void)self;
    (void)stream;
    for (size_t i = 0; i < c->rows; i++)
        memmove((char *)c->to + i * c->to_pitch, (const char *)c->from + i * c->from_pitch, c->width);
    return FL_OK;
}

static fl_status elapsed(void *self, void *start, void *stop, double *seconds)
{
    (void)self, (void)start, (void)stop;
    return *seconds = 0, FL_OK;
}

static void plan(void *device, const void *args, fl_launch *launch)
{
    (void)device, (void)args, (void)launch;
}

static fl_status run(const fl_context *context, const void *args, const fl_launch *launch)
{
    return (void)context, (void)args, (void)launch, FL_OK;
}

/* The functions of a device, of which some may be missing. */
static const fl_device_api *some_api(void)
{
    static fl_device_api api;

    api = (fl_device_api){.size = sizeof api,
                          .close = do_nothing,
                          .synchronize = agree,
                          .allocate = allocate,
                          .release = release,
                          .allocate_host = allocate,
                          .release_host = release,
                          .copy = copy,
                          .stream_create = make_handle,
                          .stream_free = forget,
                          .stream_wait = agree_1,
                          .stream_wait_event = agree_2,
                          .event_create = make_handle,
                          .event_free = forget,
                          .event_record = agree_2,
                          .event_wait = agree_1,
                          .event_elapsed = elapsed};
    if (next_byte() % 4 == 0) {
        void (**functions)(void) = (void (**)(void))(void *)&api.close;
        const size_t count = (sizeof api - offsetof(fl_device_api, close)) / sizeof *functions;
        functions[next_byte() % count] = NULL;
    }
    if (next_byte() % 8 == 0)
        take(&api.size, sizeof api.size);
    return next_byte() % 16 == 0 ? NULL : &api;
}

static const fl_row *some_rows(size_t *count)
{
    static fl_row rows[MOST_ROWS];

    for (int i = 0; i < MOST_ROWS; i++)
        rows[i] = (fl_row){.operation = (fl_operation)(next_byte() % (FL_OP_COUNT + 2)),
                           .variant = next_byte() % 8 == 0 ? NULL : "naive",
                           .dtypes = next_byte(),
                           .summary = next_byte() % 8 == 0 ? NULL : "Computes",
                           .plan = next_byte() % 16 == 0 ? NULL : plan,
                           .run = next_byte() % 16 == 0 ? NULL : run};
    *count = next_byte() % 16 == 0 ? SIZE_MAX / (1 + next_byte()) : next_byte() % (MOST_ROWS + 1);
    return next_byte() % 16 == 0 ? NULL : rows;
}

static void probe(fl_probe *filled)
{
    *filled = probed;
}

static fl_status open_device(const fl_host *host, const fl_open_request *request, fl_plugin_device *device)
{
    (void)request;
    if (next_byte() % 16 == 0)
        return host->error(FL_E_DEVICE, "the device is gone");
    *device = offered;
    device->api = some_api();
    device->rows = some_rows(&device->row_count);
    if (next_byte() % 4 == 0)
        take(&device->info, sizeof device->info);
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------- the wrapped ---- */

static const char test_file[] = "flynn-test.so";
static fl_plugin table;
static core_plugin *loaded;

void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags)
{
    return strcmp(path, test_file) == 0 ? &table : __real_dlopen(path, flags);
}

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name)
{
    return library == &table ? &table : __real_dlsym(library, name);
}

bool __wrap_core_plugin_file_trusted(const char *path, core_fault *fault);
bool __wrap_core_plugin_file_trusted(const char *path, core_fault *fault)
{
    (void)path, (void)fault;
    return true;
}

bool __real_core_plugin_file_read(const char *path, const char *symbol, const core_plugin_data *data,
                                  core_fault *fault);
bool __wrap_core_plugin_file_read(const char *path, const char *symbol, const core_plugin_data *data,
                                  core_fault *fault);
bool __wrap_core_plugin_file_read(const char *path, const char *symbol, const core_plugin_data *data, core_fault *fault)
{
    (void)path, (void)symbol, (void)fault;
    memset(data->data, 0, data->size);
    return true;
}

fl_status __wrap_core_registry_find(const char *name, const core_plugin **found);
fl_status __wrap_core_registry_find(const char *name, const core_plugin **found)
{
    (void)name;
    *found = loaded;
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------- the targets ---- */

static void demand_line(const char *what, const char *text, size_t size)
{
    fuzz_demand(*text && memchr(text, '\0', size) && !strchr(text, '\n'), "the %s of a refused plugin is '%.*s'", what,
                (int)size, text);
}

static void try_file(const uint8_t *data, size_t size)
{
    static const size_t texts[] = {offsetof(fl_plugin, family), offsetof(fl_plugin, needs),
                                   offsetof(fl_plugin, absent)};
    core_fault fault = {.status = FL_OK};
    fl_plugin read;
    const core_plugin_data wanted = {&read, sizeof read, texts, sizeof texts / sizeof *texts};
    const bool good = __real_core_plugin_file_read(fuzz_file(data, size), "flynn_plugin", &wanted, &fault);

    for (size_t i = 0; i < wanted.text_count; i++) {
        char *text = *(char **)(void *)((char *)&read + texts[i]);
        fuzz_demand(!text || strnlen(text, CORE_LONGEST_TEXT) < CORE_LONGEST_TEXT, "a text has no end");
        free(text);
    }
    if (good)
        return;
    fuzz_demand(fault.status == FL_E_UNAVAILABLE || fault.status == FL_E_MEMORY, "status %d", (int)fault.status);
    demand_line("cause", fault.cause, sizeof fault.cause);
    demand_line("cure", fault.cure, sizeof fault.cure);
}

/* What anybody does first with a device. */
static void use(fl_device *device)
{
    const int64_t length = 3;
    const float numbers[3] = {1, 2, 3};
    float read[3] = {0};
    fl_array *array;
    fl_variant_info variant;

    fuzz_demand(strlen(fl_device_describe(device)->resource) < sizeof fl_device_describe(device)->resource &&
                    strlen(fl_device_describe(device)->name) < sizeof fl_device_describe(device)->name,
                "a device's texts have no end");
    for (size_t i = 0; fl_variant_get(device, i, &variant) == FL_OK; i++)
        fuzz_demand(*variant.operation && *variant.variant && *variant.summary, "a row has no name");
    if (fl_array_from_host(device, FL_F32, 1, &length, numbers, &array) != FL_OK)
        return;
    if (fl_array_to_host(array, read) == FL_OK)
        fuzz_demand(memcmp(read, numbers, sizeof read) == 0, "an array is another after it was copied");
    fl_array_free(array);
}

static void try_table(void)
{
    static const char *const resources[] = {"test", "test:0", "test:1", "test:v2", "test:v3:7", "test:99999999999"};
    const char *resource = resources[next_byte() % (sizeof resources / sizeof *resources)];
    fl_device *device = NULL;

    table = (fl_plugin){FL_PLUGIN_ABI,
                        sizeof table,
                        some_text("test"),
                        some_text("cpu"),
                        some_text("SISD"),
                        some_number(0),
                        some_text("gcc"),
                        some_number(1),
                        next_byte() % 16 ? probe : NULL,
                        next_byte() % 16 ? open_device : NULL,
                        NULL,
                        NULL,
                        NULL};
    if (next_byte() % 8 == 0)
        take(&table.abi, 2 * sizeof table.abi);
    probed = (fl_probe){.device_count = some_number(1),
                        .max_threads = some_number(next_byte() % 3),
                        .isa_count = some_number(next_byte() % 3),
                        .isa = {{"v2", ""}, {"v3", "no AVX2"}}};
    if (next_byte() % 4 == 0)
        take((char *)&probed + next_byte() * 8, sizeof probed - 255 * 8);
    loaded = core_plugin_new("test", test_file, true, false);
    if (!loaded)
        return;
    core_plugin_load(loaded, true);
    if (!loaded->info.usable) {
        fuzz_demand(loaded->status != FL_OK, "a plugin that cannot be used has status FL_OK");
        demand_line("cause", loaded->info.probe.cause, sizeof loaded->info.probe.cause);
        demand_line("cure", loaded->info.probe.cure, sizeof loaded->info.probe.cure);
    } else if (fl_device_open(resource, &device) == FL_OK) {
        use(device);
        fl_device_close(device);
    } else {
        fuzz_demand(device == NULL && *fl_last_error() && !strchr(fl_last_error(), '\n'), "the message is '%s'",
                    fl_last_error());
    }
    core_plugin_free(loaded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return -1;
    input = data;
    left = size;
    if (next_byte() % 2 == 0)
        try_file(data + 1, size - 1);
    else
        try_table();
    return 0;
}
