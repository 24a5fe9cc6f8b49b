# SPDX-License-Identifier: MIT
"""_c.py is what generate.py makes of the headers, agrees with a C compiler, and each function of C has its use in Python."""
import ast
import ctypes
import os
import pathlib
import subprocess
import sys

import pytest

import flynn
from flynn import _c, _library

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEADERS = [SOURCE / "core/include/flynn" / name for name in ("flynn.h", "bench.h")]


# What Python does without, and why.
LEFT_OUT = {
    "fl_status_name": "Python's classes of errors have the names",
    "fl_dtype_size": "numpy.dtype.itemsize", "fl_dtype_name": "numpy.dtype.name", "fl_dtype_parse": "numpy.dtype(name)",
    "fl_dtype_is_float": "numpy.dtype.kind",
    "fl_dtype_float_result": "_operations.float_result says the same, and a test compares them",
    "fl_dtype_result": "_operations.result says the same, and a test compares them",
    "fl_backend_find": "flynn.device(name) opens it",
    "fl_cache_folder": "flynn doctor --long shows it", "fl_cache_describe": "flynn doctor --long shows it",
    "fl_event_create": "flynn.time times by events", "fl_event_free": "flynn.time", "fl_event_record": "flynn.time", "fl_event_wait": "flynn.time",
    "fl_event_elapsed": "flynn.time", "fl_stream_wait_event": "there are no events",
    "fl_graph_begin": "a graph does not keep the arrays that it uses", "fl_graph_end": "fl_graph_begin", "fl_graph_run": "fl_graph_begin", "fl_graph_launches": "fl_graph_begin",
    "fl_graph_free": "fl_graph_begin",
    "fl_array_device": "Array.device",
    "fl_array_size": "Array.size",
    "fl_trace_start": "the command's --trace", "fl_trace_stop": "the command's --trace", "fl_trace_begin": "the command's --trace",
    "fl_trace_end": "the command's --trace",
    "fl_convolve_window": "for the shares of several processes", "fl_convolve1d_window": "for the shares of several processes",
    "fl_copy_array": "for `flynn ceiling`", "fl_multiply_add": "for `flynn ceiling`",
    "fl_function_lanes": "flynn map --lanes shows it",
    "fl_kernel_constant": "the command's --constant; RawKernel's defines have constants of the text",
    "fl_kernel_describe": "fl_kernel_read_sized says the same before a compiler runs",
    "fl_bench_join_sized": "for several processes", "fl_bench_add_call_sized": "flynn.time has arrays of its own",
    "fl_bench_count": "flynn.time counts its cases",
    "fl_bench_table": "flynn.time's table has speed-ups, too",
    "fl_bench_samples": "fl_bench_json has the samples",
    "fl_bench_gpu_sized": "Python has no name for a GPU's clock and temperature yet",
}


def test_the_interface_is_that_of_the_headers():
    made = subprocess.run([sys.executable, SOURCE / "python/generate.py", *HEADERS], capture_output=True, text=True, check=True).stdout
    assert made == (SOURCE / "python/flynn/_c.py").read_text(encoding="utf-8"), "run python/generate.py again"


@pytest.mark.parametrize("line", ["FL_API fl_status fl_new(fl_array **);", "typedef union fl_new { int a; } fl_new;", "#define FL_NEW \"text\"",
                                  "FL_API fl_status fl_new(long double x);", "#if FL_NEW", "typedef struct fl_new { int bits : 3; } fl_new;"])
def test_what_cannot_be_read_is_an_error(line, tmp_path):
    header = HEADERS[0].read_text(encoding="utf-8")
    mark = "typedef enum fl_mode"
    (tmp_path / "flynn.h").write_text(header.replace(mark, line + "\n" + mark), encoding="utf-8")
    made = subprocess.run([sys.executable, SOURCE / "python/generate.py", tmp_path / "flynn.h"], capture_output=True, text=True)
    assert made.returncode == 1 and made.stderr.startswith("generate.py: flynn.h: cannot read ") and not made.stdout


def structs():
    return {name: kind for name, kind in vars(_c).items() if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and name.startswith("fl_")}


def members_of(kind):
    """The names that C has; a union without a name has none."""
    hidden = {name: one for name, one in kind._fields_ if name in getattr(kind, "_anonymous_", ())}
    return [name for member, *_ in kind._fields_ for name in (members_of(hidden[member]) if member in hidden else [member])]


def test_sizes_and_offsets_are_those_of_a_c_compiler(tmp_path):
    lines, expected = [], []
    for name, kind in structs().items():
        of_c = "__typeof__(((fl_probe *)0)->isa[0])" if name == "fl_probe_isa" else name
        lines.append(f'printf("{name} %zu\\n", sizeof({of_c}));')
        expected.append(f"{name} {ctypes.sizeof(kind)}")
        for member in members_of(kind):
            lines.append(f'printf("{name}.{member} %zu %zu\\n", offsetof({of_c}, {member}), sizeof((({of_c} *)0)->{member}));')
            expected.append(f"{name}.{member} {getattr(kind, member).offset} {getattr(kind, member).size}")
    for name, value in vars(_c).items():
        if name.startswith("FL_"):
            lines.append(f'printf("{name} %lld\\n", (long long)({name}));')
            expected.append(f"{name} {value}")
    program = tmp_path / "sizes.c"
    program.write_text("#include <flynn/bench.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n", encoding="utf-8")
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", f"-I{SOURCE / 'core/include'}", program, "-o", tmp_path / "sizes"], check=True)
    assert subprocess.run([tmp_path / "sizes"], capture_output=True, text=True, check=True).stdout.splitlines() == expected
    assert len(expected) > 200


def functions():
    return {name for name in vars(_c) if name.startswith("fl_") and not isinstance(getattr(_c, name), type)}


def test_each_function_of_c_has_a_use_or_a_reason():
    used = set()
    for path in (SOURCE / "python/flynn").glob("*.py"):
        if path.name != "_c.py":
            used |= {node.attr for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Attribute)}
    assert functions() - used == set(LEFT_OUT)
    assert all(LEFT_OUT.values()) and len(functions()) > 100


def test_the_functions_are_in_the_libraries():
    for name in functions():
        assert getattr(_c, name).argtypes is not None


def test_version():
    assert _library.VERSION == f"{_c.FL_VERSION_MAJOR}.{_c.FL_VERSION_MINOR}.{_c.FL_VERSION_PATCH}"


def test_files_parse_with_the_grammar_of_python_3_9():
    for path in [*(SOURCE / "python").rglob("*.py"), *(SOURCE / "tests/python").glob("*.py")]:
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


def test_types(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", f"--cache-dir={tmp_path}", SOURCE / "tests/python/every_name.py",
                           SOURCE / "python/flynn"], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(SOURCE / "python")})
    assert done.returncode == 0, done.stdout
    program = (SOURCE / "tests/python/every_name.py").read_text(encoding="utf-8")
    assert not [name for name in flynn.__all__ if f"flynn.{name}" not in program]
    exec(compile(program, "every_name.py", "exec"), {})


def python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": f"{SOURCE / 'python'}:{os.environ.get('PYTHONPATH', '')}", **environment})


def test_no_library_says_how_to_get_one(tmp_path):
    done = python("import flynn", FLYNN_LIBRARY=str(tmp_path / "libflynn.so.0"))
    assert "ImportError" in done.stderr and "make" in done.stderr and "FLYNN_LIBRARY" in done.stderr and "libflynn0" in done.stderr


def test_another_library_and_another_version(tmp_path):
    source = tmp_path / "other.c"
    source.write_text('const char *fl_version(void) { return "7.1.0"; }\n', encoding="utf-8")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", source, "-o", tmp_path / "libflynn.so.0"], check=True)
    done = python("import flynn", FLYNN_LIBRARY=str(tmp_path / "libflynn.so.0"))
    assert "ImportError" in done.stderr and "7.1.0" in done.stderr and _library.VERSION in done.stderr
    source.write_text("int nothing;\n", encoding="utf-8")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", source, "-o", tmp_path / "libother.so"], check=True)
    done = python("import flynn", FLYNN_LIBRARY=str(tmp_path / "libother.so"))
    assert "ImportError" in done.stderr and "is not libflynn" in done.stderr
