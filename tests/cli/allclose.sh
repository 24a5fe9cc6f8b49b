#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn allclose: the course's comparison, files that are close and that are not, tolerances.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

ok "the exercise" allclose --backend=all --json "${quick[@]}"
check "close on all" json "$work/out" 'len(d["results"]) >= 3 and all(r["close"] is True and r["differing"] == 0 and
    r["worst"] == -1 and r["check"]["ok"] is True for r in d["results"])'
ok "more of it" allclose --size=100000 --backend=serial,simd,omp "${quick[@]}"
check "in words" grep -q "serial: close: none of 100000 elements differs" "$work/out"

"$PYTHON" - <<'END'
import struct
def npy(name, values, shape):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    body = struct.pack(f"<{len(values)}d", *values)
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + body)
nan, inf = float("nan"), float("inf")
npy("a.npy", [1, 2, 3, 4, 5, 6], (2, 3))
npy("b.npy", [1, 2, 3.5, 4, 7, 6], (2, 3))
npy("nan.npy", [1, nan, 3, 4, 5, inf], (2, 3))
npy("line.npy", [1, 2, 3, 4, 5, 6], (6,))
npy("low.npy", [100], (1,))
npy("high.npy", [110], (1,))
npy("none.npy", [], (0,))
# The check compares blocks of 2^16 elements: differences around their ends, and equal ones of which the first is the worst.
block, zeros = 1 << 16, [0.0] * (3 * (1 << 16) + 5)
def changed(name, changes):
    values = list(zeros)
    for index, value in changes.items():
        values[index] = value
    npy(name, values, (len(values),))
npy("zeros.npy", zeros, (len(zeros),))
changed("equal.npy", {block - 1: 3, block: 3, 2 * block + 1: 3})
changed("later.npy", {0: 2, block: 3, 3 * block + 4: 5})
changed("beyond.npy", {block + 1: 7, 2 * block: inf, 3 * block: nan})
END

# not_close TITLE WORDS ARGUMENT...: exit code 1, and words in the table's last line.
not_close() {
    local title=$1 words=$2
    shift 2
    run allclose "$@"
    if [ "$status" = 1 ] && grep -qF "$words" "$work/out"; then pass; else fail "$title" "expected 1 and '$words'"; fi
}

for backend in serial simd omp; do
    not_close "two differ" "not close: 2 of 6 differ; the worst is [1, 1]: 5 and 7, " a.npy b.npy --backend=$backend \
        "${quick[@]}"
    not_close "NaN" "1 of 6 differ; the worst is [0, 1]: nan and nan" nan.npy nan.npy --backend=$backend "${quick[@]}"
done
ok "equal NaN" allclose nan.npy nan.npy --equal-nan "${quick[@]}"
ok "a wider tolerance" allclose a.npy b.npy --atol=2 "${quick[@]}"
ok "relative to the second" allclose low.npy high.npy --rtol=0.095 --atol=0 "${quick[@]}"
not_close "not to the first" "1 of 1" high.npy low.npy --rtol=0.095 --atol=0 "${quick[@]}"
run allclose a.npy b.npy --json "${quick[@]}"
check "JSON" json "$work/out" '[(r["close"], r["differing"], r["worst"], r["check"]["ok"]) for r in d["results"]] ==
    [(False, 2, 4, True)]'
for case in "equal.npy 3 65535" "later.npy 3 196612" "beyond.npy 3 131072"; do
    read -r file differing worst <<<"$case"
    run allclose "$file" zeros.npy --backend=serial,simd,omp --json "${quick[@]}"
    check "$file" [ "$status" = 1 ]
    check "$file: $differing, [$worst]" json "$work/out" "[(r['differing'], r['worst'], r['check']['ok'])
        for r in d['results']] == [($differing, $worst, True)] * 3"
done
refused "two shapes" 2 "expected one shape" allclose a.npy line.npy
refused "one file" 2 "1 argument is given; expected A B" allclose a.npy
refused "a negative tolerance" 2 "--rtol" allclose a.npy b.npy --rtol=-1
refused "no tolerance" 2 "--atol" allclose a.npy b.npy --atol=small
refused "NaN as a tolerance" 2 "--atol" allclose a.npy b.npy --atol=nan
refused "a size for files" 2 "--size" allclose a.npy b.npy --size=4
ok "nothing" allclose none.npy none.npy --backend=serial
refused "no such file" 2 "missing.npy" allclose a.npy missing.npy
summary
