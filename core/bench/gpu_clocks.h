/* SPDX-License-Identifier: MIT
 *
 * gpu_clocks.h - the clock of a GPU and whether it throttles, by the vendor's library for management, loaded at run
 * time: NVML (libnvidia-ml.so.1) or rocm-smi (librocm_smi64.so).
 */
#ifndef FLYNN_BENCH_GPU_CLOCKS_H
#define FLYNN_BENCH_GPU_CLOCKS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef enum bench_vendor { BENCH_VENDOR_NONE, BENCH_VENDOR_NVIDIA, BENCH_VENDOR_AMD } bench_vendor;

typedef struct bench_gpu_clocks {
    bench_vendor vendor;         /* NONE: nothing can be read */
    void *device;                /* NVML's handle */
    uint32_t index;              /* number of the device in rocm-smi */
    void (*clock)(void);         /* functions of the library, whose types gpu_clocks.c has */
    void (*reasons)(void);       /* NULL: the cause of a lowered clock is not known */
    void (*heat)(void);          /* NULL: the temperature is not known */
    void (*users)(void);         /* NULL: it is not known how many processes compute on the GPU */
    void (*gpus)(void);          /* rocm-smi's list of the GPUs that a process uses; NULL: users is of no use */
    double throttled, low, high; /* of the samples; NaN: none */
    double hottest;              /* in degrees Celsius; NaN: not known */
    double others;               /* other processes that computed on the GPU at the first sample; NaN: not known */
} bench_gpu_clocks;

#define BENCH_GPU_CLOCKS_NONE \
    ((bench_gpu_clocks){.throttled = NAN, .low = NAN, .high = NAN, .hottest = NAN, .others = NAN})

/* Loads the library, which stays, and finds the GPU by its place on PCI, "0000:3b:00.0". Where that fails nothing is
 * read, which is no error. */
bench_gpu_clocks bench_gpu_clocks_of(bench_vendor vendor, const char *bus_id);
/* Reads the clock once, and adds it to low and high; likewise the temperature, and at first the processes. */
void bench_gpu_clocks_sample(bench_gpu_clocks *c);
/* Adds to a cause what may explain it: "; it is at 87 C; 2 other processes compute on it". */
void bench_gpu_clocks_explain(const bench_gpu_clocks *c, char *text, size_t size);

#endif
