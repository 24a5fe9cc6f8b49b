# SPDX-License-Identifier: MIT
"""quantities.py [--write]: whether docs/schema and docs/commands/output.md have the quantities of results and commands as
apps/view/fields.c describes them, which `flynn --quantities` lists, and docs/glossary.md the words that `flynn help
--glossary` lists: among these each column of each command. With --write the pages get what is listed.

For ctest: FLYNN names the command, FLYNN_SOURCE the source folder.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["FLYNN_SOURCE"])
SCHEMA = SOURCE / "docs/schema/flynn-2.schema.json"
PAGE = SOURCE / "docs/commands/output.md"
GLOSSARY = SOURCE / "docs/glossary.md"


def in_schema(quantities):
    """The numbers of each result itself; others, and texts, are described where the schema has them."""
    lines = []
    for q in quantities:
        if q["unit"] and "." not in q["key"] and not q["of_some"]:
            kind = {"type": "array", "items": {"type": "number", "minimum": 0}, "maxItems": 2} if q["interval"] else {
                "$ref": "#/$defs/seconds"} if q["unit"] == "s" else {
                "type": ["integer" if q["whole"] else "number", "null"], "minimum": 0}
            description = q["about"].replace("`", "")
            lines.append(f'        {json.dumps(q["key"])}: {json.dumps({"description": description, **kind})}')
    return ",\n".join(lines) + "\n"


def in_schema_of_commands(quantities):
    """Of each command the numbers that its rows have; an object's are in that object, and lists of samples are left out."""
    commands = {}
    for q in quantities:
        if q["unit"] and q["key"] != "times_s":
            *outer, key = q["key"].split(".")
            place = commands.setdefault(q["command"], {})
            for name in outer:
                place = place.setdefault(name, {"properties": {}})["properties"]
            kind = {"$ref": "#/$defs/seconds"} if q["unit"] == "s" else {"type": ["number", "null"]}
            place[key] = {"description": q["about"].replace("`", ""), **kind}
    parts = []
    for command, properties in commands.items():
        lines = ",\n".join(f"            {json.dumps(key)}: {json.dumps(what)}" for key, what in properties.items())
        parts.append(f'        {json.dumps(command)}: {{\n          "properties": {{\n{lines}\n          }}\n        }}')
    return ",\n".join(parts) + "\n"


def in_page_of_commands(quantities):
    return "| command | column | JSON key | meaning |\n|---|---|---|---|\n" + "".join(
        f'| `{q["command"]}` | {q["title"]} | `{q["key"]}` | {q["about"]} |\n' for q in quantities)


def in_page(quantities, with_title):
    head = "| column | JSON key | meaning |\n|---|---|---|\n" if with_title else "| JSON key | meaning |\n|---|---|\n"
    return head + "".join(("| " + q["title"] + " " if with_title else "") + f'| `{q["key"]}` | {q["about"]} |\n'
                          for q in quantities if bool(q["title"]) == with_title)


def flynn(*words):
    return subprocess.run([os.environ["FLYNN"], *words], check=True, capture_output=True, text=True).stdout


def in_glossary(lines):
    return "| word | meaning |\n|---|---|\n" + "".join(f"| {word} | {what} |\n" for word, what in lines)


def columns_without_word(words):
    """The columns that --columns of any command takes and the glossary lacks."""
    known, columns = {word.replace(" ", "-") for word, _ in words}, set()
    for command in re.findall(r"^(\w+)\t", flynn("help", "--words"), re.MULTILINE):
        columns |= set(re.findall(r"^--columns=(\S+)\t", flynn("help", "--words", command), re.MULTILINE))
    assert len(columns) > 100, columns
    return sorted(columns - known)


def main():
    listed = json.loads(flynn("--quantities"))["quantities"]
    quantities, of_commands = [q for q in listed if not q["command"]], [q for q in listed if q["command"]]
    assert len(quantities) > 20 and len(of_commands) > 50
    words = [line.split("\t") for line in flynn("help", "--glossary").splitlines()]
    missing = columns_without_word(words) + [q["title"] for q in listed if q["title"] and q["title"] not in dict(words)]
    for column in missing:
        print(f"apps/look/glossary.c has no word for the column '{column}'", file=sys.stderr)
    parts = [
        (SCHEMA, r'(    "quantities": \{\n.*?"properties": \{\n)(.*?)(      \}\n    \})', in_schema(quantities)),
        (SCHEMA, r'(    "of_commands": \{\n.*?"properties": \{\n)(.*?)(      \}\n    \})', in_schema_of_commands(of_commands)),
        (PAGE, r"(<!-- columns of commands[^\n]*-->\n)(.*?)(<!-- end -->\n)", in_page_of_commands(of_commands)),
        (PAGE, r"(<!-- columns of apps[^\n]*-->\n)(.*?)(<!-- end -->\n)", in_page(quantities, True)),
        (PAGE, r"(<!-- other [^\n]*-->\n)(.*?)(<!-- end -->\n)", in_page(quantities, False)),
        (GLOSSARY, r"(<!-- words [^\n]*-->\n)(.*?)(<!-- end -->\n)", in_glossary(words)),
    ]
    wrong = 0
    for path, pattern, wanted in parts:
        text = path.read_text(encoding="utf-8")
        found = re.search(pattern, text, re.DOTALL)
        assert found, f"{path.name} has no place for the quantities"
        if found[2] == wanted:
            continue
        if sys.argv[1:] == ["--write"]:
            path.write_text(text[:found.start(2)] + wanted + text[found.end(2):], encoding="utf-8")
            continue
        wrong += 1
        for line in sorted(set(found[2].splitlines()) ^ set(wanted.splitlines())):
            print(f"{path.name}: {'not of' if line in found[2] else 'lacks what is in'} what the command lists: {line}",
                  file=sys.stderr)
    print(f"{len(listed)} quantities and {len(words)} words, {len(missing)} columns without one; {wrong} of {len(parts)} places differ; "
          "tests/docs/quantities.py --write renews them")
    sys.exit(wrong > 0 or bool(missing))


if __name__ == "__main__":
    main()
