# SPDX-License-Identifier: MIT
"""A program that uses every name of flynn, for mypy --strict (test_interface.py)."""
from typing import Any, Dict, List, Tuple

import numpy as np

import flynn

device: flynn.Device = flynn.device("serial")
stream: flynn.Stream = device.stream()
names: List[str] = [one.name for one in flynn.devices()] + [one.name for one in device.variants("sort")]
x: flynn.Array = flynn.array([3.0, 1.0, 2.0], device=device)
m: flynn.Array = device.array(np.eye(3))
shape: Tuple[int, ...] = x.shape
host: "np.ndarray[Any, Any]" = flynn.asnumpy(x)
views: List[flynn.Array] = [x[1:], flynn.asarray(host), flynn.from_dlpack(host), flynn.empty(3), flynn.zeros(3), x.to("simd"), x.astype("float32")]
u, s, vt = flynn.svd(m, keep=2, seed=1)
q, r = flynn.qr(m)
close: bool = flynn.allclose(x, x)
bound: int = flynn.primes_bound(100)
count: int = flynn.primes_count(100, 10, variant="sieve")
results: List[Any] = [
    flynn.increment(x, out=x), flynn.sqrt(x, stream=stream), flynn.maximum(x, x), flynn.log_of_sum(x, x), flynn.sort(x, variant="radix"), flynn.merge(x, x),
    flynn.searchsorted(x, x), flynn.select(x), flynn.primes(100), flynn.convolve(m, m), flynn.convolve1d(x, x, "same"), flynn.convolve2d(m, m, "valid"),
    flynn.matmul(m, m), flynn.transpose(m), flynn.reconstruct(u, s, vt), flynn.sum(m, 0), flynn.min(m), flynn.max(m), flynn.argmin(m), flynn.argmax(m),
    flynn.dot(x, x), flynn.cumsum(x), flynn.histogram(x, 3, (0, 3)), m @ m]
twice: flynn.Vectorized = flynn.vectorize("2 * x")
kernel = flynn.RawKernel("__global__ void f(double *a, int n) { a[0] = n; }")
rows: flynn.Times = flynn.time(flynn.sort, x, devices=["serial"], repeat=3)
row: Dict[str, Any] = rows[0]
try:
    flynn.sort(m)
except (flynn.ArgumentError, flynn.UnknownError, flynn.WrongDeviceError, flynn.UnsupportedError, flynn.UnavailableError, flynn.LimitError, flynn.OutOfMemoryError,
        flynn.DeviceError, flynn.SourceError) as error:
    base: flynn.Error = error
version: str = flynn.__version__
