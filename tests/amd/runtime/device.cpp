/* SPDX-License-Identifier: MIT
 *
 * device.cpp - the devices, their properties, and errors.
 */
#include "runtime.h"
#include "settings.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

std::recursive_mutex turn::mutex;

static thread_local hipError_t last_error = hipSuccess;
static thread_local int current_device;

hipError_t result(hipError_t error)
{
    last_error = error;
    return error;
}

bool fails_now(const char *function)
{
    static long calls;
    const bool fails = ++calls == settings().fails;
    if (fails && settings().verbose)
        fprintf(stderr, "amd emulator: call %ld fails: %s\n", calls, function);
    return fails;
}

void mistake(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("amd emulator: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

HIP_API hipError_t hipGetDeviceCount(int *count)
{
    turn mine;
    if (fails_now())
        return result(hipErrorUnknown);
    *count = settings().devices;
    return result(*count > 0 ? hipSuccess : hipErrorNoDevice);
}

HIP_API hipError_t hipSetDevice(int device)
{
    turn mine;
    if (fails_now())
        return result(hipErrorUnknown);
    if (device < 0 || device >= settings().devices)
        return result(hipErrorInvalidDevice);
    current_device = device;
    return result(hipSuccess);
}

HIP_API hipError_t hipGetDevice(int *device)
{
    turn mine;
    if (fails_now())
        return result(hipErrorUnknown);
    *device = current_device;
    return result(hipSuccess);
}

/* The name that a program sees, and with what its driver has set of it: gfx9's of data centers have error correction.
 */
static void describe_architecture(hipDeviceProp_t *p)
{
    const std::string &architecture = settings().architecture;
    const bool has_features = architecture == "gfx906" || architecture == "gfx90a" || architecture == "gfx942";
    snprintf(p->name, sizeof p->name, "emulated %s", architecture.c_str());
    snprintf(p->gcnArchName, sizeof p->gcnArchName, "%s%s", architecture.c_str(),
             has_features ? ":sramecc+:xnack-" : "");
}

HIP_API hipError_t hipGetDeviceProperties(hipDeviceProp_t *p, int device)
{
    turn mine;
    if (fails_now())
        return result(hipErrorUnknown);
    if (device < 0 || device >= settings().devices)
        return result(hipErrorInvalidDevice);
    const bool is_gfx9 = settings().architecture.starts_with("gfx9");
    memset(p, 0, sizeof *p);
    describe_architecture(p);
    p->totalGlobalMem = settings().memory;
    p->sharedMemPerBlock = LDS_BYTES;
    p->warpSize = is_gfx9 ? 64 : 32;
    p->maxThreadsPerBlock = MAX_THREADS;
    for (int d = 0; d < 3; d++) {
        p->maxThreadsDim[d] = MAX_THREADS;
        p->maxGridSize[d] = settings().blocks > 0 ? settings().blocks : d == 0 ? INT32_MAX : 65536;
    }
    p->major = is_gfx9 ? 9 : 11;
    p->multiProcessorCount = 4;
    p->maxThreadsPerMultiProcessor = 2048;
    p->regsPerBlock = 65536;
    p->clockRate = 2000000;       /* kHz */
    p->memoryClockRate = 1000000; /* kHz */
    p->memoryBusWidth = 256;
    p->l2CacheSize = 4 << 20;
    return result(hipSuccess);
}

HIP_API hipError_t hipDriverGetVersion(int *version)
{
    *version = HIP_VERSION;
    return result(hipSuccess);
}

HIP_API hipError_t hipRuntimeGetVersion(int *version)
{
    *version = HIP_VERSION;
    return result(hipSuccess);
}

HIP_API hipError_t hipGetLastError()
{
    const hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

HIP_API const char *hipGetErrorName(hipError_t error)
{
    switch (error) {
    case hipSuccess: return "hipSuccess";
    case hipErrorInvalidValue: return "hipErrorInvalidValue";
    case hipErrorOutOfMemory: return "hipErrorOutOfMemory";
    case hipErrorInvalidConfiguration: return "hipErrorInvalidConfiguration";
    case hipErrorInvalidPitchValue: return "hipErrorInvalidPitchValue";
    case hipErrorInvalidDeviceFunction: return "hipErrorInvalidDeviceFunction";
    case hipErrorNoDevice: return "hipErrorNoDevice";
    case hipErrorInvalidDevice: return "hipErrorInvalidDevice";
    case hipErrorNoBinaryForGpu: return "hipErrorNoBinaryForGpu";
    case hipErrorInvalidHandle: return "hipErrorInvalidHandle";
    case hipErrorNotReady: return "hipErrorNotReady";
    case hipErrorLaunchFailure: return "hipErrorLaunchFailure";
    default: return "hipErrorUnknown";
    }
}

HIP_API const char *hipGetErrorString(hipError_t error)
{
    return hipGetErrorName(error);
}
