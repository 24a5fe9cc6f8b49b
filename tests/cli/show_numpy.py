# SPDX-License-Identifier: MIT
"""flynn show against NumPy: the text of numbers, made arrays, slices, statistics, histograms, comparisons.

For ctest: FLYNN names the command. Exit code 77 without NumPy.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("Left out: NumPy is not installed")
    sys.exit(77)

DTYPES = {"u8": np.uint8, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}
RANDOM = np.random.default_rng(7)
FAILED = []
DONE = [0]


def run(*words, width=80, code=0):
    env = {k: v for k, v in os.environ.items() if not k.startswith("FLYNN_")}
    env.update(LC_ALL="C", COLUMNS=str(width))
    done = subprocess.run([os.environ["FLYNN"], *map(str, words)], capture_output=True, text=True, timeout=120, env=env,
                          stdin=subprocess.DEVNULL)
    if done.returncode != code:
        sys.exit(f"flynn {' '.join(map(str, words))}: exit code {done.returncode}, expected {code}: {done.stderr}")
    return done.stdout


def kept(*words):
    run("show", *words, "-o", "kept.npy")
    return np.load("kept.npy")


def facts(*words, **how):
    return json.loads(run("show", *words, "--json", **how))


def expect(title, got, expected):
    DONE[0] += 1
    same = np.array_equal(got, expected, equal_nan=True) and got.dtype == expected.dtype if isinstance(expected, np.ndarray) \
        else got == expected
    if not same:
        FAILED.append(title)
        print(f"FAILED: {title}: {str(got)[:300]}, expected {str(expected)[:300]}")


def text_of(x):
    """NumPy's text, without a point that nothing follows."""
    text = str(x)
    if x.dtype.kind != "f" or not np.isfinite(x):
        return text
    number, e, power = text.partition("e")
    return (number[:-2] if number.endswith(".0") else number) + e + power


def values_of(dtype):
    """1,000 at random, and those at which digits or the form change."""
    if dtype.kind != "f":
        info = np.iinfo(dtype)
        return np.concatenate([RANDOM.integers(info.min, info.max, 1000, dtype, endpoint=True),
                               np.array([info.min, info.max, 0, 1], dtype)])
    bits = np.uint32 if dtype.itemsize == 4 else np.uint64
    some = RANDOM.integers(0, np.iinfo(bits).max, 1000, bits).view(dtype)
    near = np.concatenate([RANDOM.random(300), RANDOM.random(300) * 1000, -RANDOM.random(200)]).astype(dtype)
    info = np.finfo(dtype)
    powers = np.ldexp(dtype.type(1), np.arange(info.minexp - 30, info.maxexp)[::7]).astype(dtype)
    special = np.array([0, -0.0, np.nan, np.inf, -np.inf, info.max, info.min, info.tiny, info.smallest_subnormal, 1e-4,
                        9.9999e-5, 1e16, 9.999e15, 2.0**-44, 2.0**90, 123456789, 0.1, 1 / 3], dtype)
    return np.concatenate([some, near, powers[powers > 0], special])


def numbers():
    for name, dtype in DTYPES.items():
        values = values_of(np.dtype(dtype))
        found = []
        for i in range(0, len(values), 64):  # which show prints whole
            np.save("values.npy", values[i:i + 64])
            out = run("show", "values.npy", width=60).split("\n")[1:]
            for line in out:
                if not line.startswith("  ") or line.startswith(("  from", "  all", "  no ")):
                    break
                found += line.split()
        expect(f"numbers of {name}: how many", len(found), len(values))
        wrong = [(got, text_of(x)) for got, x in zip(found, values) if got != text_of(x)]
        expect(f"numbers of {name}", wrong[:5], [])


def made():
    for word, expected in {
            "zeros:3x4": np.zeros((3, 4), "f4"), "ones:5,dtype=i64": np.ones(5, "i8"), "fill:2x2,value=-1.5": np.full((2, 2), -1.5, "f4"),
            "fill:3,value=nan": np.full(3, np.nan, "f4"), "zeros:0x5": np.zeros((0, 5), "f4"),
            "range:2x3x4": np.arange(24, dtype="f4").reshape(2, 3, 4),
            "range:9,from=5,by=-2,dtype=i32": np.arange(5, -13, -2, "i4"), "range:1Ki,dtype=f64": np.arange(1024.0),
            "2:20:3": np.arange(2, 20, 3), "0:1:0.25": np.arange(0, 1, 0.25)}.items():
        expect(word, kept(word), expected)
    place = np.arange(2048) % 16 == 8
    expect("impulses", kept("impulses:2048x2048"), (place[:, None] & place).astype("f4"))
    place = np.arange(50) % 5 == 2
    expect("impulses every 5", kept("impulses:50,every=5,dtype=u8"), place.astype("u1"))
    x = np.linspace(-2, 2, 15)
    y, x = np.meshgrid(x, x, indexing="ij")
    wide, narrow = np.exp(-(x**2 + y**2) / 2), np.exp(-(x**2 + y**2))
    for name, found, right in ("wide", kept("gaussian:15x15,dtype=f64"), wide), ("narrow", kept("gaussian:15x15,width=narrow,dtype=f64"), narrow):
        expect(f"gaussian, {name}", bool(np.abs(found - right).max() < 1e-15), True)
    counter = np.arange(1, 1001, dtype="u8") * np.uint64(0x9E3779B97F4A7C15)  # SplitMix64
    for seed in (1, 77):
        z = counter + np.uint64(seed)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        unit = ((z ^ z >> np.uint64(31)) >> np.uint64(40)) * 2.0**-24
        expect(f"random, seed {seed}", kept(f"random:1000,seed={seed}"), unit.astype("f4"))
        expect(f"random, --seed={seed}", kept("random:10x100", f"--seed={seed}"), unit.astype("f4").reshape(10, 100))
        expect(f"random, -3 to 5, {seed}", kept(f"random:1000,from=-3,to=5,dtype=f64,seed={seed}"), -3 + unit * 8)
        expect(f"integers, {seed}", kept(f"integers:1000,from=-5,below=20,seed={seed}"), np.floor(-5 + unit * 25).astype("i4"))
        for dtype, name in (("f4", "f32"), ("f8", "f64")):
            expect(f"integers in {name}, {seed}", kept(f"integers:1000,from=-5,below=20,dtype={name},seed={seed}"),
                   np.floor(-5 + unit * 25).astype(dtype))
    close = kept("random:1M,from=1000,to=1001")
    expect("random below its limit", bool((close < 1001).all() and (close >= 1000).all()), True)
    run("maximum", "random:999", "random:999", "-b", "serial", "-o", "most.npy", "-q")
    expect("the second made array has the next seed", np.load("most.npy"),
           np.maximum(kept("random:999,seed=1"), kept("random:999,seed=2")))


def slices():
    four = np.arange(3 * 5 * 7 * 11, dtype="f8").reshape(3, 5, 7, 11)
    np.save("c.npy", four)
    np.save("fortran.npy", np.asfortranarray(four))
    for crop in ("1", "-1", "1:", "::2", "0,1,2,3", ":,1:4", "-2:,-3:-1,::3", ":,:,:,5", "2:1", "5:9", ":,4,1:6:2,2:", "0:3:2,:,6,-11"):
        index = eval(f"np.index_exp[{crop}]")
        for name in "c.npy", "fortran.npy":
            expect(f"{name}[{crop}]", kept(name, f"--crop={crop}"), np.array(four[index]))
        limited = kept("range:3x5x7x11,dtype=f64", f"--crop={crop}", "--max-memory=10K")
        expect(f"range[{crop}] in pieces", limited, np.array(four[index]))
    expect("shape, then crop", kept("c.npy", "--shape=21x55", "--crop=3:9,::10"), four.reshape(21, 55)[3:9, ::10])
    expect("dtype", kept("c.npy", "--crop=1", "--dtype=i32"), four[1].astype("i4"))
    found = facts("c.npy", "--crop=1:,2,::2")["arrays"][0]
    expect("indices are those of the whole array", (found["least_index"], found["most_index"]), ([1, 0, 0], [2, 6, 10]))


def statistics():
    for name, values in ("random", RANDOM.standard_normal((30, 50)).astype("f4")), ("integers", RANDOM.integers(-7, 9, 999)), (
            "many", RANDOM.integers(0, 5000, 3000).astype("i4")):
        np.save("values.npy", values)
        found = facts("values.npy")["arrays"][0]
        expect(f"{name}: least and most", (found["least"], found["most"]), (values.min(), values.max()))
        expect(f"{name}: where", (found["least_index"], found["most_index"]),
               tuple(list(map(int, np.unravel_index(f(values), values.shape))) for f in (np.argmin, np.argmax)))
        expect(f"{name}: mean", abs(found["mean"] - values.astype("f8").mean()) < 1e-12, True)
        expect(f"{name}: sum", abs(found["sum"] - values.astype("f8").sum()) < 1e-9, True)
        expect(f"{name}: zeros", found["zeros"], int((values == 0).sum()))
        bars = 40 if values.dtype.kind == "f" else min(40, int(values.max() - values.min()) + 1)
        expect(f"{name}: histogram", found["histogram"], np.histogram(values.astype("f8"), bars)[0].tolist())
    values = np.array([1, np.nan, 3, np.inf, -np.inf, np.nan, 0.0])
    np.save("values.npy", values)
    found = facts("values.npy")["arrays"][0]
    expect("not finite", [found[k] for k in ("nan", "infinite", "zeros", "least", "most", "sum")], [2, 2, 1, 0, 3, 4])


def pairs():
    a, b = RANDOM.random((40, 70)).astype("f4"), None
    for title, damage in ("one", lambda x: x.__setitem__((3, 4), 9)), ("right columns", lambda x: x.__setitem__(np.s_[:, 64:], 0)), (
            "NaN", lambda x: x.__setitem__(np.s_[::7, ::9], np.nan)):
        b = a.copy()
        damage(b)
        np.save("a.npy", a)
        np.save("b.npy", b)
        check = facts("b.npy", "a.npy", code=1)["comparison"]
        wrong = ~np.isclose(b, a, rtol=1e-5, atol=1e-8)
        expect(f"{title}: how many", check["failed"], int(wrong.sum()))
        expect(f"{title}: the first", [d["index"] for d in check["first_wrong"]], np.argwhere(wrong)[:5].tolist())
        where = ["".join("." if not p.any() else "#" if p.all() else "+"
                         for p in (wrong[r * 40 // 16:(r + 1) * 40 // 16, c * 70 // 64:(c + 1) * 70 // 64] for c in range(64)))
                 for r in range(16)]
        expect(f"{title}: where", check["where"], where)
    for x, y, words, agree in ((1000000, 1000001, (), False), (1000000, 1000001, ("--rtol=1e-5",), True),
                               (2**53, 2**53 + 1, (), False), (1.0, 1 + 1e-6, (), True), (1.0, 1 + 1e-4, (), False),
                               (1.0, 1 + 1e-4, ("--rtol=1e-3",), True), (np.nan, np.nan, (), True), (np.inf, -np.inf, (), False)):
        np.save("a.npy", np.array([x]))
        np.save("b.npy", np.array([y]))
        expect(f"{x} and {y} {words}", facts("a.npy", "b.npy", *words, code=0 if agree else 1)["comparison"]["ok"], agree)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))


def large():
    """2 GiB of zeros, of which nothing is on the disk, in a process that has 200 MiB."""
    # A sanitizer that has too little memory is no finding: it reports to stderr, not to its log.
    environment = {**os.environ, "ASAN_OPTIONS": ""}
    if subprocess.run([os.environ["FLYNN"], "--version"], capture_output=True, preexec_fn=limit, env=environment).returncode != 0:
        print("2 GiB: left out: this build needs more than 200 MiB to start")
        return
    shape = (1 << 15, 1 << 14)
    with open("large.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        file.seek(4 * shape[0] * shape[1] - 4, os.SEEK_CUR)
        file.write(np.float32(7).tobytes())
    for crop in ("-2:,-3:", "0:64,0:64", "::4096,::4096", "-1"):
        done = subprocess.run([os.environ["FLYNN"], "show", "large.npy", f"--crop={crop}", "-o", "part.npy"],
                              capture_output=True, text=True, timeout=120, preexec_fn=limit)
        expect(f"2 GiB, {crop}: exit code", (done.returncode, done.stderr.startswith("flynn show: part.npy is written: "),
                                             done.stderr.count("\n")), (0, True, 1))
        expect(f"2 GiB, {crop}", np.load("part.npy"), np.array(np.load("large.npy", mmap_mode="r")[eval(f"np.index_exp[{crop}]")]))
    pathlib.Path("large.npy").unlink()


with tempfile.TemporaryDirectory(prefix="flynn-show.") as folder:
    os.chdir(folder)
    for part in numbers, made, slices, statistics, pairs, large:
        part()
    os.chdir("/")
print(f"{DONE[0] - len(FAILED)} passed, {len(FAILED)} failed")
sys.exit(1 if FAILED else 0)
