/* SPDX-License-Identifier: MIT
 *
 * A GPU's clock, read by libraries that the tests build, whose clock falls by 100 MHz with each reading.
 */
#include "harness.h"

#include "../../core/bench/disturbance.h"
#include "../../core/bench/gpu_clocks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *const place = "0000:3b:00.0";

/* Loads the false library: dlopen by its name then gives the same. */
static void *load(const char *file)
{
    char path[500];
    void *library;

    snprintf(path, sizeof path, "%s/%s", FLYNN_TEST_FAULTS, file);
    library = dlopen(path, RTLD_NOW);
    cr_assert(library, "%s", dlerror());
    return library;
}

static void expect_falling(bench_vendor vendor, bool says_why)
{
    bench_gpu_clocks c = bench_gpu_clocks_of(vendor, place);
    char text[100];

    cr_assert_eq(c.vendor, vendor);
    cr_expect(isnan(c.low) && isnan(c.high) && isnan(c.throttled));
    bench_gpu_clocks_sample(&c);
    cr_expect(c.low == 1980 && c.high == 1980, "%g to %g MHz", c.low, c.high);
    cr_expect(says_why ? c.throttled == 0 : isnan(c.throttled));
    bench_disturbance_say(&(bench_disturbance){0}, c.throttled, text, sizeof text);
    cr_expect_str_eq(text, "");
    bench_gpu_clocks_sample(&c);
    bench_gpu_clocks_sample(&c);
    cr_expect(c.low == 1780 && c.high == 1980, "%g to %g MHz", c.low, c.high);
    cr_expect(says_why ? c.throttled == 1 : isnan(c.throttled));
    bench_disturbance_say(&(bench_disturbance){0}, c.throttled, text, sizeof text);
    cr_expect_eq(strstr(text, "lowered its clock") != NULL, says_why);
    snprintf(text, sizeof text, "hot");
    bench_gpu_clocks_explain(&c, text, sizeof text);
    cr_expect_str_eq(text, vendor == BENCH_VENDOR_NVIDIA ? "hot; it is at 87 C; 2 other processes compute on it"
                                                         : "hot; it is at 71 C; 2 other processes compute on it");
    snprintf(text, sizeof text, "hot");
    bench_gpu_clocks_explain(&c, text, 12);
    cr_expect_str_eq(text, "hot; it is ");
    c = bench_gpu_clocks_of(vendor, place);
    bench_gpu_clocks_sample(&c);
    cr_expect(c.low == 1980, "the library, which starts once, was kept; %g MHz", c.low);
    c = bench_gpu_clocks_of(vendor, "0000:3c:00.0");
    cr_expect(c.vendor == BENCH_VENDOR_NONE, "another GPU");
    bench_gpu_clocks_sample(&c);
    cr_expect(isnan(c.low));
}

Test(gpu_clocks, of_nvidia)
{
    void *library = load("nvml/libnvidia-ml.so.1");

    expect_falling(BENCH_VENDOR_NVIDIA, true);
    dlclose(library);
}

Test(gpu_clocks, of_amd)
{
    void *library = load("rocm-smi/librocm_smi64.so");

    expect_falling(BENCH_VENDOR_AMD, false);
    dlclose(library);
}

Test(gpu_clocks, of_amd_before_rocm_6)
{
    void *library = load("rocm-smi-5/librocm_smi64.so");

    expect_falling(BENCH_VENDOR_AMD, false);
    dlclose(library);
}

Test(gpu_clocks, without_a_gpu)
{
    bench_gpu_clocks c = bench_gpu_clocks_of(BENCH_VENDOR_NONE, place);

    bench_gpu_clocks_sample(&c);
    cr_expect(c.vendor == BENCH_VENDOR_NONE && isnan(c.low) && isnan(c.throttled));
    char text[] = "as it was";
    bench_gpu_clocks_explain(&c, text, sizeof text);
    cr_expect_str_eq(text, "as it was");
    c = bench_gpu_clocks_of(BENCH_VENDOR_NVIDIA, "");
    cr_expect_eq(c.vendor, BENCH_VENDOR_NONE);
}

Test(disturbance_counts, causes)
{
    char text[200];

    bench_disturbance_say(&(bench_disturbance){.seconds = 2, .switches = 500, .ticks = 400}, NAN, text, sizeof text);
    cr_expect_str_eq(text, "other programs or threads took the processor 250 times a second");
    bench_disturbance_say(&(bench_disturbance){.seconds = 2, .switches = 500, .ran_s = 30}, NAN, text, sizeof text);
    cr_expect(strcmp(text, "") == 0, "16 threads of a quiet machine, each of which is switched off now and then");
    bench_disturbance_say(&(bench_disturbance){.seconds = 2, .switches = 4500, .ran_s = 30}, NAN, text, sizeof text);
    cr_expect_str_eq(text, "other programs or threads took the processor 150 times a second");
    bench_disturbance_say(&(bench_disturbance){.seconds = 0.01, .switches = 5}, NAN, text, sizeof text);
    cr_expect(strcmp(text, "") == 0, "a few switches are chance");
    bench_disturbance_say(&(bench_disturbance){.seconds = 2, .stolen = 100, .ticks = 400}, 0, text, sizeof text);
    cr_expect_str_eq(text, "other virtual machines took 25 % of the processors' time");
    bench_disturbance_say(&(bench_disturbance){.seconds = 2, .load = 3}, 0, text, sizeof text);
    cr_expect_str_eq(text, "3.0 programs want each processor");
    bench_disturbance_say(&(bench_disturbance){.seconds = 2, .load = 3, .counts_waiting = true}, 0, text, sizeof text);
    cr_expect(strcmp(text, "") == 0, "the load of the last minute, and nothing waited");
    /* Threads that sleep between loops and wait for their turn are never switched off. */
    bench_disturbance_say(&(bench_disturbance){.seconds = 2, .turns = 400, .waited_s = 1.02}, 0, text, sizeof text);
    cr_expect_str_eq(text, "its threads waited 0.5 s for a processor in each second");
    bench_disturbance_say(&(bench_disturbance){.seconds = 2, .turns = 9000, .waited_s = 0.45}, 0, text, sizeof text);
    cr_expect(strcmp(text, "") == 0, "each thread that is woken waits for some microseconds");
    bench_disturbance_say(&(bench_disturbance){.seconds = 0.01, .turns = 1, .waited_s = 0.004}, 0, text, sizeof text);
    cr_expect(strcmp(text, "") == 0, "one turn of another program is chance");
    bench_counts from = bench_counts_now(), to = bench_counts_now();
    cr_expect(from.ticks > 0 && to.ticks >= from.ticks && to.at_s >= from.at_s, "/proc/stat is read");
    cr_expect(from.ran_s > 0 && to.ran_s >= from.ran_s, "the process's time is read");
    cr_expect(from.turns > 0 && to.turns >= from.turns && to.waited_s >= from.waited_s, "schedstat is read");
}
