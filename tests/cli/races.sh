#!/bin/bash
# SPDX-License-Identifier: MIT
# What hip-cpu finds in the first pass of a kernel (tests/data/races): each mistake of wrong.hip with its line, and nothing in
# right.hip, whether or not the result is checked. warps.sh reads it for other files: $cases_of. races.sh COMPILER: another compiler
# than c++ finds the same.
# shellcheck source=harness.sh
[ -n "${work:-}" ] || . "$(dirname "$0")/harness.sh"
cases_of=${cases_of:-}
least=$([ "$cases_of" ] && echo 16 || echo 42) # cases of a file
once=(--backend=hip-cpu --repeat=1 --warmup=0)
[ $# = 0 ] || export FLYNN_CXX=$1

run kernel --size=1000 "${once[@]}"
if [ "$status" != 0 ]; then
    check "hip-cpu is not built here, or c++ is not" is_refused 3 ""
    summary
    exit
fi

# cases FILE: writes each kernel to NAME.hip, and prints NAME|ARGUMENTS|WORDS.
cases() {
    awk -F ' [|] ?' '/^\/\/: / { name = substr($1, 5); print name "|" $2 "|" $3; next }
        name { print >(name ".hip") }' "$here/../data/races/$1.hip"
}
# is_found WORDS LINE: a message begins with a line, has the words, and names this line.
is_found() { grep "flynn kernel: .*line [0-9]*: .*\($1\)" "$work/err" | grep -q "line $2\>"; }

cases "${cases_of}wrong" >wrong.list
check "$least wrong kernels" test "$(wc -l <wrong.list)" -ge "$least"
while IFS='|' read -r name arguments words; do
    [[ "$name $#" != misaligned*" 1" ]] || continue # clang does not check the address of a structure that is copied
    # What lies past an array is another one, or nobody's memory, but AddressSanitizer's own where it allocates.
    [[ -z "${ASAN_OPTIONS:-}" || $name != @(into_another_array|wraps_around) ]] || continue
    read -ra arguments <<<"$arguments"
    run kernel "$name.hip" "${arguments[@]}" "${once[@]}"
    check "wrong: $name: exit code" test "$status" = 1
    check "wrong: $name: $words" is_found "$words" "$(grep -n "// HERE" "$name.hip" | cut -d: -f1)"
done < <(some 4 <wrong.list)

is_clean() { ! grep -v "its times vary\|, the same value$" "$work/err"; }
cases "${cases_of}right" >right.list
check "$least right kernels" test "$(wc -l <right.list)" -ge "$least"
while IFS='|' read -r name arguments words; do
    read -ra arguments <<<"$arguments"
    for expect in "" "--expect=$words"; do
        [ "$expect" != --expect= ] || continue
        run kernel "$name.hip" "${arguments[@]}" ${expect:+"$expect"} "${once[@]}"
        check "right: $name $expect: exit code" test "$status" = 0
        check "right: $name $expect: nothing is said of it" is_clean
    done
done < <(some 4 <right.list)
summary
