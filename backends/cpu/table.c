/* SPDX-License-Identifier: MIT
 *
 * table.c - all operations in one instruction set, which the macros CPU_ISA, CPU_VECTOR_BITS and CPU_FLAGS describe. A
 * new operation is a new file and a line here.
 */
#include "cpu.h"

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

extern const cpu_operation CPU_NAME(cpu_allclose), CPU_NAME(cpu_convert), CPU_NAME(cpu_convolve);
extern const cpu_operation CPU_NAME(cpu_convolve_fft_single), CPU_NAME(cpu_convolve_fft_double);
extern const cpu_operation CPU_NAME(cpu_convolve1d), CPU_NAME(cpu_convolve1d_fft_single),
    CPU_NAME(cpu_convolve1d_fft_double);
extern const cpu_operation CPU_NAME(cpu_copy), CPU_NAME(cpu_elementwise), CPU_NAME(cpu_histogram), CPU_NAME(cpu_map);
extern const cpu_operation CPU_NAME(cpu_matmul), CPU_NAME(cpu_matmul_library), CPU_NAME(cpu_merge);
extern const cpu_operation CPU_NAME(cpu_multiply_add), CPU_NAME(cpu_primes), CPU_NAME(cpu_reconstruct);
extern const cpu_operation CPU_NAME(cpu_reconstruct_library), CPU_NAME(cpu_reduce), CPU_NAME(cpu_scan);
extern const cpu_operation CPU_NAME(cpu_select), CPU_NAME(cpu_sort), CPU_NAME(cpu_svd), CPU_NAME(cpu_svd_library);
extern const cpu_operation CPU_NAME(cpu_transpose);
#if CPU_VECTOR_BITS > 64
extern const cpu_operation CPU_NAME(cpu_primes_library), CPU_NAME(cpu_sort_vqsort);
#endif
extern const cpu_table CPU_NAME(cpu_table);

static const cpu_operation *const operations[] = {
    &CPU_NAME(cpu_allclose),
    &CPU_NAME(cpu_convert),
    &CPU_NAME(cpu_convolve),
    &CPU_NAME(cpu_convolve_fft_single),
    &CPU_NAME(cpu_convolve_fft_double),
    &CPU_NAME(cpu_convolve1d),
    &CPU_NAME(cpu_convolve1d_fft_single),
    &CPU_NAME(cpu_convolve1d_fft_double),
    &CPU_NAME(cpu_copy),
    &CPU_NAME(cpu_elementwise),
    &CPU_NAME(cpu_histogram),
    &CPU_NAME(cpu_map),
    &CPU_NAME(cpu_matmul),
    &CPU_NAME(cpu_matmul_library),
    &CPU_NAME(cpu_merge),
    &CPU_NAME(cpu_multiply_add),
    &CPU_NAME(cpu_primes),
#if CPU_VECTOR_BITS > 64 /* the library's vectors are none of a scalar baseline's */
    &CPU_NAME(cpu_primes_library),
#endif
    &CPU_NAME(cpu_reconstruct),
    &CPU_NAME(cpu_reconstruct_library),
    &CPU_NAME(cpu_reduce),
    &CPU_NAME(cpu_scan),
    &CPU_NAME(cpu_select),
    &CPU_NAME(cpu_sort),
#if CPU_VECTOR_BITS > 64
    &CPU_NAME(cpu_sort_vqsort),
#endif
    &CPU_NAME(cpu_svd),
    &CPU_NAME(cpu_svd_library),
    &CPU_NAME(cpu_transpose),
};

static const char *const flags[] = {CPU_FLAGS, NULL};
_Static_assert(sizeof flags / sizeof *flags <= CPU_MOST_FLAGS, "compile.c has room for them");

const cpu_table CPU_NAME(cpu_table) = {
    .isa = TEXT(CPU_ISA),
    .vector_bits = CPU_VECTOR_BITS,
    .flags = flags,
    .operations = operations,
    .operation_count = sizeof operations / sizeof *operations,
};
