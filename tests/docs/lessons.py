#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lessons.py [--form | --changed] [PAGE...]: what a learner copies from the pages in docs/courses, docs/learn and docs/teaching does what they show.

All commands of a page run in one empty folder, in its order, by bash, with a cache folder of their own. A command (shown.py) prints
what is shown below it: the same words and numbers, stdout and stderr together; a line `...` alone is any lines. Nothing below it: it
ends with exit code 0. What is the machine's may differ: times, rates, memory, percentages, times as fast (`2.00x`), the numbers of
columns that are measured, a processor's name, the set of `simd:v4`, who is the fastest, what is said on a busy machine; and the
numbers of a race. Passed over: a backend that is not here (exit code 3), and commands that read a file that such a one writes.
A block fenced as cpp, c or python after a line that ends in a file's name and a colon is written to that file before the commands
below it, of which one must use it.

The form of pages: no more than LINES lines; a question (QUESTION) has a folded answer, which blank lines separate; steps are
numbered; a drawing has a title, a description, colours for dark mode, and a text in its place; a claim of how many rows work (CLAIM) is true;
what a sentence or a table calls `flynn COMMAND --option` is a command, and that option one of it.
A page of a course has the PARTS, and at least STEPS steps with a command's output and a question whose answer is checked by a command.
--form: this alone, without the commands. --changed: only the pages that git's last commit changed, or nobody committed yet.

The script is tried first: on small pages with one fault each, which it must find (FAULTS).
FLYNN_SOURCE and FLYNN name the source folder and the command; by themselves: this one, and its build/bin/flynn.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from shown import ENVIRONMENT, FASTEST, NOISE, NOT_HERE, SOURCE, USUAL_WIDTH, changed, commands, fenced, joined, pattern, run

LINES, DRAWING_LINES, STEPS, SECONDS = 250, 80, 8, 300
FOLDERS = ("courses", "learn", "teaching")
NO_COURSES = {"README.md", "names.md"}
PARTS = ("**Needs**", "**Time**", "**Afterwards you can**", "## What this course gets wrong", "## For the instructor")
CLAIM = re.compile(r"\*\*(\d+) of (\d+) work\*\*")  # of a page's rows, those whose last column is `works`
QUESTION = re.compile(r"\*\*(?:Discuss|Try|Compute)\.\*\*")
MENTIONED = re.compile(r"(?<!`)`flynn ([a-z]\w*)([^`]*)`")
STEP = re.compile(r"## (\d+)\. ")
NAMED = re.compile(r"(?:^|.*[\s`*])([\w-]+\.[a-z]+)`?:$")
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
WRITTEN = re.compile(r"(?:-o |--output=|--json=|--csv=|--png=|--trace=|> ?)([^\s=]+)")

AMOUNT = r"~?(?<![\w.])[-+]?\d(?:[\d,.]*\d)?(?:e[-+]?\d+)?"
UNIT = r"(?:[nmu]?s(?:ec)?\b|min\b|[kMGT]?(?:B|FLOP)/s|[KMGTk]?i?B\b|images/s|%|x(?!\w)|times\b)"
MEASURED = ("GB/s", "GFLOP/s", "speed-up", "with copies", "place", "relative", "imbalance", "images/s", "overlap", "serial fraction", "Amdahl",
            "Gustafson", "deviation", "samples", "n")
TITLES = re.compile(r"(?<!\S)(?:" + "|".join(MEASURED) + r")(?!\S)")
HEADER = re.compile(r"(?:backend|exercise|class|scaling|what|way) +\S")


class Page:
    """`files`: (line of the block, name, text)."""

    def __init__(self, path):
        self.path, self.name = path, str(path.relative_to(SOURCE)) if SOURCE in path.parents else path.name
        self.lines = path.read_text(encoding="utf-8").split("\n")
        self.hidden, self.commands, self.files = fenced(self.lines), commands(self.lines), []
        for number, line in enumerate(self.lines):
            above = next((text for text in reversed(self.lines[:number]) if text.strip()), "")
            name = NAMED.match(above.rstrip())
            if re.fullmatch(r"```(cpp|c|python)", line) and self.hidden[number - 1:number] != [True] and name:
                end = self.lines.index("```", number)
                self.files.append((number, name[1], "\n".join(self.lines[number + 1:end]) + "\n"))

    def commands_within(self, first, end):
        return [found for found in self.commands if first <= found.start < end]

    def numbers(self, wanted, first=0, end=None):
        """Of the lines that begin so, outside of fenced blocks."""
        return [n for n, line in enumerate(self.lines[:end]) if n >= first and not self.hidden[n] and re.match(wanted, line)]


# ------------------------------------------------------------------------------------------------------------- form ----

def answer(page, question, end):
    """The first line and the end of a question's folded answer; None: it has none."""
    begins = page.numbers(r".*<details>", question, end)
    return (begins[0], page.numbers(r".*</details>", begins[0])[0]) if begins and page.numbers(r".*</details>", begins[0]) else None


def folds(page):
    for number in page.numbers(r".*<details>"):
        if not re.search(r"<details><summary>[^<]+</summary>$", page.lines[number]) or page.lines[number + 1].strip():
            yield f"line {number + 1}: expected '<details><summary>Answer</summary>' at the end of the line, and an empty line below it"
    for number in page.numbers(r".*</details>"):
        if page.lines[number].strip() != "</details>" or page.lines[number - 1].strip():
            yield f"line {number + 1}: expected '</details>' in a line of its own, and an empty line above it"
    if len(page.numbers(r".*<details>")) != len(page.numbers(r".*</details>")):
        yield "not as many <details> as </details>"


def questions(page):
    """(the line of a question, its answer's lines or None)"""
    starts = page.numbers(QUESTION)
    ends = sorted([*starts, *page.numbers(r"## "), len(page.lines)])
    return [(start, answer(page, start, next(end for end in ends if end > start))) for start in starts]


def course(page):
    for part in PARTS:
        if not any(part in line for line in page.lines):
            yield f"it lacks '{part}'"
    starts, good = page.numbers(STEP), 0
    ends = [*page.numbers(r"## "), len(page.lines)]
    for start in starts:
        end = next(end for end in ends if end > start)
        checked = any(answered and page.commands_within(*answered) for question, answered in questions(page) if start < question < end)
        shows = any(found.shown for found in page.commands_within(start, end))
        good += checked and shows
        if not checked or not shows:
            print(f"note  {page.name}: '{page.lines[start]}' has no {'output' if checked else 'question whose answer a command checks'}")
    if good < STEPS:
        yield f"{good} steps have an output and a question whose answer a command checks, fewer than {STEPS}"


def drawings(page):
    for alternative, target in PICTURE.findall("\n".join(line for line, hidden in zip(page.lines, page.hidden) if not hidden)):
        path = (page.path.parent / target).resolve()
        if not alternative.strip():
            yield f"{target}: nothing stands in its place for those who do not see it"
        if path.suffix != ".svg" or not path.exists():
            continue  # docs_links.py
        text = path.read_text(encoding="utf-8")
        for part in ("<title", "<desc", "prefers-color-scheme: dark"):
            if part not in re.sub(r"\s+", " ", text):
                yield f"{target} has no {part}"
        if text.count("\n") > DRAWING_LINES:
            yield f"{target} has {text.count(chr(10))} lines, more than {DRAWING_LINES}"


@functools.lru_cache(maxsize=None)
def words_of(*command):
    """The commands, or the options of a command, without what stands after them."""
    listed = run(" ".join(["flynn help --words", *command]), None).stdout
    return {line.split("\t")[0].split("=")[0] for line in listed.split("\n")}


def mentions(page):
    text = "\n".join(line for line, hidden in zip(page.lines, page.hidden) if not hidden and not line.startswith("    "))
    for command, rest in MENTIONED.findall(text):
        if command not in words_of():
            yield f"`flynn {command}`: there is no such command"
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]+", rest):
            if command in words_of() and option not in words_of(command) | {"--help", "--version", "--long"}:
                yield f"`flynn {command}{rest}`: {command} has no option {option}"


def form(page):
    """What is wrong with the page, but for its commands."""
    if len(page.lines) - 1 > LINES:
        yield f"{len(page.lines) - 1} lines, more than {LINES}"
    yield from folds(page)
    for question, answered in questions(page):
        if not answered:
            yield f"line {question + 1}: the question has no folded answer"
    numbers = [int(STEP.match(page.lines[n])[1]) for n in page.numbers(STEP)]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"its steps are {numbers}"
    for number, name, _ in page.files:
        if not any(name in found.text for found in page.commands if found.start > number):
            yield f"line {number + 1}: no command below it uses {name}"
    for works, count in CLAIM.findall("\n".join(page.lines)):
        rows = [line.split("|")[-2].strip() for line in page.lines if re.match(r"\| \d+ \|", line)]
        if (int(works), int(count)) != (rows.count("works"), len(rows)):
            yield f"{works} of {count} work, it says; it shows {rows.count('works')} of {len(rows)}"
    yield from mentions(page)
    yield from drawings(page)
    if page.path.parent.name == "courses" and page.path.name not in NO_COURSES:
        yield from course(page)


# --------------------------------------------------------------------------------------------------------- commands ----

def without_measured(lines):
    """The cells below the titles of columns that are measured, whose unit is in the title or nowhere, are #."""
    ends = []
    for line in lines:
        if HEADER.match(line):
            ends = [title.end() for title in TITLES.finditer(line)]
        elif not line.strip():
            ends = []
        for end in reversed(ends):
            cell = re.search(r"(?<!\S)(?:~?[-+]?\d[\d.,e+-]*|-)$", line[:end])
            if cell and not HEADER.match(line) and line[end:end + 1] in ("", " "):
                line = line[:cell.start()] + "#".rjust(end - cell.start()) + line[end:]
        yield line


def plain(lines):
    """(the line as it is, the line without what is the machine's); not those that the moment decides."""
    found = []
    for raw, line in zip(lines, without_measured(lines)):
        line = re.sub(r"\b(serial|simd|omp|hip(?:-[a-z]+)?)(?::\w+)+", r"\1", line)
        line = re.sub(r"^(serial|simd|omp|hip[-a-z]*): .*?( \(an emulation.*\))?$", r"\1: PROCESSOR\2", line)
        line = re.sub(r"^(\w+ on \S+) \(.*\)$", r"\1 (PROCESSOR)", line)
        line = re.sub(rf"(?:{AMOUNT}|#) \+- +(?:{AMOUNT}|#)", "#", line)
        line = re.sub(rf"{AMOUNT} ?(?={UNIT})", "# ", line)
        line = re.sub(r"# (?:[nmu]?s(?:ec)?|min)\b", "# s", re.sub(r"# [KMGTk]?i?B(/s)?(?![\w/])", r"# B\1", line))
        line = re.sub(r"\s+", " ", re.sub(r"# [kMGT]FLOP/s", "# FLOP/s", line)).strip()
        said = re.sub(AMOUNT, "#", line)
        if line and not any(re.match(words, said) for words in FASTEST) and not any(words in line for words in NOISE):
            found.append((raw.strip(), line))
    return found


def same(expected, got):
    return expected[1] == got[1] or re.fullmatch(pattern(expected[0]), got[0]) is not None


def first_difference(expected, got):
    """The lines that were expected and printed, from the first on that differ; None: there are none."""
    at = 0
    for number, line in enumerate(expected):
        if line[0] == "...":
            rest = expected[number + 1:]
            ways = [first_difference(rest, got[start:]) for start in range(at, len(got) + 1)] if rest else [None]
            return None if None in ways else (rest[:1], got[at:])
        if at == len(got) or not same(line, got[at]):
            return expected[number:number + 1], got[at:]
        at += 1
    return ([], got[at:]) if at < len(got) else None


def failure(found, folder, environment, absent):
    """Why a command does not do what the page shows; None: it does. `absent`: files that commands passed over would have written."""
    if any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", found.text) for name in absent):
        print(f"passed over: {found.text}: it needs what was passed over", flush=True)
        absent.update(WRITTEN.findall(found.text))
        return None
    try:
        ended = run(found.text, folder, environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"it takes more than {SECONDS} s"
    output = joined(ended.stdout, USUAL_WIDTH) or [""]
    differs = first_difference(plain(joined("\n".join(found.shown), USUAL_WIDTH)), plain(output)) if found.shown else ended.returncode != 0 and ([], plain(output))
    if differs and ended.returncode == NOT_HERE:
        print(f"passed over: {output[-1]}", flush=True)
        absent.update(WRITTEN.findall(found.text))
        return None
    if ended.returncode < 0 or ended.returncode > 128:
        return f"it was ended by a signal ({ended.returncode}):\n" + "\n".join(output)
    if not differs:
        return None
    head = "" if found.shown else f"exit code {ended.returncode}"
    shown, got = ["\n".join(f"        {line[0]}" for line in lines[:12]) for lines in differs]
    return f"{head}\n    expected\n{shown or '        nothing more'}\n    got\n{got or '        nothing more'}"


def commands_of(page):
    """(number of commands, those that fail, with why)"""
    failures, absent, written = [], set(), 0
    with tempfile.TemporaryDirectory(prefix="flynn-lesson.") as top:
        folder = pathlib.Path(top, page.path.stem)
        folder.mkdir()
        quiet = os.environ.get("FLYNN_TEST_MACHINE")  # harness/machine.c: what other programs do at the moment is hidden
        environment = {name: value for name, value in ENVIRONMENT.items() if not name.startswith("FLYNN") and name != "COLUMNS"}
        environment.update(FLYNN_CACHE=f"{top}/cache", FLYNN_MIN_TIME="0.02", LC_ALL="C.UTF-8")
        if quiet and pathlib.Path(quiet).exists():
            environment.update(TEST_MACHINE="quiet", LD_PRELOAD=quiet)
        for found in page.commands:
            for number, name, text in page.files[written:]:
                if number < found.start:
                    (folder / name).write_text(text, encoding="utf-8")
                    written += 1
            started, why = time.monotonic(), failure(found, folder, environment, absent)
            if why:
                failures.append(f"line {found.start + 1}: $ {found.text}: {why}")
            else:
                print(f"ok  {page.name}: {found.text}  ({time.monotonic() - started:.1f} s)", flush=True)
    return failures


# ------------------------------------------------------------------------------------------------- the script itself ----

FOLDED = "**Compute.** How many?\n<details><summary>Answer</summary>\n\nSo:\n\n    $ echo 3\n    3\n\n</details>\n"
STEP_TEXT = "## {}. A step\n\n    $ echo 1 2\n    1 2\n\n" + FOLDED + "\n"
COURSE = "\n\n".join(PARTS[:3]) + "\n\n" + "".join(STEP_TEXT.format(n + 1) for n in range(STEPS)) + "\n\n".join(PARTS[3:]) + "\n"
HEAD, ROW = "backend  GB/s size  kernel check", "simd:{}   {}   {} 8.00 ms {}"
TABLE = f"\n    $ printf '{HEAD}\\n{ROW.format('v4', '1.1', 10, 'ok')}'\n    {HEAD}\n    "

# (a page, what must be said of it; "": nothing)
FAULTS = [
    (COURSE, ""),
    (COURSE.replace("## For the instructor", ""), "it lacks '## For the instructor'"),
    (COURSE.replace("## 3. ", "## "), "its steps are [1, 2, 4"),
    (COURSE.replace("So:\n\n    $ echo 3\n    3\n", "Three.\n", 1), f"{STEPS - 1} steps have an output"),
    (COURSE.replace("    $ echo 1 2\n    1 2\n", "", 1).replace("    3\n", "", 1), f"{STEPS - 1} steps have an output"),
    (COURSE + "\n" * LINES, f"more than {LINES}"),
    (COURSE + FOLDED.replace("</summary>\n", "</summary> "), "expected '<details><summary>Answer</summary>'"),
    (COURSE + "**Try.** Why?\n\n## Next\n", "the question has no folded answer"),
    (COURSE + "\nWrite `a.c`:\n\n```c\nint a;\n```\n", "no command below it uses a.c"),
    (COURSE + "\nWrite a.c:\n```c\nint a;\n```\n    $ cat a.c\n    int a;\n", ""),
    (COURSE + "\nWrite a.c:\n```c\nint a;\n```\n    $ cat a.c\n    int b;\n", "int b;\n    got\n        int a;"),
    (COURSE + "\n    $ echo 1; \\\n      echo 2\n    1\n    2\n", ""),
    (COURSE + "\n    $ echo 1; echo 2\n    1\n", "nothing more\n    got\n        2"),
    (COURSE + "\n    $ echo 1\n    1\n    2\n", "2\n    got\n        nothing more"),
    (COURSE + "\n    $ echo 1; echo 2; echo 3\n    ...\n    3\n", ""),
    (COURSE + "\n    $ echo 1; echo 2; echo 3\n    ...\n    4\n", "4\n    got"),
    (COURSE + "\n    $ false\n", "exit code 1"),
    (COURSE + "\n    $ echo no >&2; false\n    no\n", ""),
    (COURSE + "\n    $ kill -9 $$\n    ...\n", "it was ended by a signal"),
    (COURSE + "\n    $ echo no; exit 3 # > a\n    yes\n\n    $ cat a\n    1\n", ""),
    (COURSE + "\n    $ echo 'took ~1.5 us, 3 GB/s, 2.00x, 41 %, 512 KiB of 10'\n    took 8.00 ms, 40.1 MB/s, 31x, 4.1 %, 1.5 MiB of 10\n", ""),
    (COURSE + "\n    $ echo 'took 1.5 us of 10'\n    took 8.00 ms of 11\n", "of 11"),
    (COURSE + "\n    $ echo 2048x2048\n    2047x2048\n", "2047x2048"),
    (COURSE + TABLE + ROW.format("v3", "2.1", 10, "ok"), ""),
    (COURSE + TABLE + ROW.format("v4", "1.1", 20, "ok"), "20 8.00 ms"),
    (COURSE + TABLE + ROW.format("v4", "1.1", 10, "WRONG"), "WRONG\n    got"),
    (COURSE + "\n**1 of 2 work**\n\n| # | today |\n|---|---|\n| 1 | works |\n| 2 | no |\n", ""),
    (COURSE + "\n**2 of 2 work**\n\n| # | today |\n|---|---|\n| 1 | works |\n| 2 | no |\n", "it shows 1 of 2"),
    (COURSE + "\n`flynn sort --size=9 -b serial`, `flynn help warp`\n", ""),
    (COURSE + "\n`flynn srot --size=9`\n", "there is no such command"),
    (COURSE + "\n`flynn sort --siez=9`\n", "sort has no option --siez"),
    (COURSE + "\n![](a.svg)\n", "nothing stands in its place"),
    (COURSE + "\n![a](bad.svg)\n", "bad.svg has no prefers-color-scheme: dark"),
]


def faults_that_are_missed():
    with tempfile.TemporaryDirectory(prefix="flynn-lessons.") as folder:
        path = pathlib.Path(folder, "courses", "page.md")
        path.parent.mkdir()
        (path.parent / "bad.svg").write_text("<svg><title>a</title><desc>b</desc></svg>\n", encoding="utf-8")
        for text, expected in FAULTS:
            path.write_text(text, encoding="utf-8")
            page = Page(path)
            said = "\n".join([*form(page), *commands_of(page)])
            if expected not in said or (said and not expected):
                yield f"of a page that ends in {text[-80:]!r} it says {said[:400]!r}, not {expected!r}"


def silently(function):
    """Its results, without what it prints."""
    kept, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")
    try:
        return list(function())
    finally:
        sys.stdout = kept


def main():
    words = sys.argv[1:]
    form_alone, changed_alone = words[:1] == ["--form"], words[:1] == ["--changed"]
    pages = [pathlib.Path(word).resolve() for word in words[form_alone or changed_alone:]] or sorted(
        page for name in FOLDERS for page in (SOURCE / "docs" / name).glob("*.md"))
    pages = changed(pages) if changed_alone else pages
    failed, ran = silently(faults_that_are_missed), 0
    for why in failed:
        print(f"FAILED  lessons.py: {why}")
    for page in map(Page, pages):
        ran += 0 if form_alone else len(page.commands)
        for why in [*form(page), *([] if form_alone else commands_of(page))]:
            failed.append(why)
            print(f"FAILED  {page.name}: {why}", flush=True)
    print(f"{len(pages)} pages, {ran} commands, {len(failed)} failures")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
