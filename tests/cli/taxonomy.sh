#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn taxonomy: the steps from SISD to SIMT, what makes each one so, and the answers of all variants.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=3 --warmup=0)
unset FLYNN_BACKEND # taxonomy itself takes all of them

cat >recompute.py <<'PY'
import json, math, sys
d = json.load(open(sys.argv[1]))
t, rows = d["taxonomy"], d["results"]
def close(a, b): assert abs(a - b) <= 1e-9 * abs(b), (a, b)
def at(s, part):
    s = sorted(s); x = part * (len(s) - 1); i = int(x)
    return s[i] + (x - i) * (s[min(i + 1, len(s) - 1)] - s[i])
assert len(t["steps"]) == len(rows) and t["elements"] == math.prod(rows[0]["shape"]), t["elements"]
before = None
for s in t["steps"]:
    r = rows[s["result"]]
    assert (s["resource"], s["flynn_class"], s["emulation"]) == (r["resource"], r["flynn_class"], r["emulation"])
    close(s["kernel_s"], at(r["times_s"]["kernel"], .5)); close(s["total_s"], at(r["times_s"]["total"], .5))
    close(s["spread_s"], at(r["times_s"]["kernel"], .75) - at(r["times_s"]["kernel"], .25))
    if s["instructions"] is None:
        assert s["instructions_reason"] and s["instructions_per_element"] is None
    else:
        assert s["instructions_reason"] is None and s["instructions"] > 0
        close(s["instructions_per_element"], s["instructions"] / t["elements"])
    if before is None or s["emulation"]:
        assert s["speed_up"] is None and s["speed_up_with_copies"] is None
    else:
        close(s["speed_up"], before["kernel_s"] / s["kernel_s"])
        close(s["speed_up_with_copies"], before["total_s"] / s["total_s"])
    if not s["emulation"]: before = s
    width = {"f32": 32, "f64": 64}[t["dtype"]]
    if s["flynn_class"] in ("SISD", "SIMD"): assert s["threads"] == 1
    if s["flynn_class"] == "SISD": assert s["lanes"] == 1
    if s["flynn_class"] == "SIMT": assert s["warp_size"] > 1 and s["multiprocessors"] >= 1
    elif s["lanes"] > 1: assert s["lanes"] == s["vector_bits"] // width
m = t["misd"]
names = [a["variant"] for a in m["answers"]]
assert [(p["a"], p["b"]) for p in m["pairs"]] == [(a, b) for i, a in enumerate(names) for b in names[i + 1:]]
for p in m["pairs"]: assert p["same_bits"] == (p["differing"] == 0) and (not p["same_bits"] or p["max_abs"] == 0)
PY

ok "all classes" taxonomy --size=3000 "${quick[@]}" --json
cp "$work/out" now.json
check "in Flynn's order" json now.json \
    'list(dict.fromkeys(s["flynn_class"] for s in d["taxonomy"]["steps"]))[:3] == ["SISD", "SIMD", "MIMD"]'
check "one loop on all" json now.json '{r["variant"] for r in d["results"]} == {"naive"}'
check "on one input" json now.json 'len({str(r["input_shapes"]) for r in d["results"]}) == 1'
check "an instruction set at a time" json now.json \
    '[s["resource"] for s in d["taxonomy"]["steps"] if s["flynn_class"] == "SIMD"] ==
    sorted(s["resource"] for s in d["taxonomy"]["steps"] if s["flynn_class"] == "SIMD")'
check "wider from step to step" json now.json \
    '(lambda w: w == sorted(w))([s["lanes"] for s in d["taxonomy"]["steps"] if s["flynn_class"] in ("SISD", "SIMD")])'
check "every number can be recomputed" "$PYTHON" recompute.py now.json
ok "on a processor" taxonomy --backend=serial,simd --size=3000 "${quick[@]}" --json
check "variants that sum in one order have the same bits" json "$work/out" \
    'all(p["same_bits"] for p in d["taxonomy"]["misd"]["pairs"] if {p["a"], p["b"]} == {"naive", "tiled"})'
check "all right" json now.json 'all(a["check"]["ok"] for a in d["taxonomy"]["misd"]["answers"])'
for exercise in convolve:50 maximum:30 reconstruct:100; do
    ok "$exercise" taxonomy "${exercise%:*}" --size="${exercise#*:}" --dtype=f64 "${quick[@]}" --json
    cp "$work/out" other.json
    check "$exercise: can be recomputed" "$PYTHON" recompute.py other.json
done
set=$(instruction_set) # of 128 bits
ok "backends that are named" taxonomy --backend="serial,omp:2:$set" --variant=tiled --size=3000 "${quick[@]}" --json
check "those alone" json "$work/out" '[s["resource"] for s in d["taxonomy"]["steps"]] == ["serial", "omp:2:'$set'"]'
check "threads and vectors" json "$work/out" '(lambda s: (s["threads"], s["lanes"]))(d["taxonomy"]["steps"][1]) == (2, 4)'
check "the variant" json "$work/out" '{r["variant"] for r in d["results"]} == {"tiled"}'
check "answers of the last backend" json "$work/out" 'd["taxonomy"]["misd"]["resource"] == "omp:2:'$set'"'
ok "the tables" taxonomy --backend=serial,simd --size=3000 "${quick[@]}"
check "a row for each step" test "$(grep -cE '^(SISD|SIMD) ' "$work/out")" = 2
check "says what MISD means" grep -q '^MISD: No backend here is MISD' "$work/out"
check "a row for each answer" test "$(grep -cE '^(naive|tiled) .* ok *$' "$work/out")" = 2

printf 'int prime(int n) { for (int d = 2; d * d <= n; d++) if (n %% d == 0) return 0; return 1; }\n' >prime.c
ok "a function with loops" taxonomy map --function=prime.c --backend=serial,simd --size=3000 "${quick[@]}" --json
check "has its own dtype" json "$work/out" 'd["taxonomy"]["dtype"] == "i32" and d["results"][0]["function"] == "prime.c"'
if [ "$(uname -m)" = x86_64 ]; then
    check "becomes vectors by lanes" json "$work/out" 'd["taxonomy"]["scalar"] is None'
fi
printf 'int f(int n) { int k = 0; while (n > 1) { n = n %% 2 ? 3 * (n & 1023) + 1 : n / 2; if (k++ > 99) goto end; } end: return k; }\n' >goto.c
ok "a loop that the lanes do not have" taxonomy map --function=goto.c --backend=serial,simd --size=3000 "${quick[@]}" --json
check "stays scalar" json "$work/out" '"one element at a time" in d["taxonomy"]["scalar"] and "loops" in d["taxonomy"]["scalar"]'
ok "one without" taxonomy map --function='sqrt(x)' --backend=serial,simd --size=30000 "${quick[@]}"
check "becomes vectors" test "$(grep -c 'one element at a time' "$work/out")" = 0

export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/wrong
run taxonomy convolve --backend=serial,wrong --size=64 "${quick[@]}" --json
check "a wrong answer: exit code 1" test "$status" = 1
check "a wrong step has no speed-up" json "$work/out" \
    '[(s["ok"], s["speed_up"]) for s in d["taxonomy"]["steps"]] == [(True, None), (False, None)]'
check "a wrong answer among the variants" json "$work/out" '[a["check"]["ok"] for a in d["taxonomy"]["misd"]["answers"]] == [False]'
run taxonomy convolve --backend=serial,wrong --size=64 "${quick[@]}"
check "and both are shown" test "$(grep -c 'WRONG at \[39, 26\] *$' "$work/out")" = 2
unset FLYNN_PLUGIN_PATH

refused "no such exercise" 2 "did you mean 'maximum'" taxonomy maximun
refused "another dtype" 2 --dtype taxonomy --dtype=i32
refused "two exercises" 2 maximum taxonomy convolve1d maximum
refused "a backend that is none" 2 seriell taxonomy --backend=seriell
refused "a variant that is none" 2 naiv taxonomy --variant=naiv "${quick[@]}"
refused "what the exercise refuses" 2 --size taxonomy maximum --size=3000000
# The operations whose naive loops every course has. Whole numbers and copies have the same bits whatever the variant: a sorted input must stay sorted.
for exercise in scan reduce histogram transpose matmul search_sorted; do
    size=3000
    [ $exercise != transpose ] && [ $exercise != matmul ] || size=60
    ok "$exercise" taxonomy $exercise --backend=serial,simd:v2 --size=$size "${quick[@]}" --json
    check "$exercise: both classes, all right" json "$work/out" '[s["flynn_class"] for s in d["taxonomy"]["steps"]] == ["SISD", "SIMD"] and
        all(a["check"]["ok"] for a in d["taxonomy"]["misd"]["answers"]) and len(d["taxonomy"]["misd"]["answers"]) > 1'
    case $exercise in
    histogram | transpose | search_sorted)
        check "$exercise: the same bits" json "$work/out" 'all(p["same_bits"] for p in d["taxonomy"]["misd"]["pairs"])' ;;
    esac
done
summary
