#!/bin/bash
# SPDX-License-Identifier: MIT
# What people type by instinct: it simply works, or it is refused with exit code 2 and the corrected command on a line of its
# own, which is then run as it stands.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# `flynn`, and a stand-in for the program that converts pictures.
mkdir "$work/bin"
ln -s "$flynn" "$work/bin/flynn"
printf '#!/bin/sh\n[ -e "$1" ] && cp image.png "$2"\n' >"$work/bin/convert"
chmod +x "$work/bin/convert"
numpy=
for candidate in "$PYTHON" /usr/bin/python3; do
    "$candidate" -c 'import numpy' 2>"$work/err" && numpy=$candidate && ln -sf "$candidate" "$work/bin/python3"
done
[ -n "$numpy" ] || echo "not tested: what NumPy converts, because no Python here has it"
export PATH=$work/bin:$PATH
unset FLYNN_BACKEND
export FLYNN_MIN_TIME=0.01

# Files that people have.
ask fixtures . >"$work/check"
cp grey8.png image.png
cp grey8.png photo.jpg
mkdir pictures
cp grey8.png pictures
printf '3\n1\n2\n' | tee x.csv >x.txt
cp line.npy 'two words.npy'
for name in a b; do
    "$flynn" sort --backend=serial --size=1000 --repeat=3 --json=$name.json >"$work/out" 2>"$work/err"
done
[ -n "$numpy" ] && "$numpy" -c 'import numpy as np; np.savez("z.npz", np.array([3.0, 1.0, 2.0]))'
cat >add.hip <<'END'
extern "C" __global__ void add(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + 1;
}
END

# typed WORDS: as a shell runs them.
typed() {
    last=("$@")
    timeout -k 10 $seconds bash -c "$1" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}

# corrected LINE: of the last command: exit code 2, a message, and this line after it.
corrected() {
    [ "$status" = 2 ] || { echo "expected exit code 2, got $status"; return 1; }
    [ "$(wc -l <"$work/err")" = 2 ] || { echo "expected two lines on stderr"; return 1; }
    [ "$(tail -1 "$work/err")" = "  $1" ] || { echo "expected '  $1', got '$(tail -1 "$work/err")'"; return 1; }
    [ ! -s "$work/out" ] || { echo "expected nothing on stdout"; return 1; }
}

# Each line: what is typed, and the corrected command; nothing: it works.
rows=0
while IFS='|' read -r words right; do
    words=${words%"${words##*[! ]}"} right=${right# }
    [ -n "$words" ] || continue
    [[ $words != kernel* ]] || "$flynn" kernel --size=10 --repeat=1 --warmup=0 >"$work/out" 2>"$work/err" || continue
    [[ $words != *npz* && $words != *x.csv* && $words != *x.txt* || -n $numpy ]] || continue
    rows=$((rows + 1))
    ! leaves_out 3 || continue
    typed "flynn $words"
    if [ -z "$right" ]; then
        if [ "$status" = 0 ]; then pass; else fail "$words" "expected it to work, got exit code $status"; fi
        continue
    fi
    check "$words" corrected "$right"
    typed "$right"
    if [ "$status" = 0 ]; then pass; else fail "$words" "the corrected command ends with exit code $status"; fi
done <<'END'
conv --size=32 -b serial            | flynn convolve --size=32 -b serial
help conv                           | flynn help convolve
help rooflin                        | flynn help roofline
help with-copis                     | flynn help with copies
roofline                            | flynn help roofline
convolve2d --size=32 -b serial      | flynn convolve --size=32 -b serial
convolv --size=32 -b serial         | flynn convolve --size=32 -b serial
max --size=9 -b serial              | flynn maximum --size=9 -b serial
matmul --size=32 -b serial
add line.npy line.npy -b serial     | flynn map 'x + y' line.npy line.npy -b serial
benchmark sort -b serial --size=1k | flynn compare sort -b serial --size=1k
check --help                        | flynn doctor --help
bandwidth -b serial --size=4096 --repeat=1 | flynn ceiling -b serial --size=4096 --repeat=1
gpu                                 | flynn info
run sort --size=1k -b serial        | flynn sort --size=1k -b serial
version                             | flynn --version
compare sorrt -b serial --size=1k   | flynn compare sort -b serial --size=1k
-b serial sort --size=1k
--size=1k --backend serial sort
-b serial                           | flynn sort -b serial
--help sort
sort --threads=2 --size=1k          | flynn sort --backend=omp:2 --size=1k
sort -t 2 --size=1k                 | flynn sort --backend=omp:2 --size=1k
sort -t2 --size=1k -b omp           | flynn sort --size=1k --backend=omp:2
sort 10000 -b serial                | flynn sort --size=10000 -b serial
sort -b serial 1e4                  | flynn sort -b serial --size=1e4
sort -b serial simd --size=1e4      | flynn sort --backend=serial,simd --size=1e4
sort serial simd --size=1e4         | flynn sort --size=1e4 --backend=serial,simd
sort 'two words.npy' simd           | flynn sort 'two words.npy' --backend=simd
primes 100 -b serial                | flynn primes --upto=100 -b serial
primes --variant=all -b serial --upto=100
sort --variant=all -b serial --size=1k
convolve photo.jpg -b serial        | convert photo.jpg photo.png && flynn convolve photo.png -b serial
show photo.jpg                      | convert photo.jpg photo.png && flynn show photo.png
sort x.csv -b serial                | python3 -c 'import numpy as np, sys; f, to = sys.argv[1:]; np.save(to, np.loadtxt(f, delimiter=","))' x.csv x.npy && flynn sort x.npy -b serial
sort x.txt -b serial                | python3 -c 'import numpy as np, sys; f, to = sys.argv[1:]; np.save(to, np.loadtxt(f))' x.txt x.npy && flynn sort x.npy -b serial
sort z.npz -b serial                | python3 -c 'import numpy as np, sys; f, to = sys.argv[1:]; np.save(to, next(iter(np.load(f).values())))' z.npz z.npy && flynn sort z.npy -b serial
sort --size=1k -b serial --columns=kernal      | flynn sort --size=1k -b serial --columns=kernel
sort --size=1k -b serial --columns=kernel,help | flynn sort --size=1k -b serial --columns=kernel
sort --size=1k -b serial --columns=help        | flynn sort --size=1k -b serial --wide
sort --size=1k -b serial --columns=backend,spread | flynn sort --size=1k -b serial --columns=backend
sort --size=1k -b serial --columns=kernel,with-copies
compare sort --size=1k -b serial --columns=spraed | flynn compare sort --size=1k -b serial --columns=spread
sweep sort --size=1k -b serial --columns=kernel,totl | flynn sweep sort --size=1k -b serial --columns=kernel,total
laws sort --threads=1,2 --size=1k --columns=amdahl | flynn laws sort --threads=1,2 --size=1k --columns=Amdahl
list --columns=wat                  | flynn list --columns=what
svd pictures -b serial --keep=2     | flynn batch pictures -b serial --keep=2
svd pictures -o low.png -k 2 -b serial | flynn batch pictures --output-dir=out -k 2 -b serial
kernel add.hip 0:100 out 100
compare a.json b.json               | flynn compare --against=a.json b.json
info omp
info opm                            | flynn info omp
list sort
list srot                           | flynn list sort
list -b omp
list omp                            | flynn list --backend=omp
sort --json j.json line.npy -b serial
sort --csv j.csv line.npy -b serial
convolve --json j.json image.npy kernel.npy -b serial
convolve image.npy kernel.npy -b serial --png=out.jpg | flynn convolve image.npy kernel.npy -b serial --png=out.png
show image.npy --png=out.jpg        | flynn show image.npy --png=out.png
END
check "a table" test "$rows" -gt 45

# What nobody can correct has no second line.
refused "a letter alone" 2 "'-b' is not a command; \`flynn --help\` lists them" -b
check "a letter alone: one line" test "$(wc -l <"$work/err")" = 1
refused "two numbers" 2 "'5' is a number and no file; expected --size=N" sort 5 6
check "two numbers: one line" test "$(wc -l <"$work/err")" = 1

# What was written is said in one line, on stderr.
written() {
    grep -qxF -- "$1" "$work/err" || { echo "expected '$1'"; return 1; }
}
quick=(--backend=serial --repeat=1 --warmup=0)
ok "what is written" convolve image.npy kernel.npy -o o.npy --png=p.png --json=q.json --csv=q.csv --trace=t.json "${quick[@]}"
check "an array" written "flynn convolve: o.npy is written: 5x5 f64"
check "a picture" written "flynn convolve: p.png is written: 5x5"
check "JSON" written "flynn convolve: q.json is written: 1 result"
check "CSV" written "flynn convolve: q.csv is written: 1 result"
check "a trace" written "flynn convolve: t.json is written: open it in ui.perfetto.dev"
ok "quietly" convolve image.npy kernel.npy -o o.npy --png=p.png --json=q.json --trace=t.json "${quick[@]}" --quiet
check "nothing is said with --quiet" test ! -s "$work/err"
ok "to a device" sort line.npy --json=/dev/null "${quick[@]}"
check "nothing of a device" test ! -s "$work/err"
# A picture of what is beyond 0..1: of -1, 0, 0.5, 2 a quarter is white, a quarter is black.
ok "a matrix" map 'x - 1' range:2x2 -o m.npy "${quick[@]}"
check "its elements" npy m.npy 'list(v) == [-1, 0, 1, 2]'
ok "a picture" show m.npy -o m.png
check "says what is white" written \
    "flynn show: m.png is written: 2x2; 25 % of it is above 1 and white, 25 % below 0 and black; --png=FILE scales its colours"
ok "of an exercise without --png" map 'x - 1' range:2x2 -o m.png "${quick[@]}"
check "names flynn show" grep -qF 'flynn show FILE.npy --png=FILE.png' "$work/err"
ok "zeros that are rounded: -5.6e-17" show phantom:256x170 -o head.png
check "are black as they should" written "flynn show: head.png is written: 256x170"
ok "less than half a grey level below 0" show fill:2x2,value=-0.0019 -o low.png
check "is rounded" written "flynn show: low.png is written: 2x2"
ok "more than half of one above 1" show fill:2x2,value=1.002 -o high.png
check "is lost" grep -qF 'high.png is written: 2x2; 100 % of it is above 1 and white, 0 % below 0' "$work/err"
ok "a picture within 0..1" show image.npy --dtype=f32 -o i.png
ok "a grey one" show image.png -o i.png
check "is only named" written "flynn show: i.png is written: 2x3"

# Binary output to a terminal.
for words in "sqrt --size=5" "show random:9" "slice image.npy --slice=0:1"; do
    read -ra last <<<"$words -o -"
    timeout -k 10 $seconds "$PYTHON" -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$flynn" "${last[@]}" \
        >"$work/out" </dev/null
    status=$?
    check "$words -o - on a terminal" grep -q 'the result is binary, and stdout is a terminal' "$work/out"
    check "$words -o -, corrected" grep -qF "  flynn $words --output=out.npy" "$work/out"
    check "$words -o -, exit code" test "$status" = 2
done
summary
