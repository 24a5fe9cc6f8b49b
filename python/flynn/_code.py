# SPDX-License-Identifier: MIT
"""The user's own code: a function for each element (vectorize), and a kernel (RawKernel)."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import re
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NoReturn, Optional, Sequence, Tuple, Union

import numpy as np

from . import _c, _library
from ._array import CODE_OF_NUMBER, DTYPES, INT64, Array, Device, Stream, device as open_device, dtype_code
from ._errors import ArgumentError, DeviceError, Error, SourceError, UnavailableError, UnknownError, check, fail, integer, real, sizes, text
from ._exchange import take
from ._run import Block, Where, on_device, output, run_of

if TYPE_CHECKING:
    import subprocess

LOG = 2048  # bytes for the line of an error with its caret
_NAME = r"\s*(u?int(8|16|32|64)|float(32|64)|boolean|[ifu][48]|[iu]1|b1)\s*"
SIGNATURE = re.compile(rf"{_NAME}\(({_NAME},)*{_NAME}\)\s*")  # Numba's "int32(int32, float64)"

# ---------------------------------------------------------------------------------------------------- vectorize ----

HANDLES = [ctypes.c_void_p * count for count in range(_c.FL_MAX_INPUTS + 1)]


class Vectorized:
    """A function that is computed for each element of arrays; flynn.vectorize makes one."""

    def __init__(self, source: Union[str, Callable[..., Any]]):
        self.source = source
        self.__doc__ = source.__doc__ if callable(source) else source
        self.__name__ = source.__name__ if callable(source) else "vectorized"
        self._compiled: Dict[Any, Tuple[int, np.dtype[Any]]] = {}
        self._lock = threading.Lock()
        self._translation: Any = None
        if callable(source):
            from ._translate import Translation
            self._translation = Translation(source)
        elif not isinstance(source, str):
            raise ArgumentError(f"source is {source!r}; expected a function of Python, or a str: an expression of x, y, z, w, or a function in C")

    def __repr__(self) -> str:
        return f"<flynn.vectorize of {self.__name__ if callable(self.source) else repr(self.source)}>"

    def __del__(self, free: Callable[[Any], Any] = _c.fl_function_free) -> None:
        for device, *_ in list(self.__dict__.get("_compiled", ())):
            if "forked" in device._why:
                return
        for handle, _ in self.__dict__.get("_compiled", {}).values():
            free(handle)

    def __call__(self, *arrays: Any, out: Any = None, variant: Optional[str] = None, block: Block = None, stream: Optional[Stream] = None,
                 device: Where = None) -> Any:
        """The function of each element. arrays: their shapes are broadcast as in NumPy, a number is for all elements; at most 8 (4 in an expression).
        out may be an array of the same shape and dtype. SourceError: the text does not compile, with its line and a caret. Other errors and keywords as
        flynn.sqrt."""
        if not arrays:
            raise ArgumentError("the function takes at least one array")
        if len(arrays) > _c.FL_MAX_INPUTS:
            raise ArgumentError(f"{len(arrays)} arrays are given; expected at most {_c.FL_MAX_INPUTS}")
        if len(arrays) == 1 and type(arrays[0]) is Array and device is None:  # the usual call in a loop
            on, inputs = arrays[0].device, arrays
        else:
            on = on_device(device, [x for x in (*arrays, out) if isinstance(x, Array)] or arrays)
            inputs = tuple([x if type(x) is Array and x.device is on else self._input(i, x, arrays, on) for i, x in enumerate(arrays)])
        function, dtype = self._compiled.get((on, *[x.dtype.num for x in inputs])) or self._compile(on, [x.dtype for x in inputs])
        shape = inputs[0].shape
        if len(inputs) > 1:
            try:
                shape = np.broadcast_shapes(*[x.shape for x in inputs])
            except ValueError:
                raise ArgumentError(f"the shapes {', '.join(str(x.shape) for x in inputs)} cannot be broadcast to one") from None
        to = on._create(shape, dtype) if out is None else output(out, on, shape, dtype)
        handles = HANDLES[len(inputs)](*[x._handle for x in inputs])
        status = _c.fl_map(on._handle or on._gone(), function, handles, len(inputs), to._handle, run_of(variant, block, stream, on))
        if status:
            fail(status)
        return to if out is None else out

    def _input(self, i: int, x: Any, arrays: Sequence[Any], on: Device) -> Array:
        if not isinstance(x, (int, float, np.integer, np.floating)):
            return take(f"argument {i + 1}", x, on)
        kinds = [np.dtype(other.dtype) for other in arrays if hasattr(other, "dtype") and not isinstance(other, np.generic)]
        dtype = x.dtype if isinstance(x, np.generic) else kinds[0] if kinds and (isinstance(x, int) or kinds[0].kind == "f") else np.asarray(x).dtype
        if dtype.kind in "iu" and not np.iinfo(dtype).min <= x <= np.iinfo(dtype).max:
            raise ArgumentError(f"argument {i + 1} is {x}, which does not fit into {dtype}")
        return on.array(np.asarray(x, dtype))

    @staticmethod
    def _guarded(source: str, codes: Any, count: int) -> str:
        """The text with 0 for an integer that is divided by 0; what the library does not read stays as it is, so that its error shows the user's text."""
        info, log = _c.fl_function_info(), ctypes.create_string_buffer(LOG)
        if "/" not in source and "%" not in source or _c.fl_function_read_sized(text("source", source), b"", codes, count, log, LOG, ctypes.byref(info),
                                                                                ctypes.sizeof(info)):
            return source
        from . import _divide
        return _divide.of_text(source) if codes is None else _divide.of_expression(source, info.result >= _c.FL_F32)

    @staticmethod
    def _create(on: Device, source: str, written: str, shown: str, codes: Any, count: int) -> ctypes.c_void_p:
        """C's function of a text, which is what the user has `written` or made of it."""
        handle, log = ctypes.c_void_p(), ctypes.create_string_buffer(LOG)
        status = _c.fl_function_create(on._handle or on._gone(), text("source", source), shown.encode(), codes, count, log, LOG, handle)
        if status == _c.FL_E_SOURCE and source != written:
            Vectorized._create(on, written, written, shown, codes, count)  # its error shows the user's text
            raise SourceError(f"{shown}: a division of integers by 0 cannot be made 0 here; write it as b ? a / b : 0, or divide real numbers", log.value.decode())
        if status:
            fail(status, log.value)
        return handle

    def _compile(self, on: Device, dtypes: Sequence[np.dtype[Any]]) -> Tuple[int, np.dtype[Any]]:
        """Compiles the function for a device and dtypes. SourceError, UnavailableError (no compiler), UnsupportedError."""
        key = (on, *[dtype.num for dtype in dtypes])
        with self._lock:
            if key in self._compiled:
                return self._compiled[key]
            codes: Any = (ctypes.c_int * len(dtypes))(*[CODE_OF_NUMBER[dtype.num] for dtype in dtypes])
            count, shown = len(dtypes), self.__name__ + ".c"
            if self._translation:
                source, codes, count = self._translation.c(dtypes), None, 0
            else:
                source, shown = str(self.source), "the function"
                if "{" in source:
                    codes, count = None, 0
            handle = self._create(on, source if self._translation else self._guarded(source, codes, count), source, shown, codes, count)
            info = _c.fl_function_describe(handle).contents
            wanted = [DTYPES[code] for code in info.inputs[:info.count]]
            if wanted != list(dtypes):
                _c.fl_function_free(handle)
                raise ArgumentError(f"the function takes ({', '.join(map(str, wanted))}), and ({', '.join(map(str, dtypes))}) are given; a.astype(...) converts")
            self._compiled[key] = found = handle.value or 0, DTYPES[info.result]
            return found


def vectorize(source: Any = None, *_: Any, **__: Any) -> Any:
    """A function that is computed for each element of arrays, on the device on which they are.

    source: an expression of C of x, y, z and w ("log(x + y)"), a text in C ("int prime(int n) { ... }"), or a function of Python, as a decorator, too. An
    integer divided by 0 is 0; what else a text in C does, it does in this process. Numba's signatures and keywords
    (`@flynn.vectorize(["int32(int32)"], target="cuda")`) are read over: dtypes and the device are those of the arrays. The call returns float32 or float64 for
    real numbers, the arguments' dtype for integers, uint8 for True and False. SourceError: what of a function of Python has no meaning in C, with its file
    and line.
    """
    if source is None or isinstance(source, (list, tuple)) or (isinstance(source, str) and SIGNATURE.fullmatch(source)):
        return Vectorized  # as a decorator
    return Vectorized(source)


# ------------------------------------------------------------------------------------------------------ kernels ----

class Checked(Dict[str, Any]):
    """What RawKernel.check found: the result of `flynn kernel --json`, which shows itself in one line."""

    def __repr__(self) -> str:
        how = ", ".join(f"{name} {'x'.join(map(str, self[name]))}" for name in ("grid", "block"))
        found = self["check"]
        result = f"right, {found['compared']} elements compared" if found["ok"] else "not checked: expect= names what is right"
        return f"<{self['kernel']} on {self['resource']}, {how}: {result}>"


class RawKernel:
    """A kernel in HIP's or CUDA's C++.

        k = flynn.RawKernel("__global__ void twice(float *a, int n) { ... }", "twice")
        k((4,), (256,), (a, 1000))          # as CuPy: grid, block, arguments
        k[4, 256](a, 1000)                  # as Numba
        k.check(4, 256, (x, 1000), expect="2 * x")

    source: the text; name: of the kernel (None: the last one); defines: macros, {"TILE": 16}. On a GPU a launch runs in this process. On the emulation
    (hip-cpu) it runs in a child process, which looks at each access and is ended after `limit_s` seconds: a race, an access beyond an array, a division by
    zero or an endless loop is a DeviceError, and this process lives on. unchecked: an emulation's launches run in this process, too. UnknownError: no kernel
    has the name; SourceError: the text has none, or cannot be read.
    """

    def __init__(self, source: str, name: Optional[str] = None, defines: Optional[Mapping[str, Any]] = None, limit_s: float = 10, unchecked: bool = False):
        self.source, self.name, self.limit_s, self.unchecked = source, name, real("limit_s", limit_s), unchecked
        if not 0 < self.limit_s <= 10 ** 6:
            raise ArgumentError(f"limit_s is {limit_s!r}; expected seconds above 0, up to 1000000")
        self.defines = {str(key): value for key, value in (defines or {}).items()}
        self._kernels: Dict[Device, int] = {}
        log = ctypes.create_string_buffer(LOG)
        info = _c.fl_kernel_info()
        status = _c.fl_kernel_read_sized(text("source", source), b"kernel.hip", None if name is None else text("name", name), log, LOG, ctypes.byref(info),
                                         ctypes.sizeof(info))
        if status == _c.FL_E_SOURCE and name is not None and name not in re.findall(r"\w+", source):
            status = _c.FL_E_UNKNOWN
        if status:
            fail(status, log.value)
        self.name = info.name.decode()
        self._written = info.written
        self._parameters = [(one.name.decode(), DTYPES[one.dtype], one.is_array) for one in info.parameters[:info.count]]

    def __repr__(self) -> str:
        parameters = ", ".join(f"{dtype}{' *' if is_array else ' '}{name}" for name, dtype, is_array in self._parameters)
        return f"<flynn.RawKernel {self.name}({parameters})>"

    def __del__(self, free: Callable[[Any], Any] = _c.fl_kernel_free) -> None:
        for device, handle in self.__dict__.get("_kernels", {}).items():
            if "forked" not in device._why:
                free(handle)

    def __getitem__(self, how: Any) -> Callable[..., None]:
        """Numba's k[grid, block], k[grid, block, stream, bytes of shared memory]."""
        if not isinstance(how, tuple) or not 2 <= len(how) <= 4:
            raise ArgumentError(f"kernel[{how!r}]; expected kernel[grid, block], and then a stream and bytes of shared memory")
        grid, block = how[:2]
        stream, shared = how[2] if len(how) > 2 else None, how[3] if len(how) > 3 else 0
        return lambda *arguments: self(grid, block, arguments, shared_mem=shared, stream=stream or None)

    def __call__(self, grid: Any, block: Any, arguments: Sequence[Any], *, shared_mem: int = 0, stream: Optional[Stream] = None, device: Where = None) -> None:
        """Launches the kernel. grid: blocks, block: threads of a block, each a number or up to 3 (x, y, z); arguments: an array of Flynn (or in memory that the
        device reaches) for each pointer, of its dtype and without gaps between rows, and a number for each other. Queued on a GPU. ArgumentError,
        WrongDeviceError, LimitError, SourceError, DeviceError."""
        blocks, threads = self._numbers("grid", grid), self._numbers("block", block)
        bytes_ = integer("shared_mem", shared_mem, 0)
        if not isinstance(arguments, (tuple, list)) or len(arguments) != len(self._parameters):
            raise ArgumentError(f"{self!r} takes {len(self._parameters)} arguments in a tuple; given: {arguments!r}" if not isinstance(arguments, (tuple, list)) else
                                f"{self!r} takes {len(self._parameters)} arguments, and {len(arguments)} are given")
        on = self._device(device, arguments)
        values = [self._argument(parameter, value, on) for parameter, value in zip(self._parameters, arguments)]
        if on.emulation and not self.unchecked:
            self._in_child(on, blocks, threads, bytes_, values)
        else:
            self._launch(on, blocks, threads, bytes_, values, stream)

    @staticmethod
    def _numbers(name: str, value: Any) -> Tuple[int, ...]:
        numbers = sizes(name, value, 2 ** 31 - 1)
        for i, number in enumerate(numbers):
            integer(f"{name}[{i}]" if len(numbers) > 1 else name, number, 1, 2 ** 31 - 1)
        return numbers

    def _device(self, device: Where, arguments: Sequence[Any]) -> Device:
        """The device of a launch: as of each call, but NumPy's arrays alone are to be copied to a GPU."""
        arrays = [x for x in arguments if isinstance(x, Array)] or [x for x in arguments if hasattr(x, "shape") and not isinstance(x, np.generic)]
        if device is None and all(isinstance(x, np.ndarray) for x in arrays):
            return default_gpu()
        return on_device(device, arrays)

    def _argument(self, parameter: Tuple[str, np.dtype[Any], bool], value: Any, on: Device) -> Any:
        name, dtype, is_array = parameter
        if is_array:
            array = take(name, value, on) if hasattr(value, "shape") else None
            if array is None:
                raise ArgumentError(f"{name} is {value!r}; expected an array of {dtype}")
            if array.dtype != dtype:
                self._wrong_dtype(name, array.dtype, dtype)
            if not array._writable and self._written >> [p[0] for p in self._parameters].index(name) & 1:
                raise ArgumentError(f"{name} is over read-only memory, and the kernel may write to it")
            return array
        if hasattr(value, "shape") and not isinstance(value, np.generic):
            raise ArgumentError(f"{name} is an array; expected a number")
        return real(name, value) if dtype.kind == "f" else integer(name, value, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))

    @staticmethod
    def _wrong_dtype(name: str, found: np.dtype[Any], expected: np.dtype[Any]) -> NoReturn:
        raise ArgumentError(f"{name} has dtype {found}; the kernel's is {expected}: {name}.astype('{expected}') converts it")

    def _compiled(self, on: Device) -> int:
        if on not in self._kernels:
            handle, log = ctypes.c_void_p(), ctypes.create_string_buffer(LOG)
            words = [f"{key}={value}".encode() for key, value in self.defines.items()] + [None]
            check_status = _c.fl_kernel_create(on._handle or on._gone(), text("source", self.source), b"kernel.hip", str(self.name).encode(),
                                               (ctypes.c_char_p * len(words))(*words), log, LOG, handle)
            if check_status:
                fail(check_status, log.value)
            self._kernels[on] = handle.value or 0
        return self._kernels[on]

    def _launch(self, on: Device, grid: Tuple[int, ...], block: Tuple[int, ...], shared: int, values: Sequence[Any], stream: Optional[Stream],
                watch: bool = False) -> Any:
        kernel, arguments = self._compiled(on), (_c.fl_argument * max(1, len(values)))()
        for argument, value in zip(arguments, values):
            if isinstance(value, Array):
                argument.array = value._handle
            elif isinstance(value, float):
                argument.real = value
            else:
                argument.integer = value
        if watch:
            check(_c.fl_kernel_watch(kernel, True))
        check(_c.fl_kernel_launch(kernel, INT64[3](*grid, *[1] * (3 - len(grid))), shared, arguments, len(values), run_of(None, block, stream, on)))
        return kernel

    # ------------------------------------------------------------------------------------- in another process ----

    def _in_child(self, on: Device, grid: Tuple[int, ...], block: Tuple[int, ...], shared: int, values: Sequence[Any]) -> None:
        """Runs a launch in a process of its own, and copies what the kernel wrote back into the arrays."""
        import tempfile  # here, as it takes a quarter of the time of `import flynn`
        with tempfile.TemporaryDirectory(prefix="flynn-") as folder:
            for i, value in enumerate(values):
                if isinstance(value, Array):
                    np.save(os.path.join(folder, f"{i}.npy"), value.numpy())
            job = {"source": self.source, "name": self.name, "defines": self.defines, "device": on.resource, "grid": grid, "block": block, "shared": shared, "limit_s": self.limit_s,
                   "values": [None if isinstance(value, Array) else value for value in values]}
            pathlib.Path(folder, "job.json").write_text(json.dumps(job), encoding="utf-8")
            done = self._child([sys.executable, "-c", "from flynn._code import serve; serve()", folder])
            if done.stdout:
                print(done.stdout, end="")
            try:
                found = json.loads(pathlib.Path(folder, "found.json").read_text(encoding="utf-8"))
            except OSError:
                raise DeviceError(f"the kernel {self.name} {_end_of(done.returncode)}") from None
            if found["error"]:
                kind = next((kind for kind in Error.__subclasses__() if kind.__name__ == found["class"]), Error)
                raise kind(found["error"])
            for i, value in enumerate(values):
                if isinstance(value, Array) and self._written >> i & 1:
                    host = np.load(os.path.join(folder, f"{i}.npy"))
                    check(_c.fl_array_write(value._handle, host.ctypes.data, None))
                    on.wait()

    def _child(self, command: List[str]) -> "subprocess.CompletedProcess[str]":
        """Runs a launch in another process. Its time is limited there, from the launch on: on a busy machine to start and to compile takes longer."""
        import signal
        import subprocess
        package = str(pathlib.Path(__file__).resolve().parents[1])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH")))), "FLYNN_LIBRARY": _library.LIBRARY._name}
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=self.limit_s + 120, env=environment, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise DeviceError(f"the process of the kernel {self.name} did not end within {self.limit_s + 120:g} s") from None
        if done.returncode == -signal.SIGALRM:
            raise self._endless(self.limit_s)
        return done

    def _endless(self, limit_s: float) -> DeviceError:
        return DeviceError(f"the kernel {self.name} did not end within {limit_s:g} s; does a loop never end? limit_s=... of flynn.RawKernel waits longer")

    def check(self, grid: Any, block: Any, arguments: Sequence[Any], *, expect: Any = None, shared_mem: int = 0, device: Where = None,
              rtol: Optional[float] = None, atol: Optional[float] = None) -> Checked:
        """Runs `flynn kernel` in a process of its own: several passes that must agree, guards beside the outputs, on hip-cpu a look at each access, and the
        result against `expect`. grid may be "auto".

        arguments: as of a launch, where NumPy's arrays are taken, too; none is changed. expect: an expression of the arrays that the kernel reads, in their
        order x, y, z, w ("x + y"), an array, or another RawKernel; of the first output. Returns the command's result as a dict, which shows itself in one
        line. Error: what is wrong, in the command's words; SourceError, ArgumentError; DeviceError: it did not end within limit_s; UnavailableError.
        """
        import tempfile
        if not isinstance(arguments, (tuple, list)) or len(arguments) != len(self._parameters):
            raise ArgumentError(f"{self!r} takes {len(self._parameters)} arguments in a tuple")
        on = None if device is None else open_device(device)
        arrays = [x for x in arguments if isinstance(x, Array)]
        on = on or (arrays[0].device if arrays else default_gpu())
        with tempfile.TemporaryDirectory(prefix="flynn-") as folder:
            path = pathlib.Path(folder)
            (path / "kernel.hip").write_text(self.source, encoding="utf-8")
            words = []
            for i, ((name, dtype, is_array), value) in enumerate(zip(self._parameters, arguments)):
                if is_array:
                    host = value.numpy() if isinstance(value, Array) else np.asarray(value)
                    dtype_code(name, host.dtype)
                    if host.dtype != dtype and (host.dtype == np.int64 or not np.can_cast(host.dtype, dtype)):
                        self._wrong_dtype(name, host.dtype, dtype)
                    np.save(path / f"{name}.npy", host)
                    words.append(("inout:" if self._written >> i & 1 else "") + f"{name}.npy")
                else:
                    words.append(repr(self._argument((name, dtype, False), value, on)))
            options = [f"--backend={on.resource}", f"--block={'x'.join(map(str, self._numbers('block', block)))}", f"--entry={self.name}", "--json=found.json",
                       "--quiet", f"--max-time={self.limit_s:g}", f"--shared={integer('shared_mem', shared_mem, 0)}",
                       f"--grid={'auto' if grid == 'auto' else 'x'.join(map(str, self._numbers('grid', grid)))}"]
            options += [f"--define={key}={value}" for key, value in self.defines.items()]
            options += [f"--{key}={real(key, value)!r}" for key, value in (("rtol", rtol), ("atol", atol)) if value is not None]
            if expect is not None:
                options.append("--expect=" + self._expected(expect, path))
            done = _run_command(["kernel", *options, "--", "kernel.hip", *words], folder, self.limit_s + 60)
            message = self._words(done.stderr)
            if done.returncode == 0:
                return Checked(json.loads((path / "found.json").read_text(encoding="utf-8"))["results"][0])
            if done.returncode == 2:
                raise (SourceError if message.startswith("kernel.hip:") else ArgumentError)(message)
            if done.returncode == 3:
                raise UnavailableError(message)
            if "--max-time" in message:
                raise self._endless(self.limit_s)
            raise (DeviceError if done.returncode == 4 or done.returncode < 0 else Error)(message or f"the kernel {self.name} {_end_of(done.returncode)}")

    def _words(self, said: str) -> str:
        """What the command says, in Python's words: on one line, but for a line of the source with its caret."""
        lines = [line.replace("flynn kernel: ", "", 1).rstrip() for line in said.splitlines() if line.strip()]
        message = "\n".join(lines) if any(re.fullmatch(r"\s*\^~*", line) for line in lines) else "; ".join(map(str.strip, lines))
        message = re.sub(r"--grid=([0-9x]+)", lambda found: f"grid=({found[1].replace('x', ', ')})", message)
        for theirs, ours in (("kernel own,", f"the kernel {self.name},"), ("--expect", "expect"), ("expected.npy", "the array"), ("--backend", "device")):
            message = message.replace(theirs, ours)
        return message

    @staticmethod
    def _expected(expect: Any, folder: pathlib.Path) -> str:
        if isinstance(expect, RawKernel):
            (folder / "expected.hip").write_text(expect.source, encoding="utf-8")
            return "expected.hip"
        if isinstance(expect, str):
            return expect
        np.save(folder / "expected.npy", expect.numpy() if isinstance(expect, Array) else np.asarray(expect))
        return "expected.npy"


def default_gpu() -> Device:
    """The GPU, or the emulation where there is none."""
    try:
        return open_device("hip")
    except (UnavailableError, UnknownError):
        return open_device("hip-cpu")


def _end_of(status: int) -> str:
    if status >= 0:
        return f"ended its process with exit code {status}"
    import signal
    names = {signal.SIGSEGV: "an access to memory that is not its own", signal.SIGBUS: "an access to memory that is not its own", signal.SIGFPE:
             "a division of integers by zero", signal.SIGABRT: "a call of abort"}
    return f"ended its process by {names.get(-status, signal.Signals(-status).name)}"  # type: ignore[call-overload]


def _run_command(words: Sequence[str], folder: str, limit_s: float) -> "subprocess.CompletedProcess[str]":
    import subprocess
    try:
        return subprocess.run([_library.command(), *words], cwd=folder, capture_output=True, text=True, errors="replace", timeout=limit_s, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise UnavailableError("the command flynn is not found: build it (make), or let FLYNN name it") from None
    except subprocess.TimeoutExpired:
        raise DeviceError(f"the command flynn {words[0]} did not end within {limit_s:g} s") from None


def serve() -> None:
    """The child of RawKernel: one watched launch, of the folder that is named on the command line."""
    folder = sys.argv[1]
    job = json.loads(pathlib.Path(folder, "job.json").read_text(encoding="utf-8"))
    found = {"class": "", "error": ""}
    try:
        on = open_device(job["device"])
        kernel = RawKernel(job["source"], job["name"], job["defines"])
        values = [on.array(np.load(os.path.join(folder, f"{i}.npy"))) if parameter[2] else value
                  for i, (parameter, value) in enumerate(zip(kernel._parameters, job["values"]))]
        kernel._compiled(on)
        import signal
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process
        signal.setitimer(signal.ITIMER_REAL, job["limit_s"])
        handle = kernel._launch(on, job["grid"], tuple(job["block"]), job["shared"], values, None, watch=True)
        on.wait()
        signal.setitimer(signal.ITIMER_REAL, 0)
        findings = _c.fl_kernel_found(handle)
        if findings:
            wrong = [one for one in findings.contents.list[:findings.contents.count] if one.kind < _c.FL_FOUND_REMARK]
            if wrong:
                found = {"class": "DeviceError", "error": "; ".join(one.text.decode() for one in wrong)}
        for i, value in enumerate(values):
            if isinstance(value, Array) and kernel._written >> i & 1:
                np.save(os.path.join(folder, f"{i}.npy"), value.numpy())
    except Error as error:
        found = {"class": type(error).__name__, "error": str(error)}
    pathlib.Path(folder, "found.json").write_text(json.dumps(found), encoding="utf-8")
