/* SPDX-License-Identifier: MIT
 * The group of ranks, for the operations of libflynn-dist. */
#ifndef FLYNN_DIST_GROUP_H
#define FLYNN_DIST_GROUP_H

#include <flynn/dist.h>

struct fl_group {
    const fl_link *link; /* NULL: a group of one */
    fl_link_info launch;
    fl_group_info info;
    fl_status failed; /* of the last call: the status that was agreed on */
    char message[800];
};

/* Keeps the message for fl_last_error, and returns the status. */
fl_status dist_fail(fl_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Seconds of a clock that only goes forward. */
double dist_now(void);

#endif
