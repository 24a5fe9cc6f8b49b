/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "disturbance.h"
#include "clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A quiet machine has single switches a second, nothing stolen, and no load but this program's: above these limits a
 * median says little. A few switches, or ticks of 10 ms, in a short time are chance. A thread that is woken on an idle
 * processor waits for up to 50 us; beside another program it waits for a few ms, also where it is never switched off:
 * the threads of omp that sleep between loops. */
static const double limit_switches_per_s = 100, limit_stolen = 0.05, limit_load = 1.5, limit_waited = 0.05,
                    fewest_switches = 10, fewest_ticks = 20, least_waited_s = 0.01, waking_s = 50e-6;

/* Returns the length of the text in a small file, or -1. */
static ssize_t read_text(const char *path, char *text, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (file < 0)
        return -1;
    got = read(file, text, size - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    return got;
}

/* Reads the first line of /proc/stat: "cpu" and times in ticks, of which the eighth is that of other virtual machines.
 */
static void read_ticks(bench_counts *c)
{
    char line[512], *at = line + 3, *end;

    if (read_text("/proc/stat", line, sizeof line) < 4)
        return;
    if (strncmp(line, "cpu ", 4) != 0)
        return;
    for (int field = 1; field <= 8; field++, at = end) {
        const double ticks = (double)strtoull(at, &end, 10);
        if (end == at)
            return;
        c->ticks += ticks;
        if (field == 8)
            c->stolen = ticks;
    }
}

/* Adds a thread's times from "run_ns waited_ns turns". */
static void add_waiting(bench_counts *c, const char *thread)
{
    char path[80], line[128], *at = line;

    snprintf(path, sizeof path, "/proc/self/task/%.32s/schedstat", thread);
    if (read_text(path, line, sizeof line) < 1)
        return;
    (void)strtoull(at, &at, 10);
    c->waited_s += 1e-9 * (double)strtoull(at, &at, 10);
    c->turns += (double)strtoull(at, &at, 10);
}

/* Reads the list of threads without opendir, which allocates. */
static void read_waiting(bench_counts *c)
{
    const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(struct dirent64) char entries[4096];
    ssize_t got;

    while (folder >= 0 && (got = getdents64(folder, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            if (entry->d_name[0] != '.')
                add_waiting(c, entry->d_name);
            at += entry->d_reclen;
        }
    if (folder >= 0)
        close(folder);
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

bench_counts bench_counts_now(void)
{
    bench_counts c = {.at_s = bench_now()};
    struct rusage used;

    if (getrusage(RUSAGE_SELF, &used) == 0) {
        c.switches = (double)used.ru_nivcsw;
        c.ran_s = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    }
    read_ticks(&c);
    read_waiting(&c);
    return c;
}

void bench_disturbance_add(bench_disturbance *d, const bench_counts *from, const bench_counts *to)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double load;

    d->seconds += to->at_s - from->at_s;
    d->switches += to->switches - from->switches;
    d->ran_s += to->ran_s - from->ran_s;
    d->stolen += to->stolen - from->stolen;
    d->ticks += to->ticks - from->ticks;
    d->waited_s += to->waited_s - from->waited_s;
    d->turns += to->turns - from->turns;
    d->counts_waiting = to->turns > 0;
    if (processors > 0 && getloadavg(&load, 1) == 1)
        d->load = load / (double)processors;
}

double bench_switches_per_s(const bench_disturbance *d)
{
    const double threads_s = fmax(d->seconds, d->ran_s); /* a single thread also waits, for a GPU or for files */

    return threads_s > 0 ? d->switches / threads_s : 0;
}

double bench_stolen_part(const bench_disturbance *d)
{
    return d->ticks > 0 ? d->stolen / d->ticks : 0;
}

/* How long all threads together waited in a second, beyond what it takes to be woken. */
static double waited_part(const bench_disturbance *d)
{
    const double waited_s = d->waited_s - waking_s * d->turns;

    return d->seconds > 0 && waited_s >= least_waited_s ? waited_s / d->seconds : 0;
}

void bench_disturbance_say(const bench_disturbance *d, double throttled, char *text, size_t size)
{
    const double switches = bench_switches_per_s(d), stolen = bench_stolen_part(d), waited = waited_part(d);

    *text = '\0';
    if (throttled > 0)
        snprintf(text, size, "the GPU lowered its clock for power or heat");
    else if (switches > limit_switches_per_s && d->switches >= fewest_switches)
        snprintf(text, size, "other programs or threads took the processor %.0f times a second", switches);
    else if (stolen > limit_stolen && d->ticks >= fewest_ticks)
        snprintf(text, size, "other virtual machines took %.0f %% of the processors' time", 100 * stolen);
    else if (waited > limit_waited)
        snprintf(text, size, "its threads waited %.2g s for a processor in each second", waited);
    else if (!d->counts_waiting &&
             d->load > limit_load) /* it remembers a minute; waiting is exact, where it is counted */
        snprintf(text, size, "%.1f programs want each processor", d->load);
}
