/* SPDX-License-Identifier: MIT
 *
 * sort_blocks.h - brings the elements of an array into their buckets within the array; a part of sort_bits.h.
 *
 * Axtmann, Witt, Ferizovic and Sanders, "In-place parallel super scalar samplesort (IPSSSSo)", ESA 2017, with the
 * buckets of sort_buckets.h. Elements move twice, as they would by a copy of the array from which they are distributed,
 * but no second array is needed:
 * 1. Each thread collects the elements of its part, a block for each bucket. A block that is full is written over the
 *    start of the part, whose elements have been read by then.
 * 2. The array is divided into slots, each as long as a block. A slot belongs to the bucket in which it starts. Blocks
 *    move to the slots of their bucket: a block takes the place of another one, which moves on.
 * 3. A bucket has room left before its first slot and after its last block. It gets the elements that did not fill a
 *    block, and those of its last block that are beyond the bucket's end.
 */

#define BLOCK ((int64_t)(BLOCK_BYTES / sizeof(bits))) /* elements */

typedef struct FN(block) {
    bits of[BLOCK_BYTES / sizeof(bits)];
} FN(block);

/* The elements that a thread collects. `blocks` has a block for each bucket, which holds sizes[bucket] elements; later
 * the largest bucket is sorted in this memory. Blocks that became full are in the first slots of the thread's part. */
typedef struct FN(collection) {
    FN(block) * blocks;
    uint16_t sizes[MAX_BUCKETS];
    int64_t full; /* number of blocks */
} FN(collection);

/* The state that all threads share. For each bucket `first` and `from` are slots: the blocks before `first` are where
 * they belong, and the blocks from `from` on were taken by a thread. The blocks of all collections lie next to each
 * other, because the system gives out memory in large pages. `last` stands for the slot that the array's end cuts off.
 */
typedef struct FN(move) {
    const FN(radix_job) * job;
    const bucket_list *list;
    FN(collection) * collections; /* one for each part */
    FN(block) * blocks;
    int64_t part_slots;                       /* slots of each part */
    _Atomic uint64_t first_from[MAX_BUCKETS]; /* first << 32 | from */
    atomic_int taking[MAX_BUCKETS];           /* threads that copy a block from there */
    FN(block) beyond[MAX_BUCKETS];
    FN(block) last;
} FN(move);

/* The first slot that starts at an element or after it. */
ALWAYS_INLINE int64_t FN(slot_from)(int64_t element)
{
    return (element + BLOCK - 1) / BLOCK;
}

/* Adds an element to its bucket's block, which is written to `to` when it is full. Returns where the next one goes. */
ALWAYS_INLINE bits *FN(collect_one)(bits element, int b, FN(collection) * collection, bits *to)
{
    const int size = collection->sizes[b];

    collection->blocks[b].of[size] = element;
    collection->sizes[b] = (uint16_t)(size + 1);
    if (size + 1 < BLOCK)
        return to;
    memcpy(to, &collection->blocks[b], BLOCK_BYTES);
    collection->sizes[b] = 0;
    return to + BLOCK;
}

/* Returns how many blocks are full. */
KERNEL int64_t FN(collect)(bits *data, int64_t n, order o, const bucket_list *list, FN(collection) * collection)
{
    const bits mask = (bits)(prefixes_of(list) - 1);
    bits batch[BATCH], *to = data;
    int64_t i = 0;

    memset(collection->sizes, 0, (size_t)list->count * sizeof *collection->sizes);
    for (; i + BATCH <= n; i += BATCH) {
        FN(digits_of)(data + i, o, list->shift, mask, batch);
#pragma GCC unroll 4
        for (int k = 0; k < BATCH; k++)
            to = FN(collect_one)(data[i + k], list->of[batch[k]], collection, to);
    }
    for (; i < n; i++)
        to = FN(collect_one)(data[i], list->of[FN(key)(data[i], o) >> list->shift & mask], collection, to);
    return (to - data) / BLOCK;
}

static bool FN(is_full)(const FN(move) * move, int64_t slot)
{
    return slot % move->part_slots < move->collections[slot / move->part_slots].full;
}

static int FN(bucket_of)(const FN(move) * move, bits b)
{
    return move->list->of[FN(key)(b, move->job->o) >> move->list->shift & (bits)(prefixes_of(move->list) - 1)];
}

/* Copies the last block of a bucket's slots that is not yet where it belongs. False: there is none. */
static bool FN(take_block)(FN(move) * move, int b, FN(block) * block)
{
    bool found = false;

    atomic_fetch_add(&move->taking[b], 1);
    for (uint64_t now = atomic_load(&move->first_from[b]); !found && now >> 32 < (uint32_t)now;) {
        const int64_t slot = (uint32_t)now - 1;
        if (!atomic_compare_exchange_weak(&move->first_from[b], &now, now - 1))
            continue;
        found = FN(is_full)(move, slot);
        if (found)
            memcpy(block, move->job->out + slot * BLOCK, BLOCK_BYTES);
        now = atomic_load(&move->first_from[b]);
    }
    atomic_fetch_sub(&move->taking[b], 1);
    return found;
}

/* Puts a block into the next slot of its bucket. True: there was another block, which `block` then is. */
static bool FN(put_block)(FN(move) * move, FN(block) * block)
{
    const int b = FN(bucket_of)(move, block->of[0]);
    FN(block) other;

    for (;;) {
        const uint64_t before = atomic_fetch_add(&move->first_from[b], (uint64_t)1 << 32);
        const int64_t slot = (int64_t)(before >> 32);
        const bool taken = slot >= (uint32_t)before, full = !taken && FN(is_full)(move, slot);
        bits *to = (slot + 1) * BLOCK > move->job->n ? move->last.of : move->job->out + slot * BLOCK;
        if (full && FN(bucket_of)(move, to[0]) == b)
            continue; /* it is where it belongs */
        /* Another thread may still copy what was there. */
        while (taken && atomic_load(&move->taking[b]) > 0)
            ;
        if (full)
            memcpy(&other, to, BLOCK_BYTES);
        memcpy(to, block, BLOCK_BYTES);
        if (full)
            *block = other;
        return full;
    }
}

/* Moves blocks until all are in their slots. Each thread begins with a different bucket, so that two threads seldom
 * change the same one. */
static void FN(move_blocks)(FN(move) * move, int64_t part)
{
    const int count = move->list->count, start = (int)(part * count / move->job->parts);
    FN(block) block;

    for (int k = 0; k < count; k++)
        while (FN(take_block)(move, (start + k) % count, &block))
            while (FN(put_block)(move, &block))
                ;
}

/* Where a bucket's blocks end. */
static int64_t FN(blocks_end)(const FN(move) * move, int b)
{
    return (int64_t)(atomic_load(&move->first_from[b]) >> 32) * BLOCK;
}

/* The elements of a bucket's last block that are beyond the bucket's end, where others belong. */
static int64_t FN(count_beyond)(const FN(move) * move, int b)
{
    const int64_t end = FN(blocks_end)(move, b);

    return end == FN(slot_from)(move->list->start[b]) * BLOCK ? 0 : max64(0, end - move->list->start[b + 1]);
}

static void FN(keep_beyond)(FN(move) * move, int b)
{
    const FN(radix_job) *job = move->job;
    const int64_t beyond = FN(count_beyond)(move, b), start = FN(blocks_end)(move, b) - BLOCK;

    if (beyond == 0)
        return;
    const bool is_cut = start + BLOCK > job->n;
    const bits *block = is_cut ? move->last.of : job->out + start;
    if (is_cut)
        memcpy(job->out + start, block, (size_t)(BLOCK - beyond) * sizeof(bits));
    memcpy(move->beyond[b].of, block + BLOCK - beyond, (size_t)beyond * sizeof(bits));
}

/* Copies elements to where a bucket has room, at first before `blocks`, then from `blocks_end` on. */
static bits *FN(fill)(const bits *from, int64_t count, bits *to, const bits *blocks, bits *blocks_end)
{
    for (int64_t k = 0; k < count; k++) {
        to = to == blocks ? blocks_end : to;
        *to++ = from[k];
    }
    return to;
}

static void FN(fill_bucket)(const FN(move) * move, int b)
{
    const FN(radix_job) *job = move->job;
    const int64_t start = move->list->start[b], end = move->list->start[b + 1];
    const bits *blocks = job->out + min64(FN(slot_from)(start) * BLOCK, end);
    bits *to = job->out + start, *after = job->out + min64(FN(blocks_end)(move, b), end);

    to = FN(fill)(move->beyond[b].of, FN(count_beyond)(move, b), to, blocks, after);
    for (int64_t part = 0; part < job->parts; part++)
        to = FN(fill)(move->collections[part].blocks[b].of, move->collections[part].sizes[b], to, blocks, after);
}

/* Takes the memory that a job in place needs. */
static fl_status FN(make_move)(const fl_context *context, const FN(radix_job) * job, FN(move) * *move)
{
    const fl_host *host = context->host;
    const size_t parts = (size_t)job->parts;
    void *own, *collections = NULL, *blocks = NULL;
    fl_status status = host->scratch(context, sizeof **move, &own);

    if (status == FL_OK)
        status = host->scratch(context, parts * sizeof(FN(collection)), &collections);
    if (status == FL_OK)
        status = host->scratch(context, parts * MAX_BUCKETS * sizeof(FN(block)), &blocks);
    if (status != FL_OK)
        return status;
    *move = own;
    (*move)->job = job;
    (*move)->collections = collections;
    (*move)->blocks = blocks;
    return FL_OK;
}

/* Brings the elements of job->out into their buckets. */
static void FN(distribute_in_place)(const bucket_list *list, FN(move) * move)
{
    const FN(radix_job) *job = move->job;
    const int64_t part_slots = FN(slot_from)((job->n + job->parts - 1) / job->parts);
    const int64_t part_blocks = min64(MAX_BUCKETS, max64(list->count, FN(slot_from)(list->largest)));

    move->list = list;
    move->part_slots = part_slots;
#pragma omp parallel for schedule(static, 1) num_threads((int)job->parts)
    for (int64_t part = 0; part < job->parts; part++) {
        const int64_t start = min64(part * part_slots * BLOCK, job->n);
        const int64_t end = min64(start + part_slots * BLOCK, job->n);
        FN(collection) *collection = &move->collections[part];
        collection->blocks = move->blocks + part * part_blocks;
        collection->full = FN(collect)(job->out + start, end - start, job->o, list, collection);
    }
    for (int b = 0; b < list->count; b++) {
        const int64_t first = FN(slot_from)(list->start[b]), from = FN(slot_from)(list->start[b + 1]);
        atomic_init(&move->first_from[b], (uint64_t)first << 32 | (uint64_t)from);
        atomic_init(&move->taking[b], 0);
    }
#pragma omp parallel for schedule(static, 1) num_threads((int)job->parts)
    for (int64_t part = 0; part < job->parts; part++)
        FN(move_blocks)(move, part);
#pragma omp parallel for schedule(static) num_threads((int)job->parts)
    for (int b = 0; b < list->count; b++)
        FN(keep_beyond)(move, b);
#pragma omp parallel for schedule(static) num_threads((int)job->parts)
    for (int b = 0; b < list->count; b++)
        FN(fill_bucket)(move, b);
}

#undef BLOCK
