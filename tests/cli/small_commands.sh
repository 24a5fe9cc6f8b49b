# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034 # those who source it use the tables
# The command that runs each operation, or one variant of it, on something small; sourced. A test over all operations fails where
# `flynn list` has one that is missing here.
declare -A command=(
    [convolve]="convolve --size=40" [convolve1d]="convolve1d --size=700" [sort]="sort --size=5000"
    [select]="select --size=5000" [reduce]="reduce --shape=100x50 --axis=1" [primes]="primes --upto=3000"
    [increment]="increment --size=5000" [sqrt]="sqrt --size=5000" [maximum]="maximum --size=16"
    [log_of_sum]="log_of_sum --size=5000" [map]="map x*y+1 --size=5000" [search_sorted]="search_sorted --size=5000 --sorted=3000"
    [transpose]="transpose --size=70" [reconstruct]="reconstruct --size=48 --keep=10" [svd]="svd --size=32" [matmul]="matmul --size=48"
    [histogram]="histogram --size=5000" [scan]="scan --size=5000"
    # f32 alone, whose sums it takes in f64
    [convolve fft-wide]="convolve --size=40 --dtype=f32" [convolve1d fft-wide]="convolve1d --size=700 --dtype=f32"
    # f64 alone
    [convolve fft-checked]="convolve --size=40 --dtype=f64" [convolve1d fft-checked]="convolve1d --size=700 --dtype=f64"
    # f64 alone, which it computes in f32
    [svd single]="svd --size=32 --dtype=f64"
    # The library refuses sums of floats, which differ from call to call.
    [scan library]="scan --size=5000 --operation=maximum"
)

# words_of OPERATION VARIANT: sets the array `words` to the command; empty if the table lacks it.
words_of() {
    read -ra words <<<"${command[$1 $2]:-${command[$1]:-}}"
}
