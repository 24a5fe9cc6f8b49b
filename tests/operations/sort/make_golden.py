#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_sort.c and test_merge.c check: numbers, numpy.sort of them, and where each would be
among the sorted ones by numpy.searchsorted. Run by hand.

Files: <dtype>.numbers.npy, <dtype>.sorted.npy and <dtype>.places.npy, each of one row.
"""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "golden"
rng = np.random.default_rng(20240611)
COUNT = 600


def floats(dtype, bits):
    """Normal numbers, any bit pattern, repeated ones, and what is special; NaN of both signs, with payloads."""
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, np.finfo(dtype).max, np.finfo(dtype).min,
                        np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal], dtype)
    any_bits = rng.integers(0, np.iinfo(bits).max, COUNT // 4, bits, endpoint=True).view(dtype)
    signed_nan = (np.array([np.nan] * 6, dtype).view(bits) | bits(1 << 8 * dtype().itemsize - 1)
                  | rng.integers(0, 1000, 6).astype(bits)).view(dtype)
    values = np.concatenate([rng.standard_normal(COUNT // 2).astype(dtype), any_bits, special, -special, signed_nan,
                             rng.integers(-3, 4, COUNT // 8).astype(dtype)])
    return rng.permutation(values)


def integers(dtype):
    limits = np.iinfo(dtype)
    special = np.array([limits.min, limits.min + 1, -1, 0, 1, limits.max - 1, limits.max], dtype)
    return rng.permutation(np.concatenate([rng.integers(limits.min, limits.max, COUNT, dtype, endpoint=True), special,
                                           special, rng.integers(-3, 4, COUNT // 8).astype(dtype)]))


for name, numbers in (("f32", floats(np.float32, np.uint32)), ("f64", floats(np.float64, np.uint64)),
                      ("i32", integers(np.int32)), ("i64", integers(np.int64))):
    np.save(HERE / f"{name}.numbers.npy", numbers[None, :])
    np.save(HERE / f"{name}.sorted.npy", np.sort(numbers)[None, :])
    np.save(HERE / f"{name}.places.npy", np.searchsorted(np.sort(numbers), numbers)[None, :])
