#!/bin/bash
# SPDX-License-Identifier: MIT
# Long runs: how long they are, what --max-time does, and what is shown meanwhile.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# Passes of more than a second are timed once. 10^11 divisions, which no processor does in half a second, and few minutes.
ok "some passes within the time" sort --size=1k --backend=serial --repeat=1000000 --max-time=1 --json
check "are shown" json "$work/out" '0 < len(d["results"][0]["times_s"]["total"]) < 1000000 and d["results"][0]["check"]["ok"]'
check "with a remark" grep -q -- "--max-time: the time was over after [0-9]* timed passes; 1 of 1 rows" "$work/err"
long=(primes --upto=5M --backend=serial)
refused "not one pass" 4 "--max-time: not even the first pass ended within 0.3 s; give it more time, or a smaller input" "${long[@]}" --max-time=0.3
least=1000
for try in 1 2 3; do # the quickest, since the machine may be busy
    start=$(date +%s%N)
    refused "not one pass, $try" 4 "within 0.1 s" "${long[@]}" --max-time=0.1
    took=$((($(date +%s%N) - start) / 1000000))
    [ $took -ge $least ] || least=$took
done
check "and no whole second: $least ms" test $least -lt 1000
refused "with a file" 4 "--max-time" "${long[@]}" --max-time=0.3 -o primes.npy
check "leaves no file" test -z "$(find . -name 'primes*' -o -name '*.part')"
ok "two backends" sort --size=1k --backend=serial,simd --repeat=1000000 --max-time=1 --json
check "have passes" json "$work/out" 'len(d["results"]) == 2 and all(r["times_s"]["total"] and r["check"]["ok"] for r in d["results"])'
ok "some exercises" compare --backend=serial --scale=0.001 --min-time=0.5 --max-time=1 --json
check "of all" json "$work/out" '0 < len(d["results"]) < 11 and not d["failed"]'
check "reported, too" grep -q -- "--max-time: the time was over after [0-9]* of [0-9]* exercises" "$work/err"
ok "an exercise of compare that has passes" compare sort --size=1k --backend=serial --min-time=60 --max-time=1 --json
check "is shown" json "$work/out" 'len(d["results"]) == 1 and not d["failed"]'
refused "one that has none" 4 "--max-time" compare primes --size=5M --backend=serial --max-time=0.5
ok "some combinations" sweep sort --size=1k,2k,3k,4k,5k,6k --backend=serial --min-time=0.5 --max-time=1 --json
check "of the sweep" json "$work/out" '0 < len(d["results"]) < 24'
check "reported as well" grep -q -- "--max-time: the time was over after [0-9]* of 24 combinations" "$work/err"
# 1M elements: a thousand passes, the most that --min-time takes, of 1k are over before --max-time is.
ok "some points of a law" laws sort --backend=omp --threads=1,2,3,4 --size=1M --min-time=0.5 --max-time=1 --json
check "say which are missing" json "$work/out" 'd["stopped"]["by"] == "--max-time" and len(d["stopped"]["not_run"]) >= 1 and
    d["stopped"]["done"] + len(d["stopped"]["not_run"]) == 8 and len(d["laws"]["strong"]) + len(d["laws"]["weak"]) == len(d["results"])'
mkdir slices
for ((i = 0; i < 40; i++)); do cp "$slice" slices/$i.png; done
ok "some rounds of a batch's law" laws batch slices --backend=serial --threads=1,2 --repeat=64 --max-time=$((2 * ${FLYNN_TEST_SLOWNESS:-1})) --json
check "say which are missing, too" json "$work/out" 'd["stopped"]["by"] == "--max-time" and len(d["laws"]["strong"]) == 2 and
    "rounds of strong scaling, n = 1" in d["stopped"]["not_run"][0] and d["stopped"]["not_run"][-1] == "weak scaling, n = 2"'
refused "not one batch of it" 4 "--max-time: not even the first batch ended within 0.1 s" \
    laws batch slices --backend=serial --threads=1,2 --max-time=0.1
refused "no time" 2 --max-time sort --max-time=-1
# Slices: some of them, on two backends.
ok "some slices" slice --size=500 --backend=serial,simd --repeat=1000000 --max-time=1 --json
check "of 54 rows" json "$work/out" '0 < len(d["results"]) < 54 and all(r["check"]["ok"] and r["times_s"]["d2h"] and (r["place"] or r["disturbed"]) for r in d["results"])'
check "reported, too" grep -qE -- "--max-time: the time was over after [0-9]+ rows?; [0-9]+ of 18 slices are complete" "$work/err"
check "explained once a slice is complete" json "$work/out" 'bool(d["explanations"]) == (len(d["results"]) >= 3)'
ok "all slices of one backend" slice --size=128 --backend=serial --repeat=1 --max-time=100 --json
check "are all there" json "$work/out" 'len(d["results"]) == 27 and len(d["explanations"]) == 5'
check "and no remark" test ! -s "$work/err"
ok "a slice in one way" slice --size=500 --slice=0:4,: --backend=serial --repeat=1000000 --max-time=1 -o rows.npy
check "is written" npy rows.npy 'shape == (4, 500)'
refused "not one slice" 4 "--max-time: not even the first pass ended within 0.001 s" slice --size=2000 --backend=serial --max-time=0.001
# Images: those that were decomposed are written, and --resume does the others.
"$PYTHON" -B - "$here" <<'PY' || exit 1
import hashlib, os, sys
sys.path.insert(0, sys.argv[1])
import files
def noise(path, edge):
    data = hashlib.shake_256(path.encode()).digest(edge * edge)
    open(path, "wb").write(files.png(edge, edge, 8, 0, [list(data[edge * y:edge * (y + 1)]) for y in range(edge)]))
os.mkdir("noise")
for n in range(200):
    noise(f"noise/{n}.png", 128)
noise("large.png", 1200)
PY
for pipeline in one-by-one full; do
    rm -rf done
    images=(batch noise --keep=10 --backend=serial --pipeline=$pipeline --output-dir=done)
    ok "some images, $pipeline" "${images[@]}" --svd=jacobi --max-time=1 --json
    check "what is done, and why no more" json "$work/out" 'all(0 < r["done"] < 200 and r["done"] + r["dropped"] == 200 and
        r["failed"] == 0 and r["check"]["ok"] and not r["interrupted"] and r["ended_by"] == "--max-time: the time was over"
        for r in d["batch"]["runs"])'
    check "as many files" json "$work/out" "d['batch']['runs'][0]['done'] == $(find done -name '*.png' | wc -l)"
    check "no unfinished one" test -z "$(find done ! -name '*.png' -type f)"
    check "reported, with the way to go on" grep -qE -- "the time was over; [0-9]+ of 200 are done; --resume does the others" "$work/err"
    ok "the others" "${images[@]}" --svd=randomized --resume --max-time=100 --json
    check "are done" json "$work/out" 'all(0 < r["already_there"] < 200 and r["done"] + r["already_there"] == 200 and r["ended_by"] is None
        for r in d["batch"]["runs"])'
    check "without a remark" test ! -s "$work/err"
done
ok "some pipelines" batch noise --keep=10 --backend=serial --svd=jacobi --pipeline=all --max-time=1 --json
check "the one that was begun" json "$work/out" '[r["pipeline"] for r in d["batch"]["runs"]] == ["one-by-one"]'
check "of four" grep -q -- "--max-time: the time was over after 1 of 4 pipelines" "$work/err"
ok "passes over made factors" batch --synthetic=4x32x32 --backend=serial --repeat=1000000 --max-time=1 --json
check "all matrices, some passes" json "$work/out" 'all(r["done"] == 4 and r["times_s"] and r["ended_by"] is None for r in d["batch"]["runs"])'
check "how many" grep -qE -- "--max-time: the time was over after [0-9]+ timed passes" "$work/err"
mkdir nothing
refused "not one image" 4 "--max-time: not even the first pass ended within 0.5 s" batch large.png --keep=10 --backend=serial --svd=jacobi \
    --output-dir=nothing --max-time=0.5

# On a terminal: what is done, for how long, how much is left and when it ends.
"$PYTHON" "$here/terminal.py" "$work/out" "$work/err" "$flynn" sort --size=1k --backend=serial --repeat=1000000 --max-time=3.5 ||
    fail "on a terminal" "exit code $?"
check "the time that has passed" grep -q "serial: pass [0-9]* of 1000000, [0-9]* s" "$work/err"
check "that is left, and its end" grep -q "s left, until [0-9][0-9]:[0-9][0-9]:[0-9][0-9]" "$work/err"
# A busy machine: three times as many programs as processors, on the processors that the command may use.
busy=()
for ((i = 0; i < 3 * $(nproc); i++)); do
    while :; do :; done &
    busy+=($!)
done
cat >unsteady.py <<'PY'
import json, sys
row, = json.load(open(sys.argv[1]))["results"]
kernel = sorted(row["times_s"]["kernel"])
at = lambda part: (lambda x: kernel[int(x)] + (x % 1) * (kernel[min(int(x) + 1, len(kernel) - 1)] - kernel[int(x)]))(
    part * (len(kernel) - 1))
assert row["disturbed"] or at(.75) - at(.25) <= .5 * at(.5), kernel  # times that vary are reported always,
sys.exit(not row["disturbed"])  # others where what disturbed them was seen
PY
reported=no
for _ in 1 2 3 4 5; do
    run sort --backend=omp --size=300k --min-time=1.5 --json
    if "$PYTHON" unsteady.py "$work/out"; then
        reported=yes
        break
    fi
done
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null
check "what disturbed the times is reported" [ $reported = yes ]
summary
