#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn batch: images and factors through each pipeline on each backend, what it tells, and what happens when files, disks,
# devices or users get in its way.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
batch() { FLYNN=$flynn "$PYTHON" "$here/batch.py" "$@"; }
quick=(--repeat=1 --warmup=0)
pipelines=(one-by-one pinned streams:3 full:2)

mkdir in inner out other noise
{ batch images in && batch inner inner && batch noise noise 40 300 300 && batch factors factors; } || exit 1
images=(in/*.png)

# ---------------------------------------------------------------------------------------------------------------- images

# The same files from each pipeline on each backend: of a backend, in bytes.
backends=(serial)
for backend in simd omp:2 hip-nvidia hip-amd hip-cpu; do
    run select --size=10 --backend=$backend "${quick[@]}"
    [ "$status" = 0 ] && backends+=("$backend")
done
echo "backends: ${backends[*]}"
# Where none is named: `auto` may take another one each time on a busy machine, and says so.
export FLYNN_BACKEND=omp:2
[[ ${backends[*]} != *hip-nvidia* ]] || FLYNN_BACKEND=hip-nvidia
for backend in "${backends[@]}"; do
    first=$backend.${pipelines[0]}
    for pipeline in "${pipelines[@]}"; do
        ok "$backend $pipeline" batch "${images[@]}" --keep=1 --backend="$backend" --pipeline="$pipeline" \
            --output-dir="$backend.$pipeline" --json=out.json
        check "$backend $pipeline: no remarks" test ! -s "$work/err"
        check "$backend $pipeline: numbers" batch numbers out.json
        check "$backend $pipeline: all of them are right" json out.json '[(r["done"], r["failed"], r["dropped"],
            r["check"]["ok"], r["interrupted"], r["ended_by"]) for r in d["batch"]["runs"]] ==
            [('${#images[@]}', 0, 0, True, False, None)]'
        check "$backend $pipeline: the same files" batch same "$first" "$backend.$pipeline"
    done
    check "$backend: sizes, depths, colours, alpha" batch kinds in "$first"
    check "$backend: what is of rank 1 is as it was" batch exact in "$first" rank1.png rank1_16.png one.png row.png \
        column.png constant.png black.png
done
ok "all ranks" batch "${images[@]}" --output-dir=out --json
check "all of the images as they were" batch exact in out "${images[@]#in/}"
check "and no error is shown" json "$work/out" 'd["batch"]["runs"][0]["worst_error"] < 1e-5 and d["batch"]["singular_values"] is None'
for rank in 1 4 9; do
    rm -rf out
    ok "rank $rank" batch inner/*.png --keep=$rank --output-dir=out --json
    check "errors of rank $rank" batch errors "$work/out" inner out
done
ok "the brains" batch "${slice%/*}"/*.png --keep=20 --output-dir=brains --json
check "both of them" batch kinds "${slice%/*}" brains
ok "one of them by itself" batch "$slice" --keep=20 --decompose-on=serial --output-dir=one --json=batch.json
ok "flynn svd of it" svd "$slice" --keep=20 --backend=serial --json=svd.json "${quick[@]}"
check "has the same error" "$PYTHON" -c 'import json, sys
batch, svd = [json.load(open(name)) for name in sys.argv[1:]]
told, result = batch["batch"]["runs"][0]["error"], svd["results"][0]
assert abs(told - result["error"] / result["norm"]) < 1e-6, (told, result["error"] / result["norm"])' batch.json svd.json
# One whose values are 0 to 255, so that both commands write the same range.
mkdir svd
ok "flynn svd's picture" svd in/small0.png --keep=3 --backend=serial -o svd/small0.png "${quick[@]}"
ok "flynn batch's" batch in/small0.png --keep=3 --decompose-on=serial --backend=serial --output-dir=as_svd
check "are the same" batch near svd as_svd

# Chunks, and what all pipelines tell together.
ok "all pipelines at once" batch in/small*.png --pipeline=all --keep=3 --backend=serial --json=out.json
check "numbers, speed-ups among them" batch numbers out.json
check "each in turn" json out.json '[(r["pipeline"], r["streams"]) for r in d["batch"]["runs"]] ==
    [("one-by-one", 1), ("pinned", 1), ("streams", 6), ("full", 6)] and
    all(r["over_one_by_one"]["speed_up"] is not None for r in d["batch"]["runs"][1:])'
check "small ones in one launch" json out.json '[r["launches"] for r in d["batch"]["runs"]] == [6, 6, 1, 1] and
    [r["chunk"] for r in d["batch"]["runs"]] == [1, 1, 6, 6]'
check "stages" json out.json 'all({s["stage"]: s["count"] for s in r["stages"]} == {"read": 6, "decode": 6,
    "decompose": 6, "reconstruct": 6, "check": 6} for r in d["batch"]["runs"])'
ok "sizes by turns" batch in/small0.png noise/000.png in/small1.png noise/001.png in/small2.png noise/002.png in/small3.png \
    --pipeline=streams --chunk=8 --keep=3 --backend=serial --json # a GPU's first chunks are smaller
check "each size in one launch" json "$work/out" '[(r["launches"], r["chunk"], r["done"]) for r in d["batch"]["runs"]] == [(2, 4, 7)]'
ok "more sizes than wait" batch in/small0.png in/rgb8.png inner/*.png noise/000.png "${images[@]}" --chunk=100 --keep=1 --json
check "all of them" json "$work/out" 'all(r["done"] == d["batch"]["count"] and r["launches"] < r["done"]
    for r in d["batch"]["runs"])'
ok "--chunk" batch in/small*.png --pipeline=streams --chunk=4 --keep=3 --json
check "of 4" json "$work/out" '[(r["launches"], r["chunk"]) for r in d["batch"]["runs"]] == [(2, 4)]'
ok "--chunk among channels" batch in/rgb8.png in/rgb8.png --pipeline=streams --chunk=4 --keep=3 --json
check "of 4 of 6" json "$work/out" '[(r["launches"], r["chunk"], r["done"]) for r in d["batch"]["runs"]] == [(2, 4, 2)]'
ok "five pipelines" batch "$slice" --pipeline=one-by-one,streams:1,streams:2,streams:8,full:64 --json
check "all of them" json "$work/out" '[r["streams"] for r in d["batch"]["runs"]] == [1, 1, 2, 8, 64]'
ok "two backends, which may round differently" batch --synthetic=5x40x30 --backend=serial,simd --json "${quick[@]}"
check "numbers" batch numbers "$work/out"
ok "the table" batch "${images[@]}" --keep=1 --pipeline=one-by-one,full --backend=serial
for words in "${#images[@]} images" "decomposed on" one-by-one full "bound by" decompose check launches "peak of the process" \
    "over all images"; do
    check "the table tells '$words'" grep -qF -- "$words" "$work/out"
done
ok "the trace" batch noise/0[0-3]*.png --keep=9 --pipeline=full --threads=4 --output-dir=traced --trace=trace.json -q
check "threads at the same time" batch lanes trace.json full
ok "the trace of one thread" batch noise/00*.png --keep=9 --pipeline=streams --output-dir=traced --trace=trace.json -q
check "one after the other" batch lanes trace.json streams

# --------------------------------------------------------------------------------------------------------------- factors

for backend in "${backends[@]}"; do
    ok "factors on $backend" batch --factors=factors/good --output-dir="f.$backend" --backend="$backend" --pipeline=all \
        --json=out.json "${quick[@]}"
    check "factors on $backend: numbers" batch numbers out.json
    check "factors on $backend: as read" json out.json 'd["batch"]["source"] == "factors" and d["batch"]["dtype"] is None
        and all(r["done"] == 4 and r["memory"]["factors_bytes"] > 0 for r in d["batch"]["runs"])'
    for name in a b c d; do
        check "factors on $backend: $name" close "f.$backend/$name.npy" factors/expected/all/$name.npy 1e-4
    done
    check "factors on $backend: f64" npy "f.$backend/c.npy" 'descr == "<f8" and shape == (4, 9)'
    check "factors on $backend: f32" npy "f.$backend/d.npy" 'descr == "<f4" and shape == (1, 1)'
done
# Of one shape, as two copies of one set: one launch.
mkdir -p factors/twice
cp -r factors/alone factors/twice/a && cp -r factors/alone factors/twice/b
ok "factors of one shape" batch --factors=factors/twice --pipeline=streams --keep=1 --json "${quick[@]}"
check "in one launch" json "$work/out" '[(r["launches"], r["done"]) for r in d["batch"]["runs"]] == [(1, 2)]'
ok "factors of rank 2" batch --factors=factors/good --keep=2 --output-dir=f2 "${quick[@]}"
for name in a b c d; do
    check "of rank 2: $name" close f2/$name.npy factors/expected/2/$name.npy 1e-4
done
ok "one folder of factors" batch --factors=factors/alone/ --keep=1 --output-dir=f1 "${quick[@]}"
check "has its name" test "$(ls -A f1)" = alone.npy
check "and its product" close f1/alone.npy factors/expected/1/alone.npy 1e-12
run batch --factors=factors/bad --output-dir=f3 --json "${quick[@]}"
check "broken factors: exit code 1" test "$status" = 1
check "broken factors: the others are done" test "$(ls -A f3)" = good.npy
check "broken factors: named" json "$work/out" 'sorted((f["input"], f["wrong"]) for f in
    d["batch"]["runs"][0]["failures"]) == [("factors/bad/" + n, False) for n in ("broken", "mismatch", "no_vt")]'
check "broken factors: a line each" test "$(wc -l <"$work/err")" = 3
check "broken factors: times all the same" batch numbers "$work/out"
for pipeline in "${pipelines[@]}"; do
    rm -rf f4
    run batch --factors=factors/large --output-dir=f4 --pipeline="$pipeline" --json
    check "factors read as it goes, $pipeline: one fails, one is done" test "$status $(ls -A f4)" = "1 good.npy"
    check "factors read as it goes, $pipeline: reported" json "$work/out" '[(r["done"], r["failed"], r["cold_s"],
        r["memory"]["factors_bytes"]) for r in d["batch"]["runs"]] == [(1, 1, None, 0)]'
    check "factors read as it goes, $pipeline: why" grep -q "the times include reading them" "$work/err"
done

# -------------------------------------------------------------------------------------------------------------- made here

ok "made here" batch --synthetic=40x31x20 --keep=7 --pipeline=all --json=out.json "${quick[@]}"
check "made here: numbers" batch numbers out.json
check "made here: reported" json out.json '(d["batch"]["shape"], d["batch"]["singular_values"], d["batch"]["dtype"], d["batch"]["count"])
    == ([31, 20], 7, "f32", 40) and all(r["check"]["compared"] > 0 and r["flops"] == 2 * 40 * 31 * 20 * 7
    for r in d["batch"]["runs"])'
ok "in f64" batch --synthetic=3x31x20 --dtype=f64 --json "${quick[@]}"
check "in f64: all singular values" json "$work/out" '(d["batch"]["dtype"], d["batch"]["singular_values"]) == ("f64", 20)'
ok "the smallest" batch --synthetic=1x1x1 --pipeline=all --json "${quick[@]}"
ok "a size for them" batch --size=16 --keep=2 --json "${quick[@]}"
check "as many as ever" json "$work/out" '(d["batch"]["count"], d["batch"]["shape"]) == (256, [16, 16])'
ok "timed passes" batch --synthetic=9x8x8 --repeat=4 --json
check "four, and a cold one" json "$work/out" 'len(d["batch"]["runs"][0]["times_s"]) == 4 and
    d["batch"]["runs"][0]["cold_s"] > 0'

# peak TITLE ARGUMENT...: in $peak the most memory that the process had.
peak() {
    ok "$@" --json
    peak=$("$PYTHON" -c 'import json, sys
print(json.load(open(sys.argv[1]))["batch"]["runs"][0]["memory"]["peak_bytes"])' "$work/out")
}
# Memory is bounded: no larger for more matrices (64 KiB each) but by their factors and what is kept of each (6 KiB), up to
# 256 MiB of these, and for images not at all.
mkdir repeated
for ((i = 0; i < 125; i++)); do
    ln -s ../noise/000.png "repeated/$i.png"
done
for pipeline in "${pipelines[@]}"; do
    made=(--keep=1 --pipeline="$pipeline" "${quick[@]}")
    export FLYNN_CHUNK=8 # a variable, since pipelines that it has no effect on refuse the option
    peak "64 matrices, $pipeline" batch --synthetic=64x128x128 "${made[@]}"
    few=$peak
    peak "2000 matrices, $pipeline" batch --synthetic=2000x128x128 "${made[@]}"
    check "memory for 2000 matrices and for 64, $pipeline: $peak and $few" test $((peak - few)) -lt 20000000
    export FLYNN_CHUNK=2 FLYNN_THREADS=2
    randomized=(--keep=2 --svd=randomized --pipeline="$pipeline")
    peak "25 images, $pipeline" batch repeated/10?.png repeated/11?.png repeated/12?.png "${randomized[@]}"
    few=$peak
    peak "125 images, $pipeline" batch repeated/*.png "${randomized[@]}"
    check "memory for 125 images of 720 KB and for 25, $pipeline: $peak and $few" test $((peak - few)) -lt 24000000
    unset FLYNN_CHUNK FLYNN_THREADS
done

# -------------------------------------------------------------------------------------------------- input that is wrong

cp in/small0.png other/small0.png
head -c 200 "$slice" >cut.png
mkdir folder.png
for pipeline in "${pipelines[@]}"; do
    rm -rf out
    run batch in/small0.png cut.png text.npy in/small1.png none.png folder.png checksum.png in/small2.png --keep=3 \
        --output-dir=out --pipeline="$pipeline" --json
    check "broken images, $pipeline: exit code 1" test "$status" = 1
    check "broken images, $pipeline: the others are done" test "$(echo out/*)" = \
        "out/small0.png out/small1.png out/small2.png"
    check "broken images, $pipeline: named" json "$work/out" 'sorted(f["input"] for f in
        d["batch"]["runs"][0]["failures"]) == ["checksum.png", "cut.png", "folder.png", "none.png", "text.npy"]'
    check "broken images, $pipeline: a line each" test "$(wc -l <"$work/err")" = 5
    check "broken images, $pipeline: numbers" batch numbers "$work/out"
    for name in checksum.png cut.png folder.png none.png text.npy; do
        check "broken images, $pipeline: $name on stderr" grep -q "^flynn batch: .*$name: ." "$work/err"
    done
done
run batch in/small0.png cut.png --keep=3
check "the table lists them" grep -q '^failed: cut.png: ' "$work/out"
run batch cut.png none.png --pipeline=all --json
check "nothing but broken ones" json "$work/out" 'all((r["done"], r["failed"], r["images_per_s"]) == (0, 2, 0)
    for r in d["batch"]["runs"])'
run batch in/row.png in/small0.png --keep=2 --output-dir=ranks
check "a rank beyond one image: that one fails" test "$status $(ls -A ranks)" = "1 small0.png"
check "and the reason is given" grep -q "in/row.png: an image of 1x17 has 1 singular values; --keep=2 asks for more" "$work/err"

refused "a rank beyond all" 2 "has 20 singular values; --keep=21 asks for more" batch --synthetic=2x30x20 --keep=21
refused "two inputs of a name" 2 "other/small0.png, new/small0.png are the same file" batch in/small0.png other/small0.png --output-dir=new
refused "the input's own folder" 2 "the input in/small0.png and the output of" batch in/small0.png --output-dir=in
refused "its own folder by another name" 2 "in/small0.png, other/../in/small0.png are the same file" batch in/small0.png \
    --output-dir=other/../in
refused "--resume alone" 2 "--output-dir" batch in/small0.png --resume
refused "an unknown pipeline" 2 "the nearest is streams" batch --pipeline=stream
refused "no stream" 2 "from 1 to 64" batch --pipeline=streams:0
refused "65 streams" 2 "from 1 to 64" batch --pipeline=full:65
refused "a number for one by one" 2 "one chunk at a time" batch --pipeline=one-by-one:2
refused "nine pipelines" 2 "at most 8" batch --pipeline=full,full,full,full,full,full,full,full,full
refused "no pipeline" 2 --pipeline batch --pipeline=
refused "two numbers" 2 --synthetic batch --synthetic=3x4
refused "none at all" 2 --synthetic batch --synthetic=0x4x4
refused "images and made ones" 2 --synthetic batch in/small0.png --synthetic=3x4x4
refused "images and factors" 2 --factors batch in/small0.png --factors=factors/good
refused "no factors" 2 "u.npy" batch --factors=in
refused "no folder" 2 nowhere batch --factors=nowhere
refused "a size for images" 2 --size batch in/small0.png --size=4
refused "a dtype for images" 2 --dtype batch in/small0.png --dtype=f64
for option in --repeat=1 --warmup=0 --min-time=0; do
    refused "$option for images" 2 "${option%=*}: has no effect: files that are read" batch in/small0.png "$option"
    refused "$option for factors that are read as it goes" 2 "has no effect" batch --factors=factors/large "$option"
done
refused "chunks one by one" 2 "--chunk: has no effect" batch in/small0.png --pipeline=one-by-one,pinned --chunk=2
refused "threads without pipeline full" 2 "--threads: has no effect" batch in/small0.png --pipeline=streams --threads=2
refused "threads for factors in memory" 2 "--threads: has no effect" batch --factors=factors/good --threads=2
refused "pinned memory that nothing uses" 2 "--pageable: has no effect" batch --pipeline=one-by-one --pageable
refused "what decomposes, without images" 2 "--decompose-on: has no effect" batch --size=8 --decompose-on=serial
refused "how to decompose, without images" 2 "--svd: has no effect" batch --factors=factors/good --svd=auto
refused "a size beside --synthetic" 2 "--size: has no effect" batch --synthetic=3x4x4 --size=4
refused "made ones beside factors" 2 "--synthetic: has no effect" batch --factors=factors/good --synthetic=3x4x4
for option in --check=full --wrong-timing --csv; do
    refused "$option" 2 "${option%=*}: this command does not take it" batch --size=8 "$option"
done
FLYNN_REPEAT=1 FLYNN_CHUNK=2 FLYNN_SIZE=4 FLYNN_CHECK=full ok "variables that have no effect are ignored" batch \
    in/small0.png --keep=2 --pipeline=pinned
FLYNN_SVD=auto FLYNN_OUTPUT_DIR=ignored ok "likewise for random matrices" batch --size=8 "${quick[@]}"
check "likewise: nothing is made" test ! -e ignored
refused "an integer dtype" 2 --dtype batch --dtype=i32
refused "made ones are not written" 2 --output-dir batch --output-dir=new
refused "a file as folder" 2 "cannot make this folder: File exists" batch in/small0.png --output-dir=cut.png
refused "a folder in none" 2 nowhere/deep batch in/small0.png --output-dir=nowhere/deep
refused "no threads" 2 --threads batch --threads=0
refused "no backend" 2 sreial batch in/small0.png --backend=sreial --output-dir=new
refused "none that decomposes" 2 sreial batch in/small0.png --decompose-on=sreial --output-dir=new
refused "a variant that is none" 2 randomized batch in/small0.png --svd=randomised --output-dir=new
refused "more than there can be" 2 --synthetic batch --synthetic=9223372036854775807x8x8
refused "larger than there can be" 2 --synthetic batch --synthetic=1x2147483647x2147483647 --keep=2147483647

# -------------------------------------------------------------------------------------------------------------- --resume

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

# --------------------------------------------------------------------------------------------------------------- signals

ok "undisturbed" batch noise/*.png --keep=20 --output-dir=undisturbed
for disturbance in "INT full:2" "TERM full" "INT one-by-one" "TERM streams:2" "INT-INT full"; do
    read -r name pipeline <<<"$disturbance"
    rm -rf out
    # With many threads all images are under way at once.
    FLYNN_CHUNK=2 FLYNN_THREADS=1 check "$disturbance" batch signal "$name" out noise/*.png --keep=20 --output-dir=out \
        --pipeline="$pipeline"
    [ "$name" = INT-INT ] || check "$disturbance came before the end" test "$(find out -name '*.png' | wc -l)" -lt 40
    ok "$disturbance: --resume" batch noise/*.png --keep=20 --output-dir=out --pipeline="$pipeline" --resume
    check "$disturbance: the same files" batch same undisturbed out
done
mkdir long
batch noise long 1 1000 1000
check "two signals do not wait" batch impatient long/000.png --backend=serial --svd=jacobi --output-dir=never -q
check "and leave nothing" test -z "$(ls -A never)"
check "a signal in a timed pass: all was done in the first one" batch late --synthetic=50x64x64 --repeat=1000000 \
    --backend=serial --pipeline=one-by-one --json

# ----------------------------------------------------------------------------------------------------------- a full disk

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

# --------------------------------------------------------------------------------------------------------------- devices

# One wrong element: the image is not written, the others are.
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/one-wrong
for pipeline in "${pipelines[@]}"; do
    for where in first last; do
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
ok "nothing fails" batch in/*.png --keep=1 --backend=failing --pipeline=all --output-dir=copied --json=out.json
check "nothing fails: numbers, of the link too" batch numbers out.json
check "nothing fails: the link" json out.json 'all(r["link"]["reached"] > 0 and {"copy to device", "copy to host"} <
    {s["stage"] for s in r["stages"]} for r in d["batch"]["runs"])'
check "nothing fails: the same files" batch same copied serial.one-by-one
ok "made here, copied" batch --synthetic=50x16x16 --backend=failing --pipeline=all --json "${quick[@]}"
check "made here, copied: numbers" batch numbers "$work/out"
ok "--pageable" batch --synthetic=50x16x16 --backend=failing --pipeline=all --pageable --json "${quick[@]}"
# 24x24 images of rank 3: 2892 bytes each.
for pipeline in streams:4 full:4; do
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
    done <<'END'
FAULT_MEMORY=1000 out of device memory for [0-9]* bytes
FAULT_LAUNCHES=3 the device is lost: a launch
FAULT_SCRATCH=3 reconstruct: out of device memory
FAULT_WAITS=20 the device is lost: a wait
END
done
unset FLYNN_CHUNK
ok "the rest" batch in/small*.png --keep=3 --backend=failing --output-dir=out --resume
check "is as it was to be" batch same before out
# Folders of images.
mkdir folder && cp "$slice" folder/b.png && cp "$slice" folder/a.PNG && touch folder/.hidden.png folder/notes.txt
ok "a folder's images" batch folder --output-dir=of-folder --keep=3 --backend=serial
check "in the order of their names" test "$(ls of-folder)" = "a.PNG
b.png"
ok "a folder and an image" batch folder/ "$slice" --output-dir=of-both --keep=3 --backend=serial
check "are all there" test "$(ls of-both | wc -l)" = 3
mkdir bare
"$flynn" batch bare >"$work/out" 2>"$work/err"
check "a folder without images" test $? = 1
check "is named" grep -q "bare: is a folder; expected a PNG" "$work/err"
refused "a folder's image as output" 2 "are the same file" batch folder --json=folder/b.png
summary
