/* SPDX-License-Identifier: MIT
 * The folders that plugins are looked for in. */
#ifndef FLYNN_CORE_PLUGIN_FOLDERS_H
#define FLYNN_CORE_PLUGIN_FOLDERS_H

#include <stdbool.h>

typedef struct core_plugin_folder {
    const char *path;
    bool named; /* by FLYNN_PLUGIN_PATH */
} core_plugin_folder;

/* Visits those of FLYNN_PLUGIN_PATH, the folder of libflynn, then flynn/ in that folder, where `make install` puts
 * plugins, until a visit returns false with errno set; so does this then, and where memory is short. An empty entry
 * would mean the current folder, which is never visited. A set-uid program has no FLYNN_PLUGIN_PATH. */
bool core_plugin_folders_visit(bool (*visit)(core_plugin_folder folder, void *self), void *self);

#endif
