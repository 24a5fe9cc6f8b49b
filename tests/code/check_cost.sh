#!/bin/bash
# SPDX-License-Identifier: MIT
# check_cost.sh VALGRIND: what the checks of the operations cost whose work grows with their elements. Counts instructions (callgrind), not
# seconds, so that a busy machine changes nothing: all that a run does for an element, from making the input to the verdict, may be 6 passes of
# serial's plainest variant and 150 instructions. (Two or three of the passes are the run's own.) Of the convolutions test_convolve_check.c
# counts the products.
set -eu
: "${FLYNN:?}"
valgrind=$1
failed=0
export FLYNN_CACHE=off

# count WORD...: the instructions of a run.
count() {
    "$valgrind" --tool=callgrind --callgrind-out-file=/dev/null "$FLYNN" "$@" --backend=serial --warmup=0 --quiet 2>&1 | awk '/Collected/ { print $NF }'
}

# cost NAME SMALL LARGE ELEMENTS OTHERS WORD...: sizes, the elements of the large one, and how many the small one has fewer.
cost() {
    local name=$1 small=$2 large=$3 elements=$4 others=$5 few more passes all pass
    shift 5
    few=$(count "$name" "$small" "$@" --repeat=1) more=$(count "$name" "$large" "$@" --repeat=1) passes=$(count "$name" "$large" "$@" --repeat=6)
    if [ -z "$few" ] || [ -z "$more" ] || [ -z "$passes" ]; then
        echo "FAILED: $name: valgrind counted nothing" >&2
        failed=1
        return
    fi
    all=$(((more - few) / others)) pass=$(((passes - more) / 5 / elements))
    echo "$name: $all instructions for an element, of which a pass takes $pass"
    if [ "$all" -gt $((150 + 6 * pass)) ]; then
        echo "FAILED: $name: expected at most 150 and 6 passes" >&2
        failed=1
    fi
}

for name in increment sqrt log_of_sum sort select reduce histogram allclose; do
    cost $name --size=50000 --size=100000 100000 50000 --variant=naive
done
cost maximum --size=37 --size=46 97336 46683 --variant=naive
cost transpose --size=200 --size=280 78400 38400 --variant=naive
cost primes --upto=100000 --upto=200000 200000 100000 --variant=sieve
exit $failed
