# SPDX-License-Identifier: MIT
"""Every operation on every device against NumPy and SciPy: each dtype; sizes 0, 1 and odd; in place; into views; keywords."""
import gc
import inspect
import itertools
import resource
import threading

import numpy as np
import pytest
import scipy.signal

import flynn
from conftest import DTYPES, equal, values
from flynn import _c, _operations
from flynn._array import DTYPES as ALL

NUMBERS = DTYPES[1:]
SIZES = (0, 1, 7, 1001)
SHAPES = ((0,), (1,), (1001,), (3, 5), (2, 0, 3), (2, 3, 4), (2, 1, 3, 5))


def floating(dtype):
    return np.float32 if dtype == "float32" else np.float64


def test_result_dtypes_are_those_of_c():
    for pair in itertools.product(range(len(ALL)), repeat=2):
        codes, dtypes = (_c.c_int * 2)(*pair), [ALL[code] for code in pair]
        assert _operations.float_result(*dtypes) == ALL[_c.fl_dtype_float_result(codes, 2)]
        assert _operations.result(*dtypes) == ALL[_c.fl_dtype_result(codes, 2)]


# --------------------------------------------------------------------------------------------- element by element ----

@pytest.mark.parametrize("dtype", NUMBERS)
def test_increment(device, dtype):
    for shape in SHAPES:
        x = values(dtype, shape)
        a = device.array(x)
        with np.errstate(over="ignore"):
            expected = x + np.array(1, dtype)
        equal(flynn.increment(a), expected)
        assert flynn.increment(a, out=a) is a
        equal(a, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sqrt(device, dtype):
    for shape in SHAPES:
        x = values(dtype, shape)
        with np.errstate(invalid="ignore"):
            expected = np.sqrt(x.astype(floating(dtype)))
        a = device.array(x)
        equal(flynn.sqrt(a), expected)
        equal(np.sqrt(a), expected)
        if np.dtype(dtype).kind == "f":
            assert np.sqrt(a, out=a) is a
            equal(a, expected)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_maximum(device, dtype):
    for shape in SHAPES:
        x, y = values(dtype, shape, 1), values(dtype, shape, 2)[..., ::-1].copy()
        a, b = device.array(x), device.array(y)
        equal(flynn.maximum(a, b), np.maximum(x, y))
        equal(np.maximum(a, b), np.maximum(x, y))
        assert flynn.maximum(a, b, out=b) is b
        equal(b, np.maximum(x, y))
    equal(flynn.maximum(device.array([1, 2]), device.array([1.5, -1])), np.array([1.5, 2]))
    equal(flynn.maximum(device.array([1, 2], "int32"), device.array([3, 0])), np.array([3, 2]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_log_of_sum(device, dtype):
    for shape in SHAPES:
        x, y = values(dtype, shape, 1), values(dtype, shape, 2)
        with np.errstate(all="ignore"):
            kind = floating(dtype)
            expected = np.log(x.astype(kind) + y.astype(kind))
        equal(flynn.log_of_sum(device.array(x), device.array(y)), expected, bits=False)


# ------------------------------------------------------------------------------------------------ order and choice ----

@pytest.mark.parametrize("dtype", NUMBERS)
def test_sort_merge_searchsorted(device, dtype):
    for size in SIZES:
        x, y = values(dtype, size, 1), values(dtype, max(0, size - 3), 2)
        a, b = device.array(x), device.array(y)
        equal(flynn.sort(a), np.sort(x))
        equal(np.sort(a), np.sort(x))
        assert flynn.sort(a, out=a) is a
        flynn.sort(b, out=b)
        equal(a, np.sort(x))
        equal(flynn.merge(a, b), np.sort(np.concatenate([x, y])))
        equal(flynn.searchsorted(a, device.array(y)), np.searchsorted(np.sort(x), y))
        equal(np.searchsorted(a, b), np.searchsorted(np.sort(x), np.sort(y)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_select(device, dtype):
    for size in SIZES:
        x = values(dtype, size)
        x[1::2] = 0
        equal(flynn.select(device.array(x)), x[x != 0])
        whole = device.zeros(size + 2, dtype)
        found = flynn.select(device.array(x), out=whole)
        equal(found, x[x != 0])
        equal(whole[:found.size], x[x != 0])


def sieve(upto):
    is_prime = np.ones(max(upto, 2), bool)
    is_prime[:2] = False
    for d in range(2, int(max(upto, 0) ** 0.5) + 1):
        if is_prime[d]:
            is_prime[d * d::d] = False
    return np.flatnonzero(is_prime[:max(upto, 0)])


def test_primes(device):
    for upto in (-5, 0, 2, 3, 10, 1001, 65537):
        equal(flynn.primes(upto, device=device), sieve(upto))
    equal(flynn.primes(1001, 500, device=device), sieve(1001)[sieve(1001) >= 500])
    equal(flynn.primes(100, variant="trial-all", device=device), sieve(100))
    out = device.empty(flynn.primes_bound(1000), "int64")
    found = flynn.primes(1000, out=out)
    assert found.device is device and found.size == 168
    equal(out[:168], sieve(1000))
    for upto, first in ((-5, 0), (2, 0), (3, 0), (1001, 500), (65537, 0), (500, 1001)):
        count = flynn.primes_count(upto, first, device=device)
        assert type(count) is int and count == np.count_nonzero(sieve(upto) >= first)
    assert flynn.primes_count(100, variant="trial-all", device=device) == 25
    with pytest.raises(flynn.ArgumentError, match="primes_bound"):
        flynn.primes(1000, out=device.empty(167, "int64"))


# ----------------------------------------------------------------------------------------------------- convolutions ----

@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolve(device, mode):
    for dtype in DTYPES:
        for image, kernel in (((1, 1), (1, 1)), ((7, 9), (3, 5)), ((33, 20), (4, 3))):
            x, k = values(dtype, image, 1, False), values(dtype, kernel, 2, False)
            if dtype[0] == "i":
                x, k = x % 1000, k % 1000
            kind = floating(dtype)
            expected = scipy.signal.convolve2d(x.astype("f8"), k.astype("f8"), mode)
            found = flynn.convolve(device.array(x), device.array(k), mode)
            bound = scipy.signal.convolve2d(abs(x.astype("f8")), abs(k.astype("f8")), mode).max() * (k.size + 32) * np.finfo(kind).eps
            assert found.dtype == kind and np.abs(found.numpy() - expected).max() <= bound
            assert (flynn.convolve2d(device.array(x), device.array(k), mode).numpy() == found.numpy()).all()
        for signal, kernel in ((1, 1), (100, 7), (33, 4), (5, 9)):
            x, k = values(dtype, signal, 1, False), values(dtype, kernel, 2, False)
            if dtype[0] == "i":
                x, k = x % 1000, k % 1000
            expected = scipy.signal.convolve(x.astype("f8"), k.astype("f8"), mode, method="direct")
            bound = np.convolve(abs(x.astype("f8")), abs(k.astype("f8"))).max() * (k.size + 32) * np.finfo(kind).eps
            found = flynn.convolve(device.array(x), device.array(k), mode)
            assert found.dtype == kind and found.shape == expected.shape and np.abs(found.numpy() - expected).max() <= bound
            of_numpy = np.convolve(x.astype("f8"), k.astype("f8"), mode)
            found = np.convolve(device.array(x), device.array(k), mode)
            assert found.shape == of_numpy.shape and np.abs(found.numpy() - of_numpy).max() <= bound


def scales(kind, shape):
    """Numbers of 0..1; one of 10^6 among them; a half of them 10^6 times as large; one that no sum of mode valid contains, whose weight is 0."""
    random = np.random.default_rng(4)
    image, kernel = random.random(shape).astype(kind), random.random((7,) * len(shape)).astype(kind)
    yield image, kernel, "full"
    one, half, unseen, weights = image.copy(), image.copy(), image.copy(), kernel.copy()
    one[(3,) * len(shape)] = 1e6
    yield one, kernel, "same"
    half[: shape[0] // 2] *= 1e6
    yield half, kernel, "full"
    unseen.flat[0], weights.flat[-1] = 1e9, 0
    yield unseen, weights, "valid"


@pytest.mark.parametrize("variant", (None, "fft"))
@pytest.mark.parametrize("kind, tolerance", (("float32", 0.01), ("float64", 1e-10)))
def test_convolve_with_a_tolerance(device, kind, tolerance, variant):
    for shape in ((90, 80), (7000,)):
        name = "convolve" if len(shape) == 2 else "convolve1d"
        if variant and not any(v.name == variant and kind in v.dtypes and v.usable for v in device.variants(name)):
            pytest.skip(f"{name} has no {variant} in {kind} here")
        for x, k, mode in scales(kind, shape):
            expected = scipy.signal.convolve(x.astype(np.longdouble), k.astype(np.longdouble), mode, method="direct")
            found = flynn.convolve(device.array(x), device.array(k), mode, variant=variant, tolerance=tolerance).numpy()
            assert abs(found - expected).max() <= tolerance * abs(expected).max(), (shape, mode)


def test_a_tolerance_is_refused_below_what_is_reached(device):
    a, b = device.array(np.ones((20, 20), np.float32)), device.array(np.ones((3, 4), np.float32))
    for wrong in (-1e-3, 1.5, np.nan, "1e-6"):
        with pytest.raises(flynn.ArgumentError, match="tolerance is "):
            flynn.convolve2d(a, b, tolerance=wrong)
    with pytest.raises(flynn.ArgumentError, match="convolve: a tolerance of 1e-07 is less than tiled on .* reaches here in f32; expected at least 2.7e-06"):
        flynn.convolve2d(a, b, variant="tiled", tolerance=1e-7)
    with pytest.raises(flynn.ArgumentError, match="svd: randomized on .* takes no tolerance: nothing bounds its error"):
        flynn.svd(a, 3, variant="randomized", tolerance=0.5)
    with pytest.raises(flynn.ArgumentError, match="matmul: a tolerance of 1e-09 is less than .* expected at least 1.3e-06"):
        flynn.matmul(a, a, tolerance=1e-9)
    wide = device.array(np.ones((20, 20)))
    with pytest.raises(flynn.ArgumentError, match="svd: a tolerance of 1e-07 is less than single on .* in f64; expected at least 4.1e-06"):
        flynn.svd(wide, variant="single", tolerance=1e-7)
    assert abs(flynn.svd(wide, variant="single", tolerance=1e-5)[1].numpy() - np.array([20] + [0] * 19)).max() <= 1e-5 * 20
    u, s, vt = flynn.svd(a, tolerance=1e-4)
    equal_to = flynn.reconstruct(u, s, vt, tolerance=1e-4).numpy()
    assert np.linalg.norm(equal_to - a.numpy()) <= 3e-4 * 20


def test_convolve_of_no_elements(device):
    equal(flynn.convolve2d(device.zeros((0, 3)), device.zeros((1, 2)), "same"), np.zeros((0, 3)))
    with pytest.raises(flynn.ArgumentError, match="signal has no elements"):
        flynn.convolve1d(device.zeros(0), device.zeros(3))


# ---------------------------------------------------------------------------------------------------------- matrices ----

@pytest.mark.parametrize("dtype", DTYPES)
def test_factors(device, dtype):
    kind = floating(dtype)
    for m, n in ((1, 1), (7, 5), (5, 7), (9, 9), (0, 3)):
        x = values(dtype, (m, n), 3, False)
        if np.dtype(dtype).kind == "i":
            x = x % 1000
        bound = 100 * np.finfo(kind).eps * max(1.0, np.linalg.norm(x.astype("f8")))
        a = device.array(x)
        q, r = (part.numpy() for part in flynn.qr(a))
        assert q.shape == (m, min(m, n)) and r.shape == (min(m, n), n) and q.dtype == r.dtype == kind
        assert np.abs(q @ r - x).max(initial=0) <= bound and np.abs(np.tril(r, -1)).max(initial=0) <= bound
        assert np.abs(q.T @ q - np.eye(min(m, n))).max(initial=0) <= 100 * np.finfo(kind).eps
        u, s, vt = flynn.svd(a)
        assert u.shape == (m, min(m, n)) and vt.shape == (min(m, n), n) and s.dtype == kind
        assert np.abs(s.numpy() - np.linalg.svd(x.astype("f8"), compute_uv=False)).max(initial=0) <= bound
        back = flynn.reconstruct(u, s, vt)
        assert np.abs(back.numpy() - x).max(initial=0) <= bound
        if m and n:
            u, s, vt = flynn.svd(a, keep=1)
            expected = (u.numpy() * s.numpy()) @ vt.numpy()
            assert u.shape == (m, 1) and np.abs(flynn.reconstruct(u, s, vt, keep=1).numpy() - expected).max() <= bound
    u, s, vt = np.linalg.svd(device.array(np.eye(3, dtype=dtype)), full_matrices=False)
    assert np.allclose(s.numpy(), 1)
    assert len(np.linalg.qr(device.array(np.eye(3, dtype=dtype)))) == 2


def test_reconstruct_a_batch(device):
    random = np.random.default_rng(4)
    u, s, vt = random.random((4, 5, 3)), random.random((4, 3)), random.random((4, 3, 6))
    found = flynn.reconstruct(*map(device.array, (u, s, vt)), keep=2)
    equal(found, np.einsum("bik,bk,bkj->bij", u[..., :2], s[..., :2], vt[:, :2]), bits=False)


def test_matmul_transpose(device):
    random = np.random.default_rng(5)
    for left, right in (((3, 5), (5, 2)), ((4, 3, 5), (5, 2)), ((4, 3, 5), (4, 5, 2)), ((1, 3, 5), (4, 5, 2)), ((3, 0), (0, 2))):
        x, y = random.integers(-9, 9, left), random.integers(-9, 9, right)
        for dtype in NUMBERS:
            equal(flynn.matmul(device.array(x, dtype), device.array(y, dtype)), (x @ y).astype(dtype))
    equal(device.array(x) @ device.array(y), x @ y)
    for dtype in DTYPES:
        for shape in ((1, 1), (3, 5), (2, 3, 4), (2, 2, 3, 5), (0, 3)):
            x = values(dtype, shape)
            equal(flynn.transpose(device.array(x)), np.swapaxes(x, -1, -2))


# -------------------------------------------------------------------------------------------------------- reductions ----

@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(device, dtype):
    for shape in ((1,), (1001,), (7, 5), (3, 4, 5)):
        x = values(dtype, shape, 6, False)
        if np.dtype(dtype).kind != "f":
            x = x % 100
        for name in ("sum", "min", "max", "argmin", "argmax"):
            function = getattr(flynn, name)
            for axis in (None, *range(-len(shape), len(shape))):
                expected = np.atleast_1d(getattr(np, name)(x.astype("i8") if name == "sum" and np.dtype(dtype).kind != "f" else x, axis))
                found = function(device.array(x), axis)
                if name == "sum" and np.dtype(dtype).kind == "f":
                    assert found.dtype == dtype and np.allclose(found.numpy(), expected, rtol=1e-4 if dtype == "float32" else 1e-12, atol=1e-2 if dtype == "float32" else 1e-10)
                else:
                    equal(found, expected)
        equal(np.argmax(device.array(x)), np.atleast_1d(np.argmax(x)))
    for size in SIZES:
        x = (values(dtype, size, 7, False) % 100).astype(dtype)
        wide = x if np.dtype(dtype).kind == "f" else x.astype("i8")
        for found, expected in ((flynn.cumsum(device.array(x)), np.cumsum(wide, dtype=wide.dtype)), (np.cumsum(device.array(x)), np.cumsum(wide, dtype=wide.dtype)),
                                (flynn.cumsum(device.array(x), exclusive=True), np.cumsum(wide, dtype=wide.dtype) - wide),
                                (flynn.dot(device.array(x), device.array(x)), np.atleast_1d(np.dot(wide, wide)))):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3 if dtype == "float32" else 1e-11, atol=1 if dtype == "float32" else 1e-9)
        equal(flynn.histogram(device.array(x), 7, (0, 100)), np.histogram(x, 7, (0, 100))[0])


def test_allclose(device):
    for dtype in DTYPES:
        x = values(dtype, 1001, 8, False)
        y = x.copy()
        assert flynn.allclose(device.array(x), device.array(y)) is True and np.allclose(device.array(x), device.array(y))
        y[500] = y[500] // 2 + 60
        assert flynn.allclose(device.array(x), device.array(y)) is np.allclose(x, y)
    nan = device.array([np.nan])
    assert not flynn.allclose(nan, nan) and flynn.allclose(nan, nan, equal_nan=True)
    assert flynn.allclose(device.array([1.0]), device.array([1.1]), rtol=0.2) and not flynn.allclose(device.array([1.0]), device.array([1.1]), atol=0.05)
    assert flynn.allclose(device.zeros(0), device.zeros(0))


def test_astype(device):
    for source in DTYPES:
        x = values(source, 33, 9, False)
        for target in ("float32", "float64") + (("int64",) if np.dtype(source).kind != "f" else ()) + (source,):
            equal(device.array(x).astype(target), x.astype(target))


# ---------------------------------------------------------------------------------------------------- views and all ----

def test_views_as_inputs_and_outputs(device):
    x = values("float64", (9, 11), special=False)
    a, out = device.array(x), device.array(np.full((12, 13), -1.0))
    part = out[2:6, 3:10]
    flynn.increment(a[1:5, 2:9], out=part)
    seen = out.numpy()
    equal(seen[2:6, 3:10], x[1:5, 2:9] + 1)
    seen[2:6, 3:10] = -1
    assert (seen == -1).all(), "written beside the view"
    equal(flynn.sort(device.array(x.ravel())[3:50]), np.sort(x.ravel()[3:50]))
    equal(flynn.sum(a[1:5, 2:9], 0), x[1:5, 2:9].sum(0), bits=False)
    equal(flynn.convolve(a[1:8, 1:8], a[:3, :3], "same"), scipy.signal.convolve2d(x[1:8, 1:8], x[:3, :3], "same"), bits=False)
    equal(flynn.transpose(a[1:4, 2:4]), x[1:4, 2:4].T)
    with pytest.raises(flynn.ArgumentError, match="shares memory"):
        flynn.increment(a[1:5], out=a[2:6])


def test_each_operation_takes_its_keywords(device):
    stream = device.stream()
    a = device.array(values("float32", (8, 8), special=False))
    v = device.array(values("float32", 64, special=False))
    for name, arguments in {"increment": (v,), "sqrt": (v,), "maximum": (v, v), "log_of_sum": (v, v), "sort": (v,), "merge": (v, v), "searchsorted": (v, v), "select": (v,),
                            "convolve1d": (v, v), "convolve2d": (a, a), "convolve": (a, a), "matmul": (a, a), "transpose": (a,), "svd": (a,), "qr": (a,), "sum": (v,), "min": (v,),
                            "max": (v,), "argmin": (v,), "argmax": (v,), "dot": (v, v), "cumsum": (v,), "histogram": (v, 4, (0, 1)), "allclose": (a, a), "primes": (100,), "primes_count": (100,),
                            "reconstruct": (a, v[:8], a)}.items():
        function = getattr(flynn, name)
        for keyword in ("variant", "block", "stream", "device"):
            assert inspect.signature(function).parameters[keyword].kind is inspect.Parameter.KEYWORD_ONLY
        function(*arguments, stream=stream, device=device)
        with pytest.raises(flynn.UnknownError, match="nosuch"):
            function(*arguments, variant="nosuch", device=device)
        for block in ("a", 1.5, (1, 2, 3, 4), -1, 2 ** 32 + 8, 2 ** 64 + 8, ()):
            with pytest.raises(flynn.ArgumentError, match="block"):
                function(*arguments, block=block, device=device)
        for wrong in (3, b"x", "a\0b"):
            with pytest.raises(flynn.ArgumentError, match="variant"):
                function(*arguments, variant=wrong, device=device)
        with pytest.raises(flynn.ArgumentError, match="stream"):
            function(*arguments, stream=7, device=device)
    stream.wait()
    for variant in device.variants("sort"):
        if variant.usable:
            equal(flynn.sort(v, variant=variant.name), np.sort(v.numpy()))


def test_four_threads_at_once(device):
    failures = []

    def work(seed):
        try:
            for i in range(20):
                x = values("float64", 5001, seed * 100 + i, special=False)
                equal(flynn.sort(device.array(x)), np.sort(x))
                equal(flynn.increment(device.array(x)), x + 1)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_memory_comes_back(device):
    """1,000 calls on 128 KiB each; what stays is far below what they took."""
    x = np.ones(1 << 14)
    a, m, plus = device.array(x), device.array(np.eye(2)), flynn.vectorize("x + 1")

    def calls(count):
        for _ in range(count):
            flynn.increment(a)
            plus(a)
            flynn.select(a)
            flynn.svd(m)
            device.array(x)[5:9]
            if device.host_memory:
                flynn.asarray(x)
                flynn.increment(x, device=device)
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = calls(20)
    assert calls(1000) - before < 20 * 1024
