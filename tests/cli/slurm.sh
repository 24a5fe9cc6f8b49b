#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn on several processes under Slurm: srun with each MPI, --ranks within an allocation, two nodes (of this one machine),
# and how the processes end when one of them fails, is killed or hangs.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=slurm_up.sh
. "$here/slurm_up.sh"
export OMP_NUM_THREADS=1
quick=(--repeat=1 --warmup=0)

if why=$(slurm_lacks); then
    echo "skipped: $why"
    exit 77
fi
mpis=()
for mpi in openmpi mpich; do
    if [ -f "$(dirname "$flynn")/../lib/links/flynn-link-$mpi.so" ]; then
        mpis+=("$mpi")
    else
        echo "$mpi is left out: flynn has no link to it; make deps-mpi, and build flynn again"
    fi
done
[ ${#mpis[@]} -gt 0 ] || exit 77
declare -A pmi=([openmpi]=pmix [mpich]=pmi2) other=([openmpi]=pmi2 [mpich]=pmix)
trap 'slurm_down; clean_up' EXIT
if ! slurm_up "$work/slurm" 2; then
    echo "skipped: Slurm does not run here"
    exit 77
fi

# by WORDS ARGUMENT...: the command, begun by these words.
by() {
    local -a words
    read -ra words <<<"$1"
    shift
    last=("(by ${words[*]})" "$@")
    timeout -k 10 $seconds "${words[@]}" "$flynn" "$@" >"$work/${as}out" 2>"$work/${as}err" </dev/null
    status=$?
}
code() { [ "$status" = "$1" ] || { echo "expected exit code $1, got $status"; return 1; }; }
one_table() { [ "$(grep -c '^backend' "$work/out")" = 1 ] && [ "$(grep -c ' ok$' "$work/out")" = 1 ]; }
# Of flynn's, not of the launcher's.
one_line() { [ "$(grep '^flynn' "$work/err" | grep -vc ' is written: ')" = 1 ] && grep '^flynn' "$work/err" | grep -qF -- "$1"; }
each_rank() { [ "$(grep -cF -- "$1" "$work/err")" = "$2" ]; }

cat >"$work/on_rank_1" <<'END'
#!/bin/sh
[ "$SLURM_PROCID" != 1 ] || export "$1"
shift
exec "$@"
END
chmod +x "$work/on_rank_1"

for mpi in "${mpis[@]}"; do
    srun="srun --mpi=${pmi[$mpi]}"
    by "$srun -n 4" sort --size=10000 "${quick[@]}"
    check "four ranks, $mpi" code 0
    check "one table" one_table
    by "$srun -n 4" sort --size=10001 -b serial "${quick[@]}" --json
    check "their shares" json "$work/out" "(lambda r: r['ranks'] == 4 and r['link']['name'] == '$mpi' and
        r['check']['ok'] and sum(p['share'] for p in r['per_rank']) == 10001)(d['results'][0])"

    # Without --mpi, or with the other MPI's, each process would be the only one.
    by "srun -n 2" sort --size=1000
    check "no --mpi: exit code 3" code 3
    check "and the cure" each_rank "srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH" 2
    FLYNN_LINK=$mpi by "srun -n 2 --mpi=${other[$mpi]}" sort --size=1000
    check "the wrong --mpi for $mpi: exit code 3" code 3
    check "and the cure" each_rank "srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH" 2
    SLURM_EXIT_ERROR=3 by "srun -n 2 --mpi=nothing" sort --size=1000
    check "an --mpi that Slurm does not have, where srun has its own exit code" code 3

    # What all ranks agree on: one line, and one exit code, also where srun ends all for the first of them.
    for words in "$srun -n 4" "$srun -n 4 -K1"; do
        by "$words" sort --nonsense
        check "a wrong option: exit code 2, $words" code 2
        check "one line" one_line "--nonsense"
        by "$words $work/on_rank_1 FLYNN_BACKEND=serial:v9" sort --size=1000
        check "a wrong backend on one rank: exit code 2, $words" code 2
        check "which rank" one_line "rank 1 ("
        by "$words $work/on_rank_1 FLYNN_DTYPE=f64" sort --size=1000
        check "another option on one rank: exit code 2, $words" code 2
        check "which one" one_line "rank 1 ($(hostname)): has --dtype=f64, and rank 0 has no --dtype"
        by "$words" sort --size=100M -b serial --max-time=0.3
        check "no pass within --max-time: not exit code 0, $words" [ "$status" -ge 4 ] # as 4, or as a signal that srun sent
        check "one line" one_line "--max-time: not even the first pass ended within 0.3 s"
        by "$words $work/on_rank_1 FLYNN_PLUGIN_PATH=$work/files" sort --size=1000 -b serial "${quick[@]}"
        check "another folder of plugins on one rank, $words" code 0
    done

    # Two nodes. By sockets alone: Open MPI names a node's shared memory by its host, which is one here.
    export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
    by "$srun -N 2 --ntasks-per-node=2" info
    check "two nodes, $mpi" code 0
    for rank in 0 1 2 3; do
        check "rank $rank of two nodes, $mpi" grep -q "^rank $rank: .*, local rank $((rank % 2)), " "$work/out"
    done
    check "the MPI" grep -q "^4 ranks, joined by $mpi (" "$work/out"
    by "$srun -N 2 --ntasks-per-node=2" sort --size=10000 "${quick[@]}"
    check "sort on two nodes, $mpi" code 0
    check "one table" one_table
    unset OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include
done

# ------------------------------------------------------------------------------------------------------- --ranks ----

for mpi in "${mpis[@]}"; do
    export FLYNN_LINK=$mpi
    by "salloc -n 4" sort --ranks=4 --size=10000 "${quick[@]}"
    check "--ranks in an allocation, $mpi" code 0
    check "one table" one_table
    by "salloc -n 3" info --ranks=3
    check "flynn info has no --ranks: exit code 2" code 2
    by "salloc -n 2" sort --ranks=2 -b nothing
    check "the exit code of the ranks, $mpi" code 2
    check "one line" one_line nothing
    by "salloc -n 2" sort --ranks=40 --size=1000
    check "more ranks than the allocation has: exit code 3, $mpi" code 3
    by "srun -n 1 --mpi=none" sort --ranks=2 --size=1000 "${quick[@]}"
    check "--ranks in a step of one process, $mpi" code 3 # its allocation has one processor
    by "salloc -n 2 srun -n 1 --mpi=none" sort --ranks=2 --size=1000 "${quick[@]}"
    check "--ranks in a step of a larger allocation, $mpi" code 0
    unset FLYNN_LINK
done
# srun's own failures: no daemon that answers, a word that it does not know. Its exit code, which a user may have set, is
# not taken for that of the ranks: a wrong result's is.
for settings in SLURM_CONF=/dev/null SLURM_CPU_BIND=nonsense "SLURM_CPU_BIND=nonsense SLURM_EXIT_ERROR=0" \
    "SLURM_CPU_BIND=nonsense SLURM_EXIT_ERROR=9"; do
    by "salloc -n 2 env $settings" sort --ranks=2 --size=1000
    check "srun fails by $settings: exit code 3" code 3
    check "one line" one_line "--ranks: srun itself failed (exit code 1)"
done
FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/one-wrong FAULT_PLACE=sort.out:first by "salloc -n 2" sort --ranks=2 --size=94 -b one-wrong "${quick[@]}"
check "a wrong result in an allocation: exit code 1" code 1
SLURM_EXPORT_ENV=NONE by "salloc -n 2" sort --ranks=2 --size=94 -b nothing
check "ranks that get no variables: their exit code" code 2
by "salloc -n 2" laws sort -b omp --ranks=1,2 --size=1000 --json "${quick[@]}"
check "laws in an allocation" json "$work/out" "d['laws']['backend'] == 'omp:1' and [p['n'] for p in d['laws']['weak']] == [1, 2]"
check "--ranks takes the link that is there" json "$work/out" "d['results'][1]['link']['name'] == '${mpis[0]}'"
cat >"$work/job" <<END
#!/bin/sh
$flynn sort --ranks=2 --size=1000 --repeat=1 --warmup=0 --json
END
timeout -k 10 $seconds sbatch -W -n 2 -o "$work/out" "$work/job" >/dev/null 2>"$work/err"
status=$? last=("(by sbatch)")
check "--ranks in a batch job" code 0
check "two ranks" json "$work/out" "d['results'][0]['ranks'] == 2"

# --------------------------------------------------------------------------------------------- killed and stopped ----

# rank_1 NAME: of those that were begun as NAME.
rank_1() {
    local pid
    for pid in $(slurm_processes "$work/slurm"); do
        if grep -qsaszxF "SLURM_PROCID=1" "/proc/$pid/environ" && grep -qsaszxF "HURT=$1" "/proc/$pid/environ" &&
            [ "$(readlink "/proc/$pid/exe")" -ef "$flynn" ]; then
            echo "$pid"
        fi
    done 2>/dev/null
}
# works PID: it has computed for half a second, and has left the opening of its link behind.
works() { [ "$(cut -d' ' -f14 "/proc/$1/stat" 2>/dev/null || echo 0)" -gt 50 ]; }

# hurt SIGNAL WORDS ARGUMENT...: by, with the signal to rank 1 as soon as it works; for `begin`. Quiet: a slow build would print its
# progress after 30 s. With this size 1000 passes, after which the command ends, take longer than finding rank 1 on busy
# processors. The exit code is 124 where the launcher still runs 20 s later.
hurt() {
    local signal=$1 launcher pid
    shift
    { HURT=$as by "$@" --quiet --size=3000000 -b serial --min-time=100; exit $status; } &
    launcher=$!
    until { pid=$(rank_1 "$as"); [ -n "$pid" ] && works "$pid"; } || ! kill -0 $launcher 2>/dev/null; do
        sleep 0.2
    done
    kill -"$signal" "$pid"
    last=("$signal to rank 1:" "$@")
    if timeout 20 tail --pid=$launcher -f /dev/null; then
        wait $launcher
        status=$?
    else
        status=124
        scancel --signal=KILL --user=root
        wait $launcher
    fi
}
# ended NAME
ended() {
    local turn
    [[ $status != 0 && $status != 124 ]] || { echo "exit code $status"; return 1; }
    for ((turn = 0; turn < 50; turn++)); do
        [ -n "$(rank_1 "$1.")" ] || return 0
        sleep 0.1
    done
    echo "rank 1 is left"
    return 1
}

echo '#include <signal.h>
    long MPI_Finalize(void) { return raise(SIGSTOP); }' | ${CC:-cc} -shared -fPIC -x c -o "$work/stops.so" -
for mpi in "${mpis[@]}"; do
    begin killed hurt KILL "srun -n 3 -K1 --mpi=${pmi[$mpi]}" sort
    begin ranks hurt KILL "salloc -n 3 env FLYNN_LINK=$mpi" sort --ranks=3
    FLYNN_LINK_TIMEOUT=3 begin stopped hurt STOP "srun -n 3 -K1 --mpi=${pmi[$mpi]}" sort
    FLYNN_LINK_TIMEOUT=3 begin no-k1 hurt KILL "srun -n 3 --mpi=${pmi[$mpi]}" sort
    FLYNN_LINK_TIMEOUT=3 begin at-end by "srun -n 3 -K1 --mpi=${pmi[$mpi]} $work/on_rank_1 LD_PRELOAD=$work/stops.so" sort \
        --size=1000 -b serial "${quick[@]}"
    [ "$mpi" = mpich ] || begin pmix hurt KILL "srun -n 3 --mpi=pmix" sort
    taken killed
    check "a killed rank, $mpi, -K1" ended killed
    taken ranks
    check "a killed rank, $mpi, --ranks" ended ranks
    check "exit code 4" code 4
    taken stopped
    check "a stopped rank, $mpi" ended stopped
    check "which one" one_line "rank 1 ($(hostname)) was not heard of for 3 s (FLYNN_LINK_TIMEOUT): the job ends"
    taken at-end
    check "a rank that is stopped when the result is there, $mpi" [ "$status" -ge 4 ]
    check "one line" one_line "not all processes of the launch have left within 3 s (FLYNN_LINK_TIMEOUT)"
    taken no-k1
    check "a killed rank, $mpi, without -K1" ended no-k1
    if [ "$mpi" = openmpi ]; then
        taken pmix
        check "a killed rank, without -K1, found by PMIx" ended pmix
    fi
done

# The scripts of docs/teaching/slurm.md, as they stand there, on a node without GPUs.
script() { sed -n "/\`$1.sh\`:\$/,/^\`\`\`\$/p" "$here/../../docs/teaching/slurm.md" | sed '1,/^```sh$/d;$d'; }
script learner >learner.sh
script class >class.sh
printf '__global__ void f(float *x, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        x[i] += 1;\n}\n' >ann.hip
sed 's/i < n/i < n - 1/' ann.hip >bo.hip
sed 's/;//' ann.hip >cy.hip
printf 'ann\nbo\ncy\n' >class.txt
run kernel ann.hip inout:ones:10 10 --backend=hip-cpu --repeat=1
if [ "$status" = 3 ]; then
    echo "the scripts for classes are left out: no backend here launches kernels"
else
    last=("(docs/teaching/slurm.md)")
    mkdir "$work/jobs"
    export BACKEND=hip-cpu TMPDIR=$work/jobs PATH=$(dirname "$flynn"):$PATH
    sbatch -W --gres=none --array=1-3%2 class.sh >"$work/out" 2>"$work/err" &
    sbatch -W --gres=none learner.sh kernel ann.hip inout:ones:100 100 --expect='x + 1' -b hip-cpu >"$work/sbatch" 2>&1
    status=$?
    check "a learner's job" code 0
    check "a learner's job: its output" grep -qE "^hip-cpu:0 .* ok \(emulation\)$" flynn-*.txt
    wait $!
    check "a class: right, wrong, not compiled" test "$(cat class-*.txt)" = "ann 0
bo 1
cy 2"
    check "a class: why" grep -q "WRONG at \[65535\]" bo.out
    check "a class: times, and which job" json ann.json 'd["results"][0]["check"]["ok"] and d["machine"]["slurm"]["job_name"] == "class"'
    check "a class: no folder is left" test -z "$(ls "$work/jobs")"
fi
summary
