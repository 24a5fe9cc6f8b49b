/* SPDX-License-Identifier: MIT
 *
 * The plugin `omp`: threads on all cores, each with vectors.
 */
#include "../../backends/cpu/cpu.h"

const fl_plugin flynn_plugin = {
    .abi = FL_PLUGIN_ABI,
    .size = sizeof(fl_plugin),
    .name = "omp",
    .family = "cpu",
    .flynn_class = "MIMD",
    .emulation = 0,
    .built_with = CPU_BUILT_WITH,
    .score = 30,
    .probe = cpu_probe,
    .open = cpu_open,
};
