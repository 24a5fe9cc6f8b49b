/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is the machine at fault, not the name? */
static bool is_system_error(int error)
{
    return error == EIO || error == ENOMEM || error == EMFILE || error == ENFILE;
}

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

FILE *input_open(const char *path, const char *expected, int64_t *bytes, problem *why)
{
    /* O_NONBLOCK: opening a pipe must not wait for a writer. Regular files ignore it. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0) {
        problem_set(why, is_system_error(errno) ? EXIT_BROKEN : EXIT_BAD_INPUT, "%s: cannot be read (%s); expected %s",
                    path, strerror(errno), expected);
        if (file >= 0)
            close(file);
        return NULL;
    }
    if (!check_kind(path, expected, &info, why)) {
        close(file);
        return NULL;
    }
    *bytes = info.st_size;
    FILE *stream = fdopen(file, "rb");
    if (stream == NULL) {
        problem_set(why, EXIT_BROKEN, "%s: cannot be read (%s)", path, strerror(errno));
        close(file);
    }
    return stream;
}
