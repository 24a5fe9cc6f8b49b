/* SPDX-License-Identifier: MIT
 *
 * device.h - the two functions of an fl_plugin, for the plugins made from backends/hip.
 */
#ifndef FLYNN_HIP_DEVICE_H
#define FLYNN_HIP_DEVICE_H

#include <flynn/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lists the GPUs of this machine for which this plugin has code; else states cause and fix. */
void hip_probe(fl_probe *probe);

/* Opens the GPU of index request->number (-1: 0) and runs a canary kernel on it.
 * FL_E_UNAVAILABLE (no code for this GPU), FL_E_DEVICE, FL_E_MEMORY. */
fl_status hip_open(const fl_host *host, const fl_open_request *request, fl_plugin_device *device);

#ifdef __cplusplus
}
#endif
#endif
