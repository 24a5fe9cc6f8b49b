#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mistakes.py [PAGE...]: runs the commands that the pages of docs/exercises show under "What courses get wrong".

A command is an indented line after "$ ", with what it continues in after a backslash. The lines below it, up to the next command, are
what it prints among others: the same words and numbers, with any device for a device; of a race any numbers. A command that shows nothing must
end with exit code 0. One whose backend is not there (exit code 3), such as a GPU, is passed over.

For ctest: FLYNN_SOURCE and FLYNN name the source folder and the command.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["FLYNN_SOURCE"])
FLYNN = pathlib.Path(os.environ["FLYNN"]).resolve()
PAGES = ["histogram", "matmul", "reduce", "scan", "search_sorted", "transpose"]
SECTION = re.compile(r"^\*\*What courses get wrong\.\*\*$(.*)\Z", re.MULTILINE | re.DOTALL)
DEVICE = re.compile(r"(?:auto|hip-[a-z]+(?::\d+)?)")
NUMBER = re.compile(r"-?\d[\d.]*(?:e[-+]?\d+)?")
NOT_HERE = 3


def commands(page):
    """(command, the lines that it shows) of a page."""
    text = SECTION.search((SOURCE / "docs/exercises" / f"{page}.md").read_text(encoding="utf-8"))[1]
    found, goes_on = [], False
    for line in text.split("\n"):
        indented = line.startswith("      ")
        if goes_on:
            found[-1][0] += " " + line.strip()
        elif indented and line.strip().startswith("$ "):
            found.append([line.strip()[2:], []])
        elif indented and found and line.strip():
            found[-1][1].append(line.strip())
        elif indented and line.strip():
            raise AssertionError(f"{page}.md: '{line.strip()}' is shown before any command")
        if found:
            goes_on = found[-1][0].endswith("\\")
            found[-1][0] = found[-1][0].rstrip("\\ ")
    return found


def pattern(line):
    """The words of a line, with any device; and with any numbers but the line's if they are those of a race."""
    words = []
    racy = line.endswith(("a race?", "(is a __syncthreads missing?)", "use atomicAdd or another atomic"))
    for before_it, word in zip(["", *line.split()], line.split()):
        if DEVICE.fullmatch(word.rstrip(":")):
            words.append(DEVICE.pattern + ":" * word.endswith(":"))
        elif racy and before_it != "line" and NUMBER.search(word):
            before, after = NUMBER.split(word, maxsplit=1)
            words.append(re.escape(before) + NUMBER.pattern + re.escape(after))
        else:
            words.append(re.escape(word))
    return r"(?<!\S)" + r"\s+".join(words) + r"(?!\S)"


def failure(command, shown, folder):
    """Why the command is not as the page shows it; None: it is."""
    environment = {**os.environ, "PATH": f"{FLYNN.parent}:{os.environ['PATH']}"}
    ended = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    output = ended.stdout + ended.stderr
    if ended.returncode == NOT_HERE:
        print("passed over:", output.strip().splitlines()[-1])
        return None
    if not shown and ended.returncode != 0:
        return f"exit code {ended.returncode}: {output}"
    may_win = re.search(r"\bhip-(nvidia|amd)\b", output) is not None  # a GPU every race
    missing = [line for line in shown if not re.search(pattern(line), output) and not (may_win and line.endswith("a race?"))]
    return f"it does not print '{missing[0]}', but:\n{output}" if missing else None


def main():
    failed = ran = 0
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "docs").symlink_to(SOURCE / "docs")
        for page in sys.argv[1:] or PAGES:
            here = commands(page)
            if not here:
                print(f"{page}.md: shows no command under 'What courses get wrong'")
                failed += 1
            for command, shown in here:
                why = failure(command, shown, folder)
                ran += 1
                failed += why is not None
                print(f"{'FAILED' if why else 'ok'}  {page}.md: {command}{': ' + why if why else ''}", flush=True)
    print(f"{ran} commands, {failed} failures")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
