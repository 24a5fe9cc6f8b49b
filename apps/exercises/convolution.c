/* SPDX-License-Identifier: MIT */
#include "convolution.h"

#include "course.h"

#include "checks/convolve.h"

const char *const convolution_modes[] = {[FL_FULL] = "full", [FL_SAME] = "same", [FL_VALID] = "valid", NULL};
const char *const convolution_gaussians[] = {[GAUSSIAN_WIDE] = "wide", [GAUSSIAN_NARROW] = "narrow", NULL};

fl_mode convolution_mode(const exercise *e)
{
    return (fl_mode)((const convolution_options *)e->own)->mode;
}

void convolution_expect(exercise *e)
{
    e->expected =
        convolve_oracle_create(&e->inputs[0], &e->inputs[1], convolution_mode(e), e->common.check, e->common.seed);
}

compare_result convolution_check(const exercise *e, const measurement *m, char *method, size_t size)
{
    return convolve_oracle_check(e->expected, &m->results[0], m->timing.variant, method, size);
}

void convolution_release(exercise *e)
{
    convolve_oracle_free(e->expected);
}
