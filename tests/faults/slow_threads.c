/* SPDX-License-Identifier: MIT
 *
 * The plugin `omp` on a machine that others use: its threads wait for a processor before each square root of many
 * elements. It is the best backend, whatever this machine has, and has several threads on one of a single core, too.
 */
#define FAULT_FAMILY "cpu"
#define FAULT_CLASS "MIMD"
#define FAULT_SCORE 1000
#include "serial_inside.h"

#include <string.h>
#include <time.h>

enum { MOST_ROWS = 128 };

static fl_row rows[MOST_ROWS];
static fl_row root;

static fl_status run_slowly(const fl_context *context, const void *args, const fl_launch *launch)
{
    if (((const fl_unary_args *)args)->in.shape[0] >= 100000)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return root.run(context, args, launch);
}

static fl_status wrap(fl_plugin_device *device)
{
    if (device->row_count > MOST_ROWS)
        return core->error(FL_E_LIMIT, "omp has %zu rows; this plugin has room for %d", device->row_count, MOST_ROWS);
    for (size_t i = 0; i < device->row_count; i++) {
        rows[i] = device->rows[i];
        if (rows[i].operation == FL_OP_SQRT && strcmp(rows[i].variant, "reference") != 0) {
            root = rows[i];
            rows[i].run = run_slowly;
        }
    }
    device->rows = rows;
    device->info.threads = device->info.threads > 1 ? device->info.threads : 2;
    return FL_OK;
}

SERIAL_INSIDE("omp", wrap)
