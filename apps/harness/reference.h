/* SPDX-License-Identifier: MIT
 *
 * reference.h - the devices that check results.
 */
#ifndef FLYNN_APPS_HARNESS_REFERENCE_H
#define FLYNN_APPS_HARNESS_REFERENCE_H

#include <flynn/flynn.h>

/* Opens the plainest device of this machine that offers the operation in `variant` (NULL: in any): `serial` if it does,
 * else the first of the others that does, never an emulation. Ends the command with exit code 3 if there is none. Close
 * it with fl_device_close. */
fl_device *checking_device(const char *operation, const char *variant);

/* checking_device for the variant `reference`. */
fl_device *oracle_device(const char *operation);

#endif
