#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn histogram: the default input, files of every dtype, pictures, ranges, what is outside, what is refused.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)
golden=$operations/histogram/golden

ok "no input at all" histogram "${quick[@]}"
check "each number is counted" grep -q "counted 16777216 of 16777216" "$work/out"
check "the range and the bins" grep -q "histogram: 256 bins of 0 to 1, of 16777216 f32" "$work/out"
check "a bar for each 16 bins" test "$(grep -cE '^ +[0-9.]+ +10[0-9]{5} #+$' "$work/out")" = 16
ok "every backend" histogram --backend=all --size=300000 --json "${quick[@]}"
check "the same counts" json "$work/out" 'len(d["results"]) >= 3 and all(r["check"]["ok"] and r["counted"] == 300000 and
    r["bins"] == 256 and r["check"]["compared"] == 256 and (r["lo"], r["hi"], r["outside"]) == (0, 1, "drop") and
    r["bytes"] == 4 * 300000 + 8 * 256 for r in d["results"])'
ok "drawn once" histogram --backend=all --size=3000 --bins=3 "${quick[@]}"
check "for all backends" test "$(grep -c '#' "$work/out")" = 3

# The inputs hold numbers outside, edges and their neighbours, NaN and infinities.
while read -r dtype bins range; do
    ok "$dtype" histogram --backend=all --dtype="$dtype" --size=10000 --json "${quick[@]}"
    check "$dtype" json "$work/out" "all(r['check']['ok'] and r['counted'] == 10000 for r in d['results'])"
    for outside in drop clip; do
        ok "$dtype against NumPy, $outside" histogram "$golden/$dtype.in.npy" --backend=all --bins="$bins" --range="$range" \
            --outside=$outside -o out.npy "${quick[@]}"
        check "$dtype against NumPy, $outside" cmp <(tail -c +129 out.npy) <(tail -c +129 "$golden/$dtype.$outside.npy")
    done
done <<'END'
u8 100 10,250
i32 300 -150,150
i64 77 -1e3,1e6
f32 1000 -1,1
f64 10 0,1
END
for variant in replicated naive; do
    ok "$variant" histogram --size=1000 --backend=serial --variant=$variant --json "${quick[@]}"
    check "$variant ran" json "$work/out" "d['results'][0]['variant'] == '$variant'"
done

"$PYTHON" - <<'END'
import struct
def save(name, descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * ((-len(head) - 11) % 64) + b"\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data)
save("cube.npy", "<i4", (2, 2, 2), struct.pack("<8i", -4, 4, 0, 0, 1, 2, 3, 3))
save("same.npy", "<f8", (3,), struct.pack("<3d", 7, 7, 7))
save("nan.npy", "<f8", (3,), struct.pack("<3d", 7, float("nan"), 8))
save("wide.npy", "<f8", (2,), struct.pack("<2d", -1.7e308, 1.7e308))
save("huge.npy", "<f8", (2,), struct.pack("<2d", 1e300, 1e300))
save("bytes.npy", "|u1", (4,), bytes([0, 1, 255, 255]))
END
# result WANTED ARGUMENT...: the counts.
result() {
    local wanted=$1
    shift
    ok "$*" histogram "$@" -o out.npy "${quick[@]}"
    check "$*: $wanted" npy out.npy "list(v) == $wanted and descr == '<i8'"
}
result "[1, 0, 3, 4]" cube.npy --bins=4
result "[1, 1, 2]" cube.npy --bins=3 --range=0.5,3.5 --dtype=f32
result "[4, 1, 3]" cube.npy --bins=3 --range=0.5,3 --outside=clip
result "[0, 3]" same.npy --bins=2
result "[1, 1]" nan.npy --bins=2 --range=7,8
result "[2, 0, 0, 2]" bytes.npy --bins=4
ok "bytes" histogram bytes.npy --json "${quick[@]}"
check "all of u8" json "$work/out" '[(r["lo"], r["hi"]) for r in d["results"]] == [(0, 256)]'
ok "a picture" histogram grey8.png --bins=256 --json "${quick[@]}"
check "its grey levels" json "$work/out" 'all((r["lo"], r["hi"], r["counted"]) == (0, 1, 6) for r in d["results"])'

refused "a size for a file" 2 --size histogram cube.npy --size=5
refused "no such file" 2 nowhere.npy histogram nowhere.npy
refused "no bins" 2 "--bins: '0' is out of range; expected a whole number from 1" histogram --bins=0
refused "less than none" 2 "--bins: '-3' is out of range" histogram --bins=-3
refused "no number of bins" 2 "--bins" histogram --bins=ten
refused "an empty range" 2 "--range: '1,1' is no range of numbers" histogram --range=1,1
refused "a range upside down" 2 "--range: '2,1' is no range of numbers" histogram --range=2,1
refused "half a range" 2 "--range: '2' is not a range; expected two numbers with a comma between them" histogram --range=2
refused "half a range and a comma" 2 "--range: '2,' is not a range" histogram --range=2,
refused "three numbers" 2 "--range: '1,2,3' is not a range" histogram --range=1,2,3
refused "no finite range" 2 "--range: '0,inf' is no range of numbers" histogram --range=0,inf
refused "no numbers" 2 "--range: 'nan,1' is no range of numbers" histogram --range=nan,1
refused "a range too wide" 2 "--range: '-1e308,1e308' is no range of numbers" histogram --range=-1e308,1e308
refused "NaN without a range" 2 "nan.npy: has elements that are not finite; expected --range=LO,HI" histogram nan.npy
refused "elements too far apart" 2 "wide.npy: -1.7e+308 to 1.7e+308 is no range" histogram wide.npy
refused "one huge element" 2 "huge.npy: 1e+300 to 1e+300 is no range" histogram huge.npy
refused "an unknown place" 2 "expected drop or clip" histogram --outside=drip
ok "all variants of a dtype" histogram --size=1000 --dtype=u8 --backend=serial --variant=all --json "${quick[@]}"
check "those of its input, whose counts are i64" json "$work/out" '[r["variant"] for r in d["results"]] == ["replicated", "naive"]'
refused "an unknown variant" 2 replicated histogram --size=10 --variant=replicate
refused "no folder for the result" 4 nowhere histogram -o nowhere/out.npy
summary
