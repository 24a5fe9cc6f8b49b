#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrays without elements, on every backend: as NumPy and scipy.signal.convolve2d take them (docs/exercises/README.md).
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--backend=all --repeat=1 --warmup=0)

"$PYTHON" -B - "$here" <<'PY' || exit 1
import sys
sys.path.insert(0, sys.argv[1])
import files
def save(name, shape, value=0, descr="<f4"):
    size = 1
    for n in shape:
        size *= n
    open(name + ".npy", "wb").write(files.npy([value] * size, shape, descr) if descr == "<f4" else files.npy(b"", shape, descr))
for shape in (0,), (0, 5), (5, 0), (0, 0), (2, 0, 3), (0, 5, 3), (0, 3), (0, 3, 4), (0, 4), (3, 0):
    save("x".join(map(str, shape)), shape)
for shape in (3,), (5, 5), (3, 3), (5, 3), (3, 4):
    save("x".join(map(str, shape)), shape, 1)
save("bytes", (0, 5), descr="|u1")
PY
# The result of EXERCISE ARGUMENT... has this shape and no element but 0.
gives() {
    local shape=$1
    shift
    [[ "$*" = *--factors=* ]] || ! leaves_out 4 || return 0 # whose factors later cases take
    rm -f out.npy
    ok "$*" "$@" -o out.npy --json "${quick[@]}"
    check "$*: $shape on every backend" json "$work/out" 'd["results"] and all(r["check"]["ok"] for r in d["results"])'
    check "$*: gives $shape" npy out.npy "shape == $shape and not any(v)"
}

for shape in "0 (0,)" "0x5 (0, 5)" "5x0 (5, 0)" "2x0x3 (2, 0, 3)"; do
    file=${shape%% *}.npy
    for exercise in increment sqrt; do
        gives "${shape#* }" $exercise "$file"
    done
    for exercise in maximum log_of_sum; do
        gives "${shape#* }" $exercise "$file" "$file"
    done
    gives "(0,)" select "$file"
    [ "$file" = 0.npy ] || gives "$(sed 's/\(, \|(\)\([0-9]*\), \([0-9]*\))/\1\3, \2)/' <<<"${shape#* }")" transpose "$file"
    gives "(256,)" histogram "$file"
    gives "(1,)" reduce "$file"
    gives "(1,)" reduce "$file" "$file" --operation=dot --accumulate=f64
    for extreme in minimum argmax; do
        refused "$extreme of $file" 2 "at least one" reduce "$file" --operation=$extreme "${quick[@]}"
    done
    gives "(0,)" scan "$file"
    gives "(0,)" scan "$file" --operation=maximum --exclusive --in-place
    ok "allclose $file" allclose "$file" "$file" "${quick[@]}"
done
gives "(0,)" log_of_sum 0.npy 3
gives "(0, 5)" sqrt bytes.npy
gives "(0,)" sort 0.npy
gives "(0,)" sort 0.npy --in-place
gives "(5,)" reduce 0x5.npy --axis=0
gives "(0,)" reduce 5x0.npy --axis=0
gives "(0,)" reduce 5x0.npy --axis=0 --operation=maximum
gives "(2, 3)" reduce 2x0x3.npy --axis=1
gives "(0, 3)" reduce 2x0x3.npy --axis=0 --operation=argmin
gives "(0,)" search_sorted 3.npy 0.npy
gives "(3,)" search_sorted 0.npy 3.npy
for upto in 0 1 2; do
    gives "(0,)" primes --upto=$upto
done

# scipy.signal.convolve2d; numpy.convolve refuses them.
gives "(2, 7)" convolve 0x5.npy 3x3.npy
gives "(7, 2)" convolve 5x0.npy 3x3.npy
gives "(4, 7)" convolve 5x5.npy 0x3.npy
gives "(4, 4)" convolve 5x5.npy 0x0.npy
gives "(0, 5)" convolve 0x5.npy 3x3.npy --mode=same
gives "(5, 5)" convolve 5x5.npy 3x0.npy --mode=same
gives "(6, 3)" convolve 5x5.npy 0x3.npy --mode=valid --check=sampled
refused "nothing in either" 2 "mode full needs an element of image or kernel in dimension 0; image is 0x0" convolve 0x0.npy 0x0.npy
refused "neither contains the other" 2 "mode valid needs one input to contain the other" convolve 0x5.npy 3x3.npy --mode=valid
for mode in full same valid; do
    refused "no signal, $mode" 2 "0.npy: the signal has no elements" convolve1d 0.npy 3.npy --mode=$mode
    refused "no kernel, $mode" 2 "0.npy: the kernel has no elements" convolve1d 3.npy 0.npy --mode=$mode
done

# numpy.linalg.svd without full matrices, and the products of its factors.
for shape in "0x5 (0, 5)" "5x0 (5, 0)" "0x0 (0, 0)"; do
    file=${shape%% *}
    gives "${shape#* }" svd "$file.npy" --factors=$file
    check "$file: no singular value" json "$work/out" 'all((r["singular_values"], r["error"], r["norm"]) == (0, 0, 0) for r in d["results"])'
    check "$file: u" npy $file/u.npy "shape == (${file%x*}, 0)"
    check "$file: s" npy $file/s.npy "shape == (0,)"
    check "$file: vt" npy $file/vt.npy "shape == (0, ${file#*x})"
    gives "${shape#* }" reconstruct $file/u.npy $file/s.npy $file/vt.npy
    ok "$file, randomized" svd $file.npy --variant=randomized "${quick[@]}"
done
refused "a rank" 2 "--keep: 1 is more than the 0 singular values of a 0x5 matrix" svd 0x5.npy --keep=1
refused "a rank of the product" 2 "--keep: 1 is more than the 0 singular values in 0.npy" reconstruct 5x0.npy 0.npy 0x4.npy --keep=1
for how in full sampled; do
    gives "(5, 4)" reconstruct 5x0.npy 0.npy 0x4.npy --check=$how
    gives "(0, 4)" reconstruct 0x3.npy 3.npy 3x4.npy --check=$how
    gives "(5, 0)" reconstruct 5x3.npy 3.npy 3x0.npy --check=$how
    gives "(0, 5, 4)" reconstruct 0x5x3.npy 0x3.npy 0x3x4.npy --check=$how
done

# numpy.matmul; integers have another check.
for dtype in f64 i32; do
    gives "(5, 4)" matmul 5x0.npy 0x4.npy --dtype=$dtype
    gives "(0, 4)" matmul 0x3.npy 3x4.npy --dtype=$dtype
    gives "(5, 0)" matmul 5x3.npy 3x0.npy --dtype=$dtype
    gives "(0, 5, 4)" matmul 0x5x3.npy 3x4.npy --dtype=$dtype
done

# Slices of nothing, and of nothing of something.
for file in 0 0x5 5x0 2x0x3; do
    ok "slice $file" slice $file.npy --json "${quick[@]}"
    check "slice $file: one slice" json "$work/out" 'all(r["check"]["ok"] and r["bytes"] == 0 for r in d["results"]) and
        len({r["slice"] for r in d["results"]}) == 1'
done
gives "(0, 5)" slice 0x5.npy --slice=0:0,:
gives "(0, 5)" slice 5x5.npy --slice=2:2,:
gives "(2, 0)" slice 5x5.npy --slice=1:3,5:5
refused "a range that goes back" 2 "4:2 is not a range" slice 5x5.npy --slice=4:2,:

# Elsewhere.
refused "a picture without pixels" 2 "out.png: the result has no elements" increment 0x5.npy -o out.png --backend=serial
refused "no numbers" 2 "--size: '0'" sort --size=0
refused "no matrices" 2 "--synthetic: '0x5x5'" batch --synthetic=0x5x5
summary
