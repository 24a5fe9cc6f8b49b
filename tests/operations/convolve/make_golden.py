#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_convolve.c checks: images, kernels and scipy.signal.convolve2d of them.

Run by hand (NumPy and SciPy are needed here and nowhere else); the files are kept with the sources. The numbers in them
do not depend on the machine: the inputs come from a seeded generator or from a picture, the results are computed in f64
from the inputs as they are stored, and only those results are from SciPy.

manifest.txt has one line a case: its name, whether its kernel has rank one (1 or 0), and its modes. A case's files are
<name>.image.npy, <name>.kernel.npy and <name>.<mode>.npy.
"""
import pathlib
import struct
import sys
import zlib

import numpy as np
import scipy
from scipy.signal import convolve2d

HERE = pathlib.Path(__file__).resolve().parent / "golden"
ALL = ("full", "same", "valid")
rng = np.random.default_rng(20240607)


def noise(rows, columns, dtype="f8"):
    return rng.standard_normal((rows, columns)).astype(dtype)


def product(rows, columns, dtype="f8"):
    """A kernel of rank one: exact in f64 for the f32 factors it is made of, rounded once to dtype."""
    return np.outer(noise(rows, 1, "f4").astype("f8"), noise(1, columns, "f4").astype("f8")).astype(dtype)


def with_values(array, **values):
    for place, value in values.items():
        array.flat[int(place[1:])] = value
    return array


def read_grey_png(path):
    """An 8-bit grey PNG that is not interlaced, as the slices are."""
    data, offset, pixels = path.read_bytes(), 8, b""
    while offset < len(data):
        length, kind = struct.unpack_from(">I4s", data, offset)
        body = data[offset + 8:offset + 8 + length]
        if kind == b"IHDR":
            columns, rows, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, colour, interlaced) == (8, 0, 0)
        elif kind == b"IDAT":
            pixels += body
        offset += 12 + length
    lines = np.frombuffer(zlib.decompress(pixels), "u1").reshape(rows, columns + 1).astype(int)
    image = np.zeros((rows + 1, columns + 1), int)
    for i, (kind, *line) in enumerate(lines):
        for j, value in enumerate(line):
            left, up, corner = image[i + 1, j], image[i, j + 1], image[i, j]
            paeth = min((left, up, corner), key=lambda x: abs(left + up - corner - x))
            image[i + 1, j + 1] = (value + (0, left, up, (left + up) // 2, paeth)[kind]) % 256
    return image[1:, 1:].astype("u1")


def gaussian(size, factor, dtype="f8"):
    x = np.linspace(-2, 2, size)
    return np.exp(-factor * (x[:, None] ** 2 + x[None, :] ** 2)).astype(dtype)


def cases():
    """name, image, kernel, modes"""
    for dtype, suffix in (("f4", "f32"), ("f8", "f64")):
        yield f"tall_{suffix}", noise(23, 14, dtype), noise(5, 3, dtype), ALL
        yield f"wide_{suffix}", noise(9, 33, dtype), noise(3, 7, dtype), ALL
        yield f"even_{suffix}", noise(16, 17, dtype), noise(4, 6, dtype), ALL
        yield f"rank_one_{suffix}", noise(17, 19, dtype), product(5, 7, dtype), ALL
        yield f"rank_two_{suffix}", noise(13, 15, dtype), product(5, 5, dtype) + product(5, 5, dtype), ALL
        yield f"larger_kernel_{suffix}", noise(6, 8, dtype), noise(11, 9, dtype), ALL
        yield f"larger_rank_one_{suffix}", noise(5, 6, dtype), product(9, 8, dtype), ALL
        yield f"gaussian_{suffix}", noise(21, 20, dtype), gaussian(15, 0.5, dtype), ALL
        yield f"crossed_{suffix}", noise(4, 15, dtype), noise(7, 6, dtype), ("full", "same")
        yield f"extremes_{suffix}", with_values(noise(8, 9, dtype), _3=1e30, _40=-1e-30, _60=0), noise(3, 3, dtype), ALL
    yield "one_by_one", noise(1, 1), noise(1, 1), ALL
    yield "one_element_kernel", noise(7, 5), noise(1, 1), ALL
    yield "one_element_image", noise(1, 1), noise(4, 5), ALL
    yield "row_by_row", noise(1, 41), noise(1, 6), ALL
    yield "column_by_column", noise(41, 1), noise(6, 1), ALL
    yield "row_by_column", noise(1, 12), noise(9, 1), ("full", "same")
    yield "rows_kernel", noise(11, 18), noise(1, 5), ALL
    yield "columns_kernel", noise(18, 11), noise(5, 1), ALL
    yield "same_size", noise(7, 7), noise(7, 7), ALL
    yield "zeros_image", np.zeros((9, 8)), noise(3, 4), ALL
    yield "zeros_kernel", noise(9, 8), np.zeros((3, 4)), ALL
    # Zeros on the edges of a kernel of rank one, where a factor cannot be found by dividing by the corner.
    yield "zero_corner", noise(12, 10), np.outer([0., 2., -1., 0.], [0., 0., 3., 1.5]), ALL
    yield "nan_image", with_values(noise(12, 13), _30=np.nan), noise(3, 4), ALL
    yield "inf_image", with_values(noise(12, 13), _30=np.inf, _100=-np.inf, _101=np.inf), noise(3, 3), ALL
    yield "inf_image_rank_one", with_values(noise(12, 13), _17=np.inf, _100=-np.inf), product(3, 5), ALL
    yield "inf_image_zeros", with_values(noise(9, 9), _40=np.inf), np.outer([1., 0., 2.], [1., 3., 0.]), ALL
    yield "minus_zero", with_values(np.full((6, 7), -0.0), _20=1.0), with_values(np.full((3, 3), -0.0), _4=2.0), ALL
    # Outside the image are zeros, and they are multiplied too: 0 * NaN and 0 * inf are NaN.
    yield "nan_kernel", noise(6, 7), with_values(noise(3, 3), _4=np.nan), ALL
    yield "inf_kernel", noise(6, 7), with_values(noise(3, 4), _2=np.inf), ALL
    yield "inf_larger_kernel", noise(3, 4), with_values(noise(5, 6), _8=np.inf), ALL
    yield "rows_u8", rng.integers(0, 256, (9, 14), "u1"), noise(3, 3, "f4"), ALL
    yield "integers", rng.integers(-9, 9, (11, 8), "i4"), rng.integers(-9, 9, (3, 4), "i8"), ALL
    yield "mixed", noise(10, 12, "f4"), noise(4, 3, "f8"), ALL
    # Sobel's edges of a real slice: rank one, antisymmetric, so a correlation would turn the sign.
    slice_072 = read_grey_png(HERE.parents[2] / "data" / "mri" / "slice_072.png")
    yield "mri", slice_072[60:108, 80:120], np.outer([1, 2, 1], [1, 0, -1]).astype("f4"), ("same",)


def is_rank_one(kernel):
    if not np.isfinite(kernel).all():
        return False
    values = np.linalg.svd(kernel.astype("f8"), compute_uv=False)
    return values[0] > 0 and values[1:].max(initial=0) <= 1e-6 * values[0]


def main():
    for old in HERE.glob("*.npy"):
        old.unlink()
    made_with = f"NumPy {np.__version__}, SciPy {scipy.__version__}"
    manifest = [f"# Made by make_golden.py with {made_with}: name, kernel of rank one, modes"]
    for name, image, kernel, modes in cases():
        np.save(HERE / f"{name}.image.npy", image)
        np.save(HERE / f"{name}.kernel.npy", kernel)
        with np.errstate(invalid="ignore"):
            for mode in modes:
                np.save(HERE / f"{name}.{mode}.npy", convolve2d(image.astype("f8"), kernel.astype("f8"), mode))
        manifest.append(f"{name} {int(is_rank_one(kernel))} {' '.join(modes)}")
    (HERE / "manifest.txt").write_text("\n".join(manifest) + "\n")


if __name__ == "__main__":
    sys.exit(main())
