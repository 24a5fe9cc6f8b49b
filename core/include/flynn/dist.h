/* SPDX-License-Identifier: MIT
 *
 * dist.h - operations of several processes (libflynn-dist). Each process has one device and a part of the data.
 *
 * A launcher (mpirun, srun) begins the same program several times; the processes are the ranks of a group, 0 to size
 * - 1. An array's first dimension is parted in blocks, one for each rank: fl_group_share says which. No rank holds more
 * than its share.
 *
 * Unless a comment says otherwise a call is made by all ranks in the same order, from the thread that opened the group,
 * and ends in the same status for all: FL_OK, or the status of the lowest rank that failed, whose message each rank's
 * fl_last_error has: "rank 3 (node7): ...". A rank that fails by itself calls fl_group_agree, and all others' next call
 * of the group returns the same.
 */
#ifndef FLYNN_DIST_H
#define FLYNN_DIST_H

#include <flynn/link.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fl_group fl_group;

typedef struct fl_group_info {
    int32_t rank, size;
    int32_t local_rank, local_size; /* among the ranks of this host */
    const char *host;               /* "node7" */
    const char *link;               /* "openmpi"; "": no launcher began this process, which is a group of one */
    const char *library;            /* "Open MPI v4.1.4" */
    const char *remark;             /* "": none */
    const char *path; /* that elements take between the ranks' devices, once an operation has run: "host" (devices
                         compute in host memory), "staged" (by way of pinned host memory), "device" (the link reads and
                         writes the device's memory), "nccl" (NCCL, on AMD's GPUs RCCL); "": none has run yet */
} fl_group_info;

/* Joins the other processes that the launcher began; once in a process, before it begins threads or opens a device.
 * Without a launcher, or with one of a single process: a group of one, which loads no link. Errors as fl_link_open;
 * FL_E_MEMORY. Where *group is not NULL in spite of an error all ranks have joined and have the same error: one of them
 * has a wrong FLYNN_LINK_TIMEOUT. */
FL_API fl_status fl_group_open(fl_group **group);
/* Waits for all ranks and leaves them; NULL: nothing. The status is that of a rank that fails now. After a call that
 * failed the group can be closed at once. */
FL_API fl_status fl_group_close(fl_group *group);
/* Valid as long as the group. Not collective. */
FL_API const fl_group_info *fl_group_describe(const fl_group *group);

/* The part of `count` elements, or rows, that a rank has: `share` of them from `first` on. The lower ranks have one
 * more where the count is not a multiple of the size. Not collective. */
FL_API void fl_group_share(const fl_group *group, int64_t count, int32_t rank, int64_t *first, int64_t *share);

/* All ranks must have the same facts: `bytes` of any data, such as a file's; `differs` is the message of a rank whose
 * data are not rank 0's. NULL: the facts are texts "NAME=VALUE" or "NAME", such as a program's options, each with its
 * '\0', in one order, and the message says which one: "rank 1 (node7): has --size=3, and rank 0 has --size=2". Hashes
 * are compared. FL_E_ARGUMENT. */
FL_API fl_status fl_group_same(fl_group *group, const void *facts, int64_t bytes, const char *differs);

/* Opens a device for this rank: of a family of GPUs ("hip", "hip-nvidia") without a number the one of the local rank,
 * modulo their number; else as fl_device_open, but that "auto" is the best backend on every rank, however busy its
 * machine is. Then fl_group_same_build. */
FL_API fl_status fl_group_device(fl_group *group, const char *resource, fl_device **device);
/* The ranks that compute by a plugin of one name must have the same file of it: FL_E_ARGUMENT. Ranks may compute by
 * different plugins. */
FL_API fl_status fl_group_same_build(fl_group *group, const fl_device *device);

/* Sets the path of the group's next operations: one of the names that fl_group_info lists. Without this call an
 * operation takes the best path that all ranks' devices have. If they do not have the path, the operation returns
 * FL_E_UNAVAILABLE. FL_E_UNKNOWN: no such name. Not collective, but all ranks must set the same. */
FL_API fl_status fl_group_path(fl_group *group, const char *path);

/* Each rank gives its status, with a message if it failed. All return FL_OK, or the status and message of the lowest
 * rank that failed. Every other call of a group begins with this, with FL_OK, and returns FL_E_ARGUMENT where the ranks
 * make different calls, or give them arguments that must be alike and are not. A failure does not end the group. */
FL_API fl_status fl_group_agree(fl_group *group, fl_status status, const char *message);
/* The status that the group's last call agreed on. Not collective. */
FL_API fl_status fl_group_failed(const fl_group *group);
/* Ends all ranks at once (MPI_Abort): for an error in a thread that may not call the group. NULL: this process could
 * not join the others, whose launcher is asked to end them. Not collective. */
FL_API void fl_group_end(const fl_group *group, int exit_code);

/* The sum, least or most of all ranks' x[i]: `count` numbers of i64 or f64, in place, by FL_SUM, FL_MINIMUM or
 * FL_MAXIMUM; others are FL_E_ARGUMENT. A sum of f64 depends on the number of ranks. */
FL_API fl_status fl_group_reduce(fl_group *group, void *x, int32_t count, fl_dtype dtype, fl_reduction reduction);
/* all = the `bytes` of rank 0, those of rank 1 ... */
FL_API fl_status fl_group_gather(fl_group *group, const void *mine, void *all, int64_t bytes);
/* Copies rank 0's `bytes` of data to all ranks. */
FL_API fl_status fl_group_broadcast(fl_group *group, void *data, int64_t bytes);
/* Sends to[r] to rank r and receives from[r] from it; both have `size` elements, in host memory. */
FL_API fl_status fl_group_exchange(fl_group *group, const fl_piece *to, const fl_piece *from);

/* Rows of an array, along its first dimension, from `first` on. */
typedef struct fl_rows {
    fl_array *of; /* NULL: none */
    int64_t first, count;
} fl_rows;

/* Begins to deal out the numbers 0 to `count` - 1 (of images, say), less than 2^40, to the ranks as they ask for them,
 * so that all are busy until the end whatever a number costs. FL_E_LIMIT, FL_E_MEMORY. */
FL_API fl_status fl_group_deal(fl_group *group, int64_t count);
/* The next of these numbers for this rank: `share` of them from `first` on; 0: none is left. Less and less at a time.
 * Not collective: the others may compute meanwhile. Where a link has no counter (no MPI_THREAD_MULTIPLE), or a group
 * has one rank, the first call gives all of fl_group_share. */
FL_API fl_status fl_group_take(fl_group *group, int64_t *first, int64_t *share);
/* No rank gets any more of them. Not collective. Without a counter of the link: this rank. */
FL_API fl_status fl_group_deal_end(fl_group *group);
/* Has a rank called that? Not collective. */
FL_API fl_status fl_group_deal_ended(fl_group *group, bool *ended);

/* What a distributed operation cost this rank. */
typedef struct fl_group_timing {
    double local_s;     /* on its device */
    double stage_s;     /* copies between the device and the host for the link */
    double link_s;      /* exchanges, once all were ready for them */
    double wait_s;      /* until the slowest rank was */
    double bytes;       /* that went to other ranks */
    double reserved[4]; /* 0 */
} fl_group_timing;

/* Copies to[r] to rank r and from[r] from it, by the group's path, after what is queued in `stream` (NULL: the default
 * one), and waits. Both have `size` elements, of arrays of `device` whose rows follow each other without gaps; as many
 * bytes come from a rank as it sends. Nothing is copied from a rank to itself. `timing` may be NULL. */
FL_API fl_status fl_group_move(fl_group *group, fl_device *device, const fl_rows *to, const fl_rows *from,
                               fl_stream *stream, fl_group_timing *timing);

/* out = all ranks' `image`, convolved with `kernel` as fl_convolve does, of which this rank gets its share of rows.
 * image: this rank's share of rows; kernel: the same array on every rank; out: this rank's share of the rows of
 * fl_convolve_shape. In `naive` each element has the bits that fl_convolve gives; other variants may sum in another
 * order at the edges of shares, within the same bound. run->tolerance is kept for what a rank computes in one piece,
 * and so for the whole. `run` and `timing` as for fl_group_sort; the bytes of `run`'s
 * timing are the interior's.
 *
 * A rank needs rows of others on both sides (the halo). It queues the rows of the result that need none (the interior),
 * receives the halo meanwhile, and computes the rest from that and its own rows at the edge. Where the kernel contains
 * the image, in mode valid, each rank receives all of the image. */
FL_API fl_status fl_group_convolve(fl_group *group, fl_device *device, const fl_array *image, const fl_array *kernel,
                                   fl_mode mode, fl_array *out, const fl_run *run, fl_group_timing *timing);
/* Convolves vectors as fl_convolve1d does: image and out are this rank's shares of the elements of a signal and of its
 * result; neither signal nor kernel is empty. */
FL_API fl_status fl_group_convolve1d(fl_group *group, fl_device *device, const fl_array *signal, const fl_array *kernel,
                                     fl_mode mode, fl_array *out, const fl_run *run, fl_group_timing *timing);

/* out = all ranks' `in`, sorted as fl_sort does: rank 0 has the least elements. Both 1-D, of one dtype, with this
 * rank's share of the whole length each; they share no memory, or are the same array. `run` is that of the local sorts
 * (its stream is waited for); NULL: auto. `timing` may be NULL.
 *
 * Each rank sorts its elements; the exact cuts between the ranks' shares are found by searches for 256 keys at a time
 * in all ranks' elements; the ranks exchange the pieces between the cuts, and each merges what it has got. A rank needs
 * memory for its share three times beside `in` and `out`, with two ranks twice; that is kept until the group is closed,
 * or used with another device. */
FL_API fl_status fl_group_sort(fl_group *group, fl_device *device, const fl_array *in, fl_array *out, const fl_run *run,
                               fl_group_timing *timing);

/* found = what fl_allclose finds of all ranks' `a` and `b`, on every rank; worst_index counts the elements of the whole
 * arrays. a, b: this rank's share of the rows, or any number of them. Arguments and errors otherwise as for
 * fl_allclose; `run` and `timing` as for fl_group_sort. */
FL_API fl_status fl_group_allclose(fl_group *group, fl_device *device, const fl_array *a, const fl_array *b,
                                   double relative, double absolute, bool equal_nan, fl_closeness *found,
                                   const fl_run *run, fl_group_timing *timing);

/* *result = what fl_reduce finds of all elements of all ranks' x, or, if y is not NULL, what fl_dot finds of x and y:
 * one element of `dtype`, in host memory, the same on every rank. The place of an extreme counts the elements of the
 * whole array. x, y: this rank's share of the rows, or any number of them; only an extreme of no elements at all is
 * FL_E_ARGUMENT. Sums of floats are added in f64 in the order of the ranks, on which the bits depend. Arguments and
 * errors otherwise as for fl_reduce; `run` and `timing` as for fl_group_sort. */
FL_API fl_status fl_group_reduce_array(fl_group *group, fl_device *device, const fl_array *x, const fl_array *y,
                                       fl_reduction reduction, fl_dtype dtype, void *result, const fl_run *run,
                                       fl_group_timing *timing);

/* out = this rank's part of what fl_scan makes of all ranks' `in`, one rank's elements after the other's. in: this
 * rank's elements, any number of them; out as for fl_scan, also in place. Integers and maxima have the bits that one
 * process gives. Sums of floats depend on the number of ranks; their error bound is fl_scan's of one loop, and of every
 * variant but a CPU's naive also that of trees with log2(i + 1) + 41 + ranks more units. Arguments and errors otherwise
 * as for fl_scan; `run` and `timing` as for fl_group_sort.
 *
 * Each rank reduces its elements; the totals of all go to every rank, which puts those of lower ranks together in their
 * order, in f64 for floats; then it scans its elements in `out`, the first one together with that total. */
FL_API fl_status fl_group_scan(fl_group *group, fl_device *device, const fl_array *in, fl_reduction reduction,
                               bool exclusive, fl_array *out, const fl_run *run, fl_group_timing *timing);

/* out[0], out[1] ... = this rank's share of the elements of all ranks' `in` that are not zero, in their order, and
 * count[0] = the elements of that share. in: 1-D, of any length on each rank; out: of its dtype, and at least as long
 * as the share, which it is where each rank's `in` and `out` are its share of a whole; count as for fl_select. No
 * memory is shared. Errors as fl_select; `run` and `timing` as for fl_group_sort.
 *
 * Each rank selects its elements; then they go to the ranks in whose shares they are. A rank needs memory for its `in`
 * once more, which is kept until the group is closed, or used with another device. */
FL_API fl_status fl_group_select(fl_group *group, fl_device *device, const fl_array *in, fl_array *out, fl_array *count,
                                 const fl_run *run, fl_group_timing *timing);

/* out = the counts that fl_histogram finds of all ranks' `in`, on every rank. in: this rank's elements, any number of
 * them; out, lo, hi and clip: as for fl_histogram, and alike on all ranks. Errors as fl_histogram; `run` and `timing`
 * as for fl_group_sort. Each rank counts its elements; then the counts are added up in host memory. */
FL_API fl_status fl_group_histogram(fl_group *group, fl_device *device, const fl_array *in, double lo, double hi,
                                    bool clip, fl_array *out, const fl_run *run, fl_group_timing *timing);

/* out[0], out[1] ... = the primes that are in this rank's share of the numbers below `upto`, ascending, and count[0] =
 * their number: fl_primes_between(first, first + share) with fl_group_share(upto), whose arguments and errors these
 * are. A higher rank has the larger primes. `run` and `timing` as for fl_group_sort. */
FL_API fl_status fl_group_primes(fl_group *group, fl_device *device, int64_t upto, fl_array *out, fl_array *count,
                                 const fl_run *run, fl_group_timing *timing);

/* The leading k singular values of all ranks' `a`, by the randomized variant of fl_svd. a: this rank's share of the
 * rows of m x n; u: its share of the rows of m x k; s (k) and vt (k x n) are the same on every rank; all f32 or all
 * f64, with 1 <= k <= min(m, n). The same seed gives the same result for the same number of ranks and the same devices.
 * run->variant: NULL, auto or randomized, else FL_E_UNSUPPORTED. FL_E_ARGUMENT: an element of `a` is not finite, or
 * run->tolerance is not 0; other
 * errors as fl_svd. `timing` may be NULL.
 *
 * A rank has its rows of a, and of three matrices as long with k + 10 columns. Besides, each rank has some of n x (k +
 * 10), one of which goes to rank 0 after each product with a, and to all ranks before it, by the group's path. */
FL_API fl_status fl_group_svd(fl_group *group, fl_device *device, const fl_array *a, uint64_t seed, fl_array *u,
                              fl_array *s, fl_array *vt, const fl_run *run, fl_group_timing *timing);

#ifdef __cplusplus
}
#endif
#endif
