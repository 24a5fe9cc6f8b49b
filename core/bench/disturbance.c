/* SPDX-License-Identifier: MIT */
#include "disturbance.h"
#include "clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A quiet machine has single switches a second, nothing stolen, and no load but this program's: above these limits a
 * median says little. A few switches, or ticks of 10 ms, in a short time are chance. */
static const double limit_switches_per_s = 100, limit_stolen = 0.05, limit_load = 1.5, fewest_switches = 10,
                    fewest_ticks = 20;

/* Reads the first line of /proc/stat: "cpu" and times in ticks, of which the eighth is that of other virtual machines.
 */
static void read_ticks(bench_counts *c)
{
    const int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    char line[512], *at = line + 3, *end;
    ssize_t got;

    if (file < 0)
        return;
    got = read(file, line, sizeof line - 1);
    close(file);
    if (got < 4)
        return;
    line[got] = '\0';
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

bench_counts bench_counts_now(void)
{
    bench_counts c = {.at_s = bench_now()};
    struct rusage used;

    if (getrusage(RUSAGE_SELF, &used) == 0)
        c.switches = (double)used.ru_nivcsw;
    read_ticks(&c);
    return c;
}

void bench_disturbance_add(bench_disturbance *d, const bench_counts *from, const bench_counts *to)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double load;

    d->seconds += to->at_s - from->at_s;
    d->switches += to->switches - from->switches;
    d->stolen += to->stolen - from->stolen;
    d->ticks += to->ticks - from->ticks;
    if (processors > 0 && getloadavg(&load, 1) == 1)
        d->load = load / (double)processors;
}

double bench_switches_per_s(const bench_disturbance *d)
{
    return d->seconds > 0 ? d->switches / d->seconds : 0;
}

double bench_stolen_part(const bench_disturbance *d)
{
    return d->ticks > 0 ? d->stolen / d->ticks : 0;
}

void bench_disturbance_say(const bench_disturbance *d, double throttled, char *text, size_t size)
{
    const double switches = bench_switches_per_s(d), stolen = bench_stolen_part(d);

    *text = '\0';
    if (throttled > 0)
        snprintf(text, size, "the GPU lowered its clock for power or heat");
    else if (switches > limit_switches_per_s && d->switches >= fewest_switches)
        snprintf(text, size, "other programs or threads took the processor %.0f times a second", switches);
    else if (stolen > limit_stolen && d->ticks >= fewest_ticks)
        snprintf(text, size, "other virtual machines took %.0f %% of the processors' time", 100 * stolen);
    else if (d->load > limit_load)
        snprintf(text, size, "%.1f programs want each processor", d->load);
}
