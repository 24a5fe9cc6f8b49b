# SPDX-License-Identifier: MIT
# The commands that start threads of their own, on the backends that ThreadSanitizer understands: the pipeline of `batch`
# with its pools and its trace, and its resuming. FLYNN names the program; a report of the sanitizer changes its exit
# code (66) and so fails this test.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for i in 1 2 3 4 5 6 7 8; do
    "$FLYNN" convolve --backend=serial --size=$((24 + i)) --repeat=1 -o image$i.png --json=row.json -q
done
for backend in serial simd; do
    "$FLYNN" batch --backend=$backend --threads=3 --keep=4 --output-dir=$backend --trace=$backend-trace.json -q ./*.png >table
    [ "$(find $backend -name '*.png' | wc -l)" = 8 ]
done
rm serial/image3.png serial/image7.png
"$FLYNN" batch --backend=serial --keep=4 --output-dir=serial --resume -q ./*.png >table
for i in 1 2 3 4 5 6 7 8; do
    [ -s serial/image$i.png ]
done
"$FLYNN" batch --backend=serial,simd --pipeline=all --synthetic=12x24x20 --keep=4 -q >table
