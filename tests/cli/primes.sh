#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn primes: the known counts and sums on every backend, methods and launches, what is refused.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)

# all_say COUNT SUM: every result of the document.
all_say() {
    json "$work/out" "len(d['results']) > 0 and all(r['count'] == $1 and r['sum'] == $2 and r['shape'] == [$1] and
        r['check']['ok'] and r['check']['compared'] == $1 for r in d['results'])"
}

# The course's exercise as it is.
ok "no input at all" primes "${quick[@]}"
check "1,229 primes" grep -q '1229 primes, the last one 9973, their sum 5736396' "$work/out"
check "by trial division, all at once" grep -qw trial-all "$work/out"
for method in trial sqrt; do
    for launch in each all; do
        ok "$method $launch" primes --backend=all --method=$method --launch=$launch --json "${quick[@]}"
        check "$method $launch: 1,229" all_say 1229 5736396
        check "$method $launch ran" json "$work/out" "all(r['variant'] == '$method-$launch' and
            r['method'] == '$method' and r['launch'] == '$launch' and r['upto'] == 10000 for r in d['results'])"
    done
done
ok "the sieve" primes --backend=all --method=sieve --json "${quick[@]}"
check "the sieve: 1,229" all_say 1229 5736396
ok "below 10^5" primes --backend=all --upto=100000 --method=sqrt --json "${quick[@]}"
check "9,592" all_say 9592 454396537
ok "below 10^5 by the course's division" primes --upto=100000 --json "${quick[@]}"
check "9,592" all_say 9592 454396537
for method in sqrt sieve; do
    ok "below 10^6, $method" primes --backend=all --upto=1000000 --method=$method --json "${quick[@]}"
    check "78,498, $method" all_say 78498 37550402023
done
ok "below 10^7" primes --backend=serial,simd,omp --upto=10000000 --method=sieve --json "${quick[@]}"
check "664,579" all_say 664579 3203324994356
ok "below 10^8" primes --backend=omp --upto=100000000 --method=sieve --json "${quick[@]}"
check "5,761,455" all_say 5761455 279209790387276

# Only their number, on every backend, by each method; known values of oeis.org/A006880.
all_count() {
    json "$work/out" "len(d['results']) > 0 and all(r['count'] == $1 and r['shape'] == [1] and r['sum'] is None and
        r['last'] is None and r['bytes'] <= 8 and r['check']['ok'] and 'Legendre' in r['check']['method'] for r in d['results'])"
}
for variant in trial-each trial-all sqrt-each sqrt-all sieve; do
    ok "--count by $variant" primes --count --backend=all --variant=$variant --json "${quick[@]}"
    check "$variant counts 1,229" all_count 1229
done
ok "--count below 10^6" primes --count --backend=all --upto=1e6 --method=sieve --json "${quick[@]}"
check "78,498 are counted" all_count 78498
ok "--count below 10^9" primes --count --backend=serial,simd,omp --upto=1e9 --method=sieve --json "${quick[@]}"
check "50,847,534 are counted" all_count 50847534
for upto in 0 1 2; do
    ok "--count below $upto" primes --count --backend=all --upto=$upto --json "${quick[@]}"
    check "none is counted below $upto" all_count 0
done
ok "--count of one backend" primes --count --upto=1e5 --backend=serial --json "${quick[@]}"
check "only the count is written" json "$work/out" '[r["bytes"] for r in d["results"]] == [8]'
ok "--count -o" primes --count --upto=100 -o count.npy "${quick[@]}"
check "25, in a file" npy count.npy 'shape == (1,) and descr == "<i8" and list(v) == [25]'
ok "--count as a table" primes --count --upto=100 -b serial "${quick[@]}"
check "says what is counted" grep -q '^number of primes below 100: trial-all' "$work/out"
check "25 primes" grep -q '^serial: 25 primes$' "$work/out"
check "no list" test "$(grep -c 'the last one' "$work/out")" = 0

# The library, where it is there.
run primes --method=library --upto=1e6 --backend=simd,omp --json "${quick[@]}"
if [ "$status" = 0 ]; then
    check "libprimesieve: 78,498" all_say 78498 37550402023
    ok "libprimesieve counts" primes --method=library --count --upto=1e8 --backend=simd,omp --json "${quick[@]}"
    check "5,761,455 by libprimesieve" all_count 5761455
    ok "a list of variants" primes --variant=sieve,library --upto=1e5 --backend=simd --json "${quick[@]}"
    check "both" json "$work/out" '[r["method"] for r in d["results"]] == ["sieve", "library"]'
else
    check "what is missing is named" grep -q libprimesieve "$work/err"
fi

# 0 and 1 are not prime.
for upto in 0 1 2; do
    ok "below $upto" primes --backend=all --upto=$upto --json "${quick[@]}"
    check "none below $upto" json "$work/out" 'all(r["count"] == 0 and r["check"]["ok"] for r in d["results"])'
done
ok "below 3" primes --upto=3 -o out.npy "${quick[@]}"
check "2 alone" npy out.npy 'shape == (1,) and descr == "<i8" and list(v) == [2]'
ok "below 30" primes --upto=30 --method=sieve -o out.npy "${quick[@]}"
check "the primes below 30" npy out.npy 'list(v) == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]'

# Variants by name.
for variant in trial-each trial-all sqrt-each sqrt-all sieve; do
    ok "--variant=$variant" primes --upto=1000 --variant=$variant --json "${quick[@]}"
    check "$variant ran" json "$work/out" "all(r['variant'] == '$variant' and r['count'] == 168 for r in d['results'])"
done
ok "CSV" primes --upto=1000 --csv "${quick[@]}"
check "a row" csv "$work/out" 'len(rows) == 1 and float(rows[0]["kernel_s"]) > 0'
FLYNN_UPTO=100 FLYNN_METHOD=sieve ok "variables" primes --json "${quick[@]}"
check "variables count" json "$work/out" 'd["results"][0]["count"] == 25 and d["results"][0]["variant"] == "sieve"'

# What is refused.
refused "too far for trial" 2 "at most 10000000" primes --upto=10000001
refused "too far for trial, each" 2 "at most 100000" primes --upto=100001 --launch=each
refused "too far for sqrt" 2 "at most 1000000000" primes --upto=1000000001 --method=sqrt
refused "too far for sqrt, each" 2 "at most 1000000" primes --upto=1000001 --method=sqrt --launch=each
refused "too far for the sieve" 2 1099511627776 primes --upto=1099511627777 --method=sieve
refused "a negative number" 2 --upto primes --upto=-1
refused "no number" 2 --upto primes --upto=many
refused "an unknown method" 2 "sieve" primes --method=seive
refused "an unknown launch" 2 "each" primes --launch=eech
refused "an unknown variant" 2 "trial-all" primes --variant=trial-al
refused "a sieve, number by number" 2 "--launch" primes --method=sieve --launch=each
refused "a library, number by number" 2 "--launch" primes --method=library --launch=each
refused "variant and method" 2 "--method" primes --variant=sieve --method=trial
refused "variant and launch" 2 "--launch" primes --variant=trial-all --launch=all
refused "a size" 2 "--upto" primes --size=10
refused "a dtype" 2 "--dtype: this command does not take it" primes --dtype=f32
refused "a file" 2 "image.npy" primes image.npy
refused "no folder for the result" 4 "nowhere" primes -o nowhere/out.npy
ok "help" help --long primes
check "help states the ranges" grep -q 1099511627776 "$work/out"
summary
