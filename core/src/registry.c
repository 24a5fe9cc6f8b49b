/* SPDX-License-Identifier: MIT */
#include "registry.h"

#include "names.h"
#include "status.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLUGINS = 64 };

static struct {
    pthread_mutex_t lock;
    bool scanned, sorted;
    size_t count;
    core_plugin *plugins[MOST_PLUGINS];
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---------------------------------------------------------------------------------------- finding files ---- */

static core_plugin *known(const char *name)
{
    for (size_t i = 0; i < registry.count; i++)
        if (strcmp(registry.plugins[i]->info.name, name) == 0)
            return registry.plugins[i];
    return NULL;
}

/* Adds folder/flynn-<name><suffix> to the registry unless an earlier folder had a plugin of that name. */
static void take(const char *folder, const char *file, const char *suffix)
{
    size_t length = strlen(file), end = strlen(suffix), start = strlen("flynn-");
    char path[PATH_MAX];
    core_plugin *p;
    char *name;

    if (length <= start + end || strncmp(file, "flynn-", start) != 0 || strcmp(file + length - end, suffix) != 0)
        return;
    name = strndup(file + start, length - start - end);
    p = calloc(1, sizeof *p);
    if (!name || !p || known(name) || registry.count == MOST_PLUGINS ||
        snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) {
        free(name);
        free(p);
        return;
    }
    p->info =
        (fl_backend_info){.name = name, .path = strdup(path), .family = p->family, .flynn_class = "", .built_with = ""};
    if (strchr(name, '-'))
        snprintf(p->family, sizeof p->family, "%.*s", (int)strcspn(name, "-"), name);
    if (strcmp(suffix, ".missing") == 0)
        core_plugin_read_note(p);
    registry.plugins[registry.count++] = p;
}

/* In alphabetical order, plugins before notes, so that the result does not depend on the file system. */
static void search(const char *folder)
{
    static const char *const suffixes[] = {".so", ".missing"};
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);

    for (int s = 0; s < 2; s++)
        for (int i = 0; i < count; i++)
            take(folder, entries[i]->d_name, suffixes[s]);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    if (count >= 0)
        free(entries);
}

/* Searches FLYNN_PLUGIN_PATH, the folder of libflynn, then flynn/ in that folder, where `make install` puts plugins. An
 * empty entry would mean the current folder, which is never searched. secure_getenv returns NULL in a set-uid program.
 */
static void scan(void)
{
    const char *path = secure_getenv("FLYNN_PLUGIN_PATH");
    char folder[PATH_MAX], installed[PATH_MAX + 8];
    Dl_info self;

    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length > 0 && length < sizeof folder) {
            snprintf(folder, sizeof folder, "%.*s", (int)length, path);
            search(folder);
        }
        path += length + (path[length] == ':');
    }
    if (dladdr((const void *)&registry, &self) && realpath(self.dli_fname, folder)) {
        *strrchr(folder, '/') = '\0';
        search(folder);
        snprintf(installed, sizeof installed, "%s/flynn", folder);
        search(installed);
    }
}

static int by_score(const void *a, const void *b)
{
    const core_plugin *p = *(core_plugin *const *)a, *q = *(core_plugin *const *)b;

    if (p->info.score != q->info.score)
        return p->info.score < q->info.score ? 1 : -1;
    return strcmp(p->info.name, q->info.name);
}

static void scan_once(void)
{
    if (!registry.scanned)
        scan();
    registry.scanned = true;
}

static void load_all(void)
{
    scan_once();
    if (registry.sorted)
        return;
    for (size_t i = 0; i < registry.count; i++)
        core_plugin_load(registry.plugins[i]);
    qsort(registry.plugins, registry.count, sizeof registry.plugins[0], by_score);
    registry.sorted = true;
}

/* ------------------------------------------------------------------------------------- names to plugins ---- */

static bool means(const char *name, const core_plugin *p)
{
    return !p->info.emulation && (strcmp(name, "auto") == 0 || strcmp(name, p->info.family) == 0);
}

/* The error for a name that is neither a plugin nor a family: lists both. */
static fl_status unknown(const char *name)
{
    const char *names[2 * MOST_PLUGINS + 1];
    char suggestion[512];
    size_t count = 0;

    for (size_t i = 0; i < registry.count; i++) {
        const fl_backend_info *info = &registry.plugins[i]->info;
        bool listed = !*info->family;
        for (size_t j = 0; j < count; j++)
            listed = listed || strcmp(names[j], info->family) == 0;
        names[count++] = info->name;
        if (!listed && !info->emulation)
            names[count++] = info->family;
    }
    names[count++] = "auto";
    return core_fail(FL_E_UNKNOWN, "'%s' is not a backend%s", name,
                     core_suggest(suggestion, sizeof suggestion, name, names, count));
}

/* The error for a family (or "auto") without a usable plugin: lists the cause and cure of each. */
static fl_status none_usable(const char *name)
{
    char causes[900] = "";
    size_t used = 0;

    for (size_t i = 0; i < registry.count && used < sizeof causes; i++) {
        const fl_backend_info *info = &registry.plugins[i]->info;
        if (means(name, registry.plugins[i]))
            used += (size_t)snprintf(causes + used, sizeof causes - used, "%s%s: %s (%s)", used ? "; " : "", info->name,
                                     info->probe.cause, info->probe.cure);
    }
    return core_fail(FL_E_UNAVAILABLE, "%s cannot run here: %s", name, causes);
}

static fl_status find(const char *name, const core_plugin **found)
{
    core_plugin *p = known(name);
    bool is_family = false;

    if (p) {
        core_plugin_load(p);
        *found = p;
        return p->info.usable ? FL_OK
                              : core_fail(FL_E_UNAVAILABLE, "%s cannot run here: %s; %s", name, p->info.probe.cause,
                                          p->info.probe.cure);
    }
    load_all();
    for (size_t i = 0; i < registry.count; i++) {
        p = registry.plugins[i];
        is_family = is_family || means(name, p);
        if (means(name, p) && p->info.usable) {
            *found = p;
            return FL_OK;
        }
    }
    return is_family ? none_usable(name) : unknown(name);
}

fl_status core_registry_find(const char *name, const core_plugin **found)
{
    fl_status status;

    pthread_mutex_lock(&registry.lock);
    scan_once();
    status = find(name, found);
    pthread_mutex_unlock(&registry.lock);
    return status;
}

size_t fl_backend_count(void)
{
    pthread_mutex_lock(&registry.lock);
    load_all();
    pthread_mutex_unlock(&registry.lock);
    return registry.count;
}

const fl_backend_info *fl_backend_get(size_t i)
{
    return i < fl_backend_count() ? &registry.plugins[i]->info : NULL;
}
