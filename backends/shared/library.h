/* SPDX-License-Identifier: MIT
 *
 * library.h - loads optional libraries (BLAS, LAPACK, FFT) at run time: without one of them only the variants that need
 * it are unavailable, never the plugin. The functions of a library are declared where they are called.
 */
#ifndef FLYNN_LIBRARY_H
#define FLYNN_LIBRARY_H

#include <flynn/flynn.h>
#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LIBRARY_NAME = 128, LIBRARY_PATH = 4096 }; /* bytes of the longest name and path */

/* Copies the first of the names at *names and advances to the next; false if there is none or it is too long. */
bool library_next_name(const char **names, char *name, size_t size);

/* Loads the first of `names` (file names for the loader, separated by blanks) that exists, and never unloads it. NULL:
 * none exists; `why` is the loader's message for the first name. May be called by any thread, any number of times. */
void *library_load(const char *names, char *why, size_t size);

/* library_load for a library such as OpenBLAS, which starts a thread for each processor while it is loaded: the calling
 * thread has only one processor meanwhile, so that none is started. (A variable such as OPENBLAS_NUM_THREADS would do
 * too, but setenv is not safe in a process with threads, and child processes would inherit the value.) */
void *library_load_threadless(const char *names, char *why, size_t size);

/* Functions of a library that are looked up once: of static storage, LIBRARY_STATE at first. */
typedef struct library_state {
    pthread_mutex_t lock;
    int loaded;
} library_state;
#define LIBRARY_STATE \
    { \
        PTHREAD_MUTEX_INITIALIZER, 0 \
    }

/* The status that the loader's message means: FL_E_MEMORY, if memory or file descriptors are short, or
 * FL_E_UNAVAILABLE. */
fl_status library_status(const char *why);

/* Calls `load` until it returned true once; any thread may call this at any time. Else library_status of `why`, which
 * `load` filled. */
fl_status library_once(library_state *state, bool (*load)(char *why, size_t size), char *why, size_t size);

/* Returns whether library_load would find one of them. Loads nothing, since NVIDIA's libraries have hundreds of
 * megabytes and take up to a second to load. Searches as the loader does: the folders built into this plugin,
 * LD_LIBRARY_PATH, the system's cache and folders. */
bool library_find(const char *names);

/* The file that library_load would take for one name; false if there is none. */
bool library_path(const char *name, char path[LIBRARY_PATH]);

/* Stores the address of the function `name` in *pointer; false if the library has none. The pointer's type is from the
 * library's documentation:
 *     ok = library_function(handle, "sgemm_", &sgemm, sizeof sgemm); */
bool library_function(void *library, const char *name, void *pointer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
