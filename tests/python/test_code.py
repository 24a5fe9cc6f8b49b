# SPDX-License-Identifier: MIT
"""The user's own code: vectorize against NumPy on every device, and kernels, right and wrong, that leave this process alive."""
import math
import os
import pathlib
import re

import numpy as np
import pytest

import flynn
from conftest import DTYPES, equal, values

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "docs/kernels"
VECTOR_ADD = (KERNELS / "vector_add.hip").read_text(encoding="utf-8")
OFFSET = 3


# ---------------------------------------------------------------------------------------------------- vectorize ----

@pytest.mark.parametrize("dtype", DTYPES)
def test_an_expression(device, dtype):
    function = flynn.vectorize("x > y ? x - y : 2 * y")
    for shape in ((0,), (1,), (1001,), (3, 5), (2, 1, 3, 5)):
        x, y = values(dtype, shape, 1, False), values(dtype, shape, 2, False)
        if np.dtype(dtype).kind != "f":
            x, y = x % 50, y % 50
        with np.errstate(over="ignore"):
            expected = np.where(x > y, x - y, np.array(2, dtype) * y)
        a, b = device.array(x), device.array(y)
        equal(function(a, b), expected)
        assert function(a, b, out=b) is b
        equal(b, expected)


def test_broadcasting_numbers_and_views(device):
    add = flynn.vectorize("x + y")
    x = values("float64", (4, 5), special=False)
    a = device.array(x)
    equal(add(a, device.array(x[0])), x + x[0])
    equal(add(a, device.array(x[:, :1])), x + x[:, :1])
    equal(add(a, 2), x + 2)
    equal(add(2.5, a), 2.5 + x)
    equal(add(a[1:3, 1:4], a[:2, :3]), x[1:3, 1:4] + x[:2, :3])
    equal(add(device.array(x.astype("float32")), 0.1), x.astype("float32") + np.float32(0.1))
    equal(add(device.array([1, 2], "int32"), 3), np.array([4, 5], "int32"))
    equal(add(device.array([1, 2]), 0.5), np.array([1.5, 2.5]))
    with pytest.raises(flynn.ArgumentError, match="cannot be broadcast"):
        add(a, device.zeros(3))
    with pytest.raises(flynn.ArgumentError, match="does not fit into int32"):
        add(device.array([1], "int32"), 2 ** 40)
    if device.host_memory:
        equal(add(x, x, device=device), x + x)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_an_integer_divided_by_zero_is_zero(device, dtype):
    low = np.iinfo(dtype).min
    x, y = np.array([7, 9, low, low, 100, 5], dtype), np.array([2, 0, 0, 1 if dtype == "uint8" else -1, 7, 3], dtype)
    with np.errstate(all="ignore"):
        quotient = np.where(y == 0, 0, np.trunc(x / np.where(y == 0, 1, y).astype("f8")).astype("f8").astype(dtype) if dtype != "int64" else [3, 0, 0, low, 14, 1]).astype(dtype)
        equal(flynn.vectorize("x / y")(device.array(x), device.array(y)), quotient)
        remainder = np.where(y == 0, 0, np.fmod(x, np.where(y == 0, 1, y))).astype(dtype)
    equal(flynn.vectorize("x % y")(device.array(x), device.array(y)), remainder)
    equal(flynn.vectorize("(x + 1) * 2 / (y - y) + (x > y ? 10 % 0 : max(x, y) / y)")(device.array(x), device.array(y)),
          np.where(x > y, 0, quotient_of(np.maximum(x, y), y)).astype(dtype))

    if device.emulation and dtype != "int32":
        return  # the C++ compiler takes a second for each function

    @flynn.vectorize
    def rounded_down(x, y):
        return x // y + x % y

    with np.errstate(all="ignore"):
        equal(rounded_down(device.array(x), device.array(y)), (np.floor_divide(x, y) + np.remainder(x, y)).astype(dtype))


def of_c(x, y):
    """Quotients and remainders by C's rule, with 0 for what is divided by 0, in the dtype."""
    pairs = [(0, 0) if b == 0 else (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), math.copysign(1, a) * (abs(a) % abs(b))) for a, b in zip(x.tolist(), y.tolist())]
    bits = 8 * x.dtype.itemsize
    return [np.array([(int(pair[i]) + 2 ** (bits - 1)) % 2 ** bits - 2 ** (bits - 1) for pair in pairs], x.dtype) for i in (0, 1)]


TEXTS = {  # T is the type; of a quotient, of a remainder
    "quotient": ("T f(T a, T b) { return a / b; }", "T f(T a, T b) { a /= b; return a; }", "T f(T a, T b) { T q[2] = {a, 0}; int i = 0; q[i++] /= b; return q[i - 1] / (i == 1); }",
                 "static T same(T a) { return a; }\nT f(T a, T b) { return same(a) /* // */ / same(b); }", "#define DIVIDED(a, b) \\\n    ((a) / (b))\nT f(T a, T b) { return DIVIDED(a, b); }",
                 "T f(T a, T b)\n{\n    T sum = 0;\n    for (int i = 0; i < 3; i++)\n        sum += i == 1 ? a / b : 0; // a / b\n    return sum;\n}", "T f(T a, T b) { return -a / -b * 1; }",
                 "T f(T a, T b) { const char slash = '/', *text = \"a / b\"; return slash == '/' && text[2] == slash ? (T)a / (T)b : 1; }"),
    "remainder": ("T f(T a, T b) { return a % b; }", "T f(T a, T b) { if (a > b) a %= b; else a = a % b; return a; }", "T f(T a, T b) { struct { T b; } s = {b}; return a % s.b; }",
                  "static T same(T a) { return a; }\nT f(T a, T b) { return same(a) % same(b); }", "T f(T a, T b) { while (b == 0) return b; return (a) %\n    b; }")}


@pytest.mark.parametrize("dtype,type_of_c", [("int32", "int"), ("int64", "long")])
def test_a_text_in_c_that_divides_by_zero(device, dtype, type_of_c):
    random, low = np.random.default_rng(1), np.iinfo(dtype).min
    x, y = random.integers(-20, 20, 600).astype(dtype), random.integers(-4, 5, 600).astype(dtype)
    x[:6], y[:6] = [low, low, 0, np.iinfo(dtype).max, 5, -7], [-1, 0, 0, -1, 0, 0]
    a, b, expected = device.array(x), device.array(y), dict(zip(TEXTS, of_c(x, y)))
    for kind, texts in TEXTS.items():
        for text in texts[:2] if device.emulation else texts:  # the C++ compiler takes a second for each
            if "-b" in text and low in x:
                keep = x != low  # -low / -(-1) is low / 1
                equal(flynn.vectorize(text.replace("T", type_of_c))(device.array(x[keep]), device.array(y[keep])), expected[kind][keep])
            else:
                equal(flynn.vectorize(text.replace("T", type_of_c))(a, b), expected[kind])


def test_integers_within_real_numbers():
    x, y = (flynn.array(np.array(numbers), device="simd") for numbers in ([1.0, -2.0, 0.0, np.inf, 7.0], [0.0, -1.0, 0.0, 0.0, 2.0]))
    with np.errstate(all="ignore"):
        real = x.numpy() / y.numpy()
    for text, expected in (("x / y", real), ("(long)x / (long)y", [0, 2, 0, 0, 3]), ("1 / (x > y)", [1, 0, 0, 1, 1]), ("lrint(y) / lrint(y)", [0, 1, 0, 0, 1]),
                           ("(x + 1) / (y * 1) - 1 / y", real), ("sqrt(x) / sqrt(y)", [np.inf, np.nan, np.nan, np.inf, np.sqrt(3.5)]), ("double f(double a, double b) { return a / b; }", real),
                           ("double f(double a, double b) { int n = b; return a / n; }", real), ("double f(double a, double b) { int n = b; return (n + 3) / n; }", [0, -2, 0, 0, 2]),
                           ("double f(double a, double b) { double c = 1, d = b; int n = 1; return a * c / d * n; }", real)):
        found = flynn.vectorize(text)(x, y).numpy()
        if text.startswith("(x + 1)"):  # not finite where y is 0
            found, expected = found[[1, 4]], real[[1, 4]]
        np.testing.assert_allclose(found, expected, err_msg=text)


def test_an_error_shows_the_users_text():
    x = flynn.array(np.array([1], "int32"), device="serial")
    for text, place, line in (("int f(int a) { return a / nosuch; }", "1:27: 'nosuch'", "int f(int a) { return a / nosuch; }"), ("int f(int a)\n{\n    int b = 3 /\n a;\n return nosuch; }", "5:9: ", " return nosuch; }"),
                              ("int f(int a) { return a / ; }", "1:27: ", "int f(int a) { return a / ; }"), ("x / (y", "1:", "x / (y"), ("x / / 2", "1:", "x / / 2")):
        with pytest.raises(flynn.SourceError) as caught:
            flynn.vectorize(text)(x)
        assert f":{place}" in str(caught.value) and line in caught.value.log, caught.value


def quotient_of(x, y):
    return np.where(y == 0, 0, x // np.where(y == 0, 1, y))


def test_the_courses_functions(device):
    @flynn.vectorize(["int32(int32)"], target="cuda")
    def check_prime(num):
        for i in range(2, (num // 2) + 1):
            if (num % i) == 0:
                return 0
        return num if num > 1 else 0

    numbers = np.arange(200, dtype="int32")
    found = check_prime(device.array(numbers)).numpy()
    assert found.dtype == np.int32 and found[found != 0].tolist() == [n for n in range(2, 200) if all(n % d for d in range(2, n))]

    @flynn.vectorize(["float32(float32, float32)"])
    def log_of_sum(x, y):
        return math.log(x + y)

    x = values("float32", 33, 1, False) ** 2
    equal(log_of_sum(device.array(x), device.array(x)), np.log(x + x), bits=False)
    assert log_of_sum.__name__ == "log_of_sum"
    twice = flynn.vectorize("int64(int64)")(lambda_like)
    equal(twice(device.array([1, 2])), np.array([1 + OFFSET, 2 + OFFSET]))


def lambda_like(n):
    """Reads an outer constant."""
    return n + OFFSET


def test_a_text_in_c(device):
    steps = flynn.vectorize("int steps(int n) { int count = 0; for (; n > 1; count++) n = n % 2 ? 3 * n + 1 : n / 2; return count; }")
    equal(steps(device.array([1, 6, 7, 27], "int32")), np.array([0, 8, 16, 111], "int32"))
    with pytest.raises(flynn.ArgumentError, match=r"takes \(int32\), and \(int64\) are given; a.astype"):
        steps(device.array([1]))


def test_texts_that_do_not_compile(device):
    a = device.array([1.0])
    for source, words in (("x ** 2", "pow(x, y)"), ("x +", "missing"), ("foo(x)", "'foo' is not known"), ("float f(float x) { return y; }", "y")):
        with pytest.raises(flynn.SourceError) as caught:
            flynn.vectorize(source)(a)
        assert words in str(caught.value) and "^" in caught.value.log and "fl_" not in str(caught.value)
    for wrong in (3, object()):
        with pytest.raises(flynn.ArgumentError, match="source is"):
            flynn.vectorize(wrong)
    with pytest.raises(flynn.ArgumentError, match="at least one array"):
        flynn.vectorize("x")()
    with pytest.raises(flynn.ArgumentError, match="at most 8"):
        flynn.vectorize("x")(*[a] * 9)
    with pytest.raises(flynn.WrongDeviceError, match=r"argument 2 is on .*argument 2.to\('"):
        flynn.vectorize("x + y")(a, flynn.device("serial" if device.backend != "serial" else "simd").array([1.0]))


def test_what_of_python_has_no_meaning_in_c():
    table, a = [1, 2], flynn.device("serial").array([1.0])

    def recursion(n):
        return recursion(n - 1)

    def closure(n):
        return n + table[0]

    def array_closure(n):
        return n + a

    def no_end(n):
        if n > 0:
            return 1

    def unset(n):
        if n > 0:
            t = 1
        return t

    def text(n):
        return "a"

    def powers(n):
        return n ** n

    def calls(n):
        return print(n)

    def two(n):
        a, b = n, n
        return a

    def step(n):
        for i in range(0, 3, n):
            pass
        return i

    def items(n):
        return [n][0]

    def default(n, m=2):
        return n

    def unknown(n):
        return n + nowhere  # noqa: F821

    for function in (recursion, closure, array_closure, no_end, unset, text, powers, calls, two, step, items, default, unknown):
        with pytest.raises(flynn.SourceError, match=r"test_code.py:\d+: ") as caught:
            flynn.vectorize(function)(flynn.device("serial").array([1]))
        assert "^" in caught.value.log
    for function in (len, lambda n: n, eval("lambda n: n")):
        with pytest.raises(flynn.SourceError):
            flynn.vectorize(function)
    with pytest.raises(flynn.SourceError, match="takes 1 arguments, and 2 are given"):
        flynn.vectorize(lambda_like)(a, a)


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
                                  "arccosh", "arctanh", "fabs", "floor", "ceil", "trunc", "abs", "isnan"])
def test_functions_of_numpy_by_their_names(name, tmp_path):
    from test_translate import module_of
    function = module_of(f"def f(x):\n    return np.{name}(x)\n", tmp_path / f"of_{name}.py").f
    translated = flynn.vectorize(function)
    for dtype in ("float32", "float64"):
        x = np.array([-2.5, -1, -0.5, -0.0, 0.25, 0.5, 1, 1.5, 7.75, np.nan], dtype)
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(x)
        equal(translated(x, device="serial"), expected.astype("uint8") if name == "isnan" else expected, bits=name == "isnan")


# ------------------------------------------------------------------------------------------------------ kernels ----

def test_a_kernel(emulation):
    kernel = flynn.RawKernel(VECTOR_ADD, "vector_add")
    assert repr(kernel) == "<flynn.RawKernel vector_add(float32 *a, float32 *b, float32 *out, int32 size)>"
    x = values("float32", 1000, special=False)
    a, b = emulation.array(x), emulation.array(2 * x)
    for launch in (lambda out: kernel((4,), (256,), (a, b, out, 1000)), lambda out: kernel[4, 256](a, b, out, np.int32(1000))):
        out = emulation.zeros(1000, "float32")
        launch(out)
        equal(out, x + 2 * x)
    unchecked = flynn.RawKernel(VECTOR_ADD, unchecked=True)
    stream, out = emulation.stream(), emulation.zeros(1000, "float32")
    unchecked[(4, 1), (256, 1, 1), stream, 0](a, b, out, 1000)
    stream.wait()
    equal(out, x + 2 * x)
    row = kernel.check("auto", 256, (x, 2 * x, np.zeros_like(x), 1000), expect="x + y")
    assert row["check"]["ok"] is True and row["check"]["compared"] == 1000
    assert repr(row) == "<vector_add on hip-cpu:0, grid 4x1x1, block 256x1x1: right, 1000 elements compared>"
    assert "vector_add on hip-cpu:0" in repr(kernel.check(4, 256, (a, b, out, 1000))) and "not checked" in repr(kernel.check(4, 256, (a, b, out, 1000)))
    kernel.check(4, 256, (a, b, out, 1000), expect=x + 2 * x)
    kernel.check(4, 256, (a, b, out, 1000), expect=flynn.RawKernel(VECTOR_ADD.replace("a[i] + b[i]", "b[i] + a[i]")))
    with pytest.raises(flynn.Error, match=r"expected"):
        kernel.check(4, 256, (a, b, out, 1000), expect="x - y")
    with pytest.raises(flynn.Error, match=r"the kernel vector_add, block 256, is wrong on hip-cpu:0: element \[256\]"):
        kernel.check(1, 256, (a, b, emulation.zeros(1000, "float32"), 1000), expect="x + y")


def test_the_grid_of_a_kernel_whose_x_is_the_row(emulation):
    kernel = flynn.RawKernel("""__global__ void f(float *a, int rows, int columns) {
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x < rows && y < columns) a[x * columns + y] += 1; }""")
    arguments = np.ones((20, 50), "float32"), 20, 50
    with pytest.raises(flynn.Error, match=r"right with grid=\(3, 7\): your x is the first dimension"):
        kernel.check("auto", (8, 8), arguments, expect="x + 1")
    kernel.check((3, 7), (8, 8), arguments, expect="x + 1")


def test_what_check_says_of_its_arguments(emulation):
    kernel = flynn.RawKernel("__global__ void f(float *a, int n) {\n    int i = threadIdx.x;\n    if (i < n) a[i] += 1;\n}")
    ones = np.ones(10, "float32")
    for arguments, expect, words in (((ones, 10), "maximum(x, 1)", "expect:1:1: 'maximum' is not known; did you mean 'max'?\n    maximum(x, 1)\n    ^"),
                                     ((ones, 10), np.ones(11), "expect: the array is 11, and a is 10"),
                                     *(((ones.astype(dtype), 10), None, f"a has dtype {dtype}; the kernel's is float32: a.astype('float32') converts it")
                                       for dtype in ("float64", "int64", "int32"))):
        with pytest.raises(flynn.ArgumentError) as caught:
            kernel.check(1, 32, arguments, expect=expect)
        assert str(caught.value) == words
    assert kernel.check(1, 32, (ones.astype("uint8"), 10), expect="x + 1")["check"]["ok"]
    with pytest.raises(flynn.ArgumentError, match="a has dtype int64; the kernel's is float64"):
        flynn.RawKernel(kernel.source.replace("float", "double")).check(1, 32, (ones.astype("int64"), 10))
    with pytest.raises(flynn.SourceError) as caught:
        flynn.RawKernel(kernel.source.replace("(i < n)", "i < n:")).check(1, 32, (ones, 10))
    assert re.fullmatch(r"kernel.hip:3:\d+: expected '\(' .*\n +if i < n: .*\n +\^~*", str(caught.value)), str(caught.value)
    with pytest.raises(flynn.UnavailableError, match="^device: serial does not have kernel"):
        kernel.check(1, 32, (ones, 10), device="serial")


def test_defines_and_numbers(emulation, capfd):
    kernel = flynn.RawKernel("__global__ void f(double *a, long n, double x, float y) { a[threadIdx.x] = N * x + y + n; printf(\"hello\\n\"); }", defines={"N": 3})
    a = emulation.zeros(1)
    kernel(1, 1, (a, 2 ** 40, 0.5, 1.25))
    assert a.numpy() == 3 * 0.5 + 1.25 + 2 ** 40
    with pytest.raises(flynn.SourceError, match="'N'"):
        flynn.RawKernel(kernel.source)(1, 1, (a, 1, 1, 1))


WRONG = {
    "no test of the index": (VECTOR_ADD.replace("if (i < size)", ""), "a[1000], beyond its 1000 elements"),
    "a wild write": (VECTOR_ADD.replace("out[i] =", "out[i + 100000000] ="), "beyond its 1000 elements"),
    "a race": ("__global__ void f(const float *a, const float *b, float *out, int n) { out[0] += a[threadIdx.x]; }", "thread"),
    "a division by zero": ("__global__ void f(const float *a, const float *b, float *out, int n) { out[threadIdx.x] = 7 / (n - 1000); }", "by zero"),
    "an endless loop": ("__global__ void f(const float *a, const float *b, float *out, int n) { while (n > 0) out[0] = 1; }", "within 2 s"),
    "a null pointer": ("__global__ void f(const float *a, const float *b, float *out, int n) { out[0] = *(float *)8; }", "NULL"),
    "a barrier that not all reach": ("__global__ void f(const float *a, const float *b, float *out, int n) { if (threadIdx.x < 3) __syncthreads(); out[threadIdx.x] = 1; }",
                                     "barrier"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_kernel_is_an_exception(emulation, name):
    source, words = WRONG[name]
    kernel = flynn.RawKernel(source, limit_s=2 if "endless" in name else 20)
    a, out = emulation.array(np.arange(1000, dtype="float32")), emulation.zeros(1000, "float32")
    blocks = 1 if name.startswith(("a division", "a barrier")) else 4
    with pytest.raises(flynn.DeviceError) as launched:
        kernel(blocks, 256, (a, a, out, 1000))
    with pytest.raises(flynn.Error) as checked:
        kernel.check(blocks, 256, (a, a, out, 1000), expect="x + y")
    for caught in (launched, checked):
        assert words in str(caught.value) and "fl_" not in str(caught.value), str(caught.value)
    equal(out, np.zeros(1000, "float32"))
    equal(flynn.increment(a), np.arange(1, 1001, dtype="float32"))


def test_the_limit_is_that_of_the_launch(emulation, tmp_path, monkeypatch):
    """A child that takes longer to start, as on a busy machine, is no endless loop."""
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(4)\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    a = emulation.array(np.arange(4, dtype="float32"))
    flynn.RawKernel("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }", limit_s=3)(1, 4, (a,))
    equal(a, 2 * np.arange(4, dtype="float32"))


def test_kernels_that_cannot_be_launched(emulation, device):
    with pytest.raises(flynn.SourceError, match="kernel.hip:"):
        flynn.RawKernel("__global__ void f(int *a) { a[0] = nosuch; }")(1, 1, (emulation.zeros(1, "int32"),))
    with pytest.raises(flynn.Error):
        flynn.RawKernel("int f(int a) { return a; }")
    with pytest.raises(flynn.UnknownError, match="no kernel 'vector_ad' is defined here; did you mean 'vector_add'"):
        flynn.RawKernel(VECTOR_ADD, "vector_ad")
    for bad in (0, -1, float("nan"), float("inf"), "x", None):
        with pytest.raises(flynn.ArgumentError, match="limit_s is"):
            flynn.RawKernel(VECTOR_ADD, limit_s=bad)
    kernel = flynn.RawKernel(VECTOR_ADD)
    a = emulation.zeros(10, "float32")
    right = (a, a, a, 10)
    for grid, block, arguments, words in ((0, 1, right, "grid is 0"), (1, 0, right, "block is 0"), ("a", 1, right, "grid is 'a'"), ((1, 2, 3, 4), 1, right, "grid has 4 numbers"),
                                          (2 ** 32 + 1, 1, right, "grid is 4294967297"), (1, 2 ** 64 + 1, right, "block is"), (1, 1, right[:3], "takes 4 arguments, and 3"),
                                          (1, 1, a, "in a tuple"), (1, 1, (a, a, a, 2 ** 64 + 1), "size is"), (1, 1, (a, a, a, 2 ** 32 + 1), "size is 4294967297; expected a number from -2147483648 to 2147483647"), (1, 1, (a, a, a, 1.5), "size is 1.5"), (1, 1, (a, a, 3, 1), "out is 3"),
                                          (1, 1, (a, a, a, a), "size is an array"), (1, 1, (a, emulation.zeros(10), a, 10), "b has dtype float64; the kernel's is float32")):
        with pytest.raises(flynn.ArgumentError) as caught:
            kernel(grid, block, arguments)
        assert words in str(caught.value) and "fl_" not in str(caught.value)
    for bad in (2 ** 64, -1, "x"):
        with pytest.raises(flynn.ArgumentError, match="shared_mem is"):
            kernel(1, 1, right, shared_mem=bad)
    with pytest.raises(flynn.WrongDeviceError, match=r"b is in host memory.*array\(b\)"):
        kernel(1, 1, (a, np.zeros(10, "float32"), a, 10))
    with pytest.raises(flynn.WrongDeviceError, match=r"a is in host memory.*array\(a\)"):
        kernel(1, 1, (np.zeros(10, "float32"), np.zeros(10, "float32"), np.zeros(10, "float32"), 10))
    with pytest.raises(flynn.LimitError, match="block"):
        kernel(1, 100000, right)
    with pytest.raises(flynn.ArgumentError, match="kernel"):
        kernel[3]
    if device.backend != "hip-cpu":
        here = device.zeros(10, "float32")
        with pytest.raises(flynn.UnsupportedError):
            kernel(1, 1, (here, here, here, 10))
