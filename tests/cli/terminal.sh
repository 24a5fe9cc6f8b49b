#!/bin/bash
# SPDX-License-Identifier: MIT
# What commands show on a terminal while they run: what is under way, in one line that is gone at the end.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
export NO_COLOR=1
erase=$'\r\e[K'

# on_terminal ARGUMENT...: `run`, whose stderr is a terminal.
on_terminal() {
    ! leaves_out 1 || return 0
    last=("$@")
    timeout -k 10 $seconds "$PYTHON" "$here/terminal.py" "$work/out" "$work/err" "$flynn" "$@"
    status=$?
}

# shown TITLE LINE...: on the terminal were these lines, in this order, among others, and at the end none. Remarks may stay
# (on a busy machine there is one about the times): they end with a line end, which what is under way never has.
shown() {
    local title=$1 line rest
    ! is_left_out || { left_out=$((left_out + 1)); return 0; }
    shift
    rest=$(sed 's/, [0-9]* s\(, [0-9]* s left, until [0-9:]*\)\{0,1\} \.\.\./ .../g' "$work/err"; echo x) # times are not part of it
    rest=${rest%x}
    [ "$status" = 0 ] || { fail "$title" "expected exit code 0, got $status"; return; }
    for line; do
        [[ $rest == *"$erase$line ...$erase"* ]] || { fail "$title" "expected '$line'"; return; }
        rest=$erase${rest#*"$erase$line ...$erase"}
    done
    rest=${rest##*"$erase"}
    if [[ -z $rest || $rest == *$'\n' ]]; then pass; else fail "$title" "something is left on the terminal"; fi
}

# hidden: nothing of what was under way is on stderr.
hidden() {
    ! grep -qF -e $'\e' -e ' ...' "$work/err"
}

on_terminal sort --backend=serial --size=4000000 --repeat=3
shown "an exercise" "serial: first pass" "serial: pass 1 of 3" "serial: checking"
check "its table" grep -q '^serial .* ok$' "$work/out"
part 3
on_terminal sort --backend=serial,simd --size=4000000 --min-time=0.5
shown "backends in turns" "serial: first pass" "simd: first pass" "serial: pass 1" "simd: pass 1" "simd: checking"
part 3
on_terminal sort --backend=serial --size=4000000 --repeat=3 --json=out.json
shown "with a file" "serial: first pass"
part 3
on_terminal sort --backend=serial --size=4000000 --repeat=3 --quiet
check "--quiet" test ! -s "$work/err" -a "$status" = 0
ok "no terminal" sort --backend=serial --size=4000000 --repeat=3
check "no terminal" hidden

part 2
on_terminal map 'x + 0.5' 0:1000 --backend=serial --repeat=1
shown "map" "FUNCTION: compiling" "FUNCTION: running" "serial: first pass"
part 3
on_terminal ceiling --backend=serial --size=1000000 --min-time=0.01
shown "ceiling" "serial: copy on the device" "serial: launch, and wait for it"
part 2
on_terminal slice --backend=serial --size=1000 --min-time=0.01
shown "slice" "serial: slice 1 of 9" "serial: slice 9 of 9"
on_terminal compare sort reconstruct --backend=serial --size=100 --repeat=1
shown "compare" "1 of 2: sort" "2 of 2: reconstruct"
on_terminal sweep sort --backend=serial --variant=radix,naive --size=1000 --repeat=1
shown "sweep" "1 of 2: serial radix, size 1000, block -" "2 of 2: serial naive, size 1000, block -"
part 2
on_terminal laws reconstruct --backend=omp --threads=1,2,3,4 --size=400 --repeat=3
shown "laws" "1 of 5" "5 of 5"
on_terminal taxonomy convolve --size=100 --min-time=0.01
shown "taxonomy" "convolve on all backends"
cp "$slice" copy.png
on_terminal batch --backend=serial "$slice" copy.png --keep=4 --output-dir=out
shown "batch" "1 of 2" "2 of 2"
on_terminal batch --backend=serial --synthetic=300x40x40 --keep=4 --pipeline=one-by-one,full
shown "batch of generated matrices" "one-by-one: 300 matrices" "full: 300 matrices"
part 1
on_terminal sort --backend=serial --variant=none --size=1000
check "a message takes its place" grep -qF "${erase}serial: first pass ...${erase}flynn sort: 'none' is not a variant" "$work/err"

# No line is wider than the terminal: messages are broken between words, and what is under way is cut.
narrow() {
    awk -v most="$1" 'BEGIN {RS = "[\r\n]+"} {sub(/^.\[K/, "")} length > most {print; bad = 1} END {exit bad || NR < 3}' "$work/err"
}
mapfile -t lines < <(printf '%s\n' "ceiling --backend=serial --size=100000 --min-time=0.01" "compare sort reconstruct --backend=serial --size=100 --repeat=1" \
    "laws reconstruct --backend=omp --threads=1,2,3 --size=100 --repeat=3" "convolve --backend=serial,simd --size=300 --min-time=0.01" | some 1)
for width in $(printf '%s\n' 80 40 | some 1); do
    COLUMNS=$width on_terminal sort --size=1k --columns=kernal
    check "a message of $width columns" narrow $width
    check "$width columns: the corrected command is a line of its own" grep -q '^  flynn sort --size=1k --columns=kernel' "$work/err"
    check "$width columns: its words" test "$(tr -s ' \r\n' ' ' <"$work/err" | grep -c "'kernal' is no column here; expected backend, class, variant")" = 1
    leaves_out 3 || COLUMNS=$width on_terminal sweep reconstruct --backend=serial --variant=tiled --size=300 --block=16x16,32x32 --min-time=1.2
    check "a sweep of $width columns" narrow $width
    for words in "${lines[@]}"; do
        read -ra words <<<"$words"
        COLUMNS=$width on_terminal "${words[@]}"
        check "${words[0]}: lines of $width columns" narrow $width
    done
done

# Where there is no terminal lines end after 80 columns. A table has the columns of a terminal of 100.
unset COLUMNS
fits() {
    awk -v most="$1" 'length > most {print; bad = 1} END {exit bad || NR < 1}' "${@:2}"
}
for words in "sort --size=1k --columns=kernal" "increment --seed=1" "sort --backend=nothing" "compare a.json b.json" "sort none.npy --rank=2"; do
    read -ra words <<<"$words"
    run "${words[@]}"
    check "${words[*]}: its message" fits 80 "$work/err"
done
run sort --backend=serial --size=1k --columns=kernal --repeat=2 --output=a-folder-that-is-not-there-and-has-a-long-name/sorted.npy
check "the corrected command is one line" grep -q '^  flynn sort --backend=serial .* --columns=kernel .*/sorted.npy$' "$work/err"
while IFS= read -r words; do
    read -ra words <<<"$words"
    ok "${words[*]}" "${words[@]}"
    check "${words[*]}: its lines" fits 80 "$work/out"
done < <(printf '%s\n' info doctor "help sort" "help spread" | some 2)
leaves_out 2 || ok "a table" ceiling --backend=serial --size=100000 --repeat=1
check "its lines" fits 100 "$work/out"
ok "another table" compare sort sqrt --backend=serial,simd --size=100 --repeat=2
check "its lines" fits 100 "$work/out"
check "and the sentences above and below it" fits 80 <(grep -vE '^(exercise|sort|sqrt) ' "$work/out")
COLUMNS=40 ok "one line of each machine" doctor --class
check "is one line" test "$(wc -l <"$work/out")" = 1
cat >walk.c <<'C'
double walk(double x) { double sum = 0; while (x > 1.0) { sum += x; x = x / 2; } return sum; }
C
COLUMNS=40 ok "source text" map walk.c --lanes
check "keeps its lines" test "$(awk '{ if (length > most) most = length } END { print most }' "$work/out")" -gt 60
run compare sort --backend=serial --size=100 --variant=none
check "a run's reason comes whole from its process" grep -q "^flynn compare: sort: 'none' is not a variant on serial; available: auto, " <(tr -s ' \n' ' ' <"$work/err")

# Ctrl-C: what is done is shown and saved, and so is what did not run; then the command ends by the signal.
# interrupted TITLE TEXT ARGUMENT...: once the text is on the terminal.
interrupted() {
    local title=$1
    INTERRUPT_AT=$2
    shift 2
    export INTERRUPT_AT
    on_terminal "$@" --json=stopped.json
    unset INTERRUPT_AT
    check "$title: ends by the signal" test "$status" = 130
    check "$title: says what did not run" grep -q '^stopped by signal 2 (Interrupt); not run: ' "$work/out"
    check "$title: a note" grep -q 'ended by a signal after [0-9]* of [0-9]* ' "$work/err"
    check "$title: leaves no line" test "$(tail -c 1 "$work/err" | od -An -c | tr -d ' ')" = '\n'
}
five=(increment sqrt sort select scan)
part 3
interrupted "compare" "3 of 5: sort" compare "${five[@]}" --backend=serial --size=10M --repeat=3
check "compare: the first two, and the others" json stopped.json '[r["exercise"] for r in d["results"]] == ["increment", "sqrt"] and
    d["stopped"] == {"by": "signal 2 (Interrupt)", "done": 2, "not_run": ["sort", "select", "scan"]} and d["failed"] == []'
check "compare: a table of two" test "$(grep -cE '^(increment|sqrt) ' "$work/out")" = 2
part 3
export INTERRUPT_ALONE=1
interrupted "compare alone" "2 of 5: sqrt" compare "${five[@]}" --backend=serial --size=10M --repeat=3
check "compare alone: the first one" json stopped.json 'd["stopped"]["not_run"] == ["sqrt", "sort", "select", "scan"]'
unset INTERRUPT_ALONE
part 3
interrupted "sweep" "2 of 3: " sweep sort --backend=serial --variant=radix,naive,bitonic --size=4M --repeat=3
check "sweep: the first one" json stopped.json '[r["variant"] for r in d["results"]] == ["radix"] and len(d["best"]) == (d["results"][0]["disturbed"] is None) and
    d["stopped"]["not_run"] == ["serial naive, size 4000000, block -", "serial bitonic, size 4000000, block -"]'
part 3
interrupted "laws" "3 of 4" laws sort --backend=omp --threads=1,2,3 --size=4M --repeat=3
check "laws: all strong points, one weak" json stopped.json 'len(d["laws"]["strong"]) == 3 and len(d["laws"]["weak"]) == 1 and
    d["stopped"]["not_run"] == ["weak scaling, n = 2", "weak scaling, n = 3"]'
check "laws: Amdahl's law is fitted" grep -q '^Amdahl: serial fraction f = ' "$work/out"
check "laws: Gustafson's is not" grep -q '^Gustafson: not fitted: 1 point of weak scaling' "$work/out"
part 3
mkdir many
for ((i = 0; i < 60; i++)); do cp "$slice" many/$i.png; done
interrupted "laws batch" "4 of 8" laws batch many --backend=serial --threads=1,2 --repeat=2
check "laws batch: the points that were run" json stopped.json '[len(d["laws"][kind]) for kind in ("strong", "weak")] == [2, 0] and
    d["stopped"]["done"] == 1 and d["stopped"]["not_run"] == ["1 of 2 rounds of strong scaling, n = 2", "weak scaling, n = 1", "weak scaling, n = 2"]'
check "laws batch: a table of two" test "$(grep -cE '^strong +[12] ' "$work/out")-$(grep -cE '^weak +[12] ' "$work/out")" = 2-0
part 1
INTERRUPT_AT="1 of 8" on_terminal laws batch many --backend=serial --threads=1,2 --repeat=2
check "laws batch: nothing is done, nothing is shown" test "$status" = 130 -a ! -s "$work/out"
INTERRUPT_AT="1 of 5" on_terminal compare "${five[@]}" --backend=serial --size=10M --repeat=3
check "nothing is done: nothing is shown" test "$status" = 130 -a ! -s "$work/out"
ok "compare, with all" compare sort --backend=serial --size=1k --repeat=1 --json
check "nothing is missing" json "$work/out" '"stopped" not in d'

summary
