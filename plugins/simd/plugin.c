/* SPDX-License-Identifier: MIT
 *
 * The plugin `simd`: one core with vectors.
 */
#include "../../backends/cpu/cpu.h"

const fl_plugin flynn_plugin = {
    .abi = FL_PLUGIN_ABI,
    .size = sizeof(fl_plugin),
    .name = "simd",
    .family = "cpu",
    .flynn_class = "SIMD",
    .emulation = 0,
    .built_with = CPU_BUILT_WITH,
    .score = 20,
    .probe = cpu_probe,
    .open = cpu_open,
};
