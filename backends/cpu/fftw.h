/* SPDX-License-Identifier: MIT
 *
 * fftw.h - transforms of real tiles by FFTW's interface (www.fftw.org/doc, version 3), which MKL and AOCL offer, too.
 * The library is loaded at run time: it is GPL software, and nothing is linked with it.
 *
 * A tile of `rows` times `columns` numbers (powers of two) lies in memory that is aligned to CPU_LINE, its rows
 * cpu_fft_pitch apart: in place of each row of numbers comes its spectrum of columns / 2 + 1 complex ones.
 */
#ifndef FLYNN_CPU_FFTW_H
#define FLYNN_CPU_FFTW_H

#include "cpu.h"

/* For cpu_operation.found and fl_row.available of rows that transform numbers of f32, or of f64. */
bool cpu_fftw_found_single(char *why, size_t size);
bool cpu_fftw_found_double(char *why, size_t size);
fl_status cpu_fftw_ready_single(void *device, char *why, size_t size);
fl_status cpu_fftw_ready_double(void *device, char *why, size_t size);

/* The plans for tiles of one size. */
typedef struct cpu_fft {
    fl_dtype dtype;
    int32_t rows, columns, group; /* rows that are transformed at a time */
    void *plans[4];
    struct cpu_fft *next;
} cpu_fft;

static inline int64_t cpu_fft_pitch(int64_t columns)
{
    return 2 * (columns / 2 + 1);
}

/* The device's plans for that size, which are made at the first call: they choose by rules (FFTW_ESTIMATE), not by
 * measuring, so that they are the same each time. `tile` is memory for one, whose contents stay. Requires
 * cpu_fftw_ready. Freed with the device, by cpu_fft_free. */
fl_status cpu_fft_plan(cpu_device *device, fl_dtype dtype, int64_t rows, int64_t columns, void *tile,
                       const cpu_fft **plan);
void cpu_fft_free(cpu_device *device);

/* The steps of a transform; any number of threads, each with a tile of its own. First each group of `group` rows, from
 * `row` on, then all columns; and back in the other order, where groups that are not needed may be left out. The two
 * ways multiply by the number of elements. */
void cpu_fft_rows(const cpu_fft *plan, void *tile, int64_t row);
void cpu_fft_columns(const cpu_fft *plan, void *tile);
void cpu_fft_columns_back(const cpu_fft *plan, void *tile);
void cpu_fft_rows_back(const cpu_fft *plan, void *tile, int64_t row);

/* Edges of tiles are powers of two. */
static inline double cpu_fft_log2(int64_t edge)
{
    return __builtin_ctzll((unsigned long long)edge);
}

/* At most so many units of rounding, those of the numbers transformed, is an element of a convolution in tiles of that
 * many elements off, times the root of the sum of the tile's squares and the sum of the kernel's absolute values.
 * docs/accuracy.md derives it. */
static inline double cpu_fft_error(double log2_of_elements)
{
    return 20 * (log2_of_elements + 2);
}

/* What a multiply-add of a direct sum in f32 costs, where an FFT of n elements to and fro costs n (log2(n) + 4):
 * measured on two cores, one of which has as fast a unit for 512 bits as for 256. In files that are compiled for an
 * instruction set. */
#define CPU_FFT_SUM \
    (CPU_VECTOR_BITS >= 512 ? 0.05 : CPU_VECTOR_BITS >= 256 ? 0.07 : CPU_VECTOR_BITS >= 128 ? 0.18 : 0.5)

/* Multiply-adds below which auto sums directly: loading FFTW and its plans take some milliseconds once. */
#define CPU_FFT_LEAST 4e6

static inline double cpu_fft_cost(double elements, double log2_of_tile)
{
    return elements * (log2_of_tile + 4);
}

/* The variants `fft` and `fft-wide` of an operation, of the file's plan_fft, plan_fft_wide, run_fft_f32, run_fft_f64
 * and run_fft_wide. Two cpu_operations, NAME_fft_single and NAME_fft_double, because each needs a library of its own.
 */
#define CPU_FFT_OPERATIONS(operation, name, summary, wide_summary) \
    static const fl_row rows_single[] = { \
        {CPU_ROW(operation, "fft", 1u << FL_F32, plan_fft, run_fft_f32, summary), .restricted = true, \
         .available = cpu_fftw_ready_single}, \
    }; \
    static const fl_row rows_double[] = { \
        {CPU_ROW(operation, "fft-wide", 1u << FL_F32, plan_fft_wide, run_fft_wide, wide_summary), \
         .available = cpu_fftw_ready_double}, \
        {CPU_ROW(operation, "fft", 1u << FL_F64, plan_fft, run_fft_f64, summary), .restricted = true, \
         .available = cpu_fftw_ready_double}, \
    }; \
    const cpu_operation CPU_NAME(name##_fft_single) = { \
        .rows = rows_single, .count = 1, .found = cpu_fftw_found_single}; \
    const cpu_operation CPU_NAME(name##_fft_double) = {.rows = rows_double, .count = 2, .found = cpu_fftw_found_double};

/* A tile's numbers: the sums of their squares and of their magnitudes. */
typedef struct fft_norms {
    double squares, sum;
} fft_norms;

#endif
