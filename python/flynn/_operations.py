# SPDX-License-Identifier: MIT
"""The operations, with the names and arguments of NumPy and SciPy.

Each takes arrays of Flynn, and those of other libraries in memory that the device reaches, and returns a new array of Flynn, or `out`, where it
is given. Keywords that all have:

    out      the array that is written, of the result's shape and dtype; it may be an input itself only where that is said
    variant  one of flynn.device(...).variants(name); None: the best
    block    threads of a block on a GPU, the tile on a processor: a number, or up to 3 (x, y, z)
    stream   flynn.device(...).stream(); None: the device's default one
    device   where the call runs; None: where its arrays are

and of convolve, convolve1d, convolve2d, matmul, reconstruct and svd:

    tolerance  the error that is accepted, relative to the largest element of the result (svd, reconstruct: to its Frobenius norm), such as 1e-6:
               the fastest variant that is known to be within it runs; 0: as exact as docs/accuracy.md says

Errors that all have: ArgumentError (a shape, a dtype, a value), WrongDeviceError (an array is elsewhere: nothing is copied silently), UnknownError (variant),
UnsupportedError (dtype), LimitError (block), OutOfMemoryError, DeviceError. "float32 or float64" means: float32 if all inputs are, else float64. On a GPU
a call returns when its work is queued; numpy() waits.
"""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict, NoReturn, Optional, Tuple

import numpy as np

from . import _c
from ._array import DTYPES, INT64, Array, Stream, device as open_device, dtype_code
from ._errors import ArgumentError, check, fail, integer, one_of, real
from ._run import Block, Where, call, on_device, output, place, run_of
from ._exchange import take

MODES = ("full", "same", "valid")
UINT8, INT32, INT64_DTYPE, FLOAT32, FLOAT64 = DTYPES


def float_result(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """C's rule for operations that compute in floating point."""
    return FLOAT32 if all([dtype == FLOAT32 for dtype in dtypes]) else FLOAT64


def result(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """C's rule for operations on one or two arrays that compute in integers, too."""
    if len(dtypes) == 1 or dtypes[0] == dtypes[1]:
        return dtypes[0]
    return INT64_DTYPE if dtypes[0].kind in "iu" and dtypes[1].kind in "iu" else FLOAT64


# ---------------------------------------------------------------------------------------------- element by element ----

def _unary(function: Any, dtype_of: Callable[..., np.dtype[Any]], a: Any, out: Any, variant: Optional[str], block: Block, stream: Optional[Stream],
           device: Where) -> Any:
    if type(a) is Array and device is None and (out is None or type(out) is Array and out.device is a.device and out._writable):
        # The usual call in a loop: no device to look up, nothing to convert.
        on = a.device
        to = on._create(a.shape, dtype_of(a.dtype)) if out is None else out
        status = function(on._handle or on._gone(), a._handle, to._handle, run_of(variant, block, stream, on))
        if status:
            fail(status)
        return to
    on = open_device("cpu") if type(a) is np.ndarray and out is None and device is None else on_device(device, (a, out))
    x = take("a", a, on)
    to = on._create(x.shape, dtype_of(x.dtype)) if out is None else output(out, on, x.shape, dtype_of(x.dtype))
    status = function(on._handle or on._gone(), x._handle, to._handle, run_of(variant, block, stream, on))
    if status:
        fail(status)
    return to if out is None else out


def _binary(function: Any, dtype_of: Callable[..., np.dtype[Any]], a: Any, b: Any, out: Any, variant: Optional[str], block: Block,
            stream: Optional[Stream], device: Where) -> Any:
    on = on_device(device, (a, b, out))
    x, y = take("x", a, on), take("y", b, on)
    to = output(out, on, x.shape, dtype_of(x.dtype, y.dtype))
    call(function, on, (x._handle, y._handle, to._handle), variant, block, stream)
    return to if out is None else out


def increment(a: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None, device: Where = None) -> Any:
    """a + 1, element by element; the largest integer wraps around. a: any shape; int32, int64, float32, float64, and so the result. out may be a."""
    return _unary(_c.fl_increment, result, a, out, variant, block, stream, device)


def sqrt(a: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None, device: Where = None) -> Any:
    """numpy.sqrt: NaN below 0. a: any shape and dtype; the result is float32 or float64. out may be a."""
    return _unary(_c.fl_sqrt, float_result, a, out, variant, block, stream, device)


def maximum(x: Any, y: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
            device: Where = None) -> Any:
    """numpy.maximum: NaN where one of them is. x, y: one shape; int32, int64, float32, float64. The result has their dtype; of two dtypes it is
    int64 if both are integers, else float64. out may be x or y."""
    return _binary(_c.fl_maximum, result, x, y, out, variant, block, stream, device)


def log_of_sum(x: Any, y: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
               device: Where = None) -> Any:
    """numpy.log(x + y), computed in float32 or float64. x, y: one shape, any dtype. out may be x or y."""
    return _binary(_c.fl_log_of_sum, float_result, x, y, out, variant, block, stream, device)


# ------------------------------------------------------------------------------------------------ order and choice ----

def sort(a: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None, device: Where = None) -> Any:
    """numpy.sort: ascending, NaN last. a: 1-D, int32, int64, float32, float64. out may be a."""
    return _unary(_c.fl_sort, result, a, out, variant, block, stream, device)


def merge(x: Any, y: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
          device: Where = None) -> Any:
    """The elements of two sorted arrays in order. x, y: 1-D, one dtype of int32, int64, float32, float64; the result is as long as both."""
    on = on_device(device, (x, y, out))
    first, second = take("x", x, on), take("y", y, on)
    to = output(out, on, (first.size + second.size,), first.dtype)
    call(_c.fl_merge, on, (first._handle, second._handle, to._handle), variant, block, stream)
    return to if out is None else out


def searchsorted(a: Any, v: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
                 device: Where = None) -> Any:
    """numpy.searchsorted(a, v): how many elements of the sorted `a` come before each of `v`. 1-D, one dtype of int32, int64, float32, float64;
    the result is int64."""
    on = on_device(device, (a, v, out))
    ordered, values = take("a", a, on), take("v", v, on)
    to = output(out, on, (values.size,), INT64_DTYPE)
    call(_c.fl_search_sorted, on, (ordered._handle, values._handle, to._handle), variant, block, stream)
    return to if out is None else out


def _counted(on: Any, to: Array, count: Array) -> Array:
    """The part of `to` that a call has filled. Waits."""
    return to[:int(count.numpy()[0])]


def select(a: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None, device: Where = None) -> Array:
    """a[a != 0]: the elements that are not zero, in their order. a: 1-D, any dtype. The result is a view of `out`, an array of at least a's length,
    or of a new one. Waits."""
    on = on_device(device, (a, out))
    x, count = take("a", a, on), on._create((1,), INT64_DTYPE)
    to = output(out, on, x.shape, x.dtype)
    call(_c.fl_select, on, (x._handle, to._handle, count._handle), variant, block, stream)
    return _counted(on, to, count)


def primes(upto: int, first: int = 0, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
           device: Where = None) -> Array:
    """The primes from `first` on below `upto`, ascending, int64. upto: at most 2**40 (2**31 in variants by trial division). The result is a view of
    `out`, an int64 array of at least primes_bound(upto, first) elements, or of a new one. device: None is "auto". Waits."""
    upto, first = integer("upto", upto), integer("first", first)
    on, most = on_device(device, (out,)), primes_bound(upto, first)
    to, count = output(out, on, (most,), INT64_DTYPE), on._create((1,), INT64_DTYPE)
    if to.ndim != 1 or to.size < most:
        raise ArgumentError(f"out has the shape {to.shape}; expected one dimension of at least {most} elements: flynn.primes_bound({upto}, {first})")
    if first:
        call(_c.fl_primes_between, on, (first, upto, to._handle, count._handle), variant, block, stream)
    else:
        call(_c.fl_primes, on, (upto, to._handle, count._handle), variant, block, stream)
    return _counted(on, to, count)


def primes_count(upto: int, first: int = 0, *, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
                 device: Where = None) -> int:
    """How many primes there are from `first` on below `upto`, which are not stored. upto: at most 2**40 (2**31 in variants by trial division).
    device: None is "auto". Waits."""
    upto, first = integer("upto", upto), integer("first", first)
    on = on_device(device, ())
    count = on._create((1,), INT64_DTYPE)
    call(_c.fl_primes_count, on, (first, upto, count._handle), variant, block, stream)
    return int(count.numpy()[0])


def primes_bound(upto: int, first: int = 0) -> int:
    """An upper bound of the number of primes from `first` on below `upto`, for primes' `out`."""
    upto, first = integer("upto", upto, most=_c.FL_PRIMES_MOST), integer("first", first)
    bound: int = _c.fl_primes_between_bound(first, upto) if first else _c.fl_primes_bound(upto)
    return bound


# ----------------------------------------------------------------------------------------------------- convolutions ----

def convolve2d(image: Any, kernel: Any, mode: str = "full", *, out: Any = None, variant: Optional[str] = None, block: Block = None,
               stream: Optional[Stream] = None, device: Where = None, tolerance: float = 0) -> Any:
    """scipy.signal.convolve2d with zeros beyond the border. image, kernel: 2-D, any dtype; mode: "full", "same" (image's shape), "valid". The result
    is float32 or float64."""
    number = MODES.index(one_of("mode", mode, MODES))
    on = on_device(device, (image, kernel, out))
    x, k, shape = take("image", image, on), take("kernel", kernel, on), INT64[2]()
    for name, array in (("image", x), ("kernel", k)):
        if array.ndim != 2:
            raise ArgumentError(f"{name} has {array.ndim} dimension{'s' if array.ndim > 1 else ''}; expected 2")
    check(_c.fl_convolve_shape(INT64[2](*x.shape), INT64[2](*k.shape), number, shape))
    to = output(out, on, tuple(shape), float_result(x.dtype, k.dtype))
    call(_c.fl_convolve, on, (x._handle, k._handle, number, to._handle), variant, block, stream, tolerance)
    return to if out is None else out


def convolve1d(signal: Any, kernel: Any, mode: str = "full", *, out: Any = None, variant: Optional[str] = None, block: Block = None,
               stream: Optional[Stream] = None, device: Where = None, tolerance: float = 0) -> Any:
    """scipy.signal.convolve of two vectors. signal, kernel: 1-D, any dtype, at least one element; mode: "full", "same" (signal's length), "valid". The
    result is float32 or float64."""
    number = MODES.index(one_of("mode", mode, MODES))
    on = on_device(device, (signal, kernel, out))
    x, k, length = take("signal", signal, on), take("kernel", kernel, on), ctypes.c_int64()
    for name, array in (("signal", x), ("kernel", k)):
        if array.ndim != 1:
            raise ArgumentError(f"{name} has {array.ndim} dimensions; expected 1")
        if array.size == 0:
            raise ArgumentError(f"{name} has no elements; expected at least one")
    check(_c.fl_convolve1d_shape(x.size, k.size, number, ctypes.byref(length)))
    to = output(out, on, (length.value,), float_result(x.dtype, k.dtype))
    call(_c.fl_convolve1d, on, (x._handle, k._handle, number, to._handle), variant, block, stream, tolerance)
    return to if out is None else out


def convolve(x: Any, kernel: Any, mode: str = "full", *, out: Any = None, variant: Optional[str] = None, block: Block = None,
             stream: Optional[Stream] = None, device: Where = None, tolerance: float = 0) -> Any:
    """scipy.signal.convolve, method "direct": convolve1d of two vectors, convolve2d of two matrices."""
    function = convolve1d if np.ndim(x) == 1 and np.ndim(kernel) == 1 else convolve2d
    return function(x, kernel, mode, out=out, variant=variant, block=block, stream=stream, device=device, tolerance=tolerance)


# ---------------------------------------------------------------------------------------------------------- matrices ----

def matmul(a: Any, b: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
           device: Where = None, tolerance: float = 0) -> Any:
    """numpy.matmul of matrices. a: [batch x] m x k; b: [batch x] k x n; any dtype but uint8; the result has the dtype that maximum's has. Integers
    wrap."""
    on = on_device(device, (a, b, out))
    x, y = take("a", a, on), take("b", b, on)
    if not 2 <= x.ndim <= 3 or not 2 <= y.ndim <= 3:
        raise ArgumentError(f"a and b have {x.ndim} and {y.ndim} dimensions; expected 2 or, of a batch, 3")
    batch = tuple(length for length in (x.shape[:-2] or y.shape[:-2]))
    if x.ndim == y.ndim == 3 and x.shape[0] == 1:
        batch = y.shape[:1]
    to = output(out, on, batch + (x.shape[-2], y.shape[-1]), result(x.dtype, y.dtype))
    call(_c.fl_matmul, on, (x._handle, False, y._handle, False, to._handle), variant, block, stream, tolerance)
    return to if out is None else out


def transpose(a: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
              device: Where = None) -> Any:
    """A copy with the last two dimensions exchanged: numpy.swapaxes(a, -1, -2). a: 2 to 4 dimensions, any dtype."""
    on = on_device(device, (a, out))
    x = take("a", a, on)
    if x.ndim < 2:
        raise ArgumentError("a has 1 dimension; expected at least 2")
    to = output(out, on, x.shape[:-2] + (x.shape[-1], x.shape[-2]), x.dtype)
    call(_c.fl_transpose, on, (x._handle, to._handle), variant, block, stream)
    return to if out is None else out


def svd(a: Any, keep: Optional[int] = None, seed: int = 0, *, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
        device: Where = None, tolerance: float = 0) -> Tuple[Array, Array, Array]:
    """numpy.linalg.svd(a, full_matrices=False): (u, s, vt), of which the leading `keep` values and vectors, or all.

    a: m x n, any dtype, all elements finite. u: m x keep; s: keep, descending; vt: keep x n; float32 or float64. keep: 1 to min(m, n). seed: of the variant
    randomized. The variant single, which auto takes where the tolerance allows it, computes float64 in float32. ArgumentError: also an element that is not finite. Waits.
    """
    on = on_device(device, (a,))
    x = take("a", a, on)
    if x.ndim != 2:
        raise ArgumentError(f"a has {x.ndim} dimension{'s' if x.ndim > 1 else ''}; expected 2")
    m, n = x.shape
    least = m if m < n else n
    k = least if keep is None else integer("keep", keep, 1 if least else 0, least)
    dtype, seed = float_result(x.dtype), integer("seed", seed, 0, 2 ** 64 - 1)
    u, s, vt = on._create((m, k), dtype), on._create((k,), dtype), on._create((k, n), dtype)
    call(_c.fl_svd, on, (x._handle, seed, u._handle, s._handle, vt._handle), variant, block, stream, tolerance)
    return u, s, vt


def qr(a: Any, *, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None, device: Where = None) -> Tuple[Array, Array]:
    """numpy.linalg.qr(a): (q, r), a = q r, where q's columns are orthonormal and r is upper triangular.

    a: m x n, any dtype, all elements finite; q: m x min(m, n); r: min(m, n) x n; float32 or float64. Signs may differ from NumPy's. ArgumentError: also an
    element that is not finite.
    """
    on = on_device(device, (a,))
    x = take("a", a, on)
    if x.ndim != 2:
        raise ArgumentError(f"a has {x.ndim} dimension{'s' if x.ndim > 1 else ''}; expected 2")
    m, n = x.shape
    k, dtype = (m if m < n else n), float_result(x.dtype)
    qt, r = on._create((k, m), dtype), on._create((k, n), dtype)
    call(_c.fl_qr, on, (x._handle, qt._handle, r._handle), variant, block, stream)
    return transpose(qt, stream=stream), r


def reconstruct(u: Any, s: Any, vt: Any, keep: Optional[int] = None, *, out: Any = None, variant: Optional[str] = None, block: Block = None,
                stream: Optional[Stream] = None, device: Where = None, tolerance: float = 0) -> Any:
    """u[:, :keep] @ diag(s[:keep]) @ vt[:keep], of one matrix or of a batch. u: [batch x] m x k; s: [batch x] k; vt: [batch x] k x n, any dtype; keep: 1 to k,
    or all. The result is float32 or float64."""
    on = on_device(device, (u, s, vt, out))
    left, values, right = take("u", u, on), take("s", s, on), take("vt", vt, on)
    if not 2 <= left.ndim <= 3 or right.ndim != left.ndim or values.ndim != left.ndim - 1:
        raise ArgumentError(f"u, s and vt have the shapes {left.shape}, {values.shape} and {right.shape}; expected m x k, k and k x n, or a batch of them")
    k = values.shape[-1]
    kept = k if keep is None else integer("keep", keep, 1 if k else 0, k)
    to = output(out, on, left.shape[:-1] + right.shape[-1:], float_result(left.dtype, values.dtype, right.dtype))
    call(_c.fl_reconstruct, on, (left._handle, values._handle, right._handle, kept, to._handle), variant, block, stream, tolerance)
    return to if out is None else out


# -------------------------------------------------------------------------------------------------------- reductions ----

def _reduce(kind: int, a: Any, axis: Optional[int], out: Any, variant: Optional[str], block: Block, stream: Optional[Stream], device: Where) -> Any:
    on = on_device(device, (a, out))
    x = take("a", a, on)
    number, shape = _axis(x, axis)
    to = output(out, on, shape, DTYPES[_c.fl_reduce_dtype(dtype_code("a", x.dtype), kind)])
    call(_c.fl_reduce, on, (x._handle, kind, number, to._handle), variant, block, stream)
    return to if out is None else out


def _axis(x: Array, axis: Optional[int]) -> Tuple[int, Tuple[int, ...]]:
    """C's number of an axis, and the shape without it; of one element where nothing is left."""
    if axis is None:
        return _c.FL_ALL_AXES, (1,)
    number = integer("axis", axis, -x.ndim, x.ndim - 1) % x.ndim
    return number, x.shape[:number] + x.shape[number + 1:] or (1,)


def sum(a: Any, axis: Optional[int] = None, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
        device: Where = None) -> Any:
    """numpy.sum along an axis, or of all elements (None), which is an array of one. a: any shape and dtype; integers are summed in int64 and wrap."""
    return _reduce(_c.FL_SUM, a, axis, out, variant, block, stream, device)


def min(a: Any, axis: Optional[int] = None, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
        device: Where = None) -> Any:
    """numpy.min along an axis, or of all elements (None): NaN if one is. ArgumentError: also where there are none."""
    return _reduce(_c.FL_MINIMUM, a, axis, out, variant, block, stream, device)


def max(a: Any, axis: Optional[int] = None, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
        device: Where = None) -> Any:
    """numpy.max along an axis, or of all elements (None): NaN if one is. ArgumentError: also where there are none."""
    return _reduce(_c.FL_MAXIMUM, a, axis, out, variant, block, stream, device)


def argmin(a: Any, axis: Optional[int] = None, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
           device: Where = None) -> Any:
    """numpy.argmin along an axis, or of all elements (None): the first of the least, or the first NaN; int64. ArgumentError: also where there are none."""
    return _reduce(_c.FL_ARGMIN, a, axis, out, variant, block, stream, device)


def argmax(a: Any, axis: Optional[int] = None, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
           device: Where = None) -> Any:
    """numpy.argmax along an axis, or of all elements (None): the first of the largest, or the first NaN; int64. ArgumentError: also where there are none."""
    return _reduce(_c.FL_ARGMAX, a, axis, out, variant, block, stream, device)


def dot(x: Any, y: Any, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
        device: Where = None) -> Any:
    """numpy.dot of two vectors, as an array of one element. x, y: 1-D, one dtype and length; integers are summed in int64 and wrap."""
    on = on_device(device, (x, y, out))
    first, second = take("x", x, on), take("y", y, on)
    if first.ndim != 1:
        raise ArgumentError(f"x has {first.ndim} dimensions; expected 1")
    to = output(out, on, (1,), DTYPES[_c.fl_reduce_dtype(dtype_code("x", first.dtype), _c.FL_SUM)])
    call(_c.fl_dot, on, (first._handle, second._handle, _c.FL_ALL_AXES, to._handle), variant, block, stream)
    return to if out is None else out


def cumsum(a: Any, exclusive: bool = False, *, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
           device: Where = None) -> Any:
    """numpy.cumsum; exclusive: each without its own element, from 0 on. a: 1-D, any dtype; of integers the result is int64 and wraps. out may be a."""
    on = on_device(device, (a, out))
    x = take("a", a, on)
    to = output(out, on, x.shape, DTYPES[_c.fl_reduce_dtype(dtype_code("a", x.dtype), _c.FL_SUM)])
    call(_c.fl_scan, on, (x._handle, _c.FL_SUM, bool(exclusive), to._handle), variant, block, stream)
    return to if out is None else out


def histogram(a: Any, bins: int, range: Tuple[float, float], clip: bool = False, *, out: Any = None, variant: Optional[str] = None, block: Block = None,
              stream: Optional[Stream] = None, device: Where = None) -> Any:
    """numpy.histogram(a, bins, range)[0]: how many elements each bin has, int64. clip: what is outside counts in the first or last bin. a: 1-D, any dtype;
    bins: at least 1; range: (lo, hi), lo < hi, both finite."""
    on = on_device(device, (a, out))
    if not isinstance(range, (tuple, list)) or len(range) != 2:
        raise ArgumentError(f"range is {range!r}; expected (lo, hi)")
    lo, hi = real("range[0]", range[0]), real("range[1]", range[1])
    x, to = take("a", a, on), output(out, on, (integer("bins", bins, 1),), INT64_DTYPE)
    call(_c.fl_histogram, on, (x._handle, lo, hi, bool(clip), to._handle), variant, block, stream)
    return to if out is None else out


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False, *, variant: Optional[str] = None, block: Block = None,
             stream: Optional[Stream] = None, device: Where = None) -> bool:
    """numpy.allclose: |a - b| <= atol + rtol * |b| for all elements. a, b: one shape, any dtype, compared in float32 or float64. Waits."""
    on = on_device(device, (a, b))
    x, y, found = take("a", a, on), take("b", b, on), _c.fl_closeness()
    call(_c.fl_allclose, on, (x._handle, y._handle, real("rtol", rtol), real("atol", atol), bool(equal_nan), ctypes.byref(found)), variant, block, stream)
    return bool(found.close)


# ---------------------------------------------------------------------------------------------- NumPy's own functions ----

def _sort(a: Any, axis: int = -1, kind: Any = None) -> Any:
    if a.ndim != 1 or axis not in (-1, 0):
        raise ArgumentError(f"numpy.sort of an array of {a.ndim} dimensions along axis {axis}; Flynn sorts arrays of one dimension")
    return sort(a)


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    return convolve1d(v, a, mode) if np.size(v) > np.size(a) else convolve1d(a, v, mode)


def _svd(a: Any, full_matrices: bool = True) -> Any:
    if full_matrices:
        raise TypeError("flynn.svd has the first vectors alone: numpy.linalg.svd(a, full_matrices=False)")
    return svd(a)


UFUNCS: Dict[Any, Callable[..., Any]] = {np.sqrt: sqrt, np.maximum: maximum, np.matmul: matmul}
FUNCTIONS: Dict[Any, Callable[..., Any]] = {
    np.sort: _sort, np.convolve: _convolve, np.allclose: allclose, np.searchsorted: searchsorted, np.sum: sum, np.min: min, np.amin: min, np.max: max,
    np.amax: max, np.argmin: argmin, np.argmax: argmax, np.dot: dot, np.cumsum: cumsum, np.linalg.svd: _svd, np.linalg.qr: qr,
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim, np.size: lambda a: a.size}


def _not_here(name: str) -> NoReturn:
    raise TypeError(f"numpy.{name} does not compute on Flynn's arrays; numpy.{name}(a.numpy()) does on a copy, and flynn.vectorize(...) makes functions of "
                    "elements")


def of_ufunc(ufunc: Any, method: str, inputs: Tuple[Any, ...], options: Dict[str, Any]) -> Any:
    """numpy.sqrt and others of an array of Flynn's. TypeError: names what computes it."""
    outs = options.pop("out", None)
    if ufunc not in UFUNCS or method != "__call__" or options:
        _not_here(ufunc.__name__ + ("" if method == "__call__" else "." + method))
    return UFUNCS[ufunc](*inputs, out=outs[0] if outs else None)


def of_function(function: Any, arguments: Tuple[Any, ...], options: Dict[str, Any]) -> Any:
    """numpy.sort and others of an array of Flynn's. TypeError: names what computes it."""
    if function not in FUNCTIONS:
        module = function.__module__.partition("numpy.")[2]
        _not_here(f"{module + '.' if module else ''}{function.__name__}")
    return FUNCTIONS[function](*arguments, **options)
