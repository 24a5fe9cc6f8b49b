/* SPDX-License-Identifier: MIT
 *
 * elementwise_typed.h - the loops of elementwise.c for one type. Included once for each, with
 *     T         the type: float, double, int32_t, int64_t
 *     FN(name)  the name of a function for that type: name_f32_v3
 * and for the floating types
 *     SQRT, LOG the functions of libm for it: sqrtf, logf
 *     wide      the type that `reference` takes the logarithm in: double, long double
 *     WIDE_SQRT, WIDE_LOG
 *               what `reference` takes
 * or for integers
 *     WRAPPING  the type in which adding wraps around: uint32_t
 */

static inline T FN(increment)(T x, T y)
{
    (void)y;
#ifdef WRAPPING
    return (T)((WRAPPING)x + 1);
#else
    return x + 1;
#endif
}

/* NaN is the number that differs from itself. The first line is one instruction, which gives y where either is NaN; no
 * branch depends on which is larger, which would be guessed wrong half of the time. */
static inline T FN(maximum)(T x, T y)
{
    const T larger = x > y ? x : y;

#ifdef WRAPPING
    return larger;
#else
    return x != x ? x : larger;
#endif
}

#ifndef WRAPPING
static inline T FN(sqrt)(T x, T y)
{
    (void)y;
    return SQRT(x);
}

static inline T FN(log_of_sum)(T x, T y)
{
    return LOG(x + y);
}
#endif

/* Each operation's two loops: over neighbours, which vectors take many at a time; and over elements that lie `step`
 * apart, each of which costs a cache line of its own. `out` may be an input: an element depends on no other. */
#define LOOPS(operation) \
    KERNEL void FN(operation##_row)(char *const *at, int64_t count) \
    { \
        const T *x = (const T *)at[X], *y = (const T *)at[Y]; \
        T *out = (T *)at[OUT]; \
        _Pragma("omp simd") for (int64_t i = 0; i < count; i++) out[i] = FN(operation)(x[i], y[i]); \
    } \
    KERNEL void FN(operation##_column)(char *const *at, const int64_t *step, int64_t count) \
    { \
        const T *x = (const T *)at[X], *y = (const T *)at[Y]; \
        T *out = (T *)at[OUT]; \
        for (int64_t i = 0; i < count; i++) \
            out[i * step[OUT]] = FN(operation)(x[i * step[X]], y[i * step[Y]]); \
    }

LOOPS(increment)
LOOPS(maximum)
#ifndef WRAPPING
LOOPS(sqrt)
LOOPS(log_of_sum)
#endif
#undef LOOPS

#ifdef CPU_REFERENCE
/* One element after the other, as the definition has it. The square root of f32 is rounded twice, which is harmless
 * (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30, 1995); that of f64 is IEEE 754's own,
 * correctly rounded. */
static void FN(reference)(fl_operation operation, char *const *at, const int64_t *step, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const T x = ((const T *)at[X])[i * step[X]], y = ((const T *)at[Y])[i * step[Y]];
        T *out = (T *)at[OUT] + i * step[OUT];
        switch ((int)operation) {
        case FL_OP_INCREMENT: *out = FN(increment)(x, y); break;
        case FL_OP_MAXIMUM:
            if (!(x < y) && !(x >= y)) /* NaN */
                *out = x + y;
            else
                *out = x < y ? y : x;
            break;
#ifndef WRAPPING
        case FL_OP_SQRT: *out = (T)WIDE_SQRT(x); break;
        case FL_OP_LOG_OF_SUM: *out = (T)WIDE_LOG((wide)(T)(x + y)); break;
#endif
        default: break;
        }
    }
}
#endif
