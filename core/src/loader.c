/* SPDX-License-Identifier: MIT */
#include "loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Writes the cause and the cure, cut to fit. */
static void cannot_run(core_plugin *p, const char *cause, const char *cure)
{
    snprintf(p->info.probe.cause, sizeof p->info.probe.cause, "%.*s", (int)strcspn(cause, "\n"), cause);
    snprintf(p->info.probe.cure, sizeof p->info.probe.cure, "%.*s", (int)strcspn(cure, "\n"), cure);
}

/* The loader's message begins with the path, which is left out; it names a missing library. */
static void cannot_load(core_plugin *p, const char *words)
{
    size_t path = strlen(p->info.path);

    if (strncmp(words, p->info.path, path) == 0 && strncmp(words + path, ": ", 2) == 0)
        words += path + 2;
    if (strstr(words, "cannot open shared object file"))
        cannot_run(p, words, "install the library it names, or add its folder to LD_LIBRARY_PATH");
    else
        cannot_run(p, words, "rebuild the plugin on this machine");
}

/* Reads `abi` and `size` before any other field; false if the plugin was built for another core. */
static bool fits(core_plugin *p, const fl_plugin *plugin)
{
    char cause[160];

    if (plugin->abi != FL_PLUGIN_ABI)
        snprintf(cause, sizeof cause, "built for plugin ABI %u, this libflynn has ABI %u", plugin->abi, FL_PLUGIN_ABI);
    else if (plugin->size < sizeof *plugin)
        snprintf(cause, sizeof cause, "its flynn_plugin has %u bytes, plugin ABI %u needs %zu", plugin->size,
                 FL_PLUGIN_ABI, sizeof *plugin);
    else if (strcmp(plugin->name, p->info.name) != 0)
        snprintf(cause, sizeof cause, "its name is '%.64s', its file is named for '%.40s'", plugin->name, p->info.name);
    else
        return true;
    cannot_run(p, cause, "rebuild the plugin with the headers of this libflynn");
    return false;
}

void core_plugin_load(core_plugin *p)
{
    const fl_plugin *plugin;
    void *library;

    if (p->tried)
        return;
    p->tried = true;
    /* NODELETE: runtimes of OpenMP and GPUs leave threads and exit handlers, which crash after an unload. */
    library = dlopen(p->info.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        cannot_load(p, dlerror());
        return;
    }
    plugin = dlsym(library, "flynn_plugin");
    if (!plugin) {
        cannot_run(p, "the file has no symbol flynn_plugin", "build it as plugin.h describes");
        return;
    }
    if (!fits(p, plugin))
        return;
    p->plugin = plugin;
    p->info.family = plugin->family;
    p->info.flynn_class = plugin->flynn_class;
    p->info.emulation = plugin->emulation != 0;
    p->info.built_with = plugin->built_with;
    p->info.score = plugin->score;
    plugin->probe(&p->info.probe);
    p->info.usable = p->info.probe.device_count > 0;
}

void core_plugin_read_note(core_plugin *p)
{
    char cause[256] = "not built", cure[256] = "build it on this machine";
    FILE *note = fopen(p->info.path, "r");

    p->tried = true;
    if (note) {
        if (fgets(cause, sizeof cause, note))
            (void)!fgets(cure, sizeof cure, note);
        fclose(note);
    }
    cannot_run(p, cause, cure);
}
