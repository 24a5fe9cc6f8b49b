/* SPDX-License-Identifier: MIT */
#include "words.h"

#include "view/json.h"
#include "view/row.h"
#include "view/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const laws_names[] = {[AMDAHL] = "Amdahl", [GUSTAFSON] = "Gustafson"};

bool laws_is_off(const laws_found *found, const law_points *points, int i)
{
    return i > 0 && !scaling_describes(points->law, found->fits[points->law].fraction, &points->list[i].p);
}

bool laws_is_by(const laws_found *found, const char *unit)
{
    return strcmp(found->unit, unit) == 0;
}

static void say(law_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(law_words *w, const char *format, ...)
{
    size_t used = strlen(w->text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(w->text + used, sizeof w->text - used, format, arguments);
    va_end(arguments);
}

/* More threads, or a larger batch, than at the point before, and no more bytes a second; where the ceiling is known,
 * not far from it, or it would be something else that does not grow. */
static bool is_saturated(const law_points *points, int i)
{
    const law_point *here = &points->list[i], *before = &points->list[i - 1];

    return !here->oversubscribed && !(here->percent_of_ceiling < 40) && here->p.speed_up >= 1 &&
           here->bytes_per_s < 1.1 * before->bytes_per_s;
}

/* Faster than n times, beyond what the spread explains. */
static bool is_superlinear(const law_point *p)
{
    return p->p.speed_up > 1.05 * p->p.n && p->p.speed_up - p->p.spread > p->p.n;
}

static void say_points(law_words *w, const laws_found *found, const law_points *points)
{
    const char *between = "";

    for (int i = 1; i < points->count; i++) {
        if (!laws_is_off(found, points, i))
            continue;
        say(w, "%s%" PRId64 " (%+.0f %%)", between, points->list[i].n,
            100 * scaling_deviation(points->law, found->fits[points->law].fraction, &points->list[i].p));
        between = ", ";
    }
}

/* The points that the law does not describe: how many are of which kind. */
typedef struct suspects {
    int crowded, superlinear, slower, unsteady;
    int saturated, linked, uneven; /* the first one's place: much of its time is the link's; ranks have unlike work */
} suspects;

static suspects suspects_of(const laws_found *found, const law_points *points)
{
    suspects s = {0};

    for (int i = 1; i < points->count; i++) {
        const law_point *p = &points->list[i];
        if (!laws_is_off(found, points, i))
            continue;
        s.crowded += p->oversubscribed;
        s.unsteady += p->p.spread > 0.2 * p->p.speed_up;
        s.superlinear += is_superlinear(p);
        s.slower += !p->oversubscribed && p->p.speed_up + p->p.spread < 1;
        s.saturated = !s.saturated && is_saturated(points, i) ? i : s.saturated;
        s.linked = !s.linked && p->link_share > 0.1 ? i : s.linked;
        s.uneven = !s.uneven && p->imbalance > 1.1 ? i : s.uneven;
    }
    return s;
}

static void say_saturated(law_words *w, const laws_found *found, const law_point *p)
{
    const quantity rate = format_rate(p->bytes_per_s, "B/s");

    if (laws_is_by(found, "ranks"))
        say(w,
            " From %" PRId64
            " ranks on GB/s hardly grow (%s): the likely cause is a memory that they share, or the link.",
            p->n, rate.text);
    else if (!found->processors)
        say(w, " From a batch of %" PRId64 " on GB/s hardly grow (%s): the device is full, or limited by its memory.",
            p->n, rate.text);
    else if (isfinite(p->percent_of_ceiling))
        say(w,
            " From %" PRId64 " threads on GB/s hardly grow (%s, %.0f %% of the ceiling): memory bandwidth is the "
            "likely cause.",
            p->n, rate.text, p->percent_of_ceiling);
    else
        say(w,
            " From %" PRId64 " threads on GB/s hardly grow (%s): memory bandwidth is the likely cause; "
            "`flynn ceiling --backend=omp:%" PRId64 "` measures it.",
            p->n, rate.text, p->n);
}

/* The likely causes of the deviation. */
static void say_suspects(law_words *w, const laws_found *found, const law_points *points)
{
    suspects s = suspects_of(found, points);

    if (s.crowded && laws_is_by(found, "ranks"))
        say(w, " Ranks without processors or a GPU of their own take turns, which no serial fraction describes.");
    else if (s.crowded)
        say(w, " More %s than the %d processors take turns on them, which no serial fraction describes.", found->unit,
            found->processors);
    if (s.linked)
        say(w, " At n = %" PRId64 " the link takes %.0f %% of the time.", points->list[s.linked].n,
            100 * points->list[s.linked].link_share);
    if (s.uneven)
        say(w, " At n = %" PRId64 " the slowest rank computes %.2f times as long as the mean.",
            points->list[s.uneven].n, points->list[s.uneven].imbalance);
    if (s.superlinear)
        say(w,
            " More than n times as fast: the likely cause is that the parts fit into caches and the whole does not.");
    if (s.slower)
        say(w,
            " Slower than n = 1: the likely causes are other programs on the same processors, and parts that are too "
            "small for the cost of starting them and waiting for them.");
    if (s.unsteady)
        say(w, " Spreads above 20 %% mean that other programs ran meanwhile.");
    if (s.saturated)
        say_saturated(w, found, &points->list[s.saturated]);
    if (!s.crowded && !s.superlinear && !s.slower && !s.unsteady && !s.saturated && !s.linked && !s.uneven)
        say(w,
            " No likely cause shows: look at clock frequencies, at where memory lies (NUMA), and at other programs.");
}

enum { ENOUGH = 4 }; /* points that show whether a law holds */

law_words laws_failing(const laws_found *found, const law_points *points)
{
    const scaling_fit *fit = &found->fits[points->law];
    law_words w = {""};

    if (fit->points < 2 || (!fit->clipped && !fit->not_described && fit->points >= ENOUGH))
        return w;
    say(&w, "%s scaling:", points->kind);
    if (fit->unclipped < 0)
        say(&w, " the speed-up is above n, which no serial fraction explains; f = 0 is used.");
    else if (fit->clipped)
        say(&w, " the best serial fraction would be %.5g; it is limited to %g.", fit->unclipped, fit->fraction);
    if (fit->points == 2)
        say(&w, " f follows from one speed-up alone: two points cannot show whether the law holds.");
    else if (fit->points < ENOUGH)
        say(&w, " %d points hardly show whether the law holds; four or more would.", fit->points);
    if (fit->not_described) {
        say(&w, " %s's law does not describe n = ", laws_names[points->law]);
        say_points(&w, found, points);
        say(&w, ".");
        say_suspects(&w, found, points);
    }
    return w;
}
