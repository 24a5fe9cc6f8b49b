/* SPDX-License-Identifier: MIT */
#include "disturbance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Beyond these a median says little. A quiet machine has single switches a second and no load but this program's. */
static const double most_spread = 0.5, most_switches_per_s = 100, most_stolen = 0.05, most_load = 1.5,
                    most_excess = 1.2;

/* Time of all processors that /proc/stat shows: the eighth number is that of other virtual machines. */
static void count_ticks(disturbance_counts *c)
{
    FILE *file = fopen("/proc/stat", "re");
    double field;

    if (!file)
        return;
    if (fscanf(file, "cpu") == 0)
        for (int i = 0; i < 8 && fscanf(file, "%lf", &field) == 1; i++) {
            c->ticks += field;
            c->stolen = i == 7 ? field : 0;
        }
    fclose(file);
}

disturbance_counts disturbance_count(void)
{
    disturbance_counts c = {0};
    struct rusage usage;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    c.at_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        c.switches = usage.ru_nivcsw;
    count_ticks(&c);
    return c;
}

disturbance disturbance_between(disturbance_counts before, disturbance_counts after)
{
    const double seconds = fmax(after.at_s - before.at_s, 1e-3), ticks = after.ticks - before.ticks;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double load = 0;

    if (getloadavg(&load, 1) != 1)
        load = 0;
    return (disturbance){.switches_per_s = (double)(after.switches - before.switches) / seconds,
                         .stolen = ticks > 0 ? (after.stolen - before.stolen) / ticks : 0,
                         .load = processors > 0 ? load / (double)processors : 0};
}

void disturbance_say(char *text, size_t size, disturbance d, double spread, double kernel_s, double total_s)
{
    char why[160] = "", what[160] = "";

    *text = '\0';
    if (spread > most_spread)
        snprintf(what, sizeof what, "its times vary by %.0f %%", 100 * spread);
    else if (total_s > 0 && kernel_s > most_excess * total_s)
        snprintf(what, sizeof what, "its kernel seems to take longer than all of it");
    else
        return;
    if (d.switches_per_s > most_switches_per_s)
        snprintf(why, sizeof why, "other programs took its processors %.0f times a second", d.switches_per_s);
    else if (d.stolen > most_stolen)
        snprintf(why, sizeof why, "other virtual machines took %.0f %% of the processors' time", 100 * d.stolen);
    else if (d.load > most_load)
        snprintf(why, sizeof why, "%.1f programs want each processor", d.load);
    else
        snprintf(why, sizeof why, "no cause shows");
    snprintf(text, size, "%s (%s): do not trust them; measure again on a quiet machine, or for longer (--min-time=2)",
             what, why);
}
