/* SPDX-License-Identifier: MIT
 *
 * serial_inside.h - what plugins have in common that do the work of the plugin `serial`, and then something wrong.
 * SERIAL_PLUGIN is its file, or that of another plugin; FAULT_FAMILY, FAULT_CLASS and FAULT_SCORE are what they say of
 * themselves.
 */
#ifndef FLYNN_FAULTS_SERIAL_INSIDE_H
#define FLYNN_FAULTS_SERIAL_INSIDE_H

#include <flynn/plugin.h>

#include <dlfcn.h>
#include <stdio.h>

#ifndef FAULT_FAMILY
#define FAULT_FAMILY "test"
#endif
#ifndef FAULT_CLASS
#define FAULT_CLASS "SISD"
#endif
#ifndef FAULT_SCORE
#define FAULT_SCORE (-1)
#endif

/* The host's table, once the device is open. */
static const fl_host *core;

/* The plugin `serial`, from its file; NULL, with the loader's message in dlerror, when it cannot be had. */
static const fl_plugin *serial(void)
{
    void *file = dlopen(SERIAL_PLUGIN, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return file ? (const fl_plugin *)dlsym(file, "flynn_plugin") : NULL;
}

static void probe(fl_probe *probe)
{
    const fl_plugin *plugin = serial();
    if (plugin) {
        plugin->probe(probe);
        return;
    }
    snprintf(probe->cause, sizeof probe->cause, "%.200s", dlerror());
    snprintf(probe->cure, sizeof probe->cure, "build the plugin serial");
}

/* The plugin of that name: `wrap` changes what serial's device offers. */
#define SERIAL_INSIDE(plugin_name, wrap) \
    static fl_status open_device(const fl_host *host, const fl_open_request *request, fl_plugin_device *device) \
    { \
        fl_status status = serial()->open(host, request, device); \
        core = host; \
        return status == FL_OK ? wrap(device) : status; \
    } \
    const fl_plugin flynn_plugin = { \
        .abi = FL_PLUGIN_ABI, \
        .size = sizeof(fl_plugin), \
        .name = plugin_name, \
        .family = FAULT_FAMILY, \
        .flynn_class = FAULT_CLASS, \
        .built_with = "made for the tests", \
        .score = FAULT_SCORE, \
        .probe = probe, \
        .open = open_device, \
    };

#endif
