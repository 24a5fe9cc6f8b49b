/* SPDX-License-Identifier: MIT
 * The group of ranks, for the operations of libflynn-dist. */
#ifndef FLYNN_DIST_GROUP_H
#define FLYNN_DIST_GROUP_H

#include <flynn/dist.h>

enum { DIST_SCRATCH = 3, DIST_ROOMS = 15, DIST_BUFFERS = 2 };

/* How elements go from the memory of one rank's device to another's. */
typedef enum dist_path {
    DIST_UNKNOWN,
    DIST_HOST,   /* devices compute in host memory, which the link reads and writes */
    DIST_STAGED, /* by way of pinned host memory */
    DIST_DEVICE, /* the link reads and writes the device's memory */
    DIST_DIRECT, /* from GPU to GPU by the vendor's library */
} dist_path;

/* The device of the group's calls, and what is kept for them: new memory takes longer than a copy. */
typedef struct dist_device {
    fl_device *device; /* NULL: none yet */
    dist_path path;
    fl_communicator *communicator; /* DIST_DIRECT */
    fl_stream *reading, *writing;  /* of staged copies; `reading` also has what runs next to the caller's stream */
    fl_event *events[3];           /* around an exchange; between two streams */
    fl_array *room[DIST_ROOMS];
    void *pinned[DIST_BUFFERS]; /* host memory for copies from and to the device */
    size_t bytes[DIST_BUFFERS];
} dist_device;

/* The items that fl_group_deal deals out. */
typedef struct dist_deal {
    int64_t count, seen; /* the counter when this rank saw it last */
    bool counted;        /* by the link; else each rank gets its share at once */
} dist_deal;

struct fl_group {
    const fl_link *link; /* NULL: a group of one */
    fl_link_info launch;
    fl_group_info info;
    fl_status failed; /* of the last call: the status that was agreed on */
    char message[800];
    char call[120]; /* the call that the ranks make now */
    int64_t call_hash;
    char remark[300];
    char wanted[16]; /* path that fl_group_path asks for; "": the best */
    dist_deal dealt;
    void *scratch[DIST_SCRATCH]; /* host memory that calls use again: new memory costs more than a copy */
    size_t bytes[DIST_SCRATCH];
    dist_device on;
};

/* The i-th piece of host memory, of at least that size, valid until the next call; NULL with fl_last_error: none is
 * left. */
void *dist_scratch(fl_group *group, int i, size_t bytes);

/* Keeps the message for fl_last_error, and returns the status. */
fl_status dist_fail(fl_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Names the call that starts, with the arguments that must be the same on all ranks. Each later agreement compares
 * them, too. */
void dist_call(fl_group *group, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A 64-bit hash like FNV-1a, but by words of eight bytes. It finds mistakes; it does not resist an attacker. */
uint64_t dist_hash(const void *data, size_t bytes);

/* Elements, or rows, from `first` up to, not including, `end`. */
typedef struct dist_range {
    int64_t first, end;
} dist_range;

/* A rank's share of `count`; what two ranges have in common, which is empty where `end` is not above `first`. */
dist_range dist_share(const fl_group *group, int64_t count, int rank);
dist_range dist_both(dist_range a, dist_range b);

/* Seconds of a clock that only goes forward. */
double dist_now(void);

/* A part of a call, which the trace shows as a span; dist_end adds its seconds to *sum. */
typedef struct dist_part {
    double start;
    fl_trace_mark mark;
} dist_part;
dist_part dist_begin(const char *name);
void dist_end(dist_part part, double *sum);
/* Waits for what was queued with `run`, which may be NULL. */
fl_status dist_finish(fl_device *device, const fl_run *run);

/* --------------------------------------------------------------------------------------- device.c, move.c ---- */

/* The first call of an operation on this device, by all ranks: finds the path. Ends in the same status for all. */
fl_status dist_use(fl_group *group, fl_device *device);
/* Frees what is kept for the device. */
void dist_leave_device(fl_group *group);

/* A view of `shape` of the i-th array that the group keeps on its device, which the caller frees. What it holds stays
 * until the next call with that i. */
fl_status dist_room(fl_group *group, int i, fl_dtype dtype, int ndim, const int64_t *shape, fl_array **view);
/* The i-th piece of pinned host memory, of at least that size. */
fl_status dist_pinned(fl_group *group, int i, size_t bytes, void **memory);

/* If `status` is FL_OK on every rank: sends to[r] to rank r and receives from[r] from it, which has as many bytes,
 * after what is queued in `stream` (NULL: the default one). Nothing goes from a rank to itself. On DIST_DIRECT it is
 * queued, and `cost` gets the link's seconds by dist_moved; else it waits. Arrays are packed. */
fl_status dist_move(fl_group *group, fl_status status, fl_stream *stream, const fl_rows *to, const fl_rows *from,
                    fl_group_timing *cost);
/* Once the stream of dist_move was waited for: adds what its copies took. */
fl_status dist_moved(fl_group *group, fl_group_timing *cost);

#endif
