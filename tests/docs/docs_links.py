# SPDX-License-Identifier: MIT
"""The documentation hangs together: every relative link in README.md, BENCHMARKS.md and docs/, notebooks too, leads to something that is there
and its #part to a heading, every page of an exercise is in the index, and every command of `flynn --help` that is an exercise has a page.
In docs/README.md each way through the pages has at most LINKS links, and the list below the ways leads to every page of docs.
Every file in docs/images is on a page, which has the command that draws a .png (`make pictures`); each .svg has colours for a dark screen.
CHANGELOG.md and CITATION.cff are of this version, with one date or none. Actions in workflows are named by a commit, with the
release in a comment.

docs_links.py PREFIX: the pages that an installation has in PREFIX/share/doc/flynn, whose links lead to files of the installation.

For ctest: FLYNN_SOURCE and FLYNN name the source folder and the command.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

INSTALLED = sys.argv[1:]
SOURCE = pathlib.Path(INSTALLED[0] if INSTALLED else os.environ["FLYNN_SOURCE"])
PAGES = SOURCE / "docs" / "exercises"
LINKS = 6
# Commands that are not exercises: they show machines and backends, or run exercises together.
OTHERS = {"info", "list", "show", "doctor", "compare", "sweep", "ceiling", "taxonomy", "laws", "report", "help"}

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def text_of(page):
    """Of a notebook the Markdown."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


def links(page):
    return links_of(text_of(page))


def links_of(text):
    """Targets of the links in a page's text; what is indented as code, fenced or in backquotes shows none."""
    text = FENCE.sub("", text)
    text = "\n".join(line for line in text.split("\n") if not line.startswith("    "))
    return LINK.findall(re.sub(r"(?<!\[)`[^`\n]*`(?!\])", "", text))


def headings(page):
    """The parts that a link to the page may name, as GitHub makes them of headings."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    titles = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(page):
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, part = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if part and path.suffix == ".md" and path.exists() and part not in headings(path):
            yield f"{page.relative_to(SOURCE)}: {target}: the page has no such heading"
        if not path.exists():
            yield f"{page.relative_to(SOURCE)}: {target} is not there"
        elif SOURCE.resolve() not in path.parents:
            yield f"{page.relative_to(SOURCE)}: {target} is outside the project"


def commands():
    help_text = subprocess.run([os.environ["FLYNN"], "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  (\w+) {1,}\S", help_text, re.MULTILINE)


def without_page(names):
    index = links(PAGES / "README.md")
    for name in names:
        if name in OTHERS:
            continue
        if not (PAGES / f"{name}.md").exists():
            yield f"flynn {name} has no page docs/exercises/{name}.md"
        elif f"{name}.md" not in index:
            yield f"docs/exercises/README.md does not list {name}.md"
    for page in PAGES.glob("*.md"):
        if page.name != "README.md" and page.name not in index:
            yield f"docs/exercises/README.md does not list {page.name}"


def ways(pages):
    """The ways of docs/README.md, and its list: a page is on it, or on the README.md of its folder, which is."""
    index = SOURCE / "docs" / "README.md"
    parts = re.split(r"^## ", text_of(index), flags=re.MULTILINE)[1:]
    assert len(parts) == 5 and parts[-1].startswith("All pages"), "docs/README.md: four ways and the list of all pages were not found"
    for part in parts[:-1]:
        if len(links_of(part)) > LINKS:
            yield f"docs/README.md: '{part.splitlines()[0]}' has {len(links_of(part))} links, {LINKS} allowed"
    listed = {index} | {(index.parent / target.partition("#")[0]).resolve() for target in links_of(parts[-1])}
    for folder in [page for page in listed if page.name == "README.md" and page != index]:
        listed |= {(folder.parent / target.partition("#")[0]).resolve() for target in links(folder)}
    for page in pages:
        if index.parent in page.parents and page.resolve() not in listed:
            yield f"docs/README.md does not list {page.relative_to(SOURCE)}"


def pictures(pages):
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    for picture in (SOURCE / "docs" / "images").iterdir():
        if f"images/{picture.name})" not in text:
            yield f"no page shows docs/images/{picture.name}"
        elif picture.suffix == ".png" and not re.search(rf"--(png|screenshot)={re.escape(picture.name)}\b", text):
            yield f"docs/images/{picture.name}: its page has no command that draws it (--png={picture.name})"
        elif picture.suffix == ".svg" and not re.search(r"prefers-color-scheme: ?dark", picture.read_text(encoding="utf-8")):
            yield f"docs/images/{picture.name} has no colours for a dark screen"


def first(pattern, file):
    """The groups of the first line of the file that begins so; else None."""
    found = re.search(rf"^{pattern}", (SOURCE / file).read_text(encoding="utf-8"), re.MULTILINE)
    return found.groups() if found else None


def versions():
    shown = subprocess.run([os.environ["FLYNN"], "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    version, date = first(r"## (\S+) - (\d{4}-\d\d-\d\d|unreleased)$", "CHANGELOG.md") or ("no section", "unreleased")
    cited, = first(r"version: (\S+)$", "CITATION.cff") or ("no version",)
    released, = first(r"date-released: (\S+)$", "CITATION.cff") or ("unreleased",)
    if version != shown:
        yield f"CHANGELOG.md begins with {version}; this is {shown}"
    if cited != shown:
        yield f"CITATION.cff has {cited}; this is {shown}"
    if released != date:
        yield f"CITATION.cff is {released}, CHANGELOG.md {date}"


def unpinned():
    for workflow in (SOURCE / ".github" / "workflows").glob("*.yml"):
        uses = re.findall(r"^.*\buses:.*$", workflow.read_text(encoding="utf-8"), re.MULTILINE)
        assert uses, f"{workflow.name} uses no action"
        for line in uses:
            if not re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+(\.\d+)*$", line):
                yield f"{workflow.name}: {line.strip()} names no commit and its release"


def installed():
    pages = sorted((SOURCE / "share/doc/flynn").rglob("*.md")) + sorted((SOURCE / "share/doc/flynn/docs/notebooks").glob("*.ipynb"))
    assert len(pages) > 20, pages
    found = [problem for page in pages for problem in broken(page)]
    print(*found, sep="\n", file=sys.stderr)
    print(f"{len(pages)} installed pages: {len(found)} problems")
    return 1 if found else 0


def main():
    if INSTALLED:
        sys.exit(installed())
    pages = sorted({*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md"), *(SOURCE / "docs" / "notebooks").glob("*.ipynb")})
    names = commands()
    assert len(pages) >= 5 and len(names) >= 3 and "convolve" in names, "the pages or the commands were not found"
    found = [problem for page in pages for problem in broken(page)]
    found += [*without_page(names), *ways(pages), *pictures(pages), *versions(), *unpinned()]
    for problem in sorted(set(found)):
        print(problem, file=sys.stderr)
    print(f"{len(pages)} pages, {sum(len(links(p)) for p in pages)} links, {len(names)} commands: {len(found)} problems")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
