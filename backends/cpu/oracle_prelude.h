/* SPDX-License-Identifier: MIT
 * Definitions before the user's function in the oracle, against which all backends are checked: the system's math.h,
 * and abs, max and min as the page of `flynn map` defines them, for each of C's types. The oracle uses no definition
 * of the other preludes, so that a mistake in one of them is found. */
#define _XOPEN_SOURCE 700 /* M_PI */
#if __has_include(<math.h>)
#include <math.h>
#else
#error "math.h is missing, which the check needs: install libc6-dev, or glibc-devel"
#endif
#define bool _Bool
#define true 1
#define false 0
#define NULL ((void *)0)
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __SIZE_TYPE__ size_t;
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (2u * __INT_MAX__ + 1)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-__LONG_MAX__ - 1)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1)
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__

/* Selects by the type after C's conversions, which turn types smaller than int into int. */
#define OF_EACH_TYPE(value, name) _Generic((value), \
    int: name##_int, unsigned: name##_unsigned, long: name##_long, unsigned long: name##_unsigned_long, \
    long long: name##_long_long, unsigned long long: name##_unsigned_long_long, \
    float: name##_float, double: name##_double, long double: name##_long_double)
/* Without a sign: GCC takes x < 0 ? -x : x for a number that is never negative. */
static int oracle_abs_int(int x) { return (int)(x < 0 ? 0 - (unsigned)x : (unsigned)x); }
static unsigned oracle_abs_unsigned(unsigned x) { return x; }
static long oracle_abs_long(long x) { return (long)(x < 0 ? 0 - (unsigned long)x : (unsigned long)x); }
static unsigned long oracle_abs_unsigned_long(unsigned long x) { return x; }
static long long oracle_abs_long_long(long long x)
{
    return (long long)(x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x);
}
static unsigned long long oracle_abs_unsigned_long_long(unsigned long long x) { return x; }
static float oracle_abs_float(float x) { return fabsf(x); }
static double oracle_abs_double(double x) { return fabs(x); }
static long double oracle_abs_long_double(long double x) { return fabsl(x); }
#define abs(x) OF_EACH_TYPE(+(x), oracle_abs)(x)
#define ORACLE_INTEGERS(type, name) \
    static type oracle_max_##name(type x, type y) { return x < y ? y : x; } \
    static type oracle_min_##name(type x, type y) { return y < x ? y : x; }
/* If one argument is a NaN, the result is a NaN. */
#define ORACLE_REALS(type, name) \
    static type oracle_max_##name(type x, type y) { if (isnan(x)) return x; if (isnan(y)) return y; return x > y ? x : y; } \
    static type oracle_min_##name(type x, type y) { if (isnan(x)) return x; if (isnan(y)) return y; return x < y ? x : y; }
ORACLE_INTEGERS(int, int)
ORACLE_INTEGERS(unsigned, unsigned)
ORACLE_INTEGERS(long, long)
ORACLE_INTEGERS(unsigned long, unsigned_long)
ORACLE_INTEGERS(long long, long_long)
ORACLE_INTEGERS(unsigned long long, unsigned_long_long)
ORACLE_REALS(float, float)
ORACLE_REALS(double, double)
ORACLE_REALS(long double, long_double)
#define max(x, y) OF_EACH_TYPE((x) + (y), oracle_max)(x, y)
#define min(x, y) OF_EACH_TYPE((x) + (y), oracle_min)(x, y)

/* math.h's float function if the sum of the arguments is a float, else its double function. */
#define OF_FLOAT(sum, name) _Generic((sum), float: name##f, default: name)
#define fma(x, y, z) OF_FLOAT((x) + (y) + (z), fma)(x, y, z)
#define ldexp(x, n) OF_FLOAT(x, ldexp)(x, n)
#define acos(x) OF_FLOAT(x, acos)(x)
#define acosh(x) OF_FLOAT(x, acosh)(x)
#define asin(x) OF_FLOAT(x, asin)(x)
#define asinh(x) OF_FLOAT(x, asinh)(x)
#define atan(x) OF_FLOAT(x, atan)(x)
#define atanh(x) OF_FLOAT(x, atanh)(x)
#define cbrt(x) OF_FLOAT(x, cbrt)(x)
#define ceil(x) OF_FLOAT(x, ceil)(x)
#define cos(x) OF_FLOAT(x, cos)(x)
#define cosh(x) OF_FLOAT(x, cosh)(x)
#define erf(x) OF_FLOAT(x, erf)(x)
#define erfc(x) OF_FLOAT(x, erfc)(x)
#define exp(x) OF_FLOAT(x, exp)(x)
#define exp2(x) OF_FLOAT(x, exp2)(x)
#define expm1(x) OF_FLOAT(x, expm1)(x)
#define fabs(x) OF_FLOAT(x, fabs)(x)
#define floor(x) OF_FLOAT(x, floor)(x)
#define ilogb(x) OF_FLOAT(x, ilogb)(x)
#define lgamma(x) OF_FLOAT(x, lgamma)(x)
#define llrint(x) OF_FLOAT(x, llrint)(x)
#define llround(x) OF_FLOAT(x, llround)(x)
#define log(x) OF_FLOAT(x, log)(x)
#define log10(x) OF_FLOAT(x, log10)(x)
#define log1p(x) OF_FLOAT(x, log1p)(x)
#define log2(x) OF_FLOAT(x, log2)(x)
#define logb(x) OF_FLOAT(x, logb)(x)
#define lrint(x) OF_FLOAT(x, lrint)(x)
#define lround(x) OF_FLOAT(x, lround)(x)
#define nearbyint(x) OF_FLOAT(x, nearbyint)(x)
#define rint(x) OF_FLOAT(x, rint)(x)
#define round(x) OF_FLOAT(x, round)(x)
#define sin(x) OF_FLOAT(x, sin)(x)
#define sinh(x) OF_FLOAT(x, sinh)(x)
#define sqrt(x) OF_FLOAT(x, sqrt)(x)
#define tan(x) OF_FLOAT(x, tan)(x)
#define tanh(x) OF_FLOAT(x, tanh)(x)
#define tgamma(x) OF_FLOAT(x, tgamma)(x)
#define trunc(x) OF_FLOAT(x, trunc)(x)
#define atan2(x, y) OF_FLOAT((x) + (y), atan2)(x, y)
#define copysign(x, y) OF_FLOAT((x) + (y), copysign)(x, y)
#define fdim(x, y) OF_FLOAT((x) + (y), fdim)(x, y)
#define fmax(x, y) OF_FLOAT((x) + (y), fmax)(x, y)
#define fmin(x, y) OF_FLOAT((x) + (y), fmin)(x, y)
#define fmod(x, y) OF_FLOAT((x) + (y), fmod)(x, y)
#define hypot(x, y) OF_FLOAT((x) + (y), hypot)(x, y)
#define nextafter(x, y) OF_FLOAT((x) + (y), nextafter)(x, y)
#define pow(x, y) OF_FLOAT((x) + (y), pow)(x, y)
#define remainder(x, y) OF_FLOAT((x) + (y), remainder)(x, y)
/* The result is 0 or 1, as on a GPU. */
static int oracle_isinf(long double x) { return isinf(x) ? 1 : 0; }
static int oracle_signbit(long double x) { return signbit(x) ? 1 : 0; }
#undef isinf
#define isinf(x) oracle_isinf(x)
#undef signbit
#define signbit(x) oracle_signbit(x)
