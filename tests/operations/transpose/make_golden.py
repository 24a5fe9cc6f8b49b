#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_transpose.c checks: x and numpy.swapaxes(x, -1, -2) for each dtype.

Run by hand (NumPy is needed here and nowhere else). x has any bits: NaN of either sign with their payloads, infinities, -0. The
matrices are kept as one matrix, a batch of two below each other.
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "golden"
rng = np.random.default_rng(20261125)
DTYPES = {"u8": "u1", "i32": "<i4", "i64": "<i8", "f32": "<f4", "f64": "<f8"}
BATCH, HEIGHT, WIDTH = 2, 37, 21

for name, code in DTYPES.items():
    dtype = np.dtype(code)
    x = np.frombuffer(rng.bytes(BATCH * HEIGHT * WIDTH * dtype.itemsize), dtype).reshape(BATCH, HEIGHT, WIDTH)
    y = np.ascontiguousarray(np.swapaxes(x, -1, -2))
    np.save(HERE / f"{name}.in.npy", x.reshape(BATCH * HEIGHT, WIDTH))
    np.save(HERE / f"{name}.out.npy", y.reshape(BATCH * WIDTH, HEIGHT))
