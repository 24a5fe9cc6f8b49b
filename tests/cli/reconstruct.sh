#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn reconstruct: factors made and from files, the result as .npy and .png, ranks, batches, bad input.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)
factors=$operations/reconstruct/golden

# numpy LINES: files of factors, by Python's standard library alone.
"$PYTHON" - <<'END' || exit 1
import array, struct
def save(name, code, shape, values):
    header = "{'descr': '<%s', 'fortran_order': False, 'shape': %r, }" % (code, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = array.array({"f4": "f", "f8": "d"}[code], values).tobytes()
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
save("u.npy", "f8", (2, 3), [1, 2, 3, 4, 5, 6])
save("s.npy", "f8", (3,), [10, 1, 0.1])
save("vt.npy", "f8", (3, 2), [1, 0, 0, 1, 1, 1])
save("s4.npy", "f8", (4,), [1, 1, 1, 1])
save("y2.npy", "f8", (2, 2), [10, 2, 40, 5])
save("y3.npy", "f8", (2, 2), [10.3, 2.3, 40.6, 5.6])
save("vt4.npy", "f8", (4, 2), range(8))
save("bu.npy", "f4", (2, 2, 3), [1, 2, 3, 4, 5, 6] * 2)
save("bs.npy", "f4", (2, 3), [10, 1, 0.1, 20, 2, 0.2])
save("bvt.npy", "f4", (2, 3, 2), [1, 0, 0, 1, 1, 1] * 2)
save("by.npy", "f4", (2, 2, 2), [10.3, 2.3, 40.6, 5.6, 20.6, 4.6, 81.2, 11.2])
save("nothing.npy", "f8", (0, 3), [])
END

# Files.
ok "all singular values" reconstruct u.npy s.npy vt.npy -o out.npy "${quick[@]}"
check "their result" close out.npy y3.npy 1e-14
ok "two of three" reconstruct u.npy s.npy vt.npy --keep=2 -o out.npy "${quick[@]}"
check "their result" close out.npy y2.npy 0
ok "a batch" reconstruct bu.npy bs.npy bvt.npy -o out.npy "${quick[@]}"
check "its results" close out.npy by.npy 1e-5
check "f32 stays f32" npy out.npy 'shape == (2, 2, 2) and descr == "<f4"'
ok "--dtype" reconstruct bu.npy bs.npy bvt.npy --dtype=f64 -o out.npy "${quick[@]}"
check "f64 in the file" npy out.npy 'descr == "<f8"'
ok "a picture" reconstruct u.npy s.npy vt.npy -o out.png "${quick[@]}"
check "clipped to 0..1" png out.png '(w, h) == (2, 2) and px(0, 0) == (255,)'

# The brain of the tests, which numpy.linalg.svd took apart: s is stored as a matrix of one row for them.
"$PYTHON" - "$factors/brain.s.npy" <<'END' || exit 1
import sys
data = open(sys.argv[1], "rb").read()
open("brain.s.npy", "wb").write(data.replace(b"(1, 40)", b"(40,)  "))
END
for backend in serial simd omp:2; do
    for variant in auto naive tiled register; do
        ok "$backend $variant" reconstruct "$factors/brain.u.npy" brain.s.npy "$factors/brain.vt.npy" -o out.npy \
            --backend=$backend --variant=$variant "${quick[@]}"
        check "$backend $variant gives the picture" close out.npy "$factors/brain.image.npy" 1e-12
    done
done
ok "ten of 40" reconstruct "$factors/brain.u.npy" brain.s.npy "$factors/brain.vt.npy" --keep=10 -o out.npy "${quick[@]}"
check "as NumPy" close out.npy "$factors/brain.y10.npy" 1e-13

# Made factors.
ok "no input at all" reconstruct --json "${quick[@]}"
check "the course's size" json "$work/out" 'd["results"][0]["shape"] == [512, 512] and
    d["results"][0]["dtype"] == "f32" and d["results"][0]["singular_values"] == 100'
check "compulsory bytes" json "$work/out" 'd["results"][0]["bytes"] == 4 * (2 * 512 * 100 + 100 + 512 * 512)'
check "every element was compared" json "$work/out" 'd["results"][0]["check"]["method"] == "reference" and
    d["results"][0]["check"]["compared"] == 512 * 512'
ok "the same by sums" reconstruct --check=sampled --json "${quick[@]}"
check "reported so" json "$work/out" '"sums" in d["results"][0]["check"]["method"] and
    d["results"][0]["check"]["compared"] == 512 * 512'
ok "the same numbers from the same seed" reconstruct --size=40 --keep=7 --seed=3 -o one.npy "${quick[@]}"
ok "on another backend" reconstruct --size=40 --keep=7 --seed=3 -o two.npy --backend=serial "${quick[@]}"
check "to rounding" close one.npy two.npy 1e-5
ok "a batch of made factors" reconstruct --size=40 --keep=7 --batch=3 -o out.npy "${quick[@]}"
check "its shape" npy out.npy 'shape == (3, 40, 40)'
ok "f64" reconstruct --size=40 --keep=40 --dtype=f64 --backend=serial --variant=naive --json "${quick[@]}"
check "as asked for" json "$work/out" 'd["results"][0]["variant"] == "naive" and d["results"][0]["dtype"] == "f64"'
ok "a tile" reconstruct --size=100 --keep=9 --block=32x8 --variant=tiled --backend=serial --json "${quick[@]}"
check "as asked for" json "$work/out" 'd["results"][0]["block"][:2] == [32, 8]'
ok "the reference" reconstruct --size=40 --keep=9 --variant=reference --backend=serial --json "${quick[@]}"
check "three operations a term" json "$work/out" 'd["results"][0]["flops"] == 3 * 40 * 40 * 9'

# A list of ranks.
ok "ranks of made factors" reconstruct --size=40 --keep=7,3,40 --backend=serial --json "${quick[@]}"
check "each with its own factors" json "$work/out" '[(r["singular_values"], r["input_shapes"][0], r["check"]["ok"], r["speed_up"])
    for r in d["results"]] == [(k, [40, k], True, 1) for k in (7, 3, 40)]'
ok "ranks of files" reconstruct u.npy s.npy vt.npy --keep=3,1,2 --backend=serial,simd --json "${quick[@]}"
check "use as many singular values" json "$work/out" '[(r["singular_values"], r["input_shapes"][0], r["check"]["ok"])
    for r in d["results"]] == [(k, [2, 3], True) for k in (3, 1, 2) for _ in "ab"]'
cp "$work/out" ranks.json
ok "one rank of files" reconstruct u.npy s.npy vt.npy --keep=2 --backend=serial --json "${quick[@]}"
cp "$work/out" rank.json
ok "against a saved run of several ranks" compare --against=ranks.json rank.json --json
check "the same rank is compared" "$PYTHON" -c 'import json
pair, old = json.load(open("'"$work/out"'"))["pairs"][0], json.load(open("ranks.json"))["results"][4]
assert pair["total"]["older_s"] == old["total_s"], (pair, old)'
refused "a file for several ranks" 2 "--output: needs a single value of --keep; 2 are given" reconstruct --keep=3,4 -o two.npy
refused "one rank too large" 2 "4 is more than the 3 singular values" reconstruct u.npy s.npy vt.npy --keep=1,4
refused "one rank above the size" 2 "41 is more than the 40" reconstruct --size=40 --keep=3,41

# Bad input.
refused "one file" 2 "1 argument is given; expected U S VT" reconstruct u.npy
refused "two files" 2 "2 arguments are given; expected U S VT" reconstruct u.npy s.npy
refused "four files" 2 "s4.npy" reconstruct u.npy s.npy vt.npy s4.npy
refused "a rank too large" 2 "3 singular values" reconstruct u.npy s.npy vt.npy --keep=4
refused "a rank of 0" 2 --keep reconstruct --keep=0
refused "a rank that is not a number" 2 --keep reconstruct --keep=x
refused "a rank above the size" 2 --keep reconstruct --size=50 --keep=51
ok "a size below the usual rank" reconstruct --size=50 --backend=serial --repeat=1 --json
check "has all singular values" json "$work/out" 'd["results"][0]["singular_values"] == 50'
refused "too many singular values" 2 s4.npy reconstruct u.npy s4.npy vt.npy
refused "too many rows" 2 vt4.npy reconstruct u.npy s.npy vt4.npy
refused "u as s" 2 u.npy reconstruct u.npy u.npy vt.npy
refused "s as u" 2 s.npy reconstruct s.npy s.npy vt.npy
refused "a batch against a matrix" 2 vt.npy reconstruct bu.npy bs.npy vt.npy
ok "no rows" reconstruct nothing.npy s.npy vt.npy --backend=serial -o rows.npy
refused "no such file" 2 none.npy reconstruct u.npy none.npy vt.npy
refused "a size for files" 2 --size reconstruct u.npy s.npy vt.npy --size=4
refused "a batch for files" 2 --batch reconstruct u.npy s.npy vt.npy --batch=4
refused "an integer dtype" 2 --dtype reconstruct --dtype=i32
refused "an unknown variant" 2 "register" reconstruct --variant=registre
refused "a batch as a picture" 2 out2.png reconstruct --batch=2 -o out2.png
refused "an ending that means nothing" 2 out.txt reconstruct -o out.txt
refused "a backend that is not there" 2 sreial reconstruct --backend=sreial
summary
