/* SPDX-License-Identifier: MIT
 *
 * test_kernel_watch.c - fl_kernel_watch and fl_kernel_found: the next launch alone is watched. What is found is
 * tests/cli/races.sh's.
 */
#include "harness.h"

#include <string.h>

static void launch(fl_kernel *kernel, fl_array *out, int64_t n)
{
    const fl_argument arguments[] = {{.array = out}, {.integer = n}};
    must(fl_kernel_launch(kernel, (const int64_t[]){2, 1, 1}, 0, arguments, 2, &(fl_run){.block = {1}}));
}

ON_EVERY_BACKEND(kernel_watch, the_next_launch)
{
    static const char text[] = "__global__ void k(int *out, int n)\n{\n    out[n * blockIdx.x] = 1 + blockIdx.x;\n}\n";
    fl_device *device = open_device(on->resource);
    const int64_t two = 2;
    int got[2] = {0};
    fl_kernel *kernel;
    fl_array *out;
    const fl_findings *found;
    const fl_status status = fl_kernel_create(device, text, "text.hip", NULL, NULL, NULL, 0, &kernel);

    must(fl_array_from_host(device, FL_I32, 1, &two, got, &out));
    if (status == FL_OK && strcmp(fl_device_describe(device)->backend, "hip-cpu") != 0) {
        expect_status(FL_E_UNSUPPORTED, fl_kernel_watch(kernel, true));
        launch(kernel, out, 1);
        cr_expect(fl_kernel_found(kernel) == NULL);
    } else if (status == FL_OK) {
        cr_expect(fl_kernel_found(kernel) == NULL);
        must(fl_kernel_watch(kernel, true));
        must(fl_kernel_watch(kernel, false));
        launch(kernel, out, 0);
        cr_expect(fl_kernel_found(kernel) == NULL, "a launch is watched that should not be");
        must(fl_kernel_watch(kernel, true));
        launch(kernel, out, 0);
        found = fl_kernel_found(kernel);
        cr_assert(found && found->count >= 1);
        cr_expect(found->list[0].kind == FL_FOUND_RACE && found->list[0].line == 3, "kind %d, line %d",
                  (int)found->list[0].kind, found->list[0].line);
        cr_expect(strstr(found->list[0].text, "thread 0 of block 0 and thread 0 of block 1 both write out[0]"), "'%s'",
                  found->list[0].text);
        must(fl_kernel_watch(kernel, true));
        launch(kernel, out, 1);
        found = fl_kernel_found(kernel);
        cr_expect(found && found->count == 0, "'%s'", found ? found->list[0].text : "");
        must(fl_array_to_host(out, got));
        cr_expect(got[0] == 1 && got[1] == 2, "%d %d", got[0], got[1]);
    }
    expect_status(FL_E_ARGUMENT, fl_kernel_watch(NULL, true));
    cr_expect(fl_kernel_found(NULL) == NULL);
    fl_kernel_free(kernel);
    fl_array_free(out);
    fl_device_close(device);
}

/* Of three arrays one is read, and one written as a whole; of the last one an element stays as it was. */
ON_EVERY_BACKEND(kernel_watch, elements_that_nobody_writes)
{
    static const char text[] = "__global__ void k(int *read, int n, int *whole, int *part)\n{\n"
                               "    whole[0] = read[0];\n    whole[1] = n;\n    part[1] = n;\n}\n";
    fl_device *device = open_device(on->resource);
    const int64_t two = 2;
    const int zeros[2] = {0};
    fl_kernel *kernel;
    fl_array *arrays[3];

    for (int i = 0; i < 3; i++)
        must(fl_array_from_host(device, FL_I32, 1, &two, zeros, &arrays[i]));
    const fl_argument arguments[] = {{.array = arrays[0]}, {.integer = 7}, {.array = arrays[1]}, {.array = arrays[2]}};
    if (strcmp(fl_device_describe(device)->backend, "hip-cpu") == 0) {
        must(fl_kernel_create(device, text, "text.hip", NULL, NULL, NULL, 0, &kernel));
        must(fl_kernel_watch(kernel, true));
        must(fl_kernel_launch(kernel, (const int64_t[]){1, 1, 1}, 0, arguments, 4, &(fl_run){.block = {1}}));
        const fl_findings *found = fl_kernel_found(kernel);
        cr_assert(found && found->count == 1, "%d findings", found ? found->count : -1);
        cr_expect(found->list[0].kind == FL_FOUND_LEFT && found->list[0].parameter == 3 && found->list[0].line == 0,
                  "kind %d, parameter %d, line %d", (int)found->list[0].kind, found->list[0].parameter,
                  found->list[0].line);
        cr_expect(strcmp(found->list[0].text, "no thread writes 1 of the 2 elements of part; the first is part[0]") ==
                      0,
                  "'%s'", found->list[0].text);
        fl_kernel_free(kernel);
    }
    for (int i = 0; i < 3; i++)
        fl_array_free(arrays[i]);
    fl_device_close(device);
}
