/* SPDX-License-Identifier: MIT
 * What a function of the user's sees before its own text on a GPU, behind code_numbers.h: the functions of math.h
 * by C's rule: float's function if the sum of the arguments is a float, else double's. They are macros, so that the
 * compilers' own overloads, which differ where an argument is an integer, are not asked. */
#if defined(__CUDACC_RTC__) || defined(__clang__)
#define GPU_UNROLL _Pragma("unroll")
#else
#define GPU_UNROLL _Pragma("GCC unroll 16")
#endif
#define FL_MAX_DIMS 4
#define restrict __restrict__
#define _Bool bool
#define FLYNN_FUNCTION __device__ inline
template <typename T> struct flynn_real { typedef double type; };
template <> struct flynn_real<float> { typedef float type; };
#define FLYNN_REAL_OF(sum) typename flynn_real<decltype(sum)>::type
#define FLYNN_CALL1(name) \
    FLYNN_FUNCTION float flynn_call_##name(float x) { return name##f(x); } \
    FLYNN_FUNCTION double flynn_call_##name(double x) { return name(x); } \
    template <typename T> FLYNN_FUNCTION FLYNN_REAL_OF(T()) flynn_##name(T x) \
    { return flynn_call_##name((FLYNN_REAL_OF(T()))x); }
#define FLYNN_CALL2(name) \
    FLYNN_FUNCTION float flynn_call_##name(float x, float y) { return name##f(x, y); } \
    FLYNN_FUNCTION double flynn_call_##name(double x, double y) { return name(x, y); } \
    template <typename T, typename U> FLYNN_FUNCTION FLYNN_REAL_OF(T() + U()) flynn_##name(T x, U y) \
    { return flynn_call_##name((FLYNN_REAL_OF(T() + U()))x, (FLYNN_REAL_OF(T() + U()))y); }
#define FLYNN_CALL_TO(name, R) \
    FLYNN_FUNCTION R flynn_call_##name(float x) { return name##f(x); } \
    FLYNN_FUNCTION R flynn_call_##name(double x) { return name(x); } \
    template <typename T> FLYNN_FUNCTION R flynn_##name(T x) { return flynn_call_##name((FLYNN_REAL_OF(T()))x); }
FLYNN_CALL1(sin) FLYNN_CALL1(cos) FLYNN_CALL1(exp) FLYNN_CALL1(log) FLYNN_CALL1(acos) FLYNN_CALL1(asin)
FLYNN_CALL1(atan) FLYNN_CALL1(tan) FLYNN_CALL1(acosh) FLYNN_CALL1(asinh) FLYNN_CALL1(atanh) FLYNN_CALL1(cosh)
FLYNN_CALL1(sinh) FLYNN_CALL1(tanh) FLYNN_CALL1(cbrt) FLYNN_CALL1(erf) FLYNN_CALL1(erfc) FLYNN_CALL1(exp2)
FLYNN_CALL1(expm1) FLYNN_CALL1(log10) FLYNN_CALL1(log1p) FLYNN_CALL1(log2) FLYNN_CALL1(sqrt) FLYNN_CALL1(fabs)
FLYNN_CALL1(floor) FLYNN_CALL1(ceil) FLYNN_CALL1(trunc) FLYNN_CALL1(round) FLYNN_CALL1(rint) FLYNN_CALL1(nearbyint)
FLYNN_CALL1(tgamma) FLYNN_CALL1(lgamma) FLYNN_CALL1(logb) FLYNN_CALL2(pow) FLYNN_CALL2(atan2) FLYNN_CALL2(hypot)
FLYNN_CALL2(fmod) FLYNN_CALL2(remainder) FLYNN_CALL2(fmax) FLYNN_CALL2(fmin) FLYNN_CALL2(fdim) FLYNN_CALL2(copysign)
FLYNN_CALL2(nextafter) FLYNN_CALL_TO(ilogb, int) FLYNN_CALL_TO(lrint, long) FLYNN_CALL_TO(lround, long)
FLYNN_CALL_TO(llrint, long long) FLYNN_CALL_TO(llround, long long)
template <typename T, typename U, typename V> FLYNN_FUNCTION FLYNN_REAL_OF(T() + U() + V()) flynn_fma(T x, U y, V z)
{
    typedef FLYNN_REAL_OF(T() + U() + V()) R;
    return sizeof(R) == sizeof(float) ? (R)fmaf((float)x, (float)y, (float)z) : (R)fma((double)x, (double)y, (double)z);
}
FLYNN_FUNCTION float flynn_call_ldexp(float x, int n) { return ldexpf(x, n); }
FLYNN_FUNCTION double flynn_call_ldexp(double x, int n) { return ldexp(x, n); }
template <typename T> FLYNN_FUNCTION FLYNN_REAL_OF(T()) flynn_ldexp(T x, int n)
{
    return flynn_call_ldexp((FLYNN_REAL_OF(T()))x, n);
}
template <typename T> FLYNN_FUNCTION int flynn_isnan(T x) { return x != x; }
template <typename T> FLYNN_FUNCTION int flynn_isinf(T x) { return fabs((double)x) == (double)HUGE_VAL; }
template <typename T> FLYNN_FUNCTION int flynn_isfinite(T x) { return fabs((double)x) < (double)HUGE_VAL; }
template <typename T> FLYNN_FUNCTION int flynn_signbit(T x) { return copysign(1.0, (double)x) < 0; }
FLYNN_FUNCTION float flynn_abs(float x) { return fabsf(x); }
FLYNN_FUNCTION double flynn_abs(double x) { return fabs(x); }
FLYNN_FUNCTION long flynn_abs(long x) { return x < 0 ? (long)-(unsigned long)x : x; }
template <typename T> FLYNN_FUNCTION int flynn_abs(T x) { return (int)x < 0 ? (int)-(unsigned)x : (int)x; }
template <typename T, typename U> FLYNN_FUNCTION decltype(T() + U()) flynn_max(T a, U b)
{
    const decltype(T() + U()) x = a, y = b, larger = x > y ? x : y;
    return x != x ? x : larger;
}
template <typename T, typename U> FLYNN_FUNCTION decltype(T() + U()) flynn_min(T a, U b)
{
    const decltype(T() + U()) x = a, y = b, smaller = x < y ? x : y;
    return x != x ? x : smaller;
}
#define sin(x) flynn_sin(x)
#define cos(x) flynn_cos(x)
#define exp(x) flynn_exp(x)
#define log(x) flynn_log(x)
#define acos(x) flynn_acos(x)
#define asin(x) flynn_asin(x)
#define atan(x) flynn_atan(x)
#define tan(x) flynn_tan(x)
#define acosh(x) flynn_acosh(x)
#define asinh(x) flynn_asinh(x)
#define atanh(x) flynn_atanh(x)
#define cosh(x) flynn_cosh(x)
#define sinh(x) flynn_sinh(x)
#define tanh(x) flynn_tanh(x)
#define cbrt(x) flynn_cbrt(x)
#define erf(x) flynn_erf(x)
#define erfc(x) flynn_erfc(x)
#define exp2(x) flynn_exp2(x)
#define expm1(x) flynn_expm1(x)
#define log10(x) flynn_log10(x)
#define log1p(x) flynn_log1p(x)
#define log2(x) flynn_log2(x)
#define sqrt(x) flynn_sqrt(x)
#define fabs(x) flynn_fabs(x)
#define floor(x) flynn_floor(x)
#define ceil(x) flynn_ceil(x)
#define trunc(x) flynn_trunc(x)
#define round(x) flynn_round(x)
#define rint(x) flynn_rint(x)
#define nearbyint(x) flynn_nearbyint(x)
#define tgamma(x) flynn_tgamma(x)
#define lgamma(x) flynn_lgamma(x)
#define logb(x) flynn_logb(x)
#define ilogb(x) flynn_ilogb(x)
#define lrint(x) flynn_lrint(x)
#define lround(x) flynn_lround(x)
#define llrint(x) flynn_llrint(x)
#define llround(x) flynn_llround(x)
#undef isnan
#define isnan(x) flynn_isnan(x)
#undef isinf
#define isinf(x) flynn_isinf(x)
#undef isfinite
#define isfinite(x) flynn_isfinite(x)
#undef signbit
#define signbit(x) flynn_signbit(x)
#define abs(x) flynn_abs(x)
#define pow(x, y) flynn_pow(x, y)
#define atan2(x, y) flynn_atan2(x, y)
#define hypot(x, y) flynn_hypot(x, y)
#define fmod(x, y) flynn_fmod(x, y)
#define remainder(x, y) flynn_remainder(x, y)
#define fmax(x, y) flynn_fmax(x, y)
#define fmin(x, y) flynn_fmin(x, y)
#define fdim(x, y) flynn_fdim(x, y)
#define copysign(x, y) flynn_copysign(x, y)
#define nextafter(x, y) flynn_nextafter(x, y)
#define max(x, y) flynn_max(x, y)
#define min(x, y) flynn_min(x, y)
#define ldexp(x, n) flynn_ldexp(x, n)
#define fma(x, y, z) flynn_fma(x, y, z)
