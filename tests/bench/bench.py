#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench.py [--works=NAME,...] [--small] [--rounds=5] [--least=0.2] [--output=out/bench]: Flynn next to the libraries that are installed here.

Each work runs over several sizes: by Flynn on one core (simd), on all cores (omp) and on a GPU (hip), and by NumPy, SciPy, OpenCV,
PyTorch and CuPy where Python finds them. All of them get the same numbers, in turns, round after round; a ratio is that of one
round, and medians of the rounds are shown. Flynn's time is the kernel's, which its check must call right; a peer's time has no
copies either, and its result must be NumPy's.

Writes to the folder of --output: bench.json (all times, versions, the machine), bench.md (a table a work), and, with matplotlib, a plot
a work, NAME.svg. Exit code 1 if a result is wrong. For ctest and make: FLYNN names the command.
"""
import argparse
import functools
import importlib
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("bench: Python's NumPy was not found; make deps installs it")
    sys.exit(77)

MOST = 256 << 20  # bytes of an input


def installed(name):
    """The module; None: it is not there, or cannot be loaded."""
    try:
        return importlib.import_module(name)
    except Exception:  # some find a driver of another version, and say so in their own ways
        return None


# ------------------------------------------------------------------------------------------------------------- works ----

def random(*shape):
    return lambda rng, n: rng.random(tuple(int(s(n)) if callable(s) else s for s in shape), dtype=np.float32)


def whole(n):
    return n


def edge(n):
    return round(n ** 0.5)


def bell(taps):
    return lambda rng, n: np.exp(-np.linspace(-3, 3, taps, dtype=np.float32) ** 2 / 2)


class Work:
    """A command's words, the inputs of n elements, the command's options, what NumPy computes in f64, and the command's inputs
    where they are not those of the peers."""

    def __init__(self, words, inputs, options, expected, given=lambda *inputs: inputs):
        self.words, self.inputs, self.options, self.expected, self.given = words, inputs, options, expected, given


def convolved(x, k):
    signal = installed("scipy.signal")
    return signal and signal.convolve2d(x, k, mode="same")


WORKS = {
    "sort": Work(["sort"], [random(whole)], [], np.sort),
    "increment": Work(["increment"], [random(whole)], ["--dtype=f32"], lambda x: x + 1),
    "sqrt": Work(["sqrt"], [random(whole)], [], np.sqrt),
    "log_of_sum": Work(["log_of_sum"], [random(whole), random(whole)], [], lambda x, y: np.log(x + y)),
    "map": Work(["map", "sqrt(x) * x + 1"], [random(whole)], [], lambda x: np.sqrt(x) * x + 1),
    "reduce": Work(["reduce"], [random(whole)], [], lambda x: np.sum(x, keepdims=True)),
    "scan": Work(["scan"], [random(whole)], [], np.cumsum),
    "transpose": Work(["transpose"], [random(edge, edge)], [], lambda x: np.ascontiguousarray(x.T)),
    "matmul": Work(["matmul"], [random(edge, edge), random(edge, edge)], [], lambda a, b: a @ b),
    "convolve": Work(["convolve"], [random(edge, edge), lambda rng, n: np.outer(*2 * [bell(15)(rng, n)])], ["--mode=same"], convolved),
    # The same exercise; the peers are told that the kernel is the product of two, which Flynn finds out.
    "separable": Work(["convolve"], [random(edge, edge), bell(15)], ["--mode=same"], lambda x, t: convolved(x, np.outer(t, t)),
                      lambda x, t: (x, np.outer(t, t))),
}
SIZES = {"matmul": [2**e for e in (12, 16, 20, 22)]}
USUAL = [2**e for e in (10, 14, 18, 22, 24)]


# ------------------------------------------------------------------------------------------------------------- peers ----

class Peer:
    """A library: how an array gets to it and back, how to wait for it, and a function for each work that it has."""

    def __init__(self, name, module, where, put, get, wait, works):
        self.name, self.version, self.where = name, module.__version__, where
        self.put, self.get, self.wait, self.works = put, get, wait, works


def as_numpy(xp, convolve):
    """The works in NumPy's names."""
    works = {"sort": xp.sort, "increment": lambda x: xp.add(x, 1), "sqrt": xp.sqrt, "log_of_sum": lambda x, y: xp.log(x + y),
             "map": lambda x: xp.sqrt(x) * x + 1,
             "reduce": lambda x: xp.sum(x, keepdims=True), "scan": xp.cumsum,
             "transpose": lambda x: xp.ascontiguousarray(x.T), "matmul": xp.matmul}
    return {**works, "convolve": convolve} if convolve else works


def twice(ndimage):
    """A separable convolution by a library with SciPy's names."""
    def line(x, t, axis):
        return ndimage.convolve1d(x, t, axis=axis, mode="constant")
    return ndimage and (lambda x, t: line(line(x, t, 0), t, 1))


def peers():
    own = as_numpy(np, None)
    product = {"matmul": own.pop("matmul")}  # by a BLAS, on all cores
    found = [Peer("NumPy", np, where, lambda x: x, lambda x: x, lambda: None, works) for where, works in (("core", own), ("cores", product))]
    signal, cv2, torch, cupy = (installed(name) for name in ("scipy.signal", "cv2", "torch", "cupy"))
    if signal:
        scipy = installed("scipy")
        found.append(Peer("SciPy", scipy, "core", lambda x: x, lambda x: x, lambda: None,
                          {"convolve": lambda x, k: signal.oaconvolve(x, k, mode="same"),
                           "separable": twice(installed("scipy.ndimage"))}))
    if cv2:
        found.append(Peer("OpenCV", cv2, "cores", lambda x: x, lambda x: x, lambda: None,
                          {"convolve": lambda x, k: cv2.filter2D(x, -1, k[::-1, ::-1], borderType=cv2.BORDER_CONSTANT),
                           "separable": lambda x, t: cv2.sepFilter2D(x, -1, t[::-1], t[::-1], borderType=cv2.BORDER_CONSTANT)}))
    if torch:
        def convolve(x, k):
            return torch.nn.functional.conv2d(x[None, None], torch.flip(k, (0, 1))[None, None], padding=k.shape[0] // 2)[0, 0]
        def separable(x, t):
            down = torch.nn.functional.conv2d(x[None, None], torch.flip(t, (0,))[None, None, :, None], padding=(t.shape[0] // 2, 0))
            return torch.nn.functional.conv2d(down, torch.flip(t, (0,))[None, None, None, :], padding=(0, t.shape[0] // 2))[0, 0]
        works = {"sort": lambda x: torch.sort(x)[0], "increment": lambda x: x + 1, "sqrt": torch.sqrt,
                 "log_of_sum": lambda x, y: torch.log(x + y), "reduce": lambda x: torch.sum(x)[None],
                 "scan": lambda x: torch.cumsum(x, 0), "transpose": lambda x: x.T.contiguous(), "matmul": torch.matmul, "convolve": convolve,
                 "separable": separable, "map": torch.compile(lambda x: torch.sqrt(x) * x + 1, dynamic=False)}
        found.append(Peer("PyTorch", torch, "cores", torch.from_numpy, lambda x: x.numpy(), lambda: None, works))
        if torch.cuda.is_available():
            torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
            found.append(Peer("PyTorch", torch, "gpu", lambda x: torch.from_numpy(x).cuda(), lambda x: x.cpu().numpy(),
                              torch.cuda.synchronize, works))
    if cupy and cupy.cuda.runtime.getDeviceCount() > 0:
        far, near = installed("cupyx.scipy.signal"), twice(installed("cupyx.scipy.ndimage"))
        works = as_numpy(cupy, far and (lambda x, k: far.oaconvolve(x, k, mode="same")))
        works["map"] = cupy.ElementwiseKernel("float32 x", "float32 y", "y = sqrt(x) * x + 1", "map_of_x")
        found.append(Peer("CuPy", cupy, "gpu", cupy.asarray, cupy.asnumpy, cupy.cuda.Device().synchronize,
                          {**works, "separable": near} if near else works))
    return found


def seconds(call, wait, least):
    """Of one call: as many in a row as take `least` seconds."""
    count, took = 1, 0.0
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        took = time.perf_counter() - start
        if took >= least:
            return took / count
        count = max(count + 1, int(count * min(10, 1.2 * least / max(took, 1e-9))))


# -------------------------------------------------------------------------------------------------------------- flynn ----

class Flynn:
    def __init__(self, least):
        self.command, self.least, self.machine = os.environ.get("FLYNN", "flynn"), least, None

    def json(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.json")
            ended = subprocess.run([self.command, *words, f"--json={path}", "--quiet"], capture_output=True, text=True, check=False)
            if not path.exists():
                sys.exit(f"bench: {' '.join(words)}: {ended.stderr.strip() or ended.stdout.strip()}")
            return json.loads(path.read_text(encoding="utf-8"))

    def backends(self):
        """(name, where) of those that can run here; an emulation's times mean nothing."""
        known = {"simd": "core", "omp": "cores"}
        shown = json.loads(subprocess.run([self.command, "info", "--json"], capture_output=True, text=True, check=True).stdout)
        usable = [b["name"] for b in shown["backends"] if b["usable"] and not b["emulation"]]
        return [(name, known.get(name, "gpu")) for name in usable if name in known or name.startswith("hip")]

    def run(self, work, files, backend):
        document = self.json(*work.words, *files, *work.options, f"--backend={backend}", f"--min-time={self.least}")
        row = document["results"][0]
        self.machine = document["machine"]
        if row["check"]["ok"] is not True:
            sys.exit(f"bench: {work.words[0]} on {backend}: {row['check']}")
        return row["kernel_s"], row["variant"]


# ------------------------------------------------------------------------------------------------------------ measuring ----

def is_right(got, expected, inputs):
    """Within what sums in f32 are of sums in f64: the length of the longest one is at most that of an input's axis."""
    terms = max(max(x.shape) for x in inputs)
    return got.shape == expected.shape and bool(np.allclose(got, expected, rtol=1e-6 * max(1, terms ** 0.5), atol=1e-6 * float(np.max(np.abs(expected)))))


def measure(work, n, flynn, backends, libraries, rounds, least):
    """The rows of one size: who, where, a time for each round."""
    own = WORKS[work]
    rng = np.random.default_rng(1)
    inputs = [make(rng, n) for make in own.inputs]
    expected = own.expected(*(x.astype(np.float64) for x in inputs)) if n <= 1 << 20 else None
    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for x in own.given(*inputs):
            files.append(f"{folder}/{len(files)}.npy")
            np.save(files[-1], x)
        for name, where in backends:
            rows.append({"who": "Flynn", "where": where, "backend": name, "seconds": []})
        calls = []
        for library in libraries:
            if library.works.get(work):
                call = functools.partial(library.works[work], *(library.put(x) for x in inputs))
                try:
                    got = library.get(call())
                except Exception as why:  # a compiler that a library looks for when it is called, and does not find
                    print(f"bench: {work} by {library.name} ({library.where}) is left out: {str(why).splitlines()[0]}", file=sys.stderr)
                    continue
                if expected is not None and not is_right(got, expected, inputs):
                    wrong.append(f"{work} of {n} elements by {library.name} ({library.where})")
                calls.append(({"who": library.name, "where": library.where, "seconds": []}, call, library.wait))
        for _ in range(rounds):
            for row in rows:
                took, row["variant"] = flynn.run(own, files, row["backend"])
                row["seconds"].append(took)
            for row, call, wait in calls:
                row["seconds"].append(seconds(call, wait, least))
    return [{"work": work, "elements": n, **row} for row in rows + [row for row, _, _ in calls]], wrong


# -------------------------------------------------------------------------------------------------------------- showing ----

def text(value):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def table(rows):
    """A line for each size and place: Flynn, the best peer, and the median of their ratios, with the least and the largest."""
    lines = ["| elements | where | Flynn | best peer | peer / Flynn |", "|---|---|---|---|---|"]
    for n in sorted({r["elements"] for r in rows}):
        for own in (r for r in rows if r["who"] == "Flynn" and r["elements"] == n):
            places = {own["where"], "core"} if own["where"] == "cores" else {own["where"]}  # one core is on such a machine, too
            others = [r for r in rows if r["who"] != "Flynn" and r["elements"] == n and r["where"] in places]
            shown = f"| {n:,} | {own['where']} | {text(statistics.median(own['seconds']))} {own['backend']} {own['variant']} |"
            if not others:
                lines.append(f"{shown} | |")
                continue
            best = min(others, key=lambda r: statistics.median(r["seconds"]))
            ratios = sorted(b / a for a, b in zip(own["seconds"], best["seconds"]))
            lines.append(f"{shown} {text(statistics.median(best['seconds']))} {best['who']} | {statistics.median(ratios):.2f} "
                         f"({ratios[0]:.2f} to {ratios[-1]:.2f}) |")
    return "\n".join(lines)


def plot(rows, path):
    if not installed("matplotlib"):
        return
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for who in sorted({(r["where"], r["who"]) for r in rows}):
        points = sorted((r["elements"], statistics.median(r["seconds"]) / r["elements"] * 1e9) for r in rows if (r["where"], r["who"]) == who)
        axes.loglog(*zip(*points), marker="o", linewidth=2.5 if who[1] == "Flynn" else 1, label=f"{who[1]}, {who[0]}")
    axes.set(xlabel="elements", ylabel="ns an element", title=rows[0]["work"])
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path)
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--works", default=",".join(WORKS))
    parser.add_argument("--small", action="store_true", help="two small sizes of each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--least", type=float, default=0.2, help="seconds of a measurement")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/bench"))
    args = parser.parse_args()
    works = args.works.split(",")
    if unknown := [w for w in works if w not in WORKS]:
        parser.error(f"{unknown[0]} is none of {', '.join(WORKS)}")
    flynn, libraries = Flynn(args.least), peers()
    backends, rows, wrong = flynn.backends(), [], []
    args.output.mkdir(parents=True, exist_ok=True)
    versions = {p.name: p.version for p in libraries}
    head = f"{time.strftime('%Y-%m-%d')}. {platform.platform()}; " + ", ".join(f"{k} {v}" for k, v in versions.items()) + "."
    page = ["# Flynn next to other libraries on this machine", "", head, "f32; medians of " + f"{args.rounds} rounds, in turns; ratios of one round, with the least and the largest."]
    for work in works:
        own = []
        for n in [1 << 10, 1 << 12] if args.small else SIZES.get(work, USUAL):
            if 4 * n * len(WORKS[work].inputs) > MOST:
                continue
            print(f"{work}, {n:,} elements", file=sys.stderr, flush=True)
            found, bad = measure(work, n, flynn, backends, libraries, args.rounds, args.least)
            own += found
            wrong += bad
        page += ["", f"## {work}", "", table(own)]
        plot(own, args.output / f"{work}.svg")
        rows += own
    (args.output / "bench.json").write_text(json.dumps({"date": time.strftime("%Y-%m-%dT%H:%M:%S"), "machine": flynn.machine, "versions": versions,
                                                        "rows": rows}, indent=1) + "\n", encoding="utf-8")
    (args.output / "bench.md").write_text("\n".join(page) + "\n", encoding="utf-8")
    print("\n".join(page))
    for line in wrong:
        print(f"bench: wrong: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
