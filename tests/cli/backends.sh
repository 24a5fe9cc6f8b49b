#!/bin/bash
# SPDX-License-Identifier: MIT
# Several backends, those that cannot run, and one that is wrong.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--size=64 --repeat=1 --warmup=0)

# What there is.
ok "info" info
for name in serial simd omp hip-nvidia hip-amd hip-cpu; do
    check "info lists $name" grep -q $name "$work/out"
done
ok "info as JSON" info --json
cp "$work/out" info.json
check "the document" json info.json 'd["schema"] == "flynn/2" and "machine" in d'
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/broken
ok "info with broken plugins" info --json
cp "$work/out" broken.json
# What the document calls the list of backends is found by what its entries have.
entries='{b["name"]: b for v in d.values() if isinstance(v, list) for b in v if isinstance(b, dict) and "name" in b}'
for name in other-abi short-size no-symbol no-device unresolved text empty left-out; do
    check "$name cannot run, with cause and fix" json broken.json \
        "(lambda b: b['usable'] is False and b['cause'] and b['cure'])(${entries}['$name'])"
done
check "the cause as the probe reported it" json broken.json \
    "${entries}['no-device']['cause'] == 'no flux capacitor in this machine'"
check "the others can" json broken.json "${entries}['serial']['usable'] is True"
ok "info in words" info
for words in "no flux capacitor in this machine" "fit one and restart" "no compiler for it"; do
    check "info says '$words'" grep -qF "$words" "$work/out"
done

# All of them: what cannot run is listed with its reason; emulations are labelled and not ranked.
ok "all" convolve --backend=all --json "${quick[@]}"
check "those that run" json "$work/out" '{"serial", "simd", "omp"} <= {r["backend_requested"] for r in d["results"]}'
check "those that do not" json "$work/out" 'all(s["reason"] for s in d["skipped"]) and
    "no flux capacitor" in next(s["reason"] for s in d["skipped"] if s["backend"] == "no-device")'
check "nobody is lost" json "$work/out" '{"hip-nvidia", "hip-amd", "hip-cpu"} <=
    {r["backend_requested"] for r in d["results"]} | {s["backend"] for s in d["skipped"]}'
check "an emulation says so" json "$work/out" \
    'all(r["emulation"] == (r["backend_requested"] == "hip-cpu") for r in d["results"])'
unset FLYNN_PLUGIN_PATH
unset FLYNN_BACKEND
ok "auto" convolve --json "${quick[@]}"
check "auto is never an emulation" json "$work/out" 'd["results"][0]["emulation"] is False'
ok "auto, 10 elements" sort --size=10 --trace=few.json --repeat=1 --warmup=0
check "no test whether threads are fast: there is work for one" test "$(grep -c '"sqrt' few.json)" = 0
ok "auto, 100,000 elements" sort --size=100k --trace=many.json --repeat=1 --warmup=0
if grep -q '"omp:[1-9]*[02-9]\b' many.json; then # not a GPU, and not one thread
    check "that test" grep -q '"sqrt' many.json
fi
# Threads that wait for a processor, by a false omp: libflynn takes simd, and the command says so after the table.
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/slow-threads
for name in auto cpu; do
    ok "$name where threads wait" sort --size=100k --backend=$name --json --repeat=1 --warmup=0
    check "$name is simd" json "$work/out" 'd["results"][0]["backend"] == "simd"'
    check "$name says why" grep -qE "^flynn sort: --backend=$name: omp:.* is slower than simd at the moment \(.* ms, and .* ms, for 262,144 square roots\): this machine is busy, and simd runs; --backend=omp runs it anyway$" "$work/err"
done
ok "auto, 10 elements, where threads wait" sort --size=10 --json --repeat=1 --warmup=0
check "there is work for one thread" json "$work/out" 'd["results"][0]["backend"] == "omp"'
check "and nothing is said" test ! -s "$work/err"
ok "omp where threads wait" sort --size=100k --backend=omp --json --repeat=1 --warmup=0
check "omp is what was named" json "$work/out" 'd["results"][0]["backend"] == "omp"'
check "and nothing is said of it" test ! -s "$work/err"
unset FLYNN_PLUGIN_PATH
export FLYNN_BACKEND=serial
run convolve --backend=hip --json "${quick[@]}"
if [ "$status" = 0 ]; then
    check "hip is a GPU" json "$work/out" 'd["results"][0]["family"] == "hip" and d["results"][0]["emulation"] is False'
else
    check "hip cannot run here, and says why" is_refused 3 hip
fi

# A plugin that returns wrong numbers is named, gets no rank, and makes the run fail.
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/wrong:$FLYNN_TEST_FAULTS/good
ok "the same plugin without the fault" convolve --backend=serial,good "${quick[@]}"
run convolve --backend=serial,wrong --json --csv=wrong.csv "${quick[@]}"
cp "$work/out" wrong.json
check "wrong numbers: exit code 1" test "$status" = 1
check "which one is wrong" json wrong.json '[r["check"]["ok"] for r in d["results"]] == [True, False]'
check "by how much, and where" json wrong.json '(lambda c: abs(c["max_abs"] - 0.5) < 1e-9 and c["worst_index"] in
    ([39, 26], 39 * 78 + 26))(d["results"][1]["check"])'
check "in the CSV too" csv wrong.csv 'len(rows) == 2'
run convolve --backend=serial,wrong "${quick[@]}"
check "exit code 1 with the table" test "$status" = 1
check "the table names it and says wrong" grep -iE 'wrong.*(wrong|failed|no)' "$work/out"
# A speed-up is a rank: the wrong one's line has none ("1.00x", "12.3").
check "and ranks the right one alone" test "$(grep -cE 'wrong.*[0-9]+\.[0-9]+ ?x' "$work/out")" = 0
run convolve --backend=wrong -o wrong.npy --png=wrong.png "${quick[@]}"
check "the wrong one alone: exit code 1" test "$status" = 1
check "a wrong result is not written" test ! -e wrong.npy -a ! -e wrong.png
run convolve --backend=serial,wrong -o right.npy "${quick[@]}"
check "the first one's result is written when that is right" npy right.npy 'shape == (78, 78)'
ok "the oracle of the wrong one is right" convolve --backend=wrong --variant=reference "${quick[@]}"
unset FLYNN_PLUGIN_PATH

# The same result from each.
golden=$operations/convolve/golden
for backend in serial simd omp omp:1 hip-cpu; do
    run convolve "$golden/even_f64.image.npy" "$golden/even_f64.kernel.npy" --backend=$backend -o out.npy --repeat=1
    [ $backend = hip-cpu ] && [ "$status" = 3 ] && continue
    check "$backend against SciPy" close out.npy "$golden/even_f64.full.npy" 1e-13
done
summary
