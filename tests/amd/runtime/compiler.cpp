/* SPDX-License-Identifier: MIT
 *
 * compiler.cpp - hiprtc, which needs no GPU: that of AMD's own runtime.
 */
#include "runtime.h"

#include <dlfcn.h>
#include <hip/hiprtc.h>

/* A function of AMD's runtime. */
template <typename F>
static F *real(F *, const char *name)
{
    static void *const library = dlopen(AMD_EMULATOR_RUNTIME, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    void *const function = library ? dlsym(library, name) : nullptr;
    if (!function)
        mistake("%s: %s", name, dlerror());
    return (F *)function;
}

#define REAL(name, parameters, arguments) \
    HIP_API hiprtcResult name parameters \
    { \
        return real(name, #name) arguments; \
    }

REAL(hiprtcCreateProgram,
     (hiprtcProgram * program, const char *text, const char *name, int count, const char **headers, const char **names),
     (program, text, name, count, headers, names))
REAL(hiprtcDestroyProgram, (hiprtcProgram * program), (program))
REAL(hiprtcCompileProgram, (hiprtcProgram program, int count, const char **options), (program, count, options))
REAL(hiprtcGetCodeSize, (hiprtcProgram program, size_t *size), (program, size))
REAL(hiprtcGetCode, (hiprtcProgram program, char *code), (program, code))
REAL(hiprtcGetProgramLogSize, (hiprtcProgram program, size_t *size), (program, size))
REAL(hiprtcGetProgramLog, (hiprtcProgram program, char *log), (program, log))
REAL(hiprtcVersion, (int *major, int *minor), (major, minor))

HIP_API const char *hiprtcGetErrorString(hiprtcResult code)
{
    return real(hiprtcGetErrorString, "hiprtcGetErrorString")(code);
}
