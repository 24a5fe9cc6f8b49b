/* SPDX-License-Identifier: MIT */
#include "file_bytes.h"
#include "input.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_all(const char *path, FILE *file, size_t size, file_bytes *bytes, problem *why)
{
    bytes->data = malloc(size);
    if (bytes->data == NULL)
        return problem_no_memory(why, path, (double)size);
    bytes->size = fread(bytes->data, 1, size, file);
    if (ferror(file))
        return problem_set(why, EXIT_BROKEN, "%s: cannot be read (%s)", path, strerror(errno));
    if (bytes->size < size)
        return problem_set(why, EXIT_BROKEN, "%s: was truncated while it was read", path);
    return true;
}

bool file_bytes_read(const char *path, const char *expected, file_bytes *bytes, problem *why)
{
    *bytes = (file_bytes){0};
    int64_t size;
    FILE *file = input_open(path, expected, &size, why);
    if (file == NULL)
        return false;
    bool ok = read_all(path, file, (size_t)size, bytes, why);
    fclose(file);
    if (!ok)
        file_bytes_free(bytes);
    return ok;
}

bool file_bytes_write(const char *path, const file_bytes *bytes, problem *why)
{
    output *file = output_open(path, why);
    if (file == NULL)
        return false;
    output_write(file, bytes->data, bytes->size);
    return output_commit(file, why); /* reports a failed write too */
}

void file_bytes_free(file_bytes *bytes)
{
    free(bytes->data);
    *bytes = (file_bytes){0};
}
