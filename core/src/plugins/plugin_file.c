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

/* Reads the version at the address: two numbers, which need no relocation. */
static bool read_version(const elf_file *f, uint64_t address, core_plugin_version *version, core_fault *fault)
{
    for (int i = 0; i < f->header.e_phnum; i++) {
        const elf_segment *s = &f->segments[i];
        if (s->p_type != PT_LOAD || address < s->p_vaddr || !lies_within(s->p_filesz, address - s->p_vaddr, 8))
            continue;
        uint32_t *fields = read_part(f, s->p_offset + (address - s->p_vaddr), sizeof *version, fault);
        if (!fields)
            return false;
        *version = (core_plugin_version){fields[0], fields[1]};
        free(fields);
    }
    return true;
}

static bool find_in(const elf_file *f, const elf_section *table, const char *wanted, core_plugin_version *version,
                    core_fault *fault)
{
    const size_t length = strlen(wanted) + 1;
    const elf_section *names = table->sh_link < f->header.e_shnum ? &f->sections[table->sh_link] : NULL;
    elf_symbol *symbols = names ? read_part(f, table->sh_offset, table->sh_size, fault) : NULL;
    char *text = symbols ? read_part(f, names->sh_offset, names->sh_size, fault) : NULL;
    bool read = !names || text;

    for (uint64_t i = 0; text && read && i < table->sh_size / sizeof *symbols; i++) {
        const elf_symbol *s = &symbols[i];
        if (s->st_shndx != SHN_UNDEF && lies_within(names->sh_size, s->st_name, length) &&
            memcmp(text + s->st_name, wanted, length) == 0)
            read = read_version(f, s->st_value, version, fault);
    }
    free(symbols);
    free(text);
    return read;
}

static bool find_version(const elf_file *f, const char *symbol, core_plugin_version *version, core_fault *fault)
{
    for (int i = 0; i < f->header.e_shnum; i++)
        if (f->sections[i].sh_type == SHT_DYNSYM && !find_in(f, &f->sections[i], symbol, version, fault))
            return false;
    return true;
}

static bool is_native(const elf_header *h)
{
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == NATIVE_CLASS &&
           h->e_ident[EI_DATA] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB) &&
           h->e_phentsize == sizeof(elf_segment) && (h->e_shnum == 0 || h->e_shentsize == sizeof(elf_section));
}

bool core_plugin_file_check(const char *path, const char *symbol, core_plugin_version *version, core_fault *fault)
{
    elf_file f = {.file = core_plugin_file_open(path, fault)};
    struct stat status;
    bool good = true;

    *version = (core_plugin_version){0};
    if (f.file < 0)
        return false;
    if (fstat(f.file, &status) == 0)
        f.bytes = (uint64_t)status.st_size;
    if (pread(f.file, &f.header, sizeof f.header, 0) == (ssize_t)sizeof f.header && is_native(&f.header))
        good = is_whole(&f, fault) && find_version(&f, symbol, version, fault);
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
