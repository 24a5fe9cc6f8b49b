#!/bin/bash
# SPDX-License-Identifier: MIT
# gpu.sh [OPTION...] BUILD: what only a machine with a GPU shows; by hand, with nothing else on the GPU. Builds nothing: BUILD was made
# with -DBUILD_TESTING=ON and holds the plugin.
#   1. NVIDIA's compute-sanitizer over every operation, variant and dtype that the plugin lists, on sizes that no block divides: memcheck
#      (addresses), racecheck (shared memory), initcheck (memory read before it is written), synccheck (barriers). A line each.
#   2. large: every operation beyond 2^32 elements; needs about 80 GB of the GPU's memory.
#   3. endurance: 64 threads that open and close devices, 10^6 operations with flat memory.
# -j JOBS        sanitizer runs at a time (the processors)     -p PLUGIN      (hip-nvidia)
# -n ELEMENTS    of large (4294967296; 0: not run)             -o OPERATIONS  of endurance (1000000; 0: not run)
# -t TOOLS       (memcheck,racecheck,initcheck,synccheck)      -m REGEX       only lines "operation variant dtype" that match
# COMPUTE_SANITIZER names the program, which is also looked for in the CUDA toolkit. On 16 cores all of it takes about 10 minutes.
# The last line has the totals. Exit code: 0 nothing failed, 1 something did or could not run, 2 usage.
set -u
export LC_ALL=C
jobs=$(nproc) plugin=hip-nvidia elements=4294967296 operations=1000000 tools=memcheck,racecheck,initcheck,synccheck match=.
while getopts j:p:n:o:t:m: option; do
    case $option in
    j) jobs=$OPTARG ;; p) plugin=$OPTARG ;; n) elements=$OPTARG ;; o) operations=$OPTARG ;; t) tools=$OPTARG ;; m) match=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
build=${1:-}
if [ $# != 1 ] || [ ! -x "$build/bin/flynn" ] || [ ! -x "$build/tests/large" ] || [ ! -x "$build/tests/endurance" ]; then
    echo "usage: gpu.sh [-j JOBS] [-p PLUGIN] [-n ELEMENTS] [-o OPERATIONS] [-t TOOLS] [-m REGEX] BUILD, a build folder with the tests" >&2
    exit 2
fi
build=$(realpath "$build")
work=$(mktemp -d "${TMPDIR:-/tmp}/flynn-gpu.XXXXXX")
trap 'rm -rf "$work"' EXIT
export build plugin work FLYNN_CACHE=$work/cache
mkdir "$work/cache"
python=$(command -v python3) || { echo "gpu.sh: python3 is not installed" >&2; exit 1; }
for variable in ${!FLYNN_*}; do
    [ "$variable" = FLYNN_CACHE ] || unset "$variable"
done

sanitizer=${COMPUTE_SANITIZER:-}
for candidate in compute-sanitizer "${CUDA_PATH:-/usr/local/cuda}/bin/compute-sanitizer" /usr/local/cuda/bin/compute-sanitizer \
    /usr/local/cuda/extras/compute-sanitizer/compute-sanitizer; do
    [ -n "$sanitizer" ] || sanitizer=$(command -v "$candidate")
done
export sanitizer

failed=0
total=0

# ----------------------------------------------------------------------------------------------------- 1. the sanitizer ----

# The command for an operation in small, in numbers that no block divides; what has no command of its own is run by `large`.
program() {
    case $1 in
    convolve | convolve1d | log_of_sum | sqrt | increment | sort | search_sorted | select | reduce | transpose | histogram | allclose | map | kernel)
        local size=5003
        [ "$1" != convolve ] || size=45
        [ "$1" != transpose ] || size=301
        echo "bin/flynn $1 --size=$size" ;;
    maximum) echo "bin/flynn $1 --size=17" ;;
    scan) # a library does not add up floats
        echo "bin/flynn scan --size=20003 $([ "$2" != library ] || echo --operation=maximum)" ;;
    primes) echo "bin/flynn $1 --upto=3001" ;;
    reconstruct) echo "bin/flynn $1 --size=53 --keep=11" ;;
    matmul) echo "bin/flynn $1 --size=53" ;;
    svd) echo "bin/flynn $1 --size=41 --keep=7" ;;
    convert | copy | multiply_add | merge | qr) echo "tests/large $plugin 10007 $1" ;;
    *) return 1 ;;
    esac
}

# Whether there are findings, and each is of a kernel or copy that cuSOLVER itself queued: its first frame outside of the driver is there.
only_within_libraries() {
    awk '/^=+ +(Uninitialized|Host API)/ && !open { open = 1; found++ }
         open && /Host Frame:/ && !/in libcuda\.so/ { open = 0; if ($0 !~ /in libcusolver\.so/) other++ }
         /^=+ *$/ { if (open) other++; open = 0 }
         END { exit !(found > 0 && !other) }'
}

# one TOOL OPERATION VARIANT DTYPE: a line "ok ..." or "FAILED ...".
one() {
    local tool=$1 operation=$2 variant=$3 dtype=$4 log words status title finding
    title=$(printf '%-9s %-12s %-12s %s' "$@")
    log=$work/log.$tool.$operation.$variant.$dtype
    read -ra words <<<"$(program "$operation" "$variant")"
    if [ ${#words[@]} = 0 ]; then
        echo "FAILED   $title: no command for this operation in gpu.sh"
        return
    fi
    words[0]=$build/${words[0]}
    if [ "${words[0]}" = "$build/bin/flynn" ]; then
        words+=(--backend="$plugin" --variant="$variant" --repeat=1 --warmup=0 --quiet)
        [ "$operation" = primes ] || [ "$dtype" = all ] || words+=(--dtype="$dtype")
    fi
    timeout -k 10 300 "$sanitizer" --tool "$tool" --print-limit 100000 --error-exitcode 99 "${words[@]}" >"$log" 2>&1 </dev/null
    status=$?
    if [ $status = 99 ] && ! grep -qE 'errors were not printed|^flynn' "$log" && only_within_libraries <"$log"; then
        echo "ok       $title (but for $(grep -c 'Uninitialized' "$log") reads within the vendor's solver)"
    elif [ $status = 0 ] && grep -qE 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards displayed' "$log"; then
        echo "ok       $title"
    else
        # The sanitizer's first finding, else what the program said, else the end.
        finding=$(grep -m1 -E '^=+ +[A-Z]' <(grep -vE 'COMPUTE-SANITIZER|SUMMARY' "$log") || grep -m1 -E '^flynn|^FAILED' "$log" || tail -1 "$log")
        echo "FAILED   $title: exit code $status: $finding: ${words[*]}"
    fi
    rm -f "$log"
}
export -f one program only_within_libraries

if ! "$build/bin/flynn" list --json >"$work/list" 2>"$work/why"; then
    echo "FAILED   flynn list: $(head -1 "$work/why")"
    exit 1
fi
# One with several dtypes that `large` runs all at once is taken once.
"$python" - "$work/list" "$plugin" >"$work/variants" <<'END' || exit 1
import json, sys
for row in json.load(open(sys.argv[1]))["variants"]:
    if sys.argv[2] in row["backends"] and row["variant"] != "reference":
        all_at_once = row["operation"] in ("convert", "copy", "multiply_add", "merge", "qr", "kernel")
        for dtype in row["dtypes"][:1] if all_at_once else row["dtypes"]:
            print(row["operation"], "all" if all_at_once else row["variant"], "all" if all_at_once else dtype)
END
sort -u "$work/variants" | grep -E "$match" >"$work/chosen"
if [ ! -s "$work/chosen" ]; then
    echo "FAILED   the sanitizer: $plugin offers no such operation here: $("$build/bin/flynn" info 2>&1 | grep -m1 "$plugin")"
    failed=$((failed + 1))
elif [ -z "$sanitizer" ] || ! version=$("$sanitizer" --version 2>&1); then
    echo "FAILED   the sanitizer: compute-sanitizer ${sanitizer:+($sanitizer) }cannot run here: ${version:-it is not installed}"
    failed=$((failed + 1))
else
    echo "sanitizer: $(tail -1 <<<"$version")"
    start=$SECONDS
    for tool in ${tools//,/ }; do
        sed "s/^/$tool /" "$work/chosen"
    done | xargs -P "$jobs" -L 1 bash -c 'one "$@"' one | tee "$work/lines"
    total=$(wc -l <"$work/lines")
    failed=$(grep -vc '^ok' "$work/lines")
    wanted=$(($(wc -l <"$work/chosen") * $(wc -w <<<"${tools//,/ }")))
    [ "$total" = "$wanted" ] || failed=$((failed + 1))
    echo "sanitizer: $total of $wanted runs, $failed failed, $((SECONDS - start)) s"
fi

# ------------------------------------------------------------------------------------------------- 2., 3. large and long ----

# part NAME COMMAND...: shows what it prints; keeps its last line for the totals.
part() {
    local name=$1 status
    shift
    "$@" 2>&1 | tee "$work/$name"
    status=${PIPESTATUS[0]}
    [ "$status" = 0 ] || failed=$((failed + 1))
    totals="$totals; $(tail -1 "$work/$name")"
}
totals="$total sanitizer runs"
[ "$elements" = 0 ] || part large "$build/tests/large" "$plugin" "$elements"
[ "$operations" = 0 ] || part endurance "$build/tests/endurance" "$plugin" 64 "$operations"
echo "gpu.sh: $totals; $failed failed; $SECONDS s"
[ "$failed" = 0 ]
