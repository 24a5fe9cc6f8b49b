/* SPDX-License-Identifier: MIT
 *
 * quantity.h - what flynn ceiling measures of a device: the work of each quantity, the arrays that it is done with, and
 * how well its time is known.
 */
#pragma once

#include "stream.h"

#include "options/options.h"

#include <flynn/bench.h>

#include <jansson.h>

/* The ways of a copy between the host's memory and a device's own. */
enum { TO_DEVICE = 1, TO_HOST = 2, BOTH = 3, PAGEABLE = 4 };

typedef struct quantity_kind quantity_kind;

/* The state that the measurements of one device share. */
typedef struct measured_device {
    fl_device *device;
    const fl_device_info *info;
    const common_options *common;
    int64_t bytes;       /* of each of the following arrays and buffers */
    double caches;       /* bytes of the device's caches: a smaller array may stay there */
    fl_stream *other;    /* in which copies to the host are queued, next to the stream of the copies to the device */
    fl_array *from, *to; /* of u8 */
    void *pinned[2], *pageable;    /* NULL where arrays are in the host's memory, to which nothing is copied */
    const quantity_kind *quantity; /* the one that is measured */
    const char *variant;
    fl_array *elements;
    int64_t steps;
    stream_arrays streams;
    bool wrong; /* a result that was checked */
} measured_device;

struct quantity_kind {
    const char *key, *title;
    const char *unit; /* "byte", "flop"; NULL: the time itself is the result */
    /* Returns the bytes or the operations of the work; NaN where it has none, or, with a note, where it cannot run. */
    double (*prepare)(measured_device *d);
    fl_status (*queue)(measured_device *d, const fl_run *run); /* the work, once */
    fl_bench_clock by;
    int launches;          /* in a pass; 0: one */
    const char *operation; /* the library's operation that the work calls; NULL: none, or a compiled function */
    bool of_fastest;       /* the operation's fastest variant is kept; false: the work is done in one way only */
    fl_dtype dtype;
    int link;       /* TO_DEVICE ...; 0: within the device */
    double least_s; /* a shorter pass shows its launch more than its work */
    bool is_stream; /* its variant is auto's choice, and its result is checked */
    stream_kernel stream;
};

/* Ends where `key` is NULL. */
extern const quantity_kind quantity_kinds[];

/* Makes the arrays and buffers of the device. */
void quantity_start(measured_device *d, fl_device *device, const common_options *common);
void quantity_end(measured_device *d);

/* Returns the seconds of a part of the work by a variant, the least of three times; 0 where the work has no parts. */
double quantity_trial_s(measured_device *d, const char *variant);

/* Returns whether the median is known to within a quarter: by the interval that holds it, below six samples by all of
 * them. */
bool quantity_is_known(const fl_bench_statistics *s);
/* [low, high] of that interval; [] below six samples. */
json_t *quantity_interval(const fl_bench_statistics *s);

/* Adds a note that is printed after the results, so that an error before them stays a single line. */
void quantity_note(json_t *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the notes and frees them. */
void quantity_print_notes(json_t *notes);
