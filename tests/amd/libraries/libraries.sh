#!/bin/bash
# SPDX-License-Identifier: MIT
# libraries.sh FOLDER HANDLES: what hip-amd calls rocBLAS, rocSOLVER, hipFFT and rocTX with, and what it says where one is missing,
# fails, or is of another ROCm. FOLDER has the stand-ins (CMakeLists.txt); HANDLES is
# test_handles.c's program.
. "$FLYNN_SOURCE/tests/cli/harness.sh"
folder=$1 handles=$2
runtime=$LD_LIBRARY_PATH
quick=(--backend=hip-amd --repeat=1 --warmup=0)
export AMD_LIBRARIES_RECORD=$work/record

# with SUBFOLDER COMMAND...: with the libraries in it.
with() {
    : >"$work/record"
    LD_LIBRARY_PATH=$folder/$1:$runtime "${@:2}"
}

# calls: the last command's calls, each different one once, are the lines of stdin. Streams are set in between.
calls() {
    cat >"$work/expected"
    grep -vE '_set_stream|SetStream|alive|_handle|Create|Destroy' "$work/record" | awk '!seen[$0]++' | diff - "$work/expected"
}

nothing_is_left() {
    grep -q alive "$work/record" && ! grep alive "$work/record" | grep -v 'alive=0$'
}

ok "info" info --long
for library in rocBLAS rocSOLVER fft-wide; do
    check "$library: missing, and reported" grep -q "lacks: .*$library.*not found" "$work/out"
done
with lib ok "info with the libraries" info --json
check "nothing is missing" json "$work/out" 'all(not b["lacks"] for b in d["backends"] if b["name"] == "hip-amd")'

# ------------------------------------------------------------------------------------------ the calls' arguments ----

# Rectangular matrices, in which no two sizes are the same. Row-major c = a b is column-major c' = b' a'.
"$PYTHON" - "$here" <<'END'
import math, pathlib, sys
sys.path.insert(0, sys.argv[1])
import files
def save(name, *shape):
    count = math.prod(shape)
    pathlib.Path(name).write_bytes(files.npy([math.sin(i * i + 1) for i in range(count)], shape))
save("u.npy", 30, 6), save("s.npy", 6), save("vt.npy", 6, 50), save("wide.npy", 30, 50), save("tall.npy", 50, 30)
END

for dtype in f32 f64; do
    letter=$([ $dtype = f32 ] && echo s || echo d)
    with lib ok "reconstruct $dtype" reconstruct u.npy s.npy vt.npy --keep=4 --dtype=$dtype --variant=library "${quick[@]}"
    check "reconstruct $dtype: the calls" calls <<END
rocblas_${letter}gemm_strided_batched NN m=50 n=30 k=4 alpha=1 lda=50 step_a=300 ldb=4 step_b=120 beta=0 ldc=50 step_c=1500 batch=1
END
    check "reconstruct $dtype: nothing is left" nothing_is_left
    with lib ok "a batch, $dtype" reconstruct --size=20 --keep=5 --batch=3 --dtype=$dtype --variant=library "${quick[@]}"
    check "a batch, $dtype: the calls" calls <<END
rocblas_${letter}gemm_strided_batched NN m=20 n=20 k=5 alpha=1 lda=20 step_a=100 ldb=5 step_b=100 beta=0 ldc=20 step_c=400 batch=3
END
done

# a a' or a'a of the smaller side, its eigenvectors, the larger side's by Cholesky's factorization of their products; then whether
# both are orthonormal. a is a copy, of which a wide one is column-major as a tall one.
eigenvectors_of_wide() {
    check "$1: the calls" calls <<'END'
rocblas_dgemm_strided_batched TN m=30 n=30 k=50 alpha=1 lda=50 step_a=0 ldb=50 step_b=0 beta=0 ldc=30 step_c=0 batch=1
rocsolver_dsyevd evect=211 uplo=122 n=30 lda=30
rocblas_dgemm_strided_batched NN m=50 n=7 k=30 alpha=1 lda=50 step_a=0 ldb=30 step_b=0 beta=0 ldc=50 step_c=0 batch=1
rocblas_dgemm_strided_batched TN m=7 n=7 k=50 alpha=1 lda=50 step_a=0 ldb=50 step_b=0 beta=0 ldc=7 step_c=0 batch=1
rocsolver_dpotrf uplo=121 n=7 lda=7
rocblas_dtrsm RUNN m=50 n=7 alpha=1 lda=7 ldb=50
rocblas_dgemm_strided_batched TN m=7 n=7 k=30 alpha=1 lda=30 step_a=0 ldb=30 step_b=0 beta=0 ldc=7 step_c=0 batch=1
END
}
with lib ok "svd wide f32" svd wide.npy --keep=7 --dtype=f32 --variant=library "${quick[@]}"
eigenvectors_of_wide "svd wide f32"
# f64 with the exactness of f32: the same calls, on the matrix in f64.
with lib ok "svd wide f64, single" svd wide.npy --keep=7 --dtype=f64 --variant=single "${quick[@]}"
eigenvectors_of_wide "svd wide f64, single"
with lib ok "svd wide f64, a tolerance" svd wide.npy --keep=7 --dtype=f64 --tolerance=1e-5 --json "${quick[@]}"
eigenvectors_of_wide "svd wide f64, a tolerance"
check "auto took single" json "$work/out" 'all(r["variant"] == "single" and r["check"]["ok"] for r in d["results"])'
with lib ok "svd wide f64, a small tolerance" svd wide.npy --keep=7 --dtype=f64 --tolerance=5e-6 --json "${quick[@]}"
check "auto took library" json "$work/out" 'all(r["variant"] == "library" and r["check"]["ok"] for r in d["results"])'
with lib ok "svd tall f32" svd tall.npy --keep=7 --dtype=f32 --variant=library "${quick[@]}"
check "svd tall f32: the calls" calls <<'END'
rocblas_dgemm_strided_batched NT m=30 n=30 k=50 alpha=1 lda=30 step_a=0 ldb=30 step_b=0 beta=0 ldc=30 step_c=0 batch=1
rocsolver_dsyevd evect=211 uplo=122 n=30 lda=30
rocblas_dgemm_strided_batched TN m=50 n=7 k=30 alpha=1 lda=30 step_a=0 ldb=30 step_b=0 beta=0 ldc=50 step_c=0 batch=1
rocblas_dgemm_strided_batched TN m=7 n=7 k=50 alpha=1 lda=50 step_a=0 ldb=50 step_b=0 beta=0 ldc=7 step_c=0 batch=1
rocsolver_dpotrf uplo=121 n=7 lda=7
rocblas_dtrsm RUNN m=50 n=7 alpha=1 lda=7 ldb=50
rocblas_dgemm_strided_batched TN m=7 n=7 k=30 alpha=1 lda=30 step_a=0 ldb=30 step_b=0 beta=0 ldc=7 step_c=0 batch=1
END
check "svd: nothing is left" nothing_is_left
for side in wide tall; do
    with lib ok "svd $side f64" svd $side.npy --keep=7 --dtype=f64 --variant=library "${quick[@]}"
    check "svd $side f64: the calls" calls <<'END'
rocsolver_dgesvd left=192 right=192 m=50 n=30 lda=50 ldu=50 ldv=30 mode=201
rocblas_dgemm_strided_batched NT m=7 n=7 k=30 alpha=1 lda=30 step_a=0 ldb=30 step_b=0 beta=0 ldc=7 step_c=0 batch=1
rocblas_dgemm_strided_batched TN m=7 n=7 k=50 alpha=1 lda=50 step_a=0 ldb=50 step_b=0 beta=0 ldc=7 step_c=0 batch=1
END
done
# Vectors that are not orthogonal are computed again by the next method, in the end by the host.
whole=(--keep=30 --variant=library "${quick[@]}")
export AMD_LIBRARIES_SKEW=dsyevd
with lib ok "svd f32, eigenvectors that are not orthogonal" svd tall.npy --dtype=f32 "${whole[@]}"
check "svd f32, eigenvectors: then by a decomposition" grep -q '^rocsolver_dgesvd' "$work/record"
with lib ok "svd single, eigenvectors that are not orthogonal" svd tall.npy --dtype=f64 --keep=30 --variant=single "${quick[@]}"
check "svd single, eigenvectors: then by a decomposition" grep -q '^rocsolver_dgesvd' "$work/record"
export AMD_LIBRARIES_SKEW=dsyevd,dgesvd
for dtype in f32 f64; do
    with lib ok "svd $dtype, no vectors that are orthogonal" svd wide.npy --dtype=$dtype "${whole[@]}"
    check "svd $dtype, no vectors: a decomposition was tried" grep -q '^rocsolver_dgesvd' "$work/record"
done
with lib ok "svd single, no vectors that are orthogonal" svd wide.npy --dtype=f64 --keep=30 --variant=single "${quick[@]}"
check "svd single, no vectors: a decomposition was tried" grep -q '^rocsolver_dgesvd' "$work/record"
unset AMD_LIBRARIES_SKEW
# The sketch of 7 + 10 vectors is made orthonormal five times, the vectors of its decomposition once: by Cholesky's factorization of
# their products.
with lib ok "randomized" svd tall.npy --keep=7 --dtype=f32 --variant=randomized "${quick[@]}"
of_sketch=$(grep -c '^rocsolver_dpotrf uplo=121 n=17 lda=17$' "$work/record")
of_vectors=$(grep -c '^rocsolver_dpotrf uplo=121 n=7 lda=7$' "$work/record")
check "randomized: five factorizations of 17 x 17 for each of 7 x 7" test "$of_sketch" -ge 5 -a "$of_sketch" = $((5 * of_vectors))
check "randomized: no reflections" test "$(grep -c geqrf "$work/record")" = 0
# If their vectors are not orthogonal, QR makes them, in f32 that of the sketch, too.
export AMD_LIBRARIES_SKEW=dtrsm
with lib ok "svd f32, Cholesky's vectors not orthogonal" svd tall.npy --keep=7 --dtype=f32 --variant=library "${quick[@]}"
check "svd f32: then QR" grep -q '^rocsolver_dgeqrf m=50 n=7 lda=50$' "$work/record"
with lib ok "randomized, Cholesky's vectors not orthogonal" svd tall.npy --keep=7 --dtype=f32 --variant=randomized "${quick[@]}"
of_sketch=$(grep -c '^rocsolver_sgeqrf m=[35]0 n=17 lda=[35]0$' "$work/record")
of_vectors=$(grep -c '^rocsolver_dgeqrf m=30 n=7 lda=30$' "$work/record")
check "randomized: then QR, in f32 for the sketch" test "$of_sketch" -ge 5 -a "$of_sketch" = $((5 * of_vectors))
unset AMD_LIBRARIES_SKEW
check "randomized: nothing is left" nothing_is_left

# fft_calls TITLE "RANK N REAL COMPLEX" TILES ARGUMENT...: the plans of a convolution, in real and complex numbers of a row and of a tile.
fft_calls() {
    local title="fft $dtype of $1" rank n real complex real_tile complex_tile plan=hipfftMakePlanMany
    read -r rank n real complex real_tile complex_tile <<<"$2"
    local there="$plan rank=$rank n=$n,$n in=$real,1,$real_tile out=$complex,1,$complex_tile type=${names[0]}"
    local back="$plan rank=$rank n=$n,$n in=$complex,1,$complex_tile out=$real,1,$real_tile type=${names[1]}"
    with lib ok "$title" "${@:4}" --dtype=$dtype --variant=fft "${quick[@]}"
    check "$title: the calls" calls <<END
$there batch=1 work=1
$there batch=$3 work=1
$back batch=$3 work=1
hipfftExec${names[2]} in place
hipfftExec${names[3]} in place
END
    check "$title: nothing is left" nothing_is_left
}
# A row of 131072 real numbers, or of 65537 complex ones in the same place: 131074 real ones. The kernels are too large for our own
# transforms.
for dtype in f32 f64; do
    if [ $dtype = f32 ]; then names=(0x2a 0x2c R2C C2R); else names=(0x6a 0x6c D2Z Z2D); fi
    fft_calls "a signal" "1 131072 131074 65537 131074 65537" 4 convolve1d random:140000 random:65537 --check=sampled
    fft_calls "an image" "2 512 514 257 263168 131584" 4 convolve random:400x400 random:193x193
done

# ------------------------------------------------------------------------------------------------- calls that fail ----

reconstruct=(reconstruct --size=20 --keep=5 --variant=library)
svd=(svd --size=20 --keep=5 --dtype=f32 --variant=library)
exact=(svd --size=20 --keep=5 --dtype=f64 --variant=library)
randomized=(svd --size=40 --keep=5 --dtype=f32 --variant=randomized)
fft=(convolve random:5x5000 random:1x193 --dtype=f64 --variant=fft)
fft32=(convolve random:5x5000 random:1x193 --dtype=f32 --variant=fft)
# The command ends at once; what a failed call leaves behind is test_handles.c's part.
# Reflections are called where Cholesky's factorization made no orthonormal vectors.
# FUNCTION STATUS COMMAND WORDS: 5 and 2 are the libraries' codes for memory, 6 and 5 those of an internal error.
while read -r function status_code command words; do
    declare -n arguments=$command
    export AMD_LIBRARIES_FAIL=$function=$status_code AMD_LIBRARIES_SKEW=dtrsm
    with lib refused "$function fails with $status_code" 4 "$words" "${arguments[@]}" "${quick[@]}" -o out.npy
    check "$function was called" grep -q "^$function" "$work/record"
done <<'END'
rocblas_create_handle 5 reconstruct status 5: out of memory
rocblas_create_handle 6 reconstruct status 6
rocblas_set_stream 6 reconstruct status 6
rocblas_sgemm_strided_batched 5 reconstruct status 5: out of memory
rocblas_sgemm_strided_batched 6 reconstruct status 6
rocblas_dgemm_strided_batched 6 svd status 6
rocblas_create_handle 6 exact status 6
rocblas_set_stream 5 exact status 5: out of memory
rocsolver_dsyevd 5 svd syevd on AMD device 0 failed with status 5: out of memory
rocsolver_dsyevd 6 svd syevd on AMD device 0 failed with status 6
rocsolver_dpotrf 6 svd potrf on AMD device 0 failed with status 6
rocblas_dtrsm 5 svd rocblas_dtrsm on AMD device 0 failed with status 5: out of memory
rocsolver_dgeqrf 6 svd geqrf on AMD device 0 failed with status 6
rocsolver_dorgqr 6 svd orgqr on AMD device 0 failed with status 6
rocsolver_sgeqrf 6 randomized geqrf on AMD device 0 failed with status 6
rocsolver_sorgqr 5 randomized orgqr on AMD device 0 failed with status 5: out of memory
rocsolver_dgesvd 6 exact gesvd on AMD device 0 failed with status 6
hipfftCreate 2 fft make a plan: error 2
hipfftMakePlanMany 2 fft make a plan: error 2
hipfftMakePlanMany 5 fft make a plan: error 5
hipfftSetStream 5 fft transform: error 5
hipfftExecD2Z 5 fft transform: error 5
hipfftExecZ2D 5 fft transform: error 5
hipfftExecR2C 5 fft32 transform: error 5
hipfftExecC2R 5 fft32 transform: error 5
END
unset AMD_LIBRARIES_FAIL AMD_LIBRARIES_SKEW
: >"$work/record"
for lazy in 0 1; do
    check "handles, AMD_EMULATOR_LAZY=$lazy" env LD_LIBRARY_PATH="$folder/lib:$runtime" AMD_EMULATOR_LAZY=$lazy \
        "$handles"
    check "handles: nothing is left" nothing_is_left
done

# ----------------------------------------------------------------------------------------------- missing, or of another ROCm ----

refused "no rocBLAS" 3 "librocblas.so.3 librocblas.so.0 not found" "${reconstruct[@]}" "${quick[@]}"
refused "no rocSOLVER" 3 "librocsolver.so.0 not found" "${svd[@]}" "${quick[@]}"
needs="fft, fft-wide and fft-checked cannot run for kernels beyond 192x192, or 65536 for signals (libhipfft.so.0 not found); install hipFFT from the same ROCm, or set LD_LIBRARY_PATH; tiled needs no library"
refused "no hipFFT" 3 "$needs" "${fft[@]}" "${quick[@]}"
# Kernels of up to 192x192 have no need of it.
for variant in fft fft-wide; do
    ok "no hipFFT: $variant of a small kernel" convolve random:90x90 random:40x30 --dtype=f32 --variant=$variant "${quick[@]}"
    ok "no hipFFT: $variant of a signal" convolve1d random:9000 random:100 --dtype=f32 --variant=$variant "${quick[@]}"
    refused "no hipFFT: $variant of a large kernel" 3 "$needs" convolve random:300x300 random:193x2 --dtype=f32 --variant=$variant "${quick[@]}"
done
ok "no hipFFT: auto with a tolerance" convolve random:1000x1000 random:32x32 --dtype=f64 --tolerance=1e-6 --check=sampled --json "${quick[@]}"
check "auto takes fft" json "$work/out" 'all(r["variant"] == "fft" for r in d["results"])'
another="needs libamdhip64.so.99, but this plugin has libamdhip64.so"
with another refused "rocBLAS of another ROCm" 3 "librocblas.so.4 $another" "${reconstruct[@]}" "${quick[@]}"
with another refused "rocSOLVER of another ROCm" 3 "librocsolver.so.0 $another" "${svd[@]}" "${quick[@]}"
with another refused "hipFFT of another ROCm" 3 "libhipfft.so.0 $another" "${fft[@]}" "${quick[@]}"
with another ok "info" info --long
check "they are not loaded, and reported" grep -q "lacks: .*librocblas.so.4 $another" "$work/out"
with another ok "auto does without them" svd --size=20 --keep=5 "${quick[@]}"
another="calls libamdhip64.so.99, but this plugin has libamdhip64.so"
with hidden refused "rocBLAS by way of another library" 3 "librocblas.so.4 $another" "${reconstruct[@]}" "${quick[@]}"
with hidden refused "rocSOLVER likewise" 3 "librocsolver.so.0 $another" "${svd[@]}" "${quick[@]}"
with hidden refused "hipFFT likewise" 3 "libhipfft.so.0 $another" "${fft[@]}" "${quick[@]}"
# Of two rocBLAS, the one that fits is taken, though the other has the newer name.
mkdir two
cp "$folder/another/librocblas.so.4" two/librocblas.so.5
cp "$folder/another/libamdhip64.so.99" two
: >"$work/record"
LD_LIBRARY_PATH=$PWD/two:$folder/lib:$runtime ok "two rocBLAS" "${reconstruct[@]}" "${quick[@]}"
check "two rocBLAS: the one that fits" grep -q sgemm "$work/record"
# Files that are not libraries.
mkdir bad
echo text >bad/librocblas.so.5
LD_LIBRARY_PATH=$PWD/bad:$runtime refused "a text instead of rocBLAS" 3 "librocblas.so.5: file too short" \
    "${reconstruct[@]}" "${quick[@]}"
for bytes in 20 64 100 1000 5000; do
    head -c $bytes "$folder/another/librocblas.so.4" >bad/librocblas.so.5
    LD_LIBRARY_PATH=$PWD/bad:$runtime ok "the first $bytes bytes of rocBLAS" info
done

# --------------------------------------------------------------------------------------------------------- rocTX ----

with roctx ok "ranges" sort --size=100 "${quick[@]}"
for library in roctx64 rocprofiler-sdk-roctx; do
    check "$library: a range for the call" grep -q "^$library push sort" "$work/record"
    check "$library: as many ends as beginnings" grep -q "^$library alive=0" "$work/record"
done
mkdir one
cp "$folder/roctx/libroctx64.so.4" one
: >"$work/record"
LD_LIBRARY_PATH=$PWD/one:$runtime ok "one of them" sort --size=100 "${quick[@]}"
check "one of them: is called" grep -q "^roctx64 push sort" "$work/record"
summary
