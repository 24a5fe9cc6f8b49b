/* SPDX-License-Identifier: MIT
 *
 * flynn convolve: the two-dimensional convolution exercise.
 */
#include "commands.h"
#include "course.h"

#include "checks/convolve.h"
#include "files/colormap.h"
#include "files/files.h"
#include "harness/exercise.h"
#include "support/fail.h"
#include "support/options.h"

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

/* A file's array, two-dimensional and not empty. */
static host_array read_matrix(const char *path, const char *role)
{
    host_array array = exercise_read(path, role, 2, 2);

    if (host_array_size(&array) == 0)
        fail(EXIT_BAD_INPUT, "%s: the %s is %s; expected at least one element", path, role,
             format_shape(array.ndim, array.shape).text);
    return array;
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
        exercise_must(course_image(common->size ? common->size : COURSE_EDGE,
                                   common->has_dtype ? common->dtype : FL_F64, image, &why),
                      &why);
    if (own->kernel_file)
        *kernel = read_matrix(own->kernel_file, "kernel");
    else
        exercise_must(course_gaussian(own->gaussian, image->dtype == FL_F32 ? FL_F32 : FL_F64, kernel, &why), &why);
    if (common->has_dtype) {
        exercise_convert(image, common->dtype);
        exercise_convert(kernel, common->dtype);
    }
}

/* ----------------------------------------------------------------------------------------- the exercise ---- */

/* What `call` and `check` need besides the arrays. */
typedef struct convolve_setting {
    fl_mode mode;
    const convolve_oracle *oracle;
} convolve_setting;

static fl_status call_convolve(fl_device *device, fl_array *const *inputs, fl_array *const *outputs, const void *more,
                               const fl_run *run)
{
    const convolve_setting *setting = more;

    return fl_convolve(device, inputs[0], inputs[1], setting->mode, outputs[0], run);
}

static compare_result check_convolve(const exercise *e, const measurement *m, char *method, size_t size)
{
    const convolve_setting *setting = e->more;

    snprintf(method, size, "%s", convolve_oracle_method(setting->oracle));
    return convolve_oracle_check(setting->oracle, &m->results[0]);
}

/* "convolve full: image 2048x2048 f64, kernel 15x15 f64, result 2062x2062 f64" */
static exercise make_exercise(const host_array *image, const host_array *kernel, const convolve_setting *setting)
{
    fl_dtype dtype = image->dtype == FL_F32 && kernel->dtype == FL_F32 ? FL_F32 : FL_F64;
    exercise e = {.name = "convolve",
                  .input_count = 2,
                  .inputs = {*image, *kernel},
                  .more = setting,
                  .call = call_convolve,
                  .check = check_convolve};
    int64_t shape[2];

    must(fl_convolve_shape(image->shape, kernel->shape, setting->mode, shape));
    exercise_output(&e, dtype, 2, shape);
    snprintf(e.title, sizeof e.title, "convolve %s: image %s %s, kernel %s %s, result %s %s", modes[setting->mode],
             format_shape(2, image->shape).text, fl_dtype_name(image->dtype), format_shape(2, kernel->shape).text,
             fl_dtype_name(kernel->dtype), format_shape(2, shape).text, fl_dtype_name(dtype));
    return e;
}

/* --------------------------------------------------------------------------------------------- pictures ---- */

static void draw(const convolve_options *own, const result_list *results)
{
    const measurement *first = &results->list[0];
    picture colours;
    problem why;

    if (!own->png)
        return;
    if (!first->check.ok) {
        note("the result of %s is wrong: %s was not written", first->requested, own->png);
        return;
    }
    exercise_must(colormap_draw(&first->results[0], own->crop, own->zoom, &colours, own->png, &why), &why);
    exercise_must(png_write_picture(own->png, &colours, &why), &why);
    picture_free(&colours);
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
    convolve_oracle *oracle;
    result_list results;
    problem why;
    int code;

    options_parse(&line, argc, argv, &common);
    if (own.output)
        exercise_must(file_check_output(own.output, &why), &why);
    if (own.png)
        exercise_must(file_check_writable(own.png, &why), &why);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    take_inputs(&common, &own, &image, &kernel);
    oracle = convolve_oracle_create(&image, &kernel, own.mode, common.check, common.seed);
    convolve_setting setting = {own.mode, oracle};
    exercise e = make_exercise(&image, &kernel, &setting);
    code = exercise_run(&e, &common, &backends, &results);
    exercise_write(&results, 0, own.output);
    draw(&own, &results);

    result_list_free(&results);
    convolve_oracle_free(oracle);
    backends_close(&backends);
    host_array_free(&image);
    host_array_free(&kernel);
    options_free(&common);
    return code;
}
