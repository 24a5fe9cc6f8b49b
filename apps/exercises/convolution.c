/* SPDX-License-Identifier: MIT */
#include "convolution.h"

#include "course.h"

#include "checks/convolve.h"
#include "harness/reference.h"

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

void convolution_expect_rows(exercise *e, convolution_maker make)
{
    const host_array *kernel = &e->inputs[1];
    const int64_t taps = kernel->shape[0], offsets[] = {0, (taps - 1) / 2, taps - 1};
    const fl_mode mode = convolution_mode(e);
    const int64_t columns[] = {0, (kernel->shape[1] - 1) / 2, kernel->shape[1] - 1};
    int64_t first = 0, shape[] = {e->outputs[0].shape[0], e->outputs[0].shape[1]}, above, below;
    host_array image;

    fl_group_share(group_of_all(), e->output_rows, group_info()->rank, &first, &shape[0]);
    above = int64_larger(0, first + offsets[mode] - (taps - 1));
    below = int64_smaller(e->input_rows[0], first + shape[0] + offsets[mode]);
    image = make(e, above, int64_larger(below - above, 0));
    e->expected = convolve_oracle_of_window(&image, kernel, (int64_t[]){first + offsets[mode] - above, columns[mode]},
                                            shape, e->common.check, e->common.seed);
    host_array_free(&image);
}

compare_result convolution_check(const exercise *e, const measurement *m, char *method, size_t size)
{
    return convolve_oracle_check(e->expected, &m->results[0], m->timing.variant, method, size);
}

void convolution_release(exercise *e)
{
    convolve_oracle_free(e->expected);
}
