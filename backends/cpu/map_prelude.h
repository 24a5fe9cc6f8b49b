/* SPDX-License-Identifier: MIT
 * What a function of the user's sees before its own text. No header is read: this takes a third of the time.
 * FLYNN_VECTOR_MATH: 2: glibc's libmvec has vectors of nearly all functions; 1: of five; 0: there is none. */
#define bool _Bool
#define true 1
#define false 0
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#if FLYNN_VECTOR_MATH > 0
#define FLYNN_V1 __attribute__((simd("notinbranch")))
#else
#define FLYNN_V1
#endif
#if FLYNN_VECTOR_MATH > 1
#define FLYNN_V2 __attribute__((simd("notinbranch")))
#else
#define FLYNN_V2
#endif
#define FLYNN_REAL1(name, vectors) extern double name(double) vectors; extern float name##f(float) vectors;
#define FLYNN_REAL2(name, vectors) extern double name(double, double) vectors; extern float name##f(float, float) vectors;
FLYNN_REAL1(sin, FLYNN_V1) FLYNN_REAL1(cos, FLYNN_V1) FLYNN_REAL1(exp, FLYNN_V1) FLYNN_REAL1(log, FLYNN_V1)
FLYNN_REAL2(pow, FLYNN_V1)
FLYNN_REAL1(acos, FLYNN_V2) FLYNN_REAL1(asin, FLYNN_V2) FLYNN_REAL1(atan, FLYNN_V2) FLYNN_REAL1(tan, FLYNN_V2)
FLYNN_REAL1(acosh, FLYNN_V2) FLYNN_REAL1(asinh, FLYNN_V2) FLYNN_REAL1(atanh, FLYNN_V2) FLYNN_REAL1(cosh, FLYNN_V2)
FLYNN_REAL1(sinh, FLYNN_V2) FLYNN_REAL1(tanh, FLYNN_V2) FLYNN_REAL1(cbrt, FLYNN_V2) FLYNN_REAL1(erf, FLYNN_V2)
FLYNN_REAL1(erfc, FLYNN_V2) FLYNN_REAL1(exp2, FLYNN_V2) FLYNN_REAL1(expm1, FLYNN_V2) FLYNN_REAL1(log10, FLYNN_V2)
FLYNN_REAL1(log1p, FLYNN_V2) FLYNN_REAL1(log2, FLYNN_V2) FLYNN_REAL2(atan2, FLYNN_V2) FLYNN_REAL2(hypot, FLYNN_V2)
FLYNN_REAL1(sqrt, ) FLYNN_REAL1(fabs, ) FLYNN_REAL1(floor, ) FLYNN_REAL1(ceil, ) FLYNN_REAL1(trunc, )
FLYNN_REAL1(round, ) FLYNN_REAL1(rint, ) FLYNN_REAL1(nearbyint, ) FLYNN_REAL1(tgamma, ) FLYNN_REAL1(lgamma, )
FLYNN_REAL1(logb, ) FLYNN_REAL2(fmod, ) FLYNN_REAL2(remainder, ) FLYNN_REAL2(fmax, ) FLYNN_REAL2(fmin, )
FLYNN_REAL2(fdim, ) FLYNN_REAL2(copysign, ) FLYNN_REAL2(nextafter, )
extern double fma(double, double, double);
extern float fmaf(float, float, float);
extern double ldexp(double, int);
extern float ldexpf(float, int);
#define FLYNN_WHOLE(name, T) extern T name(double); extern T name##f(float);
FLYNN_WHOLE(ilogb, int) FLYNN_WHOLE(lrint, long) FLYNN_WHOLE(lround, long)
FLYNN_WHOLE(llrint, long long) FLYNN_WHOLE(llround, long long)
extern int abs(int);
extern long labs(long);
#define FLYNN_1(name, x) _Generic((x), float: name##f, default: name)(x)
#define FLYNN_2(name, x, y) _Generic((x) + (y), float: name##f, default: name)(x, y)
#define sin(x) FLYNN_1(sin, x)
#define cos(x) FLYNN_1(cos, x)
#define exp(x) FLYNN_1(exp, x)
#define log(x) FLYNN_1(log, x)
#define acos(x) FLYNN_1(acos, x)
#define asin(x) FLYNN_1(asin, x)
#define atan(x) FLYNN_1(atan, x)
#define tan(x) FLYNN_1(tan, x)
#define acosh(x) FLYNN_1(acosh, x)
#define asinh(x) FLYNN_1(asinh, x)
#define atanh(x) FLYNN_1(atanh, x)
#define cosh(x) FLYNN_1(cosh, x)
#define sinh(x) FLYNN_1(sinh, x)
#define tanh(x) FLYNN_1(tanh, x)
#define cbrt(x) FLYNN_1(cbrt, x)
#define erf(x) FLYNN_1(erf, x)
#define erfc(x) FLYNN_1(erfc, x)
#define exp2(x) FLYNN_1(exp2, x)
#define expm1(x) FLYNN_1(expm1, x)
#define log10(x) FLYNN_1(log10, x)
#define log1p(x) FLYNN_1(log1p, x)
#define log2(x) FLYNN_1(log2, x)
#define sqrt(x) FLYNN_1(sqrt, x)
#define fabs(x) FLYNN_1(fabs, x)
#define floor(x) FLYNN_1(floor, x)
#define ceil(x) FLYNN_1(ceil, x)
#define trunc(x) FLYNN_1(trunc, x)
#define round(x) FLYNN_1(round, x)
#define rint(x) FLYNN_1(rint, x)
#define nearbyint(x) FLYNN_1(nearbyint, x)
#define tgamma(x) FLYNN_1(tgamma, x)
#define lgamma(x) FLYNN_1(lgamma, x)
#define logb(x) FLYNN_1(logb, x)
#define ilogb(x) FLYNN_1(ilogb, x)
#define lrint(x) FLYNN_1(lrint, x)
#define lround(x) FLYNN_1(lround, x)
#define llrint(x) FLYNN_1(llrint, x)
#define llround(x) FLYNN_1(llround, x)
#define pow(x, y) FLYNN_2(pow, x, y)
#define atan2(x, y) FLYNN_2(atan2, x, y)
#define hypot(x, y) FLYNN_2(hypot, x, y)
#define fmod(x, y) FLYNN_2(fmod, x, y)
#define remainder(x, y) FLYNN_2(remainder, x, y)
#define fmax(x, y) FLYNN_2(fmax, x, y)
#define fmin(x, y) FLYNN_2(fmin, x, y)
#define fdim(x, y) FLYNN_2(fdim, x, y)
#define copysign(x, y) FLYNN_2(copysign, x, y)
#define nextafter(x, y) FLYNN_2(nextafter, x, y)
#define fma(x, y, z) _Generic((x) + (y) + (z), float: fmaf, default: fma)(x, y, z)
#define ldexp(x, n) _Generic((x), float: ldexpf, default: ldexp)(x, n)
#define isnan(x) __builtin_isnan(x)
#define isinf(x) (__builtin_isinf(x) != 0)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) (__builtin_signbit(x) != 0)
#define abs(x) _Generic((x), float: fabsf, double: fabs, long: labs, default: abs)(x)
#define FLYNN_LARGER(T, t) static inline T flynn_max_##t(T x, T y) { const T larger = x > y ? x : y; return x != x ? x : larger; }
#define FLYNN_SMALLER(T, t) static inline T flynn_min_##t(T x, T y) { const T smaller = x < y ? x : y; return x != x ? x : smaller; }
#define FLYNN_PICK(name, x, y) _Generic((x) + (y), float: name##_f, double: name##_d, long: name##_l, unsigned int: name##_u, unsigned long: name##_ul, default: name##_i)(x, y)
FLYNN_LARGER(float, f) FLYNN_LARGER(double, d) FLYNN_LARGER(int, i) FLYNN_LARGER(long, l)
FLYNN_LARGER(unsigned int, u) FLYNN_LARGER(unsigned long, ul)
FLYNN_SMALLER(float, f) FLYNN_SMALLER(double, d) FLYNN_SMALLER(int, i) FLYNN_SMALLER(long, l)
FLYNN_SMALLER(unsigned int, u) FLYNN_SMALLER(unsigned long, ul)
#define max(x, y) FLYNN_PICK(flynn_max, x, y)
#define min(x, y) FLYNN_PICK(flynn_min, x, y)
