/* SPDX-License-Identifier: MIT
 * One plugin file: loading it, reading its data, asking what it finds on this machine. */
#ifndef FLYNN_CORE_LOADER_H
#define FLYNN_CORE_LOADER_H

#include <flynn/plugin.h>

/* A plugin as the registry keeps it, from the file's name to what its probe said. */
typedef struct core_plugin {
    fl_backend_info info;    /* what users see; `name` and `path` are set from the start */
    const fl_plugin *plugin; /* NULL: not loaded (yet), or it could not be */
    bool tried;              /* load was called */
    char family[32];         /* until it tells its own: "hip" of "hip-amd", so that asking for "hip" tells why not */
} core_plugin;

/* Loads and probes the file at info.path, once: fills `info` and, when the file is a plugin for this ABI, `plugin`.
 * What fails ends as cause and cure in info.probe. */
void core_plugin_load(core_plugin *plugin);

/* Takes cause and cure from the two lines of the note at info.path, which stands where a plugin was not built. */
void core_plugin_read_note(core_plugin *plugin);

#endif
