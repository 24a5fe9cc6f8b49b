/* SPDX-License-Identifier: MIT
 *
 * thread_place.h - where a thread of an emulated GPU stands in its grid, and how it leaves the processor to the block's
 * other threads. The plugin includes this file, and it is a part of the text that is compiled for a kernel of the
 * user's. */
struct simt_index {
    unsigned x, y, z;
};

/* Why a thread leaves the processor: at a memory access or an atomic, at a barrier, or for good, because it called a
 * function that ends the program. */
enum simt_why { SIMT_AT_ACCESS, SIMT_AT_BARRIER, SIMT_AT_END };

/* What a thread is about to do, for simt_place.turn; the lower bits are the number of bytes at the address. */
enum simt_what {
    SIMT_BYTES = 0xffffff,
    SIMT_READ = 1 << 24,
    SIMT_WRITE = 1 << 25,
    SIMT_ATOMIC = 1 << 26,     /* an atomic or volatile access */
    SIMT_RELEASES = 1 << 27,   /* an atomic access before which a fence is implied */
    SIMT_FENCE = 1 << 28,      /* a fence, at no address */
    SIMT_MISALIGNED = 1 << 29, /* use an address that should be a multiple of the bytes, and is not */
    SIMT_INDEX = 1 << 30,      /* use an index of an array, which has fewer elements: `place->index` and `limit` */
    SIMT_NATURAL = 1u << 31    /* an access whose address is a multiple of its bytes, at least of 8 if it has 16 */
};

/* What threads of a warp do together. */
enum simt_together {
    SIMT_SYNC,    /* each sees what the others wrote before */
    SIMT_SHUFFLE, /* each takes the value of the lane `from` */
    SIMT_VOTE,    /* the result: the lanes whose value is not 0, bit by bit */
    SIMT_MATCH,   /* the result: the lanes that have the same value, bit by bit */
    SIMT_COMBINE  /* the result: all values by `combine` */
};

/* A thread's call of a warp function. */
struct simt_warp_call {
    const char *name;
    simt_together what;
    bool has_mask; /* the lanes in `mask` call it, bit by bit; else those that reach the place together */
    unsigned long long mask, value;
    int from, width; /* of a shuffle: the lane, and how many lanes are a group */
    unsigned long long (*combine)(unsigned long long, unsigned long long);
    const void *where;                /* what comes after the call */
    unsigned long long result, lanes; /* out; `lanes`: those that took part, bit by bit */
};

/* One for each processor thread that runs blocks; it describes the thread of the block that runs now. */
struct simt_place {
    simt_index thread, block, threads, blocks;
    int left;              /* memory accesses after which the thread leaves; a kernel of Flynn's does not count them */
    int atomics;           /* the same of atomics, by which threads wait for each other */
    int sum;               /* of the votes of __syncthreads_count */
    unsigned char *shared; /* the block's dynamic shared memory */
    void (*leave)(simt_place *place, simt_why why); /* nullptr: no kernel runs here */
    const char *ended;                              /* what the thread called to end the program, or `said` */
    void *runner;                                   /* runner.cpp's */
    int number;                                     /* the thread's number in its block */
    bool watched;                                   /* the launch is: `turn` is called at each access and fence */
    const void *where;                              /* what the thread continues with after its barrier */
    long index, limit;                              /* operands of SIMT_INDEX */
    char said[256];                                 /* of an assertion that does not hold: a line with blanks */
    /* Called before an access, `where` being what comes after it: leaves the processor to another thread, and looks at
     * the access if the launch is watched. */
    void (*turn)(simt_place *place, const volatile void *at, unsigned what, const void *where);
    /* Called by a warp function: returns when the lanes that take part are there, with the result. */
    void (*meet)(simt_place *place, simt_warp_call *call);
};
