# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034 # what is set here is used by those who source it
# What the tests of the command share; sourced. A script calls `ok`, `refused` and `check`, one line a case, and ends
# with `summary`, which fails when a case failed or when none ran. FLYNN, PYTHON and FLYNN_SOURCE come from ctest.
set -u
: "${FLYNN:?the command to test}" "${PYTHON:?a Python 3}" "${FLYNN_SOURCE:?the source folder}"
flynn=$FLYNN
here=$FLYNN_SOURCE/tests/cli
operations=$FLYNN_SOURCE/tests/operations
slice=$FLYNN_SOURCE/tests/data/mri/slice_072.png
saved=$FLYNN_SOURCE/tests/data/saved
# What the caller has set for the command must not decide what is tested, but that an emulated GPU of tests/amd has no device file.
for variable in ${!FLYNN*}; do
    [[ $variable = FLYNN_TEST_* || $variable = FLYNN_IGNORE_DEVICE_FILES ]] || unset "$variable"
done
export -n FLYNN_TEST_MACHINE FLYNN_TEST_SLOWNESS FLYNN_TEST_QUICK # they are no variables of flynn's
# Most cases name no backend. One core computes the same everywhere, starts in a sixth of the time that `auto` needs to open
# all plugins, and leaves the other cores to other tests. Cases about `auto` unset FLYNN_BACKEND.
export LC_ALL=C FLYNN_CACHE FLYNN_BACKEND=serial

# Set where qemu-user runs the command: it is slow, takes memory of its own, and writes a line when a program crashes.
emulated=${FLYNN_TEST_EMULATED:-}
seconds=$((120 * ${FLYNN_TEST_SLOWNESS:-1}))

work=$(mktemp -d "${TMPDIR:-/tmp}/flynn-cli.XXXXXX")
python=
clean_up() {
    [ -z "$python" ] || { kill "$python"; wait "$python"; }
    chmod -R u+w "$work"
    rm -rf "$work"
} 2>/dev/null
trap clean_up EXIT
mkdir "$work/files" "$work/cache"
FLYNN_CACHE=$work/cache # what was measured on this machine before decides nothing
cd "$work/files" || exit 1

# One Python for all that a script asks of it: ask ACTION ARGUMENT... of files.py. The copies of its ends are for subshells.
coproc files { exec "$PYTHON" "$here/files.py" serve; }
python=$files_PID
exec {answers}<&"${files[0]}" {questions}>&"${files[1]}"
ask() {
    local answer
    printf '%s\0' $(($# + 1)) "$PWD" "$@" >&"$questions" && IFS= read -r answer <&"$answers" || return 1
    [ "$answer" = ok ] || { echo "$answer"; return 1; }
}
ask fixtures . || exit 1

passed=0
failed=0
left_out=0 # cases of a quick test

pass() {
    passed=$((passed + 1))
}

# fail TITLE WHY: tells what the last command was and what came of it.
fail() {
    failed=$((failed + 1))
    {
        echo "FAILED: $1: $2"
        echo "    command: flynn ${last[*]}"
        echo "    status:  $status"
        sed 's/^/    stderr:  /' "$work/err" | head -5
        sed 's/^/    stdout:  /' "$work/out" | head -5
    } >&2
}

last=()
status=0
: >"$work/out"
: >"$work/err"

# on_machine busy|quiet: from now on the system says so to the command, whatever else this machine does (harness/machine.c).
# The times themselves remain those of this machine: of two samples none says that they vary.
machine=()
on_machine() {
    machine=()
    [ -z "${FLYNN_TEST_MACHINE:-}" ] || machine=(env "TEST_MACHINE=$1" "LD_PRELOAD=$FLYNN_TEST_MACHINE")
}

# with_caches BYTES...: from now on /sys says that the processors share these caches, of the levels 1, 2 and so on; nothing else
# of it is there. Where the library cannot be loaded (with a sanitizer) the machine's own caches count.
with_caches() {
    local cpu level cache
    rm -rf "$work/sys"
    for ((cpu = 0; cpu < $(getconf _NPROCESSORS_CONF); cpu++)); do
        for ((level = 1; level <= $#; level++)); do
            cache=$work/sys/devices/system/cpu/cpu$cpu/cache/index$((level - 1))
            mkdir -p "$cache"
            echo $level >"$cache/level"
            echo "${!level}" >"$cache/size"
            echo 0-1023 >"$cache/shared_cpu_list"
        done
    done
    [ -z "${FLYNN_TEST_MACHINE:-}" ] || machine=(env "TEST_SYS=$work/sys" "LD_PRELOAD=$FLYNN_TEST_MACHINE")
}

# run ARGUMENT...: the command, with its exit code in $status and its output in $work/out and $work/err.
run() {
    ! leaves_out 1 || { status=0; return 0; }
    last=("$@")
    timeout -k 10 $seconds "${machine[@]}" "$flynn" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}

# ok TITLE ARGUMENT...: must be done and correct.
ok() {
    local title=$1
    shift
    run "$@"
    is_left_out || if [ "$status" = 0 ]; then pass; else fail "$title" "expected exit code 0, got $status"; fi
}

# check TITLE COMMAND...: the command must succeed; it is about the last `run`.
check() {
    local title=$1
    shift
    ! is_left_out || { left_out=$((left_out + 1)); return 0; }
    if "$@" >"$work/check" 2>&1; then pass; else fail "$title" "$* $(tail -1 "$work/check")"; fi
}

# begin NAME COMMAND...: a function like `run`, whose output goes to "$work/${as}out" and "$work/${as}err", beside what comes
# next; most of what it takes is a wait. taken NAME: as if it had run now.
as=
begin() {
    (as=$1.; shift; "$@"; echo $status "${last[@]}" >"$work/${as}status") &
}
taken() {
    local file
    until [ -s "$work/$1.status" ]; do sleep 0.05; done
    read -ra last <"$work/$1.status"
    status=${last[0]}
    last=("${last[@]:1}")
    for file in out err; do mv "$work/$1.$file" "$work/$file"; done
    rm "$work/$1.status"
}

# some COUNT: the lines of stdin; in a quick test (Makefile) so many of them, by chance, the same ones for the same FLYNN_TEST_QUICK.
some() {
    if [ -z "${FLYNN_TEST_QUICK:-}" ]; then
        cat
    else
        awk -v seed=$((FLYNN_TEST_QUICK + BASH_LINENO[0])) 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort | head -n "$1" | cut -f2-
    fi
}
# one_of N: true; in a quick test for one of N cases, by chance.
RANDOM=${FLYNN_TEST_QUICK:-0}
one_of() { [ -z "${FLYNN_TEST_QUICK:-}" ] || [ $((RANDOM % $1)) = 0 ]; }

# leaves_out N: whether a quick test leaves out the case that comes next, and the checks of it: all but one of N.
leaves_out() {
    [ -n "$leaves_part" ] || ! one_of "$1" || return 1
    last=("(left out)")
    left_out=$((left_out + 1))
}
# Whether the last `run` was left out.
is_left_out() { [ "${last[*]}" = "(left out)" ]; }

# part N: a quick test leaves out the cases from here to the next `part`, all but one of N by chance. What stands between them is
# done, so that a part needs no result of a case in another one; files that the script writes are there.
leaves_part=
part() {
    leaves_part=
    one_of "$1" || leaves_part=1
}

listing() {
    find "$work/files" -mindepth 1 -printf '%P %s %T@ %y\n' | sort
}

# is_refused CODE WORDS: of the last `run`: that exit code, one line on stderr with these words, nothing on stdout. Bad input
# may have a second line: the corrected command.
is_refused() {
    [ "$status" = "$1" ] || { echo "expected exit code $1"; return 1; }
    [ "$(wc -l <"$work/err")" = 1 ] || { [ "$1" = 2 ] && [ "$(wc -l <"$work/err")" = 2 ] && sed -n 2p "$work/err" | grep -q '^  .*flynn '; } ||
        { echo "expected one line on stderr"; return 1; }
    head -1 "$work/err" | grep -q '^flynn' || { echo "expected a line that begins with the command"; return 1; }
    head -1 "$work/err" | grep -qF -- "$2" || { echo "expected '$2' on stderr"; return 1; }
    [ ! -s "$work/out" ] || { echo "expected nothing on stdout"; return 1; }
}

# refused TITLE CODE WORDS ARGUMENT...: must end so, and leave all files as they were. No other case needs it: a quick test takes one of
# four, by chance.
refused() {
    local title=$1 code=$2 words=$3 before why
    shift 3
    ! leaves_out 4 || return 0
    before=$(listing)
    run "$@"
    if ! why=$(is_refused "$code" "$words"); then
        fail "$title" "$why"
    elif [ "$before" != "$(listing)" ]; then
        fail "$title" "left or changed files: $(diff <(echo "$before") <(listing) | grep '^[<>]' | tr '\n' ' ')"
    else
        pass
    fi
}

# For `check`. close A B TOLERANCE: two .npy files of one shape. json FILE EXPRESSION: of Python, about the document d.
close() { ask close "$@"; }
json() { ask json "$@"; }
csv() { ask csv "$@"; }
png() { ask png "$@"; }
npy() { ask npy "$@"; }

# The lowest instruction set of this processor's vectors: v2, neon.
instruction_set() {
    "$flynn" info --long | sed -n 's/^ *omp:\(v2\|neon\) can run here$/\1/p'
}

summary() {
    echo "$passed passed, $failed failed${FLYNN_TEST_QUICK:+, $left_out left out by FLYNN_TEST_QUICK=$FLYNN_TEST_QUICK}"
    [ "$failed" = 0 ] && [ $((passed + left_out)) -gt 0 ]
}
