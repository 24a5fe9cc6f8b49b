/* SPDX-License-Identifier: MIT
 *
 * select_typed.h - the loops of select.c for elements of one size. Included once for each, with
 *     bits     the unsigned integer of that size
 *     SET, TEST, COMPRESS    of AVX-512, where it is: a vector of equal elements; a mask of the elements that share a
 *              bit with those of another vector; the elements in a mask, side by side
 *     FN(name) the name of a function for it: naive_bits32_v3
 * It undefines SET, TEST and COMPRESS.
 */

/* The bits of an element that decide whether it is zero: all, but for the sign of a float: -0 is zero. NaN is not. */
static inline bits FN(mask_of)(fl_dtype dtype)
{
    return has_sign(dtype) ? (bits)((bits)-1 >> 1) : (bits)-1;
}

static fl_status FN(naive)(const fl_context *context, const fl_select_args *s)
{
    const bits *restrict in = s->in.data;
    bits *restrict out = s->out.data;
    const bits mask = FN(mask_of)(s->in.dtype);
    int64_t kept = 0;

    (void)context;
    for (int64_t i = 0; i < s->in.shape[0]; i++)
        if ((in[i] & mask) != 0)
            out[kept++] = in[i];
    *(int64_t *)s->count.data = kept;
    return FL_OK;
}

/* How many of in[0] to in[length - 1] are not zero. */
static int64_t FN(count)(const bits *in, bits mask, int64_t length)
{
    int64_t kept = 0;

    for (int64_t first = 0; first < length; first += PIECE_BYTES) {
        const int64_t end = min64(first + PIECE_BYTES, length);
        int32_t some = 0; /* of a piece: narrow, so that more of them fit into a vector */
#pragma omp simd reduction(+ : some)
        for (int64_t i = first; i < end; i++)
            some += (in[i] & mask) != 0;
        kept += some;
    }
    return kept;
}

#if defined(COMPRESS)
/* As `copy`, a vector at a time while a whole one fits into out[*kept] to out[end - 1]: its selected elements side by
 * side, and behind them zeros, which their successors overwrite. Returns how many elements of `in` it took. */
static inline int64_t FN(copy_vectors)(const bits *in, bits mask, bits *out, int64_t end, int64_t *kept)
{
    const int64_t lanes = 64 / (int64_t)sizeof(bits);
    const __m512i masks = SET(mask);
    int64_t i = 0;

    for (; *kept + lanes <= end; i += lanes) {
        const __m512i some = _mm512_loadu_si512(in + i);
        const unsigned taken = TEST(some, masks);
        _mm512_storeu_si512(out + *kept, COMPRESS(taken, some));
        *kept += __builtin_popcount(taken);
    }
    return i;
}
#endif

/* Copies the selected elements to `out` and returns their number. Each element is stored at the next position, and
 * stays or is overwritten by its successor: no branch can be mispredicted. The loop ends with the last selected
 * element, so that the elements after it stay unchanged. */
static int64_t FN(copy)(const bits *restrict in, bits mask, int64_t length, bits *restrict out)
{
    const int64_t piece = PIECE_BYTES / (int64_t)sizeof(bits);
    int64_t kept = 0;

    for (int64_t first = 0; first < length; first += piece) {
        const int64_t end = kept + FN(count)(in + first, mask, min64(piece, length - first));
        const bits *next = in + first;
#if defined(COMPRESS)
        next += FN(copy_vectors)(next, mask, out, end, &kept);
#endif
        for (; kept < end; next++) {
            out[kept] = *next;
            kept += (*next & mask) != 0;
        }
    }
    return kept;
}

/* Blelloch, "Prefix sums and their applications", 1990: each thread counts in its part, the sum over the earlier
 * parts gives the position of its elements, and each thread copies. No thread needs the count of the last part. */
static fl_status FN(scan)(const fl_context *context, const fl_select_args *s)
{
    const int64_t length = s->in.shape[0], parts = CPU_NAME(parts_of)(context, s);
    const int64_t part = (length + parts - 1) / parts;
    const bits *in = s->in.data;
    const bits mask = FN(mask_of)(s->in.dtype);
    bits *out = s->out.data;
    int64_t *to;
    void *memory;
    fl_status status;

    if (parts == 1) { /* Two parallel loops, even of one thread, take a quarter of the time of few elements. */
        *(int64_t *)s->count.data = FN(copy)(in, mask, length, out);
        return FL_OK;
    }
    status = context->host->scratch(context, (size_t)(parts + 1) * sizeof *to, &memory);
    if (status != FL_OK)
        return status;
    to = memory;
    to[0] = 0;
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts - 1; p++)
        to[p + 1] = FN(count)(in + p * part, mask, min64(part, length - p * part));
    for (int64_t p = 1; p < parts; p++)
        to[p] += to[p - 1];
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t kept = FN(copy)(in + p * part, mask, min64(part, length - p * part), out + to[p]);
        if (p == parts - 1)
            to[parts] = to[p] + kept;
    }
    *(int64_t *)s->count.data = to[parts];
    return FL_OK;
}

#undef SET
#undef TEST
#undef COMPRESS
