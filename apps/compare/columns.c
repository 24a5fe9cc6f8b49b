/* SPDX-License-Identifier: MIT */
#include "columns.h"

const column compare_columns[] = {
    {.title = "exercise", .key = "exercise"},
    {.title = "backend", .key = "resource"},
    {.title = "class", .key = "flynn_class"},
    {.title = "variant", .key = "variant"},
    {.title = "dtype", .key = "dtype"},
    {.title = "cold", .key = "cold_s", .as = AS_SECONDS},
    {.title = "h2d", .key = "h2d_s", .as = AS_SECONDS},
    {.title = "kernel", .key = "kernel_s", .as = AS_SECONDS},
    {.title = "d2h", .key = "d2h_s", .as = AS_SECONDS},
    {.title = "total", .key = "total_s", .as = AS_SECONDS},
    {.title = "spread", .key = "spread", .as = AS_PART},
    {.title = "GB/s", .key = "gbytes_per_s", .as = AS_COUNT},
    {.title = "GFLOP/s", .key = "gflops", .as = AS_COUNT},
    {.title = "ceiling", .key = "percent_of_ceiling", .as = AS_PERCENTAGE},
    {.title = "speed-up", .key = "speed_up", .as = AS_FACTOR},
    {.title = "with copies", .key = "speed_up_with_copies", .as = AS_FACTOR},
    {.title = "relative", .key = "relative", .as = AS_FACTOR},
    {.title = "check", .key = "check", .as = AS_CHECK},
    {0},
};

const column compare_pair_columns[] = {
    {.title = "exercise", .key = "exercise"},
    {.title = "dtype", .key = "dtype"},
    {.title = "older", .key = "older"},
    {.title = "newer", .key = "newer"},
    {.title = "kernel", .key = "kernel.older_s", .as = AS_SECONDS},
    {.title = "kernel now", .key = "kernel.newer_s", .as = AS_SECONDS},
    {.title = "ratio", .key = "kernel.ratio", .as = AS_FACTOR},
    {.title = "verdict", .key = "kernel.verdict"},
    {.title = "total", .key = "total.older_s", .as = AS_SECONDS},
    {.title = "total now", .key = "total.newer_s", .as = AS_SECONDS},
    {.title = "ratio", .key = "total.ratio", .as = AS_FACTOR},
    {.title = "verdict", .key = "total.verdict"},
    {0},
};
