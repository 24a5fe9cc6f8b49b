#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn slice: its ways, its slices, files, bad input.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

# What NumPy's slices of small files are, to hold the results against.
"$PYTHON" - "$here" <<'END' || exit 1
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import files

def write(name, values, shape, descr):
    pathlib.Path(name).write_bytes(files.npy(values, shape, descr))

write("matrix.npy", [1000 * i + j for i in range(6) for j in range(5)], (6, 5), "<f4")
write("matrix_part.npy", [1000 * i + j for i in (1, 2, 3) for j in (2, 3)], (3, 2), "<f4")
write("matrix_rows.npy", [1000 * i + j for i in (4, 5) for j in range(5)], (2, 5), "<f4")
write("vector.npy", range(40), (40,), "<i8")
write("vector_part.npy", range(7, 30), (23,), "<i8")
write("four.npy", range(120), (2, 3, 4, 5), "|u1")
write("four_part.npy", [i * 60 + j * 20 + k * 5 + l for i in (1,) for j in (0, 1) for k in range(4) for l in (2, 3)],
      (1, 2, 4, 2), "|u1")
END

for backend in serial simd omp:2 hip-cpu; do
    run slice matrix.npy --slice=1:4,2:4 --backend=$backend -o out.npy "${quick[@]}"
    [ $backend = hip-cpu ] && [ "$status" = 3 ] && continue
    check "$backend: a block" close out.npy matrix_part.npy 0
    ok "$backend: rows" slice matrix.npy --slice=4: --backend=$backend -o out.npy "${quick[@]}"
    check "$backend: rows" close out.npy matrix_rows.npy 0
    ok "$backend: all" slice matrix.npy --slice=:,: --backend=$backend -o out.npy "${quick[@]}"
    check "$backend: all" close out.npy matrix.npy 0
    ok "$backend: one dimension of i64" slice vector.npy --slice=7:30 --backend=$backend -o out.npy "${quick[@]}"
    check "$backend: one dimension of i64" close out.npy vector_part.npy 0
    ok "$backend: four of u8" slice four.npy --slice=1:2,:2,:,2:4 --backend=$backend -o out.npy "${quick[@]}"
    check "$backend: four of u8" close out.npy four_part.npy 0
done
ok "pageable" slice matrix.npy --slice=1:4,2:4 --pageable -o out.npy "${quick[@]}"
check "pageable" close out.npy matrix_part.npy 0
ok "another dtype" slice matrix.npy --slice=1:4,2:4 --dtype=f64 -o out.npy "${quick[@]}"
check "another dtype" npy out.npy 'descr == "<f8" and v[0] == 1002'
ok "a picture" slice "$slice" --slice=:64,:32 -o out.png "${quick[@]}"
check "a picture" png out.png '(w, h) == (32, 64)'

# The series.
for size in 1 2 3 64 200; do
    ok "edge $size" slice --size=$size --backend=serial --json "${quick[@]}"
done
cp "$work/out" out.json
check "rows, columns, a block, each in three ways" json out.json \
    '[r["kind"] for r in d["results"][::3]] == ["rows"] * 4 + ["columns"] * 4 + ["block"] and
    [r["variant"] for r in d["results"]] == ["whole", "view", "packed"] * 9'
check "bytes" json out.json 'all(r["bytes_copied"] == (200 * 200 * 4 if r["variant"] == "whole" else r["bytes"]) and
    r["bytes"] == r["shape"][0] * r["shape"][1] * 4 and r["check"]["ok"] for r in d["results"])'
check "times" json out.json 'all(r["total_s"] > 0 and len(r["times_s"]["total"]) == 1 and
    (r["kernel_s"] > 0) == (r["variant"] == "packed") and (r["host_s"] > 0) == (r["variant"] == "whole")
    for r in d["results"])'
check "ranks among the three" json out.json \
    'all({r["place"] for r in d["results"][i:i + 3]} <= {1, 2, 3, None} for i in range(0, 27, 3)) and
    all((r["place"] is None) == (r["disturbed"] is not None) for r in d["results"])'
check "a speed-up over copying all" json out.json \
    'all(abs(r["speed_up_over_whole"] - d["results"][i // 3 * 3]["total_s"] / r["total_s"]) < 1e-9
    for i, r in enumerate(d["results"]))'
check "lines that explain, of which one says that there is no link" json out.json \
    '[any(w in l for l in d["explanations"]) for w in ("there is no link", "whatever the slice")] == [True, True] and
    len(d["explanations"]) == 5 and all(l.startswith("serial: ") and (len(l) < 120 or " is faster than " in l) for l in d["explanations"])'
ok "the table" slice --size=200 --backend=serial,omp:2 "${quick[@]}"
check "a row for each way of each slice" test "$(grep -c '^serial ' "$work/out")" = 27
check "which way is the fastest of how many slices" grep -qE '^serial: fastest: .* (in|of) 9 slices$' "$work/out"
check "and lines that explain" test "$(grep -c '^serial: ' "$work/out")" = 6
check "which say what was measured" grep -qE '^omp:2.*: view is faster than whole for [0-9] of 9 slices' "$work/out"
ok "CSV" slice --size=200 --backend=serial --csv "${quick[@]}"
check "CSV" csv "$work/out" 'len(rows) == 27 and rows[0]["slice"] == "99:100,:" and float(rows[0]["total_s"]) > 0'
ok "integers, which fl_convert does not write" slice --size=200 --dtype=i32 --backend=serial --json "${quick[@]}"
check "have two ways" json "$work/out" '[r["variant"] for r in d["results"]] == ["whole", "view"] * 9'

# Bad input.
for range in '' 1 1:2:3 a:b 4:2 0:7 -1:2 1:2,3 99999999999999999999: 0:1,0:1,0:1; do
    refused "--slice=$range" 2 --slice slice matrix.npy "--slice=$range" -o out.npy
done
refused "-o without --slice" 2 --slice slice --size=64 -o out.npy
refused "a size for a file" 2 --size slice matrix.npy --size=64
refused "a size that is too large" 2 --size slice --size=9999999
refused "a variant" 2 --variant slice --size=64 --variant=view
refused "a timing that does not wait" 2 --wrong-timing slice --size=64 --wrong-timing
refused "a block" 2 --block slice --size=64 --block=16x16
refused "a way to check" 2 --check slice --size=64 --check=full
refused "a seed for a file" 2 --seed slice matrix.npy --seed=1
refused "a second file" 2 vector.npy slice matrix.npy vector.npy
summary
