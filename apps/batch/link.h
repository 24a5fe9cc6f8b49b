/* SPDX-License-Identifier: MIT
 *
 * link.h - how fast the link to a device copies.
 */
#ifndef FLYNN_APPS_BATCH_LINK_H
#define FLYNN_APPS_BATCH_LINK_H

#include <flynn/flynn.h>

/* Of pinned memory, each direction by itself; NaN for a CPU and for an emulation. */
typedef struct link_rates {
    double h2d_bytes_per_s, d2h_bytes_per_s;
} link_rates;

/* The best of some copies; NaN also if the device has no room for them. */
link_rates link_measure(fl_device *device);

#endif
