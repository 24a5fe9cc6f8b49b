#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn map: expressions, functions in C, files, numbers and ranges on every backend that compiles; texts that are wrong;
# faults; the cache; no compiler.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--repeat=1 --warmup=0)
every="serial simd omp:2"
for gpu in hip-cpu hip-nvidia hip-amd; do
    ! "$flynn" map x 1 --backend=$gpu --quiet >/dev/null 2>&1 || every="$every $gpu"
done

# write FILE DESCR SHAPE VALUE...: a .npy file.
write() {
    "$PYTHON" - "$here" "$@" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import ast, files
name, descr, shape, *values = sys.argv[2:]
number = float if descr[1] == "f" else int
open(name, "wb").write(files.npy([number(v) for v in values], ast.literal_eval(shape), descr))
END
}

# ------------------------------------------------------------------------------------------------------ what it does

ok "without a word" map --size=1000 --backend=serial,simd,omp --json "${quick[@]}"
check "is log(x + y) of f32" json "$work/out" 'all((r["function"], r["dtype"], r["check"]["ok"], r["elements"]) ==
    ("log(x + y)", "f32", True, 1000) for r in d["results"]) and len(d["results"]) == 3'
write a.npy "<f4" "(2, 3)" 1 2 3 4 5 6
write row.npy "<f4" "(3,)" 10 20 30
write ints.npy "<i4" "(4,)" 1 2 3 2147483647
for backend in $(some 2 <<<"${every// /$'\n'}"); do
    ok "$backend: broadcast" map 'x + y' a.npy row.npy -o out.npy --backend="$backend" "${quick[@]}"
    check "$backend: as NumPy" npy out.npy 'descr == "<f4" and shape == (2, 3) and list(v) == [11, 22, 33, 14, 25, 36]'
    ok "$backend: a number" map 'x * y' a.npy 0.5 -o out.npy --backend="$backend" "${quick[@]}"
    check "$backend: takes the array's dtype" npy out.npy 'descr == "<f4" and list(v) == [.5, 1, 1.5, 2, 2.5, 3]'
    ok "$backend: integers" map 'x + 1' ints.npy -o out.npy --backend="$backend" "${quick[@]}"
    check "$backend: wrap" npy out.npy 'descr == "<i4" and list(v) == [2, 3, 4, -2147483648]'
    ok "$backend: a range" map 'x * x' 0:10:3 -o out.npy --backend="$backend" "${quick[@]}"
    check "$backend: of whole numbers" npy out.npy 'descr == "<i8" and list(v) == [0, 9, 36, 81]'
done
part 2
ok "a number with a point" map 'x * y' ints.npy 0.5 -o out.npy "${quick[@]}"
check "makes f64 of integers" npy out.npy 'descr == "<f8" and v[0] == 0.5'
ok "a range with a point" map x 0:1:0.25 -o out.npy "${quick[@]}"
check "is f64" npy out.npy 'descr == "<f8" and list(v) == [0, .25, .5, .75]'
ok "an empty range" map 'x + 1' 3:3 -o out.npy "${quick[@]}"
check "gives nothing" npy out.npy 'shape == (0,)'
part 2
ok "negative numbers" map -o out.npy "${quick[@]}" -- 'x - y' -0.5 -2
check "stand behind --" npy out.npy 'list(v) == [1.5]'
ok "a conversion" map 'x / 2' ints.npy --dtype=f32 -o out.npy "${quick[@]}"
check "to f32" npy out.npy 'descr == "<f4" and list(v)[:3] == [.5, 1, 1.5]'
ok "a picture" map 'sqrt(x)' "$slice" -o out.png "${quick[@]}"
part 1
ok "every variant" map --size=5000 --variant=all --backend=serial,simd --json "${quick[@]}"
check "right" json "$work/out" 'len(d["results"]) == 4 and all(r["check"]["ok"] for r in d["results"])'

cat >prime.c <<'END'
#include <stdbool.h>
/* by trial division */
bool prime(int n)
{
    if (n < 2)
        return false;
    for (int d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return true;
}
END
for backend in $(some 2 <<<"${every// /$'\n'}"); do
    ok "$backend: prime.c" map prime.c 0:10000 -o out.npy --backend="$backend" --json "${quick[@]}"
    check "$backend: 1229 primes" npy out.npy 'descr == "|u1" and sum(v) == 1229 and list(v[:8]) == [0, 0, 1, 1, 0, 1, 0, 1]'
    check "$backend: all compared" json "$work/out" 'd["results"][0]["check"]["compared"] == 10000'
done
ok "many elements of a loop" map prime.c 0:200000 --backend=simd --json "${quick[@]}"
check "a sample is compared, smaller on a busy machine" json "$work/out" '0 < d["results"][0]["check"]["compared"] <= 65536'
ok "all of them" map prime.c 0:200000 --backend=simd --json --check=full "${quick[@]}"
check "are compared" json "$work/out" 'd["results"][0]["check"]["compared"] == 200000'
part 3
# The check takes about as long for a function that takes long for each element.
cat >slow.c <<'END'
float slow(float x)
{
    for (int i = 0; i < 1000000; i++)
        x = x * 0.99f + 0.1f;
    return x;
}
END
ok "a slow function" map slow.c --size=4096 --backend=simd --json "${quick[@]}"
check "few elements are compared" json "$work/out" '1 <= d["results"][0]["check"]["compared"] < 4096 and d["results"][0]["check"]["ok"]'
part 2
ok "random inputs for C" map prime.c --size=100 --json "${quick[@]}"
check "of its dtype" json "$work/out" 'd["results"][0]["elements"] == 100 and d["results"][0]["dtype"] == "u8"'
# shellcheck disable=SC2016 # nothing expands these
names=('pri me"$(touch bad)`\.c' 'x + 1 /* $(touch bad) `touch bad` */')
cp prime.c "${names[0]}"
ok "a file's name is not a command" map "${names[0]}" 0:10 "${quick[@]}"
ok "nor is a text" map "${names[1]}" 0:10 "${quick[@]}"
check "nothing was run" test ! -e bad
ok "on several lines" map $'x\n + 1' 0:10 "${quick[@]}"
part 2
ok "in a compare" compare map --backend=serial,simd --size=1000 "${quick[@]}"
ok "in a sweep" sweep map --backend=serial --variant=naive,uncoalesced --size=1000 "${quick[@]}"
ok "the variable" map --size=1000 --json "${quick[@]}"
FLYNN_FUNCTION='x * 2' ok "FLYNN_FUNCTION" map --size=1000 --json "${quick[@]}"
check "names the function" json "$work/out" 'd["results"][0]["function"] == "x * 2"'

# ---------------------------------------------------------------------------------------------- what is refused, and how

# caret TITLE PLACE LINE CARET ARGUMENT...: exit code 2, and on stderr the place, the line and a caret below it.
caret() {
    local title=$1 place=$2 line=$3 below=$4
    shift 4
    run "$@"
    check "$title: exit code" test "$status" = 2
    check "$title: the place" grep -qF "flynn map: $place" "$work/err"
    check "$title: the line" test "$(sed -n 2p "$work/err")" = "    $line"
    check "$title: the caret" test "$(sed -n 3p "$work/err")" = "    $below"
    check "$title: nothing on stdout" test ! -s "$work/out"
}
part 1
caret "a misspelt function" "FUNCTION:1:5: 'lg'" "x + lg(y)" "    ^" map 'x + lg(y)' nowhere.npy nowhere.npy
check "the nearest one" grep -q "did you mean 'log'" "$work/err"
caret "an expression that ends" "FUNCTION:1:3: " "x +" "  ^" map 'x +'
printf 'int f(int n)\n{\n\treturn m + 1;\n}\n' >wrong.c
caret "an unknown name in C" "wrong.c:3:9: " " return m + 1;" "        ^" map wrong.c 1
printf 'int g(int n);\nint f(int n)\n{\n\treturn n + g(n);\n}\n' >wrong.c
for backend in $(some 1 <<<"${every// /$'\n'}"); do
    caret "$backend: no definition" "wrong.c:4:13: 'g' is used, and nothing here defines it" " return n + g(n);" \
        "            ^" map wrong.c 1 --backend="$backend"
done
# What a compiler takes for an #include is one: the code would be kept, and the file might change.
echo '#error from another file' >other.h
for include in '#/**/include "other.h"' $'#inc\\\nlude "other.h"' '%:include "other.h"' '# include /**/ "other.h"' \
    '#import "other.h"' '#include_next "other.h"' '#embed "other.h"'; do
    printf '%s\nint f(int n) { return n; }\n' "$include" >wrong.c
    run map wrong.c 1
    check "${include//$'\n'/ }" test "$status" = 2
    check "is an include" grep -q "wrong.c:1:1: only math.h, stdint.h, stdbool.h" "$work/err"
done
for hidden in $'// a\r#include "other.h"' $'// a \\ \n#include "other.h"' $'/* *\\\n/\n#include "other.h"\n/* */' \
    $'#error isn\'t /*\n#include "other.h"\n*/' $'??=include "other.h"'; do
    printf '%s\nint f(int n) { return n; }\n' "$hidden" >wrong.c
    run map wrong.c 1
    check "${hidden//[$'\n\r']/ }" test "$status" = 2
    check "is not read" test "$(grep -c "from another" "$work/err")" = 0
done
run map $'x // a\r#include "other.h"\n' 1
check "in an expression" grep -q "a carriage return alone" "$work/err"
printf '#/**/include <math.h>\n%%:include "stdint.h"\nint f(int n) { return n + 1; }\n' >known.c
ok "what need not be included can be" map known.c 1 "${quick[@]}"
refused "no such file" 2 none.c map none.c 1
refused "too few inputs" 2 "1 input is given; 'x + y' has 2" map 'x + y' a.npy
refused "too many inputs" 2 "2 inputs are given; prime takes 1" map prime.c 1 2
refused "five inputs" 2 "5 inputs are given" map 'x + y' 1 2 3 4 5
refused "shapes that do not go together" 2 "ints.npy is 4, which does not broadcast to 2x3" map 'x + y' a.npy ints.npy
refused "f32 for int" 2 "a.npy: f32 does not fit input 1 of the function, which is i32" map prime.c a.npy
ok "but with --dtype" map prime.c a.npy --dtype=i32 -o out.npy "${quick[@]}"
check "converted" npy out.npy 'shape == (2, 3) and list(v) == [0, 1, 1, 0, 1, 0]'
refused "a number that is none of the dtype" 2 "'2.5' is not of dtype i32" map prime.c 2.5
refused "a range that is none" 2 "'0:x' is not a range" map x 0:x
refused "a range without steps" 2 "0:5:0" map x 0:5:0
refused "a function twice" 2 --function map 'x + 1' --function=x
refused "a size with inputs" 2 --size map 'x + 1' a.npy --size=5
refused "a dtype that the function decides" 2 "--dtype: has no effect: the parameters of prime" map prime.c --dtype=f32
# Eight inputs whose shapes are as long as they can be: the title has room for some of them.
printf 'int eight(int a, int b, int c, int d, int e, int f, int g, int h) { return a; }\n' >eight.c
write long.npy "<i4" "(1000000000000000000, 1000000000000000000, 0, 9)"
refused "long shapes" 2 "does not fit into the address space" map eight.c long.npy long.npy long.npy long.npy long.npy \
    long.npy long.npy long.npy
printf 'a\0b' >zero.c
refused "a zero byte" 2 "zero byte" map zero.c
refused "the text is not replaced" 2 "prime.c" map prime.c 0:10 --json=prime.c
refused "an output is not a text" 2 "unknown file type" map 'x + 1' a.npy -o out.c

# ---------------------------------------------------------------------------------------------------------- faults

printf 'int f(int n, int m) { return n / m; }\n' >divide.c
printf 'int f(int n) { int *p = (int *)(long)n; return *p; }\n' >wild.c
printf 'int f(int n) { volatile int a[64]; a[n %% 64] = n; return f(n + a[n %% 64]) + 1; }\n' >deep.c
case $(instruction_set) in
    neon) faults=() ;; # an Arm processor has 0 for n / 0
    *) faults=("divide.c 1 0:divides an integer by zero") ;;
esac
for fault in "${faults[@]}" "wild.c 16:memory that is not its own" "deep.c 1:calls itself too often"; do
    read -ra words <<<"${fault%%:*}"
    for backend in serial omp:2; do
        refused "$backend ${words[0]}" 1 "the function" map "${words[@]}" --backend="$backend" -o never.npy "${quick[@]}"
        check "$backend ${words[0]}: which" grep -q "${fault#*:}" "$work/err"
    done
done
# What ends the program, of an element that every check computes, and of one that is not a sample.
for call in exit _exit; do
    printf 'void %s(int); int early(int n) { if (n == 200001) %s(0); return n; }\n' $call $call >early.c
    for how in serial:full serial:sampled simd:sampled omp:2:full omp:2:sampled; do
        refused "$how: $call" 1 "the function fails: early calls $call instead of returning" map early.c 0:262144 \
            --check="${how##*:}" --backend="${how%:*}" -o never.npy "${quick[@]}"
        check "$how: $call: no file" test ! -e never.npy
    done
done
printf 'int early(int n) { if (n == 200001) __builtin_exit(0); return n; }\n' >early.c
for backend in $every; do
    [ "${backend%%-*}" != hip ] || [ "$backend" = hip-cpu ] || continue
    refused "$backend: __builtin_exit" 1 "early calls exit instead of returning" map early.c 0:262144 --check=sampled \
        --backend="$backend" "${quick[@]}"
done
printf 'int puts(const char *); int loud(int n) { if (n == 3) puts("three"); return n; }\n' >loud.c
ok "a function that prints" map loud.c 0:10 --json --backend=serial "${quick[@]}"
check "does so on stderr" grep -q "^three$" "$work/err"
check "and JSON is on stdout" json "$work/out" 'd["results"][0]["check"]["ok"]'

# Of an element that is not a sample, so that a thread of omp is the first to compute it.
printf 'int f(int n) { volatile int a[1] = {0}; return n == 262143 ? a[f(n + a[0]) & 0] : n; }\n' >last.c
for backend in $every; do
    [ "${backend%%-*}" = hip ] && [ "$backend" != hip-cpu ] && continue # a GPU's stack is the kernel's to bound
    refused "$backend: the last element calls itself" 1 "calls itself too often" map last.c 0:262144 --check=sampled \
        --backend="$backend" "${quick[@]}"
done

# The same within a loop, which vectors of simd and omp compute for several elements at once.
printf 'int f(int n) { int s = 0; for (int k = 0; k <= n %% 3; k++) s += 100 / (262143 - n); return s; }\n' >loop.c
for backend in serial simd omp:2; do
    [ ${#faults[@]} = 0 ] && continue
    refused "$backend: a loop divides by zero" 1 "divides an integer by zero" map loop.c 0:262144 --check=sampled \
        --backend="$backend" "${quick[@]}"
    leaves_out 3 || ok "$backend: other lanes may divide by it" map loop.c 0:262143 --backend="$backend" "${quick[@]}"
done
part 2
printf 'int f(int n) { int k = 0; while (n == 262143 || k < n %% 3) k++; return k; }\n' >last.c
run map last.c 0:262144 --check=sampled --backend=simd --max-time=0.5
check "--max-time ends one lane's endless loop" test "$status" = 4 -a "$(wc -l <"$work/err")" = 1
part 1
if [ "$(uname -m)" = x86_64 ]; then
    printf 'int f(int n) { while (n > 1) { n /= 2; if (n == 9) goto end; } end: return n; }\n' >goto.c
    refused "no lanes for goto" 2 "'goto'" map goto.c --lanes
    refused "no lanes for an expression" 2 "has no loop" map 'x + 1' --lanes
fi

# A function that never ends: Ctrl-C, and --max-time.
part 2
printf 'int f(int n) { while (n != 5) n |= 8; return n; }\n' >endless.c
run map endless.c 1 --max-time=0.5
check "--max-time ends an endless loop" test "$status" = 4 -a "$(wc -l <"$work/err")" = 1
leaves_out 1 || timeout -s INT 1 "$flynn" map endless.c 1 >"$work/out" 2>"$work/err"
check "Ctrl-C ends it" test $? = 124

# ----------------------------------------------------------------------------------------------- compiler and cache

part 1
entries() { find "$FLYNN_CACHE/code" -name '*.code' | wc -l; }
before=$(entries)
ok "a new function" map 'x * 3 + 17' 0:10 --backend=simd "${quick[@]}"
check "is kept, and its oracle's code" test "$(entries)" -ge $((before + 2))
before=$(entries)
ok "the same again" map 'x * 3 + 17' 5:9 --backend=simd "${quick[@]}"
check "is not compiled" test "$(entries)" = "$before"
ok "without a compiler, from the cache" map 'x * 3 + 17' 5:9 --backend=simd "${quick[@]}"
for entry in "$FLYNN_CACHE"/code/*.code; do echo garbage >"$entry"; done
ok "garbage in the cache" map 'x * 3 + 17' 5:9 --backend=simd "${quick[@]}"
last=(map 'x * 3 + 18' 5:9 --backend=simd)
PATH=/nonexistent "$flynn" "${last[@]}" >"$work/out" 2>"$work/err"
status=$?
check "no compiler" is_refused 3 "install gcc"
check "nothing of it stays" test -z "$(find "$FLYNN_CACHE/code" -size 0)"
FLYNN_CACHE=off ok "no cache" map 'x * 3 + 19' 5:9 --backend=simd "${quick[@]}"
check "nothing is kept" test "$(find "$FLYNN_CACHE/code" -newer wrong.c -name '*.part*' | wc -l)" = 0
mkdir include
echo '#error from CPATH' >include/math.h
CPATH=$PWD/include ok "CPATH changes nothing" map 'x * 3 + 20' 5:9 --backend=simd "${quick[@]}"
# A backend that compiles no functions is left out by `all`, and refused by its name before any work.
run map --size=100 --backend=hip-cpu "${quick[@]}"
if grep -q "hip-cpu:0 does not have map" "$work/err"; then
    check "hip-cpu is refused" is_refused 3 "does not have map"
    ok "all without it" map --size=100 --backend=all --json "${quick[@]}"
    check "says so" json "$work/out" '[s["reason"] for s in d["skipped"] if s["backend"] == "hip-cpu"] == ["it does not have this exercise"]'
    ok "compare leaves map out" compare --backend=hip-cpu --scale=0.001 --json "${quick[@]}"
    check "with a note" grep -q "^flynn compare: map is left out: --backend: hip-cpu:0 does not have map" "$work/err"
fi
FLYNN_CC=/nonexistent/cc refused "FLYNN_CC" 3 "FLYNN_CC" map 'x * 3 + 21' 5:9 --backend=simd
ln -s "$(command -v cc)" own-cc
FLYNN_CC=$PWD/own-cc ok "FLYNN_CC names the compiler" map 'x * 3 + 21' 5:9 --backend=simd "${quick[@]}"
# The oracle has definitions of its own: a mistake in those that the backends share does not check itself.
cat >wrong-cc <<END
#!/bin/sh
sed 's/larger = x > y/larger = x < y/' | "$(command -v cc)" "\$@"
END
chmod +x wrong-cc
FLYNN_CC=$PWD/wrong-cc run map 'max(x, 3)' 0:9 --backend=serial,simd --json "${quick[@]}"
check "a wrong max is called wrong" test "$status" = 1
check "on each backend" json "$work/out" '[r["check"]["ok"] for r in d["results"]] == [False, False]'
ok "an integer beyond 32 bits" map 'abs(llrint(x))' 5e9 --dtype=f64 -o out.npy "${quick[@]}"
check "keeps its digits" npy out.npy 'v[0] == 5e9'
summary
