# SPDX-License-Identifier: MIT
"""%flynn and %%flynn of IPython and Jupyter: %load_ext flynn, then the words of the command.

    %flynn sort --backend=all               the command's table
    %flynn sort $x                          of an array of the notebook
    %%flynn kernel 0:1000 0:1000 out 1000 --expect='x + y'
    __global__ void vector_add(...) { ... }
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import sys
import tempfile
import types
from typing import Any, Dict, List, Optional

import numpy as np

from ._array import Array
from ._code import _run_command
from ._errors import ArgumentError, Error
from ._time import Times, speed_ups

MOST_S = 24 * 3600
OWN_OUTPUT = ("--json", "--csv", "--help", "--output", "--show", "--picture", "--version", "--registers", "--lanes")


def _table(document: Dict[str, Any], title: str) -> Times:
    """The command's results as flynn.time has them."""
    rows = Times()
    for one in document["results"]:
        ok = (one.get("check") or {}).get("ok")
        rows.append({**one, "device": one["resource"], "h2d_s": one.get("h2d_s"), "d2h_s": one.get("d2h_s"), "noise": one.get("disturbed") or "", "message": "",
                     "spread": one.get("spread"), "interval_s": one.get("total_interval_s") or None,
                     "check": "ok" if ok else "not checked" if ok is None else "WRONG"})
        rows[-1].setdefault("kernel_s", None)
    speed_ups(rows)
    rows.title = title
    return rows


def _words(line: str, variables: Dict[str, Any], folder: pathlib.Path) -> List[str]:
    """The words of a line; $name is a file with that array of the notebook."""
    words = []
    for word in shlex.split(line):
        name = re.fullmatch(r"(inout:)?\$(\w+)", word)
        if name:
            if name[2] not in variables:
                raise ArgumentError(f"${name[2]}: the notebook has no variable of that name")
            value = variables[name[2]]
            np.save(folder / f"{name[2]}.npy", value.numpy() if isinstance(value, Array) else np.asarray(value))
            word = f"{name[1] or ''}{folder / name[2]}.npy"
        words.append(word)
    return words


def magic(line: str, cell: Optional[str], variables: Dict[str, Any]) -> Optional[Times]:
    """Runs the command. Returns its table; prints what it says besides. Error: the command failed; UnavailableError: it is not found."""
    with tempfile.TemporaryDirectory(prefix="flynn-") as name:
        folder = pathlib.Path(name)
        words = _words(line, variables, folder)
        if not words:
            raise ArgumentError("%flynn needs the words of a command, such as %flynn sort --backend=all; %flynn help lists them")
        if cell is not None:
            (folder / "cell.hip").write_text(cell, encoding="utf-8")
            words.insert(1, str(folder / "cell.hip") if words[0] == "kernel" else cell)
        known = _run_command(["--exercises"], ".", MOST_S).stdout.split() + ["compare"]
        as_table = words[0] in known and not any(word in ("-h", "-o", "-v") or word.startswith(OWN_OUTPUT) for word in words)
        done = _run_command([words[0], *(["--json"] if as_table else []), *words[1:]], ".", MOST_S)
        remarks = done.stderr.replace(f"{folder}/", "")
        if done.returncode > 1 or (done.returncode and not done.stdout):
            raise Error(remarks.strip() or f"flynn {words[0]} ended with exit code {done.returncode}")
        print(remarks, end="", file=sys.stderr)
        if as_table:
            return _table(json.loads(done.stdout), " ".join(["flynn", *words]).replace(f"{folder}/", ""))
        print(done.stdout, end="")
        return None


def show_error(shell: Any, kind: Any, error: BaseException, trace: Optional[types.TracebackType], tb_offset: Optional[int] = None) -> None:
    """Shows an error. One of Flynn's ends with the user's own line, without the calls inside of Flynn, and inside of other libraries on the way there."""
    last, own, one = trace, trace, trace
    while one:
        file = one.tb_frame.f_code.co_filename
        if not (file.startswith((os.path.dirname(__file__), "<__array_function__")) or "-packages/" in file):
            own = one
        last, one = one, one.tb_next
    if last and own and last.tb_frame.f_code.co_filename.startswith(os.path.dirname(__file__)):
        own.tb_next = None
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def load(ipython: Any) -> None:
    """For %load_ext flynn."""
    from IPython.core.magic import no_var_expand

    @no_var_expand  # type: ignore[misc]
    def flynn(line: str, cell: Optional[str] = None) -> Optional[Times]:
        return magic(line, cell, ipython.user_ns)

    flynn.__doc__ = __doc__
    ipython.register_magic_function(flynn, "line_cell", "flynn")
    ipython.set_custom_exc((Exception,), show_error)
