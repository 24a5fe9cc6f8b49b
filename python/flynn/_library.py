# SPDX-License-Identifier: MIT
"""Finds and loads libflynn and libflynn-bench."""
from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Iterator, Optional

VERSION = "0.2.0"
HERE = pathlib.Path(__file__).resolve().parent


def _folders() -> Iterator[Optional[pathlib.Path]]:
    """Where the library may be: beside the package (a wheel), in the build of the checkout, in the installation (PREFIX/lib/python3/dist-packages has the
    package then), where the loader looks (None)."""
    folders = [HERE / "lib", HERE.parents[1] / "build" / "lib"]
    if HERE.parent.name == "dist-packages":
        import sysconfig
        folders += [HERE.parents[2], HERE.parents[2] / str(sysconfig.get_config_var("MULTIARCH")), HERE.parents[2].parent / "lib64"]
    for folder in folders:
        if (folder / "libflynn.so.0").exists():
            yield folder
    yield None


def _load(path: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"flynn: {path} cannot be loaded ({error}); build it (make), install libflynn0, or let FLYNN_LIBRARY "
                          "name the file libflynn.so.0") from None


def _libraries() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    """libflynn and, from the same folder, libflynn-bench. ImportError: there is none, or it is of another version."""
    named = os.environ.get("FLYNN_LIBRARY")
    folder = pathlib.Path(named).resolve().parent if named else next(_folders())
    library = _load(named or str(folder / "libflynn.so.0" if folder else "libflynn.so.0"))
    try:
        library.fl_version.restype = ctypes.c_char_p
        found = library.fl_version().decode()
    except AttributeError:
        raise ImportError(f"flynn: {named} is not libflynn; let FLYNN_LIBRARY name the file libflynn.so.0") from None
    if found.split(".")[:2] != VERSION.split(".")[:2]:
        raise ImportError(f"flynn: this package is of version {VERSION}, the library {library._name} of {found}: install both from "
                          "one release")
    return library, _load(str(folder / "libflynn-bench.so.0" if folder else "libflynn-bench.so.0"))


LIBRARY, BENCH = _libraries()


def command() -> str:
    """The path of the command flynn that belongs to the library: FLYNN, beside the library, or from the PATH."""
    folder = pathlib.Path(LIBRARY._name).resolve().parent
    for path in (os.environ.get("FLYNN"), HERE / "bin" / "flynn", folder.parent / "bin" / "flynn", folder.parents[1] / "bin" / "flynn"):
        if path and os.access(path, os.X_OK):
            return str(path)
    return "flynn"
