/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool library_next_name(const char **names, char *name, size_t size)
{
    size_t length = strcspn(*names, " ");
    bool fits = length > 0 && length < size;

    snprintf(name, size, "%.*s", fits ? (int)length : 0, *names);
    *names += length + strspn(*names + length, " ");
    return fits;
}

/* The message for the first name, unless a later file is there and cannot be loaded. */
static void keep_words(const char *words, char *why, size_t size)
{
    if (size > 0 && (*why == '\0' || !strstr(words, "No such file")))
        snprintf(why, size, "%s", words);
}

void *library_load(const char *names, char *why, size_t size)
{
    char name[LIBRARY_NAME];

    if (size > 0)
        *why = '\0';
    while (library_next_name(&names, name, sizeof name)) {
        /* Never closed; with NODELETE glibc keeps what it had loaded when memory was short, for the next try. */
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        const char *words = library ? NULL : dlerror();
        if (library)
            return library;
        keep_words(words ? words : name, why, size);
    }
    return NULL;
}

/* Restricts the calling thread to the first of its processors, and keeps the others in `all`; false: not possible. */
static bool take_one_processor(cpu_set_t *all, size_t size)
{
    cpu_set_t *one = sched_getaffinity(0, size, all) == 0 ? calloc(1, size) : NULL;
    size_t first = 0;
    bool taken;

    while (one && first < size * 8 - 1 && !CPU_ISSET_S(first, size, all))
        first++;
    if (one)
        CPU_SET_S(first, size, one);
    taken = one && sched_setaffinity(0, size, one) == 0;
    free(one);
    return taken;
}

void *library_load_threadless(const char *names, char *why, size_t size)
{
    enum { BYTES = (1 << 16) / 8 }; /* for as many processors as Linux can have */
    cpu_set_t *all = calloc(1, BYTES);
    bool taken = all && take_one_processor(all, BYTES);
    void *library = library_load(names, why, size);

    if (taken)
        sched_setaffinity(0, BYTES, all);
    free(all);
    return library;
}

fl_status library_status(const char *why)
{
    static const char *const passing[] = {"memory", "Too many open files", "failed to map", "cannot create"};

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (strstr(why, passing[i]))
            return FL_E_MEMORY;
    return FL_E_UNAVAILABLE;
}

fl_status library_once(library_state *state, bool (*load)(char *why, size_t size), char *why, size_t size)
{
    if (__atomic_load_n(&state->loaded, __ATOMIC_ACQUIRE))
        return FL_OK;
    pthread_mutex_lock(&state->lock);
    if (state->loaded || load(why, size))
        __atomic_store_n(&state->loaded, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&state->lock);
    return __atomic_load_n(&state->loaded, __ATOMIC_ACQUIRE) ? FL_OK : library_status(why);
}

/* POSIX: with dlsym a function's address has the size of a pointer. */
bool library_function(void *library, const char *name, void *pointer, size_t size)
{
    void *address = dlsym(library, name);

    memcpy(pointer, &address, size);
    return address != NULL;
}

/* ------------------------------------------------------------------------------- finding without loading ---- */

static bool lies_in(const char *folder, const char *name, char *path)
{
    int length = snprintf(path, LIBRARY_PATH, "%s/%s", folder, name);

    return length < LIBRARY_PATH && access(path, R_OK) == 0;
}

/* The folders that the loader searches for this plugin: built-in ones, LD_LIBRARY_PATH, the system's. NULL if unknown.
 */
static Dl_serinfo *search_folders(void)
{
    static const char here;
    Dl_info self;
    Dl_serinfo size, *folders = NULL;
    void *plugin = dladdr(&here, &self) ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;

    if (plugin && dlinfo(plugin, RTLD_DI_SERINFOSIZE, &size) == 0)
        folders = malloc(size.dls_size);
    if (folders &&
        (dlinfo(plugin, RTLD_DI_SERINFOSIZE, folders) != 0 || dlinfo(plugin, RTLD_DI_SERINFO, folders) != 0)) {
        free(folders);
        folders = NULL;
    }
    if (plugin)
        dlclose(plugin); /* drops the reference of RTLD_NOLOAD; the plugin stays loaded */
    return folders;
}

static bool lies_in_folders(const char *name, char *path)
{
    Dl_serinfo *folders = search_folders();
    bool found = false;

    for (unsigned i = 0; folders && i < folders->dls_cnt && !found; i++)
        found = lies_in(folders->dls_serpath[i].dls_name, name, path);
    free(folders);
    return found;
}

/* Returns whether one of the texts is the path of a readable file with that name; copies it to `path`. */
static bool lies_at_path_in(const char *texts, size_t size, const char *name, char *path)
{
    const char *end = texts + size, *at = texts;
    size_t length = strlen(name) + 1; /* with the terminating zero */

    while ((at = memmem(at, (size_t)(end - at), name, length)) != NULL) {
        const char *start = at;
        while (start > texts && start[-1] != '\0')
            start--;
        if (start[0] == '/' && at[-1] == '/' && access(start, R_OK) == 0)
            return snprintf(path, LIBRARY_PATH, "%s", start) < LIBRARY_PATH;
        at += length;
    }
    return false;
}

/* The loader's cache is a table followed by its names and paths, each terminated by a zero. */
static bool lies_in_cache(const char *name, char *path)
{
    int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *cache = MAP_FAILED;
    bool found = false;

    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0)
        cache = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (cache != MAP_FAILED) {
        found = lies_at_path_in(cache, (size_t)status.st_size, name, path);
        munmap(cache, (size_t)status.st_size);
    }
    if (file >= 0)
        close(file);
    return found;
}

bool library_path(const char *name, char path[LIBRARY_PATH])
{
    if (*name == '/')
        return snprintf(path, LIBRARY_PATH, "%s", name) < LIBRARY_PATH && access(name, R_OK) == 0;
    return lies_in_folders(name, path) || lies_in_cache(name, path);
}

bool library_find(const char *names)
{
    char name[LIBRARY_NAME], path[LIBRARY_PATH];

    while (library_next_name(&names, name, sizeof name))
        if (library_path(name, path))
            return true;
    return false;
}
