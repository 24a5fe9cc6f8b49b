# SPDX-License-Identifier: MIT
"""Tables on a terminal: they fit into 40, 80 and 120 columns, show what differs, and colour what stands out; redirected
they have the columns of a terminal of 100, with --wide all.
"""
import fcntl
import json
import os
import pty
import random
import re
import struct
import subprocess
import sys
import tempfile
import termios

FLYNN = os.environ["FLYNN"]
FAULTS = os.environ["FLYNN_TEST_FAULTS"]
SLICE = os.environ["FLYNN_SOURCE"] + "/tests/data/mri/slice_072.png"
QUICK = ["--repeat=2", "--warmup=0"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
COMMANDS = [
    ["convolve", "-b", "serial,simd", "--size=64", *QUICK],
    ["convolve", "-b", "serial,simd", "--variant=all", "--size=40", *QUICK],
    ["sort", "-b", "serial", "--size=64", *QUICK],
    ["svd", "-b", "serial,simd", "--size=32", *QUICK],
    ["slice", "-b", "serial", "--size=64", "--repeat=2"],
    ["compare", "sort", "convolve", "--scale=1e-4", "-b", "serial,simd", *QUICK],
    ["sweep", "sort", "-b", "serial,simd", "--size=100", *QUICK],
    ["laws", "increment", "--threads=1,2", "--size=1000", *QUICK],
    ["taxonomy", "--size=1000", "-b", "serial,simd", *QUICK],
    ["ceiling", "-b", "serial", "--size=4096", "--repeat=2"],
    ["batch", "-b", "serial", "--synthetic=3x16x16", "--keep=2"],
    ["list"],
    ["list", "--long"],
]
failed = passed = 0


def environment(more):
    inner = {k: v for k, v in os.environ.items() if not k.startswith("FLYNN_") and k not in ("COLUMNS", "NO_COLOR")}
    return {**inner, "TERM": "xterm", "LC_ALL": "C.UTF-8", "FLYNN_CACHE": os.getcwd(), **more}


def on_terminal(words, width, more=None):
    """What the command prints to a terminal of that width, without its stderr."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        os.dup2(os.open("err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.execve(FLYNN, [FLYNN, *words], environment(more or {}))
    text = b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        text += data
    os.close(terminal)
    os.waitpid(process, 0)
    return text.decode().replace("\r\n", "\n")


def redirected(words):
    return subprocess.run([FLYNN, *words], capture_output=True, text=True, env=environment({}), check=False).stdout


def check(title, good, text=""):
    global failed, passed
    good = bool(good)
    passed += good
    failed += not good
    if not good:
        print(f"FAILED: {title}\n{text}")


def six_backends():
    """The variable that shows two GPUs that are none next to the plugins of this build; nothing, without hip-cpu."""
    gpus = [f"{FAULTS}/{name}" for name in ("hip-nvidia", "hip-amd") if os.path.isdir(f"{FAULTS}/{name}")]
    return {"FLYNN_PLUGIN_PATH": ":".join(gpus)} if gpus else {}


def titles(text):
    return next((line for line in COLOUR.sub("", text).splitlines() if line.startswith(("backend", "exercise", "scaling", "operation", "class"))), "")


def main():
    chance = random.Random(os.environ["FLYNN_TEST_QUICK"]) if "FLYNN_TEST_QUICK" in os.environ else None
    for words in COMMANDS:
        for width in chance.sample((40, 80, 100, 120), 1) if chance else (40, 80, 100, 120):
            text = on_terminal(words, width)
            long = [line for line in COLOUR.sub("", text).splitlines() if len(line.rstrip()) > width and " " in line.strip()]
            check(f"{' '.join(words)} at {width}", text and not long, "\n".join(long))
    convolve, sort = COMMANDS[0], COMMANDS[2]
    narrow, wide, full = titles(on_terminal(convolve, 80)), titles(on_terminal(convolve, 120)), titles(redirected([*convolve, "--wide"]))
    for title in ("backend", "variant", "kernel", "total", "speed-up", "check"):
        check(f"'{title}' is essential", title in narrow, narrow)
    check("120 columns show more than 80", len(narrow.split()) < len(wide.split()) < len(full.split()), wide)
    check("no copies on processors", "h2d" not in wide and "h2d" in full, wide)
    check("no place and no speed-up of one row", not {"place", "speed-up"} & set(titles(on_terminal(sort, 200)).split()))
    check("no place of two rows", "place" not in titles(on_terminal(convolve, 300)).split())
    three = on_terminal(["sort", "-b", "serial", "--variant=radix,naive,bitonic", "--size=64", *QUICK], 300)
    check("a place of three, unless a row is noisy", ("place" in titles(three)) == (" of 3 rows " not in three), three)
    for words in COMMANDS:
        all_of_them = [titles(text).split() for text in (on_terminal([*words, "--wide"], 40), redirected([*words, "--wide"]))]
        check(f"all of {words[0]} with --wide", all_of_them[0] and all_of_them[0] == all_of_them[1], str(all_of_them))
    run = f"{os.environ['FLYNN_SOURCE']}/tests/data/saved/compare.json"  # its numbers are the same each time
    for words in (["compare", f"--against={run}", run], ["list"], ["list", "--long", "--columns=operation,variant"]):
        alike = [titles(text).split() for text in (on_terminal(words, 100), redirected(words))]
        check(f"{words[0]} redirected is as on a terminal of 100", alike[0] and alike[0] == alike[1], str(alike))
        for width in (40, 80):
            text = on_terminal(words, width)
            long = [line for line in text.splitlines() if len(line.rstrip()) > width and " " in line.strip()]
            check(f"{words[0]} at {width}", titles(text) and not long, "\n".join(long))
    check("with --wide there are more", len(titles(redirected(convolve)).split()) < len(full.split()))
    narrowest = titles(on_terminal(convolve, 40)).split()
    sizes = titles(on_terminal(["sweep", "sort", "-b", "serial", "--variant=radix", "--size=100,200", *QUICK], 40)).split()
    check("40 columns keep what differs", "size" in sizes and "variant" not in sizes, str(sizes))
    for words, legend in (([], "speed-up: kernel of the scalar backend"), (["--wide"], "speed-up, with copies: kernel and total of"),
                          (["--columns=relative"], "relative: total over"), (["--columns=kernel"], "")):
        text = redirected(["compare", "sort", "--size=100", "-b", "serial,simd", "--columns=backend,speed-up" if not words else "--quiet", *QUICK, *words])
        line = next((line for line in text.splitlines() if re.match("(speed-up|with copies|relative).*:", line)), "")
        check(f"only columns that are there are explained: {words}", line.startswith(legend) and bool(line) == bool(legend), text)
    check("40 columns keep what counts", narrowest[0] == "backend" and {"kernel", "check"} < set(narrowest), str(narrowest))
    batch = next(words for words in COMMANDS if words[0] == "batch")
    runs = titles(on_terminal(batch, 40)).split()
    check("and the check of a batch", {"wall", "check"} < set(runs), str(runs))
    for command in ("doctor", "list", "info"):
        for where, more in (("six backends that can run", six_backends()), ("those of this build", {})):
            told = on_terminal([command], 80, more).splitlines()
            check(f"{command} fits a screen, {where}", len(told) <= 24 and max(map(len, told)) <= 80, "\n".join(told))
            if more and command == "info":
                can = [line.split(":")[0] for line in told if re.match("[a-z-]+: can run here", line)]
                check("there are six", sorted(can) == ["hip-amd", "hip-cpu", "hip-nvidia", "omp", "serial", "simd"], "\n".join(told))
    wide = [line for line in redirected(["--help"]).splitlines() if len(line) > 80]
    check("flynn --help fits 80 columns", not wide, "\n".join(wide))
    can = ["can run here" in line for line in told if re.match("[a-z-]+: can(not)? run here", line)]
    check("good news first", can == sorted(can, reverse=True) and can[0] and "can run here" in told[1], "\n".join(told))
    picked = ["--columns=backend,kernel,place"]
    for text in (on_terminal([*convolve, *picked], 80), redirected([*convolve, *picked])):
        check("those that are named", titles(text).split() == ["backend", "kernel", "place"], text)
    on_terminal([*convolve, "--columns=colour"], 80)
    told = open("err", encoding="utf-8").read()
    check("a column that is none", "'colour' is no column here; expected backend, class" in told, told)
    check("the fastest is coloured", len(re.findall(r"\x1b\[32m(?:serial|simd)", on_terminal(convolve, 80))) == 1)
    for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        check(f"no colour with {more}", not COLOUR.search(on_terminal(convolve, 80, more)))
    check("none when redirected", not COLOUR.search(redirected(convolve)))
    check("COLUMNS", titles(on_terminal(convolve, 80, {"COLUMNS": "300"})).split() == titles(on_terminal(convolve, 300)).split())
    wrong = on_terminal(["convolve", "-b", "wrong", "--size=64", *QUICK], 80, {"FLYNN_PLUGIN_PATH": f"{FAULTS}/wrong"})
    check("a wrong result is red", re.search(r"\x1b\[31mWRONG", wrong), wrong)
    wrong = on_terminal(["batch", "-b", "one-wrong", *batch[3:]], 80, {"FLYNN_PLUGIN_PATH": f"{FAULTS}/one-wrong", "FAULT_PLACE": "reconstruct.y:first"})
    check("and one of a batch", re.search(r"\x1b\[31m(WRONG|\d failed)", wrong), wrong)
    for words in (["sort", "--json=sort.json"], ["convolve", "--json=convolve.json"]):
        redirected([*words, "-b", "serial", "--size=20", *QUICK])
    batch = ["batch", SLICE, "-b", "serial", "--keep=2", "--output-dir=out"]
    redirected(batch)
    for words, line in ((["compare", "--against=sort.json", "convolve.json"], "only in the newer run: convolve on serial"),
                        ([*batch, "--resume"], "1 of 1 outputs existed already")):
        for text in (on_terminal(words, 80), redirected(words)):
            check(f"a table without rows: {' '.join(words)}", line in text and "\n\n\n" not in text, text)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


with tempfile.TemporaryDirectory(prefix="flynn-tables.") as folder:
    os.chdir(folder)
    main()
