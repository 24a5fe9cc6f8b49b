#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_convolve1d.c checks: vectors, and numpy.convolve of them.

Run by hand (NumPy and SciPy are needed here and nowhere else); the files are kept with the sources. The inputs come from
a seeded generator, the full results from numpy.convolve in f64, which adds nothing for what lies outside the vectors;
`same` and `valid` are cut from those, as scipy.signal.convolve does, which is asserted where all numbers are finite.

golden/manifest.txt has one line a case: its name, whether all its numbers are finite (1 or 0), and its modes. A
case's files are <name>.signal.npy, <name>.kernel.npy and <name>.<mode>.npy.
"""
import pathlib

import numpy as np
import scipy.signal

HERE = pathlib.Path(__file__).resolve().parent / "golden"
ALL = ("full", "same", "valid")
rng = np.random.default_rng(20261121)


def noise(size, dtype="f8"):
    return rng.standard_normal(size).astype(dtype)


def put(vector, **values):
    for place, value in values.items():
        vector[int(place[1:])] = value
    return vector


def cut(full, signal, kernel, mode):
    short = min(signal, kernel)
    start, length = {"full": (0, len(full)), "same": ((kernel - 1) // 2, signal),
                     "valid": (short - 1, len(full) - 2 * (short - 1))}[mode]
    return full[start:start + length]


def cases():
    diagonal = np.exp(-np.linspace(-2, 2, 15)**2)  # of exp(-r^2/2): r^2 is twice the square of each
    inf, nan = np.inf, np.nan
    for dtype, bits in (("f4", "f32"), ("f8", "f64")):
        yield f"gaussian_{bits}", (np.arange(300) % 16 == 8).astype(dtype), diagonal.astype(dtype), ALL
        yield f"even_{bits}", noise(101, dtype), noise(8, dtype), ALL
        yield f"long_{bits}", noise(40, dtype), noise(333, dtype), ALL
        yield f"one_{bits}", noise(1, dtype), noise(1, dtype), ALL
        yield f"one_tap_{bits}", noise(37, dtype), noise(1, dtype), ALL
        yield f"equal_{bits}", noise(64, dtype), noise(64, dtype), ALL
    yield "mixed", noise(90, "f4"), noise(7), ALL
    yield "integers", rng.integers(-9, 9, 77).astype("i4"), rng.integers(-9, 9, 6).astype("i8"), ALL
    yield "bytes", rng.integers(0, 255, 50).astype("u1"), noise(5, "f4"), ALL
    yield "nan_signal", put(noise(60), p0=nan, p31=nan), noise(9), ALL
    yield "inf_signal", put(noise(60), p5=inf, p20=-inf, p24=inf, p59=inf), noise(9), ALL
    yield "nan_kernel", noise(60), put(noise(9), p4=nan), ALL
    yield "inf_kernel", noise(60), put(noise(9), p0=inf, p8=-inf), ALL
    yield "inf_first_tap", noise(20, "f4"), put(noise(5, "f4"), p0=inf), ALL
    yield "inf_long_kernel", put(noise(6), p2=inf), put(noise(40), p0=-inf, p39=nan), ALL
    yield "inf_meets_zero", put(np.zeros(30), p10=inf), put(noise(5), p2=0), ALL
    yield "overflow", put(noise(30, "f4"), p11=3e38, p12=3e38), np.ones(3, "f4"), ALL


def main():
    HERE.mkdir(exist_ok=True)
    lines = ["# name, finite, modes; see make_golden.py"]
    for name, signal, kernel, modes in cases():
        finite = bool(np.isfinite(signal).all() and np.isfinite(kernel).all()) and name != "overflow"
        with np.errstate(invalid="ignore", over="ignore"):
            full = np.convolve(signal.astype("f8"), kernel.astype("f8"))
            if signal.dtype == kernel.dtype == np.float32:  # computed in f32, where what is too large is infinite
                full[np.abs(full) > np.finfo("f4").max] *= np.inf
        np.save(HERE / f"{name}.signal.npy", signal)
        np.save(HERE / f"{name}.kernel.npy", kernel)
        for mode in modes:
            result = cut(full, len(signal), len(kernel), mode)
            if finite:
                scipys = scipy.signal.convolve(signal.astype("f8"), kernel.astype("f8"), mode, "direct")
                np.testing.assert_allclose(result, scipys, rtol=1e-12, atol=1e-12)
            np.save(HERE / f"{name}.{mode}.npy", result)
        lines.append(f"{name} {int(finite)} {' '.join(modes)}")
    (HERE / "manifest.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
