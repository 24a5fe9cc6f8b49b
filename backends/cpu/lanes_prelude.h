/* SPDX-License-Identifier: MIT
 * What a function over lanes sees: vectors of V_LANES numbers, masks (0 or -1 in 4 bytes) and what is done with them,
 * by the vectors of gcc and clang. V_LANES fills a vector with the widest numbers of the function. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define V_INLINE static inline __attribute__((always_inline))
#define V_ALL ((1u << V_LANES) - 1)
#define V_VECTOR(name, T) typedef T v_##name __attribute__((vector_size(V_LANES * sizeof(T))));
V_VECTOR(i32, int) V_VECTOR(u32, unsigned int) V_VECTOR(i64, long) V_VECTOR(u64, unsigned long)
V_VECTOR(f32, float) V_VECTOR(f64, double)
typedef v_i32 v_mask;
#define v_none ((v_mask){0})
#define v_narrow(c) __builtin_convertvector(c, v_mask)
#define v_to_i32(x) __builtin_convertvector(x, v_i32)
#define v_to_u32(x) __builtin_convertvector(x, v_u32)
#define v_to_i64(x) __builtin_convertvector(x, v_i64)
#define v_to_u64(x) __builtin_convertvector(x, v_u64)
#define v_to_f32(x) __builtin_convertvector(x, v_f32)
#define v_to_f64(x) __builtin_convertvector(x, v_f64)
#define v_to_i8(x) (((x) << 24) >> 24)
#define v_to_i16(x) (((x) << 16) >> 16)
#define v_to_u8(x) ((x) & 255)
#define v_to_u16(x) ((x) & 65535)
/* One bit for each lane of a mask. */
V_INLINE unsigned v_bits(v_mask m)
{
#if defined(__AVX512DQ__) && V_LANES == 16
    return (unsigned)__builtin_ia32_cvtd2mask512(m);
#elif V_LANES == 8
    return (unsigned)__builtin_ia32_movmskps256((__attribute__((vector_size(32))) float)m);
#else
    return (unsigned)__builtin_ia32_movmskps((__attribute__((vector_size(16))) float)m);
#endif
}
V_INLINE bool v_any(v_mask m) { return v_bits(m) != 0; }
/* Returns whether the loop ends, because so few lanes are left that the others take elements: about half, as
 * measured. */
V_INLINE bool v_few(v_mask m, bool more)
{
    return __builtin_popcount(v_bits(m)) <= (!more ? 0 : V_LANES == 16 ? 10 : V_LANES / 2);
}
#define V_OF_FOUR(t, T) V_INLINE v_##t v_select_##t(v_mask m, v_##t a, v_##t b) { return (v_##t)((m & (v_i32)a) | (~m & (v_i32)b)); }
#define V_OF_EIGHT(t, T) V_INLINE v_##t v_select_##t(v_mask m, v_##t a, v_##t b) \
    { const v_i64 wide = v_to_i64(m); return (v_##t)((wide & (v_i64)a) | (~wide & (v_i64)b)); }
V_OF_FOUR(i32, int) V_OF_FOUR(u32, unsigned int) V_OF_FOUR(f32, float)
V_OF_EIGHT(i64, long) V_OF_EIGHT(u64, unsigned long) V_OF_EIGHT(f64, double)
/* x - 0 is x, -0, too. max and min keep NaN, as flynn_max_f. */
#define V_OF_ANY(t, T) V_INLINE v_##t v_set_##t(T x) { return x - (v_##t){0}; } \
    V_INLINE v_##t v_max_##t(v_##t x, v_##t y) { return v_select_##t(v_narrow((x > y) | (x != x)), x, y); } \
    V_INLINE v_##t v_min_##t(v_##t x, v_##t y) { return v_select_##t(v_narrow((x < y) | (x != x)), x, y); }
V_OF_ANY(i32, int) V_OF_ANY(u32, unsigned int) V_OF_ANY(i64, long) V_OF_ANY(u64, unsigned long)
V_OF_ANY(f32, float) V_OF_ANY(f64, double)
/* An integer's division: of 32 bits by that of f64, which is exact there; of 64 bits too where all numbers are below
 * 2^51. Where a lane of the mask divides by 0, or has no result, it is done lane by lane and fails as C's does. */
#define V_DIVIDE(t, T, TOO_LARGE, OVERFLOWS) \
    V_INLINE v_##t v_divide_##t(v_mask m, v_##t a, v_##t b) \
    { \
        typedef double v_quotient __attribute__((vector_size(V_LANES * 8))); \
        if (v_any(m & v_narrow((b == 0) | OVERFLOWS | TOO_LARGE))) { \
            v_##t by_lanes = a; \
            for (int l = 0; l < V_LANES; l++) \
                if (m[l]) \
                    by_lanes[l] = a[l] / b[l]; \
            return by_lanes; \
        } \
        return __builtin_convertvector(__builtin_convertvector(a, v_quotient) / __builtin_convertvector(b, v_quotient), v_##t); \
    } \
    V_INLINE v_##t v_remainder_##t(v_mask m, v_##t a, v_##t b) { return a - v_divide_##t(m, a, b) * b; }
V_DIVIDE(i32, int, 0, ((a == INT_MIN) & (b == -1)))
V_DIVIDE(u32, unsigned int, 0, 0)
V_DIVIDE(i64, long, ((a + (1L << 51) | b + (1L << 51)) >> 52 != 0), 0)
V_DIVIDE(u64, unsigned long, ((a | b) >> 51 != 0), 0)
/* A function of all lanes, which has an instruction. */
#define V_EACH(name, t, f) V_INLINE v_##t v_##name##_##t(v_##t a) { v_##t r; for (int l = 0; l < V_LANES; l++) r[l] = f(a[l]); return r; }
V_EACH(sqrt, f32, __builtin_sqrtf) V_EACH(floor, f32, __builtin_floorf) V_EACH(ceil, f32, __builtin_ceilf)
V_EACH(trunc, f32, __builtin_truncf) V_EACH(rint, f32, __builtin_rintf) V_EACH(nearbyint, f32, __builtin_nearbyintf)
V_EACH(sqrt, f64, __builtin_sqrt) V_EACH(floor, f64, __builtin_floor) V_EACH(ceil, f64, __builtin_ceil)
V_EACH(trunc, f64, __builtin_trunc) V_EACH(rint, f64, __builtin_rint) V_EACH(nearbyint, f64, __builtin_nearbyint)
#define V_REAL(t, i, SIGN, INFINITE) \
    V_INLINE v_##t v_fabs_##t(v_##t a) { return (v_##t)((v_##i)a & ~(v_##i){0} & ~v_set_##i(SIGN)); } \
    V_INLINE v_##t v_abs_##t(v_##t a) { return v_fabs_##t(a); } \
    V_INLINE v_mask v_isnan_##t(v_##t a) { return v_narrow(a != a); } \
    V_INLINE v_mask v_isinf_##t(v_##t a) { return v_narrow(v_fabs_##t(a) == INFINITE); } \
    V_INLINE v_mask v_isfinite_##t(v_##t a) { return v_narrow(v_fabs_##t(a) < INFINITE); } \
    V_INLINE v_mask v_signbit_##t(v_##t a) { return v_narrow((v_##i)a < 0); }
V_REAL(f32, i32, INT_MIN, INFINITY)
V_REAL(f64, i64, LONG_MIN, HUGE_VAL)
V_INLINE v_i32 v_abs_i32(v_i32 a) { return v_select_i32(a < 0, -a, a); }
V_INLINE v_i64 v_abs_i64(v_i64 a) { return v_select_i64(v_narrow(a < 0), -a, a); }
/* Which elements the lanes have: element[l] of those from `first` on. */
typedef struct v_work {
    long first, count, taken; /* taken: that lanes have or had */
    v_i32 element, rank;      /* rank: of a fresh lane among them */
    v_mask fresh;             /* has just taken an element */
    unsigned held;            /* lanes that have an element */
} v_work;
#if defined(__clang__)
#define V_SHUFFLES 0
#define v_shuffle(x, lanes) (x)
#else
#define V_SHUFFLES 1
#define v_shuffle(x, lanes) __builtin_shuffle(x, __builtin_choose_expr(sizeof (x)[0] == 8, v_to_i64(lanes), lanes))
#endif
#if V_LANES == 4
#define v_numbers ((v_i32){0, 1, 2, 3})
#elif V_LANES == 8
#define v_numbers ((v_i32){0, 1, 2, 3, 4, 5, 6, 7})
#else
#define v_numbers ((v_i32){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#endif
/* For each lane, how many lanes before it are in the mask: sums over 2, 4, 8 ... lanes. */
V_INLINE v_i32 v_rank(v_mask m)
{
    v_i32 sum = m & 1;
#if V_SHUFFLES
#define v_add_lane_before(by) sum += v_shuffle(sum, (v_numbers - by) & (V_LANES - 1)) & (v_numbers >= by)
    v_add_lane_before(1);
    v_add_lane_before(2);
    if (V_LANES > 4)
        v_add_lane_before(4);
    if (V_LANES > 8)
        v_add_lane_before(8);
#else
    for (int l = 1; l < V_LANES; l++)
        sum[l] += sum[l - 1];
#endif
    return sum - (m & 1);
}
/* The lanes that do not go on take the next elements, as long as there are any. false: no lane has an element. */
V_INLINE bool v_take(v_work *w, v_mask going)
{
    const long left = w->count - w->taken;
    v_mask fresh = ~going;
    v_i32 rank = v_rank(fresh);
    if (left < V_LANES)
        fresh &= rank < (int)left;
    w->rank = rank;
    w->fresh = fresh;
    w->element = v_select_i32(fresh, rank + (int)w->taken, w->element);
    w->taken += __builtin_popcount(v_bits(fresh));
    w->held = v_bits(going | fresh);
    return w->held != 0;
}
/* A parameter of the fresh lanes, from an array of T. */
#define v_load(w, to, kind, T, array, step) do { \
    const long begin = (w).taken - __builtin_popcount(v_bits((w).fresh)); \
    const T *from = (const T *)(array) + ((w).first + begin) * (step); \
    if (V_SHUFFLES && (step) == 1 && (w).count - begin >= V_LANES) { \
        T next __attribute__((vector_size(V_LANES * sizeof(T)))); \
        __builtin_memcpy(&next, from, sizeof next); \
        const v_##kind all = v_to_##kind(next); \
        to = v_select_##kind((w).fresh, v_shuffle(all, (w).rank), to); \
    } else { \
        for (unsigned lanes = v_bits((w).fresh); lanes; lanes &= lanes - 1) { \
            const int l = __builtin_ctz(lanes); \
            to[l] = from[(w).rank[l] * (step)]; \
        } \
    } \
} while (0)
/* The results of the lanes that do not go on. With all lanes at work those of the others are stored, too, without a
 * branch for each: they are not ready, and will be stored again. */
#define v_store(w, going, T, array, step, result) do { \
    T *to = (T *)(array) + (w).first * (step); \
    if ((w).held == V_ALL && (step) == 1) { \
        for (int l = 0; l < V_LANES; l++) \
            to[(w).element[l]] = result[l]; \
    } else { \
        for (unsigned lanes = (w).held & ~v_bits(going); lanes; lanes &= lanes - 1) { \
            const int l = __builtin_ctz(lanes); \
            to[(w).element[l] * (step)] = result[l]; \
        } \
    } \
} while (0)
