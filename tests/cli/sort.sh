#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn sort: the course's exercise on every backend, files, and bad input.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

# The course's 4096 * 4096 numbers, where that is quick; an emulation sorts fewer.
ok "the exercise" sort --backend=serial,simd,omp --json "${quick[@]}"
check "its size, dtype and check" json "$work/out" 'len(d["results"]) == 3 and all(r["check"]["ok"] is True and
    r["shape"] == [4096 * 4096] and r["dtype"] == "f32" and r["exercise"] == "sort" and
    r["check"]["compared"] == 4096 * 4096 and r["bytes"] == 2 * 4 * 4096 * 4096 for r in d["results"])'
ok "every backend that can run" sort --backend=all --size=20000 --json "${quick[@]}"
check "all right" json "$work/out" 'len(d["results"]) >= 3 and all(r["check"]["ok"] is True for r in d["results"])'
for variant in auto radix bitonic naive library; do
    ok "variant $variant" sort --size=5000 --variant=$variant --backend=serial,simd,omp --json "${quick[@]}"
    [ $variant = auto ] ||
        check "$variant ran" json "$work/out" "all(r['variant'] == '$variant' for r in d['results'])"
done
for dtype in f32 f64 i32 i64; do
    ok "$dtype" sort --size=3000 --dtype=$dtype --backend=serial -o $dtype.npy "${quick[@]}"
    check "$dtype in order" npy $dtype.npy "shape == (3000,) and list(v) == sorted(v) and len(set(v)) > 2900"
    ok "$dtype in place" sort --size=3000 --dtype=$dtype --backend=simd --in-place -o place.npy "${quick[@]}"
    check "the same" cmp $dtype.npy place.npy
done
ok "the same seed" sort --size=1000 -o one.npy "${quick[@]}"
ok "the same numbers" sort --size=1000 -o two.npy "${quick[@]}"
check "as before" cmp one.npy two.npy
ok "another seed" sort --size=1000 --seed=7 -o two.npy "${quick[@]}"
check "other numbers" npy two.npy "v != $("$PYTHON" "$here/files.py" npy one.npy 'print(list(v)) or True')"

# Files.
ok "a file" sort line.npy -o out.npy "${quick[@]}"
check "in its dtype" npy out.npy "list(v) == sorted(v)"
ok "what was written" sort out.npy --in-place -o again.npy "${quick[@]}"
check "stays as it is" cmp out.npy again.npy
ok "--dtype converts" sort line.npy --dtype=i32 -o out.npy "${quick[@]}"
check "to i32" npy out.npy 'descr == "<i4"'
"$PYTHON" - <<'EOF'
import struct
def npy(name, descr, body, shape):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + body)
bits = (0xffc12345, 0x3f800000, 0x7fc00001, 0xff800000, 0x80000000, 0x00000000, 0x7f800000, 0xbf800000)
npy("special.npy", "<f4", struct.pack("<8I", *bits), "(8,)")
npy("nothing.npy", "<f8", b"", "(0,)")
npy("bytes.npy", "|u1", b"\3\1\2", "(3,)")
EOF
for backend in serial simd omp; do
    for variant in radix bitonic naive library; do
        ok "NaN, infinities, zeros" sort special.npy --backend=$backend --variant=$variant -o out.npy "${quick[@]}"
        check "NaN last, its bits kept" "$PYTHON" -c '
import struct
bits = struct.unpack("<8I", open("out.npy", "rb").read()[-32:])
assert bits[:2] == (0xff800000, 0xbf800000) and sorted(bits[2:4]) == [0, 0x80000000], bits
assert bits[4:6] == (0x3f800000, 0x7f800000) and sorted(bits[6:]) == [0x7fc00001, 0xffc12345], bits'
    done
done
ok "no numbers" sort nothing.npy -o out.npy --json "${quick[@]}"
check "no result either" npy out.npy 'shape == (0,) and descr == "<f8"'
check "nothing but right" json "$work/out" 'all(r["check"]["ok"] is True for r in d["results"])'

# Bad input.
refused "u8" 2 "u8; expected i32, i64, f32 and f64" sort bytes.npy -o out.npy
refused "--dtype=u8" 2 --dtype sort --dtype=u8
refused "a matrix" 2 "expected 1 dimension (\`flynn show image.npy --shape=12 -o FILE\` flattens it)" sort image.npy
refused "a picture" 2 "expected 1 dimension" sort "$slice"
refused "no file" 2 missing.npy sort missing.npy
refused "a size for a file" 2 --size sort line.npy --size=10
refused "two files" 2 two.npy sort one.npy two.npy
refused "no size" 2 --size sort --size=0
refused "an ending" 2 out.txt sort --size=10 -o out.txt
refused "a picture of numbers" 2 out.png sort --size=10 -o out.png
refused "an unknown variant" 2 radix sort --size=10 --variant=radixx

# What does not exist is `-`: operations of a sort, copies of arrays that lie in host memory.
ok "these columns" sort --size=1k --backend=serial --repeat=1 --columns=h2d,d2h,GFLOP/s
check "no operations, no copies" grep -qxE ' *- +- +-' "$work/out"
ok "a document" sort --size=1k --backend=serial --repeat=1 --json
check "has no rate of operations" json "$work/out" 'd["results"][0]["gflops"] is None and d["results"][0]["flops"] == 0'
ok "operations" matmul --size=32 --backend=serial --repeat=1 --json
check "have one" json "$work/out" 'd["results"][0]["gflops"] > 0'
summary
