/* SPDX-License-Identifier: MIT
 * CUDA's functions whose names begin with __, and its like, for a kernel that the processor runs: bits of numbers,
 * conversions, integers, roundings. These lines follow prelude.h. */

/* ------------------------------------------------------------------------------------- bits and conversions ---- */

#define FLYNN_BITS(name, from, to) \
    FLYNN_INLINE to name(from x) \
    { \
        to y; \
        __builtin_memcpy(&y, &x, sizeof y); \
        return y; \
    }
/* clang-format off */
FLYNN_BITS(__float_as_int, float, int) FLYNN_BITS(__float_as_uint, float, unsigned)
FLYNN_BITS(__int_as_float, int, float) FLYNN_BITS(__uint_as_float, unsigned, float)
FLYNN_BITS(__double_as_longlong, double, long long) FLYNN_BITS(__longlong_as_double, long long, double)
    /* clang-format on */

    FLYNN_INLINE int __double2hiint(double x)
{
    return (int)(__double_as_longlong(x) >> 32);
}
FLYNN_INLINE int __double2loint(double x)
{
    return (int)__double_as_longlong(x);
}
FLYNN_INLINE double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

/* To an integer: what does not fit becomes the nearest one that does, and NaN 0, as on a GPU. */
template <typename To>
FLYNN_INLINE To flynn_to(double x, double least, double behind)
{
    const To one = (To)((To)1 << (sizeof(To) * 8 - 1)), most = (To)-1 > 0 ? (To)-1 : (To)~one;
    return x != x ? 0 : x <= least ? (To)least : x >= behind ? most : (To)x;
}
#define FLYNN_ROUNDED(from, to, type, least, behind) \
    FLYNN_INLINE type __##from##2##to##_rn(double x) \
    { \
        return flynn_to<type>(__builtin_rint(x), least, behind); \
    } \
    FLYNN_INLINE type __##from##2##to##_rz(double x) \
    { \
        return flynn_to<type>(x, least, behind); \
    } \
    FLYNN_INLINE type __##from##2##to##_rd(double x) \
    { \
        return flynn_to<type>(__builtin_floor(x), least, behind); \
    } \
    FLYNN_INLINE type __##from##2##to##_ru(double x) \
    { \
        return flynn_to<type>(__builtin_ceil(x), least, behind); \
    }
#define FLYNN_WHOLES(from) \
    FLYNN_ROUNDED(from, int, int, -0x1p31, 0x1p31) \
    FLYNN_ROUNDED(from, uint, unsigned, 0, 0x1p32) \
    FLYNN_ROUNDED(from, ll, long long, -0x1p63, 0x1p63) \
    FLYNN_ROUNDED(from, ull, unsigned long long, 0, 0x1p64)
FLYNN_WHOLES(float)
FLYNN_WHOLES(double)
#define FLYNN_CONVERT(name, from, to) \
    FLYNN_INLINE to name(from x) \
    { \
        return (to)x; \
    }
/* clang-format off */
FLYNN_CONVERT(__int2float_rn, int, float) FLYNN_CONVERT(__uint2float_rn, unsigned, float)
FLYNN_CONVERT(__ll2float_rn, long long, float) FLYNN_CONVERT(__ull2float_rn, unsigned long long, float)
FLYNN_CONVERT(__int2double_rn, int, double) FLYNN_CONVERT(__uint2double_rn, unsigned, double)
FLYNN_CONVERT(__ll2double_rn, long long, double) FLYNN_CONVERT(__ull2double_rn, unsigned long long, double)
FLYNN_CONVERT(__double2float_rn, double, float)
    /* clang-format on */

    /* ----------------------------------------------------------------------------------------------- integers ---- */

    FLYNN_INLINE int __mul24(int x, int y)
{
    return (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8));
}
FLYNN_INLINE unsigned __umul24(unsigned x, unsigned y)
{
    return (x & 0xffffff) * (y & 0xffffff);
}
FLYNN_INLINE int __mulhi(int x, int y)
{
    return (int)((long long)x * y >> 32);
}
FLYNN_INLINE unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((unsigned long long)x * y >> 32);
}
FLYNN_INLINE long long __mul64hi(long long x, long long y)
{
    return (long long)((__int128)x * y >> 64);
}
FLYNN_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
FLYNN_INLINE unsigned long long __brevll(unsigned long long x)
{
    unsigned long long y = 0;
    for (int i = 0; i < 64; i++)
        y |= (x >> i & 1) << (63 - i);
    return y;
}
FLYNN_INLINE unsigned __brev(unsigned x)
{
    return (unsigned)(__brevll(x) >> 32);
}
FLYNN_INLINE int __clzll(long long x)
{
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
FLYNN_INLINE int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
FLYNN_INLINE unsigned __sad(int x, int y, unsigned z)
{
    return (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x) + z;
}
FLYNN_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z)
{
    return (x > y ? x - y : y - x) + z;
}
FLYNN_INLINE int __hadd(int x, int y)
{
    return (int)(((long long)x + y) >> 1);
}
FLYNN_INLINE int __rhadd(int x, int y)
{
    return (int)(((long long)x + y + 1) >> 1);
}
FLYNN_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)((((unsigned long long)high << 32 | low) << (by & 31)) >> 32);
}
FLYNN_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}
/* Four of the eight bytes of y and x: each of the last four hexadecimal digits chooses one; its 8 repeats the sign. */
FLYNN_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned choice)
{
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned made = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned byte = (unsigned)(bytes >> (choice >> 4 * i & 7) * 8) & 255;
        made |= (choice >> 4 * i & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    return made;
}

/* ---------------------------------------------------------------------------------------------- real numbers ---- */

#define FLYNN_RN(letter, type, suffix) \
    FLYNN_INLINE type __##letter##add_rn(type x, type y) \
    { \
        return x + y; \
    } \
    FLYNN_INLINE type __##letter##sub_rn(type x, type y) \
    { \
        return x - y; \
    } \
    FLYNN_INLINE type __##letter##mul_rn(type x, type y) \
    { \
        return x * y; \
    } \
    FLYNN_INLINE type __##letter##div_rn(type x, type y) \
    { \
        return x / y; \
    } \
    FLYNN_INLINE type __##letter##rcp_rn(type x) \
    { \
        return 1 / x; \
    } \
    FLYNN_INLINE type __##letter##sqrt_rn(type x) \
    { \
        return __builtin_sqrt##suffix(x); \
    }
FLYNN_RN(f, float, f)
FLYNN_RN(d, double, )
FLYNN_INLINE float __fmaf_rn(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
FLYNN_INLINE double __fma_rn(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}
FLYNN_INLINE float __frsqrt_rn(float x)
{
    return (float)(1 / __builtin_sqrt((double)x));
}
FLYNN_INLINE float __saturatef(float x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}
FLYNN_INLINE float fdividef(float x, float y)
{
    return x / y;
}
FLYNN_INLINE float __tanf(float x)
{
    return __builtin_tanf(x);
}
FLYNN_INLINE float __log2f(float x)
{
    return __builtin_log2f(x);
}
FLYNN_INLINE float __log10f(float x)
{
    return __builtin_log10f(x);
}
FLYNN_INLINE float exp10f(float x)
{
    return (float)__builtin_pow(10, x);
}
FLYNN_INLINE double exp10(double x)
{
    return __builtin_pow(10, x);
}
FLYNN_INLINE float __exp10f(float x)
{
    return exp10f(x);
}
FLYNN_INLINE void __sincosf(float x, float *s, float *c)
{
    sincosf(x, s, c);
}
/* The argument is reduced first, so that whole and half ones give the exact result. */
FLYNN_INLINE double sinpi(double x)
{
    x = __builtin_remainder(x, 2);
    x = x > 0.5 ? 1 - x : x < -0.5 ? -1 - x : x;
    return __builtin_sin(M_PI * x);
}
FLYNN_INLINE double cospi(double x)
{
    return sinpi(0.5 - __builtin_fabs(__builtin_remainder(x, 2)));
}
FLYNN_INLINE float sinpif(float x)
{
    return (float)sinpi(x);
}
FLYNN_INLINE float cospif(float x)
{
    return (float)cospi(x);
}
FLYNN_INLINE double norm3d(double x, double y, double z)
{
    return __builtin_hypot(__builtin_hypot(x, y), z);
}
FLYNN_INLINE float norm3df(float x, float y, float z)
{
    return (float)norm3d(x, y, z);
}
FLYNN_INLINE float rnorm3df(float x, float y, float z)
{
    return (float)(1 / norm3d(x, y, z));
}
FLYNN_INLINE float rhypotf(float x, float y)
{
    return (float)(1 / __builtin_hypot(x, y));
}
FLYNN_INLINE unsigned umin(unsigned x, unsigned y)
{
    return x < y ? x : y;
}
FLYNN_INLINE unsigned umax(unsigned x, unsigned y)
{
    return x > y ? x : y;
}

/* -------------------------------------------------------------------------------------------------- the rest ---- */

/* Loads and stores with a hint for the cache, which the processor does not need. They are accesses of the kernel's. */
#define FLYNN_LOAD(name) \
    template <typename T> \
    static inline T name(const T *at) \
    { \
        return *at; \
    }
#define FLYNN_STORE(name) \
    template <typename T> \
    static inline void name(T *at, T value) \
    { \
        *at = value; \
    }
/* clang-format off */
FLYNN_LOAD(__ldcg) FLYNN_LOAD(__ldca) FLYNN_LOAD(__ldcs) FLYNN_LOAD(__ldlu) FLYNN_LOAD(__ldcv)
FLYNN_STORE(__stwb) FLYNN_STORE(__stcg) FLYNN_STORE(__stcs) FLYNN_STORE(__stwt)
    /* clang-format on */

    typedef long clock_t;
extern "C" clock_t clock() noexcept;
FLYNN_INLINE long long clock64()
{
    return clock();
}
FLYNN_INLINE void __nanosleep(unsigned)
{
}
FLYNN_INLINE void __trap()
{
    __builtin_trap();
}
#define atomicAdd_block atomicAdd
#define atomicAdd_system atomicAdd
#define atomicMax_block atomicMax
#define atomicMin_block atomicMin
#define atomicCAS_block atomicCAS
#define atomicCAS_system atomicCAS
