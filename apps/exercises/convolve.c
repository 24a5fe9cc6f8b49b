/* SPDX-License-Identifier: MIT
 *
 * flynn convolve: the two-dimensional convolution exercise.
 */
#include "convolution.h"

#include "files/colormap.h"
#include "files/files.h"
#include "files/png_file.h"
#include "support/fail.h"
#include "words/course.h"

#include <string.h>

typedef struct convolve_options {
    convolution_options shared;
    const char *png;
    int64_t crop[2], zoom;
} convolve_options;

static const own_option options[] = {
    CONVOLUTION_MODE_OPTION("full (default), same (size) or valid (no border)"),
    CONVOLUTION_GAUSSIAN_OPTION,
    {"png", OPTION_WRITTEN, offsetof(convolve_options, png), "FILE",
     .help = "Draw the result in colours\vIn viridis, from its minimum to its maximum."},
    {"crop", OPTION_NUMBERS, offsetof(convolve_options, crop), "HxW",
     .help = "Draw only the top left corner of --png, such as 64x64", .least = 2, .most = 2, .needs = "png"},
    {"zoom", OPTION_INTEGER, offsetof(convolve_options, zoom), "N",
     .help = "Draw each element of --png as NxN pixels (1)", .least = 1, .most = 1024, .needs = "png"},
    {0},
};

static void settle(exercise *e)
{
    if (group_is_distributed() && ((const convolve_options *)e->own)->png)
        fail(EXIT_BAD_INPUT, "--png: several ranks do not take it");
}

static host_array make_rows(const exercise *e, int64_t first, int64_t rows)
{
    return course_image_rows(exercise_size(e), first, rows, exercise_dtype(e, FL_F64));
}

static host_array make(const exercise *e, int i)
{
    int64_t rows = exercise_size(e);
    const int64_t first = i == 0 ? group_part(1, &rows) : 0;

    if (i == 0)
        return make_rows(e, first, rows);
    return course_gaussian(((const convolve_options *)e->own)->shared.gaussian, e->inputs[0].dtype);
}

/* "convolve full: image 2048x2048 f64, kernel 15x15 f64, result 2062x2062 f64" */
static void plan(exercise *e)
{
    const host_array *image = &e->inputs[0], *kernel = &e->inputs[1];
    const fl_dtype dtype = exercise_float_dtype(e);
    int64_t whole[2], shape[2], share[2];

    exercise_whole(e->input_rows[0], 2, image->shape, whole);
    must(fl_convolve_shape(whole, kernel->shape, convolution_mode(e), shape));
    memcpy(share, shape, sizeof share);
    group_part(2, share);
    exercise_output(e, dtype, 2, share);
    exercise_title(e, "convolve %s: image %s %s, kernel %s %s, result %s %s", convolution_modes[convolution_mode(e)],
                   format_shape(2, whole).text, fl_dtype_name(image->dtype), format_shape(2, kernel->shape).text,
                   fl_dtype_name(kernel->dtype), format_shape(2, shape).text, fl_dtype_name(dtype));
}

static void expect(exercise *e)
{
    convolution_expect(e, make_rows);
}

static void draw(const exercise *e, const result_list *results)
{
    const convolve_options *own = e->own;
    const host_array *result = own->png ? exercise_right_output(results, 0, own->png) : NULL;
    picture colours;
    problem why;

    if (!result)
        return;
    must_do(colormap_draw(result, own->crop, own->zoom, &colours, own->png, &why), &why);
    must_do(png_write_picture(own->png, &colours, &why), &why);
    file_note_written(own->png, "%s", format_shape(2, (int64_t[]){colours.height, colours.width}).text);
    picture_free(&colours);
}

const exercise_kind convolve_exercise = {
    .name = "convolve",
    .summary = "convolve an image with a kernel",
    .help = "Convolves an image with a kernel, as scipy.signal.convolve2d does.\v"
            "IMAGE is a .npy or .png file (a PNG is read as grey, 0..1). Without it: the course's image, tiles of "
            "16x16 zeros with a one at [8, 8], --size (2048) pixels square, in f64. KERNEL is a .npy or .png file. "
            "Without it: the course's Gaussian in the image's dtype. --dtype=f32|f64 converts both; f32 with f32 is "
            "computed in f32, every other pair in f64.\v"
            "\tthe course's, on the best backend\n"
            "in.png -o out.npy\tyour own image\n",
    .arguments = "[IMAGE [KERNEL]]",
    .input_count = 2,
    .inputs = {{"image", 2, 2, true}, {"kernel", 2, 2, true}},
    .dtypes = DTYPES_FLOAT,
    .tolerates = true,
    .seeds_calls = true, /* the check's samples */
    .options = options,
    .own_size = sizeof(convolve_options),
    .own = &(const convolve_options){.shared = {.mode = FL_FULL}, .zoom = 1},
    .made = "the course's image",
    .size = 2048,
    .largest = 1 << 20,
    .laws = {2048, 2, NULL},
    .taxonomy_size = 1024,
    .distributed = 1, /* the image */
    .settle = settle,
    .steps = {make, plan, convolution_call, expect, convolution_check, convolution_release},
    .write = draw,
};
