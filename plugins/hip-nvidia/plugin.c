/* SPDX-License-Identifier: MIT
 *
 * hip-nvidia: the HIP kernels, compiled for NVIDIA GPUs: gpu.h maps HIP to CUDA.
 */
#include "device.h"

const fl_plugin flynn_plugin = {
    .abi = FL_PLUGIN_ABI,
    .size = sizeof(fl_plugin),
    .name = "hip-nvidia",
    .family = "hip",
    .flynn_class = "SIMT",
    .emulation = 0,
    .built_with = FLYNN_BUILT_WITH,
    .score = 100,
    .probe = hip_probe,
    .open = hip_open,
};
