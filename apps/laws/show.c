/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "support/fail.h"
#include "support/print.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/sentence.h"
#include "view/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* 0 of one sample: it is taken as exact. */
static double relative_range(const law_point *p)
{
    return statistics_range(&p->kernel) / p->kernel.median;
}

static void find_speed_ups(law_points *points)
{
    const law_point *one = &points->list[0];

    for (int i = 0; i < points->count; i++) {
        law_point *p = &points->list[i];
        double speed_up = p->work * one->kernel.median / p->kernel.median;
        /* T(1) over itself is 1, whatever T(1) is. */
        double relative = i ? hypot(relative_range(one), relative_range(p)) : 0;
        p->p = (scaling_point){(double)p->n, speed_up, speed_up * relative};
    }
}

static scaling_fit fit_to(scaling_law law, const law_points *points)
{
    scaling_point list[MOST_POINTS];

    for (int i = 0; i < points->count; i++)
        list[i] = points->list[i].p;
    return scaling_fit_of(law, list, points->count);
}

void laws_fit_all(laws_found *found)
{
    for (int i = 0; i < found->kinds; i++)
        find_speed_ups(&found->points[i]);
    found->fits[AMDAHL] = fit_to(AMDAHL, &found->points[0]);
    found->fits[GUSTAFSON] = fit_to(GUSTAFSON, &found->points[found->kinds - 1]);
}

static json_t *json_point(const laws_found *found, const law_points *points, int i)
{
    const law_point *p = &points->list[i];
    json_t *entry = json_new_object();

    json_put(entry, "scaling", json_text(points->kind));
    json_put(entry, "n", json_whole(p->n));
    json_put(entry, "result", p->result < 0 ? json_null() : json_whole(p->result));
    json_put(entry, "size", json_whole(p->size));
    json_put(entry, "work", json_number(p->work));
    json_put(entry, "kernel_s", json_number(p->kernel.median));
    json_put(entry, "spread_s", json_number(statistics_range(&p->kernel)));
    json_put(entry, "spread", json_number(statistics_spread(&p->kernel)));
    json_put(entry, "disturbed", json_text(*p->disturbed ? p->disturbed : NULL));
    json_put(entry, "speed_up_disturbed", json_boolean(*p->disturbed || *points->list[0].disturbed));
    json_put(entry, "gbytes_per_s", json_number(p->bytes_per_s / 1e9));
    json_put(entry, "speed_up", json_number(p->p.speed_up));
    json_put(entry, "speed_up_spread", json_number(p->p.spread));
    json_put(entry, "efficiency", json_number(p->p.speed_up / p->p.n));
    json_put(entry, "amdahl", json_number(scaling_value(AMDAHL, found->fits[AMDAHL].fraction, p->p.n)));
    json_put(entry, "gustafson", json_number(scaling_value(GUSTAFSON, found->fits[GUSTAFSON].fraction, p->p.n)));
    json_put(entry, "deviation", json_number(scaling_deviation(points->law, found->fits[points->law].fraction, &p->p)));
    json_put(entry, "described", json_boolean(!laws_is_off(found, points, i)));
    json_put(entry, "oversubscribed", json_boolean(p->oversubscribed));
    if (laws_is_by(found, "ranks")) {
        json_put(entry, "imbalance", json_number(p->imbalance));
        json_put(entry, "link_share", json_number(p->link_share));
    }
    return entry;
}

static json_t *json_fit(const laws_found *found, scaling_law law)
{
    const scaling_fit *fit = &found->fits[law];
    json_t *entry = json_new_object();

    json_put(entry, "fitted_to", json_text(found->points[law == AMDAHL ? 0 : found->kinds - 1].kind));
    json_put(entry, "points", json_whole(fit->points));
    json_put(entry, "serial_fraction", json_number(fit->fraction));
    json_put(entry, "standard_error", json_number(fit->standard_error));
    json_put(entry, "unclipped", fit->unclipped < 0 ? json_null() : json_number(fit->unclipped));
    json_put(entry, "clipped", json_boolean(fit->clipped));
    json_put(entry, "largest_deviation", json_number(fit->largest_deviation));
    json_put(entry, "rms_deviation", json_number(fit->rms_deviation));
    json_put(entry, "not_described", json_whole(fit->not_described));
    /* The speed-up that no number of threads or ranks exceeds. */
    json_put(entry, "most", law == AMDAHL ? json_number(1 / fit->fraction) : json_null());
    return entry;
}

json_t *laws_json(const laws_found *found)
{
    json_t *laws = json_new_object(), *remarks = json_new_list();

    json_put(laws, "exercise", json_text(found->exercise));
    json_put(laws, "backend", json_text(found->backend));
    json_put(laws, "emulation", json_boolean(found->emulation));
    json_put(laws, "unit", json_text(found->unit));
    json_put(laws, "processors", found->processors ? json_whole(found->processors) : json_null());
    for (int k = 0; k < found->kinds; k++) {
        json_t *list = json_new_list();
        law_words w = laws_failing(found, &found->points[k]);
        for (int i = 0; i < found->points[k].count; i++)
            json_append(list, json_point(found, &found->points[k], i));
        json_put(laws, found->points[k].kind, list);
        if (w.text[0])
            json_append(remarks, json_text(w.text));
    }
    json_put(laws, "amdahl", json_fit(found, AMDAHL));
    json_put(laws, "gustafson", json_fit(found, GUSTAFSON));
    json_put(laws, "remarks", remarks);
    return laws;
}

static cell speed_up_cell(const json_t *point)
{
    return cell_print("%.2f +- %.2f", row_number(point, "speed_up"), row_number(point, "speed_up_spread"));
}

static cell deviation_cell(const json_t *point)
{
    return cell_print("%+.1f %%", 100 * row_number(point, "deviation"));
}

static cell remark_cell(const json_t *point)
{
    return cell_print("%s%s", json_is_true(json_object_get(point, "oversubscribed")) ? "oversubscribed " : "",
                      json_is_false(json_object_get(point, "described")) ? "not described" : "");
}

const column laws_columns[] = {
    {.key = "exercise"},
    {.title = "backend", .key = "backend"},
    {.title = "emulation", .key = "emulation"},
    {.title = "n", .key = "unit"},
    {.title = "processors", .key = "processors", .as = AS_NUMBER},
    {0},
};

enum { OF_N = 1, OF_TIME = 3, OF_RANKS = 8, FOR_RANKS = 2 };

static const column point_columns[] = {
    {.key = "scaling"},
    [OF_N] = {.key = "n", .command = "laws"},
    {.key = "size", .command = "laws"},
    [OF_TIME] = {.key = "kernel_s"},
    {.key = "spread"},
    {.key = "gbytes_per_s"},
    {.key = "speed_up", .command = "laws", .make = speed_up_cell},
    {.key = "efficiency"},
    [OF_RANKS] = {.key = "imbalance"},
    {.key = "link_share"},
    {.key = "amdahl"},
    {.key = "gustafson"},
    {.key = "deviation", .make = deviation_cell},
    {.title = "", .make = remark_cell},
    {0},
};

const column laws_unit_columns[] = {{.title = "threads"}, {.title = "ranks"}, {.title = "batch"},
                                    {.title = "workers"}, {.title = "wall"},  {0}};

const column *laws_point_columns(const json_t *laws)
{
    enum { COLUMNS = sizeof point_columns / sizeof *point_columns };
    static column shown[COLUMNS];
    const char *unit = row_text(laws, "unit");
    const bool ranks = !laws || strcmp(unit, "ranks") == 0;
    int count = 0;

    for (int i = 0; i < COLUMNS; i++)
        if (ranks || i < OF_RANKS || i >= OF_RANKS + FOR_RANKS)
            shown[count++] = point_columns[i];
    if (strcmp(unit, "-") != 0)
        shown[OF_N] = (column){.title = unit, .key = "n", .as = AS_COUNT};
    if (strcmp(unit, "workers") == 0) /* from the first image to the last */
        shown[OF_TIME] = (column){.title = "wall", .key = "kernel_s", .as = AS_SECONDS};
    return shown;
}

const column laws_fit_columns[] = {
    {.title = "law", .key = "law"},
    {.title = "fitted to", .key = "fitted_to"},
    {.title = "points", .key = "points", .as = AS_NUMBER},
    {.title = "serial fraction", .key = "serial_fraction", .as = AS_NUMBER},
    {.title = "standard error", .key = "standard_error", .as = AS_NUMBER},
    {.title = "unclipped", .key = "unclipped", .as = AS_NUMBER},
    {.title = "clipped", .key = "clipped"},
    {.title = "largest deviation", .key = "largest_deviation", .as = AS_PART},
    {.title = "root mean square", .key = "rms_deviation", .as = AS_PART},
    {.title = "not described", .key = "not_described", .as = AS_NUMBER},
    {.title = "speed-up at most", .key = "most", .as = AS_FACTOR},
    {0},
};

/* Documents of earlier versions lack `scaling` and `spread`. */
json_t *laws_points(const json_t *laws)
{
    static const char *const kinds[] = {"strong", "weak", "batch"};
    json_t *points = json_new_list(), *point;
    size_t i;

    for (int k = 0; k < 3; k++)
        json_array_foreach(json_object_get(laws, kinds[k]), i, point)
        {
            json_t *copy = json_new_copy(point);
            json_put(copy, "scaling", json_text(kinds[k]));
            if (!json_object_get(point, "spread"))
                json_put(copy, "spread", json_number(row_number(point, "spread_s") / row_number(point, "kernel_s")));
            json_append(points, copy);
        }
    return points;
}

json_t *laws_fits(const json_t *laws)
{
    static const char *const keys[] = {[AMDAHL] = "amdahl", [GUSTAFSON] = "gustafson"};
    json_t *fits = json_new_list();

    for (int law = AMDAHL; law <= GUSTAFSON; law++) {
        const json_t *fit = json_object_get(laws, keys[law]);
        json_t *copy = json_new_copy(fit);
        json_put(copy, "law", json_text(laws_names[law]));
        json_append(fits, copy);
    }
    return fits;
}

static void show_table(const json_t *laws)
{
    json_t *points = laws_points(laws);

    columns_print(laws_point_columns(laws), points, TABLE_TEXT, stdout);
    noise_print(points, NULL);
    json_decref(points);
}

static void show_fit(const laws_found *found, scaling_law law)
{
    const scaling_fit *fit = &found->fits[law];
    const law_points *points = &found->points[law == AMDAHL ? 0 : found->kinds - 1];
    int crowded = 0;

    if (points->count < 2) {
        text_print("%s: not fitted: %d point%s of %s scaling, and a law needs two\n", laws_names[law], points->count,
                   points->count == 1 ? "" : "s", points->kind);
        return;
    }
    for (int i = 0; i < points->count; i++)
        crowded += points->list[i].oversubscribed;
    text_print("%s: serial fraction f = %.4f +- %.4f, fitted to %d points of %s scaling", laws_names[law],
               fit->fraction, fit->standard_error, fit->points, points->kind);
    if (crowded)
        text_print(", %d of them oversubscribed", crowded);
    if (fit->points > 2)
        text_print("; deviation at most %.1f %%, root mean square %.1f %%", 100 * fit->largest_deviation,
                   100 * fit->rms_deviation);
    if (law == AMDAHL && fit->fraction > 0)
        text_print("; at most %.3gx with any %s%s", 1 / fit->fraction, laws_is_by(found, "batch") ? "" : "number of ",
                   found->unit);
    text_print("\n");
}

void laws_show(const laws_found *found, const json_t *laws, const json_t *results)
{
    const json_t *remarks = json_object_get(laws, "remarks"), *remark;
    size_t i;

    text_print("%s on %s (%s%s)\n", found->exercise, found->backend, found->device,
               found->emulation ? "; an emulation: its times mean nothing" : "");
    sentences_print(sentences_of_right(results), NULL);
    sentences_print(laws_sentences(laws), NULL);
    show_table(laws);
    for (int law = AMDAHL; law <= GUSTAFSON; law++)
        show_fit(found, (scaling_law)law);
    json_array_foreach(remarks, i, remark) text_print("%s\n", json_string_value(remark));
}
