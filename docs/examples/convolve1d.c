/* SPDX-License-Identifier: MIT
 *
 * convolve1d [DEVICE]: a step, smoothed by a moving average; the three modes differ in how much of the ends they keep.
 */
#include <flynn/flynn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "convolve1d: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    const float step[8] = {0, 0, 0, 0, 3, 3, 3, 3}, average[3] = {1 / 3.F, 1 / 3.F, 1 / 3.F};
    const float same[8] = {0, 0, 0, 1, 2, 3, 3, 2};
    const char *const names[3] = {[FL_FULL] = "full", [FL_SAME] = "same", [FL_VALID] = "valid"};
    fl_device *device;
    fl_array *signal, *kernel;
    int wrong = 0;

    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));
    must(fl_array_from_host(device, FL_F32, 1, (int64_t[]){8}, step, &signal));
    must(fl_array_from_host(device, FL_F32, 1, (int64_t[]){3}, average, &kernel));
    printf("%s\n", fl_device_describe(device)->resource);
    for (int mode = FL_FULL; mode <= FL_VALID; mode++) {
        int64_t length;
        float result[10];
        fl_array *out;
        must(fl_convolve1d_shape(8, 3, (fl_mode)mode, &length));
        must(fl_array_create(device, FL_F32, 1, &length, &out));
        must(fl_convolve1d(device, signal, kernel, (fl_mode)mode, out, NULL));
        must(fl_array_to_host(out, result));
        fl_array_free(out);
        printf("%-5s", names[mode]);
        for (int i = 0; i < (int)length; i++)
            printf(" %.3g", result[i]);
        printf("\n");
        for (int i = 0; i < 8 && mode == FL_SAME; i++)
            wrong += !(fabsf(result[i] - same[i]) < 1e-6F);
    }
    fl_array_free(signal);
    fl_array_free(kernel);
    fl_device_close(device);
    return wrong ? 1 : 0;
}
