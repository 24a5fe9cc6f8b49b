#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_histogram.c and tests/cli/histogram.sh check: x and numpy.histogram(x, bins, (lo, hi)) for each dtype.

Run by hand (NumPy is needed here and nowhere else). The inputs hold the edges themselves, the numbers next to them, NaN and infinities, and
the limits of integers. numpy.histogram compares floats in the dtype of x, Flynn as f64, so NumPy gets f64.
"""
import pathlib
import warnings

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "golden"
rng = np.random.default_rng(20261125)
# name: dtype, bins, lo, hi
CASES = {
    "u8": ("u1", 100, 10, 250), "i32": ("<i4", 300, -150, 150), "i64": ("<i8", 77, -1e3, 1e6), "f32": ("<f4", 1000, -1, 1),
    "f64": ("<f8", 10, 0, 1),
}
LENGTH = 1001


def numbers(dtype, bins, lo, hi):
    width = hi - lo
    x = rng.uniform(lo - width / 8, hi + width / 8, LENGTH)
    edges = np.linspace(lo, hi, bins + 1).astype(dtype)
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        near = np.concatenate([edges.astype("f8"), edges.astype("f8") - 1, edges.astype("f8") + 1, [info.min, info.max]])
        x = np.clip(np.round(np.concatenate([x, near])), info.min, min(info.max, 2**62))
        return x.astype(dtype)
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, lo, hi], dtype)
    near = [edges, np.nextafter(edges, dtype.type(-np.inf)), np.nextafter(edges, dtype.type(np.inf)), special]
    return np.concatenate([x.astype(dtype)] + near)


for name, (code, bins, lo, hi) in CASES.items():
    x = numbers(np.dtype(code), bins, lo, hi)
    rng.shuffle(x)
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")
        counts, _ = np.histogram(x.astype("f8"), bins, (lo, hi))
        clipped, _ = np.histogram(np.clip(x.astype("f8"), lo, hi), bins, (lo, hi))
    np.save(HERE / f"{name}.in.npy", x.reshape(1, -1))
    np.save(HERE / f"{name}.drop.npy", counts.astype("<i8").reshape(1, -1))
    np.save(HERE / f"{name}.clip.npy", clipped.astype("<i8").reshape(1, -1))
