# SPDX-License-Identifier: MIT
"""What the commands write is what docs/schema says, and every derived number in it can be recomputed from the rest.

For ctest: FLYNN names the command, FLYNN_SOURCE the source folder. Exit code 77 without Debian's python3-jsonschema.
"""
import copy
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("Left out: python3-jsonschema is not installed")
    sys.exit(77)

SOURCE = pathlib.Path(os.environ["FLYNN_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests/cli"))
import batch  # noqa: E402 (what follows from what in flynn batch's document)
SCHEMAS = {f"flynn/{n}": json.loads((SOURCE / f"docs/schema/flynn-{n}.schema.json").read_text(encoding="utf-8")) for n in (1, 2)}
QUICK = ["--repeat=3", "--warmup=0", "--backend=serial,omp:2"]
SAVED = SOURCE / "tests/data/saved"
SLICE = str(SOURCE / "tests/data/mri/slice_072.png")


def run(*words):
    """What the command writes as JSON; exit codes 1 and 3 have a document too (allclose, doctor)."""
    done = subprocess.run([os.environ["FLYNN"], *words, "--json"], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    if not done.stdout:
        sys.exit(f"flynn {' '.join(words)}: exit code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout, parse_constant=lambda word: sys.exit(f"{word} is not JSON"))


def close(found, expected):
    if expected is None or not math.isfinite(expected):
        return found is None
    return found is not None and abs(found - expected) <= 1e-9 * abs(expected)


def part(values, share):
    """The quantile, interpolated as NumPy's."""
    if not values:
        return None
    values, place = sorted(values), share * (len(values) - 1)
    below = math.floor(place)
    return values[below] + (place - below) * (values[min(below + 1, len(values) - 1)] - values[below])


def over(a, b):
    return a / b if b else None


def ranked(row):
    return row["check"]["ok"] and not row["emulation"]


def placed(row):
    """Earlier versions gave noisy rows a place."""
    return ranked(row) and not (row.get("disturbed") and "speed_up_disturbed" in row)


def check_result(row, spread_of):
    """Yields (key, found, recomputed) for each number that follows from other numbers of the result."""
    for key, samples in row["times_s"].items():
        yield f"{key}_s", row[f"{key}_s"], part(samples, 0.5)
    if row["exercise"] == "slice":
        yield "copy_gbytes_per_s", row["copy_gbytes_per_s"], over(row["bytes_copied"] / 1e9, row["d2h_s"])
        return
    yield "gbytes_per_s", row["gbytes_per_s"], over(row["bytes"] / 1e9, row["kernel_s"])
    flops = row["flops"]  # null: nothing says how many a kernel of the user's does
    # Earlier versions had 0 where nobody counted operations.
    yield "gflops", row["gflops"], over(flops / 1e9, row["kernel_s"]) if flops else None if row["gflops"] is None else 0
    if "spread" in row:
        times = row["times_s"][spread_of]
        one = len(times) == 1 and row["spread"] is None  # earlier versions had 0
        yield "spread", row["spread"], None if one else (part(times, 0.75) - part(times, 0.25)) / part(times, 0.5)


def check_results(rows, together, spread_of):
    """The same, and the place and speed-ups among the results of an exercise that ran together; sweep and laws rank within
    each of their runs."""
    for row in rows:
        yield from check_result(row, spread_of)
        if "speed_up_over_whole" in row:
            key = (row["backend_requested"], row["slice"], "whole")
            whole = next(o for o in rows if (o["backend_requested"], o["slice"], o["variant"]) == key)
            factor = over(whole["total_s"], row["total_s"])
            yield "speed_up_over_whole", row["speed_up_over_whole"], factor if ranked(row) and ranked(whole) else None
            ways = [o for o in rows if (o["backend_requested"], o["slice"]) == key[:2] and placed(o)]
            yield "place", row["place"], 1 + sum(o["total_s"] < row["total_s"] for o in ways) if placed(row) else None
        if row["exercise"] == "slice" or not together:
            continue
        others = [o for o in rows if (o["exercise"], o.get("let")) == (row["exercise"], row.get("let")) and ranked(o)]
        faster = sum(o["total_s"] < row["total_s"] for o in others if placed(o))
        place = "place" if "place" in row else "rank"  # flynn/1
        yield place, row[place], 1 + faster if placed(row) else None
        if "speed_up" not in row:
            continue
        base = next((o for o in others if o["flynn_class"] == "SISD"), others[0] if others else row)
        least = min((o["total_s"] for o in others if placed(o)), default=1)
        yield "relative", row["relative"], row["total_s"] / least if placed(row) else None
        for key, number in (("speed_up", base["kernel_s"] / row["kernel_s"]),
                            ("speed_up_with_copies", base["total_s"] / row["total_s"])):
            yield key, row[key], number if ranked(row) else None


def check_ceilings(ceilings):
    for ceiling in ceilings:
        for q in ceiling["quantities"]:
            yield "seconds", q["seconds"], part(q["times_s"], 0.5)
            yield "spread_s", q["spread_s"], part(q["times_s"], 0.75) - part(q["times_s"], 0.25)
            yield "per_second", q["per_second"], over(q["amount"], q["seconds"]) if q["unit"] else None


def check_pairs(pairs):
    for pair in pairs:
        for times in (pair["kernel"], pair["total"]):
            yield "ratio", times["ratio"], over(times["older_s"], times["newer_s"])


def is_kept(ceiling):
    """Of a busy machine a rate that varies, or that another one contradicts, is not kept."""
    rates = {q["key"]: q for q in ceiling["quantities"] if q["key"] in ("copy", "f32", "f64")}
    return (all(q.get("steady", q["spread_s"] <= 0.25 * q["seconds"]) for q in rates.values())
            and rates["f32"]["per_second"] >= 0.9 * rates["f64"]["per_second"])


def check_percentages(rows, ceilings):
    rows = [r for r in rows if all(is_kept(c) for c in ceilings if c["resource"] == r["resource"])]
    rates = {c["resource"]: {q["key"]: q["per_second"] for q in c["quantities"]} for c in ceilings}
    for row in rows:
        rate = rates[row["resource"]]
        least = max(row["bytes"] / rate["copy"], row["flops"] / rate.get(row["dtype"], math.inf))
        yield "percent_of_ceiling", row["percent_of_ceiling"], 100 * least / row["kernel_s"]


def wrong_numbers(document, ceilings=()):
    together = "best" not in document and "laws" not in document
    spread_of = "kernel" if "best" in document else "total"
    checks = [check_results(document.get("results", []), together, spread_of), check_ceilings(document.get("ceilings", [])),
              check_pairs(document.get("pairs", []))]
    if "batch" in document:
        checks.append(batch.derived(document["batch"]))
    if ceilings:
        checks.append(check_percentages(document["results"], ceilings))
    return [f"{key} is {told}, recomputed {number}" for check in checks for key, told, number in check
            if not close(told, number)]


def problems(document):
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}" for e in
            jsonschema.Draft202012Validator(SCHEMAS.get(document.get("schema"), SCHEMAS["flynn/2"])).iter_errors(document)]


FAILED = []


def expect(title, found):
    if found:
        FAILED.append(title)
        print(f"FAILED: {title}: " + "\n    ".join(found[:5]))


def good(title, document, ceilings=()):
    expect(title, problems(document) or wrong_numbers(document, ceilings))
    return document


def damaged(document):
    """(what was done, the document after it): each must be refused by the schema."""
    def change(what, edit):
        copied = copy.deepcopy(document)
        edit(copied)
        return what, copied

    yield change("no schema", lambda d: d.pop("schema"))
    yield change("another schema", lambda d: d.update(schema="flynn/3"))
    yield change("no results", lambda d: d.pop("results"))
    yield change("an unknown key", lambda d: d.update(more=1))
    yield change("an unknown key of a result", lambda d: d["results"][0].update(kernels=1))
    yield change("an unknown key of a check", lambda d: d["results"][0]["check"].update(fine=True))
    yield change("no machine", lambda d: d.pop("machine"))
    yield change("a result without its kernel", lambda d: d["results"][0].pop("kernel_s"))
    yield change("a time as text", lambda d: d["results"][0].update(kernel_s="1 ms"))
    yield change("a negative time", lambda d: d["results"][0].update(total_s=-1.0))
    yield change("an unknown dtype", lambda d: d["results"][0].update(dtype="f16"))
    yield change("an unknown exercise", lambda d: d["results"][0].update(exercise="sorting"))
    yield change("a sample that is none", lambda d: d["results"][0]["times_s"]["total"].append(None))
    yield change("another exercise's key", lambda d: d["results"][0].update(upto=10))


def damaged_batch(document):
    """The same of a document of flynn batch."""
    def change(what, edit):
        copied = copy.deepcopy(document)
        edit(copied["batch"])
        return f"batch: {what}", copied

    yield change("no runs", lambda b: b.pop("runs"))
    yield change("an unknown key", lambda b: b.update(more=1))
    yield change("an unknown source", lambda b: b.update(source="films"))
    yield change("an unknown pipeline", lambda b: b["runs"][0].update(pipeline="fuller"))
    yield change("a negative count", lambda b: b["runs"][0].update(done=-1))
    for key in set(document["batch"]["runs"][0]) - {"reconstruct_on", "spread", "disturbed", "speed_up_disturbed", "block", "host_memory"}:  # older documents lack them
        yield change(f"a run without {key}", lambda b, key=key: b["runs"][0].pop(key))
    yield change("an unknown key of a run", lambda b: b["runs"][0].update(more=1))
    for key in ("engines_together", "link", "over_one_by_one", "memory", "check"):
        yield change(f"an unknown key of {key}", lambda b, key=key: b["runs"][0][key].update(more=1))
        yield change(f"{key} without a key", lambda b, key=key: b["runs"][0][key].popitem())
    yield change("an unknown key of a stage", lambda b: b["runs"][0]["stages"][0].update(more=1))
    yield change("an unknown stage", lambda b: b["runs"][0]["stages"][0].update(stage="think"))
    yield change("an unknown bound", lambda b: b["runs"][0].update(bound="luck"))
    yield change("a failure without its image", lambda b: b["runs"][0]["failures"][0].pop("input"))
    yield change("an unknown key of a failure", lambda b: b["runs"][0]["failures"][0].update(more=1))


def check_batches():
    good("batch, made here", run("batch", "--synthetic=9x20x10", "--pipeline=all", *QUICK))
    good("batch, all backends", run("batch", "--synthetic=5x8x8", "--backend=all", "--repeat=2"))
    good("batch, nothing but a failure", run("batch", "none.png", "--pipeline=all"))
    run("svd", "--size=16", "--keep=3", "--factors=factors", "--backend=serial")
    good("batch of factors", run("batch", "--factors=factors", "--output-dir=factored", "--pipeline=all", *QUICK))
    document = good("batch of images", run("batch", SLICE, "none.png", "--keep=3", "--pipeline=all", *QUICK[2:]))
    for what, changed in damaged_batch(document):
        expect(what, [] if problems(changed) else ["was not refused"])
    for key in ("wall_s", "images_per_s", "overlap", "last_wall_s"):
        changed = copy.deepcopy(document)
        changed["batch"]["runs"][1][key] *= 1.01
        expect(f"batch: another {key}", [] if wrong_numbers(changed) else ["was not noticed"])
    for key in ("speed_up", "amdahl_serial_fraction", "gustafson_serial_fraction"):
        changed = copy.deepcopy(document)
        changed["batch"]["runs"][-1]["over_one_by_one"][key] = 0.123
        expect(f"batch: another {key}", [] if wrong_numbers(changed) else ["was not noticed"])
    changed = copy.deepcopy(document)
    changed["batch"]["runs"][1]["stages"][2]["busy_s"] *= 1.01
    expect("batch: another busy_s", [] if wrong_numbers(changed) else ["was not noticed"])


def check_ranks():
    """Documents of several processes, where an MPI is."""
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    words = ["sort", "--ranks=2", "--size=1000", "--backend=serial", "--repeat=3"]
    done = subprocess.run([os.environ["FLYNN"], *words, "--json"], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode == 3:
        print(f"several ranks are left out: {done.stderr.strip()}")
        return
    document = good("several ranks", json.loads(done.stdout))
    good("ceiling of a link", run("ceiling", "--ranks=2", "--size=100", "--backend=serial", "--repeat=3"))
    for key in ("name", "path", "bytes", "link_s", "percent_of_ceiling"):
        changed = copy.deepcopy(document)
        changed["results"][0]["link"].pop(key)
        expect(f"a link without {key}", [] if problems(changed) else ["was not refused"])
    changed = copy.deepcopy(document)
    changed["results"][0]["per_rank"][1].update(more=1)
    expect("an unknown key of a rank", [] if problems(changed) else ["was not refused"])


def exercises():
    yield "increment", ["increment", "--size=1000"]
    yield "sqrt, wrong timing", ["sqrt", "--size=1000", "--wrong-timing"]
    yield "maximum", ["maximum", "--size=16"]
    yield "log_of_sum", ["log_of_sum", "--size=1000"]
    yield "log_of_sum of numbers", ["log_of_sum", "6", "7"]
    yield "map", ["map", "log(x + y) * 2", "--size=1000"]
    yield "sort", ["sort", "--size=1000", "--dtype=i64"]
    yield "select", ["select", "--size=1000"]
    yield "histogram", ["histogram", "--size=1000"]
    yield "reduce", ["reduce", "--size=1000"]
    yield "primes", ["primes", "--upto=1000"]
    yield "convolve1d", ["convolve1d", "--size=64"]
    yield "convolve", ["convolve", "--size=64"]
    yield "slice", ["slice", "--size=64"]
    yield "svd", ["svd", SLICE, "--keep=5"]
    yield "svd, randomized", ["svd", SLICE, "--keep=5", "--variant=randomized"]
    yield "reconstruct", ["reconstruct", "--size=64", "--keep=10"]
    yield "allclose", ["allclose", "--size=64"]


def main(quick):
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    every = list(exercises())
    for title, words in random.Random(quick).sample(every, 3) if quick else every:  # quick: some, by chance
        good(title, run(*words, *QUICK))
    passes = "--repeat=1" if quick else QUICK[0]  # the multiply-adds take long
    ceilings = good("ceiling", run("ceiling", "--size=1000000", passes, QUICK[2]))["ceilings"]
    compared = good("compare", run("compare", "sort", "increment", "--size=1000", *QUICK), ceilings)
    good("sweep", run("sweep", "sort", "--size=1000,2000", "--variant=radix,bitonic", "--backend=serial", "--repeat=3"))
    sizes = [str(1000 * i) for i in range(1, 31)]  # far more than fit into the time
    stopped = run("sweep", "sort", "--size=" + ",".join(sizes), "--variant=radix", "--backend=serial", "--min-time=0.2", "--max-time=0.7")
    assert stopped["stopped"]["done"] + len(stopped["stopped"]["not_run"]) == len(sizes), stopped["stopped"]
    good("a sweep that was stopped", stopped)
    if any(b["name"] == "hip-cpu" and b["usable"] for b in run("info")["backends"]):
        kernels = ("kernel", *(str(SOURCE / f"docs/kernels/{name}.hip") for name in ("sum", "sum_race")), "range:{n},dtype=i32", "out=1",
                   "{n}", "--let=n=300,500", "--backend=hip-cpu", *QUICK[:2])
        good("sweep kernel", run("sweep", *kernels, "--flops=n", "-DA=1,2"))
        good("compare kernel", run("compare", *kernels, "--block=64"))
        pathlib.Path("kernels.json").write_text(json.dumps(run("compare", *kernels)), encoding="utf-8")
        good("compare --against of kernels", run("compare", "--against=kernels.json", "kernels.json"))
    good("laws", run("laws", "sort", "--size=2000", "--threads=1,2,3,4", "--repeat=3"))
    good("laws of a batch", run("laws", "batch", str(SAVED.parent / "kept/batch/in"), "--keep=2", "--threads=1,2,3,4"))
    good("taxonomy", run("taxonomy", "--size=2000", "--repeat=3"))
    saved = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in SAVED.glob("*.json")}
    for name, document in saved.items():
        good(f"saved {name}", document, saved["ceiling"]["ceilings"] if name == "compare" else ())
    good("all backends, the others skipped", run("sort", "--size=1000", "--repeat=3", "--backend=all"))
    good("an exercise that failed", run("compare", "sort", "select", "--dtype=u8", "--size=100", *QUICK))
    pathlib.Path("saved.json").write_text(json.dumps(compared), encoding="utf-8")
    good("compare --against", run("compare", "--against=saved.json", "saved.json"))
    for command in ("list", "info", "doctor"):
        good(command, run(command))
    good("kernel --registers", run("kernel", str(SOURCE / "docs/kernels/sum.hip"), "--registers=gfx90a,sm_90"))
    for words in ("random:9x9",), ("fill:9,value=nan",), ("zeros:0x4", "ones:2x3x4x5", "0:9"), ("ones:9", "ones:9"), ("range:70x9", "ones:70x9"), (
            "ones:9", "ones:8"):
        good(f"show {words}", run("show", *words))
    run("doctor", "--bundle=bundle.json")
    good("doctor --bundle", json.loads(pathlib.Path("bundle.json").read_text(encoding="utf-8")))
    for what, document in damaged(compared):
        expect(what, [] if problems(document) else ["was not refused"])
    keys = ["kernel_s", "total_s", "gbytes_per_s", "relative", "speed_up"]
    for key in keys + ["percent_of_ceiling"] * all(is_kept(c) for c in ceilings):
        changed = copy.deepcopy(compared)
        ranked = [row for row in changed["results"][1:] if row[key] is not None]
        if not ranked:  # noisy rows have no relative speed
            print(f"{key} is passed over: every row is noisy")
            continue
        ranked[0][key] *= 1.01
        expect(f"another {key}", [] if wrong_numbers(changed, ceilings) else ["was not noticed"])
    check_batches()
    check_ranks()
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        quick = os.environ.get("FLYNN_TEST_QUICK")
        for variable in [name for name in os.environ if name.startswith("FLYNN_") and name != "FLYNN_SOURCE"]:
            del os.environ[variable]
        os.environ["FLYNN_CACHE"] = folder
        os.chdir(folder)
        sys.exit(main(quick))
