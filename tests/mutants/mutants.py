#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes one thing at a time in the kernels and the checks, and shows which test notices it.

Each mutant (operators.py) is put into a copy of the sources; its object is compiled by the build's own command, the one plugin, library
or program is linked anew into a folder of its own, and the tests of its operation are run with it. The build folder stays as it is.

    killed      a test failed, crashed or ran past its time limit
    survived    no test did: it needs a new test, or a reason in record.tsv why no test can notice it

A survivor of C code is built and run once more with the address and undefined behaviour sanitizers, as `make check-deep` builds everything: an
index out of bounds often changes no result.

A mutant that does not compile, or whose object is that of the original (Papadakis et al., "Trivial compiler equivalence", ICSE 2015), is not
counted; the next one takes its place.

Each job has processors of its own (--cores): a backend that takes all of them, or waits in a loop, would slow down the other jobs. A survivor's
tests are run once more on all of them. The tests without a mutant, and the unchanged objects, are run and made once for all jobs.

A header of backends/ that is embedded into a plugin as text, for what is compiled at run time, is embedded anew from the copy of the sources.
What several processes do (core/dist, the links) is tested by tests/dist/cases.c on three of them, under mpirun.openmpi.

--minutes ends a run cleanly, as SIGTERM and Ctrl-C do: what runs is ended, and what was finished is kept in the file of --state. The same command
again goes on there; a mutant whose source has changed since is run anew.

record.tsv holds the mutants, what killed each, or `equivalent: why`, `emulation: why` where hip-cpu cannot show what a GPU shows, `race: why`
where the result is wrong so rarely that no test can count on it, or `machine: why` where only another machine shows it. A run takes the mutants of the record that the sources still have, and adds new
ones up to each file's share. Exit: 0 every survivor has its reason and at least 200 mutants were counted (if no option narrowed the run), 1 not
so, 2 usage, 3 the time was over before all were run.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import hashlib
import json
import os
import queue
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import operators  # noqa: E402

LEAST = 200
FAMILIES = {"checks": "apps/checks/", "exercises": "apps/exercises/", "run": "apps/run/", "cpu": "backends/cpu/", "hip": "backends/hip/", "simt": "backends/simt/", "shared": "backends/shared/",
            "core": "core/", "mpi": "core/dist/links/"}
SOURCES = ("backends", "core", "apps", "plugins", "cmake", "tests")
# The files, and the lines of code for which one mutant is taken: kernels and checks closely, what calls them less so.
SHARES = [
    ("backends/cpu/*.h", 30), ("backends/hip/*_kernels.h", 30), ("backends/hip/*_operations.h", 30), ("backends/hip/sliding.h", 30), ("backends/shared/*.h", 20),
    ("backends/cpu/*.c", 90), ("backends/shared/*.c", 90), ("backends/hip/*_prelude.h", 200),
    ("backends/hip/*.hip.cpp", 110), ("backends/hip/gpu/*.h", 150), ("backends/simt/code/prelude.h", 200), ("backends/simt/*.h", 150), ("backends/simt/code/*.cpp", 150),
    ("apps/checks/*.c", 25), ("apps/exercises/*.c", 80), ("apps/display/verdict.c", 25), ("core/src/ops/*.c", 45),
    ("core/dist/*.c", 90), ("core/src/text/lanes/*.c", 150), ("core/src/processes/link.c", 120), ("core/dist/links/*.c", 150),
]
# What hip-cpu does not run: collective communication between GPUs, and the vendors' compilers at run time.
LEFT_OUT = ("group.hip.cpp", "gpu_ccl.h", "gpu_rtc.h", "code.hip.cpp", "rtc_prelude.h", "gpu_rocprim.h")
# Which tests notice something in an object, by the beginning of its name; the longest that fits. Criterion programs; scripts of tests/cli.
TESTS = {
    "allclose": ("allclose", "allclose"), "convert": ("convert", "slice"), "convolve": ("convolve convolve_calls convolve_checked", "convolve one_wrong"),
    "convolve1d": ("convolve1d convolve1d_calls convolve_checked", "convolve1d one_wrong"), "copy": ("ceilings", "ceiling"),
    "multiply_add": ("ceilings", "ceiling"), "elementwise": ("elementwise", "elementwise one_wrong"),
    "map": ("map", "map"), "compile": ("map kernel lanes", "map kernel"), "cpu_map": ("map lanes", "map"), "cpu_lanes": ("lanes map", "map"),
    "lanes": ("lanes map", "map"), "hip_": ("map kernel", "map kernel"), "simt_": ("kernel", "kernel warps races"), "walk": ("elementwise map", "elementwise map"),
    "code": ("kernel map", "kernel map"), "kernel": ("kernel", "kernel"),
    "run": ("kernel", "kernel"), "fiber": ("kernel", "kernel"), "pool": ("kernel", "kernel"), "order": ("kernel", "races"), "warps": ("kernel", "warps"),
    "detector": ("kernel", "races"), "object_file": ("kernel", "kernel"), "intrinsics": ("kernel", "kernel"), "prelude": ("kernel map", "kernel"),
    "merge": ("merge search_sorted sort", "sort search_sorted"), "qr": ("qr", "svd"), "primes": ("primes", "primes one_wrong"), "select": ("select", "select one_wrong"),
    "transpose": ("transpose", "transpose one_wrong"), "search_sorted": ("search_sorted", "search_sorted one_wrong"),
    "histogram": ("histogram", "histogram one_wrong"), "sort": ("sort sort_calls", "sort one_wrong"), "svd": ("svd svd_single svd_deficient qr device", "svd one_wrong without_libraries"), "reconstruct": ("reconstruct", "reconstruct one_wrong"),
    "matmul": ("matmul", "matmul one_wrong"), "matrix_product": ("matmul reconstruct", "matmul"), "product": ("matmul reconstruct", "matmul"),
    "scan": ("scan", "scan one_wrong"),
    "reduce": ("reduce reduce_calls", "reduce one_wrong"),
    "lapack": ("svd lapack", "svd without_libraries"), "host_svd": ("svd svd_single svd_deficient", "svd"), "solver": ("svd qr", "svd"),
    "blas": ("reconstruct matmul svd setting", "reconstruct svd without_libraries"),
    "threads": ("threads setting elementwise", "backends"), "library": ("setting svd device", "svd backends without_libraries"),
    "device": ("array stream device dlpack trace", "backends"), "open": ("device stream array trace", "backends"),
    "table": ("device", "backends"), "verdict": ("support", "sort elementwise select primes convolve one_wrong"),
}
# What all operations have in common: the test of what a device tells of its variants, and that of results beyond the threads of a launch,
# with hip-cpu as it is built for that test.
OF_ROWS, LOW_GRIDS, OF_GRIDS = "device", "tests/low-grids/flynn-hip-cpu.so", "grids"
BY_ITSELF = ("threads", "setting", "lapack", "lanes")  # they have inner files in archives of their own
# The emulated GPU's files, whose objects two programs share with hip-cpu, and the programs' own.
SIMT_FILES, OF_SIMT = ("plugins/hip-cpu/CMakeFiles/simt.dir/", "tests/CMakeFiles/simt_files.dir/"), ("grid", "grid_by_ucontext")
# Objects of which tests have archives: members are not in a program's command.
ARCHIVES = ("tests/CMakeFiles/inner_files.dir/", "core/CMakeFiles/flynn.dir/src/text/")
# Several processes: the cases of libflynn-dist, and commands whose check puts together what the ranks find.
RANKS = "dist_cases"
ON_RANKS = {"sort on ranks": ["sort", "--size=1000", "--dtype=i64"], "reduce on ranks": ["reduce", "range:1000", "--operation=argmax"],
            "scan on ranks": ["scan", "fill:100000,value=0.1", "--exclusive"]}
CHECKS = {"convolve": ("convolve_check", "convolve one_wrong"), "convolve1d": ("convolve1d_check", "convolve1d one_wrong"),
          "reconstruct": ("reconstruct_check factors_check", "reconstruct one_wrong"), "matmul": ("matmul_check", "matmul one_wrong"), "sort": ("sort_check", "sort one_wrong"),
          "reduce": ("reduce_check", "reduce one_wrong"), "scan": ("scan_check", "scan one_wrong"), "svd": ("svd_check factors_check", "svd one_wrong"), "factors": ("factors_check svd_check reconstruct_check", "svd one_wrong")}

SCRIPT_OF_EXERCISE = {"convolution": "convolve"}  # of those without a script of their name; the others: elementwise


class Problem(Exception):
    """Ends the run: its text, and the exit code."""


class Stopped(Exception):
    """The run's time is over; what was begun does not count."""


class Clock:
    """When the run ends: Clock.end, which a signal sets to now."""
    end = float("inf")

    @staticmethod
    def check():
        if time.monotonic() >= Clock.end:
            raise Stopped


class Once(dict):
    """What is made once for all workers: the others wait until it is there."""

    def __init__(self):
        super().__init__()
        self.lock, self.locks = threading.Lock(), collections.defaultdict(threading.Lock)

    def made(self, key, make):
        with self.lock:
            lock = self.locks[key]
        with lock:
            if key not in self:
                self[key] = make()
            return self[key]


def fail(text, status=1):
    raise Problem(text, status)


def run(command, limit, **more):
    """Exit status (None: past the limit) and output of a command; everything that it started is ended with it."""
    Clock.check()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True, **more)
        end, status = time.monotonic() + limit, None
        while status is None and time.monotonic() < min(end, Clock.end):
            try:
                status = process.wait(max(0.001, min(0.5, end - time.monotonic())))
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        if status is None:
            Clock.check()
        output.seek(0)
        return status, output.read().decode(errors="replace")


def without_attempt(command):
    """The command without attempt.sh, which tells nobody that a step failed and writes into the build folder."""
    return re.sub(r'^sh "?[^" ]*/attempt\.sh"? (compile \S+|link( "[^"]*")+) ', "", command)


class Build:
    """The commands of a build folder made by Ninja."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        if not os.path.exists(os.path.join(self.folder, "build.ninja")):
            fail(f"{folder} is not a build folder of Ninja (make CMAKE_FLAGS=..., with ninja installed)", 2)
        entries = json.loads(self.ninja("-t", "compdb"))
        self.compile = {e["output"]: without_attempt(e["command"]) for e in entries
                        if e["output"].endswith(".o") and " -c " in e["command"]}
        self.uses = collections.defaultdict(list)  # file of the sources: objects made from it
        for block in self.ninja("-t", "deps").split("\n\n"):
            lines = block.splitlines()
            for name in lines[1:]:
                path = os.path.relpath(os.path.join(self.folder, name.strip()), ROOT)
                if not path.startswith(".."):
                    self.uses[path].append(lines[0].split(":")[0])
        self.texts = {}  # object of an embedded text: the header, and the C file made from it
        headers = {embedded_name(path): path for path in glob.glob("backends/**/*.h", root_dir=ROOT, recursive=True)}
        for e in entries:
            if e["output"] in self.compile and e["file"].startswith(self.folder + "/plugins/") and stem(e["file"]) in headers:
                header = headers[stem(e["file"])]
                self.texts[e["output"]] = header, e["file"]
                self.uses[header].append(e["output"])
        self.links = {}

    def ninja(self, *words):
        return subprocess.run(["ninja", "-C", self.folder, *words], check=True, capture_output=True, text=True).stdout

    def link(self, target):
        if target not in self.links:
            text = self.ninja("-t", "commands", "-s", target).strip().splitlines()[-1]
            self.links[target] = without_attempt(re.sub(r"^: && | && :$", "", text))
        return self.links[target]


def stem(path):
    return os.path.basename(path).split(".")[0]


def embedded_name(path):
    """What cmake/FlynnEmbed.cmake calls the text of a header of backends/."""
    return re.sub("^shared_", "", path[len("backends/"):-len(".h")].replace("/", "_"))


def tests_of(objects, table):
    """The Criterion programs and the scripts for these objects, by their names or folders, in order, none twice."""
    programs, scripts = [], []
    for thing in objects:
        folder = os.path.basename(os.path.dirname(thing))
        fits = [prefix for prefix in table if stem(thing).startswith(prefix)] or [name for name in table if name == folder]
        if not fits:
            continue
        p, s = table[max(fits, key=len)]
        programs += [x for x in p.split() if x not in programs]
        scripts += [x for x in s.split() if x not in scripts]
    return programs, scripts


Plan = collections.namedtuple("Plan", "objects targets programs scripts resources more_resources")


class Planner:
    """What is compiled, linked and run for a mutant."""

    def __init__(self, build, plugin):
        self.build, self.plugin = build, plugin
        flags = open("/proc/cpuinfo").read() if os.path.exists("/proc/cpuinfo") else ""
        level = "v4" if " avx512vl" in flags else "v3" if " avx2" in flags else "v2"
        self.cpu = [("lib/flynn-serial.so", ("plugins/serial/",))]
        if any(o.startswith("plugins/omp/") for o in build.compile):
            isa = level if any(o.startswith(f"plugins/omp/CMakeFiles/omp-{level}.dir") for o in build.compile) else "base"
            self.cpu.append(("lib/flynn-omp.so", (f"plugins/omp/CMakeFiles/omp-{isa}.dir", "plugins/omp/CMakeFiles/plugin-omp.dir")))
        self.resources = "serial,omp:2" if len(self.cpu) == 2 else "serial"

    def function_of(self, mutant, source):
        """The name that the mutant's function or macro is called by; "" if it is not within one."""
        head = source[:source.find("\n", mutant.start)]
        names = re.findall(r"^(?!static_assert|namespace|template|using|extern \"C\")[A-Za-z#].*?\b(\w+)\(", head, flags=re.M)
        return names[-1] if names else ""

    def some(self, objects, mutant, source):
        """At most three objects, and of those that do not call the mutant's function none."""
        if len(objects) <= 3:
            return objects
        name = self.function_of(mutant, source)
        def calls(path):
            with open(os.path.join(ROOT, path)) as file:
                return re.search(rf"\b{name}\b", file.read()) is not None
        def reads(o):
            own = stem(o)
            return any(stem(f) == own or stem(f).startswith(own + "_") for f in self.build.uses
                       if f != mutant.file and o in self.build.uses[f] and calls(f))
        return sorted([o for o in objects if reads(o)] or objects, key=len)[:3]

    def tests_of(self, objects, table):
        """As tests_of, of the programs that this build has."""
        programs, scripts = tests_of(objects, table)
        return [p for p in programs if os.path.exists(os.path.join(self.build.folder, "tests/test_" + p))], scripts

    def plan(self, mutant, source):
        uses = objects = [o for o in self.build.uses[mutant.file] if o in self.build.compile]
        if mutant.file.startswith(("core/dist/", "core/src/processes/link")):
            chosen = [o for o in objects if o.startswith(("core/", "plugins/link-openmpi/"))]
            targets = ["lib/links/flynn-link-openmpi.so"] if mutant.file.startswith("core/dist/links/") else \
                self.library("libflynn-dist.so" if "/dist/" in mutant.file else "libflynn.so")
            # Elements that are not in host memory: those of hip-cpu.
            of_memory = os.path.basename(mutant.file) in ("device.c", "move.c") and any(o.startswith("plugins/hip-cpu/") for o in self.build.compile)
            return Plan(chosen, targets, ["plugins", RANKS] if "/src/" in mutant.file else [RANKS], [],
                        "hip-cpu,serial" if of_memory else "serial,omp", None)
        if mutant.file.startswith(("backends/hip", "backends/simt")):
            if not any(o.startswith(f"plugins/{self.plugin}/") for o in self.build.compile):
                fail(f"the build has no plugin {self.plugin}; --family=checks,run,cpu,shared,core leaves GPUs out", 2)
            objects = [o for o in objects if o.startswith(f"plugins/{self.plugin}/")]
            chosen = self.some([o for o in objects if o not in self.build.texts], mutant, source)
            chosen += [o for o in objects if o in self.build.texts]
            targets, resources, more = [f"lib/flynn-{self.plugin}.so"], f"{self.plugin},serial", None
            if self.plugin == "hip-cpu" and os.path.exists(os.path.join(self.build.folder, LOW_GRIDS)):
                targets.append(LOW_GRIDS)
        elif mutant.file.startswith("backends"):
            chosen, targets = [], []
            for target, folders in self.cpu:
                part = self.some([o for o in objects if o.startswith(folders)], mutant, source)
                chosen += part
                targets += [target] if part else []
            resources, more = self.resources, "omp:1,omp:3,serial" if len(self.cpu) == 2 else None
        elif mutant.file.startswith("core"):
            chosen = [o for o in objects if o.startswith("core/")]
            targets, resources, more = self.library("libflynn.so"), self.resources, None
        else:
            chosen = [o for o in objects if o.startswith("apps/")]
            programs, scripts = self.tests_of(chosen, CHECKS if "/checks/" in mutant.file else TESTS)
            if "/exercises/" in mutant.file:  # tested by its own script
                own = stem(mutant.file)
                has_own = os.path.exists(os.path.join(ROOT, "tests/cli", own + ".sh"))
                programs, scripts = [], [own] if has_own else [SCRIPT_OF_EXERCISE.get(own, "elementwise")]
            targets = [f"tests/test_{p}" for p in programs] + ["bin/flynn"]
            return Plan(chosen, targets, programs + [name for name, words in ON_RANKS.items() if words[0] in map(stem, chosen)], scripts, self.resources, None)
        programs, scripts = self.tests_of(chosen, TESTS)
        if programs and mutant.file.startswith("backends") and OF_ROWS not in programs:
            programs.append(OF_ROWS)
        if "lanes" in programs:  # which passes omp:2 over
            resources += ",omp"
        # Tests of inner files and headers have objects of their own.
        for thing in uses:
            if thing.startswith("tests/CMakeFiles/test_"):
                program = stem(thing)[len("test_"):]
                programs += [] if program in programs else [program]
                chosen.append(thing)
                targets.append("tests/test_" + program)
            elif thing.startswith(SIMT_FILES):
                programs += [p for p in OF_SIMT if p not in programs]
                chosen += [] if thing in chosen else [thing]
                targets += [f"tests/test_{p}" for p in OF_SIMT]
            elif thing.startswith(ARCHIVES) and stem(thing) == stem(mutant.file):
                chosen += [] if thing in chosen else [thing]
                targets += [f"tests/test_{p}" for p in programs if p in BY_ITSELF]
        targets = list(dict.fromkeys(targets))
        return Plan(chosen, targets, programs, scripts, resources, more)

    def library(self, name):
        folder = os.path.join(self.build.folder, "lib")
        return ["lib/" + n for n in os.listdir(folder) if n.startswith(name) and not os.path.islink(os.path.join(folder, n))]


ALL_CORES = os.sched_getaffinity(0)
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def own_program(path, folder):
    """A program that was linked with the sanitizer brings it; into another one, whose plugin was, it is loaded first."""
    return path == "bash" or path.startswith(folder)


class Worker:
    """A folder with the sources, and what is built from them."""

    def __init__(self, build, planner, folder, once, cores):
        self.build, self.planner, self.folder, self.cores = build, planner, folder, cores
        self.originals, self.seconds, self.clean = once
        self.source = os.path.join(folder, "source")
        self.sanitized, self.why = False, ""  # why a mutant is not counted
        for name in SOURCES:
            shutil.copytree(os.path.join(ROOT, name), os.path.join(self.source, name))
        for name in ("lib/links", "bin", os.path.dirname(LOW_GRIDS), "objects", "tmp"):
            os.makedirs(os.path.join(folder, name))
        for name in os.listdir(os.path.join(build.folder, "lib")) + glob.glob("links/*", root_dir=os.path.join(build.folder, "lib")):
            if name != "links":
                self.restore("lib/" + name)

    def restore(self, target):
        """As the build has it: libflynn copied, since it looks for plugins beside its file, the rest linked."""
        here, there = os.path.join(self.folder, target), os.path.join(self.build.folder, target)
        if os.path.lexists(here):
            os.remove(here)
        if target.startswith("lib/libflynn"):
            shutil.copy2(there, here, follow_symlinks=False)
        elif target.startswith("lib/"):
            os.symlink(there, here)

    def compile(self, thing, path, extra=(), limit=600):
        """Compiles an object of the build from the sources here. None if it does not compile."""
        words = shlex.split(self.build.compile[thing])
        if thing in self.build.texts:
            header, embedded = self.build.texts[thing]
            words[words.index(embedded)] = self.embed(header)
        while words and (words[0] == "ccache" or words[0].endswith("/ccache")):
            words.pop(0)
        out, skip = [], False
        for i, word in enumerate(words):
            if skip or word == "-MD" or word.startswith("-Werror"):
                skip = False
            elif word in ("-MF", "-MT"):
                skip = True
            elif i > 0 and words[i - 1] == "-o":
                out.append(path)
            else:
                for name in SOURCES:
                    word = word.replace(f"{ROOT}/{name}/", f"{self.source}/{name}/").replace(f"../../{name}/", f"{self.source}/{name}/")
                    if word.endswith(f"{ROOT}/{name}"):
                        word = word.replace(f"{ROOT}/{name}", f"{self.source}/{name}")
                out.append(word)
        status, output = run(out + ["-w", *extra], limit, cwd=self.build.folder, env={**os.environ, "CCACHE_DISABLE": "1", "TMPDIR":
                             os.path.join(self.folder, "tmp")})
        if status != 0:
            self.why = next((line for line in output.splitlines() if "error" in line), f"exit code {status}: {output[-200:]!r}")
        return path if status == 0 else None

    def embed(self, header):
        """The C file with the text of a header, as the build makes it."""
        made, script = (os.path.join(self.folder, "objects", name) for name in (embedded_name(header) + ".c", "embed.cmake"))
        with open(script, "w") as file:
            file.write(f"cmake_minimum_required(VERSION 3.18)\ninclude({ROOT}/cmake/FlynnEmbed.cmake)\n"
                       f"flynn_embed({self.source}/{header} {embedded_name(header)} {made})\n")
        if run(["cmake", "-P", script], 60)[0] != 0:
            fail(f"{header} cannot be embedded")
        return made

    def original(self, thing):
        """The object of the unchanged source, made by the same command: to compare with."""
        def make():
            made = self.compile(thing, os.path.join(self.folder, "objects", "original.o"))
            if not made:
                fail(f"{thing} does not compile from a copy of the sources")
            with open(made, "rb") as file:
                return hashlib.sha256(file.read()).digest()
        return self.originals.made(thing, make)

    def link(self, target, objects, extra=()):
        command = self.build.link(target)
        for thing, path in objects.items():
            if thing in command:
                command = command.replace(" " + thing, " " + path)
            else:  # of an archive: found before it is searched
                command = command.replace(" -o ", f" {path} -o ", 1)
        here = os.path.join(self.folder, target)
        if os.path.lexists(here):
            os.remove(here)
        command = command.replace(f"-o {target}", " ".join([f"-o {here}", *extra]), 1)
        status, output = run(["sh", "-c", command], 600, cwd=self.build.folder)
        if status != 0:
            self.why = f"does not link: {output[-200:]!r}"
        return status == 0

    def environment(self, resources):
        b = self.build.folder
        return {**os.environ, "CRITERION_JOBS": "1", "CRITERION_FAIL_FAST": "1", "COLUMNS": "10000", "OMP_WAIT_POLICY": "passive",
                "LD_LIBRARY_PATH": os.path.join(self.folder, "lib"), "FLYNN_TEST_RESOURCES": resources, "FLYNN_BUILD": b,
                "FLYNN_SOURCE": ROOT, "FLYNN_TEST_FAULTS": os.path.join(b, "tests/faults"), "PYTHON": sys.executable, "CMAKE": "cmake",
                "FLYNN": next(p for p in (os.path.join(self.folder, "bin/flynn"), os.path.join(b, "bin/flynn")) if os.path.exists(p)),
                "TMPDIR": os.path.join(self.folder, "tmp")}

    def limits(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self.planner.plugin != "hip-nvidia" and not self.sanitized:  # CUDA and the sanitizer reserve addresses
            resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))

    def test(self, kind, name, resources, limit):
        """The first thing that failed; None: all passed."""
        environment = self.environment(resources)
        if name == RANKS or name in ON_RANKS:  # mpirun, ended by a signal that it can pass on
            command = ["timeout", "--foreground", "--kill-after=5", str(limit), "mpirun.openmpi", "--quiet", "--allow-run-as-root",
                       "--oversubscribe", "--bind-to", "none", "-n", "3"]
            command += [os.path.join(self.build.folder, "tests", name), *resources.split(",")] if name == RANKS else \
                [environment["FLYNN"], *ON_RANKS[name], "--backend=serial", "--repeat=1", "--warmup=0"]
            limit += 10
        elif kind != "script":
            own, built = os.path.join(self.folder, "tests/test_" + name), os.path.join(self.build.folder, "tests/test_" + name)
            command = [own if os.path.exists(own) else built]
        else:
            command = ["bash", os.path.join(ROOT, "tests/cli", name + ".sh")]
        if kind == "low grids":
            own, built = os.path.join(self.folder, LOW_GRIDS), os.path.join(self.build.folder, LOW_GRIDS)
            environment["FLYNN_PLUGIN_PATH"] = os.path.dirname(own if os.path.exists(own) else built)
        if self.sanitized:
            environment.update(ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1", **({} if own_program(command[0], self.folder) else
                               {"LD_PRELOAD": subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True,
                                                             text=True).stdout.strip()}))
        status, output = run(command, limit, env=environment, preexec_fn=self.limits)
        if status == 0:
            return None
        if status is None or command[0] == "timeout" and status == 124:
            return f"{name}: time limit"
        found = re.search(r"\[(?:FAIL|CRASH)\] (\w+::\w+)", output) or re.search(r"(\w+::\w+): (?:CRASH|Unexpected)", output)
        if found:
            return found[1]
        if name == RANKS:
            found = re.search(r"^rank \d of \d: ([^;]{0,60})", output, flags=re.M)
            return f"{name}: {found[1].strip()}" if found else name
        found = re.search(r"^FAILED: (.{0,60})", output, flags=re.M)
        return f"{name}.sh: {found[1].strip()}" if found and kind == "script" else f"{name}.sh" if kind == "script" else name

    def all_tests(self, plan):
        yield from (("program", name, plan.resources) for name in plan.programs)
        yield from (("script", name, plan.resources) for name in plan.scripts)
        if LOW_GRIDS in plan.targets:
            yield "low grids", OF_GRIDS, "hip-cpu"
        if plan.more_resources:
            yield from (("program", name, plan.more_resources) for name in plan.programs)

    def tests(self, plan):
        """Those that pass without a mutant."""
        return [test for test in self.all_tests(plan) if self.seconds.made(test, lambda test=test: self.measured(test)) is not None]

    def measured(self, test):
        """How long a test takes without a mutant; None: it fails."""
        start = time.monotonic()
        why = self.test(*test, 600)
        if why:
            print(f"left out: {test[1]} on {test[2]} fails without a mutant: {why}", flush=True)
        return None if why else time.monotonic() - start

    def written(self, mutant, source, work):
        """What `work` returns while the copy of the sources has the mutant."""
        path = os.path.join(self.source, mutant.file)
        try:
            with open(path, "w") as file:
                file.write(operators.applied(mutant, source))
            return work()
        finally:
            with open(path, "w") as file:
                file.write(source)

    def compile_all(self, plan, extra=()):
        """The objects of a plan; None if one does not compile."""
        made = {o: self.compile(o, os.path.join(self.folder, "objects", f"{i}.o"), extra) for i, o in enumerate(plan.objects)}
        return made if all(made.values()) else None

    def link_all(self, plan, objects, extra=()):
        """Links the targets that an object is of. An archive's members are not in the command: its programs get the object itself."""
        for target in plan.targets:
            of_archive = ("apps/", *ARCHIVES) if target.startswith("tests/") else ("apps/",) if target.startswith("bin/") else ()
            mine = {o: p for o, p in objects.items() if o in self.build.link(target) or o.startswith(of_archive)}
            if mine and not self.link(target, mine, extra):
                return False
        return True

    def first_failure(self, tests, slower=1):
        for test in tests:
            why = self.test(*test, 20 + 8 * slower * self.seconds[test])
            if why:
                return why
        return None

    def with_sanitizers(self, mutant, source, plan):
        """The test that fails if the mutant is built with the sanitizers; None: no test does, or they fail without it, too."""
        tests = [t for t in self.tests(plan) if t[2] == plan.resources and (t[0] == "program" or "bin/flynn" in plan.targets)]
        self.sanitized = True
        try:
            def failure(build):
                objects = build()
                return self.first_failure(tests, 10) if objects and self.link_all(plan, objects, SANITIZERS) else "does not link"
            def unchanged():
                why = failure(lambda: self.compile_all(plan, SANITIZERS))
                if why:
                    print(f"with the sanitizers fails without a mutant: {why} ({mutant.file})", flush=True)
                return why
            if self.clean.made((tuple(plan.objects), tuple(tests)), unchanged):
                return None
            return failure(lambda: self.written(mutant, source, lambda: self.compile_all(plan, SANITIZERS)))
        finally:
            self.sanitized = False

    def result(self, mutant, source):
        """"killed ...", "survived", or None: not counted."""
        os.sched_setaffinity(0, self.cores)  # of this thread, and of what it starts
        self.why = "the same machine code, or no test"
        plan = self.planner.plan(mutant, source)
        if not plan.objects or not (plan.programs or plan.scripts):
            return None
        comparable = self.planner.plugin != "hip-nvidia" or not mutant.file.startswith("backends/hip")  # nvcc names things by a hash
        if comparable:
            for thing in plan.objects:
                self.original(thing)
        objects = self.written(mutant, source, lambda: self.compile_all(plan))
        if not objects:
            return None
        for thing, path in list(objects.items()):
            with open(path, "rb") as file:
                if comparable and hashlib.sha256(file.read()).digest() == self.originals[thing]:
                    del objects[thing]
        if not objects:
            return None
        tests = self.tests(plan)
        try:
            if not self.link_all(plan, objects):
                return None
            why = self.first_failure(tests)
            if not why and len(self.cores) < len(ALL_CORES):
                os.sched_setaffinity(0, ALL_CORES)
                why = self.first_failure(tests)
                os.sched_setaffinity(0, self.cores)
            if not why and mutant.file.endswith((".c", ".h")) and not mutant.file.startswith("backends/hip"):
                why = self.with_sanitizers(mutant, source, plan)
                why = why and f"sanitizer, {why}"
            return f"killed: {why}" if why else "survived"
        finally:
            for target in plan.targets:
                self.restore(target)


# ------------------------------------------------------------------------------------------------------------ the record ----

COLUMNS = ["file", "rule", "nth", "line", "change", "result", "hip-nvidia"]


def read_record(path):
    rows = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                cells = line.rstrip("\n").split("\t")
                if line.startswith("#") or cells == COLUMNS:
                    continue
                cells += [""] * (len(COLUMNS) - len(cells))
                rows[cells[0], cells[1], cells[3], int(cells[2])] = dict(zip(COLUMNS, cells))
    return rows


def write_record(path, rows):
    with open(path + ".part", "w") as file:
        file.write("# Made by tests/mutants/mutants.py --update. A reason (equivalent: ..., emulation: ..., race: ..., machine: ...) is written by hand and kept.\n")
        file.write("\t".join(COLUMNS) + "\n")
        for _, row in sorted(rows.items()):
            file.write("\t".join(row[c] for c in COLUMNS).rstrip("\t") + "\n")
    os.replace(path + ".part", path)


NOT_COUNTED = "not counted"


class State:
    """What earlier runs with this file found: a line for each mutant."""

    def __init__(self, path, plugin):
        self.plugin, self.known, self.file = plugin, {}, None
        if not path:
            return
        text = ""
        if os.path.exists(path):
            with open(path) as file:
                text = file.read()
        for line in text.split("\n")[:-1]:
            cells = line.split("\t")
            if len(cells) == 7 and cells[0] == plugin:
                self.known[tuple(cells[1:6])] = cells[6]
        self.file = open(path, "a")
        if text and not text.endswith("\n"):  # a line that a kill cut off
            self.file.write("\n")

    @staticmethod
    def key(mutant, source):
        return hashlib.sha256(source.encode()).hexdigest()[:16], mutant.file, mutant.rule, str(mutant.nth), mutant.text

    def get(self, mutant, source):
        return self.known.get(self.key(mutant, source))

    def keep(self, mutant, source, result):
        if self.file:
            self.file.write("\t".join((self.plugin, *self.key(mutant, source), result)) + "\n")
            self.file.flush()


def row_of(mutant):
    change = f"{mutant.old.strip()} -> {mutant.new.strip() or '(nothing)'}"
    return {"file": mutant.file, "rule": mutant.rule, "nth": str(mutant.nth), "line": mutant.text, "change": change, "result": "", "hip-nvidia": ""}


def has_reason(row, column="result"):
    return row[column].startswith(("equivalent: ", "emulation: ", "race: ", "machine: "))


# ---------------------------------------------------------------------------------------------------------------- a run ----

def files_of(only, families):
    listed = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True).stdout.split()
    if not listed:  # without git
        listed = [os.path.relpath(os.path.join(d, f), ROOT) for s in SOURCES for d, _, fs in os.walk(os.path.join(ROOT, s)) for f in fs]
    for path in sorted(listed):
        share = next((lines for pattern, lines in SHARES if fnmatch.fnmatch(path, pattern)), None)
        if share and os.path.basename(path) not in LEFT_OUT and re.search(only, path) and (not families or path.startswith(tuple(FAMILIES[f] for f in families))):
            yield path, share


class Run:
    def __init__(self, options):
        self.options = options
        self.build = Build(options.build)
        self.planner = Planner(self.build, options.plugin)
        self.record = read_record(options.record)
        self.gpu = options.plugin == "hip-nvidia"
        self.column = "hip-nvidia" if self.gpu else "result"
        self.rows, self.sources, self.not_run, self.lock = {}, {}, 0, threading.Lock()
        self.originals, self.seconds, self.clean = Once(), Once(), Once()
        self.state = State(options.state, options.plugin)

    def choose(self):
        """A queue of mutants a file: those of the record first, then others up to the file's share, each with how many may be counted."""
        jobs = []
        for path, lines in files_of(self.options.only, self.options.family):
            with open(os.path.join(ROOT, path)) as file:
                self.sources[path] = file.read()
            found = operators.mutants_of(path, self.sources[path])
            if not found:
                continue
            code = sum(1 for line in operators.code_only(self.sources[path]).split("\n") if line.strip())
            known = [m for m in found if operators.key(m) in self.record]
            if self.gpu:
                new, share = [], len(known)
                known = [m for m in known if path.startswith("backends/hip") and not has_reason(self.record[operators.key(m)], self.column)]
            else:
                share = max(1, round(code / lines), len(known))
                new = [m for m in operators.in_turn(found, self.options.seed) if operators.key(m) not in self.record]
            if self.options.again:
                known = [m for m in known if re.match(self.options.again, self.record[operators.key(m)][self.column] or "none")]
                new = []
            for mutant in known:
                jobs.append([mutant])
            for i in range(share - len(known) if new else 0):
                jobs.append(new[i::share - len(known)][:12])  # if one is not counted, the next of its own
        if self.options.limit:
            jobs = sorted(jobs, key=lambda job: operators.rank(self.options.seed, *operators.key(job[0])))[:self.options.limit]
        return jobs

    def one(self, job):
        worker = self.workers.get()
        try:
            for mutant in job:
                source = self.sources[mutant.file]
                result = None if self.options.again else self.state.get(mutant, source)
                if not result:
                    result = worker.result(mutant, source) or NOT_COUNTED
                    with self.lock:
                        self.state.keep(mutant, source, result)
                if result != NOT_COUNTED:
                    with self.lock:
                        self.take(mutant, result)
                    return
                print(f"not counted  {mutant.file}:{mutant.line}: {mutant.old.strip()} -> {mutant.new.strip()}   {worker.why}", flush=True)
        except Stopped:
            with self.lock:
                self.not_run += 1
        finally:
            self.workers.put(worker)

    def take(self, mutant, result):
        row = row_of(mutant)
        before = self.record.get(operators.key(mutant))
        if before:
            row.update({c: before[c] for c in ("result", "hip-nvidia")})
        if not (result == "survived" and not self.gpu and has_reason(row)):
            row[self.column] = result
        self.rows[operators.key(mutant)] = row
        shown = row["result"] if result == "survived" and not self.gpu else result
        print(f"{shown.split(':')[0]:11}  {mutant.file}:{mutant.line}: {row['change']}   [{mutant.text[:90]}]   {shown.partition(': ')[2]}", flush=True)

    def all(self):
        jobs = self.choose()
        if not jobs:
            fail("no mutant to run", 2)
        # The slowest to compile first, and those of one file beside each other's originals.
        jobs.sort(key=lambda job: (not job[0].file.startswith(("backends/hip", "backends/simt")), job[0].file))
        with tempfile.TemporaryDirectory(prefix="flynn-mutants.") as folder:
            self.workers = queue.Queue()
            cores, each = sorted(ALL_CORES), self.options.cores
            for i in range(min(self.options.jobs or max(1, len(cores) // each), len(jobs))):
                os.mkdir(os.path.join(folder, str(i)))
                self.workers.put(Worker(self.build, self.planner, os.path.join(folder, str(i)), (self.originals, self.seconds, self.clean),
                                        {cores[(i * each + k) % len(cores)] for k in range(each)}))
            with concurrent.futures.ThreadPoolExecutor(self.workers.qsize()) as pool:
                try:
                    for done in concurrent.futures.as_completed([pool.submit(self.one, job) for job in jobs]):
                        done.result()
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
        return self.closing()

    def closing(self):
        o = self.options
        whole = not (o.limit or o.again or o.only or o.family or self.not_run or self.gpu)
        left_out = sorted({test[1] for test, seconds in self.seconds.items() if seconds is None})
        if o.update:
            kept = {} if whole else self.record
            write_record(o.record, {**kept, **self.rows})
        bad = []
        for row in self.rows.values():
            if row[self.column] == "survived" and not (self.gpu and row["result"].startswith("equivalent: ")):
                bad.append(row)
        count = collections.Counter(row[self.column].split(":")[0] for row in self.rows.values())
        for row in bad:
            print(f"survived: {row['file']}: {row['change']} in: {row['line']}")
        gone = set(self.record) - set(self.rows) if whole else ()
        print(f"{len(self.rows)} mutants: " + ", ".join(f"{n} {what}" for what, n in sorted(count.items())) +
              (f"; {self.not_run} not run: the time was over" if self.not_run else "") +
              (f"; tests left out, which fail without a mutant: {', '.join(left_out)}" if left_out else "") +
              (f"; {len(gone)} of the record are not in the sources any more" if gone else ""))
        if whole and len(self.rows) < LEAST:
            print(f"fewer than {LEAST} mutants")
            return 1
        return 1 if bad or left_out else 3 if self.not_run else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build folder, with the tests (default: build)")
    parser.add_argument("--plugin", default="hip-cpu", choices=["hip-cpu", "hip-nvidia"],
                        help="the plugin made from backends/hip. hip-nvidia: the record's mutants of backends/hip only, on a GPU")
    parser.add_argument("--cores", type=int, default=1, help="processors for each job (default: 1)")
    parser.add_argument("--jobs", type=int, default=0, help="mutants at a time (default: as many as have processors of their own)")
    parser.add_argument("--limit", type=int, default=0, help="at most this many mutants")
    parser.add_argument("--minutes", type=float, default=0, help="end after this time")
    parser.add_argument("--state", metavar="FILE", help="keep the results there, and take those that an earlier run kept there")
    parser.add_argument("--family", default="", metavar="NAME,...", help=f"of {', '.join(FAMILIES)}; default: all")
    parser.add_argument("--only", default="", metavar="REGEX", help="files that match")
    parser.add_argument("--again", default="", metavar="REGEX", help="mutants of the record whose result matches (such as survived)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument("--record", default=os.path.join(HERE, "record.tsv"), help="the kept results (default: record.tsv beside this file)")
    parser.add_argument("--update", action="store_true", help="write the results into the record")
    options = parser.parse_args()
    options.family = [name for name in options.family.split(",") if name]
    if set(options.family) - set(FAMILIES) or options.cores < 1 or options.jobs < 0:
        parser.error(f"--family takes names of {', '.join(FAMILIES)}; --cores and --jobs take numbers from 1")
    if options.minutes:
        Clock.end = time.monotonic() + 60 * options.minutes
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: setattr(Clock, "end", time.monotonic()))
    try:
        if not shutil.which("ninja"):
            fail("ninja is not installed; apt-get install ninja-build", 2)
        sys.exit(Run(options).all())
    except Problem as problem:
        text, status = problem.args
        print(f"mutants.py: {text}", file=sys.stderr)
        sys.exit(status)


if __name__ == "__main__":
    main()
