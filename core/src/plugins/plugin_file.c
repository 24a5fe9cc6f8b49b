/* SPDX-License-Identifier: MIT */
#include "plugin_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <link.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool core_fault_set(core_fault *fault, fl_status status, const char *cure, const char *cause, ...)
{
    va_list arguments;

    fault->status = status;
    va_start(arguments, cause);
    vsnprintf(fault->cause, sizeof fault->cause, cause, arguments);
    va_end(arguments);
    fault->cause[strcspn(fault->cause, "\n")] = '\0';
    if (!*fault->cause) /* the words are a plugin's, and their first line is empty */
        snprintf(fault->cause, sizeof fault->cause, "it does not say why");
    snprintf(fault->cure, sizeof fault->cure, "%.*s", (int)strcspn(cure, "\n"), cure);
    if (!*fault->cure)
        snprintf(fault->cure, sizeof fault->cure, "report this to the plugin's author");
    return false;
}

/* ---------------------------------------------------------------------------------------------- opening ---- */

/* Memory and file descriptors can be there at the next try. */
static bool cannot_open(core_fault *fault, int error)
{
    if (error == ENOMEM || error == EMFILE || error == ENFILE || error == EIO)
        return core_fault_set(fault, FL_E_MEMORY, "try again when more is free", "the file cannot be opened: %s",
                              strerror(error));
    return core_fault_set(fault, FL_E_UNAVAILABLE, "make the file readable", "the file cannot be opened: %s",
                          strerror(error));
}

int core_plugin_file_open(const char *path, core_fault *fault)
{
    struct stat status;
    int file = -1, error = 0;

    /* Looked at twice: opening a device can act on it, and the file can be replaced in between. */
    if (stat(path, &status) != 0) {
        error = errno;
    } else if (S_ISREG(status.st_mode)) {
        file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        error = file < 0 || fstat(file, &status) != 0 ? errno : 0;
    }
    if (error == 0 && S_ISREG(status.st_mode))
        return file;
    if (file >= 0)
        close(file);
    if (error != 0)
        cannot_open(fault, error);
    else
        core_fault_set(fault, FL_E_UNAVAILABLE, "remove it, or put a plugin there", "it is not a regular file");
    return -1;
}

/* ------------------------------------------------------------------------------------------- ELF tables ---- */

typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;
typedef ElfW(Shdr) elf_section;
typedef ElfW(Sym) elf_symbol;
typedef ElfW(Rela) elf_relocation;

enum { NATIVE_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 };

/* An open file and its tables. */
typedef struct elf_file {
    int file;
    uint64_t bytes;
    elf_header header;
    elf_segment *segments;
    elf_section *sections;
} elf_file;

static bool lies_within(uint64_t bytes, uint64_t offset, uint64_t size)
{
    return offset <= bytes && size <= bytes - offset;
}

/* `size` bytes of the file from `offset` on; NULL with `fault` filled. */
static void *read_part(const elf_file *f, uint64_t offset, uint64_t size, core_fault *fault)
{
    void *part;

    if (!lies_within(f->bytes, offset, size)) {
        core_fault_set(fault, FL_E_UNAVAILABLE, "copy or build the plugin again",
                       "the file is incomplete: it has %llu bytes, its ELF tables need %llu",
                       (unsigned long long)f->bytes, (unsigned long long)(offset + size));
        return NULL;
    }
    part = malloc(size ? size : 1);
    if (part && pread(f->file, part, size, (off_t)offset) == (ssize_t)size)
        return part;
    cannot_open(fault, part ? errno : ENOMEM);
    free(part);
    return NULL;
}

/* Returns whether the tables, and what they say is in the file, lie within it. */
static bool is_whole(elf_file *f, core_fault *fault)
{
    const elf_header *h = &f->header;

    f->segments = read_part(f, h->e_phoff, (uint64_t)h->e_phnum * sizeof *f->segments, fault);
    f->sections = f->segments ? read_part(f, h->e_shoff, (uint64_t)h->e_shnum * sizeof *f->sections, fault) : NULL;
    for (int i = 0; f->sections && i < h->e_phnum; i++) {
        const elf_segment *s = &f->segments[i];
        if (s->p_type == PT_LOAD && !lies_within(f->bytes, s->p_offset, s->p_filesz))
            return core_fault_set(fault, FL_E_UNAVAILABLE, "copy or build the plugin again",
                                  "the file is incomplete: it has %llu bytes, a segment ends at %llu",
                                  (unsigned long long)f->bytes, (unsigned long long)(s->p_offset + s->p_filesz));
    }
    return f->sections != NULL;
}

/* Finds what is mapped at the address: returns how many bytes of the file are mapped from there on (0: none), and sets
 * `offset` to their place in the file. */
static uint64_t find_mapped(const elf_file *f, uint64_t address, uint64_t *offset)
{
    for (int i = 0; i < f->header.e_phnum; i++) {
        const elf_segment *s = &f->segments[i];
        if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr >= s->p_filesz)
            continue;
        *offset = s->p_offset + (address - s->p_vaddr);
        return s->p_filesz - (address - s->p_vaddr);
    }
    return 0;
}

static bool find_in(const elf_file *f, const elf_section *table, const char *wanted, uint64_t *address,
                    core_fault *fault)
{
    const size_t length = strlen(wanted) + 1;
    const elf_section *names = table->sh_link < f->header.e_shnum ? &f->sections[table->sh_link] : NULL;
    elf_symbol *symbols = names ? read_part(f, table->sh_offset, table->sh_size, fault) : NULL;
    char *text = symbols ? read_part(f, names->sh_offset, names->sh_size, fault) : NULL;

    for (uint64_t i = 0; text && i < table->sh_size / sizeof *symbols; i++) {
        const elf_symbol *s = &symbols[i];
        if (s->st_shndx != SHN_UNDEF && lies_within(names->sh_size, s->st_name, length) &&
            memcmp(text + s->st_name, wanted, length) == 0)
            *address = s->st_value;
    }
    free(symbols);
    free(text);
    return !names || text;
}

/* Writes to the data, which are at the address, the pointers that the loader will write there: addresses in the file,
 * or 0 where it looks for a symbol first. Other formats of relocations leave the address in the file. */
static bool relocate(const elf_file *f, uint64_t address, const core_plugin_data *data, core_fault *fault)
{
    const int symbol = sizeof(void *) == 8 ? 32 : 8; /* the first bit of its number */

    for (int i = 0; i < f->header.e_shnum; i++) {
        const elf_section *s = &f->sections[i];
        const bool loaded = s->sh_type == SHT_RELA && (s->sh_flags & SHF_ALLOC);
        elf_relocation *all = loaded ? read_part(f, s->sh_offset, s->sh_size, fault) : NULL;
        if (loaded && !all)
            return false;
        for (uint64_t k = 0; loaded && k < s->sh_size / sizeof *all; k++) {
            const uintptr_t pointer = all[k].r_info >> symbol ? 0 : (uintptr_t)all[k].r_addend;
            if (all[k].r_offset >= address && lies_within(data->size, all[k].r_offset - address, sizeof pointer))
                memcpy((char *)data->data + (all[k].r_offset - address), &pointer, sizeof pointer);
        }
        free(all);
    }
    return true;
}

/* Copies the text at the address; NULL: there is none. */
static bool copy_text(const elf_file *f, uint64_t address, char **copy, core_fault *fault)
{
    uint64_t offset, size = address ? find_mapped(f, address, &offset) : 0;
    char *text;

    *copy = NULL;
    if (size == 0)
        return true;
    size = size < CORE_LONGEST_TEXT ? size : CORE_LONGEST_TEXT;
    text = read_part(f, offset, size, fault);
    if (text && memchr(text, '\0', size))
        *copy = text;
    else
        free(text);
    return text != NULL;
}

static bool read_data(const elf_file *f, uint64_t address, const core_plugin_data *data, core_fault *fault)
{
    uint64_t offset, size = address ? find_mapped(f, address, &offset) : 0;
    core_plugin_version version;
    bool good;
    void *part;

    if (size < sizeof version)
        return true;
    size = size < data->size ? size : data->size;
    part = read_part(f, offset, size, fault);
    if (!part)
        return false;
    memcpy(data->data, part, size);
    memcpy(&version, part, sizeof version);
    free(part);
    good = data->text_count == 0 || relocate(f, address, data, fault);
    if (version.size < data->size) /* what follows is not the plugin's: it was built with an older header */
        memset((char *)data->data + version.size, 0, data->size - version.size);
    for (size_t i = 0; i < data->text_count; i++) {
        char *place = (char *)data->data + data->texts[i], *text = NULL;
        uintptr_t pointer;
        memcpy(&pointer, place, sizeof pointer);
        good = good && copy_text(f, pointer, &text, fault);
        memcpy(place, &text, sizeof text);
    }
    return good;
}

static bool find_data(const elf_file *f, const char *symbol, const core_plugin_data *data, core_fault *fault)
{
    uint64_t address = 0;

    for (int i = 0; i < f->header.e_shnum; i++)
        if (f->sections[i].sh_type == SHT_DYNSYM && !find_in(f, &f->sections[i], symbol, &address, fault))
            return false;
    return read_data(f, address, data, fault);
}

static bool is_native(const elf_header *h)
{
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == NATIVE_CLASS &&
           h->e_ident[EI_DATA] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB) &&
           h->e_phentsize == sizeof(elf_segment) && (h->e_shnum == 0 || h->e_shentsize == sizeof(elf_section));
}

bool core_plugin_file_read(const char *path, const char *symbol, const core_plugin_data *data, core_fault *fault)
{
    elf_file f = {.file = core_plugin_file_open(path, fault)};
    struct stat status;
    bool good = true;

    memset(data->data, 0, data->size);
    if (f.file < 0)
        return false;
    if (fstat(f.file, &status) == 0)
        f.bytes = (uint64_t)status.st_size;
    if (pread(f.file, &f.header, sizeof f.header, 0) == (ssize_t)sizeof f.header && is_native(&f.header))
        good = is_whole(&f, fault) && find_data(&f, symbol, data, fault);
    free(f.segments);
    free(f.sections);
    close(f.file);
    return good;
}

/* ---------------------------------------------------------------------------------------------- trusting ---- */

/* Returns whether a group is a user's own, which many systems create for each user: it has the user's number and name,
 * and no other member. Users who have it as their primary group are looked for in /etc/passwd only, because a directory
 * service may take minutes to list its users. */
static bool is_own_group(gid_t group, uid_t user)
{
    enum { ROOM = 16 << 10 };
    char names[ROOM], members[ROOM];
    struct passwd person, *owner;
    struct group people, *found;
    bool own = true;
    FILE *users;

    if (group != (gid_t)user || getpwuid_r(user, &person, names, sizeof names, &owner) != 0 || !owner ||
        getgrgid_r(group, &people, members, sizeof members, &found) != 0 || !found ||
        strcmp(people.gr_name, person.pw_name) != 0)
        return false;
    for (char **member = people.gr_mem; *member; member++)
        own = own && strcmp(*member, people.gr_name) == 0;
    users = fopen("/etc/passwd", "re");
    while (own && users && fgetpwent_r(users, &person, names, sizeof names, &owner) == 0)
        own = person.pw_gid != group || person.pw_uid == user;
    if (users)
        fclose(users);
    return own;
}

const char *core_plugin_file_stranger(const struct stat *s, uid_t trusted)
{
    if (s->st_uid != 0 && s->st_uid != geteuid() && s->st_uid != trusted)
        return "its owner";
    if (s->st_mode & S_IWOTH)
        return "everyone";
    return s->st_mode & S_IWGRP && s->st_gid != 0 && !is_own_group(s->st_gid, s->st_uid) ? "its group" : NULL;
}

/* Whoever can write libflynn can do what a plugin can. */
static uid_t find_owner_of_libflynn(void)
{
    static const char here;
    struct stat status;
    Dl_info self;

    return dladdr(&here, &self) && stat(self.dli_fname, &status) == 0 ? status.st_uid : geteuid();
}

static bool is_safe(const char *path, uid_t owner_of_libflynn, core_fault *fault)
{
    struct stat status;
    const char *who = stat(path, &status) == 0 ? core_plugin_file_stranger(&status, owner_of_libflynn) : NULL;

    if (!who)
        return true; /* if it is not there, opening it says so */
    return core_fault_set(fault, FL_E_UNAVAILABLE,
                          "take the right to write away (chmod, chown), or name the plugin's folder in "
                          "FLYNN_PLUGIN_PATH",
                          "not loaded, since another user could have put it there: %s can write to %.150s", who, path);
}

/* Cuts the file's name off. */
static const char *folder_of(char *path)
{
    char *slash = strrchr(path, '/');

    *(slash && slash > path ? slash : path + strlen(path)) = '\0';
    return path;
}

bool core_plugin_file_trusted(const char *path, core_fault *fault)
{
    const uid_t owner = find_owner_of_libflynn();
    char given[PATH_MAX], real[PATH_MAX];

    if ((size_t)snprintf(given, sizeof given, "%s", path) >= sizeof given || !realpath(path, real))
        return true; /* opening it says why */
    return is_safe(folder_of(given), owner, fault) && is_safe(real, owner, fault) &&
           is_safe(folder_of(real), owner, fault); /* of what a link leads to */
}
