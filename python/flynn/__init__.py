# SPDX-License-Identifier: MIT
"""Flynn for Python: GPU exercises on one core, vectors, all cores, GPUs and an emulated GPU, with NumPy's names.

    import flynn
    gpu = flynn.device("hip")                # or "serial", "omp:2", "hip-cpu", "auto"
    a = gpu.array(x)                         # a copy of NumPy's x on the GPU
    flynn.sort(a).numpy()                    # sorted there, copied back; np.sort(a) is the same

A call runs where its arrays are, and nothing is copied silently. docs/python.md has the rest.
"""
from ._library import VERSION as __version__
from ._errors import (ArgumentError, DeviceError, Error, LimitError, OutOfMemoryError, SourceError, UnavailableError, UnknownError, UnsupportedError,
                      WrongDeviceError)
from ._array import Array, Device, Stream, array, asnumpy, device, devices, empty, zeros
from ._exchange import asarray, from_dlpack
from ._operations import (allclose, argmax, argmin, convolve, convolve1d, convolve2d, cumsum, dot, histogram, increment, log_of_sum, matmul, max, maximum,
                          merge, min, primes, primes_bound, primes_count, qr, reconstruct, searchsorted, select, sort, sqrt, sum, svd, transpose)
from ._code import RawKernel, Vectorized, vectorize
from ._time import Times, time



def load_ipython_extension(ipython: object) -> None:
    """%load_ext flynn: the magics %flynn and %%flynn."""
    from ._notebook import load
    load(ipython)


__all__ = ["ArgumentError", "Array", "Device", "DeviceError", "Error", "LimitError", "OutOfMemoryError", "RawKernel", "SourceError", "Stream", "Times",
           "UnavailableError", "UnknownError", "UnsupportedError", "Vectorized", "WrongDeviceError", "__version__", "allclose", "argmax", "argmin",
           "array", "asarray", "asnumpy", "convolve", "convolve1d", "convolve2d", "cumsum", "device", "devices", "dot", "empty", "from_dlpack",
           "histogram", "increment", "log_of_sum", "matmul", "max", "maximum", "merge", "min", "primes", "primes_bound", "primes_count", "qr", "reconstruct",
           "searchsorted", "select", "sort", "sqrt", "sum", "svd", "time", "transpose", "vectorize", "zeros"]
