/* SPDX-License-Identifier: MIT
 *
 * cache.h - what was found out about devices, kept in files between commands: JSON, an object with a key for each
 * device. They are in $FLYNN_CACHE, or else in $XDG_CACHE_HOME/flynn or ~/.cache/flynn.
 */
#ifndef FLYNN_APPS_HARNESS_CACHE_H
#define FLYNN_APPS_HARNESS_CACHE_H

#include "support/problem.h"

#include <jansson.h>

/* The path of `file` ("ceilings.json"); "" where the environment names no folder. Valid until the next call. */
const char *cache_path(const char *file);

/* What is in it: an empty object where there is no such file, or none that can be read. Free with json_decref. */
json_t *cache_load(const char *file);

/* Writes it, whole or not at all; makes the folder. */
bool cache_save(const char *file, const json_t *kept, problem *why);

/* "<host>/": a home may be shared by machines. Valid until the next call. */
const char *cache_host(void);

/* The key of a device on this host, from its resource and its name. Valid until the next call. */
const char *cache_key(const char *resource, const char *name);

#endif
