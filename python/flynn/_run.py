# SPDX-License-Identifier: MIT
"""How an operation runs: its device, its arrays, variant, block, stream, and the timing that flynn.time asks for."""
from __future__ import annotations

import ctypes
import threading
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c
from ._array import Array, Device, Stream, device as open_device
from ._errors import ArgumentError, fail, real, sizes, text
from ._exchange import take, where

Where = Union[str, Device, None]
Block = Union[int, Tuple[int, ...], None]


class Place(threading.local):
    """What flynn.time has set for the operations of this thread: their stream, and where their timings go."""
    stream: Optional[int] = None
    device: Optional[Device] = None
    timings: Optional[List[Any]] = None
    timed = False


place = Place()


def on_device(device: Where, values: Sequence[Any]) -> Device:
    """The device of a call: the named one, that of its first array of Flynn's, or the one on whose memory the first array is; without any, the one that
    flynn.time times."""
    if device is not None:
        return open_device(device)
    others = None
    for x in values:
        if isinstance(x, Array):
            return x.device
        if others is None:
            others = x
    if others is not None:
        return where(others)
    return place.device if place.timed and place.device else open_device("auto")


def output(out: Any, on: Device, shape: Tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """The array that a call writes: a new one, or `out`, which may be of another library. ArgumentError: it is read-only."""
    if out is None:
        return on._create(shape, dtype)
    if not isinstance(out, Array) and not hasattr(out, "__dlpack__") and not hasattr(out, "__cuda_array_interface__"):
        raise ArgumentError(f"out is of type {type(out).__name__}; expected an array")
    array = take("out", out, on)
    if not array._writable:
        raise ArgumentError("out is over read-only memory; expected an array that can be written")
    return array


def run_of(variant: Optional[str], block: Block, stream: Optional[Stream], on: Device, tolerance: float = 0) -> Any:
    """C's fl_run of the keywords; None: all is left to the library."""
    if variant is None and block is None and stream is None and not place.timed and type(tolerance) is int and tolerance == 0:
        return None
    run = _c.fl_run()
    run.tolerance = real("tolerance", tolerance)
    if variant is not None:
        run.variant = text("variant", variant)
    if block is not None:
        for i, threads in enumerate(sizes("block", block, 2 ** 31 - 1)):
            run.block[i] = threads
    if stream is not None:
        if not isinstance(stream, Stream):
            raise ArgumentError(f"stream is {stream!r}; expected flynn.device(...).stream()")
        if stream.device is not on:
            raise ArgumentError(f"stream is one of {stream.device.resource}, the call runs on {on.resource}; {on.resource!r} has streams of its own")
        run.stream = stream._handle
    if place.timed:
        if stream is None and place.device is on:
            run.stream = place.stream
        if place.timings is not None:
            timing = _c.fl_timing()
            run.timing = ctypes.pointer(timing)
            place.timings.append(timing)
    return run


def call(function: Any, on: Device, arguments: Sequence[Any], variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
         tolerance: float = 0) -> None:
    """Calls a function of C on the device. Raises what it reports."""
    status = function(on._handle or on._gone(), *arguments, run_of(variant, block, stream, on, tolerance))
    if status:
        fail(status)
