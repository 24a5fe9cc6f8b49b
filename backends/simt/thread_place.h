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

/* One for each processor thread that runs blocks; it describes the thread of the block that runs now. */
struct simt_place {
    simt_index thread, block, threads, blocks;
    int left;              /* memory accesses after which the thread leaves; a kernel of Flynn's does not count them */
    int atomics;           /* the same of atomics, by which threads wait for each other */
    int sum;               /* of the votes of __syncthreads_count */
    unsigned char *shared; /* the block's dynamic shared memory */
    void (*leave)(simt_place *place, simt_why why); /* nullptr: no kernel runs here */
    const char *ended;                              /* what the thread called to end the program */
    void *runner;                                   /* grid.cpp's */
};
