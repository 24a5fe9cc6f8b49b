# SPDX-License-Identifier: MIT
"""notebooks.py [--write | --form] NOTEBOOK...: the answers in docs/notebooks are right; `notebooks.py --self` tests this script.

A question is a Markdown cell that begins with `**Question N.**`. Below it are its room, an empty code cell with the tag `room`, and its answer, a Markdown
cell that folds (`<details><summary>Answer</summary>` ... `</details>`) with one fenced block of Python. Other tags: `raises-exception`, a cell that must fail;
`needs-cuda`, one that is left out without an NVIDIA GPU. A room may have them, too.

Each answer is put into its room, and the notebook is run, without a GPU. An error in a cell that is not tagged `raises-exception` fails, and none in one that
is. --form looks at the cells alone. --write runs the notebook on this machine, GPU included, and stores what its cells show, with empty rooms; its first
cell then names the machine. What is stored has no times of execution, no ids and no paths, so that the next run changes little.

For ctest: FLYNN_LIBRARY names libflynn. Exits with 77 where something is missing.
"""
import copy
import datetime
import json
import os
import pathlib
import platform
import re
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
QUESTION = re.compile(r"\*\*Question (\d+)\.\*\* ")
ANSWER = re.compile(r"<details><summary>Answer</summary>\n\n.*\n\n</details>", re.DOTALL)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUTS = re.compile(r"^Outputs: .*$", re.MULTILINE)
TAGS = {"room", "raises-exception", "needs-cuda"}
OF_ONE_MACHINE = re.compile(r"\b0x[0-9a-f]{6,}|(?<![\w.:])/(home|root|tmp|work)/")
# What editors and runs leave in a cell. Other metadata, such as nbgrader's, are kept.
LEFT_BY_RUNS = {"execution", "collapsed", "scrolled", "ExecuteTime"}
QUESTIONS = 4  # at least
LIMIT_S = 60


def source(cell):
    return "".join(cell["source"])


def tags(cell):
    return cell["metadata"].get("tags", [])


def answer(cell):
    """The code of an answer's cell."""
    return BLOCK.findall(source(cell))[0].rstrip("\n")


def changing(where, outputs):
    """Addresses and paths in outputs."""
    found = OF_ONE_MACHINE.search(json.dumps(outputs))
    if found:
        yield f"{where} shows '{found[0]}', which the next run changes"


def wrong_form(notebook, least=QUESTIONS):
    """What is wrong with the cells, as texts."""
    cells, count = notebook["cells"], 0
    if (notebook["nbformat"], notebook["nbformat_minor"]) != (4, 4):
        yield "the format is not 4.4, which has no ids; --write mends it"
    if cells[0]["cell_type"] != "markdown" or not re.match(r"# \d\. ", source(cells[0])) or len(OUTPUTS.findall(source(cells[0]))) != 1:
        yield "the first cell is not '# N. Title' in Markdown with a line 'Outputs: ' that names the machine"
    for i, cell in enumerate(cells):
        where = f"cell {i + 1}"
        room = i + 2 < len(cells) and "room" in tags(cells[i + 1])
        if set(tags(cell)) - TAGS:
            yield f"{where} has the tags {sorted(set(tags(cell)) - TAGS)}; known are {sorted(TAGS)}"
        if cell["cell_type"] == "markdown" and QUESTION.match(source(cell)):
            count += 1
            if QUESTION.match(source(cell))[1] != str(count):
                yield f"{where} is not question {count}"
            if not room or not ANSWER.fullmatch(source(cells[i + 2])) or len(BLOCK.findall(source(cells[i + 2]))) != 1:
                yield f"{where}: question {count} is not followed by a room and an answer that folds, with one block of Python"
        elif room:
            yield f"{where} stands above a room and is no question"
        if "room" in tags(cell) and (cell["cell_type"] != "code" or source(cell) or cell["outputs"]):
            yield f"{where} is a room and not empty; --write empties it"
        elif cell["cell_type"] == "code" and "room" not in tags(cell) and not source(cell).strip():
            yield f"{where} is empty and no room"
        yield from changing(where, cell.get("outputs", []))
        if LEFT_BY_RUNS & set(cell["metadata"]) or "id" in cell:
            yield f"{where} has what a run or an editor left; --write removes it"
    if count < least:
        yield f"{count} questions; expected at least {least}"


def with_answers(notebook):
    """A copy with each answer in its room."""
    filled = copy.deepcopy(notebook)
    for room, folded in zip(filled["cells"], filled["cells"][1:]):
        if "room" in tags(room):
            room["source"] = answer(folded)
    return filled


def run(notebook, folder, skipped):
    """Runs all cells, whatever fails; skipped: the tag of those that are left out, or none."""
    import nbclient
    import nbformat
    from jupyter_client.manager import AsyncKernelManager
    node = nbformat.reads(json.dumps(notebook), as_version=4)
    for cell in node["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    with tempfile.TemporaryDirectory(prefix="flynn-") as own:
        os.environ.update(IPYTHONDIR=own, JUPYTER_RUNTIME_DIR=own, PYTHONHASHSEED="0", PYDEVD_DISABLE_FILE_VALIDATION="1")
        os.environ["PYTHONPATH"] = f"{SOURCE / 'python'}:{os.environ.get('PYTHONPATH', '')}"
        # Sockets in a folder: two tests at once cannot meet at one port.
        manager = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{own}/kernel")
        client = nbclient.NotebookClient(node, km=manager, timeout=LIMIT_S * int(os.environ.get("FLYNN_TEST_SLOWNESS", 1)), allow_errors=True,
                                         record_timing=False, skip_cells_with_tag=skipped, resources={"metadata": {"path": str(folder)}})
        client.owns_km = True  # ends it
        client.execute()
    return json.loads(nbformat.writes(node))


def errors(cell):
    return [f"{one['ename']}: {one['evalue']}" for one in cell["outputs"] if one["output_type"] == "error"]


def wrong_run(ran, skipped):
    """What went wrong, as texts: errors where none should be, none where one should."""
    for i, cell in enumerate(ran["cells"]):
        if cell["cell_type"] != "code" or skipped in tags(cell):
            continue
        where = f"cell {i + 1} ({source(cell).strip().splitlines()[0]})"
        if "raises-exception" in tags(cell) and not errors(cell):
            yield f"{where} is tagged raises-exception and raises none"
        elif "raises-exception" not in tags(cell) and errors(cell):
            yield f"{where}: {errors(cell)[0]}"
        else:
            yield from changing(where, shown(cell["outputs"]))


def shown(outputs):
    """A cell's outputs as they are stored: texts in one piece, paths from the top of the tree on."""
    found = []
    for one in outputs:
        if one["output_type"] == "stream" and found and found[-1].get("name") == one["name"]:
            found[-1]["text"] = "".join(found[-1]["text"]) + "".join(one["text"])
        else:
            found.append(dict(one))
    for one in found:
        one.pop("transient", None)
        if "text" in one:
            one["text"] = "".join(one["text"]).splitlines(keepends=True)
    return json.loads(json.dumps(found).replace(f"{SOURCE}/", ""))


def stored(notebook, ran, machine):
    """The notebook as it is kept."""
    kept = copy.deepcopy(notebook)
    kept.update(nbformat=4, nbformat_minor=4, metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                                        "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"}})
    for cell, of_run in zip(kept["cells"], ran["cells"]):
        cell.pop("id", None)
        cell["metadata"] = {key: value for key, value in cell["metadata"].items() if key not in LEFT_BY_RUNS}
        cell["source"] = source(cell).splitlines(keepends=True)
        if "room" in tags(cell):
            cell.update(source=[], outputs=[], execution_count=None)
        elif cell["cell_type"] == "code":
            cell.update(outputs=shown(of_run["outputs"]), execution_count=of_run["execution_count"])
    first = kept["cells"][0]
    first["source"] = OUTPUTS.sub(f"Outputs: {machine}", source(first)).splitlines(keepends=True)
    return kept


def as_text(notebook):
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def this_machine():
    """What the outputs are of, and whether CUDA's cells can run."""
    import flynn
    import numpy
    gpus = list(dict.fromkeys(one.hardware for one in flynn.devices() if one.usable and one.flynn_class == "SIMT" and not one.emulation))
    cuda = any(one.usable and one.name.startswith("hip-nvidia") for one in flynn.devices())
    today = datetime.date.today()
    cores = len(os.sched_getaffinity(0))
    return (f"{today.day} {today:%B %Y}, {flynn.device('serial').hardware}, {cores} cores, {' and '.join(gpus) or 'no GPU'}; Python {platform.python_version()}, "
            f"NumPy {numpy.__version__}, Flynn {flynn.__version__}"), cuda


# -------------------------------------------------------------------------------------------------- its own test ----

def cell_of(kind, text, *of_tags, **metadata):
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {**({"tags": list(of_tags)} if of_tags else {}), **metadata}, "source": text, **code}


def question(number, code, *of_tags):
    return [cell_of("markdown", f"**Question {number}.** Which?"), cell_of("code", "", "room", *of_tags),
            cell_of("markdown", f"<details><summary>Answer</summary>\n\n```python\n{code}\n```\n\n</details>")]


def made(*cells):
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell_of("markdown", "# 0. Test\n\nOutputs: none"), *cells]}


def expect(title, found, expected):
    if found != expected:
        sys.exit(f"notebooks.py: {title}:\n  found    {found}\n  expected {expected}")


def test_itself():
    """Each mistake that a notebook can have is found, a right notebook has none, and what is stored is the same each time."""
    solution = "### BEGIN SOLUTION\nmore = x + 1\n### END SOLUTION"
    grades = {"nbgrader": {"grade": True, "grade_id": "more", "points": 1}}
    right = made(*question(1, "x = 42"), cell_of("code", "assert x == 42, 'x is not 42'\nprint('one')\nprint('two')"),
                 *question(2, "y = 1 / 0", "raises-exception"), cell_of("code", "no_gpu_here", "needs-cuda"), cell_of("code", solution, **grades),
                 cell_of("code", "%load_ext flynn\nimport flynn, numpy\nnumpy.fft.fft(flynn.array([1.0, 2.0]))", "raises-exception"),
                 cell_of("code", "import matplotlib.pyplot\nmatplotlib.pyplot.imshow(flynn.device('hip-cpu').zeros((2, 2)))", "raises-exception"),
                 cell_of("code", "numpy.linalg.inv(numpy.zeros((2, 2)))", "raises-exception"))
    mistakes = made(*question(1, "x = 41"), right["cells"][4], *question(2, "y = 1 / 1", "raises-exception"), cell_of("code", "z = 1 / 0"))
    expect("a right notebook's form", list(wrong_form(right, 2)), [])
    folder = SOURCE / "docs" / "notebooks"
    ran = run(with_answers(right), folder, "needs-cuda")
    expect("a right notebook", list(wrong_run(ran, "needs-cuda")), [])
    expect("a notebook with mistakes", list(wrong_run(run(with_answers(mistakes), folder, "needs-cuda"), "needs-cuda")), [
        "cell 5 (assert x == 42, 'x is not 42'): AssertionError: x is not 42", "cell 7 (y = 1 / 1) is tagged raises-exception and raises none",
        "cell 9 (z = 1 / 0): ZeroDivisionError: division by zero"])
    files = [set(re.findall(r"(\w+\.py)\b", "".join(cell["outputs"][0]["traceback"]))) for cell in ran["cells"][10:]]
    expect("an error of Flynn's shows the notebook's own lines alone, and no other error", [files[:2], "linalg.py" in files[2]], [[set(), set()], True])
    kept = stored(right, ran, "this machine")
    expect("the form of what is stored", list(wrong_form(kept, 2)), [])
    expect("what is stored again", as_text(stored(json.loads(as_text(kept)), ran, "this machine")), as_text(kept))
    expect("outputs, an empty room, the machine, nbgrader's marks", [kept["cells"][4]["outputs"][0]["text"], kept["cells"][2]["source"], kept["cells"][0]["source"][-1],
                                                     kept["cells"][9]["metadata"], source(kept["cells"][9])],
           [["one\n", "two\n"], [], "Outputs: this machine", grades, solution])
    used = copy.deepcopy(right)
    used["cells"][2].update(source="x = 42")
    used["cells"][4].update(outputs=[{"output_type": "stream", "name": "stdout", "text": "<object at 0x7f0012345678>"}], id="a1")
    used["cells"][8]["metadata"]["tags"] = ["needs-gpu"]
    used["cells"][1]["source"] = "**Question 2.** Which?"
    used["cells"][7]["source"] = used["cells"][7]["source"].replace("```", "~~~")
    used["cells"][9]["source"] = ""
    expect("the form of a used notebook", [text[:21] for text in wrong_form(used)],
           ["cell 2 is not questio", "cell 3 is a room and ", "cell 5 shows '0x7f001", "cell 5 has what a run", "cell 6: question 2 is", "cell 9 has the tags [",
            "cell 10 is empty and ", "2 questions; expected"])


def test_marking():
    """The cells for nbgrader and Otter in docs/notebooks/README.md: points for the solution alone."""
    tools, solution, tests = BLOCK.findall((SOURCE / "docs" / "notebooks" / "README.md").read_text(encoding="utf-8"))
    stub = re.sub(r"### BEGIN SOLUTION.*### END SOLUTION", "# YOUR CODE HERE\nraise NotImplementedError()", solution, flags=re.DOTALL)  # as nbgrader does
    cells = [tools, solution, tests, "del source", stub, tests, solution.replace("if (i < n)", ""), tests]
    ran = run(made(*(cell_of("code", text) for text in cells)), SOURCE / "docs" / "notebooks", "")
    found = [(errors(cell) or [""])[0] for cell in ran["cells"][1:]]
    expect("marking", [text.split(":")[0] for text in found], ["", "", "", "", "NotImplementedError", "NameError", "", "Error"])
    expect("what is wrong with the kernel", "beyond its 1 elements" in found[7], True)


def main():
    words, writes, form = sys.argv[1:], "--write" in sys.argv, "--form" in sys.argv
    if not form:
        try:
            sys.path.insert(0, str(SOURCE / "python"))
            import flynn
            import ipykernel  # noqa: F401
            import matplotlib  # noqa: F401
            import nbclient  # noqa: F401
            import numpy  # noqa: F401
            import scipy  # noqa: F401
        except ImportError as error:
            print(f"skipped: {error} in {sys.executable}: apt-get install python3-nbclient python3-ipykernel python3-matplotlib python3-scipy "
                  "(make deps-notebook)")
            sys.exit(77)
        try:
            flynn.device("hip-cpu")
        except flynn.UnavailableError as error:
            print(f"skipped: {error}")
            sys.exit(77)
    if "--self" in words:
        test_itself()
        test_marking()
    if not writes:  # no GPU
        os.environ.update(CUDA_VISIBLE_DEVICES="-1", HIP_VISIBLE_DEVICES="-1")
    failed = 0
    for path in (pathlib.Path(word) for word in words if not word.startswith("--")):
        notebook, began = json.loads(path.read_text(encoding="utf-8")), time.time()
        problems = []
        if not form:
            machine, cuda = this_machine() if writes else ("", False)
            skipped = "" if cuda else "needs-cuda"
            ran = run(with_answers(notebook), path.parent, skipped)
            problems += wrong_run(ran, skipped)
            if writes and not problems:
                notebook = stored(notebook, ran, machine)
                path.write_text(as_text(notebook), encoding="utf-8")
        problems += wrong_form(notebook)
        print(*(f"{path.name}: {problem}" for problem in problems), sep="\n", end="\n" if problems else "", file=sys.stderr)
        print(f"{path.name}: {len(notebook['cells'])} cells, {len(problems)} problems, {time.time() - began:.1f} s")
        failed += bool(problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
