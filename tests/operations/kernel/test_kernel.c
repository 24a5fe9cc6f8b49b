/* SPDX-License-Identifier: MIT
 *
 * test_kernel.c - kernels of the user's on every backend that runs them: what a thread knows of itself, what a block
 * shares, atomics, constants, functions; arguments that are refused; texts that are wrong; how long kernels live.
 */
#include "harness.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL: the device runs no kernels, which it says. */
static fl_kernel *kernel_with(fl_device *device, const char *text, const char *const *defines)
{
    fl_kernel *kernel = NULL;
    fl_status status = fl_kernel_create(device, text, "text.hip", NULL, defines, NULL, 0, &kernel);
    if (status == FL_E_UNSUPPORTED)
        return NULL;
    cr_assert(status == FL_OK, "%s", fl_last_error());
    return kernel;
}

static fl_kernel *kernel_of(fl_device *device, const char *text)
{
    return kernel_with(device, text, NULL);
}

static fl_array *array_of(fl_device *device, fl_dtype dtype, int64_t count, const void *data)
{
    fl_array *array;
    must(fl_array_from_host(device, dtype, 1, &count, data, &array));
    return array;
}

/* Runs a kernel of (int *out) whose block is x * y * z, and checks the results. */
static void expect_integers(const char *resource, const char *text, const int64_t grid[3], const int block[3],
                            const int *wanted, int count)
{
    enum { MOST = 4096 };
    static const int zeros[MOST];
    fl_device *device = open_device(resource);
    fl_kernel *kernel = kernel_of(device, text);
    fl_array *out = array_of(device, FL_I32, count, zeros);
    int got[MOST];
    cr_assert(count <= MOST);
    if (kernel) {
        must(fl_kernel_launch(kernel, grid, 1024, &(fl_argument){.array = out}, 1,
                              &(fl_run){.block = {block[0], block[1], block[2]}}));
        must(fl_array_to_host(out, got));
        for (int i = 0; i < count; i++)
            cr_assert(got[i] == wanted[i], "%s\n[%d] is %d, expected %d", text, i, got[i], wanted[i]);
    }
    fl_kernel_free(kernel);
    fl_array_free(out);
    fl_device_close(device);
}

ON_EVERY_BACKEND(kernel, a_thread_knows_its_place)
{
    enum { SIZE = 2 * 3 * 2 * 4 * 2 * 3 };
    const int64_t grid[] = {2, 3, 2};
    const int block[] = {4, 2, 3};
    int wanted[SIZE];
    for (int i = 0; i < SIZE; i++)
        wanted[i] = 7 * i + 1;
    expect_integers(on->resource,
                    "__global__ void k(int *out)\n{\n"
                    "    dim3 b = blockDim, g = gridDim;\n"
                    "    int block = (blockIdx.z * g.y + blockIdx.y) * g.x + blockIdx.x;\n"
                    "    int thread = (threadIdx.z * b.y + threadIdx.y) * b.x + threadIdx.x;\n"
                    "    int i = block * b.x * b.y * b.z + thread;\n"
                    "    if (g.z == 2 && b.z == 3)\n"
                    "        out[i] = 7 * i + 1;\n}\n",
                    grid, block, wanted, SIZE);
}

/* Each thread's number goes round: through static and dynamic shared memory, with a barrier each time. */
ON_EVERY_BACKEND(kernel, a_block_shares_memory)
{
    enum { THREADS = 128, BLOCKS = 5 };
    int wanted[THREADS * BLOCKS];
    for (int i = 0; i < THREADS * BLOCKS; i++)
        wanted[i] = (i / THREADS) * 1000 + (i % THREADS + 2 * 10) % THREADS;
    expect_integers(on->resource,
                    "extern __shared__ int moving[]; /* extern __shared__ int other[]; */\n"
                    "__device__ void turn(int *to, int value) { to[(threadIdx.x + 127) % 128] = value; }\n"
                    "__global__ void k(int *out)\n{\n"
                    "    __shared__ int other[128];\n"
                    "    int value = blockIdx.x * 1000 + threadIdx.x;\n"
                    "    for (int i = 0; i < 10; i++) {\n"
                    "        turn(other, value);\n"
                    "        __syncthreads();\n"
                    "        turn(moving, other[threadIdx.x]);\n"
                    "        __syncthreads();\n"
                    "        value = moving[threadIdx.x];\n"
                    "    }\n"
                    "    out[blockIdx.x * blockDim.x + threadIdx.x] = value;\n}\n",
                    (const int64_t[]){BLOCKS, 1, 1}, (const int[]){THREADS, 1, 1}, wanted, THREADS * BLOCKS);
}

/* A thread that has ended is not waited for, as on GPUs. */
ON_EVERY_BACKEND(kernel, threads_that_end_early)
{
    int wanted[64] = {0};
    for (int i = 0; i < 32; i++)
        wanted[i] = 31 - i;
    expect_integers(on->resource,
                    "__global__ void k(int *out)\n{\n"
                    "    __shared__ int s[32];\n"
                    "    if (threadIdx.x >= 32)\n        return;\n"
                    "    s[threadIdx.x] = threadIdx.x;\n    __syncthreads();\n"
                    "    out[threadIdx.x] = s[31 - threadIdx.x];\n}\n",
                    (const int64_t[]){1, 1, 1}, (const int[]){64, 1, 1}, wanted, 64);
}

ON_EVERY_BACKEND(kernel, atomics)
{
    enum { THREADS = 32 * 64 };
    /* add, sub, max, min, exch (the same by all), or, and, xor of each twice, inc modulo 5, cas counts, votes */
    const int wanted[] = {THREADS, -THREADS, THREADS - 1, -3, 9, 63, 0, 0, THREADS % 5, THREADS, 32, 64};
    expect_integers(on->resource,
                    "__device__ unsigned turns;\n__device__ float total;\n"
                    "__global__ void k(int *out)\n{\n"
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x, old, seen = 0;\n"
                    "    atomicAdd(&out[0], 1);\n    atomicSub(&out[1], 1);\n    atomicMax(&out[2], i);\n"
                    "    atomicMin(&out[3], -(i % 4));\n    atomicExch(&out[4], 9);\n"
                    "    atomicOr(&out[5], i % 64);\n    atomicAnd(&out[6], i);\n"
                    "    atomicXor(&out[7], i);\n    atomicXor(&out[7], i);\n"
                    "    atomicInc((unsigned *)&out[8], 4);\n"
                    "    do {\n        old = seen;\n        seen = atomicCAS(&out[9], old, old + 1);\n"
                    "    } while (seen != old);\n"
                    "    atomicAdd(&total, 0.5f);\n"
                    "    atomicMax(&out[10], __syncthreads_count(threadIdx.x % 2));\n"
                    "    atomicMax(&out[11], __syncthreads_or(threadIdx.x == 5) * 64);\n}\n",
                    (const int64_t[]){32, 1, 1}, (const int[]){64, 1, 1}, wanted, COUNT(wanted));
}

ON_EVERY_BACKEND(kernel, numbers_of_all_types)
{
    static const char text[] =
        "__global__ void k(double *out, bool a, char b, unsigned char c, short d, int e, unsigned f, long g, size_t "
        "h,\n"
        "                  float i, double j)\n{\n"
        "    double all[] = {(double)a, (double)b, (double)c, (double)d, (double)e, (double)f, (double)g, (double)h, "
        "i,\n"
        "                    j, (double)max(3, 4), min(2.5f, NAN), sqrt(16), pow(2.0f, 3), fma(2.0, 3.0, 1.0), M_PI};\n"
        "    out[threadIdx.x] = all[threadIdx.x];\n}\n";
    const double wanted[] = {1,   -128, 255, -32768, -2147483648.0,         4294967295.0, -0x1p62, 0x1p62, 0.1f, 0.1, 4,
                             2.5, 4,    8,   7,      3.14159265358979323846};
    fl_device *device = open_device(on->resource);
    fl_kernel *kernel = kernel_of(device, text);
    double got[COUNT(wanted)] = {0};
    fl_array *out = array_of(device, FL_F64, COUNT(wanted), got);
    fl_argument arguments[] = {{.array = out},
                               {.integer = 1},
                               {.integer = -128},
                               {.integer = 255},
                               {.integer = -32768},
                               {.integer = INT32_MIN},
                               {.integer = UINT32_MAX},
                               {.integer = -(INT64_C(1) << 62)},
                               {.integer = INT64_C(1) << 62},
                               {.real = 0.1},
                               {.real = 0.1}};
    if (kernel) {
        fl_timing timing = {0};
        const fl_run run = {.block = {COUNT(wanted)}, .timing = &timing};
        must(fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, arguments, COUNT(arguments), &run));
        must(fl_array_to_host(out, got));
        for (size_t i = 0; i < COUNT(wanted); i++)
            cr_expect(got[i] == wanted[i], "%zu is %.17g, expected %.17g", i, got[i], wanted[i]);
        cr_expect(timing.bytes == sizeof got && timing.block[0] == COUNT(wanted) && timing.grid[0] == 1);
        for (int i = 1; i < 9; i++) { /* one beyond the type's largest */
            const fl_argument good = arguments[i];
            arguments[i].integer = i == 1 ? 2 : i == 2 ? 128 : i == 3 ? -1 : i == 4 ? 32768 : i == 8 ? -1 : INT64_MAX;
            if (i != 7) {
                expect_argument_error(
                    fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, arguments, COUNT(arguments), NULL),
                    "its type holds");
            }
            arguments[i] = good;
        }
    }
    fl_kernel_free(kernel);
    fl_array_free(out);
    fl_device_close(device);
}

ON_EVERY_BACKEND(kernel, constants_and_defines)
{
    const char *const defines[] = {"COUNT=4", "TWICE", "TYPE=float", NULL};
    const float factors[] = {2, 3, 5, 7};
    fl_device *device = open_device(on->resource);
    fl_kernel *kernel = kernel_with(device,
                                    "__constant__ float factors[COUNT];\n__device__ int more = 100;\n"
                                    "__global__ void k(float *out)\n{\n    TYPE x = factors[threadIdx.x];\n"
                                    "#ifdef TWICE\n    x *= 2;\n#endif\n    out[threadIdx.x] = x + more;\n}\n",
                                    defines);
    float got[4] = {0};
    fl_array *out = array_of(device, FL_F32, 4, got), *four = array_of(device, FL_F32, 4, factors);
    fl_array *five = array_of(device, FL_F32, 5, (float[5]){0}), *one = array_of(device, FL_I32, 1, (int[]){1000});
    if (kernel) {
        must(fl_kernel_constant(kernel, "factors", four));
        must(fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, &(fl_argument){.array = out}, 1,
                              &(fl_run){.block = {4}}));
        must(fl_kernel_constant(kernel, "more", one)); /* waits for that launch */
        must(fl_array_to_host(out, got));
        cr_expect(got[0] == 104 && got[3] == 114, "%g %g", got[0], got[3]);
        must(fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, &(fl_argument){.array = out}, 1,
                              &(fl_run){.block = {4}}));
        must(fl_array_to_host(out, got));
        cr_expect(got[0] == 1004 && got[3] == 1014, "%g %g", got[0], got[3]);
        expect_argument_error(fl_kernel_constant(kernel, "factors", five), "factors has 16 bytes, and the array 20");
        expect_argument_error(fl_kernel_constant(kernel, "factor", four),
                              "no __constant__ or __device__ variable 'factor'");
        expect_status(FL_E_ARGUMENT, fl_kernel_constant(kernel, "sin", four));
        expect_status(FL_E_ARGUMENT, fl_kernel_constant(kernel, "factors", NULL));
        expect_status(FL_E_ARGUMENT, fl_kernel_constant(kernel, NULL, four));
        expect_status(FL_E_ARGUMENT, fl_kernel_constant(NULL, "factors", four));
    }
    fl_kernel_free(kernel);
    free_arrays(out, four, five, one);
    fl_device_close(device);
}

ON_EVERY_BACKEND(kernel, wrong_arguments)
{
    const int64_t grid[] = {1, 1, 1}, no_grid[] = {1, 0, 1}, shape[] = {4, 4};
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    fl_kernel *kernel = kernel_of(device, "__global__ void k(const float *a, float *b, int n) { b[0] = a[n]; }");
    fl_array *a, *b, *inside, *foreign, *integers;
    must(fl_array_create(device, FL_F32, 2, shape, &a));
    must(fl_array_create(device, FL_F32, 2, shape, &b));
    must(fl_array_create(device, FL_I32, 2, shape, &integers));
    must(fl_array_create(other, FL_F32, 2, shape, &foreign));
    must(fl_array_view(a, (const int64_t[]){0, 0}, (const int64_t[]){2, 2}, &inside));
    fl_argument good[] = {{.array = a}, {.array = b}, {.integer = 0}}, wrong[3];
    expect_status(FL_E_ARGUMENT, fl_kernel_launch(NULL, grid, 0, good, 3, NULL));
    expect_error_says("kernel is NULL");
    if (kernel) {
        expect_status(FL_E_ARGUMENT, fl_kernel_launch(kernel, NULL, 0, good, 3, NULL));
        expect_status(FL_E_ARGUMENT, fl_kernel_launch(kernel, grid, 0, NULL, 3, NULL));
        expect_argument_error(fl_kernel_launch(kernel, grid, 0, good, 2, NULL), "k has 3 parameters");
        expect_status(FL_E_ARGUMENT, fl_kernel_launch(kernel, grid, -1, good, 3, NULL));
        expect_argument_error(fl_kernel_launch(kernel, no_grid, 0, good, 3, NULL), "grid[1] is 0");
        expect_status(FL_E_LIMIT, fl_kernel_launch(kernel, grid, INT64_C(1) << 40, good, 3, NULL));
        expect_status(FL_E_LIMIT,
                      fl_kernel_launch(kernel, (const int64_t[]){1, 1, INT64_C(1) << 40}, 0, good, 3, NULL));
        expect_status(FL_E_LIMIT, fl_kernel_launch(kernel, grid, 0, good, 3, &(fl_run){.block = {4096}}));
        expect_status(FL_E_UNKNOWN, fl_kernel_launch(kernel, grid, 0, good, 3, &(fl_run){.variant = "fast"}));
        const struct {
            fl_array *array;
            fl_status status;
            const char *says;
        } arrays[] = {{NULL, FL_E_ARGUMENT, "b is NULL"},
                      {inside, FL_E_ARGUMENT, "expected a packed array"},
                      {integers, FL_E_ARGUMENT, "b has dtype i32; the kernel takes f32"},
                      {foreign, FL_E_WRONG_DEVICE, "b"}};
        for (size_t i = 0; i < COUNT(arrays); i++) {
            memcpy(wrong, good, sizeof wrong);
            wrong[1].array = arrays[i].array;
            expect_status(arrays[i].status, fl_kernel_launch(kernel, grid, 0, wrong, 3, NULL));
            expect_error_says(arrays[i].says);
        }
        memcpy(wrong, good, sizeof wrong);
        wrong[2].array = a;
        expect_argument_error(fl_kernel_launch(kernel, grid, 0, wrong, 3, NULL), "argument n is an array");
        must(fl_kernel_launch(kernel, grid, 0, good, 3, NULL));
    }
    fl_kernel_free(kernel);
    free_arrays(inside, a, b, integers, foreign);
    fl_device_close(other);
    fl_device_close(device);
}

/* The place is the user's, whatever the compiler; a processor's backends say that they run no kernels. */
ON_EVERY_BACKEND(kernel, texts_that_do_not_compile)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"__global__ void k(float *out)\n{\n\tout[0] = sqroot(2.0f);\n}\n",
         "t.hip:3:11: 'sqroot' is not known; did you "},
        {"__global__ void k(float *out)\n{\n    out[0] = lenght;\n}\n", "t.hip:3:14: 'lenght' is not known"},
        {"__global__ void k(float *out)\n{\n    out[0] = 1\n}\n", "t.hip:"},
        {"__global__ void k(float *out) { const float f = 0; f = 1; }", "t.hip:1:"},
        {"__global__ void k(T *out) { }", "t.hip:1:19: 'T' is not a type"},
        {"__device__ float helper(float x);\n__global__ void k(float *out)\n{\n    out[0] = 2 * helper(1);\n}\n",
         "t.hip:4:18: 'helper' is used, and nothing here defines it"},
        {"extern \"C\" __device__ void exit(int);\n__global__ void k(float *out) { out[0] = 1; exit(0); }\n",
         "t.hip:2:45: 'exit' is used, and nothing here defines it"},
    };
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (is_left_out(4))
            continue;
        char log[256] = "";
        fl_kernel *kernel;
        const fl_status status = fl_kernel_create(device, wrong[i].text, "t.hip", NULL, NULL, log, sizeof log, &kernel);
        cr_expect(kernel == NULL);
        if (status == FL_E_UNSUPPORTED)
            break;
        cr_expect(status == FL_E_SOURCE, "%s", fl_last_error());
        cr_expect(strncmp(fl_last_error(), wrong[i].message, strlen(wrong[i].message)) == 0, "%s", fl_last_error());
        cr_expect(strchr(log, '^') != NULL, "%s", log);
    }
    fl_device_close(device);
}

/* What ends the program is an error of the launch, which names it; a GPU's compilers do not know it. */
ON_EVERY_BACKEND(kernel, kernels_that_end_the_program)
{
    static const char *const calls[] = {"exit(3)", "_exit(3)", "_Exit(3)", "abort()"};
    fl_device *device = open_device(on->resource);
    static const int zeros[1024];
    fl_array *out = array_of(device, FL_I32, COUNT(zeros), zeros);
    for (size_t c = 0; c < COUNT(calls); c++) {
        char text[300], says[80];
        int got[COUNT(zeros)];
        fl_kernel *kernel;
        snprintf(text, sizeof text,
                 "__device__ void leave() { __builtin_%s; }\n__global__ void k(int *out, int n)\n{\n"
                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    __syncthreads();\n"
                 "    if (i == n)\n        leave();\n    out[i] = i;\n}\n",
                 calls[c]);
        snprintf(says, sizeof says, "k calls %.*s instead of returning", (int)strcspn(calls[c], "("), calls[c]);
        const fl_status status = fl_kernel_create(device, text, "t.hip", NULL, NULL, NULL, 0, &kernel);
        if (status == FL_E_UNSUPPORTED)
            break;
        if (status == FL_E_SOURCE && !fl_device_describe(device)->emulation)
            continue;
        must(status);
        for (int n = 700; n >= -1; n -= 701) {
            expect_status(n < 0 ? FL_OK : FL_E_DEVICE, fl_kernel_launch(kernel, (const int64_t[]){8, 1, 1}, 0,
                                                                        (fl_argument[]){{.array = out}, {.integer = n}},
                                                                        2, &(fl_run){.block = {128}}));
            if (n >= 0)
                expect_error_says(says);
        }
        must(fl_array_to_host(out, got));
        for (int i = 0; i < (int)COUNT(zeros); i++)
            cr_assert(got[i] == i, "%s: [%d] is %d", calls[c], i, got[i]);
        fl_kernel_free(kernel);
    }
    fl_array_free(out);
    fl_device_close(device);
}

/* Kernels whose threads wait for each other by atomics or volatile reads end on the emulation, too: a lock that threads
 * of all blocks take, where the lock's value changes with each try, too; a barrier of all blocks; a block that waits
 * for the one behind it. A GPU's compiler may order the threads of a warp so that a lock between them is never given
 * back. */
ON_EVERY_BACKEND(kernel, threads_that_wait)
{
    enum { BLOCKS = 24, THREADS = 48 };
    static const struct {
        const char *text;
        int wanted;
    } cases[] = {
        {"__global__ void k(int *out)\n{\n    while (atomicCAS(&out[1], 0, 1) != 0);\n    out[0] += 1;\n"
         "    __threadfence();\n    atomicExch(&out[1], 0);\n}\n",
         BLOCKS * THREADS},
        {"__global__ void k(int *out)\n{\n    while (atomicAdd(&out[1], 1) != 0)\n        atomicSub(&out[1], 1);\n"
         "    out[0] += 1;\n    __threadfence();\n    atomicSub(&out[1], 1);\n}\n",
         BLOCKS * THREADS},
        {"__global__ void k(int *out)\n{\n    __shared__ int lock;\n    if (threadIdx.x == 0)\n        lock = 0;\n"
         "    __syncthreads();\n    while (atomicExch(&lock, 1));\n    atomicAdd(&out[0], 1);\n"
         "    atomicExch(&lock, 0);\n}\n",
         BLOCKS * THREADS},
        {"__global__ void k(int *out)\n{\n    for (int phase = 1; phase <= 2; phase++) {\n        __syncthreads();\n"
         "        if (threadIdx.x == 0) {\n            atomicAdd(&out[1], 1);\n"
         "            while (atomicAdd(&out[1], 0) < phase * (int)gridDim.x);\n        }\n        __syncthreads();\n"
         "        if (threadIdx.x == 1)\n            atomicAdd(&out[0], 1);\n    }\n}\n",
         2 * BLOCKS},
        {"__global__ void k(int *out)\n{\n    const int behind = gridDim.x - 1 - blockIdx.x;\n"
         "    if (threadIdx.x == 0) {\n        while (atomicMax(&out[0], 0) != behind);\n"
         "        atomicAdd(&out[0], 1);\n    }\n}\n",
         BLOCKS},
        {"__global__ void k(volatile int *out)\n{\n    const int behind = gridDim.x - 1 - blockIdx.x;\n"
         "    if (threadIdx.x == 0) {\n        while (out[0] != behind)\n            __threadfence();\n"
         "        out[0] = behind + 1;\n    }\n}\n",
         BLOCKS},
        {"__global__ void k(int *out)\n{\n    while (__atomic_exchange_n(&out[1], 1, __ATOMIC_ACQUIRE) != 0);\n"
         "    out[0] += 1;\n    __atomic_store_n(&out[1], 0, __ATOMIC_RELEASE);\n}\n",
         BLOCKS * THREADS},
        {"__global__ void k(int *out)\n{\n    int free = 0;\n    while (!__atomic_compare_exchange_n(&out[1], &free, "
         "1, "
         "false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))\n        free = 0;\n    out[0] += 1;\n"
         "    __atomic_fetch_sub(&out[1], 1, __ATOMIC_RELEASE);\n}\n",
         BLOCKS * THREADS},
        {"__global__ void k(int *out)\n{\n    if (threadIdx.x == 0) {\n"
         "        __atomic_fetch_add(&out[0], 1, __ATOMIC_ACQ_REL);\n"
         "        while (__atomic_load_n(&out[0], __ATOMIC_ACQUIRE) != gridDim.x);\n    }\n}\n",
         BLOCKS},
    };
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < 2 * COUNT(cases) && fl_device_describe(device)->emulation; i++) {
        if (is_left_out(4))
            continue;
        const int zeros[2] = {0}, at = (int)(i / 2);
        int got[2];
        fl_kernel *kernel = kernel_of(device, cases[at].text);
        fl_array *out = array_of(device, FL_I32, 2, zeros);
        must(fl_kernel_watch(kernel, i % 2 == 1));
        must(fl_kernel_launch(kernel, (const int64_t[]){BLOCKS, 1, 1}, 0, &(fl_argument){.array = out}, 1,
                              &(fl_run){.block = {THREADS}}));
        must(fl_array_to_host(out, got));
        cr_expect(got[0] == cases[at].wanted, "%s\n%d, expected %d", cases[at].text, got[0], cases[at].wanted);
        fl_kernel_free(kernel);
        fl_array_free(out);
    }
    fl_device_close(device);
}

/* Vector types of every kind of number lie in arrays one element after the other. */
ON_EVERY_BACKEND(kernel, vectors)
{
    static const struct {
        const char *type;
        fl_dtype dtype;
    } types[] = {{"char", FL_U8},   {"uchar", FL_U8},     {"int", FL_I32},       {"uint", FL_I32},  {"long", FL_I64},
                 {"ulong", FL_I64}, {"longlong", FL_I64}, {"ulonglong", FL_I64}, {"float", FL_F32}, {"double", FL_F64}};
    fl_device *device = open_device(on->resource);
    for (size_t t = 0; t < COUNT(types); t++) {
        char text[400];
        unsigned char zeros[20 * sizeof(double)] = {0};
        double got[20];
        fl_array *out = array_of(device, types[t].dtype, 20, zeros), *numbers;
        const char *name = types[t].type;
        snprintf(text, sizeof text,
                 "__global__ void k(%s1 *a, %s2 *b, %s4 *c)\n{\n    int i = threadIdx.x;\n"
                 "    if (i < 4) a[i] = make_%s1(i);\n    if (i > 1 && i < 4) b[i] = make_%s2(2 * i, 2 * i + 1);\n"
                 "    if (i > 1 && i < 5) c[i] = make_%s4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);\n}\n",
                 name, name, name, name, name, name);
        fl_kernel *kernel = kernel_of(device, text);
        if (kernel)
            must(fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0,
                                  (fl_argument[]){{.array = out}, {.array = out}, {.array = out}}, 3,
                                  &(fl_run){.block = {8}}));
        must(fl_array_create(device, FL_F64, 1, (const int64_t[]){20}, &numbers));
        must(fl_convert(device, out, numbers, NULL));
        must(fl_array_to_host(numbers, got));
        for (int i = 0; kernel && i < 20; i++)
            cr_assert(got[i] == i, "%s: [%d] is %g", name, i, got[i]);
        fl_kernel_free(kernel);
        free_arrays(out, numbers);
    }
    fl_device_close(device);
}

static const char taking_values[] =
    "struct point { float x, y; short tag; };\n"
    "struct box { char c; point low, high[2]; double w; int n[3]; };\n"
    "struct large { float w[300]; unsigned char last; };\n"
    "__global__ void k(float3 a, double *out, const box b, int n, float4 c, ushort2 d, large e, longlong2 f, dim3 g)\n"
    "{\n"
    "    double sum = 0;\n"
    "    if (threadIdx.x != 0 || blockIdx.x != 0) return;\n"
    "    for (int i = 0; i < 300; i++) sum += e.w[i] * i;\n"
    "    *out++ = a.x; *out++ = a.y; *out++ = a.z; *out++ = b.c; *out++ = b.low.x;\n"
    "    *out++ = b.low.y; *out++ = b.low.tag; *out++ = b.high[0].x; *out++ = b.high[0].y;\n"
    "    *out++ = b.high[0].tag; *out++ = b.high[1].x; *out++ = b.high[1].y;\n"
    "    *out++ = b.high[1].tag; *out++ = b.w; *out++ = b.n[0]; *out++ = b.n[1]; *out++ = b.n[2];\n"
    "    *out++ = n; *out++ = c.x; *out++ = c.y; *out++ = c.z; *out++ = c.w; *out++ = d.x;\n"
    "    *out++ = d.y; *out++ = sum; *out++ = e.last; *out++ = f.x; *out++ = f.y; *out++ = g.x;\n"
    "    *out++ = g.y; *out++ = g.z;\n"
    "}\n";

/* Vectors and structs by value: each number arrives where the device's compiler has it. */
ON_EVERY_BACKEND(kernel, values_of_several_numbers)
{
    enum { LARGE = 300, RESULTS = 31 };
    const fl_argument a[] = {{.real = 0.5}, {.real = -1}, {.real = 3}};
    const fl_argument b[] = {{.integer = -7}, {.real = 1.5},  {.real = 2.5},   {.integer = -300},   {.real = 4},
                             {.real = 5},     {.integer = 6}, {.real = 7},     {.real = 8},         {.integer = 9},
                             {.real = 1e300}, {.integer = 1}, {.integer = -2}, {.integer = 1 << 30}};
    const fl_argument c[] = {{.real = 10}, {.real = 11}, {.real = 12}, {.real = 13}};
    const fl_argument d[] = {{.integer = 65535}, {.integer = 1}},
                      f[] = {{.integer = -5}, {.integer = INT64_C(1) << 52}};
    const fl_argument g[] = {{.integer = 1}, {.integer = 2}, {.integer = UINT32_MAX}};
    const double wanted[RESULTS] = {0.5,
                                    -1,
                                    3,
                                    -7,
                                    1.5,
                                    2.5,
                                    -300,
                                    4,
                                    5,
                                    6,
                                    7,
                                    8,
                                    9,
                                    1e300,
                                    1,
                                    -2,
                                    1 << 30,
                                    42,
                                    10,
                                    11,
                                    12,
                                    13,
                                    65535,
                                    1,
                                    LARGE * (LARGE - 1) / 2.0,
                                    255,
                                    -5,
                                    4503599627370496.0,
                                    1,
                                    2,
                                    UINT32_MAX};
    fl_argument e[LARGE + 1] = {{.array = NULL}};
    double got[RESULTS] = {0};
    fl_device *device = open_device(on->resource);
    fl_kernel *kernel = kernel_of(device, taking_values);
    fl_array *out = array_of(device, FL_F64, RESULTS, got);
    for (int i = 0; i < LARGE; i++)
        e[i].real = 1;
    e[LARGE].integer = 255;
    fl_argument all[] = {{.numbers = a}, {.array = out}, {.numbers = b}, {.integer = 42}, {.numbers = c},
                         {.numbers = d}, {.numbers = e}, {.numbers = f}, {.numbers = g}};
    for (int watched = 0; kernel && watched < 2; watched++) {
        const bool watches = watched && fl_kernel_watch(kernel, true) == FL_OK;
        must(fl_array_write(out, (const double[RESULTS]){0}, NULL));
        must(fl_kernel_launch(kernel, (const int64_t[]){2, 1, 1}, 0, all, COUNT(all), &(fl_run){.block = {64}}));
        must(fl_array_to_host(out, got));
        for (int i = 0; i < RESULTS; i++)
            cr_assert(got[i] == wanted[i], "[%d] is %g, expected %g", i, got[i], wanted[i]);
        cr_assert(!watches || fl_kernel_found(kernel)->count == 0, "%s", fl_kernel_found(kernel)->list[0].text);
    }
    if (kernel) {
        const fl_kernel_info *info = fl_kernel_describe(kernel);
        const int counts[] = {3, 0, 14, 0, 4, 2, LARGE + 1, 2, 3};
        for (int i = 0; i < info->count; i++)
            cr_assert(info->number_count[i] == counts[i] && !info->numbers[i] == (counts[i] == 0), "%d", i);
        cr_assert_str_eq(info->numbers[2][9].name, "b.high[1].tag");
        cr_assert(info->numbers[2][9].dtype == FL_I32 && info->numbers[0][2].dtype == FL_F32);
        all[0] = (fl_argument){.array = NULL};
        expect_status(FL_E_ARGUMENT, fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, all, COUNT(all), NULL));
        all[0] = (fl_argument){.array = out};
        expect_status(FL_E_ARGUMENT, fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, all, COUNT(all), NULL));
        all[0] = (fl_argument){.numbers = a};
        all[5] = (fl_argument){.numbers = (const fl_argument[]){{.integer = 65536}, {.integer = 0}}};
        expect_argument_error(fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, all, COUNT(all), NULL),
                              "d.x is 65536; its type holds 0 to 65535");
    }
    fl_kernel_free(kernel);
    fl_array_free(out);
    fl_device_close(device);
}

Test(kernel, what_is_read)
{
    fl_device *device = open_device("serial");
    const char *const no_name[] = {"3=4", NULL}, *const lines[] = {"A=1\n#error", NULL};
    const char *const joins[] = {"A=1 \\ ", NULL}, *const hides[] = {"A=1 /*", NULL};
    const char text[] = "__global__ void k(const float *a, float *b, unsigned n) { }";
    fl_kernel_info info;
    fl_kernel *kernel;
    must(fl_kernel_read(text, "t", NULL, NULL, 0, &info));
    cr_expect(strcmp(info.name, "k") == 0 && info.count == 3);
    cr_expect(info.parameters[0].is_array && info.parameters[0].is_constant && info.parameters[0].dtype == FL_F32);
    cr_expect(!info.parameters[1].is_constant && strcmp(info.parameters[1].name, "b") == 0);
    cr_expect(!info.parameters[2].is_array && info.parameters[2].dtype == FL_I64);
    expect_status(FL_E_ARGUMENT, fl_kernel_read(text, "t", NULL, NULL, 0, NULL));
    expect_status(FL_E_ARGUMENT, fl_kernel_read(NULL, "t", NULL, NULL, 0, &info));
    expect_status(FL_E_SOURCE, fl_kernel_read(text, "t", "j", NULL, 0, &info));
    expect_status(FL_E_ARGUMENT, fl_kernel_create(NULL, text, "t", NULL, NULL, NULL, 0, &kernel));
    expect_status(FL_E_ARGUMENT, fl_kernel_create(device, text, "t", NULL, NULL, NULL, 0, NULL));
    expect_status(FL_E_ARGUMENT, fl_kernel_create(device, text, "t", NULL, no_name, NULL, 0, &kernel));
    expect_status(FL_E_ARGUMENT, fl_kernel_create(device, text, "t", NULL, lines, NULL, 0, &kernel));
    expect_status(FL_E_ARGUMENT, fl_kernel_create(device, text, "t", NULL, joins, NULL, 0, &kernel));
    expect_status(FL_E_ARGUMENT, fl_kernel_create(device, text, "t", NULL, hides, NULL, 0, &kernel));
    expect_status(FL_E_UNSUPPORTED, fl_kernel_create(device, text, "t", NULL, NULL, NULL, 0, &kernel));
    cr_expect(fl_kernel_describe(NULL) == NULL);
    fl_device_close(device);
}

ON_EVERY_BACKEND(kernel, outlives_the_device)
{
    fl_device *device = open_device(on->resource);
    fl_kernel *kernel = kernel_of(device, "__global__ void index(int *out) { out[0] += 5; }"); /* as a C function */
    int got = 2;
    fl_array *x = array_of(device, FL_I32, 1, &got);
    fl_device_close(device);
    if (kernel) {
        must(fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, &(fl_argument){.array = x}, 1,
                              &(fl_run){.block = {1}}));
        must(fl_array_to_host(x, &got));
        cr_expect(got == 7 && strcmp(fl_kernel_describe(kernel)->name, "index") == 0, "%d", got);
    }
    fl_kernel_free(kernel);
    fl_array_free(x);
}

/* Two kernels of one text on one device at once. */
static void *use(void *argument)
{
    struct worker *w = argument;
    w->ok = true;
    for (int round = 0; round < 3 && w->ok; round++) {
        static const char text[] = "__global__ void k(int *out, int n) { atomicAdd(out, n); }";
        const int zero = 0;
        int got = 0;
        fl_kernel *kernel = NULL;
        fl_array *out = NULL;
        fl_status status = fl_kernel_create(w->device, text, "k", NULL, NULL, NULL, 0, &kernel);
        if (status == FL_E_UNSUPPORTED)
            return NULL;
        w->ok = status == FL_OK && fl_array_from_host(w->device, FL_I32, 1, (int64_t[]){1}, &zero, &out) == FL_OK &&
                fl_kernel_launch(kernel, (const int64_t[]){10, 1, 1}, 0,
                                 (fl_argument[]){{.array = out}, {.integer = w->seed}}, 2,
                                 &(fl_run){.block = {32}}) == FL_OK &&
                fl_array_to_host(out, &got) == FL_OK && got == 320 * (int)w->seed;
        fl_kernel_free(kernel);
        fl_array_free(out);
    }
    return NULL;
}

ON_EVERY_BACKEND(kernel, threads_launch_at_once)
{
    threads_share_a_device(on->resource, use);
}
