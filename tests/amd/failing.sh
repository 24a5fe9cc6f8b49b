#!/bin/bash
# SPDX-License-Identifier: MIT
# failing.sh EXERCISE: for each N until none fails, the N-th call of the GPU's runtime fails: the command ends with exit code
# 4 (3 before the device is open) and one line, without an output; or, if it can do without that call, with the right result.
. "$FLYNN_SOURCE/tests/cli/harness.sh"
exercise=$1
case $exercise in
    sort) words=(sort --size=3000 --variant=radix) ;;
    convolve) words=(convolve --size=24 --variant=separable) ;;
    *) echo "unknown: $exercise" >&2; exit 2 ;;
esac
words+=(--backend=hip-amd --repeat=1 --warmup=0 -o out.npy)

ok "$exercise without a fault" "${words[@]}"
mv out.npy right.npy

does_without() {
    cmp out.npy right.npy
}
n=0
reported=0
export AMD_EMULATOR_VERBOSE=1
while [ $((n += 1)) -lt 1000 ]; do
    ! leaves_out 6 || continue
    rm -f out.npy
    AMD_EMULATOR_FAIL=$n run "${words[@]}"
    grep -q "^amd emulator: call $n fails" "$work/err" || break
    sed -i '/^amd emulator: /d' "$work/err"
    if [ "$status" = 0 ]; then
        check "call $n fails: the result is right" does_without
    else
        reported=$((reported + 1))
        [ "$status" = 3 ] && code=3 || code=4
        check "call $n fails: exit code $code, one line" is_refused $code hip
        check "call $n fails: no output" test ! -e out.npy
    fi
done
ok "$exercise after all of its calls" "${words[@]}"
check "calls that fail are reported" test "$reported" -gt "$([ -z "${FLYNN_TEST_QUICK:-}" ] && echo 20 || echo 2)"
echo "$((n - 1)) calls, $reported of them reported"
summary
