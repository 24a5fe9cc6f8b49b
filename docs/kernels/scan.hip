/* The running sums of a block's elements (Hillis and Steele, "Data parallel algorithms", 1986): after the passes with a
 * step of 1, 2, 4 ... an element is the sum of 2, 4, 8 ... elements, or of all up to it. */
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
        out[i] = sums[me];
}
