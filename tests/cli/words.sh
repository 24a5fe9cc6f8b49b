#!/bin/bash
# SPDX-License-Identifier: MIT
# The words that make arrays, in every exercise that takes a file: each takes them, or refuses them in one line.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

# The words for each exercise's arguments; "-": it has no arrays.
words_of() {
    case $1 in
        increment | sqrt | sort | select | histogram | scan | reduce) echo random:100 ;;
        maximum | allclose) echo random:8x9,seed=3 random:8x9,seed=3 ;;
        log_of_sum) echo random:99,from=1,to=2 random:99,from=1,to=2 ;;
        map) echo x+y random:99 integers:99 ;;
        kernel) echo vector_add.hip random:99 random:99 out 99 --expect=x+y ;;
        search_sorted) echo range:50 random:20,to=50 ;;
        transpose | svd) echo random:20x30 ;;
        convolve1d) echo random:500 gaussian:15 ;;
        convolve) echo impulses:64x64 gaussian:5x7 ;;
        reconstruct) echo random:9x4 random:4 random:4x7 ;;
        matmul) echo random:9x4 random:4x7 ;;
        primes) echo - ;;
        *) echo unknown ;;
    esac
}

cat >vector_add.hip <<'END'
__global__ void vector_add(const float *a, const float *b, float *out, int size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < size)
        out[i] = a[i] + b[i];
}
END

for exercise in $("$flynn" --exercises); do
    read -ra words <<<"$(words_of "$exercise")"
    case ${words[0]} in
        unknown) fail "$exercise" "this test has no words for it" ;;
        -) refused "$exercise takes none" 2 "one argument too many" "$exercise" random:9 ;;
        *)
            backend=(--backend=serial)
            [ "$exercise" != kernel ] || backend=(--backend=hip-cpu)
            if [ "$exercise" = kernel ] && ! "$flynn" info | grep -q '^ *hip-cpu.* can run here'; then
                echo "kernel is left out: hip-cpu cannot run here"
                continue
            fi
            ok "$exercise ${words[*]}" "$exercise" "${words[@]}" "${backend[@]}" --json "${quick[@]}"
            check "$exercise: right" json "$work/out" 'all(r["check"]["ok"] for r in d["results"])'
            first=${words[0]}
            [ "$exercise" != map ] && [ "$exercise" != kernel ] || first=${words[1]}
            refused "$exercise: an unknown kind" 2 "the nearest is random" "$exercise" "${words[@]/#$first/randm:9}" "${backend[@]}"
            ;;
    esac
done
ok "slice" slice random:20x30 "${quick[@]}"

# A range is an array of one dimension, of f32 or --dtype.
for exercise in increment sqrt sort select histogram scan reduce; do
    ok "$exercise of a range" $exercise 0:100 --json "${quick[@]}"
    check "$exercise of a range: right" json "$work/out" 'all(r["check"]["ok"] for r in d["results"])'
done
ok "a range backwards" sort 10:0:-1 -o range.npy "${quick[@]}"
check "is sorted" npy range.npy 'list(v) == list(range(1, 11)) and descr == "<f4"'
ok "two ranges" maximum 0:9 8:-1:-1 --dtype=i64 -o range.npy "${quick[@]}"
check "are compared" npy range.npy 'list(v) == [8, 7, 6, 5, 4, 5, 6, 7, 8] and descr == "<i8"'
ok "quarters" scan 0:1:0.25 -o range.npy "${quick[@]}"
check "are added" npy range.npy 'list(v) == [0, 0.25, 0.75, 1.5]'
refused "a range for a matrix" 2 "0:9: the matrix is 9; expected 2 dimensions" svd 0:9
refused "no range" 2 "'0:x' is not a range; expected FIRST:END" sort 0:x
refused "a step of 0" 2 "a range of this length cannot be made" sort 0:9:0
refused "halves in i32" 2 "'0:1:0.5': i32 does not hold all of its numbers" sort 0:1:0.5 --dtype=i32
run sort 5
check "a number alone is no range" grep -q "'5' is a number and no file" "$work/err"
refused "--seed with a range" 2 "--seed: has no effect" sort 0:9 --seed=3

# The k-th made array has the seed plus k; a word's own seed counts more; --seed is taken where a word is random.
ok "two alike by their seeds" maximum random:9,seed=5 random:9,seed=5 -o a.npy "${quick[@]}"
ok "one of them" maximum random:9,seed=5 fill:9,value=-1 -o b.npy "${quick[@]}"
check "they are alike" cmp a.npy b.npy
ok "two without" maximum random:9 random:9 -o c.npy "${quick[@]}"
ok "the first of them" maximum random:9 fill:9,value=-1 -o d.npy "${quick[@]}"
check "they are not alike" sh -c '! cmp -s c.npy d.npy'
ok "--seed" sort random:9 --seed=5 -o e.npy "${quick[@]}"
ok "the same seed" sort random:9,seed=5 -o f.npy "${quick[@]}"
check "it is the same" cmp e.npy f.npy
refused "--seed without random numbers" 2 "--seed: has no effect" sort ones:9 --seed=5
refused "--seed, each has one" 2 "--seed: has no effect" sort random:9,seed=3 --seed=5

# Dtypes: the word's, --dtype, the parameter's of a function.
ok "--dtype" sort random:9 --dtype=f64 --json "${quick[@]}"
check "it is f64" json "$work/out" 'd["results"][0]["dtype"] == "f64"'
ok "integers" sort integers:9 --json "${quick[@]}"
check "they are i32" json "$work/out" 'd["results"][0]["dtype"] == "i32"'
echo 'int half(int n) { return n / 2; }' >half.c
ok "a function of int" map half.c random:1000 -o half.npy "${quick[@]}"
check "whole numbers below 100 are made" npy half.npy "set(v) == set(range(50))"

# A wrong result: the first wrong elements, and where they are.
if "$flynn" info | grep -q '^ *hip-cpu.* can run here'; then
    run kernel vector_add.hip range:1000 range:1000 out 1000 --grid=1 --expect=x+y -b hip-cpu "${quick[@]}"
    check "the first block alone" [ "$status" = 1 ]
    check "how many" grep -qF "744 of 1,000 elements are wrong:" "$work/out"
    check "the first wrong one" grep -qxE ' +\[256\] +0 +512' "$work/out"
    check "where" grep -qxF "  ................+$(printf '#%.0s' {1..47})" "$work/out"
    ok "an output that is given" kernel vector_add.hip ones:64 range:64 inout:ones:64 64 --expect=x+y -b hip-cpu "${quick[@]}"
    ok "an expected array" kernel vector_add.hip ones:64 ones:64 out 64 --expect=fill:64,value=2 -b hip-cpu "${quick[@]}"
fi
summary
