#!/bin/bash
# SPDX-License-Identifier: MIT
# examples.sh PROGRAM: one of docs/examples, on the best device here and on every backend that can run. It checks its own
# result and says something; nothing may go to stderr.
set -eu
: "${FLYNN:?}" "${PYTHON:?}"
program=$1
usable=$("$FLYNN" info --json | "$PYTHON" -c '
import json, sys
print(*(b["name"] for v in json.load(sys.stdin).values() if isinstance(v, list) for b in v if b.get("usable")))')
[ -n "$usable" ] || { echo "no backend can run here" >&2; exit 1; }
failed=0
# A quick test takes the best device alone.
[ -z "${FLYNN_TEST_QUICK:-}" ] || usable=
for backend in "" $usable; do
    status=0
    # shellcheck disable=SC2086 # without a backend there is no argument
    output=$(timeout $((60 * ${FLYNN_TEST_SLOWNESS:-1})) "$program" $backend 2>&1) || status=$?
    echo "$(basename "$program") ${backend:-(auto)}: $output"
    case $status:$output in
    0:?*) ;;
    *)
        echo "FAILED with exit code $status" >&2
        failed=1
        ;;
    esac
done
exit $failed
