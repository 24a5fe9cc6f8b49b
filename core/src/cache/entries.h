/* SPDX-License-Identifier: MIT
 *
 * entries.h - keeps compiled code for the next process: $FLYNN_CACHE/code, else $XDG_CACHE_HOME/flynn/code or
 * ~/.cache/flynn/code. FLYNN_CACHE=off keeps none.
 *
 * What is loaded from there runs with the user's rights, so the folder is used only if nobody else can have written to
 * it (see cache_folder.h). Where it cannot be used, the code is compiled in a folder in $TMPDIR that is removed when
 * the code was loaded.
 *
 *     core_cache_find(key, size, &entry);
 *     if (entry.found && !load(entry.path)) {
 *         core_cache_drop(&entry);                  // damaged, or another process pruned it
 *         core_cache_find(key, size, &entry);
 *     }
 *     if (!entry.found) {
 *         if (compile_to(entry.path) && load(entry.path))
 *             core_cache_keep(key, size, &entry);   // what is loaded stays loaded
 *         else
 *             core_cache_drop(&entry);
 *     }
 *
 * There are no locks: an entry is one file, which appears by a rename, complete. It has the code, the key, and a
 * checksum of the code, since nothing waits until it is on the disk: an entry that a crash of the machine damaged is
 * not found. Several threads and processes may use the cache at once. */
#ifndef FLYNN_CORE_CACHE_H
#define FLYNN_CORE_CACHE_H

#include <flynn/plugin.h>

#include <limits.h>

typedef fl_cache_entry core_cache_entry;

/* The key is everything that decides the code: generated source, the compiler's arguments, path, size and time of
 * modification, Flynn's version. FL_OK: end the entry that was not found with core_cache_keep or core_cache_drop.
 * FL_E_UNAVAILABLE: the process is set-uid or set-gid, and compiles nothing; or no folder is safe. FL_E_MEMORY: no
 * folder has space, or descriptors are short. */
fl_status core_cache_find(const void *key, size_t size, core_cache_entry *entry);

/* Keeps what was written to entry->path, for a key that was not found; then removes the entries that were not used for
 * the longest time if there are more than 256 MiB. False if it could not be kept: the file is removed. */
bool core_cache_keep(const void *key, size_t size, core_cache_entry *entry);

/* Removes the file: code that does not load, or what was not written to its end. */
void core_cache_drop(core_cache_entry *entry);

#endif
