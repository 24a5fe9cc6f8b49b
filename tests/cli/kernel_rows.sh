#!/bin/bash
# SPDX-License-Identifier: MIT
# Several kernels of the user's in rows: lists in --block, -D and --let; --flops and --bytes; formulas; exchanged axes; in sweep,
# compare and report. On hip-cpu, and on a plugin that is hip-cpu under another name and no emulation, so that it is ranked.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
kernels=$here/../../docs/kernels
quick=(--repeat=2 --warmup=0) # which cannot show that they vary
on_machine quiet              # or noise would leave no row that can be the best
hip=(--backend=hip-cpu "${quick[@]}")

run kernel --backend=hip-cpu --size=10 "${quick[@]}"
if [ "$status" != 0 ]; then
    check "hip-cpu is not built here, or c++ is not" is_refused 3 ""
    summary
    exit
fi

# u, s, vt and their product in double precision, for three sizes m.
"$PYTHON" - "$here" <<'END'
import random
import struct
import sys
sys.path.insert(0, sys.argv[1])
import files

random.seed(1)
k, n = 20, 37


def numbers(count):
    return [struct.unpack("f", struct.pack("f", random.random()))[0] for _ in range(count)]


s, vt = numbers(k), numbers(k * n)
open("s.npy", "wb").write(files.npy(s, (k,), "<f4"))
open("vt.npy", "wb").write(files.npy(vt, (k, n), "<f4"))
for m in 17, 32, 50:
    u = numbers(m * k)
    y = [sum(u[i * k + p] * s[p] * vt[p * n + j] for p in range(k)) for i in range(m) for j in range(n)]
    open(f"u{m}.npy", "wb").write(files.npy(u, (m, k), "<f4"))
    open(f"y{m}.npy", "wb").write(files.npy(y, (m, n), "<f4"))
END

# ------------------------------------------------------------------------------------------------- three by three by three

three=("$kernels/reconstruct.hip" "$kernels/reconstruct_tiled.hip" "$kernels/reconstruct_register.hip")
sizes=('u{m}.npy' s.npy vt.npy 'out={m}x{n}' '{m}' '{n}' '{k}' --let "m=17,32,50" --let n=37 --let k=20 -D 'TILE={block.x}'
    -D 'ROWS={block.x/block.y}' --expect='y{m}.npy' --flops='2*m*n*k' "${quick[@]}")
as_gpu() { FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/false-gpu "$@"; }
on_machine quiet # a noisy row is not the best, and nothing is kept
as_gpu ok "three kernels, sizes and blocks" sweep kernel "${three[@]}" "${sizes[@]}" --block=4x4,8x8,16x16 \
    --backend=false-gpu --json=rows.json --wide
check "a row each, in the order of the words" json rows.json '[(r["let"]["m"], r["choice"], r["block"][0]) for r in d["results"]] ==
    [(m, c, b) for m in (17, 32, 50) for c in ("reconstruct", "reconstruct_tiled", "reconstruct_register") for b in (4, 8, 16)]'
check "each is right, all of its size" json rows.json \
    'all(r["check"]["ok"] and r["check"]["compared"] == 37 * r["let"]["m"] for r in d["results"])'
check "GFLOP/s is 2 m n k over the time" json rows.json 'all(r["flops"] == 2 * 37 * 20 * r["let"]["m"] and
    abs(r["gflops"] * 1e9 * r["kernel_s"] / r["flops"] - 1) < 1e-9 for r in d["results"])'
check "registers, spills and occupancy" json rows.json 'all((r["registers"], r["local_bytes"]) == (32, 8) and
    r["occupancy"] == 4 * r["block"][0] ** 2 / 2048 for r in d["results"])'
check "they are in the table" grep -qE " 32 +8.00 B " "$work/out"
check "macros have the block's values" json rows.json \
    'all(r["define"] == ["TILE=%d" % r["block"][0], "ROWS=1"] for r in d["results"])'
check "the best of each size, of those that are not noisy" json rows.json '{b["let"]["m"]: b["kernel_s"] for b in d["best"]} ==
    {r["let"]["m"]: min(q["kernel_s"] for q in d["results"] if q["let"] == r["let"] and not q["disturbed"])
     for r in d["results"] if not r["disturbed"]}'
check "the best block in a sentence" grep -Eq \
    "^best of m=50 on false-gpu:0: reconstruct(_tiled|_register)?, block [0-9]+x[0-9]+, [0-9.]+ [mun]?s(, [0-9.]+ times as fast as .*)?$" "$work/out"
ok "its page" report rows.json -o page.html
check "has a heat map" grep -q "kernel over block and size" page.html
check "with kernels, blocks and sizes" test "$(grep -Eo "reconstruct(_tiled|_register)? (4x4|8x8|16x16)|m=(17|32|50)<" page.html |
    sort -u | wc -l)" = 12
check "and lines over m" grep -q "kernel over m" page.html

# What is kept for a text: its later runs without a block have the best one.
is_tuned() { # BLOCK ARGUMENT...: of flynn kernel; BLOCK "": the usual one
    as_gpu ok "kernel ${*:2}" kernel "${@:2}" --backend=false-gpu --json
    check "${1:+has the block that was kept}${1:-has none that was kept}" json "$work/out" \
        "(d['results'][0]['tuned'], d['results'][0]['block'][0]) == ('$1' != '', ${1:-256})"
}
# says TITLE PATTERN FILE ARGUMENT...: a sweep with --save that writes a line with the pattern to the file; once more where
# other work on this machine made its row noisy, which is why nothing is kept then.
says() {
    for ((tries = 0; tries < 20; tries++)); do
        as_gpu run sweep kernel "${@:4}" --backend=false-gpu --save "${quick[@]}"
        grep -q "$2" "$work/$3" && break
    done
    check "$1" grep -q "$2" "$work/$3"
}
saves() { says "$1" '; kept$' out "${@:2}"; }
added=(0:1000 0:1000 out 1000)
part 2
saves "a block to keep" "$kernels/vector_add.hip" "${added[@]}" --block=64
check "says so" grep -q 'block 64, .*; kept$' "$work/out"
is_tuned 64 "$kernels/vector_add.hip" "${added[@]}"
is_tuned 64 "$kernels/vector_add.hip" 0:900 0:900 out 900
is_tuned "" "$kernels/vector_add.hip" 0:100 0:100 out 100
is_tuned "" "$kernels/vector_add.hip" "${added[@]}" --grid=4
is_tuned "" "$kernels/vector_add.hip" "${added[@]}" -D OTHER
is_tuned "" "$kernels/vector_add.hip" "${added[@]}" -D 'OTHER={block.x}'
(cat "$kernels/vector_add.hip" && echo "// another text") >another.hip
is_tuned "" another.hip "${added[@]}"
square=(random:48x20 random:20 random:20x48 out=48x48 48 48 20 --expect="$kernels/reconstruct.hip")
saves "a block of two dimensions" "$kernels/reconstruct_tiled.hip" "${square[@]}" -D TILE=16 --block=16x16
is_tuned 16 "$kernels/reconstruct_tiled.hip" "${square[@]}" -D TILE=16 # so has the expected kernel
saves "macros that follow the block" "$kernels/vector_add.hip" "${added[@]}" -D 'OTHER={block.x}' --block=32
is_tuned 32 "$kernels/vector_add.hip" "${added[@]}" -D OTHER=32
is_tuned "" "$kernels/vector_add.hip" "${added[@]}" -D OTHER=64
says "words that name the block, and none is given, keep nothing" \
    "vector_add is not kept: its words name the block, and none is given" err "$kernels/vector_add.hip" "${added[@]}" --shared='{block.x}'
part 1
machine=()

# ---------------------------------------------------------------------------------------------------- what makes a row

part 2
ok "rows of flynn kernel" kernel "${three[@]::2}" "${sizes[@]}" --block=8x8,16x16 --let z=0 --backend=hip-cpu --json
check "are those of a sweep" json "$work/out" 'len(d["results"]) == 12 and d["best"] == [] and d["cannot_run"] == []'
ok "the table of an emulation" kernel "${three[@]::2}" "${sizes[@]}" --block=8x8 --backend=hip-cpu
check "says why there is no best" grep -q "^no best on hip-cpu:0: it is an emulation, whose times mean nothing$" "$work/out"
check "has the kernels and sizes" grep -Eq "^kernel +hip-cpu:0 reconstruct_tiled +m=50 +8x8 " "$work/out"
part 2
printf '__global__ void k(int *out, int n) { for (int i = 0; i < n; i++) out[i] = FIRST; }\n' >first.hip
one=(first.hip out=3 3 --block=1 --grid=1)
run kernel "${one[@]}" -D FIRST=5,6 -D OTHER --expect=5 --json "${hip[@]}"
check "a macro with values: one is wrong" test "$status" = 1
check "a row for each" json "$work/out" '[(r["choice"], r["check"]["ok"], r["define"]) for r in d["results"]] ==
    [("first FIRST=5", True, ["FIRST=5", "OTHER"]), ("first FIRST=6", False, ["FIRST=6", "OTHER"])]'
check "the wrong one is named on stderr" test "$(cat "$work/err")" = \
    "flynn sweep: kernel first FIRST=6, block 1, is wrong on hip-cpu:0: element [0] is 6, expected 5"
printf '__global__ void k(int *out) { const int a[] = LIST; out[0] = a[1] + MOST; }\n' >commas.hip
ok "commas within brackets" kernel commas.hip out=1 --block=1 -D 'LIST={4,5}' -D 'MOST=max(2,3)' --expect=8 "${hip[@]}"
part 2
ok "a kernel that fails costs its row" sweep kernel "${three[0]}" "${sizes[@]}" --let z=1 --block=8x8,64x64 --backend=hip-cpu --json
check "the others run" json "$work/out" '[(c["choice"], c["let_shown"], c["block"][0], c["exit_code"]) for c in d["cannot_run"]] ==
    [("reconstruct", f"m={m}", 64, 2) for m in (17, 32, 50)] and len(d["results"]) == 3'
part 2
printf '__global__ void k(int *out, int n) { out[0] = *(int *)(long)(n ? 16 : (long)out); }\n' >wild.hip
run sweep kernel wild.hip out=1 '{n}' --let n=0,1 --block=1 --expect=0 --json "${hip[@]}"
check "a wild pointer: exit code 1" test "$status" = 1
check "is listed" json "$work/out" '[(c["let"], c["exit_code"]) for c in d["cannot_run"]] == [({"n": 1}, 1)] and len(d["results"]) == 1'
check "and the reason is on stderr" grep -q "line 1: thread 0 of block 0 reads at NULL" "$work/err"

# ------------------------------------------------------------------------------------------------------------- formulas

part 1
# value FORMULA NUMBER: of --flops.
value() {
    ! leaves_out 8 || return 0
    ok "$1" kernel "$kernels/vector_add.hip" 0:100 0:100 out=100 100 --let n=7 --let long_name=3 --block=32x1 --flops="$1" --json "${hip[@]}"
    check "$1 is $2" json "$work/out" "d['results'][0]['flops'] == $2"
}
value '2*n + 3' 17
value '2*(n+3)*long_name' 60
value '(n+3-1)/3*3%8' 1
value '100-7-3' 90
value '-(3-n)--1' 5
value 'size + a.size + out.shape[0] + b.bytes' 700
value 'block.x*block.y' 32
value ' 9000000000000000000 / 1 ' 9000000000000000000
# Random formulas as arguments, fifteen at once, against Python's whole numbers with C's division.
"$PYTHON" - >words <<'END'
import random

random.seed(3)
names = {"n": 7, "m": 1000, "long_name": 3, "block.x": 32}


def divide(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def formula(depth):
    """A formula and its value; brackets wherever the precedence of C would be another one."""
    if depth == 0 or random.random() < 0.2:
        name = random.choice(list(names))
        return (name, names[name]) if random.random() < 0.6 else (str(n := random.randrange(50)), n)
    (a, x), (b, y), mark = formula(depth - 1), formula(depth - 1), random.choice("+-*/%-")
    a, b = (f"({t})" if mark in "*/%" or random.random() < 0.3 else t for t in (a, b))
    if mark == "-":
        b = f"({b})"
    if mark in "/%" and y == 0:
        return a, x
    value = {"+": x + y, "-": x - y, "*": x * y}.get(mark, None)
    value = value if value is not None else divide(x, y) if mark == "/" else x - divide(x, y) * y
    return (a + random.choice(("", " ")) + mark + b, value) if random.random() < 0.9 else (f"-({a}{mark}{b})", -value)


found = []
while len(found) < 15:
    text, value = formula(4)
    if abs(value) < 2**62 and any(c.isalpha() for c in text):
        found.append((text, value))
print("\n".join(f"{{{text}}}" for text, _ in found))
open("values.txt", "w").write(repr([value for _, value in found]))
END
mapfile -t words <words
printf '__global__ void k(long *out%s) { long a[] = {%s}; for (int i = 0; i < 15; i++) out[i] = a[i]; }\n' \
    "$(printf ', long a%s' {0..14})" "$(printf 'a%s, ' {0..14})" >fifteen.hip
ok "random formulas" kernel fifteen.hip --block=32 --grid=1 --let n=7 --let m=1000 --let long_name=3 -o out.npy "${hip[@]}" \
    -- out=15 "${words[@]}"
check "are what Python computes" npy out.npy "list(v) == $(cat values.txt)"
part 2
ok "--bytes" kernel "$kernels/vector_add.hip" 0:100 0:100 out=100 100 --bytes='3*a.bytes' --json "${hip[@]}"
check "GB/s" json "$work/out" 'd["results"][0]["bytes"] == 1200 and
    abs(d["results"][0]["gbytes_per_s"] * d["results"][0]["kernel_s"] - 1200e-9) < 1e-15'
check "without --flops GFLOP/s is not known" json "$work/out" \
    '[d["results"][0][k] for k in ("flops", "gflops")] == [None, None]'
ok "formulas in --grid and --shared" kernel "$kernels/scan.hip" 'range:{n},dtype=i32' out '{n}' --let n=640 --block=64 \
    --grid='{(n+block.x-1)/block.x}' --shared='{4*(block.x+block.x/32)}' --json "${hip[@]}"
check "have their values" json "$work/out" 'd["results"][0]["grid"] == [10, 1, 1] and d["results"][0]["let"] == {"n": 640}'

part 1
# refusal MESSAGE OPTION...: of `flynn kernel`.
refusal() { refused "$1" 2 "$1" kernel "$kernels/increment.hip" inout:ones:4 4 "${@:2}" "${hip[@]}"; }
refusal "--flops: '2*sise': sise is not known; did you mean size?" --flops='2*sise'
refusal "--flops: '2n': '2n' is not a number; expected digits, and * between a number and a name" --flops=2n
refusal "--flops: '2*': it ends where a number, a name or ( is expected" --flops='2*'
refusal "--flops: '(2': a ) is missing" --flops='(2'
refusal "--flops: '2 3': '3' where an operator is expected" --flops='2 3'
refusal "--flops: '2/(size-4)': a division by zero" --flops='2/(size-4)'
refusal "--flops: '2-size' is -2; expected at least 0" --flops='2-size'
refusal "--bytes: '9223372036854775807+1': the value is too large for 64 bits" --bytes='9223372036854775807+1'
refusal "--define: 'm*2': m is not known; did you mean n?" --let n=1 -D 'X={m*2}'
refusal "--let: 'n' is not NAME=NUMBER,... (example: n=256,512)" --let n
refusal "--let: '2n=3' is not NAME=NUMBER,..." --let 2n=3
refusal "--let: n is given twice" --let n=3 --let n=4
refusal "--let: 'x' is not a whole number" --let n=x
refusal "--define: 'X=1,' has an empty value" -D X=1,
refusal "the kernels, -D and --let make more than 1000 rows" --let a="$(seq -s, 32)" --let b="$(seq -s, 32)"
refusal "--csv: has no effect: several rows are run" --let n=1,2 --csv
refused "a name in an argument" 2 "'{m}': 'm': m is not known; expected a number or one of block.x, block.y, block.z" \
    kernel "$kernels/increment.hip" inout:ones:4 '{m}' "${hip[@]}"
refused "an option of kernel alone" 2 "--grid: has no effect: only kernel takes it" sweep sort --grid=3
refused "a choice whose arguments follow the block" 2 "'{n/block.x}' follows the block" \
    sweep kernel first.hip out=1 '{n/block.x}' --let n=9 --save
refused "several blocks of an exercise" 2 "'8x8,16x16' is not a block" reconstruct --block=8x8,16x16

# ------------------------------------------------------------------------------------------------------- exchanged axes

part 2
# As a course has it: x is the first dimension.
cat >increment_2d.hip <<'END'
__global__ void increment_2d(float *a, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < height && y < width)
        a[x * width + y] += 1;
}
END
axes=(increment_2d.hip inout:ones:200x300 200 300 --expect='x + 1')
run kernel "${axes[@]}" --block=16x16 "${hip[@]}"
check "exchanged axes: exit code 1" test "$status" = 1
check "WRONG" grep -q "WRONG at \[0, 208\]" "$work/out"
check "the grid that is right" grep -qx \
    "flynn kernel: hip-cpu: right with --grid=13x19: your x is the first dimension; let it be the last" "$work/err"
ok "it is" kernel "${axes[@]}" --block=16x16 --grid=13x19 "${hip[@]}"
run kernel "${axes[@]}" --block=32x8 --json --quiet "${hip[@]}"
check "of another block, in JSON" json "$work/out" 'd["results"][0]["right_with_grid"] == [7, 38, 1]'
check "with --quiet, too" grep -q "right with --grid=7x38" "$work/err"
check "and what is wrong" grep -q "element \[0, 200\] is 1, expected 2$" "$work/err"
run kernel "${axes[@]}" --block=16x16 --grid=19x13 --json "${hip[@]}"
check "a grid that is given is not exchanged" json "$work/out" 'd["results"][0]["right_with_grid"] is None'
sed 's/+= 1/+= 2/' increment_2d.hip >two_more.hip
run kernel two_more.hip "${axes[@]:1}" --block=16x16 --json "${hip[@]}"
check "what is wrong both ways has no grid" json "$work/out" 'd["results"][0]["right_with_grid"] is None and
    not d["results"][0]["check"]["ok"]'
run sweep kernel increment_2d.hip 'inout:ones:{h}x300' '{h}' 300 --let h=20,40 --block=16x16 --expect='x + 1' "${hip[@]}"
check "in a sweep" grep -qx "hip-cpu increment_2d, h=40, block 16x16: right with --grid=3x19: its x is the first dimension" "$work/out"

part 2
# What a GPU's runtime says of a kernel: in the tables as well, where they have room.
as_gpu ok "one kernel" kernel "$kernels/sum.hip" random:512 out=1 512 --block=128 --backend=false-gpu --wide
check "its registers, spills and occupancy" grep -Eq "^false-gpu:0 .* 32 +8.00 B +25 % " "$work/out"
as_gpu ok "compared kernels" compare kernel "${three[@]}" "${sizes[@]}" --block=8x8,16x16 --backend=false-gpu --wide --json=compared.json
check "registers, spills and occupancy of each" json compared.json 'len(d["results"]) == 18 and all((r["registers"], r["local_bytes"]) == (32, 8) and
    r["occupancy"] == 4 * r["block"][0] ** 2 / 2048 for r in d["results"])'
check "in its table, too" grep -Eq "^kernel +false-gpu:0 .* 32 +8.00 B +50 % " "$work/out"
ok "one kernel without a GPU" kernel "$kernels/sum.hip" random:512 out=1 512 --backend=hip-cpu --repeat=3
check "has none of these columns" sh -c '! grep -q "registers\|occupancy" "$1"' sh "$work/out"

# ---------------------------------------------------------------------------------------------------------- compare

part 2
as_gpu ok "compare" compare kernel "${three[@]}" "${sizes[@]}" --block=8x8,16x16 --backend=false-gpu --json=compare.json
check "a row each" json compare.json 'len(d["results"]) == 18 and d["failed"] == []'
check "the speed-up is over the first of the size" json compare.json \
    'all(abs(r["speed_up"] - next(f for f in d["results"] if f["let"] == r["let"])["kernel_s"] / r["kernel_s"]) < 1e-9
         for r in d["results"])'
check "its table tells the rows apart" grep -Eq "^kernel +false-gpu:0 +(SISD +)?reconstruct_tiled +m=32 +16x16 " "$work/out"
ok "itself" compare --against=compare.json compare.json --json
check "each row is paired with its own" json "$work/out" 'len(d["pairs"]) == 18 and d["unpaired"] == [] and
    all(p["kernel"]["ratio"] == 1 for p in d["pairs"])'
ok "as a table" compare --against=compare.json compare.json
check "names them" grep -q "^kernel reconstruct_tiled, m=50, block 16x16 " "$work/out"
part 2
mkdir one two
cp "$kernels/increment.hip" one
cp "$kernels/increment.hip" two
ok "two files of one name" kernel one/increment.hip two/increment.hip inout:0:4 4 --expect='x + 1' --json "${hip[@]}"
check "have their folders" json "$work/out" '[r["choice"] for r in d["results"]] == ["one/increment", "two/increment"]'
ok "blocks of the vectors that are made" kernel --block=32,64 --size=100 --json "${hip[@]}"
check "a row each" json "$work/out" '[r["block"][0] for r in d["results"]] == [32, 64] and not any("choice" in r for r in d["results"])'
part 2
run compare kernel wild.hip "${one[0]}" out=1 1 --block=1 -D FIRST=1 --json "${hip[@]}"
check "one that fails" json "$work/out" '[(f["exercise"], f["choice"], f["block"]) for f in d["failed"]] ==
    [("kernel", "wild", [1, 1, 1])] and len(d["results"]) == 1'
check "has exit code 1" test "$status" = 1
check "and its reason on stderr" grep -q "kernel wild, block 1: .*reads at NULL" "$work/err"
part 1
refused "all fail" 1 "kernel wild, block 1: " compare kernel wild.hip out=1 1 --block=1 "${hip[@]}"
refused "a list of blocks" 2 "--block: it is a list" compare reconstruct --block=8,16
refused "kernel's options" 2 "--expect: has no effect" compare reconstruct --expect=1
summary
