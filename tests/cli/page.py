# SPDX-License-Identifier: MIT
"""The page of flynn report in a browser, at 390, 1280, 1500 and 1920 pixels, light and dark: no row of a table and no plot is cut
off at 1280 pixels and above, no text lies on another one, text and whiskers can be seen on what is behind them, an emulation
is labelled and sets no scale, and nothing is loaded. On a phone tables scroll in their own box and the page does not; their
first column stays, and the comparison shows its times before it is scrolled. On paper no heading is the last of its page.

Chromium is driven through two pipes (--remote-debugging-pipe): requests of its DevTools protocol as JSON, each with a NUL
behind it. FLYNN_TEST_PICTURES=FOLDER keeps what was seen.
"""
import base64
import copy
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

FLYNN = os.environ["FLYNN"]
SAVED = pathlib.Path(os.environ["FLYNN_SOURCE"]) / "tests/data/saved"
WIDTHS = [390, 1280, 1500, 1920]
failed = passed = 0


def check(title, found):
    """`found` is what is wrong: nothing, or texts."""
    global failed, passed
    failed, passed = failed + bool(found), passed + (not found)
    if found:
        print(f"FAILED: {title}: {found[:6]}", file=sys.stderr)


class Browser:
    def __init__(self, program, folder):
        # Above 9, so that the browser's 3 and 4 are free.
        ours, theirs = os.pipe(), os.pipe()
        read_requests, self.requests, self.answers, write_answers = (
            fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (*ours, *theirs))
        for end in (*ours, *theirs):
            os.close(end)
        silent = [(os.POSIX_SPAWN_OPEN, end, os.devnull, os.O_RDWR, 0) for end in (1, 2)]
        self.process = os.posix_spawn(
            program, [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                      "--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={folder}",
                      "--remote-debugging-pipe", "about:blank"], os.environ,
            file_actions=[*silent, (os.POSIX_SPAWN_DUP2, read_requests, 3), (os.POSIX_SPAWN_DUP2, write_answers, 4)])
        os.close(read_requests)
        os.close(write_answers)
        self.count, self.rest, self.session, self.events = 0, b"", None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")

    def message(self):
        while b"\0" not in self.rest:
            data = os.read(self.answers, 1 << 16)
            assert data, "the browser ended"
            self.rest += data
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def ask(self, method, **parameters):
        self.count += 1
        request = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.requests, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer.get("method"))

    def show(self, path, width, scheme):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.ask("Page.navigate", url=f"file://{os.path.abspath(path)}")
        while "Page.loadEventFired" not in self.events:
            self.events.append(self.message().get("method"))

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"]["value"]

    def picture(self, path):
        height = self.value("document.documentElement.scrollHeight")
        width = self.value("innerWidth")
        picture = self.ask("Page.captureScreenshot", captureBeyondViewport=True,
                           clip={"x": 0, "y": 0, "width": width, "height": min(height, 16000), "scale": 1})
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))

    def paper(self):
        """What is drawn on each sheet of paper, in PDF's operators."""
        printed = base64.b64decode(self.ask("Page.printToPDF", preferCSSPageSize=True)["data"])
        parts = [printed[m.end():m.end() + int(m[1])] for m in re.finditer(rb"/Length (\d+)>>\s*stream\r?\n", printed)]
        drawn = [zlib.decompress(part) for part in parts if part[:1] == b"x"]
        return [sheet.decode("latin-1") for sheet in drawn if b"\nBT\n" in sheet]

    def close(self):
        self.session = None
        try:
            self.ask("Browser.close")
        except (AssertionError, OSError):
            pass
        os.waitpid(self.process, 0)
        os.close(self.requests)
        os.close(self.answers)


# What is wrong with the page that is shown, as lists of texts.
MEASURE = """(() => {
const all = (what, in_ = document) => [...in_.querySelectorAll(what)], root = document.documentElement
const said = e => (e.closest('.scroll')?.ariaLabel || '') + ': ' + e.textContent.trim().slice(0, 40)
const page = root.scrollWidth > root.clientWidth ? [root.scrollWidth + ' of ' + root.clientWidth + ' pixels'] : []
const cut = all('.scroll').filter(e => e.scrollWidth > e.clientWidth)
    .map(e => (e.ariaLabel || e.querySelector('[role=img]').ariaLabel) + ' ' + e.scrollWidth + ' of ' + e.clientWidth)
const boxes = e => { const r = document.createRange(); r.selectNodeContents(e); return [...r.getClientRects()].filter(b => b.width) }
const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
                       Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
const spilt = all('th, td').filter(e => { const c = e.getBoundingClientRect()
    return boxes(e).some(b => b.left < c.left - 1 || b.right > c.right + 1 || b.top < c.top - 1 || b.bottom > c.bottom + 1) }).map(said)
const texts = all('h1, h2, h3, h4, p, dt, dd, figcaption, li').map(e => [e, boxes(e)])
const onto = []
for (let i = 1; i < texts.length; i++)
    if (texts[i][1].some(a => texts[i - 1][1].some(b => meet(a, b)))) onto.push(said(texts[i][0]))
for (const svg of all('svg')) {
    const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width
    const labels = all('text', svg).filter(e => e.textContent.trim()).map(e => [e, e.getBoundingClientRect()])
    labels.forEach(([e, a], i) => {
        if (a.left < frame.left - 3 || a.right > frame.right + 3 || a.top < frame.top - 3 || a.bottom > frame.bottom + 3)
            onto.push('beyond its plot: ' + e.textContent.trim())
        for (const [other, b] of labels.slice(i + 1))
            if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
                Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5 * scale)
                onto.push(e.textContent.trim() + ' on ' + other.textContent.trim())
    })
}
const numbers = colour => colour.match(/[\\d.]+/g).map(Number)
const light = colour => numbers(colour).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor
    if (numbers(c).length == 3 || numbers(c)[3] > 0.5) return c } return 'rgb(255, 255, 255)' }
const faint = all('h1, h2, h3, h4, p, dt, dd, th, td, figcaption, li, svg text').filter(e => e.textContent.trim()).filter(e => {
    const style = getComputedStyle(e), svg = e.closest('svg')
    if (svg && !/black/.test(e.getAttribute('fill') || e.parentElement.getAttribute('fill') || '')) return false
    const [a, b] = [light(svg ? style.fill : style.color), light(behind(e))].sort((x, y) => x - y)
    return (b + 0.05) / (a + 0.05) < 4.5 }).map(said)
for (const e of all('svg path[stroke="rgb(  0,   0,   0)"]')) {
    const [a, b] = [light(getComputedStyle(e).stroke), light(behind(e))].sort((x, y) => x - y)
    if ((b + 0.05) / (a + 0.05) < 4.5) faint.push('a whisker') }
const loaded = performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith('data:'))
return { page, cut, spilt, onto, faint, loaded, tables: all('table').length, plots: all('svg').length,
    whiskers: all('svg path[stroke="rgb(  0,   0,   0)"]').length } })()"""

# A table on a phone: the left end of a cell of its first column when it is scrolled, and which columns show before.
PHONE = """(() => { const box = document.querySelector('.scroll[aria-label=Comparison]'), edge = box.getBoundingClientRect()
const shown = [...box.querySelectorAll('thead th')].filter(e => e.getBoundingClientRect().right <= edge.right).map(e => e.textContent)
box.scrollLeft = 300
const cells = [...box.querySelectorAll('tbody th, thead th:first-child')].map(e => e.getBoundingClientRect().left - edge.left)
return { shown, scrolled: box.scrollLeft, cells } })()"""

HEADINGS = "h1,h2,h3,h4{color:#010203!important}"


def heading_ends(sheet):
    """Whether the lowest text of a sheet is a heading, which has a colour of its own. Lengths grow upwards."""
    lowest, colour, matrix, saved = {True: 1e9, False: 1e9}, "", (1, 0, 0, 1, 0, 0), []
    for line in sheet.splitlines():
        *words, operator = line.split() or [""]
        if operator == "q":
            saved.append(matrix)
        elif operator == "Q":
            matrix = saved.pop()
        elif operator == "cm":
            (a, b, c, d, e, f), (g, h, i, j, k, l) = map(float, words), matrix
            matrix = (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l)
        elif operator == "rg":
            colour = tuple(round(255 * float(word)) for word in words[-3:])
        elif operator == "Tm":
            x, y = map(float, words[-2:])
            is_heading = colour == (1, 2, 3)
            lowest[is_heading] = min(lowest[is_heading], x * matrix[1] + y * matrix[3] + matrix[5])
    return lowest[True] < lowest[False]


def headings_alone(shown, css):
    """Headings at the ends of sheets, with the page's content at several heights."""
    found, text = [], pathlib.Path("page.html").read_text(encoding="utf-8")
    for height in range(0, 700, 140):
        style = f"{HEADINGS}main{{padding-top:{height}px!important}}{css}</style>"
        pathlib.Path("printed.html").write_text(text.replace("</style>", style), encoding="utf-8")
        shown.show("printed.html", 1280, "light")
        sheets = shown.paper()
        assert len(sheets) > 5 and any(".0039 .0078 .0118 rg" in sheet for sheet in sheets), len(sheets)
        found += [f"{height} pixels lower: sheet {i + 1}" for i, sheet in enumerate(sheets[:-1]) if heading_ends(sheet)]
    return found


def save(name, document):
    pathlib.Path(name).write_text(json.dumps(document), encoding="utf-8")


def load(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def emulated(row, factor):
    row = copy.deepcopy(row)
    row.update(resource="hip-cpu:0", backend="hip-cpu", emulation=True, flynn_class="SIMT", rank=None, relative=None,
               speed_up=None, speed_up_with_copies=None, percent_of_ceiling=None)
    for key in ("kernel_s", "total_s", "wall_s", "cold_s"):
        if key in row:
            row[key] *= factor
    return row


def flynn(*words):
    done = subprocess.run([FLYNN, *words], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, (words, done.stderr)


def make_documents():
    """Results of a GPU and of processors, each beside an emulation that is 40 times as slow; what cannot be run; long texts."""
    compare, ceiling, sweep, batch = (load(SAVED / f"{name}.json") for name in ("compare", "ceiling", "sweep", "batch"))
    rows = {row["exercise"]: row for row in reversed(compare["results"])}
    compare["results"] = sorted(compare["results"] + [emulated(row, 40) for row in rows.values()], key=lambda r: r["exercise"])
    for row in compare["results"][:4]:
        row.update(speed_up=0.000735, gflops=12345.6, spread=123.4)
    for i, row in enumerate(compare["results"]):  # as on a GPU: all 20 columns, with long numbers of which a third is noisy
        row.update(n=1000, cold_s=0.123)
        if not row["emulation"]:
            row["percent_of_ceiling"] = 97.1
        if i % 3 == 0 and not row["emulation"]:
            row.update(disturbed="the GPU lowered its clock for power or heat", speed_up_disturbed=True)
    save("compare.json", compare)
    ceiling["ceilings"].append(emulated(ceiling["ceilings"][0], 1))
    save("ceiling.json", ceiling)
    batch["batch"]["runs"].append(emulated(batch["batch"]["runs"][0], 40))
    for stage in batch["batch"]["runs"][-1]["stages"]:
        stage["utilization"] = 5
    save("batch.json", batch)
    sizes = copy.deepcopy(sweep)
    sizes["results"] = []
    for size in (256, 1024, 4096):
        for row in sweep["results"]:
            row = dict(copy.deepcopy(row), size=size, kernel_s=row["kernel_s"] * (size / 1024) ** 2)
            sizes["results"] += [row, emulated(row, 40)]
    # Times whose axes end near 200 us, some of them at it: its label is as long as they are.
    edges = dict(compare, results=[dict(compare["results"][0], shape=[k], **dict.fromkeys(("kernel_s", "total_s"), 1.35e-4 * 1.012 ** k))
                                   for k in range(24)])
    save("edges.json", edges)
    sizes["cannot_run"][0]["reason"] = "a long reason " * 20 + "x" * 200
    save("sizes.json", sizes)
    quick = ("--repeat=2", "--warmup=0", "--quiet")
    flynn("taxonomy", "--size=2000", "--backend=serial,simd,omp:2", *quick, "--json=steps.json")
    flynn("sweep", "svd", "--backend=serial", "--size=16,32", "--keep=2,5", *quick, "--json=ranks.json")
    flynn("sweep", "sort", "--backend=serial", "--size=1000", *quick, "--json=variants.json")
    steps = load("steps.json")
    own = steps["taxonomy"]["steps"]
    own.append(dict(emulated(own[0], 40), what="warps of 64 threads in step, 2 multiprocessors, imitated"))
    save("steps.json", steps)
    return ["compare.json", "ceiling.json", "batch.json", "sizes.json", str(SAVED / "sweep.json"), "steps.json", "ranks.json",
            "variants.json", *(str(SAVED / name) for name in ("laws-hip.json", "laws-omp.json", "slice.json"))]


def make_kernels():
    """Own kernels with numbers and blocks, as on a GPU: the most columns, with long numbers. False: hip-cpu cannot run here."""
    kernel = f"{os.environ['FLYNN_SOURCE']}/docs/kernels/reconstruct.hip"
    words = ("compare", "kernel", kernel, "random:{m}x9", "random:9", "random:9x{m}", "out={m}x{m}", "{m}", "{m}", "9", "--let=m=20,30",
             "--block=4x4,8x8", "--flops=2*m*m*9", "--backend=hip-cpu", "--repeat=2", "--warmup=0", "--quiet", "--json=kernels.json")
    if "hip-cpu: can run here" not in subprocess.run([FLYNN, "info", "hip-cpu"], capture_output=True, check=False, text=True).stdout:
        return False
    flynn(*words)
    kernels = load("kernels.json")
    for i, row in enumerate(kernels["results"]):
        row.update(emulation=False, backend="hip-nvidia", resource="hip-nvidia:0", n=1000, cold_s=0.123, gflops=12345.6, spread=123.4, h2d_s=1.23e-4,
                   d2h_s=1.23e-4, percent_of_ceiling=97.1, speed_up=0.000735, speed_up_with_copies=0.000735, relative=12.3, place=i + 1,
                   variant="reconstruct_tiled")
        row["check"]["ok"] = True
        if i % 2 == 0:
            row.update(disturbed="the GPU lowered its clock for power or heat", speed_up_disturbed=True)
    save("kernels.json", kernels)
    return True


PARTS = """(() => { const section = title => [...document.querySelectorAll('section')].find(s => s.querySelector('h2').textContent == title)
const bars = svg => [...svg.querySelectorAll('polygon')].filter(p => { const c = p.getAttribute('fill') || ''
    return /47, *126, *216|217, *115, *13|128, *128, *128|180, *180, *180/.test(c) })
const end = p => p.getBBox().x + p.getBBox().width
return { titles: [...document.querySelectorAll('h2')].map(h => h.textContent),
  times: [...section('Times').querySelectorAll('svg')].map(svg => ({ text: svg.textContent, title: svg.closest('figure').textContent,
      farthest: Math.max(...bars(svg).filter(p => /47, *126, *216|217, *115, *13/.test(p.getAttribute('fill'))).map(end)), width: svg.viewBox.baseVal.width })),
  sweeps: [...section('Sweep').querySelectorAll('figure')].map(f => f.querySelector('figcaption').textContent),
  taxonomy: section('Taxonomy').textContent } })()"""


def main():
    browser = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None)
    missing = None if browser else "no chromium; apt-get install chromium-headless-shell"
    missing = missing or (None if shutil.which("gnuplot") else "no gnuplot; apt-get install gnuplot-nox")
    if missing:
        print(f"skipped: the page of flynn report is not looked at: {missing}")
        return 77
    pictures = os.environ.get("FLYNN_TEST_PICTURES")
    with tempfile.TemporaryDirectory(prefix="flynn-page.") as work:
        os.chdir(work)
        os.environ["FLYNN_CACHE"] = work
        flynn("report", *make_documents(), "-o", "page.html")
        flynn("report", "edges.json", "-o", "edges.html")
        if make_kernels():
            flynn("report", "kernels.json", "-o", "kernels.html")
        shown = Browser(browser, os.path.join(work, "profile"))
        try:
            look(shown, pictures)
        finally:
            shown.close()
            os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def look(shown, pictures):
    quick = os.environ.get("FLYNN_TEST_QUICK")
    for width in WIDTHS:
        for scheme in [random.Random(f"{quick} {width}").choice(("light", "dark"))] if quick else ("light", "dark"):
            shown.show("page.html", width, scheme)
            found, where = shown.value(MEASURE), f"{width} pixels, {scheme}"
            assert found["tables"] > 10 and found["plots"] > 15 and found["whiskers"] > 10, found
            check(f"{where}: the page is as wide as the screen", found["page"])
            if width >= 1280:
                check(f"{where}: no row and no plot is cut", found["cut"])
            check(f"{where}: each text is in its cell", found["spilt"])
            check(f"{where}: no text lies on another", found["onto"])
            check(f"{where}: text can be read", found["faint"])
            check(f"{where}: nothing is loaded", found["loaded"])
            if pictures:
                shown.picture(os.path.join(pictures, f"page-{width}-{scheme}.png"))
    shown.show("page.html", 390, "light")
    phone = shown.value(PHONE)
    check("a phone shows the times", [name for name in ("exercise", "backend", "kernel", "total") if name not in phone["shown"]])
    check("and the first column stays at its left", [left for left in phone["cells"] if abs(left) > 1] or phone["scrolled"] < 300)
    check("no heading is alone at the end of a sheet of paper", headings_alone(shown, ""))
    shown.show("page.html", 1920, "light")
    parts = shown.value(PARTS)
    check("sections", [name for name in ("Comparison", "Times", "Roofline", "Taxonomy", "Sweep", "Scaling")
                       if name not in parts["titles"]])
    check("an emulation is labelled in each chart that has one",
          [t["title"] for t in parts["times"] if "hip-cpu" in t["text"] and
           not ("emulation" in t["text"] and "an emulation" in t["title"])] + ([] if parts["times"] else ["no charts"]))
    check("and sets no scale: the farthest other bar or point is beyond half of the plot",
          [t["title"] for t in parts["times"] if "hip-cpu" in t["text"] and t["farthest"] < t["width"] / 2])
    check("each backend of a sweep has a map and lines",
          [name for name in ("hip-nvidia:0: kernel over block and size", "hip-cpu:0: kernel over block and size",
                             "hip-nvidia:0: kernel over size", "hip-nvidia:0: kernel over variant and block",
                             "hip-nvidia:0: kernel over block", "sort, f32, 1000")
           if not any(name in caption for caption in parts["sweeps"])])
    check("and says that it is an emulation", [c for c in parts["sweeps"] if "hip-cpu" in c and "an emulation" not in c])
    check("taxonomy", [text for text in ("MISD", "imitated", "hip-cpu:0", "what makes it so") if text not in parts["taxonomy"]])
    shown.show("edges.html", 1280, "light")
    check("no label of an axis is beyond its plot", shown.value(MEASURE)["onto"])
    for width in WIDTHS if os.path.exists("kernels.html") else ():
        shown.show("kernels.html", width, "light")
        found = shown.value(MEASURE)
        check(f"own kernels, {width} pixels", found["page"] + found["spilt"] + found["onto"] + (found["cut"] if width >= 1280 else []))
        columns = shown.value("document.querySelectorAll('.scroll[aria-label=Comparison] thead th').length")
        check("their table has the most columns", [] if columns >= 22 else [columns])
    # What these measures would find: a table that is too wide, a cell's text beyond it, one text on another, a picture from elsewhere.
    shown.show("page.html", 1280, "light")
    shown.value("""document.querySelector('table').style.width = '3000px'
document.querySelectorAll('td')[9].innerHTML = '<span style="position:relative;left:500px">text</span>'
const heading = document.querySelectorAll('h2')[1]; heading.style.cssText = 'position:relative;top:40px'
document.querySelector('svg text').setAttribute('transform', 'translate(9000,0)')
document.querySelector('p.note').style.color = getComputedStyle(document.body).backgroundColor
const wide = document.createElement('p'); wide.style.width = '4000px'; wide.textContent = 'wide'; document.body.append(wide); 0""")
    found = shown.value(MEASURE)
    check("a fault is found", [key for key in ("page", "cut", "spilt", "onto", "faint") if not found[key]])
    check("a heading that is alone is found", not headings_alone(shown, "*{break-after:auto!important;break-inside:auto!important}"))


if __name__ == "__main__":
    sys.exit(main())
