/* SPDX-License-Identifier: MIT
 *
 * The reader of .npy: whatever the bytes, a whole array or a problem of one line.
 */
#include "fuzz.h"

#include "files/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    problem why = {.text = ""};
    host_array array;

    if (!npy_read(path, &array, &why)) {
        fuzz_demand(array.data == NULL, "a refused file left an array: %s", why.text);
        fuzz_demand_problem(&why, path);
        return 0;
    }
    fuzz_demand(array.data != NULL && array.ndim >= 0 && array.ndim <= FL_MAX_DIMS, "an accepted file gave no array");
    volatile double sum = 0; /* touches every element */
    for (int64_t i = 0; i < host_array_size(&array); i++)
        sum += host_array_get(&array, i);
    (void)sum;
    host_array_free(&array);
    return 0;
}
