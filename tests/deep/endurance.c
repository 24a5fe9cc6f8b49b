/* SPDX-License-Identifier: MIT
 *
 * endurance RESOURCE [THREADS [OPERATIONS]]: THREADS threads (64) each open the device, compute and close it, several
 * times; then one device runs OPERATIONS operations (10000) of every kind, during which the memory of the process and
 * of the GPU stays flat. Every result is checked.
 *
 * The memory is read after each tenth of the operations. Flat: in most of the last nine tenths the process has grown by
 * at most 16 bytes an operation, which a leak of the smallest block an operation exceeds (malloc has none below 32
 * bytes), because a leak grows in each tenth and the pools of malloc and of a driver's threads in few of them; the
 * GPU's free memory has shrunk by at most 2 MiB, the driver's step. The GPU's is the driver's account of the whole GPU:
 * nothing else may use it meanwhile.
 *
 * Exit: 0 all of it held, 1 not so, 2 usage, 3 the device cannot be opened.
 */
#include <flynn/flynn.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000, EDGE = 20, ROUNDS = 4, OPERATIONS_A_ROUND = 60, TENTHS = 10 };

static const char *resource;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------------------------------------- operations ---- */

/* Arrays of one device, in which one thread computes. */
typedef struct bench {
    fl_device *device;
    fl_stream *stream;
    fl_array *x, *y, *out, *wide, *count, *image, *kernel, *convolved, *u, *s, *vt, *product;
    int64_t operations;
    bool ok;
    char problem[400];
} bench;

static bool right(bench *b, fl_status status, const char *what)
{
    if (status != FL_OK && b->ok)
        snprintf(b->problem, sizeof b->problem, "%s: %s: %s", what, fl_status_name(status), fl_last_error());
    b->ok = b->ok && status == FL_OK;
    return b->ok;
}

static void expect(bench *b, bool holds, const char *what)
{
    if (!holds && b->ok)
        snprintf(b->problem, sizeof b->problem, "%s: a wrong result after %" PRId64 " operations", what, b->operations);
    b->ok = b->ok && holds;
}

static fl_array *array(bench *b, int64_t rows, int64_t columns, float (*element)(int64_t i, int64_t j))
{
    float data[N];
    fl_array *made = NULL;
    for (int64_t i = 0; i < rows * columns; i++)
        data[i] = element(i / columns, i % columns);
    right(b, fl_array_from_host(b->device, FL_F32, columns > 1 ? 2 : 1, (int64_t[]){rows, columns}, data, &made),
          "fl_array_from_host");
    return made;
}

static float element_x(int64_t i, int64_t j)
{
    return (float)((i * 389 + j) % 997 % 100);
}

static float element_y(int64_t i, int64_t j)
{
    return (float)(1 + (i * 7 + j) % 13);
}

static float one(int64_t i, int64_t j)
{
    (void)i;
    (void)j;
    return 1;
}

static void prepare(bench *b)
{
    const int64_t shapes[] = {N, N, 1};
    fl_array **const made[] = {&b->out, &b->wide, &b->count};
    const fl_dtype dtypes[] = {FL_F32, FL_F64, FL_I64};

    b->ok = true;
    right(b, fl_stream_create(b->device, &b->stream), "fl_stream_create");
    for (int i = 0; i < 3; i++)
        right(b, fl_array_create(b->device, dtypes[i], 1, &shapes[i], made[i]), "fl_array_create");
    b->x = array(b, N, 1, element_x);
    b->y = array(b, N, 1, element_y);
    b->image = array(b, EDGE, EDGE, element_x);
    b->kernel = array(b, 3, 3, one);
    b->convolved = array(b, EDGE, EDGE, one);
    b->u = array(b, EDGE, 2, element_y);
    b->s = array(b, 2, 1, one);
    b->vt = array(b, 2, EDGE, element_y);
    b->product = array(b, EDGE, EDGE, one);
}

static void finish(bench *b)
{
    fl_array *const all[] = {b->x,      b->y,         b->out, b->wide, b->count, b->image,
                             b->kernel, b->convolved, b->u,   b->s,    b->vt,    b->product};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fl_array_free(all[i]);
    fl_stream_free(b->stream);
}

/* What the operation left in `out`, or another array, at some places. */
static void expect_float(bench *b, const fl_array *from, int64_t i, double wanted, const char *what)
{
    float got[N];
    if (right(b, fl_array_to_host(from, got), what))
        expect(b, fabs(got[i] - wanted) <= 1e-5 * fabs(wanted), what);
}

static void expect_count(bench *b, int64_t wanted, const char *what)
{
    int64_t got = -1;
    if (right(b, fl_array_to_host(b->count, &got), what))
        expect(b, got == wanted, what);
}

static void expect_sorted(bench *b)
{
    float got[N];
    if (!right(b, fl_array_to_host(b->out, got), "fl_sort"))
        return;
    for (int i = 1; i < N; i++)
        expect(b, got[i - 1] <= got[i], "fl_sort");
}

static int64_t nonzero(void)
{
    int64_t count = 0;
    for (int64_t i = 0; i < N; i++)
        count += element_x(i, 0) != 0;
    return count;
}

static void decompose(bench *b, const fl_run *run)
{
    double s0 = 0;
    float s[2];
    right(b, fl_svd(b->device, b->product, 1, b->u, b->s, b->vt, run), "fl_svd");
    if (right(b, fl_array_to_host(b->s, s), "fl_svd"))
        s0 = s[0];
    expect(b, s0 > 0 && s[1] >= 0 && s[1] <= s0, "fl_svd");
}

/* The i-th operation; the result is looked at if `look`. */
static void operate(bench *b, int64_t i, bool look)
{
    fl_timing timing;
    fl_run run = {.stream = i % 3 == 0 ? b->stream : NULL, .timing = i % 5 == 0 ? &timing : NULL};
    fl_closeness found;
    fl_array *temporary = NULL;

    if (run.stream == NULL)
        right(b, fl_stream_wait(b->stream), "fl_stream_wait");
    else
        right(b, fl_device_wait(b->device), "fl_device_wait");
    switch (i % 14) {
    case 0: right(b, fl_increment(b->device, b->x, b->out, &run), "fl_increment"); break;
    case 1: right(b, fl_sqrt(b->device, b->y, b->out, &run), "fl_sqrt"); break;
    case 2: right(b, fl_maximum(b->device, b->x, b->y, b->out, &run), "fl_maximum"); break;
    case 3: right(b, fl_log_of_sum(b->device, b->x, b->y, b->out, &run), "fl_log_of_sum"); break;
    case 4: right(b, fl_sort(b->device, b->x, b->out, &run), "fl_sort"); break;
    case 5: right(b, fl_select(b->device, b->x, b->out, b->count, &run), "fl_select"); break;
    case 6: right(b, fl_convolve(b->device, b->image, b->kernel, FL_SAME, b->convolved, &run), "fl_convolve"); break;
    case 7: right(b, fl_convolve1d(b->device, b->x, b->y, FL_SAME, b->out, &run), "fl_convolve1d"); break;
    case 8: right(b, fl_reconstruct(b->device, b->u, b->s, b->vt, 2, b->product, &run), "fl_reconstruct"); break;
    case 9:
        run.timing = NULL;
        right(b, fl_allclose(b->device, b->x, b->x, 0, 0, false, &found, &run), "fl_allclose");
        expect(b, found.close, "fl_allclose");
        break;
    case 10: right(b, fl_convert(b->device, b->y, b->wide, &run), "fl_convert"); break;
    case 11: right(b, fl_copy_array(b->device, b->y, b->out, &run), "fl_copy_array"); break;
    case 12: right(b, fl_multiply_add(b->device, b->x, 2, 1, 3, b->out, &run), "fl_multiply_add"); break;
    case 13: /* an array freed while it is in use */
        right(b, fl_array_create(b->device, FL_I64, 1, (int64_t[]){N}, &temporary), "fl_array_create");
        right(b, fl_primes(b->device, 500, temporary, b->count, &run), "fl_primes");
        fl_array_free(temporary);
        break;
    }
    b->operations++;
    if (!look || !b->ok)
        return;
    if (run.stream)
        right(b, fl_stream_wait(run.stream), "fl_stream_wait");
    switch (i % 14) {
    case 0: expect_float(b, b->out, 777, element_x(777, 0) + 1, "fl_increment"); break;
    case 1: expect_float(b, b->out, 5, sqrt(element_y(5, 0)), "fl_sqrt"); break;
    case 2: expect_float(b, b->out, 9, fmax(element_x(9, 0), element_y(9, 0)), "fl_maximum"); break;
    case 3: expect_float(b, b->out, 999, log(element_x(999, 0) + element_y(999, 0)), "fl_log_of_sum"); break;
    case 4: expect_sorted(b); break;
    case 5: expect_count(b, nonzero(), "fl_select"); break;
    case 6:
        expect_float(b, b->convolved, 0, element_x(0, 0) + element_x(0, 1) + element_x(1, 0) + element_x(1, 1),
                     "fl_convolve");
        break;
    case 8: decompose(b, NULL); break;
    case 11: expect_float(b, b->out, 321, element_y(321, 0), "fl_copy_array"); break;
    case 12: expect_float(b, b->out, 50, 8 * element_x(50, 0) + 7, "fl_multiply_add"); break;
    case 13: expect_count(b, 95, "fl_primes"); break;
    }
}

/* ---------------------------------------------------------------------------------------------------- threads ---- */

static void *open_and_close(void *number)
{
    bench *b = number;
    int64_t start = b->operations;
    b->operations = 0;
    b->ok = true;
    for (int round = 0; round < ROUNDS && b->ok; round++) {
        b->device = NULL;
        if (!right(b, fl_device_open(resource, &b->device), "fl_device_open"))
            break;
        prepare(b);
        for (int64_t i = 0; i < OPERATIONS_A_ROUND && b->ok; i++)
            operate(b, start + i, i % 4 == 0);
        finish(b);
        fl_device_close(b->device);
    }
    return NULL;
}

static bool run_threads(int count)
{
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    bench *benches = calloc((size_t)count, sizeof *benches);
    double start = now();
    int begun = 0, wrong = 0;
    int64_t operations = 0;

    for (; threads && benches && begun < count; begun++) {
        benches[begun].operations = begun; /* each begins with another one */
        if (pthread_create(&threads[begun], NULL, open_and_close, &benches[begun]) != 0)
            break;
    }
    for (int i = 0; i < begun; i++) {
        pthread_join(threads[i], NULL);
        operations += benches[i].operations;
        if (!benches[i].ok) {
            wrong++;
            printf("FAILED   thread %d: %s\n", i, benches[i].problem);
        }
    }
    if (begun < count)
        printf("FAILED   only %d threads began\n", begun);
    printf("%-8s %d threads opened and closed %s %d times each: %" PRId64 " operations, %.1f s\n",
           wrong || begun < count ? "FAILED" : "ok", begun, resource, ROUNDS, operations, now() - start);
    free(threads);
    free(benches);
    return wrong == 0 && begun == count;
}

/* ----------------------------------------------------------------------------------------------------- memory ---- */

typedef struct memory {
    int64_t process, gpu_free; /* bytes; gpu_free: -1 if not known */
} memory;

/* The free memory of the GPU whose context this thread uses, from the driver; NULL if there is none. */
typedef int get_info(size_t *free_bytes, size_t *total);

static get_info *gpu_memory(const fl_device *device)
{
    static const struct {
        const char *library, *function;
        int dlpack_type;
    } drivers[] = {{"libcuda.so.1", "cuMemGetInfo_v2", 2}, {"libamdhip64.so", "hipMemGetInfo", 10}};
    get_info *found = NULL;
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers && !found; i++) {
        void *library = NULL;
        if (fl_device_describe(device)->dlpack_type == drivers[i].dlpack_type)
            library = dlopen(drivers[i].library, RTLD_NOW);
        if (library)
            *(void **)&found = dlsym(library, drivers[i].function);
    }
    return found;
}

static memory memory_now(get_info *gpu)
{
    memory m = {0, -1};
    long pages = 0, resident = 0;
    size_t free_bytes = 0, total = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &pages, &resident) == 2)
        m.process = resident * sysconf(_SC_PAGESIZE);
    if (file)
        fclose(file);
    if (gpu && gpu(&free_bytes, &total) == 0)
        m.gpu_free = (int64_t)free_bytes;
    return m;
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool run_operations(int64_t count)
{
    bench b = {.ok = true};
    double start = now();
    memory at[TENTHS]; /* after each tenth */
    int64_t grown[TENTHS - 1], most = 16 * (count / TENTHS), lost;
    get_info *gpu;
    bool flat;

    if (!right(&b, fl_device_open(resource, &b.device), "fl_device_open")) {
        printf("FAILED   %s\n", b.problem);
        return false;
    }
    prepare(&b);
    gpu = gpu_memory(b.device);
    for (int tenth = 0; tenth < TENTHS; tenth++) {
        for (int64_t i = count * tenth / TENTHS; i < count * (tenth + 1) / TENTHS && b.ok; i++)
            operate(&b, i, i % 101 == 0);
        right(&b, fl_device_wait(b.device), "fl_device_wait");
        at[tenth] = memory_now(gpu);
    }
    finish(&b);
    fl_device_close(b.device);
    printf("%-8s %" PRId64 " operations on %s, %.1f s%s%s\n", b.ok ? "ok" : "FAILED", b.operations, resource,
           now() - start, b.ok ? "" : ": ", b.problem);
    printf("         the process has KiB after each tenth:");
    for (int i = 0; i < TENTHS; i++)
        printf(" %" PRId64, at[i].process >> 10);
    for (int i = 1; i < TENTHS; i++)
        grown[i - 1] = at[i].process - at[i - 1].process;
    qsort(grown, TENTHS - 1, sizeof *grown, by_size);
    lost = at[0].gpu_free - at[TENTHS - 1].gpu_free;
    flat = grown[TENTHS / 2 - 1] <= most && lost <= 2 << 20;
    printf("\n%-8s it grew by %" PRId64 " KiB in the middle one of nine (at most %" PRId64 ")", flat ? "ok" : "FAILED",
           grown[TENTHS / 2 - 1] >> 10, most >> 10);
    if (at[0].gpu_free >= 0)
        printf("; the GPU's free memory shrank by %" PRId64 " KiB (at most 2048)", lost / 1024);
    else
        printf("; no driver tells the memory of a GPU");
    printf("\n");
    return b.ok && flat;
}

/* ------------------------------------------------------------------------------------------------------- main ---- */

int main(int argc, char **argv)
{
    char *rest = "", *rest2 = "";
    long threads = argc > 2 ? strtol(argv[2], &rest, 10) : 64;
    long long operations = argc > 3 ? strtoll(argv[3], &rest2, 10) : 10000;
    fl_device *device = NULL;
    bool ok;

    if (argc < 2 || argc > 4 || *rest || *rest2 || threads < 0 || threads > 10000 || operations < 0) {
        fprintf(stderr, "usage: endurance RESOURCE [THREADS [OPERATIONS]]\n");
        return 2;
    }
    resource = argv[1];
    if (fl_device_open(resource, &device) != FL_OK) {
        fprintf(stderr, "endurance: %s\n", fl_last_error());
        return 3;
    }
    fl_device_close(device);
    ok = run_threads((int)threads);
    ok = run_operations(operations) && ok;
    printf("endurance: %s\n", ok ? "all held" : "FAILED");
    return ok ? 0 : 1;
}
