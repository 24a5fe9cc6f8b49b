/* SPDX-License-Identifier: MIT
 *
 * convolve1d_fft.c - convolution of vectors by KissFFT (github.com/mborgerding/kissfft, BSD licence), where it is
 * there: in f32 by libkissfft-float, in f64 by libkissfft-double.
 *
 * Overlap-save (Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd ed., section 8.7.3): a block of the
 * signal is convolved with the kernel as if both were periodic. Its first kernel - 1 sums have wrapped around and are
 * dropped; the others are outputs, and the next block starts that much earlier. Any signal is done in the memory of a
 * few blocks.
 */
#include "../shared/library.h"
#include "operation.h"
#include "openmp.h"

#include <math.h> /* INFINITY alone: no plugin is linked with libm */
#include <stdio.h>
#include <string.h>

enum {
    SHORTEST = 1024, /* block, a power of two */
    LONGEST = 65536, /* block, or LONGEST_TIMES the kernel: flynn.h promises no longer ones */
    LONGEST_TIMES = 16,
    MOST = 1 << 30,
};

/* Bytes up to the next cache line. */
static inline size_t whole_lines(size_t bytes)
{
    return (bytes + CPU_LINE - 1) / CPU_LINE * CPU_LINE;
}

/* The logarithm of a power of two. */
static inline double log2_of(int64_t n)
{
    return __builtin_ctzll((unsigned long long)n);
}

/* The length of a block: that for which an output costs the least, or all in one where that is no longer;
 * 0: the kernel is too long for KissFFT, because that counts in an int. */
static int64_t CPU_NAME(block_length)(const fl_convolve1d_args *c)
{
    const int64_t taps = c->kernel.shape[0], full = c->signal.shape[0] + taps - 1;
    const int64_t longest = taps > MOST / LONGEST_TIMES ? MOST : max64(LONGEST, LONGEST_TIMES * taps);
    double least = INFINITY;
    int64_t best = 0;

    for (int64_t n = SHORTEST; n <= longest; n *= 2) {
        const double cost = n < taps ? INFINITY : (double)n * log2_of(n) / (double)(n - taps + 1);
        if (cost < least) {
            least = cost;
            best = n;
        }
        if (n >= full)
            break;
    }
    return best;
}

/* Operations of a real FFT are about half of the 5 n log2(n) of a complex one; a product is 6. Of the bytes that the
 * library moves only the least is known: each transform loads and stores its block once. */
static void CPU_NAME(plan_fft)(void *device, const void *args, fl_launch *launch)
{
    const fl_convolve1d_args *c = args;
    const int64_t length = CPU_NAME(block_length)(c), step = length - c->kernel.shape[0] + 1;
    const double n = (double)length, blocks = length ? (double)((c->out.shape[0] + step - 1) / step) : 0;
    const double element = c->out.dtype == FL_F32 ? sizeof(float) : sizeof(double);

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    if (length == 0)
        return;
    launch->flops = (2 * blocks + 1) * 2.5 * n * log2_of(length) + blocks * 3 * n;
    launch->bytes_requested = element * ((2 * blocks + 1) * 2 * n + blocks * 7 * n);
}

#define real float
#define KISS_LIBRARY "libkissfft-float.so.131 libkissfft-float.so"
#define KISS_CURE "install libkissfft-float131"
#define FN(name) CPU_TYPED(name, f32)
#include "convolve1d_fft_typed.h"
#undef real
#undef KISS_LIBRARY
#undef KISS_CURE
#undef FN
#define real double
#define KISS_LIBRARY "libkissfft-double.so.131 libkissfft-double.so"
#define KISS_CURE "build github.com/mborgerding/kissfft with -DKISSFFT_DATATYPE=double"
#define FN(name) CPU_TYPED(name, f64)
#include "convolve1d_fft_typed.h"
#undef real
#undef KISS_LIBRARY
#undef KISS_CURE
#undef FN

#define FFT_SUMMARY "FFTs of blocks by KissFFT; the error is relative to the largest sums, and NaN spreads"

static const fl_row rows_f32[] = {
    {CPU_ROW(FL_OP_CONVOLVE1D, "fft", 1u << FL_F32, plan_fft, run_fft_f32, FFT_SUMMARY), .restricted = true,
     .available = CPU_TYPED(fft_ready, f32)},
};

static const fl_row rows_f64[] = {
    {CPU_ROW(FL_OP_CONVOLVE1D, "fft", 1u << FL_F64, plan_fft, run_fft_f64, FFT_SUMMARY), .restricted = true,
     .available = CPU_TYPED(fft_ready, f64)},
};

const cpu_operation CPU_NAME(cpu_convolve1d_fft_f32) = {
    .rows = rows_f32, .count = 1, .found = CPU_TYPED(fft_found, f32)};
const cpu_operation CPU_NAME(cpu_convolve1d_fft_f64) = {
    .rows = rows_f64, .count = 1, .found = CPU_TYPED(fft_found, f64)};
