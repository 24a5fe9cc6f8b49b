/* SPDX-License-Identifier: MIT
 *
 * library_runtime.h - loads libraries that call a runtime (HIP) which this process has already. A library of another
 * ROCm needs another version of the runtime, and the loader would load that one too; to it this runtime's memory and
 * streams are unknown. rocSOLVER and hipFFT have the same file name in ROCm 5, 6 and 7, so the name does not show the
 * version.
 */
#ifndef FLYNN_LIBRARY_RUNTIME_H
#define FLYNN_LIBRARY_RUNTIME_H

#include "library.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime that this plugin is linked with. */
typedef struct library_runtime {
    const char *files;    /* how the names of all its versions start: "libamdhip64.so" */
    const char *function; /* the name of one of its functions */
    const void *address;  /* the address of that function here */
} library_runtime;

/* As library_load and library_find, for libraries that call the runtime. A library that needs another runtime is
 * skipped, before they are loaded if their own list of libraries says so. `why` then names both runtimes. */
void *library_load_for(const library_runtime *runtime, const char *names, char *why, size_t size);
bool library_find_for(const library_runtime *runtime, const char *names, char *why, size_t size);

#ifdef __cplusplus
}
#endif
#endif
