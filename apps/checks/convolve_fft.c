/* SPDX-License-Identifier: MIT */
#include "convolve_fft.h"

#include "run/reference.h"
#include "support/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* At least the root of the sum of squares of any `length` consecutive elements: such a stretch lies in two of the
 * pieces that the array is cut into. */
static double largest_norm(const host_array *array, int64_t length)
{
    double before = 0, largest = 0;

    for (int64_t start = 0, size = host_array_size(array); start < size; start += length) {
        const int64_t end = int64_smaller(start + length, size);
        double squares = 0;
        for (int64_t i = start; i < end; i++)
            squares += host_array_get(array, i) * host_array_get(array, i);
        largest = fmax(largest, before + squares);
        before = squares;
    }
    return sqrt(largest);
}

/* At least the root of the sum of squares of any tile with these edges: such a tile lies in four of the cells that the
 * image is cut into. */
static double largest_norm_of_tiles(const host_array *image, const int64_t *edge)
{
    const int64_t across = (image->shape[1] + edge[1] - 1) / edge[1];
    double *above = memory_zeroed((size_t)across + 1, sizeof *above), *here, largest = 0;

    for (int64_t top = 0; top < image->shape[0]; top += edge[0]) {
        here = memory_zeroed((size_t)across + 1, sizeof *here); /* with a cell of zeros after the last one */
        for (int64_t i = top; i < int64_smaller(top + edge[0], image->shape[0]); i++)
            for (int64_t j = 0; j < image->shape[1]; j++) {
                const double element = host_array_get(image, i * image->shape[1] + j);
                here[j / edge[1]] += element * element;
            }
        for (int64_t cell = 0; cell < across; cell++)
            largest = fmax(largest, above[cell] + above[cell + 1] + here[cell] + here[cell + 1]);
        free(above);
        above = here;
    }
    free(above);
    return sqrt(largest);
}

/* At least the root of the sum of squares, also where squares lose digits. */
static double norm_of(const host_array *array)
{
    double squares = 0, sum = 0;

    for (int64_t i = 0, size = host_array_size(array); i < size; i++) {
        squares += host_array_get(array, i) * host_array_get(array, i);
        sum += fabs(host_array_get(array, i));
    }
    return squares > DBL_MIN / DBL_EPSILON ? sqrt(squares) : sum;
}

/* The bound of the variant fft of images, from flynn.h. In mode valid the input that contains the other is the image.
 */
static double error_of_images(const host_array *image, const host_array *kernel, fl_mode mode, fl_dtype dtype)
{
    const bool swapped = mode == FL_VALID && (image->shape[0] < kernel->shape[0] || image->shape[1] < kernel->shape[1]);
    const host_array *larger = swapped ? kernel : image, *lesser = swapped ? image : kernel;
    const int64_t edge[] = {int64_larger(512, 4 * lesser->shape[0]), int64_larger(512, 4 * lesser->shape[1])};

    return 20 * (log2((double)edge[0]) + log2((double)edge[1]) + 2) * unit_roundoff(dtype) *
           largest_norm_of_tiles(larger, edge) * norm_of(lesser);
}

/* The bound of the variant fft of signals, from flynn.h. */
static double error_of_signals(const host_array *signal, const host_array *kernel, fl_dtype dtype)
{
    const bool swapped = host_array_size(signal) < host_array_size(kernel);
    const host_array *longer = swapped ? kernel : signal, *shorter = swapped ? signal : kernel;
    const int64_t length = int64_larger(65536, 16 * host_array_size(shorter));

    return 20 * (log2((double)length) + 2) * unit_roundoff(dtype) * largest_norm(longer, length) * norm_of(shorter);
}

double convolve_fft_error(const host_array *image, const host_array *kernel, fl_mode mode, fl_dtype dtype)
{
    return image->ndim == 1 ? error_of_signals(image, kernel, dtype) : error_of_images(image, kernel, mode, dtype);
}
