/* SPDX-License-Identifier: MIT */
#include "entries.h"
#include "folder.h"
#include "base/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------- an entry ---- */

/* Ends an entry's file, after the code and the key. */
typedef struct trailer {
    char magic[8];                            /* another one for another format */
    uint64_t code_bytes, key_bytes, checksum; /* of the code */
} trailer;

static const char magic[8] = "flynn-c1", suffix[] = ".code";
enum { DIGITS = 16, LONGEST_NAME = DIGITS + sizeof suffix };

/* 64 bits, as FNV-1a, but of words of eight bytes: for names and against damage, not against an enemy. */
static uint64_t hash_of(const void *data, size_t size)
{
    const unsigned char *next = data;
    uint64_t hash = 0xcbf29ce484222325U ^ size, word;

    for (size_t bytes; size > 0; next += bytes, size -= bytes) {
        bytes = size < sizeof word ? size : sizeof word;
        word = 0;
        memcpy(&word, next, bytes);
        hash = (hash ^ word) * 0x100000001b3U;
        hash ^= hash >> 32;
    }
    return hash;
}

/* False if the path would be too long. */
static bool name_entry(const char *folder, const void *key, size_t size, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/%0*jx%s", folder, DIGITS, (uintmax_t)hash_of(key, size), suffix) < PATH_MAX;
}

static int is_entry(const struct dirent *file)
{
    return strspn(file->d_name, "0123456789abcdef") == DIGITS && strcmp(file->d_name + DIGITS, suffix) == 0;
}

static bool read_all(int file, void *data, size_t size)
{
    char *next = data;

    for (ssize_t got; size > 0; next += got, size -= (size_t)got)
        if ((got = read(file, next, size)) <= 0)
            return false;
    return true;
}

static bool write_all(int file, const void *data, size_t size)
{
    const char *next = data;

    for (ssize_t put; size > 0; next += put, size -= (size_t)put)
        if ((put = write(file, next, size)) < 0)
            return false;
    return true;
}

/* The bytes of the code in a whole file, if it is one for this key and is not damaged; else -1. */
static int64_t check(const char *data, uint64_t bytes, const void *key, size_t size)
{
    trailer end;

    if (bytes < sizeof end + size)
        return -1;
    bytes -= sizeof end + size;
    memcpy(&end, data + bytes + size, sizeof end);
    if (memcmp(end.magic, magic, sizeof magic) != 0 || end.code_bytes != bytes || end.key_bytes != size ||
        memcmp(data + bytes, key, size) != 0 || end.checksum != hash_of(data, bytes))
        return -1;
    return (int64_t)bytes;
}

/* A regular file of this user's with its content (malloc); NULL if it is none or cannot be read. */
static char *load(int file, uint64_t *bytes)
{
    struct stat s;
    char *data;

    if (file < 0 || fstat(file, &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid())
        return NULL;
    *bytes = (uint64_t)s.st_size;
    data = malloc(*bytes + 1);
    if (data && read_all(file, data, *bytes))
        return data;
    free(data);
    return NULL;
}

static bool find_in(const char *path, const void *key, size_t size, int64_t *code_bytes)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    uint64_t bytes = 0;
    char *data = load(file, &bytes);

    int64_t code = data ? check(data, bytes, key, size) : -1;

    if (code >= 0) {
        *code_bytes = code;
        futimens(file, NULL); /* used now */
    }
    free(data);
    if (file >= 0)
        close(file);
    return code >= 0;
}

/* FL_OK, unless what is loaded would run with another user's rights. */
static fl_status check_rights(void)
{
    return getauxval(AT_SECURE) == 0
               ? FL_OK
               : core_fail(FL_E_UNAVAILABLE, "a program with another user's rights (set-uid, set-gid, capabilities) "
                                             "neither compiles nor loads functions");
}

fl_status core_cache_find(const void *key, size_t size, core_cache_entry *entry)
{
    char folder[PATH_MAX];
    core_fault fault;

    *entry = (core_cache_entry){.path = ""};
    if (check_rights() != FL_OK)
        return FL_E_UNAVAILABLE;
    if (core_cache_folder(true, folder, &fault)) {
        entry->found = name_entry(folder, key, size, entry->path) && find_in(entry->path, key, size, &entry->bytes);
        if (entry->found || core_cache_make_part(folder, entry->path, &fault))
            return FL_OK;
    }
    if (!core_cache_is_off())
        snprintf(entry->remark, sizeof entry->remark, "%.170s; %.80s", fault.cause, fault.cure);
    entry->temporary = true;
    if (core_cache_make_temporary(entry->path, &fault))
        return FL_OK;
    return core_fail(fault.status, "cannot compile: %s; set TMPDIR to another folder", fault.cause);
}

/* Appends key and trailer to the code in the file. */
static bool complete(const char *path, const void *key, size_t size)
{
    int file = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    uint64_t bytes = 0;
    char *code = load(file, &bytes);
    bool good = false;

    if (code) {
        trailer end = {.code_bytes = bytes, .key_bytes = size, .checksum = hash_of(code, bytes)};
        memcpy(end.magic, magic, sizeof magic);
        good = write_all(file, key, size) && write_all(file, &end, sizeof end) && fchmod(file, 0600) == 0;
    }
    free(code);
    return file >= 0 && close(file) == 0 && good;
}

/* --------------------------------------------------------------------------------------------- all of them ---- */

enum { MOST_BYTES = 256 << 20, KEPT_BETWEEN = 64 };

typedef struct used {
    char name[LONGEST_NAME];
    int64_t bytes;
    struct timespec last;
} used;

/* The entries of the folder, which the caller frees, and their sum: how many, or -1 with errno. */
static int list_entries(const char *folder, used **entries, int64_t *bytes)
{
    const int at = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct dirent **names = NULL;
    int found = at < 0 ? -1 : scandirat(at, ".", &names, is_entry, NULL), count = 0;
    const int error = found < 0 ? errno : ENOMEM;
    used *all = calloc((size_t)(found > 0 ? found : 1), sizeof *all);
    struct stat s;

    *bytes = 0;
    for (int i = 0; i < found; i++) {
        if (all && fstatat(at, names[i]->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode)) {
            memcpy(all[count].name, names[i]->d_name, LONGEST_NAME);
            all[count].last = s.st_mtim;
            *bytes += all[count++].bytes = s.st_size;
        }
        free(names[i]);
    }
    free(names);
    if (at >= 0)
        close(at);
    *entries = all;
    errno = error;
    return all && found >= 0 ? count : -1;
}

static int by_last_use(const void *a, const void *b)
{
    const struct timespec *x = &((const used *)a)->last, *y = &((const used *)b)->last;

    return x->tv_sec != y->tv_sec ? (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec)
                                  : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Another process may do the same at the same time: what it removed counts as removed. */
static void prune(const char *folder)
{
    char path[PATH_MAX];
    int64_t bytes;
    used *all;
    const int count = list_entries(folder, &all, &bytes);

    if (bytes > MOST_BYTES)
        qsort(all, (size_t)count, sizeof *all, by_last_use);
    for (int i = 0; bytes > MOST_BYTES && i < count; bytes -= all[i++].bytes)
        if (snprintf(path, sizeof path, "%s/%s", folder, all[i].name) < PATH_MAX)
            unlink(path);
    free(all);
}

bool core_cache_keep(const void *key, size_t size, core_cache_entry *entry)
{
    static atomic_uint count;
    char folder[PATH_MAX], kept[PATH_MAX];

    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(entry->path, '/') - entry->path), entry->path);
    if (entry->temporary || !complete(entry->path, key, size) || !name_entry(folder, key, size, kept) ||
        rename(entry->path, kept) != 0) {
        core_cache_drop(entry);
        return false;
    }
    strcpy(entry->path, kept);
    if (atomic_fetch_add(&count, 1) % KEPT_BETWEEN == 0) { /* a process often keeps one, and some keep many */
        core_cache_remove_left_behind(folder);
        prune(folder);
    }
    return true;
}

void core_cache_drop(core_cache_entry *entry)
{
    if (entry->temporary)
        core_cache_remove_temporary(entry->path);
    else
        unlink(entry->path);
}

fl_status fl_cache_folder(bool make, char *folder, size_t size)
{
    char base[PATH_MAX];
    core_fault fault;

    if (!folder)
        return core_fail(FL_E_ARGUMENT, "fl_cache_folder: folder is NULL");
    if (check_rights() != FL_OK)
        return FL_E_UNAVAILABLE;
    if (!core_cache_base(make, base, &fault))
        return core_fail(fault.status, "%s; %s", fault.cause, fault.cure);
    if ((size_t)snprintf(folder, size, "%s", base) >= size)
        return core_fail(FL_E_ARGUMENT, "fl_cache_folder: the folder's name has %zu bytes, and size is %zu",
                         strlen(base), size);
    return FL_OK;
}

fl_status fl_cache_describe(char *folder, size_t size, int64_t *entries, int64_t *bytes)
{
    char found[PATH_MAX];
    core_fault fault;
    int64_t sum;
    used *all;
    int count;

    if (!folder || !entries || !bytes)
        return core_fail(FL_E_ARGUMENT, "fl_cache_describe: %s is NULL",
                         !folder    ? "folder"
                         : !entries ? "entries"
                                    : "bytes");
    if (check_rights() != FL_OK)
        return FL_E_UNAVAILABLE;
    if (!core_cache_folder(false, found, &fault))
        return core_fail(fault.status, "compiled functions are not kept: %s; %s", fault.cause, fault.cure);
    count = list_entries(found, &all, &sum);
    free(all);
    if (count < 0 && errno != ENOENT)
        return core_fail(FL_E_MEMORY, "%.150s: %s", found, strerror(errno));
    snprintf(folder, size, "%s", found);
    *entries = count < 0 ? 0 : count;
    *bytes = sum;
    return FL_OK;
}
