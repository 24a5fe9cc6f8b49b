/* SPDX-License-Identifier: MIT
 *
 * calls.h - every operation in every variant and dtype that a device has, each called in the same way: for tests of
 * what holds for all of them.
 */
#ifndef FLYNN_TESTS_CALLS_H
#define FLYNN_TESTS_CALLS_H

#include "harness.h"

/* One way to call an operation. */
struct call {
    const char *operation, *variant;
    fl_dtype dtype;   /* of the inputs */
    int64_t elements; /* of an input that is a vector; for_every_call: fewer for a device that is slow */
    int block[3];
    char text[96];      /* "omp:2 reconstruct tiled f32" */
    const fl_run *with; /* what else of fl_run it gets; NULL: nothing */
};

/* Calls `visit` for each operation, each dtype that it takes and each variant of the device that computes in it, `auto`
 * and `reference` included. Fails the test if the device has an operation that is not among them. */
void for_every_call(fl_device *device, void (*visit)(fl_device *device, const struct call *call, void *user),
                    void *user);

/* The bytes of a call's outputs, to be freed; undefined unless the status is FL_OK. */
struct outputs {
    unsigned char *bytes;
    size_t size;
    fl_status status;
};

/* Runs it on inputs that depend on the operation, the dtype and `elements` alone, and waits. `before` and `after`,
 * which may be NULL, are called immediately before and after the operation's function and the wait. */
struct outputs run_call(fl_device *device, const struct call *call, void (*before)(void),
                        void (*after)(const struct call *call));

#endif
