#!/bin/bash
# SPDX-License-Identifier: MIT
# Commands that measure on one GPU take turns: who waits for whom, how a wait ends, and what has no turn. The GPU is the plugin
# hip-cpu under another name and no emulation.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

cat >increment.hip <<'END'
__global__ void increment(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}
END
work_of=(increment.hip inout:ones:100 100 '--expect=x + 1')
quick=("${work_of[@]}" --repeat=1 --warmup=0)
long=(inout:ones:1000000 1000000 --min-time=600 -q)
run kernel "${quick[@]}" --backend=hip-cpu
if [ "$status" != 0 ]; then
    check "hip-cpu is not built here, or c++ is not" is_refused 3 ""
    summary
    exit
fi
command -v flock >/dev/null || { echo "flock is not installed: apt-get install util-linux"; exit 77; }

export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/false-gpu FLYNN_GPU_LOCK=$work/lock
gpu=(--backend=false-gpu)
user=$(id -un)
echo "the instructor's" >"$FLYNN_GPU_LOCK"

is_held() { ! flock -n "$FLYNN_GPU_LOCK" true; }
# held: a command that measures for as long as it is left, in the background, once it has the turn; its number in $holder.
holder=
trap 'let_go; clean_up' EXIT
held() {
    "$flynn" kernel increment.hip "${long[@]}" "${gpu[@]}" >/dev/null 2>&1 </dev/null &
    holder=$!
    disown
    until is_held; do sleep 0.1; done
}
let_go() { [ -z "$holder" ] || kill -KILL "$holder" 2>/dev/null; holder=; }

# waits [VARIABLE=VALUE...] -- ARGUMENT...: the command with a terminal for its stderr.
waits() {
    last=(kernel "$@")
    timeout -k 10 $seconds "$PYTHON" "$here/terminal.py" "$work/out" "$work/err" "$flynn" kernel "$@"
    status=$?
}

ok "nobody measures" kernel "${quick[@]}" "${gpu[@]}"
check "nobody measures: no line" test "$(grep -c waiting "$work/err")" = 0
check "the turn ends with the command" flock -n "$FLYNN_GPU_LOCK" true
check "the file stays as it was" test "$(cat "$FLYNN_GPU_LOCK")" = "the instructor's"

# ---------------------------------------------------------------------------------------------------- one that waits

held
FLYNN_GPU_LOCK=off ok "off" kernel "${quick[@]}" "${gpu[@]}"
ok "an emulation has no turn" kernel "${quick[@]}" --backend=hip-cpu
ok "nor has a processor" sort --size=100 --repeat=1
refused "--max-time ends the wait" 4 "--max-time: the time was over while pid $holder of user $user had the GPU" \
    kernel "${quick[@]}" "${gpu[@]}" --max-time=1
check "the other still measures" is_held

kill -STOP "$holder"
waits "${quick[@]}" "${gpu[@]}" --max-time=2
check "stopped, it keeps its turn" grep -q "waiting for pid $holder of user $user (stopped)" "$work/err"
kill -CONT "$holder"

# Killed, it leaves its turn to the one that waits, who has said for whom and for how long.
(sleep 3; kill -KILL "$holder") >/dev/null 2>&1 &
waits "${quick[@]}" "${gpu[@]}" --json
holder=
check "the wait ends with the process" test "$status" = 0
check "who has the turn, and since when" grep -qE "waiting for pid [0-9]+ of user $user, [1-9][0-9]* s " "$work/err"
check "the wait is in no time" json "$work/out" 'd["results"][0]["cold_s"] < 2 and d["results"][0]["total_s"] < 2'

# Ctrl-C ends a wait.
held
INTERRUPT_AT="waiting for pid $holder" waits "${quick[@]}" "${gpu[@]}"
check "Ctrl-C" test "$status" = 130
check "Ctrl-C: of one command alone" is_held
let_go

# A group of commands in one turn; a lock for readers is one as well.
ok "one of them alone" kernel "${quick[@]}" "${gpu[@]}"
last=(kernel, under flock)
timeout -k 10 60 flock "$FLYNN_GPU_LOCK" sh -c '"$@" && "$@"' sh "$flynn" kernel "${quick[@]}" "${gpu[@]}" >"$work/out" 2>"$work/err"
status=$?
check "a turn of a process above" test "$status" = 0
(flock -s "$FLYNN_GPU_LOCK" sleep 2) >/dev/null 2>&1 &
sleep 0.5
ok "a lock for readers" kernel "${quick[@]}" "${gpu[@]}"
check "was waited for" flock -n "$FLYNN_GPU_LOCK" true

# --------------------------------------------------------------------------------------------------------- the file

FLYNN_GPU_LOCK=nowhere refused "no such file" 2 "FLYNN_GPU_LOCK: nowhere: No such file or directory" kernel "${quick[@]}" "${gpu[@]}"
FLYNN_GPU_LOCK= ok "empty: as if it were not set" kernel "${quick[@]}" "${gpu[@]}"
mkfifo pipe
FLYNN_GPU_LOCK=pipe ok "a pipe that nobody writes to" kernel "${quick[@]}" "${gpu[@]}"
# Another user, who can read the file alone.
somebody=()
[ "$(id -u)" != 0 ] || somebody=(setpriv --reuid=65534 --clear-groups env HOME=/nonexistent "FLYNN_CACHE=$work/somebody")
if [ ${#somebody[@]} -gt 0 ] && chmod a+rx "$work" "$work/files" && "${somebody[@]}" "$flynn" --version >"$work/check" 2>&1; then
    mkdir -m 700 "$work/somebody"
    chown 65534 "$work/somebody"
    chmod 444 "$FLYNN_GPU_LOCK"
    "${somebody[@]}" "$flynn" kernel increment.hip "${long[@]}" "${gpu[@]}" >/dev/null 2>&1 </dev/null &
    disown
    until is_held; do sleep 0.1; done
    waits "${quick[@]}" "${gpu[@]}" --max-time=2
    check "another user has the turn" grep -q "waiting for pid [0-9]* of user $(id -un 65534)" "$work/err"
    kill -KILL "$!"
else
    echo "left out: another user: only root can be one here"
fi

# The GPU's own folder.
bus=$(basename "$(ls -d /sys/bus/pci/devices/*.0 2>/dev/null | head -1)")
if [ -n "$bus" ]; then
    unset FLYNN_GPU_LOCK
    export FALSE_GPU_BUS_ID=$bus
    (exec 9<"/sys/bus/pci/devices/$bus"; flock 9; exec sleep 600) >/dev/null 2>&1 &
    until ! flock -n "/sys/bus/pci/devices/$bus" true; do sleep 0.1; done
    refused "the GPU's folder" 4 "had the GPU" kernel "${quick[@]}" "${gpu[@]}" --max-time=1
    run doctor --json
    check "doctor: which lock" json "$work/out" 'any(f["state"] == "ok" and f["subject"] == "false-gpu" and
        f["text"].endswith("take turns: by a lock on /sys/bus/pci/devices/'"$bus"'") for f in d["findings"])'
    kill "$!"
    FALSE_GPU_BUS_ID=ffff:00:00.0 ok "no such folder" kernel "${quick[@]}" "${gpu[@]}"
    unset FALSE_GPU_BUS_ID
fi
unset FLYNN_GPU_LOCK
ok "no place on the bus" kernel "${quick[@]}" "${gpu[@]}"
run doctor --json
check "doctor: no lock" json "$work/out" 'any(f["state"] == "advice" and f["text"] ==
    "commands that measure on it do not wait for each other: its place on the PCI bus is not known" for f in d["findings"])'
summary
