#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_select.c checks: x and x[x != 0] of NumPy for each dtype.

Run by hand (NumPy is needed here and nowhere else). The inputs hold what is easily taken for zero or for something else: -0, NaN of either
sign, infinities, the smallest denormals, the least integers.
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "golden"
rng = np.random.default_rng(20261121)
DTYPES = {"u8": "u1", "i32": "<i4", "i64": "<i8", "f32": "<f4", "f64": "<f8"}
LENGTH = 1001


def special(dtype):
    if dtype.kind == "f":
        tiny = np.finfo(dtype).smallest_subnormal
        return np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, tiny, -tiny, 1.0], dtype)
    info = np.iinfo(dtype)
    return np.array([0, info.min, info.max, 1, info.max // 2 + 1], dtype)


for name, code in DTYPES.items():
    dtype = np.dtype(code)
    x = rng.integers(1, 100, LENGTH).astype(dtype)
    x[rng.random(LENGTH) < 0.4] = 0
    places = rng.choice(LENGTH, 300, replace=False)
    x[places] = rng.choice(special(dtype), 300)
    np.save(HERE / f"{name}.in.npy", x.reshape(1, -1))
    np.save(HERE / f"{name}.out.npy", x[x != 0].reshape(1, -1))
