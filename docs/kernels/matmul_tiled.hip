/* c = a b, of m x k and k x n: a block of TILE x TILE threads loads tiles of both into shared memory. */
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;

    for (int first = 0; first < k; first += TILE) {
        int across = first + threadIdx.x, down = first + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < m && across < k ? a[row * k + across] : 0;
        bs[threadIdx.y][threadIdx.x] = column < n && down < k ? b[down * n + column] : 0;
        __syncthreads();
        for (int p = 0; p < TILE; p++)
            sum += as[threadIdx.y][p] * bs[p][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
