#!/bin/bash
# SPDX-License-Identifier: MIT
# Noisy rows: the mark `~` in every table, no place and no best, the line below, the verdict, and compare --again.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=2 --warmup=0) # two samples cannot show that they vary: what the system says decides
if [ -z "${FLYNN_TEST_MACHINE:-}" ]; then
    echo "skipped: no library can be loaded before the command" >&2
    exit 77
fi
busy='other programs or threads took the processor'

# lines PATTERN COUNT: so many lines of the last table match.
lines() {
    test "$(grep -cE -- "$1" "$work/out")" = "$2"
}
# marked TITLE: the last table has one line that says why rows are noisy, and what to do.
marked() {
    check "$1: one line says why" lines "^~: [0-9]+ of [0-9]+ rows? (is|are) noisy, .*: $busy [0-9]+ times a second; measure again on a quiet machine" 1
}

on_machine busy
two=(sort --backend=serial,omp:2 --size=2000 "${quick[@]}")
ok "an exercise" "${two[@]}" --columns=backend,kernel,total,GB/s,speed-up,with-copies,place
check "each time, rate and speed-up has its mark, and no place" lines '^(serial|omp:2:[a-z0-9]+) +~[0-9.]+ [mun]?s +~[0-9.]+ [mun]?s +~[0-9.e-]+ +~[0-9.e-]+x +~[0-9.e-]+x +-$' 2
marked "an exercise"
check "and names the first row" grep -q "^~: 2 of 2 rows are noisy, such as sort on serial: " "$work/out"
ok "its JSON" "${two[@]}" --json
check "has the cause alone, and no place" json "$work/out" "all(r['disturbed'].startswith('$busy') and r['disturbed'].endswith('a second') and
    r['place'] is r['relative'] is None and r['speed_up'] > 0 and r['speed_up_disturbed'] is True for r in d['results'])"
ok "one row" sort --size=2000 "${quick[@]}"
check "is said to be it" grep -q "^~: 1 of 1 row is noisy, sort on serial: " "$work/out"
# A device with memory of its own, as a GPU: what runs on the processors is no cause there.
FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/failing ok "a GPU" sort --backend=serial,failing --size=2000 "${quick[@]}" --json
check "nothing is blamed on the processors there" json "$work/out" '[(r["backend"], r["host_memory"], r["disturbed"] is None,
    r["place"], r["speed_up_disturbed"]) for r in d["results"]] ==
    [("serial", "in place", False, None, True), ("failing", "pinned", True, 1, True)]'
ok "compare" compare sort --backend=serial,omp:2 --size=2000 "${quick[@]}" --json=busy.json --wide
check "marks its rows" lines '^sort .* ~[0-9.]+ [mun]?s .* ~[0-9.e-]+x +~[0-9.e-]+x +- ok$' 2
check "and says how they are measured again" grep -q '(--min-time=2); `flynn compare --again=busy.json` measures only such rows$' "$work/out"
ok "Markdown" compare sort --size=2000 "${quick[@]}" --markdown
check "marks them, too" lines '^\| sort .* \| ~[0-9.]+ [mun]?s \| .* \| ~1.00x \| ~1.00x \| - \| ok \|$' 1
ok "sweep" sweep transpose --size=40,50 --variant=naive,tiled "${quick[@]}" --save --wide
check "marks its rows, and compares them with none" lines '^transpose .* ~[0-9.]+ [mun]?s .* - ok$' 4
check "has no best" lines '^best of ' 0
check "and says so once for each size" lines '^no best of size (40|50) on serial: every row is noisy$' 2
check "keeps none" test ! -e "$work/cache/sweeps.json"
ok "laws" laws sort --backend=omp --threads=1,2 --size=2000 "${quick[@]}"
check "marks times, rates and speed-ups" lines '^(strong|weak) .* ~[0-9.]+ [mun]?s( .*)? ~[0-9.]+ \+- [0-9.]+ ' 4
check "has no best number of threads" lines '^(strong|weak) scaling: too noisy to say how it grows; noisy, and not ranked: n = 1, 2$' 2
marked laws
ok "taxonomy" taxonomy --backend=serial,simd --size=2000 "${quick[@]}" --wide
check "marks times and steps" lines '^(SISD|SIMD) .* ~[0-9.]+ [mun]?s .* ok$' 2
check "of which the first is none" lines '^SIMD .* ~[0-9.e-]+x +~[0-9.e-]+x ok$' 1
marked taxonomy
check "has no fastest step" lines '^too noisy to say which is the fastest: serial and simd:' 1
ok "slice" slice --backend=serial --size=64 --slice=0:9,: "${quick[@]}" --wide
check "marks times, rates and speed-ups, and ranks none" lines '^serial .* ~[0-9.]+ [mun]?s +~[0-9.e-]+ +~[0-9.e-]+x +- ok$' 3
check "has no fastest one" lines '^too noisy to say which is the fastest: whole, view and packed$' 1
check "nor one that is faster" lines ' is faster than [a-z]+ for 0 of 1 slice, 1 noisy$' 2
marked slice
ok "ceiling" ceiling --backend=serial --size=1000000 --repeat=2
check "marks its rows" lines '^serial .* ~[0-9.]+ ' 9
check "says so" lines "^~: 9 of 9 rows are noisy, such as copy on the device, serial: $busy .*ceilings that are noisy are not kept$" 1
check "keeps none" json "$work/cache/ceilings.json" 'all(v is None for c in d.values() for v in c.values())'
check "and names no file" lines '^kept in ' 0
check "and says that of each" test "$(grep -c "$busy.*: it is not kept; measure it again" "$work/err")" = 2
check "and of the copy that its arrays fit into the caches" test "$(grep -c "copy on the device: .*: it is not kept" "$work/err")" = 1

"$PYTHON" - "$saved/batch.json" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
for run in d["batch"]["runs"]:
    run.update(times_s=[1.0, 3.0, 9.0], wall_s=3.0)
    run.pop("spread", None)
json.dump(d, open("batch.json", "w"))
PY
ok "batch, whose passes vary by more than half" report batch.json -o batch.html
check "marks its wall and its rate" grep -qE '>~3.00 s<.*>~[0-9.]+<' <(tr -d '\n' <batch.html)

on_machine quiet
ok "slice there" slice --backend=serial --size=64 --slice=0:9,: "${quick[@]}" --json
check "ranks all" json "$work/out" 'sorted(r["place"] for r in d["results"])[0] == 1 and
    all(r["disturbed"] is None and r["speed_up_disturbed"] is False for r in d["results"])'
# A device with copies against a processor; the sentence is made again from the rows.
FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/failing ok "copies that pay or not" sweep sort --backend=serial,failing --size=100,2000,30000 --variant=radix "${quick[@]}" --with-copies --json
cat >pays.py <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
total = {(r["backend_requested"], r["size"]): r["total_s"] for r in d["results"] if r["disturbed"] is None}
sizes = [n for n in (100, 2000, 30000) if ("failing", n) in total and ("serial", n) in total]  # a row that was disturbed does not count
pays = [total["failing", n] < total["serial", n] for n in sizes]
first = len(pays)
while first > 0 and pays[first - 1]:
    first -= 1
start = "with the copies failing "
expected = ("with the copies nothing says whether failing pays" if not sizes else
            start + "pays from the least size on: at " if first == 0 else
            start + f"does not pay at size {sizes[-1]}: it is " if first == len(pays) else start + f"pays from size {sizes[first]} on: there it is ")
assert len(d["with_copies"]) == 1 and d["with_copies"][0].startswith(expected), (d["with_copies"], sizes, pays)
PY
check "are said of the device that has them" "$PYTHON" pays.py "$work/out"
ok "a quiet machine" "${two[@]}"
check "has no mark" lines '~' 0
ok "its JSON" "${two[@]}" --json
check "has no cause, and places" json "$work/out" 'all(r["disturbed"] is None and not r["speed_up_disturbed"] for r in d["results"]) and
    sorted(r["place"] for r in d["results"]) in ([1, 2], [1, 1])'
ok "a ceiling's table" ceiling --backend=serial --size=1000000 --repeat=2
json "$work/cache/ceilings.json" 'any(v is not None for c in d.values() for v in c.values())' && kept=1 || kept=0 # times may vary by themselves
check "names the file where one is kept" lines "^kept in $work/cache/ceilings.json: " $kept
ok "ceiling there" ceiling --backend=serial --size=1000000 --repeat=2 --json
check "blames no other program" json "$work/out" "not any((q['disturbed'] or '').startswith('$busy') for c in d['ceilings'] for q in c['quantities'])"

# Times that vary by more than half, of at least three samples, are noisy whatever the system says; one sample has no spread.
ok "one sample" compare sort --size=2000 --repeat=1 --warmup=0 --json=one.json --wide
check "has no spread" json one.json '[r["spread"] for r in d["results"]] == [None]'
check "which a table shows" grep -qE ' - +1 ' "$work/out"

# ------------------------------------------------------------------------------------------------ two saved runs

ok "a quiet run" compare sort --backend=serial,omp:2 --size=2000 "${quick[@]}" --json=quiet.json
cat >vary.py <<'PY'
import json, sys
d = json.load(open("quiet.json"))
for r in d["results"]:
    for key in "kernel", "total":
        r["times_s"][key] = [float(sys.argv[1]) * (1 + 0.001 * i) for i in range(9)]
if len(sys.argv) > 3:
    d["results"][1]["disturbed"] = sys.argv[3]
json.dump(d, open(sys.argv[2], "w"))
PY
"$PYTHON" vary.py 2e-3 slow.json
"$PYTHON" vary.py 1e-3 mixed.json "a cause"
ok "half the time, where one row is noisy" compare --against=slow.json mixed.json --json
check "is noisy there, and faster in the other" json "$work/out" '[(p["kernel"]["verdict"], p["total"]["verdict"], p["disturbed"],
    p["older_disturbed"], p["newer_disturbed"]) for p in d["pairs"]] ==
    [("faster", "faster", None, False, False), ("noisy", "noisy", "a cause", False, True)]'
ok "in words" compare --against=slow.json mixed.json --wide
check "the noisy time and the ratio are marked" lines '^sort .* 2.01 ms +~1.00 ms +~2.00x noisy +2.01 ms +~1.00 ms +~2.00x noisy *$' 1
check "the others are not" lines '^sort .* 2.01 ms +1.00 ms +2.00x faster +2.01 ms +1.00 ms +2.00x faster *$' 1
check "one line says why" grep -q '^~: 1 of 2 rows is noisy, sort on omp:2:.*: a cause; .*; a verdict is noisy where one of the two rows is$' "$work/out"

# ------------------------------------------------------------------------------------------------------- --again

ok "measured again" compare --again=mixed.json --json=again.json
cat >merged.py <<'PY'
import json
old, new = (json.load(open(f))["results"] for f in ("mixed.json", "again.json"))
assert [(r["exercise"], r["resource"], r["command"]) for r in old] == [(r["exercise"], r["resource"], r["command"]) for r in new]
assert old[0]["times_s"] == new[0]["times_s"] and old[1]["times_s"] != new[1]["times_s"] and len(new[1]["times_s"]["total"]) == 2
assert new[1]["disturbed"] is None and not new[1]["speed_up_disturbed"] and {r["place"] for r in new} == {1, 2}
assert abs(new[1]["speed_up"] - new[0]["kernel_s"] / new[1]["kernel_s"]) < 1e-9 * new[1]["speed_up"]
PY
check "only the noisy row, in its place, with new places" "$PYTHON" merged.py
check "and no mark is left" lines '~' 0
ok "for longer" compare --again=mixed.json --repeat=5 --json
check "is how the row is measured" json "$work/out" '[len(r["times_s"]["total"]) for r in d["results"]] == [9, 5] and
    ["--repeat=5" in r["command"] for r in d["results"]] == [False, True]'
# Each option that compare passes on to an exercise is one that --again takes from a document.
each_option=(--variant=naive --dtype=f64 --min-time=0.01 --until=50% --flush --warmup=0 --seed=3 --pageable)
ok "all options" compare sort --backend=serial,omp:2 --size=2000 "${each_option[@]}" --json=passed.json
"$PYTHON" -c 'import json
d = json.load(open("passed.json")); d["results"][0]["disturbed"] = "a cause"; json.dump(d, open("passed.json", "w"))
command = d["results"][0]["command"]
assert not [w for w in """'"${each_option[*]}"'""".split() if w.partition("=")[0] not in [c.partition("=")[0] for c in command]], command'
ok "are taken from the document" compare --again=passed.json --json
check "as they were" json "$work/out" '[(r["variant"], r["dtype"]) for r in d["results"]] == [("naive", "f64")] * 2'
check "and measured" json "$work/out" 'all(r["disturbed"] != "a cause" for r in d["results"])' # its times may vary by themselves
on_machine busy
ok "on a busy machine" compare --again=mixed.json --json=still.json --wide
check "it is noisy again, and the other one the best" json still.json '[(r["place"], r["disturbed"] is None, r["speed_up_disturbed"])
    for r in d["results"]] == [(1, True, False), (None, False, True)]'
check "the table, too" lines '^sort +omp:2:.* ~[0-9.]+ [mun]?s .* ~[0-9.e-]+x +~[0-9.e-]+x +- ok$' 1
check "whose quiet row has no mark" lines '^sort +serial [^~]* 1.00x +1.00x +1.00x ok$' 1
on_machine quiet
if "$flynn" info --long | grep -q '^ *hip-cpu: can run here'; then
    kernels=$here/../../docs/kernels
    ok "kernels" compare kernel "$kernels/vector_add.hip" 0:1000 0:1000 out 1000 --block=128,256 --backend=hip-cpu --expect='x + y' \
        "${quick[@]}" --json=kernels.json
    "$PYTHON" -c 'import json
d = json.load(open("kernels.json")); d["results"][1]["disturbed"] = "a cause"; json.dump(d, open("noisy.json", "w"))'
    ok "measured again" compare --again=noisy.json --json=again.json
    check "as they were" json again.json '[(r["choice"], r["block"][0], r["block_asked"][0], r["check"]["ok"], r["disturbed"]) for r in d["results"]] ==
        [("vector_add", n, n, True, None) for n in (128, 256)]'
fi

refused "no noisy row" 2 "quiet.json: none of its 2 rows is noisy" compare --again=quiet.json
ok "an exercise's document" "${two[@]}" --json=sort.json
refused "is not compare's" 2 "sort.json: does not say how its rows were run; expected a document that" compare --again=sort.json
ok "a sweep's document" sweep transpose --size=40 "${quick[@]}" --json=sweep.json
refused "is not compare's either" 2 "sweep.json: does not say how its rows were run" compare --again=sweep.json
ok "a ceiling's document" ceiling --backend=serial --size=1000000 --repeat=2 --json=ceiling.json
refused "has no results" 2 "ceiling.json: is not a document of schema" compare --again=ceiling.json
refused "a file that is not there" 2 none.json compare --again=none.json
refused "what earlier versions saved" 2 "does not say how its rows were run" compare --again="$saved/compare.json"
for words in 'd["machine"].update(processor="Z80")' 'd["machine"].update(version="0.0.9")'; do
    "$PYTHON" -c "import json; d = json.load(open('mixed.json')); $words; json.dump(d, open('other.json', 'w'))"
    refused "another machine or version" 2 "expected a document of this machine and version" compare --again=other.json
done
# A document makes no command write files.
for word in --output=written.npy --json=written.json -owritten.npy written.npy --trace; do
    "$PYTHON" -c "import json; d = json.load(open('mixed.json')); d['results'][1]['command'].append('$word'); json.dump(d, open('other.json', 'w'))"
    refused "$word in it" 2 "does not say how its rows were run" compare --again=other.json
done
refused "words" 2 "--again measures the rows of its document" compare --again=mixed.json sort
for option in --backend=serial --size=3 --scale=2 --dtype=f64 --against=quiet.json --seed=3 --let=m=3; do
    refused "$option" 2 "${option%%=*}: has no effect: --again measures the rows of its document" compare --again=mixed.json "$option"
done
refused "the file itself" 2 "are the same file" compare --again=mixed.json --json=mixed.json
"$PYTHON" -c "import json; d = json.load(open('mixed.json')); d['results'][1]['command'].append('--variant=gone'); json.dump(d, open('gone.json', 'w'))"
run compare --again=gone.json --json
check "a variant that is gone: exit code 1" test "$status" = 1
check "is listed, and its row stays" json "$work/out" '"gone" in d["failed"][0]["message"] and len(d["failed"]) == 1 and
    d["results"][1]["disturbed"] == "a cause"'

# What NVML reports of a GPU: hip-cpu under the name of hip-nvidia, and a library that knows its clock, its temperature, and two
# processes but this one.
if [ -d "$FLYNN_TEST_FAULTS/hip-nvidia" ]; then
    nvidia() { FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/hip-nvidia LD_LIBRARY_PATH=$FLYNN_TEST_FAULTS/nvml "$@"; }
    state='[d["machine"][k] for k in ("gpu_clock_mhz", "gpu_temperature_c", "gpu_throttled", "gpu_other_processes")]'
    others='2 other processes compute on this GPU: times may be longer than'
    run_sort=(sort --size=1000 --backend=hip-nvidia "${quick[@]}")
    nvidia ok "a GPU" "${run_sort[@]}" --json
    check "its clock, temperature and other processes" json "$work/out" "$state == [1980, 87, False, 2] and d['machine']['gpu']"
    check "a document alone has no remark" test ! -s "$work/err"
    nvidia ok "a GPU's table" "${run_sort[@]}"
    check "a remark on other processes" test "$(grep -c "^flynn sort: .*: $others" "$work/err")" = 1
    nvidia ok "quietly" "${run_sort[@]}" --quiet
    check "none with --quiet" test ! -s "$work/err"
    nvidia ok "compare on a GPU" compare sort sqrt --size=1000 --backend=hip-nvidia "${quick[@]}" --json=gpu.json
    check "its document has them" json gpu.json "$state == [1980, 87, False, 2]"
    check "one remark" test "$(grep -c "$others" "$work/err")" = 1
    ok "a report of it" report gpu.json -o gpu.html
    check "shows them" test "$(grep -coE 'clock, MHz</dt><dd>1980<|temperature, C</dt><dd>87<|processes on the gpu</dt><dd>2<' gpu.html)" -ge 1
    if [ ${#machine[@]} -gt 0 ]; then
        on_machine busy
        nvidia ok "a GPU in a busy machine" sort --size=1000 --backend=hip-nvidia,serial "${quick[@]}" --json
        check "of which other programs on the processors are not blamed" json "$work/out" '[(r["backend"], (r["disturbed"] or "").startswith("other programs"))
            for r in d["results"]] == [("hip-nvidia", False), ("serial", True)]'
        on_machine quiet
    fi
    nvidia ok "its ceilings" ceiling --size=1000 --backend=hip-nvidia --repeat=1 --json=gpu.json
    check "their document" json gpu.json "$state == [1980, 87, False, 2] and d['machine']['gpu']"
    check "and the table's last lines" grep -qE '^hip-nvidia:0: .*, 1980 MHz, 87 C$' "$work/out"
    FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/hip-nvidia LD_LIBRARY_PATH='' run "${run_sort[@]}" --json=gpu.json
    [ -e /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 ] || check "without the library nothing is known" json gpu.json "$state == [None] * 4"
    check "and nothing is said" test "$(grep -c "$others" "$work/err")" = 0
fi
# The same of AMD's GPU and rocm-smi's library, which does not say whether a GPU is throttled.
if [ -d "$FLYNN_TEST_FAULTS/hip-amd" ]; then
    FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/hip-amd LD_LIBRARY_PATH=$FLYNN_TEST_FAULTS/rocm-smi \
        ok "AMD's GPU" sort --size=1000 --backend=hip-amd "${quick[@]}" --json=amd.json
    check "its clock, temperature and other processes" json amd.json "$state == [1980, 71, None, 2] and d['machine']['gpu']"
    check "a remark on other processes" test "$(grep -c "^flynn sort: .*: $others" "$work/err")" = 1
fi
ok "no GPU" sort --size=1000 "${quick[@]}" --json
check "of which nothing is known" json "$work/out" 'all(d["machine"][k] is None for k in d["machine"] if k.startswith("gpu"))'
summary
