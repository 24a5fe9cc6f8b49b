#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn on several processes, begun by the mpirun of each MPI that is here and by --ranks: results, exit codes, failures
# of one rank. The same for libflynn-dist by tests/dist/cases.c.
# shellcheck source=harness.sh
dist=${FLYNN_TEST_DIST:-}
. "$(dirname "$0")/harness.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS=1
# Open MPI's mpirun ends the processes at once when one has failed, and not a second after it asked them to end.
export OMPI_MCA_odls_base_sigkill_timeout=0
quick=(--repeat=2 --warmup=0)

links=$(dirname "$flynn")/../lib/links
mpis=
for mpi in openmpi mpich; do
    if [ -f "$links/flynn-link-$mpi.so" ] && command -v mpirun.$mpi >/dev/null; then
        mpis="$mpis $mpi"
    else
        echo "$mpi is skipped: its mpirun or flynn's link to it is not here"
    fi
done
OMPI_COMM_WORLD_SIZE=2 FLYNN_LINK=nothing refused "a launcher, and no such link" 2 "'nothing' is not a link" info
OMPI_COMM_WORLD_SIZE=2 FLYNN_LINK_TIMEOUT=soon refused "a timeout" 2 "'soon' is not a number of seconds" info
if [ -z "$mpis" ]; then
    refused "--ranks without an MPI" 3 "no usable MPI" sort --ranks=2
    echo "no MPI is here: install one (make deps-mpi)"
    exit 77
fi

# ranked MPI N ARGUMENT...: as run, N processes. Open MPI's words about a process that failed are left out.
ranked() {
    local mpi=$1 count=$2 quiet=
    shift 2
    last=("$mpi:$count" "$@")
    [ "$mpi" = mpich ] || quiet=--quiet
    timeout -k 10 $seconds mpirun.$mpi $quiet -n "$count" ${program:-"$flynn"} "$@" >"$work/${as}out" 2>"$work/${as}err" </dev/null
    status=$?
}
is_done() { [ "$status" = 0 ]; }
# no_rank_of NAME: begun with that name for its output; waits until all its ranks have ended. Open MPI's mpirun (4.1.4) may wait for ever for
# ranks that ended at the same moment (1 launch in 50 on busy processors): it gets 10 s to end itself, and is killed then.
no_rank_of() {
    local i
    for ((i = 0; i < seconds; i++)); do
        ps -C flynn -o args= | grep -qF -- "$1.npy" || break
        sleep 1
    done
    [ "$i" -lt "$seconds" ] || { echo "a rank lives after $seconds s"; return 1; }
    for ((i = 0; i < 100; i++)); do
        [ ! -s "$work/$1.status" ] || return 0
        sleep 0.1
    done
    pkill -KILL -f "^mpirun.*$1.npy" || [ -s "$work/$1.status" ]
}
# A single line with the words; the launcher's, and those that say which file was written, are left out.
told() {
    [ "$(grep '^flynn' "$work/err" | grep -vc ' is written: ')" = 1 ] || { echo "expected one line of flynn's"; return 1; }
    grep -qF -- "$1" "$work/err"
}
one_table() { [ "$(grep -c "^$1:" "$work/out")" = 1 ]; }

# Rank 0 asks for work a second after the others.
cat >"$work/late.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
int fl_group_take(void *group, long *first, long *share)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    rank = rank ? rank : getenv("PMI_RANK");
    if (rank && rank[0] == '0')
        sleep(1);
    return ((int (*)(void *, long *, long *))dlsym(RTLD_NEXT, "fl_group_take"))(group, first, share);
}
END
${CC:-cc} -shared -fPIC -o "$work/late.so" "$work/late.c"

# On rank 1 alone, with another environment, after $WAIT_ON_RANK_1 seconds; the others at once, as they are.
cat >"$work/on_rank_1" <<'END'
#!/bin/sh
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 1 ]; then sleep "${WAIT_ON_RANK_1:-0}"; exec env $ON_RANK_1 "$@"; fi
exec "$@"
END
chmod +x "$work/on_rank_1"

cat >"$work/other_on_rank_1" <<END
#!/bin/sh
if [ "\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-}}" = 1 ]; then exec "$flynn" select --size=9; fi
exec "$flynn" "\$@"
END
chmod +x "$work/other_on_rank_1"

emulation= # of GPUs, whose memory the link does not read
[ ! -f "$links/../flynn-hip-cpu.so" ] || emulation=hip-cpu

# The spans of three ranks; a pass in which ranks wait for each other is under way on all of them at one time.
cat >spans.py <<'END'
import json, sys
events = json.load(open("trace.json"))["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
assert sorted(names) == [1, 2, 3] and all(names[p].startswith(f"rank {p - 1} (") for p in names), names
spans = {p: [e for e in events if e["pid"] == p and e["ph"] == "X"] for p in names}
lanes = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
waits = sys.argv[1] in ("sort", "convolve")
for p in names:
    assert {"link", "wait for ranks"} <= {e["name"] for e in spans[p]} or not waits, p
    assert all(e["ts"] >= 0 and e["dur"] >= 0 and (p, e["tid"]) in lanes for e in spans[p])
    assert any(lane.endswith(", kernels") for (q, _), lane in lanes.items() if q == p), lanes
passes = [[e for e in spans[p] if e["name"] == "pass"] for p in names]
assert {len(all) for all in passes} == {3}, passes  # one that finds how often a kernel is queued, and two
for together in zip(*passes) if waits else ():
    assert max(e["ts"] for e in together) < min(e["ts"] + e["dur"] for e in together) + 2e4, together
END
# Writes the peak memory of a process, in KiB, to peak.RANK; of one that is not a rank to peak.alone.
cat >"$work/peak.py" <<'END'
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[1:], close_fds=False)
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "alone"))
with open("peak." + rank, "w") as file:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
sys.exit(code)
END
# Each of four ranks takes less than half of the memory of one process for its data: beyond what it has for 1000 elements
# (small.RANK), which are libraries and the MPI's buffers.
nobody_gathers() {
    local rank data alone
    alone=$(($(cat peak.alone) - $(cat small.alone)))
    for rank in 0 1 2 3; do
        data=$(($(cat peak.$rank) - $(cat small.$rank)))
        [ $((2 * data)) -lt "$alone" ] || { echo "$data KiB of data on rank $rank, $alone alone"; return 1; }
    done
}
# peaks_of MPI WORDS...: peak.alone of one process, peak.0 to peak.3 of four ranks.
peaks_of() {
    local mpi=$1
    shift
    rm -f peak.* many.npy
    "$PYTHON" "$work/peak.py" "$flynn" "$@" -b simd --repeat=1 --warmup=0 >/dev/null 2>&1
    program="$PYTHON $work/peak.py $flynn" ranked "$mpi" 4 "$@" -b simd --repeat=1 --warmup=0 -o many.npy --json=distributed.json
}

# What another host might have: another image, another kernel, of another shape or with one other element, another text,
# and no vector.
mkdir "$work/other_files"
echo 'float f(float x) { return 2 * x; }' >f.c
echo 'float f(float x) { return 3 * x; }' >"$work/other_files/f.c"
run increment ints.npy -b serial "${quick[@]}" -o weights.npy
cp weights.npy "$work/other_files/weights.npy"
printf x | dd of="$work/other_files/weights.npy" bs=1 seek=$(($(stat -c %s weights.npy) - 1)) conv=notrunc 2>/dev/null
cp big_endian.npy image.npy "$work/other_files"
# And a plugin that is not the same build.
mkdir "$work/other_plugins"
cp "$links/../flynn-serial.so" "$work/other_plugins"
echo >>"$work/other_plugins/flynn-serial.so"
cp tall.npy "$work/other_files/kernel.npy"
run convolve1d line.npy line.npy -b serial "${quick[@]}" -o crossed_line.npy

# Are the numbers of two .npy files the same, to 1e-5 of the first?
cat >values.py <<'END'
import ast, struct, sys
def read(path):
    data = open(path, "rb").read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    code = ast.literal_eval(data[10:start].decode())["descr"]
    return [x for x, in struct.iter_unpack({"<f4": "<f", "<f8": "<d"}[code], data[start:])]
a, b = map(read, sys.argv[1:])
assert len(a) == len(b) > 0 and all(abs(x - y) <= 1e-5 * b[0] for x, y in zip(a, b)), (a, b)
END
# 40 images of several sizes, the same ones with one that is no PNG, and 400 that are one; what one process makes of them.
"$PYTHON" - <<'END'
import os, struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for folder in ("in", "bad", "many"):
    os.mkdir(folder)
    for i in range(1 if folder == "many" else 40):
        width, height = (96, 96) if folder == "many" else (20 + i % 7, 24 + i % 5)
        rows = b"".join(b"\0" + bytes((x * y * (i + 3) + (x ^ y) * 11) % 256 for x in range(width)) for y in range(height))
        with open(f"{folder}/i{i:02}.png", "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
                       chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
with open("bad/i04.png", "w") as file:
    file.write("no picture")
for i in range(1, 400):
    os.link("many/i00.png", f"many/i{i:03}.png")
END
mkdir none # found first, and no libraries
touch none/libopenblas{,p,o}.so.0 none/libblas.so.3 none/liblapack.so.3
ok "batch on one process" batch in -b serial --keep=3 --output-dir=one-out --json=one.json
bits=$(grep -o '"bits": "[0-9a-f]*"' one.json | grep -o '[0-9a-f]\{16\}')
variant_of_batch=$(grep -o '"variant": "[a-z-]*"' one.json | cut -d'"' -f4)

first=${mpis# }
first=${first%% *}
for mpi in $mpis; do
    counts="1 2 3 4"
    [ "$mpi" = "$first" ] || counts="1 3"
    for count in $counts; do
        program=$dist seconds=$((3 * seconds)) ranked "$mpi" $count serial omp $emulation # ranks spin while they wait
        check "the calls of libflynn-dist on $count ranks, $mpi" is_done
        check "cases on $count ranks, $mpi" grep -qE '[0-9]{3} cases of .* ranks, 0 failed' "$work/out"
    done
    # From here on Open MPI looks for no network: half of what the start of three processes takes; and both for no PCI devices: a
    # quarter of the rest.
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader HWLOC_COMPONENTS=-pci,-linuxio

    # What lies above the links is the same: the second MPI runs less of it.
    exercises="sort convolve" wrong=("sort sort.out") files=("sort --size=1000 --dtype=i64")
    if [ "$mpi" = "$first" ]; then
        exercises="$exercises convolve1d map increment sqrt maximum log_of_sum reconstruct matmul histogram scan"
        wrong+=("sqrt sqrt.out" "convolve convolve.out" "reconstruct reconstruct.y" "matmul matmul.c" "svd qr.qt" "svd matmul.c")
        wrong+=("allclose allclose.found" "map map.out" "convolve1d convolve1d.out --size=40000" "primes primes.out --upto=94" "select select.out" "select select.count" "histogram histogram.out" "reduce reduce.out" "scan scan.out")
        files+=("convolve1d --size=40000 --variant=naive --taps=225" "select --size=500" "select --size=2 --dtype=f32" "primes --upto=200" "primes --upto=3 --method=sieve")
        files+=("increment --shape=7x3" "sqrt --size=50" "maximum --size=9" "sort --size=2" "convolve --size=40 --variant=naive"
            "reconstruct --size=30 --variant=naive" "matmul --size=30 --variant=naive" "matmul --size=7 --dtype=i32 --transpose=b" "sort line.npy --dtype=f64" "select nan.npy" "sqrt ints_f2.npy"
            "increment none.npy" "maximum image.npy big_endian.npy" "convolve image.npy kernel.npy --variant=naive"
            "convolve1d line.npy crossed_line.npy --variant=naive" "log_of_sum image.npy 3" "log_of_sum 6 7"
            "map x*y+z image.npy tall.npy 3" "map x+y 0:50:3 0.5" "sqrt fortran.npy" "select fortran.npy"
            "convolve fortran.npy kernel.npy --variant=naive" "convolve rgb.png kernel.npy --variant=naive" "map x+y fortran.npy tall.npy"
            "select grey_alpha.png" "histogram --size=500" "histogram ints_f2.npy --bins=7" "histogram fortran.npy --outside=clip --range=0,3"
            "histogram grey_alpha.png --bins=10" "histogram none.npy --bins=3")
        files+=("reduce --size=500 --dtype=i64" "reduce --size=2 --operation=argmax" "reduce --size=999 --operation=minimum" "reduce nan.npy --operation=argmin"
            "reduce ints_f2.npy --operation=dot ints_f2.npy" "reduce fortran.npy --operation=maximum" "reduce none.npy" "reduce grey_alpha.png")
        files+=("scan --size=500 --dtype=i64" "scan --size=2 --dtype=u8" "scan --size=2 --operation=maximum" "scan --size=999 --dtype=i32 --exclusive"
            "scan nan.npy --operation=maximum" "scan ints_f2.npy --variant=naive" "scan fortran.npy --operation=maximum --exclusive" "scan none.npy"
            "scan grey_alpha.png --exclusive" "scan --size=500 --dtype=i64 --in-place --exclusive")
        # A result with fewer elements than ranks; a kernel that contains the image; one without elements.
        files+=("convolve1d --size=16 --mode=valid --variant=naive" "convolve --size=2 --mode=valid --variant=naive"
            "convolve image.npy none.npy --variant=naive")
    fi
    for exercise in $exercises; do
        ranked "$mpi" 3 $exercise --size=40 -b serial "${quick[@]}" --json=distributed.json --trace=trace.json
        check "$exercise on three ranks, $mpi" is_done
        check "$exercise: the trace of each" "$PYTHON" spans.py $exercise
        check "$exercise: shares" json distributed.json "(lambda r: r['ranks'] == 3 and r['check']['ok'] and
            r['check']['compared'] == r['elements'] and len(r['per_rank']) == 3 and
            sum(p['share'] for p in r['per_rank']) == r['shape'][0] and r['elements'] >= 40 and
            all(p['first'] == sum(q['share'] for q in r['per_rank'][:i]) for i, p in enumerate(r['per_rank'])))(d['results'][0])"
    done
    ranked "$mpi" 2 sort --size=10000 --dtype=i64 -b simd "${quick[@]}" --json=distributed.json
    check "half of the elements change their rank" json distributed.json "35e3 < d['results'][0]['link']['bytes'] < 45e3 and
        d['results'][0]['link']['name'] == '$mpi'"
    ranked "$mpi" 2 sort --size=1000 "${quick[@]}"
    check "one table" one_table sort
    ranked "$mpi" 3 primes --upto=1e6 --method=sieve -b serial "${quick[@]}" --json
    check "the sum of all ranks' primes, $mpi" json "$work/out" 'd["results"][0]["sum"] == 37550402023'
    ranked "$mpi" 4 sort --size=2 -b serial "${quick[@]}"
    check "fewer elements than ranks" is_done
    # The sum of 0.1 by one loop and by trees, on several ranks: the bounds are those of dist.h, of which a loop exceeds the second.
    for variant in blocked naive; do
        ranked "$mpi" 3 scan fill:1000000,value=0.1,dtype=f32 -b serial --variant=$variant "${quick[@]}" --json=distributed.json
        check "scan $variant, $mpi" is_done
        check "its error" json distributed.json "(d['results'][0]['check']['max_abs'] > 20) == ('$variant' == 'naive')"
    done

    # The same file as one process writes, byte by byte, where sums have one order.
    for words in "${files[@]}"; do
        # shellcheck disable=SC2086 # words
        run $words -b serial "${quick[@]}" -o one.npy
        # shellcheck disable=SC2086
        ranked "$mpi" 3 $words -b serial "${quick[@]}" -o three.npy
        check "$words: a file, $mpi" is_done
        check "$words: the same bytes" cmp one.npy three.npy
    done
    for words in "increment --shape=2x4" "sqrt grey8.png"; do
        # shellcheck disable=SC2086 # words
        run $words -b serial "${quick[@]}" -o one.png
        # shellcheck disable=SC2086
        ranked "$mpi" 3 $words -b serial "${quick[@]}" -o three.png
        check "$words: a picture, $mpi" is_done
        check "$words: the same picture" cmp one.png three.png
    done

    # Each rank writes its rows; where one does not see the unfinished file, or it is a pipe, rank 0 writes them.
    run increment --size=50 -b serial "${quick[@]}" -o one.npy
    export ON_RANK_1="-C $work/other_files"
    program="$work/on_rank_1 $flynn" ranked "$mpi" 3 increment --size=50 -b serial "${quick[@]}" -o three.npy
    check "a folder that one rank does not see, $mpi" is_done
    check "the same bytes" cmp one.npy three.npy
    ranked "$mpi" 3 increment --size=50 -b serial -o three.npy
    check "a result alone, $mpi" grep -q 'not a measurement' "$work/out"
    check "the same bytes of one pass" cmp one.npy three.npy
    ranked "$mpi" 3 increment --size=50 -b serial "${quick[@]}" -o -
    check "stdout, $mpi" cmp one.npy "$work/out"
    export ON_RANK_1="prlimit --fsize=16777216"
    # As users have it: a second in which rank 0 removes the unfinished file.
    OMPI_MCA_odls_base_sigkill_timeout=1 program="$work/on_rank_1 $flynn" ranked "$mpi" 2 increment --size=6M --dtype=f32 -b serial "${quick[@]}" -o large.npy
    check "rank 1 cannot write its rows: exit code 4, $mpi" [ "$status" = 4 ]
    check "why" told "rank 1 ("
    check "no file is left" [ -z "$(find . -maxdepth 1 -name 'large.npy' -o -maxdepth 1 -name '.flynn-*')" ]
    unset ON_RANK_1

    # A file that one of the ranks does not see, or of which it sees another one; a kernel that is not the same.
    if [ "$mpi" = "$first" ]; then
        export ON_RANK_1="-C $work/other_files"
        cp ints_i2.npy "$work/other_files/ints.npy"
        for words in "sort line.npy:cannot be read" "select ints.npy:ints.npy: is not the file that rank 0 reads" \
            "convolve big_endian.npy kernel.npy:kernel.npy: is not the file that rank 0 reads" \
            "convolve image.npy weights.npy:weights.npy: is not the file that rank 0 reads" \
            "map f.c --size=9:f.c: is not the file that rank 0 reads"; do
            # shellcheck disable=SC2086 # words
            program="$work/on_rank_1 $flynn" ranked "$mpi" 2 ${words%%:*} -b serial "${quick[@]}"
            check "${words%%:*} on two hosts: exit code 2" [ "$status" = 2 ]
            check "which rank" told "rank 1 ("
            check "why" told "${words##*:}"
        done
        unset ON_RANK_1
        for words in "convolve truncated.png" "sort fortran.npy" "sort -" "select truncated.npy" "map x+ 3" "maximum image.npy line.npy"; do
            # shellcheck disable=SC2086 # words
            ranked "$mpi" 2 $words
            check "$words: exit code 2" [ "$status" = 2 ]
            check "$words: one line" told ""
        done
        ranked "$mpi" 3 allclose ints.npy image.npy -b serial "${quick[@]}"
        check "arrays that are not close: exit code 1" [ "$status" = 1 ]
        check "the answer of the whole" grep -q '12 of 12 differ; the worst is \[1, 2\]: 6 and' "$work/out"
    fi

    # Nobody gathers: neither to read, nor to compute, check or write. Large enough that the data are most of the memory.
    if [ "$mpi" = "$first" ]; then
        run log_of_sum --size=16M -b simd "${quick[@]}" -o large.npy
        peaks_of "$mpi" sort --size=1000
        for words in alone 0 1 2 3; do
            mv peak.$words small.$words
        done
        for words in "sort large.npy" "select large.npy" "convolve --size=3600 --dtype=f32"; do
            # shellcheck disable=SC2086 # words
            peaks_of "$mpi" $words
            check "$words on four ranks" is_done
            [ -n "${ASAN_OPTIONS:-}" ] || check "$words: nobody gathers" nobody_gathers # its own memory is counted, too
            check "$words: disjoint shares, and bytes on the link" json distributed.json "(lambda r: r['link']['bytes'] > 0 and
                all(p['first'] + p['share'] <= q['first'] for p, q in zip(r['per_rank'], r['per_rank'][1:])) and
                sum(p['share'] for p in r['per_rank']) == r['shape'][0])(d['results'][0])"
        done
        rm -f large.npy many.npy
    fi

    # One process begins others, which are not ranks.
    ranked "$mpi" 1 compare sort --size=100 -b serial "${quick[@]}"
    check "a launcher of one process, $mpi" is_done

    ranked "$mpi" 2 info
    check "a line a rank" [ "$(grep -c '^rank [01]: ' "$work/out")" = 2 ]
    check "the library" grep -q "^2 ranks, joined by $mpi (" "$work/out"

    # What the link moves, by size. Kept times are compared with those of an exercise; here they are made up.
    ranked "$mpi" 3 ceiling --size=1000 -b serial --repeat=2 --json=network.json
    check "ceiling on three ranks, $mpi" is_done
    check "what it measures" "$PYTHON" -c '
import json
n = json.load(open("network.json"))["network"]
sizes, distributed = [8, 64, 512, 1000], [6, 63, 510, 999]
expected = [("ping_pong", r, b) for r in (1, 2) for b in [0] + sizes]
expected += [("exchange", None, b) for b in distributed] + [("all_reduce", None, b) for b in sizes]
assert [(m["key"], m["partner"], m["bytes"]) for m in n["measured"]] == expected, n
assert n["ranks"] == 3 and n["link"] == "'$mpi'" and len(n["hosts"]) == 3
bus = {"ping_pong": 1, "exchange": 2 / 3, "all_reduce": 4 / 3}
for m in n["measured"]:
    assert len(m["times_s"]) == 2 and m["least_s"] == min(m["times_s"]) and m["path"] == "host" and m["where"] == "one host"
    assert abs(m["seconds"] - sum(m["times_s"]) / 2) < 1e-12, m
    if m["bytes"]:
        assert abs(m["algbw_bytes_per_s"] * m["seconds"] / m["bytes"] - 1) < 1e-9, m
        assert abs(m["busbw_bytes_per_s"] / m["algbw_bytes_per_s"] / bus[m["key"]] - 1) < 1e-9, m'
    echo "{\"$(uname -n)/link/$mpi, 2 ranks, 2 on this host, host\":
        {\"exchange_bytes_s\": [[1, 0.001], [8, 0.002], [16, 0.006]]}}" >"$work/cache/ceilings.json"
    ranked "$mpi" 2 sort --size=6 --dtype=i32 -b serial --repeat=1 --json=distributed.json
    check "near the link's ceiling" "$PYTHON" -c '
import json
r = json.load(open("distributed.json"))["results"][0]
worst = max(r["per_rank"], key=lambda p: p["link_s"])
times = {4: 0.001 + 0.001 * 3 / 7, 8: 0.002, 12: 0.004}
assert abs(r["link"]["percent_of_ceiling"] * worst["link_s"] / 100 - times[worst["link_bytes"]]) < 1e-9, r["link"]'

    # svd: the factors of all ranks, in files, are those of the matrix that -o writes; one table says by which variant.
    for words in "svd --size=60 --keep=7" "svd --size=90 --keep=90 --dtype=f64" "svd --size=3"; do
        # shellcheck disable=SC2086 # words
        ranked "$mpi" 3 $words -b serial "${quick[@]}" --factors=factors -o distributed.npy --json=distributed.json
        check "$words on three ranks, $mpi" is_done
        check "$words: the variant" grep -q "take the variant randomized" "$work/err"
        check "$words: shares" json distributed.json "(lambda r: r['check']['ok'] and r['ranks'] == 3 and r['variant'] == 'randomized' and
            sum(p['share'] for p in r['per_rank']) == r['shape'][0] and r['link']['bytes'] > 0 and
            r['least_error'] <= r['error'] * 1.0001 and r['error'] <= r['randomized_bound'] + 1e-6 * r['norm'])(d['results'][0])"
        # shellcheck disable=SC2086
        run $words -b serial --variant=randomized "${quick[@]}" -o one.npy
        run allclose one.npy distributed.npy --atol=1e-4
        check "$words: the matrix of one process" is_done
        run reconstruct factors/u.npy factors/s.npy factors/vt.npy -b serial "${quick[@]}" -o again.npy
        run allclose again.npy distributed.npy --atol=1e-4
        check "$words: the factors" is_done
        rm -r factors
    done
    # The values of a wide matrix are not computed on several ranks, and nothing is said that would need them.
    ranked "$mpi" 2 svd random:3x4097 --keep=2 -b serial "${quick[@]}"
    check "svd of a wide matrix on two ranks, $mpi" is_done
    says_no_nan() { grep -q "its singular values imply" "$work/out" && ! grep -qiw nan "$work/out"; }
    check "svd of a wide matrix on two ranks, $mpi: no number is nan" says_no_nan

    # Where all values are asked for they are those that SciPy found.
    for name in tall_f64 wide_f64 rank_3_f32; do
        ranked "$mpi" 3 svd "$operations/svd/golden/$name.a.npy" -b serial "${quick[@]}" --factors=factors
        check "svd of $name, $mpi" is_done
        check "svd of $name: SciPy's values" "$PYTHON" values.py factors/s.npy "$operations/svd/golden/$name.s.npy"
        rm -r factors
    done
    # Rank 0 decomposes what all ranks share: here by rotations, as LAPACK does not load.
    LD_LIBRARY_PATH=$work/none ranked "$mpi" 3 svd constant.npy -b serial "${quick[@]}"
    check "svd of a constant without LAPACK, $mpi" is_done

    # batch: the files of one process, whichever rank takes an image; the sum of all bits, too.
    ranked "$mpi" 3 batch in -b serial --keep=3 --output-dir="out-$mpi" --json=distributed.json
    check "batch on three ranks, $mpi" is_done
    check "batch: the same files" diff -r one-out "out-$mpi"
    same_batch() {
        json distributed.json "(lambda r: r['check']['bits'] == '$bits' and r['done'] == 40 and r['ranks'] == 3 and len(r['per_rank']) == 3 and r['imbalance'] >= 1 and
            sum(p['done'] for p in r['per_rank']) == r['done'] and r['wall_s'] == max(p['wall_s'] for p in r['per_rank']))(
            d['batch']['runs'][0])"
    }
    check "batch: the same numbers" same_batch
    rm "out-$mpi/i07.png" "out-$mpi/i30.png"
    ranked "$mpi" 2 batch in -b serial --keep=3 --output-dir="out-$mpi" --resume --json=distributed.json
    check "batch --resume" json distributed.json "(lambda r: r['done'] == 2 and r['already_there'] == 38)(d['batch']['runs'][0])"
    check "batch --resume: the same files" diff -r one-out "out-$mpi"
    ranked "$mpi" 3 batch in/i00.png -b serial --keep=3 --output-dir=single
    check "fewer images than ranks" cmp one-out/i00.png single/i00.png
    rm -r single
    program="env LD_PRELOAD=$work/late.so $flynn" ranked "$mpi" 2 batch in/i00.png -b serial --keep=3 --output-dir=single --json=distributed.json
    check "rank 0 gets no image, $mpi" is_done
    check "rank 0 gets no image: what ran" json distributed.json "(lambda r: r['variant'] == '$variant_of_batch' and [p['done'] for p in r['per_rank']] == [0, 1])(
        d['batch']['runs'][0])"
    rm -rf out-bad
    ranked "$mpi" 3 batch bad -b serial --keep=3 --output-dir=out-bad --json=distributed.json
    check "a bad image: exit code 1, $mpi" [ "$status" = 1 ]
    check "a bad image: which" json distributed.json "(lambda r: [f['input'] for f in r['failures']] == ['bad/i04.png'] and
        r['failed'] == 1 and r['done'] == 39)(d['batch']['runs'][0])"
    check "a bad image: the others are done" [ "$(find out-bad -name '*.png' | wc -l)" = 39 ]

    # A wrong element of one rank is reported, with its place in the whole.
    export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/one-wrong
    for words in "${wrong[@]}"; do
        read -r exercise place size <<<"$words"
        export ON_RANK_1="FAULT_PLACE=$place:first"
        program="$work/on_rank_1 $flynn" ranked "$mpi" 2 "$exercise" "${size:---size=94}" -b one-wrong "${quick[@]}" --json=distributed.json
        check "$exercise with a wrong element on rank 1: exit code 1, $mpi" [ "$status" = 1 ]
        check "its place" json distributed.json "(lambda r: not r['check']['ok'] and (
            '$exercise' in ('sort', 'select', 'histogram', 'reduce', 'allclose', 'svd') or r['check']['worst_index'][0] >= r['per_rank'][1]['first']))(d['results'][0])"
    done
    # The images of a rank whose reconstruction is wrong are named.
    export ON_RANK_1=FAULT_PLACE=reconstruct.y:first
    program="$work/on_rank_1 $flynn" ranked "$mpi" 2 batch many -b one-wrong --decompose-on=serial --keep=3 --json=distributed.json
    check "batch with wrong elements on rank 1, $mpi" json distributed.json "(lambda r: $status == (r['per_rank'][1]['failed'] > 0) and r['failed'] > 0 and
        all(f['wrong'] and f['rank'] == 1 for f in r['failures']) and r['failed'] == r['per_rank'][1]['failed'])(d['batch']['runs'][0])"
    # A device that fails ends the batch, with one exit code and one line.
    export ON_RANK_1=FAULT_LAUNCHES=0 FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/failing
    rm -rf out-bad
    program="$work/on_rank_1 $flynn" ranked "$mpi" 2 batch many -b failing --decompose-on=serial --keep=3 --output-dir=out-bad
    check "batch where the device of rank 1 fails: exit code 4, $mpi" [ "$status" = 4 ]
    check "which rank" told "rank 1 ("
    unset FLYNN_PLUGIN_PATH ON_RANK_1

    # What can be foreseen: one line, one exit code.
    for words in "svd --variant=jacobi" "svd --keep=2,3" "laws sort --ranks=1,2" "sort --sise=3" "sort x.npy" "sort -b serial,omp" "convolve --png=x.png" "sort -o x.png" "sort --ranks=3" "reduce --axis=0 --shape=9x5"; do
        # shellcheck disable=SC2086 # words
        ranked "$mpi" 2 $words
        check "$words: exit code 2, $mpi" [ "$status" = 2 ]
        check "$words: one line" told ""
    done
    export ON_RANK_1=FLYNN_BACKEND=nothing
    program="$work/on_rank_1 $flynn" ranked "$mpi" 2 sort --size=1000 "${quick[@]}"
    check "a wrong backend on one rank: exit code 2, $mpi" [ "$status" = 2 ]
    check "which rank" told "rank 1 ("
    # Before it joins the others, too, in the one case by telling them, in the other by its launcher. Open MPI's mpirun (4.1.4) may crash or wait
    # for ever when it ends processes that are connecting to it (54 launches of 6600 on busy processors): rank 1 fails when they wait for it.
    for variable in FLYNN_MAX_TIME=nonsense FLYNN_LINK_TIMEOUT=soon FLYNN_LINK=nothing; do
        export ON_RANK_1=$variable
        WAIT_ON_RANK_1=0.5 program="$work/on_rank_1 $flynn" ranked "$mpi" 3 sort --size=1000 "${quick[@]}"
        check "$variable on one rank: exit code 2, $mpi" [ "$status" = 2 ]
        check "$variable: one line" told "${variable#*=}"
        [ "${variable%=*}" = FLYNN_LINK ] || check "$variable: which rank" told "rank 1 ("
    done
    export ON_RANK_1=FLYNN_PLUGIN_PATH=$work/other_plugins
    program="$work/on_rank_1 $flynn" ranked "$mpi" 2 sort --size=1000 -b serial "${quick[@]}"
    check "another build of a plugin on one rank: exit code 2, $mpi" [ "$status" = 2 ]
    check "which" told "rank 1 ($(hostname)): its plugin serial is not the build that rank 0 has"
    export ON_RANK_1="OMP_NUM_THREADS=2 FLYNN_QUIET=1"
    program="$work/on_rank_1 $flynn" ranked "$mpi" 2 sort --size=1000 -b omp "${quick[@]}"
    check "a default of the host's, and --quiet, may differ, $mpi" is_done
    unset ON_RANK_1
    program="$work/other_on_rank_1" ranked "$mpi" 2 sort --size=9
    check "another command on one rank: exit code 2, $mpi" [ "$status" = 2 ]
    check "which" told "rank 1 ($(hostname)): has command=select, and rank 0 has command=sort"
    ranked "$mpi" 2 sort --size=100M --max-time=0.3 -b serial
    check "no pass within --max-time: exit code 4, $mpi" [ "$status" = 4 ]
    check "one line" told "--max-time: not even the first pass ended within 0.3 s"
    ranked "$mpi" 2 sort --help
    check "--help, $mpi" is_done
    check "one help" [ "$(grep -c '^Usage: flynn sort' "$work/out")" = 1 ]
    check "no line of the launcher's" [ ! -s "$work/err" ]

    # A signal to one rank: all finish what they have begun, and one table says how many.
    cat >"$work/signals_rank_1" <<'END'
#!/bin/sh
# Once something is written.
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 1 ]; then
    (until [ -n "$(ls -A interrupted 2>/dev/null)" ]; do sleep 0.02; done; kill -INT $$) &
fi
exec "$@"
END
    chmod +x "$work/signals_rank_1"
    rm -rf interrupted
    program="$work/signals_rank_1 $flynn" ranked "$mpi" 2 batch many -b serial --keep=3 --svd=jacobi --output-dir=interrupted \
        --json=distributed.json
    check "SIGINT to rank 1: exit code 1, $mpi" [ "$status" = 1 ]
    check "how many" told "ended by a signal"
    check "what is done is written" json distributed.json "(lambda r: r['interrupted'] and 0 < r['done'] < 400 and r['failed'] == 0 and
        r['done'] == $(find interrupted -name '*.png' | wc -l))(d['batch']['runs'][0])"

done

# Each option that flynn lists, on one rank alone; random operations against one process; signals to --ranks.
check "options that differ" env FLYNN="$flynn" "$PYTHON" -B "$here/on_ranks.py" options --mpi="$first"
check "results of random operations" env FLYNN="$flynn" "$PYTHON" -B "$here/on_ranks.py" results --cases=8
check "signals" env FLYNN="$flynn" "$PYTHON" -B "$here/on_ranks.py" signals --cases=8

# Groups that cannot work: all ranks end soon, and not with 0. A rank that is killed, one that hangs, and one that is stopped before it joins;
# one that is stopped in what all do together: while they join, and at the end, when the result has its name.
# One loaded Python looks at the processor time: a process started for each look may come too late on busy processors.
cat >"$work/hurts_rank_1" <<END
#!$PYTHON
"""hurts_rank_1 SIGNAL TICKS COMMAND...: once it computes, after that many hundredths of a second of processor time."""
import os, signal, sys, time
rank, number, ticks = os.getpid(), getattr(signal, sys.argv[1]), int(sys.argv[2])
if os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK")) == "1" and os.fork() == 0:
    try:
        while int(open(f"/proc/{rank}/stat").read().rpartition(")")[2].split()[11]) < ticks:
            time.sleep(0.1)
        os.kill(rank, number)
    except (FileNotFoundError, ProcessLookupError):
        print("hurts_rank_1: rank 1 ended before", file=sys.stderr)
    os._exit(0)
os.execvp(sys.argv[3], sys.argv[3:])
END
chmod +x "$work/hurts_rank_1"
for call in MPI_Comm_dup MPI_Finalize; do
    echo "#include <signal.h>
        long $call(void) { return raise(SIGSTOP); }" | ${CC:-cc} -shared -fPIC -x c -o "$work/stops-$call.so" -
done
export FLYNN_LINK_TIMEOUT=2
[ -z "${ASAN_OPTIONS:-}" ] || FLYNN_LINK_TIMEOUT=15 # within which all join, on busy processors
unset OMPI_MCA_odls_base_sigkill_timeout # as users have it
for mpi in $mpis; do
    program="$work/hurts_rank_1 SIGKILL 50 $flynn" begin "killed-$mpi" ranked "$mpi" 2 sort --quiet --size=3000000 -b serial --min-time=60
    program="$work/hurts_rank_1 SIGSTOP 50 $flynn" begin "stopped-$mpi" ranked "$mpi" 2 sort --quiet --size=3000000 -b serial --min-time=60
    program="$work/hurts_rank_1 SIGSTOP 0 $flynn" begin "absent-$mpi" ranked "$mpi" 2 sort --size=1000 -b serial "${quick[@]}"
    for call in MPI_Comm_dup MPI_Finalize; do
        ON_RANK_1=LD_PRELOAD=$work/stops-$call.so program="$work/on_rank_1 $flynn" begin "$call-$mpi" ranked "$mpi" 3 sort \
            --size=1000 -b serial "${quick[@]}" -o "$call-$mpi.npy"
    done
done
export OMPI_MCA_odls_base_sigkill_timeout=0
for mpi in $mpis; do
    for what in killed stopped absent; do
        taken "$what-$mpi"
        check "a rank that is $what, $mpi" [ "$status" != 0 ]
        check "within the time" [ "$status" != 124 ]
        [ "$what" != stopped ] || check "which rank" grep -q "rank 1 (.*) was not heard of for $FLYNN_LINK_TIMEOUT s" "$work/err"
        [ "$what" != absent ] ||
            check "which rank, or that one is missing" grep -qE 'rank 1 \(.*\) was not heard of|not all processes .* have joined' "$work/err"
    done
    for call in MPI_Comm_dup MPI_Finalize; do
        check "$call, $mpi: no rank is left" no_rank_of "$call-$mpi"
        taken "$call-$mpi"
        # Above 4: that of a rank that Open MPI's mpirun has killed, or that crashed in MPI when it lost the others.
        check "a rank that is stopped in $call, $mpi: exit code 4 or above" grep -qxE "4|1(3[0-9]|43)" <<<"$status"
        [ "$call" = MPI_Finalize ] && told="have left within $FLYNN_LINK_TIMEOUT s" || told="have joined within $FLYNN_LINK_TIMEOUT s"
        check "one line" told "$told"
    done
    check "the result, which was complete" test -s "MPI_Finalize-$mpi.npy"
done
unset FLYNN_LINK_TIMEOUT

# A link that says that it reads and writes device memory: it is tried first. Compiled as docs/cluster.md tells for another MPI.
if [ -n "$emulation" ]; then
    mpi=$first
    mkdir -p claims/links
    check "another link is compiled" mpicc.$mpi -std=gnu11 -O1 -shared -fPIC -fvisibility=hidden -pthread -D_GNU_SOURCE -I "$here/../../core/include" \
        -DLINK_NAME=claims '-DLINK_VARIABLES="OMPI_COMM_WORLD_SIZE", "PMI_RANK"' '-DLINK_BUILT_WITH="a test"' \
        "$here/../faults/link_claims.c" "$here"/../../core/dist/links/{counter,ranks}.c -o claims/links/flynn-link-claims.so
    export FLYNN_PLUGIN_PATH=$PWD/claims FLYNN_LINK=claims
    for delivers in all zeros; do
        export LINK_DELIVERS=$delivers
        for exercise in sort convolve "svd --factors=$delivers"; do
            # shellcheck disable=SC2086 # words
            ranked "$mpi" 2 $exercise --size=90 -b hip-cpu "${quick[@]}" --json=$delivers.json
            check "$exercise over a link that delivers $delivers" is_done
            check "its path" json $delivers.json "d['results'][0]['check']['ok'] and
                d['results'][0]['link']['path'] == ('device' if '$delivers' == 'all' else 'staged')"
        done
    done
    check "svd has the same bits by both paths" diff -r all zeros
    ranked "$mpi" 2 sort --size=90 -b hip-cpu "${quick[@]}" --path=device
    check "a path that is not there: exit code 3" [ "$status" = 3 ]
    check "one line" told "the path 'device' is not there: these ranks have 'staged'"
    unset FLYNN_PLUGIN_PATH FLYNN_LINK LINK_DELIVERS
    ranked "$mpi" 3 sort --size=90 -b hip-cpu "${quick[@]}" --path=staged
    check "staged" is_done
    rm -f "$work/cache/ceilings.json"
    ranked "$mpi" 2 ceiling --size=100 -b hip-cpu --repeat=2 --json=network.json
    check "ceiling of device memory" json network.json "{m['path'] for m in d['network']['measured']} == {'staged'}"
    check "an emulation's are not kept" test ! -e "$work/cache/ceilings.json"
else
    echo "paths between GPUs are skipped: hip-cpu is not built"
fi
ranked "$first" 2 sort --size=90 -b serial --path=shortest
check "a path that does not exist: exit code 2" [ "$status" = 2 ]

# Another host, of another name and with another clock, where this machine lets it have these.
if unshare --uts --time --monotonic 100000 --fork true 2>/dev/null; then
    cat >"$work/elsewhere" <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] ||
    exec unshare --uts --time --monotonic 100000 --fork sh -c 'hostname other && exec "$@"' sh "$@"
exec "$@"
END
    chmod +x "$work/elsewhere"
    program="$work/elsewhere $flynn" ranked "$first" 2 ceiling --size=8 -b serial --repeat=1 --wide --trace=trace.json
    check "ceiling between hosts" grep -q "ping-pong  0, 1  between hosts: other host " "$work/out"
    check "a trace by one clock" json trace.json "[e['args']['name'] for e in d['traceEvents'] if e['name'] == 'process_name'][1] ==
        'rank 1 (other)' and max(e['ts'] for e in d['traceEvents'] if 'ts' in e) < 1e9"
else
    echo "two clocks are left out: no namespace can be made here"
fi

# --ranks begins the launcher itself, and hands its exit code on.
declare -A fails=([openmpi]=OMPI_MCA_plm=nothing [mpich]=HYDRA_LAUNCHER=nothing)
for mpi in $mpis; do
    export FLYNN_LINK=$mpi
    ok "--ranks" sort --ranks=2 --size=1000 -b serial "${quick[@]}"
    check "two ranks" grep -q "checked against: order" "$work/out"
    run sort --ranks=2 -b nothing
    check "the exit code, $mpi" [ "$status" = 2 ]
    FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/one-wrong FAULT_PLACE=sort.out:first run sort --ranks=2 --size=94 -b one-wrong "${quick[@]}"
    check "a wrong result: exit code 1, $mpi" [ "$status" = 1 ]
    export "${fails[$mpi]?}"
    run sort --ranks=2 --size=94
    unset "${fails[$mpi]%=*}"
    check "a launcher that fails itself: exit code 3, $mpi" [ "$status" = 3 ]
    check "one line" told "--ranks: mpirun.$mpi itself failed (exit code "
done
unset FLYNN_LINK
mpi=${mpis##* }
printf '#!/bin/sh\ntouch attacked\n' >"mpirun.$mpi"
chmod +x "mpirun.$mpi"
FLYNN_LINK=$mpi PATH=".:$PATH" ok "--ranks" sort --ranks=2 --size=1000 -b serial "${quick[@]}"
check "an mpirun in the current folder is not run" test ! -e attacked
rm "mpirun.$mpi"
run batch many --ranks=2 -b serial --keep=3 --svd=jacobi --pipeline=one-by-one --output-dir=late --max-time=1
check "--max-time holds for the processes that --ranks begins, not for the one that waits" is_done
# Where the parent process ignores SIGCHLD, no child's end would be known.
cat >"$work/ignores_children" <<END
#!$PYTHON
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv("$flynn", ["$flynn", *sys.argv[1:]])
END
chmod +x "$work/ignores_children"
flynn=$work/ignores_children run sort missing.npy --ranks=2
check "SIGCHLD ignored: the exit code of the ranks" [ "$status" = 2 ]
flynn=$work/ignores_children ok "SIGCHLD ignored: the results of other commands" compare sort --size=100 -b serial "${quick[@]}"
# A child whose end another one has taken.
echo '#include <errno.h>
    #include <stdlib.h>
    __attribute__((constructor)) static void not_in_the_launcher(void) { unsetenv("LD_PRELOAD"); }
    long waitpid(void) { errno = ECHILD; return -1; }' | ${CC:-cc} -shared -fPIC -x c -o "$work/taken.so" -
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$work/taken.so" "$flynn" >"$work/waits_in_vain"
chmod +x "$work/waits_in_vain"
flynn=$work/waits_in_vain run sort missing.npy --ranks=2
check "a child whose end is not known: exit code 4" [ "$status" = 4 ]
check "one line of the command's" grep -qx "flynn sort: the end of a process is not known: No child processes" "$work/err"
refused "a command of one process" 2 "--ranks" taxonomy --ranks=2
for command in list info "kernel -b serial"; do
    # shellcheck disable=SC2086 # words
    FLYNN_RANKS=2 run $command
    check "FLYNN_RANKS has no effect on $command, and one line says so" \
        [ "$(grep -c "FLYNN_RANKS has no effect: this command does not take --ranks" "$work/err")" = 1 ]
done
FLYNN_LINK=nothing refused "another link" 3 "no usable MPI" sort --ranks=2
ranked "$first" 1 sort --ranks=2
check "--ranks under a launcher: exit code 2" [ "$status" = 2 ]
check "one line" told "a launcher started this process"
# Open MPI would give each process one processor, and MPICH all of them.
threads=$OMP_NUM_THREADS
unset OMP_NUM_THREADS OMPI_MCA_hwloc_base_binding_policy
FLYNN_LINK=$mpi ok "--ranks on threads" sort --ranks=2 --size=1000 -b omp "${quick[@]}" --json
export OMP_NUM_THREADS=$threads
check "parts of the processors" json "$work/out" "[p['resource'].split(':')[1] for p in d['results'][0]['per_rank']] ==
    [str(max(1, d['machine']['threads'] // 2))] * 2"

# Scaling over ranks: each number of them in a launch of its own.
ok "laws" laws convolve --ranks=1,2 --size=40 -b serial "${quick[@]}" --json=laws.json
check "the table" [ "$(grep -cE '^(strong|weak) +[12] ' "$work/out")" = 4 ]
check "its points" "$PYTHON" -c '
import json
d = json.load(open("laws.json"))
laws, rows = d["laws"], d["results"]
assert laws["unit"] == "ranks" and laws["backend"] == "serial" and [r.get("ranks") for r in rows] == [None, 2] * 2
assert [r["input_shapes"][0][0] for r in rows] == [40, 40, 28, 40]
for p in laws["strong"] + laws["weak"]:
    row, one = rows[p["result"]], laws[p["scaling"]][0]
    assert p["kernel_s"] == row["kernel_s"] and p["n"] == row.get("ranks", 1)
    assert abs(p["speed_up"] - p["work"] * one["kernel_s"] / p["kernel_s"]) < 1e-9
    assert p["imbalance"] == row.get("imbalance")
    assert p["link_share"] == (row["link"]["link_s"] / row["kernel_s"] if "link" in row else None), p
assert laws["weak"][1]["work"] == (40 / 28) ** 2'
FLYNN_LINK=nothing refused "laws by a link that is none" 3 "no usable MPI" laws sort --ranks=1,2 --size=100 -b serial "${quick[@]}"
ok "laws of an exercise that has one variant on several ranks" laws svd --ranks=1,2 --size=40 -b serial "${quick[@]}" --json=laws.json
check "one variant" json laws.json "all(r['variant'] == 'randomized' for r in d['results'])"
refused "laws over two things" 2 "--threads" laws sort --ranks=1,2 --threads=1,2
refused "laws from two ranks on" 2 "'2,4' is not ascending from 1" laws sort --ranks=2,4
ok "no launcher, no link" info
check "no library of MPI is mapped" [ "$(LD_DEBUG=libs "$flynn" info 2>&1 | grep -c 'calling init.*/libmpi')" = 0 ]
summary
