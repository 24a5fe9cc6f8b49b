# SPDX-License-Identifier: MIT
"""Errors as exceptions, and the checks of what ctypes would pass on: it cuts integers to their size without a word."""
from __future__ import annotations

import operator
import re
from typing import Any, NoReturn, Optional, Sequence

from . import _c


class Error(RuntimeError):
    """What every error of Flynn is."""


class ArgumentError(Error, ValueError):
    """An argument is wrong: its shape, dtype or value."""


class UnknownError(Error, LookupError):
    """No device, variant, mode or name is called that; the text names the nearest one."""


class WrongDeviceError(Error, ValueError):
    """An array is in the memory of another device than the call's; the text has the line that copies it."""


class UnsupportedError(Error, NotImplementedError):
    """The device does not offer that operation, variant or dtype."""


class UnavailableError(Error):
    """The device, or a library or compiler, is known but cannot be used here; the text says why, and how to change that."""


class LimitError(Error, ValueError):
    """A launch exceeds a limit of the device."""


class OutOfMemoryError(Error, MemoryError):
    """The host or the device has no memory left."""


class DeviceError(Error):
    """The device or its driver failed, or the user's function or kernel did not return."""


class SourceError(Error):
    """The text of a function or kernel does not compile. `log` is its line with a caret below the column, or ""."""

    def __init__(self, message: str, log: str = ""):
        super().__init__(f"{message}\n{log}" if log else message)
        self.log = log


CLASSES = {_c.FL_E_ARGUMENT: ArgumentError, _c.FL_E_UNKNOWN: UnknownError, _c.FL_E_WRONG_DEVICE: WrongDeviceError,
           _c.FL_E_UNSUPPORTED: UnsupportedError, _c.FL_E_UNAVAILABLE: UnavailableError, _c.FL_E_LIMIT: LimitError,
           _c.FL_E_MEMORY: OutOfMemoryError, _c.FL_E_DEVICE: DeviceError, _c.FL_E_SOURCE: SourceError}
# What C calls otherwise than Python.
NAMES = {"fl_array_create": "array", "fl_array_from_host": "array", "fl_array_from_dlpack": "asarray", "fl_device_open": "device",
         "search_sorted": "searchsorted"}


def fail(status: int, log: bytes = b"") -> NoReturn:
    """Raises the exception of a C function's status, with the message that C left for this thread."""
    message = _c.fl_last_error().decode(errors="replace")
    message = re.sub(r"^(\w+)(?=: )", lambda match: NAMES.get(match[1], match[1].replace("fl_", "", 1)), message)
    message = re.sub(r"(?<=: |h )(in|sorted|values)(?= has | is | shares |,|; )", lambda match: {"values": "v"}.get(match[1], "a"), message)
    if status == _c.FL_E_SOURCE:
        raise SourceError(message, log.decode(errors="replace").rstrip("\n"))
    raise CLASSES.get(status, Error)(message)


def check(status: int) -> None:
    if status:
        fail(status)


def integer(name: str, value: Any, least: int = -2 ** 63, most: int = 2 ** 63 - 1) -> int:
    """`value` as an int from `least` to `most`. ArgumentError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}; expected a whole number") from None
    if not least <= number <= most:
        raise ArgumentError(f"{name} is {number}; expected a number from {least} to {most}")
    return number


def real(name: str, value: Any) -> float:
    """`value` as a float. ArgumentError."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, OverflowError):
        raise ArgumentError(f"{name} is {value!r}; expected a number") from None


def text(name: str, value: Any) -> bytes:
    """A str for C. ArgumentError."""
    if not isinstance(value, str) or "\0" in value:
        raise ArgumentError(f"{name} is {value!r}; expected a str")
    return value.encode()


def sizes(name: str, value: Any, most: int, count: int = 3) -> tuple[int, ...]:
    """A number, or 1 to `count` of them, each from 0 to `most`. ArgumentError."""
    try:
        numbers = tuple(value) if isinstance(value, (tuple, list)) else (operator.index(value),)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}; expected a whole number, or a tuple of up to {count}") from None
    if not 1 <= len(numbers) <= count:
        raise ArgumentError(f"{name} has {len(numbers)} numbers; expected 1 to {count}")
    return tuple(integer(f"{name}[{i}]" if len(numbers) > 1 else name, number, 0, most) for i, number in enumerate(numbers))


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    """`value`, which is among the `known` names. UnknownError with the nearest one; ArgumentError if it is no str."""
    if isinstance(value, str) and value in known:
        return value
    words = text(name, value)
    listed = (_c.c_char_p * len(known))(*[word.encode() for word in known])
    nearest: Optional[bytes] = _c.fl_nearest_name(words, listed, len(known))
    raise UnknownError(f"{name} is {value!r}; expected {', '.join(map(repr, known))}"
                       + (f"; did you mean {nearest.decode()!r}?" if nearest else ""))
