/* SPDX-License-Identifier: MIT
 *
 * own_sort [DEVICE...]: times your own sort beside Flynn's on four backends, in one table. A function of the host has
 * no device. */
#include <flynn/bench.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 16 };
static float numbers[N], sorted[N];

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "own_sort: %s\n", fl_last_error());
    exit(1);
}

/* Your function: a merge sort, from the bottom up. */
static fl_status own_sort(void *user, fl_array *const *arrays, const fl_run *run)
{
    static float room[N];
    float *from = sorted, *to = room;

    (void)user, (void)arrays, (void)run;
    memcpy(sorted, numbers, sizeof sorted);
    for (int width = 1; width < N; width *= 2) {
        for (int start = 0; start < N; start += 2 * width)
            for (int i = start, j = start + width, k = start; k < start + 2 * width; k++) {
                const int take_first = i < start + width && (j == start + 2 * width || from[i] <= from[j]);
                to[k] = take_first ? from[i++] : from[j++];
            }
        float *const last = from;
        from = to;
        to = last;
    }
    if (from != sorted) /* the result must be where the check reads it */
        memcpy(sorted, from, sizeof sorted);
    return FL_OK;
}

static fl_status flynn_sort(void *user, fl_array *const *arrays, const fl_run *run)
{
    (void)user;
    return fl_sort(fl_array_device(arrays[0]), arrays[0], arrays[1], run);
}

static fl_status check(void *user, bool *right)
{
    (void)user;
    *right = true;
    for (int i = 1; i < N; i++)
        *right = *right && sorted[i - 1] <= sorted[i];
    return FL_OK;
}

int main(int argc, char **argv)
{
    static const char *const four[] = {"serial", "simd", "omp", "hip"};
    const fl_bench_array arrays[] = {{FL_F32, 1, {N}, .from = numbers}, {FL_F32, 1, {N}, .to = sorted}};
    fl_bench_call work = {"own sort", NULL, .call = own_sort, .count = 2, .arrays = arrays, .check = check};
    const int count = argc > 1 ? argc - 1 : 4;
    fl_device **device = calloc((size_t)count, sizeof(fl_device *));
    fl_bench *bench;
    char table[4000];
    int wrong = 0;

    for (int i = 0; i < N; i++)
        numbers[i] = (float)(i * 7919LL % 1000003);
    must(fl_bench_create(NULL, &bench));
    must(fl_bench_add_call(bench, &work));
    work.name = "Flynn's sort";
    work.call = flynn_sort;
    for (int i = 0; device && i < count; i++) {
        if (fl_device_open(argc > 1 ? argv[i + 1] : four[i], &device[i]) != FL_OK) {
            printf("left out: %s\n", fl_last_error());
            continue;
        }
        work.device = device[i];
        must(fl_bench_add_call(bench, &work));
    }
    must(fl_bench_run(bench));
    fl_bench_table(bench, table, sizeof table);
    fputs(table, stdout);
    for (size_t i = 0; i < fl_bench_count(bench); i++) {
        fl_bench_result result;
        must(fl_bench_result_get(bench, i, &result));
        wrong += !result.right;
    }
    fl_bench_free(bench);
    for (int i = 0; device && i < count; i++)
        fl_device_close(device[i]);
    free(device);
    return wrong > 0;
}
