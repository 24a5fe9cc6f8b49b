/* SPDX-License-Identifier: MIT */
#include "make_png.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>

const png_kind png_kinds[PNG_KINDS] = {
    {PNG_COLOR_TYPE_GRAY, 1, false},        {PNG_COLOR_TYPE_GRAY, 2, false},      {PNG_COLOR_TYPE_GRAY, 4, false},
    {PNG_COLOR_TYPE_GRAY, 8, false},        {PNG_COLOR_TYPE_GRAY, 16, false},     {PNG_COLOR_TYPE_RGB, 8, false},
    {PNG_COLOR_TYPE_RGB, 16, false},        {PNG_COLOR_TYPE_PALETTE, 1, false},   {PNG_COLOR_TYPE_PALETTE, 2, false},
    {PNG_COLOR_TYPE_PALETTE, 4, false},     {PNG_COLOR_TYPE_PALETTE, 8, false},   {PNG_COLOR_TYPE_GRAY_ALPHA, 8, false},
    {PNG_COLOR_TYPE_GRAY_ALPHA, 16, false}, {PNG_COLOR_TYPE_RGB_ALPHA, 8, false}, {PNG_COLOR_TYPE_RGB_ALPHA, 16, false},
    {PNG_COLOR_TYPE_GRAY, 1, true},         {PNG_COLOR_TYPE_GRAY, 2, true},       {PNG_COLOR_TYPE_GRAY, 4, true},
    {PNG_COLOR_TYPE_GRAY, 8, true},         {PNG_COLOR_TYPE_GRAY, 16, true},      {PNG_COLOR_TYPE_RGB, 8, true},
    {PNG_COLOR_TYPE_RGB, 16, true},         {PNG_COLOR_TYPE_PALETTE, 1, true},    {PNG_COLOR_TYPE_PALETTE, 2, true},
    {PNG_COLOR_TYPE_PALETTE, 4, true},      {PNG_COLOR_TYPE_PALETTE, 8, true},
};

unsigned made_sample(png_kind kind, int y, int x, int c)
{
    return (unsigned)(y * 40503 + x * 9973 + c * 30011 + 77 * y * x) & ((1u << kind.depth) - 1);
}

void made_colour(unsigned i, unsigned char rgb[3])
{
    rgb[0] = (unsigned char)(i * 7);
    rgb[1] = (unsigned char)(i * 113 + 50);
    rgb[2] = (unsigned char)(255 - i);
}

/* Whether (y, x) has the transparent colour, which is that of (1, 1). */
static bool is_transparent(png_kind kind, int y, int x)
{
    int channels = kind.type == PNG_COLOR_TYPE_RGB ? 3 : 1;
    for (int c = 0; c < channels; c++)
        if (made_sample(kind, y, x, c) != made_sample(kind, 1, 1, c))
            return false;
    return true;
}

int made_alpha(png_kind kind, int y, int x)
{
    int largest = kind.depth == 16 ? 65535 : 255;
    if ((kind.type & PNG_COLOR_MASK_ALPHA) != 0)
        return (int)made_sample(kind, y, x, kind.type == PNG_COLOR_TYPE_GRAY_ALPHA ? 1 : 3);
    if (!kind.transparent)
        return -1;
    if (kind.type == PNG_COLOR_TYPE_PALETTE) {
        unsigned i = made_sample(kind, y, x, 0);
        return i == 0 ? 0 : i == 1 ? 128 : 255;
    }
    return is_transparent(kind, y, x) ? 0 : largest;
}

static void set_colours(png_structp png, png_infop info, png_kind kind)
{
    png_byte alpha[2] = {0, 128};
    png_color palette[256];
    if (kind.type == PNG_COLOR_TYPE_PALETTE) {
        for (unsigned i = 0; i < 256; i++) {
            unsigned char rgb[3];
            made_colour(i, rgb);
            palette[i] = (png_color){rgb[0], rgb[1], rgb[2]};
        }
        png_set_PLTE(png, info, palette, 1 << kind.depth);
    }
    if (kind.transparent) {
        png_uint_16 c[3];
        for (int i = 0; i < 3; i++)
            c[i] = (png_uint_16)made_sample(kind, 1, 1, i);
        png_set_tRNS(png, info, alpha, kind.type == PNG_COLOR_TYPE_PALETTE ? 2 : 0,
                     &(png_color_16){.gray = c[0], .red = c[0], .green = c[1], .blue = c[2]});
    }
}

/* Samples as PNG packs them: most significant bit first. */
static void fill_row(png_bytep row, size_t bytes, png_kind kind, int y, int width, int channels)
{
    for (size_t i = 0; i < bytes; i++)
        row[i] = 0;
    size_t bit = 0;
    for (int x = 0; x < width; x++)
        for (int c = 0; c < channels; c++)
            for (int b = kind.depth - 1; b >= 0; b--, bit++)
                row[bit / 8] |= (png_byte)((made_sample(kind, y, x, c) >> b & 1) << (7 - bit % 8));
}

void make_png(const char *path, png_kind kind, bool interlaced, int height, int width)
{
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, kind.depth, kind.type,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    set_colours(png, info, kind);
    png_write_info(png, info);
    int passes = png_set_interlace_handling(png), channels = png_get_channels(png, info);
    size_t bytes = png_get_rowbytes(png, info);
    png_bytep row = malloc(bytes);
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < height; y++) {
            fill_row(row, bytes, kind, y, width, channels);
            png_write_row(png, row);
        }
    free(row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}
