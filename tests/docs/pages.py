#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages.py [--write | --changed] [PAGE...]: what the pages in docs/ and README.md show is what the commands print. (Those of courses
and lessons have a test of their own: lessons.py.)

A command is an indented line after "$ ", with what it continues in after a backslash; the indented lines below it, up to the next
command, are what it prints.

- Under "What courses get wrong" of an exercise's page: the same words and numbers, with any device for a device; of a race any
  numbers. A command that shows nothing must end with exit code 0. One whose backend is not there (exit code 3), such as a GPU,
  is passed over.
- Elsewhere, where a table of results is shown, its form: the same title, known titles of columns, rows of no more than 100 columns
  if the command prints such, sentences above the table, the same words about the check. Backends that are not here are left out
  of the command, and it measures one pass.
- All others, with "$ " or in a list, are run in the order of the page, in one folder, which has the kernels and pictures of the
  project, and `image.png`, `images` and `mine.json`. What is shown below is printed, but for rows of tables, and the numbers of what is
  measured; where nothing is shown the exit code is 0. A file that `cat` shows, and that is not there, is made of what it shows.

--changed: only the pages that git's last commit changed, or nobody committed yet.
--write replaces such tables by what the commands print on this machine, which must have each page's backends; an output with a
noisy row (~) is tried again, and in the end not taken. It is run on one quiet machine with a GPU where tables have changed.

For ctest: FLYNN_SOURCE and FLYNN name the source folder and the command, FLYNN_BUILD the build folder.
"""
import os
import pathlib
import re
import sys
import tempfile

import lessons
from shown import ENVIRONMENT, NOT_HERE, NUMBER, SOURCE, changed, commands, listed, pattern, run

SECTION = "**What courses get wrong.**"
HEADER = re.compile(r"(backend|exercise|class) .* check$")
ROW = re.compile(r"(?!.*: )(?:\w+ +)?(?:serial|simd|omp|hip)(?:-\w+)?(?::\w+)* ")
SENTENCE = re.compile(r"(both|all \d+) results are right$|\d+ of \d+ results")
WIDTH = 100
TRIES = 4


def mistakes(page):
    """(command, the lines that it shows) of a page's section about mistakes."""
    lines = page.read_text(encoding="utf-8").split("\n")
    section = lines[lines.index(SECTION):] if SECTION in lines else []
    all_of_it = commands(section)
    of_commands = {number for found in all_of_it for number in range(found.start, found.number + len(found.shown))}
    for number, line in enumerate(section):
        assert number in of_commands or not line.startswith(" " * 6) or not line.strip(), f"{page.name}: '{line.strip()}' belongs to no command"
    return [(found.text, [line.strip() for line in found.shown if line.strip()]) for found in all_of_it if found.text.startswith("flynn ")]


def failure(command, shown, folder):
    """Why the command is not as the page shows it; None: it is."""
    ended = run(command, folder, {**ENVIRONMENT, "FLYNN_MIN_TIME": "0.001"})
    output = ended.stdout + ended.stderr
    if ended.returncode == NOT_HERE:
        print("passed over:", output.strip().splitlines()[-1])
        return None
    if not shown and ended.returncode != 0:
        return f"exit code {ended.returncode}: {output}"
    may_win = re.search(r"\bhip-(nvidia|amd)\b", output) is not None  # a GPU every race
    missing = [line for line in shown if not re.search(pattern(line), output) and not (may_win and line.endswith("a race?"))]
    return f"it does not print '{missing[0]}', but:\n{output}" if missing else None


class Table:
    """A command whose table a page shows: the lines `shown` of it, from the one with the number `first` on, are indented by `indent`."""

    def __init__(self, page, found):
        self.page, self.command, self.indent, self.first, self.shown = page, found.text.split("  #")[0].strip(), found.indent, found.number, found.shown


def tables(page):
    """Those of own kernels are run by cli-kernel, from the folder of the kernels; of a batch's tables pages show parts."""
    return [Table(page, found) for found in commands(page.read_text(encoding="utf-8").split("\n"))
            if found.text.startswith("flynn ") and not found.text.startswith(("flynn kernel", "flynn batch"))
            and any(HEADER.match(text) for text in found.shown) and "..." not in found.shown]


def backends_here():
    """Of those that pages name."""
    return [name for name in ("serial", "simd", "omp", "hip") if run(f"flynn sqrt --size=10 -q -b {name}", None).returncode == 0]


def known_titles(command):
    message = run(f"{command} --columns=?", None).stderr
    found = re.search(r"expected (.*)", message)
    assert found, f"{command} --columns=?: {message}"
    return sorted(found[1].split(", "), key=len, reverse=True)


def unknown_title(header, known):
    """The rest of a header after the titles that are known."""
    for title in known:
        header = re.sub(rf"(?<!\S){re.escape(title)}(?!\S)", "", header)
    return header.strip()


def once(command):
    """The command with one pass of each row, which is enough for a table's form."""
    return re.sub(r" --(?:repeat|warmup|min-time|until)=\S+", "", command) + " --repeat=1 --warmup=0"


def form_failure(table, here, folder):
    """Why the table is not of the form that the command prints today; None: it is."""
    asked = re.search(r"--backend=(\S+)", table.command)
    kept = [name for name in asked[1].split(",") if name.split(":")[0] in here] if asked else []
    if asked and not kept:
        print("passed over: no backend of", table.command)
        return None
    ended = run(once(table.command.replace(asked[0], f"--backend={','.join(kept)}") if asked else table.command), folder)
    today = ended.stdout.splitlines()
    if ended.returncode != 0:
        return f"exit code {ended.returncode}: {ended.stderr}"
    at = next(i for i, line in enumerate(table.shown) if HEADER.match(line))
    now = next((i for i, line in enumerate(today) if HEADER.match(line)), None)
    if now is None:
        return "it prints no table"
    unknown = unknown_title(table.shown[at], known_titles(" ".join(table.command.split()[:2])))
    rows, rows_now = ([line for line in lines[header:] if ROW.match(line)] for lines, header in ((table.shown, at), (today, now)))
    wide = [line for line in rows if len(line) > max(WIDTH, *map(len, rows_now))]
    of_check = [line for line in table.shown if line.startswith("checked against")]
    says, says_now = (any(map(SENTENCE.match, lines)) for lines in (table.shown[:at], today[:now]))
    if table.shown[0] != today[0] and not asked_differs(table.shown[0], today[0]):
        return f"it starts with '{today[0]}', not '{table.shown[0]}'"
    if unknown:
        return f"'{unknown}' is the title of no column"
    if wide:
        return f"'{wide[0]}' has {len(wide[0])} columns, more than {WIDTH}"
    if len(rows) > 1 and len(rows_now) > 1 and says != says_now:
        return f"what is above its rows is not today's: {today[:now]}"
    if of_check and in_time(of_check[0]) not in map(in_time, today):
        return f"it does not print '{of_check[0]}'"
    return None


def in_time(line):
    """A map that is slow to check, as on a busy machine, is checked in samples."""
    return line.replace(", all elements,", ", sampled,")


def asked_differs(shown, today):
    """Whether two titles differ in numbers alone, which may be those of the machine."""
    return NUMBER.sub("#", shown) == NUMBER.sub("#", today)


# What a command of a page says at some moments: instead of a table, or otherwise on a busy machine.
AT_TIMES = re.compile(r"none of its \d+ rows is noisy")
OF_THE_MOMENT = re.compile(r".* is faster than \w+ for \d|the busiest is |Amdahl: |Gustafson: |(?:strong|weak) scaling: ")
CELLS = re.compile(r"(?:\w+ +)?(?:serial|simd|omp|hip)(?:-\w+)?(?::\w+)* |(?:strong|weak) +\d")
SKIPPED = 77


def others(page):
    """The commands that neither mistakes() nor tables() has."""
    lines = page.read_text(encoding="utf-8").split("\n")
    section = lines.index(SECTION) if SECTION in lines else len(lines)
    of_tables = {table.first for table in tables(page)}
    found = [c for c in commands(lines) if c.number not in of_tables and not (c.start > section and c.text.startswith("flynn "))]
    return sorted([*found, *listed(lines)], key=lambda c: c.start)


def words_of(lines, measured):
    """What is shown, each line as it is and without what is the machine's; no rows and titles of tables. Of a command that measures
    without numbers."""
    kept = [(raw, line) for raw, line in lessons.plain(lines)
            if not any(kind.match(raw) for kind in (CELLS, lessons.HEADER, SENTENCE, OF_THE_MOMENT))]
    return [tuple(re.sub(lessons.AMOUNT, "#", text) for text in both) for both in kept] if measured else kept


def small(command):
    """`flynn ceiling` takes arrays that no cache holds: gigabytes on a large processor, and half a minute. Here they are small."""
    return re.sub(r"^flynn ceiling(?!.* --size)", "flynn ceiling --size=1M", command)


def other_failure(found, folder, environment):
    """Why a command does not print what is shown below it; None: it does."""
    cat = re.fullmatch(r"cat (\S+)", found.text)
    if cat and not (folder / cat[1]).exists():
        (folder / cat[1]).write_text("\n".join(found.shown) + "\n", encoding="utf-8")
    ended = run(small(found.text), folder, environment, capture_output=True)
    output = ended.stderr + ended.stdout
    if ended.returncode in (NOT_HERE, SKIPPED):
        print("passed over:", output.strip().split("\n")[-1])
        return None
    if ended.returncode < 0 or ended.returncode > 128 or (not found.shown and ended.returncode != 0 and not AT_TIMES.search(output)):
        return f"exit code {ended.returncode}: {output}"
    measured = any(map(lessons.HEADER.match, found.shown))
    printed = [" ".join(texts) for texts in zip(*words_of(output.split("\n"), measured))] or ["", ""]
    for line in words_of(found.shown, measured):
        if line[0] != "..." and not any(re.search(pattern(one), text) for one, text in zip(line, printed)):
            return f"it does not print '{line[0]}', but:\n{output}"
    return None


def own_environment(top):
    """No command of a page changes what this user keeps, and each measures for a moment. `python3` is the Python that runs this."""
    bin_folder = pathlib.Path(top, "bin")
    bin_folder.mkdir()
    (bin_folder / "python3").symlink_to(sys.executable)
    kept = {name: value for name, value in ENVIRONMENT.items() if not name.startswith("FLYNN") and name != "COLUMNS"}
    build = pathlib.Path(os.environ.get("FLYNN_BUILD", SOURCE / "build"))
    return {**kept, "PATH": f"{bin_folder}:{build / 'tests/examples'}:{kept['PATH']}", "FLYNN_CACHE": f"{top}/cache", "FLYNN_MIN_TIME": "0.001", "FLYNN_SCALE": "0.05",
            "FLYNN_LIBRARY": str(build / "lib/libflynn.so"), "LC_ALL": "C.UTF-8",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


# (a page, whether something is wrong with it)
FAULTS = [
    ("    $ echo 1 2\n    1 2\n", False),
    ("    $ echo 1 2\n    1\n    ...\n", False),
    ("    $ echo 1\n    2\n", True),
    ("    $ printf 'backend  kernel check\\nserial 8 ms ok\\nall are 9\\n'\n    backend  kernel check\n    serial 7 ms ok\n    all are 1\n", False),
    ("    $ printf 'backend  kernel check\\nserial 8 ms ok\\n'\n    backend  kernel check\n    serial 7 ms ok\n    all are 1\n", True),
    ("    $ false\n", True),
    ("    $ exit 3\n    yes\n", False),
    ("    $ kill -9 $$\n    ...\n", True),
    ("    flynn help spread    # a word\n    flynn help \\\n        roofline\n", False),
    ("    flynn srot --size=9\n", True),
    ("    flynn [COMMAND] --size=N\n    flynn sort: a message\n", False),
    ("    $ cat a.c\n    int a;\n\n    $ cat a.c\n    int a;\n", False),
    ("    $ cat a.c\n    int a;\n\n    $ cat a.c\n    int b;\n", True),
    (SECTION + "\n\n    $ flynn srot\n\n    $ false\n", True),
]


def check_others(page):
    """(command, why it is not as the page shows it) of each."""
    with tempfile.TemporaryDirectory(prefix="flynn-page.") as top:
        folder = pathlib.Path(top, "page")
        fill(folder)
        environment = own_environment(top)
        return [(found.text, other_failure(found, folder, environment)) for found in others(page)]


def faults_that_are_missed():
    """This script is tried first, on small pages of which some have a fault."""
    with tempfile.TemporaryDirectory(prefix="flynn-pages.") as folder:
        path = pathlib.Path(folder, "page.md")
        for text, wrong in FAULTS:
            path.write_text(text, encoding="utf-8")
            why = [reason for _, reason in check_others(path) if reason]
            if bool(why) != wrong:
                yield f"of {text!r} it says {why}"


def output_of(table, folder):
    """What the command prints on a quiet machine; None: it never was."""
    for _ in range(TRIES):
        ended = run(table.command, folder)
        if ended.returncode != 0:
            print(f"FAILED  {table.page.name}: {table.command}: exit code {ended.returncode}: {ended.stderr}")
            return None
        if "~" not in ended.stdout:
            return ended.stdout.rstrip("\n").split("\n")
        print(f"noisy   {table.page.name}: {table.command}")
    return None


def write(page, folder):
    """The number of tables that could not be replaced."""
    failed = 0
    for number in range(len(tables(page))):
        table = tables(page)[number]  # the lines before it may have become more
        output = output_of(table, folder)
        failed += output is None
        if output is None:
            continue
        lines = page.read_text(encoding="utf-8").split("\n")
        lines[table.first:table.first + len(table.shown)] = [(table.indent + line).rstrip() for line in output]
        page.write_text("\n".join(lines), encoding="utf-8")
        print(f"written {page.name}: {table.command}", flush=True)
    return failed


def check(page, here, folder):
    """(Commands, failures) of a page."""
    results = [(command, failure(command, shown, folder)) for command, shown in mistakes(page)]
    results += [(table.command, form_failure(table, here, folder)) for table in tables(page)]
    results += check_others(page)
    for command, why in results:
        print(f"{'FAILED' if why else 'ok'}  {page.name}: {command}{': ' + why if why else ''}", flush=True)
    return len(results), sum(why is not None for _, why in results)


def fill(folder):
    """What the commands of pages find."""
    pictures = SOURCE / "tests/data/mri"
    folder.mkdir(exist_ok=True)
    for name in ("docs", "tests", "python"):
        (folder / name).symlink_to(SOURCE / name)
    for file in (*(SOURCE / "docs/kernels").glob("*.hip"), *pictures.glob("*.png")):
        (folder / file.name).symlink_to(file)
    for name, file in (("mri", pictures), ("images", pictures), ("image.png", pictures / "slice_072.png"),
                       ("mine.json", SOURCE / "tests/data/saved/compare.json"),
                       ("build", pathlib.Path(os.environ.get("FLYNN_BUILD", SOURCE / "build")))):
        (folder / name).symlink_to(file)


def all_pages():
    found = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]
    return [page for page in found if page.parent.name not in (*lessons.FOLDERS, "kernels")]  # those of kernels: cli-kernel


def main():
    words = sys.argv[1:]
    writes, changed_alone = words[:1] == ["--write"], words[:1] == ["--changed"]
    pages = [SOURCE / word for word in words[writes or changed_alone:]] or all_pages()
    pages = changed(pages) if changed_alone else pages
    missed, ran = [] if writes else lessons.silently(faults_that_are_missed), 0
    failed = len(missed)
    for why in missed:
        print(f"FAILED  pages.py: {why}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        fill(folder)
        here = backends_here()
        for page in pages:
            if writes:
                failed += write(page, folder)
            else:
                of_page = check(page, here, folder)
                ran += of_page[0]
                failed += of_page[1]
    print(f"{ran} commands, {failed} failures")
    return failed > 0 or (not writes and not changed_alone and ran == 0)


if __name__ == "__main__":
    sys.exit(main())
