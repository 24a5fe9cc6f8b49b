/* SPDX-License-Identifier: MIT
 *
 * folder.h - files with measurements of devices: JSON, an object with a key for each device. They are in the folder of
 * fl_cache_folder; FLYNN_CACHE=off: nothing is saved.
 */
#pragma once

#include "support/problem.h"

#include <jansson.h>
#include <stdbool.h>

/* The path of `file` ("ceilings.json"); "" if the environment names no folder. Valid until the next call. */
const char *cache_path(const char *file);

/* Its content; an empty object if it cannot be read. Free with json_decref. */
json_t *cache_load(const char *file);

/* Lets `change` change the content and writes it, if `change` returns true, whole or not at all; makes the folder.
 * Processes that do so at the same time wait for each other (<file>.lock), so that no change is lost. A file that
 * cannot be read now stays as it is; one that is damaged is copied next to it first, with a remark. */
bool cache_change(const char *file, bool (*change)(json_t *kept, void *data), void *data, problem *why);

/* "<host>/", since machines may share a home. Valid until the next call. */
const char *cache_host(void);

/* The key of a device on this host. Valid until the next call. */
const char *cache_key(const char *resource, const char *name);
