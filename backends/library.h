/* SPDX-License-Identifier: MIT
 *
 * library.h - libraries that a plugin uses where they are there: BLAS, LAPACK, FFT. They are loaded at run time, so
 * that one that is missing costs the variants that call it, never the plugin; what is declared of their interfaces is
 * next to the calls.
 */
#ifndef FLYNN_LIBRARY_H
#define FLYNN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the first of `names` (file names as the loader takes them, separated by blanks) that is there, and never
 * unloads it. NULL: none; `why` then has the loader's words for the first of them. Any thread may call it, any number
 * of times. */
void *library_load(const char *names, char *why, size_t size);

/* Whether library_load would find one of them, without loading it: NVIDIA's libraries are of hundreds of megabytes,
 * which take up to a second. Looks where the loader does: the folders built into this plugin, LD_LIBRARY_PATH, the
 * system's cache and folders. */
bool library_find(const char *names);

/* The function of that name; NULL: there is none. Give it the type that the library's documentation states:
 *     ok = library_function(handle, "sgemm_", &sgemm, sizeof sgemm); */
bool library_function(void *library, const char *name, void *pointer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
