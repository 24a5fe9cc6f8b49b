/* all = the sum of the values: the lanes of a warp add theirs by shuffles, and lane 0 of each warp adds to memory. */
__global__ void warp_sum(const int *values, int *all, int size)
{
    int part = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        part += values[i];
    for (int by = warpSize / 2; by > 0; by /= 2)
        part += __shfl_down_sync(0xffffffff, part, by);
    if (threadIdx.x % warpSize == 0)
        atomicAdd(all, part);
}
