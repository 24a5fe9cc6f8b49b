/* WRONG: a shuffle does not leave its warp, so thread 0 has the sum of one warp, and not of the block. */
__global__ void warp_sum(const int *values, int *all, int size)
{
    int part = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        part += values[i];
    for (int by = warpSize / 2; by > 0; by /= 2)
        part += __shfl_down_sync(0xffffffff, part, by);
    if (threadIdx.x == 0)
        atomicAdd(all, part);
}
