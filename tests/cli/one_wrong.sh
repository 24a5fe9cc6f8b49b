#!/bin/bash
# SPDX-License-Identifier: MIT
# The check of a run catches one wrong element: every operation, in every variant, with the plugin one-wrong (tests/faults), which
# falsifies the element that FAULT_PLACE names.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=small_commands.sh
. "$here/small_commands.sh"
export FLYNN_PLUGIN_PATH=$FLYNN_TEST_FAULTS/one-wrong
quick=(--backend=one-wrong --repeat=1 --warmup=0)

# No command has their result as its own: what converts inputs, what compares, what measures a ceiling, and what several ranks sort and
# decompose with (ranks.sh has wrong elements of theirs). kernel.sh has wrong kernels.
none=(convert allclose copy multiply_add kernel merge qr)
# The outputs of each other operation. One that `flynn list` has and that is missing here fails this test.
declare -A outputs=(
    [convolve]=convolve.out [convolve1d]=convolve1d.out [sort]=sort.out [select]="select.out select.count"
    [reduce]=reduce.out
    [primes]="primes.out primes.count" [increment]=increment.out [sqrt]=sqrt.out [maximum]=maximum.out
    [log_of_sum]=log_of_sum.out [map]=map.out [search_sorted]=search_sorted.out [transpose]=transpose.out
    [reconstruct]=reconstruct.y [svd]="svd.u svd.s svd.vt" [matmul]=matmul.c [histogram]=histogram.out [scan]=scan.out
)
# Lines "operation variant dtype" of what the plugin offers, the oracle left out; the first dtype of several.
ok "list" list --json
"$PYTHON" - "$work/out" "${none[*]}" >"$work/variants" <<'END'
import json, sys
none = sys.argv[2].split()
for row in json.load(open(sys.argv[1]))["variants"]:
    if "one-wrong" in row["backends"] and row["variant"] != "reference" and row["operation"] not in none:
        for dtype in row["dtypes"] if row["variant"] == "fft" else row["dtypes"][:1]: # a library for each
            print(row["operation"], row["variant"], dtype)
END
check "there is something to falsify" test -s "$work/variants"

# choose_places: sets `places`, where elements are falsified. An emulated GPU takes long: it gets one of them by chance, the same ones
# in each run.
choose_places() {
    places=(first middle last)
    if [ -n "${FLYNN_TEST_SMALL:-}" ]; then
        places=("${places[RANDOM % 3]}")
    else
        mapfile -t places < <(printf '%s\n' "${places[@]}" | some 1)
    fi
}

# falsified OPERATION VARIANT ARGUMENT...: each place of each output is noticed.
falsified() {
    local operation=$1 variant=$2 output where title
    shift 2
    for output in ${outputs[$operation]}; do
        choose_places
        for where in "${places[@]}"; do
            export FAULT_PLACE=$output:$where
            title="$operation $variant, $FAULT_PLACE is wrong"
            run "$@" --json
            check "$title: exit code 1" test "$status" = 1
            check "$title: said in the row, which has no rank" json "$work/out" \
                '[(r["check"]["ok"], r["place"]) for r in d["results"]] == [(False, None)]'
            unset FAULT_PLACE
        done
    done
}

# alone OPERATION ARGUMENT...: so it is in the one pass of a run whose result is all that is asked for, and nothing is written.
alone() {
    local operation=$1 output where title
    shift
    rm -f alone.npy
    ok "$operation -o without the fault" "$@" -o alone.npy
    check "$operation -o: one pass" grep -q 'not a measurement' "$work/out"
    check "$operation -o is written" test -s alone.npy
    rm -f alone.npy
    for output in ${outputs[$operation]}; do
        choose_places
        for where in "${places[@]}"; do
            title="$operation -o, $output:$where is wrong"
            FAULT_PLACE=$output:$where run "$@" -o alone.npy
            check "$title: exit code 1" test "$status" = 1
            check "$title: said in the table" grep -qE ' WRONG' "$work/out"
            check "$title: nothing is written" test -z "$(find . -name 'alone.npy' -o -name '*.part')"
        done
    done
}

while read -r operation; do
    words_of "$operation" auto
    check "$operation has its lines in the tables" test -n "${words[*]}" -a -n "${outputs[$operation]:-}"
    [ -n "${words[*]}" ] || continue
    alone "$operation" "${words[@]}" --backend=one-wrong
    words+=("${quick[@]}")
    ok "$operation without the fault" "${words[@]}"
    [ "$status" = 0 ] || continue
    falsified "$operation" auto "${words[@]}"
    while read -r variant dtype; do
        # A variant that lacks the command's own dtype, for want of a library, is run in one that it has.
        run "${words[@]}" --variant="$variant"
        [ "$status" = 0 ] && dtype=
        ok "$operation $variant $dtype without the fault" "${words[@]}" --variant="$variant" ${dtype:+--dtype="$dtype"}
        falsified "$operation" "$variant $dtype" "${words[@]}" --variant="$variant" ${dtype:+--dtype="$dtype"}
    done < <(grep "^$operation " "$work/variants" | cut -d' ' -f2- | sort -u -k1,1 | some 1)
done < <(cut -d' ' -f1 "$work/variants" | sort -u | some 4)

# A large result is compared in blocks, by threads: the element that is wrong has its place in the whole.
for where in $(printf '%s\n' first:0 middle:100000 last:199999 | some 1); do
    for words in "increment --dtype=i64" "increment --in-place" sqrt "sort --in-place" sort; do
        operation=${words%% *}
        FAULT_PLACE=$operation.out:${where%:*} run $words --size=200k --backend=one-wrong -qo large.npy
        check "$words, ${where%:*} of many is wrong: exit code 1" test "$status" = 1
        check "$words, ${where%:*} of many is wrong: no file" test ! -e large.npy
        [ "$operation" = sort ] || check "$words, ${where%:*} of many: its place" grep -qF "element [${where#*:}]" "$work/err"
    done
done

# A number of primes that is off by one.
for words in "sieve 1e6" "trial-all 1000"; do
    read -ra words <<<"primes --count --variant=${words% *} --upto=${words#* } --backend=one-wrong --repeat=1 --warmup=0"
    ok "${words[*]:0:3} without the fault" "${words[@]}"
    FAULT_PLACE=primes.count:first run "${words[@]}" --json
    check "${words[*]:0:3}, the count is wrong: exit code 1" test "$status" = 1
    check "${words[*]:0:3}, the count is wrong: said in the row" json "$work/out" '[r["check"]["ok"] for r in d["results"]] == [False]'
done

# What slice brings by way of a conversion on the device.
ok "slice without the fault" slice --size=40 "${quick[@]}"
for where in $(printf '%s\n' first middle last | some 1); do
    export FAULT_PLACE=convert.out:$where
    run slice --size=40 --slice=3:30,5:9 --json -o slice.npy "${quick[@]}"
    check "slice, $FAULT_PLACE is wrong: exit code 1" test "$status" = 1
    check "slice, $FAULT_PLACE is wrong: said in the row, which has no rank" json "$work/out" \
        '[(r["variant"], r["check"]["ok"], r["place"] is None) for r in d["results"]] ==
        [("whole", True, False), ("view", True, False), ("packed", False, True)]'
    check "slice, $FAULT_PLACE is wrong: no file" test ! -e slice.npy
    unset FAULT_PLACE
done
# The oracle's result is not checked by the oracle. Two checks have samples of their own.
oracles=0
command[allclose]="allclose --size=1000"
for operation in "${!command[@]}"; do
    [[ $operation != *' '* ]] || continue # one variant's
    read -ra words <<<"${command[$operation]} --variant=reference --backend=serial --repeat=1 --warmup=0"
    FLYNN_PLUGIN_PATH='' run "${words[@]}" --json
    [ "$status" != 2 ] || continue # it has none
    oracles=$((oracles + 1))
    check "$operation reference: not checked" test "$status" = 0
    check "$operation reference: check.ok is null" json "$work/out" \
        '[(r["check"]["ok"], r["check"]["compared"], r["place"]) for r in d["results"]] == [(None, 0, None)]'
done
check "every oracle was run" test "$oracles" = "$("$flynn" list --long | grep -c ' reference ')"
for words in "convolve --size=3000" "reconstruct --size=64"; do
    read -ra words <<<"$words --check=sampled --variant=reference --backend=serial --repeat=1 --warmup=0"
    FLYNN_PLUGIN_PATH='' ok "${words[0]} reference, sampled" "${words[@]}" --json
    check "is checked" json "$work/out" 'd["results"][0]["check"]["ok"]'
done
for operation in "${!outputs[@]}"; do
    grep -q "^$operation " "$work/variants" || echo "not offered by serial here, so not tested: $operation"
done
summary
