/* SPDX-License-Identifier: MIT
 *
 * cpu.h - shared by the files of the CPU backend and its three plugins (serial, simd, omp).
 *
 * One source, several tables: the operations' files are compiled once for every instruction set of a plugin, with the
 * macro CPU_ISA set to its name ("v3"; "base" for a single build), which ends the name of every function in them.
 * The other files are compiled once, for any processor of the architecture: they run before the choice is made.
 */
#ifndef FLYNN_CPU_H
#define FLYNN_CPU_H

#include "../shared/threads.h"

#include <flynn/plugin.h>

#include <pthread.h>
#include <stdbool.h>

#define CPU_JOIN3_(a, b, c) a##_##b##_##c
#define CPU_JOIN3(a, b, c) CPU_JOIN3_(a, b, c)
#define CPU_JOIN2_(a, b) a##_##b
#define CPU_JOIN2(a, b) CPU_JOIN2_(a, b)

/* convolve_rows -> convolve_rows_v3; CPU_TYPED(fir, f32) -> fir_f32_v3. */
#define CPU_NAME(name) CPU_JOIN2(name, CPU_ISA)
#define CPU_TYPED(name, type) CPU_JOIN3(name, type, CPU_ISA)

enum { CPU_MOST_FLAGS = 16 }; /* of cpu_table.flags */

/* Bytes of a cache line. */
#define CPU_LINE 64

/* Rows of one operation. */
typedef struct cpu_operation {
    const fl_row *rows; /* the preferred ones first */
    size_t count;
    /* Returns whether the library that the rows need exists, without loading it (their `available` does that); else
     * `why` states the reason and the fix. NULL: they need none. */
    bool (*found)(char *why, size_t size);
} cpu_operation;

/* All operations, compiled for one instruction set. */
typedef struct cpu_table {
    const char *isa; /* "v3"; "base": the compiler's default */
    int vector_bits;
    const char *const *flags; /* that its operations are compiled with, and functions of the user's; NULL at the end */
    const cpu_operation *const *operations;
    size_t operation_count;
} cpu_table;

/* An open device: what `self` and context->device point to. */
typedef struct cpu_device {
    const fl_host *host;
    const cpu_table *table;
    int threads;
    struct cpu_fft *plans; /* of FFTW, for tiles that were transformed (fftw.h) */
    pthread_mutex_t plans_lock;
    fl_row rows[];
} cpu_device;

/* fl_plugin.probe and fl_plugin.open of all three. */
void cpu_probe(fl_probe *probe);
fl_status cpu_open(const fl_host *host, const fl_open_request *request, fl_plugin_device *device);

/* The functions of every CPU device. */
extern const fl_device_api cpu_device_api;

/* Threads for a call of that many operations of about 20 ps each, such as a byte that is read or a flop of vectors. A
 * team of p takes operations / p + COST * p, where COST is what each thread adds to starting and ending it (0.5 to 1
 * us): the least of that is at p = sqrt(operations / COST). One thread where two would gain nothing. The cost is not
 * measured by each process, because the sums of scan differ with the number of their parts: the same call on as many
 * threads has the same result. */
static inline int cpu_team_on(const cpu_device *device, double operations)
{
    enum { COST = 50000 };
    int team = 1;

    while (team < device->threads && operations >= (double)COST * (team + 1) * (team + 1))
        team++;
    return team;
}

static inline int cpu_team(const fl_context *context, double operations)
{
    return cpu_team_on(context->device, operations);
}

#endif
