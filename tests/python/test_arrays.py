# SPDX-License-Identifier: MIT
"""Devices, arrays and views; memory shared with NumPy and DLPack; what ends a process elsewhere does not end it here."""
import gc
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import flynn
from conftest import DTYPES, NAMES, equal, values


def address(x):
    return x.__array_interface__["data"][0]


# ----------------------------------------------------------------------------------------------------- devices ----

def test_devices():
    found = {summary.name: summary for summary in flynn.devices()}
    assert {"serial", "simd", "omp"} <= set(found) and found["serial"].usable and found["serial"].flynn_class == "SISD"
    for summary in found.values():
        assert summary.usable == (summary.reason == ""), summary


def test_a_device_is_opened_once(device):
    assert flynn.device(device.resource) is device and flynn.device(device) is device
    assert device.resource in repr(device) and device.hardware in repr(device)
    assert flynn.device("auto").emulation is False


def test_threads_that_wait_are_not_chosen():
    """By a false omp, whose threads wait for a processor: "auto" and "cpu" are simd, and one device."""
    faults = pathlib.Path(os.environ.get("FLYNN_TEST_FAULTS") or pathlib.Path(__file__).resolve().parents[2] / "build/tests/faults") / "slow-threads"
    if not faults.exists():
        pytest.skip(f"{faults} is not built: ninja -C build fault-slow-threads")
    code = """
import flynn, numpy
first, second = flynn.device("{}"), flynn.device("{}")
assert first is second is flynn.device(first.resource) and first.backend == "simd", first
assert "is slower than simd at the moment" in first.choice and first.choice in repr(first), first
assert flynn.device("omp").backend == "omp" and flynn.device("omp").choice == "" and "slower" not in repr(flynn.device("omp"))
assert flynn.sort(numpy.array([2, 1])).device is first and flynn.maximum(flynn.array([1.0]), flynn.sqrt(numpy.array([4.0]))).numpy() == 2
"""
    for names in (("auto", "cpu"), ("cpu", "auto")):
        for before in ("", "import flynn; flynn.device('simd')\n"):
            done = subprocess.run([sys.executable, "-c", before + code.format(*names)], capture_output=True, text=True, env={**os.environ, "FLYNN_PLUGIN_PATH": str(faults)})
            assert done.returncode == 0, done.stderr


def test_closing(device):
    a = device.array([1, 2, 3])
    device.close()
    device.close()
    assert a.numpy().tolist() == [1, 2, 3]
    with pytest.raises(flynn.DeviceError, match=r"is closed; flynn.device\('.+'\) opens it again"):
        flynn.increment(a)
    for use in (lambda: device.array([1]), lambda: device.empty(3), device.wait, device.stream, lambda: device.variants("sort"), lambda: a.to(device)):
        with pytest.raises(flynn.DeviceError, match="is closed"):
            use()
    again = flynn.device(device.resource)
    assert again is not device and flynn.increment(a.to(again)).numpy().tolist() == [2, 3, 4]
    with pytest.raises(flynn.WrongDeviceError, match="opened again"):
        flynn.increment(a, device=again)


def test_variants(device):
    names = [variant.name for variant in device.variants("sort")]
    assert "radix" in names and all(variant.summary and variant.dtypes for variant in device.variants("convolve"))
    with pytest.raises(flynn.UnknownError, match="did you mean 'sort'"):
        device.variants("srot")


# ------------------------------------------------------------------------------------------------------ arrays ----

@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(device, dtype):
    for shape in ((0,), (1,), (7,), (3, 4), (2, 3, 4), (2, 1, 3, 2), (0, 3)):
        x = values(dtype, shape)
        a = device.array(x)
        assert (a.shape, a.dtype, a.ndim, a.size, a.nbytes, len(a), a.device) == (x.shape, x.dtype, x.ndim, x.size, x.nbytes, len(x), device)
        equal(a, x)
        equal(a.get(), x)
        equal(flynn.asnumpy(a), x)
        equal(a.to(device), x)
        assert device.resource in repr(a) and str(x.dtype) in repr(a)
    equal(device.array(values(dtype, (6, 7)).T), values(dtype, (6, 7)).T)
    equal(device.array(values(dtype, (6, 7))[::2, ::-3]), values(dtype, (6, 7))[::2, ::-3])
    equal(device.zeros((3, 5), dtype), np.zeros((3, 5), dtype))
    assert device.empty(4, dtype).shape == (4,)
    equal(flynn.array([1, 2], dtype, device), np.array([1, 2], dtype))
    equal(flynn.zeros(2, dtype, device=device.resource), np.zeros(2, dtype))


def test_what_becomes_an_array(device):
    equal(device.array(3.5), np.array([3.5]))
    equal(device.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]]))
    equal(device.array(np.float32(2)), np.array([2], "float32"))
    equal(device.array([1.5, 2.5], "f32"), np.array([1.5, 2.5], "float32"))
    equal(device.array(device.array([1, 2]), "float64"), np.array([1.0, 2.0]))
    for name in NAMES[:3]:
        equal(device.array([1, 2]).to(name), np.array([1, 2]))
        assert device.array([1]).to_device(name).device is flynn.device(name)


def test_views(device):
    x = values("int32", (5, 6, 7))
    a = device.array(x)
    for key in (slice(1, 3), (slice(None), slice(2, 4)), (slice(-2, None), slice(0, 3), slice(5, 100)), (slice(4, 1), slice(2)), ..., (slice(1, 2), ...)):
        equal(a[key], x[key])
    b = a[1:4, 2:5]
    equal(b[1:, :2, 3:4], x[1:4, 2:5][1:, :2, 3:4])
    del a
    gc.collect()
    equal(b, x[1:4, 2:5])
    flynn.increment(b, out=b)
    equal(b, x[1:4, 2:5] + 1)


# ------------------------------------------------------------------------------------------- memory that is shared ----

@pytest.fixture(params=NAMES[:3])
def processor(request):
    return flynn.device(request.param)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_over_our_memory(processor, dtype):
    for shape in ((0, 2), (1,), (5, 6)):
        x = values(dtype, shape)
        a = processor.array(x)
        seen = np.asarray(a)
        equal(seen, x)
        assert seen.flags.writeable
        if x.size:
            assert address(seen) == a.__array_interface__["data"][0]
            seen.flat[0] = 7
            assert a.numpy().flat[0] == 7
    inner = np.asarray(a[1:3, 2:4])
    equal(inner, a.numpy()[1:3, 2:4])
    expected = a.numpy()
    del a
    gc.collect()
    processor.zeros((5, 6), dtype)  # would be given the memory again if it were not kept
    equal(seen, expected)
    equal(np.asarray(processor.array([1, 2]), "float32"), np.array([1, 2], "float32"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_our_array_over_numpys_memory(processor, dtype):
    for shape in ((0, 3), (7,), (3, 4), (2, 1, 3, 2)):
        x = values(dtype, shape)
        a = flynn.asarray(x, device=processor)
        equal(a, x)
        assert x.size == 0 or a.__array_interface__["data"][0] == address(x)
    x = np.zeros((6, 7))
    a = flynn.from_dlpack(x)
    assert a.device is flynn.device("cpu")
    part = flynn.asarray(x[1:4, 2:5], device=processor)
    flynn.increment(part, out=part)
    assert x.sum() == 9 and (x[1:4, 2:5] == 1).all() and a.numpy().sum() == 9
    assert np.asarray(part).strides == x.strides


def test_results_into_numpys_memory(processor):
    x, out = values("float64", 100, special=False), np.full(104, -1.0)
    assert flynn.sort(x, out=out[2:102], device=processor) is not None
    assert (out[2:102] == np.sort(x)).all() and (out[[0, 1, 102, 103]] == -1).all()
    same = x.copy()
    assert flynn.sort(same, out=same, device=processor) is same and (same == np.sort(x)).all()
    equal(flynn.sort(list(x), device=processor), np.sort(x))


def test_memory_lives_as_long_as_it_is_used(processor):
    class Tracked(np.ndarray):
        pass

    x = np.zeros(1000).view(Tracked)
    gone = weakref.ref(x)
    a = flynn.asarray(x, device=processor)
    view = a[5:15]
    seen = np.from_dlpack(view)
    del x, a, view
    gc.collect()
    assert gone() is not None and seen.sum() == 0, "NumPy's array went while another library used it"
    del seen
    gc.collect()
    assert gone() is None, "NumPy's array was not let go"


def test_read_only_memory(processor):
    x = np.arange(5.0)
    x.flags.writeable = False
    equal(flynn.increment(x, device=processor), x + 1)
    a = flynn.asarray(x, device=processor)
    equal(flynn.increment(a[1:3]), x[1:3] + 1)
    for out in (x, a, a[:]):
        with pytest.raises(flynn.ArgumentError, match="out is over read-only memory"):
            flynn.increment(processor.zeros(5), out=out)
    assert not np.asarray(a).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        a.__dlpack__()


def test_dlpack_capsules(processor):
    import ctypes
    from flynn._exchange import VERSIONED, DLManagedTensorVersioned, _kept, _pointer_of
    a = processor.array(values("float32", (4, 5)))
    assert a.__dlpack_device__() == (1, 0)
    equal(np.from_dlpack(a), a.numpy())
    capsule = a.__dlpack__(max_version=(1, 0), dl_device=(1, 0))
    tensor = DLManagedTensorVersioned.from_address(_pointer_of(capsule, VERSIONED))
    assert (tensor.major, tensor.flags, tensor.tensor.ndim, list(tensor.tensor.shape[:2])) == (1, 0, 2, [4, 5])
    assert tensor.tensor.data == a.__array_interface__["data"][0]
    before = len(_kept)
    del tensor, capsule
    assert len(_kept) == before - 1, "a capsule that nobody took keeps its tensor"
    x = np.arange(3.0)
    x.flags.writeable = False
    capsule = flynn.asarray(x, device=processor).__dlpack__(max_version=(2, 0))
    assert DLManagedTensorVersioned.from_address(_pointer_of(capsule, VERSIONED)).flags == 1
    a.__dlpack__()  # dropped
    with pytest.raises(BufferError, match="a.to"):
        a.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="another device"):
        a.__dlpack__(dl_device=(2, 0))
    assert ctypes.sizeof(DLManagedTensorVersioned) == 80


class Foreign:
    """An array of a library that speaks DLPack alone."""

    def __init__(self, x, place=(1, 0)):
        self.x, self.place = x, place

    def __dlpack__(self, **_):
        return self.x.__dlpack__()

    def __dlpack_device__(self):
        return self.place


def test_another_librarys_array(processor):
    x = values("float64", (5, 6), special=False)
    equal(flynn.increment(Foreign(x), device=processor), x + 1)
    a = flynn.asarray(Foreign(x[1:3, 2:5]), device=processor)
    assert a.__array_interface__["data"][0] == address(x[1:3, 2:5]) and a._steps() == x.strides
    equal(processor.array(Foreign(x)), x)
    with pytest.raises(flynn.WrongDeviceError, match=r"x is in the memory of CUDA device 3, the call runs on .*array\(x\)"):
        flynn.maximum(Foreign(x, (2, 3)), x, device=processor)
    for wrong, message in ((x[:, ::2], "strides"), (x.astype("float16"), "float16"), (np.zeros((1,) * 5), "5 dimensions")):
        with pytest.raises(flynn.ArgumentError, match=message):
            flynn.increment(Foreign(wrong), device=processor)


def test_the_emulation_is_a_gpu(emulation):
    a = emulation.array([1.0, 2.0])
    for use in (lambda: np.asarray(a), lambda: np.array(a, "float32"), lambda: np.vstack([a, a]) and None):
        with pytest.raises(TypeError, match=r"a\.numpy\(\)"):
            use()
    assert not hasattr(a, "__array_interface__") and not hasattr(a, "__cuda_array_interface__")
    with pytest.raises(BufferError, match="numpy"):
        np.from_dlpack(a)
    for x in (np.ones(3), [1.0], Foreign(np.ones(3))):
        with pytest.raises(flynn.WrongDeviceError, match=r"a is in host memory, the call runs on hip-cpu:0; copy it with flynn.device\('hip-cpu:0'\).array\(a\)"):
            flynn.increment(x, device=emulation)
    with pytest.raises(flynn.WrongDeviceError, match=r"kernel is in host memory, .*array\(kernel\)"):
        flynn.convolve1d(a, np.ones(3))
    with pytest.raises(flynn.WrongDeviceError, match=r"y is on hip-cpu:0, the call runs on serial; copy it with y.to\('serial'\)"):
        flynn.maximum(flynn.device("serial").array([1.0]), a)
    equal(flynn.asarray(np.ones(3), device=emulation), np.ones(3))


# --------------------------------------------------------------------------------------- what ends other processes ----

def run(code, *options, **environment):
    source = pathlib.Path(__file__).resolve().parents[2]
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": f"{source / 'python'}:{os.environ.get('PYTHONPATH', '')}", **environment})


def test_fork():
    done = run("""
import flynn, os, numpy as np
arrays = [flynn.device(name).array(np.ones(100000)) for name in ("serial", "simd", "omp")]
try:
    arrays.append(flynn.device("hip-cpu").array(np.ones(1000)))
except flynn.Error:
    pass
streams = [a.device.stream() for a in arrays]
arrays = [flynn.sort(a) for a in arrays]
child = os.fork()
if child == 0:
    calls = [lambda a=a: flynn.sort(a) for a in arrays] + [lambda a=a: a.numpy() for a in arrays] + [lambda a=a: a[1:3] for a in arrays]
    calls += [lambda a=a: a.to("serial") for a in arrays] + [lambda: flynn.device("serial")]
    refused = 0
    for call in calls:
        try:
            call()
        except (flynn.DeviceError, flynn.UnavailableError) as error:
            assert "spawn" in str(error)
            refused += 1
    del arrays, streams, calls
    os._exit(7 if refused == 4 * 3 + 4 + 1 or refused == 3 * 3 + 3 + 1 else 8)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7, status
print(flynn.increment(arrays[0]).numpy().sum())
""")
    assert done.returncode == 0 and done.stdout == "200000.0\n", done


def test_the_interpreters_end():
    """Arrays, views, shared memory and capsules that live until then; Python's development mode sees what leaks or crashes."""
    done = run("""
import flynn, numpy as np
kept = []
for name in ("serial", "omp", "hip-cpu"):
    try:
        device = flynn.device(name)
    except flynn.Error:
        continue
    a = device.array(np.ones(1000))
    kept += [a, a[3:7], flynn.sort(a), device.stream()]
    if device.host_memory:
        x = np.ones(50)
        kept += [flynn.asarray(x, device=device), np.asarray(a), np.from_dlpack(a), a.__dlpack__(max_version=(1, 0)), a.__dlpack__(), flynn.asarray(x)[2:5]]
cycle = [kept]
cycle.append(cycle)
class Late:
    def __del__(self):
        kept[0].shape
late = Late()
""", "-X", "dev")
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_freed_in_another_thread(device):
    arrays = [device.array(np.ones(1000)) for _ in range(50)]
    views = [a[1:3] for a in arrays]
    thread = threading.Thread(target=lambda: (arrays.clear(), gc.collect()))
    thread.start()
    thread.join()
    assert all(view.numpy().tolist() == [1, 1] for view in views)


def test_no_pickle(device):
    with pytest.raises(TypeError, match="numpy"):
        pickle.dumps(device.array([1]))
