#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn svd: the phantom, images, matrices, factors, and what it tells.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

# The exercise as it is, on every backend: what 100 components leave of the phantom, by SciPy's values.
ok "no input at all" svd --backend=simd,omp --json "${quick[@]}"
cp "$work/out" out.json
check "each backend" json out.json 'all(r["check"]["ok"] for r in d["results"]) and len(d["results"]) >= 1'
check "what is reported" json out.json 'all(r["exercise"] == "svd" and r["singular_values"] == 100 and r["dtype"] == "f32"
    and r["shape"] == [512, 100] and r["reconstruct_s"] > 0 for r in d["results"])'
check "the error is the least" json out.json 'all(abs(r["error"] - r["least_error"]) < 1e-4 * r["norm"] and
    abs(r["implied_error"] - r["least_error"]) < 1e-3 * r["norm"] for r in d["results"])'
check "the phantom's" json out.json 'all(abs(r["least_error"] - 8.43812) < 1e-4 for r in d["results"])'
check "compression" json out.json 'all(abs(r["compression"] - 512 * 512 / (100 * 1025)) < 1e-9 for r in d["results"])'
ok "randomized" svd --variant=randomized --backend=serial,omp:2 --json "${quick[@]}"
check "near the least, within what is expected" json "$work/out" 'all(r["variant"] == "randomized" and
    r["least_error"] * 0.9999 < r["error"] < 1.1 * r["least_error"] < r["randomized_bound"] for r in d["results"])'
# Matrices without full rank, whose missing directions are chosen at will: orthonormal to the others, too.
for arguments in "--size=48 --seed=2" "--size=48 --seed=5" "--size=64 --seed=2"; do
    read -ra words <<<"$arguments"
    ok "randomized, all vectors, $arguments" svd "${words[@]}" --variant=randomized --backend=serial,simd,omp "${quick[@]}"
done
ok "jacobi" svd --variant=jacobi --size=96 --keep=40 --backend=serial,simd,omp:2 --json "${quick[@]}"
check "jacobi ran" json "$work/out" 'all(r["variant"] == "jacobi" and r["check"]["ok"] for r in d["results"])'
# The scalar baseline is no library that chooses vectors itself: such a row has no class, and gives no speed-up.
classes='[(r["flynn_class"], r["variant"], r["speed_up"] is None) for r in d["results"]]'
ok "serial and simd" svd --size=64 --keep=5 --backend=serial,simd --json "${quick[@]}"
check "rotations are the baseline" json "$work/out" "$classes == [('SISD', 'jacobi', False), ('SIMD', 'library', False)] and
    d['results'][0]['speed_up'] == 1"
ok "a library alone" svd --size=64 --keep=5 --backend=serial,simd --variant=library --json "${quick[@]}"
check "is no baseline" json "$work/out" "$classes == [(None, 'library', True), ('SIMD', 'library', True)]"
ok "both" svd --size=64 --keep=5 --backend=serial --variant=library,jacobi --json "${quick[@]}"
check "rotations are its baseline" json "$work/out" "$classes == [(None, 'library', False), ('SISD', 'jacobi', False)] and
    d['results'][1]['speed_up'] == 1"
ok "where rotations would take too long" svd --size=700 --keep=5 --backend=serial --json "${quick[@]}"
check "the library runs" json "$work/out" "$classes == [(None, 'library', True)]"
ok "qsort" sort --size=1k --variant=library --backend=serial --json "${quick[@]}"
check "is scalar" json "$work/out" "$classes == [('SISD', 'library', False)]"
ok "a library in f32 alone" svd --size=64 --keep=5 --backend=serial,simd --dtype=f64 --variant=single --json "${quick[@]}"
check "is no baseline, either" json "$work/out" "$classes == [(None, 'single', True), ('SIMD', 'single', True)]"

# single: f64 in f32, held to the rounding of f32; auto takes it with a tolerance that it keeps, where it is faster.
f64=(svd --size=64 --keep=50 --dtype=f64 --backend=simd "${quick[@]}")
ok "single" "${f64[@]}" --variant=single,library --json
cp "$work/out" single.json
check "is right" json single.json '[r["variant"] for r in d["results"]] == ["single", "library"] and all(r["check"]["ok"] for r in d["results"])'
check "is less exact, and says so" json single.json '(lambda one, all: 1e-9 < one["max_abs"] < 1e-4 and all["max_abs"] < 1e-11 and
    one["method"].endswith("; to the rounding of f32") and "f32" not in all["method"])(*(r["check"] for r in d["results"]))'
check "stays near the least error" json single.json 'all(r["error"] < r["least_error"] + 1e-5 * r["norm"] for r in d["results"])'
bound='abs(r["bound"] - (33 + 8 * 8) * 2 ** -24) < 1e-12'
ok "a tolerance" "${f64[@]}" --tolerance=1e-5 --json
check "is that of single" json "$work/out" "all(r['variant'] in ('single', 'jacobi') and r['tolerance'] == 1e-5 and
    (r['variant'] == 'jacobi' or $bound) and r['check']['ok'] for r in d['results'])"
ok "less than single reaches" "${f64[@]}" --tolerance=5e-6 --json
check "is another variant's" json "$work/out" 'all(r["variant"] != "single" and r["bound"] < 1e-13 for r in d["results"])'
ok "single with a tolerance, in the table" "${f64[@]}" --variant=single --tolerance=1e-3 --columns=variant,tolerance,bound,check
check "which has both" grep -Eq '^single +0.001 5.78e-06 ok' "$work/out"
refused "single below its bound" 2 "reaches here in f64; expected at least 5.8e-06" \
    "${f64[@]}" --variant=single --tolerance=1e-7
refused "single in f32" 2 "does not compute in f32" svd --size=16 --variant=single --backend=simd

ok "the table" svd --size=64 --keep=5 --backend=serial "${quick[@]}"
for words in " f32, 5 components in f32" "compressed 6.35 : 1" "a - a_k" "the least possible with 5 components is" reconstruct; do
    check "the table tells '$words'" grep -qF -- "$words" "$work/out"
done

# A list of --keep is a row each, as one by one; the speed-ups are among rows of as many components, and each variant has its own error.
ok "three numbers of components" svd --size=48 --keep=20,5,48 --backend=serial,simd --variant=jacobi,randomized --json "${quick[@]}"
cp "$work/out" keeps.json
check "a row for each of them, backend and variant" json keeps.json '[(r["singular_values"], r["backend"], r["variant"])
    for r in d["results"]] == [(k, b, v) for k in (20, 5, 48) for b in ("serial", "simd") for v in ("jacobi", "randomized")]'
check "in order among those of one number of components" json keeps.json 'all(sorted(r["place"] for r in d["results"][i:i + 4] if not r["disturbed"]) ==
    list(range(1, 1 + sum(not r["disturbed"] for r in d["results"][i:i + 4]))) and
    d["results"][i]["speed_up"] == 1 for i in (0, 4, 8))'
check "of its shape" json keeps.json 'all(r["shape"] == [48, r["singular_values"]] for r in d["results"])'
check "all right" json keeps.json 'all(r["check"]["ok"] for r in d["results"])'
check "each variant has its own error" json keeps.json 'all(len({r["error"] for r in d["results"][i:i + 2]}) == 2 for i in range(0, 12, 2))'
for keep in 20 5; do
    ok "$keep components alone" svd --size=48 --keep=$keep --backend=serial --variant=jacobi --json "${quick[@]}"
    check "has the same error" "$PYTHON" -c 'import json, sys
one, many = (json.load(open(p))["results"] for p in sys.argv[1:])
assert [(r["error"], r["implied_error"]) for r in many if (r["singular_values"], r["variant"], r["backend"]) ==
        (one[0]["singular_values"], "jacobi", "serial")] == [(one[0]["error"], one[0]["implied_error"])]' "$work/out" keeps.json
done
cat image.npy | "$flynn" svd - --keep=1,3 --backend=serial --json "${quick[@]}" >"$work/out"
check "components of a pipe" json "$work/out" '[r["singular_values"] for r in d["results"]] == [1, 3]'
ok "the table of several" svd --size=48 --keep=5,20 --backend=serial "${quick[@]}"
for words in "2 numbers of components in f32" "with 5 components is" "with 20 components is"; do
    check "tells '$words'" grep -qF -- "$words" "$work/out"
done
check "the processor once" test "$(grep -c '^serial: [^|s]' "$work/out")" = 1
ok "several, until the time is over" svd --size=512 --variant=library --keep=5,10,20 --backend=serial --min-time=60 --max-time=2 --json
check "start no other one" json "$work/out" '[r["singular_values"] for r in d["results"]] == [5]'
check "which is reported" grep -q -- "--max-time: the time was over after [0-9]* timed passes; 1 of 3 rows" "$work/err"
refused "a file for several" 2 "--output: needs a single value of --keep; 2 are given" svd --keep=5,20 -o out.npy
refused "factors of several" 2 "--factors: needs a single value of --keep; 2 are given" svd --keep=5,20 --factors=two
check "leave no folder" test ! -e two
refused "one of several is too large" 2 "49 is more than the 48" svd --size=48 --keep=5,49
refused "no number" 2 "'5,,20' has an empty value" svd --keep=5,,20
refused "one that is not a number" 2 "'x' is not a whole number" svd --keep=5,x
refused "too many" 2 "too many values; expected at most 32" svd "--keep=$(seq -s, 33)"

# Images come back in their own range, matrices as they are.
ok "a brain" svd "$slice" --keep=20 -o brain.npy --factors=factors --json "${quick[@]}"
check "its least error" json "$work/out" 'abs(d["results"][0]["least_error"] - 7.99729) < 1e-4'
check "its size and range" npy brain.npy 'shape == (217, 181) and descr == "<f4" and -0.3 < min(v) and 0.4 < max(v) < 1'
check "u" npy factors/u.npy 'shape == (217, 20) and descr == "<f4"'
check "s" npy factors/s.npy 'shape == (20,) and list(v) == sorted(v, reverse=True) and v[-1] > 0'
check "vt" npy factors/vt.npy 'shape == (20, 181)'
ok "factors for reconstruct" reconstruct factors/u.npy factors/s.npy factors/vt.npy -o again.npy "${quick[@]}"
ok "a picture" svd "$slice" --keep=181 -o brain.png "${quick[@]}"
check "of full rank it is the picture again" "$PYTHON" - "$here" "$slice" brain.png <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import files
a, b = files.read_png(sys.argv[2])[4], files.read_png(sys.argv[3])[4]
assert all(abs(x - y) <= 1 for p, q in zip(a, b) for x, y in zip(p, q))
PY
"$PYTHON" -B -c 'import sys; sys.path.insert(0, sys.argv[1]); import files
open("constant.png", "wb").write(files.png(4, 3, 8, 0, [[51] * 4] * 3))' "$here"
ok "a constant image" svd constant.png -o out.npy --json "${quick[@]}"
check "is zeros, which have a decomposition" json "$work/out" 'd["results"][0]["norm"] == 0'
check "and comes back in its own range" npy out.npy 'shape == (3, 4) and all(abs(x - 0.2) < 1e-6 for x in v)'
ok "a matrix as it is" svd ints.npy -o out.npy "${quick[@]}"
check "integers in f64, of full rank" close out.npy ints.npy 1e-12
check "in f64" npy out.npy 'descr == "<f8"'
ok "--dtype" svd image.npy --dtype=f32 -o out.npy "${quick[@]}"
check "in f32" npy out.npy 'descr == "<f4"'
check "the matrix again" close out.npy image.npy 1e-5

# What is wrong.
refused "no components" 2 --keep svd --keep=0
refused "more than there are" 2 "4 is more than the 3 singular values" svd image.npy --keep=4
refused "more than the phantom has" 2 --keep svd --size=16 --keep=17
refused "not finite" 2 "not finite" svd nan.npy
refused "no such file" 2 nothing.npy svd nothing.npy
refused "a size for a file" 2 --size svd image.npy --size=64
refused "a size beyond all" 2 --size svd --size=99999
refused "integers" 2 --dtype svd --dtype=i32
refused "three dimensions" 2 "expected 2 dimensions" svd cube.npy
refused "an ending" 2 out.txt svd -o out.txt
refused "no folder" 2 nowhere/deep svd --factors=nowhere/deep
refused "two files" 2 second.npy svd image.npy second.npy
refused "a variant" 2 randomized svd --variant=randomised
# On a GPU: a solver that is found, and is not a library. auto goes to the host and says so; asked for by name it fails.
mkdir broken
for name in libcusolver.so.11 libcusolver.so.12 librocsolver.so.0; do
    echo "no library" >broken/$name
done
libraries=${LD_LIBRARY_PATH:-}
for backend in hip-nvidia hip-amd; do
    export LD_LIBRARY_PATH=$libraries
    run svd --size=20 --backend=$backend "${quick[@]}"
    [ "$status" = 0 ] || continue
    export LD_LIBRARY_PATH=$PWD/broken${libraries:+:$libraries}
    ok "a broken solver" svd --size=20 --keep=5 --backend=$backend --json "${quick[@]}"
    check "is reported" json "$work/out" 'd["results"][0]["variant"] == "host" and d["results"][0]["check"]["ok"]'
    ok "a broken solver and a sketch" svd --size=20 --keep=5 --variant=randomized --backend=$backend "${quick[@]}"
    refused "a broken solver by name" 3 solver svd --size=20 --variant=library --backend=$backend
done
export LD_LIBRARY_PATH=$libraries

ok "list" list svd
for word in svd jacobi single randomized; do
    check "list tells $word" grep -qw $word "$work/out"
done
summary
