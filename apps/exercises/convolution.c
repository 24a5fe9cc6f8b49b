/* SPDX-License-Identifier: MIT */
#include "convolution.h"

#include "checks/convolve.h"
#include "run/reference.h"
#include "words/course.h"

const char *const convolution_modes[] = {[FL_FULL] = "full", [FL_SAME] = "same", [FL_VALID] = "valid", NULL};
const char *const convolution_gaussians[] = {[GAUSSIAN_WIDE] = "wide", [GAUSSIAN_NARROW] = "narrow", NULL};

fl_mode convolution_mode(const exercise *e)
{
    return (fl_mode)((const convolution_options *)e->own)->mode;
}

fl_status convolution_call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                           const fl_run *run)
{
    const bool line = e->inputs[0].ndim == 1;

    return group_is_distributed()
               ? (line ? fl_group_convolve1d : fl_group_convolve)(group_of_all(), device, in[0], in[1],
                                                                  convolution_mode(e), out[0], run, group_cost())
               : (line ? fl_convolve1d : fl_convolve)(device, in[0], in[1], convolution_mode(e), out[0], run);
}

/* Makes the input rows again from which the check computes this rank's rows of the result: its own ones, all of which
 * the bound of the variant fft needs, and those that it got from other ranks, so that a wrong halo is found. */
static void expect_rows(exercise *e, convolution_maker make)
{
    const host_array *kernel = &e->inputs[1];
    const int64_t taps = kernel->shape[0], rows = e->input_rows[0];
    const int64_t offsets[] = {0, (taps - 1) / 2, int64_smaller(taps, rows) - 1};
    const fl_mode mode = convolution_mode(e);
    int64_t whole[FL_MAX_DIMS];
    const int ndim = exercise_whole_input(e, 0, whole);
    const int64_t columns[] = {0, (kernel->shape[1] - 1) / 2, int64_smaller(kernel->shape[1], whole[1]) - 1};
    /* Mode valid takes the larger input as the image, so the rows computed below are all rows of the smaller one. */
    const bool swapped = ndim == 2 && mode == FL_VALID && (rows < taps || whole[1] < kernel->shape[1]);
    int64_t first = 0, shape[] = {e->outputs[0].shape[0], e->outputs[0].shape[1]}, above, below;
    host_array image;

    fl_group_share(group_of_all(), rows, group_info()->rank, &above, &below);
    below += above;
    fl_group_share(group_of_all(), e->output_rows, group_info()->rank, &first, &shape[0]);
    above = int64_larger(0, int64_smaller(above, first + offsets[mode] - (taps - 1)));
    below = int64_smaller(rows, int64_larger(below, first + shape[0] + offsets[mode]));
    if (e->common.argument_count > 0) {
        const array_source source = exercise_source(e, e->common.arguments[0], NULL);
        image = exercise_read_rows(&source, ndim, whole, above, below - above);
    } else {
        image = make(e, above, below - above);
    }
    if (e->common.has_dtype)
        exercise_convert(&image, e->common.dtype);
    e->expected = convolve_oracle_of_window(swapped ? kernel : &image, swapped ? &image : kernel,
                                            (int64_t[]){first + offsets[mode] - above, columns[mode]}, shape,
                                            e->common.check, e->common.seed);
    host_array_free(&image);
}

void convolution_expect(exercise *e, convolution_maker make)
{
    if (group_is_distributed())
        expect_rows(e, make);
    else
        e->expected = (e->once ? convolve_oracle_later : convolve_oracle_create)(
            &e->inputs[0], &e->inputs[1], convolution_mode(e), e->common.check, e->common.seed);
}

compare_result convolution_check(const exercise *e, const measurement *m, char *method, size_t size)
{
    return convolve_oracle_check(e->expected, &m->results[0], m->timing.variant, e->common.tolerance, method, size);
}

void convolution_release(exercise *e)
{
    convolve_oracle_free(e->expected);
}
