/* SPDX-License-Identifier: MIT */
#include "file_bytes.h"
#include "output.h"

#include "support/memory.h"
#include "support/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* A stream that the caller opened, as `-` and a shell's <(command) name it; -1 for any other path. */
static int inherited(const char *path)
{
    static const char folder[] = "/dev/fd/";

    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0)
        return STDIN_FILENO;
    return strncmp(path, folder, strlen(folder)) == 0 ? atoi(path + strlen(folder)) : -1;
}

/* Copies the rest of a pipe to a file in memory. */
static bool copy_pipe(const char *path, int from, int to, problem *why)
{
    char buffer[1 << 14];
    double bytes = 0;
    ssize_t length;

    while ((length = read(from, buffer, sizeof buffer)) != 0) {
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 || write(to, buffer, (size_t)length) != length)
            return problem_set(why, EXIT_BROKEN, "%s: cannot be read (%s)", path, strerror(errno));
        bytes += (double)length;
        if (!memory_allows(path, bytes, why))
            return false;
    }
    return true;
}

/* The descriptor of a file that has what comes from the pipe; -1, with a problem, on failure. Each pipe can be read
 * once: the last one's file is kept for whoever opens it again. */
static int file_of_pipe(const char *path, int from, problem *why)
{
    static int last = -1, file;
    char name[32];
    int opened = -1;

    if (last != from) {
        file = memfd_create("pipe", MFD_CLOEXEC);
        if (file >= 0 && !copy_pipe(path, from, file, why)) {
            close(file);
            return -1;
        }
        last = file >= 0 ? from : -1;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    if (file >= 0)
        opened = open(name, O_RDONLY | O_CLOEXEC);
    if (opened < 0)
        problem_set(why, EXIT_BROKEN, "%s: cannot be read (%s)", path, strerror(errno));
    return opened;
}

static int open_input(const char *path, const char *expected, problem *why)
{
    const int stream = inherited(path);
    struct stat info;

    if (stream >= 0 && fstat(stream, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)))
        return file_of_pipe(path, stream, why);
    /* O_NONBLOCK: opening a pipe must not wait for a writer. Regular files ignore it. */
    int file = open(stream == STDIN_FILENO ? "/dev/stdin" : path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        problem_set(why, exit_code_of_errno(errno), "%s: cannot be read (%s); expected %s", path, strerror(errno),
                    expected);
    return file;
}

FILE *file_open(const char *path, const char *expected, int64_t *size, problem *why)
{
    int file = open_input(path, expected, why);
    struct stat info;
    FILE *stream = NULL;

    if (file < 0)
        return NULL;
    if (fstat(file, &info) != 0) {
        problem_set(why, exit_code_of_errno(errno), "%s: cannot be read (%s); expected %s", path, strerror(errno),
                    expected);
    } else if (check_kind(path, expected, &info, why)) {
        *size = info.st_size;
        stream = fdopen(file, "rb");
        if (stream == NULL)
            problem_set(why, EXIT_BROKEN, "%s: cannot be read (%s)", path, strerror(errno));
    }
    if (stream == NULL)
        close(file);
    return stream;
}

/* A part of a file that threads read in pieces. */
typedef struct file_part {
    int file;
    char *to;
    int64_t start, bytes; /* in the file */
    atomic_bool truncated, failed;
} file_part;

enum { PIECE = 8 << 20, MOST_READERS = 4 };

static void read_piece(void *user, int64_t i)
{
    file_part *const part = user;
    const int64_t end = (i + 1) * PIECE < part->bytes ? (i + 1) * PIECE : part->bytes;

    for (int64_t at = i * PIECE; at < end;) {
        const ssize_t length = pread(part->file, part->to + at, (size_t)(end - at), part->start + at);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0) {
            atomic_store(length < 0 ? &part->failed : &part->truncated, true);
            return;
        }
        at += length;
    }
}

bool file_next(FILE *stream, void *to, size_t bytes, bool *failed)
{
    file_part part = {.file = fileno(stream), .to = to, .start = ftello(stream), .bytes = (int64_t)bytes};

    if (bytes < 2 * (size_t)PIECE || part.start < 0) {
        const bool whole = fread(to, 1, bytes, stream) == bytes;
        *failed = !whole && ferror(stream);
        return whole;
    }
    threads_share(MOST_READERS, (part.bytes + PIECE - 1) / PIECE, read_piece, &part);
    *failed = part.failed || fseeko(stream, part.start + part.bytes, SEEK_SET) != 0;
    return !*failed && !part.truncated;
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

output *file_bytes_begin(const char *path, const file_bytes *bytes, problem *why)
{
    output *file = output_open(path, why);
    if (file != NULL)
        output_write(file, bytes->data, bytes->size);
    return file;
}

bool file_bytes_write(const char *path, const file_bytes *bytes, problem *why)
{
    output *file = file_bytes_begin(path, bytes, why);

    return file != NULL && output_commit(file, why); /* reports a failed write too */
}

void file_bytes_free(file_bytes *bytes)
{
    free(bytes->data);
    *bytes = (file_bytes){0};
}
