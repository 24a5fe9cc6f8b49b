/* SPDX-License-Identifier: MIT */
#include "registry.h"

#include "base/spelling.h"
#include "plugin_folders.h"
#include "base/status.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLUGINS = 64 };

typedef enum load_state { LOADED_NAMED, LOADED_BUT_EMULATIONS, LOADED_ALL } load_state;

static struct {
    pthread_mutex_t lock;
    bool scanned;
    load_state loaded;
    size_t count;
    core_plugin *plugins[MOST_PLUGINS]; /* make_ready exchanges them, but frees none */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---------------------------------------------------------------------------------------- finding files ---- */

/* Where the plugin of that name is; NULL: there is none. */
static core_plugin **known(const char *name)
{
    for (size_t i = 0; i < registry.count; i++)
        if (strcmp(registry.plugins[i]->info.name, name) == 0)
            return &registry.plugins[i];
    return NULL;
}

/* Adds folder/flynn-<name><suffix> to the registry unless an earlier folder had a plugin of that name; false: out of
 * memory. */
static bool take(core_plugin_folder folder, const char *file, const char *suffix)
{
    size_t length = strlen(file), end = strlen(suffix), start = strlen("flynn-");
    char *name, *path = NULL;
    core_plugin *p = NULL;

    if (length <= start + end || strncmp(file, "flynn-", start) != 0 || strcmp(file + length - end, suffix) != 0 ||
        registry.count == MOST_PLUGINS)
        return true;
    name = strndup(file + start, length - start - end);
    if (name && known(name)) {
        free(name);
        return true;
    }
    if (name && asprintf(&path, "%s/%s", folder.path, file) < 0)
        path = NULL;
    if (path)
        p = core_plugin_new(name, path, folder.named, strcmp(suffix, ".missing") == 0);
    free(name);
    free(path);
    if (p)
        registry.plugins[registry.count++] = p;
    return p != NULL;
}

/* In alphabetical order, plugins before notes, so that the result does not depend on the file system. False with errno
 * set if memory or file descriptors were short; a folder that is not there, or not for this user, has no plugins. */
static bool search(core_plugin_folder folder, void *unused)
{
    static const char *const suffixes[] = {".so", ".missing"};
    struct dirent **entries;
    int count = scandir(folder.path, &entries, NULL, alphasort), error = errno;
    bool all = count >= 0 || (error != ENOMEM && error != EMFILE && error != ENFILE);

    (void)unused;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < count; i++)
            if (all && !take(folder, entries[i]->d_name, suffixes[s])) {
                error = ENOMEM;
                all = false;
            }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    if (count >= 0)
        free(entries);
    errno = error;
    return all;
}

/* FL_E_MEMORY: nothing was found, and the next call searches again. Without all folders a name could mean another
 * plugin. */
static fl_status scan_once(void)
{
    if (registry.scanned)
        return FL_OK;
    registry.scanned = core_plugin_folders_visit(search, NULL);
    if (registry.scanned)
        return FL_OK;
    const int error = errno;
    while (registry.count > 0)
        core_plugin_free(registry.plugins[--registry.count]);
    return core_fail(FL_E_MEMORY, "the plugins cannot be searched: %s", strerror(error));
}

static int by_score(const void *a, const void *b)
{
    const core_plugin *p = *(core_plugin *const *)a, *q = *(core_plugin *const *)b;

    if (p->info.score != q->info.score)
        return p->info.score < q->info.score ? 1 : -1;
    return strcmp(p->info.name, q->info.name);
}

/* Loads the plugins that were not tried, all or all but emulations, which "auto" and a family's name never stand for.
 * Then the best one comes first. */
static void load(load_state wanted)
{
    if (registry.loaded >= wanted)
        return;
    for (size_t i = 0; i < registry.count; i++)
        if (!registry.plugins[i]->tried)
            core_plugin_load(registry.plugins[i], wanted == LOADED_ALL);
    qsort(registry.plugins, registry.count, sizeof registry.plugins[0], by_score);
    registry.loaded = wanted;
}

/* Loads the plugin, again if it could not be used: a library, memory or a driver can be there now. fl_backend_get may
 * have returned the old info, so it is neither changed nor freed: if more came of it, another one takes its place,
 * which happens at most twice (it can be loaded, it can be used). */
static fl_status make_ready(core_plugin **place, core_fault *fault)
{
    core_plugin *p = *place, *again = NULL;

    if (!p->tried)
        core_plugin_load(p, true);
    else if (!p->info.usable)
        again = core_plugin_new(p->info.name, p->info.path, p->named, p->note);
    if (again) {
        core_plugin_load(again, true);
        /* After a lack of memory the loader may keep libraries that do not work: its next words do not count. */
        if (again->plugin || p->status != FL_E_MEMORY)
            p = again;
    }
    fault->status = p->status;
    memcpy(fault->cause, p->info.probe.cause, sizeof fault->cause);
    memcpy(fault->cure, p->info.probe.cure, sizeof fault->cure);
    if (again && (again->info.usable || (again->plugin && !(*place)->plugin))) {
        again->before = *place;
        *place = again;
    } else {
        core_plugin_free(again);
    }
    return fault->status;
}

static fl_status cannot_run(const core_plugin *p, const core_fault *fault)
{
    return core_fail(fault->status, "%s cannot run here: %s; %s", p->info.name, fault->cause, fault->cure);
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

/* The error for a family (or "auto") without a usable plugin: lists the cause and fix of each. */
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

/* The usable plugin of a family (or "auto") with the highest score; NULL: none. */
static const core_plugin *best_of(const char *name)
{
    const core_plugin *best = NULL;

    for (size_t i = 0; i < registry.count; i++) {
        const core_plugin *p = registry.plugins[i];
        if (means(name, p) && p->info.usable && (!best || p->info.score > best->info.score))
            best = p;
    }
    return best;
}

/* A family: members that only lacked memory are tried again. */
static fl_status find_family(const char *name, const core_plugin **found)
{
    const core_plugin *short_of_memory = NULL;
    bool is_family = false;
    core_fault fault, memory;

    load(LOADED_BUT_EMULATIONS);
    for (size_t i = 0; i < registry.count; i++) {
        core_plugin **place = &registry.plugins[i];
        if (!means(name, *place))
            continue;
        is_family = true;
        if ((*place)->status == FL_E_MEMORY && make_ready(place, &fault) == FL_E_MEMORY) {
            short_of_memory = *place;
            memory = fault;
        }
    }
    if (!is_family)
        return unknown(name);
    *found = best_of(name);
    if (*found)
        return FL_OK;
    return short_of_memory ? cannot_run(short_of_memory, &memory) : none_usable(name);
}

/* Returns the usual name of a backend or family that has another one ("cuda"); `name` itself where it is none of
 * these. */
static const char *usual_name(const char *name)
{
    static const char *const names[][2] = {{"cuda", "hip-nvidia"}, {"nvidia", "hip-nvidia"}, {"amd", "hip-amd"},
                                           {"rocm", "hip-amd"},    {"gpu", "hip"},           {"openmp", "omp"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i][0]) == 0)
            return names[i][1];
    return name;
}

fl_status core_registry_find(const char *name, const core_plugin **found)
{
    core_plugin **place = NULL;
    core_fault fault;
    fl_status status;

    pthread_mutex_lock(&registry.lock);
    status = scan_once();
    if (status == FL_OK && !known(name))
        name = usual_name(name);
    if (status == FL_OK)
        place = known(name);
    if (place) {
        if (make_ready(place, &fault) != FL_OK)
            status = cannot_run(*place, &fault);
        *found = *place;
    } else if (status == FL_OK) {
        status = find_family(name, found);
    }
    pthread_mutex_unlock(&registry.lock);
    return status;
}

fl_status fl_backend_find(const char *name, const fl_backend_info **info)
{
    const core_plugin *found = NULL;
    fl_status status;

    if (!name || !info)
        return core_fail(FL_E_ARGUMENT, "fl_backend_find: %s is NULL", name ? "info" : "name");
    status = core_registry_find(name, &found);
    *info = status == FL_OK ? &found->info : NULL;
    return status;
}

size_t fl_backend_count(void)
{
    size_t count;

    pthread_mutex_lock(&registry.lock);
    if (scan_once() == FL_OK)
        load(LOADED_ALL);
    count = registry.count;
    pthread_mutex_unlock(&registry.lock);
    return count;
}

const fl_backend_info *fl_backend_get(size_t i)
{
    const size_t count = fl_backend_count();
    const fl_backend_info *info = NULL;

    pthread_mutex_lock(&registry.lock);
    if (i < count)
        info = &registry.plugins[i]->info;
    pthread_mutex_unlock(&registry.lock);
    return info;
}
