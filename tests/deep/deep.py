# SPDX-License-Identifier: MIT
"""make check-deep: what takes too long for `make check`. Prints a line for each part and one of totals, with the time that
passed and the processors' time, which tells more where other work runs.

    deep.py BUILD [--only=PART,...] [--without=PART,...] [--seconds=60] [-j JOBS]

BUILD is an ordinary build with the tests, for the parts that run what is already built; the others have their own in
build/asan, build/tsan, build/fuzz (CMakePresets.json) and build/narrow. A part that fails does not stop the others: its
log is named, and its last lines are printed. A tool that is missing is a failure, with the package that has it:
--without leaves the part out. --seconds: for each fuzz target.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LOGS = SOURCE / "build/deep"
TOOLS = {"gcc": "gcc", "clang": "clang", "clang-tidy": "clang-tidy", "cmake": "cmake", "ninja": "ninja-build",
         "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu", "qemu-aarch64": "qemu-user",
         "mpirun.openmpi": "openmpi-bin libopenmpi-dev", "mpirun.mpich": "mpich libmpich-dev"}
# Libraries of a compiler's: asked for as the compiler finds them.
LIBRARIES = {
    "libasan": (["gcc", "-print-file-name=libasan.so"], "libgcc-12-dev or that of your gcc"),
    "libtsan": (["gcc", "-print-file-name=libtsan.so"], "libgcc-12-dev or that of your gcc"),
    "libclang_rt": (["clang", "-print-file-name=libclang_rt.fuzzer-x86_64.a"], "libclang-rt-14-dev or that of your clang"),
}
BOUNDS = "^(bounds|determinism|float_state)$"
# The size of the longest kept inputs; longer ones are slower and show nothing else.
LONGEST = {"npy": 2048, "png": 2048, "json": 8192, "options": 400, "resource": 160, "plugin": 4096}
TARGETS = sorted(path.name for path in (SOURCE / "tests/fuzz/corpus").iterdir())


class Failed(Exception):
    """Its text is the part's summary."""


def missing(tool):
    """None, or what to install."""
    if tool in TOOLS:
        return None if shutil.which(tool) else f"{tool} is not installed: apt-get install {TOOLS[tool]}"
    command, package = LIBRARIES[tool]
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not installed: apt-get install {TOOLS[command[0]]}"
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return None if "/" in found else f"{tool} is not installed: apt-get install {package}"


class Part:
    def __init__(self, name, tools, run):
        self.name, self.tools, self.run = name, tools, run
        self.log = LOGS / f"{name}.log"
        self.processor = 0.0  # seconds of user and system time
        self.failed = False

    def execute(self, words, cwd=SOURCE, **environment):
        """Runs a command, whose output goes to the log and is returned; its exit code is not looked at."""
        with open(self.log, "a", encoding="utf-8") as log:
            print("$", *words, file=log, flush=True)
            start = log.tell()
            process = subprocess.Popen(words, cwd=cwd, stdout=log, stderr=subprocess.STDOUT,
                                       env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)  # of it and of what it waited for
            process.returncode = code = os.waitstatus_to_exitcode(status)
            self.processor += used.ru_utime + used.ru_stime
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(start)
            return code, log.read()

    def must(self, what, words, **more):
        code, text = self.execute(words, **more)
        if code != 0:
            raise Failed(f"{what} failed")
        return text

    def __call__(self):
        self.log.unlink(missing_ok=True)
        began = time.monotonic()
        try:
            lacking = [text for text in map(missing, self.tools) if text]
            if lacking:
                raise Failed("; ".join(lacking))
            what = self.run(self)
        except Failed as failure:
            what, self.failed = str(failure), True
        print(f"{self.name:14} {what}, {time.monotonic() - began:.0f} s, {self.processor:.0f} s of processor time, "
              f"{'FAILED' if self.failed else 'ok'}", flush=True)
        if self.failed and self.log.exists():
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
            print(f"    {self.log.relative_to(SOURCE)} ends:", *lines[-15:], sep="\n    ", file=sys.stderr, flush=True)
        return self


def configured(part, preset):
    part.must("configuring", ["cmake", "--preset", preset, "-G", "Ninja"])


def built(part, preset, *targets):
    configured(part, preset)
    part.must("building", ["ninja", "-C", f"build/{preset}", "-j", str(args.jobs), "-k", "0", *targets])


def analyzed(part, tool, folder):
    code, text = part.execute([sys.executable, "-B", "tests/deep/analyze.py", tool, str(folder), "-j", str(args.jobs)])
    counted = re.search(r"^.*: (\d+ files, \d+ with findings)$", text, re.MULTILINE)
    if code != 0 or not counted:
        raise Failed(counted[1] if counted else "the analyzer did not end")
    return counted[1]


def tested(part, words, **environment):
    """The counts of ctest."""
    code, text = part.execute(words, **environment)
    counted = re.search(r"(\d+) tests failed out of (\d+)", text)
    if not counted or counted[2] == "0":
        raise Failed("no test ran")
    skipped = len(re.findall(r"\*\*\*Skipped", text))
    what = f"{counted[2]} tests, {counted[1]} failed, {skipped} skipped"
    if code != 0:
        raise Failed(what)
    return what


# Errors made on purpose: `sanitized` must see them. Those of UndefinedBehaviorSanitizer end in a trap, which
# AddressSanitizer reports: gcc's two runtimes have one log_path, which the first one takes.
SEEDED = {
    "asan": ("#include <stdlib.h>\nint main(int n, char **w) { char *p = calloc(4, 1); (void)w; free(p); return p[n]; }",
             "#include <limits.h>\nint main(int n, char **w) { volatile int most = INT_MAX; (void)w; return most + n; }"),
    "tsan": ("#include <pthread.h>\nstatic int shared;\n"
             "static void *add(void *x) { for (int i = 0; i < 100000; i++) shared++; return x; }\n"
             "int main(void) { pthread_t t; pthread_create(&t, 0, add, 0); add(0); pthread_join(t, 0); return 0; }",),
}


def reports(preset):
    """The sanitizers write to build/<preset>/report.<pid>, so that a test sees the command's own stderr."""
    return [path for path in sorted((SOURCE / f"build/{preset}").glob("report.*"))
            if re.search(r"ERROR: |WARNING: ThreadSanitizer|runtime error", path.read_text(errors="replace"))]


def without_reports(preset):
    for path in (SOURCE / f"build/{preset}").glob("report.*"):
        path.unlink()


def seeded(part, preset):
    """Programs with an error, compiled and run as the tests are, are reported."""
    presets = json.loads((SOURCE / "CMakePresets.json").read_text(encoding="utf-8"))
    flags, environment = (next(p[key] for p in presets[kind] if p["name"] == preset)
                          for kind, key in (("configurePresets", "cacheVariables"), ("testPresets", "environment")))
    program = LOGS / f"seeded-{preset}"
    for text in SEEDED[preset]:
        program.with_suffix(".c").write_text(text + "\n", encoding="utf-8")
        part.must("compiling", ["gcc", *flags["CMAKE_C_FLAGS"].split(), "-pthread", "-o", str(program), f"{program}.c"])
        without_reports(preset)
        part.execute([str(program)], **{name: value.replace("${sourceDir}", str(SOURCE)) for name, value in environment.items()})
        if not reports(preset):
            raise Failed("an error made on purpose was not reported")


def sanitized(part, preset):
    built(part, preset)
    seeded(part, preset)
    without_reports(preset)
    # One more than processors, as in make check: tests of several processes mostly wait.
    what = tested(part, ["ctest", "--preset", preset, "--parallel", str(args.jobs + 1), "--no-tests=error"])
    found = reports(preset)
    for path in found:
        part.execute(["head", "-60", str(path)])
    if found:
        raise Failed(f"{what}, {len(found)} reports")
    return what


def bounds(part):
    return tested(part, ["ctest", "--test-dir", str(args.build), "-R", BOUNDS, "--parallel", str(args.jobs),
                         "--output-on-failure", "--no-tests=error"])


def shapes(part):
    """svd of matrices without full rank, on every backend that runs here with each of its instruction sets: all widths
    of heights up to 130 in random order, for --seconds; all heights take an hour of processor time."""
    flynn = args.build / "bin/flynn"
    usable = [b for b in json.loads(part.must("listing the backends", [str(flynn), "info", "--json"]))["backends"] if b["usable"]]
    sets = {b["name"]: [f"{b['name']}:{s['name']}" for s in b["instruction_sets"] if s["usable"]] for b in usable}
    resources = [resource for name, names in sets.items() for resource in names or [name]]
    words = [str(args.build / "tests/test_svd_deficient"), "--filter", "svd_deficient/all_widths"]
    end = time.monotonic() + args.seconds

    def failed(rows):
        if time.monotonic() > end:
            return None
        code, text = part.execute(words, FLYNN_TEST_ROWS=str(rows), FLYNN_TEST_RESOURCES=",".join(resources), CRITERION_JOBS="1",
                                  OMP_WAIT_POLICY="passive")
        return code != 0 or "Tested: 1 | Passing: 1" not in text

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tried = [wrong for wrong in pool.map(failed, random.sample(range(1, 131), 130)) if wrong is not None]
    what = f"{len(tried)} of 130 heights in all widths on {len(resources)} resources, {sum(tried)} failed"
    if any(tried):
        raise Failed(what)
    return what


def every_failure(part):
    tests = json.loads(part.must("listing the tests", ["ctest", "--test-dir", str(args.build), "--show-only=json-v1"]))
    test = next((t for t in tests["tests"] if t["name"] == "cli-every-failure"), None)
    if test is None:
        raise Failed("the build has no test cli-every-failure")
    environment = next(p["value"] for p in test["properties"] if p["name"] == "ENVIRONMENT")
    code, text = part.execute([*test["command"], "--all"], **dict(pair.split("=", 1) for pair in environment))
    last = text.strip().splitlines()[-1] if text.strip() else "nothing was printed"
    if code != 0:
        raise Failed(last)
    return last


def function_values(part):
    """The test's random expressions and functions, with others each time, for --seconds."""
    first = int(time.time()) % 10**9
    at, end = first, time.monotonic() + args.seconds
    while time.monotonic() < end:
        tested(part, ["ctest", "--test-dir", str(args.build), "-R", "^function_values$", "--output-on-failure", "--no-tests=error"],
               FLYNN_TEST_FUNCTIONS=f"{at}:{at + 20}")
        at += 20
    return f"{at - first} random expressions and as many functions, from number {first}"


def on_ranks(part):
    """What cli-ranks runs a little of, with cases that are others each time; each kind for --seconds, options all."""
    programs = {"FLYNN": args.build / "bin/flynn", "FLYNN_TEST_DIST": args.build / "tests/dist_cases"}
    counted, failed = [], False
    for what in ("options", "results", "calls", "signals"):
        code, text = part.execute(
            [sys.executable, "-B", "tests/cli/on_ranks.py", what, f"--seconds={args.seconds}", f"--seed={int(time.time())}"],
            **{name: str(path) for name, path in programs.items()})
        counted.append(text.strip().splitlines()[-1] if text.strip() else f"{what}: nothing was printed")
        failed = failed or code != 0
    if failed:
        raise Failed("; ".join(counted))
    return "; ".join(counted)


def emulation_on_arm(part):
    """The switch between fibers in AArch64's assembly, which no test on x86-64 runs."""
    text = part.must("the emulated GPU's test", ["bash", "tests/deep/arm.sh", "--emulation"])
    return f"{text.count('passed')} runs of the emulated GPU's test"


def narrow_gpus(part):
    """The GPU plugins for sm_75, whose multiprocessors hold the fewest threads, and gfx906, which has the fewest registers for a
    kernel, so that kernels spill there first: the tests' own build has others."""
    folder = SOURCE / "build/narrow"
    part.must("configuring", ["cmake", "-S", ".", "-B", str(folder), "-G", "Ninja", "-DFLYNN_WERROR=ON", "-DBUILD_TESTING=ON",
                              "-DFLYNN_AMD_ARCHITECTURES=gfx906", "-DFLYNN_CUDA_ARCHITECTURES=75"])
    part.must("building", ["ninja", "-C", str(folder), "-j", str(args.jobs), "programs"])
    built_here = [name for name in ("hip-amd", "hip-nvidia") if (folder / f"lib/flynn-{name}.so").exists()]
    if "hip-amd" not in built_here:
        return f"compiled: {', '.join(built_here) or 'nothing, without hipcc and nvcc'}"
    counted = tested(part, ["ctest", "--test-dir", str(folder), "-R", "^amd-registers$"])
    return f"compiled: {', '.join(built_here)}; spills: {counted}"


MOST_ROUNDS = 4  # of a fuzzer, where other work takes the processors


def fuzzed(part, target):
    """libFuzzer counts the time that passes: it is run again until it had the processor for most of --seconds."""
    corpus = SOURCE / "tests/fuzz/corpus" / target
    found = LOGS / "corpus" / target
    found.mkdir(parents=True, exist_ok=True)
    inputs = rounds = 0
    while rounds < MOST_ROUNDS and part.processor < 0.7 * args.seconds:
        rounds += 1
        code, text = part.execute(
            [str(SOURCE / f"build/fuzz/tests/fuzz_{target}"), f"-max_total_time={args.seconds}", "-close_fd_mask=3",
             f"-max_len={LONGEST.get(target, 4096)}", "-timeout=60", "-rss_limit_mb=4096", "-print_final_stats=1",
             f"-artifact_prefix={LOGS}/{target}-", str(found), str(corpus)],
            FLYNN_PLUGIN_PATH=str(SOURCE / "build/fuzz/lib"))
        counted = re.search(r"number_of_executed_units: (\d+)", text)
        inputs += int(counted[1]) if counted else 0
        what = f"{inputs:,} inputs from {len(list(corpus.iterdir()))} kept ones"
        if code != 0 or not counted:
            raise Failed(what)
    return what


def fuzzers(part):
    built(part, "fuzz", *(f"fuzz_{target}" for target in TARGETS), "plugin-serial", "plugin-simd")
    return f"{len(TARGETS)} targets built"


PARTS = [
    Part("bounds", ["cmake"], bounds),
    Part("svd-shapes", ["cmake"], shapes),
    Part("every-failure", ["cmake"], every_failure),
    Part("functions", ["cmake"], function_values),
    Part("ranks", ["mpirun.openmpi", "mpirun.mpich"], on_ranks),
    Part("arm", ["aarch64-linux-gnu-g++", "qemu-aarch64"], emulation_on_arm),
    Part("narrow-gpus", ["cmake", "ninja"], narrow_gpus),
    Part("gcc-analyzer", ["gcc"], lambda part: analyzed(part, "gcc", args.build)),
    Part("clang", ["clang", "ninja"], lambda part: configured(part, "fuzz") or analyzed(part, "clang", "build/fuzz")),
    Part("clang-tidy", ["clang", "clang-tidy", "ninja"], lambda part: configured(part, "fuzz") or analyzed(part, "clang-tidy", "build/fuzz")),
    Part("fuzz", ["clang", "ninja", "libclang_rt"], fuzzers),
    Part("tsan", ["gcc", "ninja", "libtsan"], lambda part: sanitized(part, "tsan")),
    Part("asan", ["gcc", "ninja", "libasan"], lambda part: sanitized(part, "asan")),
]
FUZZERS = [Part(f"fuzz-{target}", [], lambda part, target=target: fuzzed(part, target)) for target in TARGETS]


def chosen():
    names = {part.name for part in PARTS}
    only, without = (set(filter(None, text.split(","))) for text in (args.only, args.without))
    if (only | without) - names:
        sys.exit(f"deep.py: no part {', '.join(sorted((only | without) - names))}; expected {', '.join(sorted(names))}")
    return [part for part in PARTS if (not only or part.name in only) and part.name not in without]


def main():
    LOGS.mkdir(parents=True, exist_ok=True)
    began, done = time.monotonic(), []
    for part in chosen():
        done.append(part())
        if part.name == "fuzz" and not part.failed:
            with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
                done += pool.map(Part.__call__, FUZZERS)
    failed = [part.name for part in done if part.failed]
    left_out = len(PARTS) - sum(part in PARTS for part in done)
    print(f"check-deep: {len(done)} parts, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}, "
          f"{left_out} left out, {time.monotonic() - began:.0f} s, {sum(part.processor for part in done):.0f} s of processor time")
    sys.exit(bool(failed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    main()
