#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn select: the default input, files of every dtype and shape, what is refused.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

ok "no input at all" select "${quick[@]}"
check "16,777,216 coins" grep -qE 'kept 83[0-9]{5} of 16777216' "$work/out"
ok "every backend" select --backend=all --size=300000 --json "${quick[@]}"
check "the same count, which --seed decides" json "$work/out" 'len({r["count"] for r in d["results"]}) == 1 and
    140000 < d["results"][0]["count"] < 160000 and all(r["check"]["ok"] and r["shape"] == [r["count"]] and
    r["check"]["compared"] == r["count"] and r["bytes"] == 4 * (300000 + r["count"]) + 8 for r in d["results"])'
for dtype in u8 i32 i64 f32 f64; do
    ok "$dtype" select --backend=all --dtype=$dtype --size=10000 --json "${quick[@]}"
    check "$dtype" json "$work/out" "all(r['dtype'] == '$dtype' and r['check']['ok'] for r in d['results'])"
    ok "$dtype against NumPy" select "$operations/select/golden/$dtype.in.npy" -o out.npy "${quick[@]}"
    check "$dtype against NumPy" cmp <(tail -c +129 out.npy) <(tail -c +129 "$operations/select/golden/$dtype.out.npy")
done
for variant in scan naive; do
    ok "$variant" select --size=1000 --backend=serial --variant=$variant --json "${quick[@]}"
    check "$variant ran" json "$work/out" "d['results'][0]['variant'] == '$variant'"
done
ok "a matrix, row by row" select image.npy -o out.npy "${quick[@]}"
check "one dimension" npy out.npy 'len(shape) == 1'
ok "a picture" select grey8.png -o out.npy "${quick[@]}"
check "all but the black pixel" npy out.npy 'shape == (5,) and descr == "<f4"'
ok "a picture as numbers" select grey8.png --dtype=f64 -o out.npy "${quick[@]}"
check "in f64" npy out.npy 'descr == "<f8"'
"$PYTHON" - <<'END'
import struct
def save(name, descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * ((-len(head) - 11) % 64) + b"\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data)
save("empty.npy", "<f4", (0,), b"")
save("zeros.npy", "<f8", (5,), bytes(40))
save("cube.npy", "<i8", (2, 2, 2), struct.pack("<8q", 0, 1 << 60, 0, (1 << 60) + 1, 5, 0, 0, -1))
END
ok "no elements" select empty.npy --backend=all -o out.npy "${quick[@]}"
check "still none" npy out.npy 'shape == (0,) and descr == "<f4"'
ok "zeros alone" select zeros.npy --backend=all -o out.npy "${quick[@]}"
check "none" npy out.npy 'shape == (0,) and descr == "<f8"'
ok "a cube of large integers" select cube.npy --backend=all -o out.npy "${quick[@]}"
check "each of them" npy out.npy 'list(v) == [1 << 60, (1 << 60) + 1, 5, -1]'

refused "a size for a file" 2 --size select image.npy --size=5
refused "no such file" 2 nowhere.npy select nowhere.npy
refused "two files" 2 kernel.npy select image.npy kernel.npy
refused "an unknown variant" 2 scan select --size=10 --variant=scam
refused "an unknown option" 2 --seize select --seize=5
refused "no folder for the result" 4 nowhere select -o nowhere/out.npy
summary
