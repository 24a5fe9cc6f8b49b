# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A Slurm of this one machine, within a folder and for as long as one script runs; sourced. No service of the system is
# used or changed: munged, slurmctld and each slurmd are children of the script, with a configuration and free ports of
# their own.
#   slurm_lacks         prints why it cannot run here, and fails when it can
#   slurm_up FOLDER N   brings up nodes n1 to nN with 16 processors each, whatever there are; sets SLURM_CONF
#   slurm_down          ends every process of it and of its jobs; removes the folder
# When the script ends without slurm_down, even by SIGKILL, a process that watches it does the same.

slurm_lacks() {
    local program
    for program in munged mungekey slurmctld slurmd srun salloc sbatch; do
        command -v "$program" >/dev/null || { echo "$program is not installed: make deps-mpi"; return 0; }
    done
    [ "$(id -u)" = 0 ] || { echo "slurmd runs jobs as root alone"; return 0; }
    return 1
}

# Those begun with this configuration in the environment: the daemons, slurmstepd, srun and what they began.
slurm_processes() {
    grep -lszxF "SLURM_CONF=$1/slurm.conf" /proc/[0-9]*/environ | cut -d/ -f3 | grep -vx "$BASHPID"
}

# slurm_end FOLDER: a step that is killed tells slurmd so, hence the jobs first.
slurm_end() {
    local pids turn
    for turn in 1 2 3 4 5 6 7 8 9 10; do
        pids=$(slurm_processes "$1")
        [ -n "$pids" ] || break
        # shellcheck disable=SC2086 # a word a process
        kill -KILL $pids 2>/dev/null
        sleep 0.1
    done
    rm -rf "$1"
    [ -z "$pids" ]
}

slurm_down() {
    [ -n "${slurm_folder:-}" ] || return 0
    unset SLURM_CONF
    slurm_end "$slurm_folder"
    slurm_folder=
}

slurm_configure() {
    local folder=$1 nodes=$2 ports node
    read -ra ports < <("$PYTHON" -c 'import socket, sys
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(x.getsockname()[1] for x in s))' $((nodes + 1)))
    cat <<END
ClusterName=flynn
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
TmpFS=$folder/tmp-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmdLogFile=$folder/slurmd-%n.log
SlurmctldLogFile=$folder/slurmctld.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
KillWait=2
ReturnToService=2
END
    for ((node = 1; node <= nodes; node++)); do
        echo "NodeName=n$node NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=${ports[node]} CPUs=16"
    done
    echo "PartitionName=all Nodes=ALL Default=YES MaxTime=10"
}

slurm_up() {
    local nodes=$2 node
    slurm_folder=$1
    mkdir -m 755 "$slurm_folder" "$slurm_folder/state" &&
        slurm_configure "$slurm_folder" "$nodes" >"$slurm_folder/slurm.conf" || return 1
    export SLURM_CONF=$slurm_folder/slurm.conf
    for ((node = 1; node <= nodes; node++)); do
        # Of each node its own folder for PMIx: two that share one cannot both begin a job's processes.
        mkdir "$slurm_folder/spool-n$node" "$slurm_folder/tmp-n$node"
    done
    # Twice a child, so that what ends this script and its children spares it.
    (exec env -u SLURM_CONF setsid bash "${BASH_SOURCE[0]}" $$ "$slurm_folder" </dev/null >/dev/null 2>&1 &)
    mungekey --create --keyfile="$slurm_folder/munge.key" || return 1
    munged --foreground --force --key-file="$slurm_folder/munge.key" --socket="$slurm_folder/munge.socket" \
        --pid-file="$slurm_folder/munged.pid" --log-file="$slurm_folder/munged.log" \
        --seed-file="$slurm_folder/munge.seed" </dev/null >"$slurm_folder/munged.out" 2>&1 &
    disown # the shell tells nothing of its end
    slurm_wait test -S "$slurm_folder/munge.socket" || return 1
    slurmctld -D </dev/null >"$slurm_folder/slurmctld.out" 2>&1 &
    disown
    for ((node = 1; node <= nodes; node++)); do
        slurmd -D -N "n$node" </dev/null >"$slurm_folder/slurmd-n$node.out" 2>&1 &
        disown
    done
    slurm_wait slurm_is_idle "$nodes"
}

slurm_is_idle() {
    [ "$(sinfo -h -N -t idle -o %n 2>/dev/null | wc -l)" = "$1" ]
}

# At most 20 s.
slurm_wait() {
    local turn
    for ((turn = 0; turn < 200; turn++)); do
        "$@" && return
        sleep 0.1
    done
    echo "Slurm did not come up: $(cat "$slurm_folder"/*.out "$slurm_folder"/munged.log | tail -5)" >&2
    return 1
}

# Run as a program: slurm_up.sh PID FOLDER watches.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    tail --pid="$1" -f /dev/null
    [ ! -d "$2" ] || slurm_end "$2"
fi
