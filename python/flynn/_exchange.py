# SPDX-License-Identifier: MIT
"""Arrays of other libraries, without a copy: NumPy's memory, DLPack (CuPy, PyTorch, JAX), __cuda_array_interface__ (Numba)."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from . import _c
from ._array import CODE_OF_NUMBER, DTYPES, INT64, Array, Device, check_ndim, device as open_device, dtype_code, plain
from ._errors import ArgumentError, UnavailableError, WrongDeviceError, check, fail

CPU, CUDA, CUDA_HOST, ROCM, ROCM_HOST = 1, 2, 3, 10, 11  # DLDeviceType
KINDS = {"i": 0, "u": 1, "f": 2}  # DLDataTypeCode
READ_ONLY = 1
_NO_ELEMENTS = ctypes.create_string_buffer(8)  # NumPy takes no NULL, also for an array without elements


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


Deleter: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", Deleter),
                ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


_kept: Dict[int, Tuple[Any, ...]] = {}  # address of a tensor of ours: what it needs as long as somebody uses it


# These may be called when the interpreter ends, and their modules are gone: all that they need is in their arguments.

@Deleter  # type: ignore[misc]
def _let_go(address: int, kept: Any = _kept) -> None:
    kept.pop(address, None)


@Deleter  # type: ignore[misc]
def _let_go_versioned(address: int, kept: Any = _kept, cast: Any = ctypes.cast, pointer: Any = ctypes.c_void_p) -> None:
    _, inner = kept.pop(address)
    inner.contents.deleter(cast(inner, pointer))


# ---------------------------------------------------------------------------------------------------- capsules ----

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))
_is = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
# A capsule only points to its name.
FRESH, USED, VERSIONED = b"dltensor", b"used_dltensor", b"dltensor_versioned"


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # type: ignore[misc]
def _end_of_capsule(capsule: int, kinds: Any = ((FRESH, DLManagedTensor), (VERSIONED, DLManagedTensorVersioned)), has_name: Any = _is,
                    pointer_in: Any = _pointer_in) -> None:
    """A tensor that no library took is given back."""
    for name, kind in kinds:
        if has_name(capsule, name):
            address = pointer_in(capsule, name)
            kind.from_address(address).deleter(address)


for _callback in (_let_go, _let_go_versioned, _end_of_capsule):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))  # code that C calls at any time is never freed


def export(array: Array, max_version: Any, dl_device: Any, copy: Optional[bool]) -> Any:
    """Array.__dlpack__."""
    if copy:
        raise BufferError("Flynn hands out memory without a copy; a.to(device) makes one")
    if dl_device is not None and tuple(dl_device) != array.__dlpack_device__():
        raise BufferError(f"the array is on {array.device.resource}; a.to(...) copies it to another device")
    if array.device._info[0] == CPU and not array.device.host_memory:
        raise BufferError(f"other libraries do not reach the memory of {array.device.resource}; a.numpy() is a copy that they reach")
    versioned = max_version is not None and tuple(max_version) >= (1, 0)
    if not array._writable and not versioned:
        raise BufferError("the array is over read-only memory, which this version of DLPack cannot say; a.to(device) is a copy")
    inner = ctypes.POINTER(DLManagedTensor)()
    check(_c.fl_array_to_dlpack(array._handle, ctypes.cast(ctypes.byref(inner), ctypes.POINTER(ctypes.c_void_p))))
    if not versioned:
        return _capsule_new(ctypes.cast(inner, ctypes.c_void_p), FRESH, ctypes.cast(_end_of_capsule, ctypes.c_void_p))
    outer = DLManagedTensorVersioned(1, 0, None, _let_go_versioned, 0 if array._writable else READ_ONLY, inner.contents.tensor)
    _kept[ctypes.addressof(outer)] = (outer, inner)
    return _capsule_new(ctypes.addressof(outer), VERSIONED, ctypes.cast(_end_of_capsule, ctypes.c_void_p))


def array_interface(array: Array) -> Dict[str, Any]:
    """The dict of __array_interface__ and of __cuda_array_interface__."""
    address = _c.fl_array_data(array._handle) or (ctypes.addressof(_NO_ELEMENTS) if array.device.host_memory else 0)
    return {"shape": array.shape, "typestr": array.dtype.str, "data": (address, not array._writable), "strides": array._strides, "version": 3}


# --------------------------------------------------------------------------------------------------- tensors in ----

def _wrap(name: str, on: Device, dtype: np.dtype[Any], shape: Tuple[int, ...], strides: Optional[Tuple[int, ...]], address: int, place: Tuple[int, int],
          owner: Any, writable: bool, keep: bool) -> Array:
    """An array over memory that Python describes. It keeps `owner`; with `keep` so does what C and other libraries have of it."""
    code, ndim, size = dtype_code(name, dtype), len(shape), dtype.itemsize
    check_ndim(name, ndim)
    steps = None
    if strides is not None:
        if any(step % size for step in strides) or (ndim and shape[-1] > 1 and strides[-1] != size and 0 not in shape):
            _no_rows(name, shape, strides, size)
        steps = INT64[ndim](*[step // size for step in strides])
    kind = KINDS[dtype.kind]
    tensor = DLManagedTensor((address, place[0], place[1], ndim, kind, size * 8, 1, INT64[ndim](*shape), steps, 0))
    handle = ctypes.c_void_p()
    if keep:
        tensor.deleter = _let_go
        _kept[ctypes.addressof(tensor)] = (tensor, owner)
    status = _c.fl_array_from_dlpack(on._handle or on._gone(), ctypes.addressof(tensor), handle)
    if status:
        _kept.pop(ctypes.addressof(tensor), None)
        if status == _c.FL_E_ARGUMENT:
            _no_rows(name, shape, strides, size)
        fail(status)
    return Array._of(handle.value, on, shape or (1,), DTYPES[code], (tensor, owner), writable, strides)


def _no_rows(name: str, shape: Tuple[int, ...], strides: Optional[Tuple[int, ...]], size: int) -> None:
    raise ArgumentError(f"{name} has the shape {shape} and strides of {strides} bytes; Flynn takes rows whose elements of {size} bytes lie side by side "
                        f"and share no memory: numpy.ascontiguousarray({name}) is a copy that does")


def _by_numpys_capsule(x: np.ndarray[Any, Any], on: Device) -> Optional[Array]:
    """The usual array of NumPy's, in a third of the time; None: _of_numpy takes it, or says why not."""
    flags = x.flags
    if type(x) is not np.ndarray or not on.host_memory or not flags.writeable or x.dtype.num not in CODE_OF_NUMBER or not x.ndim:
        return None
    try:
        capsule = x.__dlpack__()
    except (BufferError, RuntimeError, TypeError):
        return None
    handle = ctypes.c_void_p()
    if _c.fl_array_from_dlpack(on._handle or on._gone(), _pointer_of(capsule, FRESH), handle):
        return None
    _rename(capsule, USED)
    return Array._of(handle.value, on, x.shape, x.dtype, None, True, None if flags.c_contiguous else x.strides)


def _of_numpy(name: str, x: np.ndarray[Any, Any], on: Device, keep: bool) -> Array:
    if not on.host_memory:
        raise WrongDeviceError(f"{name} is in host memory, the call runs on {on.resource}; copy it with flynn.device({on.resource!r}).array({name})")
    strides = None if x.flags.c_contiguous else x.strides
    return _wrap(name, on, x.dtype, x.shape, strides, x.__array_interface__["data"][0], (CPU, 0), x, x.flags.writeable, keep)


def _of_cuda_interface(name: str, x: Any, on: Device) -> Array:
    """Numba's arrays, and of others that speak no DLPack."""
    memory = x.__cuda_array_interface__
    address, read_only = memory["data"]
    place = (CUDA, _cuda_device(address))
    _check_place(name, place, on)
    _cuda_wait(place[1])
    return _wrap(name, on, np.dtype(memory["typestr"]), tuple(memory["shape"]), memory.get("strides"), address, place, x, not read_only, True)


def _of_dlpack(name: str, x: Any, on: Device) -> Array:
    place = tuple(int(number) for number in x.__dlpack_device__())
    _check_place(name, place, on)
    try:
        capsule = x.__dlpack__()
    except (BufferError, TypeError, RuntimeError, ValueError) as error:
        raise ArgumentError(f"{name} cannot be shared: {error}") from None
    if place[0] == CUDA:
        _cuda_wait(place[1])
    pointer, handle = _pointer_of(capsule, FRESH), ctypes.c_void_p()
    tensor = DLManagedTensor.from_address(pointer).tensor
    check_ndim(name, tensor.ndim)
    status = _c.fl_array_from_dlpack(on._handle or on._gone(), pointer, handle)
    if status:
        fail(status)
    _rename(capsule, USED)
    ndim = _c.fl_array_ndim(handle)
    dtype, shape = DTYPES[_c.fl_array_dtype(handle)], tuple(_c.fl_array_shape(handle, d) for d in range(ndim))
    strides = tuple(tensor.strides[d] * dtype.itemsize for d in range(ndim)) if tensor.strides and tensor.ndim else None
    return Array._of(handle.value, on, shape, dtype, None, True, strides)


def _check_place(name: str, place: Tuple[int, ...], on: Device) -> None:
    kind, pinned, index = on._info
    host = place[0] in (CPU, CUDA_HOST, ROCM_HOST)
    if (host and on.host_memory) or (not host and place == (kind, index)) or (place[0] == pinned and place[0] != CPU):
        return
    where = "host memory" if host else f"the memory of {'CUDA' if place[0] == CUDA else 'ROCm' if place[0] == ROCM else 'DLPack'} device {place[1]}"
    raise WrongDeviceError(f"{name} is in {where}, the call runs on {on.resource}; copy it with flynn.device({on.resource!r}).array({name})")


def _cuda() -> ctypes.CDLL:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise UnavailableError(f"NVIDIA's driver cannot be loaded ({error})") from None


def _cuda_device(address: int) -> int:
    """The number of the GPU whose memory that is."""
    index = ctypes.c_int()
    ordinal = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    if address and _cuda().cuPointerGetAttribute(ctypes.byref(index), ordinal, ctypes.c_uint64(address)):
        raise ArgumentError("an array with __cuda_array_interface__ is not in a GPU's memory")
    return index.value


def _cuda_wait(index: int) -> None:
    """Waits for all work of the GPU: another library's on its array must have ended, in whatever stream it is."""
    driver, context, number = _cuda(), ctypes.c_void_p(), ctypes.c_int()
    if driver.cuDeviceGet(ctypes.byref(number), index) or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number):
        raise UnavailableError(f"CUDA device {index} cannot be used")
    driver.cuCtxPushCurrent_v2(context)
    failed = driver.cuCtxSynchronize()
    driver.cuCtxPopCurrent_v2(ctypes.byref(context))
    driver.cuDevicePrimaryCtxRelease_v2(number)
    if failed:
        raise UnavailableError(f"the work of another library on CUDA device {index} failed: CUDA error {failed}")


# ---------------------------------------------------------------------------------------------------- arguments ----

def where(x: Any) -> Device:
    """The device on whose memory an array of another library is: of host memory the best processor."""
    if isinstance(x, np.ndarray):
        return open_device("cpu")
    place = (CPU, 0)
    if hasattr(x, "__dlpack_device__"):
        place = tuple(int(number) for number in x.__dlpack_device__())  # type: ignore[assignment]
    elif hasattr(x, "__cuda_array_interface__"):
        place = (CUDA, _cuda_device(x.__cuda_array_interface__["data"][0]))
    return open_device({CUDA: f"hip-nvidia:{place[1]}", ROCM: f"hip-amd:{place[1]}"}.get(place[0], "cpu"))


def take(name: str, x: Any, on: Device, keep: bool = False) -> Array:
    """The argument `name` as an array on the device, without a copy. WrongDeviceError: it is elsewhere; ArgumentError."""
    if isinstance(x, Array):
        if x.device is on:
            return x
        again = " (opened again)" if x.device.resource == on.resource else ""
        raise WrongDeviceError(f"{name} is on {x.device.resource}, the call runs on {on.resource}{again}; copy it with {name}.to({on.resource!r})")
    if isinstance(x, np.ndarray):
        array = _by_numpys_capsule(x, on)
        return _of_numpy(name, plain(name, x), on, keep) if array is None else array
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return _of_dlpack(name, x, on)
    if hasattr(x, "__cuda_array_interface__"):
        return _of_cuda_interface(name, x, on)
    return _of_numpy(name, plain(name, x), on, keep)


def asarray(data: Any, dtype: Any = None, device: Union[str, Device, None] = None) -> Array:
    """An array over the memory of `data` (NumPy, CuPy, PyTorch, Numba), which both then use; a copy where that cannot be.

    device: None (where the data are: of host memory the best processor), or a device, to which data from elsewhere are copied. dtype: another one
    is a copy. Read-only memory can be an input of operations, and is refused as an output. ArgumentError: a dtype that Flynn does not have, more than
    4 dimensions, elements that are not in rows.
    """
    if isinstance(data, Array):
        array = data if device is None or open_device(device) is data.device else data.to(device)
    else:
        there = where(data)
        on = there if device is None else open_device(device)
        array = take("data", data, on, True) if on is there or (on.host_memory and there.host_memory) else on.array(data)
    return array if dtype is None or np.dtype(dtype) == array.dtype else array.astype(dtype)


def from_dlpack(data: Any) -> Array:
    """An array over the memory of an object with __dlpack__: asarray(data)."""
    if not hasattr(data, "__dlpack__"):
        raise ArgumentError(f"data is of type {type(data).__name__}, which has no __dlpack__")
    return asarray(data)
