#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn report: the page, what is on it, that it needs nothing but itself. page.py looks at it in a browser.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=3 --warmup=0)

gnuplot=$(command -v gnuplot) || gnuplot=
if [ -z "$gnuplot" ]; then
    echo "gnuplot is not installed: only the page without plots is tested"
    ok "no gnuplot" report "$saved"/*.json -o no.html
    check "a page without plots" bash -c 'grep -q "Without plots: gnuplot was not found" no.html && ! grep -q "<svg" no.html'
    summary
    exit
fi

ok "a comparison" compare sort increment convolve --backend=serial,omp:2 --size=64 "${quick[@]}" --json=compare.json
cp "$work/out" compare.txt
printf '#!/bin/sh\ntouch attacked\n' >gnuplot
chmod +x gnuplot
PATH=":.:$PATH" ok "a gnuplot in the current folder" report compare.json -o current.html
check "is not run" test ! -e attacked
rm gnuplot
ok "ceilings" ceiling --backend=serial,omp:2 --size=1000000 --repeat=1 --json=ceiling.json
ok "an exercise by itself" sqrt --backend=serial,omp:2 --size=100 "${quick[@]}" --json=sqrt.json
ok "slices" slice --backend=serial --size=64 --slice=3:5,: "${quick[@]}" --json=slice.json
ok "matrices in batches" batch --synthetic=8x40x40 --keep=5 --backend=simd --pipeline=all "${quick[@]}" --json=batch.json
ok "images in batches" batch "$slice" --keep=20 --backend=omp:2 --pipeline=one-by-one,full --output-dir=. --json=images.json
ok "two runs" compare --against=compare.json compare.json --json=against.json
cat >change.py <<'PY'
import json
d = json.load(open("compare.json"))
r = d["results"][0]
r["check"].update(ok=False, failed=3, compared=64, worst_index=[5], worst_result=1.5, worst_expected=2.5)
r["variant"] = "</td><script>alert('1')</script>"
d["results"][1]["resource"] = "''a'b\"`id`\n&amp;"
d["results"][2].update(flops=1e308, gflops=1e300) # which no axis shows
d["skipped"].append({"backend": "hip-nvidia", "reason": "no NVIDIA <driver> here"})
d["failed"].append({"exercise": "svd", "exit_code": 139, "message": "ended by <signal> 11"})
json.dump(d, open("hostile.json", "w"))
two = json.load(open("sqrt.json"))
two["machine"]["host"] += "-2"
two["results"][0]["resource"] = "a" + 12 * "\u00e9" # whose labels end in the middle of a letter
json.dump(two, open("other.json", "w"))
two["results"][0]["resource"] = "omp:2"
two["results"][0]["check"].update(ok=None, method="nothing; <how>")
json.dump(two, open("unchecked.json", "w"))
b = json.load(open("images.json"))
first, second = b["batch"]["runs"]
lost = {"input": "a", "message": "<b>.png: is no <sound> PNG", "wrong": False}
first["check"].update(ok=False, failed=3, compared=64, worst_result=1.5, worst_expected=2.5)
first.update(resource="</td><script>alert('2')</script>", bound_by="<i>&amp;", failures=[lost])
first["stages"][0]["stage"] = "<u>'`id`"
second["check"]["ok"] = False
second.update(dropped=5, failed=2, ended_by="disk <full>", failures=[lost, dict(lost, message="c.png: is empty")])
b["batch"]["runs"].append(dict(b["batch"]["runs"][1], dropped=0, failed=0, ended_by=None, failures=[]))
json.dump(b, open("lost.json", "w"))
for r, wall in zip(b["batch"]["runs"], (1e-3, 1e-3, 1)):
    r.update(wall_s=wall, failures=[], failed=0, dropped=0, ended_by=None)
    r["check"]["ok"] = True
json.dump(b, open("slow.json", "w"))
for i, (path, value) in enumerate([
    (["batch"], []), (["batch", "runs"], {}), (["batch", "runs"], []), (["batch", "runs", 0], 1), (["batch", "runs", 0, "stages"], 3),
    (["batch", "runs", 0, "stages", 0], "read"), (["batch", "runs", 0, "stages", 0, "stage"], None),
    (["batch", "runs", 0, "stages", 0, "busy_s"], "1"), (["batch", "runs", 0, "stages", 0, "utilization"], -1),
    (["batch", "runs", 0, "wall_s"], 1e300), (["batch", "runs", 0, "link", "limit_s"], [])]):
    b = json.load(open("batch.json"))
    at = b
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    json.dump(b, open(f"unsound-{i}.json", "w"))
point = lambda n: {"n": n, "speed_up": n ** 0.9, "kernel_s": 1 / n}
fit = {"serial_fraction": 0.1}
laws = {"exercise": "sort", "backend": "omp", "unit": "threads", "strong": [point(n) for n in (1, 2, 4, 8)], "weak": [],
        "amdahl": fit, "gustafson": fit, "remarks": ["fits <well>"]}
json.dump(dict(d, results=[], failed=[], laws=laws), open("laws.json", "w"))
ok = dict(d["results"][-1], registers=32)
json.dump(dict(d, results=[ok], failed=[], best=[{"variant": "tiled", "block": [8, 8, 1]}],
               cannot_run=[{"block": [99, 99, 1], "reason": "too <large>"}]), open("sweep.json", "w"))
PY
"$PYTHON" change.py

# page FILE EXPRESSION: of Python, about its text t, what is shown of it s, its tags, and all attributes a.
cat >page.py <<'PY'
import base64, html.parser, json, re, sys
class Page(html.parser.HTMLParser):
    void = {"meta", "link", "img", "br"}
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.shown, self.open = [], [], [], []
    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *a) for a in attributes]
        if tag not in self.void:
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *a) for a in attributes]
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()
    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.shown.append(data)
t = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(t)
page.close()
assert not page.open, page.open
s, tags, a = " ".join("".join(page.shown).split()), page.tags, page.attributes
assert eval("(" + sys.argv[2] + ")"), sys.argv[2]
PY
page() { "$PYTHON" page.py "$@"; }

ok "a page" report compare.json ceiling.json sqrt.json slice.json -o page.html --plots=plots "--picture=$slice:One <slice>"
check "is whole" page page.html '"Comparison" in s and "Times" in s and "Roofline" in s and "Ceilings" in s'
check "loads nothing" page page.html \
    'not {"script", "iframe", "object", "embed", "base", "form"} & set(tags) and "url(" not in t and "@import" not in t and
    all(v.startswith("data:") for _, k, v in a if k in ("src", "href", "xlink:href", "action", "srcset"))'
check "has no handlers and no ids twice" page page.html \
    'not [k for _, k, _ in a if k.startswith("on")] and len([v for _, k, v in a if k == "id"]) == len({v for _, k, v in a if k == "id"})'
check "a policy says so to the browser" page page.html "\"default-src 'none'\" in t"
check "has the picture" page page.html '"One <slice>" in s and
    [base64.b64decode(u) for u in re.findall("data:image/png;base64,([^\"]*)", t)] == [open("'"$slice"'", "rb").read()]'
check "every result has a row" page page.html 'len(re.findall("<tr><th scope=row(?: class=again)?>(?:sort|increment|convolve|sqrt|slice)<", t)) ==
    sum(len(json.load(open(f))["results"]) for f in ("compare.json", "sqrt.json", "slice.json"))'
check "a roofline for each device" page page.html 'len(re.findall("<b>(serial|omp:2[^<]*): ", t)) == 2'
check "on axes with the field's terms" page page.html 's.count("arithmetic intensity (FLOP/byte)") == 2'
check "beneath the measured roof" "$PYTHON" -c '
import json
t = open("page.html").read().partition("<h2>Roofline")[2].partition("</section>")[0]
for c in json.load(open("ceiling.json"))["ceilings"]:
    for q in c["quantities"]:
        unit = {"copy": "B/s", "f32": "FLOP/s f32", "f64": "FLOP/s f64"}.get(q["key"])
        rate = q["per_second"]
        texts = [f"{rate / scale:.{d}f} {name}{unit}" for scale, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"))
                 for d in (0, 1, 2)] if unit else []
        assert not unit or any(f">{text}<" in t or f">~{text}<" in t for text in texts), (q["key"], texts)'
check "times of the JSON" "$PYTHON" -c '
import json
t = open("page.html").read()
def text(s):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")):
        if s >= unit: return s / unit, name
for r in json.load(open("compare.json"))["results"]:
    number, name = text(r["kernel_s"])
    assert any(f"{number:.{d}f} {name}<" in t for d in (0, 1, 2)), (r["exercise"], r["kernel_s"])'
check "plots as SVG" "$PYTHON" -c '
import glob, xml.dom.minidom
files = glob.glob("plots/*.svg")
assert len(files) >= 6 and all(xml.dom.minidom.parse(f).documentElement.tagName == "svg" for f in files), files'
check "which have colours for a dark screen" test "$(grep -l '<style>@media (prefers-color-scheme:dark)' plots/*.svg | wc -l)" = "$(ls plots/*.svg | wc -l)"
check "plots as PNG" test "$(head -qc 8 plots/*.png | grep -ac PNG)" -ge 6
svg=(plots/*.svg) png=(plots/*.png)
check "as many of each" test "${#svg[@]}" = "${#png[@]}"
"$PYTHON" - <<'PY'
import json
d = json.load(open("compare.json"))
d["stopped"] = {"by": "--max-time", "done": 2, "not_run": ["sort", "<scan>"]}
json.dump(d, open("stopped.json", "w"))
PY
ok "a run that was cut short" report stopped.json -o stopped.html
check "says at the top what did not run" page stopped.html '
    "ended early stopped by --max-time; not run: sort, <scan>" in s.replace("early", "early ") and s.index("ended early") < s.index("Comparison")'
check "a whole one does not" bash -c '! grep -q "ended early" page.html'
ok "the same file twice" report compare.json compare.json -o twice.html
check "is shown once" page twice.html 't.count("scope=row") == len(json.load(open("compare.json"))["results"])'

ok "two machines" report sqrt.json other.json -o machines.html --plots=machines
svg=(machines/machine-[12]-01-times-sqrt*.svg)
check "each has its plots" test "${#svg[@]}" = 2
check "letters are whole or left out" "$PYTHON" -c '
import glob, xml.dom.minidom
t = [open(f, encoding="utf-8").read() for f in glob.glob("machines/*-2-*.svg") + ["machines.html"]]
xml.dom.minidom.parseString(t[0])
assert len(t) == 2 and all("a" + 7 * chr(233) + " " in u for u in t), t'

ok "batches beside other documents of the host" report batch.json compare.json images.json batch.json -o batch.html --plots=batch
check "are listed together, each once" page batch.html '
    tags.count("h1") == 1 and "Comparison" in s and s.count("8 random matrices, 40x40 f32, 5 components") == 2 and
    s.count("1 images, 20 components, decomposed on ") == 2 and t.count("<b>Wall</b>") == t.count("<b>Busy, of wall</b>") == 2'
check "every run and every stage has a row" page batch.html '
    len(re.findall("<tr><th scope=row(?: class=again)?>(?:simd|omp)[^<]*</th><td>(?:one-by-one|pinned|streams:6|full)<", t)) ==
    sum(1 + len(r["stages"]) for f in ("batch.json", "images.json") for r in json.load(open(f))["batch"]["runs"])'
check "stages in the order of an image" page batch.html '
    re.findall("</th><td>full</td><td>([a-z ]+)</td><td class=n>[0-9-]", t)[-8:] ==
    ["reconstruct", "read", "decode", "decompose", "reconstruct", "check", "encode", "write"]'
svg=(batch/0[12]-batch-*8-random-matrices*.svg) png=(batch/0[34]-batch-*1-images*.png)
check "two plots of each batch" test "${#svg[@]} ${#png[@]}" = "2 2"
ok "what earlier versions saved" report "$saved"/*.json -o saved.html
check "has a row for each result" page saved.html 'len(re.findall("<tr><th scope=row(?: class=again)?>(?:maximum|convolve|reconstruct|select|slice)<",
    t.partition("<h2>Comparison")[2].partition("</section>")[0])) == 17 and
    all(w in s for w in ("Comparison", "Ceilings", "Sweep", "Scaling", "256 random matrices, 512x512 f32, 100 components"))'
ok "a batch of a GPU" report "$saved/batch.json" "$saved/laws-hip.json" -o gpu.html --plots=gpu
cat >told.py <<'PY'
import json, re, statistics, sys
batch = json.load(open(sys.argv[1]))["batch"]
shown = " ".join(re.sub("<[^>]*>", " ", open("gpu.html").read()).split())
def three(x):
    return f"{x:.{2 if x < 9.995 else 1 if x < 99.95 else 0}f}"
def seconds(x):
    unit, name = next((u, n) for u, n in ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")) if x >= 0.9995 * u)
    return three(x / unit) + " " + name
def plain(x):
    return f"{x:.0f}" if x >= 1000 else f"{x:.3g}"
def expect(*cells):
    assert " ".join(cells) in shown, cells
expect(f"{batch['count']} random matrices, {batch['shape'][0]}x{batch['shape'][1]} f32, {batch['rank']} components ")
for r in batch["runs"]:
    name = r["pipeline"] + f":{r['streams']}" * (r["pipeline"] == "streams")
    first, _, third = statistics.quantiles(r["times_s"], n=4, method="inclusive")
    speed_up = r["over_one_by_one"]["speed_up"]
    expect(r["resource"], name, plain(r["done"]), seconds(r["wall_s"]), f"{100 * (third - first) / r['wall_s']:.3g} %",
           plain(r["images_per_s"]), three(speed_up) + "x" if speed_up else "-", plain(r["overlap"]),
           f"{r['bound']}: {r['bound_by']} {100 * r['bound_utilization']:.0f} %", seconds(r["link"]["limit_s"]),
           f"{100 * r['link']['reached']:.3g} %", "ok")
    for s in r["stages"]:
        expect(r["resource"], name, s["stage"], seconds(s["busy_s"]), f"{100 * s['utilization']:.3g} %", plain(s["count"]),
               seconds(s["busy_s"] / s["count"]), three(s["bytes"] / s["busy_s"] / 1e9) + " GB/s")
PY
check "its numbers" "$PYTHON" told.py "$saved/batch.json"
# Bars are polygons in the order in which they are drawn, a row's from the left.
cat >bars.py <<'PY'
import glob, json, re, sys
runs = json.load(open(sys.argv[1]))["batch"]["runs"]
def widths(name):
    found = re.findall(r"<polygon fill = 'rgb\((?!255)[^>]*points = '([-\d., ]*)'", open(glob.glob(name)[0]).read())
    points = [[float(p.split(",")[0]) for p in f.split()] for f in found]
    return [max(x) - min(x) for x in points]
def alike(widths, numbers, gap):
    scales = [(w + gap) / n for w, n in zip(widths, numbers)]
    assert len(widths) == len(numbers) and max(scales) / min(scales) < 1.02, (widths, numbers)
alike(widths("gpu/01-batch-wall*.svg"), [s for r in runs for s in (r["wall_s"], r["link"]["limit_s"])], 0)
alike(widths("gpu/02-batch-busy*.svg"), [s["utilization"] for r in runs for s in r["stages"]], 1)
PY
check "bars as long as the times" "$PYTHON" bars.py "$saved/batch.json"
check "what bounds it" grep -q 'hip-nvidia:0 streams:6, bound by copy to host' gpu/02-batch-busy*.svg
check "matrices a second over the batch" grep -q 'matrices a second' gpu/01-laws-reconstruct--hip.svg
"$PYTHON" -c '
import json, sys
d = json.load(open(sys.argv[1]))
d["laws"]["unit"] = "ranks"
for p in d["laws"]["strong"] + d["laws"]["weak"]:
    p.update(imbalance=None if p["n"] == 1 else 1.25, link_share=None if p["n"] == 1 else 0.125)
json.dump(d, open("ranks.json", "w"))' "$saved/laws-omp.json"
ok "laws over ranks" report ranks.json "$saved/laws-omp.json" -o ranks.html --plots=ranks
check "two plots, one of them over ranks" test "$(grep -l '>ranks</' ranks/*-laws-*.svg | wc -l) $(grep -L '>ranks</' ranks/*-laws-*.svg | wc -l)" = "1 1"
check "imbalance and link of ranks alone" page ranks.html 's.count("1.25x") == s.count("12.5 %") > 1 and s.count("imbalance") == 1'
ok "walls far apart" report slow.json -o slow.html
check "are on a logarithmic axis" page slow.html '"Wall logarithmic" in s'
run report lost.json batch.json -o lost.html
check "a batch that failed: exit code 1" test "$status" = 1
check "and a page that begins with it" page lost.html '"3 runs of batches failed, 2 images failed" in s and s.index("3 runs of batches") < s.index("Wall is") and
    "pipeline one-by-one: WRONG; 3 of 64 numbers are wrong, the worst is 1.5 instead of 2.5" in s and
    "pipeline full: ended at 1 of 8; disk <full>" in s and "pipeline full: WRONG: other bits than another pipeline" in s'
check "with what failed, once" page lost.html 's.count("<b>.png: is no <sound> PNG") == 1 and s.count("c.png: is empty") == 1'
check "whose text is text" page lost.html "not {'script', 'u', 'i'} & set(tags) and '</td><script>alert(' in s and '<i>&amp;' in s and \"<u>'\" in s"
for unsound in unsound-*.json; do
    refused "no batch: $unsound" 2 "$unsound" report batch.json "$unsound" -o no.html --plots=no
done

run report hostile.json laws.json sweep.json ceiling.json -o hostile.html
check "what failed: exit code 1" test "$status" = 1
check "and a page" page hostile.html '"1 result is wrong, 1 exercise could not be run" in s'
ok "what is not checked is not a failure" report unchecked.json -o unchecked.html
check "but counted" page unchecked.html '"1 result is not checked" in s and s.index("1 result is not") < s.index("Comparison") and
    "checked against nothing; <how>" in s and not [v for _, k, v in a if v == "wrong" or k == "role" and v == "alert"]'
run report unchecked.json hostile.json -o both.html
check "also where others are wrong" test "$status" = 1
check "in one headline" page both.html '"1 result is wrong, 1 exercise could not be run, 1 result is not checked" in s'
check "that says where" page hostile.html '"3 of 64 elements are wrong; worst at [5]: 1.5 instead of 2.5" in s and "ended by <signal> 11" in s'
check "hostile text is text" page hostile.html \
    "'script' not in tags and '</td><script>alert(' in s and 'no NVIDIA <driver> here' in s and \"a'b\" in s"
check "laws" page hostile.html '"Scaling" in s and "fits <well>" in s and "serial fraction" in s'
check "sweep" page hostile.html '"Sweep" in s and "tiled8x8" in s and "99x99too <large>" in s'
ok "a sweep" sweep convolve --backend=serial,omp:2 --block=8x8,16x16 --size=20,40 "${quick[@]}" --json=sizes.json
ok "of ranks" sweep svd --backend=serial --keep=2,3 --size=16 "${quick[@]}" --json=ranks.json
ok "of variants alone" sweep sort --backend=serial --size=100 "${quick[@]}" --json=variants.json
ok "classes" taxonomy --size=500 --backend=serial,simd "${quick[@]}" --json=classes.json
cat >emulate.py <<'PY'
import copy, json
def emulated(row, factor):
    row = dict(copy.deepcopy(row), resource="hip-cpu:0", emulation=True)
    return dict(row, **{key: factor * row[key] for key in ("kernel_s", "total_s", "wall_s") if key in row})
d = json.load(open("sqrt.json"))
d["results"] = [dict(row, kernel_s=1e-3, total_s=2e-3) for row in d["results"]]
d["results"] += [emulated(d["results"][0], 0.5), emulated(d["results"][0], 1e4)]
json.dump(d, open("emulated.json", "w"))
json.dump(dict(d, results=d["results"][2:]), open("emulations.json", "w"))
b = json.load(open("batch.json"))
own = b["batch"]["runs"][0]
own["times_s"] = 3 * [own["wall_s"]] # a whisker sets the scale, too
b["batch"]["runs"] = [own, emulated(own, 1e4)]
for stage in b["batch"]["runs"][1]["stages"]:
    stage["utilization"] = 1e3
json.dump(b, open("emulated-batch.json", "w"))
s = json.load(open("sizes.json"))
wrong = s["results"][0]
wrong["check"].update(ok=False, failed=1)
s["results"][1]["kernel_s"] = None
json.dump(s, open("wrong-sweep.json", "w"))
c = json.load(open("classes.json"))
c["taxonomy"]["misd"]["answers"][0]["check"].update(ok=False, failed=7, compared=500)
c["taxonomy"]["misd"]["means"] = "<b>&amp;"
json.dump(c, open("wrong-classes.json", "w"))
PY
"$PYTHON" emulate.py
ok "plots of sweeps" report sizes.json ranks.json variants.json "$saved/sweep.json" classes.json -o sweeps.html --plots=sweeps
check "a map and lines of each backend, of one dimension lines, of variants bars" "$PYTHON" -c '
import glob
names = sorted(n.partition("-sweep-")[2] for n in glob.glob("sweeps/*-sweep-*.svg"))
expected = [kind + "-" + what for kind, over in (("map", "block-and-size"), ("lines", "size"))
            for what in ("convolve--serial--kernel-over-" + over, "convolve--omp-2")]
assert all(any(n.startswith(e) for n in names) for e in expected), names
assert any("svd--serial--kernel-over-components" in n for n in names) and glob.glob("sweeps/*-times-sort--f32--100.svg"), names
assert len(names) == len(glob.glob("sweeps/*-sweep-*.png")) >= 7, names'
cat >map.py <<'PY'
import glob, json, re, sys, xml.dom.minidom
rows = [r for r in json.load(open(sys.argv[1]))["results"] if r["resource"] == "serial"]
svg = xml.dom.minidom.parse(glob.glob(sys.argv[2])[0])
texts = [t.toxml() and "".join(n.data for s in t.getElementsByTagName("tspan") + [t] for n in s.childNodes if n.nodeType == 3).strip()
         for t in svg.getElementsByTagName("text")]
def seconds(x):
    unit, name = next((u, n) for u, n in ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")) if x >= 0.9995 * u)
    y = x / unit
    return f"{y:.{2 if y < 9.995 else 1 if y < 99.95 else 0}f} {name}"
for r in rows:
    block = "x".join(map(str, r["block"][:2] if r["block"][2] == 1 else r["block"])) if r["block"][0] else ""
    for text in (seconds(r["kernel_s"]) if r["check"]["ok"] and r["kernel_s"] else None, (r["variant"] + " " + block).strip(), str(r["size"])):
        assert text is None or (r["disturbed"] is not None) * (text[-1] == "s") * "~" + text in texts, (text, texts)
fastest = {s: min(r["kernel_s"] for r in rows if r["size"] == s) for s in {r["size"] for r in rows}} if len(sys.argv) == 3 else {}
fills = re.findall(r"rgb\( *253, *231, *37\)", svg.toxml())
assert len(fills) >= len(fastest), fills
assert len(sys.argv) == 3 or sys.argv[3] in texts, texts
PY
check "the times of the document, the fastest of a size in the first colour" "$PYTHON" map.py sizes.json "sweeps/*sweep-map-convolve*serial*.svg"
check "of one size the fastest alone has the first colour" test \
    "$(grep -c 'polygon.*rgb( *253, *231, *37)' sweeps/*sweep-map-reconstruct*.svg)" = 2 # the cell, and the legend
check "taxonomy has its tables and its plot" page sweeps.html '
    all(w in s for w in ("Taxonomy", "what makes it so", "MISD", "No backend here is MISD", "1 thread, one number an instruction")) and
    s.count("serial SISD") == 1 and "Comparison" not in s'
run report wrong-sweep.json wrong-classes.json -o wrong.html --plots=wrong
check "a wrong combination or answer: exit code 1" test "$status" = 1
check "a wrong result is not timed" "$PYTHON" map.py wrong-sweep.json "wrong/*sweep-map-convolve*serial*.svg" wrong
check "a wrong answer is at the top" page wrong.html '"2 results are wrong" in s and "7 of 500 elements are wrong" in s and "<b>&amp;" in s'
ok "an emulation" report emulated.json emulated-batch.json emulations.json -o emulated.html --plots=emulated
check "sets no scale" "$PYTHON" -c '
import glob, re
def widths(name, colours):
    found = re.findall(r"<polygon fill = .rgb\( *(?:%s)\). points = .([-\d., ]*)." % colours, open(glob.glob(name)[0]).read())
    points = [[float(p.split(",")[0]) for p in f.split()] for f in found]
    return [max(x) - min(x) for x in points]
own, grey = "47, *126, *216|217, *115, *13", "128, *128, *128|180, *180, *180"
times = "emulated/*times-sqrt*.svg"
bars = widths(times, own)
assert len(bars) == 4 and all(abs(bars[i + 1] / bars[i] - 2) < 0.02 for i in (0, 2)) and max(bars) > 120, bars
grey = widths(times, grey) # half as long as the first; the others are broken
assert len(grey) == 6 and abs(grey[0] / bars[0] - 0.5) < 0.05 and max(grey) <= max(bars), grey
wall = widths("emulated/*batch-wall*.svg", own)
assert max(wall) > 120, wall'
check "and is labelled" page emulated.html 's.count("grey: an emulation, not to scale") == 2 and s.count(" emulation ") >= 2 and "emulation, bound by" in s'
ok "emulations alone" report emulations.json -o emulations.html --plots=emulations
check "have a scale of their own" page emulations.html '"an emulation: its times mean nothing" in s'
# Results some of which are noisy: of maximum the fastest and the scalar one, of the sweep one that is 1000 times as slow as it was.
cat >noise.py <<'PY'
import json, sys
why = "other programs took the processor 900 times a second: do not trust its times; measure again on a quiet machine"
compare, sweep, laws = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("compare", "sweep", "laws-omp"))
for r in compare["results"]:
    r["disturbed"] = {("maximum", "omp:16:v4"): why, ("maximum", "serial"): why.replace("900", "901")}.get((r["exercise"], r["resource"]))
slow = sweep["results"][0]
slow["times_s"]["kernel"] = [1000 * t for t in slow["times_s"]["kernel"]]
slow.update(disturbed=why, kernel_s=1000 * slow["kernel_s"])
laws["results"][laws["laws"]["strong"][2]["result"]]["disturbed"] = why
for name, d in ("compare", compare), ("sweep", sweep), ("laws", laws):
    json.dump(d, open(f"noisy-{name}.json", "w"))
PY
"$PYTHON" noise.py "$saved"
ok "noisy results" report noisy-*.json "$saved/ceiling.json" -o noisy.html --plots=noisy
check "a headline first" page noisy.html 's.index("what ran") < s.index("Comparison") and all(text in s for text in (
    "what ran3 exercises on 4 backends; sweep of reconstruct: 9 combinations; scaling of reconstruct on omp", "right31 of 31",
    "noisy4 of 31, marked ~", "hip-nvidia:0: 4.23 TB/s, 48.1 TFLOP/s f32, 30.9 TFLOP/s f64", "16 threads, 126 GiB", "GPUNVIDIA H200")) and tags.count("h1") == 1'
check "noise is neither the fastest nor a speed-up" page noisy.html '"fastestfastest kernel: hip-nvidia:0 in 3 of 3 exercises" in s and
    "fastest with the copies: hip-nvidia:0 in 2, too noisy in 1 of 3 exercises" in s and
    "largest speed-upreconstruct 1697x on hip-nvidia:0; with copies 147x" in s'
ok "the comparison alone" report compare.json -o said.html --plots=no
check "the headline says what the sentences above the table say" page said.html '"".join(t.partition("<dt>fastest</dt><dd>")[2].partition("</dd>")[0].replace("<br>", "").split()) ==
    "".join(open("compare.txt").read().partition("are right\n")[2].partition("exercise ")[0].split())'
check "what earlier versions did not record is not called quiet" page saved.html '"noisynot recorded" in s and "noisynone" not in s'
check "why there is no GPU" page hostile.html '"GPUnone: hip-nvidia: no NVIDIA <driver> here" in s'
check "a mark before the times of noisy rows alone, and why" page noisy.html '
    sorted(re.findall("<td class=n>~([0-9.]+ [mu]s)</td>", t.partition("<h2>Comparison")[2].partition("</section>")[0])) ==
    ["1.21 ms", "958 us", "97.5 ms", "99.8 ms"] and
    "2 of 12 rows are noisy: other programs took the processor 901 times a second (2). Do not trust" in s'
titles() { # PAGE TITLES: whether the comparison has these of its columns in this order, and copies only if they are among them
    "$PYTHON" -c 'import re, sys
found = re.findall("<th[^>]*>([^<]*)</th>", open(sys.argv[1]).read().partition("<h2>Comparison")[2].partition("</thead>")[0])
assert [title for title in found if title in sys.argv[2].split(",") + ["h2d", "d2h"]] == sys.argv[2].split(","), found' "$@"
}
check "sizes and copies" titles noisy.html exercise,backend,variant,kernel,total,size,h2d,d2h,check
check "no copies where there are none" titles stopped.html exercise,backend,variant,kernel,total,size,check
check "a size is that of the input" page noisy.html 's.count("2048x2048") >= 4 and "2062x2062" not in s'
# The whiskers of a plot are one path: each has a line and two ends, which are bent.
cat >whiskers.py <<'PY'
import glob, json, math, re, statistics, sys
def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+\.\d+", text)]
def read(name):
    svg = open(glob.glob(f"noisy/{name}.svg")[0] if "/" not in name else glob.glob(name)[0]).read()
    path = " ".join(re.findall(r"<path stroke='rgb\(  0,   0,   0\)' *d='([^']*)'", svg))
    lines = [numbers(part) for part in re.split("M", path) if part.count("L") == 1]
    shapes = [numbers(s) for s in re.findall(r"<polygon fill = 'rgb\( *(?:47, *126, *216|217, *115, *13|128, *128, *128)\)' points = '([^']*)'", svg)]
    return svg, lines, shapes
def quartiles(samples):
    first, _, third = statistics.quantiles(samples, n=4, method="inclusive")
    return first, third
rows = [r for r in json.load(open("noisy-compare.json"))["results"] if r["exercise"] == "maximum"]
svg, lines, shapes = read("*times-maximum*")
times = [(r[f"{k}_s"], *quartiles(r["times_s"][k])) for r in rows for k in ("kernel", "total")]
assert ">~1.21 ms<" in svg and ">~958 us<" in svg and svg.count(">~") == 4, "marks"
assert len(shapes) == len(times) and all(len(s) > 60 for s in shapes), "points, not bars"
at = [(min(s[::2]) + max(s[::2])) / 2 for s in shapes]
low, high = min(range(8), key=lambda i: at[i]), max(range(8), key=lambda i: at[i])
scale = (at[high] - at[low]) / math.log(times[high][0] / times[low][0])
assert len(lines) == 8, lines
for (_, *ends), line in zip(times, lines):
    for end, x in zip(ends, sorted((line[0], line[2]))):
        assert abs(at[low] + scale * math.log(end / times[low][0]) - x) < 0.5, (end, line)
runs = json.load(open(f"{sys.argv[1]}/batch.json"))["batch"]["runs"]
svg, lines, shapes = read("gpu/01-batch-wall*.svg")
bars = [s for s in shapes if len(s) <= 10]
left = min(min(s[::2]) for s in bars)
scale = (max(bars[0][::2]) - left) / runs[0]["wall_s"]
assert len(lines) == len(runs), lines
for run, line in zip(runs, lines):
    for end, x in zip(quartiles(run["times_s"]), sorted((line[0], line[2]))):
        assert abs(left + scale * end - x) < 0.5, (end, line)
points = json.load(open("noisy-laws.json"))["laws"]
svg, lines, _ = read("*laws-reconstruct*")
assert len(lines) == len(points["strong"] + points["weak"]) and svg.count(">~<") == 1, lines
svg, lines, _ = read("*roofline-hip-nvidia*")
assert len(lines) == 3 and ">TFLOP/s<" in svg and ">arithmetic intensity (FLOP/byte)<" in svg, lines
svg, lines, _ = read("*roofline-omp*")
assert ">~ maximum<" in svg and svg.count(">~") == 1, "the mark of a point"
assert ">GFLOP/s<" in read("*roofline-serial*")[0], "a smaller unit"
sweep = json.load(open("noisy-sweep.json"))["results"]
best = min(r["kernel_s"] for r in sweep)
most = max(r["kernel_s"] for r in sweep[1:]) / best
svg, _, _ = read("*sweep-map*")
assert svg.count(">~") == 1 and f">{most:.2f}x<" in svg and sweep[0]["kernel_s"] > 100 * most * best, "the scale of a map"
svg, lines, _ = read("*sweep-lines*")
assert svg.count(">~<") == 1 and len(lines) == len([r for r in sweep if r["block"][0]]), lines
PY
check "whiskers are the samples' quartiles, and marks in every plot" "$PYTHON" whiskers.py "$saved"
ok "two runs" report against.json -o against.html
check "and what they say" page against.html '"Two runs" in s and "verdict" in s and
    sum(int(n) for n in re.findall(r"(\d+) (?:faster|slower|same|unclear|noisy)", s.partition("kernels")[2].partition("older")[0])) ==
    len(json.load(open("against.json"))["pairs"]) == int(re.search(r"kernels(\d+) results: ", s)[1])'
run report --backend=serial --scale=0.0001 --dtype=u8 "${quick[@]}" --quiet -o run.html
check "no file: a comparison is run, in which reconstruct does not compute in u8" test "$status" = 1
check "and shown" page run.html '"reconstruct could not be run: --dtype" in s and s.count("select") >= 2'

refused "a size for files" 2 "--size: has no effect: 'compare.json' is given instead" report compare.json --size=3 -o no.html
refused "a trace" 2 "--trace" report compare.json --trace=t.json -o no.html
refused "a file that is not there" 2 none.json report none.json -o no.html
# Documents of flynn/1 and the same ones with the keys of flynn/2 give one page and one table.
mkdir now
"$PYTHON" - "$saved" <<'PY'
import json, pathlib, sys
NAMES = {"rank": "place", "rank_asked": "keep_asked", "told_error": "implied_error"}
renamed = set()
def rename(o, names):
    renamed.update(names.keys() & o.keys())
    return {names.get(k, k): v for k, v in o.items()}
for path in pathlib.Path(sys.argv[1]).glob("*.json"):
    d = json.loads(path.read_text())
    assert d["schema"] == "flynn/1", path
    d["schema"] = "flynn/2"
    for key in "results", "best", "cannot_run":
        if key in d:
            d[key] = [rename(o, NAMES) for o in d[key]]
    if "batch" in d:
        d["batch"] = rename(d["batch"], {"rank": "singular_values"})
        d["batch"]["runs"] = [rename(r, {"told_wall_s": "last_wall_s"}) for r in d["batch"]["runs"]]
    pathlib.Path("now", path.name).write_text(json.dumps(d))
assert renamed >= {"rank", "told_wall_s"}, renamed
PY
ok "documents of flynn/1" report "$saved"/*.json -o before.html
ok "the same of flynn/2" report now/*.json -o after.html
sed -i /footer/d before.html after.html # which has the names of the files
check "one page" cmp before.html after.html
ok "a table of flynn/1" compare --against="$saved/compare.json" "$saved/compare.json" --markdown
mv "$work/out" before.md
ok "the same of flynn/2" compare --against=now/compare.json now/compare.json --markdown
check "one table" cmp before.md "$work/out"
echo '{"schema": "flynn/3", "results": []}' >later.json
refused "a later schema" 2 "is not a document of schema flynn/2 or flynn/1" report later.json

echo '{"schema": "flynn/1", "variants": []}' >list.json
refused "nothing to report on" 2 "expected one that compare, ceiling, " report list.json -o no.html
echo '{"schema": "flynn/1", "results": [{"exercise": "sort"}, 1]}' >numbers.json
refused "results that are none" 2 numbers.json report numbers.json -o no.html
cat >odd.json <<'JSON'
{"schema": "flynn/1", "machine": [], "results": [{}, {"exercise": 1, "times_s": [], "check": "ok", "shape": [-1, {}]}],
 "ceilings": [1, {"quantities": [{}]}], "skipped": {"a": 1}, "failed": [2], "laws": [[], {"strong": [{"n": "x"}], "weak": 3}]}
JSON
cat >odd-sweep.json <<'JSON'
{"schema": "flynn/1", "machine": [], "best": 3, "cannot_run": [1], "results": [{"size": "a", "kernel_s": 1}, {"size": -1, "block": 3,
 "rank_asked": [], "kernel_s": "x", "check": {"ok": true}}, {"size": 1e300, "kernel_s": 1e300, "check": {"ok": true}}]}
JSON
cat >odd-classes.json <<'JSON'
{"schema": "flynn/1", "machine": [], "results": [], "taxonomy": {"steps": [1, {"resource": [], "check": 2}], "no_gpu": 3,
 "misd": {"answers": [{"variant": 1}, {"variant": "check", "check": 1}], "pairs": [1, {"a": 2}], "means": []}}}
JSON
for odd in odd-sweep odd-classes; do
    run report $odd.json -o $odd.html
    check "$odd: exit code 1" test "$status" = 1
    check "$odd: and a page" page $odd.html '"are wrong" in s or "is wrong" in s'
done
run report odd.json -o odd.html
check "keys of other types: exit code 1" test "$status" = 1
check "and a page" page odd.html '"2 results are wrong, 1 exercise could not be run" in s'
echo '{' >broken.json
refused "no JSON" 2 "line 2" report broken.json -o no.html --plots=no
refused "a picture that is none" 2 broken.json report compare.json --picture=broken.json -o no.html
refused "a page that cannot be written" 4 nowhere report compare.json -o nowhere/page.html
printf '#!/bin/bash\nPATH=/nonexistent exec %q "$@"\n' "$flynn" >"$work/without"
chmod +x "$work/without"
flynn=$work/without ok "no gnuplot" report "$saved"/*.json compare.json classes.json -o no.html
check "is said" grep -q "the page has tables alone: gnuplot was not found.*apt-get install gnuplot-nox" "$work/err"
check "and a page with all tables" page no.html '"svg" not in tags and "<h2>Times" not in t and "Roofline" not in s and
    "Without plots: gnuplot was not found, which draws the plots; apt-get install gnuplot-nox" in s and
    all(w in s for w in ("Comparison", "Ceilings", "bound by", "Steps", "All combinations", "Points", "Fits"))'
mkdir "$work/fails" && printf '#!/bin/sh\nexit 1\n' >"$work/fails/gnuplot" && chmod +x "$work/fails/gnuplot"
PATH=$work/fails:$PATH refused "a gnuplot that does not start" 4 "gnuplot is installed, but does not start" report compare.json -o no2.html
flynn=$work/without refused "no gnuplot for plots as files" 3 "--plots=no: gnuplot was not found" report compare.json -o no2.html --plots=no
check "without a page" test ! -e no2.html
summary
