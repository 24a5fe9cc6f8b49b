# SPDX-License-Identifier: MIT
"""Makes and reads files for the tests of the command, with nothing but Python's standard library.

    fixtures FOLDER           writes the input files, good and bad
    close A B TOLERANCE       the arrays of two .npy files agree, shape and each element
    json FILE EXPRESSION      a Python expression about the document d, a strict JSON one, is true
    csv FILE EXPRESSION       the same about the rows, a list of dictionaries
    png FILE EXPRESSION       the same about w, h, depth, colour and px(x, y), a tuple of 8-bit samples
    npy FILE EXPRESSION       the same about descr, shape and v, the values
    serve                     does what stdin says, one after the other: the number of words, the folder, the action and
                              its arguments, each ended by a zero byte; writes a line for each, "ok" or what is wrong
"""
import ast
import csv
import json
import math
import os
import pathlib
import struct
import sys
import zlib

# ----------------------------------------------------------------------------------------------------------------- .npy

CODES = {"f2": "e", "f4": "f", "f8": "d", "u1": "B", "i1": "b", "i2": "h", "u2": "H", "i4": "i", "i8": "q"}


def npy_header(text, version=1):
    text += " " * (-(len(text) + (11 if version == 1 else 13)) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode()


def npy_text(descr, shape, fortran=False):
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}"


def npy(values, shape, descr="<f8", fortran=False, version=1):
    order = ">" if descr[0] == ">" else "<"
    body = struct.pack(f"{order}{len(values)}{CODES[descr[1:]]}", *values)
    return npy_header(npy_text(descr, shape, fortran), version) + body


def read_npy(path):
    data = pathlib.Path(path).read_bytes()
    assert data[:6] == b"\x93NUMPY", f"{path} is no .npy"
    form, start = ("<H", 10) if data[6] == 1 else ("<I", 12)
    length = struct.unpack_from(form, data, 8)[0]
    header = ast.literal_eval(data[start:start + length].decode())
    count, body = math.prod(header["shape"]), data[start + length:]
    order = ">" if header["descr"][0] == ">" else "<"
    assert not header["fortran_order"]
    return header["descr"], header["shape"], struct.unpack(f"{order}{count}{CODES[header['descr'][1:]]}", body)


# ----------------------------------------------------------------------------------------------------------------- .png

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, depth, colour, lines, palette=b""):
    """lines: the packed bytes of each row"""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + bytes(line) for line in lines))
    return (SIGNATURE + chunk(b"IHDR", head) + (chunk(b"PLTE", palette) if palette else b"") + chunk(b"IDAT", body)
            + chunk(b"IEND", b""))


def paeth(a, b, c):
    return min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]


def read_png(path):
    """width, height, depth, colour type and the rows of bytes; not interlaced only"""
    data, offset, packed = pathlib.Path(path).read_bytes(), 8, b""
    assert data[:8] == SIGNATURE, f"{path} is no PNG"
    while offset < len(data):
        length, kind = struct.unpack_from(">I4s", data, offset)
        body = data[offset + 8:offset + 8 + length]
        checksum = struct.unpack_from(">I", data, offset + 8 + length)[0]
        assert checksum == zlib.crc32(kind + body), f"{path}: checksum of {kind}"
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
        packed += body if kind == b"IDAT" else b""
        offset += 12 + length
    assert kind == b"IEND" and not interlaced
    bits = CHANNELS[colour] * depth
    raw, step, rows, up = zlib.decompress(packed), max(bits // 8, 1), [], bytes((width * bits + 7) // 8)
    for i in range(height):
        filtered, *line = raw[i * (len(up) + 1):(i + 1) * (len(up) + 1)]
        for j in range(len(line)):
            left, corner = (line[j - step], up[j - step]) if j >= step else (0, 0)
            line[j] = (line[j] + (0, left, up[j], (left + up[j]) // 2, paeth(left, up[j], corner))[filtered]) % 256
        rows.append(up := bytes(line))
    return width, height, depth, colour, rows


# ------------------------------------------------------------------------------------------------------------- fixtures


def good_files():
    values = [i * 0.5 - 3 for i in range(12)]
    across = [values[i * 4 + j] for j in range(4) for i in range(3)]
    yield "one.npy", npy([1.0], (1, 1), "<f4")
    yield "one64.npy", npy([1.0], (1, 1))
    yield "image.npy", npy(values, (3, 4))
    yield "image32.npy", npy(values, (3, 4), "<f4")
    yield "kernel.npy", npy([1, 2, 0, -1, 3, 1], (3, 2))
    yield "fortran.npy", npy(across, (3, 4), fortran=True)
    yield "big_endian.npy", npy(values, (3, 4), ">f8")
    yield "version2.npy", npy(values, (3, 4), version=2)
    yield "version3.npy", npy(values, (3, 4), version=3)
    for descr in ("|u1", "|i1", "<i2", "<u2", "<i4", "<i8", "<f2"):
        yield f"ints_{descr[1:]}.npy", npy(list(range(12)), (3, 4), descr)
    yield "ints.npy", npy(list(range(12)), (3, 4))
    yield "nan.npy", npy([1, math.nan, 3, math.inf], (2, 2))
    yield "tall.npy", npy([1, 2, 3], (3, 1))
    yield "constant.npy", npy([3] * 64 * 118, (64, 118))  # of which Jacobi's rotations leave columns that are rounding

    grey = [[0, 51, 102], [153, 204, 255]]
    floats = [v / 255 for row in grey for v in row]
    yield "grey.npy", npy(floats, (2, 3), "<f4")
    yield "grey8.png", png(3, 2, 8, 0, grey)
    yield "grey16.png", png(3, 2, 16, 0, [[b for v in row for b in (v, v)] for row in grey])
    yield "grey_alpha.png", png(3, 2, 8, 4, [[b for v in row for b in (v, 17)] for row in grey])
    yield "rgb.png", png(3, 2, 8, 2, [[v for v in row for _ in range(3)] for row in grey])
    yield "rgba.png", png(3, 2, 8, 6, [[b for v in row for b in (v, v, v, 0)] for row in grey])
    palette = bytes(v for row in grey for v in row for _ in range(3))
    yield "palette.png", png(3, 2, 8, 3, [[0, 1, 2], [3, 4, 5]], palette)
    yield "bits.png", png(3, 2, 1, 0, [[0b01000000], [0b10100000]])
    yield "bits.npy", npy([0, 1, 0, 1, 0, 1], (2, 3), "<f4")
    yield "grey4.png", png(3, 2, 4, 0, [[0x03, 0x60], [0x9c, 0xf0]])
    colours = [[255, 0, 0, 0, 255, 0, 0, 0, 255]]
    yield "colours.png", png(3, 1, 8, 2, colours)
    yield "colours.npy", npy([0.299, 0.587, 0.114], (1, 3), "<f4")


def bad_files():
    whole, picture = npy([1.0] * 12, (3, 4)), png(3, 2, 8, 0, [[0, 51, 102], [153, 204, 255]])
    yield "empty.npy", b""
    yield "magic.npy", b"NUMPY" + whole[5:]
    yield "text.npy", b"1 2 3\n4 5 6\n"
    yield "truncated.npy", whole[:-8]
    yield "truncated_header.npy", whole[:40]
    yield "longer.npy", whole + b"xxxxxxxx"
    yield "version9.npy", whole[:6] + b"\x09" + whole[7:]
    yield "huge.npy", npy_header(npy_text("<f8", (10**6, 10**6))) + bytes(8)
    yield "overflow.npy", npy_header(npy_text("<f8", (2**62, 2**62))) + bytes(8)
    yield "negative.npy", npy_header(npy_text("<f8", (-3, -4))) + bytes(96)
    yield "no_shape.npy", npy_header("{'descr': '<f8', 'fortran_order': False, }") + bytes(96)
    yield "garbage_header.npy", npy_header("{'descr': ((((((((((") + bytes(96)
    yield "complex.npy", npy_header(npy_text("<c16", (2, 3))) + bytes(96)
    yield "object.npy", npy_header(npy_text("|O", (3, 4))) + bytes(96)
    yield "string.npy", npy_header(npy_text("<U2", (3, 4))) + bytes(96)
    yield "line.npy", npy([1, 2, 3], (3,))
    yield "cube.npy", npy([1] * 8, (2, 2, 2))
    yield "none.npy", npy([], (0, 4))
    yield "crossed.npy", npy([1.0] * 10, (1, 10))
    yield "empty.png", b""
    yield "magic.png", b"\x88" + picture[1:]
    yield "truncated.png", picture[:50]
    yield "checksum.png", picture[:20] + bytes([picture[20] ^ 1]) + picture[21:]
    yield "huge.png", png(2**31 - 1, 2**31 - 1, 16, 6, [b"x"])
    yield "jpeg.png", b"\xff\xd8\xff\xe0" + bytes(100)
    yield "image.tiff", b"II*\0" + bytes(100)


def fixtures(folder):
    for name, data in (*good_files(), *bad_files()):
        (pathlib.Path(folder) / name).write_bytes(data)


# --------------------------------------------------------------------------------------------------------------- checks


def close(a, b, tolerance):
    (_, shape_a, values_a), (_, shape_b, values_b) = read_npy(a), read_npy(b)
    assert shape_a == shape_b, f"{a} is {shape_a}, {b} is {shape_b}"
    for i, (x, y) in enumerate(zip(values_a, values_b)):
        same = x == y or (math.isnan(x) and math.isnan(y)) or abs(x - y) <= float(tolerance)
        assert same, f"{a} and {b} differ at element {i}: {x!r}, {y!r}"


def not_json(constant):
    raise ValueError(f"{constant} is not JSON")


def holds(expression, names):
    assert eval(f"({expression})", dict(names, math=math)), f"not true: {expression}"  # the test's own words


def check_json(path, expression):
    holds(expression, {"d": json.loads(pathlib.Path(path).read_text(), parse_constant=not_json)})


def check_csv(path, expression):
    with open(path, newline="") as file:
        table = list(csv.reader(file))
    assert len({len(row) for row in table}) == 1, "rows of different lengths"
    assert len(set(table[0])) == len(table[0]), "two columns of one name"
    holds(expression, {"names": table[0], "rows": [dict(zip(table[0], row)) for row in table[1:]]})


def check_png(path, expression):
    width, height, depth, colour, rows = read_png(path)
    n = CHANNELS[colour]
    assert depth == 8
    holds(expression, {"w": width, "h": height, "depth": depth, "colour": colour,
                       "px": lambda x, y: tuple(rows[y][x * n:(x + 1) * n])})


def check_npy(path, expression):
    descr, shape, values = read_npy(path)
    holds(expression, {"descr": descr, "shape": shape, "v": values})


def words(stream):
    """The words of each request."""
    def word():
        read = bytearray()
        while (byte := stream.read(1)) not in (b"\0", b""):
            read += byte
        return read.decode()

    while count := word():
        yield [word() for _ in range(int(count))]


def serve():
    replies, sys.stdout = sys.stdout, sys.stderr  # an expression may print
    for folder, action, *arguments in words(sys.stdin.buffer):
        os.chdir(folder)
        try:
            actions[action](*arguments)
            reply = "ok"
        except Exception as error:  # whatever it is, it is the answer
            reply = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(reply, file=replies, flush=True)


if __name__ == "__main__":
    actions = {"fixtures": fixtures, "close": close, "json": check_json, "csv": check_csv, "png": check_png,
               "npy": check_npy, "serve": serve}
    try:
        actions[sys.argv[1]](*sys.argv[2:])
    except (AssertionError, ValueError, KeyError, struct.error, zlib.error, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
