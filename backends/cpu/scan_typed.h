/* SPDX-License-Identifier: MIT
 *
 * scan_typed.h - the loops of scan.c for one dtype and reduction. Included once for each, with
 *     from, to     the types of in's and of out's elements
 *     WIDTH        the bytes of `to`, as a number for the preprocessor
 *     PUT(a, b)    a and b put together, in this order; of vectors, too
 *     LOWEST       what changes nothing when put before something
 *     WIDEN(in)    optional: a vector of `to` from as many elements of `from`
 *     FN(name)     the name of a function for these: naive_sum_f32_v3
 * and for a maximum
 *     MAXIMUM, BEYOND(a, b)    whether b takes a's place; of vectors a mask
 * It undefines from, to, WIDTH, WIDEN and FN.
 */

/* Two lanes gain nothing: what moves them takes as long as the additions that they save. */
#if defined(SCAN_VECTORS) && (WIDTH == 1 || CPU_VECTOR_BITS / 8 / WIDTH > 2)
#define VECTORS
#endif

#if defined(VECTORS)
/* Moving single bytes between the halves of a longer vector takes several instructions. */
#if WIDTH == 1 || CPU_VECTOR_BITS / 8 / WIDTH == 16
#define LANES 16
#define NEXT(i) NEXT_16(i)
#define SAME(i) SAME_16(i)
#elif CPU_VECTOR_BITS / 8 / WIDTH == 8
#define LANES 8
#define NEXT(i) NEXT_8(i)
#define SAME(i) SAME_8(i)
#else
#define LANES 4
#define NEXT(i) NEXT_4(i)
#define SAME(i) SAME_4(i)
#endif
#else
#define LANES 4 /* scalars side by side */
#endif

#if defined(MAXIMUM)
static inline to FN(larger)(to a, to b)
{
    return BEYOND(a, b) ? b : a;
}
#endif

static fl_status FN(naive)(const fl_context *context, const fl_scan_args *s)
{
    const from *in = s->in.data;
    to *out = s->out.data, running = LOWEST;

    (void)context;
    for (int64_t i = 0; i < s->in.shape[0]; i++) {
        const to before = running;
        running = PUT(running, (to)in[i]);
        out[i] = s->exclusive ? before : running;
    }
    return FL_OK;
}

/* ---------------------------------------------------------------------------------- LANES elements at a time ---- */

#if defined(VECTORS)
typedef to FN(vector) __attribute__((vector_size(LANES * WIDTH)));
typedef from FN(narrow) __attribute__((vector_size(LANES * sizeof(from))));

static inline FN(vector) FN(load)(const from *in)
{
#if defined(WIDEN)
    return (FN(vector))WIDEN(in);
#else
    FN(narrow) elements;

    memcpy(&elements, in, sizeof elements);
    return __builtin_convertvector(elements, FN(vector));
#endif
}

#if defined(MAXIMUM)
static inline FN(vector) FN(larger_lanes)(FN(vector) a, FN(vector) b)
{
    typedef __typeof__(a > b) mask;
    const mask beyond = BEYOND(a, b);

    return (FN(vector))((beyond & (mask)b) | (~beyond & (mask)a));
}
#define PUT_LANES(a, b) FN(larger_lanes)(a, b)
#else
#define PUT_LANES(a, b) PUT(a, b)
#endif

/* Scans the lanes of a vector: each lane takes the one 1 below it, then 2, then 4 ... (Hillis and Steele). */
static inline FN(vector) FN(prefix)(FN(vector) x, FN(vector) lowest)
{
    x = PUT_LANES(__builtin_shufflevector(lowest, x, NEXT(LANES - 1)), x);
    x = PUT_LANES(__builtin_shufflevector(lowest, x, NEXT(LANES - 2)), x);
#if LANES > 4
    x = PUT_LANES(__builtin_shufflevector(lowest, x, NEXT(LANES - 4)), x);
#endif
#if LANES > 8
    x = PUT_LANES(__builtin_shufflevector(lowest, x, NEXT(LANES - 8)), x);
#endif
    return x;
}

/* Scans as many elements as fill vectors, each of them behind `before`, and returns how many; *own: what they and those
 * counted in it before give without `before`. The next vector waits for one PUT alone: what is within a vector does not
 * depend on what is before it. */
static inline __attribute__((always_inline)) int64_t FN(lanes)(const from *in, to *out, int64_t count, to before,
                                                               bool exclusive, to *own)
{
    const FN(vector) lowest = LOWEST - (FN(vector)){0}, first = before - (FN(vector)){0};
    FN(vector) running = lowest;
    int64_t i = 0;

    for (; i + LANES <= count; i += LANES) {
        const FN(vector) here = FN(prefix)(FN(load)(in + i), lowest);
        const FN(vector) shown = exclusive ? __builtin_shufflevector(lowest, here, NEXT(LANES - 1)) : here;
        const FN(vector) scanned = PUT_LANES(first, PUT_LANES(running, shown));
        memcpy(out + i, &scanned, sizeof scanned);
        running = PUT_LANES(running, __builtin_shufflevector(here, here, SAME(LANES - 1)));
    }
    *own = running[0];
    return i;
}
#else
/* As the version with vectors, with scalars: the next four elements wait for only one PUT. */
static inline __attribute__((always_inline)) int64_t FN(lanes)(const from *in, to *out, int64_t count, to before,
                                                               bool exclusive, to *own)
{
    to running = LOWEST;
    int64_t i = 0;

    for (; i + LANES <= count; i += LANES) {
        const to a = (to)in[i], b = (to)in[i + 1], c = (to)in[i + 2], d = (to)in[i + 3], ab = PUT(a, b);
        const to zero = PUT(before, running), one = PUT(before, PUT(running, a)), two = PUT(before, PUT(running, ab));
        const to three = PUT(before, PUT(running, PUT(ab, c)));
        running = PUT(running, PUT(ab, PUT(c, d)));
        out[i] = exclusive ? zero : one;
        out[i + 1] = exclusive ? one : two;
        out[i + 2] = exclusive ? two : three;
        out[i + 3] = exclusive ? three : PUT(before, running);
    }
    *own = running;
    return i;
}
#endif

/* ----------------------------------------------------------------------------------------- a thread's part ---- */

/* in[0] to in[count - 1] put together, at most a CHUNK. */
static inline to FN(chunk_total)(const from *in, int64_t count)
{
    to total = LOWEST;
    int64_t i = 0;

#if defined(VECTORS)
    const FN(vector) lowest = LOWEST - (FN(vector)){0};
    FN(vector) some[4] = {lowest, lowest, lowest, lowest};
    for (; i + 4 * LANES <= count; i += 4 * LANES)
        for (int v = 0; v < 4; v++)
            some[v] = PUT_LANES(some[v], FN(load)(in + i + v * LANES));
    some[0] = PUT_LANES(PUT_LANES(some[0], some[1]), PUT_LANES(some[2], some[3]));
    for (int lane = 0; lane < LANES; lane++)
        total = PUT(total, some[0][lane]);
#endif
    for (; i < count; i++)
        total = PUT(total, (to)in[i]);
    return total;
}

/* Scans a chunk, before which there was `before`, and returns what it gives by itself. */
static inline __attribute__((always_inline)) to FN(chunk)(const from *in, to *out, int64_t count, to before,
                                                          bool exclusive)
{
    to own;

    for (int64_t i = FN(lanes)(in, out, count, before, exclusive, &own); i < count; i++) {
        const to earlier = own;
        own = PUT(own, (to)in[i]);
        out[i] = PUT(before, exclusive ? earlier : own);
    }
    return own;
}

/* Scans `count` elements, before which there was `before`. */
static void FN(part)(const from *in, to *out, int64_t count, to before, bool exclusive)
{
#if defined(MAXIMUM) && !defined(VECTORS)
    /* A maximum seldom changes: one loop, whose branch is foreseen, is faster than four elements at a time. */
    for (int64_t i = 0; i < count; i++) {
        const to earlier = before;
        before = PUT(before, (to)in[i]);
        out[i] = exclusive ? earlier : before;
    }
#else
    to group = LOWEST; /* of the chunks so far since the last multiple of GROUP */

    for (int64_t i = 0; i < count; i += CHUNK) {
        const int64_t length = min64(CHUNK, count - i);
        const to start = PUT(before, group);
        group = PUT(group, exclusive ? FN(chunk)(in + i, out + i, length, start, true)
                                     : FN(chunk)(in + i, out + i, length, start, false));
        if ((i + CHUNK) % GROUP == 0) {
            before = PUT(before, group);
            group = LOWEST;
        }
    }
#endif
}

/* Returns the total of count elements, in the order in which `part` adds them. */
static to FN(total)(const from *in, int64_t count)
{
    to total = LOWEST;

    for (int64_t i = 0; i < count; i += GROUP) {
        const int64_t end = min64(i + GROUP, count);
        to group = LOWEST;
        for (int64_t c = i; c < end; c += CHUNK)
            group = PUT(group, FN(chunk_total)(in + c, min64(CHUNK, end - c)));
        total = PUT(total, group);
    }
    return total;
}

/* Blelloch, "Prefix sums and their applications", 1990, section 1.2. No thread needs the total of the last part. */
static fl_status FN(blocked)(const fl_context *context, const fl_scan_args *s)
{
    const int64_t length = s->in.shape[0], parts = CPU_NAME(parts_of)(context, s);
    const int64_t part = (length + parts - 1) / parts;
    const from *in = s->in.data;
    const bool exclusive = s->exclusive;
    to *out = s->out.data, *before;
    void *memory;
    fl_status status;

    if (parts == 1) {
        FN(part)(in, out, length, LOWEST, exclusive);
        return FL_OK;
    }
    status = context->host->scratch(context, (size_t)parts * sizeof *before, &memory);
    if (status != FL_OK)
        return status;
    before = memory;
    before[0] = LOWEST;
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts - 1; p++)
        before[p + 1] = FN(total)(in + p * part, min64(part, length - p * part));
    for (int64_t p = 1; p < parts; p++)
        before[p] = PUT(before[p - 1], before[p]);
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts; p++)
        FN(part)(in + p * part, out + p * part, min64(part, length - p * part), before[p], exclusive);
    return FL_OK;
}

#undef from
#undef to
#undef WIDTH
#undef FN
#undef LANES
#undef NEXT
#undef SAME
#undef PUT_LANES
#undef VECTORS
#undef WIDEN
