#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_map.c checks, by NumPy.

Run by hand (NumPy is needed here and nowhere else); the files are kept with the sources.

manifest.txt has a line for each case: its name, how many inputs it has, and the expression in C. <name>.<i>.npy are the
inputs, as matrices that NumPy broadcasts, <name>.out.npy is the result of the same expression in Python.
"""
import pathlib

import numpy as np

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
rng = np.random.default_rng(20261122)
f32, f64, i32, i64, u8 = np.float32, np.float64, np.int32, np.int64, np.uint8
SPECIAL = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 0.5, 2.5, 1e30, -1e30]


def real(dtype, *shape):
    """Random numbers, with some special ones among them."""
    a = rng.uniform(-4, 4, shape)
    a.flat[rng.permutation(a.size)[:len(SPECIAL)]] = SPECIAL[:a.size]
    return a.astype(dtype)


def positive(dtype, *shape):
    return rng.uniform(0.01, 9, shape).astype(dtype)


def whole(dtype, *shape):
    info = np.iinfo(dtype)
    a = rng.integers(0 if dtype == u8 else -1000, 200 if dtype == u8 else 1000, shape).astype(dtype)
    a.flat[:4] = [info.max, info.min, info.max - 1, 1][:a.size]
    return a


def truncated(a, b):
    """C's division of integers, and what remains."""
    q = np.abs(a.astype(object)) // np.abs(b)
    q = np.where((a < 0) != (b < 0), -q, q)
    return q.astype(a.dtype), (a.astype(object) - q * b).astype(a.dtype)


CASES = [
    # name, expression in C, in Python, inputs
    ("log_f32", "log(x + y)", lambda x, y: np.log(x + y), [positive(f32, 7, 333), positive(f32, 7, 333)]),
    ("log_nan", "log(x + y)", lambda x, y: np.log(x + y), [real(f32, 5, 101), real(f32, 5, 101)]),
    ("log_mixed", "log(x + y)", lambda x, y: np.log(x.astype(f64) + y), [positive(f32, 3, 40), positive(f64, 3, 40)]),
    ("choice", "x > 0 ? sqrt(x) * 2 : 0", lambda x: np.where(x > 0, np.sqrt(np.abs(x)) * f32(2), f32(0)),
     [real(f32, 9, 77)]),
    ("half_f32", "x * 0.1 + 1", lambda x: x * f32(0.1) + f32(1), [real(f32, 1, 1025)]),
    ("half_f64", "x * 0.1 + 1", lambda x: x * 0.1 + 1, [real(f64, 1, 1023)]),
    ("half_i32", "x * 0.5", lambda x: x * 0.5, [whole(i32, 4, 60)]),
    ("plus_i32", "x + 1", lambda x: x + i32(1), [whole(i32, 4, 60)]),
    ("times_i64", "x * y - 3", lambda x, y: x * y - 3, [whole(i64, 4, 60), whole(i64, 4, 60)]),
    ("mixed_integers", "x * y", lambda x, y: x.astype(i64) * y, [whole(u8, 4, 60), whole(i32, 4, 60)]),
    ("bytes", "x + y", lambda x, y: x + y, [whole(u8, 5, 51), whole(u8, 5, 51)]),
    ("quotient", "x / 7", lambda x: truncated(x, 7)[0], [whole(i32, 6, 50)]),
    ("remainder", "x % 7", lambda x: truncated(x, 7)[1], [whole(i64, 6, 50)]),
    ("bits", "(x ^ y) & 255 | x << 1", lambda x, y: ((x ^ y) & 255) | (x << 1), [whole(i64, 3, 50), whole(i64, 3, 50)]),
    ("max_nan", "max(x, y)", np.maximum, [real(f32, 7, 64), real(f32, 7, 64)]),
    ("min_f64", "min(x, y)", np.minimum, [real(f64, 7, 64), real(f64, 7, 64)]),
    ("max_i32", "max(x, y)", np.maximum, [whole(i32, 7, 64), whole(i32, 7, 64)]),
    ("abs_i32", "abs(x)", np.abs, [whole(i32, 7, 64)]),
    ("abs_f32", "abs(x)", np.abs, [real(f32, 7, 64)]),
    ("compare", "x < y", lambda x, y: (x < y).astype(f32), [real(f32, 7, 64), real(f32, 7, 64)]),
    ("power", "pow(x, 2) + exp(-x)", lambda x: x ** 2 + np.exp(-x), [positive(f32, 7, 64)]),
    ("waves", "sin(x) * cos(y) + z", lambda x, y, z: np.sin(x) * np.cos(y) + z,
     [positive(f64, 1, 300), positive(f64, 5, 1), positive(f64, 1, 1)]),
    ("row_and_column", "x - y", lambda x, y: x - y, [real(f32, 1, 1300), real(f32, 4, 1)]),
    ("one_for_all", "hypot(x, y)", np.hypot, [positive(f32, 3, 1031), positive(f32, 1, 1)]),
    ("four", "x * y + z * w", lambda x, y, z, w: x * y + z * w, [positive(f64, 3, 21) for _ in range(4)]),
]


def main():
    GOLDEN.mkdir(exist_ok=True)
    lines = []
    with np.errstate(all="ignore"):
        for name, expression, function, inputs in CASES:
            result = function(*inputs)
            assert all(a.ndim == 2 for a in inputs) and result.ndim == 2, name
            for i, a in enumerate(inputs):
                np.save(GOLDEN / f"{name}.{i}.npy", a)
            np.save(GOLDEN / f"{name}.out.npy", result)
            lines.append(f"{name} {len(inputs)} {expression}\n")
    (GOLDEN / "manifest.txt").write_text("".join(lines), encoding="ascii")


main()
