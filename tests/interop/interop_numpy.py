# SPDX-License-Identifier: MIT
"""Arrays between NumPy and Flynn without a copy, in both directions, on every backend that works in host memory.

For ctest: FLYNN_LIBRARY names libflynn. Prints what was run; exits with 1 at the first thing that is wrong, with 77 when
this Python has no NumPy.
"""
import gc
import sys
import warnings
import weakref

try:
    import numpy as np
except ImportError:
    print(f"skipped: {sys.executable} has no NumPy: apt-get install python3-numpy")
    sys.exit(77)

from dlpack_python import ARGUMENT, SAME, Device, Refused

DTYPES = {"u8": np.uint8, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}


def address(array):
    return array.__array_interface__["data"][0]


def true_convolution(image, kernel):
    """The definition, mode same."""
    out = np.zeros_like(image)
    top, left = (kernel.shape[0] - 1) // 2, (kernel.shape[1] - 1) // 2
    for i, j in np.ndindex(image.shape):
        for p, q in np.ndindex(kernel.shape):
            y, x = i + top - p, j + left - q
            if 0 <= y < image.shape[0] and 0 <= x < image.shape[1]:
                out[i, j] += image[y, x] * kernel[p, q]
    return out


def from_numpy(device):
    """Flynn on NumPy's memory."""
    for name, dtype in DTYPES.items():
        for shape in ((7,), (3, 4), (2, 3, 4), (2, 1, 3, 2), (0, 3)):
            there = np.ones(shape, dtype)
            here = device.take(there)
            assert here.shape == shape and here.dtype == name
            assert there.size == 0 or here.data == address(there), "a copy was made"
            here.free()
    whole = np.arange(12 * 10, dtype=np.float64).reshape(12, 10)
    part = device.take(whole[2:9, 1:8])  # rows that lie apart
    assert part.shape == (7, 7) and part.data == address(whole) + (2 * 10 + 1) * 8
    part.free()
    scalar = device.take(np.array(3.0))
    assert scalar.shape == (1,)
    scalar.free()


def to_numpy(device):
    """NumPy on Flynn's memory."""
    for name, dtype in DTYPES.items():
        here = device.create(name, (5, 6))
        there = np.from_dlpack(here)
        assert there.dtype == dtype and there.shape == (5, 6) and address(there) == here.data
        again = device.take(there) if there.flags.writeable else here
        assert again.data == here.data, "back again is the same memory"
        inner = here.view((1, 2), (3, 2))
        seen = np.from_dlpack(inner)
        assert seen.strides == (6 * seen.itemsize, seen.itemsize) and address(seen) == inner.data
        if again is not here:
            again.free()
        inner.free()
        here.free()
        device.create(name, (5, 6)).free()  # would be given the memory again if it were not kept
        assert seen.shape == (3, 2) and there.copy().shape == (5, 6)


def work_on_it(device):
    """An operation reads and writes NumPy's memory; each side sees what the other wrote."""
    random = np.random.default_rng(1)
    image, kernel = random.random((11, 9)), random.random((3, 4))
    larger = np.full((15, 12), -1.0)
    result = larger[2:13, 1:10]
    arrays = [device.take(a) for a in (image, kernel, result)]
    for _ in range(2):
        device.convolve(arrays[0], arrays[1], SAME, arrays[2])
        device.wait()
        assert np.allclose(result, true_convolution(image, kernel), rtol=1e-13, atol=0)
        assert (larger[:2] == -1).all() and (larger[:, 0] == -1).all() and (larger[:, 10:] == -1).all()
        image[5, 5] = 100  # seen by the second pass
    for array in arrays:
        array.free()


def keeps_alive(device):
    """NumPy's memory lives as long as Flynn's array, and no longer."""
    class Tracked(np.ndarray):
        pass

    there = np.zeros(1000).view(Tracked)
    gone = weakref.ref(there)
    here = device.take(there)
    view = here.view((10,), (5,))
    del there
    gc.collect()
    assert gone() is not None, "NumPy's array went while Flynn used its memory"
    here.free()
    assert gone() is not None, "NumPy's array went while a view used its memory"
    view.free()
    gc.collect()
    assert gone() is None, "the deleter was not called"


def refused(device):
    for what, status in ((np.zeros((4, 4)).T[:, ::2], ARGUMENT), (np.zeros(9)[::2], ARGUMENT),
                         (np.zeros(9)[::-1], ARGUMENT), (np.zeros(3, np.int16), ARGUMENT),
                         (np.zeros(3, np.complex128), ARGUMENT), (np.zeros((1,) * 5), ARGUMENT),
                         (np.broadcast_to(np.zeros((1, 4)), (3, 4)).copy(order="F"), ARGUMENT)):
        count = sys.getrefcount(what)
        try:
            device.take(what)
        except Refused as error:
            assert error.status == status and str(error).startswith("fl_array_from_dlpack: "), error
        else:
            raise AssertionError(f"{what.dtype} with strides {what.strides} was taken")
        assert sys.getrefcount(what) == count, "a refused tensor stays its owner's, who lets it go"


def main():
    warnings.simplefilter("error")
    resources = ["serial", "simd", "omp:2"]
    for resource in resources + ["hip-cpu"]:
        try:
            device = Device(resource)
        except Refused as error:
            if resource in resources:
                raise
            print(f"skipped {resource}: {error}")
            continue
        for part in (from_numpy, to_numpy, work_on_it, keeps_alive, refused):
            part(device)
        device.close()
        print(f"NumPy {np.__version__} and {resource}: the same memory, both ways")


if __name__ == "__main__":
    main()
