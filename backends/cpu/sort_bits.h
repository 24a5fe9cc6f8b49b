/* SPDX-License-Identifier: MIT
 *
 * sort_bits.h - sorting elements by their bits, for one width. Included once for each, with
 *     bits, sbits  the unsigned and the signed type of that width
 *     order        how bits become keys (sort.c), and order_of(dtype), which gives it
 *     FN(name)     the name of a function for that width: name_32_v3
 */

#define TOP ((bits)1 << (8 * sizeof(bits) - 1))

/* Returns all ones for negative elements, else none. */
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

#define PASSES ((int)sizeof(bits) * 8 / DIGIT_BITS)

ALWAYS_INLINE size_t FN(digit)(bits key, int pass)
{
    return key >> (pass * DIGIT_BITS) & (DIGITS - 1);
}

ALWAYS_INLINE bits FN(key)(bits b, order o)
{
    return (bits)FN(signed_key)(b, o) ^ TOP;
}

/* How often each digit of the passes `first` to `end`, excluded, occurs: counts[pass][digit]. Two counters for each,
 * taken in turn: where neighbours have the same digit, as high ones often do, the second need not wait for the first.
 */
ALWAYS_INLINE void FN(count_digits)(const bits *in, int64_t n, order o, int first, int end, int64_t *counts)
{
    int64_t tables[2][PASSES][DIGITS];

    for (int pass = first; pass < end; pass++)
        for (int digit = 0; digit < DIGITS; digit++)
            tables[0][pass][digit] = tables[1][pass][digit] = 0;
    for (int64_t i = 0; i + 1 < n; i += 2) {
        bits a = FN(key)(in[i], o), b = FN(key)(in[i + 1], o);
        for (int pass = first; pass < end; pass++) {
            tables[0][pass][FN(digit)(a, pass)]++;
            tables[1][pass][FN(digit)(b, pass)]++;
        }
    }
    for (int pass = first; pass < end && n % 2; pass++)
        tables[0][pass][FN(digit)(FN(key)(in[n - 1], o), pass)]++;
    for (int pass = first; pass < end; pass++)
        for (int digit = 0; digit < DIGITS; digit++)
            counts[pass * DIGITS + digit] = tables[0][pass][digit] + tables[1][pass][digit];
}

KERNEL void FN(count_all)(const bits *in, int64_t n, order o, int64_t *counts)
{
    FN(count_digits)(in, n, o, 0, PASSES, counts);
}

/* Counts the digits of one pass: a thread's part has other elements after each. */
KERNEL void FN(count_one)(const bits *in, int64_t n, order o, int pass, int64_t *counts)
{
    FN(count_digits)(in, n, o, pass, pass + 1, counts);
}

/* Writing goes on in more places than the processor foresees: the next cache line is fetched in time, unless what is
 * written stays in the cache. */
ALWAYS_INLINE void FN(put)(bits b, int64_t *place, bool far, bits *out)
{
    bits *to = out + (*place)++;

    if (far)
        __builtin_prefetch((char *)to + CPU_LINE, 1);
    *to = b;
}

/* The digits of a batch, `shift` bits above the lowest. */
ALWAYS_INLINE void FN(digits_of)(const bits *in, order o, int shift, bits mask, bits *batch)
{
    for (int k = 0; k < BATCH; k++)
        batch[k] = FN(key)(in[k], o) >> shift & mask;
}

/* Puts each element where the next one of its digit (one of `digits`), or of its digit's bucket, belongs. The digits of
 * a batch come first, as vectors: of so many that those which are read first were written long ago. (A processor that
 * reads a part of what is still on its way to the cache may have to wait for it.) */
ALWAYS_INLINE void FN(put_all)(const bits *restrict in, int64_t n, order o, int shift, int64_t digits,
                               const uint16_t *restrict buckets, int64_t *restrict places, bool far, bits *restrict out)
{
    const bits mask = (bits)(digits - 1);
    bits batch[BATCH];
    int64_t i = 0;

    for (; i + BATCH <= n; i += BATCH) {
        FN(digits_of)(in + i, o, shift, mask, batch);
#pragma GCC unroll 4
        for (int k = 0; k < BATCH; k++)
            FN(put)(in[i + k], &places[buckets ? buckets[batch[k]] : batch[k]], far, out);
    }
    for (; i < n; i++) {
        bits digit = FN(key)(in[i], o) >> shift & mask;
        FN(put)(in[i], &places[buckets ? buckets[digit] : digit], far, out);
    }
}

KERNEL void FN(distribute)(const bits *in, int64_t n, order o, int shift, int64_t digits, int64_t *places, bits *out)
{
    FN(put_all)(in, n, o, shift, digits, NULL, places, true, out);
}

/* From how often each part of the input has each digit (counts[part * stride + digit]) to where its first one belongs:
 * after all smaller digits, and after the same ones of earlier parts, which keeps equal elements in their order. False:
 * all elements have the same digit, and are in order already. */
static bool FN(find_places)(int64_t *counts, int64_t parts, int64_t stride, int64_t digits, int64_t n)
{
    int64_t place = 0;

    for (int64_t digit = 0; digit < digits; digit++) {
        int64_t first = place;
        for (int64_t part = 0; part < parts; part++) {
            int64_t *count = &counts[part * stride + digit], here = *count;
            *count = place;
            place += here;
        }
        if (place - first == n)
            return false;
    }
    return true;
}

/* The whole sort, and the parts that it is done in. */
typedef struct FN(radix_job) {
    bits *from, *out, *spare;
    int64_t n, parts, *counts;
    order o;
} FN(radix_job);

/* Where a part starts, and the one before it ends. */
ALWAYS_INLINE int64_t FN(part_start)(const FN(radix_job) * job, int64_t part)
{
    return min64(part * ((job->n + job->parts - 1) / job->parts), job->n);
}

/* Counts for all passes, or for one. */
static void FN(count_parts)(const FN(radix_job) * job, int pass, bool all)
{
#pragma omp parallel for schedule(static, 1) num_threads((int)job->parts)
    for (int64_t part = 0; part < job->parts; part++) {
        int64_t start = FN(part_start)(job, part), end = FN(part_start)(job, part + 1);
        int64_t *counts = job->counts + part * PASSES * DIGITS;
        if (all)
            FN(count_all)(job->from + start, end - start, job->o, counts);
        else
            FN(count_one)(job->from + start, end - start, job->o, pass, counts);
    }
}

static void FN(distribute_parts)(const FN(radix_job) * job, int pass, bits *to)
{
#pragma omp parallel for schedule(static, 1) num_threads((int)job->parts)
    for (int64_t part = 0; part < job->parts; part++) {
        int64_t start = FN(part_start)(job, part), end = FN(part_start)(job, part + 1);
        int64_t *places = job->counts + (part * PASSES + pass) * DIGITS;
        FN(distribute)(job->from + start, end - start, job->o, pass * DIGIT_BITS, DIGITS, places, to);
    }
}

static void FN(radix_passes)(FN(radix_job) * job)
{
    bool moved = false; /* since all was counted */

    FN(count_parts)(job, 0, true);
    for (int pass = 0; pass < PASSES; pass++) {
        if (moved && job->parts > 1)
            FN(count_parts)(job, pass, false);
        if (!FN(find_places)(job->counts + pass * DIGITS, job->parts, PASSES * DIGITS, DIGITS, job->n))
            continue;
        /* From the input into whichever lets the last pass, if none is left out, end in `out`. */
        bool to_out = job->from == job->spare || (job->from != job->out && (PASSES - pass) % 2 == 1);
        bits *to = to_out ? job->out : job->spare;
        FN(distribute_parts)(job, pass, to);
        job->from = to;
        moved = true;
    }
}

#include "sort_blocks.h"
#include "sort_buckets.h"

/* Radix sort by the lowest digit first (Knuth, The Art of Computer Programming 3, 5.2.5, algorithm R), or in buckets.
 * Each thread has a part of the input and its own counts, so that none waits for another within a pass. Asks for as
 * much memory as the elements take, and the counters; in buckets it uses of that as much as the largest buckets. */
static fl_status FN(radix)(const fl_context *context, const fl_sort_args *s, const fl_launch *launch)
{
    FN(radix_job)
    job = {.from = s->in.data,
           .out = s->out.data,
           .n = s->in.shape[0],
           .parts = cpu_team(context, 50.0 * (double)s->in.shape[0]), /* 250 in five teams */
           .o = order_of(s->in.dtype)};
    const bool in_buckets = has_buckets(s);
    const int64_t digits = in_buckets ? PREFIXES : PASSES * DIGITS; /* counted by each thread */
    FN(move) *move = NULL;
    void *spare, *counts, *list = NULL;
    fl_status status = context->host->scratch(context, (size_t)job.n * sizeof(bits), &spare);

    (void)launch;
    if (status == FL_OK)
        status = context->host->scratch(context, (size_t)(job.parts * digits) * sizeof *job.counts, &counts);
    if (status == FL_OK && in_buckets)
        status = context->host->scratch(context, sizeof(bucket_list), &list);
    if (status == FL_OK && in_buckets && job.from == job.out)
        status = FN(make_move)(context, &job, &move);
    if (status != FL_OK)
        return status;
    job.spare = spare;
    job.counts = counts;
    if (!list || !FN(radix_buckets)(&job, list, move))
        FN(radix_passes)(&job);
    CPU_NAME(copy_elements)(context, s, job.from, s->out.data);
    return FL_OK;
}

#undef PASSES

/* ----------------------------------------------------------------------------------------------- bitonic ---- */

/* Batcher's bitonic sorter (Batcher, "Sorting networks and their applications", AFIPS 1968) in the form in which every
 * comparison puts the smaller element first: two sorted halves are merged by comparing the first with the last, the
 * second with the last but one ..., and then elements half as far apart, and half of that ... Elements that would be
 * past the end count as larger than all, and stay where they are: any length will do. */

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
        int64_t skip = max64(0, high - n + 1); /* whose counterparts are past the end */
        FN(exchange_mirrored)(keys + low + skip, keys + high - skip, tile - skip);
    } else {
        FN(exchange)(keys + low, keys + high, min64(tile, n - high));
    }
}

/* Steps over distances of a tile and more go through all of the memory; the rest of each merge stays in the cache. */
static void FN(sort_keys)(const fl_context *context, sbits *keys, int64_t n, int64_t tile)
{
    (void)context;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 50.0 * (double)n))
    for (int64_t start = 0; start < n; start += tile)
        FN(sort_tile)(keys + start, min64(tile, n - start));
    for (int64_t length = 2 * tile; length < 2 * n; length *= 2) {
        for (int64_t distance = length / 2; distance >= tile; distance /= 2) {
            int64_t pieces = (n + 2 * distance - 1) / (2 * distance) * (distance / tile);
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 50.0 * (double)n))
            for (int64_t p = 0; p < pieces; p++)
                FN(far_step)(keys, n, distance, tile, p, distance == length / 2);
        }
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 50.0 * (double)n))
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

    if (n <= tile) { /* without the parallel parts, which take a quarter of the time of few elements */
        FN(to_keys)(in, n, o, keys);
        FN(sort_tile)(keys, n);
        FN(from_keys)(keys, n, o, out);
        return FL_OK;
    }
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, (double)n * sizeof(bits)))
    for (int64_t start = 0; start < n; start += tile)
        FN(to_keys)(in + start, min64(tile, n - start), o, keys + start);
    FN(sort_keys)(context, keys, n, tile);
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, (double)n * sizeof(bits)))
    for (int64_t start = 0; start < n; start += tile)
        FN(from_keys)(keys + start, min64(tile, n - start), o, out + start);
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------------ vqsort ---- */

/* The library sorts the keys: integers, all of whose bits are in their order. */
static fl_status FN(vqsort)(const fl_context *context, const fl_sort_args *s, const fl_launch *launch)
{
    const int64_t n = s->in.shape[0];
    const order o = order_of(s->in.dtype);

    (void)context, (void)launch;
    FN(to_keys)(s->in.data, n, o, s->out.data);
    LIBRARY_SORT(s->out.data, n);
    FN(from_keys)(s->out.data, n, o, s->out.data);
    return FL_OK;
}

#undef TOP
