#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn search_sorted: the default input, files of every dtype, equal elements and NaN, what is refused.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

ok "no input at all" search_sorted "${quick[@]}"
check "4,194,304 values" grep -q '^search_sorted: 4194304 values in 1048576 sorted f32$' "$work/out"
ok "every backend" search_sorted --backend=all --size=3000 --sorted=20000 --json "${quick[@]}"
check "is right" json "$work/out" 'd["results"] and all(r["check"]["ok"] and r["check"]["compared"] == 3000 and r["shape"] == [3000] and
    r["dtype"] == "i64" for r in d["results"])'
for dtype in i32 i64 f32 f64; do
    golden=$operations/sort/golden/$dtype
    ok "$dtype" search_sorted --backend=all --variant=all --dtype=$dtype --size=1000 --sorted=70000 --json "${quick[@]}"
    check "$dtype" json "$work/out" "all(r['check']['ok'] for r in d['results'])"
    "$PYTHON" - "$golden" $dtype <<'END'
import sys
for name in "numbers", "sorted":  # rows as vectors
    data = open(f"{sys.argv[1]}.{name}.npy", "rb").read()
    head, values = data[:128], data[128:]
    shape = head[head.index(b"(") : head.index(b")") + 1]
    line = b"(%d,)" % int(shape.split(b",")[1].strip(b" )"))
    head = head[:-1].replace(shape, line)
    open(f"{sys.argv[2]}.{name}.npy", "wb").write(head + b" " * (127 - len(head)) + b"\n" + values)
END
    ok "$dtype against NumPy" search_sorted $dtype.sorted.npy $dtype.numbers.npy -o out.npy "${quick[@]}"
    check "$dtype against NumPy" cmp <(tail -c +129 out.npy) <(tail -c +129 "$golden.places.npy")
done
for variant in batched naive; do
    ok "$variant" search_sorted --size=100 --variant=$variant --json "${quick[@]}"
    check "$variant ran" json "$work/out" "d['results'][0]['variant'] == '$variant'"
done
"$PYTHON" - <<'END'
import struct
def save(name, descr, code, values):
    head = repr({"descr": descr, "fortran_order": False, "shape": (len(values),)}).encode()
    head += b" " * ((-len(head) - 11) % 64) + b"\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}{code}", *values))
nan, inf = float("nan"), float("inf")
save("sorted.npy", "<f4", "f", [-inf, -1, -0.0, 0.0, 0.0, 2, inf, nan, nan])
save("values.npy", "<f4", "f", [-inf, -2, -1, -0.5, 0.0, -0.0, 1, 2, 3, inf, nan])
save("falls.npy", "<f4", "f", [1, 3, 2, 4])
save("nan_first.npy", "<f4", "f", [nan, 1])
save("large.npy", "<i8", "q", [1 << 60, (1 << 60) + 1, (1 << 60) + 2])
save("bytes.npy", "|u1", "B", [1, 2, 3])
END
ok "equal elements and NaN" search_sorted sorted.npy values.npy --backend=all -o out.npy "${quick[@]}"
check "the first of equal ones; NaN is last" npy out.npy 'list(v) == [0, 1, 1, 2, 2, 2, 5, 5, 6, 6, 7]'
ok "integers that no double holds" search_sorted large.npy large.npy -o out.npy "${quick[@]}"
check "each at its own place" npy out.npy 'list(v) == [0, 1, 2]'
ok "in another dtype" search_sorted sorted.npy values.npy --dtype=f64 -o out.npy "${quick[@]}"
check "the same" npy out.npy 'list(v) == [0, 1, 1, 2, 2, 2, 5, 5, 6, 6, 7]'
for seed in 1 2; do
    ok "a seed" search_sorted --size=10 --seed=$seed -o seed$seed.npy "${quick[@]}"
done
check "decides the numbers" test "$(cksum <seed1.npy)" != "$(cksum <seed2.npy)"

refused "what is not sorted" 2 "falls.npy: is not sorted: element 2 is less than the one before it" search_sorted falls.npy values.npy
refused "NaN first" 2 "nan_first.npy: is not sorted: element 1" search_sorted nan_first.npy values.npy
refused "two dtypes" 2 "values.npy: has dtype f32; expected i64, as large.npy has" search_sorted large.npy values.npy
refused "bytes" 2 bytes.npy search_sorted bytes.npy bytes.npy
refused "one file" 2 search_sorted search_sorted sorted.npy
refused "a matrix" 2 image.npy search_sorted sorted.npy image.npy
refused "a size for files" 2 --size search_sorted sorted.npy values.npy --size=5
refused "numbers to search in for files" 2 --sorted search_sorted sorted.npy values.npy --sorted=5
refused "nothing to search in" 2 --sorted search_sorted --sorted=0
refused "an unknown variant" 2 naive search_sorted --size=10 --variant=native
refused "no folder for the result" 4 nowhere search_sorted --size=10 -o nowhere/out.npy
summary
