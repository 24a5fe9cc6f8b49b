#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn convolve: inputs, modes, outputs, tables; and the options and variables that all exercises share.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)
golden=$operations/convolve/golden

# The exercise as it is, with the totals and peaks that are known.
ok "no input at all" convolve -o course.npy "${quick[@]}"
check "the wide Gaussian's total" npy course.npy \
    'shape == (2062, 2062) and descr == "<f8" and abs(sum(v) - 1182763.8256) < 1e-3'
check "its peak" npy course.npy 'abs(v[15 * 2062 + 15] - 1) < 1e-12'
ok "the narrow Gaussian" convolve --gaussian=narrow -o course.npy "${quick[@]}"
check "its total" npy course.npy 'abs(sum(v) - 627658.2459) < 1e-3'
ok "the same size" convolve --mode=same --size=64 --dtype=f32 -o course.npy "${quick[@]}"
check "its peak" npy course.npy 'shape == (64, 64) and descr == "<f4" and abs(v[8 * 64 + 8] - 1) < 1e-6'

# Against SciPy's results.
for name in tall_f64 even_f64 rank_one_f64 larger_kernel_f64; do
    for mode in full same valid; do
        ok "$name $mode" convolve "$golden/$name.image.npy" "$golden/$name.kernel.npy" --mode=$mode -o out.npy \
            "${quick[@]}"
        check "$name $mode against SciPy" close out.npy "$golden/$name.$mode.npy" 1e-13
    done
done
ok "f32 stays f32" convolve "$golden/tall_f32.image.npy" "$golden/tall_f32.kernel.npy" -o out.npy "${quick[@]}"
check "f32 against SciPy" close out.npy "$golden/tall_f32.full.npy" 1e-5
check "f32 in the file" npy out.npy 'descr == "<f4"'
ok "--dtype=f64" convolve "$golden/tall_f32.image.npy" "$golden/tall_f32.kernel.npy" --dtype=f64 -o out.npy \
    "${quick[@]}"
check "f64 against SciPy" close out.npy "$golden/tall_f32.full.npy" 1e-13
check "f64 in the file" npy out.npy 'descr == "<f8"'
ok "NaN and inf" convolve nan.npy one64.npy -o out.npy "${quick[@]}"
check "NaN and inf come through" close out.npy nan.npy 0

# Files of every kind, by way of a kernel of one element.
for file in image fortran big_endian version2 version3; do
    ok "$file.npy" convolve $file.npy one64.npy -o out.npy "${quick[@]}"
    check "$file.npy holds the image" close out.npy image.npy 0
done
for file in ints_u1 ints_i1 ints_i2 ints_u2 ints_i4 ints_i8 ints_f2; do
    ok "$file.npy" convolve $file.npy one64.npy -o out.npy "${quick[@]}"
    check "$file.npy holds the numbers" close out.npy ints.npy 0
done
for file in grey8 grey16 grey_alpha rgb rgba palette grey4; do
    ok "$file.png" convolve $file.png one.npy -o out.npy "${quick[@]}"
    check "$file.png is grey in 0..1" close out.npy grey.npy 2e-7
    check "$file.png is f32" npy out.npy 'descr == "<f4"'
done
ok "one bit a pixel" convolve bits.png one.npy -o out.npy "${quick[@]}"
check "one bit a pixel is 0 or 1" close out.npy bits.npy 0
ok "colours" convolve colours.png one.npy -o out.npy "${quick[@]}"
check "the weights of red, green and blue" close out.npy colours.npy 2e-7
ok "a brain" convolve "$slice" --mode=same -o out.npy "${quick[@]}"
check "a brain's size" npy out.npy 'shape == (217, 181) and min(v) >= 0 and max(v) > 1'

# Pictures.
ok "-o as a picture" convolve grey8.png one.npy -o out.png "${quick[@]}"
check "the same grey" png out.png '(w, h, colour) == (3, 2, 0) and [px(x, y) for y in (0, 1) for x in (0, 1, 2)] ==
    [(0,), (51,), (102,), (153,), (204,), (255,)]'
ok "-o clips" convolve image.npy one64.npy -o out.png "${quick[@]}"
check "below 0 is black, above 1 white" png out.png 'px(0, 0) == (0,) and px(3, 2) == (255,) and px(3, 1) == (128,)'
ok "a colour map" convolve image.npy one64.npy --png=out.png "${quick[@]}"
check "viridis from the minimum to the maximum" png out.png '(w, h, colour) == (4, 3, 2) and
    px(0, 0) == (68, 1, 84) and px(3, 2) == (253, 231, 37)'
ok "a corner, enlarged" convolve --crop=64x32 --zoom=3 --size=128 --png=out.png "${quick[@]}"
check "height times width, without smoothing" png out.png '(w, h) == (96, 192) and len({px(x, y) for x in (45, 46, 47)
    for y in (45, 46, 47)}) == 1 and px(45, 45) == (253, 231, 37)'
ok "a constant result" convolve one64.npy one64.npy --png=out.png "${quick[@]}"
check "a constant result has a colour" png out.png '(w, h) == (1, 1)'
ok "NaN as a colour" convolve nan.npy one64.npy --png=out.png "${quick[@]}"
check "a picture with NaN in it" png out.png '(w, h) == (2, 2)'

# Tables.
ok "the table" convolve --size=64 --backend=serial,omp:2 "${quick[@]}"
check "a row for each" test "$(grep -cE 'serial|omp' "$work/out")" -ge 2
ok "JSON" convolve --size=64 --backend=serial,simd,omp:2 --json --repeat=3
cp "$work/out" out.json
check "the document" json out.json 'd["schema"] == "flynn/2" and set(d) >= {"schema", "machine", "results", "skipped"}'
check "the machine" json out.json 'set(d["machine"]) >= {"host", "processor", "threads", "compiler", "flags"}'
check "three results" json out.json '[r["backend_requested"] for r in d["results"]] == ["serial", "simd", "omp:2"]'
check "every key" json out.json 'all(set(r) >= {"exercise", "backend_requested", "backend", "family", "emulation",
    "device", "flynn_class", "variant", "dtype", "shape", "block", "host_memory", "open_s", "cold_s", "h2d_s",
    "kernel_s", "d2h_s", "total_s", "times_s", "bytes", "bytes_requested", "flops", "gbytes_per_s", "gflops",
    "percent_of_ceiling", "check"} for r in d["results"])'
check "values" json out.json 'all(r["exercise"] == "convolve" and r["dtype"] == "f64" and r["shape"] == [78, 78] and
    r["variant"] == "separable" and r["emulation"] is False and r["kernel_s"] > 0 and r["total_s"] > 0 and
    r["cold_s"] > 0 and r["open_s"] >= 0 and r["bytes"] == 8 * (64 * 64 + 225 + 78 * 78) for r in d["results"])'
check "no copies on a processor" json out.json 'all(r["h2d_s"] == 0 and r["d2h_s"] == 0 for r in d["results"])'
check "all single times, and their median" json out.json 'all(len(r["times_s"]["kernel"]) == 3 and
    sorted(r["times_s"]["kernel"])[1] == r["kernel_s"] for r in d["results"])'
check "the check" json out.json 'all(set(r["check"]) >= {"ok", "method", "max_abs", "max_rel", "worst_index",
    "tolerance"} and r["check"]["ok"] is True and 0 <= r["check"]["max_abs"] < 1e-12 for r in d["results"])'
ok "JSON into a file" convolve --size=64 --json=out.json "${quick[@]}"
check "the file" json out.json 'len(d["results"]) == 1'
check "the table stays" test -s "$work/out"
ok "CSV" convolve --size=64 --backend=serial,simd --csv "${quick[@]}"
check "rows and columns" csv "$work/out" '[r["backend_requested"] for r in rows] == ["serial", "simd"] and
    all(float(r["kernel_s"]) > 0 for r in rows)'
ok "both, one of them into a file" convolve --size=64 --json --csv=out.csv "${quick[@]}"
check "CSV in the file" csv out.csv 'len(rows) == 1'
check "JSON on stdout" json "$work/out" 'd["schema"] == "flynn/2"'
ok "NaN in JSON" convolve nan.npy one64.npy --json "${quick[@]}"
check "is null or absent" json "$work/out" 'd["results"][0]["check"]["ok"] is True'
ok "--quiet" convolve --size=64 --quiet "${quick[@]}"
check "nothing on stderr" test ! -s "$work/err"
ok "a result for the first of two" convolve image.npy kernel.npy --backend=simd,serial -o out.npy "${quick[@]}"

# The error that the caller accepts.
ok "a tolerance" convolve --size=64 --tolerance=1e-6 --wide "${quick[@]}"
check "is in the table" grep -q 'variant .*tolerance  *bound' "$work/out"
check "and in the check's line" grep -q '^checked against: reference; within 1e-06 of the largest element$' "$work/out"
refused "a tolerance that f32 does not reach" 2 "expected at least 1.6e-05" convolve --size=64 --dtype=f32 --tolerance=1e-6 --variant=tiled \
    "${quick[@]}"
ok "info" info
if grep -q 'fft in f64' "$work/out"; then
    echo "not tested: fft with a tolerance: no library for it"
else
    ok "fft" convolve --size=200 --gaussian=wide --variant=fft --tolerance=1e-9 --json "${quick[@]}"
    check "its bound" json "$work/out" 'd["results"][0]["variant"] == "fft" and 1e-13 < d["results"][0]["bound"] < 1e-10 and
        d["results"][0]["check"]["max_abs"] < 1e-9'
    refused "less than fft reaches" 2 "a tolerance of 1e-15 is less than fft" convolve --size=200 --variant=fft --tolerance=1e-15 "${quick[@]}"
fi

# Variants, blocks, variables.
for variant in naive tiled separable auto reference; do
    ok "variant $variant" convolve --size=64 --variant=$variant --backend=serial --json "${quick[@]}"
    [ $variant = auto ] || check "$variant ran" json "$work/out" "d['results'][0]['variant'] == '$variant'"
done
ok "a block" convolve --size=64 --variant=tiled --block=32x8 --backend=serial "${quick[@]}"
export FLYNN_BACKEND=serial FLYNN_SIZE=32 FLYNN_MODE=same FLYNN_REPEAT=1
ok "variables" convolve --json
check "variables count" json "$work/out" \
    'd["results"][0]["backend_requested"] == "serial" and d["results"][0]["shape"] == [32, 32]'
ok "options beat variables" convolve --json --backend=simd --mode=full
check "the option's value" json "$work/out" \
    'd["results"][0]["backend_requested"] == "simd" and d["results"][0]["shape"] == [46, 46]'
FLYNN_MODE=fulll refused "a wrong variable" 2 FLYNN_MODE convolve
FLYNN_BACKEND='' ok "an empty variable counts as not set" convolve --json
unset FLYNN_BACKEND FLYNN_SIZE FLYNN_MODE FLYNN_REPEAT
ok "--pageable" convolve --size=64 --pageable --json "${quick[@]}"
check "reported as such, but for a processor, which copies nothing" json "$work/out" \
    'all(r["host_memory"] == ("in place" if r["family"] == "cpu" else "pageable") for r in d["results"])'
ok "--wrong-timing" convolve --size=64 --backend=serial --wrong-timing --json "${quick[@]}"
check "the time until the call returned" json "$work/out" '0 < d["results"][0]["call_s"] == d["results"][0]["times_s"]["call"][0]'
ok "--wrong-timing in words" convolve --size=64 --backend=serial --wrong-timing "${quick[@]}"
check "beside the right one" grep -q '^serial: without waiting the clock shows .*; the work takes ' "$work/out"
ok "a trace" convolve --size=64 --backend=serial,omp:2 --variant=tiled --trace=trace.json "${quick[@]}"
check "host, copies and kernels, with the variant's name" json trace.json \
    '{e["args"]["name"] for e in d["traceEvents"] if e["ph"] == "M"} >= {"host", "serial", "thread 1", "stream 1, kernels",
     "stream 1, copies to device"} and {e["name"] for e in d["traceEvents"] if e["ph"] == "X"} >= {"open serial",
     "first pass", "pass", "check", "convolve tiled", "copy to device"} and
     all(e["dur"] >= 0 and e["ts"] >= 0 for e in d["traceEvents"] if e["ph"] == "X")'
refused "a trace that cannot be written" 4 no/such/folder convolve --trace=no/such/folder/trace.json
refused "a trace without a name" 2 --trace convolve --trace=
ok "an option between files" convolve image.npy --mode=valid kernel.npy -o out.npy "${quick[@]}"

# Files that are there already.
echo old >out.npy
ok "replaces a file" convolve image.npy one64.npy -o out.npy "${quick[@]}"
check "the new file" close out.npy image.npy 0
ln -sf target.npy link.npy
: >target.npy
ok "follows a link" convolve image.npy one64.npy -o link.npy "${quick[@]}"
check "what the link points to" close target.npy image.npy 0
check "the link is still one" test -L link.npy
ok "reads what it writes" convolve out.npy one64.npy -o out.npy "${quick[@]}"
check "the same numbers" close out.npy image.npy 0
check "no temporary file" test -z "$(find . -name '.*' -type f -o -name '*tmp*' -o -name '*~')"

# The other commands.
for arguments in --version --help "convolve --help" "list --help" "info --help" "convolve --usage" \
    "convolve --version"; do
    # shellcheck disable=SC2086 # two words are two arguments
    ok "$arguments" $arguments
    check "$arguments says something" test -s "$work/out"
    check "$arguments on stdout" test ! -s "$work/err"
done
ok "list of one" list convolve
for word in convolve naive tiled separable reference f32 f64 serial simd omp; do
    check "list tells $word" grep -qw $word "$work/out"
done
check "and of nothing else" test "$(cut -d' ' -f1 "$work/out" | sort -u | tr '\n' ' ')" = "convolve operation "
ok "list in short" list
for word in convolve naive tiled separable f32 f64 serial simd omp; do
    check "list in short tells $word" grep -qw $word "$work/out"
done
sed '1d; /^on /,$d; s/ .*//' "$work/out" >names
check "list in short: exercises, in the order of --exercises" diff names <("$flynn" --exercises | grep -xFf names)
check "list: rows that differ in their dtypes alone are one" test "$("$flynn" list convolve | sort | uniq -d | wc -l)" = 0
check "list in short: all of serial" test "$(wc -l <names)" -ge 19
check "list in short: no operation that only serves others" test "$(grep -cE '^(convert|copy|merge|multiply_add|qr) ' "$work/out")" = 0
ok "list of all" list --long
check "list of all has them" test "$(cut -d' ' -f1 "$work/out" | sort -u | grep -cE '^(convert|copy|merge|multiply_add|qr|sort)$')" = 6
ok "list of a backend" list --backend=serial
check "list of a backend: where what is" grep -qx 'on serial' "$work/out"
check "list of a backend: without kernel" test "$(grep -c '^kernel ' "$work/out")" = 0
refused "list --long in JSON" 2 "--long: has no effect: --json has all of it" list --long --json
# Lists of variants.
ok "two variants" convolve --size=40 --backend=serial,simd --variant=naive,tiled --repeat=1 --json
check "have a row each, on each backend" json "$work/out" '[(r["backend"], r["variant"]) for r in d["results"]] ==
    [(b, v) for b in ("serial", "simd") for v in ("naive", "tiled")] and all(r["check"]["ok"] for r in d["results"])'
ok "all variants" convolve --size=40 --backend=serial --variant=all --repeat=1 --json
check "are those that are listed" json "$work/out" '{r["variant"] for r in d["results"]} >= {"naive", "tiled", "separable"} and
    not {"auto", "reference"} & {r["variant"] for r in d["results"]}'
"$PYTHON" -c 'import random, struct, sys
numbers = [random.random() for _ in range(25)]
sys.stdout.buffer.write(b"\x93NUMPY\x01\x00v\x00" + (b"{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": (5, 5), }".replace(b"\"", b"\x27").ljust(117) + b"\n") + struct.pack("<25d", *numbers))' >mixed.npy
ok "one that this kernel is not for" convolve "$slice" mixed.npy --backend=serial --variant=all --repeat=1 --json
check "is left out" json "$work/out" '"separable" not in {r["variant"] for r in d["results"]} and len(d["results"]) >= 2'
check "with a remark" grep -q "separable is left out" "$work/err"
refused "a misspelt one" 2 "--variant: no backend named here has the variant 'tild'" convolve --size=9 --variant=naive,tild
refused "an empty one" 2 "--variant: 'naive,' has an empty name" convolve --variant=naive,
refused "all and others" 2 "--variant: 'all,naive' names all and others" convolve --variant=all,naive
for command in "batch --size=8" laws taxonomy; do
    read -ra words <<<"$command"
    refused "a list for ${words[0]}" 2 "--variant: 'a,b' is a list" "${words[@]}" --variant=a,b
done
summary
