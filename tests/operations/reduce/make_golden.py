#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_reduce.c checks: for each dtype a matrix x, and what NumPy finds in it along either axis.

Run by hand (NumPy is needed here and nowhere else). x.npy has 37 rows and 53 columns. NAME-AXIS.npy is one row: the sum (of integers i64, of
floats f64, which the test's bound is for), min, max, argmin and argmax. Floats have infinities and NaN in some rows and columns, zeros of both
signs, and equal extremes; integers the ends of their range.
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "golden"
rng = np.random.default_rng(20261125)
DTYPES = {"u8": "u1", "i32": "<i4", "i64": "<i8", "f32": "<f4", "f64": "<f8"}
SHAPE = 37, 53

for name, code in DTYPES.items():
    dtype = np.dtype(code)
    if dtype.kind == "f":
        x = rng.standard_normal(SHAPE).astype(dtype)
        x[3, 5], x[9, 5], x[20, 7], x[21, 7], x[30, 11], x[5, :] = np.nan, np.nan, np.inf, -np.inf, np.inf, 0
        x[5, 1], x[6, :], x[7, ::3] = -0.0, 2.5, 9
    else:
        info = np.iinfo(dtype)
        x = rng.integers(0, 50, SHAPE).astype(dtype)
        x[3, 5], x[9, 5], x[20, 7], x[21, 7], x[6, :] = info.min, info.min, info.max, info.max, 7
    np.save(HERE / f"{name}-x.npy", x)
    total = np.float64 if dtype.kind == "f" else np.int64
    for axis in (0, 1):
        results = {"sum": x.sum(axis, total), "min": x.min(axis), "max": x.max(axis), "argmin": x.argmin(axis), "argmax": x.argmax(axis)}
        for operation, result in results.items():
            np.save(HERE / f"{name}-{operation}-{axis}.npy", result.reshape(1, -1))
