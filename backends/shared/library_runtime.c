/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "library_runtime.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- what a file says of its libraries ---- */

/* A library's file in memory; its format is in System V's ABI, "Program Loading and Dynamic Linking". */
typedef struct elf {
    const char *bytes;
    size_t size;
    ElfW(Ehdr) header;
} elf;

static bool read_at(const elf *e, uint64_t offset, void *to, size_t bytes)
{
    if (offset > e->size || bytes > e->size - offset)
        return false;
    memcpy(to, e->bytes + offset, bytes);
    return true;
}

/* The i-th segment; false if there is none. */
static bool segment(const elf *e, unsigned i, ElfW(Phdr) * s)
{
    return i < e->header.e_phnum && read_at(e, e->header.e_phoff + (uint64_t)i * sizeof *s, s, sizeof *s);
}

/* Where in the file the byte is that the loader maps to `address`; the file's size if nowhere. */
static uint64_t offset_of(const elf *e, uint64_t address)
{
    ElfW(Phdr) s;

    for (unsigned i = 0; segment(e, i, &s); i++)
        if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
            return s.p_offset + (address - s.p_vaddr);
    return e->size;
}

/* The next entry of the dynamic section from *i on that has this tag; false: there is none. */
static bool next_entry(const elf *e, const ElfW(Phdr) * dynamic, int64_t tag, size_t *i, uint64_t *value)
{
    ElfW(Dyn) entry;

    while ((*i + 1) * sizeof entry <= dynamic->p_filesz &&
           read_at(e, dynamic->p_offset + *i * sizeof entry, &entry, sizeof entry) && entry.d_tag != DT_NULL) {
        ++*i;
        *value = entry.d_un.d_val;
        if (entry.d_tag == tag)
            return true;
    }
    return false;
}

/* Copies the first text of this tag that starts with `prefix`; false: there is none. */
static bool dynamic_text(const elf *e, const ElfW(Phdr) * dynamic, int64_t tag, const char *prefix, char *text,
                         size_t size)
{
    size_t i = 0;
    uint64_t value, texts;

    if (!next_entry(e, dynamic, DT_STRTAB, &i, &value))
        return false;
    texts = offset_of(e, value);
    i = 0;
    while (next_entry(e, dynamic, tag, &i, &value)) {
        uint64_t at = texts + value;
        const char *found = e->bytes + at;
        if (at < texts || at >= e->size || !memchr(found, '\0', e->size - at))
            return false;
        if (strncmp(found, prefix, strlen(prefix)) == 0)
            return snprintf(text, size, "%s", found) < (int)size;
    }
    return false;
}

static bool text_in(const elf *e, int64_t tag, const char *prefix, char *text, size_t size)
{
    ElfW(Phdr) s;

    for (unsigned i = 0; segment(e, i, &s); i++)
        if (s.p_type == PT_DYNAMIC)
            return dynamic_text(e, &s, tag, prefix, text, size);
    return false;
}

/* text_in for a file; false also if it is not a library for this machine. */
static bool text_of_file(const char *path, int64_t tag, const char *prefix, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes = MAP_FAILED;
    bool found = false;

    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
        elf e = {.bytes = bytes, .size = (size_t)status.st_size};
        found = read_at(&e, 0, &e.header, sizeof e.header) && memcmp(e.header.e_ident, ELFMAG, SELFMAG) == 0 &&
                e.header.e_ident[EI_CLASS] == __ELF_NATIVE_CLASS / 32 && e.header.e_phentsize == sizeof(ElfW(Phdr)) &&
                text_in(&e, tag, prefix, text, size);
        munmap(bytes, e.size);
    }
    if (file >= 0)
        close(file);
    return found;
}

/* ----------------------------------------------------------------------------------------- the same runtime ---- */

/* The runtime's name here, such as "libamdhip64.so.5". */
static void name_here(const library_runtime *runtime, char *name, size_t size)
{
    Dl_info info;
    const char *path = dladdr(runtime->address, &info) && info.dli_fname ? info.dli_fname : runtime->files;

    if (!text_of_file(path, DT_SONAME, runtime->files, name, size))
        snprintf(name, size, "%s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
}

/* Returns whether the library's own list names no other version of the runtime; else `why` is the reason. */
static bool fits(const library_runtime *runtime, const char *name, const char *path, char *why, size_t size)
{
    char here[LIBRARY_NAME], needed[LIBRARY_NAME];

    name_here(runtime, here, sizeof here);
    if (!text_of_file(path, DT_NEEDED, runtime->files, needed, sizeof needed) || strcmp(here, needed) == 0)
        return true;
    snprintf(why, size, "%.60s needs %.40s, but this plugin has %.40s", name, needed, here);
    return false;
}

/* Returns whether the loaded library calls the runtime that is here, or none. */
static bool calls(const library_runtime *runtime, void *library, const char *name, char *why, size_t size)
{
    const void *address = dlsym(library, runtime->function);
    const char *other;
    char here[LIBRARY_NAME];
    Dl_info info;

    if (!address || address == runtime->address)
        return true;
    name_here(runtime, here, sizeof here);
    other = dladdr(address, &info) ? strrchr(info.dli_fname, '/') : NULL;
    snprintf(why, size, "%.60s calls %.40s, but this plugin has %.40s", name, other ? other + 1 : "another runtime",
             here);
    return false;
}

/* A library that the process has already is taken first, as the loader does it: no file is looked at. */
static void *load_one(const library_runtime *runtime, const char *name, const char *path, char *why, size_t size)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | RTLD_NOLOAD);

    if (!library && fits(runtime, name, path, why, size))
        library = library_load(name, why, size);
    return library && calls(runtime, library, name, why, size) ? library : NULL;
}

/* Searches for a library that fits, and loads it into *loaded unless that is NULL. Of several that are there and do not
 * fit, `why` is the reason of the first. */
static bool search(const library_runtime *runtime, const char *names, void **loaded, char *why, size_t size)
{
    const char *next = names;
    char name[LIBRARY_NAME], path[LIBRARY_PATH], reason[320];
    bool has_reason = false;

    while (library_next_name(&next, name, sizeof name)) {
        if (!library_path(name, path))
            continue;
        if (loaded ? (*loaded = load_one(runtime, name, path, reason, sizeof reason)) != NULL
                   : fits(runtime, name, path, reason, sizeof reason))
            return true;
        if (!has_reason)
            snprintf(why, size, "%s", reason);
        has_reason = true;
    }
    if (!has_reason)
        snprintf(why, size, "%s not found", names);
    return false;
}

void *library_load_for(const library_runtime *runtime, const char *names, char *why, size_t size)
{
    void *library = NULL;

    return search(runtime, names, &library, why, size) ? library : NULL;
}

bool library_find_for(const library_runtime *runtime, const char *names, char *why, size_t size)
{
    return search(runtime, names, NULL, why, size);
}
