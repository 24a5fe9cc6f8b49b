# SPDX-License-Identifier: MIT
"""Runs an analyzer on each source file of core, apps, backends and plugins, with the flags that it is built with.

    analyze.py gcc|clang|clang-tidy BUILD [-j JOBS] [FILE...]

gcc: -fanalyzer, which reads C alone, and without OpenMP, whose loops it takes for uninitialized values; clang: its
warnings; clang-tidy: the checks of .clang-tidy, which are for C. BUILD has compile_commands.json. A file that several plugins compile is read once, as the last one compiles it (omp for the
processors' backend, hip-cpu for the GPUs'). Prints what is found, each once, and fails if that is anything.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("core/", "apps/", "backends/", "plugins/")
# What names the output, and what only one compiler knows.
DROPPED = re.compile(r"-o|-c|-M[DTFMPG]*|-fno-canonical-system-headers|-mno-mmx")


def units(build):
    """{file: (folder, flags)}: flags without the compiler, the source and the output."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if not path.is_relative_to(SOURCE) or not str(path.relative_to(SOURCE)).startswith(ROOMS):
            continue
        if "/hip-cpu-by-hip-cpu.dir/" in entry["command"]:  # by HIP-CPU's headers, precompiled when its test builds it
            continue
        words = iter(shlex.split(entry["command"]))
        flags = []
        for word in words:
            if word in ("-o", "-MF", "-MT", "-MQ"):
                next(words)
            elif not DROPPED.fullmatch(word) and pathlib.Path(entry["directory"], word).resolve() != path:
                flags.append(word)
        # The compiler may follow a launcher such as ccache.
        first = next(i for i, word in enumerate(flags) if word.startswith("-"))
        found[path] = (entry["directory"], flags[first:])
    return found


def command(tool, program, build, path, flags):
    if tool == "clang-tidy":
        return [program, "--quiet", "-p", str(build), str(path)]
    if tool == "gcc":
        flags = [flag for flag in flags if not flag.startswith("-fopenmp")]
        return [program, *flags, "-Wno-unknown-pragmas", "-fanalyzer", "-Werror", "-c", "-o", os.devnull, str(path)]
    return [program, *flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(path)]


def analyze(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, "\n".join(line for line in (done.stdout + done.stderr).splitlines()
                                      if not re.search(r"warnings? (generated|treated as errors?)|^Suppressed|^Use -header", line))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", choices=("gcc", "clang", "clang-tidy"))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    program = shutil.which(args.tool)
    if not program:
        sys.exit(f"{args.tool} is not installed")
    work = {path: unit for path, unit in units(args.build.resolve()).items()
            if (path.suffix == ".c" or args.tool == "clang") and
            (not args.files or str(path.relative_to(SOURCE)) in args.files)}
    if not work:
        sys.exit(f"{args.build}/compile_commands.json names no file of {', '.join(ROOMS)}")
    failed, seen = 0, set()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(analyze, command(args.tool, program, args.build.resolve(), path, flags), folder)
                for path, (folder, flags) in sorted(work.items())]
        for job in jobs:
            code, text = job.result()
            failed += code != 0
            if code != 0 and text not in seen:
                print(text, flush=True)
                seen.add(text)
    print(f"{args.tool}: {len(work)} files, {failed} with findings")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
