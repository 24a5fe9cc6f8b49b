#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/ of elementwise and of allclose, against which test_elementwise.c and test_allclose.c check, by NumPy.

Run by hand (NumPy is needed here and nowhere else); the files are kept with the sources.

<dtype>.values.npy are special values; an operation of two inputs takes each with each, as rows and columns.
Square roots are rounded here by whole numbers and held against NumPy's; logarithms are NumPy's of the rounded sum, taken
in long double. Of allclose, <dtype>.{a,b}.npy are pairs, <dtype>.close.npy what np.isclose says of each with the
tolerances in TOLERANCES, one row each.
"""
import fractions
import math
import pathlib

import numpy as np

OPERATIONS = pathlib.Path(__file__).resolve().parents[1]
rng = np.random.default_rng(20261121)
DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
TOLERANCES = [(1e-5, 1e-8, False), (1e-5, 1e-8, True), (0.0, 0.0, False), (0.1, 0.0, False), (0.0, 0.25, True)]


def save(folder, name, array):
    np.save(OPERATIONS / folder / "golden" / f"{name}.npy", np.atleast_2d(array))


def special(dtype):
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return np.array([0, 1, -1, 2, -2, 7, 255, 65536, 16777217, info.max, info.max - 1, info.min, info.min + 1,
                         info.max // 2], dtype)
    info = np.finfo(dtype)
    return np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, info.tiny / 2,
                     info.smallest_subnormal, -info.smallest_subnormal, info.eps, 1 + info.eps, 1 - info.eps / 2, -0.5,
                     0.5, 2, math.e, 6, 7, 1e-3, 1e10, 0.88, math.pi], dtype)


def rounded_sqrt(x, dtype):
    """The square root rounded once, to nearest, by whole numbers."""
    if not x > 0 or math.isinf(x):
        return np.sqrt(x)
    digits = np.finfo(dtype).nmant + 1
    exact = fractions.Fraction(float(x))
    shift = 0
    while exact * fractions.Fraction(4) ** shift < fractions.Fraction(4) ** digits:
        shift += 1
    while exact * fractions.Fraction(4) ** shift >= fractions.Fraction(4) ** (digits + 1):
        shift -= 1
    scaled = exact * fractions.Fraction(4) ** shift  # its root has one bit more than fits
    root = math.isqrt(scaled.numerator // scaled.denominator)
    remainder = scaled != root * root
    up = root % 2 == 1 and (remainder or (root // 2) % 2 == 1)
    return dtype(math.ldexp((root // 2 + up), 1 - shift))


def elementwise():
    for name, dtype in DTYPES.items():
        v = special(dtype)
        x, y = np.meshgrid(v, v, indexing="ij")
        save("elementwise", f"{name}.values", v)
        save("elementwise", f"{name}.maximum", np.maximum(x, y))
        save("elementwise", f"{name}.increment", v + dtype(1))
        if np.issubdtype(dtype, np.integer):
            save("elementwise", f"{name}.sqrt", np.sqrt(v.astype("f8")))
            save("elementwise", f"{name}.log_of_sum", np.log(x.astype("f8") + y.astype("f8")))
            continue
        root = np.array([rounded_sqrt(e, dtype) for e in v], dtype)
        np.testing.assert_array_equal(root, np.sqrt(v))
        save("elementwise", f"{name}.sqrt", root)
        save("elementwise", f"{name}.log_of_sum", np.log((x + y).astype(np.longdouble)).astype("f8"))


def mixed():
    """Two dtypes: maximum in the dtype that NumPy takes, too."""
    for one in DTYPES:
        for other in DTYPES:
            if one != other:
                x, y = np.meshgrid(special(DTYPES[one]), special(DTYPES[other]), indexing="ij")
                save("elementwise", f"{one}_{other}.maximum", np.maximum(x, y))


def allclose(name, dtype):
    values = special(dtype)
    a, b = (m.ravel() for m in np.meshgrid(values, values, indexing="ij"))
    for relative, absolute, _ in TOLERANCES:  # at the bound and beside it
        on_b = rng.uniform(-100, 100, 24).astype(dtype)
        bound = dtype(absolute) + dtype(relative) * np.abs(on_b)
        for sign in (dtype(1), dtype(-1)):
            edge = on_b + sign * bound
            for beside in (edge, np.nextafter(edge, dtype(-np.inf)), np.nextafter(edge, dtype(np.inf))):
                a, b = np.concatenate([a, beside]), np.concatenate([b, on_b])
    assert a.dtype == b.dtype == dtype
    save("allclose", f"{name}.a", a)
    save("allclose", f"{name}.b", b)
    save("allclose", f"{name}.close", np.array([np.isclose(a, b, relative, absolute, equal_nan).astype("u1")
                                                for relative, absolute, equal_nan in TOLERANCES]))


if __name__ == "__main__":
    for folder in ("elementwise", "allclose"):
        (OPERATIONS / folder / "golden").mkdir(exist_ok=True)
    with np.errstate(all="ignore"):
        elementwise()
        mixed()
        allclose("f32", np.float32)
        allclose("f64", np.float64)
