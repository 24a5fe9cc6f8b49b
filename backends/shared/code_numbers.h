/* SPDX-License-Identifier: MIT
 * The names that a user's text has without #include on every backend: integer types, limits, constants of math.h. The
 * preludes after this define the functions of math.h from its lists of them. */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t, intptr_t, ptrdiff_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t, uintptr_t, size_t;
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1)
#define CHAR_BIT 8
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT32_MAX INT_MAX
#define INT32_MIN INT_MIN
#define UINT32_MAX UINT_MAX
#define INT64_MAX LONG_MAX
#define INT64_MIN LONG_MIN
#define UINT64_MAX 18446744073709551615ul
#define ULLONG_MAX 18446744073709551615ull
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1)
#define FLT_MAX 3.40282346638528859812e+38F
#define FLT_MIN 1.17549435082228750797e-38F
#define FLT_EPSILON 1.19209289550781250000e-7F
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_EPSILON 2.22044604925031308085e-16
#undef NULL
#if defined(__cplusplus)
#define NULL nullptr
#else
#define NULL ((void *)0)
#endif
#undef INFINITY
#undef NAN
#undef HUGE_VAL
#undef HUGE_VALF
#if defined(__CUDACC_RTC__)
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000)
#else
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_inf()
#endif
#define HUGE_VALF INFINITY
#define CUDART_INF_F INFINITY
#define CUDART_INF HUGE_VAL
#define CUDART_NAN_F NAN
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
/* The functions of math.h: F(name) for each. sin is of a real and of double; sinf, of float, exists too. */
#define FLYNN_MATH_OF_ONE(F) \
    F(acos) F(acosh) F(asin) F(asinh) F(atan) F(atanh) F(cbrt) F(ceil) F(cos) F(cosh) F(erf) F(erfc) F(exp) F(exp2) \
    F(expm1) F(fabs) F(floor) F(lgamma) F(log) F(log10) F(log1p) F(log2) F(logb) F(nearbyint) F(rint) F(round) \
    F(sin) F(sinh) F(sqrt) F(tan) F(tanh) F(tgamma) F(trunc)
#define FLYNN_MATH_OF_TWO(F) \
    F(atan2) F(copysign) F(fdim) F(fmax) F(fmin) F(fmod) F(hypot) F(nextafter) F(pow) F(remainder)
#define FLYNN_MATH_TO(F) \
    F(ilogb, int) F(llrint, long long) F(llround, long long) F(lrint, long) F(lround, long)
