/* SPDX-License-Identifier: MIT
 *
 * sort.c - sorting in ascending order, NaN last: what each variant costs, and the rows. Merge sort and the C library's
 * qsort compare elements (sort_typed.h, for each dtype); radix, bitonic and vqsort sort their bits (sort_bits.h, for
 * each width).
 */
#include "highway.h"
#include "operation.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The hot loops stay functions of their own, so that nothing around them takes registers from them. */
#define KERNEL static __attribute__((noinline))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    DIGIT_BITS = 8, /* the lines that a pass writes to, one for each of 256 digits, stay in the first cache */
    DIGITS = 1 << DIGIT_BITS,
    BUCKETS_FROM = 1 << 14, /* elements; sort_buckets.h */
    BUCKET = 1 << 13,       /* elements, which with as much memory again stay in the second cache */
    FAR = 1 << 17,          /* elements that would not */
    MAX_BUCKETS = 2048,     /* places that elements are distributed to at a time */
    BLOCK_BYTES = 2048,     /* sort_blocks.h: those of five hundred buckets stay in the second cache */
    PREFIX_BITS = 14,       /* bits by which buckets differ, at most: counters that stay in the second cache */
    MIN_PREFIX_BITS = 8,
    PREFIXES = 1 << PREFIX_BITS,
    WIDE_BITS = 11,                         /* of a digit in a bucket, at most: counters that stay in the first cache */
    BATCH = CPU_VECTOR_BITS > 64 ? 256 : 1, /* elements whose digits vectors compute at a time */
    PIECE = 1 << 20,                        /* bytes that a thread copies at a time */
    TILE_BYTES = 64 * 1024,                 /* that bitonic works on at a time: stays in the second cache */
    /* elements below which the network is faster than counting (docs/performance/sort.md); wider vectors do more of it
     * at a time */
    NETWORK_BELOW = CPU_VECTOR_BITS > 64 ? 12 * CPU_VECTOR_BITS : 384,
    VQSORT_FROM = 64,       /* elements for each byte of one from which the library is faster than the network */
    VQSORT_BELOW = 1 << 29, /* bytes below which it is faster than radix on one thread */
    VQSORT_BELOW_THREADS = 1 << 17, /* and on two */
    VQSORT_BELOW_ZEN4 = 1 << 17,    /* on one or two, of 64 bits */
};

/* How bits become keys, unsigned numbers in the order of the elements:
 *     key = (bits ^ top bit, and of negative elements ^ flip) - bias
 * Integers are in two's complement: only the top bit is wrong. Floating-point numbers are sign and magnitude: of
 * negative ones all bits are turned around (Herf, "Radix tricks", 2001). NaN with a sign would then come first; less
 * their number, the keys wrap around and these are the last. Every bit pattern has a key of its own, so that nothing
 * of an element, the payload of a NaN included, is lost on the way there and back. */
typedef struct order32 {
    uint32_t flip, bias;
} order32;

typedef struct order64 {
    uint64_t flip, bias;
} order64;

static inline order32 order32_of(fl_dtype dtype)
{
    return dtype == FL_F32 ? (order32){INT32_MAX, (UINT32_C(1) << 23) - 1} : (order32){0, 0};
}

static inline order64 order64_of(fl_dtype dtype)
{
    return dtype == FL_F64 ? (order64){INT64_MAX, (UINT64_C(1) << 52) - 1} : (order64){0, 0};
}

/* Bits that a number needs: 0 of 0, 8 of 255. */
static inline int bit_length(uint64_t number)
{
    return number == 0 ? 0 : 64 - __builtin_clzll((unsigned long long)number);
}

/* Steps from 1 to n by doubling. */
static inline int doublings(int64_t n)
{
    return n < 2 ? 0 : bit_length((uint64_t)n - 1);
}

static inline size_t size_of(const fl_sort_args *s)
{
    return (size_t)dtype_size(s->in.dtype);
}

static inline double bytes_of(const fl_sort_args *s)
{
    return (double)s->in.shape[0] * (double)size_of(s);
}

/* Returns whether radix sort is done in buckets, as it is but for few elements, where they do not pay. The reference
 * has none. */
static inline bool has_buckets(const fl_sort_args *s)
{
#ifdef CPU_REFERENCE
    return (void)s, false;
#else
    return s->in.shape[0] >= BUCKETS_FROM;
#endif
}

typedef struct bucket_list {
    int low, high, shift; /* keys differ in the bits from low on, below high; prefixes are those from shift on */
    int count;
    int64_t largest;                           /* elements */
    int64_t start[MAX_BUCKETS + 1];            /* where each starts */
    int first[MAX_BUCKETS], last[MAX_BUCKETS]; /* its prefixes */
    uint16_t of[PREFIXES];                     /* the bucket of each prefix */
} bucket_list;

/* The number of prefixes that there may be, at most PREFIXES. */
static inline int prefixes_of(const bucket_list *list)
{
    return 1 << (list->high - list->shift);
}

static void CPU_NAME(copy_elements)(const fl_context *context, const fl_sort_args *s, const void *from, void *to)
{
    const int64_t bytes = s->in.shape[0] * (int64_t)size_of(s);

    (void)context;
    if (from == to)
        return;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, (double)bytes))
    for (int64_t start = 0; start < bytes; start += PIECE)
        memcpy((char *)to + start, (const char *)from + start, (size_t)min64(PIECE, bytes - start));
}

#define bits uint32_t
#define sbits int32_t
#define order order32
#define order_of order32_of
#define LIBRARY_SORT cpu_highway_sort_32
#define FN(name) CPU_TYPED(name, 32)
#include "sort_bits.h"
#undef bits
#undef sbits
#undef order
#undef order_of
#undef LIBRARY_SORT
#undef FN
#define bits uint64_t
#define sbits int64_t
#define order order64
#define order_of order64_of
#define LIBRARY_SORT cpu_highway_sort_64
#define FN(name) CPU_TYPED(name, 64)
#include "sort_bits.h"
#undef bits
#undef sbits
#undef order
#undef order_of
#undef LIBRARY_SORT
#undef FN

#define TYPED "sort_typed.h"
#include "sorted_dtypes.h"
#undef TYPED

/* ------------------------------------------------------------------------------------------------- plans ---- */

/* A copy, then each element is read and written once a level. */
static void CPU_NAME(plan_naive)(void *device, const void *args, fl_launch *launch)
{
    const fl_sort_args *s = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = 2 * bytes_of(s) * (1 + doublings(s->in.shape[0]));
}

/* Each element is read once to count the digits of all passes, and in each pass (by threads twice, the first time to
 * count) and written once; a counter is read and written with each digit counted and each element put. In buckets it is
 * read once for the range of the keys, and counted and put once to get into its bucket, by way of its prefix's number,
 * and once for each digit in there: of keys that differ in all bits. In place it also moves into a block, and with the
 * block twice. */
static void CPU_NAME(plan_radix)(void *device, const void *args, fl_launch *launch)
{
    const fl_sort_args *s = args;
    const int threads = ((const cpu_device *)device)->threads;
    double passes = 8.0 * (double)size_of(s) / DIGIT_BITS, n = (double)s->in.shape[0];
    double recounts = threads > 1 ? passes - 1 : 0;

    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested =
        bytes_of(s) * (1 + recounts + 2 * passes) + 2 * sizeof(int64_t) * n * (recounts + 2 * passes);
    if (has_buckets(s)) {
        passes = 1 + ceil((8.0 * (double)size_of(s) - PREFIX_BITS) / WIDE_BITS);
        launch->bytes_requested =
            bytes_of(s) * (1 + 3 * passes) + (2 * sizeof(int64_t) * 2 * passes + sizeof(uint16_t)) * n;
        if (s->in.data == s->out.data)
            launch->bytes_requested += 4 * bytes_of(s);
    }
}

/* Tiles of a power of two. Each step reads and writes each element once; keys are made before and undone after. */
static void CPU_NAME(plan_bitonic)(void *device, const void *args, fl_launch *launch)
{
    const fl_sort_args *s = args;
    int64_t asked = launch->block[0] > 0 ? launch->block[0] : TILE_BYTES / (int64_t)size_of(s), tile = 2;
    int levels = doublings(s->in.shape[0]);

    (void)device;
    while (2 * tile <= asked)
        tile *= 2;
    launch->block[0] = (int32_t)tile;
    launch->block[1] = launch->block[2] = 1;
    launch->grid[0] = (s->in.shape[0] + tile - 1) / tile;
    launch->grid[1] = launch->grid[2] = 1;
    launch->bytes_requested = 2 * bytes_of(s) * (2 + levels * (levels + 1) / 2);
}

/* The loads and stores of a library are not known: counted is each element, read once and written once. */
static void CPU_NAME(plan_library)(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = 2 * bytes_of(args);
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

#define RUN_BITS(variant) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        return size_of(args) == 4 ? CPU_TYPED(variant, 32)(context, args, launch) \
                                  : CPU_TYPED(variant, 64)(context, args, launch); \
    }
CPU_RUN_NUMBERS(naive, fl_sort_args, in)
CPU_RUN_NUMBERS(library, fl_sort_args, in)
RUN_BITS(radix)
RUN_BITS(bitonic)
RUN_BITS(vqsort)

/* The network has a block. */
static bool takes_network(const fl_launch *launch)
{
    return launch->block[0] > 0;
}

/* Zen 4 is the only processor of AMD's family 25 that has vectors of 512 bits. It stores chosen elements of a vector
 * slowly, which the library does with keys of 32 bits. */
static bool is_zen4(void)
{
#ifdef __x86_64__
    return __builtin_cpu_is("amdfam19h");
#else
    return false;
#endif
}

/* Bytes from which on radix, or the device's threads, are faster than the library. */
static int64_t vqsort_below(const cpu_device *device, size_t size)
{
    if (is_zen4())
        return size == 4 ? 0 : VQSORT_BELOW_ZEN4;
    return device->threads > 1 ? VQSORT_BELOW_THREADS : VQSORT_BELOW;
}

/* Returns whether the library is the fastest: with vectors of 512 bits, from some vectors' elements on, unless several
 * threads are faster. */
static bool takes_library(const fl_context *context, const fl_sort_args *s)
{
    char why[1];

    return CPU_VECTOR_BITS == 512 && s->in.shape[0] >= VQSORT_FROM * (int64_t)size_of(s) &&
           s->in.shape[0] < vqsort_below(context->device, size_of(s)) / (int64_t)size_of(s) &&
           cpu_highway_ready(NULL, why, sizeof why) == FL_OK;
}

static void CPU_NAME(plan_auto)(void *device, const void *args, fl_launch *launch)
{
    const fl_context context = {.device = device};

    if (takes_library(&context, args))
        CPU_NAME(plan_library)(device, args, launch);
    else if (((const fl_sort_args *)args)->in.shape[0] < NETWORK_BELOW)
        CPU_NAME(plan_bitonic)(device, args, launch);
    else
        CPU_NAME(plan_radix)(device, args, launch);
}

static fl_status CPU_NAME(run_auto)(const fl_context *context, const void *args, const fl_launch *launch)
{
    if (takes_network(launch))
        return CPU_NAME(run_bitonic)(context, args, launch);
    return (takes_library(context, args) ? CPU_NAME(run_vqsort) : CPU_NAME(run_radix))(context, args, launch);
}

static const char *CPU_NAME(chosen)(const fl_context *context, const void *args, fl_launch *launch)
{
    return takes_network(launch) ? "bitonic" : takes_library(context, args) ? "vqsort" : "radix";
}

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_SORT, "auto", CPU_NUMBERS, plan_auto, run_auto,
             "bitonic for few elements, vqsort where it is faster, else radix"),
     .chosen = CPU_NAME(chosen)},
    {CPU_ROW(FL_OP_SORT, "radix", CPU_NUMBERS, plan_radix, run_radix,
             "counts and distributes by a few bits per pass, without comparisons")},
    {CPU_ROW(FL_OP_SORT, "bitonic", CPU_NUMBERS, plan_bitonic, run_bitonic,
             "a network of minima and maxima, the same for every input, which suits vectors")},
    {CPU_ROW(FL_OP_SORT, "naive", CPU_NUMBERS, plan_naive, run_naive,
             "the textbook's bottom-up merge sort; its last merges use few threads")},
    {CPU_ROW(FL_OP_SORT, "library", CPU_NUMBERS, plan_library, run_library,
             "qsort of the C library, always on one thread")},
};

static const fl_row vqsort_rows[] = {
    {CPU_ROW(FL_OP_SORT, "vqsort", CPU_NUMBERS, plan_library, run_vqsort,
             "Highway's quicksort with the processor's widest vectors, always on one thread"),
     .available = cpu_highway_ready},
};

CPU_OPERATION(cpu_sort, rows);
const cpu_operation CPU_NAME(cpu_sort_vqsort) = {.rows = vqsort_rows, .count = 1, .found = cpu_highway_found};
