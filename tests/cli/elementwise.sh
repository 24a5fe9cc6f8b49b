#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn increment, sqrt, maximum, log_of_sum: the courses' exercises on every backend, files, numbers and bad input.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

# write FILE DESCR SHAPE VALUE...: a .npy file.
write() {
    "$PYTHON" - "$@" <<'END'
import ast, struct, sys
name, descr, shape, *values = sys.argv[1:]
kind = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u1": "B"}[descr[1:]]
head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {ast.literal_eval(shape)}, }}"
head += " " * (-(len(head) + 11) % 64) + "\n"
number = float if kind in "fd" else int
body = struct.pack(f"<{len(values)}{kind}", *map(number, values))
open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + body)
END
}

# The courses' exercises, on all that can run.
ok "increment" increment --backend=all --json -o out.npy "${quick[@]}"
check "its size, dtype and check" json "$work/out" 'len(d["results"]) >= 3 and all(r["check"]["ok"] is True and
    r["shape"] == [65536] and r["dtype"] == "f64" and r["check"]["compared"] == 65536 and
    r["bytes"] == 2 * 8 * 65536 for r in d["results"])'
check "all are 2" npy out.npy 'descr == "<f8" and shape == (65536,) and set(v) == {2.0}'
ok "increment 256x256 in place" increment --in-place --shape=256x256 --backend=all --json -o out.npy
check "its shape" json "$work/out" 'all(r["shape"] == [256, 256] and r["check"]["ok"] is True for r in d["results"])'
check "once incremented, however often it was timed" npy out.npy 'shape == (256, 256) and set(v) == {2.0}'
ok "a column" increment --shape=5x1 -o out.npy "${quick[@]}"
check "keeps its shape" npy out.npy 'shape == (5, 1)'
ok "sqrt" sqrt --backend=all -o out.npy "${quick[@]}"
check "the last root" npy out.npy 'descr == "<f4" and len(v) == 4096 and v[0] == 0 and abs(v[-1] - 63.992188) < 5e-7'
ok "log_of_sum 6 7" log_of_sum 6 7 --backend=all --json -o out.npy "${quick[@]}"
check "2.564949..." json "$work/out" 'all(abs(r["value"] - 2.5649493574615367) < 2e-15 for r in d["results"])'
check "in the file, too" npy out.npy 'shape == (1,) and abs(v[0] - 2.5649493574615367) < 2e-15'
ok "the value" log_of_sum 6 7 --backend=serial "${quick[@]}"
check "is reported" grep -q "log(6 + 7) = 2.564949357461536" "$work/out"
ok "log_of_sum of vectors" log_of_sum --size=100000 --backend=all --json "${quick[@]}"
check "f32, right" json "$work/out" 'all(r["check"]["ok"] is True and r["dtype"] == "f32" for r in d["results"])'
for edge in 32 128; do
    ok "maximum $edge^3" maximum --size=$edge --backend=serial,simd,omp --json "${quick[@]}"
    check "its shape" json "$work/out" "all(r['shape'] == [$edge] * 3 and r['bytes'] == 12 * $edge ** 3 and
        r['check']['ok'] is True and r['check']['compared'] == $edge ** 3 for r in d['results'])"
done
ok "maximum on all" maximum --size=32 --backend=all --json "${quick[@]}"
ok "maximum 256^3" maximum --backend=simd --json "${quick[@]}"
check "by default" json "$work/out" 'd["results"][0]["shape"] == [256, 256, 256] and d["results"][0]["dtype"] == "f32"'

# Variants, blocks, dtypes.
for variant in naive uncoalesced reference; do
    ok "maximum, $variant" maximum --size=20 --variant=$variant --backend=serial --json "${quick[@]}"
    check "$variant ran" json "$work/out" "d['results'][0]['variant'] == '$variant'"
done
for dtype in f32 f64 i32 i64; do
    ok "increment $dtype" increment --dtype=$dtype --size=300 --backend=serial,simd,omp -o out.npy --json "${quick[@]}"
    check "in $dtype" npy out.npy 'set(v) == {2}'
done
for variant in vector naive naive-2d naive-3d grid-stride uncoalesced; do
    run maximum --size=20 --variant=$variant --block=8x8x8 --backend=hip-cpu --json "${quick[@]}"
    [ "$status" = 3 ] && break # there is no emulation here
    check "$variant in blocks of 8x8x8" json "$work/out" "d['results'][0]['variant'] == '$variant' and
        d['results'][0]['block'] == [8, 8, 8] and d['results'][0]['check']['ok'] is True"
done

# Files.
write x.npy '<f4' '(2, 3)' 1 2 nan -inf 5 -0.0
write y.npy '<f4' '(2, 3)' 3 nan 1 7 -5 1
ok "maximum of files" maximum x.npy y.npy -o out.npy "${quick[@]}"
check "NaN where either is" npy out.npy 'shape == (2, 3) and descr == "<f4" and v[0] == 3 and v[1] != v[1] and
    v[2] != v[2] and v[3:] == (7, 5, 1)'
write big.npy '<i8' '(3,)' 9007199254740993 9223372036854775807 -1
write small.npy '<i4' '(3,)' 1 2 3
ok "i64 with i32" maximum big.npy small.npy -o out.npy "${quick[@]}"
check "exact in i64" npy out.npy 'descr == "<i8" and v == (9007199254740993, 9223372036854775807, 3)'
ok "increment wraps" increment big.npy -o out.npy "${quick[@]}"
check "to the smallest" npy out.npy 'v == (9007199254740994, -9223372036854775808, 0)'
write bytes.npy '|u1' '(2,)' 144 255
ok "sqrt of bytes" sqrt bytes.npy -o out.npy "${quick[@]}"
check "in f64" npy out.npy 'descr == "<f8" and v[0] == 12'
ok "a file and a number" log_of_sum x.npy 1 -o out.npy "${quick[@]}"
check "the file's dtype" npy out.npy 'descr == "<f4" and shape == (2, 3) and abs(v[0] - 0.693147) < 1e-6 and v[5] == 0'
ok "a number and a file" log_of_sum 0.5 bytes.npy --dtype=f64 -o out.npy "${quick[@]}"
check "as asked for" npy out.npy 'descr == "<f8" and abs(v[0] - 4.9732795) < 1e-6'
ok "below zero" log_of_sum -- -6 5
check "is NaN" grep -q "= -\?nan" "$work/out"
ok "log of 0" log_of_sum 0 0 --json "${quick[@]}"
check "is null in JSON" json "$work/out" 'd["results"][0]["value"] is None'

# How many elements are compared, so that no check takes longer than 1 s.
for line in "65536:log_of_sum --size=16777217" "70000:log_of_sum --size=70000" "65536:log_of_sum --size=70000 --check=sampled" \
    "16777217:increment --size=16777217" "70000:sqrt --size=70000 --check=full" "65536:maximum --size=42 --check=sampled"; do
    read -ra words <<<"${line#*:}"
    ok "${line#*:}" "${words[@]}" --backend=simd --json --repeat=1 --warmup=0
    check "compared" json "$work/out" "d['results'][0]['check']['compared'] == ${line%%:*} and d['results'][0]['check']['ok']"
done

# Bad input.
refused "u8" 2 "u8" increment bytes.npy
refused "u8 asked for" 2 "--dtype" maximum --dtype=u8
refused "two shapes" 2 "expected one shape" maximum x.npy small.npy
refused "one input alone" 2 "1 argument is given; expected X Y" maximum x.npy
refused "three inputs" 2 "" log_of_sum 1 2 3
refused "no number, no file" 2 "6x" log_of_sum 6x 7
refused "a number where there are none" 2 "6" maximum 6 7
refused "a size for a file" 2 "--size" sqrt x.npy --size=5
refused "size and shape" 2 "--shape" increment --size=5 --shape=5x5
refused "five dimensions" 2 "--shape" increment --shape=1x2x3x4x5
refused "a cube too large" 2 "--size" maximum --size=2000000
refused "an unknown variant" 2 "naive" maximum --size=8 --variant=navie --backend=serial
write empty.npy '<f4' '(0, 3)'
for line in "sqrt empty.npy" "increment empty.npy" "maximum empty.npy empty.npy" "log_of_sum empty.npy empty.npy" "log_of_sum empty.npy 3"; do
    read -ra words <<<"$line"
    ok "no elements: $line" "${words[@]}" --backend=all -o nothing.npy --repeat=1 --warmup=0
    check "is an array without elements" npy nothing.npy 'shape == (0, 3) and len(v) == 0'
done
ok "none that differs" allclose empty.npy empty.npy --backend=serial
summary
