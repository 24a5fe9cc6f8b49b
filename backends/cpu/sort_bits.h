/* SPDX-License-Identifier: MIT
 *
 * sort_bits.h - sorting elements by their bits, for one width. Included once for each, with
 *     bits, sbits  the unsigned and the signed type of that width
 *     order        how bits become keys (sort.c), and order_of(dtype), which gives it
 *     FN(name)     the name of a function for that width: name_32_v3
 */

#define TOP ((bits)1 << (8 * sizeof(bits) - 1))

/* All ones for negative elements, else none. */
ALWAYS_INLINE bits FN(sign)(bits b)
{
    return (bits)((sbits)b >> (8 * sizeof(bits) - 1));
}

/* Signed ones, for which there are vector minima in the oldest instruction sets, too: those of sort.c less the top bit,
 * which adds up to nothing with itself. */
ALWAYS_INLINE sbits FN(signed_key)(bits b, order o)
{
    return (sbits)((b ^ (FN(sign)(b) & o.flip)) - o.bias);
}

ALWAYS_INLINE bits FN(bits_of)(sbits key, order o)
{
    bits b = (bits)key + o.bias;

    return b ^ (FN(sign)(b) & o.flip);
}

/* ------------------------------------------------------------------------------------------------- radix ---- */

ALWAYS_INLINE size_t FN(digit)(bits b, order o, int shift)
{
    return (((bits)FN(signed_key)(b, o) ^ TOP) >> shift) & (DIGITS - 1);
}

KERNEL void FN(count_digits)(const bits *in, int64_t n, order o, int shift, int64_t *counts)
{
    memset(counts, 0, DIGITS * sizeof *counts);
    for (int64_t i = 0; i < n; i++)
        counts[FN(digit)(in[i], o, shift)]++;
}

/* Puts each element where its digit's next one belongs. Writing goes on in 2048 places, more than the processor sees
 * through: where it will go on in each is fetched a cache line ahead, which halves the time. */
KERNEL void FN(distribute)(const bits *in, int64_t n, order o, int shift, int64_t *places, bits *out)
{
    for (int64_t i = 0; i < n; i++) {
        bits *to = out + places[FN(digit)(in[i], o, shift)]++;
        __builtin_prefetch((char *)to + CPU_LINE, 1);
        *to = in[i];
    }
}

/* From how often each part of the input has each digit (counts[part][digit]) to where its first one belongs: behind
 * all smaller digits, and behind the same ones of earlier parts, which keeps equal elements in their order. False: all
 * elements have the same digit, and are in order already. */
static bool FN(places_of)(int64_t *counts, int64_t parts, int64_t n)
{
    int64_t place = 0;

    for (int64_t digit = 0; digit < DIGITS; digit++) {
        int64_t first = place;
        for (int64_t part = 0; part < parts; part++) {
            int64_t *count = &counts[part * DIGITS + digit], here = *count;
            *count = place;
            place += here;
        }
        if (place - first == n)
            return false;
    }
    return true;
}

/* Radix sort by the lowest digit first (Knuth, The Art of Computer Programming 3, 5.2.5, algorithm R). Each thread has
 * a part of the input and its own counts, so that none waits for another within a pass. */
static fl_status FN(radix)(const fl_context *context, const fl_sort_args *s, const fl_launch *launch)
{
    const int64_t n = s->in.shape[0], parts = cpu_team(context, 10.0 * (double)n), length = (n + parts - 1) / parts;
    const order o = order_of(s->in.dtype);
    bits *from = s->in.data, *out = s->out.data, *spare;
    int64_t *counts;
    void *scratch;
    fl_status status = context->host->scratch(context, (size_t)n * sizeof(bits), &scratch);

    (void)launch;
    spare = scratch;
    if (status == FL_OK)
        status = context->host->scratch(context, (size_t)parts * DIGITS * sizeof *counts, &scratch);
    if (status != FL_OK)
        return status;
    counts = scratch;
    for (int shift = 0; shift < 8 * (int)sizeof(bits); shift += DIGIT_BITS) {
#pragma omp parallel for schedule(static, 1) num_threads((int)parts)
        for (int64_t part = 0; part < parts; part++) {
            int64_t start = min64(part * length, n), end = min64(start + length, n);
            FN(count_digits)(from + start, end - start, o, shift, counts + part * DIGITS);
        }
        if (!FN(places_of)(counts, parts, n))
            continue;
        /* From the input into whichever lets the last pass, if none is left out, end in `out`. */
        int left = (8 * (int)sizeof(bits) - shift - 1) / DIGIT_BITS;
        bits *to = from == out ? spare : from == spare || left % 2 == 0 ? out : spare;
#pragma omp parallel for schedule(static, 1) num_threads((int)parts)
        for (int64_t part = 0; part < parts; part++) {
            int64_t start = min64(part * length, n), end = min64(start + length, n);
            FN(distribute)(from + start, end - start, o, shift, counts + part * DIGITS, to);
        }
        from = to;
    }
    CPU_NAME(copy_elements)(context, s, from, out);
    return FL_OK;
}

/* ----------------------------------------------------------------------------------------------- bitonic ---- */

/* Batcher's bitonic sorter (Batcher, "Sorting networks and their applications", AFIPS 1968) in the form in which every
 * comparison puts the smaller element first: two sorted halves are merged by comparing the first with the last, the
 * second with the last but one ..., and then elements half as far apart, and half of that ... Elements that would be
 * behind the end count as larger than all, and stay where they are: any length will do. */

KERNEL void FN(to_keys)(const bits *in, int64_t n, order o, sbits *keys)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        keys[i] = FN(signed_key)(in[i], o);
}

KERNEL void FN(from_keys)(const sbits *keys, int64_t n, order o, bits *out)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] = FN(bits_of)(keys[i], o);
}

/* low[i] and high[i] in order. */
ALWAYS_INLINE void FN(exchange)(sbits *restrict low, sbits *restrict high, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        sbits a = low[i], b = high[i];
        low[i] = a < b ? a : b;
        high[i] = a < b ? b : a;
    }
}

/* low[i] and high[-i] in order. */
ALWAYS_INLINE void FN(exchange_mirrored)(sbits *restrict low, sbits *restrict high, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        sbits a = low[i], b = high[-i];
        low[i] = a < b ? a : b;
        high[-i] = a < b ? b : a;
    }
}

/* Elements i and i + distance, in pairs of groups that long. */
ALWAYS_INLINE void FN(apart)(sbits *keys, int64_t n, int64_t distance)
{
    int64_t start = 0;

    for (; start + 2 * distance <= n; start += 2 * distance)
        FN(exchange)(keys + start, keys + start + distance, distance);
    if (start + distance < n)
        FN(exchange)(keys + start, keys + start + distance, n - start - distance);
}

/* The first and the last of each group of `length`, the second and the last but one ... */
ALWAYS_INLINE void FN(mirrored)(sbits *keys, int64_t n, int64_t length)
{
    int64_t start = 0;

    for (; start + length <= n; start += length)
        FN(exchange_mirrored)(keys + start, keys + start + length - 1, length / 2);
    if (start + length / 2 < n)
        FN(exchange_mirrored)(keys + start + length - (n - start), keys + n - 1, n - start - length / 2);
}

/* One step of a network; distances known to the compiler make vectors of elements that lie close together. */
KERNEL void FN(step)(sbits *keys, int64_t n, int64_t distance)
{
    switch (distance) {
    case 1: FN(apart)(keys, n, 1); break;
    case 2: FN(apart)(keys, n, 2); break;
    case 4: FN(apart)(keys, n, 4); break;
    case 8: FN(apart)(keys, n, 8); break;
    default: FN(apart)(keys, n, distance); break;
    }
}

KERNEL void FN(mirror_step)(sbits *keys, int64_t n, int64_t length)
{
    switch (length) {
    case 2: FN(mirrored)(keys, n, 2); break;
    case 4: FN(mirrored)(keys, n, 4); break;
    case 8: FN(mirrored)(keys, n, 8); break;
    case 16: FN(mirrored)(keys, n, 16); break;
    default: FN(mirrored)(keys, n, length); break;
    }
}

static void FN(sort_tile)(sbits *keys, int64_t n)
{
    for (int64_t length = 2; length < 2 * n; length *= 2) {
        FN(mirror_step)(keys, n, length);
        for (int64_t distance = length / 4; distance > 0; distance /= 2)
            FN(step)(keys, n, distance);
    }
}

static void FN(finish_tile)(sbits *keys, int64_t n, int64_t tile)
{
    for (int64_t distance = tile / 2; distance > 0; distance /= 2)
        FN(step)(keys, n, distance);
}

/* The p-th tile of the lower halves, in pairs of groups `distance` long (at least a tile), with its counterparts. */
KERNEL void FN(far_step)(sbits *keys, int64_t n, int64_t distance, int64_t tile, int64_t p, bool mirror)
{
    const int64_t offset = p * tile % distance, start = p * tile / distance * 2 * distance, low = start + offset;
    const int64_t high = mirror ? start + 2 * distance - 1 - offset : low + distance;

    if (mirror) {
        int64_t skip = max64(0, high - n + 1); /* whose counterparts are behind the end */
        FN(exchange_mirrored)(keys + low + skip, keys + high - skip, tile - skip);
    } else {
        FN(exchange)(keys + low, keys + high, min64(tile, n - high));
    }
}

/* Steps over distances of a tile and more go through all of the memory; the rest of each merge stays in the cache. */
static void FN(sort_keys)(const fl_context *context, sbits *keys, int64_t n, int64_t tile)
{
    (void)context;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 10.0 * (double)n))
    for (int64_t start = 0; start < n; start += tile)
        FN(sort_tile)(keys + start, min64(tile, n - start));
    for (int64_t length = 2 * tile; length < 2 * n; length *= 2) {
        for (int64_t distance = length / 2; distance >= tile; distance /= 2) {
            int64_t pieces = (n + 2 * distance - 1) / (2 * distance) * (distance / tile);
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 10.0 * (double)n))
            for (int64_t p = 0; p < pieces; p++)
                FN(far_step)(keys, n, distance, tile, p, distance == length / 2);
        }
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 10.0 * (double)n))
        for (int64_t start = 0; start < n; start += tile)
            FN(finish_tile)(keys + start, min64(tile, n - start), tile);
    }
}

static fl_status FN(bitonic)(const fl_context *context, const fl_sort_args *s, const fl_launch *launch)
{
    const int64_t n = s->in.shape[0], tile = launch->block[0];
    const order o = order_of(s->in.dtype);
    const bits *in = s->in.data;
    bits *out = s->out.data;
    sbits *keys = s->out.data; /* the same type but for the sign: C lets both name the same memory */

#pragma omp parallel for schedule(static) num_threads(cpu_team(context, (double)n))
    for (int64_t start = 0; start < n; start += tile)
        FN(to_keys)(in + start, min64(tile, n - start), o, keys + start);
    FN(sort_keys)(context, keys, n, tile);
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, (double)n))
    for (int64_t start = 0; start < n; start += tile)
        FN(from_keys)(keys + start, min64(tile, n - start), o, out + start);
    return FL_OK;
}

#undef TOP
