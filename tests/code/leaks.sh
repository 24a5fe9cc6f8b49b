#!/bin/bash
# SPDX-License-Identifier: MIT
# leaks.sh VALGRIND PART PARTS: the whole command under valgrind's memory checker: every byte that was taken is given back or
# still pointed to at the end, and nothing is read before it is written or beyond its end. Only what is definitely lost,
# by itself or within what is, counts: OpenMP's thread pool is still in use at the end. Of PARTS processes that may run
# at the same time this one takes every PARTS-th run; it does the others without valgrind, for the files they write.
set -eu
: "${FLYNN:?}" "${FLYNN_SOURCE:?}" "${FLYNN_BUILD:?}"
valgrind=$1
part=$2
parts=$3
flynn=$FLYNN
data=$FLYNN_SOURCE/tests
work=$(mktemp -d "${TMPDIR:-/tmp}/flynn-leaks.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
checked=0
seen=0

# ours: whether the next run is one of this part's.
ours() {
    seen=$((seen + 1))
    [ $((seen % parts)) = $((part % parts)) ]
}

launcher= # of several processes

# clean CODE ARGUMENT...: the command must end with that exit code, and without a leak or an error.
clean() {
    local code=$1 status=0
    shift
    if ! ours; then
        $launcher "$flynn" "$@" >out 2>err || true
        return
    fi
    rm -f log.*
    $launcher "$valgrind" --quiet --leak-check=full --show-leak-kinds=definite,indirect \
        --errors-for-leak-kinds=definite,indirect --error-exitcode=99 --log-file=log.%p \
        "$flynn" "$@" >out 2>err || status=$?
    checked=$((checked + 1))
    if [ "$status" != "$code" ] || grep -qv 'ignores shmget' log.*; then
        echo "FAILED: $launcher flynn $*: exit code $status, expected $code" >&2
        head -60 log.* err >&2
        failed=$((failed + 1))
    fi
}

# What users copy from gives back everything, too.
for program in "$FLYNN_BUILD"/tests/examples/*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    ours || continue
    checked=$((checked + 1))
    if ! "$valgrind" --quiet --leak-check=full --show-leak-kinds=definite,indirect \
        --errors-for-leak-kinds=definite,indirect --error-exitcode=99 --log-file=log "$program" serial >out 2>err; then
        echo "FAILED: $(basename "$program")" >&2
        head -60 log err >&2
        failed=$((failed + 1))
    fi
done

image=$data/operations/convolve/golden/tall_f64.image.npy
kernel=$data/operations/convolve/golden/tall_f64.kernel.npy
quick=(--repeat=2 --warmup=1)
clean 0 convolve --size=32 --backend=serial,simd,omp:2 --json=out.json --csv=out.csv -o out.npy --png=out.png --zoom=2 \
    "${quick[@]}"
clean 0 convolve --size=32 --backend=simd:v2,omp:1:v2 --json "${quick[@]}"
# Several backends and variants in one run: valgrind takes a second to begin.
clean 0 convolve --size=32 --backend=serial,simd,omp:2 --variant=auto,naive,tiled,separable --json "${quick[@]}"
clean 0 convolve1d --size=5000 --taps=225 --backend=serial,simd,omp:2 --json -o out.npy "${quick[@]}"
if ! "$flynn" info | grep -q 'fft in f32'; then
    clean 0 convolve1d --size=5000 --variant=fft --dtype=f32 --backend=serial,omp:2 "${quick[@]}"
fi
clean 2 convolve1d --variant=tilde --size=100 --backend=serial
clean 0 convolve "$image" "$kernel" --mode=valid --dtype=f32 --backend=simd "${quick[@]}"
clean 0 convolve "$data/data/mri/slice_072.png" "$kernel" --mode=same --backend=omp -o out.png "${quick[@]}"
for words in "sort --size=5000" "increment --size=100k" "convolve --size=300" "convolve --size=40 --png=out.png"; do
    clean 0 $words --backend=omp:2 -o out.npy
    FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/one-wrong FAULT_PLACE=${words%% *}.out:last clean 1 $words --backend=one-wrong -o out.npy
done
clean 0 svd --size=16 --keep=3 --backend=serial -o out.png
clean 0 slice --size=40 --backend=serial,omp:2 --json=out.json "${quick[@]}"
clean 0 slice "$image" --slice=2:9,1:3 --pageable -o out.npy "${quick[@]}"
clean 2 slice "$image" --slice=9:2
head -c 200 "$data/data/mri/slice_072.png" >cut.png
clean 0 svd --size=16 --keep=3 --factors=factors --backend=serial "${quick[@]}"
for pipeline in one-by-one streams full; do
    FLYNN_THREADS=3 clean 1 batch "$data"/data/mri/*.png cut.png none.png --keep=3 --svd=randomized --pipeline=$pipeline \
        --backend=serial --output-dir=$pipeline --json
    clean 0 batch --factors=factors --output-dir=$pipeline --pipeline=$pipeline --backend=serial "${quick[@]}"
    FLYNN_THREADS=3 FLYNN_CHUNK=1 FAULT_LAUNCHES=1 FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/failing \
        clean 4 batch "$data"/data/mri/*.png --keep=3 --svd=randomized --pipeline=$pipeline --backend=failing
done
clean 2 convolve "$image" "$kernel" --variant=separable --backend=serial "${quick[@]}"
clean 2 convolve missing.npy
clean 2 convolve --moed=full
clean 4 convolve --size=32 -o nowhere/out.npy
FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/wrong clean 1 convolve --size=32 --backend=serial,wrong "${quick[@]}"
FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/broken clean 4 convolve --size=32 --backend=open-fails
FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/broken clean 0 info --json
clean 0 list
clean 0 show random:30x30 --crop=1:20,::2
clean 1 show range:4x5 zeros:4x5
if [ -f "$(dirname "$flynn")/../lib/links/flynn-link-mpich.so" ] && command -v mpirun.mpich >/dev/null; then
    launcher="mpirun.mpich -n 2" # MPICH's own memory is given back; Open MPI's is not
    clean 0 sort --size=1000 --backend=serial --json=out.json -o out.npy "${quick[@]}"
    clean 0 svd --size=16 --keep=3 --factors=factors --backend=serial "${quick[@]}"
    clean 0 batch "$data"/data/mri/*.png --keep=3 --svd=randomized --backend=serial --output-dir=ranks
    clean 0 ceiling --size=1000 --backend=serial --repeat=2
    clean 2 sort --backend=serial,omp
fi

echo "$checked runs, $failed with leaks or errors"
[ "$failed" = 0 ] && [ "$checked" -gt 0 ]
