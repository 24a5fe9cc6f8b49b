/* SPDX-License-Identifier: MIT
 *
 * operations.h - the operations that a plugin's rows compute, and the arguments of each, for authors of plugins. Core
 * has checked them: shapes fit, dtypes are those named here, and inputs that the row cannot take were converted.
 */
#ifndef FLYNN_OPERATIONS_H
#define FLYNN_OPERATIONS_H

#include <flynn/flynn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* New operations are only appended. */
typedef enum fl_operation {
    FL_OP_CONVERT = 0,
    FL_OP_CONVOLVE = 1,
    FL_OP_CONVOLVE1D = 2,
    FL_OP_SORT = 3,
    FL_OP_SELECT = 4,
    FL_OP_PRIMES = 5,
    FL_OP_INCREMENT = 6,
    FL_OP_SQRT = 7,
    FL_OP_MAXIMUM = 8,
    FL_OP_LOG_OF_SUM = 9,
    FL_OP_ALLCLOSE = 10,
    FL_OP_RECONSTRUCT = 11,
    FL_OP_SVD = 12,
    FL_OP_COPY = 13,
    FL_OP_MULTIPLY_ADD = 14,
    FL_OP_MAP = 15,
    FL_OP_KERNEL = 16,
    FL_OP_MERGE = 17,
    FL_OP_SEARCH_SORTED = 18,
    FL_OP_QR = 19,
    FL_OP_REDUCE = 20,
    FL_OP_SCAN = 21,
    FL_OP_HISTOGRAM = 22,
    FL_OP_TRANSPOSE = 23,
    FL_OP_MATMUL = 24,
} fl_operation;
#define FL_OP_COUNT 25

/* An array as it is passed to a kernel. */
typedef struct fl_buffer {
    void *data; /* the first element; device memory */
    fl_dtype dtype;
    int32_t ndim;
    int64_t shape[FL_MAX_DIMS];  /* outermost first; 1 beyond ndim */
    int64_t stride[FL_MAX_DIMS]; /* elements from one to the next in each dimension; always 1 in the last one */
} fl_buffer;

/* FL_OP_CONVERT: out = in, element by element; same shape, at least one element; out is f32, f64, or, for integers,
 * i64. The row's dtype is out's. */
typedef struct fl_convert_args {
    fl_buffer in, out;
} fl_convert_args;

/* FL_OP_CONVOLVE: out[i, j] = sum over p, q of image[i + origin[0] - p, j + origin[1] - q] * kernel[p, q], zero outside
 * the image; those zeros take part in the sum (0 * infinity is NaN). All three 2-D, of the same dtype (f32 or f64),
 * with at least one element; the kernel may be the larger one. `origin` and out's shape stand for the mode: `out` is
 * any window of the full result. */
typedef struct fl_convolve_args {
    fl_buffer image, kernel, out;
    int64_t origin[2];
} fl_convolve_args;

/* FL_OP_CONVOLVE1D: out[i] = sum over p of signal[i + origin - p] * kernel[p], where both exist (positions outside add
 * nothing: numpy.convolve's rule). 1-D, packed, of the same dtype (f32 or f64), with at least one element each; the
 * kernel is never longer than the signal; `out` is any window of the full result. */
typedef struct fl_convolve1d_args {
    fl_buffer signal, kernel, out;
    int64_t origin;
} fl_convolve1d_args;

/* FL_OP_SORT: out = in in ascending order, -0 equal to +0 (in any order), NaN last. 1-D, packed, of the same dtype
 * (f32, f64, i32 or i64) and length, at least one element. out.data is in.data, or out and in share no memory. */
typedef struct fl_sort_args {
    fl_buffer in, out;
} fl_sort_args;

/* FL_OP_SELECT: out[0], out[1] ... = the elements of `in` that are not zero (NaN is not zero, -0 is), in their order,
 * and count[0] = their number. 1-D, packed, any dtype; in has at least one element and out as many; count is i64 and
 * has one. The elements of `out` after the selected ones stay unchanged. The row's dtype is in's. The launch's
 * bytes_requested leaves out the stores to `out`: core adds them when it knows the count. */
typedef struct fl_select_args {
    fl_buffer in, out, count;
} fl_select_args;

/* FL_OP_PRIMES: out[0], out[1] ... = the primes from `first` (0 to upto - 1) on that are below `upto` (at least 3),
 * ascending, and count[0] = their number. Packed i64; `out` has room for all primes; the elements after them stay
 * unchanged. Or out.data is NULL: they are only counted. The row's dtype is FL_I64. bytes_requested as for
 * FL_OP_SELECT. */
typedef struct fl_primes_args {
    int64_t first, upto;
    fl_buffer out, count;
} fl_primes_args;

/* FL_OP_INCREMENT (out = in + 1; integers wrap around; f32, f64, i32, i64) and FL_OP_SQRT (f32, f64): the same shape
 * and dtype, at least one element. out.data is in.data with the same strides, or out and in share no memory. */
typedef struct fl_unary_args {
    fl_buffer in, out;
} fl_unary_args;

/* FL_OP_MAXIMUM (NaN if x or y is NaN; f32, f64, i32, i64) and FL_OP_LOG_OF_SUM (log(x + y); f32, f64): as above. */
typedef struct fl_binary_args {
    fl_buffer x, y, out;
} fl_binary_args;

/* FL_OP_ALLCLOSE: a[i] and b[i] differ unless |a[i] - b[i]| <= absolute + relative * |b[i]|, or both are the same
 * infinity, or both are NaN and equal_nan is not 0. The same shape and dtype (f32 or f64), at least one element. found
 * is i64 and has three elements: the number of elements that differ; the row-major index of the one with the largest
 * excess, the lowest among equals, -1 if none differs; the bits of a double, that excess: |a - b| divided by its bound,
 * infinity if it is not finite. */
typedef struct fl_allclose_args {
    fl_buffer a, b, found;
    double relative, absolute;
    int32_t equal_nan;
} fl_allclose_args;

/* FL_OP_RECONSTRUCT: y[b, i, j] = sum over p < rank of u[b, i, p] * s[b, p] * vt[b, p, j]. The same dtype (f32 or f64);
 * u, vt and y have 3 dimensions (batch first, 1 without a batch), s has 2; rank is at least 1 and at most the length of
 * the dimensions of p. */
typedef struct fl_reconstruct_args {
    fl_buffer u, s, vt, y;
    int64_t rank;
} fl_reconstruct_args;

/* FL_OP_SVD: the leading k = s.shape[0] singular values of a (m x n), descending, with their vectors: u (m x k) and vt
 * (k x n). The same dtype (f32 or f64); 1 <= k <= min(m, n); s is packed. `a` is not changed. The seed is for variants
 * that draw random numbers. An element of `a` that is not finite is for the row to find: FL_E_ARGUMENT. */
typedef struct fl_svd_args {
    fl_buffer a, u, s, vt;
    uint64_t seed;
} fl_svd_args;

/* FL_OP_COPY: out = in; 1-D, packed, the same dtype (any) and length, at least one element, no memory shared. */
typedef struct fl_copy_args {
    fl_buffer in, out;
} fl_copy_args;

/* FL_OP_MULTIPLY_ADD: out = in after `steps` times x = x * factor + term, each rounded once (a fused multiply-add) or
 * twice. 1-D, packed, the same dtype (f32 or f64) and length, at least one element; out.data is in.data, or out and in
 * share no memory; steps is at least 0. */
typedef struct fl_multiply_add_args {
    fl_buffer in, out;
    double factor, term;
    int64_t steps;
} fl_multiply_add_args;

/* FL_OP_MAP: out[i] = f(in[0][i], in[1][i] ...), where `code` is f, compiled by the device for these dtypes. All have
 * out's shape; an input's stride is 0 in the dimensions in which it has one element, the last one included. At least
 * one element; out.data is an input's with the same strides, or out shares no memory with it. The row's dtype is out's.
 */
typedef struct fl_map_args {
    void *code; /* from fl_device_api.compile */
    int32_t inputs;
    fl_buffer in[FL_MAX_INPUTS], out;
} fl_map_args;

/* FL_OP_KERNEL: one launch of a kernel of the user's, with launch->block threads in each block (the row chooses where
 * they are 0). arguments[i] points to the i-th argument, of its parameter's type: a number, or the address of an array.
 * The row's dtype is that of the first array that is not constant, or of the first array, or u8. */
typedef struct fl_kernel_args {
    void *code;           /* from fl_device_api.compile */
    int64_t grid[3];      /* blocks in x, y, z: at least 1 */
    int64_t shared_bytes; /* of a block's dynamic shared memory */
    int32_t count;
    void *arguments[FL_MAX_PARAMETERS];
} fl_kernel_args;

/* FL_OP_MERGE: out = the elements of x and y, each of which is in the order of FL_OP_SORT, in that order; of equal ones
 * x's come first, and each array's stay in their order. 1-D, packed, of the same dtype (f32, f64, i32 or i64), with at
 * least one element in all; out has as many as both and shares no memory with them. */
typedef struct fl_merge_args {
    fl_buffer x, y, out;
} fl_merge_args;

/* FL_OP_SEARCH_SORTED: out[i] = how many elements of `sorted`, which is in the order of FL_OP_SORT, come before
 * values[i] and are not equal to it. 1-D, packed; sorted and values of the same dtype (f32, f64, i32 or i64), out i64
 * and as long as values, at least one element; sorted may have none. The row's dtype is sorted's. */
typedef struct fl_search_sorted_args {
    fl_buffer sorted, values, out;
} fl_search_sorted_args;

/* FL_OP_QR: a (m x n) = q r, where the columns of q (m x k, k = min(m, n)) are orthonormal and r (k x n) = q' a is
 * upper triangular but for rounding; qt = q'. The same dtype (f32 or f64), at least one element; `a` shares no memory
 * with the others. Where columns of `a` depend on those before, q has any further ones. An element of `a` that is not
 * finite is for the row to find: FL_E_ARGUMENT. */
typedef struct fl_qr_args {
    fl_buffer a, qt, r;
} fl_qr_args;

/* FL_OP_REDUCE: out[i, j] = x[i, 0, j], x[i, 1, j] ... put together; x packed, of any dtype, with three dimensions
 * (outer, length, inner), each at least 1; out packed (outer, inner).
 *   FL_SUM             of out's dtype: in's own, or i64 if in has integers (which wrap), or f64 (each element
 * converted) FL_MINIMUM, FL_MAXIMUM  in's dtype; NaN if an element is NaN FL_ARGMIN, FL_ARGMAX    i64: the index along
 * `length` of the first such element, or of the first NaN y.data is NULL, or y is like x and x[i, p, j] * y[i, p, j]
 * takes the place of x[i, p, j]; for FL_SUM alone. The same bits in each call with the same arguments. The row's dtype
 * is x's. */
typedef struct fl_reduce_args {
    fl_buffer x, y, out;
    fl_reduction reduction;
} fl_reduce_args;

/* FL_OP_SCAN: out[i] = in[0] to in[i] put together, or, if exclusive, to in[i - 1], where out[0] is 0 (FL_SUM) or the
 * lowest value (FL_MAXIMUM: -infinity for floats). Integers wrap; NaN stays NaN. 1-D, packed, at least one element; out
 * is in's dtype, or for FL_SUM of integers i64; out.data is in.data with the same dtype, or out and in share no memory.
 * The same bits in each call with the same arguments. The row's dtype is in's (any). */
typedef struct fl_scan_args {
    fl_buffer in, out;
    fl_reduction reduction; /* FL_SUM or FL_MAXIMUM */
    int32_t exclusive;
} fl_scan_args;

/* FL_OP_HISTOGRAM: out[b] = how many elements x of `in` have edge(b) <= x < edge(b + 1), for the last bin <=, where
 * edge(b) = lo + b * ((hi - lo) / bins), rounded to f64 after each operation, edge(bins) = hi, and x is converted to
 * f64. Elements outside are not counted, or, if `clip`, in the first or last bin; NaN is not counted. in: 1-D, packed,
 * any dtype, at least one element; out: i64, packed, bins >= 1 elements; lo < hi, both finite, so is hi - lo. The row's
 * dtype is in's. */
typedef struct fl_histogram_args {
    fl_buffer in, out;
    double lo, hi;
    int32_t clip;
} fl_histogram_args;

/* FL_OP_TRANSPOSE: out[b, c, i, j] = in[b, c, j, i]; four dimensions, any dtype, the same for both, at least one
 * element, no memory shared. The row's dtype is in's. */
typedef struct fl_transpose_args {
    fl_buffer in, out;
} fl_transpose_args;

/* FL_OP_MATMUL: c[b, i, j] = sum over p of a[b, i, p] * b[b, p, j], where a transposed input is stored with its last
 * two dimensions exchanged (a[b, p, i]). The same dtype (f32, f64, i32, i64; integers wrap), three dimensions, of which
 * a stride of 0 in the first one repeats a matrix for the whole batch; at least one element each; c shares no memory
 * with a and b. */
typedef struct fl_matmul_args {
    fl_buffer a, b, c;
    int32_t transpose_a, transpose_b;
} fl_matmul_args;

#ifdef __cplusplus
}
#endif
#endif
