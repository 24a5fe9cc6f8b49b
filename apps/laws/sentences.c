/* SPDX-License-Identifier: MIT */
#include "sentences.h"

#include "view/cells.h"
#include "view/json.h"
#include "view/row.h"
#include "view/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const laws_names[] = {[AMDAHL] = "Amdahl", [GUSTAFSON] = "Gustafson"};

void law_point_disturb(law_point *p, const json_t *row)
{
    snprintf(p->disturbed, sizeof p->disturbed, "%s", row_is_noisy(row) ? row_text(row, "disturbed") : "");
}

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

/* What the sentences call the points of a kind of scaling: "strong scaling: 4 threads are the fastest, 3.10 +- 0.12
 * times as fast as 1 (78 % of n)". */
typedef struct kind_words {
    const char *kind, *title;
    const char *best, *than; /* "are the fastest," ... "as fast as 1" */
    const char *one, *none;  /* no number "is" "faster than 1" */
    const char *verb, *how;  /* two "are" ... "as fast" */
} kind_words;

static const kind_words kind_texts[] = {
    {"strong", "strong scaling", "are the fastest,", "as fast as 1", "is", "faster than 1", "are", "as fast"},
    {"weak", "weak scaling", "get the most done,", "as much as 1 in the same time", "gets", "more done than 1", "get",
     "as much done"},
    {"batch", "batches", "at once get the most done,", "as much as 1 in the same time", "gets", "more done than 1",
     "at once get", "as much done"},
};

/* Half of the spread, which is that of both times. */
static double least_speed_up(const json_t *point)
{
    return row_number(point, "speed_up") - row_number(point, "speed_up_spread") / 2;
}

static double most_speed_up(const json_t *point)
{
    return row_number(point, "speed_up") + row_number(point, "speed_up_spread") / 2;
}

/* Returns whether the point's speed-up can be relied on: n = 1 is what others are compared with. */
static bool is_point_steady(const json_t *point)
{
    return row_number(point, "n") > 1 && row_number(point, "speed_up") > 0 &&
           !row_is_marked(point, "speed_up_disturbed");
}

static const json_t *best_point(const json_t *points)
{
    const json_t *best = NULL, *point;
    size_t i;

    json_array_foreach(points, i, point) if (is_point_steady(point) &&
                                             (!best || row_number(point, "speed_up") > row_number(best, "speed_up")))
        best = point;
    return best;
}

/* "3.10 +- 0.12 times", as the table has it; of points with a single sample, whose spread nobody knows, "3.10 times".
 */
static cell times_cell(const json_t *point)
{
    const double spread = row_number(point, "speed_up_spread");

    return json_is_number(json_object_get(point, "spread"))
               ? cell_print("%.2f +- %.2f times", row_number(point, "speed_up"), spread)
               : cell_print("%.2f times", row_number(point, "speed_up"));
}

/* Adds the n of those points for which `is` holds: "; 2, 3 may be as good". */
static void say_which(law_words *w, const json_t *points, const json_t *best,
                      bool (*is)(const json_t *, const json_t *), const char *before, const char *after)
{
    const char *between = before;
    const json_t *point;
    size_t i;

    json_array_foreach(points, i, point)
    {
        if (!is(point, best))
            continue;
        say(w, "%s%.0f", between, row_number(point, "n"));
        between = ", ";
    }
    if (between != before)
        say(w, "%s", after);
}

static bool may_be_as_good(const json_t *point, const json_t *best)
{
    return point != best && is_point_steady(point) && most_speed_up(point) >= least_speed_up(best);
}

static bool is_noisy(const json_t *point, const json_t *best)
{
    (void)best;
    return row_is_noisy(point);
}

static void add_kind(json_t *sentences, const json_t *laws, const kind_words *k)
{
    const json_t *points = json_object_get(laws, k->kind), *best = best_point(points);
    const bool batches = strcmp(k->kind, "batch") == 0;
    const cell unit = batches ? (cell){""} : cell_print(" %.16s", row_text(laws, "unit"));
    law_words w = {""};

    if (json_array_size(points) < 2)
        return;
    say(&w, "%s: ", k->title);
    if (!best) {
        say(&w, "too noisy to say how it grows");
    } else if (least_speed_up(best) > 1) {
        say(&w, "%.0f%s %s %s %s (%s of n)", row_number(best, "n"), unit.text, k->best, times_cell(best).text, k->than,
            format_percent(row_number(best, "efficiency")).text);
        say_which(&w, points, best, may_be_as_good, "; ", " may be as good");
    } else {
        say(&w, "%s%s %s %s%s", batches ? "no batch" : "no number of", unit.text, k->one,
            most_speed_up(best) < 1 ? "" : "clearly ", k->none);
        say(&w, ": %.0f%s %s %s %s", row_number(best, "n"), unit.text, k->verb, times_cell(best).text, k->how);
    }
    say_which(&w, points, best, is_noisy, "; noisy, and not ranked: n = ", "");
    json_append(sentences, json_text(w.text));
}

json_t *laws_sentences(const json_t *laws)
{
    json_t *sentences = json_new_list();

    for (size_t i = 0; i < sizeof kind_texts / sizeof *kind_texts && !json_is_true(json_object_get(laws, "emulation"));
         i++)
        add_kind(sentences, laws, &kind_texts[i]);
    return sentences;
}
