#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn batch: images and factors through each pipeline on each backend, and what it reports. batch_*.sh have the rest.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=batch_inputs.sh
. "$here/batch_inputs.sh"
batch_inputs images inner noise factors
mkdir out

# --------------------------------------------------------------------------------------------------------------- images

# The same files from each pipeline on each backend: of a backend, in bytes.
backends=(serial)
for backend in simd omp:2 hip-nvidia hip-amd hip-cpu; do
    run select --size=10 --backend=$backend "${quick[@]}"
    [ "$status" = 0 ] && backends+=("$backend")
done
mapfile -t backends < <(printf '%s\n' "${backends[@]}" | some 1)
echo "backends: ${backends[*]}"
for backend in "${backends[@]}"; do
    first=$backend.${pipelines[0]}
    for pipeline in "${pipelines[@]}"; do
        ok "$backend $pipeline" batch "${images[@]}" --keep=1 --backend="$backend" --pipeline="$pipeline" \
            --output-dir="$backend.$pipeline" --json=out.json
        check "$backend $pipeline: no remarks" test -z "$(grep -v " is written: " "$work/err")"
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
for rank in $(printf '%s\n' 1 4 9 | some 1); do
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

# -------------------------------------------------------------------------------------------------------------- factors

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

# --------------------------------------------------------------------------------------------------- generated matrices

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

# ---------------------------------------------------------------------------------------------------- folders of images
# Folders of images.
mkdir folder && cp "$slice" folder/b.png && cp "$slice" folder/a.PNG && touch folder/.hidden.png folder/notes.txt
ok "a folder's images" batch folder --output-dir=of-folder --keep=3 --backend=serial
check "in the order of their names" test "$(ls of-folder)" = "a.PNG
b.png"
ok "a folder and an image" batch folder/ "$slice" --output-dir=of-both --keep=3 --backend=serial
check "are all there" test "$(find of-both -type f | wc -l)" = 3
mkdir bare
"$flynn" batch bare >"$work/out" 2>"$work/err"
check "a folder without images" test $? = 1
check "is named" grep -q "bare: is a folder; expected a PNG" "$work/err"
refused "a folder's image as output" 2 "are the same file" batch folder --json=folder/b.png
summary
