/* SPDX-License-Identifier: MIT
 *
 * reference.h - the device that results are checked with.
 */
#ifndef FLYNN_APPS_HARNESS_REFERENCE_H
#define FLYNN_APPS_HARNESS_REFERENCE_H

#include <flynn/flynn.h>

/* Opens a device of this machine that offers the operation's `reference` variant; ends the command with exit code 3
 * when there is none. Close it with fl_device_close. */
fl_device *oracle_device(const char *operation);

#endif
