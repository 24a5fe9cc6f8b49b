# SPDX-License-Identifier: MIT
"""What the test of `flynn batch` needs besides files.py, with nothing but Python's standard library.

    images FOLDER                      PNGs of many kinds and sizes
    inner FOLDER                       PNGs of a range whose results are not clipped
    noise FOLDER COUNT WIDTH HEIGHT    PNGs of random bytes
    factors FOLDER                     folders of factors, good and bad, and `expected`: what they make
    same FOLDER FOLDER                 the same names, the same bytes
    whole FOLDER                       every file in it is a whole PNG
    kinds FOLDER FOLDER                each PNG of the second has size, depth and colours of its namesake, and its alpha
    exact FOLDER FOLDER NAME...        and these all samples
    errors JSON FOLDER FOLDER          the errors told are those between the images, as far as their rounding lets see
    numbers JSON                       every number follows from the others
    lanes TRACE MODE                   spans of all stages; in mode full on several threads, and at the same time
    signal NAME FOLDER WORDS...        runs the command, sends it a signal (INT, TERM, INT-INT) once FOLDER has files
    impatient WORDS...                 the same with two, while it does what takes long
    late WORDS...                      the same in the middle of passes after the first one
    near FOLDER FOLDER                 as same, of images whose samples may differ by one
"""
import json
import math
import os
import pathlib
import random
import signal
import statistics
import struct
import subprocess
import sys
import time
import zlib

sys.dont_write_bytecode = True
import files  # noqa: E402 (beside this file)

# --------------------------------------------------------------------------------------------------------------- images


def ramp(x, y):
    """Not of rank 1, with all values from 0 to 1."""
    return (0.5 + 0.5 * math.sin(0.7 * x + 0.3 * y * y)) * (1 if (x + y) % 3 else 0.25)


def packed(values, depth):
    """A row of samples as bytes."""
    if depth == 16:
        return b"".join(struct.pack(">H", v) for v in values)
    text = "".join(format(v, f"0{depth}b") for v in values)
    text += "0" * (-len(text) % 8)
    return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))


def made(width, height, depth, colour, sample=None):
    most, channels = 2**depth - 1, files.CHANNELS[colour]
    sample = sample or (lambda x, y, c: round(most * ramp(x + 5 * c, y + c)))
    lines = [packed([sample(x, y, c) for x in range(width) for c in range(channels)], depth) for y in range(height)]
    return files.png(width, height, depth, colour, lines)


def many_images():
    for depth in (1, 2, 4, 8, 16):
        yield f"grey{depth}.png", made(20, 13, depth, 0)
    for depth in (8, 16):
        yield f"rgb{depth}.png", made(11, 14, depth, 2)
        yield f"grey_alpha{depth}.png", made(12, 12, depth, 4)
        yield f"rgba{depth}.png", made(13, 9, depth, 6)
    palette = bytes((7 * i * i + 40 * c) % 256 for i in range(16) for c in range(3))
    lines = [packed([(x * y + x) % 16 for x in range(10)], 4) for y in range(7)]
    yield "palette.png", files.png(10, 7, 4, 3, lines, palette)
    yield "one.png", made(1, 1, 8, 0)
    yield "row.png", made(17, 1, 8, 0)
    yield "column.png", made(1, 9, 16, 2)
    yield "constant.png", made(9, 8, 8, 0, lambda x, y, c: 77)
    yield "black.png", made(5, 5, 16, 0, lambda x, y, c: 0)
    yield "rank1.png", made(16, 15, 8, 0, lambda x, y, c: x * y)
    yield "rank1_16.png", made(30, 21, 16, 0, lambda x, y, c: 100 * x * y)
    for i in range(6):
        yield f"small{i}.png", made(24, 24, 8, 0, lambda x, y, c, i=i: round(255 * ramp(x + 3 * i, y)))


def images(folder):
    for name, data in many_images():
        (pathlib.Path(folder) / name).write_bytes(data)


def inner(folder):
    for depth in (8, 16):
        for kind in (0, 2, 6):
            quarter = 2**(depth - 2)
            data = made(40 + kind, 33, depth, kind, lambda x, y, c: round(quarter * (1.5 + ramp(x + 5 * c, y + c))))
            (pathlib.Path(folder) / f"inner{depth}_{kind}.png").write_bytes(data)


def noise(folder, count, width, height):
    numbers = random.Random(5)
    for i in range(int(count)):
        lines = [bytes(numbers.getrandbits(8) for _ in range(int(width))) for _ in range(int(height))]
        (pathlib.Path(folder) / f"{i:03}.png").write_bytes(files.png(int(width), int(height), 8, 0, lines))


def samples(path):
    """(width, height, depth, colour), and lists of samples, one a channel: a palette's are looked up."""
    width, height, depth, colour, rows = files.read_png(path)
    n = files.CHANNELS[colour]
    values = []
    for row in rows:
        if depth == 16:
            values += struct.unpack(f">{len(row) // 2}H", row)
        else:
            bits = "".join(format(byte, "08b") for byte in row)[:width * n * depth]
            values += [int(bits[i:i + depth], 2) for i in range(0, len(bits), depth)]
    if colour == 3:
        data = pathlib.Path(path).read_bytes()
        palette = data[data.index(b"PLTE") + 4:]
        values, n, depth, colour = [palette[3 * v + c] for v in values for c in range(3)], 3, 8, 2
    return (width, height, depth, colour), [values[c::n] for c in range(n)]


def colours(kind, planes):
    return planes[:-1] if kind[3] in (4, 6) else planes


# -------------------------------------------------------------------------------------------------------------- factors


def product(u, s, vt, rank):
    return [[sum(row[p] * s[p] * vt[p][j] for p in range(rank)) for j in range(len(vt[0]))] for row in u]


def write_npy(path, rows, descr="<f4"):
    nested = isinstance(rows[0], list)
    shape = (len(rows), len(rows[0])) if nested else (len(rows),)
    values = [v for row in rows for v in row] if nested else rows
    path.write_bytes(files.npy(values, shape, descr))


def factors(folder):
    folder = pathlib.Path(folder)
    numbers = random.Random(7)

    def matrix(rows, columns):
        return [[numbers.randint(-64, 64) / 32 for _ in range(columns)] for _ in range(rows)]

    def put(name, u, s, vt, descr="<f4"):
        (folder / name).mkdir(parents=True)
        for key, rows in (("u", u), ("s", s), ("vt", vt)):
            write_npy(folder / name / f"{key}.npy", rows, descr)

    for name, m, k, n, descr in (("good/a", 6, 3, 5, "<f4"), ("good/b", 6, 3, 5, "<f4"), ("good/c", 4, 4, 9, "<f8"),
                                 ("good/d", 1, 2, 1, "<f4"), ("alone", 7, 5, 6, "<f8")):
        u, s, vt = matrix(m, k), [8.0 / 2**p for p in range(k)], matrix(k, n)
        put(name, u, s, vt, descr)
        for rank in (1, 2, k):
            where = folder / "expected" / (str(rank) if rank < 3 else "all")
            where.mkdir(parents=True, exist_ok=True)
            write_npy(where / f"{pathlib.Path(name).name}.npy", product(u, s, vt, min(rank, k)), descr)
        if k == 2:
            write_npy(folder / "expected/all" / f"{pathlib.Path(name).name}.npy", product(u, s, vt, k), descr)
    put("bad/good", matrix(3, 2), [2.0, 1.0], matrix(2, 3))
    put("bad/mismatch", matrix(3, 2), [2.0, 1.0, 0.5], matrix(2, 3))
    put("bad/no_vt", matrix(3, 2), [2.0, 1.0], matrix(2, 3))
    (folder / "bad/no_vt/vt.npy").unlink()
    put("bad/broken", matrix(3, 2), [2.0, 1.0], matrix(2, 3))
    (folder / "bad/broken/s.npy").write_bytes(b"no numbers")
    (folder / "bad/nothing").mkdir()
    # So large on the disk, without taking it, that what is here is not read before the clock starts.
    put("large/good", matrix(3, 2), [2.0, 1.0], matrix(2, 3))
    put("large/huge", matrix(3, 2), [2.0, 1.0], matrix(2, 3))
    os.truncate(folder / "large/huge/u.npy", 3 << 30)


# --------------------------------------------------------------------------------------------------------------- checks


def names(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def same(a, b):
    assert names(a) == names(b) and names(a), f"{names(a)} and {names(b)}"
    for name in names(a):
        assert (pathlib.Path(a) / name).read_bytes() == (pathlib.Path(b) / name).read_bytes(), f"{name} differs"


def whole(folder):
    for name in names(folder):
        assert not name.endswith(".part"), f"{name} was left behind"
        files.read_png(pathlib.Path(folder) / name)
    return len(names(folder))


def kinds(inputs, outputs):
    assert names(outputs), "nothing was written"
    for name in names(outputs):
        (kind, before), (found, after) = samples(f"{inputs}/{name}"), samples(f"{outputs}/{name}")
        assert kind == found, f"{name} is {found}, was {kind}"
        if kind[3] in (4, 6):
            assert before[-1] == after[-1], f"{name}: alpha differs"


def exact(inputs, outputs, *which):
    for name in which:
        a, b = samples(f"{inputs}/{name}"), samples(f"{outputs}/{name}")
        assert a == b, f"{name} differs: {a[0]}, {b[0]}"


def near(a, b):
    assert names(a) == names(b) and names(a), f"{names(a)} and {names(b)}"
    for name in names(a):
        (kind_a, planes_a), (kind_b, planes_b) = samples(f"{a}/{name}"), samples(f"{b}/{name}")
        assert kind_a == kind_b, f"{name} is {kind_a} and {kind_b}"
        for p, q in zip(planes_a, planes_b):
            assert all(abs(x - y) <= 1 for x, y in zip(p, q)), f"{name} differs"


def normalized(plane, least, width):
    return [(v - least) / width if width else 0 for v in plane]


def errors(document, inputs, outputs):
    """||a - y|| / ||a|| from the files, where each sample of y is rounded by up to half a step, and none is clipped."""
    run = json.loads(pathlib.Path(document).read_text())["batch"]["runs"][0]
    worst = all_error = all_norm = all_slack = slack_of_worst = 0
    for name in names(outputs):
        (kind, before), (_, after) = samples(f"{inputs}/{name}"), samples(f"{outputs}/{name}")
        error = norm = slack = 0
        for a, y in zip(colours(kind, before), colours(kind, after)):
            least, width = min(a), max(a) - min(a)
            a, y = normalized(a, least, width), normalized(y, least, width)
            error += sum((p - q)**2 for p, q in zip(a, y))
            norm += sum(p * p for p in a)
            slack += len(a) * (0.51 / width)**2 if width else 0
        if norm:
            worst = max(worst, math.sqrt(error / norm))
            slack_of_worst = max(slack_of_worst, math.sqrt(slack / norm))
        all_error, all_norm, all_slack = all_error + error, all_norm + norm, all_slack + slack
    told, found = run["error"], math.sqrt(all_error / all_norm)
    assert found > 1e-3, "nothing to see"
    assert abs(told - found) <= math.sqrt(all_slack / all_norm) + 1e-6, f"error {told}, of the files {found}"
    assert abs(run["worst_error"] - worst) <= slack_of_worst + 1e-6, f"{run['worst_error']}, of the files {worst}"


def median(values):
    values, half = sorted(values), len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2 if values else math.nan


def spread(values):
    """The interquartile range over the median, quartiles interpolated as NumPy's."""
    if len(values) < 2:
        return math.nan
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return (third - first) / median(values)


def link_limit(run):
    moved = {stage["stage"]: stage["bytes"] for stage in run["stages"]}
    rates = run["link"]
    if not rates["h2d_bytes_per_s"]:
        return math.nan
    return max(moved.get("copy to device", 0) / rates["h2d_bytes_per_s"],
               moved.get("copy to host", 0) / rates["d2h_bytes_per_s"])


def bound_of(run, busy):
    """Which threads or engine were busy for the largest part of the time, and for how much of it."""
    groups = {"read, decode": ("read", "decode"), "decompose": ("decompose",),
              "check, encode, write": ("check", "encode", "write")}
    if run["pipeline"] != "full":
        groups = {"the host's thread": [stage for group in groups.values() for stage in group]}
    for engine in ("copy to device", "reconstruct", "copy to host"):
        groups[engine] = (engine,)
    return max(((name, sum(busy.get(stage, 0) for stage in stages)) for name, stages in groups.items()),
               key=lambda group: group[1])


def derived(batch):
    """Yields (key, told, recomputed) for each number that follows from others."""
    for run in batch["runs"]:
        told, wall = run["times_s"][-1], median(run["times_s"])
        yield "wall_s", run["wall_s"], wall
        last = "last_wall_s" if "last_wall_s" in run else "told_wall_s"  # flynn/1
        yield last, run[last], told
        yield "images_per_s", run["images_per_s"], run["done"] / wall
        yield "all of them", batch["count"], run["done"] + run["failed"] + run["dropped"] + run["already_there"]
        yield "failures", len(run["failures"]), run["failed"]
        if "spread" in run:  # which older documents lack, as each_s and bytes_per_s
            yield "spread", run["spread"], spread(run["times_s"])
            for stage in run["stages"]:
                yield "each_s", stage["each_s"], stage["busy_s"] / stage["count"]
                yield "bytes_per_s", stage["bytes_per_s"], stage["bytes"] / stage["busy_s"] if stage["bytes"] else math.nan
        busy = {stage["stage"]: stage["busy_s"] / (stage["threads"] or 1) / told for stage in run["stages"]}
        for stage in run["stages"]:
            yield f"utilization of {stage['stage']}", stage["utilization"], busy[stage["stage"]]
        yield "overlap", run["overlap"], sum(stage["busy_s"] for stage in run["stages"]) / told
        by, utilization = bound_of(run, busy)
        yield "bound_utilization", run["bound_utilization"], utilization
        yield "bound_by", run["bound_by"] == by or utilization == 0, True
        yield "limit_s", run["link"]["limit_s"], link_limit(run)
        yield "reached", run["link"]["reached"], link_limit(run) / wall
        base = [r for r in batch["runs"] if r["resource"] == run["resource"] and r["pipeline"] == "one-by-one"
                and r["done"] == run["done"] > 0 and r is not run]
        s = median(base[0]["times_s"]) / wall if base else math.nan
        n, reading = run["over_one_by_one"]["workers"], run["over_one_by_one"]
        yield "speed_up", reading["speed_up"], s
        yield "Amdahl", reading["amdahl_serial_fraction"], (n / s - 1) / (n - 1) if n > 1 else math.nan
        f = reading["amdahl_serial_fraction"] or 0
        if "amdahl_limit" in reading:
            yield "limit", reading["amdahl_limit"], 1 / f if f > 0 else math.nan
        yield "Gustafson", reading["gustafson_serial_fraction"], (n - s) / (n - 1) if n > 1 else math.nan
        alike = [r["check"]["bits"] for r in batch["runs"] if r["resource"] == run["resource"] and r["check"]["ok"]]
        yield "bits", len(set(alike)) <= 1, True


def close(told, number):
    if isinstance(number, float) and not math.isfinite(number):
        return told is None
    return told is not None and abs(told - number) <= 1e-9 * abs(number)


def numbers(path):
    batch = json.loads(pathlib.Path(path).read_text(), parse_constant=files.not_json)["batch"]
    wrong = [f"{key} is {told}, recomputed {number}" for key, told, number in derived(batch) if not close(told, number)]
    assert batch["runs"] and not wrong, "; ".join(wrong)


def lanes(path, mode):
    events = [e for e in json.loads(pathlib.Path(path).read_text())["traceEvents"] if e.get("ph") == "X"]
    stages = [e for e in events if e["name"] in ("read", "decode", "decompose", "check", "encode", "write")]
    assert len({e["name"] for e in stages}) == 6, f"only {sorted({e['name'] for e in stages})}"
    threads = {(e["pid"], e["tid"]) for e in stages}
    overlapping = any(a["tid"] != b["tid"] and a["ts"] < b["ts"] + b["dur"] and b["ts"] < a["ts"] + a["dur"]
                      and a["name"] != b["name"] for a in stages for b in stages)
    full = mode == "full"
    assert (len(threads) > 2) == full and overlapping == full, f"{len(threads)} threads, overlapping: {overlapping}"


# -------------------------------------------------------------------------------------------------------------- signals


def start(words):
    """The command, with signals as a user's shell leaves them: a script's background process ignores SIGINT."""
    def usual():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
    return subprocess.Popen([os.environ["FLYNN"], "batch", *words], stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=usual)


def wait_until(true, process, what):
    for _ in range(3000):
        if true():
            return
        assert process.poll() is None, f"ended before there was {what}: {process.stderr.read()}"
        time.sleep(0.005)
    process.kill()
    raise AssertionError(f"no {what} in 15 s")


def send(name, folder, *words):
    """Ends by the signal and leaves whole files, as many as it says."""
    number, here = getattr(signal, f"SIG{name.split('-')[0]}"), pathlib.Path(folder)
    process = start(words)
    wait_until(lambda: here.is_dir() and any(p.suffix == ".png" for p in here.iterdir()), process, "a result")
    for _ in name.split("-"):
        process.send_signal(number)
    _, told = process.communicate(timeout=600)
    assert process.returncode == -number, f"ended with {process.returncode}: {told}"
    count = whole(folder)
    print(f"{count} done", file=sys.stderr)
    if "-" not in name:
        assert told.count("\n") == 1 and f" {count} of " in told and "--resume" in told, f"told: {told}; {count} done"


def impatient(*words):
    """The first signal waits for what has begun, the second does not."""
    process = start(words)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None, "was over before the second signal: this test needs something longer"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == -signal.SIGINT and time.monotonic() - began < 1, f"{process.returncode}"


def late(*words):
    """All was done by the first pass: nothing is missing, whatever the one is at that the signal ends."""
    began = time.monotonic()
    start([word for word in words if not word.startswith("--repeat=")] + ["--repeat=1"]).communicate()
    process = start(words)
    time.sleep(1 + 2 * (time.monotonic() - began))  # of a slow machine, or with sanitizers
    process.send_signal(signal.SIGINT)
    out, told = process.communicate(timeout=600)
    document = json.loads(out)["batch"]
    run = document["runs"][0]
    assert process.returncode == -signal.SIGINT and run["interrupted"], f"{process.returncode}"
    assert (run["done"], run["dropped"]) == (document["count"], 0) and len(run["times_s"]) > 1, f"{run['done']} done"
    assert told.count("\n") == 1 and "{0} of {0} are done\n".format(document["count"]) in told, told
    wrong = [key for key, number, found in derived(document) if not close(number, found)]
    assert not wrong, f"{wrong}"


if __name__ == "__main__":
    actions = {"images": images, "inner": inner, "noise": noise, "factors": factors, "same": same, "whole": whole, "kinds": kinds,
               "exact": exact, "errors": errors, "numbers": numbers, "lanes": lanes, "signal": send,
               "impatient": impatient, "late": late, "near": near}
    try:
        actions[sys.argv[1]](*sys.argv[2:])
    except (AssertionError, ValueError, KeyError, struct.error, zlib.error, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
