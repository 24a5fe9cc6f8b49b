/* SPDX-License-Identifier: MIT
 *
 * elementwise [DEVICE]: the larger of two, the logarithm of a sum, a square root, and one more, element by element. */
#include <flynn/flynn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EDGE = 32, COUNT = EDGE * EDGE * EDGE };

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "elementwise: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    static float x[COUNT], y[COUNT], larger[COUNT], logarithm[COUNT], root[COUNT];
    const int64_t shape[3] = {EDGE, EDGE, EDGE};
    fl_device *device;
    fl_array *a, *b, *out;
    fl_timing timing;

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = (float)(COUNT - i);
    }
    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));
    must(fl_array_from_host(device, FL_F32, 3, shape, x, &a));
    must(fl_array_from_host(device, FL_F32, 3, shape, y, &b));
    must(fl_array_create(device, FL_F32, 3, shape, &out));

    must(fl_maximum(device, a, b, out, &(fl_run){.timing = &timing})); /* asked for its timing, a call waits */
    must(fl_array_to_host(out, larger));
    must(fl_log_of_sum(device, a, b, out, NULL)); /* else it is queued; fl_array_to_host waits */
    must(fl_array_to_host(out, logarithm));
    must(fl_increment(device, a, a, NULL)); /* in place: x + 1 */
    must(fl_sqrt(device, a, out, NULL));
    must(fl_array_to_host(out, root));

    printf("%s: maximum by %s in %.3g s: %g and %g\n", fl_device_describe(device)->resource, timing.variant,
           timing.kernel_s, larger[1], larger[COUNT - 1]);
    printf("log(x + y) = %.6f, sqrt(8 + 1) = %g\n", logarithm[5], root[8]);
    fl_array_free(a);
    fl_array_free(b);
    fl_array_free(out);
    fl_device_close(device);
    return larger[1] == COUNT - 1 && fabsf(logarithm[5] - logf(COUNT)) < 1e-5F && root[8] == 3 ? 0 : 1;
}
