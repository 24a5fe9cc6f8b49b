/* SPDX-License-Identifier: MIT */
#include "plugin_folders.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool core_plugin_folders_visit(bool (*visit)(core_plugin_folder folder, void *self), void *self)
{
    static const char here;
    const char *path = secure_getenv("FLYNN_PLUGIN_PATH"); /* NULL in a set-uid program */
    char folder[PATH_MAX], installed[PATH_MAX + 8];
    bool all = true;
    Dl_info library;

    while (all && path && *path) {
        size_t length = strcspn(path, ":");
        if (length > 0 && length < sizeof folder) {
            snprintf(folder, sizeof folder, "%.*s", (int)length, path);
            all = visit((core_plugin_folder){folder, true}, self);
        }
        path += length + (path[length] == ':');
    }
    if (!all || !dladdr(&here, &library))
        return all;
    if (realpath(library.dli_fname, folder)) {
        *strrchr(folder, '/') = '\0';
        snprintf(installed, sizeof installed, "%s/flynn", folder);
        return visit((core_plugin_folder){folder, false}, self) && visit((core_plugin_folder){installed, false}, self);
    }
    return errno != ENOMEM;
}
