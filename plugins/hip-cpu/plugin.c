/* SPDX-License-Identifier: MIT
 *
 * hip-cpu: the HIP kernels on the CPU's cores, by HIP-CPU's headers: an emulation of a GPU for tests.
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
