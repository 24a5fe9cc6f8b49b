/* SPDX-License-Identifier: MIT
 *
 * bundle.h - what a report of a problem with a GPU needs, in one file: flynn doctor --bundle.
 */
#pragma once

#define BUNDLE_FILE "flynn-doctor.json" /* if no other is named */

/* Writes a JSON document to the file `path`, whole or not at all: the answers of doctor, info, list and, on each GPU,
 * of a quick compare; the versions of drivers and libraries below `root`, and the variables that decide what they do.
 * The home folder's path, the host's name and Slurm's job are left out. Each command runs in a process of its own, so
 * that one which a driver ends is in the bundle, too. Ends the command if the file cannot be written. */
void bundle_write(const char *path, const char *root);
