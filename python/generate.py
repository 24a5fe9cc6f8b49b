# SPDX-License-Identifier: MIT
"""Writes python/flynn/_c.py, Flynn's C interface for ctypes, from its headers.

    python3 python/generate.py core/include/flynn/flynn.h core/include/flynn/bench.h > python/flynn/_c.py

Reads constants, enums, structs and functions. A declaration that it cannot read ends it with an error, so that nothing is
left out silently. Functions of a header go to the library that has its name: flynn.h to LIBRARY, bench.h to BENCH. Inline
functions are left out: a program in another language calls those named ..._sized.
"""
import pathlib
import re
import sys

NUMBERS = {"int": "c_int", "bool": "c_bool", "double": "c_double", "size_t": "c_size_t", "char": "c_char", "int32_t": "c_int32",
           "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64"}
CONDITIONS = {"#ifndef FLYNN_H": True, "#ifndef FLYNN_BENCH_H": True, "#ifdef __cplusplus": False,
              "#if defined(__GNUC__) || defined(__clang__)": True}
HEAD = '''# SPDX-License-Identifier: MIT
"""The C interface of Flynn. Made by python/generate.py from {headers}: change those instead."""
from __future__ import annotations

from ctypes import *  # noqa: F403
from typing import Any

from ._library import BENCH, LIBRARY


def _function(library: Any, name: str, result: Any, *arguments: Any) -> Any:
    function = library[name]
    function.restype, function.argtypes = result, arguments
    return function

'''


class Unreadable(Exception):
    pass


def lines_of(text):
    """The lines that a C compiler gets, without comments; #define as a line of its own."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL).replace("\\\n", " ")
    taken = [True]
    for line in text.split("\n"):
        words = " ".join(line.split())
        if re.match(r"#if", words):
            if words not in CONDITIONS:
                raise Unreadable(words)
            taken.append(taken[-1] and CONDITIONS[words])
        elif words == "#else":
            taken[-1] = taken[-2] and not taken[-1]
        elif words == "#endif":
            taken.pop()
        elif taken[-1] and words and not words.startswith("#include"):
            yield words


def statements(text):
    """Declarations up to their `;` or closing brace, and definitions of macros."""
    found, depth = "", 0
    for line in lines_of(text):
        if line.startswith("#"):
            yield line
            continue
        found += " " + line
        depth += line.count("{") - line.count("}")
        if depth == 0 and (line.endswith(";") or (line == "}" and "inline" in found)):
            yield found.strip()
            found = ""
    if found:
        raise Unreadable(found)


ANONYMOUS = "one_of"  # the member of a struct that is a union without a name


class Header:
    """What headers declare, as lines of Python."""

    def __init__(self):
        self.lines, self.enums, self.opaque, self.structs, self.functions = [], set(), set(), set(), []

    def of_type(self, words, pointers):
        """The ctypes name of a C type: its words without const, and the number of stars behind it."""
        name = words.replace("const ", "").replace("struct ", "").strip()
        if name in self.enums:
            base = "c_int"
        elif name in NUMBERS:
            base = NUMBERS[name]
        elif name in self.structs:
            base = name
        elif pointers and (name in self.opaque or name == "void"):
            base, pointers = "c_void_p", pointers - 1
        else:
            raise Unreadable(f"the type {words!r}")
        if base == "c_char" and pointers:
            base, pointers = "c_char_p", pointers - 1
        return "POINTER(" * pointers + base + ")" * pointers

    def callback(self, result, arguments):
        return f"CFUNCTYPE({', '.join([self.result(result), *self.arguments(arguments)])})"

    def result(self, words):
        return "None" if words.strip() == "void" else self.of_type(words.replace("*", ""), words.count("*"))

    def arguments(self, text):
        """The types of a function's arguments."""
        if text.strip() == "void":
            return []
        types = []
        for one in re.split(r",\s*(?![^()]*\))", text):
            pointer = re.fullmatch(r"(.+?)\(\*\w+\)\((.*)\)", one.strip())
            plain = re.fullmatch(r"((?:const |struct )*\w+)([\s*]|const\b)*\b(\w+)(\[\d+\])?", one.strip())
            if pointer:
                types.append(self.callback(*pointer.groups()))
            elif plain:
                types.append(self.of_type(plain[1], one.count("*") + bool(plain[4])))
            else:
                raise Unreadable(f"the argument {one!r}")
        return types

    def members(self, struct, body):
        """(name, type) of each member; a struct without a name becomes one of its own."""
        inner = re.search(r"struct \{([^{}]*)\} (\w+)\[(\w+)\];", body)
        if inner:
            name = f"{struct}_{inner[2]}"
            self.struct(name, inner[1])
            body = body.replace(inner[0], f"{name} {inner[2]}[{inner[3]}];")
        choice = re.search(r"union \{([^{}]*)\};", body)
        if choice:  # its members are the struct's
            self.struct(f"{struct}_union", choice[1].replace(f"struct {struct} ", "void "), "Union")
            body = body.replace(choice[0], f"{struct}_union {ANONYMOUS};")
        for one in filter(None, map(str.strip, body.split(";"))):
            pointer = re.fullmatch(r"(.+?)\(\*(\w+)\)\((.*)\)", one)
            if pointer:
                yield pointer[2], self.callback(pointer[1], pointer[3])
                continue
            match = re.fullmatch(r"((?:const |struct )*\w+)\s+(.+)", one)
            if not match:
                raise Unreadable(f"the member {one!r} of {struct}")
            for declared in match[2].split(","):
                plain = re.fullmatch(r"\s*(\**)(\w+)((?:\[\w+\])*)\s*", declared)
                if not plain:
                    raise Unreadable(f"the member {one!r} of {struct}")
                kind = self.of_type(match[1], len(plain[1]))
                for size in reversed(re.findall(r"\[(\w+)\]", plain[3])):
                    kind += f" * {size}"
                yield plain[2], kind

    def struct(self, name, body, kind="Structure"):
        members = list(self.members(name, body))
        self.structs.add(name)
        self.lines += ["", "", f"class {name}({kind}):"]
        self.lines += [f'    _anonymous_ = ("{ANONYMOUS}",)'] if ANONYMOUS in [member for member, _ in members] else []
        self.lines += ["    _fields_ = ["]
        self.lines += [f'        ("{member}", {kind}),' for member, kind in members] + ["    ]", "", ""]

    def enum(self, name, body):
        self.enums.add(name)
        self.lines += ["", f"# {name}"]
        for one in filter(None, map(str.strip, body.split(","))):
            match = re.fullmatch(r"(\w+) = (-?\d+)", one)
            if not match:
                raise Unreadable(f"{one!r} of {name}: each enumerator has its number")
            self.lines.append(f"{match[1]} = {match[2]}")

    def define(self, line):
        match = re.fullmatch(r"#define (\w+)(\(.*?\))? ?(.*)", line)
        if match[2] or match[1] == "FL_API" or not match[3]:
            return
        value = re.sub(r"INT64_C\((\d+)\)", r"\1", match[3])
        if not re.fullmatch(r"[\d\s()<-]+", value):
            raise Unreadable(line)
        self.lines.append(f"{match[1]} = {value}")

    def read(self, text, library):
        self.lines.append("")
        for one in statements(text):
            enum = re.fullmatch(r"typedef enum (\w+) \{(.*)\} \1;", one)
            struct = re.fullmatch(r"typedef struct (\w+) \{(.*)\} \1;", one)
            opaque = re.fullmatch(r"(?:typedef )?struct (\w+)(?: \1)?;", one)
            function = re.fullmatch(r"FL_API (.+?)\b(fl_\w+)\((.*)\);", one)
            if one.startswith("#define "):
                self.define(one)
            elif enum:
                self.enum(*enum.groups())
            elif struct:
                self.struct(*struct.groups())
            elif opaque:
                self.opaque.add(opaque[1])
            elif function:
                types = [self.result(function[1]), *self.arguments(function[3])]
                self.functions.append(f'{function[2]} = _function({library}, "{function[2]}", {", ".join(types)})')
            elif not re.match(r"static inline |FL_BENCH_WHOLE\(", one):
                raise Unreadable(one)


def main():
    paths = [pathlib.Path(name) for name in sys.argv[1:]]
    if not paths:
        sys.exit(__doc__)
    header = Header()
    for path in paths:
        try:
            header.read(path.read_text(encoding="utf-8"), "LIBRARY" if path.stem == "flynn" else "BENCH")
        except Unreadable as error:
            sys.exit(f"generate.py: {path.name}: cannot read {error}")
    print(HEAD.format(headers=" and ".join(path.name for path in paths)), end="")
    print(re.sub(r"\n{4,}", "\n\n\n", "\n".join(header.lines + ["", ""] + header.functions)))


if __name__ == "__main__":
    main()
