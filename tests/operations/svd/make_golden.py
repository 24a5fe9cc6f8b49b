#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the matrices of test_svd.c and their singular values by SciPy (LAPACK's gesvd, in f64) into golden/:

    <name>.a.npy   the matrix          <name>.s.npy   all its singular values, f64, one row

Needs NumPy and SciPy. The slice is that of tests/data/mri.
"""
import pathlib
import sys

import numpy as np
import scipy.linalg

here = pathlib.Path(__file__).resolve().parent / "golden"
tests = here.parents[2]
sys.path.insert(0, str(tests / "cli"))
import files  # noqa: E402: what reads a PNG without further packages

rng = np.random.default_rng(20240607)
normal = rng.standard_normal


def orthogonal(n):
    return np.linalg.qr(normal((n, n)))[0]


matrices = {
    "square_f64": normal((24, 24)),
    "square_f32": normal((33, 33)).astype("f4"),
    "tall_f64": normal((61, 17)),
    "tall_f32": normal((130, 19)).astype("f4"),
    "wide_f64": normal((17, 45)),
    "wide_f32": normal((9, 70)).astype("f4"),
    "one": np.array([[-3.0]]),
    "row": normal((1, 9)),
    "column_f32": normal((9, 1)).astype("f4"),
    "zeros": np.zeros((7, 5)),
    "rank_3_f64": normal((30, 3)) @ normal((3, 22)),
    "rank_3_f32": (normal((22, 3)) @ normal((3, 30))).astype("f4"),
    "ones_f32": np.ones((20, 13), "f4"),
    "repeated": orthogonal(20) * 2,
    "identity_f32": np.eye(16, dtype="f4"),
    "zero_columns": np.hstack([normal((10, 4)), np.zeros((10, 2)), normal((10, 3))]),
    "graded": orthogonal(26) @ np.diag(10.0 ** -np.linspace(0, 18, 26)) @ orthogonal(26),
    "tiny_f32": (normal((20, 14)) * 1e-30).astype("f4"),
    "tiny_f64": normal((14, 20)) * 1e-30,
    "tiniest_f64": normal((9, 12)) * 1e-300,
    "huge_f32": (normal((14, 20)) * 1e30).astype("f4"),
    "huge_f64": normal((20, 14)) * 1e30,
    "hugest_f64": normal((12, 9)) * 1e300,
    "integers": rng.integers(-9, 10, (15, 11), dtype="i4"),
    "brain": np.array([list(row) for row in files.read_png(tests / "data/mri/slice_072.png")[4]], dtype="u1"),
}
for name, a in matrices.items():
    scale = np.abs(a.astype("f8")).max() or 1.0
    s = scipy.linalg.svd(a.astype("f8") / scale, compute_uv=False, lapack_driver="gesvd") * scale
    np.save(here / f"{name}.a.npy", a)
    np.save(here / f"{name}.s.npy", s[None, :])
