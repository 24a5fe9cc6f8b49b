# SPDX-License-Identifier: MIT
"""flynn.time, the command as python -m flynn, and the magics of notebooks."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import flynn
from flynn import _c, _library
from conftest import values

SOURCE = pathlib.Path(__file__).resolve().parents[2]
KEYS = {"device", "flynn_class", "hardware", "emulation", "variant", "open_s", "cold_s", "h2d_s", "kernel_s", "d2h_s", "total_s", "call_s", "n", "noise", "spread", "interval_s",
        "speed_up", "speed_up_with_copies", "check", "message"}


def test_all_devices():
    x = values("float32", 1 << 14, special=False)
    before = x.copy()
    rows = flynn.time(flynn.sort, x, repeat=6, wrong_timing=True)
    assert (x == before).all()
    assert [row["device"].split(":")[0] for row in rows][:3] == ["serial", "simd", "omp"]
    for row in rows:
        assert set(row) == KEYS and row["check"] == "ok" and not row["message"] and row["n"] == 6
        assert 0 < row["kernel_s"] and 0 < row["total_s"] and row["open_s"] > 0 and row["cold_s"] > 0 and row["call_s"] > 0 and row["variant"]
        assert (row["h2d_s"], row["d2h_s"]) == (0, 0) if row["flynn_class"] != "SIMT" else min(row["h2d_s"], row["d2h_s"]) > 0
        assert (row["speed_up"] is None) == row["emulation"] and row["interval_s"][0] <= row["total_s"] <= row["interval_s"][1]
    assert rows[0]["speed_up"] == rows[0]["speed_up_with_copies"] == 1
    text, page = str(rows), rows._repr_html_()
    for word in ("device", "open", "cold", "h2d", "kernel", "d2h", "total", "call", "spread", "speed-up", "with copies", "check", "sort", "serial", "SISD"):
        assert word in text and word in page
    assert re.search(r"\d&nbsp;[mun]s</td>", page) and not re.search(r"\d [mun]s</td>", page)  # no line breaks before a unit
    if rows[-1]["emulation"]:
        assert "(emulation)" in text and "an emulation's times say nothing about a GPU's" in text and "an emulation&#x27;s times" in page


def test_the_kernel_is_the_operations_alone():
    def slow(a):
        time.sleep(0.002)
        return flynn.increment(flynn.increment(a))

    row, = flynn.time(slow, np.zeros(8), devices="serial", repeat=5)
    assert row["total_s"] >= 0.002 > 100 * row["kernel_s"] and row["check"] == "not checked"


def test_a_pass_leaves_the_caches_to_the_next_one(monkeypatch):
    """Results get the memory of those before them, and inputs that do not change are not written again: a kernel of 4 MiB took half as long again."""
    places, written = set(), []
    monkeypatch.setattr(_c, "fl_array_write", lambda *arguments, write=_c.fl_array_write: written.append(1) or write(*arguments))

    def root(a):
        result = flynn.sqrt(a)
        places.add(result.__array_interface__["data"][0])
        return result

    row, = flynn.time(root, np.ones(1 << 16), devices="simd", repeat=50)
    assert row["n"] == 50 and len(places) <= 3 and not written, (places, len(written))
    flynn.time(lambda a: flynn.increment(a, out=a), np.ones(8), devices="simd", repeat=5)
    assert len(written) >= 5


def test_the_kernel_takes_what_the_commands_takes(tmp_path):
    x = np.random.default_rng(1).random(1 << 20).astype("float32")
    np.save(tmp_path / "x.npy", x)
    ratios = []
    while len(ratios) < 5 and not (ratios and 0.85 < ratios[-1] < 1.15):  # on a busy machine not each time
        done = subprocess.run([_library.command(), "sqrt", "x.npy", "--backend=simd", "--json", "--min-time=0.1"], capture_output=True, text=True, check=True, cwd=tmp_path)
        ratios.append(flynn.time(flynn.sqrt, x, devices="simd", min_time_s=0.1)[0]["kernel_s"] / json.loads(done.stdout)["results"][0]["kernel_s"])
    assert 0.85 < ratios[-1] < 1.15, ratios


def test_inputs_that_the_function_changes(emulation):
    def course(a):
        return flynn.select(flynn.increment(a, out=a))

    x = np.array([-1.0, 0, 1, -1])
    rows = flynn.time(course, x, devices=["serial", "hip-cpu"], repeat=4)
    assert [row["check"] for row in rows] == ["ok", "ok"] and x.tolist() == [-1, 0, 1, -1]
    seen = []
    flynn.time(lambda a: seen.append(a.numpy().tolist()) or flynn.increment(a, out=a), x, devices="hip-cpu", repeat=4)
    assert all(one == x.tolist() for one in seen) and len(seen) >= 5


def test_a_function_without_arrays_runs_on_the_device_that_is_timed(emulation):
    rows = flynn.time(flynn.primes, 100, devices=["serial", "simd", emulation], repeat=3)
    assert [row["check"] for row in rows] == ["ok"] * 3 and [row["h2d_s"] == 0 for row in rows] == [True, True, False]


def test_a_wrong_result_is_said():
    calls = iter(range(10 ** 6))
    rows = flynn.time(lambda a: a.device.array([float(next(calls))]), np.zeros(2), devices=["serial", "simd"], repeat=3)
    assert [row["check"] for row in rows] == ["ok", "WRONG"]


def test_exceptions_are_raised_again():
    class Mine(Exception):
        pass

    def fails_late(a, calls=[]):  # noqa: B006
        calls.append(1)
        if len(calls) > 3:
            raise Mine("mine")
        return flynn.sort(a)

    for error, function in ((Mine, fails_late), (KeyboardInterrupt, lambda a: (_ for _ in ()).throw(KeyboardInterrupt)), (flynn.ArgumentError, lambda a: flynn.sort(a, block="x"))):
        with pytest.raises(error):
            flynn.time(function, np.zeros(3), devices=["serial", "simd"])
    assert flynn.sort(flynn.array([2.0, 1.0], device="serial")).numpy().tolist() == [1, 2], "the place of timings is left"
    for wrong, words in ((lambda: flynn.time(3), "function is 3"), (lambda: flynn.time(flynn.sort, np.zeros(3), repeat=2 ** 40), "repeat is"),
                         (lambda: flynn.time(flynn.sort, np.zeros(3), repeat="x"), "repeat is 'x'"), (lambda: flynn.time(flynn.sort, np.zeros(3), min_time_s="x"), "min_time_s"),
                         (lambda: flynn.time(flynn.sort, np.zeros(3), min_time_s=-1), "min_time_s"), (lambda: flynn.time(flynn.sort, np.zeros(3), devices=[]), "devices is empty")):
        with pytest.raises(flynn.ArgumentError) as caught:
            wrong()
        assert words in str(caught.value) and "fl_" not in str(caught.value)


def test_a_device_that_cannot_has_a_row(emulation):
    def own(a):
        flynn.RawKernel("__global__ void f(double *a) { a[0] = 7; }", unchecked=True)(1, 1, (a,))
        return a

    first, second = flynn.time(own, np.zeros(2), devices=["hip-cpu", "serial"], repeat=3)
    assert second["total_s"] is None and second["check"] == "-" and second["message"] and second["device"] in str(flynn.Times([first, second]))


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    rows = flynn.time(flynn.sqrt, np.ones(1000), devices=["serial", "simd"], repeat=3)
    axes = rows.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [row["device"] for row in rows] and axes.get_xlabel() == "ms"
    assert len(axes.patches) == 8
    rows.append({**rows[0], "device": "hip-cpu:0", "emulation": True, "total_s": 100 * rows[0]["total_s"]})
    slow = rows.plot()
    assert slow.get_xlim()[1] < 1100 * max(row["total_s"] for row in rows[:2])
    assert flynn._time.show_time(rows[-1]["total_s"]) in slow.texts[0].get_text() and not axes.texts


def test_the_command():
    done = subprocess.run([sys.executable, "-m", "flynn", "sort", "--size=1k", "--backend=serial"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": f"{SOURCE / 'python'}:{os.environ.get('PYTHONPATH', '')}"})
    assert done.returncode == 0 and done.stdout.startswith("sort: 1000 f32"), done
    done = subprocess.run([sys.executable, "-m", "flynn", "nosuch"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": f"{SOURCE / 'python'}:{os.environ.get('PYTHONPATH', '')}"})
    assert done.returncode == 2 and "nosuch" in done.stderr


def test_magics(capsys, emulation):
    from flynn._notebook import magic
    x = np.array([3.0, 1, 2])
    rows = magic("sort $x --backend=serial,simd", None, {"x": x})
    assert [row["device"].split(":")[0] for row in rows] == ["serial", "simd"] and all(row["check"] == "ok" for row in rows) and "sort x.npy" in rows.title
    assert magic("sort $a --backend=serial", None, {"a": emulation.array(x)})[0]["shape"] == [3]
    cell = (SOURCE / "docs/kernels/vector_add.hip").read_text(encoding="utf-8")
    rows = magic("kernel 0:1000 0:1000 out 1000 --expect='x + y' --backend=hip-cpu", cell, {})
    assert rows[0]["check"] == "ok" and rows[0]["emulation"] and rows[0]["speed_up"] is None and "(emulation)" in str(rows)
    capsys.readouterr()
    rows = magic("kernel 0:1000 0:1000 out 1000 --expect='x - y' --backend=hip-cpu", cell, {})
    assert rows[0]["check"] == "WRONG" and "wrong" in capsys.readouterr().err
    assert magic("help roofline", None, {}) is None and "roofline" in capsys.readouterr().out
    for line, words in (("sort --size=x", "size"), ("nosuch", "nosuch"), ("sort $nosuch", "$nosuch"), ("", "%flynn needs")):
        with pytest.raises(flynn.Error) as caught:
            magic(line, None, {})
        assert words in str(caught.value)


def test_magics_in_ipython(emulation):
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    shell.run_line_magic("load_ext", "flynn")
    shell.user_ns["x"] = np.array([2.0, 1.0])
    assert shell.run_line_magic("flynn", "sort $x --backend=serial")[0]["check"] == "ok"
    assert shell.run_cell("%flynn sort $x --backend=serial").result[0]["shape"] == [2]
    assert shell.run_cell_magic("flynn", "kernel inout:0:4 --backend=hip-cpu --expect='2 * x'", "__global__ void f(float *a) { a[threadIdx.x] *= 2; }\n")


def test_what_python_adds_to_a_call():
    """Ratios within one run, the least of many, with twice the room that an idle machine needs."""
    import timeit
    device = flynn.device("serial")
    x = np.arange(8.0)
    a, plus = device.array(x), flynn.vectorize("x + 1")
    calls = {"numpy": lambda: np.add(x, 1, out=x), "in place": lambda: flynn.increment(a, out=a), "new": lambda: flynn.increment(a),
             "of numpy": lambda: flynn.increment(x, device=device), "vectorize": lambda: plus(a)}
    least = dict.fromkeys(calls, np.inf)
    for _ in range(15):
        for name, call in calls.items():
            least[name] = min(least[name], timeit.timeit(call, timer=time.process_time, number=500))
    for name, most in {"in place": 2, "new": 5, "of numpy": 9, "vectorize": 8}.items():
        assert least[name] < 2 * most * least["numpy"], (name, least)


def test_what_import_takes(tmp_path):
    """By processor time, with bytecode that is kept, and twice the room."""
    code = "import time; a = time.process_time(); import numpy; b = time.process_time(); import flynn; print(time.process_time() - b, b - a)"
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE / 'python'}:{os.environ.get('PYTHONPATH', '')}", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    taken = [[float(number) for number in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout.split()] for _ in range(4)]
    assert min(flynns for flynns, _ in taken[1:]) < 2 * 0.4 * min(numpys for _, numpys in taken[1:]), taken
