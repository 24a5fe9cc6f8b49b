/* WRONG: the exclusive sums are the inclusive ones a place later, of which the last has no place, and the first is
 * missing. */
__global__ void scan(const int *in, int *out, int size)
{
    extern __shared__ int sums[];
    int me = threadIdx.x, i = blockIdx.x * blockDim.x + me;

    sums[me] = i < size ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int before = me >= step ? sums[me - step] : 0;
        __syncthreads();
        sums[me] += before;
        __syncthreads();
    }
    if (i < size)
        out[i + 1] = sums[me];
}
