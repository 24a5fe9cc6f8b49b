/* The exclusive sums of a block's elements, by a tree (Blelloch, "Prefix sums and their applications", 1990): up it adds
 * neighbours, down it gives each half what is before it. With -D PAD=1 an element is left out after each 32. */
#define AT(i) ((i) + (i) / 32 * PAD)

__global__ void scan(const int *in, int *out, int size)
{
    extern __shared__ int sums[];
    int me = threadIdx.x, i = blockIdx.x * blockDim.x + me, distance = 1;

    sums[AT(me)] = i < size ? in[i] : 0;
    for (int active = blockDim.x / 2; active > 0; active /= 2, distance *= 2) {
        __syncthreads();
        if (me < active)
            sums[AT(distance * (2 * me + 2) - 1)] += sums[AT(distance * (2 * me + 1) - 1)];
    }
    __syncthreads();
    if (me == 0)
        sums[AT(blockDim.x - 1)] = 0;
    for (int active = 1; active < blockDim.x; active *= 2) {
        distance /= 2;
        __syncthreads();
        if (me < active) {
            int left = distance * (2 * me + 1) - 1, right = left + distance, sum = sums[AT(left)];
            sums[AT(left)] = sums[AT(right)];
            sums[AT(right)] += sum;
        }
    }
    __syncthreads();
    if (i < size)
        out[i] = sums[AT(me)];
}
