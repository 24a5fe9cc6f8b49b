/* SPDX-License-Identifier: MIT
 * NVRTC reads no header. By <sys/types.h> nvcc has short names of integers, and by <cmath> the functions of math.h for
 * integers, in double. hiprtc has them. */
#if defined(__CUDACC_RTC__)
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
template <typename T> struct flynn_integer;
#define FLYNN_INTEGER(type) template <> struct flynn_integer<type> { typedef double real; };
FLYNN_INTEGER(bool) FLYNN_INTEGER(char) FLYNN_INTEGER(signed char) FLYNN_INTEGER(unsigned char) FLYNN_INTEGER(short)
FLYNN_INTEGER(unsigned short) FLYNN_INTEGER(int) FLYNN_INTEGER(unsigned) FLYNN_INTEGER(long)
FLYNN_INTEGER(unsigned long) FLYNN_INTEGER(long long) FLYNN_INTEGER(unsigned long long)
#define FLYNN_OF_ONE(name) \
    template <typename T> __device__ inline typename flynn_integer<T>::real name(T x) { return name((double)x); }
#define FLYNN_OF_TWO(name) \
    template <typename T, typename U> __device__ inline double name(T x, U y) { return name((double)x, (double)y); }
#define FLYNN_TO(name, R) \
    template <typename T, typename = typename flynn_integer<T>::real> __device__ inline R name(T x) \
    { return name((double)x); }
FLYNN_MATH_OF_ONE(FLYNN_OF_ONE) FLYNN_OF_ONE(rsqrt) FLYNN_MATH_OF_TWO(FLYNN_OF_TWO) FLYNN_MATH_TO(FLYNN_TO)
#endif
