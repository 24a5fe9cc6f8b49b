# SPDX-License-Identifier: MIT
"""Usage: sets.py BUILD [plain]

The sets of tests are complete: `make check TESTS=all` asks ctest for every test, `make check` for all but those with the
label `all`, .ci/run runs the first; every file that should be a test is one, with a label that tests/CMakeLists.txt
describes. What the workflow names exists: targets of make, labels, tests, parts of make check-deep; its actions are pinned.
plain: without Criterion some programs are left out.
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


def is_quick(*words):
    """Whether the tests of `make check` that have many cases take some of them."""
    shown = subprocess.run(["make", "-n", "-C", SOURCE, "check", *words], capture_output=True, text=True, check=True,
                           env={k: v for k, v in os.environ.items() if not re.match("MAKE|MFLAGS|TESTS|FLYNN_TEST", k)})
    return bool(re.search(r"FLYNN_TEST_QUICK=\d+ .* ctest ", shown.stdout))


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


def known_labels():
    text = (SOURCE / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    head = text[text.index("# Labels: "):text.index("# Sets: ")].replace("\n#", "")
    return set(re.findall(r"\b([a-z]+) \(", head)) | {"all", "some", "concurrent"}


def wrong_in(labels, plain):
    known = known_labels()
    for test, given in labels.items():
        if not set(given) - {"all", "some"}:
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
    if [is_quick(), is_quick("TESTS=all"), is_quick("TESTS=cli")] != [True, False, False]:
        yield "make check takes some cases of a test, and TESTS=all or TESTS=LABEL all of them: they do not"
    if "make check TESTS=all" not in (SOURCE / ".ci/run").read_text(encoding="utf-8"):
        yield ".ci/run does not run make check TESTS=all"


def wrong_in_workflow():
    text = (SOURCE / ".github/workflows/check.yml").read_text(encoding="utf-8")
    for action in re.findall(r"uses: *(.*)", text):
        if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action):
            yield f"the action {action} is not pinned by a hash with its version"
    made = re.findall(r"(?:run: make|make:) ([^,\n}]*)", text) + re.findall(r'make: "([^"]*)"', text)
    targets = {word for line in made for word in re.sub(r"\$\{\{.*?\}\}|'.*?'", "", line).strip('["]').split() if re.fullmatch(r"[a-z-]+", word)}
    makefile = (SOURCE / "Makefile").read_text(encoding="utf-8")
    yield from (f"make has no target {target}" for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE))
    groups = re.findall(r"(TESTS|-L|-LE|-E)[ =]'?\^?\(?([\w|-]+)", text)
    tests = (SOURCE / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    for option, words in groups:
        yield from (f"no test has {word}, which {option} names" for word in words.split("|")
                    if not (re.search(rf"\b{word}\b", tests) if option == "-E" else word in known_labels()))
    parts = set(re.findall(r"--only=([\w,-]+)", text)[0].split(","))
    deep = (SOURCE / "tests/deep/deep.py").read_text(encoding="utf-8")
    yield from (f"make check-deep has no part {part}" for part in parts if f'"{part}"' not in deep)
    if not {"check", "deps", "check-deep", "deps-gpu"} <= targets or len(groups) != 5 or parts != {"asan", "tsan"}:
        yield f"the workflow was not understood: {sorted(targets)}, {groups}, {parts}"


def main():
    labels = labels_of_tests(sys.argv[1])
    wrong = [*wrong_in(labels, "plain" in sys.argv[2:]), *wrong_in_workflow()]
    print("\n".join(wrong))
    print(f"{len(labels)} tests; make check leaves out {sum('all' in given for given in labels.values())} of them")
    sys.exit(bool(wrong) or not labels)


main()
