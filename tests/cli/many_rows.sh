#!/bin/bash
# SPDX-License-Identifier: MIT
# Documents of 20,000 results: what is done once a result takes seconds, what is done once a pair of them takes minutes. `run` ends a
# command after 120 s, and ctest this test after 300 s.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"

# The saved comparison's results with other sizes; those of an exercise on one device are all of one work, too. Documents of earlier
# versions have no ranks.
cat >repeat.py <<'PY'
import copy, json, sys
d, kept = json.load(open(sys.argv[1])), ("place", "relative", "spread", "speed_up", "speed_up_with_copies")
rows = d["results"]
d["results"] = []
for i in range(int(sys.argv[3])):
    row = copy.deepcopy(rows[i % len(rows)])
    row["shape"] = [1000 + i // len(rows) // 2]
    row["total_s"] = 1e-3 + 1e-6 * (i * 7919 % 20000)
    for key in kept:
        row.pop(key, None)
    d["results"].append(row)
json.dump(d, open(sys.argv[2], "w"))
PY
"$PYTHON" repeat.py "$saved/compare.json" many.json 20000
"$PYTHON" repeat.py "$saved/compare.json" fewer.json 5000
check "there are 20,000 results" test -s many.json

ok "two runs" compare --against=many.json many.json --json=pairs.json
check "each result has its pair" json pairs.json 'len(d["pairs"]) == 20000 and not d["unpaired"]'

if command -v gnuplot >/dev/null; then
    # One gnuplot asks for its version and one draws; each one more takes longer to start than to draw.
    mkdir bin
    printf '#!/bin/sh\necho x >>%q\nexec %q "$@"\n' "$PWD/started" "$(command -v gnuplot)" >bin/gnuplot
    chmod +x bin/gnuplot
    PATH=$PWD/bin:$PATH ok "a page" report many.json "$saved/ceiling.json" -o page.html
    check "gnuplot is started twice" test "$(wc -l <started)" = 2
    # Of the processor, so that a busy machine does not matter, and as a ratio, so that a slow one does not: what is done once a pair
    # of results would take 16 times as long for 4 times as many.
    check "the time grows as the results do" "$PYTHON" -c '
import os, subprocess, sys
def seconds(document):
    before = os.times()
    subprocess.run([sys.argv[1], "report", document, *sys.argv[2:], "--quiet"], check=True)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system
assert any(seconds("many.json") / seconds("fewer.json") < 6 for _ in range(3))' "$flynn" "$saved/ceiling.json" -o again.html
    check "all results are on it" test "$(grep -c '^<tr><th\|<tbody><tr><th' page.html)" -ge 20000
    check "the first plots are on it" grep -q 'The first 64 of [0-9]* plots; the tables have all results' page.html
    check "it has the size of its table" test "$(stat -c %s page.html)" -lt 20000000
else
    echo "gnuplot is not installed: the page of flynn report is not tested"
fi
summary
