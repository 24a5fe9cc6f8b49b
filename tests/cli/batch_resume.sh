#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn batch --resume; and devices that compute one wrong element, run out of memory or fail.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=batch_inputs.sh
. "$here/batch_inputs.sh"
batch_inputs images

# ------------------------------------------------------------------------------------------------------------- --resume

rm -rf out
ok "the first time" batch in/small*.png --keep=3 --output-dir=out --backend=serial
cp -r out before
rm out/small1.png out/small4.png
touch -d 2001-01-01 out/*
ok "--resume" batch in/small*.png --keep=3 --output-dir=out --backend=serial --resume --json
check "--resume: what was missing" json "$work/out" '[(r["done"], r["already_there"]) for r in d["batch"]["runs"]] == [(2, 4)]'
check "--resume: numbers" batch numbers "$work/out"
check "--resume: the same files" batch same before out
check "--resume: the others were not touched" test "$(find out ! -newermt 2001-01-02 -name '*.png' | wc -l)" = 4
ok "--resume with nothing left" batch in/small*.png --keep=3 --output-dir=out --resume --json
check "nothing left: reported" json "$work/out" '[(r["done"], r["already_there"]) for r in d["batch"]["runs"]] == [(0, 6)]'
check "nothing left: numbers" batch numbers "$work/out"
ok "again, without --resume" batch in/small*.png --keep=3 --output-dir=out
check "all are new" test "$(find out -newermt 2001-01-02 -name '*.png' | wc -l)" = 6

# -------------------------------------------------------------------------------------------------------------- devices

# One wrong element: the image is not written, the others are.
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/one-wrong
for pipeline in "${pipelines[@]}"; do
    for where in $(printf '%s\n' first last | some 1); do
        rm -rf out
        export FAULT_PLACE=reconstruct.y:$where
        run batch in/small*.png --keep=3 --backend=one-wrong --output-dir=out --pipeline="$pipeline" --json
        check "wrong, $pipeline $where: exit code 1" test "$status" = 1
        check "wrong, $pipeline $where: reported, and the others written" json "$work/out" 'd["batch"]["runs"][0]["failures"] and
            all(f["wrong"] and "wrong" in f["message"] for f in d["batch"]["runs"][0]["failures"]) and
            d["batch"]["runs"][0]["done"] == 6 - d["batch"]["runs"][0]["failed"] == '"$(find out -name '*.png' | wc -l)"' and
            not d["batch"]["runs"][0]["check"]["ok"]'
    done
    run batch --synthetic=20x16x16 --backend=one-wrong --pipeline="$pipeline" "${quick[@]}"
    check "wrong, made here, $pipeline: exit code 1" test "$status" = 1
    unset FAULT_PLACE
    ok "without the fault, $pipeline" batch --synthetic=20x16x16 --backend=one-wrong --pipeline="$pipeline" "${quick[@]}"
done

# Arrays that have to be copied, on a device that then fails.
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/failing
ok "on serial" batch in/*.png --keep=1 --backend=serial --pipeline=one-by-one --output-dir=on-serial
ok "nothing fails" batch in/*.png --keep=1 --backend=failing --pipeline=all --output-dir=copied --json=out.json
check "nothing fails: numbers, of the link too" batch numbers out.json
check "nothing fails: the link" json out.json 'all(r["link"]["reached"] > 0 and {"copy to device", "copy to host"} <
    {s["stage"] for s in r["stages"]} for r in d["batch"]["runs"])'
check "nothing fails: the same files" batch same copied on-serial
ok "made here, copied" batch --synthetic=50x16x16 --backend=failing --pipeline=all --json "${quick[@]}"
check "made here, copied: numbers" batch numbers "$work/out"
ok "--pageable" batch --synthetic=50x16x16 --backend=failing --pipeline=all --pageable --json "${quick[@]}"
# 24x24 images of rank 3: 2892 bytes each.
for pipeline in $(printf '%s\n' streams:4 full:4 | some 1); do
    rm -rf less more
    export FAULT_MEMORY=20000
    run batch in/small*.png --keep=3 --backend=failing --pipeline="$pipeline" --output-dir=less --json
    unset FAULT_MEMORY
    check "short of memory, $pipeline: done all the same" test "$status" = 0
    check "short of memory, $pipeline: smaller" json "$work/out" '[(r["done"], r["memory"]["made_smaller"],
        0 < r["memory"]["device_bytes"] <= 20000) for r in d["batch"]["runs"]] == [(6, True, True)]'
    check "short of memory, $pipeline: a note" grep -q "out of memory: the pipeline goes on" "$work/err"
    ok "not short of it, $pipeline" batch in/small*.png --keep=3 --backend=failing --pipeline="$pipeline" --output-dir=more
    check "not short of it, $pipeline: no note" test ! -s "$work/err"
    check "short of memory, $pipeline: the same files" batch same less more
done
export FAULT_MEMORY=20000
ok "short of memory, made here" batch --synthetic=50x16x16 --keep=4 --backend=failing --json "${quick[@]}"
check "short of memory, made here: smaller" json "$work/out" 'd["batch"]["runs"][0]["memory"]["made_smaller"]'
unset FAULT_MEMORY

# is_broken WORDS: of the last run: exit code 4, and one line but for the notes.
is_broken() {
    [ "$status" = 4 ] || { echo "expected exit code 4"; return 1; }
    [ "$(grep -vc "the pipeline goes on" "$work/err")" = 1 ] || { echo "expected one line on stderr"; return 1; }
    grep -q "^flynn batch: $1" "$work/err" || { echo "expected '$1'"; return 1; }
}
for pipeline in "${pipelines[@]}"; do
    export FLYNN_CHUNK=1
    while read -r fault words; do
        rm -rf out
        export "${fault?}"
        run batch in/small*.png --keep=3 --backend=failing --pipeline="$pipeline" --output-dir=out --json
        check "$fault, $pipeline" is_broken "$words; . of 6 are done; --resume does the others"
        check "$fault, $pipeline: numbers" batch numbers "$work/out"
        check "$fault, $pipeline: whole files, as many as are reported" json "$work/out" \
            "d['batch']['runs'][0]['done'] == $(find out -type f | wc -l) and d['batch']['runs'][0]['ended_by']"
        run batch --synthetic=50x16x16 --keep=3 --backend=failing --pipeline="$pipeline" "${quick[@]}"
        check "$fault, made here, $pipeline" is_broken "$words; .* of 50 are done"
        unset "${fault%%=*}"
    done < <(some 2 <<'END'
FAULT_MEMORY=1000 out of device memory for [0-9]* bytes
FAULT_LAUNCHES=3 the device is lost: a launch
FAULT_SCRATCH=3 reconstruct: out of device memory
FAULT_WAITS=20 the device is lost: a wait
END
    )
done
unset FLYNN_CHUNK
ok "the rest" batch in/small*.png --keep=3 --backend=failing --output-dir=out --resume
check "is as it was to be" batch same before out
summary
