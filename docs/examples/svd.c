/* SPDX-License-Identifier: MIT
 *
 * svd [DEVICE]: a matrix of rank two, taken apart and put together again from two singular values. */
#include <flynn/flynn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 60, COLUMNS = 40, RANK = 2 };

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "svd: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    static double matrix[ROWS][COLUMNS], again[ROWS][COLUMNS];
    double values[COLUMNS], worst = 0;
    fl_device *device;
    fl_array *a, *u, *s, *vt, *y;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            matrix[i][j] = (double)i * j + (i % 5) * (j % 7); /* of rank 2 */
    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));
    must(fl_array_from_host(device, FL_F64, 2, (int64_t[]){ROWS, COLUMNS}, matrix, &a));
    must(fl_array_create(device, FL_F64, 2, (int64_t[]){ROWS, COLUMNS}, &u)); /* min(m, n) columns: the thin SVD */
    must(fl_array_create(device, FL_F64, 1, (int64_t[]){COLUMNS}, &s));
    must(fl_array_create(device, FL_F64, 2, (int64_t[]){COLUMNS, COLUMNS}, &vt));
    must(fl_array_create(device, FL_F64, 2, (int64_t[]){ROWS, COLUMNS}, &y));
    must(fl_svd(device, a, 0, u, s, vt, NULL));
    must(fl_reconstruct(device, u, s, vt, RANK, y, NULL));
    must(fl_array_to_host(s, values));
    must(fl_array_to_host(y, again));

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (!(fabs(again[i][j] - matrix[i][j]) <= worst)) /* also where it is NaN */
                worst = fabs(again[i][j] - matrix[i][j]);
    printf("%s: singular values %.6g, %.6g, %.1e ...; from %d of them the matrix is met to %.1e\n",
           fl_device_describe(device)->resource, values[0], values[1], values[2], RANK, worst);
    for (fl_array **array = (fl_array *[]){a, u, s, vt, y, NULL}; *array; array++)
        fl_array_free(*array);
    fl_device_close(device);
    return values[0] >= values[1] && values[2] < 1e-9 * values[0] && worst < 1e-9 * values[0] ? 0 : 1;
}
