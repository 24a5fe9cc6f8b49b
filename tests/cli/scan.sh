#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn scan: the default input, each option, files of every dtype and shape, what is refused.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

ok "no input at all" scan "${quick[@]}"
check "16,777,216 numbers" grep -q 'the running sum of 16777216 f32' "$work/out"
check "how it is checked" grep -q 'checked against: a sum in f64 on the host; each within the error of a tree' "$work/out"
ok "f64" scan --size=1000 --dtype=f64 --variant=naive --backend=serial "${quick[@]}"
check "is checked with more digits" grep -q 'checked against: a compensated sum on the host; each within the error of one loop' "$work/out"
ok "every backend" scan --backend=all --size=300000 --json "${quick[@]}"
check "every backend is right" json "$work/out" 'all(r["check"]["ok"] and r["check"]["compared"] == 300000 and
    r["shape"] == [300000] and r["bytes"] == 8 * 300000 and r["flops"] == 300000 for r in d["results"])'
for dtype in u8 i32 i64 f32 f64; do
    for operation in sum maximum; do
        ok "$operation of $dtype" scan --backend=all --dtype=$dtype --size=10000 --operation=$operation --json "${quick[@]}"
        check "$operation of $dtype" json "$work/out" "all(r['check']['ok'] for r in d['results'])"
        ok "$dtype against NumPy" scan "$operations/scan/golden/$dtype.in.npy" --operation=$operation -o out.npy "${quick[@]}"
        check "$operation of $dtype as NumPy's" cmp <(tail -c +129 out.npy) <(tail -c +129 "$operations/scan/golden/$dtype.$operation.npy")
    done
done
ok "what is not finite" scan "$operations/scan/golden/special.in.npy" -o out.npy "${quick[@]}"
check "infinity, then NaN" npy out.npy 'v[99] == v[99] and v[100] == float("inf") == v[199] and all(x != x for x in v[200:])'
for variant in blocked naive; do
    ok "$variant" scan --size=1000 --backend=serial --variant=$variant --json "${quick[@]}"
    check "$variant ran" json "$work/out" "d['results'][0]['variant'] == '$variant'"
done
"$PYTHON" - <<'END'
import struct
def save(name, descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * ((-len(head) - 11) % 64) + b"\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data)
save("five.npy", "<f4", (5,), struct.pack("<5f", 3, -1, 4, 1, 5))
save("bytes.npy", "|u1", (2, 3), bytes((200, 100, 0, 255, 1, 2)))
save("large.npy", "<i8", (3,), struct.pack("<3q", (1 << 63) - 1, 1, (1 << 62) + 1))
save("constant.npy", "<f4", (1000000,), struct.pack("<f", 0.1) * 1000000)
END
ok "inclusive" scan five.npy --backend=all -o out.npy "${quick[@]}"
check "3, 2, 6 ..." npy out.npy 'list(v) == [3, 2, 6, 7, 12] and descr == "<f4"'
ok "exclusive" scan five.npy --backend=all --exclusive -o out.npy "${quick[@]}"
check "one place later, and 0" npy out.npy 'list(v) == [0, 3, 2, 6, 7]'
check "it is said" grep -q 'the exclusive running sum of 5 f32' "$work/out"
ok "the largest so far" scan five.npy --backend=all --operation=maximum -o out.npy "${quick[@]}"
check "3, 3, 4 ..." npy out.npy 'list(v) == [3, 3, 4, 4, 5]'
ok "exclusive" scan five.npy --backend=all --operation=maximum --exclusive -o out.npy "${quick[@]}"
check "the lowest value first" npy out.npy 'list(v) == [float("-inf"), 3, 3, 4, 4]'
ok "bytes, row by row" scan bytes.npy --backend=all -o out.npy "${quick[@]}"
check "in i64" npy out.npy 'shape == (6,) and descr == "<i8" and list(v) == [200, 300, 300, 555, 556, 558]'
ok "their maxima" scan bytes.npy --backend=all --operation=maximum --exclusive -o out.npy "${quick[@]}"
check "in u8" npy out.npy 'descr == "|u1" and list(v) == [0, 200, 200, 200, 255, 255]'
ok "large integers" scan large.npy --backend=all -o out.npy "${quick[@]}"
check "wrap around" npy out.npy 'list(v) == [(1 << 63) - 1, -(1 << 63), 1 - (1 << 62)]'
ok "as other numbers" scan bytes.npy --dtype=f64 -o out.npy "${quick[@]}"
check "in f64" npy out.npy 'descr == "<f8" and v[5] == 558'
for words in "" --exclusive "--operation=maximum --dtype=u8" "--dtype=i64"; do
    read -ra more <<<"$words"
    ok "in place $words" scan --backend=all --size=5003 --in-place "${more[@]}" -o here.npy --json --repeat=3
    check "in place $words: right in every pass" json "$work/out" 'all(r["check"]["ok"] for r in d["results"])'
    ok "beside it $words" scan --size=5003 "${more[@]}" -o beside.npy "${quick[@]}"
    check "in place $words: the same" cmp here.npy beside.npy
done
ok "in place" scan --size=10 --in-place "${quick[@]}"
check "it is said" grep -q 'f32 in place' "$work/out"
# Rounding errors that all point the same way: one loop may have them, a tree may not.
ok "a constant, in one loop" scan constant.npy --backend=serial --variant=naive --json "${quick[@]}"
check "a large error is within its bound" json "$work/out" 'd["results"][0]["check"]["max_abs"] > 100'
ok "a constant, in a tree" scan constant.npy --backend=all --json "${quick[@]}"
check "a small one" json "$work/out" 'all(r["check"]["max_abs"] < 1 for r in d["results"])'

refused "a size for a file" 2 --size scan five.npy --size=5
refused "another operation" 2 "'median'" scan --operation=median
refused "sums of integers in place" 2 "--in-place: the sums of i32 are i64" scan --size=10 --dtype=i32 --in-place
refused "no such file" 2 nowhere.npy scan nowhere.npy
refused "an unknown variant" 2 blocked scan --size=10 --variant=blokked
refused "no folder for the result" 4 nowhere scan -o nowhere/out.npy
summary
