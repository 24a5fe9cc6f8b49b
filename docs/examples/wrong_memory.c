/* SPDX-License-Identifier: MIT
 *
 * wrong_memory [DEVICE]: an array of the host given to a device's operation, the other way round, and what fixes it. */
#include <flynn/flynn.h>

#include <stdio.h>
#include <stdlib.h>

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "wrong_memory: %s\n", fl_last_error());
    exit(1);
}

/* The call must fail, and says how it did. */
static int refused(fl_status status)
{
    printf("  %s: %s\n", fl_status_name(status), status == FL_OK ? "" : fl_last_error());
    return status == FL_E_WRONG_DEVICE;
}

int main(int argc, char **argv)
{
    const float pixels[4] = {1, 2, 3, 4}, weights[4] = {1, 0, 0, 1};
    const int64_t shape[2] = {2, 2};
    fl_device *host, *device;
    fl_array *image, *kernel, *kernel_there, *out, *out_there;
    float result[4];

    must(fl_device_open("serial", &host));
    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device)); /* one device opened twice is two, too */
    must(fl_array_from_host(device, FL_F32, 2, shape, pixels, &image));
    must(fl_array_from_host(host, FL_F32, 2, shape, weights, &kernel));
    must(fl_array_create(device, FL_F32, 2, shape, &out_there));
    must(fl_array_create(host, FL_F32, 2, shape, &out));

    printf("the host's kernel given to %s:\n", fl_device_describe(device)->resource);
    int right = refused(fl_convolve(device, image, kernel, FL_SAME, out_there, NULL));
    printf("the image on %s given to serial:\n", fl_device_describe(device)->resource);
    right += refused(fl_convolve(host, image, kernel, FL_SAME, out, NULL));

    must(fl_array_to_device(kernel, device, &kernel_there)); /* what the message says */
    must(fl_convolve(device, image, kernel_there, FL_SAME, out_there, NULL));
    must(fl_array_to_host(out_there, result));
    printf("with the copy: %g %g %g %g\n", result[0], result[1], result[2], result[3]);
    for (fl_array **a = (fl_array *[]){image, kernel, kernel_there, out, out_there, NULL}; *a; a++)
        fl_array_free(*a);
    fl_device_close(device);
    fl_device_close(host);
    return right == 2 && result[3] == 5 ? 0 : 1;
}
