/* SPDX-License-Identifier: MIT
 *
 * timing [DEVICE]: five mistakes in timing, each with the number that it gives and the right one beside it
 * (docs/timing.md). */
#include <flynn/bench.h>

#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 1 << 24, MIDDLE = 1 << 18, SMALL = 1000 };
static float values[LARGE], results[LARGE];

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "timing: %s\n", fl_last_error());
    exit(1);
}

static fl_status increment(void *user, fl_array *const *arrays, const fl_run *run)
{
    (void)user;
    return fl_increment(fl_array_device(arrays[0]), arrays[0], arrays[1], run);
}

/* The same without copies: the arrays stay on the device. */
static fl_status increment_there(void *user, const fl_run *run)
{
    return increment(NULL, user, run);
}

/* Runs the only case of a bench. `bench` must be freed after the result was used. */
static fl_bench_result run(fl_bench *bench)
{
    fl_bench_result result;

    must(fl_bench_run(bench));
    must(fl_bench_result_get(bench, 0, &result));
    return result;
}

/* From host memory to host memory. */
static fl_bench_result run_copies(fl_device *device, int64_t count, fl_bench **bench)
{
    const fl_bench_plan plan = {.time_call = true};
    const fl_bench_array arrays[] = {{FL_F32, 1, {count}, .from = values}, {FL_F32, 1, {count}, .to = results}};

    must(fl_bench_create(&plan, bench));
    must(fl_bench_add_call(*bench, &(fl_bench_call){"increment", device, .call = increment, .count = 2,
                                                    .arrays = arrays, .pageable = true}));
    return run(*bench);
}

static fl_bench_result run_there(fl_device *device, int64_t count, bool flush)
{
    const fl_bench_plan plan = {.flush = flush, .fewest = flush ? 5 : 20}; /* a flush takes long */
    fl_bench_result result;
    fl_array *arrays[2];
    fl_bench *bench;

    must(fl_array_from_host(device, FL_F32, 1, &count, values, &arrays[0]));
    must(fl_array_create(device, FL_F32, 1, &count, &arrays[1]));
    must(fl_bench_create(&plan, &bench));
    must(fl_bench_add(bench, &(fl_bench_case){"increment", device, .call = increment_there, .user = arrays}));
    result = run(bench);
    fl_bench_free(bench);
    fl_array_free(arrays[0]);
    fl_array_free(arrays[1]);
    return result;
}

static void show(const char *mistake, double wrong, double right)
{
    printf("%-48s %12.2f us %12.2f us\n", mistake, 1e6 * wrong, 1e6 * right);
}

int main(int argc, char **argv)
{
    const double *call;
    fl_bench_statistics calls;
    fl_bench_result copies, small, warm, cold;
    fl_device *device;
    fl_bench *bench;
    int count;

    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));
    const int64_t large = fl_device_describe(device)->emulation ? LARGE / 256 : LARGE;
    copies = run_copies(device, large, &bench);
    must(fl_bench_samples(bench, 0, FL_BENCH_CALL, &call, &count));
    must(fl_bench_statistics_of(call, count, &calls));
    small = run_there(device, SMALL, false);
    warm = run_there(device, MIDDLE, false);
    cold = run_there(device, MIDDLE, true);

    printf("%s, %s\n%-48s %15s %15s\n", fl_device_describe(device)->resource, fl_device_describe(device)->name,
           "mistake", "its number", "right");
    show("1 the clock stops when the call returns", calls.median, copies.kernel_s);
    show("2 the first pass is timed", copies.first_s, copies.total_s);
    show("3 one short kernel is timed, not many", small.total_s, small.kernel_s);
    show("4 copies are left out", copies.kernel_s, copies.total_s);
    show("5 the cache still has the data", warm.kernel_s, cold.kernel_s);
    fl_bench_free(bench);
    fl_device_close(device);
    return 0;
}
