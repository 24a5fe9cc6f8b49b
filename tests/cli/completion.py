# SPDX-License-Identifier: MIT
"""Completion in bash, zsh and fish, typed at a terminal, each with the file that the installation has.

A shell that is not installed is named. A quick test (FLYNN_TEST_QUICK) types six of the cases, by chance. What is expected is written here or comes from `flynn help --words` itself, which
options.py compares with what the commands take.
"""
import concurrent.futures
import os
import pathlib
import pty
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

FLYNN = pathlib.Path(os.environ["FLYNN"])
SHARE = FLYNN.parents[1] / "share"
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f". {SHARE}/bash-completion/completions/flynn"),
    "zsh": (["zsh", "-f", "-i"], f"fpath=({SHARE}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D"),
    "fish": (["fish", "--no-config", "-i"], f"source {SHARE}/fish/vendor_completions.d/flynn.fish"),
}
# What is typed before the tab, and the words that the shell then runs.
CASES = [
    ("flynn rec", ["reconstruct"]),
    ("flynn convolve --mod", ["convolve", "--mode="]),
    ("flynn convolve --mode=sa", ["convolve", "--mode=same"]),
    ("flynn sort --in-p", ["sort", "--in-place"]),
    ("flynn sort --backend=ser", ["sort", "--backend=serial"]),
    ("flynn reduce --oper", ["reduce", "--operation="]),
    ("flynn reduce --operation=mi", ["reduce", "--operation=minimum"]),
    ("flynn tran", ["transpose"]),
    ("flynn sea", ["search_sorted"]),
    ("flynn sweep sel", ["sweep", "select"]),
    ("flynn help taxo", ["help", "taxonomy"]),
    ("flynn help roof", ["help", "roofline"]),
    ("flynn help with-", ["help", "with-copies"]),
    ("flynn sort only", ["sort", "only-file.npy"]),
    ("flynn sort -o only", ["sort", "-o", "only-file.npy"]),
    ("flynn sort -b ser", ["sort", "-b", "serial"]),
    ("flynn sort -b hip-c", ["sort", "-b", "hip-cpu"]),
    ("flynn sort -b serial,si", ["sort", "-b", "serial,simd"]),
    ("flynn sort --backend=serial,si", ["sort", "--backend=serial,simd"]),
    ("flynn sort --variant=rad", ["sort", "--variant=radix"]),
    ("flynn sort --variant=radix,nai", ["sort", "--variant=radix,naive"]),
    ("flynn sweep sort --variant=rad", ["sweep", "sort", "--variant=radix"]),
    ("flynn sort --columns=backend,ker", ["sort", "--columns=backend,kernel"]),
    ("flynn sort --columns=with", ["sort", "--columns=with-copies"]),
    ("flynn sweep sort --columns=loca", ["sweep", "sort", "--columns=local"]),
]


class Shell:
    """One at a terminal, in an empty folder, where `flynn` writes the words that it gets to a file and asks the real
    one for those that may follow."""

    def __init__(self, name, folder):
        command, prepare = START[name]
        self.folder = folder
        self.said = b""
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "PS1": "> ", "TERM": "dumb",
                       "HOME": str(folder), "HISTFILE": ""}
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder / "here")
            os.execvpe(command[0], command, environment)
        self.type(f"{prepare}; echo ready > {folder}/ready\r")
        self.wait_for(folder / "ready")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, path):
        """Until the file is there and has a line; what the shell prints is kept for a failure's message."""
        end = time.monotonic() + 60
        while not (path.exists() and path.read_text().endswith("\n")):
            if select.select([self.terminal], [], [], 0.05)[0]:
                self.said += os.read(self.terminal, 65536)
            if time.monotonic() > end:
                raise AssertionError(f"nothing came of it within 60 s; the terminal shows {self.said[-500:]}")
        text = path.read_text()
        path.unlink()
        return text

    def completed(self, typed):
        self.type(typed + "\t")
        self.idle()
        self.type("\r")
        return self.wait_for(self.folder / "words").split()

    def idle(self):
        """Until the shell has nothing more to show: it drops what is typed while it asks for the words."""
        while select.select([self.terminal], [], [], 1)[0]:
            self.said += os.read(self.terminal, 65536)

    def end(self):
        self.type("\x03exit\r")
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def in_shell(name):
    with tempfile.TemporaryDirectory(prefix="flynn-completion.") as text:
        folder = pathlib.Path(text)
        (folder / "bin").mkdir()
        (folder / "here").mkdir()
        (folder / "here/only-file.npy").touch()
        told = folder / "bin/flynn"
        told.write_text(f'#!/bin/sh\ncase "$*" in\n*--words* | *--glossary* | *--variants* | --exercises) exec {FLYNN} "$@" ;;\nesac\n'
                        f'echo "$@" > {folder}/words.new && mv {folder}/words.new {folder}/words\n')
        told.chmod(0o755)
        shell = Shell(name, folder)
        failed = 0
        for typed, expected in CASES:
            try:
                found = shell.completed(typed)
                if found != expected:
                    raise AssertionError(f"it runs flynn {' '.join(found)}; expected {' '.join(expected)}")
            except AssertionError as error:
                failed += 1
                print(f"FAILED: {name}: {typed}: {error}")
        shell.end()
        return failed


def man_pages():
    """A page for each command, without a warning of troff's where that is installed; `flynn`'s has the glossary."""
    words = subprocess.run([FLYNN, "help", "--words"], capture_output=True, text=True, check=True).stdout
    names = ["flynn", *(f"flynn-{line.split(chr(9))[0]}" for line in words.splitlines())]
    failed = ".B roofline\n" not in (SHARE / "man/man1/flynn.1").read_text()
    for name in names:
        page = SHARE / f"man/man1/{name}.1"
        text = page.read_text()
        short = re.search(r"^\.SH NAME\n(\S+) \\- [a-z][^.]*\n\.SH SYNOPSIS", text, re.MULTILINE)
        if not short or short[1] != name.replace("-", "\\-"):
            failed += 1
            print(f"FAILED: {page.name}: NAME is not a phrase: {text[:200]}")
        if shutil.which("groff"):
            shown = subprocess.run(["groff", "-ww", "-man", "-Tascii", "-P-cbou", page], capture_output=True, text=True,
                                   check=True)
            failed += bool(shown.stderr) or "SYNOPSIS" not in shown.stdout
            if shown.stderr:
                print(f"FAILED: {page.name}: {shown.stderr[:300]}")
    print(f"{len(names)} man pages, {failed} failed" + ("" if shutil.which("groff") else " (groff is not installed)"))
    return failed


def main():
    names = sys.argv[1:] or START
    if "FLYNN_TEST_QUICK" in os.environ:
        CASES[:] = random.Random(os.environ["FLYNN_TEST_QUICK"]).sample(CASES, 6)
    installed = [name for name in names if shutil.which(name)]
    # At the same time, because each waits a second for a quiet terminal in each case.
    with concurrent.futures.ThreadPoolExecutor(len(START)) as pool:
        wrong = [pool.submit(in_shell, name) for name in installed]
        failed = man_pages()
        for name, count in zip(installed, (future.result() for future in wrong)):
            print(f"{name}: {len(CASES)} completions, {count} failed")
            failed += count
    for name in set(names) - set(installed):
        print(f"not tested: {name} is not installed")
    sys.exit(bool(failed))


main()
