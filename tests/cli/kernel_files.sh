#!/bin/bash
# SPDX-License-Identifier: MIT
# flynn kernel with files as courses have them, on hip-cpu: a kernel among host code, headers and launches; inputs that
# lack const; kernels that only print; CUDA's own functions; what cannot run, and what is said of it.
# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
hip=(--backend=hip-cpu --repeat=3 --warmup=0)

run kernel --backend=hip-cpu --size=1000 --repeat=3 --warmup=0
if [ "$status" != 0 ]; then
    check "hip-cpu is not built here, or c++ is not" is_refused 3 ""
    summary
    exit
fi
says() { check "$1" grep -qF -- "$2" "$work/err"; }

# ------------------------------------------------------------------------------------------------ a file with a main

cat >saxpy.cu <<'END_OF_FILE'
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(call) if ((call) != cudaSuccess) { std::fprintf(stderr, "failed\n"); std::exit(1); }
#define SCALE 2.0f
typedef float real;

__device__ real scaled(real x) { return SCALE * x; }

__global__ void saxpy(real *x, real *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = scaled(x[i]) + y[i];
}

extern "C" void solve(float *x, float *y, int n)
{
    saxpy<<<(n + 255) / 256, 256>>>(x, y, n);
    CHECK(cudaDeviceSynchronize());
}

int main()
{
    std::vector<float> a(1000);
    solve(a.data(), a.data(), 1000);
    std::printf("%f\n", a[0]);
}
END_OF_FILE
ok "a file with a main" kernel saxpy.cu 0:1000 inout:0:1000 1000 --expect='2 * x + y' "${hip[@]}"
check "its kernel is right" grep -q " ok (emulation)$" "$work/out"
says "what was left out" \
    "saxpy.cu: left out, since the kernel does not name it: <cstdio>, <vector>, <cuda_runtime.h>, solve, main"
# A file for an array without const is read; so is one that the kernel changes, and what it was before is put back.
ok "files for every array" kernel saxpy.cu 0:1000 0:1000 1000 --expect='y: 2 * x + y' -o y.npy "${hip[@]}"
check "y is written" npy y.npy 'shape == (1000,) and v[10] == 30'
check "x is read alone" grep -q "^kernel: saxpy, 1000 f32, 1000 f32 -> 1000 f32$" "$work/out"
run kernel saxpy.cu 0:1000 0:1000 1000 --expect='2 * x' "${hip[@]}"
check "a wrong result" test "$status" = 1
refused "a number as --expect's output" 2 "--expect: n is no output: it is a number" \
    kernel saxpy.cu 0:10 0:10 10 --expect=n:3 "${hip[@]}"
refused "--expect of an output that is none" 2 "--expect: saxpy has no output 'z' (its output is y), and no array is made by 'z'" \
    kernel saxpy.cu 0:10 0:10 10 --expect='z: 2 * x' "${hip[@]}"
refused "an option for a macro" 2 "--define: '--guard=on' is not NAME or NAME=VALUE" kernel saxpy.cu 0:10 0:10 10 -D --guard=on "${hip[@]}"
refused "a number for an array" 2 "'5': y is a f32 * that the kernel can write; expected out, out=SHAPE or inout:FILE" \
    kernel saxpy.cu 0:10 5 10 "${hip[@]}"

part 2
# Structs of numbers, enums, std::, HIP's older names, alignas behind __shared__, parts of a long namespace.
cat >bodies.cu <<'END_OF_FILE'
#include <algorithm>
#include <cmath>
namespace course::bodies
{
enum class Mode : uint8_t { still, moving };
struct __align__(8) Body {
    float position[2], velocity[2];
    __device__ float speed() const { return std::sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1]); }
};
typedef struct { double charge; int kind; } Particle;
__global__ void move(const Body *bodies, const Particle *particles, float out[][2], Mode mode, std::size_t n)
{
    __shared__ alignas(16) float fastest[64];
    const std::size_t i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    fastest[hipThreadIdx_x] = i < n ? bodies[i].speed() : 0;
    __syncthreads();
    if (i >= n)
        return;
    out[i][0] = mode == Mode::moving ? std::max(fastest[threadIdx.x], 5.0f) : 0;
    unsafeAtomicAdd(&out[i][1], (float)particles[i].charge + particles[i].kind);
}
}
END_OF_FILE
"$PYTHON" - "$here" <<'END_OF_SCRIPT'
import struct
import sys
sys.path.insert(0, sys.argv[1])
import files
open("bodies.npy", "wb").write(files.npy([v for i in range(100) for v in (0, 0, 3 * i / 100, 4 * i / 10)], (100, 4), "<f4"))
open("particles.npy", "wb").write(files.npy(list(b"".join(struct.pack("<di4x", i, 7) for i in range(100))), (100, 16), "|u1"))
open("moved.npy", "wb").write(files.npy([v for i in range(100) for v in (
    max(5, ((3 * i / 100) ** 2 + (4 * i / 10) ** 2) ** 0.5), i + 7)], (100, 2), "<f4"))
END_OF_SCRIPT
ok "structs and enums" kernel bodies.cu bodies.npy particles.npy out=100x2 1 100 --block=64 --expect=moved.npy "${hip[@]}"
check "are right" grep -q " ok (emulation)$" "$work/out"
run kernel bodies.cu bodies.npy particles.npy out=100x2 1 101 --block=64 "${hip[@]}"
check "beyond the structs" test "$status" = 1
says "names the struct" "reads bodies[100], beyond its 100 elements"
says "what its structs are" "no dtype has an element of particles (16 bytes): the array has its bytes, u8"

part 2
# Numbers of 16 bits are arrays of bytes, of which --grid=auto has a thread for every two.
cat >shorts.cu <<'END_OF_FILE'
__global__ void scale(const short *in, unsigned short *out, const signed char *by, short add)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * by[i] + add;
}
END_OF_FILE
"$PYTHON" - "$here" <<'END_OF_SCRIPT'
import struct
import sys
sys.path.insert(0, sys.argv[1])
import files
def shorts(values):
    return list(b"".join(struct.pack("<H", v % 65536) for v in values))
open("in.npy", "wb").write(files.npy(shorts(300 * i - 32768 for i in range(128)), (128, 2), "|u1"))
open("by.npy", "wb").write(files.npy([(i - 64) % 256 for i in range(128)], (128,), "|u1"))
open("scaled.npy", "wb").write(files.npy(shorts((300 * i - 32768) * (i - 64) - 5 for i in range(128)), (128, 2), "|u1"))
open("i2.npy", "wb").write(files.npy(list(range(128)), (128,), "<i2"))
END_OF_SCRIPT
ok "numbers of 16 bits" kernel shorts.cu --block=32 --expect=scaled.npy "${hip[@]}" -- in.npy out by.npy -5
check "are right" grep -q " ok (emulation)$" "$work/out"
says "what their arrays are" "shorts.cu: no dtype has an element of in (2 bytes), out (2 bytes): the array has its bytes, u8"
ok "bytes without a dimension of their own" kernel shorts.cu --block=32 "${hip[@]}" -- in.npy out=256 by.npy -5
refused "a file of other numbers" 2 "i2.npy: no dtype has the elements of in; it takes an array of their bytes, u8, 2 for each" \
    kernel shorts.cu i2.npy out by.npy 1 "${hip[@]}"
run kernel shorts.cu 0:254:1 out=256 by.npy 1 --block=32 "${hip[@]}"
check "beyond the numbers" test "$status" = 1
says "names the element" "reads in[127], beyond its 127 elements"
run kernel shorts.cu in.npy out by.npy 40000 "${hip[@]}"
check "a number that its type does not hold" test "$status" = 2
says "is named" "add is 40000; its type holds -32768 to 32767"
part 2
# Extents that the text names; the host's #error, of an exercise that is not finished there.
cat >named.cu <<'END_OF_FILE'
#define LENGTH (1 << 3)
const int HALF = 4;
struct Parts { float x[LENGTH], y[HALF]; };
__global__ void add(const Parts *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x].x[7] + in[threadIdx.x].y[0];
}
int main()
{
#error TODO: launch it
    return 0;
}
END_OF_FILE
ok "extents that have names" kernel named.cu 0:240 out=20 --block=20 -o named.npy "${hip[@]}"
check "are those of the text" npy named.npy 'list(v) == [24 * i + 15 for i in range(20)]'
run kernel named.cu 0:236 out=20 --block=20 "${hip[@]}"
says "an element is 12 numbers" "in[19]"
printf '__global__ void k(float *x)\n{\n#error TODO\n}\n' >todo.cu
run kernel todo.cu out=1 "${hip[@]}"
check "a kernel's own #error" test "$status" = 2
says "stays" "todo.cu:3:2: #error TODO"
printf 'struct Particle { float x; };\n__global__ void k(Particle p, float *x) { x[0] = p.x; }\n' >bodies_by_value.cu
ok "a struct by value" kernel bodies_by_value.cu 1 out=1 --block=1 --expect=1 "${hip[@]}"

part 1
# What the text cannot prove to be only read is an output: by an address, an alias, a reference, a macro.
while IFS= read -r body; do
    printf '#define ADD(x, y) ((x) = (x) + (y))\n__device__ void add(float &x) { x += 1; }\n__global__ void k(float *a, float *b) { int i = threadIdx.x; %s; b[i] = a[i]; }\n' \
        "$body" >write.cu
    ok "a is written by $body" kernel write.cu 0:256 out --expect='a:x + 1' "${hip[@]}"
    check "an array that $body writes is an output" grep -q "^kernel: k, 256 f32 -> 256 f32, 256 f32$" "$work/out"
done < <(printf '%s\n' 'atomicAdd(&a[i], 1.0f)' 'float *p = a + i; *p += 1' 'float &r = a[i]; r += 1' 'add(a[i])' 'ADD(a[i], 1)' '++a[i]' \
    '*(a + i) += 1' 'a[i] += 1' | some 2)
printf '__global__ void k(int *n, int *a, int *b) { int i = threadIdx.x; b[i] = max(a[i] & 3, a[i] == *n); }\n' >read.cu
ok "reads" kernel read.cu 0:1 0:256 out=256 --expect='max(y & 3, y == 0)' "${hip[@]}"
check "do not make an output of a" grep -q "1 i32, 256 i32 -> 256 i32" "$work/out"

part 2
# --expect=NAME: names an output, which -o writes; the grid stays that of the first one.
printf '__global__ void k(const int *a, int *twice, int *count)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    twice[i] = 2 * a[i];\n    atomicAdd(count, 1);\n}\n' >count.cu
ok "a second output" kernel count.cu 0:1024 out out=1 --expect=count:1024 -o count.npy "${hip[@]}"
check "is compared, and written" npy count.npy 'shape == (1,) and v[0] == 1024'
check "and named" grep -q "^checked against: 1024 (count alone)" "$work/out"
run kernel count.cu 0:1024 out out=1 --expect=count:1000 "${hip[@]}"
check "and found wrong" test "$status" = 1

part 2
# Every array may be an output.
arrays=$(printf ', int *a%d' {1..11})
printf '__global__ void k(%s)\n{\n    a1[0] = a2[0] = a3[0] = a4[0] = a5[0] = a6[0] = a7[0] = a8[0] = a9[0] = a10[0] = 1;\n    a11[0] = 2;\n}\n' "${arrays:2}" >many.cu
# shellcheck disable=SC2046 # several words
ok "eleven outputs with a content" kernel many.cu $(printf 'inout:ones:1 %.0s' {1..11}) --block=1 --expect=a11:2 "${hip[@]}"
# shellcheck disable=SC2046 # several words
ok "eleven outputs" kernel many.cu $(printf 'out=1 %.0s' {1..11}) --block=1 --expect=a11:2 "${hip[@]}"

part 2
# NaN that no input explains is an error, unless it is expected.
printf '__global__ void k(const float *a, float *b) { b[threadIdx.x] = sqrtf(a[threadIdx.x]); }\n' >root.cu
run kernel root.cu --block=8 "${hip[@]}" -- -4:4 out
check "NaN" test "$status" = 1
says "where" "b[0] is NaN, and nothing that the kernel reads is"
ok "NaN that is expected" kernel root.cu --block=8 --expect='sqrt(x)' "${hip[@]}" -- -4:4 out
"$PYTHON" - "$here" <<'END_OF_SCRIPT'
import sys
sys.path.insert(0, sys.argv[1])
import files
open("nan.npy", "wb").write(files.npy([float("nan")] * 8, (8,), "<f4"))
END_OF_SCRIPT
ok "NaN that is read" kernel root.cu nan.npy out --block=8 "${hip[@]}"

# ---------------------------------------------------------------------------------------- kernels that only print

part 2
cat >hello.cu <<'END_OF_FILE'
#include <stdio.h>
__global__ void hello()
{
    printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
}
int main()
{
    hello<<<2, 3>>>();
    return cudaDeviceSynchronize();
}
END_OF_FILE
ok "hello" kernel hello.cu --grid=2 --block=3 "${hip[@]}"
check "every thread prints once" test "$(grep -c "^thread [0-2] of block [01]$" "$work/err")" = 6
check "it has no output" grep -q "^kernel: hello, no output$" "$work/out"
check "nothing is checked" grep -q "^checked against: nothing; the kernel has no output" "$work/out"
refused "--expect" 2 "--expect: hello has no output, it only prints" kernel hello.cu --expect=1 "${hip[@]}"
refused "-o" 2 "--output: hello has no output, it only prints" kernel hello.cu -o hello.npy "${hip[@]}"
printf '__global__ void k(const int *a) { int b = a[0]; }\n' >silent.cu
refused "a kernel that does nothing" 2 "k has no output: it writes to no array, and it calls no printf" \
    kernel silent.cu 0:4 "${hip[@]}"

part 2
cat >meet.cu <<'END_OF_FILE'
__global__ void meet()
{
    if (threadIdx.x < 8)
        __syncthreads();
    else
        __syncthreads();
    printf("through\n");
}
END_OF_FILE
run kernel meet.cu --grid=1 --block=32 "${hip[@]}"
check "a mistake in a kernel that only prints" test "$status" = 1
says "where" "line 4: 8 of the 32 threads of block 0 reach this barrier; others wait in line 6"

# ----------------------------------------------- a function of the kernel's name, arguments of a template, `static`

part 2
cat >names.cu <<'END_OF_FILE'
#define BY 2
static __constant__ int factor;
struct odd {
    __device__ int operator()(int x) const { return BY * factor * (x % 2); }
};
const int WIDTH = 1 << 4;
template <typename F, int N>
__global__ void flags(const int *a, int *out)
{
    out[threadIdx.x] = N + F()(a[threadIdx.x]);
}
void flags(int *a, int *out)
{
    flags<odd, WIDTH><<<1, 64>>>(a, out);
}
END_OF_FILE
ok "types and constants as arguments of a template" kernel names.cu 0:64 out --entry='flags<odd, WIDTH>' --block=64 \
    --constant=factor:fill:1,value=3,dtype=i32 --expect='16 + 6 * (x % 2)' "${hip[@]}"

# ------------------------------------------------------------------------------------------- two ways to open a loop

part 1
cat >branches.cu <<'END_OF_FILE'
#ifdef TWICE
__device__ int step(int i) {
    return 2 * i;
#else
__device__ int step(int i) {
    return i;
#endif
}
__global__ void k(int *out, int n)
{
#if defined STRIDED
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#else
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
#endif
        out[i] = step(i);
#ifdef STRIDED
    } // of the loop
#else
    }
#endif
}
int main() { k<<<1, 1>>>(0, 0); }
END_OF_FILE
while IFS= read -r defines; do
    # shellcheck disable=SC2086 # several words
    ok "branches: $defines" kernel branches.cu out=300 300 $defines -o branches.npy "${hip[@]}"
    check "the branch that runs: $defines" npy branches.npy "v[299] == $([[ $defines = *TWICE* ]] && echo 598 || echo 299)"
done < <(printf '%s\n' "" "-D STRIDED" "-D TWICE" "-D STRIDED -D TWICE" | some 1)
sed -i '/of the loop/d' branches.cu
run kernel branches.cu out=300 300 -D STRIDED "${hip[@]}"
check "a bracket that one of them lacks" test "$status" = 2

# -------------------------------------------------------------------------- vectors and structs by value; the heap

part 2
cat >values.cu <<'END_OF_FILE'
#include <string>
#include <vector>
struct Box {
    char kind;
    float2 low;
    int side[2];
    double weight;
    std::string name() const { return "box"; } // the host's
    __host__ __device__ int area() const { return side[0] * side[1]; }
};
struct Particle { float3 place; float mass; int id; };
__device__ float scaled(float x) { return 2 * x; }
std::vector<float> scaled(const std::vector<float> &all) { return all; }
__global__ void values(float4 v, const Particle *all, Box b, dim3 d, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = all[i].place.y * v.w + all[i].mass + all[i].id + scaled(b.low.y) + b.area() + b.weight + d.z + b.kind;
}
int main() { values<<<1, 1>>>(make_float4(1, 2, 3, 4), 0, Box(), 1, 0, 0); }
END_OF_FILE
"$PYTHON" - <<'END_OF_PROGRAM'
import struct
body = b"".join(struct.pack("<4fi", 0, i, 0, 2 * i, -i) for i in range(10))
head = "{'descr': '|u1', 'fortran_order': False, 'shape': (10, 20), }".ljust(117) + "\n"
open("particles.npy", "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + body)
END_OF_PROGRAM
values=(kernel values.cu -o values.npy "${hip[@]}" --) # a number below 0 is no option
ok "vectors and structs by value" "${values[@]}" 1,2,3,0.5 particles.npy -7,0,1.5,3,5,0.25 1,2,100 out=10 10
# y * 0.5 + 2 * y - y + 2 * 1.5 + 3 * 5 + 0.25 + 100 - 7
check "each number is where it belongs" npy values.npy "list(v) == [1.5 * i + 111.25 for i in range(10)]"
refused "too few numbers of a vector" 2 "'1,2,3': v is 4 numbers with a comma between them, v.x to v.w; 3 are given" \
    "${values[@]}" 1,2,3 particles.npy -7,0,1.5,3,5,0.25 1,2,100 out=10 10
refused "a struct's number that is not whole" 2 "'5.5': b.side[1] is a number of i32; expected a whole one" \
    "${values[@]}" 1,2,3,4 particles.npy -7,0,1.5,3,5.5,0.25 1,2,100 out=10 10
run "${values[@]}" 1,2,3,4 particles.npy 200,0,1.5,3,5,0.25 1,2,100 out=10 10
says "a number that the member's type does not hold" "argument b.kind is 200; its type holds -128 to 127"
refused "an array for a vector" 2 "'particles.npy': v is 4 numbers" "${values[@]}" particles.npy particles.npy 1 1 out=10 10
ok "formulas and rows of them" kernel values.cu 1,2,3,0.5 particles.npy '1,0,1.5,{s+1},5,0.25' 1,2,100 out=10 10 --let s=1,2 \
    --flops='n*b.side[0]' "${hip[@]}" --json
check "a member's name in --flops" json "$work/out" '[r["flops"] for r in d["results"]] == [20, 30]'
part 2
printf 'struct s { float *x; int n; };\n__global__ void k(s a) { a.x[0] = a.n; }\n' >pointers.cu
run kernel pointers.cu 1,2 "${hip[@]}"
says "a pointer within a struct" "pointers.cu:2:19: 's' is a type of the text's own with more than numbers, such as pointers"
printf '__global__ void k(float *out)\n{\n    float *x = (float *)malloc(8);\n    out[0] = x[0];\n    free(x);\n}\n' >heap.cu
run kernel heap.cu out=1 "${hip[@]}"
check "malloc" test "$status" = 2
says "what to do in place of malloc" "heap.cu:3:25: 'malloc': nothing takes memory here while it runs: use an array of known size"
printf '__global__ void k(float *out)\n{\n    float *x = new float[2];\n    out[0] = x[0];\n    delete[] x;\n}\n' >heap.cu
run kernel heap.cu out=1 "${hip[@]}"
says "new" "heap.cu:3:16: 'new': nothing takes memory here"
# The kernel's own name and parameters, where --expect names another one's.
printf '__global__ void mine(const float *x, float *made) { made[threadIdx.x] = x[threadIdx.x]; }\n' >mine.cu
printf '__global__ void theirs(const float *y, float *wanted) { wanted[threadIdx.x] = y[threadIdx.x]; }\n' >theirs.cu
ok "--expect names another kernel" kernel mine.cu 0:64 out --block=64 --expect=theirs.cu --json "${hip[@]}"
check "the row has the kernel's own name" json "$work/out" 'd["results"][0]["kernel"] == "mine"'

# ------------------------------------------------------------------------------------------- CUDA's own functions

part 2
cat >bits.cu <<'END_OF_FILE'
__global__ void bits(unsigned *out)
{
    uint i = 0;
    uchar small = 250;
    out[i++] = __float_as_uint(1.5f) == 0x3fc00000u;
    out[i++] = __float_as_int(-2.0f) == (int)0xc0000000;
    out[i++] = __uint_as_float(0x40490fdbu) == 3.14159274f;
    out[i++] = __longlong_as_double(__double_as_longlong(0.1)) == 0.1;
    out[i++] = __hiloint2double(__double2hiint(-7.25), __double2loint(-7.25)) == -7.25;
    out[i++] = __mul24(-3, 0x01000005) == -15;
    out[i++] = __umul24(0x01000003u, 5u) == 15;
    out[i++] = __mulhi(-2147483647 - 1, 2) == -1;
    out[i++] = __umulhi(0xffffffffu, 0xffffffffu) == 0xfffffffeu;
    out[i++] = __umul64hi(~0ull, ~0ull) == ~0ull - 1;
    out[i++] = __brev(1u) == 0x80000000u && __brevll(2ull) == 1ull << 62;
    out[i++] = __clzll(1) == 63 && __clzll(0) == 64 && __ffsll(1ll << 40) == 41;
    out[i++] = __float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_rd(-2.2f) == -3;
    out[i++] = __float2int_ru(2.2f) == 3 && __float2int_rn(1e20f) == INT_MAX && __float2uint_rn(-4.0f) == 0;
    out[i++] = __float2int_rz(-1e20f) == INT_MIN && __double2uint_rz(1e20) == UINT_MAX && __float2int_rn(NAN) == 0;
    out[i++] = __double2ll_rn(1e300) == LLONG_MAX && __double2ll_rn(-1e300) == LLONG_MIN;
    out[i++] = __sad(-3, 4, 1u) == 8 && __usad(3u, 9u, 1u) == 7;
    out[i++] = __hadd(5, 8) == 6 && __rhadd(5, 8) == 7 && __hadd(-1, -2) == -2;
    out[i++] = __funnelshift_l(0x80000000u, 1u, 1) == 3 && __funnelshift_r(0, 1u, 1) == 0x80000000u;
    out[i++] = __byte_perm(0x33221100u, 0x77665544u, 0x7410) == 0x77441100u;
    out[i++] = __byte_perm(0x00000080u, 0, 0x8888) == 0xffffffffu;
    out[i++] = __saturatef(1.5f) == 1 && __saturatef(-1.0f) == 0 && __saturatef(0.25f) == 0.25f;
    out[i++] = __fadd_rn(1.0f, 2.0f) == 3 && __ddiv_rn(1.0, 4.0) == 0.25 && __fsqrt_rn(9.0f) == 3;
    out[i++] = sinpif(1.0f) == 0 && cospif(0.5f) == 0 && cospi(1.0) == -1 && sinpi(-0.5) == -1;
    out[i++] = exp10f(3.0f) == 1000 && norm3df(2.0f, 3.0f, 6.0f) == 7;
    out[i++] = sizeof(size_t) == 8 && small + 10 == 260 && warpSize == 32 && UINT32_MAX == 4294967295u;
    out[i++] = CUDART_INF_F > FLT_MAX && clock() >= 0 && clock64() >= 0;
    __stcs(&out[i], __ldcg(&out[0]));
    i++;
}
END_OF_FILE
ok "functions of bits and roundings" kernel bits.cu out=28 --block=1 --grid=1 --expect=1 "${hip[@]}"
printf '#include <cassert>\n__global__ void k(int *out, int n)\n{\n    assert(n < 5);\n    out[threadIdx.x] = n;\n}\n' >assert.cu
ok "assert" kernel assert.cu out=64 4 --block=64 --expect=4 "${hip[@]}"
run kernel assert.cu out=64 5 "${hip[@]}"
check "an assertion that fails" test "$status" = 1
says "its line and test" 'line 4: k: block: [0,0,0], thread: ['
says "and that the kernel ends" "the kernel fails: line 4: k: block: [0,0,0], thread: "
part 2
mkdir asserts
printf '#define MOST 5\n#define LEAST 0\n\n' >asserts/limits.h
printf '#include "limits.h"\n__device__ int checked(int n)\n{\n    assert(n < MOST);\n    return n;\n}\n' >asserts/checked.h
printf '#include "checked.h"\n__global__ void k(int *out, int n)\n{\n    assert(n > LEAST);\n    out[threadIdx.x] = checked(n);\n}\n' >asserts/k.cu
run kernel asserts/k.cu out=64 0 --block=64 "${hip[@]}"
says "an assertion after headers: the line of its file" "the kernel fails: line 4: k: block: "
run kernel asserts/k.cu out=64 5 --block=64 "${hip[@]}"
says "an assertion in a header: its line and file" "the kernel fails: line 4 of asserts/checked.h: checked: block: "
printf '#include "limits.h"\n__global__ void k(int *out)\n{\n    int *p = nullptr;\n    *p = MOST;\n    out[0] = 1;\n}\n' >asserts/null.cu
run kernel asserts/null.cu out=1 "${hip[@]}"
says "a fault after headers" "the kernel fails: line 5: thread 0 of block 0 writes at NULL"

# ------------------------------------------------------------------------------------------ registers without a GPU

cat >tile.cu <<'END_OF_FILE'
#include <cstdio>
int main() { printf("of the host"); }
__global__ void tile(const float *a, float *out, int n)
{
    __shared__ float s[SIZE];
    float own[512];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 512; i++)
        own[(i * n) & 511] = s[(i + n) % SIZE];
    out[threadIdx.x] = own[n & 511];
}
END_OF_FILE
part 2
# Both arrays have known sizes; registers are some, and no GPU has more than 256 or 512.
known='len(d["registers"]) == 1 and all(r["shared_bytes"] == 3000 and r["local_bytes"] >= 2048 and 4 <= r["registers"] <= 512 and
    r["kernel"] == "tile" and r["reason"] is None for r in d["registers"])'
for pair in hipcc:gfx90a nvcc:sm_90; do
    command -v "${pair%:*}" >"$work/check" || { echo "${pair%:*} is not installed: --registers is tried with others"; continue; }
    ok "--registers by ${pair%:*}" kernel tile.cu -D SIZE=750 --registers="${pair#*:}" --json
    check "has the text's arrays" json "$work/out" "$known"
    ok "a table" kernel tile.cu -D 'SIZE={block.x*3}' --registers="${pair#*:}" --block=250
    check "has them, too" grep -q "^tile  *${pair#*:} .* 2.93 KiB" "$work/out"
    run kernel tile.cu --registers="${pair#*:}"
    check "an error in the text: exit code" test "$status" = 2
    says "an error in the text: its line" "${pair#*:}: tile.cu: line 5: "
    run kernel tile.cu -D SIZE=750 --registers="${pair#*:}zz"
    check "a GPU that the compiler does not know" test "$status" = 2 -a "$(wc -l <"$work/err")" = 1 -a ! -s "$work/out"
done
part 1
mkdir none
cat >none/hipcc <<'END_OF_FILE'
#!/bin/sh
cat >text
echo "$*" >words
cat >&2 <<'END'
flynn-text:3:1: remark: Function Name: tiled [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark:     SGPRs: 1 [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark: Function Name: tile [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark:     TotalSGPRs: 11 [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark:     VGPRs: 12 [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark:     AGPRs: 13 [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark:     ScratchSize [bytes/lane]: 14 [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark:     Occupancy [waves/SIMD]: 15 [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark:     SGPRs Spill: 16 [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark:     VGPRs Spill: 17 [-Rpass-analysis=kernel-resource-usage]
flynn-text:3:1: remark:     LDS Size [bytes/block]: 18 [-Rpass-analysis=kernel-resource-usage]
END
END_OF_FILE
chmod +x none/hipcc
for tool in sh cat timeout sed head find sort wc grep diff tr tail; do ln -s "$(command -v $tool)" none/$tool; done
PATH=$PWD/none ok "what hipcc says" kernel tile.cu -D SIZE=750 --registers=gfx1100,sm_90 --json
check "is what is shown" json "$work/out" '[d["registers"][0][k] for k in ("scalar_registers", "registers", "accumulators", "local_bytes", "waves",
    "scalar_spilled", "spilled", "shared_bytes")] == list(range(11, 19))'
check "a compiler that is missing is named" grep -q "sm_90: tile.cu: nvcc is not in PATH; install the CUDA toolkit" "$work/err"
check "and in its row" json "$work/out" 'd["registers"][1]["registers"] is None and "nvcc" in d["registers"][1]["reason"]'
check "the host's part is left out" sh -c 'grep -q __global__ text && ! grep -q "of the host" text'
check "the GPU and the macro are named" grep -q -- "--offload-arch=gfx1100 -D SIZE=750" words
# What NVIDIA's calculator says (cuda_occupancy.h of CUDA 13.0, cudaOccMaxActiveBlocksPerMultiprocessor with the limits of
# the programming guide's tables): blocks of 5.0, 5.2, 6.0, 6.1, 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1.
printf '%s\n' '#!/bin/sh' 'cat >text' \
    'echo "ptxas info    : Compiling entry function '"'tile'"' for '"'sm'"'
ptxas info    : Used $REGISTERS registers, used 0 barriers, $SHARED bytes smem, 368 bytes cmem[0]" >&2' >none/nvcc
chmod +x none/nvcc
while read -r registers threads static dynamic blocks; do
    REGISTERS=$registers SHARED=$static PATH=$PWD/none ok "occupancy: $registers registers, $threads threads" kernel tile.cu -D SIZE=750 --json \
        --registers=sm_50,sm_52,sm_60,sm_61,sm_70,sm_75,sm_80,sm_86,sm_87,sm_89,sm_90a,sm_100f,sm_103,sm_110,sm_120,sm_121 --block="$threads" --shared="$dynamic"
    check "$registers registers, $threads threads, $static + $dynamic bytes: blocks" json "$work/out" "[r['resident_blocks'] for r in d['registers']] == [$blocks]"
    check "$registers registers, $threads threads, $static + $dynamic bytes: occupancy" json "$work/out" \
        "[round(r['occupancy'] * most) for r, most in zip(d['registers'], [64] * 5 + [32] + [64] + [48] * 3 + [64] * 3 + [48] * 3)] ==
        [b * (($threads + 31) // 32) for b in [$blocks]]"
done <<'END_OF_VALUES'
32 256 2000 48 8,8,8,8,8,4,8,6,6,6,8,8,8,6,6,6
65 100 16384 0 4,6,4,6,6,4,7,5,7,5,7,7,7,7,5,5
168 384 0 0 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
40 1000 1 49151 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
33 32 1 0 32,32,32,32,32,16,32,16,16,24,32,32,32,24,24,24
255 512 0 0 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
96 128 0 101376 0,0,0,0,0,0,1,1,1,1,2,2,2,2,1,1
END_OF_VALUES
check "and why there are no more" json "$work/out" '{r["limited_by"] for r in d["registers"]} == {"shared memory"}'
REGISTERS=64 SHARED=0 PATH=$PWD/none ok "a table of occupancy" kernel tile.cu -D SIZE=750 --registers=sm_90,sm_99 --block=32x8
check "has it" grep -qE "^tile +sm_90 +64 .* 4 +50 % +registers$" "$work/out"
check "and not of a GPU that is not known" grep -qE "^tile +sm_99 +64 .* - +- +-$" "$work/out"
rm none/nvcc none/hipcc
PATH=$PWD/none refused "no compiler" 3 "gfx90a: tile.cu: hipcc is not in PATH; install hipcc" kernel tile.cu --registers=gfx90a
PATH=$PWD/none refused "no compiler for several GPUs" 3 "gfx90a: tile.cu: hipcc is not in PATH" kernel tile.cu --registers=gfx90a,gfx1030
refused "no GPU" 2 "'cpu' is not a GPU; expected names such as gfx90a" kernel tile.cu --registers=cpu
refused "arguments" 2 "'0:9': --registers launches no kernel" kernel tile.cu 0:9 --registers=gfx90a
refused "several values" 2 "'SIZE=1,2' has several values" kernel tile.cu -D SIZE=1,2 --registers=gfx90a
refused "no file" 2 "a kernel's file is needed" kernel --registers=gfx90a
refused "options of a run" 2 "--repeat: has no effect: --registers launches no kernel" kernel tile.cu --repeat=3 --registers=gfx90a
refused "in a sweep" 2 "only \`flynn kernel\` takes it" sweep kernel tile.cu --registers=gfx90a
refused "options of a launch" 2 "--grid: has no effect: --registers launches no kernel" kernel tile.cu --grid=3 --registers=gfx90a

# ------------------------------------------------------------------------------------------ headers beside the file

part 2
mkdir -p course/common
cat >course/common/types.h <<'END_OF_FILE'
#pragma once
typedef float real;
#define RADIUS 2
END_OF_FILE
cat >course/blur.cuh <<'END_OF_FILE'
#include "common/types.h"
#include <cuda_runtime.h>
__device__ inline real weight(int k)
{
    return 1.0f / (2 * RADIUS + 1);
}
#include "blur.cuh"
END_OF_FILE
cat >course/blur.cu <<'END_OF_FILE'
#include "blur.cuh"
#include "common/types.h"
#include "helper_cuda.h"
// #include "none.h"
__global__ void blur(real *in, real *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    real sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        if (i + k >= 0 && i + k < n)
            sum += weight(k) * in[i + k];
    if (i < n)
        out[i] = sum;
}
END_OF_FILE
ok "headers beside the file" kernel course/blur.cu 0:100 out 100 -o blur.npy "${hip[@]}"
check "give the kernel's types and constants" npy blur.npy 'abs(v[50] - 50) < 1e-4 and abs(v[0] - 0.6) < 1e-6'
says "another header is left out" 'course/blur.cu: left out, since the kernel does not name it: <cuda_runtime.h>, "helper_cuda.h"'
# --include names other folders, as nvcc's -I does.
mkdir -p course/include/deep course/far
cp course/blur.cu course/far
printf '#include "radius.h"\n#define HALF 0.5f\n' >course/include/deep/half.h
printf '#define WIDE 4\n' >course/include/radius.h
printf '#include <deep/half.h>\n#include "cuda_runtime.h"\n__global__ void k(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = HALF * WIDE; }\n' >course/far/half.cu
ok "headers of another folder" kernel course/far/half.cu out=8 --block=8 -I course/far -I course/include --expect=2 "${hip[@]}"
check "are read" sh -c '! grep -q half.h "$1"' sh "$work/err"
ok "in rows" kernel course/far/half.cu out=8 --block=4,8 --include=course/include --expect=2 "${hip[@]}"
run kernel course/far/half.cu out=8 "${hip[@]}"
check "without it" test "$status" = 2
says "the name" "half.cu:3:74: 'HALF' is not known"
ok "headers of a header's folder" kernel course/far/blur.cu 0:100 out 100 -I course "${hip[@]}"
run kernel course/far/blur.cu 0:100 out 100 "${hip[@]}"
check "headers that are missing" test "$status" = 2
says "what to do" "course/far/blur.cu:5:22: 'real' is not a type of a number;"
says "which one" '; "blur.cuh" does not lie next to the file: --include=FOLDER finds it'
refused "a folder that is none" 2 "--include: 'course/blur.cu' is not a folder" kernel course/far/blur.cu -I course/blur.cu
sed -i 's/1.0f/sqroot(1.0f)/' course/blur.cuh
run kernel course/blur.cu 0:100 out 100 "${hip[@]}"
check "a mistake in a header" test "$status" = 2
says "its place there" "flynn kernel: course/blur.cuh:5:12: 'sqroot' is not known; did you mean 'sqrt'?"
check "its line" test "$(sed -n 2p "$work/err")" = "        return sqroot(1.0f) / (2 * RADIUS + 1);"
sed -i 's/sqroot(1.0f)/1.0f/; s/__device__ inline/__global__ void other(int *x) { x[0] = 1; }\n&/' course/blur.cuh
sed -i 's/out\[i\] = sum;/out[i] = sume;/' course/blur.cu
run kernel course/blur.cu 0:100 out 100 "${hip[@]}"
says "a mistake after the headers" "flynn kernel: course/blur.cu:13:18: 'sume' is not known"
run kernel course/blur.cu "${hip[@]}"
says "kernels of several files" "--entry=NAME chooses one: other (line 3 of course/blur.cuh), blur (line 5)"
: >course/common/types.h
printf '#include "blur.cuh"\n__global__ void k(int *x) { }}\n' >course/bad.cu
run kernel course/bad.cu out=1 "${hip[@]}"
says "a bracket too many" "flynn kernel: course/bad.cu:2:30: '}' closes nothing"

# ------------------------------------------------------------------------------- what cannot run, and what to do instead

# no SAYS TEXT: exit code 2, and that on stderr.
no() {
    printf '%s\n' "$2" >no.cu
    run kernel no.cu out=1 "${hip[@]}"
    check "'$2': exit code" test "$status" = 2 -a ! -s "$work/out"
    says "'$2': $1" "flynn kernel: no.cu:$1"
}
part 1
no "1:42: 'tex1Dfetch': Flynn has no textures" '__global__ void k(float *x) { x[0] = 1 + tex1Dfetch(t, 0); }'
no "1:31: 'thrust': this library needs headers of the CUDA toolkit" '__global__ void k(float *x) { thrust::sort(x); }'
no "1:31: asm has instructions that this device does not have: PTX is for GPUs of NVIDIA's alone" \
    '__global__ void k(int *x) {   asm("mov.u32 %0, %%laneid;" : "=r"(x[0])); }'
summary
