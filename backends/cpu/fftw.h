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

#include <float.h>
#include <math.h>

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
 * many elements off, times the roots of the sums of the tile's squares and of the kernel's. docs/accuracy.md derives
 * it. */
static inline double cpu_fft_error(double log2_of_elements)
{
    return 20 * (log2_of_elements + 2);
}

/* The same for fft-checked. It counts the steps of FFTW's transforms, because a smaller bound leaves fewer sums to be
 * computed directly. */
static inline double cpu_fft_checked_error(double log2_of_elements)
{
    return 13.5 * (log2_of_elements + 1.5);
}

/* The least tolerance of such a convolution, `unit` being a unit of rounding: the two roots are at most the root of the
 * tile's elements times the largest magnitude of a result in which no terms cancel, if its tiles are alike. A tile of
 * which that is not true is computed again. */
static inline double cpu_fft_bound(double log2_of_elements, double unit)
{
    return cpu_fft_error(log2_of_elements) * unit * exp2(log2_of_elements / 2);
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

/* How auto convolves. */
typedef enum cpu_method { CPU_DIRECT, CPU_FFT, CPU_FFT_WIDE, CPU_FFT_CHECKED, CPU_METHODS } cpu_method;

/* What each of them costs, in the unit of CPU_FFT_SUM (INFINITY: it cannot run), and the least tolerance that it takes.
 */
typedef struct cpu_methods {
    fl_dtype dtype;
    double cost[CPU_METHODS], bound[CPU_METHODS];
} cpu_methods;

static inline bool cpu_fft_is_ready(const cpu_methods *of, cpu_method method)
{
    const bool single = method == CPU_FFT && of->dtype == FL_F32;
    char why[256];

    return method == CPU_DIRECT ||
           (single ? cpu_fftw_ready_single : cpu_fftw_ready_double)(NULL, why, sizeof why) == FL_OK;
}

/* Returns the method that costs least of those that can run and take the tolerance; without one, fft is not as exact as
 * the others. */
static inline cpu_method cpu_fft_choose(cpu_methods of, double tolerance)
{
    for (;;) {
        cpu_method best = CPU_DIRECT;
        double least = INFINITY;
        for (int m = CPU_DIRECT; m < CPU_METHODS; m++)
            if (of.cost[m] < least && (tolerance > 0 ? of.bound[m] <= tolerance : m != CPU_FFT)) {
                best = (cpu_method)m;
                least = of.cost[m];
            }
        if (cpu_fft_is_ready(&of, best))
            return best;
        of.cost[best] = INFINITY;
    }
}

/* Returns the least tolerance that a method which can run takes. */
static inline double cpu_fft_least_bound(const cpu_methods *of)
{
    double least = INFINITY;

    for (int m = CPU_DIRECT; m < CPU_METHODS; m++)
        if (of->cost[m] < INFINITY && of->bound[m] < least && cpu_fft_is_ready(of, (cpu_method)m))
            least = of->bound[m];
    return least;
}

/* The rows below run these functions. They call convolve_fft_f32 and so on of the file, whose last argument says
 * whether sums that are less accurate than direct ones are computed again. fft-checked computes them again also where a
 * tolerance would allow more. */
#define CPU_FFT_RUN(variant, type, launched, exact) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        return CPU_TYPED(convolve, type)(context, args, launched, exact); \
    }
#define CPU_FFT_RUNS \
    CPU_FFT_RUN(fft_f32, fft_f32, launch, false) \
    CPU_FFT_RUN(fft_f64, fft_f64, launch, false) \
    CPU_FFT_RUN(fft_wide, fft_wide, launch, launch->tolerance == 0) \
    CPU_FFT_RUN(fft_checked, fft_f64, &(const fl_launch){.flops = launch->flops}, true)

/* The variants `fft`, `fft-wide` and `fft-checked` of an operation, of the file's plan_fft, plan_fft_wide,
 * plan_fft_checked, run_fft_f32, run_fft_f64, run_fft_wide, run_fft_checked, bound_fft and bound_fft_wide. Two
 * cpu_operations, NAME_fft_single and NAME_fft_double, because each needs a library of its own.
 */
#define CPU_FFT_OPERATIONS(operation, name, summary, wide_summary, checked_summary) \
    static const fl_row rows_single[] = { \
        {CPU_ROW(operation, "fft", 1u << FL_F32, plan_fft, run_fft_f32, summary), .restricted = true, \
         .available = cpu_fftw_ready_single, .bound = CPU_NAME(bound_fft)}, \
    }; \
    static const fl_row rows_double[] = { \
        {CPU_ROW(operation, "fft-wide", 1u << FL_F32, plan_fft_wide, run_fft_wide, wide_summary), \
         .available = cpu_fftw_ready_double, .bound = CPU_NAME(bound_fft_wide)}, \
        {CPU_ROW(operation, "fft", 1u << FL_F64, plan_fft, run_fft_f64, summary), .restricted = true, \
         .available = cpu_fftw_ready_double, .bound = CPU_NAME(bound_fft)}, \
        {CPU_ROW(operation, "fft-checked", 1u << FL_F64, plan_fft_checked, run_fft_checked, checked_summary), \
         .available = cpu_fftw_ready_double}, \
    }; \
    const cpu_operation CPU_NAME(name##_fft_single) = { \
        .rows = rows_single, .count = 1, .found = cpu_fftw_found_single}; \
    const cpu_operation CPU_NAME(name##_fft_double) = {.rows = rows_double, .count = 3, .found = cpu_fftw_found_double};

/* Of the numbers of a tile or kernel: the sums of their squares and of their magnitudes. */
typedef struct fft_norms {
    double squares, sum;
} fft_norms;

static inline void cpu_fft_count(fft_norms *norms, double element)
{
    norms->squares += element * element;
    norms->sum += fabs(element);
}

/* At least the root of the sum of squares, also where squares lose digits. */
static inline double cpu_fft_norm(const fft_norms *norms)
{
    return norms->squares > DBL_MIN / DBL_EPSILON ? sqrt(norms->squares) : norms->sum;
}

/* What a call with a tolerance finds of each tile, so that those which are not exact enough are computed again. */
typedef struct fft_found {
    double tolerance; /* 0: the call has none, and nothing else is used */
    double *error;    /* that an element of each tile may have; 0: the tile was summed directly */
} fft_found;

#endif
