#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn matmul: matrices made and from files, transposed, batches, integers that wrap, the check, bad input.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)
golden=$operations/matmul/golden

"$PYTHON" - <<'END' || exit 1
import array, struct
def save(name, code, shape, values):
    header = "{'descr': '<%s', 'fortran_order': False, 'shape': %r, }" % (code, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = array.array({"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u1": "B"}[code], values).tobytes()
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
save("a.npy", "f8", (2, 3), [1, 2, 3, 4, 5, 6])
save("b.npy", "f8", (3, 2), [1, 0, 0, 1, 1, 1])
save("c.npy", "f8", (2, 2), [4, 5, 10, 11])
save("aa.npy", "f8", (3, 3), [17, 22, 27, 22, 29, 36, 27, 36, 45])  # a.T @ a
save("aat.npy", "f8", (2, 2), [14, 32, 32, 77])                     # a @ a.T
save("both.npy", "f8", (3, 3), [1, 4, 5, 2, 5, 7, 3, 6, 9])         # a.T @ b.T
save("a32.npy", "f4", (2, 3), [1, 2, 3, 4, 5, 6])
save("many.npy", "f4", (2, 3, 2), [1, 0, 0, 1, 1, 1, 2, 0, 0, 2, 2, 2])
save("each.npy", "f4", (2, 2, 2), [4, 5, 10, 11, 8, 10, 20, 22])
save("three.npy", "f4", (3, 3, 2), range(18))
save("i.npy", "i4", (1, 2), [2**31 - 1, -2**31])
save("j.npy", "i4", (2, 1), [2, 3])
save("wrapped.npy", "i4", (1, 1), [2**31 - 2])   # -2 - 2**31
save("bytes.npy", "u1", (2, 3), range(6))
save("line.npy", "f4", (3,), range(3))
save("four.npy", "f4", (4, 2), range(8))
END

# Files.
ok "two matrices" matmul a.npy b.npy -o out.npy "${quick[@]}"
check "their product" close out.npy c.npy 0
check "of f64" npy out.npy 'shape == (2, 2) and descr == "<f8"'
ok "a transposed" matmul a.npy a.npy --transpose=a -o out.npy "${quick[@]}"
check "a.T @ a" close out.npy aa.npy 0
ok "b transposed" matmul a.npy a.npy --transpose=b -o out.npy "${quick[@]}"
check "a @ a.T" close out.npy aat.npy 0
ok "both transposed" matmul a.npy b.npy --transpose=both -o out.npy "${quick[@]}"
check "a.T @ b.T" close out.npy both.npy 0
ok "one matrix and a batch" matmul a32.npy many.npy -o out.npy "${quick[@]}"
check "each of the batch" close out.npy each.npy 0
check "f32 stays f32" npy out.npy 'shape == (2, 2, 2) and descr == "<f4"'
ok "f32 and f64" matmul a32.npy b.npy -o out.npy "${quick[@]}"
check "make f64" npy out.npy 'descr == "<f8"'
ok "--dtype" matmul a.npy b.npy --dtype=i64 -o out.npy "${quick[@]}"
check "integers" npy out.npy 'descr == "<i8"'
ok "integers beyond their range" matmul i.npy j.npy -o out.npy "${quick[@]}"
check "wrap" close out.npy wrapped.npy 0

for backend in serial simd omp:2; do
    for variant in auto naive tiled register; do
        ok "$backend $variant" matmul "$golden/both_i32.a.npy" "$golden/both_i32.b.npy" --transpose=both -o out.npy \
            --backend=$backend --variant=$variant "${quick[@]}"
        check "$backend $variant: NumPy's integers" cmp -s out.npy "$golden/both_i32.c.npy"
        ok "$backend $variant, f64" matmul "$golden/at_f64.a.npy" "$golden/at_f64.b.npy" --transpose=a -o out.npy \
            --backend=$backend --variant=$variant "${quick[@]}"
        check "$backend $variant: NumPy's f64" close out.npy "$golden/at_f64.c.npy" 1e-13
    done
done

# Made matrices.
ok "no input at all" matmul --json "${quick[@]}" --backend=simd
check "the usual size" json "$work/out" 'd["results"][0]["shape"] == [1024, 1024] and d["results"][0]["dtype"] == "f32"'
check "2 n^3 operations" json "$work/out" 'd["results"][0]["flops"] == 2 * 1024**3'
check "compulsory bytes" json "$work/out" 'd["results"][0]["bytes"] == 4 * 3 * 1024**2'
check "checked by sums" json "$work/out" '"sums of 64" in d["results"][0]["check"]["method"] and d["results"][0]["check"]["ok"]'
ok "a small one" matmul --size=100 --json "${quick[@]}"
check "every element was compared" json "$work/out" 'd["results"][0]["check"]["method"] == "reference" and
    d["results"][0]["check"]["compared"] == 100 * 100'
ok "the same by sums" matmul --size=100 --check=sampled --json "${quick[@]}"
check "reported so" json "$work/out" '"sums" in d["results"][0]["check"]["method"] and
    d["results"][0]["check"]["compared"] == 100 * 100'
ok "integers" matmul --size=100 --dtype=i32 --json "${quick[@]}"
check "checked exactly" json "$work/out" '"exactly" in d["results"][0]["check"]["method"] and
    d["results"][0]["check"]["compared"] == 100 * 100'
ok "the same numbers from the same seed" matmul --size=40 --seed=3 -o one.npy "${quick[@]}"
ok "on another backend" matmul --size=40 --seed=3 -o two.npy --backend=simd "${quick[@]}"
check "to rounding" close one.npy two.npy 1e-5
ok "a batch" matmul --size=40 --batch=3 -o out.npy "${quick[@]}"
check "its shape" npy out.npy 'shape == (3, 40, 40)'
ok "a tile" matmul --size=100 --block=32x8 --variant=tiled --json "${quick[@]}"
check "as asked for" json "$work/out" 'd["results"][0]["block"][:2] == [32, 8]'

# Bad input.
refused "one file" 2 "1 argument is given; expected A B" matmul a.npy
refused "three files" 2 "c.npy" matmul a.npy b.npy c.npy
refused "shapes that do not fit" 2 "a.npy: b is 2x3; expected 3 rows, as a is 2x3" matmul a.npy a.npy
refused "nor transposed" 2 "four.npy: b is 4x2; expected 2 rows, as a is 2x3, transposed" matmul a.npy four.npy --transpose=a
refused "b transposed" 2 "b.npy: b is 3x2, transposed; expected 3 rows, as a is 2x3" matmul a.npy b.npy --transpose=b
refused "batches of different lengths" 2 "three.npy: b is 3x3x2; expected a batch of 2, as a is 2x3x2" matmul many.npy three.npy --transpose=a
refused "a vector" 2 "line.npy" matmul a32.npy line.npy
refused "bytes" 2 "bytes.npy" matmul bytes.npy b.npy
refused "no such file" 2 none.npy matmul a.npy none.npy
refused "an unknown transposition" 2 --transpose matmul --transpose=c
refused "a size for files" 2 --size matmul a.npy b.npy --size=4
refused "a batch for files" 2 --batch matmul a.npy b.npy --batch=4
refused "an unknown variant" 2 register matmul --variant=registre
refused "integers by the library" 2 library matmul --size=8 --dtype=i32 --variant=library
refused "a batch as a picture" 2 out2.png matmul --size=8 --batch=2 -o out2.png
summary
