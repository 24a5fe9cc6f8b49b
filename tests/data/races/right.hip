/* SPDX-License-Identifier: MIT
 * Kernels without a mistake, of which tests/cli/races.sh expects that nothing is said. As wrong.hip; the words after the
 * arguments are those of --expect. */
//: add | 0:1000 0:1000 out 1000 | x + y
__global__ void add(const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}
//: stride | inout:0:10000 10000 --grid=3 | x + 1
__global__ void stride(int *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i]++;
}
//: atomic_sum | 0:1000 out=1 1000 --grid=4 | fill:1,value=499500,dtype=i32
__global__ void atomic_sum(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(out, a[i]);
}
//: tree | 0:1024 out=1 --grid=4 | fill:1,value=523776,dtype=i32
__global__ void tree(const int *a, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, s[0]);
}
//: last_block | 0:1000 out=1 out=4 1000 --grid=4 | fill:1,value=499500,dtype=i32
__device__ unsigned finished;
__global__ void last_block(const int *a, int *out, int *parts, int n)
{
    __shared__ int s[256];
    __shared__ bool is_last;
    int t = threadIdx.x, sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        sum += a[i];
    s[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) {
        parts[blockIdx.x] = s[0];
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && t == 0) {
        sum = 0;
        for (int b = 0; b < gridDim.x; b++)
            sum += parts[b];
        out[0] = sum;
    }
}
//: fence_of_each_thread | 0:1024 out=1 out=1024 --grid=4 | fill:1,value=523776,dtype=i32
__device__ unsigned arrived;
__global__ void fence_of_each_thread(const int *a, int *out, int *copy)
{
    __shared__ bool is_last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    copy[i] = a[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (is_last)
        for (int k = threadIdx.x; k < 1024; k += blockDim.x)
            atomicAdd(out, copy[k]);
}
//: lock | out=1 --grid=6 | 15
__device__ int is_locked;
__global__ void lock(int *out)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&is_locked, 0, 1) != 0)
            continue;
        __threadfence();
        out[0] += blockIdx.x;
        __threadfence();
        atomicExch(&is_locked, 0);
    }
}
//: lock_of_threads | out=1 --grid=2 --block=64 | 128
__device__ int held;
__global__ void lock_of_threads(int *out)
{
    for (bool done = false; !done;) {
        if (atomicCAS(&held, 0, 1) == 0) {
            out[0]++;
            __threadfence();
            atomicExch(&held, 0);
            done = true;
        }
    }
}
//: transpose | range:32x64,from=3,dtype=f32 out=64x32 --block=16x16 --grid=4x2 | 
__global__ void transpose(const float *a, float *out)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = a[y * 64 + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    out[y * 32 + x] = tile[threadIdx.x][threadIdx.y];
}
//: two_buffers | 0:256 out --grid=1 | x * (x + 1) / 2
__global__ void two_buffers(const int *a, int *out)
{
    __shared__ int sums[2][256];
    int t = threadIdx.x, now = 0;
    sums[0][t] = a[t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        sums[1 - now][t] = sums[now][t] + (t >= step ? sums[now][t - step] : 0);
        now = 1 - now;
        __syncthreads();
    }
    out[t] = sums[now][t];
}
//: shared_histogram | integers:1000,below=4 out=4 1000 --grid=3 --shared=16 | 
__global__ void shared_histogram(const int *values, int *counts, int n)
{
    extern __shared__ int own[];
    if (threadIdx.x < 4)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[values[i]], 1);
    __syncthreads();
    if (threadIdx.x < 4)
        atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
//: largest_by_exchange | 0:1000 out=1 1000 --grid=4 | fill:1,value=999,dtype=f32
__device__ void largest(float *at, float value)
{
    int *bits = (int *)at, old = *bits, assumed;
    do {
        assumed = old;
        float most = fmaxf(value, *(float *)&assumed);
        old = atomicCAS(bits, assumed, *(int *)&most);
    } while (assumed != old);
}
__global__ void largest_by_exchange(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        largest(out, a[i]);
}
//: looks_before_it_changes | 0:1000 out=1 1000 --grid=4 | fill:1,value=999,dtype=i32
__global__ void looks_before_it_changes(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && *out < a[i])
        atomicMax(out, a[i]);
}
//: same_value | 0:1000 out=1 1000 --grid=4 | fill:1,value=1,dtype=i32
__global__ void same_value(const int *a, int *found, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] % 2 == 1)
        *found = 1;
}
//: volatile_flag | out=2 --grid=2 --block=1 | 7
__device__ volatile int is_ready;
__global__ void volatile_flag(int *out)
{
    if (blockIdx.x == 0) {
        out[0] = 7;
        __threadfence();
        is_ready = 1;
    } else {
        while (is_ready == 0)
            continue;
        __threadfence();
        out[1] = out[0];
    }
}
//: grid_barrier | out=1024 out=1024 --grid=4 | 1
__device__ int here;
__global__ void grid_barrier(int *out, int *before)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    before[i] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        int target = (atomicAdd(&here, 1) / gridDim.x + 1) * gridDim.x;
        while (atomicAdd(&here, 0) < target)
            continue;
        __threadfence();
    }
    __syncthreads();
    out[i] = before[1023 - i];
}
//: chain | out=8 --grid=8 --block=32 | 
__device__ int next_block;
__global__ void chain(int *sums)
{
    if (threadIdx.x == 0) {
        while (atomicAdd(&next_block, 0) % 8 != blockIdx.x)
            continue;
        sums[blockIdx.x] = blockIdx.x + (blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0);
        __threadfence();
        atomicAdd(&next_block, 1);
    }
}
//: acquire_and_release | out=2 --grid=2 --block=1 | 7
__device__ int flag;
__global__ void acquire_and_release(int *out)
{
    if (blockIdx.x == 0) {
        out[0] = 7;
        __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    } else {
        while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0)
            continue;
        out[1] = out[0];
    }
}
//: bytes | out=1000 1000 | 7
__global__ void bytes(uint8_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 7;
}
//: vectors | random:1024 out=1024 256 | x
__global__ void vectors(const float4 *a, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i];
}
//: returns_without_a_barrier | 0:1000 out 1000 | x
__global__ void returns_without_a_barrier(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = a[i];
}
//: barrier_of_some_blocks | out=512 --grid=2 | 1
__global__ void barrier_of_some_blocks(int *out)
{
    __shared__ int s;
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0)
            s = 1;
        __syncthreads();
        out[threadIdx.x] = s;
    } else {
        out[256 + threadIdx.x] = 1;
    }
}
//: neighbours | 0:1024 out 1024 | 
__global__ void neighbours(const int *a, int *out, int n)
{
    __shared__ int s[258];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t + 1] = i < n ? a[i] : 0;
    if (t == 0)
        s[0] = i > 0 ? a[i - 1] : 0;
    if (t == blockDim.x - 1)
        s[257] = i + 1 < n ? a[i + 1] : 0;
    __syncthreads();
    if (i < n)
        out[i] = s[t] + s[t + 1] + s[t + 2];
}
//: votes | 0:512 out=2 --grid=2 | fill:2,value=128,dtype=i32
__global__ void votes(const int *a, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int even = __syncthreads_count(a[i] % 2 == 0);
    bool any = __syncthreads_or(a[i] == 3), all = __syncthreads_and(a[i] >= 0);
    if (threadIdx.x == 0)
        out[blockIdx.x] = even + !all + (any && blockIdx.x > 0);
}
//: helper | 0:512 out=2 --grid=2 | 
__device__ int sum_of(int *s, int t)
{
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            s[t] += s[t + half];
    }
    __syncthreads();
    return s[0];
}
__global__ void helper(const int *a, int *out)
{
    __shared__ int first[256], second[256];
    int t = threadIdx.x;
    first[t] = a[blockIdx.x * 256 + t];
    second[t] = 1;
    int sums = sum_of(first, t) + sum_of(second, t);
    if (t == 0)
        out[blockIdx.x] = sums;
}
//: local_array | 0:256 out | 4 * x + 6
__global__ void local_array(const int *a, int *out)
{
    int own[4];
    for (int k = 0; k < 4; k++)
        own[(k + threadIdx.x) % 4] = a[threadIdx.x] + k;
    out[threadIdx.x] = own[0] + own[1] + own[2] + own[3];
}
//: parts_of_dynamic | 0:256 out --shared=3072 | x + 2 * x + 3
__global__ void parts_of_dynamic(const int *a, int *out)
{
    extern __shared__ char all[];
    int *first = (int *)all;
    double *second = (double *)(all + 1024);
    int t = threadIdx.x;
    first[t] = a[t];
    second[255 - t] = 2 * a[255 - t] + 3;
    __syncthreads();
    out[255 - t] = first[255 - t] + (int)second[255 - t];
}
//: shared_bytes | out=256 | 1
__global__ void shared_bytes(int *out)
{
    __shared__ char s[256];
    s[threadIdx.x] = threadIdx.x % 2;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1] + s[threadIdx.x];
}
//: compaction | 0:1000 out=1000 out=1 1000 | 
__global__ void compaction(const int *a, int *out, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] % 3 == 0)
        atomicExch(&out[atomicAdd(count, 1)], 1);
}
//: bitonic | random:256 out --grid=1 | 
__global__ void bitonic(const float *a, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int other = t ^ step;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
                float kept = s[t];
                s[t] = s[other];
                s[other] = kept;
            }
        }
    __syncthreads();
    out[t] = s[t];
}
//: constants | 0:256 out | x * 3 + 1
__constant__ int factors[2] = {3, 1};
__global__ void constants(const int *a, int *out)
{
    out[threadIdx.x] = __ldg(&a[threadIdx.x]) * factors[0] + factors[1];
}
//: a_struct | 0:256 out | x + 1
struct pair {
    int value;
    float weight;
};
__global__ void a_struct(const int *a, int *out)
{
    __shared__ pair s[256];
    s[threadIdx.x] = {a[threadIdx.x], 1};
    __syncthreads();
    pair other = s[255 - threadIdx.x];
    out[255 - threadIdx.x] = other.value + (int)other.weight;
}
//: three_dimensions | random:6x7x8 out 6 7 8 --block=4x4x4 --grid=2x2x2 | 2 * x
__global__ void three_dimensions(const float *a, float *out, int depth, int height, int width)
{
    int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
    if (x < width && y < height && z < depth)
        out[(z * height + y) * width + x] = 2 * a[(z * height + y) * width + x];
}
//: written_after_a_barrier | inout:0:256 --grid=1 | 255 - x
__global__ void written_after_a_barrier(int *x)
{
    int other = x[255 - threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = other;
}
//: condition_of_one_thread | out=256 | 2
__global__ void condition_of_one_thread(int *out)
{
    __shared__ int s[2];
    int sum = 0;
    if (threadIdx.x == 0)
        s[0] = 1;
    for (int i = 0; i < 3; i++)
        if (threadIdx.x == 0)
            sum += s[0];
    __syncthreads();
    if (threadIdx.x == 0)
        s[1] = sum - 1;
    __syncthreads();
    out[threadIdx.x] = s[1];
}
//: one_row_after_the_other | 0:128 out --block=128 | x
__global__ void one_row_after_the_other(const int *a, int *out)
{
    __shared__ int s[8][16];
    s[0][threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x / 16][threadIdx.x % 16];
}
//: ends_of_arrays | 0:1000000 0:1000000 out=2 1000000 | fill:2,value=1999998,dtype=i32
__global__ void ends_of_arrays(const int *a, const int *b, int *out, int n)
{
    if (blockIdx.x == 0 && threadIdx.x < 2)
        out[threadIdx.x] = a[n - 1] + *(b + n - 1);
}
//: ends_of_shared_arrays | 0:256 out | x + 255
__global__ void ends_of_shared_arrays(const int *a, int *out)
{
    __shared__ int s[256], t[256];
    s[threadIdx.x] = t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    const int *end = s + 256, *last = &t[255];
    int *p = &t[threadIdx.x];
    out[threadIdx.x] = *(end - 1) + *last - 255 + *p;
}
//: null_is_tested | out=256 0 | 1
__global__ void null_is_tested(int *out, int n)
{
    int *p = n == 0 ? nullptr : out;
    if (p)
        *p = 2;
    out[threadIdx.x] = 1;
}
//: adds_to_zeros | 0:1000 out 1000 | x
__global__ void adds_to_zeros(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += a[i];
}
//: zeroes_by_one_thread | 0:256 out=256 --block=256 | x + 0
__global__ void zeroes_by_one_thread(const int *a, int *out)
{
    __shared__ uint8_t none[256];
    if (threadIdx.x == 0)
        for (uint8_t *p = none; p < none + 256; p++)
            *p = 0;
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x] + none[threadIdx.x];
}
//: struct_copies | 0:1024 out=1024 --block=256 --grid=1 | x + 1
struct four {
    int v[4];
};
__global__ void struct_copies(const int4 *a, int4 *out)
{
    __shared__ four s[256];
    const int4 own = a[threadIdx.x];
    s[threadIdx.x] = {{own.x + 1, own.y + 1, own.z + 1, own.w + 1}};
    __syncthreads();
    const four other = s[threadIdx.x ^ 1];
    __syncthreads();
    s[threadIdx.x ^ 1] = other;
    __syncthreads();
    const four mine = s[threadIdx.x];
    out[threadIdx.x] = {mine.v[0], mine.v[1], mine.v[2], mine.v[3]};
}
