/* SPDX-License-Identifier: MIT
 *
 * fft_lines.h - FFTs of lines of 64, 128, 256 or 512 complex numbers within a block: G threads transform a line of E G
 * numbers, each holding E of them in registers.
 *
 * Thread t holds the numbers x[t + G j]. With k = k1 + E k2,
 *     X[k] = sum over t of w(t k) z[t, k1],    z[t, k1] = sum over j of x[t + G j] exp(-2 pi i j k1 / E),
 * where w(t k) = exp(-2 pi i t k1 / N) exp(-2 pi i t k2 / G): the sums over j are within a thread, those over t too
 * once the threads have exchanged z in shared memory (Cooley and Tukey, "An Algorithm for the Machine Calculation of
 * Complex Fourier Series", 1965). Thread u then has X[u + G m]: numbers lie alike before and after. The inverse goes
 * back.
 */
#ifndef FLYNN_HIP_FFT_LINES_H
#define FLYNN_HIP_FFT_LINES_H

#include "gpu/gpu_registers.h"

#include <utility>

template <typename W>
struct alignas(2 * sizeof(W)) fft_complex {
    W re, im;
};

template <typename W>
__device__ inline fft_complex<W> operator+(const fft_complex<W> &a, const fft_complex<W> &b)
{
    return {a.re + b.re, a.im + b.im};
}

template <typename W>
__device__ inline fft_complex<W> operator-(const fft_complex<W> &a, const fft_complex<W> &b)
{
    return {a.re - b.re, a.im - b.im};
}

template <typename W>
__device__ inline fft_complex<W> operator*(const fft_complex<W> &a, const fft_complex<W> &b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* ----------------------------------------------------------------------------------------------------- roots ---- */

constexpr int fft_circle = 1024; /* the whole angle */

/* cos(2 pi k / circle), by Taylor's series of an angle of at most pi / 4. `circle`: a power of two, at least 8. */
__host__ __device__ constexpr double fft_cosine(int k, int circle = fft_circle)
{
    k = k % circle < 0 ? k % circle + circle : k % circle;
    k = k > circle / 2 ? circle - k : k;
    const bool minus = k > circle / 4;
    k = minus ? circle / 2 - k : k;
    const bool sine = k > circle / 8; /* of the angle that is left to a quarter of the circle */
    const double x = (sine ? circle / 4 - k : k) * (3.14159265358979323846 / (circle / 2));
    double sum = 1;
    for (int n = 20; n > 0; n -= 2)
        sum = 1 - x * x / (sine ? n * (n + 1) : n * (n - 1)) * sum;
    sum = sine ? x * sum : sum;
    return minus ? -sum : sum;
}

/* exp(-2 pi i k / fft_circle), the conjugate for an inverse transform, times a. */
template <bool inverse, int k, typename W>
__device__ inline fft_complex<W> fft_turn(const fft_complex<W> &a)
{
    constexpr int eighths = k % fft_circle * 8 / fft_circle, rest = k % (fft_circle / 8);
    constexpr W c = (W)fft_cosine(k),
                s = (W)(inverse ? fft_cosine(k - fft_circle / 4) : -fft_cosine(k - fft_circle / 4));
    if constexpr (rest == 0 && eighths == 0)
        return a;
    else if constexpr (rest == 0 && eighths == 2)
        return inverse ? fft_complex<W>{-a.im, a.re} : fft_complex<W>{a.im, -a.re};
    else if constexpr (rest == 0 && eighths % 2 == 1)
        return {(s * c > 0 ? a.re - a.im : a.re + a.im) * c, (s * c > 0 ? a.re + a.im : a.im - a.re) * c};
    else
        return {a.re * c - a.im * s, a.im * c + a.re * s};
}

/* The roots by which the G threads of a line multiply what they exchange: exp(-2 pi i t (k1 + shift / 2) / (E G)) at
 * t E + k1. The inverse has a table of its own, of the conjugates: with one table the compiler would keep the roots in
 * registers between a transform and its inverse. */
template <typename W, int N>
struct fft_table {
    fft_complex<W> root[N];
};

template <bool inverse, int shift, typename W, int E, int G>
__host__ __device__ constexpr fft_table<W, E * G> make_fft_table()
{
    fft_table<W, E *G> table = {};
    for (int t = 0; t < G; t++)
        for (int k = 0; k < E; k++) {
            const int angle = t * (2 * k + shift) * (fft_circle / 2 / (E * G));
            const double sine = fft_cosine(angle - fft_circle / 4);
            table.root[t * E + k] = {(W)fft_cosine(angle), (W)(inverse ? sine : -sine)};
        }
    return table;
}

template <bool inverse, int shift, typename W, int E, int G>
__device__ inline const fft_complex<W> *fft_roots()
{
    static constexpr fft_table<W, E *G> table = make_fft_table<inverse, shift, W, E, G>();
    return table.root;
}

/* The roots of make_fft_table, that of t and k1 at k1 G + t: neighbouring threads load neighbours. For lines that have
 * more threads than a thread has numbers. */
template <bool inverse, int shift, typename W, int E, int G>
__host__ __device__ constexpr fft_table<W, E * G> make_fft_step_table()
{
    const fft_table<W, E *G> by_t = make_fft_table<inverse, shift, W, E, G>();
    fft_table<W, E *G> table = {};
    for (int t = 0; t < G; t++)
        for (int k = 0; k < E; k++)
            table.root[k * G + t] = by_t.root[t * E + k];
    return table;
}

template <bool inverse, int shift, typename W, int E, int G>
__device__ inline const fft_complex<W> *fft_step_roots()
{
    static constexpr fft_table<W, E *G> table = make_fft_step_table<inverse, shift, W, E, G>();
    return table.root;
}

/* --------------------------------------------------------------------------------------------- within a thread ---- */

template <bool inverse, int E, int... i, typename W>
__device__ inline void fft_turn_products(fft_complex<W> *v, std::integer_sequence<int, i...>)
{
    ((v[i] = fft_turn<inverse, i / (E / 4) * (i % (E / 4)) * (fft_circle / E)>(v[i])), ...);
}

template <bool inverse, int E, int... j, typename W>
__device__ inline void fft_turn_halves(fft_complex<W> *v, std::integer_sequence<int, j...>)
{
    ((v[j] = fft_turn<inverse, j *(fft_circle / 2 / E)>(v[j])), ...);
}

/* On AMD's GPUs what follows is not begun before v is complete: the values before need no registers then. */
template <int E, typename W>
__device__ inline void fft_forget([[maybe_unused]] fft_complex<W> *v)
{
    GPU_UNROLL
    for (int j = 0; j < E; j++) {
        gpu_forget(v[j].re);
        gpu_forget(v[j].im);
    }
}

/* A transform of E numbers: by fours, then E / 4 (2, 4 or 8) of each. */
template <bool inverse, int E, typename W>
__device__ inline void fft_registers(fft_complex<W> *v)
{
    if constexpr (E == 2) {
        const fft_complex<W> sum = v[0] + v[1];
        v[1] = v[0] - v[1];
        v[0] = sum;
    } else {
        constexpr int B = E / 4;
        GPU_UNROLL
        for (int b = 0; b < B; b++) {
            const fft_complex<W> sum0 = v[b] + v[2 * B + b], difference0 = v[b] - v[2 * B + b];
            const fft_complex<W> sum1 = v[B + b] + v[3 * B + b];
            const fft_complex<W> difference1 = fft_turn<inverse, fft_circle / 4>(v[B + b] - v[3 * B + b]);
            v[b] = sum0 + sum1;
            v[B + b] = difference0 + difference1;
            v[2 * B + b] = sum0 - sum1;
            v[3 * B + b] = difference0 - difference1;
        }
        if constexpr (B > 1) {
            fft_turn_products<inverse, E>(v, std::make_integer_sequence<int, E>());
            GPU_UNROLL
            for (int k = 0; k < 4; k++)
                fft_registers<inverse, B>(v + B * k);
            fft_complex<W> ordered[E];
            GPU_UNROLL
            for (int k = 0; k < E; k++)
                ordered[k] = v[B * (k % 4) + k / 4];
            GPU_UNROLL
            for (int k = 0; k < E; k++)
                v[k] = ordered[k];
        }
    }
}

/* ----------------------------------------------------------------------------------------------------- lines ---- */

/* Where in shared memory the numbers z[t, k1] of a line are. They are written in the order of k1 by all t at once, and
 * read in the order of t by all k1 at once. */
template <int E, int G>
struct fft_row_place { /* a line's threads are neighbours: what they access at once lies in different banks */
    int thread;

    __device__ int by_k1(int k1) const
    {
        return (k1 / G * G * G) + thread * G + (thread ^ k1 % G);
    }
    __device__ int by_t(int h, int t) const /* k1 = thread + G h */
    {
        return h * G * G + t * G + (t ^ thread);
    }
    __device__ int at(int k1, int t) const /* for fft_line_in_three */
    {
        return k1 * G + (t ^ k1);
    }
};

template <int E, int G, int lines>
struct fft_column_place { /* neighbours are threads of different lines */
    int thread, line;

    __device__ int by_k1(int k1) const
    {
        return (k1 * G + thread) * lines + line;
    }
    __device__ int by_t(int h, int t) const
    {
        return ((thread + G * h) * G + t) * lines + line;
    }
    __device__ int at(int k1, int t) const
    {
        return (k1 * G + t) * lines + line;
    }
};

/* fft_line of E E E numbers by E E threads, each of which holds few: more of them fit. With t = t0 + E t1 and
 * k = k1 + E k2 + E E k3 the sum over t is taken over t1, by the thread k1 + E t0, and then over t0, by k1 + E k2. Each
 * writes where it has read, so that a single barrier is between two steps. */
template <int E, int shift, typename W, typename Place>
__device__ inline void fft_line_in_three(fft_complex<W> *v, fft_complex<W> *shared, const Place &place)
{
    constexpr int G = E * E;
    const fft_complex<W> *const roots = fft_step_roots<false, shift, W, E, G>() + place.thread;
    const int low = place.thread % E, high = place.thread / E;
    if constexpr (shift != 0)
        fft_turn_halves<false, E>(v, std::make_integer_sequence<int, E>());
    fft_registers<false, E>(v);
    GPU_UNROLL
    for (int k = 0; k < E; k++)
        shared[place.at(k, place.thread)] = k == 0 && shift == 0 ? v[0] : v[k] * roots[k * G];
    __syncthreads();
    GPU_UNROLL
    for (int t1 = 0; t1 < E; t1++)
        v[t1] = shared[place.at(low, high + E * t1)];
    fft_registers<false, E>(v);
    const fft_complex<W> *const second = fft_step_roots<false, 0, W, E, E>() + high;
    GPU_UNROLL
    for (int k2 = 0; k2 < E; k2++)
        shared[place.at(low, high + E * k2)] = k2 == 0 ? v[0] : v[k2] * second[k2 * E];
    __syncthreads();
    GPU_UNROLL
    for (int t0 = 0; t0 < E; t0++)
        v[t0] = shared[place.at(low, t0 + E * high)];
    fft_registers<false, E>(v);
}

/* The inverse, times E E E, which first writes what fft_line_in_three read last. */
template <int E, int shift, typename W, typename Place>
__device__ inline void fft_line_back_in_three(fft_complex<W> *v, fft_complex<W> *shared, const Place &place)
{
    constexpr int G = E * E;
    const int low = place.thread % E, high = place.thread / E;
    fft_registers<true, E>(v);
    GPU_UNROLL
    for (int t0 = 0; t0 < E; t0++)
        shared[place.at(low, t0 + E * high)] = v[t0];
    __syncthreads();
    const fft_complex<W> *const second = fft_step_roots<true, 0, W, E, E>() + high;
    GPU_UNROLL
    for (int k2 = 0; k2 < E; k2++) {
        v[k2] = shared[place.at(low, high + E * k2)];
        v[k2] = k2 == 0 ? v[0] : v[k2] * second[k2 * E];
    }
    fft_registers<true, E>(v);
    GPU_UNROLL
    for (int t1 = 0; t1 < E; t1++)
        shared[place.at(low, high + E * t1)] = v[t1];
    __syncthreads();
    const fft_complex<W> *const roots = fft_step_roots<true, shift, W, E, G>() + place.thread;
    GPU_UNROLL
    for (int k = 0; k < E; k++) {
        v[k] = shared[place.at(k, place.thread)];
        v[k] = k == 0 && shift == 0 ? v[0] : v[k] * roots[k * G];
    }
    fft_registers<true, E>(v);
    fft_forget<E>(v);
    if constexpr (shift != 0)
        fft_turn_halves<true, E>(v, std::make_integer_sequence<int, E>());
}

/* Transforms a line whose thread `place.thread` calls this with its E numbers; all threads of the block call it. */
template <int E, int G, int shift, typename W, typename Place>
__device__ inline void fft_line(fft_complex<W> *v, fft_complex<W> *shared, const Place &place)
{
    if constexpr (G > E) {
        static_assert(G == E * E, "three steps of E");
        fft_line_in_three<E, shift>(v, shared, place);
        return;
    }
    const fft_complex<W> *roots = fft_roots<false, shift, W, E, G>() + place.thread;
    if constexpr (shift != 0)
        fft_turn_halves<false, E>(v, std::make_integer_sequence<int, E>());
    fft_registers<false, E>(v);
    GPU_UNROLL
    for (int k = 0; k < E; k++)
        shared[place.by_k1(k)] = v[k];
    __syncthreads();
    GPU_UNROLL
    for (int h = 0; h < E / G; h++) {
        gpu_forget(roots);
        fft_complex<W> z[G];
        GPU_UNROLL
        for (int t = 0; t < G; t++)
            z[t] = shared[place.by_t(h, t)];
        GPU_UNROLL
        for (int t = 1; t < G; t++)
            z[t] = z[t] * roots[t * E + G * h];
        fft_registers<false, G>(z);
        GPU_UNROLL
        for (int k = 0; k < G; k++)
            v[h + E / G * k] = z[k];
    }
}

/* The inverse, times E G. What a thread of fft_line read last, it writes first: no barrier is needed between. */
template <int E, int G, int shift, typename W, typename Place>
__device__ inline void fft_line_back(fft_complex<W> *v, fft_complex<W> *shared, const Place &place)
{
    if constexpr (G > E) {
        fft_line_back_in_three<E, shift>(v, shared, place);
        return;
    }
    const fft_complex<W> *roots = fft_roots<true, shift, W, E, G>() + place.thread;
    GPU_UNROLL
    for (int h = 0; h < E / G; h++) {
        gpu_forget(roots);
        fft_complex<W> z[G];
        GPU_UNROLL
        for (int k = 0; k < G; k++)
            z[k] = v[h + E / G * k];
        fft_registers<true, G>(z);
        GPU_UNROLL
        for (int t = 0; t < G; t++)
            shared[place.by_t(h, t)] = t == 0 ? z[0] : z[t] * roots[t * E + G * h];
    }
    __syncthreads();
    GPU_UNROLL
    for (int k = 0; k < E; k++)
        v[k] = shared[place.by_k1(k)];
    fft_registers<true, E>(v);
    fft_forget<E>(v);
    if constexpr (shift != 0)
        fft_turn_halves<true, E>(v, std::make_integer_sequence<int, E>());
}

#endif
