# SPDX-License-Identifier: MIT
"""Bad input is an exception of its own class, whose text names the argument, its value and what is expected, and no function of C."""
import itertools
import re

import numpy as np
import pytest

import flynn


def refused(kind, *words):
    """The call raises `kind`, with all of the words in its text."""
    class Check:
        def __enter__(self):
            return self

        def __exit__(self, found, error, _):
            assert found is not None, f"no {kind.__name__}"
            text = str(error)
            assert issubclass(found, kind), (found, text)
            assert "fl_" not in text and "\n" not in text, text
            for word in words:
                assert word in text, (word, text)
            return True
    return Check()


def test_each_class_is_one_of_pythons():
    for kind, of_python in ((flynn.ArgumentError, ValueError), (flynn.UnknownError, LookupError), (flynn.WrongDeviceError, ValueError),
                            (flynn.UnsupportedError, NotImplementedError), (flynn.LimitError, ValueError), (flynn.OutOfMemoryError, MemoryError)):
        assert issubclass(kind, of_python) and issubclass(kind, flynn.Error)
    for kind in (flynn.UnavailableError, flynn.DeviceError, flynn.SourceError):
        assert issubclass(kind, flynn.Error) and issubclass(kind, RuntimeError)


@pytest.mark.parametrize("dtype, cure", [("float16", "float32"), ("bool", "uint8"), (">f8", "float64"), ("int8", "int32"), ("uint32", "int64"), ("uint64", "int64"),
                                         ("longdouble", "float64"), ("complex64", None), ("U3", None), ("M8[s]", None), ("O", None)])
def test_dtypes(dtype, cure):
    processor = flynn.device("serial")
    x = np.zeros(3, dtype)
    words = ["uint8, int32, int64, float32 and float64", "astype"] + ([f".astype('{cure}')"] if cure else [])
    with refused(flynn.ArgumentError, f"a has dtype {x.dtype if x.dtype.isnative else dtype}", *words):
        flynn.increment(x, device=processor)
    with refused(flynn.ArgumentError, "data has dtype", *words):
        processor.array(x)
    with refused(flynn.ArgumentError, "data has dtype", *words):
        flynn.asarray(x)
    with refused(flynn.ArgumentError, "dtype has dtype" if cure else "dtype"):
        processor.zeros(3, dtype)


def test_dtypes_of_operations(device):
    with refused(flynn.ArgumentError, "increment", "a has dtype u8", "f32, f64, i32 or i64"):
        flynn.increment(device.array([1], "uint8"))
    with refused(flynn.ArgumentError, "merge", "y has dtype i64", "expected f64"):
        flynn.merge(device.array([1.0]), device.array([1]))
    with refused(flynn.ArgumentError, "out has dtype f64"):
        flynn.sqrt(device.array([1.0], "float32"), out=device.zeros(1))
    with refused(flynn.Error, "convert", "i32"):
        device.array([1.5]).astype("int32")


def test_shapes(device):
    with refused(flynn.ArgumentError, "data has 5 dimensions", "up to 4"):
        device.array(np.zeros((1,) * 5))
    with refused(flynn.ArgumentError, "shape has 5 dimensions"):
        device.empty((1,) * 5)
    with refused(flynn.ArgumentError, "shape is ()"):
        device.empty(())
    with refused(flynn.ArgumentError, "shape[1] is -1"):
        device.empty((3, -1))
    with refused(flynn.ArgumentError, "sort", "a has 2 dimensions", "expected 1"):
        flynn.sort(device.zeros((3, 3)))
    with refused(flynn.ArgumentError, "image has 1 dimension;", "expected 2"):
        flynn.convolve2d(device.zeros(3), device.zeros(3))
    with refused(flynn.ArgumentError, "kernel has 2 dimensions", "expected 1"):
        flynn.convolve1d(device.zeros(3), device.zeros((3, 3)))
    with refused(flynn.ArgumentError, "maximum", "y is 4", "expected 3"):
        flynn.maximum(device.zeros(3), device.zeros(4))
    with refused(flynn.ArgumentError, "out is 4", "expected 3"):
        flynn.increment(device.zeros(3), out=device.zeros(4))
    with refused(flynn.ArgumentError, "matmul"):
        flynn.matmul(device.zeros((2, 3)), device.zeros((2, 3)))
    with refused(flynn.ArgumentError, "a and b have 1 and 2 dimensions"):
        flynn.matmul(device.zeros(3), device.zeros((3, 3)))
    with refused(flynn.ArgumentError, "a has 1 dimension"):
        flynn.transpose(device.zeros(3))
    for function in (flynn.svd, flynn.qr):
        with refused(flynn.ArgumentError, "a has 1 dimension"):
            function(device.zeros(3))
        with refused(flynn.ArgumentError, "finite"):
            function(device.array([[1.0, np.nan], [0, 1]]))
    with refused(flynn.ArgumentError, "u, s and vt have the shapes (2, 2), (2, 2) and (2, 2)"):
        flynn.reconstruct(*[device.zeros((2, 2))] * 3)
    for function in (flynn.min, flynn.max, flynn.argmin, flynn.argmax):
        with refused(flynn.ArgumentError, "a has no elements"):
            function(device.zeros(0))
    with refused(flynn.ArgumentError, "range is 3"):
        flynn.histogram(device.zeros(3), 3, 3)
    with refused(flynn.ArgumentError, "histogram", "lo"):
        flynn.histogram(device.zeros(3), 3, (2, 1))
    with refused(flynn.ArgumentError, "rtol is 'x'"):
        flynn.allclose(device.zeros(3), device.zeros(3), "x")
    with refused(flynn.ArgumentError, "allclose", "-1"):
        flynn.allclose(device.zeros(3), device.zeros(3), -1)


def test_rows():
    x = np.arange(12.0).reshape(3, 4)
    for wrong in (x.T, x[:, ::2], x[::-1], x[:, ::-1], np.broadcast_to(x[:1], (3, 4)), np.frombuffer(b"\0" * 25, "f8", 3, 1)):
        for function in (lambda: flynn.sqrt(wrong, device="serial"), lambda: flynn.asarray(wrong)):
            with refused(flynn.ArgumentError, "numpy.ascontiguousarray(", "strides"):
                function()
    a = flynn.device("serial").array(x)
    with refused(flynn.ArgumentError, "step 2", "numpy.ascontiguousarray"):
        a[::2]
    with refused(flynn.ArgumentError, "flynn.transpose(a)", "numpy.ascontiguousarray("):
        a.T


BAD_INTEGERS = (2 ** 64 + 100, -2 ** 64, 2 ** 63, 10 ** 30, 1.5, "7", b"7", [1], object())


def test_every_integer_that_ctypes_would_cut(device):
    a, m = device.array([3.0, 1.0, 2.0]), device.array(np.eye(3))
    calls = {
        "upto": lambda n: flynn.primes(n, device=device), "first": lambda n: flynn.primes(10, n, device=device),
        "keep": lambda n: flynn.svd(m, n), "seed": lambda n: flynn.svd(m, 1, n * 2 if n == 2 ** 63 else n),
        "axis": lambda n: flynn.sum(m, n), "bins": lambda n: flynn.histogram(a, n, (0, 1)),
        "shape": device.empty, "block": lambda n: flynn.sort(a, block=n)}
    for (name, call), bad in itertools.product(calls.items(), BAD_INTEGERS):
        if not (name in ("shape", "block") and bad == [1]):
            with refused(flynn.ArgumentError, f"{name} is ", "expected"):
                call(bad)
    for bad in BAD_INTEGERS:
        with refused(flynn.ArgumentError, "shape[1] is ", "expected"):
            device.empty((3, bad))
        with refused(flynn.ArgumentError, "block[1] is ", "expected"):
            flynn.sort(a, block=(3, bad))
        with refused(flynn.ArgumentError, "upto is "):
            flynn.primes_bound(bad)
        with refused(flynn.ArgumentError, "first is "):
            flynn.primes_bound(10, bad)
        with refused(flynn.ArgumentError, "keep is "):
            flynn.reconstruct(m, a, m, bad)
    for keep in (0, 4, 2 ** 32 + 1):
        with refused(flynn.ArgumentError, f"keep is {keep}", "from 1 to 3"):
            flynn.svd(m, keep)
    with refused(flynn.ArgumentError, "upto is 1099511627777", "expected"):
        flynn.primes(2 ** 40 + 1, device=device)
    with refused(flynn.Error):
        device.empty(2 ** 62)
    assert flynn.primes(np.int32(10), device=device).size == flynn.primes(np.uint8(10), device=device).size == 4


def test_names(device):
    with refused(flynn.UnknownError, "'smd'", "did you mean 'simd'"):
        flynn.device("smd")
    with refused(flynn.UnknownError, "'radx'", "did you mean 'radix'"):
        flynn.sort(device.zeros(3), variant="radx")
    for wrong in (3, b"radix", ["radix"], "ra\0dix"):
        with refused(flynn.ArgumentError, "variant is ", "expected a str"):
            flynn.sort(device.zeros(3), variant=wrong)
    with refused(flynn.UnknownError, "mode is 'sam'", "did you mean 'same'"):
        flynn.convolve1d(device.zeros(3), device.zeros(3), "sam")
    with refused(flynn.ArgumentError, "mode is 1"):
        flynn.convolve2d(device.zeros((3, 3)), device.zeros((3, 3)), 1)
    for wrong in (3, None, b"omp"):
        with refused(flynn.ArgumentError, "name is "):
            flynn.device(wrong)
    with refused(flynn.Error, "omp"):
        flynn.device("omp:100000000000000000000")
    with refused(flynn.ArgumentError, "dtype is 'float99'"):
        device.zeros(3, "float99")
    other = flynn.device("serial" if device.backend != "serial" else "simd")
    with refused(flynn.ArgumentError, "stream is one of", other.resource, device.resource):
        flynn.sort(device.zeros(3), stream=other.stream())


def test_what_is_no_array(device):
    host = flynn.device("serial")
    for wrong in ("text", None, {}, object(), [[1], [2, 3]], lambda: 0):
        with refused(flynn.ArgumentError, "a "):
            flynn.increment(wrong, device=host)
    with refused(flynn.ArgumentError, "masked", "filled()"):
        flynn.increment(np.ma.array([1, 2], mask=[0, 1]), device=host)
    for wrong in ([1, 2], 3, "x"):
        with refused(flynn.ArgumentError, "out is of type", "expected an array"):
            flynn.increment(device.zeros(2), out=wrong)
    with refused(flynn.ArgumentError, "has no __dlpack__"):
        flynn.from_dlpack([1])


def test_what_numpy_would_do(device):
    a = device.array([3.0, 1.0, 2.0])
    operators = {"+": lambda: a + 1, "-": lambda: 1 - a, "*": lambda: a * a, "/": lambda: a / 2, "//": lambda: a // 2, "%": lambda: a % 2, "**": lambda: a ** 2,
                 "==": lambda: a == 1, "!=": lambda: a != 1, "<": lambda: a < 1, ">": lambda: a[a > 0], ">=": lambda: a >= 1, "<=": lambda: a <= 1,
                 "&": lambda: a & a, "<<": lambda: a << 1, "-x": lambda: -a, "abs(x)": lambda: abs(a), "~x": lambda: ~a}
    for sign, use in operators.items():
        with refused(TypeError, f"no operator {sign};", "flynn.vectorize("):
            use()
    for use, words in ((lambda: np.fft.fft(a), "numpy.fft.fft(a.numpy())"), (lambda: np.sin(a), "numpy.sin(a.numpy())"), (lambda: np.add.reduce(a), "numpy.add.reduce"),
                       (lambda: np.add(a, 1), "flynn.vectorize"), (lambda: np.vstack([a, a]), "a.numpy()"), (lambda: np.linalg.svd(device.array(np.eye(2))), "full_matrices"),
                       (lambda: a[0], "a.numpy()[...]"), (lambda: a[[0, 1]], "a.numpy()"), (lambda: list(a), "a.numpy()"), (lambda: bool(a), "a.numpy().any()"),
                       (lambda: hash(a), "Array"), (lambda: a.__setitem__(0, 1), "out="), (lambda: np.sqrt(a, where=[True] * 3), "numpy.sqrt")):
        with refused(TypeError, words):
            use()
    with refused(TypeError, "flynn.vectorize"):
        a += 1
    for use, words in ((lambda: flynn.Device("serial"), "flynn.device(name)"), (lambda: flynn.Device(1), "flynn.device(name)"),
                       (lambda: flynn.Array([1, 2]), "flynn.array(data)")):
        with refused(TypeError, words):
            use()
    with refused(flynn.ArgumentError, "2 slices of an array of 1 dimension"):
        a[:, :]
    with refused(flynn.ArgumentError, "numpy.sort"):
        np.sort(device.zeros((2, 2)))
    with refused(AttributeError, "nosuch"):
        a.nosuch


def test_limits_and_memory(device):
    if not device.host_memory:
        with refused(flynn.LimitError, "block"):
            flynn.increment(device.zeros(10), block=100000)
    with refused(flynn.OutOfMemoryError, "memory"):
        device.empty(2 ** 55)
    assert flynn.increment(device.zeros(1)).numpy() == 1, "the device can be used after errors"


def test_no_message_of_c_names_a_cure_in_c(device):
    """The two that do are checked in Python before, so that theirs is the text."""
    other = flynn.device("serial" if device.backend != "serial" else "simd")
    with refused(flynn.WrongDeviceError, f"y is on {other.resource}, the call runs on {device.resource}; copy it with y.to('{device.resource}')"):
        flynn.maximum(device.zeros(3), other.zeros(3))
    with refused(flynn.WrongDeviceError, f"out is on {other.resource}"):
        flynn.sqrt(device.zeros(3), out=other.zeros(3))
    with refused(flynn.WrongDeviceError, "a is on"):
        flynn.sqrt(device.zeros(3), device=other)
    assert not re.search(r"fl_\w+", flynn.sort.__doc__ + flynn.__doc__)
