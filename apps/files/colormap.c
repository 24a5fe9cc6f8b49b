/* SPDX-License-Identifier: MIT */
#include "colormap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* viridis by Stefan van der Walt and Nathaniel Smith, released under CC0 (bids.github.io/colormap); the 256 entries
 * rounded to 8 bits, 0xRRGGBB: numpy.rint(255 * matplotlib.colormaps["viridis"].colors). */
static const uint32_t viridis[256] = {
    0x440154, 0x440256, 0x450457, 0x450559, 0x46075a, 0x46085c, 0x460a5d, 0x460b5e, 0x470d60, 0x470e61, 0x471063,
    0x471164, 0x471365, 0x481467, 0x481668, 0x481769, 0x48186a, 0x481a6c, 0x481b6d, 0x481c6e, 0x481d6f, 0x481f70,
    0x482071, 0x482173, 0x482374, 0x482475, 0x482576, 0x482677, 0x482878, 0x482979, 0x472a7a, 0x472c7a, 0x472d7b,
    0x472e7c, 0x472f7d, 0x46307e, 0x46327e, 0x46337f, 0x463480, 0x453581, 0x453781, 0x453882, 0x443983, 0x443a83,
    0x443b84, 0x433d84, 0x433e85, 0x423f85, 0x424086, 0x424186, 0x414287, 0x414487, 0x404588, 0x404688, 0x3f4788,
    0x3f4889, 0x3e4989, 0x3e4a89, 0x3e4c8a, 0x3d4d8a, 0x3d4e8a, 0x3c4f8a, 0x3c508b, 0x3b518b, 0x3b528b, 0x3a538b,
    0x3a548c, 0x39558c, 0x39568c, 0x38588c, 0x38598c, 0x375a8c, 0x375b8d, 0x365c8d, 0x365d8d, 0x355e8d, 0x355f8d,
    0x34608d, 0x34618d, 0x33628d, 0x33638d, 0x32648e, 0x32658e, 0x31668e, 0x31678e, 0x31688e, 0x30698e, 0x306a8e,
    0x2f6b8e, 0x2f6c8e, 0x2e6d8e, 0x2e6e8e, 0x2e6f8e, 0x2d708e, 0x2d718e, 0x2c718e, 0x2c728e, 0x2c738e, 0x2b748e,
    0x2b758e, 0x2a768e, 0x2a778e, 0x2a788e, 0x29798e, 0x297a8e, 0x297b8e, 0x287c8e, 0x287d8e, 0x277e8e, 0x277f8e,
    0x27808e, 0x26818e, 0x26828e, 0x26828e, 0x25838e, 0x25848e, 0x25858e, 0x24868e, 0x24878e, 0x23888e, 0x23898e,
    0x238a8d, 0x228b8d, 0x228c8d, 0x228d8d, 0x218e8d, 0x218f8d, 0x21908d, 0x21918c, 0x20928c, 0x20928c, 0x20938c,
    0x1f948c, 0x1f958b, 0x1f968b, 0x1f978b, 0x1f988b, 0x1f998a, 0x1f9a8a, 0x1e9b8a, 0x1e9c89, 0x1e9d89, 0x1f9e89,
    0x1f9f88, 0x1fa088, 0x1fa188, 0x1fa187, 0x1fa287, 0x20a386, 0x20a486, 0x21a585, 0x21a685, 0x22a785, 0x22a884,
    0x23a983, 0x24aa83, 0x25ab82, 0x25ac82, 0x26ad81, 0x27ad81, 0x28ae80, 0x29af7f, 0x2ab07f, 0x2cb17e, 0x2db27d,
    0x2eb37c, 0x2fb47c, 0x31b57b, 0x32b67a, 0x34b679, 0x35b779, 0x37b878, 0x38b977, 0x3aba76, 0x3bbb75, 0x3dbc74,
    0x3fbc73, 0x40bd72, 0x42be71, 0x44bf70, 0x46c06f, 0x48c16e, 0x4ac16d, 0x4cc26c, 0x4ec36b, 0x50c46a, 0x52c569,
    0x54c568, 0x56c667, 0x58c765, 0x5ac864, 0x5cc863, 0x5ec962, 0x60ca60, 0x63cb5f, 0x65cb5e, 0x67cc5c, 0x69cd5b,
    0x6ccd5a, 0x6ece58, 0x70cf57, 0x73d056, 0x75d054, 0x77d153, 0x7ad151, 0x7cd250, 0x7fd34e, 0x81d34d, 0x84d44b,
    0x86d549, 0x89d548, 0x8bd646, 0x8ed645, 0x90d743, 0x93d741, 0x95d840, 0x98d83e, 0x9bd93c, 0x9dd93b, 0xa0da39,
    0xa2da37, 0xa5db36, 0xa8db34, 0xaadc32, 0xaddc30, 0xb0dd2f, 0xb2dd2d, 0xb5de2b, 0xb8de29, 0xbade28, 0xbddf26,
    0xc0df25, 0xc2df23, 0xc5e021, 0xc8e020, 0xcae11f, 0xcde11d, 0xd0e11c, 0xd2e21b, 0xd5e21a, 0xd8e219, 0xdae319,
    0xdde318, 0xdfe318, 0xe2e418, 0xe5e419, 0xe7e419, 0xeae51a, 0xece51b, 0xefe51c, 0xf1e51d, 0xf4e61e, 0xf6e620,
    0xf8e621, 0xfbe723, 0xfde725,
};

/* The colour of NaN: viridis has no grey. */
static const uint32_t grey = 0x808080;

typedef struct range {
    double low, high;
} range;

static range finite_range(const host_array *array, int64_t height, int64_t width)
{
    range r = {INFINITY, -INFINITY};
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            double value = host_array_get(array, y * array->shape[1] + x);
            if (isfinite(value)) {
                r.low = fmin(r.low, value);
                r.high = fmax(r.high, value);
            }
        }
    return r;
}

static uint32_t colour_of(double value, range r)
{
    if (isnan(value))
        return grey;
    if (isinf(value))
        return viridis[value > 0 ? 255 : 0];
    if (r.high == r.low)
        return viridis[0];
    /* Halves, because the difference of two finite values can overflow. */
    double place = (value / 2 - r.low / 2) / (r.high / 2 - r.low / 2);
    return viridis[(int)fmin(place * 256, 255)];
}

/* Row y of the array, each element `zoom` pixels wide, to the first of its `zoom` rows of pixels. */
static void draw_row(const host_array *array, int64_t y, range r, int64_t zoom, const picture *colours)
{
    uint8_t *to = colours->rgb + y * zoom * colours->width * 3;
    for (int64_t x = 0; x < colours->width / zoom; x++) {
        const uint32_t colour = colour_of(host_array_get(array, y * array->shape[1] + x), r);
        for (int64_t i = 0; i < zoom; i++)
            for (int shift = 16; shift >= 0; shift -= 8)
                *to++ = (uint8_t)(colour >> shift);
    }
}

/* Room for height x width elements, `zoom` x `zoom` pixels each. */
static bool create(picture *colours, int64_t height, int64_t width, int64_t zoom, const char *what, problem *why)
{
    int64_t bytes;

    if (!shape_bytes(4, (int64_t[]){height, zoom, width, zoom}, 3, &bytes))
        return problem_set(why, EXIT_BAD_INPUT,
                           "%s: %" PRId64 "x%" PRId64 " elements with --zoom=%" PRId64
                           " are too many pixels; use a smaller --zoom or --crop",
                           what, height, width, zoom);
    colours->height = height * zoom;
    colours->width = width * zoom;
    colours->rgb = malloc((size_t)bytes);
    return colours->rgb != NULL || problem_no_memory(why, what, (double)bytes);
}

bool colormap_draw(const host_array *array, const int64_t crop[2], int64_t zoom, picture *colours, const char *what,
                   problem *why)
{
    *colours = (picture){0};
    if (array->ndim != 2 || host_array_size(array) == 0)
        return problem_set(why, EXIT_BAD_INPUT,
                           "%s: a picture needs an array of 2 dimensions of at least 1; its shape is %s", what,
                           format_shape(array->ndim, array->shape).text);
    int64_t height = crop[0] > 0 && crop[0] < array->shape[0] ? crop[0] : array->shape[0];
    int64_t width = crop[1] > 0 && crop[1] < array->shape[1] ? crop[1] : array->shape[1];
    if (!create(colours, height, width, zoom, what, why))
        return false;
    range r = finite_range(array, height, width);
    size_t row_bytes = (size_t)colours->width * 3;
    for (int64_t y = 0; y < height; y++) {
        draw_row(array, y, r, zoom, colours);
        uint8_t *first = colours->rgb + (size_t)(y * zoom) * row_bytes;
        for (int64_t i = 1; i < zoom; i++)
            memcpy(first + (size_t)i * row_bytes, first, row_bytes);
    }
    return true;
}

void picture_free(picture *colours)
{
    free(colours->rgb);
    *colours = (picture){0};
}
