/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include "view/json.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of caches (XDG Base Directory Specification). */
static bool find_folder(char *folder, size_t size)
{
    const char *own = getenv("FLYNN_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;

    if (own && *own)
        length = snprintf(folder, size, "%s", own);
    else if (xdg && *xdg == '/')
        length = snprintf(folder, size, "%s/flynn", xdg);
    else if (home && *home)
        length = snprintf(folder, size, "%s/.cache/flynn", home);
    return length > 0 && (size_t)length < size;
}

const char *cache_path(const char *file)
{
    static char path[PATH_MAX];
    char folder[PATH_MAX - 64];

    *path = '\0';
    if (find_folder(folder, sizeof folder))
        snprintf(path, sizeof path, "%s/%.60s", folder, file);
    return path;
}

/* Makes the folder of `path` and those above it. */
static bool make_folders(const char *path, problem *why)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return problem_set(why, EXIT_BROKEN, "%s: %s", folder, strerror(errno));
        *slash = '/';
    }
    return true;
}

json_t *cache_load(const char *file)
{
    const char *path = cache_path(file);
    json_t *kept = *path ? json_load_file(path, 0, NULL) : NULL;

    if (json_is_object(kept))
        return kept;
    json_decref(kept);
    return json_new_object();
}

bool cache_save(const char *file, const json_t *kept, problem *why)
{
    const char *path = cache_path(file);

    if (!*path)
        return problem_set(why, EXIT_BROKEN, "%s cannot be saved; set FLYNN_CACHE, XDG_CACHE_HOME or HOME", file);
    return make_folders(path, why) && json_write(kept, path, why);
}

const char *cache_host(void)
{
    static char text[260];
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text, "%s/", host);
    return text;
}

const char *cache_key(const char *resource, const char *name)
{
    static char key[512];

    snprintf(key, sizeof key, "%s%s/%s", cache_host(), resource, name);
    return key;
}
