#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh FLYNN FOLDER: the convolution exercise on the course's image and on a brain slice, on every backend that can run here;
# tables on the screen and, with the pictures, in FOLDER.
set -eu
flynn=$1
folder=$2
slice=$(dirname "$0")/../tests/data/mri/slice_110.png
mkdir -p "$folder"

run() { # NAME ARGUMENT...: the table in NAME.txt, the result through a colour map in NAME.png
    name=$1
    shift
    "$flynn" convolve "$@" --backend=all --png="$folder/$name.png" >"$folder/$name.txt"
    cat "$folder/$name.txt"
}

echo "The course's image, 2048x2048, with its 15x15 Gaussian:"
run course --crop=64x64 --zoom=8
echo
echo "A slice of a brain, 181x217, with the same Gaussian:"
run slice "$slice" --mode=same --zoom=3
echo
echo "Tables and pictures are in $folder: course.png (the top left corner), slice.png."
