/* SPDX-License-Identifier: MIT
 *
 * library.h - loads optional libraries (BLAS, LAPACK, FFT) at run time: without one of them only the variants that need
 * it are unavailable, never the plugin. The functions of a library are declared where they are called.
 */
#ifndef FLYNN_LIBRARY_H
#define FLYNN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the first of `names` (file names for the loader, separated by blanks) that exists, and never unloads it. NULL:
 * none exists; `why` is the loader's message for the first name. May be called by any thread, any number of times. */
void *library_load(const char *names, char *why, size_t size);

/* True if library_load would find one of them. Loads nothing, since NVIDIA's libraries have hundreds of megabytes and
 * take up to a second to load. Searches as the loader does: the folders built into this plugin, LD_LIBRARY_PATH, the
 * system's cache and folders. */
bool library_find(const char *names);

/* Stores the address of the function `name` in *pointer; false if the library has none. The pointer's type is from the
 * library's documentation:
 *     ok = library_function(handle, "sgemm_", &sgemm, sizeof sgemm); */
bool library_function(void *library, const char *name, void *pointer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
