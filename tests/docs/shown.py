# SPDX-License-Identifier: MIT
"""What pages show of commands, for the scripts that run these: an indented line after "$ " is a command, which goes on after a
backslash; the lines below it, indented alike, up to the next command or to text, are what it prints. What is fenced shows none.

The environment names the command (FLYNN) and the source folder (FLYNN_SOURCE); by itself: build/bin/flynn, and the one that this is in.
"""
import os
import pathlib
import re
import subprocess

SOURCE = pathlib.Path(os.environ.get("FLYNN_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
FLYNN = pathlib.Path(os.environ.get("FLYNN", SOURCE / "build/bin/flynn")).resolve()
ENVIRONMENT = {**os.environ, "PATH": f"{FLYNN.parent}:{os.environ['PATH']}"}
USUAL_WIDTH = 80  # where there is no terminal; a page shows whole lines
NOT_HERE = 3  # the exit code where a backend cannot run
DEVICE = re.compile(r"(?:auto|hip-[a-z]+(?::\d+)?)")
NUMBER = re.compile(r"-?\d[\d.]*(?:e[-+]?\d+)?")
FENCE = re.compile(r"(```|~~~)")
# Lines that the moment decides, numbers replaced by #: who is the fastest, and what is said on a busy machine.
FASTEST = (r"\S+(?: \S+)?(?:, block \S+)? (?:is|was) the fastest(?: of those that are steady)?(?: by the kernel| with the copies)?: # (?:\+- # )?times as fast as ",
           "no clear winner", "too noisy to say which is the fastest: ", "noisy, and not ranked: ", "with the copies it is, too: ",
           "fastest(?: kernel| with the copies)?: ", "# % of the # s of ", "(?:strong|weak) scaling: (?:# threads (?:are the fastest|get the most done), (?:# \\+- )?# times|"
           "no number of threads (?:is|gets) |too noisy to say how it grows)", "the busiest is ")
NOISE = ("do not trust its times", "is not kept; measure it again", "noisy", "auto took")


class Command:
    """`start`: the number of its line, `number`: of the first of the lines `shown`, which have blank ones and no longer their `indent`."""

    def __init__(self, text, indent, start, number, shown):
        self.text, self.indent, self.start, self.number, self.shown = text, indent, start, number, shown


def fenced(lines):
    """Whether each line is one of a fenced block, or its begin or end."""
    fence, found = None, []
    for line in lines:
        mark = FENCE.match(line)
        found.append(fence is not None or mark is not None)
        if mark and fence in (None, mark[1]):
            fence = None if fence else mark[1]
    return found


def commands(lines):
    found, number, hidden = [], 0, fenced(lines)
    while number < len(lines):
        match, start = None if hidden[number] else re.match(r"( {4,})\$ (.*)", lines[number]), number
        number += 1
        if not match:
            continue
        text, shown = match[2].rstrip(), []
        while text.endswith("\\") and number < len(lines):
            text = text[:-1].rstrip() + " " + lines[number].strip()
            number += 1
        for line in lines[number:]:
            if line.strip() and (not line.startswith(match[1]) or line[len(match[1]):].startswith("$ ")):
                break
            shown.append(line[len(match[1]):])
        while shown and not shown[-1].strip():
            shown.pop()
        found.append(Command(text, match[1], start, number, shown))
        number += len(shown)
    return found


def listed(lines):
    """The commands of flynn that stand in lists: indented lines without "$ ". Forms such as `flynn laws [EXERCISE]` and messages
    are none."""
    hidden, found, number = fenced(lines), [], 0
    of_commands = {n for command in commands(lines) for n in range(command.start, command.number + len(command.shown))}
    while number < len(lines):
        match, start = re.match(r"( {4,})(flynn (?!\S*:).*)", lines[number]), number
        text = match[2].rstrip() if match else ""
        number += 1
        if not match or hidden[start] or start in of_commands or re.search(r"\[[A-Z-]|\.\.\.", text):
            continue
        while text.endswith("\\") and number < len(lines):
            text = text[:-1].rstrip() + " " + lines[number].strip()
            number += 1
        found.append(Command(text, match[1], start, number, []))
    return found


def changed(pages):
    """Those of the pages that differ from git's last commit but one: a commit's, and those that are not committed. All of them
    are as they were where there is no git."""
    names = set()
    for words in (["diff", "--name-only", "HEAD^"], ["diff", "--name-only", "HEAD"], ["ls-files", "--others", "--exclude-standard"]):
        try:
            told = subprocess.run(["git", "-C", SOURCE, *words, "--", "*.md"], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return []
        names.update(told.stdout.split("\n") if told.returncode == 0 else ())
    return [page for page in pages if str(page.relative_to(SOURCE)) in names]


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


def joined(text, width):
    """With the lines that were broken between words, whose rest is indented by 4 blanks, put together."""
    lines = []
    last = ""
    for line in text.splitlines():
        rest = re.match(r"    (\S+)", line)
        if rest and lines and len(last) + 1 + len(rest[1]) > width:
            lines[-1] += " " + line[4:]
        else:
            lines.append(line)
        last = line
    return lines


def run(command, folder, environment=None, **options):
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment or ENVIRONMENT, stdin=subprocess.DEVNULL, text=True,
                          **(options or {"capture_output": True}))
