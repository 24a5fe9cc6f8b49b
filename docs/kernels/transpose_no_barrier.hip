/* WRONG: threads read elements of the tile that others have not written yet. */
__global__ void transpose(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + PAD];
    int row = blockIdx.x * TILE + threadIdx.y, column = blockIdx.y * TILE + threadIdx.x;

    if (row < rows && column < columns)
        tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
    row = blockIdx.x * TILE + threadIdx.x;
    column = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns)
        out[column * rows + row] = tile[threadIdx.x][threadIdx.y];
}
