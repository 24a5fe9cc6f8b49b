#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn reduce: the default input, each operation and option, files of every dtype and shape, what is refused.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

ok "no input at all" reduce "${quick[@]}"
check "the sum of 16,777,216 numbers" grep -qE ' sum = 838[0-9]{4}' "$work/out"
ok "every backend" reduce --backend=all --size=300000 --json "${quick[@]}"
check "right, on all" json "$work/out" 'all(r["check"]["ok"] and r["operation"] == "sum" and r["shape"] == [1] and
    abs(r["result"] - 150000) < 1000 and r["bytes"] == 4 * 300000 + 4 for r in d["results"])'
for operation in minimum maximum argmin argmax dot; do
    ok "$operation" reduce --backend=all --size=5000 --operation=$operation --json "${quick[@]}"
    check "$operation" json "$work/out" "len({r['result'] for r in d['results']}) <= 2 and all(r['check']['ok'] for r in d['results'])"
done
for dtype in u8 i32 i64 f32 f64; do
    for axis in 0 1; do
        for named in min=minimum max=maximum argmin=argmin argmax=argmax; do
            ok "$dtype $named $axis" reduce "$operations/reduce/golden/$dtype-x.npy" --axis=$axis --operation="${named#*=}" -o out.npy \
                "${quick[@]}"
            check "$dtype $named $axis against NumPy" cmp <(tail -c +129 out.npy) \
                <(tail -c +129 "$operations/reduce/golden/$dtype-${named%=*}-$axis.npy")
        done
    done
done
for variant in pairwise naive; do
    ok "$variant" reduce --size=1000 --backend=serial --variant=$variant --json "${quick[@]}"
    check "$variant ran" json "$work/out" "d['results'][0]['variant'] == '$variant'"
done
ok "a sum of f32 in f64" reduce --size=1000 --accumulate=f64 --json "${quick[@]}"
check "has f64's bytes" json "$work/out" 'd["results"][0]["bytes"] == 4008'
ok "a matrix of random numbers" reduce --shape=50x20 --axis=0 --json -o out.npy "${quick[@]}"
check "a result for each column" npy out.npy 'shape == (20,)'
check "and none alone" json "$work/out" 'all("result" not in r for r in d["results"])'
"$PYTHON" - <<'END'
import struct
def save(name, descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * ((-len(head) - 11) % 64) + b"\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data)
save("empty.npy", "<f4", (0,), b"")
save("cube.npy", "<i8", (2, 2, 2), struct.pack("<8q", 0, 1 << 60, 0, (1 << 60) + 1, 5, 0, 0, -1))
END
ok "a cube of large integers" reduce cube.npy --backend=all --json "${quick[@]}"
check "exactly" json "$work/out" 'all(r["result"] == (1 << 61) + 5 for r in d["results"])'
ok "along the middle" reduce cube.npy --axis=1 -o out.npy "${quick[@]}"
check "of them" npy out.npy 'shape == (2, 2) and list(v) == [0, (1 << 61) + 1, 5, -1]'
ok "with itself" reduce cube.npy cube.npy --operation=dot --accumulate=f64 "${quick[@]}"
ok "no elements" reduce empty.npy --backend=all --json "${quick[@]}"
check "add up to 0" json "$work/out" 'all(r["result"] == 0 for r in d["results"])'

refused "an extreme of nothing" 2 "no elements" reduce empty.npy --operation=minimum
refused "an axis too many" 2 "--axis: 1 is too large" reduce --size=10 --axis=1
refused "an axis too many of three" 2 "expected 0 to 2" reduce cube.npy --axis=3
refused "no axis" 2 --axis reduce cube.npy --axis=-1
refused "two files" 2 "sum takes one array" reduce cube.npy cube.npy
refused "one file" 2 "dot takes two arrays" reduce cube.npy --operation=dot
refused "two shapes" 2 "expected one shape" reduce cube.npy empty.npy --operation=dot
refused "f64 of places" 2 "argmax adds nothing up" reduce --operation=argmax --accumulate=f64
refused "a size for a file" 2 --size reduce cube.npy --size=5
refused "an unknown operation" 2 maximum reduce --operation=maximun
refused "an unknown variant" 2 pairwise reduce --size=10 --variant=pairwize
summary
