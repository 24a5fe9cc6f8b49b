# SPDX-License-Identifier: MIT
"""The N-th allocation and the N-th system call of each kind fails, in every command.

A command runs once without a failure, which counts the calls, and then once for each N. It must end with exit code 0
and the same result, or with exit code 4 and one line on stderr; output files are the old ones or whole, no unfinished
file is left, and nothing crashes or hangs. Then the same under limits (memory, threads, open files, length of files).

    every_failure.py            a spread of N over some commands, for ctest
    every_failure.py --all      every command: every system call; of the allocations with one call stack the first and
                                the last; every limit. Of slow commands a spread
    every_failure.py --every    every allocation, too: hours
    every_failure.py --all sort memory      only the cases and kinds with these words in their names

failing_calls.c makes the allocations fail. This script answers the system calls, which a seccomp filter sends here: so
it sees what the C library and the loader call, too. Counting begins at main: before that the dynamic loader decides,
which ends a process with its own message and exit code 127. What other libraries decide is in EXEMPT.
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

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import files  # noqa: E402

FLYNN = os.environ["FLYNN"]
FAILING = os.environ["FLYNN_TEST_FAILING_CALLS"]
SOURCE = pathlib.Path(os.environ["FLYNN_SOURCE"])
SAVED = SOURCE / "tests/data/saved"
SECONDS = 30  # after which a run hangs; most take less than 0.1
SLOW_S = 20  # of processor time, of a command and a kind: longer ones get a spread of N with --all
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
    "map": ((9,), ENOMEM),                    # mmap
}
KIND_OF = {number: kind for kind, (numbers, _) in KINDS.items() for number in numbers}
ALL_CALLS = "system calls"  # a run that counts those of all kinds
STDERR_WRITES = (1, 20)  # to descriptor 2 they do not fail: the line could not be told then
STACK, STARTED, STACKS, MOST_STACKS, MOST_STARTED = 32, 3840, 4096, 1 << 16, 64  # failing_state
NOTIFY_RECEIVE, NOTIFY_SEND = 0xC0502100, 0xC0182101


def is_flynn(process):
    """Not what flynn starts, such as gnuplot."""
    try:
        return os.path.samefile(f"/proc/{process}/exe", FLYNN)
    except OSError:
        return False


class Supervisor(threading.Thread):
    """Answers the watched system calls of one process and its children: the N-th of a kind fails."""

    def __init__(self, ours, state, kind, fail_at):
        super().__init__(daemon=True)
        self.socket, self.state, self.kind, self.fail_at = ours, state, kind, fail_at
        self.calls, self.failed = collections.Counter(), 0

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
            with open(self.state, "rb") as file:
                self.answer_all(listener, file.fileno())
        finally:
            os.close(listener)

    def counts(self, thread, state):
        """Is it one of flynn's, in main or later?"""
        try:
            with open(f"/proc/{thread}/status", encoding="utf-8") as file:
                process = int(re.search(r"^Tgid:\s*(\d+)", file.read(), re.MULTILINE)[1])
        except OSError:
            return False
        count, *started = struct.unpack(f"={MOST_STARTED}i", os.pread(state, 4 * MOST_STARTED, STARTED))
        return process in started[:count] and is_flynn(thread)

    def answer_all(self, listener, state):
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
            ident, thread, _, number, _, _, first = struct.unpack_from("=QIIiIQQ", request)
            error, flags = 0, 1  # goes on
            if not (number in STDERR_WRITES and first == 2) and self.counts(thread, state):
                kind = KIND_OF[number]
                self.calls[kind] += 1
                if kind == self.kind and self.calls[kind] == self.fail_at:
                    self.failed += 1
                    error, flags = -KINDS[kind][1], 0
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
    """One run in a folder of its own. `kind`: memory, one of KINDS, ALL_CALLS, or None; `limit`: a function for the child,
    which `prefix`, words before the command, may run as another user."""

    def __init__(self, case, kind=None, fail_at=0, limit=None, prefix=()):
        self.case, self.kind, self.fail_at = case, kind, fail_at
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=WORK))
        self.folder.chmod(0o1777)  # as /tmp: nobody can replace what another one has there
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(self.folder), "FLYNN_CACHE": str(self.folder / "c"),
               "OMP_WAIT_POLICY": "passive", "COLUMNS": "10000", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""), **case.env}
        for name in case.outputs:
            (self.folder / name).write_bytes(OLD)
            (self.folder / name).chmod(0o666)
        state = self.folder / "state"
        supervisor, theirs = None, None
        if kind:
            state.write_bytes(struct.pack("=qqqq", 0, fail_at if kind == "memory" else 0, 0, not fail_at))
            os.truncate(state, STACKS + 4 * MOST_STACKS)
            env.update(LD_PRELOAD=FAILING, FAILING_STATE=str(state))
        if kind in KINDS or kind == ALL_CALLS:
            ours, theirs = socket.socketpair()
            supervisor = Supervisor(ours, state, kind, fail_at)
            env.update(FAILING_SOCKET=str(theirs.fileno()), FAILING_CALLS=",".join(map(str, KINDS[kind][0] if kind in KINDS else KIND_OF)))
        with open(self.folder / "stdout", "wb") as out, open(self.folder / "stderr", "wb") as err:
            process = subprocess.Popen([*prefix, FLYNN, *case.words], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, start_new_session=True, preexec_fn=limit,
                                       pass_fds=(theirs.fileno(),) if theirs else ())
            if supervisor:
                theirs.close()
                supervisor.start()
            hung = threading.Event()
            end = threading.Timer(SECONDS, lambda: (hung.set(), os.killpg(process.pid, signal.SIGKILL)))
            end.start()
            _, status, used = os.wait4(process.pid, 0)
            end.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            self.code = "no end" if hung.is_set() else process.returncode
            self.processor = used.ru_utime + used.ru_stime
        if supervisor:
            supervisor.join(SECONDS)
        self.out = (self.folder / "stdout").read_bytes()
        self.err = (self.folder / "stderr").read_bytes().decode(errors="replace")
        self.calls, self.failed, self.stack = 0, 0, ""
        if kind:
            with open(state, "rb") as file:
                data = file.read() if not fail_at else file.read(STACKS)
            self.stack = data[STACK:STARTED].split(b"\0")[0].decode(errors="replace")
        if kind == "memory":
            self.calls, _, self.failed = struct.unpack_from("=qqq", data)
            if not fail_at:
                self.stacks = struct.unpack_from(f"={min(self.calls, MOST_STACKS)}I", data, STACKS)
        elif supervisor:
            self.calls, self.failed = supervisor.calls, supervisor.failed
        self.files = {name: (self.folder / name).read_bytes() if (self.folder / name).exists() else None
                      for name in case.outputs}
        self.left = [str(p.relative_to(self.folder)) for p in self.folder.rglob("*.part")]
        shutil.rmtree(self.folder, ignore_errors=True)


# What a command says of times that it measured beside the other runs here; on stdout a line below the table.
BUSY = re.compile("again on a quiet machine")
WRITTEN = re.compile(r"^flynn \S+: \S+ is written: ")  # a note on what was there before the failure
BUSY_ROW = re.compile(r"^~: [^\n]*measure again on a quiet machine[^\n]*\n|^no (?=best of [^\n]*: every row is noisy)", re.MULTILINE)
# Sentences above and laws below a table, which follow from the times, as do what --max-time leaves out and what is said of columns,
# one of which noisy rows lack; the note on a document that was written is left out below one on noisy rows, which names it, too.
OF_TIMES = re.compile("fastest|no clear winner|^with the copies it is|^speed-up, with copies: |noisy, and not ranked| is not the kernel: |^(strong|weak) scaling: |^stopped by --max-time; "
                      f"|{WRITTEN.pattern}")


def shape_of(text):
    """What stays the same between two runs of a document or a table: not the times."""
    try:
        document = json.loads(text)
    except ValueError:
        lines = BUSY_ROW.sub("", text.decode(errors="replace")).strip().splitlines()
        # A backend that is loaded at the second try comes elsewhere, as do its variants in the rows of `list`, which are the
        # exercises; a variant whose library lacks memory is not listed; how well a law fits is different each time; a failure of
        # doctor's compiler, or of the folder in which it keeps what it makes, is a line of doctor's, and changes the number of
        # lines that are ok.
        if lines and re.match("exercise +variants ", lines[0]):
            return sorted(line.split()[:1] for line in lines)
        return sorted(line.split()[:1] for line in lines if not OF_TIMES.search(line)
                      and not re.match(r"\S+ +(library|fft|cache:|compiler:) | +fix: install g(cc|\+\+) again|\d+ ok, ", line))
    return sorted(document), [
        (r.get("exercise"), r.get("backend"), r.get("check", {}).get("ok")) for r in document.get("results", [])
    ], len(document.get("skipped", []))


def is_whole(name, data, expected):
    """Whole, if not the same: times differ, and svd takes another variant where a library has no memory."""
    if not data:
        return False
    if name.endswith(".npy"):
        return len(data) == len(expected) and data[:128] == expected[:128]
    if name.endswith(".csv"):
        return len(data.splitlines()) == len(expected.splitlines()) and data.endswith(b"\n")
    if name.endswith(".json"):
        try:
            json.loads(data)
            return True
        except ValueError:
            return False
    return name.endswith(".html") and data.rstrip().endswith(b"</html>")


# A list of all backends names one that could not be loaded, with the loader's words.
LEFT_OUT = re.compile("annot allocate memory|out of memory|failed to map|cannot map|cannot create shared object|Too many open files|"
                      "cannot read file data|cannot enable executable stack|cannot change memory protections")


# A sweep lists a combination that could not run, with the reason, and goes on.
CANNOT_RUN = re.compile(f"^cannot run: .*({LEFT_OUT.pattern}|out of host memory|try again when more is free|Input/output error|No space left|File too large)",
                        re.MULTILINE)


def judge(run, clean):
    """What is wrong with a run; None: nothing."""
    lines = [line for line in run.err.splitlines() if line.strip() and not BUSY.search(line) and not WRITTEN.search(line)]
    printed = run.out.decode()
    listed = run.case.words[0] == "sweep" and CANNOT_RUN.search(printed)
    if run.case.words[0] == "batch" and len(lines) == 2 and lines[0].endswith("--resume does the others"):
        lines.pop(0)  # how far it got, before its results could not be written either
    if run.case.words[0] == "batch":  # remarks on how it went on, before it failed for another reason
        lines = [line for line in lines if "is out of memory: the pipeline goes on with" not in line]
    if run.code == "no end":
        return "does not end"
    if run.code < 0 or run.code >= 128:
        return f"dies by signal {-run.code if run.code < 0 else run.code - 128}"
    if run.code not in (0, 4):
        return f"exit code {run.code}"
    if run.left:
        return f"leaves {run.left[0].split('/')[0]}..."
    if run.code == 4 and not (listed and not lines) and (len(lines) != 1 or not re.match("flynn.*: |libgomp: ", lines[0])
                          or not lines[0].split(":")[-1].strip()):
        return f"exit code 4 with {len(lines)} lines, not with one of flynn's"
    for name, data in run.files.items():
        if not (data == clean.files[name] or is_whole(name, data, clean.files[name])) and (run.code == 0 or data != OLD):
            return f"exit code {run.code}, and {name} is {'the old one' if data == OLD else 'neither old nor whole'}"
    if run.code == 0 and shape_of(run.out) != shape_of(clean.out) and not LEFT_OUT.search(printed) and not listed:
        was, now = clean.out.decode(errors="replace").splitlines(), printed.splitlines()
        run.err = "\n".join([*(line for line in now if line.split()[:1] not in [other.split()[:1] for other in was]), "instead of",
                             *(line for line in was if line.split()[:1] not in [other.split()[:1] for other in now]), run.err])
        return "exit code 0 with another result on stdout"
    return None


# What another library decides alone: of the call stack of the failed call or of what was printed, and what it does then.
EXEMPT = (
    ("OpenBLAS and libgfortran: print lines of their own, exit, raise a signal or crash when they are loaded",
     r"libgfortran|libopenblas", r"dies by signal|exit code (127|4 with)"),
    ("FFTW and Highway: end the process by an assertion, or by an exception of C++ while they are loaded",
     r"libfftw3|libhwy", r"dies by signal"),
    ("the dynamic loader: ends the process where thread-local data or its own message find no memory",
     r"__tls_get_addr|_dl_catch_exception|ld-linux|for thread-local data: ABORT", r"exit code 127"),
)


def resolved(stack):
    """The stack with the names of functions that are not exported."""
    lines = []
    for line in stack.splitlines():
        file, offset, name = re.match(r"(.*)\+(0x\w+) (.*)", line).groups()
        path = pathlib.Path(FLYNN).parent.parent / "lib" / file
        if name == "?" and file.startswith("flynn-hip") and path.exists():
            name = subprocess.run(["addr2line", "-fCe", path, offset], stdout=subprocess.PIPE, check=False
                                  ).stdout.decode().splitlines()[0]
        lines.append(f"{file}:{name}")
    return lines


def is_exempt(problem, stack, printed):
    return any(re.search(at, " ".join([*stack, printed])) and re.match(does, problem) for _, at, does in EXEMPT)


# ---------------------------------------------------------------------------------------------------------------- cases


def make_cases():
    images = [SOURCE / "tests/data/mri/slice_072.png", SOURCE / "tests/data/mri/slice_110.png"]
    exercises = subprocess.run([FLYNN, "--exercises"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    info = json.loads(subprocess.run([FLYNN, "info", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    usable = [b["name"] for b in info["backends"] if b["usable"]]
    quick = ["--repeat=1", "--warmup=0"]
    small = {"primes": ["--upto=300"], "svd": ["--size=12", "--keep=3"], "reconstruct": ["--size=12", "--keep=3"], "matmul": ["--size=12"],
             "convolve": ["--size=24"], "convolve1d": ["--size=400"]}
    cases = []
    for backend in [b for b in ("serial", "simd", "omp", "hip-cpu") if b in usable]:
        where = "--backend=omp:2" if backend == "omp" else f"--backend={backend}"
        for name in exercises:
            if name == "kernel" and backend != "hip-cpu":  # processors run no grids
                continue
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
            Case(f"batch {backend}", ["batch", *images, "--keep=2", "--svd=randomized", where,
                                      "--output-dir=out", "--json=out.json"], ["out.json"]),
            Case(f"svd-single {backend}", ["svd", *small["svd"], "--dtype=f64", "--variant=single", *quick, where, "--json=out.json",
                                           "--output=out.npy"], ["out.json", "out.npy"]),
        ]
    few = "--backend=serial,omp:2" if "omp" in usable else "--backend=serial"
    cases += [
        Case("png", ["convolve", images[0], "--backend=serial", *quick, "--output=out.png"], ["out.png"]),
        Case("compare", ["compare", "sort", "svd", "--size=20", few, *quick, "--json=out.json"], ["out.json"]),
        Case("compare-saved", ["compare", f"--against={SAVED / 'compare.json'}", SAVED / "compare.json"]),
        Case("sweep", ["sweep", "maximum", "--size=10,20", "--variant=naive", "--backend=serial", *quick, "--save", "--json=out.json"],
             ["out.json"]),
        Case("laws", ["laws", "reconstruct", "--size=200", "--threads=1,2,3,4", *quick, "--backend=omp", "--json=out.json"],
             ["out.json"]),
        Case("taxonomy", ["taxonomy", "maximum", "--size=20", *quick, "--json=out.json"], ["out.json"]),
        Case("report", ["report", *[SAVED / f"{name}.json" for name in ("exercise", "sweep", "batch", "laws-omp")],
                        "--output=page.html"], ["page.html"]),
        Case("show", ["show", "random:30x30", "--crop=1:20,::2", "--output=out.npy", "--png=out.png", "--json=out.json"],
             ["out.npy", "out.png", "out.json"]),
        Case("show-pair", ["show", "range:40x40", "range:40x40", "--json=out.json"], ["out.json"]),
        Case("info", ["info"]),
        Case("list", ["list"]),
        Case("doctor", ["doctor"]),
        Case("doctor-bundle", ["doctor", "--bundle=bundle.json"], ["bundle.json"]),
        Case("ceiling", ["ceiling", "--size=4096", "--repeat=1", "--backend=serial"]),
    ]
    return cases


# For ctest.
QUICK = ("sort serial", "svd simd", "convolve omp", "increment hip-cpu", "trace serial", "slice serial", "batch serial", "png",
         "compare-saved", "taxonomy", "show", "show-pair", "info", "list", "doctor")
# Of these each call: the loader has many words for a lack of memory.
QUICK_WHOLE = (("increment hip-cpu", "map"),)

# ----------------------------------------------------------------------------------------------------------------- main


def spread(count, most):
    """At most `most` numbers from 1 to `count`: the first ones, the last, and some between."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1, count, *(1 + i * (count - 1) // (most - 1) for i in range(most))})


def select_calls(clean):
    """The first and the last of the allocations with the same call stack."""
    if "--every" in sys.argv:
        return range(1, clean.calls + 1)
    first, last = {}, {}
    for n, stack in enumerate(clean.stacks, 1):
        first.setdefault(stack, n)
        last[stack] = n
    return sorted({*first.values(), *last.values()})


# --------------------------------------------------------------------------------------------------------------- limits

NOBODY = 61234  # a user without processes, whose number RLIMIT_NPROC limits
LIMITS = {
    "address space": (resource.RLIMIT_AS, [2**20 * n for n in (16, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200, 250,
                                                              320, 400, 500, 640, 800, 1000, 1300, 2000)]),
    "open files": (resource.RLIMIT_NOFILE, list(range(3, 33))),
    "file size": (resource.RLIMIT_FSIZE, [256, 512, 1000, 2000, 4096, 5000, 10000, 20000, 100000]),
    "processes": (resource.RLIMIT_NPROC, [1, 2, 3, 4, 5, 8]),
}


def limit_jobs(cases, whole):
    for case in cases:
        clean = Run(case)
        for name, (which, values) in LIMITS.items():
            if name == "processes" and (os.geteuid() != 0 or not shutil.which("setpriv")):
                continue
            for value in values if whole else values[len(values) // 3::len(values) // 2 + 1]:
                yield case, name, which, value, clean


def one_limit(job):
    case, name, which, value, clean = job
    prefix = ("setpriv", f"--reuid={NOBODY}", "--clear-groups") if name == "processes" else ()

    def limit():
        resource.setrlimit(which, (value, value))

    run = Run(case, None, value, limit, prefix)
    run.kind, run.failed = name, True
    problem = judge(run, clean)
    # Where the loader finds no room for a library that is linked, main does not begin.
    if problem and run.code in (127, -signal.SIGKILL, -signal.SIGSEGV) and Run(
            Case("start", ["--version"]), None, value, limit, prefix).code == run.code:
        return run, "exempt"
    # What is said of a busy machine fills the file that stderr is, up to the limit, and the error is not written.
    if name == "file size" and run.code == 4 and len(run.err) >= value and BUSY.search(run.err):
        return run, None
    return run, problem and Finding(case.name, name, problem, "", value, run.err)


Finding = collections.namedtuple("Finding", "case kind problem stack fail_at err")


def one(job):
    case, kind, fail_at, clean = job
    run = Run(case, kind, fail_at)
    problem = judge(run, clean) if run.failed or run.code != 0 else None
    run.out, run.files = b"", {}  # of tens of thousands of runs they do not fit into memory
    stack = resolved(run.stack) if problem else []
    if problem and is_exempt(problem, stack, run.err):
        return run, "exempt"
    return run, problem and Finding(case.name, kind, problem, " < ".join(s[:90] for s in stack[:7]), fail_at, run.err)


def count_calls(job):
    """A run without a failure: what each kind has to count to."""
    case, kind = job
    clean = Run(case, kind)
    calls = {kind: clean.calls} if kind == "memory" else {k: clean.calls[k] for k in KINDS}
    return case, clean, calls


def plan(pool, cases, kinds, whole, findings):
    """Every run: (case, kind, N, the run without a failure)."""
    first = [(c, k) for c in cases for k in ("memory", ALL_CALLS) if k in kinds or (k != "memory" and set(kinds) & set(KINDS))]
    jobs = []
    for case, clean, calls in pool.map(count_calls, first):
        if clean.code != 0 or clean.left:
            findings.append(Finding(case.name, "none", f"exit code {clean.code} without a failure", "", 0, clean.err))
            continue
        for kind in set(calls) & set(kinds):
            if whole:
                numbers = list(select_calls(clean) if kind == "memory" else range(1, calls[kind] + 1))
                if clean.processor * len(numbers) > SLOW_S and "--every" not in sys.argv:
                    numbers = [numbers[i - 1] for i in spread(len(numbers), int(SLOW_S / clean.processor) + 2)]
            else:
                most = 5 if kind == "memory" else 2
                numbers = spread(calls[kind], calls[kind] if (case.name, kind) in QUICK_WHOLE else most)
            jobs += [(case, kind, n, clean) for n in numbers]
    return jobs


def print_table(codes):
    kinds = sorted({kind for kind, _ in codes})
    columns = sorted({column for _, column in codes}, key=str)
    print(f"{'failing':12}" + "".join(f"{column:>14}" for column in columns))
    for kind in kinds:
        print(f"{kind:12}" + "".join(f"{codes[kind, column]:>14}" for column in columns))


def outcome(run, finding):
    if finding == "exempt":
        return "exempt"
    return "FAILED" if finding else "not reached" if not run.failed and run.code == 0 else f"exit code {run.code}"


def without_gpu_runtimes():
    """A copy of the command and the libraries, but for the plugins that load a GPU vendor's runtime: that one decides alone."""
    build = pathlib.Path(FLYNN).parent.parent
    copy = WORK / "flynn"
    (copy / "bin").mkdir(parents=True)
    (copy / "lib").mkdir()
    shutil.copy2(FLYNN, copy / "bin")
    for file in (build / "lib").glob("*.so*"):
        if not file.name.startswith(("flynn-hip-amd", "flynn-hip-nvidia")):
            shutil.copy2(file, copy / "lib", follow_symlinks=False)
    return str(copy / "bin" / "flynn")


def main():
    whole = "--all" in sys.argv or "--every" in sys.argv
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    all_kinds = ["memory", *(KINDS if platform.machine() == "x86_64" else ())]
    kinds = [k for k in (*all_kinds, "limits") if k in words] or [*all_kinds, "limits"]
    names = [w for w in words if w not in (*all_kinds, "limits")]
    cases = [c for c in make_cases() if any(w in c.name for w in names) or (not names and (whole or c.name in QUICK))]
    findings, codes = [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = plan(pool, cases, kinds, whole, findings)
        print(f"{len(jobs)} failing calls of {len(cases)} commands", flush=True)
        results = [pool.map(one, jobs)]
        if "limits" in kinds:
            results.append(pool.map(one_limit, limit_jobs(cases, whole)))
        for run, finding in (pair for part in results for pair in part):
            codes[run.kind, outcome(run, finding)] += 1
            if finding and finding != "exempt":
                findings.append(finding)
    groups = collections.defaultdict(list)
    for f in findings:
        groups[f.kind, f.problem, f.stack or f.case].append(f)
    for (kind, problem, stack), members in sorted(groups.items(), key=lambda g: -len(g[1])):
        m = members[0]
        print(f"{len(members)} x {kind}: {problem}: {m.case}, N={m.fail_at}: {m.err.strip()[:300]!r}\n    {stack}")
    print_table(codes)
    print(f"{sum(codes.values())} runs of {len(cases)} commands, {len(findings)} failed in {len(groups)} ways")
    return 1 if findings else 0


with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as work:
    WORK = pathlib.Path(work)
    FLYNN = without_gpu_runtimes()
    status = main()
sys.exit(status)
