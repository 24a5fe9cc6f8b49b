/* SPDX-License-Identifier: MIT
 *
 * convolution.h - what the exercises convolve and convolve1d share: two options, and the check.
 */
#pragma once

#include "run/registry.h"

/* The first member of the exercises' own options. */
typedef struct convolution_options {
    int mode, gaussian; /* places in these names */
} convolution_options;
extern const char *const convolution_modes[], *const convolution_gaussians[];

#define CONVOLUTION_MODE_OPTION(help_text) \
    { \
        "mode", OPTION_CHOICE, offsetof(convolution_options, mode), "MODE", .help = (help_text), \
                                                                            .names = convolution_modes \
    }
#define CONVOLUTION_GAUSSIAN_OPTION \
    { \
        "gaussian", OPTION_CHOICE, offsetof(convolution_options, gaussian), "WIDTH", \
            .help = "wide (default), exp(-r^2/2), or narrow, exp(-r^2)\vThe course's 15x15 kernel.", \
            .names = convolution_gaussians, .void_with = 2 \
    }

fl_mode convolution_mode(const exercise *e);

fl_status convolution_call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                           const fl_run *run);

/* For exercise_kind.expect, .check and .release: checks/convolve.h. `make` makes rows of the image, or elements of the
 * signal, for ranks (group.h) that check what they got from others. */
typedef host_array (*convolution_maker)(const exercise *e, int64_t first, int64_t rows);
void convolution_expect(exercise *e, convolution_maker make);
compare_result convolution_check(const exercise *e, const measurement *m, char *method, size_t size);
void convolution_release(exercise *e);
