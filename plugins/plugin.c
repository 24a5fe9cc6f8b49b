/* SPDX-License-Identifier: MIT
 *
 * plugin.c - the one symbol that a plugin exports. The plugin's folder says what it is called, how it runs, how much it
 * is preferred and which device files it needs (flynn_describe_plugin in cmake/FlynnPlugin.cmake); its backend has
 * PLUGIN_PROBE and PLUGIN_OPEN.
 */
#include <flynn/plugin.h>

void PLUGIN_PROBE(fl_probe *probe);
fl_status PLUGIN_OPEN(const fl_host *host, const fl_open_request *request, fl_plugin_device *device);

const fl_plugin flynn_plugin = {
    .abi = FL_PLUGIN_ABI,
    .size = sizeof(fl_plugin),
    .name = PLUGIN_NAME,
    .family = PLUGIN_FAMILY,
    .flynn_class = PLUGIN_CLASS,
    .emulation = PLUGIN_EMULATION,
    .built_with = PLUGIN_BUILT_WITH,
    .score = PLUGIN_SCORE,
    .probe = PLUGIN_PROBE,
    .open = PLUGIN_OPEN,
#ifdef PLUGIN_NEEDS
    .needs = PLUGIN_NEEDS,
    .absent = PLUGIN_ABSENT,
    .absent_cure = PLUGIN_ABSENT_CURE,
#endif
};
