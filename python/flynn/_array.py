# SPDX-License-Identifier: MIT
"""Devices, streams and arrays."""
from __future__ import annotations

import atexit
import ctypes
import os
import threading
from ctypes import c_void_p
from typing import Any, Callable, Dict, List, NamedTuple, NoReturn, Optional, Tuple, Union

import numpy as np

from . import _c
from ._errors import ArgumentError, DeviceError, UnavailableError, WrongDeviceError, check, fail, integer, one_of, text

DTYPES = tuple(np.dtype(name) for name in ("uint8", "int32", "int64", "float32", "float64"))
CODES = {(dtype.kind, dtype.itemsize): code for code, dtype in enumerate(DTYPES)}
CODE_OF_NUMBER = {dtype.num: code for code, dtype in enumerate(DTYPES)}  # by NumPy's number of a dtype, which is faster
INT64 = {n: ctypes.c_int64 * n for n in range(_c.FL_MAX_DIMS + 1)}


def dtype_code(name: str, dtype: np.dtype[Any]) -> int:
    """The number that C has for a NumPy dtype. ArgumentError: Flynn has no such dtype."""
    code = CODES.get((dtype.kind, dtype.itemsize))
    if code is None or not dtype.isnative:
        nearest = {"b": "uint8", "i": "int32", "u": "int64", "f": "float64" if dtype.itemsize > 4 else "float32"}.get(dtype.kind)
        cure = f"; {name}.astype('{nearest}') converts it" if nearest else "; astype converts to one of them"
        raise ArgumentError(f"{name} has dtype {dtype if dtype.isnative else dtype.str}; Flynn has uint8, int32, int64, float32 and float64"
                            + cure)
    return code


def as_dtype(value: Any) -> np.dtype[Any]:
    """A dtype of Flynn's from what numpy.dtype takes, or from C's name for it ("f32")."""
    named = {"u8": "uint8", "i32": "int32", "i64": "int64", "f32": "float32", "f64": "float64"}
    try:
        dtype = np.dtype(named.get(value, value) if isinstance(value, str) else value)
    except TypeError as error:
        raise ArgumentError(f"dtype is {value!r}; expected a dtype of NumPy ({error})") from None
    return DTYPES[dtype_code("dtype", dtype)]


# ----------------------------------------------------------------------------------------------------- devices ----

class DeviceSummary(NamedTuple):
    """A device of this machine, or why a backend has none here."""
    name: str
    flynn_class: str
    hardware: str
    emulation: bool
    usable: bool
    reason: str


class Variant(NamedTuple):
    """A way in which a device computes an operation."""
    name: str
    dtypes: Tuple[str, ...]
    summary: str
    restricted: bool
    usable: bool


_open: Dict[str, "Device"] = {}
_lock = threading.RLock()
_forked = False


class Device:
    """An open device; flynn.device(name) gives it.

    resource, backend, flynn_class ("SISD", "SIMD", "MIMD", "SIMT"), hardware; emulation: it imitates a GPU; host_memory: NumPy
    reaches its arrays; threads of a processor; choice: why "auto" or "cpu" took it in place of the best one, or "".
    """
    __slots__ = ("_handle", "_why", "_info", "resource", "backend", "flynn_class", "hardware", "emulation", "host_memory", "threads", "choice",
                 "__weakref__")
    _handle: Optional[int]
    _why: str
    _info: Tuple[int, int, int]
    resource: str
    backend: str
    flynn_class: str
    hardware: str
    emulation: bool
    host_memory: bool
    threads: int
    choice: str

    def __init__(self, *_: Any):
        raise TypeError("flynn.device(name), such as flynn.device('simd'), opens a device")

    @classmethod
    def _of(cls, handle: int) -> "Device":
        """The device that a handle of the library's stands for."""
        self = cls.__new__(cls)
        info = _c.fl_device_describe(handle).contents
        self._handle, self._why = handle, ""
        self.resource = info.resource.decode()
        self.backend = info.backend.decode()
        self.flynn_class = info.flynn_class.decode()
        self.hardware = info.name.decode()
        self.emulation = info.emulation
        self.host_memory = info.host_memory
        self.threads = info.threads
        self.choice = _c.fl_device_choice(handle).decode()
        self._info = info.dlpack_type, info.dlpack_pinned_type, info.dlpack_id
        return self

    def __repr__(self) -> str:
        what = f"{self.resource}: {self.flynn_class}, {self.hardware}{' (emulation)' if self.emulation else ''}"
        return f"<flynn.Device {'; '.join(filter(None, (what, self.choice)))}>"

    def _gone(self) -> NoReturn:
        raise DeviceError(self._why)

    def array(self, data: Any, dtype: Any = None) -> "Array":
        """A copy of `data` (an array of any library, a list, a number) on this device.

        data: 0 to 4 dimensions (0 become one element), any of Flynn's dtypes or `dtype`. ArgumentError: another dtype, more dimensions;
        OutOfMemoryError.
        """
        if isinstance(data, Array):
            copy = data.to(self)
            return copy if dtype is None else copy.astype(dtype)
        if not isinstance(data, np.ndarray) and (hasattr(data, "__cuda_array_interface__") or hasattr(data, "__dlpack__")):
            from ._exchange import asarray
            return self.array(asarray(data), dtype)
        host = np.ascontiguousarray(plain("data", data), None if dtype is None else as_dtype(dtype))
        code, handle = dtype_code("data", host.dtype), c_void_p()
        check_ndim("data", host.ndim)
        check(_c.fl_array_from_host(self._handle or self._gone(), code, host.ndim, INT64[host.ndim](*host.shape), host.ctypes.data,
                                    handle))
        return Array._of(handle.value, self, host.shape, DTYPES[code])

    def empty(self, shape: Any, dtype: Any = "float64") -> "Array":
        """An array with undefined contents. shape: a number, or 1 to 4 of them, each at least 0. ArgumentError, OutOfMemoryError."""
        return self._create(shape_of(shape), as_dtype(dtype))

    def zeros(self, shape: Any, dtype: Any = "float64") -> "Array":
        """An array of zeros. Arguments and errors as empty."""
        array = self.empty(shape, dtype)
        zeros = np.zeros(array.shape, array.dtype)
        check(_c.fl_array_write(array._handle, zeros.ctypes.data, None))
        self.wait()
        return array

    def _create(self, shape: Tuple[int, ...], dtype: np.dtype[Any]) -> "Array":
        """empty() of what has been checked: `dtype` is one of DTYPES."""
        handle, ndim = c_void_p(), len(shape)
        status = _c.fl_array_create(self._handle or self._gone(), CODE_OF_NUMBER[dtype.num], ndim, INT64[ndim](*shape), handle)
        if status:
            fail(status)
        return Array._of(handle.value, self, shape, dtype)

    def stream(self, urgent: bool = False) -> "Stream":
        """A queue of work beside the default one; of an urgent one a GPU's kernels go before those of others."""
        return Stream(self, urgent)

    def wait(self) -> None:
        """Waits until all work queued on the device is done. DeviceError: it failed."""
        check(_c.fl_device_wait(self._handle or self._gone()))

    def variants(self, operation: str) -> List[Variant]:
        """How the device computes an operation of flynn, such as "sort". UnknownError: with the nearest name."""
        listed: Dict[str, List[Variant]] = {}
        for i in range(_c.fl_variant_count(self._handle or self._gone())):
            info = _c.fl_variant_info()
            check(_c.fl_variant_get_sized(self._handle, i, ctypes.byref(info), ctypes.sizeof(info)))
            name = info.operation.decode().replace("search_sorted", "searchsorted")
            listed.setdefault(name, []).append(Variant(
                info.variant.decode(), tuple(str(d) for code, d in enumerate(DTYPES) if info.dtypes >> code & 1), info.summary.decode(),
                info.restricted, _c.fl_variant_ready(self._handle, i) == _c.FL_OK))
        return listed[one_of("operation", operation, sorted(listed))]

    def close(self) -> None:
        """Waits for the device's work, then closes it; its arrays can still be copied to the host. Closing twice does nothing."""
        with _lock:
            handle, self._handle = self._handle, 0
            self._why = self._why or f"{self.resource} is closed; flynn.device({self.resource!r}) opens it again"
            for name in [name for name, device in _open.items() if device is self]:
                del _open[name]
        if handle:
            _c.fl_device_close(handle)


def device(name: Union[str, Device] = "auto") -> Device:
    """The device of that name: "serial", "simd", "omp", "omp:2", "hip", "hip-nvidia:0", "hip-cpu", "cpu" (the best processor) or "auto"
    (the best device). The last two take "simd" where the threads of "omp" are slower at the moment, as other programs use the processors.

    The same name gives the same object until it is closed. UnknownError: with the nearest name; ArgumentError: an index or
    instruction set that it does not have; UnavailableError: it cannot run here, and why; DeviceError, OutOfMemoryError.
    """
    if isinstance(name, Device):
        return name
    found = _open.get(name) if isinstance(name, str) else None
    if found:
        return found
    wanted = text("name", name)
    with _lock:
        if _forked:
            raise UnavailableError("this process was forked from one that had opened devices, which do not work here: start processes by "
                                   "multiprocessing.get_context('spawn')")
        handle = c_void_p()
        check(_c.fl_device_open(wanted, handle))
        opened = Device._of(handle.value or 0)
        same = _open.get(opened.resource)
        other = _open.get({"auto": "cpu", "cpu": "auto"}.get(name, ""))
        if other and other.host_memory and opened.host_memory:  # one choice for both: the moment may have changed
            same = other
        if same:
            same.choice = same.choice or opened.choice
            _c.fl_device_close(handle)
            opened = same
        _open[opened.resource] = _open[name] = opened
        return opened


def devices() -> List[DeviceSummary]:
    """What this machine has, the best first, and why other backends cannot run here."""
    found = []
    for i in range(_c.fl_backend_count()):
        info = _c.fl_backend_get(i).contents
        probe, name = info.probe, info.name.decode()
        reason = "" if info.usable else "; ".join(filter(None, (probe.cause.decode(), probe.cure.decode())))
        for index in range(max(1, probe.device_count)):
            found.append(DeviceSummary(f"{name}:{index}" if probe.device_count > 1 else name, info.flynn_class.decode(),
                                       probe.device[index].value.decode() if index < _c.FL_MAX_PROBED_DEVICES else "",
                                       info.emulation, info.usable, reason))
    return found


@atexit.register
def _close_all() -> None:
    for opened in list(_open.values()):
        opened.close()


def _after_fork() -> None:
    """A device's threads, and a GPU's driver, are not in the child: nothing of the parent's is touched there."""
    global _forked
    for opened in _open.values():
        _forked = True
        opened._handle = 0
        opened._why = (f"{opened.resource} was opened before this process was forked, and does not work here: start processes by "
                       "multiprocessing.get_context('spawn')")
    _open.clear()


os.register_at_fork(after_in_child=_after_fork)


class Stream:
    """A queue of work on a device: stream= of an operation. Work in one stream is done in order."""
    __slots__ = ("_handle", "device")

    def __init__(self, device: Device, urgent: bool = False):
        handle = c_void_p()
        self._handle: Optional[int] = None
        self.device = device
        create = _c.fl_stream_create_urgent if urgent else _c.fl_stream_create
        check(create(device._handle or device._gone(), handle))
        self._handle = handle.value

    def wait(self) -> None:
        """Waits until the stream's work is done. DeviceError: it failed."""
        if not self.device._handle:
            self.device._gone()
        check(_c.fl_stream_wait(self._handle))

    def __del__(self, free: Callable[[Any], Any] = _c.fl_stream_free) -> None:
        if self._handle and "forked" not in self.device._why:
            free(self._handle)


# ------------------------------------------------------------------------------------------------------ arrays ----

def plain(name: str, data: Any) -> np.ndarray[Any, Any]:
    """`data` as an ndarray whose elements are numbers. ArgumentError."""
    if isinstance(data, np.ma.MaskedArray):
        raise ArgumentError(f"{name} is a masked array, and Flynn has no masks; {name}.filled() is a plain one")
    if isinstance(data, np.ndarray):
        return data
    try:
        return np.asarray(data)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} is no array: {error}") from None


def check_ndim(name: str, ndim: int) -> None:
    if ndim > _c.FL_MAX_DIMS:
        raise ArgumentError(f"{name} has {ndim} dimensions; Flynn's arrays have up to {_c.FL_MAX_DIMS}: {name}.reshape(...) has fewer")


def shape_of(value: Any) -> Tuple[int, ...]:
    shape = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    check_ndim("shape", len(shape))
    if not shape:
        raise ArgumentError("shape is (); expected 1 to 4 numbers")
    return tuple(integer(f"shape[{i}]" if len(shape) > 1 else "shape", n, 0) for i, n in enumerate(shape))


def _refuse(what: str, cure: str) -> Callable[..., NoReturn]:
    def refused(self: "Array", *_: Any) -> NoReturn:
        raise TypeError(f"Flynn's arrays have no {what}; {cure}")
    return refused


class Array:
    """A row-major array of 1 to 4 dimensions in the memory of a device; flynn.array(x) makes one.

    shape, dtype (uint8, int32, int64, float32, float64), ndim, size, nbytes, device. Only one thread at a time may use an array.
    """
    __slots__ = ("_handle", "_owner", "_writable", "_strides", "device", "shape", "dtype", "__weakref__")
    _handle: Optional[int]
    _owner: Any
    _writable: bool
    _strides: Optional[Tuple[int, ...]]  # in bytes; None: packed
    device: Device
    shape: Tuple[int, ...]
    dtype: np.dtype[Any]

    def __init__(self, *_: Any):
        raise TypeError("flynn.array(data), flynn.zeros(shape) and flynn.empty(shape) make arrays")

    @classmethod
    def _of(cls, handle: Optional[int], device: Device, shape: Tuple[int, ...], dtype: np.dtype[Any], owner: Any = None,
            writable: bool = True, strides: Optional[Tuple[int, ...]] = None) -> "Array":
        """The array that a handle of the library's stands for."""
        self = cls.__new__(cls)
        self._handle, self.device, self.shape, self.dtype = handle, device, shape, dtype
        self._owner, self._writable, self._strides = owner, writable, strides
        return self

    def __del__(self, free: Callable[[Any], Any] = _c.fl_array_free) -> None:
        device: Optional[Device] = getattr(self, "device", None)  # none of an array that was never made
        if device and (device._handle or "forked" not in device._why):
            free(self._handle)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        values = self.numpy() if self.size <= 1000 else None
        shown = np.array2string(values, separator=", ", prefix="flynn.Array(") if values is not None else "x".join(map(str, self.shape))
        return f"flynn.Array({shown}, dtype={self.dtype}, device={self.device.resource!r})"

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy in NumPy's memory, after all work queued on the device. DeviceError: that work failed."""
        if "forked" in self.device._why:
            self.device._gone()
        host = np.empty(self.shape, self.dtype)
        check(_c.fl_array_to_host(self._handle, host.ctypes.data))
        return host

    get = numpy

    def to(self, where: Union[str, Device]) -> "Array":
        """A copy on a device, which may be this array's. Waits. Errors as flynn.device, and OutOfMemoryError."""
        target, handle = device(where), c_void_p()
        if "forked" in self.device._why:
            self.device._gone()
        check(_c.fl_array_to_device(self._handle, target._handle or target._gone(), handle))
        return Array._of(handle.value, target, self.shape, self.dtype)

    to_device = to

    def astype(self, dtype: Any) -> "Array":
        """A copy as float32 or float64 (from any dtype) or int64 (from integers); of its own dtype, too. UnsupportedError: others."""
        wanted = as_dtype(dtype)
        if wanted == self.dtype:
            return self.to(self.device)
        from ._run import call
        out = self.device._create(self.shape, wanted)
        call(_c.fl_convert, self.device, (self._handle, out._handle))
        return out

    def __getitem__(self, key: Any) -> "Array":
        """A view: the part that slices without steps give, a[2:5, :7]. ArgumentError: a step; TypeError: what is no slice."""
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > self.ndim:
            raise ArgumentError(f"{len(keys)} slices of an array of {self.ndim} dimensions")
        start, shape = [0] * self.ndim, list(self.shape)
        for d, part in enumerate(keys):
            if part is Ellipsis and d == len(keys) - 1:
                break
            if not isinstance(part, slice):
                raise TypeError(f"Flynn's arrays take slices (a[2:5, :7]), not {part!r}; a.numpy()[...] takes everything, and "
                                "flynn.select(a) has the elements that are not 0")
            first, last, step = part.indices(shape[d])
            if step != 1:
                raise ArgumentError(f"a slice with step {step}: Flynn's arrays are rows without gaps; "
                                    f"flynn.array(numpy.ascontiguousarray(a.numpy()[::{step}])) is a copy of such a part")
            start[d], shape[d] = min(first, shape[d]), max(0, last - first)
        handle = c_void_p()
        if "forked" in self.device._why:
            self.device._gone()
        check(_c.fl_array_view(self._handle, INT64[self.ndim](*start), INT64[self.ndim](*shape), handle))
        return Array._of(handle.value, self.device, tuple(shape), self.dtype, self._owner, self._writable, self._steps())

    def _steps(self) -> Tuple[int, ...]:
        """Bytes from an element to the next one of each dimension."""
        if self._strides is not None:
            return self._strides
        steps, step = [], self.dtype.itemsize
        for length in reversed(self.shape):
            steps.append(step)
            step *= length
        return tuple(reversed(steps))

    def __iter__(self) -> NoReturn:
        raise TypeError("Flynn's arrays are not read element by element; a.numpy() is an array of NumPy's")

    def __bool__(self) -> NoReturn:
        raise TypeError("an array is neither true nor false; a.numpy().any() and a.numpy().all() are")

    def __reduce__(self) -> NoReturn:
        raise TypeError("an array belongs to its device; a.numpy() can be pickled")

    __hash__ = None  # type: ignore[assignment]

    @property
    def T(self) -> NoReturn:
        raise ArgumentError("an array's rows lie one after the other; flynn.transpose(a) is a copy with rows and columns exchanged, as is "
                            "numpy.ascontiguousarray(x.T) of NumPy's")

    # ------------------------------------------------------------------------------------------------ exchange ----

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        if not self.device.host_memory:
            raise AttributeError("__array_interface__")
        from ._exchange import array_interface
        return array_interface(self)

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        from ._exchange import CUDA, array_interface
        if self.device._info[0] != CUDA:
            raise AttributeError("__cuda_array_interface__")
        self.device.wait()
        return {**array_interface(self), "stream": None}

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        """NumPy calls it where it does not reach the memory. TypeError: names the copy."""
        if self.device.host_memory:
            reached = np.asarray(_Memory(self), dtype)
            return reached.copy() if copy else reached
        raise TypeError(f"NumPy does not reach the memory of {self.device.resource}; a.numpy() is a copy that it reaches")

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Optional[bool] = None) -> Any:
        """A capsule for from_dlpack of NumPy, CuPy, PyTorch and JAX, over the same memory, after a wait for Flynn's work.

        BufferError: a copy, another device, or, in a capsule without a version, read-only memory.
        """
        from ._exchange import export
        return export(self, max_version, dl_device, copy)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self.device._info[0], self.device._info[2]

    # ---------------------------------------------------------------------------------------- NumPy's functions ----

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from ._operations import of_ufunc
        return of_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        from ._operations import of_function
        return of_function(function, arguments, options)

    def __matmul__(self, other: Any) -> "Array":
        from ._operations import matmul
        product: Array = matmul(self, other)
        return product


class _Memory:
    """An array's memory for NumPy, which keeps this object."""

    def __init__(self, array: Array):
        self.array, self.__array_interface__ = array, array.__array_interface__


def _refuse_operators() -> None:
    signs = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "and": "&", "or": "|", "xor": "^",
             "lshift": "<<", "rshift": ">>"}
    comparisons = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
    for name, sign in signs.items():
        of_c = {"//": "/", "**": ", "}.get(sign, sign)
        example = "pow(x, y)" if sign == "**" else f"x {of_c} y"
        for prefix in ("", "r", "i"):
            setattr(Array, f"__{prefix}{name}__", _refuse(f"operator {sign}", f"flynn.vectorize({example!r})(a, b) computes it"))
    for name, sign in comparisons.items():
        setattr(Array, f"__{name}__", _refuse(f"operator {sign}", f"flynn.vectorize({f'x {sign} y'!r})(a, b) computes it, "
                                              "and flynn.select(a) has the elements that are not 0"))
    for name, sign in {"neg": "-x", "abs": "abs(x)", "invert": "~x"}.items():
        setattr(Array, f"__{name}__", _refuse(f"operator {sign}", f"flynn.vectorize({sign!r})(a) computes it"))
    setattr(Array, "__setitem__", _refuse("assignment to a part", "an operation with out=a[2:5] writes to one"))


_refuse_operators()


def array(data: Any, dtype: Any = None, device: Union[str, Device] = "auto") -> Array:
    """A copy of `data` on a device: flynn.device(device).array(data, dtype)."""
    return _device(device).array(data, dtype)


def empty(shape: Any, dtype: Any = "float64", device: Union[str, Device] = "auto") -> Array:
    """An array with undefined contents: flynn.device(device).empty(shape, dtype)."""
    return _device(device).empty(shape, dtype)


def zeros(shape: Any, dtype: Any = "float64", device: Union[str, Device] = "auto") -> Array:
    """An array of zeros: flynn.device(device).zeros(shape, dtype)."""
    return _device(device).zeros(shape, dtype)


def asnumpy(a: Any) -> np.ndarray[Any, Any]:
    """A copy of an array in NumPy's memory: a.numpy()."""
    return a.numpy() if isinstance(a, Array) else np.array(a)


_device = device
