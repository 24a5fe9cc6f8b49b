/* SPDX-License-Identifier: MIT
 * CUDA's cooperative groups of a block and of the lanes of a warp, for the text of a kernel: by its warp functions, on a
 * GPU and on its emulation. These lines follow the definitions of flynn_lanes and FLYNN_GROUP, which precedes a function. */
namespace cooperative_groups
{

FLYNN_GROUP unsigned flynn_rank_in_block()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
/* Of `size` lanes, a power of 2, those that the calling thread belongs to. */
FLYNN_GROUP flynn_lanes flynn_lanes_of(unsigned size)
{
    const unsigned first = flynn_rank_in_block() % warpSize / size * size;
    const flynn_lanes all = (flynn_lanes)-1;
    return (size < 8 * sizeof all ? ((flynn_lanes)1 << size) - 1 : all) << first;
}

/* A block, or lanes of a warp. */
struct thread_group {
    flynn_lanes lanes; /* 0: the whole block */
    unsigned count, rank;

    FLYNN_GROUP void sync() const
    {
        if (lanes)
            __syncwarp(lanes);
        else
            __syncthreads();
    }
    FLYNN_GROUP unsigned size() const
    {
        return count;
    }
    FLYNN_GROUP unsigned num_threads() const
    {
        return count;
    }
    FLYNN_GROUP unsigned thread_rank() const
    {
        return rank;
    }
};

struct thread_block : thread_group {
    FLYNN_GROUP dim3 group_index() const
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    FLYNN_GROUP dim3 thread_index() const
    {
        return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
    }
    FLYNN_GROUP dim3 group_dim() const
    {
        return dim3(blockDim.x, blockDim.y, blockDim.z);
    }
    FLYNN_GROUP dim3 dim_threads() const
    {
        return group_dim();
    }
};

FLYNN_GROUP thread_block this_thread_block()
{
    thread_block block;
    block.lanes = 0;
    block.count = blockDim.x * blockDim.y * blockDim.z;
    block.rank = flynn_rank_in_block();
    return block;
}

/* Size lanes. */
template <unsigned Size>
struct flynn_tile : thread_group {
    unsigned number, parts; /* its number among the parts of the parent, and how many there are */

    FLYNN_GROUP unsigned meta_group_rank() const
    {
        return number;
    }
    FLYNN_GROUP unsigned meta_group_size() const
    {
        return parts;
    }
    template <typename T>
    FLYNN_GROUP T shfl(T value, int from) const
    {
        return __shfl_sync(lanes, value, from, (int)Size);
    }
    template <typename T>
    FLYNN_GROUP T shfl_up(T value, unsigned by) const
    {
        return __shfl_up_sync(lanes, value, by, (int)Size);
    }
    template <typename T>
    FLYNN_GROUP T shfl_down(T value, unsigned by) const
    {
        return __shfl_down_sync(lanes, value, by, (int)Size);
    }
    template <typename T>
    FLYNN_GROUP T shfl_xor(T value, int mask) const
    {
        return __shfl_xor_sync(lanes, value, mask, (int)Size);
    }
    FLYNN_GROUP int any(int vote) const
    {
        return __any_sync(lanes, vote);
    }
    FLYNN_GROUP int all(int vote) const
    {
        return __all_sync(lanes, vote);
    }
    FLYNN_GROUP flynn_lanes ballot(int vote) const
    {
        return of_group(__ballot_sync(lanes, vote));
    }
    template <typename T>
    FLYNN_GROUP flynn_lanes match_any(T value) const
    {
        return of_group(__match_any_sync(lanes, value));
    }

  private:
    FLYNN_GROUP flynn_lanes of_group(flynn_lanes of_warp) const
    {
        return of_warp >> (flynn_rank_in_block() % warpSize - rank);
    }
};

template <unsigned Size, typename Parent = void>
struct thread_block_tile : flynn_tile<Size> {
    FLYNN_GROUP thread_block_tile()
    {
    }
    FLYNN_GROUP thread_block_tile(const flynn_tile<Size> &tile) : flynn_tile<Size>(tile)
    {
    }
};

template <unsigned Size, typename Parent>
FLYNN_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent &group)
{
    static_assert(Size > 0 && Size <= 8 * sizeof(flynn_lanes) && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4 ... threads, at most those of a warp");
    thread_block_tile<Size, Parent> tile;
    tile.lanes = flynn_lanes_of(Size);
    tile.count = Size;
    tile.rank = group.thread_rank() % Size;
    tile.number = group.thread_rank() / Size;
    tile.parts = (group.size() + Size - 1) / Size;
    return tile;
}
FLYNN_GROUP thread_group tiled_partition(const thread_group &group, unsigned size)
{
    thread_group tile;
    tile.lanes = flynn_lanes_of(size);
    tile.count = size;
    tile.rank = group.rank % size;
    return tile;
}
FLYNN_GROUP void sync(const thread_group &group)
{
    group.sync();
}

template <typename T>
struct plus {
    FLYNN_GROUP T operator()(T x, T y) const
    {
        return x + y;
    }
};
template <typename T>
struct less {
    FLYNN_GROUP T operator()(T x, T y) const
    {
        return y < x ? y : x;
    }
};
template <typename T>
struct greater {
    FLYNN_GROUP T operator()(T x, T y) const
    {
        return x < y ? y : x;
    }
};
template <typename T>
struct bit_and {
    FLYNN_GROUP T operator()(T x, T y) const
    {
        return x & y;
    }
};
template <typename T>
struct bit_or {
    FLYNN_GROUP T operator()(T x, T y) const
    {
        return x | y;
    }
};
template <typename T>
struct bit_xor {
    FLYNN_GROUP T operator()(T x, T y) const
    {
        return x ^ y;
    }
};
template <typename Tile, typename T, typename Operation>
FLYNN_GROUP T reduce(const Tile &tile, T value, Operation operation)
{
    for (unsigned step = tile.size() / 2; step > 0; step /= 2)
        value = operation(value, tile.shfl_xor(value, (int)step));
    return value;
}

} // namespace cooperative_groups
