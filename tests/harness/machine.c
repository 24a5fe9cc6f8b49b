/* SPDX-License-Identifier: MIT
 *
 * machine.c - what the system says of other programs, decided by the test: loaded before the command (LD_PRELOAD) it
 * hides what this machine does meanwhile. TEST_MACHINE=busy: other programs take the processor 1000 times between two
 * looks at it, of libflynn-bench; quiet: never. Neither waits, and there is no load. TEST_SYS=FOLDER takes the place of
 * /sys, as fopen reads it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC visibility push(default)

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    static long switches;
    const char *machine = getenv("TEST_MACHINE");
    const int status = (int)syscall(SYS_getrusage, who, usage);

    if (status == 0)
        usage->ru_nivcsw = machine && strcmp(machine, "busy") == 0 ? switches += 1000 : 0;
    return status;
}

int getloadavg(double loads[], int count)
{
    for (int i = 0; i < count; i++)
        loads[i] = 0;
    return count;
}

int open(const char *path, int flags, ...)
{
    static const char *const hidden[] = {"/proc/stat", "/proc/self/task"};
    va_list arguments;
    mode_t mode;

    va_start(arguments, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (strcmp(path, hidden[i]) == 0) {
            errno = ENOENT;
            return -1;
        }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    const char *sys = getenv("TEST_SYS");
    char other[PATH_MAX];
    int file;

    if (!sys || strncmp(path, "/sys/", 5) != 0)
        return fopen64(path, mode);
    snprintf(other, sizeof other, "%s/%s", sys, path + 5);
    file = open(other, O_RDONLY | O_CLOEXEC);
    return file < 0 ? NULL : fdopen(file, "r");
}
