# SPDX-License-Identifier: MIT
"""Every option in the --help of every command has an effect, and every other shared option is refused.

EFFECTS and OWN are the table: a function for each option runs the command with and without it and asserts a difference.
VOID lists command lines in which something else makes an option void. An option without an entry is a failure, and so
is an entry that no command lists. What cannot be shown on this machine is printed. A quick test (FLYNN_TEST_QUICK) shows half of the
options, each with one command, and takes one of thirty of the other cases, by chance.
"""
import concurrent.futures
import csv
import contextlib
import functools
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import files  # noqa: E402 (beside this file)

FLYNN = os.environ["FLYNN"]
FAULTS = os.environ["FLYNN_TEST_FAULTS"]
SAVED = os.environ["FLYNN_SOURCE"] + "/tests/data/saved/exercise.json"
QUICK = ("--repeat=1", "--warmup=0")
SERIAL = ("--backend=serial",)
IMAGES = ("images/0.png", "images/1.png", "images/2.png")
COPIES = ("--backend=failing",)  # a device with memory of its own; it fails only if the environment says so


class NotShown(Exception):
    """The reason why this machine cannot show the effect."""


# -------------------------------------------------------------------------------------------------------------- running


class Run:
    def __init__(self, words, env=None, terminal=False):
        self.words = [str(w) for w in words]
        inner = {k: v for k, v in os.environ.items() if not k.startswith("FLYNN_")}
        inner.update({"LC_ALL": "C", "FLYNN_CACHE": str(pathlib.Path("cache").resolve())})
        if COPIES[0] in self.words:
            inner["FLYNN_PLUGIN_PATH"] = FAULTS + "/failing"
        inner.update(env or {})
        ours, theirs = os.openpty() if terminal else os.pipe()
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen([FLYNN, *self.words], stdin=subprocess.DEVNULL, stdout=out, stderr=theirs,
                                       env=inner)
            os.close(theirs)
            self.err = b"".join(iter(lambda: read(ours), b"")).decode()
            os.close(ours)
            _, status, usage = os.wait4(process.pid, 0)
            self.code = process.returncode = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
            self.cpu_s = usage.ru_utime + usage.ru_stime
            out.seek(0)
            self.out = out.read().decode()

    def must(self, code=0):
        assert self.code == code, f"exit code {self.code}, expected {code}: {self.line()}: {self.err.strip()}"
        return self

    def line(self):
        return "flynn " + " ".join(self.words)


def read(file):
    try:
        return os.read(file, 65536)
    except OSError:  # how Linux says that nobody writes to a terminal any more
        return b""


def document(*words, code=0, **how):
    return json.loads(Run([*words, "--json"], **how).must(code).out)


def differ(a, b, what):
    assert a != b, f"no effect: {what} is {str(a)[:300]} with and without it"


def is_equal(got, expected, what):
    assert got == expected, f"{what} is {got!r}, expected {expected!r}"


def usable(backend):
    return any(b["name"] == backend and b["usable"] for b in BACKENDS)


def need(backend):
    if not usable(backend):
        raise NotShown(f"{backend} cannot run here")


def variants_of(operation, backend):
    return [v["variant"] for v in VARIANTS if v["operation"] == operation and backend in v["backends"]]


# ------------------------------------------------------------------------------------------------------------- commands

# For each command: an example that is quick, without --backend, --repeat and --warmup.
EXAMPLES = {
    "primes": ("primes", "--upto=100"),
    "reconstruct": ("reconstruct", "--size=64", "--keep=4"),
    "matmul": ("matmul", "--size=64"),
    "svd": ("svd", "--size=16"),
    "batch": ("batch", "--size=40", "--keep=4"),
    "convolve1d": ("convolve1d", "--size=20000"),
    "compare": ("compare", "reconstruct", "--size=100"),
    "sweep": ("sweep", "reconstruct", "--size=100", "--variant=tiled"),
    "laws": ("laws", "reconstruct", "--size=200", "--threads=1,2,3,4"),
    "taxonomy": ("taxonomy", "reconstruct", "--size=100"),
    "ceiling": ("ceiling", "--size=4096"),
    "maximum": ("maximum", "--size=20"),
    "search_sorted": ("search_sorted", "--size=64", "--sorted=1000"),
    "report": ("report", SAVED, "--output=page.html"),
    "map": ("map", "--function=log(x + y)", "--size=64"),
    "show": ("show", "random:8x8"),
    "list": ("list",),
    "info": ("info",),
    "doctor": ("doctor",),
    "help": ("help",),
}
# For commands that `serial` does not have.
HOME = {"kernel": ("--backend=hip-cpu",)}
# The exercise that a command of many runs, or of a pipeline, has in its example.
INNER = dict.fromkeys(("compare", "sweep", "laws", "taxonomy", "batch"), "reconstruct")
RUN_NOTHING = ("report", "show", "list", "info", "doctor", "help")  # their examples


# Inputs of which each sample has another rounding error, and a small kernel, with which samples are cheap.
SAMPLED = {"convolve": ("convolve", "noise.npy", "kernel.npy", "--dtype=f32", *SERIAL, *QUICK),
           "convolve1d": ("convolve1d", "noise-line.npy", "taps.npy", "--dtype=f32", *SERIAL, *QUICK),
           "maximum": ("maximum", "--size=42", *SERIAL, *QUICK),
           **{command: (command, "--size=70000", *SERIAL, *QUICK) for command in ("increment", "sqrt", "log_of_sum", "map")}}


def example(command):
    return EXAMPLES.get(command, (command, "--size=64"))


def home(command):
    if command == "show":  # it runs nothing
        return ()
    if command in HOME:
        need("hip-cpu")
    return HOME.get(command, SERIAL)


def quick(command, backend=None):
    """The example with all that makes it quick."""
    if command in RUN_NOTHING:
        return example(command)
    backend = home(command) if backend is None else backend
    if command == "laws":
        backend = ()  # its default is omp, and it refuses a backend of one thread
    return (*example(command), *backend, *[w for w in QUICK if w.split("=")[0][2:] in OPTIONS[command]])


def rows(command, *more, backend=None, without=()):
    words = [w for w in quick(command, backend) if not w.startswith(without or "no word")]
    found = document(*words, *more)
    return found["batch"]["runs"] if command == "batch" else found["ceilings" if command == "ceiling" else "results"]


def row(command, *more, **how):
    return rows(command, *more, **how)[0]


def samples(command, *more, **how):
    found = row(command, *more, **how)
    times = found["quantities"][0]["times_s"] if command == "ceiling" else found["times_s"]
    return len(times if isinstance(times, list) else times["total"])


TIMED = "_s$|per_s|^(gflops|spread|relative|speed_up.*|rank|percent.*|date|memory|over.*|util.*)$"


def facts(value):
    """A document without its times."""
    if isinstance(value, dict):
        return {k: facts(v) for k, v in value.items() if not re.search(TIMED, k)}
    return [facts(v) for v in value] if isinstance(value, list) else value


# ---------------------------------------------------------------------------------- the shared options and their effect


def backend(command):
    if command == "list":
        lists = [json.loads(Run(["list", "--json", *more]).must().out)["variants"] for more in ((), SERIAL)]
        assert {b for v in lists[1] for b in v["backends"]} == {"serial"} and len(lists[0]) > len(lists[1]), "it lists others"
        return
    if command == "laws":
        Run([*quick("laws"), "--backend=serial"]).must(2)
        Run([*quick("laws"), "--backend=omp"]).must(0)
        return
    if command in HOME:
        Run(quick(command)).must(0)
        Run(quick(command, SERIAL)).must(3)
        return
    key = "backend" if command == "ceiling" else "backend_requested"
    names = ["serial", "simd"]
    is_equal([row(command, backend=(f"--backend={name}",))[key] for name in names], names, key)


def trace(command):
    path = pathlib.Path(f"{command}-trace.json")
    Run(quick(command)).must()
    assert not path.exists()
    Run([*quick(command), f"--trace={path}"]).must()
    events = json.loads(path.read_text())["traceEvents"]
    assert isinstance(events, list) and any(e["ph"] == "X" for e in events), "the trace has no spans"


def variant(command):
    if command == "kernel":  # it has one variant
        Run([*quick(command), "--variant=naive"]).must(2)
        return
    operation = INNER.get(command, command)
    backend = "omp" if command == "laws" else "serial"
    names = [v for v in variants_of(operation, backend) if v not in ("auto", "library", "fft-wide")]
    assert len(names) > 1, f"{operation} has one variant"
    for name in names[:2]:
        is_equal(row(command, f"--variant={name}")["variant"], name, "variant")


def size(command):
    sizes = [n + int(re.search("--size=([0-9]+)", " ".join(example(command))).group(1)) for n in (0, 8)]
    if command == "batch":
        found = [document(*quick("batch"), f"--size={n}")["batch"]["shape"] for n in sizes]
    elif command == "ceiling":
        found = [[q["amount"] for q in row(command, f"--size={n}")["quantities"]] for n in sizes]
    else:
        key = {"slice": "array_shape", "histogram": "bytes", "search_sorted": "shape"}.get(command, "elements")  # of what --size counts
        found = [row(command, f"--size={n}")[key] for n in sizes]
    differ(*found, "what is computed")


def block(command):
    """On a GPU, or an emulation, every exercise with --block has blocks; on a CPU a few variants have tiles."""
    operation = INNER.get(command, command)
    tiles = [v for v in ("tiled", "bitonic") if v in variants_of(operation, "serial") and command != "transpose"]
    ways = [("--backend=hip-cpu",)] if usable("hip-cpu") and command != "laws" else []
    ways += [(*(SERIAL if command != "laws" else ()), f"--variant={v}") for v in tiles]
    if not ways:
        raise NotShown(f"{operation} has blocks on a GPU only, and hip-cpu cannot run here")
    for way in ways:
        plain, asked = (row(command, *way[1:], *more, backend=way[:1])["block"] for more in ((), ("--block=32",)))
        differ(plain, asked, "block")
        is_equal(asked[0], 32, "the block's x")


def dtype(command):
    if command == "show":
        is_equal([document(*example(command), f"--dtype={d}")["arrays"][0]["dtype"] for d in ("f32", "i64")], ["f32", "i64"], "dtype")
        return
    shown = [row(command, f"--dtype={d}") for d in ("f32", "f64")]
    if command == "batch":
        shown = [document(*quick("batch"), f"--dtype={d}")["batch"] for d in ("f32", "f64")]
    if command in ("allclose", "search_sorted", "histogram"):  # their result is i64
        differ(*(r["bytes"] for r in shown), "bytes")
    else:
        is_equal([r["dtype"] for r in shown], ["f32", "f64"], "dtype")


def repeat(command):
    is_equal([samples(command, f"--repeat={n}") for n in (1, 4)], [1, 4], "the number of samples")


def warmup(command):
    if "trace" in OPTIONS[command] and command != "batch":
        more = spans(command, 7) - spans(command, 2)
        assert more >= 5, f"--warmup=7 has {more} passes more than --warmup=2"
        return
    if command in ("compare", "laws", "sweep", "taxonomy"):
        is_equal([row(command, f"--warmup={n}")["warmup"] for n in (0, 3)], [0, 3], "the row's warmup")
        return
    many = 200 if command == "batch" else 400  # more than 0.1 ms each
    seconds = [Run([*quick(command), f"--warmup={n}"]).must().cpu_s for n in (0, many)]
    assert seconds[1] > seconds[0] + 0.03, f"no effect: {seconds} seconds of the processor without and with it"


def spans(command, count):
    """How many passes the trace has. What is in a pass is queued as often as its time asks for."""
    path = pathlib.Path(f"{command}-warmup.json")
    words = (*quick(command), *(("--slice=0:2",) if command == "slice" else ()))
    Run([*words, f"--warmup={count}", f"--trace={path}"]).must()
    events = json.loads(path.read_text())["traceEvents"]
    return [e["name"] for e in events if e["ph"] == "X"].count("pass")


def min_time(command):
    few, many = (samples(command, f"--min-time={s}", without="--repeat") for s in (0, 0.15))
    assert many > few, f"no effect: {few} samples without and {many} with it"


def until(command):
    size = ("--size=700",) if command == "slice" else ()  # else the times are single ticks of the clock, all alike
    for _ in range(3):  # a pass beside other programs may take a hundred times as long
        few, many = (samples(command, "--min-time=0.002", *size, *more, without="--repeat")
                     for more in ((), ("--until=0.00001%",)))
        if many > few:
            break
    assert many > few, f"no effect: {few} samples without and {many} with it"
    for wrong in ("2", "0%", "101%", "nan%", "-1%", "%", "2%%", " 2%", "2 %"):
        refused = Run([*quick(command), f"--until={wrong}"]).must(2).err
        assert f"'{wrong}' is not a percentage" in refused, refused


def flush(command):
    """The device increments an array that is larger than its cache: of a processor up to 1 GiB, of a small GPU 32 MiB."""
    if command == "slice":
        path = pathlib.Path("slice-flush.json")
        Run([*quick(command, COPIES), "--slice=0:2", "--flush", f"--trace={path}"]).must()
        assert any(e["name"].startswith("increment") for e in json.loads(path.read_text())["traceEvents"]), "no pass is"
        return
    where = home(command) if command in HOME or command == "laws" else COPIES
    less = ("--threads=1,2",) if command == "laws" else ()  # each number of threads is a device with such an array
    is_equal([row(command, *less, *more, backend=where, without=less and "--threads")["flush"] for more in ((), ("--flush",))],
             [False, True], "flush")


def seed(command):
    """Of random inputs, of the check's samples, or of a random algorithm."""
    seeds = [f"--seed={n}" for n in (3, 40)]
    if command in SAMPLED:
        found = [document(*SAMPLED[command], "--check=sampled", s)["results"] for s in seeds]
        differ(*(facts(f) for f in found), "what was checked")
    elif command == "svd":
        result_differs(command, *seeds, more=("--variant=randomized", "--keep=3"))
    elif "output" in OPTIONS[command]:
        result_differs(command, *seeds, more=("--slice=0:2",) if command == "slice" else ())
    else:
        differ(*(facts(rows(command, s)) for s in seeds), "the result")


def pageable(command):
    if command == "laws":
        need("hip-cpu")
        words = ("laws", "reconstruct", "--backend=hip-cpu", "--size=128", *QUICK)
        found = [document(*words, *more)["results"][0]["host_memory"] for more in ((), ("--pageable",))]
    else:
        found = [row(command, *more, backend=COPIES)["host_memory"] for more in ((), ("--pageable",))]
    is_equal(found, ["pinned", "pageable"], "host_memory")


def wrong_timing(command):
    plain, asked = (row(command, *more)["call_s"] for more in ((), ("--wrong-timing",)))
    assert plain is None and asked > 0, f"call_s is {plain} without and {asked} with it"


def check(command):
    words = SAMPLED.get(command, quick(command))
    found = [document(*words, f"--check={how}")["results"][0]["check"]["method"] for how in ("full", "sampled")]
    assert "sampled" in found[1] and "sampled" not in found[0], f"check.method is {found} with full and sampled"


def as_json(command):
    words = quick(command)
    plain = Run(words)
    assert not plain.out.startswith("{"), "the table is JSON"
    assert json.loads(Run([*words, "--json"]).must(plain.code).out)["schema"] == "flynn/2"
    kept = Run([*words, f"--json={command}.json"]).must(plain.code)
    assert json.loads(pathlib.Path(f"{command}.json").read_text())["schema"] == "flynn/2"
    assert kept.out, "with a file for the JSON the table is missing"


def as_csv(command):
    table = list(csv.DictReader(io.StringIO(Run([*quick(command), "--csv"]).must().out)))
    assert table and "exercise" in table[0], "no rows"
    Run([*quick(command), f"--csv={command}.csv"]).must()
    is_equal(len(pathlib.Path(f"{command}.csv").read_text().splitlines()), len(table) + 1, "lines of the file")


def output(command):
    path = pathlib.Path(f"{command}-output.npy")
    Run([*quick(command), *(("--slice=0:2",) if command == "slice" else ()), f"--output={path}"]).must()
    assert files.read_npy(path)[2], "no values"


def quiet(command):
    words = quick(command)
    if command == "batch":  # of what is made beforehand it shows no progress
        words = ("batch", *IMAGES, *SERIAL)
    if command == "report" and not shutil.which("gnuplot"):
        raise NotShown("gnuplot, which report needs, is not installed")
    loud, silent = (Run([*words, *more], terminal=True) for more in ((), ("--quiet",)))
    is_equal(silent.code, loud.code, "exit code")
    is_equal(silent.err, "", "stderr with --quiet")
    if command in ("show", "list", "info", "doctor", "help") and not loud.err:
        raise NotShown("the command has nothing to remark here")
    assert loud.err, "no effect: nothing is on stderr without it"


def as_help(command):
    """A screen of it, which `flynn help` prints too."""
    text = Run([command, "--help"]).must().out
    assert text.startswith(f"Usage: flynn {command} "), text[:60]
    lines = text.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80, f"{len(lines)} lines, the longest {max(map(len, lines))}"
    told = re.findall(r"^ +(?:-\w, +)?--([a-z-]+)", text, re.M)
    is_equal(told, [name for name in OPTIONS[command] if name not in seldom(command)], "the options")
    wrapped = [line for line in lines if line.startswith(" " * 20)]
    assert not wrapped, f"an option has more than a line: {wrapped}"
    shown = Run(["help", command]).must().out
    word = {word.lower(): word for word in GLOSSARY}.get(command)
    if word:
        assert shown.startswith(word + ": ") and shown.endswith("\n\n" + text), f"flynn help: {shown}"
    else:
        is_equal(shown, text, "flynn help")


def examples(command):
    """Those in its help, in small; what they read is there."""
    text = HELP[command]
    lines = re.findall(rf"^  (flynn {command}(?: \S+)*)  ", text.split("Examples:\n")[1].split("\n\n")[0], re.M)
    assert lines, "it has no examples"
    home(command)
    for line in lines:
        words = shlex.split(line.replace("-b all", "-b serial,simd").replace("mri/", "images"))[1:]
        words = ["serial" if word == "hip" else word for word in words]
        small = {"FLYNN_SIZE": "128", "FLYNN_MIN_TIME": "0.001"}
        Run([re.sub(r"^--size=.*", "--size=64", word) for word in words], env=small).must()


def long_help(_):
    texts = [Run(["help", *more, "sort"]).must().out for more in ((), ("--long",))]
    assert len(texts[0]) < len(texts[1]) and all(f"--{name}" in texts[1] for name in SELDOM), "it says no more"


def man(_):
    assert Run(["help", "--man", "sort"]).must().out.startswith('.TH "FLYNN-SORT" 1'), "it is not a man page"


def words(_):
    found = dict(line.split("\t") for line in Run(["help", "--words", "convolve"]).must().out.splitlines())
    assert {"--mode=", "--mode=same", "--json", "--backend=omp"} <= set(found), found
    names = [line.split("\t")[0] for line in Run(["help", "--words"]).must().out.splitlines()]
    is_equal(set(names), set(OPTIONS), "the commands")


def variants(_):
    found = Run(["help", "--variants", "sort"]).must().out.split()
    is_equal(sorted(found), sorted({v["variant"] for v in VARIANTS if v["operation"] == "sort"} | {"auto", "reference"} & set(found)), "its variants")
    Run(["help", "--variants"]).must(2)


def glossary(_):
    """Each word is described by `flynn help WORD`, in lines of at most 80 columns."""
    assert len(GLOSSARY) > 100 and {"roofline", "spread", "with copies", "SIMT"} <= set(GLOSSARY), GLOSSARY
    for word, what in GLOSSARY.items():
        text = Run(["help", *word.split()], env={"COLUMNS": "80"}).must().out.split("\n\n")[0]
        is_equal(re.sub(r"\s+", " ", text).strip(), f"{word}: {what}", word)
        assert max(map(len, text.splitlines())) <= 80, text
    is_equal(Run(["help", "with-copies"]).must().out, Run(["help", "With", "Copies"]).must().out, "another spelling")


def usage(command):
    text = Run([command, "--usage"]).must().out
    assert text.startswith(f"Usage: flynn {command} [") and len(text) < len(HELP[command]), text[:60]


def version(command):
    assert re.fullmatch(r"flynn \d+\.\d+\.\d+\n", Run([command, "--version"]).must().out)


# A file for each argument of a command that reads arrays or images.
INPUTS = {"increment": "line.npy", "sqrt": "line.npy", "maximum": "line.npy line.npy", "log_of_sum": "line.npy line.npy",
          "map": "x+1 line.npy", "kernel": "vector_add.hip line.npy line.npy out 4", "sort": "line.npy", "search_sorted": "sorted.npy line.npy",
          "select": "line.npy", "transpose": "image.npy", "histogram": "line.npy", "convolve1d": "line.npy taps.npy", "convolve": "image.npy kernel.npy",
          "svd": "image.npy", "reconstruct": "u.npy s.npy vt.npy", "allclose": "line.npy line.npy", "slice": "image.npy", "matmul": "u.npy vt.npy",
          "scan": "line.npy", "reduce": "line.npy", "show": "line.npy",
          "batch": "images/0.png"}


def max_memory(command):
    if command == "laws":
        words = ["laws", "batch", *IMAGES[:2], "--threads=1,2", "--repeat=1", *SERIAL]
    else:
        words = [command, *INPUTS[command].split(), *home(command)]
    Run([*words, "--max-memory=4K"]).must()
    refused = Run([*words, "--max-memory=3"]).must(4).err
    assert len(refused.splitlines()) == 1 and "--max-memory" in refused, refused


def max_time(command):
    if command == "report":
        assert any(re.match("--max-time=35", w) for w in words_of_report("--max-time=3600")), "it is not passed on"
        return
    """A short one leaves work out, or ends the command; tests/cli/time.sh looks at what is shown then."""
    found = Run([*quick(command), "--max-time=0.000001"])
    assert found.code in (0, 4) and "--max-time" in found.err, f"no effect: {found.code} {found.err}"
    Run([*quick(command), "--max-time=1000"]).must()


def wide(command):
    """On a terminal; tests/cli/tables.py looks at what it shows."""
    Run([*quick(command), "--wide"]).must()


def columns(command):
    words = quick(command)
    first = "operation" if command == "list" else "scaling" if command == "laws" else "backend"
    plain, picked = (Run([*words, *more]).must().out for more in ((), (f"--columns={first}",)))
    assert any(line.strip() == first for line in picked.splitlines()), f"no column alone in {picked}"
    assert not any(line.strip() == first for line in plain.splitlines()), "it has no effect"


def function(command):
    """Map's own; a command of many runs passes it on, and refuses it for another exercise."""
    word = "--function=x * 2"
    if command == "report":
        assert word in words_of_report(word), "it is not passed on"
        return
    inner = () if command == "map" else ("map",)
    size = "--threads=1,2 --size=2000" if command == "laws" else "--size=100"
    variant = ("--variant=naive",) if command == "sweep" else ()
    backend = () if command == "laws" else SERIAL
    found = document(command, *inner, word, *size.split(), *variant, *backend, *[w for w in QUICK if w.split("=")[0][2:] in OPTIONS[command]])
    assert {r["function"] for r in found["results"]} == {"x * 2"}, found["results"]
    if inner:
        refused = Run([command, "reconstruct", word]).must(2).err
        assert "--function: has no effect" in refused, refused


def ranks(command):
    """One is this process; more are begun by a launcher, which tests/cli/ranks.sh looks at."""
    Run([*quick(command), "--ranks=1"]).must()
    refused = Run([*quick(command), "--ranks=2"], {"FLYNN_LINK": "nothing"}).must(3).err
    assert "--ranks: no usable MPI" in refused, refused


def show(command):
    """The first result below the table; N limits its elements."""
    words = [*quick(command), "--quiet"]
    plain, whole, part = (Run([*words, *more]).must().out for more in ((), ("--show",), ("--show=2",)))
    assert "\nresult: " not in plain and "\nresult: " in whole and "\nresult: " in part, whole
    assert "..." in part.split("\nresult: ")[1] or command == "reduce", part  # its result is one element
    refused = Run([*words, "--show", "--json"]).must(2).err
    assert "--show: has no effect: --json" in refused, refused


def path(command):
    """With one process there is none: the name alone is looked at; tests/cli/ranks.sh has the others."""
    Run([*quick(command), "--path=staged"]).must()
    refused = Run([*quick(command), "--path=shortest"]).must(2).err
    assert "'shortest' is not a path" in refused, refused


def tolerance(command):
    given, not_given = (row(command, *more) for more in (("--tolerance=0.25",), ()))
    is_equal([given["tolerance"], not_given["tolerance"], not_given["bound"]], [0.25, None, None], "tolerance")
    assert 0 < given["bound"] < 0.25, given["bound"]
    refused = Run([*quick(command), "--tolerance=1e-30"]).must(2).err
    least = float(re.search("a tolerance of 1e-30 is less than .*; expected at least (.*)", refused).group(1))
    assert 1 <= least / row(command, f"--tolerance={least}")["bound"] < 1.2, f"{least} is not the bound"
    for wrong in ("-1e-6", "nan", "1.5", "much"):
        refused = Run([*quick(command), f"--tolerance={wrong}"]).must(2).err
        assert "--tolerance" in refused and refused.count("\n") == 1, refused


EFFECTS = {
    "backend": backend, "trace": trace, "variant": variant, "size": size, "block": block, "dtype": dtype,
    "repeat": repeat, "warmup": warmup, "min-time": min_time, "until": until, "flush": flush, "seed": seed, "pageable": pageable,
    "wrong-timing": wrong_timing, "check": check, "json": as_json, "csv": as_csv, "output": output,
    "max-memory": max_memory, "max-time": max_time, "function": function, "ranks": ranks, "path": path, "show": show, "tolerance": tolerance, "wide": wide, "columns": columns, "quiet": quiet, "help": as_help, "usage": usage, "version": version,
}
ALWAYS = ("quiet", "help", "usage", "version")
SELDOM = ("usage", "path", "until", "flush", "max-time", "max-memory")  # in the long help alone
SHARED = [name for name in EFFECTS if name not in ALWAYS]


def seldom(command):
    """Those of the command: of kernel a few more, of commands that run it all of its own."""
    of_kernel_alone = {"kernel": ("entry", "bytes", "guard", "unwatched", "warp", "expect-grid", "registers"), **dict.fromkeys(("sweep", "compare"), (*OF_KERNEL, "flops", "bytes"))}
    return (*SELDOM, *of_kernel_alone.get(command, ()))


# --------------------------------------------------------------------------------------- options that one command has


def in_row(command, key, option, *values, more=(), inputs=()):
    """The row's key differs between the values; a value of None leaves the option out."""
    words = (*(inputs or quick(command)), *((*SERIAL, *QUICK) if inputs else ()), *more)
    found = []
    for value in values:
        d = document(*words, *([f"--{option}={value}"] if value is not None else []))
        found.append(d["results"][0][key])
    assert len({json.dumps(f) for f in found}) == len(values), f"no effect: {key} is {found} with {values}"


def in_place(command):
    for more, name in (((), "plain"), (("--in-place",), "in-place")):
        Run([*quick(command), *more, f"--output={command}-{name}.npy"]).must()
    results = [files.read_npy(f"{command}-{name}.npy") for name in ("plain", "in-place")]
    is_equal(*results, "the result")
    titles = [Run([*quick(command), *more]).must().out.splitlines()[0] for more in ((), ("--in-place",))]
    differ(*titles, "the title")


def result_differs(command, *options, more=()):
    values = []
    for i, option in enumerate(options):
        path = f"{command}-{options[1][2:8]}-{i}.npy"
        Run([*quick(command), *more, *([option] if option else []), f"--output={path}"]).must()
        values.append(pathlib.Path(path).read_bytes())
    differ(*values, "the result")


def png(_):
    path = pathlib.Path("colours.png.png")
    Run([*quick("convolve"), f"--png={path}"]).must()
    is_equal(files.read_png(path)[:2], (78, 78), "the picture's size")


def crop(_):
    Run([*quick("convolve"), "--png=crop.png", "--crop=9x8"]).must()
    is_equal(files.read_png("crop.png")[:2], (8, 9), "the picture's size")


def zoom(_):
    Run([*quick("convolve"), "--png=zoom.png", "--zoom=2"]).must()
    is_equal(files.read_png("zoom.png")[:2], (156, 156), "the picture's size")


def show_part(option, shape):
    def show(_):
        is_equal(document("show", "range:6x8", option)["arrays"][0]["shape"], shape, "the shape")
    return show


def show_picture(option, edges):
    def show(_):
        Run(["show", "range:6x8", "--png=shown.png", *option]).must()
        is_equal(files.read_png("shown.png")[:2], edges, "the picture's size")
    return show


def show_characters(_):
    plain, drawn = (Run(["show", "range:1x3", *more]).must().out for more in ((), ("--picture",)))
    assert "  ..++@@\n" in drawn and "@" not in plain, drawn


def show_each(_):
    two = [document("show", "ones:4", "ones:4", *more) for more in ((), ("--each",))]
    is_equal(["comparison" in d for d in two], [True, False], "comparison")


def show_tolerance(option):
    def show(_):
        Run(["show", "ones:4", "fill:4,value=1.25", "--atol=0"]).must(1)
        Run(["show", "ones:4", "fill:4,value=1.25", option]).must(0)
    return show


def factors_of_svd(_):
    Run([*quick("svd"), "--factors=factors", "--keep=3"]).must()
    is_equal([files.read_npy(f"factors/{n}.npy")[1] for n in ("u", "s", "vt")], [(16, 3), (3,), (3, 16)], "shapes")


# Of kernel, and of sweep and compare where they run kernels: words, an option, and the exit codes without and with it.
OF_KERNEL = {
    "entry": ("vector_add.hip 0:4 0:4 out 4 --expect=x+y", "--entry=ones", [0, 1]),
    "grid": ("macros.hip out=1 --expect=2", "--grid=3x2", [1, 0]),
    "shared": ("macros.hip out=1", "--shared=1G", [0, 2]),
    "define": ("macros.hip out=1 --expect=7", "--define=VALUE=7", [1, 0]),
    "include": ("included.hip out=1 --expect=3", "--include=headers", [2, 0]),
    "let": ("vector_add.hip 0:4 0:4 out {n} --expect=x+y", "--let=n=4", [2, 0]),
    "constant": ("macros.hip out=1 --expect=1", "--constant=more:two.npy", [1, 0]),
    "expect": ("vector_add.hip 0:4 0:4 out 4", "--expect=x-y", [0, 1]),
    "expect-grid": ("macros.hip out=1 --expect=macros.hip", "--expect-grid=3x2", [0, 1]),
    "rtol": ("vector_add.hip 0:4 0:4 out 4 --expect=x+y*1.001", "--rtol=0.01", [1, 0]),
    "atol": ("vector_add.hip 0:4 0:4 out 4 --expect=x+y+0.01", "--atol=0.1", [1, 0]),
    "guard": ("vector_add.hip 0:4 0:4 out 4 --entry=ones --expect=1", "--guard=off", [1, 0]),
    "unwatched": ("race.hip out=4 --block=4 --expect=1", "--unwatched", [1, 0]),
    "registers": ("vector_add.hip 0:4 0:4 out 4 --expect=x+y", "--registers=gfx90a", [0, 2]),  # nothing is launched
    "warp": ("warp.hip out=4 --block=4 --expect=64", "--warp=64", [1, 0]),
}


def of_kernel(words, option, codes):
    def show(command):
        first = ["kernel"] if command == "kernel" else [command, "kernel"]
        both = [Run([*first, *words.split(), *home("kernel"), *QUICK, *more]).code for more in ((), (option,))]
        is_equal(both, codes, "exit codes")
    return show


def work_of_kernel(option, key, value):
    """The option is a formula, whose value is in the row."""
    def show(command):
        first = ["kernel"] if command == "kernel" else [command, "kernel"]
        words = [*first, *"vector_add.hip 0:4 0:4 out 4".split(), *home("kernel"), *QUICK]
        found = [document(*words, *more)["results"][0][key] for more in ((), (option,))]
        assert found[0] != value and found[1] == value, f"{key} is {found} without and with {option}"
    return show


def check_differs(command, option):
    """What is compared, and how, is in check.method."""
    differ(*(row(command, *more)["check"]["method"] for more in ((), (option,))), "check.method")


def lanes(_):
    if os.uname().machine != "x86_64":
        raise NotShown("functions over lanes are for x86-64")
    pathlib.Path("loop.c").write_text("int f(int n) { while (n > 9) n /= 10; return n; }\n", encoding="utf-8")
    shown = [Run(["map", "loop.c", "0:20", *SERIAL, *QUICK, *more]).must(0).out for more in ((), ("--lanes",))]
    assert ["flynn_lanes" in text for text in shown] == [False, True], shown


def closeness(option, value):
    def show(_):
        words = ["allclose", "near-a.npy", "near-b.npy", *SERIAL, *QUICK, "--rtol=0", "--atol=0", "--equal-nan"]
        if option == "equal-nan":
            words.remove("--equal-nan")
            words.append("--atol=1")
        Run(words).must(1)
        Run([*words, f"--{option}{value}"]).must(0)
    return show


def slice_ranges(_):
    is_equal([r["slice"] for r in rows("slice", "--slice=1:3,2:4")], ["1:3,2:4"] * 3, "slices")


def markdown(_):
    plain, asked = (Run([*quick("compare"), *more]).must().out for more in ((), ("--markdown",)))
    assert "|---" not in plain.replace(" ", "") and re.search(r"\|[ :]*-+", asked), asked[:200]


def against(_):
    Run([*quick("compare"), "--json=old.json"]).must()
    verdicts = document("compare", "--against=old.json", "old.json")
    assert verdicts["pairs"], "no pairs"


def again(_):
    saved = document(*quick("compare"))
    saved["results"][0]["disturbed"] = "a cause that nothing has"
    pathlib.Path("noisy.json").write_text(json.dumps(saved), encoding="utf-8")
    differ(*(d["results"][0]["disturbed"] for d in (saved, document("compare", "--again=noisy.json"))), "disturbed")


def sweep_list(option, key, values):
    def show(_):
        found = document("sweep", "convolve", *SERIAL, *QUICK, "--size=64", "--variant=tiled",
                         f"--{option}={','.join(values)}")
        asked = [r[key] for r in found["results"]]
        is_equal([json.dumps(a) for a in asked], [json.dumps(v) for v in values.values()], key)
    return show


def sweep_keep(_):
    words = ("sweep", "reconstruct", *SERIAL, *QUICK, "--size=64", "--variant=tiled")
    differ(*(document(*words, f"--keep={k}")["results"][0]["bytes"] for k in (3, 4)), "bytes")


def sweep_save(_, name="-save"):
    env = {"FLYNN_CACHE": str(pathlib.Path(f"cache{name}").resolve())}
    if os.environ.get("FLYNN_TEST_MACHINE"):  # noise would leave nothing to save
        env.update(TEST_MACHINE="quiet", LD_PRELOAD=os.environ["FLYNN_TEST_MACHINE"])
    exercise = ("reconstruct", *SERIAL, *QUICK, "--size=64", "--keep=8")
    tuned = [document(*exercise, env=env)["results"][0]["tuned"]]
    for words in ((*exercise[1:], "--variant=tiled", "--save"), ("--forget",)):
        Run(["sweep", "reconstruct", *words], env=env).must()
        tuned.append(document(*exercise, env=env)["results"][0]["tuned"])
    is_equal(tuned, [False, True, False], "tuned before, after --save and after --forget")


def laws_threads(_):
    points = document("laws", "convolve", "--size=64", *QUICK, "--threads=1,2,3,5")["laws"]["strong"]
    is_equal([p["n"] for p in points], [1, 2, 3, 5], "the points")


def laws_ranks(_):
    """They are begun by a launcher, which tests/cli/ranks.sh looks at."""
    words = ["laws", "convolve", "--size=64", *QUICK]
    refused = Run([*words, "--ranks=1,2"], {"FLYNN_LINK": "nothing"}).must(3).err
    assert "--ranks: no usable MPI" in refused, refused
    for wrong in ("2,4", "1", "1,x", "2,1"):
        Run([*words, f"--ranks={wrong}"]).must(2)


def laws_batch(_):
    need("hip-cpu")
    found = document("laws", "reconstruct", "--backend=hip-cpu", "--size=128", "--batch=1,2,3,5", *QUICK)
    is_equal([p["n"] for p in found["laws"]["batch"]], [1, 2, 3, 5], "the points")


def laws_keep(_):
    words = ("laws", "reconstruct", "--size=64", *QUICK, "--threads=1,2")
    is_equal([{r["singular_values"] for r in document(*words, f"--keep={k}")["results"]} for k in (3, 4)], [{3}, {4}],
             "the ranks")


def taxonomy_keep(_):
    found = [document("taxonomy", "reconstruct", *SERIAL, "--size=64", *QUICK, f"--keep={k}") for k in (3, 4)]
    is_equal([{r["singular_values"] for r in d["results"]} for d in found], [{3}, {4}], "the ranks")
    differ(*([a["check"]["worst_expected"] for a in d["taxonomy"]["misd"]["answers"]] for d in found), "the answers of the variants")


def shown_by_report(option, name):
    def show(_):
        path = pathlib.Path(name)
        if not shutil.which("gnuplot"):
            raise NotShown("gnuplot, which report needs, is not installed")
        Run(["report", SAVED, f"--{option}={name}{':seen' if option == 'picture' else ''}", "--quiet",
             *([f"--output=page-of-{option}.html"] if option != "output" else [])]).must()
        if option == "picture":
            assert "seen" in pathlib.Path("page-of-picture.html").read_text(), "the caption is missing"
        else:
            assert path.is_file() or any(f.suffix == ".svg" for f in path.iterdir()), "nothing is written"
    return show


# What `flynn report` without files gives to the `flynn compare` that it starts.
PASSED_ON = ("--backend=serial", "--variant=naive", "--size=sort=100", "--scale=0.25", "--block=8x8x1", "--dtype=f32", "--repeat=2",
             "--warmup=3", "--min-time=0.5", "--until=50%", "--flush", "--seed=7", "--check=sampled", "--pageable")


def name_of(word):
    return word.split("=")[0][2:]


@functools.lru_cache(None)
def words_of_report(*words):
    """The command line of report's child, which is long enough under way to be seen."""
    if not shutil.which("gnuplot"):
        raise NotShown("gnuplot, which report needs, is not installed")
    inner = {k: v for k, v in os.environ.items() if not k.startswith("FLYNN_")}
    inner["FLYNN_CACHE"] = str(pathlib.Path("cache").resolve())
    process = subprocess.Popen([FLYNN, "report", "--quiet", "--output=page-of-run.html", *words], env=inner,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    found = []
    while not found and process.poll() is None:
        for child in words_of(f"/proc/{process.pid}/task/{process.pid}/children", " "):
            seen = words_of(f"/proc/{child}/cmdline", "\0")
            found = seen if seen[1:2] == ["compare"] else found
    with contextlib.suppress(ProcessLookupError):  # it may have ended just now
        os.killpg(process.pid, signal.SIGKILL)  # its child, and that one's, would run on
    process.wait()
    return found


def words_of(path, between):
    try:
        return [w for w in pathlib.Path(path).read_text().split(between) if w]
    except OSError:
        return []


def passed_on(word):
    def show(_):
        others = [w for w in PASSED_ON if w[:5] not in ("--rep", "--min", "--unt")]
        plain, asked = words_of_report("--size=sort=99"), words_of_report(word, *[w for w in others if w != word])
        assert plain and asked, "the child of report was not seen"
        assert word in asked and word not in plain, f"{word}: {plain} without, {asked} with it"
    return show


def in_batch(find, *words, images=False, synthetic=("--synthetic=6x8x8",)):
    """What `find` finds in the JSON differs with each of the words."""
    inputs = IMAGES if images else synthetic
    found = [find(document("batch", *inputs, *SERIAL, *w.split())["batch"]) for w in words]
    assert len({json.dumps(f) for f in found}) == len(words), f"no effect: {found} with {words}"


def stage_threads(batch):
    return [s["threads"] for r in batch["runs"] for s in r["stages"] if s["stage"] == "decompose"]


def batch_folder(_):
    Run(["batch", *IMAGES, *SERIAL, "--keep=2", "--output-dir=results"]).must()
    is_equal(len(list(pathlib.Path("results").iterdir())), 3, "the results in the folder")


def batch_resume(_):
    words = ("batch", *IMAGES, *SERIAL, "--keep=2", "--output-dir=resumed")
    counts = [document(*words, *more)["batch"]["runs"][0]["already_there"] for more in ((), (), ("--resume",))]
    is_equal(counts, [0, 0, 3], "already_there")


def batch_factors(_):
    Run(["svd", "--size=16", "--keep=3", *SERIAL, *QUICK, "--factors=factors-of-batch"]).must()
    found = document("batch", "--factors=factors-of-batch", *SERIAL)["batch"]
    is_equal((found["source"], found["count"]), ("factors", 1), "source and count")


def root(_):
    pathlib.Path("bare").mkdir()
    differ(*(facts(json.loads(Run(["doctor", *more, "--json"]).out)) for more in ((), ("--root=bare",))), "findings")


def bundle(_):
    Run(["doctor"])
    assert not pathlib.Path("flynn-doctor.json").exists(), "written without it"
    for words, file in ((("--bundle",), "flynn-doctor.json"), (("--bundle=other.json",), "other.json")):
        Run(["doctor", *words])
        assert json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["bundle"]["runs"], file


OWN = {
    **{(c, option): of_kernel(*how) for c in ("kernel", "sweep", "compare") for option, how in OF_KERNEL.items()},
    **{(c, key): work_of_kernel(f"--{key}=25*size", key, 100) for c in ("kernel", "sweep", "compare") for key in ("flops", "bytes")},
    ("compare", "size"): lambda c: differ(*(document(*(w for w in quick(c) if "--size" not in w), f"--size=reconstruct={n}")["results"][0]["elements"]
                                            for n in (40, 50)), "the size"),
    ("compare", "scale"): lambda c: differ(*(document("compare", "sort", *SERIAL, *QUICK, f"--scale={x}")
                                             ["results"][0]["elements"] for x in ("1e-4", "1e-3")), "the size"),
    ("help", "long"): long_help,
    ("info", "long"): lambda c: differ(*("  file: " in Run([c, *more]).must().out for more in ((), ("--long",))), "the files"),
    ("help", "man"): man,
    ("help", "words"): words,
    ("help", "variants"): variants,
    ("help", "glossary"): glossary,
    ("increment", "shape"): lambda c: in_row(c, "shape", "shape", "4x3", "2x6", inputs=(c,)),
    ("increment", "in-place"): in_place,
    ("sort", "in-place"): in_place,
    ("search_sorted", "sorted"): lambda c: in_row(c, "bytes_requested", "sorted", None, 100),
    ("transpose", "shape"): lambda c: in_row(c, "shape", "shape", "4x3", "2x6", inputs=(c,)),
    ("reduce", "operation"): lambda c: in_row(c, "operation", "operation", None, "minimum", "argmax"),
    ("reduce", "axis"): lambda c: in_row(c, "shape", "axis", None, "0", "1", inputs=(c, "--shape=16x4")),
    ("reduce", "accumulate"): lambda c: in_row(c, "result", "accumulate", None, "f64"),
    ("reduce", "shape"): lambda c: in_row(c, "shape", "shape", "16x4", "8x8", inputs=(c, "--axis=0")),
    ("scan", "in-place"): in_place,
    ("scan", "operation"): lambda c: result_differs(c, "", "--operation=maximum"),
    ("scan", "exclusive"): lambda c: result_differs(c, "", "--exclusive"),
    ("primes", "upto"): lambda c: in_row(c, "elements", "upto", 50, 60),
    ("primes", "method"): lambda c: in_row(c, "variant", "method", None, "sqrt", "sieve"),
    ("primes", "launch"): lambda c: in_row(c, "variant", "launch", None, "each"),
    ("primes", "count"): lambda c: result_differs(c, "", "--count"),
    ("histogram", "bins"): lambda c: in_row(c, "bins", "bins", 10, 20),
    ("histogram", "range"): lambda c: in_row(c, "hi", "range", None, "0,2", "-1,0.5"),
    ("histogram", "outside"): lambda c: in_row(c, "counted", "outside", "drop", "clip", more=("--range=0.25,0.5",)),
    ("convolve1d", "mode"): lambda c: in_row(c, "shape", "mode", "full", "same", "valid"),
    ("convolve1d", "gaussian"): lambda c: result_differs(c, "", "--gaussian=narrow"),
    ("convolve1d", "taps"): lambda c: in_row(c, "shape", "taps", 15, 225),
    ("convolve", "mode"): lambda c: in_row(c, "shape", "mode", "full", "same", "valid"),
    ("convolve", "gaussian"): lambda c: result_differs(c, "", "--gaussian=narrow"),
    ("convolve", "png"): png,
    ("convolve", "crop"): crop,
    ("convolve", "zoom"): zoom,
    ("show", "crop"): show_part("--crop=1:3,::2", [2, 4]),
    ("show", "shape"): show_part("--shape=48", [48]),
    ("show", "each"): show_each,
    ("show", "rtol"): show_tolerance("--rtol=0.3"),
    ("show", "atol"): show_tolerance("--atol=0.3"),
    ("show", "png"): show_picture((), (8, 6)),
    ("show", "picture"): show_characters,
    ("show", "zoom"): show_picture(("--zoom=3",), (24, 18)),
    ("svd", "keep"): lambda c: in_row(c, "singular_values", "keep", None, 3, 4),
    ("svd", "factors"): factors_of_svd,
    ("reconstruct", "keep"): lambda c: in_row(c, "bytes", "keep", 3, 4),
    ("reconstruct", "batch"): lambda c: in_row(c, "shape", "batch", None, 3),
    ("matmul", "transpose"): lambda c: result_differs(c, "", "--transpose=a"),
    ("matmul", "batch"): lambda c: in_row(c, "shape", "batch", None, 3),
    ("map", "rtol"): lambda c: check_differs(c, "--rtol=1e-3"),
    ("map", "lanes"): lanes,
    ("map", "atol"): lambda c: check_differs(c, "--atol=1e-3"),
    ("allclose", "rtol"): closeness("rtol", "=1"),
    ("allclose", "atol"): closeness("atol", "=1"),
    ("allclose", "equal-nan"): closeness("equal-nan", ""),
    ("slice", "slice"): slice_ranges,
    ("compare", "markdown"): markdown,
    ("compare", "against"): against,
    ("compare", "again"): again,
    ("sweep", "size"): sweep_list("size", "size", {"40": 40, "50": 50}),
    ("sweep", "block"): sweep_list("block", "block_asked", {"8x4": [8, 4, 1], "16": [16, 1, 1]}),
    ("sweep", "variant"): sweep_list("variant", "variant", {"naive": "naive", "tiled": "tiled"}),
    ("sweep", "keep"): sweep_keep,
    ("sweep", "with-copies"): lambda c: differ(*("with the copies: no GPU" in Run([*quick(c), *more]).must().out
                                                 for more in ((), ("--with-copies",))), "the sentence"),
    ("sweep", "save"): sweep_save,
    ("sweep", "forget"): lambda c: sweep_save(c, "-forget"),
    ("laws", "threads"): laws_threads,
    ("laws", "batch"): laws_batch,
    ("laws", "ranks"): laws_ranks,
    ("laws", "keep"): laws_keep,
    ("taxonomy", "keep"): taxonomy_keep,
    ("doctor", "root"): root,
    ("doctor", "bundle"): bundle,
    ("doctor", "class"): lambda c: differ(*(len(Run([c, *more]).out.splitlines()) == 1 for more in ((), ("--class",))), "one line"),
    ("doctor", "long"): lambda c: differ(*(": opens as " in Run([c, *more]).out for more in ((), ("--long",))), "each finding"),
    ("list", "long"): lambda c: differ(*("multiply_add" in Run([c, *more]).must().out for more in ((), ("--long",))), "operations"),
    ("report", "output"): shown_by_report("output", "another.html"),
    ("report", "plots"): shown_by_report("plots", "plots"),
    ("report", "picture"): shown_by_report("picture", "images/0.png"),
    **{("report", name_of(word)): passed_on(word) for word in PASSED_ON},
    ("batch", "keep"): lambda _: in_batch(lambda b: b["singular_values"], "--keep=2", "--keep=3"),
    ("batch", "synthetic"): lambda _: in_batch(lambda b: (b["count"], b["shape"]), "--synthetic=3x8x8",
                                               "--synthetic=4x8x9", synthetic=()),
    ("batch", "pipeline"): lambda _: in_batch(lambda b: [r["pipeline"] for r in b["runs"]], "", "--pipeline=pinned",
                                              "--pipeline=all"),
    ("batch", "chunk"): lambda _: in_batch(lambda b: b["runs"][0]["launches"], "--chunk=1", "--chunk=6"),
    ("batch", "threads"): lambda _: in_batch(stage_threads, "--threads=1", "--threads=3", images=True),
    ("batch", "decompose-on"): lambda _: in_batch(lambda b: b["decompose_on"], "--decompose-on=serial",
                                                  "--decompose-on=simd", images=True),
    ("batch", "svd"): lambda _: in_batch(lambda b: b["runs"][0]["worst_error"], "--keep=3 --svd=jacobi",
                                         "--keep=3 --svd=randomized", images=True),
    ("batch", "output-dir"): batch_folder,
    ("batch", "resume"): batch_resume,
    ("batch", "factors"): batch_factors,
}

# ------------------------------------------------------------------------------- what is void beside something else

VOID = [
    ("convolve --size=64 --crop=4x4", "crop"),
    ("show line.npy --seed=3", "seed"),
    ("show line.npy --zoom=3", "zoom"),
    ("show line.npy --each", "each"),
    ("show line.npy --rtol=1", "rtol"),
    ("show line.npy line.npy --each --atol=1", "atol"),
    ("show line.npy line.npy --output=out.npy", "output"),
    ("show line.npy line.npy --each --png=out.png", "png"),
    ("sort --size=64 --show --csv", "show"),
    ("convolve --size=64 --zoom=2", "zoom"),
    ("convolve image.npy --size=64", "size"),
    ("convolve image.npy kernel.npy --gaussian=narrow", "gaussian"),
    ("convolve1d line.npy --size=64", "size"),
    ("convolve1d line.npy line.npy --gaussian=narrow", "gaussian"),
    ("convolve1d line.npy line.npy --taps=225", "taps"),
    ("increment line.npy --size=64", "size"),
    ("increment line.npy --shape=4x3", "shape"),
    ("increment --shape=4x3 --size=64", "size"),
    ("sqrt line.npy --size=64", "size"),
    ("maximum line.npy line.npy --size=64", "size"),
    ("maximum line.npy line.npy --seed=3", "seed"),
    ("log_of_sum 6 7 --size=64", "size"),
    ("log_of_sum 6 7 --seed=3", "seed"),
    ("kernel vector_add.hip 0:4 0:4 out 4 --size=64", "size"),
    ("kernel vector_add.hip 0:4 0:4 out 4 --seed=3", "seed"),
    ("sort line.npy --size=64", "size"),
    ("sort line.npy --seed=3", "seed"),
    ("search_sorted sorted.npy line.npy --size=64", "size"),
    ("search_sorted sorted.npy line.npy --seed=3", "seed"),
    ("search_sorted sorted.npy line.npy --sorted=64", "sorted"),
    ("select line.npy --size=64", "size"),
    ("select line.npy --seed=3", "seed"),
    ("histogram line.npy --size=64", "size"),
    ("histogram line.npy --seed=3", "seed"),
    ("transpose image.npy --size=64", "size"),
    ("transpose image.npy --seed=3", "seed"),
    ("transpose image.npy --shape=4x3", "shape"),
    ("transpose --shape=4x3 --size=64", "size"),
    ("scan line.npy --size=64", "size"),
    ("scan line.npy --seed=3", "seed"),
    ("reduce line.npy --size=64", "size"),
    ("reduce line.npy --seed=3", "seed"),
    ("reduce line.npy --shape=4x3", "shape"),
    ("reduce --shape=4x3 --size=64", "size"),
    ("reduce --operation=argmin --accumulate=f64", "accumulate"),
    ("allclose near-a.npy near-b.npy --size=64", "size"),
    ("svd image.npy --size=64", "size"),
    ("reconstruct u.npy s.npy vt.npy --size=64", "size"),
    ("reconstruct u.npy s.npy vt.npy --batch=2", "batch"),
    ("matmul u.npy vt.npy --size=64", "size"),
    ("matmul u.npy vt.npy --batch=2", "batch"),
    ("primes --method=sieve --launch=each", "launch"),
    ("primes --variant=sieve --method=trial", "variant"),
    ("slice image.npy --size=64", "size"),
    ("slice image.npy --seed=3", "seed"),
    ("slice --size=64 --output=out.npy", "output"),
    ("batch --synthetic=4x8x8 --size=8", "size"),
    ("batch --synthetic=4x8x8 --resume", "resume"),
    ("batch --synthetic=4x8x8 --output-dir=out", "output-dir"),
    ("batch images/0.png --size=8", "size"),
    ("batch images/0.png --dtype=f32", "dtype"),
    ("batch images/0.png --repeat=3", "repeat"),
    ("batch --synthetic=4x8x8 --threads=2", "threads"),
    ("batch --synthetic=4x8x8 --svd=jacobi", "svd"),
    ("batch --synthetic=4x8x8 --decompose-on=serial", "decompose-on"),
    ("batch --synthetic=4x8x8 --pipeline=pinned --chunk=2", "chunk"),
    ("batch --synthetic=4x8x8 --pipeline=one-by-one --pageable", "pageable"),
    ("compare increment --seed=3", "seed"),
    ("compare sort --check=full", "check"),
    *((f"compare --against={SAVED} {SAVED} {word}", name_of(word)) for word in PASSED_ON),
    *((f"report {SAVED} {word}", name_of(word)) for word in PASSED_ON),
    ("compare convolve --json --markdown", "markdown"),
    *((f"{' '.join(example(c))} --repeat=3 --min-time=1", "min-time") for c in (
        "sort", "slice", "batch", "compare", "sweep", "ceiling", "laws", "taxonomy")),
    ("sweep sort --forget --repeat=3", "repeat"),
    ("sweep sort --forget --size=64", "size"),
    ("sweep sort --forget --save", "save"),
    ("sweep svd --block=8x8", "block"),
    ("sweep primes --dtype=i64", "dtype"),
    ("laws svd --block=8x8", "block"),
    ("sweep sort --keep=3", "keep"),
    ("sweep primes --save", "save"),
    ("sweep increment --seed=3", "seed"),
    ("sweep sort --check=full", "check"),
    ("laws increment --seed=3", "seed"),
    ("laws sort --check=full", "check"),
    ("laws sort --keep=3", "keep"),
    ("laws --backend=omp --batch=1,2,3,4", "batch"),
    ("taxonomy map --block=8x8", "block"),
    ("taxonomy map --keep=3", "keep"),
    *((f"{c} --max-memory=1G", "max-memory") for c in INPUTS if c != "show"),
]


def make_inputs():
    pathlib.Path("images").mkdir()
    for n, path in enumerate(IMAGES):  # grey, of more than one rank
        lines = [[(17 * x * x + 31 * y * (x + n) + 40 * (x == y)) % 256 for x in range(8)] for y in range(8)]
        pathlib.Path(path).write_bytes(files.png(8, 8, 8, 0, lines))
    lines = [[(17 * x * x + 31 * y * x) % 256 for x in range(32)] for y in range(32)]
    pathlib.Path("in.png").write_bytes(files.png(32, 32, 8, 0, lines))
    noise = hashlib.shake_256(b"noise").digest(2000 * 2000)  # more elements than a check samples
    arrays = {"image": ([0.25 * i for i in range(64)], (8, 8)), "kernel": ([0.1, 0.7, 0.3, 0.4], (2, 2)),
              "taps": ([0.1, 0.7, 0.3], (3,)),
              "line": ([3, 1, 2, 5], (4,)), "near-a": ([1.0, float("nan"), 2.0], (3,)),
              "near-b": ([1.5, float("nan"), 2.0], (3,)), "u": ([1, 2, 3, 4], (2, 2)), "s": ([2, 1], (2,)),
              "vt": ([1, 2, 3, 4], (2, 2)), "x": ([3, 1, 2, 5], (4,)), "y": ([1, 1, 2, 2], (4,)),
              "a": ([1.0, 2.0], (2,)), "b": ([1.0, 2.0], (2,)),
              "sorted": ([1, 2, 3, 4], (4,)), "values": ([3, 0, 2], (3,))}
    for name, (values, shape) in arrays.items():
        pathlib.Path(f"{name}.npy").write_bytes(files.npy(values, shape))
    pathlib.Path("prime.c").write_text("int prime(int n) { return n == 2; }\n")
    pathlib.Path("two.npy").write_bytes(files.npy([1, 1], (2,), "<f4"))
    pathlib.Path("vector_add.hip").write_text(
        "__global__ void ones(const double *a, const double *b, double *out, int size)\n"
        "{\n    if (threadIdx.x <= size)\n        out[threadIdx.x] = 1;\n}\n"
        "__global__ void vector_add(const double *a, const double *b, double *out, int size)\n"
        "{\n    if (threadIdx.x < size)\n        out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];\n}\n")
    pathlib.Path("headers").mkdir(exist_ok=True)
    pathlib.Path("headers/three.h").write_text("#define THREE 3\n", encoding="utf-8")
    pathlib.Path("included.hip").write_text('#include "three.h"\n__global__ void k(float *out) { out[0] = THREE; }\n', encoding="utf-8")
    pathlib.Path("macros.hip").write_text(
        "__constant__ float more[2];\n__global__ void macros(float *out)\n{\n"
        "#ifdef VALUE\n    out[0] = VALUE;\n#else\n    out[0] = more[0] + gridDim.x - 1;\n#endif\n}\n")
    pathlib.Path("warp.hip").write_text("__global__ void k(int *out) { out[threadIdx.x] = warpSize; }\n")
    pathlib.Path("race.hip").write_text(
        "__global__ void race(double *out) { double other = out[0]; out[threadIdx.x] = 0 * other + 1; }\n")
    for name, shape in ("noise", (2000, 2000)), ("noise-line", (len(noise),)):
        pathlib.Path(f"{name}.npy").write_bytes(files.npy(noise, shape, "|u1"))


# ---------------------------------------------------------------------------------------------------------- the tests


def refused(words, command, option):
    found = Run(words).must(2)
    assert len(found.err.splitlines()) == 1 and re.match(f"flynn {command}: --{option}(?!-)", found.err), (
        f"{found.line()}: expected one line that begins with 'flynn {command}: --{option}', not {found.err!r}")
    assert not found.out, f"{found.line()}: stdout is not empty"


def refused_rank(command):
    """--rank was the name of --keep, and is no abbreviation of --ranks."""
    has = "keep" in OPTIONS[command]
    instead = "did you mean --ranks (processes)?" if "ranks" in OPTIONS[command] else "this command takes neither --keep nor --ranks"
    for word in "--rank", "--rank=3":
        line = Run([command, word]).must(2).err
        expected = f"flynn {command}: --rank is {'now --keep (singular values)' if has else f'not an option; {instead}'}"
        assert line.startswith(expected) and "--ranks" in line and line.count("\n") == 1, line
    if has:
        line = Run([command], {"FLYNN_RANK": "3"}).must(2).err
        assert line.startswith(f"flynn {command}: FLYNN_RANK is now FLYNN_KEEP"), line


def keeps_by_other_names(command):
    for word in "--keep=-1", "-k-1", "--components=-1":
        line = Run([command, word]).must(2).err
        assert line.startswith(f"flynn {command}: --keep: '-1'"), line
    assert "--keep=K" in Run([command, "--help"]).must().out and "components" not in Run([command, "--help"]).out


def ignored(command, options):
    """The variables of options that the command does not take, with a value that no option has."""
    variables = {"FLYNN_" + option.upper().replace("-", "_"): "nonsense!" for option in options}
    plain, found = (Run(quick(command), env=env) for env in ({}, variables))
    assert plain.code == found.code, f"{found.line()}: exit code {found.code} with {variables}: {found.err.strip()}"


def cases():
    for command in OPTIONS:
        for option in OPTIONS[command]:
            show = OWN.get((command, option)) or EFFECTS.get(option)
            yield f"{command} --{option}", functools.partial(show, command) if show else no_entry
        others = [option for option in SHARED if option not in OPTIONS[command]]
        for option in others:
            word = f"--{option}" + ("=1" if TAKES_VALUE[option] else "")
            yield f"{command} refuses --{option}", functools.partial(refused, [command, word], command, option)
        if command in INPUTS or command in ("list", "info", "help"):
            yield f"{command}'s examples", functools.partial(examples, command)
        yield f"{command} refuses --rank", functools.partial(refused_rank, command)
        if "keep" in OPTIONS[command]:
            yield f"{command} -k and --components", functools.partial(keeps_by_other_names, command)
        yield f"{command} ignores other commands' variables", functools.partial(ignored, command, others)
    for line, option in VOID:
        yield line, functools.partial(refused, line.split(), line.split()[0], option)
    for command, option in OWN:
        if option not in OPTIONS.get(command, {}):
            yield f"{command} --{option} is in the table", not_listed
    for option in EFFECTS:
        if not any(option in listed for listed in OPTIONS.values()):
            yield f"--{option} is in the table", not_listed


def some_of(every):
    """Those of a quick test."""
    chance = random.Random(os.environ["FLYNN_TEST_QUICK"])
    shown = [c for c in every if re.fullmatch(r"\S+ --[a-z-]+", c[0])]
    others = [c for c in every if c not in shown]
    by_option = {}
    for case in shown:
        by_option.setdefault(case[0].split()[1], []).append(case)
    options = chance.sample(sorted(by_option), len(by_option) // 2)
    return [chance.choice(by_option[name]) for name in options] + chance.sample(others, len(others) // 30)


def no_entry():
    raise AssertionError("the option has no entry in the table of this test")


def not_listed():
    raise AssertionError("no command lists the option")


def attempt(case):
    title, show = case
    try:
        show()
        verdict, why = "passed", ""
    except NotShown as reason:
        verdict, why = "not shown", str(reason)
    except Exception as error:  # whatever it is, the other cases go on
        verdict, why = "FAILED", f"{type(error).__name__}: {error}"
    return title, verdict, why[:400]


os.chdir(folder := tempfile.mkdtemp(prefix="flynn-options."))
HELP = {c: Run(["help", "--long", c]).must().out for c in re.findall(r"^  ([a-z]\S*) ", Run(["--help"]).must().out, re.M)}
GLOSSARY = dict(line.split("\t") for line in Run(["help", "--glossary"]).must().out.splitlines())
OPTIONS = {c: dict(re.findall(r"^ +(?:-\w, +)?--([a-z-]+)(\[?=\S+)?", text, re.M))
           for c, text in HELP.items()}
TAKES_VALUE = {option: value.startswith("=") for listed in OPTIONS.values() for option, value in listed.items()}
BACKENDS = json.loads(Run(["info", "--json"]).must().out)["backends"]
VARIANTS = json.loads(Run(["list", "--json"]).must().out)["variants"]


def main():
    make_inputs()
    unknown = set(Run(["--exercises"]).must().out.split()) - set(OPTIONS)
    assert not unknown, f"--help lists no {unknown}"
    wanted = [c for c in cases() if all(word in c[0] for word in sys.argv[1:])]
    if "FLYNN_TEST_QUICK" in os.environ:
        wanted = some_of(wanted)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = list(pool.map(attempt, wanted))
    for title, verdict, why in done:
        if verdict != "passed":
            print(f"{verdict}: {title}: {why}")
    counts = {v: sum(d[1] == v for d in done) for v in ("passed", "not shown", "FAILED")}
    print(", ".join(f"{n} {v}" for v, n in counts.items()))
    shutil.rmtree(folder)
    return 0 if counts["passed"] and not counts["FAILED"] else 1


sys.exit(main())
