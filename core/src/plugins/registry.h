/* SPDX-License-Identifier: MIT
 * Finds the plugins, and the plugin that a name stands for. */
#ifndef FLYNN_CORE_REGISTRY_H
#define FLYNN_CORE_REGISTRY_H

#include "loader.h"

/* The usable plugin for `name`: a plugin, a family (its usable plugin with the highest score that is not an emulation)
 * or "auto" (the same among all plugins). A plugin's name loads only that plugin. FL_E_UNKNOWN, FL_E_UNAVAILABLE with
 * cause and fix. */
fl_status core_registry_find(const char *name, const core_plugin **found);

#endif
