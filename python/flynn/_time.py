# SPDX-License-Identifier: MIT
"""What a function of Flynn's operations takes on each device, by libflynn-bench."""
from __future__ import annotations

import ctypes
import json
import math
import re
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c
from ._array import Array, Device, device as open_device, devices as list_devices
from ._errors import ArgumentError, Error, UnavailableError, UnsupportedError, check, fail, integer, real
from ._run import place

Row = Dict[str, Any]
TIMES = ("open", "cold", "h2d", "kernel", "d2h", "total")


class Times(List[Row]):
    """Rows of times, a dict each, with SI units: print() and a notebook show them as a table, plot() as bars.

    device, flynn_class, emulation, variant; open_s (fl_device_open), cold_s (the first pass), h2d_s, kernel_s (the operations alone), d2h_s, total_s (by the
    host's clock): medians, None where there is none; call_s (wrong_timing: until the call returned); n; spread (quartiles of the total over its median);
    interval_s (it holds the median of the total with 95 %); noise (what disturbed the passes); speed_up, speed_up_with_copies (over the first row; None for an
    emulation); check ("ok", "WRONG", "not checked"); message (why there are no times).
    """

    title = ""

    def _cells(self) -> List[List[str]]:
        wrong = any(row.get("call_s") is not None for row in self)
        head = ["device", "class", "variant", *TIMES, *(["call"] if wrong else []), "spread", "speed-up", "with copies", "check"]
        cells = [head]
        for row in self:
            times = [show_time(row.get(f"{name}_s")) for name in (*TIMES, *(["call"] if wrong else []))]
            check_text = row["check"] + (" (emulation)" if row["emulation"] else "")
            cells.append([row["device"], row["flynn_class"], row["variant"] or "-", *times, "-" if row["spread"] is None else f"{100 * row['spread']:.2g} %",
                          show_ratio(row["speed_up"]), show_ratio(row["speed_up_with_copies"]), check_text])
        return cells

    def _remarks(self) -> Iterable[str]:
        for row in self:
            for text in (row["message"], row["noise"] and f"disturbed: {row['noise']}"):
                if text:
                    yield f"{row['device']}: {text}"
        if any(row["emulation"] for row in self):
            yield "an emulation's times say nothing about a GPU's"

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells)]
        left = {0, 1, 2, len(widths) - 1}
        lines = ["  ".join(cell.ljust(width) if i in left else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in cells]
        return "\n".join([*([self.title] if self.title else []), *lines, *self._remarks()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html
        head, *rows = self._cells()

        def line(cells: Sequence[str], tag: str) -> str:
            texts = [re.sub(r"^([\d.]+) ", r"\1&nbsp;", html.escape(cell)) for cell in cells]  # a number stays with its unit
            return "<tr>" + "".join(f"<{tag} style='text-align:{'left' if i < 3 or i == len(cells) - 1 else 'right'}'>{text}</{tag}>"
                                    for i, text in enumerate(texts)) + "</tr>"
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        remarks = "".join(f"<div>{html.escape(text)}</div>" for text in self._remarks())
        return f"<table>{caption}<thead>{line(head, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>{remarks}"

    def plot(self, ax: Any = None) -> Any:
        """Bars of copies, kernel and the rest, in ms, by matplotlib; the axes. An emulation's bar is hatched and sets no scale: where it is cut, it has its time."""
        import matplotlib.pyplot as plt
        ax = ax or plt.subplots(figsize=(7, 0.6 + 0.5 * len(self)))[1]
        shown = [row for row in self if row["total_s"] is not None]
        for i, row in enumerate(shown):
            left = 0.0
            parts = [("copy in", row["h2d_s"], "tab:blue"), ("kernel", row["kernel_s"], "tab:orange"), ("copy out", row["d2h_s"], "tab:green")]
            known = sum(seconds or 0 for _, seconds, _ in parts)
            for name, seconds, color in (*parts, ("rest", max(0.0, row["total_s"] - known), "lightgray")):
                ax.barh(i, 1e3 * (seconds or 0), left=1e3 * left, color=color, label=name if i == 0 else None, hatch="//" if row["emulation"] else None)
                left += seconds or 0
        ax.set_yticks(range(len(shown)), [row["device"] + (" (emulation)" if row["emulation"] else "") for row in shown])
        ax.invert_yaxis()
        longest = max((row["total_s"] for row in shown if not row["emulation"]), default=0.0)
        for i, row in enumerate(shown if longest else []):
            if row["total_s"] > longest:
                ax.set_xlim(0, 1.05e3 * longest)
                ax.text(1e3 * longest, i, show_time(row["total_s"]) + " \u2192", ha="right", va="center", bbox={"facecolor": "white", "edgecolor": "none"})
        ax.set_xlabel("ms")
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
        return ax


def show_time(seconds: Optional[float]) -> str:
    """Three digits and a unit, as the command has them."""
    if not seconds:
        return "-" if seconds is None else "0 ns"
    unit, name = next(((unit, name) for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")) if seconds >= 0.9995 * unit), (1e-9, "ns"))
    value = seconds / unit
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {name}"


def show_ratio(ratio: Optional[float]) -> str:
    return "-" if ratio is None else f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.3g}x"


def speed_ups(rows: Sequence[Row]) -> None:
    """Fills how many times as fast each row is as the first one; an emulation's times are no measure."""
    first = next((row for row in rows if row["kernel_s"] and not row["emulation"]), None)
    for row in rows:
        for key, of in (("speed_up", "kernel_s"), ("speed_up_with_copies", "total_s")):
            row[key] = first[of] / row[of] if first and row[of] and first[of] and not row["emulation"] else None


# ------------------------------------------------------------------------------------------------------ a case ----

Call: Any = dict(_c.fl_bench_case._fields_)["call"]
OnStream: Any = dict(_c.fl_bench_case._fields_)["copy_in"]
Step: Any = dict(_c.fl_bench_plan._fields_)["step"]


class Case:
    """The function on one device: what libflynn-bench calls, and what it found."""

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any], on: Device, state: "State", by: int):
        self.function, self.on, self.state, self.by = function, on, state, by
        self.hosts = {i: self._host(x.numpy() if isinstance(x, Array) else x) for i, x in enumerate(arguments)
                      if isinstance(x, Array) or (isinstance(x, np.ndarray) and x.ndim)}
        self.arguments = list(arguments)
        self.results: List[Array] = []
        self.outs: List[np.ndarray[Any, Any]] = []
        self.kernel_s: List[float] = []
        self.variant = ""
        self.calls = {"call": Call(self._call), "begin": self._guard(self._begin), "end": self._guard(self._end)}
        if not on.host_memory:
            self.calls.update(copy_in=self._guard(self._write), copy_out=self._guard(self._read))
        elif not state.repeats:  # a copy that is not needed would take the caches
            self.calls["restore"] = self._guard(self._write)

    def _host(self, data: Any) -> np.ndarray[Any, Any]:
        """A copy in host memory, pinned for the device."""
        pinned = self._pinned(np.asarray(data).shape, np.asarray(data).dtype)
        pinned[...] = data
        return pinned

    def _pinned(self, shape: Tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        memory, size = ctypes.c_void_p(), max(1, math.prod(shape)) * dtype.itemsize
        check(_c.fl_host_alloc(self.on._handle or self.on._gone(), size, memory))
        self.state.pinned.append((self.on, memory.value))
        buffer: Any = (ctypes.c_char * size).from_address(memory.value or 0)
        array: np.ndarray[Any, Any] = np.frombuffer(buffer, dtype, math.prod(shape)).reshape(shape)
        return array

    def _guard(self, work: Callable[[Any], None]) -> Any:
        def called(_: Any, stream: Any) -> int:
            return self.state.guard(self, lambda: work(stream))
        return OnStream(called)

    def _begin(self, stream: Any) -> None:
        """The arrays of the device; in host memory with their contents."""
        for i, host in self.hosts.items():
            self.arguments[i] = self.on.array(host)

    def _write(self, stream: Any) -> None:
        for i, host in self.hosts.items():
            check(_c.fl_array_write(self.arguments[i]._handle, host.ctypes.data, stream))

    def _read(self, stream: Any) -> None:
        if len(self.outs) != len(self.results) or any(out.shape != array.shape for out, array in zip(self.outs, self.results)):
            self.outs = [self._pinned(array.shape, array.dtype) for array in self.results]
        for out, array in zip(self.outs, self.results):
            check(_c.fl_array_read(array._handle, out.ctypes.data, stream))

    def _end(self, stream: Any) -> None:
        self.outs = [array.numpy() for array in self.results]  # no longer in pinned memory, which is freed

    def _call(self, _: Any, run: Any) -> int:
        def work() -> None:
            place.timed, place.stream, place.device = True, run.contents.stream, self.on
            place.timings = [] if self.by != _c.FL_BENCH_HOST or run.contents.timing else None
            self.results = []  # the next results get their memory, which the caches have
            try:
                result = self.function(*self.arguments)
            finally:
                timings, place.timed, place.stream, place.timings = place.timings, False, None, None
            self.results = [one for one in (result if isinstance(result, (tuple, list)) else (result,)) if isinstance(one, Array)]
            if run.contents.timing and timings:
                self.variant = " ".join(dict.fromkeys(one.variant.decode() for one in timings))
                run.contents.timing.contents = timings[-1]
            elif timings is not None and self.state.timed:
                self.kernel_s.append(sum(one.kernel_s for one in timings))
        return self.state.guard(self, work)

    def struct(self, name: bytes) -> Any:
        return _c.fl_bench_case(name=name, device=self.on._handle or self.on._gone(), by=self.by, optional=True, alone=not self.state.repeats, **self.calls)


class State:
    """What the cases of one run share."""

    def __init__(self, repeats: bool):
        self.repeats, self.timed = repeats, False
        self.error: Optional[BaseException] = None
        self.left_out: Dict[Case, str] = {}
        self.pinned: List[Tuple[Device, Optional[int]]] = []

    def guard(self, case: Case, work: Callable[[], None]) -> int:
        """Runs a callback's work: what it raises ends the case, and is raised again when the library has returned."""
        try:
            work()
            return 0
        except (UnsupportedError, UnavailableError) as error:
            self.left_out[case] = str(error)
            status, message = _c.FL_E_UNSUPPORTED, str(error)
        except BaseException as error:
            self.error = self.error or error
            status, message = _c.FL_E_DEVICE, f"{type(error).__name__}: {error}"
        return int(_c.fl_set_error(status, message.encode()))

    def step(self, _: Any, step: Any) -> bool:
        self.timed = step.contents.phase == _c.FL_BENCH_TIMED
        return self.error is None

    def free(self) -> None:
        for on, memory in self.pinned:
            if on._handle:
                _c.fl_host_free(on._handle, memory)


def _statistics(seconds: Sequence[float]) -> Any:
    found = _c.fl_bench_statistics()
    check(_c.fl_bench_statistics_sized((ctypes.c_double * len(seconds))(*seconds), len(seconds), ctypes.byref(found), ctypes.sizeof(found)))
    return found


def _finite(seconds: float) -> Optional[float]:
    return seconds if math.isfinite(seconds) else None


def _close(found: Sequence[np.ndarray[Any, Any]], expected: Sequence[np.ndarray[Any, Any]]) -> bool:
    """The same results, to a tolerance that sums in another order stay within."""
    def same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind != "f":
            return bool((a == b).all())
        tolerance = 1e-4 if a.dtype.itemsize == 4 else 1e-10
        largest = np.abs(b[np.isfinite(b)]).max(initial=0.0)
        return np.allclose(a, b, rtol=tolerance, atol=tolerance * float(largest), equal_nan=True)
    return len(found) == len(expected) and all(map(same, found, expected))


def _changed(function: Callable[..., Any], arguments: Sequence[Any], on: Device) -> bool:
    """Whether the function changes its inputs, by a call on the first device."""
    hosts = [x.numpy() if isinstance(x, Array) else x for x in arguments]
    arrays = [on.array(x) if isinstance(x, np.ndarray) and x.ndim else x for x in hosts]
    function(*arrays)
    return any(isinstance(a, Array) and a.numpy().tobytes() != x.tobytes() for a, x in zip(arrays, hosts))


def time(function: Callable[..., Any], *arguments: Any, devices: Union[str, Device, Sequence[Union[str, Device]]] = "all", wrong_timing: bool = False, repeat: int = 0,
         min_time_s: float = 0, max_time_s: float = 0) -> Times:
    """Times function(*arguments) on devices, which take turns: medians of what each part takes.

    function: of arrays of Flynn, by Flynn's operations, such as flynn.sort; it returns an array or several. arguments: arrays of NumPy or Flynn, which each pass
    copies to the device, and other values. devices: "all", a name, or names; the first one's result is what the others' are checked against. wrong_timing: also
    the time of a clock that stops when the call returns. repeat: timed passes (0: for min_time_s, 0.2 s, at least 3); max_time_s: of the whole (0: no limit).
    An exception in the function ends it and is raised again; a device that cannot run it has a row that says why. ArgumentError, UnknownError, OutOfMemoryError.
    """
    if not callable(function):
        raise ArgumentError(f"function is {function!r}; expected a function of arrays")
    if devices == "all":
        # As the command has it: what each step gains; emulations last.
        known = sorted((one for one in reversed(list_devices()) if one.usable), key=lambda one: one.emulation)
        names: Sequence[Union[str, Device]] = list(dict.fromkeys(one.name for one in known))
    else:
        names = [devices] if isinstance(devices, (str, Device)) else list(devices)
    opened = list(dict.fromkeys(open_device(name) for name in names))
    if not opened:
        raise ArgumentError("devices is empty; expected at least one name")
    state = State(not _changed(function, arguments, opened[0]))
    step = Step(state.step)
    plan = _c.fl_bench_plan(repeat=integer("repeat", repeat, 0, 10 ** 6), min_time_s=real("min_time_s", min_time_s), max_time_s=real("max_time_s", max_time_s),
                            time_call=bool(wrong_timing), step=step)
    bench = ctypes.c_void_p()
    check(_c.fl_bench_create_sized(ctypes.byref(plan), ctypes.sizeof(plan), bench))
    try:
        cases: List[List[Case]] = []
        for on in opened:
            clocks = [_c.FL_BENCH_BOTH] if on.host_memory else [_c.FL_BENCH_HOST, _c.FL_BENCH_EVENTS]
            cases.append([Case(function, arguments, on, state, by) for by in clocks])
            for case in cases[-1]:
                struct = case.struct(getattr(function, "__name__", "function").encode())
                check(_c.fl_bench_add_sized(bench, ctypes.byref(struct), ctypes.sizeof(struct)))
        status = _c.fl_bench_run(bench)
        if state.error:
            raise state.error
        if status:
            fail(status)
        rows = Times()
        i = 0
        for of_device in cases:
            found = [_result(bench, i + k) for k in range(len(of_device))]
            rows.append(_row(of_device, found, state))
            i += len(of_device)
    finally:
        _c.fl_bench_free(bench)
        state.free()
    ran = [(of_device[-1].outs, row) for of_device, row in zip(cases, rows) if row["total_s"] is not None]
    for outs, row in ran if len(ran) > 1 and ran[0][0] else []:
        row["check"] = "ok" if _close(outs, ran[0][0]) else "WRONG"
    speed_ups(rows)
    rows.title = getattr(function, "__name__", "function")
    return rows


def _result(bench: Any, i: int) -> Tuple[Any, Dict[str, Any]]:
    """The i-th result, and its row of JSON."""
    result = _c.fl_bench_result()
    check(_c.fl_bench_result_sized(bench, i, ctypes.byref(result), ctypes.sizeof(result)))
    size = _c.fl_bench_json(bench, i, None, 0) + 1
    text = ctypes.create_string_buffer(size)
    _c.fl_bench_json(bench, i, text, size)
    return result, json.loads(text.value)


def _row(cases: Sequence[Case], found: Sequence[Tuple[Any, Dict[str, Any]]], state: State) -> Row:
    on, (by_clock, samples), (by_events, _) = cases[0].on, found[0], found[-1]
    info = _c.fl_device_describe(on._handle).contents
    ran = by_clock.status == 0 and by_events.status == 0
    total = samples["times_s"]["total"]
    statistics = _statistics(total) if total else None
    call = samples["times_s"].get("call") or []
    kernel = _statistics(cases[-1].kernel_s).median if cases[-1].kernel_s else by_events.kernel_s
    return {"device": on.resource, "flynn_class": on.flynn_class, "hardware": on.hardware, "emulation": on.emulation, "variant": cases[0].variant or cases[-1].variant,
            "open_s": info.open_s, "cold_s": _finite(by_clock.first_s) if ran else None, "h2d_s": _finite(by_events.copy_in_s) if ran else None,
            "kernel_s": _finite(kernel) if ran else None, "d2h_s": _finite(by_events.copy_out_s) if ran else None, "total_s": _finite(by_clock.total_s) if ran else None,
            "call_s": _statistics(call).median if call else None, "n": len(total), "noise": by_clock.disturbed.decode() or by_events.disturbed.decode(),
            "spread": (statistics.third_quartile - statistics.first_quartile) / statistics.median if statistics and len(total) >= 5 and statistics.median else None,
            "interval_s": [statistics.low, statistics.high] if statistics and math.isfinite(statistics.low) else None,
            "speed_up": None, "speed_up_with_copies": None, "check": "not checked" if ran else "-",
            "message": "" if ran else next((state.left_out[case] for case in cases if case in state.left_out), by_clock.message.decode() or by_events.message.decode())}
