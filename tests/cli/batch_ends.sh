#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn batch that is ended by a signal or by a full disk leaves whole files, as many as it says, and --resume does the others.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=batch_inputs.sh
. "$here/batch_inputs.sh"
batch_inputs images noise

# -------------------------------------------------------------------------------------------------------------- signals

ok "undisturbed" batch noise/*.png --keep=20 --output-dir=undisturbed
while read -r name pipeline; do
    disturbance="$name $pipeline"
    rm -rf out
    # With many threads all images are under way at once.
    FLYNN_CHUNK=2 FLYNN_THREADS=1 check "$disturbance" batch signal "$name" out noise/*.png --keep=20 --output-dir=out \
        --pipeline="$pipeline"
    [ "$name" = INT-INT ] || check "$disturbance came before the end" test "$(find out -name '*.png' | wc -l)" -lt 40
    ok "$disturbance: --resume" batch noise/*.png --keep=20 --output-dir=out --pipeline="$pipeline" --resume
    check "$disturbance: the same files" batch same undisturbed out
done < <(printf '%s\n' "INT full:2" "TERM full" "INT one-by-one" "TERM streams:2" "INT-INT full" | some 1)
mkdir long
batch noise long 1 1000 1000
check "two signals do not wait" batch impatient long/000.png --backend=serial --svd=jacobi --output-dir=never -q
check "and leave nothing" test -z "$(ls -A never)"
check "a signal in a timed pass: all was done in the first one" batch late --synthetic=50x64x64 --repeat=1000000 \
    --backend=serial --pipeline=one-by-one --json

# ---------------------------------------------------------------------------------------------------------- a full disk

# is_full FOLDER: of the last run: exit code 4, one line which tells how many are there, nothing half written.
is_full() {
    local count
    count=$(find "$1" -name '*.png' | wc -l)
    [ "$status" = 4 ] || { echo "expected exit code 4"; return 1; }
    [ "$(wc -l <"$work/err")" = 1 ] || { echo "expected one line on stderr"; return 1; }
    grep -q "could not be written (.*); $count of .* are done; --resume does the others" "$work/err" ||
        { echo "expected a report of $count"; return 1; }
    batch whole "$1"
}
# No file beyond that many KiB: the noise does not fit.
for pipeline in "${pipelines[@]}"; do
    rm -rf out
    last=(batch in/small*.png "noise/*" --pipeline="$pipeline")
    (
        ulimit -f 40
        export FLYNN_CHUNK=2
        timeout -k 10 $seconds "$flynn" batch in/small*.png noise/*.png --keep=3 --output-dir=out --pipeline="$pipeline"
    ) >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "a file too large, $pipeline" is_full out
    [ "$pipeline" = full:2 ] ||
        check "a file too large, $pipeline: what was before is done" test "$(find out -name '*.png' | wc -l)" = 6
done
mkdir disk
trap 'umount "$work/files/disk" 2>/dev/null; clean_up' EXIT
if mount -t tmpfs -o size=400k tmpfs disk 2>"$work/err"; then
    for pipeline in "${pipelines[@]}"; do
        find disk -name '*.png' -delete
        run batch noise/*.png --keep=3 --output-dir=disk --pipeline="$pipeline"
        check "a full disk, $pipeline" is_full disk
        check "a full disk, $pipeline: why" grep -q "No space left on device" "$work/err"
        check "a full disk, $pipeline: some are done" test -n "$(ls -A disk)"
    done
    umount disk
else
    echo "left out: a full disk: $(cat "$work/err")"
fi
summary
