#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn sweep: every combination, what cannot run and why, the best ones, and what --save keeps.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=3 --warmup=0)
on_machine quiet # or noise would leave no row that can be the best

ok "all combinations" sweep reconstruct --backend=serial,omp:2 --size=40,64 --variant=naive,tiled --block=8x8,16x16 \
    --keep=8 "${quick[@]}" --json
cp "$work/out" sweep.json
check "a result for each; without blocks one" json sweep.json \
    '[(r["size"], r["backend_requested"], r["variant"], r["block_asked"]) for r in d["results"]] ==
    [(s, b, v, k) for s in (40, 64) for b in ("serial", "omp:2")
     for v, k in (("naive", [8, 8, 1]), ("tiled", [8, 8, 1]), ("tiled", [16, 16, 1]))]'
check "the document" json sweep.json 'd["schema"] == "flynn/2" and d["cannot_run"] == [] and d["skipped"] == [] and
    all(r["check"]["ok"] and r["singular_values"] == 8 and not r["tuned"] for r in d["results"])'
check "nothing is known of registers on a processor" json sweep.json \
    'all(r[k] is None for r in d["results"] for k in ("registers", "local_bytes", "occupancy"))'
cat >recompute.py <<'PY'
import json
d = json.load(open("sweep.json"))
def part(s, p):
    s = sorted(s); at = p * (len(s) - 1); i = int(at)
    return s[i] + (at - i) * (s[min(i + 1, len(s) - 1)] - s[i])
close = lambda a, b: abs(a - b) <= 1e-9 * abs(b)
place = lambda r: (r["size"], r["backend_requested"])
for r in d["results"]:
    t = r["times_s"]["kernel"]
    # Of three samples some vary by more than half on a busy machine.
    least = min((o["kernel_s"] for o in d["results"] if place(o) == place(r) and not o["disturbed"]), default=0)
    assert close(r["kernel_s"], part(t, .5)) and close(r["spread"], (part(t, .75) - part(t, .25)) / part(t, .5))
    assert r["disturbed"] and r["relative"] is None or close(r["relative"], r["kernel_s"] / least)
    assert r["elements"] == r["size"] ** 2
assert [place(b) for b in d["best"]] == [p for p in ((s, b) for s in (40, 64) for b in ("serial", "omp:2"))
    if any(place(r) == p and not r["disturbed"] for r in d["results"])]
for b in d["best"]:
    winner = [r for r in d["results"] if place(r) == place(b) and r["relative"] == 1]
    assert all(any(b[k] == w[k] for w in winner) for k in ("variant", "block", "kernel_s")) and not b["kept"]
    others = [r for r in d["results"] if place(r) == place(b) and r is not winner[0] and not r["disturbed"]]
    third = part(winner[0]["times_s"]["kernel"], .75)
    assert b["ties"] == [{k: r[k] for k in ("variant", "block", "block_asked")} for r in others
        if part(r["times_s"]["kernel"], .25) <= third or part(r["times_s"]["kernel"], .5) < 1.02 * part(winner[0]["times_s"]["kernel"], .5)]
PY
check "every number can be recomputed" "$PYTHON" recompute.py
quick=(--repeat=2 --warmup=0) # which cannot show that they vary
ok "the table" sweep sort --backend=serial --size=1000 "${quick[@]}"
check "a row for each variant" test "$(grep -c '^sort ' "$work/out")" = "$("$flynn" list sort | awk \
    '$1 == "sort" && $2 != "reference" && $2 != "auto" && / serial/ {n++} END {print n}')"
check "the best" grep -qE '^best of size 1000 on serial: ' "$work/out"
ok "primes have --upto" sweep primes --backend=serial --size=100 --variant=sieve "${quick[@]}" --json
check "the primes below it" json "$work/out" 'd["results"][0]["shape"] == [25]'
FLYNN_SIZE=30,50 FLYNN_VARIANT=naive,tiled ok "by the environment" sweep convolve --backend=serial "${quick[@]}" --json
check "the same lists" json "$work/out" '[(r["size"], r["variant_asked"]) for r in d["results"]] ==
    [(s, v) for s in (30, 50) for v in ("naive", "tiled")]'

# What cannot run is listed with its reason; what is wrong has no place.
if "$flynn" info | grep -q '^hip-cpu: can run here'; then
    ok "blocks that are too large" sweep reconstruct --backend=hip-cpu --size=32 --keep=4 --variant=naive \
        --block=8x8,64x64 "${quick[@]}" --json
    check "the reason" json "$work/out" '[(c["block"], c["exit_code"]) for c in d["cannot_run"]] == [([64, 64, 1], 2)] and
        "4096 threads" in d["cannot_run"][0]["reason"] and len(d["results"]) == 1'
    check "an emulation is not ranked" json "$work/out" 'd["best"] == [] and d["results"][0]["relative"] is None'
fi
ok "a variant that only one has" sweep convolve --backend=serial,omp --size=32 --variant=naive,reference "${quick[@]}" --json
check "is listed for the other" json "$work/out" \
    '[(c["backend"], c["variant"]) for c in d["cannot_run"]] == [("omp", "reference")] and len(d["results"]) == 3'
run sweep reconstruct --backend=serial --size=16 --keep=20 --variant=naive "${quick[@]}"
check "none can run: its exit code" test "$status" = 2
check "and the reason" grep -q '^cannot run: serial naive, size 16, .*--keep: 20' "$work/out"
run sweep reconstruct --backend=serial --size=16 --keep=20 --variant=naive "${quick[@]}" --json --quiet
check "with --json and --quiet stderr has the reason" grep -q 'no combination can run: --keep: 20' "$work/err"
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/wrong
run sweep convolve --backend=wrong --size=64 --block=16x4,5 --save "${quick[@]}" --json
check "a wrong result: exit code 1" test "$status" = 1
check "is not the best" json "$work/out" 'd["best"] == [] and all(r["relative"] is None for r in d["results"])'
check "what the runtime tells of the kernel" json "$work/out" \
    '[(r["registers"], r["local_bytes"], r["occupancy"]) for r in d["results"]] == [(40, 8, 0.75), (None, None, None)]'
check "nothing wrong is kept" test ! -e "$work/cache/sweeps.json"
unset FLYNN_PLUGIN_PATH

ok "totals by name" sweep sort --backend=serial --size=100 --variant=naive --columns=kernel,total "${quick[@]}"
check "are shown" grep -qE '^ *kernel +total$' "$work/out"
ok "without a name" sweep sort --backend=serial --size=100 --variant=naive "${quick[@]}"
check "they are not" test "$(grep -c total "$work/out")" = 0

# What is kept, and what beats it.
variant='d["results"][0]["variant"], d["results"][0]["block"][:2], d["results"][0]["tuned"]'
sorted=(sort --backend=serial --json --repeat=1)
ok "a sweep to keep" sweep reconstruct --backend=serial --size=64 --variant=tiled --block=24x24 --keep=8 "${quick[@]}" --save
check "says so" grep -q '24x24, .*; kept' "$work/out"
same=(reconstruct --backend=serial --keep=8 --json --repeat=1)
ok "the same work" "${same[@]}" --size=64
check "runs the winner" json "$work/out" "($variant) == ('tiled', [24, 24], True)"
ok "a size between the same powers of two" "${same[@]}" --size=90
check "runs it too" json "$work/out" "($variant) == ('tiled', [24, 24], True)"
for size in 63 91; do
    ok "size $size is beyond" "${same[@]}" --size=$size
    check "and is auto's" json "$work/out" 'not d["results"][0]["tuned"]'
done
ok "another dtype" "${same[@]}" --size=64 --dtype=f64
check "is auto's" json "$work/out" 'not d["results"][0]["tuned"]'
ok "another device" "${same[@]}" --size=64 --backend=omp:2
check "is auto's, too" json "$work/out" 'not d["results"][0]["tuned"]'
ok "an option" "${same[@]}" --size=64 --variant=naive
check "beats it" json "$work/out" "($variant) == ('naive', [0, 0], False)"
ok "even that of auto" "${same[@]}" --size=64 --variant=auto
check "beats it, too" json "$work/out" 'not d["results"][0]["tuned"]'
ok "a block" "${same[@]}" --size=64 --block=8x8
check "beats it as well" json "$work/out" 'not d["results"][0]["tuned"]'
FLYNN_VARIANT=naive ok "a variable" "${same[@]}" --size=64
check "beats it likewise" json "$work/out" "($variant) == ('naive', [0, 0], False)"
ok "the table" reconstruct --backend=serial --keep=8 --repeat=1 --size=64
check "tells it" grep -q '^serial: variant and block as .* found them best' "$work/out"
ok "a sweep" sweep reconstruct --backend=serial --size=64 --variant=auto,naive --keep=8 "${quick[@]}" --json
check "is not led by it" json "$work/out" 'not any(r["tuned"] for r in d["results"])'
ok "sorting, too" sweep sort --backend=serial --size=1000 --variant=bitonic "${quick[@]}" --save
ok "to be run" "${sorted[@]}" --size=1000
check "as it was kept" json "$work/out" 'd["results"][0]["variant"] == "bitonic" and d["results"][0]["tuned"]'
sed -i 's/"bitonic"/"panic"/' "$work/cache/sweeps.json"
ok "a variant that is gone" "${sorted[@]}" --size=1000
check "is reported" grep -q "no longer has the variant 'panic'" "$work/err"
check "and auto runs" json "$work/out" 'not d["results"][0]["tuned"]'
ok "forgetting one" sweep --forget sort
check "leaves the other" json "$work/cache/sweeps.json" '[e["exercise"] for l in d.values() for e in l] == ["reconstruct"]'
ok "forgetting all" sweep --forget
check "leaves none" json "$work/cache/sweeps.json" 'd == {}'
ok "after that" "${same[@]}" --size=64
check "auto runs" json "$work/out" 'not d["results"][0]["tuned"]'
ok "what does not take every input" sweep convolve --backend=serial --size=64 --variant=separable "${quick[@]}" --save
check "is not kept" grep -q 'separable is not kept' "$work/err"
if "$flynn" info | grep -q '^hip-cpu: can run here'; then
    small=(reconstruct --backend=hip-cpu --size=32 --keep=4 --repeat=1 --json)
    ok "an exercise on hip-cpu" "${small[@]}"
    "$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1])); r = d["results"][0]
entry = {"exercise": "reconstruct", "dtype": "f32", "elements": 1024, "variant": "naive", "block": [64, 64, 1]}
json.dump({"/".join((d["machine"]["host"], r["resource"], r["device"])): [entry]}, open(sys.argv[2], "w"))' \
        "$work/out" "$work/cache/sweeps.json"
    ok "a kept block that does not fit" "${small[@]}"
    check "is reported" grep -q "cannot run, auto does: .*4096 threads" "$work/err"
    check "and auto runs" json "$work/out" 'not d["results"][0]["tuned"] and d["results"][0]["check"]["ok"]'
fi
echo '{"x": 1' >"$work/cache/sweeps.json"
ok "a broken file counts as none" "${same[@]}" --size=64

refused "no exercise" 2 "no exercise" sweep
refused "one that is none" 2 "did you mean 'sort'" sweep sorrt
refused "two" 2 "one argument too many" sweep sort select
refused "a block" 2 "'8y8' is not a block" sweep sort --block=4x4,8y8
refused "a size" 2 "'x' is not a whole number" sweep sort --size=8,x
ok "several --keep" sweep reconstruct --backend=serial --size=40 --keep=5,20 --variant=naive --repeat=1 --json
check "a result for each" json "$work/out" '[(r["keep_asked"], r["singular_values"]) for r in d["results"]] == [(5, 5), (20, 20)] and len(d["best"]) == 2'
ok "several --keep in the table" sweep reconstruct --backend=serial --size=40 --keep=5,20 --variant=naive --repeat=1
check "beside the size" grep -q "best of size 40, 20 components on serial" "$work/out"
refused "a choice among several --keep" 2 "--save: one choice" sweep reconstruct --size=40 --keep=5,20 --save
refused "an empty value" 2 "has an empty value" sweep sort --variant=radix,
refused "a variant that none has" 2 "did you mean 'radix'" sweep sort --variant=radx --backend=serial
refused "a dtype that none has" 2 "computes sort in u8" sweep sort --dtype=u8 --backend=serial
refused "--keep" 2 "only svd and reconstruct have singular values" sweep sort --keep=3
FLYNN_KEEP=3 ok "a variable for other exercises" sweep sort --backend=serial --size=100 --variant=radix --repeat=1
refused "methods" 2 "primes are methods" sweep primes --save
ok "map, of its own function" sweep map --size=100 --backend=serial --variant=naive --save "${quick[@]}"
ok "the same text" map --size=100 --backend=serial --repeat=1 --json
check "runs what was kept" json "$work/out" 'd["results"][0]["tuned"]'
ok "another text" map 'x + 1' --size=100 --backend=serial --repeat=1 --json
check "does not" json "$work/out" 'not d["results"][0]["tuned"]'
refused "a backend that is none" 2 --backend sweep sort --backend=seriell
FLYNN_CACHE=/dev/null/no refused "no folder to keep it in" 4 "/dev/null" sweep sort --backend=serial --size=100 \
    --variant=radix "${quick[@]}" --save
FLYNN_CACHE=off refused "nothing is kept" 4 "FLYNN_CACHE" sweep sort --backend=serial --size=100 --variant=radix \
    "${quick[@]}" --save
check "off is not made as a folder" test ! -e off

# The block that was asked for, and the one that the variant used.
ok "blocks that register rounds up" sweep reconstruct --size=100 --block=8x8,32x8 --variant=register --backend=serial "${quick[@]}" --json=blocks.json
check "two that differ" json blocks.json '[r["block_asked"] for r in d["results"]] == [[8, 8, 1], [32, 8, 1]] and
    all(r["block"] != r["block_asked"] for r in d["results"]) and all("block_asked" in t for b in d["best"] for t in b["ties"])'
used=$("$PYTHON" -c 'import json; print(*("x".join(map(str, r["block"][:2])) for r in json.load(open("blocks.json"))["results"]))')
read -r first second <<<"$used"
check "the table has both" grep -q " 8x8 as $first " "$work/out"
check "of each row" grep -q " 32x8 as $second " "$work/out"
check "and the best" grep -qE "^best of size 100 on serial: register, block (8x8 as $first|32x8 as $second), " "$work/out"
ok "one exercise" reconstruct --size=100 --block=8x8 --variant=register --backend=serial "${quick[@]}" --json
check "has both" json "$work/out" 'd["results"][0]["block_asked"] == [8, 8, 1] != d["results"][0]["block"]'
ok "a block that is used as it is" reconstruct --size=100 --block=8x8 --variant=tiled --backend=serial "${quick[@]}" --json
check "needs no second key" json "$work/out" '"block_asked" not in d["results"][0] and d["results"][0]["block"] == [8, 8, 1]'

# `auto` is decided once: the commands that sweep and compare start name a backend.
# of_children ARGUMENT...: the --backend of the first command that is started.
of_children() {
    local parent child
    last=("$@")
    "$flynn" "$@" --repeat=3 >"$work/out" 2>"$work/err" &
    parent=$!
    words=
    while [ -z "$words" ] && kill -0 $parent 2>"$work/check"; do
        for child in $(cat /proc/$parent/task/*/children 2>"$work/check"); do
            # Not of the process that asks the backends, which has the words of its parent: no --json.
            words=$(tr '\0' '\n' <"/proc/$child/cmdline" 2>"$work/check" | sed '1,/^--json$/d' | grep '^--backend=')
        done
    done
    kill $parent
    wait $parent
} 2>"$work/check"
unset FLYNN_BACKEND
of_children sweep sort --variant=radix --size=4M
check "sweep names what auto is" test -n "$words" -a "$words" != --backend=auto
of_children compare sort --backend=serial,auto --size=sort=4M
check "so does compare" grep -qE '^--backend=serial,(omp|simd|hip)[-a-z]*:' <<<"$words"
ok "auto" sweep sort --variant=radix,naive --size=1k --repeat=1 --json
check "is what was asked for" json "$work/out" '{r["backend_requested"] for r in d["results"]} == {"auto"} and
    len({r["resource"] for r in d["results"]}) == 1'
summary
