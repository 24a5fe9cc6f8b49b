# SPDX-License-Identifier: MIT
"""gpu.py [DEVICE]: arrays between Flynn and CuPy, PyTorch and Numba on a GPU, for a machine that has one; by hand.

    PYTHONPATH=python python3 tests/python/gpu.py hip-nvidia:0

The same pointer both ways, a value written by one and read by the other, a kernel of Numba's on Flynn's array, errors, flynn.time with its wrong clock, and
a kernel of the user's. Says what it skips; exits with 77 if it skipped all, with 1 at the first thing that is wrong.
"""
import importlib
import sys

import numpy as np

import flynn

X = np.arange(3000.0).reshape(50, 60)


class CuPy:
    def __init__(self):
        self.module = importlib.import_module("cupy")

    def array(self, x):
        return self.module.asarray(x)

    def numpy(self, x):
        return self.module.asnumpy(x)

    def address(self, x):
        return x.data.ptr


class PyTorch:
    def __init__(self):
        self.module = importlib.import_module("torch")
        if not self.module.cuda.is_available():
            raise ImportError("PyTorch finds no GPU")

    def array(self, x):
        return self.module.as_tensor(x, device="cuda")

    def numpy(self, x):
        return x.cpu().numpy()

    def address(self, x):
        return x.data_ptr()


class Numba:
    def __init__(self):
        self.module = importlib.import_module("numba.cuda")
        if not self.module.is_available():
            raise ImportError("Numba finds no GPU")

    def array(self, x):
        return self.module.to_device(x)

    def numpy(self, x):
        return x.copy_to_host()

    def address(self, x):
        return x.__cuda_array_interface__["data"][0]


def theirs_in_flynn(device, library):
    """Flynn computes in the other library's memory, into it, and where it is."""
    x = library.array(X)
    a = flynn.asarray(x)
    assert a.device is device and a.__cuda_array_interface__["data"][0] == library.address(x), "a copy was made"
    flynn.increment(a, out=a)
    device.wait()
    assert (library.numpy(x) == X + 1).all(), "what Flynn wrote is not seen"
    assert (flynn.sqrt(x).numpy() == np.sqrt(X + 1)).all() and (flynn.vectorize("x * 2")(x).numpy() == 2 * (X + 1)).all()
    out = library.array(np.zeros_like(X))
    assert flynn.sqrt(x, out=out) is out
    device.wait()
    assert (library.numpy(out) == np.sqrt(X + 1)).all()
    part = flynn.asarray(x[10:20, 5:9])
    assert (part.numpy() == X[10:20, 5:9] + 1).all()
    del x, a
    assert (part.numpy() == X[10:20, 5:9] + 1).all(), "the memory went while Flynn used it"
    assert (device.array(library.array(X)).numpy() == X).all() and (flynn.device("serial").array(library.array(X)).numpy() == X).all()
    for use, words in ((lambda: flynn.sqrt(library.array(X), device="serial"), "CUDA device"), (lambda: flynn.maximum(library.array(X), X), "y is in host memory")):
        try:
            use()
        except flynn.WrongDeviceError as error:
            assert words in str(error), error
        else:
            raise AssertionError("taken from another device")


def flynns_in_theirs(device, library):
    """The other library writes into Flynn's memory."""
    a = device.array(X)
    pointer = a.__cuda_array_interface__["data"][0]
    if isinstance(library, Numba):
        there = library.module.as_cuda_array(a)

        cuda = library.module

        @library.module.jit
        def double(x):
            i, j = cuda.grid(2)
            if i < x.shape[0] and j < x.shape[1]:
                x[i, j] *= 2

        double[(4, 4), (16, 16)](a)
        library.module.synchronize()
        expected = 2 * X
    else:
        there = library.module.from_dlpack(a)
        there[3, 4] = -1
        (library.module.cuda.synchronize if isinstance(library, PyTorch) else library.module.cuda.Device().synchronize)()
        expected = X.copy()
        expected[3, 4] = -1
    assert library.address(there) == pointer, "a copy was made"
    assert (a.numpy() == expected).all(), "what the other library wrote is not seen"
    del a
    assert (library.numpy(there) == expected).all(), "the memory went while the other library used it"


def flynn_alone(device):
    """What needs a GPU and no other library."""
    a = device.array(X)
    for use in (lambda: np.asarray(a), lambda: flynn.sqrt(X, device=device)):
        try:
            use()
        except (TypeError, flynn.WrongDeviceError) as error:
            print("  refused:", error)
        else:
            raise AssertionError("host and GPU were taken for one")
    kernel = flynn.RawKernel("__global__ void add(const double *x, double *y, long n) { long i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1; }")
    out = device.zeros(X.shape)
    kernel(12, 256, (a, out, X.size))
    kernel[12, 256](out, out, X.size)
    assert (out.numpy() == X + 2).all()
    print("  check:", kernel.check("auto", 256, (X, np.zeros_like(X), X.size), expect="x + 1", device=device)["check"]["ok"])
    large = np.random.default_rng(1).random(1 << 24).astype("float32")
    print(flynn.time(flynn.sort, large, devices=["serial", device], wrong_timing=True))


def main():
    try:
        device = flynn.device(sys.argv[1] if len(sys.argv) > 1 else "hip")
    except flynn.Error as error:
        print(f"skipped: {error}")
        sys.exit(77)
    print(device)
    flynn_alone(device)
    ran = 0
    for kind in (CuPy, PyTorch, Numba):
        try:
            library = kind()
        except (ImportError, RuntimeError) as error:
            print(f"skipped {kind.__name__}: {error}")
            continue
        theirs_in_flynn(device, library)
        flynns_in_theirs(device, library)
        print(f"{kind.__name__} and Flynn: the same memory, both ways")
        ran += 1
    sys.exit(0 if ran else 77)


if __name__ == "__main__":
    main()
