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
#define FLYNN_REAL1(name) extern double name(double); extern float name##f(float);
#define FLYNN_REAL2(name) extern double name(double, double); extern float name##f(float, float);
#define FLYNN_WHOLE(name, T) extern T name(double); extern T name##f(float);
FLYNN_MATH_OF_ONE(FLYNN_REAL1) FLYNN_MATH_OF_TWO(FLYNN_REAL2) FLYNN_MATH_TO(FLYNN_WHOLE)
#define FLYNN_VECTOR __attribute__((simd("notinbranch")))
#define FLYNN_VECTOR1(name) extern double name(double) FLYNN_VECTOR; extern float name##f(float) FLYNN_VECTOR;
#define FLYNN_VECTOR2(name) extern double name(double, double) FLYNN_VECTOR; extern float name##f(float, float) FLYNN_VECTOR;
#if FLYNN_VECTOR_MATH > 0
FLYNN_VECTOR1(cos) FLYNN_VECTOR1(exp) FLYNN_VECTOR1(log) FLYNN_VECTOR1(sin) FLYNN_VECTOR2(pow)
#endif
#if FLYNN_VECTOR_MATH > 1
FLYNN_VECTOR1(acos) FLYNN_VECTOR1(acosh) FLYNN_VECTOR1(asin) FLYNN_VECTOR1(asinh) FLYNN_VECTOR1(atan) FLYNN_VECTOR1(atanh)
FLYNN_VECTOR1(cbrt) FLYNN_VECTOR1(cosh) FLYNN_VECTOR1(erf) FLYNN_VECTOR1(erfc) FLYNN_VECTOR1(exp2) FLYNN_VECTOR1(expm1)
FLYNN_VECTOR1(log10) FLYNN_VECTOR1(log1p) FLYNN_VECTOR1(log2) FLYNN_VECTOR1(sinh) FLYNN_VECTOR1(tan) FLYNN_VECTOR1(tanh)
FLYNN_VECTOR2(atan2) FLYNN_VECTOR2(hypot)
#endif
extern double fma(double, double, double);
extern float fmaf(float, float, float);
extern double ldexp(double, int);
extern float ldexpf(float, int);
extern int abs(int);
extern long labs(long);
extern long long llabs(long long);
extern long double fabsl(long double);
#define FLYNN_1(name, x) _Generic((x), float: name##f, default: name)(x)
#define FLYNN_2(name, x, y) _Generic((x) + (y), float: name##f, default: name)(x, y)
#define fma(x, y, z) _Generic((x) + (y) + (z), float: fmaf, default: fma)(x, y, z)
#define ldexp(x, n) _Generic((x), float: ldexpf, default: ldexp)(x, n)
#define isnan(x) __builtin_isnan(x)
#define isinf(x) (__builtin_isinf(x) != 0)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) (__builtin_signbit(x) != 0)
/* abs, max and min for each of C's arithmetic types; C converts smaller ones to int. abs of the lowest integer is that
 * integer. It is computed without a sign, since GCC takes the C library's abs, and x < 0 ? -x : x, for a number that is
 * never negative: 5 > abs(INT_MIN) would be false. */
#define FLYNN_ABS(T, t) static inline T flynn_abs_##t(T x) { return (T)(x < 0 ? 0 - (unsigned T)x : (unsigned T)x); }
#define FLYNN_SAME(T, t) static inline T flynn_abs_##t(T x) { return x; }
#define FLYNN_LARGER(T, t) static inline T flynn_max_##t(T x, T y) { const T larger = x > y ? x : y; return x != x ? x : larger; }
#define FLYNN_SMALLER(T, t) static inline T flynn_min_##t(T x, T y) { const T smaller = x < y ? x : y; return x != x ? x : smaller; }
#define FLYNN_UNSIGNED(F) F(unsigned int, u) F(unsigned long, ul) F(unsigned long long, ull)
#define FLYNN_ANY(F) F(int, i) F(long, l) F(long long, ll) F(float, f) F(double, d) F(long double, ld) FLYNN_UNSIGNED(F)
FLYNN_ABS(int, i) FLYNN_ABS(long, l) FLYNN_ABS(long long, ll) FLYNN_UNSIGNED(FLYNN_SAME) FLYNN_ANY(FLYNN_LARGER) FLYNN_ANY(FLYNN_SMALLER)
#define abs(x) _Generic(+(x), int: flynn_abs_i, long: flynn_abs_l, long long: flynn_abs_ll, float: fabsf, double: fabs, long double: fabsl, unsigned int: flynn_abs_u, unsigned long: flynn_abs_ul, unsigned long long: flynn_abs_ull)(x)
#define FLYNN_PICK(name, sum) _Generic(sum, int: name##_i, long: name##_l, long long: name##_ll, float: name##_f, double: name##_d, long double: name##_ld, unsigned int: name##_u, unsigned long: name##_ul, unsigned long long: name##_ull)
#define max(x, y) FLYNN_PICK(flynn_max, (x) + (y))(x, y)
#define min(x, y) FLYNN_PICK(flynn_min, (x) + (y))(x, y)
