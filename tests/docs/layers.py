# SPDX-License-Identifier: MIT
"""The sources keep the project's order: includes run down, files are short, nothing is said twice.

- A room of apps includes itself and rooms of a lower level, which apps/ROOMS.md gives; rooms of one level do not include each other.
- Of core/src/text the other folders of core include text.h alone.
- A folder of backends includes itself, what BACKENDS names for it, and public headers; by the path from its own folder.
- The folders in VENDORS alone include a vendor's headers, and backends/simt names nothing of a vendor or of backends/hip.
- Following the includes of a header and of the .c file of its name leads back to none, and so does following those of the files of a
  folder of core or backends. Nor do the functions and data that files of core and apps use of each other, in the object files of a build.
- Each file that a comment can stand in begins with the licence, but for data (DATA), and kernels whose lines pages name.
- Each source file begins with what it is for, unless a header of its name does, and with its own name if with one.
- No source file is longer than LINES, apart from LONG; a room has at most ROOM_LINES lines and ROOM_FILES files, apart from LARGE. A
  room is a folder of apps with what is below it, or the files of one folder of core or backends.
- Apps print to stdout with text_print, which shows control characters; FIXED have only texts of their own.
- No two places in apps, core, backends, plugins and tests have the same REPEATED lines, blank ones, comments, includes and lone braces
  not counted.

Prints the lines of each room, too: to read, not to fail. For ctest: FLYNN_SOURCE names the source folder, FLYNN_BUILD the build's.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["FLYNN_SOURCE"])
BUILD = pathlib.Path(os.environ["FLYNN_BUILD"])
OBJECTS = ("core/CMakeFiles/flynn.dir", "core/CMakeFiles/flynn-dist.dir", "core/CMakeFiles/flynn-bench.dir", "apps/CMakeFiles/flynn_apps.dir")
LINES, REPEATED, ROOM_LINES, ROOM_FILES = 500, 10, 4000, 30
LONG = {"core/include/flynn/flynn.h", "backends/hip/gpu/gpu.h"}
LARGE = {  # and why no part of it is a room of its own
    "backends/cpu": "two or three files for each of twenty operations, none of which lies below another",
    "backends/hip": "two or three files for each of twenty operations, none of which lies below another",
}
FIXED = {"apps/options/help.c", "apps/support/print.c", "apps/main.c", "apps/options/options.c"}
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".py", ".sh", ".css", ".html", ".txt", ".cmake"}
PURPOSE = 15  # words
LICENCE = "SPDX-License-Identifier: MIT"
PLAIN = {".md", ".ipynb", ".json", ".svg", ".png", ".npy", ".tsv"}  # documents, data and pictures
DATA = re.compile(r"LICENSE|docs/kernels/\w+\.hip|tests/(data|fuzz/corpus|operations/\w+/golden)/.*")
OUTPUTS = re.compile(r"build.*|out|__pycache__|\.(?!ci$|github$).*")  # and folders of editors and the like
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
C_SUFFIXES = {".c", ".h", ".cpp", ".hpp"}
GIVEN = re.compile(r'^\s*#\s*define\s+\w+\s+"([^"]+\.h)"', re.MULTILINE)  # to a header that includes the macro, as sorted_dtypes.h does

# The folders of backends, and what each includes besides itself: folders, or single headers. Of backends/cpu hip takes the SVD of small
# matrices and, where the processor emulates the GPU, its BLAS in place of a vendor's.
BACKENDS = {
    "shared": (),
    "cpu": ("shared",),
    "simt": ("shared",),
    "hip/gpu": ("shared", "simt", "cpu/blas.h"),
    "hip": ("shared", "simt", "hip/gpu", "cpu/host_svd.h", "cpu/lapack.h"),
}
# The folders that include vendors' headers, and why.
VENDORS = {
    "backends/hip/gpu": "the kernels are written in HIP, for which these headers have CUDA's names, HIP's or the emulation's",
    "tests/amd": "stands in for AMD's runtime and libraries, by the types of HIP's headers",
}
VENDOR_HEADER = re.compile(r"(hip|hsa|roc|rccl|amd|cuda|cub|cufft|cusolver|cusparse|curand|cupti|cuComplex|nccl|nv|thrust|mma|cooperative_groups)[^./]*[./]")
ANY_INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"])([^>\"]+)", re.MULTILINE)
VENDOR_NAME = re.compile(r"\b(hip|cuda|roc)\w*", re.IGNORECASE)


def sources(*folders):
    return sorted(path for folder in folders for path in (SOURCE / folder).rglob("*")
                  if path.suffix in SUFFIXES and path.is_file())


def c_sources(*folders):
    return [path for path in sources(*folders) if path.suffix in C_SUFFIXES]


def included_by(path):
    text = path.read_text(encoding="utf-8")
    return INCLUDE.findall(text) + GIVEN.findall(text)


def name(path):
    return str(path.relative_to(SOURCE))


def table_of_rooms():
    """(level, room, what it is for) of each, from apps/ROOMS.md."""
    return re.findall(r"^\| (\d+) \| (\w+) \| (.+) \|$", (SOURCE / "apps/ROOMS.md").read_text(encoding="utf-8"), re.MULTILINE)


def levels():
    return {room: int(level) for level, room, _ in table_of_rooms()}


def rooms():
    level = levels()
    for _, room, purpose in table_of_rooms():
        if len(purpose.split()) > PURPOSE:
            yield f"apps/ROOMS.md: what '{room}' is for has {len(purpose.split())} words, and may have {PURPOSE}"
    folders = {path.name for path in (SOURCE / "apps").iterdir() if path.is_dir() and any(path.iterdir())}
    for room in sorted(folders ^ set(level)):
        yield f"apps/ROOMS.md has no line for the room '{room}'" if room in folders else f"apps/ROOMS.md: there is no room '{room}'"
    for path in sources("apps"):
        parts = path.relative_to(SOURCE / "apps").parts
        if len(parts) == 1 or parts[0] not in level:
            continue  # main.c may include everything
        room = parts[0]
        for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
            inside = os.path.normpath(path.parent / included if included.startswith("..") else SOURCE / "apps" / included)
            other = pathlib.Path(inside).relative_to(SOURCE / "apps").parts[0] if "/" in included else room
            if other != room and other in level and level[other] >= level[room]:
                yield f"{name(path)} includes {included}: '{other}' is not below '{room}'"


def text_header():
    """The other folders of core see the reader of the user's functions through one header."""
    for path in sources("core"):
        if SOURCE / "core/src/text" in path.parents:
            continue
        for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if included.startswith("text/") and included != "text/text.h":
                yield f"{name(path)} includes {included}; text/text.h has what other folders may use"


def folder_of_backends(path):
    """The entry of BACKENDS that the file is in; None: it is in no folder of backends."""
    inside = os.path.relpath(path, SOURCE / "backends")
    return max((folder for folder in BACKENDS if inside.startswith(folder + "/")), key=len, default=None)


def backends():
    for path in c_sources("backends"):
        folder = folder_of_backends(path)
        if folder is None:
            yield f"{name(path)}: its folder is not in BACKENDS, which says what it may include"
            continue
        for included in included_by(path):
            target = pathlib.Path(os.path.normpath(path.parent / included))
            other = folder_of_backends(target)
            if not target.is_file():
                yield f"{name(path)} includes {included}, which is not there: the path begins in the file's own folder"
            elif other != folder and not {other, os.path.relpath(target, SOURCE / "backends")} & set(BACKENDS[folder]):
                yield f"{name(path)} includes {included}, and backends/{folder} may include {', '.join(BACKENDS[folder]) or 'itself alone'}"


def vendors():
    for path in c_sources("apps", "core", "backends", "plugins", "tests"):
        if any(SOURCE / folder in path.parents for folder in VENDORS):
            continue
        for mark, included in ANY_INCLUDE.findall(path.read_text(encoding="utf-8")):
            if VENDOR_HEADER.match(included) and not (mark == '"' and (path.parent / included).is_file()):
                yield f"{name(path)} includes {included}, a vendor's header, as only {' and '.join(VENDORS)} do"
    for path in c_sources("backends/simt"):
        for number, line in code_lines(path):
            for named in VENDOR_NAME.finditer(line):
                yield f"{name(path)}:{number} names {named[0]}: the emulated GPU knows no vendor"


def module_of(path):
    """device.h, device.hpp and device.hip.cpp are parts of one module."""
    return path.with_name(path.name.split(".")[0])


def circles_in(below):
    """Each set of paths that lead to each other, by whatever way: below[path] are those that a path leads to."""
    reached = {one: set(below[one]) for one in list(below)}
    grows = True
    while grows:
        grows = False
        for units in reached.values():
            more = set().union(*(reached.get(one, set()) for one in units))
            grows = grows or not more <= units
            units |= more
    return sorted({tuple(sorted(other for other in units if one in reached.get(other, ()) and other in reached[one]))
                   for one, units in reached.items() if any(one in reached.get(other, ()) for other in units - {one})})


def circles_of(folder, unit):
    """Each set of units, which are `unit` of a path, that include each other."""
    below = collections.defaultdict(set)
    for path in sources(name(folder)):
        for included in included_by(path):
            for target in ((path.parent / included).resolve(), (folder / included).resolve()):
                if target.exists() and folder.resolve() in target.parents:
                    below[unit(path)].add(unit(target))
                    break
    for circle in circles_in(below):
        yield f"{name(folder)}: {', '.join(str(unit.relative_to(folder)) for unit in circle)} include each other in a circle"


def circles():
    """A header and the .c file of its name are one module. The folders of apps are seen to by rooms()."""
    for folder in ("core/src", "core/dist", "core/bench", "apps", "backends"):
        yield from circles_of(SOURCE / folder, module_of)
    for folder in ("core/src", "core/dist", "core/bench", "backends"):
        yield from circles_of(SOURCE / folder, lambda path: path.parent)


def symbols_of(folder):
    """(source, kind, symbol) of each symbol of the object files in the build's `folder`, which names its sources' paths. An object
    file may be left of a source that is gone."""
    objects = BUILD / folder
    own = SOURCE / folder.split("/CMakeFiles")[0]
    files = [path for path in objects.rglob("*.o") if (own / path.relative_to(objects).with_suffix("")).is_file()]
    listed = subprocess.run(["nm", "-A", "-P", *files], check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        path, rest = line.split(": ", 1)
        symbol, kind = rest.split()[:2]
        yield (own / pathlib.Path(path).relative_to(objects)).with_suffix(""), kind, symbol


def symbols():
    """Functions and data that files use of each other, whichever header declares them, and those that folders do."""
    for folder in OBJECTS:
        found = list(symbols_of(folder))
        assert found, f"no object file of a source is in {folder}"
        where = {symbol: path for path, kind, symbol in found if kind in "TDBRVWC"}
        uses = {(path, where[symbol]) for path, kind, symbol in found if kind == "U" and symbol in where}
        for unit in (module_of, lambda path: path.parent):
            below = collections.defaultdict(set)
            for path, used in uses:
                if unit(path) != unit(used):
                    below[unit(path)].add(unit(used))
            for circle in circles_in(below):
                yield f"{', '.join(map(name, circle))} use each other in a circle"


def room_of(path):
    """The room of a source file; None: it is in none."""
    parts = path.relative_to(SOURCE).parts
    if parts[0] in ("core", "backends"):
        return name(path.parent)
    return "/".join(parts[:2]) if parts[0] == "apps" and len(parts) > 2 else None


def lengths():
    lines, files = collections.Counter(), collections.Counter()
    for path in sources("apps", "core", "backends", "plugins", "cmake"):
        length = len(path.read_text(encoding="utf-8").splitlines())
        lines[room_of(path)] += length
        files[room_of(path)] += 1
        if length > LINES and name(path) not in LONG:
            yield f"{name(path)}: {length} lines, {LINES} allowed"
    del lines[None]
    print("lines of rooms:", ", ".join(f"{room} {count}" for room, count in lines.most_common()))
    for room in sorted({*lines, *LARGE}):
        is_large = lines[room] > ROOM_LINES or files[room] > ROOM_FILES
        if is_large and room not in LARGE:
            yield f"{room}: {lines[room]} lines in {files[room]} files, {ROOM_LINES} in {ROOM_FILES} allowed"
        if room in LARGE and not is_large:
            yield f"{room}: {lines[room]} lines in {files[room]} files are allowed: LARGE need not name it"


def files(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not OUTPUTS.fullmatch(path.name):
            yield from files(path)
        elif path.is_file() and path.name != ".git":
            yield path


def licences():
    for path in files(SOURCE):
        if path.suffix in PLAIN or DATA.fullmatch(name(path)):
            continue
        if not any(LICENCE in line for line in path.read_text(encoding="utf-8").split("\n")[:3]):
            yield f"{name(path)} does not begin with '{LICENCE}'"


def purposes():
    """A first comment that says more than the licence."""
    for path in c_sources("apps", "core", "backends", "plugins"):
        first = re.match(r"/\*(.*?)\*/", path.read_text(encoding="utf-8"), re.DOTALL)
        header = path.suffix == ".c" and path.with_suffix(".h").exists()
        if not header and (not first or not first[1].replace(LICENCE, "").strip(" *\n")):
            yield f"{name(path)} does not begin with what it is for"
        named = first and re.search(r"^ \* ([\w.]+\.(?:c|h|cpp|hpp)) - ", first[1], re.MULTILINE)
        if named and named[1] != path.name:
            yield f"{name(path)} calls itself {named[1]}"


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
    for path in c_sources("apps", "core", "backends", "plugins", "tests"):
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
    checks = {"includes": rooms, "core's text": text_header, "backends": backends, "vendors": vendors, "circles": circles, "symbols": symbols, "lengths": lengths, "licences": licences,
              "purposes": purposes, "repeated lines": repeated, "printing": printing}
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
