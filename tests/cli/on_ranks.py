# SPDX-License-Identifier: MIT
"""flynn on ranks: options that differ, results against one process, and signals. cli/ranks.sh runs a few of each, and
`make check-deep` as many as fit into a time.

    on_ranks.py options [--mpi=NAME]  each option of each command that takes --ranks, set on rank 1 alone, is refused:
                                      the commands and options are those that flynn itself lists
    on_ranks.py results               random operations, sizes of 0 to 4099, dtypes, modes, 1 to 5 ranks of each MPI: the
                                      file is that of one process, byte by byte, or within the bound that flynn.h states
    on_ranks.py calls                 random calls of libflynn-dist (tests/dist/cases.c) on 1 to 5 ranks
    on_ranks.py signals               TERM, INT, HUP or KILL at a random moment to `flynn ... --ranks=N`: no process
                                      stays, nor an unfinished file; the exit code is the signal's

--cases=N or --seconds=S: how many, and --seed=S: which ones; --only=K repeats case K of a seed. A case that fails is
printed with both. The time includes no more than one case that begins before it is over.
"""
import argparse
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import files  # noqa: E402 (beside this file)

FLYNN = os.environ["FLYNN"]
LINKS = pathlib.Path(FLYNN).resolve().parents[1] / "lib/links"
QUICK = ("--repeat=1", "--warmup=0")
SECONDS = 120
DESCR = {"u8": "|u1", "i32": "<i4", "i64": "<i8", "f32": "<f4", "f64": "<f8"}
ROUNDING = {"<f4": 2.0 ** -24, "<f8": 2.0 ** -53}

# Variables that make MPI start quickly on one machine, also as root; a test that is run in the background ignores no signals.
ENVIRONMENT = {
    **{k: v for k, v in os.environ.items() if not k.startswith("FLYNN") or k in ("FLYNN_CACHE",)},
    "COLUMNS": "10000",  # no line ends within a message
    "LC_ALL": "C", "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader", "OMPI_MCA_odls_base_sigkill_timeout": "0"}


def mpis():
    return [name for name in ("openmpi", "mpich") if (LINKS / f"flynn-link-{name}.so").exists() and
            any(os.access(f"{folder}/mpirun.{name}", os.X_OK) for folder in os.environ["PATH"].split(":"))]


class Ended:
    """How a command ended: its exit code, or less than 0 for a signal, and what it printed."""

    def __init__(self, words, cwd, **environment):
        self.words = words
        done = subprocess.run(words, cwd=cwd, env={**ENVIRONMENT, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        self.code, self.out = done.returncode, done.stdout.decode(errors="replace")
        self.said = done.stderr.decode(errors="replace")
        self.lines = [line for line in self.said.splitlines() if line.startswith("flynn")]

    def __str__(self):
        return f"exit code {self.code}: {' '.join(map(str, self.words))}: {self.lines[:3]}"


def mpirun(mpi, count, *words):
    return [f"mpirun.{mpi}", *(["--quiet"] if mpi == "openmpi" else []), "-n", str(count), *words]


# -------------------------------------------------------------------------------------------------------------- options


def described(command):
    """The options of a command, and a value that each may have, as `flynn help --words` lists them."""
    text = Ended([FLYNN, "help", "--words", command], ".").out
    options = {}
    for line in text.splitlines():
        word = line.split("\t")[0]
        if not word.startswith("--"):  # the values after a letter
            continue
        name, _, value = word.partition("=")
        options.setdefault(name[2:], []).extend([value] if value else [])
    return text, options


def value_of(command, name, choices):
    """A value that the command's option takes."""
    for value in (*choices[-1:], "1", "2x2", "1x1x1", "serial", "host", "full", "other.npy"):
        if Ended([FLYNN, command, "--usage"], ".", **{variable_of(name): value}).code == 0:
            return value
    raise AssertionError(f"flynn {command} --{name}: no value is known that it takes")


def variable_of(name):
    return "FLYNN_" + name.upper().replace("-", "_")


ALWAYS = {"quiet", "help", "usage", "version"}  # --quiet may differ, the others are no variables


def differing():
    """(command, option) for each option; those that commands share once."""
    commands = Ended([FLYNN, "--exercises"], ".").out.split() + ["batch", "ceiling", "info"]
    seen = set()
    for command in commands:
        text, options = described(command)
        if "Run N processes" not in text and command != "info":
            continue
        for name, choices in options.items():
            about = re.search(rf"^--{name}=?\t(.*)$", text, re.MULTILINE)[1]
            if name not in ALWAYS and (name, about) not in seen:
                seen.add((name, about))
                yield command, name, choices


def is_refused(folder, mpi, command, name, choices):
    value = value_of(command, name, choices)
    before = sorted(os.listdir(folder))
    ended = Ended(mpirun(mpi, 2, str(folder / "on_rank_1"), FLYNN, command), folder,
                  ON_RANK_1=f"{variable_of(name)}={value}")
    line = ended.lines[0] if ended.lines else ""
    assert ended.code == 2 and len(ended.lines) == 1, f"expected exit code 2 and one line: {variable_of(name)}={value}: {ended}"
    assert re.search(rf"rank 1 \(\S+\): has --{name}(={re.escape(value)})?, and rank 0 has no --{name}$", line), \
        f"{variable_of(name)}={value}: {ended}"
    assert sorted(os.listdir(folder)) == before, f"{variable_of(name)}={value}: a file was made: {ended}"


def options(args, folder):
    wrapper = folder / "on_rank_1"
    wrapper.write_text('#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || exec env "$ON_RANK_1" "$@"\nexec "$@"\n')
    wrapper.chmod(0o755)
    for mpi in [args.mpi] if args.mpi else mpis():
        for command, name, choices in differing():
            yield f"--{name} of {command}, {mpi}", lambda c=command, n=name, x=choices, m=mpi: is_refused(folder, m, c, n, x)


# -------------------------------------------------------------------------------------------------------------- results


def write(folder, name, descr, shape, values):
    code = files.CODES[descr[1:]]
    integer = code not in "fd"
    most = {"B": 255, "i": 2 ** 31 - 1, "q": 2 ** 63 - 1}.get(code)
    values = [min(max(int(v), 0 if code == "B" else -most), most) if integer else v for v in values]
    (folder / name).write_bytes(files.npy(values, shape, descr))


def size_of(rng):
    """0 to 4099: mostly about as many as there are ranks, or a few more."""
    return rng.choice([rng.randrange(12), rng.randrange(12), rng.randrange(300), rng.randrange(4100)])


def numbers(rng, count, special=True):
    kind = rng.choice(["uniform", "uniform", "few", "special" if special else "few"])
    few = {"uniform": None, "few": [0.0, 1.0, 1.0, -2.0, 7.0],
           "special": [0.0, -0.0, 1.0, -1.0, 3.5, 1e30, -1e30, math.inf, -math.inf, math.nan]}[kind]
    return [rng.choice(few) if few else rng.uniform(-1000, 1000) for _ in range(count)]


def finite(rng, count, low=-1.0, high=1.0):
    return [rng.uniform(low, high) for _ in range(count)]


def make_array(rng, folder, name, dtype, shape, special=True):
    values = numbers(rng, math.prod(shape), special)
    if dtype not in ("f32", "f64"):
        values = [v if math.isfinite(v) else 0 for v in values]
    write(folder, name, DESCR[dtype], shape, values)


def same_bytes(one, many, _):
    assert one.read_bytes() == many.read_bytes(), "other bytes"


def as_sorted(one, many, _):
    """-0 and +0, and the bits of NaN, come in any order."""
    a, b = files.read_npy(one), files.read_npy(many)
    equal = all(x == y or (x != x and y != y) for x, y in zip(a[2], b[2]))
    assert a[:2] == b[:2] and equal, "another order"


def within(terms):
    """Of sums of products that are not negative: (terms + 16) units of rounding, of either result."""
    def compare(one, many, _):
        a, b = files.read_npy(one), files.read_npy(many)
        bound = 2 * (terms + 16) * ROUNDING[a[0]]
        assert a[:2] == b[:2] and all(abs(x - y) <= bound * abs(x) for x, y in zip(a[2], b[2])), "another sum"
    return compare


def logarithms(one, many, words):
    """By vectors each is at most 4 units in the last place off, and the last elements of a share fill none."""
    if "--backend=serial" in words:
        return same_bytes(one, many, words)
    a, b = files.read_npy(one), files.read_npy(many)
    bound = 2 * 4 * 2 * ROUNDING[a[0]]
    equal = all(x == y or (x != x and y != y) or abs(x - y) <= bound * abs(x) for x, y in zip(a[2], b[2]))
    assert a[:2] == b[:2] and equal, "another logarithm"


def shape_of(rng, most=3):
    shape = [size_of(rng)] + [rng.randrange(1, 9) for _ in range(rng.randrange(most))]
    return [max(0, shape[0] // math.prod(shape[1:])), *shape[1:]]


def try_sort(rng, folder):
    dtype = rng.choice(["f32", "f64", "i32", "i64"])
    make_array(rng, folder, "x.npy", dtype, [size_of(rng)])
    return ["sort", "x.npy", *rng.choice([[], ["--in-place"], ["--variant=radix"]])], as_sorted


def try_select(rng, folder):
    make_array(rng, folder, "x.npy", rng.choice(list(DESCR)), [size_of(rng)])
    return ["select", "x.npy"], same_bytes


def try_histogram(rng, folder):
    make_array(rng, folder, "x.npy", rng.choice(list(DESCR)), [size_of(rng)])
    return ["histogram", "x.npy", f"--bins={rng.choice([1, 7, 256, 5000])}", "--range=-3,50.5",
            f"--outside={rng.choice(['drop', 'clip'])}"], same_bytes


def try_reduce(rng, folder):
    """Sums of floats have another order, and are of numbers that are not negative: at most log2 4099 + 41 units."""
    name, dtype = rng.choice(["sum", "minimum", "maximum", "argmin", "argmax", "dot"]), rng.choice(list(DESCR))
    shape, adds = shape_of(rng), name in ("sum", "dot")
    more = ["--accumulate=f64"] if adds and rng.randrange(3) == 0 else []
    for file in ("x.npy", "y.npy"):
        if adds and dtype in ("f32", "f64"):
            write(folder, file, DESCR[dtype], shape, finite(rng, math.prod(shape), 0.0))
        else:
            make_array(rng, folder, file, dtype, shape)
    words = ["reduce", "x.npy", *(["y.npy"] if name == "dot" else []), f"--operation={name}", *more]
    return words, within(40) if adds and (more or dtype in ("f32", "f64")) else as_sorted


def try_scan(rng, folder):
    """Of at most 4099 floats, not negative: the bound of trees, 2 sqrt(4099) + 160, with log2 4099 + 41 + 5 ranks more."""
    name, dtype = rng.choice(["sum", "maximum"]), rng.choice(list(DESCR))
    floats = name == "sum" and dtype in ("f32", "f64")
    count = size_of(rng)
    if floats:
        write(folder, "x.npy", DESCR[dtype], [count], finite(rng, count, 0.0))
    else:
        make_array(rng, folder, "x.npy", dtype, [count])
    in_place = ["--in-place"] if (floats or name == "maximum" or dtype == "i64") and rng.randrange(2) == 0 else []
    exclusive = ["--exclusive"] if rng.randrange(2) == 0 else []
    return ["scan", "x.npy", f"--operation={name}", *in_place, *exclusive], within(347) if floats else same_bytes


def try_primes(rng, _):
    return ["primes", f"--upto={size_of(rng) + 1}", f"--method={rng.choice(['trial', 'sqrt', 'sieve'])}"], same_bytes


def try_elementwise(rng, folder):
    name = rng.choice(["increment", "sqrt", "maximum", "log_of_sum"])
    dtype = rng.choice(["f32", "f64"] + (["i32", "i64"] if name in ("increment", "maximum") else []))
    shape = shape_of(rng)
    inputs = 2 if name in ("maximum", "log_of_sum") else 1
    for i in range(inputs):
        make_array(rng, folder, f"{i}.npy", dtype, shape)
    words = [f"{i}.npy" for i in range(inputs)]
    if inputs == 2 and rng.randrange(4) == 0:
        words[1] = "2.5" if dtype in ("f32", "f64") else "2"
    return [name, *words], logarithms if name == "log_of_sum" else same_bytes


def try_map(rng, folder):
    shape, text = shape_of(rng), rng.choice(["x*y+z", "x-y*z", "abs(x)+y-z", "x*x+y*z"])
    words = []
    for i in range(3):
        if rng.randrange(4) == 0:
            words.append(str(rng.randrange(9)))
            continue
        other = [1 if rng.randrange(4) == 0 else n for n in shape] if i else shape
        make_array(rng, folder, f"{i}.npy", rng.choice(["f32", "f64", "i32"]), other, special=False)
        words.append(f"{i}.npy")
    return ["map", text, *words], same_bytes


def try_convolve1d(rng, folder):
    count, taps = size_of(rng) + 1, rng.choice([rng.randrange(1, 20), rng.randrange(1, 300)])
    variant = rng.choice(["naive", "naive", "tiled", "auto"])
    low = -1.0 if variant == "naive" else 0.0
    write(folder, "x.npy", DESCR[rng.choice(["f32", "f64"])], [count], finite(rng, count, low))
    write(folder, "k.npy", DESCR[rng.choice(["f32", "f64"])], [taps], finite(rng, taps, low))
    mode = rng.choice(["full", "same", "valid"])
    return (["convolve1d", "x.npy", "k.npy", f"--mode={mode}", f"--variant={variant}"],
            same_bytes if variant == "naive" else within(min(count, taps)))


def try_convolve(rng, folder):
    columns, taps = rng.randrange(0, 8), [rng.randrange(0, 12), rng.randrange(0, 8)]
    rows = size_of(rng) // max(columns, 1)
    variant = rng.choice(["naive", "naive", "tiled", "auto"])
    low = -1.0 if variant == "naive" else 0.0
    write(folder, "x.npy", DESCR[rng.choice(["f32", "f64"])], [rows, columns], finite(rng, rows * columns, low))
    write(folder, "k.npy", DESCR[rng.choice(["f32", "f64"])], taps, finite(rng, math.prod(taps), low))
    mode = rng.choice(["full", "same", "valid"])
    return (["convolve", "x.npy", "k.npy", f"--mode={mode}", f"--variant={variant}"],
            same_bytes if variant == "naive" else within(math.prod(taps)))


def try_reconstruct(rng, folder):
    rows, k, columns = rng.randrange(1, 120), rng.randrange(1, 12), rng.randrange(1, 30)
    dtype = DESCR[rng.choice(["f32", "f64"])]
    write(folder, "u.npy", dtype, [rows, k], finite(rng, rows * k))
    write(folder, "s.npy", dtype, [k], finite(rng, k, 0.0))
    write(folder, "vt.npy", dtype, [k, columns], finite(rng, k * columns))
    return ["reconstruct", "u.npy", "s.npy", "vt.npy", "--variant=naive"], same_bytes


def try_matmul(rng, folder):
    rows, k, columns = rng.randrange(1, 120), rng.randrange(1, 12), rng.randrange(1, 30)
    dtype, transposed = rng.choice(["f32", "f64"]), rng.random() < 0.5
    write(folder, "a.npy", DESCR[dtype], [rows, k], finite(rng, rows * k))
    write(folder, "b.npy", DESCR[dtype], [columns, k] if transposed else [k, columns], finite(rng, k * columns))
    return ["matmul", "a.npy", "b.npy", "--variant=naive", f"--transpose={'b' if transposed else 'none'}"], same_bytes


def try_allclose(rng, folder):
    shape, dtype = shape_of(rng), rng.choice(["f32", "f64", "i32"])
    make_array(rng, folder, "a.npy", dtype, shape)
    descr, _, values = files.read_npy(folder / "a.npy")
    some = [v + 1 if math.isfinite(v) and rng.randrange(50) == 0 else v for v in values]
    write(folder, "b.npy", descr, shape, some)
    return ["allclose", "a.npy", "b.npy", *rng.choice([[], ["--equal-nan"]])], None


def try_svd(rng, _):
    edge = rng.randrange(1, 60)
    return ["svd", f"--size={edge}", f"--keep={rng.randrange(1, edge + 1)}", "--variant=randomized"], None


OPERATIONS = [try_sort, try_select, try_histogram, try_reduce, try_scan, try_primes, try_elementwise, try_map, try_convolve1d, try_convolve,
              try_reconstruct, try_matmul, try_allclose, try_svd]


def answer(document, name):
    """What must be equal where no file is compared."""
    result = json.loads(document)["results"][0]
    if name == "svd":
        return result["check"]["ok"]
    return {key: result[key] for key in ("close", "differing", "worst_index") if key in result}, result["check"]["ok"]


def is_one_process(folder, rng):
    words, compare = rng.choice(OPERATIONS)(rng, folder)
    count, mpi, backend = rng.randrange(1, 6), rng.choice(mpis()), rng.choice(["serial", "serial", "simd", "omp:1"])
    words = [*words, f"--backend={backend}", *QUICK, *(["--json"] if compare is None else [])]
    outputs = [folder / "one.npy", folder / "many.npy"]
    more = [[] if compare is None else ["-o", output.name] for output in outputs]
    one = Ended([FLYNN, *words, *more[0]], folder)
    many = Ended(mpirun(mpi, count, FLYNN, *words, *more[1]), folder)
    try:
        assert one.code == many.code, f"one process ends with {one.code}"
        assert one.code in (0, 1, 2) and (one.code < 2 or len(many.lines) == 1), "expected one line"
        assert not list(folder.glob(".flynn*")), "an unfinished file is left"
        if one.code < 2 and compare:
            compare(*outputs, words)
        elif one.code < 2:
            assert answer(one.out, words[0]) == answer(many.out, words[0]), "another answer"
    except AssertionError as error:
        raise AssertionError(f"{error}; {one}; on {count} ranks of {mpi}: {many}") from None


def is_right(folder, rng):
    program, count, backend = os.environ["FLYNN_TEST_DIST"], rng.randrange(1, 6), rng.choice(["serial", "simd", "omp:1"])
    ended = Ended(mpirun(rng.choice(mpis()), count, program, backend), folder, DIST_SEED=str(rng.randrange(10 ** 9)),
                  DIST_CASES="300")
    assert ended.code == 0 and " 0 failed" in ended.out, f"{ended}: {ended.said[-1000:]}"


# -------------------------------------------------------------------------------------------------------------- signals

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]


def marked(mark):
    """The processes that have the mark in their environment."""
    found = []
    for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"MARK={mark}".encode() in environ.read_bytes().split(b"\0"):
                found.append(environ.parent.name)
        except OSError:
            pass  # it has ended
    return found


def as_from_a_shell():
    for number in SIGNALS[:3]:
        signal.signal(number, signal.SIG_DFL)


def make_images(folder, count):
    (folder / "in").mkdir()
    for i in range(count):
        lines = [[(x * y + i) % 256 for x in range(40)] for y in range(40)]
        (folder / f"in/{i:03}.png").write_bytes(files.png(40, 40, 8, 0, lines))


def is_ended(folder, rng):
    """A sort that writes 8 MB, or a batch of images; the signal comes while it starts, computes, writes or ends. Every
    other sort would go on for minutes."""
    number, count, mpi = rng.choice(SIGNALS), rng.randrange(2, 5), rng.choice(mpis())
    images = rng.randrange(3) == 0
    words = ["batch", "in", "--keep=3", "--svd=jacobi", "--backend=serial", "--output-dir=out"] if images else \
        ["sort", "--size=2M", "--dtype=f32", "--backend=serial", *rng.choice([QUICK, ["--min-time=300"]]), "-o", "out.npy"]
    if images:
        make_images(folder, 60)
    environment = {k: v for k, v in ENVIRONMENT.items() if not k.endswith("kill_timeout")}  # as users have it: 1 s
    mark = f"{os.getpid()}-{threading.get_ident()}-{rng.randrange(10 ** 9)}"
    process = subprocess.Popen([FLYNN, *words, f"--ranks={count}"], cwd=folder, preexec_fn=as_from_a_shell,
                               env={**environment, "FLYNN_LINK": mpi, "MARK": mark}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    delay = rng.uniform(0, rng.choice([0.05, 1.5]))  # a launcher takes hundredths of a second to start its processes
    time.sleep(delay)
    process.send_signal(number)
    try:
        said = process.communicate(timeout=SECONDS)[1].decode(errors="replace")
        what = f"{signal.Signals(number).name} after {delay:.2f} s to `flynn {' '.join(words)} --ranks={count}`, {mpi}: " \
               f"exit code {process.returncode}: {said[-300:]}"
        until = time.monotonic() + 20
        while marked(mark) and time.monotonic() < until:
            time.sleep(0.05)
        left = [pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in marked(mark)]
        assert not left, f"processes are left: {left}: {what}"
        assert process.returncode in (0, -number), what
        assert number == signal.SIGKILL or not list(folder.glob("**/.flynn*")), f"an unfinished file is left: {what}"
        if (folder / "out.npy").exists():
            assert (folder / "out.npy").stat().st_size == 128 + 4 * 2_000_000, f"the file is not whole: {what}"
        for path in (folder / "out").glob("*.png"):
            assert files.read_png(path)[:2] == (40, 40), f"{path.name} is not whole: {what}"
    finally:
        for pid in marked(mark):
            os.kill(int(pid), signal.SIGKILL)


# ----------------------------------------------------------------------------------------------------------------- main


def drawn(args, folder, case):
    """Cases of a seed, for as long as --seconds says, or --cases of them; each has its own folder and numbers."""
    def run(k):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            case(pathlib.Path(own), random.Random(f"{args.seed} {k}"))

    end = time.monotonic() + args.seconds
    for k in [args.only] if args.only is not None else itertools.count():
        if args.only is None and (k >= args.cases if args.cases else time.monotonic() >= end):
            return
        yield f"case {k} (on_ranks.py {args.what} --seed={args.seed} --only={k})", lambda k=k: run(k)


WHATS = {"options": options, "results": lambda args, folder: drawn(args, folder, is_one_process),
         "calls": lambda args, folder: drawn(args, folder, is_right),
         "signals": lambda args, folder: drawn(args, folder, is_ended)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=WHATS)
    parser.add_argument("--mpi")
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("-j", dest="jobs", type=int, default=4)  # most of what a case takes is a wait
    args = parser.parse_args()
    if not mpis():
        print("no MPI is here: install one (make deps-mpi)")
        sys.exit(77)
    passed, failed, lock = 0, [], threading.Lock()

    def run(case):
        nonlocal passed
        try:
            case[1]()
            with lock:
                passed += 1
        except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError, struct.error, KeyError) as error:
            with lock:
                failed.append(case[0])
            print(f"FAILED: {case[0]}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        cases, running = iter(WHATS[args.what](args, pathlib.Path(folder))), set()
        for case in cases:  # no more are begun than run, so that --seconds holds
            running.add(pool.submit(run, case))
            while len(running) >= args.jobs:
                running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).not_done
        concurrent.futures.wait(running)
    seed = "" if args.what == "options" else f", seed {args.seed}"
    print(f"{args.what}: {passed} passed, {len(failed)} failed{seed}")
    sys.exit(1 if failed or passed == 0 else 0)


if __name__ == "__main__":
    main()
