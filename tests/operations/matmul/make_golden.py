#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_matmul.c checks: matrices as they are stored, and NumPy's products of them.

Run by hand (NumPy is needed here and nowhere else); the files are kept with the sources. A case's files are
golden/<name>.a.npy, .b.npy and .c.npy. Products of floats are f64, computed from the matrices as they are stored; those
of integers are of their own dtype, in which they wrap.
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "golden"
rng = np.random.default_rng(20261125)


def case(name, a, b, transpose_a=False, transpose_b=False):
    c = (a.T if transpose_a else a).astype(a.dtype if a.dtype.kind == "i" else "f8") @ (b.T if transpose_b else b)
    for what, array in (("a", a), ("b", b), ("c", c)):
        np.save(HERE / f"{name}.{what}.npy", np.ascontiguousarray(array))


def noise(*shape):
    return rng.standard_normal(shape)


def integers(dtype, *shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


case("plain_f32", noise(9, 37).astype("f4"), noise(37, 21).astype("f4"))
case("at_f64", noise(30, 11), noise(30, 17), transpose_a=True)
case("bt_f32", noise(5, 64).astype("f4"), noise(33, 64).astype("f4"), transpose_b=True)
case("both_i32", integers("i4", 19, 10), integers("i4", 13, 19), transpose_a=True, transpose_b=True)
case("wraps_i64", integers("i8", 8, 12), integers("i8", 12, 7))
