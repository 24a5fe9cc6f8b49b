#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn laws: strong and weak scaling, batches, the fits, and what is refused.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=3 --warmup=0)
unset FLYNN_BACKEND # laws itself takes the backend with threads

# The fits are made again from the samples themselves, by another formula: a search for the least sum.
cat >recompute.py <<'PY'
import json, math, sys
d = json.load(open(sys.argv[1]))
laws, rows = d["laws"], d["results"]
def close(a, b): assert abs(a - b) <= 1e-6 * abs(b) + 1e-9, (a, b)
def at(s, part):
    s = sorted(s); x = part * (len(s) - 1); i = int(x)
    return s[i] + (x - i) * (s[min(i + 1, len(s) - 1)] - s[i])
value = {"amdahl": lambda f, n: 1 / (f + (1 - f) / n), "gustafson": lambda f, n: n - f * (n - 1)}
def fit(law, points):
    def loss(f): # of 1/S, or of S
        total = 0
        for p in points:
            n, s, e = p["n"], p["speed_up"], max(p["speed_up_spread"], 1e-3 * p["speed_up"])
            total += ((1 / s - (f + (1 - f) / n)) / (e / s**2))**2 if law == "amdahl" else ((s - (n - f * (n - 1))) / e)**2
        return total
    low, high = -1e6, 1e6 # a busy machine makes times that ask for any f
    for _ in range(300):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if loss(a) < loss(b) else (a, high)
    return (low + high) / 2, loss((low + high) / 2)
kinds = [k for k in ("strong", "weak", "batch") if k in laws]
for kind in kinds:
    points = laws[kind]
    for p in points:
        times = rows[p["result"]]["times_s"]["kernel"]
        one = points[0]
        close(p["kernel_s"], at(times, .5))
        close(p["spread_s"], at(times, .75) - at(times, .25))
        close(p["gbytes_per_s"], rows[p["result"]]["bytes"] / p["kernel_s"] / 1e9)
        close(p["speed_up"], p["work"] * one["kernel_s"] / p["kernel_s"])
        close(p["speed_up_spread"], 0 if p is one else p["speed_up"] * math.hypot(one["spread_s"] / one["kernel_s"], p["spread_s"] / p["kernel_s"]))
        close(p["efficiency"], p["speed_up"] / p["n"])
        for law in value: close(p[law], value[law](laws[law]["serial_fraction"], p["n"]))
        mine = "gustafson" if kind == "weak" else "amdahl"
        close(p["deviation"], p["speed_up"] / p[mine] - 1)
        assert p["described"] == (p is one or abs(p["deviation"]) <= .05 or abs(p["speed_up"] - p[mine]) <= p["speed_up_spread"])
for law in value:
    f, points = laws[law], laws[laws[law]["fitted_to"]]
    found, loss = fit(law, points)
    unclipped = found if f["unclipped"] is None else f["unclipped"] # a negative one is not shown
    assert (f["unclipped"] is None) == (found < 0) or abs(found) < 1e-4, (law, found, f)
    assert abs(found - unclipped) < 1e-4 * max(1, abs(found)), (law, found, f)
    close(f["serial_fraction"], min(max(unclipped, 0), 1))
    assert f["clipped"] == (f["serial_fraction"] != unclipped) and f["points"] == len(points)
    off = [p["speed_up"] / value[law](f["serial_fraction"], p["n"]) - 1 for p in points[1:]]
    close(f["largest_deviation"], max(map(abs, off)))
    close(f["rms_deviation"], math.sqrt(sum(o * o for o in off) / len(off)))
    xx = sum((((1 - 1 / p["n"]) * p["speed_up"]**2 if law == "amdahl" else p["n"] - 1)
              / max(p["speed_up_spread"], 1e-3 * p["speed_up"]))**2 for p in points)
    wanted = math.sqrt(max(1, loss / (len(points) - 2)) / xx)
    assert abs(f["standard_error"] - wanted) < 1e-3 * wanted, (f["standard_error"], wanted)
told = [l for k, l in (("strong", "amdahl"), ("weak", "gustafson"), ("batch", "amdahl")) if k in laws]
assert len(laws["remarks"]) == sum(laws[l]["clipped"] or laws[l]["not_described"] > 0 or laws[l]["points"] < 4 for l in told)
assert sum(laws[l]["not_described"] for l in told) == sum(not p["described"] for k in kinds for p in laws[k])
PY

ok "threads" laws sort --threads=1,2,3,4 --size=40000 "${quick[@]}" --json
cp "$work/out" now.json
check "the points" json now.json '[p["n"] for p in d["laws"]["strong"]] == [p["n"] for p in d["laws"]["weak"]] == [1, 2, 3, 4]'
check "a result each" json now.json \
    '[r["resource"].split(":")[1] for r in d["results"]] == ["1", "2", "3", "4"] * 2 and len(d["results"]) == 8'
check "strong: one size" json now.json '{tuple(r["shape"]) for r in d["results"][:4]} == {(40000,)}'
check "weak: it grows" json now.json '[r["shape"] for r in d["results"][4:]] == [[10000], [20000], [30000], [40000]]'
check "marked where there are more threads than processors" json now.json \
    'all(p["oversubscribed"] == (p["n"] > d["laws"]["processors"]) for p in d["laws"]["strong"])'
check "every number can be recomputed" "$PYTHON" recompute.py now.json
set=$(instruction_set)
ok "an edge" laws maximum --threads=1,2,4,8 --size=40 --backend="omp:$set" "${quick[@]}" --json
check "grows with the cube root" json "$work/out" '[p["size"] for p in d["laws"]["weak"]] == [20, 25, 32, 40]'
check "and its work with the cube" json "$work/out" \
    'all(abs(p["work"] - (p["size"] / 20)**3) < 1e-9 for p in d["laws"]["weak"])'
check "the instruction set" json "$work/out" '{r["resource"].split(":")[2] for r in d["results"]} == {"'$set'"}'
cp "$work/out" edge.json
check "and can be recomputed" "$PYTHON" recompute.py edge.json
ok "primes have another option" laws primes --threads=1,2,3,4 --size=1000 "${quick[@]}" --json
ok "the table" laws increment --threads=1,2,3,4 --size=1000 "${quick[@]}"
check "a row for each" test "$(grep -cE '^(strong|weak) +[0-9]' "$work/out")" = 8
check "a line for each law" test "$(grep -cE '^(Amdahl|Gustafson): serial fraction f = [0-9.]+ \+- ' "$work/out")" = 2
ok "a file beside the table" laws increment --threads=1,2,3,4 --size=1000 "${quick[@]}" --json=file.json
check "both" test -s file.json -a -s "$work/out"

if grep -q . <<<"$("$flynn" reconstruct --backend=hip-cpu --size=100 --repeat=1 2>/dev/null)"; then
    ok "batches" laws --backend=hip-cpu --batch=1,2,3,4 --size=100 "${quick[@]}" --json
    cp "$work/out" batch.json
    check "of reconstruct" json batch.json '[r["shape"] for r in d["results"]] == [[n, 100, 100] for n in (1, 2, 3, 4)]'
    check "can be recomputed" "$PYTHON" recompute.py batch.json
    refused "threads of a GPU" 2 --batch laws --backend=hip-cpu --threads=1,2,3,4
    refused "batches of another exercise" 2 reconstruct laws sort --backend=hip-cpu
fi

ok "two points" laws sort --threads=1,2 --size=40000 "${quick[@]}"
check "say what they cannot" test "$(grep -c 'two points cannot show whether the law holds' "$work/out")" = 2
check "and no serial fraction is negative" test "$(grep -c 'f = -\|fraction would be -' "$work/out")" = 0
refused "a rank for an exercise without" 2 "only svd and reconstruct have singular values" laws sort --keep=3 --threads=1,2
refused "two ranks" 2 "is not a whole number" laws reconstruct --keep=3,4 --threads=1,2
FLYNN_KEEP=3 ok "a variable for other exercises" laws sort --threads=1,2 --size=1000 "${quick[@]}"
# The workers of a batch.
mkdir im
for i in 0 1 2 3 4 5; do cp grey8.png im/$i.png; done
ok "a batch over its workers" laws batch im --keep=2 --threads=1,2,3 --repeat=3 --json
check "its points" json "$work/out" '[(p["n"], p["size"], p["work"]) for kind in ("strong", "weak") for p in d["laws"][kind]] ==
    [(1, 6, 1), (2, 6, 1), (3, 6, 1), (1, 2, 1), (2, 4, 2), (3, 6, 3)] and d["laws"]["unit"] == "workers" and d["results"] == [] and
    all(p["result"] is None and p["kernel_s"] > 0 and p["gbytes_per_s"] is None for p in d["laws"]["strong"])'
cp "$work/out" workers.json
ok "files, and a backend without threads" laws batch im/*.png im/1.png --threads=1,7 --repeat=1 --backend=serial
check "its table" grep -qE '^strong +7 +7 [0-9.]+ [mu]?s ' "$work/out"
ok "the report of a batch's workers" report workers.json -o workers.html
check "has its points" grep -q '<th[^>]*>workers' workers.html
FLYNN_MAX_MEMORY=3 refused "more than memory, by the variable" 4 "the limit is 3 B (--max-memory)" laws batch im --threads=1,2
refused "more than memory" 4 "the limit is 3 B (--max-memory)" laws batch im --threads=1,2 --max-memory=3
ok "enough memory" laws batch im --threads=1,2 --keep=2 --repeat=1 --max-memory=1M
refused "memory for no file" 2 "no file is read; it is for batch" laws sort --threads=1,2 --max-memory=1M
FLYNN_MAX_MEMORY=3 ok "a variable for files alone" laws sort --threads=1,2 --size=1000 "${quick[@]}"
refused "no images" 2 "batch needs images" laws batch
refused "fewer images than workers" 2 "6 images are too few for 7 workers" laws batch im --threads=1,7
refused "an image that does not exist" 1 "nowhere.png" laws batch im nowhere.png --threads=1,2
for option in --size=4 --dtype=f64 --batch=1,2 --ranks=1,2 --check=full; do
    refused "a batch: $option" 2 "${option%%=*}" laws batch im "$option" --threads=1,2
done

refused "one point" 2 "at least two" laws sort --threads=1
refused "not from one" 2 "the first of them 1" laws sort --threads=2,3,4,5
refused "not ascending" 2 "ascending" laws sort --threads=1,3,2,4
refused "no number" 2 "'x'" laws sort --threads=1,x,2,4
refused "nothing" 2 --threads laws sort --threads=
refused "batches of threads" 2 --threads laws sort --batch=1,2,3,4
refused "one thread" 2 "serial has one thread" laws sort --backend=serial --threads=1,2,3,4
refused "a number of threads" 2 --threads laws sort --backend=omp:2 --threads=1,2,3,4
refused "two backends" 2 "one backend" laws sort --backend=omp,serial --threads=1,2,3,4
refused "no such exercise" 2 "did you mean 'sort'" laws sorrt --threads=1,2,3,4
refused "two exercises" 2 "convolve" laws sort convolve --threads=1,2,3,4
refused "what the exercise refuses" 2 u8 laws sort --dtype=u8 --threads=1,2,3,4
refused "a backend that is none" 2 seriell laws --backend=seriell
taskset -c "$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')" true 2>/dev/null && {
    one=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
    last=(laws sort)
    taskset -c "$one" "$flynn" laws sort >"$work/out" 2>"$work/err"
    status=$?
    check "one processor: says how to name more" is_refused 2 "--threads=1,2,3,4"
}
summary
