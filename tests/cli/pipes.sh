#!/bin/bash
# SPDX-License-Identifier: MIT
# Standard input and output in place of files, and readers that leave early.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
set -o pipefail
quick=(--backend=serial --repeat=1 --warmup=0)

ok "an input" sort --size=1000 -o in.npy "${quick[@]}"
ok "from a file" sort in.npy -o expected.npy "${quick[@]}"
for from in - /dev/stdin; do
    "$flynn" sort $from -o out.npy "${quick[@]}" <in.npy >/dev/null
    check "a file at $from" cmp out.npy expected.npy
    cat in.npy | "$flynn" sort $from -o out.npy "${quick[@]}" >/dev/null
    check "a pipe at $from" cmp out.npy expected.npy
done
"$flynn" sort <(cat in.npy) -o out.npy "${quick[@]}" >/dev/null
check "a shell's <(command)" cmp out.npy expected.npy
"$flynn" maximum - - -o out.npy "${quick[@]}" < <(cat in.npy) >/dev/null
check "one pipe, two inputs" cmp out.npy in.npy
cat "$slice" | "$flynn" svd - --keep=3 "${quick[@]}" >"$work/out"
check "a picture" grep -q "217x181" "$work/out"

"$flynn" sort in.npy -o - "${quick[@]}" >out.npy 2>"$work/err"
check "to stdout" cmp out.npy expected.npy
check "the table goes to stderr" grep -q "^serial" "$work/err"
"$flynn" sort in.npy -qo - "${quick[@]}" 2>"$work/err" | cat >out.npy
check "to a pipe" cmp out.npy expected.npy
check "no table with --quiet" test ! -s "$work/err"
cat in.npy | "$flynn" sort - -qo - "${quick[@]}" | "$flynn" sqrt - -qo - "${quick[@]}" >piped.npy
ok "the same with files" sqrt expected.npy -o roots.npy "${quick[@]}"
check "a pipeline" cmp piped.npy roots.npy
"$flynn" sort in.npy -qo - --json=run.json "${quick[@]}" >out.npy
check "beside JSON in a file" cmp out.npy expected.npy
check "which is whole" json run.json 'd["results"][0]["check"]["ok"]'
refused "two results for stdout" 2 "--output=-: --json" sort in.npy -o - --json
refused "the same as CSV" 2 "--output=-: --csv" sort in.npy -o - --csv
ok "JSON to -" sort in.npy --json=- "${quick[@]}"
check "is JSON to stdout" json "$work/out" 'd["results"][0]["elements"] == 1000'
check "and makes no file" test ! -e -

check "a reader that has read enough is not an error" test "$("$flynn" list 2>"$work/err" | head -1 | wc -l)" = 1
"$flynn" list 2>"$work/err" | true
check "nor one that reads nothing" test $? = 0 -a ! -s "$work/err"
"$flynn" sort --size=1M -qo - "${quick[@]}" 2>"$work/err" | true
check "a result that is lost is one" test "${PIPESTATUS[0]}" = 4 -a "$(wc -l <"$work/err")" = 1

# What cannot be read.
bad() { # bad TITLE CODE: of the last command, which left its stderr in err
    check "$1: exit code" test "$status" = "$2"
    check "$1: one line" test "$(wc -l <"$work/err")" = 1
}
: | "$flynn" sort - "${quick[@]}" >/dev/null 2>"$work/err"
status=$?
bad "an empty pipe" 2
echo text | "$flynn" sort - "${quick[@]}" >/dev/null 2>"$work/err"
status=$?
bad "a text" 2
head -c 1000 in.npy | "$flynn" sort - "${quick[@]}" >/dev/null 2>"$work/err"
status=$?
bad "a part of a file" 2
cat in.npy | "$flynn" sort - --max-memory=1k "${quick[@]}" >/dev/null 2>"$work/err"
status=$?
bad "more than --max-memory" 4
"$flynn" sort - "${quick[@]}" </dev/zero >/dev/null 2>"$work/err"
status=$?
bad "a device" 2
mkfifo pipe pipe.npy
refused "a pipe in a folder" 2 "is a pipe" sort pipe
timeout 20 cat pipe.npy >piped &
ok "to a pipe that another program reads" sort in.npy "${quick[@]}" -o pipe.npy
wait $!
check "its bytes" cmp expected.npy piped
summary
