/* SPDX-License-Identifier: MIT
 *
 * A small whole plugin for one CPU core, and, by one macro at a time, the same made to be wrong:
 *
 *     FAULT_NAME "wrong"     what it calls itself
 *     FAULT_ABI, FAULT_SIZE  what it says of the ABI it was built for
 *     FAULT_NO_DEVICE        its probe finds none
 *     FAULT_OPEN             it does not open, though its probe found a device
 *     FAULT_ELEMENT          one element of each convolution, except the oracle's, is falsified
 *     FAULT_DEPENDENCY       it needs a library that the loader cannot find
 *     FAULT_SYMBOL           the symbol it exports
 *     FAULT_ABORTS           to run any of it ends the process
 *     FAULT_TELLS, FAULT_FAMILY, FAULT_CLASS, FAULT_BUILT_WITH, FAULT_PROBE, FAULT_OPENER
 *                            fields of flynn_plugin
 *     FAULT_DEVICES, FAULT_ISAS, FAULT_THREADS, FAULT_NO_END
 *                            what its probe says; a text without an end
 *     FAULT_API, FAULT_ROWS  what its device has
 *     FAULT_GRID_THREADS     the most threads of a launch in each dimension
 *     FAULT_LIBRARY          its best variant needs a library, which FAULT_LIBRARY_IS_THERE in the environment brings
 *     FAULT_SCORE 1000       `auto` takes it
 *     FAULT_EMULATION 1      it calls itself an emulation
 *     FAULT_NEEDS            the device files that it needs
 *     FAULT_TEXT "\x1b[2J"   is at the end of what it says of itself
 *     FAULT_CRASHES          it ends the process by a signal where the variable FAULT_CRASH says: open or run
 *
 * What it must never do before the ABI fits is run: its functions then end the process.
 */
#include <flynn/plugin.h>

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef FAULT_ABI
#define FAULT_ABI FL_PLUGIN_ABI
#endif
#ifndef FAULT_SIZE
#define FAULT_SIZE sizeof(fl_plugin)
#endif
#ifndef FAULT_NO_DEVICE
#define FAULT_NO_DEVICE 0
#endif
#ifndef FAULT_OPEN
#define FAULT_OPEN 0
#endif
#ifndef FAULT_ELEMENT
#define FAULT_ELEMENT 0
#endif
#ifndef FAULT_SYMBOL
#define FAULT_SYMBOL flynn_plugin
#endif
#ifndef FAULT_SCORE
#define FAULT_SCORE (-1)
#endif
#ifndef FAULT_EMULATION
#define FAULT_EMULATION 0
#endif
#ifndef FAULT_NEEDS
#define FAULT_NEEDS NULL
#endif
#ifndef FAULT_TEXT
#define FAULT_TEXT ""
#endif
#ifndef FAULT_CRASHES
#define FAULT_CRASHES 0
#endif

#ifndef FAULT_ABORTS
#define FAULT_ABORTS 0
#endif
#ifndef FAULT_TELLS
#define FAULT_TELLS FAULT_NAME
#endif
#ifndef FAULT_FAMILY
#define FAULT_FAMILY "test"
#endif
#ifndef FAULT_CLASS
#define FAULT_CLASS "SISD"
#endif
#ifndef FAULT_BUILT_WITH
#define FAULT_BUILT_WITH "made for the tests" FAULT_TEXT
#endif
#ifndef FAULT_PROBE
#define FAULT_PROBE probe
#endif
#ifndef FAULT_OPENER
#define FAULT_OPENER open_device
#endif
#ifndef FAULT_DEVICES
#define FAULT_DEVICES 1
#endif
#ifndef FAULT_ISAS
#define FAULT_ISAS 0
#endif
#ifndef FAULT_THREADS
#define FAULT_THREADS 1
#endif
#ifndef FAULT_GRID_THREADS
#define FAULT_GRID_THREADS 0
#endif
#ifndef FAULT_NO_END
#define FAULT_NO_END 0
#endif
#ifndef FAULT_API
#define FAULT_API &api
#endif
#ifndef FAULT_ROWS
#define FAULT_ROWS sizeof rows / sizeof rows[0]
#endif

/* Core takes no smaller one: the fields from `needs` on were added later. */
enum { LEAST_SIZE = offsetof(fl_plugin, needs) };

static const fl_host *_Atomic core; /* threads open devices at once */

/* A plugin for another core is not even loaded. */
__attribute__((constructor)) static void run_when_loaded(void)
{
    if (FAULT_ABORTS || FAULT_ABI != FL_PLUGIN_ABI || FAULT_SIZE < LEAST_SIZE)
        abort();
}

static void crash_at(const char *place)
{
    const char *asked = getenv("FAULT_CRASH");
    if (FAULT_CRASHES && asked && strcmp(asked, place) == 0)
        raise(SIGSEGV);
}

/* -------------------------------------------------------------------------------------------------------- rows ---- */

static double value(const fl_buffer *b, int64_t i, int64_t j)
{
    int64_t at = i * b->stride[0] + j * b->stride[1];
    switch (b->dtype) {
    case FL_U8: return ((const uint8_t *)b->data)[at];
    case FL_I32: return ((const int32_t *)b->data)[at];
    case FL_I64: return (double)((const int64_t *)b->data)[at];
    case FL_F32: return ((const float *)b->data)[at];
    default: return ((const double *)b->data)[at];
    }
}

static void set_value(const fl_buffer *b, int64_t i, int64_t j, double to)
{
    int64_t at = i * b->stride[0] + j * b->stride[1];
    if (b->dtype == FL_F32)
        ((float *)b->data)[at] = (float)to;
    else
        ((double *)b->data)[at] = to;
}

static double element(const fl_convolve_args *c, int64_t row, int64_t column)
{
    double sum = 0;
    for (int64_t p = 0; p < c->kernel.shape[0]; p++)
        for (int64_t q = 0; q < c->kernel.shape[1]; q++) {
            int64_t i = row - p, j = column - q;
            if (i >= 0 && i < c->image.shape[0] && j >= 0 && j < c->image.shape[1])
                sum += value(&c->image, i, j) * value(&c->kernel, p, q);
        }
    return sum;
}

static fl_status run_reference(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_convolve_args *c = args;
    (void)context;
    (void)launch;
    for (int64_t i = 0; i < c->out.shape[0]; i++)
        for (int64_t j = 0; j < c->out.shape[1]; j++)
            set_value(&c->out, i, j, element(c, i + c->origin[0], j + c->origin[1]));
    return FL_OK;
}

static fl_status run_naive(const fl_context *context, const void *args, const fl_launch *launch)
{
    fl_status status = run_reference(context, args, launch);
    const fl_buffer *out = &((const fl_convolve_args *)args)->out;
    int64_t i = out->shape[0] / 2, j = out->shape[1] / 3;
    crash_at("run");
    if (FAULT_ELEMENT)
        set_value(out, i, j, value(out, i, j) + 0.5);
    return status;
}

/* Matrices are all that convolve asks to convert. */
static fl_status run_convert(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_convert_args *c = args;
    (void)context;
    (void)launch;
    for (int64_t i = 0; i < c->in.shape[0]; i++)
        for (int64_t j = 0; j < c->in.shape[1]; j++)
            set_value(&c->out, i, j, value(&c->in, i, j));
    return FL_OK;
}

static void plan(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    (void)args;
    /* The block that is asked for is what runs, and without one there is none. */
    for (int i = 0; i < 3; i++)
        launch->grid[i] = launch->block[i] > 0;
    launch->bytes_requested = launch->flops = 1;
}

#define FLOATS (1u << FL_F32 | 1u << FL_F64)

#ifdef FAULT_LIBRARY
/* The library is there once the environment says so. */
static fl_status ask_library(void *device, char *why, size_t size)
{
    (void)device;
    if (getenv("FAULT_LIBRARY_IS_THERE"))
        return FL_OK;
    snprintf(why, size, "libnowhere.so is missing; install nowhere");
    return FL_E_UNAVAILABLE;
}
#endif

static const fl_row rows[] = {
#ifdef FAULT_LIBRARY
    {FL_OP_CONVOLVE, "library", FLOATS, "by a library", plan, run_naive, NULL, false, ask_library, NULL},
#endif
    {FL_OP_CONVOLVE, "naive", FLOATS, "the textbook loop" FAULT_TEXT, plan, run_naive, NULL, false, NULL, NULL},
    {FL_OP_CONVOLVE, "reference", FLOATS, "the oracle", plan, run_reference, NULL, false, NULL, NULL},
    {FL_OP_CONVERT, "naive", FLOATS, "conversion", plan, run_convert, NULL, false, NULL, NULL},
};

/* ------------------------------------------------------------------------------------------------------ device ---- */

static void close_device(void *self)
{
    free(self);
}

static fl_status done(void *self)
{
    (void)self;
    return FL_OK;
}

/* Rounds up without a thought of overflow: core asks for no more than there can be. */
static fl_status allocate(void *self, size_t bytes, void **memory)
{
    (void)self;
    *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *memory ? FL_OK : core->error(FL_E_MEMORY, "no %zu bytes", bytes);
}

static void release(void *self, void *memory)
{
    (void)self;
    free(memory);
}

static fl_status copy(void *self, void *stream, const fl_copy *c)
{
    (void)self;
    (void)stream;
    for (size_t row = 0; row < c->rows; row++)
        memcpy((char *)c->to + row * c->to_pitch, (const char *)c->from + row * c->from_pitch, c->width);
    return FL_OK;
}

/* Work is done when it is queued: a stream is only something to point to, an event the time when it was recorded. */
static fl_status create(void *self, void **handle)
{
    (void)self;
    *handle = calloc(1, sizeof(double));
    return *handle ? FL_OK : core->error(FL_E_MEMORY, "out of memory");
}

static fl_status wait_for(void *self, void *handle)
{
    (void)self;
    (void)handle;
    return FL_OK;
}

static fl_status stream_wait_event(void *self, void *stream, void *event)
{
    (void)stream;
    return wait_for(self, event);
}

static fl_status event_record(void *self, void *event, void *stream)
{
    struct timespec now;
    (void)self;
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *(double *)event = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return FL_OK;
}

static fl_status event_elapsed(void *self, void *start, void *stop, double *seconds)
{
    (void)self;
    *seconds = *(double *)stop - *(double *)start;
    return FL_OK;
}

static fl_status last_kernel(void *self, void *stream, fl_kernel_facts *facts)
{
    (void)self;
    (void)stream;
    *facts = (fl_kernel_facts){.registers = 40,
                               .threads = 64,
                               .resident_blocks = 3,
                               .resident_threads = 256,
                               .local_bytes = 8,
                               .shared_bytes = 16};
    return FL_OK;
}

__attribute__((unused)) static const fl_device_api api = {
    .size = sizeof(fl_device_api),
    .close = close_device,
    .synchronize = done,
    .allocate = allocate,
    .release = release,
    .allocate_host = allocate,
    .release_host = release,
    .copy = copy,
    .stream_create = create,
    .stream_free = release,
    .stream_wait = wait_for,
    .stream_wait_event = stream_wait_event,
    .event_create = create,
    .event_free = release,
    .event_record = event_record,
    .event_wait = wait_for,
    .event_elapsed = event_elapsed,
    .last_kernel = last_kernel,
};

__attribute__((unused)) static const fl_device_api short_api = {.size = 16, .close = close_device};

/* ------------------------------------------------------------------------------------------------------ plugin ---- */

__attribute__((unused)) static void probe(fl_probe *probe)
{
    if (FAULT_ABI != FL_PLUGIN_ABI || FAULT_SIZE < LEAST_SIZE)
        abort();
    if (FAULT_NO_DEVICE) {
        snprintf(probe->cause, sizeof probe->cause, "no flux capacitor in this machine");
        snprintf(probe->cure, sizeof probe->cure, "fit one and restart");
        return;
    }
    probe->device_count = FAULT_DEVICES;
    probe->isa_count = FAULT_ISAS;
    probe->max_threads = FAULT_THREADS;
    if (FAULT_NO_END)
        memset(probe->lacks, 'x', sizeof probe->lacks);
    snprintf(probe->device[0], sizeof probe->device[0], "a processor for tests" FAULT_TEXT);
}

__attribute__((unused)) static fl_status open_device(const fl_host *host, const fl_open_request *request,
                                                     fl_plugin_device *device)
{
    (void)request;
    core = host;
    crash_at("open");
    if (FAULT_OPEN)
        return host->error(FL_E_DEVICE, "the canary kernel read back 0, expected 42");
    *device = (fl_plugin_device){.self = malloc(1), .api = FAULT_API, .rows = rows, .row_count = FAULT_ROWS};
    device->info.threads = 1;
    device->info.memory_bytes = 1 << 30;
    for (int i = 0; i < 3; i++)
        device->info.max_grid_threads[i] = FAULT_GRID_THREADS;
    snprintf(device->info.name, sizeof device->info.name, "a processor for tests" FAULT_TEXT);
    return device->self ? FL_OK : host->error(FL_E_MEMORY, "out of memory");
}

/* With FAULT_DEPENDENCY it calls into a library that is not there when it is loaded. */
#ifdef FAULT_DEPENDENCY
void dependency_function(void);
__attribute__((used)) static void (*const needed)(void) = dependency_function;
#endif

__attribute__((visibility("default"))) extern const fl_plugin FAULT_SYMBOL;
const fl_plugin FAULT_SYMBOL = {
    .abi = FAULT_ABI,
    .size = FAULT_SIZE,
    .name = FAULT_TELLS,
    .family = FAULT_FAMILY,
    .flynn_class = FAULT_CLASS,
    .emulation = FAULT_EMULATION,
    .built_with = FAULT_BUILT_WITH,
    .score = FAULT_SCORE,
    .probe = FAULT_PROBE,
    .open = FAULT_OPENER,
    .needs = FAULT_NEEDS,
    .absent = "no flux capacitor found (/nonexistent/flux is missing)",
    .absent_cure = "fit one and restart",
};
