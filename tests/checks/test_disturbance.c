/* SPDX-License-Identifier: MIT
 *
 * When times are not to be trusted, and the reason that is given.
 */
#include "run/disturbance.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const disturbance quiet = {.switches_per_s = 3, .stolen = 0.001, .load = 0.6};

static const char *said(disturbance d, double spread, double kernel_s, double total_s)
{
    static char text[400];

    disturbance_say(text, sizeof text, d, spread, kernel_s, total_s);
    return text;
}

Test(disturbance, steady_times_are_trusted)
{
    const disturbance busy = {.switches_per_s = 5000, .stolen = 0.5, .load = 20};

    cr_expect(*said(quiet, 0.02, 1, 1.01) == '\0');
    cr_expect(*said(busy, 0.1, 1, 1) == '\0', "what happened does not matter where the times are alike");
    cr_expect(*said(busy, NAN, NAN, NAN) == '\0');
    cr_expect(*said(quiet, 0.02, 1, 0) == '\0', "a GPU's total is not a bound");
}

Test(disturbance, each_cause_is_named)
{
    disturbance d = quiet;

    cr_expect(strstr(said(d, 2.4, 1, 1), "vary by 240 % (no cause shows)") != NULL, "%s", said(d, 2.4, 1, 1));
    cr_expect(strstr(said(d, 0, 0.036, 0.001), "longer than all of it") != NULL);
    d.load = 7.5;
    cr_expect(strstr(said(d, 2.4, 1, 1), "7.5 programs want each processor") != NULL);
    d.stolen = 0.3;
    cr_expect(strstr(said(d, 2.4, 1, 1), "virtual machines took 30 %") != NULL);
    d.switches_per_s = 1200;
    cr_expect(strstr(said(d, 2.4, 1, 1), "took its processors 1200 times a second") != NULL);
    cr_expect(strstr(said(d, 2.4, 1, 1), "--min-time") != NULL, "what to do");
}

Test(disturbance, counts_grow)
{
    const disturbance_counts before = disturbance_count();
    usleep(20000);
    const disturbance_counts after = disturbance_count();
    const disturbance d = disturbance_between(before, after);

    cr_expect(after.at_s - before.at_s >= 0.02 && after.ticks >= before.ticks && before.ticks > 0);
    cr_expect(d.switches_per_s >= 0 && d.stolen >= 0 && d.stolen <= 1 && d.load >= 0);
}
