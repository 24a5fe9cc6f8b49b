/* SPDX-License-Identifier: MIT
 *
 * same.c - compares facts that must be the same on all ranks, such as options and the build of the plugin that
 * computes. If they are, ranks exchange only a hash.
 */
#include "group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- facts ---- */

/* Returns the next fact; facts are texts that follow each other. NULL: this was the last one. */
static const char *next_fact(const char *fact, const char *end)
{
    fact = memchr(fact, '\0', (size_t)(end - fact));
    return fact && fact + 1 < end ? fact + 1 : NULL;
}

/* Returns the fact of this name, which ends at '=' or with the text; NULL: none has it. */
static const char *find_fact(const char *facts, const char *end, const char *name)
{
    const size_t length = strcspn(name, "=");
    const char *fact = facts < end ? facts : NULL;

    while (fact && (strcspn(fact, "=") != length || strncmp(fact, name, length) != 0))
        fact = next_fact(fact, end);
    return fact;
}

/* Writes the first difference: "has --size=3, and rank 0 has --size=2". */
static void describe(const char *own, const char *own_end, const char *first, const char *first_end, char *text,
                     size_t size)
{
    for (const char *fact = own < own_end ? own : NULL; fact; fact = next_fact(fact, own_end)) {
        const char *other = find_fact(first, first_end, fact);
        if (!other)
            snprintf(text, size, "has %.200s, and rank 0 has no %.*s", fact, (int)strcspn(fact, "="), fact);
        else if (strcmp(fact, other) != 0)
            snprintf(text, size, "has %.200s, and rank 0 has %.200s", fact, other);
        else
            continue;
        return;
    }
    for (const char *fact = first < first_end ? first : NULL; fact; fact = next_fact(fact, first_end))
        if (!find_fact(own, own_end, fact)) {
            snprintf(text, size, "has no %.*s, and rank 0 has %.200s", (int)strcspn(fact, "="), fact, fact);
            return;
        }
    snprintf(text, size, "has the same in another order than rank 0");
}

typedef struct summary {
    int64_t bytes;
    uint64_t hash;
} summary;

static fl_status find_difference(fl_group *group, const char *facts, int64_t bytes, int64_t first_bytes)
{
    char text[500] = "", *first = malloc((size_t)first_bytes + 1);
    fl_status status = fl_group_agree(group, first ? FL_OK : FL_E_MEMORY, "out of host memory");

    if (status == FL_OK && group->info.rank == 0)
        memcpy(first, facts, (size_t)bytes);
    if (status == FL_OK)
        status = fl_group_broadcast(group, first, first_bytes);
    if (status == FL_OK) {
        if (bytes != first_bytes || memcmp(facts, first, (size_t)bytes) != 0)
            describe(facts, facts + bytes, first, first + first_bytes, text, sizeof text);
        status = fl_group_agree(group, *text ? FL_E_ARGUMENT : FL_OK, text);
    }
    free(first);
    return status;
}

fl_status fl_group_same(fl_group *group, const void *facts, int64_t bytes, const char *differs)
{
    const summary own = {bytes, dist_hash(facts, (size_t)bytes)};
    summary *all = calloc((size_t)group->info.size, sizeof *all);
    bool same = true;
    fl_status status;

    dist_call(group, "fl_group_same");
    status = fl_group_agree(group, all ? FL_OK : FL_E_MEMORY, "out of host memory");
    if (status != FL_OK || !all) { /* a rank is out of memory */
        free(all);
        return status;
    }
    if (group->link)
        status = group->link->gather(&own, all, sizeof own);
    for (int r = 1; r < group->info.size && status == FL_OK; r++)
        same = same && all[r].bytes == all[0].bytes && all[r].hash == all[0].hash;
    if (status == FL_OK && !same && differs)
        status = fl_group_agree(group, own.bytes != all[0].bytes || own.hash != all[0].hash ? FL_E_ARGUMENT : FL_OK,
                                differs);
    else if (status == FL_OK && !same)
        status = find_difference(group, facts, bytes, all[0].bytes);
    free(all);
    return status;
}

/* ------------------------------------------------------------------------------------------------ builds ---- */

/* A plugin's name, and a hash of its file; 0: it is not known. */
typedef struct build {
    char plugin[48];
    uint64_t hash;
} build;

static uint64_t hash_of_file(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *content = MAP_FAILED;
    uint64_t hash = 0;

    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0)
        content = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (content != MAP_FAILED) {
        hash = dist_hash(content, (size_t)status.st_size);
        munmap(content, (size_t)status.st_size);
    }
    if (file >= 0)
        close(file);
    return hash;
}

static build build_of(const fl_device *device)
{
    const char *name = fl_device_describe(device)->backend;
    const fl_backend_info *info;
    build own = {.hash = 0};

    snprintf(own.plugin, sizeof own.plugin, "%s", name);
    for (size_t i = 0; (info = fl_backend_get(i)); i++)
        if (strcmp(info->name, name) == 0)
            own.hash = hash_of_file(info->path);
    return own;
}

fl_status fl_group_same_build(fl_group *group, const fl_device *device)
{
    const int rank = group->info.rank;
    build own, *all = calloc((size_t)group->info.size, sizeof *all);
    char text[120] = "";
    fl_status status;

    dist_call(group, "fl_group_same_build");
    status = fl_group_agree(group, all ? FL_OK : FL_E_MEMORY, "out of host memory");
    if (status != FL_OK || !group->link) {
        free(all);
        return status;
    }
    own = build_of(device);
    status = group->link->gather(&own, all, sizeof own);
    for (int r = 0; r < rank && status == FL_OK && !*text; r++)
        if (strcmp(all[r].plugin, own.plugin) == 0 && all[r].hash && own.hash && all[r].hash != own.hash)
            snprintf(text, sizeof text, "its plugin %s is not the build that rank %d has", own.plugin, r);
    free(all);
    return status == FL_OK ? fl_group_agree(group, *text ? FL_E_ARGUMENT : FL_OK, text) : status;
}
