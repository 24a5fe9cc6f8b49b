/* SPDX-License-Identifier: MIT
 *
 * convolve [DEVICE]: a small image, convolved with a kernel that is not symmetric, in two variants. */
#include <flynn/flynn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "convolve: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    /* A single one in the image: the result is the kernel where the one stood, not flipped. A correlation would flip
     * it, and with a symmetric kernel nobody would notice. */
    const double pixels[4][4] = {{0}, {0, 1}}, weights[2][3] = {{1, 2, 3}, {4, 5, 6}};
    const int64_t image_shape[2] = {4, 4}, kernel_shape[2] = {2, 3};
    const char *const variants[2] = {"naive", "tiled"};
    double result[2][5][6];
    int64_t shape[2];
    fl_device *device;
    fl_array *image, *kernel, *out;

    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));
    must(fl_array_from_host(device, FL_F64, 2, image_shape, pixels, &image));
    must(fl_array_from_host(device, FL_F64, 2, kernel_shape, weights, &kernel));
    must(fl_convolve_shape(image_shape, kernel_shape, FL_FULL, shape));
    must(fl_array_create(device, FL_F64, 2, shape, &out));
    for (int v = 0; v < 2; v++) {
        fl_timing timing;
        must(fl_convolve(device, image, kernel, FL_FULL, out, &(fl_run){.variant = variants[v], .timing = &timing}));
        must(fl_array_to_host(out, result[v]));
        printf("%s %s: %.3g s, %g bytes asked for, %g of them needed\n", fl_device_describe(device)->resource,
               timing.variant, timing.kernel_s, timing.bytes_requested, timing.bytes);
    }
    for (int i = 0; i < (int)shape[0]; i++)
        for (int j = 0; j < (int)shape[1]; j++)
            printf("%2g%s", result[0][i][j], j + 1 < (int)shape[1] ? " " : "\n");
    fl_array_free(image);
    fl_array_free(kernel);
    fl_array_free(out);
    fl_device_close(device);
    return result[0][1][1] == 1 && result[0][2][3] == 6 && memcmp(result[0], result[1], sizeof result[0]) == 0 ? 0 : 1;
}
