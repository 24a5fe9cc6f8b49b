#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn ceiling: what is measured and kept, and the percentages that other commands take from it.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
small=(--size=1000000 --repeat=1) # several passes take long: the first ceilings have them
with_caches 32K 512K # smaller than these arrays

passes=3
one_of 3 || passes=1
ok "a first exercise" convolve --size=64 --backend=serial --json --repeat=1
check "no ceiling yet" json "$work/out" 'd["results"][0]["percent_of_ceiling"] is None'
ok "JSON" ceiling --backend=serial,omp:2 "${small[@]}" --repeat=$passes --json
check "the quantities of a processor" json "$work/out" \
    '[[q["key"] for q in c["quantities"]] for c in d["ceilings"]] == [["copy", "mul", "add", "triad", "dot", "f32", "f64", "launch",
        "launch_and_wait"]] * 2'
check "rates are amounts over times" json "$work/out" 'all(q["per_second"] is None if q["unit"] is None else
    abs(q["per_second"] - q["amount"] / q["seconds"]) <= 1e-9 * q["per_second"]
    for c in d["ceilings"] for q in c["quantities"])'
check "times are the medians of $passes" json "$work/out" 'all(len(q["times_s"]) == '$passes' and
    q["seconds"] == sorted(q["times_s"])['$((passes / 2))'] > 0 for c in d["ceilings"] for q in c["quantities"])'
# BabelStream: of f64, as many arrays as a kernel reads and writes; what they compute is checked.
check "mul, add, triad and dot count the arrays that they touch" json "$work/out" '[[q["amount"] for q in c["quantities"][1:5]]
    for c in d["ceilings"]] == [[2e6, 3e6, 3e6, 2e6]] * 2'
check "they are right, and say which variant ran" json "$work/out" 'all((q.get("check") == {"ok": True}) == (1 <= i <= 4) and
    bool(q["variant"]) == (q["key"] not in ("launch", "launch_and_wait")) for c in d["ceilings"] for i, q in enumerate(c["quantities"]))'
cp "$work/out" measured.json
# On a busy machine a rate may be reported as not kept, or the two of multiply-adds.
left_out=$(($(grep -c 'it is not kept' "$work/err") + 2 * $(grep -c 'neither is kept' "$work/err")))
check "they are kept, except those with a note" json "$work/cache/ceilings.json" "len(d) == 2 and
    all(v is None or v > 1e6 for c in d.values() for v in c.values()) and
    sum(v is None for c in d.values() for v in c.values()) == $left_out"
ok "an exercise" convolve --size=64 --backend=serial --json --repeat=1
check "its roofline" "$PYTHON" -c '
import json
r = json.load(open("'"$work/out"'"))["results"][0]
rate = {q["key"]: q["per_second"] for q in json.load(open("measured.json"))["ceilings"][0]["quantities"]}
kept = next(v for key, v in json.load(open("'"$work"'/cache/ceilings.json")).items() if "/serial/" in key)
copy, f64 = kept["copy_bytes_per_s"], kept["f64_flops_per_s"]
assert copy in (None, rate["copy"]) and f64 in (None, rate["f64"]), kept
if None in (copy, f64):
    assert r["percent_of_ceiling"] is None
else:
    least = max(r["bytes"] / copy, r["flops"] / f64)
    assert abs(r["percent_of_ceiling"] - 100 * least / r["kernel_s"]) < 1e-6 * r["percent_of_ceiling"], r["percent_of_ceiling"]'
leaves_out 3 || ok "the table" ceiling --backend=serial "${small[@]}"
check "every quantity has a row" test "$(grep -c '^serial ' "$work/out")" = 9
check "with its check" test "$(grep -cE '^serial +(mul|add|triad|dot), f64: .* ok$' "$work/out")" = 4
for place in $(printf '%s\n' map.out:first map.out:last reduce.out:first | some 1); do
    FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/one-wrong FAULT_PLACE=$place run ceiling --backend=one-wrong "${small[@]}" --json=wrong.json
    check "$place is wrong: exit code 1" test "$status" = 1
    of=$([ "${place%%.*}" = map ] && echo 'mul add triad' || echo dot)
    check "$place is wrong: said in the rows" json wrong.json '[q["key"] for q in d["ceilings"][0]["quantities"]
        if not q.get("check", {"ok": True})["ok"]] == "'"$of"'".split()'
    check "$place is wrong: in the table" test "$(grep -c ' WRONG$' "$work/out")" = "$(wc -w <<<"$of")"
    check "$place is wrong: and which element" grep -qE "^flynn ceiling: one-wrong: ${of%% *}, f64: .* is wrong: element \\[[0-9]+\\] is " "$work/err"
done
leaves_out 3 || FLYNN_CC=/none FLYNN_CACHE=off ok "without a compiler" ceiling --backend=serial "${small[@]}" --json
check "what it needs is left out" json "$work/out" '[q["key"] for q in d["ceilings"][0]["quantities"]] == ["copy", "dot", "f32", "f64", "launch",
    "launch_and_wait"]'
check "and said" test "$(grep -cE '^flynn ceiling: serial: (mul|add|triad), f64: .* is not measured: .*/none' "$work/err")" = 3

# Arrays that may stay in the caches do not show the memory.
if [ ${#machine[@]} -gt 0 ]; then
    check "arrays that are larger than the caches are not refused" test "$(grep -c 'may stay in the caches' "$work/err")" = 0
    "$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1]))
for c in d.values(): c.update(copy_bytes_per_s=12e9, f32_flops_per_s=1.0)
json.dump(d, open(sys.argv[1], "w"))' "$work/cache/ceilings.json"
    serial='next(v for k, v in d.items() if "/serial/" in k)'
    with_caches 32K 1M 2M
    ok "within the caches" ceiling --backend=serial "${small[@]}" --json
    check "is said, with a size that is not" grep -qxF "flynn ceiling: serial: copy on the device: arrays of 977 KiB may stay in the caches, \
which have up to 2.00 MiB: it is not kept; --size=4Mi shows the memory" "$work/err"
    check "its copy is not worth keeping" json "$work/out" '[q["steady"] for q in d["ceilings"][0]["quantities"] if q["key"] == "copy"] == [False]'
    check "the copy that was kept before stays" json "$work/cache/ceilings.json" "$serial['copy_bytes_per_s'] == 12e9"
    check "the multiply-adds, which need no memory, are renewed or noisy" json "$work/cache/ceilings.json" "$serial['f32_flops_per_s'] > 1 or
        $(grep -c 'f32.* is not kept\|neither is kept' "$work/err") == 1"
    with_caches 32K
    ok "the size of a cache and a byte" ceiling --backend=serial --size=32769 --repeat=1
    check "is larger" test "$(grep -c 'may stay in the caches' "$work/err")" = 0
    ok "the size of a cache" ceiling --backend=serial --size=32Ki --repeat=1
    check "is within" grep -q 'may stay in the caches, which have up to 32.0 KiB: it is not kept; --size=1Mi ' "$work/err"
    with_caches
    ok "caches that are not known" ceiling --backend=serial "${small[@]}"
    check "have up to 64 MiB" grep -q 'which have up to 64.0 MiB: it is not kept; --size=128Mi shows the memory$' "$work/err"
    with_caches 32K 512K
fi

echo 'not JSON' >"$work/cache/ceilings.json"
ok "a broken file counts as none" convolve --size=64 --backend=serial --json --repeat=1
check "and gives no percentage" json "$work/out" 'd["results"][0]["percent_of_ceiling"] is None'
ok "and is replaced" ceiling --backend=serial "${small[@]}"
check "by a good one" json "$work/cache/ceilings.json" 'len(d) == 1'
leaves_out 3 || FLYNN_CACHE=/dev/null/no ok "a folder that cannot be made" ceiling --backend=serial "${small[@]}"
check "is reported" grep -q 'not kept' "$work/err"
refused "an argument too many" 2 "file" ceiling "file"
for option in $(printf '%s\n' --variant=naive --dtype=u8 --block=7x7 --seed=3 --check=full --warmup=1 --pageable --wrong-timing --csv | some 2); do
    refused "$option" 2 "${option%%=*}" ceiling --backend=serial "${small[@]}" "$option"
done
leaves_out 3 || ok "a trace" ceiling --backend=serial "${small[@]}" --trace=trace.json
check "of its calls" json trace.json 'len(d["traceEvents"]) > 10'
refused "a backend that is none" 2 --backend ceiling --backend=seriell
summary
