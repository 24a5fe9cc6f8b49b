/* SPDX-License-Identifier: MIT
 * The text before a user's function on a GPU, after code_numbers.h: the functions of math.h by C's rule: float's
 * function if the sum of the arguments is a float, else double's. They are macros, so that the compilers' own
 * overloads, which differ where an argument is an integer, are not asked. */
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
FLYNN_MATH_OF_ONE(FLYNN_CALL1) FLYNN_MATH_OF_TWO(FLYNN_CALL2) FLYNN_MATH_TO(FLYNN_CALL_TO)
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
FLYNN_FUNCTION long double flynn_abs(long double x) { return x < 0 ? -x : x + 0; }
/* NVIDIA's compilers take the abs that they recognize for never negative: an empty instruction hides a negation. */
#if defined(__CUDACC_RTC__)
#define FLYNN_HIDDEN(T, kind) FLYNN_FUNCTION T flynn_hidden(T x) { asm volatile("" : "+" kind(x)); return x; }
FLYNN_HIDDEN(int, "r") FLYNN_HIDDEN(unsigned, "r") FLYNN_HIDDEN(long, "l") FLYNN_HIDDEN(unsigned long, "l")
FLYNN_HIDDEN(long long, "l") FLYNN_HIDDEN(unsigned long long, "l")
#else
#define flynn_hidden(x) (x)
#endif
/* abs for every integer type. abs of the lowest number is that number, as on a processor. */
template <typename T> FLYNN_FUNCTION decltype(+T()) flynn_abs(T x)
{
    const decltype(+T()) negated = flynn_hidden((decltype(+T()))(0 - (unsigned long long)x));
    return x < T(0) ? negated : (decltype(+T()))x;
}
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
#define FLYNN_1(name, x) flynn_##name(x)
#define FLYNN_2(name, x, y) flynn_##name(x, y)
#undef isnan
#define isnan(x) flynn_isnan(x)
#undef isinf
#define isinf(x) flynn_isinf(x)
#undef isfinite
#define isfinite(x) flynn_isfinite(x)
#undef signbit
#define signbit(x) flynn_signbit(x)
#define abs(x) flynn_abs(x)
#define max(x, y) flynn_max(x, y)
#define min(x, y) flynn_min(x, y)
#define ldexp(x, n) flynn_ldexp(x, n)
#define fma(x, y, z) flynn_fma(x, y, z)
