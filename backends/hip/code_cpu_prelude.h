/* SPDX-License-Identifier: MIT
 * What a kernel sees before its own text where the processor runs it (gpu_code_cpu.h): HIP's words. No header is read:
 * HIP-CPU's take half a minute, these 30 ms.
 *
 * A block's threads are fibers of one thread of the processor, so what a block shares is thread_local. They change at
 * barriers, and at memory accesses and atomics: -fsanitize=thread has the compiler call a function before each access,
 * and these, not those of the sanitizer, change the fiber now and then. What a race can do is then done, also on one
 * processor, and a thread that waits for another by an atomic lets it go on. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define __global__
#define __device__ __attribute__((visibility("default")))
#define __constant__ __attribute__((visibility("default")))
#define __host__
#define __shared__ thread_local
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define FLYNN_OWN __attribute__((no_sanitize("thread")))
#define FLYNN_INLINE FLYNN_OWN static inline

/* ------------------------------------------------------------------------------------------- vector types ---- */

#define FLYNN_VECTORS(type, name, two, four) \
    struct name##1 \
    { \
        type x; \
    }; \
    struct alignas(two) name##2 \
    { \
        type x, y; \
    }; \
    struct name##3 \
    { \
        type x, y, z; \
    }; \
    struct alignas(four) name##4 \
    { \
        type x, y, z, w; \
    }; \
    FLYNN_INLINE name##1 make_##name##1(type x) \
    { \
        return {x}; \
    } \
    FLYNN_INLINE name##2 make_##name##2(type x, type y) \
    { \
        return {x, y}; \
    } \
    FLYNN_INLINE name##3 make_##name##3(type x, type y, type z) \
    { \
        return {x, y, z}; \
    } \
    FLYNN_INLINE name##4 make_##name##4(type x, type y, type z, type w) \
    { \
        return {x, y, z, w}; \
    }
FLYNN_VECTORS(signed char, char, 2, 4)
FLYNN_VECTORS(unsigned char, uchar, 2, 4)
FLYNN_VECTORS(short, short, 4, 8)
FLYNN_VECTORS(unsigned short, ushort, 4, 8)
FLYNN_VECTORS(int, int, 8, 16)
FLYNN_VECTORS(unsigned int, uint, 8, 16)
FLYNN_VECTORS(long, long, 16, 16)
FLYNN_VECTORS(unsigned long, ulong, 16, 16)
FLYNN_VECTORS(long long, longlong, 16, 16)
FLYNN_VECTORS(unsigned long long, ulonglong, 16, 16)
FLYNN_VECTORS(float, float, 8, 16)
FLYNN_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
};

/* ---------------------------------------------------------------------------- the thread, and the barrier ---- */

/* What gpu_code_cpu.h fills: `left` memory accesses, or `atomics` atomics, later the thread is changed. `ended` names
 * what the thread called to end the program. */
enum { FLYNN_AT_ACCESS, FLYNN_AT_BARRIER, FLYNN_AT_END };
struct flynn_place {
    uint3 thread, block, threads, blocks;
    int left, atomics, sum;
    void (*leave)(int where); /* nullptr: no kernel runs here */
    const char *ended;
};
static thread_local flynn_place flynn_here;
/* The dynamic shared memory, for which the names of the text's `extern __shared__` arrays stand. */
extern "C" {
thread_local unsigned char flynn_dynamic[65536] __attribute__((aligned(16), used));
FLYNN_OWN __attribute__((visibility("default"))) flynn_place *flynn_begin(unsigned char **dynamic)
{
    *dynamic = flynn_dynamic;
    return &flynn_here;
}
}

FLYNN_INLINE uint3 flynn_thread()
{
    return flynn_here.thread;
}
FLYNN_INLINE uint3 flynn_block()
{
    return flynn_here.block;
}
FLYNN_INLINE dim3 flynn_threads()
{
    return {flynn_here.threads.x, flynn_here.threads.y, flynn_here.threads.z};
}
FLYNN_INLINE dim3 flynn_blocks()
{
    return {flynn_here.blocks.x, flynn_here.blocks.y, flynn_here.blocks.z};
}
#define threadIdx flynn_thread()
#define blockIdx flynn_block()
#define blockDim flynn_threads()
#define gridDim flynn_blocks()

FLYNN_INLINE void __syncthreads()
{
    flynn_here.leave(FLYNN_AT_BARRIER);
}
FLYNN_INLINE int __syncthreads_count(int vote)
{
    __syncthreads();
    flynn_here.sum = 0;
    __syncthreads();
    flynn_here.sum += vote != 0;
    __syncthreads();
    return flynn_here.sum;
}
FLYNN_INLINE int __syncthreads_or(int vote)
{
    return __syncthreads_count(vote) > 0;
}
FLYNN_INLINE int __syncthreads_and(int vote)
{
    return __syncthreads_count(vote == 0) == 0;
}
FLYNN_INLINE void __threadfence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
FLYNN_INLINE void __threadfence_block()
{
    __threadfence();
}
FLYNN_INLINE void __threadfence_system()
{
    __threadfence();
}

#define FLYNN_NO_WARP(name) \
    template <typename... Any> \
    int name(Any...) __attribute__((error("hip-cpu has no warps: its threads run one after the other")));
/* clang-format off */
FLYNN_NO_WARP(__syncwarp) FLYNN_NO_WARP(__activemask)
FLYNN_NO_WARP(__shfl) FLYNN_NO_WARP(__shfl_up) FLYNN_NO_WARP(__shfl_down) FLYNN_NO_WARP(__shfl_xor)
FLYNN_NO_WARP(__shfl_sync) FLYNN_NO_WARP(__shfl_up_sync) FLYNN_NO_WARP(__shfl_down_sync) FLYNN_NO_WARP(__shfl_xor_sync)
FLYNN_NO_WARP(__any) FLYNN_NO_WARP(__all) FLYNN_NO_WARP(__ballot)
FLYNN_NO_WARP(__any_sync) FLYNN_NO_WARP(__all_sync) FLYNN_NO_WARP(__ballot_sync)
    /* clang-format on */

    /* The compiler's calls before memory accesses. */
    FLYNN_INLINE void flynn_access()
{
    if (__builtin_expect(--flynn_here.left < 0, 0))
        flynn_here.leave(FLYNN_AT_ACCESS);
}
#define FLYNN_ACCESS(name) \
    FLYNN_OWN void name(void *) \
    { \
        flynn_access(); \
    }
#define FLYNN_ACCESSES(size) \
    FLYNN_ACCESS(__tsan_read##size) \
    FLYNN_ACCESS(__tsan_write##size) \
    FLYNN_ACCESS(__tsan_volatile_read##size) \
    FLYNN_ACCESS(__tsan_volatile_write##size)
#define FLYNN_UNALIGNED(size) FLYNN_ACCESS(__tsan_unaligned_read##size) FLYNN_ACCESS(__tsan_unaligned_write##size)
extern "C" {
/* clang-format off */
FLYNN_ACCESSES(1) FLYNN_ACCESSES(2) FLYNN_ACCESSES(4) FLYNN_ACCESSES(8) FLYNN_ACCESSES(16)
FLYNN_UNALIGNED(2) FLYNN_UNALIGNED(4) FLYNN_UNALIGNED(8) FLYNN_UNALIGNED(16)
    /* clang-format on */
    FLYNN_OWN void __tsan_read_range(void *, long)
{
    flynn_access();
}
FLYNN_OWN void __tsan_write_range(void *, long)
{
    flynn_access();
}
FLYNN_OWN void __tsan_func_entry(void *)
{
}
FLYNN_OWN void __tsan_func_exit(void *)
{
}
FLYNN_OWN void __tsan_init()
{
}
int printf(const char *, ...);
}

/* In place of what ends the program: the thread is left for good, and the launch ends. */
FLYNN_INLINE void flynn_end(const char *name)
{
    flynn_here.ended = name;
    while (flynn_here.leave)
        flynn_here.leave(FLYNN_AT_END);
    __builtin_trap();
}
#define FLYNN_ENDING(name) \
    FLYNN_OWN void flynn_ending_##name() __asm__("__wrap_" #name); \
    void flynn_ending_##name() \
    { \
        flynn_end(#name); \
    }
FLYNN_ENDINGS(FLYNN_ENDING)

/* ------------------------------------------------------------------------------------------------ atomics ---- */

/* The thread may wait for another one by atomics alone. */
FLYNN_INLINE void flynn_atomic()
{
    if (__builtin_expect(--flynn_here.atomics < 0, 0))
        flynn_here.leave(FLYNN_AT_ACCESS);
}

#define FLYNN_ATOMIC(name, type, builtin) \
    FLYNN_INLINE type name(type *at, type value) \
    { \
        flynn_atomic(); \
        return builtin(at, value, __ATOMIC_RELAXED); \
    }
#define FLYNN_ATOMIC_BY(name, type, changed) \
    FLYNN_INLINE type name(type *at, type value) \
    { \
        flynn_atomic(); \
        type old = *(volatile type *)at, now; \
        do { \
            now = changed; \
        } while (!__atomic_compare_exchange(at, &old, &now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        return old; \
    }
#define FLYNN_ATOMICS(type) \
    FLYNN_ATOMIC(atomicExch, type, __atomic_exchange_n) \
    FLYNN_ATOMIC(atomicAnd, type, __atomic_fetch_and) \
    FLYNN_ATOMIC(atomicOr, type, __atomic_fetch_or) \
    FLYNN_ATOMIC(atomicXor, type, __atomic_fetch_xor) \
    FLYNN_ATOMIC_BY(atomicMin, type, value < old ? value : old) \
    FLYNN_ATOMIC_BY(atomicMax, type, value > old ? value : old) \
    FLYNN_INLINE type atomicCAS(type *at, type expected, type value) \
    { \
        flynn_atomic(); \
        __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return expected; \
    }
/* clang-format off */
FLYNN_ATOMICS(int) FLYNN_ATOMICS(unsigned int) FLYNN_ATOMICS(unsigned long long)
FLYNN_ATOMIC_BY(atomicMin, long long, value < old ? value : old)
FLYNN_ATOMIC_BY(atomicMax, long long, value > old ? value : old)
FLYNN_ATOMIC(atomicAdd, int, __atomic_fetch_add)
FLYNN_ATOMIC(atomicAdd, unsigned int, __atomic_fetch_add)
FLYNN_ATOMIC(atomicAdd, unsigned long long, __atomic_fetch_add)
FLYNN_ATOMIC_BY(atomicAdd, float, old + value)
FLYNN_ATOMIC_BY(atomicAdd, double, old + value)
FLYNN_ATOMIC(atomicSub, int, __atomic_fetch_sub)
FLYNN_ATOMIC(atomicSub, unsigned int, __atomic_fetch_sub)
FLYNN_ATOMIC_BY(atomicExch, float, value)
FLYNN_ATOMIC_BY(atomicInc, unsigned int, old >= value ? 0 : old + 1)
FLYNN_ATOMIC_BY(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1)
    /* clang-format on */

    /* ---------------------------------------------------------------------------------------------- functions ---- */

    /* Result, if T is an integer. */
    template <typename T, typename Result>
    struct flynn_whole {
};
#define FLYNN_WHOLE(type) \
    template <typename Result> \
    struct flynn_whole<type, Result> { \
        typedef Result is; \
    };
/* clang-format off */
FLYNN_WHOLE(bool) FLYNN_WHOLE(char) FLYNN_WHOLE(signed char) FLYNN_WHOLE(unsigned char) FLYNN_WHOLE(short)
FLYNN_WHOLE(unsigned short) FLYNN_WHOLE(int) FLYNN_WHOLE(unsigned) FLYNN_WHOLE(long) FLYNN_WHOLE(unsigned long)
FLYNN_WHOLE(long long) FLYNN_WHOLE(unsigned long long)
/* clang-format on */

/* f(float), f(double), f of an integer, and ff. */
#define FLYNN_OF_ONE(name, result_f, result) \
    FLYNN_INLINE result_f name(float x) \
    { \
        return __builtin_##name##f(x); \
    } \
    FLYNN_INLINE result_f name##f(float x) \
    { \
        return __builtin_##name##f(x); \
    } \
    FLYNN_INLINE result name(double x) \
    { \
        return __builtin_##name(x); \
    } \
    template <typename T> \
    FLYNN_INLINE typename flynn_whole<T, result>::is name(T x) \
    { \
        return __builtin_##name((double)x); \
    }
#define FLYNN_REAL(name) FLYNN_OF_ONE(name, float, double)
#define FLYNN_TO(name, type) FLYNN_OF_ONE(name, type, type)
/* f(float, float), and f of anything else in double. */
#define FLYNN_REAL2(name) \
    FLYNN_INLINE float name(float x, float y) \
    { \
        return __builtin_##name##f(x, y); \
    } \
    FLYNN_INLINE float name##f(float x, float y) \
    { \
        return __builtin_##name##f(x, y); \
    } \
    template <typename A, typename B> \
    FLYNN_INLINE double name(A x, B y) \
    { \
        return __builtin_##name((double)x, (double)y); \
    }
    /* clang-format off */
FLYNN_MATH_OF_ONE(FLYNN_REAL) FLYNN_MATH_OF_TWO(FLYNN_REAL2) FLYNN_MATH_TO(FLYNN_TO)
    /* clang-format on */

    FLYNN_INLINE float fma(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
FLYNN_INLINE float fmaf(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
FLYNN_INLINE double fma(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}
#define FLYNN_TEST(name) \
    template <typename T> \
    FLYNN_INLINE bool name(T x) \
    { \
        return __builtin_##name(x) != 0; \
    }
/* clang-format off */
FLYNN_TEST(isnan) FLYNN_TEST(isinf) FLYNN_TEST(isfinite) FLYNN_TEST(signbit)
    /* clang-format on */

    FLYNN_INLINE float rsqrtf(float x)
{
    return 1 / __builtin_sqrtf(x);
}
FLYNN_INLINE float rsqrt(float x)
{
    return 1 / __builtin_sqrtf(x);
}
FLYNN_INLINE double rsqrt(double x)
{
    return 1 / __builtin_sqrt(x);
}
FLYNN_INLINE float ldexpf(float x, int n)
{
    return __builtin_ldexpf(x, n);
}
FLYNN_INLINE float ldexp(float x, int n)
{
    return __builtin_ldexpf(x, n);
}
FLYNN_INLINE double ldexp(double x, int n)
{
    return __builtin_ldexp(x, n);
}
FLYNN_INLINE void sincosf(float x, float *s, float *c)
{
    *s = __builtin_sinf(x), *c = __builtin_cosf(x);
}
FLYNN_INLINE void sincos(double x, double *s, double *c)
{
    *s = __builtin_sin(x), *c = __builtin_cos(x);
}
FLYNN_INLINE float __expf(float x)
{
    return __builtin_expf(x);
}
FLYNN_INLINE float __logf(float x)
{
    return __builtin_logf(x);
}
FLYNN_INLINE float __sinf(float x)
{
    return __builtin_sinf(x);
}
FLYNN_INLINE float __cosf(float x)
{
    return __builtin_cosf(x);
}
FLYNN_INLINE float __powf(float x, float y)
{
    return __builtin_powf(x, y);
}
FLYNN_INLINE float __fdividef(float x, float y)
{
    return x / y;
}
FLYNN_INLINE int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
FLYNN_INLINE int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
FLYNN_INLINE int __clz(int x)
{
    return x == 0 ? 32 : __builtin_clz((unsigned)x);
}
FLYNN_INLINE int __ffs(int x)
{
    return __builtin_ffs(x);
}
template <typename T>
FLYNN_INLINE T __ldg(const T *at)
{
    return *at;
}
FLYNN_INLINE int abs(int x)
{
    return x < 0 ? -x : x;
}
FLYNN_INLINE long abs(long x)
{
    return x < 0 ? -x : x;
}
FLYNN_INLINE long long abs(long long x)
{
    return x < 0 ? -x : x;
}
FLYNN_INLINE float abs(float x)
{
    return __builtin_fabsf(x);
}
FLYNN_INLINE double abs(double x)
{
    return __builtin_fabs(x);
}
/* A NaN yields to the other argument, as fmax does it. */
template <typename A, typename B>
FLYNN_INLINE auto max(A x, B y) -> decltype(x + y)
{
    typedef decltype(x + y) both;
    return (both)x > (both)y || y != y ? (both)x : (both)y;
}
template <typename A, typename B>
FLYNN_INLINE auto min(A x, B y) -> decltype(x + y)
{
    typedef decltype(x + y) both;
    return (both)x < (both)y || y != y ? (both)x : (both)y;
}

/* ------------------------------------------------------------------------------------------------ calling ---- */

/* kernel(arguments...), of any types, where `arguments` points to each. */
template <int... I>
struct flynn_numbers {
};
#if defined(__clang__)
template <typename T, T... I>
struct flynn_made {
    typedef flynn_numbers<I...> numbers;
};
template <int count>
using flynn_count = typename __make_integer_seq<flynn_made, int, count>::numbers;
#else
template <int count>
using flynn_count = flynn_numbers<__integer_pack(count)...>;
#endif
template <typename... P, int... I>
FLYNN_INLINE void flynn_call_each(void (*kernel)(P...), void **arguments, flynn_numbers<I...>)
{
    kernel(*static_cast<P *>(arguments[I])...);
}
template <typename... P>
FLYNN_INLINE void flynn_call(void (*kernel)(P...), void **arguments)
{
    flynn_call_each(kernel, arguments, flynn_count<sizeof...(P)>());
}
