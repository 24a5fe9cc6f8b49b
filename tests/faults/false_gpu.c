/* SPDX-License-Identifier: MIT
 *
 * The plugin `hip-cpu` under a name of its own and as no emulation, so that its results are ranked as a GPU's are; and
 * with registers, spills and occupancy for a user's kernel: 32 registers, 8 bytes, and room for 4 blocks among 2048
 * threads. FALSE_GPU_BUS_ID is its place on the PCI bus. With VENDORS, which is its name then, it has all operations,
 * and is the GPU that the false libraries of the vendors know.
 */
#include "serial_inside.h"

#include <stdlib.h>

static fl_status (*run_kernel)(const fl_context *context, const void *args, const fl_launch *launch);
static int threads; /* of the last kernel's block */
static fl_row kernel_row;
static fl_device_api api;

static fl_status run(const fl_context *context, const void *args, const fl_launch *launch)
{
    threads = launch->block[0] * launch->block[1] * launch->block[2];
    return run_kernel(context, args, launch);
}

static fl_status last_kernel(void *self, void *stream, fl_kernel_facts *facts)
{
    (void)self;
    (void)stream;
    *facts = (fl_kernel_facts){
        .registers = 32, .threads = threads, .resident_blocks = 4, .resident_threads = 2048, .local_bytes = 8};
    return FL_OK;
}

/* Leaves the device a single row, that of FL_OP_KERNEL. */
static fl_status wrap(fl_plugin_device *device)
{
    for (size_t i = 0; i < device->row_count; i++)
        if (device->rows[i].operation == FL_OP_KERNEL)
            kernel_row = device->rows[i];
    run_kernel = kernel_row.run;
    kernel_row.run = run;
#ifdef VENDORS
    snprintf(device->info.bus_id, sizeof device->info.bus_id, "0000:3b:00.0");
#else
    device->rows = &kernel_row;
    device->row_count = 1;
#endif
    api = *device->api;
    api.last_kernel = last_kernel;
    device->api = &api;
    if (getenv("FALSE_GPU_BUS_ID"))
        snprintf(device->info.bus_id, sizeof device->info.bus_id, "%s", getenv("FALSE_GPU_BUS_ID"));
    (void)core;
    return FL_OK;
}

#ifdef VENDORS
SERIAL_INSIDE(VENDORS, wrap)
#else
SERIAL_INSIDE("false-gpu", wrap)
#endif
