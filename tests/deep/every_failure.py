# SPDX-License-Identifier: MIT
"""The N-th allocation and the N-th system call of each kind fails, in every command.

A command runs once without a failure, which counts the calls, and then once for each N. It must end with exit code 0
and the same result, or with exit code 4 and one line on stderr; output files are the old ones or whole, no unfinished
file is left, and nothing crashes or hangs. Then the same under limits (memory, threads, open files, length of files).

    every_failure.py            a spread of N over a few commands, for `make check`
    every_failure.py --all      every N over every command; then every limit
    every_failure.py --all sort memory      only cases and kinds whose names contain these words

failing_calls.c makes the allocations fail. This script answers the system calls, which a seccomp filter sends here:
so it sees what the C library calls inside itself, too. Counting begins at main: before that the dynamic loader has the
word, which ends a process with its own message and exit code 127.
"""
import array
import collections
import concurrent.futures
import fcntl
import json
import os
import pathlib
import platform
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import files  # noqa: E402

FLYNN = os.environ["FLYNN"]
FAILING = os.environ["FLYNN_TEST_FAILING_CALLS"]
SOURCE = pathlib.Path(os.environ["FLYNN_SOURCE"])
SAVED = SOURCE / "tests/data/saved"
SECONDS = 60  # after which a run hangs; under a busy machine it takes 100 times its time
OLD = b"what was there before\n"

# ---------------------------------------------------------------------------------------------------------------- kinds

ENOMEM, EIO, EAGAIN, ENOSPC, EMFILE = 12, 5, 11, 28, 24
# The system calls of x86-64 that a kind counts, and the error with which one fails.
KINDS = {
    "open": ((2, 257, 437, 85), EMFILE),      # open, openat, openat2, creat
    "read": ((0, 17, 19), EIO),               # read, pread64, readv
    "write": ((1, 18, 20), ENOSPC),           # write, pwrite64, writev
    "sync": ((74, 75), EIO),                  # fsync, fdatasync
    "rename": ((82, 264, 316), ENOSPC),       # rename, renameat, renameat2
    "folder": ((83, 258), ENOSPC),            # mkdir, mkdirat
    "thread": ((435,), EAGAIN),               # clone3, with which the C library begins threads
    "process": ((56, 57, 58), EAGAIN),        # clone, fork, vfork
    "map": ((9, 12), ENOMEM),                 # mmap, brk
}
STDERR_WRITES = (1, 20)  # to descriptor 2 they do not fail: the line could not be told then
STACKS, MOST_STACKS = 4096, 1 << 16  # failing_state
NOTIFY_RECEIVE, NOTIFY_SEND = 0xC0502100, 0xC0182101


class Supervisor(threading.Thread):
    """Answers the watched system calls of one process and its children: the N-th fails."""

    def __init__(self, ours, kind, fail_at):
        super().__init__(daemon=True)
        self.socket, self.kind, self.fail_at = ours, kind, fail_at
        self.calls = self.failed = 0

    def run(self):
        try:
            _, control, _, _ = self.socket.recvmsg(1, socket.CMSG_SPACE(4))
        except OSError:
            return
        self.socket.close()
        if not control:
            return
        listener = array.array("i", control[0][2])[0]
        try:
            self.answer_all(listener)
        finally:
            os.close(listener)

    def answer_all(self, listener):
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        while True:
            (_, events), = poll.poll()
            if not events & select.POLLIN:
                return
            request = bytearray(80)
            try:
                fcntl.ioctl(listener, NOTIFY_RECEIVE, request)
            except OSError:  # interrupted, or its process was killed meanwhile
                continue
            ident, _, _, number, _, _, first = struct.unpack_from("=QIIiIQQ", request)
            error, flags = 0, 1  # goes on
            if not (number in STDERR_WRITES and first == 2):
                self.calls += 1
                if self.calls == self.fail_at:
                    self.failed += 1
                    error, flags = -KINDS[self.kind][1], 0
            try:
                fcntl.ioctl(listener, NOTIFY_SEND, struct.pack("=QqiI", ident, 0, error, flags))
            except OSError:
                pass


# ----------------------------------------------------------------------------------------------------------------- runs


class Case:
    """A command with small input. `outputs`: the files that it writes, which lie there before; `prepare` makes more."""

    def __init__(self, name, words, outputs=(), env=None):
        self.name, self.words, self.outputs, self.env = name, [str(w) for w in words], outputs, env or {}


class Run:
    """One run in a folder of its own. `kind`: memory, one of KINDS, or None; `limit`: a function for the child."""

    def __init__(self, case, kind=None, fail_at=0, limit=None, prefix=(), shared=SECONDS):
        self.case, self.kind, self.fail_at = case, kind, fail_at
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=WORK))
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(self.folder), "FLYNN_CACHE": str(self.folder / "c"),
               "OMP_WAIT_POLICY": "passive", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""), **case.env}
        for name in case.outputs:
            (self.folder / name).write_bytes(OLD)
        state = self.folder / "state"
        supervisor, theirs = None, None
        if kind:
            state.write_bytes(struct.pack("=qqqq", 0, fail_at if kind == "memory" else 0, 0, not fail_at)
                              .ljust(STACKS + 4 * MOST_STACKS, b"\0"))
            env.update(LD_PRELOAD=FAILING, FAILING_STATE=str(state))
        if kind in KINDS:
            ours, theirs = socket.socketpair()
            supervisor = Supervisor(ours, kind, fail_at)
            env.update(FAILING_SOCKET=str(theirs.fileno()), FAILING_CALLS=",".join(map(str, KINDS[kind][0])))
        with open(self.folder / "stdout", "wb") as out, open(self.folder / "stderr", "wb") as err:
            started = time.monotonic()
            process = subprocess.Popen([*prefix, FLYNN, *case.words], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, start_new_session=True, preexec_fn=limit,
                                       pass_fds=(theirs.fileno(),) if theirs else ())
            if supervisor:
                theirs.close()
                supervisor.start()
            try:
                self.code = process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self.code = "no end"
            self.seconds = time.monotonic() - started
        if supervisor:
            supervisor.join(SECONDS)
        self.out = (self.folder / "stdout").read_bytes()
        self.err = (self.folder / "stderr").read_bytes().decode(errors="replace")
        self.calls = self.failed = 0
        self.stack = ""
        if kind == "memory":
            data = state.read_bytes()
            self.calls, _, self.failed = struct.unpack_from("=qqq", data)
            self.stack = data[32:STACKS].split(b"\0")[0].decode(errors="replace")
            if not fail_at:
                self.stacks = struct.unpack_from(f"={min(self.calls, MOST_STACKS)}I", data, STACKS)
        elif supervisor:
            self.calls, self.failed = supervisor.calls, supervisor.failed
        self.files = {name: (self.folder / name).read_bytes() if (self.folder / name).exists() else None
                      for name in case.outputs}
        self.left = [str(p.relative_to(self.folder)) for p in self.folder.rglob("*.part")]
        shutil.rmtree(self.folder, ignore_errors=True)


def shape_of(text):
    """What stays the same between two runs of a document or a table: not the times."""
    try:
        document = json.loads(text)
    except ValueError:
        lines = text.decode(errors="replace").strip().splitlines()
        return [line.split()[:1] for line in lines]
    return sorted(document), [
        (r.get("exercise"), r.get("backend"), r.get("check", {}).get("ok")) for r in document.get("results", [])
    ], len(document.get("skipped", []))


def is_whole(name, data):
    if data is None or not data:
        return False
    if name.endswith(".json"):
        try:
            json.loads(data)
            return True
        except ValueError:
            return False
    return name.endswith(".html") and data.rstrip().endswith(b"</html>")


def is_new(name, data, expected):
    return data == expected or (name.endswith((".json", ".html")) and is_whole(name, data))


def judge(run, clean):
    """What is wrong with a run; None: nothing."""
    lines = run.err.splitlines()
    if run.code == "no end":
        return "does not end"
    if run.code < 0 or run.code >= 128:
        return f"dies by signal {-run.code if run.code < 0 else run.code - 128}"
    if run.code not in (0, 4):
        return f"exit code {run.code}"
    if run.left:
        return f"leaves {run.left[0].split('/')[0]}..."
    if run.code == 4 and (len(lines) != 1 or not lines[0].startswith("flynn") or not lines[0].split(":")[-1].strip()):
        return f"exit code 4 with {len(lines)} lines, not with one of flynn's"
    for name, data in run.files.items():
        if not is_new(name, data, clean.files[name]) and (run.code == 0 or data != OLD):
            return f"exit code {run.code}, and {name} is {'the old one' if data == OLD else 'neither old nor whole'}"
    if run.code == 0 and shape_of(run.out) != shape_of(clean.out):
        return "exit code 0 with another result on stdout"
    return None


def where(stack):
    """The functions from the failed call on, without offsets: equal stacks are one finding."""
    return " < ".join(line.split("+")[0] + ":" + line.split()[-1] for line in stack.splitlines()[:6])


# ---------------------------------------------------------------------------------------------------------------- cases


def make_cases():
    images = [SOURCE / "tests/data/mri/slice_072.png", SOURCE / "tests/data/mri/slice_110.png"]
    exercises = subprocess.run([FLYNN, "--exercises"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    info = json.loads(subprocess.run([FLYNN, "info", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    usable = [b["name"] for b in info["backends"] if b["usable"]]
    quick = ["--repeat=1", "--warmup=0"]
    small = {"primes": ["--upto=300"], "svd": ["--size=12", "--rank=3"], "reconstruct": ["--size=12", "--rank=3"],
             "convolve": ["--size=24"], "convolve1d": ["--size=400"]}
    cases = []
    for backend in [b for b in ("serial", "simd", "omp", "hip-cpu") if b in usable]:
        where = "--backend=omp:2" if backend == "omp" else f"--backend={backend}"
        for name in exercises:
            words = [name, *small.get(name, ["--size=100"]), *quick, where, "--json=out.json"]
            outputs = ["out.json"]
            if name != "allclose":
                words.append("--output=out.npy")
                outputs.append("out.npy")
            cases.append(Case(f"{name} {backend}", words, outputs))
        cases += [
            Case(f"trace {backend}", ["increment", "--size=10", *quick, where, "--trace=trace.json"], ["trace.json"]),
            Case(f"slice {backend}", ["slice", "--size=16", "--slice=0:4,:", *quick, where, "--csv=out.csv",
                                      "--output=out.npy"], ["out.npy"]),
            Case(f"batch {backend}", ["batch", *images, "--rank=2", "--svd=randomized", where,
                                      "--output-dir=out", "--json=out.json"], ["out.json"]),
        ]
    few = "--backend=serial,omp:2" if "omp" in usable else "--backend=serial"
    cases += [
        Case("png", ["convolve", images[0], "--backend=serial", *quick, "--output=out.png"], ["out.png"]),
        Case("compare", ["compare", "sort", "svd", "--size=20", few, *quick, "--json=out.json"], ["out.json"]),
        Case("compare-saved", ["compare", f"--against={SAVED / 'compare.json'}", SAVED / "compare.json"]),
        Case("sweep", ["sweep", "maximum", "--size=100,200", "--backend=serial", *quick, "--save", "--json=out.json"],
             ["out.json"]),
        Case("laws", ["laws", "reconstruct", "--size=20", "--threads=1,2,3,4", *quick, "--backend=omp", "--json=out.json"],
             ["out.json"]),
        Case("taxonomy", ["taxonomy", "maximum", "--size=20", *quick, "--json=out.json"], ["out.json"]),
        Case("report", ["report", *[SAVED / f"{name}.json" for name in ("exercise", "sweep", "batch", "laws-omp")],
                        "--output=page.html"], ["page.html"]),
        Case("info", ["info"]),
        Case("list", ["list"]),
        Case("doctor", ["doctor"]),
        Case("ceiling", ["ceiling", "--size=4096", "--repeat=1", "--backend=serial"]),
    ]
    return cases


# ----------------------------------------------------------------------------------------------------------------- main


def spread(count, most):
    """At most `most` numbers from 1 to `count`: the first ones, the last, and some between."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1, count, *(1 + i * (count - 1) // (most - 1) for i in range(most))})


def select_calls(clean):
    """Every call; of many allocations the first and the last of those with the same call stack."""
    if clean.kind != "memory" or "--every" in sys.argv:
        return range(1, clean.calls + 1)
    first, last = {}, {}
    for n, stack in enumerate(clean.stacks, 1):
        first.setdefault(stack, n)
        last[stack] = n
    return sorted({*first.values(), *last.values()})


Finding = collections.namedtuple("Finding", "case kind problem stack fail_at err")


def one(job):
    case, kind, fail_at, clean = job
    run = Run(case, kind, fail_at)
    if run.failed == 0 and run.code == 0:
        return run, None
    problem = judge(run, clean)
    return run, problem and Finding(case.name, kind, problem, run.stack, fail_at, run.err)


def main():
    whole = "--all" in sys.argv
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    kinds = ["memory", *KINDS]
    cases = make_cases()
    chosen_kinds = [k for k in kinds if k in words] or kinds
    chosen_words = [w for w in words if w not in kinds]
    cases = [c for c in cases if not chosen_words or any(w in c.name for w in chosen_words)]
    table, findings, jobs = {}, [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def count(pair):
            case, kind = pair
            return case, kind, Run(case, kind)
        for case, kind, clean in pool.map(count, [(c, k) for c in cases for k in chosen_kinds]):
            if clean.code != 0:
                findings.append(Finding(case.name, kind, f"exit code {clean.code} without a failure", "", 0, clean.err))
                continue
            numbers = select_calls(clean) if whole else spread(clean.calls, 3)
            table[case.name, kind] = [clean.calls, len(numbers), clean.seconds]
            jobs += [(case, kind, n, clean) for n in numbers]
        print(f"{len(jobs)} runs, about {sum(r[1] * r[2] for r in table.values()) / os.cpu_count():.0f} s", flush=True)
        if "--count" in sys.argv:
            for (case, kind), row in sorted(table.items()):
                print(case, kind, *row)
            return 0
        codes = collections.Counter()
        for run, finding in pool.map(one, jobs):
            codes[run.kind, run.code, bool(run.failed)] += 1
            if finding:
                findings.append(finding)
    for key, number in sorted(codes.items(), key=str):
        print(*key, number)
    groups = collections.defaultdict(list)
    for f in findings:
        groups[f.kind, f.problem, where(f.stack) or f.case].append(f)
    for (kind, problem, stack), members in sorted(groups.items(), key=lambda g: -len(g[1])):
        m = members[0]
        print(f"{len(members)} x {kind}: {problem}: {m.case}, N={m.fail_at}: {m.err.strip()[:300]!r}\n    {stack}")
    print(f"{len(jobs)} runs, {len(findings)} failed in {len(groups)} ways")
    return 1 if findings else 0


with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
    WORK = pathlib.Path(work)
    status = main()
sys.exit(status)
