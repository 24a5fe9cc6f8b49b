/* SPDX-License-Identifier: MIT
 *
 * A program of somebody else's that times an operation: it links libflynn-bench, and by it libflynn. */
#include <flynn/bench.h>

#include <stdio.h>

static float values[1000], results[1000];

static fl_status increment(void *user, fl_array *const *arrays, const fl_run *run)
{
    (void)user;
    return fl_increment(fl_array_device(arrays[0]), arrays[0], arrays[1], run);
}

int main(void)
{
    const fl_bench_array arrays[] = {{FL_F32, 1, {1000}, .from = values}, {FL_F32, 1, {1000}, .to = results}};
    const fl_bench_plan plan = {.repeat = 3};
    char table[2000];
    fl_bench *bench;
    fl_device *device;

    if (fl_bench_create(&plan, &bench) != FL_OK || fl_device_open("serial", &device) != FL_OK ||
        fl_bench_add_call(bench,
                          &(fl_bench_call){"increment", device, .call = increment, .count = 2, .arrays = arrays}) ||
        fl_bench_run(bench) != FL_OK) {
        fprintf(stderr, "%s\n", fl_last_error());
        return 1;
    }
    fl_bench_table(bench, table, sizeof table);
    fputs(table, stdout);
    fl_bench_free(bench);
    fl_device_close(device);
    return results[0] != 1 || results[999] != 1;
}
