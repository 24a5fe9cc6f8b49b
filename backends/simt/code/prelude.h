/* SPDX-License-Identifier: MIT
 * Definitions of HIP before the text of a kernel that the processor runs (code.cpp). They include no header:
 * HIP-CPU's take half a minute to compile, these 30 ms. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define __global__
#define __device__ __attribute__((visibility("default")))
#define __constant__ __attribute__((visibility("default")))
#define __host__
/* At a multiple of more than a block's shared memory: behind an array lies nobody's, which the detector knows. */
#define __shared__ thread_local __attribute__((aligned(1 << 16)))
#define __launch_bounds__(...)
/* Core writes this before a kernel with __launch_bounds__(most, ...). */
#define FLYNN_LAUNCH_BOUNDS(most) \
    extern "C" __attribute__((visibility("default"))) const int flynn_launch_bounds = most;
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#if !defined(__clang__)
#define FLYNN_OWN __attribute__((no_sanitize("thread")))
#elif __has_attribute(disable_sanitizer_instrumentation)
/* Both: the first keeps the functions from being inlined into instrumented ones, and those into them. */
#define FLYNN_OWN __attribute__((no_sanitize("thread"), disable_sanitizer_instrumentation))
#else
#error "the emulated GPU needs clang 14, or g++: an older clang has no way to leave atomics uninstrumented"
#endif
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
    FLYNN_OWN dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) /* no accesses of the kernel's */
    {
    }
};

/* ---------------------------------------------------------------------------------------------- functions ---- */

/* Is the type Result if T is an integer, else no type. */
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
/* Without a sign: GCC takes x < 0 ? -x : x for a number that is never negative. */
FLYNN_INLINE int abs(int x)
{
    return (int)(x < 0 ? 0 - (unsigned)x : (unsigned)x);
}
FLYNN_INLINE long abs(long x)
{
    return (long)(x < 0 ? 0 - (unsigned long)x : (unsigned long)x);
}
FLYNN_INLINE long long abs(long long x)
{
    return (long long)(x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x);
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
