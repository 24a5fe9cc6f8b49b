/* SPDX-License-Identifier: MIT
 *
 * The plugin `serial`: one core, one element at a time. It also offers the oracle for checks.
 */
#include "../../backends/cpu/cpu.h"

const fl_plugin flynn_plugin = {
    .abi = FL_PLUGIN_ABI,
    .size = sizeof(fl_plugin),
    .name = "serial",
    .family = "cpu",
    .flynn_class = "SISD",
    .emulation = 0,
    .built_with = CPU_BUILT_WITH,
    .score = 10,
    .probe = cpu_probe,
    .open = cpu_open,
};
