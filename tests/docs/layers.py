# SPDX-License-Identifier: MIT
"""The sources keep the project's order: includes run down, files are short, nothing is said twice.

- A room of apps includes itself and rooms below it (LEVELS); rooms of one level do not include each other.
- core/src has no circle: following the includes of a header and of the .c file of its name leads back to none.
- No source file is longer than LINES, apart from LONG; all of apps has at most APPS lines.
- Apps print to stdout with text_print, which shows control characters; FIXED have only texts of their own.
- No two places in apps, core, backends, plugins and tests have the same REPEATED lines, blank ones, comments, includes and lone braces
  not counted.

For ctest: FLYNN_SOURCE names the source folder.
"""
import collections
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ["FLYNN_SOURCE"])
# From the top. A room may include those of lower levels.
LEVELS = [
    ["report"],
    ["compare", "sweep", "laws", "taxonomy"],
    ["exercises", "batch"],
    ["checks", "slice", "look"],
    ["harness"],
    ["view"],
    ["files"],
    ["support"],
]
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
LINES, APPS, REPEATED = 500, 28247, 10
LONG = {"core/include/flynn/flynn.h", "backends/hip/gpu.h"}
FIXED = {"apps/support/help.c", "apps/support/text.c", "apps/main.c", "apps/support/options.c"}
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".py", ".sh", ".css", ".html", ".txt", ".cmake"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def sources(*folders):
    return sorted(path for folder in folders for path in (SOURCE / folder).rglob("*")
                  if path.suffix in SUFFIXES and path.is_file())


def name(path):
    return str(path.relative_to(SOURCE))


def rooms():
    for path in sources("apps"):
        parts = path.relative_to(SOURCE / "apps").parts
        if len(parts) == 1:
            continue  # main.c may include everything
        room = parts[0]
        if room not in LEVEL:
            yield f"{name(path)}: the room '{room}' has no level here"
            continue
        for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
            other = included.split("/")[0] if "/" in included else room
            if other == room or other not in LEVEL:
                continue
            if LEVEL[other] <= LEVEL[room]:
                yield f"{name(path)} includes {included}: '{other}' is not below '{room}'"


def circles():
    """In core a header and the .c file of its name are one module."""
    folder = SOURCE / "core/src"
    below = collections.defaultdict(set)
    for path in sources("core/src"):
        for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
            target = (path.parent / included).resolve()
            target = target if target.exists() else (folder / included).resolve()
            if target.exists() and folder.resolve() in target.parents:
                below[path.stem].add(target.stem)
    for module in below:
        below[module].discard(module)
    done, trail = set(), []

    def walk(module):
        if module in trail:
            found.add(tuple(trail[trail.index(module):]))
            return
        if module in done:
            return
        trail.append(module)
        for other in sorted(below[module]):
            walk(other)
        trail.pop()
        done.add(module)

    found = set()
    for module in sorted(below):
        walk(module)
    for circle in sorted(found):
        yield "core: " + " -> ".join([*circle, circle[0]])


def lengths():
    total = 0
    for path in sources("apps", "core", "backends", "plugins", "cmake"):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        total += lines if name(path).startswith("apps/") else 0
        if lines > LINES and name(path) not in LONG:
            yield f"{name(path)}: {lines} lines, {LINES} allowed"
    if total > APPS:
        yield f"apps: {total} lines, {APPS} allowed"


def code_lines(path):
    """(line number, text without spaces at its ends), without what counts as no code."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r"//.*", "", line).strip()
        if line and line not in ("{", "}", "};") and not line.startswith("#include"):
            yield number, line


def repeated():
    """Each pair of places once: the next line of a place that goes on is not another place."""
    seen, before = {}, None
    for path in sources("apps", "core", "backends", "plugins", "tests"):
        if path.suffix not in (".c", ".h", ".cpp", ".hpp"):
            continue
        lines = list(code_lines(path))
        for i in range(len(lines) - REPEATED + 1):
            key = tuple(text for _, text in lines[i:i + REPEATED])
            first = seen.setdefault(key, (path, lines[i][0], i))
            if first[0] == path and first[2] == i:
                continue
            goes_on = before == (first[0], first[2] - 1, path, i - 1)
            before = (first[0], first[2], path, i)
            if not goes_on:
                yield f"{name(path)}:{lines[i][0]} repeats {REPEATED} lines of {name(first[0])}:{first[1]}"


def printing():
    for path in sources("apps"):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if re.search(r"(?<!\w)(v?printf|puts|putchar)\(|(fprintf|fputs|fwrite)\(.*\bstdout\b", line) and name(path) not in FIXED:
                yield f"{name(path)}:{number} prints to stdout without text_print"


def main():
    checks = {"includes": rooms, "circles": circles, "lengths": lengths, "repeated lines": repeated, "printing": printing}
    count = len(sources("apps", "core", "backends"))
    assert count > 100, f"only {count} sources were found"
    failed = False
    for title, check in checks.items():
        found = list(check())
        for problem in found:
            print(problem, file=sys.stderr)
        print(f"{title}: {len(found)} problems")
        failed = failed or bool(found)
    sys.exit(failed)


if __name__ == "__main__":
    main()
