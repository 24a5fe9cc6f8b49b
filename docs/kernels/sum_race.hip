/* WRONG: two threads may read one sum, and both write it plus their element. */
__global__ void sum(const int *values, int *all, int size)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        *all = *all + values[i];
}
