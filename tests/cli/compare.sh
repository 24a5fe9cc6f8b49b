#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn compare: many exercises in one table, and two saved runs side by side.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=3 --warmup=0)
on_machine quiet

ok "some exercises on some backends" compare sort increment --backend=serial,simd,omp:2 --size=20000 "${quick[@]}" --json
cp "$work/out" now.json
check "a result for each" json now.json \
    '[(r["exercise"], r["backend_requested"]) for r in d["results"]] ==
    [(e, b) for e in ("sort", "increment") for b in ("serial", "simd", "omp:2")]'
check "the document" json now.json 'd["schema"] == "flynn/2" and set(d) >= {"machine", "results", "skipped", "failed"}'
check "none failed" json now.json 'd["failed"] == []'
cat >recompute.py <<'PY'
import json
d = json.load(open("now.json"))
def middle(s, part):
    s = sorted(s); at = part * (len(s) - 1); i = int(at)
    return s[i] + (at - i) * (s[min(i + 1, len(s) - 1)] - s[i])
for r in d["results"]:
    mine = [o for o in d["results"] if o["exercise"] == r["exercise"]]
    base = next(o for o in mine if o["flynn_class"] == "SISD")
    close = lambda a, b: abs(a - b) <= 1e-9 * abs(b)
    t = r["times_s"]["total"]
    assert close(r["total_s"], middle(t, .5)) and close(r["kernel_s"], middle(r["times_s"]["kernel"], .5))
    if r["disturbed"]: # of three samples some vary by more than half on a busy machine
        assert r["relative"] is r["place"] is None
    else:
        assert close(r["relative"], r["total_s"] / min(o["total_s"] for o in mine if not o["disturbed"]))
    assert r["speed_up_disturbed"] == bool(r["disturbed"] or base["disturbed"])
    assert close(r["speed_up"], base["kernel_s"] / r["kernel_s"])
    assert close(r["speed_up_with_copies"], base["total_s"] / r["total_s"])
    assert close(r["spread"], (middle(t, .75) - middle(t, .25)) / middle(t, .5)) and r["n"] == len(t) and r["minimum_s"] == min(r["times_s"]["kernel"])
    assert close(r["gbytes_per_s"], r["bytes"] / r["kernel_s"] / 1e9)
PY
check "every number can be recomputed" "$PYTHON" recompute.py
quick=(--repeat=2 --warmup=0) # which cannot show that they vary
ok "the table" compare sort --backend=serial,simd --size=20000 "${quick[@]}"
check "a row for each" test "$(grep -c '^sort ' "$work/out")" = 2
check "the fastest is 1.00x" grep -qE ' 1\.00x ok *$' "$work/out"
ok "Markdown" compare sort --backend=serial --size=20000 "${quick[@]}" --markdown
check "its lines" test "$(grep -c '^| ' "$work/out")" = 2
check "its rule" grep -qE '^\|---\|.*\|---:\|' "$work/out"

# What goes wrong in one exercise does not end the others.
run compare sort select --dtype=u8 --backend=serial --size=1000 "${quick[@]}" --json
check "exit code 1" test "$status" = 1
check "the exercise that failed, and why" json "$work/out" \
    'd["failed"][0]["exercise"] == "sort" and d["failed"][0]["exit_code"] == 2 and "u8" in d["failed"][0]["message"]'
check "the other one" json "$work/out" '[r["exercise"] for r in d["results"]] == ["select"]'
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/wrong
run compare convolve --backend=serial,wrong --size=64 "${quick[@]}" --json
check "a wrong result: exit code 1" test "$status" = 1
check "has no rank" json "$work/out" \
    '[(r["check"]["ok"], r["relative"] is None, r["speed_up"] is None) for r in d["results"]] == [(True, False, False),
     (False, True, True)]'
run compare convolve --backend=serial,wrong --size=64 "${quick[@]}"
check "and is shown" grep -qE '^convolve +wrong .* WRONG at \[[0-9]+, [0-9]+\] *$' "$work/out"
unset FLYNN_PLUGIN_PATH
refused "no such exercise" 2 "did you mean 'sort'" compare sorrt
refused "a backend that is none" 2 seriell compare sort --backend=seriell

# What compare cannot honour, alone or here, is refused.
for option in --trace=t.json --wrong-timing --csv --output=a.npy; do
    refused "$option" 2 "${option%%=*}" compare sort --backend=serial "$option"
done
refused "a seed that no exercise uses" 2 "--seed: has no effect: increment" compare increment --backend=serial --seed=3

# Two runs, the second one of which was made from the first.
cat >change.py <<'PY'
import json, sys
d = json.load(open("now.json"))
factor, spread = float(sys.argv[1]), float(sys.argv[2])
for r in d["results"]:
    r["disturbed"] = None
    for key in ("kernel", "total"):
        middle = r[key + "_s"] * factor
        r["times_s"][key] = [middle * (1 + spread * (i - 5) / 10) for i in range(11)]
json.dump(d, open(sys.argv[3], "w"))
PY
"$PYTHON" change.py 1 0.01 base.json
"$PYTHON" change.py 0.5 0.01 half.json
"$PYTHON" change.py 1.1 1 wild.json
verdicts='[p[k]["verdict"] for p in d["pairs"] for k in ("kernel", "total")]'
ok "half the time" compare --against=base.json half.json --json
check "is faster" json "$work/out" "set($verdicts) == {'faster'} and len(d['pairs']) == 6"
check "by two" json "$work/out" 'all(abs(p["total"]["ratio"] - 2) < 1e-9 for p in d["pairs"])'
ok "twice the time" compare --against=half.json base.json --json
check "is slower" json "$work/out" "set($verdicts) == {'slower'}"
ok "the same run" compare --against=base.json base.json --json
check "is the same" json "$work/out" "set($verdicts) == {'same'}"
ok "times all over the place" compare --against=base.json wild.json --json
check "tell nothing" json "$work/out" "set($verdicts) == {'unclear'}"
ok "in words" compare --against=base.json half.json
check "a row for each" test "$(grep -c 'faster' "$work/out")" -ge 6

ok "what an earlier version saved" compare --against="$saved/compare.json" "$saved/compare.json" --json
check "is the same as itself" "$PYTHON" -c '
import json, sys
pairs, rows = json.load(open(sys.argv[1]))["pairs"], json.load(open(sys.argv[2]))["results"]
assert len(rows) == 12 and [(p["exercise"], p["kernel"]["older_s"], p["total"]["older_s"], p["total"]["ratio"]) for p in pairs] == [
    (r["exercise"], r["kernel_s"], r["total_s"], 1) for r in rows]
assert {p[k]["verdict"] for p in pairs for k in ("kernel", "total")} == {"same", "unclear"}' "$work/out" "$saved/compare.json"
refused "a size for files" 2 "--size: has no effect: both runs come from files" compare --against=base.json half.json --size=3
refused "a file that is not there" 2 none.json compare --against=none.json base.json
echo '{}' >other.json
refused "another document" 2 "schema flynn/2 or flynn/1" compare --against=other.json base.json
echo '{' >broken.json
refused "no JSON" 2 "line 2" compare --against=broken.json base.json
# Sizes.
ok "each its own size" compare sort convolve --size=sort=1k,convolve=32 --backend=serial "${quick[@]}" --json
check "is what it gets" json "$work/out" '[r["input_shapes"][0] for r in d["results"]] == [[1000], [32, 32]]'
ok "all, scaled" compare --scale=1e-4 --backend=serial "${quick[@]}" --json
check "in work" json "$work/out" 'not d["failed"] and len(d["results"]) >= 10 and
    {r["exercise"]: r["elements"] for r in d["results"]}["sort"] == 1678 and
    [r["input_shapes"][0] for r in d["results"] if r["exercise"] == "convolve"] == [[20, 20]]'
ok "one of them not" compare sort select --scale=1e-4 --size=select=10 --backend=serial "${quick[@]}" --json
check "has its own" json "$work/out" '[r["elements"] for r in d["results"]] == [1678, 10]'
refused "one number for all" 2 "--size: '256' is a length for one exercise, and an edge for another" compare --size=256
refused "an exercise that does not run" 2 "--size: 'srt' is not among" compare sort --size=srt=3
refused "no number" 2 "--size: 'x' is not a whole number" compare sort --size=sort=x
refused "no work" 2 --scale compare --scale=0
refused "a scale for files" 2 "--scale: has no effect: both runs come from files" compare --against=base.json half.json --scale=3
summary
