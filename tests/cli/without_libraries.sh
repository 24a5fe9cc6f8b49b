#!/bin/bash
# SPDX-License-Identifier: MIT
# A machine whose BLAS, LAPACK, FFTW, Highway and libprimesieve cannot be loaded: files of their names that are not libraries, found first. The variants that need them
# are left out with the reason, the others compute. `info` looks only whether the files are there.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
mkdir "$work/none"
for name in libopenblasp.so.0 libopenblaso.so.0 libopenblas.so.0 libblas.so.3 liblapack.so.3 \
    libhwy_contrib.so.1 libcublas.so.13 libcublas.so.12 libcublas.so.11 libfftw3f.so.3 libfftw3.so.3 \
    libprimesieve.so.12 libprimesieve.so.11 libprimesieve.so.9; do
    : >"$work/none/$name"
done
export LD_LIBRARY_PATH=$work/none${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
quick=(--backend=serial --repeat=1 --warmup=0)

ok "list" list --json
check "list has no variant of serial by a library that is missing" json "$work/out" \
    'not [r for r in d["variants"] if "serial" in r["backends"] and r["operation"] in ("reconstruct", "svd") and r["variant"] == "library"]'
for exercise in "reconstruct --keep=10" svd; do
    read -ra words <<<"$exercise --size=40 ${quick[*]}"
    ok "$exercise without the library" "${words[@]}"
    run "${words[@]}" --variant=library
    check "$exercise --variant=library is refused" test "$status" -ge 2 -a "$status" -le 3 -a "$(wc -l <"$work/err")" = 1
    check "$exercise --variant=library names what is missing" grep -Eq 'BLAS|LAPACK' "$work/err"
done
ok "sort without Highway" sort --size=5000 --backend=simd,omp --repeat=1 --warmup=0
run sort --size=5000 --backend=simd --variant=vqsort --repeat=1 --warmup=0
check "sort --variant=vqsort is refused" test "$status" -ge 2 -a "$status" -le 3 -a "$(wc -l <"$work/err")" = 1
check "sort --variant=vqsort names what is missing" grep -q 'Highway .*libhwy_contrib.*install libhwy1' "$work/err"
ok "primes without libprimesieve" primes --upto=1000 --method=sieve --backend=simd,omp --repeat=1 --warmup=0
run primes --upto=1000 --variant=library --backend=simd --repeat=1 --warmup=0
check "primes --variant=library is refused" test "$status" -ge 2 -a "$status" -le 3 -a "$(wc -l <"$work/err")" = 1
check "primes --variant=library names what is missing" grep -q 'libprimesieve .*install libprimesieve-dev' "$work/err"
for inputs in "convolve random:300x300 random:40x40" "convolve1d random:100000 random:1000"; do
    exercise=${inputs%% *}
    for variant_dtype in fft:f32 fft-wide:f32 fft:f64 fft-checked:f64; do
        variant=${variant_dtype%:*}
        read -ra words <<<"$inputs --dtype=${variant_dtype#*:} ${quick[*]}"
        ok "$exercise without FFTW" "${words[@]}" --json
        check "$exercise is direct" json "$work/out" 'all(r["variant"] == "tiled" for r in d["results"])'
        run "${words[@]}" --variant="$variant"
        check "$exercise --variant=$variant is refused" test "$status" -ge 2 -a "$status" -le 3 -a "$(wc -l <"$work/err")" = 1
        check "$exercise --variant=$variant names what is missing" grep -q 'libfftw3' "$work/err"
    done
done
# The emulated GPU has transforms of its own for kernels of up to 192x192, and of up to 65536 taps for signals.
run convolve random:90x90 random:40x40 --dtype=f32 --backend=hip-cpu --variant=fft --repeat=1 --warmup=0
if [ "$status" = 3 ] && ! grep -q fft "$work/err"; then
    echo "not tested: $(head -1 "$work/err")"
else
    emulated=(--dtype=f32 --backend=hip-cpu --repeat=1 --warmup=0)
    for variant in fft fft-wide; do
        ok "convolve --variant=$variant on hip-cpu" convolve random:90x90 random:40x40 --variant=$variant "${emulated[@]}"
        for inputs in "convolve random:220x200 random:193x2" "convolve1d random:66000 random:65537"; do
            read -ra words <<<"$inputs"
            refused "$inputs by $variant on hip-cpu" 3 "cannot run for kernels beyond 192x192, or 65536 for signals (" \
                "${words[@]}" --variant=$variant "${emulated[@]}"
            check "it names the library, its package and another variant" \
                grep -q 'libfftw3f*\.so.*; install libfftw3-.*; tiled needs no library' "$work/err"
        done
    done
    ok "auto on hip-cpu" convolve random:520x510 random:64x63 "${emulated[@]}" --check=sampled --json
    check "auto takes fft-wide" json "$work/out" 'all(r["variant"] == "fft-wide" for r in d["results"])'
    ok "all variants of a signal on hip-cpu" convolve1d random:9000 random:100 --variant=all "${emulated[@]}" --json
    check "all of them run" json "$work/out" '{r["variant"] for r in d["results"]} == {"tiled", "naive", "fft", "fft-wide"}'
    run list --json
    check "list has fft on hip-cpu" json "$work/out" \
        '[r for r in d["variants"] if "hip-cpu" in r["backends"] and r["operation"] == "convolve" and r["variant"] == "fft-wide"]'
fi
# The vectors of singular values that are zero, by the processor's rotations and by the host's for a GPU.
for backend in serial simd omp hip-cpu; do
    for variant in auto randomized; do
        run svd constant.npy --backend=$backend --variant=$variant --repeat=1 --warmup=0
        [ "$status" = 3 ] || check "svd $variant of a constant on $backend" test "$status" = 0
    done
done
# f32 saves the rotations nothing: single is computed by them, and auto does not take it.
for backend in serial simd hip-cpu; do
    run svd --size=40 --keep=40 --dtype=f64 --backend=$backend --variant=single --repeat=1 --warmup=0
    [ "$status" = 3 ] || check "svd single on $backend" test "$status" = 0
    run svd --size=40 --keep=40 --dtype=f64 --backend=$backend --tolerance=1e-3 --repeat=1 --warmup=0 --json
    [ "$status" = 3 ] || check "svd with a tolerance on $backend" json "$work/out" 'all(r["variant"] in ("jacobi", "host") and r["check"]["ok"] for r in d["results"])'
done
# A GPU without a BLAS multiplies by a kernel of its own; more rows than a tile has.
for gpu in hip-cpu hip-nvidia; do
    run svd --size=41 --keep=7 --backend=$gpu --variant=randomized --repeat=1 --warmup=0
    if [ "$status" = 3 ]; then
        echo "not tested: $(head -1 "$work/err")"
    else
        check "svd randomized without a BLAS on $gpu" test "$status" = 0
    fi
done
summary
