/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "file_bytes.h"
#include "output.h"
#include "png_file.h"

#include "options/typed.h"

#include "support/fail.h"
#include "support/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), end = strlen(ending);

    return length >= end && strcasecmp(path + length - end, ending) == 0;
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

bool file_look(const char *path, npy_layout *layout, problem *why)
{
    if (!file_ends_in(path, ".png"))
        return npy_look(path, layout, why);
    *layout = (npy_layout){.dtype = FL_F32, .ndim = 2, .shape = {1, 1, 1, 1}};
    return png_look(path, layout->shape, why);
}

bool file_read_elements(const char *path, const npy_layout *layout, int64_t first, int64_t count, host_array *array,
                        problem *why)
{
    const bool png = file_ends_in(path, ".png");
    const int64_t row = layout->shape[1] * layout->shape[2] * layout->shape[3];

    if (count == 0)
        return host_array_create(array, layout->dtype, 1, &count, path, why);
    if (!png && !layout->fortran_order) {
        npy_layout flat = *layout;
        flat.ndim = 1;
        return npy_read_rows(path, &flat, first, count, array, why);
    }
    const int64_t top = first / row, rows = (first + count + row - 1) / row - top;
    const size_t size = fl_dtype_size(layout->dtype);
    if (!(png ? png_read_part(path, top, rows, array, why) : npy_read_rows(path, layout, top, rows, array, why)))
        return false;
    memmove(array->data, (char *)array->data + (size_t)(first - top * row) * size, (size_t)count * size);
    *array = (host_array){array->dtype, 1, {count, 1, 1, 1}, array->data};
    return true;
}

output *file_begin(const char *path, const host_array *array, problem *why)
{
    if (file_ends_in(path, ".png"))
        return png_begin_grey(path, array, why);
    output *file = npy_begin(path, array, why);
    if (file)
        output_write(file, array->data, host_array_bytes(array));
    return file;
}

bool file_write(const char *path, const host_array *array, problem *why)
{
    output *file = file_begin(path, array, why);

    return file && output_commit(file, why);
}

void file_note_written(const char *path, const char *format, ...)
{
    struct stat info;
    va_list arguments;

    if (!path || strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    va_start(arguments, format);
    char *what = memory_vprint(format, arguments);
    va_end(arguments);
    note("%s is written: %s", path, what);
    free(what);
}

void file_put(const char *path, const host_array *array, const char *how)
{
    problem why;

    file_put_begun(path, file_begin(path, array, &why), array, how, &why);
}

void file_put_begun(const char *path, output *file, const host_array *array, const char *how, problem *why)
{
    /* Beyond 0..1 by less than half a grey level a pixel loses no more than those within are rounded by. */
    const double size = (double)host_array_size(array), half_a_level = 0.5 / 255;
    const char *dtype = fl_dtype_name(array->dtype);
    int64_t white = 0, black = 0;

    how = how ? how : "`-o FILE.npy`, then `flynn show FILE.npy --png=FILE.png` scales its colours";
    must_do(file && output_commit(file, why), why);
    if (!file_ends_in(path, ".png")) {
        file_note_written(path, "%s %s", format_shape(array->ndim, array->shape).text, dtype);
        return;
    }
    for (int64_t i = 0, size = host_array_size(array); i < size; i++) {
        white += host_array_get(array, i) >= 1 + half_a_level;
        black += host_array_get(array, i) <= -half_a_level;
    }
    if (white + black == 0)
        file_note_written(path, "%s", format_shape(2, array->shape).text);
    else
        file_note_written(path, "%s; %.3g %% of it is above 1 and white, %.3g %% below 0 and black; %s",
                          format_shape(2, array->shape).text, 100 * (double)white / size, 100 * (double)black / size,
                          how);
}

bool file_check_writable(const char *path, problem *why)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct stat info;

    if (strcasecmp(name, ".npy") == 0 || strcasecmp(name, ".png") == 0)
        return problem_set(why, EXIT_BAD_INPUT, "%s: expected a name before %s (example: out%s)", path, name, name);
    if (stat(path, &info) == 0 && S_ISFIFO(info.st_mode)) /* who reads it would see its end when it is closed again */
        return access(path, W_OK) == 0 ||
               problem_set(why, EXIT_BROKEN, "%s: cannot be written (%s)", path, strerror(errno));
    output *file = output_open(path, why);

    output_discard(file);
    return file != NULL;
}

bool file_check_picture(const char *path, problem *why)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

    if (!file_ends_in(path, ".png") && strcasecmp(slash ? slash + 1 : path, ".npy") != 0) {
        char *png = memory_print("%.*s.png", dot ? (int)(dot - path) : (int)strlen(path), path);
        typed_change_option("png", '\0', memory_print("--png=%s", typed_quote(png)));
        typed_refuse("--png=%s: a PNG is written; expected a name that ends in .png", path);
    }
    return file_check_writable(path, why);
}

bool file_check_output(const char *path, problem *why)
{
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) {
        typed_change_option("output", 'o', "--output=out.npy");
        typed_refuse("--output=-: the result is binary, and stdout is a terminal; expected a pipe or a file's name");
    }
    if (!file_ends_in(path, ".npy") && !file_ends_in(path, ".png") && strcmp(path, "-") != 0)
        return problem_set(why, EXIT_BAD_INPUT, "%s: unknown file type; the name must end in .npy or .png", path);
    return file_check_writable(path, why);
}
