/* SPDX-License-Identifier: MIT
 * Loads one plugin file, reads its data and probes this machine with it. */
#ifndef FLYNN_CORE_LOADER_H
#define FLYNN_CORE_LOADER_H

#include <flynn/plugin.h>

/* A plugin in the registry. */
typedef struct core_plugin {
    fl_backend_info info;    /* `name` and `path` are set before the plugin is loaded */
    const fl_plugin *plugin; /* NULL: not loaded yet, or loading failed */
    bool tried;              /* core_plugin_load was called */
    char family[32];         /* by the name until it is loaded: "hip" of "hip-amd", so that "hip" reports its cause */
} core_plugin;

/* Loads and probes the file at info.path, once. Fills `info` and, if the file is a plugin of this ABI, `plugin`; on
 * failure info.probe states cause and cure. */
void core_plugin_load(core_plugin *plugin);

/* Reads cause and cure from the two lines of the note at info.path, which the build writes for a plugin left out. */
void core_plugin_read_note(core_plugin *plugin);

#endif
