#!/bin/bash
# SPDX-License-Identifier: MIT
# A machine that is really busy, with two busy loops for each core: every run is marked as noisy, and no ceiling is kept. (With one
# for each core the system may put both of two cores' loops on one of them, and a run has the other one to itself. That quiet runs
# are not marked is tested in noise.sh, where the system says that the machine is quiet.)
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
unset FLYNN_BACKEND

loops=()
stop() {
    kill "${loops[@]}"
    wait "${loops[@]}"
} 2>"$work/check"
trap 'stop; clean_up' EXIT
for ((loop = 0; loop < 2 * $(nproc); loop++)); do
    while :; do :; done &
    loops+=($!)
done

noisy='all(r["disturbed"] and r["place"] is None for r in d["results"])'
ok "sort" sort --backend=omp --size=1M --min-time=0.1 --json
check "sort is marked" json "$work/out" "$noisy"
ok "compare" compare sort convolve --scale=0.1 --backend=serial,omp --min-time=0.1 --json
check "compare is marked" json "$work/out" "$noisy and len(d['results']) == 4"
rm -f "$work/cache/ceilings.json"
ok "ceiling" ceiling --backend=omp --size=64M --min-time=0.1 --json
check "its roofline is marked" json "$work/out" 'all(q["disturbed"] and not q["steady"]
    for q in d["ceilings"][0]["quantities"] if q["key"] in ("copy", "f32", "f64"))'
check "no ceiling is kept" json "$work/cache/ceilings.json" 'all(v is None for c in d.values() for v in c.values())'
summary
