# SPDX-License-Identifier: MIT
"""libflynn-bench from Python by ctypes: a case is a prefix of the struct in flynn/bench.h, with its size.

For ctest: FLYNN_LIBRARY names libflynn, FLYNN_BENCH_LIBRARY libflynn-bench. Exits with 1 at the first thing that is wrong.
"""
import ctypes
import json
import os
import time

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
        assert found["schema"] == "flynn/2" and found["resource"] == resource and found["check"] is None
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
print("Python times its own functions by libflynn-bench, on the host and on serial")
