#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes golden/: arrays of each dtype, their numpy.cumsum and numpy.maximum.accumulate. The floats are eighths, so that
sums in any order are exact; one array has NaN and infinities. Run it with NumPy; the results are kept in the repository."""
import os

import numpy

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
random = numpy.random.default_rng(20)
COUNT = 333


def save(name, array):
    numpy.save(os.path.join(folder, name), array.reshape(1, -1))


for name, dtype in (("u8", "u1"), ("i32", "<i4"), ("i64", "<i8"), ("f32", "<f4"), ("f64", "<f8")):
    if dtype[-2] == "f":
        values = (random.integers(-800, 800, COUNT) / 8).astype(dtype)
    else:
        limits = numpy.iinfo(dtype)
        values = random.integers(limits.min, limits.max, COUNT, dtype=dtype, endpoint=True)
    save(name + ".in", values)
    save(name + ".sum", numpy.cumsum(values, dtype=dtype if dtype[-2] == "f" else "<i8"))
    save(name + ".maximum", numpy.maximum.accumulate(values))
values = (random.integers(-800, 800, COUNT) / 8).astype("<f4")
values[100], values[200], values[300] = numpy.inf, -numpy.inf, numpy.nan
with numpy.errstate(invalid="ignore"):
    save("special.in", values)
    save("special.sum", numpy.cumsum(values))
    save("special.maximum", numpy.maximum.accumulate(values))
