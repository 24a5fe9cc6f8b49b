/* SPDX-License-Identifier: MIT
 * Loads one plugin file, checks what it says of itself and probes this machine with it. */
#ifndef FLYNN_CORE_LOADER_H
#define FLYNN_CORE_LOADER_H

#include "plugin_file.h"

#include <flynn/plugin.h>

enum { CORE_PLUGIN_TEXTS = 3 };

/* A plugin in the registry. */
typedef struct core_plugin {
    fl_backend_info info;       /* `name` and `path` are set before the plugin is loaded */
    const fl_plugin *plugin;    /* NULL: not loaded yet, or loading failed */
    bool named;                 /* FLYNN_PLUGIN_PATH names its folder */
    bool note;                  /* a note that the build left in the place of a plugin */
    bool tried;                 /* core_plugin_load was called, and did not leave it out */
    fl_status status;           /* of the last try: FL_OK if it is usable */
    char family[32];            /* by the name until it is loaded: "hip" of "hip-amd", so that "hip" says its cause */
    char remark[256];           /* info.remark */
    struct core_plugin *before; /* the one whose place it took, whose info users may hold */
    char *name, *path, *texts[CORE_PLUGIN_TEXTS]; /* what info points to; texts: copies of the plugin's own */
} core_plugin;

/* Loads and probes the file at info.path, or reads the note there. Fills `info` and, if the file is a plugin of this
 * ABI whose fields are sound, `plugin`; if it is not usable, info.probe states cause and fix. A plugin whose file says
 * that it needs a device's file which does not exist is not loaded, unless the variable FLYNN_IGNORE_DEVICE_FILES is
 * set to another value than 0. Without `emulations` one whose file says that it is an emulation is left out, with
 * info.emulation set. Called until the plugin was tried. */
void core_plugin_load(core_plugin *plugin, bool emulations);

/* A shared object's exported data, which begins with its version. */
typedef struct core_loadable {
    const char *kind, *symbol; /* "plugin", "flynn_plugin" */
    uint32_t abi, size;        /* that this libflynn has, and at least needs */
} core_loadable;

/* Loads the file; returns its data, or NULL with `fault` filled. The version is read from the file first, so that no
 * constructor of what was built for another core runs, and so that the file can be replaced: what is loaded stays
 * loaded. */
const void *core_load(const core_loadable *what, const char *path, core_fault *fault);

/* A plugin that has not been tried, with copies of the texts; NULL: out of memory. */
core_plugin *core_plugin_new(const char *name, const char *path, bool named, bool note);
void core_plugin_free(core_plugin *plugin);

#endif
