/* WRONG: a thread adds to its element while others have yet to read it. */
__global__ void scan(const int *in, int *out, int size)
{
    extern __shared__ int sums[];
    int me = threadIdx.x, i = blockIdx.x * blockDim.x + me;

    sums[me] = i < size ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (me >= step)
            sums[me] += sums[me - step];
        __syncthreads();
    }
    if (i < size)
        out[i] = sums[me];
}
