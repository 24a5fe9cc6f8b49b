#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn kernel on hip-cpu: the kernels of docs/kernels, the right ones and the wrong ones with what is said of them;
# arguments; texts that are wrong; faults; the cache; no compiler. docs/kernels on a GPU, too, where one is; FLYNN_TEST_GPU names
# the only one. kernel.sh COMPILER: docs/kernels alone, on hip-cpu, by another compiler than c++.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
kernels=$here/../../docs/kernels
quick=(--repeat=3 --warmup=0)
[ $# = 0 ] || export FLYNN_CXX=$1 FLYNN_TEST_GPU=hip-cpu

gpus=${FLYNN_TEST_GPU:-}
for gpu in hip-cpu hip-nvidia hip-amd; do
    [ -n "${FLYNN_TEST_GPU:-}" ] || ! "$flynn" kernel --backend=$gpu --size=10 >/dev/null 2>&1 || gpus="$gpus $gpu"
done
read -r gpu _ <<<"$gpus"
run kernel --backend="${gpu:-hip-cpu}" --size=1000 "${quick[@]}"
if [ "$status" != 0 ]; then
    check "hip-cpu is not built here, or c++ is not" is_refused 3 ""
    refused "a processor" 3 "serial does not have kernel" kernel --backend=serial
    summary
    exit
fi
check "vector_add where no file is given" grep -q "kernel: vector_add, 1000 f32, 1000 f32 -> 1000 f32" "$work/out"

# Where no backend is named and no GPU can run, the emulation runs it, and one line says so.
FLYNN_BACKEND=auto run kernel --size=1000 "${quick[@]}"
check "without --backend" test "$status" = 0
if [[ $gpus = *hip-[na]* ]]; then
    check "without --backend: on the GPU" grep -q "^hip-[na]" "$work/out"
else
    check "without --backend: by the emulation" grep -q "^hip-cpu:0 .* ok\|^hip-cpu:0 .*not checked" "$work/out"
    check "without --backend: one line says so" test "$(cat "$work/err")" = \
        "flynn kernel: --backend=auto: kernel needs a GPU, and none can run here; hip-cpu:0 emulates one on the processor"
fi

# The arrays of all kernels.
"$PYTHON" - "$here" <<'END'
import random
import struct
import sys
sys.path.insert(0, sys.argv[1])
import files

random.seed(1)


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def write(name, values, shape, descr="<f4"):
    open(name + ".npy", "wb").write(files.npy(values, shape, descr))


def numbers(count):
    return [single(random.random()) for _ in range(count)]


values = [random.randrange(16) for _ in range(10000)]
write("values", values, (10000,), "<i4")
write("counts", [values.count(v) for v in range(16)], (16,), "<i4")
write("total", [sum(values)], (1,), "<i4")
parts = [values[i:i + 256] for i in range(0, 10000, 256)]
write("sums", [sum(part[:i + 1]) for part in parts for i in range(len(part))], (10000,), "<i4")
write("sums_before", [sum(part[:i]) for part in parts for i in range(len(part))], (10000,), "<i4")
write("primes", [int(n > 1 and all(n % d for d in range(2, n))) for n in range(1000)], (1000,), "|u1")
write("factors", range(1, 9), (8,))
write("ones", [1] * 512, (512,))
write("scaled", [i // 64 + 1 for i in range(512)], (512,))
bodies = numbers(800)
write("bodies", bodies, (200, 4))
bodies = [bodies[i:i + 4] for i in range(0, 800, 4)]
pulls = []
for me in bodies:
    ways = [([b - a for a, b in zip(me[:3], other)], other[3]) for other in bodies]
    pulls += [sum(mass * way[k] * (sum(w * w for w in way) + 1e-4) ** -1.5 for way, mass in ways) for k in range(3)]
write("pulls", pulls, (200, 3))
m, k, n = 50, 20, 70
u, s, vt = numbers(m * k), numbers(k), numbers(k * n)
write("u", u, (m, k))
write("s", s, (k,))
write("vt", vt, (k, n))
write("y", [sum(u[i * k + p] * s[p] * vt[p * n + j] for p in range(k)) for i in range(m) for j in range(n)], (m, n))
write("product", [sum(u[i * k + p] * vt[p * n + j] for p in range(k)) for i in range(m) for j in range(n)], (m, n))
wide = numbers(50 * 70)
write("wide", wide, (50, 70))
write("turned", [wide[i * 70 + j] for j in range(70) for i in range(50)], (70, 50))
wanted = [i * 7 % 1500 * 0.75 for i in range(200)]  # every fourth one is whole
write("wanted", wanted, (200,))
write("places", [sum(x < value for x in range(1000)) for value in wanted], (200,), "<i4")
write("a", numbers(5 * 9 * 33), (5, 9, 33))
write("b", numbers(5 * 9 * 33), (5, 9, 33))
END

# ------------------------------------------------------------------------------------------------------ docs/kernels

# A GPU shows a race by its results alone; hip-cpu names the threads, the element and the line.
race="two passes give different results: .*: a race?\|: line [0-9]*: thread .* both write \|: line [0-9]*: thread .*, which thread "
# beyond LINE ARRAY SIZE: the same for a write to the array's element SIZE.
beyond() {
    echo "writes beyond $2: element $3 of an array of $3\|: line $1: thread [0-9]* of block [0-9]* [a-z]* [a-z]*\[$3\], beyond its $3 el"
}
# right FILE ARGUMENT...: exit code 0, and nothing is said of it.
right() {
    tried=$((tried + 1))
    ! leaves_out 8 || return 0
    ok "$1" kernel "$kernels/$1" "${@:2}" --backend="$gpu" "${quick[@]}"
    check "$1: ok" grep -Eq "$right" "$work/out"
    check "$1: nothing is said of it" is_quiet
}
# A remark on times may be there on a busy machine. hip-cpu remarks where a wrong kernel writes, which is no mistake by itself.
is_quiet() { ! grep -v "its times vary\|hip-cpu: no thread writes [0-9]* of the\|both write out.*, the same value$" "$work/err"; }
# wrong FILE SAYS ARGUMENT...: exit code 1, with that on stderr; "": the result is wrong, and nothing else is known. A GPU may
# happen to win every race.
wrong() {
    tried=$((tried + 1))
    ! leaves_out 8 || return 0
    run kernel "$kernels/$1" "${@:3}" --backend="$gpu" "${quick[@]}"
    [ "$gpu" = hip-cpu ] || [ "$2" != "$race" ] || [ "$status" -gt 1 ] || return 0
    check "$1: is found" test "$status" = 1
    [ "$gpu" = hip-cpu ] || ! grep -q "the kernel fails: " "$work/err" || return 0 # it stopped at the wrong access
    check "$1: WRONG" grep -q WRONG "$work/out"
    if [ -n "$2" ]; then
        check "$1: $2" grep -q "$2" "$work/err"
    else
        check "$1: nothing is said of it" is_quiet
    fi
}
# On one GPU, or the emulation.
lessons() {
    gpu=$1 tried=0
    right=" (ok|ok \(emulation\))$"
    add=(0:1000 0:1000 out 1000 --expect='x + y')
    right vector_add.hip "${add[@]}"
    wrong vector_add_one_block.hip "" "${add[@]}"
    wrong vector_add_no_test.hip "$(beyond 6 out 1000)" "${add[@]}"
    right primes.hip out=1000 1000 --expect=primes.npy
    wrong primes_no_squares.hip "" out=1000 1000 --expect=primes.npy
    check "at 4" grep -q 'WRONG at \[4\]' "$work/out"
    count=(values.npy out=16 10000 --grid=8 --expect=counts.npy)
    right histogram.hip "${count[@]}"
    wrong histogram_race.hip "$race" "${count[@]}"
    right histogram_shared.hip "${count[@]}" -D BINS=16 --shared=64
    wrong histogram_no_barrier.hip "$race" "${count[@]}" -D BINS=16 --shared=64
    total=(values.npy out=1 10000 --grid=8 --expect=total.npy)
    right sum.hip "${total[@]}"
    wrong sum_race.hip "$race" "${total[@]}"
    sums=(values.npy out 10000 --block=256 --shared=1056)
    right scan.hip "${sums[@]}" --expect=sums.npy
    wrong scan_no_barrier.hip "$race" "${sums[@]}" --expect=sums.npy
    wrong scan_off_by_one.hip "$(beyond 17 out 10000)" "${sums[@]}" --expect=sums_before.npy
    right scan_tree.hip "${sums[@]}" --expect=sums_before.npy -D PAD=0
    ok "scan_tree.hip, padded" kernel "$kernels/scan_tree.hip" "${sums[@]}" --expect=sums_before.npy -D PAD=1 --backend="$gpu" "${quick[@]}"
    scale=(ones.npy out 512 --block=64 --define=BLOCKS=8 --constant=factors:factors.npy --expect=scaled.npy)
    right constant.hip "${scale[@]}"
    wrong constant_by_thread.hip "" "${scale[@]}"
    bodies=(bodies.npy out=200x3 200 0.01 --block=64)
    right nbody.hip "${bodies[@]}" --expect=pulls.npy
    right nbody_tiled.hip "${bodies[@]}" --shared=1024 --expect="$kernels/nbody.hip"
    wrong nbody_no_barrier.hip "$race" "${bodies[@]}" --shared=1024 --expect="$kernels/nbody.hip"
    matrix=(u.npy s.npy vt.npy out=50x70 50 70 20 --expect=y.npy)
    right reconstruct.hip "${matrix[@]}" --block=16x16
    right reconstruct_tiled.hip "${matrix[@]}" --block=16x16 -D TILE=16
    right reconstruct_register.hip "${matrix[@]}" --block=16x4 --grid=5x4 -D TILE=16 -D ROWS=4
    folder="$work/$(printf 'folder%.0s' {1..24})" # messages name a long path whole
    mkdir -p "$folder" && cp "$kernels/reconstruct.hip" "$folder"
    product=(u.npy s.npy vt.npy out=50x70 50 70 20 --block=16x4 --expect="$folder/reconstruct.hip")
    product=(kernel "$kernels/reconstruct_register.hip" "${product[@]}" --grid=5x4 -D TILE=16 -D ROWS=4 --backend="$gpu" "${quick[@]}")
    ok "the expected kernel has a grid of its own" "${product[@]}"
    check "which is named" grep -q "^checked against: $folder/reconstruct.hip on hip-cpu$" "$work/out"
    refused "what it leaves out is not expected" 2 \
        "--expect: $folder/reconstruct.hip on hip-cpu does not write 2380 of the 3500 elements of y, such as y[16, 0], which $kernels/" \
        "${product[@]}" --expect-grid=5x4
    check "with the option that mends it" grep -qF 'writes; --expect-grid=X[xY[xZ]] launches it on another grid' "$work/err"
    wrong reconstruct_no_barrier.hip "$race" "${matrix[@]}" --block=16x16 -D TILE=16
    matrices=(u.npy vt.npy out=50x70 50 70 20 --block=16x16 -D TILE=16 --expect=product.npy)
    right matmul_tiled.hip "${matrices[@]}"
    wrong matmul_no_barrier.hip "$race" "${matrices[@]}"
    wrong matmul_no_edges.hip "" "${matrices[@]}"
    turned=(wide.npy out=70x50 50 70 --block=32x32 -D TILE=32 --expect=turned.npy)
    right transpose.hip "${turned[@]}" -D PAD=0
    ok "transpose.hip, padded" kernel "$kernels/transpose.hip" "${turned[@]}" -D PAD=1 --backend="$gpu" "${quick[@]}"
    wrong transpose_no_barrier.hip "$race" "${turned[@]}" -D PAD=0
    places=(0:1000 wanted.npy out=200 1000 200 --expect=places.npy)
    right search_sorted.hip "${places[@]}"
    wrong search_sorted_equal.hip "" "${places[@]}"
    planes=(a.npy b.npy out 5 9 33 --block=16x4x2 --expect='max(x, y)')
    right maximum.hip "${planes[@]}"
    wrong maximum_no_depth.hip "" "${planes[@]}"
    right warp_sum.hip "${total[@]}"
    wrong warp_sum_one_warp.hip "" "${total[@]}"
    right increment.hip inout:0:1000 1000 --expect='x + 1'
    wrong increment_one_more.hip "$(beyond 7 x 1000)" inout:0:1000 1000 --expect='x + 1'
    check "every kernel there was tried" test "$tried" = "$(find "$kernels" -name '*.hip' | wc -l)"
    check "the wrong ones are marked" test "$(grep -l "^/\* WRONG: " "$kernels"/*.hip | wc -l)" = "$(grep -c '^    wrong ' "$0")"
}
# Each function of the lists in code_numbers.h takes an integer as a double, and float's has its name, too.
awk 'BEGIN { print "__global__ void functions(int *wrong, int n)\n{\n    const double x = n;\n    const float y = n;" }
    function call(name, value) { return name "(" value (two ? ", " value : "") ")" }
    /^#define FLYNN_MATH_/ { two = /OF_TWO/ }
    /^    F\(/ { while (match($0, /F\([a-z0-9]+/)) {
        name = substr($0, RSTART + 2, RLENGTH - 2)
        $0 = substr($0, RSTART + RLENGTH)
        print "    *wrong += " call(name, "n") " != " call(name, "x") ";"
        print "    *wrong += " call(name, "y") " != " call(name "f", "y") ";" } }
    END { print "}" }' "$here/../../backends/shared/code_numbers.h" >functions.hip
check "all 48 functions are there" test "$(grep -c '[(]n' functions.hip)" = 48
for name in $gpus; do
    lessons "$name"
    leaves_out 3 || ok "$name: functions of math.h" kernel functions.hip out=1 1 --expect=0 --block=1 --grid=1 --backend="$name" "${quick[@]}"
done
[ $# = 0 ] || { summary; exit; }
case $gpus in
*hip-cpu*) ;;
*)
    summary
    exit
    ;;
esac

# The commands of docs/kernels/README.md as they stand there, from its folder: they need no other file.
page() {
    local line words expected
    while IFS= read -r line; do
        eval "words=(${line#*flynn })"
        expected=0
        ! grep -q "^/\* WRONG: " "${words[1]}" || expected=1
        case $line in
        *search_sorted_equal.hip*random:500,*) expected=0 ;; # it is wrong for equal numbers alone
        *--warp=64*) expected=1 ;;                          # it is right for warps of 32
        esac
        FLYNN_BACKEND=hip-cpu run "${words[@]}" "${quick[@]}"
        check "docs/kernels: $line" test "$status" = $expected
    done < <(grep '^    flynn ' README.md | some 3)
    check "docs/kernels: each question has a command" test "$(grep -c '^    flynn ' README.md)" -gt 20
}
cd "$kernels" && page && cd "$work/files" || exit

# ------------------------------------------------------------------------------------------------------- what it does

hip=(--backend=hip-cpu "${quick[@]}")
increment=$kernels/increment.hip vector=$kernels/vector_add.hip
ok "an output" kernel "$increment" inout:10:14 4 -o out.npy "${hip[@]}"
check "is put back before each pass" npy out.npy 'descr == "<f4" and list(v) == [11, 12, 13, 14]'
ok "outputs of a shape" kernel "$kernels/primes.hip" out=5x2 10 -o out.npy "${hip[@]}"
check "have it" npy out.npy 'descr == "|u1" and shape == (5, 2) and list(v) == [0, 0, 1, 1, 0, 1, 0, 1, 0, 0]'
part 2
# What hip-cpu computes is not checked by hip-cpu's own result of the same kernel: 744 of these elements are wrong.
for expect in "" "--expect=$kernels/vector_add_one_block.hip"; do
    unchecked=(kernel "$kernels/vector_add_one_block.hip" 0:1000 0:1000 out 1000 ${expect:+"$expect"} "${hip[@]}")
    ok "without --expect, or with itself" "${unchecked[@]}" -o out.npy
    check "a wrong kernel is not called right" grep -q " not checked$" "$work/out"
    check "and how to check it" grep -q "^checked against: nothing; --expect=WHAT says what is right" "$work/out"
    check "its result is written" npy out.npy 'shape == (1000,) and v[255] == 510 and v[256] == 0'
    ok "in JSON" "${unchecked[@]}" --json
    check "check.ok is null" json "$work/out" '[(r["check"]["ok"], r["check"]["compared"], r["check"]["max_abs"], r["place"])
        for r in d["results"]] == [(None, 0, None, None)]'
    ok "in CSV" "${unchecked[@]}" --csv
done
ok "a right kernel without --expect" kernel "$vector" 0:1000 0:1000 out 1000 "${hip[@]}"
check "what was looked for all the same" grep -q "^checked against: nothing; no race and no access outside the arrays was seen; --expect=WHAT" "$work/out"
ok "unwatched" kernel "$vector" 0:1000 0:1000 out 1000 --unwatched "${hip[@]}"
check "nothing was looked for" grep -q "^checked against: nothing; --expect=WHAT" "$work/out"
run kernel "$kernels/vector_add_one_block.hip" 0:1000 0:1000 out 1000 --expect='x + y' "${hip[@]}" --json
check "the pattern of wrong elements" json "$work/out" "d['results'][0]['check']['pattern'] == \"all from [256] on, a multiple of the block's 256 threads\""
part 3
printf '__global__ void k(int *a, int *b) { a[threadIdx.x] = 1; b[threadIdx.x] = 2; }\n' >both.hip
ok "an expression" kernel both.hip out=256 out=256 --expect=1 "${hip[@]}"
check "is for the first output alone" grep -q "^checked against: 1 (a alone)" "$work/out"
# Elements that the expected kernel does not write. It has 0 for the last ones that it writes, which is what out begins with.
cat >inner.hip <<'END'
__global__ void inner(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i > 0 && i < n - 1)
        out[i] = a[i] > 16 ? 0 : a[i];
}
END
sed 's/int i/const int i/' inner.hip >same.hip
sed 's/i > 0 && i < n - 1/i < n/' inner.hip >all.hip
sed 's/? 0 :/? 1 :/' inner.hip >wrong_inner.hip
sed 's/i > 0/i > 1/; s/out\[i\] =/out[i] +=/' inner.hip >sums.hip
expected() { run kernel "$1.hip" 11:21 out 10 --expect="$2.hip" "${hip[@]}"; }
expected same inner
check "a part on purpose, as expected" test "$status" = 0
check "a note names what is not written" test "$(cat "$work/err")" = "flynn kernel: hip-cpu: --expect: inner.hip does not write 2 of \
the 10 elements of out, such as out[0]; same.hip leaves them as they were"
expected all inner
check "more than the expected kernel writes" is_refused 2 "inner.hip on hip-cpu does not write 2 of the 10 elements of out, such as \
out[0], which all.hip writes; --expect-grid=X[xY[xZ]] launches it on another grid"
expected inner all
check "less than it writes is wrong" test "$status" = 1
check "without a word on what it does not write" test "$(grep -c -- --expect "$work/err")" = 0
expected wrong_inner inner
check "wrong where it writes what out begins with" test "$status" = 1
check "and only there" grep -q "3 of 10 elements are wrong" "$work/out"
expected inner sums
check "an output that it reads has contents of its own" test "$status" = 1
ok "in rows" kernel same.hip all.hip 11:21 out 10 --expect=inner.hip --json "${hip[@]}"
check "the other one is right" json "$work/out" '[(r["file"], r["check"]["ok"]) for r in d["results"]] == [("same.hip", True)] and
    [(r["file"], r["exit_code"], "such as out[0], which all.hip writes" in r["reason"]) for r in d["cannot_run"]] == [("all.hip", 2, True)]'
part 3
run kernel "$kernels/histogram_race.hip" values.npy out=16 10000 --grid=8 "${hip[@]}"
check "a race is found without --expect" test "$status" = 1
ok "keys of its own" kernel "$vector" 0:10 0:10 out 10 --json "${hip[@]}"
check "and keys of its own" json "$work/out" 'd["results"][0]["kernel"] == "vector_add" and
    d["results"][0]["passes_differ"] is False and d["results"][0]["overwritten"] is None'
run kernel "$kernels/increment_one_more.hip" inout:0:1000 1000 --guard=off --expect='x + 1' "${hip[@]}"
check "--guard=off" test "$status" = 0 -a ! -s "$work/err"
run kernel "$kernels/increment_one_more.hip" inout:0:1000 1000 --expect='x + 1' --json "${hip[@]}"
check "the guard's element" json "$work/out" 'd["results"][0]["overwritten"] == 1000 and not d["results"][0]["check"]["ok"]'
printf '__global__ void before(int *out, int n) { out[(int)threadIdx.x - 1] = n; }\n' >before.hip
run kernel before.hip out=300 5 --block=300 --expect=5 "${hip[@]}"
check "before an array" grep -q "line 1: thread 0 of block 0 writes out\[-1\], before its first element" "$work/err"
run kernel before.hip out=300 5 --block=300 --expect=5 --unwatched "${hip[@]}"
check "before an array, unwatched" grep -q "writes before out: element -1 of an array of 300" "$work/err"
part 3
# Two outputs, several kernels, sums in another order.
cat >two.hip <<'END'
extern "C" {
__global__ void first(const float *x, float *sum, int *count, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < size) {
        atomicAdd(&sum[0], x[i]);
        atomicAdd(&count[0], 1);
    }
}
}
__global__ void second(float *x) { x[0] = 2; }
END
ok "--entry" kernel two.hip b.npy out=1 out=1 1485 --entry=first --grid=6 "${hip[@]}"
check "other last bits are not an error" test ! -s "$work/err" -o \
    "$(grep -c "last bits of sum, within the tolerance" "$work/err")" = 1
ok "the last kernel" kernel two.hip out=1 -o out.npy --expect=2 "${hip[@]}"
check "is taken" npy out.npy 'list(v) == [2]'
part 2
# What a kernel prints is not among the data on stdout.
printf '__global__ void k(int *out) { if (threadIdx.x == 0) printf("hello %%d\\n", 7); out[threadIdx.x] = 1; }\n' >hello.hip
hello=(kernel hello.hip out=64 --block=64 --expect=1 "${hip[@]}")
greets() { grep -q "^hello 7$" "$work/err" && ! grep -aq "hello 7" "$work/out"; }
ok "printf" "${hello[@]}"
check "goes to stderr, the table to stdout" greets
check "which is whole" grep -q "^checked against: 1" "$work/out"
ok "printf with --json" "${hello[@]}" --json
check "is valid" json "$work/out" 'd["results"][0]["check"]["ok"]'
check "and printf on stderr" greets
ok "printf with --csv" "${hello[@]}" --csv
check "begins with its keys" test "$(head -c 9 "$work/out")" = exercise,
ok "printf with -o -" "${hello[@]}" -o -
check "which is a .npy file" cmp -n 6 "$work/out" values.npy
check "printf is beside the table" greets
part 2
ok "in a compare" compare kernel --backend=hip-cpu --size=1000 "${quick[@]}"
ok "all" compare kernel --backend=all --size=1000 --json "${quick[@]}"
check "leaves processors out" json "$work/out" '{s["backend"]: s["reason"] for s in d["skipped"]}["serial"] ==
    "it does not have this exercise"'
ok "in a sweep" sweep kernel --backend=hip-cpu --block=64,128x2 --size=1000 "${quick[@]}"
ok "--trace" kernel --size=1000 --trace=trace.json "${hip[@]}"
check "has the launch" grep -q "kernel own" trace.json
# shellcheck disable=SC2016 # nothing expands these
words=('ker nel"$(touch bad)`.hip' 'A=$(touch bad)`touch bad`')
cp "$increment" "${words[0]}"
ok "a file's name is not a command" kernel "${words[0]}" inout:0:10 10 "${hip[@]}"
ok "nor is a macro" kernel "$increment" inout:0:10 10 -D "${words[1]}" "${hip[@]}"
check "nothing was run" test ! -e bad

# ---------------------------------------------------------------------------------------------- what is refused, and how

# caret TITLE PLACE LINE CARET ARGUMENT...: exit code 2, and on stderr the place, the line and a caret below it.
caret() {
    local title=$1 place=$2 line=$3 below=$4
    shift 4
    run kernel "$@" "${hip[@]}"
    check "$title: exit code" test "$status" = 2
    check "$title: the place" grep -qF "flynn kernel: $place" "$work/err"
    check "$title: the line" test "$(sed -n 2p "$work/err")" = "    $line"
    check "$title: the caret" test "$(sed -n 3p "$work/err")" = "    $below"
    check "$title: nothing on stdout" test ! -s "$work/out"
}
# text BODY: a kernel whose third line is that.
text() { printf '__global__ void k(float *out, int n)\n{\n%s\n}\n' "$1" >wrong.hip; }
part 3
text '    out[0] = sqroot(n);'
caret "a misspelt function" "wrong.hip:3:14: 'sqroot' is not known; did you mean 'sqrt'?" "    out[0] = sqroot(n);" \
    "             ^" wrong.hip out=1 1
text '    out[0] = lenght;'
caret "an unknown name" "wrong.hip:3:14: 'lenght' is not known" "    out[0] = lenght;" "             ^" wrong.hip out=1 1
text '    out[0] = __shfl_synk(-1, n, 0);'
caret "a misspelt warp function" "wrong.hip:3:14: '__shfl_synk' is not known" "    out[0] = __shfl_synk(-1, n, 0);" \
    "             ^" wrong.hip out=1 1
part 3
printf '#include <cstdio>\n#include <cuda_runtime.h>\ntypedef float real;\nnamespace course {\ntemplate <int N>\n__global__ void k(real *out, int n)\n{\n    out[0] = n + N;\n}\n}\n__global__ void other(float *out) { out[0] = 1; }\nint main() { course::k<3><<<1, 1>>>(nullptr, 2); printf("%%d", atoi("1")); }\n' >file.cu
run kernel file.cu out=1 4 --entry='course::k<3>' --expect=7 --backend=hip-cpu --repeat=3 --warmup=0
check "a file with a main" test "$status" = 0
check "a file with a main: the remark" grep -qF 'file.cu: left out, since the kernel does not name it: <cstdio>, <cuda_runtime.h>, main' "$work/err"
run kernel file.cu --backend=hip-cpu
check "several kernels" test "$status" = 2
check "several kernels: the list" grep -qF 'file.cu has several kernels, and --entry=NAME chooses one: k (line 6), other (line 11)' "$work/err"
printf '__device__ float helper(float x);\n__global__ void k(float *out, int n)\n{\n    out[0] = helper(n);\n}\n' >wrong.hip
caret "a function without a definition" "wrong.hip:4:14: 'helper' is used, and nothing here defines it" \
    "    out[0] = helper(n);" "             ^" wrong.hip out=1 1
printf 'extern "C" __device__ void exit(int);\n__global__ void k(float *out, int n)\n{\n    exit(n);\n}\n' >wrong.hip
caret "exit, which a GPU does not have" "wrong.hip:4:5: 'exit' is used" "    exit(n);" "    ^" wrong.hip out=1 1
part 1
caret "an entry" "two.hip:1:1: no kernel 'secnd' is defined here; did you mean 'second'?" 'extern "C" {' "^" two.hip out=1 \
    --entry=secnd
caret "--expect" "--expect:1:5: 'lg' is not known; did you mean 'log'?" "x + lg(x)" "    ^" "$increment" inout:0:4 4 \
    --expect='x + lg(x)'
refused "no such file" 2 none.hip kernel none.hip out 1 "${hip[@]}"
refused "too few arguments" 2 "1 argument is given; increment of $increment takes 2" kernel "$increment" out=1 "${hip[@]}"
refused "no shape" 2 "x has no shape" kernel "$increment" out 1 "${hip[@]}"
refused "a wrong shape" 2 "'out=0' is not an output" kernel "$increment" out=0 1 "${hip[@]}"
refused "a number for an output" 2 "expected out, out=SHAPE or inout:FILE" kernel "$increment" 5 1 "${hip[@]}"
refused "an array for a number" 2 "'a.npy': size is a number of i32" kernel "$increment" out=1 a.npy "${hip[@]}"
refused "a number that does not fit" 2 "its type holds -2147483648 to 2147483647" kernel "$increment" out=1 3000000000 \
    "${hip[@]}"
refused "a number with a point" 2 "expected a whole one" kernel "$increment" out=1 2.5 "${hip[@]}"
refused "f32 for int" 2 "a.npy: f32 does not fit values, which is i32" kernel "$kernels/histogram.hip" a.npy out 1 "${hip[@]}"
ok "but with --dtype" kernel "$kernels/histogram.hip" a.npy out=1 1485 --dtype=i32 "${hip[@]}"
printf '__global__ void k(int n) { }\n' >nothing.hip
refused "a kernel that writes nothing" 2 "has no output" kernel nothing.hip 1 "${hip[@]}"
refused "--expect of another size" 2 "counts.npy is 16, and x is 4" kernel "$increment" inout:0:4 4 --expect=counts.npy \
    "${hip[@]}"
refused "--expect of other arguments" 2 "takes other arguments" kernel "$increment" inout:0:4 4 --expect="$vector" "${hip[@]}"
refused "a constant" 2 "no __constant__ or __device__ variable 'f'" kernel "$increment" inout:0:4 4 --constant=f:a.npy \
    "${hip[@]}"
refused "a constant without a file" 2 "'f' is not NAME:FILE" kernel "$increment" inout:0:4 4 --constant=f "${hip[@]}"
refused "a definition" 2 "'=3' is not NAME or NAME=VALUE" kernel "$increment" inout:0:4 4 -D=3 "${hip[@]}"
refused "a grid" 2 "--grid" kernel "$increment" inout:0:4 4 --grid=0 "${hip[@]}"
refused "a block" 2 "allows at most 1024" kernel "$increment" inout:0:4 4 --block=2048 "${hip[@]}"
refused "shared memory" 2 "bytes of shared memory" kernel "$increment" inout:0:4 4 --shared=1G "${hip[@]}"
refused "a size with a file" 2 "--size: has no effect" kernel "$increment" inout:0:4 4 --size=5 "${hip[@]}"
refused "a processor" 3 "serial does not have kernel; \`flynn list\` shows which backends do" kernel --backend=serial

# ---------------------------------------------------------------------------------------------------------- faults

text '    out[threadIdx.x] = n / (n - 5) + *(int *)(long)(n == 7 ? 16 : (long)out);'
refused "a division by zero" 1 "the kernel divides an integer by zero" kernel wrong.hip out=300 5 "${hip[@]}"
refused "a wild pointer" 1 "the kernel fails: line 3: thread 0 of block 0 reads at NULL + 16" kernel wrong.hip out=300 7 "${hip[@]}"
refused "a wild pointer, unwatched" 1 "the kernel reads or writes memory that is not its own" kernel wrong.hip out=300 7 \
    --unwatched "${hip[@]}"
cat >deep.hip <<'END'
__device__ int deep(int n)
{
    volatile int a[64];
    a[n % 64] = n;
    return deep(n + a[n % 64]) + 1;
}
__global__ void k(int *out, int n) { out[threadIdx.x] = deep(n); }
END
refused "no stack left" 1 "calls itself too often" kernel deep.hip out=1 1 "${hip[@]}"
for call in "exit(0)" "_exit(0)" "_Exit(0)" "abort()"; do
    text "    if (threadIdx.x == n) __builtin_$call; out[threadIdx.x] = 1;"
    refused "$call" 1 "the kernel fails: k calls ${call%(*} instead of returning" kernel wrong.hip out=300 40 --block=300 \
        -o never.npy "${hip[@]}"
    check "$call: no file" test ! -e never.npy
done
part 3
# What only a macro of the command line mentions is known, too.
text '    if (threadIdx.x == n) LEAVE; ADD(out, 1, 0);'
refused "exit by a macro" 1 "the kernel fails: k calls exit instead of returning" kernel wrong.hip out=300 40 --block=300 \
    -D 'LEAVE=__builtin_exit(0)' -D ADD=0* "${hip[@]}"
sed -i 's/float \*out/int *out/' wrong.hip
ok "a compiler's atomic by a macro" kernel wrong.hip out=1 40 --block=30 --grid=1 -D LEAVE= -D ADD=__atomic_fetch_add --expect=30 "${hip[@]}"
part 2
text '    out[0] = *(volatile int *)&n; while (atomicAdd((int *)out, 0) != n + 1);'
run kernel wrong.hip out=300 1 --max-time=1 "${hip[@]}"
check "--max-time ends threads that wait for ever" test "$status" = 4 -a "$(wc -l <"$work/err")" = 1
text '    while (n)
        out[threadIdx.x] += 1;'
run kernel wrong.hip out=300 1 --max-time=1 "${hip[@]}"
check "--max-time ends an endless kernel" test "$status" = 4 -a "$(wc -l <"$work/err")" = 1
leaves_out 1 || timeout -s INT 2 "$flynn" kernel wrong.hip out=300 1 "${hip[@]}" >"$work/out" 2>"$work/err"
check "Ctrl-C ends it" test $? = 124

# ----------------------------------------------------------------------------------------------- compiler and cache

part 1
entries() { find "$FLYNN_CACHE/code" -name '*.code' | wc -l; }
new=(kernel "$increment" inout:0:10 10)
before=$(entries)
ok "a new macro" "${new[@]}" -D NEW=1 "${hip[@]}"
check "is compiled" test "$(entries)" -gt "$before"
before=$(entries)
ok "the same again" "${new[@]}" -D NEW=1 "${hip[@]}"
check "is not" test "$(entries)" = "$before"
last=("${new[@]}" -D NEW=2 "${hip[@]}")
PATH=/nonexistent "$flynn" "${last[@]}" >"$work/out" 2>"$work/err"
status=$?
check "no compiler" is_refused 3 "install g++"
ln -s "$(command -v c++)" own-c++
FLYNN_CXX=$PWD/own-c++ ok "FLYNN_CXX names the compiler" "${new[@]}" -D NEW=2 "${hip[@]}"
printf '__global__ void k(int *out) { out[0] = VALUE; }\n' >value.hip
FLYNN_DEFINE=VALUE=7 ok "a variable" kernel value.hip out=1 --expect=7 "${hip[@]}"
summary
