/* out = in, of rows x columns, transposed: a block of TILE x TILE threads reads rows into a tile in shared memory, and
 * writes its columns as rows. With -D PAD=1 the elements of a column of 32 lie in different banks. */
__global__ void transpose(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + PAD];
    int row = blockIdx.x * TILE + threadIdx.y, column = blockIdx.y * TILE + threadIdx.x;

    if (row < rows && column < columns)
        tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
    __syncthreads();
    row = blockIdx.x * TILE + threadIdx.x;
    column = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns)
        out[column * rows + row] = tile[threadIdx.x][threadIdx.y];
}
