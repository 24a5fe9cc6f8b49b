#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn ceiling: what is measured and kept, and the percentages that other commands take from it.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
small=(--size=1000000 --repeat=3)

ok "a first exercise" convolve --size=64 --backend=serial --json --repeat=1
check "no ceiling yet" json "$work/out" 'd["results"][0]["percent_of_ceiling"] is None'
ok "JSON" ceiling --backend=serial,omp:2 "${small[@]}" --json
check "the quantities of a processor" json "$work/out" \
    '[[q["key"] for q in c["quantities"]] for c in d["ceilings"]] == [["copy", "f32", "f64", "launch", "launch_and_wait"]] * 2'
check "rates are amounts over times" json "$work/out" 'all(q["per_second"] is None if q["unit"] is None else
    abs(q["per_second"] - q["amount"] / q["seconds"]) <= 1e-9 * q["per_second"]
    for c in d["ceilings"] for q in c["quantities"])'
check "times are the medians of three" json "$work/out" 'all(len(q["times_s"]) == 3 and
    q["seconds"] == sorted(q["times_s"])[1] > 0 for c in d["ceilings"] for q in c["quantities"])'
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
ok "the table" ceiling --backend=serial "${small[@]}"
check "every quantity has a row" test "$(grep -c '^serial ' "$work/out")" = 5

echo 'not JSON' >"$work/cache/ceilings.json"
ok "a broken file counts as none" convolve --size=64 --backend=serial --json --repeat=1
check "and gives no percentage" json "$work/out" 'd["results"][0]["percent_of_ceiling"] is None'
ok "and is replaced" ceiling --backend=serial "${small[@]}"
check "by a good one" json "$work/cache/ceilings.json" 'len(d) == 1'
FLYNN_CACHE=/dev/null/no ok "a folder that cannot be made" ceiling --backend=serial "${small[@]}"
check "is reported" grep -q 'not kept' "$work/err"
refused "an argument too many" 2 "file" ceiling "file"
for option in --variant=naive --dtype=u8 --block=7x7 --seed=3 --check=full --warmup=1 --pageable --wrong-timing --csv; do
    refused "$option" 2 "${option%%=*}" ceiling --backend=serial "${small[@]}" "$option"
done
ok "a trace" ceiling --backend=serial "${small[@]}" --trace=trace.json
check "of its calls" json trace.json 'len(d["traceEvents"]) > 10'
refused "a backend that is none" 2 --backend ceiling --backend=seriell
summary
