#!/bin/bash
# SPDX-License-Identifier: MIT
# What a command writes: no output destroys another one or an input, nothing is left by a kill, no name or document
# controls the terminal, and a child that died is reported.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--backend=serial --repeat=1 --warmup=0)

# ---------------------------------------------------------------------------------------------------- the same file

"$PYTHON" - "$here" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import files
open("in.npy", "wb").write(files.npy([float(i * 7 % 64) for i in range(64)], (64,)))
END
cp grey8.png a.png
cp "$saved/compare.json" o.json
mkdir f out
ln in.npy hard.npy
ln -s in.npy soft.npy
ln -s absent.npy dangling.npy
ln -s . here
cp in.npy b.npy

# both TITLE ONE OTHER ARGUMENT...: is refused before any work, with one line that names both.
both() {
    local title=$1 one=$2 other=$3
    shift 3
    refused "$title" 2 "$one" "$@"
    check "$title: both are named" grep -qF -- "$other" "$work/err"
    check "$title: in words" grep -qF "are the same file; expected different ones" "$work/err"
}
both "--json on the input" --json=in.npy "the input in.npy" sort in.npy --json=in.npy "${quick[@]}"
both "--csv on the input" --csv=in.npy "the input in.npy" sort in.npy --csv=in.npy "${quick[@]}"
both "--trace on the input" --trace=in.npy "the input in.npy" sort in.npy --trace=in.npy "${quick[@]}"
both "by a hard link" --json=hard.npy "the input in.npy" sort in.npy --json=hard.npy "${quick[@]}"
both "by a symbolic link" --json=soft.npy "the input in.npy" sort in.npy --json=soft.npy "${quick[@]}"
FLYNN_JSON=in.npy both "a variable" FLYNN_JSON=in.npy "the input in.npy" sort in.npy "${quick[@]}"
both "-o on the second input" --output=kernel.npy "the input kernel.npy" convolve image.npy kernel.npy -o kernel.npy \
    "${quick[@]}"
both "-o and --json" --output=a.npy --json=a.npy sort in.npy -o a.npy --json=a.npy "${quick[@]}"
both "--json and --csv" --json=q --csv=q sort in.npy --json=q --csv=q "${quick[@]}"
both "--json and --trace" --json=t --trace=t sort in.npy --json=t --trace=t "${quick[@]}"
both "through a folder" --json=here/q --csv=./q sort in.npy --json=here/q --csv=./q "${quick[@]}"
both "through a dangling link" --output=dangling.npy --json=absent.npy sort in.npy -o dangling.npy --json=absent.npy \
    "${quick[@]}"
both "a folder that is to come" --output=new/./u.npy "--factors=new (u.npy)" svd -o new/./u.npy --factors=new --size=8 \
    "${quick[@]}"
both "-o and --png" --output=p.png --png=./p.png convolve --size=8 -o p.png --png=./p.png "${quick[@]}"
both "--png on the input" --png=a.png "the input a.png" convolve a.png --png=a.png "${quick[@]}"
both "svd's factors and -o" --output=f/u.npy "--factors=f (u.npy)" svd --size=8 -o f/u.npy --factors=f "${quick[@]}"
both "svd's factors and --json" --json=f/s.npy "--factors=f (s.npy)" svd --size=8 --json=f/s.npy --factors=f \
    "${quick[@]}"
both "slice: --json on the array" --json=image.npy "the input image.npy" slice image.npy --json=image.npy "${quick[@]}"
both "slice: -o and --csv" --output=x.npy --csv=x.npy slice image.npy --slice=0:1 -o x.npy --csv=x.npy "${quick[@]}"
both "batch: --json on an image" --json=a.png "the input a.png" batch a.png --json=a.png
both "batch: --json on an output" --json=out/a.png "the output of a.png" batch a.png --output-dir=out \
    --json=out/a.png
# A second word for an option: the file that the first one names, or the check, would be missing.
second() { refused "a second word: $*" 2 ": is given twice, as 'q1' and 'q2'; expected one $1" "${@:2}"; }
for command in sort convolve "map x+1 0:4" "kernel --size=10" "show 0:4" "slice image.npy --slice=0:1" report; do
    # shellcheck disable=SC2086 # several words
    second FILE $command -o q1 --output=q2
done
second FILE sort --json=q1 --json=q2
second FILE sort --csv=q1 --csv=q2
second FILE sort --trace=q1 --trace=q2
second FILE convolve --png=q1 --png=q2
second WHAT kernel --expect=q1 --expect=q2
second DIR svd --factors=q1 --factors=q2
second DIR batch a.png --output-dir=q1 --output-dir=q2
refused "a second place" 2 "--json: is given twice, as '-' and 'q2'" sort --json --json=q2
ok "the same file" sort in.npy -o same.npy --output=same.npy "${quick[@]}"
FLYNN_OUTPUT=q1 ok "not a variable's" sort in.npy -o same.npy "${quick[@]}"
check "no such file was written" test ! -e q1 -a ! -e q2
mkdir linked
cp a.png linked/a.png
ln -s a.png linked/rgb.png
both "batch: two links to one output" "the output of a.png" "the output of rgb.png" batch a.png rgb.png \
    --output-dir=linked
both "compare: --json on --against" --json=o.json --against=o.json compare --against=o.json o.json --json=o.json
cp o.json n.json
both "compare: --json on the newer run" --json=n.json "the input n.json" compare --against=o.json n.json --json=n.json
both "report: the page on a document" --output=o.json "the input o.json" report o.json -o o.json
if command -v gnuplot >/dev/null; then # which report looks for first
    both "report: the page on a picture" --picture=a.png --output=a.png report o.json -o a.png --picture=a.png:x
fi
both "sweep: --json on what --save keeps" "--json=$work/cache/sweeps.json" "flynn sweep --save" sweep sort --save \
    --json="$work/cache/sweeps.json"
both "ceiling: --json on what it keeps" "--trace=$work/cache/ceilings.json" "flynn ceiling" ceiling \
    --trace="$work/cache/ceilings.json"

"$flynn" sort in.npy "${quick[@]}" --json=stdout.json >stdout.json 2>"$work/err"
status=$?
: >"$work/out"
check "--json on stdout's file" is_refused 2 "stdout and --json=stdout.json are the same file"
"$flynn" sort in.npy "${quick[@]}" >log 2>&1 # one file for both
status=$?
check "stdout and stderr in one file" test $status = 0

cp in.npy x.npy
ok "the result in the place of its input" sort x.npy -o x.npy "${quick[@]}"
check "it is sorted" npy x.npy 'list(v) == sorted(v) and len(v) == 64'
ok "/dev/null twice" sort in.npy --json=/dev/null --csv=/dev/null --trace=/dev/null "${quick[@]}"
ok "one input twice" convolve image.npy image.npy --json=/dev/null "${quick[@]}"
cp b.npy 3
ok "a number that is a file's name too" log_of_sum 3 4 --json=other.json "${quick[@]}"
ok "a link to nothing" sort in.npy -o dangling.npy "${quick[@]}"
check "what it leads to is made" npy absent.npy 'list(v) == sorted(v)'
check "the link stays" test -L dangling.npy
chmod 600 absent.npy
ok "a file that is there" sort in.npy -o absent.npy "${quick[@]}"
check "keeps its mode" test "$(stat -c %a absent.npy)" = 600

# ------------------------------------------------------------------------------------------------------- what is left

# ended NAME ARGUMENT...: sends the signal once a file is being written or written; ends by it.
ended() {
    local name=$1 folder=$2 process
    shift 2
    last=("$@")
    rm -rf "$folder"
    mkdir "$folder"
    "$flynn" "$@" >"$work/out" 2>"$work/err" </dev/null &
    process=$!
    until [ -n "$(ls -A "$folder")" ] || ! kill -0 $process 2>/dev/null; do :; done
    kill -"$name" $process
    wait $process 2>/dev/null
    status=$?
}
mkdir many
"$PYTHON" "$here/batch.py" noise many 60 64 64
slow=(--decompose-on=serial --svd=jacobi --keep=5) # 60 images take far longer than the first of them
export FLYNN_THREADS=1 FLYNN_CHUNK=2
for round in $(seq 5 | some 2); do
    ended HUP hung batch many/*.png --output-dir=hung "${slow[@]}"
    check "SIGHUP, round $round: ended by it" test $status = 129
    check "SIGHUP, round $round: only whole files" test -z "$(find hung -name '*.part')"
done
ended HUP hung sort --size=3000000 "${quick[@]}" -o hung/out.npy
check "SIGHUP to sort: nothing is half written" test -z "$(find hung -name '*.part')"

ended KILL hung batch many/*.png --output-dir=hung "${slow[@]}"
check "SIGKILL: ended by it" test $status = 137
touch hung/.flynn-a-host-f00-12-17-0.part hung/my.part
touch -d '2 days ago' hung/.flynn-a-host-f00-12-17-1.part
unset FLYNN_THREADS FLYNN_CHUNK
ok "the next run" batch many/*.png --output-dir=hung --keep=5 --resume
check "removes what the kill left, and nothing of others" test "$(cd hung && echo .flynn*.part *.part)" = \
    ".flynn-a-host-f00-12-17-0.part my.part"

# ------------------------------------------------------------------------------------------------ control characters

esc=$'\e[2J'
name=$esc$'\xc2\x9b2J\x7f\nforged: line\xff.png'
# clean TITLE: nothing on either stream of the last run controls a terminal, and no name begins a line of its own.
is_clean() {
    ! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$work/out" "$work/err" &&
        ! grep -aq '^forged' "$work/out" "$work/err"
}
clean() {
    check "$*: no control characters" is_clean
}
shown='\x1b[2J\u009b2J\x7f\nforged: line'

cp a.png "$name"
cp o.json "$name.json"
for words in "sort $name" "slice $name" "convolve $name" "svd $name" "batch $name" "report $name" \
    "compare --against=$name" "sort --json=$name/x" "sort -o $name" "list $name" "$name" "sort --$name" "sort --size=$name" \
    "sort --backend=$name" "sort --variant=$name" "sweep $name" "sweep sort --variant=$name" "doctor --root=$name" \
    "batch --factors=$name" "batch --pipeline=$name" "svd --size=8 --factors=$name" "compare $name" "laws $name" \
    "taxonomy $name" "report --picture=$name o.json -o page.html" "slice --size=8 --slice=$name"; do
    ! leaves_out 4 || continue
    command=${words%% *}
    run "$command" "${words#"$command" }"
    [ "$words" = "$name" ] && run "$words"
    clean "$command"
done
run sort "$name"
check "a name is shown" grep -qF -- "$shown" "$work/err"
FLYNN_VARIANT=$name run sort --size=8
clean "a variable"
FLYNN_CACHE=$work/cache/$esc run sweep --forget
clean "sweep --forget"
check "the cache's name is shown" grep -qF '\x1b[2J' "$work/out"
leaves_out 3 || OMP_NUM_THREADS=$name run doctor
sed -i '/^libgomp: Invalid/,$d' "$work/err" # the library's own words, which some releases end with the value
clean "doctor"
run batch a.png "$esc"$'\xc2\x9b\x7f\n.png' --json
clean "batch --json"
check "JSON keeps the name" json "$work/out" 'd["batch"]["runs"][0]["failures"][0]["input"] == "\x1b[2J\u009b\x7f\n.png"'
run batch "$name" missing.png
clean "batch"

# A plugin's own words.
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/hostile
while IFS= read -r words; do
    read -ra words <<<"$words"
    run "${words[@]}"
    clean "a plugin's words: ${words[*]}"
done < <(printf '%s\n' info "info --json" list "list --json" doctor "doctor --json" "convolve --size=8 --backend=hostile --repeat=1" \
    "convolve --size=8 --backend=hostile --repeat=1 --json" "convolve --size=8 --backend=hostile --repeat=1 --csv" \
    "compare convolve --size=8 --backend=hostile --repeat=1" \
    "compare convolve --size=8 --backend=hostile --repeat=1 --markdown" \
    "sweep convolve --size=8 --backend=hostile --repeat=1" | some 4)
run convolve --size=8 --backend=hostile --repeat=1 --json
check "JSON keeps them" json "$work/out" 'd["results"][0]["device"].endswith("\x1b[2J\u009b2J\x7f\nforged: line")'
run info
check "they are shown" grep -qF 'for tests\x1b[2J\u009b2J\x7f\nforged: line' "$work/out"

# Documents in which every text ends so.
"$PYTHON" - "$saved" <<'END'
import json, pathlib, sys
def spoil(value, key=None):
    if isinstance(value, dict):
        return {k: spoil(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [spoil(v, key) for v in value]
    return value + "\x1b[2J\u009b2J\x7f\nforged: line" if isinstance(value, str) and key != "schema" else value
for path in pathlib.Path(sys.argv[1]).glob("*.json"):
    pathlib.Path("bad-" + path.name).write_text(json.dumps(spoil(json.loads(path.read_text()))))
END
for style in "" --markdown --json; do
    run compare --against=bad-compare.json bad-compare.json $style
    clean "compare --against $style"
    check "compare --against $style: done" test $status = 0
done
for document in bad-*.json; do
    run report "$document" -o page.html
    clean "report $document"
    cp page.html "$work/out" 2>/dev/null
    clean "the page of $document"
done

# ------------------------------------------------------------------------------------------------- the result alone

# With -o and without an option that measures there is one pass, which is not called a measurement.
"$PYTHON" - <<'END'
import array, random, struct
def npy(name, descr, size, body):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({size},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + body)
random.seed(1)
few = array.array("f", [random.random() for _ in range(1024)])
for name, times in ("numbers.npy", 1), ("many.npy", 8 << 10):
    npy(name, "<f4", 1024 * times, few.tobytes() * times)
END
is_alone() {
    [ "$(sed -n 2p "$work/out" | tr -s ' ')" = "backend variant total samples check" ] &&
        sed -n 3p "$work/out" | grep -qE ' 1 ok( \(emulation\))?$' &&
        grep -qx 'one pass, with allocations and loading: not a measurement (--min-time=0.2 makes one)' "$work/out"
}
for backend in serial simd omp hip-cpu; do
    run sort numbers.npy -b $backend -o alone.npy
    [ $status != 3 ] || continue # it cannot run here
    check "$backend: a result alone" is_alone
    check "its file is announced" grep -qF 'alone.npy is written: 1024 f32' "$work/err"
    run sort numbers.npy -b $backend -o measured.npy --repeat=1
    check "$backend: the file of a measurement is the same" cmp alone.npy measured.npy
done
ok "one variant" sort numbers.npy --variant=bitonic --trace=t.json -o alone.npy
check "is one" is_alone
check "and the variant" grep -q bitonic "$work/out"
check "in one pass, says the trace" "$PYTHON" -c '
import json
names = [e["name"] for e in json.load(open("t.json"))["traceEvents"]]
assert "first pass" in names and "pass" not in names, names'
ok "with time to spare" sort numbers.npy -o alone.npy --max-time=100
check "is one, too" is_alone
check "without a remark" test "$(wc -l <"$work/err")" = 1
for measures in $(printf '%s\n' --repeat=1 --warmup=1 --min-time=0.01 --until=50% --flush --pageable --wrong-timing --json=m.json --csv=m.csv --wide \
    --columns=kernel -bserial,simd --variant=radix,bitonic --variant=all | some 4); do
    ok "$measures" sort numbers.npy -o measured.npy $measures
    check "$measures measures" bash -c '! grep -q "not a measurement" "$1" && grep -q kernel "$1"' _ "$work/out"
    check "$measures: the same result" cmp alone.npy measured.npy
done
FLYNN_REPEAT=2 run sort numbers.npy -o measured.npy
check "so does a variable" grep -q kernel "$work/out"
ok "no file" sort numbers.npy
check "is a measurement" grep -q kernel "$work/out"
cp numbers.npy same.npy
ok "over the input" sort same.npy -o same.npy
check "as over another" cmp same.npy alone.npy
ok "from a pipe to a pipe" sort numbers.npy -qo -
check "the same" cmp "$work/out" alone.npy
ok "a picture alone" convolve "$slice" -o alone.png
check "is written" grep -qF 'alone.png is written' "$work/err"
ok "a measured picture" convolve "$slice" -o measured.png --repeat=1
check "is the same" cmp alone.png measured.png

# Memory: beyond what a small input takes, arrays as many as NumPy has in a line: sort's input, which becomes the result, and its
# scratch; of others the input and the result. A third one would be too much. Each thread takes some for its part, so that two
# processors must do. Sanitizers keep what is freed.
peak() {
    "$PYTHON" - "$flynn" "$@" <<'END'
import os, resource, subprocess, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}
if [ -z "$emulated" ] && ! nm -D "$flynn" 2>/dev/null | grep -qE '__(a|t|m)san_'; then
    while IFS= read -r words; do
        read -ra words <<<"$words"
        few=$(peak "${words[0]}" numbers.npy "${words[@]:1}" -o alone.npy)
        most=$(peak "${words[0]}" many.npy "${words[@]:1}" -o alone.npy)
        check "${words[*]}: $(((most - few) / 1024)) MiB for an input of 32" test $((most - few)) -lt $((84 * 1024))
    done < <(printf '%s\n' "sort -b serial" "sort -b simd" "sort -b omp" "increment -b serial" "sqrt -b simd" "convolve1d -b simd" | some 2)
fi
rm -f many.npy

# ------------------------------------------------------------------------------------------------------------ children

ulimit -c 0
FAULT_CRASH=run run compare convolve --size=8 --backend=hostile
check "compare: a child that died is reported" grep -qF 'ended by signal 11 (Segmentation fault)' "$work/err" "$work/out"
FAULT_CRASH=run run sweep convolve --size=8 --backend=hostile --json
check "sweep: so is each combination's" json "$work/out" \
    'all("ended by signal 11 (Segmentation fault)" in c["reason"] and c["exit_code"] == 139 for c in d["cannot_run"])'
FAULT_CRASH=open run sweep convolve --size=8 --backend=hostile
sed -i '/^qemu: uncaught target signal/d' "$work/err"
check "sweep: and that of the one who asked the devices" is_refused 4 'ended by signal 11 (Segmentation fault)'
unset FLYNN_PLUGIN_PATH
if command -v gnuplot >/dev/null; then
    mkdir bin
    # shellcheck disable=SC2016 # for the script that is written
    printf '#!/bin/sh\n[ "$1" = --version ] && echo gnuplot 5 && exit\nkill -SEGV $$\n' >bin/gnuplot
    chmod +x bin/gnuplot
    PATH=$PWD/bin:$PATH refused "report: gnuplot died" 4 'ended by signal 11 (Segmentation fault)' report o.json -o g.html
fi
summary
