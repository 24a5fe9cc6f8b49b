/* SPDX-License-Identifier: MIT
 *
 * A program of somebody else's: opens the device that is named, convolves, and prints which plugin did it. */
#include <flynn/flynn.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    const float pixels[] = {1, 2, 3, 4}, taps[] = {1, -1};
    float result[6];
    fl_device *device;
    fl_array *image, *kernel, *out;
    if (fl_device_open(argc > 1 ? argv[1] : "auto", &device) != FL_OK ||
        fl_array_from_host(device, FL_F32, 2, (int64_t[]){2, 2}, pixels, &image) != FL_OK ||
        fl_array_from_host(device, FL_F32, 2, (int64_t[]){1, 2}, taps, &kernel) != FL_OK ||
        fl_array_create(device, FL_F32, 2, (int64_t[]){2, 3}, &out) != FL_OK ||
        fl_convolve(device, image, kernel, FL_FULL, out, NULL) != FL_OK || fl_array_to_host(out, result) != FL_OK) {
        fprintf(stderr, "%s\n", fl_last_error());
        return 1;
    }
    for (size_t i = 0; i < fl_backend_count(); i++)
        if (fl_backend_get(i)->usable)
            printf("%s %s\n", fl_backend_get(i)->name, fl_backend_get(i)->path);
    fl_array_free(image);
    fl_array_free(kernel);
    fl_array_free(out);
    fl_device_close(device);
    return result[0] != 1 || result[1] != 1 || result[2] != -2 || result[5] != -4;
}
