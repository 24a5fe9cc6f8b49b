/* SPDX-License-Identifier: MIT
 *
 * device.c - a processor as a device. Work is done by the thread that queues it, before the call returns: a stream has
 * nothing to wait for, and an event is the time at which it was recorded.
 */
#define _GNU_SOURCE
#include "../shared/processor.h"
#include "compile.h"
#include "fftw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef CPU_ARM_LEVELS
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

enum { ALIGNMENT = 256, HUGE_PAGE = 2 << 20 };

/* ------------------------------------------------------------------------------------------------- memory ---- */

/* Large blocks ask for huge pages: fewer faults when they are first touched, and fewer misses of the address cache in
 * tiles, because these jump from row to row. */
static fl_status allocate(void *self, size_t bytes, void **memory)
{
    const cpu_device *device = self;
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;

    if (posix_memalign(memory, alignment, bytes) != 0) {
        *memory = NULL;
        return device->host->error(FL_E_MEMORY, "out of memory: %zu bytes requested", bytes);
    }
    if (bytes >= HUGE_PAGE)
        madvise(*memory, bytes, MADV_HUGEPAGE); /* advice; without it the memory is the same, only slower */
    return FL_OK;
}

static void release(void *self, void *memory)
{
    (void)self;
    free(memory);
}

static fl_status copy(void *self, void *stream, const fl_copy *copy)
{
    char *to = copy->to;
    const char *from = copy->from;

    (void)self, (void)stream;
    if (copy->to_pitch == copy->width && copy->from_pitch == copy->width) {
        memcpy(to, from, copy->width * copy->rows);
        return FL_OK;
    }
    for (size_t row = 0; row < copy->rows; row++)
        memcpy(to + row * copy->to_pitch, from + row * copy->from_pitch, copy->width);
    return FL_OK;
}

/* ------------------------------------------------------------------------------------- streams and events ---- */

static void close_device(void *self)
{
    cpu_device *device = self;

    cpu_fft_free(device);
    pthread_mutex_destroy(&device->plans_lock);
    free(device);
}

static fl_status synchronize(void *self)
{
    (void)self;
    return FL_OK;
}

/* A stream is only a distinct address, by which core distinguishes streams and their scratch memory. */
static fl_status stream_create(void *self, void **stream)
{
    const cpu_device *device = self;

    *stream = malloc(1);
    return *stream ? FL_OK : device->host->error(FL_E_MEMORY, "out of memory for a stream");
}

static void stream_free(void *self, void *stream)
{
    (void)self;
    free(stream);
}

static fl_status stream_wait(void *self, void *stream)
{
    (void)self, (void)stream;
    return FL_OK;
}

static fl_status stream_wait_event(void *self, void *stream, void *event)
{
    (void)self, (void)stream, (void)event;
    return FL_OK;
}

static fl_status event_create(void *self, void **event)
{
    const cpu_device *device = self;

    *event = calloc(1, sizeof(struct timespec));
    return *event ? FL_OK : device->host->error(FL_E_MEMORY, "out of memory for an event");
}

static void event_free(void *self, void *event)
{
    (void)self;
    free(event);
}

static fl_status event_record(void *self, void *event, void *stream)
{
    (void)self, (void)stream;
    clock_gettime(CLOCK_MONOTONIC, event);
    return FL_OK;
}

static fl_status event_wait(void *self, void *event)
{
    (void)self, (void)event;
    return FL_OK;
}

static fl_status event_elapsed(void *self, void *start, void *stop, double *seconds)
{
    const struct timespec *a = start, *b = stop;

    (void)self;
    *seconds = (double)(b->tv_sec - a->tv_sec) + 1e-9 * (double)(b->tv_nsec - a->tv_nsec);
    return FL_OK;
}

/* OpenMP's runtime starts a team for each thread that calls it, and ends the process if it cannot. */
static fl_status prepare_thread(void *self)
{
    static _Thread_local int team = 1;
    const cpu_device *device = self;
    int error = device->threads > team ? threads_try(device->threads - team) : 0;

    if (error != 0)
        return device->host->error(FL_E_MEMORY, "%d threads cannot be started: %s", device->threads, strerror(error));
    if (device->threads > team)
        team = device->threads;
    return FL_OK;
}

const fl_device_api cpu_device_api = {
    .size = sizeof(fl_device_api),
    .close = close_device,
    .synchronize = synchronize,
    .allocate = allocate,
    .release = release,
    .allocate_host = allocate,
    .release_host = release,
    .copy = copy,
    .stream_create = stream_create,
    .stream_free = stream_free,
    .stream_wait = stream_wait,
    .stream_wait_event = stream_wait_event,
    .event_create = event_create,
    .event_free = event_free,
    .event_record = event_record,
    .event_wait = event_wait,
    .event_elapsed = event_elapsed,
    .prepare_thread = prepare_thread,
    .compile = cpu_compile,
    .code_free = cpu_code_free,
    .takes_lanes = 1,
};

/* ------------------------------------------------------------------------------------------------ probing ---- */

/* The tables that this plugin was built with, the ones that need more of the processor first: the first that runs is
 * taken. */
#ifdef CPU_LEVELS
extern const cpu_table cpu_table_v2, cpu_table_v3, cpu_table_v4;
static const cpu_table *const tables[] = {&cpu_table_v4, &cpu_table_v3, &cpu_table_v2};
#elif defined CPU_ARM_LEVELS
extern const cpu_table cpu_table_neon, cpu_table_sve;
static const cpu_table *const tables[] = {&cpu_table_sve, &cpu_table_neon};
#else
extern const cpu_table cpu_table_base;
static const cpu_table *const tables[] = {&cpu_table_base};
#endif
enum { TABLES = sizeof tables / sizeof *tables };

/* The largest N of "omp:N"; 1: this plugin was built without threads. */
#ifdef _OPENMP
enum { MAX_THREADS = 1024 };
#else
enum { MAX_THREADS = 1 };
#endif

/* Returns whether the processor runs the instruction set and the system saves its registers; always true for "base". */
static bool runs(const char *isa)
{
#ifdef CPU_LEVELS
    __builtin_cpu_init(); /* the constructor that does so was not run where loading failed for want of memory before */
    if (strcmp(isa, "v2") == 0)
        return __builtin_cpu_supports("x86-64-v2");
    if (strcmp(isa, "v3") == 0)
        return __builtin_cpu_supports("x86-64-v3");
    if (strcmp(isa, "v4") == 0)
        return __builtin_cpu_supports("x86-64-v4");
#elif defined CPU_ARM_LEVELS
    if (strcmp(isa, "sve") == 0)
        return getauxval(AT_HWCAP) & HWCAP_SVE;
    return strcmp(isa, "neon") == 0; /* in every 64-bit processor */
#endif
    return strcmp(isa, "base") == 0;
}

static const char *lacks(const char *isa)
{
#ifdef CPU_ARM_LEVELS
    (void)isa;
    return "SVE";
#endif
    return strcmp(isa, "v4") == 0   ? "AVX-512 (x86-64-v4)"
           : strcmp(isa, "v3") == 0 ? "AVX2 and FMA (x86-64-v3)"
                                    : "SSE4.2 (x86-64-v2)";
}

/* The instruction sets that a resource can name, the smallest first; none if there is a single build. */
static void probe_isas(fl_probe *probe)
{
    if (TABLES == 1)
        return;
    for (int i = TABLES - 1; i >= 0; i--) {
        const char *isa = tables[i]->isa;
        int n = probe->isa_count++;
        snprintf(probe->isa[n].name, sizeof probe->isa[n].name, "%s", isa);
        if (!runs(isa))
            snprintf(probe->isa[n].why_not, sizeof probe->isa[n].why_not, "this processor lacks %s", lacks(isa));
    }
}

/* The requested table, or the best one that runs here; NULL: none. */
static const cpu_table *choose(const char *isa)
{
    for (int i = 0; i < TABLES; i++)
        if (isa ? strcmp(isa, tables[i]->isa) == 0 : runs(tables[i]->isa))
            return tables[i];
    return NULL;
}

/* Adds "; <what>" to a text of several. */
static void append(char *text, size_t size, const char *what)
{
    size_t length = strlen(text);

    snprintf(text + length, size - length, "%s%s", length ? "; " : "", what);
}

/* Lists each missing library once, even if several operations need it. */
static void probe_libraries(const cpu_table *table, fl_probe *probe)
{
    char why[256];

    for (size_t i = 0; i < table->operation_count; i++) {
        const cpu_operation *operation = table->operations[i];
        if (operation->found && !operation->found(why, sizeof why) && !strstr(probe->lacks, why))
            append(probe->lacks, sizeof probe->lacks, why);
    }
}

void cpu_probe(fl_probe *probe)
{
    const cpu_table *table = choose(NULL);

    processor_name(probe->device[0], sizeof probe->device[0]);
    probe->max_threads = MAX_THREADS;
    probe_isas(probe);
    if (table) {
        probe->device_count = 1;
        probe_libraries(table, probe);
        return;
    }
    snprintf(probe->cause, sizeof probe->cause, "this processor lacks %s", lacks(tables[TABLES - 1]->isa));
    snprintf(probe->cure, sizeof probe->cure, "use the backend serial, which is built for any processor");
}

/* ------------------------------------------------------------------------------------------------ opening ---- */

static void describe(const cpu_table *table, int threads, fl_device_info *info)
{
    info->host_memory = true;
    processor_name(info->name, sizeof info->name);
#ifdef _OPENMP
    /* The macro is the date of the specification. */
    snprintf(info->runtime, sizeof info->runtime, "OpenMP %s",
             _OPENMP >= 202111   ? "5.2"
             : _OPENMP >= 202011 ? "5.1"
             : _OPENMP >= 201811 ? "5.0"
             : _OPENMP >= 201511 ? "4.5"
                                 : "4.0");
#endif
    if (strcmp(table->isa, "base") != 0)
        snprintf(info->isa, sizeof info->isa, "%s", table->isa);
    info->threads = threads;
    info->vector_bits = table->vector_bits;
#ifdef CPU_ARM_LEVELS
    if (strcmp(table->isa, "sve") == 0) /* the processor's, which its loops use */
        info->vector_bits = (prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK) * 8;
#endif
    info->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    info->dlpack_type = info->dlpack_pinned_type = 1; /* kDLCPU */
}

static int threads_for(const fl_open_request *request)
{
    int threads = request->number > 0 ? request->number : MAX_THREADS > 1 ? threads_default() : 1;

    return threads < MAX_THREADS ? threads : MAX_THREADS;
}

fl_status cpu_open(const fl_host *host, const fl_open_request *request, fl_plugin_device *opened)
{
    const cpu_table *table = choose(request->isa);
    size_t count = 0;
    cpu_device *device;

    if (!table)
        return host->error(FL_E_UNAVAILABLE, "this processor does not run '%s'", request->isa ? request->isa : "base");
    for (size_t i = 0; i < table->operation_count; i++)
        count += table->operations[i]->count;
    device = malloc(sizeof *device + count * sizeof *device->rows);
    if (!device)
        return host->error(FL_E_MEMORY, "out of memory for a device");
    device->host = host;
    device->table = table;
    device->threads = threads_for(request);
    device->plans = NULL;
    pthread_mutex_init(&device->plans_lock, NULL);
    count = 0;
    for (size_t i = 0; i < table->operation_count; i++) {
        memcpy(device->rows + count, table->operations[i]->rows, table->operations[i]->count * sizeof *device->rows);
        count += table->operations[i]->count;
    }
    opened->self = device;
    opened->api = &cpu_device_api;
    opened->rows = device->rows;
    opened->row_count = count;
    describe(table, device->threads, &opened->info);
    return FL_OK;
}
