/* SPDX-License-Identifier: MIT
 *
 * reduce_operations.h - what `reduce` computes of elements: sums, extremes and their places. An operation has the types
 * `element`, `state` (of some elements) and `result`; `running`, which a thread adds elements to one after the other;
 * and `join`, which puts two states together.
 */
#ifndef FLYNN_HIP_REDUCE_OPERATIONS_H
#define FLYNN_HIP_REDUCE_OPERATIONS_H

#include "gpu/gpu.h"

#include <type_traits>

/* The sum of count (a power of two) values, in pairs. By recursion: a compiler that does not unroll a loop over `count`
 * keeps the values in memory. */
template <int count, typename T>
__device__ inline T sum_in_pairs(T *values)
{
    if constexpr (count == 1) {
        return values[0];
    } else {
        GPU_UNROLL
        for (int i = 0; i < count / 2; i++)
            values[i] += values[i + count / 2];
        return sum_in_pairs<count / 2>(values);
    }
}

/* Sums of elements, or, where y is not NULL, of products. Few: holds the sum of a few products exactly, or is Sum. Of
 * integers both are unsigned, and wrap. */
template <typename T, typename Few, typename Sum>
struct sum_operation {
    using element = T;
    using state = Sum;
    using result = Sum;

    const T *x, *y;

    /* A thread's sum so far. */
    struct running {
        Sum all, few;
        int added; /* to `few` */

        __device__ void add(const sum_operation &, Sum value)
        {
            few += value;
            if (++added == 16) {
                all += few;
                few = 0;
                added = 0;
            }
        }
        __device__ Sum so_far() const
        {
            return all + few;
        }
    };

    __device__ running start(int64_t) const
    {
        return {0, 0, 0};
    }
    __device__ Few value(int64_t at) const
    {
        return y ? (Few)((Few)x[at] * (Few)y[at]) : (Few)x[at];
    }
    /* The state of one element, given with its index along the axis. */
    __device__ Sum state_of(int64_t at, int64_t) const
    {
        return (Sum)value(at);
    }
    __device__ void add(running &r, int64_t at, int64_t) const
    {
        r.add(*this, (Sum)value(at));
    }
    /* Vectors' elements from a and b, which is not read where y is NULL; `index` is the first one's along the axis, the
     * next vector's is `step` higher. */
    template <int vectors, int width>
    __device__ void add(running &r, const T (&a)[vectors][width], const T (&b)[vectors][width], int64_t, int64_t) const
    {
        Few sums[vectors];
        GPU_UNROLL
        for (int v = 0; v < vectors; v++) {
            Few values[width];
            GPU_UNROLL
            for (int i = 0; i < width; i++)
                values[i] = y ? (Few)((Few)a[v][i] * (Few)b[v][i]) : (Few)a[v][i];
            sums[v] = sum_in_pairs<width>(values);
        }
        r.add(*this, (Sum)sum_in_pairs<vectors>(sums));
    }
    __device__ Sum join(Sum a, Sum b) const
    {
        return a + b;
    }
    __device__ static Sum of(Sum sum)
    {
        return sum;
    }
};

/* Returns whether b takes the place of a; b need not come later. */
template <typename T>
__device__ inline bool beats(T b, T a, bool most)
{
    return a == a && (b != b || (most ? b > a : b < a));
}

/* A thread's state of an operation that looks for the best element. */
template <typename Operation>
struct best_so_far {
    using state = typename Operation::state;
    state best;

    __device__ void add(const Operation &o, const state &value)
    {
        best = o.join(best, value);
    }
    __device__ state so_far() const
    {
        return best;
    }
};

/* The least or largest element; `running` begins with the first one, which may be taken several times. */
template <typename T>
struct value_operation {
    using element = T;
    using result = T;
    struct state {
        T best;
    };

    const T *x, *y; /* y: NULL */
    bool most;

    using running = best_so_far<value_operation>;

    __device__ state state_of(int64_t at, int64_t) const
    {
        return {x[at]};
    }
    __device__ running start(int64_t at) const
    {
        return {{x[at]}};
    }
    __device__ void add(running &r, int64_t at, int64_t) const
    {
        if (beats(x[at], r.best.best, most))
            r.best.best = x[at];
    }
    template <int vectors, int width>
    __device__ void add(running &r, const T (&a)[vectors][width], const T (&)[vectors][width], int64_t, int64_t) const
    {
        GPU_UNROLL
        for (int v = 0; v < vectors; v++)
            GPU_UNROLL
        for (int i = 0; i < width; i++)
            if (beats(a[v][i], r.best.best, most))
                r.best.best = a[v][i];
    }
    __device__ state join(const state &a, const state &b) const
    {
        return beats(b.best, a.best, most) ? b : a;
    }
    __device__ static T of(const state &s)
    {
        return s.best;
    }
};

/* The index of the first such element. */
template <typename T>
struct place_operation {
    using element = T;
    using result = int64_t;
    /* A byte would leave bytes of the state unused, which the compiler copies one by one, in memory. */
    using kept = std::conditional_t<sizeof(T) == 1, int32_t, T>;
    struct state {
        int64_t at;
        kept best;
    };

    const T *x, *y; /* y: NULL */
    bool most;

    using running = best_so_far<place_operation>;

    __device__ state state_of(int64_t at, int64_t index) const
    {
        return {index, x[at]};
    }
    __device__ running start(int64_t at) const
    {
        return {{0, x[at]}};
    }
    /* A thread takes elements in the order of their indices. */
    __device__ void take(running &r, kept value, int64_t index) const
    {
        if (beats(value, r.best.best, most)) {
            r.best.best = value;
            r.best.at = index;
        }
    }
    __device__ void add(running &r, int64_t at, int64_t index) const
    {
        take(r, x[at], index);
    }
    template <int vectors, int width>
    __device__ void add(running &r, const T (&a)[vectors][width], const T (&)[vectors][width], int64_t index,
                        int64_t step) const
    {
        GPU_UNROLL
        for (int v = 0; v < vectors; v++)
            GPU_UNROLL
        for (int i = 0; i < width; i++)
            take(r, a[v][i], index + v * step + i);
    }
    /* By members: of a choice between two structs the compiler makes one between their addresses, in memory. */
    __device__ state join(state a, state b) const
    {
        const bool better = beats(b.best, a.best, most), worse = beats(a.best, b.best, most);
        const bool second = better || (!worse && b.at < a.at);
        return {second ? b.at : a.at, second ? b.best : a.best};
    }
    __device__ static int64_t of(const state &s)
    {
        return s.at;
    }
};

#endif
