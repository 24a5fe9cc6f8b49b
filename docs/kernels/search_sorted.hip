/* places[i] = how many elements of `sorted` are less than values[i]: where the value belongs. */
__global__ void search_sorted(const float *sorted, const float *values, int *places, int size, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = size;

    if (i >= count)
        return;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sorted[middle] < values[i])
            low = middle + 1;
        else
            high = middle;
    }
    places[i] = low;
}
