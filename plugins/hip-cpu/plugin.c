/* SPDX-License-Identifier: MIT
 *
 * hip-cpu: the HIP kernels, run by HIP-CPU's headers on the processor's cores. It imitates a GPU for testing.
 */
#include "device.h"

const fl_plugin flynn_plugin = {
    .abi = FL_PLUGIN_ABI,
    .size = sizeof(fl_plugin),
    .name = "hip-cpu",
    .family = "hip",
    .flynn_class = "SIMT",
    .emulation = 1,
    .built_with = FLYNN_BUILT_WITH,
    .score = 1,
    .probe = hip_probe,
    .open = hip_open,
};
