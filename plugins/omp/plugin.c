/* SPDX-License-Identifier: MIT
 *
 * The plugin `omp`: threads on all cores, each with its vectors.
 */
#include "../../backends/cpu/cpu.h"

enum { MAX_THREADS = 1024 };

static void probe(fl_probe *found)
{
    cpu_probe(MAX_THREADS, found);
}

static fl_status open_device(const fl_host *host, const fl_open_request *request, fl_plugin_device *device)
{
    return cpu_open(MAX_THREADS, host, request, device);
}

const fl_plugin flynn_plugin = {
    .abi = FL_PLUGIN_ABI,
    .size = sizeof(fl_plugin),
    .name = "omp",
    .family = "cpu",
    .flynn_class = "MIMD",
    .emulation = 0,
    .built_with = CPU_BUILT_WITH,
    .score = 30,
    .probe = probe,
    .open = open_device,
};
