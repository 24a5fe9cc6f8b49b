/* SPDX-License-Identifier: MIT
 * NVRTC reads no <cmath>, by which nvcc has the functions of math.h for integers, in double. hiprtc has them. */
#if defined(__CUDACC_RTC__)
template <typename T> struct flynn_integer;
#define FLYNN_INTEGER(type) template <> struct flynn_integer<type> { typedef double real; };
FLYNN_INTEGER(bool) FLYNN_INTEGER(char) FLYNN_INTEGER(signed char) FLYNN_INTEGER(unsigned char) FLYNN_INTEGER(short)
FLYNN_INTEGER(unsigned short) FLYNN_INTEGER(int) FLYNN_INTEGER(unsigned) FLYNN_INTEGER(long)
FLYNN_INTEGER(unsigned long) FLYNN_INTEGER(long long) FLYNN_INTEGER(unsigned long long)
#define FLYNN_OF_ONE(name) \
    template <typename T> __device__ inline typename flynn_integer<T>::real name(T x) { return name((double)x); }
#define FLYNN_OF_TWO(name) \
    template <typename T, typename U> __device__ inline double name(T x, U y) { return name((double)x, (double)y); }
FLYNN_OF_ONE(acos) FLYNN_OF_ONE(acosh) FLYNN_OF_ONE(asin) FLYNN_OF_ONE(asinh) FLYNN_OF_ONE(atan) FLYNN_OF_ONE(atanh)
FLYNN_OF_ONE(cbrt) FLYNN_OF_ONE(ceil) FLYNN_OF_ONE(cos) FLYNN_OF_ONE(cosh) FLYNN_OF_ONE(erf) FLYNN_OF_ONE(erfc)
FLYNN_OF_ONE(exp) FLYNN_OF_ONE(exp2) FLYNN_OF_ONE(expm1) FLYNN_OF_ONE(fabs) FLYNN_OF_ONE(floor) FLYNN_OF_ONE(lgamma)
FLYNN_OF_ONE(log) FLYNN_OF_ONE(log10) FLYNN_OF_ONE(log1p) FLYNN_OF_ONE(log2) FLYNN_OF_ONE(rint) FLYNN_OF_ONE(round)
FLYNN_OF_ONE(rsqrt) FLYNN_OF_ONE(sin) FLYNN_OF_ONE(sinh) FLYNN_OF_ONE(sqrt) FLYNN_OF_ONE(tan) FLYNN_OF_ONE(tanh)
FLYNN_OF_ONE(tgamma) FLYNN_OF_ONE(trunc)
FLYNN_OF_TWO(atan2) FLYNN_OF_TWO(copysign) FLYNN_OF_TWO(fdim) FLYNN_OF_TWO(fmax) FLYNN_OF_TWO(fmin) FLYNN_OF_TWO(fmod)
FLYNN_OF_TWO(hypot) FLYNN_OF_TWO(nextafter) FLYNN_OF_TWO(pow) FLYNN_OF_TWO(remainder)
#endif
