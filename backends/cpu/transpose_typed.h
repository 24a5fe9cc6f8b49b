/* SPDX-License-Identifier: MIT
 *
 * transpose_typed.h - the loops of transpose.c for elements of one size. Included once for each, with
 *     bits                        the unsigned integer of that size
 *     FIRST_HALVES, SECOND_HALVES the instruction that interleaves the elements of halves of two vectors
 *     FN(name)                    the name of a function for it: naive_bits32_v3
 */

/* Rows and columns of a square, whose rows are vectors of 16 bytes. */
#define EDGE (16 / (int)sizeof(bits))

#if CPU_SQUARES
/* The square's elements, one row after the other, are interleaved: the first half with the second one. That turns the
 * bits of an element's place round by one; after as many times as a row's place has bits, rows and columns have changed
 * their parts (Stone, "Parallel processing with the perfect shuffle", 1971). */
static inline void FN(square)(const bits *restrict from, int64_t stride, bits *restrict to, int64_t pitch)
{
    __m128i a[EDGE], b[EDGE];

    for (int i = 0; i < EDGE; i++)
        a[i] = _mm_loadu_si128((const __m128i *)(from + i * stride));
    for (int round = 1; round < EDGE; round *= 2) {
        for (int i = 0; i < EDGE / 2; i++) {
            b[2 * i] = FIRST_HALVES(a[i], a[i + EDGE / 2]);
            b[2 * i + 1] = SECOND_HALVES(a[i], a[i + EDGE / 2]);
        }
        for (int i = 0; i < EDGE; i++)
            a[i] = b[i];
    }
    for (int i = 0; i < EDGE; i++)
        _mm_storeu_si128((__m128i *)(to + i * pitch), a[i]);
}
#else
static inline void FN(square)(const bits *restrict from, int64_t stride, bits *restrict to, int64_t pitch)
{
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++)
            to[j * pitch + i] = from[i * stride + j];
}
#endif

/* Transposes the part of a tile that is no whole square: down its columns, or along its rows if it has few columns. */
static void FN(rest)(const bits *restrict from, int64_t stride, bits *restrict to, int64_t pitch, int64_t rows,
                     int64_t columns)
{
    if (columns >= EDGE) {
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < rows; i++)
                to[j * pitch + i] = from[i * stride + j];
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[j * pitch + i] = from[i * stride + j];
}

static void FN(transpose)(const void *from, int64_t stride, void *to, int64_t pitch, int64_t rows, int64_t columns)
{
    const int64_t whole_rows = rows / EDGE * EDGE, whole_columns = columns / EDGE * EDGE;
    const bits *in = from;
    bits *out = to;

    for (int64_t i = 0; i < whole_rows; i += EDGE)
        for (int64_t j = 0; j < whole_columns; j += EDGE)
            FN(square)(in + i * stride + j, stride, out + j * pitch + i, pitch);
    FN(rest)(in + whole_columns, stride, out + whole_columns * pitch, pitch, whole_rows, columns - whole_columns);
    FN(rest)(in + whole_rows * stride, stride, out + whole_rows, pitch, rows - whole_rows, columns);
}

static fl_status FN(tiled)(const fl_context *context, const fl_transpose_args *args, const fl_launch *launch)
{
    const tiling t = CPU_NAME(tiling_of)(args);

    (void)context, (void)launch;
#pragma omp parallel num_threads(cpu_team(context, launch->bytes_requested))
    {
#pragma omp for schedule(static) nowait
        for (int64_t number = 0; number < t.number; number++)
            CPU_NAME(move_tile)(&t, number, FN(transpose));
        cpu_stream_end();
    }
    return FL_OK;
}

static fl_status FN(naive)(const fl_context *context, const fl_transpose_args *args, const fl_launch *launch)
{
    const fl_buffer *in = &args->in, *out = &args->out;
    const int64_t rows = elements_of(out) / out->shape[3];

    (void)context, (void)launch;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, launch->bytes_requested))
    for (int64_t row = 0; row < rows; row++) {
        const int64_t matrix = row / out->shape[2], column = row % out->shape[2];
        const bits *from = (const bits *)element_at(in, matrix * in->shape[2], column);
        bits *to = (bits *)element_at(out, row, 0);
        for (int64_t j = 0; j < out->shape[3]; j++)
            to[j] = from[j * in->stride[2]];
    }
    return FL_OK;
}

#undef EDGE
