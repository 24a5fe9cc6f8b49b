/* SPDX-License-Identifier: MIT
 *
 * samples.h - lists of times.
 */
#pragma once

/* The times of one quantity, in the order in which they were taken. */
typedef struct samples {
    double *s;
    int count;
} samples;

void samples_add(samples *list, double seconds);
