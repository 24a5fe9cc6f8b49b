#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn transpose: the default input, files of every dtype and of two to four dimensions, pictures, what is refused.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

ok "no input at all" transpose "${quick[@]}"
check "4096 rows and columns" grep -q '^transpose: 4096x4096 f32$' "$work/out"
ok "every backend" transpose --backend=all --size=200 --json "${quick[@]}"
check "is right" json "$work/out" 'd["results"] and all(r["check"]["ok"] and r["check"]["compared"] == 40000 and
    r["bytes"] == 320000 for r in d["results"])'
# The golden files have the matrices of a batch below each other.
"$PYTHON" - "$operations/transpose/golden" <<'END'
import struct, sys
for name, descr in ("u8", "|u1"), ("i32", "<i4"), ("i64", "<i8"), ("f32", "<f4"), ("f64", "<f8"):
    head = repr({"descr": descr, "fortran_order": False, "shape": (2, 37, 21)}).encode()
    head += b" " * ((-len(head) - 11) % 64) + b"\n"
    data = open(f"{sys.argv[1]}/{name}.in.npy", "rb").read()[128:]
    open(f"{name}.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data)
END
for dtype in u8 i32 i64 f32 f64; do
    ok "$dtype" transpose --backend=all --variant=all --dtype=$dtype --shape=2x3x35x70 --json "${quick[@]}"
    check "$dtype" json "$work/out" "all(r['dtype'] == '$dtype' and r['check']['ok'] and r['shape'] == [2, 3, 70, 35] for r in d['results'])"
    ok "$dtype against NumPy" transpose $dtype.npy -o out.npy "${quick[@]}"
    check "$dtype: its shape" npy out.npy 'shape == (2, 21, 37)'
    check "$dtype against NumPy" cmp <(tail -c +129 out.npy) <(tail -c +129 "$operations/transpose/golden/$dtype.out.npy")
done
for variant in tiled naive; do
    ok "$variant" transpose --size=100 --variant=$variant --json "${quick[@]}"
    check "$variant ran" json "$work/out" "d['results'][0]['variant'] == '$variant'"
done
ok "a result" transpose f64.npy -o once.npy "${quick[@]}"
ok "transposed again" transpose once.npy -o twice.npy "${quick[@]}"
check "is the input" cmp <(tail -c +129 twice.npy) <(tail -c +129 f64.npy)
ok "a picture" transpose grey8.png -o turned.npy "${quick[@]}"
ok "as a picture" transpose grey8.png -o turned.png "${quick[@]}"
ok "transposed again" transpose turned.png -o again.npy "${quick[@]}"
ok "and again" transpose again.npy -o turned_again.npy "${quick[@]}"
check "has the same pixels" cmp turned.npy turned_again.npy
ok "a picture in f64" transpose grey8.png --dtype=f64 -o out.npy "${quick[@]}"
check "in f64" npy out.npy 'descr == "<f8"'
ok "few long rows" transpose --backend=all --shape=3x5001 --json "${quick[@]}"
check "are right" json "$work/out" 'all(r["check"]["ok"] and r["shape"] == [5001, 3] for r in d["results"])'
for seed in 1 2; do
    ok "a seed" transpose --size=10 --seed=$seed -o seed$seed.npy "${quick[@]}"
done
check "decides the numbers" test "$(cksum <seed1.npy)" != "$(cksum <seed2.npy)"

refused "a vector" 2 line.npy transpose line.npy
refused "a size for a file" 2 --size transpose image.npy --size=5
refused "a shape for a file" 2 --shape transpose image.npy --shape=5x5
refused "a shape and a size" 2 --size transpose --shape=5x5 --size=5
refused "a shape of one number" 2 --shape transpose --shape=5
refused "two files" 2 kernel.npy transpose image.npy kernel.npy
refused "an unknown variant" 2 tiled transpose --size=10 --variant=tilled
refused "no folder for the result" 4 nowhere transpose --size=10 -o nowhere/out.npy
summary
