/* SPDX-License-Identifier: MIT
 *
 * hip-amd: the HIP kernels, compiled for AMD GPUs.
 */
#include "device.h"

const fl_plugin flynn_plugin = {
    .abi = FL_PLUGIN_ABI,
    .size = sizeof(fl_plugin),
    .name = "hip-amd",
    .family = "hip",
    .flynn_class = "SIMT",
    .emulation = 0,
    .built_with = FLYNN_BUILT_WITH,
    .score = 100,
    .probe = hip_probe,
    .open = hip_open,
};
