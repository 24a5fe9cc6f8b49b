# SPDX-License-Identifier: MIT
"""libflynn-bench from Python by ctypes: a case is a prefix of the struct in flynn/bench.h, with its size.

A row of fl_bench_json is what docs/schema says (with Debian's python3-jsonschema), and the command reads it.

For ctest: FLYNN_LIBRARY names libflynn, FLYNN_BENCH_LIBRARY libflynn-bench, FLYNN the command, FLYNN_SOURCE the source
folder. Exits with 1 at the first thing that is wrong.
"""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

try:
    import jsonschema
except ImportError:
    jsonschema = None

flynn = ctypes.CDLL(os.environ["FLYNN_LIBRARY"], mode=ctypes.RTLD_GLOBAL)
bench = ctypes.CDLL(os.environ["FLYNN_BENCH_LIBRARY"])
flynn.fl_last_error.restype = ctypes.c_char_p
bench.fl_bench_json.restype = bench.fl_bench_table.restype = bench.fl_bench_count.restype = ctypes.c_size_t

Call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
OK, ARGUMENT, UNSUPPORTED, LIMIT = 0, 1, 4, 6
TOTAL = 3


class Plan(ctypes.Structure):
    """Only the first members: the others are 0."""
    _fields_ = [("repeat", ctypes.c_int), ("fewest", ctypes.c_int), ("warmup", ctypes.c_int), ("rounds", ctypes.c_int)]


class Case(ctypes.Structure):
    """Up to `call`."""
    _fields_ = [("name", ctypes.c_char_p), ("device", ctypes.c_void_p), ("variant", ctypes.c_char_p),
                ("block", ctypes.c_int * 3), ("by", ctypes.c_int), ("call", Call)]


class Result(ctypes.Structure):
    """The texts."""
    _fields_ = [("name", ctypes.c_char_p), ("resource", ctypes.c_char_p), ("message", ctypes.c_char_p)]


class LaterPlan(ctypes.Structure):
    """A newer header's, with a member that this library does not know."""
    _fields_ = [("known", ctypes.c_char * 512), ("later", ctypes.c_int)]


def create(plan):
    made = ctypes.c_void_p()
    status = bench.fl_bench_create_sized(ctypes.byref(plan) if plan else None, ctypes.c_size_t(ctypes.sizeof(plan) if plan else 0),
                                         ctypes.byref(made))
    return status, made


def add(made, case):
    assert bench.fl_bench_add_sized(made, ctypes.byref(case), ctypes.c_size_t(ctypes.sizeof(case))) == OK, flynn.fl_last_error()


def row(made, i):
    text = ctypes.create_string_buffer(100000)
    assert bench.fl_bench_json(made, ctypes.c_size_t(i), text, ctypes.c_size_t(len(text))) < len(text)
    return json.loads(text.value)


class Array(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("ndim", ctypes.c_int), ("shape", ctypes.c_int64 * 4), ("source", ctypes.c_void_p),
                ("to", ctypes.c_void_p)]


class ArrayCall(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("device", ctypes.c_void_p), ("variant", ctypes.c_char_p), ("block", ctypes.c_int * 3),
                ("count", ctypes.c_int), ("call", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
                ("user", ctypes.c_void_p), ("arrays", ctypes.POINTER(Array)),
                ("check", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_bool)))]


def command(*words):
    done = subprocess.run([os.environ["FLYNN"], *words], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done.stdout


def rows_are_documents():
    given, result = (ctypes.c_float * 6)(3, 1, 2, 6, 5, 4), (ctypes.c_float * 6)()
    arrays = (Array * 2)(Array(3, 2, (2, 3), ctypes.addressof(given), None), Array(3, 2, (2, 3), None, ctypes.addressof(result)))

    def copy(user, there, run):
        result[:] = given[:]
        return OK

    def check(user, right):
        right[0] = list(result) == list(given)
        return OK

    call = ArrayCall(name=b"increment", count=2, arrays=arrays)
    call.call, call.check = dict(ArrayCall._fields_)["call"](copy), dict(ArrayCall._fields_)["check"](check)
    status, made = create(Plan(repeat=8))
    assert status == OK
    assert bench.fl_bench_add_call_sized(made, ctypes.byref(call), ctypes.c_size_t(ctypes.sizeof(call)),
                                         ctypes.c_size_t(ctypes.sizeof(Array))) == OK, flynn.fl_last_error()
    unchecked = Case(name=b"not Flynn's", call=Call(lambda user, run: OK))
    add(made, unchecked)
    assert bench.fl_bench_run(made) == OK, flynn.fl_last_error()
    rows = [row(made, 0), row(made, 1)]
    bench.fl_bench_free(made)
    assert rows[0]["shape"] == [2, 3] and rows[0]["dtype"] == "f32" and rows[0]["input_shapes"] == [[2, 3]]
    assert rows[0]["check"] == {"ok": True} and rows[1]["check"] == {"ok": None} and rows[1]["shape"] is None
    document = {"schema": "flynn/2", "machine": {}, "results": rows, "skipped": []}
    if jsonschema:
        schema = json.loads((pathlib.Path(os.environ["FLYNN_SOURCE"]) / "docs/schema/flynn-2.schema.json").read_text(encoding="utf-8"))
        row_schema = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": "#/$defs/timed"}
        for each in rows:
            jsonschema.validate(each, row_schema)
        listed = {"$schema": schema["$schema"], "$defs": schema["$defs"], **schema["dependentSchemas"]["results"]["properties"]["results"]}
        jsonschema.validate(rows, listed)
        for wrong in ({**rows[0], "kernel_s": -1}, {**rows[0], "schema": "flynn/1"}, {**rows[0], "more": 0}):
            try:
                jsonschema.validate([wrong], listed)
            except jsonschema.ValidationError:
                continue
            raise AssertionError("the schema takes a wrong row")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        compared = command("compare", "--against=" + path, path)
        assert "increment" in compared and "host" in compared and "only in" not in compared.split("\n")[0], compared
        assert not any(line.startswith("only in the newer run: increment") for line in compared.split("\n")), compared
        if shutil.which("gnuplot"):  # which draws the page's plots
            command("report", path, "-o", os.path.join(folder, "page.html"))
            page = pathlib.Path(folder, "page.html").read_text(encoding="utf-8")
            assert "not Flynn&#39;s" in page or "not Flynn's" in page


def times_a_function_of_python():
    calls = []

    def work(user, run):
        calls.append(run)
        time.sleep(2e-3)
        return OK

    device = ctypes.c_void_p()
    assert flynn.fl_device_open(b"serial", ctypes.byref(device)) == OK
    status, made = create(Plan(repeat=7, warmup=-1, rounds=1))
    assert status == OK
    on_host, on_device = (Case(name=name, device=on, call=Call(work)) for name, on in ((b"host", None), (b"device", device)))
    add(made, on_host)
    add(made, on_device)
    assert bench.fl_bench_count(made) == 2
    assert bench.fl_bench_run(made) == OK, flynn.fl_last_error()
    assert len(calls) == 2 * (1 + 1 + 7), len(calls)  # the first pass, and the one that finds `launches`
    samples, count = ctypes.POINTER(ctypes.c_double)(), ctypes.c_int()
    for i, resource in enumerate(("host", "serial")):
        assert bench.fl_bench_samples(made, ctypes.c_size_t(i), TOTAL, ctypes.byref(samples), ctypes.byref(count)) == OK
        found = row(made, i)
        assert found["schema"] == "flynn/2" and found["resource"] == resource and found["check"] == {"ok": None}
        assert found["times_s"]["total"] == samples[:count.value] and count.value == 7
        assert all(2e-3 <= kernel <= total for kernel, total in zip(found["times_s"]["kernel"], found["times_s"]["total"]))
    result = Result(name=b"?", resource=b"?", message=b"?")
    assert bench.fl_bench_result_sized(made, ctypes.c_size_t(1), ctypes.byref(result), ctypes.c_size_t(ctypes.sizeof(result))) == OK
    assert (result.name, result.resource, result.message) == (b"device", b"serial", b"")
    bench.fl_bench_free(made)
    flynn.fl_device_close(device)


def fails():
    status, made = create(None)
    assert status == OK
    case = Case(name=b"fails", call=Call(lambda user, run: flynn.fl_set_error(LIMIT, b"told by Python")))
    add(made, case)
    assert bench.fl_bench_run(made) == LIMIT and flynn.fl_last_error() == b"told by Python"
    assert row(made, 0)["message"] == "told by Python" and row(made, 0)["kernel_s"] is None
    bench.fl_bench_free(made)
    assert create(Plan(repeat=-1))[0] == ARGUMENT
    later = LaterPlan()
    status, made = create(later)
    assert status == OK, "new members that are 0 ask for nothing"
    bench.fl_bench_free(made)
    later.later = 1
    assert create(later)[0] == UNSUPPORTED


times_a_function_of_python()
fails()
rows_are_documents()
print("Python times its own functions by libflynn-bench, on the host and on serial")
