/* SPDX-License-Identifier: MIT
 *
 * sort_buckets.h - radix sort of many elements; a part of sort_bits.h.
 *
 * By the lowest digit first, every pass reads all of the memory and writes it in many places. Here elements move
 * through it once, each into its bucket, of keys that are close together, and what is left to sort in a bucket is
 * sorted in the second cache. Starting with the highest digit: McIlroy, Bostic and McIlroy, "Engineering radix sort",
 * Computing Systems 6(1), 1993.
 *
 * Buckets are made for the input, so that most of them have about as many elements: half of the floats that are spread
 * evenly between 0 and 1 have the same 9 highest bits. The highest bits in which any keys differ, their prefixes, are
 * counted, and neighbouring prefixes that have few elements share a bucket.
 */

/* Makes the least key 0, and finds the bits in which others differ from it: from `low` on, below `high`. */
static void FN(trim_keys)(FN(radix_job) * job, bucket_list *list)
{
    const bits *from = job->from;
    const order o = job->o;
    sbits one = FN(signed_key)(from[0], o), min = one, max = one, mix = 0;

#pragma omp parallel for simd num_threads((int)job->parts) reduction(min : min) reduction(max : max) reduction(| : mix)
    for (int64_t i = 0; i < job->n; i++) {
        sbits key = FN(signed_key)(from[i], o);
        min = key < min ? key : min;
        max = key > max ? key : max;
        mix |= key ^ one;
    }
    const int64_t prefix_bits = max64(MIN_PREFIX_BITS, min64(PREFIX_BITS, doublings(job->n / job->parts) - 3));
    job->o.bias += (bits)min ^ TOP;
    list->low = mix ? __builtin_ctzll((unsigned long long)(bits)mix) : 0;
    list->high = bit_length((bits)max - (bits)min);
    list->shift = (int)max64(list->low, list->high - prefix_bits);
}

/* How often each of `digits`, `shift` bits above the lowest, occurs. Unrolled, as in put_all, because a step is so
 * little that counting steps would be much of it. */
KERNEL void FN(count_digit)(const bits *in, int64_t n, order o, int shift, int64_t digits, int64_t *counts)
{
    const bits mask = (bits)(digits - 1);
    bits batch[BATCH];
    int64_t i = 0;

    memset(counts, 0, (size_t)digits * sizeof *counts);
    for (; i + BATCH <= n; i += BATCH) {
        FN(digits_of)(in + i, o, shift, mask, batch);
#pragma GCC unroll 4
        for (int k = 0; k < BATCH; k++)
            counts[batch[k]]++;
    }
    for (; i < n; i++)
        counts[FN(key)(in[i], o) >> shift & mask]++;
}

/* From counts of prefixes to counts of buckets: of at most `most` elements, or one prefix. Each and the next have more
 * than that, so that there are fewer than 2 n / most + 2; and several for each thread. False: one has more than twice
 * the elements of a thread's part, and the other threads would wait for the one that sorts it. */
static bool FN(make_buckets)(const FN(radix_job) * job, bucket_list *list)
{
    const int64_t most = max64(min64(BUCKET, job->n / (8 * job->parts)), job->n / (MAX_BUCKETS / 2 - 1));
    int64_t end = 0;
    int b = -1;

    list->largest = 0;
    for (int prefix = 0; prefix < prefixes_of(list); prefix++) {
        int64_t here = 0;
        for (int64_t part = 0; part < job->parts; part++)
            here += job->counts[part * PREFIXES + prefix];
        if (here == 0)
            continue;
        if (b < 0 || end + here - list->start[b] > most) {
            list->start[++b] = end;
            list->first[b] = prefix;
        }
        list->last[b] = prefix;
        list->of[prefix] = (uint16_t)b;
        end += here;
        list->largest = max64(list->largest, end - list->start[b]);
        for (int64_t part = 0; part < job->parts; part++) {
            int64_t *counts = job->counts + part * PREFIXES, count = counts[prefix];
            counts[prefix] = 0; /* what was counted at b <= prefix has a bucket by now */
            counts[b] += count;
        }
    }
    list->count = b + 1;
    list->start[b + 1] = end;
    return list->largest <= 2 * job->n / job->parts;
}

KERNEL void FN(distribute_to_buckets)(const bits *in, int64_t n, order o, const bucket_list *list, int64_t *places,
                                      bits *out)
{
    FN(put_all)(in, n, o, list->shift, prefixes_of(list), list->of, places, true, out);
}

static void FN(distribute_parts_to_buckets)(const FN(radix_job) * job, const bucket_list *list)
{
    FN(find_places)(job->counts, job->parts, PREFIXES, list->count, job->n);
#pragma omp parallel for schedule(static, 1) num_threads((int)job->parts)
    for (int64_t part = 0; part < job->parts; part++) {
        int64_t start = FN(part_start)(job, part), end = FN(part_start)(job, part + 1);
        int64_t *places = job->counts + part * PREFIXES;
        FN(distribute_to_buckets)(job->from + start, end - start, job->o, list, places, job->out);
    }
}

KERNEL void FN(distribute_near)(const bits *in, int64_t n, order o, int shift, int64_t digits, int64_t *places,
                                bits *out)
{
    FN(put_all)(in, n, o, shift, digits, NULL, places, false, out);
}

/* Sorts by the digits of the bits from `low` on, the lowest first, below `high`: in those above keys do not differ. */
static void FN(sort_bucket)(bits *data, bits *spare, int64_t n, order o, int low, int high)
{
    const int passes = (high - low + WIDE_BITS - 1) / WIDE_BITS;
    const int width = passes > 0 ? (high - low + passes - 1) / passes : 0; /* 0: the keys are the same */
    int64_t counts[1 << WIDE_BITS];
    bits *from = data, *to = spare;

    for (int shift = low; shift < high; shift += width) {
        FN(count_digit)(from, n, o, shift, 1 << width, counts);
        if (!FN(find_places)(counts, 1, 0, 1 << width, n))
            continue;
        (n > FAR ? FN(distribute) : FN(distribute_near))(from, n, o, shift, 1 << width, counts, to);
        bits *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != data)
        memcpy(data, from, (size_t)n * sizeof *data);
}

/* Memory for sorting the buckets of a part, the first of which starts `at` an element: each has room before the next
 * part's first one. Blocks that were collected in place are not needed any more. */
static bits *FN(spare_of)(const FN(radix_job) * job, const bucket_list *list, const FN(move) * move, int64_t part,
                          int64_t at)
{
    if (move && FN(slot_from)(list->largest) <= MAX_BUCKETS)
        return (bits *)move->collections[part].blocks;
    return job->spare + at;
}

/* Sorts the buckets that start in a part. They use the same spare memory in turn, which so stays in the cache. */
static void FN(sort_buckets)(const FN(radix_job) * job, const bucket_list *list, const FN(move) * move, int64_t part)
{
    const int64_t start = FN(part_start)(job, part), end = FN(part_start)(job, part + 1);
    bits *spare = NULL;

    for (int b = 0; b < list->count; b++) {
        const int64_t at = list->start[b];
        const int span = bit_length((uint64_t)(list->last[b] - list->first[b]));
        order o = job->o;
        if (at < start || at >= end)
            continue;
        spare = spare ? spare : FN(spare_of)(job, list, move, part, at);
        o.bias += (bits)list->first[b] << list->shift;
        FN(sort_bucket)(job->out + at, spare, list->start[b + 1] - at, o, list->low, list->shift + span);
    }
}

/* Each bucket is sorted where it is to be. `move`: of a job in place, else NULL. False: nothing has moved. */
static bool FN(radix_buckets)(FN(radix_job) * job, bucket_list *list, FN(move) * move)
{
    FN(trim_keys)(job, list);
    if (list->high == 0)
        return true; /* all are the same */
#pragma omp parallel for schedule(static, 1) num_threads((int)job->parts)
    for (int64_t part = 0; part < job->parts; part++) {
        int64_t start = FN(part_start)(job, part), end = FN(part_start)(job, part + 1);
        int64_t *counts = job->counts + part * PREFIXES;
        FN(count_digit)(job->from + start, end - start, job->o, list->shift, prefixes_of(list), counts);
    }
    if (!FN(make_buckets)(job, list))
        return false;
    if (move)
        FN(distribute_in_place)(list, move);
    else
        FN(distribute_parts_to_buckets)(job, list);
#pragma omp parallel for schedule(static, 1) num_threads((int)job->parts)
    for (int64_t part = 0; part < job->parts; part++)
        FN(sort_buckets)(job, list, move, part);
    job->from = job->out;
    return true;
}
