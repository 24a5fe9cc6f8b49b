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
    uint32_t index;              /* of rocm-smi's device */
    void (*clock)(void);         /* functions of the library, whose types gpu_clocks.c has */
    void (*reasons)(void);       /* NULL: no cause can be read */
    void (*heat)(void);          /* likewise no temperature */
    void (*users)(void);         /* likewise not how many processes compute on the GPU */
    void (*gpus)(void);          /* of rocm-smi: on which GPUs a process computes; NULL: likewise */
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
