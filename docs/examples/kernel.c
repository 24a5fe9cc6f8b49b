/* SPDX-License-Identifier: MIT
 *
 * kernel [DEVICE]: your own kernel on a GPU or, without one, on an emulated GPU. A processor's backend runs none. */
#include <flynn/flynn.h>

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, BLOCK = 256 };

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "kernel: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    static const char vector_add[] =
        "__global__ void vector_add(const float *a, const float *b, float *out, int size)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < size)\n        out[i] = a[i] + b[i];\n}\n";
    static float x[COUNT], y[COUNT], sums[COUNT];
    const int64_t count = COUNT, grid[3] = {(COUNT + BLOCK - 1) / BLOCK, 1, 1};
    int wrong = 0;
    fl_device *device;
    fl_kernel *kernel;
    fl_array *a, *b, *out;
    fl_status status;

    if (argc > 1)
        must(fl_device_open(argv[1], &device));
    else if (fl_device_open("hip", &device) != FL_OK && fl_device_open("hip-cpu", &device) != FL_OK) {
        printf("neither a GPU nor its emulation is here: %s\n", fl_last_error());
        return 0;
    }
    status = fl_kernel_create(device, vector_add, "vector_add.hip", NULL, NULL, NULL, 0, &kernel);
    if (status == FL_E_UNSUPPORTED) {
        printf("%s\n", fl_last_error());
        fl_device_close(device);
        return 0;
    }
    must(status);

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = 2 * x[i];
    }
    must(fl_array_from_host(device, FL_F32, 1, &count, x, &a));
    must(fl_array_from_host(device, FL_F32, 1, &count, y, &b));
    must(fl_array_create(device, FL_F32, 1, &count, &out));
    const fl_argument arguments[] = {{.array = a}, {.array = b}, {.array = out}, {.integer = COUNT}};
    must(fl_kernel_launch(kernel, grid, 0, arguments, 4, &(fl_run){.block = {BLOCK}}));
    must(fl_array_to_host(out, sums)); /* waits */
    for (int i = 0; i < COUNT; i++)
        wrong += sums[i] != 3 * x[i];
    printf("%s: %d sums, %d wrong; the last one is %g\n", fl_device_describe(device)->resource, COUNT, wrong,
           sums[COUNT - 1]);

    fl_array_free(a);
    fl_array_free(b);
    fl_array_free(out);
    fl_kernel_free(kernel);
    fl_device_close(device);
    return wrong ? 1 : 0;
}
