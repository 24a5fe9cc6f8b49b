/* SPDX-License-Identifier: MIT
 *
 * test_kernel_warps.c - warp functions and cooperative groups in kernels of the user's, on every backend that runs
 * them: each result of each lane against a loop over the lanes, for warps of the device's size.
 */
#include "harness.h"

#include <string.h>

enum { RESULTS = 8, MOST = 1024 * RESULTS };

/* Runs a kernel of (int *out) in one block, of which each thread writes RESULTS numbers. false: no kernels run there.
 */
static bool run(fl_device *device, const char *text, const char *const *defines, const int block[3], int *got)
{
    const int64_t count = (int64_t)block[0] * block[1] * block[2] * RESULTS;
    fl_array *out;
    fl_kernel *kernel;
    const fl_status status = fl_kernel_create(device, text, "text.hip", NULL, defines, NULL, 0, &kernel);

    if (status == FL_E_UNSUPPORTED)
        return false;
    cr_assert(status == FL_OK, "%s", fl_last_error());
    memset(got, 0xff, (size_t)count * sizeof *got);
    must(fl_array_from_host(device, FL_I32, 1, &count, got, &out));
    must(fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, &(fl_argument){.array = out}, 1,
                          &(fl_run){.block = {block[0], block[1], block[2]}}));
    must(fl_array_to_host(out, got));
    fl_array_free(out);
    fl_kernel_free(kernel);
    return true;
}

static void expect_results(const int *got, const int *wanted, int threads, const char *what)
{
    for (int i = 0; i < threads * RESULTS; i++)
        cr_assert(got[i] == wanted[i], "%s: result %d of thread %d is %d, expected %d", what, i % RESULTS, i / RESULTS,
                  got[i], wanted[i]);
}

#define START \
    "__global__ void k(int *out)\n{\n" \
    "    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n" \
    "    int lane = t % warpSize, v = t * t % 101;\n" \
    "    int *r = out + 8 * t;\n"

static int value_of(int t)
{
    return t * t % 101;
}

/* What the kernels below compute, for `threads` threads and warps of `size`. */
static void want(int threads, int size, int *wanted)
{
    for (int t = 0; t < threads; t++) {
        const int first = t / size * size, lane = t - first, group = t / 8 * 8;
        int *r = wanted + RESULTS * t;
        memset(r, 0, RESULTS * sizeof *r);
        for (int i = first; i < first + size && i < threads; i++) {
            r[0] += value_of(i);
            r[1] += i <= t ? value_of(i) : 0;
            r[5] += value_of(i) % 3 == 0;
            r[6] |= value_of(i) == 4 ? 1 : 0;
        }
        r[2] = value_of(group + 3);
        r[3] = value_of(t % 8 < 5 ? t + 3 : t);
        r[4] = 2 * value_of(t ^ 1) + 1;
        r[6] += 2;
        r[7] = value_of(first + (lane < size / 2 ? 3 : size - 2));
    }
}

static void on_full_warps(const char *resource, const char *text, const char *what)
{
    static const int shapes[][3] = {{256, 1, 1}, {8, 4, 2}, {4, 48, 1}, {64, 1, 16}};
    static int got[MOST], wanted[MOST];
    fl_device *device = open_device(resource);

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int threads = shapes[i][0] * shapes[i][1] * shapes[i][2];
        const char *wide[] = {"FLYNN_WARP=64", NULL};
        int size = fl_device_describe(device)->warp_size;
        if (!run(device, text, NULL, shapes[i], got))
            break;
        want(threads, size, wanted);
        expect_results(got, wanted, threads, what);
        if (!fl_device_describe(device)->emulation)
            continue;
        run(device, text, wide, shapes[i], got);
        want(threads, 64, wanted);
        expect_results(got, wanted, threads, "warps of 64");
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(kernel_warps, with_masks)
{
    on_full_warps(on->resource,
                  START "    int sum = v, scan = v;\n"
                        "    for (int by = warpSize / 2; by > 0; by /= 2)\n"
                        "        sum += __shfl_xor_sync(-1, sum, by);\n"
                        "    for (int by = 1; by < warpSize; by *= 2) {\n"
                        "        int below = __shfl_up_sync(-1, scan, by);\n"
                        "        scan += lane >= by ? below : 0;\n    }\n"
                        "    r[0] = sum;\n    r[1] = scan;\n"
                        "    r[2] = __shfl_sync(-1, v, 11, 8);\n    r[3] = __shfl_down_sync(-1, v, 3, 8);\n"
                        "    r[4] = (int)(2 * __shfl_sync(-1, v + 0.5, lane ^ 1));\n"
                        "    r[5] = __popcll(__ballot_sync(-1, v % 3 == 0));\n"
                        "    r[6] = __any_sync(-1, v == 4) + 2 * __all_sync(-1, v < 101);\n"
                        "    unsigned long long low = (1ull << warpSize / 2) - 1;\n"
                        "    if (lane < warpSize / 2)\n        r[7] = __shfl_sync(low, v, 3);\n"
                        "    else\n        r[7] = __shfl_sync(low << warpSize / 2, v, warpSize - 2);\n}\n",
                  "masks");
}

ON_EVERY_BACKEND(kernel_warps, without_masks)
{
    on_full_warps(on->resource,
                  START "    int sum = v, scan = v;\n"
                        "    for (int by = warpSize / 2; by > 0; by /= 2)\n        sum += __shfl_xor(sum, by);\n"
                        "    for (int by = 1; by < warpSize; by *= 2) {\n"
                        "        int below = __shfl_up(scan, by);\n        scan += lane >= by ? below : 0;\n    }\n"
                        "    r[0] = sum;\n    r[1] = scan;\n"
                        "    r[2] = __shfl(v, 3, 8);\n    r[3] = __shfl_down(v, 3, 8);\n"
                        "    r[4] = (int)(2 * __shfl(v + 0.5f, lane ^ 1));\n"
                        "    r[5] = __popcll(__ballot(v % 3 == 0));\n"
                        "    r[6] = __any(v == 4) + 2 * __all(v < 101);\n"
                        "    r[7] = __shfl(v, lane < warpSize / 2 ? 3 : warpSize - 2);\n"
                        "    if (__lane_id() != lane)\n        r[7] = -1;\n}\n",
                  "no masks");
}

/* A warp's lanes see what the others wrote before a __syncwarp or a group's sync. */
ON_EVERY_BACKEND(kernel_warps, groups)
{
    on_full_warps(on->resource,
                  "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
                  "namespace cg = cooperative_groups;\n"
                  "__device__ void give(cg::thread_group g, int *s, int v)\n{\n"
                  "    g.sync();\n    s[g.thread_rank()] = v;\n    g.sync();\n}\n" START "    __shared__ int s[1024];\n"
                  "    cg::thread_block block = cg::this_thread_block();\n"
                  "    auto tile = cg::tiled_partition<8>(cg::tiled_partition<16>(block));\n"
                  "    int first = t - lane, sum = cg::reduce(tile, v, cg::plus<int>()), scan = v;\n"
                  "    s[t] = sum;\n    __syncwarp();\n"
                  "    for (int i = 1; i < warpSize / 8; i++)\n"
                  "        sum += s[first + (lane + 8 * i) % warpSize];\n"
                  "    give(block, s, v);\n"
                  "    for (int i = first; i < t; i++)\n        scan += s[i];\n"
                  "    give(cg::tiled_partition(block, 4), s + t / 4 * 4, v);\n"
                  "    r[0] = sum;\n    r[1] = scan;\n"
                  "    r[2] = tile.shfl(v, 3);\n    r[3] = tile.shfl_down(v, 3);\n    r[4] = 2 * s[t ^ 1] + 1;\n"
                  "    r[5] = 0;\n    r[6] = 2 * block.size() / blockDim.x / blockDim.y / blockDim.z;\n"
                  "    bool any = false;\n"
                  "    for (int i = first; i < first + warpSize; i += 8) {\n"
                  "        auto votes = tile.ballot(v % 3 == 0);\n"
                  "        r[5] += __popcll(__shfl_sync(-1, votes, i - first));\n"
                  "        any = any || __shfl_sync(-1, tile.any(v == 4), i - first);\n    }\n"
                  "    r[6] += any;\n"
                  "    r[7] = __shfl_sync(-1, v, lane < warpSize / 2 ? 3 : warpSize - 2);\n"
                  "    if (tile.meta_group_rank() != t / 8 % 2 || tile.meta_group_size() != 2 || tile.size() != 8 ||\n"
                  "        tile.thread_rank() != t % 8 || block.thread_rank() != t || !tile.all(v >= 0))\n"
                  "        r[7] = -1;\n}\n",
                  "groups");
}

/* The last warp of a block has fewer lanes; matches and reductions. */
ON_EVERY_BACKEND(kernel_warps, partial_warps)
{
    static int got[MOST], wanted[MOST];
    const int block[] = {80, 1, 1}; /* 32, 32 and 16 lanes; 64 and 16 */
    fl_device *device = open_device(on->resource);
    const int size = fl_device_describe(device)->warp_size;

    if (run(device,
            START "    unsigned long long same = __match_any_sync(-1, v % 4);\n"
                  "    int all;\n    r[0] = __popcll(__ballot_sync(-1, 1));\n    r[1] = __popcll(same);\n"
                  "    r[2] = __match_all_sync(-1, t / 16 >= 0, &all) != 0;\n    r[3] = all;\n"
                  "    r[4] = __reduce_add_sync(-1, -v);\n    r[5] = __reduce_max_sync(-1, v);\n"
                  "    r[6] = __reduce_xor_sync(-1, (unsigned)v);\n    r[7] = __reduce_min_sync(-1, -v);\n}\n",
            NULL, block, got)) {
        for (int t = 0; t < 80; t++) {
            const int first = t / size * size;
            int *r = wanted + RESULTS * t;
            memset(r, 0, RESULTS * sizeof *r);
            r[2] = r[3] = 1;
            for (int i = first; i < first + size && i < 80; i++) {
                r[0]++;
                r[1] += value_of(i) % 4 == value_of(t) % 4;
                r[4] -= value_of(i);
                r[5] = value_of(i) > r[5] ? value_of(i) : r[5];
                r[6] ^= value_of(i);
            }
            r[7] = -r[5];
        }
        expect_results(got, wanted, 80, "partial warps");
    }
    fl_device_close(device);
}
