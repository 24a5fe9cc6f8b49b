/* SPDX-License-Identifier: MIT
 *
 * flynn convolve: the two-dimensional convolution exercise.
 */
#include "commands.h"
#include "convolve_check.h"

#include "support/backends.h"
#include "support/colormap.h"
#include "support/course.h"
#include "support/fail.h"
#include "support/files.h"
#include "support/measure.h"
#include "support/options.h"
#include "support/results.h"

#include <stdio.h>

enum { COURSE_EDGE = 2048, LARGEST_EDGE = 1 << 20 };
enum { KEY_MODE = KEY_OWN, KEY_GAUSSIAN, KEY_PNG, KEY_CROP, KEY_ZOOM };

static const char *const modes[] = {[FL_FULL] = "full", [FL_SAME] = "same", [FL_VALID] = "valid"};
static const char *const gaussians[] = {[GAUSSIAN_WIDE] = "wide", [GAUSSIAN_NARROW] = "narrow"};

/* What only this command has. */
typedef struct convolve_options {
    const char *image_file, *kernel_file; /* NULL: the course's */
    fl_mode mode;
    gaussian_width gaussian;
    const char *output, *png;
    int64_t crop[2], zoom;
} convolve_options;

static const struct argp_option own_options[] = {
    {"mode", KEY_MODE, "MODE", 0, "full (default), same (the image's size) or valid (no border)", 0},
    {"gaussian", KEY_GAUSSIAN, "WIDTH", 0,
     "The course's 15x15 kernel: wide, exp(-r^2/2) (default), or narrow, exp(-r^2)", 0},
    {"output", 'o', "FILE", 0, "Write the result: .npy, or .png (grey, clipped to 0..1)", 0},
    {"png", KEY_PNG, "FILE", 0, "Draw the result in colours (viridis) from its minimum to its maximum", 0},
    {"crop", KEY_CROP, "HxW", 0, "Draw only the top left corner", 0},
    {"zoom", KEY_ZOOM, "N", 0, "Draw each element as NxN pixels (1)", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    convolve_options *own = state->input;

    switch (key) {
    case KEY_MODE: own->mode = (fl_mode)option_choice("mode", value, modes, 3); return 0;
    case KEY_GAUSSIAN: own->gaussian = (gaussian_width)option_choice("gaussian", value, gaussians, 2); return 0;
    case 'o': own->output = value; return 0;
    case KEY_PNG: own->png = value; return 0;
    case KEY_CROP: option_numbers("crop", value, 2, 2, "HxW, such as 64x64", own->crop); return 0;
    case KEY_ZOOM: own->zoom = option_integer("zoom", value, 1, 1024); return 0;
    case ARGP_KEY_ARG:
        if (own->kernel_file)
            return ARGP_ERR_UNKNOWN;
        *(own->image_file ? &own->kernel_file : &own->image_file) = value;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char summary[] =
    "Convolves an image with a kernel, as scipy.signal.convolve2d does, checks the result and tells the time in its "
    "parts.\v"
    "IMAGE is a .npy or .png file (a PNG is read as grey, 0..1); without it, the course's image: tiles of 16x16 zeros "
    "with a "
    "one at [8, 8], --size (2048) pixels square, in f64. KERNEL is a .npy or .png file; without it, the course's "
    "Gaussian in "
    "the image's dtype. --dtype=f32|f64 converts both; f32 with f32 is computed in f32, all else in f64.";

/* ----------------------------------------------------------------------------------------------- inputs ---- */

static void must_have(bool done, const problem *why)
{
    if (!done)
        fail_problem(why);
}

/* A file's array, two-dimensional and not empty. */
static host_array read_matrix(const char *path, const char *role)
{
    host_array array;
    problem why;

    must_have(file_read(path, &array, &why), &why);
    if (array.ndim != 2 || host_array_size(&array) == 0)
        fail(EXIT_BAD_INPUT, "%s: the %s is %s; expected two dimensions with at least one element", path, role,
             format_shape(array.ndim, array.shape).text);
    return array;
}

static void convert(host_array *array, fl_dtype dtype)
{
    host_array converted;
    problem why;

    if (array->dtype == dtype)
        return;
    must_have(host_array_convert(array, dtype, &converted, "the input", &why), &why);
    host_array_free(array);
    *array = converted;
}

static void take_inputs(const common_options *common, const convolve_options *own, host_array *image,
                        host_array *kernel)
{
    problem why;

    if (common->has_dtype && common->dtype != FL_F32 && common->dtype != FL_F64)
        fail(EXIT_BAD_INPUT, "--dtype: convolve computes in f32 and f64, not in %s", fl_dtype_name(common->dtype));
    if (common->size && own->image_file)
        fail(EXIT_BAD_INPUT, "--size: is for the course's image; %s has its own size", own->image_file);
    if (common->size > LARGEST_EDGE)
        fail(EXIT_BAD_INPUT, "--size: %lld is too large an image's edge; expected at most %d", (long long)common->size,
             LARGEST_EDGE);
    if (own->image_file)
        *image = read_matrix(own->image_file, "image");
    else
        must_have(course_image(common->size ? common->size : COURSE_EDGE, common->has_dtype ? common->dtype : FL_F64,
                               image, &why),
                  &why);
    if (own->kernel_file)
        *kernel = read_matrix(own->kernel_file, "kernel");
    else
        must_have(course_gaussian(own->gaussian, image->dtype == FL_F32 ? FL_F32 : FL_F64, kernel, &why), &why);
    if (common->has_dtype) {
        convert(image, common->dtype);
        convert(kernel, common->dtype);
    }
}

/* ----------------------------------------------------------------------------------------- the exercise ---- */

static fl_status call_convolve(fl_device *device, fl_array *const *inputs, fl_array *out, const void *more,
                               const fl_run *run)
{
    return fl_convolve(device, inputs[0], inputs[1], *(const fl_mode *)more, out, run);
}

static exercise make_exercise(const host_array *image, const host_array *kernel, const fl_mode *mode)
{
    bool f32 = image->dtype == FL_F32 && kernel->dtype == FL_F32;
    exercise e = {.name = "convolve",
                  .input_count = 2,
                  .inputs = {*image, *kernel},
                  .dtype = f32 ? FL_F32 : FL_F64,
                  .ndim = 2,
                  .more = mode,
                  .call = call_convolve};

    must(fl_convolve_shape(image->shape, kernel->shape, *mode, e.shape));
    return e;
}

/* Times and checks every backend; false when a result is wrong. */
static bool run_all(const exercise *e, const common_options *common, const backend_list *backends, result_list *results)
{
    measure_plan plan = measure_plan_of(common);
    convolve_oracle *oracle =
        convolve_oracle_create(&e->inputs[0], &e->inputs[1], *(const fl_mode *)e->more, common->check, common->seed);
    bool ok = true;

    for (int i = 0; i < backends->count; i++) {
        measurement *m = result_add(results);
        *m = measure(e, &plan, backends->open[i].requested, backends->open[i].device);
        m->check = convolve_oracle_check(oracle, &m->result);
        snprintf(m->check_method, sizeof m->check_method, "%s", convolve_oracle_method(oracle));
        ok = ok && m->check.ok;
    }
    convolve_oracle_free(oracle);
    return ok;
}

/* --------------------------------------------------------------------------------------------- pictures ---- */

static void write_pictures(const convolve_options *own, const host_array *result)
{
    picture colours;
    problem why;

    if (own->output)
        must_have(file_write(own->output, result, &why), &why);
    if (!own->png)
        return;
    must_have(colormap_draw(result, own->crop, own->zoom, &colours, own->png, &why), &why);
    must_have(png_write_picture(own->png, &colours, &why), &why);
    picture_free(&colours);
}

/* "convolve full: image 2048x2048 f64, kernel 15x15 f64, result 2062x2062 f64" */
typedef struct title {
    char text[400];
} title;

static title title_of(const exercise *e, fl_mode mode)
{
    title t;

    snprintf(t.text, sizeof t.text, "convolve %s: image %s %s, kernel %s %s, result %s %s", modes[mode],
             format_shape(2, e->inputs[0].shape).text, fl_dtype_name(e->inputs[0].dtype),
             format_shape(2, e->inputs[1].shape).text, fl_dtype_name(e->inputs[1].dtype),
             format_shape(2, e->shape).text, fl_dtype_name(e->dtype));
    return t;
}

int command_convolve(int argc, char **argv)
{
    convolve_options own = {.mode = FL_FULL, .zoom = 1};
    const command_line line = {"flynn convolve",
                               "[IMAGE [KERNEL]]",
                               summary,
                               TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
                               own_options,
                               parse,
                               &own};
    common_options common;
    host_array image, kernel;
    problem why;
    bool ok;

    options_parse(&line, argc, argv, &common);
    if (own.output)
        must_have(file_check_output(own.output, &why), &why);
    if (own.png)
        must_have(file_check_writable(own.png, &why), &why);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    take_inputs(&common, &own, &image, &kernel);
    result_list results = result_list_start(&common, &backends);
    exercise e = make_exercise(&image, &kernel, &own.mode);
    ok = run_all(&e, &common, &backends, &results);

    results_show(&results, &e, title_of(&e, own.mode).text);
    if (results.list[0].check.ok)
        write_pictures(&own, &results.list[0].result);
    else if (own.output || own.png)
        note("the result of %s is wrong: no file was written", results.list[0].requested);
    result_list_free(&results);
    backends_close(&backends);
    host_array_free(&image);
    host_array_free(&kernel);
    options_free(&common);
    return ok ? EXIT_DONE : EXIT_WRONG_RESULT;
}
