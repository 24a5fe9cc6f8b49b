/* SPDX-License-Identifier: MIT
 *
 * sort [DEVICE]: in place, and what becomes of NaN; then every variant that the device has. */
#include <flynn/flynn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "sort: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    const float unsorted[8] = {3, NAN, -1, 2, -INFINITY, 0, 1e30F, -7};
    const float expected[7] = {-INFINITY, -7, -1, 0, 2, 3, 1e30F}; /* and NaN, as numpy.sort has it */
    const int64_t count = 8;
    fl_device *device;
    fl_array *array;
    fl_variant_info variant;
    int wrong = 0;

    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));
    must(fl_array_create(device, FL_F32, 1, &count, &array));
    for (size_t i = 0; i < fl_variant_count(device); i++) {
        float sorted[8];
        must(fl_variant_get(device, i, &variant));
        if (strcmp(variant.operation, "sort") != 0 || !(variant.dtypes & 1u << FL_F32))
            continue;
        must(fl_array_write(array, unsorted, NULL)); /* queued: sorting comes after it in the same stream */
        must(fl_sort(device, array, array, &(fl_run){.variant = variant.variant}));
        must(fl_array_to_host(array, sorted)); /* waits */
        printf("%s %-8s", fl_device_describe(device)->resource, variant.variant);
        for (int j = 0; j < (int)count; j++)
            printf(" %g", sorted[j]);
        printf("   (%s)\n", variant.summary);
        wrong += memcmp(sorted, expected, sizeof expected) != 0 || !isnan(sorted[7]);
    }
    fl_array_free(array);
    fl_device_close(device);
    return wrong ? 1 : 0;
}
