/* SPDX-License-Identifier: MIT */
#include "paths.h"

#include "support/fail.h"
#include "support/memory.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void path_keep_absolute(void)
{
    const char *path = getenv("PATH");
    char *given = memory_text(path ? path : ""), *rest = given, *folder;
    char *kept = memory_zeroed(strlen(given) + 1, 1), *end = kept;

    while ((folder = strsep(&rest, ":")))
        if (*folder == '/')
            end += sprintf(end, "%s%s", end == kept ? "" : ":", folder);
    if (*kept)
        setenv("PATH", kept, 1);
    else
        unsetenv("PATH");
    free(given);
    free(kept);
}

bool path_has_program(const char *name)
{
    const char *path = getenv("PATH");
    bool found = false;

    for (int length; path && *path && !found; path += length + (path[length] == ':')) {
        length = (int)strcspn(path, ":");
        char *file = memory_print("%.*s/%s", length, path, name);
        found = access(file, X_OK) == 0;
        free(file);
    }
    return found;
}

enum { MOST_LINKS = 40 }; /* as many as Linux follows */

char *path_follow(const char *path)
{
    char *at = strdup(path), link[PATH_MAX], *next;

    for (int links = 0; at != NULL; links++) {
        const ssize_t length = readlink(at, link, sizeof link - 1);
        if (length < 0) /* no link, or nothing */
            return at;
        link[length] = '\0';
        const char *slash = strrchr(at, '/');
        const int folder = slash == NULL || link[0] == '/' ? 0 : (int)(slash - at) + 1;
        if (links == MOST_LINKS || asprintf(&next, "%.*s%s", folder, at, link) < 0) {
            next = NULL;
            errno = links == MOST_LINKS ? ELOOP : ENOMEM;
        }
        free(at);
        at = next;
    }
    return NULL;
}

/* A file: device and inode of the nearest thing above it that is there, or of itself, and the names from there on. */
typedef struct place {
    dev_t device;
    ino_t inode;
    char rest[PATH_MAX]; /* "/folder/name"; "" for what is there */
} place;

/* Goes one name down. */
static void descend(place *p, const char *name)
{
    const size_t used = strlen(p->rest);
    char *last = strrchr(p->rest, '/');

    if (strcmp(name, "..") == 0 && last != NULL)
        *last = '\0';
    else if (*name != '\0' && strcmp(name, ".") != 0)
        snprintf(p->rest + used, sizeof p->rest - used, "/%s", name);
}

/* Returns whether files can be distinguished there: not below a loop of links, because such a path cannot be opened. */
static bool find_place(const char *path, place *p, struct stat *info)
{
    char *followed, *slash;
    bool found = true;

    if (stat(path, info) == 0) {
        *p = (place){.device = info->st_dev, .inode = info->st_ino};
        return true;
    }
    followed = path_follow(path);
    if (followed == NULL || strcmp(followed, ".") == 0 || strcmp(followed, "/") == 0) {
        found = false;
    } else {
        slash = strrchr(followed, '/');
        if (slash != NULL)
            *slash = '\0';
        found = find_place(slash == NULL ? "." : slash == followed ? "/" : followed, p, info);
        if (found)
            descend(p, slash == NULL ? followed : slash + 1);
    }
    free(followed);
    info->st_mode = 0; /* there is no file */
    return found;
}

/* The name of a file in messages, how it is used, and a key that distinguishes it from others. */
typedef struct claim {
    path_use use;
    char *name, *key;
} claim;

static int by_key(const void *a, const void *b)
{
    return strcmp(((const claim *)a)->key, ((const claim *)b)->key);
}

static bool destroy_each_other(path_use a, path_use b)
{
    const path_use more = a > b ? a : b, less = a > b ? b : a;

    return more > PATH_FIRST && !(more == PATH_RESULT && less == PATH_FIRST);
}

/* Declares the file with the name, which is taken. */
static void add_claim(path_use use, const char *path, char *name)
{
    static void *claims;
    claim *added = memory_zeroed(1, sizeof *added), **found;
    struct stat info;
    place p;

    *added = (claim){.use = use, .name = name};
    if (strlen(path) >= PATH_MAX || !find_place(path, &p, &info) ||
        (info.st_mode != 0 && !S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode))) {
        free(name); /* it cannot be opened, or it can be used twice */
        free(added);
        return;
    }
    added->key = memory_print("%jx:%jx%s", (uintmax_t)p.device, (uintmax_t)p.inode, p.rest);
    found = tsearch(added, &claims, by_key);
    if (found == NULL)
        fail(EXIT_BROKEN, "out of memory for the names of files");
    if (*found == added)
        return;
    if (destroy_each_other((*found)->use, use))
        fail(EXIT_BAD_INPUT, "%s and %s are the same file; expected different ones", (*found)->name, name);
    if ((*found)->use < use)
        (*found)->use = use;
    free(added->key);
    free(added);
    free(name);
}

void path_claim(path_use use, const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_claim(use, path, memory_vprint(format, arguments));
    va_end(arguments);
}

void path_claim_streams(void)
{
    struct stat out, err;
    const bool both = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0;

    path_claim(PATH_WRITTEN, "/dev/fd/1", "stdout");
    if (!both || out.st_dev != err.st_dev || out.st_ino != err.st_ino)
        path_claim(PATH_WRITTEN, "/dev/fd/2", "stderr");
}
