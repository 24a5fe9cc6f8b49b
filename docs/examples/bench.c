/* SPDX-License-Identifier: MIT
 * bench [DEVICE...]: sorts 2^18 numbers on each device, or on all, and shows what each part takes. */
#include <flynn/bench.h>
#include <stdio.h>

enum { N = 1 << 18, MOST = 16 };
static float numbers[N], sorted[N];

static fl_status sort(void *user, fl_array *const *arrays, const fl_run *run)
{
    (void)user;
    return fl_sort(fl_array_device(arrays[0]), arrays[0], arrays[1], run);
}

static fl_status check(void *user, bool *right)
{
    (void)user;
    for (int i = *right = 1; i < N; i++)
        *right = *right && sorted[i - 1] <= sorted[i];
    return FL_OK;
}

int main(int argc, char **argv)
{
    const fl_bench_array both[] = {{FL_F32, 1, {N}, .from = numbers}, {FL_F32, 1, {N}, .to = sorted}};
    const int count = argc > 1 ? argc - 1 : (int)fl_backend_count();
    fl_device *on[MOST] = {NULL};
    fl_bench *bench;
    char table[4000];

    for (int i = 0; i < N; i++)
        numbers[i] = (float)(i * 7919LL % 1000003);
    fl_bench_create(NULL, &bench);
    for (int i = 0; i < count && i < MOST; i++)
        if (fl_device_open(argc > 1 ? argv[i + 1] : fl_backend_get(i)->name, &on[i]) != FL_OK ||
            fl_bench_add_call(
                bench, &(fl_bench_call){"sort", on[i], .call = sort, .count = 2, .arrays = both, .check = check}))
            printf("left out: %s\n", fl_last_error());
    if (fl_bench_run(bench) != FL_OK)
        return fprintf(stderr, "bench: %s\n", fl_last_error()), 1;
    printf("%.*s", (int)fl_bench_table(bench, table, sizeof table), table);
    fl_bench_free(bench);
    for (int i = 0; i < MOST; i++)
        fl_device_close(on[i]);
}
