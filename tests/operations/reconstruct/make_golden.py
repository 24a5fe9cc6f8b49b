#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden/, against which test_reconstruct.c checks: factors, and NumPy's products of them.

Run by hand (NumPy is needed here and nowhere else); the files are kept with the sources.
A case's files are golden/<name>.u.npy, .s.npy (1 x k), .vt.npy and for each rank .y<rank>.npy, in f64, computed
from the factors as they are stored. Of `brain` u, s and vt are numpy.linalg.svd of brain.image.npy, a part of the
picture tests/data/mri/slice_072.png as (x - min) / (max - min).
"""
import pathlib
import struct
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "golden"
rng = np.random.default_rng(20240611)


def grey_png(path):
    """An 8-bit grey PNG without interlacing: chunks, inflated, the filters of each row undone."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour, body[12]) == (8, 0, 0), "expected 8-bit grey, not interlaced"
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    raw = zlib.decompress(packed)
    rows = np.zeros((height + 1, width + 1), int)
    for i in range(height):
        line = raw[i * (width + 1):(i + 1) * (width + 1)]
        for j in range(width):
            a, b, c = rows[i + 1, j], rows[i, j + 1], rows[i, j]
            p = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            rows[i + 1, j + 1] = (line[j + 1] + (0, a, b, (a + b) // 2, p)[line[0]]) % 256
    return rows[1:, 1:]


def save(name, what, array):
    np.save(HERE / f"{name}.{what}.npy", np.ascontiguousarray(array))


def case(name, u, s, vt, ranks):
    save(name, "u", u)
    save(name, "s", s.reshape(1, -1))
    save(name, "vt", vt)
    u, s, vt = (x.astype("f8") for x in (u, s, vt))
    for rank in ranks:
        save(name, f"y{rank}", u[:, :rank] @ np.diag(s[:rank]) @ vt[:rank])


def noise(*shape):
    return rng.standard_normal(shape)


image = grey_png(HERE.parents[2] / "data/mri/slice_072.png")[80:130, 60:100].astype("f8")
image = (image - image.min()) / (image.max() - image.min())
save("brain", "image", image)
case("brain", *np.linalg.svd(image, full_matrices=False), ranks=(1, 10, 40))
case("wide_f32", noise(9, 7).astype("f4"), np.sort(rng.random(7))[::-1].astype("f4"), noise(7, 150).astype("f4"), (3, 7))
case("tall_f64", noise(131, 5), noise(5), noise(5, 3), (5,))
