# SPDX-License-Identifier: MIT
"""abi.py KEPT HEADERS LIBRARY...: whether programs that were compiled with the kept headers (KEPT/flynn.h.txt ...) run
with the libraries of today, whose headers are in HEADERS (HEADERS/flynn/flynn.h ...):

  prototypes  each function of the kept headers has the same arguments and result today, and a library exports it
  layout      each member of a kept struct has the same place and size today; enums and macros have the same values;
              structs of a call, and those within other structs, have the same size, and others at least theirs

An older program passes 0 where its header has `reserved`, so that alone may get other members.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SAME_SIZE = {"fl_run", "fl_timing", "fl_argument", "fl_closeness", "fl_parameter", "fl_trace_mark", "fl_rows",
             "fl_group_timing"}
VERSIONED = r"FL_VERSION_\w+|FL_API"  # macros that may change


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def prototypes(text):
    text = re.sub(r"^#.*?(?<!\\)$", "", without_comments(text), flags=re.MULTILINE | re.DOTALL)
    return [" ".join(found.split()) for found in re.findall(r"FL_API ([^;{]*\([^;{]*\));", text)]


def inline_functions(text):
    return re.findall(r"static inline [^;{(]*?(\w+)\(", without_comments(text))


def structs(text):
    """(name, names of the members) of each."""
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)^\} \1;", without_comments(text), re.DOTALL | re.MULTILINE):
        body = re.sub(r"\{.*?\}", "", body, flags=re.DOTALL)  # the inner struct of fl_probe.isa
        members = []
        for declaration in body.split(";"):
            for one in [declaration] if "(*" in declaration else declaration.split(","):
                found = re.search(r"\(\*(\w+)\)|(\w+)\s*(?:\[[^\]]*\])*\s*$", one.split("(")[0] if "(*" not in one else one)
                if found:
                    members.append(found[1] or found[2])
        yield name, members


def constants(text):
    text = without_comments(text)
    for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text, re.DOTALL):
        yield from re.findall(r"\b(FL_\w+)\s*=", body)
    for name in re.findall(r"^#define (FL_\w+) \S", text, re.MULTILINE):
        if not re.fullmatch(VERSIONED, name):
            yield name


def compiler(*arguments):
    return subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", *arguments], capture_output=True, text=True)


def layout(text, names, include, folder):
    """{what: values} of the kept text's structs and constants, as a compiler has them with the headers in `include`."""
    lines = [f"#include <flynn/{name}>" for name in names] + ["#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    for struct, members in structs(text):
        lines.append(f'printf("{struct} %zu\\n", sizeof({struct}));')
        for member in members:
            if member != "reserved":
                lines.append(f'printf("{struct}.{member} %zu %zu\\n", offsetof({struct}, {member}), '
                             f'sizeof((({struct} *)0)->{member}));')
    for name in constants(text):
        lines.append(f'printf("{name} %lld\\n", (long long){name});')
    source = folder / "layout.c"
    source.write_text("\n".join(lines + ["return 0; }"]), encoding="utf-8")
    done = compiler("-I", str(include), str(source), "-o", str(folder / "layout"))
    if done.returncode:
        return done.stderr
    shown = subprocess.run([str(folder / "layout")], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: [int(word) for word in line.split()[1:]] for line in shown.splitlines()}


def problems(kept, included, headers, exported, folder):
    """`kept`: {name: text}; `included`: those that they include, which are versioned by themselves. Each line is a change
    that breaks a program which was compiled with them."""
    old = folder / "kept"
    (old / "flynn").mkdir(parents=True, exist_ok=True)
    for name, header in {**included, **kept}.items():
        (old / "flynn" / name).write_text(header, encoding="utf-8")
    text = "\n".join(kept.values())

    source = folder / "prototypes.c"
    source.write_text("\n".join([f"#include <flynn/{name}>" for name in kept] +
                                [f"extern {found};" for found in prototypes(text)] +
                                [f"void *use_{name}(void);\nvoid *use_{name}(void) {{ return (void *)&{name}; }}"
                                 for name in inline_functions(text)]), encoding="utf-8")
    done = compiler("-I", str(headers), "-fsyntax-only", str(source))
    if done.returncode:
        yield from (line for line in done.stderr.splitlines() if "error:" in line)
    for found in prototypes(text):
        function = re.search(r"(\w+)\(", found)[1]
        if function not in exported:
            yield f"{function} is exported by no library, or without its version"

    before, now = (layout(text, kept, include, folder) for include in (old, headers))
    if isinstance(before, str) or isinstance(now, str):
        yield f"not compiled: {before if isinstance(before, str) else now}"
        return
    for what, values in before.items():
        grows = what in dict(structs(text)) and what not in SAME_SIZE
        if now.get(what) != values and not (grows and now[what] >= values):
            yield f"{what}: {values} became {now.get(what)}"


def main():
    kept_folder, headers = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    kept = {path.name[:-4]: path.read_text(encoding="utf-8") for path in sorted(kept_folder.glob("*.h.txt"), reverse=True)}
    included = {path.name[:-4]: path.read_text(encoding="utf-8") for path in kept_folder.glob("included/*.h.txt")}
    text = "\n".join(kept.values())
    counts = len(prototypes(text)), len(list(structs(text))), len(list(constants(text)))
    assert min(counts) > 10 and counts[0] > 80, f"the kept headers are not read: {counts}"
    shown = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", *sys.argv[3:]], check=True,
                           capture_output=True, text=True).stdout
    exported = set(re.findall(r" T (\w+)@@FLYNN_0$", shown, re.MULTILINE))

    # Each of these changes breaks a program, and must be found.
    stream, timing = "fl_stream *stream; ", "fl_timing *timing; "
    run = kept["flynn.h"]
    broken = {
        "members that changed places": run.replace(stream, "@").replace(timing, stream).replace("@", timing),
        "another type": run.replace("double open_s;", "float open_s;"),
        "another value": run.replace("FL_E_LIMIT = 6", "FL_E_LIMIT = 66"),
        "another argument": run.replace("fl_device_open(const char *resource,", "fl_device_open(char **resource,"),
        "a call's struct that grew": run.replace("void *reserved[4];", "void *reserved[3];"),
        "a function that is gone": run.replace("fl_device_open(", "fl_device_begin("),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for change, changed in broken.items():
            assert changed != run, f"nothing was changed: {change}"
            assert list(problems(dict(kept, **{"flynn.h": changed}), included, headers, exported, folder)), f"not noticed: {change}"
        found = list(problems(kept, included, headers, exported, folder))
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"abi: {counts[0]} functions, {counts[1]} structs, {counts[2]} constants; {len(found)} problems")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
