#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn convolve1d: the exercise with its known numbers, files, modes, variants, what is refused.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)
vectors=$operations/convolve1d/golden

# The exercise as it is, at full size on every backend, each result checked against the reference; the first one's
# file against the numbers that are known.
ok "no input at all" convolve1d -o course.npy "${quick[@]}"
check "15 taps: length and total" npy course.npy \
    'shape == (4194318,) and descr == "<f8" and abs(sum(v) - 101407.853251) < 1e-5'
ok "every backend" convolve1d --backend=all --json "${quick[@]}"
check "each of them, by tiled" json "$work/out" 'len(d["results"]) >= 3 and all(r["shape"] == [4194318] and
    r["variant"] == "tiled" and r["exercise"] == "convolve1d" and r["check"]["ok"] and
    r["check"]["method"] == "reference" and r["bytes"] == 8 * (4194304 + 15 + 4194318) for r in d["results"])'
ok "the whole Gaussian" convolve1d --taps=225 --backend=omp -o course.npy "${quick[@]}"
check "225 taps: length and total" npy course.npy 'shape == (4194528,) and abs(sum(v) - 1182763.8256) < 1e-3'
ok "the narrow one, in f32" convolve1d --gaussian=narrow --dtype=f32 --size=70000 -o course.npy "${quick[@]}"
check "two rows of impulses" npy course.npy 'shape == (70014,) and descr == "<f4" and
    abs(sum(v) - 2 * 128 * sum(math.exp(-2 * (-2 + 4 * i / 14)**2) for i in range(15))) < 1e-2'
ok "shorter than an impulse" convolve1d --size=3 -o course.npy "${quick[@]}"
check "nothing but zeros" npy course.npy 'shape == (17,) and not any(v)'

# Against NumPy's results.
for name in even_f64 long_f64 gaussian_f64 mixed integers bytes; do
    for mode in full same valid; do
        ok "$name $mode" convolve1d "$vectors/$name.signal.npy" "$vectors/$name.kernel.npy" --mode=$mode -o out.npy \
            "${quick[@]}"
        check "$name $mode against NumPy" close out.npy "$vectors/$name.$mode.npy" 1e-11
    done
done
for name in nan_signal inf_signal nan_kernel inf_kernel inf_long_kernel inf_meets_zero; do
    ok "$name" convolve1d "$vectors/$name.signal.npy" "$vectors/$name.kernel.npy" --backend=serial -o out.npy "${quick[@]}"
    check "$name: infinities and NaN where NumPy has them" close out.npy "$vectors/$name.full.npy" 1e-12
done
ok "f32 stays f32" convolve1d "$vectors/even_f32.signal.npy" "$vectors/even_f32.kernel.npy" -o out.npy "${quick[@]}"
check "f32 in the file" npy out.npy 'descr == "<f4"'
ok "--dtype=f64" convolve1d "$vectors/even_f32.signal.npy" "$vectors/even_f32.kernel.npy" --dtype=f64 -o out.npy \
    "${quick[@]}"
check "f64 in the file" npy out.npy 'descr == "<f8"'
ok "one's own signal with the course's kernel" convolve1d line.npy -o out.npy "${quick[@]}"
check "its length" npy out.npy 'shape == (17,)'

# Variants. fft is there where its library is.
for variant in auto tiled naive reference; do
    ok "variant $variant" convolve1d --size=5000 --variant=$variant --backend=serial --json "${quick[@]}"
    [ $variant = auto ] || check "$variant ran" json "$work/out" "d['results'][0]['variant'] == '$variant'"
done
run info --json
if grep -q 'fft in f32' "$work/out"; then
    echo "not tested: fft: no library for it"
else
    ok "fft" convolve1d --variant=fft --dtype=f32 --backend=serial,omp --json "${quick[@]}"
    check "its error is reported" json "$work/out" 'all(r["variant"] == "fft" and
        "largest sums" in r["check"]["method"] and r["check"]["max_abs"] < 1e-5 for r in d["results"])'
fi
ok "sampled" convolve1d --check=sampled --taps=225 --size=600000 --mode=same --json "${quick[@]}"
check "samples" json "$work/out" '"definition, 524288 sampled elements" in d["results"][0]["check"]["method"] and
    d["results"][0]["check"]["ok"]'
ok "a block" convolve1d --size=5000 --block=96 --backend=omp "${quick[@]}"

ok "the list" list
check "lists it" grep -qw convolve1d "$work/out"

# What is refused.
refused "two dimensions" 2 "image.npy: the signal is 3x4" convolve1d image.npy -o out.npy
refused "a kernel of two dimensions" 2 "tall.npy: the kernel is 3x1" convolve1d line.npy tall.npy
refused "a picture" 2 grey8.png convolve1d grey8.png
refused "no such file" 2 missing.npy convolve1d missing.npy
refused "no such kernel" 2 missing.npy convolve1d line.npy missing.npy
"$PYTHON" - <<'PY'
import struct
head = "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }"
head += " " * (-(len(head) + 11) % 64) + "\n"
open("nothing.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
PY
refused "a signal without elements" 2 "the signal has no elements; expected at least one" convolve1d nothing.npy
refused "a kernel without elements" 2 "the kernel has no elements; expected at least one" convolve1d line.npy nothing.npy
refused "three files" 2 line.npy convolve1d line.npy line.npy line.npy
refused "integers to compute in" 2 i32 convolve1d --dtype=i32
refused "a size and a file" 2 --size convolve1d line.npy --size=4
refused "taps and a kernel" 2 --taps convolve1d line.npy line.npy --taps=15
refused "a Gaussian and a kernel" 2 --gaussian convolve1d line.npy line.npy --gaussian=wide
refused "taps that there are none of" 2 --taps convolve1d --taps=16
refused "a mode that is none" 2 --mode convolve1d --mode=circular
refused "a variant that is none" 2 "did you mean 'tiled'" convolve1d --size=100 --variant=tilde --backend=serial
refused "too large a signal" 2 --size convolve1d --size=99999999999999
refused "an output of another kind" 2 out.txt convolve1d --size=100 -o out.txt
refused "a backend that is none" 2 serial convolve1d --backend=seriel
summary
