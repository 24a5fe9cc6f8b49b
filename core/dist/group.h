/* SPDX-License-Identifier: MIT
 * The group of ranks, for the operations of libflynn-dist. */
#ifndef FLYNN_DIST_GROUP_H
#define FLYNN_DIST_GROUP_H

#include <flynn/dist.h>

enum { DIST_SCRATCH = 3 };

struct fl_group {
    const fl_link *link; /* NULL: a group of one */
    fl_link_info launch;
    fl_group_info info;
    fl_status failed; /* of the last call: the status that was agreed on */
    char message[800];
    void *scratch[DIST_SCRATCH]; /* host memory that calls use again: new memory costs more than a copy */
    size_t bytes[DIST_SCRATCH];
};

/* The i-th piece of host memory, of at least that size, valid until the next call; NULL with fl_last_error: none is
 * left. */
void *dist_scratch(fl_group *group, int i, size_t bytes);

/* Keeps the message for fl_last_error, and returns the status. */
fl_status dist_fail(fl_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Seconds of a clock that only goes forward. */
double dist_now(void);

#endif
