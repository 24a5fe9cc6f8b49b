/* SPDX-License-Identifier: MIT
 * The plugins there are: where they are looked for, and which one a name means. */
#ifndef FLYNN_CORE_REGISTRY_H
#define FLYNN_CORE_REGISTRY_H

#include "loader.h"

/* The usable plugin that `name` means: a plugin's own name, a family's (its best-scored usable one that is no
 * emulation) or "auto" (likewise of all). Loads only what it must. FL_E_UNKNOWN, FL_E_UNAVAILABLE with cause and cure.
 */
fl_status core_registry_find(const char *name, const core_plugin **found);

#endif
