/* SPDX-License-Identifier: MIT
 * Kernels with a mistake each, for tests/cli/races.sh. Each begins at a line "//: NAME | ARGUMENTS | WORDS": the launch's
 * arguments, and a regular expression of the message, whose line is that with the comment HERE. */
//: sum | 0:1000 out=1 1000 | both write out\[0\]; use atomicAdd
__global__ void sum(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[0] += a[i]; // HERE
}
//: largest | 0:1000 out=1 1000 --grid=4 | out\[0\]
__global__ void largest(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > out[0]) // HERE
        out[0] = a[i];
}
//: histogram | integers:4000 out=10 4000 --grid=4 | both write counts\[[0-9]\]; use atomicAdd
__global__ void histogram(const int *values, int *counts, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        counts[values[i]]++; // HERE
}
//: last_one_wins | out=1 --grid=2 --block=1 | thread 0 of block 0 and thread 0 of block 1 both write out\[0\]
__global__ void last_one_wins(int *out)
{
    out[0] = blockIdx.x + 1; // HERE
}
//: neighbour | inout:0:1000 1000 --grid=1 --block=500 | x\[[0-9]*\], which thread [0-9]* [a-z]*s
__global__ void neighbour(int *x, int n)
{
    int i = threadIdx.x;
    if (i + 1 < n)
        x[i] = x[i + 1]; // HERE
}
//: reverse | inout:0:512 512 --grid=2 | x\[[0-9]*\], which thread [0-9]* of block [01] [a-z]*s
__global__ void reverse(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int own = x[i];
    x[n - 1 - i] = own; // HERE
}
//: two_blocks | out=4 --grid=8 | both write out\[0\]
__global__ void two_blocks(int *out)
{
    if (threadIdx.x == 0)
        out[blockIdx.x / 2] = blockIdx.x + 1; // HERE
}
//: last_block_without_fence | 0:1000 out=5 1000 --grid=4 | which thread 0 of block [0-2] writes in line 8
__device__ int finished;
__global__ void last_block_without_fence(const int *a, int *out, int n)
{
    int sum = 0;
    if (threadIdx.x == 0) {
        for (int i = blockIdx.x; i < n; i += gridDim.x)
            sum += a[i];
        out[1 + blockIdx.x] = sum;
        if (atomicAdd(&finished, 1) % gridDim.x == gridDim.x - 1)
            for (int b = 0; b < gridDim.x; b++)
                out[0] += out[1 + b]; // HERE
    }
}
//: lock_without_fence | out=1 --grid=4 | both write out\[0\]
__device__ int lock;
__global__ void lock_without_fence(int *out)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(&lock, 0, 1) != 0)
        continue;
    out[0] += blockIdx.x; // HERE
    atomicExch(&lock, 0);
}
//: not_waited_for | out=2 --grid=2 --block=1 | out\[0\], which thread 0 of block 0 writes
__global__ void not_waited_for(int *out)
{
    if (blockIdx.x == 0)
        out[0] = 5;
    else
        out[1] = out[0]; // HERE
}
//: device_counter | out=4 --grid=4 --block=1 | calls
__device__ int calls;
__global__ void device_counter(int *out)
{
    calls++; // HERE
    out[blockIdx.x] = 1;
}
//: bytes | out=300 --grid=2 | both write out\[0\]
__global__ void bytes(uint8_t *out)
{
    out[threadIdx.x] = blockIdx.x + 1; // HERE
}
//: doubles | out=300 --grid=2 | both write out\[0\]
__global__ void doubles(double *out)
{
    out[threadIdx.x] = blockIdx.x + 1; // HERE
}
//: counts_too_early | integers:256 out=10 out=10 --grid=1 | counts\[[0-9]\]
__global__ void counts_too_early(const int *values, int *counts, int *copy)
{
    int t = threadIdx.x;
    atomicAdd(&counts[values[t]], 1);
    if (t < 10)
        copy[t] = counts[t]; // HERE
}
//: barrier_is_not_for_the_grid | out=512 --grid=2 | x\[[0-9]*\], which thread [0-9]* of block
__global__ void barrier_is_not_for_the_grid(int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
    __syncthreads();
    x[i] += x[511 - i] % 2; // HERE
}
//: load | 0:256 out 256 | s
__global__ void load(const int *a, int *out, int n)
{
    __shared__ int s[256];
    s[threadIdx.x] = a[threadIdx.x];
    out[threadIdx.x] = s[n - 1 - threadIdx.x]; // HERE
}
//: next_tile | 0:1024 out=256 1024 --grid=1 | s, which thread [0-9]* [a-z]*s
__global__ void next_tile(const int *a, int *out, int n)
{
    __shared__ int s[256];
    int sum = 0;
    for (int first = 0; first < n; first += 256) {
        s[threadIdx.x] = a[first + threadIdx.x];
        __syncthreads();
        sum += s[255 - threadIdx.x]; // HERE
    }
    out[threadIdx.x] = sum;
}
//: tree_without_barrier | 0:256 out=1 --grid=1 | s, which thread
__global__ void tree_without_barrier(const int *a, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2)
        if (t < half)
            s[t] += s[t + half]; // HERE
    if (t == 0)
        out[0] = s[0];
}
//: scan_in_place | 0:256 out --grid=1 --shared=1024 | sums, which thread
__global__ void scan_in_place(const int *a, int *out)
{
    extern __shared__ int sums[];
    int t = threadIdx.x;
    sums[t] = a[t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        if (t >= step)
            sums[t] += sums[t - step]; // HERE
        __syncthreads();
    }
    out[t] = sums[t];
}
//: shared_counter | out=1 --grid=1 | both write count; use atomicAdd
__global__ void shared_counter(int *out)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    count++; // HERE
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = count;
}
//: shared_not_zeroed | integers:256 out=10 --grid=1 | reads element [0-9] of own, which no thread of the block has written
__global__ void shared_not_zeroed(const int *values, int *out)
{
    __shared__ int own[10];
    atomicAdd(&own[values[threadIdx.x]], 1); // HERE
    __syncthreads();
    if (threadIdx.x < 10)
        atomicAdd(&out[threadIdx.x], own[threadIdx.x]);
}
//: edge_not_loaded | 0:256 out --grid=1 | thread 255 of block 0 reads element 256 of s, which no thread
__global__ void edge_not_loaded(const int *a, int *out)
{
    __shared__ int s[257];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + 1]; // HERE
}
//: dynamic_not_loaded | 0:200 out 200 --shared=1024 | thread 0 of block 0 reads element 255 of s, which no thread
__global__ void dynamic_not_loaded(const int *a, int *out, int n)
{
    extern __shared__ int s[];
    if (threadIdx.x < n)
        s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < n)
        out[threadIdx.x] = s[255 - threadIdx.x]; // HERE
}
//: no_test | 0:1000 out | thread 232 of block 3 [a-z]* [a-z]*\[1000\], beyond its 1000 elements
__global__ void no_test(const int *a, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i]; // HERE
}
//: one_too_far | 0:1000 out 1000 | thread 231 of block 3 reads a\[1000\], beyond its 1000 elements
__global__ void one_too_far(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i + 1]; // HERE
}
//: before_the_first | 0:1000 out 1000 | thread 0 of block 0 writes out\[-1\], before its first element
__global__ void before_the_first(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i - 1] = a[i]; // HERE
}
//: vector_too_far | 0:1022 out=256 --grid=1 --dtype=f32 | thread 255 of block 0 reads a\[255\], beyond its 255 elements
__global__ void vector_too_far(const float4 *a, float *out)
{
    float4 v = a[threadIdx.x]; // HERE
    out[threadIdx.x] = v.x + v.w;
}
//: far_away | out=256 | out\[[0-9]*\], beyond its 256 elements
__global__ void far_away(int *out)
{
    out[threadIdx.x * 100000000L] = 1; // HERE
}
//: null | out=256 0 | at NULL
__global__ void null(int *out, int n)
{
    int *p = n == 0 ? nullptr : out;
    p[threadIdx.x == 0 ? 1 : 0] = 1; // HERE
}
//: more_dynamic_than_given | 0:256 out --shared=512 | thread 128 of block 0 writes element 128 of s, beyond the 512 bytes
__global__ void more_dynamic_than_given(const int *a, int *out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = a[threadIdx.x]; // HERE
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
//: some_reach_it | out=256 | 100 of the 256 threads of block 0 reach this barrier; the others have ended
__global__ void some_reach_it(int *out)
{
    out[threadIdx.x] = 1;
    if (threadIdx.x < 100)
        __syncthreads(); // HERE
}
//: ended_before | 0:1000 out 1000 | 232 of the 256 threads of block 3 reach this barrier; the others have ended
__global__ void ended_before(const int *a, int *out, int n)
{
    __shared__ int s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    s[threadIdx.x] = a[i];
    __syncthreads(); // HERE
    out[i] = s[threadIdx.x];
}
//: two_branches | out=256 | 64 of the 256 threads of block 0 reach this barrier; others wait in line 7
__global__ void two_branches(int *out)
{
    if (threadIdx.x < 64) {
        out[threadIdx.x] = 1;
        __syncthreads(); // HERE
    } else {
        __syncthreads();
        out[threadIdx.x] = 2;
    }
}
//: two_equal_branches | out=256 | 64 of the 256 threads of block 0 reach this barrier; others wait in line 7
__global__ void two_equal_branches(int *out)
{
    out[threadIdx.x] = 1;
    if (threadIdx.x < 64)
        __syncthreads(); // HERE
    else
        __syncthreads();
}
//: not_as_often | out=256 | 255 of the 256 threads of block 0 reach this barrier; the others have ended
__global__ void not_as_often(int *out)
{
    for (int i = 0; i < (threadIdx.x == 0 ? 3 : 4); i++)
        __syncthreads(); // HERE
    out[threadIdx.x] = 1;
}
//: misaligned | 0:1024 out --dtype=f32 --grid=1 --block=128 | a\[4*[0-9]*\] for the beginning of a type that lies at multiples of 16
__global__ void misaligned(const float *a, float *out)
{
    const float4 *vectors = (const float4 *)(a + 1);
    float4 v = vectors[threadIdx.x]; // HERE
    out[threadIdx.x] = v.x + v.y;
}
//: misaligned_copy | 0:8 out=1x4 --dtype=f32 --grid=1 --block=1 | a\[1\] for the beginning of a type that lies at multiples of 16
__global__ void misaligned_copy(const float *a, float4 *out)
{
    out[0] = *(const float4 *)(a + 1); // HERE
}
//: misaligned_store | 0:4 out=8 --dtype=f32 --grid=1 --block=1 | out\[3\] for the beginning of a type that lies at multiples of 16
__global__ void misaligned_store(const float *a, float *out)
{
    *(float4 *)(out + 3) = make_float4(a[0], a[1], a[2], a[3]); // HERE
}
//: misaligned_pair | 0:8 out=1x2 --dtype=f32 --grid=1 --block=1 | a\[1\] for the beginning of a type that lies at multiples of 8
__global__ void misaligned_pair(const float *a, float2 *out)
{
    out[0] = *(const float2 *)(a + 1); // HERE
}
//: double_in_floats | 0:1024 out --dtype=f32 --grid=1 | for the beginning of a type that lies at multiples of 8
__global__ void double_in_floats(const float *a, float *out)
{
    out[threadIdx.x] = *(const double *)&a[threadIdx.x]; // HERE
}
//: smaller_than_the_block | 0:256 out | thread 200 of block 0 uses index 200 of an array with 200 elements
__global__ void smaller_than_the_block(const int *a, int *out)
{
    __shared__ int s[200];
    s[threadIdx.x] = a[threadIdx.x]; // HERE
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x / 2];
}
//: rows_and_columns | 0:128 out=128 --block=16x8 | uses index 8 of an array with 8 elements
__global__ void rows_and_columns(const int *a, int *out)
{
    __shared__ int s[8][16];
    int i = threadIdx.y * 16 + threadIdx.x;
    s[threadIdx.x][threadIdx.y] = a[i]; // HERE
    __syncthreads();
    out[i] = s[threadIdx.y][threadIdx.x];
}
//: into_another_array | 0:1000000 0:1000000 out=1000 1000 | thread [0-9]* of block [0-9]* reads b\[1100[0-9]*\], beyond its 1000000 elements
__global__ void into_another_array(const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i + 1100000]; // HERE
}
//: wraps_around | 0:1000 out 1000 | thread 0 of block 0 reads a\[4294967295\], beyond its 1000 elements
__global__ void wraps_around(const int *a, int *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i - 1]; // HERE
}
//: into_another_shared_array | 0:256 out | thread [0-9]* of block 0 reads element 256 of t, beyond its 1024 bytes
__device__ int total(const int *p, int n)
{
    int sum = 0;
    for (int i = 0; i <= n; i++)
        sum += p[i]; // HERE
    return sum;
}
__global__ void into_another_shared_array(const int *a, int *out)
{
    __shared__ int s[256], t[256], u[256];
    s[threadIdx.x] = t[threadIdx.x] = u[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = total(s, 255) + total(u, 255) + total(t, 256);
}
//: behind_a_shared_array | 0:256 out | thread 255 of block 0 reads element 256 of s, beyond its 1024 bytes
__global__ void behind_a_shared_array(const int *a, int *out)
{
    __shared__ int s[256], t[256];
    int *p = &s[threadIdx.x];
    *p = t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = p[1] + t[threadIdx.x]; // HERE
}
//: null_removed | out=256 | thread 7 of block 0 writes at NULL
__global__ void null_removed(int *out)
{
    int *p = nullptr;
    if (threadIdx.x == 7)
        *p = 1; // HERE
    out[threadIdx.x] = 1;
}
//: null_member | out=256 | at NULL
struct pair {
    int first, second;
};
__global__ void null_member(int *out)
{
    pair *p = nullptr;
    out[threadIdx.x] = 1;
    if (threadIdx.x == 7)
        p->first = 2; // HERE
}
