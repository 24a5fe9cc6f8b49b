/* SPDX-License-Identifier: MIT */
#include "file_bytes.h"
#include "output.h"

#include "support/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool check_kind(const char *path, const char *expected, const struct stat *info, problem *why)
{
    if (S_ISDIR(info->st_mode))
        return problem_set(why, EXIT_BAD_INPUT, "%s: is a folder; expected %s", path, expected);
    if (!S_ISREG(info->st_mode))
        return problem_set(why, EXIT_BAD_INPUT, "%s: is a pipe, socket or device; expected %s", path, expected);
    if (info->st_size == 0)
        return problem_set(why, EXIT_BAD_INPUT, "%s: is empty; expected %s", path, expected);
    return true;
}

FILE *file_open(const char *path, const char *expected, int64_t *size, problem *why)
{
    /* O_NONBLOCK: opening a pipe must not wait for a writer. Regular files ignore it. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    FILE *stream = NULL;

    if (file < 0 || fstat(file, &info) != 0) {
        problem_set(why, exit_code_of_errno(errno), "%s: cannot be read (%s); expected %s", path, strerror(errno),
                    expected);
    } else if (check_kind(path, expected, &info, why)) {
        *size = info.st_size;
        stream = fdopen(file, "rb");
        if (stream == NULL)
            problem_set(why, EXIT_BROKEN, "%s: cannot be read (%s)", path, strerror(errno));
    }
    if (stream == NULL && file >= 0)
        close(file);
    return stream;
}

static bool read_all(const char *path, FILE *file, size_t size, file_bytes *bytes, problem *why)
{
    if (!memory_allows(path, (double)size, why))
        return false;
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
    FILE *file = file_open(path, expected, &size, why);
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
