#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn batch: broken images, options that contradict each other, memory that does not grow with the number of inputs.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=batch_inputs.sh
. "$here/batch_inputs.sh"
batch_inputs images noise factors
mkdir out other

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

# --------------------------------------------------------------------------------------------------------------- memory
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
summary
