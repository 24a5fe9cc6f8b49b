#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh FLYNN FOLDER: some of the exercises on every backend that can run here: tables on the screen and, with the pictures, in
# FOLDER.
set -eu
flynn=$1
folder=$2
slices=$(dirname "$0")/../../tests/data/mri
kernels=$(dirname "$0")/../kernels
slice=$slices/slice_110.png
mkdir -p "$folder"

run() { # NAME COMMAND ARGUMENT...: the table on the screen and in NAME.txt
    name=$1
    shift
    echo
    "$flynn" "$@" --backend=all >"$folder/$name.txt"
    cat "$folder/$name.txt"
}

echo "The course's image, 2048x2048, with its 15x15 Gaussian; a slice of a brain, 181x217, with the same:"
run convolve convolve --png="$folder/convolve.png" --crop=64x64 --zoom=8
run slice convolve "$slice" --mode=same --png="$folder/slice.png" --zoom=3
echo
echo "The brain again, of which 20 singular values of 181 are left:"
run svd svd "$slice" --keep=20 -o "$folder/svd.png"
echo
echo "Both slices that are here from 20 singular values, through a pipeline, on the best backend here:"
"$flynn" batch "$slices"/*.png --keep=20 --output-dir="$folder/batch" >"$folder/batch.txt"
cat "$folder/batch.txt"
echo
echo "Sorting a million numbers; adding one to 65,536; the primes below 10,000 by trial division:"
run sort sort --size=1000000
run increment increment
run primes primes
echo
echo "Kernels of your own, on a GPU or on an emulated one: a sum of two vectors, and one that forgets that there are several blocks:"
for kernel in vector_add vector_add_one_block; do
    echo
    "$flynn" kernel "$kernels/$kernel.hip" 0:1000 0:1000 out 1000 --expect='x + y' >"$folder/$kernel.txt" || [ $? = 1 ] # wrong
    cat "$folder/$kernel.txt"
done
echo
echo "Tables and pictures are in $folder: convolve.png (the top left corner), slice.png, svd.png, batch/*.png."
