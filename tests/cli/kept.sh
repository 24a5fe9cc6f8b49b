#!/bin/bash
# SPDX-License-Identifier: MIT
# Files that an earlier version kept (tests/data/kept) are used: ceilings, saved sweeps, and an interrupted batch.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
on_machine quiet # or noise would leave nothing to keep
kept=$(dirname "$here")/data/kept
quick=(--repeat=1 --warmup=0)

ok "this machine" convolve --size=20 --json "${quick[@]}"
device=$("$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["results"][0]["device"])' "$work/out")
for file in ceilings sweeps; do
    sed "s|@MACHINE@|$(hostname)|; s|@DEVICE@|$device|" "$kept/$file.json" >"$work/cache/$file.json"
done

ok "a ceiling" convolve --size=64 --json "${quick[@]}"
check "its percentage" json "$work/out" 'abs(d["results"][0]["percent_of_ceiling"] - 100 * max(d["results"][0]["bytes"] / 12e9,
    d["results"][0]["flops"] / 6e9) / d["results"][0]["kernel_s"]) <= 1e-9 * d["results"][0]["percent_of_ceiling"]'
chosen='d["results"][0]["variant"], d["results"][0]["block"][:2], d["results"][0]["tuned"]'
ok "a saved sweep without blocks" sort --size=1000 --json "${quick[@]}"
check "its variant" json "$work/out" "($chosen) == ('radix', [0, 0], True)"
ok "a saved sweep with a block" reconstruct --size=24 --keep=4 --json "${quick[@]}"
check "its variant and block" json "$work/out" "($chosen) == ('tiled', [8, 8], True)"
ok "another ceiling and another sweep" sweep sort --size=2000 --variant=bitonic --save "${quick[@]}"
ok "the saved sweep beside it" sort --size=1000 --json "${quick[@]}"
check "is still there" json "$work/out" "($chosen) == ('radix', [0, 0], True)"

cp -r "$kept/batch" .
chmod -R u+w batch
touch -d 2001-01-01 batch/out/.flynn-* batch/out/*
ok "the rest of a batch" batch batch/in/*.png --keep=3 --output-dir=batch/out --resume --json
check "two images were missing" json "$work/out" '[(r["done"], r["already_there"]) for r in d["batch"]["runs"]] == [(2, 4)]'
check "the others were not touched" test "$(find batch/out ! -newermt 2001-01-02 -name '*.png' | wc -l)" = 4
check "what was being written is gone" test -z "$(find batch/out -name '.flynn-*')"
ok "all of it anew" batch batch/in/*.png --keep=3 --output-dir=anew
check "the same names" test "$(ls batch/out)" = "$(ls anew)"
for image in anew/*.png; do # which an earlier version compressed in another way
    ok "the same image $image" show "$image" "batch/out/${image#anew/}"
done
summary
