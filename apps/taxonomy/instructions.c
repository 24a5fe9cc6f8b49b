/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "instructions.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *cause_of(int error)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "this processor shows no counter, as in many virtual machines";
    case EACCES:
    case EPERM:
        return "not allowed, as in many containers; /proc/sys/kernel/perf_event_paranoid of 2 or less allows it";
    case ENOSYS: return "this kernel has no perf_event_open";
    default: return "perf_event_open failed";
    }
}

instruction_counter instructions_open(void)
{
    struct perf_event_attr what = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof what,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .disabled = 1,
                                   .inherit = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    instruction_counter counter = {.file = -1};

    counter.file = (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (counter.file < 0)
        snprintf(counter.reason, sizeof counter.reason, "%s (%s)", cause_of(errno), strerror(errno));
    return counter;
}

void instructions_close(instruction_counter *counter)
{
    if (counter->file >= 0)
        close(counter->file);
    counter->file = -1;
}

/* Value, time enabled, time running; with those of the threads. */
static bool read_counter(const instruction_counter *counter, uint64_t *values)
{
    return read(counter->file, values, 3 * sizeof *values) == (ssize_t)(3 * sizeof *values);
}

void instructions_start(instruction_counter *counter)
{
    if (counter->file < 0)
        return;
    if (!read_counter(counter, counter->before))
        memset(counter->before, 0, sizeof counter->before);
    ioctl(counter->file, PERF_EVENT_IOC_ENABLE, 0);
}

int64_t instructions_stop(instruction_counter *counter)
{
    uint64_t now[3];

    if (counter->file < 0)
        return -1;
    ioctl(counter->file, PERF_EVENT_IOC_DISABLE, 0);
    if (!read_counter(counter, now))
        return -1;
    for (int i = 0; i < 3; i++)
        now[i] -= counter->before[i];
    /* One that was shared with others, and so ran for a part of the time, would have to be guessed. */
    return now[2] == 0 || now[2] < now[1] ? -1 : (int64_t)now[0];
}
