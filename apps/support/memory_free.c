/* SPDX-License-Identifier: MIT
 *
 * memory_free.c - how much memory this process may still take: of the machine, and of its control group.
 */
#include "memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The number after `key` at the start of a line of the file; -1: there is none ("max" is none). */
static int64_t number_in(const char *path, const char *key)
{
    FILE *file = fopen(path, "re");
    int64_t number = -1, found;
    char line[256];

    if (!file)
        return -1;
    while (number < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%" SCNd64, &found) == 1 && found >= 0)
            number = found;
    fclose(file);
    return number;
}

static int64_t number_of(const char *folder, const char *file, const char *key)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path ? number_in(path, key) : -1;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* The bytes that a cgroup may still take: its cache of files can be dropped. -1: it has no limit, or does not exist. */
static int64_t free_in_group(const char *folder, const char *limit, const char *usage, const char *cache)
{
    const int64_t most = number_of(folder, limit, ""), used = number_of(folder, usage, ""),
                  dropped = number_of(folder, "memory.stat", cache);

    if (most < 0 || used < 0)
        return -1;
    return most > used ? most - used + (dropped > 0 ? dropped : 0) : 0;
}

/* The least of the process's cgroup and of those above it, in a hierarchy that is mounted at `root`. */
static int64_t free_in_groups(const char *root, const char *group, const char *limit, const char *usage,
                              const char *cache)
{
    char folder[PATH_MAX];
    int64_t least = -1;

    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder)
        return -1;
    for (char *end = folder + strlen(folder); end >= folder + strlen(root); end = strrchr(folder, '/')) {
        *end = '\0';
        least = smaller(least, free_in_group(folder, limit, usage, cache));
    }
    return least;
}

int64_t memory_free(void)
{
    const int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    int64_t least = kilobytes < 0 ? -1 : kilobytes * 1024;
    FILE *groups = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];

    while (groups && fgets(line, sizeof line, groups)) {
        char *group = strrchr(line, ':');
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) == 0)
            least = smaller(
                least, free_in_groups("/sys/fs/cgroup", group + 1, "memory.max", "memory.current", "inactive_file "));
        else if (strstr(line, ":memory:"))
            least = smaller(least, free_in_groups("/sys/fs/cgroup/memory", group + 1, "memory.limit_in_bytes",
                                                  "memory.usage_in_bytes", "total_inactive_file "));
    }
    if (groups)
        fclose(groups);
    return least < 0 ? 0 : least;
}
