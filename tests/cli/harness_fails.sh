#!/bin/bash
# SPDX-License-Identifier: MIT
# The harness must be able to fail: each of these expectations is wrong, and each must be counted as a failure. run_ctest.py,
# which runs ctest, must pass a failure on.
unset FLYNN_TEST_QUICK # no case is left out but below
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

printf '1/2 Test #1: short ....   Passed    0.50 sec\n2/2 Test  #2: long ...***Failed   21.60 sec\n\n' >run.txt
printf '50%% tests passed, 1 tests failed out of 2\n\nTotal Test time (real) =  22.10 sec\n' >totals.txt
cat run.txt - totals.txt >slowest.txt <<'END'

The slowest tests: long 22 s, short 0 s
All 2 tests: 22 s of test time (should stay below 300 s without GPU toolchains)
Above 20 s: 1: long

END
"$PYTHON" -B "$here/../run_ctest.py" sh -c 'cat run.txt totals.txt; exit 8' --label-exclude >shown.txt
if [ $? != 8 ] || ! diff slowest.txt shown.txt; then
    echo "run_ctest.py: another exit code than ctest's 8, or other lines"
    exit 1
fi
# Of eleven tests with the label `some` two run, the same ones for the same number; the others all run.
cat >false_ctest <<'END'
#!/bin/sh
some() { printf '{"name": "%s", "properties": [{"name": "LABELS", "value": ["cli"%s]}]}' "$1" "$2"; }
if [ "$1" = --show-only=json-v1 ]; then
    printf '{"tests": ['; for i in 0 1 2 3 4 5 6 7 8 9 a; do some long-$i ', "some"'; printf ,; done; some short; echo ']}'
else
    echo "$@"
fi
END
chmod +x false_ctest
quick_ctest() { FLYNN_TEST_QUICK=$1 "$PYTHON" -B "$here/../run_ctest.py" ./false_ctest --parallel | sed -n 2p; }
[[ "$(quick_ctest 5)" =~ ^'--parallel --exclude-regex ^('(long-[0-9a]\|){8}'long-'[0-9a]')$'$ ]] && [ "$(quick_ctest 5)" = "$(quick_ctest 5)" ] &&
    [ "$(for i in 1 2 3 4 5 6; do quick_ctest $i; done | sort -u | wc -l)" -gt 1 ] || { echo "run_ctest.py: runs other tests"; exit 1; }

# A quick test: some lines, the same ones for the same number; most refusals and what is checked of them are left out, and counted.
quick_lines() { seq 100 | FLYNN_TEST_QUICK=$1 some 7; }
[ "$(seq 100 | some 7 | wc -l)" = 100 ] && [ "$(quick_lines 5 | sort -u | wc -l)" = 7 ] && [ "$(quick_lines 5)" = "$(quick_lines 5)" ] &&
    [ "$(quick_lines 5)" != "$(quick_lines 6)" ] || { echo "some: other lines"; exit 1; }
FLYNN_TEST_QUICK=5
RANDOM=5
quick=$(failed=0
    for ((i = 0; i < 40; i++)); do
        refused "a wrong expectation" 3 words --version
        check "of it" false
    done
    echo $((failed > 0 && failed < 50 && failed + left_out == 80)))
[ "$quick" = 1 ] || { echo "a quick test: cases are not left out, or not counted"; exit 1; }
# So are parts, whole ones. Each has three wrong expectations.
quick=$(failed=0 whole=yes
    for ((i = 0; i < 40; i++)); do
        part 2
        before=$failed
        ok "a wrong expectation" frobnicate
        run --version
        check "of it" false
        refused "another" 3 words --version
        case $((failed - before)) in
        0) [ -n "$leaves_part" ] || whole=no ;;
        [23]) [ -z "$leaves_part" ] || whole=no ;;
        *) whole=no ;;
        esac
    done
    part 1
    ok "the last part" frobnicate
    echo $whole $((failed > 20 && failed < 100 && passed == 0 && left_out > 40)))
[ "$quick" = "yes 1" ] || { echo "a quick test: parts are not left out as a whole, or not counted"; exit 1; }

expected=7
if [ "$failed" = "$expected" ] && [ "$passed" = 0 ]; then
    echo "all $expected wrong expectations were noticed"
else
    echo "$failed of $expected wrong expectations were noticed, $passed passed"
    exit 1
fi
