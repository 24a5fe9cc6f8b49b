/* SPDX-License-Identifier: MIT
 *
 * map [DEVICE]: your own function for each element, as an expression and as C, and what is said of one that is wrong.
 */
#include <flynn/flynn.h>

#include <stdio.h>
#include <stdlib.h>

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "map: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    static const char collatz[] = "int steps(int n)\n{\n    int count = 0;\n    for (; n > 1; count++)\n"
                                  "        n = n % 2 ? 3 * n + 1 : n / 2;\n    return count;\n}\n";
    const float x[4] = {-1, 0, 4, 9}, y[4] = {1, 2, 3, 4};
    const int32_t n[4] = {1, 6, 7, 27};
    const int64_t count = 4;
    float roots[4];
    int32_t steps[4];
    fl_device *device;
    fl_function *function, *wrong;
    fl_array *a, *b, *out, *numbers, *counts;

    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));

    must(fl_array_from_host(device, FL_F32, 1, &count, x, &a));
    must(fl_array_from_host(device, FL_F32, 1, &count, y, &b));
    must(fl_array_create(device, FL_F32, 1, &count, &out));
    must(fl_function_create(device, "x > 0 ? sqrt(x) * y : 0", "roots", (fl_dtype[]){FL_F32, FL_F32}, 2, NULL, 0,
                            &function));
    must(fl_map(device, function, (const fl_array *[]){a, b}, 2, out, NULL));
    must(fl_array_to_host(out, roots)); /* waits */
    fl_function_free(function);

    must(fl_array_from_host(device, FL_I32, 1, &count, n, &numbers));
    must(fl_array_create(device, FL_I32, 1, &count, &counts));
    must(fl_function_create(device, collatz, "collatz.c", NULL, 0, NULL, 0, &function));
    must(fl_map(device, function, (const fl_array *[]){numbers}, 1, counts, NULL));
    must(fl_array_to_host(counts, steps));
    fl_function_free(function);

    if (fl_function_create(device, "x ** 2", "square", (fl_dtype[]){FL_F32}, 1, NULL, 0, &wrong) == FL_OK)
        return 1;
    printf("%s: %g %g %g %g; %d %d %d %d; refused: %s\n", fl_device_describe(device)->resource, roots[0], roots[1],
           roots[2], roots[3], steps[0], steps[1], steps[2], steps[3], fl_last_error());

    fl_array_free(a);
    fl_array_free(b);
    fl_array_free(out);
    fl_array_free(numbers);
    fl_array_free(counts);
    fl_device_close(device);
    return roots[0] == 0 && roots[2] == 6 && roots[3] == 12 && steps[1] == 8 && steps[3] == 111 ? 0 : 1;
}
