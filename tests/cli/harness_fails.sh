#!/bin/bash
# SPDX-License-Identifier: MIT
# The harness must be able to fail: each of these expectations is wrong, and each must be counted as a failure.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
exec 2>/dev/null

ok "an unknown command is not a success" frobnicate
refused "a success is not a refusal" 2 flynn --version
refused "another exit code" 3 frobnicate frobnicate
refused "other words" 2 "words that are not there" frobnicate
check "a false expression" npy image.npy 'shape == (7, 7)'
check "files that differ" close image.npy fortran.npy 0
printf '{"a": NaN}' >bad.json
check "NaN is no JSON" json bad.json 'True'
before=$(listing)
: >left_behind
[ "$before" != "$(listing)" ] || passed=$((passed + 1))

expected=7
if [ "$failed" = "$expected" ] && [ "$passed" = 0 ]; then
    echo "all $expected wrong expectations were noticed"
else
    echo "$failed of $expected wrong expectations were noticed, $passed passed"
    exit 1
fi
