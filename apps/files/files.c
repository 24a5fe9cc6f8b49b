/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "file_bytes.h"
#include "npy.h"
#include "output.h"
#include "png_file.h"

#include <string.h>
#include <strings.h>

bool file_ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), end = strlen(ending);

    return length > end && strcasecmp(path + length - end, ending) == 0;
}

bool file_read(const char *path, host_array *array, problem *why)
{
    bool png = file_ends_in(path, ".png");

    if (strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0) { /* no name: no .npy file has this first byte */
        int64_t size;
        FILE *file = file_open(path, "a .npy or .png file", &size, why);
        if (file == NULL)
            return false;
        png = getc(file) == 0x89;
        fclose(file);
    }
    return png ? png_read(path, array, why) : npy_read(path, array, why);
}

bool file_write(const char *path, const host_array *array, problem *why)
{
    return file_ends_in(path, ".png") ? png_write_grey(path, array, why) : npy_write(path, array, why);
}

bool file_check_writable(const char *path, problem *why)
{
    output *file = output_open(path, why);

    output_discard(file);
    return file != NULL;
}

bool file_check_output(const char *path, problem *why)
{
    if (!file_ends_in(path, ".npy") && !file_ends_in(path, ".png") && strcmp(path, "-") != 0)
        return problem_set(why, EXIT_BAD_INPUT, "%s: unknown file type; the name must end in .npy or .png", path);
    return file_check_writable(path, why);
}
