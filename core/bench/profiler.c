/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "profiler.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of a library: of ranges, and of what is captured. rocTX's of the latter take a thread, of
 * which 0 is all. A library is used where it is loaded: libcuda by a device in use, AMD's by a plugin. With `variable`
 * it is loaded here, where a profiler has set that. */
static const struct tool {
    const char *file, *variable;
    const char *push, *pop, *start, *stop;
    bool takes_thread;
} tools[BENCH_PROFILER_LIBRARIES] = {
    {"libcuda.so.1", NULL, NULL, NULL, "cuProfilerStart", "cuProfilerStop", false},
    {"libnvToolsExt.so.1", "NVTX_INJECTION64_PATH", "nvtxRangePushA", "nvtxRangePop", NULL, NULL, false},
    {"librocprofiler-sdk-roctx.so.1", NULL, "roctxRangePushA", "roctxRangePop", "roctxProfilerResume",
     "roctxProfilerPause", true},
    {"librocprofiler-sdk-roctx.so.0", NULL, "roctxRangePushA", "roctxRangePop", "roctxProfilerResume",
     "roctxProfilerPause", true},
    {"libroctx64.so.4", NULL, "roctxRangePushA", "roctxRangePop", NULL, NULL, false},
    {"libroctx64.so.1", NULL, "roctxRangePushA", "roctxRangePop", NULL, NULL, false},
};

typedef int push_range(const char *name);
typedef int plain(void);
typedef int of_thread(uint64_t thread);
typedef void symbol(void); /* any function */

static int is_of_file(struct dl_phdr_info *library, size_t size, void *file)
{
    const char *const slash = strrchr(library->dlpi_name, '/');

    (void)size;
    return strcmp(slash ? slash + 1 : library->dlpi_name, file) == 0;
}

/* Returns whether the library is loaded. Unlike dlopen with RTLD_NOLOAD this looks for no file. */
static bool is_loaded(const char *file)
{
    char name[64];

    snprintf(name, sizeof name, "%s", file);
    return dl_iterate_phdr(is_of_file, name) != 0;
}

bench_profiler bench_profiler_open(void)
{
    bench_profiler p = {{NULL}};

    for (int i = 0; i < BENCH_PROFILER_LIBRARIES; i++)
        if (tools[i].variable ? getenv(tools[i].variable) != NULL : is_loaded(tools[i].file))
            p.library[i] = dlopen(tools[i].file, RTLD_NOW | RTLD_LOCAL);
    return p;
}

void bench_profiler_close(bench_profiler *p)
{
    for (int i = 0; i < BENCH_PROFILER_LIBRARIES; i++) {
        if (p->library[i])
            dlclose(p->library[i]);
        p->library[i] = NULL;
    }
}

/* The function of that name; NULL: none. dlsym's pointer is copied, because ISO C does not convert it. */
static symbol *find(void *library, const char *name)
{
    void *const address = library && name ? dlsym(library, name) : NULL;
    symbol *function;

    memcpy(&function, &address, sizeof function);
    return function;
}

static void capture(const bench_profiler *p, int i, const char *name)
{
    symbol *const function = find(p->library[i], name);

    if (function && tools[i].takes_thread)
        ((of_thread *)function)(0);
    else if (function)
        ((plain *)function)();
}

void bench_profiler_start(const bench_profiler *p, const char *name)
{
    for (int i = 0; i < BENCH_PROFILER_LIBRARIES; i++) {
        symbol *const push = find(p->library[i], tools[i].push);
        capture(p, i, tools[i].start);
        if (push)
            ((push_range *)push)(name);
    }
}

void bench_profiler_stop(const bench_profiler *p)
{
    for (int i = BENCH_PROFILER_LIBRARIES; i-- > 0;) {
        symbol *const pop = find(p->library[i], tools[i].pop);
        if (pop)
            ((plain *)pop)();
        capture(p, i, tools[i].stop);
    }
}
