/* SPDX-License-Identifier: MIT
 *
 * Reading and writing PNGs: every colour type and depth, and files that are broken.
 */
#define _GNU_SOURCE 1
#include "files/colormap.h"
#include "make_png.h"
#include "files/files.h"
#include "files/png_file.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEIGHT = 11, WIDTH = 13, MOST_BYTES = 8192 };

TestSuite(png_file, .init = scratch_start, .fini = scratch_end);

static void expect_refused(const char *name, const char *words)
{
    problem why = {0};
    host_array image;
    cr_assert(not(png_read(name, &image, &why)), "%s was read; expected: %s", name, words);
    cr_assert(eq(ptr, image.data, NULL));
    cr_assert(eq(int, why.exit_code, 2), "%s", why.text);
    cr_assert(strncmp(why.text, name, strlen(name)) == 0, "no file name in: %s", why.text);
    cr_assert(strstr(why.text, words) != NULL, "'%s' is not in: %s", words, why.text);
    cr_assert(strchr(why.text, '\n') == NULL, "%s", why.text);
}

static size_t load(const char *name, unsigned char *bytes)
{
    FILE *file = fopen(name, "rb");
    size_t count = fread(bytes, 1, MOST_BYTES, file);
    fclose(file);
    return count;
}

static double expected_grey(png_kind kind, int y, int x)
{
    double largest = (1 << kind.depth) - 1;
    if (kind.type == PNG_COLOR_TYPE_PALETTE) {
        unsigned char rgb[3];
        made_colour(made_sample(kind, y, x, 0), rgb);
        return (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]) / 255;
    }
    if ((kind.type & PNG_COLOR_MASK_COLOR) == 0)
        return made_sample(kind, y, x, 0) / largest;
    return (0.299 * made_sample(kind, y, x, 0) + 0.587 * made_sample(kind, y, x, 1) +
            0.114 * made_sample(kind, y, x, 2)) /
           largest;
}

/* Parts of a.png are those of the whole image. */
static void expect_parts(const host_array *image)
{
    npy_layout layout;
    problem why;
    cr_assert(file_look("a.png", &layout, &why), "%s", why.text);
    cr_assert(layout.dtype == FL_F32 && layout.ndim == 2 && layout.shape[0] == HEIGHT && layout.shape[1] == WIDTH);
    for (int first = 0; first <= HEIGHT * WIDTH; first += 7)
        for (int count = 0; first + count <= HEIGHT * WIDTH; count += count < 2 ? 1 : 21) {
            host_array part;
            cr_assert(file_read_elements("a.png", &layout, first, count, &part, &why), "%s", why.text);
            cr_assert(part.dtype == FL_F32 && part.ndim == 1 && part.shape[0] == count);
            cr_assert(memcmp(part.data, (float *)image->data + first, (size_t)count * sizeof(float)) == 0,
                      "%d from %d on", count, first);
            host_array_free(&part);
        }
}

Test(png_file, every_colour_type_depth_and_interlacing)
{
    for (int k = 0; k < PNG_KINDS; k++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            problem why;
            host_array image;
            make_png("a.png", png_kinds[k], interlaced, HEIGHT, WIDTH);
            cr_assert(png_read("a.png", &image, &why), "%s", why.text);
            cr_assert(image.dtype == FL_F32 && image.ndim == 2 && image.shape[0] == HEIGHT && image.shape[1] == WIDTH);
            for (int i = 0; i < HEIGHT * WIDTH; i++) {
                double error = host_array_get(&image, i) - expected_grey(png_kinds[k], i / WIDTH, i % WIDTH);
                cr_assert(fabs(error) <= 6e-8, "type %d, depth %d, interlaced %d, pixel %d: %g", png_kinds[k].type,
                          png_kinds[k].depth, interlaced, i, error);
            }
            expect_parts(&image);
            host_array_free(&image);
        }
}

Test(png_file, white_is_one_and_black_zero)
{
    problem why;
    host_array image;
    uint8_t rgb[] = {255, 255, 255, 0, 0, 0};
    cr_assert(png_write_picture("a.png", &(picture){1, 2, rgb}, &why), "%s", why.text);
    cr_assert(png_read("a.png", &image, &why), "%s", why.text);
    cr_assert(host_array_get(&image, 0) == 1 && host_array_get(&image, 1) == 0);
    host_array_free(&image);
}

Test(png_file, grey_is_clipped_and_rounded)
{
    const double values[] = {0, 1, 0.5, -3, 7, NAN, INFINITY, -INFINITY, 100.4 / 255, 100.6 / 255};
    const double expected[] = {0, 255, 128, 0, 255, 0, 255, 0, 100, 101};
    problem why;
    for (int t = FL_F32; t <= FL_F64; t++) {
        host_array image, back;
        cr_assert(host_array_create(&image, (fl_dtype)t, 2, (int64_t[]){2, 5}, "x", &why));
        for (int i = 0; i < 10; i++)
            host_array_set(&image, i, values[i]);
        cr_assert(png_write_grey("a.png", &image, &why), "%s", why.text);
        cr_assert(png_read("a.png", &back, &why), "%s", why.text);
        for (int i = 0; i < 10; i++)
            cr_assert(fabs(host_array_get(&back, i) * 255 - expected[i]) < 1e-4, "element %d", i);
        host_array_free(&image);
        host_array_free(&back);
    }
    cr_assert(eq(int, scratch_count(), 1));
}

Test(png_file, only_pictures_are_written)
{
    problem why;
    host_array array;
    cr_assert(host_array_create(&array, FL_F32, 1, (int64_t[]){4}, "x", &why));
    cr_assert(not(png_write_grey("a.png", &array, &why)));
    cr_assert(eq(int, why.exit_code, 2));
    host_array_free(&array);
    cr_assert(host_array_create(&array, FL_F32, 2, (int64_t[]){0, 4}, "x", &why));
    cr_assert(not(png_write_grey("a.png", &array, &why)));
    host_array_free(&array);
    cr_assert(not(png_write_picture("/dev/full", &(picture){1, 1, (uint8_t[]){1, 2, 3}}, &why)));
    cr_assert(why.exit_code == 4 && strstr(why.text, "No space left on device") != NULL, "%s", why.text);
    cr_assert(eq(int, scratch_count(), 0));
}

Test(png_file, refuses_every_beginning_of_a_file)
{
    static const int interlaced[] = {0, 1};
    for (int i = 0; i < 2; i++) {
        unsigned char bytes[MOST_BYTES];
        make_png("whole.png", png_kinds[6], interlaced[i], HEIGHT, WIDTH);
        size_t count = load("whole.png", bytes);
        for (size_t cut = 0; cut < count; cut++) {
            scratch_write("a.png", bytes, cut);
            expect_refused("a.png", cut == 0 ? "is empty" : "is a damaged PNG file (truncated)");
        }
    }
}

Test(png_file, refuses_changed_pixels_and_other_files)
{
    unsigned char bytes[MOST_BYTES];
    make_png("whole.png", png_kinds[3], false, HEIGHT, WIDTH);
    size_t count = load("whole.png", bytes);
    bytes[count - 30] ^= 1;
    scratch_write("a.png", bytes, count);
    expect_refused("a.png", "is a damaged PNG file (");
    scratch_write("a.png", "\x93NUMPY\x01\x00......................", 24);
    expect_refused("a.png", "is not a PNG file");
    cr_assert(mkdir("folder", 0777) == 0 && mkfifo("pipe", 0666) == 0);
    expect_refused("folder", "is a folder");
    expect_refused("pipe", "a pipe, socket or device");
    expect_refused("missing.png", "No such file");
}

/* The header claims a picture of many GB, with a sound checksum: no memory may be taken for it. */
Test(png_file, refuses_absurd_sizes)
{
    static const unsigned char header[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    unsigned char bytes[MOST_BYTES];
    make_png("whole.png", png_kinds[3], false, HEIGHT, WIDTH);
    size_t count = load("whole.png", bytes);
    cr_assert(memcmp(bytes, header, 16) == 0);
    memcpy(bytes + 16, "\x00\x0f\x00\x00\x00\x0f\x00\x00", 8);
    png_save_uint_32(bytes + 29, 0xb554ae13);
    scratch_write("a.png", bytes, count);
    expect_refused("a.png", "claims 983040x983040 pixels");
}

/* ---------------------------------------------------------------------------------------------- the colour map ---- */

static const uint8_t *pixel(const picture *p, int64_t y, int64_t x)
{
    return p->rgb + 3 * (y * p->width + x);
}

static void expect_pixel(const picture *p, int64_t y, int64_t x, uint8_t r, uint8_t g, uint8_t b)
{
    const uint8_t *found = pixel(p, y, x);
    cr_assert(found[0] == r && found[1] == g && found[2] == b, "(%d, %d) is %d %d %d, not %d %d %d", (int)y, (int)x,
              found[0], found[1], found[2], r, g, b);
}

static host_array make_array(const double *values, int64_t height, int64_t width)
{
    problem why;
    host_array array;
    cr_assert(host_array_create(&array, FL_F64, 2, (int64_t[]){height, width}, "x", &why));
    memcpy(array.data, values, host_array_bytes(&array));
    return array;
}

/* The colours are viridis at 0, 0.5 and 1. */
Test(colormap, from_the_least_to_the_largest_finite_value)
{
    host_array array = make_array((double[]){-2, 0, 2, NAN, INFINITY, -INFINITY}, 2, 3);
    problem why;
    picture p;
    cr_assert(colormap_draw(&array, (int64_t[]){0, 0}, 1, &p, "x", &why), "%s", why.text);
    cr_assert(p.height == 2 && p.width == 3);
    expect_pixel(&p, 0, 0, 68, 1, 84);
    expect_pixel(&p, 0, 1, 33, 145, 140);
    expect_pixel(&p, 0, 2, 253, 231, 37);
    expect_pixel(&p, 1, 0, 128, 128, 128);
    expect_pixel(&p, 1, 1, 253, 231, 37);
    expect_pixel(&p, 1, 2, 68, 1, 84);
    picture_free(&p);
    host_array_free(&array);
}

Test(colormap, extreme_constant_and_no_finite_values)
{
    const double rows[][2] = {{-1.7e308, 1.7e308}, {5, 5}, {NAN, NAN}, {-INFINITY, INFINITY}};
    const uint8_t expected[][2] = {{68, 253}, {68, 68}, {128, 128}, {68, 253}};
    for (int i = 0; i < 4; i++) {
        host_array array = make_array(rows[i], 1, 2);
        problem why;
        picture p;
        cr_assert(colormap_draw(&array, (int64_t[]){0, 0}, 1, &p, "x", &why), "%s", why.text);
        cr_assert(pixel(&p, 0, 0)[0] == expected[i][0] && pixel(&p, 0, 1)[0] == expected[i][1], "row %d", i);
        picture_free(&p);
        host_array_free(&array);
    }
}

Test(colormap, crop_and_zoom)
{
    host_array array = make_array((double[]){0, 1, 9, 1, 0, 9, 9, 9, 9}, 3, 3);
    problem why;
    picture p;
    cr_assert(colormap_draw(&array, (int64_t[]){2, 2}, 3, &p, "x", &why), "%s", why.text);
    cr_assert(p.height == 6 && p.width == 6);
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 6; x++)
            cr_assert(eq(int, pixel(&p, y, x)[0], y / 3 == x / 3 ? 68 : 253), "(%d, %d)", y, x);
    picture_free(&p);
    cr_assert(colormap_draw(&array, (int64_t[]){100, 1}, 1, &p, "x", &why), "%s", why.text);
    cr_assert(p.height == 3 && p.width == 1);
    picture_free(&p);
    cr_assert(not(colormap_draw(&array, (int64_t[]){0, 0}, INT64_MAX / 2, &p, "x.png", &why)));
    cr_assert(why.exit_code == 2 && strstr(why.text, "--zoom") != NULL, "%s", why.text);
    host_array_free(&array);
}
