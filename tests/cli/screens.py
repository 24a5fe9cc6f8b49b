# SPDX-License-Identifier: MIT
"""Ten screens as a newcomer sees them on a terminal of 80 columns, numbers replaced; screens.txt has what is expected.

A line of screens.txt that begins with `$ ` is a command; `@40` before it is the terminal's width, `+hip-cpu` runs it only
where that backend can run, `!3` is its exit code. The lines below it are what the terminal shows at the end, without colours:
lines that were broken between words are put together again, runs of blanks are one, numbers are `#`, times `# s`, rates `# B/s`.
In them `..` stands for any text, a line `...` for any lines, <fastest> for the sentences about who is the fastest, <noise> for
what is said on a busy machine.
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios

FLYNN = os.environ["FLYNN"]
SOURCE = os.environ["FLYNN_SOURCE"]
sys.path.append(f"{SOURCE}/tests/docs")
from shown import FASTEST, NOISE, joined  # noqa: E402
CONTROL = re.compile(r"\x1b\[[0-9;]*[mK]")


def shown(words, width):
    """What the command leaves on a terminal, all that it wrote there, and its exit code."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        kept = {k: v for k, v in os.environ.items() if not k.startswith("FLYNN_") and k != "COLUMNS"}
        os.execve(FLYNN, [FLYNN, *words], {**kept, "TERM": "xterm", "LC_ALL": "C.UTF-8", "FLYNN_CACHE": os.getcwd() + "/cache"})
    text = b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux's way to say that nobody writes there any more
            break
        if not data:
            break
        text += data
    os.close(terminal)
    code = os.WEXITSTATUS(os.waitpid(process, 0)[1])
    every = text.decode().replace("\r\n", "\n")
    return CONTROL.sub("", re.sub(r"[^\n]*\r\x1b\[K", "", every)), every, code


def plain(line, processor):
    """Numbers are as the machine and the moment have them."""
    number = r"\d(?:[\d,.]*\d)?(?:e[+-]?\d+)?"
    line = line.replace(processor, "PROCESSOR").replace(SOURCE, "SOURCE").replace(os.getcwd(), "HERE").replace("~", "")
    line = re.sub(r"\b\d+x\d+\b", "#x#", line)
    line = re.sub(rf"(?<![\w.]){number} [nmu]?s\b", "# s", line)
    line = re.sub(rf"(?<![\w.]){number} [kMGT]?(B/s|FLOP/s)", r"# \1", line)
    line = re.sub(rf"(?<![\w.]){number} [KMGT]?i?B\b", "# B", line)
    line = re.sub(rf"(?<![\w.]){number}(?![\w.]*[g-wyz])", "#", line)
    return re.sub(r" +", " ", re.sub(r":v\d\b", ":v#", line)).strip()


def pattern(lines):
    """A regular expression of the expected lines."""
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        elif line == "<fastest>":
            parts.append(r"(?:(?:" + "|".join(FASTEST) + r").*\n)+")
        elif line == "<noise>":
            parts.append(r"(?:.*(?:" + "|".join(NOISE) + r").*\n)*")
        else:
            parts.append(".*".join(re.escape(piece) for piece in re.sub(r" +", " ", line).strip().split("..")) + r"\n")
    return parts


def differs(parts, text):
    """What is expected and is not there; empty: the text is as expected."""
    if re.fullmatch("".join(parts), text):
        return ""
    for count in range(len(parts), 0, -1):
        if re.match("".join(parts[:count]), text):
            return f"after {count} of {len(parts)} expected lines"
    return "from the first line on"


def screens():
    """Of each command: its title, width, needed backend, exit code, words and expected lines."""
    title, found = "", []
    for line in pathlib.Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            title = line[3:]
        elif line.startswith("$ "):
            marks, words = re.match(r"\$ ((?:[@+!]\S+ )*)flynn (.*)", line).groups()
            marks = {mark[0]: mark[1:] for mark in marks.split()}
            found.append((title, int(marks.get("@", 80)), marks.get("+"), int(marks.get("!", 0)), shlex.split(words), []))
        elif line and not line.startswith("# "):
            found[-1][5].append(line)
    return found


def main():
    if os.environ.get("FLYNN_TEST_EMULATED"):
        print("not tested: the emulation is slow, and another processor's names differ")
        sys.exit(77)
    backends = json.loads(subprocess.run([FLYNN, "info", "--json"], capture_output=True, check=True).stdout)
    can_run = {b["name"] for b in backends["backends"] if b["usable"]}
    processor, failed, numbers = backends["machine"]["processor"], 0, set()
    pathlib.Path("bare").mkdir()
    for title, width, needed, code, words, expected in screens():
        numbers.add(title.split()[0])
        if needed and needed not in can_run:
            print(f"not tested: {title}: {needed} cannot run here")
            continue
        text, every, ended = shown([w.replace("SOURCE", SOURCE) for w in words], width)
        lines = [plain(line, processor) for line in joined(text, width)]
        wide = [piece for piece in re.split(r"[\r\n]", CONTROL.sub("", every)) if len(piece.rstrip()) > width and " " in piece.strip()]
        why = differs(pattern(expected), "".join(line + "\n" for line in lines if line))
        for bad, what in ((why, "\n".join(lines)), (f"exit code {ended}" if ended != code else "", text),
                          (f"wider than {width}" if wide else "", "\n".join(wide))):
            if bad:
                failed += 1
                print(f"FAILED: {title}: flynn {' '.join(words)}: {bad}\n{what}")
    if len(numbers) != 10:
        failed += 1
        print(f"FAILED: {len(numbers)} screens, 10 expected")
    print(f"{failed} failed")
    sys.exit(failed > 0)


with tempfile.TemporaryDirectory(prefix="flynn-screens.") as folder:
    os.chdir(folder)
    main()
