#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn show: what is printed, in which width and locale, what is written, what is refused. show_numpy.py has the numbers.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

# shows TITLE TEXT ARGUMENT...: the text of `flynn show` has this line, but for blanks at its start.
shows() {
    local title=$1 text=$2
    shift 2
    ok "$title" show "$@"
    check "$title: $text" grep -qxF -- "  $text" "$work/out"
}

# The course's square roots, as NumPy prints them.
ok "square roots" sqrt -o r.npy "${quick[@]}"
shows "square roots" "0 1 1.4142135 ... 63.97656 63.98437 63.992188" r.npy
check "where they come from" grep -qxF "r.npy: f32 4096, 16.0 KiB" "$work/out"
check "statistics" grep -q "^  from 0 at \[0\] to 63.992188 at \[4095\]; mean 42.6588, sum 174730" "$work/out"
check "a histogram, in ASCII" grep -q '^  0 [ .:=+*#@-]\{40\} 63.992188, highest 203$' "$work/out"
LC_ALL=C.UTF-8 run show r.npy
check "a histogram in blocks" grep -q '█' "$work/out"
check "ASCII in the locale C" sh -c '! LC_ALL=C "$1" show r.npy | LC_ALL=C grep -q "[^ -~]"' sh "$flynn"

# Arrays of all dimensions, and of none.
shows "a range" "0 1 2 3 4 5 6 7 8 9" 0:10
shows "a scalar" "7" fill:1,value=7 --crop=0
shows "a matrix" "  1  8  9  10  11  12  13  14  15" range:2x8
shows "four dimensions" "[0, 0]: the first of 6 matrices; others by --crop=1" range:2x3x4x5
shows "another matrix" "  3  115  116  117  118  119" range:2x3x4x5 --crop=1,2
shows "indices of the whole" " 98  980  981" range:100x10 --crop=98:,:2
shows "a vector by a step" "0 300 600 900" range:1000 --crop=::300
shows "one value" "all 7, sum 63" fill:9,value=7
check "no histogram of it" [ "$(wc -l <"$work/out")" = 3 ]
shows "NaN" "no finite element; 9 NaN" fill:9,value=nan
shows "infinities" "no finite element; 9 infinite" fill:9,value=-inf
ok "no element" show zeros:0x5
check "no element: one line" [ "$(cat "$work/out")" = "zeros:0x5: f32 0x5, 0 elements, 0 bytes" ]
ok "a picture" show "$slice" --crop=:9,:9
run show r.npy
check "from a pipe" sh -c '"$1" show - <r.npy | sed "s/^-:/r.npy:/" | cmp - "$2"' sh "$flynn" "$work/out"
pipe() { "$flynn" sqrt -o - "${quick[@]}" -q 2>/dev/null | "$flynn" show - r.npy; }
check "from one command to the other" pipe
cp r.npy random:9
ok "a file with a colon" show ./random:9
check "it is the file" grep -q "f32 4096" "$work/out"
ok "a word in spite of the file" show random:9
check "it is made" grep -q "f32 9" "$work/out"
rm random:9

# Two arrays.
run show ones:65536 fill:65536,value=1
check "they agree" [ "$status" = 0 ]
check "in words" grep -qxF "  all 65,536 elements agree (rtol 1e-05, atol 1e-08)" "$work/out"
run show range:65536 ones:65536
check "they differ" [ "$status" = 1 ]
check "how many" grep -qF "  65,535 of 65,536 differ" "$work/out"
check "the first one" grep -qxE " +\[0\] +0 +1" "$work/out"
check "how many more" grep -qxF "  and 65,530 more" "$work/out"
check "where" grep -qxF "  +$(printf '#%.0s' {1..63})" "$work/out"
run show ones:4 ones:2x2
check "two shapes" [ "$status" = 1 ]
check "two shapes, in words" grep -qxF "  the shapes differ" "$work/out"
ok "each" show ones:4 range:4 --each
check "each: no comparison" sh -c '! grep -q differ "$1"' sh "$work/out"
ok "three" show ones:4 range:4 zeros:4
check "three: three" [ "$(grep -c '^[a-z]*:4: f32 4, 16 bytes$' "$work/out")" = 3 ]

# Every width.
long=$(printf 'a-long-name%.0s' {1..12}).npy
cp r.npy "$long"
for width in 40 41 60 79 80 100 132 200; do
    for words in r.npy "$long" gaussian:15x15 random:300x300,dtype=f64 "range:2x3x4x5" "integers:500" "$long ones:4096" "random:64x64 ones:64x64"; do
        # shellcheck disable=SC2086 # several words
        COLUMNS=$width run show $words
        check "$width columns: $words" awk -v most="$width" 'length > most {print; bad = 1} END {exit bad || NR < 3}' "$work/out"
    done
done

# What is written.
ok "the courses' picture" show impulses:2048x2048 --crop=0:64,0:64 --png=c.png --zoom=8
check "its size" png c.png "(w, h) == (512, 512) and px(64, 64) == (253, 231, 37) and px(63, 64) == (68, 1, 84)"
ok "an array" show random:4x5,seed=3 -o kept.npy
check "its shape" npy kept.npy "shape == (4, 5)"
ok "a part" show kept.npy --crop=1:3,::2 -o part.npy
check "the part's shape" npy part.npy "shape == (2, 3)"
ok "JSON" show r.npy ones:4096 --each --json
check "JSON: two arrays" json "$work/out" '[a["name"] for a in d["arrays"]] == ["r.npy", "ones:4096"] and d["arrays"][0]["zeros"] == 1 and
    d["arrays"][0]["most_index"] == [4095] and sum(d["arrays"][0]["histogram"]) == 4096 and d["arrays"][1]["histogram"] == []'
run show r.npy ones:4096 --json
check "JSON: the comparison" json "$work/out" 'd["comparison"]["ok"] is False and d["comparison"]["failed"] == 4095 and
    d["comparison"]["first_wrong"][0] == {"index": [0], "result": 0, "expected": 1} and d["comparison"]["where"] == ["+" + "#" * 63]'

# In exercises: the result, and what is wrong with one.
ok "a result" sort --size=10 --show "${quick[@]}"
check "its line" grep -q '^result: f32 10, 40 bytes$' "$work/out"
ok "some of it" sort --size=100 --show=4 "${quick[@]}"
check "four elements" grep -qE '^  [0-9.e-]+ [0-9.]+ \.\.\. [0-9.]+ [0-9.]+$' "$work/out"

# --picture: each element two characters wide while that fits; each of the nine characters for a ninth of the range.
shows "a picture: five of the levels" "..--++##@@" range:2x9 --picture --crop=:1,:5
ok "a picture of each level" show range:1x9 --picture
check "its characters, and no elements" [ "$(tail -n +2 "$work/out")" = "  ..::--==++**##%%@@
  . 0 to @ 8
  from 0 at [0, 0] to 8 at [0, 8]; mean 4, sum 36; 1 zero" ]
ok "a matrix of other values" show fill:2x3,value=1 --picture
check "equal ones" [ "$(sed -n 2,4p "$work/out")" = "  ......
  ......
  . 1" ]
"$PYTHON" - "$here" <<'END_OF_SCRIPT'
import sys
sys.path.insert(0, sys.argv[1])
import files
nan, inf = float("nan"), float("inf")
open("nan.npy", "wb").write(files.npy([0, nan, 8, inf, -inf, 4], (2, 3), "<f4"))
open("large.npy", "wb").write(files.npy([-1.5e308, 1.5e308, 0, 0], (1, 4), "<f8"))
open("halves.npy", "wb").write(files.npy([i // (320 * 640) for i in range(640 * 640)], (640, 640), "<f4"))
END_OF_SCRIPT
ok "NaN" show nan.npy --picture
check "NaN and infinities" [ "$(sed -n 2,4p "$work/out")" = "  ..??@@
  @@..++
  . 0 to @ 8, ? NaN" ]
shows "numbers far apart" "..@@++++" large.npy --picture
shows "NaN alone" "no finite number, ? NaN" fill:2x2,value=nan --picture
ok "no element" show zeros:0x5 --picture
check "no element: no picture" [ "$(wc -l <"$work/out")" = 1 ]
ok "two pictures" show ones:4 range:4 --each --picture
for width in 40 80; do
    COLUMNS=$width run show halves.npy --picture
    tr -s '\n ' ' ' <"$work/out" >"$work/line"
    check "$width columns" awk -v width="$width" 'NR > 1 && /^  [.:=+*#%@-]+$/ {if (length != width) exit 1; count++} END {exit count != (width - 2) / 2}' "$work/out"
    check "$width columns: means" grep -qF " . 0 to @ 1; each is the mean of $(awk -v w="$width" 'BEGIN {printf "%.3g x %.3g elements", 1280 / (w - 2), 640 / (w - 2)}')" "$work/line"
    COLUMNS=$width run show range:9999x2 --picture
    check "$width columns: 40 lines at most" [ "$(grep -c '^  [.:=+*#%@-]$' "$work/out")" = 40 ]
    COLUMNS=$width run show range:2x9999 --picture
    check "$width columns: at least a line" [ "$(grep -cE "^  [.:=+*#%@-]{$((width - 2))}$" "$work/out")" = 1 ]
done
COLUMNS=80 ok "two halves" show halves.npy --picture
check "19 lines of each, and one between them" [ "$(sed -n 2,40p "$work/out" | cut -c3 | tr -d '\n')" = "...................+@@@@@@@@@@@@@@@@@@@" ]

# terminal NAME=VALUE... ARGUMENT...: what the command writes to a terminal of 40 columns.
terminal() {
    "$PYTHON" - "$work/terminal" env COLUMNS=40 TERM=xterm "$@" <<'END_OF_SCRIPT'
import os, subprocess, sys
ours, theirs = os.openpty()
process = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=theirs)
os.close(theirs)
with open(sys.argv[1], "wb") as out:
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # nobody writes there any more
            break
        out.write(data)
sys.exit(process.wait())
END_OF_SCRIPT
}
escape=$(printf '\033')
# viridis from its first to its last colour; of a column of two elements each has two lines of two characters.
check "a terminal" terminal LC_ALL=C.UTF-8 COLORTERM=truecolor "$flynn" show range:2x1 --picture
check "its colours" grep -qF "  $escape[38;2;68;1;84m$escape[48;2;68;1;84m▀$escape[38;2;68;1;84m$escape[48;2;68;1;84m▀$escape[0m" "$work/terminal"
check "the last one" grep -qF "  $escape[38;2;253;231;37m$escape[48;2;253;231;37m▀" "$work/terminal"
check "what they are" grep -q "^  violet 0 to yellow 1" "$work/terminal"
check "a terminal of 256 colours" terminal LC_ALL=C.UTF-8 COLORTERM= "$flynn" show range:80x80 --picture
check "the cube's colours" grep -qF "$escape[38;5;54m$escape[48;5;54m▀" "$work/terminal"
check "19 lines of 38 characters" [ "$(grep -o ▀ "$work/terminal" | wc -l)" = $((19 * 38)) ]
check "a terminal without colours" terminal LC_ALL=C.UTF-8 NO_COLOR=1 "$flynn" show range:1x9 --picture
check "has characters" grep -qF "  ..::--==++**##%%@@" "$work/terminal"
check "a terminal without UTF-8" terminal LC_ALL=C "$flynn" show range:1x9 --picture
check "has characters, too" grep -qF "  ..::--==++**##%%@@" "$work/terminal"
refused "a picture of two that are compared" 2 "--picture: has no effect: two arrays are compared; --each shows them" show ones:4 ones:4 --picture
refused "a picture in JSON" 2 "--picture: has no effect: --json prints no text" show ones:4 --picture --json

# What is refused, in one line.
refused "nothing" 2 "no array is given" show
refused "no file" 2 "missing.npy" show missing.npy
refused "another kind" 2 "the nearest is random" show randm:9
refused "no kind" 2 "expected zeros, ones, fill, range, random, integers, impulses, gaussian or phantom" show xyz:9
refused "no shape" 2 "'random:': '' is not a shape" show random:
refused "a wrong shape" 2 "'9y' is not a shape" show random:9y
refused "five dimensions" 2 "is not a shape" show random:1x2x3x4x5
refused "a head on a line" 2 "the shape has 1 dimension; expected 2" show phantom:9
refused "another key" 2 "random has no key 'too'; expected from, to, dtype or seed (the nearest is to)" show random:9,too=1
refused "a key of others" 2 "ones has no key 'seed'" show ones:9,seed=3
refused "no value" 2 "'to' is not KEY=VALUE" show random:9,to
refused "no number" 2 "to: 'x' is not a number" show random:9,to=x
refused "an infinite range" 2 "from: 'inf' is not a number" show range:9,from=inf
refused "half an integer" 2 "below: '1.5' is not a whole number" show integers:9,below=1.5
refused "nothing between" 2 "no number is from 3 on and below 3" show random:9,from=3,to=3
refused "too far apart" 2 "are too far apart" show random:3,from=-1e308,to=1e308,dtype=f64
refused "every nothing" 2 "every: '0' is not at least 1" show impulses:9,every=0
refused "another dtype" 2 "there is no dtype 'f16'; expected" show ones:9,dtype=f16
refused "another width" 2 "there is no width 'thin'; expected wide or narrow" show gaussian:9,width=thin
refused "no seed" 2 "seed: '-1' is not a whole number" show random:9,seed=-1
refused "too much for u8" 2 "u8 does not hold all of its numbers" show range:300,dtype=u8
refused "halves in i32" 2 "i32 does not hold all of its numbers" show fill:3,value=0.5,dtype=i32
refused "too much for u8 at random" 2 "u8 does not hold all of its numbers" show integers:9,below=257,dtype=u8
ok "all of u8" show integers:9,below=256,dtype=u8
refused "a range of more than memory" 4 "its data need" show 0:1e12
refused "more than memory" 4 "--max-memory" show ones:1M --max-memory=1M
refused "more than any memory" 4 "its data need" show ones:99999999x99999
refused "more than any machine" 2 "larger than a machine can address" show ones:999999999999x99999999999
refused "more than that, cut" 4 "its data need" show ones:99999999x99999 --crop=:,1:
refused "a slice back" 2 "the step is not at least 1" show ones:9 --crop=::-1
refused "no slice" 2 "'x' is not a slice" show ones:9 --crop=x
refused "an empty slice" 2 "'' is not a slice" show ones:9x9 --crop=1,
refused "too many slices" 2 "2 slices, and ones:9 has 1 dimension" show ones:9 --crop=1,1
refused "no such index" 2 "there is no index 9 among the 9 of dimension 0" show ones:9 --crop=9
refused "no such index from the end" 2 "there is no index -10" show ones:9 --crop=-10
refused "another number" 2 "--shape: 2x4 does not have the 9 elements of ones:9" show ones:9 --shape=2x4
refused "no shape at all" 2 "is not a shape" show ones:9 --shape=x
refused "a picture of nothing" 2 "a picture needs" show zeros:0x4 --png=none.png
refused "a grey picture of a vector" 2 "out.png" show ones:9 -o out.png
refused "another ending" 2 "must end in .npy or .png" show ones:9 -o out.txt
refused "no folder" 4 "none/out.npy" show ones:9 -o none/out.npy
refused "show nothing" 2 "--show: '0' is out of range" sort --show=0
summary
