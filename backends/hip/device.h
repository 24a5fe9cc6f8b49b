/* SPDX-License-Identifier: MIT
 *
 * device.h - what backends/hip is to the plugins made of it: the two functions of an fl_plugin.
 */
#ifndef FLYNN_HIP_DEVICE_H
#define FLYNN_HIP_DEVICE_H

#include <flynn/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The GPUs of this machine that this plugin has code for; else cause and cure. */
void hip_probe(fl_probe *probe);

/* The GPU of index request->number (-1: 0), after a canary kernel ran on it.
 * FL_E_UNAVAILABLE (no code for this GPU), FL_E_DEVICE, FL_E_MEMORY. */
fl_status hip_open(const fl_host *host, const fl_open_request *request, fl_plugin_device *device);

#ifdef __cplusplus
}
#endif
#endif
