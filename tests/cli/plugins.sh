#!/bin/bash
# SPDX-License-Identifier: MIT
# Plugins that are broken or could be anyone's: what a run on `serial` must never touch, what `flynn info` tells of them, which folders are
# trusted, and what happens when memory and threads are short.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--backend=serial --repeat=1 --warmup=0)
library=${flynn%/bin/*}/lib

# To load that plugin ends the process: everything on `serial` alone does not.
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/aborts
run convolve --backend=aborts --size=20
check "the plugin does end the process" test "$status" -gt 4
for exercise in $("$flynn" --exercises); do
    case $exercise in
    primes) words=(--upto=2000) ;;
    reconstruct) words=(--size=32 --keep=5) ;;
    maximum) words=(--size=8) ;;
    kernel)
        refused "$exercise" 3 "serial does not have kernel" kernel --size=32 "${quick[@]}"
        continue
        ;;
    *) words=(--size=32) ;;
    esac
    ok "$exercise" "$exercise" "${words[@]}" "${quick[@]}"
done
for exercise in convolve convolve1d; do
    ok "$exercise, all checked" $exercise --size=32 "${quick[@]}" --check=full
done
ok "batch of images" batch "$slice" --keep=5 --output-dir=out --backend=serial
ok "batch on threads" batch "$slice" --keep=5 --output-dir=out --backend=omp:2
ok "batch of matrices" batch --size=16 --backend=serial
ok "slice" slice --size=20 "${quick[@]}"
ok "sweep" sweep convolve --size=20 --variant=naive,tiled "${quick[@]}"
ok "laws" laws convolve --backend=omp --threads=1,2,3,4 --size=32 --repeat=1
ok "taxonomy" taxonomy convolve1d --size=200 "${quick[@]}"
ok "compare" compare convolve sort --size=20 "${quick[@]}"
ok "ceiling" ceiling --size=1000000 --backend=serial --repeat=1
unset FLYNN_PLUGIN_PATH

# The best backend does not have the operation: `auto` takes the next one, and says so.
unset FLYNN_BACKEND
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/lean
ok "auto takes the best one" convolve --size=20 --json --repeat=1
check "which is lean" json "$work/out" 'd["results"][0]["backend"] == "lean"'
ok "map is another one's" map 'x + 1' --size=20 --json --repeat=1
check "of those that have it" json "$work/out" 'd["results"][0]["backend"] != "lean"'
check "the remark" grep -q 'does not have map' "$work/err"
refused "a backend that is named" 3 'lean does not have map' map 'x + 1' --size=20 --backend=lean
ok "sweep does the same" sweep map --size=20 --json --repeat=1 --warmup=0
check "on another one" json "$work/out" 'd["results"] and "lean" not in {r["backend"] for r in d["results"]}'
# So it is of any exercise; of all backends it is left out.
ok "sort is another one's, too" sort --size=20 --json --repeat=1
check "of those that have it" json "$work/out" 'd["results"][0]["backend"] != "lean"'
refused "for sort" 3 'lean does not have sort' sort --size=20 --backend=lean
refused "in a sweep" 3 'lean does not have sort' sweep sort --size=20 --backend=lean
refused "a batch" 3 'lean does not have reconstruct' batch --size=8 --backend=lean
for command in sort "sweep sort --warmup=0" "compare sort"; do
    read -ra words <<<"$command"
    ok "$command on all backends" "${words[@]}" --size=20 --json --repeat=1 --backend=all
    check "where lean is left out" json "$work/out" '"serial" in {r["backend"] for r in d["results"]} and
        [s["reason"] for s in d["skipped"] if s["backend"] == "lean"] == ["it does not have this exercise"]'
done
ok "batch on all backends" batch --size=8 --json --backend=all
check "where lean is left out" json "$work/out" '"serial" in {r["backend"] for r in d["batch"]["runs"]} and
    "lean" in {s["backend"] for s in d["skipped"]} - {r["backend"] for r in d["batch"]["runs"]}'
ok "ceiling of it" ceiling --size=1Mi --backend=serial,lean --repeat=1
check "measures what it has, and says what it lacks" grep -q "lean does not have reduce" "$work/err"
unset FLYNN_PLUGIN_PATH
export FLYNN_BACKEND=serial

# What cannot be chosen is not loaded: to load these ends the process.
unset FLYNN_BACKEND
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/unloaded
ok "no backend is named" sqrt --size=8 --repeat=1
ok "auto is named" sqrt --size=8 --repeat=1 --backend=auto
refused "a backend without its device" 3 \
    "absent cannot run here: no flux capacitor found (/nonexistent/flux is missing); fit one and restart" sqrt --size=8 --backend=absent
run sqrt --size=8 --backend=imitation
check "an emulation that is named is loaded" test "$status" -gt 4
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/needs
ok "all backends" convolve --size=20 --repeat=1 --backend=all --json
check "one without its device is left out, and says why" json "$work/out" '[s for s in d["skipped"] if s["backend"] == "no-file"] ==
    [{"backend": "no-file", "reason": "no flux capacitor found (/nonexistent/flux is missing); fit one and restart"}]'
ok "list" list
ok "info on it" info no-file
check "what it is" grep -qx "  SISD, family test, built with made for the tests" "$work/out"
check "the cause" grep -qx "  cause: no flux capacitor found (/nonexistent/flux is missing)" "$work/out"
check "the fix" grep -qx "  fix: fit one and restart" "$work/out"
run doctor --json
check "doctor: without hardware it is no fault" json "$work/out" '[f["state"] for f in d["findings"] if f["subject"] == "no-file"] == ["absent"]'
FLYNN_IGNORE_DEVICE_FILES=1 ok "the file is not looked for" info no-file
check "it can run" grep -q "^no-file: can run here" "$work/out"
unset FLYNN_PLUGIN_PATH
export FLYNN_BACKEND=serial

# What does not fit is reported, and refused where it is asked for.
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/fields
ok "info" info --json
cp "$work/out" info.json
names='{b["name"]: b for b in d["backends"]}'
for name in null-name null-built-with null-probe many-isas no-end; do
    check "$name: reported" json info.json "not $names['$name']['usable'] and $names['$name']['cause']"
    refused "$name: refused" 3 "$name cannot run here" sort --size=100 --backend=$name
done
unset FLYNN_PLUGIN_PATH

# A folder that others can write to, beside libflynn and named.
mkdir own
cp -L "$library"/libflynn.so* "$library"/flynn-serial.so own
export LD_LIBRARY_PATH=$PWD/own
ok "a folder of one's own" sort --size=100 "${quick[@]}"
check "no remark" test ! -s "$work/err"
for mode in 777 1777 775; do
    chmod $mode own
    [ $mode = 775 ] && chown :1 own 2>/dev/null
    [ "$(stat -c %g own)" = 1 ] || [ $mode != 775 ] || continue
    refused "mode $mode" 3 "another user could have put it there" sort --size=100 --backend=serial
    ok "info, mode $mode" info --json
    check "mode $mode is reported" json "$work/out" "not $names['serial']['usable'] and '/own' in $names['serial']['cause']"
    FLYNN_PLUGIN_PATH=$PWD/own ok "mode $mode, but named" sort --size=100 "${quick[@]}"
    check "a remark" grep -q "^flynn sort: serial: loaded although .* can write to .*/own" "$work/err"
    check "one remark" test "$(wc -l <"$work/err")" = 1
    FLYNN_PLUGIN_PATH=$PWD/own ok "info, mode $mode, but named" info
    check "info's remark" grep -q "  remark: loaded although" "$work/out"
done
chmod 755 own
chgrp "$(id -g)" own
ok "a folder of one's own again" sort --size=100 "${quick[@]}"
chmod o+w own/flynn-serial.so
refused "the file" 3 "everyone can write to $PWD/own/flynn-serial.so" sort --size=100 --backend=serial
mv own/flynn-serial.so own/serial.so
mkdir "$work/files/open"
cp "$library/flynn-serial.so" open/real.so
chmod 777 open
ln -s ../open/real.so own/flynn-serial.so
refused "a link into such a folder" 3 "everyone can write to $PWD/open" sort --size=100 --backend=serial
rm own/flynn-serial.so
cp "$library/flynn-serial.so" own
if [ "$(id -u)" = 0 ] && chown 12345 own/flynn-serial.so 2>/dev/null; then
    refused "another user's file" 3 "its owner can write to" sort --size=100 --backend=serial
    chown 12345 own own/*
    ok "all of it that user's" sort --size=100 "${quick[@]}"
fi
unset LD_LIBRARY_PATH

# Little memory: no library that the run does not need, and the machine's failures are reported as such.
limited() { # limited TITLE KIB CODES ARGUMENT...: ends quickly, with one of the exit codes
    local title=$1 kib=$2 codes=$3
    [ -z "${ASAN_OPTIONS:-}$emulated" ] || return 0 # AddressSanitizer reserves 16 TB, qemu its buffers
    shift 3
    last=("$@")
    (ulimit -v "$kib" && exec timeout -k 5 60 "$flynn" "$@") >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$title: exit code $status, expected one of $codes" test "${codes/$status/}" != "$codes"
    [ "$status" = 0 ] || check "$title: one line" is_refused "$status" ""
}
limited "convolve in 150 MB" 150000 "0" convolve --size=64 "${quick[@]}"
limited "sort in 150 MB" 150000 "0" sort --size=1000 "${quick[@]}"
limited "a library in 150 MB" 150000 "3 4" reconstruct --size=32 --keep=5 --variant=library "${quick[@]}"
limited "svd in 150 MB" 150000 "0 4" svd --size=32 "${quick[@]}"
for kib in 20000 30000 40000 60000 90000; do
    limited "convolve in $kib KiB" $kib "0 4" convolve --size=64 "${quick[@]}"
done

# No other thread: root has no such limit.
refuse_threads() { # refuse_threads TITLE CODES ARGUMENT...
    local title=$1 codes=$2
    shift 2
    last=("$@")
    (
        prefix=()
        [ "$(id -u)" != 0 ] || prefix=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        exec prlimit --nproc=0:0 "${prefix[@]}" "$flynn" "$@"
    ) >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$title: exit code $status, expected one of $codes" test "${codes/$status/}" != "$codes"
    [ "$status" = 0 ] || check "$title: one line" is_refused "$status" ""
}
chmod o+rx "$work" "$work/files" "$work/cache"
if [ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$flynn" -a -r "$library/flynn-serial.so"; then
    refuse_threads "serial alone" 0 convolve --size=64 "${quick[@]}"
    refuse_threads "serial with a library" "0 3" reconstruct --size=32 --keep=5 --variant=library "${quick[@]}"
    refuse_threads "omp" 4 sort --size=1000000 --backend=omp:4 --repeat=1
    check "which says why" grep -q "4 threads cannot be started" "$work/err"
    refuse_threads "svd on threads" 4 svd --size=64 --backend=omp:4 --repeat=1
    if "$flynn" sort --size=100 --backend=hip-cpu --repeat=1 >/dev/null 2>&1; then
        refuse_threads "the emulation, which then has the caller's thread alone" 0 sort --size=1000 --backend=hip-cpu --repeat=1
    fi
    refuse_threads "one thread of omp" 0 sort --size=1000 --backend=omp:1 --repeat=1
fi
summary
