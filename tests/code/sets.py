# SPDX-License-Identifier: MIT
"""Usage: sets.py BUILD [plain]

The sets of tests are complete: `make check TESTS=all` asks ctest for every test, `make check` for all but those with the
label `all`, .ci/run runs the first; every file that should be a test is one, with a label that tests/CMakeLists.txt
describes. plain: without Criterion some programs are left out.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["FLYNN_SOURCE"])
SELECTS = re.compile(r" (-[LREIN]\S*|--(label|tests|exclude|rerun|show|fixture|stop)\S*)( \S+)?")


def selection(*words):
    """How the command of `make check` chooses tests."""
    of_make = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "TESTS")
    clean = {k: v for k, v in os.environ.items() if k not in of_make}
    shown = subprocess.run(["make", "-n", "-C", SOURCE, "check", *words], env=clean, capture_output=True, text=True,
                           check=True)
    line = [line for line in shown.stdout.splitlines() if " ctest " in line]
    assert len(line) == 1, f"make check {' '.join(words)} runs ctest {len(line)} times"
    return "".join(m[0] for m in SELECTS.finditer(line[0])).strip()


def labels_of_tests(build):
    """Read in another folder, because ctest writes its files where it runs."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "CTestTestfile.cmake").write_text(f'subdirs("{build}")\n', encoding="utf-8")
        shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=folder, capture_output=True, text=True, check=True)
    labels = {}
    for test in json.loads(shown.stdout)["tests"]:
        values = [p["value"] for p in test["properties"] if p["name"] == "LABELS"]
        labels[test["name"]] = values[0] if values else []
    return labels


def wrong_in(labels, plain):
    text = (SOURCE / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    head = text[text.index("# Labels: "):text.index("# Sets: ")].replace("\n#", "")
    known = set(re.findall(r"\b([a-z]+) \(", head)) | {"all", "concurrent"}
    for test, given in labels.items():
        if not set(given) - {"all"}:
            yield f"{test} has no label but {given}"
        for label in set(given) - known:
            yield f"{test} has the label {label}, which the head of tests/CMakeLists.txt does not describe"
    scripts = [path.stem for path in SOURCE.glob("tests/cli/*.sh")
               if path.read_text(encoding="utf-8").startswith("#!")]  # others are sourced
    expected = {"cli-" + script.replace("_", "-") for script in scripts}
    if not plain:
        folders = ("core", "operations/*", "checks", "files")
        expected |= {path.stem[5:] for folder in folders for path in SOURCE.glob(f"tests/{folder}/test_*.c*")}
    for test in sorted(expected - set(labels)):
        yield f"{test} has a file, and is no test"
    for word, found, right in (("TESTS=all", selection("TESTS=all"), ""), ("", selection(), "--label-exclude '^all$'"),
                               ("TESTS=leaks", selection("TESTS=leaks"), "--label-regex '^(leaks)$'")):
        if found != right:
            yield f"make check {word} chooses tests by {found!r}, expected {right!r}"
    if "make check TESTS=all" not in (SOURCE / ".ci/run").read_text(encoding="utf-8"):
        yield ".ci/run does not run make check TESTS=all"


def main():
    labels = labels_of_tests(sys.argv[1])
    wrong = list(wrong_in(labels, "plain" in sys.argv[2:]))
    print("\n".join(wrong))
    print(f"{len(labels)} tests; make check leaves out {sum('all' in given for given in labels.values())} of them")
    sys.exit(bool(wrong) or not labels)


main()
