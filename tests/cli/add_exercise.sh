#!/bin/bash
# SPDX-License-Identifier: MIT
# One file and one line in the registry add an exercise: to the command, to its help, to compare and to laws.
source=$FLYNN_SOURCE build=$FLYNN_BUILD # which the harness unsets
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
quick=(--backend=serial --repeat=1 --warmup=0)

sed 's/^    use(sqrt)/    use(twice) &/' "$source/apps/registry.c" >registry.c
check "the line is there" grep -q 'use(twice)' registry.c
# What is linked before the archive takes the place of the archive's own registry.
check "it builds" cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$source/apps" \
    -I"$source/core/include" "$source/apps/main.c" registry.c "$here/add_exercise/twice.c" \
    "$build/apps/libflynn_apps.a" -L"$build/lib" -Wl,-rpath,"$build/lib" -lflynn-bench -lflynn-dist -lflynn -ljansson -lpng -lz \
    -lsmartcols -lpthread -lm -o flynn
flynn=$PWD/flynn
ok "help" --help
check "names it" grep -q '^  twice  *add two to each element' "$work/out"
ok "the names" --exercises
check "have it" grep -qx twice "$work/out"
ok "with no input" twice --json "${quick[@]}" -o out.npy
check "is right" json "$work/out" 'd["results"][0]["check"]["ok"] and d["results"][0]["shape"] == [1000]'
check "writes its result" npy out.npy 'shape == (1000,) and v[0] == 2 and v[999] == 1001'
ok "with a file" twice out.npy --first=0 --json "${quick[@]}"
ok "its option" twice --first=5 "${quick[@]}" -o out.npy
check "has an effect" npy out.npy 'v[0] == 7'
refused "a wrong value" 2 --first twice --first=x
refused "an option that it lacks" 2 --seed twice --seed=1
ok "compared" compare twice --json "${quick[@]}"
check "beside others" json "$work/out" '[r["exercise"] for r in d["results"]] == ["twice"]'
ok "scaled" laws twice --backend=omp --threads=1,2,3,4 --size=100 --repeat=3 --json
check "by its size" json "$work/out" 'd["laws"]["exercise"] == "twice" and d["laws"]["weak"][0]["size"] == 25'
summary
