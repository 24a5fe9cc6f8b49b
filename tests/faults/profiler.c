/* SPDX-License-Identifier: MIT
 *
 * profiler.c - false libraries of profilers: the calls are letters in the text that the test gives. With CUDA s and e
 * for the start and the end of what is captured, with NVTX p, the name of the range, and o.
 */
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static char *record;

EXPORT void false_profiler_record(char *text);
EXPORT void false_profiler_record(char *text)
{
    record = text;
}

static int add(const char *text)
{
    if (record)
        strcat(record, text);
    return 0;
}

#ifdef CUDA
EXPORT int cuProfilerStart(void);
EXPORT int cuProfilerStart(void)
{
    return add("s");
}

EXPORT int cuProfilerStop(void);
EXPORT int cuProfilerStop(void)
{
    return add("e");
}
#elif defined(NVTX)
EXPORT int nvtxRangePushA(const char *name);
EXPORT int nvtxRangePushA(const char *name)
{
    add("p");
    return add(name);
}

EXPORT int nvtxRangePop(void);
EXPORT int nvtxRangePop(void)
{
    return add("o");
}
#else
EXPORT int roctxRangePushA(const char *name);
EXPORT int roctxRangePushA(const char *name)
{
    add("p");
    return add(name);
}

EXPORT int roctxRangePop(void);
EXPORT int roctxRangePop(void)
{
    return add("o");
}

EXPORT int roctxProfilerResume(unsigned long long thread);
EXPORT int roctxProfilerResume(unsigned long long thread)
{
    return add(thread == 0 ? "s" : "?");
}

EXPORT int roctxProfilerPause(unsigned long long thread);
EXPORT int roctxProfilerPause(unsigned long long thread)
{
    return add(thread == 0 ? "e" : "?");
}
#endif
