#!/bin/bash
# SPDX-License-Identifier: MIT
# The compiler that map and kernel run: what it sees of the environment, how it ends with flynn, its limits, broken ones; the
# folder in which its code is kept.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
export -n FLYNN_TEST_FAULTS # it is no variable of flynn's
quick=(--backend=serial --repeat=1 --warmup=0)
number=0
# map on a function that was not compiled before.
compile() {
    number=$((number + 1))
    run map "x + $number" 0:4 "${quick[@]}"
}
compiled() { check "$1" test "$status" = 0 -a ! -s "$work/err"; }
# wrapper NAME: stdin as a script that stands for the compiler; FLYNN_CC is that from then on.
wrapper() {
    { printf '#!/bin/bash\n'; cat; } >"$work/$1"
    chmod +x "$work/$1"
    export FLYNN_CC=$work/$1
}
cc=$(command -v cc)

# ------------------------------------------------------------------------------------------------------ the environment

wrapper shows <<END
cat /proc/\$\$/environ >"$work/environ"
exec $cc "\$@"
END
sees() { tr '\0' '\n' <"$work/environ" | sort; }
mkdir tmp
PATH=":.:bin:/opt/equal=:$PATH::/opt/none:relative" HOME=$PWD TMPDIR=$PWD/tmp CPATH=$PWD GCC_EXEC_PREFIX=$PWD LD_PRELOAD='' compile
compiled "an environment"
check "PATH without what is relative, HOME and TMPDIR alone" diff <(sees) \
    <(printf '%s\n' "HOME=$PWD" LC_ALL=C "PATH=/opt/equal=:$PATH:/opt/none" "TMPDIR=$PWD/tmp" | sort)
long=$(printf '/opt/modules/%04d/bin:' {1..1000})
PATH=$long$PATH compile
compiled "a PATH of 22,000 characters"
check "is there as a whole" grep -q "^PATH=$long$PATH$" <(sees)
HOME=/$(printf '%05000d' 0) compile
compiled "a HOME of 5,000 characters"
check "is there as a whole" grep -q '^HOME=/0\{5000\}$' <(sees)
for path in -uPATH PATH= PATH=.:bin PATH=:; do
    number=$((number + 1))
    last=("$path" map)
    env "$path" "$flynn" map "x + $number" 0:4 "${quick[@]}" >"$work/out" 2>"$work/err"
    status=$?
    compiled "$path"
    check "$path: the usual folders" grep -q '^PATH=/usr/local/bin:/usr/bin:/bin$' <(sees)
done
unset FLYNN_CC
for tool in as ld cc cc1; do
    printf '#!/bin/bash\ntouch "%s/attacked"\nexec /usr/bin/%s "$@"\n' "$PWD" $tool >$tool
    chmod +x $tool
done
PATH=":.:$PATH" compile
compiled "tools in the current folder"
check "are not run" test ! -e attacked
rm as ld cc cc1
if "$flynn" kernel --backend=hip-cpu --size=10 --repeat=1 --warmup=0 >/dev/null 2>&1; then
    PATH=$long$PATH ok "kernel: a long PATH" kernel --backend=hip-cpu --size=10 -D A --repeat=1 --warmup=0
    env -u PATH "$flynn" kernel --backend=hip-cpu --size=10 -D B --repeat=1 --warmup=0 >"$work/out" 2>"$work/err"
    status=$?
    check "kernel: no PATH" test $status = 0
fi

# --------------------------------------------------------------------------------------------- it ends with flynn

# A compiler with a child, both of which leave their numbers; ended COUNT: so many were there, and soon none is, but perhaps
# as a zombie, which init has not waited for yet.
wrapper waits <<END
echo \$\$ >>"$work/pids"
sleep 300 &
echo \$! >>"$work/pids"
wait
END
ended() {
    local pid running
    [ "$(wc -l <"$work/pids")" = "$1" ] || { echo "not $1 processes"; return 1; }
    for _ in {1..200}; do
        running=
        while read -r pid; do ! grep -q '^State:.[^Z]' "/proc/$pid/status" || running="$running $pid"; done <"$work/pids" 2>/dev/null
        [ -n "$running" ] || return 0
        sleep 0.05
    done
    echo "still there:$running"
    return 1
}
# ends_by SIGNAL: flynn by that signal while its compiler runs.
ends_by() {
    local flynn_pid
    rm -f "$work/pids"
    last=(map ended by "$1")
    "$flynn" map "x + 1.5" 0:4 "${quick[@]}" >"$work/out" 2>"$work/err" &
    flynn_pid=$!
    until [ "$(wc -l <"$work/pids")" = 2 ]; do sleep 0.02; done 2>/dev/null
    kill -"$1" $flynn_pid
    wait $flynn_pid 2>/dev/null
    status=$?
    check "$1 ends the compiler and its child" ended 2
    check "$1 ends flynn" test $status = $((128 + $(kill -l "$1")))
}
for signal in TERM HUP KILL; do ends_by $signal; done
wrapper ignores <<END
trap '' TERM HUP INT
echo \$\$ >>"$work/pids"
(echo \$BASHPID >>"$work/pids"; exec sleep 300)
END
ends_by KILL
rm "$work/pids"
FLYNN_CC=$work/waits refused "--max-time" 4 "--max-time: not even the first pass ended within 0.5 s" map 'x + 1.5' 0:4 "${quick[@]}" \
    --max-time=0.5
check "--max-time ends the compiler" ended 2
rm -f "$work/pids"
FLYNN_COMPILE_TIMEOUT=0.5 refused "a limit of its own" 4 "$work/ignores did not end within 0.5 s (FLYNN_COMPILE_TIMEOUT)" map \
    'x + 1.5' 0:4 "${quick[@]}"
check "ends it, too" ended 2
FLYNN_COMPILE_TIMEOUT=soon refused "a wrong limit" 2 "FLYNN_COMPILE_TIMEOUT: 'soon' is not a number of seconds" map 'x + 1.5' \
    0:4 "${quick[@]}"
wrapper leaves <<END
sleep 5 &
exec $cc "\$@"
END
SECONDS=0
compile
compiled "a child that keeps its output open"
check "is not waited for" test $SECONDS -lt 4
check "nothing is left of those that were ended" test -z "$(find "$FLYNN_CACHE/code" -name '.flynn*')"
unset FLYNN_CC

# -------------------------------------------------------------------------------------------------- what it makes

printf 'char large[65 << 20] = {1};\nint f(int n) { return large[n]; }\n' >large.c
refused "an object of 65 MiB" 4 "makes a file of more than 64 MiB" map large.c 0:4 "${quick[@]}"
printf 'char large[3 << 20] = {1};\nint f(int n) { return large[n]; }\n' >large.c
ok "one of 3 MiB" map large.c 0:4 "${quick[@]}"
FLYNN_CC=/bin/true refused "a compiler that makes nothing" 4 "cannot be loaded" map x 0:4 "${quick[@]}"
FLYNN_CC=/bin/false refused "one that fails and prints nothing" 4 "the compiler fails: it prints nothing" map x 0:4 "${quick[@]}"
wrapper dies <<<'kill -SEGV $$'
refused "one that dies" 4 "$work/dies died by signal 11" map x 0:4 "${quick[@]}"
: >"$work/script"
chmod +x "$work/script"
FLYNN_CC=$work/script refused "one that is no program" 4 "$work/script cannot be run: Exec format error" map x 0:4 "${quick[@]}"

# ---------------------------------------------------------------------------------------------------- what is kept

# Counts its runs.
wrapper counts <<END
echo >>"$work/runs"
exec $cc "\$@"
END
# again TITLE: the same function twice: the second time nothing is compiled.
again() {
    rm -f "$work/runs"
    ok "$1" map 'x + 2.5' 0:4 "${quick[@]}"
    check "$1: is compiled" test -s "$work/runs"
    check "$1: nothing is said" test ! -s "$work/err"
    rm -f "$work/runs"
    ok "$1: again" map 'x + 2.5' 0:4 "${quick[@]}"
    check "$1: nothing is compiled" test ! -e "$work/runs"
}
rm -f "$work/runs"
ok "compare" compare map --function='x + 5.5' --backend=serial --size=100 --repeat=1
check "its processes have FLYNN_CC, too" test -s "$work/runs"
own=$FLYNN_CACHE
unset FLYNN_CACHE
# New folders in it get a group that is not this user's.
mkdir home
for group in $(id -G) 1; do [ "$group" = "$(id -u)" ] || ! chgrp "$group" home 2>/dev/null || break; done
chmod 2755 home
export HOME=$PWD/home
umask 002
ok "umask 002: ceiling" ceiling --backend=serial --size=100000 --repeat=1
check "makes its folder for this user alone" test "$(stat -c %a home/.cache/flynn)" = 2700
check "and those above" test "$(stat -c %a home/.cache)" = 2700
again "umask 002"
export FLYNN_CACHE=$own
umask 022

# A folder from whose file system nothing can be run, in a name space of its own.
cat >noexec.sh <<END
mkdir -p noexec && mount -t tmpfs -o noexec,mode=700 none noexec || exit 77
export FLYNN_CACHE=\$PWD/noexec
"$flynn" map 'x + 3.5' 0:4 ${quick[*]} -b serial,simd >map.out 2>map.err || exit 1
"$flynn" doctor --json >doctor.json
[ "\$?" = 0 ] || [ "\$?" = 3 ] || exit 2
export TMPDIR=\$PWD/noexec
"$flynn" map 'x + 3.5' 0:4 ${quick[*]} 2>both.err
[ "\$?" = 4 ] || exit 3
END
last=(map in a folder that is mounted noexec)
unshare -Urm bash noexec.sh 2>"$work/err"
status=$?
if [ $status = 77 ] || [ ! -e map.err ]; then
    echo "left out: a folder that is mounted noexec: $(tail -1 "$work/err")"
else
    check "noexec: map and doctor do their work, and map fails where TMPDIR is so, too" test $status = 0
    check "noexec: one remark" test "$(grep -c "compiled functions are not kept: .*noexec: no code can be loaded" map.err)" = 1
    check "noexec: doctor" json doctor.json 'any(f["subject"] == "cache" and f["state"] == "advice" and "(noexec); set FLYNN_CACHE" in
        f["text"] for f in d["findings"]) and any(f["subject"] == "compiler" and f["state"] == "ok" for f in d["findings"])'
    check "noexec: with the fix" grep -q "(noexec); set TMPDIR or FLYNN_CACHE to a folder on another one" both.err
fi
summary
