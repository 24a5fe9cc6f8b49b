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
    /* Not 0 for each element that another kernel did not write; NULL: it wrote all, reads the array, or nobody looked.
     */
    unsigned char *unwritten[MOST_OUTPUTS];
} expected_results;

/* Computes what is expected into e->expected: with --expect an expression, an array or another kernel gives it;
 * without, hip-cpu's run of the kernel itself. */
void kernel_expect(exercise *e);

/* Looks at the elements that the expected kernel did not write, which it does not check. Ends the command if the
 * compared kernel changed one of them; prints a note if it left them all as they were. */
void kernel_check_unwritten(const exercise *e, const measurement *m);

void kernel_expected_free(expected_results *x);
