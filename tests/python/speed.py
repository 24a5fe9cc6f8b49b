# SPDX-License-Identifier: MIT
"""speed.py [--rounds=N] [NAME...]: what Python adds to a call, against NumPy and the command flynn; by hand.

    PYTHONPATH=python python3 tests/python/speed.py

A table: what is measured, against what, the ratio to reach, the one reached (the median of the rounds, in each of which both sides take turns, and their least
and largest). Exits with 1 if a ratio is beyond its limit. The machine must be idle for that; on a busy one the ratios still show what Python adds.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import timeit

import numpy as np

import flynn
from flynn import _library

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BACKEND = "simd"  # one thread: a machine's other work disturbs it least
random = np.random.default_rng(1)


def seconds(call, least=0.5):
    """The least seconds of a call, for a while and at least 5 times."""
    times, end = [], time.perf_counter() + least
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def command(*words):
    """A row of the command's JSON."""
    done = subprocess.run([_library.command(), *words, "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"flynn {' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)["results"][0]


def processor_seconds(call):
    """The least of five calls, of this process and of those that it starts."""
    taken = []
    for _ in range(5):
        before = sum(os.times()[:4])
        call()
        taken.append(sum(os.times()[:4]) - before)
    return min(taken)


# Each measurement returns the seconds of what is measured and of what it is compared with.

def of_import():
    """With the bytecode that a first import keeps."""
    code = "import time; a = time.process_time(); import numpy; b = time.process_time(); import flynn; print(time.process_time() - b, b - a)"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": f"{SOURCE / 'python'}:{os.environ.get('PYTHONPATH', '')}", "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return map(float, done.stdout.split())


def of_calls(name):
    device, x = flynn.device("serial"), np.arange(8.0)
    a, plus = device.array(x), flynn.vectorize("x + 1")
    call = {"in place": lambda: flynn.increment(a, out=a), "new": lambda: flynn.increment(a), "of NumPy": lambda: flynn.increment(x, device=device),
            "vectorize": lambda: plus(a)}[name]
    least = [np.inf, np.inf]
    for _ in range(20):
        for i, one in enumerate((call, (lambda: np.add(x, 1)) if name == "vectorize" else lambda: np.add(x, 1, out=x))):
            least[i] = min(least[i], timeit.timeit(one, timer=time.process_time, number=1000))
    return least


def of_total(operation, arrays):
    """An operation in a loop, and the command's pass: the least of each, which other programs have not interrupted."""
    device = flynn.device(BACKEND)
    on_device = [device.array(x) for x in arrays]
    function = getattr(flynn, operation)
    result = function(*on_device)
    call = (lambda: function(*on_device)) if isinstance(result, tuple) else lambda: function(*on_device, out=result)
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{i}.npy" for i in range(len(arrays))]
        for file, x in zip(files, arrays):
            np.save(file, x)
        row = command(operation, *files, f"--backend={BACKEND}", "--min-time=0.5")
    return seconds(call), min(row["times_s"]["total"])


def of_kernel(operation, arrays):
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{i}.npy" for i in range(len(arrays))]
        for file, x in zip(files, arrays):
            np.save(file, x)
        row = command(operation, *files, f"--backend={BACKEND}", "--min-time=0.2")
    return flynn.time(getattr(flynn, operation), *arrays, devices=BACKEND, min_time_s=0.2)[0]["kernel_s"], row["kernel_s"]


def of_check():
    """k.check of the kernel vector_add, and the command of the same arrays."""
    source = (SOURCE / "docs/kernels/vector_add.hip").read_text(encoding="utf-8")
    x = np.arange(1000, dtype="float32")
    kernel, device = flynn.RawKernel(source), flynn.device("hip-cpu")
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", x)
        words = [SOURCE / "docs/kernels/vector_add.hip", f"{folder}/x.npy", f"{folder}/x.npy", "out", "1000", "--expect=x + y", "--backend=hip-cpu", "--block=256"]
        return (processor_seconds(lambda: kernel.check("auto", 256, (x, x, np.zeros_like(x), 1000), expect="x + y", device=device)),
                processor_seconds(lambda: command("kernel", *words)))


def random_of(*shape, dtype="float32"):
    return random.random(shape).astype(dtype)


IMAGE, GAUSSIAN = random_of(2048, 2048), np.exp(-np.add.outer(np.linspace(-3, 3, 15) ** 2, np.linspace(-3, 3, 15) ** 2)).astype("float32")
MEASURED = [  # name, what, against, limits, measurement
    ("import", "`import flynn` after NumPy, processor time", "importing NumPy", 0.4, of_import),
    ("in-place", "`flynn.increment(a, out=a)`, 8 elements", "`np.add(x, 1, out=x)`", 2, lambda: of_calls("in place")),
    ("new", "`flynn.increment(a)`", "`np.add(x, 1, out=x)`", 5, lambda: of_calls("new")),
    ("numpy", "`flynn.increment(x)` of NumPy's array", "`np.add(x, 1, out=x)`", 9, lambda: of_calls("of NumPy")),
    ("vectorize", "`flynn.vectorize('x + 1')(a)`", "`np.add(x, 1)`", 8, lambda: of_calls("vectorize")),
    ("sort", "`flynn.sort(a, out=b)`, 2^22 f32", "`flynn sort`, total", 1.1, lambda: of_total("sort", [random_of(1 << 22)])),
    ("convolve", "`flynn.convolve(a, k, out=b)`, 2048 x 2048 and 15 x 15 f32", "`flynn convolve`, total", 1.1, lambda: of_total("convolve", [IMAGE, GAUSSIAN])),
    ("svd", "`flynn.svd(a)`, 512 x 512 f32", "`flynn svd`, total", 1.1, lambda: of_total("svd", [random_of(512, 512)])),
    ("kernel-sqrt", "`flynn.time(flynn.sqrt, x)`, kernel, 2^20 f32", "`flynn sqrt`, kernel", (0.9, 1.1), lambda: of_kernel("sqrt", [random_of(1 << 20)])),
    ("kernel-sort", "`flynn.time(flynn.sort, x)`, kernel, 2^16 f32", "`flynn sort`, kernel", (0.9, 1.1), lambda: of_kernel("sort", [random_of(1 << 16)])),
    ("kernel-maximum", "`flynn.time(flynn.maximum, x, y)`, kernel, 2^17 f64", "`flynn maximum`, kernel", (0.9, 1.1),
     lambda: of_kernel("maximum", [random_of(1 << 17, dtype="float64"), random_of(1 << 17, dtype="float64")])),
    ("check", "`k.check` of vector_add, code kept", "`flynn kernel`, processor time", 1.3, of_check),
]


def main():
    rounds = next((int(word[9:]) for word in sys.argv[1:] if word.startswith("--rounds=")), 7)
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    unknown = set(names) - {name for name, *_ in MEASURED}
    if unknown:
        sys.exit(f"speed.py: {', '.join(sorted(unknown))} is not measured; expected {', '.join(name for name, *_ in MEASURED)}")
    failed = False
    print(f"{flynn.device(BACKEND).hardware}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; Python {sys.version.split()[0]}, NumPy {np.__version__}\n")
    print("| what | against | at most | reached | least to largest | |\n|---|---|---|---|---|---|")
    for name, what, against, limit, measure in MEASURED:
        if names and name not in names:
            continue
        ratios = sorted(one / other for one, other in (measure() for _ in range(rounds)))
        low, high = limit if isinstance(limit, tuple) else (0, limit)
        reached = statistics.median(ratios)
        failed |= not low <= reached <= high
        print(f"| {what} | {against} | {f'{low} to {high}' if low else high} | {reached:.2f} | {ratios[0]:.2f} to {ratios[-1]:.2f} | {'ok' if low <= reached <= high else 'BEYOND'} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
