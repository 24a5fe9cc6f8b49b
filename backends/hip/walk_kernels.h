/* SPDX-License-Identifier: MIT
 *
 * walk_kernels.h - out = F(in...) element by element on a GPU: the positions of elements, and the kernels that map
 * threads to them. It is compiled into the plugin for elementwise.hip.cpp, and at run time with a user's function
 * (map.hip.cpp), where no headers exist. So it includes nothing; walk.hpp or map_prelude.h must come first.
 */
#ifndef FLYNN_HIP_WALK_KERNELS_H
#define FLYNN_HIP_WALK_KERNELS_H

namespace flynn_walk
{

/* -------------------------------------------------------------------------------------- where elements lie ---- */

/* The place of one element in each operand, the output last. */
template <int operands>
struct places {
    int64_t of[operands];
};

/* All arrays are packed: the index is the position. */
template <int operands>
struct packed {
    int64_t elements;

    __device__ places<operands> operator()(int64_t e) const
    {
        places<operands> at;
        GPU_UNROLL
        for (int k = 0; k < operands; k++)
            at.of[k] = e;
        return at;
    }
    static __device__ int64_t step(int)
    {
        return 1;
    }
};

/* Gaps between the rows of some dimensions: the position in each is found by division, which takes a GPU several times
 * as long in 64 bits as in 32. Innermost dimension first. A layout of fewer operands has the same first members. */
template <typename Index, int operands>
struct strided {
    int64_t elements;
    int dimensions;
    Index shape[FL_MAX_DIMS], stride[operands][FL_MAX_DIMS];

    /* The element whose position in the dimensions from `first` on is the e-th. */
    __device__ places<operands> from(int first, int64_t e) const
    {
        Index rest = (Index)e, in[operands] = {};
        for (int d = first; d < dimensions; d++) {
            const Index outer = d + 1 < dimensions ? rest / shape[d] : 0, at = rest - outer * shape[d];
            GPU_UNROLL
            for (int k = 0; k < operands; k++)
                in[k] += at * stride[k][d];
            rest = outer;
        }
        places<operands> found;
        GPU_UNROLL
        for (int k = 0; k < operands; k++)
            found.of[k] = (int64_t)in[k];
        return found;
    }
    __device__ places<operands> operator()(int64_t e) const
    {
        return from(0, e);
    }
    __device__ int64_t step(int operand) const
    {
        return (int64_t)stride[operand][0];
    }
};

/* --------------------------------------------------------------------------------------------- the operands ---- */

/* indices<0, 1, ... n - 1>, to expand a list of types with. */
template <int... k>
struct indices {
};

template <int n, int... k>
struct first_indices : first_indices<n - 1, n - 1, k...> {
};

template <int... k>
struct first_indices<0, k...> {
    using type = indices<k...>;
};

template <typename... T>
constexpr int largest_size()
{
    const int sizes[] = {(int)sizeof(T)...};
    int largest = 1;
    for (int i = 0; i < (int)sizeof...(T); i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    return largest;
}

/* Neighbours that one instruction loads or stores where their address is a multiple of their size. */
template <typename T, int count>
struct alignas(sizeof(T) * count) pack {
    T value[count];
};

/* `step` is 1, or 0: all `count` elements are the same one. */
template <int count, typename T>
__device__ inline pack<T, count> load_pack(const T *from, int64_t step)
{
    if (step == 1 && reinterpret_cast<uintptr_t>(from) % sizeof(pack<T, count>) == 0)
        return *reinterpret_cast<const pack<T, count> *>(from);
    pack<T, count> p;
    GPU_UNROLL
    for (int v = 0; v < count; v++)
        p.value[v] = from[v * step];
    return p;
}

/* out = F::of(in...). F::broadcasts: an input may have a step of 0 from one element of a row to the next. */
template <typename F, typename Out, typename... In>
struct arrays {
    static constexpr int inputs = sizeof...(In), operands = inputs + 1;
    static constexpr int pack_size = 16 / largest_size<Out, In...>();
    using every_input = typename first_indices<inputs>::type;

    const void *in[inputs];
    Out *out; /* may be an input */

    __device__ void compute(const places<operands> &at) const
    {
        compute(at, every_input());
    }

    template <int... k>
    __device__ void compute(const places<operands> &at, indices<k...>) const
    {
        out[at.of[inputs]] = F::of(static_cast<const In *>(in[k])[at.of[k]]...);
    }

    /* The pack of a row at `row` that starts with its element `first`, an aligned one in `out`. At the row's ends it
     * may hang over. */
    template <typename Layout>
    __device__ void compute_pack(const Layout &layout, const places<operands> &row, int64_t first, int64_t width) const
    {
        compute_pack(layout, row, first, width, every_input());
    }

    template <typename Layout, int... k>
    __device__ void compute_pack(const Layout &layout, const places<operands> &row, int64_t first, int64_t width,
                                 indices<k...>) const
    {
        if (first >= 0 && first + pack_size <= width) {
            store_pack(out + row.of[inputs] + first,
                       load_pack<pack_size>(static_cast<const In *>(in[k]) + row.of[k] + first * step(layout, k),
                                            step(layout, k))...);
            return;
        }
        for (int64_t i = first < 0 ? 0 : first; i < first + pack_size && i < width; i++)
            compute(places<operands>{{row.of[k] + i * step(layout, k)..., row.of[inputs] + i}});
    }

    template <typename... Packs>
    static __device__ void store_pack(Out *to, const Packs &...from)
    {
        pack<Out, pack_size> result;
        GPU_UNROLL
        for (int v = 0; v < pack_size; v++)
            result.value[v] = F::of(from.value[v]...);
        *reinterpret_cast<pack<Out, pack_size> *>(to) = result;
    }

    template <typename Layout>
    static __device__ int64_t step(const Layout &layout, int input)
    {
        return F::broadcasts ? layout.step(input) : 1;
    }

    /* How far an address of `out` is from the aligned one before it, in elements. */
    static __device__ int lead_of(const Out *at)
    {
        return (int)(reinterpret_cast<uintptr_t>(at) % sizeof(pack<Out, pack_size>) / sizeof(Out));
    }
};

/* ------------------------------------------------------------------------------------------------- the walks ---- */

/* The thread's linear index in its block, and the block's size. */
__device__ inline unsigned thread_number()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ inline unsigned thread_count()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

/* Each thread computes one element, counted from `first`; neighbouring threads take neighbouring elements. The last
 * block may have threads without an element. (A loop instead of several launches took a quarter longer on an H200.) */
template <typename Arrays, typename Layout>
__device__ inline void naive(const Arrays &a, const Layout &layout, int64_t first)
{
    const int64_t e = first + (int64_t)blockIdx.x * thread_count() + thread_number();
    if (e < layout.elements)
        a.compute(layout(e));
}

/* A few blocks compute any number of elements: after each element a thread advances by the size of the grid. */
template <typename Arrays, typename Layout>
__device__ inline void grid_stride(const Arrays &a, const Layout &layout)
{
    const int64_t step = (int64_t)gridDim.x * thread_count();
    for (int64_t e = (int64_t)blockIdx.x * thread_count() + thread_number(); e < layout.elements; e += step)
        a.compute(layout(e));
}

/* A grid of two or three dimensions over the array: how long it is along the x, y and z of threads, and how far an
 * element is from the next one along each. If x has a step of 1, the threads of a warp read neighbouring elements in
 * few memory transactions (coalesced); if x has the largest step, each thread needs a separate transaction. */
struct mapping {
    int64_t length[3], step[3];
};

template <typename Arrays, typename Layout>
__device__ inline void grid(const Arrays &a, const Layout &layout, const mapping &m)
{
    const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, next_x = (int64_t)gridDim.x * blockDim.x;
    const int64_t y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y, next_y = (int64_t)gridDim.y * blockDim.y;
    const int64_t z = (int64_t)blockIdx.z * blockDim.z + threadIdx.z, next_z = (int64_t)gridDim.z * blockDim.z;
    for (int64_t k = z; k < m.length[2]; k += next_z) /* more than once where the grid's limits are too low */
        for (int64_t j = y; j < m.length[1]; j += next_y)
            for (int64_t i = x; i < m.length[0]; i += next_x) {
                const int64_t e = i * m.step[0] + j * m.step[1] + k * m.step[2];
                if (e < layout.elements) /* the last row of a folded vector may be shorter */
                    a.compute(layout(e));
            }
}

/* Each thread computes one pack, then advances by the size of the grid. */
template <typename Arrays, int operands>
__device__ inline void vector(const Arrays &a, const packed<operands> &layout, int64_t packs)
{
    const int64_t step = (int64_t)gridDim.x * thread_count(), lead = Arrays::lead_of(a.out);
    for (int64_t p = (int64_t)blockIdx.x * thread_count() + thread_number(); p < packs; p += step)
        a.compute_pack(layout, places<operands>{}, p * Arrays::pack_size - lead, layout.elements);
}

/* vector() row by row. Each row has the same number of packs, of which the last may be empty. */
template <typename Arrays, typename Index, int operands>
__device__ inline void vector_rows(const Arrays &a, const strided<Index, operands> &layout, Index packs_in_row,
                                   int64_t packs)
{
    const int64_t step = (int64_t)gridDim.x * thread_count();
    for (int64_t p = (int64_t)blockIdx.x * thread_count() + thread_number(); p < packs; p += step) {
        const Index row = (Index)p / packs_in_row, in_row = (Index)p - row * packs_in_row;
        const places<operands> at = layout.from(1, row);
        a.compute_pack(layout, at, (int64_t)in_row * Arrays::pack_size - Arrays::lead_of(a.out + at.of[operands - 1]),
                       (int64_t)layout.shape[0]);
    }
}

} // namespace flynn_walk

#endif
