/* all = the sum of the values: an atomic addition for each thread's part. */
__global__ void sum(const int *values, int *all, int size)
{
    int part = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        part += values[i];
    atomicAdd(all, part);
}
