/* SPDX-License-Identifier: MIT
 *
 * subject.h - the operations that `flynn taxonomy` shows, called by themselves.
 */
#ifndef FLYNN_APPS_TAXONOMY_SUBJECT_H
#define FLYNN_APPS_TAXONOMY_SUBJECT_H

#include "harness/verdict.h"
#include "support/host_array.h"

#include <flynn/flynn.h>

enum { SUBJECT_INPUTS = 3 };

/* An operation on random data: other than the course's, which is mostly zeros, it tells sums of another order apart. */
typedef struct subject {
    const char *name;
    int64_t size; /* as the exercise's --size has it */
    fl_dtype dtype;
    int input_count;
    host_array inputs[SUBJECT_INPUTS];
    host_array result; /* of the latest subject_check; its shape is right from the start */
    void *oracle;
} subject;

/* The name of the i-th exercise that can be shown; NULL behind the last one. */
const char *subject_name(int i);
/* The size that shows it well. */
int64_t subject_default_size(const char *name);

/* Makes the inputs, and what is expected. `name` is one of those. Ends the command where that fails. */
subject *subject_create(const char *name, int64_t size, fl_dtype dtype, uint64_t seed);
void subject_free(subject *s);

/* The operation's arrays on a device. */
typedef struct subject_arrays {
    fl_device *device;
    fl_array *inputs[SUBJECT_INPUTS], *out;
} subject_arrays;
subject_arrays subject_arrays_create(const subject *s, fl_device *device);
void subject_arrays_free(subject_arrays *arrays);

/* Queues it. */
fl_status subject_call(const subject *s, const subject_arrays *arrays, const fl_run *run);

/* Runs one variant into an output that was overwritten, waits, leaves the answer in s->result, and holds it against the
 * reference. `method` says how. */
compare_result subject_check(subject *s, const subject_arrays *arrays, const char *variant, char *method,
                             size_t method_size);

#endif
