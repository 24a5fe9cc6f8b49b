/* SPDX-License-Identifier: MIT
 *
 * The two readers of PNGs: whatever the bytes, both give a whole image, which stays the same when it is encoded and
 * decoded again, or both give a problem of one line.
 */
#include "fuzz.h"

#include "files/png_file.h"
#include "files/png_planes.h"

#include <string.h>
#include <zlib.h>

static bool try_image(const char *path)
{
    problem why = {.text = ""};
    host_array array;

    if (!png_read(path, &array, &why)) {
        fuzz_demand(array.data == NULL, "a refused file left an array: %s", why.text);
        fuzz_demand_problem(&why, path);
        return false;
    }
    fuzz_demand(array.data != NULL && array.ndim == 2, "an accepted file gave no image");
    volatile double sum = 0; /* touches every element */
    for (int64_t i = 0; i < host_array_size(&array); i++)
        sum += host_array_get(&array, i);
    (void)sum;
    host_array_free(&array);
    return true;
}

static void try_again(const char *path, const png_planes *image)
{
    problem why = {.text = ""};
    file_bytes encoded;
    png_planes again;

    fuzz_demand(png_planes_encode(path, image, &encoded, &why), "an accepted image is not encoded: %s", why.text);
    fuzz_demand(png_planes_decode(path, encoded.data, encoded.size, &again, &why), "an encoded image is refused: %s",
                why.text);
    size_t pixels = (size_t)image->height * (size_t)image->width;
    fuzz_demand(again.height == image->height && again.width == image->width && again.channels == image->channels &&
                    again.depth == image->depth && (again.alpha != NULL) == (image->alpha != NULL),
                "an encoded image has another form");
    fuzz_demand(memcmp(again.planes, image->planes, pixels * (size_t)image->channels * sizeof *image->planes) == 0,
                "an encoded image has other samples");
    fuzz_demand(image->alpha == NULL || memcmp(again.alpha, image->alpha, pixels * sizeof *image->alpha) == 0,
                "an encoded image has another alpha");
    file_bytes_free(&encoded);
    png_planes_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    const bool expected = try_image(path);
    problem why = {.text = ""};
    file_bytes bytes;
    png_planes image = {0};
    const bool accepted =
        file_bytes_read(path, "a PNG", &bytes, &why) && png_planes_decode(path, bytes.data, bytes.size, &image, &why);

    file_bytes_free(&bytes);
    fuzz_demand(accepted == expected, "one reader of PNGs accepts what the other refuses: %s", why.text);
    fuzz_demand(accepted == (image.planes != NULL), "a refused file left an image, or an accepted one gave none");
    if (accepted)
        try_again(path, &image);
    else
        fuzz_demand_problem(&why, path);
    png_planes_free(&image);
    return 0;
}

/* Checksums that fit again, so that what lies behind them is reached: chunks are length, name, data, checksum. */
static void mend_checksums(uint8_t *data, size_t size)
{
    for (size_t at = 8; at + 12 <= size;) {
        uint8_t *chunk = data + at;
        size_t length = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];
        if (length > size - at - 12)
            return;
        uLong sum = crc32(0, chunk + 4, (uInt)length + 4);
        for (int i = 0; i < 4; i++)
            chunk[8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += 12 + length;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, most);
    if (seed % 4 != 0)
        mend_checksums(data, size);
    return size;
}
