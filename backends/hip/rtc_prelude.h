/* SPDX-License-Identifier: MIT
 * What the texts of the user's functions and kernels find on a GPU besides the compiler's own definitions. */
#define FLYNN_LAUNCH_BOUNDS(most)
#define FLYNN_GROUP __device__ inline

/* NVRTC reads no header. By <sys/types.h> nvcc has short names of integers, and by <cmath> the functions of math.h for
 * integers, in double. hiprtc has them. */
#if defined(__CUDACC_RTC__)
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
template <typename T> struct flynn_integer;
#define FLYNN_INTEGER(type) template <> struct flynn_integer<type> { typedef double real; };
FLYNN_INTEGER(bool) FLYNN_INTEGER(char) FLYNN_INTEGER(signed char) FLYNN_INTEGER(unsigned char) FLYNN_INTEGER(short)
FLYNN_INTEGER(unsigned short) FLYNN_INTEGER(int) FLYNN_INTEGER(unsigned) FLYNN_INTEGER(long)
FLYNN_INTEGER(unsigned long) FLYNN_INTEGER(long long) FLYNN_INTEGER(unsigned long long)
#define FLYNN_OF_ONE(name) \
    template <typename T> __device__ inline typename flynn_integer<T>::real name(T x) { return name((double)x); }
#define FLYNN_OF_TWO(name) \
    template <typename T, typename U> __device__ inline double name(T x, U y) { return name((double)x, (double)y); }
#define FLYNN_TO(name, R) \
    template <typename T, typename = typename flynn_integer<T>::real> __device__ inline R name(T x) \
    { return name((double)x); }
FLYNN_MATH_OF_ONE(FLYNN_OF_ONE) FLYNN_OF_ONE(rsqrt) FLYNN_MATH_OF_TWO(FLYNN_OF_TWO) FLYNN_MATH_TO(FLYNN_TO)

/* HIP's warp functions without a mask, which CUDA had for GPUs before Volta: for the lanes that run together. */
typedef unsigned int flynn_lanes;
#define __shfl(...) __shfl_sync(__activemask(), __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(__activemask(), __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(__activemask(), __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)
#define __ballot(vote) ((unsigned long long)__ballot_sync(__activemask(), vote))
#define __any(vote) __any_sync(__activemask(), vote)
#define __all(vote) __all_sync(__activemask(), vote)
__device__ inline unsigned __lane_id()
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % warpSize;
}
#else
/* CUDA's warp functions with a mask, which hiprtc has since ROCm 6.2 or 7 alone: the lanes of a warp run in step, and a
 * shuffle takes the values of those that run. */
typedef unsigned long long flynn_lanes;
__device__ inline void flynn_syncwarp()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
template <typename T> __device__ inline flynn_lanes flynn_match(flynn_lanes lanes, T value)
{
    flynn_lanes same = 0;
    lanes &= __ballot(1);
    for (int lane = 0; lane < warpSize; lane++)
        same |= (flynn_lanes)(lanes >> lane & 1 && __shfl(value, lane) == value) << lane;
    return same;
}
template <typename T> __device__ inline flynn_lanes flynn_match_all(flynn_lanes lanes, T value, int *all)
{
    *all = flynn_match(lanes, value) == (lanes & __ballot(1));
    return *all ? lanes : 0;
}
/* CUDA's takes the lane modulo the width, HIP's before ROCm 6 does not. */
template <typename T> __device__ inline T flynn_shuffle(T value, int lane, int width = warpSize)
{
    return __shfl(value, lane & (width - 1), width);
}
template <typename T, typename Both> __device__ inline T flynn_reduce(flynn_lanes lanes, T value, Both both)
{
    const flynn_lanes there = lanes & __ballot(1);
    T sum = value;
    bool any = false;
    for (int lane = 0; lane < warpSize; lane++) {
        const T other = __shfl(value, lane);
        if (there >> lane & 1) {
            sum = any ? both(sum, other) : other;
            any = true;
        }
    }
    return sum;
}
/* Those of HIP 5.2, as hiprtc compiles them, look at 32 lanes alone. */
#define __any(vote) (__ballot(vote) != 0)
#define __all(vote) (__ballot(!(vote)) == 0)
#undef __syncwarp
#undef __activemask
#define __syncwarp(...) flynn_syncwarp()
#define __activemask() __ballot(1)
#define __shfl_sync(lanes, ...) flynn_shuffle(__VA_ARGS__)
#define __shfl_up_sync(lanes, ...) __shfl_up(__VA_ARGS__)
#define __shfl_down_sync(lanes, ...) __shfl_down(__VA_ARGS__)
#define __shfl_xor_sync(lanes, ...) __shfl_xor(__VA_ARGS__)
#define __ballot_sync(lanes, vote) (__ballot(vote) & (flynn_lanes)(lanes))
#define __any_sync(lanes, vote) ((__ballot(vote) & (flynn_lanes)(lanes)) != 0)
#define __all_sync(lanes, vote) ((__ballot(!(vote)) & (flynn_lanes)(lanes)) == 0)
#define __match_any_sync(lanes, value) flynn_match((flynn_lanes)(lanes), value)
#define __match_all_sync(lanes, value, all) flynn_match_all((flynn_lanes)(lanes), value, all)
#define FLYNN_REDUCE(lanes, value, both) \
    flynn_reduce((flynn_lanes)(lanes), value, [](auto x, auto y) -> decltype(x) { return both; })
#define __reduce_add_sync(lanes, value) FLYNN_REDUCE(lanes, value, x + y)
#define __reduce_min_sync(lanes, value) FLYNN_REDUCE(lanes, value, y < x ? y : x)
#define __reduce_max_sync(lanes, value) FLYNN_REDUCE(lanes, value, x < y ? y : x)
#define __reduce_and_sync(lanes, value) FLYNN_REDUCE(lanes, value, x & y)
#define __reduce_or_sync(lanes, value) FLYNN_REDUCE(lanes, value, x | y)
#define __reduce_xor_sync(lanes, value) FLYNN_REDUCE(lanes, value, x ^ y)
#endif
