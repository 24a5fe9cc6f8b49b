/* SPDX-License-Identifier: MIT
 *
 * kernel_expected.h - what the outputs of the user's kernel should be.
 */
#pragma once

#include "kernel_options.h"

typedef struct expected_results {
    const char *how; /* the expression, the file, or the kernel's file */
    const char *on;  /* the backend that computed them with a kernel; or "" */
    bool itself;     /* with this very kernel: they cannot check the runs of that backend */
    int count;       /* expected outputs; 0: none */
    host_array value[MOST_OUTPUTS];
    char unwritten[200]; /* what another kernel left as it was; "": nothing, or nobody looked */
} expected_results;

/* Computes what is expected into e->expected: with --expect an expression, an array or another kernel gives it;
 * without, hip-cpu's run of the kernel itself. */
void kernel_expect(exercise *e);
